"""What the window's commands do: each action of the table that has a place in the menus, by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from PyQt6.QtWidgets import QWidget

from application.simulation.exchanging import CircuitFormat
from presentation.actions.action import Action
from presentation.actions.window_rows import ZOOMS
from presentation.panels.conversation.panel import ConversationPanel
from presentation.study_words import KINDS as STUDY_KINDS
from presentation.ui.language import LanguageName
from presentation.ui.theme import Mode
from presentation.ui.workspace import WindowServices, Workspace
from presentation.window import about
from presentation.window.appearance import Appearance
from presentation.window.circuit_export import export_circuit
from presentation.window.commands import Command, to_focused
from presentation.window.design_report import make_design_report
from presentation.window.file_import import FileImport
from presentation.window.header import Header
from presentation.window.panels import Parts, panels_at
from presentation.window.panes import Panes
from presentation.window.project_switch import ProjectSwitch
from presentation.window.projects import ProjectDesk
from shared.message import Message, msg
from shared.pausing import can_pause


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What the commands act on."""

    services: WindowServices
    window: QWidget
    """Dialogs stand over it."""
    close: Callable[[], object]
    header: Header
    parts: Parts
    panes: Panes
    projects: ProjectSwitch
    desk: ProjectDesk
    appearance: Appearance
    stop_run: Callable[[], None]
    show_settings: Callable[[], None]

    @property
    def workspace(self) -> Workspace:
        return self.services.workspace

    def talk(self, act: Callable[[ConversationPanel], None]) -> None:
        """Show the conversation and do something in it."""
        self.panes.show_panel("conversation")
        act(self.parts.conversation)

    def save_all(self) -> None:
        buffers = self.workspace.buffers
        if buffers is not None:
            self.services.start(buffers.save_unsaved(), kind="save file")

    def set_main_to_shown(self) -> None:
        """Make the file of the front tab the main circuit."""
        if self.workspace.shown_file is not None:
            self.desk.set_main(self.workspace.shown_file)


class _Refusals:
    """Why something cannot be done now."""

    def __init__(self, targets: Targets) -> None:
        self._run_group = targets.header.run_group
        self._workspace = targets.workspace

    def no_project(self) -> Message | None:
        return msg("Open a folder first.") if self._workspace.root is None else None

    def no_file(self) -> Message | None:
        return msg("No file is open in the editor.") if self._workspace.shown_file is None else None

    def no_target(self) -> Message | None:
        return msg("Open a circuit first.") if self._workspace.run_target is None else None

    def nothing_unsaved(self) -> Message | None:
        buffers = self._workspace.buffers
        return None if buffers is not None and buffers.unsaved() else msg("Everything is saved.")

    def no_run(self) -> Message | None:
        """It needs a project, and that none of its circuits is simulated now."""
        if self._workspace.root is None:
            return msg("Nothing to run: no project is open")
        return msg("A simulation is running.") if self._run_group.is_running else None

    def no_pause(self) -> Message | None:
        if not can_pause():
            return msg("This system cannot pause a program. A simulation can be stopped; what came is kept.")
        return self.not_running()

    def not_running(self) -> Message | None:
        return None if self._run_group.is_running else msg("No simulation is running.")


def _never() -> Message | None:
    """It can always be done."""
    return None


class Bound(NamedTuple):
    """What one action does, and why it cannot be done now."""

    name: str
    act: Callable[[], object]
    refusal: Callable[[], Message | None] = _never


def panel_actions() -> list[Action]:
    """Rows for the panels of the tabs: each is brought to the front."""
    return [
        Action(
            f"panel.{entry.key}",
            entry.title,
            menu="view",
            keys=entry.shortcut,
            icon=entry.icon,
            begins_part=number == 0,
        )
        for place in ("bottom", "right")
        for number, entry in enumerate(panels_at(place))
    ]


def commands_of(targets: Targets) -> tuple[Command, ...]:
    """Every action that has an entry or a key of the window's, in the order of the table. What a panel
    answers is handed to it. Raises KeyError for a row that nobody answers.
    """
    shortcuts = targets.services.shortcuts
    bound = {
        each.name: each
        for part in (_file, _edit, _view, _appearance, _circuit, _simulate, _design, _help)
        for each in part(targets)
    }
    made = []
    for action in shortcuts.actions:
        if action.menu is None and action.scope != "window":
            continue
        name = action.name
        if name not in bound and action.scope in ("editor", "plot", "schematic"):
            bound[name] = Bound(name, partial(shortcuts.trigger, name), partial(shortcuts.refusal, name))
        made.append(Command(action, bound[name].act, bound[name].refusal))
    return tuple(made)


def _file(targets: Targets) -> Iterator[Bound]:
    refusals = _Refusals(targets)
    yield Bound("openFolder", targets.projects.open_folder)
    yield Bound("newProject", targets.projects.new_project)
    yield Bound("newCircuit", targets.projects.new_circuit, refusals.no_project)
    yield Bound("openExample", targets.projects.choose_example)
    importing = FileImport(targets.services, targets.parts.app.project, targets.projects, targets.window)
    yield Bound("importFiles", importing.choose)
    forms: tuple[CircuitFormat, ...] = ("ltspice", "kicad", "pyspice")
    for form in forms:
        yield Bound(
            f"export.{form}",
            partial(export_circuit, targets.services, targets.parts.app, targets.window, form),
            refusals.no_target,
        )
    yield Bound("saveAll", targets.save_all, refusals.nothing_unsaved)
    yield Bound("closeProject", targets.projects.close_project, refusals.no_project)
    yield Bound("settings", targets.show_settings)
    yield Bound("quit", targets.close)


def _edit(targets: Targets) -> Iterator[Bound]:
    for name in ("undo", "redo", "cut", "copy", "paste", "selectAll"):
        yield Bound(name, to_focused(name))
    no_project = _Refusals(targets).no_project
    parts = targets.parts  # editor and problems are made when the window is filled

    def replace() -> None:
        parts.editor.replace_in_project()

    def step_problem(step: int) -> None:
        parts.runs.problems.step(step)

    def no_problem() -> Message | None:
        return parts.runs.problems.refusal()

    yield Bound("editor.replace_in_project", replace, no_project)
    for name, step in (("editor.next_problem", 1), ("editor.previous_problem", -1)):
        yield Bound(name, partial(step_problem, step), no_problem)


def _view(targets: Targets) -> Iterator[Bound]:
    box, panes, no_project = targets.header.command_box, targets.panes, _Refusals(targets).no_project
    yield Bound("anything", box.begin)
    yield Bound("commands", partial(box.begin, ">"))
    yield Bound("symbols", partial(box.begin, "@"), _Refusals(targets).no_file)
    yield Bound("searchProject", partial(box.begin, "#"), no_project)
    for pane in ("left", "bottom"):
        yield Bound(f"pane.{pane}", partial(panes.toggle_pane, pane), no_project)

    def write_or_leave() -> None:
        # A key that only hid the pane would leave the words that follow it to the netlist.
        if not panes.leave_panel("conversation"):
            targets.talk(lambda panel: panel.focus_input())

    yield Bound("pane.right", write_or_leave, no_project)
    yield Bound("nextPane", panes.next_pane, no_project)
    yield Bound("plotRoom", panes.give_plot_the_room, no_project)
    yield Bound("openMenus", targets.header.open_menus)
    for action in panel_actions():
        key = action.name.removeprefix("panel.")
        yield Bound(action.name, partial(panes.show_panel, key), no_project)


def _appearance(targets: Targets) -> Iterator[Bound]:
    appearance = targets.appearance
    languages: tuple[LanguageName, ...] = ("en", "zh")
    modes: tuple[Mode, ...] = ("light", "dark", "system")
    for name in languages:
        yield Bound(f"language.{name}", partial(appearance.set_language, name))
    for mode in modes:
        yield Bound(f"theme.{mode}", partial(appearance.set_theme, mode))
    yield Bound("contrast", appearance.toggle_contrast)
    for step_name, step in (("zoomIn", 1), ("zoomOut", -1), ("zoomReset", 0)):
        yield Bound(step_name, partial(appearance.zoom, step))
    for percent in ZOOMS:
        yield Bound(f"scale.{percent}", partial(appearance.set_scale, percent / 100))


def _show_bill(targets: Targets) -> None:
    from presentation.window.bill_of_materials import show_bill

    show_bill(targets.services, targets.parts.app, targets.window)


def _import_models(targets: Targets) -> None:
    from presentation.panels.components.panel import ComponentsPanel

    targets.panes.show_panel("components")
    panel = targets.panes.right.findChild(ComponentsPanel)
    if isinstance(panel, ComponentsPanel):
        panel.choose_library()


def _circuit(targets: Targets) -> Iterator[Bound]:
    refusals = _Refusals(targets)
    yield Bound("chooseMain", targets.projects.choose_main, refusals.no_project)
    yield Bound("setMain", targets.set_main_to_shown, refusals.no_file)
    yield Bound("importModels", partial(_import_models, targets), refusals.no_project)
    yield Bound(
        "designReport",
        partial(make_design_report, targets.services, targets.parts.app, targets.window),
        refusals.no_target,
    )
    yield Bound(
        "billOfMaterials",
        partial(_show_bill, targets),
        refusals.no_target,
    )
    yield Bound("acceptChanges", targets.desk.accept, refusals.no_project)


def _simulate(targets: Targets) -> Iterator[Bound]:
    workspace, refusals = targets.workspace, _Refusals(targets)
    yield Bound("run", workspace.run_requested.emit, refusals.no_run)
    yield Bound("runMain", workspace.main_run_requested.emit, refusals.no_run)
    yield Bound("pauseRun", targets.parts.runs.controller.pause_or_go_on, refusals.no_pause)
    yield Bound("stopRun", targets.stop_run, refusals.not_running)
    for kind in STUDY_KINDS:
        open_page = partial(workspace.studies_wanted.emit, None, kind, "")
        yield Bound(f"study.{kind}", open_page, refusals.no_project)
    parts = targets.parts  # their bars are made when somebody asks for them

    def toggle_influence() -> None:
        parts.influence.toggle()

    def next_goal() -> None:
        parts.influence.next_goal()

    def show_missed() -> None:
        parts.goals_watch.show_missed()

    yield Bound("influence", toggle_influence, refusals.no_file)
    yield Bound("influenceGoal", next_goal, refusals.no_file)
    yield Bound("missedGoals", show_missed, refusals.no_project)
    yield Bound("sinceWhen", partial(_ask_since_when, targets), refusals.no_run)


def _ask_since_when(targets: Targets) -> None:
    from presentation.panels.studies.since_when import SinceWhen

    SinceWhen(targets.services, targets.parts.app, targets.window).ask()


def _design(targets: Targets) -> Iterator[Bound]:
    workspace, no_project = targets.workspace, _Refusals(targets).no_project
    services, window = targets.services, targets.window
    app = targets.parts.app
    yield Bound("conversation", partial(targets.panes.show_panel, "conversation"), no_project)
    acts: tuple[tuple[str, Callable[[ConversationPanel], None]], ...] = (
        ("describe_design", lambda panel: panel.describe_design()),
        ("new_conversation", lambda panel: panel.new_conversation()),
        ("close_conversation", lambda panel: panel.close_tab()),
        ("conversation.next_tab", lambda panel: panel.step_tab(1)),
        ("conversation.previous_tab", lambda panel: panel.step_tab(-1)),
        ("show_history", lambda panel: panel.show_history()),
    )
    for name, act in acts:
        yield Bound(name, partial(targets.talk, act), no_project)
    yield Bound("switchMode", workspace.mode_switch_requested.emit, no_project)
    yield Bound("prompts", partial(about.show_prompts, services, app.conversations, window))
    yield Bound("modelSettings", partial(about.show_model_settings, targets.parts, window))
    yield Bound("embedding", partial(about.show_embedding, services, app.models, app.project, window))
    yield Bound(
        "permissions", partial(about.show_permissions, services, app.conversations, window), no_project
    )


def _help(targets: Targets) -> Iterator[Bound]:
    services, window = targets.services, targets.window
    program = targets.parts.app.program
    yield Bound("guide", partial(about.show_guide, services, window))
    yield Bound("tutorial", partial(about.show_guide, services, window, is_tutorial=True))
    yield Bound("keys", partial(about.show_keys, services, program, window))
    yield Bound("plot.keys", partial(about.show_keys, services, program, window, "plot"))
    yield Bound("doctor", partial(about.show_doctor, services, program, window))
    yield Bound("about", partial(about.show_about, services, window))
