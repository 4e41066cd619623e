"""Finds what a run is made of on this machine: ngspice, its library, bubblewrap, the interpreter."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from infrastructure.ngspice.sandbox import (
    Parts,
    Program,
    elf_loader,
    foreign_call_module,
    interpreter_path,
    parse_loader_list,
)
from shared.errors import EnvironmentProblem
from shared.message import msg
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
                msg("ngspice was not found."),
                advice=msg(
                    "Install it (Debian, Ubuntu: apt install ngspice) or set its path in the settings."
                ),
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
