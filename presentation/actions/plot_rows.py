"""Rows of what is done in a plot. Single letters: nobody types there."""

from __future__ import annotations

from functools import partial

from presentation.actions.action import Action
from shared.message import msg

_plot = partial(Action, menu="view", submenu=msg("Plot"), scope="plot", icon="chart-line")
_cursors = partial(_plot, submenu=msg("Cursors"))

PLOT: tuple[Action, ...] = (
    _plot("plot.add_trace", msg("Add trace…"), keys="Ins Return"),
    _plot("plot.remove_trace", msg("Remove trace"), keys="Del"),
    _plot("plot.fit", msg("Show everything"), keys="F Home Space Ctrl+E", begins_part=True),
    _plot("plot.fit_y", msg("Fit y"), keys="Y"),
    _plot("plot.zoom_in", msg("Zoom in"), keys="+ ="),
    _plot("plot.zoom_out", msg("Zoom out"), keys="-"),
    _plot("plot.zoom_back", msg("Zoom back"), keys="Backspace"),
    _plot("plot.log_x", msg("Logarithmic x"), keys="X", begins_part=True),
    _plot("plot.grid", msg("Grid"), keys="G Ctrl+G"),
    _plot("plot.new_pane", msg("Own pane"), keys="N"),
    _plot("plot.right_axis", msg("Right axis"), keys="Shift+N"),
    _plot("plot.keep_view", msg("Keep as view…"), keys="K", begins_part=True),
    _plot("plot.views", msg("Views"), keys="W"),
    _plot("plot.move_to", msg("Move a measured value to…"), keys="D", begins_part=True),
    _plot("plot.undo", msg("Undo in the plot"), keys="Ctrl+Z", begins_part=True),
    _plot("plot.redo", msg("Redo in the plot"), keys="Ctrl+Y Ctrl+Shift+Z"),
    _plot("plot.copy", msg("Copy picture and values"), keys="Ctrl+C"),
    _plot("plot.to_conversation", msg("Picture to the conversation"), keys="Ctrl+L"),
    _cursors("plot.cursors", msg("Cursors A and B"), keys="C"),
    _cursors("plot.cursor_a", msg("Select cursor A"), keys="A"),
    _cursors("plot.cursor_b", msg("Select cursor B"), keys="B"),
    _cursors("plot.left", msg("Cursor one sample left"), keys="Left"),
    _cursors("plot.right", msg("Cursor one sample right"), keys="Right"),
    _cursors("plot.left_10", msg("Cursor ten samples left"), keys="Shift+Left"),
    _cursors("plot.right_10", msg("Cursor ten samples right"), keys="Shift+Right"),
    _cursors("plot.left_100", msg("Cursor a hundred samples left"), keys="Ctrl+Shift+Left"),
    _cursors("plot.right_100", msg("Cursor a hundred samples right"), keys="Ctrl+Shift+Right"),
    _cursors("plot.levels", msg("Horizontal cursors"), keys="H"),
    _cursors("plot.label", msg("Label at the cursor…"), keys="L"),
    _cursors("plot.trace_before", msg("Previous trace"), keys="Up"),
    _cursors("plot.trace_after", msg("Next trace"), keys="Down"),
    _cursors("plot.peak", msg("Cursor to the next peak"), keys="P"),
    _cursors("plot.peak_before", msg("Cursor to the previous peak"), keys="Shift+P"),
    _cursors("plot.valley", msg("Cursor to the next valley"), keys="V"),
    _cursors("plot.valley_before", msg("Cursor to the previous valley"), keys="Shift+V"),
    _cursors("plot.edge", msg("Cursor to the next edge"), keys="E"),
    _cursors("plot.edge_before", msg("Cursor to the previous edge"), keys="Shift+E"),
    _plot("plot.run", msg("Run the current circuit"), keys="R", begins_part=True, in_box=False),
    _plot("plot.run_before", msg("Previous run"), keys="PgUp"),
    _plot("plot.run_after", msg("Next run"), keys="PgDown"),
    _plot("plot.figures", msg("Values of the shown span"), keys="M"),
    _cursors("plot.drop", msg("Cancel the box, then hide the cursors"), keys="Esc"),
    _cursors("plot.steps", msg("Select the steps"), keys="S", begins_part=True),
    _cursors("plot.step_before", msg("Cursors in the previous step"), keys="[ Ctrl+Up"),
    _cursors("plot.step_after", msg("Cursors in the next step"), keys="] Ctrl+Down"),
    _plot("plot.spectrum", msg("Spectrum of the shown span"), keys="Shift+F", begins_part=True),
    _plot("plot.nyquist", msg("Nyquist plot")),
    _plot("plot.group_delay", msg("Group delay")),
    _plot("plot.against", msg("Trace against trace")),
    _plot("plot.eye", msg("Eye diagram of the shown span")),
    _plot("plot.histogram", msg("Histogram of the shown span")),
    _plot("plot.harmonics", msg(".four harmonics")),
    _plot("plot.measured_steps", msg("Measurement against the steps")),
)

GESTURES = (
    (("drag",), msg("Zoom into a box; a flat one along x only, a narrow one along y only")),
    (("Shift", "drag"), msg("Measure a box without zooming")),
    (("Ctrl", "drag"), msg("Pan; so does the middle button")),
    (("wheel",), msg("Zoom x; over the y axis, y")),
    (("Ctrl", "wheel"), msg("Zoom y")),
    (("Shift", "wheel"), msg("Pan")),
    (("click",), msg("Place the cursor")),
    (("Ctrl", "click"), msg("On a trace's name: values of the shown span")),
    (("drag",), msg("A measured point or a goal's line: the most influential values follow")),
    (("drag",), msg("A trace's name onto a pane: draws it there; onto another name: their difference")),
    (("double_click",), msg("Show everything; on an axis, fit that axis")),
    (("right_click",), msg("Menu")),
)
"""What the mouse does in a plot: keys that are held and the word of the mouse (`gestures.MOUSE`)."""
