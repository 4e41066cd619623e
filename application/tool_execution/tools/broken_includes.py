"""Which includes of a project stop finding their file when files are moved or deleted."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from application.ports.project_view import ProjectView
from application.tool_execution.tools._common import NETLIST_SUFFIXES
from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist

_MOST_SCANNED = 20_000
_MOST_NETLIST_BYTES = 2_000_000
_MOST_INCLUDES = 20


def broken_includes(view: ProjectView, moved: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """The includes of the project that work now and won't when `moved` (None: deleted) is done."""
    names = {
        entry.name: entry for entry in islice(view.walk(view.root), _MOST_SCANNED) if entry.kind == "file"
    }
    found: list[dict[str, Any]] = []
    for name, entry in names.items():
        new_name = moved.get(name, name)
        is_netlist = PurePosixPath(name).suffix.lower() in NETLIST_SUFFIXES
        if not is_netlist or new_name is None or entry.size > _MOST_NETLIST_BYTES:
            continue
        try:
            with view.open(entry.path) as file:
                data = file.read(_MOST_NETLIST_BYTES)
        except OSError:
            continue
        has_title = entry.path.suffix.lower() not in LIBRARY_SUFFIXES
        for include in Netlist.parse(data, path=entry.path, has_title=has_title).includes:
            target = _beside(name, include.path)
            if target in names and _beside(new_name, include.path) != moved.get(target, target):
                found.append({"file_path": new_name, "line": include.line, "include": include.path})
                if len(found) >= _MOST_INCLUDES:
                    return found
    return found


def _beside(file: str, reference: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), reference))
