"""What is said of a tab: its state, what its run does and how fast; what becomes of a run that is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from domain.llm.costs import shown_cost
from presentation.figures import short_count
from presentation.panels.conversation.tab_row import TabLook, TabState, lasted
from presentation.ui import questions
from presentation.ui.workspace import AgentStatus, WindowServices
from shared.local_time import clock_time
from shared.message import Message, msg

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QWidget

    from presentation.panels.conversation.view_model import ConversationViewModel


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
    """The round, and how long the run is under way (not while it waits for a person); of one at rest when
    it was changed last."""
    if not tab.is_running:
        info = next((info for info in tab.sessions if info.session_id == tab.session_id), None)
        return None, None if info is None else msg("last changed {time}", time=clock_time(info.updated_at))
    number = tab.round_number
    rounds = None
    if number:
        rounds = msg("Round {number}/{most}", number=number, most=tab.most_rounds)
        rounds = rounds if tab.most_rounds else msg("Round {number}", number=number)
    return rounds, None if tab.waits_for_decision else msg("running for {time}", time=lasted(tab.began))


def doing_of(tab: ConversationViewModel) -> tuple[Message | None, str, bool]:
    """What the run does, its colour, and whether it works (and does not wait for a person)."""
    if tab.run_state == "stopping":
        return msg("Stopping"), "running.text", True
    if tab.waits_for_decision:
        return msg("Waiting for your decision"), "warn.text", False
    if tab.activity is None:
        return None, "text.secondary", False
    text, number, most = tab.activity.now, tab.activity.round_number, tab.most_rounds
    if number and most:
        text = msg("{doing} · round {number}/{most}", doing=text, number=number, most=most)
    elif number:
        text = msg("{doing} · round {number}", doing=text, number=number)
    return text, "running.text", True


def pace_of(tab: ConversationViewModel) -> Message | None:
    """How fast the answer comes; of a tab at rest what it took: tokens of the last turn, the cost of all."""
    count = short_count(tab.live_tokens)
    if tab.tokens_per_s is not None:
        pace = msg("{count} tokens/s", count=round(tab.tokens_per_s))
        return (
            msg("{total} {total:token|tokens} · {pace}", total=count, pace=pace) if tab.live_tokens else pace
        )
    if tab.live_tokens:
        return msg("{count} {count:token|tokens}", count=count)
    if tab.is_running:
        return None
    tokens = cost = None
    if tab.tokens:
        tokens = msg("last turn: {count} {count:token|tokens}", count=short_count(tab.tokens))
    if spent := shown_cost(tab.cost):
        cost = msg("conversation: {cost}", cost=spent)
    elif tab.cost.unknown:
        cost = msg("cost unknown")
    return msg("{tokens} · {cost}", tokens=tokens, cost=cost) if tokens and cost else tokens or cost


def status_of(tab: ConversationViewModel, context_share: float | None) -> AgentStatus:
    """For the window's status bar; `context_share` of the model's window, where it is known."""
    tokens, number = tab.live_tokens or tab.tokens or None, tab.round_number or None
    if not tab.is_running or tab.run_state == "stopping":
        state: Literal["idle", "stopping"] = "stopping" if tab.is_running else "idle"
        return AgentStatus(state=state, tokens=tokens, context_share=context_share)
    text = None if tab.activity is None else tab.activity.text
    if tab.asking.calls.is_open:
        text = msg("Waiting for your permission")
    elif tab.is_asking:
        text = msg("Checkpoint {number}: waiting for you", number=number) if number else None
    elif tab.asking.is_at_goals:
        text = msg("Waiting for your decision")
    return AgentStatus(
        state="waiting" if tab.waits_for_decision else "running",
        text=text,
        round_number=number,
        most_rounds=tab.most_rounds or None,
        tokens=tokens,
        context_share=context_share,
    )


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
