"""The card on which the user allows or refuses the calls of an answer: what is open, and the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.llm.tools.confirmation_card import AnswerWord, CallOnCard, CardAnswer, ConfirmationCard
from presentation.panels.conversation.items import Confirmation, ItemList

if TYPE_CHECKING:
    from domain.llm.tools.confirmation_card import Answers

_ALLOW = ("y", "yes", "ok", "allow", "allow all", "是", "好", "可以", "允许", "全部允许", "同意")
_REFUSE = ("n", "no", "refuse", "deny", "不", "不要", "拒绝", "全部拒绝", "不行")


@dataclass(frozen=True, slots=True)
class _Open:
    """A card somebody waits for."""

    key: str
    answers: asyncio.Future[Answers]


class Confirming:
    """The one card that is open, if there is one. `tell` is called when something is another."""

    def __init__(self, items: ItemList, tell: Callable[[], None]) -> None:
        self._items = items
        self._tell = tell
        self._open: _Open | None = None

    @property
    def is_open(self) -> bool:
        return self._open is not None

    def forget(self) -> None:
        """Nobody waits any more."""
        self._open = None

    async def confirm(self, card: ConfirmationCard) -> Answers:
        """Show the card and wait until each of its calls is answered."""
        self._open = asked = _Open(card.card_id, asyncio.get_running_loop().create_future())
        # A card that was on the screen before an interruption moves to the end: what is asked is the newest.
        self._items.remove(card.card_id)
        self._items.put(Confirmation(key=card.card_id, card=card))
        self._tell()
        try:
            return await asked.answers
        except asyncio.CancelledError:
            self._expire(card.card_id)
            raise
        finally:
            if self._open is asked:
                self._open = None

    def answer(self, key: str, argument: str, reason: str = "") -> bool:
        """Press a button: ``allow``, ``always``, ``refuse``, with ``:CALL`` for one call alone.

        `reason` is told to the model with a refusal. False when nothing waits for it.
        """
        item = self._items.get(key)
        asked = self._open
        if asked is None or asked.key != key or not isinstance(item, Confirmation):
            return False
        word, _, call_id = argument.partition(":")
        chosen = next((known for known in ("allow", "always", "refuse") if known == word), None)
        calls = [call for call in item.left if call_id in ("", call.call_id)]
        if chosen is None or not calls:
            return False
        given = {call.call_id: _answer(chosen, call, reason) for call in calls}
        answers = {**item.answers, **given}
        is_whole = len(answers) == len(item.card.calls)
        self._items.put(replace(item, answers=answers, state="answered" if is_whole else "open"))
        if is_whole:
            self._open = None
            asked.answers.set_result(answers)
        self._tell()
        return True

    def answer_in_words(self, text: str) -> bool:
        """Take what was typed as the answer; False when it is another message, which leaves the card."""
        word = text.strip(" .!。！").lower()
        if self._open is not None and word in _ALLOW:
            return self.answer(self._open.key, "allow")
        if self._open is not None and word in _REFUSE:
            return self.answer(self._open.key, "refuse")
        return False

    def _expire(self, key: str) -> None:
        item = self._items.get(key)
        if isinstance(item, Confirmation) and item.state == "open":
            self._items.put(replace(item, state="expired"))
            self._tell()


def _answer(word: AnswerWord, call: CallOnCard, reason: str) -> CardAnswer:
    if word == "always" and not call.always:
        word = "allow"
    return CardAnswer(word=word, reason=reason if word == "refuse" else "")
