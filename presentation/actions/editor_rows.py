"""Rows of what is done in a text: first what every field of the program answers, then the editor's own."""

from __future__ import annotations

from functools import partial

from presentation.actions.action import Action
from shared.message import msg

_anywhere = partial(Action, menu="edit", scope="focus", is_fixed=True, in_box=False)
_editor = partial(Action, menu="edit", scope="editor")
_lines = partial(_editor, submenu=msg("Lines"))
_changes = partial(_editor, submenu=msg("Changes of a model"))
_problem = partial(Action, menu="edit", icon="triangle-alert")  # from anywhere

EDIT: tuple[Action, ...] = (
    _anywhere("undo", msg("Undo"), keys="Ctrl+Z", letter="U"),
    _anywhere("redo", msg("Redo"), keys="Ctrl+Y", letter="R"),
    _anywhere("cut", msg("Cut"), keys="Ctrl+X", begins_part=True, letter="T"),
    _anywhere("copy", msg("Copy"), keys="Ctrl+C", letter="C"),
    _anywhere("paste", msg("Paste"), keys="Ctrl+V", letter="P"),
    _anywhere("selectAll", msg("Select all"), keys="Ctrl+A", letter="A"),
    _editor("editor.find", msg("Find"), keys="Ctrl+F", begins_part=True),
    _editor("editor.find_next", msg("Next match"), keys="F3"),
    _editor("editor.find_previous", msg("Previous match"), keys="Shift+F3"),
    _editor("editor.replace", msg("Replace"), keys="Ctrl+H"),
    Action("editor.replace_in_project", msg("Replace in the project…"), menu="edit", keys="Ctrl+Shift+H"),
    _editor("editor.go_to_line", msg("Go to line"), keys="Ctrl+G"),
    _editor("editor.complete", msg("Complete"), keys="Ctrl+Space Alt+/", begins_part=True),
    _editor("editor.tune", msg("Tune the value here"), keys="Alt+T", icon="sliders-horizontal"),
    _editor("editor.sweep", msg("Sweep the value here"), icon="chart-line"),
    _editor("editor.map", msg("Map of the value here and another one"), icon="crosshair"),
    _editor("editor.probe", msg("Plot what is here"), keys="Alt+P"),
    _editor("editor.point_hints", msg("Operating point behind the lines"), keys="Alt+O"),
    _editor("editor.quick_fix", msg("Quick fix"), keys="Ctrl+. Alt+Return"),
    _problem("editor.next_problem", msg("Next problem"), keys="F8"),
    _problem("editor.previous_problem", msg("Previous problem"), keys="Shift+F8"),
    _editor("editor.definition", msg("Go to definition"), keys="F12", begins_part=True),
    _editor("editor.uses", msg("All uses"), keys="Shift+F12"),
    _editor("editor.rename", msg("Rename…"), keys="F2"),
    _changes("editor.next_change", msg("Next change of a model"), keys="Alt+F5", begins_part=True),
    _changes("editor.previous_change", msg("Previous change of a model"), keys="Alt+Shift+F5"),
    _changes("editor.take_back_change", msg("Undo this change only"), keys="Alt+Del"),
    _changes("editor.keep_change", msg("Keep this change"), keys="Alt+Ins"),
    _lines("editor.comment", msg("Toggle comment"), keys="Ctrl+/", begins_part=True),
    _lines("editor.format", msg("Format"), keys="Ctrl+Shift+I Alt+Shift+F"),
    _lines("editor.move_up", msg("Move line up"), keys="Alt+Up"),
    _lines("editor.move_down", msg("Move line down"), keys="Alt+Down"),
    _lines("editor.copy_up", msg("Copy line up"), keys="Alt+Shift+Up"),
    _lines("editor.copy_down", msg("Copy line down"), keys="Alt+Shift+Down"),
    _lines("editor.delete_line", msg("Delete line"), keys="Ctrl+Shift+K"),
    _editor("editor.next_occurrence", msg("Select next occurrence"), keys="Ctrl+D"),
    _editor("editor.to_conversation", msg("Selection to the conversation"), keys="Ctrl+L", begins_part=True),
    _editor("editor.change_by_words", msg("Change by words…"), keys="Ctrl+K"),
)

GESTURES = ((("drag",), msg("The bar under a value the pointer rests on: tunes it")),)
"""What the mouse does in a text: keys that are held and the word of the mouse (`gestures.MOUSE`)."""
