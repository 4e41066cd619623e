"""A complete netlist in an answer: offered as a card, written only when somebody says so."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from domain.llm.chat import ProviderChoice
from presentation.panels.conversation import netlist_card
from presentation.panels.conversation.items import Interrupted, NetlistCard, Note
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

__all__ = ["panel"]

DECK = "RC low-pass\nVin in 0 AC 1\nR1 in out 1k\nC1 out 0 159n\n.ac dec 10 1 1meg\n.end\n"


def talk_to(panel: ConversationPanel, server: FakeLLMServer) -> None:
    choice = ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
    panel.model.set_choice(choice)


async def test_a_netlist_is_saved_and_run_only_when_that_is_wanted(
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
    with FakeLLMServer([answer(f"Like this:\n```spice\n{DECK}```\n")]) as server:
        talk_to(panel, server)
        type_and_send(panel, "Show me a low-pass.")
        await until(lambda: bool(of(panel, NetlistCard)) and not panel.is_running)
    (card,) = of(panel, NetlistCard)
    assert "RC low-pass" in shown(panel)
    assert "Save as…" in shown(panel)
    assert [name for name in names_in(project) if name not in before] == [".circuit_ai"]

    places = iter((None, project / "filter.cir", project / "rc_low-pass.cir"))
    proposed: list[Path] = []

    async def choose(*asked: object) -> Path | None:
        proposed.append(cast("Path", asked[-1]))
        return next(places)

    monkeypatch.setattr(netlist_card, "choose_target", choose)
    panel._acts("run_netlist", card.key, "")  # the person thinks better of it
    await until(lambda: proposed == [project / "rc_low-pass.cir"])
    panel._acts("run_netlist", card.key, "")  # a file that is there is not replaced
    await until(lambda: "filter.cir" in panel.notice)
    panel._acts("run_netlist", card.key, "")
    await until(lambda: bool(wanted))
    assert (project / "rc_low-pass.cir").read_text() == DECK
    assert wanted == [project / "rc_low-pass.cir", "run"]
    assert of(panel, NetlistCard)[0].path == "rc_low-pass.cir"
    # Opened again from its transcript the offer is there again.
    panel.open_session(panel.session_id)
    await until(lambda: bool(of(panel, NetlistCard)))


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
    assert "in no result" in shown(panel)
