"""The conversation panel: title, messages, input, and the line that says what is going on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PyQt6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from domain.llm.chat import ProviderChoice
from domain.llm.compression import HINT_SHARE
from presentation.panels.conversation.acts import Acts
from presentation.panels.conversation.completion import Completion
from presentation.panels.conversation.composer import Composer
from presentation.panels.conversation.context_use import Asked, ContextUse
from presentation.panels.conversation.elsewhere import ElsewhereWatch
from presentation.panels.conversation.empty import EmptyPage, empty_page
from presentation.panels.conversation.goals_command import GoalsCommand
from presentation.panels.conversation.intake import Intake
from presentation.panels.conversation.items import Change, Item, ScrollPlace, UserText
from presentation.panels.conversation.model_choice import ModelMenu
from presentation.panels.conversation.queue_panel import QueuePanel
from presentation.panels.conversation.row_menu import RowMenu
from presentation.panels.conversation.shelf import Shelf
from presentation.panels.conversation.shown_conversation import Mode
from presentation.panels.conversation.status_line import StatusLine
from presentation.panels.conversation.stored_list import StoredList
from presentation.panels.conversation.strange_row import StrangeRow
from presentation.panels.conversation.tab_control import TabControl
from presentation.panels.conversation.tab_row import TabRow
from presentation.panels.conversation.tab_words import doing_of, pace_of, status_of, time_of
from presentation.panels.conversation.tabs import ConversationTabs
from presentation.panels.conversation.taking_in import longest_pasted
from presentation.panels.conversation.title_bar import TitleBar
from presentation.panels.conversation.use_popup import show_use
from presentation.panels.conversation.view_host import MessageView
from presentation.panels.conversation.view_model import ConversationViewModel
from presentation.panels.conversation.web_probe import WebProbe
from presentation.panels.conversation.window import Window
from presentation.panels.conversation.words import answering
from presentation.ui.parts import arrange, once_after, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import AgentStatus, WindowServices
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.app import Application
    from application.conversation.turn_deps import EditorState

_AFTER_STORING_MS = 300
"""Lines that others write into a transcript are read together."""


class ConversationPanel(QWidget):
    """The conversations of a project as tabs; one is in front. `probe` None: no web view is tried."""

    mode_changed = pyqtSignal(str)
    """"free" or "workflow"; menus follow it."""
    run_state_changed = pyqtSignal(str)
    """"idle", "running" or "stopping"."""
    session_changed = pyqtSignal(str)
    """Id of the conversation shown; "" for a new one."""
    view_ready = pyqtSignal()
    """The web view shows the conversation (or it was decided that the plain one stays)."""

    def __init__(
        self,
        services: WindowServices,
        app: Application,
        parent: QWidget | None = None,
        *,
        probe: WebProbe | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._app = app
        self._told = ("", "", "")
        self._status = AgentStatus()
        self._held_by: object = None
        """What the conversation did when a message was refused: the reason stands as long as it does that."""
        self._is_made = False
        self.tabs = ConversationTabs(
            app,
            self._make_tab,
            start=lambda work: services.start(work, kind="sessions"),
            leave=self._note_place,
            front_changed=self._show_front,
            changed=self._show_tabs,
            listed=self._on_list,
            told=self._tell_outside,
        )
        self._control = TabControl(
            services,
            app.program.stop,
            self.tabs,
            self,
            new=self.new_conversation,
            history=self.show_history,
            say=self.say,
        )
        self._stored_list = StoredList(
            services, self.tabs, self, open_session=self.open_session, say=self.say
        )
        self._stored: set[str] = set()
        self._resent: ConversationViewModel | None = None
        """Where a message was sent again in its row, and its answer does not come yet."""
        self._following = once_after(self, _AFTER_STORING_MS, self._follow)
        self.setObjectName("conversationPanel")
        mark_area(self, surface="base")
        self._bar = TitleBar(services)
        self._bar.mode_clicked.connect(self.toggle_mode)
        self._bar.reads_clicked.connect(self.toggle_reading)
        self._bar.delete_clicked.connect(self._ask_delete)
        self._messages = MessageView(
            services,
            app.project,
            app.simulation,
            rows=self._rows,
            is_live=lambda: self.is_running,
            empty=self._empty_page,
            probe=probe or WebProbe(),
        )
        self._messages.ready.connect(self.view_ready)
        self._make_bottom(app)
        self._goals = GoalsCommand(services, app.project, app.design, self, self.say)
        self._acts = self._make_acts()
        self._messages.acted.connect(self._act)
        self._row_menu = RowMenu(
            services, self, self._rows, lambda: not self.model.versions.is_looking, self._act
        )
        self._messages.menu_wanted.connect(self._row_menu.show)
        self._strange = StrangeRow(services, app.project)
        self._strange.adopted.connect(self._on_adopted)
        self._elsewhere = ElsewhereWatch(
            self.tabs, app.conversations.sessions, lambda work: services.start(work, kind="sessions"), self
        )
        self._make_layout()
        self._make_keys()
        workspace = services.workspace
        workspace.project_opened.connect(self._on_project)
        workspace.project_closed.connect(self._on_no_project)
        workspace.run_target_changed.connect(self._on_run_target)
        workspace.mode_switch_requested.connect(self.toggle_mode)
        workspace.design_requested.connect(self.design)
        workspace.round_wanted.connect(self._go_back)
        workspace.piece_turned.connect(self._on_piece_turned)
        workspace.run_finished.connect(lambda _outcome: self._goals.follow_runs(self.tabs.all))
        workspace.result_offered.connect(lambda _path: self._goals.follow_runs(self.tabs.all))
        workspace.result_waits.connect(lambda _path: self._goals.follow_runs(self.tabs.all))
        self._is_made = True
        services.dress(self)
        if workspace.root is not None:
            self._on_project(workspace.root)

    # --- tabs ----------------------------------------------------------------------------------------

    @property
    def model(self) -> ConversationViewModel:
        """The conversation in front."""
        return self.tabs.front

    def _make_tab(self, shelf: Shelf, root: Path | None) -> ConversationViewModel:
        window = Window(
            self,
            self._services,
            self._app.models,
            show=lambda changes: self._show_changes(made, changes),
            refresh=lambda: self._refresh_tab(made),
            is_in_front=lambda: made is self.model,
            names=lambda: (made.name, *(tab.name for tab in self.tabs.all if tab is not made)),
            at_work=lambda: self.tabs.at_work_beside(made),
        )
        made = ConversationViewModel(self._app, window, shelf, root)
        return made

    def set_choice(self, choice: ProviderChoice) -> None:
        """Choose what answers in the conversation in front."""
        self.model.set_choice(choice)

    def _rows(self) -> tuple[Item, ...]:
        return self.model.rows()

    def _act(self, act: str, key: str, argument: str) -> None:
        self._resent = self.model if act == "resend" else None
        self._acts(act, key, argument)
        self._follow_resent()

    def _follow_resent(self) -> None:
        """What was sent again in its row is answered at the end: at once, or behind a question."""
        if self._resent is self.model and self.model.is_running:
            self._resent = None
            self._messages.scroll_to_end()

    def _send_first_now(self) -> None:
        self.model.send_first_now()

    def _editor_state(self, root: Path) -> EditorState | None:
        return self.model.window.editor_state(root)

    def _make_acts(self) -> Acts:
        return Acts(
            self._services,
            self.model,
            self.composer,
            self.say,
            project=self._app.project,
            conversations=self._app.conversations,
            names=self._messages.project_names,
            goals=self._goals,
            focus_field=self._messages.focus_field,
            branch=self._branch,
        )

    def _show_front(self) -> None:
        """Another tab is in front: its rows, its draft, its choices."""
        if not self._is_made:
            return
        self._acts = self._make_acts()
        self.say(None)
        self._messages.show_all(self.model.scroll)
        self.refresh()

    def _note_place(self, tab: ConversationViewModel) -> None:
        if not tab.transcript.is_unread:
            tab.scroll = self._messages.place

    @property
    def tab_row(self) -> TabRow:
        return self._control.row

    def _show_tabs(self) -> None:
        self._control.show()

    def _refresh_tab(self, tab: ConversationViewModel) -> None:
        """Called by a view model when something besides the messages is another."""
        if not self._is_made:
            return
        if tab is self.model:
            self.refresh()
        else:
            self.tabs.look_after(tab)
            self._show_tabs()

    def _on_list(self) -> None:
        if self._is_made:
            self._stored_list.refresh()
            self.refresh()

    def _tell_outside(self, message: Message, is_problem: bool) -> None:
        workspace = self._services.workspace
        (workspace.error_occurred if is_problem else workspace.status_changed).emit(message)

    # --- for the window ------------------------------------------------------------------------------

    @property
    def session_id(self) -> str:
        """The conversation shown; "" for a new one."""
        return self.model.session_id

    @property
    def view(self) -> QWidget:
        """What shows the messages: the web view, or the plain one."""
        return self._messages.current

    @property
    def mode_button(self) -> QPushButton:
        """The switch between workflow and free work."""
        return self._bar.mode_button

    @property
    def notice(self) -> str:
        """Why the last thing that was asked for was not done; "" when it was."""
        return self._notice.text()

    @property
    def status_line(self) -> StatusLine:
        return self._line

    @property
    def is_running(self) -> bool:
        return self.model.is_running

    @property
    def mode(self) -> Mode:
        return self.model.mode

    def open_session(self, session_id: str, hit: str = "", *, beside: bool = False) -> None:
        """The tab that has it, or in the one in front; what runs there is stopped for it. `hit`: the message
        that was looked for; `beside`: in a tab of its own."""
        self.say(None)
        place = ScrollPlace(hit, is_marked=bool(hit))
        if hit and session_id == self.model.session_id and not self.model.transcript.is_unread:
            self._messages.show_all(place)
        else:
            self.tabs.open_session(session_id, place, beside=beside)

    def new_conversation(self) -> None:
        """An empty one, in a tab of its own."""
        self.tabs.new()
        self.focus_input()

    def _branch(self, at: str = "") -> None:
        self._services.start(self._branch_off(self.model, at), kind="sessions")

    async def _branch_off(self, tab: ConversationViewModel, at: str) -> None:
        """Go on from where a conversation is, or from a message, in another, in a tab of its own; this one
        stays as it is. A message of the user's stands in the input there."""
        root, said, found = tab.root, tab.items.get(at), await tab.transcript.branch(at)
        if isinstance(found, Message):
            self.say(found)
        elif root == self.tabs.root:
            if isinstance(said, UserText):
                tab.shelf.drafts[root, found] = said.text
                tab.pending.put_elsewhere((root, found), said.attached)
            self.tabs.open_session(found, beside=True)
            self.focus_input()

    def close_tab(self) -> None:
        """Close the tab in front."""
        self._control.close_tab()

    def step_tab(self, by: int) -> None:
        """Bring the next conversation (1) or the one before (-1) to the front."""
        self.tabs.step(by)

    def describe_design(self) -> None:
        """The next message is a design's sentence: an empty conversation as a workflow, the caret in it."""
        self.tabs.new()
        if self.model.mode != "workflow":
            self.say(self.model.set_mode("workflow"))
        self.focus_input()

    def design(self, sentence: str) -> None:
        """Work on a sentence as a design: in the conversation in front, unless that runs."""
        if self.model.is_running:
            self.tabs.new()
        refusal = self.model.set_mode("workflow") or self.model.send(sentence)
        if refusal is not None:
            self._services.workspace.error_occurred.emit(refusal)

    def toggle_mode(self) -> None:
        self.say(self.model.set_mode("free" if self.model.mode == "workflow" else "workflow"))

    def toggle_reading(self) -> None:
        """Whether the model of the conversation in front only reads."""
        self.model.reads_only = not self.model.reads_only

    def stop(self) -> bool:
        """Stop the run; False when none is under way."""
        return self.model.stop()

    def show_use(self) -> None:
        """What the answers took, above the meter."""
        work = show_use(self._services, self._line.meter, self.model, self._app.conversations.sessions)
        self._services.start(work, kind="sessions")

    def focus_input(self) -> None:
        self.composer.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def close_panel(self) -> None:
        """Before the widget is deleted: the page goes before its profile, nobody is listened to any more."""
        self.tabs.close()
        self._messages.close_page()

    # --- parts ---------------------------------------------------------------------------------------

    def _make_bottom(self, app: Application) -> None:
        services = self._services
        self.composer = Composer(services, app.models)
        self.composer.submitted.connect(self._send)
        self.composer.stop_clicked.connect(self.stop)
        self.composer.text_changed.connect(self._on_draft)
        self._intake = Intake(services, app.conversations, lambda: self.model, self.say, self)
        self._intake.listen_to(self.composer)
        self.composer.edit.said = lambda: self.model.said
        self._completion = Completion(
            services,
            app.project,
            self.composer.edit,
            self,
            acts={
                "run": services.workspace.run_requested.emit,
                "new": self.new_conversation,
                "history": self.show_history,
                "mode": self.toggle_mode,
                "compress": self.show_compression,
                "edit": lambda: self.say(self._acts.edit()),
                "regenerate": lambda: self.say(self.model.versions.regenerate_last()),
                "model": self.composer.model_button.showMenu,
                "goals": lambda text="": self._goals.run(self.model, text),
                "branch": self._branch,
            },
        )
        fields = self._completion.fields
        fields.changed.connect(self._on_fields)
        self.composer.mention_button.clicked.connect(self._completion.begin)
        self._menu = ModelMenu(services, app.models, lambda: self.model.choice, self.set_choice, self)
        self.composer.model_button.setMenu(self._menu)
        self.composer.search_switch.bind(self.set_choice)
        self._queue = QueuePanel(services)
        self._queue.send_now.connect(self._send_first_now)
        self._notice = text_label(name="conversationNotice", wraps=True)
        self._notice.hide()
        mark(self._notice, role="warn")
        self._line = StatusLine(services)
        self.use = ContextUse(
            services,
            app.conversations,
            app.models,
            app.program,
            self,
            draft=lambda: self.composer.text,
            editor=self._editor_state,
        )
        self.use.changed.connect(self._on_use)
        self._line.meter.wanted.connect(self.use.want_report)
        self._line.meter.clicked.connect(self.show_use)
        self._line.compress_clicked.connect(self.show_compression)

    def _make_layout(self) -> None:
        below = (self._notice, self._queue, self.composer, self._line)
        self._bottom = arrange(QVBoxLayout(), *below)
        above = (self.tab_row, self._bar, self._strange)
        arrange(QVBoxLayout(self), *above, (self._messages, 1), self._bottom, edges=0, gap=0)

    def _make_keys(self) -> None:
        self._escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        self._escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._escape.activated.connect(self._on_escape)
        self._pulse = QTimer(self)
        self._pulse.setInterval(500)
        self._pulse.timeout.connect(self._refresh_line)

    def _on_escape(self) -> bool:
        """Stop the run, else leave an edited message as it was; False when there is neither."""
        return self.stop() or self.model.versions.cancel()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Escape stops, also where the shortcut does not reach (a window that is not the active one)."""
        if event is not None and event.key() == Qt.Key.Key_Escape and self._on_escape():
            return
        super().keyPressEvent(event)

    # --- looks ---------------------------------------------------------------------------------------

    def restyle(self) -> None:
        """Sizes, fonts, icons; the messages anew where they hold colours."""
        theme = self._services.theme.theme
        edge = theme.size("space.3")
        arrange(self._bottom, edges=(edge, theme.size("space.2"), edge, 0), gap=theme.size("space.1"))
        above = (self.tab_row, self._bar, self._strange)
        for part in (*above, self._messages, self._queue, self._line):
            part.restyle()
        self.refresh()

    def retranslate(self) -> None:
        self._messages.retranslate()
        self._strange.retranslate()
        self.tab_row.retranslate()
        self.refresh()

    # --- what is shown -------------------------------------------------------------------------------

    def _show_changes(self, tab: ConversationViewModel, changes: list[Change]) -> None:
        """What happens in a tab behind is shown when it comes to the front."""
        if tab is self.model and self._is_made:
            self._messages.show_changes(changes)

    def _empty_page(self) -> EmptyPage | None:
        if self.model.transcript.is_unread:
            return None
        workspace, model = self._services.workspace, self.model
        return empty_page(
            root=model.root,
            main_circuit=workspace.main_circuit,
            mode=model.mode,
            improved=workspace.run_target,
        )

    def refresh(self) -> None:
        """Something besides the messages of the tab in front is another."""
        model, language = self.model, self._services.language
        self._show_tabs()
        self.tab_row.setEnabled(model.root is not None)
        self._bar.show_state(
            mode=model.mode,
            is_running=model.is_running,
            can_switch=model.can_switch,
            is_stored=bool(model.session_id),
            reads_only=model.reads_only,
        )
        is_strange = model.shelf.is_strange or any(not info.is_ours for info in model.sessions)
        self._strange.show_project(model.root, is_strange=is_strange)
        self._escape.setEnabled(
            model.is_running or model.versions.is_editing
        )  # else the key is for whoever else runs
        self._messages.follow_empty_page()
        self._messages.fold()
        self._follow_resent()
        self.composer.set_state(
            model.run_state, is_asking=model.is_asking, mode=model.mode, reads_only=model.reads_only
        )
        self.composer.setEnabled(model.root is not None)
        self.composer.search_switch.show_choice(model.choice)
        self.composer.show_model(language(answering(model.choice)))
        fields = model.shelf.fields.get(model.place)
        self.composer.set_text(model.draft)
        self._completion.fields.show(fields)
        self.composer.show_files(model.pending.files)
        if self._held_by not in (None, self._doing):
            self.say(None)
        if (problem := model.pending.take_problem()) is not None:
            self.say(problem)
        self._queue.show_queue(model.queue, is_running=model.is_running, is_asking=model.waits_for_decision)
        self._elsewhere.follow()
        self._follow_use()
        self._refresh_line()
        self._tell_others()

    def _follow_use(self) -> None:
        model = self.model
        self.use.follow(
            Asked(
                root=model.root,
                session_id=model.session_id,
                choice=model.choice,
                state=-1 if model.is_running else len(model.items),
                reads_only=model.reads_only,
                in_design=model.mode == "workflow",
                main_circuit="" if model.root is None else model.window.main_circuit(model.root),
            )
        )

    def _on_use(self) -> None:
        self._refresh_line()
        self._tell_others()

    def _refresh_line(self) -> None:
        model = self.model
        self._bar.show_time(*time_of(model))
        text, color, is_busy = doing_of(model)
        self._line.show_run(text, color=color, is_busy=is_busy, pace=pace_of(model))
        used = model.context_tokens + model.pending.tokens
        known = self.use.abilities
        self._line.meter.show_use(used or None, known, self.use.report)
        share = None if not model.transcript.can_compress else self._share
        is_offered = share is not None and share >= HINT_SHARE
        self._line.offer_compression(
            share if is_offered else None, is_automatic=self._app.conversations.compresses_itself
        )
        self.composer.edit.longest_text = longest_pasted(known.context_tokens if known else None)
        if model.is_running != self._pulse.isActive():
            self._pulse.start() if model.is_running else self._pulse.stop()

    def _on_piece_turned(self, op_id: str) -> None:
        """A place of a change was undone in the editor: its card says so."""
        for tab in self.tabs.all:
            if tab.root is not None and tab.items.get(op_id) is not None:
                tab.pieces.look(tab.root, op_id)

    def _tell_others(self) -> None:
        """Menus and the status bar, when it is another for them."""
        model = self.model
        told = (model.mode, model.run_state, model.session_id)
        before, self._told = self._told, told
        for now, old, signal in zip(
            told, before, (self.mode_changed, self.run_state_changed, self.session_changed), strict=True
        ):
            if now != old:
                signal.emit(now)
        status = status_of(self.model, self._share)
        if status != self._status:
            self._status = status
            self._services.workspace.agent_status_changed.emit(status)

    @property
    def _share(self) -> float | None:
        """Of the model's window, as far as both are known."""
        known = self.use.abilities
        window = None if known is None else known.context_tokens
        return self.model.context_tokens / window if window and self.model.context_tokens else None

    # --- what the user does --------------------------------------------------------------------------

    def say(self, message: Message | None) -> None:
        """A reason why something was not done, beside the input; None takes it away."""
        self._notice.setText("" if message is None else self._services.language(message))
        self._notice.setVisible(message is not None)
        self._held_by = None

    @property
    def _doing(self) -> object:
        """What may stand in the way of a message."""
        model = self.model
        return model.is_running, model.is_worked_elsewhere, model.queue.entries

    def _send(self, text: str) -> None:
        if missing := self._completion.fields.take_missing():
            self.say(msg("Fill in: {field}", field=missing))
            return
        if self._completion.run_written(text):
            return
        problem = self.model.send(text)
        self.say(problem)
        self._held_by = None if problem is None else self._doing
        if problem is None:
            self.composer.set_text(self.model.draft)
            self._messages.scroll_to_end()

    def _on_fields(self) -> None:
        self.composer.show_fields(is_on=self._completion.fields.is_on)
        self._keep_fields()

    def _keep_fields(self) -> None:
        fields, kept = self.model.shelf.fields, self._completion.fields.kept
        if kept is None:
            fields.pop(self.model.place, None)
        else:
            fields[self.model.place] = kept

    def _on_draft(self, text: str) -> None:
        self.model.draft = text
        self._keep_fields()
        if text:
            self.say(None)

    def _go_back(self, session_id: str, number: int) -> None:
        """To a round of a design, whose conversation comes to the front if a tab has it."""
        tab = self.tabs.holder(session_id)
        if tab is not None:
            self.tabs.show(tab)
        self.say(self.model.design.go_back(session_id, number))

    def show_history(self) -> None:
        self._stored_list.show()

    def show_compression(self) -> None:
        """The dialog that compresses the shown conversation."""
        if not self.model.transcript.can_compress:
            self.say(msg("There is nothing to compress now."))
            return
        from presentation.panels.conversation.compress_dialog import CompressDialog

        CompressDialog(self._services, self._app.conversations.compress, self.model, self).open()

    def note_stored(self, session_id: str) -> None:
        """A transcript was written to, by us or by others; many lines together are read once."""
        self._stored.add(session_id)
        if not self._following.isActive():
            self._following.start()

    def _follow(self) -> None:
        changed, self._stored = self._stored, set()
        self.tabs.follow(changed)

    def _on_adopted(self) -> None:
        """The list says whose it is now; what is shown may be gone on with."""
        self._stored_list.read_again(is_adopted=True)
        if self.model.session_id:
            self.open_session(self.model.session_id)

    def _ask_delete(self) -> None:
        asking = self._stored_list.delete_after_question(self.model)
        self._services.start(asking, kind="question")

    def _on_run_target(self, _path: object) -> None:
        if self._messages.is_empty:  # what can be asked names the circuit
            self._messages.show_all()

    def _on_no_project(self) -> None:
        self.tabs.set_project(None)

    def _on_project(self, root: Path) -> None:
        self.tabs.set_project(root)
