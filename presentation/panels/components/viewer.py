"""The chosen component: curves, data and text; its pins with their nodes; the line that will be written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from domain.circuit.model_library import Addition, free_name, pin_words
from domain.circuit.netlist import CIRCUIT_SUFFIXES, NETLIST_SUFFIXES
from domain.components.component import KINDS, Component, fault_words, figure_words
from domain.components.placing import include_path
from domain.components.titles import title_of
from presentation.charts.content import Line, LinesContent
from presentation.charts.scales import linear, logarithmic
from presentation.panels.studies.charts import LinesChart
from presentation.ui.fitting import ScrolledParts
from presentation.ui.parts import ElidedLabel, arrange, copy_text, once_after, push_button, text_label
from presentation.ui.styles import mark
from presentation.ui.tab_strip import TabStrip
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.components.curves import Curves
    from application.groups.simulation import Simulation
    from presentation.panels.editor.editor_area import EditorArea
    from presentation.panels.editor.page import EditorPage
    from presentation.ui.workspace import WindowServices

_TABS = (msg("Curves"), msg("Text"))
_MOST_PINS = 64
_SEEN_PINS = 5
_PAUSE_MS = 200
_TRACES = 8
"""Colors of traces there are."""
_GROUND_ROLES = ("gnd", "ground")
_ALIKE = (
    *((begin, ("inp", "ip", "plus")) for begin in ("in+", "+in", "non")),
    *((begin, ("inn", "fb", "minus")) for begin in ("in-", "-in", "inv")),
    *((begin, ("vcc", "vdd", "vp")) for begin in ("v+", "vcc", "vdd", "pos")),
    *((begin, ("vee", "vss", "vn")) for begin in ("v-", "vee", "vss", "neg")),
    ("out", ("out", "vout")),
)
"""How pins' labels begin, and what nodes are called that they usually go to."""
_NOT_IN_NODES = frozenset(" \t\r\n=(){},;'\"$*+")


class ComponentViewer(QWidget):
    """What a component is and does, and its way into the circuit in front."""

    def __init__(self, services: WindowServices, simulation: Simulation, editor: EditorArea) -> None:
        super().__init__()
        self._services, self._simulation, self._editor = services, simulation, editor
        self.component: Component | None = None
        self._request = 0
        self._curves: Curves | None = None
        self._said: Message | None = None
        """In place of curves."""
        self.fields: list[QLineEdit] = []
        self.setObjectName("componentViewer")
        self._name = text_label(name="component_name", role="title")
        self._title = ElidedLabel()
        self.tabs = TabStrip(services, _TABS, "componentTabs")
        self.fault = text_label(name="component_fault", wraps=True, role="warn")
        self.chart = LinesChart(services, "componentChart")
        self._note = text_label(name="component_note", wraps=True, role="tertiary")
        self.text = QPlainTextEdit()
        self.text.setObjectName("componentText")
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        curves = QWidget()
        arrange(QVBoxLayout(curves), self._note, (self.chart, 1), edges=0)
        self._pages = QStackedWidget()
        self._pages.addWidget(curves)
        self._pages.addWidget(self.text)
        self.tabs.currentChanged.connect(self._pages.setCurrentIndex)
        self._grid = QGridLayout()
        self._pins = ScrolledParts(self._grid)
        content = self._pins.widget()
        assert content is not None
        mark(content, surface="base")
        self.line = text_label(name="component_line", wraps=True, role="mono")
        self.line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.insert_button = push_button(name="insertComponent", clicked=self.insert, kind="primary")
        self._copy = push_button(name="copyComponent", clicked=self._copy_text)
        self._timer = once_after(self, _PAUSE_MS, self._start)
        """Who goes through a list does not wait for the curves of each."""
        self._build()
        services.workspace.file_shown.connect(lambda _path: self._show_line())
        services.dress(self)
        self.show_component(None)

    def _build(self) -> None:
        head, buttons = QWidget(), QWidget()
        self._head = arrange(QHBoxLayout(head), self._name, (self._title, 1), self.tabs)
        self._buttons = arrange(QHBoxLayout(buttons), self.insert_button, 1, self._copy)
        self._column = arrange(
            QVBoxLayout(self), head, self.fault, (self._pages, 1), self._pins, self.line, buttons
        )

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        arrange(self._column, edges=(edge, gap, edge, edge), gap=gap)
        for row in (self._head, self._buttons):
            arrange(row, edges=0, gap=gap)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(edge)
        self._grid.setVerticalSpacing(theme.size("space.1"))
        self.text.setFont(theme.font("mono_small"))
        self._show_curves()

    def retranslate(self, _name: object = None) -> None:
        language = self._services.language
        self.insert_button.setText(language(msg("Insert")))
        self._copy.setText(language(msg("Copy text")))
        self.text.setAccessibleName(language(msg("Text of the model")))
        self.chart.setAccessibleName(language(msg("Curves")))
        self._show_words()
        self._show_pins()
        self._show_curves()

    # ---- what is shown

    def show_component(self, component: Component | None) -> None:
        """Show another one; the same one keeps its curves and what was typed for its pins."""
        if component == self.component and component is not None:
            self._show_line()
            return
        self.component = component
        self._curves, self._said = None, None
        self._request += 1
        self.text.setPlainText("")
        self._show_words()
        self._show_pins()
        self._show_curves()
        if component is not None and component.file:
            self._said = msg("Simulating …")
            self._show_curves()
            self._timer.start()

    def _start(self) -> None:
        if self.component is not None:
            self._services.start(self._load(self.component, self._request), kind="simulate component")

    async def _load(self, component: Component, request: int) -> None:
        curves: Curves | None = None
        said: Message | None = None
        text = ""
        try:
            text = await self._simulation.components.text(component)
            if request == self._request:
                self.text.setPlainText(text)
                curves = await self._simulation.component_curves(component)
        except CircuitAIError as error:
            said = error.message if error.advice is None else msg(
                "{problem} {advice}", problem=error.message, advice=error.advice
            )  # fmt: skip
        if request != self._request:
            return
        if curves is None and said is None:
            said = (
                msg("A component with a fault is not simulated.")
                if component.fault
                else msg("There are no curves of this kind of component; its text is beside.")
            )
        self._curves, self._said = curves, said
        self._show_curves()

    def _show_words(self) -> None:
        language, component = self._services.language, self.component
        self.setVisible(component is not None)
        if component is None:
            return
        self._name.setText(component.name)
        kind = language(KINDS[component.kind])
        figures = figure_words(component.kind, component.figures)
        told = language(title_of(component)) if component.title else ", ".join(filter(None, (kind, figures)))
        self._title.setText(told)
        fault = fault_words(component)
        self.fault.setVisible(fault is not None)
        if fault is not None:
            place = "" if component.card == "file" else f"{component.file_name}:{component.line}: "
            self.fault.setText(f"{place}{language(fault[0])} {language(fault[1])}")

    def _show_curves(self) -> None:
        language, curves, said = self._services.language, self._curves, self._said
        is_part = self.component is not None and bool(self.component.file) and not self.component.fault
        self._pages.setVisible(self.component is not None and bool(self.component.file))
        self.chart.setVisible(is_part and curves is not None)
        self._note.setText(language(curves.title) if curves is not None else language(said) if said else "")
        if curves is None:
            self.chart.show_content(None)
            return
        points = [point for curve in curves.curves for point in curve.points]
        left, right = min(x for x, _ in points), max(x for x, _ in points)
        low, high = min(0.0, *(y for _, y in points)), max(y for _, y in points)
        across, upward, is_log = curves.across, curves.upward, curves.is_log
        self.chart.show_content(
            LinesContent(
                x=lambda room: (
                    logarithmic(left, right, across) if is_log else linear(left, right, across, room=room)
                ),
                y=lambda room: linear(low, high, upward, room=room),
                lines=[
                    Line(points=curve.points, name=curve.name, color=f"trace.{number % _TRACES}")
                    for number, curve in enumerate(curves.curves)
                ],
                has_marks=False,
            )
        )

    # ---- pins and the line

    def _show_pins(self) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.setParent(None)
                widget.deleteLater()
        self.fields = []
        language, component = self._services.language, self.component
        is_usable = component is not None and component.card != "file" and not component.fault
        self._pins.setVisible(is_usable)
        if component is None or not is_usable:
            self._show_line()
            return
        for column, title in enumerate((msg("Terminal"), msg("Order"), msg("Node"))):
            self._grid.addWidget(text_label(language(title), role="tertiary"), 0, column)
        for at, port in enumerate(component.ports[:_MOST_PINS]):
            label = QLabel(self._pin_word(component, at))
            field = QLineEdit(self._proposed(component, at))
            field.setObjectName(f"componentNode{at}")
            field.setAccessibleName(language(msg("Node of pin {pin}", pin=component.pin_label(at))))
            label.setToolTip(port)
            mark(field, kind="mono")
            field.textChanged.connect(lambda _text: self._show_line())
            field.returnPressed.connect(self.insert)
            self.fields.append(field)
            self._grid.addWidget(label, at + 1, 0)
            self._grid.addWidget(text_label(str(at + 1), role="secondary"), at + 1, 1)
            self._grid.addWidget(field, at + 1, 2)
        self._grid.setColumnStretch(2, 1)
        # More pins than that are scrolled: the curves keep their room. The grid itself counts only what is
        # shown already, and new fields are not.
        row = max((field.sizeHint().height() for field in self.fields), default=0)
        head = self.fontMetrics().height()
        seen = min(len(self.fields), _SEEN_PINS)
        self._pins.setFixedHeight(head + seen * (row + self._grid.verticalSpacing()))
        self._show_line()

    def _pin_word(self, component: Component, at: int) -> str:
        label = component.pin_label(at)
        if component.card != "model":
            return label
        words = re.split(r"[,、]\s*", self._services.language(pin_words(" ".join(component.ports))))
        return words[at] if len(words) == len(component.ports) else label

    def _proposed(self, component: Component, at: int) -> str:
        """A node that the circuit in front has by the pin's name; ground for a ground pin; else the name."""
        page = self._page()
        label, port = component.pin_label(at), component.ports[at]
        nodes = set() if page is None else _nodes_of(page)
        alike = next((names for begin, names in _ALIKE if label.lower().startswith(begin)), ())
        found = next((name for name in (label.lower(), port.lower(), *alike) if name in nodes), None)
        if found is not None:
            return found
        if label.lower().startswith(_GROUND_ROLES):
            return "0"
        name = port if port.isidentifier() else alike[0] if alike else label.replace(" ", "_")
        plain = "".join(each for each in name if each.isalnum() or each == "_")
        return plain if plain and not plain[0].isdigit() else f"n{at + 1}"

    def _page(self) -> EditorPage | None:
        page = self._editor.current_page()
        suffix = "" if page is None else page.path.suffix.lower()
        return (
            page if page is not None and suffix in NETLIST_SUFFIXES and not page.editor.isReadOnly() else None
        )

    def _refusal(self) -> Message | None:
        """Why nothing can be inserted now."""
        component = self.component
        if component is None:
            return msg("Choose a component first.")
        no_element = component.kind == "other" or (component.card == "model" and component.letter == "X")
        refusals = (
            (bool(component.fault), msg("This component cannot be used: see what is wrong with it above.")),
            (self._page() is None, msg("Open a circuit in the editor first.")),
            (no_element, msg("No element takes this kind of model; copy its text instead.")),
            (
                len(component.ports) > _MOST_PINS,
                msg("It has more pins than can be connected here; copy its text instead."),
            ),
        )
        return next((why for holds, why in refusals if holds), None) or self._unnamed_pin(component)

    def _unnamed_pin(self, component: Component) -> Message | None:
        for at, field in enumerate(self.fields):
            if not field.text().strip() or not _NOT_IN_NODES.isdisjoint(field.text().strip()):
                return msg("Pin {pin} needs the name of a node.", pin=self._pin_word(component, at))
        return None

    def _addition(self, page: EditorPage, component: Component) -> Addition:
        path = ""
        if component.file:
            path = include_path(component, page.path.parent, self._simulation.components.libraries())
        nodes = tuple(field.text().strip() for field in self.fields)
        include = component.include_card(path) if path else ""
        return Addition(component.letter, component.element("", nodes).strip(), include, path)

    def _show_line(self) -> None:
        language, component, page = self._services.language, self.component, self._page()
        refusal = self._refusal()
        self.insert_button.setEnabled(refusal is None)
        self.insert_button.setToolTip(
            language(refusal)
            if refusal is not None
            else language(
                msg("Insert behind the caret's line of {name}", name=page.path.name if page else "")
            )
        )
        if component is None or page is None or component.fault or refusal is not None:
            self.line.setText(
                "" if refusal is None or component is None or component.fault else language(refusal)
            )
            return
        added = self._addition(page, component)
        has_title = page.path.suffix.lower() in CIRCUIT_SUFFIXES
        name = free_name(page.editor.text(), added.letter, has_title=has_title)
        self.line.setText("\n".join(filter(None, (added.include, f"{name} {added.line_after_name}"))))

    def insert(self, _checked: object = None) -> None:
        """Write the element and what it includes into the circuit in front, as one step of undo."""
        page, component = self._page(), self.component
        if page is None or component is None or self._refusal() is not None:
            return
        page.insert_component(self._addition(page, component))
        page.editor.setFocus()
        self._show_line()

    def _copy_text(self) -> None:
        component = self.component
        if component is not None:
            copy_text(self.text.toPlainText() or component.name)


def _nodes_of(page: EditorPage) -> set[str]:
    """The nodes of the circuit's top level, lower case, as far as it has been read."""
    facts = page.facts
    return (
        set() if facts is None or facts.names is None else {key for key, _, _ in facts.names.sorted_nodes(())}
    )
