"""The live conversation: what is written, what is found again, and how an interrupted turn is settled."""

import asyncio
import tracemalloc
from pathlib import Path

import pytest

from application.agent import conversation as module
from application.agent.conversation import Conversation
from application.agent.request import request_messages
from domain.llm.chat import Usage
from domain.llm.conversation_record import ConversationRecord
from domain.llm.costs import Cost
from domain.llm.messages import (
    create_ai_message,
    create_human_message,
    get_reasoning_content,
    get_stop_reason,
    get_text,
    is_partial_response,
    message_to_dict,
)
from domain.llm.tools.result import ToolCall, ToolResult
from domain.llm.transcript import has_open_turn
from infrastructure.persistence.sessions import SessionFiles
from shared.errors import EnvironmentProblem
from shared.message import msg
from tests.fakes.memory_transcript import MemoryTranscript

CALLS = [
    {"id": "C1", "name": "read_file", "args": {"path": "a.cir"}},
    {"id": "C2", "name": "patch_file", "args": {"path": "a.cir", "search": "x", "replace": "y"}},
]


def result(text: str = "ok", **more: object) -> ToolResult:
    return ToolResult(success=True, content=text, summary=msg("Done {n}.", n=1), **more)  # type: ignore[arg-type]


async def not_run(call: ToolCall) -> ToolResult:
    return ToolResult(
        success=False, content=f"{call.name} not run", summary=msg("Stopped."), error_type="stopped"
    )


async def begun(*, calls: bool = False) -> tuple[Conversation, MemoryTranscript]:
    transcript = MemoryTranscript()
    conversation = await Conversation.load(transcript)
    turn = await conversation.begin_turn(create_human_message("Hello", message_id="T1"))
    if calls:
        answer = create_ai_message(
            "Look", message_id="A1", tool_calls=CALLS, provider_ids={"C1": "call_1", "C2": "call_1"}
        )
        await conversation.add(answer, step=f"{turn}/1")
    return conversation, transcript


async def reloaded(transcript: MemoryTranscript) -> Conversation:
    return await Conversation.load(MemoryTranscript(transcript.events))


async def test_everything_is_found_again_after_a_restart() -> None:
    conversation, transcript = await begun(calls=True)
    await conversation.add_result(conversation.record.open_calls()[0], result(seen_versions={"a.cir": "v1"}))
    again = await reloaded(transcript)
    assert again.record.open_turn == "T1"
    assert [message.id for message in again.record.messages] == [
        message.id for message in conversation.record.messages
    ]
    assert again.record.seen_versions == {"a.cir": "v1"}
    assert [call.call_id for call in again.record.open_calls()] == ["C2"]
    assert again.record.open_calls()[0].provider_id == "call_1"
    (answer,) = again.record.answers_of_turn()
    assert again.record.answer_of(str(answer.id)) is answer
    assert again.record.answers_asked == 1
    assert again.record.result_of("C1") is not None
    assert again.record.place_in_answer("C2", lambda _name: True) == 1
    assert again.record.place_in_answer("C2", lambda _name: False) == 0


async def test_pieces_are_written_while_they_stream(monkeypatch: object) -> None:
    monkeypatch.setattr(module, "DELTA_INTERVAL_S", 0.01)  # type: ignore[attr-defined]
    conversation, transcript = await begun()
    transcript.appended.clear()
    async with conversation.streaming("m"):
        conversation.take_piece("A1", text="Hel", reasoning="hm")
        conversation.take_piece("A1", text="lo")
        await asyncio.wait_for(transcript.appended.wait(), timeout=50)
    assert transcript.of("delta") == [
        {"event": "delta", "message_id": "A1", "text": "Hello", "reasoning": "hm"}
    ]


async def test_an_answer_that_cannot_be_written_is_not_streamed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DELTA_INTERVAL_S", 0.01)
    conversation, transcript = await begun()
    tried = asyncio.Event()
    loop = asyncio.get_running_loop()

    def full(*_events: object) -> None:
        loop.call_soon_threadsafe(tried.set)
        raise EnvironmentProblem(msg("The disk is full."), error_type="disk_full")

    monkeypatch.setattr(transcript, "append", full)

    async def stream() -> None:
        async with conversation.streaming("m"):
            conversation.take_piece("A1", text="Hel")
            await tried.wait()
            for _ in range(5000):  # the failure is a thread's step away, on a busy machine a long one
                await asyncio.sleep(0.001)
                conversation.take_piece("A1", text="lo")
            pytest.fail("it streamed on")

    with pytest.raises(EnvironmentProblem, match="disk is full"):
        await stream()


async def test_unfinished_answer_of_a_killed_program_is_kept_as_partial() -> None:
    conversation, transcript = await begun()
    conversation.take_piece("A1", text="The answer is", reasoning="so")
    await conversation.flush()
    again = await reloaded(transcript)
    assert await again.settle("interrupted", not_run, cost=None)
    partial = again.record.messages[-1]
    assert get_text(partial) == "The answer is"
    assert get_reasoning_content(partial) == "so"
    assert is_partial_response(partial)
    assert get_stop_reason(partial) == "interrupted"
    assert again.record.open_turn == ""
    assert not await again.settle("interrupted", not_run, cost=None)


async def test_settling_gives_each_open_call_a_result_and_repeats_none() -> None:
    conversation, transcript = await begun(calls=True)
    await conversation.add_result(conversation.record.open_calls()[0], result("content of a"))
    again = await reloaded(transcript)
    await again.settle("interrupted", not_run, cost=None)
    first, second = again.record.result_of("C1"), again.record.result_of("C2")
    assert first is not None
    assert second is not None
    assert get_text(first) == "content of a"
    assert get_text(second) == "patch_file not run"
    assert second.status == "error"
    assert again.record.open_calls() == ()


async def test_a_finished_answer_replaces_its_pieces() -> None:
    conversation, transcript = await begun()
    conversation.take_piece("A1", text="Hel")
    await conversation.flush()
    await conversation.add(create_ai_message("Hello", message_id="A1"), step="T1/1")
    again = await reloaded(transcript)
    await again.keep_unfinished("interrupted", cost=None)
    assert [get_text(message) for message in again.record.messages] == ["Hello", "Hello"]


async def test_append_under_way_is_not_cut_by_a_cancellation() -> None:
    conversation, transcript = await begun()
    task = asyncio.create_task(conversation.add(create_ai_message("Hello", message_id="A1"), step="T1/1"))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    written = [event["message"]["id"] for event in transcript.of("message")]
    assert written.count("A1") == 1


async def test_a_result_written_while_being_cancelled_is_not_written_again() -> None:
    conversation, transcript = await begun(calls=True)
    first = conversation.record.open_calls()[0]
    task = asyncio.create_task(conversation.add_result(first, result()))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    await conversation.settle("user", not_run, cost=None)
    results = [event["message"]["tool_call_id"] for event in transcript.of("message")[2:]]
    assert sorted(results) == ["C1", "C2"]


async def test_a_user_message_begins_a_turn_even_when_its_turn_line_was_lost() -> None:
    _, transcript = await begun()
    torn = MemoryTranscript([event for event in transcript.events if event["event"] != "turn"])
    assert (await Conversation.load(torn)).record.open_turn == "T1"
    assert has_open_turn(torn.events)
    assert not has_open_turn([*torn.events, {"event": "turn", "turn_id": "T1", "state": "ended"}])


def test_of_a_long_conversation_only_what_is_sent_is_held(tmp_path: Path) -> None:
    """Read for a turn it takes little more than its file: each turn would leave the process larger else."""
    transcript = SessionFiles(tmp_path).create(work_mode="free_work")
    summary = {"event": "compressed", "compression_id": "C", "text": "t", "summary": "s", "messages": 9,
               "tokens_before": 9, "tokens_after": 9}  # fmt: skip
    for number in range(300):
        said = create_human_message(f"say {number}")
        usage, cost = (
            Usage(prompt_tokens=10, completion_tokens=5, total_tokens=15),
            Cost(amounts={"USD": 0.5}),
        )
        answer = create_ai_message("word " * 20, usage=usage, provider="p", cost=cost)
        transcript.append(
            {"event": "message", "message": message_to_dict(said), "step": str(said.id)},
            {"event": "turn", "turn_id": str(said.id), "state": "started"},
            {"event": "message", "message": message_to_dict(answer), "step": f"{said.id}/1"},
            {"event": "turn", "turn_id": str(said.id), "state": "ended", "stop_reason": "completed"},
            *([{**summary, "until": str(answer.id)}] if number == 298 else []),
        )
    transcript.close()
    [path] = tmp_path.glob("*.jsonl")
    tracemalloc.start()
    try:
        reopened = SessionFiles(tmp_path).open(path.stem)
        record = ConversationRecord()
        record.take_all(reopened.events)
        sent = request_messages(record, context="").messages
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    reopened.close()
    assert held < 3 * path.stat().st_size
    assert record.spent() == (Cost(amounts={"USD": 150.0}), 4500)
    assert (len(record.messages), len(record.earlier_messages)) == (600, 598)
    assert get_text(record.messages[0]) == record.first_words == "say 0"
    assert [get_text(each) for each in reversed(record.earlier_messages[-2:])] == ["word " * 20, "say 298"]
    assert "say 299" in get_text(sent[-2])


async def test_what_a_design_writes_behind_a_chat_is_counted_once() -> None:
    conversation, transcript = await begun()
    for usage in (10, 30):
        answer = create_ai_message("A", message_id="A1", usage=Usage(total_tokens=usage))
        await conversation.add(answer, step="T1/1")
        await conversation.begin_turn(create_human_message("Next", message_id=f"T{usage}"))
    assert conversation.record.spent()[1] == (await reloaded(transcript)).record.spent()[1] == 30
