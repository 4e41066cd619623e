"""What a page is called: the deck's title as people read it."""

from __future__ import annotations

from domain.circuit.netlist import Netlist

_COMMENT = "*;#$"


def heading_of(netlist: Netlist) -> str:
    """Its title; of a deck that begins with a ruled line the first comment with words below it, else "".

    A first line ``.title X`` reads X. Below: comments only, up to the first card.
    """
    title = netlist.title.strip()
    if title[:6].lower() == ".title":
        title = title[6:].strip()
    title = title.lstrip("* ")
    if _has_words(title) or not netlist.title:
        return title
    source = netlist.source
    for number in range(2, len(source.lines) + 1):
        line = source.decode(source.line_text(number)).strip()
        if line and line[0] not in _COMMENT:
            break
        words = line.strip("*;#$=-~_+| \t")
        if _has_words(words):
            return words
    return ""


def _has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)
