"""Events of a run as what the conversation shows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from application.ports.events import (
    AlternativeTaken,
    AnswerCounted,
    AnswerStreamed,
    ErrorOccurred,
    IntentRead,
    IterationFinished,
    OptimizationProgressed,
    RetryScheduled,
    SessionOpened,
    SimulationProgressed,
    StudyProgressed,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    WaitsForPlace,
)
from domain.design.checkpoint_intent import CheckpointIntent
from domain.llm.chat import Usage
from domain.llm.costs import AnswerUse, Cost, RequestFacts
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from presentation.panels.conversation.feed import Pace, RunFeed
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import (
    AnswerText,
    Decision,
    ErrorBlock,
    GoalsCard,
    Interrupted,
    ItemList,
    Note,
    OperationCard,
    Retry,
    SimulationCard,
    Streamed,
    Understood,
)
from presentation.panels.conversation.words import retry_notes
from presentation.translation import Translator
from shared.message import msg


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def made() -> tuple[RunFeed, ItemList, Clock]:
    items, clock = ItemList(), Clock()
    return RunFeed(items, model="glm", clock=clock), items, clock


def test_a_call_under_way_has_a_bar_with_its_figures() -> None:
    feed, items, clock = made()
    page = HtmlItems(Translator("en"), lambda _name: "")
    feed(ToolStarted(call_id="sim", name="run_simulation", arguments={"path": "rc.cir"}))
    clock.now = 6.0
    assert feed.show_progress(SimulationProgressed(key="sim", share=0.25))
    shown = page(items.get("sim"))  # type: ignore[arg-type]
    assert '<progress value="25" aria-label="25 % simulated" max="100"></progress>' in shown
    assert "18 s left" in shown
    feed(ToolStarted(call_id="study", name="run_study", arguments={"path": "rc.cir"}))
    study = StudyProgressed(
        key="study", kind="monte_carlo", done=3, total=8, failed=1, rate_hz=0.01, remaining_s=500.0,
        best={"f_c": 9870.0}, best_run=2,
    )  # fmt: skip
    assert feed.show_progress(study)
    shown = page(items.get("study"))  # type: ignore[arg-type]
    for words in ('value="38"', "3 of 8 runs", "8 min left", "1 failed", "run 2: f_c = 9.87k"):
        assert words in shown
    search = OptimizationProgressed(
        key="study", done=40, budget=400, failed=0, rate_hz=9.0, remaining_s=None, restarts=0, best_run=None,
        best_parameters={}, best_metrics={}, violation=0.3, objective=None,
    )  # fmt: skip
    assert feed.show_progress(search)
    shown = page(items.get("study"))  # type: ignore[arg-type]
    assert 'value="10"' in shown
    assert "40 of 400 simulations" in shown
    assert not any(words in shown for words in ("left", "failed", "Best"))
    assert not feed.show_progress(SimulationProgressed(key="another's", share=0.5))
    feed(ToolEnded(call_id="sim", name="run_simulation", summary=msg("Done."), success=True))
    assert "<progress" not in page(items.get("sim"))  # type: ignore[arg-type]


def test_a_card_of_a_call_names_no_path_of_megabytes() -> None:
    feed, items, _ = made()
    path = "../" * 1_000_000
    feed(ToolStarted(call_id="c", name="read_file", arguments={"path": path}))
    feed(
        ToolEnded(
            call_id="c", name="read_file", success=False, summary=msg("{path} is not there.", path=path),
            error_type="not_found",
        )
    )  # fmt: skip
    page = HtmlItems(Translator("en"), lambda _name: "")
    assert len(page(items.get("c"))) < 100_000  # type: ignore[arg-type]


def test_pieces_are_handed_on_together_and_the_answer_is_whole_at_its_end() -> None:
    feed, items, clock = made()
    feed(SessionOpened(session_id="s"))
    feed(AnswerStreamed(message_id="a", reasoning="hm "))
    clock.now = 4.0
    for text in ("One ", "two ", "three."):
        feed(AnswerStreamed(message_id="a", text=text))
    items.take_changes()
    feed.flush()
    assert items.take_changes() == [Streamed(key="a", text="One two three.", reasoning="hm ")]
    feed.flush()
    assert items.take_changes() == []
    feed(TurnEnded(stop_reason="completed", usage={"prompt_tokens": 90, "completion_tokens": 7}))
    answer = items.get("a")
    assert isinstance(answer, AnswerText)
    assert (answer.text, answer.reasoning, answer.thought_s) == ("One two three.", "hm ", 4.0)
    assert not answer.is_streaming
    assert feed.tokens == 97


def test_what_an_answer_took_stands_at_its_time() -> None:
    feed, items, _ = made()
    feed(AnswerStreamed(message_id="a", text="One."))
    usage = Usage(prompt_tokens=2000, completion_tokens=70, cached_tokens=1500)
    facts = RequestFacts(first_s=0.8, seconds=12.3, retries=1, saved=Cost(amounts={"CNY": 0.2}))
    use = AnswerUse(
        message_id="a", created="", provider="zhipu", model="glm", usage=usage,
        cost=Cost(amounts={"CNY": 0.1}), facts=facts, cache_break="tools",
    )  # fmt: skip
    feed(AnswerCounted(use=use))
    answer = items.get("a")
    assert isinstance(answer, AnswerText)
    assert answer.model == "glm", "which of a provider's models answered is known then"
    page = HtmlItems(Translator("en"))(answer)
    assert "12 s · 2k in (75% cached), 70 out · 0.10 CNY<" in page
    assert "2k tokens sent (75% from the cache), 70 received" in page
    assert "12 s, first token after 0.8 s" in page
    for words in ("1 retry", "0.10 CNY; the cache saved 0.20 CNY", "other tools were offered"):
        assert words in page


def test_an_expression_is_broken_behind_its_operators() -> None:
    goal = DesignGoal(metric="p", expression="db(peak(v(out))/dcgain(v(out)))", unit="dB", maximum=0.5)
    page = HtmlItems(Translator("en"))(GoalsCard(key="g", goals=(goal,)))
    assert "db(peak(v(out))/<wbr>dcgain(v(out)))" in page


def test_what_is_shown_anew_in_mid_stream_has_everything_once() -> None:
    feed, items, _ = made()
    feed(AnswerStreamed(message_id="a", text="One "))
    feed.flush()
    feed(AnswerStreamed(message_id="a", text="two "))
    items.take_changes()
    for _ in range(2):  # whoever only looks takes nothing from those who show it
        snapshot = feed.snapshot()
        assert snapshot is not None
        assert snapshot.text == "One "
    feed(AnswerStreamed(message_id="a", text="three"))
    feed.flush()
    assert items.take_changes() == [Streamed(key="a", text="two three")]
    snapshot = feed.snapshot()
    assert snapshot is not None
    assert snapshot.text == "One two three"


def test_a_stop_closes_what_was_open() -> None:
    feed, items, _ = made()
    items.put(Decision(key="d", kind="checkpoint", number=1, met=1, total=2))
    feed(AnswerStreamed(message_id="a", text="half"))
    feed(ToolStarted(call_id="t", name="run_simulation", arguments={"file_path": "a.cir"}))
    feed.close("user")
    assert items.get("a").text == "half"
    assert items.get("t").state == "not_run"
    assert items.get("d").state == "waits"
    mark = items.last()
    assert isinstance(mark, Interrupted)
    assert (mark.reason, mark.characters) == ("user", 4)
    assert "Not completed: Simulating a.cir<" in HtmlItems(Translator("en"))(mark)
    assert "未完成：正在仿真 a.cir<" in HtmlItems(Translator("zh"))(mark)
    feed.close("user")
    assert items.last() is mark


def test_a_tool_becomes_a_card_with_its_time() -> None:
    feed, items, clock = made()
    feed(ToolStarted(call_id="t", name="patch_file", arguments={"path": "a.cir"}))
    card = items.get("t")
    assert isinstance(card, OperationCard)
    assert (card.path, card.state) == ("a.cir", "running")
    clock.now = 0.25
    feed(ToolEnded(call_id="t", name="patch_file", success=False, summary=msg("no")))
    assert (items.get("t").state, items.get("t").duration_s) == ("failed", 0.25)


def test_verdicts_go_to_the_simulation_they_judge() -> None:
    feed, items, _ = made()
    goal = DesignGoal(metric="bw", expression="bandwidth(v(out))", unit="Hz", minimum=1.0)
    verdict = GoalVerdict(goal=goal, measured=Quantity(value=2.0, unit="Hz"), met=True)
    for number in (1, 2):
        feed(ToolStarted(call_id=f"s{number}", name="run_simulation", arguments={"file_path": "a.cir"}))
        feed(ToolEnded(call_id=f"s{number}", name="run_simulation", success=True, summary=msg("ok")))
        feed(IterationFinished(number=number, metrics={"bw": 2.0}, verdicts=(verdict,)))
    cards = [item for item in items if isinstance(item, SimulationCard)]
    assert [(card.key, card.round_number, len(card.verdicts)) for card in cards] == [
        ("s1", 1, 1),
        ("s2", 2, 1),
    ]


def test_a_retry_is_told_while_it_waits_and_no_longer() -> None:
    feed, items, _ = made()
    feed(RetryScheduled(attempt=1, wait_s=4.0, reason=msg("Too many requests.")))
    notice = items.last()
    assert isinstance(notice, Retry)
    assert notice.attempt == 1
    assert 2.0 < notice.left_s <= 4.0
    feed(AnswerStreamed(message_id="a", text="x"))
    assert not any(isinstance(item, Retry) for item in items)


def test_a_wait_for_its_turn_names_whose_requests_run() -> None:
    items = ItemList()
    RunFeed(items, model="m", at_work=lambda: ("Buck", "Filter noise"))(WaitsForPlace(running=3))
    notice = items.last()
    assert isinstance(notice, Retry)
    assert list(map(str, retry_notes(notice))) == ["Running in “Buck”, “Filter noise”"]


def test_another_model_is_told_and_named_with_its_answer() -> None:
    feed, items, _ = made()
    feed(RetryScheduled(attempt=2, wait_s=4.0, reason=msg("No answer.")))
    feed(AlternativeTaken(kind="model", text=msg("No answer. Now b is asked."), provider="p", model="b"))
    feed(AnswerStreamed(message_id="a", text="x"))
    feed(TurnEnded(stop_reason="completed"))
    note, answer = items
    assert isinstance(note, Note)
    assert note.text == msg("No answer. Now b is asked.")
    assert isinstance(answer, AnswerText)
    assert answer.model == "b"


def test_an_error_is_told_once_and_a_broken_answer_by_its_mark() -> None:
    feed, items, _ = made()
    feed(ErrorOccurred(error_type="auth", message=msg("no"), advice=None))
    feed(TurnEnded(stop_reason="error"))
    feed.close("stopped")
    assert [type(item) for item in items] == [ErrorBlock]

    feed, items, _ = made()
    feed(AnswerStreamed(message_id="a", text="half"))
    feed(ErrorOccurred(error_type="cut", message=msg("broke"), advice=None))
    feed(TurnEnded(stop_reason="cut"))
    assert [type(item) for item in items] == [AnswerText, Interrupted]


def test_the_cost_of_a_piece_does_not_grow_with_the_answer() -> None:
    """Counted, not timed: what a flush hands on is what came since the last one."""
    feed, items, _ = made()
    feed(AnswerStreamed(message_id="a", text="start "))
    items.take_changes()
    for _ in range(2_000):
        feed(AnswerStreamed(message_id="a", text="token "))
        feed.flush()
        (change,) = items.take_changes()
        assert isinstance(change, Streamed)
        assert change.text in ("token ", "start token ")


def test_a_round_taken_back_strikes_its_card() -> None:
    feed, items, _ = made()
    feed(ToolStarted(call_id="w", name="rewrite_file", arguments={"path": "a.cir"}))
    feed(ToolEnded(call_id="w", name="rewrite_file", success=True, summary=msg("ok")))
    undo = {"path": "a.cir", "operations": ["w"]}
    feed(ToolStarted(call_id="w-undo", name="undo_change", arguments=undo))
    assert items.get("w").standing == "undoing"
    feed(ToolEnded(call_id="w-undo", name="undo_change", success=True, summary=msg("ok")))
    assert items.get("w").standing == "undone"
    assert feed.take_undone() == ("w",)
    assert feed.take_undone() == ()
    assert len([item for item in items if isinstance(item, OperationCard)]) == 1


def test_the_pace_is_of_the_last_seconds() -> None:
    now = [0.0]
    pace = Pace(lambda: now[0])
    pace.begin()
    assert pace.per_s is None
    for _ in range(20):
        now[0] += 0.1
        pace.take("增益")  # two tokens
    assert 18 <= pace.per_s <= 22
    now[0] += 10
    assert pace.per_s is None


def test_what_a_run_understood_replaces_what_the_rules_did() -> None:
    feed, items, _ = made()
    for key, text in (("old", "make it so"), ("new", "make it so"), ("other", "why?")):
        intent = CheckpointIntent(kind="unclear", text=text, is_sure=False)
        items.put(Understood(key=key, intent=intent, others=("optimize", "stop")))
    feed(IntentRead(kind="optimize", text="make it so"))
    chips = {key: items.get(key) for key in ("old", "new", "other")}
    assert [chip.intent.kind for chip in chips.values() if isinstance(chip, Understood)] == [
        "unclear",
        "optimize",
        "unclear",
    ]
    feed(IntentRead(kind="go_back", text="the first one was better", round_number=1))
    told = items.last()
    assert isinstance(told, Understood)
    assert (told.intent.kind, told.intent.round_number, told.state) == ("go_back", 1, "closed")


def test_a_changed_goal_says_how_the_round_then_stands() -> None:
    """Before anybody answers; a figure that nobody has is left out."""
    old = DesignGoal(metric="peaking", expression="max(v(out))", unit="dB", maximum=0.5)
    new = replace(old, maximum=0.8)
    intent = CheckpointIntent(kind="goals", text="0.8 dB is fine", goals=(new,))
    for value, told in ((0.62, "0.62 dB then has +23 %"), (0.92, "0.92 dB then has −15 %"), (math.nan, "")):
        verdict = GoalVerdict(goal=old, measured=Quantity(value=value, unit="dB"), met=False)
        item = Understood(
            key="u", intent=intent, state="asks", changed=(new,), before=(old,), verdicts=(verdict,),
            others=("question",),
        )  # fmt: skip
        html = HtmlItems(Translator("en"))(item).replace("\N{NO-BREAK SPACE}", " ")
        assert "<s>≤ 0.5 dB</s>" in html
        assert "<b>≤ 0.8 dB</b>" in html
        assert told in html
        assert ("then has" in html) is bool(told)
