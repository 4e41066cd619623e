"""The main window: header, body, status bar; how it starts and ends, and what its commands do.

It paints bare first; `fill` makes the panels, which are imported late, and brings back the last project.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PyQt6.QtCore import QEvent, QObject, Qt, QUrl, pyqtSignal
from PyQt6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent
from PyQt6.QtWidgets import QApplication, QMenu, QStackedWidget, QVBoxLayout, QWidget

from application.window_state import WindowState
from presentation.panels.welcome import WelcomePage
from presentation.window import questions
from presentation.window.command_box import Finder
from presentation.window.commands import Commands
from presentation.window.frame import IconButton
from presentation.window.header import Header
from presentation.window.layout_state import Fit, on_a_screen
from presentation.window.menu import commands_of
from presentation.window.panes import Panes
from presentation.window.project_switch import RUN_SCOPE, ProjectSwitch
from presentation.window.projects import ProjectDesk
from presentation.window.status_bar import StatusBar
from presentation.window.workspace import AgentStatus, WindowServices
from shared.message import msg

# The panels of the others, imported after the first paint.
_PANELS = {
    "editor": ("presentation.panels.editor.editor_area", "EditorArea"),
    "bottom": ("presentation.panels.bottom_pane", "BottomPane"),
    "conversation": ("presentation.panels.conversation.panel", "ConversationPanel"),
}


class MainWindow(QWidget):
    """One window on one project. Implements presentation.window.application.Frame."""

    close_requested = pyqtSignal()

    def __init__(self, services: WindowServices, state: WindowState | None = None) -> None:
        """`state`: the one saved last, when it is known before the first paint; else `fill` loads it."""
        super().__init__()
        self.services = self._services = services
        self._is_state_known = state is not None
        self.setObjectName("mainWindow")
        self.setAcceptDrops(True)
        self.header = Header(services, self)
        self.panes = Panes(services)
        self.welcome = WelcomePage(services)
        self.status_bar = StatusBar(services)
        self.desk = ProjectDesk(services, self)
        self.projects = ProjectSwitch(services, self, self.panes, self.desk)
        self._body = QStackedWidget()
        self._body.addWidget(self.welcome)
        self._body.addWidget(self.panes)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self._body, 1)
        column.addWidget(self.status_bar)
        self.commands = Commands(services, self, commands_of(self))
        self.commands.fill(self.header.menu_bar)
        Finder(services, self.header.command_box, self.commands, self.panes.outline)
        self._add_tools()
        self._connect()
        self.restyle()
        self.retranslate()
        self._show_body()
        if state is not None:
            self._apply(state)

    def _add_tools(self) -> None:
        for name, icon, text, act in (
            ("newCircuit", "file-plus", msg("New circuit"), self.projects.new_circuit),
            ("findFile", "search", msg("Find a file"), self.header.command_box.begin),
            ("projectMenu", "ellipsis", msg("More"), self._show_project_menu),
        ):
            button = IconButton(self._services, icon, text, name=name)
            button.clicked.connect(lambda _checked=False, act=act: act())
            self.panes.project_section.add_tool(button)

    def _connect(self) -> None:
        services, workspace = self._services, self._services.workspace
        desk, panes, projects, welcome = self.desk, self.panes, self.projects, self.welcome
        self.header.pane_toggled.connect(panes.set_pane)
        self.header.settings_wanted.connect(self._show_settings_menu)
        self.header.run_group.stop_wanted.connect(self.stop_run)
        panes.fitted.connect(self._on_fitted)
        panes.tree.main_wanted.connect(desk.set_main)
        panes.tree.accept_wanted.connect(desk.accept)
        desk.marks_changed.connect(panes.tree.set_marks)
        desk.analyses_changed.connect(self.header.run_group.set_analyses)
        desk.result_stored.connect(panes.results.note_stored)
        projects.state_changed.connect(lambda: welcome.set_recent(projects.state.recent))
        welcome.open_wanted.connect(projects.open)
        welcome.folder_wanted.connect(projects.open_folder)
        welcome.new_wanted.connect(projects.new_project)
        welcome.design_wanted.connect(projects.design)
        welcome.language_wanted.connect(self.set_language)
        welcome.theme_wanted.connect(self.set_theme)
        workspace.project_opened.connect(lambda _root: self._show_body())
        workspace.project_closed.connect(self._show_body)
        workspace.run_started.connect(lambda _path: self._listen_for_escape(is_running=True))
        workspace.run_finished.connect(lambda _result: self._listen_for_escape(is_running=False))
        workspace.result_selected.connect(lambda _path: panes.show_pane("bottom"))
        recent = self.commands.submenu("Open recent")
        if recent is not None:
            recent.aboutToShow.connect(partial(self._fill_recent, recent))
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)

    def restyle(self) -> None:
        """The smallest window."""
        theme = self._services.theme.theme
        # Not scaled: large type has to fit small screens too.
        self.setMinimumSize(
            round(theme.size("pane.right_max") / theme.scale),
            round(theme.size("pane.bottom_default") / theme.scale),
        )
        self._check_choices()

    def retranslate(self) -> None:
        """The title; everything else listens by itself."""
        root = self._services.workspace.root
        name = "Circuit Design AI"
        self.setWindowTitle(name if root is None else f"{root.name} - {name}")
        self._check_choices()

    # ---- start and end (Frame) -----------------------------------------------------------------

    async def fill(self, project: Path | None) -> None:
        """Make the panels, put back layout and project (None: the last one)."""
        if not self._is_state_known:
            self._apply(await asyncio.to_thread(self._services.app.window_state.load))
        for name, (module, kind) in _PANELS.items():
            self.panes.put(name, getattr(importlib.import_module(module), kind)(self._services))
            await asyncio.sleep(0)  # a panel at a time: keys and paints come between them
        self._join_panels()
        state = self.projects.state
        self.panes.set_sizes(state.sizes)
        self.welcome.set_recent(state.recent)
        self._services.start(self._examine(), kind="examine")
        self.welcome.set_examples(await self._services.app.browse.examples(), self.projects.open_example)
        wanted = project or state.last_project
        if wanted is not None:
            await self.projects.open_now(wanted, is_last=project is None)
        self._show_body()

    async def may_close(self) -> bool:
        """Ask about unsaved text and running work; False when the person wants to stay."""
        return await self.projects.may_leave()

    async def release(self) -> None:
        """Save the layout, end the file watch and what the panels hold."""
        self.projects.remember()
        self._listen_for_escape(is_running=False)
        try:
            await asyncio.to_thread(self._services.app.window_state.save, self.projects.state)
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
        bottom.hide_requested.connect(partial(self.panes.set_pane, "bottom", is_wanted=False))
        workspace = self._services.workspace
        workspace.mode_switch_requested.connect(conversation.toggle_mode)
        workspace.design_requested.connect(self._design_here)
        conversation.run_state_changed.connect(self._on_conversation_state)

    def _end_panels(self) -> None:
        from presentation.panels.conversation.panel import ConversationPanel

        if isinstance(self.panes.conversation, ConversationPanel):
            self.panes.conversation.close_panel()

    def _on_conversation_state(self, state: str) -> None:
        known = {"running": "running", "stopping": "stopping"}.get(state, "idle")
        status = AgentStatus(state=known)  # type: ignore[arg-type]  # one of three of its words
        self._services.workspace.agent_status_changed.emit(status)

    def _design_here(self, text: str) -> None:
        from presentation.panels.conversation.panel import ConversationPanel

        if isinstance(self.panes.conversation, ConversationPanel):
            model = self.panes.conversation.model
            refusal = model.set_mode("workflow") or model.send(text)
            if refusal is not None:
                self._services.workspace.error_occurred.emit(refusal)

    def _apply(self, state: WindowState) -> None:
        self.projects.state = state
        if state.language != "auto":
            self._services.language.set(state.language)
        if (state.theme, state.scale) != (self._services.theme.mode, self._services.theme.theme.scale):
            self._services.theme.set_mode(state.theme, scale=state.scale)
        if state.geometry is not None:
            self.setGeometry(on_a_screen(state.geometry))
        if state.is_maximized:
            self.setWindowState(self.windowState() | Qt.WindowState.WindowMaximized)
        self.panes.set_wanted(state.shown_panes)
        self.panes.set_sizes(state.sizes)
        self.panes.tabs.setCurrentIndex(min(state.right_tab, self.panes.tabs.count() - 1))
        self._check_choices()

    # ---- commands ------------------------------------------------------------------------------

    def stop_run(self) -> None:
        """Stop the simulation."""
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
            buffers.save_all()

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

    def show_prompts(self) -> None:
        """The dialog of the prompts."""
        from presentation.dialogs.prompt_editor.dialog import PromptSettingsDialog

        workspace = self._services.workspace
        dialog = PromptSettingsDialog(
            self._services, self._services.app.prompts, project=workspace.root, parent=self
        )
        dialog.open()

    def show_keys(self) -> None:
        """The keys, as a list."""
        language = self._services.language
        rows = [f"{language(command.text)}: {command.key}" for command in self.commands.all if command.key]
        questions.tell(self._services, self, title=msg("Keyboard"), text="\n".join(rows))

    def show_about(self) -> None:
        """What this program is."""
        text = self._services.language(
            msg("An open environment for SPICE design with an assistant whose every step can be undone.")
        )
        questions.tell(self._services, self, title=msg("About Circuit Design AI"), text=text)

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

    def _show_project_menu(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        language = self._services.language
        menu.addAction(language(msg("Fold all folders")), self.panes.tree.collapse_all)
        menu.addAction(language(msg("Read again")), self.panes.tree.reload)
        menu.addSeparator()
        for name in ("chooseMain", "acceptChanges", "openFolder", "closeProject"):
            menu.addAction(self.commands.action(name))
        button = self.findChild(IconButton, "projectMenu")
        if button is not None:
            menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

    def _show_settings_menu(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for names in (("language.en", "language.zh"), ("theme.light", "theme.dark", "theme.system")):
            for name in names:
                menu.addAction(self.commands.action(name))
            menu.addSeparator()
        menu.addAction(self.commands.action("prompts"))
        button = self.header.settings
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

    def _fill_recent(self, menu: QMenu) -> None:
        """The projects opened last."""
        menu.clear()
        for path in self.projects.state.recent:
            menu.addAction(str(path), partial(self.projects.open, path))

    def _check_choices(self) -> None:
        theme, language = self._services.theme, self._services.language
        for name, is_on in (
            *((f"theme.{mode}", theme.mode == mode) for mode in ("light", "dark", "system")),
            *((f"language.{name}", language.name == name) for name in ("en", "zh")),
            *((f"scale.{p}", round(theme.theme.scale * 100) == p) for p in (100, 125, 150, 200)),
        ):
            self.commands.action(name).setChecked(is_on)

    # ---- the key that stops a run, drops -------------------------------------------------------

    def _listen_for_escape(self, *, is_running: bool) -> None:
        application = QApplication.instance()
        if application is not None:
            application.removeEventFilter(self)
            if is_running:
                application.installEventFilter(self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """While a run is under way Escape ends it, wherever the focus is but in the conversation.

        The editor would keep the key to itself, so a shortcut would not do.
        """
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        focused = QApplication.focusWidget()
        is_ours = (
            focused is not None and self.isAncestorOf(focused) and not self.panes.right.isAncestorOf(focused)
        )
        if event.key() == Qt.Key.Key_Escape and is_ours and QApplication.activePopupWidget() is None:
            self.stop_run()
            return True
        return super().eventFilter(watched, event)

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

    async def _examine(self) -> None:
        """Say whether ngspice is there and confined."""
        report = await self._services.app.examine.simulation()
        engine = next((f for f in report.findings if f.name == "ngspice"), None)
        boxes = [f for f in report.findings if f.name == "confinement"]
        self.welcome.set_report(report)
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
