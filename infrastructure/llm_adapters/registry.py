"""The providers a user can choose from: what each needs, and how its model is opened.

Facts about a provider are a row of data. Keys come from the key store, addresses from the choice, the
environment (``CIRCUIT_AI_<PROVIDER>_BASE_URL``) or the model settings, all read anew at each opening; a key
never enters an error, a listing or a model object. Listing imports neither LangChain nor httpx.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from domain.llm.chat import (
    ChatRequest,
    ModelAbilities,
    ProviderChoice,
    ProviderError,
    ProviderInfo,
    WireMessage,
)
from domain.llm.costs import FREE, Price, PriceList
from domain.llm.provider_settings import ProviderSettings, settled_search
from infrastructure.llm_adapters.addresses import checked_base_url, is_loopback, without_password
from infrastructure.llm_adapters.provider_facts import (
    ALIASES,
    PROVIDERS,
    Provider,
    advice_on_key,
    known_provider,
    refuse_settings,
    refuse_switches,
)
from shared.errors import UserInputError
from shared.message import Message, msg
from shared.origin import origin_of

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from application.ports.conversation import ChatClient
    from application.ports.credentials import KeyStore
    from application.ports.model_settings import ModelSettingsStore
    from domain.llm.local_server import LocalServerStatus
    from domain.llm.service import NetworkSettings, ServiceReport
    from infrastructure.llm_adapters.service_manager import ServiceManager
    from infrastructure.llm_adapters.timing import Timeouts
    from infrastructure.persistence.model_settings import ServiceCountsFile, TokenFactorsFile

Abilities = Callable[[str, str], ModelAbilities]
"""(provider, model) -> what the model can do."""

Prices = Callable[[str, str, bool], Price | None]
"""(provider, model, it is asked at the provider's own address) -> what it costs, None = not known."""

Speaker = Callable[[Literal["en", "zh"]], Callable[[Message], str]]
"""Gives the function that puts texts into a language."""

_NO_LISTING = frozenset({404, 405, 501})
"""HTTP statuses of servers that cannot list their models."""


class ModelRegistry:
    """Implements application.ports.conversation.ChatModels over the table of providers.

    `speaker` puts what the built-in model says into the language of its user (without it: English);
    `abilities` knows what models can do (without it: what the rows of the providers tell), `prices` what
    they cost; `keys` holds
    keys (without it: the environment alone), `settings` what the user set for providers. What only servers
    need is handed in as a function: the built-in model makes none of it.
    """

    def __init__(
        self,
        *,
        environment: Mapping[str, str],
        speaker: Speaker | None = None,
        abilities: Abilities | None = None,
        prices: Prices | None = None,
        keys: Callable[[], KeyStore] | None = None,
        settings: Callable[[], ModelSettingsStore] | None = None,
        services: ServiceManager | None = None,
        tokens: Callable[[], TokenFactorsFile] | None = None,
        counts: Callable[[], ServiceCountsFile] | None = None,
        network: Callable[[], NetworkSettings | None] = lambda: None,
    ) -> None:
        self._environment = environment
        self._keys = keys
        self._settings = settings
        self._abilities = abilities or (lambda _provider, _model: ModelAbilities())
        self._prices = prices or (lambda _provider, _model, _is_own: None)
        self._speaker: Speaker = speaker or (lambda _language: str)
        self._services = services
        self._tokens = tokens
        self._counts = counts
        self._network = network

    @asynccontextmanager
    async def open(self, choice: ProviderChoice) -> AsyncIterator[BaseChatModel]:
        """A model, closed when the context ends.

        Raises UserInputError (unknown provider, missing or unreadable address), ProviderError ("no_key",
        "auth" for a key no server can take).
        """
        choice = await asyncio.to_thread(self._completed, choice)
        async with self._client(choice) as client:
            await asyncio.to_thread(_import_bridge)
            from infrastructure.llm_adapters.chat_model import ClientChatModel

            yield ClientChatModel(
                client=client,
                provider=choice.provider,
                model=choice.model,
                thinking=choice.thinking,
                search=bool(choice.search),
            )

    def list(self) -> tuple[ProviderInfo, ...]:
        """Every provider, with what is set up; talks to nobody, not to a keyring either."""
        return tuple(self._info(provider) for provider in PROVIDERS.values())

    def services(self) -> tuple[ServiceReport, ...]:
        """How the services that were asked since the program started do."""
        return () if self._services is None else self._services.report()

    def service_counts(self) -> Mapping[str, Mapping[str, float]]:
        """The counts of all runs, by ``"provider server"``. Blocking."""
        return {} if self._counts is None else self._counts().load()

    async def examine(self, choice: ProviderChoice) -> tuple[str, ...]:
        """Ask the provider for its models; one that lists none has to answer a one-word request.

        Raises what `open` raises, and ProviderError when it does not answer, refuses, or does not list
        the chosen model.
        """
        choice = await asyncio.to_thread(self._completed, choice)
        async with self._client(choice) as client:
            try:
                models = await client.models()
            except ProviderError as error:
                model = choice.model or known_provider(choice.provider).default_model
                if error.status not in _NO_LISTING or not model:
                    raise
                await _ask_for_a_word(client)
                return (model,)
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
    async def connect(
        self, choice: ProviderChoice, *, key: str = "", settings: ProviderSettings | None = None
    ) -> AsyncIterator[ChatClient]:
        """The provider's bare client, to try it: asked once, no retry. `key` and `settings` replace what is
        kept.

        Raises as `open` does.
        """
        choice = await asyncio.to_thread(self._completed, choice)
        client = await self._new_client(choice, key=key, settings=settings, is_tried_again=False)
        try:
            yield client
        finally:
            await client.close()

    async def local_server(self, choice: ProviderChoice) -> LocalServerStatus | None:
        provider = known_provider(choice.provider)
        if provider.protocol != "ollama":
            return None
        completed = await asyncio.to_thread(self._completed, choice)
        base_url = self._base_url(provider, completed)
        key = await asyncio.to_thread(self._key, provider, base_url)
        await asyncio.to_thread(_import_wire)
        from infrastructure.llm_adapters.ollama_service import OllamaService

        return await OllamaService(base_url, api_key=key).status()

    async def abilities(self, choice: ProviderChoice) -> ModelAbilities:
        """What the chosen model can do, as far as it is known; an Ollama server is asked, for a few seconds.

        Raises UserInputError for an unknown provider or an address that can't be read.
        """
        provider = known_provider(choice.provider)
        if not provider.uses_network:
            return ModelAbilities(tools="yes", vision=False, thinking=False)
        choice = await asyncio.to_thread(self._completed, choice)
        model = choice.model.strip() or provider.default_model
        known = await asyncio.to_thread(self._abilities_of, provider, model)
        if provider.dialect.vision_model and not known.vision:
            known = replace(known, vision=True)
        if provider.protocol != "ollama" or not model:
            return known
        base_url = self._base_url(provider, choice)
        key = await asyncio.to_thread(self._key, provider, base_url)
        await asyncio.to_thread(_import_wire)
        from infrastructure.llm_adapters.ollama_service import OllamaService

        return await OllamaService(base_url, api_key=key).abilities(model, known)

    def prices(self, choice: ProviderChoice) -> PriceList:
        """What the provider's models cost at the address of this choice: a model's name -> its price.

        "" stands for the chosen model. Blocking. Raises UserInputError as `open` does.
        """
        provider = known_provider(choice.provider)
        if not provider.uses_network:
            return lambda _model: FREE
        choice = self._completed(choice)
        chosen = choice.model.strip() or provider.default_model
        base_url = self._base_url(provider, choice)
        is_own = bool(provider.base_url) and base_url == checked_base_url(provider.base_url)
        # A gateway on this computer may well pass requests on to a service that costs.
        is_here = provider.is_local and is_loopback(base_url)

        def price(model: str) -> Price | None:
            names = [name for name in (chosen, model) if name]
            if is_here and not any(name.lower().endswith("cloud") for name in names):
                return FREE
            found = (self._prices(provider.name, name, is_own) for name in names)
            return next((one for one in found if one is not None), None)

        price("")  # what it reads from the disk is read here; later calls come from the loop
        return price

    def destination(self, choice: ProviderChoice, settings: ProviderSettings | None = None) -> str:
        """Scheme, host and port that a conversation goes to; "" when it stays on this computer. Blocking.

        A LangChain class without an address alone knows where it sends: its name stands for the place.

        Raises UserInputError as `open` does.
        """
        provider = known_provider(choice.provider)
        if not provider.uses_network:
            return ""
        base_url = self._base_url(provider, self._completed(choice), settings)
        if provider.protocol == "langchain" and not base_url:
            return (settings or self._kept(provider.name)).model_class or provider.name
        if is_loopback(base_url):
            return ""
        return origin_of(base_url)

    def _kept(self, name: str) -> ProviderSettings:
        """What the user set for a provider. Blocking."""
        return ProviderSettings() if self._settings is None else self._settings().load().of(name)

    def _completed(self, choice: ProviderChoice) -> ProviderChoice:
        """The choice with what the user set for its provider, where it says nothing itself."""
        if not known_provider(choice.provider).uses_network:
            return choice
        name = ALIASES.get(choice.provider.strip().lower(), choice.provider)
        kept = self._kept(name)
        own_url = self._environment.get(PROVIDERS[name].url_variable, "").strip() if name in PROVIDERS else ""
        if (choice.base_url or own_url) not in ("", kept.base_url):
            return choice  # another server than the one that was set up
        return replace(
            choice,
            base_url=choice.base_url or kept.base_url,
            model=choice.model.strip() or kept.model,
            thinking=choice.thinking if choice.thinking is not None else kept.thinking,
            search=settled_search(choice, kept)[0],
        )

    @asynccontextmanager
    async def _client(self, choice: ProviderChoice) -> AsyncIterator[ChatClient]:
        client = await self._new_client(choice)
        try:
            yield client
        finally:
            await client.close()

    async def _new_client(
        self,
        choice: ProviderChoice,
        *,
        key: str = "",
        settings: ProviderSettings | None = None,
        is_tried_again: bool = True,
    ) -> ChatClient:
        provider = known_provider(choice.provider)
        if not provider.uses_network:
            refuse_settings(provider, choice)
            await asyncio.to_thread(_import_builtin)
            from infrastructure.llm_adapters.builtin.chat import BuiltinChatClient

            return BuiltinChatClient(speaker=self._speaker)
        refuse_switches(provider, choice)
        if provider.protocol == "langchain":
            settings = settings or await asyncio.to_thread(self._kept, provider.name)
        base_url = self._base_url(provider, choice, settings)
        key = key or await asyncio.to_thread(self._key, provider, base_url)
        model = choice.model.strip() or provider.default_model
        await asyncio.to_thread(_import_langchain if provider.protocol == "langchain" else _import_wire)
        from infrastructure.llm_adapters.ollama import OllamaClient
        from infrastructure.llm_adapters.openai_compatible import OpenAICompatibleClient
        from infrastructure.llm_adapters.responses import ResponsesClient

        abilities = await asyncio.to_thread(self._abilities_of, provider, model)
        kinds: Mapping[str, Callable[..., ChatClient]] = {
            "ollama": OllamaClient,
            "openai": OpenAICompatibleClient,
            "responses": partial(ResponsesClient, completions_dialect=provider.completions_dialect),
        }
        if provider.protocol == "langchain" and settings is not None:
            from infrastructure.llm_adapters.langchain_client import LangChainClient

            kinds = {**kinds, "langchain": partial(LangChainClient, settings=settings)}
        client = kinds[provider.protocol](
            base_url=base_url,
            model=model,
            api_key=key,
            provider=provider.name,
            dialect=provider.dialect,
            abilities=abilities,
            timeouts=await asyncio.to_thread(self._timeouts, provider),
            network=self._network(),
        )
        server = urlsplit(base_url).netloc or ("" if settings is None else settings.model_class)
        is_local, manager = is_loopback(base_url), self._service_manager()
        if not is_tried_again:
            return manager.trial(client, provider=provider.name, server=server, is_local=is_local)
        from infrastructure.llm_adapters.error_texts import Peer
        from infrastructure.llm_adapters.request_room import learning, room_check

        room = abilities.context_tokens
        tokens = None if self._tokens is None else self._tokens()
        if provider.protocol == "ollama":
            room = None  # its client looks itself: the server knows better
        peer = Peer(server=server, provider=provider.name, model=model)
        return manager.guard(
            client,
            provider=provider.name,
            server=server,
            is_local=is_local,
            learn=None if tokens is None else learning(tokens, peer),
            check=None if tokens is None or room is None else room_check(tokens, peer, room),
            prices=await asyncio.to_thread(self.prices, choice),
        )

    def _service_manager(self) -> ServiceManager:
        """Made at the first use: listing providers must not pay for it."""
        if self._services is None:
            from infrastructure.llm_adapters.service_manager import ServiceManager

            self._services = ServiceManager(keep=None if self._counts is None else self._counts().add)
        return self._services

    def _timeouts(self, provider: Provider) -> Timeouts:
        from infrastructure.llm_adapters.timing import Timeouts

        kept, usual = self._kept(provider.name), Timeouts(first_piece_s=provider.first_piece_s)
        return replace(
            usual,
            connect_s=kept.connect_s or usual.connect_s,
            first_piece_s=kept.first_piece_s or usual.first_piece_s,
            first_piece_local_s=kept.first_piece_s or usual.first_piece_local_s,
            thinking_s=kept.silence_s or usual.thinking_s,
            content_s=kept.silence_s or usual.content_s,
            tool_call_s=kept.silence_s or usual.tool_call_s,
            keep_alive_s=max(usual.keep_alive_s, kept.first_piece_s or 0.0, kept.silence_s or 0.0),
        )

    def _abilities_of(self, provider: Provider, model: str) -> ModelAbilities:
        known = self._abilities(provider.name, model)
        if known.vision is None and provider.seeing_models is not None and model:
            return replace(known, vision=bool(provider.seeing_models.search(model)))
        return known

    def _base_url(
        self, provider: Provider, choice: ProviderChoice, settings: ProviderSettings | None = None
    ) -> str:
        named = choice.base_url.strip() or self._environment.get(provider.url_variable, "").strip()
        if provider.protocol == "langchain":
            return _own_address(named, settings or self._kept(provider.name))
        if not named and not provider.base_url:
            raise UserInputError(
                msg("The provider {name} needs a server address.", name=provider.name),
                advice=msg(
                    "Give --base-url http://HOST:PORT/v1 or set {variable}.", variable=provider.url_variable
                ),
                error_type="no_base_url",
            )
        return checked_base_url(named or provider.base_url)

    def _key(self, provider: Provider, base_url: str) -> str:
        key = self._find_key(provider, base_url)
        if not key and provider.key == "needed" and not is_loopback(base_url):
            raise ProviderError(
                msg("There is no key for {name} at {url}.", name=provider.name, url=base_url),
                kind="no_key",
                advice=advice_on_key(provider),
            )
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ProviderError(
                msg("The key in {variable} contains invalid characters.", variable=provider.key_variable),
                kind="auth",
                advice=msg("Copy the key again, without spaces, line breaks or quotes around it."),
            )
        return key

    def _find_key(self, provider: Provider, base_url: str) -> str:
        if not provider.key_variable:
            return ""
        if self._keys is not None:
            named = self._environment.get(provider.url_variable, "").strip()
            usual = (provider.base_url, self._kept(provider.name).base_url, named)
            return self._keys().find(provider.name, provider.key_variable, server=base_url, usual=usual)
        return self._environment.get(provider.key_variable, "").strip()

    def _has_key(self, provider: Provider) -> bool:
        if self._keys is not None and provider.key_variable:
            return self._keys().status(provider.name, provider.key_variable).place is not None
        return bool(self._environment.get(provider.key_variable, "").strip())

    def _info(self, provider: Provider) -> ProviderInfo:
        own = self._environment.get(provider.url_variable, "").strip()
        kept = ProviderSettings() if self._settings is None else self._settings().latest.of(provider.name)
        base_url = own or kept.base_url or provider.base_url
        needs_key = provider.key == "needed"
        if base_url:
            try:
                base_url = checked_base_url(base_url)
                needs_key = needs_key and not is_loopback(base_url)
            except UserInputError:
                base_url = without_password(base_url)  # reported when it is used; shown as it is
        return ProviderInfo(
            name=provider.name,
            title=provider.title,
            needs_key=needs_key,
            has_key=self._has_key(provider),
            base_url=base_url,
            models=provider.models,
            note=provider.note,
            key_variable=provider.key_variable,
            url_variable=provider.url_variable,
            key_page=provider.key_page,
            models_page=provider.models_page,
            is_local=provider.is_local,
            can_think=provider.dialect.thinking.is_there,
            can_search=provider.dialect.can_search,
            takes_class=provider.protocol == "langchain",
        )


def _own_address(named: str, kept: ProviderSettings) -> str:
    """Of a LangChain class, "" where it alone knows it. No conversation can choose another.

    Raises UserInputError.
    """
    if named != kept.base_url:
        raise UserInputError(
            msg("The base URL of a LangChain model is set in the model settings only."),
            advice=msg("Omit it here, or change it in the model settings of the window."),
            error_type="bad_url",
        )
    return checked_base_url(named) if named else ""


async def _ask_for_a_word(client: ChatClient) -> None:
    request = ChatRequest(messages=(WireMessage(role="user", text="Say: ok"),), max_tokens=16)
    async for _ in client.stream(request):
        pass


def _import_bridge() -> None:
    """LangChain: a third of a second of file reading, not for the loop's thread."""
    import infrastructure.llm_adapters.chat_model  # noqa: F401 - loaded for those who use it


def _import_langchain() -> None:
    import infrastructure.llm_adapters.langchain_client  # noqa: F401 - loaded for those who use it

    _import_wire()


def _import_builtin() -> None:
    import infrastructure.llm_adapters.builtin.chat  # noqa: F401 - loaded for those who use it


def _import_wire() -> None:
    import infrastructure.llm_adapters.ollama
    import infrastructure.llm_adapters.openai_compatible
    import infrastructure.llm_adapters.responses  # noqa: F401 - loaded for those who use it
