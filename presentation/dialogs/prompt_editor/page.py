"""One tab of the prompt settings: the list of texts at the left, the one that is edited at the right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PyQt6 import sip
from PyQt6.QtCore import QModelIndex, QPoint, QRect, QSize, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QAction, QFontMetrics, QKeySequence, QMouseEvent, QPainter, QResizeEvent, QShortcut
from PyQt6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from application.conversation.prompting import Prompting, SentPrompt
from domain.llm.prompts.catalogue import node_of
from domain.llm.prompts.library import Filled, TextProblem
from domain.llm.tokens import count_tokens
from domain.llm.tools.text_files import diff_texts
from presentation.dialogs.prompt_editor.content_editor import ContentEditor, DifferenceView
from presentation.dialogs.prompt_editor.drafts import Draft, PageName, PromptDrafts
from presentation.dialogs.prompt_editor.find_bar import FindBar
from presentation.dialogs.prompt_editor.variable_panel import VariablePanel
from presentation.ui.parts import arrange
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.local_time import clock_time
from shared.message import Message, msg

_LOOK_MS = 500
_KEY, _TITLE, _BADGE, _IS_MODIFIED = (Qt.ItemDataRole.UserRole + number for number in range(4))


class PromptPage(QWidget):
    """Shows the texts of one tab and hands what is typed to the drafts; `project` fills what was not sent."""

    selected = pyqtSignal(str)
    """The key of the text that is shown now."""

    def __init__(
        self,
        services: WindowServices,
        name: PageName,
        prompting: Prompting,
        *,
        project: Path | None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._name: PageName = name
        self._prompting = prompting
        self._project = project
        self._sent: SentPrompt | None = None
        """What the line under the title tells; None = not sent."""
        looks = QTimer(self)
        looks.timeout.connect(self._look)
        looks.start(_LOOK_MS)
        self._filled: Filled | None = None
        """The text that is shown as it would be sent; None when it was sent, or is not there yet."""
        self._drafts: PromptDrafts | None = None
        self.key = ""
        """The text that is shown; "" before there is one."""
        self._is_showing = False
        """The editor is being filled: what it says is no edit."""
        self.setObjectName(f"promptPage:{name}")
        self._make_list()
        self._make_editor()
        arrange(QHBoxLayout(self), self._left, (self._right, 1), edges=0, gap=0)
        services.dress(self)

    def show_drafts(self, drafts: PromptDrafts) -> None:
        self._drafts = drafts
        self.list.clear()
        for draft in drafts.of(self._name):
            item = QListWidgetItem(self.list)
            item.setData(_KEY, draft.key)
        for draft in drafts.of(self._name):
            self._refresh_row(draft)
        self.list.setCurrentRow(0)

    def select(self, key: str) -> None:
        for row in range(self.list.count()):
            item = self.list.item(row)
            if item is not None and item.data(_KEY) == key:
                self.filter.clear()
                self.list.setCurrentRow(row)

    def refresh(self, key: str) -> None:
        """A draft changed: by the editor, by a reset, by Apply."""
        assert self._drafts is not None
        draft = self._drafts[key]
        self._refresh_row(draft)
        if key == self.key:
            if draft.text != self.editor.content():
                self._is_showing = True
                self.editor.replace_content(draft.text)
                self._is_showing = False
                self.as_sent.setChecked(False)
            self._refresh_editor(draft)

    def _make_list(self) -> None:
        self._left = QWidget(self)
        mark_area(self._left, surface="panel", line="right")
        self.filter = QLineEdit(self._left)
        self.filter.setObjectName("promptFilter")
        self.filter.setClearButtonEnabled(True)
        self._filter_icon = QAction(self.filter)
        self.filter.addAction(self._filter_icon, QLineEdit.ActionPosition.LeadingPosition)
        self.list = QListWidget(self._left)
        self.list.setObjectName("promptList")
        mark(self.list, surface="panel")
        self.list.setItemDelegate(_Row(self._services, self.list))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._left_column = QVBoxLayout(self._left)
        self._filter_row = QHBoxLayout()
        self._filter_row.addWidget(self.filter)
        arrange(self._left_column, self._filter_row, (self.list, 1))
        self.filter.textChanged.connect(self._on_filter)
        self.list.currentItemChanged.connect(lambda item, _before: self._on_selected(item))

    def _make_editor(self) -> None:
        self._right = QWidget(self)
        self._title, self._badge = QLabel(self._right), QLabel(self._right)
        self._origin = ElidedLabel(self._right, takes_all=True)
        mark(self._title, role="strong")
        mark(self._badge, role="caption", surface="sunken")
        mark(self._origin, role="secondary")
        self.find_button, self.compare = QToolButton(self._right), QToolButton(self._right)
        self.find_button.setObjectName("promptFind")
        self.compare.setObjectName("promptCompare")
        self.compare.setCheckable(True)
        self.as_sent = QPushButton(self._right)
        self.as_sent.setObjectName("promptAsSent")
        self.as_sent.setCheckable(True)
        self.as_sent.setAutoDefault(False)
        self.sent = QLabel(self._right)
        self.sent.setObjectName("promptSent")
        self.sent.setWordWrap(True)
        mark(self.sent, role="secondary")
        self.editor = ContentEditor(self._services, self._right)
        self.difference = DifferenceView(self._services, self._right)
        self.sent_text = ContentEditor(self._services, self._right, is_view=True)
        self._stack = QStackedWidget(self._right)
        for view in (self.editor, self.difference, self.sent_text):
            self._stack.addWidget(view)
        self.find_bar = FindBar(self._services, self.editor, self._right)
        self.variables = VariablePanel(self._services, self._right)
        head = QHBoxLayout()
        head.addWidget(self._title)
        head.addWidget(self._badge, 0, Qt.AlignmentFlag.AlignVCenter)
        arrange(head, (self._origin, 1), self.as_sent, self.find_button, self.compare)
        self._column = QVBoxLayout(self._right)
        arrange(self._column, head, self.sent, self.find_bar, (self._stack, 1))
        arrange(self._column, self._make_problem_line(), self.variables)
        self._head = head
        self.editor.textChanged.connect(self._on_typed)
        self.find_button.clicked.connect(self._find)
        self.compare.toggled.connect(self._on_compare)
        self.as_sent.toggled.connect(self._on_as_sent)
        self.variables.insert_requested.connect(self._on_insert)
        context = Qt.ShortcutContext.WidgetWithChildrenShortcut
        QShortcut(QKeySequence("Ctrl+F"), self, self._find, context=context)
        QShortcut(QKeySequence("Ctrl+H"), self, lambda: self._find(replace=True), context=context)

    def _make_problem_line(self) -> QHBoxLayout:
        self._problem_icon, self.problem = QLabel(self._right), ElidedLabel(self._right)
        self.problem.setObjectName("promptProblem")
        self.mend = QPushButton(self._right)
        self.mend.setObjectName("promptMend")
        mark(self.mend, kind="link")
        self.mend.setAutoDefault(False)
        self._size = ElidedLabel(self._right)
        self._size.setObjectName("promptSize")
        mark(self._size, role="secondary")
        row = arrange(QHBoxLayout(), self._problem_icon, self.problem, self.mend, 1, self._size)
        self.mend.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self._problem_row = row
        self.problem.clicked.connect(self._on_problem)
        self.mend.clicked.connect(self._on_mend)
        return row

    def _on_selected(self, item: QListWidgetItem | None) -> None:
        if item is None or self._drafts is None:
            return
        draft = self._drafts[item.data(_KEY)]
        self.key = draft.key
        self._show_editor()
        self._is_showing = True
        self.editor.set_content(draft.text)
        self._is_showing = False
        self._refresh_editor(draft)
        self.selected.emit(draft.key)

    def _on_typed(self) -> None:
        if not self._is_showing and self._drafts is not None and self.key:
            self._drafts.edit(self.key, self.editor.content())

    def _show_editor(self) -> None:
        self.compare.setChecked(False)
        self.as_sent.setChecked(False)

    def _on_insert(self, name: str) -> None:
        self._show_editor()
        self.editor.insert_variable(name)

    def _on_filter(self, text: str) -> None:
        wanted = text.strip().casefold()
        for row in range(self.list.count()):
            item = self.list.item(row)
            if item is not None:
                title = f"{item.data(_TITLE)} {item.data(_KEY)}"
                item.setHidden(wanted not in title.casefold())

    def _find(self, *, replace: bool = False) -> None:
        self._show_editor()
        self.find_bar.begin(replace=replace)

    def _on_compare(self, is_on: bool) -> None:
        if is_on and self._drafts is not None and self.key:
            self.as_sent.setChecked(False)
            draft = self._drafts[self.key]
            found = diff_texts(f"{draft.default_text}\n", f"{draft.text}\n", path=draft.key)
            same = self._services.language(msg("The text is the built-in one."))
            # The two lines of file names say nothing here.
            self.difference.setPlainText("\n".join(found.text.splitlines()[2:]) or same)
            self.find_bar.hide()
        self._stack.setCurrentIndex(1 if is_on else 0)

    def _on_as_sent(self, is_on: bool) -> None:
        self._filled = None
        if is_on and self._drafts is not None and self.key:
            self.compare.setChecked(False)
            self.find_bar.hide()
            draft = self._drafts[self.key]
            self._sent = self._prompting.last_sent(draft.task)
            # Shown first: a text that is set while hidden is not at its beginning.
            self._stack.setCurrentWidget(self.sent_text)
            self._show_as_sent("" if self._sent is None else self._sent.text)
            if self._sent is None:
                self._services.start(self._fill(draft), kind="fill a prompt")
        else:
            self._stack.setCurrentWidget(self.editor)
        self._refresh_sent()

    def _look(self) -> None:
        """A design may send the text while it is shown."""
        if self._drafts is None or not self.key or not self.isVisible():
            return
        if self._prompting.last_sent(self._drafts[self.key].task) is not self._sent:
            if self.as_sent.isChecked():
                self._on_as_sent(True)
            else:
                self._refresh_sent()

    async def _fill(self, draft: Draft) -> None:
        """Show what would be sent from the open project, with what was typed but not saved yet."""
        root, main, circuit = self._project, self._services.workspace.main_circuit, ""
        if root is not None and main is not None and main.is_relative_to(root):
            circuit = main.relative_to(root).as_posix()
        filled = await self._prompting.preview(
            root, draft.task, text=draft.text, variables=draft.variables, main_circuit=circuit
        )
        is_wanted = not sip.isdeleted(self) and self.key == draft.key and self.as_sent.isChecked()
        if is_wanted and self._sent is None:
            self._filled = filled
            self._show_as_sent(filled.text, missing=filled.missing)
            self._refresh_sent()

    def _show_as_sent(self, text: str, *, missing: tuple[str, ...] = ()) -> None:
        self.sent_text.set_variables(missing)
        self.sent_text.set_content(text)

    def _refresh_sent(self) -> None:
        """The line that says when the text was sent, and what it is filled with where it was not."""
        if self._drafts is None or not self.key:
            return
        draft = self._drafts[self.key]
        self._sent = self._prompting.last_sent(draft.task)
        for widget in (self.sent, self.as_sent):
            widget.setVisible(draft.has_variables)
        self.sent.setText("\n".join(map(self._services.language, self._sent_words())))

    def _sent_words(self) -> Iterator[Message]:
        sent = self._sent
        if sent is not None:
            time, node = clock_time(sent.at.isoformat()), node_of(sent.task)
            project = sent.project.name
            if sent.circuit:
                yield msg(
                    'Last sent: {time}, step "{node}", {circuit} in project {project}.',
                    time=time,
                    node=node,
                    circuit=sent.circuit,
                    project=project,
                )
            else:
                yield msg(
                    'Last sent: {time}, step "{node}", project {project}.',
                    time=time,
                    node=node,
                    project=project,
                )
            return
        yield msg("Not sent since the program started.")
        if self._filled is None:
            return
        if self._project is None:
            yield msg("No project is open; the marked names have no value.")
        elif self._filled.missing:
            yield msg(
                "Filled with the values of the open project. No value yet, marked: {names}.",
                names=", ".join(self._filled.missing),
            )
        else:
            yield msg("Filled with the values of the open project.")

    def _on_problem(self) -> None:
        problem = self._first_problem()
        if problem is not None and problem.end > problem.start:
            self._show_editor()
            self.editor.show_range(problem.start, problem.end)

    def _on_mend(self) -> None:
        problem = self._first_problem()
        if problem is not None and problem.suggestion:
            text = self.editor.content()[problem.start : problem.end]
            name, dot, rest = text[1:-1].partition(".")
            assert name
            self.editor.replace_range(problem.start, problem.end, f"{{{problem.suggestion}{dot}{rest}}}")

    def _first_problem(self) -> TextProblem | None:
        if self._drafts is None or not self.key:
            return None
        return next(iter(self._drafts[self.key].problems()), None)

    def _refresh_row(self, draft: Draft) -> None:
        say = self._services.language
        for row in range(self.list.count()):
            item = self.list.item(row)
            if item is not None and item.data(_KEY) == draft.key:
                badge = self._badge_of(draft)
                item.setData(_TITLE, say(draft.title))
                item.setData(_BADGE, badge)
                item.setData(_IS_MODIFIED, draft.is_modified)
                state = [badge, say(msg("not saved")) if draft.is_modified else ""]
                item.setData(
                    Qt.ItemDataRole.AccessibleTextRole,
                    ", ".join(part for part in (say(draft.title), *state) if part),
                )

    def _badge_of(self, draft: Draft) -> str:
        """ "custom" for what differs from the built-in text; free text has none."""
        shown = draft.is_custom and draft.has_variables
        return self._services.language(msg("custom")) if shown else ""

    def _refresh_editor(self, draft: Draft) -> None:
        say = self._services.language
        self._title.setText(say(draft.title))
        badge = self._badge_of(draft)
        self._badge.setText(badge)
        self._badge.setVisible(bool(badge))
        self._origin.show_text(say(draft.origin))
        self.editor.setPlaceholderText(say(draft.hint) if draft.hint else "")
        self.editor.setAccessibleName(say(draft.title))
        self.editor.set_variables([each.name for each in draft.variables] if draft.has_variables else None)
        self._refresh_sent()
        self.compare.setVisible(draft.has_variables)
        self.compare.setEnabled(draft.text != draft.default_text or self.compare.isChecked())
        self.variables.setVisible(draft.has_variables)
        self.variables.set_variables(
            draft.variables,
            may_change=draft.may_change_variables,
            can_remove=any(each.value is not None for each in draft.variables),
        )
        self._refresh_problem(draft)
        self._size.show_text(
            say(
                msg(
                    "{count} {count:character|characters}, about {tokens} {tokens:token|tokens}",
                    count=len(draft.text),
                    tokens=count_tokens(draft.text),
                )
            )
        )

    def _refresh_problem(self, draft: Draft) -> None:
        say = self._services.language
        problem = next(iter(draft.problems()), None)
        for widget in (self._problem_icon, self.problem):
            widget.setVisible(problem is not None)
        self.mend.setVisible(bool(problem and problem.suggestion))
        if problem is None:
            return
        is_red = problem.is_error or problem.end > problem.start
        theme = self._services.theme.theme
        icon = self._services.icons.get(
            "circle-x" if is_red else "triangle-alert", "error.icon" if is_red else "warn.icon"
        )
        self._problem_icon.setPixmap(
            icon.pixmap(QSize(theme.size("icon.default"), theme.size("icon.default")))
        )
        mark(self.problem, role="error" if is_red else "warn")
        self.problem.show_text(say(problem.message))
        if problem.suggestion:
            self.mend.setText(say(msg("Use {name}", name=f"{{{problem.suggestion}}}")))

    def restyle(self, _theme: object = None) -> None:
        theme, icons = self._services.theme.theme, self._services.icons
        space = theme.size
        self._left.setFixedWidth(theme.size("pane.left_default"))
        self._left_column.setContentsMargins(0, space("space.2"), space("control.splitter"), space("space.2"))
        self._left_column.setSpacing(space("space.2"))
        self._filter_row.setContentsMargins(space("space.2"), 0, space("space.2"), 0)
        self._column.setContentsMargins(
            space("space.4"), space("space.3"), space("space.4"), space("space.3")
        )
        self._column.setSpacing(space("space.2"))
        for row in (self._head, self._problem_row):
            row.setSpacing(space("space.2"))
        self._badge.setContentsMargins(space("space.1"), 0, space("space.1"), 0)
        self._filter_icon.setIcon(icons.get("search"))
        for button, icon in ((self.find_button, "search"), (self.compare, "git-compare")):
            button.setIcon(icons.get(icon))
            button.setIconSize(QSize(space("icon.default"), space("icon.default")))
        if self._drafts is not None and self.key:
            self._refresh_problem(self._drafts[self.key])
        self.list.scheduleDelayedItemsLayout()

    def retranslate(self, _language: str = "") -> None:
        say = self._services.language
        self.filter.setPlaceholderText(say(msg("Filter")))
        self.list.setAccessibleName(say(msg("Prompts")))
        tips: tuple[tuple[QToolButton, Message], ...] = (
            (self.find_button, msg("Find (Ctrl+F), replace (Ctrl+H)")),
            (self.compare, msg("Show differences from the built-in text")),
        )
        for button, tip in tips:
            button.setToolTip(say(tip))
            button.setAccessibleName(say(tip))
        self.as_sent.setText(say(msg("As sent")))
        self.as_sent.setToolTip(
            say(msg("Show the text as it was sent last; if it was not, with the values there are now"))
        )
        self.sent_text.setAccessibleName(say(msg("As sent")))
        if self._drafts is not None:
            for draft in self._drafts.of(self._name):
                self._refresh_row(draft)
            if self.key:
                self._refresh_editor(self._drafts[self.key])
        self._on_filter(self.filter.text())


class ElidedLabel(QLabel):
    """One line, cut with an ellipsis where there is no room; the whole is in its tooltip."""

    clicked = pyqtSignal()

    def __init__(self, parent: QWidget, *, takes_all: bool = False) -> None:
        """`takes_all`: it fills the room that is left; otherwise it takes what its text needs."""
        super().__init__(parent)
        self.whole = ""
        """The text without a cut."""
        wish = QSizePolicy.Policy.Ignored if takes_all else QSizePolicy.Policy.Maximum
        self.setSizePolicy(wish, QSizePolicy.Policy.Preferred)

    def show_text(self, text: str) -> None:
        self.whole = text
        self.setToolTip(text)
        self.updateGeometry()
        self._cut()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().horizontalAdvance(self.whole) + 1, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._cut()

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None:
            self.clicked.emit()

    def _cut(self) -> None:
        cut = self.fontMetrics().elidedText(self.whole, Qt.TextElideMode.ElideRight, self.width())
        if cut != self.text():
            self.setText(cut)


class _Row(QStyledItemDelegate):
    """Dot for what is not saved, title, badge."""

    def __init__(self, services: WindowServices, parent: QListWidget) -> None:
        super().__init__(parent)
        self._services = services

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex) -> QSize:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        return QSize(0, max(theme.size("row.list"), QFontMetrics(theme.font("ui")).height()))

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        if painter is None:
            return
        theme, box = self._services.theme.theme, option.rect
        state = option.state
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        if is_selected or state & QStyle.StateFlag.State_MouseOver:
            is_active = bool(state & QStyle.StateFlag.State_Active)
            selected = "surface.selected" if is_active else "surface.selected_inactive"
            painter.fillRect(box, theme.color(selected if is_selected else "surface.hover"))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        radius = theme.size("space.1") - 1
        if index.data(_IS_MODIFIED):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent.base"))
            painter.drawEllipse(
                QPoint(box.left() + theme.size("space.4"), box.center().y() + 1), radius, radius
            )
        right = box.right() - theme.size("space.2")
        badge = str(index.data(_BADGE) or "")
        if badge:
            right = self._paint_badge(
                painter, badge, QRect(box.left(), box.top(), right - box.left(), box.height())
            )
        text = QRect(box.left() + theme.size("space.6"), box.top(), 0, box.height())
        text.setRight(right - theme.size("space.2"))
        font = theme.font("ui", weight=600 if is_selected else None)
        painter.setFont(font)
        painter.setPen(theme.color("text.primary"))
        title = QFontMetrics(font).elidedText(
            str(index.data(_TITLE) or ""), Qt.TextElideMode.ElideRight, text.width()
        )
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)
        painter.restore()

    def _paint_badge(self, painter: QPainter, badge: str, area: QRect) -> int:
        """Draw it at the right end; returns where it begins."""
        theme = self._services.theme.theme
        font = theme.font("caption")
        metrics = QFontMetrics(font)
        size = QSize(metrics.horizontalAdvance(badge) + 2 * theme.size("space.1"), metrics.height() + 2)
        place = QRect(QPoint(area.right() - size.width(), area.center().y() - size.height() // 2 + 1), size)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("surface.pressed"))
        radius = theme.size("radius.small")
        painter.drawRoundedRect(place, radius, radius)
        painter.setFont(font)
        painter.setPen(theme.color("text.secondary"))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, badge)
        return place.left()
