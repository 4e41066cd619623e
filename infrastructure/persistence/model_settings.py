"""The settings of providers, in ``models.json`` of the user's own folder. Keys never are in it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from domain.llm.chat import THINKING_LEVELS
from domain.llm.provider_settings import BUILTIN, TIMEOUT_RANGE_S, ModelSettings, ProviderSettings
from domain.llm.web_search import read_web_search
from infrastructure.persistence.atomic import write_atomically
from infrastructure.persistence.change_lock import change_lock
from infrastructure.persistence.user_json import MODELS_FILE, read_object
from shared.errors import EnvironmentProblem
from shared.message import msg

_logger = logging.getLogger(__name__)

FILE = MODELS_FILE
SCHEMA_VERSION = 1
_MAX_BYTES = 2**20
_TEXTS = ("base_url", "model", "verified_at")
_SECONDS = ("connect_s", "first_piece_s", "silence_s")


class ModelSettingsFile:
    """Implements application.ports.model_settings.ModelSettingsStore. Blocking."""

    def __init__(self, *, user_home: Path) -> None:
        self._home = user_home
        self._path = user_home / FILE
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
            self._latest = _understood(self._content())
        except (OSError, ValueError, TypeError, RecursionError) as error:
            _logger.warning("The model settings %s can't be read and count as not set: %s", self._path, error)
            self._latest = ModelSettings()
        return self._latest

    def change(self, change: Callable[[ModelSettings], ModelSettings]) -> ModelSettings:
        """Change the settings as they are now on the disk, and keep them; returns them.

        Raises EnvironmentProblem: "damaged", "busy", a full or read-only disk.
        """
        with change_lock(self._path):
            try:
                content = self._content()
            except (OSError, ValueError, TypeError, RecursionError) as error:
                raise EnvironmentProblem(
                    msg("The model settings {path} can't be read, so they are not changed.", path=self._path),
                    advice=msg("Mend or remove the file."),
                    file=self._path,
                    error_type="damaged",
                ) from error
            new = change(_understood(content))
            document = {
                **content,
                "schema_version": SCHEMA_VERSION,
                "chosen": new.chosen,
                "providers": {name: asdict(settings) for name, settings in new.providers.items()},
                "web_search": asdict(new.web_search),
            }
            text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
            write_atomically(self._path, text.encode("utf-8", "surrogatepass"), inside=self._home, mode=0o600)
        self._latest = new
        return new

    def _content(self) -> dict[str, Any]:
        try:
            return read_object(self._path, max_bytes=_MAX_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            return {}


def _understood(content: dict[str, Any]) -> ModelSettings:
    entries = content.get("providers")
    chosen = content.get("chosen")
    return ModelSettings(
        chosen=chosen if isinstance(chosen, str) and chosen else BUILTIN,
        providers={
            name: _settings(entry)
            for name, entry in (entries.items() if isinstance(entries, dict) else ())
            if isinstance(entry, dict)
        },
        web_search=read_web_search(content.get("web_search")),
    )


def _settings(entry: dict[str, Any]) -> ProviderSettings:
    settings = ProviderSettings()
    for name in _TEXTS:
        if isinstance(value := entry.get(name), str):
            settings = replace(settings, **{name: value})  # type: ignore[arg-type]
    for name in _SECONDS:
        value = entry.get(name)
        if isinstance(value, int | float) and TIMEOUT_RANGE_S[0] <= value <= TIMEOUT_RANGE_S[1]:
            settings = replace(settings, **{name: float(value)})  # type: ignore[arg-type]
    thinking = entry.get("thinking")
    return replace(
        settings,
        thinking=thinking if thinking in THINKING_LEVELS else None,
        search=entry.get("search") is True,
        web_search=entry.get("web_search") is True and entry.get("search") is not True,
    )
