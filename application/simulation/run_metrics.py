"""The numbers a circuit's own cards ask for (`.meas`, `.four`), computed from a run's data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from domain.circuit.parameters import resolve_parameters
from domain.simulation.result import Quantity, SimulationIssue
from shared.errors import CircuitAIError
from shared.message import Message

if TYPE_CHECKING:
    from application.simulation.prepared_circuit import PreparedCircuit
    from domain.simulation.waveform import Plot

Metrics = dict[str, Quantity]


def run_metrics(
    prepared: PreparedCircuit, read_plots: Callable[[], Sequence[Plot]]
) -> tuple[Metrics, tuple[SimulationIssue, ...]]:
    """Every metric by its lower-case name (NaN where it could not be had), and what went wrong.

    `read_plots` is called only when there is something to measure.
    """
    measures, fouriers = prepared.measures(), prepared.fouriers()
    if not measures and not fouriers:
        return {}, ()
    plots = read_plots()
    metrics, issues = _measured(prepared, plots)
    more, others = _harmonics(prepared, plots)
    return {**more, **metrics}, (*issues, *others)


def _measured(prepared: PreparedCircuit, plots: Sequence[Plot]) -> tuple[Metrics, list[SimulationIssue]]:
    from domain.simulation.meas import evaluate_meas
    from domain.simulation.meas_cards import parse_meas

    cards = prepared.measures()
    metrics: Metrics = {}
    issues: list[SimulationIssue] = []
    parsed = []
    places = {card.name: (file, card.line) for file, card in cards}
    for file, card in cards:
        try:
            parsed.append(parse_meas(card.text, card.line))
        except CircuitAIError as error:
            metrics[card.name] = Quantity(value=math.nan, unit="")
            issues.append(_issue(file, card.line, error.message))
    for name, outcome in evaluate_meas(parsed, plots, resolve_parameters(prepared.tree)).items():
        if isinstance(outcome, Message):
            metrics[name] = Quantity(value=math.nan, unit="")
            issues.append(_issue(*places[name], outcome))
        else:
            metrics[name] = outcome
    return metrics, issues


def _harmonics(prepared: PreparedCircuit, plots: Sequence[Plot]) -> tuple[Metrics, list[SimulationIssue]]:
    from domain.simulation.fourier import evaluate_four, parse_four

    cards, issues, files = [], [], {}
    for file, statement in prepared.fouriers():
        try:
            card = parse_four(statement)
        except CircuitAIError as error:
            issues.append(_issue(file, statement.line, error.message))
            continue
        cards.append(card)
        files[id(card)] = file
    metrics, failures = evaluate_four(cards, plots)
    issues += [_issue(files[id(card)], card.line, reason) for card, reason in failures]
    return metrics, issues


def _issue(file: Path, line: int, reason: Message) -> SimulationIssue:
    return SimulationIssue(
        severity="warning", code="measurement-failed", message=reason, file=file, line=line
    )
