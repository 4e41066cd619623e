"""What is filled in for one kind of study: parameters, runs, corners, goals; and the button that runs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from domain.studies.setup import (
    CircuitOffer,
    Method,
    Metric,
    Sampling,
    SetupKind,
    SetupRow,
    StudySetup,
    limit_problem,
    measured_and_limit,
    metrics_of,
    setup_problem,
)
from presentation.goal_margins import limit_text
from presentation.goal_words import name_of
from presentation.panels.studies.parameter_row import ParameterRow
from presentation.study_words import BUTTONS
from presentation.ui.frame import IconButton
from presentation.ui.parts import ElidedLabel, arrange, push_button, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

WIDTH = 336
_SAMPLINGS: Sequence[tuple[Sampling, Message]] = (("random", msg("random")), ("lhs", msg("Latin hypercube")))
_METHODS: Sequence[tuple[Method, Message]] = (
    ("both", msg("all limits combined, and RSS")),
    ("eva", msg("all limits combined")),
    ("rss", msg("root sum of squares (RSS)")),
    ("search", msg("search for the worst case")),
)
_DIRECTIONS = (msg("minimize"), msg("maximize"))


class SetupPane(QWidget):
    """Edits a `StudySetup`. `run_wanted` comes only while everything fits."""

    changed = pyqtSignal()
    run_wanted = pyqtSignal()
    stop_wanted = pyqtSignal()
    goals_wanted = pyqtSignal()

    def __init__(
        self, services: WindowServices, kind: SetupKind, setup: StudySetup, offer: CircuitOffer, circuit: str
    ) -> None:
        super().__init__()
        self._services = services
        self.kind: SetupKind = kind
        self._base = setup
        self._offer = offer
        self._circuit = circuit
        self._is_running = False
        self._other_runs = False
        self.setObjectName(f"setup_{kind}")
        mark_area(self, surface="panel", line="right")
        self.rows: list[ParameterRow] = []
        self._heads: list[tuple[QLabel, Message]] = []
        self._words: list[tuple[QLabel, Message]] = []
        self._hints: list[tuple[QLineEdit, Message]] = []
        self._fields: dict[str, QLineEdit] = {}
        self.boxes: dict[str, QComboBox] = {}
        self.metrics: dict[str, QCheckBox] = {}
        self.limits: dict[str, QLineEdit] = {}
        self.at_corners = QCheckBox()
        self.at_corners.setObjectName("at_corners")
        self.at_corners.setChecked(setup.at_corners)
        self.at_corners.toggled.connect(self._tell)
        self.add_button = push_button(
            name="add_parameter", clicked=lambda _c=False: self.add_row(), kind="link"
        )
        self.goals_button = push_button(
            name="study_goals", clicked=lambda _c=False: self.goals_wanted.emit(), kind="link"
        )
        self.run_button = push_button(name=f"run_{kind}", clicked=self._on_run, kind="primary")
        self.problem = text_label(role="error", name="setup_problem", wraps=True)
        self._column = QVBoxLayout()
        self._row_column = QVBoxLayout()
        self._goal_column = QVBoxLayout()
        self._added = QLineEdit()
        self._added.setObjectName("added_measurement")
        self._added.returnPressed.connect(self._on_added)
        self._lay_out()
        for row in setup.rows:
            self._put_row(row)
        self._fill_goals()
        services.dress(self)

    # ---- what is filled in -----------------------------------------------------------------------

    @property
    def setup(self) -> StudySetup:
        """As it is filled in now."""
        fields: dict[str, Any] = {name: field.text().strip() for name, field in self._fields.items()}
        boxes = {name: box.currentData() for name, box in self.boxes.items() if name != "direction"}
        if "direction" in self.boxes:
            boxes["maximizes"] = self.boxes["direction"].currentIndex() == 1
        limits = {name: text for name, field in self.limits.items() if (text := field.text().strip())}
        without = tuple(name for name, box in self.metrics.items() if not box.isChecked())
        return replace(
            self._base,
            **fields,
            **boxes,
            rows=tuple(row.row for row in self.rows),
            without=without,
            limits=limits,
            at_corners=self.at_corners.isChecked(),
        )

    @property
    def refusal(self) -> Message | None:
        """Why it cannot be run; rows tell theirs themselves."""
        found = setup_problem(self.kind, self.setup, self._offer)
        if found is not None:
            return found
        if self.kind == "corners":
            return None
        return msg("A parameter does not fit, see above.") if any(row.problem for row in self.rows) else None

    def set_offer(self, offer: CircuitOffer) -> None:
        """The circuit, or what is asked of it, is another."""
        setup = self.setup
        self._offer = offer
        self._base = setup
        for row in self.rows:
            row.set_offer(offer)
        self._fill_goals()
        self._check()

    def add_row(self, row: SetupRow | None = None) -> ParameterRow:
        """One more, with the caret in its name; a `row` is put in the place of an empty one."""
        made = self._put_row(row or SetupRow())
        self._tell()
        made.pattern.setFocus()
        return made

    def keep_rows(self, count: int) -> None:
        """The last so many stay."""
        for row in self.rows[: max(len(self.rows) - count, 0)]:
            self.remove_row(row)

    def set_running(self, *, is_running: bool, other_runs: bool = False) -> None:
        self._is_running, self._other_runs = is_running, other_runs
        self._check()

    # ---- look ------------------------------------------------------------------------------------

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self.setFixedWidth(round(WIDTH * theme.scale))
        edge, gap = theme.size("space.3"), theme.size("space.2")
        arrange(self._column, edges=(edge, gap, edge, gap), gap=gap)
        arrange(self._row_column, edges=0, gap=gap)
        arrange(self._goal_column, edges=0, gap=theme.size("space.1"))
        arrange(self._bar, edges=(edge, gap, edge, gap), gap=theme.size("space.1"))

    def retranslate(self) -> None:
        language = self._services.language
        for label, text in (*self._heads, *self._words):
            label.setText(language(text))
        for field, hint in self._hints:
            field.setPlaceholderText(language(hint))
            field.setToolTip(language(hint))
        for name, choices in (("sampling", _SAMPLINGS), ("method", _METHODS)):
            if name in self.boxes:
                for index, (_, word) in enumerate(choices):
                    self.boxes[name].setItemText(index, language(word))
        if "direction" in self.boxes:
            for index, word in enumerate(_DIRECTIONS):
                self.boxes["direction"].setItemText(index, language(word))
        self.at_corners.setText(language(msg("at every corner")))
        self.at_corners.setToolTip(language(msg("At the corners entered on the page Corners.")))
        self.add_button.setText(language(msg("Add parameter")))
        self.goals_button.setText(language(msg("Edit goals…")))
        self._added.setPlaceholderText(language(msg("measure also, e.g. bandwidth(v(out)) >= 1k")))
        self._added.setAccessibleName(language(msg("Expression to measure")))
        self._name_goals()
        self._check()

    def _lay_out(self) -> None:
        inner = QWidget()
        mark_area(inner, surface="panel")
        if self.kind != "corners":
            head = msg("Parameters from {name}", name=self._circuit)
            self._section(head, self.add_button)
            self._column.addLayout(self._row_column)
        form = self._form()
        if form is not None:
            self._column.addLayout(form)
        goals = msg("Measured") if self.kind in ("sweep", "sensitivity") else msg("Goals and measurements")
        self._section(goals, self.goals_button)
        self._column.addLayout(self._goal_column)
        self._column.addWidget(self._added)
        self._column.addStretch(1)
        inner.setLayout(self._column)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inner)
        foot = QWidget()
        mark_area(foot, surface="panel", line="top")
        self._bar = QVBoxLayout(foot)
        arrange(self._bar, self.problem, arrange(QHBoxLayout(), self.run_button, 1, edges=0))
        arrange(QVBoxLayout(self), (area, 1), foot, edges=(0, 0, 1, 0), gap=0)

    def _section(self, text: Message, tool: QWidget | None = None) -> None:
        label = ElidedLabel()
        mark(label, role="strong")
        self._heads.append((label, text))
        arrange(self._column, arrange(QHBoxLayout(), (label, 1), *([tool] if tool else []), edges=0))

    def _form(self) -> QFormLayout | None:
        """What each kind needs besides."""
        kind, form = self.kind, QFormLayout()
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        if kind == "montecarlo":
            self._section(msg("Runs"))
            self._field(form, "runs", msg("Number of runs"))
            self._field(form, "seed", msg("Seed"))
            self._box(form, "sampling", msg("Sampling"), [choice for choice, _ in _SAMPLINGS])
            form.addRow(self.at_corners)
        elif kind == "sweep":
            form.addRow(self.at_corners)
        elif kind == "corners":
            self._section(msg("Corners"))
            self._field(form, "processes", msg("Processes"), msg("TT, FF, SS: sections of the libraries"))
            self._field(form, "supply", msg("Supply"), msg("source or .param"))
            self._field(form, "voltages", msg("Voltages"), msg("1.62, 1.8 or -10 %, +0 %, +10 %"))
            self._field(form, "temperatures", msg("Temperatures, °C"), msg("-40, 27, 125"))
        elif kind == "worst-case":
            self._section(msg("Method"))
            self._box(form, "method", msg("Method"), [choice for choice, _ in _METHODS])
            form.addRow(self.at_corners)
            self._fit_corners()
            self.boxes["method"].currentIndexChanged.connect(self._fit_corners)
        elif kind == "map":
            self._section(msg("Refinement"))
            self._field(form, "refine_s", msg("Time, s"), msg("Borders are refined while it lasts"))
        elif kind == "optimize":
            self._section(msg("Search"))
            self._field(form, "budget", msg("Simulations at most"))
            self._field(form, "seed", msg("Seed"))
            self._box(form, "direction", msg("Direction"), ["minimize", "maximize"])
            self._box(form, "objective", msg("Quantity"), ["", *metrics_of(self._base, self._offer)])
            self.boxes["direction"].setCurrentIndex(int(self._base.maximizes))
            form.addRow(self.at_corners)
        else:
            return None
        return form

    def _fit_corners(self) -> None:
        """Of a worst case only the search goes to the corners."""
        self.at_corners.setEnabled(self.boxes["method"].currentData() == "search")

    def _field(self, form: QFormLayout, name: str, label: Message, hint: Message | None = None) -> None:
        field = QLineEdit(getattr(self._base, name))
        field.setObjectName(f"setup_{name}")
        mark(field, small=True)
        field.textChanged.connect(self._tell)
        word = text_label()
        self._words.append((word, label))
        word.setBuddy(field)
        if hint is not None:
            self._hints.append((field, hint))
        form.addRow(word, field)
        self._fields[name] = field

    def _box(self, form: QFormLayout, name: str, label: Message, choices: Sequence[str]) -> None:
        box = QComboBox()
        box.setObjectName(f"setup_{name}")
        mark(box, small=True)
        for choice in choices:
            box.addItem(choice or "–", choice)
        if name != "direction":
            box.setCurrentIndex(max(box.findData(getattr(self._base, name)), 0))
        box.activated.connect(self._tell)
        word = text_label()
        self._words.append((word, label))
        word.setBuddy(box)
        form.addRow(word, box)
        self.boxes[name] = box

    # ---- rows and goals --------------------------------------------------------------------------

    def _put_row(self, row: SetupRow) -> ParameterRow:
        made = ParameterRow(self._services, self.kind, row, self._offer)
        made.changed.connect(self._tell)
        made.remove_wanted.connect(partial(self.remove_row, made))
        self.rows.append(made)
        self._row_column.addWidget(made)
        return made

    def remove_row(self, row: ParameterRow) -> None:
        """One less."""
        self.rows.remove(row)
        self._row_column.removeWidget(row)
        row.hide()
        row.deleteLater()
        self._tell()

    def _fill_goals(self) -> None:
        while (item := self._goal_column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.metrics, self.limits = {}, {}
        added = [Metric(name=text, expression=text) for text in self._base.added]
        for metric in (*self._offer.metrics, *added):
            self._goal_column.addWidget(self._goal_row(metric, is_added=metric in added))
        if "objective" in self.boxes:
            box = self.boxes["objective"]
            chosen = box.currentData()
            box.clear()
            for choice in ("", *metrics_of(self._base, self._offer)):
                box.addItem(choice or "–", choice)
            box.setCurrentIndex(max(box.findData(chosen), 0))
        self._name_goals()

    def _goal_row(self, metric: Metric, *, is_added: bool) -> QWidget:
        line = QWidget()
        box = QCheckBox()
        box.setObjectName(f"metric:{metric.name}")
        box.setChecked(metric.name not in self._base.without)
        box.toggled.connect(self._tell)
        self.metrics[metric.name] = box
        row = arrange(QHBoxLayout(line), (box, 1), edges=0, gap=self._services.theme.theme.size("space.2"))
        if metric.goals:
            limit = text_label(" … ".join(limit_text(goal) for goal in metric.goals), name="metric_limit")
            arrange(row, limit)
        elif self.kind not in ("sweep", "sensitivity"):
            field = QLineEdit(self._base.limits.get(metric.name, ""))
            field.setObjectName(f"limit:{metric.name}")
            field.setFixedWidth(round(128 * self._services.theme.theme.scale))
            field.setCursorPosition(0)
            mark(field, small=True)
            field.textChanged.connect(self._tell)
            self.limits[metric.name] = field
            arrange(row, field)
        if is_added:
            remove = IconButton(self._services, "x", msg("Remove"), name="remove_measurement")
            remove.clicked.connect(lambda _checked=False: self._on_removed(metric.name))
            arrange(row, remove)
        return line

    def _name_goals(self) -> None:
        language = self._services.language
        names = {item.name: item for item in self._offer.metrics}
        for name, box in self.metrics.items():
            item = names.get(name)
            text = language(name_of(item.goals[0])) if item is not None and item.goals else name
            box.setText(text.replace("&", "&&"))
            box.setToolTip(item.expression if item is not None and item.expression else name)
        for name, field in self.limits.items():
            field.setPlaceholderText(language(msg("limit, e.g. >= 46")))
            field.setAccessibleName(language(msg("Limit of {name}", name=name)))
            field.setToolTip(language(msg("A limit such as >= 46, 9.7k..10.3k or 10k +- 300")))

    def _on_added(self) -> None:
        from shared.errors import CircuitAIError

        if not self._added.text().strip():
            return
        try:
            text, limit = measured_and_limit(self._added.text())
        except CircuitAIError as error:
            mark(self._added, state="error")
            self.problem.setText(self._services.language(error.message))
            self.problem.show()
            return
        mark(self._added, state="")
        self._added.clear()
        setup = self.setup
        added = tuple(dict.fromkeys([*self._base.added, text]))
        limits = {**setup.limits, text: limit} if limit else setup.limits
        self._base = replace(setup, added=added, limits=limits)
        self._fill_goals()
        self._tell()

    def _on_removed(self, name: str) -> None:
        self._base = replace(self.setup, added=tuple(each for each in self._base.added if each != name))
        self._fill_goals()
        self._tell()

    # ---- running ---------------------------------------------------------------------------------

    def _tell(self, _value: object = None) -> None:
        self._check()
        self.changed.emit()

    def _check(self) -> None:
        language, refusal = self._services.language, self.refusal
        if self._other_runs and refusal is None:
            refusal = msg("Another study of this circuit is running.")
        for field in self.limits.values():
            mark(field, state="error" if limit_problem(field.text()) is not None else "")
        self.problem.setText("" if refusal is None else language(refusal))
        self.problem.setVisible(refusal is not None and not self._is_running)
        self.run_button.setEnabled(self._is_running or refusal is None)
        stop = msg("Stop tuning") if self.kind == "tune" else msg("Stop")
        tip = msg("What was simulated is kept (Esc).")
        self.run_button.setToolTip(language(tip) if self._is_running and self.kind != "tune" else "")
        self.run_button.setText(language(stop if self._is_running else BUTTONS[self.kind]))
        mark(self.run_button, kind="secondary" if self._is_running else "primary")

    def _on_run(self, _checked: bool = False) -> None:
        if self._is_running:
            self.stop_wanted.emit()
        elif self.refusal is None:
            self.run_wanted.emit()
