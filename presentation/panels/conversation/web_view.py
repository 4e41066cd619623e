"""The conversation as a web page of ours: loaded once, then told what changed."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QObject, QPoint, QPointF, Qt, QTimer, QUrl, pyqtSignal, pyqtSlot
from PyQt6.QtWebChannel import QWebChannel
from PyQt6.QtWebEngineCore import (
    QWebEnginePage,
    QWebEngineProfile,
    QWebEngineSettings,
    QWebEngineUrlRequestInfo,
    QWebEngineUrlRequestInterceptor,
)
from PyQt6.QtWebEngineWidgets import QWebEngineView
from PyQt6.QtWidgets import QApplication, QMenu, QVBoxLayout, QWidget

from presentation.look import css_variables
from presentation.panels.conversation import blocks as b
from presentation.panels.conversation.empty import EmptyPage, row_of_page
from presentation.panels.conversation.html_view import HtmlItems, growing_prose, icon, kind_of, whole_prose
from presentation.panels.conversation.items import (
    MARKED_MS,
    Added,
    AnswerText,
    Change,
    Item,
    Removed,
    Reset,
    ScrollPlace,
    Streamed,
    Updated,
    count_at_once,
)
from presentation.panels.conversation.markup import BlockSplitter
from presentation.panels.conversation.names import Names
from presentation.panels.conversation.row_menu import Pointed
from presentation.panels.conversation.rows import row_of
from presentation.panels.conversation.words import CODE_ACTS
from presentation.ui.parts import arrange
from presentation.ui.workspace import WindowServices
from shared.message import msg, visible

_RESOURCES = Path(__file__).resolve().parents[3] / "resources"
_PAGE = _RESOURCES / "web" / "conversation.html"
_SERVED = (_RESOURCES / "web", _RESOURCES / "fonts")
_FIRST_ITEMS = 40
"""Shown at once of a stored conversation; the earlier ones follow in slices above them."""
_SLICE = 12
_UNASKED = 200
"""Rows that come above by themselves; those before them when somebody scrolls up to where they would be."""
_MOST_SHOWN = _FIRST_ITEMS + _UNASKED + 4 * _SLICE
"""Rows that are kept while the end is in sight; those above come again when somebody scrolls up to them."""
_ASKED = 60
_MOST_BELOW = 500
"""Rows from the end to a place that is shown at once; behind more of them the end is shown."""
_KEPT = b.Frame("prose answer kept", ())
"""In the place of prose that the page has."""
_BEHIND_S = 1.0
"""So late the page is behind: what comes then waits, and is shown together. A page that is told more than it
can show would be behind by ever more, half a minute at the end of a long line."""
_OF_FIELD = {
    "undo": QWebEnginePage.WebAction.Undo,
    "redo": QWebEnginePage.WebAction.Redo,
    "cut": QWebEnginePage.WebAction.Cut,
    "copy": QWebEnginePage.WebAction.Copy,
    "paste": QWebEnginePage.WebAction.Paste,
    "selectAll": QWebEnginePage.WebAction.SelectAll,
}
_LONGEST_TAIL = 1_500
"""Characters of the unfinished block that are rendered anew at each flush; a longer one grows as text."""

_Operation = list[Any]


class WebConversation(QWidget):
    """Shows items; `acted` tells what was clicked: action, item's key, argument."""

    acted = pyqtSignal(str, str, str)
    menu_wanted = pyqtSignal(object)
    """`row_menu.Pointed`: a row's menu is asked for."""
    ready = pyqtSignal()
    """The page has been loaded and listens."""
    crashed = pyqtSignal()
    """The page's process died."""

    def __init__(self, services: WindowServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._html = HtmlItems(services.language)
        self._streams: dict[str, _Stream] = {}
        self._waiting: list[_Operation] = []
        """For a page that is not there yet, or is behind."""
        self._sent: deque[float] = deque()
        """When the page was told what it has not answered yet, s."""
        self.is_ready = False
        self._is_closed = False
        self._shown: dict[str, Item] = {}
        """What the page has, in its order."""
        self._prose: dict[str, tuple[str, Names]] = {}
        """Markdown of its rows, and the names it was drawn with."""
        self._older: list[Item] = []
        self._due = 0
        """How many of them are to be shown now."""
        self._bridge = _Bridge(self)
        self._bridge.acted.connect(self.acted)
        self._bridge.pointed.connect(self._on_pointed)
        self._bridge.field_pointed.connect(self._show_field_menu)
        self._bridge.loaded.connect(self._on_loaded)
        self._bridge.scrolled.connect(self._on_scrolled)
        self._bridge.near_top.connect(self._show_older)
        self.place = ScrollPlace()
        """Where the page was scrolled to last."""
        self._wanted = ScrollPlace()
        """A row that is looked for, and is still to be shown above the others."""
        self._slices = QTimer(self)
        self._slices.setInterval(15)
        self._slices.timeout.connect(self._show_slice)
        if parent is not None:
            # A window of the window system for the page alone: else the whole main window would be made anew
            # when it comes (a flash, open dialogs behind it) and be drawn by way of OpenGL from then on.
            self.setAttribute(Qt.WidgetAttribute.WA_DontCreateNativeAncestors)
            self.setAttribute(Qt.WidgetAttribute.WA_NativeWindow)
        self._make_page()
        self._has_focus = True
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)
        self.restyle()
        self.retranslate()

    def _make_page(self) -> None:
        # Qt deletes children in the order they were made: the view with its page goes before the profile,
        # also where nobody called `close_page`.
        self._view = QWebEngineView(self)
        self._profile = QWebEngineProfile(self)  # off the record: nothing is kept
        self._guard = _OnlyOurFiles(self)
        self._profile.setUrlRequestInterceptor(self._guard)
        self._view.setObjectName("conversationPage")
        self._view.setAcceptDrops(False)  # files are for the panel around it
        self._view.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self._page = _Page(self._profile, self._view)
        settings = self._page.settings()
        assert settings is not None
        for name in (
            QWebEngineSettings.WebAttribute.LocalContentCanAccessRemoteUrls,
            QWebEngineSettings.WebAttribute.PluginsEnabled,
            QWebEngineSettings.WebAttribute.LocalStorageEnabled,
            QWebEngineSettings.WebAttribute.JavascriptCanOpenWindows,
        ):
            settings.setAttribute(name, False)
        self._channel = QWebChannel(self)
        self._channel.registerObject("bridge", self._bridge)
        self._page.setWebChannel(self._channel)
        self._page.setBackgroundColor(self._services.theme.theme.color("surface.base"))
        self._page.renderProcessTerminated.connect(lambda *_: self.crashed.emit())
        self._view.setPage(self._page)
        self._page.load(QUrl.fromLocalFile(str(_PAGE)))
        arrange(QVBoxLayout(self), self._view, edges=0)

    @property
    def is_up_to_date(self) -> bool:
        """Whether the page shows all that it was told."""
        return self.is_ready and not self._sent and not self._waiting

    @property
    def page(self) -> QWebEnginePage:
        """The page, for those who look into it (tests, printing)."""
        return self._page

    @property
    def names(self) -> Names:
        """Of the project; rows that are drawn from now on have them as links."""
        return self._html.names

    @names.setter
    def names(self, names: Names) -> None:
        self._html.names = names

    def take_place_behind(self, widget: QWidget) -> None:
        """Stand behind `widget` in the order of the Tab key.

        A widget of Chromium's takes the keys, and is made with the page: Qt puts it behind everything there
        is, so that the page's buttons could not be reached from the message box.
        """
        surface = self._view.focusProxy()
        if surface is not None:
            QWidget.setTabOrder(widget, surface)

    def close_page(self) -> None:
        """Let the page go before its profile does, as Qt wants it; nothing is shown any more."""
        self._slices.stop()
        self._older.clear()
        self._shown.clear()
        self.is_ready = False
        self._is_closed = True
        self._waiting.clear()
        # No call of the page comes back while it goes. Its channel stays: a page that is still being loaded
        # asks for it, and Qt 6.11 looks into what is not there any more.
        self._bridge.blockSignals(True)
        self._view.setPage(None)
        self._page.deleteLater()
        self._view.deleteLater()

    # --- what is shown -------------------------------------------------------------------------------

    def apply(self, changes: Sequence[Change]) -> None:
        operations: list[_Operation] = []
        for change in changes:
            match change:
                case Reset():
                    operations += self._reset(change.items, change.place)
                case Added():
                    operations += self._added(change.item)
                case Updated():
                    new = change.item
                    self._older = [new if older.key == new.key else older for older in self._older]
                    if new.key in self._shown:
                        self._shown[new.key] = new
                    self._follow(new)
                    before = self._prose.get(new.key)
                    operations.append(["update", *self._row(new, is_there=new.key in self._shown)])
                    operations += self._begun(new)
                    if self._prose.get(new.key) != before:
                        operations += self._announcement(new)
                case Removed():
                    self._older = [older for older in self._older if older.key != change.key]
                    self._shown.pop(change.key, None)
                    self._prose.pop(change.key, None)
                    operations.append(["remove", change.key])
                case Streamed():
                    operations.append(self._streamed(change))
        self._run([*operations, *self._drop_far()])

    def _drop_far(self) -> list[_Operation]:
        """Take a slice of the earliest rows out, where there are more of them than are kept."""
        if len(self._shown) <= _MOST_SHOWN or self._slices.isActive() or self.place.key:
            return []
        earliest = [*self._shown][:_SLICE]
        self._older += [self._shown.pop(key) for key in earliest]
        for key in earliest:
            self._prose.pop(key, None)
        return [["remove", key] for key in earliest]

    def show_empty(self, page: EmptyPage) -> None:
        """What stands in a conversation without items."""
        self._shown.clear()
        self._prose.clear()
        self._run([["reset"], ["add", "empty", "", self._html.row(row_of_page(page))]])

    def scroll_to_end(self) -> None:
        """Show the newest."""
        self._run([["end"]])

    def _reset(self, items: tuple[Item, ...], place: ScrollPlace) -> list[_Operation]:
        self._streams.clear()
        self._shown.clear()
        self._prose.clear()
        seen = next((number for number, item in enumerate(items) if item.key == place.key), len(items))
        is_near = len(items) - _MOST_BELOW <= seen < len(items)
        start = min(len(items) - count_at_once(items, _FIRST_ITEMS), seen if is_near else len(items))
        first, self._older = items[start:], list(items[:start])
        self._due = 0
        self._show_older(_UNASKED)
        self.place = place if is_near else ScrollPlace()
        self._wanted = place if place.is_marked and not is_near else ScrollPlace()
        added = [operation for item in first for operation in self._added(item)]
        return [["reset"], *added, _place_at(place) if is_near else ["end"]]

    def _show_older(self, count: int = _ASKED) -> None:
        """Show so many more of the earlier rows above the others, slice by slice."""
        if self._older:
            self._due = max(self._due, count)
            self._slices.start()

    def _on_pointed(self, at: Pointed) -> None:
        self.menu_wanted.emit(replace(at, place=self._on_screen(at.place)))

    def _on_screen(self, place: QPoint) -> QPoint:
        """A place of the page, which counts in its own pixels."""
        return self._view.mapToGlobal((QPointF(place) * self._page.zoomFactor()).toPoint())

    def _show_field_menu(self, has_selection: bool, place: QPoint) -> None:
        """What every field of text has, for the one that is written in within a row."""
        shortcuts, menu = self._services.shortcuts, QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        titles = {action.name: self._services.language(action.title) for action in shortcuts.actions}
        for name, action in _OF_FIELD.items():
            keys = shortcuts.shown(name)
            words = f"{titles[name]}\t{keys}" if keys else titles[name]
            entry = menu.addAction(words, partial(self._page.triggerAction, action))
            if entry is not None:
                entry.setEnabled(has_selection or name not in ("cut", "copy"))
        menu.popup(self._on_screen(place))

    def _on_scrolled(self, key: str, above: int) -> None:
        self.place = ScrollPlace(key, above)

    def _added(self, item: Item) -> list[_Operation]:
        self._follow(item)
        self._shown[item.key] = item
        return [["add", *self._row(item)], *self._begun(item)]

    def _begun(self, item: Item) -> list[_Operation]:
        """What had come of an answer whose row is made anew while it streams: the row itself is empty."""
        if not (isinstance(item, AnswerText) and item.is_streaming and item.text):
            return []
        self._streams[item.key] = _Stream()
        return [self._streamed(Streamed(key=item.key, text=item.text))]

    def _show_slice(self) -> None:
        start = len(self._older) - count_at_once(self._older, _SLICE)
        part, self._older = self._older[start:], self._older[:start]
        if part:
            self._shown = {item.key: item for item in part} | self._shown
            operations: list[_Operation] = [["prepend", [self._row(item) for item in part]]]
            operations += [begun for item in part for begun in self._begun(item)]
            if any(item.key == self._wanted.key for item in part):
                operations.append(_place_at(self._wanted))
            self._run(operations)
        self._due -= len(part)
        is_wanted = any(item.key == self._wanted.key for item in self._older)
        if not self._older or (self._due <= 0 and not is_wanted):
            self._slices.stop()

    def _row(self, item: Item, *, is_there: bool = False) -> list[str]:
        """What the page makes the row of; of one that `is_there` the prose is told only when it is another.

        At its end an answer is told anew for each thing that becomes known of it: a long one would be laid
        out five times.
        """
        row = row_of(item)
        prose = next((block.markdown for block in row.blocks if isinstance(block, b.Prose)), "")
        before = self._prose.pop(item.key, None)
        if prose:
            self._prose[item.key] = (prose, self.names)
        if is_there and before == (prose, self.names):
            blocks = (_KEPT if isinstance(each, b.Prose) else each for each in row.blocks)
            row = replace(row, blocks=tuple(blocks))
        return [item.key, kind_of(item), self._html.row(row)]

    def _follow(self, item: Item) -> None:
        if isinstance(item, AnswerText) and item.is_streaming:
            self._streams.setdefault(item.key, _Stream())
        else:
            self._streams.pop(item.key, None)

    def _streamed(self, change: Streamed) -> _Operation:
        stream = self._streams.setdefault(change.key, _Stream())
        done, tail, raw = stream.take(change.text, self._html.names)
        return ["stream", change.key, done, tail, visible(raw), visible(change.reasoning)]

    def _announcement(self, item: Item) -> list[_Operation]:
        """Streaming is told to a screen reader at its end, once."""
        if isinstance(item, AnswerText) and not item.is_streaming and item.text:
            return [["announce", item.text[:2_000]]]
        return []

    # --- looks ---------------------------------------------------------------------------------------

    def restyle(self) -> None:
        theme = self._services.theme.theme
        if self._is_closed:
            return
        self._page.setBackgroundColor(theme.color("surface.base"))
        self._run(
            [["theme", css_variables(theme.name, theme.scale, is_high_contrast=theme.is_high_contrast)]]
        )

    def retranslate(self) -> None:
        """The page's own words; the items are shown again by whoever has them."""
        language = self._services.language
        texts = {
            "newer": language(msg("{count} new", count="{count}")),
            "codeActs": [[act, language(words)] for act, words in CODE_ACTS],
            "copyIcon": icon("copy"),
            "newerIcon": icon("arrow-down"),
            "lines": language(msg("{count} lines", count="{count}")),
            "more": language(msg("Show {count} more lines", count="{count}")),
        }
        self._run([["language", "zh-CN" if language.name == "zh" else "en", texts]])

    # --- the page ------------------------------------------------------------------------------------

    def focus_field(self) -> None:
        """The keyboard goes to the row that is written in."""
        self._view.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._page.runJavaScript("conversation.focusField()")

    def _on_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        """The page itself is not told of all: behind a menu that was open Qt tells it nothing."""
        if (
            not self._is_closed
            and (has_focus := now is not None and self._view.isAncestorOf(now)) != self._has_focus
        ):
            self._has_focus = has_focus
            self._run([["focus", has_focus]])

    def _run(self, operations: list[_Operation]) -> None:
        if not operations or self._is_closed:
            return
        is_behind = bool(self._sent) and time.monotonic() - self._sent[0] > _BEHIND_S
        if not self.is_ready or is_behind or self._waiting:
            self._waiting += operations
            return
        self._sent.append(time.monotonic())
        # ASCII JSON: valid JavaScript whatever a model wrote (also lone surrogates and U+2028).
        self._page.runJavaScript(f"conversation.apply({json.dumps(operations)})", self._on_done)

    def _on_done(self, _answer: object) -> None:
        """The page has shown something; what waited until it caught up is laid out at once."""
        self._sent.popleft()
        if not self._sent:
            self._run_waiting()

    def _run_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._run(waiting)

    def _on_loaded(self) -> None:
        self.is_ready = True
        for part in self._view.findChildren(QWidget):  # what the page is drawn on takes drops of its own
            part.setAcceptDrops(False)
        self._run_waiting()
        self.ready.emit()


def _place_at(place: ScrollPlace) -> _Operation:
    return ["place", place.key, place.above, MARKED_MS if place.is_marked else 0]


class _Stream:
    """What the page has of an answer that is coming."""

    def __init__(self) -> None:
        self._splitter = BlockSplitter()
        self._is_raw = False

    def take(self, text: str, names: Names) -> tuple[str, str | None, str]:
        """HTML of the blocks now complete; HTML of the rest, or None and plain text to append to it."""
        blocks = self._splitter.feed(text)
        done = "".join(whole_prose(block, names) for block in blocks)
        if blocks:
            self._is_raw = False
        if self._is_raw:
            return done, None, text
        tail = self._splitter.tail()
        if self._splitter.tail_length <= _LONGEST_TAIL:
            return done, growing_prose(tail, names) if tail else "", ""
        self._is_raw = True
        return done, "", tail.text if tail else ""


class _Bridge(QObject):
    """What the page may call."""

    acted = pyqtSignal(str, str, str)
    loaded = pyqtSignal()
    scrolled = pyqtSignal(str, int)
    near_top = pyqtSignal()
    pointed = pyqtSignal(object)
    field_pointed = pyqtSignal(bool, QPoint)

    @pyqtSlot(bool, int, int)
    def field_menu(self, has_selection: bool, x: int, y: int) -> None:
        self.field_pointed.emit(has_selection, QPoint(x, y))

    @pyqtSlot(str, int, str, str, str, int, int)
    def menu(  # noqa: PLR0917 - as the page calls it
        self, key: str, code: int, link: str, chosen: str, text: str, x: int, y: int
    ) -> None:
        place = QPoint(x, y)
        self.pointed.emit(Pointed(key=key, place=place, code=code, link=link, chosen=chosen, text=text))

    @pyqtSlot()
    def older(self) -> None:
        self.near_top.emit()

    @pyqtSlot(str, int)
    def place(self, key: str, above: int) -> None:
        self.scrolled.emit(key, above)

    @pyqtSlot()
    def ready(self) -> None:
        self.loaded.emit()

    @pyqtSlot(str, str, str)
    def act(self, name: str, key: str, argument: str) -> None:
        self.acted.emit(name, key, argument)


class _Page(QWebEnginePage):
    """Goes nowhere but to our page."""

    def acceptNavigationRequest(  # noqa: N802 - Qt's name
        self, url: QUrl, _kind: QWebEnginePage.NavigationType, _is_main_frame: bool
    ) -> bool:
        """Links are opened by the window, in the user's browser."""
        return bool(url == QUrl.fromLocalFile(str(_PAGE)))


class _OnlyOurFiles(QWebEngineUrlRequestInterceptor):
    """Refuses every request that is not for a file of ours."""

    def interceptRequest(self, info: QWebEngineUrlRequestInfo) -> None:  # noqa: N802 - Qt's name
        """Called for each request before it is made."""
        url = info.requestUrl()
        path = Path(url.toLocalFile()) if url.isLocalFile() else None
        is_ours = url.scheme() == "qrc" or (
            path is not None and ".." not in path.parts and any(path.is_relative_to(at) for at in _SERVED)
        )
        info.block(not is_ours)
