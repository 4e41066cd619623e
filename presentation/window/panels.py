"""The panels of the window as a table: the panes, their tabs, the menus and the stored layout read it.

To add one: a row here and its widget's module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from typing import Literal

from PyQt6.QtWidgets import QWidget

from application.app import Application
from application.ports.events import SettingsChanged
from presentation.panels.bottom_pane import BottomPane
from presentation.panels.conversation.context_use import ContextUse
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.debug.tally import EventTally
from presentation.panels.editor.editor_area import EditorArea
from presentation.panels.project.outline import OutlinePane
from presentation.panels.project.results import ResultsList
from presentation.panels.project.tree import ProjectTree
from presentation.panels.run_views import RunViews
from presentation.panels.studies.change_previews import ChangePreviews
from presentation.panels.studies.goals_watch import GoalsWatch
from presentation.panels.studies.influence_bars import InfluenceBars
from presentation.panels.studies.pages import StudyPages
from presentation.panels.studies.pull_hands import PullHands
from presentation.panels.studies.yield_watch import YieldWatch
from presentation.ui.tabbed_pages import Page
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

Place = Literal["left", "bottom", "right"]
"""A section of the left pane; a tab of the bottom or the right one."""


@dataclass(frozen=True, slots=True)
class PanelEntry:
    """One panel."""

    key: str
    """Kept in the stored layout: it stays when the panel is renamed or moved."""
    title: Message
    place: Place
    icon: str
    make: Callable[[Parts], QWidget]
    _: KW_ONLY
    shortcut: str = ""
    """As in "Ctrl+1", as `Action.keys`; brings its tab to the front. It counts the tabs of its pane."""
    is_lazy: bool = True
    """False: it follows what happens also before it is first shown."""


class Parts:
    """What panels are made of, and the panels that others speak to; each is made at its first use."""

    def __init__(self, services: WindowServices, app: Application) -> None:
        self.services = services
        self.app = app
        self.tally = EventTally(app.program.events)
        self.use: ContextUse | None = None
        """How much of its model's window the conversation takes; None before there is one."""
        self._at_end: list[Callable[[], object]] = []

    @cached_property
    def tree(self) -> ProjectTree:
        from presentation.panels.project.tree import ProjectTree

        return ProjectTree(self.services, self.app.project, self.app.conversations)

    @cached_property
    def results(self) -> ResultsList:
        from presentation.panels.project.results import ResultsList

        return ResultsList(self.services, self.app.project)

    @cached_property
    def outline(self) -> OutlinePane:
        from presentation.panels.project.outline import OutlinePane

        return OutlinePane(self.services, self.app.project)

    @cached_property
    def editor(self) -> EditorArea:
        """The open files; no panel of the table, the centre of the window."""
        from presentation.panels.editor.editor_area import EditorArea

        area = EditorArea(self.services, self.app.project, self.app.simulation)

        def follow(event: SettingsChanged) -> None:
            if "libraries" in event.names:
                area.check_all_again()

        self._at_end.append(self.app.program.events.subscribe(SettingsChanged, follow))
        return area

    @cached_property
    def runs(self) -> RunViews:
        from presentation.panels.run_views import RunViews

        return RunViews(self.services, self.app.project, self.app.simulation, self.app.program)

    @cached_property
    def bottom(self) -> BottomPane:
        from presentation.panels.bottom_pane import BottomPane

        return BottomPane(self.services, self.runs, self.pages("bottom"))

    @cached_property
    def studies(self) -> StudyPages:
        """The pages of studies, among the editor's tabs."""
        from presentation.panels.studies.pages import StudyPages

        return StudyPages(self.services, self.app, self.editor)

    @cached_property
    def influence(self) -> InfluenceBars:
        """Bars in the editor's margin, off until they are asked for."""
        from presentation.panels.studies.influence_bars import InfluenceBars

        return InfluenceBars(self.services, self.app, self.editor)

    @cached_property
    def goals_watch(self) -> GoalsWatch:
        """Goals measured after each pause."""
        from presentation.panels.studies.goals_watch import GoalsWatch

        return GoalsWatch(self.services, self.app, self.editor)

    @cached_property
    def previews(self) -> ChangePreviews:
        """Proposed changes simulated before they are accepted."""
        from presentation.panels.studies.change_previews import ChangePreviews

        return ChangePreviews(self.services, self.app, self.editor)

    @cached_property
    def pull(self) -> PullHands:
        """Values that follow what is pulled in the plot."""
        from presentation.panels.studies.pull_hands import PullHands

        return PullHands(self.services, self.app, self.editor, self.runs.waveforms)

    @cached_property
    def yield_watch(self) -> YieldWatch:
        """Yields estimated in idle time."""
        from presentation.panels.studies.yield_watch import YieldWatch

        return YieldWatch(self.services, self.app, self.editor)

    @cached_property
    def conversation(self) -> ConversationPanel:
        from presentation.panels.conversation.panel import ConversationPanel

        panel = ConversationPanel(self.services, self.app)
        self.use = panel.use
        self._at_end.append(panel.close_panel)
        return panel

    def pages(self, place: Place) -> list[Page]:
        return [
            Page(key=entry.key, title=entry.title, make=partial(entry.make, self), is_lazy=entry.is_lazy)
            for entry in panels_at(place)
        ]

    def end(self) -> None:
        """Before the widgets are deleted: end what panels hold besides them."""
        while self._at_end:
            self._at_end.pop()()


def _context(parts: Parts) -> QWidget:
    from presentation.panels.context_inspector.panel import ContextPanel

    return ContextPanel(parts.services, parts.app.conversations, lambda: parts.use)


def _schematic(parts: Parts) -> QWidget:
    from presentation.panels.schematic.panel import SchematicPanel

    return SchematicPanel(
        parts.services,
        parts.app.simulation,
        parts.app.program,
        editor=parts.editor,
    )


def _components(parts: Parts) -> QWidget:
    from presentation.panels.components.panel import ComponentsPanel

    return ComponentsPanel(
        parts.services,
        parts.editor,
        simulation=parts.app.simulation,
        project=parts.app.project,
        program=parts.app.program,
    )


def _debug(parts: Parts) -> QWidget:
    from presentation.panels.debug.panel import DebugPanel

    return DebugPanel(parts.services, parts.app, parts.tally)


def _info(parts: Parts) -> QWidget:
    from presentation.panels.info.panel import InfoPanel

    return InfoPanel(parts.services, parts.app.project, parts.app.program)


_always = partial(PanelEntry, is_lazy=False)  # follows what happens also before it is first shown

PANELS: tuple[PanelEntry, ...] = (
    PanelEntry("project", msg("Project"), "left", "folder", lambda parts: parts.tree),
    PanelEntry("results", msg("Results"), "left", "history", lambda parts: parts.results),
    PanelEntry("outline", msg("Outline"), "left", "list-tree", lambda parts: parts.outline),
    _always(
        "waveforms",
        msg("Waveforms"),
        "bottom",
        "chart-line",
        lambda parts: parts.runs.waveforms,
        shortcut="Alt+1",
    ),
    _always(
        "measurements",
        msg("Measurements"),
        "bottom",
        "ruler",
        lambda parts: parts.runs.measurements,
        shortcut="Alt+2",
    ),
    _always(
        "iterations",
        msg("Iterations"),
        "bottom",
        "layers",
        lambda parts: parts.runs.iterations,
        shortcut="Alt+3",
    ),
    _always(
        "problems",
        msg("Problems"),
        "bottom",
        "triangle-alert",
        lambda parts: parts.runs.problems,
        shortcut="Alt+4 Ctrl+Shift+M",
    ),
    _always(
        "console",
        msg("Console"),
        "bottom",
        "terminal",
        lambda parts: parts.runs.console,
        shortcut="Alt+5",
    ),
    PanelEntry(
        "operating_point",
        msg("Operating point"),
        "bottom",
        "gauge",
        lambda parts: parts.runs.operating_point,
        shortcut="Alt+6",
    ),
    _always(
        "conversation",
        msg("Conversation"),
        "right",
        "message-square",
        lambda parts: parts.conversation,
        shortcut="Ctrl+1",
    ),
    PanelEntry("context", msg("Context"), "right", "layers", _context, shortcut="Ctrl+2"),
    PanelEntry("debug", msg("Debug"), "right", "bug", _debug, shortcut="Ctrl+3"),
    PanelEntry("info", msg("Info"), "right", "info", _info, shortcut="Ctrl+4"),
    PanelEntry("schematic", msg("Schematic"), "right", "circuit-board", _schematic, shortcut="Ctrl+5"),
    PanelEntry("components", msg("Components"), "right", "cpu", _components, shortcut="Ctrl+6"),
)


def place_of(key: str) -> Place:
    """Where a panel is. Raises KeyError for a key that none has."""
    return {entry.key: entry.place for entry in PANELS}[key]


def panels_at(place: Place) -> list[PanelEntry]:
    """The panels of a pane, in their order."""
    return [entry for entry in PANELS if entry.place == place]
