"""One guest: a confined process that hosts libngspice, its pipes, its clock and its end."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import mmap
import os
import re
import struct
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from domain.simulation.request import ResourceLimits
from infrastructure.ngspice.batch.guest import HELLO, LAYOUT, LOADING
from infrastructure.ngspice.batch.wire import FrameReader, Layout, WireError, read_layout
from infrastructure.ngspice.sandbox import Guest, Sandbox, View
from infrastructure.ngspice.scratch import folder_bytes, make_scratch, remove_scratch
from infrastructure.ngspice.waiting import last_breath
from shared.processes import ProcessLimits, ProcessManager, ProcessOutcome, StreamName
from shared.uninterrupted import off_loop, uninterrupted

_logger = logging.getLogger(__name__)

_SCRIPT = Path(__file__).with_name("guest.py")
_LOG_BYTES = 64 * 1024
_LOG_LINES = 100
_PIPE_BYTES = 2**20
_START_S = 30.0
LOADING_S = 60.0
"""Time for loading a circuit, when a run has less."""
_TICK_S = 0.2
_VERSION = re.compile(rb"ngspice-\d[\w.+]{0,20}")
_FAREWELL_S = 0.5
_SIZE_TICKS = 10
_FILE_BYTES = 256 * 2**20
_NO_CPU_LIMIT_S = 2**31
_NUMBER = struct.Struct("<Q")
_SCRIPTS = ".scripts"
_SPINIT = """
* No control block of a deck is run, nothing is asked, one thread does the work.
set controlswait
set noinit
set nomoremode
unset askquit
set num_threads=1
"""


class GuestLost(Exception):
    """The process has ended (crashed, been killed, or was ended by us)."""

    def __init__(self, exit_code: int, working_on: int | None, *, why: str = "") -> None:
        super().__init__(why or f"exit code {exit_code}")
        self.exit_code = exit_code
        self.working_on = working_on
        """The run it was at, LOADING, or None."""
        self.why = why
        """"time" when it was ended for that, "disk" for writing too much, "wire" for nonsense, else ""."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestPlan:
    """What every guest of a batch is started with."""

    sandbox: Sandbox
    files: tuple[Path, ...]
    folders: tuple[Path, ...]
    hidden: tuple[Path, ...]
    input_folders: tuple[Path, ...]
    """The folders of the circuits, in their order."""
    memory_bytes: int
    spinit: str
    """The system's own start-up file."""
    scratch_root: Path | None


def input_folder_name(circuit: int) -> str:
    """Name of the link in a guest's scratch folder that leads to the folder of a circuit."""
    return f".circuit{circuit}"


class GuestProcess:
    """A running guest. Made by `start`, ended by `close`; everything of it is then gone."""

    def __init__(self, processes: ProcessManager, plan: GuestPlan) -> None:
        self._processes = processes
        self._plan = plan
        self._frames: deque[tuple[int, memoryview]] = deque()
        self._news = asyncio.Event()
        self._wire_broken = ""
        self._page: mmap.mmap | None = None
        self._life: asyncio.Task[ProcessOutcome] | None = None
        self._clock: asyncio.Task[None] | None = None
        self._reader: FrameReader | None = None
        self._results = -1
        self._orders: asyncio.WriteTransport | None = None
        self._is_reading = False
        self._stack = contextlib.AsyncExitStack()
        self._ended_for = ""
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        self.layouts: list[Layout] = []
        self.library_version = "ngspice"
        """As the library tells it: "ngspice-39"."""
        self.limit_s = 60.0
        """Wall time of one run."""
        self.circuit: int | None = None
        """Index of the circuit it has loaded; kept by who gives the orders."""

    async def start(self) -> None:
        """Start the process and wait until the library is loaded. Raises GuestLost, OSError."""
        try:
            await self._start()
        except BaseException:
            await self.close()
            raise

    async def _start(self) -> None:
        scratch = await self._scratch()
        loop = asyncio.get_running_loop()
        orders_in, orders_out = os.pipe()
        results_in, results_out = os.pipe()
        page = os.memfd_create("circuit-ai-page")
        theirs = [orders_in, results_out, page]
        try:
            os.ftruncate(page, mmap.PAGESIZE)
            self._page = mmap.mmap(page, mmap.PAGESIZE)
            os.set_blocking(results_in, False)
            with contextlib.suppress(OSError):
                fcntl.fcntl(results_in, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            self._results = results_in
            self._reader = FrameReader(results_in, self._plan.memory_bytes)
            transport, _ = await loop.connect_write_pipe(
                asyncio.BaseProtocol, os.fdopen(orders_out, "wb", buffering=0)
            )
            self._orders = transport
            guest = Guest(
                source=await asyncio.to_thread(_SCRIPT.read_text, encoding="utf-8"),
                settings={"orders": orders_in, "results": results_out, "page": page},
                descriptors=tuple(theirs),
                environment={
                    "SPICE_SCRIPTS": str(self._plan.sandbox.scratch_seen(scratch) / _SCRIPTS),
                },
            )
            view = View(
                scratch=scratch,
                files=self._plan.files,
                folders=self._plan.folders,
                hidden=self._plan.hidden,
                limits=ResourceLimits(
                    cpu_s=_NO_CPU_LIMIT_S,
                    memory_bytes=self._plan.memory_bytes,
                    file_bytes=_FILE_BYTES,
                ),
            )
            self._life = asyncio.create_task(self._live(view, guest))
            self._life.add_done_callback(lambda _task: self._news.set())
            self._listen()
            async with asyncio.timeout(_START_S):
                kind, words = await self.frame()
        except TimeoutError:
            raise self._lost() from None
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        if kind != HELLO:
            raise GuestLost(1, None, why="wire")
        if (version := _VERSION.search(words)) is not None:
            self.library_version = version[0].decode()
        self._clock = asyncio.create_task(self._watch(scratch))

    async def _scratch(self) -> Path:
        made: list[Path] = []

        def lay_out() -> None:
            made.append(make_scratch(self._plan.scratch_root))
            (made[0] / ".spiceinit").touch()  # else one in the user's home would be read
            (made[0] / _SCRIPTS).mkdir()
            (made[0] / _SCRIPTS / "spinit").write_text(self._plan.spinit + _SPINIT, encoding="utf-8")
            for index, folder in enumerate(self._plan.input_folders):
                (made[0] / input_folder_name(index)).symlink_to(os.path.realpath(folder))

        async def remove() -> None:
            for folder in made:
                await off_loop(remove_scratch, folder)

        self._stack.push_async_callback(remove)
        await off_loop(lay_out)
        return made[0]

    async def _live(self, view: View, guest: Guest) -> ProcessOutcome:
        """The life of the process; when this returns or is cancelled, all of it is gone."""
        with contextlib.ExitStack() as descriptors:
            async with last_breath() as lifeline:
                held = replace(view, lifeline=lifeline)
                command = await off_loop(self._plan.sandbox.host, held, guest, descriptors)
                return await self._processes.run(
                    command.argv,
                    limits=ProcessLimits(output_bytes=_LOG_BYTES),
                    cwd=command.cwd,
                    env=command.env,
                    on_line=self._hear,
                    pass_fds=command.pass_fds,
                )

    def _hear(self, _stream: StreamName, line: str) -> None:
        """What native code writes past the library's callbacks, and the interpreter's last words."""
        self._log.append(line)
        _logger.debug("a guest wrote: %s", line)

    async def close(self, *, gently: bool = False) -> None:
        """End the process and remove its scratch folder; nothing of it is left on return.

        `gently`: it has nothing to do and may go by itself, so that its processor time is accounted to us.
        """
        await uninterrupted(self._close(gently))

    async def _close(self, gently: bool) -> None:
        if gently and self._orders is not None and self._life is not None:
            self._orders.close()
            await asyncio.wait([self._life], timeout=_FAREWELL_S)
        self._stop_listening()
        if self._orders is not None and not self._orders.is_closing():
            # One that comes to life only now, its bubblewrap killed before it could be bound to it, sees
            # that nobody is there and goes.
            self._orders.abort()
        tasks = [task for task in (self._clock, self._life) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._orders is not None:
            self._orders = None
            await asyncio.sleep(0)  # it closes its descriptor in the next turn of the loop
        if self._results >= 0:
            os.close(self._results)
            self._results = -1
        if self._page is not None:
            self._page.close()
            self._page = None
        await self._stack.aclose()

    # ---- talking ---------------------------------------------------------------------------------

    def tell(self, order: bytes) -> None:
        """Send an order; what cannot be written at once is written when there is room."""
        if self._orders is not None and not self._orders.is_closing():
            self._orders.write(order)

    async def frame(self) -> tuple[int, memoryview]:
        """The next frame that is no layout (those go to `layouts`). Raises GuestLost."""
        while True:
            while self._frames:
                kind, body = self._frames.popleft()
                if kind != LAYOUT:
                    return kind, body
                try:
                    self.layouts.append(read_layout(body, len(self.layouts)))
                except WireError as error:
                    raise self.nonsense(error) from error
            if self._wire_broken:
                raise GuestLost(1, self.working_on, why="wire")
            if self._life is not None and self._life.done():
                if not self._read_the_rest():
                    raise self._lost()
            else:
                self._news.clear()
                await self._news.wait()

    def _read_the_rest(self) -> bool:
        """Read on from the pipe of a process that has ended; False when nothing more came."""
        if not self._is_reading or self._reader is None:
            return False
        before = self._reader.taken
        self._on_readable()
        return self._reader.taken > before

    def nonsense(self, error: WireError) -> GuestLost:
        """What to raise when a frame makes no sense."""
        self._wire_broken = str(error)
        return GuestLost(1, self.working_on, why="wire")

    @property
    def working_on(self) -> int | None:
        """The run it is at now, LOADING, or None. It may lie; it only harms itself."""
        if self._page is None:
            return None
        number: int = _NUMBER.unpack_from(self._page)[0]
        return None if number == 0 else LOADING if number == LOADING else number - 1

    def _lost(self) -> GuestLost:
        exit_code = 0
        if self._life is not None and self._life.done():
            if self._life.cancelled():
                exit_code = 137
            elif error := self._life.exception():
                raise error
            else:
                exit_code = self._life.result().exit_code
        return GuestLost(exit_code, self.working_on, why=self._ended_for)

    @property
    def last_words(self) -> str:
        return " ".join(" ".join(self._log).split())[-300:]

    def _listen(self) -> None:
        asyncio.get_running_loop().add_reader(self._results, self._on_readable)
        self._is_reading = True

    def _stop_listening(self) -> None:
        if self._is_reading:
            asyncio.get_running_loop().remove_reader(self._results)
            self._is_reading = False

    def _on_readable(self) -> None:
        assert self._reader is not None
        try:
            self._frames.extend(self._reader.read())
        except WireError as error:
            self._wire_broken = str(error)
            self._stop_listening()
        if self._reader.is_over:
            self._stop_listening()
        self._news.set()

    # ---- the clock -------------------------------------------------------------------------------

    async def _watch(self, scratch: Path) -> None:
        """End the process when one run takes too long, or when it fills the disk."""
        loop = asyncio.get_running_loop()
        before: int | None = None
        since = loop.time()
        ticks = 0
        while True:
            await asyncio.sleep(min(_TICK_S, self.limit_s / 4))
            now = self.working_on
            if now != before or now is None:
                before, since = now, loop.time()
            elif loop.time() - since > max(self.limit_s, LOADING_S if now == LOADING else 0.0):
                self._end_for("time")
                return
            ticks += 1
            if ticks % _SIZE_TICKS == 0 and await asyncio.to_thread(folder_bytes, scratch) > 2 * _FILE_BYTES:
                self._end_for("disk")
                return

    def _end_for(self, why: str) -> None:
        self._ended_for = why
        assert self._life is not None
        self._life.cancel()


def start_up_text(data_folders: Callable[[], Iterator[Path]]) -> str:
    """The system's spinit, which loads the code models as single runs have them. Blocking."""
    for folder in data_folders():
        path = folder / "scripts/spinit"
        if path.is_file():
            return path.read_text(encoding="latin-1")
    return ""
