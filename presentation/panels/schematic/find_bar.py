"""Search in a drawing: what matches is counted, walked through, shown and selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from domain.circuit.schematic.finding import Match, find
from presentation.panels.schematic.hit import Hit
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark, mark_area
from shared.message import msg

if TYPE_CHECKING:
    from presentation.panels.schematic.canvas import SchematicCanvas
    from presentation.ui.workspace import WindowServices


class SchematicFindBar(QWidget):
    """Below the tools; seen while one searches."""

    def __init__(self, services: WindowServices, canvas: SchematicCanvas) -> None:
        super().__init__()
        self._services, self._canvas = services, canvas
        self._found: tuple[Match, ...] = ()
        self._at = 0
        self.setObjectName("schematic_find_bar")
        mark_area(self, surface="panel", line="bottom")
        self.field = QLineEdit()
        self.field.setObjectName("schematic_find")
        self.field.setClearButtonEnabled(True)
        mark(self.field, small=True)
        self.count = text_label(name="schematic_found", role="small")
        previous = IconButton(
            services, "chevron-up", msg("Previous match"), action="schematic.find_previous",
            name="schematic_find_previous",
        )  # fmt: skip
        following = IconButton(
            services, "chevron-down", msg("Next match"), action="schematic.find_next",
            name="schematic_find_next",
        )  # fmt: skip
        close = IconButton(services, "x", msg("Close"), name="schematic_find_close")
        previous.clicked.connect(lambda: self.step(-1))
        following.clicked.connect(lambda: self.step(1))
        close.clicked.connect(self.leave)
        self.field.textEdited.connect(lambda _text: self._search())
        edge, small = services.theme.theme.size("space.3"), services.theme.theme.size("space.1")
        arrange(
            QHBoxLayout(self), (self.field, 1), self.count, previous, following, close,
            edges=(edge, small, small, small), gap=small,
        )  # fmt: skip
        self.retranslate()
        services.language.changed.connect(self.retranslate)
        self.hide()

    def retranslate(self, _name: object = None) -> None:
        words = self._services.language(msg("Name of an element or net, or a value"))
        self.field.setPlaceholderText(words)
        self.field.setAccessibleName(words)
        self._tell()

    def open(self) -> None:
        """Show it, with the selected name as what is looked for."""
        chosen = self._canvas.selected
        if not self.isVisible() and (chosen.element or chosen.net):
            self.field.setText(chosen.element or chosen.net)
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        self._search()

    def leave(self) -> None:
        self.hide()
        self._canvas.setFocus()

    def refresh(self) -> None:
        """Another drawing: what matches in it; what is selected stays."""
        if self.isVisible():
            self._found = self._matches()
            chosen = Match(*self._canvas.selected)
            self._at = self._found.index(chosen) if chosen in self._found else 0
            self._tell()

    def step(self, way: int) -> None:
        """The next match, or the one before, all around."""
        if not self.isVisible():
            self.open()
        elif self._found:
            self._at = (self._at + way) % len(self._found)
            self._show()

    def _matches(self) -> tuple[Match, ...]:
        drawing = self._canvas.drawing
        return () if drawing is None else find(drawing, self.field.text())

    def _search(self) -> None:
        self._found, self._at = self._matches(), 0
        self._show()

    def _show(self) -> None:
        if self._found:
            hit = Hit(*self._found[self._at])
            self._canvas.select(hit)
            self._canvas.reveal(hit.element, hit.net)
        self._tell()

    def _tell(self) -> None:
        language = self._services.language
        if self._found:
            told = language(msg("{index} of {count}", index=self._at + 1, count=len(self._found)))
        else:
            told = language(msg("No match")) if self.field.text().strip() else ""
        self.count.setText(told)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is None:
            return
        event.accept()
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif key == Qt.Key.Key_Escape:
            self.leave()
