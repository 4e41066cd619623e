"""Extra fields of messages behind typed functions."""

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, ChatMessage, HumanMessage, SystemMessage

from domain.llm import messages as m
from domain.llm.chat import Usage


def test_a_fresh_message_has_an_id_and_a_time_in_utc():
    first, second = m.create_human_message("hi"), m.create_human_message("hi")
    assert len(first.id) == 26
    assert first.id < second.id
    assert m.get_timestamp(first).endswith("+00:00")
    assert len(m.get_timestamp(first)) == len("2024-12-20T14:30:22.123+00:00")


def test_given_ids_and_times_are_kept():
    message = m.create_ai_message("x", message_id="m1", timestamp="2024-12-20T14:30:22")
    assert (message.id, m.get_timestamp(message)) == ("m1", "2024-12-20T14:30:22")


def test_everything_an_answer_can_carry_is_read_back():
    usage = Usage(prompt_tokens=5, completion_tokens=7, total_tokens=12, cached_tokens=2, reasoning_tokens=3)
    message = m.create_ai_message(
        "text",
        reasoning="why",
        tool_calls=[{"id": "C1", "name": "read_file", "args": {"path": "a.cir"}}],
        usage=usage,
        is_partial=True,
        stop_reason="stopped",
        operations=["Changed a.cir"],
        provider_ids={"C1": "call_0"},
        finish_reason="tool_calls",
        provider="zhipu",
        model="glm",
    )
    assert m.get_reasoning_content(message) == "why"
    assert m.get_usage(message) == usage
    assert m.is_partial_response(message)
    assert m.get_stop_reason(message) == "stopped"
    assert m.get_operations(message) == ["Changed a.cir"]
    assert m.get_provider_ids(message) == {"C1": "call_0"}
    assert message.tool_calls[0]["args"] == {"path": "a.cir"}
    assert message.additional_kwargs["model"] == "glm"


def test_what_an_answer_does_not_carry_has_a_default_and_no_key():
    message = m.create_ai_message("text")
    assert set(message.additional_kwargs) == {"timestamp"}
    assert m.get_usage(message) is None
    assert m.get_operations(message) == []
    assert m.get_call_problems(message) == {}
    assert not m.is_partial_response(message)


def test_a_tool_message_tells_success_and_what_the_model_has_seen():
    good = m.create_tool_message(
        "ok", call_id="C1", name="read_file", seen_versions={"a.cir": "f00"}, result={}
    )
    bad = m.create_tool_message("no", call_id="C1", name="read_file", success=False, error_type="not_found")
    assert (m.get_tool_success(good), m.get_tool_error_type(good)) == (True, "")
    assert m.get_seen_versions(good) == {"a.cir": "f00"}
    assert m.get_tool_result(good) == {}
    assert (m.get_tool_success(bad), m.get_tool_error_type(bad)) == (False, "not_found")
    assert m.get_tool_result(bad) is None


def test_changes_are_copies():
    message = m.create_ai_message("half", reasoning="r")
    partial = m.mark_as_partial(message, "connection_lost")
    assert not m.is_partial_response(message)
    assert m.get_stop_reason(partial) == "connection_lost"
    assert m.get_reasoning_content(m.set_reasoning_content(message, "new")) == "new"
    assert m.get_call_problems(m.set_call_problems(message, {"C1": "bad JSON"})) == {"C1": "bad JSON"}


def test_roles():
    made = [
        m.create_human_message("a"),
        m.create_ai_message("b"),
        SystemMessage(content="c"),
        m.create_tool_message("d", call_id="C", name="t"),
    ]
    assert [m.get_role(item) for item in made] == ["user", "assistant", "system", "tool"]
    assert m.get_role(AIMessageChunk(content="x")) == "assistant"
    with pytest.raises(ValueError, match="no role"):
        m.get_role(ChatMessage(content="x", role="critic"))


def test_the_text_of_a_content_in_parts():
    parts = ["a", {"type": "text", "text": "b"}, {"type": "image_url", "image_url": "x"}, {"type": "text"}]
    assert m.get_text(HumanMessage(content=parts)) == "ab"


@pytest.mark.parametrize("junk", [7, "x", ["x", 3], {"a": 3}, None, True])
def test_fields_of_a_wrong_type_read_as_their_default(junk):
    keys = ("timestamp", "attachments", "reasoning_content", "operations", "usage", "is_partial")
    more = ("stop_reason", "provider_ids", "call_problems", "error_type", "result", "seen_versions")
    message = AIMessage(content="x", additional_kwargs=dict.fromkeys((*keys, *more), junk))
    for reader in (m.get_attachments, m.get_operations):
        assert isinstance(reader(message), list)
    for reader in (m.get_provider_ids, m.get_call_problems, m.get_seen_versions):
        assert all(isinstance(text, str) for text in reader(message).values())
    assert m.get_usage(message) in (None, Usage())
    assert isinstance(m.get_stop_reason(message), str)
    assert m.is_partial_response(message) is (junk is True)


def test_halves_of_a_character_from_two_pieces_of_a_stream_are_joined():
    message = m.create_ai_message("\ud83d" + "\ude00 \ud800", reasoning="\ud83d" + "\ude00")
    assert message.content == "\U0001f600 \ud800"
    assert m.get_reasoning_content(message) == "\U0001f600"
