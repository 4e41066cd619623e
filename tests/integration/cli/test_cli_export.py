"""`export` and `plot` as scripts use them, on results of real runs."""

from __future__ import annotations

import csv
import io
import json
import math
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat

from tests.integration.cli.conftest import ROOT, Cli
from tests.unit.waveform_files.raw_writers import xyce

_DECK = """rc low pass
Vin in 0 DC 1 AC 1 SIN(0 1 1k)
R1 in out 1k
C1 out 0 159.155n
.op
.ac dec 10 1 1meg
.tran 10u 2m
.noise v(out) Vin dec 10 1 1meg
.end
"""


@pytest.fixture
def result(cli: Cli, tmp_path: Path) -> Path:
    (tmp_path / "rc.cir").write_text(_DECK)
    return Path(cli("simulate", tmp_path / "rc.cir", "--json").document["result_path"])


def table(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def test_csv_of_expressions_is_what_theory_says(cli: Cli, result: Path, tmp_path: Path) -> None:
    target = tmp_path / "bode.csv"
    done = cli(
        "export", result, "--format", "csv", "--signals", "v(out)", "db(v(out))", "-o", target, "--json"
    )
    assert done.exit_code == 0
    assert done.document["ok"]
    assert done.document["path"] == str(target)
    assert [(t["name"], t["rows"]) for t in done.document["tables"]] == [("ac", 61)]
    found = table(target.read_text())
    assert list(found[0]) == ["frequency", "re(v(out))", "im(v(out))", "db(v(out))"]
    for row in found:
        f = float(row["frequency"])
        h = 1 / (1 + 1j * f * 2 * math.pi * 1e3 * 159.155e-9)
        assert complex(float(row["re(v(out))"]), float(row["im(v(out))"])) == pytest.approx(h, rel=1e-6)
        assert float(row["db(v(out))"]) == pytest.approx(20 * math.log10(abs(h)), abs=1e-6)


def test_all_signals_to_the_standard_output(cli: Cli, result: Path) -> None:
    done = cli("export", result, "--format", "tsv", "-o", "-")
    assert done.exit_code == 0
    found = table(done.stdout, "\t")
    assert list(found[0]) == ["time [s]", "v(in) [V]", "v(out) [V]", "i(vin) [A]"]
    assert float(found[-1]["time [s]"]) == pytest.approx(2e-3)
    assert "noise" in done.stderr  # what else there is


def test_json_and_mat_hold_every_analysis(cli: Cli, result: Path, tmp_path: Path) -> None:
    assert cli("export", result, "-o", tmp_path / "all.json").exit_code == 0
    found = json.loads((tmp_path / "all.json").read_text())
    names = [one["name"] for one in found["tables"]]
    assert sorted(names) == ["ac", "noise", "noise_integrated", "op", "tran"]
    noise = next(one for one in found["tables"] if one["name"] == "noise")
    assert noise["signals"]["onoise_spectrum"]["unit"] == "V/sqrt(Hz)"
    assert cli("export", result, "-o", tmp_path / "all.mat").exit_code == 0
    content = loadmat(tmp_path / "all.mat", simplify_cells=True)
    assert content["op"]["v_out"] == pytest.approx(1)
    assert len(content["ac"]["v_out"]) == 61


def test_a_stepped_circuit_has_its_values_in_columns(cli: Cli, tmp_path: Path) -> None:
    deck = _DECK.replace("R1 in out 1k", ".param r=1k\nR1 in out {r}").replace(
        ".op\n", ".step param r list 1k 2k\n"
    )
    (tmp_path / "rc.cir").write_text(deck)
    result = cli("simulate", tmp_path / "rc.cir", "--json").document
    assert result["ok"], result
    done = cli("export", result["raw_path"], "--signals", "mag(v(out))", "--analysis", "ac", "-o", "-",
               "--format", "csv")  # fmt: skip
    assert done.exit_code == 0, done.stderr
    found = table(done.stdout)
    assert {(row["step"], float(row["r"])) for row in found} == {("1", 1e3), ("2", 2e3)}
    at_1k = [float(row["mag(v(out))"]) for row in found if float(row["frequency"]) == pytest.approx(1e3)]
    assert at_1k == pytest.approx([1 / math.sqrt(2), 1 / math.sqrt(5)], rel=1e-3)


def test_what_cannot_be_is_said(cli: Cli, result: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("mine")
    cases = {
        ("export", result, "-o", target): "file_exists",
        ("export", result, "-o", result, "--force"): "bad_path",
        (
            "export",
            result.parent,
            "-o",
            result.parent / "ngspice.raw",
            "--format",
            "csv",
            "--force",
        ): "bad_path",
        ("plot", result, "-o", result.parent / "ngspice.raw", "--format", "svg", "--force"): "bad_path",
        ("export", result, "-o", tmp_path / "out.xyz"): "bad_usage",
        ("export", result, "-o", "-"): "bad_usage",
        ("export", result, "-o", tmp_path / "x.csv", "--signals", "v(nix)"): "unknown_signal",
        ("export", result, "-o", tmp_path / "x.csv", "--analysis", "sens"): "unknown_analysis",
        ("export", tmp_path / "nix.raw", "-o", tmp_path / "x.csv"): None,
        ("plot", result, "-o", tmp_path / "x.bmp"): "bad_usage",
        ("plot", result, "-o", tmp_path / "x.png", "--width", "9999"): "bad_usage",
        ("plot", result, "-o", tmp_path / "x.png", "--analysis", "op"): "nothing_to_plot",
    }
    for argv, expected in cases.items():
        done = cli(*argv, "--json")
        assert done.exit_code == 2, argv
        if expected:
            assert done.document["errors"][0]["error_type"] == expected
    assert target.read_text() == "mine"
    assert not list(tmp_path.glob("x.*"))
    assert cli("export", result, "-o", target, "--force").exit_code == 0
    assert target.read_text().startswith("time,")


def test_pictures(cli: Cli, result: Path, tmp_path: Path) -> None:
    home = {"MPLCONFIGDIR": str(tmp_path / "matplotlib")}
    svg = tmp_path / "bode.svg"
    done = cli("plot", result, "--signals", "v(out)/v(in)", "-o", svg, "--json", LANG="zh_CN.UTF-8", **home)
    assert done.exit_code == 0, done.stderr
    assert done.document["tables"] == [{"name": "tran", "signals": ["v(out)/v(in)"]}]
    assert "时间 (ms)" in svg.read_text("utf-8")
    done = cli("plot", result, "--analysis", "ac", "-o", tmp_path / "bode.png", **home)
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "bode.png").read_bytes().startswith(b"\x89PNG")


def test_stopping_leaves_no_file_and_no_noise(tmp_path: Path) -> None:
    raw = tmp_path / "long.raw"
    time = np.linspace(0, 1, 2_000_000)
    raw.write_bytes(xyce([("time", "time", time), ("v(a)", "voltage", time)], plot="Transient Analysis"))
    argv = [
        sys.executable,
        str(ROOT / "main.py"),
        "export",
        str(raw),
        "-o",
        str(tmp_path / "long.csv"),
        "--json",
    ]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob(".*.tmp")) and process.poll() is None:
        pass
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130, stderr
    assert json.loads(stdout)["errors"][0]["error_type"] == "stopped"
    assert stderr == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.raw"]


def test_expressions_may_begin_with_a_minus(cli: Cli, result: Path, tmp_path: Path) -> None:
    done = cli("measure", result, "-max(tran.v(out))", "-2^2", "--json")
    assert done.exit_code == 0
    assert [entry["value"] for entry in done.document["values"].values()] == [
        pytest.approx(-0.7, abs=0.1),
        -4,
    ]
    target = tmp_path / "current.csv"
    signals = ("--signals", "-i(vin)", "-(op.v(out)-op.v(in))")
    assert cli("export", result, "-o", target, "--analysis", "op", *signals).exit_code == 0
    assert list(table(target.read_text())[0]) == ["-i(vin)", "-(op.v(out)-op.v(in))"]
    assert cli("measure", result, "-x", "v(out)", "--json").exit_code == 2


def test_data_that_end_early_are_told(cli: Cli, result: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.raw"
    data = next(result.parent.glob("*.raw")).read_bytes()
    assert not cli("measure", result, "max(v(out))", "--json").document["is_truncated"]
    cut.write_bytes(data[:-8])
    for command in (("measure", cut, "max(tran.v(out))"), ("export", cut, "-o", tmp_path / "cut.csv")):
        told = cli(*command)
        assert told.exit_code == 0
        assert "ends early" in told.stdout + told.stderr
    assert cli("measure", cut, "max(tran.v(out))", "--json").document["is_truncated"]
