"""How a plot is drawn by its user's choice: scales, panes, grid, names, colours and lines. Pure."""

from __future__ import annotations

from dataclasses import replace

from application.project.window_state import CircuitView, PlotLook, TraceStyle
from domain.simulation.waveform import Plot
from presentation.panels.waveforms.traces import Curve, Manner, Trace

_LINES = ("solid", "dashed", "dotted")


def look_of(view: CircuitView, analysis: str) -> PlotLook:
    """The look of one kind of analysis, to be read; changes go through `changed_look`."""
    return view.looks.get(analysis) or PlotLook()


def changed_look(view: CircuitView, analysis: str) -> PlotLook:
    """The same, to be changed in place."""
    return view.looks.setdefault(analysis, PlotLook())


def manner_of(view: CircuitView, analysis: str) -> Manner:
    look = look_of(view, analysis)
    return Manner(scales=dict(look.scales), panes=dict(look.panes), right=dict(look.right))


def styled(view: CircuitView, trace: Trace) -> Trace:
    """A trace with the name, colour and line that were chosen for its expression."""
    style = view.styles.get(trace.expression)
    if style is None:
        return trace
    color = trace.color if style.color is None else style.color
    # A colour that was chosen is a whole line: its place in the order does not make it dashed.
    line = style.line or ("" if style.color is None else "solid")
    return replace(trace, name=style.name, color=color, line=line)


def set_style(
    view: CircuitView,
    expression: str,
    *,
    name: str | None = None,
    color: int | None = None,
    line: str | None = None,
) -> None:
    """Change what is given; a style that says nothing is forgotten."""
    style = view.styles.setdefault(expression, TraceStyle())
    if name is not None:
        style.name = "" if name == expression else name
    if color is not None:
        style.color = color
    if line in _LINES:
        style.line = line  # type: ignore[assignment] # one of them
    if style == TraceStyle():
        del view.styles[expression]


def names_of_traces(view: CircuitView, plot: Plot) -> dict[str, str]:
    """What the names stand for that the user has given, in lower case; a vector of the plot keeps its own."""
    vectors = {name.lower() for name in plot.vectors}
    named = {style.name.lower(): expression for expression, style in view.styles.items() if style.name}
    return {name: expression for name, expression in named.items() if name not in vectors}


def move_style(view: CircuitView, old: str, new: str) -> None:
    """An expression that takes the place of another takes its look, but not its name."""
    style = view.styles.get(old)
    if style is not None and new not in view.styles:
        view.styles[new] = replace(style, name="")
    for look in view.looks.values():
        if old in look.panes:
            look.panes.setdefault(new, look.panes[old])
        if old in look.right:
            look.right.setdefault(new, look.right[old])


def scale_key(curve: Curve) -> str:
    """By what the scale of a curve's pane is kept."""
    return "gain" if curve.is_gain else curve.pane.unit


def scales_of(curve: Curve) -> tuple[str, ...]:
    """Those the pane of a curve can have."""
    if curve.is_gain:
        return ("dB", "linear", "log")
    return () if curve.pane.unit in ("dB", "deg", "rad") else ("linear", "log")


def scale_now(curve: Curve) -> str:
    if curve.is_gain and curve.pane.unit == "dB":
        return "dB"
    return "log" if curve.pane.is_log else "linear"
