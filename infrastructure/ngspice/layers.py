"""Which layers of the box a machine can have, in the order in which they are tried."""

from __future__ import annotations

import sys

from application.ports.simulation import Confinement
from infrastructure.ngspice.sandbox import ALL_LAYERS, Layer, Parts, landlock_abi, machine
from shared.message import Message, msg

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
