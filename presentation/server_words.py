"""What lists say of the user's tool servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from shared.message import Message, msg

if TYPE_CHECKING:
    from application.tool_execution.server_tools import ShownServer, State

STATES: Mapping[State, Message] = {
    "off": msg("turned off"),
    "not_connected": msg("not connected"),
    "connected": msg("connected"),
    "failed": msg("failed"),
}


def notes_of(server: ShownServer) -> tuple[Message, ...]:
    """What is wrong with a server, and what of its tools is left out."""
    problem = server.problem
    told = (
        () if problem is None else (problem.message, *(() if problem.advice is None else (problem.advice,)))
    )
    return (*told, *server.left_out)
