"""Which circuit a stored result is of, also after its project was renamed, moved or copied."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from shared import paths


def project_of(folder: Path) -> Path | None:
    """The project a result's folder lies in; None for one of the user's own folder."""
    results, private = folder.parent, folder.parent.parent
    is_in_one = results.name == paths.RESULTS_FOLDER and private.name == paths.PROJECT_FOLDER
    return private.parent if is_in_one else None


def place_of(circuit: Path, folder: Path) -> str:
    """Where in the project of `folder` a circuit lies, with forward slashes; "" when it does not."""
    root = project_of(folder)
    return circuit.relative_to(root).as_posix() if root is not None and circuit.is_relative_to(root) else ""


def circuit_of(content: Mapping[str, Any], folder: Path) -> Path:
    """The circuit of a ``result.json`` in `folder`: its place in the project as it is now.

    What names no place, or one outside, is where it was when it was simulated. Raises KeyError, TypeError.
    """
    netlist = content["netlist"]
    root, place = project_of(folder), netlist.get("place")
    if root is not None and isinstance(place, str) and place and "\0" not in place:
        parts = PurePosixPath(place).parts
        if ".." not in parts and not PurePosixPath(place).is_absolute():
            return root.joinpath(*parts)
    return Path(str(netlist["path"]))
