"""What the model that is asked in a turn costs, looked up once for each model that is."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from application.ports.conversation import ChatModels
    from domain.llm.chat import ProviderChoice
    from domain.llm.costs import Price, PriceList

_logger = logging.getLogger(__name__)


class Pricing:
    """The prices of the model that is asked now."""

    def __init__(self, models: ChatModels) -> None:
        self._models = models
        self._prices: PriceList = lambda _model: None
        self.choice: ProviderChoice | None = None
        """What was looked up last."""

    async def look_up(self, choice: ProviderChoice) -> None:
        """From now on this model is asked. One that can't be asked has no price; asking it says why."""
        if choice == self.choice:
            return
        try:
            self._prices = await asyncio.to_thread(self._models.prices, choice)
        except CircuitAIError as error:
            _logger.info("No price for %s: %s", choice.provider, error)
            self._prices = lambda _model: None
        self.choice = choice

    def price(self, model: str = "") -> Price | None:
        """Of the chosen model; `model` is what the server calls it."""
        return self._prices(model)
