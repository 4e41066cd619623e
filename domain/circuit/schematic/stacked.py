"""What stands between two rows of a circuit, where its neighbors lie along the signal's way.

The resistor between the inputs of an instrumentation amplifier's two halves, which are drawn one above the
other; the capacitors of a charge pump, which stand on their clocks' lines below the chain of diodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from domain.circuit.schematic.parts import Part

Pins = Mapping[str, Sequence[tuple[int, str]]]
"""Of nets: parts, by their places, and the roles of their pins."""
_FEWEST = 2
"""Capacitors on clocks that make a pump of them."""


def input_bridges(parts: Sequence[Part], drawn: Iterable[int], pins: Pins) -> list[tuple[int, int, int]]:
    """Resistors between the inverting inputs of two amplifiers that are fed back: resistor, upper, lower.

    The upper one is that which leads on to another's inverting input, which has its feedback above it.
    """
    found = []
    for at in drawn:
        part = parts[at]
        if part.kind == "r" and part.nets[0] != part.nets[1]:
            ends = [_fed_back_at(net, parts, pins) for net in part.nets]
            if None not in ends and ends[0] != ends[1]:
                amps = sorted(end for end in ends if end is not None)
                upper, lower = sorted(amps, key=lambda amp: not _leads_to_inverting(amp, parts, pins))
                found.append((at, upper, lower))
    return found


def _fed_back_at(net: str, parts: Sequence[Part], pins: Pins) -> int | None:
    """The one amplifier whose inverting input is at this net, and to which a two-pole leads its output."""
    amps = [at for at, role in pins.get(net, ()) if parts[at].kind == "amp" and role == "n"]
    if len(amps) != 1 or any(role == "out" for _, role in pins[net]):
        return None
    out = parts[amps[0]].net("out")
    is_fed = any(parts[at].kind in "rcl" and out in parts[at].nets for at, _ in pins[net])
    return amps[0] if is_fed else None


def _leads_to_inverting(amp: int, parts: Sequence[Part], pins: Pins) -> bool:
    out = parts[amp].net("out")
    behind = [at for at, _ in pins.get(out, ()) if parts[at].kind in "rcl"]
    nets = {net for at in behind for net in parts[at].nets if net != out}
    return any(
        parts[at].kind == "amp" and role == "n" and at != amp
        for net in nets
        for at, role in pins.get(net, ())
    )


def pump_clocks(parts: Sequence[Part], pins: Pins, signs: Mapping[str, int]) -> frozenset[str]:
    """Nets of clocks that drive nothing but capacitors on a chain of diodes or switches."""
    clocks: dict[str, int] = {}
    for source in parts:
        if source.kind != "v" or source.style in ("dc", "") or source.nets[1] not in signs:
            continue
        behind = [at for at, _ in pins.get(source.nets[0], ()) if parts[at] is not source]
        links = [at for at in behind if parts[at].kind == "c" and _is_in_chain(parts[at], parts, pins)]
        if behind and links == behind:
            clocks[source.nets[0]] = len(links)
    return frozenset(clocks) if sum(clocks.values()) >= _FEWEST and _has_supply(parts) else frozenset()


def _is_in_chain(capacitor: Part, parts: Sequence[Part], pins: Pins) -> bool:
    """Two diodes, or a diode and a channel, meet at one of its ends."""
    return any(
        sum(parts[at].kind == "d" or role in ("out", "com") for at, role in pins[net]) >= 2
        for net in capacitor.nets
        if net in pins
    )


def _has_supply(parts: Sequence[Part]) -> bool:
    """What is pumped comes from a constant source; without one the clocks are the signal (a multiplier)."""
    return any(part.kind == "v" and part.style in ("dc", "") for part in parts)
