"""Requests and the room a model has: what surely does not fit is said before it is sent, and counts learn."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from domain.llm.chat import ChatRequest, StreamChunk
from infrastructure.llm_adapters.error_texts import Peer
from infrastructure.llm_adapters.wire_errors import failure
from shared.message import msg

if TYPE_CHECKING:
    from infrastructure.llm_adapters.service_manager import Check, Learn
    from infrastructure.persistence.model_settings import TokenFactorsFile

_SURELY_TOO_LONG = 1.1
"""Of the model's context: the count is an estimate."""
_MOST_OF_A_PICTURE = 3000


def learning(tokens: TokenFactorsFile, peer: Peer) -> Learn:
    """Takes what answers tell about their requests."""

    async def learn(request: ChatRequest, last: StreamChunk) -> None:
        if last.usage is not None and last.usage.prompt_tokens:
            await tokens.learn(_name(peer, last.model), request, last.usage.prompt_tokens)

    return learn


def room_check(tokens: TokenFactorsFile, peer: Peer, room: int) -> Check:
    """Raises ProviderError ("context_too_long") for a request that surely is longer than `room` tokens."""

    async def check(request: ChatRequest) -> None:
        # No text has more tokens than characters, or hardly ever.
        texts = sum(len(message.text) for message in request.messages)
        images = sum(len(message.images) for message in request.messages)
        if texts + images * _MOST_OF_A_PICTURE < room:
            return
        counted = await asyncio.to_thread(tokens.count, _name(peer, ""), request)
        if counted > room * _SURELY_TOO_LONG:
            said = msg("about {count} tokens; at most {most} are accepted", count=counted, most=room)
            raise failure(peer, "context_too_long", said)

    return check


def _name(peer: Peer, told: str) -> str:
    return f"{peer.provider} {peer.model or told}"
