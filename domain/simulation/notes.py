"""What is worth knowing about how a circuit was simulated; neither an error nor a warning."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shared.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationNote:
    """One remark: the dialect a circuit was read in, a card that was left out."""

    message: Message
    file: Path | None = None
    line: int | None = None
