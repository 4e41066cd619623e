"""The providers a user can choose from: what each needs, and how its model is opened.

Facts about a provider are a row of data. Keys and addresses come from the environment
(``CIRCUIT_AI_<PROVIDER>_API_KEY``, ``CIRCUIT_AI_<PROVIDER>_BASE_URL``); a key never enters an error, a
listing or a model object. Listing imports neither LangChain nor httpx.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import SplitResult, urlsplit

from domain.llm.chat import ChatRequest, ProviderChoice, ProviderError, ProviderInfo, WireMessage
from infrastructure.llm_adapters.addresses import is_loopback
from shared.errors import UserInputError
from shared.message import Message, msg

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from application.ports.conversation import ChatClient

BUILTIN = "builtin"
OPENAI_COMPATIBLE = "openai-compatible"

Speaker = Callable[[Literal["en", "zh"]], Callable[[Message], str]]
"""Gives the function that puts texts into a language."""

_ENDPOINT = "/chat/completions"
_NO_LISTING = frozenset({404, 405, 501})
"""HTTP statuses of servers that cannot list their models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provider:
    """One row: what is known of a provider without talking to it."""

    name: str
    title: str
    uses_network: bool
    base_url: str = ""
    """Its own address; "" when the user has to give one."""
    models: tuple[str, ...] = ()
    """Known without asking."""

    @property
    def key_variable(self) -> str:
        return f"CIRCUIT_AI_{self.name.upper().replace('-', '_')}_API_KEY"

    @property
    def url_variable(self) -> str:
        return f"CIRCUIT_AI_{self.name.upper().replace('-', '_')}_BASE_URL"

    @property
    def note(self) -> Message:
        if not self.uses_network:
            return msg(
                "Works without network and key: it simulates, changes, searches and measures on command, and "
                "designs the circuits it has equations for. It is not a language model."
            )
        return msg(
            "Any server that speaks OpenAI's chat completions. Its address: --base-url or {url_variable}; "
            "its key: {key_variable} (a server on this computer needs none).",
            url_variable=self.url_variable,
            key_variable=self.key_variable,
        )


_PROVIDERS = {
    row.name: row
    for row in (
        _Provider(name=BUILTIN, title="Built-in", uses_network=False, models=(BUILTIN,)),
        _Provider(name=OPENAI_COMPATIBLE, title="OpenAI-compatible server", uses_network=True),
    )
}


class ModelRegistry:
    """Implements application.ports.conversation.ChatModels over the table of providers.

    `speaker` puts what the built-in model says into the language of its user (without it: English).
    """

    def __init__(self, *, environment: Mapping[str, str], speaker: Speaker | None = None) -> None:
        self._environment = environment
        self._speaker: Speaker = speaker or (lambda _language: str)

    @asynccontextmanager
    async def open(self, choice: ProviderChoice) -> AsyncIterator[BaseChatModel]:
        """A model, closed when the context ends.

        Raises UserInputError (unknown provider, missing or unreadable address), ProviderError ("no_key",
        "auth" for a key no server can take).
        """
        async with self._client(choice) as client:
            await asyncio.to_thread(_import_bridge)
            from infrastructure.llm_adapters.chat_model import ClientChatModel

            yield ClientChatModel(client=client, provider=choice.provider, model=choice.model)

    def list(self) -> tuple[ProviderInfo, ...]:
        """Every provider, with what is set up in the environment; talks to nobody."""
        return tuple(self._info(provider) for provider in _PROVIDERS.values())

    async def examine(self, choice: ProviderChoice) -> tuple[str, ...]:
        """Ask the provider for its models; one that lists none has to answer a one-word request.

        Raises what `open` raises, and ProviderError when it does not answer, refuses, or does not list
        the chosen model.
        """
        async with self._client(choice) as client:
            try:
                models = await client.models()
            except ProviderError as error:
                if error.status not in _NO_LISTING or not choice.model:
                    raise
                await _ask_for_a_word(client)
                return (choice.model,)
        if choice.model and models and choice.model not in models:
            raise ProviderError(
                msg(
                    "{provider} does not offer the model {model}.",
                    provider=choice.provider,
                    model=choice.model,
                ),
                kind="unknown_model",
                advice=msg("It offers: {names}.", names=", ".join(models[:20])),
            )
        return models

    @asynccontextmanager
    async def _client(self, choice: ProviderChoice) -> AsyncIterator[ChatClient]:
        client = await self._new_client(choice)
        try:
            yield client
        finally:
            await client.close()

    async def _new_client(self, choice: ProviderChoice) -> ChatClient:
        provider = _provider(choice.provider)
        if not provider.uses_network:
            _refuse_settings(provider, choice)
            await asyncio.to_thread(_import_builtin)
            from infrastructure.llm_adapters.builtin_chat import BuiltinChatClient

            return BuiltinChatClient(speaker=self._speaker)
        base_url = self._base_url(provider, choice)
        key = self._key(provider, base_url)
        await asyncio.to_thread(_import_wire)
        from infrastructure.llm_adapters.openai_compatible import OpenAICompatibleClient

        return OpenAICompatibleClient(base_url=base_url, model=choice.model, api_key=key)

    def _base_url(self, provider: _Provider, choice: ProviderChoice) -> str:
        named = choice.base_url.strip() or self._environment.get(provider.url_variable, "").strip()
        if not named and not provider.base_url:
            raise UserInputError(
                msg("The provider {name} needs the address of a server.", name=provider.name),
                advice=msg(
                    "Give --base-url http://HOST:PORT/v1 or set {variable}.", variable=provider.url_variable
                ),
                error_type="no_base_url",
            )
        return checked_base_url(named or provider.base_url)

    def _key(self, provider: _Provider, base_url: str) -> str:
        key = self._environment.get(provider.key_variable, "").strip()
        if not key and not is_loopback(base_url):
            raise ProviderError(
                msg("There is no key for {name} at {url}.", name=provider.name, url=base_url),
                kind="no_key",
                advice=msg(
                    "Set the environment variable {variable} to the key of that server.",
                    variable=provider.key_variable,
                ),
            )
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ProviderError(
                msg(
                    "The key in {variable} holds characters that no key has.", variable=provider.key_variable
                ),
                kind="auth",
                advice=msg("Copy the key again, without spaces, line breaks or quotes around it."),
            )
        return key

    def _info(self, provider: _Provider) -> ProviderInfo:
        base_url = self._environment.get(provider.url_variable, "").strip() or provider.base_url
        needs_key = provider.uses_network
        if base_url:
            try:
                base_url = checked_base_url(base_url)
                needs_key = not is_loopback(base_url)
            except UserInputError:
                base_url = _without_password(base_url)  # reported when it is used; shown as it is
        return ProviderInfo(
            name=provider.name,
            title=provider.title,
            needs_key=needs_key,
            has_key=bool(self._environment.get(provider.key_variable, "").strip()),
            base_url=base_url,
            models=provider.models,
            note=provider.note,
        )


def checked_base_url(url: str) -> str:
    """A server's address without a slash or ``/chat/completions`` at its end.

    Raises UserInputError ("bad_url") for what is no http(s) address of a host, or holds a password or a
    query.
    """
    parts = _split(url)
    if parts is None or parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise _bad_url(
            msg("{url} is not an address of a server.", url=_without_password(url)),
            msg("Write it as http://HOST:PORT/v1 or https://HOST/v1."),
        )
    if parts.username is not None or parts.password is not None:
        raise _bad_url(
            msg("The address of the server holds a user name or password."),
            msg("Take it out of the address; the key belongs into the environment variable."),
        )
    if parts.query or parts.fragment:
        raise _bad_url(
            msg("{url} has a part behind “?” or “#”, which a base address cannot have.", url=url),
            msg("Give the address only up to, not including, /chat/completions."),
        )
    return url.rstrip("/").removesuffix(_ENDPOINT).rstrip("/")


def _split(url: str) -> SplitResult | None:
    """The parts of an address; None for one with a port that is none, or with blanks in it."""
    if not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        return parts if parts.port is None or parts.port > 0 else None
    except ValueError:
        return None


def _bad_url(message: Message, advice: Message) -> UserInputError:
    return UserInputError(message, advice=advice, error_type="bad_url")


def _without_password(url: str) -> str:
    scheme, slashes, rest = url.rpartition("//")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{slashes}{authority.rpartition('@')[2]}{slash}{path}"


def _provider(name: str) -> _Provider:
    try:
        return _PROVIDERS[name]
    except KeyError:
        raise UserInputError(
            msg("The provider {name} is not known.", name=name),
            advice=msg("Known providers: {names}.", names=", ".join(_PROVIDERS)),
        ) from None


def _refuse_settings(provider: _Provider, choice: ProviderChoice) -> None:
    if choice.base_url or choice.model not in ("", *provider.models):
        raise UserInputError(
            msg("The provider {name} takes neither --model nor --base-url.", name=provider.name),
            advice=msg("For a model on a server add: --provider {name}", name=OPENAI_COMPATIBLE),
        )


async def _ask_for_a_word(client: ChatClient) -> None:
    request = ChatRequest(messages=(WireMessage(role="user", text="Say: ok"),), max_tokens=16)
    async for _ in client.stream(request):
        pass


def _import_bridge() -> None:
    """LangChain: a third of a second of file reading, not for the loop's thread."""
    import infrastructure.llm_adapters.chat_model  # noqa: F401 - loaded for those who use it


def _import_builtin() -> None:
    import infrastructure.llm_adapters.builtin_chat  # noqa: F401 - loaded for those who use it


def _import_wire() -> None:
    import infrastructure.llm_adapters.openai_compatible  # noqa: F401 - loaded for those who use it
