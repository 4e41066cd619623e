"""A turn as the rules of the loop see it: its answers, their calls, and what came of them.

Everything is read from messages, so a turn that is taken up after a kill is judged as it was before.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage

from domain.llm.messages import (
    get_continuations,
    get_finish_reason,
    get_seen_versions,
    get_text,
    get_tool_error_type,
    get_tool_result,
    get_tool_success,
    get_tool_summary,
    is_partial_response,
)
from domain.llm.tools.result import EffectClass, ToolGroup

NOT_RUN = frozenset({"stopped", "interrupted", "too_many_calls"})
"""Failures that say nothing about the call itself."""
READ_AGAIN = frozenset({"file_modified_externally", "needs_confirmation"})
"""Failures whose advice is to look and call again: made so, the same call is another one."""
_CHANGING: frozenset[EffectClass] = frozenset({"create", "change", "delete", "outside"})
_VOLATILE = frozenset(
    {
        "created",
        "duration_s",
        "raw_path",
        "result_id",
        "result_path",
        "reused",
        "rows_path",
        "run",
        "simulator",
    }
)
"""What differs between two runs of the same work."""
_BLANKS = re.compile(r"(?:\s|\\[nrtfv]|\\u(?:00a0|200[0-9a-f]|2028|2029|3000|feff))+")
"""White space in JSON of ASCII characters, and what passes for it."""
_ULID = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One tool call and its result."""

    name: str
    signature: str
    """The same for calls of one tool with the same arguments."""
    attempt: str = ""
    """The same also for arguments that differ in white space only."""
    effect: EffectClass = "read"
    groups: frozenset[ToolGroup] = frozenset()
    success: bool | None = None
    """None while it has no result."""
    error_type: str = ""
    outcome: str = ""
    """The same for results that say the same, whenever they were made."""
    reason: str = ""
    """Of a failure: what was told, for a person."""
    written: Mapping[str, str] = field(default_factory=dict)
    """Of a change: path -> version of the file after it."""
    result: Mapping[str, Any] = field(default_factory=dict)
    """The structured result of a simulation; {} of everything else."""

    @property
    def has_failed(self) -> bool:
        """Whether it was tried and did not succeed."""
        return self.success is False and self.error_type not in NOT_RUN

    @property
    def has_changed_something(self) -> bool:
        """Whether files are others since."""
        return self.success is True and self.effect in _CHANGING


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """One accepted answer of the model (with its continuations)."""

    message_id: str = ""
    text: str = ""
    finish_reason: str = "stop"
    is_partial: bool = False
    continuations: int = 0
    """How often it was gone on with."""
    is_stuck: bool = False
    """Going on brought nothing new."""
    calls: tuple[CallRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """A turn so far: the user's words and the model's answers, in order."""

    question: str = ""
    answers: tuple[AnswerRecord, ...] = ()
    rounds: int = 0
    """Answers asked for, each continuation counted."""

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """All calls that have a result, in order."""
        return tuple(call for answer in self.answers for call in answer.calls if call.success is not None)

    @property
    def last(self) -> AnswerRecord | None:
        return self.answers[-1] if self.answers else None

    def up_to(self, count: int) -> TurnRecord:
        """The turn as it was after `count` answers."""
        return replace(self, answers=self.answers[:count], rounds=min(self.rounds, count))


def signature_of(name: str, arguments: Mapping[str, Any]) -> str:
    """The same text for the same tool with the same arguments, whatever their order."""
    return f"{name}:{_digest(_canonical(arguments))}"


def attempt_of(name: str, arguments: Mapping[str, Any]) -> str:
    """The same text also for arguments that differ in white space only."""
    return f"{name}:{_digest(_BLANKS.sub('', _canonical(arguments)))}"


def _canonical(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True, ensure_ascii=True, default=str, separators=(",", ":"))


def read_answer(
    message: AIMessage,
    results: Mapping[str, ToolMessage],
    effect_of: Callable[[str], EffectClass],
    groups_of: Callable[[str], frozenset[ToolGroup]],
    *,
    known: dict[str, CallRecord] | None = None,
) -> AnswerRecord:
    """The record of an answer; `results` by our call ids. `known` remembers calls that are read already."""
    known = {} if known is None else known
    calls: list[CallRecord] = []
    for call in message.tool_calls:
        call_id = str(call["id"])
        if call_id not in known:
            record = CallRecord(
                name=call["name"],
                signature=signature_of(call["name"], call["args"]),
                attempt=attempt_of(call["name"], call["args"]),
                effect=effect_of(call["name"]),
                groups=groups_of(call["name"]),
            )
            result = results.get(call_id)
            if result is None:
                calls.append(record)
                continue
            known[call_id] = _with_result(record, result)
        calls.append(known[call_id])
    count, is_stuck = get_continuations(message)
    return AnswerRecord(
        message_id=str(message.id),
        text=get_text(message),
        finish_reason=get_finish_reason(message) or "stop",
        is_partial=is_partial_response(message),
        continuations=count,
        is_stuck=is_stuck,
        calls=tuple(calls),
    )


def _with_result(record: CallRecord, message: ToolMessage) -> CallRecord:
    success, error_type = get_tool_success(message), get_tool_error_type(message)
    result = get_tool_result(message) or {}
    summary = get_tool_summary(message)
    if success:
        told = _plain(_steady(result)) if result else get_text(message)
    else:  # not its content: that may end with advice of ours, which differs from try to try
        told = _BLANKS.sub("", f"{error_type} {_plain(summary)}")
    return replace(
        record,
        success=success,
        error_type=error_type,
        outcome=_digest(_ULID.sub("#", told)),
        reason=get_text(message).partition("\n")[0] if not success else "",
        written=get_seen_versions(message) if success and record.effect in _CHANGING else {},
        result=result if record.effect == "simulate" else {},
    )


def _steady(value: Any) -> Any:
    if isinstance(value, Mapping):
        # What a run says of its cards leaves out comments and blanks, which change no result.
        volatile = _VOLATILE | {"netlist_sha256"} if value.get("cards_sha256") else _VOLATILE
        return {str(key): _steady(item) for key, item in value.items() if key not in volatile}
    return (
        [_steady(item) for item in value]
        if isinstance(value, Sequence) and not isinstance(value, str)
        else value
    )


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("ascii", "backslashreplace"), digest_size=8).hexdigest()


def state_of(answer: AnswerRecord) -> str:
    """The same for two steps in which the same was done (or said) with the same outcome.

    Failing calls that differ in white space only are the same step, over and over.
    """
    done = sorted({f"{_step(call)}={call.outcome}" for call in answer.calls})
    return " ".join(done) if done else "said:" + _digest(" ".join(answer.text.split()))


def _step(call: CallRecord) -> str:
    return call.attempt if call.has_failed and call.attempt else call.signature


def repetitions(states: Iterable[str], *, longest: int = 4) -> tuple[int, int]:
    """How often the end of a sequence repeats itself: (length of what repeats, times); (1, 1) for once.

    Periods up to `longest` are looked at; the one that repeats most often counts, the shorter first.
    """
    row = tuple(states)
    best = (1, 1)
    for period in range(1, longest + 1):
        block, times = row[len(row) - period :], 1
        while len(row) >= (times + 1) * period and (
            row[len(row) - (times + 1) * period : len(row) - times * period] == block
        ):
            times += 1
        if times > best[1]:
            best = (period, times)
    return best
