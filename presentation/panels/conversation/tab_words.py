"""What is said of a tab: its state, how long it has lasted, and what becomes of a run that is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from presentation.panels.conversation.tab_row import TabLook, TabState, lasted
from presentation.ui import questions
from shared.local_time import clock_time
from shared.message import Message, msg

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QWidget

    from presentation.panels.conversation.view_model import ConversationViewModel
    from presentation.ui.workspace import WindowServices


def state_of(tab: ConversationViewModel) -> TabState:
    if tab.is_waiting:
        return "waiting"
    if tab.is_running:
        return "running"
    return "ended" if tab.has_ended_unseen else "idle"


def look_of(tab: ConversationViewModel) -> TabLook:
    """The tab as the row shows it."""
    return TabLook(
        key=tab.scope,
        name=tab.name,
        state=state_of(tab),
        doing=_doing(tab),
        can_rename=bool(tab.session_id) and not tab.is_running,
    )


def _doing(tab: ConversationViewModel) -> Message | None:
    waiting = len(tab.queue.entries)
    match state_of(tab):
        case "waiting":
            return msg("waits for your decision")
        case "ended":
            return msg("has ended")
        case "running":
            activity = tab.activity
            text = msg("running") if activity is None else activity.text
            return msg("{doing}, {count} waiting", doing=text, count=waiting) if waiting else text
        case _:
            return None


def time_of(tab: ConversationViewModel) -> tuple[Message | None, Message | None]:
    """The round, and how long the run is under way; of one at rest when it was changed last."""
    if not tab.is_running:
        info = next((info for info in tab.sessions if info.session_id == tab.session_id), None)
        return None, None if info is None else msg("last changed {time}", time=clock_time(info.updated_at))
    number = tab.round_number
    rounds = None
    if number:
        rounds = msg("Round {number}/{most}", number=number, most=tab.most_rounds)
        rounds = rounds if tab.most_rounds else msg("Round {number}", number=number)
    return rounds, msg("running for {time}", time=lasted(tab.began))


async def ask_to_close(
    services: WindowServices, parent: QWidget, name: str
) -> Literal["background", "stop", "stay"]:
    """What becomes of the run of a tab that is closed."""
    return await questions.choose(
        services,
        parent,
        title=msg("Close “{name}” while it runs?", name=name),
        text=msg("In the background it runs to its end, and its tab comes back when it needs you."),
        options=(
            ("background", msg("Continue in the background"), "primary"),
            ("stop", msg("Stop it"), "danger"),
            ("stay", msg("Cancel"), ""),
        ),
        cancelled="stay",
    )
