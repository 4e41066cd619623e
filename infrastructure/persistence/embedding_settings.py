"""The setting ``embedding`` of ``settings.json``, changed without touching any other entry."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from pathlib import Path
from typing import Any

from domain.search.embedding import EmbeddingSettings, read_embedding
from infrastructure.persistence.atomic import write_atomically
from infrastructure.persistence.change_lock import change_lock
from infrastructure.persistence.user_json import read_object
from shared import paths
from shared.errors import EnvironmentProblem
from shared.message import msg

_logger = logging.getLogger(__name__)

_NAME = "embedding"
_MAX_BYTES = 2**20


class EmbeddingSettingsFile:
    """Implements application.ports.search.EmbeddingStore. Blocking."""

    def __init__(self, *, user_home: Path) -> None:
        self._home = user_home
        self._path = user_home / paths.SETTINGS_FILE

    def load(self) -> EmbeddingSettings | None:
        """As set; None when none is, or when it is not understood (which `load_settings` tells)."""
        try:
            value = self._content().get(_NAME)
            return None if value is None else read_embedding(value)
        except (OSError, ValueError, TypeError, RecursionError) as error:
            _logger.warning("The setting %s in %s is not used: %s", _NAME, self._path, error)
            return None

    def save(self, settings: EmbeddingSettings | None) -> None:
        """Keep it. Raises EnvironmentProblem: "damaged", "busy", a full or read-only disk."""
        with change_lock(self._path):
            try:
                content = self._content()
            except (OSError, ValueError, TypeError, RecursionError) as error:
                raise EnvironmentProblem(
                    msg("The settings {path} can't be read, so they are not changed.", path=self._path),
                    advice=msg("Mend or remove the file."),
                    file=self._path,
                    error_type="damaged",
                ) from error
            if settings is None:
                content.pop(_NAME, None)
            else:
                content[_NAME] = asdict(settings)
            text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
            write_atomically(self._path, text.encode("utf-8", "surrogatepass"), inside=self._home)

    def _content(self) -> dict[str, Any]:
        try:
            return read_object(self._path, max_bytes=_MAX_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            return {}
