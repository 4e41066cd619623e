"""A conversation that another window or a command works on: followed as it comes, or taken over."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, QTimer
from PyQt6.QtWidgets import QWidget

from presentation.panels.conversation.items import WorkedElsewhere
from presentation.panels.conversation.words import with_advice
from presentation.ui import questions
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.conversation.sessions import Sessions
    from presentation.panels.conversation.tabs import ConversationTabs

_LOOK_EVERY_MS = 1000


class ElsewhereWatch(QObject):
    """Looks whether who works on a shown conversation is still there: one that was killed tells nobody."""

    def __init__(
        self,
        tabs: ConversationTabs,
        sessions: Sessions,
        start: Callable[[Coroutine[Any, Any, None]], object],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._tabs = tabs
        self._sessions = sessions
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_EVERY_MS)
        self._timer.timeout.connect(lambda: start(self._look()))

    def follow(self) -> None:
        """The tabs may show something else."""
        is_needed = any(self._ids())
        if is_needed != self._timer.isActive():
            self._timer.start() if is_needed else self._timer.stop()

    def _ids(self) -> list[str]:
        return [
            tab.session_id
            for tab in self._tabs.all
            if any(isinstance(item, WorkedElsewhere) for item in tab.items)
        ]

    async def _look(self) -> None:
        root = self._tabs.root
        if root is None:
            return
        try:
            free = [key for key in self._ids() if not await self._sessions.is_in_use(root, key)]
        except CircuitAIError:  # the project is gone: whoever opens something is told
            return
        if free:
            self._tabs.follow(free)


async def take_over(
    services: WindowServices,
    over: QWidget,
    sessions: Sessions,
    place: tuple[Path, str],
    say: Callable[[Message | None], None],
) -> None:
    """After asking, have the run elsewhere stopped and saved; what it left is then shown as after a stop.

    `place` is the project and the conversation's id.
    """
    agreed = await questions.choose(
        services,
        over,
        title=msg("Take over the conversation"),
        text=msg(
            "The run in the other window or command is stopped at once and saved, and says so there. You "
            "can then continue it here."
        ),
        options=((True, msg("Take over"), ""), (False, msg("Keep following"), "")),
        cancelled=False,
    )
    if not agreed:
        return
    try:
        await sessions.take_over(*place)
    except CircuitAIError as error:
        say(with_advice(error))
