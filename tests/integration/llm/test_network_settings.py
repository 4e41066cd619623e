"""The way to servers as the settings say it: a proxy, and certificates of a company's own."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from pathlib import Path

import pytest

from domain.llm.chat import ChatRequest, ProviderError, WireMessage
from domain.llm.service import NetworkSettings
from domain.settings import UserSettings
from infrastructure.llm_adapters.connections import _trust, new_connections
from infrastructure.llm_adapters.openai_compatible import OpenAICompatibleClient
from infrastructure.llm_adapters.timing import Timeouts
from infrastructure.persistence.settings import change_settings, load_settings
from shared.errors import UserInputError
from tests.fakes.llm_server import FakeLLMServer, answer

HI = ChatRequest(messages=(WireMessage(role="user", text="hi"),))


async def ask(base_url: str, network: NetworkSettings) -> str:
    client = OpenAICompatibleClient(base_url=base_url, model="m", api_key="k-123456", network=network)
    try:
        return "".join([chunk.text async for chunk in client.stream(HI)])
    finally:
        await client.close()


async def test_the_proxy_of_the_settings_comes_before_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FakeLLMServer([answer("by the settings")]) as proxy, FakeLLMServer([answer("no")]) as other:
        monkeypatch.setenv("HTTP_PROXY", other.root_url)
        text = await ask("http://models.invalid/v1", NetworkSettings(proxy=proxy.root_url))
    assert text == "by the settings"
    assert not other.exchanges


async def test_a_server_on_this_computer_is_reached_directly() -> None:
    with FakeLLMServer([answer("proxied")]) as proxy, FakeLLMServer([answer("direct")]) as server:
        assert await ask(server.base_url, NetworkSettings(proxy=proxy.root_url)) == "direct"
    assert not proxy.exchanges


async def test_a_socks_proxy_is_spoken_to() -> None:
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            connection, _ = listener.accept()
            with connection:
                heard.append(connection.recv(16))
                connection.sendall(b"\x05\xff")  # no method suits

        thread = threading.Thread(target=greet)
        thread.start()
        place = f"socks5h://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(ProviderError) as caught:
            await ask("http://models.invalid/v1", NetworkSettings(proxy=place))
        thread.join()
    assert heard[0][:1] == b"\x05"
    assert caught.value.error_type == "unreachable"


@pytest.mark.parametrize("made", ["missing", "no certificate", "empty folder"])
async def test_certificates_that_are_none_are_said(made: str, tmp_path: Path) -> None:
    place = tmp_path / "ca.pem"
    if made == "no certificate":
        place.write_text("hello")
    elif made == "empty folder":
        place.mkdir()
    with pytest.raises(UserInputError) as caught:
        await ask("https://models.invalid/v1", NetworkSettings(certificates=place))
    assert caught.value.error_type == "bad_certificates"
    assert str(place) in str(caught.value)


async def test_no_certificate_is_read_or_trusted_for_a_plain_server(tmp_path: Path) -> None:
    with FakeLLMServer([answer("hello")]) as server:
        assert await ask(server.base_url, NetworkSettings(certificates=tmp_path / "missing.pem")) == "hello"
    async with new_connections(Timeouts(), is_local=True, is_plain=True) as http:
        trusted = http._transport._pool._ssl_context  # type: ignore[attr-defined]
    assert not trusted.get_ca_certs()
    assert (trusted.verify_mode, trusted.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_certificates_are_trusted_beside_the_usual_ones(tmp_path: Path) -> None:
    context = ssl.create_default_context()
    usual = context.get_ca_certs(binary_form=True)
    if not usual:
        pytest.skip("no certificates on this machine")
    file = tmp_path / "one.pem"
    file.write_text(ssl.DER_cert_to_PEM_cert(usual[0]))
    bare = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _trust(bare, tmp_path)
    assert bare.get_ca_certs(binary_form=True) == usual[:1]


def test_the_settings_are_kept(tmp_path: Path) -> None:
    network = NetworkSettings(proxy="socks5://proxy.test:1080", certificates=tmp_path / "ca.pem")
    change_settings(tmp_path, lambda _: UserSettings(network=network))
    assert load_settings(tmp_path).network == network
    change_settings(tmp_path, lambda _: UserSettings())
    assert load_settings(tmp_path) == UserSettings()


@pytest.mark.parametrize(
    "value",
    ["http://p", {"proxy": "ftp://p:1"}, {"proxy": 5}, {"certificates": "a.pem"}, {"proxy": "http://p:x"}],
)
def test_settings_that_are_none_are_told(value: object, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(json.dumps({"network": value}))
    settings = load_settings(tmp_path)
    assert settings.network is None, "the default is used"
    assert len(settings.warnings) == 1
