"""The commands of the main window, in the order of the menus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from PyQt6.QtWidgets import QWidget

from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.editor.actions import ROWS
from presentation.ui.language import LanguageName
from presentation.ui.theme import Mode
from presentation.ui.workspace import WindowServices, Workspace
from presentation.window import about
from presentation.window.appearance import SIZES, Appearance
from presentation.window.commands import Command, to_focused
from presentation.window.header import Header
from presentation.window.panels import Parts, panels_at
from presentation.window.panes import Panes
from presentation.window.project_switch import ProjectSwitch
from presentation.window.projects import ProjectDesk
from shared.message import Message, msg


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
    commands: Callable[[], Sequence[Command]]
    """All of them, once they are made."""

    @property
    def workspace(self) -> Workspace:
        return self.services.workspace

    def edit(self, name: str) -> None:
        """One of the editor's own commands: save, find, replace, go_to_line, close ..."""
        self.parts.editor.action(name).trigger()

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

    def nothing_unsaved(self) -> Message | None:
        buffers = self._workspace.buffers
        return None if buffers is not None and buffers.unsaved() else msg("Everything is saved.")

    def no_run(self) -> Message | None:
        """It needs a project, and that none of its circuits is simulated now."""
        if self._workspace.root is None:
            return msg("Nothing to run: no project is open")
        return msg("A simulation is running.") if self._run_group.is_running else None

    def not_running(self) -> Message | None:
        return None if self._run_group.is_running else msg("No simulation is running.")


def commands_of(targets: Targets) -> tuple[Command, ...]:
    return (
        *_file(targets),
        *_edit(targets),
        *_view(targets),
        *_circuit(targets),
        *_design(targets),
        *_help(targets),
    )


def _file(targets: Targets) -> Iterator[Command]:
    command = partial(Command, menu="file")
    refusals = _Refusals(targets)
    yield command("openFolder", msg("Open folder…"), targets.projects.open_folder, key="Ctrl+O")
    yield command("newProject", msg("New project…"), targets.projects.new_project, key="Ctrl+N")
    yield command(
        "newCircuit", msg("New circuit…"), targets.projects.new_circuit, refusal=refusals.no_project
    )
    yield command("openExample", msg("Open an example…"), targets.projects.choose_example, letter="E")
    yield command(
        "save",
        msg("Save"),
        partial(targets.edit, "save"),
        key="Ctrl+S",
        owns_key=False,
        begins_part=True,
        refusal=refusals.no_file,
    )
    yield command(
        "saveAll", msg("Save all"), targets.save_all, key="Ctrl+Alt+S", refusal=refusals.nothing_unsaved
    )
    yield command(
        "closeFile",
        msg("Close file"),
        partial(targets.edit, "close"),
        key="Ctrl+W",
        owns_key=False,
        refusal=refusals.no_file,
    )
    yield command(
        "closeProject",
        msg("Close project"),
        targets.projects.close_project,
        begins_part=True,
        refusal=refusals.no_project,
    )
    yield command("quit", msg("Quit"), targets.close, key="Ctrl+Q", letter="Q")


_OF_THE_EDITOR = (
    *("find", "find_next", "find_previous", "replace", "go_to_line"),
    *("quick_fix", "next_problem", "previous_problem"),
    *("comment", "move_up", "move_down", "copy_up", "copy_down", "delete_line", "next_occurrence"),
)
"""Commands of the editor that the menu names."""


def _edit(targets: Targets) -> Iterator[Command]:
    command = partial(Command, menu="edit")
    # The widget in focus answers these keys itself; the menu names them.
    for name, text, key, method, begins, letter in (
        ("undo", msg("Undo"), "Ctrl+Z", "undo", False, "U"),
        ("redo", msg("Redo"), "Ctrl+Y", "redo", False, "R"),
        ("cut", msg("Cut"), "Ctrl+X", "cut", True, "T"),
        ("copy", msg("Copy"), "Ctrl+C", "copy", False, "C"),
        ("paste", msg("Paste"), "Ctrl+V", "paste", False, "P"),
        ("selectAll", msg("Select all"), "Ctrl+A", "selectAll", False, "A"),
    ):
        yield command(
            name,
            text,
            to_focused(method),
            key=key,
            owns_key=False,
            in_box=False,
            begins_part=begins,
            letter=letter,
        )

    no_file = _Refusals(targets).no_file
    for name in _OF_THE_EDITOR:
        row = ROWS[name]
        yield command(
            f"editor.{name}",
            row.text,
            partial(targets.edit, name),
            key=row.key,
            owns_key=False,
            begins_part=name in ("find", "quick_fix", "comment"),
            refusal=no_file,
        )


def _view(targets: Targets) -> Iterator[Command]:
    command = partial(Command, menu="view")
    box, no_project = targets.header.command_box, _Refusals(targets).no_project
    yield command("anything", msg("Find anything"), box.begin, key="Ctrl+P", in_box=False)
    for pane, text, key in (
        ("left", msg("Project pane"), "Ctrl+B"),
        ("bottom", msg("Bottom pane"), "Ctrl+J"),
        ("right", msg("Conversation pane"), "Ctrl+L"),
    ):
        yield command(
            f"pane.{pane}",
            text,
            partial(targets.panes.toggle_pane, pane),
            key=key,
            begins_part=pane == "left",
            refusal=no_project,
        )
    yield command("nextPane", msg("Next pane"), targets.panes.next_pane, key="F6", refusal=no_project)
    for place in ("bottom", "right"):
        for number, entry in enumerate(panels_at(place)):
            yield command(
                f"panel.{entry.key}",
                entry.title,
                partial(targets.panes.show_panel, entry.key),
                key=entry.shortcut,
                icon=entry.icon,
                begins_part=number == 0,
                refusal=no_project,
            )
    yield from _appearance(targets)


def _appearance(targets: Targets) -> Iterator[Command]:
    command = partial(Command, menu="view")
    language, theme, size = msg("Language"), msg("Theme"), msg("Zoom")
    appearance = targets.appearance
    languages: tuple[tuple[LanguageName, Message], ...] = (
        ("en", msg("English")),
        ("zh", msg("Chinese (中文)")),
    )
    modes: tuple[tuple[Mode, Message], ...] = (
        ("light", msg("Light theme")),
        ("dark", msg("Dark theme")),
        ("system", msg("System theme")),
    )
    for name, text in languages:
        yield command(
            f"language.{name}",
            text,
            partial(appearance.set_language, name),
            submenu=language,
            group="language",
            begins_part=name == "en",
        )
    for mode, text in modes:
        yield command(
            f"theme.{mode}", text, partial(appearance.set_theme, mode), submenu=theme, group="theme"
        )
    yield command(
        "contrast", msg("High contrast"), appearance.toggle_contrast, submenu=theme, group="contrast"
    )
    steps = (
        ("zoomIn", msg("Larger"), 1, "Ctrl+=", "Ctrl++"),  # "+" has a key of its own on most keyboards
        ("zoomOut", msg("Smaller"), -1, "Ctrl+-", ""),
        ("zoomReset", msg("Reset zoom"), 0, "Ctrl+0", ""),
    )
    for step_name, text, step, key, other in steps:
        zoom = partial(appearance.zoom, step)
        yield command(step_name, text, zoom, submenu=size, key=key, other_key=other)
    for percent in SIZES:
        yield command(
            f"scale.{percent}",
            msg("Zoom {percent} %", percent=percent),
            partial(appearance.set_scale, percent / 100),
            submenu=size,
            group="scale",
        )


def _circuit(targets: Targets) -> Iterator[Command]:
    command = partial(Command, menu="circuit")
    workspace, refusals = targets.workspace, _Refusals(targets)
    yield command(
        "chooseMain", msg("Choose main circuit…"), targets.projects.choose_main, refusal=refusals.no_project
    )
    yield command(
        "setMain",
        msg("Set current file as main circuit"),
        targets.set_main_to_shown,
        refusal=refusals.no_file,
    )
    yield command(
        "insertModel",
        msg("Model library…"),
        targets.parts.editor.insert_model,
        begins_part=True,
        icon="package",
    )
    yield command(
        "acceptChanges",
        msg("Accept all changes"),
        targets.desk.accept,
        begins_part=True,
        refusal=refusals.no_project,
    )
    yield command(
        "run",
        msg("Run the current circuit"),
        workspace.run_requested.emit,
        key="F5",
        refusal=refusals.no_run,
        menu="simulate",
    )
    yield command(
        "runMain",
        msg("Run the main circuit"),
        workspace.main_run_requested.emit,
        key="Ctrl+F5",
        refusal=refusals.no_run,
        menu="simulate",
    )
    yield command(
        "stopRun", msg("Stop the simulation"), targets.stop_run, refusal=refusals.not_running, menu="simulate"
    )


def _design(targets: Targets) -> Iterator[Command]:
    command = partial(Command, menu="design")
    workspace, no_project = targets.workspace, _Refusals(targets).no_project
    services, window = targets.services, targets.window
    app = targets.parts.app
    yield command(
        "conversation",
        msg("Show the conversation"),
        partial(targets.panes.show_panel, "conversation"),
        in_box=False,
        refusal=no_project,
    )
    acts: tuple[tuple[str, Message, str, Callable[[ConversationPanel], None]], ...] = (
        ("describe_design", msg("Describe a design"), "", lambda panel: panel.describe_design()),
        ("new_conversation", msg("New conversation"), "Ctrl+T", lambda panel: panel.new_conversation()),
        ("close_conversation", msg("Close conversation tab"), "Ctrl+W", lambda panel: panel.close_tab()),
        ("show_history", msg("Earlier conversations…"), "", lambda panel: panel.show_history()),
    )
    for name, text, key, act in acts:
        # The panel has the keys, while one is in it.
        yield command(name, text, partial(targets.talk, act), key=key, owns_key=False, refusal=no_project)
    yield command(
        "switchMode",
        msg("Switch between workflow and free work"),
        workspace.mode_switch_requested.emit,
        key="Ctrl+Shift+M",
        refusal=no_project,
    )
    yield command(
        "prompts",
        msg("Prompts…"),
        partial(about.show_prompts, services, app.conversations, window),
        begins_part=True,
    )
    yield command(
        "modelSettings", msg("Model settings…"), partial(about.show_model_settings, targets.parts, window)
    )
    yield command(
        "embedding",
        msg("Search by meaning…"),
        partial(about.show_embedding, services, app.models, app.project, window),
    )
    yield command(
        "permissions",
        msg("Confirmation rules…"),
        partial(about.show_permissions, services, app.conversations, window),
        refusal=no_project,
    )


def _help(targets: Targets) -> Iterator[Command]:
    command = partial(Command, menu="help")
    services, window = targets.services, targets.window
    yield command("keys", msg("Keyboard"), lambda: about.show_keys(services, window, targets.commands()))
    yield command(
        "doctor", msg("Check system"), partial(about.show_doctor, services, targets.parts.app.program, window)
    )
    yield command(
        "about", msg("About Circuit Design AI"), partial(about.show_about, services, window), begins_part=True
    )
