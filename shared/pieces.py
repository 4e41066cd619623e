"""Slow work that nobody needs any more when he who wanted it ends: done in pieces, on threads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator


async def in_pieces(pieces: Iterator[None]) -> None:
    """Walk `pieces` to their end on threads, one piece after the other; each runs to its next `yield`.

    A thread cannot be stopped: a cancellation lets the present piece run, and no further one begins. Raises
    what a piece raises.
    """
    while not await asyncio.to_thread(_is_last, pieces):
        pass


def _is_last(pieces: Iterator[None]) -> bool:
    for _ in pieces:
        return False
    return True
