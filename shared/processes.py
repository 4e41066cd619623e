"""Every external program runs through the ProcessManager: own group, limits, caps, no zombie.

Cancelling the awaiting task kills the whole process group and waits for it before
`CancelledError` goes on, so nothing is left running.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

StreamName = Literal["stdout", "stderr"]
LineListener = Callable[[StreamName, str], None]

_READ_SIZE = 65536
_MAX_LIVE_LINE = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """Limits of one process and all its children; None = not limited."""

    wall_s: float | None = None
    cpu_s: int | None = None
    memory_bytes: int | None = None
    file_bytes: int | None = None
    output_bytes: int = 4 * 2**20
    """Kept of each of stdout and stderr: the first half and the last half of this many bytes."""


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


class ProcessManager:
    """Runs external programs and knows which are alive."""

    def __init__(self) -> None:
        self._alive: dict[int, asyncio.subprocess.Process] = {}

    @property
    def running(self) -> tuple[int, ...]:
        """Process ids of the programs running now."""
        return tuple(self._alive)

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
    ) -> ProcessOutcome:
        """Run `argv` to its end, its time limit or cancellation.

        `env` is the whole environment of the child (None = empty). `on_line` is called on the
        loop with every line as it comes; a carriage return ends a line too (progress displays).
        Raises FileNotFoundError or PermissionError when the program cannot be started.
        """
        limits = limits or ProcessLimits()
        started = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE if stdin is not None else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=cwd,
            env=dict(env or {}),
            start_new_session=True,
            pass_fds=tuple(pass_fds),
        )
        self._alive[process.pid] = process
        outputs = {
            "stdout": _CappedOutput(limits.output_bytes),
            "stderr": _CappedOutput(limits.output_bytes),
        }
        timed_out = False
        try:
            _apply_limits(process.pid, limits)
            try:
                async with asyncio.timeout(limits.wall_s):
                    await _pump(process, outputs, stdin, on_line)
                    await process.wait()
            except TimeoutError:
                timed_out = True
        finally:
            await self._end(process)
        code = process.returncode if process.returncode is not None else 0
        return ProcessOutcome(
            exit_code=code if code >= 0 else 128 - code,
            timed_out=timed_out,
            stdout=outputs["stdout"].value(),
            stderr=outputs["stderr"].value(),
            truncated=any(output.dropped for output in outputs.values()),
            duration_s=time.monotonic() - started,
        )

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        """Kill what is left of the group and reap the process, also when we are being cancelled."""
        _kill_group(process.pid)
        waiting = asyncio.ensure_future(process.wait())
        try:
            while not waiting.done():
                try:
                    await asyncio.shield(waiting)
                except asyncio.CancelledError:
                    if waiting.cancelled():
                        raise
                    await asyncio.wait([waiting])
                    raise
        finally:
            self._alive.pop(process.pid, None)
            # asyncio leaves the pipes' transport open until both ends closed: a grandchild that
            # kept stdout would keep it for ever.
            transport = getattr(process, "_transport", None)
            if transport is not None:
                transport.close()

    async def kill_all(self) -> None:
        """Kill every running program's group (application shutdown)."""
        for pid in tuple(self._alive):
            _kill_group(pid)
        while self._alive:
            await asyncio.sleep(0.005)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _apply_limits(pid: int, limits: ProcessLimits) -> None:
    """Set resource limits on a started child (Linux; elsewhere the wall limit and the caps hold)."""
    if not sys.platform.startswith("linux"):
        return
    import resource

    wanted = (
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_CORE, 0),
    )
    for kind, value in wanted:
        if value is not None:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, kind, (value, value))


async def _pump(
    process: asyncio.subprocess.Process,
    outputs: Mapping[str, _CappedOutput],
    stdin: bytes | None,
    on_line: LineListener | None,
) -> None:
    assert process.stdout is not None
    assert process.stderr is not None
    async with asyncio.TaskGroup() as group:
        group.create_task(_read(process.stdout, "stdout", outputs["stdout"], on_line))
        group.create_task(_read(process.stderr, "stderr", outputs["stderr"], on_line))
        if stdin is not None and process.stdin is not None:
            group.create_task(_feed(process.stdin, stdin))


async def _feed(pipe: asyncio.StreamWriter, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        pipe.write(data)
        await pipe.drain()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        pipe.close()
        await pipe.wait_closed()


async def _read(
    pipe: asyncio.StreamReader,
    name: StreamName,
    output: _CappedOutput,
    on_line: LineListener | None,
) -> None:
    pending = b""
    while chunk := await pipe.read(_READ_SIZE):
        output.add(chunk)
        if on_line is None:
            continue
        *lines, pending = (pending + chunk).replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            on_line(name, line[:_MAX_LIVE_LINE].decode("utf-8", "replace"))
        pending = pending[-_MAX_LIVE_LINE:]
        # A flood of buffered output must not hold the loop.
        await asyncio.sleep(0)
    if on_line is not None and pending:
        on_line(name, pending.decode("utf-8", "replace"))
