"""By which path a circuit includes a component's library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePath

from domain.components.component import Component
from shared.paths import MODEL_LIBRARY


def include_path(component: Component, circuit_folder: Path, libraries: Sequence[Path]) -> str:
    """The path as an `.include` of a circuit in this folder writes it: the name alone for what comes with the
    program, the path below a library folder (every circuit may include from there), else from the circuit's.
    """
    file = PurePath(component.file)
    if file.parent == MODEL_LIBRARY:
        return file.name
    for library in libraries:
        if file == library:
            return str(file)
        if file.is_relative_to(library):
            return file.relative_to(library).as_posix()
    return PurePath(os.path.relpath(file, circuit_folder)).as_posix()
