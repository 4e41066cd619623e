"""The numbered pages under an answer: what web searches found. A click opens one in the user's browser.

Titles and excerpts are strangers' words: shown as text only, and addresses of the web alone can be opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from domain.llm.chat import WebSource
from domain.llm.web_search import sources_of_result
from presentation.panels.conversation.blocks import (
    Blocks,
    Break,
    Fold,
    Icon,
    Line,
    Numbered,
    Only,
    Para,
    Parts,
    Said,
    Text,
    WebLink,
)
from shared.message import msg, visible

_SHOWN_OPEN = 5
"""A longer list is folded."""
_LONGEST_TIP = 300


def stored_sources(items: Iterable[Mapping[str, Any]]) -> tuple[WebSource, ...]:
    return sources_of_result({"sources": [{"url": item.get("link"), **item} for item in items]})


def sources_of(sources: tuple[WebSource, ...]) -> Blocks:
    """The list, folded when it is long; nothing without sources."""
    if not sources:
        return ()
    title: Said = msg("Sources from the web: {count}", count=len(sources))
    rows = tuple(_row(source, number) for number, source in enumerate(sources, 1))
    page = Fold(
        part="sources",
        head=Line("", (Icon("globe"), Text(title, "title"))),
        body=(Numbered(rows),),
        kind="sources",
        is_open=len(sources) <= _SHOWN_OPEN,
    )
    plain = Para("", (Icon("globe"), Text(title), *(part for row in rows for part in (Break(), *row))))
    return (Only("page", (page,)), Only("plain", (plain,)))


def _row(source: WebSource, number: int) -> Parts:
    host = _host(source.url)
    title = _clean(source.title) or _clean(source.url)
    said = " · ".join(_clean(part) for part in (source.site or host, source.date) if part)
    tip = _clean(source.text)[:_LONGEST_TIP]
    page = WebLink(url=source.url, label=title, tip=tip) if host else Text(title)
    return (Text(_clean(source.reference) or f"[{number}]", "number"), page, Text(said, "aside"))


def _host(url: str) -> str:
    """The host of an address that may be opened; "" for any other."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return (parts.hostname or "") if parts.scheme.lower() in ("http", "https") else ""


def _clean(text: str) -> str:
    return " ".join(visible(text).split())
