"""Circuit > Design report: asks for the studies and where, makes it, and offers to open it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PyQt6.QtCore import QUrl
from PyQt6.QtGui import QDesktopServices
from PyQt6.QtWidgets import QWidget

from application.app import Application
from presentation.translation import Translator
from presentation.ui.questions import choose, choose_target
from presentation.ui.workspace import WindowServices
from shared.message import msg


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
    start = root / f"{circuit.stem}-report.pdf"
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
    is_wanted = await choose(
        services,
        window,
        title=msg("Design report"),
        text=msg("The report of {name} was written to {path}.", name=circuit.name, path=written),
        options=((False, msg("Close"), ""), (True, msg("Open"), "primary")),
        cancelled=False,
    )
    if is_wanted:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(written)))
