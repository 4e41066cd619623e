"""`optimize` and `clean` as scripts see them."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from tests.ground.forked_commands import ForkedCommands
from tests.integration.cli.conftest import Cli

RC = "rc\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 1n\n.ac dec 20 1 1g\n.end\n"
SPEC = {
    "analysis": "ac dec 20 1 1g",
    "parameters": [
        {"name": "R1", "min": 100, "max": "100k", "scale": "E24"},
        {"name": "C1", "min": "10p", "max": "100n", "scale": "log", "tolerance": "5%"},
    ],
    "measure": {"bw": "bandwidth(v(out))"},
    "goals": [{"metric": "bw", ">=": 0.98e5, "<=": 1.02e5}],
    "seed": 1,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".circuit_ai").mkdir(parents=True)
    (folder / "rc.cir").write_text(RC)
    (folder / "spec.json").write_text(json.dumps(SPEC))
    return folder


def test_the_contract(cli: Cli, project: Path) -> None:
    best = project / "best.cir"
    run = cli("optimize", project / "rc.cir", "--spec", project / "spec.json", "-o", best, "--json")
    document = run.document
    assert run.exit_code == 0, document
    assert document["ok"] is True
    assert document["goals_met"] is True
    found = document["best"]
    assert found["verified"] is True
    assert set(found["parameters"]) == {"R1", "C1"}
    assert 0.98e5 <= found["metrics"]["bw"] <= 1.02e5
    assert [goal["met"] for goal in found["goals"]] == [True]
    assert document["statistics"]["simulations"] <= 1000
    assert Path(document["result_path"]).is_file()
    # Its raw file is the proof, and the written circuit is the same circuit.
    assert (
        cli("measure", document["result_path"], "bandwidth(v(out))", "--json").document["values"][
            "bandwidth(v(out))"
        ]["value"]
        == found["metrics"]["bw"]
    )
    text = best.read_text()
    assert f"R1 in out {found['values']['R1']}\n" in text
    assert f"C1 out 0 {found['values']['C1']}\n" in text
    assert (project / "rc.cir").read_text() == RC


def test_missed_goals_are_exit_1_with_the_best(cli: Cli, project: Path) -> None:
    run = cli(
        "optimize", project / "rc.cir", "--param", "R1=1k:2k:E12", "--measure", "bw=bandwidth(v(out))",
        "--goal", "bw>=1G", "--json",
    )  # fmt: skip
    assert (run.exit_code, run.document["ok"], run.document["goals_met"]) == (1, False, False)
    assert run.document["best"]["parameters"] == {"R1": 1000}
    assert run.document["end"] == "exhausted"


def test_people_get_a_table(cli: Cli, project: Path) -> None:
    run = cli("optimize", project / "rc.cir", "--spec", project / "spec.json", LANG="zh_CN.UTF-8")
    assert run.exit_code == 0
    assert run.stdout.splitlines()[0].split() == ["参数", "起始值", "最佳值"]
    assert "✓ bw" in run.stdout


@pytest.mark.parametrize(
    ("change", "exit_code", "error_type"),
    [
        ({"goals": []}, 2, "bad_spec"),
        ({"parameters": []}, 2, "bad_spec"),
        ({"budget": -1}, 2, "bad_spec"),
        ({"measure": {"bw": "bandwidth(v(nowhere))"}}, 2, ""),
    ],
)
def test_bad_specifications(
    cli: Cli, project: Path, change: dict[str, object], exit_code: int, error_type: str
) -> None:
    (project / "spec.json").write_text(json.dumps({**SPEC, **change}))
    run = cli("optimize", project / "rc.cir", "--spec", project / "spec.json", "--json")
    assert (run.exit_code, run.document["ok"]) == (exit_code, False)
    if error_type:
        assert run.document["errors"][0]["error_type"] == error_type


def test_ctrl_c_keeps_the_best(forked_commands: ForkedCommands, project: Path) -> None:
    slow = {**SPEC, "analysis": "ac lin 40000 1 1meg", "minimize": "bw", "goals": [], "budget": 900_000}
    (project / "spec.json").write_text(json.dumps(slow))
    argv = ("optimize", project / "rc.cir", "--spec", project / "spec.json", "--json")
    with forked_commands.start(*argv) as process:
        assert process.stderr is not None
        assert "simulations" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    document = json.loads(out)
    assert (document["ok"], document["stopped"], document["end"]) == (False, True, "stopped")
    assert document["best"]["verified"] is True


def test_the_tool_proposes_and_changes_nothing(cli: Cli, project: Path) -> None:
    arguments = {key: SPEC[key] for key in ("parameters", "measure")} | {"goals": ["bw >= 98k", "bw <= 102k"]}
    run = cli(
        "tool", "optimize_parameters", json.dumps(arguments | {"file_path": "rc.cir"}), "--project", project
    )
    assert run.document["success"] is True, run.document
    assert run.document["result"]["best"]["values"]["R1"]
    assert "patch_file" in run.document["content"]
    assert (project / "rc.cir").read_text() == RC


def test_clean(cli: Cli, project: Path) -> None:
    for _ in range(3):
        assert cli("simulate", project / "rc.cir", "--json").exit_code == 0
    results = project / ".circuit_ai" / "sim_results"
    names = sorted(path.name for path in results.iterdir())
    (results / names[1] / "ngspice.raw.columns").write_bytes(b"x" * 100)
    assert cli("clean", project, "--pin", names[0], "--json").document["pinned"] == [names[0]]
    dry = cli("clean", project, "--keep", 1, "--dry-run", "--json").document
    assert [item["id"] for item in dry["removed"]] == [names[1]]
    done = cli("clean", project, "--keep", 1, "--json").document
    assert done["freed_bytes"] == dry["freed_bytes"] > 100
    assert sorted(path.name for path in results.iterdir()) == [names[0], names[2]]
    time.sleep(0.01)
    assert cli("clean", project, "--older-than", 0, "--unpin", names[0]).exit_code == 0
    assert not list(results.iterdir())
    assert cli("clean", project / "nowhere", "--json").exit_code == 2
    assert cli("clean", project, "--max-size", "many").exit_code == 2
    assert (
        cli("clean", project, "--pin", "nothing", "--json").document["errors"][0]["error_type"] == "no_result"
    )
