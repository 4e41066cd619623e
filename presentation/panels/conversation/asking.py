"""What a run asks the user, and how it is answered: by a button, by the goals dialog, or in words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from application.ports.events import GoalsUnderstood
from domain.design.goal_change import goals_changed_by
from presentation.panels.conversation.confirming import Confirming
from presentation.panels.conversation.items import Choice, Decision, ItemList, Note, UserText
from presentation.panels.conversation.words import now
from shared.message import Message, msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.workflow.designing import Answer, Question, Reply
    from domain.simulation.goals import DesignGoal
    from presentation.panels.conversation.window import Window

_WORDS: dict[str, Choice] = {
    **dict.fromkeys(
        ("continue", "go on", "next", "optimise", "optimize", "继续", "继续优化", "再来", "优化"), "continue"
    ),
    **dict.fromkeys(("accept", "ok", "yes", "done", "接受", "接受设计", "好", "可以", "完成"), "accept"),
    **dict.fromkeys(("change goals", "goals", "修改目标", "更改目标", "改目标"), "goals"),
    **dict.fromkeys(("undo", "take back", "撤回", "撤销"), "undo"),
    **dict.fromkeys(("stop", "cancel", "no", "停止", "停", "取消", "不"), "stop"),
}


@dataclass(frozen=True, slots=True)
class _Open:
    """A decision somebody waits for."""

    key: str
    reply: asyncio.Future[Choice | tuple[DesignGoal, ...]]
    """A button, or the goals that were said."""
    goals: tuple[DesignGoal, ...] = ()


def _asked_back(goals: tuple[DesignGoal, ...]) -> Message:
    from presentation.goal_margins import limit_text
    from presentation.goal_words import name_of

    if not goals:
        return msg("The checkpoint is waiting: choose one of its buttons.")
    return msg(
        "No change of the goals was found in this message; nothing was changed, and the checkpoint is "
        "still waiting. Name a goal with a value, for example “{name} {limit}”, or use the buttons. "
        "Start a new conversation for another circuit.",
        name=name_of(goals[0]),
        limit=limit_text(goals[0]),
    )


def not_a_change(goals: tuple[DesignGoal, ...]) -> Message:
    """What is said to a message behind a design that was not understood; the text stands in the input."""
    from presentation.goal_margins import limit_text
    from presentation.goal_words import name_of

    return msg(
        "Neither a circuit nor a change of the design's goals was found in this message; nothing was "
        "changed. Name a goal with a value, for example “{name} {limit}”, describe another circuit, or "
        "switch to free work.",
        name=name_of(goals[0]) if goals else "",
        limit=limit_text(goals[0]) if goals else "",
    )


class Asking:
    """The one question that is open, if there is one. `tell` is called when something is another."""

    def __init__(self, items: ItemList, window: Window, tell: Callable[[], None]) -> None:
        self._items = items
        self._window = window
        self._tell = tell
        self._open: _Open | None = None
        self._said: list[str] = []
        """Typed at the open checkpoint."""
        self._next = ""
        """What the next checkpoint is answered with."""
        self.calls = Confirming(items, tell)
        """The card of calls that wait for permission."""

    @property
    def is_open(self) -> bool:
        """Whether the run waits for the user's decision."""
        return self._open is not None or self.calls.is_open

    def say_next(self, text: str) -> None:
        """Take a text as the answer to the checkpoint that is asked next."""
        self._next = text

    def take_unsaid(self) -> str:
        text, self._next = self._next, ""
        return text

    def forget(self) -> None:
        """Nobody waits any more."""
        self._open = None
        self.calls.forget()

    async def confirm_goals(self, told: GoalsUnderstood) -> Answer | Reply:
        """The goals before a design begins: confirmed as they are or changed, or declined."""
        from application.workflow.designing import Reply

        goals = await self._window.confirm_goals(told, is_change=False)
        if goals is None:
            return "decline"
        return "continue" if goals == told.goals else Reply(answer="continue", goals=goals)

    async def decide(self, question: Question) -> Answer | Reply:
        """A checkpoint, or a design that was interrupted; waits until it is answered."""
        from application.workflow.designing import Reply

        decision = Decision(
            key=new_ulid(),
            kind="pending_run" if question.kind == "pending_run" else "checkpoint",
            number=question.round_number,
            met=sum(verdict.met for verdict in question.verdicts),
            total=len(question.verdicts),
            has_failed=question.has_failed,
            can_undo=question.can_undo,
            is_exhausted=question.is_exhausted,
            all_met=question.goals_met,
            text=question.text,
        )
        self._items.put(decision)
        self._said = []
        while True:
            choice = await self._answer_to(decision, question.goals)
            if isinstance(choice, tuple):
                return Reply(answer="continue", goals=choice, said=tuple(self._said))
            if choice != "goals":
                return Reply(answer=choice, said=tuple(self._said)) if self._said else choice
            told = GoalsUnderstood(goals=question.goals, assumptions=())
            goals = await self._window.confirm_goals(told, is_change=True)
            if goals is not None:
                self._items.put(replace(decision, state="chosen", answer="goals"))
                self._tell()
                return Reply(answer="continue", goals=goals, said=tuple(self._said))

    def answer(self, key: str, choice: Choice) -> None:
        item = self._items.get(key)
        asked = self._open
        if asked is None or asked.key != key or not isinstance(item, Decision) or choice not in item.answers:
            return
        self._open = None
        if choice != "goals":  # that one is chosen when the dialog was
            self._items.put(replace(item, state="chosen", answer=choice))
        asked.reply.set_result(choice)
        self._tell()

    def answer_in_words(self, text: str) -> bool | None:
        """Take what was typed as the answer: True; None when it is no question of words.

        At a checkpoint a button's word is that button, a change of goals begins the next round with them;
        anything else is asked back about, and the checkpoint waits. False: a card of calls is left by
        stopping the run, and the text is what comes next.
        """
        if self.calls.is_open:
            return self.calls.answer_in_words(text)
        asked = self._open
        decision = None if asked is None else self._items.get(asked.key)
        if asked is None or not isinstance(decision, Decision) or decision.kind != "checkpoint":
            return None
        choice = _WORDS.get(text.strip(" .!。！").lower())
        self._items.put(UserText(key=new_ulid(), text=text, created=now()))
        self._said.append(text)
        if choice is not None and choice in decision.answers:
            self.answer(asked.key, choice)
            return True
        goals = goals_changed_by(text, asked.goals)
        if goals is not None:
            self._open = None
            self._items.put(replace(decision, state="chosen", answer="goals"))
            asked.reply.set_result(goals)
        else:
            self._items.put(Note(key=new_ulid(), text=_asked_back(asked.goals)))
            # The buttons stand where the eye is: behind what was said last.
            self._items.remove(decision.key)
            self._items.put(decision)
        self._tell()
        return True

    async def _answer_to(
        self, decision: Decision, goals: tuple[DesignGoal, ...]
    ) -> Choice | tuple[DesignGoal, ...]:
        self._open = asked = _Open(decision.key, asyncio.get_running_loop().create_future(), goals)
        self._tell()
        if decision.kind == "checkpoint" and (text := self.take_unsaid()):
            self.answer_in_words(text)
        try:
            return await asked.reply
        finally:
            if self._open is asked:
                self._open = None
