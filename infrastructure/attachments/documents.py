"""The text of an attached PDF. For a worker process: some take seconds, some are made to take for ever."""

from __future__ import annotations

import io
import logging
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
