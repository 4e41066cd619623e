"""The door: a page drawn, anew or after a change."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from domain.circuit.schematic.composing import compose
from domain.circuit.schematic.display import Drawing
from domain.circuit.schematic.items import Item, Items, Member, items_of
from domain.circuit.schematic.judging import faults_of
from domain.circuit.schematic.layout import Layout
from domain.circuit.schematic.parts import Page
from domain.circuit.schematic.placing import Place, anneal, construct, polish, rows_of
from domain.circuit.schematic.reading_back import read_back
from domain.circuit.schematic.roles import Roles, roles_of
from domain.circuit.schematic.routing import Routed
from domain.circuit.schematic.symbols import SymbolSet, union
from domain.circuit.schematic.wrapping import wrap
from shared.errors import UserInputError
from shared.message import msg

_MOVES_AN_ITEM = 220
_FIRST_MOVES_AN_ITEM = 14
"""Of the first drawing: with fewer a large page's wires are long, and take seconds to be found."""
_WIDER = (1.0, 1.3, 1.7, 2.2, 3.0)
_WIDEST = 1_000
"""Columns or rows of a page that is arranged by hand."""
_ALONE = 4
"""Columns and rows between parts of which each stands alone."""
_NEW_SHARE = 0.3
"""Of a page's parts: with more new ones it is drawn anew."""


class Effort(NamedTuple):
    """How long a drawing is searched for."""

    starts: int
    moves: int


FIRST = Effort(starts=1, moves=0)
"""At once: the constructive drawing."""
FULL = Effort(starts=3, moves=5_000)
ONCE = Effort(starts=1, moves=4_000)
"""What a person waits for who looks on."""


_MANY, _VERY_MANY = 120, 250


def _within_reason(effort: Effort, parts: int) -> Effort:
    """Of large pages a move costs as much as many of a small one: fewer are tried."""
    if parts > _VERY_MANY:
        return FIRST
    return Effort(starts=1, moves=min(effort.moves, 2_000)) if parts > _MANY else effort


def draw(
    page: Page,
    *,
    symbols: SymbolSet = "iec",
    effort: Effort = FULL,
    previous: Drawing | None = None,
) -> Drawing:
    """The page drawn: the best of some starts. The same page gives the same drawing.

    With `previous`, a drawing of the page before a change: what stands in it stays, and a change of values
    alone changes texts alone.
    """
    effort = _within_reason(effort, len(page.parts))
    roles = roles_of(page)
    if previous is not None and previous.scope == page.scope:
        kept = _kept(page, previous)
        if page.topology_key == previous.topology_key:
            found = _with_new_texts(page, roles, previous, symbols)
            found = _clean(found) if found is not None else None
        elif _are_few_new(roles, kept):
            found = _clean(_extended(page, roles, previous.places, kept, symbols))
        else:
            found = None
        if found is not None:
            return found
    return _anew(page, roles, symbols, effort)


def _anew(page: Page, roles: Roles, symbols: SymbolSet, effort: Effort) -> Drawing:
    items = items_of(page, roles)
    first = Layout(page, roles, items)
    construct(first)
    start = first.x.copy(), first.y.copy(), first.flip.copy()
    best: tuple[int, Drawing] | None = None
    for number in range(max(effort.starts, 1)):
        layout = Layout(page, roles, items)
        layout.x[:], layout.y[:], layout.flip[:] = start
        layout.placed[layout.moving] = True
        rng = random.Random(number + 1)  # noqa: S311 - the same in every run
        if effort.moves:
            anneal(layout, rng, min(effort.moves, _MOVES_AN_ITEM * len(items.items)))
        else:
            polish(layout, rng, min(max(150, _FIRST_MOVES_AN_ITEM * len(items.items)), 1_000))
        wrap(layout)
        found = _finished(layout, symbols)
        if best is None or (found[0], found[1].score.cost) < (best[0], best[1].score.cost):
            best = found
    assert best is not None
    return _each_alone(page, roles, symbols) if best[0] else best[1]


def _each_alone(page: Page, roles: Roles, symbols: SymbolSet) -> Drawing:
    """Every part in a place of its own with room around it, every net told by name: nothing can meet."""
    nets = {net for at in roles.drawn for net in page.parts[at].nets} - roles.rails.signs.keys()
    roles = replace(roles, labelled=frozenset(nets), windings=())
    items = Items(tuple(Item(((Member(at, 0, 0),),)) for at in roles.drawn), ())
    layout = Layout(page, roles, items)
    rooms = {
        at: union([box for box, _ in layout.boxes(at, int(layout.flip[at]))]) for at in layout.moving
    }  # fmt: skip
    columns = math.ceil(math.sqrt(len(rooms)))
    y = 0
    for start in range(0, len(rooms), columns):
        row = layout.moving[start : start + columns]
        x, above = 0, math.ceil(-min(rooms[at][1] for at in row))
        for at in row:
            left, _, right, _ = rooms[at]
            x += math.ceil(-left) + _ALONE
            layout.x[at], layout.y[at], layout.placed[at] = x, y + above, True
            x += math.ceil(right)
        y += above + math.ceil(max(rooms[at][3] for at in row)) + _ALONE
    return compose(layout, symbols)


def _finished(layout: Layout, symbols: SymbolSet) -> tuple[int, Drawing]:
    """The faults it has; routed, with its texts; further apart where something would lie over another."""
    best: tuple[int, Drawing] | None = None
    x, y = layout.x.copy(), layout.y.copy()
    for factor in _WIDER:
        if factor > 1:
            _widen(layout, x, y, factor)
        layout.placed[list(layout.items.apart)] = False
        rows_of(layout, layout.items.apart)
        layout.touch(layout.moving)
        drawing = compose(layout, symbols)
        faults = len(faults_of(drawing))
        if best is None or faults < best[0]:
            best = (faults, drawing)
        if not faults:
            break
    assert best is not None
    return best


def _widen(layout: Layout, x: np.ndarray, y: np.ndarray, factor: float) -> None:
    """All items further apart, each as it is in itself."""
    for item in layout.items.items:
        head = item.rows[0][0].part
        for row in item.rows:
            for member in row:
                layout.x[member.part] = round(float(x[head]) * factor) + member.dx
                layout.y[member.part] = round(float(y[row[0].part]) * factor) + member.dy


# ---- after a change -------------------------------------------------------------------------------------


def _kept(page: Page, previous: Drawing) -> frozenset[int]:
    """Parts that stand in the previous drawing."""
    kinds = {symbol.key: (symbol.kind, len(symbol.pins)) for symbol in previous.symbols}
    return frozenset(
        at for at, part in enumerate(page.parts)
        if part.key in previous.places and kinds.get(part.key, ("", 0))[0] == part.kind
    )  # fmt: skip


def _as_before(page: Page, roles: Roles, places: Mapping[str, Place], kept: frozenset[int]) -> Roles:
    """The roles of now, standing and turned as they were."""
    turns, flips = list(roles.turns), list(roles.flips)
    upright, sides = list(roles.upright), list(roles.sides)
    for at in kept:
        place = places[page.parts[at].key]
        turns[at], flips[at], upright[at] = place.turn, place.flip, place.upright
        roles_now = {role for group in sides[at] for role in group}
        if roles_now == {role for group in place.sides for role in group}:
            sides[at] = place.sides
    return replace(roles, turns=tuple(turns), flips=tuple(flips), upright=tuple(upright), sides=tuple(sides))


def _standing(page: Page, roles: Roles, places: Mapping[str, Place], kept: frozenset[int]) -> Layout:
    """What was drawn at its places; each new part is an item of its own."""
    roles = _as_before(page, roles, places, kept)
    items = tuple(Item(((Member(at, 0, 0),),)) for at in roles.drawn)
    layout = Layout(page, roles, Items(items, ()))
    for at in kept & {*roles.drawn}:
        place = places[page.parts[at].key]
        layout.x[at], layout.y[at], layout.placed[at] = place.x, place.y, True
    return layout


def _with_new_texts(page: Page, roles: Roles, previous: Drawing, symbols: SymbolSet) -> Drawing | None:
    """None where a net is a rail by its value only, and was none before."""
    layout = _standing(page, roles, previous.places, _kept(page, previous))
    if not layout.placed[list(roles.drawn)].all():
        return None
    wires: dict[str, tuple[tuple[tuple[int, int], ...], ...]] = {}
    for wire in previous.wires:
        wires[wire.net] = (*wires.get(wire.net, ()), wire.points)
    return compose(layout, symbols, Routed(wires, previous.loose))


def _are_few_new(roles: Roles, kept: frozenset[int]) -> bool:
    return bool(kept) and len(roles.drawn) - len(kept) <= max(2, _NEW_SHARE * len(roles.drawn))


def _extended(
    page: Page, roles: Roles, places: Mapping[str, Place], kept: frozenset[int], symbols: SymbolSet
) -> Drawing:
    """New parts where they cost least, the others where they were, wires anew."""
    layout = _standing(page, roles, places, kept)
    standing = [item for item in layout.items.items if layout.placed[item.rows[0][0].part]]
    construct(layout, standing)
    return compose(layout, symbols)


def _clean(drawing: Drawing) -> Drawing | None:
    """None where something lies over something."""
    return None if faults_of(drawing) else drawing


def _is_as_good(drawing: Drawing, previous: Drawing) -> bool:
    """No more lies over something, and the same circuit is shown."""
    return len(faults_of(drawing)) <= len(faults_of(previous)) and read_back(drawing) == read_back(previous)


def _is_too_wide(places: Mapping[str, Place]) -> bool:
    """Wires are searched for on the whole grid."""
    xs, ys = [each.x for each in places.values()], [each.y for each in places.values()]
    return max(xs) - min(xs) > _WIDEST or max(ys) - min(ys) > _WIDEST


def arranged(page: Page, places: Mapping[str, Place], *, symbols: SymbolSet = "iec") -> Drawing | None:
    """The page with its parts at places that were kept of it, new ones where they cost least; None where most
    are new, or something would lie over something."""
    roles = roles_of(page)
    kept = frozenset(at for at, part in enumerate(page.parts) if part.key in places)
    if not _are_few_new(roles, kept) or _is_too_wide(places):
        return None
    return _clean(_extended(page, roles, places, kept, symbols))


def moved(
    page: Page, previous: Drawing, element: str, by: tuple[int, int], *, symbols: SymbolSet = "iec"
) -> Drawing:
    """The drawing of this page with one element columns and rows from where it stood, its wires anew.

    Raises UserInputError where it cannot stand there: it would lie over something, or no longer show the
    same circuit.
    """
    places = dict(previous.places)
    for symbol in previous.symbols:
        if symbol.element.lower() == element.lower():  # all of a package
            place = places[symbol.key]
            places[symbol.key] = place._replace(x=place.x + by[0], y=place.y + by[1])
    found: Drawing | None = None
    if not _is_too_wide(places):
        found = _extended(page, roles_of(page), places, _kept(page, previous), symbols)
    if found is None or not _is_as_good(found, previous):
        raise UserInputError(
            msg("{name} cannot stand there: it would lie over something.", name=element),
            advice=msg("Drop it where there is room for it and its texts."),
            error_type="no_room",
        )
    return found


def keeps(drawing: Drawing, previous: Drawing) -> bool:
    """Whether all that stands in both stands where it stood."""
    both = drawing.places.keys() & previous.places.keys()
    return bool(both) and all(drawing.places[name] == previous.places[name] for name in both)
