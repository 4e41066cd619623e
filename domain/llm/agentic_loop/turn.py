"""A turn as the rules of the loop see it: its answers, their calls, and what came of them.

Everything is read from messages, so a turn that is taken up after a kill is judged as it was before.

Guardrails are the patterns of a turn that goes round in circles, and what is said or done about them,
those the field's agents watch for: the same step again (an action with its outcome, an answer), steps
that alternate (periods up to four), the same failing call, a file that goes back and forth between
states, the same netlist with the same result, simulations that bring no progress. Each begins anew with a
message of the user and with other arguments; those about failing calls also when a file was changed. They
end a turn only by what was really repeated: never by length, words or punctuation.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from langchain_core.messages import AIMessage, ToolMessage

from domain.circuit.figures import digits_apart
from domain.llm.context_block import as_data
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
from domain.simulation.goals import DesignGoal
from shared.message import Message, msg

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


ADVICE_AT = 2
"""A call that fails for this time gets advice with its result."""
REFUSED_AT = 3
"""From this time on it is not run."""
HINT_AT = 3
END_AT = 5
SAME_RESULT_HINT_AT = 2
"""The same netlist simulated to the same result."""
STALLED_AT = 3
"""Simulations without progress."""
_LEAST_GAIN = 0.01
"""Of the distance to the goals, by which a simulation has to be better to be progress."""

Pattern = Literal["same_step", "cycle", "same_failure", "file_states", "same_simulation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A pattern that was found at the end of a turn."""

    pattern: Pattern
    count: int
    hint: str
    """What the model is told."""
    reason: Message
    """What the user is told when the turn ends by it."""

    @property
    def is_end(self) -> bool:
        """Whether the turn ends here; else the model gets the hint."""
        return self.count >= END_AT


# --- the same failing call ---------------------------------------------------------------------------


def failures_of(turn: TurnRecord, signature: str) -> int:
    """How often this very call has failed (or was refused) since it succeeded or a file was changed."""
    count = 0
    for call in turn.calls:
        if call.has_changed_something:
            count = 0
        if call.signature == signature and call.success is not None:
            is_counted = call.has_failed and call.error_type not in READ_AGAIN
            count = count + 1 if is_counted else 0 if call.success else count
    return count


def is_refused(turn: TurnRecord, signature: str) -> bool:
    """Whether a call is not run because it failed before, the same each time."""
    return failures_of(turn, signature) >= REFUSED_AT - 1


def advice_after_failure(count: int) -> str:
    """What the model is told with the result of the call that failed for the `count`-th time; "" for once."""
    if count < ADVICE_AT:
        return ""
    return (
        f"This same call has now failed {count} times. It will not be run again like this: change its "
        "arguments, look at the file or the circuit first, or tell the user what stands in the way."
    )


# --- loops -------------------------------------------------------------------------------------------


def find_loop(turn: TurnRecord) -> Loop | None:
    """The pattern that has repeated most often at the turn's end, if any is worth a hint or an end."""
    found = [loop for loop in _loops(turn) if loop is not None]
    return max(found, key=lambda loop: loop.count, default=None)


def _loops(turn: TurnRecord) -> Iterator[Loop | None]:
    yield _repeated_steps(turn)
    yield _same_failure(turn)
    yield _file_states(turn)
    yield _same_simulation(turn)


def _repeated_steps(turn: TurnRecord) -> Loop | None:
    period, count = repetitions(state_of(answer) for answer in turn.answers)
    if count < HINT_AT:
        return None
    names = ", ".join(dict.fromkeys(call.name for answer in turn.answers[-period:] for call in answer.calls))
    if period == 1:
        what = f"The last {count} steps were the same ({names or 'the same answer'}), with the same outcome."
        reason = msg("The same step was made {count} times with the same outcome.", count=count)
    else:
        what = f"The last {count * period} steps repeat {period} steps {count} times ({names})."
        reason = msg(
            "The same {period} steps were repeated {count} times with the same outcome.",
            period=period,
            count=count,
        )
    return Loop(
        pattern="same_step" if period == 1 else "cycle",
        count=count,
        hint=f"{what} Repeating them brings nothing new: use what you have, try another way, or close with "
        "what is done and what is missing.",
        reason=reason,
    )


def _same_failure(turn: TurnRecord) -> Loop | None:
    last = turn.last
    if last is None:
        return None
    worst = max(last.calls, key=lambda call: failures_of(turn, call.signature), default=None)
    count = 0 if worst is None or not worst.has_failed else failures_of(turn, worst.signature)
    if worst is None or count < END_AT:  # before that its results say it
        return None
    return Loop(
        pattern="same_failure",
        count=count,
        hint="",
        reason=msg("The same call of {tool} failed {count} times.", tool=worst.name, count=count),
    )


def _file_states(turn: TurnRecord) -> Loop | None:
    last = turn.last
    if last is None:
        return None
    for path in dict.fromkeys(path for call in last.calls for path in call.written):
        states = [call.written[path] for call in turn.calls if path in call.written]
        period, count = repetitions(states)
        if count >= HINT_AT:
            return Loop(
                pattern="file_states",
                count=count,
                hint=f"{as_data('file', path)} goes round through the same {period} state(s), {count} times "
                "now. Say which one is right and why, or ask the user.",
                reason=msg(
                    "{path} went through the same states {count} times.",
                    path=path,
                    count=count,
                ),
            )
    return None


def _same_simulation(turn: TurnRecord) -> Loop | None:
    runs = simulations(turn.calls)
    if not runs or turn.last is None or not any(call is runs[-1] for call in turn.last.calls):
        return None
    netlist = _netlist_of(runs[-1])
    same = [run for run in runs if run.signature == runs[-1].signature]
    count = 0
    for run in reversed(same):
        if not netlist or _netlist_of(run) != netlist or run.outcome != runs[-1].outcome:
            break
        count += 1
    if count < SAME_RESULT_HINT_AT:
        return None
    return Loop(
        pattern="same_simulation",
        count=count,
        hint=f"This netlist was simulated {count} times with the same result; a further run will give it "
        "again. Change the circuit or the analysis, or go on with the figures you have.",
        reason=msg("The same netlist was simulated {count} times with the same result.", count=count),
    )


# --- simulations without progress --------------------------------------------------------------------


def stagnation(turn: TurnRecord, goals: Sequence[DesignGoal] = ()) -> str:
    """What the model is told, with figures, after simulations that brought no progress; else "".

    With goals whose metrics the runs have, progress is a distance to them that shrinks by 1 %; without,
    any other figure. Looked at right after a simulation only.
    """
    runs = simulations(turn.calls)
    if not runs or turn.last is None or not any(call is runs[-1] for call in turn.last.calls):
        return ""
    path = runs[-1].result.get("file_path")
    runs = [run for run in runs if run.result.get("file_path") == path]
    measured = [_metrics(run) for run in runs]
    names = {name for metrics in measured for name in metrics}
    judged = [goal for goal in goals if goal.metric.lower() in names]
    count = _stalled_by_goals(measured, judged) if judged else _stalled_by_figures(runs, measured)
    if count < STALLED_AT:
        return ""
    lines = [
        f"The last {count} simulations of {as_data('circuit', str(path))} brought no progress"
        f"{' towards the goals' if judged else ': every figure is the same'}."
    ]
    bounds = {goal.metric.lower(): goal for goal in judged}
    for name in sorted(bounds or names)[:8]:
        values = [metrics.get(name) for metrics in measured[-count:]]
        digits = _digits_beside(bounds.get(name), values)
        figures = ", ".join(_figure(value, digits) for value in values)
        lines.append(f"- {as_data('goal', name)}: {figures}{_demand(bounds.get(name), digits)}")
    if all(not run.success for run in runs[-count:]):
        lines.append(f"- each of them failed; the last one: {as_data('reason', runs[-1].reason[:300])}")
    lines.append("Change something else than before, or tell the user what stands in the way.")
    return "\n".join(lines)


def simulations(calls: Iterable[CallRecord]) -> list[CallRecord]:
    """The calls that simulated a circuit once, in their order."""
    return [call for call in calls if "single_run" in call.groups and "ok" in call.result]


def _netlist_of(run: CallRecord) -> str:
    """The same for what differs in comments and white space only, where the run says so."""
    return str(run.result.get("cards_sha256") or run.result.get("netlist_sha256") or "")


def _metrics(run: CallRecord) -> dict[str, float]:
    metrics = run.result.get("metrics")
    found: dict[str, float] = {}
    for name, item in metrics.items() if isinstance(metrics, dict) else ():
        value: Any = item.get("value") if isinstance(item, dict) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[str(name).lower()] = float(value)
    return found


def _stalled_by_goals(measured: Sequence[dict[str, float]], goals: Sequence[DesignGoal]) -> int:
    """Runs at the end of which none is better than the first of them or those before."""
    best, count = math.inf, 0
    for metrics in measured:
        distance = sum(goal.shortfall(metrics.get(goal.metric.lower(), math.nan)) for goal in goals)
        if distance <= 0 or distance < best * (1 - _LEAST_GAIN):
            best, count = distance, 1 if distance > 0 else 0
        else:
            count += 1
    return count


def _stalled_by_figures(runs: Sequence[CallRecord], measured: Sequence[dict[str, float]]) -> int:
    """Runs at the end that gave the same figures as the last one (failed runs: any that failed too)."""
    count = 0
    for run, metrics in zip(reversed(runs), reversed(measured), strict=True):
        if bool(run.success) != bool(runs[-1].success) or (run.success and metrics != measured[-1]):
            break
        count += 1
    # Two runs without a figure of their own say nothing about progress.
    return count if measured[-1] or not runs[-1].success else 0


def _digits_beside(goal: DesignGoal | None, values: Sequence[float | None]) -> int:
    bounds = () if goal is None else (goal.minimum, goal.maximum)
    known = (value for value in values if value is not None)
    return max((digits_apart(value, bounds, _figure, 5) for value in known), default=5)


def _figure(value: float | None, digits: int) -> str:
    return "no value" if value is None else f"{value:.{digits}g}"


def _demand(goal: DesignGoal | None, digits: int) -> str:
    if goal is None:
        return ""
    wanted = [
        f"{sign} {_figure(bound, digits)}"
        for sign, bound in ((">=", goal.minimum), ("<=", goal.maximum))
        if bound is not None
    ]
    return f" (goal {' and '.join(wanted)} {goal.unit})".replace(" )", ")") if wanted else ""
