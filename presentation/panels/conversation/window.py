"""What the view model of a conversation asks of the window around it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from presentation.panels.conversation.items import Change
from shared.message import Message

if TYPE_CHECKING:
    from application.ports.events import GoalsUnderstood
    from domain.llm.chat import ProviderChoice
    from domain.llm.consent import ConsentAnswer, ConsentQuestion
    from domain.simulation.goals import DesignGoal


class Window(Protocol):
    """Implemented by the panel."""

    async def save_buffers(self) -> bool:
        """Write unsaved files; False when one could not be."""
        ...

    def main_circuit(self, root: Path) -> str:
        """The circuit that is meant when none is named, relative to the project; "" when none is known."""
        ...

    def file_changed(self, path: Path) -> None:
        """A file of the project is another than before."""
        ...

    def file_made(self, path: Path) -> None:
        """A design has written its circuit: it is shown, without taking the keyboard."""
        ...

    def result_made(self, result_path: Path) -> None:
        """A run has simulated: its result is shown where results are."""
        ...

    def design_accepted(self, circuit: Path | None) -> None:
        """The files as they stand are the accepted state, the design's circuit the main one."""
        ...

    async def confirm_goals(
        self, goals: GoalsUnderstood, *, is_change: bool
    ) -> tuple[DesignGoal, ...] | None:
        """Show the goals to be changed or confirmed; None when it was cancelled."""
        ...

    async def ask_consent(self, question: ConsentQuestion) -> ConsentAnswer:
        """Whether the project may be sent to a server on the network."""
        ...

    async def unlock_keys(self, choice: ProviderChoice) -> bool:
        """Ask for the passphrase of the keys when it is needed; False when the user thinks better of it."""
        ...

    def start(
        self, coroutine: Coroutine[Any, Any, object], *, kind: str, scope: str | None = None
    ) -> object: ...

    def later(self, delay_ms: int, call: Callable[[], None]) -> None:
        """Call once, after a while."""
        ...

    def items_changed(self, changes: list[Change]) -> None: ...

    def sessions_changed(self) -> None:
        """The list of stored conversations is another."""
        ...

    def state_changed(self) -> None: ...

    def told(self, message: Message, *, is_problem: bool) -> None:
        """Say something that belongs to no conversation."""
        ...

    def translate(self, message: Message) -> str: ...
