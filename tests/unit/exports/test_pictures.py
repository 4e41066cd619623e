"""Pictures of tables: real files by matplotlib, looked into."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from application.results.exporting import ExportRequest, PictureOptions
from application.results.tables import tables_of
from infrastructure.exports.pictures import PictureFiles
from infrastructure.waveforms.raw_file import WaveformFile
from shared.errors import UserInputError
from tests.unit.waveform_files.raw_writers import Columns, xyce

F = np.logspace(0, 6, 121)
AC: Columns = [
    ("frequency", "frequency", F + 0j),
    ("v(out)", "voltage", 1 / (1 + 1j * F / 1e3)),
    ("v($x_1$)", "voltage", F + 1j),
]
WORDS = {"time": "时间", "frequency": "频率", "magnitude": "幅值", "phase": "相位"}

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> PictureFiles:
    """Warmed up: matplotlib keeps the fonts it has read open, and a list of all fonts."""
    folder = tmp_path_factory.mktemp("warm")
    found = PictureFiles(cache=tmp_path_factory.mktemp("matplotlib"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLCONFIGDIR", str(found._cache))
        for form in ("svg", "png", "pdf"):
            content = xyce(AC, plot="AC Analysis", flags="complex")
            drawn(found, folder, content, form=form, title="低通 $x$")
    return found


@pytest.fixture(autouse=True)
def own_cache(pictures: PictureFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLCONFIGDIR", str(pictures._cache))


def drawn(pictures: PictureFiles, tmp_path: Path, content: bytes, *signals: str, form: str = "svg", title=""):
    raw, target = tmp_path / "run.raw", tmp_path / f"plot.{form}"
    raw.write_bytes(content)
    request = ExportRequest(source=raw, target=target, signals=signals, overwrite=True)
    options = PictureOptions(format=form, words=WORDS, title=title)
    if form == "pdf":  # a Chinese font takes seconds to be put into one
        options = replace(options, words={}, title="")
    with WaveformFile(raw) as file:
        pictures.draw(tables_of(file, signals), request, options)
    return target


def texts(svg: Path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg.read_text("utf-8"))


def test_a_bode_plot_has_gain_above_phase_and_its_text_is_text(pictures, tmp_path):
    svg = drawn(pictures, tmp_path, xyce(AC, plot="AC Analysis", flags="complex"), title="低通 $x$")
    found = texts(svg)
    for text in (
        "低通 $x$",
        "频率 (Hz)",
        "幅值 (dB)",
        "相位 (°)",
        "v(out)",
        "v($x_1$)",
        "10 k",
        "1 M",
        "−60",
    ):
        assert text in found, text
    content = svg.read_text("utf-8")
    assert content.index("幅值") < content.index("相位")
    assert "#4170e9" in content.lower()  # the first colour for traces of the light theme


def test_a_time_plot_has_engineering_ticks(pictures, tmp_path):
    time = np.linspace(0, 2.5e-3, 200_000)
    columns: Columns = [
        ("time", "time", time), ("v(out)", "voltage", 5e-3 * np.sin(time * 1e5)), ("i(v1)", "current", time),
    ]  # fmt: skip
    svg = drawn(pictures, tmp_path, xyce(columns, plot="Transient Analysis"))
    found = texts(svg)
    assert "时间 (ms)" in found
    assert {"mV", "mA", "v(out)", "i(v1)", "2.5"} <= set(found)
    assert svg.stat().st_size < 400_000  # not all of the 200,000 points


def test_runs_of_a_step_are_told_apart(pictures, tmp_path):
    name = "Step Analysis: Step {} of 2 params: name = r1 value = {} Transient Analysis"
    columns: Columns = [("time", "time", np.arange(5.0)), ("v(a)", "voltage", np.arange(5.0))]
    content = b"".join(xyce(columns, plot=name.format(step, 1000 * step)) for step in (1, 2))
    found = texts(drawn(pictures, tmp_path, content))
    assert {"v(a)  r1=1k", "v(a)  r1=2k"} <= set(found)


@pytest.mark.parametrize(("form", "begin"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_other_formats_and_that_the_same_data_give_the_same_file(pictures, tmp_path, form, begin):
    content = xyce(AC, plot="AC Analysis", flags="complex")
    first = drawn(pictures, tmp_path, content, "db(v(out))", form=form).read_bytes()
    assert first.startswith(begin)
    assert drawn(pictures, tmp_path, content, "db(v(out))", form=form).read_bytes() == first


@pytest.mark.parametrize(
    "values", [np.full(4, np.nan), np.zeros(4), np.array([np.inf, 1, 2, 3]), np.full(4, 1e308)]
)
def test_numbers_that_are_hard_to_draw(pictures, tmp_path, values):
    columns: Columns = [("time", "time", np.arange(4.0)), ("v(a)", "voltage", values)]
    assert drawn(pictures, tmp_path, xyce(columns, plot="Transient Analysis")).stat().st_size > 1000


def test_a_picture_that_is_there_is_not_replaced_unasked(pictures, tmp_path):
    target = drawn(pictures, tmp_path, xyce(AC, plot="AC Analysis", flags="complex"))
    before = target.read_bytes()
    request = ExportRequest(source=tmp_path / "run.raw", target=target)
    with WaveformFile(tmp_path / "run.raw") as file, pytest.raises(UserInputError):
        pictures.draw(tables_of(file), request, PictureOptions(format="svg"))
    assert target.read_bytes() == before
