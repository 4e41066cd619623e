"""The rows of the goals dialog: one goal a row, every cell of it to be changed in place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QWidget,
)

from presentation.dialogs.goal_drafts import OPERATORS, GoalDraft
from presentation.goal_words import name_of
from presentation.ui.frame import IconButton
from presentation.ui.parts import ElidedLabel
from presentation.ui.styles import mark, mark_area, style_sheet
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_HEADS: tuple[tuple[int, Message], ...] = (
    (1, msg("Goal")),
    (2, msg("Measured as")),
    (4, msg("Limit")),
    (5, msg("Tolerance")),
    (6, msg("Weight")),
    (7, msg("From your words")),
)
_COLUMNS = 9
_STRETCH = {1: 3, 2: 7, 4: 2, 7: 4}
_SHOWN_ROWS = 9
_WIDEST_NAME, _WIDEST_EXPRESSION, _WIDEST_WORDS = 30, 52, 30
"""Digits a name, an expression and the words a goal is from may take before they are cut."""
_LIMIT = "−00.0 kHz"
"""A limit as it is usually written: it has room, one that is longer likewise."""
_STYLE = """
QLineEdit, QComboBox { border-color: transparent; background: transparent; padding: 0 @space.1; }
QLineEdit:hover, QComboBox:hover { border-color: @border.default; background: @surface.base; }
QLineEdit:focus, QComboBox[kbdFocus="true"] { border-color: @focus_ring; background: @surface.base; }
QLineEdit[state="error"] { border-color: @error.icon; }
QComboBox::drop-down { width: 0; border: none; }
QComboBox::down-arrow { image: none; width: 0; }
"""


class GoalRow:
    """The widgets of one goal."""

    def __init__(self, services: WindowServices, draft: GoalDraft) -> None:
        self._services = services
        self.draft = draft
        """As it was put in; `current` is what stands there now."""
        self.wanted = QCheckBox()
        self.wanted.setChecked(draft.is_wanted)
        self._named = draft.metric
        """What the goal is called in the user's language; nobody else gives it another name."""
        self.metric, self.expression = QLineEdit(draft.metric), QLineEdit(draft.expression)
        self.limit, self.tolerance = QLineEdit(draft.limit), QLineEdit(draft.tolerance)
        self.operator, self.weight = QComboBox(), QComboBox()
        self.operator.addItems(OPERATORS)
        self.operator.setCurrentText(draft.operator)
        for value in ("must", "wish"):
            self.weight.addItem("", value)
        self.weight.setCurrentIndex(0 if draft.weight == "must" else 1)
        self.words = ElidedLabel()
        self.remove = IconButton(services, "x", msg("Remove this goal"), name="removeGoal")
        self.limit.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.metric.setMinimumWidth(0)
        self.expression.setPlaceholderText("max(db(v(out)))")
        for edit in self.edits:
            edit.setCursorPosition(0)

    @property
    def edits(self) -> tuple[QLineEdit, ...]:
        """The cells with text: metric, expression, limit, tolerance."""
        return self.metric, self.expression, self.limit, self.tolerance

    @property
    def widgets(self) -> tuple[QWidget, ...]:
        return (
            self.wanted,
            self.metric,
            self.expression,
            self.operator,
            self.limit,
            self.tolerance,
            self.weight,
            self.words,
            self.remove,
        )

    @property
    def current(self) -> GoalDraft:
        return GoalDraft(
            metric=self._metric(),
            expression=self.expression.text(),
            operator=OPERATORS[self.operator.currentIndex()],
            limit=self._figure(self.limit.text(), self.draft.limit),
            tolerance=self._figure(self.tolerance.text(), self.draft.tolerance)
            if self.operator.currentText() == "="
            else "",
            weight=self.weight.currentData(),
            is_wanted=self.wanted.isChecked(),
            original=self.draft.original,
            unit=self.draft.unit,
        )

    def show_problem(self, cell: str) -> None:
        """Mark a cell ("" = none) as wrong."""
        named = {
            "metric": self.metric,
            "expression": self.expression,
            "limit": self.limit,
            "tolerance": self.tolerance,
        }
        for name, edit in named.items():
            # What is merely not written yet is said in words, beside the hint in the cell.
            mark(edit, state="error" if name == cell and edit.text().strip() else "")

    def refresh(self) -> None:
        """What follows from the cells: where the goal is from, what is greyed."""
        language, theme = self._services.language, self._services.theme.theme
        text, color = self._source()
        if not self.wanted.isChecked():
            color = "text.disabled"
        self.metric.setToolTip(self._metric())
        self.expression.setToolTip(self.expression.text())
        self.words.setText(language(text))
        digit = self.words.fontMetrics().horizontalAdvance("0")
        self.words.setMinimumWidth(min(self.words.sizeHint().width(), digit * _WIDEST_WORDS))
        palette = self.words.palette()
        palette.setColor(self.words.foregroundRole(), theme.color(color))
        self.words.setPalette(palette)
        is_wanted = self.wanted.isChecked()
        for widget in self.widgets[1:8]:
            widget.setEnabled(is_wanted)
        self.tolerance.setEnabled(is_wanted and self.operator.currentText() == "=")

    def retranslate(self) -> None:
        language, is_named = self._services.language, self.metric.text() == self._named
        self._named = self.draft.metric
        if self.draft.original is not None:
            self._named = language(name_of(self.draft.original))
        if is_named:
            self.metric.setText(self._named)
            self.metric.setCursorPosition(0)
        if not self.current.is_changed:
            self.limit.setText(language.figure(self.draft.limit))
            self.tolerance.setText(language.figure(self.draft.tolerance))
            self.tolerance.setCursorPosition(0)
        self.weight.setItemText(0, language(msg("must")))
        self.weight.setItemText(1, language(msg("wish")))
        for widget, text in (
            (self.wanted, msg("Use this goal")),
            (self.metric, msg("Goal")),
            (self.expression, msg("Measured as")),
            (self.operator, msg("Relation")),
            (self.limit, msg("Limit")),
            (self.tolerance, msg("Tolerance")),
            (self.weight, msg("Weight")),
        ):
            widget.setAccessibleName(language(text))
        self.refresh()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self.expression.setFont(theme.font("mono_small"))
        self.words.setFont(theme.font("small"))
        strong = theme.font("ui_strong")
        self.metric.setFont(strong)
        self.limit.setFont(theme.tabular("ui_strong"))
        self.tolerance.setFont(theme.tabular("ui"))
        pad = theme.size("space.3")
        for combo in (self.operator, self.weight):
            widest = max(
                combo.fontMetrics().horizontalAdvance(combo.itemText(n)) for n in range(combo.count())
            )
            combo.setFixedWidth(widest + 2 * pad)
        for edit, most in ((self.metric, _WIDEST_NAME), (self.expression, _WIDEST_EXPRESSION)):
            wide = edit.fontMetrics().horizontalAdvance(edit.text()) + 2 * pad
            edit.setMinimumWidth(min(wide, edit.fontMetrics().horizontalAdvance("0") * most))
        written = max((self.limit.text(), _LIMIT), key=self.limit.fontMetrics().horizontalAdvance)
        self.limit.setMinimumWidth(self.limit.fontMetrics().horizontalAdvance(written) + 2 * pad)
        sample = "±0.0000 %"
        self.tolerance.setFixedWidth(self.tolerance.fontMetrics().horizontalAdvance(sample) + pad)
        self.refresh()

    def _metric(self) -> str:
        """The name by which designs know it, unless somebody wrote another one."""
        text = self.metric.text()
        return self.draft.metric if text == self._named else text

    def _figure(self, text: str, kept: str) -> str:
        """As it is kept, unless somebody wrote another one."""
        return kept if text == self._services.language.figure(kept) else text

    def _source(self) -> tuple[Message, str]:
        """Where the goal is from, and the colour of these words."""
        goal = self.draft.original
        if goal is None:
            return msg("added by you"), "text.secondary"
        if self.current.is_changed:
            if goal.words:
                return msg("“{words}”, changed by you", words=goal.words), "warn.text"
            return msg("changed by you"), "warn.text"
        if not goal.stated:
            return msg("not given, my proposal"), "info.text"
        if goal.words:
            return msg("“{words}”", words=goal.words), "text.secondary"
        return msg("your sentence"), "text.secondary"


class GoalTable(QScrollArea):
    """All rows under their heads; `changed` when anything in a row is another."""

    changed = pyqtSignal()

    def __init__(self, services: WindowServices, drafts: Sequence[GoalDraft]) -> None:
        super().__init__()
        self._services = services
        self.rows: list[GoalRow] = []
        self._heads = [(column, QLabel(), text) for column, text in _HEADS]
        self.setObjectName("goalsTable")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._body = QWidget()
        mark(self._body, surface="raised")
        self._grid = QGridLayout(self._body)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._lines: list[QWidget] = []
        for column, label, _ in self._heads:
            mark(label, role="small")
            side = Qt.AlignmentFlag.AlignRight if column == 4 else Qt.AlignmentFlag.AlignLeft
            label.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        for column in range(_COLUMNS):
            self._grid.setColumnStretch(column, _STRETCH.get(column, 0))
        self.setWidget(self._body)
        self.set_drafts(drafts)

    @property
    def drafts(self) -> tuple[GoalDraft, ...]:
        return tuple(row.current for row in self.rows)

    def set_drafts(self, drafts: Sequence[GoalDraft]) -> None:
        for row in tuple(self.rows):
            self._take_out(row)
        self.rows = [self._made(draft) for draft in drafts]
        self._place()

    def add(self) -> None:
        """An empty row, ready to be written into."""
        row = self._made(GoalDraft())
        self.rows.append(row)
        self._place()
        row.metric.setFocus(Qt.FocusReason.OtherFocusReason)
        self.changed.emit()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self.setStyleSheet(style_sheet(theme, _STYLE))
        self._grid.setHorizontalSpacing(theme.size("space.1"))
        self._grid.setVerticalSpacing(0)
        pad = theme.size("space.1") + 1
        for column, label, _ in self._heads:  # over the texts of their cells: the last is no field
            label.setContentsMargins(pad if column < _COLUMNS - 2 else 0, 0, pad + 2, 0)
            label.setMinimumHeight(theme.size("row.table_head"))
        for row in self.rows:
            row.restyle()
        height = theme.size("row.list") + 2
        self._grid.setRowMinimumHeight(0, theme.size("row.table_head"))
        for number in range(len(self.rows)):
            self._grid.setRowMinimumHeight(2 * number + 2, height)
        self.updateGeometry()

    def retranslate(self) -> None:
        for _, label, text in self._heads:
            label.setText(self._services.language(text))
        for row in self.rows:
            row.retranslate()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        shown = min(max(len(self.rows), 1), _SHOWN_ROWS)
        return QSize(
            self._body.sizeHint().width(), theme.size("row.table_head") + shown * (theme.size("row.list") + 4)
        )

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """All of it, as long as that is not too much."""
        return QSize(0, self.sizeHint().height())

    # --- rows ----------------------------------------------------------------------------------------

    def _made(self, draft: GoalDraft) -> GoalRow:
        row = GoalRow(self._services, draft)
        for edit in row.edits:
            edit.textEdited.connect(self._on_change)
        for combo in (row.operator, row.weight):
            combo.activated.connect(self._on_change)
        row.wanted.toggled.connect(self._on_change)
        row.remove.clicked.connect(lambda: self._remove(row))
        return row

    def _on_change(self, *_: object) -> None:
        for row in self.rows:
            row.refresh()
        self.changed.emit()

    def _remove(self, row: GoalRow) -> None:
        self._take_out(row)
        self._place()
        self.changed.emit()

    def _take_out(self, row: GoalRow) -> None:
        self.rows.remove(row)
        for widget in row.widgets:
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()

    def _place(self) -> None:
        for line in self._lines:
            self._grid.removeWidget(line)
            line.deleteLater()
        self._lines = []
        for column, label, _ in self._heads:
            self._grid.addWidget(label, 0, column)
        for number, row in enumerate(self.rows):
            line = QWidget()
            line.setFixedHeight(1)
            mark_area(line, line="top")
            self._lines.append(line)
            self._grid.addWidget(line, 2 * number + 1, 0, 1, _COLUMNS)
            for column, widget in enumerate(row.widgets):
                self._grid.addWidget(widget, 2 * number + 2, column)
        for number in range(2 * len(self.rows) + 1, self._grid.rowCount()):
            self._grid.setRowMinimumHeight(number, 0)
            self._grid.setRowStretch(number, 0)
        self._grid.setRowStretch(2 * len(self.rows) + 1, 1)
        self._order_of_tab()
        self.retranslate()
        self.restyle()

    def _order_of_tab(self) -> None:
        """Reading order."""
        order = [widget for row in self.rows for widget in row.widgets if widget is not row.words]
        for first, second in pairwise(order):
            self.setTabOrder(first, second)
