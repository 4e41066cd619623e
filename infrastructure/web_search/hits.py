"""What an engine found, made safe: no markup, no invisible characters, addresses that can be opened.

Titles and excerpts are written by strangers who know that models read them.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from domain.llm.chat import WebSource
from infrastructure.web_search.engines import Names, SearchEngine

LONGEST_TITLE = 120
LONGEST_TEXT = 400
_LONGEST_URL = 500
_LONGEST_WORD = 40
_LONGEST_READ = 4_000
"""Characters of a field that are looked at at all."""

_ELEMENTS = (
    "a|abbr|address|applet|area|article|aside|audio|b|base|bdi|bdo|big|blockquote|body|br|button|canvas|"
    "center|code|col|dd|del|details|dfn|dialog|dir|div|dl|dt|em|embed|fieldset|figure|font|footer|form|"
    "frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|i|iframe|img|input|ins|kbd|label|legend|li|link|"
    "main|map|mark|math|meta|nav|noscript|object|ol|option|p|param|picture|pre|q|s|samp|script|section|"
    "select|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|"
    "tfoot|th|thead|time|title|tr|u|ul|var|video|wbr"
)
"""Names of elements of HTML; what else stands between angle brackets is text."""
_HIDDEN = re.compile(r"<(script|style|template|noscript)\b.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)", re.I | re.S)
_TAG = re.compile(rf"</?(?:{_ELEMENTS})(?=[\s/>])[^<>]*(?:>|(?=<)|$)", re.IGNORECASE)
_ROUNDS = 4
"""Tags may be hidden in entities, and in each other."""


def sources_of(payload: Any, engine: SearchEngine, *, count: int) -> tuple[WebSource, ...]:
    """The first `count` pages of an answer that have a usable address, each address once.

    Raises ValueError when the answer has no list of pages where the engine has one.
    """
    found: dict[str, WebSource] = {}
    for item in _items(payload, engine):
        if not isinstance(item, Mapping):
            continue
        url = _url(_field(item, engine.url_field))
        if not url or url in found:
            continue
        found[url] = WebSource(
            title=plain_text(_field(item, engine.title_field), LONGEST_TITLE) or urlsplit(url).netloc,
            url=url,
            text=plain_text(_field(item, engine.text_field), LONGEST_TEXT),
            site=plain_text(_field(item, engine.site_field), _LONGEST_WORD),
            date=_date(_field(item, engine.date_field)),
        )
        if len(found) == count:
            break
    return tuple(found.values())


def _items(payload: Any, engine: SearchEngine) -> list[Any]:
    if not isinstance(payload, Mapping):
        raise ValueError("no JSON object")
    place: Any = payload
    for name in engine.results:
        # Without a hit some engines leave the list out, or the object around it.
        place = place.get(name) if isinstance(place, Mapping) else None
    if place is None and (engine.results[0] in payload or len(engine.results) > 1 or engine.id_field):
        return []
    if not isinstance(place, list):
        raise ValueError(f"no list “{'.'.join(engine.results)}”")
    return place


def _field(item: Mapping[str, Any], names: Names) -> str:
    found = (item.get(name) for name in names)
    return next((value[:_LONGEST_READ] for value in found if isinstance(value, str) and value.strip()), "")


def plain_text(text: str, longest: int) -> str:
    """One line without markup and without characters nobody sees, at most `longest` characters."""
    for _ in range(_ROUNDS):
        before = text
        seen = "".join(char for char in html.unescape(text) if not _is_invisible(char))
        text = _TAG.sub(" ", _HIDDEN.sub(" ", seen))
        if text == before:
            break
    else:  # packed more often than anybody does by mistake
        text = text.replace("<", " ").replace("&", " ")
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def _is_invisible(char: str) -> bool:
    """Control characters, marks of writing direction, tag characters, halves of characters."""
    return not char.isspace() and unicodedata.category(char).startswith("C")


def _url(text: str) -> str:
    """The address, if it is one of a page that may be opened; else ""."""
    text = text.strip()
    if len(text) > _LONGEST_URL or any(char.isspace() or _is_invisible(char) for char in text):
        return ""
    try:
        parts = urlsplit(text)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return ""
    is_page = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and has_port
    # A name in front of the host serves to look like another host.
    return text if is_page and parts.username is None and not set(text) & set("<>\"'`\\{}|^") else ""


def _date(text: str) -> str:
    """The day where it can be told, else the engine's words ("3 days ago")."""
    words = plain_text(text, _LONGEST_WORD)
    try:
        return datetime.fromisoformat(words).date().isoformat()
    except ValueError:
        return words
