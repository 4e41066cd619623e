"""Whether Ollama runs on this computer (or another), and which models it has."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, Literal

from domain.llm.chat import ModelAbilities, ProviderError
from domain.llm.local_server import LocalModel, LocalServerStatus
from infrastructure.llm_adapters.addresses import is_loopback
from infrastructure.llm_adapters.ollama import OllamaClient, pull_advice
from infrastructure.llm_adapters.timing import Timeouts

_logger = logging.getLogger(__name__)

_PAUSES_S = (5.0, 10.0, 30.0)
"""Between looks while the server is away; the last one stays."""
_LOOK_AGAIN_S = 30.0
"""Between looks while it runs."""
_TIMEOUTS = Timeouts(connect_s=3.0, listing_s=5.0)


class OllamaService:
    """Looks at one server. `base_url` is its root; it may be changed between looks."""

    def __init__(
        self, base_url: str, *, api_key: str = "", sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.base_url = base_url
        self._key = api_key
        self._sleep = sleep

    async def status(self) -> LocalServerStatus:
        """How it is now. Never raises for what the server or the network does."""
        client = OllamaClient(
            base_url=self.base_url, api_key=self._key, provider="ollama", timeouts=_TIMEOUTS
        )
        try:
            listed, version, loaded = await client.facts()
        except ProviderError as error:
            state = await asyncio.to_thread(_state_after, error, self.base_url)
            return LocalServerStatus(state=state, message=error.message, advice=error.advice)
        finally:
            await client.close()
        models = tuple(_model(entry) for entry in listed)
        return LocalServerStatus(
            state="running",
            version=version,
            models=models,
            running=tuple(_model(entry).name for entry in loaded),
            advice=None if models else pull_advice(""),
        )

    async def abilities(self, model: str, known: ModelAbilities) -> ModelAbilities:
        """What the server tells of a model, and `known` where it tells nothing or does not answer."""
        client = OllamaClient(
            base_url=self.base_url,
            model=model,
            api_key=self._key,
            provider="ollama",
            timeouts=_TIMEOUTS,
            abilities=known,
        )
        try:
            return await client.abilities_of_model()
        except ProviderError as error:
            _logger.info("Ollama told nothing of %s: %s", model, error)
            return known
        finally:
            await client.close()

    async def watch(self) -> AsyncGenerator[LocalServerStatus, None]:
        """The status now, and again whenever it changes. Close it to end the watch."""
        before: LocalServerStatus | None = None
        away = 0
        while True:
            status = await self.status()
            if status != before:
                yield status
            before = status
            away = 0 if status.state == "running" else away + 1
            await self._sleep(_PAUSES_S[min(away, len(_PAUSES_S)) - 1] if away else _LOOK_AGAIN_S)


def _state_after(error: ProviderError, url: str) -> Literal["not_running", "not_installed", "error"]:
    if error.kind != "unreachable":
        return "error"
    return "not_running" if shutil.which("ollama") or not is_loopback(url) else "not_installed"


def _model(entry: Mapping[str, Any]) -> LocalModel:
    details = entry.get("details")
    facts: Mapping[str, Any] = details if isinstance(details, Mapping) else {}
    size = entry.get("size")
    return LocalModel(
        name=str(entry.get("name") or entry.get("model") or ""),
        size=size if isinstance(size, int) else 0,
        parameters=str(facts.get("parameter_size") or ""),
    )
