"""What the pins of a subcircuit are for: told by its library's comments, by the pins' own names, or by an
order that vendors keep to.

Orders: an op-amp's macromodel has in+, in-, V+, V-, out (G. Boyle et al., IEEE J. Solid-State Circuits 9,
1974, which PSpice's Parts and the vendors follow); pins 2, 3, 4, 6, 7 are those of the 8-pin package of a
single op-amp; 99 and 50 are the supplies in models of Analog Devices; 1, 2, 3 of a power MOSFET are drain,
gate, source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from domain.components.component import Component
from shared.late_patterns import late_pattern

Told = Literal["comments", "names", "order", ""]
"""What tells the uses; "": nothing does."""


class PinUses(NamedTuple):
    """The use of each pin, in the order of the `.subckt` card."""

    uses: tuple[str, ...]
    """One word each: a usual one, else what the library calls the pin."""
    told: Told

    @property
    def is_certain(self) -> bool:
        """Whether the library itself says it."""
        return self.told in ("comments", "names")


USES: tuple[str, ...] = (
    "in+", "in-", "V+", "V-", "out", "in", "gnd", "adj", "ref", "enable", "feedback", "trigger", "reset",
    "control", "threshold", "discharge", "drain", "gate", "source", "bulk", "collector", "base", "emitter",
    "anode", "cathode",
)  # fmt: skip
"""The usual words, which the proposed nodes and the benches of curves understand."""

_WORDS: tuple[tuple[str, str], ...] = (
    (
        "in+",
        r"non[- ]?inv\w*(?:[- ]?input)?|in\+|\+in|inp|vinp|vin\+|ip|plus|positive input|\+ ?input"
        r"|同相(?:输入)?端?",
    ),
    ("in-", r"inv\w*(?:[- ]?input)?|in-|-in|inn|vinn|vin-|minus|negative input|- ?input|反相(?:输入)?端?"),
    ("V+", r"v\+|\+v|vcc\+?|vdd|vs\+|\+vs|vpos|vp|positive (?:power )?supply|\+ ?supply|正电源"),
    ("V-", r"v-|-v|vee|vcc-|vss|vs-|-vs|vneg|vn|negative (?:power )?supply|- ?supply|负电源"),
    ("out", r"out|output|vout|vo|输出端?"),
    ("in", r"in|input|vin|vi|输入端?"),
    ("gnd", r"gnd|ground|agnd|com|common|地"),
    ("adj", r"adj\w*|调整端?"),
    ("ref", r"v?ref|reference"),
    ("enable", r"en|enable|shdn|shutdown|on/off"),
    ("feedback", r"fb|feedback"),
    ("trigger", r"trig\w*"),
    ("reset", r"reset|rst"),
    ("control", r"con(?:t|trol)?|ctrl"),
    ("threshold", r"thr\w*"),
    ("discharge", r"dis\w*"),
    ("drain", r"drain|漏极"),
    ("gate", r"gate|栅极"),
    ("source", r"source|源极"),
    ("bulk", r"bulk|body|substrate"),
    ("collector", r"collector|集电极"),
    ("base", r"base|基极"),
    ("emitter", r"emitter|发射极"),
    ("anode", r"an|anode|阳极"),
    ("cathode", r"ka|cathode|阴极"),
)  # fmt: skip
_PATTERNS = tuple((use, late_pattern(rf"(?:{pattern})", re.IGNORECASE)) for use, pattern in _WORDS)
_LETTERS = (
    {"c": "collector", "b": "base", "e": "emitter"},
    {"d": "drain", "g": "gate", "s": "source"},
    {"d": "drain", "g": "gate", "s": "source", "b": "bulk"},
    {"a": "anode", "k": "cathode"},
)
"""Single letters say something only together."""
_OF_PACKAGE = {"3": "in+", "2": "in-", "7": "V+", "4": "V-", "6": "out"}
_OP_AMP = ("in+", "in-", "V+", "V-", "out")
_NOT_IN_WORDS = late_pattern(r"[\s,;|*]+")


def usual_word(text: str) -> str:
    """The usual word for what a comment or a name says of a pin; "" for one that is unknown."""
    plain = text.strip().strip("()[]")
    return next((use for use, pattern in _PATTERNS if pattern.fullmatch(plain)), "")


def pin_uses(component: Component) -> PinUses:
    """The uses of a subcircuit's pins; each pin's own name where nothing tells them."""
    ports = component.ports
    if component.roles:
        return PinUses(tuple(_word_of(role) for role in component.roles), "comments")
    keys = [port.lower() for port in ports]
    for letters in _LETTERS:
        if set(keys) == letters.keys() and len(keys) == len(letters):
            return PinUses(tuple(letters[key] for key in keys), "names")
    named = [usual_word(port) for port in ports]
    if all(named) and len(set(named)) == len(named):
        return PinUses(tuple(named), "names")
    if ordered := _by_order(component.kind, keys):
        return PinUses(ordered, "order")
    told: Told = "names" if not any(key.isdigit() for key in keys) and any(named) else ""
    return PinUses(tuple(use or port for use, port in zip(named, ports, strict=True)), told)


def _by_order(kind: str, keys: Sequence[str]) -> tuple[str, ...]:
    numbers = all(key.isdigit() for key in keys)
    if kind in ("opamp", "comparator") and numbers and len(keys) == len(_OP_AMP):
        if set(keys) == _OF_PACKAGE.keys():
            return tuple(_OF_PACKAGE[key] for key in keys)
        if "99" in keys and "50" in keys:
            return _with_supplies(keys)
        return _OP_AMP
    if kind in ("nmos", "pmos") and numbers and len(keys) == 3:
        return ("drain", "gate", "source")
    return ()


def _with_supplies(keys: Sequence[str]) -> tuple[str, ...]:
    """99 and 50 are the supplies; the others keep their order."""
    others = iter(("in+", "in-", "out"))
    return tuple({"99": "V+", "50": "V-"}.get(key) or next(others) for key in keys)


def _word_of(role: str) -> str:
    return usual_word(role) or _NOT_IN_WORDS.sub("_", role.strip())[:40] or "?"


def pin_line(uses: Sequence[str]) -> str:
    """The comment that tells the uses to whoever reads the library; see `reading`."""
    return f"* pins: {' '.join(uses)}"


def wrong_use(uses: Sequence[str]) -> int | None:
    """The place of the first use that cannot be written: empty, or of two words."""
    return next((at for at, use in enumerate(uses) if not use or _NOT_IN_WORDS.search(use)), None)
