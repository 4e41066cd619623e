"""The commands of the main window, in the order of the menus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from PyQt6.QtWidgets import QWidget

from presentation.panels.conversation.panel import ConversationPanel
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
    refusals = _Refusals(targets)
    yield Command(
        name="openFolder",
        text=msg("Open folder…"),
        act=targets.projects.open_folder,
        menu="file",
        key="Ctrl+O",
    )
    yield Command(
        name="newProject",
        text=msg("New project…"),
        act=targets.projects.new_project,
        menu="file",
        key="Ctrl+N",
    )
    yield Command(
        name="newCircuit",
        text=msg("New circuit…"),
        act=targets.projects.new_circuit,
        menu="file",
        refusal=refusals.no_project,
    )
    yield Command(
        name="openExample",
        text=msg("Open an example…"),
        act=targets.projects.choose_example,
        menu="file",
        letter="E",
    )
    yield Command(
        name="save",
        text=msg("Save"),
        act=partial(targets.edit, "save"),
        menu="file",
        key="Ctrl+S",
        owns_key=False,
        begins_part=True,
        refusal=refusals.no_file,
    )
    yield Command(
        name="saveAll",
        text=msg("Save all"),
        act=targets.save_all,
        menu="file",
        key="Ctrl+Alt+S",
        refusal=refusals.nothing_unsaved,
    )
    yield Command(
        name="closeFile",
        text=msg("Close file"),
        act=partial(targets.edit, "close"),
        menu="file",
        key="Ctrl+W",
        owns_key=False,
        refusal=refusals.no_file,
    )
    yield Command(
        name="closeProject",
        text=msg("Close project"),
        act=targets.projects.close_project,
        menu="file",
        begins_part=True,
        refusal=refusals.no_project,
    )
    yield Command(
        name="quit",
        text=msg("Quit"),
        act=targets.close,
        menu="file",
        key="Ctrl+Q",
        letter="Q",
    )


def _edit(targets: Targets) -> Iterator[Command]:
    # The widget in focus answers these keys itself; the menu names them.
    for name, text, key, method, begins, letter in (
        ("undo", msg("Undo"), "Ctrl+Z", "undo", False, "U"),
        ("redo", msg("Redo"), "Ctrl+Y", "redo", False, "R"),
        ("cut", msg("Cut"), "Ctrl+X", "cut", True, "T"),
        ("copy", msg("Copy"), "Ctrl+C", "copy", False, "C"),
        ("paste", msg("Paste"), "Ctrl+V", "paste", False, "P"),
        ("selectAll", msg("Select all"), "Ctrl+A", "selectAll", False, "A"),
    ):
        yield Command(
            name=name,
            text=text,
            act=to_focused(method),
            menu="edit",
            key=key,
            owns_key=False,
            in_box=False,
            begins_part=begins,
            letter=letter,
        )

    no_file = _Refusals(targets).no_file
    for name, text, key in (
        ("find", msg("Find"), "Ctrl+F"),
        ("find_next", msg("Next match"), "F3"),
        ("find_previous", msg("Previous match"), "Shift+F3"),
        ("replace", msg("Replace"), "Ctrl+H"),
        ("go_to_line", msg("Go to line"), "Ctrl+G"),
        ("quick_fix", msg("Quick fix"), "Ctrl+."),
    ):
        yield Command(
            name=f"editor.{name}",
            text=text,
            act=partial(targets.edit, name),
            menu="edit",
            key=key,
            owns_key=False,
            begins_part=name == "find",
            refusal=no_file,
        )


def _view(targets: Targets) -> Iterator[Command]:
    box, no_project = targets.header.command_box, _Refusals(targets).no_project
    yield Command(
        name="anything", text=msg("Find anything"), act=box.begin, menu="view", key="Ctrl+P", in_box=False
    )
    for pane, text, key in (
        ("left", msg("Project pane"), "Ctrl+B"),
        ("bottom", msg("Bottom pane"), "Ctrl+J"),
        ("right", msg("Conversation pane"), "Ctrl+L"),
    ):
        yield Command(
            name=f"pane.{pane}",
            text=text,
            act=partial(targets.panes.toggle_pane, pane),
            menu="view",
            key=key,
            begins_part=pane == "left",
            refusal=no_project,
        )
    yield Command(
        name="nextPane",
        text=msg("Next pane"),
        act=targets.panes.next_pane,
        menu="view",
        key="F6",
        refusal=no_project,
    )
    for place in ("bottom", "right"):
        for number, entry in enumerate(panels_at(place)):
            yield Command(
                name=f"panel.{entry.key}",
                text=entry.title,
                act=partial(targets.panes.show_panel, entry.key),
                menu="view",
                key=entry.shortcut,
                icon=entry.icon,
                begins_part=number == 0,
                refusal=no_project,
            )
    yield from _appearance(targets)


def _appearance(targets: Targets) -> Iterator[Command]:
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
        yield Command(
            name=f"language.{name}",
            text=text,
            act=partial(appearance.set_language, name),
            menu="view",
            submenu=language,
            group="language",
            begins_part=name == "en",
        )
    for mode, text in modes:
        yield Command(
            name=f"theme.{mode}",
            text=text,
            act=partial(appearance.set_theme, mode),
            menu="view",
            submenu=theme,
            group="theme",
        )
    for percent in SIZES:
        yield Command(
            name=f"scale.{percent}",
            text=msg("Zoom {percent} %", percent=percent),
            act=partial(appearance.set_scale, percent / 100),
            menu="view",
            submenu=size,
            group="scale",
        )


def _circuit(targets: Targets) -> Iterator[Command]:
    workspace, refusals = targets.workspace, _Refusals(targets)
    yield Command(
        name="chooseMain",
        text=msg("Choose main circuit…"),
        act=targets.projects.choose_main,
        menu="circuit",
        refusal=refusals.no_project,
    )
    yield Command(
        name="setMain",
        text=msg("Set current file as main circuit"),
        act=targets.set_main_to_shown,
        menu="circuit",
        refusal=refusals.no_file,
    )
    yield Command(
        name="acceptChanges",
        text=msg("Accept all changes"),
        act=targets.desk.accept,
        menu="circuit",
        begins_part=True,
        refusal=refusals.no_project,
    )
    yield Command(
        name="run",
        text=msg("Run the current circuit"),
        act=workspace.run_requested.emit,
        menu="simulate",
        key="F5",
        refusal=refusals.no_run,
    )
    yield Command(
        name="runMain",
        text=msg("Run the main circuit"),
        act=workspace.main_run_requested.emit,
        menu="simulate",
        key="Ctrl+F5",
        refusal=refusals.no_run,
    )
    yield Command(
        name="stopRun",
        text=msg("Stop the simulation"),
        act=targets.stop_run,
        menu="simulate",
        refusal=refusals.not_running,
    )


def _design(targets: Targets) -> Iterator[Command]:
    workspace, no_project = targets.workspace, _Refusals(targets).no_project
    services, window = targets.services, targets.window
    app = targets.parts.app
    yield Command(
        name="conversation",
        text=msg("Show the conversation"),
        act=partial(targets.panes.show_panel, "conversation"),
        menu="design",
        in_box=False,
        refusal=no_project,
    )
    acts: tuple[tuple[str, Message, Callable[[ConversationPanel], None]], ...] = (
        ("describe_design", msg("Describe a design"), lambda panel: panel.describe_design()),
        ("new_conversation", msg("New conversation"), lambda panel: panel.new_conversation()),
        ("show_history", msg("Earlier conversations…"), lambda panel: panel.show_history()),
    )
    for name, text, act in acts:
        yield Command(
            name=name,
            text=text,
            act=partial(targets.talk, act),
            menu="design",
            refusal=no_project,
        )
    yield Command(
        name="switchMode",
        text=msg("Switch between workflow and free work"),
        act=workspace.mode_switch_requested.emit,
        menu="design",
        key="Ctrl+Shift+M",
        refusal=no_project,
    )
    yield Command(
        name="prompts",
        text=msg("Prompts…"),
        act=partial(about.show_prompts, services, app.conversations, window),
        menu="design",
        begins_part=True,
    )
    yield Command(
        name="modelSettings",
        text=msg("Model settings…"),
        act=partial(about.show_model_settings, targets.parts, window),
        menu="design",
    )
    yield Command(
        name="embedding",
        text=msg("Search by meaning…"),
        act=partial(about.show_embedding, services, app.models, app.project, window),
        menu="design",
    )
    yield Command(
        name="permissions",
        text=msg("Confirmation rules…"),
        act=partial(about.show_permissions, services, app.conversations, window),
        menu="design",
        refusal=no_project,
    )


def _help(targets: Targets) -> Iterator[Command]:
    services, window = targets.services, targets.window
    yield Command(
        name="keys",
        text=msg("Keyboard"),
        act=lambda: about.show_keys(services, window, targets.commands()),
        menu="help",
    )
    yield Command(
        name="doctor",
        text=msg("Check system"),
        act=partial(about.show_doctor, services, targets.parts.app.program, window),
        menu="help",
    )
    yield Command(
        name="about",
        text=msg("About Circuit Design AI"),
        act=partial(about.show_about, services, window),
        menu="help",
        begins_part=True,
    )
