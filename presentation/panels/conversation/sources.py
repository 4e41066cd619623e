"""The numbered pages under an answer: what web searches found. A click opens one in the user's browser.

Titles and excerpts are strangers' words: they are escaped, and shown as text only.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from domain.llm.chat import WebSource
from domain.llm.web_search import sources_of_result
from shared.message import Message, msg
from shared.visible import visible

Translate = Callable[[Message], str]

_SHOWN_OPEN = 5
"""A longer list is folded."""
_LONGEST_TIP = 300


def stored_sources(items: Iterable[Mapping[str, Any]]) -> tuple[WebSource, ...]:
    """The pages that a stored message names."""
    return sources_of_result({"sources": [{"url": item.get("link"), **item} for item in items]})


def sources_html(sources: tuple[WebSource, ...], translate: Translate, icon: Callable[[str], str]) -> str:
    """The list for the web page; "" without sources."""
    if not sources:
        return ""
    rows = "".join(f"<li>{_row(source, number)}</li>" for number, source in enumerate(sources, 1))
    opened = " open" if len(sources) <= _SHOWN_OPEN else ""
    title = html.escape(translate(_title(sources)))
    return (
        f'<details class="sources" data-fold="sources"{opened}><summary>{icon("chevron-right")}'
        f"{icon('globe')}<span>{title}</span></summary><ol>{rows}</ol></details>"
    )


def sources_plain(sources: tuple[WebSource, ...], translate: Translate, icon: str = "") -> str:
    """The list for the plain view; "" without sources."""
    if not sources:
        return ""
    rows = "<br>".join(_row(source, number) for number, source in enumerate(sources, 1))
    return f"<p>{icon} &nbsp;{html.escape(translate(_title(sources)))}<br>{rows}</p>"


def _title(sources: tuple[WebSource, ...]) -> Message:
    return msg("Sources from the web: {count}", count=len(sources))


def _row(source: WebSource, number: int) -> str:
    host = _host(source.url)
    title = _text(source.title) or _text(source.url)
    tip = _text(source.text)[:_LONGEST_TIP]
    said = " · ".join(_text(part) for part in (source.site or host, source.date) if part)
    page = title
    if host:
        named = f' title="{html.escape(html.unescape(tip))}"' if tip else ""
        page = f'<a href="{html.escape(source.url)}"{named}>{title}</a>'
    return (
        f'<span class="number">{_text(source.reference) or f"[{number}]"}</span> {page} '
        f'<span class="dim">{said}</span>'
    )


def _host(url: str) -> str:
    """The host of an address that may be opened; "" for any other."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return (parts.hostname or "") if parts.scheme.lower() in ("http", "https") else ""


def _text(text: str) -> str:
    return html.escape(" ".join(visible(text).split()))
