"""The two bundled typefaces (resources/fonts, both under the SIL OFL); Chinese faces are the system's."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtGui import QFontDatabase

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "fonts"


def load_fonts(folder: Path = FOLDER) -> tuple[Path, ...]:
    """Make the bundled faces known to Qt; returns the files it would not take (the system's serve then)."""
    return tuple(
        path for path in sorted(folder.glob("*.ttf")) if QFontDatabase.addApplicationFont(str(path)) < 0
    )
