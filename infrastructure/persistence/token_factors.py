"""What was learned about the tokens of each model, in ``token_factors.json`` of the user's own folder."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

from domain.llm.chat import ChatRequest
from domain.llm.tokens import TokenFactors, read_factors, request_tokens
from infrastructure.persistence.atomic import write_atomically
from infrastructure.persistence.change_lock import change_lock
from infrastructure.persistence.user_json import FACTORS_FILE, read_object
from shared.errors import CircuitAIError

FILE = FACTORS_FILE
_MAX_BYTES = 2**20
_MOST_MODELS = 500

_logger = logging.getLogger(__name__)


class TokenFactorsFile:
    """Counts requests as a model does; learns from every answer that tells its usage."""

    def __init__(self, *, user_home: Path) -> None:
        self._home = user_home
        self._path = user_home / FILE

    def count(self, model: str, request: ChatRequest) -> int:
        """The tokens of a request for a model (``"provider model"``). Blocking."""
        return self._load().corrected(model, request_tokens(request))

    async def learn(self, model: str, request: ChatRequest, told: int) -> None:
        """Take what an answer told about its request: `told` tokens. Never raises: it is only a count."""
        try:
            await asyncio.to_thread(self._learn, model, request, told)
        except CircuitAIError as error:
            _logger.warning("The tokens of %s were not kept: %s", model, error)

    def _learn(self, model: str, request: ChatRequest, told: int) -> None:
        counted = request_tokens(request)
        with change_lock(self._path):
            factors = self._load()
            if not factors.learn(model, counted=counted, told=told):
                return
            kept = dict(list(factors.to_plain().items())[-_MOST_MODELS:])
            text = json.dumps(kept, ensure_ascii=False, indent=1) + "\n"
            write_atomically(
                self._path, text.encode("utf-8", "surrogatepass"), inside=self._home, is_durable=False
            )

    def _load(self) -> TokenFactors:
        """What is known; nothing where the file is missing or damaged, as it is learned again."""
        try:
            return TokenFactors(read_factors(read_object(self._path, max_bytes=_MAX_BYTES)))
        except (OSError, ValueError):
            return TokenFactors()
