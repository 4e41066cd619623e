"""The built-in model's plans for a circuit to be designed.

In a chat: write, simulate, measure, judge, correct once. In a step of a design: write; the program runs and
judges it. What the circuit was sized for goes with the answer that writes it (`StreamChunk.output_items`)
and comes back with the step that goes on from this circuit, be it of the last round or of an earlier one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from application.design.plain_state import intent_from_plain, verdict_from_plain
from domain.design.catalogue import propose, revise, understand
from domain.design.deck import Say
from domain.design.designer import DesignIntent, Proposal, netlist_hash
from domain.design.engine.device_cards import (
    CARDS,
    NO_TABLES,
    CardTable,
    Tables,
    TablesNeeded,
    TableWish,
)
from domain.design.round_table import asked, value_beside_limit
from domain.llm.provider_settings import WAYS_ON
from domain.simulation.goals import DesignGoal, GoalVerdict, all_met
from domain.simulation.result import Quantity
from infrastructure.llm_adapters.builtin.command import Design
from infrastructure.llm_adapters.builtin.plans import (
    FIGURE,
    Call,
    Outcome,
    Plan,
    Speech,
    bullets,
    failed,
    inspection,
    simulation_failed,
    told,
)
from infrastructure.persistence.known_texts import request_texts
from shared.errors import CircuitError
from shared.message import Message, msg

T = TypeVar("T")
_MOST_NAMES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What is done in a step of a design."""

    words: tuple[Message, ...]
    """The answer, once the circuit is written."""
    path: str = ""
    netlist: str = ""
    """"" = the circuit stays as it is."""
    sizing: Mapping[str, Any] | None = None
    """What goes with the answer that writes it."""


def decide(brief: Mapping[str, Any], say: Say, tables: Tables = NO_TABLES) -> Decided:
    """What a step of a design comes to; `brief` is what `application.workflow.model_steps` tells of it.

    Raises CircuitError where no first circuit can be sized, TablesNeeded for one that is not among `tables`.
    """
    intent, netlist, sizing = intent_from_plain(brief["intent"]), brief["netlist"], brief["sizing"]
    if brief["task"] == "INITIAL_DESIGN":
        return _written(propose(intent, say, tables), intent, brief, msg("Sized by the design equations."))
    if sizing is not None and sizing["parameters"] == intent.parameters:
        previous = Proposal(file_stem="", netlist=netlist, tuning=sizing["tuning"])
    else:  # other demands, or changed by somebody: its figures tell nothing of our aim
        try:
            previous = propose(intent, say, tables)
        except CircuitError as error:
            return Decided(words=(error.message, *((error.advice,) if error.advice else ())))
        if netlist_hash(previous.netlist) != netlist_hash(netlist):
            return _written(previous, intent, brief, msg("Sized again by the design equations."))
    verdicts = [judged(goal, brief["verdicts"]) for goal in intent.goals]
    revised = revise(intent, previous, verdicts, say, tables)
    if revised is not None:
        return _written(revised, intent, brief, msg("The values were corrected from the measured results."))
    if brief["goals_changed"]:
        return _written(previous, intent, brief, msg("The circuit stays as it is, and is judged again."))
    return Decided(words=(msg("No remaining change would bring the goals closer."),))


def judged(goal: DesignGoal, verdicts: Sequence[dict[str, Any]]) -> GoalVerdict:
    """A goal held against what was measured; a new one counts as not measured."""
    known = (each.measured for each in map(verdict_from_plain, verdicts)
             if each.goal.expression == goal.expression)  # fmt: skip
    measured = next(known, Quantity(value=math.nan, unit=goal.unit))
    return GoalVerdict(goal=goal, measured=measured, met=goal.is_met_by(measured.value))


def _written(proposal: Proposal, intent: DesignIntent, brief: Mapping[str, Any], why: Message) -> Decided:
    return Decided(
        words=(*proposal.notes, why),
        path=brief["circuit"] or _free_name(proposal, brief["taken"]),
        netlist=proposal.netlist,
        sizing={
            "type": "sizing",
            "of": netlist_hash(proposal.netlist),
            "parameters": intent.parameters,
            "tuning": proposal.tuning,
        },
    )


def step_of(brief: Mapping[str, Any], speech: Speech) -> Plan:
    """A step of a design with named model cards: their tables, then as without."""
    cards = brief["intent"]["parameters"][CARDS]
    decided = yield from _with_tables(cards, lambda tables: decide(brief, speech.say, tables))
    return (yield from carry_out(decided, speech))


def _with_tables(cards: Mapping[str, str], sized: Callable[[Tables], T]) -> Generator[Call, Outcome, T]:
    """What sizing gives once it has the tables of the cards that it asks for. Raises CircuitError."""
    tables: dict[TableWish, CardTable] = {}
    while True:
        try:
            return sized(tables)
        except TablesNeeded as needed:
            wish = needed.wish
        arguments: dict[str, Any] = {
            "query": cards[wish.channel], "length": f"{wish.length_m:g}", "channel": wish.channel,
            "whole": True,
        }  # fmt: skip
        if wish.bulk_v:
            arguments["bulk"] = wish.bulk_v
        if cards["file"]:
            arguments["path"] = cards["file"]
        outcome = yield Call(tool="find_model", arguments=arguments)
        if outcome.error_type:
            raise CircuitError(
                msg("{text}", text=outcome.reason),
                advice=msg(
                    "Name a MOSFET model and its file in the project, for example: nch from models.lib."
                ),
                error_type="no_such_model",
            )
        tables[wish] = CardTable.read(outcome.text)


def carry_out(decided: Decided, speech: Speech) -> Plan:
    """Write the circuit that was decided on, and say why."""
    if decided.netlist:
        arguments = {"path": decided.path, "content": decided.netlist}
        outcome = yield Call(tool="rewrite_file", arguments=arguments, sizing=decided.sizing)
        if outcome.error_type:
            return failed(outcome, speech)
    return "\n".join(map(speech.say, decided.words))


def design(command: Design, speech: Speech) -> Plan:
    """A circuit by its family's equations, written, simulated, measured, and once corrected."""
    if command.is_question:
        return _not_understood(speech)
    is_beside = bool(speech.circuits) and not command.is_meant
    try:
        # beside a circuit that is there, which may be meant, no kind of circuit is guessed from its words
        intent = understand(command.text, None if is_beside else request_texts())
        cards = intent.parameters.get(CARDS, {})
        proposal = yield from _with_tables(cards, lambda tables: propose(intent, speech.say, tables))
    except CircuitError as error:
        return _not_designed(error, command, speech)
    listing = yield Call(tool="list_project_files", arguments={})
    if listing.error_type:
        return failed(listing, speech)
    names = (line.partition("  ")[0].rstrip("/").casefold() for line in listing.lines)
    path = _free_name(proposal, dict.fromkeys(names, ""))
    said = [speech.say(assumption) for assumption in intent.assumptions]
    verdicts, problem = yield from _prove(path, proposal, intent, speech)
    if not problem and not all_met(verdicts):
        revised = yield from _with_tables(
            cards, lambda tables: revise(intent, proposal, verdicts, speech.say, tables)
        )
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
        limit = asked(replace(verdict.goal, target=None), digits)
        lines.append(f"{_name_of(verdict.goal, speech)}: {figure} ({limit}) {speech.say(state)}")
    return f"{head}\n{bullets(lines)}"


def _name_of(goal: DesignGoal, speech: Speech) -> str:
    """What the goal is called in the language of the answer."""
    from domain.design.catalogue import FAMILIES  # the families: only who tells of them

    known = (family.labels[goal.metric] for family in FAMILIES.values() if goal.metric in family.labels)
    label = next(known, None)
    return goal.metric if label is None else speech.say(label)


def _free_name(proposal: Proposal, taken: Mapping[str, str]) -> str:
    """`stem.cir`, or the first `stem_2.cir` ... that nothing has, or this very netlist.

    `taken`: the names that are taken, in lower case, with the hashes of the netlists there ("" for others).
    """
    own = netlist_hash(proposal.netlist)
    for number in range(1, _MOST_NAMES):
        name = f"{proposal.file_stem}{'' if number == 1 else f'_{number}'}.cir"
        if taken.get(name.casefold(), own) == own:
            break
    return name


def _not_designed(error: CircuitError, command: Design, speech: Speech) -> str:
    """A known circuit with something amiss is told as it is; else what it can do."""
    if error.error_type != "unknown_circuit":
        return told(error, speech)
    if command.is_meant:
        return speech.say(_with_ways_on(error.message))
    return _not_understood(speech)


def _not_understood(speech: Speech) -> str:
    return speech.say(_with_ways_on(msg("I do not understand that.")))


def _with_ways_on(refusal: Message) -> Message:
    return msg("{refusal} {ways}", refusal=refusal, ways=WAYS_ON)
