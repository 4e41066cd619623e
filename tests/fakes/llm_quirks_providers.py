"""What single providers' servers send, as rows like those of `llm_quirks`: Ollama, GLM, SiliconFlow."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.fakes.llm_protocols import (
    SOURCES,
    line,
    ollama_answer,
    ollama_chunk,
    ollama_end,
    ollama_error,
    siliconflow_answer,
    zhipu_answer,
    zhipu_error,
)
from tests.fakes.llm_quirks import ONE_CALL, Quirk
from tests.fakes.llm_server import DONE, Script, call, chunk, frame, json_answer

NDJSON = "application/x-ndjson"
RUN = call("run_sim", {"n": 1}, id="call_a")
READ = call("read_file", {"path": "a.cir"}, id="call_b")
NO_ID = replace(RUN, id="")


def _ollama(script: Script, **expected: Any) -> Quirk:
    return Quirk(script=script, protocol="ollama", **expected)


def _lines(*pieces: bytes, **options: Any) -> Script:
    return Script(pieces=pieces, **{"content_type": NDJSON, **options})


def _one_call(name: str = "run_sim", **function: Any) -> bytes:
    return ollama_chunk(tool_calls=[{"function": {"name": name, **function}}])


HELLO = (ollama_chunk(content="He"), ollama_chunk(content="llo"))
PART = HELLO[0]
END = ollama_end()
WHOLE = b"".join((*HELLO, END))
CALLED: dict[str, Any] = {"calls": ONE_CALL, "finish": "tool_calls"}
UNNAMED: dict[str, Any] = {"calls": (("", "run_sim", {"n": 1}),), "finish": "tool_calls"}

OLLAMA = {
    "plain": _ollama(ollama_answer("Hello"), text="Hello", usage={"prompt_tokens": 26, "total_tokens": 35}),
    "thinking": _ollama(ollama_answer("Hello", thinking="Let me"), text="Hello", reasoning="Let me"),
    "without prompt_eval_count": _ollama(
        ollama_answer("Hello", read=None), text="Hello", usage={"prompt_tokens": 0, "completion_tokens": 9}
    ),
    "no line end at the end": _ollama(_lines(WHOLE.rstrip()), text="Hello"),
    "CR LF": _ollama(_lines(WHOLE.replace(b"\n", b"\r\n")), text="Hello"),
    "blank lines": _ollama(_lines(b"\n\n", HELLO[0], b"\n", HELLO[1], END, b"\n"), text="Hello"),
    "single bytes": _ollama(
        _lines(*(bytes([one]) for one in ollama_chunk(content="增益 µ 𝄞") + END)), text="增益 µ 𝄞"
    ),
    "byte order mark": _ollama(_lines(b"\xef\xbb\xbf" + WHOLE), text="Hello"),
    "called JSON": _ollama(_lines(WHOLE, content_type="application/json"), text="Hello"),
    "not streamed": _ollama(
        _lines(
            line({"message": {"role": "assistant", "content": "Hello"}, "done": True, "done_reason": "stop"})
        ),
        text="Hello",
    ),
    "done without a reason": _ollama(
        _lines(*HELLO, line({"message": {"content": ""}, "done": True})), text="Hello"
    ),
    "done without a message": _ollama(_lines(*HELLO, line({"done": True, "eval_count": 2})), text="Hello"),
    "more after the end": _ollama(_lines(WHOLE, ollama_chunk(content="ghost")), text="Hello"),
    "length": _ollama(ollama_answer("Hello", reason="length"), text="Hello", finish="length"),
    "cut": _ollama(_lines(*HELLO), text="Hello", finish="cut"),
    "a call": _ollama(ollama_answer(calls=[RUN]), **CALLED),
    "a call without an id": _ollama(ollama_answer(calls=[NO_ID]), **UNNAMED),
    "a call without an index": _ollama(_lines(_one_call(arguments={"n": 1}), END), **UNNAMED),
    "a call in the last line": _ollama(
        _lines(
            line(
                {
                    "message": {"tool_calls": [{"function": {"name": "run_sim", "arguments": {"n": 1}}}]},
                    "done": True,
                    "done_reason": "stop",
                }
            )
        ),
        **UNNAMED,
    ),
    "arguments as text": _ollama(_lines(_one_call(arguments='{"n":1}'), END), **UNNAMED),
    "no arguments": _ollama(_lines(_one_call(), END), calls=(("", "run_sim", ""),), finish="tool_calls"),
    "text, then two calls": _ollama(
        ollama_answer("Wait.", calls=[RUN, READ]),
        text="Wait.",
        calls=(*ONE_CALL, ("call_b", "read_file", {"path": "a.cir"})),
        finish="tool_calls",
    ),
    "one tool twice, both with index 0": _ollama(
        _lines(_one_call(index=0, arguments={"n": 1}), _one_call(index=0, arguments={"n": 2}), END),
        calls=(("", "run_sim", {"n": 1}), ("", "run_sim", {"n": 2})),
        finish="tool_calls",
    ),
    "two equal calls": _ollama(
        _lines(_one_call(arguments={"n": 1}), _one_call(arguments={"n": 1}), END),
        calls=(("", "run_sim", {"n": 1}),) * 2,
        finish="tool_calls",
    ),
    "calls, then the stream ends": _ollama(
        _lines(_one_call(arguments={"n": 1})), calls=(("", "run_sim", {"n": 1}),), finish="cut"
    ),
    "an error line": _ollama(
        _lines(PART, line({"error": "an error was encountered while running the model"})),
        text="He",
        error="server_error",
        finish=None,
    ),
    "an error line after a call": _ollama(
        _lines(_one_call(arguments={"n": 1}), line({"error": "unexpected EOF"})),
        error="server_error",
        finish=None,
    ),
    "a broken line": _ollama(
        _lines(PART, b'{"message":{"content":"x"\n', END), text="He", error="bad_response", finish=None
    ),
    "a web page": _ollama(
        _lines(b"<html><title>Sign in</title></html>\n", content_type="text/html"),
        error="bad_response",
        finish=None,
    ),
    "nothing": _ollama(_lines(), error="empty_answer", finish=None),
    "loaded, and nothing said": _ollama(_lines(ollama_end("load")), error="empty_answer", finish=None),
    "only thinking": _ollama(ollama_answer(thinking="hm"), reasoning="hm", error="empty_answer", finish=None),
    "connection dropped": _ollama(
        _lines(PART, ending="drop"), text="He", error="connection_lost", finish=None
    ),
    "model not found": _ollama(ollama_error(404, "model 'q' not found"), error="unknown_model", finish=None),
    "queue full": _ollama(
        ollama_error(503, "server busy, please try again.  maximum pending requests exceeded"),
        error="overloaded",
        finish=None,
    ),
    "no memory": _ollama(
        ollama_error(500, "model requires more system memory (9.1 GiB) than is available (3.2 GiB)"),
        error="server_error",
        finish=None,
    ),
}

_SENSITIVE = zhipu_answer("He", finish_reason="sensitive")

ZHIPU = {
    "plain": Quirk(
        script=zhipu_answer("Hello", reasoning="hm"),
        text="Hello",
        reasoning="hm",
        usage={"cached_tokens": 96, "reasoning_tokens": 12, "total_tokens": 150},
    ),
    "a call whole in one delta": Quirk(script=zhipu_answer(calls=[RUN]), **CALLED),
    "two calls": Quirk(
        script=zhipu_answer("Wait.", calls=[RUN, READ]),
        text="Wait.",
        calls=(*ONE_CALL, ("call_b", "read_file", {"path": "a.cir"})),
        finish="tool_calls",
    ),
    "sources": Quirk(script=zhipu_answer("Hello", sources=SOURCES), text="Hello"),
    "sources in a chunk of their own": Quirk(
        script=Script(pieces=(frame({"web_search": SOURCES}), *zhipu_answer("Hello").pieces)), text="Hello"
    ),
    "stopped as sensitive": Quirk(script=_SENSITIVE, text="He", finish="content_filter"),
    "network_error": Quirk(
        script=zhipu_answer("He", finish_reason="network_error"),
        text="He",
        error="server_error",
        finish=None,
    ),
    "context window exceeded": Quirk(
        script=zhipu_answer("He", finish_reason="model_context_window_exceeded"),
        text="He",
        error="context_too_long",
        finish=None,
    ),
    "a code in mid-stream": Quirk(
        script=Script(
            pieces=(chunk({"content": "He"}), frame({"error": {"code": "1302", "message": "并发"}}))
        ),
        text="He",
        error="rate_limited",
        finish=None,
    ),
    **{
        f"code {code} with HTTP {status}": Quirk(
            script=zhipu_error(code, "x", status), error=kind, finish=None
        )
        for code, status, kind in (
            ("1000", 401, "auth"),
            ("1113", 429, "no_balance"),
            ("1211", 400, "unknown_model"),
            ("1261", 400, "context_too_long"),
            ("1301", 400, "content_blocked"),
            ("1303", 429, "rate_limited"),
            ("1304", 429, "quota"),
            ("1305", 429, "overloaded"),
            ("1309", 429, "forbidden"),
            ("1234", 500, "server_error"),
        )
    },
}

SILICONFLOW = {
    "plain, usage so far in every chunk, no [DONE]": Quirk(
        script=siliconflow_answer("Hello", reasoning="Let me"),
        text="Hello",
        reasoning="Let me",
        usage={"prompt_tokens": 40, "completion_tokens": 4},
    ),
    "a call, ids empty behind its first piece": Quirk(script=siliconflow_answer(calls=[RUN]), **CALLED),
    "[DONE] all the same": Quirk(
        script=Script(pieces=(*siliconflow_answer("Hello").pieces, DONE)), text="Hello"
    ),
    "a bare text as the body of 401": Quirk(
        script=json_answer("Invalid token", 401), error="auth", finish=None
    ),
    "no such model": Quirk(
        script=json_answer({"code": 20012, "message": "Model does not exist.", "data": None}, 400),
        error="unknown_model",
        finish=None,
    ),
    "no balance": Quirk(
        script=json_answer({"code": 30001, "message": "balance is insufficient", "data": None}, 403),
        error="no_balance",
        finish=None,
    ),
    "a rate limit without a code": Quirk(
        script=json_answer({"message": "Request was rejected due to rate limiting.", "data": None}, 429),
        error="rate_limited",
        finish=None,
    ),
    "plain text with 503": Quirk(
        script=Script(pieces=(b"service unavailable",), status=503, content_type="text/plain"),
        error="overloaded",
        finish=None,
    ),
    "an error in mid-stream without error": Quirk(
        script=Script(
            pieces=(
                chunk({"content": "He"}),
                frame({"code": 50507, "message": json.dumps("Unknown error"), "data": None}),
            )
        ),
        text="He",
        error="server_error",
        finish=None,
    ),
}

PROVIDER_QUIRKS: dict[str, Quirk] = {
    f"{provider}: {name}": quirk
    for provider, rows in (("ollama", OLLAMA), ("zhipu", ZHIPU), ("siliconflow", SILICONFLOW))
    for name, quirk in rows.items()
}
