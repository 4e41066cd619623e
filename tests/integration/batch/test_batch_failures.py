"""Runs that fail, hang, crash their guest or lose it: marked, and all the others right."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from domain.circuit.analyses import Analysis
from domain.simulation.batch import RunOutcome
from domain.simulation.request import SimulationJob
from infrastructure.ngspice.batch.process import GuestProcess
from infrastructure.ngspice.batch.simulator import NgspiceBatch
from infrastructure.ngspice.confined import ConfinedNgspice
from infrastructure.ngspice.runner import NgspiceRunner
from shared.errors import CircuitError, EnvironmentProblem, NeedsConfirmation
from shared.processes import ProcessManager
from tests.integration.batch.conftest import MODES, MakeBatch, MakeCircuit, batch_of, outcomes_of

DIVIDER = "t\nV1 a 0 2\nR1 a b 1k\nR2 b 0 {r2}\n.op\n.end\n"
# ngspice's own tests/sensitivity/diffpair.cir: .sens ends ngspice 39 with a segmentation fault.
PAIR = """differential pair
.param mode=1
.model q npn(bf=80 rb=100 ccs=2pf tf=0.3ns tr=6ns cje=3pf cjc=2pf va=50)
q1 4 2 6 q
q2 5 3 6 q
rs1 11 2 1k
rs2 3 1 1k
rc1 4 8 10k
rc2 5 8 10k
q3 7 7 9 q
q4 6 7 9 q
rbias 7 8 20k
vcm 1 0 dc 0 ac 1
vdm 1 11 dc 0 ac 1
vcc 8 0 12
vee 9 0 -12
.op
.if (mode==2)
.sens v(5,4)
.endif
.end
"""
OP = (Analysis(kind="op", text="op", line=17),)


def middle(outcome: RunOutcome) -> float:
    return float(outcome.plots[0].vectors["v(b)"].data[0])


def expected(r2: float) -> float:
    return 2 * r2 / (1000 + r2)


def check_divider(outcomes: Sequence[RunOutcome], values: Sequence[float]) -> None:
    for outcome, value in zip(outcomes, values, strict=True):
        assert outcome.state == "ok", outcome.issues
        assert middle(outcome) == pytest.approx(expected(value), rel=1e-9)


@pytest.mark.parametrize("mode", MODES)
async def test_each_run_has_its_own_values_in_every_mode(
    mode: str, make_batch: MakeBatch, make_circuit: MakeCircuit
) -> None:
    circuit = await asyncio.to_thread(make_circuit, DIVIDER.format(r2="1k"), ["R2"])
    values = [float(r2) for r2 in range(100, 4100, 100)]

    found = await outcomes_of(make_batch(mode), batch_of(circuit, [(v,) for v in values]), workers=2)

    check_divider(found, values)


async def test_a_crash_marks_its_runs_only(make_batch: MakeBatch, make_circuit: MakeCircuit) -> None:
    circuit = await asyncio.to_thread(make_circuit, PAIR, ["mode"], analyses=OP)
    rows = [(2.0 if number in (5, 17) else 1.0,) for number in range(30)]

    found = await outcomes_of(make_batch(), batch_of(circuit, rows), workers=2)

    for outcome, (mode,) in zip(found, rows, strict=True):
        assert outcome.state == ("crashed" if mode == 2 else "ok")
        if mode == 2:
            assert [issue.code for issue in outcome.issues] == ["simulator-crashed"]
            assert "SIGSEGV" in str(outcome.issues[0].message)
        else:
            assert outcome.plots[0].vectors["v(5)"].data[0] == found[0].plots[0].vectors["v(5)"].data[0]


async def test_a_circuit_that_crashes_or_does_not_load_leaves_the_others_alone(
    make_batch: MakeBatch, make_circuit: MakeCircuit
) -> None:
    good = await asyncio.to_thread(make_circuit, DIVIDER.format(r2="1k"), ["R2"])
    crashing = await asyncio.to_thread(make_circuit, PAIR, ["mode"], analyses=OP)
    broken = await asyncio.to_thread(make_circuit, DIVIDER.format(r2="nomodel"), ["R1"])
    fatal = await asyncio.to_thread(make_circuit, DIVIDER.format(r2="{nothing}"), ["R1"])
    back_tick = await asyncio.to_thread(
        make_circuit, DIVIDER.format(r2="1k").replace(".op", ".control\npre_echo `id`\n.endc\n.op"), ["R2"]
    )
    circuits = (crashing, good, broken, fatal, back_tick)
    rows = [(index, (2.0 if index == 0 else 1000.0,)) for _ in range(3) for index in range(5)]

    found = await outcomes_of(make_batch(), batch_of(circuits, rows), workers=2)

    states = {0: "crashed", 1: "ok", 2: "failed", 3: "failed", 4: "crashed"}
    codes = {0: "simulator-crashed", 2: "bad-value", 3: "undefined-parameter", 4: "simulator-crashed"}
    for outcome, (index, _) in zip(found, rows, strict=True):
        assert outcome.state == states[index]
        assert [issue.code for issue in outcome.issues] == ([codes[index]] if index in codes else [])
        assert bool(outcome.plots) == (index == 1)
    assert {found[index].issues[0].line for index in (2, 3)} == {4}, "the user's lines"


async def test_a_run_that_hangs_is_stopped_and_the_others_go_on(
    make_batch: MakeBatch, make_circuit: MakeCircuit
) -> None:
    deck = "t\n.param stop=1m\nV1 a 0 sin(0 1 1)\nR1 a b 1k\nC1 b 0 1n\n.tran 1u {stop} 0 1u\n.end\n"
    circuit = await asyncio.to_thread(make_circuit, deck, ["stop"])
    rows = [(1e-3,), (1e6,), (2e-3,), (1e-3,), (3e-3,)]

    found = await outcomes_of(make_batch(), batch_of(circuit, [*rows, *rows], timeout_s=1.0), workers=2)

    for outcome, (stop,) in zip(found, [*rows, *rows], strict=True):
        if stop == 1e6:
            assert outcome.state == "timeout"
            assert [issue.code for issue in outcome.issues] == ["time-limit"]
        else:
            assert outcome.state == "ok"
            assert outcome.plots[0].axis is not None
            assert outcome.plots[0].axis.data[-1] == pytest.approx(stop)


FindGuests = Callable[[], list[int]]


@pytest.fixture
def guests() -> FindGuests:
    """Processes below this one that host the library: it is in their memory.

    Others come and go meanwhile, or are only being started.
    """
    return lambda: [pid for pid in _innermost() if _hosts_the_library(pid)]


def _hosts_the_library(pid: int) -> bool:
    try:
        return "libngspice" in Path(f"/proc/{pid}/maps").read_text()
    except OSError:  # it has ended
        return False


def _innermost() -> list[int]:
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    below = {os.getpid()}
    size = 0
    while size != len(below):
        size = len(below)
        below |= {pid for pid, parent in parents.items() if parent in below}
    return [pid for pid in below if pid != os.getpid() and pid not in parents.values()]


async def test_guests_killed_in_mid_batch_lose_nothing(
    make_batch: MakeBatch, make_circuit: MakeCircuit, guests: FindGuests
) -> None:
    circuit = await asyncio.to_thread(make_circuit, DIVIDER.format(r2="1k"), ["R2"])
    values = [100.0 + number for number in range(3000)]
    engine = make_batch()
    found: list[RunOutcome] = []
    killed: list[int] = []
    async with contextlib.aclosing(engine.run(batch_of(circuit, [(v,) for v in values]), workers=2)) as runs:
        async for outcome in runs:
            found.append(outcome)
            if len(found) in (400, 1500):
                for pid in await asyncio.to_thread(guests):
                    with contextlib.suppress(ProcessLookupError):  # one that has just ended by itself
                        os.kill(pid, signal.SIGKILL)
                        killed.append(pid)

    assert len(killed) >= 2, "there was something to kill"
    found.sort(key=lambda outcome: outcome.run_id)
    check_divider(found, values)


@pytest.mark.parametrize(("kills", "is_refused"), [(2, False), (3, True)])
async def test_a_guest_killed_before_its_first_word_is_replaced_but_not_for_ever(
    kills: int,
    is_refused: bool,
    make_batch: MakeBatch,
    make_circuit: MakeCircuit,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    circuit = await asyncio.to_thread(make_circuit, DIVIDER.format(r2="1k"), ["R2"])
    left = [None] * kills
    start, first_word = GuestProcess.start, GuestProcess.frame

    async def killed_at_birth(guest: GuestProcess) -> None:
        others = set(await asyncio.to_thread(_innermost))

        async def frame() -> tuple[int, memoryview]:
            while not (found := set(await asyncio.to_thread(_innermost)) - others):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
            for pid in found:
                os.kill(pid, signal.SIGKILL)
            while guest._life is not None and not guest._life.done():  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
            guest._frames.clear()
            return await first_word(guest)

        if left:
            left.pop()
            monkeypatch.setattr(guest, "frame", frame, raising=False)
        await start(guest)

    monkeypatch.setattr(GuestProcess, "start", killed_at_birth)
    runs = outcomes_of(make_batch(), batch_of(circuit, [(100.0,), (200.0,)]), workers=1)
    if is_refused:
        with pytest.raises(EnvironmentProblem, match="does not start"):
            await runs
    else:
        check_divider(await runs, [100.0, 200.0])
    assert not left


async def test_what_a_run_gives_does_not_depend_on_the_guests(
    make_batch: MakeBatch, make_circuit: MakeCircuit
) -> None:
    deck = (
        "t\n.param r=agauss(1k,100,1)\nV1 a 0 dc 2\nR1 a b {r}\nD1 b 0 dd\nR2 b 0 1k\n"
        ".model dd d(is=1e-14)\n.op\n.end\n"
    )
    circuit = await asyncio.to_thread(make_circuit, deck, ["R2", "dd.is"])
    rows = [(500.0 + 7 * number, 1e-14 * (1 + number % 5)) for number in range(120)]
    engine = make_batch()

    one = await outcomes_of(engine, batch_of(circuit, rows), workers=1)
    two = await outcomes_of(engine, batch_of(circuit, rows), workers=3)

    seen = [outcome.plots[0].vectors["v(b)"].data.tobytes() for outcome in one]
    assert seen == [outcome.plots[0].vectors["v(b)"].data.tobytes() for outcome in two]
    assert len(set(seen)) > 100, "the deck's own chance differs from run to run"


async def test_closing_ends_the_guests_and_keeps_what_is_done(
    make_batch: MakeBatch, make_circuit: MakeCircuit, guests: FindGuests
) -> None:
    circuit = await asyncio.to_thread(make_circuit, DIVIDER.format(r2="1k"), ["R2"])
    rows = [(100.0 + number,) for number in range(20_000)]
    found = []
    async with contextlib.aclosing(make_batch().run(batch_of(circuit, rows), workers=2)) as runs:
        async for outcome in runs:
            found.append(outcome)
            if len(found) == 500:
                break
    assert all(outcome.state == "ok" for outcome in found)
    assert await asyncio.to_thread(guests) == []


async def test_a_round_that_ends_behind_its_session_keeps_no_guest(
    make_batch: MakeBatch, make_circuit: MakeCircuit, guests: FindGuests
) -> None:
    circuit = await asyncio.to_thread(make_circuit, DIVIDER.format(r2="1k"), ["R2"])
    values = [100.0 + number for number in range(300)]
    rounds = batch_of(circuit, [(value,) for value in values]).runs
    async with make_batch().session((circuit,), workers=1) as pool:
        outcomes = pool.run(rounds, signals=None, timeout_s=10)
        found = [await anext(outcomes)]
    found += [outcome async for outcome in outcomes]
    check_divider(sorted(found, key=lambda outcome: outcome.run_id), values)
    assert await asyncio.to_thread(guests) == []


async def test_cancelling_in_the_middle_of_a_hanging_run_leaves_nothing(
    make_batch: MakeBatch, make_circuit: MakeCircuit, guests: FindGuests
) -> None:
    deck = "t\n.param stop=1\nV1 a 0 sin(0 1 1)\nR1 a b 1k\nC1 b 0 1n\n.tran 1u {stop} 0 1u\n.end\n"
    circuit = await asyncio.to_thread(make_circuit, deck, ["stop"])
    task = asyncio.create_task(outcomes_of(make_batch(), batch_of(circuit, [(1e6,), (1e6,)]), workers=2))
    while len(await asyncio.to_thread(guests)) < 2:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(guests) == []


async def test_failures_of_one_run_do_not_reach_the_next(
    make_batch: MakeBatch, make_circuit: MakeCircuit
) -> None:
    deck = "t\n.param r=1k\nV1 a 0 2\nR1 a b 1k\nR2 b 0 {sqrt(r-100)*sqrt(r-100)}\n.op\n.end\n"
    circuit = await asyncio.to_thread(make_circuit, deck, ["r"])
    rows = [(1100.0,), (50.0,), (2100.0,), (float("nan"),), (3100.0,), (0.0,)]

    found = await outcomes_of(make_batch(), batch_of(circuit, rows), workers=1)

    assert [outcome.state for outcome in found] == ["ok", "failed", "ok", "failed", "ok", "failed"]
    assert [bool(outcome.plots) for outcome in found] == [True, False, True, False, True, False]
    for index, r2 in ((0, 1000.0), (2, 2000.0), (4, 3000.0)):
        assert middle(found[index]) == pytest.approx(expected(r2), rel=1e-6)
    assert [issue.code for issue in found[3].issues] == ["bad-value"]
    assert all(outcome.issues[0].severity == "error" for outcome in found if outcome.state != "ok")


async def test_too_little_memory_is_said(make_batch: MakeBatch, make_circuit: MakeCircuit) -> None:
    deck = "t\n.param stop=1m\nV1 a 0 sin(0 1 1k)\nR1 a b 1k\nC1 b 0 1n\n.tran 1u {stop} 0 1u\n.end\n"
    circuit = await asyncio.to_thread(make_circuit, deck, ["stop"])

    batch = batch_of(circuit, [(1e-3,), (20.0,), (2e-3,)], memory_bytes=300 * 2**20, timeout_s=40.0)
    found = await outcomes_of(make_batch(), batch, workers=1)

    assert [outcome.state for outcome in found] == ["ok", "failed", "ok"]
    assert found[1].issues[0].code == "memory-limit"


async def test_circuits_with_the_same_signals_do_not_share_their_axes(
    make_batch: MakeBatch, make_circuit: MakeCircuit
) -> None:
    deck = "t\nV1 a 0 dc 1 ac 1\nR1 a b 1k\nC1 b 0 1u\n.ac lin 3 {start} 100\n.end\n"
    one = await asyncio.to_thread(make_circuit, deck.format(start=10), ["R1"])
    other = await asyncio.to_thread(make_circuit, deck.format(start=50), ["R1"])
    rows = [(index, (1e3,)) for index in (0, 1, 2) for _ in range(3)]

    found = await outcomes_of(make_batch(), batch_of((one, other, one), rows), workers=1)

    for outcome, (index, _) in zip(found, rows, strict=True):
        assert outcome.state == "ok"
        axis = outcome.plots[0].axis
        assert axis is not None
        assert axis.data.tolist() == pytest.approx([50, 75, 100] if index == 1 else [10, 55, 100])


async def test_only_the_wanted_signals_come_with_the_axis(
    make_batch: MakeBatch, make_circuit: MakeCircuit
) -> None:
    deck = "t\nV1 a 0 dc 1 ac 1\nR1 a b 1k\nC1 b 0 1u\n.ac dec 2 1 1k\n.op\n.noise v(b) V1 dec 1 1 10\n.end\n"
    circuit = await asyncio.to_thread(make_circuit, deck, ["R1"])
    signals = ("v(b)", "I(V1)", "@r1[i]", "onoise_spectrum", "v(nowhere)")

    (found,) = await outcomes_of(make_batch(), batch_of(circuit, [(2e3,)], signals=signals))

    kinds = [plot.analysis for plot in found.plots]
    assert kinds == ["ac", "op", "noise", "noise_integrated"], "the order of the cards"
    ac, op, noise, _ = found.plots
    assert ac.axis_name == "frequency"
    assert {"frequency", "v(b)", "i(v1)"} <= ac.vectors.keys() <= {"frequency", "v(b)", "i(v1)", "@r1[i]"}
    assert op.vectors.keys() == {"v(b)", "i(v1)", "@r1[i]"}
    assert noise.vectors.keys() >= {"frequency", "onoise_spectrum"}
    assert ac.vectors["frequency"].data.dtype == float
    assert op.vectors["v(b)"].data[0] == pytest.approx(1.0)


async def test_a_live_circuit_survives_what_its_values_do(
    make_batch: MakeBatch, make_circuit: MakeCircuit
) -> None:
    circuit = await asyncio.to_thread(make_circuit, PAIR, ["mode", "rc1"], analyses=OP)
    async with make_batch().live(circuit) as live:
        first = await live.evaluate((1.0, 10e3))
        crashed = await live.evaluate((2.0, 10e3))
        again, other = await asyncio.gather(
            live.evaluate((1.0, 10e3), signals=("v(4)",)), live.evaluate((1.0, 5e3))
        )
    assert [outcome.state for outcome in (first, crashed, again, other)] == ["ok", "crashed", "ok", "ok"]
    assert again.plots[0].vectors.keys() == {"v(4)"}
    assert again.plots[0].vectors["v(4)"].data[0] == first.plots[0].vectors["v(4)"].data[0]
    assert other.plots[0].vectors["v(4)"].data[0] != first.plots[0].vectors["v(4)"].data[0]


async def test_a_live_circuit_that_does_not_load_is_refused(
    make_batch: MakeBatch, make_circuit: MakeCircuit
) -> None:
    circuit = await asyncio.to_thread(make_circuit, DIVIDER.format(r2="nomodel"), ["R1"])
    with pytest.raises(CircuitError, match="nomodel") as refused:
        async with make_batch().live(circuit):
            pass
    assert refused.value.line == 4


async def test_an_empty_batch_is_done_at_once(make_batch: MakeBatch, make_circuit: MakeCircuit) -> None:
    circuit = await asyncio.to_thread(make_circuit, DIVIDER.format(r2="1k"), ["R2"])
    assert await outcomes_of(make_batch(), batch_of(circuit, [])) == []


async def test_without_any_box_batches_and_single_runs_ask_the_same(
    make_circuit: MakeCircuit, batch_scratch: Path, tmp_path: Path
) -> None:
    """One ConfinedNgspice serves both, and answers the same case with the same question."""
    layers = frozenset(("rlimits",))
    ngspice = ConfinedNgspice(processes=ProcessManager(), scratch_root=batch_scratch, layers=layers)
    engine, runner = NgspiceBatch(ngspice), NgspiceRunner(ngspice)
    plain = await asyncio.to_thread(make_circuit, DIVIDER, ("r2",))
    with_commands = replace(plain, has_control_block=True)
    job = SimulationJob(
        deck=with_commands.deck,
        deck_path=with_commands.deck_path,
        output_dir=tmp_path,
        has_control_block=True,
    )
    with pytest.raises(NeedsConfirmation) as of_run:
        await runner.run(job)
    with pytest.raises(NeedsConfirmation) as of_batch:
        await outcomes_of(engine, batch_of((plain, with_commands), [(0, (1e3,)), (1, (1e3,))]))
    told = [(str(one.value), str(one.value.advice), one.value.file) for one in (of_run, of_batch)]
    assert told[0] == told[1]
    assert (await engine.confinement()).layers == ("rlimits",)
    assert [outcome.state for outcome in await outcomes_of(engine, batch_of(plain, [(1e3,)]))] == ["ok"]
    trusting = ConfinedNgspice(
        processes=ProcessManager(), scratch_root=batch_scratch, layers=layers, allow_unconfined=True
    )
    allowed = await outcomes_of(NgspiceBatch(trusting), batch_of(with_commands, [(1e3,)]))
    assert [outcome.state for outcome in allowed] == ["ok"]
