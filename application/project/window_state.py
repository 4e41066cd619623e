"""What the window remembers between two starts: its layout, and what was open in each project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from domain.llm.chat import THINKING_LEVELS, Thinking
from domain.studies.setup import StudySetup
from shared.setting import Setting, read_as, setting

MOST_RECENT = 10
"""Folders of the list of recent projects; the memory of others is dropped."""

_MOST_PIXELS = 100_000
"""No window, pane or splitter has so many."""

WindowLanguage = Literal["auto", "en", "zh"]
WindowTheme = Literal["system", "light", "dark"]
WorkMode = Literal["free", "workflow"]


def _zooms(value: Any) -> dict[str, dict[str, tuple[float, float]]]:
    zooms: dict[str, dict[str, tuple[float, float]]] = read_as(
        "dict[str, dict[str, tuple[float, float]]]", value
    )
    if not all(low < high for ranges in zooms.values() for low, high in ranges.values()):
        raise ValueError(value)
    return zooms


def _geometry(value: Any) -> tuple[int, int, int, int]:
    told = Setting(bounds=(-_MOST_PIXELS, _MOST_PIXELS))  # a second screen may lie to the left
    x, y, width, height = read_as("tuple[int, int, int, int]", value, told)
    if width < 0 or height < 0:
        raise ValueError(value)
    return x, y, width, height


@dataclass(slots=True, kw_only=True)
class PlotLabel:
    """Words at a place of a curve."""

    expression: str = ""
    at: float = 0.0
    """On the axis, SI."""
    text: str = ""
    dx: float = 12.0
    dy: float = -28.0
    """From there to the words, logical pixels."""


def _ranges(value: Any) -> dict[str, tuple[float, float]]:
    return _zooms({"": value})[""]


@dataclass(slots=True, kw_only=True)
class NamedView:
    """A way to look at the plots of one kind of analysis, kept under a name."""

    traces: list[str] = field(default_factory=list)
    """Expressions, in order."""
    zoom: dict[str, tuple[float, float]] = setting(dict, read=_ranges)
    """As one of `CircuitView.zooms`; {} shows everything."""
    cursors: tuple[float, float] | None = None
    """Places of A and B on the axis, SI; None: they are hidden."""
    scales: dict[str, str] = field(default_factory=dict)
    panes: dict[str, int] = setting(dict, bounds=(-1000, 1000))
    right: dict[str, str] = field(default_factory=dict)
    """As in `PlotLook`."""


@dataclass(slots=True, kw_only=True)
class PlotLook:
    """How one kind of analysis is drawn."""

    cursors: tuple[float, float] | None = None
    """Places of A and B on the axis, SI; None: where they are put at first."""
    hides_cursors: bool = False
    hides_grid: bool = False
    labels: list[PlotLabel] = setting(list, parts=lambda: PlotLabel)
    scales: dict[str, str] = field(default_factory=dict)
    """"log", "linear" or "dB" of the axis ("x"), of gains ("gain") and of units; else as is usual."""
    panes: dict[str, int] = setting(dict, bounds=(-1000, 1000))
    """Of expressions with a pane of their own: its number, below the usual ones from 1, above from -1."""
    right: dict[str, str] = field(default_factory=dict)
    """Of expressions on the right axis of a pane: which one, by its unit and number ("V", "A 1")."""
    views: dict[str, NamedView] = setting(dict, parts=lambda: NamedView)
    """By the names their user gave them."""


@dataclass(slots=True, kw_only=True)
class TraceStyle:
    """How an expression is drawn, and what it is called."""

    name: str = ""
    """"" = the expression."""
    color: int | None = setting(None, bounds=(0, 7))
    """Place in the order of trace colors; None: by its turn."""
    line: Literal["", "solid", "dashed", "dotted"] = setting("", choices=("", "solid", "dashed", "dotted"))
    """"" = by its turn."""


@dataclass(slots=True, kw_only=True)
class CircuitView:
    """How the results of one circuit are looked at; it stays from run to run."""

    analysis: str = ""
    """The kind that is shown; "" = the first one."""
    traces: dict[str, list[str]] = field(default_factory=dict)
    """Expressions that are drawn, by kind of analysis; those of one that is not here are the usual ones."""
    zooms: dict[str, dict[str, tuple[float, float]]] = setting(dict, read=_zooms)
    """By kind of analysis: the chosen range of each pane by its unit, "" the axis; in drawn coordinates."""
    looks: dict[str, PlotLook] = setting(dict, parts=lambda: PlotLook)
    """By kind of analysis."""
    styles: dict[str, TraceStyle] = setting(dict, parts=lambda: TraceStyle)
    """By expression."""
    beside: dict[str, str] = field(default_factory=dict)
    """By kind of analysis: what is drawn beside the curves; none for nothing."""
    measurements: list[str] = field(default_factory=list)
    """Expressions that are measured beside the circuit's own figures."""
    studies: dict[str, StudySetup] = setting(dict, parts=lambda: StudySetup)
    """What was filled in last for each kind of study."""
    study: str = ""
    """The kind of study that was looked at last; "" = none yet."""
    schematic: dict[str, dict[str, tuple[int, int, int, bool, bool]]] = field(default_factory=dict)
    """Of pages of the schematic where a part was moved by hand, by scope: of each element, in lower case,
    column, row, quarter turns, whether it is mirrored, whether it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftGap:
    """A place of a ready sentence that is still to be filled in."""

    label: str = ""
    usual: str = ""
    """What stands there where nothing is written; "" = something has to be."""
    start: int = setting(0, bounds=(0, None))
    end: int = setting(0, bounds=(0, None))
    """Positions in the draft, in units of UTF-16."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftGaps:
    """Those of one draft."""

    gaps: tuple[DraftGap, ...] = setting(tuple, parts=lambda: DraftGap)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationTab:
    """A tab of the conversations as it was left."""

    conversation: str = ""
    """Its id; "" for one that is not begun."""
    draft: str = ""
    """What was written into one that is not begun; of others it is kept by conversation."""
    gaps: tuple[DraftGap, ...] = setting(tuple, parts=lambda: DraftGap)
    """In that draft."""
    files: tuple[str, ...] = ()
    """Attached to what is written there, as absolute paths; read again at the next start."""
    mode: WorkMode = setting("free", choices=("free", "workflow"))
    """Of one that is not begun."""
    provider: str = ""
    """Of the model that answers; "" = the one new conversations begin with."""
    model: str = ""
    thinking: Thinking | None = setting(None, choices=THINKING_LEVELS)
    search: bool | None = None
    """The provider's own web search, None: as it was set for the provider; the general one likewise."""
    web_search: bool | None = None
    reads_only: bool = False
    """Whether its model only reads."""
    first_row: str = ""
    """The key of the first row that was seen; "" = the end."""
    above: int = setting(0, bounds=(-_MOST_PIXELS, _MOST_PIXELS))
    """How far its upper edge was above the view's, logical pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectMemory:
    """One project as it was left. Paths are relative to it, with forward slashes."""

    main_circuit: str = ""
    """The one it had; "" = none yet."""
    open_files: tuple[str, ...] = ()
    """The editor's tabs from left to right."""
    shown_file: str = ""
    expanded: tuple[str, ...] = ()
    """Folders open in the tree."""
    sizes: Mapping[str, tuple[int, ...]] = setting(dict, bounds=(0, _MOST_PIXELS))
    """Sizes of the parts of a splitter by its name, logical pixels; they are kept per project."""
    views: Mapping[str, CircuitView] = setting(dict, parts=lambda: CircuitView)
    """By circuit."""
    accepted: Mapping[str, str] | None = None
    """SHA-256 of each file of the accepted state; None before there is one."""
    places: Mapping[str, tuple[int, int, int]] = setting(dict, bounds=(1, 100_000_000))
    """Of an open file: the caret's line and column and the first line that is seen, from 1."""
    bottom_panel: str = ""
    """The key of the panel in front below; "" = the first."""
    conversations: tuple[ConversationTab, ...] = setting(tuple, parts=lambda: ConversationTab)
    """Their tabs from left to right; none: the newest one is shown."""
    front_conversation: int = setting(0, bounds=(0, None))
    """Which of them is in front."""
    export_folder: str = ""
    """Where the latest export went, an absolute path; "" = none yet."""
    drafts: Mapping[str, str] = field(default_factory=dict)
    """What was written and not sent, by conversation ("" = the next new one)."""
    gaps: Mapping[str, DraftGaps] = setting(dict, parts=lambda: DraftGaps)
    """In those drafts, where there are any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowState:
    """The window as it was left."""

    language: WindowLanguage = setting("auto", choices=("auto", "en", "zh"))
    """"auto": the one of the settings, or of the system."""
    theme: WindowTheme = setting("system", choices=("system", "light", "dark"))
    high_contrast: bool = False
    """Also where the system does not ask for it."""
    scale: float = setting(1.0, bounds=(0.8, 2))
    """Factor on all sizes of type and rows, 0.8 to 2."""
    geometry: tuple[int, int, int, int] | None = setting(None, read=_geometry)
    """x, y, width, height of the window, logical pixels."""
    is_maximized: bool = False
    shown_panes: Mapping[str, bool] = field(default_factory=dict)
    """left, bottom, right."""
    sizes: Mapping[str, tuple[int, ...]] = setting(dict, bounds=(0, _MOST_PIXELS))
    """Sizes of the parts of a splitter by its name, for a project that is new."""
    right_panel: str = ""
    """The key of the panel in front at the right; "" = the first."""
    knows_plot: bool = False
    """The user has zoomed into a plot with the mouse, and needs no hint any more."""
    last_project: Path | None = None
    """None: the window was left without a project."""
    projects: Mapping[Path, ProjectMemory] = field(default_factory=dict)
    """The latest first."""
    damaged: Path | None = None
    """What was remembered could not be read, and was set aside here. Not kept."""

    @property
    def recent(self) -> tuple[Path, ...]:
        """The projects opened last, the latest first."""
        return tuple(self.projects)

    def memory_of(self, project: Path) -> ProjectMemory:
        """What is remembered of a project; nothing for a new one."""
        return self.projects.get(project, ProjectMemory())

    def with_memory(self, project: Path, memory: ProjectMemory) -> WindowState:
        """The same with `project` as the latest one; the oldest beyond `MOST_RECENT` are dropped."""
        others = [(path, kept) for path, kept in self.projects.items() if path != project]
        return replace(self, projects=dict([(project, memory), *others[: MOST_RECENT - 1]]))

    def without(self, project: Path) -> WindowState:
        """The same with a project forgotten (its folder is gone)."""
        kept = {path: memory for path, memory in self.projects.items() if path != project}
        last = None if self.last_project == project else self.last_project
        return replace(self, projects=kept, last_project=last)


def changed_by(found: WindowState, before: WindowState, after: WindowState) -> WindowState:
    """`found` with what a window changed between `before` and `after`: other windows change it too."""
    fields = [name for name in WindowState.__dataclass_fields__ if name not in ("projects", "damaged")]
    changed = {name: getattr(after, name) for name in fields if getattr(after, name) != getattr(before, name)}
    projects = dict(found.projects)
    for path in before.projects.keys() - after.projects.keys():
        projects.pop(path, None)
    mine = {path: kept for path, kept in after.projects.items() if kept != before.projects.get(path)}
    if after.recent[:1] != before.recent[:1]:  # brought to the front
        mine = {path: after.projects[path] for path in (*after.recent[:1], *mine)}
        projects = {**mine, **{path: kept for path, kept in projects.items() if path not in mine}}
    projects.update(mine)
    latest = dict(list(projects.items())[:MOST_RECENT])
    return replace(found, **changed, projects=latest, damaged=None)


class WindowStates(Protocol):
    """Keeps the window's state in the user's own folder. Blocking: called off the loop."""

    def load(self) -> WindowState:
        """The state saved last; defaults for whatever is missing or cannot be understood. Never raises."""

    def update(self, before: WindowState, after: WindowState) -> None:
        """Keep what a window changed, and what others have changed meanwhile; atomically.

        Raises EnvironmentProblem ("busy" too), UserInputError when that is not possible.
        """

    def save(self, state: WindowState) -> None:
        """Replace it atomically. Raises EnvironmentProblem, UserInputError when that is not possible."""
