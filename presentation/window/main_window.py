"""The main window: header, body, status bar; how it starts and ends, and what its commands do.

It paints bare first; `fill` makes the panels, which are imported late, and brings back the last project.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PyQt6.QtCore import Qt, QUrl, pyqtSignal
from PyQt6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PyQt6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from application.project.window_state import WindowState
from presentation.ui.frame import IconButton
from presentation.ui.workspace import WindowServices
from presentation.window import popups
from presentation.window.header import Header
from presentation.window.layout_state import Fit, on_a_screen
from presentation.window.status_bar import StatusBar
from shared.message import msg
from shared.paths import user_home

if TYPE_CHECKING:
    from application.examining import ExaminationReport
    from presentation.panels.welcome import WelcomePage
    from presentation.window.panes import Panes

First = Literal["all", "welcome", "project"]
"""What is made before the first paint; the pages import their modules, which takes as long as making them."""

# The panels of the others, imported after the first paint.
_PANELS = {
    "editor": ("presentation.panels.editor.editor_area", "EditorArea"),
    "bottom": ("presentation.panels.bottom_pane", "BottomPane"),
    "conversation": ("presentation.panels.conversation.panel", "ConversationPanel"),
}


class MainWindow(QWidget):
    """One window on one project. Implements presentation.window.application.Frame."""

    close_requested = pyqtSignal()

    panes: Panes

    def __init__(
        self, services: WindowServices, state: WindowState | None = None, *, first: First = "all"
    ) -> None:
        """`state`: the one saved last, when it is known before the first paint; else `fill` loads it.

        With `first` naming one of the two pages only that one is made; `complete` makes the rest.
        """
        super().__init__()
        self.services = self._services = services
        self._state = state
        self._first = first
        self._is_complete = False
        self._welcome: WelcomePage | None = None
        self._report: ExaminationReport | None = None
        self.setObjectName("mainWindow")
        self.header = Header(services, self)
        self.status_bar = StatusBar(services)
        self._body = QStackedWidget()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        self._notices = column
        column.addWidget(self._body, 1)
        column.addWidget(self.status_bar)
        self._restyle_frame()
        self._retitle()
        if first == "welcome":
            self.header.show_titles()
            self._body.setCurrentWidget(self.welcome)
            for button in self.header.toggles.values():
                button.setChecked(False)
                button.setEnabled(False)
            if state is not None:
                self._place(state)
        else:
            self.complete()

    def complete(self) -> None:
        """Make what the first paint did not need: the panes, what opens projects, the commands."""
        if self._is_complete:
            return
        from presentation.window.command_hits import Finder
        from presentation.window.commands import Commands
        from presentation.window.content_search import ContentSearch
        from presentation.window.escape import EscapeStops
        from presentation.window.menu import commands_of
        from presentation.window.panes import Panes
        from presentation.window.project_switch import ProjectSwitch
        from presentation.window.projects import ProjectDesk
        from presentation.window.run_target import RunTarget

        services = self._services
        self.panes = Panes(services)
        self._body.addWidget(self.panes)
        self.desk = ProjectDesk(services, self)
        self._run_target = RunTarget(services, self)
        self.projects = ProjectSwitch(services, self, self.panes, self.desk)
        self.commands = Commands(services, self, commands_of(self))
        self.commands.fill(self.header.menu_bar)
        Finder(services, self.header.command_box, self.commands, self.panes.outline)
        ContentSearch(services, self.header.command_box)
        self._escape = EscapeStops(self, self.stop_run)
        self._is_complete = True
        self._add_tools()
        self._connect()
        self.restyle()
        if self._welcome is not None:
            self._connect_welcome(self._welcome)
        if self._first == "project":
            self._body.setCurrentWidget(self.panes)
            self.panes.fit()
        else:
            self._show_body()
        self.setAcceptDrops(True)
        if self._state is not None:
            self._place(self._state)
            self._apply(self._state)

    @property
    def welcome(self) -> WelcomePage:
        """The page without a project, made when it is first needed."""
        if self._welcome is None:
            from presentation.panels.welcome import WelcomePage

            self._welcome = WelcomePage(self._services)
            self._body.addWidget(self._welcome)
            self._welcome.set_report(self._report)
            if self._is_complete:
                self._connect_welcome(self._welcome)
        return self._welcome

    def _connect_welcome(self, welcome: WelcomePage) -> None:
        projects = self.projects
        welcome.open_wanted.connect(projects.open)
        welcome.folder_wanted.connect(projects.open_folder)
        welcome.new_wanted.connect(projects.new_project)
        welcome.design_wanted.connect(projects.design)
        welcome.language_wanted.connect(self.set_language)
        welcome.theme_wanted.connect(self.set_theme)
        welcome.set_recent(projects.state.recent)
        projects.state_changed.connect(lambda: welcome.set_recent(projects.state.recent))

    def _add_tools(self) -> None:
        for name, icon, text, act in (
            ("newCircuit", "file-plus", msg("New circuit"), self.projects.new_circuit),
            ("findFile", "search", msg("Find a file"), self.header.command_box.begin),
            ("projectMenu", "ellipsis", msg("More"), partial(popups.show_project_menu, self)),
        ):
            button = IconButton(self._services, icon, text, name=name)
            button.clicked.connect(lambda _checked=False, act=act: act())
            self.panes.project_section.add_tool(button)

    def _connect(self) -> None:
        services, workspace = self._services, self._services.workspace
        desk, panes = self.desk, self.panes
        self.header.pane_toggled.connect(panes.set_pane)
        self.header.settings_wanted.connect(partial(popups.show_settings_menu, self))
        self.header.run_group.stop_wanted.connect(self.stop_run)
        panes.fitted.connect(self._on_fitted)
        panes.tree.main_wanted.connect(desk.set_main)
        panes.tree.accept_wanted.connect(desk.accept)
        desk.marks_changed.connect(panes.tree.set_marks)
        self._run_target.analyses_changed.connect(self.header.run_group.set_analyses)
        desk.result_stored.connect(panes.results.note_stored)
        workspace.project_opened.connect(lambda _root: self._show_body())
        workspace.project_closed.connect(self._show_body)
        workspace.command_wanted.connect(lambda name: self.commands.action(name).trigger())
        workspace.result_selected.connect(lambda _path: panes.show_pane("bottom"))
        recent = self.commands.submenu("Open recent")
        if recent is not None:
            recent.aboutToShow.connect(partial(popups.fill_recent, self, recent))
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)

    def restyle(self) -> None:
        """The smallest window, and what is chosen in the menus."""
        self._restyle_frame()
        self._check_choices()

    def _restyle_frame(self) -> None:
        theme = self._services.theme.theme
        # Not scaled: large type has to fit small screens too.
        self.setMinimumSize(
            round(theme.size("pane.right_max") / theme.scale),
            round(theme.size("pane.bottom_default") / theme.scale),
        )

    def retranslate(self) -> None:
        """The title; everything else listens by itself."""
        self._retitle()
        self._check_choices()

    def _retitle(self) -> None:
        root = self._services.workspace.root
        name = "Circuit Design AI"
        self.setWindowTitle(name if root is None else f"{root.name} - {name}")

    # ---- start and end (Frame) -----------------------------------------------------------------

    async def fill(self, project: Path | None) -> None:
        """Make the panels, put back layout and project (None: the last one)."""
        from presentation.panels.welcome_examples import curves

        if self._state is None:
            self._state = await asyncio.to_thread(self._services.app.window_state.load)
            self._place(self._state)
            self._apply(self._state)
        for name, (module, kind) in _PANELS.items():
            self.panes.put(name, getattr(importlib.import_module(module), kind)(self._services))
            await asyncio.sleep(0)  # a panel at a time: keys and paints come between them
        self._join_panels()
        state = self.projects.state
        self.projects.keeper.begin(self._state)
        self.panes.set_sizes(state.sizes)
        self._services.start(self._examine(), kind="examine")
        self._services.start(self._look_at_ends(), kind="examine")
        wanted = project or state.last_project
        if wanted is not None:
            await self.projects.open_now(wanted, is_last=project is None)
        else:
            self._services.workspace.set_opening(None)
        self._show_body()
        self.welcome.set_recent(self.projects.state.recent)
        examples = await self._services.app.browse.examples()
        drawn = await asyncio.to_thread(curves)
        self.welcome.set_examples(examples, self.projects.open_example, drawn)

    async def may_close(self) -> bool:
        """Ask about unsaved text and running work; False when the person wants to stay."""
        return await self.projects.may_leave()

    async def release(self) -> None:
        """Save the layout, end the file watch and what the panels hold."""
        if not self._is_complete:
            return  # ended before there was anything to save
        self._escape.end()
        try:
            await self.projects.keeper.end(is_discarded=self.projects.is_discarded)
        finally:
            await self.desk.release()
            self._end_panels()

    def closeEvent(self, event: QCloseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Closing is asked for; who made the window carries it out."""
        if event is not None:
            event.ignore()
        self.close_requested.emit()

    def _join_panels(self) -> None:
        """Connect the panels with each other and with the frame."""
        from presentation.panels.bottom_pane import BottomPane
        from presentation.panels.conversation.panel import ConversationPanel
        from presentation.panels.editor.editor_area import EditorArea

        editor, bottom, conversation = self.panes.editor, self.panes.bottom, self.panes.conversation
        assert isinstance(editor, EditorArea)
        assert isinstance(bottom, BottomPane)
        assert isinstance(conversation, ConversationPanel)
        editor.problems.connect(bottom.show_problems)
        bottom.maximise_requested.connect(self.panes.maximise_bottom)
        self.desk.result_stored.connect(bottom.note_stored)
        self.panes.results.overlay_wanted.connect(bottom.draw_behind)
        bottom.hide_requested.connect(partial(self.panes.set_pane, "bottom", is_wanted=False))
        workspace = self._services.workspace
        workspace.mode_switch_requested.connect(conversation.toggle_mode)
        workspace.design_requested.connect(self._design_here)

    def _end_panels(self) -> None:
        from presentation.panels.conversation.panel import ConversationPanel

        if isinstance(self.panes.conversation, ConversationPanel):
            self.panes.conversation.close_panel()

    def _design_here(self, text: str) -> None:
        from presentation.panels.conversation.panel import ConversationPanel

        if isinstance(self.panes.conversation, ConversationPanel):
            model = self.panes.conversation.model
            refusal = model.set_mode("workflow") or model.send(text)
            if refusal is not None:
                self._services.workspace.error_occurred.emit(refusal)

    def _place(self, state: WindowState) -> None:
        """Where it was on the screen."""
        if state.geometry is not None:
            self.setGeometry(on_a_screen(state.geometry))
        if state.is_maximized:
            self.setWindowState(self.windowState() | Qt.WindowState.WindowMaximized)

    def _apply(self, state: WindowState) -> None:
        self.projects.state = state
        if state.language != "auto":
            self._services.language.set(state.language)
        if (state.theme, state.scale) != (self._services.theme.mode, self._services.theme.theme.scale):
            self._services.theme.set_mode(state.theme, scale=state.scale)
        self.panes.set_wanted(state.shown_panes)
        self.panes.set_sizes(state.sizes)
        self.panes.tabs.setCurrentIndex(min(state.right_tab, self.panes.tabs.count() - 1))
        self._check_choices()

    # ---- commands ------------------------------------------------------------------------------

    def stop_run(self) -> None:
        """Stop the simulation."""
        from presentation.window.project_switch import RUN_SCOPE

        self._services.start(self._services.app.stop.stop("user", scope=RUN_SCOPE), kind="stop run")

    def set_main_to_shown(self) -> None:
        """Make the file of the front tab the main circuit."""
        shown = self._services.workspace.shown_file
        if shown is not None:
            self.desk.set_main(shown)

    def do_in_editor(self, name: str) -> None:
        """One of the editor's own commands: save, find, replace, go_to_line, close ..."""
        from presentation.panels.editor.editor_area import EditorArea

        if isinstance(self.panes.editor, EditorArea):
            self.panes.editor.action(name).trigger()

    def save_all(self) -> None:
        """Save every file."""
        buffers = self._services.workspace.buffers
        if buffers is not None:
            self._services.start(buffers.save_unsaved(), kind="save file")

    def set_language(self, name: str) -> None:
        """English or Chinese, at once and from now on."""
        if name in ("en", "zh"):
            self._services.language.set("zh" if name == "zh" else "en")
            self.projects.keep(language=name)

    def set_theme(self, mode: str) -> None:
        """Light, dark, or as the system, at once and from now on."""
        if mode in ("light", "dark", "system"):
            self._services.theme.set_mode(mode)  # type: ignore[arg-type]  # one of the three
            self.projects.keep(theme=mode)
            self._check_choices()

    def set_scale(self, scale: float) -> None:
        """Size of all type and rows."""
        self._services.theme.set_mode(self._services.theme.mode, scale=scale)
        self.projects.keep(scale=scale)
        self._check_choices()

    def show_bottom(self, index: int) -> None:
        """Bring a tab of the bottom pane to the front."""
        from presentation.panels.bottom_pane import BottomPane

        if isinstance(self.panes.bottom, BottomPane):
            self.panes.show_pane("bottom")
            self.panes.bottom.show_tab(index)

    def in_conversation(self, name: str) -> None:
        """One of the conversation's own commands: describe_design, new_conversation, show_history."""
        from presentation.panels.conversation.panel import ConversationPanel

        if isinstance(self.panes.conversation, ConversationPanel):
            self.panes.show_right(0)
            getattr(self.panes.conversation, name)()

    # ---- what is seen --------------------------------------------------------------------------

    def _on_fitted(self, found: Fit) -> None:
        has_project = self._services.workspace.root is not None
        for name, button in self.header.toggles.items():
            button.setChecked(getattr(found, name))
            button.setEnabled(has_project)

    def _show_body(self) -> None:
        has_project = self._services.workspace.root is not None
        self._body.setCurrentWidget(self.panes if has_project else self.welcome)
        self.retranslate()
        self.panes.fit()
        if not has_project:
            self.welcome.text.setFocus()

    def _check_choices(self) -> None:
        theme, language = self._services.theme, self._services.language
        for name, is_on in (
            *((f"theme.{mode}", theme.mode == mode) for mode in ("light", "dark", "system")),
            *((f"language.{name}", language.name == name) for name in ("en", "zh")),
            *((f"scale.{p}", round(theme.theme.scale * 100) == p) for p in (100, 125, 150, 200)),
        ):
            self.commands.action(name).setChecked(is_on)

    # ---- drops -------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent | None) -> None:  # noqa: N802 - Qt's name
        """Folders and files may be dropped."""
        if event is not None and _dropped(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent | None) -> None:  # noqa: N802 - Qt's name
        """A folder becomes the project; a file of it is shown, another file is opened with its folder."""
        place = None if event is None else _dropped(event)
        if event is None or place is None:
            return
        event.acceptProposedAction()
        root = self._services.workspace.root
        if root is not None and place.is_relative_to(root) and place != root:
            self._services.workspace.file_activated.emit(place, None)
        else:
            self.projects.open(place)

    async def _look_at_ends(self) -> None:
        """Tell of an earlier run that ended by a fault."""
        from presentation.ui.log_file import log_path
        from presentation.window.crash_notice import CrashNotice

        found = await asyncio.to_thread(self._services.app.unclean_ends.untold, log_path(user_home()))
        if found:
            self._notices.insertWidget(1, CrashNotice(self._services, found[0]))

    async def _examine(self) -> None:
        """Say whether ngspice is there and confined."""
        report = await self._services.app.examine.simulation()
        engine = next((f for f in report.findings if f.name == "ngspice"), None)
        boxes = [f for f in report.findings if f.name == "confinement"]
        self._report = report
        if self._welcome is not None:
            self._welcome.set_report(report)
        if engine is None or engine.state == "missing":
            self.status_bar.show_simulator(msg("ngspice not found"), "missing")
            return
        version = str(engine.message).replace("ngspice-", "ngspice ")
        if any(box.state == "missing" for box in boxes):
            self.status_bar.show_simulator(msg("{version}, not confined", version=version), "warning")
        else:
            self.status_bar.show_simulator(msg("{version}, confined", version=version), "ok")


def _dropped(event: QDropEvent) -> Path | None:
    data = event.mimeData()
    urls: Sequence[QUrl] = [] if data is None else data.urls()
    return next((Path(url.toLocalFile()) for url in urls if url.isLocalFile()), None)
