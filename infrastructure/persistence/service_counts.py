"""What happened with each service over all runs of the program, in ``services.json`` of the user's folder.

Counts only: no texts, no keys. A breaker is not among them; each run finds out for itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from domain.llm.service import SUMS
from infrastructure.persistence.user_json import SERVICE_COUNTS_FILE, JsonFile

FILE = SERVICE_COUNTS_FILE
_MOST_SERVICES = 200


class ServiceCountsFile:
    """Blocking: called off the loop."""

    def __init__(self, *, user_home: Path) -> None:
        self._file = JsonFile(user_home, FILE, when_damaged="forget", is_durable=False)

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
