"""The built-in model's plan for a circuit to be designed: write, simulate, measure, judge, correct once."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence

from domain.design.catalogue import FAMILIES, understand
from domain.design.designer import DesignIntent, Proposal
from domain.design.round_table import asked, value_beside_limit
from domain.simulation.goals import DesignGoal, GoalVerdict, all_met
from domain.simulation.result import Quantity
from infrastructure.llm_adapters.builtin_commands import Design
from infrastructure.llm_adapters.builtin_steps import (
    FIGURE,
    Call,
    Outcome,
    Plan,
    Speech,
    abilities,
    bullets,
    failed,
    inspection,
    simulation_failed,
    told,
)
from shared.errors import CircuitError
from shared.message import msg

_MOST_NAMES = 1000


def design(command: Design, speech: Speech) -> Plan:
    """A circuit by its family's equations, written, simulated, measured, and once corrected."""
    if command.is_question:
        return _not_understood(speech)
    try:
        intent = understand(command.text)
        proposal = FAMILIES[intent.family].propose(intent, speech.say)
    except CircuitError as error:
        return _not_designed(error, command, speech)
    listing = yield Call(tool="list_project_files", arguments={})
    if listing.error_type:
        return failed(listing, speech)
    path = _free_name(proposal.file_stem, listing)
    said = [speech.say(assumption) for assumption in intent.assumptions]
    verdicts, problem = yield from _prove(path, proposal, intent, speech)
    if not problem and not all_met(verdicts):
        revised = _revised(intent, proposal, verdicts, speech)
        if revised is not None:
            again = msg("The first values missed a goal; I corrected them by the measured results.")
            said.append(speech.say(again))
            verdicts, problem = yield from _prove(path, revised, intent, speech)
    if problem:
        return "\n".join([*said, problem])
    return "\n".join([*said, _verdict_report(path, verdicts, speech)])


def _prove(
    path: str, proposal: Proposal, intent: DesignIntent, speech: Speech
) -> Generator[Call, Outcome, tuple[list[GoalVerdict], str]]:
    """Write, simulate, measure: the verdicts, or what went wrong."""
    outcome = yield Call(tool="rewrite_file", arguments={"path": path, "content": proposal.netlist})
    if outcome.error_type:
        return [], failed(outcome, speech)
    outcome = yield Call(tool="run_simulation", arguments={"file_path": path})
    if outcome.error_type:
        return [], simulation_failed(outcome, speech)
    outcome = yield inspection(path, [goal.expression for goal in intent.goals])
    if outcome.error_type:
        return [], failed(outcome, speech)
    return [_verdict(goal, outcome) for goal in intent.goals], ""


def _verdict(goal: DesignGoal, outcome: Outcome) -> GoalVerdict:
    value = math.nan
    for line in outcome.lines:
        found = FIGURE.fullmatch(line)
        if found and found["name"].strip() == goal.expression and found["figure"] != "no value":
            value = float(found["figure"].split()[0])
    return GoalVerdict(goal=goal, measured=Quantity(value=value, unit=goal.unit), met=goal.is_met_by(value))


def _revised(
    intent: DesignIntent, proposal: Proposal, verdicts: Sequence[GoalVerdict], speech: Speech
) -> Proposal | None:
    try:
        return FAMILIES[intent.family].revise(intent, proposal, verdicts, speech.say)
    except CircuitError:
        return None  # the corrected aim is beyond what parts can do: the miss is the answer


def _verdict_report(path: str, verdicts: Sequence[GoalVerdict], speech: Speech) -> str:
    if all_met(verdicts):
        head = speech.say(msg("{file} was designed and simulated; all goals are met:", file=path))
    else:
        head = speech.say(msg("{file} was designed and simulated, but not all goals are met:", file=path))
    lines = []
    for verdict in verdicts:
        shown, digits = value_beside_limit(verdict.goal, verdict.measured)
        figure = speech.say(msg("not measured")) if math.isnan(verdict.measured.value) else shown
        state = msg("met") if verdict.met else msg("missed")
        lines.append(f"{verdict.goal.metric}: {figure} ({asked(verdict.goal, digits)}) {speech.say(state)}")
    return f"{head}\n{bullets(lines)}"


def _free_name(stem: str, listing: Outcome) -> str:
    """`stem.cir`, or the first `stem_2.cir` ... that nothing in the project has, whatever the letter case."""
    taken = {line.partition("  ")[0].rstrip("/").casefold() for line in listing.lines}
    for number in range(1, _MOST_NAMES):
        name = f"{stem}{'' if number == 1 else f'_{number}'}.cir"
        if name.casefold() not in taken:
            break
    return name


def _not_designed(error: CircuitError, command: Design, speech: Speech) -> str:
    """A known circuit with something amiss is told as it is; else what it can do."""
    if error.error_type != "unknown_circuit":
        return told(error, speech)
    if command.is_meant:
        return f"{speech.say(error.message)} {speech.say(abilities())}"
    return _not_understood(speech)


def _not_understood(speech: Speech) -> str:
    return f"{speech.say(msg('I do not understand that.'))} {speech.say(abilities())}"
