"""Values changed where they are drawn: a field over the part, one step of undo in the netlist's text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from domain.circuit.schematic.value_places import checked, place_of
from presentation.panels.editor.text_changes import TextEdit
from presentation.ui.field_card import FieldCard
from shared.errors import UserInputError
from shared.message import Message, msg

if TYPE_CHECKING:
    from pathlib import Path

    from domain.circuit.schematic.display import Symbol
    from presentation.panels.editor.editor_area import EditorArea
    from presentation.panels.editor.page import EditorPage
    from presentation.panels.schematic.canvas import SchematicCanvas
    from presentation.ui.workspace import WindowServices

_LONGEST = 400


class SchematicValues(QObject):
    """Of one drawing."""

    def __init__(
        self,
        services: WindowServices,
        canvas: SchematicCanvas,
        editor: EditorArea,
        done: Callable[[Callable[[], bool]], object],
    ) -> None:
        """`done` gets what takes a change back; that says whether it could."""
        super().__init__(canvas)
        self._services, self._canvas, self._editor = services, canvas, editor
        self._done = done
        self.card = FieldCard(services, canvas, name="value", longest=_LONGEST)

    def edit(self, symbol: Symbol, circuit: Path) -> bool:
        """Ask for another value of an element; False where it has none that one could type over."""
        if not symbol.value or symbol.value_at[0] < 1:
            return False
        self._canvas.reveal(symbol.element)
        center = self._canvas.center_of(symbol.element)
        at = None if center is None else center.toPoint()
        title = msg("Model of {name}", name=symbol.element) if symbol.is_model else msg(
            "Value of {name}", name=symbol.element
        )  # fmt: skip
        self.card.ask(
            title, symbol.value, partial(self._take, symbol, symbol.file or circuit),
            check=partial(_problem, symbol), at=at,
        )  # fmt: skip
        return True

    def _take(self, symbol: Symbol, file: Path, text: str) -> None:
        new = checked(symbol, text)
        if new != symbol.value:
            self._services.start(self._write(symbol, file, new), kind="change value", scope="change value")

    async def _write(self, symbol: Symbol, file: Path, new: str) -> None:
        page = await self._editor.opened(file, *symbol.value_at)
        if page is None:
            return  # why it cannot be read has been said
        self._canvas.setFocus()
        place = None if page.editor.isReadOnly() else place_of(symbol, page.editor.text())
        if place is None:
            self._services.workspace.status_changed.emit(
                msg("{name} was not changed: its line in {file} is another by now, or cannot be written.",
                    name=symbol.element, file=file.name)
            )  # fmt: skip
            return
        page.editor.apply((TextEdit(place.start, place.end, new.encode("utf-8", "surrogatepass")),))
        self._done(partial(_taken_back, page, page.editor.text()))
        self._services.workspace.status_changed.emit(
            msg("{name} is {new} now, it was {old}.", name=symbol.element, new=new, old=symbol.value)
        )


def _taken_back(page: EditorPage, text: str) -> bool:
    """Only while nothing was typed since."""
    if page.is_closed or page.editor.text() != text:
        return False
    page.editor.undo()
    return True


def _problem(symbol: Symbol, text: str) -> Message | None:
    try:
        checked(symbol, text)
    except UserInputError as error:
        return error.advice or error.message
    return None
