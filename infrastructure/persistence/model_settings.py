"""What is kept of providers in the user's own folder: their settings in ``models.json``, never keys; what
happened with each service in ``services.json``; how each model counts tokens in ``token_factors.json``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from domain.llm.chat import ChatRequest
from domain.llm.provider_settings import ModelSettings
from domain.llm.service import SUMS
from domain.llm.tokens import Counter, TokenFactors, count_tokens, read_factors, request_tokens
from infrastructure.persistence.user_json import FACTORS_FILE, MODELS_FILE, SERVICE_COUNTS_FILE, JsonFile
from shared.errors import CircuitAIError, EnvironmentProblem
from shared.setting import read_fields

FILE = MODELS_FILE
SCHEMA_VERSION = 1


class ModelSettingsFile:
    """Implements application.ports.model_settings.ModelSettingsStore. Blocking."""

    def __init__(self, *, user_home: Path) -> None:
        self._file = JsonFile(user_home, FILE, version=SCHEMA_VERSION, mode=0o600)
        self._latest: ModelSettings | None = None

    @property
    def latest(self) -> ModelSettings:
        """What was loaded or set last in this run."""
        return self.load() if self._latest is None else self._latest

    def load(self) -> ModelSettings:
        """What was set; an entry that is not understood counts as not set, a file that can't be read too.

        The file is not written over then: `change` says what is wrong.
        """
        try:
            self._latest = _understood(self._file.load())
        except EnvironmentProblem:
            self._latest = ModelSettings()
        return self._latest

    def change(self, change: Callable[[ModelSettings], ModelSettings]) -> ModelSettings:
        """Change the settings as they are now on the disk, and keep them; returns them.

        Raises EnvironmentProblem: "damaged", "busy", a full or read-only disk.
        """
        with self._file.change() as content:
            new = change(_understood(content))
            content.update(asdict(new))
        self._latest = new
        return new


def _understood(content: dict[str, Any]) -> ModelSettings:
    found = read_fields(ModelSettings, content, is_strict=False)
    providers = {
        name: replace(kept, web_search=kept.web_search and not kept.search)
        for name, kept in found.providers.items()
    }
    return replace(found, providers=providers)


_MOST_SERVICES = 200


class ServiceCountsFile:
    """What happened with each service over all runs of the program: counts only, no texts, no keys.

    Blocking: called off the loop. A breaker is not among them; each run finds out for itself.
    """

    def __init__(self, *, user_home: Path) -> None:
        self._file = JsonFile(user_home, SERVICE_COUNTS_FILE, when_damaged="forget", is_durable=False)

    def load(self) -> dict[str, dict[str, float]]:
        """``"provider server"`` -> counts; nothing where the file is missing or damaged."""
        return {name: _sums(row) for name, row in self._file.load().items() if isinstance(row, dict)}

    def add(self, service: str, counts: Mapping[str, Any]) -> None:
        """Add what happened since the last call. Raises EnvironmentProblem."""
        with self._file.change() as rows:
            old, new = _sums(rows.pop(service, {})), _sums(counts)
            rows[service] = {name: old[name] + new[name] for name in SUMS}
            for forgotten in list(rows)[:-_MOST_SERVICES]:
                del rows[forgotten]


def _sums(row: object) -> dict[str, float]:
    numbers = {name: row.get(name) if isinstance(row, Mapping) else None for name in SUMS}
    return {
        name: value if isinstance(value, int | float) and 0 <= value < 1e15 else 0
        for name, value in numbers.items()
    }


_MOST_MODELS = 500

_logger = logging.getLogger(__name__)


class TokenFactorsFile:
    """Counts requests as a model does; learns from every answer that tells its usage."""

    def __init__(
        self, *, user_home: Path, exact: Callable[[str], Counter | None] = lambda _model: None
    ) -> None:
        # What is damaged is learned again.
        self._file = JsonFile(user_home, FACTORS_FILE, when_damaged="forget", is_durable=False)
        self._exact = exact
        """A model -> what counts exactly for it."""

    def count(self, model: str, request: ChatRequest) -> int:
        """The tokens of a request for a model (``"provider model"``). Blocking."""
        name, counted = self._counted(model, request)
        return TokenFactors(read_factors(self._file.load())).corrected(name, counted)

    def _counted(self, model: str, request: ChatRequest) -> tuple[str, int]:
        """The tokens, and under which name they are put right: what is around the texts differs too."""
        exact = self._exact(model.partition(" ")[2])
        counter, name = (count_tokens, model) if exact is None else (exact, f"{model} (exact)")
        return name, request_tokens(request, counter)

    async def learn(self, model: str, request: ChatRequest, told: int) -> None:
        """Take what an answer told about its request: `told` tokens. Never raises: it is only a count."""
        try:
            await asyncio.to_thread(self._learn, model, request, told)
        except CircuitAIError as error:
            _logger.warning("The tokens of %s were not kept: %s", model, error)

    def _learn(self, model: str, request: ChatRequest, told: int) -> None:
        name, counted = self._counted(model, request)
        with self._file.change() as rows:
            factors = TokenFactors(read_factors(rows))
            if factors.learn(name, counted=counted, told=told):
                rows.clear()
                rows.update(list(factors.to_plain().items())[-_MOST_MODELS:])
