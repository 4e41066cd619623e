"""The row of the conversations: what each is doing, its name, close; a new one, and the list of all."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from PyQt6.QtCore import QEvent, QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QTabBar, QWidget

from presentation.panels.conversation.status_line import Spinner
from presentation.ui.closable_tabs import ClosableTabs, dot
from presentation.ui.frame import IconButton
from presentation.ui.parts import SpokenName, arrange
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from presentation.use_words import seconds_of
from shared.message import Message, msg, one_line

TabState = Literal["idle", "running", "waiting", "ended"]
_SHORTEST_NAME, _LONGEST_NAME = 1.25, 7
"""Of a tab, in widths of its height: they share the room there is, three with marks that of 360 pixels."""
_SHORT_S = 10
_LAST_WORD = re.compile(r"[!-~]*$")
"""As far as it has come; of Chinese each sign is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TabLook:
    """What a tab shows."""

    key: str
    name: str
    """"" = a new conversation."""
    state: TabState
    doing: Message | None = None
    """The state in words; None: there is nothing to be said."""
    can_rename: bool = False


def lasted(began: float) -> str:
    """How long ago that was, by the monotonic clock: ``8 s``, ``4 min``."""
    seconds = time.monotonic() - began
    return f"{seconds:.0f} s" if seconds < _SHORT_S else seconds_of(seconds)


def _own_words(name: str, others: Sequence[str]) -> str:
    """A name from the word on in which it is none of the others, which begin as it does."""
    pairs = (takewhile(lambda pair: pair[0] == pair[1], zip(name, other, strict=False)) for other in others)
    alike = max((len(list(each)) for each in pairs), default=0)
    begun = _LAST_WORD.search(name[:alike])
    return begun[0] + name[alike:] if begun and alike < len(name) else name


def _is_same_cut(one: str, other: str) -> bool:
    """Whether two names are one sentence, whole or cut: nothing in them tells them apart."""
    return one == other or any(
        cut.endswith("…") and whole.startswith(cut.rstrip("…")) for cut, whole in ((one, other), (other, one))
    )


class TabRow(QWidget):
    """Says what was clicked; the panel says what there is."""

    chosen = pyqtSignal(str)
    close_wanted = pyqtSignal(object)
    close_others_wanted = pyqtSignal(object)
    moved = pyqtSignal(str, int)
    """Key, its place from now on."""
    renamed = pyqtSignal(str, str)
    """Key, name."""
    new_clicked = pyqtSignal(bool)
    list_clicked = pyqtSignal(bool)

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._looks: tuple[TabLook, ...] = ()
        self._since: dict[str, float] = {}
        """When the present state of each began."""
        self._is_filling = False
        self.setObjectName("conversationTabRow")
        mark_area(self, surface="chrome", line="bottom")
        self.tabs = ClosableTabs(services, "conversationTabs", msg("Conversations"), is_narrow=True)
        self.tabs.setSelectionBehaviorOnRemove(QTabBar.SelectionBehavior.SelectRightTab)
        self.tabs.currentChanged.connect(self._on_current)
        self.tabs.tabMoved.connect(self._on_moved)
        self.tabs.close_wanted.connect(self.close_wanted)
        self.tabs.close_others_wanted.connect(self.close_others_wanted)
        self.tabs.tabBarDoubleClicked.connect(self.begin_rename)
        self.tabs.installEventFilter(self)
        self.name_field = QLineEdit(self.tabs)
        self.name_field.setObjectName("conversationName")
        SpokenName(services, self.name_field, msg("Conversation name"))
        mark(self.name_field, small=True)
        self.name_field.hide()
        self.name_field.installEventFilter(self)
        self.name_field.returnPressed.connect(lambda: self._end_rename(keeps=True))
        self._renamed = ""
        """Key of the tab whose name is being written."""
        self.new_button = IconButton(
            services, "plus", msg("New conversation"), action="new_conversation", name="newConversation"
        )
        self.new_button.clicked.connect(self.new_clicked)
        self.list_button = IconButton(services, "history", msg("Conversations"), name="conversationHistory")
        self.list_button.clicked.connect(self.list_clicked)
        self._row = arrange(
            QHBoxLayout(self), (self.tabs, 1), self.new_button, self.list_button, edges=0, gap=0
        )

    # --- what is shown -------------------------------------------------------------------------------

    def show_tabs(self, looks: Sequence[TabLook], front: str) -> None:
        """These, in this order, with `front` in front."""
        if tuple(looks) == self._looks and front == self.front:
            return
        self._is_filling = True
        before = {look.key: look.state for look in self._looks}
        self._since = {
            look.key: self._since[look.key] if before.get(look.key) == look.state else time.monotonic()
            for look in looks
        }
        self._looks = tuple(looks)
        keys = [look.key for look in looks]
        for index in reversed(range(self.tabs.count())):
            if self.tabs.tabData(index) not in keys:
                self.tabs.removeTab(index)
        for index, look in enumerate(looks):
            at = self._index_of(look.key)
            if at < 0:
                self.tabs.add(look.key, index)
            elif at != index:
                self.tabs.moveTab(at, index)
        self.tabs.setCurrentIndex(self._index_of(front))
        self._is_filling = False
        self._say()

    @property
    def looks(self) -> tuple[TabLook, ...]:
        """What is shown, from left to right."""
        return self._looks

    @property
    def front(self) -> str:
        return str(self.tabs.tabData(self.tabs.currentIndex()) or "")

    def _index_of(self, key: str) -> int:
        return next((i for i in range(self.tabs.count()) if self.tabs.tabData(i) == key), -1)

    def _say(self) -> None:
        language = self._services.language
        self.tabs.refresh_buttons()
        for index, look in enumerate(self._looks):
            self._show_mark(index, look.state)
        widest, metrics = self._widest(), self.tabs.fontMetrics()
        right = Qt.TextElideMode.ElideRight
        names = [one_line(self._name(look)) for look in self._looks]
        short = [metrics.elidedText(name, right, widest) for name in names]
        for index, (look, name) in enumerate(zip(self._looks, names, strict=True)):
            doing = "" if look.doing is None else language(look.doing)
            shown = short[index]
            alike = [
                other
                for other, text in zip(names, short, strict=True)
                if text == shown and not _is_same_cut(other, name)
            ]
            own = _own_words(name, alike)
            if own != name:
                shown = metrics.elidedText(f"…{own}", right, widest)
            self.tabs.setTabText(index, shown.replace("&", "&&"))
            self.tabs.setTabToolTip(index, "\n".join(filter(None, (name, doing))))
            self.tabs.setAccessibleTabName(index, ", ".join(filter(None, (name, doing))))

    def _name(self, look: TabLook) -> str:
        return " ".join(look.name.split()) or self._services.language(msg("New conversation"))

    def _widest(self) -> int:
        """How wide a name may be, in pixels: short ones leave their room to the others."""
        tabs, metrics, side = self.tabs, self.tabs.fontMetrics(), self._services.theme.theme.size("row.tab")
        room = tabs.width()
        for index in range(tabs.count()):  # what a tab takes beside its name
            room -= tabs.tabSizeHint(index).width() - metrics.horizontalAdvance(tabs.tabText(index))
        widths = sorted(metrics.horizontalAdvance(self._name(look)) for look in self._looks)
        for number, width in enumerate(widths):
            share = room // (len(widths) - number)
            if width > share:
                return min(max(share, round(_SHORTEST_NAME * side)), _LONGEST_NAME * side)
            room -= width
        return _LONGEST_NAME * side

    def _show_mark(self, index: int, state: TabState) -> None:
        old = self._mark_at(index)
        if state == ("idle" if old is None else old.state):
            return
        new = None if state == "idle" else _Mark(self._services, state)
        self.tabs.setTabButton(index, QTabBar.ButtonPosition.LeftSide, new)
        if old is not None:
            old.deleteLater()

    def _mark_at(self, index: int) -> _Mark | None:
        found = self.tabs.tabButton(index, QTabBar.ButtonPosition.LeftSide)
        return found if isinstance(found, _Mark) else None

    def menu_of_all(self, behind: Sequence[TabLook] = ()) -> QMenu:
        """Every tab with its state in words, and those `behind` them."""
        language = self._services.language
        menu = QMenu(self)
        menu.setObjectName("conversationsMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for look in (*self._looks, *behind):
            name = self._name(look)
            doing = "" if look.doing is None else language(look.doing)
            time_words = lasted(self._since[look.key]) if doing and look.key in self._since else ""
            text = f"{name}\t{'  '.join(filter(None, (doing, time_words)))}"
            action = menu.addAction(text.replace("&", "&&"))
            assert action is not None
            action.setCheckable(True)
            action.setChecked(look.key == self.front)
            action.triggered.connect(lambda _checked, key=look.key: self.chosen.emit(key))
        return menu

    def popup(self, menu: QMenu) -> None:
        """Under the button of the list."""
        button = self.list_button
        below = button.mapToGlobal(QPoint(button.width() - menu.sizeHint().width(), button.height()))
        menu.popup(below)

    # --- looks ---------------------------------------------------------------------------------------

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self.setFixedHeight(theme.size("row.tab"))
        self._row.setContentsMargins(0, 0, theme.size("space.2"), 0)
        self.tabs.restyle()
        for index in range(self.tabs.count()):
            if (found := self._mark_at(index)) is not None:
                found.restyle()
        self._say()

    def retranslate(self) -> None:
        self.tabs.retranslate()
        self._say()

    # --- what is done --------------------------------------------------------------------------------

    def _on_current(self, _index: int) -> None:
        if not self._is_filling and self.front:
            self.chosen.emit(self.front)

    def _on_moved(self, _from: int, to: int) -> None:
        if not self._is_filling:
            keys = {look.key: look for look in self._looks}
            self._looks = tuple(keys[self.tabs.tabData(index)] for index in range(self.tabs.count()))
            self.moved.emit(str(self.tabs.tabData(to)), to)

    def begin_rename(self, index: int) -> None:
        """Write another name into a tab; Enter and leaving keep it, Escape does not."""
        if not 0 <= index < len(self._looks) or not self._looks[index].can_rename:
            return
        look = self._looks[index]
        self._renamed = look.key
        self.name_field.setText(" ".join(look.name.split()))
        self.name_field.setAccessibleName(self._services.language(msg("Name")))
        self.name_field.setGeometry(self.tabs.tabRect(index).adjusted(2, 2, -2, -2))
        self.name_field.show()
        self.name_field.raise_()
        self.name_field.selectAll()
        self.name_field.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def is_renaming(self) -> bool:
        return bool(self._renamed)

    def _end_rename(self, *, keeps: bool) -> None:
        key, self._renamed = self._renamed, ""
        self.name_field.hide()
        name = " ".join(self.name_field.text().split())
        before = next((look.name for look in self._looks if look.key == key), "")
        if keeps and key and name and name != " ".join(before.split()):
            self.renamed.emit(key, name)

    def eventFilter(self, watched: object, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """F2 on the tabs, their width, and the keys of the name that is being written."""
        if event is None:
            return False
        if watched is self.tabs:
            if event.type() == QEvent.Type.Resize:
                self._say()
            is_f2 = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_F2
            if is_f2 and event.type() == QEvent.Type.KeyPress:
                self.begin_rename(self.tabs.currentIndex())
            return is_f2
        if watched is self.name_field and self._renamed:
            if event.type() == QEvent.Type.FocusOut:
                self._end_rename(keeps=True)
            elif isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
                if event.type() == QEvent.Type.ShortcutOverride:  # not the panel's, which stops the run
                    event.accept()
                    return True
                if event.type() == QEvent.Type.KeyPress:
                    self._end_rename(keeps=False)
                    return True
        return False


class _Mark(QWidget):
    """Left of a name: turns while the conversation runs, a dot when it waits or has ended unseen."""

    def __init__(self, services: WindowServices, state: TabState) -> None:
        super().__init__()
        self._services = services
        self.state = state
        self._spinner = Spinner(services)
        self._row = arrange(QHBoxLayout(self), self._spinner, edges=0)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._spinner.run(is_running=state == "running")
        self.restyle()

    def restyle(self) -> None:
        self._spinner.restyle()
        before = self._services.theme.theme.size("space.2")
        self._row.setContentsMargins(before, 0, 0, 0)
        self.setFixedSize(before + self._spinner.width(), self._spinner.height())

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        if self.state != "running":
            side = self.height()
            mark = dot(self._services, side, self.devicePixelRatioF(), "warn.icon")
            QPainter(self).drawPixmap(self.width() - side, 0, mark)
