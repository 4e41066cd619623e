"""Measures pairs: our way of doing something against a peer's, or against the floor nobody gets under.

    python -m tests.benchmarks.harness [--quick] [NAME ...]

A module `bench_NAME.py` beside this one has a function `pairs() -> list[Pair]`. The two sides of a
pair run in turns within one process, each round in the other order, so that a machine that slows
down or speeds up does so for both; medians are compared. CPU time counts this process with all its
threads and the child processes it waited for. Nothing is asserted about times here: they are
printed, and judged by who reads them, or by `most_cpu` where a ratio is promised. What a
benchmark puts into `tempfile`'s folder is removed at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import os
import pkgutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Work = Callable[[], object]


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two ways to the same end. Each is a callable that does one run of it."""

    name: str
    ours: Work
    theirs: Work
    theirs_name: str
    rounds: int = 15
    """Runs of each side; a run should take 10 ms or more, else let it repeat its work itself."""
    before_each: Work = _nothing
    """Not measured; run before each run of either side."""
    note: str = ""
    most_cpu: float | None = None
    """The ratio of CPU times we promise to stay under: said in the table, and the exit code is 1 above it."""
    is_long: bool = False
    """A run takes minutes: left out by --quick, and its first run is counted."""


@dataclass(slots=True)
class Samples:
    """Seconds of all runs of one side."""

    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)

    @property
    def wall(self) -> float:
        """Median wall time, s."""
        return statistics.median(self.wall_s)

    @property
    def cpu(self) -> float:
        """Median CPU time, s."""
        return statistics.median(self.cpu_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A pair and what its sides took."""

    pair: Pair
    ours: Samples
    theirs: Samples

    @property
    def wall_ratio(self) -> float:
        """Ours over theirs: below 1 we are faster."""
        return _ratio(self.ours.wall, self.theirs.wall)

    @property
    def cpu_ratio(self) -> float:
        """The same for CPU time."""
        return _ratio(self.ours.cpu, self.theirs.cpu)

    @property
    def keeps_its_promise(self) -> bool:
        """Also when none was made."""
        return self.pair.most_cpu is None or self.cpu_ratio < self.pair.most_cpu


def _ratio(ours: float, theirs: float) -> float:
    return ours / theirs if theirs > 0 else float("nan")


def measure(pair: Pair, *, rounds: int | None = None) -> Measured:
    """Run both sides in turns. The first run of each warms up and is not counted, unless it is long."""
    ours, theirs = Samples(), Samples()
    sides = [(pair.ours, ours), (pair.theirs, theirs)]
    for work, _ in () if pair.is_long else sides:
        pair.before_each()
        work()
    for number in range(rounds or pair.rounds):
        for work, samples in sides if number % 2 == 0 else reversed(sides):
            pair.before_each()
            _run(work, samples)
    return Measured(pair=pair, ours=ours, theirs=theirs)


def _run(work: Work, samples: Samples) -> None:
    gc.collect()
    cpu, wall = _cpu_s(), time.perf_counter()
    work()
    samples.wall_s.append(time.perf_counter() - wall)
    samples.cpu_s.append(_cpu_s() - cpu)


_unseen_cpu_s = 0.0


def count_grandchildren() -> None:
    """Add the CPU time of the processes below this one's children, just before they end.

    Those in a pid namespace are waited for by nobody who would pass their time on to us.
    """
    global _unseen_cpu_s  # noqa: PLW0603 - one count for the one clock
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    children = {pid for pid, parent in parents.items() if parent == os.getpid()}
    below: set[int] = set()
    size = -1
    while size != len(below):
        size = len(below)
        below |= {pid for pid, parent in parents.items() if parent in children | below}
    for pid in below:
        with contextlib.suppress(OSError):
            _unseen_cpu_s += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def _cpu_s() -> float:
    """CPU seconds of this process, of the children it waited for, and of what `count_grandchildren` saw.

    The clock for this process counts nanoseconds; that for children (`os.times` counts 10 ms) too.
    """
    if sys.platform == "win32":
        return time.process_time()
    import resource

    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime + _unseen_cpu_s


def table(measured: Sequence[Measured]) -> str:
    """The figures side by side: medians, ratios, and the spread of the wall times (quartiles)."""
    rows = [("pair", "against", "wall", "theirs", "ratio", "cpu", "theirs", "ratio", "spread", "runs")]
    rows += [
        (
            one.pair.name,
            one.pair.theirs_name,
            duration(one.ours.wall),
            duration(one.theirs.wall),
            f"{one.wall_ratio:.2f}",
            duration(one.ours.cpu),
            duration(one.theirs.cpu),
            f"{one.cpu_ratio:.2f}",
            f"{_spread(one.ours):.0%}",
            str(len(one.ours.wall_s)),
        )
        for one in measured
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    promises = [
        f"{one.pair.name}: under {one.pair.most_cpu:g} times of the CPU time is promised: "
        + ("held" if one.keeps_its_promise else "BROKEN")
        for one in measured
        if one.pair.most_cpu is not None
    ]
    notes = [f"{one.pair.name}: {one.pair.note}" for one in measured if one.pair.note]
    return "\n".join([*lines, *notes, *promises])


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for limit, factor, unit in ((1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def _spread(samples: Samples) -> float:
    if len(samples.wall_s) < 2:
        return 0.0
    lower, _, upper = statistics.quantiles(samples.wall_s, n=4)
    return (upper - lower) / samples.wall


def benchmark_names() -> list[str]:
    """NAME of each bench_NAME.py."""
    found = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return sorted(name.removeprefix("bench_") for name in found if name.startswith("bench_"))


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the benchmarks named (default: all) and print a table for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.harness", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(benchmark_names())}")
    parser.add_argument("--quick", action="store_true", help="three runs of each side, to see that it works")
    options = parser.parse_args(argv)
    unknown = sorted({*options.names} - {*benchmark_names()})
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}")
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        tempfile.tempdir = folder
        names = options.names or benchmark_names()
        held = [_report(name, rounds=3 if options.quick else None) for name in names]
    return 0 if all(held) else 1


def _report(name: str, *, rounds: int | None) -> bool:
    """Measure and print one benchmark; whether every promise was held."""
    module = importlib.import_module(f"tests.benchmarks.bench_{name}")
    is_quick = rounds is not None
    measured = [measure(pair, rounds=rounds) for pair in module.pairs() if not (is_quick and pair.is_long)]
    print(f"\n{name}: {(module.__doc__ or '').strip().splitlines()[0]}\n{table(measured)}", flush=True)
    return all(one.keeps_its_promise for one in measured)


if __name__ == "__main__":
    # The benchmarks import this module by its name: there is to be one clock, not two.
    from tests.benchmarks import harness

    sys.exit(harness.main())
