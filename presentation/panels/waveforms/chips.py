"""The traces as chips above the plot: a sample of the line and the expression; one field adds another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from PyQt6.QtCore import QPoint, QRect, QSize, QStringListModel, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent, QResizeEvent
from PyQt6.QtWidgets import (
    QCompleter,
    QLineEdit,
    QMenu,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from presentation.panels.waveforms.trace_chip import TraceChip
from presentation.ui.frame import IconButton
from presentation.ui.matching import score_of
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_NARROWEST_FIELD = 80
_WIDEST_FIELD = 180
_MOST_OFFERED = 200
_MOST_ROWS = 2


class _Field(QLineEdit):
    """Where an expression is typed; Escape leaves it."""

    left = pyqtSignal()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class ChipRow(QWidget):
    """All chips, and the field that adds one: in two rows at most, the rest in a list behind "+3"."""

    keys_left = pyqtSignal()
    """a chip was touched, or the field closed: what is typed next is for the plot"""
    trace_added = pyqtSignal(str)
    trace_removed = pyqtSignal(str)
    trace_edited = pyqtSignal(str, str)
    """the expression it was, the one it is to be"""
    trace_renamed = pyqtSignal(str, str)
    """the expression, what it is to be called"""
    menu_wanted = pyqtSignal(str, QPoint)
    """of a trace, at a place on the screen"""
    figures_wanted = pyqtSignal(str)
    """of the shown span of a trace"""
    pane_wanted = pyqtSignal(str, QPoint)
    """a trace was let go elsewhere, at a place on the screen"""
    chip_pulled = pyqtSignal(str, QPoint)
    """it is on its way there"""
    place_wanted = pyqtSignal(str)
    """of a trace: where it stands in the circuit"""
    difference_wanted = pyqtSignal(str, str)
    """One trace was laid on another"""
    trace_selected = pyqtSignal(object)
    """expression: str, or None"""
    rows_changed = pyqtSignal()
    """it needs another height"""
    chips_changed = pyqtSignal()
    """there are other traces, which need another width"""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._chips: list[TraceChip] = []
        self.rows = 1
        """So many it has now."""
        self.more = QPushButton(self)
        """How many traces have no room; a click lists them."""
        self.more.setObjectName("more_traces")
        mark(self.more, small=True, chip=True)
        self.more.clicked.connect(self._show_more)
        self.menu = QMenu(self)
        self.add_button = IconButton(services, "plus", msg("Add trace"), name="add_trace")
        self.add_button.clicked.connect(self.begin_adding)
        self.add_button.setParent(self)
        self._edited: TraceChip | None = None
        """Over this one the field stands; None: it adds a trace."""
        self._is_renaming = False
        self.field = _Field(self)
        self.field.setObjectName("trace_expression")
        mark(self.field, small=True)
        self._names = QStringListModel()
        self._suggested: tuple[str, ...] = ()
        completer = QCompleter(self._names, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        # What is offered is sorted by us: letters in the right order are enough.
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        completer.activated.connect(self._on_picked)
        self.field.setCompleter(completer)
        self.field.hide()
        self.field.returnPressed.connect(self._on_entered)
        self.field.left.connect(self.end_adding)
        self.field.textEdited.connect(self._on_edited)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.restyle()
        self.retranslate()

    @property
    def chips(self) -> Sequence[TraceChip]:
        return self._chips

    def show_chips(
        self,
        traces: Sequence[tuple[str, int, Message | None]],
        selected: str | None,
        looks: Mapping[str, tuple[str, str, bool]] = MappingProxyType({}),
    ) -> None:
        """(expression, colour, error) of every trace; `looks`: name, line, whether it is at a right axis."""
        same = 0  # a chip that goes and comes back would lose the focus, and be styled anew
        while same < min(len(traces), len(self._chips)) and self._chips[same].trace == traces[same]:
            self._chips[same].setChecked(traces[same][0] == selected)
            same += 1
        for chip in self._chips[same:]:
            if chip is self._edited:
                self.end_adding()
            chip.hide()
            chip.deleteLater()
        self._chips[same:] = [self._made(*trace, selected) for trace in traces[same:]]
        for chip in self._chips:
            chip.set_look(*looks.get(chip.text(), ("", "", False)))
        self._place()
        self.chips_changed.emit()

    def needed(self, room: int) -> tuple[int, int]:
        """(traces without room, rows) in `room` pixels, while nothing is being added."""
        sizes, told = [chip.sizeHint() for chip in self._chips], self.more.text()
        shown, _, places = self._flow(sizes, (self.add_button, self.add_button.size()), room)
        self.more.setText(told)
        return len(sizes) - shown, min(places[-1][1] + 1, _MOST_ROWS)

    def suggest(self, names: Sequence[str]) -> None:
        self._suggested = tuple(names)
        self._offer("")

    def begin_adding(self) -> None:
        """Open the field, and the list of what there is."""
        self.begin_expression()
        self._offer("")
        completer = self.field.completer()
        popup = completer.popup() if completer is not None else None
        if completer is not None and popup is not None:
            # As wide as its names: the field itself is as narrow as a chip.
            wide = popup.sizeHintForColumn(0) + 2 * self._services.theme.theme.size("space.5")
            completer.complete(QRect(0, 0, max(self.field.width(), wide), self.field.height()))

    def begin_renaming(self, expression: str) -> None:
        """Open the field over a chip, with what it is called."""
        self.begin_editing(expression)
        if self._edited is not None:
            self._is_renaming = True
            self.field.setText(self._edited.shown_text)
            self.field.selectAll()

    def begin_editing(self, expression: str) -> None:
        """Open the field over a chip, with what it says."""
        self._is_renaming = False
        chip = next((chip for chip in self._chips if chip.text() == expression), None)
        if chip is None:
            return
        self._edited = chip
        self.field.setText(expression)
        mark(self.field, state="")
        self._names.setStringList([])
        self.field.show()
        self.field.raise_()
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._place()

    def begin_expression(self) -> None:
        self._edited, self._is_renaming = None, False
        self.field.clear()
        mark(self.field, state="")
        self.field.show()
        self.add_button.hide()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._place()

    def end_adding(self, expression: str | None = None) -> None:
        """Close the field, if it still says `expression` (None: in any case)."""
        if expression is not None and self.field.text().strip() != expression:
            return
        had_focus = self.field.hasFocus()
        self._edited, self._is_renaming = None, False
        self.field.hide()
        self.add_button.show()
        self._place()
        if had_focus:
            self.add_button.setFocus()
            self.keys_left.emit()

    def refuse(self) -> None:
        """What was typed cannot be drawn: it stays, to be mended."""
        mark(self.field, state="error")

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self.setFixedHeight(self.rows * theme.size("row.toolbar"))
        for chip in self._chips:
            chip.updateGeometry()
        self._place()

    def retranslate(self) -> None:
        self.field.setPlaceholderText("v(out)/v(in)")
        self.field.setAccessibleName(self._services.language(msg("Expression of a new trace")))
        for chip in self._chips:
            chip.retranslate()

    def _made(self, expression: str, color: int, error: Message | None, selected: str | None) -> TraceChip:
        chip = TraceChip(self._services, expression, color, error)
        chip.setParent(self)
        chip.setChecked(expression == selected)
        chip.clicked.connect(lambda checked: self._on_clicked(expression, is_checked=checked))
        chip.touched.connect(self.keys_left)
        chip.removed.connect(lambda: self.trace_removed.emit(expression))
        chip.edit_wanted.connect(lambda: self.begin_editing(expression))
        chip.figures_wanted.connect(lambda: self.figures_wanted.emit(expression))
        chip.place_wanted.connect(lambda: self.place_wanted.emit(expression))
        chip.dropped.connect(lambda place: self._on_dropped(expression, place))
        chip.pulled.connect(lambda place: self.chip_pulled.emit(expression, place))
        chip.menu_wanted.connect(lambda place: self.menu_wanted.emit(expression, place))
        return chip

    def _on_dropped(self, expression: str, place: QPoint) -> None:
        here = self.mapFromGlobal(place)
        under = next(
            (chip for chip in self._chips if chip.isVisible() and chip.geometry().contains(here)), None
        )
        if under is not None and under.text() != expression:
            self.difference_wanted.emit(expression, under.text())
        self.pane_wanted.emit(expression, place)

    def _on_clicked(self, expression: str, *, is_checked: bool) -> None:
        for chip in self._chips:
            chip.setChecked(is_checked and chip.text() == expression)
        self.trace_selected.emit(expression if is_checked else None)

    def _on_edited(self, text: str) -> None:
        mark(self.field, state="")
        if not self._is_renaming:
            self._offer(text)

    def _offer(self, text: str) -> None:
        """The suggestions that have the typed letters in their order, the best first."""
        wanted = "".join(text.split())
        scored = [
            (score, position, name)
            for position, name in enumerate(self._suggested)
            if (score := score_of(wanted, name)) is not None
        ]
        offered = [name for _, _, name in sorted(scored)[:_MOST_OFFERED]]
        # One that is whole needs no list over what comes next.
        self._names.setStringList([] if offered == [wanted] else offered)

    def _on_picked(self, name: str) -> None:
        self._tell(name)

    def _on_entered(self) -> None:
        self._tell(self.field.text().strip())

    def _tell(self, text: str) -> None:
        """What was typed or picked."""
        edited = None if self._edited is None else self._edited.text()
        if self._is_renaming and edited is not None:
            self.end_adding()
            self.trace_renamed.emit(edited, text)
            return
        if not text or text == edited:
            self.end_adding()
        elif edited is None:
            self.trace_added.emit(text)
        else:
            self.trace_edited.emit(edited, text)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """One row; it gets the width that is left."""
        return QSize(self._services.theme.theme.size("space.12") * 3, self.height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        return QSize(2 * theme.size("control.icon_button") + theme.size("space.12"), self.height())

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """Chips from left to right, then what adds one; what has no room is behind "+3"."""
        row = self._services.theme.theme.size("row.toolbar")
        sizes = [chip.sizeHint() for chip in self._chips]
        shown, parts, places = self._flow(sizes, (self._end(), self._end_size()), self.width())
        for number, chip in enumerate(self._chips):
            chip.setVisible(number < shown)
        self.more.setVisible(shown < len(self._chips))
        rows = min(places[-1][1] + 1, _MOST_ROWS)
        for (widget, size), (x, line) in zip(parts, places, strict=True):
            top = line * row + (row - size.height()) // 2
            widget.setGeometry(QRect(QPoint(x, top), size))
        if self._edited is not None:
            width = max(self._edited.width(), round(_WIDEST_FIELD * self._services.theme.theme.scale))
            left = max(min(self._edited.x(), self.width() - width), 0)
            self.field.setGeometry(left, self._edited.y(), width, self._edited.height())
        if rows != self.rows or self.height() != rows * row:
            self.rows = rows
            self.setFixedHeight(rows * row)
            self.rows_changed.emit()

    def _flow(
        self, sizes: Sequence[QSize], end: tuple[QWidget, QSize], room: int
    ) -> tuple[int, list[tuple[QWidget, QSize]], list[tuple[int, int]]]:
        """How many chips have room; these and what stands behind them; (x, row) of each."""
        theme = self._services.theme.theme
        gap = theme.size("space.2")
        for shown in range(len(self._chips), -1, -1):
            tail = [end]
            if shown < len(self._chips):
                self.more.setText(f"+{len(self._chips) - shown}")
                tail.insert(0, (self.more, self.more.sizeHint()))
            parts = [*zip(self._chips[:shown], sizes[:shown], strict=True), *tail]
            places = _flowed([size.width() for _, size in parts], room, gap)
            if places[-1] in ((0, 1), (0, _MOST_ROWS)):  # what adds one would stand alone in its row
                places = _flowed([size.width() for _, size in parts], room, theme.size("space.1"))
            if places[-1] == (0, 1) and len(parts) > 2:
                before, last = parts[-2][1].width(), parts[-1][1].width()
                if before + gap + last <= room:
                    places[-2:] = [(0, 1), (before + gap, 1)]
            if places[-1][1] < _MOST_ROWS or shown == 0:
                break
        return shown, parts, places

    def _end(self) -> QWidget:
        return self.field if self._is_adding() else self.add_button

    def _is_adding(self) -> bool:
        return not self.field.isHidden() and self._edited is None

    def _end_size(self) -> QSize:
        if not self._is_adding():
            return self.add_button.size()
        scale = self._services.theme.theme.scale
        width = min(max(self.width() // 3, round(_NARROWEST_FIELD * scale)), round(_WIDEST_FIELD * scale))
        return QSize(width, self.field.sizeHint().height())

    def _show_more(self) -> None:
        """The traces without room: a click brings one to the front of the row, and draws it stronger."""
        self.menu.clear()
        for chip in self._chips:
            if chip.isHidden():
                expression = chip.text()
                action = self.menu.addAction(expression)
                if action is not None:
                    action.setCheckable(True)
                    action.setChecked(chip.isChecked())
                    action.triggered.connect(lambda on, text=expression: self._on_listed(text, is_on=on))
        self.menu.popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def _on_listed(self, expression: str, *, is_on: bool) -> None:
        # By its words: a result that came while the menu was open has made all chips anew.
        chip = next((chip for chip in self._chips if chip.text() == expression), None)
        if chip is not None:
            self._chips.remove(chip)
            self._chips.insert(0, chip)
            self._place()
            self._on_clicked(expression, is_checked=is_on)


def _flowed(widths: Sequence[int], room: int, gap: int) -> list[tuple[int, int]]:
    """(x, row) of parts that stand one after the other and go on in the next row where one ends."""
    places: list[tuple[int, int]] = []
    x = line = 0
    for width in widths:
        if x and x + width > room:
            x, line = 0, line + 1
        places.append((x, line))
        x += width + gap
    return places
