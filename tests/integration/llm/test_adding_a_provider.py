"""What the recipe of docs/providers.md says: one row makes a provider, whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from application.conversation.turn_deps import ChatRequest
from bootstrap import build
from domain.llm.chat import ProviderChoice
from infrastructure.llm_adapters.dialect import Dialect, ThinkingSwitch
from infrastructure.llm_adapters.provider_facts import PROVIDERS, Provider
from presentation.cli.entry import main
from shared.message import msg
from tests.fakes.llm_server import FakeLLMServer, answer

KILN = Provider(
    name="kiln",
    title="Kiln",
    base_url="https://kiln.example/v1",
    key_page="https://kiln.example/keys",
    models=("clay-2", "clay-mini"),
    dialect=Dialect(
        thinking=ThinkingSwitch(on={"fire": "high"}, off={"fire": "low"}), max_tokens_field="max_output"
    ),
    note=msg("Bakes answers."),
)


async def test_a_row_makes_a_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rc.cir").write_text("RC\nR1 in out 1k\nC1 out 0 1n\n.end\n")
    monkeypatch.setitem(PROVIDERS, "kiln", KILN)
    monkeypatch.setenv("CIRCUIT_AI_KILN_API_KEY", "sk-of-the-kiln")
    with FakeLLMServer([answer("Baked.")]) as server:
        monkeypatch.setenv("CIRCUIT_AI_KILN_BASE_URL", server.base_url)
        app = build()
        try:
            choice = ProviderChoice(provider="kiln", thinking="on")
            ended = await app.conversations.chat(
                ChatRequest(project=tmp_path, text="Hello.", choice=choice), emit=lambda _event: None
            )
            (row,) = (row for row in app.models.providers.list() if row.name == "kiln")
        finally:
            await app.close()
    assert ended.stop_reason == "completed"
    assert (row.title, row.has_key, row.can_think, row.can_search) == ("Kiln", True, True, False)
    (sent,) = server.requests
    assert (sent["model"], sent["fire"]) == ("clay-2", "high")
    assert server.completions[0].headers["authorization"] == "Bearer sk-of-the-kiln"


def test_the_command_line_lists_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(PROVIDERS, "kiln", KILN)
    assert main(["providers", "list", "--json"], build) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["providers"]}
    assert rows["kiln"]["models"] == ["clay-2", "clay-mini"]
    assert rows["kiln"]["key_variable"] == "CIRCUIT_AI_KILN_API_KEY"
