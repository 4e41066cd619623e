"""What the results of the open project take, and cleaning them up."""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from PyQt6 import sip
from PyQt6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from application.project.cleaning import CleanProject, CleanReport, CleanRequest
from domain.simulation.retention import StoredResult
from presentation.ui import questions
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.parts import SpokenName, arrange, push_button, text_label
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

_ROWS = 5
"""Results seen at once."""
_POWERS = ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB"))


class StoragePart(QWidget):
    """Figures, the list of results with their pins, and the clean-up by the rules above."""

    def __init__(self, services: WindowServices, clean: CleanProject, root: Path | None) -> None:
        super().__init__()
        self._services, self._clean, self._root = services, clean, root
        self._report: CleanReport | None = None
        theme, language = services.theme.theme, services.language
        self.told = text_label(name="storageFigures", wraps=True, role="secondary")
        self.table = FigureTable(services, "storedResults")
        SpokenName(services, self.table, msg("Results"))
        self.table.setFixedHeight(self.table.wanted_height(_ROWS))
        self.pin = push_button(
            language(msg("Pin")), name="pinResult", clicked=lambda: self._set_pins(pins=True), small=True
        )
        self.unpin = push_button(
            language(msg("Unpin")), name="unpinResult", clicked=lambda: self._set_pins(pins=False), small=True
        )
        self.clean_up = push_button(
            language(msg("Clean up…")), name="cleanUp", clicked=lambda: self._start(self._ask()), small=True
        )
        gap = theme.size("space.3")
        row = arrange(
            QHBoxLayout(), self.pin, self.unpin, 1, self.clean_up, edges=0, gap=theme.size("space.2")
        )
        arrange(
            QVBoxLayout(self),
            self.told,
            self.table,
            row,
            edges=(2 * gap, gap, gap, gap),
            gap=theme.size("space.2"),
        )
        selection = self.table.selectionModel()
        assert selection is not None
        selection.selectionChanged.connect(lambda _new, _old: self._offer())
        self._offer()
        if root is None:
            self.told.setText(language(msg("Open a project to see what its results take.")))
        else:
            self.look()

    def look(self) -> None:
        """Find out what there is; nothing is removed."""
        self._start(self._look())

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._services.start(work, kind="clean up", scope="settings")

    async def _look(self) -> None:
        if self._root is not None:
            self._show(await self._clean(CleanRequest(project=self._root, dry_run=True)))

    def _show(self, report: CleanReport) -> None:
        self._report = report
        if sip.isdeleted(self):  # the dialog was closed or built again meanwhile, in another look
            return
        language = self._services.language
        results = self._results()
        self.told.setText(
            language(
                msg(
                    "{count} {count:result takes|results take} {size}; {protected} of them are pinned, "
                    "running or referenced by a conversation. Beyond the limits above: {freed}.",
                    count=len(results),
                    size=size_of(sum(result.size for result in results)),
                    protected=sum(result.is_protected for result in results),
                    freed=size_of(report.freed_bytes),
                )
            )
        )
        gone = {removal.result.result_id for removal in report.removed}
        rows = []
        for result in results:
            state: Message | None = None
            if result.is_pinned:
                state = msg("pinned")
            elif result.is_referenced:
                state = msg("in a conversation")
            elif result.result_id in gone:
                state = msg("beyond the limits")
            rows.append(
                [
                    Cell(text=result.result_id, style="mono_small"),
                    Cell(text=size_of(result.size), style="small"),
                    Cell(text="" if state is None else language(state), style="small"),
                ]
            )
        heads = [language(head) for head in (msg("Result"), msg("Disk space"), msg("State"))]
        self.table.show_rows([Column(title=head) for head in heads], rows)
        self._offer()

    def _results(self) -> list[StoredResult]:
        report = self._report
        if report is None:
            return []
        every = [*report.kept, *(removal.result for removal in report.removed)]
        return sorted(every, key=lambda result: result.created, reverse=True)

    def _chosen(self) -> list[StoredResult]:
        results = self._results()
        return [results[row] for row in self.table.selected_rows() if row < len(results)]

    def _offer(self) -> None:
        chosen = self._chosen()
        self.pin.setEnabled(any(not result.is_pinned and result.is_finished for result in chosen))
        self.unpin.setEnabled(any(result.is_pinned for result in chosen))
        self.clean_up.setEnabled(self._report is not None and self._report.freed_bytes > 0)

    def _set_pins(self, *, pins: bool) -> None:
        names = tuple(
            each.result_id for each in self._chosen() if each.is_pinned != pins and each.is_finished
        )
        self._start(self._pin(names, pins=pins))

    async def _pin(self, names: tuple[str, ...], *, pins: bool) -> None:
        request = CleanRequest(project=self._root, pin=names if pins else (), unpin=() if pins else names)
        if names:
            await self._work(request)

    async def _ask(self) -> None:
        report = self._report
        if report is None:
            return
        agreed = await questions.choose(
            self._services,
            self.window() or self,
            title=msg("Clean up the results?"),
            text=msg(
                "{count} {count:result|results} and what killed runs left will be deleted: {freed}. This "
                "cannot be undone.",
                count=len(report.removed),
                freed=size_of(report.freed_bytes),
            ),
            options=((True, msg("Delete"), "danger"), (False, msg("Cancel"), "")),
            cancelled=False,
        )
        if agreed:
            await self._work(CleanRequest(project=self._root))

    async def _work(self, request: CleanRequest) -> None:
        try:
            report = await self._clean(request)
            await self._look()
        except CircuitAIError as error:
            if not sip.isdeleted(self):
                self.told.setText(self._services.language(error.message))
            return
        if report.problems and not sip.isdeleted(self):
            self.told.setText("\n".join(self._services.language(each.message) for each in report.problems))


def size_of(number: int) -> str:
    """``1.4 GiB``, as people read it."""
    for power, name in _POWERS:
        if number >= 1 << power:
            return f"{number / (1 << power):.3g} {name}"
    return f"{number} B"
