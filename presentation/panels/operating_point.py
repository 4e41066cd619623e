"""The operating point of a run: what each transistor and diode does, the voltages of the nodes, the power."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QResizeEvent, QShowEvent
from PyQt6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from domain.simulation.operating_point import (
    REGIONS,
    DevicePoint,
    ElementPoint,
    OperatingPoint,
    is_usual,
)
from presentation.panels.waveforms.figures import SPACE, quantity
from presentation.panels.waveforms.run_note import RunNote
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.frame import IconButton
from presentation.ui.parts import ElidedLabel, arrange, copy_text, text_label
from presentation.ui.styles import mark, mark_area
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.groups.project import Project
    from application.groups.simulation import Simulation
    from application.simulation.waveforms import StoredFigures
    from domain.simulation.result import SimulationResult
    from presentation.ui.workspace import WindowServices
    from shared.errors import CircuitAIError

_DIGITS = 3
_SIDE_WIDTH = 204
_NARROW = 720
"""Below this width nodes and sources stand under the devices."""
_AMPLIFYING = frozenset({"ac", "noise", "tf", "pz", "disto", "sp"})
"""Analyses of small signals: who asks for one means the transistors to amplify."""
_QUANTITIES = (
    (("ic", "id"), "A"),
    (("vbe", "vgs", "vd"), "V"),
    (("vce", "vds"), "V"),
    (("gm",), "S"),
    (("power",), "W"),
)
"""The columns behind name, kind and region: figures of which each device has one at most, and their unit."""
_FAULTS = frozenset({"saturation", "triode", "off", "reverse"})
_MOST_FAULTS = 3
"""Told in words; the others are counted."""


class ChosenRun(QObject):
    """Whose operating point is meant: of the run that was chosen or ended last, else of the newest one of the
    circuit in front. It listens from the beginning, the view is made when somebody looks.
    """

    changed = pyqtSignal()

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self.result: Path | None = None
        """None: the newest one of the circuit in front."""
        workspace = services.workspace
        workspace.result_selected.connect(self._choose)
        workspace.run_finished.connect(self._on_run)
        workspace.run_target_changed.connect(lambda _path: self._choose(None))
        workspace.project_closed.connect(lambda: self._choose(None))

    def _choose(self, result: Path | None) -> None:
        self.result = result
        self.changed.emit()

    def _on_run(self, outcome: SimulationResult | CircuitAIError) -> None:
        path = getattr(outcome, "result_path", None)
        if path is not None:
            self._choose(path)


class OperatingPointView(QWidget):
    """Follows the circuit in front and its newest run, or the run that was chosen among the results."""

    def __init__(
        self, services: WindowServices, project: Project, simulation: Simulation, chosen: ChosenRun
    ) -> None:
        super().__init__()
        self._services, self._project, self._simulation = services, project, simulation
        self._request = 0
        self._is_due = True
        """Another circuit or run is meant; it is read when somebody looks."""
        self._chosen = chosen
        self._figures: StoredFigures | None = None
        self._circuit: Path | None = None
        """Whose operating point it is, or would be."""
        self._amplifies = self._is_stale = False
        self._budget_order = (2, False)
        """The column the power budget is sorted by, and whether it is turned round."""
        self._problem: Message | None = None
        self.setObjectName("operating_point")
        self._build()
        chosen.changed.connect(self._read_soon)
        services.workspace.result_offered.connect(lambda _path: self._read_soon())
        services.workspace.result_waits.connect(lambda _path: self._read_soon())
        services.workspace.file_changed.connect(self._on_file_changed)
        services.dress(self)

    @property
    def notes(self) -> str:
        """The line above the tables, "" when there is nothing to say."""
        return self._note.text if self._note.isVisibleTo(self) else ""

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, small = theme.size("space.3"), theme.size("space.1")
        self._head_row.setContentsMargins(edge, small, theme.size("space.2"), small)
        self._head_row.setSpacing(theme.size("space.2"))
        self._note.restyle()
        self._empty.setContentsMargins(edge, edge, edge, edge)
        self._show()

    def retranslate(self, _name: object = None) -> None:
        language = self._services.language
        self._note.retranslate()
        for table, text in (
            (self.devices, msg("Transistors and diodes")),
            (self.nodes, msg("Node voltages")),
            (self.sources, msg("Voltage and current sources")),
            (self.budget, msg("Power budget")),
        ):
            table.setAccessibleName(language(text))
        for table in self._tables:
            table.actions()[0].setText(language(msg("Copy")))
        self._show()

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        if self._is_due:
            self._read_soon()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._place()

    def _build(self) -> None:
        services = self._services
        self.devices = FigureTable(services, "operating_point_devices")
        self.nodes = FigureTable(services, "operating_point_nodes")
        self.sources = FigureTable(services, "operating_point_sources")
        self.budget = FigureTable(services, "operating_point_budget")
        self.budget.heads_clicked.connect(self._sort_budget)
        self._tables = (self.devices, self.budget, self.nodes, self.sources)
        for table in self._tables:
            copy = QAction(table)
            copy.triggered.connect(table.copy)
            table.addAction(copy)
            table.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self._title = ElidedLabel(is_name=True)
        self._title.setObjectName("operating_point_run")
        mark(self._title, role="strong")
        self._power = text_label(name="operating_point_power", role="secondary")
        self._copy = IconButton(
            services, "copy", msg("Copy the operating point"), name="copy_operating_point"
        )
        self._copy.clicked.connect(self._copy_all)
        self._head = QWidget()
        self._head_row = arrange(QHBoxLayout(self._head), (self._title, 1), self._power, self._copy)
        self._note = RunNote(services, "operating_point", lambda: self._circuit)
        side = QWidget()
        self._side = arrange(QVBoxLayout(side), (self.nodes, 2), (self.sources, 1), edges=0, gap=0)
        self._both = QHBoxLayout()
        tables = QWidget()
        left = QWidget()
        arrange(QVBoxLayout(left), (self.devices, 1), (self.budget, 1), edges=0, gap=0)
        arrange(self._both, (left, 1), (side, 1), edges=0, gap=0)
        tables.setLayout(self._both)
        self._empty = text_label(name="operating_point_empty", wraps=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        mark(self._empty, role="tertiary")
        self._body = QStackedWidget()
        self._body.addWidget(self._empty)
        self._body.addWidget(tables)
        arrange(QVBoxLayout(self), self._head, self._note, (self._body, 1), edges=0, gap=0)
        mark_area(self, surface="base")

    def _on_file_changed(self, path: Path) -> None:
        if self._figures is not None and (path == self._circuit or path in self._figures.read_beside):
            self._services.start(
                self._compare(self._request), kind="compare circuit", scope="operating point"
            )

    def _read_soon(self) -> None:
        self._request += 1
        self._is_due = True
        root = self._services.workspace.root
        if root is None:
            self._is_due = False
            self._set(None, None)
        elif self.isVisible():
            self._is_due = False
            self._services.start(self._read(root, self._request), kind="read operating point")

    async def _read(self, root: Path, request: int) -> None:
        circuit = self._services.workspace.run_target
        path, number, problem = self._chosen.result, 0, None
        if path is None and circuit is not None:
            views = self._services.workspace.views
            results = await self._project.browse.results(root)
            newest = next(
                (each for each in results if views.place_of(each.circuit, each.created) == circuit), None
            )
            if newest is not None:
                path, number, problem = newest.path, newest.number, newest.reason
        figures = None if path is None else await self._simulation.waveforms.figures_of(path)
        if figures is not None:
            circuit = self._services.workspace.views.place_of(figures.circuit, figures.created)
        elif number:
            problem = msg("The result of run {number} cannot be read.", number=number)
        found = None if circuit is None else await self._project.browse.runnable(root, circuit)
        if request != self._request:
            return
        self._amplifies = found is not None and any(kind in _AMPLIFYING for kind, _ in found.analyses)
        self._set(circuit, figures, problem)
        await self._compare(request)

    async def _compare(self, request: int) -> None:
        """Whether the circuit's file, and what it includes, are still those that were simulated."""
        figures, circuit = self._figures, self._circuit
        if figures is None or circuit is None:
            return
        digest_of = self._simulation.waveforms.digest_of
        digest = await digest_of(circuit)
        is_stale = digest is not None and digest != figures.netlist_sha256
        for path, held in figures.read_beside.items():
            is_stale = is_stale or await digest_of(path) != held
        if request == self._request:
            self._is_stale = is_stale
            self._show()

    def _set(
        self, circuit: Path | None, figures: StoredFigures | None, problem: Message | None = None
    ) -> None:
        self._circuit, self._figures, self._problem, self._is_stale = circuit, figures, problem, False
        self._show()

    def _show(self) -> None:
        language, figures = self._services.language, self._figures
        point = None if figures is None else figures.operating_point
        self._head.setVisible(figures is not None)
        self._copy.setVisible(point is not None)
        self._power.setVisible(point is not None)
        if figures is not None and self._circuit is not None:
            run = language(msg("Run {number}", number=figures.number))
            self._title.setText(f"{self._circuit.name} · {run}")
        if point is None:
            self._empty.setText(language(self._why_empty()))
        else:
            self._show_tables(point)
        self._body.setCurrentIndex(0 if point is None else 1)
        self._show_notes(point)
        self._place()

    def _why_empty(self) -> Message:
        if self._circuit is None:
            return msg("The operating point of a run appears here. F5 simulates the current circuit.")
        figures = self._figures
        if self._problem is not None and figures is None:
            return self._problem
        if figures is None:
            return msg(
                "{name} has not been simulated yet. F5 runs it, and its operating point appears here.",
                name=self._circuit.name,
            )
        if not figures.ok:
            return msg("This run failed and has no operating point. Problems says why.")
        return msg(
            "This run has no operating point: ngspice found none within 10 s, or the circuit has a control "
            "block or more than 20,000 lines."
        )

    def _show_notes(self, point: OperatingPoint | None) -> None:
        figures, notes, faults = self._figures, list[Message](), self._faults(point)
        if figures is not None and point is not None:
            if self._is_stale:
                notes.append(msg("The circuit has changed since this run."))
            if not figures.ok:
                notes.append(msg("The run failed; its operating point was found anyway."))
            if figures.is_stepped:
                notes.append(msg("This is the operating point of the first step."))
            if not figures.is_ours:
                notes.append(msg("Computed elsewhere, not by this installation."))
            if point.left_out:
                notes.append(
                    msg("{count} more {count:device is|devices are} not listed.", count=point.left_out)
                )
        tone: Literal["tertiary", "warn"] = "tertiary" if self._is_stale or not faults else "warn"
        is_stale = self._is_stale and point is not None
        self._note.show_notes([*notes, *faults], is_stale=is_stale, tone=tone)

    def _faults(self, point: OperatingPoint | None) -> list[Message]:
        """What keeps transistors from amplifying, where they are meant to."""
        if point is None:
            return []
        faulty = [device for device in point.devices if self._is_fault(device)]
        told = [_fault(device) for device in faulty[:_MOST_FAULTS]]
        if len(faulty) > len(told):
            told.append(msg("{count} more do not amplify.", count=len(faulty) - len(told)))
        return told

    def _is_fault(self, device: DevicePoint) -> bool:
        return self._amplifies and not is_usual(device) and device.region in _FAULTS

    def _show_tables(self, point: OperatingPoint) -> None:
        language = self._services.language
        plain = "text.tertiary" if self._is_stale else "text.primary"
        devices = sorted(point.devices, key=lambda each: (not self._is_fault(each), each.name.count(".")))
        keys = {key for device in devices for key in device.figures}
        heads = [
            Column(title=language(msg("Device"))),
            Column(title=language(msg("Region"))),
        ]
        shown = [(names, unit) for names, unit in _QUANTITIES if keys.intersection(names)]
        for names, _ in shown:
            words = [self._head_of(name) for name in names if name in keys]
            heads.append(Column(title="/".join(words), is_number=True))
        rows = []
        for device in devices:
            region = REGIONS.get(device.region)
            kind = language(msg("diode")) if device.kind == "diode" else device.kind
            color = "warn.text" if self._is_fault(device) and not self._is_stale else plain
            row = [
                Cell(text=device.name, unit=kind, style="mono_small", color=plain, tip=device.name),
                Cell(text="—" if region is None else language(region), color=color),
            ]
            for names, unit in shown:
                value = next((device.figures[name] for name in names if name in device.figures), None)
                row.append(_cell(value, unit, plain))
            rows.append(row)
        self.devices.show_rows(heads, rows)
        self.devices.setVisible(bool(rows))
        self.nodes.show_rows(
            [Column(title=language(msg("Node"))), Column(title=language(msg("Voltage")), is_number=True)],
            [
                [Cell(text=name, style="mono_small", color=plain, tip=name), _cell(value, "V", plain)]
                for name, value in point.nodes.items()
            ],
        )
        self.sources.show_rows(
            [
                Column(title=language(msg("Source"))),
                Column(title=language(msg("Current")), is_number=True),
                Column(title=language(msg("Power")), is_number=True),
            ],
            [
                [
                    Cell(text=each.name, style="mono_small", color=plain, tip=each.name),
                    _cell(each.current, "A", plain),
                    _cell(each.power, "W", plain),
                ]
                for each in point.sources
            ],
        )
        self.sources.setVisible(bool(point.sources))
        self._show_budget(point, plain)
        self._power.setText(language(_balance(point)))

    def _sort_budget(self, column: int) -> None:
        """By the clicked column, the largest or the first name on top; a second click turns it round."""
        self._budget_order = (column, column == self._budget_order[0] and not self._budget_order[1])
        self._show()

    def _show_budget(self, point: OperatingPoint, plain: str) -> None:
        """Every element with what it takes up, and its share; what delivers stands at the end."""
        language, (column, is_turned) = self._services.language, self._budget_order
        taken = point.budget[1]
        known = [each for each in point.elements if each.power is not None or each.current is not None]
        if column == 0:
            known.sort(key=lambda each: each.name, reverse=is_turned)
        else:

            def size(each: ElementPoint) -> float:
                return abs(each.current or 0.0) if column == 1 else each.power or 0.0

            known.sort(key=size, reverse=not is_turned)
        rows = []
        for each in known:
            share = None if each.power is None or each.power <= 0 or not taken else each.power / taken
            rows.append(
                [
                    Cell(text=each.name, style="mono_small", color=plain, tip=each.name),
                    _cell(each.current, "A", plain),
                    _cell(each.power, "W", plain),
                    Cell(text="" if share is None else f"{100 * share:.1f}", unit="%", color=plain)
                    if share is not None
                    else Cell(text=""),
                ]
            )
        heads = (msg("Element"), msg("Current"), msg("Power"), msg("Share"))
        columns = [
            Column(title=language(title), is_number=number > 0, is_strong=number == column)
            for number, title in enumerate(heads)
        ]
        self.budget.show_rows(columns, rows)
        self.budget.setVisible(bool(rows))

    def _head_of(self, name: str) -> str:
        if name == "power":
            return self._services.language(msg("Power"))
        return name if name == "gm" else name.capitalize()

    def _place(self) -> None:
        """Nodes and sources beside the devices; below them where there is no room, or by themselves."""
        scale = self._services.theme.theme.scale
        has_devices = bool(self.devices.rows)
        is_beside = has_devices and self.width() >= _NARROW * scale
        across, down = QHBoxLayout.Direction.LeftToRight, QHBoxLayout.Direction.TopToBottom
        self._both.setDirection(across if is_beside else down)
        self._side.setDirection(down if is_beside else across)
        side = self._side.parentWidget()
        assert side is not None
        width = round(_SIDE_WIDTH * scale)
        side.setMinimumWidth(width if is_beside else 0)
        # Names and figures that belong together are not torn a whole window apart.
        side.setMaximumWidth(width if is_beside else 3 * width)
        self.devices.setMaximumHeight(16_777_215 if is_beside else self.devices.wanted_height())

    def _copy_all(self) -> None:
        tables: Sequence[FigureTable] = [table for table in self._tables if table.rows]
        copy_text("\n\n".join((self._title.text(), *(table.as_text() for table in tables))))


def _balance(point: OperatingPoint) -> Message:
    """What the sources deliver, and what the parts take where that is known of all."""
    delivered, taken = point.budget
    if not point.is_budget_whole:
        return msg("The sources deliver {power}", power=SPACE.join(quantity(point.power, "W", _DIGITS)))
    return msg(
        "Sources deliver {delivered}, parts take {taken}",
        delivered=SPACE.join(quantity(delivered, "W", _DIGITS)),
        taken=SPACE.join(quantity(taken, "W", _DIGITS)),
    )


def _fault(device: DevicePoint) -> Message:
    name = device.name
    match device.region:
        case "saturation":
            return msg("{name} is saturated: its collector cannot follow a signal.", name=name)
        case "triode":
            return msg("{name} is in its triode region: its drain cannot follow a signal.", name=name)
        case "reverse":
            return msg("{name} is reversed: check the order of its nodes.", name=name)
    return msg("{name} is off: it does not amplify.", name=name)


def _cell(value: float | None, unit: str, color: str) -> Cell:
    if value is None:
        return Cell(text="")
    number, shown = quantity(value, unit, _DIGITS)
    return Cell(text=number, unit=shown, color=color)
