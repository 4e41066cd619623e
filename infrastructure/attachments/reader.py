"""What an attached file is, by its content: a picture, a PDF, a text, or nothing that can be sent.

A suffix says nothing: a web page called .png is a text, a picture called .txt a picture.

The text of an attached PDF. For a worker process: some take seconds, some are made to take for ever.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from domain.llm.attachments import (
    LARGEST_ATTACHMENT,
    MOST_PIXELS,
    Attachment,
    PreparedAttachment,
    clean_name,
    prepared_text,
    tokens_of_picture,
)
from domain.llm.tools.text_files import BinaryFileError, decode
from infrastructure.attachments.decoding import DAMAGE, as_seen, prepare_pillow
from infrastructure.persistence.confined import TooLarge
from infrastructure.persistence.given_files import read_given
from shared.errors import UserInputError
from shared.message import Message, msg

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdf import PdfReader

_MOST_PAGES = 300
_MOST_CHARACTERS = 400_000
_MOST_SECONDS = 20.0
"""Of which, as of pages and characters, half is for its beginning and half for its end."""


def text_of_pdf(content: bytes, clock: Callable[[], float] = time.monotonic) -> str:
    """The text page by page, each under a line with its number.

    Of one with more than 300 pages or 400,000 characters, or that takes longer than 20 s, beginning and end,
    with a line that names the pages between them: it is what a model is sent of a long text.
    Raises ValueError: "unreadable" (damaged, or with a password), "no_text" (pages that are pictures).
    """
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells every oddity of a file
    # It meets broken and hostile files with exceptions of every kind, of Python's own too.
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ValueError("unreadable")
        count = len(reader.pages)
    except Exception as error:
        raise ValueError("unreadable") from error
    head = _Pages(reader, count, clock)
    head.read(range(count))
    tail = _Pages(reader, count, clock)
    tail.read(range(count - 1, head.read_pages - 1, -1))
    if not head.length + tail.length:
        raise ValueError("unreadable" if head.unread + tail.unread else "no_text")
    left_out = count - head.read_pages - tail.read_pages
    first = head.read_pages + 1
    between = [f"[pages {first} to {first + left_out - 1} of {count} are left out]"] if left_out else []
    return "\n\n".join([*head.texts, *between, *reversed(tail.texts)])


class _Pages:
    """Pages one after the other, as far as half of what may be read goes."""

    def __init__(self, reader: PdfReader, count: int, clock: Callable[[], float]) -> None:
        self._reader = reader
        self._count = count
        self._clock = clock
        self.texts: list[str] = []
        self.read_pages = 0
        self.unread = 0
        """Pages that could not be read; they are named in the text."""
        self.length = 0

    def read(self, numbers: Iterable[int]) -> None:
        until = self._clock() + _MOST_SECONDS / 2
        for number in numbers:
            self._read(number)
            is_full = self.read_pages >= _MOST_PAGES // 2 or self.length > _MOST_CHARACTERS // 2
            if is_full or self._clock() > until:
                break

    def _read(self, number: int) -> None:
        self.read_pages += 1
        place = f"page {number + 1} of {self._count}"
        try:
            text = self._reader.pages[number].extract_text().strip()
        except Exception as error:  # noqa: BLE001 - as above
            self.unread += 1
            self.texts.append(f"[{place}: it could not be read ({type(error).__name__})]")
            return
        if text:
            self.texts.append(f"[{place}]\n{text}")
            self.length += len(text)


_MIMES: Mapping[str, str] = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WEBP": "image/webp",
    "GIF": "image/gif",
    "BMP": "image/bmp",
    "TIFF": "image/tiff",
}
"""Pillow's formats; its other readers are not tried: some of them start programs."""
_MPO = "MPO"
"""A JPEG with further ones behind it, as some cameras write; the first is taken."""
_OPENED = tuple(_MIMES)
_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*")
_PDF_BEGINS_WITHIN = 1024
_PHOTOS = frozenset({"JPEG", _MPO})
_ORIENTATION, _FIRST_TURNED = 0x0112, 5
"""EXIF's tag, and its first value of a picture that lies on its side."""


class FileReader:
    """Implements application.ports.attachments.AttachmentReader."""

    def read_file(self, path: Path) -> bytes:
        """The bytes of a file; a link is followed."""
        advice = msg("Attach a picture, a text file or a PDF; a folder cannot be attached.")
        try:
            return read_given(path, LARGEST_ATTACHMENT, advice=advice)
        except TooLarge as error:
            raise _too_large(clean_name(path.name)) from error

    def examine(self, name: str, content: bytes) -> PreparedAttachment | None:
        """A picture or a text, ready to be sent; None for a PDF."""
        name = clean_name(name)
        if not content:
            raise _refused(
                msg("{name} is empty.", name=name), msg("Attach a file that is not empty."), "empty_file"
            )
        if len(content) > LARGEST_ATTACHMENT:
            raise _too_large(name)
        if _looks_like_picture(content):
            return PreparedAttachment(attachment=_picture(name, content), content=content)
        if b"%PDF-" in content[:_PDF_BEGINS_WITHIN]:
            return None
        try:
            text = decode(content).text
        except BinaryFileError as error:
            raise _refused(
                msg("{name} is neither a picture nor text and cannot be sent to a model.", name=name),
                msg("Pictures may be PNG, JPEG, WebP, GIF, BMP or TIFF; of other files, including PDF, "
                    "the text is sent."),
                "binary_file",
            ) from error  # fmt: skip
        return prepared_text(name, content, "text/plain", text)

    def preview(self, content: bytes, side: int) -> bytes:
        """A picture as PNG, or as JPEG where it was one."""
        with _opened("", content) as picture, _decoding(""):
            is_photo = picture.format in _PHOTOS
            picture.draft("RGB", (side, side))
            picture.load()
            small = as_seen(picture)
            small.thumbnail((side, side))
            out = io.BytesIO()
            small.save(out, "JPEG" if is_photo else "PNG")
        return out.getvalue()

    def document_text(self, content: bytes) -> str:
        return text_of_pdf(content)


def _looks_like_picture(content: bytes) -> bool:
    return content.startswith(_MAGIC) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP")


def _picture(name: str, content: bytes) -> Attachment:
    """Its facts, after all of it was decoded: half a picture is not sent."""
    with _opened(name, content) as picture, _decoding(name):
        kind = picture.format or ""
        picture.load()
        is_turned = picture.getexif().get(_ORIENTATION, 1) >= _FIRST_TURNED
        width, height = picture.size[::-1] if is_turned else picture.size
    return Attachment(
        kind="image",
        name=name,
        mime=_MIMES["JPEG" if kind == _MPO else kind],
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        width=width,
        height=height,
        tokens=tokens_of_picture(width, height),
    )


def _opened(name: str, content: bytes) -> Image:
    """A picture whose head could be read and whose size is one of a picture."""
    from PIL import Image, TiffImagePlugin, WebPImagePlugin  # noqa: F401 - else Pillow loads all it has

    prepare_pillow()
    with _decoding(name):
        picture = Image.open(io.BytesIO(content), formats=_OPENED)
    if picture.width * picture.height > MOST_PIXELS:
        picture.close()
        raise _too_many_pixels(name, f"{picture.width} x {picture.height}")
    return picture


@contextlib.contextmanager
def _decoding(name: str) -> Iterator[None]:
    """Pillow meets damaged and hostile files with exceptions of many kinds."""
    from PIL import UnidentifiedImageError

    try:
        yield
    except UnidentifiedImageError as error:
        raise _broken(name, msg("its header is damaged")) from error
    except DAMAGE as error:
        raise _broken(name, str(error)[:100]) from error


def _broken(name: str, why: Message | str) -> UserInputError:
    return _refused(
        msg("The picture {name} is damaged: {why}.", name=name, why=why),
        msg("Open it in a picture viewer and save it again, or take a new screenshot."),
        "broken_picture",
    )


def _too_many_pixels(name: str, said: str) -> UserInputError:
    return _refused(
        msg("The picture {name} has too many pixels ({said}).", name=name, said=said),
        msg("Scale it down to at most {count} million pixels.", count=MOST_PIXELS // 1_000_000),
        "picture_too_large",
    )


def _too_large(name: str) -> UserInputError:
    return _refused(
        msg("{name} is larger than {size} MB.", name=name, size=LARGEST_ATTACHMENT >> 20),
        msg("Scale the picture down, or save the relevant part as a file of its own."),
        "attachment_too_large",
    )


def _refused(message: Message, advice: Message, error_type: str) -> UserInputError:
    return UserInputError(message, advice=advice, error_type=error_type)
