"""What is worth knowing about how a circuit was simulated; neither an error nor a warning."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from shared.message import Message


class SimulationNote(NamedTuple):
    """One remark: the dialect a circuit was read in, a card that was left out."""

    message: Message
    file: Path | None = None
    line: int | None = None
