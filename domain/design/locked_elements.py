"""Elements that the user wants left as they are, from what was said in a design."""

from __future__ import annotations

import re
from collections.abc import Iterable

from shared.late_patterns import late_pattern

_NAME = r"(?:[RCLQMDVIJXEGFHB][A-Za-z0-9_]{0,7})"
_NAMES = rf"{_NAME}(?:\s*(?:,|、|/|&|\band\b|\bor\b|\bnor\b|和|与|或|及)\s*{_NAME})*"
_LOCKING = late_pattern(
    rf"\b(?:don't|don’t|do\s+not|dont|never|without|not\s+to|must\s+not|mustn't)\s+"
    rf"(?:touch|chang|modify|alter|mov|replac)(?:e|ing)?\s+(?:the\s+)?(?P<a>{_NAMES})"
    rf"|\b(?:keep|leave|hold)(?:ing)?\s+(?:the\s+)?(?P<b>{_NAMES})\s*"
    r"(?=(?:as\s+(?:it|they)|unchanged|untouched|fixed|alone|constant|where|the\s+same)\b)"
    rf"|\b(?:lock|freeze|pin)\s+(?:the\s+)?(?P<c>{_NAMES})"
    rf"|\b(?P<d>{_NAMES})\s+(?:must|should|has\s+to|have\s+to|shall)\s+(?:not\s+(?:be\s+)?change|stay|remain)"
    rf"|(?:别|不要|不能|不许|不得|勿)(?:再)?(?:去)?(?:动|改动|改变|修改|调整|更换|换|碰|改)\s*(?P<e>{_NAMES})"
    rf"|(?:保持|固定|锁定)\s*(?P<f>{_NAMES})"
    rf"|(?P<g>{_NAMES})\s*(?:的值)?(?:保持)?(?:不变|不动|不要动|不要改|别动|别改|不能改|固定|锁定)",
    re.IGNORECASE,
)
_FREEING = late_pattern(
    rf"\b(?:may|can|could|should)\s+(?:now\s+|again\s+)?(?:change|touch|alter|modify)\s+(?:the\s+)?(?P<a>{_NAMES})"
    rf"|\b(?:unlock|free|release)\s+(?P<b>{_NAMES})"
    rf"|\b(?P<c>{_NAMES})\s+(?:may|can)\s+(?:now\s+|again\s+)?(?:be\s+changed|change)"
    rf"|(?:可以改|可以动|可以调整|解锁|放开)\s*(?P<d>{_NAMES})|(?P<e>{_NAMES})\s*(?:可以改|可以动|可以变)",
    re.IGNORECASE,
)


def locked_elements(said: Iterable[str], elements: Iterable[str]) -> tuple[str, ...]:
    """Those of a circuit's `elements` that what was said, oldest first, forbids to change."""
    known = {name.lower(): name for name in elements}
    locked: dict[str, None] = {}
    for text in said:
        for found in _LOCKING.finditer(text):
            locked |= dict.fromkeys(_named(found, known))
        for found in _FREEING.finditer(text):
            for name in _named(found, known):
                locked.pop(name, None)
    return tuple(known[name] for name in locked)


def _named(found: re.Match[str], known: dict[str, str]) -> list[str]:
    group = next(text for text in found.groups() if text)
    return [name.lower() for name in re.findall(_NAME, group, re.IGNORECASE) if name.lower() in known]
