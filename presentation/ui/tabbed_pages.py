"""Pages behind a strip of tabs, each known by its key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PyQt6.QtWidgets import QStackedWidget, QWidget

from presentation.ui.tab_strip import TabStrip
from shared.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page that can be made."""

    key: str
    title: Message
    make: Callable[[], QWidget]
    is_lazy: bool = True
    """Made when it is first shown; else by `TabbedPages.begin`."""


class TabbedPages(QStackedWidget):
    """Shows the page of the active tab. Others know pages by key: positions change between versions."""

    def __init__(self, tabs: TabStrip, pages: Sequence[Page]) -> None:
        """`tabs` has the titles of `pages`."""
        super().__init__()
        self.tabs = tabs
        self._keys = [page.key for page in pages]
        self._to_make = {page.key: page for page in pages}
        for _ in pages:
            self.addWidget(QWidget())
        tabs.currentChanged.connect(self._show)

    @property
    def current_key(self) -> str:
        return self._keys[self.tabs.currentIndex()]

    def index_of(self, key: str) -> int:
        """The place of its tab. Raises ValueError for a key that no page has."""
        return self._keys.index(key)

    def begin(self) -> None:
        for page in list(self._to_make.values()):
            if not page.is_lazy or page.key == self.current_key:
                self._make(page.key)

    def bring_back(self, key: str) -> None:
        """Bring the tab of a page to the front that was there in an earlier start, if it still exists."""
        if key in self._keys:
            self.tabs.setCurrentIndex(self.index_of(key))

    def show_page(self, key: str) -> None:
        """Bring a page to the front. Raises ValueError for a key that no page has."""
        self.tabs.setCurrentIndex(self.index_of(key))
        self._make(key)

    def _show(self, index: int) -> None:
        self._make(self._keys[index])
        self.setCurrentIndex(index)

    def _make(self, key: str) -> None:
        page = self._to_make.pop(key, None)
        if page is None:
            return
        index = self.index_of(key)
        place = self.widget(index)
        self.insertWidget(index, page.make())
        if place is not None:
            self.removeWidget(place)
            place.deleteLater()
        self.setCurrentIndex(self.tabs.currentIndex())
