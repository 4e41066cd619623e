"""Reads the frames of an OpenAI-shaped answer: text, reasoning, tool calls, usage, and why it ended.

Pure; the client feeds it frame by frame. What servers vary is met here: content as text or as a list of
parts, reasoning under three names, usage in any chunk (the last counts), an answer that is not streamed,
errors in mid-stream. What a model shows inside ``<think>`` tags in its text stays text.

An answer is complete when the server said why it ended. ``[DONE]`` alone proves that for tool calls
whose arguments are whole, not for a text: that ends as "cut".
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from domain.llm.agent_limits import MOST_CALLS_OF_ANSWER
from domain.llm.chat import FinishReason, StreamChunk, Usage, WebSource, WireToolCall
from infrastructure.llm_adapters.error_texts import Peer
from infrastructure.llm_adapters.sse import Frame
from infrastructure.llm_adapters.tool_call_accumulator import (
    ToolCallAccumulator,
    TooManyCalls,
    is_json_object,
)
from infrastructure.llm_adapters.wire_errors import (
    bad_response,
    empty_answer,
    error_of_payload,
    is_error_payload,
    text_of_page,
    too_large,
)
from shared.message import msg, one_line

NOT_JSON = object()
"""What `parse_json` gives for a text that is none."""

_NOISE_LIMIT = 20_000
_LONGEST_MODEL = 200
"""Characters of a model's name that are kept."""
MOST_CHARACTERS = 8_000_000
"""Of text, reasoning and calls in one answer: ten times what the longest answers of today's models have."""

_FINISH_REASONS: dict[str, FinishReason] = {
    **dict.fromkeys(("tool_calls", "function_call", "tool_use"), "tool_calls"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length"), "length"),
    **dict.fromkeys(
        ("content_filter", "sensitive", "safety", "refusal", "recitation", "prohibited_content", "blocklist"),
        "content_filter",
    ),
    **dict.fromkeys(("abort", "aborted", "cancelled", "canceled"), "cut"),
}
"""Whatever is not here (end_turn, eos, stop_sequence ...) means "stop"."""

_FAILURES = frozenset(
    {"error", "network_error", "model_context_window_exceeded", "insufficient_system_resource"}
)
"""Finish reasons that are errors."""

_SOURCES = (("web_search",), ("search_info", "search_results"))
"""Where providers put what their web search found (Zhipu, Qwen)."""
_SOURCE_FIELDS = {
    "title": ("title",),
    "url": ("link", "url"),
    "text": ("content", "snippet"),
    "site": ("media", "site_name"),
    "reference": ("refer", "index"),
}
MOST_SOURCES = 100
"""Of a web search, for one answer."""

Phase = Literal["waiting", "thinking", "content"]


def fitting_model(name: str) -> str:
    """A model's name as a server tells it, fit to be shown and stored."""
    return one_line(name[:_LONGEST_MODEL])


def parse_json(text: str) -> Any:
    """The value of a JSON text, or `NOT_JSON`."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return NOT_JSON


class AnswerReader:
    """One answer as it grows. `known_tools`: names that were offered to the model."""

    def __init__(self, peer: Peer, known_tools: Collection[str] = ()) -> None:
        self.peer = peer
        """Whom the texts of errors name."""
        self._calls = ToolCallAccumulator(known_tools)
        self._text_seam = _Seam()
        self._reasoning_seam = _Seam()
        self._has_text = False
        self._noise = ""
        self._finish = ""
        self._is_whole = False
        self._model = ""
        self._sources: dict[str, WebSource] = {}
        self._size = 0
        """Characters of text and reasoning that have come."""
        self.usage: Usage | None = None
        self.is_done = False
        """The server said that nothing follows."""
        self.phase: Phase = "waiting"
        self.pieces = 0
        """How many pieces of text, reasoning or tool calls have come."""

    @property
    def has_begun(self) -> bool:
        """Whether anything of the answer has come: from then on the request may not be sent again."""
        return self.pieces > 0

    @property
    def is_over(self) -> bool:
        """Whether the server said that the answer has ended; only its usage may follow."""
        return self.is_done or bool(self._finish)

    def take(self, frame: Frame, payload: Any, *, is_torn: bool = False) -> Iterator[StreamChunk]:
        """The pieces in a frame whose data were parsed to `payload`.

        `is_torn`: the stream ended inside this frame, so half a JSON text in it is forgiven. Raises
        ProviderError for an error in the stream, for a frame that can't be read and for an answer without
        measure.
        """
        try:
            yield from self._take(frame, payload, is_torn=is_torn)
        except TooManyCalls:
            raise too_large(
                self.peer, msg("more than {count} tool calls in one answer", count=MOST_CALLS_OF_ANSWER)
            ) from None
        if self._size + self._calls.size > MOST_CHARACTERS:
            raise too_large(
                self.peer, msg("more than {count} million characters", count=MOST_CHARACTERS // 1_000_000)
            )

    def _take(self, frame: Frame, payload: Any, *, is_torn: bool) -> Iterator[StreamChunk]:
        if self.is_done:
            return
        if frame.data.strip() == "[DONE]":
            self.is_done = True
        elif payload is NOT_JSON:
            self._take_text(frame, is_torn=is_torn)
        elif is_error_payload(payload, frame.event):
            # After the finish reason the answer is complete whatever still goes wrong there.
            if not self.is_over:
                raise error_of_payload(self.peer, payload)
        elif isinstance(payload, Mapping):
            yield from self._take_chunk(payload, frame)
        elif frame.is_stray:
            self._note(frame.data)

    def finish(self) -> Iterator[StreamChunk]:
        """The last chunk (before it what had been held back). Raises ProviderError for an empty answer."""
        if rest := self._reasoning_seam.rest():
            yield StreamChunk(reasoning=rest)
        if rest := self._text_seam.rest():
            yield StreamChunk(text=rest)
        calls = tuple(_mended(call) for call in self._calls.calls())
        reason = self._finish_reason(calls)
        if not (calls or self._has_text or reason in {"length", "content_filter"}):
            if self._noise and not self.has_begun:
                raise bad_response(self.peer, text_of_page(self._noise) or self._noise)
            if reason != "cut" or not self.has_begun:
                raise empty_answer(self.peer)
        yield StreamChunk(
            tool_calls=calls,
            finish_reason=reason,
            usage=self.usage,
            model=self._model,
            sources=tuple(self._sources.values()),
            output_items=self._output_items(),
        )

    def _output_items(self) -> tuple[Mapping[str, Any], ...]:
        """`StreamChunk.output_items`: few providers want any."""
        return ()

    def _finish_reason(self, calls: tuple[WireToolCall, ...]) -> FinishReason:
        if not self._finish and not self._is_whole:
            are_whole = self.is_done and calls and all(is_json_object(call.arguments) for call in calls)
            return "tool_calls" if are_whole else "cut"
        reason = _FINISH_REASONS.get(self._finish, "stop")
        if reason in {"stop", "tool_calls"}:
            return "tool_calls" if calls else "stop"
        return reason

    def _take_text(self, frame: Frame, *, is_torn: bool) -> None:
        """A frame that is no JSON: an error in plain words, a broken frame, or noise."""
        if frame.event == "error":
            if not self.is_over:
                raise error_of_payload(self.peer, frame.data)
        elif frame.data.lstrip().startswith("{") and not frame.is_stray:
            # Leaving it out would leave a hole in the text; at a torn end the answer is "cut" anyway.
            if not is_torn:
                raise bad_response(self.peer, frame.data)
        else:
            self._note(frame.data)

    def _note(self, text: str) -> None:
        if len(self._noise) < _NOISE_LIMIT:
            self._noise += text[:_NOISE_LIMIT] + "\n"

    def _take_chunk(self, payload: Mapping[str, Any], frame: Frame) -> Iterator[StreamChunk]:
        if isinstance(payload.get("model"), str):
            self._model = fitting_model(payload["model"])
        self._take_usage(payload.get("usage"))
        for path in _SOURCES:
            self._take_sources(payload, path)
        choices = payload.get("choices")
        if not isinstance(choices, list):
            if frame.is_stray and not self._sources:
                self._note(frame.data)
            return
        for choice in choices:
            if isinstance(choice, Mapping) and choice.get("index") in (0, None):  # also what has no hash
                yield from self._take_choice(choice)
                return

    def _take_sources(self, payload: Any, path: tuple[str, ...]) -> None:
        """What a web search found; some servers say it again in every chunk."""
        for name in path:
            payload = payload.get(name) if isinstance(payload, Mapping) else None
        for entry in payload if isinstance(payload, list) else ():
            if isinstance(entry, Mapping) and len(self._sources) < MOST_SOURCES:
                source = WebSource(
                    **{
                        ours: whole_characters(
                            next((str(entry[name]) for name in names if entry.get(name)), "")
                        )
                        for ours, names in _SOURCE_FIELDS.items()
                    }
                )
                self._sources.setdefault(source.url or source.title, source)

    def _take_choice(self, choice: Mapping[str, Any]) -> Iterator[StreamChunk]:
        self._take_usage(choice.get("usage"))
        delta, message = choice.get("delta"), choice.get("message")
        if isinstance(delta, Mapping):
            yield from self._take_parts(delta)
            self._count(self._calls.add_delta(delta))
        elif isinstance(message, Mapping):
            # Some servers repeat a streamed answer whole in its last chunk.
            if not self.has_begun:
                self._is_whole = True
                yield from self._take_parts(message)
                self._count(self._calls.add_message(message))
        elif isinstance(choice.get("text"), str):
            yield from self._written(choice["text"])
        self._take_finish_reason(choice)

    def _take_finish_reason(self, choice: Mapping[str, Any]) -> None:
        reason = choice.get("finish_reason")
        if not isinstance(reason, str) or reason.lower() in {"", "null", "none"}:
            return
        if reason.lower() in _FAILURES:
            raise error_of_payload(self.peer, choice.get("error") or {"code": reason, "message": reason})
        self._finish = reason.lower()

    def _take_parts(self, delta: Mapping[str, Any]) -> Iterator[StreamChunk]:
        for name in ("reasoning_content", "reasoning", "thinking"):
            # Servers that send two of them send the same under both.
            if isinstance(delta.get(name), str) and delta[name]:
                yield from self._thought(delta[name])
                break
        content = delta.get("content")
        for is_reasoning, text in _content_parts(content):
            yield from self._thought(text) if is_reasoning else self._written(text)
        if not content and isinstance(delta.get("refusal"), str):
            yield from self._written(delta["refusal"])

    def _thought(self, text: str) -> Iterator[StreamChunk]:
        if not text:
            return
        self.pieces += 1
        self._size += len(text)
        if self.phase == "waiting":
            self.phase = "thinking"
        if whole := self._reasoning_seam.join(text):
            yield StreamChunk(reasoning=whole)

    def _written(self, text: str) -> Iterator[StreamChunk]:
        if not text:
            return
        self._count(True)
        self._size += len(text)
        self._has_text = self._has_text or not text.isspace()
        if whole := self._text_seam.join(text):
            yield StreamChunk(text=whole)

    def _count(self, is_content: bool) -> None:
        if is_content:
            self.pieces += 1
            self.phase = "content"

    def _take_usage(self, usage: Any) -> None:
        if isinstance(usage, Mapping) and usage:
            self.usage = read_usage(usage)


def _source(entry: Mapping[str, Any]) -> WebSource:
    told = {
        ours: next((str(entry[name]) for name in names if entry.get(name)), "")
        for ours, names in _SOURCE_FIELDS.items()
    }
    return WebSource(**{name: whole_characters(text) for name, text in told.items()})


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts in OpenAI's form, with DeepSeek's and Moonshot's names for what came from a cache."""
    prompt, completion = count_of(usage, "prompt_tokens"), count_of(usage, "completion_tokens")
    cached = (
        count_of(usage.get("prompt_tokens_details"), "cached_tokens")
        or count_of(usage, "prompt_cache_hit_tokens")
        or count_of(usage, "cached_tokens")
    )
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=count_of(usage, "total_tokens") or prompt + completion,
        cached_tokens=cached,
        reasoning_tokens=count_of(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def count_of(source: Any, name: str) -> int:
    """A number of things that a server tells; 0 where it tells none."""
    value = source.get(name) if isinstance(source, Mapping) else None
    is_count = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
    return int(value) if is_count and value is not None else 0


def _content_parts(content: Any, deepest: int = 8) -> Iterator[tuple[bool, str]]:
    """(is reasoning, text) of a content that is a text or a list of parts; no server nests them deep."""
    if isinstance(content, str):
        yield False, content
    elif isinstance(content, list) and deepest:
        for part in content:
            yield from _part(part, deepest)


def _part(part: Any, deepest: int) -> Iterator[tuple[bool, str]]:
    if isinstance(part, str):
        yield False, part
    elif isinstance(part, Mapping):
        thought = part.get("thinking") or part.get("reasoning")
        if thought:
            yield from ((True, text) for _, text in _content_parts(thought, deepest - 1))
        elif isinstance(part.get("text"), str):
            yield part.get("type") in ("thinking", "reasoning"), part["text"]


_SURROGATE = re.compile("[\ud800-\udfff]")


class _Seam:
    """Joins characters beyond U+FFFF that a server escaped as two halves and cut between them."""

    def __init__(self) -> None:
        self._held = ""

    def join(self, text: str) -> str:
        """`text` ready to be shown: a half at its end is held back, a lone one becomes U+FFFD."""
        text = self._held + text
        self._held = ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        return whole_characters(text)

    def rest(self) -> str:
        """What is still held back, at the end."""
        held, self._held = self._held, ""
        return whole_characters(held)


def whole_characters(text: str) -> str:
    """The text with halves of characters joined; a lone one becomes U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _mended(call: WireToolCall) -> WireToolCall:
    return replace(
        call,
        provider_id=whole_characters(call.provider_id),
        name=whole_characters(call.name),
        arguments=whole_characters(call.arguments),
    )
