"""Every external program runs through the ProcessManager: own group, limits, caps, no zombie.

A program is over when its first process has ended; what it left behind in its group is killed then,
so a grandchild that keeps stdout open holds nobody up. Cancelling the awaiting task kills the whole
group and waits for it before `CancelledError` goes on, also while the program is being started.

On Linux a program dies with us too when we are killed; what is not trusted runs in a box that sees to its
children as well.

A process that leaves the group (`setsid`) and outlives its parent is beyond what a process group can
reach; programs that are not trusted run in a pid namespace besides (infrastructure.ngspice).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from shared.pausing import Pause, hold_tree
from shared.uninterrupted import hold_out, uninterrupted

_logger = logging.getLogger(__name__)

StreamName = Literal["stdout", "stderr"]
LineListener = Callable[[StreamName, str], None]
DataListener = Callable[[bytes], None]

process_owner: ContextVar[Hashable] = ContextVar("process_owner", default=None)
"""Whose work is running in this context; programs started in it can be killed by this owner."""

_MAX_LIVE_LINE = 8192
_STREAM_OF_FD: dict[int, StreamName] = {1: "stdout", 2: "stderr"}
_COMPLAINT = 4096
"""Kept of what a program that is talked with writes to standard error."""
_DRAIN_S = 0.5
"""How long pipes may stay open once every process of the group is dead."""
_LEAVE_S = 0.5
"""How long a program that is talked with may take to end by itself once nobody writes to it any more."""
_REAP_S = 5.0
"""How long a killed process may take to die (it may hang in the kernel on a dead network drive)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """Limits of one process and all its children; None = not limited."""

    wall_s: float | None = None
    cpu_s: int | None = None
    memory_bytes: int | None = None
    file_bytes: int | None = None
    output_bytes: int = 4 * 2**20
    """Kept of each of stdout and stderr: the first half and the last half of this many bytes."""

    @property
    def has_rlimits(self) -> bool:
        """Some of it is for the kernel to watch."""
        return not (self.cpu_s is self.memory_bytes is self.file_bytes is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOutcome:
    """How a process ended."""

    exit_code: int
    """As a shell would see it: 128 + n after signal n."""
    timed_out: bool
    stdout: bytes
    stderr: bytes
    truncated: bool
    """Some output was dropped (from its middle) to keep `ProcessLimits.output_bytes`."""
    duration_s: float


class ProcessManager:
    """Runs external programs and knows which are alive."""

    def __init__(self) -> None:
        self._alive: set[_Program] = set()

    @property
    def running(self) -> tuple[int, ...]:
        """Process ids of the programs running now."""
        return tuple(program.pid for program in self._alive if program.pid is not None)

    async def run(
        self,
        argv: Sequence[str],
        *,
        limits: ProcessLimits | None = None,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        on_line: LineListener | None = None,
        pass_fds: Sequence[int] = (),
        pause: Pause | None = None,
    ) -> ProcessOutcome:
        """Run `argv` to its end, its time limit or cancellation.

        `env` is the whole environment of the child (None = empty). `on_line` is called on the
        loop with every line as it comes; a carriage return ends a line too (progress displays). A
        listener that raises is logged and not called again; the program goes on. While `pause` holds the
        program and all it has started are stopped, and its time limit and duration do not count.
        Raises FileNotFoundError or PermissionError when the program cannot be started.
        """
        limits = limits or ProcessLimits()
        environment = dict(env or {})
        program = _Program(limits, on_line)
        self._alive.add(program)
        started = _unheld(pause)
        try:
            # In a thread: looking a program up touches the disk.
            command = await asyncio.to_thread(_bound_command, argv, limits, cwd, environment)
            await program.start(command, cwd=cwd, env=environment, stdin=stdin, pass_fds=tuple(pass_fds))
            held = contextlib.nullcontext() if pause is None else pause.holding(program.hold)
            async with held:
                timed_out = await program.wait_for_end(limits.wall_s, pause)
        finally:
            try:
                await program.clean_up()
            finally:
                self._alive.discard(program)
        return ProcessOutcome(
            exit_code=program.exit_code,
            timed_out=timed_out,
            stdout=program.outputs["stdout"].value(),
            stderr=program.outputs["stderr"].value(),
            truncated=any(output.dropped for output in program.outputs.values()),
            duration_s=_unheld(pause) - started,
        )

    @asynccontextmanager
    async def talk(
        self,
        argv: Sequence[str],
        *,
        on_data: DataListener,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Talk]:
        """A program that is written to and read from for as long as the block lasts, and ends with it.

        `on_data` is called on the loop with each piece of its standard output; of what it writes to standard
        error the end is kept (`Talk.complaint`). Raises as `run` does.
        """
        program = _Program(ProcessLimits(output_bytes=_COMPLAINT), None, on_data)
        environment = dict(env or {})
        self._alive.add(program)
        try:
            command = await asyncio.to_thread(_bound_command, argv, ProcessLimits(), cwd, environment)
            await program.start(command, cwd=cwd, env=environment, stdin=b"", pass_fds=(), closes_stdin=False)
            yield Talk(program)
        finally:
            try:
                await program.leave()
            finally:
                self._alive.discard(program)

    async def kill_all(self) -> None:
        """Kill every running program's group and wait until all are gone (application shutdown)."""
        await self._kill(self._alive)

    async def kill_owned_by(self, owner: Hashable) -> None:
        """Kill the programs started where `process_owner` was `owner`, and wait until they are gone."""
        await self._kill(program for program in self._alive if program.owner == owner)

    async def _kill(self, programs: Iterable[_Program]) -> None:
        doomed = tuple(programs)
        for program in doomed:
            program.kill()
        if doomed:
            await asyncio.wait([program.gone for program in doomed])


def _unheld(pause: Pause | None) -> float:
    """The clock, s, which stands while programs are held."""
    return time.monotonic() - (0.0 if pause is None else pause.held_s)


class _Program(asyncio.SubprocessProtocol):
    """One running program: its pipes, its end, its group."""

    def __init__(
        self, limits: ProcessLimits, on_line: LineListener | None, on_data: DataListener | None = None
    ) -> None:
        self.owner = process_owner.get()
        self.outputs = {name: _CappedOutput(limits.output_bytes) for name in _STREAM_OF_FD.values()}
        loop = asyncio.get_running_loop()
        self.gone: asyncio.Future[None] = loop.create_future()
        """The program is reaped and its pipes are closed (or it never came to life)."""
        self._lines = {name: _LineCutter() for name in _STREAM_OF_FD.values()}
        self._on_line = on_line
        self._on_data = on_data
        """Gets standard output in place of keeping it."""
        self._limits = limits
        self._transport: asyncio.SubprocessTransport | None = None
        self._is_doomed = False
        self._leader_ended: asyncio.Future[None] = loop.create_future()
        self._outputs_ended: asyncio.Future[None] = loop.create_future()
        self._closed: asyncio.Future[None] = loop.create_future()
        self._open_outputs = set(_STREAM_OF_FD)

    @property
    def pid(self) -> int | None:
        """Process id of the leader while it lives."""
        if self._transport is None or self._leader_ended.done():
            return None
        return self._transport.get_pid()

    @property
    def exit_code(self) -> int:
        """The exit code as a shell would see it; 128 + SIGKILL for a process that would not die."""
        code = self._transport.get_returncode() if self._transport is not None else None
        if code is None:
            return 128 + signal.SIGKILL
        return code if code >= 0 else 128 - code

    async def start(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None,
        env: Mapping[str, str],
        stdin: bytes | None,
        pass_fds: Sequence[int],
        closes_stdin: bool = True,
    ) -> None:
        """Start the program. Cancelled in the middle, it still knows a process that came to life."""

        async def spawn() -> None:
            transport, _ = await asyncio.get_running_loop().subprocess_exec(
                lambda: self,
                *command,
                stdin=asyncio.subprocess.PIPE if stdin is not None else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=cwd,
                env=env,
                start_new_session=True,
                pass_fds=pass_fds,
            )
            self._transport = transport

        await uninterrupted(spawn())
        assert self._transport is not None
        if self._is_doomed:
            self.kill()
        _limit_started(self._transport.get_pid(), self._limits)
        if stdin is not None:
            pipe = self.stdin
            pipe.write(stdin)
            if closes_stdin:
                pipe.close()

    @property
    def stdin(self) -> asyncio.WriteTransport:
        """Where it reads from; only of one that was started with it."""
        assert self._transport is not None
        pipe = self._transport.get_pipe_transport(0)
        assert isinstance(pipe, asyncio.WriteTransport)
        return pipe

    @property
    def stdout(self) -> asyncio.ReadTransport:
        """What it writes to."""
        assert self._transport is not None
        pipe = self._transport.get_pipe_transport(1)
        assert isinstance(pipe, asyncio.ReadTransport)
        return pipe

    @property
    def output_ended(self) -> asyncio.Future[None]:
        """Its pipes have ended: it is over, or closed them."""
        return self._outputs_ended

    async def leave(self) -> None:
        """Tell it that nobody writes any more, give it a moment to end by itself, then `clean_up`."""
        cancelled = None
        if self._transport is not None:
            self.stdin.close()
            if not self.stdout.is_closing():
                self.stdout.resume_reading()
            cancelled = await hold_out(self._leader_ended, timeout_s=_LEAVE_S)
        await self.clean_up()
        if cancelled is not None:
            raise cancelled

    async def wait_for_end(self, wall_s: float | None, pause: Pause | None = None) -> bool:
        """Wait for the leader's end; True when the time was up first, in which it was not held."""
        if pause is None:
            await asyncio.wait([self._leader_ended], timeout=wall_s)
            return not self._leader_ended.done()
        began = _unheld(pause)
        while not self._leader_ended.done():
            left = None if wall_s is None else wall_s - (_unheld(pause) - began)
            if left is not None and left <= 0 and not pause.is_held:
                return True
            changed: asyncio.Future[object] = asyncio.ensure_future(pause.next_change())
            ends: list[asyncio.Future[Any]] = [self._leader_ended, changed]
            try:
                await asyncio.wait(
                    ends,
                    timeout=None if pause.is_held else left,
                    return_when=asyncio.FIRST_COMPLETED,
                )
            finally:
                changed.cancel()
        return False

    async def hold(self, is_held: bool) -> None:
        """Stop it and all it has started, or let them go on."""
        if self._transport is not None and not self._leader_ended.done() and not self._is_doomed:
            await asyncio.to_thread(hold_tree, self._transport.get_pid(), is_held=is_held)

    async def clean_up(self) -> None:
        """Kill what is left of the group, take the output still in the pipes, reap and close.

        Runs to its end even when it is cancelled; the cancellation goes on afterwards.
        """
        try:
            if self._transport is None:
                return
            self.kill()
            cancelled = [await hold_out(self._leader_ended, timeout_s=_REAP_S)]
            if not self._leader_ended.done():
                _logger.error("Process %d does not die after SIGKILL", self._transport.get_pid())
            cancelled.append(await hold_out(self._outputs_ended, timeout_s=_DRAIN_S))
            self._transport.close()
            cancelled.append(await hold_out(self._closed, timeout_s=_REAP_S))
        finally:
            self.gone.set_result(None)
        for error in cancelled:
            if error is not None:
                raise error

    def kill(self) -> None:
        """Kill the whole group; a program that is only being started is killed once it has a pid."""
        self._is_doomed = True
        if self._transport is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), signal.SIGKILL)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep output (capped) and hand its lines to the listener."""
        name = _STREAM_OF_FD[fd]
        if self._on_data is not None and name == "stdout":
            self._on_data(data)
            return
        self.outputs[name].add(data)
        if self._on_line is not None:
            self._tell(name, self._lines[name].cut(data))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's hook
        """A pipe has ended: hand over its last, unfinished line."""
        name = _STREAM_OF_FD.get(fd)
        if name is None:
            return
        self._tell(name, self._lines[name].rest())
        self._open_outputs.discard(fd)
        if not self._open_outputs:
            self._outputs_ended.set_result(None)

    def process_exited(self) -> None:
        """The leader has ended and is reaped; its pipes may still be held by others."""
        self._leader_ended.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's hook
        """The leader is reaped and all pipes are closed."""
        self._closed.set_result(None)

    def _tell(self, name: StreamName, lines: Iterable[str]) -> None:
        for line in lines:
            if self._on_line is None:
                return
            try:
                self._on_line(name, line)
            except Exception:
                _logger.exception("A listener failed on the line %r; it gets no more lines", line)
                self._on_line = None


class Talk:
    """A program that is under way, as the one who talks with it has it."""

    def __init__(self, program: _Program) -> None:
        self._program = program

    @property
    def has_ended(self) -> bool:
        """Nothing more will come from it."""
        return self._program.output_ended.done()

    @property
    def complaint(self) -> str:
        """What it wrote to standard error, the middle of much left out."""
        return self._program.outputs["stderr"].value().decode("utf-8", "replace")

    def write(self, data: bytes) -> None:
        """Hand it over; what an ended program is told is lost."""
        if not self.has_ended and not self._program.stdin.is_closing():
            self._program.stdin.write(data)

    def listen(self, *, is_on: bool) -> None:
        """Take what it writes, or leave it in the pipe, which stops it when that is full."""
        stdout = self._program.stdout
        if not stdout.is_closing():
            (stdout.resume_reading if is_on else stdout.pause_reading)()

    async def until_ended(self) -> None:
        """Wait until nothing more can come."""
        await asyncio.shield(self._program.output_ended)


class _CappedOutput:
    """Head and tail of a stream, in bounded memory."""

    def __init__(self, cap: int) -> None:
        self._half = max(cap // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self.dropped = 0

    def add(self, chunk: bytes) -> None:
        room = self._half - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        if len(self._tail) > 2 * self._half:
            self._trim()

    def _trim(self) -> None:
        excess = len(self._tail) - self._half
        if excess > 0:
            del self._tail[:excess]
            self.dropped += excess

    def value(self) -> bytes:
        self._trim()
        if not self.dropped:
            return bytes(self._head + self._tail)
        note = f"\n... {self.dropped} bytes left out ...\n".encode()
        return bytes(self._head + note + self._tail)


class _LineCutter:
    r"""Cuts a byte stream into lines at \n, \r\n and \r; a long line is given by its beginning."""

    def __init__(self) -> None:
        self._pending = b""
        self._after_return = False

    def cut(self, chunk: bytes) -> Iterable[str]:
        if not chunk:
            return []
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_return = chunk.endswith(b"\r")
        unified = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, pending = (self._pending + unified).split(b"\n")
        self._pending = pending[:_MAX_LIVE_LINE]
        return [line[:_MAX_LIVE_LINE].decode("utf-8", "replace") for line in lines]

    def rest(self) -> Iterable[str]:
        line, self._pending = self._pending, b""
        return [line.decode("utf-8", "replace")] if line else []


def _rlimits(limits: ProcessLimits) -> dict[str, tuple[int, int]]:
    """Soft and hard limits by their prlimit name, none above what we may give."""
    import resource

    # The hard CPU limit is a second later: reaching the soft one gives SIGXCPU, which tells what
    # happened (exit 152); reaching both at once gives a bare SIGKILL.
    wanted = (
        ("cpu", resource.RLIMIT_CPU, limits.cpu_s, 1),
        ("as", resource.RLIMIT_AS, limits.memory_bytes, 0),
        ("fsize", resource.RLIMIT_FSIZE, limits.file_bytes, 0),
        ("core", resource.RLIMIT_CORE, 0, 0),
    )
    found = {}
    for name, kind, value, extra in wanted:
        if value is not None:
            ceiling = resource.getrlimit(kind)[1]
            bound = (1 << 62) if ceiling == resource.RLIM_INFINITY else ceiling
            found[name] = (min(value, bound), min(value + extra, bound))
    return found


def _bound_command(
    argv: Sequence[str], limits: ProcessLimits, cwd: Path | None, env: Mapping[str, str]
) -> list[str]:
    """`argv` behind util-linux's `setpriv` and `prlimit`: it dies with us, and the limits hold from its first
    instruction on.

    Killed ourselves, we can't end it. Limits set from outside after the start would miss children it had by
    then, and setting either between fork and exec is not safe in a program with threads.
    """
    before: list[str] = []
    if (setpriv := _of_util_linux("setpriv")) is not None:
        before += [setpriv, "--pdeathsig", "KILL", "--"]
    if limits.has_rlimits and (prlimit := _of_util_linux("prlimit")) is not None:
        options = [f"--{name}={soft}:{hard}" for name, (soft, hard) in _rlimits(limits).items()]
        before += [prlimit, *options, "--"]
    return [*before, _find_program(argv[0], cwd, env), *argv[1:]] if before else list(argv)


def _of_util_linux(name: str) -> str | None:
    """The program's path; None where there is none, or another's (busybox has one that can do less)."""
    found = shutil.which(name, path=os.defpath) if sys.platform.startswith("linux") else None
    return found if found is not None and Path(os.path.realpath(found)).name == name else None


def _find_program(name: str, cwd: Path | None, env: Mapping[str, str]) -> str:
    """The program's path. Raises FileNotFoundError or PermissionError as starting it would."""
    if os.sep not in name:
        found = shutil.which(name, path=env.get("PATH", os.defpath))
        if found is None:
            raise FileNotFoundError(2, os.strerror(2), name)
        return found
    path = (cwd or Path()) / name
    if not path.exists():
        raise FileNotFoundError(2, os.strerror(2), name)
    if path.is_dir() or not os.access(path, os.X_OK):
        raise PermissionError(13, os.strerror(13), name)
    return str(path.absolute())


def _limit_started(pid: int, limits: ProcessLimits) -> None:
    """Set the limits on a started process, for a Linux without the `prlimit` program.

    Elsewhere the wall limit and the caps hold.
    """
    if not sys.platform.startswith("linux"):
        return
    import resource

    kinds = {
        "cpu": resource.RLIMIT_CPU,
        "as": resource.RLIMIT_AS,
        "fsize": resource.RLIMIT_FSIZE,
        "core": resource.RLIMIT_CORE,
    }
    for name, value in _rlimits(limits).items():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            resource.prlimit(pid, kinds[name], value)
