"""The DC operating point: which devices there are, the vectors that tell of them, and what they come to.

Voltages between terminals are those of the nodes; currents count positive in a device's usual direction
(into the collector of an npn, out of that of a pnp). Power is what the device takes up.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.circuit.cards import Model, device_kind
from domain.circuit.elements import GROUND, Element
from domain.circuit.figures import with_unit
from domain.circuit.instances import instances_of, node_outside, nodes_of
from domain.circuit.numbers import parse_number
from shared.message import Message, msg

if TYPE_CHECKING:
    from domain.circuit.hierarchy import Block, Circuit

MOST_DEVICES = 200
"""Transistors and diodes one operating point tells of, those of the top level first."""
MOST_NODES = 400
MOST_ELEMENTS = 1000
_MOST_BLOCKS = 2000
_LEAST_TOLD = 1e-15
"""In V, A, W or S."""
_OFF_A = 1e-9
"""A transistor that carries less is off."""
_NEAR_BREAKDOWN = 0.8
"""Of its breakdown voltage; below it a diode leaks, a Schottky diode some microamperes."""
_ON_V = 0.4
"""A base-collector junction with more forward voltage saturates a bipolar transistor."""

REGIONS: Mapping[str, Message] = {
    "off": msg("off"),
    "on": msg("on"),
    "active": msg("active"),
    "saturation": msg("saturation"),
    "triode": msg("triode"),
    "weak inversion": msg("weak inversion"),
    "reverse": msg("reverse"),
    "breakdown": msg("breakdown"),
}
"""What a device does. Of a bipolar transistor "saturation" means that it is driven too hard to amplify, of a
field-effect transistor that its current does not depend on VDS: there the telling word is "triode"."""
_UNITS = {"i": "A", "v": "V", "g": "S", "p": "W"}
_SAVED = {
    "q": ("ic", "ib", "gm"),
    "m": ("id", "gm", "vth", "von", "vdsat"),
    "j": ("id", "gm"),
    "z": ("id", "gm"),
    "d": ("id",),
}
_NEGATIVE = frozenset({"pnp", "pmos", "pjf", "pmf"})


class Device(NamedTuple):
    """A transistor or diode of the circuit as it is expanded."""

    name: str
    """``Q1``, ``x1.Q1``."""
    vector: str
    """What ngspice calls it: ``q1``, ``q.x1.q1``."""
    letter: str
    kind: str
    """npn, pnp, nmos, pmos, njf, pjf, nmf, pmf, diode."""
    nodes: tuple[str, ...]
    """Of its first three terminals."""
    threshold_v: float | None = None
    """VTO of a JFET's model, when it is a plain number."""
    breakdown_v: float | None = None
    """BV of a diode's model, infinite where it has none; None where it is no plain number."""


class SourceAt(NamedTuple):
    """A voltage or current source at the top level."""

    name: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """What an operating point of a circuit is to tell of."""

    devices: tuple[Device, ...]
    left_out: int
    """Devices beyond the bound."""
    sources: tuple[SourceAt, ...]

    def vectors(self) -> list[str]:
        """The device quantities ngspice has to save: ``@q1[ic]``; some a device may not know."""
        wanted = [f"@{each.vector}[{key}]" for each in self.devices for key in _SAVED[each.letter]]
        return wanted + [f"@{each.name}[current]" for each in self.sources if each.name[0] == "i"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePoint:
    """What one transistor or diode does."""

    name: str
    kind: str
    region: str
    """A key of `REGIONS`; "" when it cannot be told."""
    figures: dict[str, float]
    """By the trade's names in lower case: ic, ib, vbe, vce, gm; id, vgs, vds, vth; vd; power (A, V, S, W)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePoint:
    """What a source delivers."""

    name: str
    voltage: float
    current: float
    """Out of its first terminal (A)."""
    power: float
    """Delivered (W)."""


class ElementPoint(NamedTuple):
    """What flows through an element, and what it takes up."""

    name: str
    """Lower case: ``r1``, ``x1.r1``."""
    current: float | None
    """Into its first terminal (A); None where nothing tells."""
    power: float | None
    """Taken up (W): of what delivers it is negative."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """The DC operating point of a circuit, before any signal."""

    nodes: dict[str, float] = field(default_factory=dict)
    """Voltages by node name, those of the top level first (V)."""
    devices: tuple[DevicePoint, ...] = ()
    sources: tuple[SourcePoint, ...] = ()
    elements: tuple[ElementPoint, ...] = ()
    """Of every element, outer levels first, as far as the bound goes; subcircuits are told by what is in
    them."""
    left_out: int = 0
    """Devices that were not looked at."""

    @property
    def budget(self) -> tuple[float, float]:
        """What all elements that deliver deliver together, and what the others take (W): the same but for the
        solver's tolerance, where every element is told."""
        powers = [each.power for each in self.elements if each.power is not None]
        return -sum(power for power in powers if power < 0), sum(power for power in powers if power > 0)

    @property
    def is_budget_whole(self) -> bool:
        """Whether the power of every element is told."""
        return bool(self.elements) and all(each.power is not None for each in self.elements)

    @property
    def power(self) -> float:
        """What the sources that deliver deliver together (W); one that takes power up, such as a bias current
        out of a supply, is a part like any other."""
        return sum(max(source.power, 0.0) for source in self.sources)


# ---- what there is -------------------------------------------------------------------------------


def inventory_of(circuit: Circuit) -> Inventory:
    """The transistors, diodes and sources of a circuit; bounded, outer levels first."""
    devices: list[Device] = []
    left_out = 0
    for path, block, nodes in instances_of(circuit, most=_MOST_BLOCKS):
        for element, _ in block.elements:
            if element.letter not in _SAVED:
                continue
            device = _device(element, block, path, nodes, circuit.global_nodes)
            if device is None:
                continue
            if len(devices) < MOST_DEVICES:
                devices.append(device)
            else:
                left_out += 1
    top = [element for element, _ in circuit.top.elements if element.letter in "vi"]
    sources = tuple(
        SourceAt(name=element.key, nodes=nodes_of(element)) for element in top if len(element.nodes) == 2
    )
    return Inventory(devices=tuple(devices), left_out=left_out, sources=sources[:MOST_DEVICES])


def _device(
    element: Element,
    block: Block,
    path: tuple[str, ...],
    ports: Mapping[str, str],
    everywhere: Collection[str],
) -> Device | None:
    model = block.find_model(element.model.text) if element.model else None
    if model is None or len(element.nodes) < (2 if element.letter == "d" else 3):
        return None
    kind = device_kind(element.letter, model)
    if not kind:
        return None
    return Device(
        name=".".join((*path, element.name)),
        vector=".".join((element.letter, *path, element.key)) if path else element.key,
        letter=element.letter,
        kind=kind,
        nodes=tuple(node_outside(each, path, ports, everywhere) for each in nodes_of(element)[:3]),
        threshold_v=_number_of(model, ("vto", "vt0"), -2.0) if element.letter == "j" else None,
        breakdown_v=_number_of(model, ("bv", "vrev"), math.inf) if element.letter == "d" else None,
    )


def _number_of(model: Model, names: Collection[str], otherwise: float) -> float | None:
    """A parameter of a model; ngspice's own value where it has none, None for an expression."""
    from domain.circuit.cards import assignments_of

    for pair in assignments_of(model.statement):
        if pair.name in names:
            try:
                return parse_number(pair.value.text)
            except ValueError:
                return None
    return otherwise


# ---- what it comes to ------------------------------------------------------------------------------


def operating_point(
    inventory: Inventory, values: Mapping[str, float], unknown: Collection[str]
) -> OperatingPoint:
    """`values` by canonical name, as a run of `.op` left them; `unknown` are vectors ngspice does not know,
    which it leaves as zeros."""
    known = {name: value for name, value in values.items() if name not in unknown and math.isfinite(value)}
    nodes = {
        name[2:-1]: value
        for name, value in known.items()
        if name.startswith("v(") and name.endswith(")") and "#" not in name
    }
    nodes = dict(sorted(nodes.items(), key=lambda item: item[0].count(".")))
    volts = {GROUND: 0.0, **nodes}
    devices = [_device_point(device, known, volts) for device in inventory.devices]
    return OperatingPoint(
        nodes=dict(list(nodes.items())[:MOST_NODES]),
        devices=tuple(device for device in devices if device is not None),
        sources=tuple(_sources(inventory.sources, known, volts)),
        left_out=inventory.left_out,
    )


def _sources(
    sources: Sequence[SourceAt], known: Mapping[str, float], volts: Mapping[str, float]
) -> Iterator[SourcePoint]:
    for source in sources:
        if source.name[0] == "v":
            flowing = known.get(f"i({source.name})")
        else:
            flowing = known.get(f"@{source.name}[current]")
        if flowing is None or not all(node in volts for node in source.nodes):
            continue
        voltage = volts[source.nodes[0]] - volts[source.nodes[1]]
        yield SourcePoint(name=source.name, voltage=voltage, current=-flowing, power=-voltage * flowing)


def _device_point(
    device: Device, known: Mapping[str, float], volts: Mapping[str, float]
) -> DevicePoint | None:
    if not all(node in volts for node in device.nodes):
        return None
    at = [volts[node] for node in device.nodes]
    found = {
        key: known[name] for key in _SAVED[device.letter] if (name := f"@{device.vector}[{key}]") in known
    }
    points = {"q": _bipolar, "m": _field_effect, "j": _field_effect, "z": _field_effect, "d": _diode}
    region, figures = points[device.letter](device, at, found)
    return DevicePoint(name=device.name, kind=device.kind, region=region, figures=figures)


def _bipolar(device: Device, at: Sequence[float], found: Mapping[str, float]) -> tuple[str, dict[str, float]]:
    sign = -1.0 if device.kind in _NEGATIVE else 1.0
    collector, base, emitter = at
    vbe, vce = base - emitter, collector - emitter
    figures = {"vbe": vbe, "vce": vce, **{key: found[key] for key in ("gm",) if key in found}}
    if "ic" not in found:
        return "", figures
    ic, ib = sign * found["ic"], sign * found.get("ib", 0.0)
    power = vce * found["ic"] + vbe * found.get("ib", 0.0)
    figures = {"ic": ic, "ib": ib, **figures, "power": power}
    forward, backward = sign * vbe, sign * (base - collector)
    if max(abs(ic), abs(ib)) < _OFF_A:
        return "off", figures
    if backward > _ON_V:
        return ("saturation" if forward > backward else "reverse"), figures
    return ("active" if forward > 0 and ic > 0 else "off"), figures


def _field_effect(
    device: Device, at: Sequence[float], found: Mapping[str, float]
) -> tuple[str, dict[str, float]]:
    sign = -1.0 if device.kind in _NEGATIVE else 1.0
    drain, gate, source = at
    vgs, vds = gate - source, drain - source
    figures = {"vgs": vgs, "vds": vds, **{key: found[key] for key in ("gm",) if key in found}}
    threshold = device.threshold_v
    if device.letter == "m":  # BSIM tells VTH of either kind as positive, the older levels von as it is
        threshold = found["vth"] if "vth" in found else sign * found["von"] if "von" in found else None
    if "id" not in found:
        return "", figures
    current = found["id"] if device.letter == "m" else sign * found["id"]
    figures = {"id": current, **figures}
    if threshold is not None:
        figures["vth"] = sign * threshold
    if "vdsat" in found:
        figures["vdsat"] = sign * abs(found["vdsat"])
    figures["power"] = vds * sign * current
    return _channel(sign * vgs, sign * vds, current, threshold, found.get("vdsat")), figures


def _channel(vgs: float, vds: float, current: float, threshold: float | None, knee: float | None) -> str:
    """The region of a channel, voltages and current as those of an n-channel."""
    if abs(current) < _OFF_A:
        return "off"
    if threshold is None:
        return "on"
    if vds < 0:
        return "reverse"
    if vgs < threshold:
        return "weak inversion"
    edge = abs(knee) if knee else vgs - threshold
    return "triode" if vds < edge else "saturation"


def _diode(device: Device, at: Sequence[float], found: Mapping[str, float]) -> tuple[str, dict[str, float]]:
    vd = at[0] - at[1]
    if "id" not in found:
        return "", {"vd": vd}
    current = found["id"]
    figures = {"id": current, "vd": vd, "power": vd * current}
    is_leaking = current < 0 and device.breakdown_v is not None and -vd < _NEAR_BREAKDOWN * device.breakdown_v
    if abs(current) < 1e3 * _OFF_A or is_leaking:
        return "off", figures
    return ("on" if current > 0 else "breakdown"), figures


# ---- told and kept -----------------------------------------------------------------------------------


def operating_point_lines(
    point: OperatingPoint, *, most_devices: int = 20, most_nodes: int = 30
) -> list[str]:
    """It in lines of English, most telling first: devices that do something unusual, the other devices,
    node voltages, supplies. Devices and nodes beyond the bounds are counted."""
    devices = device_lines(point)
    lines = devices[:most_devices]
    more = max(len(devices) - most_devices, 0) + point.left_out
    if more:
        lines.append(f"... and {more} more transistors and diodes")
    if point.nodes:
        shown = [f"{name} {_told(value, 'V')}" for name, value in list(point.nodes.items())[:most_nodes]]
        left = len(point.nodes) - len(shown)
        lines.append("nodes: " + ", ".join(shown) + (f" and {left} more" if left else ""))
    feeding = sorted((each for each in point.sources if each.power), key=lambda each: -abs(each.power))
    if feeding:
        told = [f"{each.name} {_told(each.voltage, 'V')} {_told(each.current, 'A')}" for each in feeding[:6]]
        lines.append(f"sources deliver {_told(point.power, 'W')}: " + ", ".join(told))
    return lines


def device_lines(point: OperatingPoint) -> list[str]:
    """A line for each device, those that do something unusual first."""
    return [
        _device_line(each)
        for each in sorted(point.devices, key=lambda each: (is_usual(each), each.name.count(".")))
    ]


def is_usual(device: DevicePoint) -> bool:
    """Whether it does what an amplifying stage needs of it; of a diode always."""
    usual = "active" if device.kind in ("npn", "pnp") else "saturation"
    return device.kind == "diode" or device.region == usual


def _device_line(device: DevicePoint) -> str:
    figures = ", ".join(figure_texts(device))
    region = device.region if is_usual(device) else device.region.upper()
    return f"{device.name} {device.kind}{f' {region}' if region else ''}: {figures}"


def figure_texts(device: DevicePoint) -> list[str]:
    """``IC 1.08 mA``, ``VBE 674 mV`` ..., power last; of a device that is off no gm and no power."""
    words = {"power": "P", "gm": "gm"}
    left_out = words if device.region == "off" else ()
    return [
        f"{words.get(key, key.upper())} {_told(value, _UNITS[key[0]])}"
        for key, value in device.figures.items()
        if key not in left_out
    ]


def _told(value: float, unit: str) -> str:
    """With its unit; what only the rounding of a solver has left is 0."""
    return with_unit(0.0 if abs(value) < _LEAST_TOLD else value, unit)


def operating_point_to_plain(point: OperatingPoint | None) -> dict[str, Any] | None:
    """In plain JSON types: ``{"nodes": {"out": 5.9}, "devices": [{"name", "kind", "region", "ic" ...}],
    "sources": [{"name", "voltage", "current", "power"}], "power", "left_out"}`` in SI units."""
    if point is None:
        return None
    return {
        "nodes": dict(point.nodes),
        "devices": [
            {"name": each.name, "kind": each.kind, "region": each.region, **each.figures}
            for each in point.devices
        ],
        "sources": [
            {"name": each.name, "voltage": each.voltage, "current": each.current, "power": each.power}
            for each in point.sources
        ],
        "elements": [list(each) for each in point.elements],
        "power": point.power,
        "left_out": point.left_out,
    }


def stored_operating_point(result: Mapping[str, Any]) -> OperatingPoint | None:
    """That of a stored result; None where it has none, or somebody else wrote it."""
    try:
        return operating_point_from_plain(result.get("operating_point"))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def operating_point_from_plain(stored: Mapping[str, Any] | None) -> OperatingPoint | None:
    """The reverse. Raises KeyError, TypeError, ValueError for what it did not write.

    Of more nodes and sources than are listed the first are taken.
    """
    if stored is None:
        return None
    try:
        return _point_of(stored)
    except OverflowError as error:  # JSON has numbers that no double has
        raise ValueError(stored) from error


def _point_of(stored: Mapping[str, Any]) -> OperatingPoint:
    words = ("name", "kind", "region")
    return OperatingPoint(
        nodes={str(name): float(value) for name, value in islice(stored["nodes"].items(), MOST_NODES)},
        devices=tuple(
            DevicePoint(
                name=str(each["name"]),
                kind=str(each["kind"]),
                region=str(each["region"]),
                figures={
                    str(key): float(value)
                    for key, value in each.items()
                    if key not in words and key[:1] in _UNITS  # another's name is of a figure nobody knows
                },
            )
            for each in stored["devices"][:MOST_DEVICES]
        ),
        sources=tuple(
            SourcePoint(
                name=str(each["name"]),
                voltage=float(each["voltage"]),
                current=float(each["current"]),
                power=float(each["power"]),
            )
            for each in stored["sources"][:MOST_DEVICES]
        ),
        elements=tuple(
            ElementPoint(str(name), _number(current), _number(power))
            for name, current, power in stored.get("elements", ())[:MOST_ELEMENTS]
        ),
        left_out=int(stored["left_out"]),
    )


def _number(stored: object) -> float | None:
    return None if stored is None else float(stored)  # type: ignore[arg-type]
