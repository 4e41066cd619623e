"""What the view model of a conversation asks of the window around it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QWidget

from application.groups.models import Models
from application.ports.events import GoalsUnderstood
from domain.llm.chat import ProviderChoice
from domain.llm.consent import ConsentAnswer, ConsentQuestion
from domain.simulation.goals import DesignGoal
from presentation.panels.conversation.items import Change
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg
from shared.paths import circuit_of_goals

if TYPE_CHECKING:
    from application.conversation.turn_deps import EditorState
    from application.workflow.designing import Question
    from domain.llm.tools.confirmation_card import ConfirmationCard
    from presentation.ui.previews import Preview

_MOST_NAMED = 6
_LONGEST_NAME = 60
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ConfirmedGoals:
    """What a design is judged by, and whether a new circuit is made though there is one to begin from."""

    goals: tuple[DesignGoal, ...]
    is_new_circuit: bool = False


class Window:
    """Of one tab. The panel is what questions stand over, as soon as the tab is in front.

    `show` and `refresh` tell what is another; `names` are those of the tab and of the others, `at_work` those
    of the others whose model of the same service is at work.
    """

    def __init__(
        self,
        panel: QWidget,
        services: WindowServices,
        models: Models,
        *,
        show: Callable[[list[Change]], None],
        refresh: Callable[[], None],
        is_in_front: Callable[[], bool],
        names: Callable[[], Sequence[str]],
        at_work: Callable[[], Sequence[str]],
    ) -> None:
        self._panel = panel
        self._services = services
        self._models = models
        self._show = show
        self.state_changed = refresh
        """For bar, input and status line."""
        self._is_in_front = is_in_front
        self._names = names
        self.at_work = at_work
        self._unseen: list[asyncio.Future[None]] = []
        """Questions that wait until the tab is in front."""
        self._timer = QTimer(panel)  # its calls end with the panel
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timeout)
        self._due: list[Callable[[], None]] = []

    def close(self) -> None:
        """The tab is gone: what is due is done no more."""
        self._due.clear()
        self._timer.deleteLater()

    @property
    def is_in_front(self) -> bool:
        """Whether the tab is the one that is shown."""
        return self._is_in_front()

    @property
    def has_question(self) -> bool:
        """Whether a question waits until the tab is in front."""
        return bool(self._unseen)

    def come_to_front(self) -> None:
        """Ask what has waited for it."""
        if (previews := self._services.workspace.previews) is not None:
            previews.look_again()
        for seen in self._unseen:
            if not seen.done():
                seen.set_result(None)

    async def _seen(self) -> Message | None:
        """Wait until the tab is in front: a question stands over its own conversation, and names it where
        there are others."""
        while not self.is_in_front:
            seen = asyncio.get_running_loop().create_future()
            self._unseen.append(seen)
            self.state_changed()
            try:
                await seen
            finally:
                self._unseen.remove(seen)
                self.state_changed()
        name, *others = self._names()
        name = f"{name[:_LONGEST_NAME].rstrip()}…" if len(name) > _LONGEST_NAME else name
        return msg("Conversation “{name}”", name=name) if name and others else None

    async def save_buffers(self) -> bool:
        """Write unsaved files, without holding the loop; False when one could not be."""
        buffers = self._services.workspace.buffers
        return buffers is None or await buffers.save_unsaved()

    def main_circuit(self, root: Path) -> str:
        """The circuit that is meant when none is named, relative to the project; "" when none is known."""
        circuit = self._services.workspace.main_circuit
        return circuit.relative_to(root).as_posix() if circuit and circuit.is_relative_to(root) else ""

    def circuit_at_hand(self, root: Path) -> str:
        """The circuit that F5 simulates, relative to the project; "" for none."""
        circuit = self._services.workspace.run_target
        return circuit.relative_to(root).as_posix() if circuit and circuit.is_relative_to(root) else ""

    def editor_state(self, root: Path) -> EditorState | None:
        """What the user has in front; None for what is not of the project."""
        buffers = self._services.workspace.buffers
        front = None if buffers is None else buffers.front()
        if buffers is None or front is None or not front[0].is_relative_to(root):
            return None
        from application.conversation.turn_deps import EditorState

        path, line, column, selection = front
        return EditorState(
            file=path.relative_to(root).as_posix(),
            line=line,
            column=column,
            selection=selection,
            is_unsaved=buffers.is_dirty(path),
        )

    def main_circuit_restored(self, circuit: Path) -> None:
        """A round of a design was put back: the main circuit is the one of then."""
        self._services.workspace.main_circuit_chosen.emit(circuit)

    def change_made(self, path: Path, op_id: str) -> None:
        """A model has changed a file: for who shows its text, and what of it can be taken back."""
        self._services.workspace.change_made.emit(path, op_id)

    def begin_preview(self, card: ConfirmationCard, told: Callable[[Preview | None], None]) -> None:
        """Find out what calls would do to circuits, while their card is seen."""
        previews = self._services.workspace.previews
        if previews is not None:
            from presentation.ui.previews import Proposal

            proposal = Proposal(
                calls=card.calls, is_seen=lambda: self.is_in_front and self._panel.isVisible()
            )
            previews.ask(card.card_id, proposal, told)

    def want_preview(self, card_id: str) -> None:
        """Somebody wants to know it, however long it takes."""
        if (previews := self._services.workspace.previews) is not None:
            previews.want(card_id)

    def end_preview(self, card_id: str) -> None:
        if (previews := self._services.workspace.previews) is not None:
            previews.forget(card_id)

    def file_changed(self, path: Path) -> None:
        """A file of the project is another than before: for who shows it, or is judged by the goals in it."""
        workspace = self._services.workspace
        workspace.file_changed.emit(path)
        root = workspace.root
        if root is not None and path.is_relative_to(root):
            circuit = circuit_of_goals(path.relative_to(root).as_posix())
            if circuit:
                workspace.goals_changed.emit(root / circuit)

    def goals_changed(self, circuit: Path) -> None:
        """A design asks something else of its circuit: for who is judged by it."""
        self._services.workspace.goals_changed.emit(circuit)

    def file_made(self, path: Path) -> None:
        """A design has written its circuit: it is shown, without taking the keyboard."""
        self._services.workspace.file_offered.emit(path)

    def result_made(self, result_path: Path, *, is_design: bool) -> None:
        """A run has simulated: its result is shown where results are; offered, where the user's curves are.

        The rounds of a design are what its user looks at.
        """
        workspace = self._services.workspace
        workspace.run_reported.emit(result_path)
        (workspace.result_offered if is_design else workspace.run_made).emit(result_path)

    def design_accepted(self, circuit: Path | None) -> None:
        """The files as they stand are the accepted state, the design's circuit the main one."""
        self._services.workspace.changes_accepted.emit()
        if circuit is not None:
            self._services.workspace.main_circuit_chosen.emit(circuit)

    async def confirm_goals(
        self, goals: GoalsUnderstood, *, is_change: bool, question: Question | None = None
    ) -> ConfirmedGoals | None:
        """Show the goals to be changed or confirmed; None when it was cancelled.

        `question` of a design that begins names the circuit it improves, unless a new one is chosen.
        """
        from presentation.dialogs.goals import GoalsDialog

        about = await self._seen()
        dialog = GoalsDialog(
            self._services,
            goals,
            self._panel,
            is_change=is_change,
            about=about,
            begins_from="" if question is None else question.circuit,
            can_be_new=question is None or question.can_be_new,
        )
        confirmed = await dialog.ask()
        return None if confirmed is None else ConfirmedGoals(confirmed, dialog.is_new_circuit)

    async def confirm_accept(self, missed: Sequence[DesignGoal]) -> bool:
        """Whether a design is to be accepted although it misses goals."""
        from presentation.goal_words import name_of
        from presentation.ui.questions import choose

        about = await self._seen()
        language = self._services.language
        names = ", ".join(language(name_of(goal)) for goal in missed)
        return await choose(
            self._services,
            self._panel,
            title=msg("Accept the design although goals are missed?"),
            text=msg("Not met: {goals}. The design ends; the circuit stays as it is now.", goals=names),
            options=[(False, msg("Keep designing"), ""), (True, msg("Accept design"), "primary")],
            cancelled=False,
            about=about,
        )

    async def ask_about_changes(self, names: Sequence[str]) -> Literal["keep", "undo", ""]:
        """Whether changes of these files stay when what made them is replaced; "" when it was cancelled."""
        from presentation.ui.questions import choose

        listed = ", ".join(names[:_MOST_NAMED]) + (" …" if len(names) > _MOST_NAMED else "")
        text = msg(
            "The messages to be replaced changed {count} {count:file|files}: {names}. Keep these changes, "
            "or undo them first?",
            count=len(names),
            names=listed,
        )
        options: tuple[tuple[Literal["keep", "undo", ""], Message, str], ...] = (
            ("", msg("Cancel"), ""),
            ("undo", msg("Undo the changes"), ""),
            ("keep", msg("Keep the files"), "primary"),
        )
        return await choose(
            self._services,
            self._panel,
            title=msg("Replace these messages"),
            text=text,
            options=options,
            cancelled="",
            about=await self._seen(),
        )

    async def ask_consent(self, question: ConsentQuestion) -> ConsentAnswer:
        """Whether the project may be sent to a server on the network."""
        from presentation.dialogs.model_settings.asking import ask_consent

        about = await self._seen()
        return await ask_consent(self._services, self._panel, question, about=about)

    async def unlock_keys(self, choice: ProviderChoice) -> bool:
        """Ask for the passphrase of the keys when it is needed; False when the user thinks better of it."""
        from presentation.dialogs.model_settings.asking import unlock_keys

        return await unlock_keys(self._services, self._models, self._panel, choice, before=self._seen)

    def start(self, coroutine: Coroutine[Any, Any, object], *, kind: str, scope: str | None = None) -> object:
        if scope is None:
            return self._services.start(coroutine, kind=kind)
        return self._services.start(coroutine, kind=kind, scope=scope)

    def later(self, delay_ms: int, call: Callable[[], None]) -> None:
        """Call once, after a while; what is due ends with the panel."""
        self._due.append(call)
        self._timer.start(delay_ms)

    def _on_timeout(self) -> None:
        due, self._due = self._due, []
        for call in due:
            call()

    def items_changed(self, changes: list[Change]) -> None:
        try:
            self._show(changes)
        except Exception:  # what can't be drawn must not end the run it tells of
            _logger.exception("the conversation could not be shown")

    def told(self, message: Message, *, is_problem: bool) -> None:
        """Say something that belongs to no conversation."""
        if is_problem:
            self._services.workspace.error_occurred.emit(message)
        else:
            self._services.workspace.status_changed.emit(message)

    def translate(self, message: Message) -> str:
        return self._services.language(message)
