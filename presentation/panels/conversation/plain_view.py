"""The conversation as rich text, where no web view can be had: the same rows, with links for buttons."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from PyQt6.QtCore import QPoint, QRectF, QTimer, QUrl, pyqtSignal
from PyQt6.QtGui import (
    QBrush,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFrame,
    QTextFrameFormat,
    QTextLength,
)
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from presentation.panels.conversation import blocks as b
from presentation.panels.conversation.charts import Chart
from presentation.panels.conversation.empty import EmptyPage
from presentation.panels.conversation.items import (
    MARKED_MS,
    Added,
    AnswerText,
    Change,
    Item,
    Removed,
    Reset,
    Retry,
    ScrollPlace,
    Steps,
    Streamed,
    Updated,
    UserText,
    charts_of,
    count_at_once,
)
from presentation.panels.conversation.markup import BlockSplitter
from presentation.panels.conversation.names import Names
from presentation.panels.conversation.plain_document import (
    Browser,
    Part,
    blocks_of,
    flatten,
    is_line_of_code,
    links_between,
    new_frame,
    take_out,
)
from presentation.panels.conversation.plain_field import PlainField
from presentation.panels.conversation.plain_items import Folds, Group, Piece, PlainItems, add_block
from presentation.panels.conversation.row_menu import Pointed
from presentation.panels.conversation.rows import row_of
from presentation.ui.parts import SpokenName, arrange
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import msg, visible

_SYNTAX = ("comment", "directive", "element", "node", "value", "param", "string")
_FIRST_ITEMS = 40
"""Shown at once of a stored conversation; the earlier ones follow in slices above them."""
_SLICE = 24
_UNASKED = 200
"""Rows that come above by themselves; those before them when somebody scrolls up to where they would be."""
_MOST_SHOWN = _FIRST_ITEMS + _UNASKED + 2 * _SLICE
"""Rows that are kept while the end is in sight. With more the document is made anew with the newest: one that
only loses rows keeps the formats of all it ever had. Those above come again to whoever scrolls up to them."""
_AT_ONCE = 2_000
"""Characters of a long answer that is not there yet: when so many are drawn, the rest waits for a later turn
of the loop. A piece has some thousand, one with code up to 8,000, which takes a tenth of a second."""
_KEPT_PIECES = 12
"""Of a coming answer, some 10,000 characters, while its end is in sight, or as many as fill what is seen and
as much above it: whenever a frame or a table comes or goes Qt looks through all pieces of text there are."""
_AWAY_AT_ONCE = 8
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
    """Shows items; `acted` tells what was clicked: action, item's key, argument; `menu_wanted` that a row's
    menu is asked for (`row_menu.Pointed`)."""

    acted = pyqtSignal(str, str, str)
    menu_wanted = pyqtSignal(object)

    def __init__(
        self,
        services: WindowServices,
        parent: QWidget | None = None,
        *,
        acts: Collection[str] | None = None,
    ) -> None:
        """`acts`: those that can be done here; None = all."""
        super().__init__(parent)
        self._services = services
        self._acts = acts
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
        self._parts: dict[str, list[Part]] = {}
        """Further frames of long answers, in their order."""
        self._unwritten: list[tuple[Part, Piece]] = []
        """Those of a long answer that are still to be drawn, the last of them first."""
        self._coming: dict[str, _Coming] = {}
        self.surface = Browser(services, self, self._chart_of)
        self.surface.setObjectName("conversationText")
        SpokenName(services, self.surface, msg("Messages"))
        self.surface.setOpenLinks(False)
        self.surface.setUndoRedoEnabled(False)
        self.surface.setAcceptDrops(False)  # files are for the panel around it
        self.surface.anchorClicked.connect(self._on_link)
        self.surface.menu_asked.connect(self._on_menu)
        self.surface.bar.valueChanged.connect(self._on_scrolled)
        self._document = self.surface.text_document
        self._field = PlainField(services, self.surface)
        self._field.acted.connect(self.acted)
        mark(self.surface, plain=True)
        arrange(QVBoxLayout(self), self.surface, edges=0)
        self.restyle()

    @property
    def rows(self) -> tuple[Item, ...]:
        """Those that are drawn."""
        return tuple(self._items.values())

    @property
    def text(self) -> str:
        return self.surface.toPlainText()

    def apply(self, changes: Sequence[Change]) -> None:
        """Show what changed; the newest is kept in sight unless somebody has scrolled up."""
        follows = self.surface.is_at_end
        for change in changes:  # each by itself: Qt lays all out from the first to the last change of an edit
            match change:
                case Reset():
                    self._clear()
                    follows = True
                    keys = [item.key for item in change.items[-_MOST_BELOW:]]
                    below = len(keys) - keys.index(change.place.key) if change.place.key in keys else 0
                    start = len(change.items) - max(count_at_once(change.items, _FIRST_ITEMS), below)
                    self._older = list(change.items[:start])
                    with self._edit():
                        for item in change.items[start:]:
                            self._add(item)
                    self._show_older(_UNASKED)
                case Added():
                    self._add(change.item)
                case Updated():
                    self._fill(change.item)
                case Removed():
                    self._remove(change.key)
                case Streamed():
                    with self._edit():
                        self._stream(change)
        if follows:
            self._drop_far()
            self._put_away()
        self._field.settle()
        if follows:
            self.surface.go_to_end()
        for change in changes:
            if isinstance(change, Reset):
                self._go_to(change.place)

    def _go_to(self, place: ScrollPlace) -> None:
        """Have this row in sight; one that was looked for and is not there yet, when it comes."""
        bar = self.surface.bar
        if place.key in self._frames:
            self._wanted = ScrollPlace()
            self.surface.let_go()
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
        bar = self.surface.bar
        if self.surface.is_at_end:
            return ScrollPlace()
        tops = [(top, key) for key in self._frames if (top := round(self._top_of(key))) <= bar.value()]
        top, key = max(tops, default=(0, ""))
        return ScrollPlace(key, bar.value() - top)

    def _top_of(self, key: str) -> float:
        return self._place_of(self._frames[key]).top()

    def _place_of(self, frame: QTextFrame) -> QRectF:
        layout = self._document.documentLayout()
        assert layout is not None
        return layout.frameBoundingRect(frame)

    def show_from(self, items: Sequence[Item], key: str) -> None:
        """All of these, in sight the one of this key, or the first; the rest follows below and above."""
        start = next((number for number, item in enumerate(items) if item.key == key), 0)
        self._clear()
        self._older, self._newer = list(items[:start]), list(items[start + _FIRST_ITEMS :])
        with self._edit():
            for item in items[start : start + _FIRST_ITEMS]:
                self._add(item)
        self._field.settle()
        self.surface.let_go()
        self.surface.moveCursor(QTextCursor.MoveOperation.Start)
        self._show_older(_UNASKED)
        if self._newer:
            self._slices.start()

    def show_empty(self, page: EmptyPage) -> None:
        """What stands in a conversation without items."""
        self._clear()
        self._field.settle()
        self.surface.setHtml(self._render().empty(page))

    def focus_field(self) -> None:
        """The keyboard goes to the row that is written in."""
        self._field.focus()

    def scroll_to_end(self) -> None:
        """Show the newest."""
        self.surface.go_to_end()

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
            " pre { white-space: pre-wrap; }"  # one long line would widen the whole conversation
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
        self._coming.clear()
        self._unwritten.clear()
        self._field.lose_place()
        self.surface.clear()

    def _show_older(self, count: int) -> None:
        """Show so many more of the earlier rows above the others, slice by slice."""
        if self._older:
            self._due = max(self._due, count)
            self._slices.start()

    def _on_scrolled(self, value: int) -> None:
        if not self.surface.is_at_end:
            self._bring_back()
        if value < 2 * self.surface.bar.pageStep():
            self._show_older(_ASKED)

    def _show_slice(self) -> None:
        """Further items below, then above those that are shown, which stay where they are."""
        bar = self.surface.bar
        if self._unwritten:
            below = bar.maximum() - bar.value()
            with self._edit():
                self._write_last()
            bar.setValue(bar.maximum() - below)
            return
        if self._newer:
            part, self._newer = self._newer[:_SLICE], self._newer[_SLICE:]
            place = bar.value()
            with self._edit():
                for item in part:
                    self._add(item)
            bar.setValue(place)
            return
        start = len(self._older) - count_at_once(self._older, _SLICE)
        part, self._older = self._older[start:], self._older[:start]
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
        if len(self._frames) <= _MOST_SHOWN or self._slices.isActive() or self._coming:
            return
        in_order = sorted(self._frames, key=lambda key: self._frames[key].firstPosition())
        items = [*self._older, *(self._items[key] for key in in_order)]
        self._field.lose_place()
        self.surface.clear()
        self._frames.clear()
        self._parts.clear()
        self._items.clear()
        start = len(items) - count_at_once(items, _FIRST_ITEMS)
        self._older = items[:start]
        with self._edit():
            for item in items[start:]:
                self._add(item)

    def _add(self, item: Item, *, at_start: bool = False) -> None:
        with self._edit() as cursor:
            if not at_start:
                cursor.movePosition(QTextCursor.MoveOperation.End)
            is_first = cursor.atStart()
            self._frames[item.key] = frame = new_frame(cursor)
            self._fill(item)
            self._flatten_behind(frame)
            if is_first:
                flatten(self._document.firstBlock())

    def _flatten_behind(self, frame: QTextFrame) -> None:
        after = self._document.findBlock(frame.lastPosition() + 1)  # Qt puts one behind each frame
        flatten(after.previous() if after.previous().text() == "" else after)
        flatten(after)

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
        self._coming.pop(item.key, None)
        row, link = row_of(item), self._link_in(frame)
        first, *further = self._render().pieces(item.key, row)
        known = self._parts.pop(item.key, [])
        frame.setFrameFormat(self._frame_format(row.frame))
        self._write(frame, first)
        last, kept, fresh = frame, list[Part](), list[tuple[Part, Piece]]()
        for piece in further:
            same = next((at for at, part in enumerate(known) if part.what == piece.what), -1)
            if same < 0:
                part = Part(self._frame_behind(last))
                fresh.append((part, piece))
            else:
                *gone, part = known[: same + 1]
                known = known[same + 1 :]
                take_out(gone)
                if part.is_away:
                    fresh.append((part, piece))
            kept.append(part)
            last = part.frame
        take_out(known)
        if kept:
            self._parts[item.key] = kept
        self._unwritten += fresh
        self._write_last()
        if link:
            self._choose_link(frame, link)
        self._field.follow(item.key, row, frame)
        if isinstance(item, AnswerText) and item.is_streaming:
            self._stream(Streamed(key=item.key, text=item.text))

    def _write_last(self) -> None:
        """Draw some of what is still to be drawn; the rest, above them, in later turns of the loop."""
        drawn = 0
        while self._unwritten and drawn < _AT_ONCE:
            part, piece = self._unwritten.pop()
            if part.kind != "gone":
                part.what, part.is_away = piece.what, False
                self._write(part.frame, piece)
                drawn += piece.length
        if self._unwritten:
            self._slices.start()

    def _write(self, frame: QTextFrame, piece: Piece) -> None:
        """Have this in the frame in place of what was."""
        with self._edit() as cursor:
            cursor.setPosition(frame.firstPosition())
            cursor.setPosition(frame.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            cursor.insertHtml(piece.html())
            for block in blocks_of(frame):
                if not is_line_of_code(block):  # before, between and behind tables
                    flatten(block)

    def _frame_behind(self, frame: QTextFrame) -> QTextFrame:
        """A new one that goes on with the row."""
        cursor = QTextCursor(self._document)
        cursor.setPosition(frame.lastPosition() + 1)
        made = new_frame(cursor)
        look = self._frame_format("")
        look.setTopMargin(0)
        made.setFrameFormat(look)
        self._flatten_behind(made)
        made.firstCursorPosition().setBlockFormat(QTextBlockFormat())  # it was taken for one behind a frame
        return made

    def _link_in(self, frame: QTextFrame) -> str:
        """The link of a row that the keyboard is at; "" = none of it."""
        cursor = self.surface.textCursor()
        is_inside = frame.firstPosition() <= cursor.selectionStart() <= frame.lastPosition()
        return cursor.charFormat().anchorHref() if is_inside and cursor.hasSelection() else ""

    def _choose_link(self, frame: QTextFrame, link: str) -> None:
        """Whoever is at a link with the keyboard stays there when its row is drawn anew."""
        places = links_between(self._document, frame.firstPosition(), frame.lastPosition())
        place = next((place for address, place in places if address == link), None)
        if place is not None:
            self.surface.setTextCursor(place)

    def _remove(self, key: str) -> None:
        self._items.pop(key, None)
        self._coming.pop(key, None)
        self._waits.discard(key)
        self._older = [older for older in self._older if older.key != key]
        take_out(self._parts.pop(key, ()))
        frame = self._frames.pop(key, None)
        if frame is not None:
            self._field.follow(key, b.Row(()), frame)
            take_out([Part(frame)])

    def _stream(self, change: Streamed) -> None:
        """What is complete of the answer is drawn, block by block; the rest stands as it comes."""
        frame = self._frames.get(change.key)
        if frame is None:
            return
        coming = self._coming.setdefault(change.key, _Coming())
        parts = self._parts.setdefault(change.key, [])
        if change.reasoning:
            self._append(frame, parts, change.reasoning, "thought")
        text = change.text
        blocks = coming.splitter.feed(text)
        if blocks:
            take_out(part for part in parts if part.kind == "tail")
            parts[:] = [part for part in parts if part.kind != "gone"]
            prose = [part for part in parts if part.kind == "prose"]
            for number in sorted({add_block(coming.groups, block) for block in blocks}):
                if number == len(prose):
                    prose.append(Part(self._frame_behind(parts[-1].frame if parts else frame)))
                    parts.append(prose[number])
                part = prose[number]
                self._unwritten = [each for each in self._unwritten if each[0] is not part]
                self._unwritten.append((part, self._render().prose(change.key, coming.groups[number])))
            self._write_last()  # of what came while nobody looked at it the rest follows
            tail = coming.splitter.tail()
            text = "" if tail is None else tail.text
        if text:
            self._append(frame, parts, text, "tail")

    def _put_away(self) -> None:
        """Take the earlier pieces of a coming answer out of the document, where nobody sees them."""
        if self._unwritten or self.surface.textCursor().hasSelection():
            return  # what is copied stays
        for key in self._coming:
            prose = [part for part in self._parts.get(key, ()) if part.kind == "prose"]
            far = [part for part in prose[:-_KEPT_PIECES] if not part.is_away]
            if len(far) >= _AWAY_AT_ONCE and self._place_of(far[-1].frame).bottom() < self._page_above:
                with self._edit():
                    for part in far:
                        part.is_away = True
                        self._write(part.frame, _NOTHING)

    @property
    def _page_above(self) -> float:
        """Where the page above the one that is seen begins."""
        return float(self.surface.bar.value() - self.surface.bar.pageStep())

    def _bring_back(self) -> None:
        """Draw them again, the last of them first: somebody scrolls up."""
        for key, coming in self._coming.items():
            prose = [part for part in self._parts.get(key, ()) if part.kind == "prose"]
            waiting = [part for part, _ in self._unwritten]
            away = [
                (part, self._render().prose(key, group))
                for part, group in zip(prose, coming.groups, strict=False)
                if part.is_away and not any(part is each for each in waiting)
            ]
            if away:
                self._unwritten[:0] = away
                self._slices.start()

    def _append(
        self, frame: QTextFrame, parts: list[Part], text: str, kind: Literal["thought", "tail"]
    ) -> None:
        """Put text at the end of what has come of this kind, in a frame of its own behind a long one."""
        look = QTextCharFormat()
        look.setForeground(
            self._services.theme.theme.color("text.secondary" if kind == "thought" else "text.primary")
        )
        text = visible(text)
        at = max((at for at, part in enumerate(parts) if part.kind == kind), default=-1)
        if at < 0 and kind == "tail":
            at = len(parts)
            parts.append(Part(self._frame_behind(parts[-1].frame if parts else frame), kind=kind))
        last = parts[at].frame if at >= 0 else frame
        if not (begin := last.lastCursorPosition()).block().text():
            begin.setBlockFormat(QTextBlockFormat())  # an empty line of a row is as good as not there
        if last.lastCursorPosition().block().length() > _LONGEST_LINE:
            text = text.replace(" ", "\n", 1) if " " in text else f"{text}\n"
        before, is_line_end, behind = text.partition("\n")
        if last.lastPosition() - last.firstPosition() < _LONGEST_PART or not is_line_end:
            last.lastCursorPosition().insertText(text, look)
            return
        last.lastCursorPosition().insertText(before, look)
        parts.insert(at + 1, Part(self._frame_behind(last), kind=kind))
        parts[at + 1].frame.firstCursorPosition().insertText(behind, look)

    # --- what acts in it -----------------------------------------------------------------------------

    def _render(self) -> PlainItems:
        theme = self._services.theme.theme
        return PlainItems(self._services.language, theme, self._folds, self.names, self._acts)

    def _chart_of(self, place: str) -> Chart | None:
        """The picture of an address: the key of its card, and which of several there."""
        key, _, number = place.partition("/")
        item = self._items.get(key) or self._holder(key)
        cards = item.items if isinstance(item, Steps) else (item,)
        charts = next((charts_of(card) for card in cards if card is not None and card.key == key), ())
        return dict(enumerate(charts)).get(int(number or 0))

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

    def _on_menu(self, place: QPoint, by_keys: bool) -> None:
        """Of the row at a place, or where the keyboard is; else of the last one that is seen."""
        viewport, chosen = self.surface.viewport(), self.surface.textCursor()
        assert viewport is not None
        seen = viewport.rect()
        at = chosen if by_keys else self.surface.cursorForPosition(place)
        if by_keys and not (seen.contains(place) and self._key_at(at.position())):
            place = QPoint(seen.left(), seen.bottom())
            at = self.surface.cursorForPosition(place)
        key = self._key_at(at.position())
        address = at.charFormat().anchorHref() if by_keys else self.surface.anchorAt(place)
        is_inside = key and self._key_at(chosen.selectionStart()) == key
        is_link = chosen.charFormat().anchorHref()  # the keyboard is at it: it was not selected to be copied
        words = "" if is_link else chosen.selectedText().replace("\u2029", "\n").replace("\u2028", "\n")
        pointed = Pointed(
            key=key,
            place=viewport.mapToGlobal(place),
            code=self._code_at(at),
            link="" if address.startswith("act:") else address,
            chosen=words.replace("\u00a0", " ") if is_inside else "",
            text=self._text_of(key),
        )
        self.menu_wanted.emit(pointed)

    def _frames_of(self, key: str) -> list[QTextFrame]:
        first = self._frames.get(key)
        return [] if first is None else [first, *(part.frame for part in self._parts.get(key, ()))]

    def _key_at(self, position: int) -> str:
        """The row that holds a position of the document; "" = none."""
        found = (key for key in self._frames for frame in self._frames_of(key)
                 if frame.firstPosition() <= position <= frame.lastPosition())  # fmt: skip
        return next(found, "")

    def _text_of(self, key: str) -> str:
        """What is seen of a row that has no text of its own."""
        frame = self._frames.get(key)
        if frame is None or isinstance(self._items.get(key), UserText | AnswerText):
            return ""
        cursor = frame.firstCursorPosition()
        cursor.setPosition(frame.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
        return cursor.selection().toPlainText().strip()

    def _code_at(self, cursor: QTextCursor) -> int:
        """The number of the code block at a place, by the ways that stand below its first part; below 0 =
        none."""
        table = cursor.currentTable()
        if table is None or not is_line_of_code(cursor.block()):
            return -1
        behind = self._document.findBlock(table.lastPosition() + 1)
        first, last = behind.position(), behind.position() + behind.length()
        own = [
            address for address, _ in links_between(self._document, first, last) if "copy_code/" in address
        ]
        start = min(
            (frame.firstPosition() for frame in self._frames_of(self._key_at(cursor.position()))), default=0
        )
        before = links_between(self._document, start, cursor.position())
        earlier = [address for address, _ in before if address.startswith("act:copy_code/")]
        return int((own or earlier)[-1].rpartition("/")[2]) if own or earlier else -1

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
            written = self._field.text_for(act, key)
            self.acted.emit(act, key, argument if written is None else written)


_NOTHING = Piece(None, str)


@dataclass(slots=True)
class _Coming:
    """An answer that is coming."""

    splitter: BlockSplitter = field(default_factory=BlockSplitter)
    groups: list[Group] = field(default_factory=list)
    """Its blocks that are complete, as they are drawn together."""
