"""What a design tells while it runs: its events, its questions, and how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypedDict

from application.design.round_history import can_be_undone, number_shown
from application.ports.events import (
    ChatEvent,
    ConfirmationAsked,
    DesignEvent,
    Done,
    ErrorOccurred,
    GoalsUnderstood,
    IntentRead,
    IterationFinished,
    PhaseEntered,
    SessionOpened,
    StopReason,
    ToolEnded,
    ToolStarted,
)
from application.workflow.design_sessions import (
    Ask,
    DesignRequest,
    Question,
    Reply,
    ResumeRequest,
)
from application.workflow.journal import DesignRun
from domain.llm.chat import ProviderChoice
from domain.llm.turn_failure import failure_of
from domain.simulation.goals import all_met
from shared.errors import Stopped
from shared.message import Message, message_to_plain, msg

if TYPE_CHECKING:
    from pathlib import Path

    from application.graph.state import GraphState
    from domain.design.checkpoint_intent import CheckpointIntent
    from domain.design.likeness import KnownTexts
    from domain.llm.conversation_record import ConversationRecord
    from domain.llm.costs import Cost


Reread = Callable[["GraphState"], "Callable[[CheckpointIntent], Awaitable[CheckpointIntent]] | None"]
"""Of a checkpoint's state: how a model is asked what was meant there (`Question.reread`)."""


class Spent(TypedDict, total=False):
    """The fields of `Done` that say what a run has taken."""

    usage: dict[str, int]
    cost: Cost
    session_cost: Cost
    context_tokens: int


class Spending:
    """What a run that began with a message has taken. Of long conversations only what is new is added up."""

    def __init__(self, record: ConversationRecord, message_id: str) -> None:
        self._record = record
        self._message_id = message_id
        self._begin()

    def _begin(self) -> None:
        from domain.llm.chat import Usage
        from domain.llm.costs import Cost

        self._read, self._newest, self._is_of_run = 0, "", False
        self._usage, self._cost, self._whole = Usage(), Cost(), Cost()
        self._filled = 0

    def __call__(self) -> Spent:
        from langchain_core.messages import AIMessage

        from domain.llm.chat import Usage
        from domain.llm.messages import get_cost, get_usage

        messages = self._record.messages
        if len(messages) < self._read or (self._read and messages[self._read - 1].id != self._newest):
            self._begin()  # some were replaced
        for message in messages[self._read :]:
            self._is_of_run |= message.id == self._message_id
            if isinstance(message, AIMessage):
                cost, usage = get_cost(message), get_usage(message) or Usage()
                self._whole += cost
                if self._is_of_run:
                    self._cost, self._usage = self._cost + cost, self._usage + usage
                    self._filled = usage.prompt_tokens + usage.completion_tokens or self._filled
        self._read, self._newest = len(messages), str(messages[-1].id) if messages else ""
        return Spent(
            usage=self._usage.to_plain(),
            cost=self._cost,
            session_cost=self._whole,
            context_tokens=self._filled,
        )


def told(error: Exception) -> ErrorOccurred:
    """What is said of an error, with the models that could be asked instead; of a bug that it is one."""
    known = failure_of(error, ProviderChoice())
    return ErrorOccurred(
        error_type=known.error_type, message=known.message, advice=known.advice, offers=known.offers
    )


class Progress:
    """Who asked for what, and what is known of the run for its closing event."""

    def __init__(
        self,
        request: DesignRequest | ResumeRequest,
        ask: Ask,
        emit: Callable[[DesignEvent | ChatEvent], None],
    ) -> None:
        self.request = request
        self.ask = ask
        self.project: Path = request.project
        self.state: GraphState = {}
        self._emit = emit
        self._running: dict[str, str] = {}
        """Calls that were shown as started, not as ended."""
        self.spent: Callable[[], Spent] = Spent
        self._session_id = request.session_id if isinstance(request, ResumeRequest) else ""
        self._is_announced = False
        self._phase: PhaseEntered | None = None
        self.has_judged = False
        """A round was judged since the run was begun, or taken up."""

    def emit(self, event: DesignEvent | ChatEvent) -> None:
        """Show an event; a phase that goes on is told once, though a model tells it with each piece."""
        if isinstance(event, PhaseEntered):
            if event == self._phase:
                return
            self._phase = event
        if isinstance(event, ToolStarted):
            self._running[event.call_id] = event.name
        elif isinstance(event, ToolEnded):
            self._running.pop(event.call_id, None)
        elif isinstance(event, IterationFinished):
            self.has_judged = True
        self._emit(event)

    def announce(self, run: DesignRun, *, is_new: bool, problems: tuple[Message, ...] = ()) -> None:
        """Tell the session's id, before anything else."""
        self._is_announced = True
        self.emit(
            SessionOpened(
                session_id=run.session_id, resumed_text="" if is_new else run.text, problems=problems
            )
        )

    def fail(self, error: Exception) -> None:
        """Tell the error and that the run ended with it."""
        self._announce_nothing()
        self.emit(told(error))
        self.close("stopped" if isinstance(error, Stopped) else "error")

    def close(self, stop_reason: StopReason | None) -> Done:
        """Tell that the run ended; None = by what its state says."""
        self._announce_nothing()
        for call_id, name in tuple(self._running.items()):  # a stop came before its end was told
            summary = msg("Interrupted.")
            self.emit(
                ToolEnded(call_id=call_id, name=name, success=False, summary=summary, error_type="stopped")
            )
        done = self.done(stop_reason)
        self.emit(done)
        return done

    def _announce_nothing(self) -> None:
        """The first event names the session, also where none was opened."""
        if not self._is_announced:
            self._is_announced = True
            self.emit(SessionOpened(session_id=self._session_id))

    def done(self, stop_reason: StopReason | None) -> Done:
        from application.design.plain_state import verdict_from_plain

        state = self.state
        verdicts = tuple(verdict_from_plain(plain) for plain in state.get("last_verdicts", ()))
        goals_met = all_met(verdicts)
        is_undone = state.get("termination_reason") == "undo"
        if stop_reason is None:
            if state.get("user_intent") == "decline":
                stop_reason = "declined"
            elif is_undone:
                stop_reason = "undone"
            elif state.get("user_intent") == "answered":
                stop_reason = "answered"
            else:
                stop_reason = "goals_met" if goals_met else "goals_not_met"
        return Done(
            stop_reason=stop_reason,
            project=self.project,
            circuit=None if is_undone else state.get("circuit_file_path") or None,
            goals_met=goals_met,
            verdicts=verdicts,
            metrics={verdict.goal.metric: verdict.measured.value for verdict in verdicts},
            rounds=max(state.get("iteration_count", 0), 0),
            round_number=max(number_shown(state), 0),
            **self.spent(),
        )


def decider(
    ask: Ask,
    emit: Callable[[DesignEvent], None],
    max_iterations: int,
    *,
    recapitulate: Callable[[], bool],
    reread: Reread,
    known: Callable[[], KnownTexts],
    designs_any: bool,
) -> Callable[[dict[str, Any], GraphState], Awaitable[dict[str, Any]]]:
    """Turns the graph's interrupts into typed questions and the answers back.

    `designs_any`: the model designs circuits of no family of ours too.
    Where `recapitulate` says so the first question comes with what it is about, told before the interruption.
    """
    from application.design.plain_state import (
        goal_from_plain,
        goal_to_plain,
        intent_from_plain,
        verdict_from_plain,
    )
    from application.workflow.edges import why_rounds_rest

    is_first = True

    async def decide(value: dict[str, Any], state: GraphState) -> dict[str, Any]:
        nonlocal is_first
        if is_first and recapitulate():
            for event in _told_before(state):
                emit(event)
        is_first = False
        goals = tuple(goal_from_plain(plain) for plain in state["design_goals_summary"])
        if value["kind"] == "goals":
            begun = state.get("circuit_file_path", "") if state.get("planned_simulation") else ""
            can_be_new = designs_any or bool(state["design_intent"]["family"])
            question = Question(kind="goals", goals=goals, circuit=begun, can_be_new=can_be_new)
        else:
            met, number = bool(value["goals_met"]), int(value["round"])
            is_exhausted = state.get("is_exhausted", False)
            rests = why_rounds_rest({**state, "max_iterations": max_iterations})
            if is_exhausted:
                rests = msg("the last attempt changed nothing")
            question = Question(
                kind="checkpoint",
                goals=goals,
                verdicts=tuple(verdict_from_plain(plain) for plain in state["last_verdicts"]),
                has_failed=bool(state.get("error_context")),
                can_undo=can_be_undone(state),
                is_exhausted=is_exhausted,
                round_number=number,
                rounds=state.get("iteration_count", number),
                most_rounds=max_iterations,
                goals_met=met,
                rests=None if met else rests,
                recommended="accept" if met else "continue" if rests is None else "stop",
                reread=reread(state),
                design=None if designs_any else intent_from_plain(state["design_intent"]),
                known=await asyncio.to_thread(known),
            )
        reply = await ask(question)
        answer = reply.answer if isinstance(reply, Reply) else reply
        emit(ConfirmationAsked(kind=question.kind, answer=answer))
        if not isinstance(reply, Reply):
            rest = question.rests if answer == "stop" else None
            return {"intent": answer, "goals": None, "said": [], "rests": rest and message_to_plain(rest)}
        if (meant := reply.meant) is not None:
            emit(
                IntentRead(kind=meant.kind, text=meant.text, round_number=meant.round_number, told=meant.told)
            )
        return {
            "intent": answer,
            "goals": None if reply.goals is None else [goal_to_plain(goal) for goal in reply.goals],
            "said": list(reply.said),
            "instruction": reply.instruction,
            "demand": meant.text if meant is not None and meant.told else "",
            "round": reply.round_number,
            "meant": None if meant is None else meant_to_plain(meant),
            "read": [meant_to_plain(each) for each in reply.read],
            "is_new_circuit": reply.is_new_circuit,
        }

    return decide


def meant_to_plain(meant: CheckpointIntent) -> dict[str, Any]:
    """What words were taken for, for the transcript; goals they change stand in the step's own line."""
    plain = {"kind": meant.kind, "text": meant.text, "round_number": meant.round_number}
    if meant.told:
        plain["told"] = [message_to_plain(each) for each in meant.told]
    return {**plain, "has_waited": True} if meant.has_waited else plain


def _told_before(state: GraphState) -> list[DesignEvent]:
    """The goals, and the figures of the last round."""
    from application.design.plain_state import intent_from_plain, verdict_from_plain

    intent = intent_from_plain(state["design_intent"])
    told: list[DesignEvent] = [GoalsUnderstood(goals=intent.goals, assumptions=intent.assumptions)]
    verdicts = tuple(verdict_from_plain(plain) for plain in state.get("last_verdicts", ()))
    if verdicts:
        metrics = {verdict.goal.metric: verdict.measured.value for verdict in verdicts}
        number = number_shown(state)
        told.append(IterationFinished(number=number, metrics=metrics, verdicts=verdicts))
    return told
