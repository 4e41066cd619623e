"""The line under the input: what the run is doing and how fast, and how full the model's window is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PyQt6.QtCore import QRectF, QSize, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import QWIDGETSIZE_MAX, QHBoxLayout, QLabel, QWidget

from presentation.figures import short_count
from presentation.look import tokens
from presentation.ui.parts import ElidedLabel, arrange, push_button
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.conversation.inspecting import ContextReport, PartKind
    from domain.llm.chat import ModelAbilities

_TURN_MS = 40
_STEPS = 25
"""A turn of the spinner in a second."""


class Spinner(QWidget):
    """The one thing that moves for longer; it stands still while it is not seen."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._step = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_TURN_MS)
        self._timer.timeout.connect(self._turn)

    def restyle(self) -> None:
        side = self._services.theme.theme.size("icon.small")
        self.setFixedSize(side, side)
        self.update()

    def run(self, *, is_running: bool) -> None:
        """Turn, or go."""
        self.setVisible(is_running)
        if is_running and not self._timer.isActive():
            self._timer.start()
        elif not is_running:
            self._timer.stop()

    def _turn(self) -> None:
        self._step = (self._step + 1) % _STEPS
        self.update()

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        side = self.width()
        painter.translate(side / 2, side / 2)
        painter.rotate(360 * self._step / _STEPS)
        icon = self._services.icons.get("loader-circle", "running.icon", side)
        painter.drawPixmap(
            QRectF(-side / 2, -side / 2, side, side),
            icon.pixmap(QSize(side, side), self.devicePixelRatioF()),
            QRectF(0, 0, side * self.devicePixelRatioF(), side * self.devicePixelRatioF()),
        )


class ContextMeter(QWidget):
    """How much of the model's window is used: a bar and the figure; that nobody knows its size is said."""

    wanted = pyqtSignal()
    """Somebody points at it: of what the context consists is wanted for the tooltip."""
    clicked = pyqtSignal()
    """By mouse, Enter or Space: what the answers took is wanted."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._used: int | None = None
        self._abilities: ModelAbilities | None = None
        self._report: ContextReport | None = None
        self._is_brief = False
        self.setObjectName("contextMeter")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._name, self._bar, self._figure = QLabel(), ShareBar(services), QLabel()
        mark(self._name, role="small")
        mark(self._figure, role="small")
        self._row = arrange(QHBoxLayout(self), self._name, self._bar, self._figure, edges=0)

    @property
    def text(self) -> str:
        return f"{self._name.text()} {self._figure.text()}".strip()

    def show_use(
        self, used: int | None, abilities: ModelAbilities | None, report: ContextReport | None = None
    ) -> None:
        """Tokens in use (None = not known, nothing is shown), and what the model can take.

        `abilities` None: there is no window, or it is not known yet; `report` goes into the tooltip.
        """
        self._used, self._abilities, self._report = used, abilities, report
        self.setVisible(used is not None)
        self._refresh()

    def be_brief(self, *, is_brief: bool) -> None:
        """Leave to the tooltip what is no figure: something else needs the room."""
        if is_brief != self._is_brief:
            self._is_brief = is_brief
            self._refresh()

    def enterEvent(self, event: QEnterEvent | None) -> None:  # noqa: N802 - Qt's name
        super().enterEvent(event)
        self.wanted.emit()

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.clicked.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(self._services.theme.theme.color("accent"))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self._row.setSpacing(theme.size("space.2"))
        self._figure.setFont(theme.tabular("small"))
        self._bar.setFixedSize(theme.size("space.12") + theme.size("space.4"), theme.size("space.1"))
        self._refresh()

    def _refresh(self) -> None:
        language = self._services.language
        self._name.setText(language(msg("Context")))
        self.setAccessibleName(self._name.text())
        used, known = self._used, self._abilities
        if used is None:
            return
        window = None if known is None else known.context_tokens
        self._bar.setVisible(window is not None)
        if window is not None:
            self._bar.show_share(used / window, color_of(used / window))
            figure = msg("{used} of {window}", used=short_count(used), window=short_count(window))
        elif known is not None and not self._is_brief:
            figure = msg("{count} {count:token|tokens}, context window unknown", count=short_count(used))
        else:
            figure = msg("{count} {count:token|tokens}", count=short_count(used))
        self._figure.setText(language(figure))
        tip = "\n".join(language(line) for line in use_lines(used, known, self._report))
        self.setToolTip(tip)
        self.setAccessibleName(self.text)
        self.setAccessibleDescription(tip)


class ShareBar(QWidget):
    """How much of something is used, as a bar."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._share = 0.0
        self._color = "ok.icon"

    def show_share(self, share: float, color: str) -> None:
        """0..1, and the token of its colour."""
        self._share, self._color = share, color
        self.update()

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        box = QRectF(self.rect())
        radius = box.height() / 2
        painter.setBrush(theme.color("surface.pressed"))
        painter.drawRoundedRect(box, radius, radius)
        box.setWidth(max(box.height(), box.width() * min(self._share, 1.0)))
        painter.setBrush(theme.color(self._color))
        painter.drawRoundedRect(box, radius, radius)


class StatusLine(QWidget):
    """Spinner, words and pace of a run at the left; the meter at the right, or alone at the left.

    Where the window begins to fill the meter has a button that compresses the conversation.
    """

    compress_clicked = pyqtSignal()

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.spinner = Spinner(services)
        self._text = ElidedLabel()
        self._text.setObjectName("conversationStatus")
        self._pace = ElidedLabel()  # it gives way to the meter in a narrow pane
        self._pace.setObjectName("conversationPace")
        mark(self._pace, role="small")
        self.meter = ContextMeter(services)
        self.compress = push_button(name="compressButton", small=True, clicked=self.compress_clicked.emit)
        self.compress.hide()
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.spinner)
        self._row.addWidget(self._text, 1)
        self._row.addWidget(self._pace)
        self._row.addWidget(self.meter)
        self._row.addWidget(self.compress)
        self._row.addStretch(0)  # the meter stands at the left while nothing runs

    @property
    def text(self) -> str:
        return self._text.text()

    @property
    def pace(self) -> str:
        """What it says of the pace, or of the last turn."""
        return self._pace.text()

    def show_run(self, text: Message | None, *, color: str, is_busy: bool, pace: Message | None) -> None:
        """What the run is doing (None: no run), in a colour of the tokens."""
        language = self._services.language
        self.spinner.run(is_running=is_busy)
        self._text.setText("" if text is None else language(text))
        self._text.setVisible(text is not None)
        palette = self._text.palette()
        palette.setColor(self._text.foregroundRole(), self._services.theme.theme.color(color))
        self._text.setPalette(palette)
        self._text.setFont(self._services.theme.theme.font("small"))  # a palette of its own drops it
        self._pace.setText("" if pace is None else language(pace))
        self._pace.setVisible(pace is not None)
        self._give_room()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._give_room()

    def _give_room(self) -> None:
        """What the run is doing comes before its pace, which takes what the words leave; the figures of both
        ends come before what the meter has besides."""
        runs = not self._text.isHidden()
        self.meter.be_brief(is_brief=runs)
        if not runs and not self._pace.isHidden() and self._left_for_pace() < self._pace.sizeHint().width():
            self.meter.be_brief(is_brief=True)
        self._pace.setMaximumWidth(self._left_for_pace() if runs else QWIDGETSIZE_MAX)

    def _left_for_pace(self) -> int:
        """Pixels."""
        edges, gap = self._row.contentsMargins(), self._row.spacing()
        others = (self.spinner, self._text, self.meter, self.compress)
        shown = [each for each in others if not each.isHidden()]
        taken = sum(max(each.sizeHint().width(), each.minimumWidth()) + gap for each in shown)
        return max(self.width() - edges.left() - edges.right() - taken, 0)

    def offer_compression(self, share: float | None, *, is_automatic: bool) -> None:
        """Show the button where this share of the model's window is used; None where it can't be pressed."""
        language = self._services.language
        self.compress.setVisible(share is not None)
        if share is not None:
            self._pace.hide()  # there is no room for both
        self._give_room()  # the figure of the meter may be another
        if share is None:
            return
        self.compress.setText(language(msg("Compress…")))
        tip = msg("The conversation fills {percent} % of the context window.", percent=round(100 * share))
        then = msg("At 80 % older messages are summarized automatically.") if is_automatic else None
        self.compress.setToolTip("\n".join(language(each) for each in (tip, then) if each is not None))

    def restyle(self) -> None:
        theme = self._services.theme.theme
        gap = theme.size("space.1")
        arrange(self._row, edges=(gap, 0, gap, 0), gap=theme.size("space.2"))
        self.compress.setFont(theme.font("small"))
        self.compress.setIcon(
            self._services.icons.get("minimize-2", "text.secondary", theme.size("icon.small"))
        )
        self._text.setFont(theme.font("small"))
        self._pace.setFont(theme.tabular("small"))
        self.setFixedHeight(max(theme.size("row.status"), self._text.fontMetrics().height() + gap))
        self.spinner.restyle()
        self.meter.restyle()


def color_of(share: float) -> str:
    """The token of a share's colour: green, orange, red."""
    meter = tokens()["context_meter"]
    colors = meter["colours"]
    index = 0 if share < meter["ok_below"] else 1 if share < meter["warn_below"] else 2
    return str(colors[index])


PART_NAMES: Mapping[PartKind, Message] = {
    "system": msg("System message"),
    "tools": msg("Tools"),
    "project": msg("Project"),
    "history": msg("Conversation"),
    "pictures": msg("Pictures"),
}


def use_lines(used: int, known: ModelAbilities | None, report: ContextReport | None) -> list[Message]:
    """The meter's tooltip: the share, what it consists of, what is not sent, and whose limit it is."""
    lines: list[Message] = []
    window = None if known is None else known.context_tokens
    if window is not None:
        lines.append(
            msg(
                "The last answer filled {percent} % of the model's context window: {used} of {window} "
                "tokens.",
                percent=round(100 * used / window),
                used=f"{used:,}",
                window=f"{window:,}",
            )
        )
    elif known is not None:
        lines.append(msg("The context window of this model is not known here."))
        lines.append(
            msg("Add it to the settings: {example}", example='"models": {"NAME": {"context_tokens": 32768}}')
        )
    if known is not None and known.loaded_tokens is not None and known.loaded_tokens != window:
        lines.append(
            msg(
                "It is currently loaded with {count} tokens; more is requested when needed.",
                count=f"{known.loaded_tokens:,}",
            )
        )
    if report is not None:
        lines.append(msg("Estimated context of the next message:"))
        lines += [
            msg(
                "  {part}: {count} {count:token|tokens}", part=PART_NAMES[part.kind], count=f"{part.tokens:,}"
            )
            for part in report.parts
        ]
        if report.left_out:
            lines.append(msg("Earlier turns no longer sent: {count}", count=report.left_out))
    return lines
