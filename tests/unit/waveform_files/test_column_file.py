"""The column file beside a raw file: the same numbers, and never those of another file."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

from domain.simulation.expressions import evaluate
from infrastructure.persistence.authenticity import UserKey
from infrastructure.waveforms import column_file
from infrastructure.waveforms.column_file import ColumnFileBuilder, build_columns, column_path
from infrastructure.waveforms.raw_file import RawFileReader, WaveformFile, read_raw
from shared.errors import EnvironmentProblem, UserInputError
from shared.paths import user_home
from tests.ground.campaign import Campaign, campaigns
from tests.unit.waveform_files.raw_writers import ltspice, xyce

COUNT = 70_001


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "run.raw"
    time = np.linspace(0, 1e-3, COUNT)
    columns = [
        ("time", "time", time),
        ("v(out)", "voltage", np.sin(2 * np.pi * 50e3 * time)),
        ("i(v1)", "current", np.where(time > 5e-4, np.nan, time)),
    ]
    frequency = np.logspace(0, 6, 121)
    ac = [
        ("frequency", "frequency", frequency + 0j),
        ("v(out)", "voltage", 1 / (1 + 1j * frequency / 1e3)),
    ]
    path.write_bytes(
        xyce(columns, plot="Transient Analysis")
        + xyce(ac, plot="AC Analysis", flags="complex")
        + xyce([("v(a)", "voltage", np.array([3.0]))], plot="Operating Point", is_ascii=True)
    )
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def numbers(path: Path) -> list[tuple[str, str, list]]:
    return [
        (plot.analysis, name, np.array(vector.data).view(np.uint8).tolist())
        for plot in read_raw(path)
        for name, vector in plot.vectors.items()
    ]


@pytest.mark.parametrize("huge_page", [None, 2**15])
def test_it_has_the_same_numbers_and_measures_the_same(raw: Path, huge_page: int | None, monkeypatch):
    """`huge_page`: a small one, so that these columns lie as large ones do."""
    if huge_page is not None:
        monkeypatch.setattr(column_file, "_HUGE_PAGE", huge_page)
        monkeypatch.setattr(column_file, "_WORTH_HUGE", huge_page)
    before = numbers(raw)
    bandwidth = evaluate("bandwidth(v(out))", read_raw(raw))
    assert build_columns(raw)
    with WaveformFile(raw) as file:
        assert file.has_columns
        assert evaluate("bandwidth(v(out))", file.plots) == bandwidth
        assert evaluate("rms(v(out))", file.plots).value == pytest.approx(0.5**0.5, rel=1e-3)
    assert numbers(raw) == before
    assert names_in(raw.parent) == ["run.raw", "run.raw.columns"]


def test_its_vectors_are_mapped_and_outlive_the_file(raw: Path):
    build_columns(raw)
    with WaveformFile(raw) as file:
        found = file.trace("v(out)").data
    column_path(raw).unlink(missing_ok=True)
    raw.unlink()
    assert not found.flags.writeable
    assert not found.flags.owndata
    assert found.max() == pytest.approx(1, abs=1e-6)


def test_it_is_kept_when_it_fits_and_made_anew_when_the_raw_file_changed(raw: Path):
    build_columns(raw)
    first = column_path(raw).stat().st_ino
    assert build_columns(raw)
    assert column_path(raw).stat().st_ino == first
    content = bytearray(raw.read_bytes())
    content[-30:-29] = b"\x01"
    raw.write_bytes(content)
    with WaveformFile(raw) as file:
        assert not file.has_columns
    assert build_columns(raw)
    assert numbers(raw) == numbers_without(raw)


def numbers_without(raw: Path) -> list[tuple[str, str, list]]:
    column_path(raw).unlink(missing_ok=True)
    return numbers(raw)


def test_names_come_from_the_raw_file_even_when_size_and_time_are_the_same(raw: Path):
    build_columns(raw)
    times = raw.stat()
    raw.write_bytes(
        raw.read_bytes().replace(b"Operating Point", b"Operating P0int").replace(b"\t2\ti(v1)", b"\t2\ti(v2)")
    )
    os.utime(raw, ns=(times.st_atime_ns, times.st_mtime_ns))
    with WaveformFile(raw) as file:
        assert "i(v2)" in file.plots[0].vectors


def test_stopping_leaves_nothing(raw: Path):
    stop = threading.Event()
    stop.set()
    assert ColumnFileBuilder().build(raw, stop) is False
    assert names_in(raw.parent) == ["run.raw"]


def test_an_error_is_raised_to_the_caller_and_leaves_nothing(raw: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(column_file.os, "pwrite", full)
    with pytest.raises(EnvironmentProblem) as caught:
        ColumnFileBuilder().build(raw, threading.Event())
    assert caught.value.error_type == "disk_full"
    assert names_in(raw.parent) == ["run.raw"]


def test_a_file_that_is_no_raw_file(tmp_path: Path):
    (tmp_path / "x.raw").write_bytes(b"hello\n")
    with pytest.raises(UserInputError):
        build_columns(tmp_path / "x.raw")
    assert names_in(tmp_path) == ["x.raw"]


def test_a_link_a_fifo_and_a_folder_in_its_place_are_passed_over(raw: Path, tmp_path: Path):
    place = column_path(raw)
    os.mkfifo(place)
    with WaveformFile(raw) as file:
        assert not file.has_columns
    place.unlink()
    place.mkdir()
    with WaveformFile(raw) as file:
        assert not file.has_columns


def test_a_stepped_file_too(tmp_path: Path):
    raw = tmp_path / "steps.raw"
    time = np.concatenate((np.linspace(0, 1, 3000), np.linspace(0, 1, 4000)))
    raw.write_bytes(
        ltspice([("time", "time", time), ("V(a)", "voltage", np.arange(7000.0))], flags="real stepped")
    )
    before = numbers(raw)
    build_columns(raw)
    assert numbers(raw) == before
    with WaveformFile(raw) as file:
        assert file.has_columns
        found = file.window("v(a)", 0.0, 1.0, 10, 1)
    assert (found.low[0], found.high[-1]) == (3000, 6999)


@campaigns(fast=150, whole=20_000)
def test_a_damaged_one_is_passed_over_or_harmless(campaign: Campaign, tmp_path: Path):
    raw = tmp_path / "small.raw"
    time = np.linspace(0, 1, 300)
    raw.write_bytes(xyce([("time", "time", time), ("v(a)", "voltage", time)], plot="Transient Analysis"))
    build_columns(raw)
    whole = column_path(raw).read_bytes()
    for rng in campaign.cases():
        content = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            match rng.randrange(3):
                case 0:
                    content[rng.randrange(min(len(content), 600))] = rng.randrange(256)
                case 1:
                    del content[rng.randrange(len(content)) :]
                case 2:
                    at = rng.randrange(min(len(content), 600))
                    content[at : at + 1] = rng.randbytes(2)
            if not content:
                break
        if rng.random() < 0.7 and len(content) > 48:  # signed all the same: the reading holds too
            length = int.from_bytes(content[8:16], "little")
            text = bytes(content[48 : 48 + min(length, 10**6)])
            content[16:48] = UserKey(user_home()).mac("column file", text)
        column_path(raw).write_bytes(content)
        plots = RawFileReader().read(raw)
        assert [plot.points for plot in plots] == [300]
        with WaveformFile(raw) as file:
            found = file.window("v(a)", 0.2, 0.8, 20)
            assert len(found.x) == len(found.low)
