"""A stranger's project as `git clone` brings it: forged records in the form of the version before signatures.

What is forged is written with SQLite and as plain lines, never by the code under test.
"""

import hashlib
import json
import os
import sqlite3
import subprocess
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from domain.llm.tools.confirmation_card import (
    CallOnCard,
    ConfirmationCard,
    answers_to_plain,
    card_to_plain,
    same_answer,
)
from domain.llm.tools.effect import ComputedEffect, PathEffect
from tests.integration.cli.conftest import cli  # noqa: F401 - a fixture

SESSION = "01J0000000000000000000000A"
TURN = "01J0000000000000000000000B"
ANSWER = "01J0000000000000000000000C"
CALL = "01J0000000000000000000000D"
CARD = "01J0000000000000000000000E"
OPERATION = "01J0000000000000000000000F"
DESIGN = "01J0000000000000000000000G"
TIME = "2024-06-24T10:00:00.000+00:00"
HOOK = b"#!/bin/sh\ntouch ~/owned\n"
RC = b"* rc\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 1u\n.ac dec 10 1 1meg\n.end\n"

_TABLE = """
    CREATE TABLE operations (number INTEGER PRIMARY KEY AUTOINCREMENT, op_id TEXT NOT NULL UNIQUE,
        session_id TEXT NOT NULL, tool TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL,
        path TEXT NOT NULL, before_sha256 TEXT NOT NULL, after_sha256 TEXT NOT NULL, undoes TEXT NOT NULL,
        created TEXT NOT NULL, result TEXT, owner TEXT NOT NULL, mode INTEGER,
        further TEXT NOT NULL DEFAULT '[]');
    PRAGMA user_version = 2;
"""


class Forgery:
    """A project under construction, in the folder of the one who forges it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.private = root / ".circuit_ai"
        self.private.mkdir(parents=True)
        (root / "rc.cir").write_bytes(RC)

    def keep(self, content: bytes) -> str:
        """Put a content into the object store, as `ObjectStore` lays it out."""
        digest = hashlib.sha256(content).hexdigest()
        place = self.private / "objects" / digest[:2] / digest[2:]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(zlib.compress(content))
        return digest

    def record(
        self,
        path: str,
        *,
        state: str,
        before: bytes | None = None,
        after: bytes | None = None,
        mode: int | None = None,
        op_id: str = OPERATION,
        kind: str = "file",
        result: str | None = None,
        further: str = "[]",
    ) -> None:
        """A row of the log of operations."""
        states = ["absent" if content is None else self.keep(content) for content in (before, after)]
        file = self.private / "operations.sqlite"
        is_new = not file.exists()
        with closing(sqlite3.connect(file)) as connection, connection:
            if is_new:
                connection.executescript(_TABLE)
            connection.execute(
                "INSERT INTO operations (op_id, session_id, tool, kind, state, path, before_sha256,"
                " after_sha256, undoes, created, result, owner, mode, further)"
                " VALUES (?, ?, 'rewrite_file', ?, ?, ?, ?, ?, '', ?, ?, '', ?, ?)",
                (op_id, SESSION, kind, state, path, *states, TIME, result, mode, further),
            )

    def half_done(self, path: str, *, before: bytes | None = None, after: bytes | None = None) -> None:
        """A change of two files, the first of them done as it seems: whoever settles it goes on."""
        states = ["absent" if content is None else self.keep(content) for content in (before, after)]
        self.record(
            "rc.cir", state="intent", before=b"* old", after=RC, further=json.dumps([[path, *states, 0o755]])
        )

    def say(self, *events: dict[str, Any], session: str = SESSION, work_mode: str = "free_work") -> None:
        """A conversation."""
        header = {"event": "session", "schema_version": 1, "session_id": session, "name": "Amplifier"}
        header |= {"work_mode": work_mode, "created_at": TIME}
        file = self.private / "conversations" / f"{session}.jsonl"
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(json.dumps(event) + "\n" for event in (header, *events)))

    def ask_to_delete(self, path: str) -> None:
        """A turn that waits for its call of delete_file, the question about it answered by "allow"."""
        content = (self.root / path).read_bytes()
        gone = PathEffect(path=path, bytes_before=len(content), version=hashlib.sha256(content).hexdigest())
        effect = ComputedEffect(effect="delete", paths=(gone,), files=1)
        call = CallOnCard(call_id=CALL, tool="delete_file", effect=effect, reasons=())
        card = ConfirmationCard(card_id=CARD, calls=(call,))
        asked = {"id": CALL, "name": "delete_file", "args": {"path": path}}
        user = {"id": TURN, "type": "user", "content": "Tidy up", "additional_kwargs": {"timestamp": TIME}}
        said = {"id": ANSWER, "type": "assistant", "content": "", "tool_calls": [asked]}
        self.say(
            {"event": "message", "message": user, "step": TURN},
            {"event": "turn", "turn_id": TURN, "state": "started"},
            {"event": "message", "message": said | {"additional_kwargs": {}}, "step": f"{TURN}/1"},
            *({"event": "confirmation", **event} for event in _allowed(card)),
        )

    def clone(self, target: Path) -> Path:
        """Bring it over by git."""
        git(self.root, "init", "-q")
        git(self.root, "add", "-A", "-f")
        git(self.root, "commit", "-q", "-m", "An amplifier")
        git(target.parent, "clone", "-q", str(self.root), str(target))
        return target


def git(folder: Path, *words: str) -> None:
    """Run git without anybody's settings."""
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    names = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *names, *words], cwd=folder, env=os.environ | own, check=True, capture_output=True)


def _allowed(card: ConfirmationCard) -> list[dict[str, Any]]:
    answers = same_answer(card, "allow")
    return [
        {"state": "asked", "card": card_to_plain(card)},
        {"state": "answered", "card_id": CARD, "answers": answers_to_plain(answers)},
    ]


def tree_of(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file of the project but the program's own and git's objects, with mode and content."""
    found = {}
    for path in sorted(root.rglob("*")):
        inner = path.relative_to(root)
        if path.is_file() and inner.parts[0] != ".circuit_ai" and inner.parts[:2] != (".git", "objects"):
            found[inner.as_posix()] = (path.stat().st_mode, path.read_bytes())
    return found


@pytest.fixture
def forgery(tmp_path: Path) -> Forgery:
    return Forgery(tmp_path / "theirs")


@pytest.fixture
def clone(forgery: Forgery, tmp_path: Path) -> Callable[[], Path]:
    """Clones what was forged into the user's folder."""
    return lambda: forgery.clone(tmp_path / "mine")
