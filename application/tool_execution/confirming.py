"""Confirmation of calls: their effects computed, judged by the project's rules, and held to at execution.

`Judging` computes and judges. `ByHand` is the gate of a call a person wrote. The gate of an agent's turn is
in `application.agent.turn_confirmation`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from application.ports.permissions import PermissionStore
from application.ports.project_view import ProjectView
from application.tool_execution.definition import Tool, ToolContext
from application.tool_execution.other_names import own_name
from application.tool_execution.tools.circuit_choice import chosen_circuit
from domain.llm.tools.confirmation import Circumstances, Permissions, Verdict, judge, rules_for_always
from domain.llm.tools.confirmation_card import (
    Answers,
    CallOnCard,
    CardAnswer,
    ConfirmationCard,
    changed_since,
    forbidden,
    refusal,
)
from domain.llm.tools.effect import ComputedEffect, PathEffect
from domain.llm.tools.result import ToolCall, ToolResult
from shared.errors import UserInputError
from shared.message import msg
from shared.ulid import new_ulid

Confirm = Callable[[ConfirmationCard], Awaitable[Answers]]
"""Puts a card to the user; a call without an answer counts as refused."""

_LONGEST_PATH = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A call with what it would do, and what is to happen with it."""

    call: ToolCall
    effect: ComputedEffect
    verdict: Verdict

    def on_card(self) -> CallOnCard:
        """It as a part of the question."""
        return CallOnCard(
            call_id=self.call.call_id,
            tool=self.call.name,
            effect=self.effect,
            reasons=self.verdict.reasons,
            always=rules_for_always(self.call.name, self.effect, self.verdict.reasons),
        )


class Judging:
    """Judges effects by what the user has decided for a project."""

    def __init__(self, store: PermissionStore) -> None:
        self._store = store

    async def permissions(self, root: Path) -> Permissions:
        """What was decided. Raises UserInputError when that can't be read."""
        permissions = await asyncio.to_thread(self._store.of_project, root)
        # A rule of an earlier version may name a tool that is part of another now: it goes on holding back,
        # but what one part was allowed says nothing of the whole, so that is asked about again.
        rules = tuple(
            replace(rule, tool=own_name(rule.tool))
            for rule in permissions.rules
            if rule.decision != "allow" or own_name(rule.tool) == rule.tool
        )
        return replace(permissions, rules=rules)

    async def judge(self, call: ToolCall, effect: ComputedEffect, root: Path, known: Circumstances) -> Judged:
        """One call with its effect. Raises UserInputError when the permissions can't be read."""
        permissions = await self.permissions(root)
        return Judged(call=call, effect=effect, verdict=judge(call.name, effect, permissions, known))

    async def remember(self, root: Path, card: ConfirmationCard, answers: Answers) -> None:
        """Add the rules of "always allow"; the same ones a second time change nothing."""
        rules = [
            rule
            for call in card.calls
            if (answer := answers.get(call.call_id)) is not None and answer.word == "always"
            for rule in call.always
        ]
        if rules:
            await asyncio.to_thread(self._store.add_rules, root, rules)


async def effect_of(tool: Tool[Any], arguments: Any, context: ToolContext) -> ComputedEffect:
    """What a call would do: by the tool's own preview, else its class on the paths it names.

    Raises CircuitAIError when the call would be refused as things are: a gate then answers with that, and
    does not run what could have become possible in the meantime.
    """
    if tool.preview is not None:
        return await tool.preview(arguments, context)
    is_reading = tool.effect in ("read", "simulate")
    given = arguments.model_dump()
    # What it makes stands in `to`, where `path` is what it makes it of.
    value = given.get("to" if "to" in given and not is_reading else "path")
    named = [value[:_LONGEST_PATH]] if isinstance(value, str) and value else []
    view = context.view
    if "path" in given and given["path"] is None and tool.effect == "simulate":
        # A call that leaves the circuit out means one all the same: rules hold for it too.
        names = [view.name_of(await chosen_circuit(context, None))]
    else:
        names = await asyncio.to_thread(lambda: [_name_of(view, text) for text in named])
    if not names:
        return ComputedEffect(effect=tool.effect)
    return ComputedEffect(
        effect=tool.effect,
        paths=tuple(PathEffect(path=name) for name in names),
        files=0 if is_reading else len(names),
    )


def _name_of(view: ProjectView, text: str) -> str:
    """A path as rules name it: relative to the project, links resolved; as it was written if it can't be."""
    for locate in (view.locate, view.locate_for_writing, view.locate_folder):
        try:
            return view.name_of(locate(text))
        except (UserInputError, OSError, ValueError):
            continue
    return text


class ByHand:
    """The gate of a call that a person wrote himself."""

    def __init__(self, judging: Judging, confirm: Confirm | None) -> None:
        self._judging = judging
        self._confirm = confirm

    async def __call__(
        self, tool: Tool[Any], arguments: Any, context: ToolContext, call: ToolCall
    ) -> ToolResult | None:
        """None when the call may run, else its result. Raises UserInputError for unreadable permissions."""
        effect = await effect_of(tool, arguments, context)
        root = context.project.root
        judged = await self._judging.judge(call, effect, root, Circumstances(is_by_hand=True))
        if judged.verdict.decision == "allow":
            return None
        if judged.verdict.decision == "deny":
            return forbidden(tool.name, judged.verdict.rule)
        card = ConfirmationCard(card_id=new_ulid(), calls=(judged.on_card(),))
        if self._confirm is None:
            return replace(
                refusal(tool.name, CardAnswer(word="unasked")),
                suggestions=(msg("Check what it would do; then add --yes to allow it."),),
            )
        answers = await self._confirm(card)
        answer = answers.get(call.call_id, CardAnswer(word="refuse"))
        if not answer.is_allowed:
            return refusal(tool.name, answer)
        await self._judging.remember(root, card, answers)
        now = await effect_of(tool, arguments, context)
        return None if now.is_same_as(effect) else changed_since(tool.name)
