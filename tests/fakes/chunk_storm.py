"""A model that streams some thousand small chunks a second, in a process of its own.

    with chunk_storm() as base_url:
        ...  # ask it question("text", chunks=5_000, seconds=2.5)

The question says what comes and how fast: text, reasoning, mixed (reasoning first, then text), call (one
tool call whose arguments are 200 kB in small pieces), broken (the same without its end, so no JSON) or blank
(nothing but line ends, 100 in each chunk), stuck (the model opens the same code block for ever).
`chunks_of` gives the same pieces here, so that what arrived can be held against what was sent. Anything else
that is asked is answered by "ok".
Each chunk is a frame and a piece of the body by itself; what is due is written by the clock, so that a
late timer is made up for.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

from tests.fakes.llm_server import DONE, chunk, frame

CALL_CHARACTERS = 200_000
_TICK_S = 0.005
Kind = Literal["text", "reasoning", "mixed", "call", "broken", "blank", "stuck"]
_QUESTION = re.compile(r"storm (\w+) of (\d+) chunks in ([\d.]+) s")
_SYLLABLES = (
    "gain ",
    "falls ",
    "kΩμ, ",
    "相位",
    "裕度",
    "\n",
    "- R1 ",
    "**",
    "`C2`",
    "🙂",
    "é",
    "| ",
    "$f_0$",
    "x",
)


def question(kind: Kind, *, chunks: int, seconds: float) -> str:
    """What to ask for a storm; in 0 seconds all of it comes at once."""
    return f"storm {kind} of {chunks} chunks in {seconds:g} s"


def chunks_of(kind: Kind, count: int) -> Iterator[tuple[str, str]]:
    """(field of the delta, its text) of each chunk, the same at every call."""
    rng = random.Random(f"{kind} {count}")
    if kind in ("call", "broken"):
        parts = _arguments(rng, count)
        yield from (("arguments", part) for part in parts[: len(parts) - (kind == "broken")])
        return
    if kind == "blank":
        yield from [("", "\n" * 100)] * count
        return
    if kind == "stuck":
        yield from [("content", "```spice\nR1 a b 1k\n")] * count
        return
    for number in range(count):
        is_thought = kind == "reasoning" or (kind == "mixed" and number < count // 2)
        yield ("reasoning_content" if is_thought else "content"), rng.choice(_SYLLABLES)
    if kind == "reasoning":
        yield "content", "That is all."


def _arguments(rng: random.Random, count: int) -> list[str]:
    """The arguments of one call in `count` pieces."""
    lines = "".join(f"* {rng.choice(_SYLLABLES)!r} {number}\n" for number in range(CALL_CHARACTERS // 16))
    text = json.dumps({"path": "notes.md", "content": lines[:CALL_CHARACTERS]}, ensure_ascii=False)
    length = -(-len(text) // count)
    return [text[at : at + length] for at in range(0, len(text), length)]


def _frames(kind: Kind, count: int) -> Iterator[bytes]:
    if kind in ("call", "broken"):
        head = {"index": 0, "id": "call_1", "type": "function"}
        yield chunk({"tool_calls": [{**head, "function": {"name": "rewrite_file", "arguments": ""}}]})
    for name, text in chunks_of(kind, count):
        if not name:
            yield text.encode()
        elif name == "arguments":
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": text}}]})
        else:
            yield chunk({name: text})


@contextmanager
def chunk_storm() -> Iterator[str]:
    """Start the server; gives its base URL."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.chunk_storm"],
        cwd=Path(__file__).resolve().parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    with server, server.stdin, server.stdout:
        yield server.stdout.readline().strip()


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    is_over = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), is_over.set)
    async with await asyncio.start_server(_on_connection, "127.0.0.1", 0) as server:
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
        await is_over.wait()


async def _on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = re.search(r"(?i)content-length: *(\d+)", head)
            body = json.loads(await reader.readexactly(int(length[1]) if length else 0))
            await _answer(writer, body)
    except (OSError, asyncio.IncompleteReadError):
        pass  # the client is gone
    finally:
        writer.close()


async def _answer(writer: asyncio.StreamWriter, body: dict[str, Any]) -> None:
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    writer.write(head.encode())
    last = body["messages"][-1]
    asked = _QUESTION.search(str(last["content"])) if last["role"] == "user" else None
    if asked and asked[1] in get_args(Kind):
        kind: Any = asked[1]
        await _write_by_the_clock(writer, list(_frames(kind, int(asked[2]))), float(asked[3]))
        reason = "tool_calls" if kind in ("call", "broken") else "stop"
        if kind == "blank":
            _write(writer, chunk({"content": "ok"}))
    else:
        _write(writer, chunk({"content": "ok"}))
        reason = "stop"
    usage = {"prompt_tokens": 90, "completion_tokens": 7, "total_tokens": 97}
    for last_frame in (chunk({}, reason), frame({"choices": [], "usage": usage}), DONE):
        _write(writer, last_frame)
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def _write_by_the_clock(writer: asyncio.StreamWriter, frames: list[bytes], seconds: float) -> None:
    clock = asyncio.get_running_loop().time
    began, done = clock(), 0
    while done < len(frames):
        passed = (clock() - began) / seconds if seconds else 1.0
        due = min(int(passed * len(frames)) + 1, len(frames))
        for one in frames[done:due]:
            _write(writer, one)
        done = due
        await writer.drain()
        await asyncio.sleep(_TICK_S)


def _write(writer: asyncio.StreamWriter, piece: bytes) -> None:
    writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))


if __name__ == "__main__":
    asyncio.run(_serve())
