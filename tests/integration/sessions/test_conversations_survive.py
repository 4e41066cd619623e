"""Whatever is done in conversations, and however the program ends: what was shown is there at the next start.

A sequence is three lives of the program (`conversation_lives.py`) on one project: messages, queues, stops,
undo, compression, other conversations, a full disk; each life but the last is ended by itself, by SIGKILL, or
in the middle of a write. The model of what has to be there is made here, from what was done and shown.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.llm_server import FakeLLMServer, Script, answer, call, error
from tests.ground.campaign import Campaign, campaigns

ROOT = Path(__file__).resolve().parents[3]
CONTINUE = "Continue."
"""What the button says for the user."""
WORDS = "The corner lies where the reactance of C1 equals R1, so a larger C1 moves it down. "
LIVES = 3
"""Of a sequence; the last ends by itself."""
ENDS: list[dict[str, Any]] = [{}, {"kind": "kill"}, {"kind": "torn"}]
STEPS = (
    *(["say"] * 5), *(["write"] * 3), *(["say_and_stop"] * 4), *(["queue", "side_by_side", "edit"] * 3),
    *(["open", "next_tab", "undo", "go_on", "again", "goals", "branch"] * 2), "type", "fail", "new",
    "new_tab", "close_tab", "rename", "delete", "compress", "restore", "look", "taken_over",
)  # fmt: skip


def reply_to(text: str) -> str:
    """All that the model says to a message; what it does follows from the last line too."""
    command = text.splitlines()[-1]
    repeats = 1 + sum(map(ord, command)) % (9 if command.startswith("slow") else 4)
    return f"About {command}: " + "".join(f"{number}. {WORDS}" for number in range(repeats))


def next_answer(body: dict[str, Any]) -> Script:
    """Follows from the request alone."""
    messages = body["messages"]
    if "memory of a conversation" in str(messages[0]["content"]):
        return answer("- Task: the corner of the filter.")
    last = max(place for place, each in enumerate(messages) if is_said(each))
    text = text_of(messages[last])
    begun = "".join(text_of(each) for each in messages[last + 1 :] if each["role"] == "assistant")
    command = text.splitlines()[-1]
    if command.startswith("fail"):
        return error(400, "no such thing")
    if command.startswith("write") and not any(each["role"] == "tool" for each in messages[last + 1 :]):
        name = f"f{command.partition('#')[2]}.md"
        return answer("", calls=[call("rewrite_file", {"path": name, "content": f"{command}\n"})])
    rest = reply_to(text)[len(begun) :]
    pace = 0.002 if command.startswith("slow") else 0.0
    return answer(rest, piece_delay_s=pace)


def is_said(message: dict[str, Any]) -> bool:
    """Whether the user typed it."""
    said = text_of(message)  # data of the project may stand before the words
    return message["role"] == "user" and ("#" in said or said.splitlines()[-1:] == [CONTINUE])


def text_of(message: dict[str, Any]) -> str:
    content = message["content"] or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def life_of(
    rng: random.Random, *, can_be_full: bool, is_first: bool, is_last: bool, was_killed: bool
) -> dict[str, Any]:
    """What is done in one life of the program, and how it ends."""
    steps: list[tuple[str, int]] = [
        (rng.choice(STEPS), rng.randrange(10_000)) for _ in range(rng.randint(1, 4))
    ]
    if is_first:  # the key that signs what is written is kept with the first message
        steps.insert(0, ("say", 0))
    if can_be_full and rng.random() < 0.3:
        at = rng.randrange(len(steps))
        steps[at + 1 : at + 1] = [("free", 0)]
        steps.insert(at, ("fill", 0))
    ends: list[dict[str, Any]] = [{}] if is_last else ENDS
    end = rng.choice(ends)
    return {
        "steps": steps,
        "end": {**end, "after": rng.randint(1, 60 if end["kind"] == "kill" else 6)} if end else end,
        "zeros": rng.choice((0, 0, 7, 4096)) if was_killed else 0,
    }


@pytest.mark.timeout(3600)
@campaigns(fast=1, whole=1000, parts=8)
def test_what_was_shown_is_there_at_the_next_start(campaign: Campaign, tmp_path: Path) -> None:
    with lives_on(tmp_path) as lives, FakeLLMServer(next_answer) as server:
        for rng in campaign.cases():
            check_sequence(rng, lives, server.base_url)


def check_sequence(rng: random.Random, lives: Lives, base_url: str) -> None:
    """Lead the lives of one sequence, each behind what the one before has left."""
    reference, told = Reference(), []
    lives.journal.unlink(missing_ok=True)
    for number in range(LIVES):
        is_last = number == LIVES - 1
        told.append(
            life_of(
                rng,
                can_be_full=lives.can_be_full and 0 < number < LIVES - 1,
                is_first=not number,
                is_last=is_last,
                was_killed=reference.was_killed,
            )
        )
        ended = lives.live({**told[-1], "base_url": base_url, "forgets": is_last})
        lines = [json.loads(line) for line in lives.journal.read_text().splitlines()]
        lives.journal.unlink()
        assert ended["status"] in (0, -signal.SIGKILL), (told, ended)
        reference.follow(lines, was_killed=ended["status"] != 0)
        assert not reference.faults, "\n".join((str(told), *reference.faults))
    assert not ended["left"], (told, ended["left"])


class Lives:
    """The process that forks them, on a small disk of its own where the system allows that."""

    def __init__(self, folder: Path) -> None:
        self.journal = folder / "journal"
        self._disk = disk = folder / "disk"
        disk.mkdir()
        mount = 'mount -t tmpfs -o size=24m tmpfs "$1" && shift && exec "$@"'
        inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh", str(disk)]
        self.can_be_full = subprocess.run([*inside, "true"], check=False, capture_output=True).returncode == 0
        driver = [sys.executable, "-m", "tests.integration.sessions.conversation_lives"]
        self._process = subprocess.Popen(
            [*(inside if self.can_be_full else ()), *driver],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def live(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        places = {"project": self._disk / "p", "home": self._disk / "h", "journal": self.journal}
        self._process.stdin.write(json.dumps(order | {key: str(at) for key, at in places.items()}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@contextmanager
def lives_on(folder: Path) -> Iterator[Lives]:
    lives = Lives(folder)
    try:
        yield lives
    finally:
        lives.close()


@dataclass
class Reference:
    """What has to be there, from what was done and shown."""

    shown: dict[str, list[Any]] = field(default_factory=dict)
    """By conversation, as it stood when it was last at rest."""
    typed: list[str] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    """Words that the user removed."""
    deleted: set[str] = field(default_factory=set)
    drafts: dict[str, str] = field(default_factory=dict)
    tabs: tuple[str, ...] = ()
    """When it was ended by itself: their conversations, or what stood in new ones; an empty one does not come
    back."""
    front: str = ""
    cards: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    """About goals, by conversation and key: shown, and by then written."""
    left: set[str] = field(default_factory=set)
    """Their tabs were closed while they ran: nobody saw how that ended."""
    was_killed: bool = False
    step: str = ""
    faults: list[str] = field(default_factory=list)

    def follow(self, lines: list[dict[str, Any]], *, was_killed: bool) -> None:
        """A life of the program, from its journal."""
        kept = before = len(self.typed)
        is_full = False
        for line in lines:
            match line["what"]:
                case "opened":
                    self._compare(line)
                    self.shown, self.drafts = line["all"], line["drafts"]
                case "step":
                    self.step = line["kind"]
                    # What it could not keep the next start misses.
                    is_full = is_full or line["kind"] == "fill"
                case "typed":
                    self.typed.append(line["text"])
                case "gone":
                    self.gone |= set(line["text"].split())
                case "deleted":
                    self._delete(line["session"], line["text"])
                case "left":
                    self.left.add(line["session"])
                case "replaces":
                    self._replace(line["session"], line["text"])
                case "carded" if not is_full:
                    self.cards.setdefault(line["session"], {})[line["key"]] = line["row"]
                case "kept":
                    kept = before + line["typed"]
                case "failed":
                    self._blame(f"a task failed: {line['error']}")
                case "rested":
                    self._rest(line, is_full=is_full)
                case "closed":
                    self.drafts, self.tabs, self.front = line["drafts"], tabs_of(line), line["front"]
        self.was_killed = was_killed
        if was_killed:
            self.tabs, self.front = (), ""
            del self.typed[kept:]  # it was typed in the last moment

    def _delete(self, session: str, said: str) -> None:
        """`said` is what stood in it: of one that went on behind its closed tab nobody has seen that."""
        self.gone |= {*said.split(), *self.drafts.get(session, "").split()}
        self.deleted.add(session)

    def _replace(self, session: str, text: str) -> None:
        """From this message on another version may stand in the place of what did."""
        self.cards.pop(session, None)
        rows = self.shown.get(session, [])
        at = next((at for at, row in enumerate(rows) if row == ["user", text]), len(rows))
        texts = [text, *(row[1] for row in rows[at:] if row[0] == "user")]
        self.gone |= {word for each in texts for word in each.split()}
        self.shown[session] = rows[:at]

    def _rest(self, line: dict[str, Any], *, is_full: bool) -> None:
        for session, stored in line["stored"].items():
            # What a full disk cannot keep is said, and not kept; nor is a message that failed before.
            rows, self.shown[session] = line["rows"][session], stored
            if rows != stored and not is_full and not is_unwritten(rows, stored, line["drafts"]):
                self._blame("what is shown is not what is stored", shown=rows, stored=stored)
        self.drafts = line["drafts"]

    def _compare(self, opened: dict[str, Any]) -> None:
        """What is there at a start with what has to be."""
        found: dict[str, list[Any]] = opened["all"]
        for session in self.shown.keys() - self.deleted:
            rows, now = self.shown[session], found.get(session)
            if now is None:
                if rows:  # one in which nothing was said is no loss
                    self._blame("a conversation is gone", shown=rows)
            elif self.was_killed or session in self.left:
                if not begins_with(said(now), said(rows)):
                    self._blame("rows are missing", shown=rows, now=now)
            elif now != rows:
                self._blame("other rows", shown=rows, now=now)
        for session in self.cards.keys() - self.deleted:
            now = [row[:-1] for row in found.get(session, [])]
            for row in self.cards[session].values():
                if row[:-1] not in now:  # a change of it may have been taken back in the last moment
                    self._blame("a card about goals is lost", card=row, now=found.get(session))
        self.left.clear()
        if self.tabs and tabs_of(opened) != self.tabs:
            self._blame("other tabs", before=self.tabs, now=tabs_of(opened))
        if self.front in self.tabs and opened["front"] != self.front:
            self._blame("another one in front", before=self.front, now=opened["front"])
        places = {"", *opened["known"], *self.deleted}
        for place, text in opened["drafts"].items():
            if place not in places and not place.startswith("new tab "):
                self._blame("a draft stands where nobody sees it", place=place, text=text)
        if not self.was_killed and opened["drafts"] != self.drafts:
            self._blame("other drafts", before=self.drafts, now=opened["drafts"])
        everywhere = [row[1] for rows in found.values() for row in rows if row[0] == "user"]
        words = {word for text in (*everywhere, *opened["drafts"].values()) for word in text.split()}
        for text in self.typed:
            if text.split()[-1] not in words | self.gone:
                self._blame(f"{text} is lost", now=found, drafts=opened["drafts"])
        for rows in found.values():
            self.faults += wrong_answers(rows)

    def _blame(self, what: str, **facts: Any) -> None:
        how = "a kill in" if self.was_killed else ""
        lines = [f"after {how} {self.step}: {what}", *(f"{name:>8} {fact}" for name, fact in facts.items())]
        self.faults.append("\n".join(lines))


def tabs_of(line: dict[str, Any]) -> tuple[str, ...]:
    """The tabs in their order: the conversation of each, or what stands in a new one."""
    return tuple(filter(None, line["tabs"]))


def is_unwritten(rows: list[Any], stored: list[Any], drafts: dict[str, str]) -> bool:
    """Whether all that is shown beside what is stored is a message, kept as a draft, and why it failed."""
    *before, message, failure = rows if len(rows) > 1 else [*rows, ["", ""], ["", ""]]
    known = [row[:2] for row in before]  # whose ways on were spent by it
    return (
        (message[0], failure[0]) == ("user", "error")
        and known == [row[:2] for row in stored]
        and any(message[1] in draft for draft in drafts.values())
    )


def said(rows: list[Any]) -> list[tuple[str, ...]]:
    """What an accident may not take: who said what, and which tools ran on what."""
    return [
        (row[0], row[1], "" if row[0] != "card" else row[2])
        for row in rows
        if row[0] in ("user", "answer", "card")
    ]


def begins_with(now: list[Any], before: list[Any]) -> bool:
    """Whether `now` goes on where `before` ends; the text of the last answer may have grown."""
    if before and before[-1][0] == "answer" and len(now) >= len(before):
        *before, last = before
        return now[: len(before)] == before and now[len(before)][1].startswith(last[1])
    return now[: len(before)] == before


def wrong_answers(rows: list[Any]) -> list[str]:
    """Answers that are not what the model said, or a whole one where nothing says why it is not."""
    faults, text, answered, is_told = [], "", "", True
    for row in [*rows, ["user", "#end"]]:
        if row[0] == "user":
            expected = reply_to(text) if text else ""
            is_whole = answered == expected or text.splitlines()[-1].startswith("fail")
            if text and not (is_whole or (is_told and expected.startswith(answered))):
                faults.append(f"answered {text!r} by {answered!r} of {expected!r} in {rows}")
            text, answered, is_told = row[1], "", False
        elif row[0] == "answer":
            answered += row[1]
        elif row[0] in ("interrupted", "error") or (row[0] == "card" and row[3] == "stopped"):
            is_told = True
    return faults
