"""An edit of a text taken out of what became of the text later, line by line.

A merge of three texts refuses edits of neighboring lines; a netlist's lines are cards that stand alone, so
that it is enough when the lines of the edit themselves are still there as it left them.
"""

from __future__ import annotations

from difflib import SequenceMatcher


def without_edit(before: bytes, after: bytes, now: bytes) -> bytes | None:
    """`now` without the edit that made `after` of `before`; None where its lines are others by now."""
    old, new, present = (text.splitlines(keepends=True) for text in (before, after, now))
    place_of: dict[int, int] = {}
    for block in SequenceMatcher(None, new, present, autojunk=False).get_matching_blocks():
        place_of.update((block.a + each, block.b + each) for each in range(block.size))
    replaced: list[tuple[int, int, list[bytes]]] = []
    for tag, low, high, first, last in SequenceMatcher(None, new, old, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if high > low:
            places = [place_of.get(line) for line in range(low, high)]
            start = places[0]
            if start is None or places != list(range(start, start + high - low)):
                return None
            replaced.append((start, start + high - low, old[first:last]))
        else:  # lines it took out come back behind the one they stood behind
            start = place_of.get(low - 1, -2) + 1 if low else 0
            if start < 0:
                return None
            replaced.append((start, start, old[first:last]))
    for start, end, lines in reversed(replaced):
        present[start:end] = lines
    return b"".join(present)
