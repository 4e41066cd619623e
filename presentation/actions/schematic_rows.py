"""Rows of what is done in the schematic."""

from __future__ import annotations

from functools import partial

from presentation.actions.action import Action
from shared.message import msg

_schematic = partial(Action, menu="view", submenu=msg("Schematic"), scope="schematic", icon="circuit-board")

SCHEMATIC: tuple[Action, ...] = (
    _schematic("schematic.probe", msg("Probe in the schematic"), keys="Alt+Q"),
    _schematic("schematic.drop", msg("Cancel the difference, then stop probing"), keys="Esc"),
    _schematic("schematic.value", msg("Change the value of the element"), keys="F2", begins_part=True),
    _schematic("schematic.open", msg("Go to the value, or into the subcircuit"), keys="Return"),
    _schematic("schematic.undo", msg("Undo the last change made in the schematic"), keys="Ctrl+Z"),
    _schematic("schematic.find", msg("Find an element or a net"), keys="Ctrl+F"),
    _schematic("schematic.find_next", msg("Next match"), keys="F3"),
    _schematic("schematic.find_previous", msg("Previous match"), keys="Shift+F3"),
    _schematic("schematic.fit", msg("Show everything"), keys="Space F Home"),
)

GESTURES = (
    (("click",), msg("On a net: plot its voltage; on an element: plot its current")),
    (("Shift", "click"), msg("On an element: plot its power; so does Alt")),
    (("drag",), msg("From net to net: plot the difference; an element: move it; elsewhere: pan")),
    (("double_click",), msg("On a net: only its voltage; on an element: change its value")),
    (("Shift", "arrows"), msg("Move the selected element by one step")),
    (("Ctrl", "wheel"), msg("Zoom")),
    (("right_click",), msg("Menu")),
)
"""What the mouse does in the schematic; clicks plot where the circuit has a result and probing is on."""
