"""The box ngspice runs in is found once a process of the tests, not once for each application one makes.

To find it takes seven processes, a small run among them: a twentieth of a second of the processor for each
application that simulates. What was found holds for the same programs (by path, size and time of change),
layers, kernel and search path; anything else is found as ever. The tests of ngspice itself find theirs
(`found_here`).
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import sys
from collections.abc import Hashable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from infrastructure.ngspice.confined import Box, ConfinedNgspice, Probe

_MODULE = "infrastructure.ngspice.confined"
_found: dict[Hashable, Box] = {}


def remember_boxes() -> None:
    """From now on, where the module is loaded."""
    module = sys.modules.get(_MODULE)
    if module is None or hasattr(module.ConfinedNgspice, "_find_anew"):
        return
    module.ConfinedNgspice._find_anew = module.ConfinedNgspice._find
    module.ConfinedNgspice._find = _find


@contextlib.contextmanager
def found_here() -> Iterator[None]:
    """Within it each finds its own."""
    from infrastructure.ngspice.confined import ConfinedNgspice

    shared = ConfinedNgspice._find
    ConfinedNgspice._find = getattr(ConfinedNgspice, "_find_anew", shared)  # type: ignore[method-assign]
    try:
        yield
    finally:
        ConfinedNgspice._find = shared  # type: ignore[method-assign]


def find_beforehand() -> None:
    """Find those of this machine in a process of its own: one that forks has no threads that a loop left."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    finder = context.Process(target=_tell_boxes, args=(theirs,))
    finder.start()
    theirs.close()
    with ours, contextlib.suppress(EOFError):
        _found.update(ours.recv())
    finder.join()
    remember_boxes()


def _tell_boxes(to: Connection) -> None:
    from infrastructure.ngspice.batch.simulator import NgspiceBatch
    from infrastructure.ngspice.confined import ConfinedNgspice
    from infrastructure.ngspice.runner import NgspiceRunner
    from shared.errors import EnvironmentProblem
    from shared.processes import ProcessManager

    remember_boxes()
    ngspice = ConfinedNgspice(processes=ProcessManager())
    for simulator in (NgspiceRunner(ngspice), NgspiceBatch(ngspice)):
        with contextlib.suppress(EnvironmentProblem):  # the command that needs it will say so
            asyncio.run(simulator.confinement())
    to.send(_found)


async def _find(ngspice: ConfinedNgspice, probe: Probe, with_library: bool) -> Box:
    key = await asyncio.to_thread(_key, ngspice, with_library)
    if key not in _found:
        _found[key] = await ngspice._find_anew(probe, with_library)  # type: ignore[attr-defined]
    return _found[key]


def _key(ngspice: ConfinedNgspice, with_library: bool) -> Hashable:
    module = sys.modules[_MODULE]
    programs = ngspice.installation._programs()
    return (
        with_library,
        ngspice._layers,
        tuple(_identity(path) for path in programs if path is not None),
        module.landlock_abi(),
        os.environ.get("PATH"),
    )


def _identity(path: Path) -> Hashable:
    told = path.stat()
    return path, told.st_ino, told.st_size, told.st_mtime_ns
