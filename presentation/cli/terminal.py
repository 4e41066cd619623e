"""Asking the user on the terminal."""

from __future__ import annotations

import asyncio
import sys


async def read_line(prompt: str) -> str:
    """The answer in lower case; "n" when the input has ended.

    No thread waits in `input`: Ctrl+C could not end it.
    """
    print(prompt, end="", flush=True)
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    try:
        loop.add_reader(sys.stdin.fileno(), readable.set)
    except NotImplementedError:  # Windows
        line = await asyncio.to_thread(sys.stdin.readline)
    else:
        try:
            await readable.wait()
        finally:
            loop.remove_reader(sys.stdin.fileno())
        line = sys.stdin.readline()
    return line.strip().lower() if line else "n"
