"""What is told of a program that ended by a fault or was killed: lines above the panes, and a report."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from PyQt6.QtWidgets import QPlainTextEdit

from application.groups.program import Program
from application.project.unclean_ends import UncleanEnd
from domain.simulation.retention import CutOff
from presentation.study_words import title_of
from presentation.ui.frame import small_button
from presentation.ui.parts import copy_text
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from presentation.window.notice import Notice
from shared.errors import CircuitAIError
from shared.message import Message, msg

_LINES = 14
"""Of the report that are seen at once, also on a small screen."""
_MOST_CUT_OFF = 4


class CutOffNotice(Notice):
    """What was under way when the program was killed, and what of it is kept."""

    def __init__(self, services: WindowServices, found: Sequence[CutOff]) -> None:
        self._found = found
        self.close_button = small_button("cut_off_dismiss", self.hide)
        super().__init__(services, "cutOffNotice", {self.close_button: msg("Close")})
        services.dress(self)

    def texts(self) -> Sequence[Message]:
        return [_cut_off(each) for each in self._found[:_MOST_CUT_OFF]]


class CrashNotice(Notice):
    """A line with two ways: look at the report, or not. Nothing is sent anywhere."""

    def __init__(self, services: WindowServices, program: Program, found: UncleanEnd) -> None:
        self._program = program
        self._found = found
        self.look_button = small_button("crash_look", self.show_report)
        self.later_button = small_button("crash_dismiss", self.hide)
        buttons = {self.look_button: msg("Show the report"), self.later_button: msg("Not now")}
        super().__init__(services, "crashNotice", buttons)
        services.dress(self)

    def texts(self) -> Sequence[Message]:
        return [_TITLE]

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

    def _on_read(self, chosen: object) -> None:
        self.hide()
        if chosen == "delete":
            self._services.start(self._delete(self._found), kind="delete report")

    async def _delete(self, found: UncleanEnd) -> None:
        try:
            await asyncio.to_thread(self._program.unclean_ends.delete, found)
        except CircuitAIError as error:
            self._services.workspace.error_occurred.emit(error)


def _cut_off(each: CutOff) -> Message:
    study = title_of(each.kind)
    if each.is_kept:
        return msg(
            "{study} of {name} was cut off when the program ended. The runs until then are kept.",
            study=study, name=each.circuit,
        )  # fmt: skip
    if each.kind:
        return msg("{study} of {name} was cut off when the program ended. Nothing of it is kept.",
                   study=study, name=each.circuit)  # fmt: skip
    return msg(
        "A run of {name} was cut off when the program ended. Nothing of it is kept.", name=each.circuit
    )


_TITLE: Message = msg("The program ended unexpectedly last time.")
