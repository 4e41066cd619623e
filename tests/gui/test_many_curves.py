"""Many dense curves are drawn in several turns: what is seen meanwhile, and that it is the same."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QByteArray
from PyQt6.QtGui import QImage, QPainter
from PyQt6.QtSvg import QSvgRenderer

from application.simulation.simulating import SimulationRequest
from domain.simulation.waveform import RealArray
from presentation.panels.waveforms.export import Caption, _paint, image_of, svg_of
from presentation.panels.waveforms.plot_area import PlotArea
from presentation.panels.waveforms.traces import Axis, Curve, PaneKind, Stretch, Trace
from presentation.ui.theme import Theme
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from tests.gui.conftest import Until
from tests.gui.loop_watchdog import LoopWatchdog

POINTS = 4_000
RUNS = 20
X = np.linspace(0.0, 1.0, POINTS)
LOOK = Theme("light", 1.0)
STEPPED = """* a family
.param cv=1n
V1 in 0 SIN(0 1 20k)
R1 in out 1k
C1 out 0 {cv}
.tran 1u 5m 0 1u
.step param cv 1n 20n 1n
.end
"""
FLAGS = 200
"""Pixels that the cursors have."""


def test_a_flat_response_is_a_flat_line(area: PlotArea) -> None:
    curve = Curve(pane=PaneKind("dB"), stretches=(Stretch(X, 1e-4 * X),), values=1e-4 * X)
    area.show_traces(_axis(), [Trace(expression="v(out)", color=0, curves=(curve,))])
    low, high = area.panes[0].box.viewRange()[1]
    assert high - low > 0.1
    area.fit_shown()
    low, high = area.panes[0].box.viewRange()[1]
    assert high - low < 2e-4, "asked for it"


def _axis(unit: str = "s", x: RealArray = X) -> Axis:
    return Axis(
        name="time",
        unit=unit,
        is_log=False,
        values=x,
        coordinates=x,
        parts=(slice(0, len(x)),),
        usable=slice(0, len(x)),
        low=0.0,
        high=1.0,
    )


def _trace(number: int, y: RealArray, x: RealArray = X) -> Trace:
    curve = Curve(pane=PaneKind("V"), stretches=(Stretch(x, y),), values=y)
    return Trace(
        expression="v(out)",
        color=0,
        curves=(curve,),
        is_ghost=number > 0,
        run=f"r = {number}",
        shade=number / RUNS,
    )


def _waves(periods: float, count: int) -> Iterator[RealArray]:
    wave = np.sin(2 * np.pi * periods * X)
    return ((0.1 + number / RUNS) * wave for number in range(count))


def _family(periods: float) -> list[Trace]:
    """Runs that turn often, and some that only rise."""
    made = list(_waves(periods, RUNS - 5))
    made += [1 - np.exp(-X * number) for number in range(1, 6)]
    return [_trace(number, y) for number, y in enumerate(made)]


@pytest.fixture
def area() -> Iterator[PlotArea]:
    made = PlotArea(LOOK)
    made.resize(700, 300)
    made.show()
    yield made
    made.close()


def _seen(area: PlotArea) -> RealArray:
    """(rows, columns, 4) bytes of what is on the screen."""
    return _bytes_of(area.grab().toImage())


def _bytes_of(picture: QImage) -> RealArray:
    image = picture.convertToFormat(QImage.Format.Format_RGB32)
    bits = image.constBits()
    assert bits is not None
    memory = np.frombuffer(bits.asstring(image.sizeInBytes()), np.uint8)
    return memory.reshape(image.height(), -1, 4).astype(float)


def _is_done(area: PlotArea) -> bool:
    return not area._in_turns.is_at_work and not area._soon.isActive()


def _colored(seen: RealArray) -> int:
    """How many pixels are neither background nor grid."""
    return int(((seen[..., :3].max(axis=2) - seen[..., :3].min(axis=2)) > 40).sum())


@pytest.mark.parametrize("part", [(0.0, 1.0), (0.3, 0.45), (0.5, 0.52)])
async def test_the_picture_of_many_curves_is_that_of_each(
    area: PlotArea, until: Until, part: tuple[float, float]
) -> None:
    first, *others = _family(200)
    area.show_traces(_axis(), [first], ghosts=others)
    area.show_range(part)
    await until(lambda: _is_done(area))
    in_turns = _seen(area)
    assert area._panes[0]._picture.is_drawn == (part[1] - part[0] > 0.1)
    area.redraw(at_once=True)
    assert (np.abs(in_turns - _seen(area)) > 8).mean() < 1e-4
    assert _colored(in_turns) > 20_000


async def test_curves_come_after_the_room_around_them_is_painted(area: PlotArea, until: Until) -> None:
    first, *others = _family(200)
    area.setUpdatesEnabled(False)
    area.show_traces(_axis(), [first], ghosts=others)
    await asyncio.sleep(0.02)
    assert area._in_turns._turns is None, "no turn takes time from the painting"
    area.setUpdatesEnabled(True)
    await until(lambda: _is_done(area))
    assert _colored(_seen(area)) > 20_000


async def test_what_was_drawn_is_seen_until_the_next_is_there(area: PlotArea, until: Until) -> None:
    first, *others = _family(40)
    area.show_traces(_axis(), [first], ghosts=others)
    assert _colored(_seen(area)) < FLAGS, "nothing yet"
    await until(lambda: _is_done(area))
    whole = _colored(_seen(area))
    before = area._panes[0].box.viewRange()
    area.show_range((0.1, 0.9))
    area.redraw()
    assert area._in_turns.is_at_work
    moved = _seen(area)
    assert _colored(moved) > 0.8 * whole, "the old picture, larger"
    await until(lambda: _is_done(area))
    assert np.abs(moved - _seen(area)).mean() < 12, "in the places where the curves are then"
    assert area._panes[0].box.viewRange() != before

    area.redraw(at_once=True)  # as for a picture that leaves the window; then back without a blank one
    area.redraw()
    assert area._in_turns.is_at_work
    assert _colored(_seen(area)) > 0.8 * whole
    await until(lambda: _is_done(area))

    area.show_traces(_axis("Hz"), [first], ghosts=others)
    assert _colored(_seen(area)) < FLAGS, "no curve of another axis"
    await until(lambda: _is_done(area))
    area.show_traces(_axis("Hz"), [first], keep_view=True)
    assert _is_done(area)
    assert FLAGS < _colored(_seen(area)) < whole
    assert not area._panes[0]._picture.is_drawn


async def test_what_changes_while_it_is_drawn_is_drawn_behind_it(area: PlotArea, until: Until) -> None:
    first, *others = _family(200)
    area.show_traces(_axis(), [first], ghosts=others)
    assert area._in_turns.is_at_work
    area.show_range((0.2, 0.5))
    area.redraw()
    await until(lambda: _is_done(area))
    seen = _seen(area)
    area.redraw(at_once=True)
    assert (np.abs(seen - _seen(area)) > 8).mean() < 1e-4
    area.fit_shown()
    assert area._panes[0].box.viewRange()[1][1] == pytest.approx(1.0, rel=0.1)


async def test_what_is_new_comes_in_turns_and_what_follows_a_hand_at_once(
    area: PlotArea, until: Until
) -> None:
    few = _family(200)[:4]
    area.show_traces(_axis(), few)
    assert area._in_turns.is_at_work
    area.restore({"": (0.1, 0.9)})
    await until(lambda: _is_done(area))
    assert area._panes[0]._picture.is_drawn, "also where another part was asked for meanwhile"
    in_turns = _seen(area)
    area.show_range((0.2, 0.9))
    area.redraw()
    assert not area._in_turns.is_at_work
    assert not area._panes[0]._picture.is_drawn
    area.show_range((0.1, 0.9))
    area.redraw()
    assert (np.abs(in_turns - _seen(area)) > 8).mean() < 1e-4
    area.resize(800, 300)
    await until(lambda: _is_done(area))
    assert area._panes[0]._picture.is_drawn


async def test_a_family_of_long_runs_does_not_hold_the_loop(
    area: PlotArea, until: Until, loop_watchdog: LoopWatchdog
) -> None:
    area.resize(1300, 600)
    x = np.linspace(0.0, 1.0, 100_000)
    axis = _axis(x=x)
    waves = [np.sin(2 * np.pi * periods * x) for periods in (200, 20_000)]
    made = [_trace(number, (0.1 + number / RUNS) * wave, x=x) for number in range(RUNS) for wave in waves]
    async with loop_watchdog.watching():
        area.show_traces(axis, made[:1], ghosts=made[1:])
        await until(lambda: _is_done(area))
        for place in range(5):
            area.show_range((0.2 + 0.01 * place, 0.7 + 0.01 * place))
            await asyncio.sleep(0.05)
        for width in np.geomspace(1.0, 1e-3, 8):  # to single periods, by Qt's outlines
            area.show_range((0.5 - width / 2, 0.5 + width / 2))
            await asyncio.sleep(0.05)
        await until(lambda: _is_done(area))
    assert _colored(_seen(area)) > 10_000


async def test_the_first_plot_of_all_is_made_in_several_turns(
    services: WindowServices, project: Path, until: Until, loop_watchdog: LoopWatchdog
) -> None:
    circuit = project / "filter.cir"
    circuit.write_text(STEPPED, encoding="utf-8")
    services.workspace.root, services.workspace.main_circuit = project, circuit
    pane = Parts(services, services.app).bottom
    pane.resize(1400, 600)
    pane.show()
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    panel = pane.views.waveforms
    async with loop_watchdog.watching():
        services.workspace.result_selected.emit(result.result_path)
        await until(lambda: panel.area is not None and panel.area.isVisible() and _is_done(panel.area))
    await until(lambda: not services.app.program.tasks.handles)
    assert panel.area is not None
    assert len(panel.area.traces) == 2
    assert _colored(_seen(panel.area)) > 20_000


@pytest.mark.parametrize(("periods", "from_each", "from_window"), [(200, 4.0, 8.0), (2, 0.4, 1.0)])
async def test_a_picture_that_leaves_the_window_is_drawn_in_turns_and_shown_nowhere(
    area: PlotArea, until: Until, periods: float, from_each: float, from_window: float
) -> None:
    area.use(Theme("dark", 1.0))
    first, *others = _family(periods)
    area.show_traces(_axis(), [first], ghosts=others)
    await until(lambda: _is_done(area))
    shown, caption = _seen(area), Caption("many.cir", (("v(out)", 0),))
    picture = await image_of(area, LOOK, caption)
    await until(lambda: _is_done(area))
    assert (np.abs(shown - _seen(area)) > 8).mean() < 1e-4
    area.use(LOOK)
    area.redraw(at_once=True)
    each = QImage(picture.size(), picture.format())
    each.setDevicePixelRatio(picture.devicePixelRatio())
    above = round(picture.height() / picture.devicePixelRatio()) - area.height()
    painter = QPainter(each)
    _paint(area, painter, LOOK, above, caption)
    painter.end()
    whole = _bytes_of(picture)
    assert _colored(whole) > 20_000
    assert np.abs(whole - _bytes_of(each)).mean() < from_each
    halved = (whole[::2, ::2] + whole[1::2, ::2] + whole[::2, 1::2] + whole[1::2, 1::2]) / 4
    assert np.abs(halved[above:] - _seen(area)).mean() < from_window, "a grid beside its numbers: 2.0"


async def test_a_plot_that_is_closed_while_it_is_drawn_draws_no_more(area: PlotArea, until: Until) -> None:
    first, *others = _family(200)
    area.show_traces(_axis(), [first], ghosts=others)
    await until(lambda: area._in_turns._turns is not None)
    area.close()
    await until(lambda: _is_done(area))
    assert area.closed


async def test_a_drawing_of_lines_is_drawn_in_turns_too(
    area: PlotArea, until: Until, loop_watchdog: LoopWatchdog
) -> None:
    area.resize(1300, 600)
    first, *others = [_trace(min(number, RUNS - 1), y) for number, y in enumerate(_waves(210, 40))]
    area.show_traces(_axis(), [first], ghosts=others)
    await until(lambda: _is_done(area))
    shown, caption = _seen(area), Caption("many.cir", (("v(out)", 0),))
    async with loop_watchdog.watching():
        document = await svg_of(area, LOOK, caption)
    assert (np.abs(shown - _seen(area)) > 8).mean() < 1e-4, "the window as before"
    assert document.count(b"<polyline") >= 40
    assert b">many.cir</text>" in document
    renderer = QSvgRenderer(QByteArray(document))
    size = renderer.viewBox().size()
    picture = QImage(size, QImage.Format.Format_RGB32)
    painter = QPainter(picture)
    renderer.render(painter)
    painter.end()
    above = size.height() - area.height()
    assert np.abs(_bytes_of(picture)[above:] - shown).mean() < 6.0, "lines, where the window has an area"
