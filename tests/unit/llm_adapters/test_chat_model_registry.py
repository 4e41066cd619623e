"""The table of providers: what is listed, what is refused before anything is sent."""

from __future__ import annotations

import asyncio

import pytest

from domain.llm.chat import ProviderChoice, ProviderError
from infrastructure.llm_adapters.addresses import checked_base_url
from infrastructure.llm_adapters.registry import ModelRegistry
from shared.errors import CircuitAIError, UserInputError
from tests.ground.cases import for_each

KEY = "CIRCUIT_AI_OPENAI_COMPATIBLE_API_KEY"
URL = "CIRCUIT_AI_OPENAI_COMPATIBLE_BASE_URL"
REMOTE = "https://models.example/v1"


async def opened(base_url: str = "", provider: str = "openai-compatible", **environment: str) -> object:
    choice = ProviderChoice(provider=provider, base_url=base_url)
    async with ModelRegistry(environment=environment).open(choice) as model:
        return model


@pytest.mark.parametrize(
    ("given", "checked"),
    [
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        ("https://models.example/v1/chat/completions", "https://models.example/v1"),
        ("https://models.example/api/paas/v4/chat/completions/", "https://models.example/api/paas/v4"),
        ("HTTPS://models.example", "HTTPS://models.example"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_base_urls_are_cut_to_what_is_before_the_endpoint(given: str, checked: str) -> None:
    assert checked_base_url(given) == checked


@for_each(
    "url",
    [
        "localhost:8080/v1",
        "models.example",
        "ftp://models.example",
        "file:///etc/passwd",
        "http://",
        "http:///v1",
        "http://host:99999/v1",
        "http://host:port/v1",
        "http://ho st/v1",
        "http://host/v1\n",
        "http://[::1/v1",
        "http://user:hidden-word@host/v1",
        "http://user:hidden-word/x@host/v1",
        "http://user:x//hidden-word@host/v1",
        "http:/user:hidden-word@host/v1",
        "user:hidden-word@host",
        "https://host/v1?api-key=hidden-word",
        "https://host/v1#part",
    ],
)
def test_what_is_no_address_is_refused_with_advice(url: str) -> None:
    with pytest.raises(UserInputError) as caught:
        checked_base_url(url)
    assert caught.value.error_type == "bad_url"
    assert caught.value.advice is not None
    assert "hidden-word" not in str(caught.value)


@pytest.mark.parametrize(
    ("base_url", "provider", "environment", "error_type", "told"),
    [
        ("", "openai-compatible", {}, "no_base_url", URL),
        (REMOTE, "openai-compatible", {}, "no_key", KEY),
        (REMOTE, "openai-compatible", {KEY: "  "}, "no_key", KEY),
        ("", "openai-compatible", {URL: REMOTE}, "no_key", KEY),
        (REMOTE, "openai-compatible", {KEY: "sk-hidden 1"}, "auth", "Copy the key again"),
        (REMOTE, "openai-compatible", {KEY: "sk-hidden\n1"}, "auth", "Copy the key again"),
        (REMOTE, "openai-compatible", {KEY: "sk-hidden密"}, "auth", "Copy the key again"),
        ("nowhere", "openai-compatible", {KEY: "sk-hidden"}, "bad_url", "http://HOST:PORT/v1"),
        ("", "chatgpt", {}, "bad_input", "builtin, ollama, zhipu, siliconflow"),
        (REMOTE, "builtin", {}, "bad_input", "--provider openai-compatible"),
    ],
)
async def test_what_is_missing_is_said_before_anything_is_sent(
    base_url: str, provider: str, environment: dict[str, str], error_type: str, told: str
) -> None:
    with pytest.raises(CircuitAIError) as caught:
        await opened(base_url, provider, **environment)
    error = caught.value
    assert error.error_type == error_type
    assert isinstance(error, ProviderError) == (error_type in ("no_key", "auth"))
    assert told in f"{error} {error.advice}"
    assert "hidden" not in f"{error} {error.advice}"


async def test_models_open_where_nothing_is_missing() -> None:
    assert "openai-compatible" in repr(await opened("http://localhost:1/v1"))
    model = await opened(REMOTE, **{KEY: "sk-hidden"})
    assert "sk-hidden" not in repr(model)
    assert "builtin" in repr(await opened("", "builtin"))


async def test_builtin_answers_through_the_bridge() -> None:
    async with ModelRegistry(environment={}).open(ProviderChoice()) as model:
        assert (await model.ainvoke("hello")).content == "Hello! Which circuit would you like to work on?"
    assert await ModelRegistry(environment={}).examine(ProviderChoice()) == ("builtin",)
    assert len(asyncio.all_tasks()) == 1


@pytest.mark.parametrize(
    ("environment", "needs_key", "has_key", "base_url"),
    [
        ({}, True, False, ""),
        ({KEY: "sk"}, True, True, ""),
        ({URL: "http://127.0.0.1:8080/v1"}, False, False, "http://127.0.0.1:8080/v1"),
        ({URL: "http://localhost.:8080/v1"}, False, False, "http://localhost.:8080/v1"),
        ({URL: REMOTE}, True, False, REMOTE),
        ({URL: "https://me:word@models.example"}, True, False, "https://***@models.example"),
        ({URL: "not an address"}, True, False, "not an address"),
    ],
)
def test_the_list_shows_what_is_set_up(
    environment: dict[str, str], needs_key: bool, has_key: bool, base_url: str
) -> None:
    builtin, *_, other = ModelRegistry(environment=environment).list()
    assert other.name == "openai-compatible"
    assert (builtin.name, builtin.needs_key, builtin.models) == ("builtin", False, ("builtin",))
    assert (other.needs_key, other.has_key, other.base_url) == (needs_key, has_key, base_url)
