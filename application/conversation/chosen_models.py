"""Which models serve beside the chosen one: for small tasks, and when it fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from application.ports.model_settings import ModelSettingsStore
from domain.llm.chat import ProviderChoice
from domain.llm.service import Alternatives


class ChosenModels:
    """What the user set, and what follows where he set nothing."""

    def __init__(
        self,
        *,
        small: ProviderChoice | None,
        small_of: Callable[[str], str],
        alternatives: tuple[ProviderChoice, ...],
        switches_automatically: bool,
        settings: ModelSettingsStore,
    ) -> None:
        """`small_of` knows a provider's model for small tasks, "" for none."""
        self._small = small
        self._small_of = small_of
        self._alternatives = alternatives
        self._switches_automatically = switches_automatically
        self._settings = settings

    def small(self) -> ProviderChoice | None:
        """As set; where only the provider is named, its small model. Blocking."""
        if self._small is None or self._small.model:
            return self._small
        return replace(self._small, model=self._small_of(self._small.provider))

    def alternatives(self) -> Alternatives:
        """As set; else the models whose settings were tested are offered. Blocking."""
        chosen = self._alternatives
        if not chosen:
            kept = self._settings.load().providers
            chosen = tuple(row.choice(name) for name, row in kept.items() if row.verified_at)
        return Alternatives(choices=chosen, is_automatic=self._switches_automatically)
