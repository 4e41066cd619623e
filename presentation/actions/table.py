"""All actions, in the order of the menus: menus, card of keys, command box and docs/keys-and-gestures.md
are made from it.

To add one: a row in the module of its place, and whoever answers it by name: `Shortcuts.answer` of a panel,
or `presentation/window/menu.py` for what belongs to the window.
"""

from __future__ import annotations

from collections.abc import Sequence

from presentation.actions.action import Action
from presentation.actions.conversation_rows import DESIGN
from presentation.actions.editor_rows import EDIT
from presentation.actions.list_rows import LISTS
from presentation.actions.plot_rows import PLOT
from presentation.actions.schematic_rows import SCHEMATIC
from presentation.actions.window_rows import CIRCUIT, FILE, HELP, LOOK, SIMULATE, VIEW, WITHOUT_MENU


def all_actions(panels: Sequence[Action] = ()) -> tuple[Action, ...]:
    """The table; `panels` are the window's panels, each brought to the front by an action."""
    return (
        *FILE, *EDIT, *VIEW, *panels, *PLOT, *SCHEMATIC, *LOOK, *CIRCUIT, *SIMULATE, *DESIGN,
        *HELP, *WITHOUT_MENU, *LISTS,
    )  # fmt: skip
