"""What was learned about the tokens of each model, in ``token_factors.json`` of the user's own folder."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from domain.llm.chat import ChatRequest
from domain.llm.tokens import TokenFactors, read_factors, request_tokens
from infrastructure.persistence.user_json import FACTORS_FILE, JsonFile
from shared.errors import CircuitAIError

FILE = FACTORS_FILE
_MOST_MODELS = 500

_logger = logging.getLogger(__name__)


class TokenFactorsFile:
    """Counts requests as a model does; learns from every answer that tells its usage."""

    def __init__(self, *, user_home: Path) -> None:
        # What is damaged is learned again.
        self._file = JsonFile(user_home, FILE, when_damaged="forget", is_durable=False)

    def count(self, model: str, request: ChatRequest) -> int:
        """The tokens of a request for a model (``"provider model"``). Blocking."""
        return TokenFactors(read_factors(self._file.load())).corrected(model, request_tokens(request))

    async def learn(self, model: str, request: ChatRequest, told: int) -> None:
        """Take what an answer told about its request: `told` tokens. Never raises: it is only a count."""
        try:
            await asyncio.to_thread(self._learn, model, request, told)
        except CircuitAIError as error:
            _logger.warning("The tokens of %s were not kept: %s", model, error)

    def _learn(self, model: str, request: ChatRequest, told: int) -> None:
        counted = request_tokens(request)
        with self._file.change() as rows:
            factors = TokenFactors(read_factors(rows))
            if factors.learn(model, counted=counted, told=told):
                rows.clear()
                rows.update(list(factors.to_plain().items())[-_MOST_MODELS:])
