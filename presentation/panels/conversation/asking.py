"""What a run asks the user, and how it is answered: by a button, by the goals dialog, or in words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from application.events import GoalsUnderstood
from presentation.panels.conversation.confirming import Confirming
from presentation.panels.conversation.items import Choice, Decision, ItemList, UserText
from presentation.panels.conversation.moments import now
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.design.designing import Answer, Question, Reply
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
    reply: asyncio.Future[Choice]


class Asking:
    """The one question that is open, if there is one. `tell` is called when something is another."""

    def __init__(self, items: ItemList, window: Window, tell: Callable[[], None]) -> None:
        self._items = items
        self._window = window
        self._tell = tell
        self._open: _Open | None = None
        self.calls = Confirming(items, tell)
        """The card of calls that wait for permission."""

    @property
    def is_open(self) -> bool:
        """Whether the run waits for the user's decision."""
        return self._open is not None or self.calls.is_open

    def forget(self) -> None:
        """Nobody waits any more."""
        self._open = None
        self.calls.forget()

    async def confirm_goals(self, told: GoalsUnderstood) -> Answer | Reply:
        """The goals before a design begins: confirmed as they are or changed, or declined."""
        from application.design.designing import Reply

        goals = await self._window.confirm_goals(told, is_change=False)
        if goals is None:
            return "decline"
        return "continue" if goals == told.goals else Reply(answer="continue", goals=goals)

    async def decide(self, question: Question) -> Answer | Reply:
        """A checkpoint, or a design that was interrupted; waits until it is answered."""
        from application.design.designing import Reply

        decision = Decision(
            key=new_ulid(),
            kind="pending_run" if question.kind == "pending_run" else "checkpoint",
            number=question.round_number,
            met=sum(verdict.met for verdict in question.verdicts),
            total=len(question.verdicts),
            has_failed=question.has_failed,
            can_undo=question.can_undo,
            all_met=question.goals_met,
            text=question.text,
        )
        self._items.put(decision)
        while True:
            choice = await self._answer_to(decision)
            if choice != "goals":
                return choice
            told = GoalsUnderstood(goals=question.goals, assumptions=())
            goals = await self._window.confirm_goals(told, is_change=True)
            if goals is not None:
                self._items.put(replace(decision, state="chosen", answer="goals"))
                self._tell()
                return Reply(answer="continue", goals=goals)

    def answer(self, key: str, choice: Choice) -> None:
        """Press a button of a decision."""
        item = self._items.get(key)
        asked = self._open
        if asked is None or asked.key != key or not isinstance(item, Decision) or choice not in item.choices:
            return
        self._open = None
        if choice != "goals":  # that one is chosen when the dialog was
            self._items.put(replace(item, state="chosen", answer=choice))
        asked.reply.set_result(choice)
        self._tell()

    def answer_in_words(self, text: str) -> bool | None:
        """Take what was typed as the answer: True; None when it is no question of words.

        False: the checkpoint is left (the run stops there), and the text is what comes next. A card of calls
        is left by stopping the run.
        """
        if self.calls.is_open:
            return self.calls.answer_in_words(text)
        asked = self._open
        decision = None if asked is None else self._items.get(asked.key)
        if asked is None or not isinstance(decision, Decision) or decision.kind != "checkpoint":
            return None
        choice = _WORDS.get(text.strip(" .!。！").lower())
        if choice is not None and choice in decision.choices:
            self._items.put(UserText(key=new_ulid(), text=text, created=now()))
            self.answer(asked.key, choice)
            return True
        self._open = None
        self._items.put(replace(decision, state="expired", answer="stop"))
        asked.reply.set_result("stop")
        self._tell()
        return False

    async def _answer_to(self, decision: Decision) -> Choice:
        self._open = asked = _Open(decision.key, asyncio.get_running_loop().create_future())
        self._tell()
        try:
            return await asked.reply
        finally:
            if self._open is asked:
                self._open = None
