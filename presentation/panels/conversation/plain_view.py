"""The conversation as rich text, where no web view can be had: the same rows, with links for buttons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from PyQt6.QtCore import QTimer, QUrl, pyqtSignal
from PyQt6.QtGui import (
    QBrush,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFrame,
    QTextFrameFormat,
    QTextLength,
)
from PyQt6.QtWidgets import QTextBrowser, QVBoxLayout, QWidget

from presentation.panels.conversation.charts import Chart
from presentation.panels.conversation.empty import EmptyPage
from presentation.panels.conversation.items import (
    MARKED_MS,
    Added,
    Change,
    Item,
    Removed,
    Reset,
    Retry,
    ScrollPlace,
    SimulationCard,
    Steps,
    Streamed,
    Updated,
)
from presentation.panels.conversation.markup import BlockSplitter, whole_block_html
from presentation.panels.conversation.names import Names
from presentation.panels.conversation.plain_items import Folds, PlainItems
from presentation.panels.conversation.plain_parts import ICON_SIDE, bar_picture, chart_picture
from presentation.panels.conversation.rows import row_of
from presentation.ui.parts import SpokenName, arrange
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import msg, visible

_SYNTAX = ("comment", "directive", "element", "node", "value", "param", "string")
_FIRST_ITEMS = 40
"""Shown at once of a stored conversation; the earlier ones follow in slices above them."""
_SLICE = 24
_UNASKED = 400
"""Rows that come above by themselves; those before them when somebody scrolls up to where they would be."""
_MOST_SHOWN = _FIRST_ITEMS + _UNASKED + 2 * _SLICE
"""Rows that are kept while the end is in sight. With more the document is made anew with the newest: one that
only loses rows keeps the formats of all it ever had. Those above come again to whoever scrolls up to them."""
_ASKED = 72
_MOST_BELOW = 200
"""Rows from the end to a place that is shown at once; behind more of them the end is shown."""
_LONGEST_PART = 4_000
"""Characters of a coming answer in one frame: Qt lays a frame out, and draws it, from its first line on."""
_LONGEST_LINE = 1_000
"""Characters of a line of it: Qt shapes the whole of a line whenever it draws some of it."""
_PROSE_LINE = 135
"""Height of a line, in percent of the font's."""


class PlainConversation(QWidget):
    """Shows items; `acted` tells what was clicked: action, item's key, argument."""

    acted = pyqtSignal(str, str, str)

    def __init__(self, services: WindowServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._frames: dict[str, QTextFrame] = {}
        self._items: dict[str, Item] = {}
        self._wanted = ScrollPlace()
        self._older: list[Item] = []
        """Those that are still to be shown above the others."""
        self._due = 0
        """How many of them are to be shown now."""
        self._newer: list[Item] = []
        """Those that are still to be shown below the others."""
        self._slices = QTimer(self)
        self._slices.setInterval(15)
        self._slices.timeout.connect(self._show_slice)
        self._marked = ""
        """The row that stands out."""
        self._marking = QTimer(self)
        self._marking.setSingleShot(True)
        self._marking.setInterval(MARKED_MS)
        self._marking.timeout.connect(self._unmark)
        self._folds = Folds()
        self.names = Names()
        """Of the project; rows that are drawn from now on have them as links."""
        self._waits: set[str] = set()
        """Retries that are counted down."""
        self._countdown = QTimer(self)
        self._countdown.setInterval(1000)
        self._countdown.timeout.connect(self._count_down)
        self._thinking: set[str] = set()
        """Answers of which the thoughts alone have come."""
        self._parts: dict[str, list[QTextFrame]] = {}
        """Further frames of long answers that are coming."""
        self._splitters: dict[str, BlockSplitter] = {}
        """Of the answers that are coming."""
        self.surface = _Browser(services, self, self._chart_of)
        self.surface.setObjectName("conversationText")
        SpokenName(services, self.surface, msg("Messages"))
        self.surface.setOpenLinks(False)
        self.surface.setUndoRedoEnabled(False)
        self.surface.setAcceptDrops(False)  # files are for the panel around it
        self.surface.anchorClicked.connect(self._on_link)
        bar = self.surface.verticalScrollBar()
        assert bar is not None
        bar.valueChanged.connect(self._on_scrolled)
        document = self.surface.document()
        assert document is not None
        self._document = document
        mark(self.surface, plain=True)
        arrange(QVBoxLayout(self), self.surface, edges=0)
        self.restyle()

    @property
    def text(self) -> str:
        return self.surface.toPlainText()

    def apply(self, changes: Sequence[Change]) -> None:
        """Show what changed; the newest is kept in sight unless somebody has scrolled up."""
        bar = self.surface.verticalScrollBar()
        assert bar is not None
        follows = bar.value() >= bar.maximum() - 24
        with self._edit():
            for change in changes:
                match change:
                    case Reset():
                        self._clear()
                        follows = True
                        keys = [item.key for item in change.items[-_MOST_BELOW:]]
                        below = len(keys) - keys.index(change.place.key) if change.place.key in keys else 0
                        first = max(_FIRST_ITEMS, below)
                        self._older = list(change.items[:-first])
                        for item in change.items[-first:]:
                            self._add(item)
                        self._show_older(_UNASKED)
                    case Added():
                        self._add(change.item)
                    case Updated():
                        self._fill(change.item)
                    case Removed():
                        self._remove(change.key)
                    case Streamed():
                        self._stream(change)
        if follows:
            self._drop_far()
            bar.setValue(bar.maximum())
        for change in changes:
            if isinstance(change, Reset):
                self._go_to(change.place)

    def _go_to(self, place: ScrollPlace) -> None:
        """Have this row in sight; one that was looked for and is not there yet, when it comes."""
        bar = self.surface.verticalScrollBar()
        assert bar is not None
        if place.key in self._frames:
            self._wanted = ScrollPlace()
            bar.setValue(round(self._top_of(place.key)) + place.above)
            if place.is_marked:
                self._mark(place.key)
        elif place.is_marked:
            self._wanted = place

    def _mark(self, key: str) -> None:
        self._unmark()
        self._marked = key
        frame = self._frames[key]
        look = frame.frameFormat()
        look.setBackground(QBrush(self._services.theme.theme.color("surface.selected")))
        frame.setFrameFormat(look)
        self._marking.start()

    def _unmark(self) -> None:
        frame, item = self._frames.get(self._marked), self._items.get(self._marked)
        if frame is not None and item is not None:
            frame.setFrameFormat(self._frame_format(row_of(item).frame))

    @property
    def place(self) -> ScrollPlace:
        """Which row is the first that is seen."""
        bar = self.surface.verticalScrollBar()
        assert bar is not None
        if bar.value() >= bar.maximum() - 24:
            return ScrollPlace()
        tops = [(top, key) for key in self._frames if (top := round(self._top_of(key))) <= bar.value()]
        top, key = max(tops, default=(0, ""))
        return ScrollPlace(key, bar.value() - top)

    def _top_of(self, key: str) -> float:
        layout = self._document.documentLayout()
        assert layout is not None
        return layout.frameBoundingRect(self._frames[key]).top()

    def show_from(self, items: Sequence[Item], key: str) -> None:
        """All of these, in sight the one of this key, or the first; the rest follows below and above."""
        start = next((number for number, item in enumerate(items) if item.key == key), 0)
        self._clear()
        self._older, self._newer = list(items[:start]), list(items[start + _FIRST_ITEMS :])
        with self._edit():
            for item in items[start : start + _FIRST_ITEMS]:
                self._add(item)
        self.surface.moveCursor(QTextCursor.MoveOperation.Start)
        self._show_older(_UNASKED)
        if self._newer:
            self._slices.start()

    def show_empty(self, page: EmptyPage) -> None:
        """What stands in a conversation without items."""
        self._clear()
        self.surface.setHtml(self._render().empty(page))

    def scroll_to_end(self) -> None:
        """Show the newest."""
        bar = self.surface.verticalScrollBar()
        assert bar is not None
        bar.setValue(bar.maximum())

    def restyle(self) -> None:
        """The theme's colours and sizes; the items are shown again by whoever has them."""
        theme = self._services.theme.theme
        document = self._document
        document.setDefaultFont(theme.font("prose"))
        document.setDocumentMargin(theme.size("space.4"))
        families = ", ".join(f"'{family}'" for family in theme.font("mono_small").families())
        document.setDefaultStyleSheet(
            f"a {{ color: {theme.hex('text.link')}; text-decoration: none; }}"
            f" code, pre {{ font-family: {families}; }}"
            f" code, pre {{ font-size: {theme.font('mono_small').pixelSize()}px; }}"
            f" th {{ color: {theme.hex('text.secondary')}; text-align: left; font-weight: normal; }}"
            f" p, li {{ line-height: {_PROSE_LINE}%; margin-top: 4px; margin-bottom: 4px; }}"
            " li { margin-top: 1px; margin-bottom: 1px; } b, strong { font-weight: 600; }"
            f" ul, ol {{ margin: 0; -qt-list-indent: 1; }}"
            + "".join(f" .s-{kind} {{ color: {theme.hex(f'syntax.{kind}')}; }}" for kind in _SYNTAX)
        )
        document.setIndentWidth(theme.size("space.4"))

    def retranslate(self) -> None:
        """Nothing of its own; the items are shown again by whoever has them."""

    # --- rows ----------------------------------------------------------------------------------------

    @contextmanager
    def _edit(self) -> Iterator[QTextCursor]:
        """Change the document at its end or anywhere; it is laid out once, when all is done."""
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        try:
            yield cursor
        finally:
            cursor.endEditBlock()

    def _clear(self) -> None:
        self._slices.stop()
        self._wanted = ScrollPlace()
        self._older.clear()
        self._due = 0
        self._newer.clear()
        self._frames.clear()
        self._parts.clear()
        self._items.clear()
        self._folds.clear()
        self._waits.clear()
        self._splitters.clear()
        self._thinking.clear()
        self.surface.clear()

    def _show_older(self, count: int) -> None:
        """Show so many more of the earlier rows above the others, slice by slice."""
        if self._older:
            self._due = max(self._due, count)
            self._slices.start()

    def _on_scrolled(self, value: int) -> None:
        bar = self.surface.verticalScrollBar()
        assert bar is not None
        if value < 2 * bar.pageStep():
            self._show_older(_ASKED)

    def _show_slice(self) -> None:
        """Further items below, then above those that are shown, which stay where they are."""
        bar = self.surface.verticalScrollBar()
        assert bar is not None
        if self._newer:
            part, self._newer = self._newer[:_SLICE], self._newer[_SLICE:]
            place = bar.value()
            with self._edit():
                for item in part:
                    self._add(item)
            bar.setValue(place)
            return
        part, self._older = self._older[-_SLICE:], self._older[:-_SLICE]
        self._due -= len(part)
        is_wanted = self._wanted.is_marked and any(item.key == self._wanted.key for item in self._older)
        if not self._older or (self._due <= 0 and not is_wanted):
            self._slices.stop()
        below = bar.maximum() - bar.value()
        with self._edit():
            for item in reversed(part):
                self._add(item, at_start=True)
        bar.setValue(bar.maximum() - below)
        if any(item.key == self._wanted.key for item in part):
            self._go_to(self._wanted)

    def _drop_far(self) -> None:
        """Let go of the earlier rows, where there are more of them than are kept, and no answer is coming."""
        if len(self._frames) <= _MOST_SHOWN or self._slices.isActive() or self._splitters:
            return
        in_order = sorted(self._frames, key=lambda key: self._frames[key].firstPosition())
        items = [*self._older, *(self._items[key] for key in in_order)]
        self.surface.clear()
        self._frames.clear()
        self._parts.clear()
        self._items.clear()
        self._older = items[:-_FIRST_ITEMS]
        with self._edit():
            for item in items[-_FIRST_ITEMS:]:
                self._add(item)

    def _add(self, item: Item, *, at_start: bool = False) -> None:
        with self._edit() as cursor:
            if not at_start:
                cursor.movePosition(QTextCursor.MoveOperation.End)
            is_first = cursor.atStart()
            self._frames[item.key] = frame = _new_frame(cursor)
            self._fill(item)
            self._flatten_behind(frame)
            if is_first:
                _flatten(self._document.firstBlock())

    def _flatten_behind(self, frame: QTextFrame) -> None:
        after = self._document.findBlock(frame.lastPosition() + 1)  # Qt puts one behind each frame
        _flatten(after.previous() if after.previous().text() == "" else after)
        _flatten(after)

    def _frame_format(self, frame: str) -> QTextFrameFormat:
        theme = self._services.theme.theme
        made = QTextFrameFormat()
        made.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        made.setTopMargin(theme.size("space.2"))
        if frame:
            made.setPadding(theme.size("space.2"))
        if frame == "user":
            made.setBackground(QBrush(theme.color("surface.sunken")))
        elif frame:
            made.setBorder(1)
            made.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
            made.setBorderBrush(QBrush(theme.color("warn.icon" if frame == "asks" else "border.default")))
        return made

    def _fill(self, item: Item) -> None:
        frame = self._frames.get(item.key)
        if frame is None:
            self._older = [item if older.key == item.key else older for older in self._older]
            return
        if isinstance(item, Retry) and item.attempt:
            self._waits.add(item.key)
            self._countdown.start()
        else:
            self._waits.discard(item.key)
        self._items[item.key] = item
        self._splitters.pop(item.key, None)
        self._take_parts(item.key)
        row, link = row_of(item), self._link_in(frame)
        with self._edit() as cursor:
            frame.setFrameFormat(self._frame_format(row.frame))
            cursor.setPosition(frame.firstPosition())
            cursor.setPosition(frame.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            cursor.insertHtml(self._render().row(item.key, row))
            for block in _blocks_of(frame):
                if not block.text():  # before, between and behind tables
                    _flatten(block)
        if link:
            self._choose_link(frame, link)

    def _link_in(self, frame: QTextFrame) -> str:
        """The link of a row that the keyboard is at; "" = none of it."""
        cursor = self.surface.textCursor()
        is_inside = frame.firstPosition() <= cursor.selectionStart() <= frame.lastPosition()
        return cursor.charFormat().anchorHref() if is_inside and cursor.hasSelection() else ""

    def _choose_link(self, frame: QTextFrame, link: str) -> None:
        """Whoever is at a link with the keyboard stays there when its row is drawn anew."""
        block = self._document.findBlock(frame.firstPosition())
        while block.isValid() and block.position() <= frame.lastPosition():
            place = block.begin()
            while not place.atEnd():
                fragment = place.fragment()
                if fragment.charFormat().anchorHref() == link:
                    cursor = QTextCursor(self._document)
                    cursor.setPosition(fragment.position())
                    end = fragment.position() + fragment.length()
                    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
                    self.surface.setTextCursor(cursor)
                    return
                place += 1
            block = block.next()

    def _remove(self, key: str) -> None:
        self._items.pop(key, None)
        self._splitters.pop(key, None)
        self._waits.discard(key)
        self._older = [older for older in self._older if older.key != key]
        self._take_parts(key)
        frame = self._frames.pop(key, None)
        if frame is not None:
            _take_out(frame)

    def _take_parts(self, key: str) -> None:
        for part in self._parts.pop(key, ()):
            _take_out(part)

    def _stream(self, change: Streamed) -> None:
        frame = self._frames.get(change.key)
        if frame is None:
            return
        # Shown plain until it is complete; what is rendered then is rendered block by block as it comes.
        for block in self._splitters.setdefault(change.key, BlockSplitter()).feed(change.text):
            whole_block_html(block)
        theme = self._services.theme.theme
        between = ""
        if change.reasoning:
            self._thinking.add(change.key)
        elif change.text and change.key in self._thinking:  # the answer begins below the thoughts
            self._thinking.discard(change.key)
            between = "\n"
        for text, color in ((change.reasoning, "text.secondary"), (between + change.text, "text.primary")):
            if text:
                look = QTextCharFormat()
                look.setForeground(theme.color(color))
                self._append(change.key, visible(text), look)

    def _append(self, key: str, text: str, look: QTextCharFormat) -> None:
        """Put text at the end of a coming answer, in a frame of its own behind a long one."""
        parts = self._parts.setdefault(key, [])
        last = parts[-1] if parts else self._frames[key]
        length = last.lastPosition() - last.firstPosition()
        if last.lastCursorPosition().block().length() > _LONGEST_LINE:
            text = text.replace(" ", "\n", 1) if " " in text else f"{text}\n"
        before, is_line_end, behind = text.partition("\n")
        if length < _LONGEST_PART or not is_line_end:
            last.lastCursorPosition().insertText(text, look)
            return
        last.lastCursorPosition().insertText(before, look)
        cursor = QTextCursor(self._document)
        cursor.setPosition(last.lastPosition() + 1)
        part = _new_frame(cursor)
        look_of_it = self._frame_format("")
        look_of_it.setTopMargin(0)
        part.setFrameFormat(look_of_it)
        parts.append(part)
        part.firstCursorPosition().insertText(behind, look)
        self._flatten_behind(part)

    # --- what acts in it -----------------------------------------------------------------------------

    def _render(self) -> PlainItems:
        return PlainItems(self._services.language, self._services.theme.theme, self._folds, self.names)

    def _chart_of(self, key: str) -> Chart | None:
        item = self._items.get(key) or self._holder(key)
        cards = item.items if isinstance(item, Steps) else (item,)
        return next(
            (card.chart for card in cards if isinstance(card, SimulationCard) and card.key == key), None
        )

    def _holder(self, key: str) -> Steps | None:
        """The row within which another one stands."""
        rows = (item for item in self._items.values() if isinstance(item, Steps))
        return next((steps for steps in rows if key in steps.keys), None)

    def _count_down(self) -> None:
        waiting = [item for key in self._waits if isinstance(item := self._items.get(key), Retry)]
        if not waiting:
            self._waits.clear()
            self._countdown.stop()
        for item in waiting:
            self._fill(item)

    def _on_link(self, url: QUrl) -> None:
        if url.scheme() != "act":
            self.acted.emit("link", "", url.toString())
            return
        act, key, argument = [*url.path().split("/", 2), "", ""][:3]
        item = self._items.get(key) or self._holder(key)
        if act == "fold" and item is not None:
            self._folds.turn(key, argument)
            self._fill(item)
        else:
            self.acted.emit(act, key, argument)


class _Browser(QTextBrowser):
    """A text whose icons and bars are drawn when they are needed, sharp on its screen."""

    def __init__(
        self, services: WindowServices, parent: QWidget, chart_of: Callable[[str], Chart | None]
    ) -> None:
        super().__init__(parent)
        self._services = services
        self.chart_of = chart_of

    def loadResource(self, kind: int, name: QUrl) -> Any:  # noqa: N802 - Qt's name
        """The picture of an address of our own; nothing is loaded from anywhere else but the text itself."""
        ratio = self.devicePixelRatioF()
        if name.scheme() == "icon":
            return self._services.icons.pixmap(name.path(), name.query(), ICON_SIDE, ratio=ratio)
        if name.scheme() == "chart":
            chart = self.chart_of(name.path())
            return None if chart is None else chart_picture(self._services.theme.theme, chart, ratio)
        if name.scheme() == "bar":
            return bar_picture(self._services.theme.theme, float(name.path()), name.query(), ratio)
        return super().loadResource(kind, name) if name.scheme() == "data" else None


def _new_frame(cursor: QTextCursor) -> QTextFrame:
    frame = cursor.insertFrame(QTextFrameFormat())
    assert frame is not None
    return frame


def _take_out(frame: QTextFrame) -> None:
    cursor = frame.firstCursorPosition()
    cursor.setPosition(frame.firstPosition() - 1)
    cursor.setPosition(frame.lastPosition() + 1, QTextCursor.MoveMode.KeepAnchor)
    cursor.removeSelectedText()


def _blocks_of(frame: QTextFrame) -> list[QTextBlock]:
    """The blocks of a frame itself, without those in its tables."""
    place, found = frame.begin(), []
    while not place.atEnd():
        if place.currentFrame() is None:
            found.append(place.currentBlock())
        place += 1
    return found


def _flatten(block: QTextBlock) -> None:
    """Take the height from an empty block that Qt needs and nobody wants to see."""
    if block.text():
        return
    look = QTextBlockFormat()
    look.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)  # type: ignore[arg-type]
    QTextCursor(block).setBlockFormat(look)
