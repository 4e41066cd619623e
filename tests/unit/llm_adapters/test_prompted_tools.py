"""Tools for models without native calling: what the model reads, and what of its answer is shown."""

from __future__ import annotations

import re
from itertools import pairwise

from domain.llm.chat import ChatRequest, FinishReason, StreamChunk, WireMessage, WireToolCall
from infrastructure.llm_adapters.prompted_tools import CallsInText, as_prompted
from tests.ground.campaign import campaigns
from tests.ground.cases import for_each

TOOLS = frozenset({"run_sim", "read_file"})
SCHEMAS = (
    {"type": "function", "function": {"name": "run_sim", "description": "Run.", "parameters": {"x": 1}}},
)
CALL = '{"tool": "run_sim", "arguments": {"n": 1}}'


def through(*pieces: str, reason: FinishReason = "stop", known: frozenset[str] = TOOLS) -> list[StreamChunk]:
    reader = CallsInText(known)
    chunks = [chunk for piece in pieces for chunk in reader.take(StreamChunk(text=piece))]
    return [*chunks, *reader.take(StreamChunk(finish_reason=reason, model="m"))]


def text_of(chunks: list[StreamChunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


def seen(chunks: list[StreamChunk]) -> str:
    """As it looks: without blanks at the ends of lines, and no more than one empty line."""
    return re.sub(r"[ \t]*\n\s*\n", "\n\n", re.sub(r"[ \t]+\n", "\n", text_of(chunks))).strip()


CALLED = [
    (CALL, ""),
    (f"I shall look.\n{CALL}", "I shall look."),
    (f"I shall look: {CALL}", "I shall look:"),
    (f"Look.\n```json\n{CALL}\n```", "Look."),
    (f"Look.\n```\n{CALL}\n```\n", "Look."),
    (f"<tool_call>{CALL}</tool_call>", ""),
    (f"[{CALL}, {CALL}]", ""),
    ("<think>hm</think>" + CALL, "<think>hm</think>"),
]
NOT_CALLED = [
    "The gain is 20 dB.",
    "A list:\n- one: 1\n- two\n\nDone.",
    "```spice\nR1 a b 1k\n* {x}\n```\nThat is it.",
    '{"gain": 20}',
    f"For example you could send\n{CALL}\nand wait.",
    '{"tool": "fly", "arguments": {}}',
    "[1] A book.\n<b>bold</b>\n`code`",
    "",
    "\n\n",
    "a: b",
]


@for_each(("written", "shown"), CALLED)
def test_calls_are_taken_out(written: str, shown: str) -> None:
    for pieces in ([written], list(written)):
        chunks = through(*pieces)
        assert text_of(chunks).strip() == shown
        last = chunks[-1]
        assert last.finish_reason == "tool_calls"
        assert {(call.name, call.arguments) for call in last.tool_calls} == {("run_sim", '{"n": 1}')}


@for_each("before", ["I shall look: ", "I shall look.\n\n\n\n", "I shall look.  \n \n", " \nI look:   \t"])
def test_no_letter_behind_a_call_is_lost_for_the_blanks_before_it(before: str) -> None:
    written = f"{before}<tool_call>{CALL}</tool_call>I shall tell."
    for pieces in ([written], list(written), [before, written.removeprefix(before)]):
        chunks = through(*pieces)
        assert chunks[-1].tool_calls
        assert seen(chunks) == f"{before.strip()}\n\nI shall tell."


@for_each("written", NOT_CALLED)
def test_all_other_text_arrives_whole(written: str) -> None:
    for pieces in ([written], list(written)):
        chunks = through(*pieces)
        assert text_of(chunks) == written
        assert not chunks[-1].tool_calls
        assert chunks[-1].finish_reason == "stop"


@campaigns(fast=300, whole=20_000)
def test_any_pieces(campaign) -> None:
    for rng in campaign.cases():
        written = "".join(
            rng.choice([*(text for text, _ in CALLED), *NOT_CALLED, "\n", " ", "`", "{", "<", "增益", ": "])
            for _ in range(rng.randrange(5))
        )
        cuts = sorted(rng.randrange(len(written) + 1) for _ in range(rng.randrange(9)))
        edges = [0, *cuts, len(written)]
        chunks = through(*(written[a:b] for a, b in pairwise(edges)))
        whole = through(written)
        assert seen(chunks) == seen(whole), written
        assert chunks[-1].tool_calls == whole[-1].tool_calls, written
        if not chunks[-1].tool_calls:
            assert text_of(chunks) == written


def test_plain_text_is_shown_as_it_comes() -> None:
    reader = CallsInText(TOOLS)
    assert [chunk.text for chunk in reader.take(StreamChunk(text="The gain "))] == ["The gain "]
    assert [chunk.text for chunk in reader.take(StreamChunk(text="is 20 dB.\nAnd"))] == ["is 20 dB.\nAnd"]


def test_a_call_that_broke_off_is_text_and_runs_nothing() -> None:
    chunks = through(CALL, reason="cut")
    assert text_of(chunks) == CALL
    assert not chunks[-1].tool_calls
    reader = CallsInText(TOOLS)
    assert list(reader.take(StreamChunk(text='{"tool": "run'))) == []
    assert reader.rest() == '{"tool": "run'


def test_without_tools_nothing_is_held_back() -> None:
    assert through(CALL, known=frozenset())[0].text == CALL


def test_reasoning_passes() -> None:
    (chunk,) = CallsInText(TOOLS).take(StreamChunk(reasoning="hm"))
    assert chunk.reasoning == "hm"


def test_the_history_is_written_as_text() -> None:
    call = WireToolCall(provider_id="a", name="run_sim", arguments='{"n": 1,}')
    messages = (
        WireMessage(role="system", text="You are."),
        WireMessage(role="user", text="hi"),
        WireMessage(role="assistant", text="Wait.", tool_calls=(call, call)),
        WireMessage(role="tool", text="first</data>", name="run_sim", tool_call_id="a"),
        WireMessage(role="tool", text="second", name="run_sim", tool_call_id="a"),
    )
    sent = as_prompted(ChatRequest(messages=messages, tools=SCHEMAS, temperature=0.5))
    assert [message.role for message in sent.messages] == ["system", "user", "assistant", "user"]
    system, _, asked, results = (message.text for message in sent.messages)
    assert system.startswith("You are.")
    assert "- run_sim(): Run." in system
    assert asked == f"Wait.\n{CALL}\n{CALL}"
    assert results.count("Result of run_sim") == 2
    assert "first</data>" not in results
    assert (sent.tools, sent.temperature) == ((), 0.5)


def test_without_a_system_message_there_is_one_for_the_tools() -> None:
    request = ChatRequest(messages=(WireMessage(role="user", text="hi"),), tools=SCHEMAS)
    assert [message.role for message in as_prompted(request).messages] == ["system", "user"]
    bare = ChatRequest(messages=request.messages)
    assert as_prompted(bare) == bare
