"""The iterations of the project's design: the table of its rounds, over what each round's circuit does."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QShowEvent
from PyQt6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from application.design.rounds import DesignRound, DesignRounds
from application.groups.project import Project
from application.groups.simulation import Simulation
from presentation.panels.iterations_plot import IterationsPlot
from presentation.ui.figure_table import FigureTable
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange, once_after, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import msg

_BACK = msg("Go back to a round")
_KEEP = msg("Keep a round as a copy")
_SOON_MS = 200
"""A round writes several files; the list is read once for all of them."""


class IterationsView(QWidget):
    """Table, plot and what can be done with a round. A row chosen is drawn stronger; Enter shows its run."""

    counted = pyqtSignal(int)
    """how many rounds there are"""

    def __init__(self, services: WindowServices, project: Project, simulation: Simulation) -> None:
        super().__init__()
        self._services = services
        self._project = project
        self._simulation = simulation
        self._found: DesignRounds | None = None
        self._circuit: Path | None = None
        self._compared: tuple[int, int] | None = None
        self.setObjectName("iterations")
        self.table = FigureTable(services, "iterations_table", wide_column=1)
        self.table.setSelectionMode(FigureTable.SelectionMode.ExtendedSelection)
        self.plot = IterationsPlot(services, simulation)
        self._empty = text_label(name="iterations_empty", wraps=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        mark(self._empty, role="tertiary")
        self.compare_button = QPushButton()
        self.compare_button.setObjectName("compare_rounds")
        self.compare_button.setCheckable(True)
        mark(self.compare_button, text=True)
        self.compare_button.toggled.connect(self._on_compare)
        self.back_button = IconButton(services, "history", _BACK, name="go_back_to_round")
        self.back_button.clicked.connect(self._on_back)
        self.copy_button = IconButton(services, "copy", _KEEP, name="keep_round")
        self.copy_button.clicked.connect(self._on_copy)
        self._copies: dict[tuple[str, int], str] = {}
        """Operations that kept a round in a file of its own, by conversation and round."""
        self._below = QStackedWidget()
        self._below.addWidget(self.plot)
        self._difference: QWidget | None = None
        self._build()
        self._timer = once_after(self, _SOON_MS, self.reload)
        self._connect()
        self.restyle()
        self.retranslate()

    @property
    def rounds(self) -> tuple[DesignRound, ...]:
        return () if self._found is None else self._found.rounds

    def show_circuit(self, circuit: Path | None) -> None:
        """Show the rounds of this circuit's design where it has one: its run is what is looked at."""
        if circuit != self._circuit:
            self._circuit = circuit
            self.note_changed()

    def note_changed(self, _what: object = None) -> None:
        """A round may have been added: read them again soon."""
        self._timer.start()

    def reload(self) -> None:
        root = self._services.workspace.root
        if root is not None:
            self._services.start(self._load(root), kind="read rounds", scope="iterations")

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge = theme.size("space.3")
        self._empty.setContentsMargins(edge, edge, edge, edge)
        small = theme.size("icon.small")
        self.compare_button.setIcon(self._services.icons.get("git-compare", "text.secondary", small))
        self.compare_button.setIconSize(QSize(small, small))
        self.plot.restyle()
        self._fit_table()
        if self._difference is not None:
            self._show_difference()

    def retranslate(self, _name: object = None) -> None:
        language = self._services.language
        self._empty.setText(
            language(msg("Each round of a design appears here with its changes and the goals it met."))
        )
        self.table.setAccessibleName(language(msg("Iterations")))
        self.plot.retranslate()
        self._fill()
        self._name_compare()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """No wider than the waveforms beside it need to be: the pane they share has to fit a small window."""
        theme = self._services.theme.theme
        return QSize(theme.size("pane.editor_min"), super().minimumSizeHint().height())

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        """Curves are read when somebody looks."""
        super().showEvent(event)
        self.plot.show_rounds(self._found)

    def _build(self) -> None:
        for button in (self.back_button, self.copy_button, self.compare_button):
            self.plot.tools.addWidget(button)
        self._filled = QWidget()
        inner = QVBoxLayout(self._filled)
        whole = QHBoxLayout(self)
        for layout in (inner, whole):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        arrange(inner, self.table, self.plot.bar, (self._below, 1))
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._filled)
        whole.addWidget(self._stack)
        mark_area(self, surface="base")

    def _connect(self) -> None:
        workspace = self._services.workspace
        workspace.project_opened.connect(self.note_changed)
        workspace.project_closed.connect(lambda: self._take(None))
        workspace.run_finished.connect(self.note_changed)
        workspace.agent_status_changed.connect(self.note_changed)
        self.table.activated.connect(self._on_activated)
        selection = self.table.selectionModel()
        assert selection is not None
        selection.selectionChanged.connect(lambda _new, _old: self._on_selected())
        self._services.theme.changed.connect(self.restyle)
        self._services.language.changed.connect(self.retranslate)

    async def _load(self, root: Path) -> None:
        circuit = self._circuit
        found = await self._project.browse.rounds(root, circuit)
        if circuit == self._circuit and root == self._services.workspace.root and found != self._found:
            self._take(found)

    def _take(self, found: DesignRounds | None) -> None:
        self._found = found
        self.compare_button.setChecked(False)
        self._fill()
        if self.rounds:
            self.table.selectRow(len(self.rounds) - 1)
        self._name_compare()
        if found is None or self.isVisible():
            self.plot.show_rounds(found)
        self.counted.emit(len(self.rounds))

    def _fill(self) -> None:
        from presentation.panels.iterations_table import columns_of, rows_of

        if self._found is not None:
            language = self._services.language
            self.table.show_rows(columns_of(self._found, language), rows_of(self._found, language))
        self._stack.setCurrentWidget(self._empty if self._found is None else self._filled)
        self._fit_table()

    def _fit_table(self) -> None:
        """All rows, but never so many that nothing is left for the curves."""
        row = self._services.theme.theme.size("row.table")
        self.table.setFixedHeight(min(self.table.wanted_height(), max(self.height() // 2, 4 * row)))

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit_table()

    def _chosen(self) -> int | None:
        rows = self._selected()
        return rows[-1] if rows else None

    def _selected(self) -> list[int]:
        return [row for row in self.table.selected_rows() if row < len(self.rounds)]

    def _on_selected(self) -> None:
        chosen = self._chosen()
        self.plot.choose(None if chosen is None else self.rounds[chosen].number)
        self._name_compare()
        if self._difference is not None:
            self._show_difference()

    def _on_activated(self) -> None:
        chosen = self._chosen()
        path = None if chosen is None else self.rounds[chosen].result_path
        if path is not None:
            self._services.workspace.result_selected.emit(path)

    def _name_compare(self) -> None:
        """Two chosen rounds are compared with each other, one with the one before it."""
        self._name_ways()
        rows, chosen = self._selected(), self._chosen()
        pair = None if not chosen else (rows[-2] if len(rows) == 2 else chosen - 1, chosen)
        if pair is not None and any(self.rounds[place].netlist is None for place in pair):
            pair = None
        self._compared = pair
        self.compare_button.setEnabled(pair is not None)
        first, second = (0, 0) if pair is None else (self.rounds[place].number for place in pair)
        text = (
            msg("Compare with the previous round")
            if pair is None
            else msg("Compare {first} and {second}", first=first, second=second)
        )
        self.compare_button.setText(self._services.language(text))

    def _name_ways(self) -> None:
        """What can be done with the chosen round."""
        chosen = self._chosen()
        one = None if chosen is None else self.rounds[chosen]
        number = 0 if one is None else one.number
        has_circuit = one is not None and one.netlist is not None
        back = msg("Go back to round {number}", number=number)
        self.back_button.set_icon("history", back if has_circuit else _BACK)
        self.back_button.setEnabled(has_circuit)
        is_kept = self._found is not None and (self._found.session_id, number) in self._copies
        keep = msg("Keep round {number} as a copy", number=number) if one else _KEEP
        undo = msg("Undo the copy of round {number}", number=number)
        self.copy_button.set_icon("undo-2" if is_kept else "copy", undo if is_kept else keep)
        self.copy_button.setEnabled(has_circuit)

    def _on_back(self) -> None:
        chosen = self._chosen()
        if self._found is not None and chosen is not None:
            number = self.rounds[chosen].number
            self._services.workspace.round_wanted.emit(self._found.session_id, number)

    def _on_copy(self) -> None:
        root, chosen = self._services.workspace.root, self._chosen()
        if root is not None and self._found is not None and chosen is not None:
            run = self._keep(root, self._found.session_id, self.rounds[chosen])
            self._services.start(run, kind="keep round", scope="iterations copy")

    async def _keep(self, root: Path, session_id: str, one: DesignRound) -> None:
        """Write the circuit of a round into a file of its own, or take that back."""
        workspace, operations = self._services.workspace, self._project.operations
        key = session_id, one.number
        try:
            if (op_id := self._copies.pop(key, "")) != "":
                undone = await operations.undo(root, op_id)
                workspace.file_changed.emit(root / undone.target.path)
            elif one.netlist is not None:
                place = one.circuit.relative_to(root)
                name = place.with_name(f"{place.stem}_round_{one.number}{place.suffix}").as_posix()
                record = await operations.add_file(root, name, one.netlist, session_id=session_id)
                self._copies[key] = record.op_id
                workspace.file_changed.emit(root / record.path)
                workspace.file_activated.emit(root / record.path, None)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
        self._name_ways()

    def _on_compare(self, is_wanted: bool) -> None:
        if is_wanted:
            self._show_difference()
        elif self._difference is not None:
            self._drop_difference()

    def _show_difference(self) -> None:
        from domain.llm.tools.text_files import diff_files
        from presentation.panels.editor.compare_view import CompareView

        self._drop_difference()
        if self._compared is None:
            self.compare_button.setChecked(False)
            return
        before, after = (self.rounds[place] for place in self._compared)
        diff = diff_files(before.netlist, after.netlist, path=after.circuit.name)
        self._difference = CompareView(self._services, diff)
        self._below.addWidget(self._difference)
        self._below.setCurrentWidget(self._difference)

    def _drop_difference(self) -> None:
        if self._difference is not None:
            self._below.removeWidget(self._difference)
            self._difference.deleteLater()
            self._difference = None
