"""What a document is made of: headings, paragraphs, tables, code, pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shared.message import Message

Translate = Callable[[Message], str]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; 1 is the report's title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of plain text."""

    text: str
    mood: str = ""
    """"strong", "ok", "warn", "error" or "" (a plain one)."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table."""

    text: str
    mood: str = ""
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Lines as they are."""

    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing with what it shows."""

    svg: str
    caption: str
    is_own: bool = False
    """Drawn by us as plain shapes and texts: it is part of the page, at its own size where that fits."""


Block = Heading | Paragraph | Table | Code | Picture
