"""Finds the programs a run is made of on this machine: ngspice, bubblewrap, the interpreter."""

from __future__ import annotations

import asyncio
import re
import shutil
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
