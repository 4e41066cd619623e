"""The legend of a family: its runs by their values, ticked where they are drawn, one of them read."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial

from PyQt6.QtCore import QPoint, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QIcon, QPainter, QPixmap
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QListWidget, QListWidgetItem, QMenu, QVBoxLayout, QWidget

from domain.circuit.stepping import step_value
from domain.simulation.waveform import Plot, Step
from presentation.panels.waveforms.family import step_label, stepped_names
from presentation.ui.parts import arrange, push_button
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import msg

_NARROWEST, _WIDEST = 108, 200
_STEPS = Qt.ItemDataRole.UserRole


class FamilyRuns(QWidget):
    """Which runs are drawn, and which one the cursors read."""

    drawn_changed = pyqtSignal()
    """others are ticked"""
    left = pyqtSignal()
    """what is typed next is for the plot"""
    read_wanted = pyqtSignal(object)
    """the cursors should read this Plot"""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._family: tuple[Plot, ...] = ()
        """In the order of the values."""
        self._read: Plot | None = None
        self._left_out: set[int] = set()
        """Numbers of the runs that are not drawn."""
        self._is_wanted = True
        self._colors: Sequence[QColor] = ()
        self._filling = False
        self.setObjectName("family_runs")
        self._title = QLabel()
        mark(self._title, role="small")
        self._all = push_button(name="all_runs", clicked=lambda _checked: self._tick_all(), kind="link")
        self.list = QListWidget()
        self.list.setObjectName("runs_of_family")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.itemChanged.connect(self._on_ticked)
        self.list.itemClicked.connect(self._on_clicked)
        self.list.itemActivated.connect(self._on_clicked)
        self.list.itemDoubleClicked.connect(lambda item: self.only(item.data(_STEPS)))
        self.list.customContextMenuRequested.connect(self._show_menu)
        self._head = arrange(QHBoxLayout(), (self._title, 1), self._all)
        arrange(QVBoxLayout(self), self._head, (self.list, 1), edges=(1, 0, 0, 0), gap=0)
        mark_area(self, surface="base", line="left")
        self.hide()

    @property
    def left_out(self) -> frozenset[int]:
        """The runs that are not drawn, by number."""
        return frozenset(self._left_out)

    @property
    def acts(self) -> dict[str, Callable[[], object]]:
        """What keys and menus do, by the names of the table of actions."""
        return {
            "plot.steps": self.switch,
            "plot.step_before": partial(self.walk, -1),
            "plot.step_after": partial(self.walk, 1),
        }

    def show_family(
        self, family: tuple[Plot, ...], read: Plot | None, colors: Sequence[QColor], *, has_room: bool
    ) -> None:
        """The runs of the drawing; () for none. `colors` has one for each."""
        before = [(_step_of(plot).number, _step_of(plot).values) for plot in self._family]
        now = [(_step_of(plot).number, _step_of(plot).values) for plot in family]
        is_same = now == before
        has_grown = bool(before) and all(run in now for run in before)
        if not has_grown:
            self._left_out.clear()
        former = dict(zip((number for number, _ in before), self._colors, strict=False))
        self._family, self._read = family, read
        if not is_same or list(colors) != list(self._colors):
            self._colors = list(colors)
            here = {number: color for (number, _), color in zip(now, self._colors, strict=False)}
            if has_grown and all(here[number] == color for number, color in former.items()):
                self._add_missing(former)
            else:
                self._fill()
        self._mark_read()
        self.setVisible(bool(family) and self._is_wanted and has_room)

    def switch(self) -> None:
        """Show the legend, with the keyboard in it; where it has that already, hide it."""
        if not self._family:
            return
        self._is_wanted = self.isHidden() or not self.list.hasFocus()
        if self._is_wanted:
            self.show()
            self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            self.left.emit()
            self.hide()

    def walk(self, by: int) -> None:
        """Read the next run of those that are drawn, in the order of the values."""
        drawn = [plot for plot in self._family if _step_of(plot).number not in self._left_out]
        if self._read in drawn:
            at = drawn.index(self._read) + by
            if 0 <= at < len(drawn):
                self.read_wanted.emit(drawn[at])

    def only(self, number: int) -> None:
        """Draw one run alone."""
        self._set({_step_of(plot).number for plot in self._family} - {number})

    def tick(self, number: int, *, is_on: bool) -> None:
        """Draw a run, or leave it out; the last one stays."""
        numbers = {_step_of(plot).number for plot in self._family}
        left_out = self._left_out - {number} if is_on else self._left_out | {number}
        self._set(left_out if left_out != numbers else self._left_out)

    def retranslate(self) -> None:
        say = self._services.language
        self._all.setText(say(msg("All runs")))
        self.list.setAccessibleName(say(msg("Runs of this circuit")))

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        self._head.setContentsMargins(theme.size("space.2"), 0, theme.size("space.2"), 0)
        self._title.setMinimumHeight(theme.size("row.table"))
        self._fill()

    def _tick_all(self) -> None:
        self._set(set())

    def _set(self, left_out: set[int]) -> None:
        changed = left_out != self._left_out
        self._left_out = set(left_out)
        self._show_ticks()
        if not changed:
            return
        if self._read is not None and _step_of(self._read).number in left_out:
            first = next((plot for plot in self._family if _step_of(plot).number not in left_out), None)
            if first is not None:
                self.read_wanted.emit(first)
                return
        self.drawn_changed.emit()

    def _fill(self) -> None:
        theme = self._services.theme.theme
        self._filling = True
        self.list.clear()
        self._filling = False
        self.list.setIconSize(QSize(theme.size("space.4"), theme.size("icon.small")))
        self._add_missing({})

    def _add_missing(self, there: Container[int]) -> None:
        """Rows for the runs that have none yet (`there`: the numbers of those that have)."""
        theme = self._services.theme.theme
        self._filling = True
        for row, (plot, color) in enumerate(zip(self._family, self._colors, strict=False)):
            step = _step_of(plot)
            if step.number in there:
                continue
            item = QListWidgetItem(self._sample(color), _short(step))
            item.setData(_STEPS, step.number)
            item.setToolTip(f"{step_label(step)}\n@{step.number}")
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            self.list.insertItem(row, item)
        self._filling = False
        self._title.setText(stepped_names(self._family))
        self._show_ticks()
        wanted = self.list.sizeHintForColumn(0) + theme.size("space.6")
        width = min(max(wanted, round(_NARROWEST * theme.scale)), round(_WIDEST * theme.scale))
        self.setFixedWidth(width)
        self._mark_read()

    def _sample(self, color: QColor) -> QIcon:
        size = self.list.iconSize()
        ratio = self.devicePixelRatioF()
        picture = QPixmap(size * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.fillRect(QRectF(0, size.height() / 2 - 1, size.width(), 2.5), color)
        painter.end()
        return QIcon(picture)

    def _show_ticks(self) -> None:
        self._filling = True
        for row in range(self.list.count()):
            item = self.list.item(row)
            if item is not None:
                is_out = item.data(_STEPS) in self._left_out
                item.setCheckState(Qt.CheckState.Unchecked if is_out else Qt.CheckState.Checked)
        self._filling = False
        self._all.setVisible(bool(self._left_out))

    def _mark_read(self) -> None:
        self._filling = True
        number = 0 if self._read is None or self._read.step is None else self._read.step.number
        for row in range(self.list.count()):
            item = self.list.item(row)
            if item is not None:
                font = item.font()
                font.setBold(item.data(_STEPS) == number)
                item.setFont(font)
        self._filling = False

    def _on_ticked(self, item: QListWidgetItem) -> None:
        if not self._filling:
            self.tick(item.data(_STEPS), is_on=item.checkState() is Qt.CheckState.Checked)

    def _on_clicked(self, item: QListWidgetItem) -> None:
        """The cursors read the run whose name is clicked."""
        self._read_run(item.data(_STEPS))

    def _read_run(self, number: int) -> None:
        plot = next((each for each in self._family if _step_of(each).number == number), None)
        if plot is not None and plot is not self._read and number not in self._left_out:
            self.read_wanted.emit(plot)

    def _show_menu(self, place: QPoint) -> None:
        item = self.list.itemAt(place)
        if item is None:
            return
        say, number = self._services.language, item.data(_STEPS)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(say(msg("Only this run")), partial(self.only, number))
        menu.addAction(say(msg("All runs")), self._tick_all)
        menu.addAction(say(msg("Read the cursors in this run")), partial(self._read_run, number))
        menu.popup(self.list.mapToGlobal(place))


def _step_of(plot: Plot) -> Step:
    assert plot.step is not None, "a family has runs of a .step"
    return plot.step


def _short(step: Step) -> str:
    """Values alone, where the names stand above; ``#3`` where nobody wrote them down."""
    values = [step_value(value) for value in step.values.values()]
    return ", ".join(values) or f"#{step.number}"
