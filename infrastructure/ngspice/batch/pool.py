"""Gives the runs of a batch to guests, and gives out what comes back.

Each guest gets runs of one circuit in chunks, the next before the last is done. A guest that ends is
replaced: the run it was at is tried once more, by itself, and marked when that ends its guest too; what
else it had in hand is simply done again. No run depends on which guest does it or what was before.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from domain.simulation.batch import BatchCircuit, BatchRun, RunOutcome, RunState
from domain.simulation.result import SimulationIssue
from infrastructure.ngspice.batch.guest import IDLE, LOADED, QUIT, RESULT
from infrastructure.ngspice.batch.process import (
    LOADING_S,
    GuestLost,
    GuestPlan,
    GuestProcess,
    input_folder_name,
)
from infrastructure.ngspice.batch.results import CircuitResults, accepted_names, saved_names
from infrastructure.ngspice.batch.wire import WireError, order, read_quit, read_result, run_order
from infrastructure.ngspice.findings import quoted
from infrastructure.persistence.confined import read_regular_file
from shared.errors import EnvironmentProblem
from shared.message import msg
from shared.processes import ProcessManager
from shared.uninterrupted import off_loop, uninterrupted

_logger = logging.getLogger(__name__)
DECK_NAME = "deck.cir"
_CHUNK_S = 0.03
_LARGEST_CHUNK = 256
_MOST_WAITING_BYTES = 256 * 2**20
_MOST_WAITING = 4000
_STARTS = 3
"""How often a guest is started that somebody kills before it has said a word (a machine short of memory)."""
_KILLED = 128 + signal.SIGKILL
_MOST_BEGINNINGS = 64
"""With how many runs' values a circuit is tried whose own do not load."""
_OF_VALUES = frozenset({"bad-value", "bad-expression", "math-domain"})
"""Errors of loading that other values may not have."""
_RANDOM = (b"gauss", b"unif", b"limit", b"rnd", b"random", b"trnoise")
_Verdict = tuple[RunState, tuple[SimulationIssue, ...]]


def circuit_order(circuit: BatchCircuit, index: int, signals: Sequence[str] | None) -> bytes:
    """The order to load a circuit. Blocking when it has included files (they are searched for chance)."""
    texts = [circuit.deck, *circuit.companions.values()]
    places = (os.path.realpath(path) for path in circuit.included_files if path.is_file())
    texts += [read_regular_file(Path(place)) for place in places]
    is_random = any(word in text.lower() for text in texts for word in _RANDOM)
    ways = [(varied.way, varied.targets) for varied in circuit.varied]
    mode = circuit.compatibility
    return order(
        "circuit",
        {
            "files": {DECK_NAME: circuit.deck, **circuit.companions},
            "deck": DECK_NAME,
            "input_folder": input_folder_name(index),
            "before": ["unset ngbehavior" if mode is None else f"set ngbehavior={mode}"],
            "ways": ways,
            "resets": is_random or any(way == "alterparam" for way, _ in ways),
            "first_seed": _first_seed(circuit.random_seed) if is_random else None,
            "wanted": accepted_names(signals),
            "saved": saved_names(signals),
        },
    )


def _first_seed(seed: int) -> int:
    """What run 0 is seeded with, the others counting on; far apart for neighbouring seeds."""
    return int.from_bytes(sha256(str(seed).encode()).digest()[:8]) % 2**30 + 1


@dataclass(slots=True)
class _Task:
    """A circuit with the runs that are still to be done."""

    circuit: BatchCircuit
    results: CircuitResults
    waiting: deque[BatchRun] = field(default_factory=deque)
    refused: _Verdict | None = None
    """It does not load: the verdict on all its runs."""
    crashes: int = 0
    """How often loading it ended a guest."""
    seconds: float = 0.0
    """Estimate of a run's time."""
    guests: int = 0
    """How many have it loaded."""


class BatchPool:
    """Guests for a fixed set of circuits; any number of rounds of runs."""

    def __init__(
        self, *, processes: ProcessManager, plan: GuestPlan, circuits: Sequence[BatchCircuit], guests: int
    ) -> None:
        self._processes = processes
        self._plan = plan
        self._circuits = [(circuit, CircuitResults(circuit)) for circuit in circuits]
        self._refused: dict[int, _Verdict] = {}
        self._idle: list[GuestProcess | None] = [None] * guests
        self._is_closed = False
        self._orders: dict[tuple[int, tuple[str, ...] | None], bytes] = {}
        self.beginnings: dict[int, list[tuple[float, ...]]] = {}
        """Of circuits whose written values do not load: the runs' values they were tried with, the last of
        which holds."""
        self.library_version = ""
        """As the last guest that was started told it: "ngspice-39"."""

    async def close(self) -> None:
        """End the guests; one that is still at work ends as soon as it would be kept for the next round."""
        self._is_closed = True
        guests = [guest for guest in self._idle if guest is not None]
        self._idle = [None] * len(self._idle)

        async def end() -> None:
            await asyncio.gather(*(guest.close(gently=True) for guest in guests))

        # Who is cancelled a second time here would cancel them before they have begun, and leave the guests.
        await uninterrupted(end())

    async def load(self, index: int) -> tuple[SimulationIssue, ...]:
        """Load a circuit now; the errors that keep it from being loaded, if any."""
        probe = _Round(self, self._circuits, self._refused, (), signals=None, timeout_s=LOADING_S)
        for _ in range(2):
            # Taken before anything is waited for: another call leaves its own there meanwhile.
            guest, self._idle[0] = self._idle[0], None
            if guest is None:
                guest = await self._start(LOADING_S)
            try:
                await probe.work(guest, index)
            except GuestLost as lost:
                await guest.close()
                probe.bury(guest, index, lost)
            except BaseException:
                await guest.close()
                raise
            else:
                if self._is_closed or self._idle[0] is not None:
                    await guest.close()
                else:
                    self._idle[0] = guest
                break
        return self._refused[index][1] if index in self._refused else ()

    async def run(
        self, runs: Sequence[BatchRun], *, signals: Sequence[str] | None, timeout_s: float
    ) -> AsyncGenerator[RunOutcome, None]:
        """The outcome of every run, as they end. Closing it ends the guests that were at work."""
        round_ = _Round(self, self._circuits, self._refused, runs, signals=signals, timeout_s=timeout_s)
        slots = min(len(self._idle), max(1, len(runs)))
        workers = [
            asyncio.create_task(self._serve(round_, slot), name=f"batch guest {slot}")
            for slot in range(slots)
        ]
        try:
            async for outcome in round_.outcomes(workers):
                yield outcome
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _serve(self, round_: _Round, slot: int) -> None:
        """Keep one guest at work; it stays for the next round unless something went wrong."""
        guest = self._idle[slot]
        self._idle[slot] = None
        try:
            while (index := round_.pick(guest)) is not None:
                if guest is None:
                    guest = await self._start(round_.timeout_s)
                guest.limit_s = round_.timeout_s
                try:
                    await round_.work(guest, index)
                except GuestLost as lost:
                    ended, guest = guest, None
                    await ended.close()
                    round_.bury(ended, index, lost)
            # Else another round, under way at the same time, left its own here; or nobody is to close it.
            if self._idle[slot] is None and not self._is_closed:
                self._idle[slot], guest = guest, None
        finally:
            if guest is not None:
                await guest.close()

    async def _start(self, timeout_s: float) -> GuestProcess:
        for left in reversed(range(_STARTS)):
            guest = GuestProcess(self._processes, self._plan)
            guest.limit_s = timeout_s
            try:
                await guest.start()
            except GuestLost as lost:
                if lost.exit_code != _KILLED or not left:
                    raise cannot_start(guest, lost) from lost
                _logger.info("a guest was killed while it started; another takes its place")
            else:
                self.library_version = guest.library_version
                break
        return guest

    async def order_for(self, index: int, signals: Sequence[str] | None) -> bytes:
        """The order to load a circuit, made once."""
        key = (index, None if signals is None else tuple(signals))
        if key not in self._orders:
            circuit = self._circuits[index][0]
            if tried := self.beginnings.get(index):
                circuit = circuit.beginning_with(tried[-1])
            self._orders[key] = await asyncio.to_thread(circuit_order, circuit, index, signals)
        return self._orders[key]

    def begin_with(self, index: int, values: tuple[float, ...]) -> None:
        """Load a circuit with these values from now on, and not as it is written."""
        self.beginnings.setdefault(index, []).append(values)
        for key in [key for key in self._orders if key[0] == index]:
            del self._orders[key]


def cannot_start(guest: GuestProcess, lost: GuestLost) -> EnvironmentProblem:
    """What people are told when a guest does not come to life."""
    reason = guest.last_words or str(lost)
    return EnvironmentProblem(
        msg("An ngspice worker process does not start: {reason}", reason=quoted(reason)),
        advice=msg("Install the libngspice that matches your ngspice, or see what `doctor` reports."),
        error_type="worker_failed",
    )


class _Round:
    """The runs of one call."""

    def __init__(
        self,
        pool: BatchPool,
        circuits: Sequence[tuple[BatchCircuit, CircuitResults]],
        refused: dict[int, _Verdict],
        runs: Sequence[BatchRun],
        *,
        signals: Sequence[str] | None,
        timeout_s: float,
    ) -> None:
        self._pool = pool
        self._signals = signals
        self.timeout_s = timeout_s
        self._refused = refused
        self._tasks = [_Task(circuit, results) for circuit, results in circuits]
        for index, verdict in refused.items():
            self._tasks[index].refused = verdict
        self._left = len(runs)
        self._blamed: dict[int, int] = {}
        self._alone: set[int] = set()
        self._in_hand: dict[GuestProcess, dict[int, BatchRun]] = {}
        self._done: deque[tuple[RunOutcome, int]] = deque()
        self._done_bytes = 0
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        for run in runs:
            self._tasks[run.circuit].waiting.append(run)
        for index, task in enumerate(self._tasks):
            self._sort_out(task)
            if task.refused is not None:
                self._refuse(index, task.refused)

    def _sort_out(self, task: _Task) -> None:
        for run in [run for run in task.waiting if not all(map(math.isfinite, run.values))]:
            task.waiting.remove(run)
            issue = SimulationIssue(
                severity="error",
                code="bad-value",
                message=msg("A value of this run is not a finite number."),
            )
            self._finish(RunOutcome(run_id=run.run_id, state="failed", plots=(), issues=(issue,)))

    # ---- giving out ------------------------------------------------------------------------------

    async def outcomes(self, workers: Sequence[asyncio.Task[None]]) -> AsyncIterator[RunOutcome]:
        """What comes back; raises what stopped a worker."""
        for worker in workers:
            worker.add_done_callback(lambda _task: self._news.set())
        count = 0
        while self._left or self._done:
            while self._done:
                outcome, size = self._done.popleft()
                self._done_bytes -= size
                self._room.set()
                count += 1
                if count % 64 == 0:
                    await asyncio.sleep(0)  # a caller that never waits must not hold the loop
                yield outcome
            for worker in workers:
                if worker.done() and (error := worker.exception()) is not None:
                    raise error
            if self._left:
                self._news.clear()
                await self._news.wait()

    def _finish(self, outcome: RunOutcome, size: int = 0) -> None:
        self._left -= 1
        self._done.append((outcome, size))
        self._done_bytes += size
        self._news.set()

    # ---- choosing --------------------------------------------------------------------------------

    def pick(self, guest: GuestProcess | None) -> int | None:
        """The circuit to work on next: the loaded one, else the one with most left for each guest."""
        if guest is not None and guest.circuit is not None and self._tasks[guest.circuit].waiting:
            return guest.circuit
        waiting = [index for index, task in enumerate(self._tasks) if task.waiting]
        if not waiting:
            return None
        return max(
            waiting, key=lambda index: len(self._tasks[index].waiting) / (1 + self._tasks[index].guests)
        )

    def _chunk(self, task: _Task) -> list[BatchRun]:
        """The next runs for one guest; one that has ended a guest comes alone."""
        if not task.waiting:
            return []
        if task.waiting[0].run_id in self._alone:
            return [task.waiting.popleft()]
        count = int(_CHUNK_S / task.seconds) if task.seconds else 1
        fair = -(-len(task.waiting) // (2 * max(task.guests, 1)))
        count = max(1, min(count, fair, _LARGEST_CHUNK))
        chunk: list[BatchRun] = []
        while task.waiting and len(chunk) < count and task.waiting[0].run_id not in self._alone:
            chunk.append(task.waiting.popleft())
        return chunk

    # ---- one guest -------------------------------------------------------------------------------

    async def work(self, guest: GuestProcess, index: int) -> None:
        """Do runs of one circuit until none is left. Raises GuestLost."""
        task = self._tasks[index]
        in_hand = self._in_hand.setdefault(guest, {})
        task.guests += 1
        try:
            if guest.circuit != index:
                guest.circuit = None
                if not await self._load(guest, index):
                    return
                guest.circuit = index
            else:
                guest.tell(order("wanted", accepted_names(self._signals), saved_names(self._signals)))
            await self._do_runs(guest, task, in_hand)
        finally:
            task.guests -= 1

    async def _do_runs(self, guest: GuestProcess, task: _Task, in_hand: dict[int, BatchRun]) -> None:
        chunks = 0
        while True:
            while chunks < 2 and (chunk := self._chunk(task)):
                in_hand.update((run.run_id, run) for run in chunk)
                guest.tell(run_order([(run.run_id, run.values) for run in chunk]))
                chunks += 1
                if chunk[0].run_id in self._alone:
                    break
            if not chunks:
                return
            kind, body = await guest.frame()
            if kind == RESULT:
                await self._take(guest, task, in_hand, body)
            elif kind == IDLE:
                chunks -= 1
                while self._done_bytes > _MOST_WAITING_BYTES or len(self._done) > _MOST_WAITING:
                    self._room.clear()
                    await self._room.wait()
            elif kind == QUIT:
                self._ended(guest, task, body)
            else:
                raise guest.nonsense(WireError(f"frame {kind} out of turn"))

    async def _take(
        self, guest: GuestProcess, task: _Task, in_hand: dict[int, BatchRun], body: memoryview
    ) -> None:
        try:
            raw = read_result(body, guest.layouts)
            if raw.run_id not in in_hand:
                raise WireError(f"run {raw.run_id} was not asked for")
            if not task.results.is_judged(raw):  # what is found is looked for in the included files
                await off_loop(task.results.judge_words, raw)
            outcome = task.results.outcome(raw)
        except WireError as error:
            raise guest.nonsense(error) from error
        del in_hand[raw.run_id]
        task.seconds = raw.duration_s if not task.seconds else 0.7 * task.seconds + 0.3 * raw.duration_s
        self._finish(outcome, len(body))

    def _ended(self, guest: GuestProcess, task: _Task, body: memoryview) -> None:
        """ngspice itself ended at a run: that run has its verdict, the guest is of no more use."""
        at = guest.working_on
        run = None if at is None else self._in_hand[guest].pop(at, None)
        if run is None:
            raise guest.nonsense(WireError("an end at no run"))
        status, words = read_quit(body)
        state, issues = task.results.ended(words, status)
        self._finish(RunOutcome(run_id=run.run_id, state=state, plots=(), issues=issues))
        raise GuestLost(0, None, why="quit")

    async def _load(self, guest: GuestProcess, index: int) -> bool:
        """Whether the circuit is loaded; what is to be said of its runs if not is said."""
        task = self._tasks[index]
        while True:
            tried = len(self._pool.beginnings.get(index, ()))
            guest.tell(await self._pool.order_for(index, self._signals))
            kind, body = await guest.frame()
            if kind == LOADED:
                issues = task.results.loading_issues(bytes(body))
            elif kind == QUIT:
                status, words = read_quit(body)
                issues = task.results.loading_issues(words, exit_code=status or 1)
            else:
                raise guest.nonsense(WireError(f"frame {kind} in place of a loaded circuit"))
            if issues and not self._begin_elsewhere(index, issues, tried):
                self._refuse(index, ("failed", issues))
            if kind == QUIT:
                raise GuestLost(0, None, why="quit")
            if not issues:
                return True
            if task.refused is not None or not task.waiting:
                return False

    def _begin_elsewhere(self, index: int, issues: tuple[SimulationIssue, ...], tried: int) -> bool:
        """Values do not load: the runs that have them have failed, the next may try its own. False when that
        is no use.

        Written values may lie where a formula has no result (``sqrt(n-3)`` at n = 2), which others need not.
        `tried` is how many beginnings there were when this load was ordered.
        """
        task, beginnings = self._tasks[index], self._pool.beginnings.get(index, [])
        by_value = any(varied.way == "alterparam" for varied in task.circuit.varied)
        if not by_value or not any(issue.code in _OF_VALUES for issue in issues):
            return False
        if len(beginnings) > tried:  # another guest was here meanwhile
            return True
        values = beginnings[-1] if beginnings else tuple(varied.nominal for varied in task.circuit.varied)
        failed = [run for run in task.waiting if run.values == values]
        for run in failed:
            task.waiting.remove(run)
            self._finish(RunOutcome(run_id=run.run_id, state="failed", plots=(), issues=issues))
        if len(beginnings) >= _MOST_BEGINNINGS:
            return False
        if task.waiting or failed:
            self._pool.begin_with(index, task.waiting[0].values if task.waiting else values)
        return bool(task.waiting or failed or beginnings)

    def _refuse(self, index: int, verdict: _Verdict) -> None:
        """Mark all runs of a circuit that cannot be loaded."""
        task = self._tasks[index]
        task.refused = self._refused[index] = verdict
        while task.waiting:
            run = task.waiting.popleft()
            self._finish(RunOutcome(run_id=run.run_id, state=verdict[0], plots=(), issues=verdict[1]))

    def bury(self, guest: GuestProcess, index: int, lost: GuestLost) -> None:
        """A guest has ended: judge what it was at, give back what else it had."""
        task = self._tasks[index]
        in_hand = self._in_hand.pop(guest, {})
        if guest.circuit != index and lost.why != "quit":
            task.crashes += 1
            if lost.why == "time":
                self._refuse(index, task.results.too_slow(max(LOADING_S, self.timeout_s)))
            elif task.crashes > 1:
                self._refuse(index, task.results.crashed(lost.exit_code))
        run = None
        if in_hand and lost.why != "quit":
            # Without a trustworthy word of what it was at, the first of its runs is taken for guilty.
            at = lost.working_on
            run = in_hand.pop(at if at is not None and at in in_hand else next(iter(in_hand)))
        returned = [*in_hand.values()]
        if run is not None:
            self._blamed[run.run_id] = self._blamed.get(run.run_id, 0) + 1
            verdict = self._verdict_on(run, task, lost)
            if verdict is None:
                self._alone.add(run.run_id)
                returned.insert(0, run)
            else:
                self._finish(RunOutcome(run_id=run.run_id, state=verdict[0], plots=(), issues=verdict[1]))
        if task.refused is None:
            task.waiting.extendleft(reversed(returned))
        else:
            for other in returned:
                state, issues = task.refused
                self._finish(RunOutcome(run_id=other.run_id, state=state, plots=(), issues=issues))

    def _verdict_on(self, run: BatchRun, task: _Task, lost: GuestLost) -> _Verdict | None:
        """None when the run is to be tried once more."""
        if lost.why == "time":
            return task.results.too_slow(self.timeout_s)
        if lost.why == "disk":
            return task.results.wrote_too_much()
        if self._blamed[run.run_id] > 1:
            return task.results.crashed(lost.exit_code)
        return None
