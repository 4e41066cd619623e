"""The context menus of the plot and of a trace's chip, each row with its key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PyQt6.QtWidgets import QMenu

from presentation.panels.waveforms.beside.titles import KIND_TITLES, action_of
from presentation.panels.waveforms.menu_rows import MenuRows
from presentation.panels.waveforms.plot_box import PlotPlace
from presentation.panels.waveforms.plot_host import PlotHost
from presentation.panels.waveforms.plot_tools import EXPORTS
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_OVER_TIME: tuple[tuple[Message, str], ...] = (
    (msg("Maximum"), "max({x})"),
    (msg("Minimum"), "min({x})"),
    (msg("Peak to peak"), "pp({x})"),
    (msg("Mean"), "avg({x})"),
    (msg("RMS"), "rms({x})"),
    (msg("Frequency"), "frequency({x})"),
    (msg("Duty cycle"), "duty({x})"),
    (msg("Rise time"), "rise_time({x})"),
    (msg("Fall time"), "fall_time({x})"),
    (msg("Overshoot"), "overshoot({x})"),
    (msg("Settling time"), "settling_time({x})"),
    (msg("Ripple"), "ripple({x})"),
    (msg("THD"), "thd({x})"),
    (msg("SFDR"), "sfdr({x})"),
    (msg("SNR"), "snr({x})"),
    (msg("SINAD"), "sinad({x})"),
)
_OVER_FREQUENCY: tuple[tuple[Message, str], ...] = (
    (msg("Gain at low frequencies, dB"), "db(dcgain({x}))"),
    (msg("Largest gain, dB"), "db(max({x}))"),
    (msg("Bandwidth"), "bandwidth({x})"),
    (msg("Lower cut-off frequency"), "lowcut({x})"),
    (msg("Upper cut-off frequency"), "highcut({x})"),
    (msg("Unity-gain frequency"), "ugf({x})"),
    (msg("Phase margin"), "phase_margin({x})"),
    (msg("Gain margin"), "gain_margin({x})"),
    (msg("Q"), "q({x})"),
)
_ELSE = _OVER_TIME[:5]


def plot_menu(
    services: WindowServices,
    panel: PlotHost,
    place: PlotPlace,
    *,
    zoom_back: Callable[[], object] | None,
) -> QMenu:
    """The menu at a place of the plot."""
    area = panel.area
    assert area is not None
    rows = MenuRows(services, panel.widget, "plot_menu")
    rows.add("add_trace", msg("Add trace…"), panel.chips.begin_adding, action="plot.add_trace")
    rows.line()
    rows.add("fit", msg("Show everything"), area.fit, action="plot.fit")
    rows.add("fit_y", msg("Fit y"), area.fit_shown, action="plot.fit_y")
    if zoom_back is not None:
        rows.add("zoom_back", msg("Zoom back"), zoom_back, action="plot.zoom_back")
    rows.line()
    rows.add("cursor_a_here", msg("Cursor A here"), partial(panel.put_cursor, "a", place.at))
    rows.add("cursor_b_here", msg("Cursor B here"), partial(panel.put_cursor, "b", place.at))
    rows.add(
        "cursors",
        msg("Cursors A and B"),
        panel.cursor_button.click,
        action="plot.cursors",
        is_checked=area.has_cursors,
    )
    rows.line()
    beside = rows.submenu("beside", msg("Beside the curves"))
    for kind, act in panel.beside.offered():
        rows.add(kind, KIND_TITLES[kind], act, action=action_of(kind), into=beside)
    rows.add("overlay", msg("Overlay earlier runs"), panel.tools.overlay.click)
    rows.line()
    rows.add("copy", msg("Copy picture and values"), panel.copy_plot, action="plot.copy")
    export = rows.submenu("export", msg("Export"))
    for suffix, text in EXPORTS.items():
        rows.add(f"export_{suffix}", text, partial(panel.tools.export_asked.emit, suffix), into=export)
    return rows.menu


def chip_menu(services: WindowServices, panel: PlotHost, expression: str) -> QMenu:
    """The menu of one trace."""
    others = [trace.expression for trace in panel.traces if trace.expression != expression]
    rows = MenuRows(services, panel.widget, "chip_menu")
    if others:
        rows.add("only", msg("Only this one"), partial(panel.keep_traces, [expression]))
    rows.add("edit", msg("Edit expression…"), partial(panel.chips.begin_editing, expression))
    rows.line()
    measure = rows.submenu("measure", msg("Measure"))
    for text, template in _measures(panel.axis_unit):
        measured = template.format(x=panel.named_with_analysis(expression))
        rows.add(template, text, partial(panel.measure, measured), into=measure)
    for name, text in (("deriv", msg("Derivative")), ("integ", msg("Integral"))):
        if panel.axis_unit != "Hz":
            rows.add(name, text, partial(panel.add_trace, f"{name}({expression})"))
    if others:
        difference = rows.submenu("difference", msg("Difference with"))
        for other in others:
            minus = f"{_as_term(expression)}-{_as_term(other)}"
            rows.add(other, other, partial(panel.add_trace, minus), into=difference)
    for kind in panel.beside.of_one_trace():
        rows.add(kind, KIND_TITLES[kind], partial(panel.draw_beside, kind, expression))
    if panel.axis_unit == "Hz":
        rows.add("group_delay", msg("Group delay"), partial(panel.add_trace, f"group_delay({expression})"))
    rows.line()
    rows.add("copy_values", msg("Copy values"), partial(panel.copy_values, expression))
    rows.line()
    rows.add(
        "remove", msg("Remove trace"), partial(panel.remove_trace, expression), action="plot.remove_trace"
    )
    if others:
        rows.add("remove_others", msg("Remove the others"), partial(panel.keep_traces, [expression]))
    return rows.menu


def _measures(axis_unit: str) -> tuple[tuple[Message, str], ...]:
    return {"s": _OVER_TIME, "Hz": _OVER_FREQUENCY}.get(axis_unit, _ELSE)


def _as_term(expression: str) -> str:
    """An expression as one side of a difference."""
    is_sum = any(sign in expression for sign in "+-") and not expression.startswith(("v(", "i("))
    return f"({expression})" if is_sum else expression
