"""The measurements of the shown result: value, unit, and the change against the run before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
from PyQt6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QToolButton, QVBoxLayout, QWidget

from application.groups.project import Project
from domain.simulation.output_names import named_first, outputs_of
from domain.simulation.result import Quantity
from domain.simulation.waveform import Plot
from presentation.goal_margins import limit_text
from presentation.goal_words import name_of
from presentation.panels.case_verdicts import CaseLines, told_of
from presentation.panels.waveforms.figures import (
    MINUS,
    beside_goal,
    fixed,
    in_scale,
    joined,
    quantity,
    scale_for,
    spread,
)
from presentation.panels.waveforms.shown_result import Measured, ShownResult
from presentation.panels.waveforms.step_figures import StepFigure
from presentation.panels.waveforms.yield_column import add_outlier, yield_cells
from presentation.ui.figure_table import Cell, Column, FigureTable, is_delete
from presentation.ui.parts import SpokenName, arrange, copy_text, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import msg

_WIDEST = 560


_MOST_STEPS = 8
"""Columns of steps; the drawing against the steps has all of them."""
_STEP_WIDTH = 96
_MOST_TOLD = 20
_NAME_SHARE = 0.33
"""Of the width beside a plot; the change against the run before gives way to it."""


def _signed(change: float, decimals: int) -> str:
    """``+1.20``, ``−3.4``; what rounds to nothing has no sign."""
    text = fixed(change, decimals)
    if not _is_some(text):
        return text.lstrip(MINUS)
    return f"+{text}" if change > 0 else text


def _is_some(text: str) -> bool:
    """Whether a change that is written so is one at all."""
    return any(digit in text for digit in "123456789∞")


def _shown_pair(item: Measured, step: StepFigure) -> tuple[float, float, str] | None:
    """A step's value, that of the run before and their unit, as shown; None where one of them is lacking."""
    now, before = step.value, step.previous
    if now is None or before is None or before.unit != now.unit:
        return None
    (value, unit), (earlier, _) = item.as_shown(now), item.as_shown(before)
    return (value, earlier, unit) if math.isfinite(value) and math.isfinite(earlier) else None


def example_of(plots: Sequence[Plot]) -> str:
    """What may be measured of a result with these plots, as it is typed."""
    kinds = {plot.analysis for plot in plots}
    names = next((list(plot.vectors) for plot in plots if plot.axis_name is not None), [])
    nodes = [
        n for n in names if n.startswith("v(") and "." not in n and "#" not in n
    ]  # as drawn, not helpers
    output = next(iter([*outputs_of(names), *named_first(nodes)]), "v(out)")
    return f"bandwidth({output})" if "ac" in kinds or not kinds else f"rms({output})"


def _labels(items: Sequence[Measured]) -> list[str]:
    """The steps that have a column: all, or as many as there is room for, from the least to the greatest."""
    steps = next((item.steps for item in items if item.steps), ())
    last = len(steps) - 1
    if last < _MOST_STEPS:
        return [step.label for step in steps]
    return [steps[round(number * last / (_MOST_STEPS - 1))].label for number in range(_MOST_STEPS)]


class _Table(FigureTable):
    """Delete takes away what was added; the menu offers that too."""

    edit_wanted = pyqtSignal(str)
    """an expression that was added"""

    def __init__(self, services: WindowServices, project: Project, shown: ShownResult, name: str) -> None:
        super().__init__(services, name)
        self._project = project
        self._shown = shown
        services.shortcuts.answer(self, {"list.undo": shown.goal_maker.take_back})

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        if is_delete(event):
            self._remove_chosen()
        elif event is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.draw_steps()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:  # noqa: N802 - Qt's name
        """What can be done with the row under the pointer, or with the chosen ones."""
        if event is None:
            return
        row = self.rowAt(event.pos().y()) if event.reason() == event.Reason.Mouse else -1
        if row >= 0 and row not in self.selected_rows():
            self.selectRow(row)
        self.menu().popup(event.globalPos())

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """A stepped measurement is drawn against the steps."""
        super().mouseDoubleClickEvent(event)
        self.draw_steps()

    def draw_steps(self) -> None:
        chosen = self._chosen()
        if len(chosen) == 1 and chosen[0].steps:
            self._shown.steps_wanted.emit(chosen[0].shown_name)

    def menu(self) -> QMenu:
        language, menu = self._services.language, QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        chosen = self._chosen()
        subject = self._subject(chosen)
        if subject is not None:
            show = menu.addAction(language(msg("Show in the plot")), lambda: self._show(subject))
            assert show is not None
            show.setObjectName("show_in_plot")
            menu.addSeparator()
        if len(chosen) == 1 and chosen[0].is_added:
            edit = menu.addAction(language(msg("Edit…")), lambda: self.edit_wanted.emit(chosen[0].expression))
            assert edit is not None
            edit.setObjectName("edit_measurement")
        menu.addAction(language(msg("Copy")), self.copy)
        expression = menu.addAction(language(msg("Copy the expression")), self._copy_expressions)
        menu.addSeparator()
        if any(item.steps for item in self._shown.measurements):
            against = menu.addAction(language(msg("Draw against the steps")), self.draw_steps)
            assert against is not None
            against.setObjectName("against_steps")
            against.setEnabled(len(chosen) == 1 and bool(chosen[0].steps))
        has_goal = len(chosen) == 1 and chosen[0].goal is not None
        goal = menu.addAction(
            language(msg("Change goals…") if has_goal else msg("Set as goal…")), self._make_goal
        )
        if self._shown.goal_maker.can_take_back:
            key = self._services.shortcuts.shown("list.undo")
            words = f"{language(msg('Undo the last change of goals'))}\t{key}"
            back = menu.addAction(words, self._shown.goal_maker.take_back)
            assert back is not None
            back.setObjectName("goals_back")
        if len(chosen) == 1:
            add_outlier(menu, self._services, self._project, self._shown.yields, chosen[0])
        study = menu.addAction(language(msg("Monte Carlo of the circuit")), self._study)
        assert study is not None
        study.setObjectName("study_circuit")
        study.setEnabled(self._shown.goal_maker.place is not None)
        delete = menu.addAction(language(msg("Delete the measurement")), self._remove_chosen)
        assert expression is not None
        assert goal is not None
        goal.setObjectName("make_goal")
        goal.setEnabled(len(chosen) == 1 and self._shown.goal_maker.place is not None)
        assert delete is not None
        expression.setEnabled(bool(chosen))
        delete.setEnabled(any(item.is_added for item in chosen))  # a .meas is a line of the circuit
        return menu

    def _subject(self, chosen: Sequence[Measured]) -> str | None:
        """What one of them is measured on, where that can be drawn."""
        from presentation.panels.waveforms.plot_marks import subject_of

        is_known = len(chosen) == 1 and chosen[0].expression
        return subject_of(chosen[0].expression) if is_known else None

    def _show(self, subject: str) -> None:
        if self._shown.loaded is not None:
            self._services.workspace.trace_wanted.emit(self._shown.loaded.source, subject)

    def _study(self) -> None:
        """Show how the circuit's measurements scatter."""
        if (place := self._shown.goal_maker.place) is not None:
            self._services.workspace.studies_wanted.emit(place[1], "montecarlo", "")

    def _make_goal(self) -> None:
        chosen = self._chosen()
        if len(chosen) == 1:
            self._shown.goal_maker.of_measured(chosen[0], self.window() or self)

    def _chosen(self) -> list[Measured]:
        items = self._shown.measurements
        return [items[row] for row in self.selected_rows() if row < len(items)]

    def _copy_expressions(self) -> None:
        copy_text("\n".join(item.expression or item.name for item in self._chosen()))

    def _remove_chosen(self) -> None:
        for item in self._chosen():
            if item.is_added:
                self._shown.remove_measurement(item.expression)


class MeasurementsView(QWidget):
    """The table, and a field that adds an expression."""

    def __init__(
        self, services: WindowServices, project: Project, shown: ShownResult, *, is_compact: bool = False
    ) -> None:
        super().__init__()
        self._services = services
        self._project = project
        self._shown = shown
        self._is_compact = is_compact
        self.setObjectName("measurements_side" if is_compact else "measurements")
        self.table = _Table(
            services, project, shown, "measurement_table_side" if is_compact else "measurement_table"
        )
        self.table.edit_wanted.connect(self._begin_editing)
        self._edited: str | None = None
        """The measurement that what is typed takes the place of."""
        self.add_button = QToolButton()
        self.add_button.setObjectName("add_measurement")
        self.add_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        mark(self.add_button, text=True)
        self.add_button.clicked.connect(self._begin_adding)
        self.field = _Field()
        self.field.setObjectName("measurement_expression")
        mark(self.field, small=True)
        self.field.returnPressed.connect(self._on_entered)
        self.field.hide()
        self._empty = text_label(wraps=True, role="tertiary")
        self._refused = text_label(name="measurement_refused", wraps=True)
        self.cases = CaseLines(services)
        self._refused.hide()
        mark(self._refused, role="error")
        self.field.textEdited.connect(self._refused.hide)
        self._below = arrange(QHBoxLayout(), self.add_button, (self.field, 1), 0)
        arrange(
            QVBoxLayout(self), self._empty, (self.table, 1000), self.cases, self._below, self._refused, 1,
            edges=0, gap=0,
        )  # fmt: skip
        shown.measured.connect(self._refresh)
        shown.changed.connect(self._refresh)
        shown.stale_changed.connect(self._refresh)
        services.dress(self)

    def select(self, name: str) -> bool:
        """Mark the figure of a `.meas`, a goal or an expression and show it; whether it is there."""
        for row, item in enumerate(self._shown.measurements):
            if name in (item.name, item.shown_name, item.expression, item.goal and item.goal.metric):
                self.table.selectRow(row)
                self.table.scrollTo(self.table.model().index(row, 0))  # type: ignore[union-attr]
                return True
        return False

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge = theme.size("space.3")
        self.add_button.setIcon(self._services.icons.get("plus", "text.secondary", theme.size("icon.small")))
        self.add_button.setIconSize(QSize(theme.size("icon.small"), theme.size("icon.small")))
        self._below.setContentsMargins(
            theme.size("space.2"), theme.size("space.half"), edge, theme.size("space.half")
        )
        self._refused.setContentsMargins(edge, 0, edge, theme.size("space.1"))
        self._empty.setContentsMargins(edge, theme.size("space.2"), edge, theme.size("space.1"))
        self._refresh()  # names and figures that belong together are not torn a whole window apart

    def retranslate(self, _name: object = None) -> None:
        language = self._services.language
        self.add_button.setText(language(msg("Add measurement")))
        self.field.setAccessibleName(language(msg("Expression to measure")))
        self.table.setAccessibleName(language(msg("Measurements")))
        self._empty.setText(
            language(
                msg(
                    "Measurements of the last run appear here: every .meas of the circuit, and those you add."
                )
            )
        )
        self._refresh()

    def _refresh(self, _stale: object = None) -> None:
        language = self._services.language
        items = self._shown.measurements
        number = self._shown.previous_number
        loaded = self._shown.loaded
        self.cases.show_runs(() if loaded is None else told_of(loaded.source, self._shown.cases))
        steps = {item.step for item in items if not item.steps}  # a range is of all of them
        step = steps.pop() if len(steps) == 1 else ""
        head = msg("Measurement, {run}", run=step) if step else msg("Measurement")
        columns = [
            Column(title=step if step and self._is_compact else language(head)),
            Column(title=language(msg("Value")), is_number=True),
        ]
        labels = [] if self._is_compact else _labels(items)
        if labels:
            self._show_steps(items, labels, number)
            return
        rows = [self._row(item) for item in items]
        if number is None or not any(row[2].text for row in rows):  # nothing to compare with
            rows = [row[:2] for row in rows]
        else:
            columns.append(self._versus(number))
        ways = [(columns, rows)]
        yields = yield_cells(self._shown.yields, items, language)
        if yields:
            if self._is_compact:  # where its column has no room
                for row, cell in zip(rows, yields, strict=True):
                    row[0] = replace(row[0], tip="\n".join(filter(None, (row[0].tip, cell.tip))))
            beside = [*columns[:2], Column(title=language(msg("Yield")), is_number=True), *columns[2:]]
            found = [[*row[:2], cell, *row[2:]] for row, cell in zip(rows, yields, strict=True)]
            ways.insert(0, (beside, found))
            has_moved = self._shown.is_compared or any(_is_some(row[2].text) for row in rows if len(row) > 2)
            if self._is_compact and number is not None and not has_moved:
                ways.insert(1, (beside[:3], [row[:3] for row in found]))
        if not self._is_compact and any(item.goal is not None for item in items):
            columns, rows = ways[0]
            columns.insert(2, Column(title=language(msg("Limit")), is_number=True))
            rows = [[*row[:2], self._limit(item), *row[2:]] for row, item in zip(rows, items, strict=True)]
            ways = [(columns, rows)]
        if self._is_compact and number is not None and not self._shown.is_compared:
            ways.append((columns[:2], [row[:2] for row in rows]))
        # What comes last and is an estimate gives way first: nothing that stands there goes for it.
        for shown, cells in ways:
            self.table.show_rows(shown, cells)
            if not self._is_compact or number is None or self.table.name_share >= _NAME_SHARE:
                break
        self._show_parts(_WIDEST)

    def _versus(self, number: int) -> Column:
        return Column(title=self._services.language(msg("vs Run {number}", number=number)), is_number=True)

    def _show_steps(self, items: Sequence[Measured], labels: Sequence[str], number: int | None) -> None:
        """A column for each step; what is measured in one of them has its value there alone. The last one
        tells how far they are from those of the run of that `number`."""
        columns = [Column(title=self._services.language(msg("Measurement")))]
        columns += [Column(title=label, is_number=True) for label in labels]
        rows = []
        for item in items:
            name = replace(self._row(item)[0], unit="")
            known = {step.label: step.value for step in item.steps} or {item.step: item.value}
            empty = Cell(text="")
            rows.append(
                [name, *(self._value(item, known[label]) if label in known else empty for label in labels)]
            )
        changes = [self._row(item)[2] for item in items]
        if number is not None and any(change.text for change in changes):
            columns.append(self._versus(number))
            rows = [[*row, change] for row, change in zip(rows, changes, strict=True)]
        self.table.show_rows(columns, rows)
        self._show_parts(_WIDEST // 2 + _STEP_WIDTH * len(columns))

    def _show_parts(self, widest: int) -> None:
        items = self._shown.measurements
        self.table.setMaximumWidth(round(widest * self._services.theme.theme.scale))
        self._empty.setVisible(not items)
        self.table.setVisible(bool(items))
        self.add_button.setEnabled(self._shown.loaded is not None)
        self._fit()

    def _row(self, item: Measured) -> list[Cell]:
        color = name_color = "text.tertiary" if self._shown.is_stale else "text.primary"
        is_missed = (
            item.goal is not None and item.value is not None and not item.goal.is_met_by(item.value.value)
        )
        if is_missed and not self._shown.is_stale:
            color = "error.text"
        # Beside a long expression it is in the tooltip; what none of the steps has is lacking in all of them.
        step = "" if item.expression or item.steps else item.step
        name = Cell(
            text=item.shown_name, unit=step, style="mono_small", color=name_color, tip=self._tip(item)
        )
        if item.goal is not None:
            words = self._services.language(name_of(item.goal, is_simulated=item.is_judged))
            name = Cell(text=words, color=name_color, tip=self._tip(item))
        if (steps := self._range(item)) is not None:
            change, number = self._change_in_steps(item), self._shown.previous_number
            if change.tip and number is not None:  # its column may have no room
                steps = replace(steps, tip=f"{steps.tip}\n\n{self._versus(number).title}\n{change.tip}")
            return [replace(name, unit=""), replace(steps, color=color), change]
        if item.value is None or math.isnan(item.value.value):
            problem = item.problem or msg("The run's data do not contain it.")
            missing = Cell(text="—", color="text.tertiary", tip=self._services.language(problem))
            return [name, missing, Cell(text="")]
        value = replace(self._value(item, item.value), color=color, tip=self._judgement(item))
        return [name, value, self._change(item)]

    def _value(self, item: Measured, value: Quantity | None) -> Cell:
        if value is None or math.isnan(value.value):
            return Cell(text="—", color="text.tertiary")
        text, unit = quantity(*item.as_shown(value))
        if item.goal is not None:
            text, unit = beside_goal(item.goal, value)[0].split("\t")
        color = "text.tertiary" if self._shown.is_stale else "text.primary"
        return Cell(text=text, unit=unit, color=color)

    def _range(self, item: Measured) -> Cell | None:
        """From the least to the greatest of all steps, if it has any; which is which is in the tooltip."""
        known = [
            (item.as_shown(step.value), step.label)
            for step in item.steps
            if step.value is not None and math.isfinite(step.value.value)
        ]
        if not known:
            return None
        told = [f"{label}: {joined(*quantity(*shown))}" for shown, label in known[:_MOST_TOLD]]
        if len(known) > _MOST_TOLD:
            told.append("…")
        text, unit = spread([value for (value, _), _ in known], known[0][0][1])
        return Cell(text=text, unit=unit, tip="\n".join(told))

    def _change_in_steps(self, item: Measured) -> Cell:
        """How far its steps are from those of the run before, from the least change to the greatest, in the
        unit of the values; which is which is in the tooltip."""
        known = [
            (step.label, *shown) for step in item.steps if (shown := _shown_pair(item, step)) is not None
        ]
        if not known:
            return Cell(text="", color="text.tertiary")
        unit = known[0][3]
        greatest = max((value for _, value, _, _ in known), key=abs)
        scale = scale_for(abs(greatest), unit)
        decimals = len(in_scale(greatest, scale, unit).partition(".")[2])
        changes = [(label, (value - earlier) / scale.factor) for label, value, earlier, _ in known]
        ends = [_signed(choose(change for _, change in changes), decimals) for choose in (min, max)]
        told = [
            f"{label}: {joined(_signed(change, decimals), scale.unit)}"
            for label, change in changes[:_MOST_TOLD]
        ]
        if len(changes) > _MOST_TOLD:
            told.append("…")
        text = ends[0] if ends[0] == ends[1] else " … ".join(ends)
        return Cell(
            text=text,
            unit="" if self._is_compact else scale.unit,  # there the range stands beside it, in the same one
            color="text.secondary" if any(digit in text for digit in "123456789") else "text.tertiary",
            tip="\n".join(told),
        )

    def _limit(self, item: Measured) -> Cell:
        if item.goal is None:
            return Cell(text="")
        known = item.value is not None and math.isfinite(item.value.value)
        digits = beside_goal(item.goal, item.value)[1] if item.value is not None and known else 4
        text = self._services.language.figure(limit_text(item.goal, digits))
        return Cell(text=text, color="text.tertiary" if self._shown.is_stale else "text.secondary")

    def _tip(self, item: Measured) -> str:
        if item.problem is not None:
            return self._services.language(item.problem)
        told = [item.name] if item.expression in ("", item.name) else [item.name, item.expression]
        told.append(item.step)
        return "\n".join(text for text in (*told, self._judgement(item)) if text)

    def _judgement(self, item: Measured) -> str:
        """What a goal says of the value, in words."""
        if item.goal is None or item.value is None:
            return ""
        limit = limit_text(item.goal, beside_goal(item.goal, item.value)[1])
        if item.goal.is_met_by(item.value.value):
            return self._services.language(msg("Goal met: {limit}", limit=limit))
        return self._services.language(msg("Goal missed: {limit}", limit=limit))

    def _change(self, item: Measured) -> Cell:
        now, before = item.value, item.previous
        if now is None or before is None or before.unit != now.unit or math.isnan(before.value):
            return Cell(text="", color="text.tertiary")
        (value, unit), (earlier, _) = item.as_shown(now), item.as_shown(before)
        # In the unit the value is shown in, so that the two can be compared at a glance.
        scaled = (value - earlier) / scale_for(abs(value), unit).factor
        text, _ = quantity(value, unit)
        shown = _signed(scaled, len(text.partition(".")[2]))
        if not _is_some(shown):
            return Cell(text=shown, color="text.tertiary")
        color = "text.secondary"
        if item.goal is not None and not self._shown.is_stale:
            gained = item.goal.excess(before.value) - item.goal.excess(now.value)
            color = "ok.text" if gained > 0 else "error.text" if gained < 0 else color
        return Cell(text=shown, color=color)

    def _begin_editing(self, expression: str) -> None:
        self._begin_adding()
        self._edited = expression
        self.field.setText(expression)
        self.field.selectAll()

    def _begin_adding(self) -> None:
        self._edited = None
        loaded = self._shown.loaded
        self.field.setPlaceholderText(example_of(() if loaded is None else loaded.plots))
        self.add_button.hide()
        self.field.clear()
        self.field.show()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def end_adding(self) -> None:
        self.field.hide()
        self._refused.hide()
        self.add_button.show()

    def _on_entered(self) -> None:
        text = self.field.text().strip()
        if text:
            self._services.start(self._add(text), kind="add measurement", scope=self.objectName())
        else:
            self.end_adding()

    async def _add(self, text: str) -> None:
        """Add it, or say why not and leave it to be mended."""
        reason = await self._shown.refusal(text)
        if reason is not None:
            self._refused.setText(self._services.language(reason))
            self._refused.show()
            return
        if self._edited is not None and self._edited != text:
            self._shown.remove_measurement(self._edited)
        self._shown.add_measurement(text)
        self.end_adding()

    def _fit(self) -> None:
        wanted = self.table.wanted_height()
        self.table.setMaximumHeight(wanted)
        self.table.setMinimumHeight(min(wanted, self._services.theme.theme.size("row.table") * 2))


class _Field(QLineEdit):
    """Escape leaves it."""

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        owner = self.parent()
        if event is not None and event.key() == Qt.Key.Key_Escape and isinstance(owner, MeasurementsView):
            owner.end_adding()
        else:
            super().keyPressEvent(event)


class ValueTable(FigureTable):
    """Name and value of every vector."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services, "value_table")
        SpokenName(services, self, msg("Values"))

    def show_plot(self, plot: Plot) -> None:
        """Show one; its vectors have a single value each."""
        from presentation.panels.waveforms.traces import table_of

        language = self._services.language
        columns = [Column(title=language(msg("Name"))), Column(title=language(msg("Value")), is_number=True)]
        rows = []
        for name, value, unit in table_of(plot):
            text, shown_unit = quantity(abs(value) if value.imag else value.real, unit)
            rows.append([Cell(text=name, style="mono_small", tip=name), Cell(text=text, unit=shown_unit)])
        self.show_rows(columns, rows)
