"""Rows of the left pane: icon, name, and values right-aligned behind it; drawn from the tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from PyQt6.QtCore import QModelIndex, QPoint, QRect, QSize, Qt
from PyQt6.QtGui import QFont, QFontMetrics, QPainter
from PyQt6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTreeView

from presentation.ui.name_cut import cut_apart
from presentation.ui.workspace import WindowServices
from shared.message import one_line

# Rows paint their own background, over their full width; the style's would cover parts of it. Below
# them is the surface of the pane.
_NO_BACKGROUNDS = """
QTreeView, QTreeView:focus {
    background: transparent; selection-background-color: transparent; show-decoration-selected: 0;
}
QTreeView::item, QTreeView::item:hover, QTreeView::item:selected, QTreeView::item:selected:!active,
QTreeView::branch, QTreeView::branch:selected, QTreeView::branch:selected:!active,
QTreeView::branch:has-children:closed, QTreeView::branch:has-children:open {
    background: transparent; image: none;
}
"""


_UNDER_POINTER = QStyle.StateFlag.State_MouseOver
"""PyQt makes the enumerations of a class when the first is asked for: not while a row is painted."""
_NEAR = 20
"""Rows before and behind one from which its cut name is told apart."""


class Role(IntEnum):
    """What a model says of a row beside its name (`DisplayRole`) and tooltip."""

    LOOK = Qt.ItemDataRole.UserRole + 1
    """RowLook"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLook:
    """How a row is drawn; colours by their names in the tokens."""

    icon: str = ""
    icon_color: str = "text.secondary"
    weight: int = 400
    color: str = "text.primary"
    values: tuple[str, ...] = ()
    """Right-aligned, the last at the edge; the others keep to columns of `widths`."""
    widths: tuple[str, ...] = field(default=())
    """A sample text for each value but the last, as wide as its column."""
    value_style: str = "mono_small"
    value_color: str = "text.secondary"
    ends_with_place: bool = False
    """The value is a file and a line: the name gives way to it, and what is cut of it is its beginning."""
    kept: str = ""
    """What ends the beginning of the name that is never cut."""


class RowTree(QTreeView):
    """A tree (or a list) of such rows. Chevrons are ours: the style's do not follow the theme."""

    def __init__(self, services: WindowServices, name: str, *, is_list: bool = False) -> None:
        super().__init__()
        self._services = services
        self.setObjectName(name)
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setRootIsDecorated(not is_list)
        self._edge = "space.3" if is_list else "space.2"
        self.setFrameShape(QTreeView.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setMouseTracking(True)
        self.setItemDelegate(_RowDelegate(services, self))
        self.setStyleSheet(_NO_BACKGROUNDS)
        services.theme.changed.connect(self.restyle)
        self.restyle()

    @property
    def edge(self) -> int:
        """Room at the left of every row, its background not counted."""
        return self._services.theme.theme.size(self._edge)

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self.setFont(theme.font("ui"))
        self.setIndentation(theme.size("space.4") + theme.size("space.half"))
        self.scheduleDelayedItemsLayout()
        self.viewport().update()  # type: ignore[union-attr]  # a view has one from its start to its end

    def drawRow(  # noqa: N802 - Qt's name
        self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex
    ) -> None:
        """The background over the full width, then the row."""
        if painter is not None:
            theme = self._services.theme.theme
            if self.selectionModel() is not None and self.selectionModel().isSelected(index):  # type: ignore[union-attr]
                name = "surface.selected" if self.isActiveWindow() else "surface.selected_inactive"
                painter.fillRect(option.rect, theme.color(name))
            elif option.state & _UNDER_POINTER:
                painter.fillRect(option.rect, theme.color("surface.hover"))
        super().drawRow(painter, option, index)

    def drawBranches(self, painter: QPainter | None, rect: QRect, index: QModelIndex) -> None:  # noqa: N802
        """A chevron before what can be opened."""
        model = self.model()
        # A list's model has no children to be asked for, and says so by raising.
        if painter is None or model is None or not self.rootIsDecorated() or not model.hasChildren(index):
            return
        theme = self._services.theme.theme
        name = "chevron-down" if self.isExpanded(index) else "chevron-right"
        side = theme.size("icon.small")
        icon = self._services.icons.get(name, "text.secondary", side)
        left = self.edge + rect.right() - self.indentation() + (self.indentation() - side) // 2 + 1
        icon.paint(painter, left, rect.top() + (rect.height() - side) // 2, side, side)


class _RowDelegate(QStyledItemDelegate):
    """Paints `RowLook`."""

    def __init__(self, services: WindowServices, view: RowTree) -> None:
        super().__init__(view)
        self._services = services
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, _index: QModelIndex) -> QSize:  # noqa: N802
        """A row of the tokens, or higher when the type is."""
        theme = self._services.theme.theme
        height = QFontMetrics(theme.font("ui")).height() + theme.size("space.half") * 2
        return QSize(option.rect.width(), max(theme.size("row.tree"), height))

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        look = index.data(Role.LOOK)
        if painter is None or not isinstance(look, RowLook):
            return
        theme = self._services.theme.theme
        gap = theme.size("space.2")
        rect = option.rect.adjusted(self._view.edge, 0, -theme.size("space.3"), 0)
        if look.icon:
            side = theme.size("icon.default")
            icon = self._services.icons.get(look.icon, look.icon_color, side)
            icon.paint(painter, rect.left(), rect.top() + (rect.height() - side) // 2, side, side)
            rect.setLeft(rect.left() + side + gap)
        text = one_line(str(index.data(Qt.ItemDataRole.DisplayRole)))
        font = theme.font("ui", weight=look.weight)
        wanted = QFontMetrics(font).horizontalAdvance(text)
        rect.setRight(self._draw_values(painter, rect, look, wanted))
        painter.setFont(font)
        painter.setPen(theme.color(look.color))
        shown = cut_apart(QFontMetrics(font), text, rect.width(), _near(index), kept=look.kept)
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)

    def _draw_values(self, painter: QPainter, rect: QRect, look: RowLook, name_width: int) -> int:
        """Draw them from the right; returns where the room for the name ends."""
        if not look.values:
            return rect.right()
        theme = self._services.theme.theme
        font = _value_font(theme.font(look.value_style))
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(theme.color(look.value_color))
        gap, right = theme.size("space.3"), rect.right()
        values = list(enumerate(look.values))
        # Where there is no room for all, the last give way (they are in the tooltip), the first stays.
        while len(values) > 1 and _needed(metrics, values, gap) > rect.width() - name_width - gap:
            values.pop()
        share = rect.width() // 3 if look.ends_with_place else rect.width() * 2 // 3
        cut = Qt.TextElideMode.ElideLeft if look.ends_with_place else Qt.TextElideMode.ElideRight
        room = rect.width() - min(name_width, share) - gap
        for position, value in reversed(values):
            shown = metrics.elidedText(value, cut, max(room, 0))
            width = metrics.horizontalAdvance(shown)
            is_column = position > 0 and position - 1 < len(look.widths)
            cell = QRect(QPoint(right - width, rect.top()), QSize(width + 1, rect.height()))
            painter.drawText(cell, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, shown)
            step = max(width, metrics.horizontalAdvance(look.widths[position - 1]) if is_column else 0) + gap
            right -= step
            room -= step
        return right


def _near(index: QModelIndex) -> Iterator[str]:
    """The names of the rows around one: those of files stand in their order."""
    for row in range(max(index.row() - _NEAR, 0), index.row() + _NEAR + 1):
        near = index.siblingAtRow(row)
        if near.isValid():
            yield one_line(str(near.data(Qt.ItemDataRole.DisplayRole)))


def _needed(metrics: QFontMetrics, values: Sequence[tuple[int, str]], gap: int) -> int:
    return sum(metrics.horizontalAdvance(value) for _, value in values) + (len(values) - 1) * gap


def _value_font(font: QFont) -> QFont:
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def joined(parts: Sequence[str]) -> str:
    return "\n".join(part for part in parts if part)
