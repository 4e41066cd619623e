"""Texts as cells of a table that a spreadsheet opens."""

from __future__ import annotations

import re

_FORMULA = re.compile(r"[=\t\r]|[-+@](?=.*[\"'|!&])", re.DOTALL)
"""A sign alone may begin an expression (``-v(out)``, ``@m1[id]``), which reaches for nothing."""


def plain_cell(text: str) -> str:
    """The text, with a quote before it where a spreadsheet would run it: names in decks and results are a
    stranger's (``=HYPERLINK("http://..."&A1)``)."""
    return f"'{text}" if _FORMULA.match(text) else text
