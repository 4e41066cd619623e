"""Confirmation through the real graph: what is asked, what an answer does, and what survives."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from application.app import Application
from application.conversation.turn_deps import ChatRequest
from application.ports.events import ChatEvent, ConfirmationGiven, ConfirmationNeeded, ToolEnded
from bootstrap import build
from domain.llm.chat import ProviderChoice
from domain.llm.tools.confirmation import Rule
from domain.llm.tools.confirmation_card import (
    AnswerWord,
    CardAnswer,
    ConfirmationCard,
    same_answer,
)
from shared.errors import UserInputError
from tests.fakes.llm_server import Call, FakeLLMServer, answer, call
from tests.fakes.signed_transcript import sign_lines

OLD = "old one\nold two\nold three\n"
NEW = "new\n"


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = build()
    yield application
    await application.close()


@dataclass
class Person:
    """Answers every card alike, and remembers it."""

    word: AnswerWord = "allow"
    reason: str = ""
    cards: list[ConfirmationCard] = field(default_factory=list)

    async def __call__(self, card: ConfirmationCard) -> dict[str, CardAnswer]:
        self.cards.append(card)
        return same_answer(card, self.word, self.reason)


@dataclass
class Turn:
    """What one turn of a scripted model came to."""

    events: list[ChatEvent]
    requests: list[Any]

    @property
    def told(self) -> list[str]:
        """What the model read as the results of its calls, in the last request."""
        return [
            str(message["content"]) for message in self.requests[-1]["messages"] if message["role"] == "tool"
        ]

    @property
    def session_id(self) -> str:
        return str(getattr(self.events[0], "session_id", ""))


def rewrite(path: str, content: str = NEW) -> Call:
    return call("rewrite_file", {"path": path, "content": content})


async def run(
    app: Application,
    project: Path,
    *answers: list[Call],
    person: Any = None,
    text: str | None = "Go.",
    session_id: str = "",
) -> Turn:
    events: list[ChatEvent] = []
    with FakeLLMServer([*(answer("", calls=calls) for calls in answers), answer("That is all.")]) as server:
        choice = ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
        request = ChatRequest(project=project, text=text, session_id=session_id, choice=choice)
        await app.conversations.chat(request, emit=events.append, confirm=person)
        return Turn(events=events, requests=list(server.requests))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("a.cir", "b.cir", "models.lib"):
        (folder / name).write_text(OLD)
    return folder


async def test_one_card_for_all_calls_of_an_answer_and_each_has_its_own_answer(
    app: Application, project: Path
) -> None:
    cards = []

    async def person(card: ConfirmationCard) -> dict[str, CardAnswer]:
        cards.append(card)
        before = await asyncio.to_thread((project / "a.cir").read_text)
        assert before == OLD, "no effect before the answer"
        first, second = card.calls
        return {
            first.call_id: CardAnswer(word="refuse", reason="keep the first"),
            second.call_id: CardAnswer(word="allow"),
        }

    turn = await run(
        app,
        project,
        [rewrite("a.cir"), rewrite("fresh.cir"), rewrite("b.cir")],
        person=person,
    )
    (card,) = cards
    assert [(item.tool, item.effect.paths[0].path, item.reasons) for item in card.calls] == [
        ("rewrite_file", "a.cir", ("overwrite",)),
        ("rewrite_file", "b.cir", ("overwrite",)),
    ]
    effect = card.calls[0].effect.paths[0]
    assert (effect.bytes_before, effect.bytes_after) == (len(OLD), len(NEW))
    assert (effect.lines_lost, effect.lines_added) == (3, 1)
    assert "-old two" in effect.diff
    assert (project / "a.cir").read_text() == OLD
    assert (project / "b.cir").read_text() == NEW
    assert (project / "fresh.cir").read_text() == NEW
    refused, made, written = turn.told
    assert "refused_by_user" in refused
    assert "keep the first" in refused
    assert made.startswith("Created")
    assert written.startswith("Changed")
    needed = [event for event in turn.events if isinstance(event, ConfirmationNeeded)]
    given = [event for event in turn.events if isinstance(event, ConfirmationGiven)]
    assert [event.card.card_id for event in needed] == [card.card_id] == [event.card_id for event in given]
    ends = {event.call_id: event.success for event in turn.events if isinstance(event, ToolEnded)}
    assert [ends[item.call_id] for item in card.calls] == [False, True]


async def test_nothing_is_asked_where_nothing_can_be_lost(app: Application, project: Path) -> None:
    person = Person()
    await run(
        app,
        project,
        [call("read_file", {"path": "a.cir"}), call("list_project_files", {})],
        [rewrite("a.cir"), rewrite("deep/new.cir")],
        [call("patch_file", {"path": "b.cir", "search": "old two", "replace": "new two"})],
        [rewrite("deep/new.cir", "again\n")],
        person=person,
    )
    assert person.cards == []
    assert (project / "a.cir").read_text() == NEW
    assert (project / "b.cir").read_text() == "old one\nnew two\nold three\n"
    assert (project / "deep" / "new.cir").read_text() == "again\n"


async def test_what_the_user_asked_for_himself_is_not_asked_again(app: Application, project: Path) -> None:
    person = Person("refuse")
    await run(app, project, [rewrite("a.cir")], person=person, text="Overwrite a.cir with something new.")
    assert person.cards == []
    await run(
        app, project, [rewrite("b.cir")], person=person, text="Overwrite a.cir. Do not overwrite b.cir!"
    )
    assert [card.calls[0].effect.paths[0].path for card in person.cards] == ["b.cir"]
    assert (project / "b.cir").read_text() == OLD


async def test_what_was_refused_is_not_asked_about_again_in_the_turn(app: Application, project: Path) -> None:
    person = Person("refuse")
    turn = await run(
        app,
        project,
        [call("delete_file", {"path": "a.cir"})],
        [call("delete_file", {"path": "./a.cir"})],
        [rewrite("b.cir")],
        [rewrite("b.cir")],
        [rewrite("b.cir", "something else\n")],
        person=person,
    )
    asked = [card.calls[0].effect.paths[0].path for card in person.cards]
    assert asked == ["a.cir", "b.cir", "b.cir"]  # another content is another question
    assert ["the question was not repeated" in told for told in turn.told] == [
        False,
        True,
        False,
        True,
        False,
    ]
    await run(app, project, [rewrite("b.cir")], person=person, text="Try it again.")
    assert len(person.cards) == 4
    assert (project / "b.cir").read_text() == OLD


async def test_with_nobody_to_ask_nothing_is_lost(app: Application, project: Path) -> None:
    turn = await run(app, project, [rewrite("a.cir"), rewrite("fresh.cir")])
    assert (project / "a.cir").read_text() == OLD
    assert (project / "fresh.cir").read_text() == NEW
    assert "needs_confirmation" in turn.told[0]


async def test_deny_wins_over_every_permission(app: Application, project: Path) -> None:
    rules = [Rule(decision="allow"), Rule(decision="deny", path="*.lib")]
    await asyncio.to_thread(app.conversations.permissions.add_rules, project, rules)
    person = Person("always")
    turn = await run(
        app,
        project,
        [
            rewrite("a.cir"),
            rewrite("./models.lib"),
            call("patch_file", {"path": "models.lib", "search": "old two", "replace": "x"}),
            call("read_file", {"path": "MODELS.LIB"}),
        ],
        person=person,
        text="Overwrite models.lib.",
    )
    assert person.cards == []
    assert (project / "a.cir").read_text() == NEW
    assert (project / "models.lib").read_text() == OLD
    assert ["forbidden_by_rule" in told for told in turn.told] == [False, True, True, True]


async def test_always_is_of_one_project_and_no_clone_brings_it(
    app: Application, project: Path, tmp_path: Path
) -> None:
    person = Person("always")
    await run(app, project, [rewrite("a.cir")], person=person)
    (project / "a.cir").write_text(OLD)  # another conversation has not read it
    await run(app, project, [rewrite("a.cir")], person=person)
    assert len(person.cards) == 1
    clone = tmp_path / "clone"
    shutil.copytree(project, clone)
    await run(app, clone, [rewrite("a.cir", "cloned\n")], person=person)
    assert len(person.cards) == 2
    moved = tmp_path / "moved"
    await asyncio.to_thread(project.rename, moved)
    await run(app, moved, [rewrite("a.cir", "moved\n")], person=person)
    assert len(person.cards) == 3


async def test_protected_file_is_always_asked_about(app: Application, project: Path) -> None:
    await asyncio.to_thread(app.conversations.permissions.protect, project, "a.cir", is_protected=True)
    await asyncio.to_thread(app.conversations.permissions.add_rules, project, [Rule(decision="allow")])
    (project / "alias.cir").symlink_to("a.cir")
    person = Person("refuse")
    small = {"path": "alias.cir", "search": "old two", "replace": "x"}
    turn = await run(
        app, project, [call("patch_file", small)], person=person, text="Change a.cir and alias.cir."
    )
    assert [item.reasons for card in person.cards for item in card.calls] == [("protected",)]
    assert person.cards[0].calls[0].always == ()
    assert "refused_by_user" in turn.told[0]
    assert (project / "a.cir").read_text() == OLD


async def test_permission_is_for_the_content_that_was_shown(app: Application, project: Path) -> None:
    async def person(card: ConfirmationCard) -> dict[str, CardAnswer]:
        await asyncio.to_thread((project / "a.cir").write_text, "much work of somebody else\n" * 100)
        return same_answer(card, "allow")

    turn = await run(app, project, [rewrite("a.cir")], person=person)
    assert "needs_confirmation" in turn.told[0]
    assert (project / "a.cir").read_text().startswith("much work")


async def test_more_than_ten_files_in_a_turn_are_asked_about_once_in_a_while(
    app: Application, project: Path
) -> None:
    for number in range(20):
        (project / f"n{number}.txt").write_text(OLD)
    person = Person()
    patches = [
        call("patch_file", {"path": f"n{number}.txt", "search": "old two", "replace": "x"})
        for number in range(20)
    ]
    await run(app, project, *(patches[start : start + 5] for start in range(0, 20, 5)), person=person)
    assert [[item.reasons for item in card.calls] for card in person.cards] == [[("batch",)] * 5]
    assert all("x" in (project / f"n{number}.txt").read_text() for number in range(20))


async def test_stop_while_the_question_is_open_leaves_the_conversation_usable(
    app: Application, project: Path
) -> None:
    asked = asyncio.Event()

    async def nobody_answers(_card: ConfirmationCard) -> dict[str, CardAnswer]:
        asked.set()
        return await asyncio.get_running_loop().create_future()

    turn = asyncio.create_task(run(app, project, [rewrite("a.cir")], person=nobody_answers))
    await asked.wait()
    turn.cancel("user")
    with contextlib.suppress(asyncio.CancelledError):
        await turn
    assert turn.cancelled()
    (info,) = await app.conversations.sessions.list(project)
    after = await run(app, project, session_id=info.session_id, text="And now?")
    assert "refused_by_user" in after.told[0]
    assert (project / "a.cir").read_text() == OLD


async def test_damaged_permissions_let_nothing_happen(app: Application, project: Path) -> None:
    await asyncio.to_thread(app.conversations.permissions.protect, project, "a.cir", is_protected=True)
    file = Path(os.environ["CIRCUIT_DESIGN_AI_HOME"]) / "permissions.json"
    assert file.is_file()
    file.write_text(json.dumps({"schema_version": 1, "projects": {str(project): {"rules": [{"tool": "*"}]}}}))
    with pytest.raises(UserInputError, match=r"permissions\.json cannot be read"):
        await run(app, project, [rewrite("new.cir")], person=Person())
    assert not (project / "new.cir").exists()


async def test_deleting_is_asked_and_what_could_not_be_shown_is_not_done(
    app: Application, project: Path
) -> None:
    person = Person()
    turn = await run(
        app,
        project,
        [
            call("delete_file", {"path": "missing.cir"}),
            rewrite("made.cir"),
            call("delete_file", {"path": "made.cir"}),  # nothing is there yet when the question is asked
            call("delete_file", {"path": "b.cir"}),
            call("patch_file", {"path": "a.cir", "search": "old two", "replace": "x"}),
        ],
        [call("delete_file", {"path": "made.cir"}), call("delete_file", {"path": "a.cir"})],
        person=person,
        text="Tidy up; do not delete a.cir.",
    )
    asked = [[item.effect.paths[0].path for item in card.calls] for card in person.cards]
    assert asked == [["b.cir"], ["made.cir", "a.cir"]]
    assert "file_not_found" in turn.told[0]
    assert "needs_confirmation" in turn.told[2]
    assert not any((project / name).exists() for name in ("a.cir", "b.cir", "made.cir"))
    assert all(told.startswith("Deleted") for told in (turn.told[3], *turn.told[5:]))


async def test_own_change_between_question_and_deletion_is_covered(app: Application, project: Path) -> None:
    calls = [
        call("patch_file", {"path": "a.cir", "search": "old two", "replace": "x"}),
        call("delete_file", {"path": "a.cir"}),
    ]
    turn = await run(app, project, calls, person=Person())
    assert turn.told[1].startswith("Deleted")
    assert not (project / "a.cir").exists()


async def test_lines_nobody_understands_only_ask_again(app: Application, project: Path) -> None:
    turn = await run(app, project, [rewrite("a.cir")])
    (file,) = (project / ".circuit_ai" / "conversations").glob("*.jsonl")
    text = await asyncio.to_thread(file.read_text)
    for line in ({"card": {"card_id": 7}}, {"card": None, "state": "asked"}, {"answers": {"x": "allow"}}):
        text += json.dumps({"event": "confirmation", **line}) + "\n"
    await asyncio.to_thread(sign_lines, file, text.encode().splitlines())
    person = Person()
    await run(app, project, [rewrite("b.cir")], person=person, session_id=turn.session_id)
    assert len(person.cards) == 1
    assert (project / "b.cir").read_text() == NEW


async def test_what_a_person_calls_by_hand(app: Application, project: Path) -> None:
    run_tool = await asyncio.to_thread(
        lambda: app.conversations.run_tool
    )  # imports what the command line imports

    async def error_of(name: str, confirm: Any = None, **arguments: str) -> str:
        return (await run_tool(name, arguments, project=project, confirm=confirm)).error_type

    person = Person()
    assert await error_of("delete_file", path="../a.cir") == "outside_project"
    assert await error_of("delete_file", path="none.cir") == "file_not_found"
    assert await error_of("delete_file", path="a.cir") == "needs_confirmation"
    assert await error_of("rewrite_file", path="b.cir", content=NEW) == ""
    assert await error_of("rewrite_file", path="models.lib", content=NEW) == ""
    await asyncio.to_thread(app.conversations.permissions.protect, project, "b.cir", is_protected=True)
    patch = {"path": "b.cir", "search": "new", "replace": "newer"}
    assert await error_of("patch_file", **patch) == "needs_confirmation"
    assert await error_of("patch_file", **patch, confirm=Person("refuse")) == "refused_by_user"
    assert await error_of("read_file", path="b.cir") == ""
    assert await error_of("patch_file", **patch, confirm=person) == ""
    assert await error_of("delete_file", path="a.cir", confirm=person) == ""
    await asyncio.to_thread(
        app.conversations.permissions.add_rules, project, [Rule(decision="deny", path="*.lib")]
    )
    assert await error_of("read_file", path="models.lib", confirm=person) == "forbidden_by_rule"
    assert [card.calls[0].reasons for card in person.cards] == [("protected",), ("delete",)]
    assert not (project / "a.cir").exists()
