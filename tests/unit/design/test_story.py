"""What a stored design told: from its transcript's lines, also where somebody else wrote them."""

from __future__ import annotations

import math
from typing import Any

from application.design.story import goals_from_plain, story_of, verdicts_from_plain
from tests.ground.cases import for_each

GOAL = {
    "metric": "cutoff",
    "expression": "highcut(v(out))",
    "unit": "Hz",
    "minimum": 9.5e3,
    "maximum": 10.5e3,
}
VERDICT = {"goal": GOAL, "value": 9990.0, "unit": "Hz", "met": True}
STARTED = {"event": "turn", "turn_id": "t", "state": "started", "design": {"text": "s", "max_iterations": 8}}


def said(step: str, text: str, **update: Any) -> dict[str, Any]:
    message = {"id": f"m{step}", "type": "assistant", "content": text}
    return {"event": "message", "message": message, "step": f"t/{step}", "update": update}


UNDERSTOOD = said("1", "Goals:\n  Corner 10 kHz", current_node="design_goals", design_goals_summary=[GOAL])
JUDGED = said(
    "2",
    "Round 1:\n  ✓ Corner = 9.99 kHz",
    current_node="analysis",
    iteration_count=1,
    last_verdicts=[VERDICT],
    last_write="w",
)


def decided(answer: str, *words: str, **update: Any) -> dict[str, Any]:
    line = {"event": "decision", "kind": "checkpoint", "answer": answer, "step": "t/3", "update": update}
    spoken = {"id": "said", "type": "user", "content": "\n".join(words)}
    return {**line, "event": "message", "message": spoken} if words else line


def test_goals_verdicts_and_decisions_come_from_what_the_steps_changed() -> None:
    end = [
        said("end", "Goals met; the circuit is that of round 1: a.cir"),
        {"event": "turn", "turn_id": "t", "state": "ended", "stop_reason": "goals_met"},
    ]
    goals, round_1, checkpoint, closing = story_of([STARTED, UNDERSTOOD, JUDGED, decided("accept"), *end])
    assert (goals.words, len(goals.goals)) == ("", 1)
    assert (round_1.words, round_1.round_number, round_1.verdicts[0].met) == ("", 1, True)
    assert checkpoint.checkpoint is not None
    assert (checkpoint.after, checkpoint.checkpoint.answer, checkpoint.checkpoint.can_undo) == (
        "m2",
        "accept",
        True,
    )
    assert closing.ended is not None
    assert (closing.ended.stop_reason, closing.ended.rounds) == ("goals_met", 1)


def test_changed_goals_stand_behind_the_words_they_were_changed_in() -> None:
    other = {**GOAL, "maximum": 10.1e3}
    line = decided(
        "continue", "at most 10.1 kHz", current_node="user_checkpoint", design_goals_summary=[other]
    )
    checkpoint, goals, rest = story_of([STARTED, UNDERSTOOD, JUDGED, line])[2:]
    assert rest.left == "interrupted"
    assert checkpoint.checkpoint is not None
    assert (checkpoint.after, checkpoint.checkpoint.answer) == ("m2", "goals")
    assert (goals.after, goals.goals[0].maximum) == ("said", 10.1e3)


def test_a_design_that_waits_at_its_checkpoint_has_it_unanswered() -> None:
    *_, waiting = story_of([STARTED, UNDERSTOOD, JUDGED])
    assert waiting.checkpoint is not None
    assert waiting.checkpoint.answer == ""
    after = said("3", "Taken.", current_node="action", planned_simulation="s")
    assert all(step.checkpoint is None for step in story_of([STARTED, UNDERSTOOD, JUDGED, after]))


@for_each(
    "plain",
    [
        None,
        7,
        [7],
        [{"goal": GOAL}],
        [{**VERDICT, "goal": {**GOAL, "metric": 7}}],
        [{**VERDICT, "goal": {**GOAL, "minimum": "9k"}}],
        [{**VERDICT, "goal": {**GOAL, "maximum": math.inf}}],
        [{**VERDICT, "goal": {**GOAL, "words": ["a"]}}],
        [{**VERDICT, "goal": {**GOAL, "nonsense": 1}}],
        [{**VERDICT, "value": 10**400}],
    ],
)
def test_lines_that_say_no_verdict_are_none(plain: object) -> None:
    assert verdicts_from_plain(plain) == ()
    items = [item["goal"] for item in plain if isinstance(item, dict)] if isinstance(plain, list) else plain
    assert len(goals_from_plain(items)) <= 1
    line = {**JUDGED, "update": {**JUDGED["update"], "last_verdicts": plain, "iteration_count": plain}}
    assert [step.verdicts for step in story_of([STARTED, line])] == [(), ()]


def test_numbers_that_no_float_holds_are_no_bounds_and_count_nothing() -> None:
    """A clone's transcript is shown: such a number ended the window's reading of it."""
    assert goals_from_plain([{**GOAL, "minimum": 10**400}, GOAL]) == goals_from_plain([GOAL])
    assert verdicts_from_plain([{**VERDICT, "value": 10**400}]) == ()
