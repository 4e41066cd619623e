"""What is pasted or dropped: files, or a picture, or something that is text and no attachment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from PyQt6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData
from PyQt6.QtGui import QImage

_RAW = ("image/png", "image/jpeg", "image/webp", "image/gif")
LONGEST_PASTED = 20_000
"""Characters; in a model's small window less."""
_CHARACTERS_A_TOKEN = 4
_QUICK = 80
"""Qt's word for little compression: a screenshot in a fraction of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """What was offered."""

    paths: tuple[Path, ...] = ()
    picture: Callable[[], bytes] | None = None
    """Gives the file of a picture that has none yet; slow, for a thread."""
    picture_name: str = ""
    text: str = ""
    """A long one, which may go as a file."""


def can_take_in(mime: QMimeData | None) -> bool:
    return mime is not None and (bool(_local_files(mime)) or (mime.hasImage() and not mime.hasText()))


def take_in(mime: QMimeData | None, *, longest_text: int = 0) -> TakenIn | None:
    """What there is to attach; None when it is text of at most `longest_text` characters, or nothing.

    0: text of any length is none. Office programs offer a picture of every text they copy: where there is
    text, the text is meant.
    """
    if mime is None:
        return None
    if paths := _local_files(mime):
        return TakenIn(paths=paths)
    if mime.hasText():
        text = mime.text()
        return TakenIn(text=text) if 0 < longest_text < len(text) else None
    return _picture(mime) if mime.hasImage() else None


def _picture(mime: QMimeData) -> TakenIn | None:
    for kind in _RAW:
        data = mime.data(kind) if mime.hasFormat(kind) else QByteArray()
        if data.size():
            return TakenIn(picture=data.data, picture_name=_name(kind.removeprefix("image/")))
    image = mime.imageData()
    if not isinstance(image, QImage) or image.isNull():
        return None
    return TakenIn(picture=lambda: png_of(image), picture_name=_name("png"))


def longest_pasted(context_tokens: int | None) -> int:
    """Characters that are pasted without a word: a tenth of the model's window, at most 20,000."""
    if context_tokens is None:
        return LONGEST_PASTED
    return min(context_tokens * _CHARACTERS_A_TOKEN // 10, LONGEST_PASTED)


def png_of(image: QImage) -> bytes:
    """A picture as a PNG file. Slow: for a thread."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG", _QUICK)
    buffer.close()
    return bytes(data.data())


def _local_files(mime: QMimeData) -> tuple[Path, ...]:
    if not mime.hasUrls():
        return ()
    return tuple(Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile())


def _name(suffix: str) -> str:
    return f"picture-{datetime.now().astimezone():%H%M%S}.{suffix}"
