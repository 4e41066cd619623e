"""The question at which the shown design rests, and all that answers it: buttons, words, another round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from presentation.panels.conversation.items import (
    Choice,
    Decision,
    ErrorBlock,
    Interrupted,
    Understood,
)
from presentation.panels.conversation.words import busy
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.groups.design import Design
    from domain.design.checkpoint_intent import IntentKind
    from presentation.panels.conversation.asking import Asking
    from presentation.panels.conversation.shown_conversation import ShownConversation
    from presentation.panels.conversation.window import Window


def _answered_already() -> Message:
    return msg("This question has been answered already.")


class DesignQuestions:
    """Of the conversation of a tab; while a run is under way its own questions are asked by `asking`."""

    rests = False
    """A design that an error has interrupted can be gone on with; no row asks about it."""

    def __init__(
        self,
        model: ShownConversation,
        asking: Asking,
        design: Design,
        window: Window,
        *,
        open_again: Callable[[str], None],
    ) -> None:
        self._model = model
        self._items = model.items
        self._open_again = open_again
        self._asking = asking
        self._design = design
        self._window = window

    @property
    def waiting(self) -> Decision | None:
        """The question at which the design rests."""
        found = (item for item in self._items if isinstance(item, Decision) and item.state == "waits")
        return next(found, None)

    @property
    def is_open(self) -> bool:
        """Whether the shown design was interrupted and can be gone on with."""
        return (
            self.rests
            or self.waiting is not None
            or any(
                isinstance(item, Interrupted) and item.can_continue and item.of_design for item in self._items
            )
        )

    def answer(self, key: str, choice: Choice) -> Message | None:
        """Press a button of a question; where it waits, the design is taken up again. Or why not."""
        item = self._items.get(key)
        if not isinstance(item, Decision) or item.state != "waits":
            return None if self._asking.answer(key, choice) else _answered_already()
        if self._model.is_running:
            return busy()
        self._asking.press_next(item, choice)
        self._model.resume(mode="workflow")
        return None

    def correct(self, key: str, kind: IntentKind) -> Message | None:
        """Take a text that was typed at a checkpoint as another kind; a design that waits goes on with it."""
        item = self._items.get(key)
        if self._model.is_running or not isinstance(item, Understood):
            self._asking.correct(key, kind)
            return None
        if self.waiting is None or kind not in item.others:
            return _answered_already()
        self._asking.take_up_chip(key)
        self._asking.correct(key, kind)
        self._model.resume(mode="workflow")
        return None

    def go_back(self, session_id: str, number: int) -> Message | None:
        """Put the circuit of a round back, and ask about it again where the design has not ended.

        The reason when it can't be now.
        """
        from application.workflow.design_sessions import Reply

        model = self._model
        if session_id != model.session_id:
            return msg("Open the conversation of this design first.")
        reply = Reply(answer="go_back", round_number=number)
        if self._asking.is_at_checkpoint:
            self._asking.reply(reply)
        elif model.is_running:
            return busy()
        elif self.waiting is not None:
            self._asking.reply_next(reply)
            model.resume(mode="workflow")
        elif model.root is not None:
            self._window.start(self._go_back_to(model.root, session_id, number), kind="sessions")
        return None

    async def _go_back_to(self, root: Path, session_id: str, number: int) -> None:
        """The design has ended: the files are put back, and its conversation says so."""
        try:
            done = await self._design.go_back(
                root, number, session_id=session_id, main_circuit=self._window.main_circuit(root)
            )
        except CircuitAIError as error:
            self._model.put_error(error)
            return
        for path in (*done.paths, *done.aside.values()):
            self._window.file_changed(root / path)
        self._window.goals_changed(root / done.circuit)
        if done.main_circuit:
            self._window.main_circuit_restored(root / done.main_circuit)
        if session_id == self._model.session_id:
            self._open_again(session_id)

    def close_chips(self) -> None:
        """What was typed at a checkpoint is history; one that was just taken otherwise waits for the next."""
        for item in tuple(self._items):
            if isinstance(item, Understood) and item.state == "taken":
                self._items.put(replace(item, state="closed"))

    def ask_again_behind(self) -> None:
        """Something is said: the design's question is asked again, behind all that came since."""
        self.close_chips()
        if (waiting := self.waiting) is not None and self._model.mode == "workflow":
            self._items.remove(waiting.key)

    async def find_rest(self, root: Path, session_id: str) -> None:
        """Behind an error: the question a design waits at is asked again, or its step can be tried again."""
        model = self._model
        try:
            stored = await model.shelf.read(root, session_id)
        except CircuitAIError:  # the error that is shown says enough
            return
        if (root, session_id) != (model.root, model.session_id) or model.is_running:
            return
        asked = (item for item in stored.items if isinstance(item, Decision) and item.state == "waits")
        waits = next(asked, None)
        self.rests = waits is None and stored.rests
        if waits is not None and self.waiting is None:
            for block in [item for item in self._items if isinstance(item, ErrorBlock)]:
                self._items.put(replace(block, can_retry=False))
            self._items.put(waits)
            model.tell()
