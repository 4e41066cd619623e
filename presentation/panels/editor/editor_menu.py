"""The context menu of a line in the editor: what can be mended, looked up and changed, and by which key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QMenu

from presentation.panels.editor.examination import Problem
from presentation.ui.workspace import WindowServices


class Text(Protocol):
    """What the menu asks of the editor it is for."""

    def problems_of_line(self) -> list[Problem]: ...
    def isReadOnly(self) -> bool: ...  # noqa: N802 - Qt's name
    def hasSelectedText(self) -> bool: ...  # noqa: N802 - Qt's name
    def isUndoAvailable(self) -> bool: ...  # noqa: N802 - Qt's name
    def isRedoAvailable(self) -> bool: ...  # noqa: N802 - Qt's name
    def undo(self) -> None: ...
    def redo(self) -> None: ...
    def cut(self) -> None: ...
    def copy(self) -> None: ...
    def paste(self) -> None: ...
    def selectAll(self) -> None: ...  # noqa: N802 - Qt's name
    def length(self) -> int: ...


_OF_NAMES = ("editor.definition", "editor.uses", "editor.rename")
_OF_VALUES = ("editor.tune", "editor.sweep", "editor.map")
_OF_LINES = ("editor.add_analysis", "editor.comment", "editor.format")
_OF_WORDS = ("editor.to_conversation", "editor.change_by_words")


def add_fixes(menu: QMenu, editor: Text, services: WindowServices, mend: Callable[[Problem], object]) -> None:
    """The quick fixes of the caret's line."""
    problems = [problem for problem in editor.problems_of_line() if problem.fix is not None]
    for problem in problems:
        assert problem.fix is not None
        title = services.language(problem.fix.title)
        action = _add(menu, title, "", partial(mend, problem))
        if action is not None:
            action.setData(problem)
    if problems:
        menu.addSeparator()


def add_commands(menu: QMenu, editor: Text, services: WindowServices, *, is_spice: bool) -> None:
    """What is done with the name and the line at the caret, then what every field of text has."""
    shortcuts = services.shortcuts
    titles = {action.name: services.language(action.title) for action in shortcuts.actions}
    can_write = not editor.isReadOnly()
    if is_spice:
        for names, is_possible in (
            (_OF_NAMES, True),
            (_OF_VALUES, True),
            (_OF_LINES, can_write),
            (_OF_WORDS, can_write),
        ):
            for name in names:
                trigger = partial(shortcuts.trigger, name)
                _add(menu, titles[name], shortcuts.shown(name), trigger, is_possible=is_possible)
            menu.addSeparator()
    has_selection = editor.hasSelectedText()
    entries: tuple[tuple[str, Callable[[], object], bool], ...] = (
        ("undo", editor.undo, editor.isUndoAvailable()),
        ("redo", editor.redo, editor.isRedoAvailable()),
        ("cut", editor.cut, has_selection and can_write),
        ("copy", editor.copy, has_selection),
        ("paste", editor.paste, can_write),
        ("selectAll", editor.selectAll, editor.length() > 0),
    )
    for name, act, is_possible in entries:
        if name in ("cut", "selectAll"):
            menu.addSeparator()
        _add(menu, titles[name], shortcuts.shown(name), act, is_possible=is_possible)


def _add(
    menu: QMenu, words: str, key: str, act: Callable[[], object], *, is_possible: bool = True
) -> QAction | None:
    action = menu.addAction(f"{words}\t{key}" if key else words)
    if action is not None:
        action.setEnabled(is_possible)
        action.triggered.connect(lambda _checked=False: act())
    return action
