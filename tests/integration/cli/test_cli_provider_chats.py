"""`chat` with every kind of provider: two rounds with a tool, over each protocol, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.llm_protocols import SOURCES, ollama_answer, siliconflow_answer, strict, zhipu_answer
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call
from tests.integration.cli.conftest import Cli

CALLS = [call("read_file", {"path": "a.cir"}, id="call_7")]
TURNS: dict[str, tuple[Script, Script, list[str]]] = {
    "zhipu": (
        zhipu_answer(reasoning="Let me see", calls=CALLS),
        zhipu_answer("一阶低通。", sources=SOURCES),
        ["--thinking", "on", "--search"],
    ),
    "siliconflow": (
        siliconflow_answer(reasoning="Let me see", calls=CALLS),
        siliconflow_answer("一阶低通。"),
        ["--thinking", "low"],
    ),
    "ollama": (ollama_answer(thinking="Let me see", calls=CALLS), ollama_answer("一阶低通。"), []),
    "deepseek": (answer(reasoning="Let me see", calls=CALLS), answer("一阶低通。"), []),
    "openai": (answer(calls=CALLS), answer("一阶低通。"), ["--thinking", "high"]),
}


@pytest.mark.parametrize("provider", TURNS)
def test_two_rounds(provider: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.cir").write_text("low pass\nR1 in out 1k\nC1 out 0 1n\n.end\n", encoding="utf-8")
    first, second, options = TURNS[provider]
    with FakeLLMServer([strict(provider, first), strict(provider, second)]) as server:
        url = server.root_url if provider == "ollama" else server.base_url
        words = ["--provider", provider, "--model", "fake-model", "--base-url", url, *options, "--json"]
        result = cli("chat", str(tmp_path), "What is a.cir?", *words)
        bodies = server.requests
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0, result.stdout
    assert "".join(event["text"] for event in events if event["type"] == "token") == "一阶低通。"
    thought = "".join(event["text"] for event in events if event["type"] == "reasoning")
    assert thought == ("" if provider == "openai" else "Let me see")
    assert [event["success"] for event in events if event["type"] == "tool_end"] == [True]
    assert events[-1]["stop_reason"] == "completed"
    told = [event["sources"][0]["url"] for event in events if event["type"] == "sources"]
    assert told == (["https://example.org/opa"] if provider == "zhipu" else [])
    assert len(bodies) == 2
    shown = cli("sessions", "show", str(tmp_path), events[0]["session_id"], "--json").document
    assert shown["messages"][-1]["text"] == "一阶低通。"
    assert "R1 in out 1k" in result_of(bodies[1])


def result_of(body: Any) -> str:
    """The text of the tool's message."""
    (text,) = (message["content"] for message in body["messages"] if message["role"] == "tool")
    return str(text)


def test_a_switch_that_a_provider_does_not_have_is_refused(cli: Cli, tmp_path: Path) -> None:
    base = ["chat", str(tmp_path), "hi", "--base-url", "http://127.0.0.1:9/v1", "--provider"]
    for provider, switch in (("siliconflow", ["--search"]), ("lmstudio", ["--thinking", "on"])):
        result = cli(*base, provider, *switch)
        assert result.exit_code == 2
        assert "no web search" in result.stderr or "can't be switched" in result.stderr
