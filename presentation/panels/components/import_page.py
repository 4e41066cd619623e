"""The import of a model library, in the place of the list: what is in the file, its pins, where it goes.

Nothing is written before the last step; until then the rest of the window stays as usable as it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from domain.components.component import KINDS
from domain.components.titles import title_of
from presentation.panels.components.import_pins import PinPage
from presentation.panels.components.import_target import TargetPage
from presentation.panels.components.import_words import STATES, details, remarks, summary
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.fitting import ScrolledParts
from presentation.ui.parts import ElidedLabel, arrange, push_button, text_label
from presentation.ui.styles import mark
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.components.imported_parts import FoundPart
    from application.components.importing import FoundLibrary, ImportedLibrary
    from application.groups.program import Program
    from application.groups.project import Project
    from presentation.ui.workspace import WindowServices

_LOOK, _WRITE, _LIST = "look into library", "import library", "list parts"
_MOST_ROWS = 500
"""Parts that are listed; of more the list has those first of which something is to be said."""
_ROWS_AT_ONCE = 50
"""Made without a break: some 5 ms."""
_WORST = {"failed": 0, "warned": 1, "untried": 3, "ok": 4}
_STEPS = (msg("What is in it"), msg("Pins"), msg("Where it goes"))


class ImportPage(QWidget):
    """Three steps; the arrows below lead on and back, Return goes on, Escape ends it."""

    ended = pyqtSignal(object)
    """ImportedLibrary, None when nothing was written"""

    def __init__(self, services: WindowServices, project: Project, program: Program) -> None:
        super().__init__()
        self._services, self._program = services, program
        self._importing = project.import_library
        self._source: Path | None = None
        self.found: FoundLibrary | None = None
        self._listed: Sequence[FoundPart] = ()
        self._progress = (0, 0)
        self._error: CircuitAIError | None = None
        self._is_shown = self._is_writing = False
        self.setObjectName("importLibrary")
        self._title = ElidedLabel()
        mark(self._title, role="title")
        self._step = text_label(name="importStep", role="tertiary")
        self._summary = text_label(name="importSummary", wraps=True)
        self._remarks = QVBoxLayout()
        self._remark_box = ScrolledParts(self._remarks)
        content = self._remark_box.widget()
        assert content is not None
        mark(content, surface="base")
        self.table = FigureTable(services, "importParts", wide_column=1)
        self.table.setSelectionMode(FigureTable.SelectionMode.SingleSelection)
        selection = self.table.selectionModel()
        assert selection is not None
        selection.selectionChanged.connect(lambda _new, _old: self._show_details())
        self._details = text_label(name="importDetails", wraps=True, role="warn")
        self.pins = PinPage(services)
        self.target = TargetPage(services, self._importing.find.libraries, self.pins)
        self.steps = QStackedWidget()
        self.refusal = text_label(name="importRefusal", wraps=True, role="warn")
        self.cancel = push_button(name="importCancel", clicked=lambda _on=False: self.end())
        self.back = push_button(name="importBack", clicked=lambda _on=False: self._go(-1))
        self.next = push_button(name="importNext", clicked=lambda _on=False: self.go_on(), kind="primary")
        self._build()
        for page in (self.pins, self.target):
            page.changed.connect(self._show_step)
        services.dress(self)

    def _build(self) -> None:
        first, head, foot = QWidget(), QWidget(), QWidget()
        self._first = arrange(
            QVBoxLayout(first), self._summary, self._remark_box, (self.table, 1), self._details, edges=0
        )
        for page in (first, self.pins, self.target):
            self.steps.addWidget(page)
        self._head = arrange(QHBoxLayout(head), (self._title, 1), self._step, edges=0)
        self._foot = arrange(QHBoxLayout(foot), self.cancel, 1, self.back, self.next, edges=0)
        self._column = arrange(QVBoxLayout(self), head, (self.steps, 1), self.refusal, foot)
        self.setFocusProxy(self.table)

    # ---- life

    def begin(self, source: Path) -> None:
        """Look into a file."""
        self._program.tasks.cancel(kind=_LOOK)
        self._source, self.found, self._listed, self._error = source, None, (), None
        self._progress, self._is_shown = (0, 0), False
        self.steps.setCurrentIndex(0)
        self.table.show_rows([], [])
        self.retranslate()
        self.next.setFocus()
        self._services.start(self._look(source), kind=_LOOK)

    def end(self) -> None:
        """Leave it; nothing is written. What is being written is seen to its end."""
        if self._is_writing:
            return
        self._program.tasks.cancel(kind=_LOOK)
        self._source = None
        self.ended.emit(None)

    async def _look(self, source: Path) -> None:
        try:
            found = await self._importing.look(
                source, root=self._services.workspace.root, told=self._show_progress
            )
        except CircuitAIError as error:
            if source == self._source:
                self._error = error
                self.retranslate()
            return
        if source != self._source:
            return
        listed = await off_loop(_to_be_listed, found.parts)
        rows = await self._rows_of(listed)
        if source != self._source:
            return
        self.found, self._listed = found, listed
        for show in (
            partial(self.pins.show_library, found),
            partial(self.target.show_library, found),
            self._show_contents,
            partial(self._show_rows, rows),
            self._choose_worst,
        ):
            show()
            await asyncio.sleep(0)  # keys and paints come between what takes long
            if source != self._source:
                return
        self._is_shown = True
        self._show_step()

    def _choose_worst(self) -> None:
        if self._listed:
            self.table.selectRow(min(range(len(self._listed)), key=lambda at: _rank(self._listed[at])))

    def _show_progress(self, done: int, count: int) -> None:
        self._progress = (done, count)
        if self.found is None and (done % 20 == 0 or done == count):
            self._show_summary()

    # ---- steps

    def go_on(self) -> None:
        """The next step; behind the last one the library is written."""
        if not self.next.isEnabled():
            return
        if self.steps.currentIndex() < len(_STEPS) - 1:
            self._go(1)
        else:
            self._is_writing = True
            self._show_step()
            self._services.start(self._write(), kind=_WRITE)

    def _go(self, step: int) -> None:
        at = self.steps.currentIndex() + step
        if at == 1 and not self.pins.parts:
            at += step
        self.steps.setCurrentIndex(at)
        self.target.say_again()
        self._show_step()
        (self.table, self.pins.choice, self.target.in_project)[at].setFocus()

    async def _write(self) -> None:
        found, workspace = self.found, self._services.workspace
        assert found is not None, "the last step is reached behind a look"
        folder = self.target.target
        done: ImportedLibrary | None = None
        try:
            done = await self._importing.write(
                found,
                uses=self.pins.confirmed(),
                converts=self.target.converts,
                root=workspace.root if folder is None else None,
                folder=folder,
            )
            if folder is not None and folder not in self._importing.find.libraries():
                kept = [str(path) for path in self._importing.find.libraries()]
                await self._program.preferences.set("libraries", [*kept, str(folder)])
        except CircuitAIError as error:
            self._error = error
        finally:
            self._is_writing = False
            self._show_step()
        if done is not None:
            self._source = None
            for path in (*done.copied, done.path):
                workspace.file_changed.emit(path)
            self.ended.emit(done)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Return goes on (a button that has the keyboard is pressed), Escape ends."""
        key = None if event is None else Qt.Key(event.key())
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            focused = self.focusWidget()
            if isinstance(focused, QPushButton):
                focused.click()
            else:
                self.go_on()
        elif key == Qt.Key.Key_Escape:
            self.end()
        else:
            super().keyPressEvent(event)

    # ---- what is shown

    def _show_step(self) -> None:
        language, at = self._services.language, self.steps.currentIndex()
        self._step.setText(
            language(msg("{step} of {count}: {title}", step=at + 1, count=len(_STEPS), title=_STEPS[at]))
        )
        is_last = at == len(_STEPS) - 1
        self.back.setEnabled(at > 0 and not self._is_writing)
        self.cancel.setEnabled(not self._is_writing)
        self.next.setText(language(msg("Import") if is_last else msg("Continue")))
        refusal = self._refusal()
        self.next.setEnabled(self._is_shown and refusal is None and not self._is_writing)
        error = self._error
        told = refusal if error is None else (
            error.message
            if error.advice is None
            else msg("{problem} {advice}", problem=error.message, advice=error.advice)
        )  # fmt: skip
        self.refusal.setText("" if told is None else language(told))
        self.refusal.setVisible(told is not None)

    def _refusal(self) -> Message | None:
        at = self.steps.currentIndex()
        return None if at == 0 else self.pins.refusal() or (self.target.refusal() if at == 2 else None)

    def _show_summary(self) -> None:
        language, found = self._services.language, self.found
        if found is not None:
            self._summary.setText(language(summary(found)))
            return
        done, count = self._progress
        told = (
            msg("Trying the parts in ngspice: {done} of {count}.", done=done, count=count)
            if count
            else msg("Reading …")
        )
        self._summary.setText("" if self._error is not None else language(told))

    def _show_contents(self) -> None:
        language, found = self._services.language, self.found
        while (item := self._remarks.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.setParent(None)
                widget.deleteLater()
        self._show_summary()
        told = [] if found is None else list(remarks(found))
        if found is not None and len(found.parts) > _MOST_ROWS:
            first = msg(
                "The list has {count} of them: first those of which something is to be said.",
                count=_MOST_ROWS,
            )
            told.append((first, "secondary"))
        for words, role in told:
            self._remarks.addWidget(text_label(language(words), wraps=True, role=role))
        self._remark_box.setVisible(bool(told))
        line = self.fontMetrics().lineSpacing()
        self._remark_box.setMaximumHeight(line * (2 * len(told) + 1) if len(told) < 5 else line * 9)
        self._show_details()

    async def _show_rows_again(self) -> None:
        """In another language."""
        listed = self._listed
        rows = await self._rows_of(listed)
        if listed is self._listed:
            self._show_rows(rows)

    async def _rows_of(self, listed: Sequence[FoundPart]) -> list[list[Cell]]:
        language, rows = self._services.language, []
        for number, part in enumerate(listed, 1):
            component = part.component
            state, color = STATES[part.state]
            title = language(title_of(component)) if component.title else language(KINDS[component.kind])
            rows.append([
                Cell(text=component.name, style="mono_small"),
                Cell(text=title, tip=title),
                Cell(text=str(len(component.ports) or ""), color="text.secondary"),
                Cell(text=language(state), color=color),
            ])  # fmt: skip
            if number % _ROWS_AT_ONCE == 0:
                await asyncio.sleep(0)
        return rows

    def _show_rows(self, rows: Sequence[Sequence[Cell]]) -> None:
        language = self._services.language
        heads = (msg("Name"), msg("What it is"), msg("Pins"), msg("In ngspice"))
        self.table.show_rows([Column(title=language(head)) for head in heads] if rows else [], rows)

    def _show_details(self) -> None:
        rows = self.table.selected_rows()
        part = self._listed[rows[0]] if rows and rows[0] < len(self._listed) else None
        told = [] if part is None else [self._services.language(each) for each in details(part)]
        self._details.setText("\n".join(told))
        self._details.setVisible(bool(told))

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        arrange(self._column, edges=(edge, gap, edge, edge), gap=gap)
        for row in (self._first, self._head, self._foot):
            row.setSpacing(gap)
        self._remarks.setContentsMargins(0, 0, 0, 0)
        self._remarks.setSpacing(theme.size("space.1"))
        self.pins.restyle()
        self.target.restyle()

    def retranslate(self, _name: object = None) -> None:
        language = self._services.language
        name = "" if self._source is None else self._source.name
        self._title.setText(language(msg("Import {name}", name=name)))
        self.cancel.setText(language(msg("Cancel")))
        self.back.setText(language(msg("Back")))
        self.table.setAccessibleName(language(msg("Parts of the library")))
        self.pins.retranslate()
        self.target.retranslate()
        self._show_contents()
        if self._listed:
            self._services.start(self._show_rows_again(), kind=_LIST)
        self._show_step()


def _to_be_listed(parts: Sequence[FoundPart]) -> Sequence[FoundPart]:
    """All of them, or of many those first of which something is to be said."""
    return parts if len(parts) <= _MOST_ROWS else sorted(parts, key=_rank)[:_MOST_ROWS]


def _rank(part: FoundPart) -> int:
    """The lower the more is to be said of it."""
    worst = _WORST[part.state]
    return min(worst, 2) if part.held_by else worst
