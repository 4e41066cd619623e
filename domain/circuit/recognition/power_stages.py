"""Converters, rectifiers and regulators: what switches, diodes, coils and supplies make together.

Sources of the formulas: Erickson, Maksimovic, *Fundamentals of Power Electronics*, chapters 2 and 3;
Horowitz, Hill, *The Art of Electronics*, chapter 1; Sedra, Smith, *Microelectronic Circuits*, chapter 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from domain.circuit.elements import GROUND
from domain.circuit.numbers import read_number
from domain.circuit.recognition.finder import Finder, parallel
from domain.circuit.recognition.graph import Graph, Part
from domain.circuit.recognition.recognised import Figure

_ERICKSON = "Erickson, Maksimovic, 2.2"


def find_power_stages(found: Finder) -> None:
    _transfers(found)
    _charge_pumps(found)
    _converters(found)
    _snubbers(found)
    _clamps(found)
    _adjustable(found)
    _timers(found)
    _zeners(found)
    _rectifiers(found)


class _Switch(NamedTuple):
    part: Part
    ends: tuple[str, str]
    control: str

    def far(self, node: str) -> str:
        return self.ends[1] if self.ends[0] == node else self.ends[0]


def _switches(graph: Graph) -> Iterator[_Switch]:
    for part in graph.of("s"):
        yield _Switch(part, part.ends, part.pins.get("control0", ""))
    for part in graph.of("m q"):
        control = part.pins["in"]
        near = {control, *(far for _, far in graph.two(control, "r"))}
        if near & set(graph.drives):
            yield _Switch(part, (part.pins["out"], part.pins["com"]), next(iter(near & set(graph.drives))))


def _charge_pumps(found: Finder) -> None:
    """A capacitor with two switches, and nothing else, at either end: two charge it, two empty it."""
    graph = found.graph
    for flying in graph.of("c"):
        sides = [
            [each for each in _switches(graph) if node in each.ends and each.part.kind == "s"]
            for node in flying.ends
        ]
        if any(
            len(side) != 2 or len(graph.at[node]) != 3 for side, node in zip(sides, flying.ends, strict=True)
        ):
            continue
        four = [
            (each, each.far(node)) for side, node in zip(sides, flying.ends, strict=True) for each in side
        ]
        out = [far for _, far in four if far not in graph.rails and far != GROUND]
        drives = {each.control for each, _ in four}
        if len(out) != 1 or len(drives) != 2:
            continue
        other = next(each.control for each, far in four if far == out[0])
        moved = [far for each, far in four if each.control == other and far != out[0]]
        rail = max((graph.rails.get(far, 0.0) for _, far in four), key=abs)
        ends = {"in": next(far for _, far in four if graph.rails.get(far, 0.0) == rail), "out": out[0]}
        reservoir = [c for c, far in graph.two(out[0], "c") if far in graph.fixed]
        load = [r for r, far in graph.two(out[0], "r") if far in graph.fixed]
        volts, formula = (-rail, "-VIN") if moved == [GROUND] else (2 * rail, "2 VIN")
        found.add(
            "charge_pump",
            {"switches": [each.part for each, _ in four], "flying": [flying], "reservoir": reservoir,
             "load": load},
            ends,
            [Figure("output_voltage", volts, "V", f"{formula}, without load", "Seeman, Sanders, 2008")],
        )  # fmt: skip
        found.used.update(part.name for drive, part in graph.drives.items() if drive in drives)


def _snubbers(found: Finder) -> None:
    """R and C in series across a switch or diode, or a capacitance that rings with a coil at its node."""
    graph = found.graph
    for resistor in found.free("r"):
        for top, middle in (resistor.ends, resistor.ends[::-1]):
            inner = [(c, far) for c, far in graph.two(middle, "c") if c.name not in found.used]
            if len(graph.at[middle]) != 2 or len(inner) != 1 or top in graph.fixed:
                continue
            (series, foot), snubber = inner[0], {"resistors": [resistor], "capacitor": [inner[0][0]]}
            beside = graph.between(top, foot, "d") + [
                each.part for each in _switches(graph) if {top, foot} == set(each.ends)
            ]
            node = graph.between(top, foot, "c")
            coils = [coil for coil, _ in graph.two(top, "l")]
            if beside:
                found.add("rc_snubber", snubber, {"at": top})
            elif len(node) == 1 and len(coils) == 1 and len(graph.at[top]) == 3 and foot in graph.fixed:
                square = (node[0].value or 0.0) * (coils[0].value or 0.0)
                rings = [Figure("frequency", 1 / (2 * math.pi * math.sqrt(square)), "Hz",
                                "1/(2 pi sqrt(L C))", "TI SLVA255")] if square else []  # fmt: skip
                if (series.value or 0.0) > (node[0].value or 0.0):
                    _, losses = graph.through(coils[0].other(top), coils[0])
                    elements = {**snubber, "inductor": coils, "parallel": node, "losses": losses}
                    found.add("rc_snubber", elements, {"at": top}, rings)


def _clamps(found: Finder) -> None:
    """A diode from a switching node to R beside C at the supply, and the coils that make it necessary."""
    graph = found.graph
    for diode in found.free("d"):
        node, store = diode.pins["a"], diode.pins["k"]
        resistors, caps = (
            [each for each, far in graph.two(store, kind) if far in graph.rails] for kind in ("r", "c")
        )
        switches = [each.part for each in _switches(graph) if node in each.ends]
        if not (resistors and caps and switches) or store in graph.fixed:
            continue
        coils = [coil for coil, _ in graph.two(node, "l")]
        coils += [coil for each in coils for coil, far in graph.two(each.other(node), "l") if far != node]
        losses = [each for coil in coils for each in graph.between(*coil.ends, "r")]
        beside = [each for each, far in graph.two(node, "c") if far == GROUND]
        elements = {
            "diode": [diode], "resistors": resistors, "capacitor": caps, "switch": switches,
            "primary": coils, "losses": losses, "parallel": beside,
            "load": [each for each, _ in graph.two(node, "d") if each is not diode],
        }  # fmt: skip
        free = {
            role: [each for each in parts if each.name not in found.used] for role, parts in elements.items()
        }
        found.add("rcd_clamp", free, {"at": node})


def _converters(found: Finder) -> None:
    graph = found.graph
    switches = list(_switches(graph))
    for coil in graph.of("l"):
        for first in coil.ends:
            node, near = graph.through(first, coil)
            at_node = [each for each in switches if node in each.ends and each.part.name not in found.used]
            diodes = [p for p, _ in graph.at[node] if p.kind == "d" and p.name not in found.used]
            if not at_node or coil.name in found.used:
                continue
            rail_side = [each for each in at_node if each.far(node) in graph.rails]
            for main in rail_side or at_node:
                others = [each for each in at_node if each is not main]
                other = diodes[0] if diodes else others[0].part if others else None
                if other is None:
                    continue
                far = diodes[0].other(node) if diodes else others[0].far(node)
                end, windings = graph.through(coil.other(first), coil)
                if _converter(found, main, other, [coil, *near, *windings], far=far, node=node, end=end):
                    break


def _converter(
    found: Finder, main: _Switch, other: Part, coils: list[Part], *, far: str, node: str, end: str
) -> bool:
    graph = found.graph
    source = main.far(node)
    volts = {GROUND: 0.0, **graph.rails}
    duty = _duty(graph, main.control)
    if source in volts and volts[source] and far == GROUND and end not in graph.rails:
        kind, out, vin, ratio, formula = "buck_converter", end, volts[source], duty, "D VIN"
    elif (
        source == GROUND and end in volts and volts[end] and far not in {*graph.rails, *_clamped(graph, end)}
    ):
        kind, out, vin = "boost_converter", far, volts[end]
        ratio, formula = (1 / (1 - duty) if duty is not None and duty < 1 else None), "VIN/(1 - D)"
    elif source in volts and volts[source] and end == GROUND and far not in graph.rails:
        kind, out, vin = "buck_boost_converter", far, volts[source]
        ratio, formula = (-duty / (1 - duty) if duty is not None and duty < 1 else None), "-VIN D/(1 - D)"
    else:
        return False
    role = "diode" if other.kind == "d" else "rectifier"
    parts = {"switch": [main.part], role: [other], "inductor": coils[:1], "winding": coils[1:]}
    nodes = {"in": end if kind == "boost_converter" else source, "switch_node": node, "out": out}
    made = vin if ratio is None else vin * ratio
    _tell(found, kind, parts, nodes, control=main.control, volts=made, formula=formula)
    return True


def _clamped(graph: Graph, rail: str) -> set[str]:
    """Nodes that a diode, as one of a Zener voltage, holds near a supply: no output."""
    return {far for _, far in graph.two(rail, "d")}


def _tell(
    found: Finder, kind: str, parts: dict[str, list[Part]], nodes: dict[str, str], *, control: str,
    volts: float, formula: str,
) -> None:  # fmt: skip
    """A converter with what stands at its output, its duty and the voltage that follows."""
    graph = found.graph
    caps, series = _reservoir(graph, nodes["out"])
    load = [r for r, far in graph.two(nodes["out"], "r") if far in graph.fixed]
    duty, figures = _duty(graph, control), []
    if duty is not None and duty < 1:
        figures = [
            Figure("duty", duty, "1", "on-time/period of the drive"),
            Figure("output_voltage", volts, "V", f"{formula}, ideal, continuous conduction", _ERICKSON),
        ]
    elements = {**parts, "output_capacitor": caps, "series_resistance": series, "load": load}
    found.add(kind, elements, nodes, figures)
    found.used.update(part.name for drive, part in graph.drives.items() if drive == control)


def _transfers(found: Finder) -> None:
    """A switch to ground below a coil from the supply: the energy goes on through a capacitor or a core."""
    graph = found.graph
    for switch in [each for each in _switches(graph) if GROUND in each.ends]:
        node, duty = switch.far(GROUND), _duty(graph, switch.control)
        if duty is None or not 0 < duty < 1:
            continue
        for coil, windings, far in _coils_at(graph, node):
            if far in graph.rails and far != GROUND and not any(p.kind == "d" for p, _ in graph.at[node]):
                through = _through_capacitor(found, node, coil) or _through_core(found, coil)
                if through is None or coil.name in found.used:
                    continue
                kind, parts, out, ratio = through
                parts = {"switch": [switch.part], **parts, "winding": [*windings, *parts.get("winding", [])]}
                by_duty = duty if kind == "forward_converter" else duty / (1 - duty)
                formula = f"{'-' * (ratio < 0)}{'' if abs(ratio) == 1 else 'NS/NP '}VIN D"
                formula += "" if kind == "forward_converter" else "/(1 - D)"
                nodes = {"in": far, "switch_node": node, "out": out}
                volts = graph.rails[far] * ratio * by_duty
                _tell(found, kind, parts, nodes, control=switch.control, volts=volts, formula=formula)
                break


def _coils_at(graph: Graph, node: str) -> Iterator[tuple[Part, list[Part], str]]:
    """Coils that end at a node, also past a resistance; what was passed, and where they lead to."""
    for coil in graph.of("l"):
        for end in coil.ends:
            at, near = graph.through(end, coil)
            if at == node:
                far, beyond = graph.through(coil.other(end), coil)
                yield coil, [*near, *beyond], far


def _through_capacitor(
    found: Finder, node: str, coil: Part
) -> tuple[str, dict[str, list[Part]], str, float] | None:
    """SEPIC and Cuk: kind, parts, output, sign."""
    graph = found.graph
    for capacitor, x in graph.two(node, "c"):
        diodes = [p for p, pin in graph.at[x] if p.kind == "d" and pin == "a"]
        for second, windings, far in _coils_at(graph, x) if diodes and x not in graph.fixed else ():
            behind = diodes[0].pins["k"]
            damper = [
                p for r, y in graph.two(node, "r") for c, z in graph.two(y, "c") if z == x for p in (r, c)
            ]
            parts = {
                "diode": diodes[:1], "inductors": [coil, second], "coupling": [capacitor], "damper": damper,
                "winding": windings,
            }  # fmt: skip
            if far == GROUND and behind not in graph.fixed:
                return "sepic_converter", parts, behind, 1.0
            if behind == GROUND and far not in graph.fixed:
                return "cuk_converter", parts, far, -1.0
    return None


def _through_core(found: Finder, primary: Part) -> tuple[str, dict[str, list[Part]], str, float] | None:
    """Flyback and forward: kind, parts, output, turns of the secondary over those of the primary."""
    graph = found.graph
    reset, secondary = dict[str, list[Part]](), None
    for coil, windings, near in _coils_at(graph, GROUND):
        for diode in [p for p, pin in graph.at[near] if p.kind == "d" and pin == "a" and coil is not primary]:
            if diode.pins["k"] in graph.rails:
                reset = {"reset": [coil, diode]}
            else:
                secondary = (coil, windings, diode)
    if secondary is None or not primary.value or not secondary[0].value:
        return None
    coil, windings, diode = secondary
    turns, behind = (coil.value / primary.value) ** 0.5, diode.pins["k"]  # type: ignore[operator]
    parts = {"primary": [primary], "secondary": [coil], "diode": [diode], "winding": windings}
    wheel = [d for d in graph.between(GROUND, behind, "d") if d is not diode]
    outputs = [(each, more, far) for each, more, far in _coils_at(graph, behind) if each is not coil]
    if wheel and outputs:
        each, more, far = outputs[0]
        parts |= {"diode": [diode, *wheel], "inductor": [each], "winding": [*windings, *more], **reset}
        return "forward_converter", parts, far, turns
    return None if wheel or outputs or behind in graph.fixed else ("flyback_converter", parts, behind, turns)


def _reservoir(graph: Graph, out: str) -> tuple[list[Part], list[Part]]:
    """Capacitors from a node to a rail, also with their resistance in series."""
    caps: list[Part] = []
    series: list[Part] = []
    for c, far in graph.two(out, "c"):
        end, resistors = graph.through(far, c)
        if end in graph.fixed:
            caps.append(c)
            series += resistors
    for r, far in graph.two(out, "r"):
        behind = [c for c, end in graph.two(far, "c") if end in graph.fixed]
        if behind and len(graph.at[far]) == 2 and far not in graph.observed:
            caps += behind
            series.append(r)
    return caps, series


def _duty(graph: Graph, control: str) -> float | None:
    drive = graph.drives.get(control)
    if drive is None:
        return None
    numbers = [n.value for field in drive.element.numbers if (n := read_number(field.text))]
    if len(numbers) < 7 or not numbers[6]:
        return None
    rise, fall, on, period = numbers[3:7]
    duty = (on + (rise + fall) / 2) / period
    return duty if numbers[1] > numbers[0] else 1 - duty


def _adjustable(found: Finder) -> None:
    """A box between a supply and an output whose third pin stands on a divider from the output."""
    graph = found.graph
    for box in graph.of("box"):
        nodes = list(dict.fromkeys(box.pins.values()))
        if len(nodes) != 3:
            continue
        supplied = [node for node in nodes if node in graph.rails and node != GROUND]
        rest = [node for node in nodes if node not in graph.fixed]
        for out in rest:
            adjust = next((node for node in rest if node != out), None)
            if adjust is None or not supplied:
                continue
            upper = graph.between(out, adjust, "r")
            lower = [r for r, far in graph.two(adjust, "r") if far == GROUND]
            caps = [c for c, far in graph.two(out, "c") if far == GROUND]
            if upper and lower and (caps or [r for r, far in graph.two(out, "r") if far == GROUND]):
                top, bottom = parallel(upper), parallel(lower)
                figure = None
                if top and bottom:
                    figure = Figure(
                        "reference_factor", 1 + bottom / top, "1", "VOUT/VREF = 1 + R2/R1", "TI SLVS044"
                    )
                found.add(
                    "adjustable_regulator",
                    {"regulator": [box], "upper": upper, "lower": lower, "output_capacitor": caps},
                    {"in": supplied[0], "out": out, "adjust": adjust},
                    [figure],
                )
                break
        else:
            lone = [node for node in rest if any(far == GROUND for _, far in graph.two(node, "c r"))]
            if supplied and GROUND in nodes and len(rest) == 1 and lone:
                found.add("fixed_regulator", {"regulator": [box]}, {"in": supplied[0], "out": rest[0]})


def _timers(found: Finder) -> None:
    """A box of eight pins, two of them on a capacitor that one or two resistors charge: a 555."""
    graph = found.graph
    for box in graph.of("box"):
        if len(box.pins) != 8:
            continue
        nodes = list(box.pins.values())
        for node in dict.fromkeys(nodes):
            caps = [c for c, far in graph.two(node, "c") if far == GROUND]
            if nodes.count(node) < 2 or not caps or node in graph.fixed:
                continue
            lower = [(r, far) for r, far in graph.two(node, "r") if far in nodes and far not in graph.fixed]
            direct = [r for r, far in graph.two(node, "r") if far in graph.rails]
            for rb, discharge in lower:
                upper = [r for r, far in graph.two(discharge, "r") if far in graph.rails]
                if not upper:
                    continue
                c, ra = caps[0].value, upper[0].value
                figures = []
                if c and ra and rb.value:
                    bridged = bool(graph.between(discharge, node, "d"))
                    total = ra + (1 if bridged else 2) * rb.value
                    figures = [
                        Figure("frequency", 1.44 / (total * c), "Hz", "1.44/((RA + 2 RB) C)", "TI SLFS022"),
                        Figure(
                            "duty",
                            (ra if bridged else ra + rb.value) / total,
                            "1",
                            "(RA + RB)/(RA + 2 RB)",
                            "TI SLFS022",
                        ),
                    ]
                steady = [
                    c for pin in nodes for c, end in graph.two(pin, "c") if end == GROUND and c not in caps
                ]
                found.add(
                    "astable_timer",
                    {"timer": [box], "charging": [*upper, rb], "capacitor": caps, "steadying": steady},
                    {"timing": node, "discharge": discharge},
                    figures,
                )
                break
            else:
                if direct and box.name not in found.used and caps[0].value and direct[0].value:
                    steady = [
                        c
                        for pin in nodes
                        for c, end in graph.two(pin, "c")
                        if end == GROUND and c not in caps
                    ]
                    found.add(
                        "monostable_timer",
                        {"timer": [box], "charging": direct, "capacitor": caps, "steadying": steady},
                        {"timing": node},
                        [
                            Figure(
                                "pulse_width",
                                1.1 * direct[0].value * caps[0].value,
                                "s",
                                "1.1 R C",
                                "TI SLFS022",
                            )
                        ],
                    )


def _zeners(found: Finder) -> None:
    graph = found.graph
    for diode in graph.of("d"):
        voltage = diode.model_value("bv")
        node, foot = diode.pins["k"], diode.pins["a"]
        if (
            voltage is None
            or voltage > 60
            or diode.name in found.used
            or node in graph.fixed
            or foot not in graph.fixed
            or any(far in graph.fixed for d, far in graph.two(node, "d") if d is not diode)  # a clamp
        ):
            continue
        series = [
            (r, far)
            for r, far in graph.two(node, "r")
            if far not in graph.fixed or graph.rails.get(far, 0) > voltage
        ]
        supply = [(r, far) for r, far in series if far in graph.rails or far in graph.inputs]
        follower = [
            p for p, pin in graph.at[node] if p.kind in "qm" and pin == "in" and p.pins["out"] in graph.rails
        ]
        if not (supply or any(p.kind in "ij" or pin == "out" for p, pin in graph.at[node])):
            continue
        figures = [
            Figure("output_voltage", voltage, "V", "breakdown voltage of the diode", "Sedra, Smith, 4.4")
        ]
        elements: dict[str, list[Part]] = {"zener": [diode], "series": [r for r, _ in supply]}
        nodes = {"out": node}
        if supply:
            nodes["in"] = supply[0][1]
        if follower:
            elements["pass"] = follower[:1]
            nodes["out"] = follower[0].pins["com"]
            figures = [Figure("output_voltage", voltage - 0.65, "V", "VZ - VBE", "Horowitz, Hill, 2.2")]
            found.add("zener_follower_regulator", elements, nodes, figures)
        else:
            found.add("zener_regulator", elements, nodes, figures)


def _rectifiers(found: Finder) -> None:
    graph = found.graph
    diodes = [each for each in graph.of("d") if each.name not in found.used]
    moving = set(found.order) | {node for p in graph.of("l") for node in p.ends if node not in graph.fixed}
    by_pair = {
        (plus, minus)
        for first in diodes
        for second in diodes
        if first is not second
        for plus, minus in [(first.pins["k"], second.pins["a"])]
        if plus != minus
    }
    for plus, minus in sorted(by_pair):
        up = {d.pins["a"]: d for d in diodes if d.pins["k"] == plus and d.pins["a"] not in (minus,)}
        down = {d.pins["k"]: d for d in diodes if d.pins["a"] == minus and d.pins["k"] not in (plus,)}
        both = [node for node in up if node in down]
        if len(both) in (2, 3):
            caps = graph.between(plus, minus, "c")
            load = graph.between(plus, minus, "r")
            found.add(
                "bridge_rectifier",
                {
                    "diodes": [*(up[n] for n in both), *(down[n] for n in both)],
                    "reservoir": caps,
                    "load": load,
                    "source_resistance": _from_inputs(graph, both),
                },
                {"in": both[0], "in2": both[1], "out": plus, "out2": minus},
            )
            return
    free = [
        each
        for each in diodes
        if each.name not in found.used
        and not any(
            p.kind in "qmj" for node in each.ends if node not in graph.fixed for p, _ in graph.at[node]
        )
    ]
    if _multiplier(found, free, moving):
        return
    targets: dict[tuple[str, str], list[Part]] = {}
    for diode in free:
        a, k = diode.ends
        if a in moving or any(far in moving for _, far in graph.two(a, "r")) or k in moving:
            for out, side in ((k, "k"), (a, "a")):
                behind, stores = (
                    diode.other(out),
                    [c for c, far in graph.two(out, "c r") if far in graph.fixed],
                )
                if (
                    stores
                    and out not in graph.inputs
                    and behind not in graph.fixed
                    and _steps(found, behind) < _steps(found, out)
                ):
                    targets.setdefault((out, side), []).append(diode)
                    break
    for (out, _), members in targets.items():
        caps = [c for c, far in graph.two(out, "c") if far in graph.fixed]
        load = [r for r, far in graph.two(out, "r") if far in graph.fixed]
        if not caps and not graph.has_wave:  # nothing that changes is rectified
            string = graph.diodes_above(out)
            found.add(
                "diode_string", {"diodes": string or members, "series": load}, {"in": members[0].pins["a"]}
            )
            continue
        kind = "half_wave_rectifier" if len(members) == 1 else "full_wave_rectifier"
        nodes = (
            {"in": members[0].pins["a"], "out": out}
            if members[0].pins["k"] == out
            else {"in": members[0].pins["k"], "out": out}
        )
        before = _from_inputs(graph, [d.other(out) for d in members])
        elements = {"diodes": members, "reservoir": caps, "load": load, "source_resistance": before}
        found.add(kind, elements, nodes)


def _from_inputs(graph: Graph, nodes: Iterable[str]) -> list[Part]:
    """The resistors between sources and these nodes."""
    return [r for node in nodes for r, far in graph.two(node, "r") if far in graph.inputs]


def _steps(found: Finder, node: str) -> float:
    return found.order.get(node, 1e9)


def _multiplier(found: Finder, free: list[Part], moving: set[str]) -> bool:
    """A chain of diodes, each link bridged by capacitors: a doubler from two diodes on."""
    graph = found.graph
    chain: list[Part] = []
    for first in free:
        walk, at = [first], first.pins["k"]
        while at not in graph.fixed and (
            following := [d for d in free if d.pins["a"] == at and d not in walk]
        ):
            walk.append(following[0])
            at = following[0].pins["k"]
        chain = max(chain, walk, key=len)
    pumps = [
        (c, mid)
        for d in chain[:-1]
        for mid in [d.pins["k"]]
        for c, far in graph.two(mid, "c")
        if far in moving or any(far == e.pins["k"] for e in chain)
    ]
    if len(chain) < 2 or not pumps or chain[0].pins["a"] == chain[-1].pins["k"]:  # a ring is a clamp
        return False
    out = chain[-1].pins["k"]
    store = [c for c, far in graph.two(out, "c") if far in graph.fixed or far in {d.pins["k"] for d in chain}]
    if not store and not graph.two(out, "c"):
        return False
    kind = "voltage_doubler" if len(chain) == 2 else "voltage_multiplier"
    found.add(
        kind,
        {"diodes": chain, "pumps": list({c.name: c for c, _ in pumps}.values()), "reservoir": store},
        {"out": out},
    )
    return True
