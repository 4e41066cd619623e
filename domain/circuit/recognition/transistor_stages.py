"""Stages of transistors: mirrors, pairs, cascodes, single stages, current sources, output stages.

A bipolar and a field-effect transistor are alike here: in (base, gate), out (collector, drain), com (emitter,
source). Sources of the formulas: Sedra, Smith, *Microelectronic Circuits*; Gray, Meyer, *Analysis and Design
of Analog Integrated Circuits*; Horowitz, Hill, *The Art of Electronics*.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from domain.circuit.elements import GROUND
from domain.circuit.recognition.finder import Finder, parallel
from domain.circuit.recognition.graph import Part
from domain.circuit.recognition.recognised import Figure

_VT = 0.02585
"""kT/q at 300 K (V)."""
_VBE = 0.65
_NAMES = {
    "q": ("common_emitter", "emitter_follower", "common_base"),
    "m": ("common_source", "source_follower", "common_gate"),
    "j": ("common_source", "source_follower", "common_gate"),
}


def find_transistor_stages(found: Finder) -> None:
    _switched_gates(found)
    _multipliers(found)
    _mirrors(found)
    _pairs(found)
    _cascode_opamps(found)
    _cascodes(found)
    _output_stages(found)
    _limiters(found)
    _sinks(found)
    _singles(found)


def _free(found: Finder) -> list[Part]:
    return found.free("q m j")


def _is_rail(found: Finder, node: str) -> bool:
    return node in found.graph.rails


def _foot(found: Finder, part: Part) -> tuple[str, tuple[Part, ...]]:
    """Where its emitter or source stands: at once, or through one resistor."""
    com = part.pins["com"]
    if com in found.graph.fixed:
        return com, ()
    resistors = [(r, far) for r, far in found.graph.two(com, "r") if far in found.graph.fixed]
    others = [p for p, pin in found.graph.at[com] if p is not part and p.kind in "qmj" and pin != "in"]
    if len(resistors) == 1 and not others:
        return resistors[0][1], (resistors[0][0],)
    return com, ()


# ---- digital and bias cells ------------------------------------------------------------------------


def _switched_gates(found: Finder) -> None:
    """CMOS cells between rails: inverters and rings of them, gates, crossed pairs that shift levels."""
    p_rows, n_rows = _by_polarity(found)
    inverters = _inverters(found)
    _rings(found, inverters)
    for given, (p, n) in inverters.items():
        if p.name not in found.used:
            found.add(
                "cmos_inverter", {"pull_up": [p], "pull_down": [n]}, {"in": given, "out": p.pins["out"]}
            )
    _level_shifters(found, p_rows, n_rows)
    _series_gates(found, "nand_gate", p_rows, n_rows)
    _series_gates(found, "nor_gate", n_rows, p_rows)


def _by_polarity(found: Finder) -> tuple[list[Part], list[Part]]:
    """The free MOS transistors: p, n."""
    free = [each for each in _free(found) if each.kind == "m"]
    return [each for each in free if each.polarity < 0], [each for each in free if each.polarity > 0]


def _inverters(found: Finder) -> dict[str, tuple[Part, Part]]:
    """Pairs with inputs and outputs tied, between rails, by their input."""
    inverters: dict[str, tuple[Part, Part]] = {}
    p_rows, n_rows = _by_polarity(found)
    for p in p_rows:
        for n in n_rows:
            tied = p.pins["in"] == n.pins["in"] and p.pins["out"] == n.pins["out"]
            if tied and _is_rail(found, p.pins["com"]) and _is_rail(found, n.pins["com"]):
                inverters.setdefault(p.pins["in"], (p, n))
                break
    return inverters


def _rings(found: Finder, inverters: Mapping[str, tuple[Part, Part]]) -> None:
    """An odd number of inverters, each at the input of the next."""
    for start in inverters:
        ring, at = [start], inverters[start][0].pins["out"]
        while at in inverters and at != start and len(ring) <= len(inverters):
            ring.append(at)
            at = inverters[at][0].pins["out"]
        if at != start or len(ring) % 2 == 0 or len(ring) < 3 or inverters[start][0].name in found.used:
            continue
        loads = [c for node in ring for c, far in found.graph.two(node, "c") if far in found.graph.fixed]
        pairs = [inverters[node] for node in ring]
        elements = {"pull_up": [p for p, _ in pairs], "pull_down": [n for _, n in pairs], "load": loads}
        found.add("ring_oscillator", elements, {"out": start})


def find_crystal_oscillators(found: Finder) -> None:
    """An inverter biased by a resistor, with a coil, a capacitor and a resistance in series beside it."""
    graph = found.graph
    for given, (p, n) in _inverters(found).items():
        out = p.pins["out"]
        bias = graph.between(given, out, "r")
        for start, goal in ((given, out), (out, given)):
            for first, _ in graph.two(start, "r c l") if bias else ():
                arm, node = [first], first.other(start)
                while node != goal and len(graph.at[node]) == 2 and len(arm) < 4:
                    arm.append(next(each for each, _ in graph.at[node] if each is not arm[-1]))
                    node = arm[-1].other(node) if arm[-1].kind in "rcl" else goal
                if node != goal or {"l", "c"} - {each.kind for each in arm} or p.name in found.used:
                    continue
                loads = [c for at in (given, out) for c, far in graph.two(at, "c") if far in graph.fixed]
                elements = {
                    "pull_up": [p], "pull_down": [n], "crystal": [*arm, *graph.between(given, out, "c")],
                    "bias": bias, "load": loads,
                }  # fmt: skip
                found.add("pierce_oscillator", elements, {"in": given, "out": out}, [_resonance(arm)])


def _resonance(arm: list[Part]) -> Figure | None:
    values = {each.kind: each.value for each in arm}
    coil, capacitor = values["l"], values["c"]
    if not coil or not capacitor:
        return None
    hz = 1 / (2 * math.pi * math.sqrt(coil * capacitor))
    return Figure("frequency", hz, "Hz", "1/(2 pi sqrt(L C))", "STMicroelectronics AN2867")


def _series_gates(found: Finder, kind: str, beside: list[Part], series: list[Part]) -> None:
    """Transistors side by side from a rail to a node, and as many with the same inputs in series below."""
    for out in sorted({each.pins["out"] for each in beside} - found.graph.fixed):
        wide = [p for p in beside if p.pins["out"] == out and _is_rail(found, p.pins["com"])]
        wide = [p for p in wide if p.name not in found.used]
        chain, at = [], out
        while nexts := [n for n in series if n.pins["out"] == at and n.name not in found.used]:
            chain.append(nexts[0])
            at = nexts[0].pins["com"]
        inputs = [each.pins["in"] for each in chain]
        if len(wide) > 1 and _is_rail(found, at) and sorted(inputs) == sorted(p.pins["in"] for p in wide):
            nodes = {"out": out} | {f"in{n}": node for n, node in enumerate(inputs, 1)}
            found.add(kind, {"series": chain, "parallel": wide}, nodes)


def _level_shifters(found: Finder, p_rows: list[Part], n_rows: list[Part]) -> None:
    """Two p devices, each gate at the drain of the other, and an n device below each."""
    for first in p_rows:
        for second in p_rows:
            a, b = first.pins["out"], second.pins["out"]
            crossed = a != b and first.pins["in"] == b and second.pins["in"] == a
            below = [n for node in (a, b) for n in n_rows if n.pins["out"] == node]
            if crossed and len(below) == 2 and first.name not in found.used:
                nodes = {"in": below[0].pins["in"], "in2": below[1].pins["in"], "out": b, "out2": a}
                found.add("level_shifter", {"crossed": [first, second], "pull_down": below}, nodes)


def _multipliers(found: Finder) -> None:
    """A transistor whose base stands between its collector and emitter on two resistors."""
    for part in found.free("q"):
        c, b, e = (part.pins[each] for each in ("out", "in", "com"))
        upper, lower = found.graph.between(b, c, "r"), found.graph.between(b, e, "r")
        if (
            upper
            and lower
            and len(found.graph.at[b]) == 1 + len(upper) + len(lower)
            and not {c, e} & {GROUND, *(n for n in found.graph.rails)}
        ):
            top, bottom = parallel(upper), parallel(lower)
            figure = None
            if top and bottom:
                figure = Figure(
                    "voltage", _VBE * (1 + top / bottom), "V", "VBE (1 + R1/R2)", "Sedra, Smith, 12.5"
                )
            found.add(
                "vbe_multiplier",
                {"transistor": [part], "upper": upper, "lower": lower},
                {"top": c, "bottom": e},
                [figure],
            )


# ---- mirrors ---------------------------------------------------------------------------------------


def _mirrors(found: Finder) -> None:
    """Mirrors of all kinds."""
    graph = found.graph
    diodes = [each for each in graph.of("q m j") if each.pins["in"] == each.pins["out"]]
    diodes += [each for each in graph.of("q m") if each not in diodes and _helper(found, each) is not None]
    groups: list[tuple[Part, list[Part]]] = []
    for diode in diodes:
        others = [
            each
            for each in graph.of("q m j")
            if each is not diode
            and each not in diodes
            and each.kind == diode.kind
            and each.polarity == diode.polarity
            and each.pins["in"] == diode.pins["in"]
        ]
        same = [each for each in others if _foot(found, each)[0] == _foot(found, diode)[0]]
        stacked = [each for each in others if _stands_on_mirror(found, diode, each)]
        if mates := [each for each in others if each in same or each in stacked]:
            groups.append((diode, mates))
    for diode, mates in groups:
        if diode.name in found.used or any(_stands_on_mirror(found, diode, mate) for mate in mates):
            continue
        helper = _helper(found, diode) if diode.pins["in"] != diode.pins["out"] else None
        upper = next(
            (
                (d, m)
                for d, m in groups
                if any(_stands_on_mirror(found, d, each) for each in m)
                and d.pins["com"] in (diode.pins["out"], *(x.pins["out"] for x in mates))
            ),
            None,
        )
        wilson = next(
            (
                each
                for each in graph.of("q m")
                if each.pins["com"] == diode.pins["out"]
                and each.pins["in"] in {m.pins["out"] for m in mates}
                and each not in mates
            ),
            None,
        )
        resistors = [r for each in (diode, *mates) for r in _foot(found, each)[1]]
        at_diode, at_mates = _foot(found, diode)[1], [r for m in mates for r in _foot(found, m)[1]]
        elements: dict[str, list[Part]] = {"reference": [diode], "output": list(mates)}
        nodes = {"in": diode.pins["out"], "out": mates[0].pins["out"], "common": _foot(found, diode)[0]}
        kind = "current_mirror"
        if wilson is not None:
            kind = "wilson_mirror"
            elements["output"] = [wilson]
            elements["mate"] = list(mates)
            nodes |= {"in": wilson.pins["in"], "out": wilson.pins["out"]}
        elif upper is not None:
            kind = "cascode_mirror"
            elements |= {"upper_reference": [upper[0]], "upper_output": list(upper[1])}
            nodes |= {"in": upper[0].pins["out"], "out": upper[1][0].pins["out"]}
        elif at_mates and not at_diode and diode.kind == "q":
            kind = "widlar_source"
        if helper is not None:
            elements["helper"] = [helper]
            nodes["in"] = diode.pins["out"]
        if resistors:
            elements["degeneration"] = resistors
        reference = [r for r, far in graph.two(nodes["in"], "r") if far in graph.rails]
        figures = _mirror_figures(found, kind, [diode, *mates], reference, nodes)
        if reference and len(reference) == 1 and kind != "wilson_mirror":
            elements["sets_current"] = reference
        elif reference:
            elements["sets_current"] = reference[:1]
        found.add(kind, elements, nodes, figures)


def _helper(found: Finder, part: Part) -> Part | None:
    """A follower that feeds the base line from the collector of the reference."""
    for other in found.graph.of("q m"):
        if (
            other is not part
            and other.pins["in"] == part.pins["out"]
            and other.pins["com"] == part.pins["in"]
        ):
            return other if other.pins["out"] in found.graph.rails else None
    return None


def _stands_on_mirror(found: Finder, diode: Part, mate: Part) -> bool:
    """Both stand on the outputs of another mirror, as the upper half of a cascode mirror does."""
    under = [
        next(
            (
                p
                for p, pin in found.graph.at[each.pins["com"]]
                if pin == "out" and p is not each and p.kind == each.kind
            ),
            None,
        )
        for each in (diode, mate)
    ]
    first, second = under
    return (
        first is not None
        and second is not None
        and first is not second
        and first.pins["in"] == second.pins["in"]
    )


def _mirror_figures(
    found: Finder, kind: str, transistors: list[Part], reference: list[Part], nodes: dict[str, str]
) -> Iterator[Figure]:
    diode, *mates = transistors
    graph = found.graph
    if diode.kind == "m":
        reference_size = _width_over_length(diode)
        for mate in mates:
            size = _width_over_length(mate)
            if size and reference_size:
                formula = f"(W/L {mate.name})/(W/L {diode.name})"
                yield Figure("ratio", size / reference_size, "1", formula, "Sedra, Smith, 8.2")
        return
    if len(reference) != 1 or diode.kind != "q":
        return
    far = reference[0].other(nodes["in"])
    common = graph.rails.get(nodes["common"])
    if common is None or not reference[0].value:
        return
    drops = 2 if kind in ("wilson_mirror", "cascode_mirror") or "helper" in nodes else 1
    current = (abs(graph.rails[far] - common) - drops * _VBE) / reference[0].value
    if current <= 0:
        return
    yield Figure(
        "reference_current", current, "A", f"(V - {'2 ' if drops == 2 else ''}VBE)/R", "Sedra, Smith, 8.2"
    )
    foot = _foot(found, mates[0])[1]
    if kind == "widlar_source" and foot and foot[0].value:
        out = current
        for _ in range(60):  # VT ln(IREF/IO) = IO RE
            out = 0.5 * (out + _VT * math.log(max(current / out, 1 + 1e-9)) / foot[0].value)
        yield Figure("output_current", out, "A", "VT ln(IREF/IO)/RE", "Gray, Meyer, 4.4")


def _width_over_length(part: Part) -> float | None:
    from domain.circuit.numbers import read_number

    found = [
        read_number(part.element.params[key].text) if key in part.element.params else None
        for key in ("w", "l")
    ]
    width, length = (each.value if each is not None else None for each in found)
    times = read_number(part.element.params["m"].text) if "m" in part.element.params else None
    return width / length * (times.value if times else 1) if width and length else None


# ---- pairs, cascodes, output stages ----------------------------------------------------------------


def _pairs(found: Finder) -> None:
    for first in _free(found):
        for second in _free(found):
            if second is first or first.name in found.used or second.name in found.used:
                continue
            tail, resistors = _tail(found, first, second)
            if tail is None:
                continue
            graph = found.graph
            feeding = [
                p
                for p, pin in graph.at[tail]
                if p not in (first, second, *resistors) and (p.kind in "ril" or pin == "out")
            ]
            outs = {first.pins["out"], second.pins["out"]}
            mirror = [
                stage
                for stage in found.stages
                if "mirror" in stage.kind and outs & set(stage.nodes.values()) and first.pins["out"] != tail
            ]
            loads = [
                r
                for out in sorted(outs - set(graph.rails))
                for r, far in graph.two(out, "r")
                if far in graph.rails
            ]
            elements: dict[str, list[Part]] = {"transistors": [first, second], "tail": feeding}
            elements |= {"degeneration": resistors} if resistors else {}
            elements |= {"load": loads} if loads else {}
            nodes = {
                "in": first.pins["in"],
                "in2": second.pins["in"],
                "out": second.pins["out"],
                "out2": first.pins["out"],
                "tail": tail,
            }
            if mirror:
                nodes["load"] = next(iter(mirror[0].elements["reference"]))
            own = set(found.used)
            found.add("differential_pair", elements, nodes)
            # the tail transistor may be an output of a mirror: it stays where it is
            found.used |= own


def _tail(found: Finder, first: Part, second: Part) -> tuple[str | None, list[Part]]:
    """The common node of a pair and its degeneration; None where the two are no pair."""
    nothing: tuple[None, list[Part]] = (None, [])
    names = [part.element.model.text.lower() if part.element.model else "" for part in (first, second)]
    is_known = all(part.block.find_model(name) for part, name in zip((first, second), names, strict=True))
    alike = first.kind == second.kind and first.polarity == second.polarity
    alike = alike and (is_known or names[0] == names[1])  # else they may be of opposite polarity
    if (
        not alike
        or first.pins["in"] == second.pins["in"]
        or {first.pins["out"], second.pins["out"]} & {first.pins["in"], second.pins["in"]}
        or first.pins["out"] == second.pins["out"]
        or {first.pins["out"], second.pins["out"]} <= set(found.graph.rails)
        or {first.pins["com"], second.pins["com"]} & found.graph.fixed
    ):
        return nothing
    graph = found.graph
    tail, resistors = first.pins["com"], []
    if tail != second.pins["com"]:
        pairs = [
            (r, s, far)
            for r, far in graph.two(first.pins["com"], "r")
            for s, other in graph.two(second.pins["com"], "r")
            if far == other and r is not s
        ]
        if len(pairs) != 1:
            return nothing
        resistors, tail = [pairs[0][0], pairs[0][1]], pairs[0][2]
    if tail in graph.fixed:
        return nothing
    mates = [p for p, pin in graph.at[tail] if p.kind in "qmj" and pin == "com" and p not in (first, second)]
    fed = any(
        (p.kind in "ri" and p not in resistors) or (p.kind in "qmj" and pin == "out")
        for p, pin in graph.at[tail]
    )
    return (tail, resistors) if fed and not mates else nothing


def _cascode_opamps(found: Finder) -> None:
    """A pair whose currents go through cascodes, straight on or folded, into a cascode mirror."""
    graph = found.graph
    for pair in [stage for stage in found.stages if stage.kind == "differential_pair"]:
        free = {part.name: part for part in _free(found)}
        uppers = [
            each
            for node in (pair.nodes["out2"], pair.nodes["out"])
            for each in free.values()
            if each.pins["com"] == node and each.pins["in"] in graph.fixed
        ]
        ends = [each.pins["out"] for each in uppers]
        below = [p for p in free.values() if p.pins["in"] in ends and _is_rail(found, p.pins["com"])]
        feet = {each.pins["out"] for each in below}
        between = [p for p in free.values() if p.pins["com"] in feet and p.pins["out"] in ends]
        if not len(uppers) == len(below) == len(between) == 2:
            continue
        is_straight = any(
            part.name in pair.elements["transistors"] and part.polarity == uppers[0].polarity
            for part in graph.of("q m j")
        )
        found.add(
            "telescopic_opamp" if is_straight else "folded_cascode",
            {"cascodes": uppers, "mirror": below, "mirror_cascodes": between},
            {
                "in": pair.nodes["out2"],
                "in2": pair.nodes["out"],
                "out": ends[ends[0] == below[0].pins["in"]],
            },
        )


def _cascodes(found: Finder) -> None:
    graph = found.graph
    for upper in _free(found):
        for lower in _free(found):
            if lower is upper or upper.pins["com"] != lower.pins["out"] or upper.name in found.used:
                continue
            if lower.name in found.used or lower.pins["in"] == lower.pins["out"]:
                continue
            middle = upper.pins["com"]
            touching = [p for p, pin in graph.at[middle] if p not in (upper, lower) and p.kind in "qmjr"]
            capped = any(far in graph.fixed for _, far in graph.two(upper.pins["in"], "c"))
            held = (
                capped
                or found.is_still(upper.pins["in"])
                or _order(found, upper.pins["in"]) > _order(found, middle)
            )
            if not held or (found.is_still(lower.pins["in"]) and lower.pins["in"] not in found.order):
                continue
            folded = upper.polarity != lower.polarity
            if touching and not folded:
                continue
            kind = "folded_cascode" if folded else "cascode"
            _amplifier(found, kind, lower, upper)


def _order(found: Finder, node: str) -> float:
    return found.order.get(node, math.inf)


def _output_stages(found: Finder) -> None:
    for n in [each for each in _free(found) if each.polarity > 0]:
        for p in [each for each in _free(found) if each.polarity < 0]:
            graph = found.graph
            ends = []
            resistors: list[Part] = []
            for each in (n, p):
                if each.pins["com"] in graph.fixed:
                    break
                link = [(r, far) for r, far in graph.two(each.pins["com"], "r") if (r.value or 1e9) <= 100]
                ends.append({each.pins["com"]: None, **{far: r for r, far in link}})
            if len(ends) != 2 or n.kind != p.kind or n.name in found.used or p.name in found.used:
                continue
            common = [node for node in ends[0] if node in ends[1] and node not in graph.fixed]
            if not common or not (_is_rail(found, n.pins["out"]) and _is_rail(found, p.pins["out"])):
                continue
            resistors = [r for side in ends if (r := side[common[0]]) is not None]
            bases = [each.pins["in"] for each in (n, p)]
            joints = [d.pins["com"] for d in graph.of("q") if d.pins["in"] == d.pins["out"] in bases]
            feet = [r for at in joints for r, far in graph.two(at, "r") if far not in graph.fixed]
            feeds = [r for at in bases for r, far in graph.two(at, "r") if far in graph.rails]
            found.add(
                "push_pull",
                {"transistors": [n, p], "emitter_resistors": resistors, "sets_current": feet, "bias": feeds},
                {"in": n.pins["in"], "in2": p.pins["in"], "out": common[0]},
            )


# ---- single stages ---------------------------------------------------------------------------------


def _limiters(found: Finder) -> None:
    """Two transistors: the second takes the first one's base current where the drop at its foot is VBE."""
    graph = found.graph
    for part in _free(found):
        base, foot = part.pins["in"], part.pins["com"]
        feet = [r for r, far in graph.two(foot, "r") if far in graph.fixed]
        if len(feet) != 1 or foot in graph.fixed or part.pins["out"] in graph.rails:
            continue
        seconds = [
            each
            for each, pin in graph.at[foot]
            if each.kind == "q"
            and pin == "in"
            and each.pins["out"] == base
            and each.pins["com"] == feet[0].other(foot)
            and each.polarity == part.polarity
        ]
        fed = [r for r, far in graph.two(base, "r") if far in graph.rails]
        if len(seconds) == 1 and fed:
            ohm = parallel(feet)
            found.add(
                "current_sink",
                {
                    "transistor": [part],
                    "second": seconds,
                    "sense": feet,
                    "bias": fed,
                    "load": graph.diodes_above(part.pins["out"]),
                },
                {"out": part.pins["out"], "common": feet[0].other(foot)},
                [Figure("output_current", 0.65 / ohm, "A", "VBE/R", "Horowitz, Hill, 2.2.6")] if ohm else [],
            )


def _sinks(found: Finder) -> None:
    """One transistor whose emitter or source stands on a resistor alone and whose base or gate stands still:
    a JFET at the foot of its resistor, or a bipolar transistor on a diode that conducts (an LED)."""
    graph = found.graph
    for part in _free(found):
        base, com = part.pins["in"], part.pins["com"]
        feet = [r for r, far in graph.two(com, "r") if far in graph.fixed]
        if len(feet) != 1 or len(graph.at[com]) != 2 or com in graph.fixed:
            continue
        reference: list[Part] = []
        if part.kind == "q" and part.polarity > 0:
            diodes = [
                d for d, pin in graph.at[base] if d.kind == "d" and pin == "a" and d.pins["k"] == GROUND
            ]
            fed = [r for r, far in graph.two(base, "r") if far in graph.rails]
            if len(diodes) != 1 or len(fed) != 1 or len(graph.at[base]) != 3:
                continue
            reference = [*diodes, *fed]
        elif part.kind != "j" or feet[0].other(com) != base:
            continue
        found.add(
            "current_source",
            {"transistor": [part], "degeneration": feet, "reference": reference},
            {"out": part.pins["out"], "common": feet[0].other(com)},
        )


def _singles(found: Finder) -> None:
    graph = found.graph
    darlington = {
        part.name: next(
            (
                p
                for p, pin in graph.at[part.pins["com"]]
                if p is not part
                and p.kind == "q"
                and pin == "in"
                and (
                    p.pins["out"] == part.pins["out"]
                    or (p.pins["out"] in graph.rails and part.pins["out"] in graph.rails)
                )
                and p.polarity == part.polarity
            ),
            None,
        )
        for part in _free(found)
        if part.kind == "q"
    }
    for part in sorted(_free(found), key=lambda each: (_order(found, each.pins["in"]), each.name)):
        if part.name in found.used:
            continue
        mate = darlington.get(part.name)
        if mate is not None and mate.name not in found.used and part.pins["com"] not in graph.fixed:
            _amplifier(found, "darlington", part, mate)
            continue
        base, out, com = (part.pins[each] for each in ("in", "out", "com"))
        common_emitter, follower, common_base = _NAMES[part.kind]
        if base == out:
            if part.kind in {"q", "m"}:
                found.add("diode_connected", {"transistor": [part]}, {"in": out, "common": com})
            continue
        if part.kind == "j" and base == com and found.graph.two(out):
            found.add("current_source", {"transistor": [part]}, {"out": out, "common": com})
            continue
        is_driven, is_fed = base in found.order, com in found.order and com not in graph.fixed
        loose = not found.order
        held = found.is_still(base)
        if (is_fed and out not in graph.fixed and _order(found, com) < _order(found, base)) or (
            loose and held and com not in graph.fixed and any(far != GROUND for _, far in graph.two(com, "c"))
        ):
            _amplifier(found, common_base, part)
        elif out in graph.fixed:
            if com in graph.fixed:
                continue
            _amplifier(found, follower, part)
        elif (
            is_driven
            or (not held and _is_controlled(found, base))
            or (loose and _is_biased_stage(found, part))
        ):
            leads = com not in graph.fixed and _leads_on(found, com, part) and not _leads_on(found, out, part)
            _amplifier(found, follower if leads else common_emitter, part)
        elif base in graph.drives:
            found.add("switch", {"transistor": [part]}, {"out": out, "common": com})
        elif _carries_a_bias(found, part):
            resistors = list(_foot(found, part)[1])
            found.add(
                "current_source",
                {"transistor": [part], "degeneration": resistors},
                {"out": out, "common": _foot(found, part)[0]},
            )


def _carries_a_bias(found: Finder, part: Part) -> bool:
    """Its base is held from a rail through resistors and diodes, and nothing that moves comes to it."""
    graph, waiting = found.graph, [part.pins["in"]]
    if any(far not in graph.fixed for _, far in graph.two(part.pins["in"], "c l")):
        return False
    if any(p.kind in "qmj" and pin == "out" for p, pin in graph.at[part.pins["com"]] if p is not part):
        return False
    seen = set(waiting)
    while waiting:
        at = waiting.pop()
        if at in graph.fixed:
            return True
        steps = [far for _, far in graph.two(at, "r d")]
        steps += [p.pins["com"] for p, _ in graph.at[at] if p.kind in "qm" and p.pins["in"] == p.pins["out"]]
        waiting += [far for far in steps if far not in seen]
        seen.update(steps)
    return found.is_still(part.pins["in"])


def _is_biased_stage(found: Finder, part: Part) -> bool:
    """In a circuit without a signal: its collector and its base lead to rails through resistors alone."""
    graph, out, base = found.graph, part.pins["out"], part.pins["in"]
    loads = [far for _, far in graph.two(out, "r") if far in graph.rails]
    is_held = base in graph.bias and part.pins["com"] in graph.rails
    return bool(loads) and (is_held or {p.kind for p, _ in graph.at[base] if p is not part} == {"r"})


def _is_controlled(found: Finder, base: str) -> bool:
    """Something active moves the base: another stage, an op-amp, a network of its own feedback."""
    return any(
        (p.kind in "qmj" and pin in ("out", "com")) or (p.kind == "amp" and pin == "out") or p.kind in "cl"
        for p, pin in found.graph.at[base]
    ) or any(
        (p.kind in "qmj" and pin in ("out", "com")) or (p.kind == "amp" and pin == "out")
        for _, far in found.graph.two(base, "r")
        if far not in found.graph.fixed
        for p, pin in found.graph.at[far]
    )


def _leads_on(found: Finder, node: str, part: Part) -> bool:
    """Whether a node leads to an output or to an input of something else."""
    graph = found.graph
    if node in graph.observed:
        return True
    for other, pin in graph.at[node]:
        if other is not part and (
            (other.kind in "qmj" and pin == "in") or (other.kind == "amp" and pin in "pn")
        ):
            return True
    return any(
        far not in graph.fixed
        and far != part.pins["in"]
        and (far in graph.observed or any(p.kind != "c" and p.name != c.name for p, _ in graph.at[far]))
        for c, far in graph.two(node, "c")
    )


def _amplifier(found: Finder, kind: str, part: Part, second: Part | None = None) -> None:
    """A stage with its loads, its emitter network and, where the bias is a divider, its figures."""
    graph = found.graph
    top = second if second is not None and kind != "darlington" else part
    low = second if second is not None and kind == "darlington" else part
    is_follower = kind in ("emitter_follower", "source_follower") or (
        kind == "darlington" and low.pins["out"] in graph.rails
    )
    is_base_input = kind in ("common_base", "common_gate")
    out = low.pins["com"] if is_follower else top.pins["out"]
    loads = [r for r, far in graph.two(top.pins["out"], "r") if far in graph.rails] if not is_follower else []
    coils = [x for x, far in graph.two(top.pins["out"], "l") if far in graph.rails] if not is_follower else []
    active = [
        p
        for p, pin in graph.at[out]
        if p is not part and p is not second and p.kind in "qmji" and (p.kind == "i" or pin == "out")
    ]
    com = low.pins["com"]
    unbypassed, bypassed, bypass = (
        _emitter(found, com) if not (is_follower or is_base_input) else ([], _feet(found, com), [])
    )
    base_parts = [
        r
        for r, far in graph.two(part.pins["in"], "r")
        if far in graph.rails
        or any(p.kind in "qm" and p.pins["in"] == p.pins["out"] == far for p, _ in graph.at[far])
    ]
    after = [(c, far) for c, far in graph.two(out, "c") if far not in graph.fixed]
    source_node = com if is_base_input else part.pins["in"]
    before = [
        c
        for c, far in graph.two(source_node, "c")
        if _order(found, far) < _order(found, source_node) and far not in graph.fixed
    ]
    source_r = [
        r
        for c in before
        for node in c.ends
        for r, end in graph.two(node, "r")
        if end in graph.inputs and len(graph.at[node]) == 2
    ]
    hold = [
        c
        for c, far in graph.two(top.pins["in"], "c")
        if far in graph.fixed and (top is not part or is_base_input)
    ]
    through = [
        (c, far)
        for c, far in after
        if far != part.pins["in"]
        and c not in before
        and any(other in graph.fixed for _, other in graph.two(far, "r"))
    ]
    final = through[0][1] if len(through) == 1 else out
    elements: dict[str, list[Part]] = {
        "transistor": [part],
        "upper": [second] if second and kind != "darlington" else [],
        "second": [second] if second and kind == "darlington" else [],
        "load": [*loads, *coils],
        "active_load": active,
        "bias": base_parts,
        "degeneration": unbypassed,
        "foot": bypassed,
        "bypass": bypass,
        "source_resistance": source_r,
        "input_coupling": before,
        "output_coupling": [c for c, _ in through],
        "holds_base": hold,
    }
    if kind == "cascode":
        assert second is not None
        elements["bias"] = [
            *base_parts,
            *[
                r
                for r, far in graph.two(second.pins["in"], "r")
                if far in graph.rails or far == part.pins["in"]
            ],
        ]
    keep = set(found.used)
    nodes = {
        "in": source_node,
        "out": final,
        "common": com if not (is_follower or is_base_input) else top.pins["out"],
    }
    figures = list(_gain(found, kind, elements, out, final)) if low is part else []
    found.add(kind, elements, nodes, figures)
    found.used |= keep


def _emitter(found: Finder, com: str) -> tuple[list[Part], list[Part], list[Part]]:
    """Resistors that act on the signal, those a capacitor bridges, and the capacitor."""
    graph = found.graph
    if com in graph.fixed:
        return [], [], []
    bypass = [c for c, far in graph.two(com, "c") if far in graph.fixed]
    direct = [(r, far) for r, far in graph.two(com, "r")]
    rails = [r for r, far in direct if far in graph.rails]
    if bypass:
        return [], rails, bypass
    for r, far in direct:
        feet = [s for s, end in graph.two(far, "r") if end in graph.rails and s is not r]
        caps = [c for c, end in graph.two(far, "c") if end in graph.fixed]
        if feet and caps and far not in graph.fixed and far != com:
            return [r, *rails], feet, caps
    for c, far in graph.two(com, "c"):  # a capacitor with its own resistor in series
        series = [s for s, end in graph.two(far, "r") if end in graph.fixed]
        if series and len(graph.at[far]) == 2 and far not in graph.observed:
            return series, rails, [c]
    return rails, [], []


def _feet(found: Finder, com: str) -> list[Part]:
    """Resistors that carry an emitter's current to a rail."""
    return [r for r, far in found.graph.two(com, "r") if far in found.graph.rails]


def _gain(
    found: Finder, kind: str, elements: Mapping[str, list[Part]], out: str, final: str
) -> Iterator[Figure]:
    """Of a stage whose base stands on a divider: the current, and the gain at mid-band."""
    part, loads, source = elements["transistor"][0], elements["load"], elements["source_resistance"]
    unbypassed, bypassed = elements["degeneration"], elements["foot"]
    graph = found.graph
    if part.kind != "q":
        return
    volts = _base_voltage(found, part)
    foot = [r.value for r in (*unbypassed, *bypassed) if r.value]
    far = _emitter_rail(found, part)
    if volts is None or not foot or far is None:
        return
    resistance = sum(foot)
    current = part.polarity * (volts - part.polarity * _VBE - far) / resistance
    if current <= 0:
        return
    yield Figure("collector_current", current, "A", "(VB - VBE)/RE", "Sedra, Smith, 7.4")
    outer = [r for r, end in graph.two(final, "r") if end in graph.fixed] if final != out else []
    re = _VT / current
    local = sum(r.value for r in unbypassed if r.value)
    if kind in ("common_emitter", "cascode", "common_base"):
        load = parallel([*loads, *outer])
        if load is None:
            return
        if kind == "common_base":
            series = sum(r.value for r in source if r.value)
            yield Figure("gain", load / (re + series), "1", "(RC || RL)/(RS + re)", "Sedra, Smith, 7.3")
        else:
            yield Figure("gain", -load / (re + local), "1", "-(RC || RL)/(re + RE)", "Sedra, Smith, 7.3")
    elif kind == "emitter_follower":
        load = parallel([*bypassed, *outer])
        if load is not None:
            yield Figure("gain", load / (load + re), "1", "(RE || RL)/(re + RE || RL)", "Sedra, Smith, 7.3")


def _emitter_rail(found: Finder, part: Part) -> float | None:
    """The voltage of the rail at the foot of the emitter's resistors."""
    graph, node = found.graph, part.pins["com"]
    for _ in range(3):
        if node in graph.rails:
            return graph.rails[node]
        following = [far for _, far in graph.two(node, "r")]
        rails = [far for far in following if far in graph.rails]
        node = rails[0] if rails else next((far for far in following if far not in graph.observed), node)
    return None


def _base_voltage(found: Finder, part: Part) -> float | None:
    """Of a base on a chain of resistors between rails, base currents left out."""
    graph, base = found.graph, part.pins["in"]
    if base in graph.rails:
        return graph.rails[base]
    sides: list[tuple[float, float]] = []
    for r, far in graph.two(base, "r"):
        total, came, node = r.value, r, far
        passed = {base}
        while total is not None and node not in graph.rails:
            onward = [s for s, _ in graph.two(node, "r") if s is not came]
            if len(onward) != 1 or node in graph.inputs or node in passed:  # a ring of resistors ends nowhere
                total = None
                break
            came = onward[0]
            passed.add(node)
            node = came.other(node)
            total = total + came.value if came.value is not None else None
        if total:
            sides.append((total, graph.rails[node]))
    if len(sides) < 2:
        return None
    return sum(v / r for r, v in sides) / sum(1 / r for r, _ in sides)
