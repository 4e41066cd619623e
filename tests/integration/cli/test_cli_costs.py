"""What `chat` tells of costs, and its limit in money, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shared.paths import user_home
from tests.fakes.llm_responses import responses_answer
from tests.fakes.llm_server import FakeLLMServer, answer
from tests.integration.cli.conftest import Cli

PRICES = {"openai gpt-5-mini": {"input": 100, "cached": 10, "output": 1000, "currency": "CNY"}}
SPENT = 0.04024


def test_costs_are_told_and_kept(cli: Cli, tmp_path: Path) -> None:
    user_home().mkdir(parents=True, exist_ok=True)
    (user_home() / "settings.json").write_text(json.dumps({"prices": PRICES}), encoding="utf-8")
    with FakeLLMServer([responses_answer("One."), responses_answer("Two."), answer("Three.")]) as server:
        url = server.base_url
        model = ["--provider", "openai", "--model", "gpt-5-mini", "--base-url", url]
        first = cli("chat", str(tmp_path), "Go.", *model, "--json")
        events = [json.loads(line) for line in first.stdout.splitlines()]
        session = ["--session", events[0]["session_id"]]
        told = {"amounts": {"CNY": SPENT}, "unknown_answers": 0}
        assert events[-1]["cost"] == {"turn": told, "conversation": told}
        second = cli("chat", str(tmp_path), "Go.", *model, *session, "--max-cost", "0.05CNY")
        assert second.exit_code == 0, second.stderr
        assert "0.040 CNY; this conversation: 0.080 CNY" in second.stderr
        limited = cli("chat", str(tmp_path), "Go.", *model, *session, "--max-cost", "0.05cny", "--json")
        end = json.loads(limited.stdout.splitlines()[-1])
        assert (limited.exit_code, end["stop_reason"]) == (1, "limit")
        assert "0.080 CNY" in end["note"]
        assert len(server.completions) == 2
        other = ["--provider", "openai-compatible", "--model", "nobody-knows", "--base-url", url]
        unknown = cli("chat", str(tmp_path), "Go.", *other, *session)
        assert "unknown" in unknown.stderr
    shown = cli("sessions", "show", str(tmp_path), session[1], "--json").document
    assert shown["cost"] == {"amounts": {"CNY": 2 * SPENT}, "unknown_answers": 1}
    stats = cli("sessions", "show", str(tmp_path), session[1], "--stats", "--json").document
    first, _, last = stats["answers"]
    assert (first["cached_share"], first["cache_break"]) == (pytest.approx(64 / 90), "")
    assert first["saved"]["amounts"] == {"CNY": pytest.approx(64 * 90 / 1e6)}
    assert 0 <= first["first_s"] <= first["seconds"]
    assert (last["saved"]["amounts"], last["cached_share"]) == ({}, 0.0)
    assert (stats["total"]["answers"], stats["total"]["cached_tokens"]) == (3, 128)
    assert stats["last_24_hours"] == stats["total"]
    words = cli("sessions", "show", str(tmp_path), session[1], "--stats").stdout
    assert "90 tokens sent (71% from the cache)" in words
    assert "0.040 CNY; the cache saved 0.0058 CNY" in words
    services = cli("providers", "list", "--json").document["services"]
    counts = {row["provider"]: row for row in services}
    assert counts["openai"]["cost_cny"] == pytest.approx(2 * SPENT)
    assert (counts["openai"]["prompt_tokens"], counts["openai"]["unpriced"]) == (180, 0)
    assert counts["openai-compatible"]["unpriced"] == 1


@pytest.mark.parametrize("command", ["chat", "design"])
@pytest.mark.parametrize("money", ["0", "-1", "abc", "5BTC", ""])
def test_what_is_no_money_is_refused(command: str, money: str, cli: Cli, tmp_path: Path) -> None:
    result = cli(command, str(tmp_path), "Go.", "--max-cost", money)
    assert result.exit_code == 2
    assert "max-cost" in result.stderr
    assert not (tmp_path / ".circuit_ai").exists()
