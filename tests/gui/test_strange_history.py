"""A cloned project in the conversation panel: it is shown, nothing of it is done, and it can be adopted."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QLabel, QPushButton, QToolTip

from application.conversation.goals_shown import GoalsNow
from domain.simulation.goals import DesignGoal
from presentation.panels.conversation.items import Interrupted, UserText
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.conversation.strange_row import StrangeRow, _short
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import NoWebView, of, shown
from tests.integration.strangers.conftest import HOOK, RC, TIME, TURN, Forgery, tree_of

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.fixture
async def clone(tmp_path: Path) -> Path:
    def made() -> Path:
        forgery = Forgery(tmp_path / "theirs")
        forgery.half_done(".git/hooks/post-checkout", after=HOOK)
        forgery.ask_to_delete("rc.cir")
        return forgery.clone(tmp_path / "mine")

    return await asyncio.to_thread(made)


@pytest.fixture
async def panel(services: WindowServices, clone: Path, until: Until) -> AsyncIterator[ConversationPanel]:
    services.workspace.root = clone
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.resize(440, 800)
    made.show()
    await until(lambda: any(isinstance(item, UserText) for item in made.model.items))
    yield made
    made.close_panel()
    await until(lambda: not services.app.program.tasks.handles)


def row_of(panel: ConversationPanel) -> StrangeRow:
    row = panel.findChild(StrangeRow)
    assert row is not None
    return row


def dialog() -> SmallDialog | None:
    shown = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, SmallDialog)]
    return next((widget for widget in shown if widget.isVisible()), None)


async def test_it_is_shown_and_nothing_of_it_is_done(
    panel: ConversationPanel, clone: Path, until: Until
) -> None:
    before = await asyncio.to_thread(tree_of, clone)
    assert row_of(panel).isVisible()
    marks = [item for item in panel.model.items if isinstance(item, Interrupted)]
    assert [(mark.can_continue, mark.can_regenerate) for mark in marks] == [(False, False)]
    panel.model.send("go on")
    await until(lambda: not panel.is_running)
    assert await asyncio.to_thread(tree_of, clone) == before


async def test_goals_of_others_are_shown_and_change_nothing(
    services: WindowServices, tmp_path: Path, until: Until
) -> None:
    goal = {"metric": "gain", "expression": "max(v(out))", "unit": "V", "minimum": 1.0}

    def made() -> Path:
        forgery = Forgery(tmp_path / "theirs")
        said = {"id": TURN, "type": "user", "content": "hello", "additional_kwargs": {"timestamp": TIME}}
        card = {"event": "goals", "verdicts": [{"goal": goal, "value": 2.0, "unit": "V", "met": True}],
                "before": [goal | {"minimum": 9.0}], "after": TURN, "run": 1}  # fmt: skip
        places = {"inside": "rc.cir", "outside": "../rc.cir", "anywhere": "/etc/passwd"}
        cards = (card | {"card_id": key, "path": path} for key, path in places.items())
        forgery.say({"event": "message", "message": said, "step": TURN}, *cards)
        return forgery.clone(tmp_path / "mine")

    root = services.workspace.root = await asyncio.to_thread(made)
    panel = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    panel.show()
    await until(lambda: of(panel, GoalsNow))
    await services.app.project.browse.ask_of(root, root / "rc.cir", (DesignGoal(**goal),))
    assert [card.key for card in of(panel, GoalsNow)] == ["inside"]
    for act in ("goals_turn", "goals_edit"):
        assert act not in shown(panel)
        panel.view.acted.emit(act, "inside", "")
    services.workspace.run_finished.emit(None)  # which the newest card would follow
    await asyncio.sleep(0)
    await until(lambda: not services.app.program.tasks.handles)
    (kept,) = await services.app.project.browse.goals(root, root / "rc.cir")
    assert kept.minimum == 1.0
    panel.close_panel()
    await until(lambda: not services.app.program.tasks.handles)


async def test_not_now_puts_it_off(panel: ConversationPanel, services: WindowServices) -> None:
    QTest.mouseClick(row_of(panel).later_button, Qt.MouseButton.LeftButton)
    panel.refresh()
    assert not row_of(panel).isVisible()
    infos = await services.app.conversations.sessions.list(panel.model.root or Path())
    assert [info.is_ours for info in infos] == [False]


async def test_changes_of_files_alone_are_a_history_too(
    services: WindowServices, tmp_path: Path, until: Until
) -> None:
    def made() -> Path:
        forgery = Forgery(tmp_path / "theirs")
        forgery.half_done(".git/hooks/post-checkout", after=HOOK)
        return forgery.clone(tmp_path / "mine")

    services.workspace.root = await asyncio.to_thread(made)
    panel = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    panel.show()
    row = row_of(panel)
    await until(row.isVisible)
    assert panel.model.sessions == ()
    await services.app.project.adopt(services.workspace.root)
    row.adopted.emit()
    await until(lambda: not row.isVisible())
    panel.close_panel()
    await until(lambda: not services.app.program.tasks.handles)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_it_is_adopted_after_a_look(
    panel: ConversationPanel, services: WindowServices, clone: Path, until: Until, language: str
) -> None:
    services.language.set(language)  # type: ignore[arg-type]
    QTest.mouseClick(row_of(panel).look_button, Qt.MouseButton.LeftButton)
    await until(lambda: dialog() is not None)
    asked = dialog()
    assert asked is not None
    assert "Amplifier" in asked.words.text()
    (adopt,) = [button for button in asked.findChildren(QPushButton) if button.text() in ("Adopt", "接管")]
    QTest.mouseClick(adopt, Qt.MouseButton.LeftButton)
    await until(lambda: not row_of(panel).isVisible())
    infos = await services.app.conversations.sessions.list(clone)
    assert [info.is_ours for info in infos] == [True]
    assert await asyncio.to_thread((clone / "rc.cir").read_bytes) == RC
    assert not (clone / ".git/hooks/post-checkout").exists()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("N" * 5_000, "N" * 59 + "…"),
        ("a\nAdopt?\u202e\x1b", "a Adopt?\ufffd\u241b"),
        ("<b>x</b>", "<b>x</b>"),
    ],
)
def test_a_name_leaves_the_question_to_be_read(name: str, shown: str) -> None:
    assert _short(name) == shown


@pytest.mark.usefixtures("services")
def test_markup_in_a_name_is_shown_and_reads_no_file(qapp: QApplication, tmp_path: Path) -> None:
    """The file of an image in a conversation's name or a goal's words was read: /dev/zero, or a pipe."""
    os.mkfifo(tmp_path / "pipe")
    name = f'<img src="file://{tmp_path}/pipe">Amplifier'
    label = QLabel(name)
    label.setToolTip(name)
    label.show()
    label.grab()
    QToolTip.showText(QPoint(1, 1), name, label)
    tips = [each for each in qapp.topLevelWidgets() if each.metaObject().className() == "QTipLabel"]
    shown = [label, *tips]
    assert len(shown) > 1
    assert {each.textFormat() for each in shown} == {Qt.TextFormat.PlainText}
    QToolTip.hideText()
    label.close()
