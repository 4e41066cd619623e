"""Pull the curve: a point is dragged in the plot, values follow, the file is changed when it is let go."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtCore import QEvent, QLineF, QPoint, QPointF, Qt
from PyQt6.QtGui import QColor, QMouseEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QMenu

from application.simulation.simulating import SimulationRequest
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import parse_number
from domain.circuit.preferred_values import is_preferred
from domain.simulation.goals import DesignGoal
from presentation.panels.studies.pull_card import PullCard
from presentation.panels.waveforms.plot_area import PlotArea
from presentation.panels.waveforms.pull_handles import PullItem
from presentation.panels.waveforms.pull_points import PullPoint
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from shared.message import Message
from tests.gui.circuits_with_goals import opened
from tests.gui.conftest import Until

FILTER = """* RC low-pass behind a divider, fc = 1.59 kHz
V1 in 0 DC 1 AC 1
R1 in out 1k tc1=2m
C1 out 0 100n
R7 in side 10k
R8 side 0 10k
.ac dec 50 10 1meg
.end
"""
GOALS = (
    DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=1000.0, maximum=20000.0),
    DesignGoal(metric="late", expression="mag(at(v(out),100k))", unit="V", maximum=0.03),
    DesignGoal(
        metric="hot", expression="bandwidth(v(out))", unit="Hz", minimum=500.0, condition="at 85 degC"
    ),
)
LEFT, NO_BUTTON = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton


@pytest.fixture
async def circuit(services: WindowServices, tmp_path: Path) -> Path:
    return await opened(services, tmp_path / "filter", "rc.cir", FILTER, GOALS)


@pytest.fixture
async def parts(services: WindowServices, circuit: Path, until: Until) -> AsyncIterator[Parts]:
    made = Parts(services, services.app)
    services.workspace.main_circuit = circuit
    made.bottom.resize(1000, 460)
    made.bottom.show()
    _ = made.pull
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)
    await until(lambda: len(_area(made).pulls.points) == 2 if made.runs.waveforms.area else False)
    await until(lambda: not services.app.program.tasks.handles)
    yield made
    await until(lambda: not services.app.program.tasks.handles)


def _area(parts: Parts) -> PlotArea:
    area = parts.runs.waveforms.area
    assert area is not None
    return area


def _corner(area: PlotArea) -> PullPoint:
    return next(each for each in area.pulls.points if each.direction == "across")


def _send(area: PlotArea, kind: QEvent.Type, place: QPoint, button: Qt.MouseButton) -> None:
    viewport = area.viewport()
    where = QPointF(viewport.mapToGlobal(place))
    buttons = LEFT if kind is not QEvent.Type.MouseButtonRelease and button is LEFT else NO_BUTTON
    pressed = NO_BUTTON if kind is QEvent.Type.MouseMove else button
    none = Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(viewport, QMouseEvent(kind, QPointF(place), where, pressed, buttons, none))


def _at(area: PlotArea, frequency: float) -> QPoint:
    """Where the -3 dB point of the first pane would be at a frequency."""
    point = _corner(area)
    place = QPointF(math.log10(frequency), point.level)
    return area.mapFromScene(area.panes[0].box.mapViewToScene(place))


async def _take(area: PlotArea, until: Until, frequency: float) -> None:
    """Press on the point and move the hand to a frequency, until the plot has taken it."""
    start, end = _at(area, _corner(area).quantity.value), _at(area, frequency)
    _send(area, QEvent.Type.MouseMove, start, NO_BUTTON)
    _send(area, QEvent.Type.MouseButtonPress, start, LEFT)
    for turn in range(6):
        _send(area, QEvent.Type.MouseMove, end - QPoint(0, turn % 2), LEFT)
        began = asyncio.get_running_loop().time()
        # The scene takes a hundred moves a second.
        await until(lambda began=began: asyncio.get_running_loop().time() - began > 0.011)
    assert area.pulls.is_pulling


def _bytes(circuit: Path) -> bytes:
    return circuit.read_bytes()


def _write(circuit: Path, text: str) -> None:
    circuit.write_text(text, encoding="utf-8")


def _time(circuit: Path) -> int:
    return circuit.stat().st_mtime_ns


def _is_live(area: PlotArea) -> bool:
    return any(trace.is_preview for pane in area.panes for trace, _, _ in pane.lines)


def _values(circuit: Path) -> dict[str, float]:
    parts = (each for each in Netlist.parse(_bytes(circuit)).elements if each.letter in "rc")
    return {each.name: parse_number(each.value.text) for each in parts if each.value is not None}


def _said(parts: Parts) -> list[str]:
    said: list[str] = []
    language = parts.services.language
    parts.services.workspace.status_changed.connect(
        lambda text: said.append(language(text) if isinstance(text, Message) else str(text))
    )
    return said


@pytest.mark.timeout(180)
async def test_the_corner_follows_the_hand_and_is_written_as_one_change(
    parts: Parts, circuit: Path, until: Until
) -> None:
    area, said, panel = _area(parts), _said(parts), parts.runs.waveforms
    point = _corner(area)
    assert point.quantity.value == pytest.approx(1591.5, rel=1e-3)
    await _take(area, until, 6000.0)
    await until(lambda: "R1" in area.pulls.words)
    await until(lambda: "✗" in area.pulls.words)  # the other goal is lost on the way
    await until(lambda: _is_live(area))
    assert _bytes(circuit) == FILTER.encode()

    _send(area, QEvent.Type.MouseButtonRelease, _at(area, 6000.0), LEFT)
    await until(lambda: any("was wanted" in text for text in said))
    values = _values(circuit)
    assert not parts.pull.work.is_running
    reached = 1 / (2 * math.pi * values["R1"] * values["C1"])
    assert reached == pytest.approx(6000, rel=0.02)
    # The least change: both by the same share; what does nothing to the corner stays.
    assert values["R1"] / 1e3 == pytest.approx(values["C1"] / 1e-7, rel=1e-2)
    assert (values["R7"], values["R8"]) == (10e3, 10e3)
    fresh = next(each for each in panel.shown.measurements if each.expression == "bandwidth(v(out))")
    assert fresh.value is not None
    assert fresh.value.value == pytest.approx(reached, rel=1e-3)
    await until(lambda: not _is_live(area))
    root = parts.services.workspace.root
    assert root is not None
    operations = parts.services.app.project.operations
    found = await operations.list(root)
    assert len(found) == 1
    await operations.undo(root, found[0].record.op_id)
    assert _bytes(circuit) == FILTER.encode()


@pytest.mark.timeout(120)
async def test_esc_leaves_the_file_and_the_plot_as_they_were(
    parts: Parts, circuit: Path, until: Until
) -> None:
    area, said = _area(parts), _said(parts)
    before = _time(circuit)
    await _take(area, until, 400.0)
    await until(lambda: "C1" in area.pulls.words)
    QTest.keyClick(area, Qt.Key.Key_Escape)
    assert not area.pulls.is_pulling
    assert area.pulls.words == ""
    assert said[-1] == "Nothing was changed."
    assert area.has_cursors, "Esc ended the pull alone"
    _send(area, QEvent.Type.MouseButtonRelease, _at(area, 300.0), LEFT)
    await until(lambda: not parts.pull.work.is_running)
    await until(lambda: not _is_live(area))
    assert _bytes(circuit) == FILTER.encode()
    assert _time(circuit) == before


@pytest.mark.timeout(180)
def test_a_point_that_stands_on_its_goals_line_is_within_reach() -> None:
    item, spot, white = PullItem(), QPointF(50.0, 50.0), QColor("white")
    item.stand(spot, [QLineF(36.0, 51.0, 64.0, 51.0)], white, white, 3.5, is_across=False)
    assert all(item.shape().contains(QPointF(x, 50.0)) for x in (37.0, 50.0, 63.0))


async def test_a_number_is_typed_values_are_chosen_and_bought(
    parts: Parts, circuit: Path, until: Until
) -> None:
    area, said = _area(parts), _said(parts)
    area.setFocus()
    QTest.keyClick(area, Qt.Key.Key_D)
    menu = area.findChild(QMenu, "pull_menu")
    assert menu is not None
    rows = [row.text() for row in menu.actions()]
    assert [row.partition("   ")[0] for row in rows] == ["fc", "late", "hot (at 85 degC)"]
    assert "≥ 500" in rows[2]
    shown = [(each.name, each.is_judged) for each in parts.runs.waveforms.shown.measurements]
    assert shown == [("fc", True), ("hot", False), ("late", True)], "two goals of one figure are two lines"
    menu.actions()[0].trigger()
    menu.close()
    await until(lambda: bool(card := area.findChild(PullCard)) and card.isVisible())
    card = area.findChild(PullCard)
    assert card is not None
    card.field.setText("nonsense")
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    assert card.isVisible()
    assert "A number is needed" in said[-1]

    def choose(box: object, data: str) -> None:
        box.setCurrentIndex(box.findData(data))  # type: ignore[attr-defined]

    choose(card.values[0], "R1")
    choose(card.series_box, "E24")
    card.field.setText("10k")
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    await until(lambda: any("was wanted" in text for text in said))
    values = _values(circuit)
    assert values["C1"] == pytest.approx(100e-9)
    assert is_preferred(values["R1"], "E24")
    assert values["R1"] == pytest.approx(160.0)  # 159.15 ohms would be exact
    assert "10\u00a0kHz was wanted: R1 1k → 160." in said[-1]

    # In its own condition: R1 is 1.116 of what is written there.
    await until(lambda: len(area.pulls.points) == 2)
    hot = next(each for each in parts.runs.waveforms.pulls.offered() if each.at)
    parts.pull._on_asked(hot)
    await until(card.isVisible)
    assert card.field.text() == "500"
    choose(card.series_box, "")
    choose(card.values[0], "R1")
    card.field.setText("2k")
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    await until(lambda: "2\u00a0kHz was wanted" in said[-1])
    assert 1 / (2 * math.pi * 1.116 * _values(circuit)["R1"] * 100e-9) == pytest.approx(2000, rel=0.01)

    await until(lambda: len(area.pulls.points) == 2)
    parts.pull._on_asked(_corner(area).quantity)
    await until(card.isVisible)
    choose(card.values[0], "R7")
    choose(card.series_box, "")
    before = _bytes(circuit)
    errors: list[str] = []
    parts.services.workspace.error_occurred.connect(
        lambda e: errors.append(parts.services.language(e.message))
    )
    card.field.setText("5k")
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    await until(lambda: bool(errors))
    assert "No value of rc.cir that may follow moves" in errors[0]
    assert _bytes(circuit) == before
    assert not area.pulls.is_pulling

    parts.pull._on_asked(_corner(area).quantity)
    await until(card.isVisible)
    choose(card.values[0], "R1")
    card.field.setText("100g")
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    await until(lambda: "Nothing was changed." in said[-1])
    assert "does not come to" in said[-1]
    assert _bytes(circuit) == before


@pytest.mark.timeout(120)
async def test_a_run_of_a_family_is_pulled_where_the_cursors_read(
    parts: Parts, circuit: Path, until: Until
) -> None:
    stepped = FILTER.replace("R8 side 0 10k", "RL out 0 1k\n.step RL list 1k 4k")
    _write(circuit, stepped)
    area, said = _area(parts), _said(parts)
    result = await parts.services.app.simulation.run(SimulationRequest(circuit=circuit))
    parts.services.workspace.result_selected.emit(result.result_path)
    await until(lambda: area.pulls.points and _corner(area).quantity.value == pytest.approx(3183, rel=1e-2))
    area.setFocus()
    QTest.keyClick(area, Qt.Key.Key_BracketRight)
    await until(lambda: area.pulls.points and _corner(area).quantity.value == pytest.approx(1989, rel=1e-2))
    await _take(area, until, 6000.0)
    await until(lambda: _is_live(area))
    _send(area, QEvent.Type.MouseButtonRelease, _at(area, 6000.0), LEFT)
    await until(lambda: any("was wanted" in text for text in said))
    assert any(text.lower().startswith("fc at rl = 4k is") for text in said)
    values = _values(circuit)
    assert values["RL"] == 1e3, "what is stepped does not follow"
    r = 1 / (1 / values["R1"] + 1 / 4e3)
    assert 1 / (2 * math.pi * r * values["C1"]) == pytest.approx(6000, rel=0.02)

    def steps() -> list[dict[str, float]]:
        """At which the points stand; they are made anew behind what the status bar says."""
        return [{k.lower(): v for k, v in each.quantity.at.items()} for each in area.pulls.points]

    await until(lambda: {"rl": 4e3} in steps())

    # The circuit, which was not open, is: Undo is at hand.
    page = parts.editor.page_of(circuit)
    assert page is not None
    await until(lambda: page.bytes_to_save() == _bytes(circuit))
    page.editor.undo()
    assert await page.save() or not page.is_dirty
    assert _bytes(circuit) == stepped.encode()
