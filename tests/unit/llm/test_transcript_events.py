"""What events amount to: messages in order, and the line of a list."""

import json
import random

import pytest

from domain.llm.transcript import (
    NeedsWholeTranscript,
    Summary,
    default_name,
    entries_of,
    is_ulid,
    messages_of,
    time_of_ulid,
    utc,
)
from shared.ulid import new_ulid
from tests.ground.campaign import campaigns
from tests.ground.cases import for_each

SESSION = "01JEXAMP1E0000000000000000"


def said(message_id, role="user", text="hi", **extra):
    return {
        "event": "message",
        "message": {"id": message_id, "type": role, "content": text, "additional_kwargs": extra},
    }


def piece(message_id, text="", reasoning=""):
    return {"event": "delta", "message_id": message_id, "text": text, "reasoning": reasoning}


def replaced(message_id, text, **extra):
    message = {"id": message_id, "type": "assistant", "content": text, "additional_kwargs": extra}
    return {"event": "replaced", "message_id": message_id, "message": message}


def turn(state, reason=""):
    return {"event": "turn", "turn_id": "T", "state": state, "stop_reason": reason}


def texts(events):
    return [message["content"] for message in messages_of(events)]


def test_messages_come_in_order_and_other_events_do_not_matter():
    events = [{"event": "session"}, said("a"), {"event": "damaged", "line": 3}, said("b", "assistant", "x")]
    assert texts([*events, {"event": "from a newer version"}]) == ["hi", "x"]


def test_pieces_without_their_end_are_a_partial_answer():
    [_, answer] = messages_of([said("a"), piece("b", "ha", "so"), piece("b", "lf", " what")])
    assert (answer["content"], answer["type"]) == ("half", "assistant")
    assert answer["additional_kwargs"]["reasoning_content"] == "so what"
    assert answer["additional_kwargs"]["is_partial"] is True
    assert answer["additional_kwargs"]["stop_reason"] == "interrupted"
    assert "begun" not in answer["additional_kwargs"]


def test_the_message_takes_the_place_of_its_pieces():
    events = [piece("b", "ha"), said("c"), said("b", "assistant", "whole")]
    assert texts(events) == ["whole", "hi"]
    assert entries_of(events)[0].earlier == []


def test_pieces_after_a_message_go_on_with_it():
    events = [said("b", "assistant", "half", is_partial=True, stop_reason="stopped"), piece("b", " done")]
    [answer] = messages_of(events)
    assert answer["content"] == "half done"
    assert answer["additional_kwargs"]["stop_reason"] == "interrupted"
    assert texts([*events, replaced("b", "half done and more")]) == ["half done and more"]


def test_halves_of_a_character_in_two_pieces_are_joined():
    assert texts([piece("b", "\ud83d"), piece("b", "\ude00")]) == ["\U0001f600"]


def test_what_was_replaced_stays_readable():
    [entry] = entries_of([said("b", "assistant", "old"), replaced("b", "new")])
    assert entry.message["content"] == "new"
    assert [message["content"] for message in entry.earlier] == ["old"]


def test_a_replacement_of_a_lost_message_and_a_repeated_one_lose_and_double_nothing():
    assert texts([replaced("b", "new")]) == ["new"]
    assert texts([said("b"), said("b")]) == ["hi"]
    assert texts([said(None), said(None)]) == ["hi", "hi"]


def test_messages_that_were_read_are_not_changed():
    events = [said("b", "assistant", "half"), piece("b", " more")]
    before = json.dumps(events)
    messages_of(events)
    assert json.dumps(events) == before


def summary(*events):
    return Summary.of(SESSION, events)


def test_a_list_counts_what_people_and_models_said():
    events = [said("a", text="  Design\n a  low-pass " + "x" * 60), said("b", "assistant"), said("c", "tool")]
    found = summary(*events, said("d", "system"), piece("e", "x"), piece("e", "y"))
    assert found.message_count == 3
    assert found.preview == ("Design a low-pass " + "x" * 60)[:50]


def test_the_count_is_that_of_the_messages_also_when_things_repeat():
    events = [
        said("a"),
        said("b", "assistant"),
        said("b", "assistant"),
        replaced("b", "x"),
        replaced("z", "y"),
    ]
    assert summary(*events).message_count == len(messages_of(events)) == 3


@for_each(
    ("events", "is_partial"),
    [
        ([], False),
        ([said("a"), turn("started")], True),
        ([said("a"), turn("started"), said("b", "assistant"), turn("ended")], False),
        ([said("b", "assistant", is_partial=True)], True),
        ([said("b", "assistant", is_partial=True), replaced("b", "whole")], False),
        ([piece("b", "x")], True),
        ([piece("b", "x"), said("b", "assistant")], False),
        ([piece("b", "x"), turn("ended")], True),
        ([turn("started"), piece("b", "x"), turn("started"), said("c", "assistant"), turn("ended")], False),
        ([said("b", "assistant", is_partial=True), said("c"), turn("started"), turn("ended")], False),
    ],
)
def test_a_conversation_whose_last_turn_was_interrupted_is_marked(events, is_partial):
    assert summary(*events).has_partial_response is is_partial


def renamed(name, by):
    return {"event": "renamed", "name": name, "by": by}


def test_an_automatic_title_comes_once_and_never_over_a_users_name():
    header = {
        "event": "session",
        "name": "Chat 1",
        "work_mode": "workflow",
        "created_at": "2025-01-02T03:04:05Z",
    }
    assert summary(header).name == "Chat 1"
    assert summary(header).work_mode == "workflow"
    assert summary(header, renamed("auto", "auto"), renamed("again", "auto")).name == "auto"
    assert summary(header, renamed("mine", "user"), renamed("auto", "auto")).name == "mine"
    assert summary(header, renamed("auto", "auto"), renamed("mine", "user")).name == "mine"


def test_without_a_header_there_are_defaults():
    session_id = new_ulid()
    found = Summary.of(session_id, [said("a")])
    assert found.name.startswith("Chat 20")
    assert found.created_at == time_of_ulid(session_id) == found.updated_at
    assert found.work_mode == "free_work"


@pytest.mark.parametrize("header", [{"name": 3, "created_at": 7, "work_mode": []}, {"name": " "}, {}])
def test_a_header_of_nonsense_gives_defaults(header):
    found = Summary.of(SESSION, [{"event": "session", **header}])
    assert found.name.startswith("Chat")
    assert found.work_mode == "free_work"


def test_times_are_compared_in_utc():
    assert utc("2025-01-02T03:04:05+02:00") == "2025-01-02T01:04:05.000+00:00"
    assert [utc(odd) for odd in ("zzz", "", None, 3, "9999-12-31T23:59:59-23:00")] == [""] * 5
    events = [said("a", timestamp="2025-01-02T03:04:05+02:00"), said("b", timestamp="nonsense")]
    assert summary(*events).updated_at == "2025-01-02T01:04:05.000+00:00"


def test_ids():
    assert is_ulid(new_ulid())
    for odd in ("", "../x", "8" * 26, "I" * 26, new_ulid().lower(), new_ulid() + "\n"):
        assert not is_ulid(odd)
        assert time_of_ulid(odd) == ""
    assert time_of_ulid("7ZZZZZZZZZ0000000000000000") == ""
    assert default_name("nonsense") == "Chat"


def some_events(rng: random.Random):
    ids = [new_ulid() for _ in range(6)]
    rng.random() < 0.3 and rng.shuffle(ids)
    for _ in range(rng.randrange(12)):
        message_id = rng.choice(ids)
        role = rng.choice(["user", "assistant", "tool", "system"])
        yield rng.choice(
            [
                said(message_id, role, text=rng.choice(["a", "b"]), is_partial=rng.random() < 0.3),
                piece(message_id, "x"),
                replaced(message_id, "y"),
                turn(rng.choice(["started", "ended"])),
                renamed(rng.choice(["n", "m"]), rng.choice(["auto", "user"])),
            ]
        )


@campaigns(fast=300, whole=30_000)
def test_going_on_from_a_stored_summary_is_like_starting_anew(campaign):
    went_on = 0
    for rng in campaign.cases():
        events = list(some_events(rng))
        cut = rng.randrange(len(events) + 1)
        whole = Summary.of(SESSION, events)
        stored = Summary.of(SESSION, events[:cut])
        stored.seen = None
        try:
            for event in events[cut:]:
                stored.add(event)
        except NeedsWholeTranscript:
            continue
        went_on += 1
        whole.seen = None
        assert stored == whole
    assert campaign.only is not None or went_on > 10
