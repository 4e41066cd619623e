"""Rows of what is done in a plot. Single letters: nobody types there."""

from __future__ import annotations

from functools import partial

from presentation.actions.action import Action
from shared.message import msg

_plot = partial(Action, menu="view", submenu=msg("Plot"), scope="plot", icon="chart-line")

PLOT: tuple[Action, ...] = (
    _plot("plot.fit", msg("Fit"), keys="F Home Space Ctrl+E"),
    _plot("plot.zoom_in", msg("Zoom in"), keys="+ ="),
    _plot("plot.zoom_out", msg("Zoom out"), keys="-"),
    _plot("plot.cursor_a", msg("Select cursor A"), keys="A", begins_part=True),
    _plot("plot.cursor_b", msg("Select cursor B"), keys="B"),
    _plot("plot.left", msg("Cursor one sample left"), keys="Left"),
    _plot("plot.right", msg("Cursor one sample right"), keys="Right"),
    _plot("plot.left_10", msg("Cursor ten samples left"), keys="Shift+Left"),
    _plot("plot.right_10", msg("Cursor ten samples right"), keys="Shift+Right"),
    _plot("plot.left_100", msg("Cursor a hundred samples left"), keys="Ctrl+Shift+Left"),
    _plot("plot.right_100", msg("Cursor a hundred samples right"), keys="Ctrl+Shift+Right"),
)

GESTURES = (
    (("wheel",), msg("Zoom horizontally")),
    (("Ctrl", "wheel"), msg("Zoom vertically")),
    (("drag",), msg("Pan the plot")),
    (("Shift", "drag"), msg("Zoom to a box")),
    (("click",), msg("Place the cursor")),
    (("double_click",), msg("Fit")),
)
"""What the mouse does in a plot: keys that are held and the word of the mouse (`MOUSE`)."""

MOUSE = {
    "wheel": msg("wheel"),
    "drag": msg("drag"),
    "click": msg("click"),
    "double_click": msg("double click"),
}
