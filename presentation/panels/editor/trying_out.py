"""A change of the text that is offered, looked at before it is taken: quick fixes and nearby values.

What is pointed at in the context menu, or behind the line of a problem, is simulated and told in a strip
below the text; the plot draws it dashed. Nothing of it is left when the pointer goes on, or somebody types.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QApplication, QMenu

from domain.circuit.near_values import near_values
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.examination import Problem, is_spice
from presentation.panels.editor.text_changes import TextEdit
from presentation.panels.preview_strip import PreviewStrip
from presentation.preview_words import in_short
from presentation.ui.parts import once_after
from presentation.ui.previews import Preview, Proposal
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_LARGEST = 2_000_000
"""Bytes of a text that is tried out."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An edit that is offered."""

    title: Message
    edit: TextEdit


class TryingOut(QObject):
    """Of one editor. `file` is its path; `encoded` makes a text what its file would hold."""

    def __init__(
        self,
        services: WindowServices,
        editor: CodeEditor,
        *,
        file: Callable[[], Path],
        encoded: Callable[[str], bytes],
    ) -> None:
        super().__init__(editor)
        self._services = services
        self._editor = editor
        self._file = file
        self._encoded = encoded
        self._key = f"choice {id(self)}"
        self._choice: Choice | None = None
        self._menu: QMenu | None = None
        self._soon = once_after(self, 0, self._drop_unless_held)
        self._to_strip = once_after(self, 0, self.strip_focus)
        self._is_held = False
        """The strip stays when the menu closes: somebody wants to know what takes long."""
        self.strip = PreviewStrip(
            services,
            "tryingOut",
            (("apply", msg("Apply"), self.apply), ("close", msg("Close"), self.close)),
        )
        self.strip.preview_wanted.connect(self.want)
        self.strip.left.connect(self.close)
        editor.menu_opens.connect(self._on_menu)
        editor.fix_hovered.connect(self._on_hovered_fix)
        editor.edited.connect(self.drop)

    @property
    def choice(self) -> Choice | None:
        """What is looked at."""
        return self._choice

    def look(self, choice: Choice) -> None:
        """Find out what it would do."""
        previews, file = self._services.workspace.previews, self._file()
        if choice == self._choice or previews is None or self._editor.byte_length() > _LARGEST:
            return
        self.drop()
        if not is_spice(file):
            return
        self._choice = choice
        self.strip.begin(choice.title)
        self.strip.show_ways(are_shown=False)
        data, edit = self._editor.text().encode(), choice.edit
        text = (data[: edit.start] + edit.text + data[edit.end :]).decode()
        proposal = Proposal(
            contents={file: self._encoded(text)}, circuit=file, is_seen=self._editor.isVisible
        )
        previews.ask(self._key, proposal, self._on_told)

    def want(self) -> None:
        """Simulate it, however long it takes; its strip stays."""
        self._is_held = True
        self.strip.show_ways(are_shown=True)
        if (previews := self._services.workspace.previews) is not None:
            previews.want(self._key)
        self._to_strip.start()

    def apply(self) -> None:
        """Carry it out as one step of undo."""
        choice = self._choice
        self.close()
        if choice is not None and not self._editor.isReadOnly():
            self._editor.apply((choice.edit,))

    def close(self) -> None:
        """Leave it; the keyboard is in the text again."""
        focused = QApplication.focusWidget()
        had_keyboard = focused is not None and self.strip.isAncestorOf(focused)
        self.drop()
        if had_keyboard:
            self._editor.setFocus()

    def strip_focus(self) -> None:
        """The keyboard goes to what can be done with the change."""
        self.strip.buttons[1][0].setFocus()

    def drop(self) -> None:
        """Nothing is looked at any more."""
        self._is_held = False
        if self._choice is not None:
            self._choice = None
            self.strip.leave()
            if (previews := self._services.workspace.previews) is not None:
                previews.forget(self._key)

    def _on_told(self, preview: Preview | None) -> None:
        if self._choice is None:
            return
        self.strip.show_preview(preview)
        self.strip.show_ways(are_shown=self._is_held or (self._menu is None and self._is_asking))
        if self._menu is not None and preview is not None:
            self._tell_in_menu(self._menu, self._choice, preview)

    def _tell_in_menu(self, menu: QMenu, choice: Choice, preview: Preview) -> None:
        """What matters most behind the row that is pointed at: the menu may lie over the strip."""
        action = menu.activeAction()
        if action is None or choice_of(action) != choice:
            return
        told = preview.reason if preview.change is None else in_short(preview.change) or preview.reason
        if told is not None and preview.state != "working":
            language = self._services.language
            action.setText(f"{language(choice.title)}\t{language(told)}".replace("&", "&&"))
        if preview.state == "asks":
            self._offer_preview(menu, action, choice)

    def _offer_preview(self, menu: QMenu, action: QAction, choice: Choice) -> None:
        """A row below the one that is pointed at: a menu lets nothing else be reached."""
        if menu.findChild(QAction, _name_of(choice)):
            return
        rows = menu.actions()
        row = QAction(self._services.language(msg("Preview “{change}”", change=choice.title)), menu)
        row.setObjectName(_name_of(choice))
        row.setData(choice)
        row.triggered.connect(lambda _checked=False: self.want())
        behind = rows.index(action) + 1
        menu.insertAction(rows[behind] if behind < len(rows) else None, row)

    # ---- what is pointed at ----------------------------------------------------------------------

    def _on_menu(self, menu: QMenu, offset: int) -> None:
        self._offer_values(menu, offset)
        self._menu = menu
        menu.hovered.connect(self._on_hovered)
        menu.aboutToHide.connect(self._on_menu_left)

    def _offer_values(self, menu: QMenu, offset: int) -> None:
        """The values of E24 beside the one of the line."""
        editor = self._editor
        if editor.isReadOnly() or not is_spice(self._file()):
            return
        line, column = editor.lineIndexFromPosition(offset)
        text = editor.text(line).rstrip("\r\n")
        near = near_values(text, column)
        if near is None:
            return
        start = editor.positionFromLineIndex(line, 0)
        before = start + len(text[: near.start].encode()), start + len(text[: near.end].encode())
        for title, value in (
            (msg("Next E24 value up: {value}", value=near.above), near.above),
            (msg("Next E24 value down: {value}", value=near.below), near.below),
        ):
            choice = Choice(title, TextEdit(*before, value.encode()))
            row = QAction(self._services.language(title), menu)
            row.setData(choice)
            row.triggered.connect(lambda _checked=False, choice=choice: editor.apply((choice.edit,)))
            menu.addAction(row)
        menu.addSeparator()

    def _on_hovered(self, action: QAction) -> None:
        choice = choice_of(action)
        if choice is None:
            self.drop()
        else:
            self.look(choice)

    def _on_menu_left(self) -> None:
        self._menu = None
        self._soon.start()  # what was triggered comes before

    def _drop_unless_held(self) -> None:
        if not self._is_held:
            self.drop()

    def _on_hovered_fix(self, problem: Problem | None) -> None:
        if problem is not None and problem.fix is not None:
            self.look(of_problem(problem))
        elif self._menu is None and not self._is_asking:
            self._drop_unless_held()

    @property
    def _is_asking(self) -> bool:
        """The strip has a button that can only be reached by leaving what is pointed at."""
        preview = self.strip.preview
        return preview is not None and preview.state == "asks"


def of_problem(problem: Problem) -> Choice:
    """Its fix."""
    assert problem.fix is not None
    return Choice(problem.fix.title, TextEdit(problem.fix.start, problem.fix.end, problem.fix.text.encode()))


def choice_of(action: QAction) -> Choice | None:
    """What a row of the menu would change."""
    data = action.data()
    if isinstance(data, Problem):
        return None if data.fix is None else of_problem(data)
    return data if isinstance(data, Choice) else None


def _name_of(choice: Choice) -> str:
    return f"preview:{choice.edit.start}:{choice.edit.text.decode()}"
