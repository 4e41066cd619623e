"""`providers`: what can be used and whether it answers, as scripts and people see it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.fakes.llm_server import FakeLLMServer, answer, error
from tests.integration.cli.conftest import ROOT, Cli

KEY = "CIRCUIT_AI_OPENAI_COMPATIBLE_API_KEY"
URL = "CIRCUIT_AI_OPENAI_COMPATIBLE_BASE_URL"


def test_list_for_scripts(cli: Cli) -> None:
    result = cli("providers", "list", "--json", **{KEY: "sk-hidden", URL: "https://models.example/v1"})
    assert result.exit_code == 0
    assert "sk-hidden" not in result.stdout
    builtin, *_, other = result.document["providers"]
    assert result.document["ok"] is True
    assert builtin | {"note": ""} == {
        "name": "builtin",
        "title": "Built-in",
        "needs_key": False,
        "has_key": False,
        "key_variable": "",
        "key_page": "",
        "base_url": "",
        "url_variable": "",
        "is_local": False,
        "can_think": False,
        "can_search": False,
        "models_page": "",
        "models": ["builtin"],
        "note": "",
    }
    assert (other["needs_key"], other["has_key"], other["base_url"]) == (
        True,
        True,
        "https://models.example/v1",
    )
    assert KEY in other["note"]
    named = {row["name"]: row for row in result.document["providers"]}
    assert named["zhipu"]["key_variable"] == "CIRCUIT_AI_ZHIPU_API_KEY"
    assert named["ollama"]["base_url"] == "http://127.0.0.1:11434"
    assert (named["ollama"]["needs_key"], named["ollama"]["is_local"]) == (False, True)
    assert all(row["note"] for row in named.values())
    assert all(row["key_page"] for row in named.values() if row["needs_key"] and row != other)


def test_list_for_people_in_both_languages(cli: Cli) -> None:
    english = cli("providers", "list")
    assert english.exit_code == 0
    assert "builtin (Built-in)\n    Key: not needed." in english.stdout
    assert "Key: missing." in english.stdout
    chinese = cli("providers", "list", LANG="zh_CN.UTF-8", LC_ALL="zh_CN.UTF-8")
    assert "密钥：不需要。" in chinese.stdout


def test_test_of_the_builtin_one(cli: Cli) -> None:
    assert cli("providers", "test").exit_code == 0
    document = cli("providers", "test", "builtin", "--json").document
    assert document | {"message": ""} == {
        "ok": True,
        "provider": "builtin",
        "models": ["builtin"],
        "message": "",
    }


def test_test_of_a_server(cli: Cli) -> None:
    with FakeLLMServer([]) as server:
        result = cli("providers", "test", "openai-compatible", "--base-url", server.base_url, "--json")
        assert result.exit_code == 0, result.stdout
        [model] = result.document["models"]
        shown = cli("providers", "test", "openai-compatible", "--model", model, **{URL: server.base_url})
        assert (shown.exit_code, model in shown.stdout) == (0, True)
        wrong = cli(
            "providers", "test", "openai-compatible", "--json", "--model", "no-such", **{URL: server.base_url}
        )
    [problem] = wrong.document["errors"]
    assert (wrong.exit_code, problem["error_type"]) == (3, "unknown_model")
    assert model in problem["advice"]


@pytest.mark.parametrize(
    ("argv", "exit_code", "error_type"),
    [
        (["openai-compatible"], 2, "no_base_url"),
        (["openai-compatible", "--base-url", "localhost:1"], 2, "bad_url"),
        (["openai-compatible", "--base-url", "https://models.example/v1"], 3, "no_key"),
        (["openai-compatible", "--base-url", "http://127.0.0.1:9/v1"], 3, "unreachable"),
        (["skynet"], 2, "bad_input"),
        (["builtin", "--save"], 2, "bad_usage"),
    ],
)
def test_failures_say_what_to_do(cli: Cli, argv: list[str], exit_code: int, error_type: str) -> None:
    result = cli("providers", "test", *argv, "--json")
    [problem] = result.document["errors"]
    assert (result.exit_code, problem["error_type"], result.document["ok"]) == (exit_code, error_type, False)
    assert problem["advice"]


def test_a_server_without_a_listing_has_to_answer_a_word(cli: Cli) -> None:
    argv = ["providers", "test", "openai-compatible", "--json"]
    with FakeLLMServer([answer("ok")], models_script=error(404, "no such page")) as server:
        refused = cli(*argv, "--base-url", server.base_url)
        assert refused.exit_code == 3
        assert not server.requests
        accepted = cli(*argv, "--base-url", server.base_url, "--model", "m7")
        assert (accepted.exit_code, accepted.document["models"]) == (0, ["m7"])
        assert [request["model"] for request in server.requests] == ["m7"]


def test_list_imports_nothing_slow() -> None:
    """Neither LangChain nor what it stands on: the listing is for scripts and shells."""
    code = (
        "import sys, main\n"
        "from bootstrap import build\n"
        "from presentation.cli import entry\n"
        "assert entry.main(['providers', 'list'], build) == 0\n"
        "slow = {'langchain_core', 'langgraph', 'pydantic', 'numpy', 'httpx'} & set(sys.modules)\n"
        "assert not slow, slow\n"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stderr
