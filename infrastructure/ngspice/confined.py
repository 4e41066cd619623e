"""ngspice in the best box this machine can have: what single runs and batches share."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from application.ports.simulation import Confinement
from infrastructure.ngspice.installation import Installation
from infrastructure.ngspice.sandbox import ALL_LAYERS, Layer, Parts, Sandbox, landlock_abi, machine
from shared.errors import NeedsConfirmation
from shared.message import Message, msg
from shared.processes import ProcessManager

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
