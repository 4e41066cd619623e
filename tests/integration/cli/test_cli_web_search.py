"""The web search from the command line: set up, tried, used in a chat, and shown afterwards."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.fakes.search_server import Reply, SearchServer, found, pages
from tests.integration.cli.conftest import Cli

KEY = "canary-key-0123456789"


def test_an_engine_is_tried_kept_and_then_used(cli: Cli, tmp_path: Path) -> None:
    scripts = [answer(calls=[call("web_search", {"query": "lm358 gbw"})]), answer("1 MHz [1].")] * 2
    with SearchServer([pages()]) as engine, FakeLLMServer(scripts) as server:
        tried = cli(
            "providers", "test", "web-search", "--base-url", f"{engine.url}/search?q=x", "--save", "--json"
        )
        assert tried.document["sources"][0]["url"] == "https://example.org/1"
        assert tried.document["saved"] is True
        listed = cli("providers", "list", "--json").document["search_engines"]
        assert [row["base_url"] for row in listed if row["is_chosen"]] == [engine.url]
        base = [
            "chat",
            tmp_path,
            "How fast?",
            "--provider",
            "openai-compatible",
            "--base-url",
            server.base_url,
        ]
        said = cli(*base, "--model", "m", "--web-search", "--yes", "--json")
        assert said.exit_code == 0, said.stdout
        (told,) = [event["sources"] for event in said.events if event["type"] == "sources"]
        assert [source["reference"] for source in told] == ["[1]", "[2]"]
        (asked,) = [
            event for event in said.events if event["type"] == "confirm" and event["state"] == "asked"
        ]
        assert asked["calls"][0]["text"] == f"Send “lm358 gbw” to {engine.url}"
        shown = cli("sessions", "show", tmp_path, "last", "--json").document["messages"][-1]
        assert shown["sources"] == told
        assert "[2] LM358 page 2 - https://example.org/2" in cli("sessions", "show", tmp_path, "last").stdout
        # In words; and without a permission nothing leaves the computer.
        plain = cli(*base, "--model", "m", "--web-search")
        assert "needs your confirmation" in plain.stdout
        assert len(engine.asked) == 2


def test_what_is_wrong_is_said(cli: Cli, tmp_path: Path) -> None:
    nothing = cli("providers", "test", "web-search")
    assert nothing.exit_code == 2
    assert "CIRCUIT_AI_SEARXNG_BASE_URL" in nothing.stderr
    retired = cli("providers", "test", "web-search", "bing")
    assert "retired on 2025-08-11" in retired.stderr
    with SearchServer([Reply(status=403)]) as engine:
        refused = cli("providers", "test", "web-search", "--base-url", engine.url, "--json")
        assert refused.exit_code == 3
        assert refused.document["errors"][0]["error_type"] == "web_search_forbidden"
    chat = ["chat", tmp_path, "hi", "--provider", "zhipu"]
    for switches in (["--search", "--web-search"], ["--no-search", "--search-url", "http://127.0.0.1:9"]):
        both = cli(*chat, *switches)
        assert both.exit_code == 2
        assert "mutually exclusive" in both.stderr
    builtin = cli("chat", tmp_path, "hi", "--web-search", "--search-url", "http://127.0.0.1:9")
    assert builtin.exit_code == 2
    assert "built-in" in builtin.stderr
    assert not (tmp_path / ".circuit_ai").exists()


def test_a_key_goes_to_its_engine_and_nowhere_else(cli: Cli, tmp_path: Path) -> None:
    page = {"title": f"you sent {KEY}", "url": "https://example.org/", "description": "x"}
    with SearchServer([found({"web": {"results": [page]}}), Reply(status=401, body=KEY.encode())]) as engine:
        variables = {"CIRCUIT_AI_BRAVE_API_KEY": KEY, "CIRCUIT_AI_BRAVE_BASE_URL": engine.url}
        good = cli("providers", "test", "web-search", "brave", **variables)
        bad = cli("providers", "test", "web-search", "brave", **variables)
        assert [asked.headers["x-subscription-token"] for asked in engine.asked] == [KEY, KEY]
    assert (good.exit_code, bad.exit_code) == (0, 3)
    assert "does not accept the key" in bad.stderr
    assert KEY not in bad.stdout + bad.stderr
    assert (
        cli("providers", "key", "status", "brave", **variables).stdout.strip().endswith("in the environment.")
    )
