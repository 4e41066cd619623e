"""The commands of the main window, in the order of the menus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from presentation.window import about, dialogs
from presentation.window.commands import Command, to_focused
from shared.message import Message, msg

if TYPE_CHECKING:
    from presentation.window.main_window import MainWindow


class _Refusals:
    """Why something cannot be done now."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._workspace = window.services.workspace

    def no_project(self) -> Message | None:
        """It needs an open folder."""
        return msg("Open a folder first.") if self._workspace.root is None else None

    def no_file(self) -> Message | None:
        """It needs a file in the editor."""
        return msg("No file is open in the editor.") if self._workspace.shown_file is None else None

    def nothing_unsaved(self) -> Message | None:
        """It needs unsaved text."""
        buffers = self._workspace.buffers
        return None if buffers is not None and buffers.unsaved() else msg("Everything is saved.")

    def no_run(self) -> Message | None:
        """It needs a project, and that none of its circuits is simulated now."""
        if self._workspace.root is None:
            return msg("Nothing to run: no project is open")
        return msg("A simulation is running.") if self._window.header.run_group.is_running else None

    def not_running(self) -> Message | None:
        """It needs a simulation."""
        return None if self._window.header.run_group.is_running else msg("No simulation is running.")


def commands_of(window: MainWindow) -> tuple[Command, ...]:
    """All of them."""
    return (
        *_file(window),
        *_edit(window),
        *_view(window),
        *_circuit(window),
        *_design(window),
        *_help(window),
    )


def _file(window: MainWindow) -> Iterator[Command]:
    refusals = _Refusals(window)
    yield Command(
        name="openFolder",
        text=msg("Open folder..."),
        act=window.projects.open_folder,
        menu="file",
        key="Ctrl+O",
    )
    yield Command(
        name="newProject",
        text=msg("New project..."),
        act=window.projects.new_project,
        menu="file",
        key="Ctrl+N",
    )
    yield Command(
        name="newCircuit",
        text=msg("New circuit..."),
        act=window.projects.new_circuit,
        menu="file",
        refusal=refusals.no_project,
    )
    yield Command(
        name="openExample",
        text=msg("Open an example..."),
        act=window.projects.choose_example,
        menu="file",
        letter="E",
    )
    yield Command(
        name="save",
        text=msg("Save"),
        act=partial(window.do_in_editor, "save"),
        menu="file",
        key="Ctrl+S",
        owns_key=False,
        begins_part=True,
        refusal=refusals.no_file,
    )
    yield Command(
        name="saveAll",
        text=msg("Save all"),
        act=window.save_all,
        menu="file",
        key="Ctrl+Alt+S",
        refusal=refusals.nothing_unsaved,
    )
    yield Command(
        name="closeFile",
        text=msg("Close file"),
        act=partial(window.do_in_editor, "close"),
        menu="file",
        key="Ctrl+W",
        owns_key=False,
        refusal=refusals.no_file,
    )
    yield Command(
        name="closeProject",
        text=msg("Close project"),
        act=window.projects.close_project,
        menu="file",
        begins_part=True,
        refusal=refusals.no_project,
    )
    yield Command(
        name="quit",
        text=msg("Quit"),
        act=window.close_requested.emit,
        menu="file",
        key="Ctrl+Q",
        letter="Q",
    )


def _edit(window: MainWindow) -> Iterator[Command]:
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

    no_file = _Refusals(window).no_file
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
            act=partial(window.do_in_editor, name),
            menu="edit",
            key=key,
            owns_key=False,
            begins_part=name == "find",
            refusal=no_file,
        )


def _view(window: MainWindow) -> Iterator[Command]:
    box, no_project = window.header.command_box, _Refusals(window).no_project
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
            act=partial(window.panes.toggle_pane, pane),
            menu="view",
            key=key,
            begins_part=pane == "left",
            refusal=no_project,
        )
    yield Command(
        name="nextPane",
        text=msg("Next pane"),
        act=window.panes.next_pane,
        menu="view",
        key="F6",
        refusal=no_project,
    )
    for index, text in enumerate(
        (msg("Waveforms"), msg("Measurements"), msg("Iterations"), msg("Problems"), msg("Console"))
    ):
        yield Command(
            name=f"bottom.{index}",
            text=text,
            act=partial(window.show_bottom, index),
            menu="view",
            begins_part=index == 0,
            refusal=no_project,
        )
    for index, text in enumerate(
        (msg("Conversation"), msg("Context"), msg("Debug"), msg("Info"), msg("Components"))
    ):
        yield Command(
            name=f"right.{index}",
            text=text,
            act=partial(window.panes.show_right, index),
            menu="view",
            key=f"Ctrl+{index + 1}",
            begins_part=index == 0,
            refusal=no_project,
        )
    yield from _appearance(window)


def _appearance(window: MainWindow) -> Iterator[Command]:
    language, theme, size = msg("Language"), msg("Theme"), msg("Size")
    for name, text in (("en", msg("English")), ("zh", msg("Chinese (中文)"))):
        yield Command(
            name=f"language.{name}",
            text=text,
            act=partial(window.set_language, name),
            menu="view",
            submenu=language,
            group="language",
            begins_part=name == "en",
        )
    for mode, text in (
        ("light", msg("Light theme")),
        ("dark", msg("Dark theme")),
        ("system", msg("Theme of the system")),
    ):
        yield Command(
            name=f"theme.{mode}",
            text=text,
            act=partial(window.set_theme, mode),
            menu="view",
            submenu=theme,
            group="theme",
        )
    for percent in (100, 125, 150, 200):
        yield Command(
            name=f"scale.{percent}",
            text=msg("Size {percent} %", percent=percent),
            act=partial(window.set_scale, percent / 100),
            menu="view",
            submenu=size,
            group="scale",
        )


def _circuit(window: MainWindow) -> Iterator[Command]:
    workspace, refusals = window.services.workspace, _Refusals(window)
    yield Command(
        name="chooseMain",
        text=msg("Choose the main circuit..."),
        act=window.projects.choose_main,
        menu="circuit",
        refusal=refusals.no_project,
    )
    yield Command(
        name="setMain",
        text=msg("Make the shown file the main circuit"),
        act=window.set_main_to_shown,
        menu="circuit",
        refusal=refusals.no_file,
    )
    yield Command(
        name="acceptChanges",
        text=msg("Accept all changes"),
        act=window.desk.accept,
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
        act=window.stop_run,
        menu="simulate",
        refusal=refusals.not_running,
    )


def _design(window: MainWindow) -> Iterator[Command]:
    workspace, no_project = window.services.workspace, _Refusals(window).no_project
    show: Callable[[], object] = partial(window.panes.show_right, 0)
    yield Command(
        name="conversation",
        text=msg("Show the conversation"),
        act=show,
        menu="design",
        in_box=False,
        refusal=no_project,
    )
    for name, text in (
        ("describe_design", msg("Describe a design")),
        ("new_conversation", msg("New conversation")),
        ("show_history", msg("Earlier conversations")),
    ):
        yield Command(
            name=name,
            text=text,
            act=partial(window.in_conversation, name),
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
        text=msg("Prompts..."),
        act=partial(dialogs.show_prompts, window),
        menu="design",
        begins_part=True,
    )
    yield Command(
        name="modelSettings",
        text=msg("Model settings..."),
        act=partial(dialogs.show_model_settings, window),
        menu="design",
    )
    yield Command(
        name="embedding",
        text=msg("Search by meaning..."),
        act=partial(dialogs.show_embedding, window),
        menu="design",
    )
    yield Command(
        name="permissions",
        text=msg("Confirmation rules..."),
        act=partial(dialogs.show_permissions, window),
        menu="design",
        refusal=no_project,
    )


def _help(window: MainWindow) -> Iterator[Command]:
    yield Command(name="keys", text=msg("Keyboard"), act=partial(about.show_keys, window), menu="help")
    yield Command(
        name="doctor", text=msg("Examine this machine"), act=partial(about.show_doctor, window), menu="help"
    )
    yield Command(
        name="about",
        text=msg("About Circuit Design AI"),
        act=partial(about.show_about, window),
        menu="help",
        begins_part=True,
    )
