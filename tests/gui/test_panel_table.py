"""The table of panels: a row is all it takes for a tab, a menu entry, a key and a place in the layout."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel, QMenu, QWidget

from presentation.ui.workspace import WindowServices
from presentation.window import panels
from presentation.window.layout_state import fitted
from presentation.window.main_window import MainWindow
from presentation.window.panels import PANELS, PanelEntry, Parts
from shared.message import msg
from tests.gui.conftest import Until
from tests.gui.whole_window import end_window, open_window, without_web_view


class Notes(QLabel):
    """A panel as a newcomer would write it."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        services.dress(self)

    def restyle(self) -> None:
        self.setFont(self._services.theme.theme.font("prose"))

    def retranslate(self) -> None:
        self.setText(self._services.language(msg("Project")))


def _notes(parts: Parts) -> QWidget:
    return Notes(parts.services)


ROW = PanelEntry(
    key="notes", title=msg("Project"), place="right", icon="file-text", make=_notes, shortcut="Ctrl+9"
)


@pytest.fixture
async def windows(
    services: WindowServices, until: Until, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[list[MainWindow]]:
    without_web_view(monkeypatch)
    made: list[MainWindow] = []
    yield made
    for window in made:
        await end_window(window, services, until)


async def _closed(window: MainWindow) -> None:
    await window.release()
    await window.desk.close()
    window.hide()


async def _opened(
    windows: list[MainWindow], services: WindowServices, project: Path, until: Until
) -> MainWindow:
    if windows:
        await _closed(windows.pop())
    windows.append(await open_window(services, until, project))
    return windows[-1]


async def test_one_row_makes_tab_menu_entry_key_and_memory(
    windows: list[MainWindow],
    services: WindowServices,
    project: Path,
    until: Until,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    after_context = [entry.key for entry in PANELS].index("context") + 1
    monkeypatch.setattr(panels, "PANELS", (*PANELS[:after_context], ROW, *PANELS[after_context:]))
    first = await _opened(windows, services, project, until)
    tabs = first.panes.tabs
    assert [tabs.tabText(index) for index in range(tabs.count())] == [
        "Conversation", "Context", "Project", "Debug", "Info", "Schematic", "Components",
    ]  # fmt: skip
    menu = first.header.menu_bar.findChild(QMenu, "menu.view")
    assert menu is not None
    assert "panel.notes" in [action.objectName() for action in menu.actions()]
    assert first.findChild(Notes) is None, "made when it is first shown"
    first.activateWindow()
    await until(first.isActiveWindow)
    QTest.keyClick(first, Qt.Key.Key_9, Qt.KeyboardModifier.ControlModifier)
    shown = first.findChild(Notes)
    assert shown is not None
    assert shown.isVisible()
    await until(shown.hasFocus)
    assert shown.text() == "Project"
    services.language.set("zh")
    assert shown.text() == "项目"
    services.language.set("en")
    first.panes.show_panel("console")

    second = await _opened(windows, services, project, until)
    assert (second.panes.right_pages.current_key, second.parts.bottom.shown_tab) == ("notes", "console")
    assert second.findChild(Notes) is not None

    monkeypatch.setattr(panels, "PANELS", PANELS)  # a version that does not have it any more
    third = await _opened(windows, services, project, until)
    assert (third.panes.right_pages.current_key, third.parts.bottom.shown_tab) == ("conversation", "console")


def test_every_panel_is_known_by_a_key_of_its_own() -> None:
    keys = [entry.key for entry in PANELS]
    assert len(set(keys)) == len(keys)
    shortcuts = [entry.shortcut for entry in PANELS if entry.shortcut]
    assert len(set(shortcuts)) == len(shortcuts)


@pytest.mark.parametrize(
    ("kept", "usual", "expected"),
    [
        ((435, 404), [256, 404], [256, 404]),  # a lower window: the curves keep their height
        ((600, 239), [256, 404], [421, 239]),  # they had less: they keep that
        ((100, 739), [256, 404], [79, 581]),  # they had more than is usual: both shrink alike
        ((256, 404), [435, 404], [325, 513]),  # a higher window
        ((839, 0), [256, 404], [660, 0]),  # hidden
        ((), [256, 404], [256, 404]),
        ((1, 2, 3), [256, 404], [256, 404]),
    ],
)
def test_sizes_of_another_window_are_fitted_to_this_one(
    kept: tuple[int, ...], usual: list[int], expected: list[int]
) -> None:
    assert fitted(kept, usual, first=1) == pytest.approx(expected, abs=1)


def test_panes_at_the_sides_keep_their_width_in_a_larger_window() -> None:
    kept = (234, 760, 436)
    assert fitted(kept, [234, 1890, 436], first=1, grows_alone=True) == [234, 1890, 436]
    assert fitted(kept, [234, 700, 330], first=1, grows_alone=True) == fitted(kept, [234, 700, 330], first=1)
