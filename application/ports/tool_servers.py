"""What servers of the Model Context Protocol are, seen from the use cases: connected, asked, left."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple, Protocol

from domain.llm.tool_servers import OfferedTool, ToolServer


class ServerAnswer(NamedTuple):
    """What a call brought, as text, nothing of it checked."""

    text: str
    is_error: bool


class ServerConnection(Protocol):
    """One server while it is connected."""

    @property
    def tools(self) -> tuple[OfferedTool, ...]:
        """As it told of them when it was connected; what it says of them later is not heard."""

    @property
    def is_open(self) -> bool:
        """Whether it can still be asked."""

    async def call(self, name: str, arguments: Mapping[str, Any], timeout_s: float) -> ServerAnswer:
        """Raises EnvironmentProblem: "server_gone", "server_failed", "server_timeout", "answer_too_large"."""


class ToolServerConnector(Protocol):
    """Connects servers."""

    def connect(self, name: str, server: ToolServer) -> AbstractAsyncContextManager[ServerConnection]:
        """The server for as long as the block lasts; its program ends with it.

        Raises EnvironmentProblem ("server_failed", "server_timeout"), UserInputError for settings that can't
        be used.
        """
