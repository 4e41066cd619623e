"""Runs one tool call: known tool, valid arguments, effect once, a result in any case.

Which tools a model has in which node of the workflow goes by what they can do, so a new tool has its
place. free_work is a conversation, where the user may ask for anything; asking is one whose user wants
nothing changed: its model only reads (and searches the web where that is on). The other nodes have one
task each: who understands goals or judges results changes nothing, and nobody in a workflow deletes or
moves files, or changes the goals he is judged by.

Confirmation: a call's effect is computed, judged by the project's rules (`Judging`), and held to at
execution. `SingleCalls` is the gate of calls that come one by one, from a person or from another program's
model; that of an agent's turn is in `application.agent.turn_confirmation`.
"""

from __future__ import annotations

import asyncio
import difflib
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from application.ports.permissions import PermissionStore
from application.ports.project_view import ProjectView
from application.tool_execution.definition import BadArgumentsError, Category, Tool, ToolContext
from application.tool_execution.other_names import OTHER_TOOL, other_tool, own_call, own_name
from application.tool_execution.tools.circuit_choice import chosen_circuit
from domain.llm.chat import USUAL_ROOM, ResultRoom, ToolSet
from domain.llm.tool_servers import is_of_server
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
from domain.llm.tools.result import (
    EffectClass,
    ToolCall,
    ToolGroup,
    ToolResult,
    cut_middle,
    failure,
    failure_of,
    fitted,
    plain_result,
    result_from_plain,
    result_to_plain,
)
from domain.llm.web_search import WEB_SEARCH
from shared.errors import CircuitAIError, EnvironmentProblem, Stopped, UserInputError, internal_error
from shared.late_patterns import late_pattern
from shared.message import Message, msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.ports.project import OperationRecord

WorkflowNode = Literal[
    "free_work", "asking", "design_goals", "initial_design", "simulation", "analysis", "action"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """Tools of these categories whose effect is one of these."""

    categories: frozenset[Category]
    effects: frozenset[EffectClass]
    without: frozenset[ToolGroup] = frozenset()
    """Groups of tools that would be right by their class but not for this node's task."""
    has_servers: bool = False
    """Tools of the user's servers are among them: what those do, nobody but their servers knows."""


_ALL: frozenset[Category] = frozenset({"file", "search", "simulation", "report"})

SUBSETS: dict[WorkflowNode, Subset] = {
    "free_work": Subset(
        categories=_ALL,
        effects=frozenset({"read", "create", "change", "delete", "simulate", "outside"}),
        has_servers=True,
    ),
    "asking": Subset(categories=_ALL, effects=frozenset({"read", "outside"})),
    "design_goals": Subset(categories=frozenset({"file", "search"}), effects=frozenset({"read"})),
    "initial_design": Subset(
        categories=frozenset({"file", "search", "simulation"}),
        effects=frozenset({"read", "create", "change", "simulate"}),
        without=frozenset({"move", "study", "goals", "verdict"}),
        has_servers=True,
    ),
    "simulation": Subset(
        categories=frozenset({"simulation", "search"}), effects=frozenset({"read", "simulate"})
    ),
    "analysis": Subset(
        categories=_ALL,
        effects=frozenset({"read", "simulate", "create"}),
    ),
    "action": Subset(
        categories=frozenset({"file", "search", "simulation"}),
        effects=frozenset({"read", "create", "change", "simulate"}),
        without=frozenset({"move", "goals"}),
        has_servers=True,
    ),
}


def tools_of(node: WorkflowNode, tools: Iterable[Tool[Any]]) -> tuple[Tool[Any], ...]:
    """Those of `tools` a model has in this node, in the same order."""
    subset = SUBSETS[node]
    return tuple(
        tool
        for tool in tools
        if (
            subset.has_servers
            if tool.category == "server"
            else tool.category in subset.categories and tool.effect in subset.effects
        )
        and not tool.groups & subset.without
    )


__all__ = ["ToolExecutor", "result_from_plain", "result_to_plain"]

_log = logging.getLogger(__name__)
_HAPPENED = ("done", "undone")
_TAKES_BACK = late_pattern(r"undo|revert|roll_?back", re.IGNORECASE)
"""Of a name that models give a tool there is none of: people undo, a model writes what was there."""
_UNLOGGED: frozenset[EffectClass] = frozenset({"read", "outside"})
"""Effect classes of which no operation is kept: nothing of the project changes."""
_NOT_FOR_THE_MODEL = frozenset({"disk_full", "damaged", "newer_version"})
"""Problems of the disk or of our own database: no further effect could be logged."""


class ToolExecutor:
    """All tools, by name."""

    def __init__(self, tools: Iterable[Tool[Any]]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._schemas: dict[tuple[WorkflowNode, ToolSet], tuple[dict[str, Any], ...]] = {}
        self._extended: tuple[tuple[Tool[Any], ...], ToolExecutor] | None = None

    def with_tools(self, more: tuple[Tool[Any], ...]) -> ToolExecutor:
        """These tools and `more`; made once for the same ones."""
        if not more:
            return self
        if self._extended is None or self._extended[0] is not more:
            self._extended = more, ToolExecutor((*self._tools.values(), *more))
        return self._extended[1]

    def schemas(
        self,
        node: WorkflowNode = "free_work",
        *,
        without: Collection[str] = (),
        tool_set: ToolSet = "all",
    ) -> tuple[dict[str, Any], ...]:
        """The tools a model is shown in a node, in OpenAI's form; made once, some ten milliseconds.

        `without` names tools that are switched off. Of "core" only the most needed are shown, in few words,
        with one by which the others are reached.
        """
        if tool_set == "none":
            return ()
        made = self._schemas.get((node, tool_set))
        if made is None:
            here = [tool for tool in tools_of(node, self._tools.values()) if tool.name != OTHER_TOOL]
            if tool_set == "all":
                made = tuple(tool.schema for tool in here)
            else:
                shown = [tool for tool in here if tool.is_core or tool.name == WEB_SEARCH]
                others = tuple(tool for tool in here if tool not in shown)
                shown += [other_tool(others)] if others else []
                made = tuple(tool.brief_schema for tool in shown)
            self._schemas[node, tool_set] = made
        return tuple(schema for schema in made if schema["function"]["name"] not in without)

    @property
    def tools(self) -> tuple[Tool[Any], ...]:
        """All tools, in the order in which they are shown."""
        return tuple(self._tools.values())

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._tools)

    @property
    def names_for_rules(self) -> frozenset[str]:
        """Of the tools a rule can hold for: a call through `other_tool` is judged as the tool it means."""
        return self.names - {OTHER_TOOL}

    def own_call(self, call: ToolCall) -> ToolCall:
        """The call under the name of the tool that is meant, with arguments as they are named here."""
        if call.name in self._tools and call.name != OTHER_TOOL:
            return call
        name, arguments = own_call(call.name, call.arguments)
        return replace(call, name=name, arguments=arguments) if name in self._tools else call

    def names_in(self, node: WorkflowNode) -> frozenset[str]:
        """Of the tools a model has in a node."""
        return frozenset(tool.name for tool in tools_of(node, self._tools.values()))

    def tool(self, name: str) -> Tool[Any] | None:
        """The tool of this name, or of another one that it has."""
        return self._tools.get(name) or self._tools.get(own_name(name))

    def effect_of(self, name: str) -> EffectClass:
        """The effect class of a tool; "read" for an unknown one (it will only be refused)."""
        tool = self.tool(name)
        if tool is None:
            return "outside" if is_of_server(name) else "read"
        return tool.effect

    def is_limited(self, name: str) -> bool:
        """Whether calls of a tool count against the limit of an answer: those that only look do not."""
        return self.effect_of(name) != "read"

    def groups_of(self, name: str) -> frozenset[ToolGroup]:
        """The groups of a tool; none for an unknown one."""
        tool = self.tool(name)
        return frozenset() if tool is None else tool.groups

    async def execute(self, call: ToolCall, context: ToolContext) -> ToolResult:
        """Run a call; idempotent by its id. Never raises for what a model or a file did wrong.

        A call whose operation is already done gives its stored result. Only cancellation (the effect
        is then whole or none) and a full disk or a broken database (EnvironmentProblem of the log)
        come out as exceptions.
        """
        result = _presentable(await self._executed(self.own_call(call), context), context.room)
        context.seen_versions.update(result.seen_versions)
        return result

    async def settle(self, call: ToolCall, context: ToolContext, *, reason: str) -> ToolResult:
        """The result of a call that was interrupted: what the log knows, or "not run"; runs nothing.

        `reason` is "stopped" or "interrupted" (the program was killed) and becomes the error_type of
        calls without effect.
        """
        if self.effect_of(call.name) not in _UNLOGGED:
            stored = _stored(await context.operations.settle(call.call_id))
            if stored is not None:
                context.seen_versions.update(stored.seen_versions)
                return stored
        if is_of_server(call.name):
            message = msg(
                "{tool} was interrupted; its server may have done what it was asked all the same.",
                tool=call.name,
            )
        elif reason == "stopped":
            message = msg("{tool} was stopped before it finished; it changed nothing.", tool=call.name)
        else:
            message = msg("{tool} was interrupted before it finished; it changed nothing.", tool=call.name)
        return _presentable(
            failure(reason, message, suggestions=(msg("Call it again if it is still needed."),))
        )

    def rejection(self, call: ToolCall) -> ToolResult | None:
        """The failure of a call that cannot be run at all: an unknown tool, wrong arguments."""
        found = self._checked(self.own_call(call))
        return found if isinstance(found, ToolResult) else None

    def unknown(self, name: str, offered: Collection[str]) -> ToolResult:
        """The result of a call of a tool there is none of; `offered`: those the model may call here."""
        return _presentable(
            _unknown_tool(name, [each for each in self._tools if each in offered and each != OTHER_TOOL])
        )

    def _checked(self, call: ToolCall) -> tuple[Tool[Any], Any] | ToolResult:
        tool = self._tools.get(call.name)
        if tool is None:
            return _unknown_tool(call.name, self._tools)
        if call.problem:
            return _bad_arguments(tool, call.problem)
        try:
            return tool, tool.read_arguments(call.arguments)
        except BadArgumentsError as error:
            return _bad_arguments(tool, str(error))

    async def _executed(self, call: ToolCall, context: ToolContext) -> ToolResult:
        found = self._checked(call)
        if isinstance(found, ToolResult):
            return found
        tool, arguments = found
        if tool.effect not in _UNLOGGED:
            stored = await self._already_done(call, context)
            if stored is not None:
                return stored
        try:
            return await self._run(tool, arguments, context, call)
        except TimeoutError:
            return await self._after_timeout(tool, call, context)
        except Stopped:
            raise
        except CircuitAIError as error:
            if isinstance(error, EnvironmentProblem) and error.error_type in _NOT_FOR_THE_MODEL:
                raise
            return failure_of(error)
        except Exception as error:  # noqa: BLE001 - the last resort: a bug ends this call, not the run
            _log.exception("The tool %s failed.", tool.name)
            return failure(
                "internal",
                internal_error(error),
                suggestions=(msg("Try another way; calling it again will most likely fail again."),),
            )

    async def _run(self, tool: Tool[Any], arguments: Any, context: ToolContext, call: ToolCall) -> ToolResult:
        """Past the gate, and within the tool's time."""
        if context.gate is not None:  # before the time begins to run: it may wait for a person
            refused = await context.gate(tool, arguments, context, call)
            if refused is not None:
                return refused
        async with asyncio.timeout(tool.timeout_s):
            return await tool.run(arguments, context, call)

    async def _already_done(self, call: ToolCall, context: ToolContext) -> ToolResult | None:
        """The stored result of a call that has had its effect, also one that was interrupted after it."""
        record = await context.operations.find(call.call_id)
        if record is not None and record.state == "intent":
            record = await context.operations.settle(call.call_id)
        return _stored(record)

    async def _after_timeout(self, tool: Tool[Any], call: ToolCall, context: ToolContext) -> ToolResult:
        """A result even so: an effect that was under way has been waited for and is recorded."""
        if tool.effect not in _UNLOGGED:
            stored = await self._already_done(call, context)
            if stored is not None:
                return stored
        return failure(
            "timeout",
            msg(
                "{tool} was ended after {seconds} s without a result.", tool=tool.name, seconds=tool.timeout_s
            ),
            suggestions=(msg("Ask for less at once: one file, a part of it, or a simpler search."),),
        )


def _stored(record: OperationRecord | None) -> ToolResult | None:
    if record is None or record.state not in _HAPPENED or record.result is None:
        return None
    return result_from_plain(record.result)


def _unknown_tool(name: str, tools: Collection[str]) -> ToolResult:
    shown = _encodable(name[:60])
    near = difflib.get_close_matches(name[:60].lower(), tools, n=3, cutoff=0.5)
    if _TAKES_BACK.search(name[:60]) and "patch_file" in tools:
        advice = msg(
            "To undo a change of yours write the former text again with patch_file: it is in the "
            "result of the change, and read_file tells it with changes_since."
        )
    elif near:
        advice = msg("Did you mean {names}?", names=", ".join(near))
    else:
        advice = msg("Available tools: {names}.", names=", ".join(tools))
    return failure("unknown_tool", msg("There is no tool named {name}.", name=shown), suggestions=(advice,))


def _bad_arguments(tool: Tool[Any], problems: str) -> ToolResult:
    found = failure(
        "bad_arguments",
        msg(
            "The arguments of {tool} cannot be used: {problems}.",
            tool=tool.name,
            problems=problems.removesuffix("."),
        ),
        suggestions=(msg("Its arguments are: {arguments}.", arguments=tool.usage),),
    )
    # What is wrong is told in English to the model; people are told that it was.
    return replace(found, summary=msg("{tool} was called with arguments it does not take.", tool=tool.name))


def _presentable(result: ToolResult, room: ResultRoom = USUAL_ROOM) -> ToolResult:
    """The result within the limits, in plain JSON types, without characters no database can hold."""
    return replace(
        result,
        content=cut_middle(_encodable(result.content), room.characters, room.tokens),
        result=fitted(_without_surrogates(plain_result(result))),
    )


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            return _encodable(value)
        case dict():
            return {_encodable(key): _without_surrogates(item) for key, item in value.items()}
        case list():
            return [_without_surrogates(item) for item in value]
        case _:
            return value


Confirm = Callable[[ConfirmationCard], Awaitable[Answers]]
"""Puts a card to the user; a call without an answer counts as refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who makes calls one by one, for as long as he does."""

    session_id: str
    """What his calls are logged under."""
    is_person: bool
    """Not a model: he is asked about less, and sees what a model on the network does not."""
    way_to_allow: Message
    """What he can do about a call that needs confirmation where nobody can be asked."""
    seen_versions: MutableMapping[str, str] = field(default_factory=dict)
    """Relative path -> version hash of what he has read or written."""
    touched: set[str] = field(default_factory=set)
    """Files he has changed since something was allowed last."""


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


class SingleCalls:
    """The gate of calls that come one by one, each asked about at once where it has to be confirmed."""

    def __init__(self, judging: Judging, confirm: Confirm | None, caller: Caller) -> None:
        self._judging = judging
        self._confirm = confirm
        self._caller = caller

    async def __call__(
        self, tool: Tool[Any], arguments: Any, context: ToolContext, call: ToolCall
    ) -> ToolResult | None:
        """None when the call may run, else its result. Raises UserInputError for unreadable permissions."""
        caller = self._caller
        effect = await effect_of(tool, arguments, context)
        root = context.project.root
        known = Circumstances(is_by_hand=caller.is_person, files_before=len(caller.touched))
        judged = await self._judging.judge(call, effect, root, known)
        if judged.verdict.decision == "deny":
            return forbidden(tool.name, judged.verdict.rule)
        if judged.verdict.decision == "ask":
            card = ConfirmationCard(card_id=new_ulid(), calls=(judged.on_card(),))
            if self._confirm is None:
                return refusal(tool.name, CardAnswer(word="unasked"), way_to_allow=caller.way_to_allow)
            answers = await self._confirm(card)
            answer = answers.get(call.call_id, CardAnswer(word="refuse"))
            if not answer.is_allowed:
                return refusal(tool.name, answer)
            await self._judging.remember(root, card, answers)
            caller.touched.clear()
            now = await effect_of(tool, arguments, context)
            if not now.is_same_as(effect):
                return changed_since(tool.name)
        if effect.effect not in ("read", "simulate", "create"):
            caller.touched.update(path.path for path in effect.paths)
        return None
