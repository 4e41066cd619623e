"""What the window says of a stop, an opening, an empty folder and a long family; and where it stays."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QPushButton, QWidget

from application.ports.events import RetryScheduled, ToolEnded, ToolStarted
from domain.simulation.waveform import Plot
from presentation.panels.conversation import words
from presentation.panels.conversation.acts import Acts
from presentation.panels.conversation.feed import RunFeed
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import ItemList, Retry, SimulationCard
from presentation.panels.conversation.stored import title_of
from presentation.panels.editor.editor_area import EditorArea
from presentation.panels.waveforms.family import MOST_DRAWN, drawn_of
from presentation.ui.workspace import WindowServices
from presentation.window.header import RunGroup
from presentation.window.layout_state import KeepOnScreen
from presentation.window.status_bar import StatusBar
from shared.message import msg
from tests.gui.conftest import Until

pytestmark = pytest.mark.usefixtures("qapp")


def _card_after(*events: ToolEnded) -> SimulationCard:
    items = ItemList()
    feed = RunFeed(items, model="")
    feed(ToolStarted(call_id="c", name="run_simulation", arguments={"file_path": "rc.cir"}))
    for event in events:
        feed(event)
    feed.close("stopped")
    card = items.get("c")
    assert isinstance(card, SimulationCard)
    return card


def _ended(error_type: str) -> ToolEnded:
    return ToolEnded(
        call_id="c", name="run_simulation", success=False, summary=msg("Stopped."), error_type=error_type
    )


@pytest.mark.parametrize("events", [(), (_ended("stopped"),), (_ended("interrupted"),)])
def test_a_simulation_that_was_stopped_has_not_failed(events: tuple[ToolEnded, ...]) -> None:
    card = _card_after(*events)
    assert str(words.simulation_verb(card)) == "Simulation stopped"
    assert [act for act, _ in words.simulation_ways(card)] == ["run_again"]


async def test_a_stopped_simulation_is_run_again_from_its_card(
    services: WindowServices, project: Path
) -> None:
    items, asked = ItemList(), list[object]()
    items.put(replace(_card_after(), key="named"))
    items.put(replace(_card_after(), key="unnamed", path=""))
    model = SimpleNamespace(
        items=items, root=project, stop=None, change_design=None, transcript=SimpleNamespace(restore=None)
    )
    others = dict.fromkeys(("project", "conversations", "names", "goals", "focus_field", "branch"), Mock())
    acts = Acts(services, model, Mock(), asked.append, **others)  # type: ignore[arg-type]
    services.workspace.circuit_run_requested.connect(asked.append)
    services.workspace.main_run_requested.connect(lambda: asked.append("main"))
    for key in ("named", "unnamed"):
        card = items.get(key)
        assert card is not None
        page = HtmlItems(services.language)(card)
        assert 'data-act="run_again"' in page
        assert "Show log" not in page
        acts("run_again", key, "")
    assert asked == [project / "rc.cir", "main"]


def test_a_simulation_that_failed_still_shows_its_log() -> None:
    card = _card_after(_ended("simulation_failed"))
    assert str(words.simulation_verb(card)) == "Simulation failed"
    assert [act for act, _ in words.simulation_ways(card)] == ["log"]


def test_a_wait_shown_again_goes_on(services: WindowServices) -> None:
    items = ItemList()
    RunFeed(items, model="")(RetryScheduled(reason=msg("No answer received"), attempt=1, wait_s=9.0))
    item = items.last()
    assert isinstance(item, Retry)
    assert 8.0 < item.left_s <= 9.0
    later = replace(item, ends=item.ends - 6.5)  # as if so many seconds had gone by
    assert re.search(r'data-countdown="(?:2\.[0-5]|1\.\d)"', HtmlItems(services.language)(later))


async def test_a_project_that_opens_says_so(services: WindowServices, until: Until) -> None:
    workspace = services.workspace
    area, bar = EditorArea(services, services.app.project, services.app.simulation), StatusBar(services)
    links = area._empty.findChildren(QPushButton)
    workspace.set_opening(Path("/far/away/amplifier"))
    assert bar.state.text == "Opening amplifier…"
    assert "Opening amplifier…" in [label.text() for label in area._empty.findChildren(QLabel)]
    assert all(link.isHidden() for link in links)
    workspace.status_changed.emit(msg("Restored"))
    workspace.set_opening(None)
    assert bar.state.text == "Restored"
    assert not all(link.isHidden() for link in links)
    workspace.set_opening(Path("/far/away/amplifier"))
    workspace.set_opening(None)
    assert bar.state.text == "No folder open"


async def test_there_is_nothing_to_run_in_a_folder_without_circuits(
    services: WindowServices, project: Path
) -> None:
    workspace = services.workspace
    group = RunGroup(services)
    workspace.root = project
    workspace.set_has_circuits(has_circuits=False)
    assert not group.run.isEnabled()
    assert "no circuit in this folder" in group.run.toolTip()
    workspace.shown_file = project / "new.cir"  # its text may be one, once it is saved
    group.retranslate()
    assert group.run.isEnabled()


def test_a_long_family_is_drawn_from_end_to_end() -> None:
    plots = [Plot.__new__(Plot) for _ in range(200)]
    drawn = drawn_of(plots)
    assert len(drawn) == len({id(plot) for plot in drawn}) == MOST_DRAWN
    assert (drawn[0], drawn[-1]) == (plots[0], plots[-1])
    assert drawn_of(plots[:MOST_DRAWN]) == plots[:MOST_DRAWN]


@pytest.mark.parametrize(
    ("away", "is_fitted"), [("showMinimized", False), ("showMaximized", True), ("showFullScreen", True)]
)
async def test_a_place_somebody_chose_stays_when_the_window_comes_back(
    away: str, is_fitted: bool, until: Until
) -> None:
    window = QWidget()
    keeper = KeepOnScreen(window)
    window.show()
    await until(window.isVisible)
    keeper._is_new = False
    getattr(window, away)()
    await until(lambda: window.windowState() != Qt.WindowState.WindowNoState)
    keeper._framed.stop()
    window.showNormal()
    await until(lambda: window.windowState() == Qt.WindowState.WindowNoState)
    assert keeper._framed.isActive() is is_fitted
    window.close()


def test_a_title_made_of_cut_words_says_that_it_is_cut() -> None:
    cut = ("a low-pass filter with a corner at ten kilohertz and more")[:50]
    assert title_of("Chat 2026-01-02 03:04", cut) == cut.rstrip() + "…"
    assert title_of("Chat 2026-01-02 03:04", "short") == "short"
    assert title_of("Mine", cut) == "Mine"
