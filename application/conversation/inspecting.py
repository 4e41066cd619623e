"""What the next message of a conversation would be sent with, part by part, and how large each part is.

Made by the functions that make the request, from the same files, so it is what a model gets; counted by
`domain.llm.tokens`, so where no vocabulary counts it is an estimate (within some 8 % of cl100k). Nothing is
sent, written or locked.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from application.graph import AGENT
from domain.llm.chat import ModelAbilities, ModelRoom, ProviderChoice, room_of
from domain.llm.provider_settings import BUILTIN
from domain.llm.tokens import PER_MESSAGE, Counter, count_tokens, image_size, image_tokens
from domain.llm.web_search import WEB_SEARCH
from shared import paths
from shared.message import Message, msg
from shared.uninterrupted import imported, in_pieces

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from application.agent.request import Sent
    from application.conversation.prompting import Prompting
    from application.conversation.turn_deps import EditorState
    from application.ports.conversation import ChatModels
    from application.ports.project import ProjectFiles, Projects
    from application.tool_execution.definition import ToolContext, ToolServices
    from application.tool_execution.executor import ToolExecutor, WorkflowNode
    from domain.llm.agent_limits import AgentLimits
    from domain.llm.context_block import ContextShares
    from domain.llm.conversation_record import ConversationRecord
    from domain.llm.prompts.catalogue import TaskName
    from shared.cpu_executor import CpuTaskExecutor

PartKind = Literal["system", "tools", "project", "history", "pictures"]
"""In the order of the request; pictures lie in the history and are counted apart."""

_COUNTED_AT_ONCE = 60_000
"""Characters; more are counted in a worker process (65 ns each)."""
_PICTURE_TOKENS = 765
"""Of a picture whose size is not known: 1024 x 1024."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextEntry:
    """One message, tool or picture."""

    title: Message
    text: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPart:
    """Entries of one kind."""

    kind: PartKind
    entries: tuple[ContextEntry, ...]

    @property
    def tokens(self) -> int:
        return sum(entry.tokens for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReport:
    """What would be sent with the next message, which itself is not in it."""

    parts: tuple[ContextPart, ...]
    left_out: int
    """Earlier turns that are not sent any more."""
    abilities: ModelAbilities
    """Of the model that would answer; `context_tokens` is the size of its window, None when not known."""
    is_exact: bool = False
    """Texts were counted with the model's own vocabulary."""

    @property
    def tokens(self) -> int:
        return sum(part.tokens for part in self.parts)

    def of(self, kind: PartKind) -> int:
        """Tokens of one part; 0 when it is not there."""
        return sum(part.tokens for part in self.parts if part.kind == kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """What a design asks its model next, and how (`application/workflow/next_step.py`)."""

    task: TaskName
    text: str
    """What stands in the user's place."""
    values: Mapping[str, Any]
    """Of the task's template."""
    circuit: str = ""
    node: WorkflowNode | None = None
    """Whose tools go with it; None: a question by itself, without the conversation before it."""
    said: str = ""
    """What the user has said by then, a message of its own."""


@dataclass(frozen=True, slots=True)
class _Raw:
    kind: PartKind
    title: Message
    text: str
    extra: int = 0
    """Tokens besides those of the text."""
    is_counted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InspectContext:
    """The use case behind the context meter and the tab Context."""

    projects: Projects
    plain_folder: Callable[[Path], ProjectFiles]
    """Makes the project object of a folder that is none yet; nothing is written there."""
    models: ChatModels
    prompts: Prompting
    executor: Callable[[], ToolExecutor]
    tools: ToolServices
    """What the project's data are collected with."""
    cpu: CpuTaskExecutor
    limits: Callable[[], AgentLimits]
    next_step: Callable[..., Awaitable[NextStep]]
    """`application.workflow.next_step.next_step`, which builds on this room."""
    searches_web: Callable[[ProviderChoice], bool] = lambda _choice: False
    """Whether the general web search goes with a choice; blocking."""
    shares: Callable[[], ContextShares | None] = lambda: None
    """How the data of a message are divided; None: as usual."""
    exact: Callable[[str], Counter | None] = lambda _model: None
    """What counts exactly for a model; blocking."""

    async def __call__(
        self,
        root: Path,
        *,
        session_id: str,
        choice: ProviderChoice,
        main_circuit: str = "",
        editor: EditorState | None = None,
        words: str = "",
        reads_only: bool = False,
        in_design: bool = False,
    ) -> ContextReport:
        """Everything that goes with the next message; `session_id` "" for a conversation not begun yet.

        `reads_only`: with the tools that only read. `in_design`: what a design would send next, in the step
        behind its question, or where goals are read if none is open. `editor` is what the user has in front,
        `words` what stands in the message so far.

        Raises UserInputError ("no_session", an unknown provider), EnvironmentProblem.
        """
        await in_pieces(imported(AGENT))
        files = await asyncio.to_thread(self._open, root)
        try:
            events = await asyncio.to_thread(_events, files, session_id)
            abilities = await self.models.abilities(choice)
            room = room_of(abilities)
            is_searching = await asyncio.to_thread(self.searches_web, choice)
            is_searching = is_searching and not in_design
            withheld = frozenset[str]() if is_searching else frozenset({WEB_SEARCH})
            record, context = await self._known(files, events, session_id, choice)
            step = None
            if in_design and choice.provider != BUILTIN:
                step = await self.next_step(context, record, events, words=words, room=room)
                words = step.text
            node = step.node if step is not None else "asking" if reads_only else "free_work"
            schemas: tuple[dict[str, Any], ...] = ()
            if node is not None:
                schemas = await asyncio.to_thread(
                    self.executor().schemas, node, without=withheld, tool_set=room.tool_set
                )
            sent = await self._request(
                context,
                record,
                events,
                choice=choice,
                room=room,
                main=main_circuit if step is None else step.circuit,
                editor=editor,
                words=words,
                schemas=schemas,
                step=step,
            )
        finally:
            await asyncio.to_thread(files.close)
        raws = await asyncio.to_thread(_raws, sent.messages, schemas, words)
        exact = await asyncio.to_thread(self.exact, choice.model)
        counts = await self._counted([raw.text for raw in raws if raw.is_counted], exact)
        given = iter(counts)
        parts: dict[PartKind, list[ContextEntry]] = {}
        for raw in raws:
            tokens = raw.extra + (next(given) if raw.is_counted else 0)
            entry = ContextEntry(title=raw.title, text=raw.text, tokens=tokens)
            parts.setdefault(raw.kind, []).append(entry)
        order: tuple[PartKind, ...] = ("system", "tools", "project", "history", "pictures")
        return ContextReport(
            parts=tuple(
                ContextPart(kind=kind, entries=tuple(parts[kind])) for kind in order if kind in parts
            ),
            left_out=sent.left_out,
            abilities=abilities,
            is_exact=exact is not None,
        )

    def _open(self, root: Path) -> ProjectFiles:
        return self.projects.open(root) if paths.is_project(root) else self.plain_folder(root)

    async def _known(
        self,
        files: ProjectFiles,
        events: Sequence[Mapping[str, Any]],
        session_id: str,
        choice: ProviderChoice,
    ) -> tuple[ConversationRecord, ToolContext]:
        """The conversation as its transcript tells it, and what the project's data are collected with."""
        from application.tool_execution.definition import ToolContext
        from application.tool_execution.operations import Operations
        from domain.llm.conversation_record import ConversationRecord

        record = ConversationRecord(session_id)
        await asyncio.to_thread(record.take_all, events)
        context = ToolContext(
            project=files,
            session_id=session_id,
            operations=Operations(log=files.operations, project=files),
            services=self.tools,
            seen_versions=record.seen_versions,
            shown_versions=record.shown_versions,
            said=record.said,
            replaced_calls=record.replaced_calls,
            is_on_network=bool(await asyncio.to_thread(self.models.destination, choice)),
        )
        return record, context

    async def _request(
        self,
        context: ToolContext,
        record: ConversationRecord,
        events: Sequence[Mapping[str, Any]],
        *,
        choice: ProviderChoice,
        room: ModelRoom,
        main: str,
        editor: EditorState | None,
        words: str,
        schemas: Sequence[Mapping[str, Any]],
        step: NextStep | None,
    ) -> Sent:
        """The messages as the agent's loop would send them: system, earlier turns, the new message."""
        from langchain_core.messages import AIMessage, HumanMessage

        from application.agent.attachment_context import Attached
        from application.agent.request import (
            Sent,
            compressions_of,
            messages_for,
            tokens_of,
            with_rule_of_calls,
        )
        from application.conversation.project_context import project_context
        from domain.llm.context_block import USUAL, context_budget
        from domain.llm.messages import get_timestamp

        files, is_away = context.project, context.is_on_network
        shares = self.shares() or USUAL
        given = ""
        if step is None:
            system = await self.prompts.system_message(files, main_circuit=main, wording=room.wording)
        else:
            made = await self.prompts.step_prompt(
                files,
                task=step.task,
                values=step.values,
                main_circuit=main,
                wording="no_tools" if step.node is None else room.wording,
            )
            system, given = made.message(), made.given
            if step.node is None:
                alone = [system, HumanMessage(content=made.beside(words))]
                return Sent(messages=alone, tokens=tokens_of(alone), least=tokens_of(alone))
        # The message that is to come makes the newest turn an earlier one.
        answered = (get_timestamp(each) for each in reversed(record.messages) if isinstance(each, AIMessage))
        block = await project_context(
            context,
            words,
            main_circuit=main,
            budget=context_budget(room.window, shares),
            shares=shares,
            editor=editor if step is None else None,
            events=events,
            last_answered=next(answered, ""),
            is_brief=choice.provider == BUILTIN or step is not None,
        )
        described = with_rule_of_calls(block.text, self.limits().calls_per_answer) if schemas else block.text
        described = "\n".join(filter(None, [described, given]))
        materials = await Attached(files, self.models, is_on_network=is_away).of(
            record.messages, running=(), choice=choice, is_short=False
        )
        listed = json.dumps(schemas, ensure_ascii=False)
        earlier: Sequence[BaseMessage] = record.messages if choice.provider != BUILTIN else ()
        if step is not None and step.said:
            earlier = [*earlier, HumanMessage(content=step.said)]
        return await asyncio.to_thread(
            lambda: messages_for(
                [HumanMessage(content=words)],
                earlier,
                context=described,
                system=system,
                room=room,
                tokens=room.request_tokens - count_tokens(listed),
                attached=materials.of_message,
                history_share=shares.history_percent / 100,
                compressions=compressions_of(record, earlier) if choice.provider != BUILTIN else (),
            )
        )

    async def _counted(self, texts: Sequence[str], exact: Counter | None) -> list[int]:
        if exact is not None:  # it holds no interpreter lock, and cannot go to another process
            return await asyncio.to_thread(lambda: [exact(text) for text in texts])
        if sum(map(len, texts)) <= _COUNTED_AT_ONCE:
            return await asyncio.to_thread(_count_all, texts)
        return await self.cpu.run(_count_all, texts)


def report_to_plain(report: ContextReport, translate: Callable[[Message], str]) -> dict[str, Any]:
    return {
        "tokens_estimated": report.tokens,
        "is_exact": report.is_exact,
        "window_tokens": report.abilities.context_tokens,
        "turns_left_out": report.left_out,
        "parts": [
            {
                "kind": part.kind,
                "tokens": part.tokens,
                "entries": [
                    {"title": translate(entry.title), "tokens": entry.tokens, "text": entry.text}
                    for entry in part.entries
                ],
            }
            for part in report.parts
        ],
    }


def _events(files: ProjectFiles, session_id: str) -> Sequence[Mapping[str, Any]]:
    return files.sessions.read(session_id).events if session_id else ()


def _raws(messages: Sequence[BaseMessage], schemas: Sequence[Mapping[str, Any]], words: str) -> list[_Raw]:
    """The parts of a request: `messages` begin with the system's and end with the new one of `words`."""
    from domain.llm.messages import get_text

    system, *history, new = messages
    raws = [_Raw("system", msg("System message"), get_text(system), PER_MESSAGE)]
    for schema in schemas:
        name = str(schema.get("function", {}).get("name", ""))
        raws.append(_Raw("tools", msg("{text}", text=name), json.dumps(schema, ensure_ascii=False)))
    described = get_text(new).removesuffix(words).removesuffix("\n\n")
    if described:  # not with a question by itself
        raws.append(_Raw("project", msg("About the project"), described))
    for message in history:
        raws.append(_Raw("history", _title_of(message), _text_of(message), PER_MESSAGE))
        raws += _pictures_of(message)
    return raws


def _title_of(message: BaseMessage) -> Message:
    match message.type:
        case "human":
            return msg("You")
        case "tool":
            return msg("Result of {tool}", tool=message.name or "")
    return msg("Answer")


def _text_of(message: BaseMessage) -> str:
    from domain.llm.messages import get_text

    calls = getattr(message, "tool_calls", ())
    written = [
        f"{call['name']}({json.dumps(call['args'], ensure_ascii=False, default=str)})" for call in calls
    ]
    return "\n".join(part for part in (get_text(message), *written) if part)


def _pictures_of(message: BaseMessage) -> list[_Raw]:
    content = message.content
    if isinstance(content, str):
        return []
    found = []
    for part in content:
        data = part.get("data") if isinstance(part, dict) and part.get("type") == "image" else None
        if isinstance(data, bytes):
            size = image_size(data)
            tokens = _PICTURE_TOKENS if size is None else image_tokens(*size)
            shown = "" if size is None else f"{size[0]} x {size[1]}"
            found.append(_Raw("pictures", msg("Picture"), shown, tokens, is_counted=False))
    return found


def _count_all(texts: Sequence[str]) -> list[int]:
    return [count_tokens(text) for text in texts]
