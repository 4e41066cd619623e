"""Libraries of other simulators as ngspice takes them, read off the loop: large ones in a worker process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.components.library_text import LibraryText, read_library_text
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.cpu_executor import CpuTaskExecutor

_LARGE = 40_000
"""Bytes of a library from which on a worker process reads it: in a thread Python would hold the program."""


async def read_text(data: bytes, file: str, cpu: Callable[[], CpuTaskExecutor]) -> LibraryText:
    """As `read_library_text`. Raises UserInputError for what is no library that can be read."""
    if len(data) < _LARGE:
        return await off_loop(read_library_text, data, file)
    return await cpu().run(read_library_text, data, file)
