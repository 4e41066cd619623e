"""Versions of a conversation: what stands, what is kept, and that every reader of a transcript agrees."""

from __future__ import annotations

import math
import random
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from application.conversation.goals_shown import GoalsNow, goals_event, goals_in
from application.conversation.session_texts import json_document
from application.conversation.shown_session import shown
from domain.llm.conversation_record import ConversationRecord
from domain.llm.messages import create_ai_message, create_human_message, get_text, message_to_dict
from domain.llm.transcript import (
    Branches,
    Summary,
    branch_of,
    branched,
    entries_of,
    has_open_turn,
    messages_of,
    text_of,
)
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from infrastructure.persistence.sessions import SessionFiles
from shared.errors import UserInputError
from shared.ulid import new_ulid
from tests.ground.campaign import campaigns

Event = dict[str, Any]


def said(text: str, instead_of: str = "") -> list[Event]:
    message = message_to_dict(create_human_message(text))
    line: Event = {"event": "message", "message": message, "step": message["id"]}
    started = {"event": "turn", "turn_id": message["id"], "state": "started"}
    return [line | ({"instead_of": instead_of} if instead_of else {}), started]


def answered(text: str, turn: str) -> list[Event]:
    message = message_to_dict(create_ai_message(text))
    return [
        {"event": "delta", "message_id": message["id"], "text": text[:1], "reasoning": ""},
        {"event": "message", "message": message, "step": f"{turn}/1"},
        {"event": "turn", "turn_id": turn, "state": "ended", "stop_reason": "completed"},
    ]


def test_goals_stand_behind_a_message_that_stands_each_as_its_last_line_says() -> None:
    goal = DesignGoal(metric="gain", expression="max(db(v(out)))", unit="dB", minimum=20.0)
    figure = GoalVerdict(goal=goal, measured=Quantity(value=math.inf, unit="dB"), met=True)
    first, second = said("u1"), said("u2")
    one, two = first[0]["message"]["id"], second[0]["message"]["id"]
    shows = GoalsNow(key="a", path="a.cir", verdicts=(figure,), run=3, after=one)
    changes = replace(shows, key="b", before=(goal,), is_older=True, after=two)
    events: list[Event] = [
        {"event": "session", "session_id": new_ulid(), "name": "n"},
        goals_event(replace(shows, key="0", after="")),
        *first, *answered("a1", one), goals_event(shows),
        *second, *answered("a2", two), goals_event(changes),
        goals_event(replace(shows, run=4, after=two)),  # a later run, told while the second stands
        {"event": "goals", "card_id": 7},
        *(goals_event(replace(shows, key="d", path=path))  # none of the project's circuits
          for path in ("/etc/passwd", "../other/x.cir", "", ".", "a\0.cir")),
        {**goals_event(shows), "card_id": "c", "before": 1,
         "verdicts": [{}, {"goal": {**asdict(goal), "stated": None}, "value": 1, "unit": "dB"}]},
    ]  # fmt: skip
    found = shown("s", events).goals
    assert [each.key for each in found] == ["0", "a", "b", "c"]
    assert found[1:3] == (replace(shows, run=4), changes)
    assert found[3] == replace(shows, key="c", verdicts=())
    events += [*said("u2, changed", two)]
    assert [each.key for each in shown("s", events).goals] == ["0", "a", "c"]
    assert shown("s", events).goals[1].run == 4
    assert [each.key for each in shown("s", events, version=two).goals] == ["0", "a", "b", "c"]
    assert [each.key for each in goals_in(branched(events))] == ["0", "a", "c"]


class Story:
    """A conversation led at random, with what a person sees of it in plain lists."""

    def __init__(self, rng: random.Random) -> None:
        self.events: list[Event] = [{"event": "session", "session_id": new_ulid(), "name": "n"}]
        self.rows: list[tuple[str, str]] = []
        self.versions: dict[str, list[tuple[str, str]]] = {}
        """Of messages that do not stand: all that stood when they last did."""
        self._rng = rng

    def step(self, number: int) -> None:
        users = [key for key, text in self.rows if text.startswith("u")]
        old = self._rng.choice(users) if users and self._rng.random() < 0.4 else ""
        if self._rng.random() < 0.1:
            self.events.append({"event": "renamed", "name": f"name {number}", "by": "user"})
        if old:
            at = [key for key, _ in self.rows].index(old)
            for key, _ in self.rows[at:]:
                self.versions[key] = list(self.rows)
            del self.rows[at:]
        lines = said(f"u{number}", old)
        turn = lines[0]["message"]["id"]
        self.rows.append((turn, f"u{number}"))
        self.events += lines
        if self._rng.random() < 0.9:
            lines = answered(f"a{number}", turn)
            self.rows.append((lines[1]["message"]["id"], f"a{number}"))
            self.events += lines


@campaigns(fast=15, whole=2000)
def test_all_readers_agree_on_what_stands(campaign: Any) -> None:
    for rng in campaign.cases():
        story = Story(rng)
        record, summary = ConversationRecord("s"), Summary(session_id="s", seen={})
        known = 0
        for number in range(rng.randrange(1, 12)):
            story.step(number)
            for event in story.events[known:]:
                record.take(event)
                summary.add(event)
            known = len(story.events)
            stands = [text for _, text in story.rows]
            assert [get_text(message) for message in record.messages] == stands
            assert summary.message_count == len(stands)
            assert summary.preview == stands[0]
            assert record.name == summary.name
        assert [text_of(message) for message in messages_of(branch_of(story.events))] == stands
        again = ConversationRecord("s")
        again.take_all(story.events)
        assert [message.id for message in again.messages] == [message.id for message in record.messages]
        assert again.replaced_answers.keys() == record.replaced_answers.keys()
        other = shown("other", [{"event": "session", "name": "n"}, *branched(story.events)])
        assert [(message.id, message.text) for message in other.messages] == story.rows
        assert not other.versions
        versions = story.versions | {key: story.rows for key, _ in story.rows}
        for key, rows in rng.sample(sorted(versions.items()), min(3, len(versions))):
            place = [each for each, _ in rows].index(key)
            upto = rows[: place + (not rows[place][1].startswith("u"))]
            lines = branched(story.events, key)
            other = shown("other", [{"event": "session", "name": "n"}, *lines])
            assert [(message.id, message.text) for message in other.messages] == upto
            assert not has_open_turn(lines) or not rows[place][1].startswith("a")
        session = shown("s", story.events)
        assert [(message.id, message.text) for message in session.messages] == story.rows
        for key, rows in story.versions.items():
            before = shown("s", story.events, version=key)
            assert [(message.id, message.text) for message in before.messages] == rows
            assert not before.is_ours
        all_said = [entry.message["id"] for entry in entries_of(story.events)]
        assert [each["id"] for each in json_document(session)["messages"]] == all_said
        gone = {each["id"] for each in json_document(session)["messages"] if each.get("replaced")}
        assert gone == story.versions.keys() == set(all_said) - {key for key, _ in story.rows}


def test_a_torn_write_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    store = SessionFiles(tmp_path / "conversations")
    transcript = store.create(work_mode="free_work")
    first = said("first")
    turn = first[0]["message"]["id"]
    transcript.append(*first, *answered("A1", turn))
    path = tmp_path / "conversations" / f"{transcript.session_id}.jsonl"
    before = path.read_bytes()
    transcript.append(*said("better", turn))
    transcript.close()
    whole = path.read_bytes()
    seen = set()
    for end in (*range(len(before), len(whole), 3), len(whole)):
        path.write_bytes(whole[:end])
        read = store.read(transcript.session_id)
        assert read.is_ours
        texts = tuple(text_of(message) for message in messages_of(branch_of(read.events)))
        seen.add(texts)
        if end in (len(before), len(before) + 42, len(whole)):  # and the list says the same
            (info,) = store.list()
            assert (info.message_count, info.preview) == (len(texts), texts[0])
    assert seen == {("first", "A1"), ("better",)}


def test_what_names_nothing_that_stands_replaces_nothing() -> None:
    first = said("first")
    turn = first[0]["message"]["id"]
    answer = answered("A1", turn)
    for named in ("nobody", answer[1]["message"]["id"], ""):
        branches = Branches([*first, *answer, *said("second", named)])
        assert [text_of(message) for message in messages_of(branches.events)] == ["first", "A1", "second"]
    program = message_to_dict(create_human_message("do it"))
    program["additional_kwargs"]["program"] = {"step": "s/1", "task": "t"}
    line = {"event": "message", "message": program, "instead_of": turn}
    assert len(messages_of(branch_of([*first, line]))) == 2
    late = {"event": "delta", "message_id": answer[1]["message"]["id"], "text": "more", "reasoning": ""}
    events = [*first, *answer, *said("second", turn), late]
    assert [text_of(message) for message in messages_of(branch_of(events))] == ["second"]
    assert Summary.of("s", events).message_count == 1


def test_a_branch_has_what_a_design_said_and_not_what_it_waits_for() -> None:
    design = said("a filter")
    design[1]["design"] = {"text": "a filter"}
    step = answered("The corner is 1 kHz.", "x")[1]
    step["update"] = {"round": 1}
    events = [*design, step, {"event": "paused", "turn_id": design[1]["turn_id"], "reason": "user"}]
    assert Summary.of("s", events).design_open
    other = Summary.of("t", branched(events))
    assert (other.design_open, other.work_mode, other.has_partial_response) == ("", "free_work", False)
    assert [text_of(message) for message in messages_of(branched(events))] == [
        "a filter", "The corner is 1 kHz."
    ]  # fmt: skip


def test_a_branch_from_amid_a_turn_has_what_was_called_there_and_ends_the_turn() -> None:
    first = said("look")
    turn = first[0]["message"]["id"]
    calling, *_ = (line for line in answered("I look.", turn) if line["event"] == "message")
    result = {"event": "message", "message": {"id": new_ulid(), "type": "tool", "content": "R1", "name": "x"}}
    rest = answered("It is R1.", turn)
    events = [*first, calling, {"event": "seen", "files": []}, result, *rest, *said("thanks")]
    lines = branched(events, calling["message"]["id"])
    assert [text_of(message) for message in messages_of(lines)] == ["look", "I look.", "R1"]
    assert not has_open_turn(lines)
    assert {"event": "seen", "files": []} in lines
    assert branched(events, turn) == []
    assert branched(events, rest[1]["message"]["id"]) == events[:-2]
    with pytest.raises(LookupError):
        branched(events, new_ulid())


def test_a_message_before_a_design_is_not_replaced() -> None:
    chat, design = said("hello"), said("a filter")
    design[1]["design"] = {"text": "a filter"}
    behind = said("thanks")
    record = ConversationRecord("s")
    record.take_all([*chat, *design, {"event": "turn", "turn_id": "x", "state": "ended"}, *behind])
    for lines, error in ((chat, "design_behind"), (design, "design_behind"), (said("x"), "no_message")):
        with pytest.raises(UserInputError) as raised:
            record.refuse_to_replace(lines[0]["message"]["id"])
        assert raised.value.error_type == error
    record.refuse_to_replace(behind[0]["message"]["id"])
