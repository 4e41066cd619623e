"""A file a person has chosen the place of, written whole or not at all."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtCore import QIODevice, QSaveFile

from shared.errors import EnvironmentProblem
from shared.message import msg


def write(path: Path, content: bytes) -> None:
    """Put a file on the disk, whole or not at all. Blocking. Raises EnvironmentProblem."""
    file = QSaveFile(str(path))
    is_written = file.open(QIODevice.OpenModeFlag.WriteOnly) and file.write(content) == len(content)
    if not is_written or not file.commit():
        raise EnvironmentProblem(
            msg("{path} could not be written: {reason}", path=path, reason=file.errorString()),
            advice=msg("Choose another folder, or free some disk space."),
        )
