"""Pins of a library's subcircuits: what each is for, as the library says it, to be confirmed or changed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QShowEvent
from PyQt6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QVBoxLayout, QWidget

from domain.components.pin_uses import USES, wrong_use
from presentation.panels.components.import_words import TOLD
from presentation.ui.fitting import ScrolledParts
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.components.imported_parts import FoundPart
    from application.components.importing import FoundLibrary
    from presentation.ui.workspace import WindowServices

_MOST_PINS = 64
_AT_ONCE = 3
"""Pins whose fields are made without a break: some 5 ms each."""
_LONGEST_USE = max(map(len, USES))


class PinPage(QWidget):
    """One subcircuit at a time; what was confirmed or changed is written into the copy."""

    changed = pyqtSignal()

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._parts: list[tuple[int, FoundPart]] = []
        self._is_stale = False
        """Whether the fields are of another part; they are made once they are seen."""
        self._uses: dict[int, tuple[str, ...]] = {}
        """As they stand, by the places of the parts."""
        self._confirmed: set[int] = set()
        self.choice = QComboBox()
        self.choice.setObjectName("importSubcircuit")
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.choice.setMinimumContentsLength(12)
        self.choice.currentIndexChanged.connect(lambda _at: self._show_part())
        self._told = text_label(name="importPinsTold", wraps=True, role="secondary")
        self._grid = QGridLayout()
        self._pins = ScrolledParts(self._grid)
        content = self._pins.widget()
        assert content is not None
        mark(content, surface="base")
        self.fields: list[QComboBox] = []
        self.confirm = QCheckBox()
        self.confirm.setObjectName("importConfirmPins")
        self.confirm.clicked.connect(self._on_confirmed)
        self._why = text_label(name="importPinsWhy", wraps=True, role="tertiary")
        self._column = arrange(
            QVBoxLayout(self), self.choice, self._told, self.confirm, (self._pins, 1), self._why, edges=0
        )

    # ---- what was said

    @property
    def parts(self) -> list[tuple[int, FoundPart]]:
        """The subcircuits whose pins can be told, with their places in the library."""
        return self._parts

    def confirmed(self) -> dict[int, tuple[str, ...]]:
        """The uses that are to be written, by the places of the parts."""
        return {at: self._uses[at] for at in sorted(self._confirmed)}

    def unconfirmed(self) -> int:
        """How many subcircuits keep the names of their pins: their order is a guess nobody has confirmed."""
        return sum(
            1
            for at, part in self._parts
            if part.uses is not None and not part.uses.is_certain and at not in self._confirmed
        )

    def refusal(self) -> Message | None:
        """What cannot be written."""
        for at, part in self._parts:
            wrong = wrong_use(self._uses[at]) if at in self._confirmed else None
            if wrong is not None:
                return msg(
                    "Pin {number} of {name} needs one word for its use.",
                    number=wrong + 1,
                    name=part.component.name,
                )
        return None

    # ---- what is shown

    def show_library(self, found: FoundLibrary) -> None:
        """Begin with another library: those first whose order nothing tells."""
        parts = [
            (at, part)
            for at, part in enumerate(found.parts)
            if part.uses is not None and len(part.uses.uses) <= _MOST_PINS
        ]
        parts.sort(key=lambda each: each[1].uses is not None and each[1].uses.is_certain)
        self._parts = parts
        self._uses = {at: part.uses.uses for at, part in parts if part.uses is not None}
        self._confirmed = set()
        self.choice.blockSignals(True)
        self.choice.clear()
        self.choice.addItems([part.component.name for _, part in parts])
        self.choice.blockSignals(False)
        self._show_part()

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        if self._is_stale:
            self._show_part()

    def _current(self) -> tuple[int, FoundPart] | None:
        at = self.choice.currentIndex()
        return self._parts[at] if 0 <= at < len(self._parts) else None

    def _show_part(self) -> None:
        self._is_stale = not self.isVisible()
        if self._is_stale:
            return
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.setParent(None)
                widget.deleteLater()
        self.fields = []
        current, language = self._current(), self._services.language
        if current is None or current[1].uses is None:
            self._told.setText(language(msg("There are no subcircuits in this file.")))
            self.confirm.setVisible(False)
            self._why.setVisible(False)
            return
        place, part = current
        assert part.uses is not None
        self._why.setVisible(True)
        self._told.setText(language(TOLD[part.uses.told]))
        self.confirm.setVisible(not part.uses.is_certain)
        self.confirm.setChecked(place in self._confirmed)
        for column, title in enumerate((msg("Order"), msg("Name"), msg("Use"))):
            self._grid.addWidget(text_label(language(title), role="tertiary"), 0, column)
        self._grid.setColumnStretch(2, 1)
        self._grid.setRowStretch(len(part.component.ports) + 1, 1)
        self._make_fields(place, part)
        if len(self.fields) < len(part.component.ports):
            self._services.start(self._make_further(self.fields, place, part), kind="show pins")
        self._mark_wrong()

    async def _make_further(self, fields: list[QComboBox], place: int, part: FoundPart) -> None:
        """The fields behind the first, while they are those of the part that is shown."""
        while len(fields) < len(part.component.ports):
            await asyncio.sleep(0)
            if fields is not self.fields:
                return
            self._make_fields(place, part)
        self._mark_wrong()

    def _make_fields(self, place: int, part: FoundPart) -> None:
        """The next few."""
        language, first = self._services.language, len(self.fields)
        for at, port in enumerate(part.component.ports[first : first + _AT_ONCE], first):
            field = QComboBox()
            field.setEditable(True)
            # Else Qt measures every word of every field whenever they are laid out.
            field.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            field.setMinimumContentsLength(_LONGEST_USE)
            field.setObjectName(f"importUse{at}")
            field.addItems(list(dict.fromkeys((self._uses[place][at], port, *USES))))
            field.setCurrentText(self._uses[place][at])
            field.setAccessibleName(language(msg("Use of pin {pin}", pin=port)))
            field.currentTextChanged.connect(lambda _text: self._on_changed())
            name = text_label(port, role="mono")
            name.setTextFormat(Qt.TextFormat.PlainText)
            self.fields.append(field)
            self._grid.addWidget(text_label(str(at + 1), role="secondary"), at + 1, 0)
            self._grid.addWidget(name, at + 1, 1)
            self._grid.addWidget(field, at + 1, 2)

    def _on_changed(self) -> None:
        current = self._current()
        if current is None or current[1].uses is None:
            return
        place, part = current
        assert part.uses is not None
        changed = [field.currentText().strip() for field in self.fields]
        self._uses[place] = (*changed, *self._uses[place][len(changed) :])
        if self._uses[place] != part.uses.uses:
            self._confirmed.add(place)
        elif part.uses.is_certain:
            self._confirmed.discard(place)
        self.confirm.setChecked(place in self._confirmed)
        self._mark_wrong()
        self.changed.emit()

    def _on_confirmed(self, is_on: bool) -> None:
        current = self._current()
        if current is not None:
            (self._confirmed.add if is_on else self._confirmed.discard)(current[0])
            self.changed.emit()

    def _mark_wrong(self) -> None:
        current = self._current()
        wrong = None if current is None else wrong_use(self._uses[current[0]])
        for at, field in enumerate(self.fields):
            mark(field, state="error" if at == wrong else "")

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self._column.setSpacing(theme.size("space.2"))
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.size("space.3"))
        self._grid.setVerticalSpacing(theme.size("space.1"))

    def retranslate(self) -> None:
        language = self._services.language
        self.choice.setAccessibleName(language(msg("Subcircuit")))
        self.confirm.setText(language(msg("I have checked this order")))
        self._why.setText(
            language(
                msg(
                    "What is confirmed is written into the copy as a comment. By it nodes are proposed when "
                    "the part is inserted, and its curves are simulated."
                )
            )
        )
        self._show_part()
