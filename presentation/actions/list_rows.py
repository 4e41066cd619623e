"""Rows of what lists answer (files, results, outline, measurements): letters there find by typing."""

from __future__ import annotations

from functools import partial

from presentation.actions.action import Action
from shared.message import msg

_list = partial(Action, scope="list", is_fixed=True, in_box=False)

LISTS: tuple[Action, ...] = (
    _list("list.open", msg("Open the chosen row"), keys="Return"),
    _list("list.plot", msg("Plot the chosen node or element"), keys="Space"),
    _list("list.note", msg("Write a note on the chosen result"), keys="F2"),
    _list("list.behind", msg("Overlay the chosen result on the current run"), keys="Shift+Return"),
    _list("list.undo", msg("Undo the last change of goals"), keys="Ctrl+Z"),
    _list("list.copy", msg("Copy the chosen rows"), keys="Ctrl+C"),
)
