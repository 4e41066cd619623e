"""Telling a process from a later one of the same id."""

from __future__ import annotations

from pathlib import Path


def start_of(pid: int) -> str:
    """When a process started, in ticks since the machine's start (field 22 of proc(5) stat)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
