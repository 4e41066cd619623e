"""The numbers a circuit's own cards ask for (`.meas`, `.four`), computed from a run's data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from domain.circuit.parameters import resolve_parameters
from domain.simulation.result import Quantity, SimulationIssue, SimulationRun
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.simulation.prepared_circuit import PreparedCircuit
    from domain.circuit.control_blocks import ControlCommand
    from domain.simulation.waveform import Plot

Metrics = dict[str, Quantity]


def run_metrics(
    prepared: PreparedCircuit, run: SimulationRun, read_plots: Callable[[], Sequence[Plot]]
) -> tuple[Metrics, tuple[SimulationIssue, ...]]:
    """Every metric by its lower-case name (NaN where it could not be had), and what went wrong.

    `read_plots` is called only when there is something to measure.
    """
    measures, fouriers = prepared.measures(), prepared.fouriers()
    commands = _telling_commands(prepared)
    if not measures and not fouriers and not commands:
        return {}, ()
    try:
        plots = read_plots()
    except UserInputError:
        if measures or fouriers:
            raise
        plots = ()  # too large, or torn: what the commands printed is there all the same
    metrics, issues = _measured(prepared, plots, whole=run.status == "ok")
    more, others = _harmonics(prepared, plots) if plots or run.status == "ok" else ({}, [])
    return {**_of_commands(commands, run, plots), **more, **metrics}, (*issues, *others)


def _telling_commands(prepared: PreparedCircuit) -> list[ControlCommand]:
    """The circuit's own commands, when any of them works out a number."""
    if not prepared.has_control_block:
        return []
    from domain.circuit.control_blocks import commands_of
    from domain.simulation.command_figures import tell_figures

    commands = commands_of(prepared.tree)
    return commands if tell_figures(commands) else []


def _of_commands(commands: Sequence[ControlCommand], run: SimulationRun, plots: Sequence[Plot]) -> Metrics:
    """What the circuit's own commands measured and printed."""
    if not commands:
        return {}
    from domain.simulation.command_figures import command_figures

    log = run.log_path.read_bytes().decode("utf-8", "replace")
    return command_figures(commands, log, plots)


def _measured(
    prepared: PreparedCircuit, plots: Sequence[Plot], *, whole: bool
) -> tuple[Metrics, list[SimulationIssue]]:
    """Measurements of an analysis that is not there are told in one issue for the analysis, and not at all
    when the run has failed (`whole` is False): why there are no data has been said."""
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
    there = {plot.analysis for plot in plots}
    without: dict[str, list[str]] = {}
    for name, outcome in evaluate_meas(parsed, plots, resolve_parameters(prepared.tree)).items():
        if not isinstance(outcome, Message):
            metrics[name] = outcome
            continue
        metrics[name] = Quantity(value=math.nan, unit="")
        analysis = next(card.analysis for card in parsed if card.name == name)
        if analysis in there or analysis == "sp":
            issues.append(_issue(*places[name], outcome))
        elif whole:
            without.setdefault(analysis, []).append(name)
    for analysis, names in without.items():
        reason = msg(
            "No {analysis} analysis was run; not measured: {names}.",
            analysis=analysis,
            names=", ".join(names),
        )
        issues.append(_issue(*places[names[0]], reason))
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
