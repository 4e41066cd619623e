"""What comes next in a turn: another request to the model, or the end. A pure function of the transcript.

And the phases of a turn, and which may follow which:

    idle -> preparing -> calling -> streaming -> parsing -> executing -> aggregating -> calling ...
                            ^----------------------'|           ^  v
                            '--- goes on by itself  '-> waiting -'

Every phase but the last three may end in `cancelled` or `error`; from these and from `complete` a turn
goes back to `idle` only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from domain.llm.agent_limits import AgentLimits
from domain.llm.agentic_loop.claims import Doubts
from domain.llm.agentic_loop.completeness import GO_ON, NO_DOUBTS, is_cut, next_nudge
from domain.llm.agentic_loop.guardrails import find_loop, stagnation
from domain.llm.agentic_loop.turn import AnswerRecord, TurnRecord
from domain.llm.chat import ProviderChoice
from domain.llm.costs import Price, shown_amount
from domain.simulation.goals import DesignGoal
from shared.message import Message, msg

EndReason = Literal["completed", "limit", "loop", "cut", "length", "content_filter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Ask the model (again)."""

    note: str = ""
    """A word of the program for this request; "" for none."""
    continues: str = ""
    """Id of the answer that is gone on with; "" for a new one."""
    is_last: bool = False
    """No further one is allowed: it is asked for without tools, so that the turn ends in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The turn is over."""

    reason: EndReason
    why: Message | None = None
    """For the user: which limit, which pattern, and how to go on."""


def next_move(
    turn: TurnRecord,
    limits: AgentLimits,
    *,
    seconds: float = 0.0,
    goals: Sequence[DesignGoal] = (),
    doubts: Doubts = NO_DOUBTS,
) -> Ask | End:
    """What comes next. All calls of the newest answer have their results.

    `seconds` is the model time used, `goals` what the project is judged by, `doubts` what of the
    newest answer nothing stands behind.
    """
    last = turn.last
    if last is None:
        return _within(turn, limits, seconds, [])
    if not last.calls:
        return _after_words(turn, last, limits, seconds, doubts)
    loop = find_loop(turn)
    if loop is not None and loop.is_end:
        return End(reason="loop", why=_stopped_by(loop.reason))
    notes = [stagnation(turn, goals)] + ([] if loop is None else [loop.hint])
    return _within(turn, limits, seconds, notes)


def _after_words(
    turn: TurnRecord, last: AnswerRecord, limits: AgentLimits, seconds: float, doubts: Doubts
) -> Ask | End:
    if last.finish_reason == "content_filter":
        return End(
            reason="content_filter",
            why=msg("The provider withheld the rest of the answer under its content rules."),
        )
    if is_cut(last):
        is_spent = last.continuations >= limits.continuations or last.is_stuck
        if is_spent or isinstance(_within(turn, limits, seconds, []), End):
            return _end_of_cut(last)
        return Ask(note=GO_ON, continues=last.message_id)
    if 1 < limits.rounds <= turn.rounds:
        return _out_of_answers(limits)  # it closed the turn because it had to
    nudge = next_nudge(turn, doubts=doubts)
    if nudge is None or _words_in_a_row(turn) > limits.continuations:
        return End(reason="completed")
    move = _within(turn, limits, seconds, [nudge.note])
    # What the answer lacks is not worth more than the limit: it stands as it is.
    return End(reason="completed") if isinstance(move, End) else move


def _words_in_a_row(turn: TurnRecord) -> int:
    """Answers without calls at the turn's end."""
    count = 0
    for answer in reversed(turn.answers):
        if answer.calls:
            break
        count += 1
    return count


def _end_of_cut(last: AnswerRecord) -> End:
    if last.finish_reason == "length":
        return End(
            reason="length",
            why=msg(
                "The answer was cut at the model's output limit, even after "
                '{count} {count:continuation|continuations}. Say "continue" to get the rest.',
                count=last.continuations,
            )
            if last.continuations
            else msg('The answer was cut at the model\'s output limit. Say "continue" to get the rest.'),
        )
    return End(reason="cut")


def _within(turn: TurnRecord, limits: AgentLimits, seconds: float, notes: list[str]) -> Ask | End:
    if turn.rounds >= limits.rounds:
        return _out_of_answers(limits)
    if seconds >= limits.model_seconds:
        return End(reason="limit", why=out_of_time(limits))
    number = turn.rounds + 1
    if limits.rounds > 1 and number == limits.rounds:
        notes = [
            *notes,
            "This is the last answer of this turn and no tool is run any more. Say in a few sentences what "
            "is done, with the figures that were measured, and what is left.",
        ]
        return Ask(note="\n".join(note for note in notes if note), is_last=True)
    if number >= limits.warn_round:
        notes = [
            *notes,
            f"This is answer {number} of at most {limits.rounds} in this turn. Finish what matters most, "
            "then close with a short statement of what is done and what is left.",
        ]
    return Ask(note="\n".join(note for note in notes if note))


def _out_of_answers(limits: AgentLimits) -> End:
    return End(
        reason="limit",
        why=msg(
            "The turn reached its limit of {count} {count:answer|answers}. What is done was "
            'kept; say "continue" to keep going.',
            count=limits.rounds,
        ),
    )


def out_of_time(limits: AgentLimits) -> Message:
    """What is said when the model's time is used up."""
    return msg(
        "The turn reached its limit of {seconds} s of model time. What is done was kept; say "
        '"continue" to keep going.',
        seconds=f"{limits.model_seconds:g}",
    )


def out_of_tokens(spent: int, limits: AgentLimits) -> Message:
    """What is said when a conversation has used the tokens the user allows it."""
    return msg(
        "This conversation has used {spent} tokens; its limit is {most}. Start a new one, or raise "
        "agent.session_tokens in the settings.",
        spent=spent,
        most=limits.session_tokens,
    )


def out_of_money(spent: float, limits: AgentLimits) -> Message:
    """What is said when a conversation has cost what the user allows it."""
    return msg(
        "This conversation has cost {spent}; its limit is {most}. Start a new one, or raise the limit "
        "(--max-cost, or agent.session_cost in the settings).",
        spent=shown_amount(spent, limits.currency),
        most=shown_amount(limits.session_cost, limits.currency),
    )


def without_price(choice: ProviderChoice, price: Price | None, limits: AgentLimits) -> Message:
    """What is said when a limit in money can't be kept: a price that is not known is not guessed."""
    names = {
        "model": choice.model or choice.provider,
        "provider": choice.provider,
        "most": shown_amount(limits.session_cost, limits.currency),
    }
    if price is None:
        return msg(
            "The price of {model} at {provider} is unknown, so the limit of {most} cannot be enforced; "
            'no request was sent. Add its price to "prices" in the settings, limit tokens '
            "(agent.session_tokens), or remove the limit.",
            **names,
        )
    return msg(
        "{model} at {provider} is priced in {currency}, so the limit of {most} cannot be enforced; no "
        "request was sent. Give the limit in {currency}.",
        currency=price.currency,
        **names,
    )


def uncounted(choice: ProviderChoice, limits: AgentLimits) -> Message:
    """What is said when a provider does not tell the tokens that a limit in money is kept by."""
    return msg(
        "{provider} did not report how many tokens its answer took, so the limit of {most} cannot be "
        "enforced. Remove the limit, or choose another provider.",
        provider=choice.provider,
        most=shown_amount(limits.session_cost, limits.currency),
    )


def _stopped_by(reason: Message) -> Message:
    return msg(
        "The turn was stopped because it was repeating itself: {reason} What is done was kept; say "
        "what to do differently.",
        reason=reason,
    )


CUT_OFF = msg("The answer was cut off: the provider's stream ended before the answer did.")

Phase = Literal[
    "idle",
    "preparing",
    "calling",
    "streaming",
    "parsing",
    "executing",
    "waiting",
    "aggregating",
    "complete",
    "cancelled",
    "error",
]
PHASES: tuple[Phase, ...] = get_args(Phase)
ENDS: tuple[Phase, ...] = ("complete", "cancelled", "error")

_NEXT: dict[Phase, tuple[Phase, ...]] = {
    "idle": ("preparing",),
    # What was taken up may begin with calls that are open, with a question, or be over already.
    "preparing": ("calling", "executing", "waiting", "complete"),
    "calling": ("streaming", "parsing", "complete"),
    "streaming": ("parsing", "complete"),
    "parsing": ("executing", "waiting", "calling", "complete"),
    "executing": ("executing", "waiting", "aggregating"),
    "waiting": ("executing", "aggregating", "calling"),
    "aggregating": ("executing", "waiting", "calling", "complete"),
    "complete": (),
    "cancelled": (),
    "error": (),
}


class IllegalTransitionError(Exception):
    """A phase cannot follow another; whoever asked for it has lost count."""

    def __init__(self, old: Phase, new: Phase) -> None:
        super().__init__(f"the phase {new} cannot follow {old}")
        self.old = old
        self.new = new


class PhaseMachine:
    """The phase of one turn."""

    def __init__(self) -> None:
        self._phase: Phase = "idle"

    @property
    def phase(self) -> Phase:
        """Where the turn is."""
        return self._phase

    def may_enter(self, phase: Phase) -> bool:
        """Whether `phase` may come next."""
        if self._phase in ENDS:
            return phase == "idle"
        return phase in _NEXT[self._phase] or (phase in ("cancelled", "error") and self._phase != "idle")

    def enter(self, phase: Phase) -> None:
        """Go on to `phase`. Raises IllegalTransitionError, and stays where it is."""
        if not self.may_enter(phase):
            raise IllegalTransitionError(self._phase, phase)
        self._phase = phase
