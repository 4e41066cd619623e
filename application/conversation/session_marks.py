"""What happened in a conversation beside its messages, in lines for exports.

Why a turn failed, was stopped or ended, what is doubtful about its answer, what was permitted, how a
checkpoint was answered. The words of a design, its goals and its figures stand in its messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from application.conversation.goals_shown import GoalsNow
from application.conversation.shown_session import Mark, ShownSession
from application.design.story import Checkpoint
from domain.circuit.figures import with_unit
from domain.llm.tools.confirmation_card import AnswerWord, CardAnswer
from shared.message import Message, msg

_ANSWERS: Mapping[AnswerWord, Message] = {
    "allow": msg("allowed"),
    "always": msg("always allowed"),
    "refuse": msg("refused"),
    "unasked": msg("not asked"),
}
_CHOICES: Mapping[str, Message] = {
    "accept": msg("Accept design"),
    "continue": msg("Optimize further"),
    "optimize": msg("Optimize further"),
    "fix": msg("Fix error"),
    "until": msg("Run until met"),
    "goals": msg("Change goals"),
    "undo": msg("Undo"),
    "stop": msg("Stop"),
    "go_back": msg("went back to an earlier round"),
}


STOPS: Mapping[str, Message] = {
    "user": msg("Stopped by you"),
    "stopped": msg("Stopped by you"),
    "interrupted": msg("Interrupted"),
    "app_shutdown": msg("Interrupted: the program was closed"),
    "session_switch": msg("Stopped: another conversation was opened"),
    "taken_over": msg("Stopped: taken over in another window or command"),
    "timeout": msg("Stopped: it took too long"),
    "limit": msg("A limit of the turn was reached"),
    "loop": msg("Stopped: repeating the same steps"),
    "length": msg("Cut at the model's output limit"),
    "content_filter": msg("Withheld by the provider"),
    "cut": msg("The answer was cut off"),
    "error": msg("Interrupted by an error"),
    "unanswered": msg("No answer received"),
}
"""What an interrupted turn says, by its stop reason."""


def marks_of(session: ShownSession) -> Mapping[str, list[Message]]:
    """The lines by the message behind which they stand."""
    found: dict[str, list[Message]] = {}
    for mark in marks_in(session):
        found.setdefault(mark.after, []).append(mark.text)
    return found


def marks_in(session: ShownSession) -> Iterator[Mark]:
    """All of a conversation; of an imported one those of its file."""
    yield from session.marks
    for kind, after, text in _marks(session):
        yield Mark(after=after, kind=kind, text=text)


def _marks(session: ShownSession) -> Iterator[tuple[str, str, Message]]:
    asked_in = {call.id: message.id for message in session.messages for call in message.tool_calls}
    for shown in session.cards:
        for call in shown.card.calls:
            if call.call_id in asked_in:
                yield (
                    "permission",
                    asked_in[call.call_id],
                    _permission(call.tool, shown.answers.get(call.call_id)),
                )
    for goals in session.goals:
        yield "goals", goals.after, _goals(goals)
    for step in session.design:
        behind = step.message_id or step.after
        if step.checkpoint is not None:
            yield "checkpoint", behind, _decision(step.checkpoint)
        if step.failure is not None:
            yield "failure", behind, msg("Failed: {kind}", kind=step.failure.message)
    ends, turn = dict[str, str](), ""
    for message in session.messages:
        turn = message.id if message.role == "user" else turn
        ends[turn] = message.id
    for turn, failure in session.failures.items():
        yield "failure", ends.get(turn, ""), msg("Failed: {kind}", kind=failure.message)
    for turn, limit in session.limits.items():
        yield "limit", ends.get(turn, ""), limit.note
    for turn, note in session.notes.items():
        yield "note", ends.get(turn, ""), note
    for turn, reason in session.stops.items():
        yield "stop", ends.get(turn, ""), STOPS.get(reason, STOPS["interrupted"])


def _goals(goals: GoalsNow) -> Message:
    if not goals.verdicts:
        return msg("Goals of {circuit}: none", circuit=goals.path)
    if not goals.run:
        return msg("Goals of {circuit}: {goals}; not measured", circuit=goals.path, goals=_names(goals))
    return msg(
        "Goals of {circuit} by run {number}: {met} of {total} {total:goal|goals} met; {goals}",
        circuit=goals.path,
        number=goals.run,
        met=sum(verdict.met for verdict in goals.verdicts),
        total=len(goals.verdicts),
        goals=_names(goals),
    )


def _names(goals: GoalsNow) -> str:
    return ", ".join(
        f"{each.goal.metric} {with_unit(each.measured.value, each.measured.unit)}"
        if goals.run
        else each.goal.metric
        for each in goals.verdicts
    )


def _permission(tool: str, answer: CardAnswer | None) -> Message:
    if answer is None:
        told = msg("not answered; nothing was done")
    elif answer.reason:
        told = msg("{answer}: {reason}", answer=_ANSWERS[answer.word], reason=answer.reason)
    else:
        told = _ANSWERS[answer.word]
    return msg("Permission for {tool}: {answer}", tool=tool, answer=told)


def _decision(checkpoint: Checkpoint) -> Message:
    met, total = sum(verdict.met for verdict in checkpoint.verdicts), len(checkpoint.verdicts)
    stands = msg("{met} of {total} {total:goal|goals} met", met=met, total=total)
    figures = msg("this round failed") if checkpoint.has_failed else stands
    answer = _CHOICES.get(checkpoint.answer, msg("answered by a message"))
    answer = answer if checkpoint.answer else msg("not answered")
    return msg(
        "Checkpoint {number}: {figures}; {answer}", number=checkpoint.number, figures=figures, answer=answer
    )
