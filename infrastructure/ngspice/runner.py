"""Runs decks with ngspice, confined: the adapter of the Simulator port.

One ``ngspice -n -b -r`` process per run, in the box of sandbox.py, in a scratch folder of its own
that never outlives the run. What came out is judged by verdict.py; exit code 0 says little.

The plots a circuit's own commands have made, taken out of the scratch folder into the run's raw file.

The copy of the circuit that is run writes each into a file of its own (domain.circuit.control_blocks).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from application.ports.simulation import Confinement, RunWatch
from domain.circuit.altered_plots import altered_values
from domain.circuit.control_blocks import KEEP_NAME, ORDER_NAME, PIECE_PREFIX
from domain.circuit.netlist import Netlist
from domain.simulation.reach import Reach, ends_of, reach_of
from domain.simulation.request import (
    DECK_NAME,
    DEFAULT_RUN_BYTES,
    RAW_NAME,
    ResourceLimits,
    SimulationJob,
)
from domain.simulation.result import SimulationIssue, SimulationRun
from infrastructure.ngspice.confined import PROBE_DECK, Box, ConfinedNgspice, DoesNotRun
from infrastructure.ngspice.log_reader import progress_value, read_log
from infrastructure.ngspice.sandbox import Parts, Sandbox, View
from infrastructure.ngspice.scratch import (
    Taken,
    folder_bytes,
    make_scratch,
    open_plain,
    remove_scratch,
    take_outputs,
)
from infrastructure.ngspice.verdict import Ending, judge
from infrastructure.ngspice.waiting import last_breath
from infrastructure.persistence.confined import write_problem
from infrastructure.waveforms.raw_joining import append_plots
from infrastructure.waveforms.raw_layout import RawHeader
from shared.errors import EnvironmentProblem, UserInputError
from shared.message import msg
from shared.paths import LOG_FILE
from shared.processes import ProcessLimits, ProcessOutcome, StreamName
from shared.uninterrupted import off_loop, uninterrupted

if TYPE_CHECKING:
    from infrastructure.waveforms.growing_raw import GrowingRaw

_MAX_ORDER_BYTES = 2**20
_CONSTANTS = "const"


def pieces_in(scratch: Path) -> list[str]:
    """The names of the files that hold a plot each, in the order in which the plots were made."""
    with os.scandir(scratch) as entries:
        names = {entry.name for entry in entries if entry.name.startswith(PIECE_PREFIX)}
    places = {PIECE_PREFIX + name: place for place, name in enumerate(_order(scratch))}
    return sorted(names, key=lambda name: (places.get(name, len(places)), name))


def _order(scratch: Path) -> list[str]:
    folder = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        opened = open_plain(folder, ORDER_NAME, _MAX_ORDER_BYTES)
    finally:
        os.close(folder)
    if opened is None:
        return []
    with os.fdopen(opened, "rb") as file:
        return file.read().decode("utf-8", "replace").split()


def join_pieces(scratch: Path, pieces: Sequence[str], raw: Path, *, deck: bytes, largest: int) -> list[str]:
    """Append the plots of `pieces` to the file `raw`, each named ``Transient Analysis (tran2)``, or
    ``Transient Analysis (tran2: r1=2k)`` where the commands of `deck` tell what they had altered.

    Returns the names of those that were left out: no plain file, no raw data, or `raw` would pass `largest`
    bytes. ngspice's own table of constants is no result. The pieces stay where they are. Raises OSError when
    `raw` cannot be written.
    """
    left_out: list[str] = []
    names = [piece.removeprefix(PIECE_PREFIX) for piece in pieces]
    altered = altered_values(Netlist.parse(deck), [name for name in names if name != _CONSTANTS])
    folder = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with raw.open("ab") as out:
            for piece in pieces:
                plot = piece.removeprefix(PIECE_PREFIX)
                opened = None if plot == _CONSTANTS else open_plain(folder, piece, largest - out.tell())
                if opened is None:
                    left_out += [] if plot == _CONSTANTS else [piece]
                    continue
                os.close(opened)  # nobody can exchange the name: the run's last process is gone
                told = f"{plot}: {altered[plot]}" if plot in altered else plot
                try:
                    append_plots(out, scratch / piece, behind=f" ({told})")
                except UserInputError:
                    left_out.append(piece)
    finally:
        os.close(folder)
    if not raw.stat().st_size:
        raw.unlink()
    return left_out


LOG_NAME = LOG_FILE
_INPUT_NAME = ".circuit"
_PROBE_LIMITS = ResourceLimits(wall_s=20.0, cpu_s=10)
# A run without points leaves a header that breaks off; it is shorter than this.
_BARE_HEADER_BYTES = 4096
_SIZE_CHECK_S = 0.25
_UNRECOGNIZED = re.compile(r"^Warning: unrecognized variable - (\S+)[^\n]*\n", re.MULTILINE)


class NgspiceRunner:
    """Simulator port: runs one deck per call; calls may overlap."""

    def __init__(
        self, ngspice: ConfinedNgspice, *, run_bytes: Callable[[], int] = lambda: DEFAULT_RUN_BYTES
    ) -> None:
        self._ngspice = ngspice
        self._run_bytes = run_bytes
        """What the files of a run may take together that has no limit of its own."""

    async def version(self) -> str:
        """Name and version of the simulator, "ngspice-39". Raises EnvironmentProblem without one."""
        return (await self._box()).version

    async def confinement(self) -> Confinement:
        """What holds during runs, found by running a small circuit (once)."""
        return (await self._box()).confinement

    async def run(
        self,
        job: SimulationJob,
        *,
        on_progress: Callable[[float], None] | None = None,
        watch: RunWatch | None = None,
    ) -> SimulationRun:
        """Run `job` and put its raw files and log into `job.output_dir`.

        Failures of the circuit, time-outs, crashes and halts are in the result. Cancelling kills the whole
        run and leaves nothing behind. Raises EnvironmentProblem when ngspice is missing, the box
        cannot be built or the disk is full, NeedsConfirmation when nothing confines a deck that brings
        commands or files.
        """
        box = await self._box()
        self._ngspice.refuse_unconfined(box, (job,))
        if job.limits.file_bytes is None:
            job = replace(job, limits=replace(job.limits, file_bytes=self._run_bytes()))
        progress = _Progress(job.stop_time_s, on_progress)
        async with _scratch(self._ngspice.scratch_root or job.output_dir) as scratch:
            with _writing_to(job.output_dir):
                view = await asyncio.to_thread(_lay_out, job, scratch)
            with _growing(job, scratch, watch) as growing:
                finished = await self._run_in(
                    box.sandbox,
                    view,
                    progress.line,
                    job.compatibility,
                    ends_with_commands=job.ends_with_commands,
                    watch=watch,
                )
            with _writing_to(job.output_dir):
                run = await asyncio.to_thread(_collect, job, box, scratch, finished)
        if growing is not None and watch is not None and watch.beside > 1 and run.raw_paths:
            growing.go_on_in(run.raw_paths[0])
        if run.status == "ok":
            progress.done()
        return run

    # ---- one run ----------------------------------------------------------------------------

    async def _run_in(
        self,
        sandbox: Sandbox,
        view: View,
        on_line: Callable[[StreamName, str], None],
        compatibility: str | None = None,
        *,
        ends_with_commands: bool = False,
        watch: RunWatch | None = None,
    ) -> _Finished:
        """Run the deck in `view.scratch` to its end; every process of it is gone on return."""
        mode = () if compatibility is None else ("-D", f"ngbehavior={compatibility}")
        output = () if ends_with_commands else ("-r", RAW_NAME)
        arguments = ("-n", "-b", "-D", "num_threads=1", *mode, *output, DECK_NAME)
        limits = ProcessLimits(wall_s=view.limits.wall_s, output_bytes=view.limits.log_bytes)
        tail = _Tail()
        pause = None if watch is None else watch.pause
        began = time.monotonic() - (0.0 if pause is None else pause.held_s)

        def listen(stream: StreamName, line: str) -> None:
            tail.add(line)
            on_line(stream, line)

        with contextlib.ExitStack() as descriptors:
            async with last_breath() as lifeline:
                held = replace(view, lifeline=lifeline)
                command = await off_loop(sandbox.command, held, arguments, descriptors)
                running = asyncio.ensure_future(
                    self._ngspice.processes.run(
                        command.argv,
                        limits=limits,
                        cwd=command.cwd,
                        env=command.env,
                        on_line=listen,
                        pass_fds=command.pass_fds,
                        pause=pause,
                    )
                )
                stopped = await _watch(running, view, None if watch is None else watch.halt)
        if stopped is not None:
            return _Finished(
                outcome=None,
                stopped=stopped,
                stopped_log=tail.text(),
                duration_s=time.monotonic() - (0.0 if pause is None else pause.held_s) - began,
            )
        outcome = running.result()
        return _Finished(outcome=outcome, duration_s=outcome.duration_s)

    # ---- finding out what this machine has -----------------------------------------------------

    async def _box(self) -> Box:
        try:
            return await self._ngspice.box(self._probe)
        except DoesNotRun as error:
            raise EnvironmentProblem(
                msg("ngspice cannot run a simple circuit here: {reason}", reason=error.reason),
                advice=msg("Run ngspice manually to see what is wrong, or reinstall it."),
            ) from error

    async def _probe(self, sandbox: Sandbox, parts: Parts) -> str:
        async with _scratch(self._ngspice.scratch_root) as scratch:
            await asyncio.to_thread(_write_new, scratch / DECK_NAME, PROBE_DECK)
            view = View(scratch=scratch, limits=_PROBE_LIMITS)
            outcome = (await self._run_in(sandbox, view, lambda _stream, _line: None)).outcome
            has_data = await asyncio.to_thread((scratch / RAW_NAME).is_file)
        if outcome is None or outcome.exit_code != 0 or not has_data:
            words = outcome.stderr.decode("utf-8", "replace").split() if outcome else []
            raise DoesNotRun(" ".join(words)[:300] or f"exit code {outcome.exit_code if outcome else 0}")
        return await self._ngspice.installation.version(parts.ngspice.path)


StopReason = Literal["size", "halt"]
"""It wrote too much; its user has had enough of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finished:
    outcome: ProcessOutcome | None
    """None when we ended the run."""
    stopped: StopReason | None = None
    """Why we did."""
    stopped_log: str = ""
    duration_s: float


@contextlib.contextmanager
def _writing_to(folder: Path) -> Iterator[None]:
    """A disk that is full or read-only is told as the user's problem that it is."""
    try:
        yield
    except OSError as error:
        raise write_problem(error, folder) from error


def _write_new(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)


def _lay_out(job: SimulationJob, scratch: Path) -> View:
    """Put the deck and a link to the circuit's folder into `scratch`; what the run may see."""
    _write_new(scratch / DECK_NAME, job.deck)
    for name, content in job.companions.items():
        _write_new(scratch / name, content)
    for folder in job.output_folders:
        (scratch / folder).mkdir(exist_ok=True)
    (scratch / _INPUT_NAME).symlink_to(os.path.realpath(job.deck_path.parent))
    return View(
        scratch=scratch,
        files=tuple(file for file in (*job.included_files, *job.data_files) if file.is_file()),
        folders=job.readable_dirs,
        hidden=tuple(Path(os.path.realpath(folder)) for folder in job.hidden_dirs),
        input_folder=_INPUT_NAME,
        limits=job.limits,
    )


@contextlib.asynccontextmanager
async def _scratch(root: Path | None) -> AsyncIterator[Path]:
    """A scratch folder that is gone afterwards, also when the run is cancelled."""
    made: list[Path] = []
    try:
        await uninterrupted(asyncio.to_thread(lambda: made.append(make_scratch(root))))
        yield made[0]
    finally:
        for folder in made:
            await off_loop(remove_scratch, folder)


@contextlib.contextmanager
def _growing(job: SimulationJob, scratch: Path, watch: RunWatch | None) -> Iterator[GrowingRaw | None]:
    """Offer what the run computes while it is under way. The plots of one with commands of its own are
    written at its end: it has something to be seen only as one of several runs."""
    comes_at_end = KEEP_NAME in job.companions
    if watch is not None and comes_at_end and watch.beside == 1:
        if watch.on_silent is not None:
            watch.on_silent()
        watch = None
    if watch is None or watch.on_growing is None:
        yield None
        return
    from infrastructure.waveforms.growing_raw import GrowingRaw

    growing = GrowingRaw(
        scratch / RAW_NAME,
        ends=ends_of(job.analyses),
        wiring=watch.wiring,
        beside=watch.beside,
        is_closed=comes_at_end,
    )
    watch.on_growing(growing)
    try:
        yield growing
    finally:
        growing.close()


async def _watch(
    running: asyncio.Future[ProcessOutcome], view: View, halt: asyncio.Event | None
) -> StopReason | None:
    """Wait for the run; stop it (and say why) when its files together pass the limit, or it is halted."""
    halted = asyncio.ensure_future((halt or asyncio.Event()).wait())
    try:
        while True:
            done, _ = await asyncio.wait(
                (running, halted), timeout=_SIZE_CHECK_S, return_when=asyncio.FIRST_COMPLETED
            )
            if running in done:
                return None
            is_too_much = await asyncio.to_thread(folder_bytes, view.scratch) > view.limits.largest
            if is_too_much or halted in done:
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await running
                return "size" if is_too_much else "halt"
    finally:
        halted.cancel()
        if not running.done():
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running


class _Tail:
    """The last lines, for a log when the run had to be cancelled."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(self, line: str) -> None:
        self._lines.append(line)
        if len(self._lines) > 400:
            del self._lines[:200]

    def text(self) -> str:
        return "\n".join(self._lines)


class _Progress:
    """Turns "Reference value" lines into fractions that never fall."""

    def __init__(self, stop_time_s: float | None, listener: Callable[[float], None] | None) -> None:
        self._stop_s = stop_time_s
        self._listener = listener
        self._told = 0.0

    def line(self, _stream: StreamName, line: str) -> None:
        if self._listener is None or not self._stop_s:
            return
        value = progress_value(line)
        # Values of an AC or DC sweep use the same line; those past the stop time cannot be times.
        if value is not None and 0 < value <= self._stop_s:
            self._tell(min(value / self._stop_s, 0.999))

    def done(self) -> None:
        if self._listener is not None:
            self._tell(1.0)

    def _tell(self, fraction: float) -> None:
        if self._listener is not None and fraction > self._told:
            self._told = fraction
            self._listener(fraction)


# ---- after the run ---------------------------------------------------------------------------


def _collect(job: SimulationJob, box: Box, scratch: Path, finished: _Finished) -> SimulationRun:
    """Take the files, write the log, judge. Runs in a thread."""
    pieces = pieces_in(scratch) if KEEP_NAME in job.companions else []
    ours = frozenset((DECK_NAME, _INPUT_NAME, ORDER_NAME, *job.companions, *pieces, *job.output_folders))
    taken = take_outputs(
        scratch,
        job.output_dir,
        largest=job.limits.largest,
        without=ours,
        first=RAW_NAME,
        folders=job.output_folders,
    )
    if pieces:
        taken = _with_pieces(job, scratch, pieces, taken)
    outcome = finished.outcome
    stdout = outcome.stdout.decode("utf-8", "replace") if outcome else finished.stopped_log
    stderr = outcome.stderr.decode("utf-8", "replace") if outcome else ""
    stdout, stderr, strange = _without_beside(job, stdout, stderr)
    log_path = job.output_dir / LOG_NAME
    _write_new(log_path, f"{stdout}\n---- stderr ----\n{stderr}".encode())
    plots, raw_paths, unreadable = _plots(taken)
    ending = Ending(
        exit_code=outcome.exit_code if outcome else 0,
        timed_out=outcome.timed_out if outcome else False,
        out_of_disk=finished.stopped == "size",
        is_halted=finished.stopped == "halt",
        plots=tuple(plots.get(job.output_dir / RAW_NAME, ())),
        raw_is_unreadable=RAW_NAME in unreadable
        and (job.output_dir / RAW_NAME).stat().st_size > _BARE_HEADER_BYTES,
        has_other_raw=any(path.name != RAW_NAME for path in raw_paths),
    )
    status, issues = judge(job, ending, read_log(stdout, stderr))
    return SimulationRun(
        status=status,
        raw_paths=raw_paths,
        issues=(*issues, *_file_issues(taken, unreadable)),
        log_path=log_path,
        duration_s=finished.duration_s,
        simulator_version=box.version,
        confinement=box.confinement.layers,
        unknown_signals=_unknown(strange, len(plots.get(job.output_dir / RAW_NAME, ()))),
        reach=None if status == "ok" else _reach(job, plots),
    )


def _reach(job: SimulationJob, plots: Mapping[Path, Sequence[RawHeader]]) -> Reach | None:
    """How far the last analysis came that has points."""
    from infrastructure.waveforms.raw_file import WaveformFile

    raw = job.output_dir / RAW_NAME
    if not any(header.has_data for header in plots.get(raw, ())):
        return None
    with WaveformFile(raw) as file:
        swept = [place for place, each in enumerate(file.outlines) if each.points and each.axis_name]
        if not swept:
            return None
        place, outline = swept[-1], file.outlines[swept[-1]]
        assert outline.axis_name is not None
        last = file.traces([outline.axis_name], place, range(outline.points - 1, outline.points))[0]
    return reach_of(outline.analysis, float(last.data[0].real), last.unit, ends_of(job.analyses))


def _without_beside(job: SimulationJob, stdout: str, stderr: str) -> tuple[str, str, Counter[str]]:
    """What the run printed without the warnings about signals we have asked for, and how often each was."""
    if not job.saved_beside:
        return stdout, stderr, Counter()
    ours = frozenset(job.saved_beside)
    found: Counter[str] = Counter()

    def silenced(line: re.Match[str]) -> str:
        if line[1].lower() not in ours:
            return line[0]
        found[line[1].lower()] += 1
        return ""

    return _UNRECOGNIZED.sub(silenced, stdout), _UNRECOGNIZED.sub(silenced, stderr), found


def _unknown(strange: Mapping[str, int], plots: int) -> tuple[str, ...]:
    """What ngspice did not know in any of its analyses; in ac it knows the current of no device."""
    return tuple(sorted(name for name, times in strange.items() if times >= plots))


def _with_pieces(job: SimulationJob, scratch: Path, pieces: list[str], taken: Taken) -> Taken:
    """The plots of the commands put behind those of the analysis cards, in one raw file."""
    raw = job.output_dir / RAW_NAME
    if raw.exists() and not _has_data(raw):  # a header without data: no card was run
        raw.unlink()
    left_out = join_pieces(scratch, pieces, raw, deck=job.deck, largest=job.limits.largest)
    others = tuple(path for path in taken.raw if path != raw)
    return replace(
        taken, raw=(*((raw,) if raw.exists() else ()), *others), ignored=(*taken.ignored, *left_out)
    )


def _has_data(raw: Path) -> bool:
    from infrastructure.waveforms.raw_file import read_headers

    try:
        return any(header.has_data for header in read_headers(raw))
    except UserInputError:
        return False


def _plots(taken: Taken) -> tuple[dict[Path, list[RawHeader]], tuple[Path, ...], list[str]]:
    """Plots by raw file; the raw files with data, the deck's own first; names of unreadable ones."""
    from infrastructure.waveforms.raw_file import read_headers

    plots: dict[Path, list[RawHeader]] = {}
    unreadable: list[str] = []
    for path in taken.raw:
        try:
            plots[path] = read_headers(path)
        except UserInputError:
            unreadable.append(path.name)
    with_data = [path for path, headers in plots.items() if any(header.has_data for header in headers)]
    with_data.sort(key=lambda path: (path.name != RAW_NAME, path.name))
    return plots, tuple(with_data), unreadable


def _file_issues(taken: Taken, unreadable: list[str]) -> Iterator[SimulationIssue]:
    if taken.ignored:
        shown = ", ".join(ascii(name)[1:-1] for name in taken.ignored[:5])
        yield SimulationIssue(
            severity="warning",
            code="output-ignored",
            message=msg(
                "The run left {count} {count:item that is|items that are} not kept (links, "
                "folders, files too large or too many); {count:it was|they were} removed: {names}",
                count=len(taken.ignored),
                names=shown,
            ),
        )
    for name in unreadable:
        if name == RAW_NAME:
            # Judged already: a failed run leaves a header without an end.
            continue
        yield SimulationIssue(
            severity="warning",
            code="output-unreadable",
            message=msg("The run wrote {name}, which begins like a raw file but cannot be read.", name=name),
        )
