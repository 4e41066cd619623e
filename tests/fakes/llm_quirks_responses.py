"""What servers of OpenAI's Responses API send, as rows like those of `llm_quirks`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.fakes.llm_quirks import ONE_CALL, Quirk
from tests.fakes.llm_responses import (
    ResponseEvents,
    call_item,
    event,
    message_item,
    reasoning_item,
    response,
    responses_answer,
)
from tests.fakes.llm_server import DONE, Script, call, chunk, error, json_answer

RUN = call("run_sim", {"n": 1}, id="call_a")
READ = call("read_file", {"path": "a.cir"}, id="call_b")
TWO_CALLS = (*ONE_CALL, ("call_b", "read_file", {"path": "a.cir"}))
USED = {"prompt_tokens": 90, "total_tokens": 127, "cached_tokens": 64, "reasoning_tokens": 30}


def _row(script: Script, text: str = "", *, finish: str | None = "stop", **expected: Any) -> Quirk:
    return Quirk(script=script, text=text, finish=finish, protocol="responses", **expected)


def _calls(script: Script, *calls: tuple[str, str, Any], **expected: Any) -> Quirk:
    return _row(script, calls=calls or ONE_CALL, finish="tool_calls", **expected)


def _fails(script: Script, kind: str, text: str = "", **expected: Any) -> Quirk:
    return _row(script, text, finish=None, error=kind, **expected)


def _begun() -> ResponseEvents:
    """A stream in the middle of its text."""
    return ResponseEvents().created().text("Hello", is_done=False)


def _raw(script: Script, old: bytes, new: bytes) -> Script:
    return replace(script, pieces=tuple(piece.replace(old, new) for piece in script.pieces))


def _whole(**fields: Any) -> dict[str, Any]:
    return response("completed", output=[message_item("Hello")], **fields)


PLAIN = responses_answer("Hello")

RESPONSES_QUIRKS: dict[str, Quirk] = {
    "plain": _row(PLAIN, "Hello", usage=USED),
    "reasoning, then text": _row(responses_answer("Hello", reasoning="hm hm"), "Hello", reasoning="hm hm"),
    "reasoning of which nothing is shown": _row(responses_answer("Hello", reasoning=""), "Hello"),
    "two parts of a summary": _row(
        ResponseEvents()
        .say("response.reasoning_summary_text.delta", output_index=0, summary_index=0, delta="a")
        .say("response.reasoning_summary_text.delta", output_index=0, summary_index=1, delta="b")
        .text("Hello")
        .completed()
        .script(),
        "Hello",
        reasoning="a\n\nb",
    ),
    "reasoning in full": _row(
        ResponseEvents()
        .say("response.reasoning_text.delta", output_index=0, content_index=0, delta="hm")
        .say("response.reasoning_text.done", output_index=0, content_index=0, text="hm")
        .text("Hello")
        .completed()
        .script(),
        "Hello",
        reasoning="hm",
    ),
    "a call": _calls(responses_answer(reasoning="", calls=[RUN])),
    "two calls, the second before the first is done": _calls(
        ResponseEvents()
        .created()
        .say("response.output_item.added", output_index=0, item={**call_item(RUN), "arguments": ""})
        .say("response.output_item.added", output_index=1, item={**call_item(READ, 1), "arguments": ""})
        .say("response.function_call_arguments.delta", output_index=0, delta='{"n":')
        .say("response.function_call_arguments.delta", output_index=1, delta='{"path": ')
        .say("response.function_call_arguments.delta", output_index=0, delta="1}")
        .say("response.function_call_arguments.delta", output_index=1, delta='"a.cir"}')
        .completed()
        .script(),
        *TWO_CALLS,
    ),
    "text and a call": _row(
        responses_answer("Hello", calls=[RUN]), "Hello", finish="tool_calls", calls=ONE_CALL
    ),
    "a call that only its closing event tells": _calls(
        ResponseEvents()
        .created()
        .say("response.output_item.done", output_index=0, item=call_item(RUN))
        .completed()
        .script()
    ),
    "a call that only the last event tells": _calls(
        ResponseEvents()
        .created()
        .say("response.completed", response=response("completed", output=[call_item(RUN)]))
        .script()
    ),
    "two calls that only the last event tells": _calls(
        ResponseEvents()
        .created()
        .say(
            "response.completed", response=response("completed", output=[call_item(RUN), call_item(READ, 1)])
        )
        .script(),
        *TWO_CALLS,
    ),
    "two calls without ids and places of their items": _calls(
        ResponseEvents()
        .say("response.output_item.done", item={**call_item(RUN), "id": None})
        .say("response.output_item.done", item={**call_item(READ, 1), "id": None})
        .completed()
        .script(),
        *TWO_CALLS,
    ),
    "arguments as an object": _calls(
        ResponseEvents()
        .say("response.output_item.done", output_index=0, item={**call_item(RUN), "arguments": {"n": 1}})
        .completed()
        .script()
    ),
    "no output_index": _calls(
        ResponseEvents()
        .say("response.output_item.added", item={**call_item(RUN), "arguments": ""})
        .say("response.function_call_arguments.delta", item_id="fc_0", delta='{"n":1}')
        .say("response.output_item.done", item=call_item(RUN))
        .completed()
        .script()
    ),
    "no call_id": _calls(
        ResponseEvents()
        .say("response.output_item.done", output_index=0, item={**call_item(RUN), "call_id": None})
        .completed()
        .script(),
        ("fc_0", "run_sim", {"n": 1}),
    ),
    "a name space before the tool": _calls(
        responses_answer(calls=[replace(RUN, name="functions.run_sim")]),
    ),
    "closing events twice": _row(
        ResponseEvents()
        .created()
        .text("Hello")
        .say("response.output_item.done", output_index=0, item=message_item("Hello"))
        .say("response.output_text.done", output_index=0, content_index=0, text="Hello")
        .completed()
        .completed()
        .script(),
        "Hello",
    ),
    "the items under other ids in the last event": _row(
        ResponseEvents()
        .created()
        .reasoning("hm")
        .text("Hello")
        .say("response.completed", response=_whole(usage=None))
        .script(),
        "Hello",
        reasoning="hm",
    ),
    "a text that only its closing event tells": _row(
        ResponseEvents()
        .created()
        .say("response.output_text.done", output_index=0, content_index=0, text="Hello")
        .completed()
        .script(),
        "Hello",
    ),
    "a text that only the last event tells": _row(
        ResponseEvents().created().say("response.completed", response=_whole()).script(), "Hello"
    ),
    "two messages": _row(ResponseEvents().created().text("He").text("llo").completed().script(), "He\n\nllo"),
    "a refusal": _row(
        ResponseEvents()
        .created()
        .say("response.refusal.delta", output_index=0, content_index=0, delta="I can")
        .say("response.refusal.delta", output_index=0, content_index=0, delta="not.")
        .say("response.refusal.done", output_index=0, content_index=0, refusal="I cannot.")
        .completed()
        .script(),
        "I cannot.",
    ),
    "events of unknown kinds": _row(
        ResponseEvents()
        .created()
        .say("response.brand_new.delta", output_index=0, delta="x")
        .say("keepalive")
        .say("response.image_generation_call.partial_image", partial_image_b64="AAAA")
        .say("response.output_item.added", output_index=0, item={"type": "brand_new", "id": "x_1"})
        .text("Hello")
        .completed()
        .script(),
        "Hello",
    ),
    "no names of events": _row(
        Script(pieces=tuple(piece.partition(b"\n")[2] for piece in PLAIN.pieces)), "Hello"
    ),
    "CR LF": _row(_raw(PLAIN, b"\n", b"\r\n"), "Hello"),
    "[DONE] at the end": _row(replace(PLAIN, pieces=(*PLAIN.pieces, DONE)), "Hello"),
    "an error after the end": _row(
        replace(PLAIN, pieces=(*PLAIN.pieces, event("error", code="server_error", message="late"))), "Hello"
    ),
    "not streamed": _row(json_answer(_whole()), "Hello"),
    "not streamed, two messages": _row(
        json_answer(response("completed", output=[message_item("He"), message_item("llo", 1)])), "He\n\nllo"
    ),
    "not streamed, a call": _calls(
        json_answer(response("completed", output=[reasoning_item(0), call_item(RUN)]))
    ),
    "not streamed, failed": _fails(
        json_answer(response("failed", error={"code": "rate_limit_exceeded", "message": "slow"})),
        "rate_limited",
    ),
    "chunks of chat completions": _row(
        Script(pieces=(chunk({"content": "Hello"}), chunk({}, "stop"), DONE)), "Hello"
    ),
    "cut by max_output_tokens": _row(
        _begun().incomplete("max_output_tokens").script(), "Hello", finish="length", usage=USED
    ),
    "max_output_tokens before any text": _row(
        ResponseEvents().created().reasoning("").incomplete("max_output_tokens").script(), finish="length"
    ),
    "cut by the content filter": _row(
        _begun().incomplete("content_filter").script(), "Hello", finish="content_filter"
    ),
    "incomplete without a reason": _row(
        _begun().say("response.incomplete", response=response("incomplete")).script(),
        "Hello",
        finish="length",
    ),
    "cancelled": _row(
        _begun().say("response.cancelled", response=response("cancelled")).script(), "Hello", finish="cut"
    ),
    "no last event": _row(_begun().script(), "Hello", finish="cut"),
    "no last event in a call": _row(
        ResponseEvents().created().call(RUN, is_done=False).script(), finish="cut", calls=ONE_CALL
    ),
    "failed in mid-stream": _fails(
        _begun().failed("server_error", "The server had an error").script(), "server_error", "Hello"
    ),
    "failed for a rate limit": _fails(
        ResponseEvents().created().failed("rate_limit_exceeded", "Rate limit reached").script(),
        "rate_limited",
    ),
    "failed for an empty account": _fails(
        ResponseEvents().created().failed("insufficient_quota", "You exceeded your quota").script(), "quota"
    ),
    "failed for the prompt": _fails(
        ResponseEvents().created().failed("invalid_prompt", "Invalid prompt").script(), "content_blocked"
    ),
    "failed without saying why": _fails(
        ResponseEvents().created().say("response.failed", response=response("failed")).script(),
        "server_error",
    ),
    "an error event": _fails(
        _begun().say("error", code="server_error", message="boom", param=None).script(),
        "server_error",
        "Hello",
    ),
    "an error event with an object": _fails(
        _begun().say("error", error={"code": "context_length_exceeded", "message": "too long"}).script(),
        "context_too_long",
        "Hello",
    ),
    "an error event without its type": _fails(
        replace(_begun().script(), pieces=(*_begun().frames, b'event: error\ndata: {"message": "boom"}\n\n')),
        "server_error",
        "Hello",
    ),
    "an error event without words": _fails(_begun().say("error").script(), "server_error", "Hello"),
    "response.error": _fails(
        _begun().say("response.error", error={"message": "boom"}).script(), "server_error", "Hello"
    ),
    "a broken frame": _fails(
        replace(_begun().script(), pieces=(*_begun().frames, b'data: {"type": "respon\n\n', DONE)),
        "bad_response",
        "Hello",
    ),
    "nothing at all": _fails(ResponseEvents().created().completed().script(), "empty_answer"),
    "a web page": _fails(
        Script(pieces=(b"<html><title>Sign in</title></html>",), content_type="text/html"), "bad_response"
    ),
    "the connection breaks": _fails(_begun().script(ending="drop"), "connection_lost", "Hello"),
    "a model that is not there": _fails(
        error(400, "The requested model 'x' does not exist.", code="model_not_found"), "unknown_model"
    ),
    "a wrong key": _fails(error(401, "Incorrect API key provided", code="invalid_api_key"), "auth"),
    "a number where a list is expected": _row(
        json_answer(
            response(
                "completed",
                output=[
                    {
                        **message_item("Hello"),
                        "content": [{"type": "output_text", "text": "Hello", "annotations": 1}, 2],
                    }
                ],
            )
        ),
        "Hello",
    ),
    "null where a text is expected": _row(
        Script(
            pieces=(
                b"data: "
                + json.dumps({"type": "response.output_text.delta", "delta": None}).encode()
                + b"\n\n",
                *PLAIN.pieces,
            )
        ),
        "Hello",
    ),
}
