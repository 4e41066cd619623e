"""A project whose circuit has goals, open in the window's parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from domain.simulation.goals import DesignGoal
from presentation.ui.workspace import WindowServices


async def opened(
    services: WindowServices, root: Path, name: str, text: str, goals: Sequence[DesignGoal]
) -> Path:
    """The circuit, in a project made at `root`."""
    path = _written(root, name, text)
    browse = services.app.project.browse
    await browse.open(root)
    await browse.ask_of(root, path, goals)
    services.workspace.root = root
    return path


def _written(root: Path, name: str, text: str) -> Path:
    root.mkdir()
    path = root / name
    path.write_text(text, encoding="utf-8")
    return path
