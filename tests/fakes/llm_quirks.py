"""What real servers send, each with what has to come of it.

Every row is one script of the fake server (`tests/fakes/llm_server.py`) and the answer, or the typed
error and the part that arrived before it, that a client has to make of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from tests.fakes.llm_server import DONE, USAGE, Script, answer, chunk, error, frame, json_answer

TOOLS = ("run_sim", "read_file", "rewrite_file")
"""Names that the model of these answers was offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirk:
    """A script and what has to come of it."""

    script: Script
    text: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, str, Any], ...] = ()
    """(id, name, arguments); arguments that are JSON are given parsed, others as text."""
    finish: str | None = "stop"
    """None for an error."""
    error: str = ""
    """Kind of the error."""
    usage: Mapping[str, int] | None = None
    """Compared where given."""
    protocol: Literal["openai", "ollama", "responses"] = "openai"

    @property
    def body(self) -> bytes:
        return b"".join(self.script.pieces)

    @property
    def is_stream(self) -> bool:
        """A body that alone decides what comes of it: no status, no broken connection."""
        return self.script.status == 200 and self.script.ending == "complete"


def stream(*pieces: bytes, **options: Any) -> Script:
    return Script(pieces=pieces, **options)


HELLO = (chunk({"role": "assistant", "content": ""}), chunk({"content": "He"}), chunk({"content": "llo"}))
STOP = chunk({}, "stop")
CALLED = chunk({}, "tool_calls")
TAIL = frame({"id": "x1", "choices": [], "usage": USAGE})
ONE_CALL = (("call_a", "run_sim", {"n": 1}),)


def called(*deltas: Mapping[str, Any], finish: bytes = CALLED) -> Script:
    """A stream of entries of `tool_calls`, one per delta."""
    return stream(*(chunk({"tool_calls": [delta]}) for delta in deltas), finish, DONE)


def piece(arguments: Any = None, *, name: str | None = None, **more: Any) -> dict[str, Any]:
    """One entry of `tool_calls`."""
    function = {"name": name, "arguments": arguments}
    return {**more, "function": {key: value for key, value in function.items() if value is not None}}


def raw(script: Script, body: bytes) -> Script:
    return replace(script, pieces=(body,))


def _text(script: Script, text: str = "Hello", **more: Any) -> Quirk:
    return Quirk(script=script, text=text, **more)


def _call(script: Script, *calls: tuple[str, str, Any], **more: Any) -> Quirk:
    return Quirk(script=script, calls=calls or ONE_CALL, finish=more.pop("finish", "tool_calls"), **more)


def _fails(script: Script, kind: str, **more: Any) -> Quirk:
    return Quirk(script=script, error=kind, finish=None, **more)


PLAIN = stream(*HELLO, STOP, TAIL, DONE)
OPENING = piece("", name="run_sim", index=0, id="call_a", type="function")
BODY = {
    "id": "x1",
    "object": "chat.completion",
    "model": "fake-model",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
    "usage": USAGE,
}
WHOLE_CALL = {"id": "call_a", "type": "function", "function": {"name": "run_sim", "arguments": '{"n":1}'}}

FRAMING = {
    "normal, usage in the last chunk": _text(
        stream(
            *HELLO,
            STOP,
            frame(
                {
                    "choices": [],
                    "usage": {
                        **USAGE,
                        "prompt_tokens_details": {"cached_tokens": 64},
                        "completion_tokens_details": {"reasoning_tokens": 3},
                    },
                }
            ),
            DONE,
        ),
        usage={"prompt_tokens": 90, "total_tokens": 97, "cached_tokens": 64, "reasoning_tokens": 3},
    ),
    "no [DONE]": _text(stream(*HELLO, STOP)),
    "no [DONE] and no length": _text(stream(*HELLO, STOP, ending="unmarked")),
    "keep-alive comments": _text(
        stream(b": keep-alive\n\n", HELLO[0], b":\n\n: x\n", *HELLO[1:], b"\n\n\n", STOP, DONE)
    ),
    "CR LF": _text(raw(PLAIN, b"".join(PLAIN.pieces).replace(b"\n", b"\r\n"))),
    "CR": _text(raw(PLAIN, b"".join(PLAIN.pieces).replace(b"\n", b"\r"))),
    "data: without a space": _text(raw(PLAIN, b"".join(PLAIN.pieces).replace(b"data: ", b"data:"))),
    "byte order mark": _text(raw(PLAIN, b"\xef\xbb\xbf" + b"".join(PLAIN.pieces))),
    "single bytes": _text(
        stream(*(bytes([byte]) for byte in b"".join((chunk({"content": "增益 µ 𝄞"}), STOP, DONE)))),
        text="增益 µ 𝄞",
    ),
    "pieces of three bytes": _text(
        stream(
            *(
                body[at : at + 3]
                for body in [b"".join((chunk({"content": "运放 OPA"}), STOP, DONE))]
                for at in range(0, len(body), 3)
            )
        ),
        text="运放 OPA",
    ),
    "several frames in one piece": _text(raw(PLAIN, b"".join(PLAIN.pieces))),
    "no blank line between frames": _text(raw(PLAIN, b"".join(PLAIN.pieces).replace(b"\n\n", b"\n"))),
    "no line end at the end": _text(raw(PLAIN, b"".join(PLAIN.pieces[:-2]).rstrip(b"\n"))),
    "data in several lines": _text(
        stream(
            b'data: {"choices": [{"index": 0,\ndata: "delta": {"content": "Hello"},\n'
            b'data: "finish_reason": "stop"}]}\n\n',
            DONE,
        )
    ),
    "event names and ids": _text(
        stream(*(b"event: message\nid: 7\nretry: 10\n" + part for part in (*HELLO, STOP)), DONE)
    ),
    "event: ping": _text(stream(HELLO[1], b'event: ping\ndata: {"type": "ping"}\n\n', HELLO[2], STOP, DONE)),
    "data that is no JSON": _text(stream(b"data: ping\n\n", *HELLO, b"data: \n\n", STOP, DONE)),
    "invalid UTF-8": _text(raw(PLAIN, b"".join(PLAIN.pieces).replace(b"llo", b"l\xffo")), text="Hel�o"),
    "a character in two halves": _text(
        stream(
            b'data: {"choices":[{"index":0,"delta":{"content":"a\\ud834"}}]}\n\n',
            b'data: {"choices":[{"index":0,"delta":{"content":"\\udd1eb"}}]}\n\n',
            STOP,
        ),
        text="a𝄞b",
    ),
    "half a character": _text(
        stream(b'data: {"choices":[{"index":0,"delta":{"content":"a\\ud834"}}]}\n\n', STOP), text="a�"
    ),
    "the answer as one JSON body": _text(json_answer(BODY), usage={"total_tokens": 97}),
    "the answer as one JSON body called a stream": _text(stream(json.dumps(BODY, indent=1).encode())),
    "an event stream called JSON": _text(replace(PLAIN, content_type="application/json; charset=utf-8")),
    "an event stream called text": _text(replace(PLAIN, content_type="text/plain")),
    "blank lines before a JSON body": _text(
        Script(pieces=(b"\n\n\n", json.dumps(BODY).encode()), content_type="application/json")
    ),
    "frames without data:": _text(
        stream(*(part.removeprefix(b"data: ").strip() + b"\n" for part in (*HELLO, STOP)))
    ),
    "more after [DONE]": _text(stream(*HELLO, STOP, DONE, chunk({"content": "ghost"}))),
}

CONTENT = {
    "reasoning_content": _text(answer("Hello", reasoning="Let me see"), reasoning="Let me see"),
    "reasoning": _text(
        stream(chunk({"reasoning": "Let "}), chunk({"reasoning": "me"}), *HELLO, STOP, DONE),
        reasoning="Let me",
    ),
    "thinking": _text(stream(chunk({"thinking": "hm"}), *HELLO, STOP, DONE), reasoning="hm"),
    "reasoning under two names": _text(
        stream(chunk({"reasoning": "hm", "reasoning_content": "hm"}), *HELLO, STOP, DONE), reasoning="hm"
    ),
    "reasoning beside null content": _text(
        stream(
            chunk({"content": None, "reasoning_content": "Let", "role": "assistant"}),
            chunk({"content": "Hello", "reasoning_content": None}),
            STOP,
            DONE,
        ),
        reasoning="Let",
    ),
    "<think> stays text": _text(
        stream(chunk({"content": "<think>a</think>b"}), STOP), text="<think>a</think>b"
    ),
    "content as parts": _text(
        stream(
            chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
            chunk({"content": [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]}),
            STOP,
        ),
        reasoning="hm",
    ),
    "a refusal": _text(stream(chunk({"refusal": "I will not."}), STOP), text="I will not."),
    "usage in every chunk": _text(
        stream(
            chunk({"content": "Hel"}, usage={"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}),
            chunk({"content": "lo"}, usage={"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}),
            chunk({}, "stop", usage={"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}),
        ),
        usage={"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
    ),
    "usage null": _text(stream(*(chunk({"content": part}, usage=None) for part in ("Hel", "lo")), STOP)),
    "usage of DeepSeek": _text(
        stream(*HELLO, chunk({}, "stop", usage={**USAGE, "prompt_cache_hit_tokens": 60}), DONE),
        usage={"cached_tokens": 60},
    ),
    "odd fields": _text(
        stream(
            frame({"choices": None}),
            frame({"choices": [None, {"index": 1, "delta": {"content": "other"}}]}),
            frame({"choices": [{"index": 0, "delta": None, "finish_reason": ""}]}),
            *HELLO,
            STOP,
            frame([]),
            frame("x"),
        )
    ),
    "finish_reason length": _text(stream(*HELLO, chunk({}, "length"), DONE), finish="length"),
    "finish_reason content_filter": _text(
        stream(*HELLO, chunk({}, "content_filter"), DONE), finish="content_filter"
    ),
    "finish_reason sensitive": _text(stream(*HELLO, chunk({}, "sensitive"), DONE), finish="content_filter"),
    "unknown finish_reason": _text(stream(*HELLO, chunk({}, "eos_token"), DONE)),
    "finish_reason tool_calls without a call": _text(stream(*HELLO, CALLED, DONE)),
    "the whole answer again in the last chunk": _text(
        stream(
            *HELLO,
            frame({"choices": [{"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}]}),
        )
    ),
    "text with the finish reason": _text(stream(HELLO[1], chunk({"content": "llo"}, "stop"))),
    "no finish_reason, clean close": _text(stream(*HELLO), finish="cut"),
    "no finish_reason, [DONE]": _text(stream(*HELLO, DONE), finish="cut"),
    "closed inside a frame": _text(stream(*HELLO, b'data: {"choices": [{"ind'), finish="cut"),
    "only reasoning, then cut": Quirk(
        script=stream(chunk({"reasoning_content": "hm"})), reasoning="hm", finish="cut"
    ),
    "only reasoning, then length": Quirk(
        script=stream(chunk({"reasoning_content": "hm"}), chunk({}, "length")),
        reasoning="hm",
        finish="length",
    ),
    "an error after the finish reason": _text(stream(*HELLO, STOP, frame({"error": {"message": "late"}}))),
}

_TWO = (("call_a", "run_sim", {"n": 1}), ("call_b", "read_file", {"path": "a.cir"}))

CALLS = {
    "a call in pieces": _call(called(OPENING, piece('{"n"', index=0), piece(":1}", index=0))),
    "text, then a call": _call(
        stream(*HELLO, chunk({"tool_calls": [{"index": 0, **WHOLE_CALL}]}), CALLED), text="Hello"
    ),
    "two calls": _call(
        called(
            OPENING,
            piece('{"n":1}', index=0),
            piece("", name="read_file", index=1, id="call_b"),
            piece('{"path":"a.cir"}', index=1),
        ),
        *_TWO,
    ),
    "two calls interleaved": _call(
        called(
            OPENING,
            piece("", name="read_file", index=1, id="call_b"),
            piece('{"n"', index=0),
            piece('{"path":', index=1),
            piece(":1}", index=0),
            piece('"a.cir"}', index=1),
        ),
        *_TWO,
    ),
    "no index": _call(called(piece("", name="run_sim", id="call_a"), piece('{"n":'), piece("1}"))),
    "no index, the id in every piece": _call(
        called(piece("", name="run_sim", id="call_a"), piece('{"n":', id="call_a"), piece("1}", id="call_a"))
    ),
    "index null": _call(called({**OPENING, "index": None}, piece('{"n":1}', index=None))),
    "two calls without index": _call(
        called(
            piece("", name="run_sim", id="call_a"),
            piece('{"n":1}'),
            piece("", name="read_file", id="call_b"),
            piece('{"path":"a.cir"}'),
        ),
        *_TWO,
    ),
    "two calls without index, interleaved by id": _call(
        called(
            piece("", name="run_sim", id="call_a"),
            piece("", name="read_file", id="call_b"),
            piece('{"n":1', id="call_a"),
            piece('{"path":"a.cir"', id="call_b"),
            piece("}", id="call_a"),
            piece("}", id="call_b"),
        ),
        *_TWO,
    ),
    "two calls with the same index and different ids": _call(
        called(
            piece('{"n":1}', name="run_sim", index=0, id="call_a"),
            piece('{"path":"a.cir"}', name="read_file", index=0, id="call_b"),
        ),
        *_TWO,
    ),
    "two calls with the same index in pieces": _call(
        called(
            OPENING,
            piece('{"n":1}', index=0),
            piece("", name="read_file", index=0, id="call_b"),
            piece('{"path":', index=0),
            piece('"a.cir"}', index=0),
        ),
        *_TWO,
    ),
    "two calls with the same id": _call(
        called(
            piece('{"n":1}', name="run_sim", index=0, id="call_0"),
            piece('{"n":2}', name="run_sim", index=1, id="call_0"),
        ),
        ("call_0", "run_sim", {"n": 1}),
        ("call_0", "run_sim", {"n": 2}),
    ),
    "two calls with the same id and no index": _call(
        called(piece('{"n":1}', name="run_sim", id="call_0"), piece('{"n":2}', name="run_sim", id="call_0")),
        ("call_0", "run_sim", {"n": 1}),
        ("call_0", "run_sim", {"n": 2}),
    ),
    "two equal calls in one delta": _call(
        stream(chunk({"tool_calls": [piece('{"n":1}', name="run_sim")] * 2}), CALLED),
        ("", "run_sim", {"n": 1}),
        ("", "run_sim", {"n": 1}),
    ),
    "no id": _call(
        called(piece("", name="run_sim", index=0), piece('{"n":1}', index=0)), ("", "run_sim", {"n": 1})
    ),
    "two calls with neither id nor index": _call(
        called(
            piece("", name="run_sim"),
            piece('{"n":1}'),
            piece("", name="read_file"),
            piece('{"path":"a.cir"}'),
        ),
        ("", "run_sim", {"n": 1}),
        ("", "read_file", {"path": "a.cir"}),
    ),
    "one tool twice with neither id nor index": _call(
        called(piece("", name="run_sim"), piece('{"n":1}'), piece("", name="run_sim"), piece('{"n":2}')),
        ("", "run_sim", {"n": 1}),
        ("", "run_sim", {"n": 2}),
    ),
    "whole calls with neither id nor index": _call(
        called(piece("{}", name="run_sim", index=0), piece('{"path":"a.cir"}', name="read_file", index=0)),
        ("", "run_sim", {}),
        ("", "read_file", {"path": "a.cir"}),
    ),
    "a new id in every piece": _call(
        called(
            OPENING,
            piece('{"n"', index=0, id="call_x1"),
            piece(":", index=0, id="call_x2"),
            piece("1}", index=0, id="call_x3"),
        )
    ),
    "a new id and the name in every piece": _call(
        called(
            piece('{"n"', name="run_sim", index=0, id="call_a"),
            piece(":", name="run_sim", index=0, id="call_x2"),
            piece("1}", name="run_sim", index=0, id="call_x3"),
        )
    ),
    "a new id in every piece, no index": _call(
        called(
            piece("", name="run_sim", id="call_a"), piece('{"n"', id="call_x1"), piece(":1}", id="call_x2")
        )
    ),
    "the name in every piece": _call(
        called(*(piece(part, name="run_sim", index=0, id="call_a") for part in ("", '{"n"', ":", "1}", "")))
    ),
    "the name in every piece, function_call beside it": _call(
        stream(
            *(
                chunk(
                    {
                        "tool_calls": [piece(part, name="run_sim", index=0, id="call_a")],
                        "function_call": {"name": "run_sim", "arguments": part},
                    }
                )
                for part in ('{"n"', ":1}")
            ),
            CALLED,
        )
    ),
    "the name in pieces": _call(
        called(
            piece("", name="run", index=0, id="call_a"),
            piece("", name="_", index=0),
            piece("", name="sim", index=0),
            piece('{"n":1}', index=0),
        )
    ),
    "an unknown name again and again": _call(
        called(*(piece(part, name="fly", index=0, id="call_a") for part in ('{"n"', ":1}"))),
        ("call_a", "fly", {"n": 1}),
    ),
    "the name after the id": _call(
        called(piece("", index=0, id="call_a"), piece("", name="run_sim", index=0), piece('{"n":1}', index=0))
    ),
    "arguments as an object": _call(called(piece({"n": 1}, name="run_sim", index=0, id="call_a"))),
    "arguments as an object, the call again": _call(
        called(*[piece({"n": 1}, name="run_sim", index=0, id="call_a")] * 2)
    ),
    "{} as a place-holder": _call(
        called(
            piece("{}", name="run_sim", index=0, id="call_a"), piece('{"n":', index=0), piece("1}", index=0)
        )
    ),
    "the whole call again at the end": _call(
        called(OPENING, piece('{"n":', index=0), piece("1}", index=0), {"index": 0, **WHOLE_CALL})
    ),
    "arguments null": _call(
        called(piece(None, name="run_sim", index=0, id="call_a")), ("call_a", "run_sim", "")
    ),
    "no arguments": _call(called(OPENING), ("call_a", "run_sim", "")),
    "arguments that are no JSON": _call(
        called(OPENING, piece('{"n": 1,}', index=0)), ("call_a", "run_sim", '{"n": 1,}')
    ),
    "a call not inside function": _call(
        called({"index": 0, "id": "call_a", "name": "run_sim", "arguments": {"n": 1}})
    ),
    "function_call": _call(
        stream(
            chunk({"function_call": {"name": "run_sim", "arguments": ""}}),
            chunk({"function_call": {"arguments": '{"n":1}'}}),
            chunk({}, "function_call"),
        ),
        ("", "run_sim", {"n": 1}),
    ),
    "a name space before the name": _call(
        called({"index": 0, **WHOLE_CALL, "function": {"name": "functions.run_sim", "arguments": '{"n":1}'}})
    ),
    "a template's marks behind the name": _call(
        called(
            {
                "index": 0,
                **WHOLE_CALL,
                "function": {"name": "run_sim<|channel|>commentary", "arguments": '{"n":1}'},
            }
        )
    ),
    "arguments that are a number": _call(
        called({"index": 0, **WHOLE_CALL, "function": {"name": "run_sim", "arguments": 1.5}}),
        ("call_a", "run_sim", "1.5"),
    ),
    "finish_reason stop although calls came": _call(called(OPENING, piece('{"n":1}', index=0), finish=STOP)),
    "the whole call with the finish reason": _call(
        stream(chunk({"role": "assistant", "tool_calls": [{"index": 0, **WHOLE_CALL}]}, "tool_calls"))
    ),
    "a whole call, [DONE], no finish_reason": _call(
        stream(chunk({"tool_calls": [{"index": 0, **WHOLE_CALL}]}), DONE)
    ),
    "half a call, then cut": _call(
        stream(chunk({"tool_calls": [OPENING]}), chunk({"tool_calls": [piece('{"n":', index=0)]})),
        ("call_a", "run_sim", '{"n":'),
        finish="cut",
    ),
    "calls in one JSON body": _call(
        json_answer(
            {
                **BODY,
                "choices": [
                    {"message": {"content": None, "tool_calls": [WHOLE_CALL]}, "finish_reason": "tool_calls"}
                ],
            }
        )
    ),
    "function_call in one JSON body": _call(
        json_answer(
            {"choices": [{"message": {"function_call": {"name": "run_sim", "arguments": '{"n":1}'}}}]}
        ),
        ("", "run_sim", {"n": 1}),
    ),
}

PART = HELLO[1]

ERRORS = {
    "connection dropped": _fails(stream(PART, ending="drop"), "connection_lost", text="He"),
    "connection reset": _fails(stream(PART, ending="reset"), "connection_lost", text="He"),
    "dropped before the headers": _fails(stream(ending="refuse"), "connection_lost"),
    "an error object in mid-stream": _fails(
        stream(PART, frame({"error": {"message": "boom", "type": "server_error", "code": None}})),
        "server_error",
        text="He",
    ),
    "an error text in mid-stream": _fails(stream(PART, frame({"error": "boom"})), "server_error", text="He"),
    "an error with a code in mid-stream": _fails(
        stream(PART, frame({"error": {"message": "too long", "code": "context_length_exceeded"}})),
        "context_too_long",
        text="He",
    ),
    "an error with a status in mid-stream": _fails(
        stream(PART, frame({"error": {"message": "slow down", "code": 429}})), "rate_limited", text="He"
    ),
    "event: error with bare JSON": _fails(
        stream(PART, b'event: error\ndata: {"message": "boom", "type": "overloaded_error"}\n\n'),
        "overloaded",
        text="He",
    ),
    "event: error with bare text": _fails(
        stream(PART, b"event: error\ndata: it is broken\n\n"), "server_error", text="He"
    ),
    "event: error with bare text and nothing behind it": _fails(
        stream(PART, b"event: error\ndata: it is broken"), "server_error", text="He"
    ),
    "an error without data: in mid-stream": _fails(
        stream(PART, b'{"error": {"message": "boom"}}\n'), "server_error", text="He"
    ),
    "an error of FastChat": _fails(
        stream(PART, frame({"text": "**NETWORK ERROR**", "error_code": 50001})), "server_error", text="He"
    ),
    "a broken frame": _fails(
        stream(PART, b'data: {"choices":[{"delta":{"content":"x"\n\n', *HELLO), "bad_response", text="He"
    ),
    "finish_reason network_error": _fails(
        stream(PART, chunk({}, "network_error")), "server_error", text="He"
    ),
    "finish_reason model_context_window_exceeded": _fails(
        stream(PART, chunk({}, "model_context_window_exceeded")), "context_too_long", text="He"
    ),
    "finish_reason error": _fails(
        stream(
            PART,
            frame(
                {"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "x", "code": 502}}]}
            ),
        ),
        "server_error",
        text="He",
    ),
    "a web page": _fails(
        Script(pieces=(b"<!DOCTYPE html>\n<title>Sign in</title>\n\n<p>x",), content_type="text/html"),
        "bad_response",
    ),
    "a web page in one line": _fails(
        Script(pieces=(b"<html><title>Sign in</title><p>a:b</html>",), content_type="text/html"),
        "bad_response",
    ),
    "a JSON error with HTTP 200": _fails(
        json_answer({"error": {"message": "bad key", "code": "invalid_api_key"}}), "auth"
    ),
    "a JSON error without error with HTTP 200": _fails(
        json_answer({"code": 20012, "message": "Model does not exist.", "data": None}), "unknown_model"
    ),
    "a JSON body that is no answer": _fails(json_answer({"status": "ok"}), "bad_response"),
    "an empty turn": _fails(stream(chunk({"role": "assistant", "content": ""}), STOP, DONE), "empty_answer"),
    "finish_reason tool_calls and nothing else": _fails(stream(CALLED, DONE), "empty_answer"),
    "only white space": _fails(stream(chunk({"content": "\n\n"}), STOP), "empty_answer", text="\n\n"),
    "only reasoning, then stop": _fails(
        stream(chunk({"reasoning_content": "hm"}), STOP), "empty_answer", reasoning="hm"
    ),
    "an empty body": _fails(stream(), "empty_answer"),
}

REFUSALS = {
    "context_length_exceeded": _fails(error(400, code="context_length_exceeded"), "context_too_long"),
    "too long, in words": _fails(
        error(400, "This model's maximum context length is 4096 tokens. However, you requested 5000."),
        "context_too_long",
    ),
    "max_tokens too large": _fails(
        error(400, "'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens"),
        "bad_request",
    ),
    "insufficient_quota": _fails(error(429, code="insufficient_quota"), "quota"),
    "rate limit": _fails(
        error(429, "Rate limit reached for tokens per min. Reduce the length"), "rate_limited"
    ),
    "invalid_api_key": _fails(error(401, code="invalid_api_key"), "auth"),
    "model_not_found": _fails(error(404, code="model_not_found"), "unknown_model"),
    "model not found, in words": _fails(
        error(404, 'model "q" not found, try pulling it first'), "unknown_model"
    ),
    "no such page": _fails(Script(pieces=(b"404 page not found",), status=404), "bad_request"),
    "content_filter": _fails(error(400, code="content_filter"), "content_blocked"),
    "no balance at DeepSeek": _fails(
        json_answer({"error": {"message": "Insufficient Balance", "code": "invalid_request_error"}}, 402),
        "no_balance",
    ),
    "no balance at Zhipu": _fails(
        json_answer({"error": {"code": "1113", "message": "欠费"}}, 429), "no_balance"
    ),
    "concurrency at Zhipu": _fails(
        json_answer({"error": {"code": "1302", "message": "."}}, 429), "rate_limited"
    ),
    "quota at Zhipu": _fails(json_answer({"error": {"code": "1308", "message": "."}}, 429), "quota"),
    "a bare JSON text": _fails(json_answer("Invalid token", 401), "auth"),
    "an error text": _fails(json_answer({"error": "no"}, 400), "bad_request"),
    "a message beside null": _fails(
        json_answer({"message": "Request was rejected due to rate limiting.", "data": None}, 429),
        "rate_limited",
    ),
    "details of FastAPI": _fails(
        json_answer({"detail": [{"loc": ["body", "messages"], "msg": "field required"}]}, 422), "bad_request"
    ),
    "a list of Google": _fails(
        json_answer(
            [{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}], 400
        ),
        "auth",
    ),
    "a web page with HTTP 502": _fails(
        Script(
            pieces=(b"<html><title>502 Bad Gateway</title></html>",), status=502, content_type="text/html"
        ),
        "server_error",
    ),
    "an empty body with HTTP 503": _fails(Script(status=503), "overloaded"),
    "an event stream with HTTP 400": _fails(
        stream(frame({"error": {"message": "x", "code": "1261"}}), status=400), "context_too_long"
    ),
    "forbidden": _fails(error(403), "forbidden"),
    "a redirect": _fails(
        Script(status=308, headers={"Location": "http://127.0.0.1:1/v1/chat/completions"}), "bad_response"
    ),
}

QUIRKS: dict[str, Quirk] = {**FRAMING, **CONTENT, **CALLS, **ERRORS, **REFUSALS}
