"""The goals read from a sentence, to be confirmed before the design begins."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QShowEvent
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from application.events import GoalsUnderstood
from domain.design.goals import DesignGoal
from presentation.cli.figures import number as plain_number
from presentation.panels.conversation.margins import typeset
from presentation.window.styles import mark
from presentation.window.workspace import WindowServices
from shared.message import Message, msg

_NUMBER = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_COLUMNS = 6


class GoalsDialog(QDialog):
    """Shows what a design will be judged by; accepted means "start"."""

    def __init__(
        self, services: WindowServices, understood: GoalsUnderstood, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._understood = understood
        self.setObjectName("goalsDialog")
        self._intro = QLabel()
        self._intro.setWordWrap(True)
        mark(self._intro, role="secondary")
        self.table = QTableWidget(len(understood.goals), _COLUMNS)
        self.table.setObjectName("goalsTable")
        self._dress_table()
        self._assumptions = QLabel()
        self._assumptions.setWordWrap(True)
        self._assumptions.setTextFormat(Qt.TextFormat.PlainText)
        mark(self._assumptions, role="small")
        self.cancel_button, self.start_button = QPushButton(), QPushButton()
        self.cancel_button.setObjectName("goalsCancel")
        self.start_button.setObjectName("goalsStart")
        self.start_button.setDefault(True)
        mark(self.start_button, kind="primary")
        self.cancel_button.clicked.connect(self.reject)
        self.start_button.clicked.connect(self.accept)
        footer = QWidget()
        mark(footer, part="footer")
        self._buttons = QHBoxLayout(footer)
        self._buttons.addStretch(1)
        self._buttons.addWidget(self.cancel_button)
        self._buttons.addWidget(self.start_button)
        self._body = QVBoxLayout()
        for widget in (self._intro, self.table, self._assumptions):
            self._body.addWidget(widget)
        self._body.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._body)
        layout.addWidget(footer)
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)
        self.retranslate()
        self.restyle()

    async def ask(self) -> bool:
        """Open and wait; True when the person starts the design. Cancelling closes the dialog."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def on_finished(result: int) -> None:
            if not answer.done():
                answer.set_result(result == QDialog.DialogCode.Accepted.value)

        self.finished.connect(on_finished)
        self.open()
        try:
            return await answer
        finally:
            self.finished.disconnect(on_finished)
            self.close()
            self.deleteLater()

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        """The safe choice is ready for Enter."""
        super().showEvent(event)
        self.start_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def restyle(self) -> None:
        """Fonts and sizes."""
        theme = self._services.theme.theme
        edge, gap = theme.size("space.4"), theme.size("space.2")
        self._body.setContentsMargins(edge, edge, edge, edge)
        self._body.setSpacing(gap)
        self._buttons.setContentsMargins(edge, gap, edge, gap)
        row = theme.size("row.list")
        mono = theme.font("mono_small")
        for index, goal in enumerate(self._understood.goals):
            self.table.setRowHeight(index, row)
            for column in range(_COLUMNS):
                item = self.table.item(index, column)
                assert item is not None
                item.setFont(theme.tabular("ui") if column != 1 else mono)
            source = self.table.item(index, _COLUMNS - 1)
            assert source is not None
            source.setForeground(theme.color("text.secondary" if goal.stated else "info.text"))
        rows = max(len(self._understood.goals), 1)
        self.table.setFixedHeight(min(rows, 10) * row + theme.size("row.table_head") + gap)
        self.resize(theme.size("pane.right_max") + theme.size("pane.left_min"), self.sizeHint().height())

    def retranslate(self) -> None:
        """Words; the table anew."""
        language = self._services.language
        self.setWindowTitle(language(msg("Confirm design goals")))
        proposed = sum(not goal.stated for goal in self._understood.goals)
        self._intro.setText(language(_intro(proposed)))
        self.cancel_button.setText(language(msg("Cancel")))
        self.start_button.setText(language(msg("Start design")))
        named = (msg("Goal"), msg("Measured as"), msg("Limit"), msg("Tolerance"), msg("From"))
        heads = [language(text) for text in named]
        heads.insert(2, "")  # the relation needs no name
        self.table.setHorizontalHeaderLabels(heads)
        limit = self.table.horizontalHeaderItem(3)
        assert limit is not None
        limit.setTextAlignment(_NUMBER)
        for index, goal in enumerate(self._understood.goals):
            self._fill_row(index, goal)
        notes = [f"· {language(text)}" for text in self._understood.assumptions]
        self._assumptions.setText("\n".join(notes))
        self._assumptions.setVisible(bool(notes))
        self.table.resizeColumnsToContents()
        self.restyle()

    def _dress_table(self) -> None:
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.table.setShowGrid(False)
        rows = self.table.verticalHeader()
        heads = self.table.horizontalHeader()
        assert rows is not None
        assert heads is not None
        rows.hide()
        heads.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        heads.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        heads.setStretchLastSection(True)
        heads.setHighlightSections(False)

    def _fill_row(self, index: int, goal: DesignGoal) -> None:
        relation, limit, tolerance = limit_parts(goal)
        language = self._services.language
        source = language(msg("your sentence") if goal.stated else msg("not said, our default"))
        for column, text in enumerate((goal.metric, goal.expression, relation, limit, tolerance, source)):
            item = QTableWidgetItem(text)
            if column == 3:
                item.setTextAlignment(_NUMBER)
            self.table.setItem(index, column, item)


def _intro(proposed: int) -> Message:
    if not proposed:
        return msg("Goals read from your sentence. They decide when the design counts as finished.")
    return msg(
        "Goals read from your sentence. {count} of them were not in it: check them, they decide when the "
        "design counts as finished.",
        count=proposed,
    )


def limit_parts(goal: DesignGoal) -> Sequence[str]:
    """Relation, limit and tolerance of a goal: ``("=", "10 kHz", "±2 %")``, ``("≤", "0.1 dB", "")``."""
    low, high, target = goal.minimum, goal.maximum, goal.target
    if low is not None and high is not None:
        middle = (low + high) / 2 if target is None else target
        if not math.isclose(high - middle, middle - low, rel_tol=1e-6):
            return "", f"{number(low, goal.unit)} … {number(high, goal.unit)}", ""
        if middle:
            return "=", number(middle, goal.unit), f"±{abs((high - low) / 2 / middle) * 100:.3g} %"
        return "=", number(middle, goal.unit), f"±{number(high, goal.unit)}"
    if low is not None:
        return "≥", number(low, goal.unit), ""
    return ("≤", number(high, goal.unit), "") if high is not None else ("", "—", "")


def number(value: float, unit: str) -> str:
    """A value with its unit, typeset."""
    return typeset(plain_number(value, unit))
