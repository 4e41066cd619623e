"""The body of the window: left pane, editor over bottom pane, right pane; what is seen and how large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from presentation.ui.frame import IconButton, LineSplitter, PaneSection
from presentation.ui.parts import SpokenName, arrange
from presentation.ui.signals import Signal, signal
from presentation.ui.styles import mark, mark_area
from presentation.ui.tab_strip import TabStrip
from presentation.ui.tabbed_pages import TabbedPages
from presentation.ui.workspace import WindowServices
from presentation.window.layout_state import Fit, fit, fitted, sizes_of, usual_sides
from presentation.window.panels import Parts, panels_at, place_of
from shared.message import msg

_LEFT_SHARES = {"project": 28, "results": 16, "outline": 56}
"""How the usual left pane is shared out, by panel."""
_GIVE_ROOM = ("bottom", "right")
"""Panes that are not seen beside a page that needs the width and height of the centre."""
_A_SHARE = 20
"""Of a panel that is not named there."""


def _holds_focus(pane: QWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and (pane is focused or pane.isAncestorOf(focused))


def _enter(pane: QWidget) -> None:
    """Give a pane the focus, or what is first in it."""
    inner = pane if pane.focusPolicy() != Qt.FocusPolicy.NoFocus else pane.nextInFocusChain()
    (inner or pane).setFocus(Qt.FocusReason.ShortcutFocusReason)


class Panes(QWidget):
    """Bare at first: `making` puts in what is imported late: editor, bottom pane, conversation."""

    fitted: Signal[Fit] = signal(object)
    """Other panes are seen than before"""

    def __init__(self, services: WindowServices, parts: Parts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._parts = parts
        self._wanted = {"left": True, "bottom": True, "right": True}
        self._asked_for: frozenset[str] = frozenset()
        """Panes asked for while the window was too narrow for them."""
        self._is_plots = False
        """The plot has all the room; what was wanted before stays wanted."""
        self._is_wide = False
        """The centre shows a page that needs the room of the bottom and the right pane."""
        self._asked_beside: frozenset[str] = frozenset()
        """Panes asked for beside such a page."""
        self._before_wide: dict[str, tuple[int, ...]] = {}
        """Sizes from before it came to the front."""
        self._has_sizes = False
        self._scale = services.theme.theme.scale
        self._sides: tuple[float, list[int]] | None = None
        """A scale and the columns at it, from when nobody had moved them since."""
        self._upper, self._lower = QWidget(), QWidget()
        """The parts of the centre: places for editor and bottom pane, then these."""
        pages = parts.pages("right")
        self.tabs = TabStrip(services, [page.title for page in pages], "rightTabs")
        SpokenName(services, self.tabs, msg("Side panels"))
        self.right_pages = TabbedPages(self.tabs, pages)
        self._build()
        services.theme.changed.connect(self.restyle)
        self.restyle()

    def _build(self) -> None:
        # From the outside in: Qt styles a widget anew, with all that is in it, when it is given a parent.
        services = self._services
        horizontal, vertical = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self._columns = LineSplitter(horizontal, services, "panes")
        arrange(QVBoxLayout(self), self._columns, edges=0)
        self.left = LineSplitter(vertical, services, "left")
        mark(self.left, surface="panel")
        self.centre = LineSplitter(vertical, services, "centre")
        self.right = QWidget()
        for widget in (self.left, self.centre, self.right):
            self._columns.addWidget(widget)
        self._columns.setStretchFactor(1, 1)
        self._columns.splitterMoved.connect(self._forget_sides)
        self.sections: dict[str, PaneSection] = {}
        """Of the left pane, by panel."""
        for entry in panels_at("left"):
            section = PaneSection(services, entry.title, f"section.{entry.key}")
            self.sections[entry.key] = section
            self.left.addWidget(section)
            section.fill(entry.make(self._parts))
        fold = IconButton(services, "list-tree", msg("Collapse or expand all"), name="foldOutline")
        fold.clicked.connect(self._parts.outline.toggle_all)
        self.sections["outline"].add_tool(fold)
        self.centre.addWidget(self._upper)
        self.centre.addWidget(self._lower)
        self.centre.setStretchFactor(0, 1)
        self._build_right()

    def _build_right(self) -> None:
        self.right.setObjectName("rightPane")
        mark_area(self.right, surface="base")
        head = QWidget()
        mark_area(head, surface="chrome", line="bottom")
        arrange(QVBoxLayout(self.right), head, (self.right_pages, 1), edges=0, gap=0)
        arrange(QHBoxLayout(head), self.tabs, 1, edges=0)

    # ---- panels --------------------------------------------------------------------------------

    def making(self) -> Iterator[None]:
        """Make editor, bottom pane and what is not lazy at the right, a step at a time."""
        self._upper = self._put(self._upper, self._parts.editor)
        yield
        self._lower = self._put(self._lower, self._parts.bottom)
        self._parts.bottom.begin()
        yield
        self.right_pages.begin()
        self.restyle()

    def _put(self, place: QWidget, panel: QWidget) -> QWidget:
        """Put a panel into the place that was kept for it."""
        self.centre.replaceWidget(self.centre.indexOf(place), panel)
        panel.show()
        place.deleteLater()
        return panel

    def maximise_bottom(self, is_maximised: bool) -> None:
        """Give the bottom pane the editor's room, or take it back."""
        self._upper.setVisible(not is_maximised)
        if self._is_plots and not is_maximised:
            self._is_plots = False
            self.fit()

    def give_plot_the_room(self) -> None:
        """The waveforms alone, at the second time everything as it was."""
        is_wanted = not self._is_plots
        if is_wanted:
            self._parts.bottom.show_tab("waveforms")
        self._is_plots = is_wanted
        self._parts.bottom.set_maximised(is_wanted)
        self._upper.setVisible(not is_wanted)
        self.fit()

    def set_wide(self, is_wide: bool) -> None:
        """A page in the centre needs the room of the bottom and the right pane, or gives it back."""
        if is_wide == self._is_wide:
            return
        if is_wide:
            self._before_wide = self.sizes()
        self._is_wide, self._asked_beside = is_wide, frozenset()
        self.fit()
        if not is_wide:  # a splitter forgets how large what it hid was
            for splitter in (self.centre, self._columns):
                if (kept := self._before_wide.get(splitter.objectName())) is not None:
                    splitter.setSizes(kept)
            self._before_wide = {}

    # ---- what is seen --------------------------------------------------------------------------

    @property
    def wanted(self) -> Mapping[str, bool]:
        """Which panes the person wants, whether there is room for them or not."""
        return dict(self._wanted)

    def set_wanted(self, wanted: Mapping[str, bool]) -> None:
        for name in self._wanted:
            self._wanted[name] = wanted.get(name, True)
        self.fit()

    def set_pane(self, name: str, is_wanted: bool) -> None:
        """Show or hide a pane; of those that give room to a wide page only beside it."""
        if self._is_plots:
            self.give_plot_the_room()
        if self._is_wide and name in _GIVE_ROOM:
            beside = self._asked_beside
            self._asked_beside = beside | {name} if is_wanted else beside - {name}
            self.fit()
            return
        self._wanted[name] = is_wanted
        self._asked_for = self._asked_for | {name} if is_wanted else self._asked_for - {name}
        self.fit()

    def toggle_pane(self, name: str) -> None:
        self.set_pane(name, not self.is_shown(name))

    def leave_panel(self, key: str) -> bool:
        """Hide the right pane where the focus is in this panel: it goes to the editor. False elsewhere."""
        page = self.right_pages.currentWidget()
        if self.right_pages.current_key != key or page is None or not _holds_focus(page):
            return False
        self.set_pane("right", is_wanted=False)
        editor = self._parts.editor.current_editor()
        _enter(editor or (self._upper if self._upper.isVisible() else self._lower))
        return True

    def is_shown(self, name: str) -> bool:
        widget = {"left": self.left, "bottom": self._lower, "right": self.right}[name]
        return widget.isVisibleTo(self)

    def show_pane(self, name: str) -> None:
        if not self.is_shown(name):
            self.set_pane(name, is_wanted=True)

    def show_panel(self, key: str) -> None:
        """Bring a panel of the table to the front. Raises KeyError."""
        place = place_of(key)
        self.show_pane(place)
        if place == "bottom":
            self._parts.bottom.show_tab(key)
        elif place == "right":
            self.right_pages.show_page(key)
            page = self.right_pages.currentWidget()
            if page is not None:
                page.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def next_pane(self) -> None:
        """F6: the focus goes round."""
        parts = self._parts
        panes = [parts.tree.view, parts.results.view, parts.outline.view, self._upper, self._lower]
        panes.append(self.right_pages.currentWidget() or self.tabs)
        shown = [pane for pane in panes if pane.isVisible()]
        if not shown:
            return
        here = next((i for i, pane in enumerate(shown) if _holds_focus(pane)), -1)
        _enter(shown[(here + 1) % len(shown)])

    def fit(self) -> None:
        wanted = dict(self._wanted)
        if self._is_wide:
            wanted |= {name: name in self._asked_beside for name in _GIVE_ROOM}
        if self._is_plots:
            wanted = {"left": False, "bottom": True, "right": False}
        found = fit(self.width(), wanted, asked_for=self._asked_for, scale=self._services.theme.theme.scale)
        self.left.setVisible(found.left)
        if found.bottom and self._lower.isHidden():
            self._lower.setVisible(True)
            # One that was hidden from the start gets no more than its least height from Qt.
            upper, lower = self.centre.sizes()
            usual = self._usual_bottom()
            if self._has_sizes and upper and lower < usual // 2:
                self.centre.setSizes([max(upper + lower - usual, 1), usual])
        self._lower.setVisible(found.bottom)
        self._place_right(overlays=found.right_overlays and self._has_sizes)
        self.right.setVisible(found.right)
        self.fitted.emit(found)

    def _place_right(self, *, overlays: bool) -> None:
        if overlays and self.right.parent() is not self:
            self.right.setParent(self)
        elif not overlays and self.right.parent() is self:
            self._columns.addWidget(self.right)
            self._columns.setSizes(self._usual_columns())
        mark(self.right, line="left" if overlays else "")
        column = self.right.layout()
        if column is not None:
            column.setContentsMargins(int(overlays), 0, 0, 0)
        if overlays:
            width = min(self._services.theme.theme.size("pane.right_default"), self.width())
            self.right.setGeometry(self.width() - width, 0, width, self.height())
            self.right.raise_()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """Panes fold when there is no room for them."""
        super().resizeEvent(event)
        if not self._has_sizes:
            self._has_sizes = True  # only now there are any
            self.set_sizes({})
        self.fit()

    # ---- sizes ---------------------------------------------------------------------------------

    def sizes(self) -> dict[str, tuple[int, ...]]:
        """Sizes of the parts of each splitter by its name."""
        splitters = (self.left, self.centre, self._columns)
        found = {each.objectName(): kept for each in splitters if (kept := sizes_of(each))}
        return {**found, **self._before_wide}

    @property
    def are_sizes_usual(self) -> bool:
        """Nothing is hidden that would distort them."""
        return all(self._wanted.values()) and not self._asked_for and not self._is_wide

    def set_sizes(self, kept: Mapping[str, tuple[int, ...]]) -> None:
        """Those of the pictures, then what was kept of others, fitted to this window."""
        self._forget_sides()
        room, bottom = max(self.height(), 1), self._usual_bottom()
        shares = [_LEFT_SHARES.get(key, _A_SHARE) for key in self.sections]
        for splitter, usual, first in (
            (self.left, [room * share // sum(shares) for share in shares], None),
            (self.centre, [room - bottom, bottom], 1),
            (self._columns, self._usual_columns(), 1),
        ):
            sizes = kept.get(splitter.objectName(), ())
            is_alone = splitter is self._columns
            splitter.setSizes(fitted(sizes, usual[: splitter.count()], first=first, grows_alone=is_alone))

    def _usual_bottom(self) -> int:
        """In a low window some lines of the editor stay, and the curves are high enough to be read; in a high
        one they grow with it."""
        room = max(self.height(), 1)
        least = self._services.theme.theme.size("pane.bottom_default")
        return min(max(least, room * 2 // 5), room * 13 // 20)

    def _forget_sides(self) -> None:
        self._sides = None

    def _usual_columns(self) -> list[int]:
        theme = self._services.theme.theme
        left, right = usual_sides(self.width(), theme)
        return [left, max(self.width() - left - right, theme.size("pane.editor_min")), right]

    def restyle(self) -> None:
        theme = self._services.theme.theme
        before, self._scale = self._scale, theme.scale
        is_resized = self._has_sizes and theme.scale != before
        if is_resized and self._sides is None:  # of several changes the first: at twice the size a pane may
            self._sides = before, self._columns.sizes()  # have no room, and is no measure
        self.left.setMinimumWidth(theme.size("pane.left_min"))
        self.right.setMinimumWidth(theme.size("pane.right_min"))
        self.right.setMaximumWidth(theme.size("pane.right_max"))
        self.centre.setMinimumWidth(theme.size("pane.editor_min"))
        # At twice the size both minima would not fit a screen of 720 lines.
        self._lower.setMinimumHeight(round(theme.size("pane.bottom_min") / theme.scale))
        self._upper.setMinimumHeight(round(theme.size("space.12") * 2 / theme.scale))
        self.fit()
        if is_resized and self._sides is not None:  # the side panes grow with what is in them
            (scale, kept), usual = self._sides, self._usual_columns()
            shown = kept[: self._columns.count()]
            sides = [round(size * theme.scale / scale) or usual[index] for index, size in enumerate(shown)]
            middle = self.width() - sum(sides) + sides[1]
            self._columns.setSizes([*sides[:1], max(middle, 1), *sides[2:]])
