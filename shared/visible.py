"""Texts that come from models and files, made safe to show on a terminal."""

from __future__ import annotations

from shared.late_patterns import late_pattern

_CONTROLS = {code: 0x2400 + code for code in range(32) if code not in (9, 10, 13)}
_CONTROLS |= {127: 0x2421} | dict.fromkeys(range(128, 160), 0xFFFD)
_CONTROLS |= dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD)
"""Escape sequences could drive a terminal; marks of writing direction could turn a text around."""
_LONE_RETURN = late_pattern(r"\r(?!\n)")


def visible(text: str) -> str:
    """`text` with its control characters (but tab and line ends) replaced by signs for them."""
    return text.translate(_CONTROLS)


def for_terminal(text: str) -> str:
    """The same, and nothing that would be written over what stands in the line."""
    return _LONE_RETURN.sub("\u240d", visible(text))


def one_line(text: str) -> str:
    """The same in one line: a file's name may hold line ends, and must not make up lines of a list."""
    return visible(text).translate({9: 0x2409, 10: 0x240A, 13: 0x240D})
