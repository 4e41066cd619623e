"""The client for OpenAI's Responses API: its event stream read into the same pieces as every other.

Source: the API's reference, "Streaming events" (openai-python's `types/responses` has the same fields).
What servers vary is met here: a text or call that only its closing event or the last event tells, closing
events sent twice, events of a kind that is not known yet, an answer that is not streamed, and a stream that
ends without its last event, which is "cut". A server at which there is no such API (a gateway, an older
server) is asked by chat completions from then on.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import Any

from domain.llm.agent_limits import MOST_CALLS_OF_ANSWER
from domain.llm.chat import (
    ChatRequest,
    FinishReason,
    ProviderError,
    StreamChunk,
    Usage,
    WebSource,
)
from infrastructure.llm_adapters.answer_reader import (
    MOST_SOURCES,
    AnswerReader,
    count_of,
    fitting_model,
    whole_characters,
)
from infrastructure.llm_adapters.dialect import Dialect
from infrastructure.llm_adapters.openai_compatible import OpenAICompatibleClient
from infrastructure.llm_adapters.responses_request import render_responses
from infrastructure.llm_adapters.sse import BodyReader, Frame
from infrastructure.llm_adapters.tool_call_accumulator import GrowingText, TooManyCalls
from infrastructure.llm_adapters.wire_client import WireClient
from infrastructure.llm_adapters.wire_errors import error_of_payload
from shared.message import msg

_SUFFIX = re.compile(r"/(responses|chat/completions)$")
_NO_SUCH_API = frozenset({404, 405, 501})
_MOST_KEPT = 1_000_000
"""Characters of encrypted reasoning that an answer may bring; with more none of it is kept."""
_MOST_ITEMS = 1_000
"""Output items of one answer."""
_WANTS_MESSAGES = re.compile(
    r"(missing|required).{0,60}\bmessages\b|\bmessages\b.{0,60}(missing|required)", re.IGNORECASE | re.DOTALL
)
"""What a server says that takes every path for chat completions."""


class ResponsesClient(WireClient):
    """`base_url` goes up to, not including, ``/responses``.

    `completions_dialect` is for a server that has only chat completions; None: its error is told.
    """

    _chat_path = "/responses"
    _list_path = "/models"

    def __init__(self, *, completions_dialect: Dialect | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self._settings = settings
        self._completions_dialect = completions_dialect
        self._completions: OpenAICompatibleClient | None = None

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamChunk, None]:
        if self._completions is None:
            try:
                async with aclosing(super().stream(request)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                return
            except ProviderError as error:
                if self._completions_dialect is None or not _lacks_this_api(error):
                    raise
            self._completions = OpenAICompatibleClient(
                **{**self._settings, "dialect": self._completions_dialect, "model": self._peer.model}
            )
        if request.search:
            raise ProviderError(
                msg("{server} only offers chat completions, without web search.", server=self._peer.server),
                kind="bad_request",
                advice=msg("Omit the search, or use the general one: --web-search."),
            )
        async with aclosing(self._completions.stream(request)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def close(self) -> None:
        await super().close()
        if self._completions is not None:
            await self._completions.close()

    def _root_of(self, base_url: str) -> str:
        return _SUFFIX.sub("", base_url).rstrip("/")

    def _render(self, request: ChatRequest, model: str) -> bytes:
        return render_responses(request, model, self._dialect)

    def _new_answer(self, known_tools: frozenset[str]) -> AnswerReader:
        return ResponsesAnswer(self._peer, known_tools)

    def _new_reader(self, content_type: str) -> BodyReader:
        return BodyReader(content_type)


def _lacks_this_api(error: ProviderError) -> bool:
    if error.has_begun or error.error_type != "bad_request":
        return False
    return error.status in _NO_SUCH_API or bool(
        error.status in {400, 422} and _WANTS_MESSAGES.search(str(error))
    )


class _Call:
    """A function call as it grows."""

    def __init__(self) -> None:
        self.call_id = ""
        self.name = ""
        self.arguments = GrowingText()

    def take_item(self, item: Mapping[str, Any]) -> None:
        """What an item says of it; its arguments, where there are any, are all of them."""
        self.call_id = _text(item.get("call_id")) or self.call_id or _text(item.get("id"))
        self.name = _text(item.get("name")) or self.name
        self.take_all(item.get("arguments"))

    def take_all(self, arguments: Any) -> None:
        if isinstance(arguments, Mapping) or (isinstance(arguments, str) and arguments):
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            self.arguments = GrowingText(text)


class ResponsesAnswer(AnswerReader):
    """Reads the events of one response."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._order: dict[str, int] = {}
        """Output items by their keys, and their places as they began."""
        self._items: dict[str, dict[str, Any]] = {}
        """What goes back of them (`StreamChunk.output_items`)."""
        self._open_calls: dict[str, _Call] = {}
        self._shown: dict[tuple[str, str, int], list[str]] = {}
        """(kind, item, part) -> what was shown of it."""
        self._last_said: dict[str, str] = {}
        """kind -> the item whose words were shown last."""
        self._key_of_id: dict[str, str] = {}

    def _take(self, frame: Frame, payload: Any, *, is_torn: bool) -> Iterator[StreamChunk]:
        if self.is_done:
            return
        kind = payload.get("type") if isinstance(payload, Mapping) else None
        if isinstance(payload, Mapping) and payload.get("object") == "response" and kind is None:
            yield from self._take_end(payload)  # the whole answer, not streamed
        elif kind == "error":
            raise error_of_payload(self.peer, payload)
        elif isinstance(kind, str) and kind.startswith("response."):
            yield from self._take_event(kind.removeprefix("response."), payload)
        else:
            yield from super()._take(frame, payload, is_torn=is_torn)

    def finish(self) -> Iterator[StreamChunk]:
        ordered = sorted(self._open_calls, key=self._order.__getitem__)
        entries = [self._entry(self._open_calls[key]) for key in ordered]
        if entries:
            self._calls.add_message({"tool_calls": entries})
        yield from super().finish()

    def _output_items(self) -> tuple[Mapping[str, Any], ...]:
        """Only of an answer that came to its end; nothing when none of it has to go back."""
        items = [self._items[key] for key in self._order if key in self._items]
        phases = {item.get("phase", "") for item in items if item["type"] == "message"}
        if len(phases) > 1:  # they become one text
            items = [{"type": "message"} if item["type"] == "message" else item for item in items]
        sizes = [len(item.get("encrypted_content", "")) for item in items]
        is_worth_it = any(sizes) or any(item.get("phase") for item in items)
        return tuple(items) if is_worth_it and self._finish and sum(sizes) <= _MOST_KEPT else ()

    @staticmethod
    def _entry(call: _Call) -> dict[str, Any]:
        function = {"name": call.name, "arguments": str(call.arguments)}
        return {"id": call.call_id, "type": "function", "function": function}

    # Events

    def _take_event(self, kind: str, event: Mapping[str, Any]) -> Iterator[StreamChunk]:
        key = self._key_of(event)
        match kind:
            case "created" | "in_progress" | "queued":
                self._take_head(event.get("response"))
            case "completed" | "incomplete" | "failed" | "cancelled":
                whole = event.get("response")
                yield from self._take_end({"status": kind, **(whole if isinstance(whole, Mapping) else {})})
            case "error":
                raise error_of_payload(self.peer, event)
            case "output_item.added" | "output_item.done":
                item = event.get("item")
                if isinstance(item, Mapping):
                    yield from self._take_item(key, item, is_done=kind.endswith("done"))
            case "function_call_arguments.delta":
                piece = _text(event.get("delta"))
                self._call(key).arguments.add(piece)
                self._size += len(piece)
                self._count(True)
            case "function_call_arguments.done":
                self._call(key).take_item({**event, "id": ""})
                self._count(True)
            case "output_text.annotation.added":
                self._take_source(event.get("annotation"))
            case _:
                yield from self._take_words(kind, key, event)

    def _take_words(self, kind: str, key: str, event: Mapping[str, Any]) -> Iterator[StreamChunk]:
        """A piece of text, of a refusal or of reasoning; others are of kinds that nothing is made of."""
        name, _, step = kind.rpartition(".")
        if name not in _WORDS or step not in {"delta", "done"}:
            return
        place = (_WORDS[name], key, count_of(event, _PART_OF[name]))
        if step == "delta":
            yield from self._say(place, _text(event.get("delta")))
        else:
            yield from self._say_rest(place, _text(event.get("text")) or _text(event.get("refusal")))

    def _say(self, place: tuple[str, str, int], words: str) -> Iterator[StreamChunk]:
        if not words:
            return
        kind, key, _ = place
        is_new = place not in self._shown
        self._note_item(key, "reasoning" if kind == "thought" else "message")
        self._shown.setdefault(place, []).append(words)
        before, self._last_said[kind] = self._last_said.get(kind), key
        if kind == "thought":
            yield from self._thought(words if before is None or not is_new else f"\n\n{words}")
            self.phase = "waiting"  # what is not shown of the reasoning may take long
        else:
            yield from self._written(words if before in {None, key} else f"\n\n{words}")

    def _say_rest(self, place: tuple[str, str, int], whole: str) -> Iterator[StreamChunk]:
        """What was not streamed of it: some servers tell a text only when it is whole."""
        parts = self._shown.get(place, [])
        parts[:] = (
            ["".join(parts)] if parts else []
        )  # a text that is told whole again and again is joined once
        shown = parts[0] if parts else ""
        if whole.startswith(shown):
            yield from self._say(place, whole[len(shown) :])

    # Items

    def _take_item(self, key: str, item: Mapping[str, Any], *, is_done: bool) -> Iterator[StreamChunk]:
        match item.get("type"):
            case "function_call":
                self._call(key).take_item(item)
                self._count(True)
            case "message":
                self._note_item(key, "message")
                if item.get("phase"):
                    self._items[key] = {"type": "message", "phase": _text(item["phase"])}
                if is_done:
                    yield from self._take_parts_of(key, item.get("content"))
            case "reasoning":
                self._note_item(key, "reasoning")
                self.phase = "waiting"
                if is_done:
                    yield from self._take_thoughts_of(key, item)
                    self._keep_reasoning(key, item)
            case "web_search_call":
                self.phase = "waiting"
                action = item.get("action")
                sources = action.get("sources") if isinstance(action, Mapping) else None
                for source in sources if isinstance(sources, list) else ():
                    self._take_source(source)

    def _take_parts_of(self, key: str, content: Any) -> Iterator[StreamChunk]:
        for number, part in enumerate(content if isinstance(content, list) else ()):
            if isinstance(part, Mapping):
                words = _text(part.get("text")) or _text(part.get("refusal"))
                yield from self._say_rest(("text", key, number), words)
                annotations = part.get("annotations")
                for annotation in annotations if isinstance(annotations, list) else ():
                    self._take_source(annotation)

    def _take_thoughts_of(self, key: str, item: Mapping[str, Any]) -> Iterator[StreamChunk]:
        parts = item.get("summary") or item.get("content")
        for number, part in enumerate(parts if isinstance(parts, list) else ()):
            if isinstance(part, Mapping):
                yield from self._say_rest(("thought", key, number), _text(part.get("text")))

    def _keep_reasoning(self, key: str, item: Mapping[str, Any]) -> None:
        if _text(item.get("encrypted_content")):
            # `status` is told but not taken back.
            kept = ("type", "id", "summary", "encrypted_content")
            text = json.dumps({name: item[name] for name in kept if name in item}, ensure_ascii=False)
            self._items[key] = {"summary": [], **json.loads(whole_characters(text))}

    def _note_item(self, key: str, kind: str) -> None:
        self._order.setdefault(key, len(self._order))
        if len(self._order) > _MOST_ITEMS:
            raise TooManyCalls
        if kind != "reasoning":
            self._items.setdefault(key, {"type": kind})

    def _call(self, key: str) -> _Call:
        self._note_item(key, "function_call")
        call = self._open_calls.setdefault(key, _Call())
        if len(self._open_calls) > MOST_CALLS_OF_ANSWER:
            raise TooManyCalls
        return call

    def _key_of(self, event: Mapping[str, Any]) -> str:
        """Which output item an event belongs to: by place, else by id, else the last that began."""
        place, item = event.get("output_index"), event.get("item")
        item_id = _text(event.get("item_id"))
        if not item_id and isinstance(item, Mapping):
            item_id = _text(item.get("id")) or _text(item.get("call_id"))
        if isinstance(place, int) and not isinstance(place, bool):
            key = f"#{place}"
        else:
            key = self._key_of_id.get(item_id, item_id) or next(reversed(self._order), "")
        if item_id:
            self._key_of_id[item_id] = key
        return key

    def _take_source(self, source: Any) -> None:
        """A page that its own web search found; one that is cited is told with its title."""
        url = _text(source.get("url")) if isinstance(source, Mapping) else ""
        known = self._sources.get(url)
        if url and (len(self._sources) < MOST_SOURCES if known is None else not known.title):
            self._sources[url] = WebSource(title=_text(source.get("title")), url=url)

    # Beginning and end

    def _take_head(self, whole: Any) -> None:
        if isinstance(whole, Mapping) and isinstance(whole.get("model"), str):
            self._model = fitting_model(whole["model"])

    def _take_end(self, whole: Mapping[str, Any]) -> Iterator[StreamChunk]:
        """The last event (or the whole answer): what it tells beyond what came, usage, and why it ended."""
        self._take_head(whole)
        if isinstance(whole.get("usage"), Mapping):
            self.usage = read_responses_usage(whole["usage"])
        status, error = whole.get("status"), whole.get("error")
        if status == "failed" or (isinstance(error, Mapping) and error):
            raise error_of_payload(self.peer, {"error": error or {"message": "", "code": "server_error"}})
        output = whole.get("output")
        items = [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []
        # Before any of them is taken: several of one kind may all be new.
        keys = [self._key_at_end(number, item) for number, item in enumerate(items)]
        for key, item in zip(keys, items, strict=True):
            if key:
                yield from self._take_item(key, item, is_done=True)
        self._finish = self._reason_of(status, whole.get("incomplete_details"))
        self.is_done = True

    def _key_at_end(self, number: int, item: Mapping[str, Any]) -> str:
        """The key of an item of the whole answer; "" of one that came already, under another id.

        Several servers number or name the items anew there, so only a kind that has not come is new.
        """
        if known := self._key_of_id.get(_text(item.get("id"))):
            return known
        match item.get("type"):
            case "function_call":
                has_come = bool(self._open_calls)
            case "message":
                has_come = "text" in self._last_said
            case _:
                has_come = item.get("type") == "reasoning" and "thought" in self._last_said
        return "" if has_come else f"end {number}"

    @staticmethod
    def _reason_of(status: Any, details: Any) -> FinishReason | str:
        if status == "incomplete":
            reason = _text(details.get("reason")) if isinstance(details, Mapping) else ""
            return reason if reason == "content_filter" else "length"
        return "cancelled" if status == "cancelled" else "stop"


_WORDS = {
    "output_text": "text",
    "refusal": "text",
    "reasoning_summary_text": "thought",
    "reasoning_text": "thought",
}
"""Events with words -> what they are shown as."""
_PART_OF = {
    "output_text": "content_index",
    "refusal": "content_index",
    "reasoning_summary_text": "summary_index",
    "reasoning_text": "content_index",
}


def read_responses_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts under the names of the Responses API."""
    read, written = count_of(usage, "input_tokens"), count_of(usage, "output_tokens")
    return Usage(
        prompt_tokens=read,
        completion_tokens=written,
        total_tokens=count_of(usage, "total_tokens") or read + written,
        cached_tokens=count_of(usage.get("input_tokens_details"), "cached_tokens"),
        reasoning_tokens=count_of(usage.get("output_tokens_details"), "reasoning_tokens"),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
