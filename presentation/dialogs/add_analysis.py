"""An analysis written by a form: its kind, figures proposed from the circuit, the line it gives."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from PyQt6.QtWidgets import QComboBox, QFormLayout, QLabel, QLineEdit, QWidget

from domain.circuit.analysis_proposals import (
    FIELDS,
    Kind,
    card_of,
    kinds_for,
    missing_ac,
    proposed,
)
from presentation.ui.parts import text_label
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import UserInputError
from shared.message import Message, msg

if TYPE_CHECKING:
    from domain.circuit.netlist import Netlist

TITLES: Mapping[Kind, Message] = {
    "tran": msg("Transient: over time"),
    "ac": msg("AC: small signals over frequency"),
    "dc": msg("DC sweep: over a source"),
    "op": msg("Operating point"),
    "noise": msg("Noise over frequency"),
}
_WIDTH, _ROWS = 380, 5
"""Pixels at the scale 1; the most fields a kind has, for which room is kept."""

Then = Literal["insert", "run", "main"]


class Answer(NamedTuple):
    """What somebody chose."""

    then: Then
    """insert the line; insert it and run; run the main circuit instead"""
    card: str


class AddAnalysisDialog(SmallDialog):
    """A form for one analysis of a circuit."""

    def __init__(
        self,
        services: WindowServices,
        netlist: Netlist,
        circuit: Path,
        parent: QWidget | None,
        *,
        edited: tuple[Kind, Mapping[str, str]] | None = None,
        title: Message | None = None,
        main: Path | None = None,
    ) -> None:
        """`edited`: the analysis that is there; `main`: what could be run in the circuit's place."""
        usual = msg("Add an analysis to {circuit}", circuit=circuit.name)
        if edited is not None:
            usual = msg("Edit an analysis of {circuit}", circuit=circuit.name)
        super().__init__(services, parent, "addAnalysis", title=title or usual)
        self._netlist = netlist
        self._values: dict[Kind, dict[str, str]] = {}
        """What stands in the fields of each kind that was shown."""
        self.fields: dict[str, QLineEdit] = {}
        language = services.language
        self.kind = QComboBox()
        self.kind.setAccessibleName(language(msg("Kind of analysis")))
        for kind in kinds_for(netlist):
            self.kind.addItem(language(TITLES[kind]), kind)
        if edited is not None:
            self._values[edited[0]] = dict(edited[1])
            self.kind.setCurrentIndex(self.kind.findData(edited[0]))
        self._form_place = QWidget()
        self._form = QFormLayout(self._form_place)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form_place.setMinimumWidth(round(_WIDTH * services.theme.theme.scale))
        self.line = text_label(name="analysisLine", role="mono")
        self.problem = text_label(name="analysisProblem", wraps=True, role="tertiary")
        for widget in (self.kind, self._form_place, self.line, self.problem):
            self.add(widget)
        self.add_button(msg("Cancel"), is_left=True)
        if main is not None:
            self.add_button(msg("Run {circuit}", circuit=main.name), Answer("main", ""))
        self.insert = self.add_button(msg("Apply") if edited else msg("Add"), act=lambda: self._end("insert"))
        self.run = self.add_button(
            msg("Apply and run") if edited else msg("Add and run"),
            kind="primary",
            act=lambda: self._end("run"),
        )
        self.kind.currentIndexChanged.connect(lambda _index: self._show_kind())
        self._show_kind()

    async def ask(self) -> Answer | None:
        """Show it until it is over; None when nothing is to be done."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.finished.connect(lambda _result: None if over.done() else over.set_result(None))
        self.open()
        await over
        return self.chosen if isinstance(self.chosen, Answer) else None

    @property
    def _kind(self) -> Kind:
        found: Kind = self.kind.currentData()
        return found

    def _show_kind(self) -> None:
        kind, language = self._kind, self._services.language
        values = self._values.setdefault(kind, proposed(self._netlist, kind))
        while self._form.rowCount():
            self._form.removeRow(0)
        self.fields = {}
        for field in FIELDS[kind]:
            edit = QLineEdit(values.get(field.name, ""))
            edit.setObjectName(f"analysis_{field.name}")
            edit.setAccessibleName(language(field.label))
            if field.is_optional:
                edit.setPlaceholderText(language(msg("optional")))
            edit.textChanged.connect(lambda text, name=field.name: self._set(name, text))
            label = QLabel(language(field.label))
            label.setBuddy(edit)
            self._form.addRow(label, edit)
            self.fields[field.name] = edit
        rows = _ROWS * (self.kind.sizeHint().height() + self._form.verticalSpacing())
        self._form_place.setMinimumHeight(rows)  # the dialog keeps its size from kind to kind
        self._refresh()

    def _set(self, name: str, text: str) -> None:
        self._values[self._kind][name] = text
        self._refresh()

    def _card(self) -> str | UserInputError:
        try:
            return card_of(self._kind, self._values[self._kind])
        except UserInputError as error:
            return error

    def _refresh(self) -> None:
        language, card = self._services.language, self._card()
        is_wrong = isinstance(card, UserInputError)
        self.line.setText("" if is_wrong else str(card))
        told = ""
        if isinstance(card, UserInputError):
            told = language(card.message)
        elif self._kind in ("ac", "noise") and (source := missing_ac(self._netlist)):
            told = language(
                msg(
                    "No source has an AC value, so all curves will be 0: write AC 1 at {source}.",
                    source=source,
                )
            )
        mark(self.problem, role="error" if is_wrong else "warn" if told else "tertiary")
        self.problem.setText(told)
        for button in (self.insert, self.run):
            button.setEnabled(not is_wrong)

    def _end(self, then: Then) -> None:
        card = self._card()
        if isinstance(card, str):
            self._close_with(Answer(then, card))
