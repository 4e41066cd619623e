"""The schematic of a circuit for a document: drawn as the command `schematic` draws it, in light colors."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from application.simulation.schematics import SchematicTarget
from domain.circuit.schematic.drawing import FULL
from shared.errors import CircuitAIError
from shared.message import Message

if TYPE_CHECKING:
    from application.simulation.schematics import DrawSchematic


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnSchematic:
    """A drawing, or why there is none."""

    svg: str = ""
    elements: int = 0
    undrawn: tuple[Message, ...] = ()
    """Parts that are not in it, and why."""
    reason: Message | None = None
    advice: Message | None = None


async def drawn_schematic(schematics: DrawSchematic, circuit: Path) -> DrawnSchematic:
    """The top level of a circuit; what cannot be drawn is told. The search is in a worker process."""
    try:
        pages = await schematics.read(circuit)
        drawing = await schematics.searched(pages.page, symbols="iec", effort=FULL)
        out = io.BytesIO()
        await schematics.save(drawing, SchematicTarget(file=out, format="svg"))
    except CircuitAIError as error:
        return DrawnSchematic(reason=error.message, advice=error.advice)
    return DrawnSchematic(
        svg=out.getvalue().decode("utf-8"),
        elements=len(drawing.elements),
        undrawn=tuple(each.message for each in drawing.undrawn),
    )
