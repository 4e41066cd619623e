"""Netlists in an answer: copied, kept as a file or run, and written only when somebody says so."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest
from PyQt6.QtGui import QGuiApplication

from domain.llm.chat import ProviderChoice
from presentation.panels.conversation import code_blocks
from presentation.panels.conversation.items import AnswerText, Interrupted, Note, OperationCard
from presentation.panels.conversation.plain_view import PlainConversation
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import (
    ConversationPanel,
    WindowServices,
    names_in,
    of,
    panel,
    shown,
    type_and_send,
)
from tests.gui.test_plain_view import follow, links

__all__ = ["panel"]

DECK = "RC low-pass\nVin in 0 AC 1\nR1 in out 1k\nC1 out 0 159n\n.ac dec 10 1 1meg\n.end\n"


def talk_to(panel: ConversationPanel, server: FakeLLMServer) -> None:
    choice = ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
    panel.model.set_choice(choice)


async def test_a_netlist_is_inserted_and_run_only_when_that_is_wanted(
    panel: ConversationPanel,
    services: WindowServices,
    project: Path,
    until: Until,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = names_in(project)
    wanted: list[object] = []
    services.workspace.circuit_run_requested.connect(lambda _path: wanted.append("run"))
    services.workspace.main_circuit_chosen.connect(wanted.append)
    said = f"Like this:\n```spice\n{DECK}```\nwith\n```\nR9 a b 1k\nC9 b 0 1n\n```\n```python\nx = 1\n```"
    with FakeLLMServer([answer(said)]) as server:
        talk_to(panel, server)
        type_and_send(panel, "Show me a low-pass.")
        await until(lambda: bool(of(panel, AnswerText)) and not panel.is_running)
    (said_in,) = of(panel, AnswerText)
    key = said_in.key
    view = panel.view
    assert isinstance(view, PlainConversation)
    ways = {path for path in links(view) if "_code/" in path}
    assert ways == {f"{act}_code/{key}/{n}" for n in range(2) for act in ("insert", "run", "copy")} | {
        f"copy_code/{key}/2"
    }
    follow(view, f"copy_code/{key}/0")
    clipboard = QGuiApplication.clipboard()
    assert clipboard is not None
    assert clipboard.text() == DECK
    follow(view, f"run_code/{key}/1")  # what is missing is said before a name is asked for
    await until(lambda: "no analysis" in panel.notice)
    assert [name for name in names_in(project) if name not in before] == [".circuit_ai"]

    places = iter((None, project / "filter.cir", project.parent / "x.cir", project / "rc_low-pass.cir"))
    proposed: list[Path] = []

    async def choose(*asked: object, is_export: bool = True) -> Path | None:
        assert not is_export  # where a netlist is inserted is no place for exports
        proposed.append(cast("Path", asked[-1]))
        return next(places)

    monkeypatch.setattr(code_blocks, "choose_target", choose)
    follow(view, f"run_code/{key}/0")  # the person thinks better of it
    await until(lambda: proposed == [project / "rc_low-pass.cir"])
    follow(view, f"run_code/{key}/0")  # a file that is there is not replaced
    await until(lambda: "filter.cir" in panel.notice)
    follow(view, f"run_code/{key}/0")  # what is written can be undone: in this project only
    await until(lambda: "choose a place in" in panel.notice)
    follow(view, f"run_code/{key}/0")
    await until(lambda: bool(wanted))
    made = project / "rc_low-pass.cir"
    assert made.read_text() == DECK
    assert wanted == [made, "run"]
    follow(view, f"run_code/{key}/0")  # it is a file by now: no name is asked for
    await until(lambda: wanted == [made, "run", made, "run"])
    assert names_in(project).count("rc_low-pass-2.cir") == 0
    assert "Created" in shown(panel)
    # Opened again from its transcript the file's row stands behind the answer, and leads back.
    panel.open_session(panel.session_id)
    await until(lambda: [type(row) for row in panel.model.items][-2:] == [AnswerText, OperationCard])
    card = of(panel, OperationCard)[-1]
    assert card.is_new_file
    follow(view, f"undo/{card.key}/")
    await until(lambda: not made.exists())


async def test_a_limit_is_named_and_gone_on_from_and_the_line_tells_round_and_tokens(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    looks = [answer("", calls=[call("list_project_files", {})]) for _ in range(5)]
    with FakeLLMServer([*looks, answer("Waiting", stall=True)]) as server:
        talk_to(panel, server)
        type_and_send(panel, "Look around.")
        await until(lambda: bool(of(panel, Interrupted)) and not panel.is_running)
        (mark,) = of(panel, Interrupted)
        assert mark.reason == "loop"
        assert "same step was made 5 times" in shown(panel)
        panel._acts("go_on", mark.key, "")
        await until(lambda: "round 1/15" in panel.status_line.text and "Answering" in panel.status_line.text)
        assert panel.stop()
        await until(lambda: not panel.is_running)


async def test_a_doubtful_answer_has_a_note_and_the_tokens_are_told_meanwhile(
    panel: ConversationPanel, project: Path, until: Until
) -> None:
    claim = answer("I have changed R1 to 2k.")
    slow = answer("I have changed R1 to 2k.", stall=True)
    with FakeLLMServer([claim, slow]) as server:
        talk_to(panel, server)
        type_and_send(panel, "Set R1 to 2k.")
        await until(lambda: "round 2/15" in panel.status_line.text)
        assert panel.status_line.pace.startswith("97 tokens")
        panel.stop()
        await until(lambda: not panel.is_running)
    with FakeLLMServer([claim, claim]) as server:
        talk_to(panel, server)
        type_and_send(panel, "Set R1 to 2k.")
        await until(lambda: bool(of(panel, Note)) and not panel.is_running)
    (note,) = of(panel, Note)
    assert "in no result" in shown(panel)
    # Opened again it stands where it stood, and it is in an export.
    session = panel.session_id
    panel.close_tab()
    panel.open_session(session)
    await until(lambda: panel.session_id == session and bool(of(panel, Note)))
    assert [type(row) for row in panel.model.items][-2:] == [AnswerText, Note]
    again = of(panel, Note)[-1]
    assert (again.text, again.is_doubt, note.is_doubt) == (note.text, True, True)
    exported = project / "said.md"
    await panel.tabs.shelf.export(project, session, "md", exported, language="en")
    assert "in no result" in await asyncio.to_thread(exported.read_text)
