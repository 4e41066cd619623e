"""Which goals a sentence asks of a circuit that is there, as the built-in designer reads it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from application.workflow.wording import language_of
from domain.design.goal_extraction import GoalsRead, read_answer
from domain.design.goal_words import in_words_of
from domain.design.sentence import LONGEST_REQUEST
from domain.llm.chat import ProviderChoice
from domain.llm.tools.result import ToolCall
from shared.errors import UserInputError
from shared.uninterrupted import imported, in_pieces, off_loop

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from application.conversation.chatting import ChatWithModel
    from application.ports.project import Projects
    from application.tool_execution.definition import ToolContext

_ASKED_WITH = ("langchain_core.messages", "application.tool_execution.tools.circuits")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadGoals:
    """Reads without changing anything, and without a language model."""

    projects: Projects
    chat: Callable[[], ChatWithModel]

    async def __call__(self, root: Path, circuit: str, text: str) -> GoalsRead:
        """What `text` asks of a circuit (relative to `root`); its `reply` says what could not be read.

        Raises UserInputError for a circuit that cannot be read.
        """
        await in_pieces(imported(_ASKED_WITH))
        from application.tool_execution.definition import ToolContext
        from application.tool_execution.operations import Operations

        deps = self.chat().deps
        files = await off_loop(lambda: self.projects.open(root, create=True))
        try:
            context = ToolContext(
                project=files,
                session_id="",
                operations=Operations(log=files.operations, project=files),
                services=deps.services,
            )
            request = await goals_request(context, circuit, text[:LONGEST_REQUEST])
        finally:
            await off_loop(files.close)
        from domain.llm.messages import get_text

        said = list[str]()
        async with deps.models.open(ProviderChoice()) as model:
            stream = model.astream(request, json_mode=True)
            async with aclosing(cast("Any", stream)) as chunks:
                async for chunk in chunks:
                    said.append(get_text(chunk))
        read = read_answer("".join(said))
        goals = await asyncio.to_thread(in_words_of, read.goals, text)
        return replace(read, goals=goals)


async def goals_request(context: ToolContext, circuit: str, text: str) -> list[BaseMessage]:
    """What the built-in designer is asked for the goals that a text asks of a circuit of the project.

    Raises UserInputError for a circuit that cannot be read.
    """
    from langchain_core.messages import HumanMessage, SystemMessage

    brief: dict[str, Any] = {
        **await described_circuit(context, circuit),
        "task": "EXTRACT_DESIGN_GOALS",
        "intent": {"family": "", "parameters": {}, "language": language_of(text)},
    }
    return [SystemMessage(content=json.dumps(brief)), HumanMessage(text)]


async def described_circuit(context: ToolContext, circuit: str) -> dict[str, str]:
    """A circuit with its outline, as analyze_file tells it. Raises UserInputError when it cannot be read."""
    from application.tool_execution.tools.circuits import AnalyzeArguments, analyze_file

    content = await asyncio.to_thread(context.project.read, context.project.root / circuit)
    call = ToolCall(call_id="", name="analyze_file", arguments={"path": circuit})
    told = await analyze_file(AnalyzeArguments(path=circuit), context, call)
    if not told.success:
        raise UserInputError(told.summary, file=context.project.root / circuit, error_type=told.error_type)
    return {"circuit": circuit, "netlist": content.decode("utf-8", "replace"), "outline": told.content}
