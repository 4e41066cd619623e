"""No record of a project says where a key goes; a key that is kept goes only where it was saved for."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import keyring
import pytest
from keyring.backends import fail

from application.tool_execution.executor import ToolExecutor
from application.tool_execution.registry import TOOLS
from domain.llm.chat import ProviderChoice
from domain.llm.consent import ConsentQuestion
from domain.llm.json_repair import Problem, read_json
from domain.llm.tools.result import ToolCall
from domain.llm.turn_failure import failure_from_plain
from infrastructure.llm_adapters.registry import ModelRegistry
from infrastructure.persistence import key_file
from infrastructure.persistence.credentials import Credentials
from shared.errors import EnvironmentProblem, UserInputError
from shared.message import msg

KEY = "sk-strangers-test-0123456789"


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Credentials:
    """Keys in the encrypted file alone: the machine's keyring is not asked."""
    monkeypatch.setattr(key_file, "_N", 2**10)
    monkeypatch.setattr(keyring, "get_keyring", fail.Keyring)
    return credentials(tmp_path)


def credentials(home: Path) -> Credentials:
    return Credentials(user_home=home, environment={"CIRCUIT_AI_KEYS_PASSPHRASE": "a long passphrase"})


def test_a_stored_offer_names_no_address():
    plain = {
        "error_type": "network",
        "message": {"template": str(msg("Stopped.").template), "params": {}},
        "offers": [{"provider": "openai", "model": "gpt", "base_url": "https://evil.example/v1"}],
    }
    failure = failure_from_plain(plain)
    assert failure is not None
    assert failure.offers == (ProviderChoice(provider="openai", model="gpt"),)


@pytest.mark.parametrize(
    "server",
    [
        "https://evil.example/v1",
        "http://127.0.0.1:9/v1",
        "http://api.openai.com/v1",
        "https://api.openai.com:444/v1",
        "https://api.openai.com.evil.example/v1",
        "https://api.openai.com@evil.example/v1",
        "https://api.openаi.com/v1",
    ],
)
def test_a_kept_key_is_not_sent_elsewhere(keys, tmp_path, server):
    keys.set("openai", KEY, place="file", server="https://api.openai.com/v1")
    for holder in (keys, credentials(tmp_path)):
        with pytest.raises(EnvironmentProblem) as caught:
            holder.find("openai", "OPENAI_API_KEY", server=server, usual=(server,))
        assert caught.value.error_type == "key_for_other_server"
        assert KEY not in str(caught.value)
        assert holder.find("openai", "OPENAI_API_KEY", server="https://API.openai.com:443/v2") == KEY


def test_a_key_from_before_goes_to_the_users_own_addresses_only(keys):
    keys.set("openai", KEY, place="file")
    usual = ("https://api.openai.com/v1", "", "http://127.0.0.1:8000/v1")
    assert keys.find("openai", "", server="http://127.0.0.1:8000/v1", usual=usual) == KEY
    with pytest.raises(EnvironmentProblem, match=r"evil\.example"):
        keys.find("openai", "", server="https://evil.example", usual=usual)


async def test_the_registry_refuses_before_anything_is_sent(keys):
    await asyncio.to_thread(keys.set, "openai", KEY, place="file", server="https://api.openai.com/v1")
    registry = ModelRegistry(environment={}, keys=lambda: keys)
    choice = ProviderChoice(provider="openai", model="gpt", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(EnvironmentProblem) as caught:
        await registry.examine(choice)
    assert caught.value.error_type == "key_for_other_server"


def test_a_host_is_shown_as_it_is_asked_for():
    registry = ModelRegistry(environment={})
    twin = ProviderChoice(provider="openai", model="m", base_url="https://api.openаi.com/v1")
    destination = registry.destination(twin)
    assert destination.startswith("https://api.xn--")
    assert ConsentQuestion(provider="OpenAI", destination=destination).host.startswith("api.xn--")
    with pytest.raises(UserInputError):
        registry.destination(
            ProviderChoice(provider="openai", model="m", base_url="https://api.openai.com@evil.example/v1")
        )


def test_a_damaged_list_of_keys_is_set_aside_and_no_key_lost(keys, tmp_path, caplog):
    keys.set("openai", KEY, place="file", server="https://api.openai.com/v1")
    (tmp_path / "key_places.json").write_bytes(bytes(200))
    again = credentials(tmp_path)
    assert (
        again.find("openai", "", server="https://api.openai.com/v1", usual=("https://api.openai.com",)) == KEY
    )
    assert "key_places.json" in caplog.text
    assert "damaged" in caplog.text
    (aside,) = tmp_path.glob("key_places.json.*.damaged")
    assert aside.read_bytes() == bytes(200)


def test_arguments_nested_deeply_are_a_models_mistake_and_no_end():
    deep = '{"path": ' + "[" * 900 + "]" * 900 + "}"
    assert isinstance(read_json(deep), Problem)
    assert json.loads(deep)


def test_a_call_with_such_arguments_gets_an_answer():
    value: object = 1
    for _ in range(900):
        value = [value]
    call = ToolCall(name="read_file", arguments={"path": value}, call_id="1")
    rejection = ToolExecutor(TOOLS).rejection(call)
    assert rejection is not None
    assert rejection.error_type == "bad_arguments"
    assert "nested" in rejection.content
