"""Answers in the form of OpenAI's Responses API, and what that server refuses.

Events and fields as in the API's reference (openai-python 3.54, `types/responses`): each frame names its
event twice, in `event:` and in `type`, and counts `sequence_number`. `responses_answer` is the counterpart of
`llm_server.answer`; `ResponseEvents` makes single frames for streams that go wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.fakes.llm_server import Call, Script, cut

RESPONSES_USAGE = {
    "input_tokens": 90,
    "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
    "output_tokens": 37,
    "output_tokens_details": {"reasoning_tokens": 30},
    "total_tokens": 127,
}
SECRET = "gAAAA-encrypted"
"""Stands for the encrypted content of a reasoning item."""


def event(kind: str, number: int = 0, **fields: Any) -> bytes:
    """One frame."""
    payload = json.dumps({"type": kind, "sequence_number": number, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {payload}\n\n".encode()


def response(status: str = "in_progress", **fields: Any) -> dict[str, Any]:
    """The object that `response.created`, `.completed`, `.incomplete` and `.failed` carry."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": "fake-model",
        "output": [],
        "error": None,
        "incomplete_details": None,
        "usage": None,
        **fields,
    }


def reasoning_item(number: int = 0, summary: str = "", *, secret: str = SECRET) -> dict[str, Any]:
    parts = [{"type": "summary_text", "text": summary}] if summary else []
    return {"id": f"rs_{number}", "type": "reasoning", "summary": parts, "encrypted_content": secret}


def message_item(
    text: str, number: int = 0, *, annotations: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [*annotations], "logprobs": []}
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def call_item(one: Call, number: int = 0) -> dict[str, Any]:
    return {
        "id": f"fc_{number}",
        "type": "function_call",
        "status": "completed",
        "call_id": one.id,
        "name": one.name,
        "arguments": one.arguments,
    }


class ResponseEvents:
    """The frames of one stream in their order; `frames` is what has been said so far."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.items: list[dict[str, Any]] = []
        """The output items that are done."""

    def say(self, kind: str, **fields: Any) -> ResponseEvents:
        """One more event."""
        self.frames.append(event(kind, len(self.frames), **fields))
        return self

    def created(self) -> ResponseEvents:
        """What every stream begins with."""
        self.say("response.created", response=response())
        return self.say("response.in_progress", response=response())

    def reasoning(self, summary: str, *, secret: str = SECRET) -> ResponseEvents:
        """A reasoning item: its summary in pieces, then the whole item with its encrypted content."""
        place = len(self.items)
        item = reasoning_item(place, summary, secret=secret)
        where = {"item_id": item["id"], "output_index": place, "summary_index": 0}
        self.say("response.output_item.added", output_index=place, item={**item, "summary": []})
        if summary:
            self.say(
                "response.reasoning_summary_part.added", **where, part={"type": "summary_text", "text": ""}
            )
            for piece in cut(summary):
                self.say("response.reasoning_summary_text.delta", **where, delta=piece, obfuscation="x4")
            self.say("response.reasoning_summary_text.done", **where, text=summary)
            self.say("response.reasoning_summary_part.done", **where, part=item["summary"][0])
        return self._done(item)

    def text(
        self, text: str, *, annotations: Sequence[Mapping[str, Any]] = (), is_done: bool = True
    ) -> ResponseEvents:
        """A message item; without `is_done` only its pieces."""
        place = len(self.items)
        item = message_item(text, place, annotations=annotations)
        where = {"item_id": item["id"], "output_index": place, "content_index": 0}
        empty = {"type": "output_text", "text": "", "annotations": []}
        self.say(
            "response.output_item.added",
            output_index=place,
            item={**item, "status": "in_progress", "content": []},
        )
        self.say("response.content_part.added", **where, part=empty)
        for piece in cut(text):
            self.say("response.output_text.delta", **where, delta=piece, logprobs=[], obfuscation="ab")
        for number, annotation in enumerate(annotations):
            self.say(
                "response.output_text.annotation.added",
                **where,
                annotation_index=number,
                annotation=annotation,
            )
        if not is_done:
            return self
        self.say("response.output_text.done", **where, text=text, logprobs=[])
        self.say("response.content_part.done", **where, part=item["content"][0])
        return self._done(item)

    def call(self, one: Call, *, is_done: bool = True) -> ResponseEvents:
        """A function call; without `is_done` only its pieces."""
        place = len(self.items)
        item = call_item(one, place)
        where = {"item_id": item["id"], "output_index": place}
        self.say(
            "response.output_item.added",
            output_index=place,
            item={**item, "status": "in_progress", "arguments": ""},
        )
        for piece in cut(one.arguments, 9):
            self.say("response.function_call_arguments.delta", **where, delta=piece, obfuscation="")
        if not is_done:
            return self
        self.say("response.function_call_arguments.done", **where, arguments=one.arguments, name=one.name)
        return self._done(item)

    def search(self, urls: Sequence[str] = ()) -> ResponseEvents:
        """The provider's own web search."""
        place = len(self.items)
        action = {"type": "search", "query": "q", "sources": [{"type": "url", "url": url} for url in urls]}
        item = {"id": f"ws_{place}", "type": "web_search_call", "status": "completed", "action": action}
        where = {"item_id": item["id"], "output_index": place}
        self.say("response.output_item.added", output_index=place, item={**item, "status": "in_progress"})
        self.say("response.web_search_call.searching", **where)
        self.say("response.web_search_call.completed", **where)
        return self._done(item)

    def completed(self, usage: Mapping[str, Any] | None = RESPONSES_USAGE) -> ResponseEvents:
        """The end of a whole answer."""
        whole = response("completed", output=self.items, usage=usage)
        return self.say("response.completed", response=whole)

    def incomplete(self, reason: str, usage: Mapping[str, Any] | None = RESPONSES_USAGE) -> ResponseEvents:
        """The end of one that was cut off: `max_output_tokens`, `content_filter`."""
        details = {"reason": reason}
        whole = response("incomplete", output=self.items, usage=usage, incomplete_details=details)
        return self.say("response.incomplete", response=whole)

    def failed(self, code: str, message: str) -> ResponseEvents:
        """The end of one that failed."""
        whole = response("failed", output=self.items, error={"code": code, "message": message})
        return self.say("response.failed", response=whole)

    def _done(self, item: dict[str, Any]) -> ResponseEvents:
        self.say("response.output_item.done", output_index=len(self.items), item=item)
        self.items.append(item)
        return self

    def script(self, **options: Any) -> Script:
        """All of it as one answer of the server."""
        return Script(pieces=tuple(self.frames), **options)


def responses_answer(
    text: str = "",
    *,
    reasoning: str | None = None,
    calls: Sequence[Call] = (),
    annotations: Sequence[Mapping[str, Any]] = (),
    usage: Mapping[str, Any] | None = RESPONSES_USAGE,
    **options: Any,
) -> Script:
    """A whole answer; `reasoning` "" is an item without a summary, None is none."""
    events = ResponseEvents().created()
    if reasoning is not None:
        events.reasoning(reasoning)
    if text:
        events.text(text, annotations=annotations)
    for one in calls:
        events.call(one)
    return events.completed(usage).script(**options)


def refuses_responses(body: Any) -> str | None:
    """What the real server refuses in a request, in its own words; None when it takes it."""
    for name in ("messages", "max_tokens", "max_completion_tokens", "response_format", "reasoning_effort"):
        if name in body:
            return f"Unknown parameter: '{name}'."
    if body["model"].startswith("gpt-5") and "temperature" in body:
        return "Unsupported parameter: 'temperature' is not supported with this model."
    if body.get("text", {}).get("format", {}).get("type") == "json_object":
        words = json.dumps(body["input"]).lower()
        if "json" not in words:
            return "Response input messages must contain the word 'json' in some form to use 'text.format'."
    for tool in body.get("tools", ()):
        if tool["type"] == "function" and "name" not in tool:
            return "Missing required parameter: 'tools[0].name'."
    return _refuses_items(body["input"], is_stored=body.get("store", True))


def _refuses_items(items: Sequence[Mapping[str, Any]], *, is_stored: bool) -> str | None:
    open_calls: set[str] = set()
    for place, item in enumerate(items):
        match item.get("type", "message"):
            case "reasoning":
                if not is_stored and not item.get("encrypted_content"):
                    return f"Item with id '{item['id']}' not found: `store` is set to false."
                following = items[place + 1] if place + 1 < len(items) else {}
                if following.get("role", "assistant") != "assistant" or not following:
                    return "Item 'rs' of type 'reasoning' was provided without its required following item."
            case "function_call":
                json.loads(item["arguments"])
                open_calls.add(item["call_id"])
            case "function_call_output":
                if item["call_id"] not in open_calls:
                    return f"No tool call found for function call output with call_id {item['call_id']}."
                open_calls.discard(item["call_id"])
            case "message":
                content = item["content"]
                kinds = {part["type"] for part in content} if isinstance(content, list) else set()
                if not kinds <= {"input_text", "input_image", "output_text"}:
                    return f"Invalid value: '{sorted(kinds)[0]}'. Supported values are: 'input_text', ..."
    return f"No tool output found for function call {sorted(open_calls)[0]}." if open_calls else None
