"""The body of the window: left pane, editor over bottom pane, right pane; what is seen and how large."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QApplication, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from presentation.panels.debug.tally import EventTally
from presentation.panels.project.outline import OutlinePane
from presentation.panels.project.results import ResultsList
from presentation.panels.project.tree import ProjectTree
from presentation.ui.empty_state import EmptyNote
from presentation.ui.frame import IconButton, LineSplitter, PaneSection
from presentation.ui.styles import mark
from presentation.ui.tab_strip import TabStrip
from presentation.ui.workspace import WindowServices
from presentation.window.layout_state import fit, sizes_of, usual_sides
from shared.message import Message, msg

_RIGHT_TABS: tuple[tuple[Message, Message], ...] = (
    (msg("Conversation"), msg("The conversation with the assistant appears here.")),
    (msg("Context"), msg("What goes with the next message appears here.")),
    (msg("Debug"), msg("How the program is doing appears here.")),
    (msg("Info"), msg("What is known of the project appears here.")),
    (msg("Components"), msg("Parts with their models and data sheets will be searched here.")),
)


class Panes(QWidget):
    """Bare at first: the places of editor, bottom pane and conversation are filled by `put`."""

    fitted = pyqtSignal(object)
    """Fit: other panes are seen than before"""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._wanted = {"left": True, "bottom": True, "right": True}
        self._asked_for: frozenset[str] = frozenset()
        """Panes asked for while the window was too narrow for them."""
        self._has_sizes = False
        self._scale = services.theme.theme.scale
        self.tree = ProjectTree(services)
        self.results = ResultsList(services)
        self.outline = OutlinePane(services)
        self.editor: QWidget = QWidget()
        self.bottom: QWidget = QWidget()
        self.conversation: QWidget = QWidget()
        self.tabs = TabStrip(services, [title for title, _ in _RIGHT_TABS], "rightTabs")
        self._right_stack = QStackedWidget()
        self._tally = EventTally(services.app.events)
        self._to_make: dict[int, Callable[[], QWidget]] = {
            1: self._make_context,
            2: self._make_debug,
            3: self._make_info,
        }
        """Panels of the right tabs that are made when they are first wanted, by their tab."""
        self._build()
        services.theme.changed.connect(self.restyle)
        self.restyle()

    def _build(self) -> None:
        services = self._services
        horizontal, vertical = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self.left = LineSplitter(vertical, services, "left")
        self.project_section = PaneSection(services, msg("Project"), self.tree, "section.project")
        results = PaneSection(services, msg("Results"), self.results, "section.results")
        outline = PaneSection(services, msg("Outline"), self.outline, "section.outline")
        fold = IconButton(services, "list-tree", msg("Fold or unfold all"), name="foldOutline")
        fold.clicked.connect(self.outline.toggle_all)
        outline.add_tool(fold)
        for section in (self.project_section, results, outline):
            self.left.addWidget(section)
        self.centre = LineSplitter(vertical, services, "centre")
        self.centre.addWidget(self.editor)
        self.centre.addWidget(self.bottom)
        self.centre.setStretchFactor(0, 1)
        self.right = self._make_right()
        self._columns = LineSplitter(horizontal, services, "panes")
        for widget in (self.left, self.centre, self.right):
            self._columns.addWidget(widget)
        self._columns.setStretchFactor(1, 1)
        mark(self.left, surface="panel")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._columns)

    def _make_right(self) -> QWidget:
        right = QWidget()
        right.setObjectName("rightPane")
        right.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        mark(right, surface="base")
        head = QWidget()
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        mark(head, surface="chrome", line="bottom")
        row = QHBoxLayout(head)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.tabs)
        row.addStretch(1)
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self._right_stack, 1)
        for title, note in _RIGHT_TABS:
            page: QWidget = self.conversation
            if title.template != "Conversation":
                page = EmptyNote(self._services, note)
            self._right_stack.addWidget(page)
        self.tabs.currentChanged.connect(self._show_right)
        return right

    def _show_right(self, index: int) -> None:
        make = self._to_make.pop(index, None)
        if make is not None:
            place = self._right_stack.widget(index)
            assert place is not None
            self._right_stack.insertWidget(index, make())
            self._right_stack.removeWidget(place)
            place.deleteLater()
        self._right_stack.setCurrentIndex(index)

    def _make_context(self) -> QWidget:
        from presentation.panels.context_inspector.panel import ContextPanel

        return ContextPanel(self._services, lambda: getattr(self.conversation, "use", None))

    def _make_debug(self) -> QWidget:
        from presentation.panels.debug.panel import DebugPanel

        return DebugPanel(self._services, self._tally)

    def _make_info(self) -> QWidget:
        from presentation.panels.info.panel import InfoPanel

        return InfoPanel(self._services)

    # ---- panels --------------------------------------------------------------------------------

    def put(self, name: str, panel: QWidget) -> None:
        """Put a panel into the place that was kept for it: editor, bottom, conversation."""
        place: QWidget = getattr(self, name)
        if name == "conversation":
            self._right_stack.insertWidget(0, panel)
            self._right_stack.removeWidget(place)
            self._right_stack.setCurrentIndex(self.tabs.currentIndex())
        else:
            self.centre.replaceWidget(self.centre.indexOf(place), panel)
            panel.show()
        place.deleteLater()
        setattr(self, name, panel)
        self.restyle()

    def maximise_bottom(self, is_maximised: bool) -> None:
        """Give the bottom pane the editor's room, or take it back."""
        self.editor.setVisible(not is_maximised)

    # ---- what is seen --------------------------------------------------------------------------

    @property
    def wanted(self) -> Mapping[str, bool]:
        """Which panes the person wants, whether there is room for them or not."""
        return dict(self._wanted)

    def set_wanted(self, wanted: Mapping[str, bool]) -> None:
        """As they were wanted the last time."""
        for name in self._wanted:
            self._wanted[name] = wanted.get(name, True)
        self.fit()

    def set_pane(self, name: str, is_wanted: bool) -> None:
        """Show or hide a pane."""
        self._wanted[name] = is_wanted
        self._asked_for = self._asked_for | {name} if is_wanted else self._asked_for - {name}
        self.fit()

    def toggle_pane(self, name: str) -> None:
        """By its key."""
        self.set_pane(name, not self.is_shown(name))

    def is_shown(self, name: str) -> bool:
        """Whether a pane is seen now."""
        widget = {"left": self.left, "bottom": self.bottom, "right": self.right}[name]
        return widget.isVisibleTo(self)

    def show_pane(self, name: str) -> None:
        """Show a pane that something happens in."""
        if not self.is_shown(name):
            self.set_pane(name, is_wanted=True)

    def show_right(self, index: int) -> None:
        """Bring a tab of the right pane to the front."""
        self.show_pane("right")
        self.tabs.setCurrentIndex(index)
        page = self._right_stack.currentWidget()
        if page is not None:
            page.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def next_pane(self) -> None:
        """F6: the focus goes round."""
        panes = [self.tree.view, self.results.view, self.outline.view, self.editor, self.bottom]
        panes.append(self._right_stack.currentWidget() or self.tabs)
        shown = [pane for pane in panes if pane.isVisible()]
        if not shown:
            return
        focused = QApplication.focusWidget()
        here = next(
            (
                i
                for i, pane in enumerate(shown)
                if focused is not None and (pane is focused or pane.isAncestorOf(focused))
            ),
            -1,
        )
        target = shown[(here + 1) % len(shown)]
        inner = target if target.focusPolicy() != Qt.FocusPolicy.NoFocus else target.nextInFocusChain()
        (inner or target).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def fit(self) -> None:
        """Fold what there is no room for."""
        found = fit(
            self.width(), self._wanted, asked_for=self._asked_for, scale=self._services.theme.theme.scale
        )
        self.left.setVisible(found.left)
        self.bottom.setVisible(found.bottom)
        self._place_right(overlays=found.right_overlays)
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
        return {each.objectName(): kept for each in splitters if (kept := sizes_of(each))}

    @property
    def are_sizes_usual(self) -> bool:
        """Nothing is hidden that would distort them."""
        return all(self._wanted.values()) and not self._asked_for

    def set_sizes(self, kept: Mapping[str, tuple[int, ...]]) -> None:
        """Those of the pictures, then what was kept of others."""
        bottom = self._services.theme.theme.size("pane.bottom_default")
        self._columns.setSizes(self._usual_columns())
        room = max(self.height(), 1)
        # In a low window some lines of the editor stay, and the curves are high enough to be read.
        bottom = min(bottom, room * 13 // 20)
        self.centre.setSizes([room - bottom, bottom])
        self.left.setSizes([room * 28 // 100, room * 16 // 100, room * 56 // 100])
        for splitter in (self.left, self.centre, self._columns):
            sizes = kept.get(splitter.objectName())
            if sizes and len(sizes) == splitter.count():
                splitter.setSizes(list(sizes))

    def _usual_columns(self) -> list[int]:
        theme = self._services.theme.theme
        left, right = usual_sides(self.width(), theme)
        return [left, max(self.width() - left - right, theme.size("pane.editor_min")), right]

    def restyle(self) -> None:
        """Bounds of the panes."""
        theme = self._services.theme.theme
        kept, factor = self._columns.sizes(), theme.scale / self._scale
        self._scale = theme.scale
        self.left.setMinimumWidth(theme.size("pane.left_min"))
        self.right.setMinimumWidth(theme.size("pane.right_min"))
        self.right.setMaximumWidth(theme.size("pane.right_max"))
        self.centre.setMinimumWidth(theme.size("pane.editor_min"))
        # At twice the size both minima would not fit a screen of 720 lines.
        self.bottom.setMinimumHeight(round(theme.size("pane.bottom_min") / theme.scale))
        self.editor.setMinimumHeight(round(theme.size("space.12") * 2 / theme.scale))
        self.fit()
        if self._has_sizes and factor != 1:  # the side panes grow with what is in them
            usual = self._usual_columns()
            sides = [round(size * factor) or usual[index] for index, size in enumerate(kept)]
            middle = self.width() - sum(sides) + sides[1]
            self._columns.setSizes([*sides[:1], max(middle, 1), *sides[2:]])
