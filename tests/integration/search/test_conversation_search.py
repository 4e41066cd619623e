"""What was said in all conversations, found again: against the transcripts themselves."""

import os
import random
import sqlite3

import pytest

from domain.llm import messages as m
from infrastructure.persistence.project import ProjectFolders
from infrastructure.search.conversations import SqliteConversationIndex
from infrastructure.search.database import CONVERSATIONS, path_of

WORDS = [
    "gain",
    "增益",
    "phase",
    "margin",
    "相位裕度",
    "R1",
    "ripple",
    "the",
    "of",
    "运放",
    "µF",
    "Größe",
    "C_load",
    "10k",
]


@pytest.fixture
def root(tmp_path):
    ProjectFolders().open(tmp_path, create=True).close()
    return tmp_path


@pytest.fixture
def index(root):
    return SqliteConversationIndex(root)


def said(text, role=m.create_human_message, **more):
    return {"event": "message", "message": m.message_to_dict(role(text, **more))}


def new(root, *events, session_id=""):
    transcript = ProjectFolders().open(root).sessions.create(work_mode="free_work", session_id=session_id)
    transcript.append(*events)
    transcript.close()
    return transcript.session_id


def add(root, session_id, *events):
    transcript = ProjectFolders().open(root).sessions.open(session_id)
    transcript.append(*events)
    transcript.close()


def found(index, text):
    assert index.update(60) == 0
    return {hit.session_id for hit in index.find(text, 50, 60).hits}


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_what_reading_everything_finds(root, index, seed):
    chance = random.Random(seed)
    texts = {}
    for _ in range(12):
        each = [" ".join(chance.choices(WORDS, k=chance.randint(1, 6))) for _ in range(4)]
        texts[new(root, *map(said, each))] = each
    for size in (1, 2):
        for _ in range(8):
            wanted = [chance.choice([*WORDS, "增", "r1", "GRÖSSE", "ga"]) for _ in range(size)]
            by_reading = {
                session_id
                for session_id, each in texts.items()
                if any(all(word.casefold() in text.casefold() for word in wanted) for text in each)
            }
            assert found(index, " ".join(wanted)) == by_reading, wanted
    assert found(index, '"phase margin"') == {
        session_id for session_id, each in texts.items() if any("phase margin" in text for text in each)
    }


def test_a_hit_has_its_message_and_its_sentence(root, index):
    long = "x " * 300 + "the phase margin is 61 degrees" + " y" * 300
    messages = [said("Why?"), said(long, m.create_ai_message)]
    session_id = new(root, *messages)
    index.update(60)
    [hit] = index.find("PHASE 61", 50, 60).hits
    assert (hit.session_id, hit.message_id, hit.role, hit.count) == (
        session_id, messages[1]["message"]["id"], "assistant", 1,
    )  # fmt: skip
    assert "the phase margin is 61 degrees" in hit.sentence
    assert len(hit.sentence) < 170
    assert index.find('  "" ', 50, 60).hits == ()


def test_it_follows_what_is_added_replaced_and_deleted(root, index):
    question, answer = said("Set R1 to 2k"), said("Done: 2k", m.create_ai_message)
    session_id = new(root, question, answer)
    assert found(index, "done") == {session_id}
    add(root, session_id, said("And the bandwidth?"))
    assert found(index, "bandwidth") == {session_id}
    changed = dict(answer["message"], content="Nothing was changed")
    add(root, session_id, {"event": "replaced", "message_id": changed["id"], "message": changed})
    assert found(index, "done") == set()
    assert found(index, "nothing") == {session_id}
    other = new(root, said("bandwidth of the other"))
    assert found(index, "bandwidth") == {session_id, other}
    ProjectFolders().open(root).sessions.delete(session_id)
    index.forget(session_id)
    assert {hit.session_id for hit in index.find("bandwidth", 50, 60).hits} == {other}
    with sqlite3.connect(path_of(root, CONVERSATIONS)) as connection:
        assert [text for (text,) in connection.execute("SELECT text FROM messages")] == [
            "bandwidth of the other"
        ]


def test_without_time_it_says_how_much_is_left_and_goes_on(root, index):
    for number in range(5):
        new(root, said(f"ripple {number}"))
    assert index.update(0) == 5
    assert index.find("ripple", 50, 60).hits == ()
    assert len(found(index, "ripple")) == 5


@pytest.mark.parametrize("what", ["link", "folder", "damaged", "foreign"])
def test_where_no_index_can_be_it_is_made_anew_or_everything_is_read(root, index, tmp_path_factory, what):
    session_id = new(root, said("ripple"))
    path = path_of(root, CONVERSATIONS)
    outside = tmp_path_factory.mktemp("outside") / "theirs.sqlite"
    if what == "link":
        outside.write_bytes(b"")
        path.symlink_to(outside)
    elif what == "folder":
        path.mkdir()
    elif what == "damaged":
        path.write_bytes(b"SQLite format 3\0" + os.urandom(4000))
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE messages (text TEXT)")
            connection.execute("INSERT INTO messages VALUES ('ripple')")
    assert found(index, "ripple") == {session_id}
    if what == "link":
        assert outside.read_bytes() == b""


def test_a_stranger_s_index_says_nothing(root, index, monkeypatch, tmp_path):
    """One that came with a copy of the project is made anew: it could say what nobody said."""
    session_id = new(root, said("ripple"))
    index.update(60)
    path = path_of(root, CONVERSATIONS)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE messages SET text = 'gain'")
    copy = path.read_bytes()
    path.unlink()
    path.write_bytes(copy)
    assert found(index, "ripple") == {session_id}
    assert "ripple" in index.find("ripple", 50, 60).hits[0].sentence
