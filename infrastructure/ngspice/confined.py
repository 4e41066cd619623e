"""ngspice in the best box this machine can have: what single runs and batches share.

Finds what a run is made of on this machine: ngspice, its library, bubblewrap, the interpreter.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from application.ports.simulation import Confinement
from infrastructure.ngspice.sandbox import (
    ALL_LAYERS,
    Layer,
    Parts,
    Program,
    Sandbox,
    elf_loader,
    foreign_call_module,
    interpreter_path,
    landlock_abi,
    machine,
    parse_loader_list,
)
from shared.errors import EnvironmentProblem, NeedsConfirmation
from shared.message import Message, msg
from shared.processes import ProcessLimits, ProcessManager


class Installation:
    """The programs of this machine; paths given by the user come before what PATH finds."""

    def __init__(
        self, processes: ProcessManager, *, ngspice_path: Path | None, bubblewrap_path: Path | None
    ) -> None:
        self._processes = processes
        self._ngspice_path = ngspice_path
        self._bubblewrap_path = bubblewrap_path

    async def parts(self) -> Parts:
        """Everything the box is built from. Raises EnvironmentProblem without ngspice."""
        ngspice, bubblewrap, interpreter = await asyncio.to_thread(self._programs)
        help_text = await self._output((str(bubblewrap), "--help")) if bubblewrap else ""
        return Parts(
            ngspice=await self._program(ngspice),
            interpreter=await self._program(interpreter, foreign_call_module()),
            bubblewrap=bubblewrap,
            bubblewrap_sizes="--size" in help_text,
        )

    async def parts_with_library(self) -> Parts:
        """As `parts`, with libngspice. Raises EnvironmentProblem without one of them."""
        parts = await self.parts()
        library = await asyncio.to_thread(_find_library, parts.ngspice.path)
        if library is None:
            raise EnvironmentProblem(
                msg("The shared library of ngspice (libngspice) was not found."),
                advice=msg(
                    "Install it (Debian, Ubuntu: apt install libngspice0; Fedora: dnf install libngspice)."
                ),
                error_type="simulator_library_missing",
            )
        loader = parts.interpreter.loader
        listed = await self._output((str(loader), "--list", str(library))) if loader else ""
        # The C library of older systems reads the password file with a library of its own.
        of_users = [Path(name).with_name("libnss_files.so.2") for name in _LIBC.findall(listed)]
        there = await asyncio.to_thread(lambda: [path for path in of_users if path.is_file()])
        libraries = (*parse_loader_list(listed), *there)
        return replace(parts, library=Program(path=library, loader=loader, libraries=libraries))

    def _programs(self) -> tuple[Path, Path | None, Path]:
        """ngspice, bubblewrap and the interpreter; looks at the file system."""
        ngspice = self._ngspice_path or _which("ngspice")
        if ngspice is None or not ngspice.is_file():
            raise EnvironmentProblem(
                msg("ngspice was not found.")
                if ngspice is None
                else msg("The simulator of the settings, {path}, is not there.", path=ngspice),
                advice=msg(
                    "Install it (Debian, Ubuntu: apt install ngspice) or set its path in the settings."
                )
                if ngspice is None
                else msg("Correct its path in the settings, or empty it to take the ngspice found on PATH."),
                error_type="simulator_missing",
            )
        return ngspice, self._bubblewrap_path or _which("bwrap"), interpreter_path()

    async def _program(self, path: Path, module: Path | None = None) -> Program:
        """An executable with its loader and libraries (and those of a module it loads)."""
        real, loader = await asyncio.to_thread(_real_and_loader, path)
        if loader is None:
            return Program(path=real, loader=None, libraries=())
        listed = [await self._output((str(loader), "--list", str(file))) for file in (real, module) if file]
        return Program(path=real, loader=loader, libraries=parse_loader_list("\n".join(listed)))

    async def _output(self, argv: tuple[str, ...]) -> str:
        try:
            outcome = await self._processes.run(argv, limits=ProcessLimits(wall_s=20.0), env={})
        except OSError:
            return ""
        return (outcome.stdout + outcome.stderr).decode("utf-8", "replace")

    async def version(self, ngspice: Path) -> str:
        """Name and version as ngspice tells them: "ngspice-39"."""
        text = await self._output((str(ngspice), "--version"))
        match = re.search(r"ngspice-(\d[\w.+]*)", text)
        return f"ngspice-{match[1]}" if match else "ngspice"


_LIBC = re.compile(r"=>\s+(/\S*/libc\.so\.6)")
_LIBRARY_FOLDERS = ("/usr/local/lib", "/usr/lib", "/usr/lib64", "/lib", "/lib64")


def _find_library(ngspice: Path) -> Path | None:
    """libngspice: beside the ngspice that is used, else where the system keeps libraries."""
    return next(iter(_libraries(ngspice)), None)


def _libraries(ngspice: Path) -> Iterator[Path]:
    prefix = ngspice.parent.parent
    for folder in dict.fromkeys((prefix / "lib", prefix / "lib64", *map(Path, _LIBRARY_FOLDERS))):
        for place in (folder, *sorted(folder.glob("*-linux-*"))):
            for pattern in ("libngspice.so.[0-9]", "libngspice.so", "libngspice.so.*"):
                yield from (path.resolve() for path in sorted(place.glob(pattern)) if path.is_file())


def _real_and_loader(path: Path) -> tuple[Path, Path | None]:
    real = path.resolve()
    try:
        return real, elf_loader(real)
    except (OSError, ValueError):
        # A script around ngspice, or a machine whose programs look different: the probe will tell.
        return real, None


def _which(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found) if found else None


_LAYER_SETS: tuple[frozenset[Layer], ...] = (
    ALL_LAYERS,
    frozenset(("bubblewrap", "seccomp", "rlimits")),
    frozenset(("landlock", "seccomp", "rlimits")),
    frozenset(("bubblewrap", "rlimits")),
    frozenset(("rlimits",)),
)


def layer_sets(wanted: frozenset[Layer], parts: Parts, notes: list[Message]) -> list[frozenset[Layer]]:
    """The sets of layers worth trying here, best first, ending with none; why others are not: `notes`."""
    possible = set(wanted)
    if machine() is None:
        notes.append(msg("There is no confinement for {system} yet.", system=sys.platform))
        possible.clear()
    if "bubblewrap" in possible and parts.bubblewrap is None:
        notes.append(msg("bubblewrap is not installed."))
        possible.discard("bubblewrap")
    if "landlock" in possible and landlock_abi() == 0:
        notes.append(msg("This kernel has no Landlock."))
        possible.discard("landlock")
    found: list[frozenset[Layer]] = []
    for layers in (*_LAYER_SETS, frozenset[Layer]()):
        usable = layers & possible
        if usable not in found:
            found.append(usable)
    return found


def confinement_of(layers: frozenset[Layer], notes: list[Message]) -> Confinement:
    """What holds with these layers, and what they leave open."""
    if "landlock" in layers and "bubblewrap" not in layers:
        notes.append(
            msg("Landlock alone: a run can read and change existing files in /tmp whose names it knows.")
        )
    if layers & {"bubblewrap", "landlock"} and "seccomp" not in layers:
        notes.append(msg("Without seccomp a hostile code model can start processes inside the box."))
    if "bubblewrap" in layers and "landlock" not in layers:
        notes.append(msg("bubblewrap alone: the Python interpreter can be started again inside the box."))
    return Confinement(
        bubblewrap="bubblewrap" in layers,
        landlock_abi=landlock_abi() if "landlock" in layers else 0,
        seccomp="seccomp" in layers,
        rlimits="rlimits" in layers,
        notes=tuple(notes),
    )


PROBE_DECK = b"probe\nV1 a 0 1\nR1 a 0 1k\n.op\n.end\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """The box ngspice runs in here, seen to work."""

    sandbox: Sandbox
    confinement: Confinement
    parts: Parts
    version: str
    """As what runs in it tells: "ngspice-39"."""


class DoesNotRun(Exception):
    """A small circuit gave no data."""

    def __init__(self, reason: Message | str) -> None:
        super().__init__(str(reason))
        self.reason = reason


Probe = Callable[[Sandbox, Parts], Awaitable[str]]
"""Runs `PROBE_DECK` in a box and tells ngspice's version. Raises DoesNotRun, OSError."""


class _Circuit(Protocol):
    @property
    def has_control_block(self) -> bool: ...
    @property
    def included_files(self) -> Sequence[Path]: ...
    @property
    def deck_path(self) -> Path: ...


class ConfinedNgspice:
    """Finds the parts of ngspice and a box that works with them, once for each form of ngspice."""

    def __init__(
        self,
        *,
        processes: ProcessManager,
        ngspice_path: Path | None = None,
        bubblewrap_path: Path | None = None,
        scratch_root: Path | None = None,
        layers: frozenset[Layer] = ALL_LAYERS,
        allow_unconfined: bool = False,
    ) -> None:
        self.processes = processes
        self.scratch_root = scratch_root
        """Where scratch folders are made; None: where the run's results go."""
        self.installation = Installation(
            processes, ngspice_path=ngspice_path, bubblewrap_path=bubblewrap_path
        )
        self._layers = layers
        self._allow_unconfined = allow_unconfined
        self._boxes: dict[bool, Box] = {}
        self._finding = asyncio.Lock()

    async def box(self, probe: Probe, *, with_library: bool = False) -> Box:
        """The box with the most layers `probe` runs in, for the program or the library.

        Raises DoesNotRun when there is none, EnvironmentProblem when a part of ngspice is missing.
        """
        async with self._finding:
            if with_library not in self._boxes:
                self._boxes[with_library] = await self._find(probe, with_library)
            return self._boxes[with_library]

    async def _find(self, probe: Probe, with_library: bool) -> Box:
        of = self.installation
        parts = await (of.parts_with_library() if with_library else of.parts())
        notes: list[Message] = []
        failure: Message | str = "-"
        for layers in layer_sets(self._layers, parts, notes):
            if with_library and not layers:
                break  # the library is loaded by the launcher, which needs Linux
            sandbox = await asyncio.to_thread(Sandbox, parts, layers)
            try:
                version = await probe(sandbox, parts)
            except (DoesNotRun, OSError) as error:
                failure = error.reason if isinstance(error, DoesNotRun) else str(error)
            else:
                confinement = confinement_of(layers, notes)
                return Box(sandbox=sandbox, confinement=confinement, parts=parts, version=version)
            tried = " + ".join(sorted(layers)) or "-"
            notes.append(msg("{layers} did not work together: {reason}", layers=tried, reason=failure))
        raise DoesNotRun(failure)

    def refuse_unconfined(self, box: Box, circuits: Iterable[_Circuit]) -> None:
        """Raises NeedsConfirmation when nothing confines a circuit that brings commands or files."""
        confined = box.confinement.bubblewrap or box.confinement.landlock_abi > 0
        bringing = (each for each in circuits if each.has_control_block or each.included_files)
        if confined or self._allow_unconfined or (circuit := next(bringing, None)) is None:
            return
        raise NeedsConfirmation(
            msg(
                "Nothing confines ngspice on this machine, and this circuit contains commands or other files."
            ),
            advice=msg("Install bubblewrap, or use a Linux kernel with Landlock (5.13 or newer)."),
            file=circuit.deck_path,
        )
