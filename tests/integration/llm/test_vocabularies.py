"""Exact counts where tiktoken and a vocabulary are; never a request to the network that nobody asked for."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bootstrap import build
from domain.llm.chat import ChatRequest, WireMessage
from domain.llm.tokens import Counter, request_tokens
from infrastructure.llm_adapters.vocabularies import (
    CACHE_VARIABLE,
    VOCABULARIES,
    Vocabularies,
    Vocabulary,
    vocabulary_of,
)
from infrastructure.persistence.confined import write_atomically
from infrastructure.persistence.model_settings import TokenFactorsFile
from presentation.cli.entry import main
from shared.errors import EnvironmentProblem, UserInputError
from tests.fakes.llm_server import FakeLLMServer, Script

CONTENT = b"aGVsbG8= 0\n"


def vocabularies(home: Path, given: str = "") -> Vocabularies:
    return Vocabularies(user_home=home, environment={CACHE_VARIABLE: given}, write=write_atomically)


def row(url: str) -> Vocabulary:
    return Vocabulary(url, hashlib.sha256(CONTENT).hexdigest(), re.compile("gpt-4o"))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("openai/gpt-5-mini", "o200k_base"),
        ("gpt-6-luna", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("glm-4.7", ""),
        ("qwen3:8b", ""),
        ("deepseek-v4-pro", ""),
        ("", ""),
    ],
)
def test_which_model_uses_which(model: str, name: str) -> None:
    assert vocabulary_of(model) == name


async def test_it_is_fetched_on_request_checked_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeLLMServer() as server:
        url = f"{server.root_url}/chat/completions"  # the one path of the server that takes a script
        monkeypatch.setitem(VOCABULARIES, "o200k_base", row(url))
        found = vocabularies(tmp_path)
        server.add(Script(pieces=(b"something else",)), Script(pieces=(CONTENT,)), Script(status=404))
        with pytest.raises(EnvironmentProblem, match="another file"):
            await found.fetch("o200k_base")
        assert await asyncio.to_thread(found.names) == ()
        path = await found.fetch("o200k_base")
        assert await asyncio.to_thread(path.read_bytes) == CONTENT
        assert await asyncio.to_thread(found.names) == ("o200k_base",)
        with pytest.raises(EnvironmentProblem, match="404"):
            await found.fetch("o200k_base")
        with pytest.raises(UserInputError, match="Unknown vocabulary"):
            await found.fetch("p50k_base")
    await asyncio.to_thread(path.write_bytes, CONTENT + b"x")
    assert await asyncio.to_thread(found.names) == ()
    assert await asyncio.to_thread(found.counter, "gpt-4o") is None


def test_doctor_says_what_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor"], build)
    assert "tokens: " in capsys.readouterr().out


def test_factors_of_exact_counts_are_learned_apart(tmp_path: Path) -> None:
    def by_letters(model: str) -> Counter | None:
        return len if model == "gpt-4o" else None

    request = ChatRequest(messages=(WireMessage(role="user", text="word " * 400),))
    tokens = TokenFactorsFile(user_home=tmp_path, exact=by_letters)
    assert tokens.count("openai gpt-4o", request) == request_tokens(request, len)
    assert tokens.count("zhipu glm-4.7", request) == request_tokens(request)
    asyncio.run(tokens.learn("openai gpt-4o", request, 2 * request_tokens(request, len)))
    assert tokens.count("openai gpt-4o", request) == 2 * request_tokens(request, len)
    estimated = TokenFactorsFile(user_home=tmp_path)
    assert estimated.count("openai gpt-4o", request) == request_tokens(request)


@pytest.mark.skipif(
    importlib.util.find_spec("tiktoken") is None or not os.environ.get(CACHE_VARIABLE),
    reason=f"tiktoken is not installed (make langchain), or {CACHE_VARIABLE} names no vocabularies",
)
def test_real_vocabularies_count_exactly_without_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = vocabularies(tmp_path, os.environ[CACHE_VARIABLE])
    netlist = "R1 in out 1k\nC1 out 0 100n\n.tran 1u 5m\n"
    counts = {}
    for model in ("gpt-4o", "gpt-4"):
        count = found.counter(model)
        assert count is not None
        counts[model] = (count("Hello, world!"), count("截止频率"), count(netlist))
    assert counts["gpt-4o"][0] == counts["gpt-4"][0] == 4
    assert counts["gpt-4o"][1] < counts["gpt-4"][1]
    damaged = replace(VOCABULARIES["cl100k_base"], sha256="0" * 64)
    monkeypatch.setitem(VOCABULARIES, "cl100k_base", damaged)
    assert vocabularies(tmp_path, os.environ[CACHE_VARIABLE]).counter("gpt-4") is None
