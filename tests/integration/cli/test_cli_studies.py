"""`sweep`, `montecarlo`, `corners`, `worst-case`, `sensitivity` as scripts see them."""

import csv
import json
import math
import signal
from pathlib import Path

import numpy as np
import pytest

from tests.ground.forked_commands import ForkedCommands
from tests.integration.cli.conftest import Cli

DIVIDER = "divider\nV1 in 0 10\nR1 in out 1k\nR2 out 0 1k\n.op\n.end\n"
VOUT = ("--measure", "vout=v(out)")
SPEC = {
    "parameters": [
        {"name": "R1", "min": "500", "max": "2k", "scale": "E6", "tolerance": 0.01},
        {"name": "R2", "tolerance": "1%", "distribution": "normal"},
    ],
    "measure": {"vout": "v(out)"},
    "goals": [{"metric": "vout", ">=": 4, "<=": 6}],
    "runs": 20,
    "seed": 3,
    "corners": [{"name": "low", "V1": 9}, {"name": "high", "V1": "11"}],
}


@pytest.fixture
def divider(tmp_path: Path) -> Path:
    path = tmp_path / "divider.cir"
    path.write_text(DIVIDER)
    return path


def test_one_specification_serves_every_study(cli: Cli, divider: Path, tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(SPEC))
    rows = {"sweep": 3, "montecarlo": 20, "corners": 2, "worst-case": 9, "sensitivity": 5}
    for command, count in rows.items():
        run = cli(command, divider, "--spec", spec, "--json")
        document = run.document
        assert run.exit_code == 0, document
        assert document["ok"] is True
        assert document["study"] == command
        assert len(document["rows"]) == document["runs"]["done"] == count
        assert document["units"] == {"vout": "V"}
        assert document["statistics"]["vout"]["unit"] == "V"
        assert document["errors"] == []
        with Path(document["rows_path"]).open(newline="") as file:
            table = list(csv.DictReader(file))
        assert [float(row["vout [V]"]) for row in table] == [
            row["metrics"]["vout"] for row in document["rows"]
        ]
        assert Path(document["result_path"]).is_file()
    assert divider.read_text() == DIVIDER


def test_a_monte_carlo_repeats_itself_and_gives_the_yield(cli: Cli, divider: Path) -> None:
    options = ("--param", "R*=5%", *VOUT, "--goal", "vout>=4.9", "--runs", "30", "--json")
    first, again = (cli("montecarlo", divider, *options, "--workers", n).document for n in (1, 2))
    assert first["rows"] == again["rows"]
    assert first["yield"]["n"] == 30
    assert first["yield"]["low"] < first["yield"]["value"] < first["yield"]["high"]
    assert first["seed"] == 1
    other = cli("montecarlo", divider, *options, "--seed", "2").document
    assert other["rows"][0]["parameters"] != first["rows"][0]["parameters"]


def test_short_forms_of_ranges(cli: Cli, divider: Path) -> None:
    run = cli("sweep", divider, "--param", "R1=1k:4k:log:3", "--param", "R2=1k,3k", *VOUT, "--json").document
    values = [(row["parameters"]["R1"], row["parameters"]["R2"]) for row in run["rows"]]
    assert values == [(r1, r2) for r1 in (1000, 2000, 4000) for r2 in (1000, 3000)]
    for row, (r1, r2) in zip(run["rows"], values, strict=True):
        assert math.isclose(row["metrics"]["vout"], 10 * r2 / (r1 + r2), rel_tol=1e-6)


def test_people_get_tables(cli: Cli, divider: Path) -> None:
    run = cli("sweep", divider, "--param", "R1=1k,3k", *VOUT, "--goal", "vout>=4")
    assert run.exit_code == 0
    lines = [line.split() for line in run.stdout.splitlines()]
    assert lines[0] == ["run", "R1", "vout"]
    assert lines[1] == ["0", "1k", "5", "V"]
    assert lines[2] == ["1", "3k", "2.5", "V", "!"]


def test_missed_goals_and_failed_corners_are_exit_1(cli: Cli, divider: Path) -> None:
    corners = ("corners", divider, "--voltage", "V1=9,11", *VOUT, "--json")
    assert cli(*corners, "--goal", "vout<=6").exit_code == 0
    missed = cli(*corners, "--goal", "vout<=5")
    assert (missed.exit_code, missed.document["ok"], missed.document["goals_met"]) == (1, False, False)
    yielded = ("montecarlo", divider, "--param", "R1=1%", "--runs", "10", "--goal", "vout>=6", *VOUT)
    assert cli(*yielded).exit_code == 0  # a yield of nothing is a result, unless one was asked for


def test_a_circuit_that_never_runs_is_exit_1_with_the_line(cli: Cli, tmp_path: Path) -> None:
    bad = tmp_path / "bad.cir"
    bad.write_text("title\nV1 a 0 1\nR1 a b 1k\nD1 b 0 nomodel\n.op\n.end\n")
    run = cli("sweep", bad, "--param", "R1=1k,2k", "--measure", "v=v(b)", "--json")
    assert run.exit_code == 1
    assert run.document["runs"]["failed"] == 2
    error = run.document["errors"][0]
    assert (error["file"], error["line"], error["runs"]) == (str(bad), 4, 2)
    assert run.document["rows"][0]["metrics"] == {"v": None}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("sweep", "--measure", "v=v(out)"), "nothing to sweep"),
        (("sweep", "--param", "R9=1k,2k", *VOUT), "R9"),
        (("sweep", "--param", "R1=1k:2k:lin:3:4", *VOUT), "R1=1k:2k:lin:3:4"),
        (("sweep", "--param", "R1=1k", "--measure", "v=v(out"), "measure.v"),
        (("sweep", "--param", "R1=1k", "--measure", "v=v(nowhere)"), "nowhere"),
        (("sweep", "--param", "R1=1k"), "nothing to measure"),
        (("montecarlo", "--param", "R1=1%", "--goal", "vout>>1", *VOUT), "goals[0]"),
        (("montecarlo", "--param", "R1=1%", "--goal", "vut>1", *VOUT), "vut"),
        (("montecarlo", "--param", "R1=1%:nomal", *VOUT), "nomal"),
        (("montecarlo", "--param", "R1=1%", "--runs", "many", *VOUT), "runs"),
        (("corners", *VOUT), "corners"),
        (("corners", "--process", "FF", *VOUT), ".lib"),
        (("sensitivity", "--param", "C9", *VOUT), "C9"),
        (("worst-case", *VOUT), "tolerance"),
        (("worst-case", "--spec", "none.json"), "none.json"),
        (("worst-case", "--workers", "0"), "--workers"),
    ],
)
def test_what_cannot_be_meant_is_exit_2(
    cli: Cli, divider: Path, options: tuple[str, ...], words: str
) -> None:
    run = cli(options[0], divider, *options[1:], "--json")
    assert run.exit_code == 2, run.document
    assert run.document["ok"] is False
    assert words in run.document["errors"][0]["message"] + str(run.document["errors"][0]["advice"])


def test_a_specification_that_is_no_json_is_told_with_its_line(
    cli: Cli, divider: Path, tmp_path: Path
) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text('{"runs": 5,\n "seed": }')
    error = cli("montecarlo", divider, "--spec", spec, "--json").document["errors"][0]
    assert (error["file"], error["line"], error["error_type"]) == (str(spec), 2, "bad_spec")


def test_nothing_of_a_refused_study_is_stored(cli: Cli, divider: Path) -> None:
    (divider.parent / ".circuit_ai").mkdir()
    assert cli("sweep", divider, "--param", "R1=1k", "--measure", "v=v(nowhere)", "--json").exit_code == 2
    assert list((divider.parent / ".circuit_ai").rglob("*.json")) == []
    assert list((divider.parent / ".circuit_ai").rglob("*Z-*")) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_keeps_what_is_done(
    forked_commands: ForkedCommands, tmp_path: Path, number: signal.Signals
) -> None:
    slow = tmp_path / "slow.cir"
    slow.write_text("slow\nV1 in 0 SIN(0 1 1k)\nR1 in out 1k\nC1 out 0 1u\n.tran 1u 20m\n.end\n")
    argv = ("montecarlo", slow, "--param", "R1=1%", "--measure", "m=max(v(out))", "--runs", 100_000, "--json")
    with forked_commands.start(*argv) as process:
        assert process.stderr is not None
        assert "runs, " in process.stderr.readline()  # its progress
        process.send_signal(number)
        out, err = process.communicate(timeout=50)
    assert process.returncode == 130
    assert "Traceback" not in err
    document = json.loads(out)
    done = document["runs"]["done"]
    assert (document["ok"], document["stopped"]) == (False, True)
    assert 0 < done < 100_000
    assert len(document["rows"]) == document["statistics"]["m"]["n"] == done
    table = Path(document["rows_path"]).read_text().splitlines()
    assert len(table) == done + 1


def test_lists_may_begin_with_a_minus(cli: Cli, divider: Path) -> None:
    for option, values in (("--temp", "-40,27,125"), ("--voltage", "-10%,+10%")):
        run = cli("corners", divider, option, values, "--measure", "v(out)", "--json")
        assert run.exit_code == 0
        assert len(run.document["rows"]) == values.count(",") + 1
    run = cli("sweep", divider, "--param", "R1=1k,2k", "--measure", "-i(v1)", "--json")
    assert [row["metrics"]["-i(v1)"] for row in run.document["rows"]] == pytest.approx([5e-3, 10 / 3e3])


def test_a_metric_nobody_could_measure_is_no_success(cli: Cli, tmp_path: Path) -> None:
    circuit = tmp_path / "rc.cir"
    circuit.write_text("rc\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 20 10 2k\n.end\n")
    arguments = ("--measure", "bw=bandwidth(v(out))", "--json")
    none = cli("sweep", circuit, "--param", "R1=1,2", *arguments)
    assert none.exit_code == 1
    assert none.document["ok"] is False
    assert none.document["errors"][0]["code"] == "nothing-measured"
    some = cli("sweep", circuit, "--param", "R1=200,2k", *arguments)
    assert some.exit_code == 0
    assert some.document["rows"][1]["metrics"]["bw"] == pytest.approx(1e7 / (4 * math.pi) / 1e3, rel=0.01)
    assert "1 of 2 runs" in some.document["warnings"][0]["message"]


def test_a_value_that_becomes_infinite_is_said_so(cli: Cli, tmp_path: Path) -> None:
    circuit = tmp_path / "x.cir"
    circuit.write_text("x\n.param a=1\nV1 in 0 1\nR1 in out {1/a}\nR2 out 0 1\n.op\n.end\n")
    document = cli("sweep", circuit, "--param", "a=0,1", "--measure", "v=v(out)", "--json").document
    assert [row["state"] for row in document["rows"]] == ["failed", "ok"]
    assert document["rows"][1]["metrics"] == {"v": pytest.approx(0.5)}
    assert document["errors"][0]["code"] == "bad-value"


def test_a_key_that_stands_twice_is_refused(cli: Cli, divider: Path, tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text('{"runs": 5, "runs": 6, "measure": {"v": "v(out)"}}')
    run = cli("montecarlo", divider, "--spec", spec, "--json")
    assert run.exit_code == 2
    assert "'runs'" in run.document["errors"][0]["message"]


def test_a_deck_with_its_own_chances_needs_no_parameters(cli: Cli, tmp_path: Path) -> None:
    circuit = tmp_path / "x.cir"
    circuit.write_text("x\n.param r=agauss(1k,50,1)\nV1 in 0 10\nR1 in 0 {r}\n.op\n.end\n")

    def drawn(*more: object) -> list[float]:
        arguments = ("--measure", "r=v(in)/-i(v1)", "--runs", 400, "--json", *more)
        document = cli("montecarlo", circuit, *arguments).document
        return [row["metrics"]["r"] for row in document["rows"]]

    values = drawn("--seed", 5, "--workers", 1)
    assert np.mean(values) == pytest.approx(1000, abs=4 * 50 / 20)
    assert np.std(values) == pytest.approx(50, rel=0.15)
    assert drawn("--seed", 5, "--workers", 2) == values
    assert not set(drawn("--seed", 6)) & set(values)


def test_the_temperature_is_set_like_any_value(cli: Cli, tmp_path: Path) -> None:
    circuit = tmp_path / "x.cir"
    circuit.write_text("x\nV1 in 0 1\nR1 in o 1k tc1=1m\nR2 o 0 1k\n.temp 50\n.op\n.end\n")
    run = cli("simulate", circuit, "--set", "temp=127", "--json")
    measured = cli("measure", run.document["raw_path"], "v(o)", "--json").document["values"]
    assert measured["v(o)"]["value"] == pytest.approx(1 / 2.1)
    assert cli("simulate", circuit, "--set", "temp=hot", "--json").exit_code == 2


def test_warnings_count_the_runs_that_are_shown(cli: Cli, tmp_path: Path) -> None:
    circuit = tmp_path / "x.cir"
    circuit.write_text("x\nV1 in 0 1\nR1 in o 1k\nC1 o 0 1n\nC2 o p 1n\nC3 p 0 1n\n.op\n.end\n")
    run = cli("montecarlo", circuit, "--param", "R1=1%", "--runs", 3, "--measure", "v(o)", "--json")
    assert "(in 3 of 3 runs)" in run.document["warnings"][0]["message"]


def test_a_case_is_kept_and_told_with_every_simulation(cli: Cli, divider: Path) -> None:
    goals = [{"metric": "vout", "expression": "v(out)", "minimum": 4.6, "unit": "V"}]
    cli("tool", "set_goals", json.dumps({"goals": goals}), "--project", divider.parent)
    found = cli("worst-case", divider, "--param", "R*=10%", *VOUT, "--goal", "vout>=4.6", "--json").document
    assert cli("cases", divider, "--keep", "low").exit_code == 2
    assert (
        cli("cases", divider, "--keep", "low", "--from", found["result_path"], "--run", "99").exit_code == 2
    )
    kept = cli("cases", divider, "--keep", "low", "--from", found["result_path"], "--json").document
    assert [each["conditions"] for each in kept["cases"]] == ["R1 +10 %, R2 −10 %"]
    assert "Case low: 1 of 1 goal missed: Output voltage 4.5 V (≥ 4.6 V)" in cli("simulate", divider).stdout
    (case,) = cli("simulate", divider, "--json").document["cases"]
    assert case["goals_met"] is False
    assert case["goals"][0]["value"] == found["statistics"]["vout"]["eva"]["min"]["value"]
    assert "cases" not in cli("simulate", divider, "--no-cases", "--json").document
    assert cli("cases", divider, "--delete", "low", "--json").document["cases"] == []
