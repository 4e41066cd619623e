"""The measurements of a study, read once and evaluated on every run."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from application.simulation.prepared_circuit import PreparedCircuit
from domain.circuit.cards import Measure
from domain.circuit.parameters import Definitions, definitions_of, parse_expression
from domain.simulation.element_signals import Elements, PlotElements, elements_of_many, vectors_for
from domain.simulation.expression_syntax import SignalRef
from domain.simulation.expressions import CompiledExpression, compile_expression, signals_in
from domain.simulation.goals import DesignGoal
from domain.simulation.meas import evaluate_meas
from domain.simulation.meas_cards import MeasStatement, parse_meas
from domain.simulation.waveform import Plot
from domain.simulation.wiring import SOLVED, Wiring
from domain.studies.spec_reader import spec_error
from domain.studies.study_spec import StudySpec
from shared.errors import CircuitAIError, CircuitError, UserInputError
from shared.message import Message, msg


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The metrics of one run."""

    values: Mapping[str, float]
    """NaN for one that could not be had."""
    units: Mapping[str, str]
    """Of those that could."""
    problems: Mapping[str, Message]


@dataclass(frozen=True, kw_only=True)
class StudyMeasures:
    """All metrics of a study."""

    expressions: Mapping[str, CompiledExpression]
    cards: Sequence[MeasStatement]
    """`.meas` cards of the circuit."""
    definitions: Definitions = field(default_factory=Definitions)
    """The circuit's parameters, which `.meas` cards may use."""
    elements: Elements | None = None
    """What tells currents and powers of elements, where an expression asks for some."""
    varied: Sequence[str] = ()
    """Values that are varied and asked for by their name, such as one that is to be small."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every metric, in order."""
        return tuple(dict.fromkeys([*self.expressions, *(card.name for card in self.cards), *self.varied]))

    @property
    def signals(self) -> tuple[str, ...] | None:
        """The vectors a run has to give; None for all of them (`.meas` cards name theirs in many ways)."""
        if self.cards:
            return None
        names = {name for item in self.expressions.values() for name in item.signals}
        if self.elements is not None:
            for item in self.expressions.values():
                for reference in element_references(item.text):
                    names |= vectors_for(self.elements, reference)
        return tuple(sorted(names))

    def apart(self) -> Iterator[StudyMeasures]:
        """Each expression alone, and all cards: what one of them lacks is no error of the others."""
        for name, expression in self.expressions.items():
            yield replace(self, expressions={name: expression}, cards=(), varied=())
        if self.cards or self.varied:
            yield replace(self, expressions={})

    def of_each(
        self, plots: Sequence[Plot], parameters: Mapping[str, float]
    ) -> tuple[dict[str, float], dict[str, Message]]:
        """Values and problems of one run, each metric measured alone: a signal the circuit does not have is
        the problem of what asks for it."""
        values: dict[str, float] = {}
        problems: dict[str, Message] = {}
        for each in self.apart():
            try:
                found = each.of(plots, parameters)
            except UserInputError as error:
                problems |= dict.fromkeys(each.names, error.message)
            else:
                values |= found.values
                problems |= found.problems
        return values, problems

    def of_one_run(self, wiring: Wiring | None) -> StudyMeasures:
        """The same for a run of its own of a circuit that is connected like this, with all it saves."""
        if self.elements is None or wiring is None:
            return self
        return replace(self, elements=Elements(wiring=wiring))

    def of(self, plots: Sequence[Plot], parameters: Mapping[str, float]) -> Measured:
        """The metrics of one run in which `parameters` had these values.

        Raises UserInputError for an expression that no run can answer (an unknown signal).
        """
        if self.elements is not None:
            told = PlotElements(elements=self.elements, beside={})
            plots = [replace(plot, elements=told) for plot in plots]
        values: dict[str, float] = {}
        units: dict[str, str] = {}
        problems: dict[str, Message] = {}
        with np.errstate(all="ignore"):
            for name, expression in self.expressions.items():
                try:
                    quantity = expression.evaluate_quietly(plots)
                except CircuitError as error:
                    values[name], problems[name] = math.nan, error.message
                else:
                    values[name], units[name] = quantity.value, quantity.unit
        if self.cards:
            found = evaluate_meas(self.cards, plots, self._parameters(parameters))
            for name, outcome in found.items():
                if isinstance(outcome, Message):
                    values[name], problems[name] = math.nan, outcome
                else:
                    values[name], units[name] = outcome.value, outcome.unit
        changed = {name.lower(): value for name, value in parameters.items()} if self.varied else {}
        values |= {name: changed.get(name.lower(), math.nan) for name in self.varied}
        return Measured(values=values, units=units, problems=problems)

    def _parameters(self, changed: Mapping[str, float]) -> dict[str, float]:
        """The circuit's parameters with those of the run, and what is computed from them."""
        mine = {name.lower(): value for name, value in changed.items()}
        own = {
            name: parse_expression(repr(mine[name])) if name in mine else expression
            for name, expression in self.definitions.expressions.items()
        }
        return replace(self.definitions, expressions=own).values()


def element_references(expression: str) -> list[SignalRef]:
    """The currents and powers of elements that an expression names and ngspice does not solve for."""
    asked = (each for each in signals_in(expression) if each.kind in ("i", "terminal", "p"))
    return [
        each for each in asked if each.kind != "i" or len(each.names) > 1 or each.names[0][:1] not in SOLVED
    ]


def study_measures(
    spec: StudySpec, prepared: PreparedCircuit, *, may_be_none: bool = False
) -> tuple[StudyMeasures, tuple[DesignGoal, ...], tuple[Message, ...]]:
    """The metrics of a study on a circuit, its goals with their expressions, and warnings.

    Without measurements the circuit's `.meas` cards are the metrics; a measurement or goal may name one of
    them, and a goal may be an expression itself, or name a value that is varied. Raises UserInputError for
    what cannot be read, and, unless that `may_be_none`, when there is nothing to measure.
    """
    written = prepared.measures()
    names = {card.name for _, card in written}
    own = {name.lower() for name, text in spec.measures.items() if name == text} & names
    expressions = {
        name: _compiled(text, f"measure.{name}")
        for name, text in spec.measures.items()
        if name.lower() not in own
    }
    wanted = own | ({goal.metric.lower() for goal in spec.goals} & names) if spec.measures else names
    cards, warnings = _cards([item for item in written if item[1].name in wanted - expressions.keys()])
    varied = {each.name.lower(): each.name for each in spec.parameters}
    for metric in (goal.metric for goal in spec.goals):
        measured = {*expressions, *(name.lower() for name in expressions), *names, *varied}
        if metric.lower() in spec.known and not {metric, metric.lower()} & measured:
            expressions[metric] = _compiled(spec.known[metric.lower()], f"measure.{metric}")
    goals = tuple(_bound(goal, number, expressions, names, varied) for number, goal in enumerate(spec.goals))
    if not (expressions or cards or may_be_none):
        raise UserInputError(
            msg("There is nothing to measure: the circuit has no .meas card that can be read."),
            advice=msg("Give expressions, for example {example}.",
                       example='"measure": {"bw": "bandwidth(v(out))"}'),
            error_type="bad_spec",
        )  # fmt: skip
    placed = [item.statement for item in prepared.tree.expanded]
    definitions = definitions_of(
        card for card in placed if card.kind == "directive" and not card.scope
    ) if cards else Definitions()  # fmt: skip
    has_elements = any(element_references(each.text) for each in expressions.values())
    elements = None
    if has_elements and prepared.wiring is not None:
        elements = elements_of_many(prepared.wiring, {analysis.kind for analysis in prepared.analyses()})
    measures = StudyMeasures(
        expressions=expressions,
        cards=cards,
        definitions=definitions,
        elements=elements,
        varied=[name for name in varied.values() if any(goal.metric == name for goal in goals)],
    )
    return measures, goals, warnings


def _compiled(text: str, place: str) -> CompiledExpression:
    try:
        return compile_expression(text)
    except UserInputError as error:
        raise UserInputError(
            msg("{place} cannot be read: {reason}", place=place, reason=error.message),
            advice=error.advice,
            error_type="bad_spec",
        ) from error


def _cards(
    written: Sequence[tuple[Path, Measure]],
) -> tuple[list[MeasStatement], tuple[Message, ...]]:
    cards, warnings = [], []
    for _, card in written:
        try:
            cards.append(parse_meas(card.text, card.line))
        except CircuitAIError as error:
            warnings.append(error.message)
    return cards, tuple(warnings)


def _bound(
    goal: DesignGoal,
    number: int,
    expressions: dict[str, CompiledExpression],
    cards: set[str],
    varied: Mapping[str, str],
) -> DesignGoal:
    """The goal with its metric as it is named here; one that is an expression becomes a metric."""
    if goal.metric in expressions:
        return replace(goal, expression=expressions[goal.metric].text)
    if goal.metric.lower() in cards:
        return replace(goal, metric=goal.metric.lower())
    if goal.metric.lower() in varied:
        return replace(goal, metric=varied[goal.metric.lower()])
    if re.fullmatch(r"\w+", goal.metric):
        raise spec_error(
            f"goals[{number}].metric",
            msg("names {name}, which is not measured", name=goal.metric),
            advice=msg("Measured: {names}.", names=", ".join([*expressions, *sorted(cards)]) or "-"),
        )
    expressions[goal.metric] = _compiled(goal.metric, f"goals[{number}].metric")
    return replace(goal, expression=goal.metric)
