"""How long a client waits: for a server that is silent, and before it asks one again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from domain.llm.chat import ProviderError
from infrastructure.llm_adapters.answer_reader import AnswerReader

_LEFT_BEHIND_S = 0.05
"""How long the rest of a finished answer is read so that its connection can serve the next request."""

_BREATH_S = 0.01

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds. There is no limit on a whole answer, only on silence."""

    connect_s: float = 10.0
    first_piece_s: float = 120.0
    """Until the answer's first piece: the server reads the prompt."""
    first_piece_local_s: float = 300.0
    """The same for a server on this computer, which may load the model first."""
    thinking_s: float = 60.0
    """Between two pieces while the model reasons."""
    content_s: float = 30.0
    """Between two pieces of the answer proper."""
    tool_call_s: float = 60.0
    """In place of `content_s` when tools were offered: some servers send a call only when it is whole."""
    keep_alive_s: float = 300.0
    """Without a piece, although comments, blank lines or empty frames come in time."""
    after_finish_s: float = 5.0
    """For the usage after the finish reason; then the answer counts as ended."""
    listing_s: float = 15.0
    """For the list of models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """When a request that failed before its first piece is sent again, and after how long."""

    tries: int = 3
    shortest_s: float = 1.0
    longest_s: float = 30.0
    longest_asked_s: float = 60.0
    """A server that asks for a longer pause is not asked again: its error says how long."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    uniform: Callable[[float, float], float] = random.uniform

    def pause_s(self, attempt: int, error: ProviderError) -> float | None:
        """Seconds until the next try after `attempt` (from 1) failed; None: there is none.

        Exponential with full jitter above `shortest_s`, and never less than the server asks for. An empty
        answer is asked for once more, not oftener.
        """
        is_empty = error.error_type == "empty_answer"
        if attempt >= (min(2, self.tries) if is_empty else self.tries):
            return None
        if not (error.retryable or is_empty):
            return None
        pause_s = self.uniform(self.shortest_s, min(self.shortest_s * 2**attempt, self.longest_s))
        asked_s = error.retry_after_s or 0.0
        return None if asked_s > self.longest_asked_s else max(pause_s, asked_s)


class Patience:
    """How long to wait for the next bytes.

    Any bytes show that the server lives and earn another wait; but without a piece of the answer the waits
    end after `keep_alive_s` together. Only the time spent waiting counts, not what the consumer takes.
    """

    def __init__(self, timeouts: Timeouts, first_piece_s: float, has_tools: bool) -> None:
        self._timeouts = timeouts
        self._silence_s = {
            "waiting": first_piece_s,
            "thinking": timeouts.thinking_s,
            "content": timeouts.tool_call_s if has_tools else timeouts.content_s,
        }
        self._stage: object = None
        self._waited_s = 0.0
        self.limit_s = 0.0
        """What the present (or last) wait is allowed, with those before it that brought nothing."""

    async def next_piece(self, pieces: AsyncIterator[T], answer: AnswerReader) -> T | None:
        """The next bytes (or whatever comes), None at the end. Raises TimeoutError."""
        self._begin_stage((answer.pieces, answer.is_over, answer.is_done))
        if answer.is_over:
            self.limit_s = _LEFT_BEHIND_S if answer.is_done else self._timeouts.after_finish_s
            left_s = self.limit_s - self._waited_s
        else:
            silence_s, left_s = self._silence_s[answer.phase], self._timeouts.keep_alive_s - self._waited_s
            self.limit_s = silence_s if silence_s < left_s else self._timeouts.keep_alive_s
            left_s = min(silence_s, left_s)
        clock = asyncio.get_running_loop().time
        begin = clock()
        async with asyncio.timeout(max(left_s, 0.0)):
            piece = await anext(pieces, None)
        self._waited_s += clock() - begin
        return piece

    def _begin_stage(self, stage: object) -> None:
        if stage != self._stage:
            self._stage, self._waited_s = stage, 0.0


class Breath:
    """Lets others run while much that has arrived is read: what is in a buffer is read without a pause."""

    def __init__(self) -> None:
        self._clock = asyncio.get_running_loop().time
        self._began = self._clock()

    async def take(self) -> None:
        """To be awaited between two frames: gives the loop back every `_BREATH_S`."""
        if self._clock() - self._began > _BREATH_S:
            await asyncio.sleep(0)
            self._began = self._clock()
