"""What is shown while no project is open: what to design, examples, folders, what works here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from presentation.window.styles import mark
from presentation.window.workspace import WindowServices
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.browsing import Example
    from application.examining import ExaminationReport

_SENTENCES: tuple[tuple[Message, Message], ...] = (
    (msg("Passive filter"), msg("RC low-pass filter with a cut-off of 1 kHz")),
    (msg("Active filter"), msg("4th-order Butterworth low-pass filter, cut-off 10 kHz, from ±5 V")),
    (msg("DC/DC converter"), msg("Buck converter 12 V to 5 V, 2 A, 300 kHz, ripple below 30 mV")),
)
_LANGUAGES: tuple[tuple[str, Message], ...] = (("en", msg("English")), ("zh", msg("Chinese (中文)")))
_THEMES: tuple[tuple[str, Message], ...] = (
    ("light", msg("Light theme")),
    ("dark", msg("Dark theme")),
    ("system", msg("Theme of the system")),
)
_MOST_RECENT = 5


class _Row(QWidget):
    """A line to press: icon, text, and something dimmed at the right."""

    pressed = pyqtSignal()

    def __init__(
        self,
        services: WindowServices,
        icon: str,
        text: Message,
        *,
        detail: Message | None = None,
        key: str = "",
        color: str = "text.secondary",
    ) -> None:
        super().__init__()
        self._color = color
        self._services = services
        self._icon, self._text, self._detail, self._key = icon, text, detail, key
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        services.theme.changed.connect(self._restyle)
        services.language.changed.connect(self._restyle)
        self._restyle()

    def _restyle(self, _changed: object = None) -> None:
        theme = self._services.theme.theme
        name = "row.list_two_line" if self._detail is not None else "row.list"
        lines = 2 if self._detail is not None else 1
        height = QFontMetrics(theme.font("ui")).height() * lines + theme.size("space.2")
        self.setFixedHeight(max(theme.size(name), height))
        text = self._services.language(self._text)
        self.setAccessibleName(text)
        self.setToolTip(text)
        self.update()

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """The line."""
        theme, language = self._services.theme.theme, self._services.language
        painter = QPainter(self)
        if self.underMouse() or (self.hasFocus() and self.property("kbdFocus")):
            painter.fillRect(self.rect(), theme.color("surface.hover"))
        side, gap = theme.size("icon.default"), theme.size("space.2")
        icon = self._services.icons.get(self._icon, self._color, side)
        icon.paint(painter, 0, (self.height() - side) // 2, side, side)
        rect = self.rect().adjusted(side + gap, 0, 0, 0)
        if self._key:
            painter.setFont(theme.font("caption"))
            painter.setPen(theme.color("text.tertiary"))
            painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self._key)
            rect.setRight(
                rect.right() - QFontMetrics(theme.font("caption")).horizontalAdvance(self._key) - gap
            )
        parts = [(language(self._text), theme.font("ui"), "text.primary")]
        if self._detail is not None:
            parts.append((language(self._detail), theme.font("small"), "text.secondary"))
        heights = [QFontMetrics(font).height() for _, font, _ in parts]
        top = (self.height() - sum(heights)) // 2
        for (text, font, color), height in zip(parts, heights, strict=True):
            painter.setFont(font)
            painter.setPen(theme.color(color))
            shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideMiddle, rect.width())
            baseline = top + QFontMetrics(font).ascent()
            painter.drawText(QPoint(rect.left(), baseline), shown)
            top += height

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """A click."""
        if event is not None and self.rect().contains(event.position().toPoint()):
            self.pressed.emit()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Enter and space press it."""
        if event is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.pressed.emit()
        else:
            super().keyPressEvent(event)


class _Part(QWidget):
    """A heading and rows below it, exchanged as a whole."""

    def __init__(self, services: WindowServices, title: Message, note: Message | None = None) -> None:
        super().__init__()
        self._services = services
        self._title, self._note = title, note
        self._heading, self._side = QLabel(), QLabel()
        mark(self._heading, role="strong")
        mark(self._side, role="small")
        head = QHBoxLayout()
        head.addWidget(self._heading)
        head.addStretch(1)
        head.addWidget(self._side)
        self._rows = QVBoxLayout()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(head)
        column.addLayout(self._rows)
        services.language.changed.connect(self._retranslate)
        self._retranslate()

    def set_rows(self, rows: Sequence[QWidget]) -> None:
        """Show these."""
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self._rows.setSpacing(0)
        for row in rows:
            self._rows.addWidget(row)

    def _retranslate(self, _name: str = "") -> None:
        self._heading.setText(self._services.language(self._title))
        self._side.setText("" if self._note is None else self._services.language(self._note))


class WelcomePage(QScrollArea):
    """The page. It asks the window for everything it wants done."""

    open_wanted = pyqtSignal(object)
    """place: Path"""
    folder_wanted = pyqtSignal()
    new_wanted = pyqtSignal()
    design_wanted = pyqtSignal(str)
    language_wanted = pyqtSignal(str)
    """"en" or "zh\""""
    theme_wanted = pyqtSignal(str)
    """"light", "dark" or "system\""""

    def __init__(self, services: WindowServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self.setObjectName("welcome")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._page = QWidget()
        mark(self._page, surface="base")
        self._page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._title = QLabel()
        mark(self._title, role="display")
        self.text = QPlainTextEdit()
        self.text.setObjectName("designText")
        self.text.setTabChangesFocus(True)
        self.design = QPushButton()
        self.design.setObjectName("design")
        mark(self.design, kind="primary")
        self.design.clicked.connect(self._design)
        self.text.textChanged.connect(self._enable)
        self._provider = QLabel()
        mark(self._provider, role="small")
        self._chips = [QPushButton() for _ in _SENTENCES]
        self._examples = _Part(services, msg("Examples"), msg("opens a copy"))
        self._start = _Part(services, msg("Start"))
        self._recent = _Part(services, msg("Recent"))
        self._machine = _Part(services, msg("This machine"))
        self._appearance = _Part(services, msg("Appearance"))
        self.language, self.theme = QComboBox(), QComboBox()
        self.language.setObjectName("welcomeLanguage")
        self.theme.setObjectName("welcomeTheme")
        self._build()
        self.set_recent(())
        self.set_report(None)
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)
        self.restyle()
        self.retranslate()

    def _build(self) -> None:
        foot = QHBoxLayout()
        foot.addWidget(self._provider)
        foot.addStretch(1)
        foot.addWidget(self.design)
        chips = QHBoxLayout()
        for button, (_, sentence) in zip(self._chips, _SENTENCES, strict=True):
            mark(button, small=True)
            button.clicked.connect(lambda _checked=False, sentence=sentence: self._suggest(sentence))
            chips.addWidget(button)
        chips.addStretch(1)
        main = QVBoxLayout()
        main.addWidget(self._title)
        main.addWidget(self.text)
        main.addLayout(foot)
        main.addLayout(chips)
        main.addWidget(self._examples)
        main.addStretch(1)
        side = QVBoxLayout()
        for part in (self._start, self._recent, self._machine, self._appearance):
            side.addWidget(part)
        side.addStretch(1)
        open_row = _Row(self._services, "folder-open", msg("Open folder"), key="Ctrl+O")
        open_row.pressed.connect(self.folder_wanted)
        new_row = _Row(self._services, "file-plus", msg("New empty project"), key="Ctrl+N")
        new_row.pressed.connect(self.new_wanted)
        self._start.set_rows([open_row, new_row])
        for box, values, wanted in (
            (self.language, _LANGUAGES, self.language_wanted),
            (self.theme, _THEMES, self.theme_wanted),
        ):
            for value, _text in values:
                box.addItem("", value)
            box.activated.connect(lambda _row, box=box, wanted=wanted: wanted.emit(box.currentData()))
        boxes = QWidget()
        row = QHBoxLayout(boxes)
        row.setContentsMargins(0, self._services.theme.theme.size("space.2"), 0, 0)
        row.addWidget(self.language, 1)
        row.addWidget(self.theme, 1)
        self._appearance.set_rows([boxes])
        grid = QGridLayout(self._page)
        grid.addLayout(main, 0, 1)
        grid.addLayout(side, 0, 2)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 4)
        grid.setColumnStretch(2, 2)
        grid.setColumnStretch(3, 1)
        self._layouts = (grid, main, side)
        self.setWidget(self._page)

    def set_recent(self, recent: Sequence[Path]) -> None:
        """The projects opened last."""
        rows: list[QWidget] = []
        for path in recent[:_MOST_RECENT]:
            row = _Row(
                self._services,
                "folder",
                msg("{name}", name=path.name),
                detail=msg("{path}", path=path.parent),
            )
            row.pressed.connect(lambda path=path: self.open_wanted.emit(path))
            rows.append(row)
        self._recent.set_rows(rows or [_Note(self._services, msg("Folders you open appear here."))])

    def set_examples(self, examples: Sequence[Example], open_example: Callable[[str], object]) -> None:
        """The examples that come with the program."""
        rows = []
        for example in examples:
            row = _Row(
                self._services,
                "circuit-board",
                msg("{title}", title=example.title),
                detail=msg("{name}: {analyses}", name=example.name, analyses=", ".join(example.analyses)),
            )
            row.setObjectName(f"example.{example.name}")
            row.pressed.connect(lambda name=example.name: open_example(name))
            rows.append(row)
        self._examples.set_rows(rows)

    def set_report(self, report: ExaminationReport | None) -> None:
        """What works on this machine; None while it is examined."""
        if report is None:
            self._machine.set_rows([_Note(self._services, msg("Being examined ..."))])
            return
        engine = next((item for item in report.findings if item.name == "ngspice"), None)
        box = next((item for item in report.findings if item.name == "confinement"), None)
        rows: list[QWidget] = []
        if engine is not None:
            is_ok = engine.state == "ok" and (box is None or box.state == "ok")
            detail = engine.advice if engine.state != "ok" or box is None else box.message
            rows.append(self._finding(engine.message, detail, is_ok=is_ok))
        rows.append(
            self._finding(msg("Built-in designer"), msg("Works offline and without a key"), is_ok=True)
        )
        self._machine.set_rows(rows)

    def _finding(self, text: Message, detail: Message | None, *, is_ok: bool) -> _Row:
        icon, color = ("circle-check", "ok.icon") if is_ok else ("triangle-alert", "warn.icon")
        row = _Row(self._services, icon, text, detail=detail, color=color)
        row.setEnabled(False)  # it says something, there is nothing to press
        return row

    def restyle(self) -> None:
        """Sizes."""
        theme = self._services.theme.theme
        grid, main, side = self._layouts
        grid.setContentsMargins(
            theme.size("space.6"), theme.size("space.12"), theme.size("space.6"), theme.size("space.6")
        )
        grid.setHorizontalSpacing(theme.size("space.12"))
        main.setSpacing(theme.size("space.3"))
        side.setSpacing(theme.size("space.6"))
        self.text.setFixedHeight(QFontMetrics(theme.font("ui")).lineSpacing() * 4 + theme.size("space.4"))
        self.design.setIcon(
            self._services.icons.get("corner-down-left", "accent.on", theme.size("icon.small"))
        )
        self.design.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self._check_choices()

    def retranslate(self) -> None:
        """Texts."""
        language = self._services.language
        self._title.setText(language(msg("What do you want to design?")))
        self.text.setPlaceholderText(
            language(msg("A low-pass with 10 kHz corner, at least 46 dB down at 40 kHz, from ±5 V"))
        )
        self.text.setAccessibleName(self._title.text())
        self.design.setText(language(msg("Design")))
        self._provider.setText(language(msg("Built-in designer")))
        for button, (name, sentence) in zip(self._chips, _SENTENCES, strict=True):
            button.setText(language(name))
            button.setToolTip(language(sentence))
        for box, values in ((self.language, _LANGUAGES), (self.theme, _THEMES)):
            for row, (_value, words) in enumerate(values):
                box.setItemText(row, language(words))
        self._enable()
        self._check_choices()

    def _check_choices(self) -> None:
        self.language.setCurrentIndex(self.language.findData(self._services.language.name))
        self.theme.setCurrentIndex(self.theme.findData(self._services.theme.mode))

    def _enable(self) -> None:
        self.design.setEnabled(bool(self.text.toPlainText().strip()))

    def _suggest(self, sentence: Message) -> None:
        self.text.setPlainText(self._services.language(sentence))
        self.text.setFocus()

    def _design(self) -> None:
        text = self.text.toPlainText().strip()
        if text:
            self.design_wanted.emit(text)


class _Note(QLabel):
    """A sentence in place of rows."""

    def __init__(self, services: WindowServices, text: Message) -> None:
        super().__init__()
        self._services, self._text = services, text
        self.setWordWrap(True)
        mark(self, role="secondary")
        services.language.changed.connect(self._retranslate)
        self._retranslate()

    def _retranslate(self, _name: str = "") -> None:
        self.setText(self._services.language(self._text))
