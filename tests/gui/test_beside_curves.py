"""What is drawn beside the curves: the spectrum of what is seen, locus, histogram, trace against trace."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtTest import QTest

from application.simulation.simulating import SimulationRequest
from presentation.panels.bottom_pane import BottomPane
from presentation.panels.run_views import WAVEFORMS
from presentation.panels.waveforms.beside.view import BesideView
from presentation.panels.waveforms.panel import WaveformsPanel
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from tests.gui.conftest import Until

CIRCUIT = """* an amplifier that bends a sine
Vin in 0 DC 0 SIN(0 1 1k) AC 1
R1 in mid 1k
C1 mid 0 10n
Bout out 0 V=v(mid)*(2+v(mid)*(0.02+0.006*v(mid)))
Rout out 0 10k
.tran 1u 12.3m 0 1u
.ac dec 20 10 1meg
.four 1k v(out)
.end
"""

Settled = Callable[[], Awaitable[None]]


@pytest.fixture
async def pane(services: WindowServices, project: Path, until: Until) -> AsyncIterator[BottomPane]:
    (project / ".circuit_ai").mkdir()
    circuit = project / "amp.cir"
    circuit.write_text(CIRCUIT)
    services.workspace.root, services.workspace.main_circuit = project, circuit
    made = Parts(services, services.app).bottom
    made.resize(1440, 420)
    made.show()
    made.show_tab(WAVEFORMS)
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)
    await until(lambda: made.views.waveforms.traces)
    await until(lambda: not services.app.program.tasks.handles)
    yield made
    await until(lambda: not services.app.program.tasks.handles)


@pytest.fixture
def panel(pane: BottomPane) -> WaveformsPanel:
    return pane.views.waveforms


@pytest.fixture
def settled(panel: WaveformsPanel, services: WindowServices, until: Until) -> Settled:
    """Everything is drawn that was asked for."""

    async def wait() -> None:
        view = panel.beside.view
        await until(
            lambda: (view is None or not view._soon.isActive()) and not services.app.program.tasks.handles
        )

    return wait


async def _analysis(panel: WaveformsPanel, kind: str, settled: Settled) -> None:
    names = [panel.plot_choice.itemText(at) for at in range(panel.plot_choice.count())]
    panel.choose_plot(next(at for at, name in enumerate(names) if name.endswith(kind)))
    await settled()


def _view(panel: WaveformsPanel) -> BesideView:
    assert panel.beside.view is not None
    return panel.beside.view


async def test_the_spectrum_of_what_is_seen(panel: WaveformsPanel, settled: Settled, until: Until) -> None:
    await _analysis(panel, "tran", settled)
    assert panel.area is not None
    panel.area.setFocus()
    await until(panel.area.hasFocus)
    QTest.keyClick(panel.area, Qt.Key.Key_F, Qt.KeyboardModifier.ShiftModifier)
    await settled()
    view = _view(panel)
    assert panel.beside.kind == "spectrum"
    assert [trace.expression for trace in view.drawing.traces] == ["v(in)", "v(out)"]
    tone = view.drawing.figures[1].distortion
    assert tone is not None
    # 2 v + 0.02 v^2 + 0.006 v^3 of a sine of 1 V: 10 mV at 2 f, 1.5 mV at 3 f (v(mid) is 0.2 % smaller)
    assert tone.fundamental.frequency_hz == pytest.approx(1e3, rel=1e-4)
    assert tone.harmonics[0].amplitude == pytest.approx(0.01, rel=0.01)
    assert tone.harmonics[1].amplitude == pytest.approx(0.0015, rel=0.02)
    assert [mark.text for mark in view.drawing.marks] == ["1", "2", "3"]
    cells = {
        column.title: cell for column, cell in zip(view.tones._model.columns, view.tones.rows[1], strict=True)
    }
    assert (cells["THD"].text, cells["THD"].unit) == ("0.503", "%")
    assert cells["SFDR"].text == "46.1"
    assert "12 periods of 1.000" in view._notes.text()
    assert view.area is not None

    # zooming in on 5 periods: the spectrum is of these, and too few for this window
    panel.area.zoom_into(panel.area.panes[0], (2e-3, 7.2e-3), None)
    await settled()
    assert "5 periods" in view._notes.text()
    assert "Figures with a Hann window: this one needs 9 periods" in view._notes.text()
    tone = view.drawing.figures[1].distortion
    assert tone is not None
    assert tone.thd == pytest.approx(0.00503, rel=0.01), "of the whole periods"
    view._set(has_whole_periods=False)
    await settled()
    problem = view.drawing.figures[1].problem
    assert problem is not None
    assert "5 periods" in str(problem)
    view._set(has_whole_periods=True)
    view._set(window="rectangular", level="linear", is_log=False)
    await settled()
    tone = view.drawing.figures[1].distortion
    assert tone is not None
    assert tone.thd == pytest.approx(0.00503, rel=0.01)
    curve = view.drawing.traces[1].curves[0]
    assert curve.pane.unit == "V"
    assert curve.values[5] == pytest.approx(2.0, abs=0.02)  # five periods: bin 5

    menu = view.menu()
    assert {action.objectName() for action in menu.actions()} >= {"fit", "copy", "close"}
    next(action for action in menu.actions() if action.objectName() == "copy").trigger()
    menu.close()
    await settled()
    clipboard = QGuiApplication.clipboard()
    assert clipboard is not None
    head, *rows = clipboard.text().splitlines()
    assert head == "frequency [Hz]\tv(in) [V]\tv(out) [V]"
    assert float(rows[5].split("\t")[2]) == pytest.approx(2.0, abs=0.02)

    view.cursors.setChecked(True)
    view.area.move_cursor("a", 5)
    assert view.strip.isVisibleTo(view)
    assert view.strip.rows[0][1].text == "1.000"
    QTest.keyClick(panel.area, Qt.Key.Key_F, Qt.KeyboardModifier.ShiftModifier)
    assert panel.beside.kind is None
    assert view.isHidden()


async def test_a_spectrum_follows_the_next_run(
    panel: WaveformsPanel, services: WindowServices, settled: Settled, project: Path, until: Until
) -> None:
    await _analysis(panel, "tran", settled)
    panel.beside.show_kind("spectrum")
    await settled()
    circuit = project / "amp.cir"
    circuit.write_text(CIRCUIT.replace("0.02+", "0.2+"))
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)
    await until(lambda: panel._shown.loaded is not None and panel._shown.loaded.source == result.result_path)
    await settled()
    tone = _view(panel).drawing.figures[1].distortion
    assert tone is not None
    assert tone.harmonics[0].amplitude == pytest.approx(0.1, rel=0.02)


async def test_harmonics_of_four_cards_are_bars(panel: WaveformsPanel, settled: Settled) -> None:
    await _analysis(panel, "tran", settled)
    panel.beside.show_kind("harmonics")
    await settled()
    drawing = _view(panel).drawing
    (trace,) = drawing.traces
    assert trace.expression == "v(out)"
    bars = trace.curves[0].values.reshape(-1, 5)
    assert bars[0, 1] == 0
    assert bars[1, 1] == pytest.approx(-46.0, abs=0.2)
    assert "THD of v(out): 0.50" in _view(panel)._notes.text()


async def test_nyquist_group_delay_and_what_does_not_suit(
    panel: WaveformsPanel, services: WindowServices, settled: Settled
) -> None:
    await _analysis(panel, "ac", settled)
    panel.beside.toggle()
    await settled()
    view, drawing = _view(panel), _view(panel).drawing
    assert panel.beside.kind == "nyquist"
    assert drawing.marks[0].text == "\N{MINUS SIGN}1"
    assert view.area is not None
    box = view.area._panes[0].box
    width, height = box.viewPixelSize()
    assert width == pytest.approx(height, rel=0.02), "circles are round"
    view.cursors.setChecked(True)
    axis = drawing.axis
    assert axis is not None
    view.area.move_cursor("a", 0)
    view.area._step(5)
    place = view.area.cursor_samples[0]
    assert place == 5, "along the curve"
    curve = drawing.traces[0].curves[0]
    assert complex(axis.values[place], curve.values[place]) == pytest.approx(2, rel=2e-3)
    assert view.strip.rows[0][2].text.startswith("17.78"), "the frequency, beside re and im"

    view.choose("spectrum")
    await settled()
    assert view.drawing.axis is None
    assert "transient" in view._problem.text()
    await _analysis(panel, "tran", settled)
    assert panel.beside.kind == "spectrum", "done as it asks, it is there"
    assert view.drawing.figures
    await _analysis(panel, "ac", settled)
    assert panel.beside.kind is None
    panel.beside.show_kind("against", against="ph(v(out))")
    await settled()
    assert "complex" in view._problem.text()

    services.shortcuts.trigger("plot.group_delay")
    await settled()
    assert "group_delay(v(out))" in [trace.expression for trace in panel.traces]


async def test_trace_against_trace_and_histogram(panel: WaveformsPanel, settled: Settled) -> None:
    await _analysis(panel, "tran", settled)
    panel.beside.show_kind("against", against="v(mid)")
    await settled()
    drawing = _view(panel).drawing
    trace = next(each for each in drawing.traces if each.expression == "v(out)")
    stretch = trace.curves[0].stretches[0]
    expected = 2 * stretch.x + 0.02 * stretch.x**2 + 0.006 * stretch.x**3
    np.testing.assert_allclose(stretch.y, expected, atol=1e-6)
    few, _ = stretch.visible(-1.1, 1.1, 300)
    assert len(few) < len(stretch.x)

    panel.beside.show_kind("histogram")
    await settled()
    drawing = _view(panel).drawing
    shares = [trace.curves[0].values[1:-1:2] for trace in drawing.traces]
    assert [float(each.sum()) for each in shares] == pytest.approx([100, 100], abs=0.1)
    assert shares[1][0] > 4 * shares[1][50], "a sine stays longest at its crests"


async def test_what_is_beside_belongs_to_circuit_and_analysis(
    panel: WaveformsPanel, services: WindowServices, settled: Settled
) -> None:
    await _analysis(panel, "tran", settled)
    panel.beside.show_kind("spectrum")
    await settled()
    await _analysis(panel, "ac", settled)
    assert panel.beside.kind is None
    panel.beside.show_kind("nyquist")
    await settled()
    _view(panel).choose("histogram")
    await settled()
    await _analysis(panel, "tran", settled)
    assert panel.beside.kind == "spectrum"
    assert _view(panel).drawing.figures
    kept = services.workspace.views.of(panel._shown.circuit).beside
    assert kept == {"tran": "spectrum", "ac": "histogram"}
    panel.beside.hide_view()
    assert kept["tran"] == ""
    kept["ac"] = "an unknown one"
    await _analysis(panel, "ac", settled)
    assert panel.beside.kind is None
