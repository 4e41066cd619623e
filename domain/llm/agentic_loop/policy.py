"""What comes next in a turn: another request to the model, or the end. A pure function of the transcript.

An answer without calls counts as what it says it is. Neither its length nor its last character proves
anything: "Done." and "好的。" are whole answers. Asked for is only what can be shown to be missing: items of
the answer's own task list, a change that it claims and nobody made, a summary the user wanted and did not
get. One that was cut off is gone on with, and its parts join without a seam.

And the phases of a turn, and which may follow which:

    idle -> preparing -> calling -> streaming -> parsing -> executing -> aggregating -> calling ...
                            ^----------------------'|           ^  v
                            '--- goes on by itself  '-> waiting -'

Every phase but the last three may end in `cancelled` or `error`; from these and from `complete` a turn
goes back to `idle` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from domain.llm.agent_limits import AgentLimits
from domain.llm.agentic_loop.claims import Doubts
from domain.llm.agentic_loop.turn import AnswerRecord, TurnRecord, find_loop, stagnation
from domain.llm.chat import ProviderChoice
from domain.llm.context_block import as_data
from domain.llm.costs import Price, shown_amount
from domain.simulation.goals import DesignGoal
from shared.message import Message, msg

NudgeKind = Literal["open_tasks", "doubts", "summary"]


_TASK = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+\[(?P<mark>[ xX✓✔])\][ \t]+(?P<text>\S.*)$", re.MULTILINE)
_CODE = re.compile(
    r"(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)|`[^`\n]{0,200}`|“[^”]{0,200}”|「[^」]{0,200}」"
    r"|\"[^\"\n]{0,200}\"",
    re.DOTALL,
)
_ASKS = re.compile(r"[?？]\s*$")
_ASKS_BACK = re.compile(
    r"\b(?:shall|should|may|can|would|do) (?:i|you|we)\b|let me know|tell me|waiting for|up to you"
    r"|your (?:turn|decision)"
    r"|请(?:告诉|确认|选择|提供|您)|是否|等待|需要(?:您|你)|由(?:您|你)",
    re.IGNORECASE,
)

_WANTS_SUMMARY = re.compile(
    r"\bsummar(?:y|i[sz]e|i[sz]ation)\b|\boverview\b|\brecap\b|\bsum up\b"
    r"|总结|概述|概括|小结|归纳|写了什么|内容是什么",
    re.IGNORECASE,
)
_NO_SUMMARY = re.compile(
    r"\b(?:no|without|skip)\b[^.。,，]{0,20}(?:summar|overview|recap)"
    r"|(?:不要|不用|不需要|无需|别)[^。，,]{0,6}(?:总结|概述|概括|小结)",
    re.IGNORECASE,
)
_MOST_READ = 6_000
"""Characters of an answer that are looked at."""
_SHORTEST_SUMMARY = 50
_WIDE_WEIGHT = 2
"""A Chinese character says about as much as two letters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nudge:
    """What the model is asked for after an answer that claims to be the last."""

    kind: NudgeKind
    note: str
    about: frozenset[str] = frozenset()
    """The same nudge is not given twice about the same."""


def next_nudge(turn: TurnRecord, *, doubts: Doubts | None = None) -> Nudge | None:
    """What is asked for after the newest answer, which has no calls and ended by itself; None for nothing.

    Each kind comes once a turn; that of open tasks again when some were done meanwhile. What was asked
    for before is read from the turn: an answer without calls that others follow. `doubts`: what of the
    newest answer nothing stands behind; it is asked about when nothing was asked before.
    """
    given: list[Nudge] = []
    has_asked = False
    for count in range(1, len(turn.answers) + 1):
        seen = turn.up_to(count)
        answer = seen.answers[-1]
        if answer.calls or answer.is_partial:
            continue
        if count == len(turn.answers) and doubts and not has_asked:
            return Nudge(kind="doubts", note=doubts.note)
        has_asked = True
        nudge = next((one for one in _candidates(seen) if not _was_given(one, given)), None)
        if count == len(turn.answers):
            return nudge
        if nudge is not None:
            given.append(nudge)
    return None


def _candidates(turn: TurnRecord) -> Iterator[Nudge]:
    open_tasks = _open_tasks(turn)
    if open_tasks:
        listed = "; ".join(sorted(open_tasks))[:600]
        yield Nudge(
            kind="open_tasks",
            about=open_tasks,
            note=f"Your task list still has open items: {as_data('task list', listed)}. Go on with them, or "
            "say in one sentence why they stay open.",
        )
    if _lacks_summary(turn):
        yield Nudge(
            kind="summary",
            note="The user wants a summary. Write it now from the results of your tools: what was looked at "
            "or done, and the figures that matter.",
        )


def _was_given(nudge: Nudge, given: list[Nudge]) -> bool:
    # About fewer open tasks than before it is another nudge.
    return any(
        one.kind == nudge.kind and (nudge.kind != "open_tasks" or not nudge.about < one.about)
        for one in given
    )


def _open_tasks(turn: TurnRecord) -> frozenset[str]:
    """Open items of the newest answer's task list, of which others are done: a list being worked through."""
    answer = turn.last
    if answer is None or not turn.calls:
        return frozenset()
    text = _CODE.sub(" ", answer.text[-_MOST_READ:])
    last_line = text.strip().rpartition("\n")[2]
    if _ASKS.search(text.strip()) or _ASKS_BACK.search(last_line):
        return frozenset()  # it waits for the user
    tasks = list(_TASK.finditer(text))
    is_under_way = any(task["mark"].strip() for task in tasks)
    return frozenset(
        task["text"].strip()[:120] for task in tasks if is_under_way and not task["mark"].strip()
    )


def _lacks_summary(turn: TurnRecord) -> bool:
    answer = turn.last
    question = turn.question
    if answer is None or not _WANTS_SUMMARY.search(question) or _NO_SUMMARY.search(question):
        return False
    if not any(call.success for call in turn.calls) or _ASKS.search(answer.text.strip()):
        return False
    # It may have been written before, between the calls, or into a file.
    if any(call.has_changed_something for call in turn.calls):
        return False
    said = max(_weight(one.text) for one in turn.answers)
    return said < _SHORTEST_SUMMARY


def _weight(text: str) -> int:
    return sum(_WIDE_WEIGHT if ord(character) > 0x2E7F else 1 for character in text.strip())


_LEAST_OVERLAP = 12
"""Characters that have to agree before a repetition of the end counts as one ..."""
_LEAST_OVERLAP_WIDE = 6
"""... of which Chinese and its like need fewer."""
_LEAST_LINE = 6
_LEAST_DISTINCT = 5
"""A ruled line or a row of zeros agrees with itself anywhere."""
_LONGEST_OVERLAP = 4_000
_LAST_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{3,}\Z")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)
_OPENING_FENCE = re.compile(r"\A\s*(?:`{3,}|~{3,})[\w-]*[ \t]*\r?\n")
_LONGEST_FENCE = 24

GO_ON = (
    "Your last answer was cut off at its end. Go on exactly where it stopped: the first character of your "
    "answer follows its last one. Repeat nothing, do not greet or explain, open no new code block for one "
    "that is still open. Tool calls that were cut off have not been run: send them again."
)


def is_cut(answer: AnswerRecord) -> bool:
    """Whether an answer ended before its end: at the output limit, or its stream told no end."""
    return not answer.calls and answer.finish_reason in ("length", "cut")


class Seam:
    """Joins a continuation to the text before it, leaving out what it repeats of that text's end.

    Pieces are held back only while they may still be a repetition; `take` and `end` together give what
    has to be appended.
    """

    def __init__(self, before: str) -> None:
        self._whole = before
        self._before = before[-_LONGEST_OVERLAP:]
        self._held = ""
        self._is_open = bool(before)
        self._is_in_block = len(_FENCE.findall(before)) % 2 == 1

    def take(self, piece: str) -> str:
        """What can be shown of the continuation after one more piece."""
        if not self._is_open:
            return piece
        self._held += piece
        return "" if self._may_still_repeat() else self.end()

    def end(self) -> str:
        """What was held back, without what it repeats."""
        held, self._held, self._is_open = self._held, "", False
        return self._without_repetition(held)

    def _may_still_repeat(self) -> bool:
        new = self._held
        if len(new) < _LEAST_OVERLAP or (self._is_in_block and _may_be_fence(new)):
            return True
        if len(new) < len(self._whole) and self._whole.startswith(new):
            return True  # it may have begun all over again
        # Somewhere the end of the text before has all of it, and goes on behind it.
        at = self._before.find(new)
        return 0 <= at < len(self._before) - len(new)

    def _without_repetition(self, new: str) -> str:
        before = self._before
        if self._is_in_block and (fence := _OPENING_FENCE.match(new)):
            new = new[fence.end() :]
        if new.startswith(self._whole) and _is_telling(self._whole):
            return new[len(self._whole) :]
        for length in range(min(len(before), len(new)), _LEAST_OVERLAP_WIDE - 1, -1):
            if new[0] != before[-length] or not before.endswith(new[:length]):
                continue
            if _is_telling(new[:length]):
                return new[length:]
        line = before.rpartition("\n")[2]
        if new.startswith(line) and len(line) >= _LEAST_LINE and len(set(line)) >= _LEAST_DISTINCT:
            return new[len(line) :]  # models like to begin again at the start of the line
        word = _LAST_WORD.search(before)
        if word is not None and new.startswith(word[0]) and word[0].isascii():
            return new[len(word[0]) :]
        return new


def _may_be_fence(new: str) -> bool:
    start = new.lstrip()
    begins_so = start[:3] in ("", "`", "``", "```", "~", "~~", "~~~")
    return begins_so and "\n" not in start and len(new) < _LONGEST_FENCE


def _is_telling(overlap: str) -> bool:
    is_wide = sum(ord(character) > 0x2E7F for character in overlap) * 2 >= len(overlap)
    least = _LEAST_OVERLAP_WIDE if is_wide else _LEAST_OVERLAP
    return len(overlap) >= least and len(set(overlap)) >= _LEAST_DISTINCT


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
    doubts: Doubts | None = None,
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
    turn: TurnRecord, last: AnswerRecord, limits: AgentLimits, seconds: float, doubts: Doubts | None
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
