"""Tabs that have no room are behind a menu; the one in front is always seen."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QHBoxLayout, QWidget

from presentation.ui.tab_strip import TabStrip
from presentation.ui.workspace import WindowServices
from shared.message import msg
from tests.gui.conftest import Until

TITLES = [msg("Waveforms"), msg("Measurements"), msg("Iterations"), msg("Problems"), msg("Console")]


def seen(strip: TabStrip) -> list[str]:
    return [strip.tabText(index) for index in range(strip.count()) if strip.isTabVisible(index)]


async def test_what_has_no_room_is_behind_a_menu(services: WindowServices, until: Until) -> None:
    place = QWidget()
    strip = TabStrip(services, TITLES, "tabs")
    row = QHBoxLayout(place)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(strip, 1)
    place.resize(strip.sizeHint().width(), 60)
    place.show()
    await until(lambda: strip.width() == place.width())
    assert len(seen(strip)) == 5
    assert not strip.more.isVisible()

    place.resize(round(strip.sizeHint().width() * 0.6), 60)
    await until(strip.more.isVisible)
    assert seen(strip)[0] == "Waveforms"
    assert len(seen(strip)) < 5
    rest = strip.menu_of_others()
    assert [*seen(strip), *(action.text() for action in rest.actions())] == [str(title) for title in TITLES]
    last = max(index for index in range(5) if strip.isTabVisible(index))
    assert strip.tabRect(last).right() < strip.more.x()  # none is cut

    rest.actions()[-1].trigger()
    assert strip.currentIndex() == 4
    assert "Console" in seen(strip)
    assert strip.tabRect(4).right() < strip.more.x()
    QTest.mouseClick(strip, Qt.MouseButton.LeftButton, pos=strip.tabRect(0).center())
    assert strip.currentIndex() == 0

    strip.setCurrentIndex(3)
    assert "Problems" in seen(strip)
    place.resize(strip.sizeHint().width(), 60)
    await until(lambda: len(seen(strip)) == 5)
    assert not strip.more.isVisible()
    rest.deleteLater()
