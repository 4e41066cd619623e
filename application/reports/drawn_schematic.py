"""The schematic of a circuit for a document: drawn as the command `schematic` draws it, in light colors."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from application.simulation.schematics import SchematicTarget
from domain.circuit.schematic.drawing import FULL
from shared.errors import CircuitAIError
from shared.message import Message

if TYPE_CHECKING:
    from application.simulation.schematics import DrawSchematic
    from domain.circuit.schematic.parts import Page
    from domain.circuit.schematic.placing import Place

MOST_BLOCKS = 6
"""Subcircuits with a drawing of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnSchematic:
    """A drawing, or why there is none."""

    svg: str = ""
    elements: int = 0
    undrawn: tuple[Message, ...] = ()
    """Parts that are not in it, and why."""
    reason: Message | None = None
    advice: Message | None = None
    blocks: tuple[tuple[str, DrawnSchematic], ...] = ()
    """Of the top level: its subcircuits, by the path of their names (``outer.inner``)."""
    left_out: int = 0
    """How many further subcircuits there are."""


async def drawn_schematic(
    schematics: DrawSchematic, circuit: Path, places: Mapping[str, Mapping[str, Place]]
) -> DrawnSchematic:
    """The top level of a circuit and its subcircuits; what cannot be drawn is told.

    `places`: where parts that were moved by hand stand, by page ("" is the top level) and name in lower case.
    The search is in a worker process.
    """
    try:
        pages = await schematics.read(circuit)
        top = await _drawn(schematics, pages.page, places.get("", {}))
    except CircuitAIError as error:
        return DrawnSchematic(reason=error.message, advice=error.advice)
    blocks = []
    for scope in pages.scopes[:MOST_BLOCKS]:
        try:
            page = (await schematics.read(circuit, scope=scope)).page
            drawn = await _drawn(schematics, page, places.get(scope, {}))
        except CircuitAIError as error:
            drawn = DrawnSchematic(reason=error.message)
        blocks.append((scope, drawn))
    return replace(top, blocks=tuple(blocks), left_out=len(pages.scopes) - len(blocks))


async def _drawn(schematics: DrawSchematic, page: Page, places: Mapping[str, Place]) -> DrawnSchematic:
    drawing = await schematics.arranged(page, places, symbols="iec") if places else None
    if drawing is None:
        drawing = await schematics.searched(page, symbols="iec", effort=FULL)
    out = io.BytesIO()
    await schematics.save(drawing, SchematicTarget(file=out, format="svg"))
    return DrawnSchematic(
        svg=out.getvalue().decode("utf-8"),
        elements=len(drawing.elements),
        undrawn=tuple(each.message for each in drawing.undrawn),
    )
