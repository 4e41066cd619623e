"""New values of parts as a sentence tells them, and as SPICE reads them."""

from __future__ import annotations

import re

from infrastructure.llm_adapters.builtin.words import (
    ANY_CASE,
    FILLER,
    TIMES_NOW,
)

NUMBER = r"\d+(?:\.\d+)?(?:e[-+]?\d+)?"
UNIT = (
    r"(?:ohms?|Ω|hz|farads?|henr(?:y|ies)|volts?|amps?|seconds?|[fhvas]"
    r"|欧姆?|赫兹?|法拉?|亨利?|伏特?|安培?|秒)"
)
PREFIX = r"(?:meg|(?-i:[fpnuµμmkgtPNUMKGT])|[皮纳微毫千兆吉])"
"""A capital F is the unit farad."""
_VALUE = (
    r"(?P<value>\{[^{}]+\}|[-+]?(?:\d+[krunpµμm]\d+"
    rf"|{NUMBER}\s?{PREFIX}?\s?{UNIT}?))(?![A-Za-z0-9])"
)
ASSIGNMENT = re.compile(
    r"(?<![A-Za-z0-9_.])(?P<name>[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)?|(?:负载|电源|输入|供电)(?:电阻|电压)?|占空比|电阻|电容|电感)(?:'s)?"
    r"(?P<more>(?:\s*(?:,|、|和|与|\band\b|&|=)\s*[A-Za-z][A-Za-z0-9_]*)*)(?:\s*(?:both|都|各|均|全部?|的值)\s*)?"
    r"(?:\s*(?:的|the )?(?:value|resistance|capacitance|inductance|值|阻值|容值|感值|电阻|电容|电感))?"
    rf"(?:\s+(?:in|of|inside)(?:\s+the)?(?:\s+(?:file|circuit))?)?(?:\s*(?:from|从|由)\s*{NUMBER}\w*)?"
    r"(?:\s+(?:sags?|droops?|dips?|drops?|falls?|sinks?|rises?|climbs?|creeps?))?(?:\s+(?:up|down|back))?\s*(?:\bto\b|\bas\b|\bat\b|:?=|修?改[为成到]|设置?[为成到]|调整?[为成到]|换[为成]|变[为成]"
    rf"|增大到|减小到|提高到|降低?到|[给加弄]到|[为到]|[改换](?=\s*\d)|(?:\s*{NUMBER}\s?{PREFIX}?\s?{UNIT}?)?\s*(?:[-=]>|→))\s*{_VALUE}",
    ANY_CASE,
)
DIRECT = re.compile(
    rf"\b(?:[Mm]ake|[Ss]et|[Pp]ut)\s+(?P<name>[A-Z][A-Za-z0-9]{{0,5}})\s+(?i:{_VALUE})(?=\s*(?:$|[.,;!?]|and\b|please\b))"
)
"""A value without a word between: "make RC 4k7"."""
_REPLACED = re.compile(
    rf"\b(?i:swap|replace|change|exchange)\s+(?P<name>[A-Z][A-Za-z0-9]{{0,5}})\s+(?i:for|by|with|against)\s+(?:an?\s+)?(?i:{_VALUE})"
)
"""Another value in place of the one that is there: "swap C2 for 22n"."""
_LOADS = {
    "load": "RL", "负载": "RL", "负载电阻": "RL", "supply": "supply", "电源": "supply", "电源电压": "supply",
    "供电": "supply", "供电电压": "supply", "输入电压": "supply", "duty": "duty", "占空比": "duty",
    "输入": "input", "cycle": "duty", "input": "input",
}  # fmt: skip
_QUANTITIES = frozenset(
    {"current", "voltage", "power", "frequency", "resistance", "width", "length", "ripple"}
)
"""No names of parts although values are told of them."""
_BY_SHARE = re.compile(
    r"\b(?i:(?P<less>reduce|lower|decrease|drop|shrink|cut)|increase|raise|bump|grow)\s+(?i:the\s+)?(?P<name>[A-Z]\w{0,6})\s+(?i:by)\s+"
    r"(?P<share>\d+(?:\.\d+)?)\s*%|(?P<zh>[A-Za-z]\w{0,6})\s*(?:的值)?(?:(?P<zh_less>减小|降低|减少|调小)|增大|加大|增加|提高|调大)了?\s*"
    r"(?P<zh_share>\d+(?:\.\d+)?)\s*%"
)
"""A value by a share more or less: "increase R1 by 20 %"."""
SYMBOLS = frozenset({"supply", "duty", "RL"})
"""Names that only the circuit knows."""
BARE_CHANGE = re.compile(
    rf"[A-Z][A-Za-z0-9_]{{0,6}}\s*(?:to|=|:|->|→|改|换|用|[到成为])\s*{_VALUE}", ANY_CASE
)
"""A change without a verb: "CE to 100u"."""
FIGURES_BY_NAME = re.compile(r"Q|BW|fc|f0|THD|PM|GBW", ANY_CASE)
"""What is no part although it looks like one."""
_PLACED = re.compile(r"^\w+\s+at\s", ANY_CASE)


def changes_in(text: str) -> tuple[tuple[str, str], ...]:
    found = [*ASSIGNMENT.finditer(text), *DIRECT.finditer(text), *_REPLACED.finditer(text)]
    named: list[tuple[str, str]] = []
    for each in found:
        word = each["name"]
        if word.lower() in FILLER:
            continue  # "if vin goes to 15V", "run it at -40"
        if (
            word.islower()
            and word.isalpha()
            and len(word) > 2
            and word not in _LOADS
            and (_PLACED.search(each[0]) or word in _QUANTITIES)
        ):
            continue  # "does it work at 9 V"
        more = each.groupdict().get("more") or ""
        names = [each["name"], *re.findall(r"[A-Za-z][A-Za-z0-9_]*", re.sub(r"\band\b", " ", more))]
        named += [(_called(name, each["value"]), each["value"]) for name in names]
    for each in _BY_SHARE.finditer(text):
        share = float(each["share"] or each["zh_share"]) / 100
        is_less = each["less"] or each["zh_less"]
        named.append((each["name"] or each["zh"], f"*{1 - share if is_less else 1 + share:g}"))
    for each in TIMES_NOW.finditer(text):
        name = each["a"] or each["b"] or each["c"] or each["d"]
        named.append((name, "*2" if each["a"] or each["c"] else "*0.5"))
    return tuple(
        dict.fromkeys(
            (name, value if value.startswith("*") else spice_value(value, name)) for name, value in named
        )
    )


def _called(name: str, value: str) -> str:
    """What a name stands for; a load may be told by its current."""
    own = _LOADS.get(name.lower(), name)
    return "load_i" if own == "RL" != name and _IN_AMPERES.search(value) else own


_IN_AMPERES = re.compile(r"(?:amps?|a|安培?)$", re.IGNORECASE)
PREFIXES = {
    "皮": "p", "纳": "n", "微": "u", "毫": "m", "千": "k", "兆": "Meg", "吉": "G",
    "µ": "u", "μ": "u", "K": "k",
}  # fmt: skip
_PARTS = re.compile(rf"(?P<number>[-+]?{NUMBER})\s?(?P<prefix>{PREFIX})?\s?(?P<unit>{UNIT})?", ANY_CASE)
_OF_MEGA = ("ohm", "ω", "欧", "hz", "赫")
"""Units (in lower case) of which one says mega, never milli."""
_INFIX = re.compile(r"(?P<sign>[-+]?)(?P<whole>\d+)(?P<prefix>[krunpµμm])(?P<decimals>\d+)", ANY_CASE)


def spice_value(text: str, name: str) -> str:
    """A value as SPICE reads it: no unit (``1F`` would be a femto), ``4k7`` as 4.7k, an engineer's M as Meg.

    M is mega where a resistance or a frequency is meant; on its own and elsewhere SPICE's milli stays.
    """
    text = text.strip()
    if text.startswith("{"):
        return text
    if infix := _INFIX.fullmatch(text):
        number, prefix, unit = f"{infix['sign']}{infix['whole']}.{infix['decimals']}", infix["prefix"], ""
        prefix = "" if prefix in "Rr" else prefix
    else:
        parts = _PARTS.fullmatch(text)
        if parts is None:
            return text
        number, prefix, unit = parts["number"], parts["prefix"] or "", (parts["unit"] or "").lower()
    is_mega = prefix == "M" and (
        name[:1] in "rR" or unit.startswith(("ohm", "Ω".lower(), "ω", "欧", "hz", "赫"))
    )
    return number + ("Meg" if is_mega or prefix.lower() == "meg" else PREFIXES.get(prefix, prefix))
