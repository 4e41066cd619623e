"""Going on after a turn that was interrupted or ended with an error."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from domain.llm.chat import ProviderChoice
from presentation.panels.conversation.items import (
    AnswerText,
    ErrorBlock,
    Interrupted,
    NetlistCard,
    Note,
    Retry,
    UserText,
)
from presentation.panels.conversation.refusals import busy
from shared.message import Message, msg

if TYPE_CHECKING:
    from presentation.panels.conversation.view_model import ConversationViewModel


class WaysOn:
    """What the buttons of an interruption or an error do; each gives the reason when it can't be now."""

    def __init__(self, model: ConversationViewModel) -> None:
        self._model = model

    def go_on(self, key: str) -> Message | None:
        """Go on with an interrupted turn."""
        model = self._model
        item = model.items.get(key)
        if not isinstance(item, Interrupted) or not item.can_continue or model.root is None:
            return None
        if model.is_running:
            return busy()
        is_open = item.reason == "interrupted"  # any other turn was closed with what it had
        if model.mode != "workflow" and self._broke_off(item):
            model.items.remove(key)  # the answer goes on in its place, and loses the mark
            model.resume()
            return None
        model.items.put(replace(item, can_continue=False))
        if model.mode == "workflow" or is_open:
            model.resume()
            return None
        return model.begin(msg("Go on."))

    def _broke_off(self, mark: Interrupted) -> bool:
        """Whether what was interrupted is the text of an answer; else another has to be asked for."""
        before = itertools.takewhile(lambda row: row.key != mark.key, self._model.items)
        said = [row for row in before if not isinstance(row, ErrorBlock | Note | Retry | NetlistCard)]
        return bool(said) and isinstance(said[-1], AnswerText) and bool(said[-1].text.strip())

    def retry(self, key: str) -> Message | None:
        """Say the last message again after an error."""
        item = self._model.items.get(key)
        if not isinstance(item, ErrorBlock) or item.is_spent:
            return None
        return self._again(replace(item, is_spent=True))

    def retry_offline(self, key: str) -> Message | None:
        """Say the last message again, to the built-in designer."""
        if self._model.is_running:
            return busy()
        self._model.set_choice(ProviderChoice())
        return self.retry(key)

    def switch(self, key: str, argument: str) -> Message | None:
        """Say the last message again, to an offered model, which answers this conversation from now on."""
        item = self._model.items.get(key)
        if not isinstance(item, ErrorBlock) or item.is_spent:
            return None
        if not argument.isdecimal() or int(argument) >= len(item.offers):
            return None
        if self._model.is_running:
            return busy()
        self._model.set_choice(item.offers[int(argument)])
        return self.retry(key)

    def ask_anew(self, key: str) -> Message | None:
        """Say the last message in a conversation of its own: this one is too long for the model."""
        item = self._model.items.get(key)
        if not isinstance(item, ErrorBlock) or item.is_spent:
            return None
        model = self._model
        if model.is_running:
            return busy()
        said = next((row for row in reversed(tuple(model.items)) if isinstance(row, UserText)), None)
        choice = model.choice
        model.new_conversation()
        model.set_choice(choice)
        return None if said is None else model.begin(said.text, said.attached)

    def give_up(self, key: str) -> None:
        """Take the ways out of an error away."""
        item = self._model.items.get(key)
        if isinstance(item, ErrorBlock):
            self._model.replace_item(replace(item, is_spent=True))

    def regenerate(self, key: str) -> Message | None:
        """Ask for the interrupted answer anew: the same message once more, the files as they are."""
        item = self._model.items.get(key)
        if not isinstance(item, Interrupted) or not item.can_continue or self._model.mode == "workflow":
            return None
        return self._again(replace(item, can_continue=False))

    def _again(self, settled: ErrorBlock | Interrupted) -> Message | None:
        model = self._model
        if model.is_running:
            return busy()
        said = next((row for row in reversed(tuple(model.items)) if isinstance(row, UserText)), None)
        model.items.put(settled)
        return None if said is None else model.begin(said.text, said.attached)
