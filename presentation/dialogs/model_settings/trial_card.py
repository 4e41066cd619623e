"""What came of a test: figures, or what is wrong and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from presentation.dialogs.model_settings.words import trial_rows, verified_text
from presentation.ui.parts import arrange
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.conversation.trying import ModelTrial
    from domain.llm.local_server import LocalServerStatus


class TrialCard(QFrame):
    """One of: never tested, being tested, works, does not."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._title: Message = msg("Not tested with these settings")
        self._icon = ("circle-help", "text.tertiary")
        self._rows: tuple[tuple[Message, Message], ...] = ()
        self._advice: Message | None = None
        self.setObjectName("modelTrial")
        mark(self, card=True)
        self._picture, self.title, self.moment, self.advice = QLabel(), QLabel(), QLabel(), QLabel()
        self.title.setObjectName("modelTrialTitle")
        self.advice.setObjectName("modelTrialAdvice")
        for label in (self.title, self.advice):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)  # it quotes a server
            label.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        mark(self.title, role="strong")
        mark(self.moment, role="small")
        mark(self.advice, role="secondary")
        self._head = QHBoxLayout()
        self._head.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignTop)
        self._head.addWidget(self.title, 1)
        self._head.addWidget(self.moment, 0, Qt.AlignmentFlag.AlignTop)
        self._figures = QWidget()
        self._grid = QGridLayout(self._figures)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._column = arrange(QVBoxLayout(self), self._head, self.advice, self._figures)

    @property
    def figures(self) -> tuple[tuple[str, str], ...]:
        """What is shown of a trial: names and values."""
        return tuple((str(name), str(value)) for name, value in self._rows)

    def show_untested(self, verified_at: str) -> None:
        """No test since the dialog was opened, or since something was changed."""
        icon = ("circle-check", "ok.icon") if verified_at else ("circle-help", "text.tertiary")
        self._show(verified_text(verified_at), icon)

    def show_running(self) -> None:
        self._show(msg("Testing…"), ("loader-circle", "running.icon"))

    def show_cancelled(self) -> None:
        self._show(msg("The test was stopped."), ("circle-help", "text.tertiary"))

    def show_trial(self, trial: ModelTrial, moment: str) -> None:
        title = (
            msg("Connection works: {model}", model=trial.model) if trial.model else msg("Connection works")
        )
        self.show_works(title, trial_rows(trial), moment)

    def show_works(self, title: Message, rows: tuple[tuple[Message, Message], ...], moment: str) -> None:
        """It works: figures with their names, and when that was seen."""
        self._show(title, ("circle-check", "ok.icon"), rows=rows, moment=moment)

    def show_error(self, error: CircuitAIError) -> None:
        """It does not, in words."""
        self._show(error.message, ("circle-x", "error.icon"), advice=error.advice)

    def _show(
        self,
        title: Message,
        icon: tuple[str, str],
        *,
        rows: tuple[tuple[Message, Message], ...] = (),
        advice: Message | None = None,
        moment: str = "",
    ) -> None:
        self._title, self._icon, self._rows, self._advice = title, icon, rows, advice
        self.moment.setText(moment)
        self.restyle()
        self.retranslate()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        arrange(self._column, edges=(edge, gap, edge, gap), gap=gap)
        self._head.setSpacing(gap)
        small = theme.size("icon.small")
        self._picture.setPixmap(self._services.icons.get(*self._icon, small).pixmap(small, small))
        self._grid.setHorizontalSpacing(theme.size("space.4"))
        self._grid.setVerticalSpacing(theme.size("space.1"))

    def retranslate(self) -> None:
        language = self._services.language
        self.title.setText(language(self._title))
        self.advice.setText("" if self._advice is None else language(self._advice))
        self.advice.setVisible(self._advice is not None)
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for number, pair in enumerate(self._rows):
            row, column = divmod(number, 2)
            for offset, text in enumerate(pair):
                label = QLabel(language(text))
                mark(label, role="small" if offset == 0 else "mono")
                self._grid.addWidget(label, row, 2 * column + offset)
        self._figures.setVisible(bool(self._rows))


_STATES: dict[str, Message] = {
    "running": msg("Ollama is running."),
    "not_running": msg("Ollama is installed but not running."),
    "not_installed": msg("Ollama is not installed."),
}


class LocalSection(QFrame):
    """Shown for Ollama only."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._status: LocalServerStatus | None = None
        self.setObjectName("modelLocal")
        mark(self, card=True)
        self.state, self.advice = QLabel(), QLabel()
        self.state.setObjectName("modelLocalState")
        for label in (self.state, self.advice):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        mark(self.state, role="strong")
        mark(self.advice, role="small")
        self._column = arrange(QVBoxLayout(self), self.state, self.advice)
        self.hide()

    def show_looking(self) -> None:
        """It is not known yet."""
        self._status = None
        self.retranslate()

    def show_status(self, status: LocalServerStatus) -> None:
        self._status = status
        self.retranslate()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        self._column.setContentsMargins(edge, gap, edge, gap)

    def retranslate(self) -> None:
        language, status = self._services.language, self._status
        if status is None:
            self.state.setText(language(msg("Looking for Ollama…")))
            self.advice.hide()
            return
        told = _STATES.get(status.state) or status.message or msg("Ollama does not respond correctly.")
        if status.state == "running" and status.version:
            told = msg("Ollama {version} is running; models: {count}.", version=status.version,
                       count=len(status.models))  # fmt: skip
        self.state.setText(language(told))
        self.advice.setText("" if status.advice is None else language(status.advice))
        self.advice.setVisible(status.advice is not None)
