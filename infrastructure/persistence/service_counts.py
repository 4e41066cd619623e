"""What happened with each service over all runs of the program, in ``services.json`` of the user's folder.

Counts only: no texts, no keys. A breaker is not among them; each run finds out for itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from domain.llm.service import SUMS
from infrastructure.persistence.atomic import write_atomically
from infrastructure.persistence.change_lock import change_lock
from infrastructure.persistence.user_json import SERVICE_COUNTS_FILE, read_object

FILE = SERVICE_COUNTS_FILE
_MAX_BYTES = 2**20
_MOST_SERVICES = 200


class ServiceCountsFile:
    """Blocking: called off the loop."""

    def __init__(self, *, user_home: Path) -> None:
        self._home = user_home
        self._path = user_home / FILE

    def load(self) -> dict[str, dict[str, float]]:
        """``"provider server"`` -> counts; nothing where the file is missing or damaged."""
        try:
            content = read_object(self._path, max_bytes=_MAX_BYTES)
        except (OSError, ValueError):
            return {}
        return {name: _sums(row) for name, row in content.items() if isinstance(row, dict)}

    def add(self, service: str, counts: Mapping[str, Any]) -> None:
        """Add what happened since the last call. Raises EnvironmentProblem."""
        with change_lock(self._path):
            all_counts = self.load()
            old, new = all_counts.pop(service, {}), _sums(counts)
            all_counts[service] = {name: old.get(name, 0) + new[name] for name in SUMS}
            kept = dict(list(all_counts.items())[-_MOST_SERVICES:])
            text = json.dumps(kept, ensure_ascii=False, indent=1) + "\n"
            write_atomically(
                self._path, text.encode("utf-8", "surrogatepass"), inside=self._home, is_durable=False
            )


def _sums(row: Mapping[str, Any]) -> dict[str, float]:
    numbers = {name: row.get(name) for name in SUMS}
    return {
        name: value if isinstance(value, int | float) and 0 <= value < 1e15 else 0
        for name, value in numbers.items()
    }
