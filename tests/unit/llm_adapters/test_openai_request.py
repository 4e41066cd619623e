"""The body of a request: messages, unique ids of calls, what is left out for whom."""

from __future__ import annotations

import json
from typing import Any

import pytest

from domain.llm.chat import ChatRequest, WireMessage, WireToolCall
from infrastructure.llm_adapters.dialect import Dialect, dialects_after
from infrastructure.llm_adapters.openai_request import render_request
from tests.ground.campaign import campaigns


def rendered(*messages: WireMessage, dialect: Dialect | None = None, **more: Any) -> dict[str, Any]:
    body = json.loads(render_request(ChatRequest(messages=messages, **more), "m", dialect or Dialect()))
    assert isinstance(body, dict)
    return body


def called(*calls: tuple[str, str], arguments: str = "{}", **more: Any) -> WireMessage:
    return WireMessage(
        role="assistant",
        tool_calls=tuple(
            WireToolCall(provider_id=id_, name=name, arguments=arguments) for id_, name in calls
        ),
        **more,
    )


def told(call_id: str, name: str, text: str) -> WireMessage:
    return WireMessage(role="tool", tool_call_id=call_id, name=name, text=text)


def pairs(body: dict[str, Any]) -> list[tuple[str, str]]:
    """(name of the call, text that answers it), by id; every id has to be unique."""
    names: dict[str, str] = {}
    found = []
    for message in body["messages"]:
        for call in message.get("tool_calls", ()):
            assert call["id"]
            assert call["id"] not in names
            names[call["id"]] = call["function"]["name"]
        if message["role"] == "tool":
            found.append((names[message["tool_call_id"]], message["content"]))
    return found


def test_messages() -> None:
    body = rendered(
        WireMessage(role="system", text="You are"),
        WireMessage(role="user", text="增益?"),
        called(("call_a", "read_file"), text="Let me look.", reasoning="hm"),
        told("call_a", "read_file", "R1"),
        WireMessage(role="assistant", text="Done.", reasoning="hm"),
    )
    assert body["messages"] == [
        {"role": "system", "content": "You are"},
        {"role": "user", "content": "增益?"},
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {"id": "call_a", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": "R1"},
        {"role": "assistant", "content": "Done."},
    ]


def test_calls_without_text_have_null_content() -> None:
    assert rendered(called(("a", "f")))["messages"][0]["content"] is None


@pytest.mark.parametrize("ids", [("", ""), ("x", "x"), ("x", ""), ("call_0_1", "call_0_1"), ("call_0_1", "")])
def test_ids_are_unique_and_answers_keep_their_call(ids: tuple[str, str]) -> None:
    body = rendered(
        called((ids[0], "one"), (ids[1], "two")), told(ids[0], "one", "1"), told(ids[1], "two", "2")
    )
    assert pairs(body) == [("one", "1"), ("two", "2")]


def test_ids_repeated_in_later_turns() -> None:
    body = rendered(
        called(("call_0", "one")),
        told("call_0", "one", "1"),
        called(("call_0", "two"), ("call_1", "three")),
        told("call_0", "two", "2"),
        told("call_1", "three", "3"),
    )
    assert pairs(body) == [("one", "1"), ("two", "2"), ("three", "3")]


def test_equal_calls_are_answered_in_order() -> None:
    body = rendered(called(("", "f"), ("", "f")), told("", "f", "1"), told("", "f", "2"))
    assert [message["content"] for message in body["messages"][1:]] == ["1", "2"]
    assert pairs(body) == [("f", "1"), ("f", "2")]


def test_answers_in_another_order_find_their_calls() -> None:
    body = rendered(called(("", "one"), ("", "two")), told("", "two", "2"), told("", "one", "1"))
    assert pairs(body) == [("two", "2"), ("one", "1")]


def test_ids_stay_the_same_when_the_history_grows() -> None:
    history = (called(("", "f")), told("", "f", "1"))
    longer = (*history, called(("", "f")), told("", "f", "2"))
    assert rendered(*longer)["messages"][:2] == rendered(*history)["messages"]


@campaigns(fast=200, whole=20_000)
def test_any_history_has_unique_ids(campaign) -> None:
    for rng in campaign.cases():
        messages: list[WireMessage] = []
        expected = []
        for turn in range(rng.randrange(1, 5)):
            calls = [
                (rng.choice(["", "a", "b", "call_0_0", "call_1_0"]), f"t{turn}_{number}")
                for number in range(rng.randrange(1, 4))
            ]
            messages.append(called(*calls))
            rng.shuffle(calls)
            for id_, name in calls:
                messages.append(told(id_, name, f"answers {name}"))
                expected.append((name, f"answers {name}"))
        assert pairs(rendered(*messages)) == expected


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [('{"n": 1}', '{"n": 1}'), ("", "{}"), ('{"n": 1,}', "{}"), ("[1]", "{}"), ('{"n":', "{}")],
)
def test_only_objects_are_sent_back_as_arguments(arguments: str, sent: str) -> None:
    body = rendered(called(("a", "f"), arguments=arguments))
    assert body["messages"][0]["tool_calls"][0]["function"]["arguments"] == sent


@pytest.mark.parametrize(
    ("policy", "expected"),
    [("never", [False, False]), ("tool_turns", [True, False]), ("always", [True, True])],
)
def test_reasoning_goes_back_where_it_is_wanted(policy: Any, expected: list[bool]) -> None:
    body = rendered(
        called(("a", "f"), reasoning="hm"),
        WireMessage(role="assistant", text="x", reasoning="hm"),
        dialect=Dialect(reasoning_back=policy, reasoning_field="reasoning"),
    )
    assert [message.get("reasoning") == "hm" for message in body["messages"]] == expected


def test_text_with_half_characters_can_be_sent() -> None:
    assert rendered(WireMessage(role="user", text="a\ud800b"))["messages"][0]["content"] == "a?b"


def test_complaints_that_name_nothing_we_can_leave_out() -> None:
    assert list(dialects_after("messages must not be empty", Dialect())) == []


def test_a_server_that_never_had_it_is_not_asked_for_it() -> None:
    (dialect,) = dialects_after("reasoning_content is unknown", Dialect(reasoning_back="always"))
    assert dialect == Dialect(reasoning_back="always", names_missing_reasoning=True)


def test_roles_take_turns_where_a_template_demands_it() -> None:
    def user(text: str) -> WireMessage:
        return WireMessage(role="user", text=text)

    messages = (
        WireMessage(role="system", text="S"),
        user("failed"),
        user("again"),
        WireMessage(role="assistant", text="Half"),
        called(("a", "f"), text="whole"),
        told("a", "f", "1"),
        user("after a stop"),
    )
    assert [message["role"] for message in rendered(*messages)["messages"]].count("user") == 3
    body = rendered(*messages, dialect=Dialect(alternates_roles=True))
    assert [(message["role"], message["content"]) for message in body["messages"]] == [
        ("system", "S"),
        ("user", "failed\n\nagain"),
        ("assistant", "Half\n\nwhole"),
        ("tool", "1"),
        ("assistant", "(No answer was given here.)"),
        ("user", "after a stop"),
    ]
    assert pairs(body) == [("f", "1")]
