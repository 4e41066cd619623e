"""One project as a server of the Model Context Protocol: tools, resources (its texts and runs), prompts.

What a model does here goes the same way as in a conversation of our own: effects are logged and can be
undone, rules of the project hold, ngspice is confined, what ``.circuitaiignore`` names is kept back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote

import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from application.app import Application
from application.tool_execution.executor import Caller
from application.tool_execution.mcp_form import result_to_mcp, tool_to_mcp
from application.tool_execution.other_names import OTHER_TOOL
from domain.llm.tools.result import failure_of
from presentation import VERSION
from presentation.mcp.asking import Asking, Context
from presentation.ready_sentences import READY_SENTENCES, Gap
from shared.errors import CircuitAIError, UserInputError
from shared.local_time import local_time
from shared.message import Message, msg

T = TypeVar("T")

SESSION_ID = "mcp"
"""What calls of other programs are logged under."""
_FILE, _RUN = "circuit:///", "run:///"
_MOST_RUNS = 20
_INSTRUCTIONS = (
    "Circuit Design AI: SPICE circuits of one project, simulated by ngspice in a box. Simulate after every "
    "change and tell figures only from results. Every change can be undone by the user. What deletes or "
    "overwrites is confirmed by the user first. Paths are relative to the project."
)


class ProjectServer:
    """The server of one project for one client."""

    def __init__(self, app: Application, root: Path, translate: Callable[[Message], str]) -> None:
        self._app = app
        self._root = root
        self._translate = translate
        self._asking = Asking(translate=translate)
        self._caller = Caller(
            session_id=SESSION_ID,
            is_person=False,
            way_to_allow=msg(
                "Tell the user what you wanted to do. It can be allowed for this project in the window, or "
                "asked about by a client that supports elicitation."
            ),
        )
        self._turn = asyncio.Lock()
        """Calls of one model are taken one after the other, as in a conversation."""

        self.server: Server[dict[str, Any]] = Server(
            "circuit-design-ai",
            title="Circuit Design AI",
            version=VERSION,
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def serve(self) -> None:
        """Answer on standard input and output until the client closes them."""
        async with stdio_server() as (incoming, outgoing):
            await self.server.run(incoming, outgoing, self.server.create_initialization_options())

    async def _list_tools(self, _context: Context, _params: object) -> types.ListToolsResult:
        tools = [tool for tool in self._app.conversations.run_tool.executor.tools if tool.name != OTHER_TOOL]
        made = [types.Tool.model_validate(tool_to_mcp(tool, self._translate)) for tool in tools]
        return types.ListToolsResult(tools=made)

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        inquiry = self._asking.about(context, params)
        async with self._turn:
            try:
                result = await self._app.conversations.run_tool(
                    params.name,
                    params.arguments or {},
                    project=self._root,
                    confirm=inquiry.confirm,
                    caller=self._caller,
                )
            except CircuitAIError as error:
                result = failure_of(error)
        if inquiry.question is not None:
            return inquiry.question
        return types.CallToolResult.model_validate(result_to_mcp(result))

    async def _list_resources(self, _context: Context, _params: object) -> types.ListResourcesResult:
        files = await _told(self._app.project.share.files(self._root))
        runs = await _told(self._app.project.browse.results(self._root))
        listed = [
            types.Resource(
                uri=f"{_FILE}{quote(each.name)}",
                name=each.name,
                size=each.size,
                mime_type="text/x-spice" if each.is_netlist else "text/plain",
            )
            for each in files
        ]
        for run in runs[:_MOST_RUNS]:
            when = local_time(run.created)
            told = msg(
                "Run {number} of {circuit}, {time}",
                number=run.number,
                circuit=run.circuit.name,
                time=run.created if when is None else f"{when:%Y-%m-%d %H:%M}",
            )
            title = self._translate(told)
            listed.append(types.Resource(uri=f"{_RUN}{run.number}", name=title, mime_type="text/plain"))
        return types.ListResourcesResult(resources=listed)

    async def _read_resource(
        self, _context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        text = await _told(self._text_of(uri))
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=text)])

    async def _text_of(self, uri: str) -> str:
        if uri.startswith(_FILE):
            return await self._app.project.share.text(self._root, unquote(uri.removeprefix(_FILE)))
        number = uri.removeprefix(_RUN)
        if not (uri.startswith(_RUN) and number.isdecimal()):
            raise UserInputError(
                msg("There is no resource {uri}.", uri=uri),
                advice=msg("Resources are named circuit:///FILE and run:///NUMBER."),
                error_type="file_not_found",
            )
        result = await self._app.conversations.run_tool(
            "inspect_data", {"path": f"run {number}"}, project=self._root, caller=self._caller
        )
        if result.error_message is not None:
            raise UserInputError(result.error_message, error_type=result.error_type)
        return result.content

    async def _list_prompts(self, _context: Context, _params: object) -> types.ListPromptsResult:
        argument = types.PromptArgument(
            name="circuit", description=self._translate(msg("A circuit of the project.")), required=True
        )
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=each.word,
                    title=self._translate(each.text),
                    arguments=[argument, *map(self._argument, each.gaps)],
                )
                for each in READY_SENTENCES
            ]
        )

    def _argument(self, gap: Gap) -> types.PromptArgument:
        label, usual = self._translate(gap.label), "" if gap.usual is None else self._translate(gap.usual)
        told = f"{label} ({usual})" if usual else label
        return types.PromptArgument(name=gap.name, description=told, required=not usual)

    async def _get_prompt(
        self, _context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        ready = next((each for each in READY_SENTENCES if each.word == params.name), None)
        if ready is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt named {params.name}.")
        said = {name: text.strip() for name, text in (params.arguments or {}).items()}
        gaps = {gap.name: said.get(gap.name) or gap.usual for gap in ready.gaps}
        given = {"circuit": said.get("circuit"), **gaps}
        missing = [name for name, value in given.items() if not value]
        if missing:
            raise MCPError(types.INVALID_PARAMS, f"Specify the {missing[0]}.")
        text = self._translate(ready.sentence(**given))
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


async def _told(work: Awaitable[T]) -> T:
    """What comes of `work`; a problem of ours is told as an error of the protocol, in words."""
    try:
        return await work
    except CircuitAIError as error:
        advice = "" if error.advice is None else f" {error.advice}"
        raise MCPError(types.INVALID_PARAMS, f"{error.message}{advice}") from error
