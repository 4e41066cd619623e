"""What is plotted from the schematic: entries of its menu, and who is told."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from domain.circuit.elements import GROUND, canonical_node
from domain.circuit.probing import PINS, WITHOUT_CURRENT
from presentation.panels.schematic.hit import Hit
from presentation.ui.probe_entries import of_element, of_node
from presentation.ui.workspace import Probed
from shared.message import msg

if TYPE_CHECKING:
    from pathlib import Path

    from domain.circuit.schematic.display import Drawing, Symbol
    from presentation.panels.waveforms.menu_rows import MenuRows
    from presentation.ui.workspace import WindowServices


class SchematicProbe:
    """Says to the window what of a drawing is to be plotted: by a line of its scope and a name."""

    def __init__(
        self, services: WindowServices, drawing: Callable[[], Drawing | None], file: Callable[[], Path | None]
    ) -> None:
        """`file`: the circuit that is drawn."""
        self._services, self._drawing, self._file = services, drawing, file

    def plot(self, element: str, net: str, what: Probed, pin: str = "") -> None:
        """Plot it of an element or a net; of an element `pin` says which current."""
        symbol = self._symbol(element) if element else self._any_symbol()
        file = self._file()
        if symbol is None or file is None:
            return
        if canonical_node(net) == GROUND:
            self._services.workspace.status_changed.emit(
                msg("Ground is 0 V: voltages are measured against it.")
            )
            return
        name = net or pin
        self._services.workspace.place_probed.emit(file, symbol.file or file, symbol.line, name, what)

    def compare(self, net: str, against: str) -> None:
        """Plot the voltage of a net measured against another."""
        if canonical_node(against) == GROUND:
            self.plot("", net, "voltage")
        elif canonical_node(net) == GROUND:
            self.plot("", against, "voltage")
        else:
            self.plot("", f"{net},{against}", "voltage")

    def add_rows(self, rows: MenuRows, hit: Hit, *, begin: Callable[[str], object]) -> None:
        """Rows about what was clicked; `begin` starts a difference at a net."""
        services = self._services
        if hit.net:
            node = hit.net
            for entry in of_node(services, node, partial(self.plot, "", node)):
                rows.add("probe", entry.title, entry.act)
            if canonical_node(node) != GROUND:
                rows.add("only", msg("Plot only this"), partial(self.plot, "", node, "alone"))
                rows.add("difference", msg("Plot the difference with…"), partial(begin, node))
            rows.line()
        elif hit.element:
            for entry in of_element(hit.element, partial(self.plot, hit.element, "")):
                rows.add("probe", entry.title, entry.act)
            pins = self._pins(hit.element)
            if pins:
                menu = rows.submenu("pins", msg("Plot the current into a pin"))
                for pin in pins:
                    act = partial(self.plot, hit.element, "", "current", pin)
                    rows.add(f"pin_{pin}", pin, act, into=menu)
            rows.line()

    def _pins(self, element: str) -> tuple[str, ...]:
        letter, drawing = element[:1].lower(), self._drawing()
        if letter in WITHOUT_CURRENT or drawing is None:
            return ()
        if letter != "x":
            return PINS.get(letter, ())
        return tuple(text.text for text in drawing.texts if text.role == "pin" and text.element == element)

    def _symbol(self, element: str) -> Symbol | None:
        drawing = self._drawing()
        if drawing is None:
            return None
        return next((each for each in drawing.symbols if each.element == element), None)

    def _any_symbol(self) -> Symbol | None:
        """Any of them stands in the scope of the nets."""
        drawing = self._drawing()
        if drawing is None:
            return None
        return next((each for each in drawing.symbols if each.kind != "port" and each.line), None)
