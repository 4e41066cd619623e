"""Problems of the shown file and of the last run, each with its place as a link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal, Protocol

from PyQt6.QtCore import QAbstractListModel, QModelIndex, QPoint, QRect, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QContextMenuEvent, QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QLabel,
    QListView,
    QMenu,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from presentation.ui.parts import copy_text
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg, one_line

Severity = Literal["error", "warning", "info"]
_ICONS: dict[str, tuple[str, str]] = {
    "error": ("circle-x", "error.icon"),
    "warning": ("triangle-alert", "warn.icon"),
    "info": ("info", "info.icon"),
}


class Finding(Protocol):
    """What the editor and a run say about a place; their own types fit."""

    @property
    def severity(self) -> str:
        """error, warning or info."""

    @property
    def message(self) -> Message: ...

    @property
    def file(self) -> Path | None: ...

    @property
    def line(self) -> int | None:
        """From 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemRow:
    """One line of the list."""

    severity: str
    message: Message
    file: Path | None
    line: int | None
    advice: Message | None = None
    is_of_run: bool = False
    fix: Message | None = None
    """What mends it, as a link; `finding` then is the editor's."""
    finding: Finding | None = None


_BROKEN = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft)
_MAY_BREAK = "\u200b"
_NONE = msg("No problems in this file or in the last run.")
_CHANGED = msg("No problems in this file. It has been changed since the last run.")


class ProblemsView(QWidget):
    """The list: errors first. Enter, or a click, goes to the place; a click on what mends it does that."""

    counted = pyqtSignal(int)
    mend_wanted = pyqtSignal(object)
    """The editor's finding whose quick fix is to be carried out."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._of_file: tuple[ProblemRow, ...] = ()
        self._of_run: tuple[ProblemRow, ...] = ()
        self._none = _NONE
        self._run_circuit: Path | None = None
        self._texts: dict[Path, str] = {}
        """The text of each file when it was last looked at, or simulated."""
        services.workspace.run_started.connect(self._on_run_started)
        services.workspace.text_checked.connect(self._on_text)
        services.workspace.project_closed.connect(self._forget)
        self.setObjectName("problems")
        self._model = _Model(services)
        self.list = _List(services, self._model)
        self.list.chosen.connect(self._on_chosen)
        self.list.mended.connect(self._on_mended)
        self._empty = QLabel()
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        mark(self._empty, role="tertiary", surface="base")
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.list)
        services.dress(self)

    @property
    def rows(self) -> Sequence[ProblemRow]:
        return self._model.rows

    def show_of_file(self, problems: Sequence[Finding]) -> None:
        """The findings of the editor about the file it shows."""
        self._of_file = tuple(_row(problem, is_of_run=False) for problem in problems)
        self._refresh()

    def show_of_run(self, issues: Sequence[Finding], circuit: Path | None = None) -> None:
        """What the last run says, of `circuit`: errors, warnings, remarks. It goes when the text changes."""
        self._of_run = tuple(_row(issue, is_of_run=True) for issue in issues)
        self._none = _NONE
        self._run_circuit = circuit
        self._refresh()
        self.list.scrollToTop()  # what stopped it stands there

    def show_of_stored(
        self, issues: Sequence[Finding], circuit: Path | None, read: Mapping[Path, str]
    ) -> None:
        """The same of a run that read these files, by their SHA-256: the editor may have them as they were
        before they were changed for it."""
        if (buffers := self._services.workspace.buffers) is not None:
            self._texts.update(buffers.open_texts())
        for file in [each for each in self._texts if each in read]:
            if sha256(self._texts[file].encode(errors="replace")).hexdigest() != read[file]:
                del self._texts[file]
        self.show_of_run(issues, circuit)

    def _forget(self) -> None:
        self._texts.clear()
        self.show_of_run(())

    def _on_run_started(self, _circuit: Path) -> None:
        """A run may be over before the editor has looked at the text it was made of."""
        buffers = self._services.workspace.buffers
        if buffers is not None:
            self._texts.update(buffers.open_texts())

    def _on_text(self, file: Path, text: str) -> None:
        """What a run said of another text than the one that stands there now is no problem any more."""
        known, self._texts[file] = self._texts.get(file), text
        if known is None or known == text:
            return
        kept = tuple(row for row in self._of_run if (row.file or self._run_circuit) != file)
        if kept != self._of_run:
            self._of_run, self._none = kept, _CHANGED
            self._refresh()

    def restyle(self, _theme: object = None) -> None:
        edge = self._services.theme.theme.size("space.3")
        self._empty.setContentsMargins(edge, edge, edge, edge)
        self.list.reset()

    def retranslate(self, _name: object = None) -> None:
        language = self._services.language
        self.list.setAccessibleName(language(msg("Problems")))
        self._refresh()

    def _refresh(self) -> None:
        # The checker's words say more of a place than the simulator's, and have the remedy.
        told = {(row.file, row.line, row.severity) for row in self._of_file if row.line is not None}
        of_run = [row for row in self._of_run if (row.file, row.line, row.severity) not in told]
        said = {_said(row): row for row in of_run}
        # A library alone is less of a problem than in a circuit; what mends it is known where it is shown.
        mended = {_said(row): row for row in self._of_file if _said(row) in said}
        of_run = [
            replace(row, fix=same.fix, finding=same.finding) if (same := mended.get(_said(row))) else row
            for row in of_run
        ]
        fresh = [row for row in self._of_file if _said(row) not in said]
        order = {"error": 0, "warning": 1}
        rows = sorted(
            (*of_run, *fresh),
            key=lambda row: (order.get(row.severity, 2), str(row.file or ""), row.line or 0),
        )
        self._model.replace(rows)
        self._empty.setText(self._services.language(self._none))
        self._stack.setCurrentWidget(self.list if rows else self._empty)
        self.counted.emit(len(rows))
        errors, warnings = (sum(row.severity == kind for row in rows) for kind in ("error", "warning"))
        self._services.workspace.problems_changed.emit(errors, warnings)

    def step(self, by: int) -> None:
        """Go to the next problem (1) or the one before (-1) that has a place, round and round."""
        placed = [number for number, row in enumerate(self.rows) if row.file is not None]
        if not placed:
            self._services.workspace.status_changed.emit(self._none)
            return
        here = self.list.currentIndex().row()
        later = [number for number in (placed if by > 0 else placed[::-1]) if (number - here) * by > 0]
        number = later[0] if later and here >= 0 else placed[0 if by > 0 else -1]
        self.list.setCurrentIndex(self._model.index(number))
        self._on_chosen(self.rows[number])
        self._services.workspace.status_changed.emit(self.rows[number].message)

    def refusal(self) -> Message | None:
        """Why there is no next one."""
        has_any = any(row.file is not None for row in self.rows)
        return None if has_any else self._none

    def _on_chosen(self, row: ProblemRow) -> None:
        if row.file is not None:
            self._services.workspace.file_activated.emit(row.file, row.line)

    def _on_mended(self, row: ProblemRow) -> None:
        if row.finding is not None:
            self._on_chosen(row)  # before it is mended: the cursor goes along with its line
            self.mend_wanted.emit(row.finding)


def _said(row: ProblemRow) -> tuple[Path | None, int | None, str]:
    return row.file, row.line, str(row.message)


def _row(finding: Finding, *, is_of_run: bool) -> ProblemRow:
    fix = getattr(finding, "fix", None)
    return ProblemRow(
        severity=finding.severity,
        message=finding.message,
        file=finding.file,
        line=finding.line,
        advice=getattr(finding, "advice", None),
        is_of_run=is_of_run,
        fix=getattr(fix, "title", None),
        finding=None if fix is None else finding,
    )


class _Model(QAbstractListModel):
    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.rows: list[ProblemRow] = []

    def replace(self, rows: list[ProblemRow]) -> None:
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | None = None) -> int:  # noqa: N802 - Qt's name
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        text = self._services.language(row.message)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{place_of(row.file, row.line)} {text}".strip()
        if role == Qt.ItemDataRole.ToolTipRole:
            advice = "" if row.advice is None else f"\n{self._services.language(row.advice)}"
            return text + advice
        return None


class _List(QListView):
    """Rows: icon, place as a link, sentence, advice, what mends it as a link; long ones are broken."""

    chosen = pyqtSignal(object)
    mended = pyqtSignal(object)

    def __init__(self, services: WindowServices, model: _Model) -> None:
        super().__init__()
        self._services = services
        self._figures = model
        self.setModel(model)
        self.setObjectName("problem_list")
        self._delegate = _Delegate(services, model, self)
        self.setItemDelegate(self._delegate)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.clicked.connect(self._choose)
        services.shortcuts.answer(self, {"editor.quick_fix": self._mend_current})

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and (row := self._fix_at(event.pos())) is not None:
            self.setState(QAbstractItemView.State.NoState)
            self.mended.emit(row)
            return
        super().mouseReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        super().mouseMoveEvent(event)
        viewport = self.viewport()
        if event is not None and viewport is not None:
            is_link = self._fix_at(event.pos()) is not None
            viewport.setCursor(Qt.CursorShape.PointingHandCursor if is_link else Qt.CursorShape.ArrowCursor)

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:  # noqa: N802 - Qt's name
        """What can be done with the row under the pointer, or with the one that has the focus."""
        if event is None:
            return
        if event.reason() == event.Reason.Mouse:
            self.setCurrentIndex(self.indexAt(event.pos()))
        if self.currentIndex().isValid():
            self.menu(self._figures.rows[self.currentIndex().row()]).popup(event.globalPos())

    def menu(self, row: ProblemRow) -> QMenu:
        """Of one row: mend it, go to its place, copy what it says."""
        language, menu = self._services.language, QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if row.fix is not None:
            menu.addAction(language(row.fix), lambda: self.mended.emit(row))
            menu.addSeparator()
        if row.file is not None:
            menu.addAction(language(msg("Go to line")), lambda: self.chosen.emit(row))
        told = " ".join(filter(None, (place_of(row.file, row.line), language(row.message))))
        menu.addAction(language(msg("Copy")), lambda: copy_text(told))
        return menu

    def _fix_at(self, point: QPoint) -> ProblemRow | None:
        """The row whose link stands at a point."""
        index = self.indexAt(point)
        if not index.isValid() or (row := self._figures.rows[index.row()]).fix is None:
            return None
        return row if self._delegate.fix_place(row, self.visualRect(index)).contains(point) else None

    def _mend_current(self) -> None:
        index = self.currentIndex()
        row = self._figures.rows[index.row()] if index.isValid() else None
        if row is None or row.fix is None:
            self._services.workspace.status_changed.emit(msg("No quick fix for this line."))
        else:
            self.mended.emit(row)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(self._figures.rows[index.row()])


class _Delegate(QStyledItemDelegate):
    def __init__(self, services: WindowServices, model: _Model, parent: QListView) -> None:
        super().__init__(parent)
        self._services = services
        self._figures = model
        self._list = parent

    def sizeHint(self, _option: QStyleOptionViewItem, index: QModelIndex) -> QSize:  # noqa: N802
        """As high as the texts, broken at the list's width."""
        viewport = self._list.viewport()
        width = self._list.width() if viewport is None else viewport.width()
        return QSize(
            0, self._height(list(self._places(self._figures.rows[index.row()], QRect(0, 0, width, 0))))
        )

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        if painter is None or not index.isValid():
            return
        theme = self._services.theme.theme
        row = self._figures.rows[index.row()]
        rect = option.rect
        painter.save()
        is_selected = option.state & QStyle.StateFlag.State_Selected
        has_mouse = option.state & QStyle.StateFlag.State_MouseOver
        surface = "surface.selected" if is_selected else "surface.hover" if has_mouse else "surface.base"
        painter.fillRect(rect, theme.color(surface))
        icon, color = _ICONS.get(row.severity, _ICONS["info"])
        side = theme.size("icon.default")
        self._services.icons.get(icon, color, side).paint(
            painter,
            rect.left() + theme.size("space.3"),
            rect.top() + (self._least_height() - side) // 2 + 1,
            side,
            side,
        )
        for text, style, name, place in self._places(row, rect):
            painter.setFont(theme.font(style))
            painter.setPen(theme.color(name))
            painter.drawText(place, _BROKEN, text)
        painter.restore()

    def _least_height(self) -> int:
        theme = self._services.theme.theme
        return max(theme.size("row.table"), QFontMetrics(theme.font("ui")).height() + 4)

    def _height(self, places: Sequence[tuple[str, str, str, QRect]]) -> int:
        """Of a row whose texts stand at `places` below its top."""
        theme = self._services.theme.theme
        room = self._least_height() - QFontMetrics(theme.font("ui")).height()
        return max(
            (place.bottom() + 1 + (room + 1) // 2 for *_, place in places), default=self._least_height()
        )

    def fix_place(self, row: ProblemRow, rect: QRect) -> QRect:
        """Where the link to what mends a row stands."""
        *_, (*_, place) = self._places(row, rect)
        return place if row.fix is not None else QRect()

    def _places(self, row: ProblemRow, rect: QRect) -> Iterator[tuple[str, str, str, QRect]]:
        """Text, font, color and place of what a row says; advice and what mends it go below a sentence that
        leaves them too little room."""
        theme = self._services.theme.theme
        gap, least = theme.size("space.3"), self._least_height()
        metrics = QFontMetrics(theme.font("ui"))
        left = rect.left() + gap + theme.size("icon.default") + theme.size("space.2")
        top = rect.top() + (least - metrics.height()) // 2
        if place := place_of(row.file, row.line):
            of_place = QFontMetrics(theme.font("mono_small"))
            width = of_place.horizontalAdvance(place)
            down = metrics.ascent() - of_place.ascent()  # both stand on one line
            yield place, "mono_small", "text.link", QRect(left, top + down, width + 1, of_place.height())
            left += width + gap
        room = QRect(left, top, max(rect.right() - gap - left, least), 1 << 20)
        text = _breakable(self._services.language(row.message), metrics, room.width())
        said = metrics.boundingRect(room, _BROKEN, text)
        yield text, "ui", "text.primary", said.adjusted(0, 0, 1, 0)
        for more, color in ((row.advice, "text.tertiary"), (row.fix, "text.link")):
            if more is None:
                continue
            words = _breakable(self._services.language(more), metrics, room.width())
            width = metrics.horizontalAdvance(words) + 1
            beside = QRect(said.right() + gap, said.top(), width, metrics.height())
            if said.height() > metrics.height() or beside.right() > room.right():
                room.moveTop(said.bottom() + 1)
                beside = metrics.boundingRect(room, _BROKEN, words).adjusted(0, 0, 1, 0)
            yield words, "ui", color, beside
            said = beside


def _breakable(text: str, metrics: QFontMetrics, room: int) -> str:
    """With one blank between words; a word without room in a line (a path) may break anywhere."""
    words = text.split()
    return " ".join(
        _MAY_BREAK.join(each) if metrics.horizontalAdvance(each) > room else each for each in words
    )


def place_of(file: Path | None, line: int | None) -> str:
    """``filter.cir:14``, as a link shows it."""
    if file is None:
        return ""
    name = one_line(file.name)
    return name if line is None else f"{name}:{line}"
