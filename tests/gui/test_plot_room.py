"""Where there is little room: chips wrap and none is cut, fit stays, the cursors keep their numbers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PyQt6 import sip
from PyQt6.QtWidgets import QPushButton

from application.simulation.simulating import SimulationRequest
from presentation.panels.bottom_pane import BottomPane
from presentation.panels.run_views import MEASUREMENTS, WAVEFORMS
from presentation.panels.waveforms import cursor_table
from presentation.panels.waveforms.figures import column
from presentation.panels.waveforms.plot_tools import PlotTools
from presentation.panels.waveforms.traces import ReadoutRow, slope_rows
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from tests.gui.conftest import Until

NODES = [f"v(stage_number_{number})" for number in range(1, 8)]
CIRCUIT = "\n".join(
    [
        "* ladder",
        "V1 in 0 DC 0 AC 1",
        "R0 in stage_number_1 1k",
        "C0 stage_number_1 0 10n",
        *(
            f"R{n} stage_number_{n} stage_number_{n + 1} 1k\nC{n} stage_number_{n + 1} 0 10n"
            for n in range(1, 8)
        ),
        ".ac dec 10 10 1meg",
        ".end",
        "",
    ]
)


@pytest.fixture
async def pane(services: WindowServices, project: Path, until: Until) -> AsyncIterator[BottomPane]:
    (project / ".circuit_ai").mkdir()
    circuit = project / "filter.cir"
    circuit.write_text(CIRCUIT)
    services.workspace.root, services.workspace.main_circuit = project, circuit
    made = Parts(services, services.app).bottom
    made.resize(900, 404)
    made.show()
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)
    await until(lambda: made.views.waveforms.traces)
    for name in NODES:
        made.views.waveforms.add_trace(name)
        await until(lambda name=name: any(trace.expression == name for trace in made.views.waveforms.traces))
    await until(lambda: not services.app.program.tasks.handles)
    yield made
    await until(lambda: not services.app.program.tasks.handles)


@pytest.mark.parametrize("width", [1400, 900, 720, 560])
async def test_no_chip_is_cut_and_fit_never_goes(pane: BottomPane, width: int, until: Until) -> None:
    pane.show_tab(WAVEFORMS)
    pane.resize(width, 404)
    chips = pane.views.waveforms.chips
    await until(lambda: pane.views.waveforms.tools.width() <= width)
    shown = [chip for chip in chips.chips if chip.isVisible()]
    assert shown
    for chip in shown:
        assert chip.width() == chip.sizeHint().width()
        assert chips.rect().contains(chip.geometry())
    hidden = len(chips.chips) - len(shown)
    assert chips.more.isVisible() == (hidden > 0)
    assert not hidden or chips.more.text() == f"+{hidden}"
    assert chips.rows <= 2
    for button in (pane.views.waveforms.fit_button, pane.views.waveforms.cursor_button, chips.add_button):
        assert button.isVisible()
    for widget in (*shown, chips.add_button):
        others = [
            each for each in (*shown, chips.more, chips.add_button) if each is not widget and each.isVisible()
        ]
        assert not any(widget.geometry().intersects(each.geometry()) for each in others)


async def test_two_traces_and_what_adds_one_stand_in_one_row(pane: BottomPane, until: Until) -> None:
    """In the bottom pane of a window of 1440 pixels."""
    pane.show_tab(WAVEFORMS)
    pane.resize(762, 404)
    tools, chips = pane.views.waveforms.tools, pane.views.waveforms.chips
    for name in [chip.text() for chip in chips.chips]:
        pane.views.waveforms.remove_trace(name)
    for name in ("v(in)", "i(v1)"):
        pane.views.waveforms.add_trace(name)
        await until(lambda name=name: name in [chip.text() for chip in chips.chips])
    chips.end_adding()
    await until(lambda: chips.rows == 1 and tools.rest.isVisible())
    assert all(chip.isVisible() for chip in chips.chips)
    assert not chips.more.isVisible()
    edge = tools.contentsRect().right() - tools.rest.geometry().right()
    assert 0 <= edge <= 12  # the buttons stand at the end of the row
    for name in ("v(in)/i(v1)", "-v(in)"):
        pane.views.waveforms.add_trace(name)
    chips.end_adding()
    await until(lambda: len(chips.chips) == 4 and all(chip.isVisible() for chip in chips.chips))
    assert not chips.more.isVisible()  # the circuit's name gave way
    assert pane.views.waveforms.fit_button.isVisible()
    for name in ("v(in)/i(v1)", "-v(in)", "i(v1)"):
        pane.views.waveforms.remove_trace(name)
    await until(lambda: not tools.rest.isVisible())
    assert tools.export.isVisible()
    assert chips.rows == 1


async def test_in_a_narrow_pane_the_cursors_stand_under_the_plot(
    services: WindowServices, pane: BottomPane, until: Until
) -> None:
    panel = pane.views.waveforms
    pane.resize(1200, 404)
    await until(lambda: panel.cursor_table is not None and panel.cursor_table.isVisible())
    assert panel.cursor_strip is not None
    assert not panel.cursor_strip.isVisible()
    pane.resize(600, 404)
    await until(panel.cursor_strip.isVisible)
    assert [row[0].text for row in panel.cursor_strip.rows] == ["A", "B", "B−A"]
    assert panel.cursor_strip.rows[0][1].unit in ("Hz", "kHz")
    assert panel.cursor_strip.rows[0][2].unit == "dB"
    assert "dB/dec" in panel._rooms.foot.words.text()
    panel.tools.cursors.click()
    panel._rooms.read_cursors()  # as another run does
    assert "dB/dec" not in panel._rooms.foot.words.text()
    panel.tools.cursors.click()
    services.language.set("zh")
    assert "dB/十倍频程" in panel._rooms.foot.words.text()
    link = panel._rooms.foot.findChild(QPushButton, "all_measurements")
    assert link is not None
    link.click()
    assert pane.shown_tab == MEASUREMENTS


def test_what_two_cursors_say_together() -> None:
    time = ReadoutRow("time", "s", None, 1e-3, 3e-3)
    assert slope_rows([time, ReadoutRow("v(out)", "V", 0, 1.0, 2.0)]) == [
        ("rate", pytest.approx(500.0), "Hz", None),
        ("slope", pytest.approx(500.0), "V/s", 0),
    ]
    sweep = ReadoutRow("frequency", "Hz", None, 1e3, 1e5)
    curves = [ReadoutRow("v(out)", "dB", 0, -3.0, -43.0), ReadoutRow("v(in)", "dB", 1, 0.0, -2.0)]
    assert slope_rows([sweep, *curves]) == [("slope", pytest.approx(-20.0), "dB/dec", 0)]
    assert slope_rows([sweep, *curves], "v(in)") == [("slope", pytest.approx(-1.0), "dB/dec", 1)]
    assert slope_rows([sweep, *curves], "v(gone)") == [("slope", pytest.approx(-20.0), "dB/dec", 0)]
    assert slope_rows([ReadoutRow("time", "s", None, 1.0, 1.0)]) == []
    same = ReadoutRow("v(in)", "V", 0, 12.0, 12.0 - 1.8e-15)
    assert (same.difference, ReadoutRow("v(in)", "V", 0, 0.0, 1e-15).difference) == (0.0, 1e-15)
    assert column([0.9999e-3, 2e-3, 1e-3], "s", is_place=True)[0] == "ms"


async def test_cursors_far_apart_have_prefixes_of_their_own(pane: BottomPane, until: Until) -> None:
    panel = pane.views.waveforms
    pane.resize(1200, 404)
    await until(lambda: panel.cursor_table is not None and panel.cursor_table.isVisible())
    values = panel.axis.values
    at = [int(np.argmin(abs(values - each))) for each in (1e4, 1.5e4, 1e6)]
    panel.cursor_table.show_cursors(panel.axis, panel.traces, at[0], at[2])
    place = panel.cursor_table.rows[0]
    assert [(cell.text, cell.unit) for cell in place] == [
        ("f", "/ Hz"),
        ("10.00\N{NARROW NO-BREAK SPACE}k", ""),
        ("1.000\N{NARROW NO-BREAK SPACE}M", ""),
        ("990.0\N{NARROW NO-BREAK SPACE}k", ""),
    ]
    panel.cursor_table.show_cursors(panel.axis, panel.traces, at[0], at[1])
    assert panel.cursor_table.rows[0][0].unit == "/ kHz"


async def test_a_name_without_room_beside_its_figures_stands_above_them(
    pane: BottomPane, until: Until
) -> None:
    panel = pane.views.waveforms
    pane.resize(1200, 404)
    await until(lambda: panel.cursor_table is not None and panel.cursor_table.isVisible())
    long = replace(panel.traces[0], expression="v(sense_amp_input)")
    short = replace(panel.traces[1], expression="v(b)")
    panel.cursor_table.show_cursors(panel.axis, [short, long], 10, 20)
    names = [row[0].text for row in panel.cursor_table.rows]
    at = names.index("v(sense_amp_input)")
    assert panel.cursor_table.columnSpan(at, 0) == 4
    head, *figures = panel.cursor_table.rows[at + 1]
    assert (head.text, head.unit) == ("", "/ dB")
    assert all(cell.text for cell in figures)
    assert not panel.cursor_table.cut_rows()
    assert panel.cursor_table.rows[names.index("v(b)")][1].text, "on one line"


async def test_a_name_that_has_room_is_shown_whole(pane: BottomPane, until: Until) -> None:
    pane.show_tab(WAVEFORMS)
    pane.resize(900, 404)
    choice = pane.views.waveforms.plot_choice
    wanted = choice.fontMetrics().horizontalAdvance(choice.currentText())
    await until(lambda: choice.width() - choice.rest_width() >= wanted)
    # So it is where its share of the bar is not enough, but the traces do not need the rest.
    for name in NODES[1:]:
        pane.views.waveforms.remove_trace(name)
    await until(lambda: len(pane.views.waveforms.chips.chips) == 1)
    choice.setItemText(choice.currentIndex(), "a_low_pass_filter.cir · Run 12 · ac")
    wanted = choice.fontMetrics().horizontalAdvance(choice.currentText())
    pane.resize(915, 404)
    await until(lambda: pane.views.waveforms.tools.width() * 0.37 < wanted + choice.rest_width())
    assert choice.width() - choice.rest_width() >= wanted


async def test_what_adds_a_trace_is_never_alone_in_a_row(pane: BottomPane, until: Until) -> None:
    pane.show_tab(WAVEFORMS)
    chips = pane.views.waveforms.chips
    for name in NODES[2:]:
        pane.views.waveforms.remove_trace(name)
    await until(lambda: len(chips.chips) <= 3)
    for width in range(pane.width(), 500, -10):
        pane.resize(width, 404)
        shown = [each for each in (*chips.chips, chips.more) if each.isVisible()]
        assert len(shown) == 1 or shown[-1].geometry().bottom() > chips.add_button.y(), width


async def test_a_slope_over_a_swept_resistor_is_in_ohms_as_the_axis_is(services: WindowServices) -> None:
    axis, curve = ReadoutRow("res-sweep", "Ohm", None, 346.5, 353.5), ReadoutRow("v(out)", "V", 0, -2.0, 3.0)
    [(_, value, unit, _)] = slope_rows([axis, curve])
    assert cursor_table._rate_cell(services, value, unit).unit == "mV/Ω"
    assert cursor_table.name_of(services, axis) == "R"


async def test_a_long_name_of_a_circuit_gives_way_to_its_run(pane: BottomPane) -> None:
    choice = pane.views.waveforms.plot_choice
    choice.setItemText(choice.currentIndex(), "a_very_long_name_of_a_circuit.cir · Run 12 · ac")
    shown = choice.shortened(choice.fontMetrics().horizontalAdvance("a_ver…t.cir · Run 12 · ac"))
    assert shown.endswith(" · Run 12 · ac")
    assert shown.startswith("a")
    least = choice.fontMetrics().horizontalAdvance("a…r · Run 12 · ac")
    for room in range(least, least + 80):
        assert choice.shortened(room).endswith(" · Run 12 · ac"), room
    choice.setItemText(choice.currentIndex(), "step.cir · Run 4 · ac · all 3 runs of resistance")
    shown = choice.shortened(choice.fontMetrics().horizontalAdvance("s…r · Run 4 · ac · al…"))
    assert " · Run 4 · ac" in shown


async def test_marks_that_come_when_the_panel_is_gone_are_dropped(
    pane: BottomPane, services: WindowServices, until: Until
) -> None:
    pane.views.waveforms._adorn()
    assert services.app.program.tasks.handles
    sip.delete(pane)
    await until(lambda: not services.app.program.tasks.handles)


async def test_the_bar_holds_its_buttons_at_its_end_however_it_came_to_its_width(
    services: WindowServices, until: Until
) -> None:
    # Each was a layout within a layout once: the buttons stood over the one that adds a trace.
    for traces, before, width in ((1, 200, 420), (1, 200, 440), (2, 1300, 560)):
        tools = PlotTools(services)
        chips = [(f"v(node{number})", number, None) for number in range(traces)]
        tools.resize(before, 40)
        tools.show_choice(["buck_12V_5V_2A.cir · Run 8 · tran"], 0)
        tools.chips.show_chips(chips, None)
        tools.set_drawing(is_shown=True)
        tools.show()
        tools.resize(width, tools.height())
        tools.chips.show_chips(chips, None)
        edge = services.theme.theme.size("space.2")

        def at_the_end(tools: PlotTools = tools, edge: int = edge) -> bool:
            last = tools.rest if tools.rest.isVisible() else tools.export
            over = tools.chips.geometry().intersects(tools.cursors.geometry())
            return tools.width() - last.geometry().right() - 1 == edge and not over

        await until(at_the_end)
        tools.close()
        sip.delete(tools)


async def test_a_name_gives_way_to_traces_only_as_far_as_they_need(
    services: WindowServices, until: Until
) -> None:
    tools = PlotTools(services)
    tools.resize(530, 40)
    tools.show_choice(["pre_amp.cir · Run 1 · tran"], 0)
    names = ("v(vo)", "v(n001)", "v(n002)", "v(n004)")
    tools.chips.show_chips([(name, number, None) for number, name in enumerate(names)], None)
    tools.set_drawing(is_shown=True)
    tools.show()
    await until(lambda: not tools._polished.isActive())
    choice, buttons = tools.plot_choice, 3 if tools.rest.isVisible() else 6
    assert tools.chips.needed(tools._chip_room(buttons))[0] == 0, "a trace has no room"
    wanted = choice.rest_width() + choice.fontMetrics().horizontalAdvance(choice.currentText())
    more = tools.chips.needed(tools._chip_room(buttons) - 1)
    assert choice.width() == wanted or more[0] > 0, "room that nobody has"
    assert choice.width() > choice.shortest_width()
    tools.close()
    sip.delete(tools)
