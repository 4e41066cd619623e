"""S-expressions as KiCad writes its files: ``(name "text" 1.27 (inner ...))``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Union

from shared.late_patterns import late_pattern

Node = list[Union[str, "Node"]]
"""A list: its name first, then texts and lists."""

_TOKEN = late_pattern(r'"(?:[^"\\]|\\.)*"|[()"]|[^\s()"]+', re.DOTALL)
_ESCAPE = late_pattern(r"\\(.)", re.DOTALL)
_MOST_TOKENS = 5_000_000
_DEEPEST = 200


class NotReadable(ValueError):
    """The text is no S-expression, or one of no sensible size."""


def read(text: str) -> Node:
    """The first list of `text`. Raises NotReadable."""
    top: Node = []
    open_lists = [top]
    for count, found in enumerate(_TOKEN.finditer(text)):
        word = found[0]
        if word == "(":
            inner: Node = []
            open_lists[-1].append(inner)
            open_lists.append(inner)
        elif word == ")":
            open_lists.pop()
            if len(open_lists) < 2:
                break
        elif word == '"':  # never closed
            raise NotReadable
        else:
            open_lists[-1].append(_unquoted(word) if word[0] == '"' else word)
        if count > _MOST_TOKENS or len(open_lists) > _DEEPEST:
            raise NotReadable
    if len(open_lists) != 1 or not top or isinstance(top[0], str):
        raise NotReadable
    return top[0]


def lists(node: Node, *names: str) -> Iterator[Node]:
    """The lists in `node` that have one of these names."""
    for each in node:
        if isinstance(each, list) and each and each[0] in names:
            yield each


def first(node: Node, name: str) -> Node:
    """The first list of that name in `node`; an empty one where there is none."""
    return next(lists(node, name), [])


def text_at(node: Node, place: int) -> str:
    """The text at a place of a list; "" where there is none."""
    found = node[place] if len(node) > place else ""
    return found if isinstance(found, str) else ""


def _unquoted(written: str) -> str:
    inner = written[1:-1]
    if "\\" not in inner:
        return inner
    return _ESCAPE.sub(lambda found: {"n": "\n", "r": "\r", "t": "\t"}.get(found[1], found[1]), inner)
