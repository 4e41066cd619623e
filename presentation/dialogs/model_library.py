"""The models that come with the program: looked through, and one inserted into the circuit in front."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from PyQt6.QtCore import QEvent, QObject, Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QLineEdit, QWidget

from domain.circuit.model_library import LibraryModel, matching_models, pin_words
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.parts import text_label
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_ROWS = 9
"""Seen at once."""
_WIDTH, _LINES = 500, 6
"""Pixels at the scale 1, and lines: the longest title, the longest figures."""


class ModelLibraryDialog(SmallDialog):
    """Search, list, what a data sheet says of the chosen model, and the lines that will be written."""

    def __init__(
        self,
        services: WindowServices,
        models: Sequence[LibraryModel],
        circuit: Path | None,
        parent: QWidget | None,
    ) -> None:
        """`circuit` is what a model would go into; None: nothing that could take one is in front."""
        super().__init__(services, parent, "modelLibrary", title=msg("Model library"))
        self._models, self._circuit = models, circuit
        self._found: Sequence[LibraryModel] = ()
        language = services.language
        self.search = QLineEdit()
        self.search.setObjectName("modelSearch")
        self.search.setClearButtonEnabled(True)
        self.search.setPlaceholderText(language(msg("Name, kind or figure: 2N3904, op-amp, zener, 12 V")))
        self.search.setAccessibleName(language(msg("Search the models")))
        self.search.textChanged.connect(self._refresh)
        self.search.installEventFilter(self)
        self.table = FigureTable(services, "models", wide_column=1)
        self.table.setAccessibleName(language(msg("Models")))
        self.table.setSelectionMode(FigureTable.SelectionMode.SingleSelection)
        self.table.setFixedHeight(self.table.wanted_height(_ROWS))
        self.table.setMinimumWidth(round(_WIDTH * services.theme.theme.scale))
        self.table.doubleClicked.connect(lambda _index: self._insert())
        self._told = text_label(name="modelFigures", wraps=True, role="secondary")
        self._told.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        # The dialog keeps its size from model to model.
        self._told.setMinimumHeight(_LINES * self._told.fontMetrics().lineSpacing())
        self._lines = text_label(name="modelLines", wraps=True, role="mono")
        for widget in (self.search, self.table, self._told, self._lines):
            self.add(widget)
        self.add_button(msg("Close"), is_left=True)
        self.insert_button = self.add_button(msg("Insert"), kind="primary", act=self._insert)
        self.insert_button.setObjectName("insertModel")
        self._refresh()
        selection = self.table.selectionModel()
        assert selection is not None
        selection.selectionChanged.connect(lambda _new, _old: self._show_chosen())
        self.search.setFocus()

    async def ask(self) -> LibraryModel | None:
        """Show it until it is over; the model to be inserted, None for none."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.finished.connect(lambda _result: None if over.done() else over.set_result(None))
        self.open()
        await over
        return self.chosen if isinstance(self.chosen, LibraryModel) else None

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Up and down choose in the list while the keyboard is in the field."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step is not None and self._found:
                row = next(iter(self.table.selected_rows()), -step)
                self.table.selectRow(min(max(row + step, 0), len(self._found) - 1))
                return True
        return super().eventFilter(watched, event)

    def _refresh(self, _text: str = "") -> None:
        language = self._services.language
        self._found = _found(self._models, self.search.text(), language)
        self.table.clearSelection()
        self.table.show_rows(
            [Column(title=language(msg("Model"))), Column(title=language(msg("What it is")))],
            [
                [Cell(text=model.name, style="mono_small"), Cell(text=title, tip=title)]
                for model in self._found
                for title in [language(model.words)]
            ],
        )
        if self._found:
            self.table.selectRow(0)
        self._show_chosen()

    def _chosen(self) -> LibraryModel | None:
        rows = self.table.selected_rows()
        return self._found[rows[0]] if rows and rows[0] < len(self._found) else None

    def _show_chosen(self) -> None:
        language, model = self._services.language, self._chosen()
        refusal = None
        if model is None:
            self._told.setText(
                language(msg("No model of the library matches. It has {names}.", names=_names(self._models)))
            )
            self._lines.setText("")
            refusal = msg("Choose a model first.")
        else:
            pins = language(msg("Pins: {pins}", pins=pin_words(model.pins)))
            self._told.setText(f"{model.figures}\n{pins}\n{model.source}")
            self._lines.setText(f"{model.include}\n{model.element(f'{model.letter}1')}")
            if self._circuit is None:
                refusal = msg("Open a circuit in the editor first.")
        self.insert_button.setEnabled(refusal is None)
        where = "" if self._circuit is None else self._circuit.name
        self.insert_button.setToolTip(
            language(msg("Insert behind the caret's line of {name}", name=where))
            if refusal is None
            else language(refusal)
        )

    def _insert(self) -> None:
        model = self._chosen()
        if model is not None and self._circuit is not None:
            self._close_with(model)


def _found(
    models: Sequence[LibraryModel], words: str, language: Callable[[Message], str]
) -> Sequence[LibraryModel]:
    """Those whose name begins with what is typed, or whose title has it in the window's language; else what a
    query finds."""
    key = words.strip().casefold()
    begun = [model for model in models if key and model.name.casefold().startswith(key)]
    titled = [model for model in models if key and key in language(model.words).casefold()]
    return begun or titled or matching_models(models, words)


def _names(models: Sequence[LibraryModel]) -> str:
    return ", ".join(model.name for model in models)
