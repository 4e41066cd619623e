"""What a search for components means: kinds, figures with their limits, words.

``npn vceo>40``, ``dual op-amp above 5 MHz``, ``双运放 5 MHz 以上``, ``resistor 4.7k``. A figure with no limit
in front of it is one that suffices: ratings at least, on-resistances and recovery times at most, Zener
voltages about.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from domain.circuit.numbers import read_number
from domain.components.component import GROUPS
from domain.components.described import BY_UNIT, QUANTITIES, kinds_asked, value_of
from shared.late_patterns import late_pattern

LONGEST_QUERY = 200
_MOST_WORDS = 8

_ABOVE = r">|more than|greater than|higher than|above|over|大于|高于|超过|多于"
_AT_LEAST = r">=|=>|≥|at least|min(?:imum)?\.?|from|不低于|至少|不小于"
_BELOW = r"<|less than|lower than|below|under|小于|低于|少于"
_AT_MOST = r"<=|=<|≤|at most|max(?:imum)?\.?|up to|不超过|最多|不大于|不高于"
_EQUAL = r"=|about|around|约|大约|等于"
_NAMES = "|".join(f"(?P<q_{key}>{pattern})" for key, pattern in QUANTITIES)
_CONDITION = late_pattern(
    rf"(?:(?<![A-Za-z0-9_])(?:{_NAMES})\s*)?"
    rf"(?:(?P<at_least>{_AT_LEAST})|(?P<at_most>{_AT_MOST})|(?P<above>{_ABOVE})|(?P<below>{_BELOW})|(?P<equal>{_EQUAL}))?"
    r"\s*(?<![A-Za-z0-9_.])(?P<number>\d{1,9}(?:[.,]\d{1,9})?(?:e[+-]?\d{1,2})?)\s?"
    r"(?P<prefix>meg|[TGMkmuµμnp])?(?P<unit>V/(?:u|µ|μ)s|Hz|Ohms?|Ω|Ω|V|A|W|s|欧姆|伏|安)?(?![A-Za-z0-9/.-])"
    r"\s*(?P<after>以上|以下|or more|or less|or better)?",
    re.IGNORECASE,
)
_NAME = late_pattern(r"[^\s<>=]+", re.ASCII)
"""One word; with Chinese in it, it may be a whole sentence."""
_VALUE = late_pattern(
    r"(?<![\w.])\d{1,9}(?:[.,]\d{1,9})?\s?(?:meg|[TGMkKmRuµμnpf])?\d{0,3}\s?"
    r"(?:ohms?|Ω|\u2126|F|H)?(?![\w.])",
    re.IGNORECASE,
)
_LETTER_AS_POINT = late_pattern(r"(\d+)([kKMRmunp])(\d+)")
_STOP_WORDS = frozenset(
    word
    for words in (
        "a an the me find search with for and of in to part parts component components model models please",
        "show any that has have some get need want which is 找 一个 个 的 和 请 推荐 需要 有 带",
    )
    for word in words.split()
)
_SYNONYMS = {
    "双": "dual",
    "四": "quad",
    "单": "single",
    "功率": "power",
    "开关": "switching",
    "小信号": "small-signal",
}
_AS_FAR_AS = 0.05
"""How far "about" goes, and a Zener voltage."""
_PASSIVE_UNITS = {"o": "resistor", "Ω": "resistor", "\u2126": "resistor", "f": "capacitor", "h": "inductor"}


class Condition(NamedTuple):
    """A figure must be within these; an end that is open is not the value itself."""

    quantity: str
    low: float
    high: float
    is_open: bool
    """A limit itself is not enough."""


class ComponentQuery(NamedTuple):
    """What is looked for."""

    text: str = ""
    """As typed, without what is around it."""
    words: tuple[str, ...] = ()
    """Case folded; each must be in the name, the title or the file's name."""
    kinds: tuple[str, ...] = ()
    """() = any."""
    conditions: tuple[Condition, ...] = ()
    value: float | None = None
    """Of a resistor, capacitor or inductor."""

    @property
    def key(self) -> str:
        """The text as a name is compared."""
        return self.text.casefold()


def read_query(text: str) -> ComponentQuery:
    """What a text asks for; any text asks for something."""
    # Half a pair of UTF-16 can be pasted, and be stored nowhere.
    plain = " ".join(text[:LONGEST_QUERY].encode("utf-8", "replace").decode().split())
    left, kinds, groups = kinds_asked(plain)
    if left.strip() and plain.isascii() and _NAME.fullmatch(plain) and _value_in(plain) is None:
        return ComponentQuery(plain, (plain.casefold(),))
    chosen = kinds or tuple(kind for group in groups for kind in GROUPS[group][1])
    if (passive := _passive(plain, left, chosen)) is not None:
        return passive
    conditions: list[Condition] = []

    def take(match: re.Match[str]) -> str:
        condition = _condition(match, chosen)
        if condition is None:
            return match[0]
        conditions.append(condition)
        return " "

    left = _CONDITION.sub(take, left)
    words = [
        _SYNONYMS.get(word, word) for word in re.findall(r"[^\s,;()，。、？?！!“”\"<>=]+", left.casefold())
    ]
    kept = tuple(word for word in words if word not in _STOP_WORDS and word != "-")[:_MOST_WORDS]
    return ComponentQuery(plain, tuple(map(_singular, kept)), chosen, tuple(conditions))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("s") and word.isalpha() else word


def _condition(match: re.Match[str], kinds: tuple[str, ...]) -> Condition | None:
    quantity = next((key for key, _ in QUANTITIES if match[f"q_{key}"]), "")
    value, unit = value_of(match)
    quantity = quantity or BY_UNIT.get(unit, "")
    relation = next((name for name in ("at_least", "at_most", "above", "below", "equal") if match[name]), "")
    relation = {"以上": "at_least", "or more": "at_least", "or better": "at_least", "以下": "at_most",
                "or less": "at_most"}.get((match["after"] or "").lower(), relation)  # fmt: skip
    if not quantity or not math.isfinite(value):
        return None
    if quantity == "v" and kinds == ("zener",):
        quantity = "vz"
    if not relation:
        relation = {"ron": "at_most", "trr": "at_most", "vz": "equal", "vth": "equal"}.get(
            quantity, "at_least"
        )
    if relation == "equal":
        return Condition(quantity, value * (1 - _AS_FAR_AS), value * (1 + _AS_FAR_AS), is_open=False)
    if relation in ("above", "at_least"):
        return Condition(quantity, value, math.inf, is_open=relation == "above")
    return Condition(quantity, 0.0, value, is_open=relation == "below")


def _passive(plain: str, left: str, kinds: tuple[str, ...]) -> ComponentQuery | None:
    """The query for a value: of a kind that is named, or told by its unit or prefix."""
    asked = tuple(kind for kind in kinds if kind in ("resistor", "capacitor", "inductor"))
    rest = left if asked else plain
    match = _VALUE.search(rest)
    if match is None or (kinds and not asked):
        return None
    if not asked and match[0].strip() != rest.strip():
        return None
    read = _value_in(match[0])
    if read is None:
        return None
    value, told = read
    if not asked and not told:
        return None
    return ComponentQuery(plain, (), asked or told, (), value)


def _value_in(text: str) -> tuple[float, tuple[str, ...]] | None:
    """The value of ``4k7``, ``100n``, ``10 µF`` and the kinds it may be of; None for another text."""
    text = text.strip()
    unit = re.search(r"(?:ohms?|Ω|Ω|F|H)$", text, re.IGNORECASE)
    bare = text[: unit.start()].strip() if unit else text
    if unit is not None and not bare:
        return None
    bare = _LETTER_AS_POINT.sub(lambda m: f"{m[1]}.{m[3]}{'' if m[2] in 'Rr' else m[2]}", bare, count=1)
    bare = re.sub(r"\s", "", bare).replace(",", ".").replace("μ", "u")
    if bare.endswith("M"):
        bare = f"{bare}eg"
    bare = bare.removesuffix("R")
    number = read_number(bare)
    if number is None or number.rest or number.unit or number.value <= 0:
        return None
    if unit is not None:
        return number.value, (
            _PASSIVE_UNITS[unit[0][0] if unit[0][0] in _PASSIVE_UNITS else unit[0][0].lower()],
        )
    if not number.suffix and bare == text:
        return number.value, ()
    is_small = number.suffix.lower() in ("p", "n", "u", "µ", "f")
    return number.value, ("capacitor", "inductor") if is_small else ("resistor",)
