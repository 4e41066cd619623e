"""What the studies of a circuit can be made of: quantities that can be changed, and what is measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from application.simulation.prepared_circuit import PreparedCircuit, prepare_circuit
from application.studies.plan import value_in
from domain.circuit.parameters import resolve_parameters
from domain.simulation.goals import DesignGoal
from domain.studies.corners import process_corners, supply_of
from domain.studies.free_values import loads_of
from domain.studies.setup import Adjustable, CircuitOffer, Metric
from shared.errors import UserInputError
from shared.paths import project_root_of
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import SimulatorSettingsStore, SourceReaders

_NOT_VALUES = frozenset({"ic", "temp", "dtemp", "noisy", "off"})
"""Parameters of an element line that are no quantity of the part."""
_USUAL_TEMPERATURE = 27.0
MOST_OFFERED = 2_000
"""Quantities of a circuit; a list of more is no list anybody picks from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferStudies:
    """The use case."""

    sources: SourceReaders
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]] = tuple

    async def __call__(self, circuit: Path, goals: Sequence[DesignGoal] = ()) -> CircuitOffer:
        """What the circuit offers, with the `goals` that are asked of it.

        Raises UserInputError for a circuit that cannot be read.
        """
        return await off_loop(self._offer, circuit, tuple(goals))

    def _offer(self, circuit: Path, goals: tuple[DesignGoal, ...]) -> CircuitOffer:
        settings = self.settings.of_circuit(circuit)
        prepared = prepare_circuit(self.sources, circuit, user_libraries=self.libraries(), settings=settings)
        found = {item.name.lower(): item for item in reversed(list(_adjustables(prepared)))}
        return CircuitOffer(
            adjustables=tuple(reversed(list(found.values())))[:MOST_OFFERED],
            metrics=tuple(_metrics(prepared, goals)),
            sections=process_corners(prepared.tree),
            supplies=_supplies(prepared),
            has_analysis=bool(prepared.analyses()),
            sha256=prepared.sha256,
        )


def _adjustables(prepared: PreparedCircuit) -> Iterator[Adjustable]:
    netlist, known = prepared.netlist, resolve_parameters(prepared.tree)
    top = [element for element in netlist.elements if not element.scope]
    loads = {*loads_of(prepared.tree)}
    for element in top:
        if element.value is not None and element.letter in "rclvi":
            name, text = element.name, element.value.text
            figure, is_load = _value(text, known), name in loads
            yield Adjustable(name=name, text=text, value=figure, letter=element.letter, is_load=is_load)
    for parameter in netlist.parameters:
        if not parameter.scope:
            text = parameter.value.text
            yield Adjustable(name=parameter.name, text=text, value=_value(text, known))
    for element in top:
        for key, value in element.params.items():
            figure = _value(value.text, known)
            if key not in _NOT_VALUES and not math.isnan(figure):
                yield Adjustable(name=f"{element.name}.{key}", text=value.text, value=figure)
    temperature = f"{_USUAL_TEMPERATURE:g}"
    yield Adjustable(name="temp", text=temperature, value=_USUAL_TEMPERATURE)
    yield from _included(prepared, known)


def _included(prepared: PreparedCircuit, known: dict[str, float]) -> Iterator[Adjustable]:
    """Values of the project's own parts that the circuit includes; a pattern means none of them."""
    home = (project_root_of(prepared.circuit) or prepared.circuit.parent).resolve()
    for path, netlist in prepared.tree.files.items():
        if path.is_relative_to(home):
            for element in netlist.elements:
                if not element.scope and element.value is not None and element.letter in "rclvi":
                    text = element.value.text
                    yield Adjustable(name=element.name, text=text, value=_value(text, known))


def _value(text: str, known: dict[str, float]) -> float:
    found = value_in(text, known)
    return math.nan if found is None else found


def _metrics(prepared: PreparedCircuit, goals: Sequence[DesignGoal]) -> Iterator[Metric]:
    """Goals first, each metric once; then the `.meas` cards that no goal is named after."""
    seen: set[str] = set()
    for goal in goals:
        if goal.metric in seen or not goal.expression:
            continue
        seen.add(goal.metric)
        same = tuple(
            each for each in goals if each.metric == goal.metric and each.expression == goal.expression
        )
        yield Metric(name=goal.metric, expression=goal.expression, goals=same)
    for _, card in prepared.measures():
        if card.name not in {name.lower() for name in seen}:
            seen.add(card.name)
            yield Metric(name=card.name, expression="")


def _supplies(prepared: PreparedCircuit) -> tuple[str, ...]:
    """The circuit's one supply, and all other voltage sources with a value; one of 0 V supplies nothing."""
    try:
        usual = [supply_of(prepared.netlist)]
    except UserInputError:  # none, or several: which one is for the user to say
        usual = []
    known = resolve_parameters(prepared.tree)
    values = {
        each.name: each.value.text
        for each in prepared.netlist.elements
        if each.letter == "v" and not each.scope and each.value
    }
    signals = {name for name, text in values.items() if _value(text, known) == 0}
    return tuple(name for name in dict.fromkeys([*usual, *values]) if name not in signals)
