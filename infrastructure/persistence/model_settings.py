"""The settings of providers, in ``models.json`` of the user's own folder. Keys never are in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from domain.llm.provider_settings import ModelSettings
from infrastructure.persistence.user_json import MODELS_FILE, JsonFile
from shared.errors import EnvironmentProblem
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
