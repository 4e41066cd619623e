"""From quantities to meanings: which number of a sentence is which requirement.

A circuit family names its requirements as slots (a unit and the words that stand beside such a
number); `fill_slots` finds the assignment of numbers to slots with the least total distance, so
that "12 V input 5 V output" and "输入12V 输出5V" both come out right.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from domain.design.quantity_words import BAND, IN_ORDER, ROLES
from domain.design.sentence import Dimension, Mention, Sentence, in_any_case
from shared.errors import CircuitError
from shared.message import Message, msg

_FAR = 45.0
"""Beyond this distance a word no longer names a number."""
_ONLY_BY_UNIT = 40.0
"""Cost of taking a number because its unit fits, with no word beside it."""
_WEAK = 10.0
_AFTER = 2.0
_WRONG_SIDE = 12.0
"""Of a figure with a bound on the side that a quantity has none."""
_OF_ROLE = 3.0
_ROLE_NEAR = 18.0
"""So near a word of the table for all circuits has to stand."""
_CLAUSE_BREAK = 12.0
_OTHER_NUMBER = 25.0
_LEFT_OUT = 100.0
"""Cost of a number that no slot takes."""
_BY_WORDS, _BY_LEARNT = 1.0, 8.0
"""Weights of the distance from a quantity's words, and of the nats that are learnt."""
_NO_WORDS = 50.0
"""Cost of a number that no words of a quantity stand beside, where something is learnt of it."""
_ELSEWHERE = 60.0
"""Cost of leaving it out then."""
_OUT_OF_RANGE = 40.0
"""Of a number that a quantity cannot be, where something is learnt of it: 2 A are no current of a pin."""
_NOT_SURE = 0.3
"""Nats above which what is learnt is a guess."""
_BESIDE = 6.0
"""Cost of a number that a word stands straight beside."""
_SURELY = 8.0
"""Nats above which nothing counts."""
_LIKELY = 0.5
_MOST_WAYS = 100_000
_ROUNDING = 1e-6
_SLIGHTLY = 2.0
"""Difference of cost below which neither of two numbers is the one that is named."""
_SAME = 0.01
_LINKING_WORDS = re.compile(
    r"(?:[\s=:,~≈()+]|\bof\b|\bminus\b|\bexactly\b|\bprecisely\b|\bis\b|\bat\b|@|\babout\b|\bequals?\b|"
    r"[为是约取在按估算给到]|等于|大约|左右|\bto\b|\bbetween\b|\bfrom\b|介于|\bthe\b|"
    r"\ba\b|\bdb\b|"
    r"(?:改|调|设|降|升|挪|定)(?:[为成到至在])?|(?:降低|提高|放宽|收紧|控制|压|放|提)[到至在]|应该?|必须|要|\bshould\b|\bmust\b|\bbe\b|值|频率|frequency|resistor|resistance|tolerance|不少于|不超过|小于|大于|"
    r"至少|at least|less than|within|(?:(?:no|not) )?(?:less|more|lower|higher|smaller|greater|"
    r"better) than|不(?:低|小|高|大)于|"
    r"不少于|under|below|above|over|"
    r"up to|最[多少大小高低]|±|\+/?-|正负|[<>≤≥])*",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"((?:input|output|source|输入|输出|源)\s?(?:resistance|impedance|阻抗|电阻)|(?<![a-z])[rz]_?(?:in|out)(?![a-z])|noise|offset|bandwidth|overshoot|common[\s-]mode|噪声|噪音|失调|带宽|过冲|共模)(?:[^\d,;。、]|\d(?=[a-z]))*$",
    re.IGNORECASE,
)
_RESISTIVE = re.compile(r"(impedance|resistance|load|阻抗|电阻|负载|内阻)[^\d,;。、]{0,8}$", re.IGNORECASE)
_RESISTIVE_BEHIND = re.compile(r"[\s-]?(?:的)?(load(?!s? at)|负载)", re.IGNORECASE)
"""Beside a scale alone it says that ohms are meant."""
_NAMED_BEHIND = re.compile(
    r"\s*(?:of |的)?(input(?=\s*(?:[?,.;]|$))|"
    r"(?:source|input|output|series|internal|[源内]|输入|输出)\s?(?:resistance|"
    r"impedance|电阻|阻抗|阻))",
    re.IGNORECASE,
)
_VALUE_OF = re.compile(r"[a-z_]\w*\s?=\s?$", re.IGNORECASE)
_NEAR = 32
"""Characters before a number in which its name stands."""
_AND = re.compile(r"\s*(?:and|和|与|及)\s*[-+]?", re.IGNORECASE)
_BREAKS = re.compile(r"[,;。、]|\.\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One requirement a sentence may state as a number."""

    name: str
    dimensions: tuple[Dimension, ...]
    words: str
    """Regular expression of the words that name it, before or after the number."""
    before: str | None = None
    """Words that name it only in front of the number."""
    after: str | None = None
    """What follows straight behind the number when it is meant."""
    weak: str | None = None
    """Words in front that name it when nothing better does ("at")."""
    required: bool = False
    """Asked for when nothing says it."""
    takes_rest: bool = False
    """Takes a number with its unit that no words name."""
    least_rest_v: float = 0.0
    """Of a voltage that no words name: a signal of millivolts is no supply."""
    example: float = 0.0
    """A usual value; 0: none is told."""
    takes_bare: bool = True
    """Takes a number without unit straight behind its words ("Q = 2", "fc 100k")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The outcome of `fill_slots`."""

    values: dict[str, Mention]
    unused: tuple[Mention, ...]
    """Numbers with a unit that no slot took, unless they say again what one took."""
    doubled: tuple[tuple[str, Mention, Mention], ...] = ()
    """(slot, number taken, another number that could as well have been meant)."""
    surroundings: tuple[Mention, ...] = ()
    """Of the unused ones those that say something of what is around the circuit."""

    def value(self, name: str) -> float | None:
        """The number in a slot (the middle of a range), or None."""
        mention = self.values.get(name)
        return None if mention is None else mention.middle


_SAMPLING = r"(?<![a-z])(?:over|down)?sampl(?:e[sd]?|ing)(?![a-z])|[采抽取]样"
_CONVERTER = r"(?<![a-z])adcs?(?![a-z])"
_OF_SOMETHING_ELSE = (
    Slot(
        name="sampling rate",
        dimensions=("Hz",),
        words=r"(?!)",
        before=rf"(?:{_SAMPLING}|{_CONVERTER}(?= (?:at|running|clock\w*|rate)|\s?\d))"
        r"(?: ?(?:rate|frequency|[频速]?率))?",
        after=rf"\s*(?:-\s*)?(?:{_SAMPLING}|{_CONVERTER})",
    ),
    Slot(
        name="pulses",
        dimensions=("Hz",),
        words=r"(?!)",
        before=r"(?<![a-z])pwm(?: (?:signal|is|at|of))*(?![a-z])|pwm(?:频率|信号)?(?:是|为)?",
        after=r"\s*(?:的)?pwm",
    ),
    Slot(
        name="rejection",
        dimensions=("dB",),
        words=r"(?<![a-z])(?:cmrr|psrr|snr|thd|common[\s-]mode rejection)(?![a-z])|"
        r"共模抑制比?|电源抑制比?|信噪比|"
        r"失真度?",
    ),
    Slot(
        name="shunt",
        dimensions=("Ohm",),
        words=r"(?!)",
        before=r"(?:(?:current )?sens(?:e|ing)|shunt)(?: resistor)?|(?:采样|检流|取样|分流)电?阻",
        after=r"\s*(?:current )?(?:shunt|sense resistor|sensing resistor|的?(?:采样|检流|取样|分流)电?阻)",
    ),
    Slot(
        name="load",
        dimensions=("Ohm", "F"),
        words=r"(?<![a-z])loads?(?![a-z])|负载",
        before=r"(?<![a-z])(?:driv(?:es?|ing)(?![a-z])|into)(?: (?:an?|the|up to|about))?|带动?(?=\s?\d)",
    ),
    Slot(
        name="excitation",
        dimensions=("V",),
        words=(
            r"(?<![a-z])excit\w*(?: (?:it|them|the bridge|voltage))*(?: with)?|bridge (?:supply|voltage)|"
            r"激励(?:电压)?|桥压"
        ),
    ),
    Slot(
        name="common mode",
        dimensions=("V",),
        words=r"(?!)",
        before=r"common[\s-]mode(?: (?:voltages?|signals?|inputs?|range|of|is|at|up to|may be|to))*|"
        r"共模(?:电压|信号|输入|范围)*(?:[可会]?(?:达|到|为|是|有))?",
        after=r"\s*(?:of )?(?:common[\s-]mode|的?共模)",
    ),
    Slot(
        name="signal made of it",
        dimensions=("V",),
        words=r"(?!)",
        before=r"(?:scale\w*|signal) (?:down|up) to|放大(?:到|至|成)|缩小(?:到|至|成)",
    ),
    Slot(
        name="signal",
        dimensions=("V",),
        words=r"full[\s-]scale|满量程",
        before=(
            r"(?<![a-z])(?:to get|bring it|amplif\w+ it|scale it)(?: up)? to|"
            r"(?:scale\w*|signal) (?:down|up) to|"
            r"放大(?:到|至|成)|缩小(?:到|至|成)"
        ),
        after=(
            r"\s*(?:p-?p|rms|peak)?\s*(?:audio|music|sine|ac|input|microphone|mic|sensor|line|音频|正弦|交流|输入|"
            r"麦克风|话筒|传感器)*\s*(?:signals?(?![a-z])|sines?(?![a-z])|swing|audio|信号|正弦波?|音频)"
        ),
    ),
)
"""What numbers say of the circuit's surroundings: a rate of samples is no frequency of the circuit (an
anti-aliasing filter's cut-off lies below it), the size of a signal no supply, a shunt no input resistance."""


def fill_slots(
    sentence: Sentence, slots: Sequence[Slot], mentions: Sequence[Mention] | None = None
) -> Filled:
    """Assign the numbers of a sentence to slots, at most one each, so that the total distance is least.

    Raises CircuitError for a sentence of dozens of numbers that may mean the same.
    """
    found = tuple(sentence.mentions if mentions is None else mentions)
    own_loads = {"F"} if any(slot.name == "load_farad" for slot in slots) else set()
    around = [each for each in _OF_SOMETHING_ELSE if not _has_place(each, slots)]
    options: list[list[tuple[float, str]]] = [
        sorted(
            (
                (cost, slot.name)
                for slot in (*slots, *around)
                if not (slot.name == "load" and mention.dimension in own_loads)
                if (cost := _weighed(sentence, found, mention, slot, only_unit)) is not None
            ),
            key=lambda choice: choice[0],
        )
        for mention in found
        for only_unit in (_only_unit(mention, found, slots),)
    ]
    taken = _cheapest(options, [_out(sentence, mention) for mention in found])
    surroundings = {slot.name for slot in _OF_SOMETHING_ELSE}
    elsewhere = {i for i, name in taken.items() if name in surroundings}
    taken = {i: name for i, name in taken.items() if i not in elsewhere}
    _put_in_order(taken, found, options, slots)
    values = {name: found[index] for index, name in taken.items()}
    _take_both_ends(values, {slot.name for slot in slots})
    left = {
        i: m
        for i, m in enumerate(found)
        if i not in taken and not any(_says_again(m, o) for o in values.values())
    }
    doubled = tuple(
        (name, found[index], other)
        for index, name in taken.items()
        for place, other in left.items()
        if place not in elsewhere
        and not _is_nowhere(sentence, other)
        and other.dimension == found[index].dimension
        and _price(options[place], name) <= _price(options[index], name) + _SLIGHTLY
    )
    if sentence.unlikely is not None:
        doubled += tuple(_named_twice(sentence, found, taken, slots))
    unused = tuple(mention for mention in left.values() if _says_something(sentence.text, mention))
    told = tuple(left[place] for place in left if place in elsewhere or _is_nowhere(sentence, left[place]))
    return Filled(values=values, unused=unused, doubled=doubled, surroundings=told)


def _named_twice(
    sentence: Sentence, found: Sequence[Mention], taken: Mapping[int, str], slots: Sequence[Slot]
) -> Iterator[tuple[str, Mention, Mention]]:
    """A quantity whose own words stand beside two numbers alike ("cutoff 1 kHz and cutoff 2 kHz"), of which
    what is learnt gave one to another quantity, whose words do not, and is not sure."""
    by_name = {slot.name: slot for slot in slots}

    def cost(index: int, name: str) -> float:
        found_at = _cost(sentence.text, found, found[index], by_name[name], None)
        return math.inf if found_at is None else found_at

    for index, name in taken.items():
        for other, elsewhere in taken.items():
            learnt = sentence.unlikely and sentence.unlikely(found[other], elsewhere)
            if other == index or found[other].dimension != found[index].dimension or not learnt:
                continue
            beside = max(cost(index, name), cost(other, name))
            if (
                learnt > _NOT_SURE
                and beside <= _BESIDE < cost(other, elsewhere)
                and not _says_again(found[index], found[other])
            ):
                yield name, found[index], found[other]


def _take_both_ends(values: dict[str, Mention], names: Container[str]) -> None:
    """Of a band ("20 Hz - 20 kHz") that one quantity took the ends, where a circuit has one for each."""
    low, high = BAND
    if low not in names or high not in names or (low in values) == (high in values):
        return
    band = values.get(high) or values[low]
    if band.upper is not None and band.value > 0:
        values[low] = replace(band, upper=None)
        values[high] = replace(band, value=band.upper, upper=None)


def _put_in_order(
    taken: dict[int, str],
    found: Sequence[Mention],
    options: Sequence[Sequence[tuple[float, str]]],
    slots: Sequence[Slot],
) -> None:
    """Swap two figures whose size says that each is the other, where the words allow it nearly as well; of
    two that may be the same the one is the other of such a pair."""
    names = {slot.name for slot in slots}
    places = {name: index for index, name in taken.items()}
    for less, more in IN_ORDER:
        if (less in places) != (more in places) and less in names and more in names:
            mine, free = (less, more) if less in places else (more, less)
            at = places[mine]
            spare = [
                index
                for index, mention in enumerate(found)
                if index not in taken
                and mention.dimension == found[at].dimension
                and not _says_again(mention, found[at])
                and _price(options[index], mine) <= _price(options[at], mine) + _SLIGHTLY
                and (free in BAND or _price(options[index], mine) < _ONLY_BY_UNIT)
            ]
            if len(spare) == 1:
                taken[spare[0]], places[free] = free, spare[0]
                if (found[spare[0]].middle > found[at].middle) != (free == more):
                    taken[spare[0]], taken[at] = mine, free
            continue
        if less not in places or more not in places:
            continue
        one, other = places[less], places[more]
        as_is = _price(options[one], less) + _price(options[other], more)
        swapped = _price(options[one], more) + _price(options[other], less)
        if found[one].middle > found[other].middle and swapped <= as_is + _OF_ROLE + _ROLE_NEAR:
            taken[one], taken[other] = more, less
            places[less], places[more] = other, one


def _says_something(text: str, mention: Mention) -> bool:
    """Whether a number states a value: it has a unit or a scale, or a name stands in front ("A0 = 3000")."""
    if mention.dimension != "none" or mention.may_be:
        return True
    return _VALUE_OF.search(text, max(0, mention.start - _NEAR), mention.start) is not None


_ONLY_BESIDE = {"load": "Ohm", "signal made of it": "V", "excitation": "V"}
"""What of the surroundings is looked for only where the circuit itself takes no such number."""


def _has_place(other: Slot, slots: Sequence[Slot]) -> bool:
    unit = _ONLY_BESIDE.get(other.name)
    return any(
        unit in slot.dimensions
        and slot.name != "supply_v"
        and (unit == "Ohm" or slot.required or slot.takes_rest)
        for slot in slots
    )


def _price(choices: Sequence[tuple[float, str]], name: str) -> float:
    return min((cost for cost, each in choices if each == name), default=_LEFT_OUT)


def _says_again(mention: Mention, other: Mention) -> bool:
    """Whether two numbers say the same: a factor beside its decibels, a value twice."""
    first, second = (
        10 ** (abs(each.middle) / 20) if each.dimension == "dB" else abs(each.middle)
        for each in (mention, other)
    )
    dimensions = {mention.dimension, other.dimension}
    if dimensions == {"V"} and mention.is_tolerance != other.is_tolerance:  # "±12 V (24 V in all)"
        each, whole = (first, second) if mention.is_tolerance else (second, first)
        if math.isclose(2 * each, whole, rel_tol=_SAME):
            return True
    return (len(dimensions) == 1 or dimensions <= {"dB", "x", "none"}) and math.isclose(
        first, second, rel_tol=_SAME
    )


def _weighed(
    sentence: Sentence, found: Sequence[Mention], mention: Mention, slot: Slot, only_unit: Dimension | None
) -> float | None:
    """The distance of a number from a slot's words, and what is learnt of where such numbers belong."""
    cost = _cost(sentence.text, found, mention, slot, only_unit)
    name = "" if slot in _OF_SOMETHING_ELSE else slot.name
    learnt = None if sentence.unlikely is None else sentence.unlikely(mention, name)
    if learnt is None or (cost is None and not name):
        return cost
    if cost is None and learnt > _LIKELY and _is_settled(sentence.text, found, mention, slot):
        return cost
    if name == "supply_v" and cost == _ONLY_BY_UNIT and _is_one_of_two(sentence.text, found, mention):
        return None  # "switching at 1 V and 4 V"
    beyond = 0.0 if not name or _is_within(mention, slot) else _OUT_OF_RANGE
    words = min(_NO_WORDS if cost is None else cost, _NO_WORDS)
    return _BY_WORDS * words + _BY_LEARNT * min(learnt, _SURELY) + beyond


def _is_settled(text: str, found: Sequence[Mention], mention: Mention, slot: Slot) -> bool:
    """Whether a number that no words of a quantity stand beside is none of it, whatever is learnt: another
    quantity is named there, or it says again or is joined to ("1 V and 4 V") what another says."""
    is_said_again = any(_says_again(mention, each) for each in found if each is not mention)
    return is_said_again or _is_of_another(text, mention, slot) or _is_one_of_two(text, found, mention)


def _is_one_of_two(text: str, found: Sequence[Mention], mention: Mention) -> bool:
    return any(
        _AND.fullmatch(text, min(mention.end, each.end), max(mention.start, each.start)) is not None
        for each in found
        if each.dimension == mention.dimension and each is not mention
    )


def _out(sentence: Sentence, mention: Mention) -> float:
    """What it costs to leave a number out."""
    learnt = None if sentence.unlikely is None else sentence.unlikely(mention, "")
    return _LEFT_OUT if learnt is None else _ELSEWHERE + _BY_LEARNT * min(learnt, _SURELY)


def _is_nowhere(sentence: Sentence, mention: Mention) -> bool:
    """Whether a number is known to be none of the circuit's."""
    learnt = None if sentence.unlikely is None else sentence.unlikely(mention, "")
    return learnt is not None and learnt < _LIKELY


def _cheapest(options: Sequence[Sequence[tuple[float, str]]], out: Sequence[float]) -> dict[int, str]:
    """Which slot each mention takes, at the least cost in sum; of equal ones the first in order.

    `out` is what it costs to leave each out. Of the ways to have taken the same slots only the cheapest
    is gone on with, and none that cannot become cheaper than giving each mention the best slot still free.
    Raises CircuitError where the ways are too many: when dozens of numbers may each mean anything.
    """
    bounds = [
        min([cost, *(price for price, _ in choices)]) for choices, cost in zip(options, out, strict=True)
    ]
    rest = list(accumulate(reversed(bounds), initial=0.0))[::-1]
    most = _at_once(options, out)
    ways: dict[frozenset[str], tuple[float, dict[int, str]]] = {frozenset(): (0.0, {})}
    work = 0
    for index, choices in enumerate(options):
        following: dict[frozenset[str], tuple[float, dict[int, str]]] = {}
        work += len(ways) * (len(choices) + 1)
        if work > _MOST_WAYS:
            raise CircuitError(
                msg("The sentence contains too many numbers that could mean the same quantity."),
                advice=msg("State less at once, with the name of the quantity beside each number."),
                error_type="bad_request",
            )
        for taken, (cost, chosen) in ways.items():
            for price, name in (*choices, (out[index], "")):
                total = cost + price
                if name in taken or total + rest[index + 1] > most + _ROUNDING:
                    continue
                key = taken | {name} if name else taken
                if key not in following or total < following[key][0]:
                    following.pop(key, None)  # the order stays that of the choices
                    following[key] = total, {**chosen, index: name} if name else chosen
        ways = following
    return min(ways.values(), key=lambda way: way[0])[1]


def _at_once(options: Sequence[Sequence[tuple[float, str]]], out: Sequence[float]) -> float:
    """What it costs when each mention in turn takes the best slot that is still free."""
    taken: set[str] = set()
    cost = 0.0
    for choices, left_out_at in zip(options, out, strict=True):
        price, name = next((choice for choice in choices if choice[1] not in taken), (left_out_at, ""))
        cost += price
        taken.add(name)
    return cost


def _only_unit(mention: Mention, found: Sequence[Mention], slots: Sequence[Slot]) -> Dimension | None:
    """The unit a number is meant in, whose scale alone was written, where only one can be meant here."""
    places = Counter(unit for slot in slots if slot.takes_rest for unit in slot.dimensions)
    written = Counter(each.dimension for each in found)
    units = {unit for unit in mention.may_be if places[unit] > written[unit]}
    if len(units) > 1:  # what the circuit cannot do without comes first
        needed = {unit for slot in slots if slot.required for unit in slot.dimensions}
        units = (units & needed) or units
    return min(units, key=lambda unit: _oddness(mention, unit, slots), default=None)


def _oddness(mention: Mention, unit: Dimension, slots: Sequence[Slot]) -> float:
    """How many decades a number is away from what a quantity with this unit usually is."""
    size = abs(mention.middle)
    usual = [each.example for each in slots if each.takes_rest and unit in each.dimensions]
    return min((abs(math.log10(size / each)) for each in usual if size > 0 and each > 0), default=math.inf)


def _cost(
    text: str, mentions: Sequence[Mention], mention: Mention, slot: Slot, only_unit: Dimension | None
) -> float | None:
    """Distance between a number and the nearest word of a slot; None when it cannot be meant.

    `only_unit`: the unit a number is taken in that has a scale and no unit.
    """
    bare = _bare_cost(text, mention, slot) if mention.dimension == "none" else None
    if mention.dimension == "none" and (bare is not None or not mention.may_be & set(slot.dimensions)):
        return bare
    if mention.dimension != "none" and mention.dimension not in slot.dimensions:
        return None
    is_by_unit = slot.takes_rest and (mention.dimension != "none" or only_unit in slot.dimensions)
    if mention.dimension == "V" and abs(mention.middle) < slot.least_rest_v:
        is_by_unit = False
    if mention.dimension == "Hz" and getattr(slot, "limit", None) and not _is_within(mention, slot):
        is_by_unit = False  # 50 MHz is no lower corner
    costs = [_ONLY_BY_UNIT] if is_by_unit and not _is_of_another(text, mention, slot) else []
    for pattern, extra, is_before in (
        (slot.words, 0.0, True),
        (slot.before, 0.0, True),
        (slot.weak, _WEAK, True),
        (slot.words, _AFTER, False),
    ):
        if pattern is not None:
            costs += _distances(text, mentions, mention, pattern, extra=extra, is_before=is_before)
    role = ROLES.get(slot.name)
    if role is not None:
        near = _distances(text, mentions, mention, role.before, extra=_OF_ROLE, is_before=True)
        costs += [cost for cost in near if cost <= _ROLE_NEAR]
        if in_any_case(role.after).match(text, mention.end):
            costs.append(_OF_ROLE)
    if slot.after is not None and in_any_case(slot.after).match(text, mention.end):
        costs.append(0.0)
    is_wrong_side = (
        mention.bound is not None
        and not mention.is_soft
        and getattr(slot, "limit", "") not in ("", mention.bound)
    )
    return min((c + _WRONG_SIDE * is_wrong_side for c in costs if c <= _FAR), default=None)


def _is_within(mention: Mention, slot: Slot) -> bool:
    """Whether a number that no words name lies in the range of a quantity, where it has one."""
    low, high = getattr(slot, "within", (-math.inf, math.inf))
    return bool(low <= abs(mention.middle) <= high or low <= mention.middle <= high)


def _is_of_another(text: str, mention: Mention, slot: Slot) -> bool:
    """Whether a quantity is named beside a number that is none of the slot's: "noise below 1 mV"."""
    near = max(0, mention.start - _NEAR)
    named = [_NAMED.search(text, near, mention.start), _NAMED_BEHIND.match(text, mention.end)]
    if mention.dimension == "none":
        named.append(_RESISTIVE.search(text, near, mention.start))
        named.append(_RESISTIVE_BEHIND.match(text, mention.end))
    words = [each for each in (slot.words, slot.before, slot.weak) if each]
    return any(
        found is not None and not any(in_any_case(each).search(found[1]) for each in words) for found in named
    )


def _distances(
    text: str, mentions: Sequence[Mention], mention: Mention, pattern: str, *, extra: float, is_before: bool
) -> list[float]:
    distances = []
    for word in in_any_case(pattern).finditer(text):
        if is_before and word.end() <= mention.start:
            low, high = word.end(), mention.start
        elif not is_before and word.start() >= mention.end:
            low, high = mention.end, word.start()
        else:
            continue
        gap = text[low:high]
        between = sum(low <= m.start < high and m.dimension == mention.dimension for m in mentions)
        breaks = len(_BREAKS.findall(gap))
        distances.append(len(gap.strip()) + extra + _CLAUSE_BREAK * breaks + _OTHER_NUMBER * between)
    return distances


def _bare_cost(text: str, mention: Mention, slot: Slot) -> float | None:
    if not slot.takes_bare or (slot.dimensions == ("%",) and mention.value >= 1):
        return None
    role = ROLES.get(slot.name)
    shared = role.before if role and "x" in slot.dimensions else None
    for pattern, extra in ((slot.words, 1.0), (slot.before, 1.0), (slot.weak, _WEAK), (shared, _OF_ROLE)):
        for word in in_any_case(pattern or r"(?!)").finditer(text):
            if word.end() <= mention.start and _LINKING_WORDS.fullmatch(text[word.end() : mention.start]):
                return extra + mention.start - word.end()
    has_no_unit = "none" in slot.dimensions and "x" not in slot.dimensions
    if role and has_no_unit and in_any_case(role.after).match(text, mention.end):
        return _OF_ROLE
    named_behind = re.match(
        rf"[\s-]*(?:degrees?|deg|°|度)?\s*(?:of )?(?:{slot.words})", text[mention.end :], re.IGNORECASE
    )
    return 2 * _AFTER if named_behind else None


def missing_goal(message: Message, advice: Message) -> CircuitError:
    """A family is known, but a value it cannot do without was not said."""
    return CircuitError(message, advice=advice, error_type="missing_goal")


def impossible(message: Message, advice: Message) -> CircuitError:
    """The demands contradict each other or what physics allows."""
    return CircuitError(message, advice=advice, error_type="impossible_goal")


def left_out(unused: Sequence[Mention]) -> tuple[Message, ...]:
    """One remark for each number nobody took: the user must know it had no effect."""
    return tuple(not_understood(mention.text) for mention in unused)


def not_understood(text: str) -> Message:
    """One remark of what had no effect."""
    return msg("“{text}” was not understood and had no effect on the design.", text=text)


def is_not_understood(remark: Message) -> bool:
    """Whether a remark is that one."""
    return remark.template == not_understood("").template
