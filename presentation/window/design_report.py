"""Circuit > Design report: asks for the studies and where, makes it, and offers to open it.

It takes some seconds, in which one goes on working: that it is there is told without a dialog.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PyQt6.QtCore import QUrl
from PyQt6.QtGui import QDesktopServices
from PyQt6.QtWidgets import QWidget

from application.app import Application
from presentation.translation import Translator
from presentation.ui.frame import small_button
from presentation.ui.questions import choose_target
from presentation.ui.workspace import WindowServices
from presentation.window.notice import Notice
from shared.message import Message, msg


def make_design_report(services: WindowServices, app: Application, window: QWidget) -> None:
    """A report of the circuit that F5 runs."""
    root, circuit = services.workspace.root, services.workspace.run_target
    if root is not None and circuit is not None:
        services.start(_make(services, app, window, root, circuit), kind="design report")


_KINDS = {".pdf": "PDF", ".html": "HTML", ".md": "Markdown"}


async def _make(
    services: WindowServices, app: Application, window: QWidget, root: Path, circuit: Path
) -> None:
    from application.ports.reports import ReportRequest
    from application.simulation.schematics import places_by_hand
    from presentation.report.making import TranslatedPages

    workspace = services.workspace
    kept = await app.design.kept_studies.of(root, circuit)
    studies: Sequence[str] | None = None
    if kept:
        from presentation.dialogs.report_studies import ReportStudiesDialog

        studies = await ReportStudiesDialog(services, circuit, kept, window).ask()
        if studies is None:
            return
    start = circuit.with_name(f"{circuit.stem}-report.pdf")
    title = msg("Design report of {name}", name=circuit.name)
    target = await choose_target(services, window, title, start, kinds=_KINDS)
    if target is None:
        return
    if workspace.buffers is not None:  # the report is of what stands in the editor
        await workspace.buffers.save_unsaved()
    workspace.status_changed.emit(msg("Making the report of {name}", name=circuit.name))
    pages = TranslatedPages(Translator(services.language.name, place="window"))
    by_hand = {scope: places_by_hand(kept) for scope, kept in workspace.views.of(circuit).schematic.items()}
    request = ReportRequest(project=root, circuit=circuit, studies=studies, places=by_hand)
    (written, *_) = await app.design.make_report(request, target, pages, overwrite=True)
    workspace.status_changed.emit(msg("Report: {path}", path=written.name))
    workspace.report_written.emit(circuit.name, written)


class ReportNotice(Notice):
    """Where the report is, and a way to it."""

    sign = "circle-check", "ok.icon"

    def __init__(self, services: WindowServices, circuit: str, path: Path) -> None:
        self._circuit, self._path = circuit, path
        self.open_button = small_button("report_open", self._open)
        self.close_button = small_button("report_dismiss", self.hide)
        buttons = {self.open_button: msg("Open"), self.close_button: msg("Close")}
        super().__init__(services, "reportNotice", buttons)
        services.dress(self)
        services.workspace.project_closed.connect(self.hide)

    def texts(self) -> Sequence[Message]:
        return [msg("The report of {name} was written to {path}.", name=self._circuit, path=self._path)]

    def _open(self) -> None:
        if QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._path))):
            self.hide()
            return
        no_program = msg("No program on this computer opens {name}.", name=self._path.name)
        self._services.workspace.error_occurred.emit(no_program)
