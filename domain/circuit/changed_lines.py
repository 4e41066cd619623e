"""Which lines of a text an edit changed."""

from __future__ import annotations

from difflib import SequenceMatcher

_MOST_COMPARED = 400
"""Lines between the first and the last changed one that are told apart; more are one change."""


def changed_places(before: bytes, after: bytes) -> tuple[int, ...]:
    """The line (from 1, in `after`) where each change begins; () for equal texts.

    As many lines in place of as many are a change each. Of lines that were taken out, the one that stands in
    their place.
    """
    was, became = before.splitlines(), after.splitlines()
    start = 0
    while start < min(len(was), len(became)) and was[start] == became[start]:
        start += 1
    end = 0
    while end < min(len(was), len(became)) - start and was[-1 - end] == became[-1 - end]:
        end += 1
    old, new = was[start : len(was) - end], became[start : len(became) - end]
    if not old and not new:
        return ()
    if max(len(old), len(new)) > _MOST_COMPARED:
        return (start + 1,)
    parts = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(
        start + 1 + first + each
        for kind, low, high, first, last in parts
        if kind != "equal"
        for each in range(last - first if last - first == high - low else 1)
    )


def first_change(before: bytes, after: bytes) -> tuple[int, str, str]:
    """The first line (from 1) of `after` that is another, what stood there, and what stands there."""
    was, became = (text.decode("utf-8", errors="replace").splitlines() for text in (before, after))
    same = 0
    while same < min(len(was), len(became)) and was[same] == became[same]:
        same += 1
    more = len(became) - len(was)
    old = was[same] if same < len(was) and more <= 0 else ""
    new = became[same] if same < len(became) and more >= 0 else ""
    return same + 1, old.strip(), new.strip()


def parts_of(before: bytes, after: bytes) -> tuple[tuple[bytes, bytes], ...]:
    """An edit as single changes from the top: of each the text before it, with all changes above and none
    below, and the text with it. As many lines in place of as many are a change each.
    """
    was, became = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if max(len(was), len(became)) > _MOST_COMPARED * 10:
        return ((before, after),) if before != after else ()
    pieces: list[tuple[int, int, int, int]] = []
    for kind, old, old_end, new, new_end in SequenceMatcher(None, was, became, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if old_end - old == new_end - new:
            pieces += [(old + n, old + n + 1, new + n, new + n + 1) for n in range(old_end - old)]
        else:
            pieces.append((old, old_end, new, new_end))
    return tuple(
        (b"".join([*became[:new], *was[old:]]), b"".join([*became[:new_end], *was[old_end:]]))
        for old, old_end, new, new_end in pieces
    )
