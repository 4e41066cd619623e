"""The context menus of the plot and of a trace's chip, each row with its key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from PyQt6.QtGui import QIcon, QPixmap
from PyQt6.QtWidgets import QMenu

from domain.circuit.numbers import format_number
from presentation.panels.waveforms.axis_hands import AxisHands
from presentation.panels.waveforms.beside.titles import KIND_TITLES, action_of
from presentation.panels.waveforms.cursor_hands import CursorHands
from presentation.panels.waveforms.menu_rows import MenuRows
from presentation.panels.waveforms.pane_moves import PaneMoves
from presentation.panels.waveforms.plot_box import PlotPlace
from presentation.panels.waveforms.plot_host import PlotHost
from presentation.panels.waveforms.plot_looks import look_of
from presentation.panels.waveforms.plot_tools import EXPORTS
from presentation.panels.waveforms.plot_views import PlotViews
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
_DIGITS = 6
_COLORS = 8
_SOLID = 4
"""Places in the order of colours whose lines are whole."""
_LINES = {"solid": msg("Solid line"), "dashed": msg("Dashed line"), "dotted": msg("Dotted line")}


def plot_menu(
    services: WindowServices,
    panel: PlotHost,
    axes: AxisHands,
    cursors: CursorHands,
    place: PlotPlace,
    *,
    zoom_back: Callable[[], object] | None,
    list_traces: Callable[[], object],
    views: PlotViews,
) -> QMenu:
    """The menu at a place of the plot."""
    area = panel.area
    assert area is not None
    rows = MenuRows(services, panel.widget, "plot_menu")
    rows.add("add_trace", msg("Add trace…"), list_traces, action="plot.add_trace")
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
    rows.add(
        "levels",
        msg("Horizontal cursors"),
        partial(cursors.toggle_levels, place.pane),
        action="plot.levels",
        is_checked=bool(area.levels.texts),
    )
    if (value := _value_at(panel, place)) is not None:
        rows.add("goal_here", msg("Make the value here a goal…"), partial(panel.make_goal, value))
    _add_pulls(rows, panel, place)
    rows.add("label", msg("Label at the cursor…"), cursors.add_label, action="plot.label")
    if area.labels.labels:
        rows.add("remove_label", msg("Remove the last label"), area.labels.remove_last)
    rows.line()
    _add_axes(rows, axes, place.pane)
    rows.add("grid", msg("Grid"), axes.toggle_grid, action="plot.grid", is_checked=area.has_grid)
    rows.line()
    beside = rows.submenu("beside", msg("Beside the curves"))
    for kind, act in panel.beside.offered():
        rows.add(kind, KIND_TITLES[kind], act, action=action_of(kind), into=beside)
    views.fill(rows, rows.submenu("views", msg("Views")))
    rows.add("overlay", msg("Overlay earlier runs"), panel.tools.overlay.click)
    rows.line()
    rows.add("copy", msg("Copy picture and values"), panel.copy_plot, action="plot.copy")
    export = rows.submenu("export", msg("Export"))
    for suffix, text in EXPORTS.items():
        key = "plot.to_conversation" if suffix == "conversation" else ""
        act = partial(panel.tools.export_asked.emit, suffix)
        rows.add(f"export_{suffix}", text, act, action=key, into=export)
    return rows.menu


def _add_pulls(rows: MenuRows, panel: PlotHost, place: PlotPlace) -> None:
    """To move what is measured: the point that is meant, else any."""
    area = panel.area
    assert area is not None
    pulls = panel.pulls
    ask_any = partial(pulls.asked.emit, None)
    near = area.pulls.near(area.panes[place.pane], place.in_scene)
    if near is not None:
        name = rows.words(near.quantity.name)
        ask = partial(pulls.asked.emit, near.quantity)
        rows.add("move_this", msg("Move {name} to…", name=name), ask)
    rows.add("move_to", msg("Move a measured value to…"), ask_any, action="plot.move_to")


def _value_at(panel: PlotHost, place: PlotPlace) -> str | None:
    """What measures the chosen trace, else the last one, at a place of the axis; in dB what is a gain."""
    traces = [trace for trace in panel.traces if trace.error is None]
    if not traces or panel.axis is None:
        return None
    trace = next((each for each in traces if each.expression == panel.selected), traces[-1])
    where = format_number(float(panel.axis.values[panel.axis.nearest(place.at)]), _DIGITS)
    value = f"at({panel.named_with_analysis(trace.expression)},{where})"
    return f"db({value})" if len(trace.curves) > 1 else value


def _add_axes(rows: MenuRows, axes: AxisHands, pane: int) -> None:
    """Limits and scales of the common axis and of the pane the menu is asked in."""
    menu = rows.submenu("axes", msg("Axes"))
    rows.add("x_limits", msg("Limits of x…"), partial(axes.show_card, pane, False), into=menu)
    rows.add("y_limits", msg("Limits of y…"), partial(axes.show_card, pane, True), into=menu)
    for other in axes.right_of(pane):
        title = msg("Limits of the right y axis…")
        rows.add(f"right_limits_{other}", title, partial(axes.show_card, other, True), into=menu)
    menu.addSeparator()
    if axes.can_be_log_x or axes.is_log_x:
        rows.add(
            "log_x",
            msg("Logarithmic x"),
            axes.toggle_log_x,
            action="plot.log_x",
            is_checked=axes.is_log_x,
            into=menu,
        )
    key, scales, now = axes.scale_choices(pane)
    words = {"linear": msg("Linear y"), "log": msg("Logarithmic y"), "dB": msg("y in dB")}
    for scale in scales:
        act = partial(axes.set_scale, key, scale)
        rows.add(f"y_{scale}", words[scale], act, is_checked=scale == now, into=menu)


class Styling(Protocol):
    """Who draws a trace in another way."""

    def set_style(self, expression: str, *, color: int | None = None, line: str | None = None) -> None: ...

    def show_figures(self, expression: str) -> None:
        """The values of the shown span, in a card."""

    @property
    def moves(self) -> PaneMoves:
        """To another pane or axis."""


def chip_menu(services: WindowServices, panel: PlotHost, hands: Styling, expression: str) -> QMenu:
    """The menu of one trace."""
    others = [trace.expression for trace in panel.traces if trace.expression != expression]
    rows = MenuRows(services, panel.widget, "chip_menu")
    if others:
        rows.add("only", msg("Only this one"), partial(panel.keep_traces, [expression]))
    rows.add("edit", msg("Edit expression…"), partial(panel.chips.begin_editing, expression))
    rows.add("rename", msg("Rename…"), partial(panel.chips.begin_renaming, expression))
    rows.line()
    rows.add(
        "figures",
        msg("Values of the shown span"),
        partial(hands.show_figures, expression),
        action="plot.figures",
    )
    measure = rows.submenu("measure", msg("Measure"))
    for text, template in _measures(panel.axis_unit):
        measured = template.format(x=panel.named_with_analysis(expression))
        rows.add(template, text, partial(panel.measure, measured), into=measure)
    goals = rows.submenu("goal", msg("Make a goal"))
    for text, template in _measures(panel.axis_unit):
        measured = template.format(x=panel.named_with_analysis(expression))
        rows.add(f"goal:{template}", text, partial(panel.make_goal, measured), into=goals)
    for name, text in (("deriv", msg("Derivative")), ("integ", msg("Integral"))):
        if panel.axis_unit != "Hz":
            rows.add(name, text, partial(panel.add_trace, f"{name}({expression})"))
    if others:
        difference = rows.submenu("difference", msg("Difference with"))
        for other in others:
            rows.add(other, other, partial(panel.add_trace, minus(expression, other)), into=difference)
    for kind in panel.beside.of_one_trace():
        rows.add(kind, KIND_TITLES[kind], partial(panel.draw_beside, kind, expression))
    if panel.axis_unit == "Hz":
        rows.add("group_delay", msg("Group delay"), partial(panel.add_trace, f"group_delay({expression})"))
    rows.line()
    if others:
        _add_panes(rows, panel, hands.moves, expression)
    _add_colors(services, rows, panel, hands, expression)
    rows.line()
    rows.add("where", msg("Where it is in the circuit"), partial(panel.show_in_text, expression))
    rows.add("copy_values", msg("Copy values"), partial(panel.copy_values, expression))
    rows.line()
    rows.add(
        "remove", msg("Remove trace"), partial(panel.remove_trace, expression), action="plot.remove_trace"
    )
    if others:
        rows.add("remove_others", msg("Remove the others"), partial(panel.keep_traces, [expression]))
    return rows.menu


def _add_panes(rows: MenuRows, panel: PlotHost, moves: PaneMoves, expression: str) -> None:
    """Another pane, or the other axis of one."""
    rows.add(
        "own_pane",
        msg("Own pane"),
        partial(moves.own_pane, expression),
        action="plot.new_pane",
        is_checked=expression in look_of(panel.view, panel.analysis).panes,
    )
    if moves.has_right_axis(expression):
        rows.add(
            "right_axis",
            msg("Right axis"),
            partial(moves.switch_right, expression),
            action="plot.right_axis",
            is_checked=moves.is_right(expression),
        )
    targets = moves.targets(expression)
    if targets:
        menu = rows.submenu("to_pane", msg("Move to the pane of"))
        for at, name in targets:
            rows.add(f"to_pane_{at}", name, partial(moves.to_pane, expression, at), into=menu)


def _add_colors(
    services: WindowServices, rows: MenuRows, panel: PlotHost, hands: Styling, expression: str
) -> None:
    theme = services.theme.theme
    side = theme.size("icon.small")
    menu = rows.submenu("color", msg("Color and line"))
    now = next((trace for trace in panel.traces if trace.expression == expression), None)
    for number in range(_COLORS):
        swatch = QPixmap(side, side)
        swatch.fill(theme.color(f"trace.{number}"))
        words = msg("Color {number}", number=number + 1)
        act = partial(hands.set_style, expression, color=number)
        rows.add(f"color_{number}", words, act, into=menu).setIcon(QIcon(swatch))
    menu.addSeparator()
    for line, words in _LINES.items():
        is_now = now is not None and (now.line or ("solid" if now.color < _SOLID else "dashed")) == line
        act = partial(hands.set_style, expression, line=line)
        rows.add(f"line_{line}", words, act, is_checked=is_now, into=menu)


def _measures(axis_unit: str) -> tuple[tuple[Message, str], ...]:
    return {"s": _OVER_TIME, "Hz": _OVER_FREQUENCY}.get(axis_unit, _ELSE)


def minus(expression: str, other: str) -> str:
    """One trace less another: ``v(a)-v(b)``."""
    return f"{_as_term(expression)}-{_as_term(other)}"


def _as_term(expression: str) -> str:
    """An expression as one side of a difference."""
    is_sum = any(sign in expression for sign in "+-") and not expression.startswith(("v(", "i("))
    return f"({expression})" if is_sum else expression
