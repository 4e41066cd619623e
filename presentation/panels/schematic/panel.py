"""The panel: tools, a line that says what is not as it should be, the drawing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtGui import QContextMenuEvent, QCursor, QHideEvent, QShowEvent
from PyQt6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from presentation.panels.schematic.canvas import SchematicCanvas
from presentation.panels.schematic.feed import NOTHING, SchematicFeed
from presentation.panels.schematic.figures import figures_of
from presentation.panels.schematic.find_bar import SchematicFindBar
from presentation.panels.schematic.hit import NOWHERE, Hit
from presentation.panels.schematic.hovering import SchematicHovering
from presentation.panels.schematic.probe_menu import SchematicProbe
from presentation.panels.schematic.values import SchematicValues
from presentation.panels.waveforms.menu_rows import MenuRows
from presentation.ui.empty_state import EmptyNote
from presentation.ui.frame import IconButton
from presentation.ui.parts import ElidedLabel, arrange, push_button, text_label
from presentation.ui.questions import choose_target
from presentation.ui.styles import mark, mark_area
from shared.errors import UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.groups.program import Program
    from application.groups.simulation import Simulation
    from application.simulation.schematics import SchematicFormat
    from domain.circuit.schematic.symbols import SymbolSet
    from presentation.panels.editor.editor_area import EditorArea
    from presentation.ui.workspace import WindowServices
    from shared.message import Message

_FORMATS: tuple[SchematicFormat, ...] = ("svg", "png", "pdf")


class SchematicPanel(QWidget):
    """Beside the editor: a click shows the line, a double click goes to the value or into a subcircuit."""

    def __init__(
        self,
        services: WindowServices,
        simulation: Simulation,
        program: Program,
        *,
        editor: EditorArea,
    ) -> None:
        """`editor` has the texts, leads to their lines and takes changes of values."""
        super().__init__()
        self._services, self._schematic = services, simulation.schematic
        self._newest, self._go_to = editor.newest, editor.show_file
        self._follows_caret = True
        self._figures_request = 0
        self.setObjectName("schematic")
        self.feed = SchematicFeed(services, simulation.schematic, program)
        self.canvas = SchematicCanvas(services)
        self.probe = SchematicProbe(services, lambda: self.canvas.drawing, lambda: self.feed.file)
        self.values = SchematicValues(services, self.canvas, editor, self._keep_undo)
        self.hovering = SchematicHovering(services, self.canvas, editor, lambda: self.feed.file)
        self.find_bar = SchematicFindBar(services, self.canvas)
        self._undos: list[Callable[[], bool]] = []
        """What takes each change back that was made here, the newest last."""
        self._probed_file: Path | None = None
        """The circuit of which it is known that it has a result."""
        self._build()
        self.feed.changed.connect(self._show)
        self.canvas.picked.connect(self._on_picked)
        self.canvas.opened.connect(self._on_opened)
        self.canvas.lifting.dropped.connect(self._on_moved)
        self.canvas.zoomed.connect(self._show_zoom)
        self.canvas.pointing.probed.connect(self.probe.plot)
        self.canvas.pointing.compared.connect(self.probe.compare)
        services.shortcuts.answer(
            self.canvas,
            {
                "schematic.probe": self.probing.click,
                "schematic.drop": self._drop,
                "schematic.value": self._edit_value,
                "schematic.find": self.find_bar.open,
                "schematic.find_next": lambda: self.find_bar.step(1),
                "schematic.find_previous": lambda: self.find_bar.step(-1),
                "schematic.undo": self._undo,
                "schematic.open": self._go_into_selected,
                "schematic.fit": self.canvas.fit,
            },
        )
        workspace = services.workspace
        workspace.cursor_moved.connect(self._on_caret)
        workspace.run_finished.connect(lambda _outcome: self._read_results())
        workspace.result_offered.connect(lambda _path: self._read_results())
        workspace.result_waits.connect(lambda _path: self._read_results())
        services.dress(self)
        self._show()

    def _build(self) -> None:
        services = self._services
        self._up = IconButton(services, "arrow-left", msg("Back to the circuit"), name="schematic_up")
        self._title = ElidedLabel(is_name=True)
        mark(self._title, role="strong")
        self._smaller = IconButton(services, "zoom-out", msg("Zoom out"), name="schematic_smaller")
        self._percent = push_button(name="schematic_percent", clicked=self.canvas.reset_zoom, kind="link")
        self._larger = IconButton(services, "zoom-in", msg("Zoom in"), name="schematic_larger")
        self._fit = IconButton(services, "scan", msg("Show everything"), name="schematic_fit")
        self.probing = IconButton(
            services, "pipette", msg("Probe: clicks plot voltages and currents"), name="schematic_probe"
        )
        self.probing.setCheckable(True)
        self.probing.setChecked(True)
        self.point = IconButton(services, "gauge", msg("Operating point"), name="schematic_point")
        self.point.setCheckable(True)
        self._tidy = IconButton(
            services, "refresh-cw", msg("Tidy up (redraw everything)"), name="schematic_tidy"
        )
        self._more = IconButton(services, "ellipsis", msg("Symbols and export"), name="schematic_more")
        self._up.clicked.connect(lambda: self.feed.open_scope(""))
        self._smaller.clicked.connect(self.canvas.zoom_out)
        self._larger.clicked.connect(self.canvas.zoom_in)
        self._fit.clicked.connect(self.canvas.fit)
        self.probing.toggled.connect(lambda _on: self._show_probing())
        self.point.toggled.connect(lambda _on: self._read_figures())
        self._tidy.clicked.connect(self._tidy_up)
        self._more.clicked.connect(self._open_menu)
        self._head = QWidget()
        self._row = arrange(
            QHBoxLayout(self._head), self._up, (self._title, 1), self._smaller, self._percent, self._larger,
            self._fit, self.probing, self.point, self._tidy, self._more,
        )  # fmt: skip
        self._note = text_label(name="schematic_note", wraps=True, role="warn")
        self._state = text_label(name="schematic_state", role="tertiary")
        self._empty = EmptyNote(services, NOTHING)
        body = QWidget()
        self._stack = QStackedLayout(body)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.canvas)
        arrange(
            QVBoxLayout(self), self._head, self.find_bar, self._note, (body, 1), self._state, edges=0, gap=0
        )
        mark_area(self, surface="base")

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, small = theme.size("space.3"), theme.size("space.1")
        arrange(self._row, edges=(edge, small, theme.size("space.2"), small), gap=theme.size("space.1"))
        self._note.setContentsMargins(edge, 0, edge, small)
        self._state.setContentsMargins(edge, small, edge, small)
        self.canvas.update()

    def retranslate(self, _name: object = None) -> None:
        language = self._services.language
        self.canvas.setAccessibleName(language(msg("Schematic")))
        self.canvas.setAccessibleDescription(
            language(msg("N and P step through the elements, Enter goes to the line of the selected one."))
        )
        self._show()

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self.feed.watch(is_watched=True)

    def hideEvent(self, event: QHideEvent | None) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self.feed.watch(is_watched=False)

    # ---- what is shown

    def _show(self) -> None:
        language, feed = self._services.language, self.feed
        drawing = feed.drawing
        for part in (
            self._smaller,
            self._percent,
            self._larger,
            self._fit,
            self.probing,
            self.point,
            self._tidy,
            self._more,
        ):
            part.setVisible(drawing is not None)
        self._up.setVisible(bool(feed.scope))
        file = feed.file
        title = "" if file is None else file.name
        self._title.setText(f"{title} · {feed.scope}" if feed.scope else title)
        if drawing is None:
            self._empty.set_text(feed.problem or NOTHING)
        self._note.setText("" if feed.problem is None else language(feed.problem))
        self._note.setVisible(drawing is not None and feed.problem is not None)
        self._state.setText(language(msg("Improving the drawing…")) if feed.is_refining else "")
        self._state.setVisible(feed.is_refining)
        self._stack.setCurrentIndex(0 if drawing is None else 1)
        if drawing is not self.canvas.drawing:
            self.canvas.set_drawing(drawing)
            self.find_bar.refresh()
            self._read_results()
        self._show_zoom()

    def _show_zoom(self) -> None:
        self._percent.setText(self._services.language.figure(f"{round(self.canvas.zoom * 100)} %"))
        self._percent.setToolTip(self._services.language(msg("Show at 100 %")))

    # ---- to the editor and back

    def _on_picked(self, element: str, _net: str) -> None:
        symbol = self.canvas.symbol_of(element)
        if symbol is not None and self.feed.file is not None:
            self._follows_caret = False
            self._go_to(symbol.file or self.feed.file, symbol.line, 1)
            self.canvas.setFocus()
            self._follows_caret = True

    def _on_opened(self, element: str) -> None:
        symbol = self.canvas.symbol_of(element)
        if symbol is None or self.feed.file is None:
            return
        if symbol.inside:
            self.feed.open_scope(symbol.inside)
        elif not self.values.edit(symbol, self.feed.file):
            self._go_to(symbol.file or self.feed.file, symbol.line, 1)

    def _on_caret(self, line: int, _column: int) -> None:
        """The element of the caret's line is the selected one."""
        drawing, file = self.canvas.drawing, self._services.workspace.shown_file
        if drawing is None or not self._follows_caret or not self.isVisible():
            return
        found = next(
            (each for each in drawing.symbols
             if each.line == line and each.kind != "port" and each.file in (file, None)),
            None,
        )  # fmt: skip
        if found is not None:
            self.canvas.select(Hit(found.element))
            self.canvas.reveal(found.element)

    def _edit_value(self) -> None:
        """Of the selected element; where it has none to be typed over, its line is shown."""
        symbol = self.canvas.symbol_of(self.canvas.selected.element)
        if symbol is not None and self.feed.file is not None and not self.values.edit(symbol, self.feed.file):
            self._go_to_value()

    def _go_into_selected(self) -> None:
        """Into its subcircuit, or to its value in the text."""
        symbol = self.canvas.symbol_of(self.canvas.selected.element)
        if symbol is not None and symbol.inside:
            self.feed.open_scope(symbol.inside)
        else:
            self._go_to_value()

    def _on_moved(self, element: str, columns: int, rows: int) -> None:
        self._services.start(self._move(element, (columns, rows)), kind="move element", scope="move element")

    async def _move(self, element: str, by: tuple[int, int]) -> None:
        try:
            back = await self.feed.move(element, by)
        except UserInputError as error:
            self._services.workspace.status_changed.emit(error.message)
            return
        if back is not None:
            self._keep_undo(back)

    def _tidy_up(self) -> None:
        self._keep_undo(self.feed.tidy())

    def _keep_undo(self, undo: Callable[[], bool]) -> None:
        self._undos.append(undo)

    def _undo(self) -> None:
        """The newest change made here that can be taken back."""
        while self._undos:
            if self._undos.pop()():
                return
        self._services.workspace.status_changed.emit(msg("Nothing was changed here that can be undone."))

    def _go_to_value(self) -> None:
        """Of the selected element, also where a double click would open its subcircuit."""
        symbol = self.canvas.symbol_of(self.canvas.selected.element)
        if symbol is not None and self.feed.file is not None:
            line, column = symbol.value_at if symbol.value_at[0] else (symbol.line, 1)
            self._go_to(symbol.file or self.feed.file, line, column)

    # ---- probing

    def _read_results(self) -> None:
        self._read_figures()
        if self.feed.file is not None:
            self._services.start(self._look_for_result(self.feed.file), kind="look for a result")

    async def _look_for_result(self, file: Path) -> None:
        """Clicks plot where there is something to be plotted."""
        if await self._newest.knows_run(file) and file == self.feed.file:
            self._probed_file = file
        self._show_probing()

    def _show_probing(self) -> None:
        is_known = self.feed.file is not None and self.feed.file == self._probed_file
        self.canvas.pointing.is_on = self.probing.isChecked() and is_known
        if not self.canvas.pointing.is_on:
            self.canvas.pointing.drop()

    def _drop(self) -> None:
        """Esc: no move, no difference, then no probing, then the run is stopped as elsewhere."""
        if self.canvas.lifting.drop() or self.canvas.pointing.drop():
            return
        if self.canvas.pointing.is_on:
            self.probing.setChecked(False)
            key = self._services.shortcuts.shown("schematic.probe")
            self._services.workspace.status_changed.emit(
                msg("Clicks in the schematic do not plot now; {key} turns that on again.", key=key)
            )
        else:
            self._services.workspace.command_wanted.emit("stopRun")

    # ---- the operating point

    def _read_figures(self) -> None:
        self._figures_request += 1
        if not self.point.isChecked() or self.canvas.drawing is None or self.feed.file is None:
            self.canvas.set_figures(())
            return
        self._services.start(
            self._load_figures(self.feed.file, self._figures_request), kind="read operating point"
        )

    async def _load_figures(self, file: Path, request: int) -> None:
        from domain.circuit.schematic.annotating import annotate

        observed = await self._newest.of(file)
        drawing = self.canvas.drawing
        if request != self._figures_request or drawing is None:
            return
        if observed is None or self.feed.scope:
            self.canvas.set_figures(())
            self._services.workspace.status_changed.emit(
                msg("There is no operating point to show: F5 simulates the circuit.")
                if not self.feed.scope
                else msg("Operating points are shown on the page of the whole circuit only.")
            )
            return
        figures = figures_of(observed.point, self._services.language)
        texts = await asyncio.to_thread(annotate, drawing, figures)
        if request != self._figures_request or drawing is not self.canvas.drawing:
            return
        self.canvas.set_figures(texts)
        if observed.is_older:
            self._services.workspace.status_changed.emit(
                msg("The operating point is of run {number}; the circuit has changed since.",
                    number=observed.number)
            )  # fmt: skip

    # ---- menus and export

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and self.canvas.drawing is not None:
            place = self.canvas.mapFromGlobal(event.globalPos()).toPointF()
            is_key = event.reason() == QContextMenuEvent.Reason.Keyboard
            hit = self.canvas.selected if is_key else self.canvas.hit(place)
            self.canvas.select(hit)
            self._menu(hit).menu.popup(event.globalPos())

    def _open_menu(self) -> None:
        self._menu().menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))

    def _begin_difference(self, net: str) -> None:
        self.canvas.pointing.begin(net, self.canvas.mapFromGlobal(QCursor.pos()).toPointF())
        self._services.workspace.status_changed.emit(msg("Click the net to measure {net} against.", net=net))

    def _at_value(self, action: str) -> None:
        """Do with the value of the selected element what the editor does at its caret."""
        self._go_to_value()
        self._services.shortcuts.trigger(action)

    def _menu(self, hit: Hit = NOWHERE) -> MenuRows:
        rows = MenuRows(self._services, self, "schematic_menu")
        self.probe.add_rows(rows, hit, begin=self._begin_difference)
        if hit.element:
            rows.add("line", msg("Go to line"), partial(self._on_picked, hit.element, ""))
            rows.add("value", msg("Change value…"), self._edit_value, action="schematic.value")
            rows.add("tune", msg("Tune the value"), partial(self._at_value, "editor.tune"))
            rows.add("sweep", msg("Sweep the value"), partial(self._at_value, "editor.sweep"))
            rows.add("map", msg("Map of the value and another one"), partial(self._at_value, "editor.map"))
            rows.line()
        rows.add(
            "probing", msg("Probe in the schematic"), self.probing.click, action="schematic.probe",
            is_checked=self.probing.isChecked(),
        )  # fmt: skip
        rows.add("point", msg("Operating point"), self.point.click, is_checked=self.point.isChecked())
        rows.line()
        sets: tuple[tuple[SymbolSet, Message], ...] = (("iec", msg("IEC symbols")), ("us", msg("US symbols")))
        for symbols, text in sets:
            rows.add(
                f"symbols_{symbols}", text, partial(self.feed.choose_symbols, symbols),
                is_checked=self.feed.symbols == symbols,
            )  # fmt: skip
        rows.line()
        rows.add("find", msg("Find"), self.find_bar.open, action="schematic.find")
        rows.add("fit", msg("Show everything"), self.canvas.fit, action="schematic.fit")
        rows.add("tidy", msg("Tidy up (redraw everything)"), self._tidy_up)
        rows.line()
        for form in _FORMATS:
            rows.add(
                f"export_{form}", msg("Export as {form}…", form=form.upper()), partial(self._export, form)
            )
        return rows

    def _export(self, form: SchematicFormat) -> None:
        if self.canvas.drawing is not None:
            self._services.start(self._exported(form), kind="export schematic", scope="export")

    async def _exported(self, form: SchematicFormat) -> None:
        from application.simulation.schematics import SchematicTarget

        drawing, file = self.canvas.drawing, self.feed.file
        if drawing is None or file is None:
            return
        stem = f"{file.stem}_{self.feed.scope}" if self.feed.scope else file.stem
        start = file.with_name(f"{stem}.{form}")
        target = await choose_target(
            self._services, self.window() or self, msg("Export the schematic"), start
        )
        if target is None:
            return
        await self._schematic.save(drawing, SchematicTarget(file=target, format=form, overwrite=True))
        self._services.workspace.status_changed.emit(msg("Exported {name}", name=target.name))
