"""Column files beside raw data that were not written by this user's program, or were changed since."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from infrastructure.persistence.authenticity import UserKey
from infrastructure.waveforms.column_file import build_columns, column_path
from infrastructure.waveforms.raw_file import WaveformFile
from tests.unit.waveform_files.raw_writers import xyce

COUNT = 200_000


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "p" / ".circuit_ai" / "sim_results" / "one"
    folder.mkdir(parents=True)
    time = np.linspace(0, 1, COUNT)
    columns = [("time", "time", time), ("v(a)", "voltage", time * 2), ("v(b)", "voltage", time * 3)]
    (folder / "run.raw").write_bytes(xyce(columns, plot="Transient Analysis"))
    return folder / "run.raw"


@pytest.fixture
def mine(tmp_path: Path) -> UserKey:
    return UserKey(tmp_path / "home")


def last(raw: Path, name: str, key: UserKey) -> tuple[float, float, bool]:
    """(last sample, its place in the envelope of the plot, whether columns are used in the end)."""
    with WaveformFile(raw, key=key) as file:
        shown = file.window(name, 0.0, 1.0, 50)
        return float(file.trace(name).data[-1]), float(shown.high[-1]), file.has_columns


def as_it_was(path: Path, before: os.stat_result) -> None:
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_ones_own_are_used(raw, mine):
    assert build_columns(raw, key=mine)
    assert last(raw, "v(a)", mine) == (2.0, 2.0, True)


def test_a_strangers_are_not_believed_and_made_anew(raw, mine, tmp_path):
    theirs = UserKey(tmp_path / "stranger")
    before = raw.stat()
    good = raw.read_bytes()
    raw.write_bytes(good[:-8] + np.float64(99).tobytes())  # made of other data of the same size ...
    as_it_was(raw, before)
    assert build_columns(raw, key=theirs)
    assert last(raw, "v(b)", theirs)[0] == 99
    raw.write_bytes(good)
    as_it_was(raw, before)  # ... and of the same time
    assert last(raw, "v(b)", mine) == (3.0, 3.0, False)
    assert build_columns(raw, key=mine)
    assert last(raw, "v(b)", mine) == (3.0, 3.0, True)


@pytest.mark.parametrize("value", [np.float64(2), np.float64(3)])
def test_changed_numbers_are_read_from_the_raw_file(raw, mine, value, caplog):
    """A sample, or what the pyramid has of it: everywhere the value 2.0 (3.0) stands in the file."""
    assert build_columns(raw, key=mine)
    place = column_path(raw)
    before = place.stat()
    content = place.read_bytes()
    assert content.count(value.tobytes()) >= 2
    place.write_bytes(content.replace(value.tobytes(), np.float64(99).tobytes()))
    as_it_was(place, before)
    for name, wanted in (("v(a)", 2.0), ("v(b)", 3.0)):
        assert last(raw, name, mine)[:2] == (wanted, wanted)
    assert "the raw file is read instead" in caplog.text


def test_ones_own_of_other_data_are_not_used(raw, mine):
    """The raw file exchanged for another of the same size and time, with the user's own column file."""
    assert build_columns(raw, key=mine)
    before = raw.stat()
    raw.write_bytes(raw.read_bytes()[:-8] + np.float64(7).tobytes())
    as_it_was(raw, before)
    assert last(raw, "v(b)", mine) == (7.0, 7.0, False)


def test_ones_own_beside_a_copy_are_made_anew(raw, mine, tmp_path):
    assert build_columns(raw, key=mine)
    shutil.copytree(raw.parent, tmp_path / "copy")  # with the times
    copy = tmp_path / "copy" / raw.name
    assert last(copy, "v(a)", mine)[2] is False
    assert build_columns(copy, key=mine)
    assert last(copy, "v(a)", mine)[2] is True
