"""What a run asks the user, and how it is answered: by a button, by the goals dialog, in words, or call
by call on a card.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast

from application.ports.events import GoalsUnderstood
from domain.design.checkpoint_intent import CheckpointIntent, IntentKind
from domain.llm.tools.confirmation_card import Answers, AnswerWord, CallOnCard, CardAnswer, ConfirmationCard
from presentation.panels.conversation.items import (
    Choice,
    Confirmation,
    Decision,
    ItemList,
    Note,
    Understood,
    UserText,
)
from presentation.panels.conversation.words import now
from shared.message import Message, msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.workflow.designing import Answer, Question, Reply
    from domain.simulation.goals import DesignGoal
    from presentation.panels.conversation.window import ConfirmedGoals, Window
    from presentation.ui.previews import Preview

_ALLOW = ("y", "yes", "ok", "allow", "allow all", "是", "好", "可以", "允许", "全部允许", "同意")
_REFUSE = ("n", "no", "refuse", "deny", "不", "不要", "拒绝", "全部拒绝", "不行")


@dataclass(frozen=True, slots=True)
class _OpenCard:
    """A card somebody waits for."""

    key: str
    answers: asyncio.Future[Answers]


class Confirming:
    """The one card that is open, if there is one. `tell` is called when something is another."""

    def __init__(self, items: ItemList, tell: Callable[[], None]) -> None:
        self._items = items
        self._tell = tell
        self._open: _OpenCard | None = None

    @property
    def is_open(self) -> bool:
        return self._open is not None

    def forget(self) -> None:
        self._open = None

    async def confirm(self, card: ConfirmationCard) -> Answers:
        """Show the card and wait until each of its calls is answered."""
        self._open = asked = _OpenCard(card.card_id, asyncio.get_running_loop().create_future())
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
        known = None if is_whole else item.preview
        state: Literal["open", "answered"] = "answered" if is_whole else "open"
        self._items.put(replace(item, answers=answers, state=state, preview=known))
        if is_whole:
            self._open = None
            asked.answers.set_result(answers)
        self._tell()
        return True

    def show_preview(self, key: str, preview: Preview | None) -> None:
        """Say beside the buttons of an open card what its calls would do."""
        item = self._items.get(key)
        if isinstance(item, Confirmation) and item.state == "open":
            self._items.put(replace(item, preview=preview))
            self._tell()

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
            self._items.put(replace(item, state="expired", preview=None))
            self._tell()


def _answer(word: AnswerWord, call: CallOnCard, reason: str) -> CardAnswer:
    if word == "always" and not call.always:
        word = "allow"
    return CardAnswer(word=word, reason=reason if word == "refuse" else "")


_ASKED_ABOUT: frozenset[IntentKind] = frozenset(("accept", "stop", "undo", "go_back"))
"""What is never done by words alone: a click has to follow."""
_TELLING: frozenset[IntentKind] = frozenset(("goals", "instruction", "question", "unclear"))
"""What tells more than which button is meant."""


@dataclass(frozen=True, slots=True)
class _Open:
    """A decision somebody waits for."""

    key: str
    question: Question
    reply: asyncio.Future[Choice | Reply]
    """A button, or what was said."""


def _is_asked_twice(decision: Decision, choice: Choice | Reply) -> bool:
    """Whether a button does what somebody may not have meant: a design is accepted that misses goals."""
    return choice == "accept" and not decision.goals_met


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
        self._said: list[CheckpointIntent] = []
        """Typed at the open checkpoint, and not yet handed on with an answer."""
        self._next: CheckpointIntent | Decision | Reply | str = ""
        """What the next checkpoint is answered with: a text, what was meant by one, a button, an answer."""
        self.is_at_goals = False
        """Whether the run waits for the goals dialog."""
        self._goes_on = False
        """Checkpoints are answered by what is recommended, as long as that is another round."""
        self._chip = ""
        """Key of the newest chip; older ones are history."""
        self.calls = Confirming(items, tell)
        """The card of calls that wait for permission."""

    @property
    def is_open(self) -> bool:
        """Whether the run waits for the user's decision."""
        return self._open is not None or self.calls.is_open

    def say_next(self, text: str) -> None:
        """Take a text as the answer to the checkpoint that is asked next."""
        self._next = text

    def press_next(self, waiting: Decision, choice: Choice) -> None:
        """Answer the checkpoint that is asked next as this one, if its figures are still the same."""
        self._next = replace(waiting, answer=choice)

    def reply_next(self, reply: Reply) -> None:
        """Answer the checkpoint that is asked next so."""
        self._next = reply

    def reply(self, reply: Reply) -> None:
        """Answer the open checkpoint from elsewhere than its card."""
        asked = self._open
        decision = None if asked is None else self._items.get(asked.key)
        if asked is not None and isinstance(decision, Decision):
            self._close_chip()
            self._settle(asked, decision, reply)

    def take_up_chip(self, key: str) -> None:
        """The chip of a conversation that was opened is the newest one."""
        self._chip = key

    @property
    def is_at_checkpoint(self) -> bool:
        """Whether the run rests at a checkpoint."""
        asked = self._open
        return asked is not None and asked.question.kind == "checkpoint" and not self.calls.is_open

    @property
    def round_number(self) -> int:
        """Of the checkpoint at which the run rests; 0 of any other question."""
        asked = self._open
        return asked.question.round_number if asked is not None and self.is_at_checkpoint else 0

    @property
    def unsaid(self) -> str:
        """What was typed and has not become part of the conversation; "" when nothing has.

        A word that only chose, as a button does, says nothing any more when its checkpoint is left.
        """
        waiting = self._next if isinstance(self._next, str) else str(getattr(self._next, "text", ""))
        said = (intent.text for intent in self._said if intent.kind in _TELLING)
        return "\n".join((*said, waiting)).strip()

    def take_unsaid(self) -> str:
        """The same, which is the user's again."""
        text = self.unsaid
        self._said, self._next = [], ""
        return text

    def _take_said(self, reply: Reply) -> Reply:
        """The answer with what was typed before it, and how that was read."""
        said, self._said = tuple(self._said), []
        return replace(reply, said=tuple(intent.text for intent in said), read=said)

    def forget(self) -> None:
        self._open, self._goes_on = None, False
        chip = self._items.get(self._chip)
        if isinstance(chip, Understood) and chip.state == "taken":
            self._chip = ""  # while the design waits it can still be taken otherwise
        self._close_chip()
        self.calls.forget()

    async def confirm_goals(self, told: GoalsUnderstood, question: Question) -> Answer | Reply:
        """The goals before a design begins: confirmed as they are or changed, or declined.

        `question` names the circuit it begins from, unless a new one is wanted.
        """
        from application.workflow.designing import Reply

        confirmed = await self._asked_goals(told, is_change=False, question=question)
        if confirmed is None:
            return "decline"
        goals = None if confirmed.goals == told.goals else confirmed.goals
        if goals is None and not confirmed.is_new_circuit:
            return "continue"
        return Reply(answer="continue", goals=goals, is_new_circuit=confirmed.is_new_circuit)

    async def _asked_goals(
        self, told: GoalsUnderstood, *, is_change: bool, question: Question | None = None
    ) -> ConfirmedGoals | None:
        """What the goals dialog is left with; None when it was cancelled."""
        self.is_at_goals = True
        self._tell()
        try:
            return await self._window.confirm_goals(told, is_change=is_change, question=question)
        finally:
            self.is_at_goals = False
            self._tell()

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
            rests=question.rests,
            all_met=question.goals_met,
            text=question.text,
        )
        self._goes_on = self._goes_on and question.recommended == "continue"
        if self._goes_on and not self._next:
            self._items.put(replace(decision, state="chosen", answer="continue"))
            self._tell()
            return "continue"
        self._items.put(decision)
        while True:
            choice = await self._answer_to(decision, question)
            if choice == "until":
                choice, self._goes_on = "continue", True
            if _is_asked_twice(decision, choice):
                missed = [verdict.goal for verdict in question.verdicts if not verdict.met]
                if not await self._window.confirm_accept(missed):
                    continue
                self._items.put(replace(decision, state="chosen", answer="accept"))
                self._tell()
            meant = self._said[-1] if self._said else None
            if choice != "goals":
                if isinstance(choice, Reply):
                    return self._take_said(choice)
                if meant is None:
                    return choice
                is_other = replace(decision, answer=meant.kind).chosen != choice
                return self._take_said(Reply(answer=choice, meant=None if is_other else meant))
            told = GoalsUnderstood(goals=question.goals, assumptions=())
            confirmed = await self._asked_goals(told, is_change=True)
            if confirmed is not None:
                self._items.put(replace(decision, state="chosen", answer="goals"))
                self._tell()
                meant = meant if meant is not None and meant.kind == "goals" else None
                return self._take_said(Reply(answer="continue", goals=confirmed.goals, meant=meant))

    def answer(self, key: str, choice: Choice) -> bool:
        """Press a button of the open decision; False when it is no longer open, and nothing is done."""
        item = self._items.get(key)
        asked = self._open
        if asked is None or asked.key != key or not isinstance(item, Decision) or choice not in item.choices:
            return False
        chip = self._items.get(self._chip)
        meant = replace(item, answer=chip.intent.kind).chosen if isinstance(chip, Understood) else ""
        self._close_chip(is_done=meant == choice)
        self._settle(asked, item, choice)
        return True

    def answer_in_words(self, text: str) -> bool | None:
        """Take what was typed as the answer: True; None when it is no question of words.

        At a checkpoint it is read once, and what was understood is shown as a chip. What is not sure, and
        what ends the design or takes something of it back, waits for a click on it. False: a card of calls
        is left by stopping the run, and the text is what comes next.
        """
        if self.calls.is_open:
            return self.calls.answer_in_words(text)
        asked = self._open
        decision = None if asked is None else self._items.get(asked.key)
        if asked is None or not isinstance(decision, Decision) or decision.kind != "checkpoint":
            return None
        question = asked.question
        self._items.put(UserText(key=new_ulid(), text=text, created=now(), can_edit=False))
        intent = question.read(text)
        self._said.append(intent)
        self._close_chip()
        self._chip = new_ulid()
        if intent.is_sure or question.reread is None:
            self._follow(intent, is_confirmed=intent.is_sure and intent.kind not in _ASKED_ABOUT)
        else:
            self._window.start(self._reread(intent, question.reread, self._chip), kind="conversation")
        return True

    async def _reread(
        self,
        intent: CheckpointIntent,
        reread: Callable[[CheckpointIntent], Awaitable[CheckpointIntent]],
        chip: str,
    ) -> None:
        """Let the model say what was meant, where the rules are not sure; the buttons stay."""
        intent = await reread(intent)
        if chip == self._chip:
            self._follow(intent, is_confirmed=intent.is_sure and intent.kind not in _ASKED_ABOUT)

    def correct(self, key: str, kind: IntentKind) -> None:
        """Click on a chip: carry out what it says, or take its text as another kind.

        Behind a checkpoint that was answered it is the answer to the next one; what was done stays, and can
        be undone.
        """
        item = self._items.get(key)
        if not isinstance(item, Understood) or key != self._chip or item.state == "closed":
            return
        if kind not in (*item.others, item.intent.kind):
            return
        intent = replace(item.intent, kind=kind, is_sure=True)
        if self._open is not None:
            self._follow(intent, is_confirmed=True)
        elif item.state == "taken":
            self._next = intent
            self._items.put(replace(item, intent=intent, state="waits", others=()))
            self._tell()

    def _follow(self, intent: CheckpointIntent, *, is_confirmed: bool) -> None:
        """Show the chip of what was meant at the open checkpoint, and carry it out when that is confirmed."""
        asked = self._open
        decision = None if asked is None else self._items.get(asked.key)
        if asked is None or not isinstance(decision, Decision):
            return
        from application.workflow.design_sessions import reply_of

        reply = reply_of(intent)
        leads_on = reply is not None or intent.kind == "goals"
        intent = replace(intent, has_waited=intent.has_waited or not (is_confirmed and leads_on))
        if self._said and self._said[-1].text == intent.text:
            self._said[-1] = intent
        new = intent.goals if intent.kind == "goals" and intent.goals else ()
        chip = Understood(
            key=self._chip,
            intent=intent,
            state="taken" if is_confirmed or not (leads_on or intent.kind == "unclear") else "asks",
            others=decision.others(intent),
            changed=tuple(goal for goal in new if goal not in asked.question.goals),
            before=asked.question.goals,
            verdicts=asked.question.verdicts,
        )
        self._items.put(chip)
        if is_confirmed and leads_on:
            self._settle(asked, decision, reply or "goals")
            return
        if not leads_on:
            asked_back = Message("{text}", {"text": intent.asks_back}) if intent.asks_back else None
            self._items.put(Note(key=new_ulid(), text=asked_back or _asked_back(asked.question.goals)))
        # The buttons stand where the eye is: behind what was said last.
        self._items.remove(decision.key)
        self._items.put(replace(decision, is_behind_chip=chip.state == "asks" and intent.kind != "unclear"))
        self._tell()

    def _settle(self, asked: _Open, decision: Decision, choice: Choice | Reply) -> None:
        """The decision is made."""
        self._open = None
        if choice != "goals" and not _is_asked_twice(decision, choice):  # they are chosen when the dialog was
            word = choice if isinstance(choice, str) else "goals" if choice.goals else choice.answer
            self._items.put(replace(decision, state="chosen", answer=word, is_behind_chip=False))
        asked.reply.set_result(choice)
        self._tell()

    def _close_chip(self, *, is_done: bool = False) -> None:
        """What it says can be chosen no more."""
        item = self._items.get(self._chip)
        if isinstance(item, Understood):
            is_left = item.state == "waits" or (item.state == "asks" and item.intent.kind != "unclear")
            self._items.put(replace(item, state="dropped" if is_left and not is_done else "closed"))
        self._chip = ""

    async def _answer_to(self, decision: Decision, question: Question) -> Choice | Reply:
        self._open = asked = _Open(decision.key, question, asyncio.get_running_loop().create_future())
        self._tell()
        if decision.kind == "checkpoint" and self._next:
            said, self._next = self._next, ""
            if isinstance(said, str):
                self.answer_in_words(said)
            elif isinstance(said, Decision):
                asked_then = replace(said, key=decision.key, state="open", answer="", is_behind_chip=False)
                if asked_then == decision:
                    self.answer(decision.key, cast("Choice", said.answer))
            elif isinstance(said, CheckpointIntent):
                self._follow(said, is_confirmed=True)
            else:
                self._settle(asked, decision, said)
        try:
            return await asked.reply
        finally:
            if self._open is asked:
                self._open = None
