"""Process corners by their names: in conditions of goals, in studies, as sections of libraries.

TT, FF, SS, FS, SF: typical, fast, slow devices, the n-channel ones first.
"""

from __future__ import annotations

import re

from shared.late_patterns import late_pattern

USUAL_PROCESSES = ("TT", "FF", "SS", "FS", "SF")
"""Typical, fast and slow n- and p-channel devices; FS: fast n, slow p."""

_PARTS = {"typ": "T", "typical": "T", "nom": "T", "nominal": "T", "fast": "F", "slow": "S",
          "典型": "T", "标称": "T", "快": "F", "慢": "S"}  # fmt: skip
_WORD = r"typ(?:ical)?|nom(?:inal)?|fast|slow|典型|标称|[快慢]"
_TWO = r"tt|ff|ss|fs|sf"
_IN_A_SECTION = late_pattern(
    rf"(?<![a-z0-9])(?P<two>{_TWO})(?![a-z0-9])"
    rf"|(?<![a-z])(?P<one>{_WORD})(?:[-_ ]?n?(?:mos)?[-_ ]?(?P<other>{_WORD}))?(?![a-z])",
    re.IGNORECASE,
)
_KIND = r"(?:\s*(?:process|corners?|models?|library|section|case))"
_ANGLE = r"(?:\s*(?:工艺)?(?:角点?|库|模型))"
_SPEED = r"(?:typ(?:ical)?|nom(?:inal)?|fast|slow)"
_EVERY = (
    rf"\bworst[-\s]*(?:case\b{_KIND}*|(?:process\s+)?corners?\b)"
    r"|\b(?:all|any|each|every|across|over)\s+(?:of\s+)?(?:the\s+)?(?:all\s+)?(?:five\s+|5\s+)?"
    r"(?:process\s+)?corners?\b"
    rf"|最[坏差](?:情况|工况|{_ANGLE})|(?:所有|全部?|各个?|任意|五个)(?:工艺)?角点?"
)
_BEFORE = r"(?:\b(?:process\s+)?(?:corners?|process|section)\s*[:=：]?\s*|工艺角\s*[:=：为是]?\s*)"
_CAPITALS = late_pattern(
    rf"{_BEFORE}?(?<![A-Za-z0-9_.])(?P<two>TT|FF|SS|FS|SF)(?![A-Za-z0-9_])(?:{_KIND}+\b|{_ANGLE})?", re.ASCII
)
_ANY_CASE = late_pattern(
    rf"(?P<every>{_EVERY})"
    rf"|{_BEFORE}(?P<behind>{_TWO})\b|\b(?P<two>{_TWO})(?:{_KIND}+\b|{_ANGLE})"
    rf"|\b(?P<words>{_SPEED}(?:[-\s]+{_SPEED})?){_KIND}+\b"
    rf"|(?P<chinese>典型|标称|[快慢][-\s]*[快慢]?)速?{_ANGLE}",
    re.ASCII | re.IGNORECASE,
)
_BOTH = late_pattern(rf"\b({_SPEED})\s*(?:,|/|&|\band\b|\bor\b)\s*({_SPEED})({_KIND}+)\b", re.IGNORECASE)
_BETWEEN = late_pattern(r"\x00(?:\s*(?:,|/|&|\band\b|\bor\b|、|，|和|与|及|或)\s*\x00)+", re.IGNORECASE)


def corner_of(name: str) -> str:
    """The corner that a section or a process of this name is (``ss``, ``mos_ff``, ``slow``); "" for none."""
    found = [*_IN_A_SECTION.finditer(name)]
    return _meaning(found[0]) if len(found) == 1 else ""


def likened(name: str) -> str:
    """A name with its corner taken out: sections of one library that differ in nothing else are corners of
    the same devices (``tt_mm`` and ``ss_mm``)."""
    return _IN_A_SECTION.sub("*", name.lower())


def read_corners(text: str) -> tuple[tuple[str, ...], str]:
    """The corners that a condition names, each once, and the text without them.

    "Worst case" is all of them. The two letters by themselves count in capitals only.
    """
    corners: list[str] = []

    def take(found: re.Match[str]) -> str:
        groups = found.groupdict()
        if groups.get("every"):
            corners.extend(USUAL_PROCESSES)
        else:
            name = next(group for group in groups.values() if group)
            corners.append(corner_of("".join(name.split()) if groups.get("chinese") else name))
        return "\x00"

    text = _BOTH.sub(r"\1\3 and \2\3", text.replace("\x00", " "))
    rest = _ANY_CASE.sub(take, _CAPITALS.sub(take, text))
    return tuple(dict.fromkeys(corners)), _BETWEEN.sub(" ", rest).replace("\x00", " ")


def _meaning(found: re.Match[str]) -> str:
    if found["two"]:
        return found["two"].upper()
    first = _PARTS[found["one"].lower()]
    return first + (_PARTS[found["other"].lower()] if found["other"] else first)
