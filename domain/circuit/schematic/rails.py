"""Which nets are supplies, drawn as symbols at their pins in the place of wires."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from domain.circuit.elements import GROUND
from domain.circuit.schematic.parts import TRANSISTORS, Page, Part, Pin
from shared.late_patterns import late_pattern

_POSITIVE = late_pattern(
    r"(?i)v(?:cc|dd|pp|bat|supply|in\+|\+|p|s\+)\d*!?|[au]?vdda?|\+?\d+v\d*|vcca|pvdd|v?\+\d+v?"
)
_NEGATIVE = late_pattern(r"(?i)v(?:ee|ss|neg|n|-|s-)\d*!?|a?vssa?|-\d+v?|a?gnd[a-z]?|agnd|dgnd|com_gnd")
_SUPPLY_ROLES = late_pattern(r"(?i)v[-+_]?(?:cc|dd|ss|ee|p|n|pos|neg|s)?[-+_]?|gnd|av?dd|av?ss|vin|s\d+")


class Rails(NamedTuple):
    """Nets drawn as symbols, and the sources that make them."""

    signs: Mapping[str, int]
    """1 above, -1 below, 0 ground."""
    sources: tuple[Part, ...]
    """Told in the legend: ``VCC = 12``."""

    @property
    def hangs_from_ground(self) -> bool:
        """All supplies are below ground, as of emitter-coupled logic: ground is the rail above."""
        return {*self.signs.values()} == {0, -1}


def find_rails(page: Page) -> Rails:
    """Ground, nets that DC sources hold and devices are fed by, and nets called as supplies are."""
    signs = {GROUND: 0}
    sources: list[Part] = []
    waiting = [each for each in page.parts if each.kind == "v" and _is_still(each, page)]
    held = {GROUND}
    while ready := [each for each in waiting if len(held & {*each.nets}) == 1]:
        for source in ready:
            waiting.remove(source)
            plus, minus = source.nets
            net, base, value = (
                (plus, minus, source.ohms or 0.0) if minus in held else (minus, plus, -(source.ohms or 0.0))
            )
            is_meter = value == 0 and base in signs and base != GROUND and _measures_a_rail(net, base, page)
            if (base != GROUND and not is_meter) or net in held:
                continue
            held.add(net)
            if _feeds(net, page, source) or (base == GROUND and _feeds_through_meters(net, page, source)):
                named_low = _NEGATIVE.fullmatch(net) or _NEGATIVE.fullmatch(source.name) or "gnd" in net
                is_low = value < 0 or (value == 0 and named_low)
                signs[net] = signs[base] if is_meter else -1 if is_low else 1
                sources.append(source)
    for net in sorted({net for part in page.parts for net in part.nets} - signs.keys()):
        pins = [
            (part, pin) for part in page.parts for pin in part.pins if pin.net == net and part.kind != "port"
        ]
        driven = any(part.kind == "v" for part, _ in pins)
        if len(pins) < 2 or driven or not (_POSITIVE.fullmatch(net) or _NEGATIVE.fullmatch(net)):
            continue
        if any(_is_supply_pin(part, pin) for part, pin in pins):
            signs[net] = 1 if _POSITIVE.fullmatch(net) else -1
    return Rails(signs, tuple(sources))


def _is_supply_pin(part: Part, pin: Pin) -> bool:
    """Where a supply may go in."""
    if part.kind in TRANSISTORS:
        return pin.role in ("com", "out", "bulk")
    return part.kind == "box" or pin.role[:1] == "s"


def _is_still(part: Part, page: Page) -> bool:
    """Nothing but a DC value, or what is called a supply and is switched on; and not swept."""
    is_switched_on = part.style in ("pulse", "wave") and any(
        _POSITIVE.fullmatch(name) or _NEGATIVE.fullmatch(name) for name in (part.name, part.nets[0])
    )
    if part.style != "dc" and not (is_switched_on and part.ohms):
        return False
    return part.name.lower() not in page.swept and part.ohms is not None


def _feeds(net: str, page: Page, source: Part) -> bool:
    """Whether the net carries the current of devices; a gate or base alone is a bias."""
    named = _POSITIVE.fullmatch(net) or _NEGATIVE.fullmatch(net)
    others = [
        (part, pin) for part in page.parts for pin in part.pins if pin.net == net and part is not source
    ]
    for part, pin in others:
        if part.kind in TRANSISTORS and pin.role in ("out", "com", "bulk"):
            return True
        if part.kind == "amp" and pin.role[:1] == "s":
            return True
        if part.kind == "box" and (named or _SUPPLY_ROLES.fullmatch(pin.role)):
            return True
        if part.kind in "rli" and (_leads_to_device(part, net, page) or (named and len(others) > 1)):
            return True
        if part.kind == "r" and named and _biases(part, net, page):
            return True
    return False


def _measures_a_rail(net: str, base: str, page: Page) -> bool:
    """All of a supply's current; in the lead of one collector or drain a meter stands where it is."""
    fed = [(part, pin) for part in page.parts for pin in part.pins if pin.net == net and part.kind != "v"]
    is_lead = len(fed) == 1 and fed[0][0].kind in TRANSISTORS and fed[0][1].role == "out"
    return not is_lead and _is_of_sources(base, page)


def _is_of_sources(net: str, page: Page) -> bool:
    """Nothing but voltage sources is there: what it feeds, it feeds through meters."""
    return all(part.kind == "v" for part in page.parts if net in part.nets)


def _feeds_through_meters(net: str, page: Page, source: Part) -> bool:
    """A supply of which the currents are measured, by sources of 0 V."""
    if not _is_of_sources(net, page):
        return False
    meters = [
        part for part in page.parts
        if part is not source and net in part.nets and _is_still(part, page) and part.ohms == 0
    ]  # fmt: skip
    fars = [(far, meter) for meter in meters for far in meter.nets if far != net]
    return any(_feeds(far, page, meter) for far, meter in fars)


def _biases(part: Part, net: str, page: Page) -> bool:
    """The upper one of two resistors at a base."""
    far = next((each for each in part.nets if each != net), net)
    at_far = [(other, pin) for other in page.parts for pin in other.pins if pin.net == far]
    is_base = any(other.kind == "q" and pin.role == "in" for other, pin in at_far)
    return is_base and any(other.kind == "r" and GROUND in other.nets for other, _ in at_far)


def _leads_to_device(part: Part, net: str, page: Page) -> bool:
    """A load: behind it a collector, drain, emitter or source."""
    far = next((each for each in part.nets if each != net), net)
    return any(
        other.kind in TRANSISTORS and pin.role in ("out", "com") and pin.net == far
        for other in page.parts
        for pin in other.pins
    ) or (part.kind == "i" and far != GROUND)
