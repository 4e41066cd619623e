"""`influence` and `since-when`, and the tool that tells a model the same."""

import json
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Cli

FILTER = (
    "* RC\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\nR2 side 0 1k\nR3 in side 3k\n.ac dec 30 10 1e5\n.end\n"
)
GOALS = [
    {"metric": "fc", "expression": "bandwidth(v(out))", "minimum": 1400, "maximum": 1800, "unit": "Hz"},
    {"metric": "side", "expression": "mag(at(v(side),1k))", "minimum": 0.2, "unit": "V"},
]


def _tool(cli: Cli, root: Path, name: str, **arguments: object) -> dict[str, object]:
    found: dict[str, object] = cli("tool", name, json.dumps(arguments), "--project", root).document
    return found


def _influences(document: dict[str, object]) -> dict[str, float]:
    rows = document["influences"]
    assert isinstance(rows, list)
    return {row["name"]: row["percent"] for row in rows}


def test_influence_and_the_guilty_edit(cli: Cli, tmp_path: Path) -> None:
    circuit = tmp_path / "rc.cir"
    circuit.write_text(FILTER)
    assert cli("since-when", circuit).exit_code == 2  # in no project yet
    assert _tool(cli, tmp_path, "set_goals", goals=GOALS)["success"] is True

    # fc = 1 / (2 pi R1 C1); side = R2 / (R2 + R3): 0.75 % for one percent of either.
    found = _influences(cli("influence", circuit, "--json").document)
    assert found["R1"] == pytest.approx(-1, abs=0.02)
    assert found["R3"] == 0
    side = cli("influence", circuit, "--goal", "SIDE", "--json").document
    assert _influences(side)["R2"] == pytest.approx(0.75, abs=0.01)
    answer = _tool(cli, tmp_path, "run_study", kind="influence", goals=["side >= 0.2"])
    result = answer["result"]
    assert isinstance(result, dict)
    assert _influences(result) == _influences(side)
    assert str(answer["content"]).splitlines()[1].startswith("line ")
    lines = cli("influence", circuit, "--measure", "mag(at(v(side),1k))").stdout.splitlines()
    assert sorted(line.split()[1] for line in lines[1:3]) == ["R2", "R3"]
    for wrong in (("--goal", "nothing"), ("--budget", "0"), ("--measure", "nonsense(")):
        assert cli("influence", circuit, *wrong).exit_code == 2

    met = cli("since-when", circuit)
    assert met.exit_code != 0
    assert "fc meets its goal." in met.stderr
    for old, new in (("R3 in side 3k", "R3 in side 2k"), ("C1 out 0 100n", "C1 out 0 1u"),
                     ("R2 side 0 1k", "R2 side 0 5k")):  # fmt: skip
        assert _tool(cli, tmp_path, "patch_file", path="rc.cir", search=old, replace=new)["success"] is True
    told = _tool(cli, tmp_path, "run_study", kind="since_when", goals=["fc"])["result"]
    assert isinstance(told, dict)
    assert (told["file_path"], told["line"], told["tool"]) == ("rc.cir", 4, "patch_file")
    document = cli("since-when", circuit, "--undo", "--json").document
    assert (document["was"], document["became"]) == ("C1 out 0 100n", "C1 out 0 1u")
    assert document["operation"] == told["operation"]
    assert document["value_after"] == told["value_after"]
    after = FILTER.replace("R3 in side 3k", "R3 in side 2k").replace("R2 side 0 1k", "R2 side 0 5k")
    assert circuit.read_text() == after
    cli("undo", tmp_path, document["undo"])
    assert circuit.read_text() == after.replace("100n", "1u")
    assert "rc.cir:4, an operation (undo)" in cli("since-when", circuit).stdout
