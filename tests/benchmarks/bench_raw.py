"""Raw files: header, one trace, all traces, column file; against spicelib where it can be imported.

The file has a gigabyte (12 doubles a point, as of a transient analysis); BENCH_RAW_MB makes it smaller.
What a side costs in memory is printed too, each measured in a process of its own.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from infrastructure.waveforms.column_file import build_columns
from infrastructure.waveforms.raw_file import WaveformFile, read_headers, read_raw
from tests.benchmarks.harness import Pair

_VARIABLES = 12
_TRACE = "v(n5)"
_SPICELIB = "from spicelib import RawRead; import sys"
_MEMORY: dict[str, str] = {
    "floor (imports)": "import numpy, infrastructure.waveforms.raw_data, domain.simulation.waveform",
    "one trace, ours": "from infrastructure.waveforms.raw_file import WaveformFile as o\n"
    f"found = o(path).trace({_TRACE!r})",
    "all traces, ours": "from infrastructure.waveforms.raw_file import read_raw as r\nfound = r(path)",
    "one trace, spicelib": f"{_SPICELIB}\n"
    f"found = RawRead(path, {_TRACE!r}, dialect='ngspice', verbose=False).get_trace({_TRACE!r}).get_wave()",
    "all traces, spicelib '*'": f"{_SPICELIB}\nimport numpy\n"
    "r = RawRead(path, '*', dialect='ngspice', verbose=False)\n"
    "found = [numpy.ascontiguousarray(r.get_trace(n).get_wave()) for n in r.get_trace_names()]",
    "all traces, spicelib get_trace": f"{_SPICELIB}\n"
    "r = RawRead(path, dialect='ngspice', verbose=False)\n"
    "found = [r.get_trace(n).get_wave() for n in r.get_trace_names()]",
}


def pairs() -> list[Pair]:
    """What the reader is asked for, each against the best there is to compare with."""
    path = Path(tempfile.mkdtemp()) / "big.raw"
    megabytes = int(os.environ.get("BENCH_RAW_MB", "1000"))
    _write(path, megabytes * 1_000_000 // (8 * _VARIABLES))
    build = Pair(
        name="column file, made",
        ours=lambda: build_columns(path),
        theirs=lambda: _copied(path),
        theirs_name="copy the file",
        before_each=lambda: _removed(path),
        rounds=3,
    )
    has_spicelib = importlib.util.find_spec("spicelib") is not None
    found = [
        Pair(
            name="header",
            ours=lambda: [read_headers(path) for _ in range(20)],
            theirs=(lambda: [_raw_read(path) for _ in range(20)])
            if has_spicelib
            else lambda: path.open("rb").close(),
            theirs_name="spicelib, header only" if has_spicelib else "open the file",
            note="twenty times each" + ("" if has_spicelib else "; spicelib is not installed here"),
        ),
        *([] if not has_spicelib else _against_spicelib(path)),
        Pair(
            name="one trace",
            ours=lambda: _trace(path),
            theirs=lambda: _read_through(path),
            theirs_name="read the file's bytes once",
            before_each=lambda: _removed(path),
            rounds=7,
        ),
        build,
        Pair(
            name="one trace of the column file, every value read",
            ours=lambda: _trace(path).sum(),
            theirs=_copy_of(path),
            theirs_name="copy its bytes",
            before_each=lambda: build_columns(path),
            note="with opening and mapping the file",
        ),
        Pair(
            name="one trace of the column file, copied out",
            ours=lambda: _trace(path).copy(),
            theirs=_copy_of(path),
            theirs_name="copy its bytes",
            before_each=lambda: build_columns(path),
        ),
        Pair(
            name="2,000 points of the whole trace, for a plot",
            ours=_window_of(path),
            theirs=_copy_of(path),
            theirs_name="copy its bytes",
        ),
    ]
    _print_memory(path, has_spicelib=has_spicelib)
    return found


def _against_spicelib(path: Path) -> list[Pair]:
    def of_each() -> object:
        reader = _raw_read(path)
        return [reader.get_trace(name).get_wave() for name in reader.get_trace_names()]

    def at_once() -> object:
        reader = _raw_read(path, "*")
        return [np.ascontiguousarray(reader.get_trace(name).get_wave()) for name in reader.get_trace_names()]

    def clean() -> None:
        _removed(path)

    return [
        Pair(
            name="one trace",
            ours=lambda: _trace(path),
            theirs=lambda: _raw_read(path, _TRACE).get_trace(_TRACE).get_wave(),
            theirs_name="spicelib RawRead(file, trace)",
            before_each=clean,
            rounds=7,
        ),
        Pair(
            name="all traces",
            ours=lambda: read_raw(path),
            theirs=of_each,
            theirs_name="spicelib RawRead(file), get_trace of each",
            before_each=clean,
            rounds=3,
        ),
        Pair(
            name="all traces, each in one piece",
            ours=lambda: read_raw(path),
            theirs=at_once,
            theirs_name="spicelib RawRead(file, '*'), made contiguous",
            before_each=clean,
            rounds=5,
            note="spicelib's own '*' gives strided views of the rows",
        ),
    ]


def _raw_read(path: Path, traces: str | None = None):  # type: ignore[no-untyped-def]
    from spicelib import RawRead  # type: ignore[import-not-found]

    return RawRead(path, traces, dialect="ngspice", verbose=False)


def _write(path: Path, points: int) -> None:
    names = ["time", *(f"v(n{i})" for i in range(1, _VARIABLES))]
    head = [
        "Title: * bench", "Date: Sat Nov 21 21:46:19  2026", "Plotname: Transient Analysis", "Flags: real",
        f"No. Variables: {_VARIABLES}", f"No. Points: {points}", "Variables:",
        *(f"\t{i}\t{name}\t{'voltage' if i else 'time'}" for i, name in enumerate(names)), "Binary:", "",
    ]  # fmt: skip
    with path.open("wb") as file:
        file.write("\n".join(head).encode())
        for first in range(0, points, 100_000):
            time = np.arange(first, min(first + 100_000, points)) * 1e-9
            table = np.empty((len(time), _VARIABLES))
            table[:, 0] = time
            for column in range(1, _VARIABLES):
                table[:, column] = np.sin(2e5 * np.pi * column * time) + column
            file.write(table.tobytes())


def _trace(path: Path) -> np.ndarray:
    with WaveformFile(path) as file:
        return file.trace(_TRACE).data


def _read_through(path: Path) -> None:
    block = bytearray(2**20)
    with path.open("rb", buffering=0) as file:
        while file.readinto(block):
            pass


def _copy_of(path: Path) -> Callable[[], object]:
    kept: list[np.ndarray] = []

    def copy() -> object:
        if not kept:
            kept.append(_trace(path).copy())
        return kept[0].copy()

    return copy


def _window_of(path: Path) -> Callable[[], object]:
    def window() -> object:
        with WaveformFile(path) as file:
            return file.window(_TRACE, 0.0, 1.0, 2_000)

    return window


def _removed(path: Path) -> None:
    path.with_name(path.name + ".columns").unlink(missing_ok=True)


def _copied(path: Path) -> None:
    other = path.with_name("copy")
    block = bytearray(2**22)
    with path.open("rb", buffering=0) as source, other.open("wb", buffering=0) as target:
        while count := source.readinto(block):
            target.write(memoryview(block)[:count])
        os.fsync(target.fileno())
    other.unlink()


def _print_memory(path: Path, *, has_spicelib: bool) -> None:
    data = path.stat().st_size / 2**20
    for name, code in _MEMORY.items():
        if "spicelib" in name and not has_spicelib:
            continue
        script = (
            "import resource, sys\nfrom pathlib import Path\npath = Path(sys.argv[1])\n"
            f"{code}\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(path)],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path.cwd(),
        )
        megabytes = int(done.stdout)
        print(f"memory, {name}: {megabytes} MB = {megabytes / data:.2f} of the file's size", flush=True)
