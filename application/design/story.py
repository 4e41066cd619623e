"""What a stored design told beside its words: goals, verdicts, decisions, its end.

The words of a step are kept as one text, which is what a person reads who opens the transcript. The
figures stand in what the step changed; from them the window shows the rows it showed while it ran.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from application.design.round_history import begun_with, can_be_undone, number_shown
from domain.circuit.figures import with_unit
from domain.design.checkpoint_intent import CheckpointIntent, IntentKind
from domain.design.round_table import asked
from domain.llm.transcript import design_left_open
from domain.llm.turn_failure import TurnFailure, failure_from_plain
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from shared.message import Message, stored_message

_OF_A_BLOCK = "  "
"""What the lines of goals and verdicts begin with, under their head."""
_OF_A_CALL = ("✓ ", "✗ ")
_ROUNDS_TOLD = 12
_BRIEFED = ("design_goals_summary", "circuit_file_path")
_HUGE = 1e300
_ASKED_AFTER = ("action", "undo_round", "go_back", "conclude")
"""Steps behind which the checkpoint asks, where they plan nothing."""
_PLANS = ("planned_change", "planned_simulation", "planned_restoring")
_ENDS = ("goals_met", "goals_not_met", "declined", "undone", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A checkpoint, and how it was answered."""

    number: int
    """Of the round, from 1."""
    verdicts: tuple[GoalVerdict, ...]
    has_failed: bool
    can_undo: bool
    is_exhausted: bool
    answer: str
    """As the button is called; "" when nobody answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a design ended; "error" has its reason in the words."""

    stop_reason: str
    circuit: str
    """Relative to the project; "" when there is none."""
    rounds: int
    round_number: int
    """Of the round whose circuit was left."""
    verdicts: tuple[GoalVerdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryStep:
    """One step of a design, as far as it is more than words and calls."""

    key: str
    message_id: str
    """Of its words; "" for a step without any."""
    after: str
    """The message before it; "" for none."""
    words: str = ""
    """What was said beside the figures."""
    goals: tuple[DesignGoal, ...] = ()
    assumptions: tuple[Message, ...] = ()
    verdicts: tuple[GoalVerdict, ...] = ()
    round_number: int = 0
    checkpoint: Checkpoint | None = None
    meant: CheckpointIntent | None = None
    """What typed words were taken for; `goals` of it are those that they changed."""
    is_done: bool = True
    """Whether that was done; something else was chosen otherwise."""
    said_in: str = ""
    """The message of which `meant.text` is a part that stands here; "" for a message that stands whole."""
    left: str = ""
    """Why the design rests here, and not at a question: "stopped", the kind of an error, "interrupted"."""
    failure: TurnFailure | None = None
    """The error that it was left with, or ended with; of one behind which it went on `left` is ""."""
    ended: Ended | None = None


def story_of(events: Sequence[Mapping[str, Any]]) -> tuple[StoryStep, ...]:
    """The steps of all designs of a transcript, in order; none in a conversation without any."""
    teller = _Teller()
    return tuple(step for event in events for step in teller.take(event)) + tuple(teller.left_open())


def state_in_brief(events: Sequence[Mapping[str, Any]]) -> str:
    """The newest design of a conversation for a model: circuit, goals, figures of its rounds; "" for none."""
    state: dict[str, Any] = {}
    rounds: dict[int, object] = {}
    design = ""
    for event in events:
        if event.get("event") in ("turn", "adopted"):
            before, design = design, design_left_open(design, event)
            if design and design != before:
                state, rounds = begun_with(event), {}
        update = event.get("update")
        if not isinstance(update, dict):
            continue
        for name in _BRIEFED:  # a long design has a thousand lines, and each request reads them all
            if name in update:
                state[name] = update[name]
        if "last_verdicts" in update and "iteration_count" in update:
            number = whole(update["iteration_count"])
            is_judged = update.get("current_node") != "undo_round"
            while rounds and next(reversed(rounds)) >= number + (not is_judged):
                rounds.popitem()
            if is_judged:
                rounds[number] = update["last_verdicts"]
    goals = goals_from_plain(state.get("design_goals_summary"))
    if not goals:
        return ""
    circuit = state.get("circuit_file_path") or "no circuit yet"
    lines = [f"Design of this conversation, which {'waits' if design else 'has ended'}: {circuit}"]
    lines += [
        f"- goal {goal.metric} = {goal.expression}: {asked(goal, 6)}"
        + (f" ({goal.condition})" if goal.condition else "")
        for goal in goals
    ]
    for number, plain in list(rounds.items())[-_ROUNDS_TOLD:]:
        if verdicts := verdicts_from_plain(plain):
            lines.append(f"- round {number}: {', '.join(map(_figure, verdicts))}")
    return "\n".join(lines)


def _figure(verdict: GoalVerdict) -> str:
    value, unit = verdict.measured.value, verdict.measured.unit
    measured = "not measured" if math.isnan(value) else with_unit(value, unit, 6)
    return f"{verdict.goal.metric} {measured} ({'met' if verdict.met else 'missed'})"


class _Teller:
    """Follows a transcript; what another version wrote otherwise is left out."""

    def __init__(self) -> None:
        self._state: dict[str, Any] = {}
        self._after = ""
        self._design = ""
        """Id of the design that is open; chats may be led meanwhile."""
        self._waits = False
        self._rest: tuple[str, str] | None = None
        """Behind which message the open design rests, and why."""
        self._failure: TurnFailure | None = None
        """The error that was told where it rests."""
        self._closing: StoryStep | None = None
        self._count = 0

    def take(self, event: Mapping[str, Any]) -> Iterator[StoryStep]:
        if event.get("event") in ("turn", "adopted"):
            yield from self._turn(event)
        stored = event.get("message")
        message = stored if isinstance(stored, Mapping) else {}
        update, step = event.get("update"), event.get("step")
        if event.get("event") == "paused":
            yield from self._passed()
            self._rest = (self._after, str(event.get("reason", "")))
            self._failure = failure_from_plain(event.get("failure"))
        elif self._rest is None and self._design and step and step == message.get("id"):
            self._rest = (self._after, "interrupted")  # somebody chats: it was not let say why it rests
        if isinstance(update, Mapping) and isinstance(step, str):
            yield from self._passed()
            steps = tuple(self._steps(event, update, message))
            if step.endswith("/end"):
                self._closing = steps[0] if steps else None  # the line behind it says how it ended
            else:
                yield from steps
        self._after = str(message.get("id", "")) or self._after

    def left_open(self) -> Iterator[StoryStep]:
        """The checkpoint a design waits at, or that it rests anywhere else."""
        after, reason = self._rest or (self._after, "interrupted")
        if not self._design:
            yield from self._passed()
            return
        if self._failure is not None and (self._waits or after != self._after):
            yield from self._passed()  # what was asked, or said, since then leads on
        self._after = after
        if self._failure is not None:
            yield self._made(message_id="", left=reason, failure=self._failure)
        elif self._waits:
            yield self._made(message_id="", checkpoint=_checkpoint(self._state, ""))
        else:
            yield self._made(message_id="", left=reason)

    def _passed(self) -> Iterator[StoryStep]:
        """The error it rested with is history: it went on, or something else was begun."""
        rest, failure = self._rest, self._failure
        self._rest = self._failure = None
        if rest is not None and failure is not None:
            yield replace(self._made(message_id="", failure=failure), after=rest[0])

    def _turn(self, event: Mapping[str, Any]) -> Iterator[StoryStep]:
        before, self._design = self._design, design_left_open(self._design, event)
        if event.get("event") == "adopted":
            return
        if event.get("state") == "started":
            if self._design != before:
                self._state = {**begun_with(event), "design_goals_summary": None}  # its goals are told
                yield from self._passed()
                self._waits, self._closing = False, None
            return
        if not before or self._design:  # the end of a chat
            return
        closing, self._closing = self._closing, None
        reason = event.get("stop_reason")
        if closing is not None and reason in _ENDS:
            yield self._ended(closing, str(reason), failure_from_plain(event.get("failure")))

    def _ended(self, step: StoryStep, reason: str, failure: TurnFailure | None) -> StoryStep:
        circuit = "" if reason == "undone" else str(self._state.get("circuit_file_path") or "")
        ended = Ended(
            stop_reason=reason,
            circuit=circuit,
            rounds=whole(self._state.get("iteration_count")),
            round_number=number_shown(self._state),
            verdicts=verdicts_from_plain(self._state.get("last_verdicts")),
        )
        return replace(step, goals=(), verdicts=(), failure=failure, ended=ended)

    def _steps(
        self, event: Mapping[str, Any], update: Mapping[str, Any], message: Mapping[str, Any]
    ) -> Iterator[StoryStep]:
        before, self._state = self._state, {**self._state, **update}
        node, goals = update.get("current_node"), self._goals(before, update)
        is_judged = node == "analysis" and "last_verdicts" in update
        is_at_rest = not any(self._state.get(name) for name in (*_PLANS, "is_completed"))
        self._waits = is_judged or (node in _ASKED_AFTER and is_at_rest)
        message_id = str(message.get("id", ""))
        if event.get("kind") == "checkpoint" and isinstance(answer := event.get("answer"), str):
            answer = "goals" if goals and answer == "continue" else answer
            asked = self._made(message_id="", checkpoint=_checkpoint(before, answer))
            known = goals_from_plain(before.get("design_goals_summary"))
            changed = tuple(goal for goal in goals if goal not in known)
            meant = _meant(event.get("meant"))
            meant = None if meant is None else replace(meant, goals=changed)
            read = event.get("read")
            texts = [_meant(each) for each in (read if isinstance(read, list) else ())]
            typed = tuple(self._typed([text for text in texts if text is not None], meant, message_id))
            waited = [number for number, each in enumerate(typed, 1) if each.meant and each.meant.has_waited]
            behind = max(waited, default=0)  # the question moves behind a text that waits for a click
            yield from (*typed[:behind], asked, *typed[behind:])
            if meant is not None and not typed:
                self._after = message_id or self._after
                yield self._made(message_id="", meant=meant)
        if goals and node == "undo_round":  # told before the words, as while it ran
            yield self._made(message_id="", goals=goals)
            goals = ()
        if message.get("type") == "assistant":
            text = str(message.get("content", ""))
            yield self._made(
                message_id=message_id,
                words=without_blocks(text) if goals or is_judged or node == "undo_round" else text,
                goals=goals,
                assumptions=_assumptions(update) if node == "design_goals" else (),
                verdicts=verdicts_from_plain(update["last_verdicts"]) if is_judged else (),
                round_number=whole(update.get("iteration_count")) if is_judged else 0,
            )
        elif goals:  # behind the words they were changed in
            self._after = message_id or self._after
            yield self._made(message_id="", goals=goals)

    def _typed(
        self, texts: Sequence[CheckpointIntent], meant: CheckpointIntent | None, message_id: str
    ) -> Iterator[StoryStep]:
        """What was typed at a checkpoint; the last of it may be what was done."""
        for number, text in enumerate(texts, 1):
            is_done = meant is not None and number == len(texts)
            taken = meant if is_done and meant is not None else text
            yield self._made(
                message_id="", meant=taken, is_done=is_done or not text.leads_on, said_in=message_id
            )

    def _goals(self, before: Mapping[str, Any], update: Mapping[str, Any]) -> tuple[DesignGoal, ...]:
        """Those that are others from now on."""
        plain = update.get("design_goals_summary")
        return () if plain is None or plain == before.get("design_goals_summary") else goals_from_plain(plain)

    def _made(self, **facts: Any) -> StoryStep:
        self._count += 1
        return StoryStep(key=f"design-{self._count}", after=self._after, **facts)


def _checkpoint(state: Mapping[str, Any], answer: str) -> Checkpoint:
    return Checkpoint(
        number=number_shown(state),
        verdicts=verdicts_from_plain(state.get("last_verdicts")),
        has_failed=bool(state.get("error_context")),
        can_undo=can_be_undone(state),
        is_exhausted=state.get("is_exhausted") is True,
        answer=answer,
    )


def _meant(plain: object) -> CheckpointIntent | None:
    """What a line says that words were taken for; None for what another version wrote."""
    if not isinstance(plain, Mapping):
        return None
    kind = next((each for each in get_args(IntentKind) if each == plain.get("kind")), None)
    if kind is None:
        return None
    number = whole(plain.get("round_number"))
    has_waited = plain.get("has_waited") is True
    return CheckpointIntent(
        kind=kind,
        text=str(plain.get("text", "")),
        round_number=number,
        has_waited=has_waited,
        told=_messages(plain.get("told")),
    )


def without_blocks(text: str) -> str:
    """A step's words without its goals, verdicts and calls, which have rows of their own."""
    lines = text.split("\n")
    kept: list[str] = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        is_head = following.startswith(_OF_A_BLOCK) and not line.startswith(_OF_A_BLOCK)
        if not (is_head or line.startswith(_OF_A_BLOCK) or line.startswith(_OF_A_CALL)):
            kept.append(line)
    return "\n".join(kept).strip()


def _assumptions(update: Mapping[str, Any]) -> tuple[Message, ...]:
    """Those of a sentence; changed goals were told without any."""
    if "refined_goals" in update:
        return ()
    intent = update.get("design_intent")
    return _messages(intent.get("assumptions") if isinstance(intent, Mapping) else None)


def _messages(items: object) -> tuple[Message, ...]:
    """The messages of a transcript's line; what is none is left out."""
    found = (
        stored_message(item.get("template"), item.get("params"))
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, Mapping)
    )
    return tuple(message for message in found if message is not None)


def whole(value: object) -> int:
    """A whole number of a transcript's line; 0 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def goals_from_plain(items: object) -> tuple[DesignGoal, ...]:
    """The goals of a transcript's line; what another version, or somebody else, wrote is left out."""
    return tuple(
        goal for item in (items if isinstance(items, list) else ()) if (goal := _goal(item)) is not None
    )


def verdicts_from_plain(items: object) -> tuple[GoalVerdict, ...]:
    """The verdicts of a transcript's line, likewise."""
    found: list[GoalVerdict] = []
    for item in items if isinstance(items, list) else ():
        goal = _goal(item.get("goal")) if isinstance(item, Mapping) else None
        if goal is None:
            continue
        try:
            value = math.nan if item["value"] is None else float(item["value"])
            measured = Quantity(value=value, unit=str(item["unit"]))
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        judged_at, lacking = (_told(item.get(key)) for key in ("judged_at", "lacking"))
        found.append(
            GoalVerdict(
                goal=goal,
                measured=measured,
                met=item.get("met") is True,
                judged_at=judged_at,
                lacking=lacking,
            )
        )
    return tuple(found)


def _told(value: object) -> str:
    return value if isinstance(value, str) else ""


def _goal(plain: object) -> DesignGoal | None:
    if not isinstance(plain, Mapping):
        return None
    try:
        goal = DesignGoal(**plain)
    except TypeError:
        return None
    texts = (goal.metric, goal.expression, goal.unit, goal.words, goal.condition)
    bounds = (goal.minimum, goal.maximum, goal.target)
    is_named = all(isinstance(text, str) for text in texts) and goal.weight in ("must", "wish")
    is_whole = is_named and isinstance(goal.stated, bool) and all(_is_bound(bound) for bound in bounds)
    return goal if is_whole else None


def _is_bound(value: object) -> bool:
    return value is None or (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _HUGE
    )
