"""The transcript of a design: what was asked, said, decided and done, a line for each step.

A step's line is written before its checkpoint and carries, beside the message, what the step changed
in the graph's state. So a step that runs again after a kill finds its line and has nothing left to do,
and a run can be followed to its last finished step even when the checkpoints are lost. The lines are
those of any conversation (`application.conversation`), which ignores what is added here:

    {"event": "turn", "state": "started", ..., "design": {"text", "max_iterations"}}
    {"event": "message", ..., "step": "<turn>/<n>", "update": {...}}
    {"event": "decision", "kind", "answer", "meant", "read", "step": "<turn>/<n>", "update": {...}}
    {"event": "step", "step": "<turn>/<n>", "update": {...}}      a step without words
    {"event": "paused", "turn_id", "reason", "failure"}      stopped, failed for now, or waiting for somebody;
                                                  the turn stays open
    {"event": "set_aside", "turn_id"}             the user began another design instead

Between the lines of a design that waits turns of chats may stand: they leave it open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, cast

from application.design.round_history import judged_rounds, timeline
from domain.llm.provider_settings import BUILTIN
from domain.llm.transcript import design_left_open
from domain.llm.turn_failure import TurnFailure, failure_to_plain
from shared.errors import UserInputError
from shared.message import Message, message_to_plain, msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.agent.conversation import Conversation
    from application.graph.state import GraphState, JudgedRound
    from application.ports.events import DesignEvent
    from domain.llm.chat import Usage
    from domain.llm.costs import Cost

Narrate = Callable[["DesignEvent"], str]
"""Puts an event into the words the user reads; "" for what is not told in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignRun:
    """A run that was begun, as its transcript tells it."""

    session_id: str
    turn_id: str
    text: str
    """The sentence."""
    max_iterations: int
    refines: Mapping[str, Any] | None = None
    """What is known of the finished design it goes on from, and its goals now (`refining.refinement`)."""
    circuit: str = ""
    """The circuit it begins from, relative to the project; "" for a new one."""
    is_set_aside: bool = False
    """The user began another design instead; it can still be gone on with by name."""


def open_run(session_id: str, events: Sequence[Mapping[str, Any]]) -> DesignRun | None:
    """The newest design of a conversation, if it was not brought to its end; chats may stand behind it."""
    found: DesignRun | None = None
    design = ""
    for event in events:
        design = design_left_open(design, event)
        match event.get("event"):
            case "turn" if event.get("turn_id") == design:
                found = _run_of(session_id, event)
            case "set_aside" if found is not None and event.get("turn_id") == found.turn_id:
                found = replace(found, is_set_aside=True)
            case _ if not design:
                found = None
    return found


def _run_of(session_id: str, event: Mapping[str, Any]) -> DesignRun | None:
    design, turn_id = event.get("design"), event.get("turn_id")
    if not isinstance(design, Mapping) or not isinstance(turn_id, str):
        return None
    text, rounds = design.get("text"), design.get("max_iterations")
    if not isinstance(text, str) or not isinstance(rounds, int) or rounds < 1:
        return None
    refines = design.get("refines")
    return DesignRun(
        session_id=session_id,
        turn_id=turn_id,
        text=text,
        max_iterations=rounds,
        refines=refines if isinstance(refines, Mapping) else None,
        circuit=circuit if isinstance(circuit := design.get("circuit"), str) else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A tool call the designer makes, under our own id."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A step that told something, and perhaps planned calls: an assistant's message."""

    calls: tuple[PlannedCall, ...] = ()
    usage: Usage | None = None
    """Of a model that was asked for it."""
    cost: Cost | None = None
    provider: str = BUILTIN
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """A step that carried a call out: its result."""

    call_id: str
    name: str
    success: bool
    summary: Message
    content: str
    """What a model would read, plain English."""
    error_type: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A step in which the user (or a rule in his place) decided."""

    kind: Literal["goals", "checkpoint"]
    answer: str
    said: tuple[str, ...] = ()
    """In which words, where it was not a button alone."""
    meant: Mapping[str, Any] = field(default_factory=dict)
    """What the words were taken for, where that was done (`progress.meant_to_plain`)."""
    read: tuple[Mapping[str, Any], ...] = ()
    """How each text was read, likewise."""


StepRecord = Said | Carried | Decided


class DesignJournal:
    """The open transcript of one run. Made by `begin` or `take_up`."""

    def __init__(self, conversation: Conversation, run: DesignRun, narrate: Narrate) -> None:
        self._conversation = conversation
        self.run = run
        self._narrate = narrate
        self._updates: dict[str, GraphState] = {}
        self._judging: dict[str, GraphState] = {}
        """Those of them that tell of a round."""
        self._open_calls: dict[str, str] = {}
        self._calls: set[str] = set()
        self._calls_read = 0
        """Of how many events `_calls` has the ids."""
        self._lines = 0
        """The number of the last step that has its line."""

    @classmethod
    async def begin(cls, conversation: Conversation, run: DesignRun, narrate: Narrate) -> DesignJournal:
        """The journal of a run that begins now: the user's sentence, and the turn it opens."""
        from domain.llm.messages import create_human_message, message_to_dict

        journal = cls(conversation, run, narrate)
        asked = create_human_message(run.text, message_id=run.turn_id)
        await journal._append(
            {"event": "message", "message": message_to_dict(asked), "step": run.turn_id},
            {
                "event": "turn",
                "turn_id": run.turn_id,
                "state": "started",
                "design": {
                    "text": run.text,
                    "max_iterations": run.max_iterations,
                    **({} if run.refines is None else {"refines": dict(run.refines)}),
                    **({"circuit": run.circuit} if run.circuit else {}),
                },
            },
        )
        return journal

    @classmethod
    async def take_up(cls, conversation: Conversation, run: DesignRun, narrate: Narrate) -> DesignJournal:
        """The journal of a run that was interrupted."""
        journal = cls(conversation, run, narrate)
        await asyncio.to_thread(journal._read, conversation.events)
        return journal

    @property
    def session_id(self) -> str:
        """Id of the session, also the thread id of its checkpoints."""
        return self.run.session_id

    @property
    def open_calls(self) -> Mapping[str, str]:
        """Planned calls without a result: their ids and tools, in order."""
        return self._open_calls

    def timeline(self) -> list[JudgedRound]:
        """The judged rounds that stand and what was gone back to, in order: what is undone from its end."""
        return timeline(self._judging.values())

    def rounds(self) -> list[JudgedRound]:
        """The rounds that were judged and not taken back, oldest first."""
        return judged_rounds(self.timeline())

    def has_call(self, call_id: str) -> bool:
        """Whether the transcript knows a call, be it of a chat."""
        events = self._conversation.events
        for event in islice(events, self._calls_read, None):
            self._calls |= {str(call["id"]) for call in (event.get("message") or {}).get("tool_calls") or ()}
        self._calls_read = len(events)
        return call_id in self._calls

    def said(self) -> list[str]:
        """What the user said in this conversation, oldest first."""
        return self._conversation.record.said()

    def said_before(self) -> list[str]:
        """What he had said when he asked for this design."""
        return self._conversation.record.said(before=self.run.turn_id)

    def step_id(self, number: int) -> str:
        """The id of a step of this run, counted from 1."""
        return f"{self.run.turn_id}/{number}"

    def update_of(self, step: str) -> GraphState | None:
        """What a step changed in the state, if it was finished before."""
        update = self._updates.get(step)
        return None if update is None else deepcopy(update)

    def require_steps_after(self, number: int) -> None:
        """Raises UserInputError when a later step has its line, but not each one from `number` to it.

        The run can then not be followed: what it did next can't be told from what it did later.
        """
        later = range(number + 1, self._lines + 1)
        if not all(self.step_id(step) in self._updates for step in later):
            raise UserInputError(
                msg("The saved steps of this design are lost, and its transcript is damaged."),
                advice=msg("Start over; the circuits in the project are not affected."),
                error_type="session_damaged",
            )

    async def write(
        self, step: str, record: StepRecord, update: GraphState, told: Sequence[DesignEvent]
    ) -> None:
        """Write the line of a finished step."""
        event = {**self._event(record, told), "step": step, "update": update}
        await self._append(event)
        self._take(event)

    async def pause(self, reason: str, failure: TurnFailure | None = None) -> None:
        """Write why the run does not go on for now; `failure` is what was told of an error."""
        line = {"event": "paused", "turn_id": self.run.turn_id, "reason": reason}
        await self._append(line if failure is None else {**line, "failure": failure_to_plain(failure)})

    async def settle(self, result: Carried) -> None:
        """Write the result of a call that no step brings to its end any more."""
        event = {**self._event(result, ()), "step": result.call_id}
        await self._append(event)
        self._open_calls.pop(result.call_id, None)

    async def end(self, stop_reason: str, *closing: DesignEvent, failure: TurnFailure | None = None) -> None:
        """Write the closing words and that the run is over, and why it failed, if it did."""
        step = f"{self.run.turn_id}/end"
        if step not in self._updates:
            line = {**self._event(Said(), closing), "step": step, "update": {}}
            await self._append(line)
        over = {"event": "turn", "turn_id": self.run.turn_id, "state": "ended", "stop_reason": stop_reason}
        await self._append(over if failure is None else {**over, "failure": failure_to_plain(failure)})

    def _event(self, record: StepRecord, told: Sequence[DesignEvent]) -> dict[str, Any]:
        from domain.llm.messages import (
            create_ai_message,
            create_human_message,
            create_tool_message,
            message_to_dict,
        )

        match record:
            case Said():
                words = [text for event in told if (text := self._narrate(event))]
                calls = [
                    {"id": call.call_id, "name": call.name, "args": dict(call.arguments)}
                    for call in record.calls
                ]
                if not words and not calls:
                    return {"event": "step"}
                said = create_ai_message(
                    "\n".join(words),
                    tool_calls=calls,
                    provider=record.provider,
                    model=record.model,
                    usage=record.usage,
                    cost=record.cost,
                )
                return {"event": "message", "message": message_to_dict(said)}
            case Carried():
                done = create_tool_message(
                    record.content,
                    call_id=record.call_id,
                    name=record.name,
                    success=record.success,
                    error_type=record.error_type,
                    summary=message_to_plain(record.summary),
                    result=record.result,
                )
                return {"event": "message", "message": message_to_dict(done)}
            case Decided():
                decided: dict[str, Any] = {"event": "decision", "kind": record.kind, "answer": record.answer}
                decided |= {"meant": dict(record.meant)} if record.meant else {}
                decided |= {"read": [dict(each) for each in record.read]} if record.read else {}
                if not record.said:
                    return decided
                spoken = create_human_message("\n".join(record.said), message_id=new_ulid())
                return {**decided, "event": "message", "message": message_to_dict(spoken)}

    async def _append(self, *events: Mapping[str, Any]) -> None:
        await self._conversation.write(*events)

    def _read(self, events: Sequence[Mapping[str, Any]]) -> None:
        for event in events:
            if str(event.get("step", "")).startswith(f"{self.run.turn_id}/"):
                self._take(event)
            else:  # what a run that was given up had settled before it was killed
                message = event.get("message") or {}
                self._open_calls.pop(str(message.get("tool_call_id", "")), None)

    def _take(self, event: Mapping[str, Any]) -> None:
        """Remember a step's line, read or written."""
        update = cast("GraphState", event.get("update") or {})
        self._updates[str(event["step"])] = update
        if "last_round" in update:
            self._judging[str(event["step"])] = update
        number = str(event["step"]).rpartition("/")[2]
        if number.isdecimal():
            self._lines = max(self._lines, int(number))
        message = event.get("message") or {}
        for call in message.get("tool_calls") or ():
            self._open_calls[str(call["id"])] = str(call["name"])
        self._open_calls.pop(str(message.get("tool_call_id", "")), None)
