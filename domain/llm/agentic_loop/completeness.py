"""Whether an answer without calls ends the turn, or the model is asked once more - and when it is left alone.

An answer counts as what it says it is. Neither its length nor its last character proves anything: "Done."
and "好的。" are whole answers. Asked for is only what can be shown to be missing: items of the answer's own
task list, a change that it claims and nobody made, a summary the user wanted and did not get. One that was
cut off is gone on with, and its parts join without a seam.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from domain.llm.agentic_loop.claims import Doubts
from domain.llm.agentic_loop.turn import AnswerRecord, TurnRecord
from domain.llm.system_prompt import as_data

NudgeKind = Literal["open_tasks", "doubts", "summary"]

NO_DOUBTS = Doubts()

_TASK = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+\[(?P<mark>[ xX✓✔])\][ \t]+(?P<text>\S.*)$", re.MULTILINE)
_CODE = re.compile(
    r"(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)|`[^`\n]{0,200}`|“[^”]{0,200}”|「[^」]{0,200}」|\"[^\"\n]{0,200}\"",
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


def next_nudge(turn: TurnRecord, *, doubts: Doubts = NO_DOUBTS) -> Nudge | None:
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
