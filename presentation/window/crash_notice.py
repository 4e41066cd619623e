"""What is told of an earlier run that ended by a fault: a line above the panes, and its report on demand."""

from __future__ import annotations

import asyncio

from PyQt6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QWidget

from application.groups.program import Program
from application.project.unclean_ends import UncleanEnd
from presentation.ui.frame import small_button
from presentation.ui.parts import arrange, copy_text
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

_LINES = 14
"""Of the report that are seen at once, also on a small screen."""


class CrashNotice(QWidget):
    """A line with two ways: look at the report, or not. Nothing is sent anywhere."""

    def __init__(self, services: WindowServices, program: Program, found: UncleanEnd) -> None:
        super().__init__()
        self._services = services
        self._program = program
        self._found = found
        self._icon, self._label = QLabel(), QLabel()
        self._label.setWordWrap(True)
        self._row = arrange(QHBoxLayout(self), self._icon, (self._label, 1))
        self.look_button = small_button("crash_look", self.show_report)
        self.later_button = small_button("crash_dismiss", self.hide)
        for button in (self.look_button, self.later_button):
            self._row.addWidget(button)
        self.setObjectName("crashNotice")
        mark_area(self, surface="panel", line="bottom")
        services.dress(self)

    def show_report(self) -> None:
        """The report, to be read, copied or deleted."""
        language, found = self._services.language, self._found
        told = msg(
            "This is what is known about it, saved in {path}. Nothing was sent anywhere; keys are "
            "blacked out.",
            path=found.path,
        )
        dialog = SmallDialog(self._services, self.window(), "crashReport", title=_TITLE, text=language(told))
        text = QPlainTextEdit(found.report)
        text.setObjectName("crashReportText")
        text.setAccessibleName(language(msg("Report")))
        text.setReadOnly(True)
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        text.setFont(self._services.theme.theme.font("mono"))
        metrics = text.fontMetrics()
        text.setMinimumHeight(metrics.lineSpacing() * _LINES)
        dialog.add(text)
        dialog.add_button(msg("Delete"), "delete", kind="", is_left=True)
        dialog.add_button(msg("Copy"), act=lambda: copy_text(found.report))
        dialog.add_button(msg("Close"), "close", kind="primary")
        dialog.finished.connect(lambda _result: self._on_read(dialog.chosen))
        dialog.open()

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, gap, size = theme.size("space.3"), theme.size("space.1"), theme.size("icon.default")
        arrange(self._row, edges=(edge, gap, edge, gap), gap=theme.size("space.2"))
        icon = self._services.icons.get("triangle-alert", "warn.icon", size)
        self._icon.setPixmap(icon.pixmap(size, size))

    def retranslate(self, _name: object = None) -> None:
        language = self._services.language
        self._label.setText(language(_TITLE))
        self.look_button.setText(language(msg("Show the report")))
        self.later_button.setText(language(msg("Not now")))

    def _on_read(self, chosen: object) -> None:
        self.hide()
        if chosen == "delete":
            self._services.start(self._delete(self._found), kind="delete report")

    async def _delete(self, found: UncleanEnd) -> None:
        try:
            await asyncio.to_thread(self._program.unclean_ends.delete, found)
        except CircuitAIError as error:
            self._services.workspace.error_occurred.emit(error)


_TITLE: Message = msg("The program ended unexpectedly last time.")
