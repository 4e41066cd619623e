"""The benchmark harness measures what it says, in turns, and tells it readably."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from tests.benchmarks import harness
from tests.benchmarks.harness import Measured, Pair, Samples, benchmark_names, duration, measure, table


@pytest.fixture(autouse=True)
def small_heap() -> Iterator[None]:
    """Each measurement begins with a collection, which looks through all that other tests left."""
    gc.freeze()
    yield
    gc.unfreeze()


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def pair(**changes: object) -> Pair:
    whole: dict[str, object] = {
        "name": "reader",
        "ours": lambda: None,
        "theirs": lambda: None,
        "theirs_name": "peer",
    }
    return Pair(**(whole | changes))  # type: ignore[arg-type]


def test_sides_run_in_turns_each_round_in_the_other_order() -> None:
    runs: list[str] = []
    measured = measure(
        pair(ours=lambda: runs.append("o"), theirs=lambda: runs.append("t"), rounds=3),
    )
    assert "".join(runs) == "ot" + "ot" + "to" + "ot"
    assert len(measured.ours.wall_s) == len(measured.theirs.cpu_s) == 3


def test_preparation_runs_before_each_side_and_is_not_measured() -> None:
    prepared: list[float] = []

    def prepare() -> None:
        prepared.append(1)
        burn(0.02)

    measured = measure(pair(before_each=prepare), rounds=2)
    assert len(prepared) == 2 + 2 * 2
    assert measured.ours.cpu < 0.02


def test_cpu_time_counts_own_work_and_children_but_not_waiting() -> None:
    child = "import time\nwhile time.process_time() < 0.15: pass"
    measured = measure(
        pair(
            ours=lambda: subprocess.run([sys.executable, "-c", child], check=True),
            theirs=lambda: burn(0.1),
        ),
        rounds=1,
    )
    assert measured.ours.cpu >= 0.12
    assert measured.theirs.cpu >= 0.1
    waiting = measure(pair(ours=lambda: time.sleep(0.1)), rounds=1)
    assert waiting.ours.wall >= 0.1
    assert waiting.ours.cpu < 0.1


def test_ratios_are_those_of_the_medians() -> None:
    measured = Measured(
        pair=pair(note="over a file of 1 MB"),
        ours=Samples(wall_s=[1.0, 2.0, 90.0], cpu_s=[0.5, 0.5, 0.5]),
        theirs=Samples(wall_s=[4.0, 4.0, 4.0], cpu_s=[0.25, 0.25, 0.25]),
    )
    assert measured.wall_ratio == 0.5
    assert measured.cpu_ratio == 2.0
    head, rule, row, note = table([measured]).splitlines()
    assert head.split()[:3] == ["pair", "against", "wall"]
    assert set(rule) == {"-", " "}
    assert row.split()[:7] == ["reader", "peer", "2", "s", "4", "s", "0.50"]
    assert note == "reader: over a file of 1 MB"


def test_a_floor_of_nothing_gives_no_ratio() -> None:
    measured = Measured(
        pair=pair(), ours=Samples(wall_s=[1.0], cpu_s=[1.0]), theirs=Samples(wall_s=[0.0], cpu_s=[0.0])
    )
    assert measured.cpu_ratio != measured.cpu_ratio
    assert "nan" in table([measured])


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.000012, "12 us"), (0.0123, "12.3 ms"), (1.5, "1.5 s"), (123.0, "123 s")]
)
def test_durations_are_readable(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_benchmarks_are_found_by_their_names() -> None:
    assert "startup" in benchmark_names()


def test_unknown_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        harness.main(["--quick", "startup", "nonesuch"])
    assert refused.value.code == 2
    assert "nonesuch" in capsys.readouterr().err


def test_a_promised_ratio_is_judged(capsys):
    def busy(count: int) -> Callable[[], None]:
        return lambda: sum(range(count)) and None

    slow = Pair(name="slow", ours=busy(2_000_000), theirs=busy(20_000), theirs_name="x", most_cpu=2)
    fast = Pair(name="fast", ours=busy(20_000), theirs=busy(2_000_000), theirs_name="x", most_cpu=2)
    broken, held = measure(slow, rounds=3), measure(fast, rounds=3)
    assert (broken.keeps_its_promise, held.keeps_its_promise) == (False, True)
    text = table([broken, held])
    assert "slow: under 2 times of the CPU time is promised: BROKEN" in text
    assert "fast: under 2 times of the CPU time is promised: held" in text
