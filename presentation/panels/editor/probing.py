"""Probing in the text: what stands at a place is plotted, without a drawing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from application.groups.simulation import Simulation
from domain.circuit.circuit_names import CardCache, Place
from domain.circuit.completion import Facts
from domain.circuit.probing import Probe, meant_at, places_of, probe_of
from domain.simulation.expressions import signals_in
from presentation.ui.probe_entries import Entry, of_element, of_node
from presentation.ui.workspace import Probed, WindowServices
from shared.errors import UserInputError
from shared.message import msg

_OF_NODES: tuple[Probed, ...] = ("voltage", "reference", "alone")


class TextProbe:
    """Plots what stands at a place of one file."""

    def __init__(
        self,
        services: WindowServices,
        simulation: Simulation,
        open_texts: Callable[[], Mapping[Path, str]],
    ) -> None:
        """`open_texts`: what the editor has of all its files."""
        self._services = services
        self._simulation = simulation
        self._open_texts = open_texts
        self._cards = CardCache()

    def plot(
        self,
        path: Path,
        line: int,
        what: Probed = "usual",
        *,
        offset: int | None = None,
        name: str = "",
        file: Path | None = None,
    ) -> None:
        """Plot what stands at a byte of a file, or `name` on a line (from 1), or make it the reference.

        `file`: the line is in this one, which the first includes.
        """
        at = _Spot(line, offset, name, None if file == path else file)
        self._services.start(self._plot(path, at, what), kind="probe", scope="probe")

    async def _plot(self, path: Path, at: _Spot, what: Probed) -> None:
        workspace = self._services.workspace
        facts = await self._simulation.names(path, {**self._open_texts()}, self._cards)
        name = at.name
        node, _, other = name.partition(",") if what in _OF_NODES else ("", "", "")
        found = await asyncio.to_thread(_found, facts, at, node)
        against = await asyncio.to_thread(_found, facts, at, other) if other else None
        if found is None or (other and against is None):
            workspace.status_changed.emit(msg("There is no node or element here that can be plotted."))
        elif what == "reference":
            workspace.set_reference_node(found.name)
            workspace.status_changed.emit(
                msg("Voltages plotted from now on are measured against {node}.", node=found.name)
            )
        elif against is not None:
            workspace.probe_wanted.emit(f"v({found.name},{against.name})", False)
        else:
            workspace.probe_wanted.emit(_expression(found, what, name), what == "alone")

    def entries(self, facts: Facts, path: Path, line: int, offset: int) -> list[Entry]:
        """Probed a context menu offers at a byte of the text, from what is known of the circuit."""
        if facts.names is None:
            return []
        found: list[Entry] = []
        meant = meant_at(facts.names, facts.file, line, offset=offset)
        if meant is not None and meant.is_node:
            found += of_node(self._services, meant.name, partial(self.plot, path, line, offset=offset))
            meant = meant_at(facts.names, facts.file, line)
        if meant is not None and not meant.is_node:
            found += of_element(meant.name, partial(self.plot, path, line))
        return found


class _Spot(NamedTuple):
    """A place in a text."""

    line: int
    offset: int | None
    name: str
    file: Path | None
    """None: the circuit itself."""


def _found(facts: Facts, at: _Spot, node: str) -> Probe | None:
    names, file = facts.names, at.file or facts.file
    meant = None if names is None else meant_at(names, file, at.line, offset=at.offset, node=node)
    return None if names is None or meant is None else probe_of(names, meant)


def _expression(probe: Probe, what: Probed, pin: str) -> str:
    if what == "power" and probe.power:
        return probe.power
    if what == "current" and probe.currents:
        return dict(probe.currents).get(pin.lower(), probe.currents[0][1])
    return probe.usual


async def places_in_text(
    simulation: Simulation, circuit: Path, texts: Mapping[Path, str], expression: str
) -> list[Place]:
    """Where the nodes and elements of an expression stand in a circuit, those of its first signal first.

    `texts` has that of the circuit."""
    facts = await simulation.names(circuit, texts)
    return await asyncio.to_thread(_places, facts, expression)


def _places(facts: Facts, expression: str) -> list[Place]:
    if facts.names is None:
        return []
    try:
        signals = signals_in(expression)
    except UserInputError:
        return []
    found: list[Place] = []
    for signal in signals:
        nodes = signal.kind in ("v", "plain")
        names = signal.names if signal.kind == "v" else signal.names[-1:]
        if signal.kind == "i":
            names = signal.names[:1]
        for name in names:
            found += places_of(facts.names, name, is_node=nodes)
    return found
