"""More than five cards of an answer become one line at its end, in both views and after reopening."""

from __future__ import annotations

from pathlib import Path

from domain.llm.chat import ProviderChoice
from presentation.panels.conversation.folding import Folding
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import (
    AnswerText,
    CardState,
    Item,
    OperationCard,
    Removed,
    Reset,
    SimulationCard,
    Steps,
    Updated,
    UserText,
)
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.ui.workspace import WindowServices
from shared.message import msg
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import ConversationPanel, panel, shown, type_and_send
from tests.gui.test_plain_view import follow, links

__all__ = ["panel"]


def read(number: int, state: CardState = "done") -> OperationCard:
    return OperationCard(key=f"r{number}", tool="read_file", path=f"f{number}.cir", state=state)


def test_only_what_ended_well_and_asks_for_nothing_is_folded(services: WindowServices) -> None:
    asked, said = UserText(key="u", text="?"), AnswerText(key="a", text="so")
    thought = AnswerText(key="t", text="", reasoning="hm")
    cards: list[Item] = [*map(read, range(3)), thought, read(3), read(4, "failed"), read(5)]
    rows = Folding().rows((asked, *cards, said), is_live=False)
    assert rows == (asked, *cards, said)  # five that ended well are shown
    sim = SimulationCard(key="s", tool="run_simulation", path="f.cir", state="done")
    folding = Folding()
    rows = folding.rows((asked, *cards, sim, said), is_live=False)
    first, steps, failed, last = rows
    assert (first, failed, last) == (asked, cards[5], said)
    assert isinstance(steps, Steps)
    assert [item.key for item in steps.items] == ["r0", "r1", "r2", "t", "r3", "r5", "s"]
    assert "6 steps: 5 read, 1 simulated" in HtmlItems(services.language)(steps)
    services.language.set("zh")
    assert "6 步：读取 5，仿真 1" in HtmlItems(services.language)(steps)
    # What happens to a folded one happens to its line.
    (told,) = folding.changes([Updated(item=read(0, "stopped"))], is_live=False)
    assert isinstance(told, Updated)
    assert isinstance(told.item, Steps)
    assert told.item.items[0] == read(0, "stopped")
    (told,) = folding.changes([Removed(key="t")], is_live=False)
    assert isinstance(told, Updated)
    # Of a run under way nothing is folded.
    (told,) = folding.changes([Reset(items=(asked, *cards, sim))], is_live=True)
    assert isinstance(told, Reset)
    assert told.items == (asked, *cards, sim)


def test_folded_cards_act_and_fold_by_themselves(services: WindowServices) -> None:
    view, acted = PlainConversation(services), []
    view.acted.connect(lambda *what: acted.append(what))
    thought = AnswerText(key="t", text="", reasoning="because")
    change = OperationCard(key="c", tool="rewrite_file", path="a.cir", state="done", standing="stands")
    steps = Steps(key="steps-r0", items=(thought, change, *map(read, range(5))))
    view.apply([Reset(items=(steps, UserText(key="u", text=str(msg("next")))))])
    assert "6 steps: 5 read, 1 written" in view.text
    assert "f3.cir" not in view.text
    follow(view, "fold/steps-r0/steps")
    assert "f3.cir" in view.text
    follow(view, "fold/t/thought")
    assert "because" in view.text
    follow(view, "undo/c/")
    assert acted == [("undo", "c", "")]
    page = HtmlItems(services.language)(steps)
    assert '<div class="item" data-key="c"><div class="card op">' in page


async def test_many_cards_become_one_line_when_the_answer_has_ended(
    panel: ConversationPanel, project: Path, until: Until
) -> None:
    for number in range(7):
        (project / f"part{number}.lib").write_text(f".model D{number} D\n")
    calls = [call("read_file", {"path": f"part{number}.lib"}) for number in range(8)]  # the last is missing
    with FakeLLMServer([answer("", calls=calls), answer("All read.", stall=True)]) as server:
        choice = ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
        panel.model.set_choice(choice)
        type_and_send(panel, "Read the parts.")
        await until(lambda: "All read." in shown(panel))
        assert "part6.lib" in shown(panel)
        panel.stop()
        await until(lambda: not panel.is_running)
    for _ in range(2):
        await until(lambda: "7 steps: 7 read" in shown(panel))
        assert "part3.lib" not in shown(panel)
        assert "part7.lib" in shown(panel)  # what failed stays in sight
        view = panel.view
        assert isinstance(view, PlainConversation)
        (way,) = [path for path in links(view) if path.endswith("/steps")]
        follow(view, way)
        assert "part3.lib" in view.text
        panel.open_session(panel.session_id)
        await until(lambda: "part3.lib" not in shown(panel))
