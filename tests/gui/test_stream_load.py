"""2,000 chunks a second from a server through reader, service, graph and feed: nothing lost, memory flat.

On the window's own loop, which the watchdog guards (`loop_watchdog.py`); the server is a process of its own.
The conversation's rows are fed as the window feeds them. The whole of it takes 30 seconds each; the sample
in `make test` is the same with less. The panel itself under a fast stream is a story
(`stories/story_stream_load.py`).
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from application.app import Application
from application.conversation.turn_deps import ChatRequest
from application.ports.events import AnswerStreamed, ChatEvent
from domain.llm.chat import ProviderChoice
from presentation.panels.conversation.feed import RunFeed
from presentation.panels.conversation.items import AnswerText, ItemList, OperationCard, Streamed
from tests.fakes.chunk_storm import Kind, chunk_storm, chunks_of, question
from tests.gui.loop_watchdog import LoopWatchdog

PER_S = 2_000
FLUSH_S = 0.05
"""As the window does it; between two of them nothing is drawn."""
WARM_UP_S = 6.0
BEFORE_END_S = 2.0
"""So long before its end the server still sends, however late we read."""
MOST_GROWTH = 0.1
"""Of Python's blocks for each chunk that comes between these: what is kept of it may be its text, joined to
what came before, no more. The resident memory says less: its allocators keep what was free once."""
MOST_RESIDENT_KB = 12_000
"""What is no block of Python's, by the same measure: 250 bytes a chunk."""


@dataclass(slots=True)
class Subscriber:
    """What the window is of a run: its feed, and the text of its rows as they grow."""

    items: ItemList = field(default_factory=ItemList)
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    pieces: int = 0
    feed: RunFeed = field(init=False)

    def __post_init__(self) -> None:
        self.feed = RunFeed(self.items, model="m")

    def __call__(self, event: ChatEvent) -> None:
        self.pieces += isinstance(event, AnswerStreamed)
        self.feed(event)

    def draw(self) -> None:
        """Hand on what has come, as the view gets it."""
        self.feed.flush()
        for change in self.items.take_changes():
            if isinstance(change, Streamed):
                self.text.append(change.text)
                self.reasoning.append(change.reasoning)

    async def draw_regularly(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_S)
            self.draw()


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with chunk_storm() as url:
        yield url


async def ask(app: Application, base_url: str, project: Path, text: str, emit: Subscriber) -> None:
    choice = ProviderChoice(provider="openai-compatible", model="m", base_url=base_url)
    turn = app.conversations.chat(ChatRequest(project=project, text=text, choice=choice), emit=emit)
    handle = app.program.tasks.submit("chat", "1", turn, scope="tab")
    drawing = asyncio.create_task(emit.draw_regularly())
    try:
        assert (await handle.result()).stop_reason == "completed"
    finally:
        drawing.cancel()
        await asyncio.gather(drawing, return_exceptions=True)
        emit.draw()  # what came behind the last regular one


def digest(parts: Iterator[str] | list[str]) -> str:
    return sha256("".join(parts).encode()).hexdigest()


def sent(kind: Kind, count: int, name: str) -> str:
    return digest(text for field_name, text in chunks_of(kind, count) if field_name == name)


def check_kept(project: Path, kind: Kind, count: int) -> None:
    """The transcript has all of the answer too."""
    (session,) = (project / ".circuit_ai" / "conversations").glob("*.jsonl")
    lines = [json.loads(line) for line in session.read_text("utf-8").splitlines()]
    messages = [line["message"] for line in lines if line["event"] == "message"]
    answers = [message for message in messages if message["type"] == "assistant"]
    if kind != "call":
        assert digest([one["content"] for one in answers]) == sent(kind, count, "content")
    deltas = [line for line in lines if line["event"] == "delta"]
    written = sum(len(line["text"]) for line in deltas)
    assert written <= sum(len(one["content"]) for one in answers)  # each piece once, not again and again


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [
        ("mixed", 1.0),
        ("call", 0.7),
        *(
            pytest.param(kind, 30.0, marks=[pytest.mark.torture, pytest.mark.timeout(120)])
            for kind in ("text", "reasoning", "mixed", "call")
        ),
    ],
)
async def test_two_thousand_chunks_a_second(
    kind: Kind, seconds: float, app: Application, base_url: str, tmp_path: Path, loop_watchdog: LoopWatchdog
) -> None:
    count = round(PER_S * seconds)
    await ask(app, base_url, tmp_path / "warm", "hello", Subscriber())  # what is imported late is imported
    seen = Subscriber()
    project = tmp_path / "load"
    memory: list[Memory] = []
    measuring = asyncio.create_task(_measure(memory, seconds))
    try:
        async with loop_watchdog.watching():
            await ask(app, base_url, project, question(kind, chunks=count, seconds=seconds), seen)
    finally:
        measuring.cancel()
        await asyncio.gather(measuring, return_exceptions=True)
    print(f"{kind}: {count} chunks in {seconds:g} s as {seen.pieces} pieces, held {loop_watchdog.longest}")
    if kind == "call":
        (card,) = (item for item in seen.items if isinstance(item, OperationCard))
        assert card.state == "done"
        arguments = json.loads("".join(text for _, text in chunks_of(kind, count)))
        assert (project / arguments["path"]).read_text("utf-8") == arguments["content"]
    else:
        assert digest(seen.text) == sent(kind, count, "content")
        assert digest(seen.reasoning) == sent(kind, count, "reasoning_content")
        (row,) = (item for item in seen.items if isinstance(item, AnswerText))
        assert digest([row.text]) == sent(kind, count, "content")
        assert seen.pieces < count / 20  # merged: a view is not asked to draw 2,000 times a second
    check_kept(project, kind, count)
    for first, last in pairwise(memory):
        blocks, resident = last.blocks - first.blocks, last.resident_kb - first.resident_kb
        came = PER_S * (seconds - WARM_UP_S - BEFORE_END_S)
        print(f"{blocks:+} blocks of Python, {resident:+} kB resident, of {came:.0f} chunks")
        assert blocks < MOST_GROWTH * came
        assert resident < MOST_RESIDENT_KB


class Memory(NamedTuple):
    """What this process holds."""

    blocks: int
    resident_kb: int


async def _measure(memory: list[Memory], seconds: float) -> None:
    """Behind the warm-up, and before the end of a stream that is long enough."""
    if sys.platform != "linux" or seconds < 2 * WARM_UP_S:
        return
    await asyncio.sleep(WARM_UP_S)
    memory.append(_held())
    await asyncio.sleep(seconds - WARM_UP_S - BEFORE_END_S)
    memory.append(_held())


def _held() -> Memory:
    gc.collect()
    return Memory(sys.getallocatedblocks(), int(Path("/proc/self/statm").read_text().split()[1]) * 4)


async def test_what_comes_all_at_once_does_not_hold_the_loop(
    app: Application, base_url: str, tmp_path: Path, loop_watchdog: LoopWatchdog
) -> None:
    """A server far faster than we read, whose pieces of a call and blank lines are no chunks for a queue."""
    await ask(app, base_url, tmp_path / "warm", "hello", Subscriber())
    async with loop_watchdog.watching():
        await ask(app, base_url, tmp_path / "a", question("call", chunks=3_000, seconds=0), Subscriber())
        await ask(app, base_url, tmp_path / "b", question("blank", chunks=1_500, seconds=0), Subscriber())
        await ask(app, base_url, tmp_path / "c", question("stuck", chunks=1_500, seconds=0), Subscriber())
