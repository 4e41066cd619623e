"""The goals of a design, to be checked, changed and confirmed before it begins or goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QShowEvent
from PyQt6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from application.ports.events import GoalsUnderstood
from domain.simulation.goals import DesignGoal
from presentation.dialogs.goal_drafts import BadGoal, BadText, GoalDraft, drafts_of, goals_of, text_of
from presentation.dialogs.goal_rows import GoalTable
from presentation.ui.fitting import fit
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg


class GoalsDialog(QDialog):
    """What a design will be judged by, in rows or as a text; accepted means "use these".

    `is_change`: the design is under way, and its next round will use what is confirmed. `circuit`: no design
    asks, these are the goals of a circuit of this name, and `added` is written on behind them. `begins_from`:
    the circuit that is improved, unless a new one is chosen (if it `can_be_new`); "" for none. `about` says
    whose design it is.
    """

    def __init__(
        self,
        services: WindowServices,
        understood: GoalsUnderstood,
        parent: QWidget | None = None,
        *,
        is_change: bool = False,
        circuit: str = "",
        added: Sequence[GoalDraft] = (),
        about: Message | None = None,
        begins_from: str = "",
        can_be_new: bool = True,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._assumed = understood.assumptions
        self._is_change = is_change
        self._circuit = circuit
        self._about = about
        self._begins_from = begins_from
        self._problem: Message | None = None
        self.setObjectName("goalsDialog")
        self._intro = text_label(wraps=True, role="secondary")
        self.improve, self.new_circuit = QRadioButton(), QRadioButton()
        self.improve.setObjectName("goalsImprove")
        self.new_circuit.setObjectName("goalsNewCircuit")
        self.improve.setChecked(True)
        self.new_circuit.setEnabled(can_be_new)
        self.table = GoalTable(services, [*map(GoalDraft.of, understood.goals), *added])
        self.table.changed.connect(self._check)
        self.text = QPlainTextEdit()
        self.text.setObjectName("goalsText")
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)  # as high as the rows
        self.text.textChanged.connect(self._check)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.table)
        self._pages.addWidget(self.text)
        self.add_button = QPushButton()
        self.add_button.setObjectName("goalsAdd")
        mark(self.add_button, kind="link")
        self.add_button.clicked.connect(self.table.add)
        self._error = text_label(name="goalsError", wraps=True, role="error")
        self._assumptions = text_label(wraps=True, role="small")
        self._make_buttons()
        self._make_layout()
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)
        self.retranslate()
        self.restyle()
        self._check()

    @property
    def goals(self) -> tuple[DesignGoal, ...]:
        """What is confirmed. Raises BadGoal or BadText while something is wrong."""
        return goals_of(self._drafts(), needs_must=not self._circuit)

    @property
    def limits(self) -> list[str]:
        return [row.limit.text() for row in self.table.rows]

    @property
    def is_new_circuit(self) -> bool:
        """Whether a new circuit is to be made, though there is one to begin from."""
        return bool(self._begins_from) and self.new_circuit.isChecked()

    async def ask(self) -> tuple[DesignGoal, ...] | None:
        """Open and wait; the confirmed goals, or None when it was cancelled. Cancelling closes the dialog."""
        answer: asyncio.Future[tuple[DesignGoal, ...] | None] = asyncio.get_running_loop().create_future()

        def on_finished(result: int) -> None:
            if not answer.done():
                is_yes = result == QDialog.DialogCode.Accepted.value
                answer.set_result(self.goals if is_yes else None)

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

    def accept(self) -> None:
        """Only when everything can be taken."""
        if self._problem is None:
            super().accept()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Wide enough for every column, as high as it needs to be."""
        theme = self._services.theme.theme
        usual = theme.size("pane.right_max") + theme.size("pane.left_default")
        wide = max(usual, self.table.sizeHint().width() + 2 * theme.size("space.4"))
        return QSize(wide, super().sizeHint().height())

    # --- parts ---------------------------------------------------------------------------------------

    def _make_buttons(self) -> None:
        self.cancel_button, self.start_button, self.text_button = QPushButton(), QPushButton(), QPushButton()
        self.cancel_button.setObjectName("goalsCancel")
        self.start_button.setObjectName("goalsStart")
        self.text_button.setObjectName("goalsAsText")
        for button in (self.add_button, self.cancel_button, self.text_button):
            button.setAutoDefault(False)
        self.start_button.setDefault(True)
        mark(self.start_button, kind="primary")
        self.cancel_button.clicked.connect(self.reject)
        self.start_button.clicked.connect(self.accept)
        self.text_button.clicked.connect(self._switch)

    def _make_layout(self) -> None:
        footer = QWidget()
        mark_area(footer, part="footer")
        self._buttons = arrange(
            QHBoxLayout(footer), self.text_button, 1, self.cancel_button, self.start_button
        )
        self._below = QHBoxLayout()
        self._below.addWidget(self.add_button, 0, Qt.AlignmentFlag.AlignTop)
        self._below.addWidget(self._error, 1)
        starts = (self.improve, self.new_circuit) if self._begins_from else ()
        self._body = arrange(
            QVBoxLayout(), self._intro, *starts, (self._pages, 1), self._below, self._assumptions
        )
        arrange(QVBoxLayout(self), (self._body, 1), footer, edges=0, gap=0)

    # --- looks ---------------------------------------------------------------------------------------

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.4"), theme.size("space.2")
        arrange(self._body, edges=edge, gap=gap)
        self._below.setSpacing(edge)
        arrange(self._buttons, edges=(edge, theme.size("space.3"), edge, theme.size("space.3")), gap=gap)
        self.text.setFont(theme.font("mono"))
        icons = self._services.icons
        self.add_button.setIcon(icons.get("plus", "text.link", theme.size("icon.small")))
        self.add_button.setIconSize(QSize(theme.size("icon.small"), theme.size("icon.small")))
        self.table.restyle()
        wanted = self.sizeHint()
        fit(self, wanted.width(), wanted.height(), may_shrink=True)

    def retranslate(self) -> None:
        language = self._services.language
        title = msg("Change goals") if self._is_change else msg("Confirm design goals")
        if self._circuit:
            title = msg("Goals of {circuit}", circuit=self._circuit)
        self.setWindowTitle(language(title))
        proposed = sum(
            draft.original is not None and not draft.original.stated for draft in self.table.drafts
        )
        intro = _OF_A_CIRCUIT if self._circuit else _intro(proposed, is_change=self._is_change)
        about = "" if self._about is None else f"{language(self._about)}\n"
        self._intro.setText(about + language(intro))
        self.improve.setText(language(msg("Improve {circuit}", circuit=self._begins_from)))
        self.new_circuit.setText(language(msg("Design a new circuit")))
        if not self.new_circuit.isEnabled():
            named = msg("The built-in designer makes a new circuit when its kind is named, for example "
                        "“common-emitter amplifier, gain 40 dB”.")  # fmt: skip
            self.new_circuit.setToolTip(language(named))
        self.cancel_button.setText(language(msg("Cancel")))
        go = msg("Use these goals") if self._is_change or self._circuit else msg("Start design")
        self.start_button.setText(language(go))
        self.add_button.setText(language(msg("Add goal")))
        self._name_switch()
        notes = [f"· {language(text)}" for text in self._assumed]
        self._assumptions.setText("\n".join(notes))
        self._assumptions.setVisible(bool(notes))
        self.table.retranslate()
        self._show_problem()

    def _name_switch(self) -> None:
        text = msg("Edit as rows") if self._is_text else msg("Edit as text")
        self.text_button.setText(self._services.language(text))

    # --- what is written -----------------------------------------------------------------------------

    @property
    def _is_text(self) -> bool:
        return self._pages.currentWidget() is self.text

    def _drafts(self) -> tuple[GoalDraft, ...]:
        if self._is_text:
            text, needs_must = self.text.toPlainText(), not self._circuit
            return drafts_of(text, self.table.drafts, needs_must=needs_must)
        return self.table.drafts

    def _switch(self) -> None:
        """From rows to text and back; back only when the text can be read."""
        if not self._is_text:
            self.text.setPlainText(text_of(self.table.drafts))
            self._pages.setCurrentWidget(self.text)
            self.text.setFocus(Qt.FocusReason.OtherFocusReason)
        elif self._problem is None:
            self.table.set_drafts(self._drafts())
            self._pages.setCurrentWidget(self.table)
        self.add_button.setVisible(not self._is_text)
        self._name_switch()
        self._check()

    def _check(self) -> None:
        """Say what is wrong, where, and what to do."""
        problem, culprit = self._found_problem()
        for row in self.table.rows:
            row.show_problem(culprit[1] if culprit is not None and culprit[0] is row else "")
        self._problem = problem
        self._show_problem()

    def _found_problem(self) -> tuple[Message | None, tuple[object, str] | None]:
        if not self._is_text:
            for number, row in enumerate(self.table.rows, 1):
                draft = row.current
                try:
                    if draft.is_wanted:
                        draft.goal()
                except BadGoal as error:
                    told = msg(
                        "Row {number}: {problem}",
                        number=number,
                        problem=self._services.language(error.message),
                    )
                    return told, (row, error.cell)
        try:
            goals_of(self._drafts(), needs_must=not self._circuit)
        except BadGoal as error:
            return error.message, None
        except BadText as error:
            return (
                msg(
                    "Line {line}: {problem}", line=error.line, problem=self._services.language(error.message)
                ),
                None,
            )
        return None, None

    def _show_problem(self) -> None:
        problem = self._problem
        self._error.setText("" if problem is None else self._services.language(problem))
        self.start_button.setEnabled(problem is None)
        # Back to the rows only with a text that can be read.
        self.text_button.setEnabled(not self._is_text or problem is None)


_OF_A_CIRCUIT = msg(
    "Every run of this circuit from now on is checked against these goals. Earlier runs keep the goals "
    "they had; runs made before there were any are checked against the first ones."
)


def _intro(proposed: int, *, is_change: bool) -> Message:
    if is_change:
        return msg("The next round is designed and judged by these goals. Work done so far is kept.")
    if not proposed:
        return msg("Goals read from your sentence. They decide when the design is finished.")
    return msg(
        "Goals read from your sentence. Not stated in it: {count}. Check them all: they decide when "
        "the design is finished.",
        count=proposed,
    )
