"""Two changes of one text joined, where they do not touch.

The merge is that of merge3 (the algorithm of diff3: Khanna, Kunal, Pierce, "A Formal Investigation of
Diff3", 2007): lines that stand in all three texts part the text into regions, and a region that both sides
changed, differently, is a conflict. Changes of neighbouring lines count as one region: a card and its
continuation line are never put together from two versions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from domain.llm.tools.text_files import (
    BinaryFileError,
    NotEncodableError,
    TextFile,
    decode,
    line_opcodes,
    lines_of,
)

_MOST_BYTES = 2_000_000


def merge_files(base: bytes, mine: bytes, theirs: bytes) -> bytes | None:
    """What `base` becomes with the changes that led to `mine` and those that led to `theirs`.

    None when both changed the same or neighbouring lines, when one is no text or larger than 2 MB, or
    when their encodings differ.
    """
    if max(map(len, (base, mine, theirs))) > _MOST_BYTES:
        return None
    try:
        files = [decode(data) for data in (base, mine, theirs)]
    except BinaryFileError:
        return None
    if len({file.encoding for file in files}) != 1:
        return None
    text = merge_texts(*(file.text for file in files))
    if text is None:
        return None
    try:
        return TextFile(text=text, encoding=files[1].encoding).to_bytes()
    except NotEncodableError:
        return None


def merge_texts(base: str, mine: str, theirs: str) -> str | None:
    """As `merge_files`, for texts; None on a conflict."""
    from merge3 import Merge3

    old, one, other = (lines_of(text) for text in (base, mine, theirs))
    merge = Merge3(old, one, other, sequence_matcher=_Matcher)
    lines: list[str] = []
    for kind, *region in merge.merge_groups():
        if kind == "conflict":
            return None
        lines.extend(region[0])
    return "".join(lines)


class _Matcher:
    """difflib's matching blocks, common head and tail aside: files that are alike cost nothing."""

    def __init__(
        self,
        _isjunk: Callable[[str], bool] | None = None,
        a: Sequence[str] = (),
        b: Sequence[str] = (),
        autojunk: bool = False,  # noqa: ARG002 - as difflib has it
    ) -> None:
        self._a, self._b = a, b

    def get_matching_blocks(self) -> list[tuple[int, int, int]]:
        """Triples (place in a, place in b, length), closed by an empty one."""
        opcodes = line_opcodes(self._a, self._b)
        blocks = [(i1, j1, i2 - i1) for tag, i1, i2, j1, _ in opcodes if tag == "equal" and i2 > i1]
        return [*blocks, (len(self._a), len(self._b), 0)]
