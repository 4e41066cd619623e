"""The command line as scripts see it: JSON shapes, exit codes, where options may stand."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integration.cli.conftest import ROOT, Cli

RC = """RC low-pass
Vin in 0 DC 0 AC 1
R1 in out 1k
C1 out 0 159.155n
.ac dec 50 1 1meg
.meas ac g1k find vdb(out) at=1k
.meas ac never when vdb(out)=20
.end
"""


@pytest.fixture
def rc(tmp_path: Path) -> Path:
    path = tmp_path / "rc.cir"
    path.write_text(RC)
    return path


def test_simulate_then_measure(cli: Cli, rc: Path) -> None:
    run = cli("simulate", rc, "--json")
    document = run.document
    assert run.exit_code == 0
    assert document["ok"] is True
    assert document["errors"] == []
    assert Path(document["raw_path"]).is_file()
    assert Path(document["result_path"]).name == "result.json"
    assert math.isclose(document["metrics"]["g1k"]["value"], -3.0103, abs_tol=0.001)
    assert document["metrics"]["never"]["value"] is None
    assert any("never" in entry["message"] for entry in document["warnings"])

    for source in (document["result_path"], document["raw_path"]):
        measured = cli("measure", source, "highcut(v(out))", "db(gain(v(out),1k))", "--json")
        assert measured.exit_code == 0
        values = measured.document["values"]
        assert math.isclose(values["highcut(v(out))"]["value"], 1000, rel_tol=0.002)
        assert values["highcut(v(out))"]["unit"] == "Hz"
        assert math.isclose(values["db(gain(v(out),1k))"]["value"], -3.0103, abs_tol=0.01)


def test_options_may_stand_before_and_after_the_file(cli: Cli, rc: Path) -> None:
    first = cli("simulate", "--json", "--set", "R1=2k", rc).document
    last = cli("simulate", rc, "--set", "R1=2k", "--json").document
    assert first["metrics"]["g1k"] == last["metrics"]["g1k"]
    expected = -10 * math.log10(1 + 2**2)
    assert math.isclose(last["metrics"]["g1k"]["value"], expected, abs_tol=0.01)


def test_analysis_replaces_the_decks_own(cli: Cli, rc: Path) -> None:
    document = cli("simulate", rc, "--analysis", "op", "--json").document
    assert document["ok"] is True
    assert cli("measure", document["raw_path"], "v(out)", "--json").document["values"]["v(out)"] == {
        "value": 0.0,
        "unit": "V",
    }
    assert rc.read_text() == RC


def test_a_stored_result_tells_everything(cli: Cli, rc: Path) -> None:
    document = cli("simulate", rc, "--timeout", "30", "--json").document
    stored = json.loads(Path(document["result_path"]).read_text())
    assert stored["schema_version"] == 1
    assert stored["status"] == "ok"
    assert stored["metrics"]["never"]["value"] is None
    assert "ngspice" in stored["simulator"]["version"]
    assert stored["netlist"]["path"] == str(rc)
    assert stored["request"] == {"analysis": None, "set": {}, "timeout_s": 30.0}


def test_a_failed_circuit_is_exit_1_with_file_and_line(cli: Cli, tmp_path: Path) -> None:
    bad = tmp_path / "bad.cir"
    bad.write_text("title\nV1 a 0 1\nR1 a b 1k\nD1 b 0 nomodel\n.op\n.end\n")
    run = cli("simulate", bad, "--json")
    assert run.exit_code == 1
    assert run.document["ok"] is False
    error = run.document["errors"][0]
    assert (error["file"], error["line"]) == (str(bad), 4)
    assert "nomodel" in error["message"]


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("check",), 2),
        (("check", "no-such-file.cir"), 2),
        (("simulate", "no-such-file.cir"), 2),
        (("simulate", "--nonsense"), 2),
        (("measure", "no-such-file.raw", "max(v(a))"), 2),
        (("no-such-command",), 2),
    ],
)
def test_bad_usage_is_exit_2_with_one_json_object(cli: Cli, argv: tuple[str, ...], code: int) -> None:
    run = cli(*argv, "--json")
    assert run.exit_code == code
    document = run.document
    assert document["ok"] is False
    assert document["errors"][0]["message"]


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (("--set", "R9=1k"), "R9"),
        (("--set", "R1"), "NAME=VALUE"),
        (("--analysis", "fly me"), "fly"),
        (("--timeout", "0"), "timeout"),
        (("--library", "no-such-folder"), "no-such-folder"),
    ],
)
def test_bad_options_say_what_is_wrong(cli: Cli, rc: Path, argv: tuple[str, ...], word: str) -> None:
    run = cli("simulate", rc, *argv)
    assert run.exit_code == 2
    assert word in run.stderr


@pytest.mark.parametrize(
    ("expression", "code"),
    [("v(out)", 2), ("max(v(nosuch))", 2), ("max(v(out)", 2), ("nosuch(v(out))", 2), ("ugf(v(out))", 1)],
)
def test_measure_tells_wrong_expressions_from_missing_quantities(
    cli: Cli, rc: Path, expression: str, code: int
) -> None:
    raw = cli("simulate", rc, "--set", "Vin=0.5", "--json").document["raw_path"]
    run = cli("measure", raw, expression, "--json")
    assert run.exit_code == code
    assert run.document["ok"] is False
    assert run.document["errors"][0]["message"]


def test_check_reports_lines_and_exit_codes(cli: Cli, rc: Path, tmp_path: Path) -> None:
    assert cli("check", rc, "--json").document["diagnostics"] == []
    bad = tmp_path / "bad.cir"
    bad.write_text("title\nV1 in 0 1\nR1 in out 1k\nR1 out 0 1k\n.include missing.lib\n.op\n.end\n")
    run = cli("check", bad, "--json")
    assert run.exit_code == 1
    found = {(item["severity"], item["line"]) for item in run.document["diagnostics"]}
    assert {("error", 4), ("error", 5)} <= found


def test_texts_follow_the_language(cli: Cli, tmp_path: Path) -> None:
    english = cli("check", tmp_path / "none.cir")
    chinese = cli("check", tmp_path / "none.cir", LANG="zh_CN.UTF-8")
    assert "does not exist" in english.stderr
    assert "none.cir" in chinese.stderr
    assert "文件" in chinese.stderr


def test_a_time_out_keeps_what_was_computed(cli: Cli, tmp_path: Path) -> None:
    slow = tmp_path / "slow.cir"
    slow.write_text("slow\nV1 a 0 SIN(0 1 1k)\nR1 a b 1k\nC1 b 0 1n\n.tran 10n 1000 0 10n\n.end\n")
    run = cli("simulate", slow, "--timeout", "1.5", "--json")
    assert run.exit_code == 1
    assert run.document["status"] == "timeout"
    assert run.document["is_truncated"]
    assert "ends early" in run.stderr
    values = cli("measure", run.document["raw_path"], "max(v(a))", "--json").document["values"]
    assert math.isclose(values["max(v(a))"]["value"], 1, rel_tol=0.01)


@pytest.mark.timeout(150)
def test_an_interrupt_stops_the_run_with_130(tmp_path: Path) -> None:
    slow = tmp_path / "slow.cir"
    slow.write_text("slow\nV1 a 0 SIN(0 1 1k)\nR1 a b 1k\nC1 b 0 1n\n.tran 10n 1000 0 10n\n.end\n")
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), "simulate", str(slow), "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 50
    while not _descendants_named(process.pid, "ngspice"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=50)
    assert process.returncode == 130, stderr.decode()
    assert b"Traceback" not in stderr
    told = json.loads(stdout)
    assert told["errors"][0]["error_type"] == "stopped"
    # Nothing is left, or half a result that it tells of, where the simulator had come so far.
    kept = [folder.name for folder in (Path(os.environ["CIRCUIT_DESIGN_AI_HOME"]) / "sim_results").iterdir()]
    of = told.get("result_path")
    assert kept == ([] if of is None else [Path(of).parent.name])
    assert of is None or told["verdict"] == "partial"


def _descendants_named(pid: int, name: str) -> bool:
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            comm, rest = text[text.index("(") + 1 :].rsplit(")", 1)
            names[int(entry.name)] = comm
            parents[int(entry.name)] = int(rest.split()[1])
    for child, comm in names.items():
        ancestor = child
        while ancestor in parents and ancestor != pid:
            ancestor = parents[ancestor]
        if comm == name and ancestor == pid:
            return True
    return False


def test_doctor_names_the_engine_and_the_box(cli: Cli) -> None:
    run = cli("doctor", "--json")
    assert run.exit_code == 0
    checks = {item["name"]: item for item in run.document["checks"]}
    assert "ngspice" in checks["ngspice"]["message"]
    layers = set(checks["confinement"]["message"].replace(",", " ").split())
    assert layers & {"bubblewrap", "landlock"}


def test_a_reader_who_leaves_is_no_error(rc: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), "demo"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 130


def test_an_output_that_takes_nothing(rc: Path) -> None:
    def check(output: str, *options: str) -> subprocess.CompletedProcess[bytes]:
        argv = [sys.executable, str(ROOT / "main.py"), "check", str(rc), *options]
        return subprocess.run(
            ["/bin/sh", "-c", f'exec "$@" {output}', "-", *argv], stderr=subprocess.PIPE, check=False
        )

    closed = check(">&- <&-")
    assert (closed.returncode, closed.stderr) == (0, b"")
    full = check(">/dev/full", "--json")
    assert full.returncode == 3
    assert b"cannot be written" in full.stderr
    assert b"Traceback" not in full.stderr


def test_without_ngspice_the_exit_code_is_3(cli: Cli, rc: Path, tmp_path: Path) -> None:
    run = cli("simulate", rc, "--json", PATH=str(tmp_path))
    assert run.exit_code == 3
    assert "ngspice" in run.document["errors"][0]["message"]


def test_version(cli: Cli) -> None:
    run = cli("--version")
    assert run.exit_code == 0
    assert run.stdout.startswith("Circuit Design AI ")


@pytest.mark.parametrize("command", ["check", "simulate", "measure"])
def test_quick_commands_load_neither_qt_nor_the_graph(command: str, rc: Path) -> None:
    argv = ["main.py", command, str(rc), *(["max(v(out))"] if command == "measure" else [])]
    unwanted = {"PyQt6", "qasync", "langgraph", "langchain_core", *(["numpy"] if command == "check" else [])}
    probe = f"""
import sys
sys.argv = {argv!r}
import main
assert main.main() in (0, 2)
loaded = {{name.partition(".")[0] for name in sys.modules}}
sys.exit(", ".join(sorted(loaded & {unwanted!r})) or 0)
"""
    outcome = subprocess.run(
        [sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stderr
