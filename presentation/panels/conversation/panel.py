"""The conversation panel: title, messages, input, and the line that says what is going on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from PyQt6.QtCore import Qt, QTimer, QUrl, pyqtSignal
from PyQt6.QtGui import QDesktopServices, QGuiApplication, QKeyEvent, QKeySequence, QShortcut, QShowEvent
from PyQt6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QPushButton,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from presentation.panels.conversation.composer import Composer
from presentation.panels.conversation.elided import ElidedLabel
from presentation.panels.conversation.empty import empty_html
from presentation.panels.conversation.history import HistoryDialog
from presentation.panels.conversation.items import (
    AnswerText,
    Change,
    Choice,
    Item,
    Reset,
    Streamed,
    UserText,
)
from presentation.panels.conversation.model_choice import ModelMenu
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.view_model import ConversationViewModel, Mode
from presentation.panels.conversation.web_probe import WebProbe
from presentation.window.frame import IconButton
from presentation.window.styles import mark
from presentation.window.workspace import WindowServices
from shared import paths
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.events import GoalsUnderstood
    from presentation.panels.conversation.web_view import WebConversation


_logger = logging.getLogger(__name__)


class ConversationPanel(QWidget):
    """One conversation tab. `probe` None: no web view is tried."""

    mode_changed = pyqtSignal(str)
    """"free" or "workflow"; menus follow it."""
    run_state_changed = pyqtSignal(str)
    """"idle", "running" or "stopping"."""
    session_changed = pyqtSignal(str)
    """Id of the conversation shown; "" for a new one."""
    view_ready = pyqtSignal()
    """The web view shows the conversation (or it was decided that the plain one stays)."""

    def __init__(
        self, services: WindowServices, parent: QWidget | None = None, *, probe: WebProbe | None = None
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._probe = WebProbe() if probe is None else probe
        self._is_view_asked = False
        self._web: WebConversation | None = None
        self._history: HistoryDialog | None = None
        self._question: QMessageBox | None = None
        self._told = ("", "", "")
        self._is_empty = True
        """What stands in a conversation without messages is shown."""
        self.model = ConversationViewModel(services.app, _Window(self, services))
        self.setObjectName("conversationPanel")
        mark(self, surface="base")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._make_title()
        self._plain = PlainConversation(services)
        self._plain.acted.connect(self._on_acted)
        self._make_bottom()
        self._make_layout()
        self._make_keys()
        workspace = services.workspace
        workspace.project_opened.connect(self._on_project)
        workspace.project_closed.connect(lambda: self._on_project(None))
        workspace.main_circuit_changed.connect(self._on_main_circuit)
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)
        self.restyle()
        self.retranslate()
        if workspace.root is not None:
            self._on_project(workspace.root)

    # --- for the window ------------------------------------------------------------------------------

    @property
    def session_id(self) -> str:
        """The conversation shown; "" for a new one."""
        return self.model.session_id

    @property
    def view(self) -> QWidget:
        """What shows the messages: the web view, or the plain one."""
        return self._web if self._web is not None else self._plain

    @property
    def is_running(self) -> bool:
        """Whether a run is under way."""
        return self.model.is_running

    @property
    def mode(self) -> Mode:
        """How the next message is worked on."""
        return self.model.mode

    def open_session(self, session_id: str) -> None:
        """Show a stored conversation."""
        self._say(self.model.open_session(session_id))

    def new_conversation(self) -> None:
        """An empty conversation."""
        self._say(self.model.new_conversation())
        self.focus_input()

    def toggle_mode(self) -> None:
        """Workflow or free work."""
        self._say(self.model.set_mode("free" if self.model.mode == "workflow" else "workflow"))

    def stop(self) -> bool:
        """Stop the run; False when none is under way."""
        return self.model.stop()

    def focus_input(self) -> None:
        """Put the cursor into the input."""
        self.composer.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def close_panel(self) -> None:
        """Before the widget is deleted: the page goes before its profile, nobody is listened to any more."""
        self.model.close()
        if self._web is not None:
            self._web.close_page()

    # --- parts ---------------------------------------------------------------------------------------

    def _make_title(self) -> None:
        services = self._services
        self._title = ElidedLabel()
        self._title.setObjectName("conversationTitle")
        mark(self._title, role="strong")
        self.mode_button = QPushButton()
        self.mode_button.setObjectName("modeButton")
        self.mode_button.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        mark(self.mode_button, small=True)
        self.mode_button.clicked.connect(self.toggle_mode)
        self._new = IconButton(services, "plus", msg("New conversation"), name="newConversation")
        self._new.clicked.connect(self.new_conversation)
        self._list = IconButton(services, "history", msg("Conversations"), name="conversationHistory")
        self._list.clicked.connect(self.show_history)
        self._clear = IconButton(
            services, "trash-2", msg("Delete this conversation"), name="deleteConversation"
        )
        self._clear.clicked.connect(self._ask_delete)
        self._title_row = QHBoxLayout()
        self._title_row.addWidget(self._title, 1)
        for widget in (self.mode_button, self._new, self._list, self._clear):
            self._title_row.addWidget(widget)

    def _make_bottom(self) -> None:
        services = self._services
        self.composer = Composer(services)
        self.composer.submitted.connect(self._send)
        self.composer.stop_clicked.connect(self.stop)
        self.composer.text_changed.connect(self._on_draft)
        self._menu = ModelMenu(services, lambda: self.model.choice, self.model.set_choice, self)
        self.composer.model_button.setMenu(self._menu)
        self._waiting = ElidedLabel()
        self._waiting.setObjectName("waitingText")
        self._edit_waiting = IconButton(services, "pencil", msg("Change the waiting message"))
        self._edit_waiting.clicked.connect(self._take_back_waiting)
        self._drop_waiting = IconButton(services, "x", msg("Drop the waiting message"))
        self._drop_waiting.clicked.connect(self.model.take_back_waiting)
        self._waiting_row = QWidget()
        row = QHBoxLayout(self._waiting_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._waiting, 1)
        row.addWidget(self._edit_waiting)
        row.addWidget(self._drop_waiting)
        self._notice = QLabel()
        self._notice.setObjectName("conversationNotice")
        self._notice.setWordWrap(True)
        mark(self._notice, role="warn")
        self._spinner = QToolButton()
        self._spinner.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._spinner.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._status = QLabel()
        self._status.setObjectName("conversationStatus")
        self._tokens = QLabel()
        mark(self._tokens, role="small")
        self._status_row = QHBoxLayout()
        self._status_row.addWidget(self._spinner)
        self._status_row.addWidget(self._status, 1)
        self._status_row.addWidget(self._tokens)

    def _make_layout(self) -> None:
        self._messages = QWidget()
        self._stack = QStackedLayout(self._messages)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self._plain)
        self._bottom = QVBoxLayout()
        for widget in (self._notice, self._waiting_row, self.composer):
            self._bottom.addWidget(widget)
        self._bottom.addLayout(self._status_row)
        self._title_bar = QWidget()
        self._title_bar.setLayout(self._title_row)
        mark(self._title_bar, line="bottom")
        self._title_bar.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._layout.addWidget(self._title_bar)
        self._layout.addWidget(self._messages, 1)
        self._layout.addLayout(self._bottom)

    def _make_keys(self) -> None:
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        escape.activated.connect(self.stop)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Escape stops, also where the shortcut does not reach (a window that is not the active one)."""
        if event is not None and event.key() == Qt.Key.Key_Escape and self.stop():
            return
        super().keyPressEvent(event)

    # --- looks ---------------------------------------------------------------------------------------

    def restyle(self) -> None:
        """Sizes, fonts, icons; the messages anew where they hold colours."""
        theme = self._services.theme.theme
        edge, gap = theme.size("space.4"), theme.size("space.1")
        self._title_bar.setFixedHeight(theme.size("row.header"))
        self._title_row.setContentsMargins(edge, 0, theme.size("space.2"), 0)
        self._title_row.setSpacing(gap)
        self._bottom.setContentsMargins(
            theme.size("space.3"), theme.size("space.2"), theme.size("space.3"), 0
        )
        self._bottom.setSpacing(gap)
        self._status_row.setContentsMargins(gap, 0, gap, 0)
        self._status_row.setSpacing(gap)
        small = theme.font("small")
        for label in (self._status, self._waiting):
            label.setFont(small)
        self._tokens.setFont(theme.tabular("small"))
        row = theme.size("row.status")
        for label in (self._status, self._tokens):
            label.setMinimumHeight(row)
        self._spinner.setIcon(
            self._services.icons.get("loader-circle", "running.icon", theme.size("icon.small"))
        )
        self._plain.restyle()
        if self._web is not None:
            self._web.restyle()
        else:
            self._show_all()
        self._refresh()

    def retranslate(self) -> None:
        """Every word, those of the messages too."""
        if self._web is not None:
            self._web.retranslate()
        self._show_all()
        self._refresh()

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        """The web view is made when the panel is first seen, and only if a child process could make one."""
        super().showEvent(event)
        if not self._is_view_asked:
            self._is_view_asked = True
            self._services.start(self._bring_web_view(), kind="web view")

    async def _bring_web_view(self) -> None:
        if not await self._probe.works():
            self._services.workspace.status_changed.emit(
                msg("Messages are shown as plain text: a web view can't be made here.")
            )
            self.view_ready.emit()
            return
        # Loading the library reads 200 MB: off the loop. The class itself is then there at once.
        import asyncio
        import importlib

        await asyncio.to_thread(importlib.import_module, "PyQt6.QtWebEngineCore")
        from presentation.panels.conversation.web_view import WebConversation

        web = WebConversation(self._services)
        web.acted.connect(self._on_acted)
        web.ready.connect(self._on_web_ready)
        web.crashed.connect(self._on_web_crashed)
        self._stack.addWidget(web)
        self._web = web
        self._show_all()

    def _on_web_ready(self) -> None:
        if self._web is None:
            return
        self._stack.setCurrentWidget(self._web)
        self._plain.apply([Reset(items=())])
        self._services.start(self._probe.confirm(), kind="web view")
        self.view_ready.emit()

    def _on_web_crashed(self) -> None:
        web, self._web = self._web, None
        if web is not None:
            self._stack.setCurrentWidget(self._plain)
            self._stack.removeWidget(web)
            web.close_page()
            web.deleteLater()
            self._show_all()

    # --- what is shown -------------------------------------------------------------------------------

    def show_changes(self, changes: list[Change]) -> None:
        """Called by the view model."""
        if not len(self.model.items):
            self._show_all()
            return
        view = self._web or self._plain
        if self._is_empty:  # what stood there goes; pieces of a stream are in no item yet
            self._is_empty = False
            rest = [change for change in changes if isinstance(change, Streamed)]
            changes = [Reset(items=tuple(self.model.items)), *rest]
        view.apply(changes)

    def _show_all(self) -> None:
        view = self._web or self._plain
        items = self.model.rows()
        self._is_empty = not items
        if items:
            view.apply([Reset(items=items)])
        else:
            language, root = self._services.language, self.model.root
            main = self._services.workspace.main_circuit
            view.show_empty(empty_html(language, root=root, main_circuit=main, mode=self.model.mode))

    def refresh(self) -> None:
        """Called by the view model when something besides the messages is another."""
        self._refresh()

    def _refresh(self) -> None:
        model, language = self.model, self._services.language
        self._title.setText(" ".join(model.name.split()) or language(msg("New conversation")))
        self._dress_mode()
        self.composer.set_state(model.run_state, is_asking=model.is_asking)
        self.composer.setEnabled(model.root is not None)
        name = model.model_name or language(msg("Built-in designer"))
        self.composer.model_button.setText(f" {name}")
        self.composer.model_button.setToolTip(language(msg("What answers in this conversation")))
        self.composer.set_text(model.draft)
        self._waiting.setText(language(msg("Waiting: “{text}”", text=" ".join(model.waiting.split()))))
        self._waiting_row.setVisible(bool(model.waiting))
        for button in (self._new, self._clear):
            button.setEnabled(not model.is_running)
        self._clear.setEnabled(bool(model.session_id) and not model.is_running)
        self._refresh_status()
        told = (model.mode, model.run_state, model.session_id)
        before, self._told = self._told, told
        for now, old, signal in zip(
            told, before, (self.mode_changed, self.run_state_changed, self.session_changed), strict=True
        ):
            if now != old:
                signal.emit(now)

    def _dress_mode(self) -> None:
        model, language, icons = self.model, self._services.language, self._services.icons
        is_workflow = model.mode == "workflow"
        word = language(msg("Workflow") if is_workflow else msg("Free work"))
        self.mode_button.setText(f" {word}")  # Qt leaves no room between icon and word
        name = "lock" if model.is_running else "workflow" if is_workflow else "message-square"
        self.mode_button.setIcon(icons.get(name, "text.secondary"))
        tip = (
            msg("The mode can be changed when the run has ended (Ctrl+Shift+M)")
            if model.is_running
            else msg("Switch between workflow and free work (Ctrl+Shift+M)")
        )
        self.mode_button.setToolTip(language(tip))

    def _refresh_status(self) -> None:
        model, language = self.model, self._services.language
        text: Message | None = None
        kind = "running"
        if model.run_state == "stopping":
            text = msg("Stopping")
        elif model.is_asking:
            text, kind = msg("Waiting for your decision"), "warn"
        elif model.activity is not None:
            activity = model.activity
            text = activity.text
            if activity.round_number:
                text = msg("{doing} · round {number}", doing=activity.text, number=activity.round_number)
        self._spinner.setVisible(text is not None and kind == "running")
        self._status.setText(language(text) if text is not None else "")
        color = {"running": "running.text", "warn": "warn.text"}[kind]
        palette = self._status.palette()
        palette.setColor(self._status.foregroundRole(), self._services.theme.theme.color(color))
        self._status.setPalette(palette)
        tokens = (
            language(msg("last turn: {count} tokens", count=_short(model.tokens))) if model.tokens else ""
        )
        self._tokens.setText(tokens)

    # --- what the user does --------------------------------------------------------------------------

    def _send(self, text: str) -> None:
        problem = self.model.send(text)
        self._say(problem)
        if problem is None:
            self.model.draft = ""
            self.composer.set_text("")
            if self._web is not None:
                self._web.scroll_to_end()

    def _on_draft(self, text: str) -> None:
        self.model.draft = text
        if text:
            self._say(None)

    def _take_back_waiting(self) -> None:
        text = self.model.take_back_waiting()
        self.composer.set_text(f"{text}\n{self.composer.text}".strip())
        self.focus_input()

    def _say(self, message: Message | None) -> None:
        """A reason why something was not done, beside the input; None takes it away."""
        self._notice.setText("" if message is None else self._services.language(message))
        self._notice.setVisible(message is not None)

    def _on_acted(self, act: str, key: str, argument: str) -> None:
        match act:
            case "undo":
                self._say(self.model.undo(key))
            case "answer":
                self.model.answer(key, cast("Choice", argument))
            case "go_on":
                self._say(self.model.go_on(key))
            case "retry":
                self._say(self.model.retry(key))
            case "model":
                self.composer.model_button.showMenu()
            case "open":
                self._open_file(argument or self._path_of(key))
            case "plot":
                self._show_waveforms(key)
            case "copy":
                self._copy(self._text_of(key))
            case "copy_text":
                self._copy(argument)
            case "ask":
                self.composer.set_text(argument)
                self.focus_input()
            case "link":
                self._open_link(argument)

    def _path_of(self, key: str) -> str:
        item: Item | None = self.model.items.get(key)
        return str(getattr(item, "path", ""))

    def _text_of(self, key: str) -> str:
        item = self.model.items.get(key)
        return item.text if isinstance(item, UserText | AnswerText) else ""

    def _copy(self, text: str) -> None:
        clipboard = QGuiApplication.clipboard()
        if clipboard is not None and text:
            clipboard.setText(text)

    def _open_file(self, argument: str) -> None:
        path, _, line = argument.rpartition(":") if ":" in argument else (argument, "", "")
        root = self.model.root
        if root is None or not path:
            return
        at = int(line) if line.isdecimal() and int(line) > 0 else None
        self._services.workspace.file_activated.emit(root / path, at)

    def _show_waveforms(self, key: str) -> None:
        root = self.model.root
        if root is not None:
            result = root / paths.PROJECT_FOLDER / paths.RESULTS_FOLDER / key / paths.RESULT_FILE
            self._services.workspace.result_selected.emit(result)

    def _open_link(self, address: str) -> None:
        url = QUrl(address)
        if url.scheme() in ("http", "https", "mailto"):
            QDesktopServices.openUrl(url)

    def show_history(self) -> None:
        """The list of stored conversations."""
        dialog = HistoryDialog(self._services, self)
        dialog.opened.connect(self.open_session)
        dialog.deleted.connect(lambda session_id: self._say(self.model.delete_session(session_id)))
        dialog.finished.connect(self._forget_history)
        self._history = dialog
        dialog.show_sessions(self.model.sessions)
        dialog.open()
        self._services.start(self._fill_history(), kind="sessions")

    async def _fill_history(self) -> None:
        infos = await self.model.refresh_sessions()
        if self._history is not None:
            self._history.show_sessions(infos)

    def _forget_history(self) -> None:
        if self._history is not None:
            self._history.deleteLater()
        self._history = None

    def _ask_delete(self) -> None:
        language = self._services.language
        box = QMessageBox(self)
        box.setObjectName("deleteQuestion")
        box.setIcon(QMessageBox.Icon.NoIcon)
        box.setWindowTitle(language(msg("Delete this conversation")))
        name = self.model.name or language(msg("New conversation"))
        box.setText(language(msg("Delete “{name}” for good? The files of the project stay.", name=name)))
        delete = box.addButton(language(msg("Delete")), QMessageBox.ButtonRole.DestructiveRole)
        keep = box.addButton(language(msg("Keep it")), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(keep)
        if delete is not None:
            mark(delete, kind="danger")
        session_id = self.model.session_id

        def on_clicked(button: object) -> None:
            if button is delete:
                self._say(self.model.delete_session(session_id))

        box.buttonClicked.connect(on_clicked)
        box.finished.connect(box.deleteLater)
        self._question = box
        box.open()

    def _on_main_circuit(self, _path: object) -> None:
        if self._is_empty:  # what can be asked names the circuit
            self._show_all()

    def _on_project(self, root: Path | None) -> None:
        self._say(None)
        self.model.set_project(root)
        self._show_all()
        self._refresh()


class _Window:
    """What the view model asks of the window around it."""

    def __init__(self, panel: ConversationPanel, services: WindowServices) -> None:
        self._panel = panel
        self._services = services
        self._timer = QTimer(panel)  # its calls end with the panel
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timeout)
        self._due: list[Callable[[], None]] = []

    def save_buffers(self) -> bool:
        buffers = self._services.workspace.buffers
        return buffers is None or buffers.save_all()

    def file_changed(self, path: Path) -> None:
        self._services.workspace.file_changed.emit(path)

    async def confirm_goals(self, goals: GoalsUnderstood) -> bool:
        from presentation.dialogs.goals import GoalsDialog

        return await GoalsDialog(self._services, goals, self._panel).ask()

    def start(self, coroutine: Coroutine[Any, Any, object], *, kind: str, scope: str | None = None) -> object:
        if scope is None:
            return self._services.start(coroutine, kind=kind)
        return self._services.start(coroutine, kind=kind, scope=scope)

    def later(self, delay_ms: int, call: Callable[[], None]) -> None:
        self._due.append(call)
        self._timer.start(delay_ms)

    def _on_timeout(self) -> None:
        due, self._due = self._due, []
        for call in due:
            call()

    def items_changed(self, changes: list[Change]) -> None:
        try:
            self._panel.show_changes(changes)
        except Exception:  # what can't be drawn must not end the run it tells of
            _logger.exception("the conversation could not be shown")

    def state_changed(self) -> None:
        self._panel.refresh()

    def translate(self, message: Message) -> str:
        return self._services.language(message)


def _short(count: int) -> str:
    """``640``, ``3.1k``, ``144k``."""
    if count < 1_000:
        return str(count)
    return f"{count / 1_000:.1f}k" if count < 10_000 else f"{count / 1_000:.0f}k"
