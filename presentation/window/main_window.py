"""The main window: header, body, status bar; how it starts and ends, and what its commands do.

It paints bare first; `fill` makes the panels, which are imported late, and brings back the last project.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PyQt6.QtCore import Qt, QUrl, pyqtSignal
from PyQt6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PyQt6.QtWidgets import QMenu, QStackedWidget, QVBoxLayout, QWidget

from application.project.window_state import WindowState
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange
from presentation.ui.workspace import WindowServices
from presentation.window.header import Header
from presentation.window.layout_state import Fit, on_a_screen
from presentation.window.status_bar import StatusBar
from shared.message import msg
from shared.paths import user_home
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.app import Application
    from application.examining import ExaminationReport
    from domain.simulation.retention import CutOff
    from presentation.panels.project.tree import ProjectTree
    from presentation.panels.welcome import WelcomePage
    from presentation.ui.language import LanguageManager
    from presentation.window.commands import Commands
    from presentation.window.panels import Parts
    from presentation.window.panes import Panes
    from presentation.window.project_switch import ProjectSwitch

First = Literal["all", "welcome", "project"]
"""What is made before the first paint; the pages import their modules, which takes as long as making them."""


class MainWindow(QWidget):
    """One window on one project. Implements presentation.window.application.Frame."""

    close_requested = pyqtSignal()

    panes: Panes
    parts: Parts

    def __init__(
        self,
        services: WindowServices,
        app: Application,
        state: WindowState | None = None,
        *,
        first: First = "all",
    ) -> None:
        """`state`: the one saved last, when it is known before the first paint; else `fill` loads it.

        With `first` naming one of the two pages only that one is made; `complete` makes the rest.
        """
        super().__init__()
        self.services = self._services = services
        self._app = app
        self._state = state
        self._first = first
        self._is_complete = self._is_filled = False
        self._welcome: WelcomePage | None = None
        self._report: ExaminationReport | None = None
        self.setObjectName("mainWindow")
        self.header = Header(services, self)
        self.status_bar = StatusBar(services)
        self._body = QStackedWidget()
        column = arrange(QVBoxLayout(self), self.header, edges=0, gap=0)
        self._notices = column
        arrange(column, (self._body, 1), self.status_bar)
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
        from presentation.window.appearance import Appearance
        from presentation.window.command_hits import Finder
        from presentation.window.commands import Commands
        from presentation.window.content_search import ContentSearch
        from presentation.window.escape import EscapeStops
        from presentation.window.menu import Targets, commands_of, panel_actions
        from presentation.window.panels import Parts
        from presentation.window.panes import Panes
        from presentation.window.project_switch import ProjectSwitch
        from presentation.window.projects import ProjectDesk
        from presentation.window.run_target import RunTarget

        services, app = self._services, self._app
        self.parts = parts = Parts(services, app)
        self.panes = Panes(services, parts, self._body)
        self._body.addWidget(self.panes)
        self.desk = ProjectDesk(services, app.project, app.simulation, self)
        self._run_target = RunTarget(services, app.project, self)
        self.projects = ProjectSwitch(
            services, self, parts, self.panes, self.desk, project=app.project, program=app.program
        )
        self.appearance = Appearance(services.theme, services.language, self._keep)
        targets = Targets(
            services=services,
            window=self,
            close=self.close_requested.emit,
            header=self.header,
            parts=parts,
            panes=self.panes,
            projects=self.projects,
            desk=self.desk,
            appearance=self.appearance,
            stop_run=self._stop_run,
            show_settings=self._show_settings,
        )
        services.shortcuts.set_panels(panel_actions())
        self.commands = Commands(services, self, commands_of(targets))
        self.commands.fill(self.header.menu_bar)
        Finder(services, app.project, self.header.command_box, self.commands, parts.outline)
        ContentSearch(services, app.project, app.program, self.header.command_box)
        self._escape = EscapeStops(
            self, services.workspace, stop=self._stop_run, is_taken=self._is_talking_at
        )
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
        """The page without a project, made when it is first needed: not where a project is opened."""
        if self._welcome is None:
            from presentation.panels.welcome import WelcomePage

            self._welcome = WelcomePage(self._services)
            self._body.addWidget(self._welcome)
            self._welcome.set_report(self._report)
            if self._is_complete:
                self._connect_welcome(self._welcome)
            if self._is_filled:
                self._services.start(self._furnish(self._welcome), kind="start page")
        return self._welcome

    async def _furnish(self, welcome: WelcomePage) -> None:
        """What of the page is read from the disk."""
        from presentation.panels.welcome import curves

        welcome.set_recent(self.projects.state.recent)
        examples = await self._app.project.browse.examples()
        drawn = await asyncio.to_thread(curves)
        welcome.set_examples(examples, self.projects.open_example, drawn)
        await off_loop(self._app.models.settings.load)
        welcome.set_models(self._app.models, self.parts.conversation.set_choice)

    def _connect_welcome(self, welcome: WelcomePage) -> None:
        projects = self.projects
        welcome.open_wanted.connect(projects.open)
        welcome.folder_wanted.connect(projects.open_folder)
        welcome.new_wanted.connect(projects.new_project)
        welcome.import_wanted.connect(lambda: self.commands.action("importFiles").trigger())
        welcome.tutorial_wanted.connect(lambda: self.commands.action("tutorial").trigger())
        welcome.box.wanted.connect(projects.design)
        welcome.language_wanted.connect(self.appearance.set_language)
        welcome.theme_wanted.connect(self.appearance.set_theme)
        welcome.set_recent(projects.state.recent)
        projects.state_changed.connect(lambda: welcome.set_recent(projects.state.recent))

    def _add_tools(self) -> None:
        section = self.panes.sections["project"]
        more = IconButton(self._services, "ellipsis", msg("More"), name="projectMenu")
        for name, icon, text, act in (
            ("newCircuit", "file-plus", msg("New circuit"), self.projects.new_circuit),
            ("findFile", "search", msg("Find file"), self.header.command_box.begin),
        ):
            button = IconButton(self._services, icon, text, name=name)
            button.clicked.connect(lambda _checked=False, act=act: act())
            section.add_tool(button)
        more.clicked.connect(
            lambda: show_project_menu(more, self.parts.tree, self.commands, self._services.language)
        )
        section.add_tool(more)

    def _is_talking_at(self, focused: QWidget) -> bool:
        """A run of the conversation takes Escape where it is written, an open list the editor."""
        is_answering = self.panes.right.isAncestorOf(focused) and self.parts.conversation.is_running
        return is_answering or self.parts.editor.takes_escape(focused)

    def _connect(self) -> None:
        services, workspace = self._services, self._services.workspace
        desk, panes, tree = self.desk, self.panes, self.parts.tree
        self.header.pane_toggled.connect(panes.set_pane)
        self.header.run_group.stop_wanted.connect(self._stop_run)
        self.header.run_group.pause_wanted.connect(self.parts.runs.controller.pause_or_go_on)
        self.header.settings_wanted.connect(lambda: show_settings_menu(self.header.settings, self.commands))
        panes.fitted.connect(self._on_fitted)
        tree.main_wanted.connect(desk.set_main)
        tree.accept_wanted.connect(desk.accept)
        desk.marks_changed.connect(tree.set_marks)
        self._run_target.analyses_changed.connect(self.header.run_group.set_analyses)
        desk.result_stored.connect(self.parts.results.note_stored)
        workspace.project_opened.connect(self._on_project)
        workspace.cut_off_found.connect(self._tell_cut_off)
        workspace.report_written.connect(self._tell_report)
        workspace.project_closed.connect(self._show_body)
        workspace.command_wanted.connect(lambda name: self.commands.action(name).trigger())
        workspace.result_selected.connect(lambda _path: panes.show_pane("bottom"))
        recent = self.commands.submenu("Open recent")
        if recent is not None:
            recent.aboutToShow.connect(partial(fill_recent, recent, self.projects))
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)

    def _tell_cut_off(self, found: tuple[CutOff, ...]) -> None:
        from presentation.window.crash_notice import CutOffNotice

        self._notices.insertWidget(1, CutOffNotice(self._services, found))

    def _tell_report(self, circuit: str, path: Path) -> None:
        from presentation.window.design_report import ReportNotice

        self._drop_report()
        self._notices.insertWidget(1, ReportNotice(self._services, circuit, path))

    def _drop_report(self) -> None:
        for earlier in self.findChildren(QWidget, "reportNotice"):
            earlier.hide()
            earlier.deleteLater()

    def _on_project(self, _root: Path) -> None:
        self._drop_report()
        parts = self.parts
        _ = (
            parts.goals_watch,
            parts.yield_watch,
            parts.previews,
            parts.pull,
        )  # they listen from the first project on
        self._show_body()

    def restyle(self) -> None:
        """The smallest window, and what is chosen in the menus."""
        self._restyle_frame()
        self.appearance.check(self.commands)

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
        self.appearance.check(self.commands)

    def _retitle(self) -> None:
        root = self._services.workspace.root
        name = "Circuit Design AI"
        self.setWindowTitle(name if root is None else f"{root.name} - {name}")

    # ---- start and end (Frame) -----------------------------------------------------------------

    async def fill(self, project: Path | None) -> None:
        """Make the panels, put back layout and project (None: the last one)."""
        if self._state is None:
            self._state = await asyncio.to_thread(self._app.program.window_state.load)
            self._place(self._state)
            self._apply(self._state)
        for _ in self.panes.making():
            await asyncio.sleep(0)  # a panel at a time: keys and paints come between them
        self._join_panels()
        state = self.projects.state
        self.projects.keeper.begin(self._state)
        self.panes.set_sizes(state.sizes)
        self._services.start(self._load_keys(), kind="load keys")
        self._services.start(self._examine(), kind="examine")
        self._services.start(self._look_at_ends(), kind="examine")
        wanted = project or state.last_project
        if wanted is not None:
            await self.projects.open_now(wanted, is_last=project is None)
        else:
            self._services.workspace.set_opening(None)
        self._show_body()
        self._is_filled = True
        if self._welcome is not None:
            await self._furnish(self._welcome)

    async def may_close(self) -> bool:
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
            self.parts.end()

    def closeEvent(self, event: QCloseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Closing is asked for; who made the window carries it out."""
        if event is not None:
            event.ignore()
        self.close_requested.emit()

    def _join_panels(self) -> None:
        """Connect the panels with each other and with the frame."""
        bottom, runs = self.parts.bottom, self.parts.runs
        self.parts.studies.listen()
        self.parts.editor.page_shown.connect(self.panes.set_wide)
        self.parts.editor.problems.connect(runs.show_problems)
        runs.problems.mend_wanted.connect(self.parts.editor.mend)
        self.parts.results.overlay_wanted.connect(runs.draw_behind)
        self.parts.results.comparison_wanted.connect(runs.compare_with)
        self.parts.results.drawn_behind = lambda: runs.waveforms.overlay.chosen
        self.desk.result_stored.connect(runs.note_stored)
        self.desk.conversation_stored.connect(self.parts.conversation.note_stored)
        bottom.maximise_requested.connect(self.panes.maximise_bottom)
        bottom.hide_requested.connect(partial(self.panes.set_pane, "bottom", is_wanted=False))

    def _place(self, state: WindowState) -> None:
        if state.geometry is not None:
            self.setGeometry(on_a_screen(state.geometry))
        if state.is_maximized:
            self.setWindowState(self.windowState() | Qt.WindowState.WindowMaximized)

    def _apply(self, state: WindowState) -> None:
        self.projects.state = state
        self._services.workspace.views.knows_plot = state.knows_plot
        self.appearance.bring_back(state)
        self.panes.set_wanted(state.shown_panes)
        self.panes.set_sizes(state.sizes)
        self.panes.right_pages.bring_back(state.right_panel)
        self.appearance.check(self.commands)

    def _stop_run(self) -> None:
        self.parts.runs.controller.stop()

    def _show_settings(self) -> None:
        from presentation.window.about import show_settings

        show_settings(self._services, self._app, self, self._on_setting)

    def _on_setting(self, name: str, value: Any) -> None:
        """A setting of the file that this window shows by itself."""
        if name == "language":
            self.appearance.follow_language(value, self._app.program.language)

    def _keep(self, **changes: Any) -> None:
        self.projects.keep(**changes)
        self.appearance.check(self.commands)

    # ---- what is seen --------------------------------------------------------------------------

    def _on_fitted(self, found: Fit) -> None:
        has_project = self._services.workspace.root is not None
        for name, is_shown in (("left", found.left), ("bottom", found.bottom), ("right", found.right)):
            self.header.toggles[name].setChecked(is_shown)
            self.header.toggles[name].setEnabled(has_project)

    def _show_body(self) -> None:
        workspace = self._services.workspace
        # Between two projects, and until the first is open, the panes stay where they are.
        is_coming = workspace.opening is not None and self._body.currentWidget() is self.panes
        has_panes = workspace.root is not None or is_coming
        self._body.setCurrentWidget(self.panes if has_panes else self.welcome)
        self.retranslate()
        self.panes.fit()
        if not has_panes:
            self.welcome.refresh()
            self.welcome.text.setFocus()

    # ---- drops -------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent | None) -> None:  # noqa: N802 - Qt's name
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

    async def _load_keys(self) -> None:
        """The user's own keys, from his first moment on; what of them cannot be used is told."""
        kept = await off_loop(self._app.program.user_keys.load)
        for told in (*kept.warnings, *self._services.shortcuts.set_changes(kept.keys)):
            self._services.workspace.status_changed.emit(told)

    async def _look_at_ends(self) -> None:
        """Tell of an earlier run that ended by a fault."""
        from presentation.ui.log_file import log_path
        from presentation.window.crash_notice import CrashNotice

        found = await asyncio.to_thread(self._app.program.unclean_ends.untold, log_path(user_home()))
        if found:
            self._notices.insertWidget(1, CrashNotice(self._services, self._app.program, found[0]))

    async def _examine(self) -> None:
        """Say whether ngspice is there and confined."""
        report = await self._app.program.examine.simulation()
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


def show_project_menu(
    button: QWidget, tree: ProjectTree, commands: Commands, language: LanguageManager
) -> None:
    menu = QMenu(button.window())
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.addAction(language(msg("Collapse all folders")), tree.collapse_all)
    menu.addAction(language(msg("Reload")), tree.reload)
    menu.addSeparator()
    for name in ("chooseMain", "acceptChanges", "openFolder", "closeProject"):
        menu.addAction(commands.action(name))
    menu.popup(button.mapToGlobal(button.rect().bottomLeft()))


def show_settings_menu(button: QWidget, commands: Commands) -> None:
    menu = QMenu(button.window())
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.addAction(commands.action("settings"))
    menu.addSeparator()
    for names in (("language.en", "language.zh"), ("theme.light", "theme.dark", "theme.system", "contrast")):
        for name in names:
            menu.addAction(commands.action(name))
        menu.addSeparator()
    for name in ("modelSettings", "prompts", "permissions"):
        menu.addAction(commands.action(name))
    menu.popup(button.mapToGlobal(button.rect().bottomLeft()))


def fill_recent(menu: QMenu, projects: ProjectSwitch) -> None:
    menu.clear()
    for path in projects.state.recent:
        menu.addAction(str(path), partial(projects.open, path))
