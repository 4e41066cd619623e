"""The status bar: what goes on at the left, where one is and what holds at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import QHBoxLayout, QSizePolicy, QToolTip, QWidget

from presentation.ui.name_cut import middle_cut
from presentation.ui.parts import arrange
from presentation.ui.styles import mark_area
from presentation.ui.workspace import AgentStatus, WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.project.goals_watch import Standing

_TONES: dict[str, str] = {
    "idle": "ok.icon",
    "running": "running.icon",
    "waiting": "warn.icon",
    "stopping": "warn.icon",
    "error": "error.icon",
}
_WORDS: dict[str, Message] = {
    "idle": msg("Idle"),
    "running": msg("Working"),
    "waiting": msg("Waiting for you"),
    "stopping": msg("Stopping"),
    "error": msg("An error occurred"),
}


_LONGEST_FILE = 16
"""Of a file's name among other words, in widths of an m."""


class Field(QWidget):
    """A short text with an icon or a dot before it; cut at its end when there is no room."""

    clicked = pyqtSignal()

    def __init__(self, services: WindowServices, name: str, *, gives_way: bool = False) -> None:
        super().__init__()
        self._services = services
        self._message: Message | None = None
        self._icon = ""
        self._color = "text.secondary"
        self.setObjectName(name)
        self._gives_way = gives_way
        self._width = 0
        policy = QSizePolicy.Policy.Maximum if gives_way else QSizePolicy.Policy.Fixed
        self.setSizePolicy(policy, QSizePolicy.Policy.Expanding)
        services.theme.changed.connect(self._resize)
        services.language.changed.connect(self._resize)
        self.setVisible(False)

    def set(self, message: Message | None, *, icon: str = "", color: str = "text.secondary") -> None:
        """Show a text; None hides the field. The icon "dot" is a filled circle."""
        self._message, self._icon, self._color = message, icon, color
        self.setVisible(message is not None)
        self._resize()

    @property
    def text(self) -> str:
        return "" if self._message is None else self._services.language(self._message)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self._width, 0)

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        painter = QPainter(self)
        left = 0
        side = theme.size("icon.small")
        if self._icon == "dot":
            radius = theme.size("space.1")
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color(self._color))
            painter.drawEllipse(0, self.height() // 2 - radius, 2 * radius, 2 * radius)
            left = 2 * radius + theme.size("space.1")
        elif self._icon:
            icon = self._services.icons.get(self._icon, self._color, side)
            icon.paint(painter, 0, (self.height() - side) // 2, side, side)
            left = side + theme.size("space.1")
        font = theme.tabular("small")
        painter.setFont(font)
        painter.setPen(theme.color("text.secondary"))
        text = QFontMetrics(font).elidedText(self.text, Qt.TextElideMode.ElideRight, self.width() - left)
        painter.drawText(self.rect().adjusted(left, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, text)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        super().mousePressEvent(event)
        self.clicked.emit()

    def _resize(self, _changed: object = None) -> None:
        theme = self._services.theme.theme
        width = QFontMetrics(theme.tabular("small")).horizontalAdvance(self.text) + 1
        if self._icon:
            width += theme.size("icon.small") + theme.size("space.1")
        self._width = width
        if not self._gives_way:
            self.setMinimumWidth(width)
        self.updateGeometry()
        self.setAccessibleName(self.text)
        self.update()


class StatusBar(QWidget):
    """Listens to the workspace; errors stay until the next thing happens, their advice in the tooltip."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._agent = AgentStatus()
        mark_area(self, surface="chrome", line="top")
        self.state = Field(services, "status.state", gives_way=True)
        self.round = Field(services, "status.round")
        self.tokens = Field(services, "status.tokens")
        self.goals = Field(services, "status.goals")
        self.errors = Field(services, "status.errors")
        self.warnings = Field(services, "status.warnings")
        self.place = Field(services, "status.place")
        self.simulator = Field(services, "status.simulator")
        self.context = Field(services, "status.context")
        self._row = QHBoxLayout(self)
        for field in (self.state, self.round, self.tokens):
            self._row.addWidget(field)
        arrange(
            self._row, 1, self.goals, self.errors, self.warnings, self.place, self.simulator, self.context
        )
        self._advice: Message | None = None
        self._tells_opening = False
        self._standing: Standing | None = None
        self.state.clicked.connect(self._tell)
        self._connect()
        self.restyle()
        self.show_agent(self._agent)

    def _connect(self) -> None:
        workspace = self._services.workspace
        workspace.status_changed.connect(self._on_status)
        workspace.error_occurred.connect(self.show_error)
        workspace.agent_status_changed.connect(self.show_agent)
        workspace.cursor_moved.connect(self._on_cursor)
        workspace.problems_changed.connect(self._on_problems)
        workspace.file_shown.connect(self._on_shown)
        workspace.project_opened.connect(lambda _root: self.show_agent(AgentStatus()))
        workspace.project_closed.connect(lambda: self.show_agent(AgentStatus()))
        workspace.opening_changed.connect(self._on_opening)
        workspace.goals_watched.connect(self._on_goals)
        self.goals.clicked.connect(lambda: workspace.command_wanted.emit("missedGoals"))
        self._services.theme.changed.connect(self.restyle)
        self._services.language.changed.connect(lambda _name: self._set_tooltip())
        self._services.language.changed.connect(lambda _name: self._on_goals(self._standing))

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self._row.setContentsMargins(theme.size("space.3"), 0, theme.size("space.3"), 0)
        self._row.setSpacing(theme.size("space.4"))
        text = QFontMetrics(theme.font("small")).height() + theme.size("space.1")
        self.setFixedHeight(max(theme.size("row.status"), text))

    def show_agent(self, status: AgentStatus) -> None:
        self._agent = status
        text = status.text
        opening = self._services.workspace.opening
        if text is None and status.state == "idle" and opening is not None:
            text = msg("Opening {name}…", name=opening.name)
        elif text is None and status.state == "idle" and self._services.workspace.root is None:
            text = msg("No folder open")
        self._say(text or _WORDS[status.state], color=_TONES[status.state])
        self._tells_opening = opening is not None and status.text is None and status.state == "idle"
        round_text = None
        if status.round_number is not None:
            round_text = (
                msg("Round {number}/{most}", number=status.round_number, most=status.most_rounds)
                if status.most_rounds
                else msg("Round {number}", number=status.round_number)
            )
        self.round.set(round_text)
        tokens = status.tokens
        self.tokens.set(None if tokens is None else msg("{count} {count:token|tokens}", count=_short(tokens)))
        share = status.context_share
        self.context.set(None if share is None else msg("Context {percent} %", percent=round(100 * share)))

    def show_error(self, error: CircuitAIError | Message) -> None:
        if isinstance(error, CircuitAIError):
            self._say(error.message, color="error.icon", icon="circle-alert", advice=error.advice)
        else:
            self._say(error, color="error.icon", icon="circle-alert")

    def show_simulator(self, message: Message, state: Literal["ok", "warning", "missing"]) -> None:
        """Whether ngspice is there, and whether it is confined."""
        icon, color = {
            "ok": ("shield-check", "ok.icon"),
            "warning": ("shield-alert", "warn.icon"),
            "missing": ("shield-x", "error.icon"),
        }[state]
        self.simulator.set(message, icon=icon, color=color)

    def _on_status(self, text: Message | str) -> None:
        self._say(
            text if isinstance(text, Message) else msg("{text}", text=text), color=_TONES[self._agent.state]
        )

    def _say(self, text: Message, *, color: str, icon: str = "dot", advice: Message | None = None) -> None:
        self._advice, self._tells_opening = advice, False
        self.state.set(text, icon=icon, color=color)
        self._set_tooltip()

    def _set_tooltip(self) -> None:
        advice = "" if self._advice is None else self._services.language(self._advice)
        self.state.setToolTip("\n".join(part for part in (self.state.text, advice) if part))

    def _tell(self) -> None:
        QToolTip.showText(self.mapToGlobal(self.state.pos()), self.state.toolTip(), self.state)

    def _on_opening(self) -> None:
        """Its end wipes out only its own words: what was brought back, or went wrong, stays to be read."""
        if self._services.workspace.opening is not None or self._tells_opening:
            self.show_agent(self._agent)

    def _on_cursor(self, line: int, column: int) -> None:
        self.place.set(msg("Ln {line}, Col {column}", line=line, column=column))

    def _on_problems(self, errors: int, warnings: int) -> None:
        self.errors.set(
            msg("{count}", count=errors),
            icon="circle-x",
            color="error.icon" if errors else "text.tertiary",
        )
        self.warnings.set(
            msg("{count}", count=warnings),
            icon="triangle-alert",
            color="warn.icon" if warnings else "text.tertiary",
        )

    def _on_goals(self, standing: Standing | None) -> None:
        self._standing = standing
        if standing is None:
            self.goals.set(None)
            return
        from presentation.panels.studies.goal_standing import in_full, in_short

        color = "error.icon" if standing.lost else "warn.icon" if standing.missed else "ok.icon"
        is_known = standing.met or standing.missed
        theme = self._services.theme.theme
        metrics = QFontMetrics(theme.tabular("small"))
        most = metrics.horizontalAdvance("m") * _LONGEST_FILE
        told = in_short(
            standing, self._services.workspace.shown_file, lambda name: middle_cut(metrics, name, most)
        )
        self.goals.set(told, icon="target", color=color if is_known else "text.tertiary")
        self.goals.setToolTip("\n".join(map(self._services.language, in_full(standing))))

    def _on_shown(self, path: object) -> None:
        if path is None:
            for field in (self.errors, self.warnings, self.place):
                field.set(None)
        self._on_goals(self._standing)


def _short(count: int) -> str:
    return str(count) if count < 1000 else f"{count / 1000:.1f}k"
