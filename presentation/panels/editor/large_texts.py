"""What is done otherwise with large texts, and how the window says so."""

from __future__ import annotations

from shared.message import Message, msg

LARGEST_NAMED = 2_000_000
"""Characters of a text whose names are read at each pause of typing: about a second of computing."""
LARGEST_CHECKED = 5_000_000
"""Of one that is checked and colored: some ten seconds of computing at each pause."""
LARGEST_KEPT = 20_000_000
"""Bytes of a text whose unsaved state is kept over an unexpected end: it is written three times a second."""
_MB = 1_000_000


def told_of_size(name: str, size: int, *, is_spice: bool) -> Message | None:
    """What a text of so many characters is shown without, and why; None for one that has everything."""
    if size > LARGEST_KEPT:
        return msg(
            "{name} has {size} MB. It is shown plainly: texts over {limit} MB are not checked, colored or "
            "searched for names, which would take too long after each key. Save often: unsaved text over "
            "{kept} MB is not kept if the program ends unexpectedly.",
            name=name, size=size // _MB, limit=LARGEST_CHECKED // _MB, kept=LARGEST_KEPT // _MB,
        )  # fmt: skip
    if size > LARGEST_CHECKED:
        return msg(
            "{name} has {size} MB. It is shown plainly: texts over {limit} MB are not checked, colored or "
            "searched for names, which would take too long after each key.",
            name=name, size=size // _MB, limit=LARGEST_CHECKED // _MB,
        )  # fmt: skip
    if size > LARGEST_NAMED and is_spice:
        return msg(
            "{name} has {size} MB. Names are not read in texts over {limit} MB, which would take too long "
            "after each key: completion offers templates and directives only.",
            name=name, size=size // _MB, limit=LARGEST_NAMED // _MB,
        )  # fmt: skip
    return None
