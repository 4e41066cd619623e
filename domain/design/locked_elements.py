"""Elements that the user wants left as they are, from what was said in a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from domain.circuit.netlist import Netlist
from shared.late_patterns import late_pattern

_NAME = r"(?:[RCLQMDVIJXEGFHB][A-Za-z0-9_]{0,7})"
_NAMES = rf"{_NAME}(?:\s*+(?:,|、|/|&|\band\b|\bor\b|\bnor\b|和|与|或|及)\s*+{_NAME}){{0,60}}+"
"""A list of parts may have thousands: it is not gone through again from each of them."""
_LOCKING = late_pattern(
    rf"\b(?:don't|don’t|do\s+not|dont|never|without|not\s+to|must\s+not|mustn't)\s+"
    rf"(?:touch|chang|modify|alter|mov|replac)(?:e|ing)?\s+(?:the\s+)?(?P<a>{_NAMES})"
    rf"|\b(?:keep|leave|hold)(?:ing)?\s+(?:the\s+)?(?P<b>{_NAMES})\s*"
    r"(?=(?:as\s+(?:it|they)|unchanged|untouched|fixed|alone|constant|where|the\s+same)\b)"
    rf"|\b(?:lock|freeze|pin)\s+(?:the\s+)?(?P<c>{_NAMES})"
    rf"|\b(?P<d>{_NAMES})\s+(?:must|should|has\s+to|have\s+to|shall)\s+(?:not\s+(?:be\s+)?change|stay|remain)"
    rf"|(?:别|不要|不能|不许|不得|勿)(?:再)?(?:去)?(?:动|改动|改变|修改|调整|更换|换|碰|改|把)\s*(?P<e>{_NAMES})"
    rf"|(?:保持|固定|锁定)\s*(?P<f>{_NAMES})"
    rf"|(?P<g>{_NAMES})\s*(?:的值)?(?:保持)?(?:不变|不动|不要动|不要改|别动|别改|不能改|固定|锁定)",
    re.IGNORECASE,
)
_FREEING = late_pattern(
    rf"\b(?:may|can|could|should)\s+(?:now\s+|again\s+)?(?:change|touch|alter|modify)\s+(?:the\s+)?(?P<a>{_NAMES})"
    rf"|\b(?:unlock|free|release)\s+(?P<b>{_NAMES})"
    rf"|\b(?P<c>{_NAMES})\s+(?:may|can)\s+(?:now\s+|again\s+)?(?:be\s+changed|change)"
    rf"|\b(?P<f>{_NAMES})\s+(?:is|are)\s+(?:now\s+)?(?:free|released|unlocked|no\s+longer\s+(?:locked|fixed))"
    rf"|(?:^|[.!?;,:\n]|\b(?:please|now|then|and|so|ok|okay|just))\s*"
    rf"(?:change|set|make|put|increase|decrease|raise|lower|reduce|replace)\s+(?:the\s+)?(?P<g>{_NAMES})"
    rf"|(?:可以|能)(?:改|动|调整)\s*(?P<d>{_NAMES})|(?:解锁|放开)\s*(?P<h>{_NAMES})"
    rf"|(?P<e>{_NAMES})\s*(?:现在|又|也)?(?:可以|能)(?:改|动|变|调)"
    rf"|[把将]?\s*(?P<i>{_NAMES})\s*(?:改[成为到]|换[成为]|调[成为到]|增大|减小|取|设为)",
    re.IGNORECASE,
)


_IN_BRACES = re.compile(r"\{([^{}]*)\}|'([^']*)'")
_WORD = re.compile(r"[A-Za-z_]\w*")


def locked_elements(said: Iterable[str], elements: Iterable[str]) -> tuple[str, ...]:
    """Those of a circuit's `elements` that what was said, oldest first, forbids to change.

    What says later that one may be changed, or orders it, frees it.
    """
    known = {name.lower(): name for name in elements}
    locked: dict[str, None] = {}
    for text in said:
        forbidden = [*_LOCKING.finditer(text)]
        for found in forbidden:
            locked |= dict.fromkeys(_named(found, known))
        for found in _FREEING.finditer(text):
            if not any(found.start() < each.end() and each.start() < found.end() for each in forbidden):
                for name in _named(found, known):
                    locked.pop(name, None)
    return tuple(known[name] for name in locked)


def locked_changes(
    said: Sequence[str], before: bytes, after: bytes, *, has_title: bool = True
) -> tuple[str, ...]:
    """The elements of a file that are to stay as they are (`locked_elements`), and are others in `after`.

    `has_title`: see `Netlist.parse`.
    """
    if not any(_LOCKING.search(text) for text in said):
        return ()
    old, new = (_cards(Netlist.parse(data, has_title=has_title)) for data in (before, after))
    changed = [path[-1] for path, card in old.items() if new.get(path) != card]
    return locked_elements(said, changed)


def _cards(netlist: Netlist) -> Mapping[tuple[str, ...], str]:
    """By scope and name: an element's card with the parameters that stand in it."""
    values = {each.name.lower(): each.value.text for each in netlist.parameters}
    found = {}
    for element in netlist.elements:
        card = " ".join(element.statement.text.split()).lower()
        used = {word for part in _IN_BRACES.findall(card) for word in _WORD.findall("".join(part))}
        parameters = [f"{name}={values[name]}" for name in sorted(used & values.keys())]
        place = (*(scope.lower() for scope in element.scope), element.name)
        found[place] = " ".join([card, *parameters])
    return found


def _named(found: re.Match[str], known: dict[str, str]) -> list[str]:
    group = next(text for text in found.groups() if text)
    return [name.lower() for name in re.findall(_NAME, group, re.IGNORECASE) if name.lower() in known]
