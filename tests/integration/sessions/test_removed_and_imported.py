"""Conversations that were removed and come back, or go after their time; and those that JSON brought in."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from application.conversation.session_texts import json_document
from application.conversation.sessions import Sessions
from domain.llm import messages as m
from domain.llm.compression import Compression, compression_event, restored_event
from domain.llm.conversation_record import ConversationRecord
from infrastructure.persistence.project import ProjectFolders
from presentation.panels.conversation.items import SimulationCard, result_folder
from presentation.session_export import document_text, export_text
from shared.errors import CircuitAIError, UserInputError
from shared.ulid import new_ulid
from tests.integration.sessions.test_session_documents import (
    a_conversation,
    new,
    project,
    sessions,
    written,
)

__all__ = ["project", "sessions"]


def folder(project: Path) -> Path:
    return project / ".circuit_ai" / "conversations"


def run(work: Any) -> Any:
    """The tests look at files themselves, which is not to be done on a loop."""
    return asyncio.run(work)


def refused(work: Any) -> str:
    with pytest.raises(CircuitAIError) as raised:
        run(work)
    return raised.value.error_type


def test_what_was_removed_comes_back_as_it_was_until_its_time_is_over(
    project: Path, sessions: Sessions
) -> None:
    first = new(project, "", *a_conversation()[1:])
    second = new(project, "", written(m.create_human_message("another")))
    before = (folder(project) / f"{first}.jsonl").read_bytes()
    run(sessions.delete(project, first))
    assert [info.session_id for info in run(sessions.list(project))] == [second]
    (gone,) = run(sessions.removed(project))
    assert (gone.session_id, gone.message_count, gone.size) == (first, 3, len(before))
    assert abs(gone.stored_at - time.time()) < 600
    shown = run(sessions.show(project, first, is_removed=True))
    assert (len(shown.messages), shown.is_ours) == (4, False)
    run(sessions.restore(project, first))
    assert (folder(project) / f"{first}.jsonl").read_bytes() == before
    assert (run(sessions.show(project, first))).is_ours
    assert run(sessions.removed(project)) == ()
    assert refused(sessions.restore(project, first)) == "no_session"

    run(sessions.delete(project, first))
    run(sessions.delete(project, second))
    copy = (folder(project) / "removed" / f"{second}.jsonl").read_bytes()
    (folder(project) / f"{second}.jsonl").write_bytes(copy)  # it came back by another way
    assert refused(sessions.restore(project, second)) == "session_exists"
    assert refused(sessions.delete(project, second)) == "session_exists"
    old = time.time() - 31 * 86400
    os.utime(folder(project) / "removed" / f"{first}.jsonl", (old, old))
    assert [info.session_id for info in run(sessions.removed(project))] == [second]
    assert not (folder(project) / "removed" / f"{first}.jsonl").exists()
    assert len(run(replace(sessions, kept_days=lambda: 3650).removed(project))) == 1
    run(sessions.delete(project, second, for_good=True))
    run(sessions.delete_removed(project, second))
    assert run(sessions.list(project)) == run(sessions.removed(project)) == ()


@pytest.mark.parametrize("moment", ["utime", "rename", "flush_folder"])
def test_a_removal_that_is_cut_short_leaves_it_here_or_there(
    project: Path, sessions: Sessions, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    from infrastructure.persistence import sessions as module

    session_id = new(project, "", *a_conversation()[1:])

    class Killed(BaseException):
        pass

    def kill(*_: object, **__: object) -> None:
        raise Killed

    holder = module.os if moment == "utime" else module
    with monkeypatch.context() as patch:
        patch.setattr(holder, moment, kill)
        with pytest.raises(Killed):
            ProjectFolders().open(project).sessions.set_aside(session_id)
    here, there = run(sessions.list(project)), run(sessions.removed(project))
    assert [info.session_id for info in (*here, *there)] == [session_id]


def with_everything() -> list[dict[str, Any]]:
    """Versions, summaries, an answer that was replaced, a design's words, an odd object as an argument."""
    events = a_conversation()
    user = m.create_human_message("Anew", timestamp="2025-01-02T04:00:00.000+00:00")
    answer = m.create_ai_message("one", usage=None)
    again = answer.model_copy(update={"content": "two"})
    odd = m.create_ai_message("", tool_calls=[{"id": "C9", "name": "x", "args": {"a": {"$float": "NaN"}}}])
    done = Compression(
        compression_id=new_ulid(), until=events[2]["message"]["id"], text="T", summary="S", messages=2,
        tokens_before=10, tokens_after=3, created="2025-01-02T03:30:00+00:00",
    )  # fmt: skip
    taken_back = replace(done, compression_id=new_ulid(), by="small")
    events += [
        compression_event(done),
        compression_event(taken_back),
        restored_event(taken_back.compression_id, ""),
        written(m.create_human_message("Second")),
        written(m.create_program_message("do it", step="s/1", task="t")),
        written(answer),
        {"event": "replaced", "message_id": answer.id, "message": m.message_to_dict(again)},
    ]
    second = next(
        each["message"]["id"] for each in events if each.get("message", {}).get("content") == "Second"
    )
    stopped = {"event": "turn", "turn_id": user.id, "state": "ended", "stop_reason": "user"}
    last = (written(odd), written(m.create_ai_message("three")), stopped)
    return [*events, written(user, instead_of=second), *last]


def test_export_import_export_is_the_same(project: Path, sessions: Sessions, tmp_path: Path) -> None:
    session_id = new(project, "", *with_everything())
    other = tmp_path / "other"
    text = export_text(run(sessions.show(project, session_id)), "json", str)
    assert '"replaced": true' in text
    assert '"text": "Stopped by you"' in text
    file = tmp_path / "talk.json"
    file.write_text(text, encoding="utf-8")
    assert run(sessions.import_file(other, file)) == session_id
    session = run(sessions.show(other, session_id))
    assert export_text(session, "json", str) == text
    assert not session.is_ours  # history to be read until it is adopted
    assert refused(sessions.rename(other, session_id, "mine")) == "not_adopted"
    twice = run(sessions.import_file(other, file))
    assert twice != session_id
    again = json_document(run(sessions.show(other, twice)))
    assert document_text(again | {"session_id": session_id}) == text
    record = ConversationRecord(session_id)
    record.take_all(ProjectFolders().open(other).sessions.read(session_id).events)
    assert m.get_text(record.messages[-1]) == "three"
    assert not record.seen_versions


GOOD = {"session_name": "n", "messages": [{"id": "A", "role": "user", "content": "hi"}]}
ANSWER = {"id": "B", "role": "assistant", "content": "x"}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda _d: [], "no list of messages"),
        (lambda d: d | {"messages": {}}, "no list of messages"),
        (lambda d: d | {"messages": [7]}, "message 1"),
        (lambda d: d | {"messages": [*d["messages"], *d["messages"]]}, "message 2"),
        (lambda d: d | {"messages": [{"id": "A", "role": "root", "content": ""}]}, "message 1"),
        (lambda d: d | {"messages": [{"id": "A", "role": "user", "content": {"x": 1}}]}, "message 1"),
        (lambda d: d | {"messages": [{"id": "A" * 999, "role": "user", "content": ""}]}, "message 1"),
        (lambda d: d | {"messages": [ANSWER | {"tool_calls": [{"id": 1}]}]}, "message 1"),
        (lambda d: d | {"messages": [ANSWER | {"tool_calls": "x"}]}, "message 1"),
        (lambda d: d | {"messages": [ANSWER | {"timestamp": "yesterday"}]}, "message 1"),
        (lambda d: d | {"messages": [GOOD["messages"][0] | {"instead_of": "nobody"}]}, "versions"),
        (lambda d: d | {"messages": [ANSWER | {"replaced": True}]}, "versions"),
        (lambda d: d | {"messages": [ANSWER | {"tool_calls": [0.5]}]}, "message 1"),
        (lambda d: d | {"session_name": "n" * 5000}, "name"),
        (lambda d: d | {"work_mode": "root"}, "name"),
        (lambda d: d | {"created_at": 7}, "times"),
        (lambda d: d | {"compressions": [{"text": "x"}]}, "summary"),
        (lambda _d: json.loads("[" * 90 + "]" * 90), "no list"),
    ],
)
def test_what_is_no_export_is_refused_in_words(
    project: Path, sessions: Sessions, tmp_path: Path, change: Callable[[Any], Any], word: str
) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(change(GOOD)))
    with pytest.raises(UserInputError) as raised:
        run(sessions.import_file(project, file))
    assert raised.value.error_type == "bad_import"
    assert word in str(raised.value.message)
    assert run(sessions.list(project)) == ()


def test_odd_files_are_refused_and_odd_ids_are_not_used(
    project: Path, sessions: Sessions, tmp_path: Path
) -> None:
    file = tmp_path / "talk.json"
    for data, kind in (
        (b"\xff\xfe no json", "bad_import"),
        (b"[" * 100_000, "bad_import"),
        (b"", "bad_import"),
    ):
        file.write_bytes(data)
        assert refused(sessions.import_file(project, file)) == kind
    assert refused(sessions.import_file(project, tmp_path / "nothing.json")) == "file_not_found"
    assert refused(sessions.import_file(project, tmp_path)) == "not_a_file"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert refused(sessions.import_file(project, pipe)) == "not_a_file"
    with file.open("wb") as sparse:
        sparse.truncate(65 << 20)
    assert refused(replace(sessions, read_file=lambda *_: None).import_file(project, file)) == "bad_import"
    for odd in ("../../../x", "", 7, "01JEXAMP1E0000000000000000/x"):
        file.write_text(json.dumps(GOOD | {"session_id": odd}))
        made = run(sessions.import_file(project, file))
        assert len(made) == 26
    assert len(run(sessions.list(project))) == 4
    assert not any(info.is_ours for info in run(sessions.list(project)))


def test_earlier_versions_neither_multiply_what_stands_beside_them_nor_are_without_number(
    project: Path, sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = {"role": "assistant", "content": "now", "reasoning_content": "r" * 100_000}
    file = tmp_path / "talk.json"
    file.write_text(json.dumps({"messages": [answer | {"earlier_versions": ["then"] * 100}]}))
    made = run(sessions.import_file(project, file))
    assert (folder(project) / f"{made}.jsonl").stat().st_size < 2 * file.stat().st_size
    monkeypatch.setattr("domain.llm.imported._MOST_MESSAGES", 40)
    assert refused(sessions.import_file(project, file)) == "bad_import"


@pytest.mark.parametrize("call_id", ["c3", "01J0000000/../../x", ""])
def test_a_call_with_any_id_has_no_result_and_no_way_out(tmp_path: Path, call_id: str) -> None:
    card = SimulationCard(key=call_id, state="done", path="a.cir")
    assert result_folder(tmp_path, card) == tmp_path / ".circuit_ai" / "sim_results" / "none"
