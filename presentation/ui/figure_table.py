"""A quiet table of figures: names in mono, numbers on one edge with their units dimmed behind them."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass

from PyQt6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QRect, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetrics, QKeyEvent, QKeySequence, QPainter
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from presentation.ui.name_cut import middle_cut, trace_cut
from presentation.ui.parts import copy_text
from presentation.ui.workspace import WindowServices
from shared.message import visible

_NARROW_TABLE = 4
"""So many columns, or fewer, stand as close as they can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One place of a table; colours and type by their names in the tokens."""

    text: str
    unit: str = ""
    style: str = "ui"
    color: str = "text.primary"
    swatch: str = ""
    """Colour of a square before the text; "none" keeps its room."""
    tip: str = ""
    unit_color: str = "text.secondary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column's head and manner."""

    title: str
    is_number: bool = False
    is_strong: bool = False
    """Its head in primary text."""
    swatch: str = ""
    """Colour of a line sample before the head of a column of numbers."""


def _in_words(cell: Cell) -> str:
    return visible(f"{cell.text}{'' if cell.unit == '°' else ' '}{cell.unit}".strip())


class _Model(QAbstractTableModel):
    """Rows as they were given."""

    def __init__(self) -> None:
        super().__init__()
        self.columns: Sequence[Column] = ()
        self.rows: Sequence[Sequence[Cell]] = ()

    def replace(self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
        """Show something else; the selection stays when the shape does, or when only rows are added."""
        is_same = len(rows) == len(self.rows) and len(columns) == len(self.columns)
        is_longer = 0 < len(self.rows) < len(rows) and list(columns) == list(self.columns)
        if is_longer and all(map(operator.eq, rows, self.rows)):
            self.beginInsertRows(QModelIndex(), len(self.rows), len(rows) - 1)
            self.columns, self.rows = columns, rows
            self.endInsertRows()
            return
        if not is_same:
            self.beginResetModel()
        self.columns, self.rows = columns, rows
        if is_same:
            if rows and columns:
                self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(columns) - 1))
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, max(len(columns) - 1, 0))
        else:
            self.endResetModel()

    def rowCount(self, parent: QModelIndex | None = None) -> int:  # noqa: N802 - Qt's name
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def columnCount(self, parent: QModelIndex | None = None) -> int:  # noqa: N802 - Qt's name
        return 0 if parent is not None and parent.isValid() else len(self.columns)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Texts, for the eye, for screen readers and for tests."""
        if not index.isValid():
            return None
        cell = self.rows[index.row()][index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return _in_words(cell)
        if role == Qt.ItemDataRole.ToolTipRole:
            return cell.tip or None
        return None

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation is Qt.Orientation.Horizontal and 0 <= section < len(self.columns):
            column = self.columns[section]
            if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
                return column.title
            if role == Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignRight if column.is_number else Qt.AlignmentFlag.AlignLeft
                return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None


_LEAST_SHARE = 6
"""The widest column keeps this part of the table's width; figures come before names."""


class FigureTable(QTableView):
    """The table. Ctrl+C copies it with tabs between the columns."""

    heads_clicked = pyqtSignal(int)
    """the column whose head was clicked"""

    def __init__(self, services: WindowServices, name: str, *, wide_column: int = 0) -> None:
        """`wide_column` takes what room the others leave."""
        super().__init__()
        self._services = services
        self._wide = wide_column
        self._model = _Model()
        self.setModel(self._model)
        self.setObjectName(name)
        self._delegate = _Delegate(services, self._model, self)
        self.setItemDelegate(self._delegate)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        side = self.verticalHeader()
        assert side is not None
        side.hide()
        self._side = side
        self._head = _Head(services, self._model)
        self.setHorizontalHeader(self._head)
        self._head.sectionClicked.connect(self.heads_clicked)
        self._head.setSectionsClickable(True)
        self.restyle()
        services.theme.changed.connect(self.restyle)

    @property
    def rows(self) -> Sequence[Sequence[Cell]]:
        return self._model.rows

    @property
    def name_share(self) -> float:
        """What the widest column has of the width, where it is cut; 1 where everything is seen whole."""
        viewport = self.viewport()
        if not self._model.columns or viewport is None:
            return 1.0
        wide = min(self._wide, len(self._model.columns) - 1)
        width = self._head.sectionSize(wide)
        is_whole = width >= self._delegate.column_width(wide)
        return 1.0 if is_whole else width / max(viewport.width(), 1)

    def cut_rows(self) -> list[int]:
        """The rows whose name, in the first column, is cut."""
        widths = [self._head.sectionSize(column) for column in range(len(self._model.columns))]
        return [
            number
            for number, row in enumerate(self._model.rows)
            if self._delegate.is_cut(row[0], sum(widths[: self.columnSpan(number, 0)]))
        ]

    def show_rows(self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
        self._model.replace(columns, rows)
        self._delegate.measure()
        self._set_widths()

    def selected_rows(self) -> list[int]:
        selection = self.selectionModel()
        return [] if selection is None else sorted(index.row() for index in selection.selectedRows())

    def wanted_height(self, rows: int | None = None) -> int:
        """Of all rows, or of so many, and their heads."""
        row = self._side.defaultSectionSize()
        return row * (len(self._model.rows) if rows is None else rows) + self._head.height() + 1

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        row = max(theme.size("row.table"), QFontMetrics(theme.font("ui")).height() + 4)
        self._side.setMinimumSectionSize(row)
        self._side.setDefaultSectionSize(row)
        self._delegate.measure()
        self._set_widths()

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._set_widths()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Copy; the first arrow key takes the row that has the focus (Qt would leave it out)."""
        current = self.currentIndex()
        if event is not None and event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif (
            event is not None
            and event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up)
            and current.isValid()
            and not self.selected_rows()
        ):
            self.selectRow(current.row())
        else:
            super().keyPressEvent(event)

    def copy(self) -> None:
        """The selected rows (or all) to the clipboard, tabs between the columns."""
        copy_text(self.as_text(self.selected_rows()))

    def as_text(self, chosen: Sequence[int] = ()) -> str:
        """Heads and rows (all without `chosen`), tabs between the columns."""
        lines = ["\t".join(column.title for column in self._model.columns)]
        for row in chosen or range(len(self._model.rows)):
            lines.append("\t".join(map(_in_words, self._model.rows[row])))
        return "\n".join(lines)

    def _set_widths(self) -> None:
        columns = self._model.columns
        viewport = self.viewport()
        if not columns or viewport is None:
            return
        room = viewport.width()
        wide = min(self._wide, len(columns) - 1)
        widths = self._wanted_widths(room, wide, is_tall=False)
        is_tall = sum(widths) > room and any(len(head_lines(column.title)) > 1 for column in columns)
        if is_tall:
            widths = self._wanted_widths(room, wide, is_tall=True)
        row = self._side.defaultSectionSize()
        self._head.is_tall = is_tall
        self._head.setFixedHeight(
            row + QFontMetrics(self._services.theme.theme.font("small")).height() * is_tall
        )
        # Where all do not fit, heads that are longer than their figures are cut: no figure goes out of sight.
        spare = [max(width - self._delegate.figures_width(number), 0) for number, width in enumerate(widths)]
        spare[wide] = 0
        missing = min(sum(widths) - room, sum(spare))
        if missing > 0:
            widths = [
                width - math.ceil(each * missing / sum(spare))
                for width, each in zip(widths, spare, strict=True)
            ]
        for number, width in enumerate(widths):
            self._head.resizeSection(number, width)

    def _wanted_widths(self, room: int, wide: int, *, is_tall: bool) -> list[int]:
        """Of the columns, the widest one with what the others leave of `room`."""
        widths = [
            self._delegate.column_width(number, is_tall=is_tall) for number in range(len(self._model.columns))
        ]
        rest = sum(widths) - widths[wide]
        widths[wide] = max(room - rest, min(widths[wide], room // _LEAST_SHARE))
        return widths


def _name_in(width: int, cell: Cell, metrics: QFontMetrics) -> str:
    """What is shown of a name in so many pixels: it gives way, its unit does not."""
    gap = metrics.horizontalAdvance(" ")
    room = width - gap - (metrics.horizontalAdvance(cell.unit) + gap if cell.unit else 0)
    # Of an expression, a trace or a file's name both ends tell; words are read from their beginning.
    is_code = cell.style.startswith("mono") or cell.swatch not in ("", "none")
    text = visible(cell.text)
    return trace_cut(metrics, text, room) if is_code else _words_in(room, text, metrics)


def _words_in(room: int, text: str, metrics: QFontMetrics) -> str:
    """Words in so many pixels: what stands behind their last comma goes before a word is cut."""
    first, comma, last = text.rpartition(", ")
    has_more = comma and "(" not in last  # a condition is never left out
    if has_more and metrics.horizontalAdvance(text) > room >= metrics.horizontalAdvance(first):
        return first
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)


def head_lines(title: str) -> list[str]:
    """A head where a line has no room for it: the name, and below it the unit."""
    return title.rsplit(" / ", 1)


class _Head(QHeaderView):
    """Heads in small type on one line, or on two."""

    def __init__(self, services: WindowServices, model: _Model) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._services = services
        self._figures = model
        self.is_tall = False
        self.setMinimumSectionSize(1)
        self.setSectionsClickable(False)

    def paintSection(self, painter: QPainter | None, rect: QRect, index: int) -> None:  # noqa: N802
        if painter is None or index >= len(self._figures.columns):
            return
        theme = self._services.theme.theme
        column = self._figures.columns[index]
        painter.save()
        painter.fillRect(rect, theme.color("surface.base"))
        painter.setFont(theme.font("small", weight=600 if column.is_strong else None))
        painter.setPen(theme.color("text.primary" if column.is_strong else "text.secondary"))
        pad = theme.size("space.3") if index == 0 else 0
        right = theme.size("space.3") if index == len(self._figures.columns) - 1 else 0
        side = Qt.AlignmentFlag.AlignRight if column.is_number else Qt.AlignmentFlag.AlignLeft
        apart = theme.size("space.2") if index else 0  # from the head before, where both are cut
        inner = rect.adjusted(apart if column.is_number else pad, 0, -right, 0)
        metrics = painter.fontMetrics()
        lines = head_lines(column.title) if self.is_tall else [column.title]
        # That of a column of names may end in a file's, of which the middle goes.
        shown = [
            metrics.elidedText(each, Qt.TextElideMode.ElideRight, inner.width())
            if column.is_number
            else middle_cut(metrics, each, inner.width())
            for each in lines
        ]
        painter.drawText(inner, side | Qt.AlignmentFlag.AlignVCenter, "\n".join(shown))
        if column.swatch:
            text = metrics.horizontalAdvance(column.title)
            sample = theme.size("space.3")
            left = max(inner.right() - text - sample - theme.size("space.2"), rect.left())
            painter.fillRect(left, rect.center().y(), sample, 2, theme.color(column.swatch))
        painter.fillRect(rect.left(), rect.bottom(), rect.width(), 1, theme.color("border.divider"))
        painter.restore()


# PyQt makes all enumerations of a class when one is first asked for: some 5 ms that no paint is to wait for.
_SELECTED, _ACTIVE = QStyle.StateFlag.State_Selected, QStyle.StateFlag.State_Active
_NARROW_SIGNS = 3
"""So many characters a longer figure may have that are narrower than a digit: a point, a space, a sign."""


class _Delegate(QStyledItemDelegate):
    """Draws cells: numbers right-aligned before the room of their column's units."""

    def __init__(self, services: WindowServices, model: _Model, parent: FigureTable) -> None:
        super().__init__(parent)
        self._services = services
        self._figures = model
        self._widths: dict[tuple[int, bool], int] = {}
        self._bodies: dict[int, int] = {}
        self._unit_rooms: dict[int, int] = {}
        self._metrics: dict[str, QFontMetrics] = {}

    def measure(self) -> None:
        """Other cells or other type: what was measured of a column is measured again when it is asked for."""
        self._widths.clear()
        self._bodies.clear()
        self._unit_rooms.clear()
        self._metrics.clear()

    def column_width(self, column: int, *, is_tall: bool = False) -> int:
        """What the widest cell of a column and its head need, the head on two lines where it is tall."""
        width = self._widths.get((column, is_tall))
        if width is None:
            width = self._widths[column, is_tall] = self._measured_width(column, is_tall=is_tall)
        return width

    def figures_width(self, column: int) -> int:
        """What its widest cell needs, without its head."""
        theme = self._services.theme.theme
        body = self._body(column)
        edge = theme.size("space.3") if column in (0, len(self._figures.columns) - 1) else 0
        return body + self._unit_room(column) + theme.size("space.2") + edge + self._gap(column)

    def _body(self, column: int) -> int:
        """What its widest text needs; measured once, as there may be thousands of rows."""
        body = self._bodies.get(column)
        if body is None:
            cells = {
                (each.text, each.style, bool(each.swatch)): each
                for row in self._figures.rows
                for each in (row[column],)
            }
            is_even = all(style.startswith("mono") and text.isascii() for text, style, _ in cells)
            if is_even or self._figures.columns[column].is_number:  # of one width: the longer ones decide
                longest = max((len(text) for text, _, _ in cells), default=0)
                cells = {key: each for key, each in cells.items() if len(key[0]) >= longest - _NARROW_SIGNS}
            body = max(map(self._text_width, cells.values()), default=0)
            self._bodies[column] = body
        return body

    def _measured_width(self, column: int, *, is_tall: bool) -> int:
        theme = self._services.theme.theme
        head = self._figures.columns[column]
        metrics = QFontMetrics(theme.font("small", weight=600 if head.is_strong else None))
        body = self._body(column)
        # A pixel more than a rounded width: a head is cut as soon as a fraction of one is lacking.
        lines = head_lines(head.title) if is_tall else [head.title]
        longest = max(metrics.horizontalAdvance(each) for each in lines)
        more = longest + 1 - body - self._unit_room(column)
        return self.figures_width(column) + max(more, 0)

    def _gap(self, column: int) -> int:
        """Before numbers that are not the only ones: columns of their own need air."""
        is_wide_table = len(self._figures.columns) > _NARROW_TABLE
        return self._services.theme.theme.size("space.3") if is_wide_table and column else 0

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        if painter is None or not index.isValid():
            return
        theme = self._services.theme.theme
        cell = self._figures.rows[index.row()][index.column()]
        column = self._figures.columns[index.column()]
        rect = option.rect
        painter.save()
        surface = "surface.base"
        if option.state & _SELECTED:
            has_focus = bool(option.state & _ACTIVE)
            surface = "surface.selected" if has_focus else "surface.selected_inactive"
        # Always filled: what the style has put there is not asked for.
        painter.fillRect(rect, theme.color(surface))
        is_last = index.column() == len(self._figures.columns) - 1
        inner = rect.adjusted(
            theme.size("space.3") if index.column() == 0 else 0,
            0,
            -theme.size("space.3") if is_last else 0,
            0,
        )
        if cell.swatch:
            inner = self._paint_swatch(painter, cell, inner)
        painter.setFont(
            theme.tabular(cell.style) if not cell.style.startswith("mono") else theme.font(cell.style)
        )
        painter.setPen(theme.color(cell.color))
        if column.is_number:
            self._paint_number(painter, cell, inner, self._unit_room(index.column()))
        else:
            self._paint_name(painter, cell, inner)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:  # noqa: N802
        """The height of a row; widths come from the table."""
        return QSize(self.column_width(index.column()), option.rect.height())

    def _paint_swatch(self, painter: QPainter, cell: Cell, inner: QRect) -> QRect:
        theme = self._services.theme.theme
        side = theme.size("space.2")
        if cell.swatch != "none":
            place = QRectF(inner.left(), inner.center().y() - side / 2 + 1, side, side)
            painter.fillRect(place, theme.color(cell.swatch))
        return inner.adjusted(side + theme.size("space.2"), 0, 0, 0)

    def is_cut(self, cell: Cell, width: int) -> bool:
        """Whether a name has not room enough in a first column of so many pixels."""
        theme = self._services.theme.theme
        inner = width - theme.size("space.3") - (2 * theme.size("space.2") if cell.swatch else 0)
        return "…" in _name_in(inner, cell, self._metrics_of(cell.style)) and "…" not in cell.text

    def _paint_name(self, painter: QPainter, cell: Cell, inner: QRect) -> None:
        metrics = painter.fontMetrics()
        gap = metrics.horizontalAdvance(" ")
        shown = _name_in(inner.width(), cell, metrics)
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        if cell.unit:
            painter.setPen(self._services.theme.theme.color("text.secondary"))
            behind = inner.adjusted(metrics.horizontalAdvance(shown) + gap, 0, 0, 0)
            painter.drawText(behind, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, cell.unit)

    def _paint_number(self, painter: QPainter, cell: Cell, inner: QRect, unit_room: int) -> None:
        theme = self._services.theme.theme
        number = inner.adjusted(0, 0, -unit_room, 0)
        painter.drawText(
            number, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, visible(cell.text)
        )
        if cell.unit:
            painter.setPen(theme.color(cell.unit_color))
            is_close = cell.unit == "°" or (cell.unit == "%" and self._services.language.name == "zh")
            left = number.right() + 1 + (0 if is_close else theme.size("space.1"))
            behind = QRect(left, inner.top(), unit_room, inner.height())
            painter.drawText(behind, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, cell.unit)

    def _text_width(self, cell: Cell) -> int:
        theme = self._services.theme.theme
        swatch = theme.size("space.4") if cell.swatch else 0
        return self._metrics_of(cell.style).horizontalAdvance(cell.text) + swatch

    def _metrics_of(self, style: str) -> QFontMetrics:
        metrics = self._metrics.get(style)
        if metrics is None:
            metrics = self._metrics[style] = QFontMetrics(self._services.theme.theme.tabular(style))
        return metrics

    def _unit_room(self, column: int) -> int:
        """The widest unit of a column, and the gap before it."""
        room = self._unit_rooms.get(column)
        if room is None:
            room = self._unit_rooms[column] = self._measured_unit_room(column)
        return room

    def _measured_unit_room(self, column: int) -> int:
        units = {row[column].unit for row in self._figures.rows} - {""}
        if not units:
            return 0
        metrics = QFontMetrics(self._services.theme.theme.font("ui"))
        if not self._figures.columns[column].is_number:  # in the type of its name
            metrics = self._metrics_of(self._figures.rows[0][column].style)
        widest = max(map(metrics.horizontalAdvance, units))
        return widest + self._services.theme.theme.size("space.1") if widest else 0


def is_delete(event: QEvent | None) -> bool:
    """Whether a key asks to remove what is selected."""
    return (
        isinstance(event, QKeyEvent)
        and event.type() == QEvent.Type.KeyPress
        and event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
    )
