"""What a message means behind a finished design: its goals changed, another circuit, or neither."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from application.design.circuit_goals import family_of
from application.design.round_history import begun_with
from domain.design.checkpoint_asides import without_denied
from domain.design.designer import DesignIntent
from domain.design.goal_change import (
    clauses_not_read,
    goals_changed_by,
    is_by_unit_alone,
    is_repeated,
)
from domain.design.known_requests import KnownRequests
from domain.llm.transcript import design_left_open
from domain.simulation.goals import DesignGoal
from shared.errors import CircuitError, UserInputError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.ports.project import ProjectFiles
    from domain.design.another_circuit import AnotherCircuit

_FINISHED = ("goals_met", "goals_not_met")
_LONGEST_LOOKED_AT = 2000
_NEW = re.compile(
    r"\b(?:new|another|different|separate)\s+(?:\w+[\s-]+){0,4}(?:circuit|design|amplifier|filter|netlist|file)"
    r"|\b(?:design|create|build|make)\s+(?:me\s+)?an?\b|(?:新建|另外?一个|另做|重新设计一个|设计一个|设计一款|做一个)",
    re.IGNORECASE,
)
"""How a new circuit is asked for, where there is one already."""
_ADDS = re.compile(
    r"^\W*(?:另外?|还要?|再|同时|此外)?[,，]?\s?(?:再|多)?(?:加上?|增加|添加|补充|追加)[一1]?[条个项点](?!负载|电阻|电容|电感)"
    r"|^\W*(?:and |please )?(?:add |with )?(?:one|a|an) (?:more|additional|further) "
    r"(?:goal|requirement|condition|demand|constraint|thing|limit)\b"
    r"|^\W*(?:please )?add (?:a|an|another|the) (?:goal|requirement|condition|demand|constraint|limit)\b"
    r"|^\W*(?:in addition|additionally|one more)\b",
    re.IGNORECASE,
)
"""How more is asked of the circuit there is."""


_UNNAMED = msg(
    "The built-in designer finds no circuit named here that it designs. Name it, for example “common-emitter "
    "amplifier, gain 40 dB”. To improve the circuit in the editor, open it and give its figures, for example "
    "“gain 40 dB, bandwidth above 1 MHz”."
)


@dataclass(frozen=True, slots=True)
class NextMessage:
    """How a message is taken."""

    kind: Literal["refines", "begins", "apart", "unclear"]
    """begins: a design in this conversation; apart: another one, which is no matter of the finished one."""
    goals: tuple[DesignGoal, ...] = ()
    """Those of the finished design, if there is one."""
    problem: Message | None = None
    """Why it describes no circuit, where there is no finished design it could change; what of it was not
    understood, where the rest changes one."""
    instead: str = ""
    """A sentence that asks for the circuit which was named, where that is another than the finished one."""


def finished_design(events: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The state in which the last design of a conversation was finished; None where none was.

    One that is under way, declined or failed has nothing that could be refined; where a refinement was
    taken back, what it refined is there again.
    """
    state: dict[str, Any] = {}
    finished: dict[str, Any] | None = None
    refined: dict[str, Any] | None = None
    design = ""
    for event in events:
        before, design = design, design_left_open(design, event)
        if event.get("event") == "adopted":
            finished = refined = None
        elif design and design != before:  # not of a chat that is led meanwhile
            state, refined, finished = begun_with(event), finished, None
        elif design != before:
            reason = event.get("stop_reason")
            finished = state if reason in _FINISHED else refined if reason == "undone" else None
        update = event.get("update")
        if isinstance(update, Mapping):
            state |= update
    if finished is None:
        return None
    if not finished.get("netlist_sha256"):  # begun from a circuit of the project, which no round has changed
        files = finished.get("circuit_files")
        held = files.get(finished.get("circuit_file_path")) if isinstance(files, Mapping) else None
        finished = {**finished, "netlist_sha256": held}
    needed = ("design_intent", "circuit_file_path", "netlist_sha256")
    return finished if all(finished.get(name) for name in needed) else None


def is_edited(state: Mapping[str, Any], project: ProjectFiles) -> bool:
    """Whether the circuit of a finished design is there and another than it was at its end. Blocking."""
    try:
        content = project.read(project.root / str(state["circuit_file_path"]))
    except (UserInputError, ValueError, OSError):  # gone, or no place of the project
        return False
    return hashlib.sha256(content).hexdigest() != str(state["netlist_sha256"])


def asks_for_new_circuit(text: str) -> bool:
    """Whether a sentence asks for a circuit of its own, and not for the one there is to be changed."""
    return _NEW.search(text[:_LONGEST_LOOKED_AT]) is not None


def goals_in(state: Mapping[str, Any]) -> tuple[DesignGoal, ...]:
    from application.design.plain_state import goal_from_plain

    try:
        return tuple(goal_from_plain(plain) for plain in state["design_intent"]["goals"])
    except (TypeError, KeyError):  # written by another version
        return ()


def design_of(project: ProjectFiles, circuit: str) -> dict[str, Any] | None:
    """The state in which the last design of a circuit was finished, in whichever conversation; None where
    our families did not make it, or nobody's design was finished. Blocking."""
    if not circuit or not family_of(project, circuit):
        return None
    for info in project.sessions.list():
        if info.work_mode != "workflow" or not info.is_ours:
            continue
        try:
            found = finished_design(project.sessions.read(info.session_id).events)
        except UserInputError:  # deleted meanwhile
            continue
        if found is not None and found["circuit_file_path"] == circuit:
            return found if found["design_intent"].get("family") else None
    return None


def _intent_in(state: Mapping[str, Any]) -> DesignIntent | None:
    from application.design.plain_state import intent_from_plain

    try:
        return intent_from_plain(state["design_intent"])
    except (TypeError, KeyError):  # written by another version
        return None


def refinement(
    state: Mapping[str, Any], text: str, *, takes_any_wish: bool = False, edited: bool = False
) -> dict[str, Any] | None:
    """What a sentence changes of a finished design, as plain data for its next run; None when nothing.

    A language model `takes_any_wish`: what changes no goal is an instruction for the circuit, as is another
    value of a part for anybody. It begins from the circuit as it is, as does whoever improves one that our
    families did not make. Of an `edited` circuit a goal that is said again is a wish to size it again.
    """
    from domain.design.demand_change import (
        asks_for_another_figure,
        beside_parts,
        changes_netlist,
        design_changed_by,
        is_all_goals,
    )

    known = goals_in(state)
    if not takes_any_wish and (own := _intent_in(state)) and asks_for_another_figure(text, own):
        return None
    goals = goals_changed_by(without_denied(text), known)
    is_of_part = changes_netlist(text) and goals_changed_by(without_denied(beside_parts(text)), known) is None
    intent = _intent_in(state)
    is_sure = goals is not None and not is_of_part and (intent is None or is_all_goals(text, intent, goals))
    if not is_sure and not takes_any_wish:
        demanded = None if intent is None else design_changed_by(text, intent)
        if demanded is not None and demanded[1]:
            return _begun_with(state, demanded[0].goals) | {"demand": text}
        if goals is not None and is_by_unit_alone(text, known, goals):
            return None  # "good for 1 A" beside what was not read is no limit that we proposed
        if is_of_part:
            return {"is_round_zero": True, "instruction": text} | _begun_with(state, known)
        if goals is None and edited and is_repeated(text, known):
            goals = known
        if goals is None:
            return None
    is_of_family = bool(state["design_intent"].get("family"))
    wish: dict[str, Any] = {"is_round_zero": True} if takes_any_wish or not is_of_family else {}
    if takes_any_wish and goals in (None, known):
        wish["instruction"] = text
    return wish | _begun_with(state, known if goals is None else goals)


def _begun_with(state: Mapping[str, Any], goals: Sequence[DesignGoal]) -> dict[str, Any]:
    from application.design.plain_state import goal_to_plain

    return {
        "design_intent": state["design_intent"],
        "circuit_file_path": state["circuit_file_path"],
        "netlist_sha256": state["netlist_sha256"],
        "refined_goals": [goal_to_plain(goal) for goal in goals],
    }


def adds_to_design(text: str) -> bool:
    """Whether a sentence says that it asks for more of the circuit there is, and names no kind of circuit."""
    from application.workflow.goal_readers import names_a_kind

    text = text[:_LONGEST_LOOKED_AT]
    return _ADDS.search(text) is not None and not names_a_kind(text)


def asks_more(state: Mapping[str, Any], text: str) -> bool:
    """Whether a sentence that names no kind of circuit asks for more of a finished design: in such words, or
    with a figure for what its family does not know, and a circuit is measured by."""
    from application.workflow.goal_readers import names_a_kind
    from domain.design.demand_change import asks_for_another_figure

    intent = _intent_in(state)
    is_another = intent is not None and not names_a_kind(text) and asks_for_another_figure(text, intent)
    return is_another or adds_to_design(text)


def _is_change_of_goals(state: Mapping[str, Any], text: str) -> bool:
    """Whether a sentence that names no kind of circuit surely changes goals of a finished design, though it
    might ask for a circuit by itself: "20 kHz 处衰减要到 50 dB" an attenuator."""
    from application.workflow.goal_readers import names_a_kind
    from domain.design.demand_change import is_all_goals

    goals = None if names_a_kind(text) else goals_changed_by(without_denied(text), goals_in(state))
    intent = _intent_in(state)
    try:
        return goals is not None and intent is not None and is_all_goals(text, intent, goals)
    except CircuitError:  # two of one choice: told where it is taken as the design's
        return False


def change_of(state: Mapping[str, Any], text: str, *, edited: bool) -> dict[str, Any] | None:
    """What a sentence that describes no circuit of its own changes of a finished design, as `refinement`."""
    from application.workflow.goal_readers import understand_built_in

    if asks_for_new_circuit(text):
        return None
    if not (adds_to_design(text) or _is_change_of_goals(state, text)):
        try:
            understand_built_in(text, (), None)
        except CircuitError:
            return refinement(state, text, edited=edited)
        return None
    return refinement(state, text, edited=edited)


async def read_message(
    state: Mapping[str, Any] | None,
    text: str,
    *,
    is_by_rules: bool,
    said_before: Sequence[str] = (),
    circuit: str = "",
    known: Callable[[], KnownRequests] | None = None,
    edited: bool = False,
) -> NextMessage:
    """A sentence that describes a circuit begins another design, one that changes a goal refines this one.

    `state` is that of the finished design, None where chats only were led. For a language model, not read
    `is_by_rules`, what does not ask for a new circuit refines this one. `said_before`: by the user, in the
    conversation. `circuit` is the one at hand ("" for none), of which figures alone may be asked; they
    are no matter of a finished design of another one. `known` requests help to tell a first one.
    `edited`: the finished circuit is another since.
    """
    from application.workflow.goal_readers import understand_built_in, wants_improvement

    if not is_by_rules:
        return _for_model(state, text)
    is_at_hand = state is not None and circuit in ("", state["circuit_file_path"])
    if state is not None and is_at_hand:
        own = await asyncio.to_thread(_of_own, state, text, circuit, edited=edited)
        if own is not None:
            return own
    try:
        if state is None:
            asked = None if circuit else known
            await asyncio.to_thread(understand_built_in, text, said_before, asked)
        else:
            await asyncio.to_thread(understand_built_in, text, (), None)
    except CircuitError as error:
        has_figure = bool(circuit) and await asyncio.to_thread(wants_improvement, text)
        if state is None:
            return _of_no_design(error, is_of_circuit=has_figure)
        if has_figure and circuit != state["circuit_file_path"]:
            return NextMessage("apart")
        return _of_design(state, text, edited=edited)
    return NextMessage("begins" if state is None else "apart")


def read_at_hand(state: Mapping[str, Any], text: str, *, edited: bool) -> NextMessage | None:
    """A message where no design was led, beside the circuit of one; None where it is no change of that."""
    try:
        change = change_of(state, text, edited=edited)
    except CircuitError as error:
        return NextMessage("unclear", goals_in(state), _cannot_be(error))
    return None if change is None else NextMessage("refines", goals_in(state))


def _for_model(state: Mapping[str, Any] | None, text: str) -> NextMessage:
    if state is None:
        return NextMessage("begins")
    return NextMessage("apart" if asks_for_new_circuit(text) else "refines", goals_in(state))


def _of_own(state: Mapping[str, Any], text: str, circuit: str, *, edited: bool) -> NextMessage | None:
    """A message that is surely of the finished design; None where it may describe a circuit of its own."""
    if asks_for_new_circuit(text):
        return None
    if asks_more(state, text):
        return _of_addition(state, text, circuit, edited=edited)
    return _of_design(state, text, edited=edited) if _is_change_of_goals(state, text) else None


def _of_addition(state: Mapping[str, Any], text: str, circuit: str, *, edited: bool) -> NextMessage:
    """What else is asked of a design; what its family does not know is measured of the circuit at hand."""
    goals = goals_in(state)
    try:
        is_known = (
            not circuit or is_repeated(text, goals) or refinement(state, text, edited=edited) is not None
        )
    except CircuitError as error:
        return NextMessage("unclear", goals, _cannot_be(error))
    return _of_design(state, text, edited=edited) if is_known else NextMessage("begins", goals)


def _of_design(state: Mapping[str, Any], text: str, *, edited: bool) -> NextMessage:
    """A message that describes no circuit, behind a finished design."""
    from domain.design.another_circuit import another_circuit
    from domain.design.catalogue import told_without_figure
    from domain.design.demand_change import design_changed_by

    goals, intent = goals_in(state), _intent_in(state)
    try:
        found, problem = refinement(state, text, edited=edited), None
    except CircuitError as error:  # understood, and it cannot be
        found, problem = None, _cannot_be(error)
    if found is not None:
        return NextMessage("refines", goals)
    if intent is not None and (other := another_circuit(intent, text)) is not None:
        told = _of_another(text, other)
        return NextMessage("unclear", goals, told, instead="" if other.lacks else other.sentence)
    if problem is not None:
        return NextMessage("unclear", goals, problem)
    if is_repeated(text, goals) or (intent is not None and design_changed_by(text, intent) is not None):
        return NextMessage("unclear", goals, _said_already(text))
    if unread := clauses_not_read(text, goals):
        return NextMessage("unclear", goals, _half_read(unread))
    return NextMessage("unclear", goals, None if intent is None else told_without_figure(intent, text))


def _cannot_be(error: CircuitError) -> Message:
    return _advised(msg("{reason} Nothing was changed.", reason=error.message), error.advice)


def _of_another(text: str, other: AnotherCircuit) -> Message:
    head = msg(
        "“{text}” asks for {circuit}, which is another circuit than this one.", text=text, circuit=other.one
    )
    if other.lacks is not None:
        return _advised(head, _advised(other.lacks.message, other.lacks.advice))
    told = msg("It can be designed with what was asked here: “{sentence}”.", sentence=other.sentence)
    return _advised(head, told)


def _advised(text: Message, advice: Message | None) -> Message:
    return text if advice is None else msg("{text} {advice}", text=text, advice=advice)


def _said_already(text: str) -> Message:
    return msg(
        "The design is so already: “{text}”. Nothing was changed. If the circuit has missed its goals "
        "since an edit, undo that edit, or give another value.",
        text=text,
    )


def _half_read(unread: Sequence[str]) -> Message:
    return msg(
        "“{text}” was not understood, so nothing was changed. The rest of the message is a change of goals: "
        "send it alone, or put this part in other words.",
        text="; ".join(unread),
    )


def _of_no_design(error: CircuitError, *, is_of_circuit: bool) -> NextMessage:
    """A message that describes no circuit, behind chats only."""
    is_unnamed = error.error_type == "unknown_circuit"
    if is_unnamed and is_of_circuit:
        return NextMessage("begins")
    return NextMessage("unclear", problem=_UNNAMED if is_unnamed else error.message)
