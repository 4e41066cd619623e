"""When a process started: with its number it names one process. Without asyncio, which no worker needs."""

from __future__ import annotations

from pathlib import Path


def start_of(pid: int) -> str:
    """In ticks since the machine's start (field 22 of proc(5) stat); "" when there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
