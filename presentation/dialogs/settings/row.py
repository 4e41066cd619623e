"""One setting: its title and help with what was searched marked, its control, bounds, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QPainter, QPaintEvent
from PyQt6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from domain.settings import ShownSetting
from presentation.dialogs.settings.values import (
    bounds_text,
    choice_words,
    control_of,
    plain_of,
    shown_text,
    text_of,
)
from presentation.ui.marked_label import MarkedLabel
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg
from shared.setting import WrongSetting, about, allowed, choices_of, default_of, is_optional, read_field

_COLUMN, _NARROW = 188, 72
"""Pixels at the scale 1: of the controls' column, of a number."""
_DOT = 6


class Row(QWidget):
    """The frame of a row: words left, a control at the right."""

    def __init__(self, services: WindowServices, title: Message, help_text: Message | None) -> None:
        super().__init__()
        self._services = services
        self._title_words, self._help_words = title, help_text
        self.differs = False
        """A dot before it."""
        theme = services.theme.theme
        self.title = MarkedLabel(services, weight=600, color="text.primary")
        self.help = MarkedLabel(services, style="small", color="text.secondary")
        self.words = arrange(QVBoxLayout(), self.title, self.help, edges=0, gap=theme.size("space.half"))
        self.controls = QVBoxLayout()
        arrange(self.controls, edges=0, gap=theme.size("space.half"))
        line = QHBoxLayout()
        gap = theme.size("space.3")
        arrange(
            line, (self.words, 1), self.controls, edges=(gap * 2, gap, gap, gap), gap=theme.size("space.4")
        )
        self.whole = arrange(QVBoxLayout(self), line, edges=0, gap=0)
        self.mark_words(())

    @property
    def searched(self) -> tuple[str, ...]:
        """The texts it is found by."""
        shown = [self._services.language(self._title_words), str(self._title_words)]
        if self._help_words is not None:
            shown += [self._services.language(self._help_words), str(self._help_words)]
        return tuple(text.casefold() for text in shown)

    def mark_words(self, words: Sequence[str]) -> None:
        """Show title and help with these words marked."""
        language = self._services.language
        self.title.show_text(language(self._title_words), words)
        help_text = "" if self._help_words is None else language(self._help_words)
        self.help.show_text(help_text, words)
        self.help.setVisible(bool(help_text))

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """A line below, and the dot of what is not as by default."""
        theme = self._services.theme.theme
        painter = QPainter(self)
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("border.subtle"))
        if self.differs:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent.base"))
            side = round(_DOT * theme.scale)
            middle = self.title.mapTo(self, self.title.rect().center()).y()
            painter.drawEllipse(theme.size("space.2"), middle - side // 2, side, side)


class SettingRow(Row):
    """A setting of the model."""

    changed = pyqtSignal(str, object)
    """name, value as JSON has it"""
    reset = pyqtSignal(str)

    def __init__(self, services: WindowServices, shown: ShownSetting, *, refusal: Message | None) -> None:
        """`refusal`: why it is not changed here."""
        told = about(shown.field)
        super().__init__(services, told.title, told.help)
        self.name = shown.name
        self._shown = shown
        self._field = shown.field
        self._control = control_of(shown.field)
        self.note = text_label(wraps=True, role="small", name=f"note.{shown.name}")
        self.error = text_label(wraps=True, role="error", name=f"error.{shown.name}")
        self.undo = push_button(
            name=f"reset.{shown.name}", clicked=lambda: self.reset.emit(self.name), kind="link"
        )
        self.input = self._make_control()
        self.input.setObjectName(f"setting.{shown.name}")
        self.input.setEnabled(refusal is None)
        self._notes = [] if refusal is None else [services.language(refusal)]
        if told.is_read_at_start:
            self._notes.append(services.language(msg("Takes effect at the next start.")))
        for part in (self.note, self.error, self.undo):
            self.words.addWidget(
                part, alignment=Qt.AlignmentFlag.AlignLeft if part is self.undo else Qt.AlignmentFlag(0)
            )
        self._add_control()
        self.show_setting(shown, ())

    @property
    def searched(self) -> tuple[str, ...]:
        return (*super().searched, self.name.casefold())

    def show_setting(self, shown: ShownSetting, variables: Sequence[str]) -> None:
        """What holds now; `variables` of the environment give it where nothing is set."""
        self._shown = shown
        self._put(shown.value)
        usual = default_of(self._field)
        self.differs = shown.value != usual
        language = self._services.language
        origin = []
        if shown.source == "environment" and variables:
            origin = [language(msg("From the environment: {variables}.", variables=", ".join(variables)))]
        self.note.setText(" ".join((*self._notes, *origin)))
        self.note.setVisible(bool(self.note.text()))
        self.undo.setText(language(msg("Reset to {value}", value=shown_text(self._field, usual))))
        self.undo.setVisible(self.differs and self.input.isEnabled())
        self.tell(None)
        self.update()

    def tell(self, wrong: Message | None) -> None:
        """Say that what stands there is not possible."""
        self.error.setText("" if wrong is None else self._services.language(wrong))
        self.error.setVisible(wrong is not None)
        mark(self.input, state="error" if wrong is not None else "")

    # ---- the control -----------------------------------------------------------------------------

    def _make_control(self) -> QWidget:
        theme = self._services.theme.theme
        match self._control:
            case "flag":
                box = QCheckBox()
                box.clicked.connect(lambda is_on: self.changed.emit(self.name, is_on))
                return box
            case "choice":
                combo = QComboBox()
                if is_optional(self._field):
                    combo.addItem(self._services.language(msg("none")), None)
                for choice in choices_of(self._field):
                    combo.addItem(self._services.language(choice_words(choice)), choice)
                combo.activated.connect(lambda _at: self.changed.emit(self.name, combo.currentData()))
                combo.setFixedWidth(round(_COLUMN * theme.scale))
                return combo
            case "paths":
                text = _Paths(self._commit)
                text.setFixedHeight(3 * theme.size("row.table"))
                text.setPlaceholderText(self._services.language(msg("One absolute path per line")))
                return text
            case kind:
                line = QLineEdit()
                if kind == "number":
                    width = _NARROW if about(self._field).unit != "bytes" else _NARROW + _NARROW // 2
                    line.setFixedWidth(round(width * theme.scale))
                    line.setAlignment(Qt.AlignmentFlag.AlignRight)
                if is_optional(self._field) or kind == "json":
                    example = about(self._field).example
                    line.setPlaceholderText(example or self._services.language(msg("none")))
                    if example:
                        line.setToolTip(example)  # most are longer than the field
                line.textEdited.connect(lambda _text: self._judge())
                line.editingFinished.connect(self._commit)
                return line

    def _add_control(self) -> None:
        theme, told = self._services.theme.theme, about(self._field)
        if self._control in ("path", "paths", "json", "text"):
            below = QHBoxLayout()
            gap = theme.size("space.3")
            arrange(below, (self.input, 1), edges=(gap * 2, 0, gap, gap))
            self.whole.addLayout(below)
            return
        column = QWidget()
        column.setFixedWidth(round(_COLUMN * theme.scale))
        unit = text_label("" if told.unit == "bytes" else told.unit, role="secondary")
        line = arrange(QHBoxLayout(), 1, self.input, edges=0, gap=theme.size("space.2"))
        if unit.text():
            line.addWidget(unit)
        whole = arrange(QVBoxLayout(column), line, edges=0, gap=theme.size("space.half"))
        bounds = bounds_text(self._field)
        if bounds is not None:
            caption = text_label(self._services.language(bounds), role="caption")
            whole.addWidget(caption, alignment=Qt.AlignmentFlag.AlignRight)
        self.controls.addWidget(column)
        self.controls.addStretch(1)

    def _put(self, value: Any) -> None:
        if isinstance(self.input, QCheckBox):
            self.input.setChecked(bool(value))
        elif isinstance(self.input, QComboBox):
            self.input.setCurrentIndex(max(self.input.findData(value), 0))
        elif isinstance(self.input, QPlainTextEdit):
            self.input.setPlainText(text_of(self._field, value))
        elif isinstance(self.input, QLineEdit):
            self.input.setText(text_of(self._field, value))
            self.input.setCursorPosition(0)

    def _text(self) -> str:
        if isinstance(self.input, QPlainTextEdit):
            return self.input.toPlainText()
        return self.input.text() if isinstance(self.input, QLineEdit) else ""

    def _judge(self) -> Any:
        """What is written there as JSON has it; None, said, where that is not possible."""
        try:
            plain = plain_of(self._field, self._text())
            read_field(self._field, plain)
        except (ValueError, TypeError) as error:
            needed = error.needed if isinstance(error, WrongSetting) else None
            self.tell(
                msg(
                    "It must be {needed}. {value} stays in force.",
                    needed=needed or allowed(self._field),
                    value=shown_text(self._field, self._shown.value),
                )
            )
            return _WRONG
        self.tell(None)
        return plain

    def _commit(self) -> None:
        if self._text() == text_of(self._field, self._shown.value):
            self.tell(None)
            return
        plain = self._judge()
        if plain is not _WRONG:
            self.changed.emit(self.name, plain)


_WRONG = object()


class _Paths(QPlainTextEdit):
    """Lines; what is written counts when the keyboard leaves."""

    def __init__(self, commit: Any) -> None:
        super().__init__()
        self._commit = commit
        self.setTabChangesFocus(True)

    def focusOutEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        super().focusOutEvent(event)
        self._commit()
