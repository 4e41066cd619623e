"""One server of the Model Context Protocol, connected: its tools as it tells of them, and calls of them.

The server is not believed: it has a time for each answer, its list ends at a count, what it asks of us
(answers of a model, the user's words, folders) is refused, and the schema it promises for its answers is
not applied (a pattern in it could hold the program up).
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from mcp import ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client

from application.ports.tool_servers import ServerAnswer
from domain.llm.service import NetworkSettings
from domain.llm.tool_servers import MOST_TOOLS, OfferedTool, ToolServer, clean_text
from infrastructure.tool_servers.http import BodyLimit, new_client
from infrastructure.tool_servers.stdio import LARGEST_MESSAGE, StdioLink, stdio_streams
from shared.errors import CircuitAIError, EnvironmentProblem, UserInputError
from shared.message import Message, msg
from shared.processes import ProcessManager
from shared.redaction import register_secret

_MOST_PAGES = 20
_LONGEST_ANSWER = 200_000
"""Characters of an answer that are handed on; a result has far less room still."""
_LONGEST_REASON = 300
_USUAL = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""Variables of our environment that a server has too: none of them is a key."""

for _name in ("client", "mcp"):  # they write what servers send into the log
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class _Session(ClientSession):
    """A session that takes answers as they are."""

    async def validate_tool_result(self, name: str, result: types.CallToolResult) -> None:
        """Not done: the schema is the server's, and compiling or matching it may take for ever."""


class Connection:
    """Implements application.ports.tool_servers.ServerConnection."""

    def __init__(self, name: str, session: ClientSession, link: StdioLink, limit: BodyLimit) -> None:
        self.tools: tuple[OfferedTool, ...] = ()
        self._name = name
        self._session = session
        self._link = link
        self._limit = limit
        self._is_given_up = False

    @property
    def is_open(self) -> bool:
        talk = self._link.talk
        is_left = self._is_given_up or self._link.is_too_large or self._link.is_odd
        return not (is_left or (talk is not None and talk.has_ended))

    async def load_tools(self) -> None:
        """Ask for the list, page by page, as far as it is used. Raises MCPError."""
        found: list[OfferedTool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            params = types.PaginatedRequestParams(cursor=cursor)
            page = await self._session.list_tools(params=params)
            found += [
                OfferedTool(each.name, each.description or "", each.input_schema) for each in page.tools
            ]
            cursor = page.next_cursor
            if not cursor or len(found) > MOST_TOOLS:
                break
        self.tools = tuple(found[: MOST_TOOLS + 1])

    async def call(self, name: str, arguments: Mapping[str, Any], timeout_s: float) -> ServerAnswer:
        try:
            async with asyncio.timeout(timeout_s):
                result = await self._session.call_tool(name, dict(arguments))
        except TimeoutError as error:
            self._is_given_up = True
            raise EnvironmentProblem(
                msg("The tool server {name} did not answer within {seconds} s.",
                    name=self._name, seconds=f"{timeout_s:g}"),
                advice=msg(
                    "It may have done what it was asked all the same. It is started again at the next call."
                ),
                error_type="server_timeout",
            ) from error  # fmt: skip
        except MCPError as error:
            if self.is_open and not self._limit.was_passed:
                return ServerAnswer(error.error.message, is_error=True)
            raise self.problem() from error
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            self._is_given_up = True
            raise self.problem() from error
        except (RuntimeError, ValueError) as error:
            raise _not_understood(self._name) from error
        return ServerAnswer(_text_of(result), is_error=bool(result.is_error))

    def give_up(self) -> None:
        """It is over."""
        self._is_given_up = True

    def problem(self) -> EnvironmentProblem:
        """Why it can't be asked any more."""
        if self._link.is_too_large or self._limit.was_passed:
            self._limit.was_passed = False
            return EnvironmentProblem(
                msg("The tool server {name} sent more than {count} bytes at once; its answer was not used.",
                    name=self._name, count=f"{LARGEST_MESSAGE:,}"),
                advice=msg("Ask it for less."),
                error_type="answer_too_large",
            )  # fmt: skip
        if self._link.is_odd:
            return _not_understood(self._name)
        return EnvironmentProblem(
            _with_complaint(msg("The tool server {name} has ended.", name=self._name), self._link),
            advice=msg("It is started again at the next call."),
            error_type="server_gone",
        )


class ServerConnector:
    """Implements application.ports.tool_servers.ToolServerConnector."""

    def __init__(
        self,
        *,
        processes: ProcessManager,
        environment: Mapping[str, str],
        network: NetworkSettings,
        version: str,
    ) -> None:
        self._processes = processes
        self._environment = environment
        self._network = network
        self._info = types.Implementation(name="circuit-design-ai", version=version)

    @asynccontextmanager
    async def connect(self, name: str, server: ToolServer) -> AsyncIterator[Connection]:
        link, limit = StdioLink(), BodyLimit()
        connection: Connection | None = None
        try:
            async with AsyncExitStack() as opened:
                connection = await self._opened_in_time(name, server, opened, link, limit)
                yield connection
        except ExceptionGroup as group:  # of the library's tasks; calls under way have heard of it
            if connection is None:
                raise _problem_in(name, group, link) from group
        finally:
            if connection is not None:
                connection.give_up()

    async def _opened_in_time(
        self, name: str, server: ToolServer, opened: AsyncExitStack, link: StdioLink, limit: BodyLimit
    ) -> Connection:
        try:
            async with asyncio.timeout(server.start_s):
                return await self._opened(name, server, opened, link, limit)
        except TimeoutError as error:
            late = msg("The tool server {name} did not answer within {seconds} s.",
                       name=name, seconds=f"{server.start_s:g}")  # fmt: skip
            raise EnvironmentProblem(
                _with_complaint(late, link),
                advice=msg("Start it in a terminal to see what it waits for."),
                error_type="server_timeout",
            ) from error
        except MCPError as error:
            if link.is_odd:
                raise _not_understood(name) from error
            raise _unusable(name, clean_text(error.error.message, _LONGEST_REASON), link) from error
        except FileNotFoundError as error:
            missing = msg("there is no program {program}", program=server.command[0])
            raise _unusable(name, missing, link) from error
        except (OSError, RuntimeError, ValueError, anyio.ClosedResourceError) as error:
            raise _problem_of(name, error, link) from error

    async def _opened(
        self, name: str, server: ToolServer, opened: AsyncExitStack, link: StdioLink, limit: BodyLimit
    ) -> Connection:
        if server.url:
            make = partial(
                new_client,
                server.url,
                token=self._token(name, server),
                network=self._network,
                limit=limit,
                timeout_s=server.timeout_s,
            )
            client = await opened.enter_async_context(await asyncio.to_thread(make))
            streams = await opened.enter_async_context(
                streamable_http_client(server.url, http_client=client, max_sse_event_size=LARGEST_MESSAGE)
            )
        else:
            streams = await opened.enter_async_context(
                stdio_streams(self._processes, server.command, self._environment_of(server), link)
            )
        session = await opened.enter_async_context(_Session(*streams, client_info=self._info))
        try:
            await session.initialize()
        except MCPError as error:
            if error.error.code != types.UNSUPPORTED_PROTOCOL_VERSION:
                raise
            await session.discover()
        connection = Connection(name, session, link, limit)
        await connection.load_tools()
        return connection

    def _environment_of(self, server: ToolServer) -> dict[str, str]:
        """The usual variables and the server's own; ``$NAME`` is ours of that name."""
        usual = {name: self._environment[name] for name in _USUAL if name in self._environment}
        own = {
            name: self._environment.get(value[1:], "") if value.startswith("$") else value
            for name, value in server.environment.items()
        }
        return usual | own

    def _token(self, name: str, server: ToolServer) -> str:
        if not server.token_variable:
            return ""
        token = self._environment.get(server.token_variable, "").strip()
        if not token:
            raise UserInputError(
                msg("The token of the tool server {name} is missing: the environment has no {variable}.",
                    name=name, variable=server.token_variable),
                advice=msg("Set the variable and start the program again."),
                error_type="no_key",
            )  # fmt: skip
        register_secret(token)
        return token


def _unusable(name: str, reason: object, link: StdioLink) -> CircuitAIError:
    told = msg("The tool server {name} cannot be used: {reason}.", name=name, reason=reason)
    return EnvironmentProblem(
        _with_complaint(told, link),
        advice=msg("Check its command or address in the settings."),
        error_type="server_failed",
    )


def _not_understood(name: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        msg("The answer of the tool server {name} cannot be understood.", name=name),
        error_type="server_failed",
    )


def _problem_of(name: str, error: Exception, link: StdioLink) -> CircuitAIError:
    return _unusable(name, clean_text(str(error) or type(error).__name__, _LONGEST_REASON), link)


def _problem_in(name: str, group: ExceptionGroup[Exception], link: StdioLink) -> CircuitAIError:
    """The problem of the first error in a group."""
    first: Exception = group
    while isinstance(first, ExceptionGroup):
        first = first.exceptions[0]
    return first if isinstance(first, CircuitAIError) else _problem_of(name, first, link)


def _with_complaint(told: Message, link: StdioLink) -> Message:
    """With the end of what the program wrote to standard error, if it did."""
    lines = "" if link.talk is None else clean_text(link.talk.complaint[-4 * _LONGEST_REASON :], 4000)
    if not lines:
        return told
    return msg("{problem} It wrote: {text}", problem=told, text=" ".join(lines.split())[-_LONGEST_REASON:])


def _text_of(result: types.CallToolResult) -> str:
    """The texts of an answer; of what is no text its kind and size."""
    parts: list[str] = []
    for block in result.content:
        match block:
            case types.TextContent():
                parts.append(block.text)
            case types.ImageContent() | types.AudioContent():
                parts.append(
                    f"[{block.type}, {block.mime_type}, {len(block.data) * 3 // 4} bytes, not shown]"
                )
            case types.EmbeddedResource():
                inner = block.resource
                parts.append(
                    inner.text if isinstance(inner, types.TextResourceContents) else f"[resource {inner.uri}]"
                )
            case _:
                parts.append(f"[{block.type}]")
    if not parts and result.structured_content is not None:
        parts.append(json.dumps(result.structured_content, ensure_ascii=False))
    return "\n".join(parts)[:_LONGEST_ANSWER]
