"""Commits of a stranger pulled into one's own project: signed records put back, taken out, moved about."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.integration.cli.conftest import Cli
from tests.integration.strangers.conftest import RC, git

MODEL = ("--provider", "openai-compatible", "--model", "m")


class Pulled:
    """One's own project, of which a copy goes to a stranger and comes back with his commits."""

    def __init__(self, folder: Path) -> None:
        self.mine, self.theirs = folder / "mine", folder / "theirs"
        self.mine.mkdir()
        (self.mine / "a.cir").write_bytes(RC)
        git(self.mine, "init", "-q")

    def share(self) -> None:
        """Everything is committed, and the stranger has a clone of it."""
        git(self.mine, "add", "-A", "-f")
        git(self.mine, "commit", "-q", "-m", "Mine")
        git(self.mine.parent, "clone", "-q", str(self.mine), str(self.theirs))

    def pull(self) -> None:
        git(self.theirs, "add", "-A", "-f")
        git(self.theirs, "commit", "-q", "-m", "Better values")
        git(self.mine, "pull", "-q", "--ff-only", str(self.theirs), "main")

    @property
    def their_transcript(self) -> Path:
        return next((self.theirs / ".circuit_ai/conversations").glob("*.jsonl"))


@pytest.fixture
def pulled(tmp_path: Path) -> Pulled:
    return Pulled(tmp_path)


def chat(cli: Cli, project: Path, server: FakeLLMServer, *words: str) -> str:
    done = cli("chat", project, *words, *MODEL, "--base-url", server.base_url)
    return done.stdout + done.stderr


def delete(cli: Cli, project: Path) -> None:
    """A conversation in which the user allowed that a.cir is deleted."""
    asked = call("delete_file", {"path": "a.cir"})
    with FakeLLMServer([answer("", calls=[asked]), answer("Ready.")]) as server:
        chat(cli, project, server, "Tidy up", "--yes")
    assert not (project / "a.cir").exists()


def cut_behind_the_answer(transcript: Path) -> None:
    lines = transcript.read_bytes().splitlines(keepends=True)
    last = max(n for n, line in enumerate(lines) if b'"state":"answered"' in line)
    transcript.write_bytes(b"".join(lines[: last + 1]))


def forget_operations(private: Path) -> None:
    with closing(sqlite3.connect(private / "operations.sqlite")) as connection, connection:
        connection.execute("DELETE FROM operations")


def test_an_answer_counts_once(cli: Cli, pulled: Pulled) -> None:
    delete(cli, pulled.mine)
    pulled.share()
    cut_behind_the_answer(pulled.their_transcript)
    forget_operations(pulled.theirs / ".circuit_ai")
    (pulled.theirs / "a.cir").write_bytes(RC)
    pulled.pull()
    with FakeLLMServer([answer("I see."), answer("I see.")]) as server:
        told = chat(cli, pulled.mine, server, "--resume")
        results = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert (pulled.mine / "a.cir").read_bytes() == RC, told
    assert len(results) == 1
    assert "needs_confirmation" in results[0]  # asked again, with nobody there to ask


def test_an_answer_counts_again_when_it_is_given_again(cli: Cli, pulled: Pulled) -> None:
    delete(cli, pulled.mine)
    cut_behind_the_answer(next((pulled.mine / ".circuit_ai/conversations").glob("*.jsonl")))
    forget_operations(pulled.mine / ".circuit_ai")
    (pulled.mine / "a.cir").write_bytes(RC)
    with FakeLLMServer([answer("Ready.")]) as server:
        chat(cli, pulled.mine, server, "--resume", "--yes")
    assert not (pulled.mine / "a.cir").exists()


def test_a_copy_of_ones_own_stays_ones_own(cli: Cli, pulled: Pulled) -> None:
    delete(cli, pulled.mine)
    copy = shutil.copytree(pulled.mine, pulled.mine.parent / "copy", symlinks=True)
    packed = shutil.make_archive(str(pulled.mine.parent / "packed"), "tar", pulled.mine)
    shutil.unpack_archive(packed, unpacked := pulled.mine.parent / "unpacked")
    moved = pulled.mine.rename(pulled.mine.parent / "moved")
    for project in (copy, unpacked, moved):
        operations = cli("operations", project, "--json").document["operations"]
        conversations = cli("sessions", "list", project, "--json").document["sessions"]
        assert {entry["origin"] for entry in (*operations, *conversations)} == {"here"}, project
    undone = cli("undo", copy, "--json")
    assert undone.exit_code == 0
    assert (copy / "a.cir").read_bytes() == RC


@pytest.mark.parametrize("how", ["an older list comes with it", "its time is put back"])
def test_a_conversation_changed_in_its_middle_is_not_listed_as_written_here(
    cli: Cli, pulled: Pulled, how: str
) -> None:
    def origin() -> str:
        (session,) = cli("sessions", "list", pulled.mine, "--json").document["sessions"]
        return str(session["origin"])

    with FakeLLMServer([answer("The gain is 42."), answer("Yes.")]) as server:
        chat(cli, pulled.mine, server, "What is the gain?")
        assert origin() == "here"
        older = (pulled.mine / ".circuit_ai/conversations/sessions.json").read_bytes()
        chat(cli, pulled.mine, server, "Are you sure?", "--session", "last")
    assert origin() == "here"
    pulled.share()
    content = pulled.their_transcript.read_bytes().replace(b"gain is 42", b"gain is 17", 1)
    pulled.their_transcript.write_bytes(content)
    mine = pulled.mine / ".circuit_ai/conversations" / pulled.their_transcript.name
    before = mine.stat()
    if how == "an older list comes with it":
        (pulled.theirs / ".circuit_ai/conversations/sessions.json").write_bytes(older)
    pulled.pull()
    if how == "its time is put back":
        os.utime(mine, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert b"gain is 17" in mine.read_bytes()
    assert origin() == "elsewhere"
