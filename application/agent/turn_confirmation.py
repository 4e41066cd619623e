"""Confirmation in a turn of the agent: one card for all calls of an answer, kept in the transcript.

Three parts, in the order of the graph: `review` judges the calls that come next and writes the question;
`record` writes the user's answer; the gate (`__call__`) is asked by the executor right before each call and
lets through what needs no confirmation, or has it for just the effect it would have now.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langchain_core.messages import ToolMessage

from application.ports.project import ABSENT, FOLDER
from application.tool_execution.executor import Confirm, Judged, Judging, ToolExecutor, effect_of
from domain.llm.messages import get_seen_versions, get_text
from domain.llm.tools.confirmation import Circumstances, names_critical
from domain.llm.tools.confirmation_card import (
    Answers,
    CallOnCard,
    CardAnswer,
    ConfirmationCard,
    changed_since,
    forbidden,
    refusal,
    refused_already,
    same_answer,
    used_already,
)
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.agent.conversation import Conversation
    from application.ports.permissions import UsedAnswers
    from application.tool_execution.definition import Tool, ToolContext
    from domain.llm.tools.effect import ComputedEffect
    from domain.llm.tools.result import ToolCall, ToolResult

_log = logging.getLogger(__name__)
_HAPPENED = ("done", "undone")


class TurnConfirmation:
    """The confirmations of one conversation's turns."""

    def __init__(
        self,
        *,
        conversation: Conversation,
        executor: ToolExecutor,
        judging: Judging,
        confirm: Confirm | None,
        used_answers: Callable[[], UsedAnswers],
        most_calls: int,
    ) -> None:
        self._conversation = conversation
        self._executor = executor
        self._judging = judging
        self._confirm = confirm
        self._used_answers = used_answers
        self._most_calls = most_calls

    def call(self, call_id: str) -> ToolCall | None:
        """A call of the newest turn."""
        return self._conversation.record.call(call_id)

    async def needs_review(self, pending: Sequence[str], context: ToolContext) -> bool:
        """Whether any of the calls might have to be asked about; calls that only look seldom are."""
        calls = [self._conversation.record.call(call_id) for call_id in pending]
        effects = {self._executor.effect_of(call.name) for call in calls if call is not None}
        if effects - {"read", "simulate"}:
            return True
        permissions = await self._judging.permissions(context.project.root)
        return any(rule.decision == "ask" for rule in permissions.rules)

    async def review(self, pending: Sequence[str], context: ToolContext) -> str:
        """Judge the calls; the id of the card that has to be answered before they run, or "".

        Changes nothing but the transcript, and there the same question is written once.
        """
        asked = [judged for judged in await self._judge_all(pending, context) if _is_asked(judged)]
        if not asked:
            return ""
        calls = tuple(judged.on_card() for judged in asked)
        open_card = self._conversation.record.open_card
        if open_card is not None and open_card.calls == calls:
            return open_card.card_id  # it was asked before the program was killed
        card = ConfirmationCard(card_id=new_ulid(), calls=calls)
        await self._conversation.ask(card)
        return card.card_id

    async def ask(self, card_id: str) -> Answers:
        """The user's answers; "unasked" for all when there is nobody to ask."""
        card = self._conversation.record.card(card_id)
        if self._confirm is None:
            return same_answer(card, "unasked")
        given = await self._confirm(replace(card, calls=tuple(map(self._with_arguments, card.calls))))
        refused = CardAnswer(word="refuse")
        return {call.call_id: given.get(call.call_id, refused) for call in card.calls}

    def _with_arguments(self, asked: CallOnCard) -> CallOnCard:
        call = self._conversation.record.call(asked.call_id)
        return asked if call is None else replace(asked, arguments=call.arguments)

    async def record(self, card_id: str, answers: Answers, context: ToolContext) -> None:
        """Keep the answers; rules of "always allow" first, so that a kill between the two loses none."""
        card = self._conversation.record.card(card_id)
        await self._judging.remember(context.project.root, card, answers)
        await self._conversation.answer(card_id, answers)

    async def __call__(
        self, tool: Tool[Any], arguments: Any, context: ToolContext, call: ToolCall
    ) -> ToolResult | None:
        """The gate: None when the call may run, else its result."""
        asked, answer = self._conversation.record.answer_to(call.call_id)
        if answer is not None and not answer.is_allowed:
            return refusal(call.name, answer)
        effect = await effect_of(tool, arguments, context)
        # How many files a turn touches was judged with the whole answer; here only this call counts.
        known = Circumstances(said=self._said(), made_here=await self._made(effect, context))
        judged = await self._judging.judge(call, effect, context.project.root, known)
        if asked is None and _is_asked(judged) and self._was_refused(call, judged):
            return refused_already(call.name)
        if judged.verdict.decision == "deny":
            return forbidden(call.name, judged.verdict.rule)
        if asked is not None and answer is not None:
            return await self._used(call, judged, asked)
        return changed_since(call.name) if judged.verdict.decision == "ask" else None

    async def _judge_all(self, pending: Sequence[str], context: ToolContext) -> list[Judged]:
        said, touched = self._said(), await self._touched(context)
        found: list[Judged] = []
        for call_id in pending:
            call = self._conversation.record.call(call_id)
            if call is None or not await self._is_to_be_judged(call, context):
                continue
            tool = self._executor.tool(call.name)
            if tool is None:
                continue
            try:
                effect = await effect_of(tool, tool.read_arguments(call.arguments), context)
            except Exception as error:  # noqa: BLE001 - the gate meets it again, and makes the call's result of it
                _log.info("%s can't be asked about: %s", call.name, error)
                continue
            made = await self._made(effect, context)
            known = Circumstances(said=said, made_here=made, files_before=len(touched))
            judged = await self._judging.judge(call, effect, context.project.root, known)
            if self._was_refused(call, judged):
                continue  # nobody is asked twice; the gate says so
            found.append(judged)
            if judged.effect.effect not in ("read", "simulate", "create"):
                touched |= {path.path for path in judged.effect.paths}
                touched |= {f"{call_id}/{n}" for n in range(judged.effect.files - len(judged.effect.paths))}
        return found

    async def _is_to_be_judged(self, call: ToolCall, context: ToolContext) -> bool:
        """Not what has its result or its answer, will not be run, or had its effect before a kill."""
        conversation = self._conversation
        if conversation.record.result_of(call.call_id) or await self._is_answered(call.call_id):
            return False
        if conversation.record.place_in_answer(call.call_id, self._executor.is_limited) >= self._most_calls:
            return False
        if self._executor.rejection(call) is not None:
            return False
        record = await context.operations.find(call.call_id)
        return record is None or record.state not in _HAPPENED

    async def _used(self, call: ToolCall, judged: Judged, asked: CallOnCard) -> ToolResult | None:
        """Use the answer to a call up; its result where the answer does not cover it, or was used before."""
        if not judged.effect.is_same_as(asked.effect, self._written()):
            return changed_since(call.name)
        answer_id = self._conversation.record.answer_id(call.call_id)
        is_needed = judged.verdict.decision == "ask"
        if is_needed and not await asyncio.to_thread(self._used_answers().spend, answer_id, call.call_id):
            return used_already(call.name)
        return None

    async def _is_answered(self, call_id: str) -> bool:
        """Whether there is an answer that still counts: one that allows counts once."""
        _, answer = self._conversation.record.answer_to(call_id)
        if answer is None or not answer.is_allowed:
            return answer is not None
        answer_id = self._conversation.record.answer_id(call_id)
        return not await asyncio.to_thread(self._used_answers().is_spent, answer_id, call_id)

    def _was_refused(self, call: ToolCall, judged: Judged) -> bool:
        """Whether the user refused just this in the turn: the same call, or deleting the same files."""
        return any(
            before.name == call.name
            and judged.effect.is_same_as(asked.effect)
            and (before.arguments == call.arguments or asked.effect.effect == "delete")
            for before, asked in self._conversation.record.refused_in_turn()
            if before.call_id != call.call_id
        )

    def _said(self) -> str:
        messages = self._conversation.record.messages_of_turn()
        return get_text(messages[0]) if messages else ""

    def _written(self) -> set[tuple[str, str]]:
        """Path and version of what changing calls of this turn have written."""
        return {
            version
            for message in self._conversation.record.messages_of_turn()
            if isinstance(message, ToolMessage) and self._executor.effect_of(str(message.name)) != "read"
            for version in get_seen_versions(message).items()
        }

    async def _touched(self, context: ToolContext) -> set[str]:
        """Existing files this turn has touched since the user last allowed something."""
        calls = self._conversation.record.calls_since_permission()
        return {
            change.path
            for record in await context.operations.list(among=calls)
            for change in record.changes
            if change.before not in (ABSENT, FOLDER)
        }

    async def _made(self, effect: ComputedEffect, context: ToolContext) -> frozenset[str]:
        """Files this conversation has made (not those it has moved somewhere), where that decides."""
        if not names_critical(effect):
            return frozenset()
        log = await context.operations.list(session_id=self._conversation.session_id)
        return frozenset(
            change.path
            for record in log
            if record.state in _HAPPENED and all(change.before == ABSENT for change in record.changes)
            for change in record.changes
        )


def _is_asked(judged: Judged) -> bool:
    return judged.verdict.decision == "ask"
