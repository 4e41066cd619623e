"""Stages of transistors: all kinds in their order; cascodes, single stages and current sources.

A bipolar and a field-effect transistor are alike here: in (base, gate), out (collector, drain), com (emitter,
source). Sources of the formulas: Sedra, Smith, *Microelectronic Circuits*; Gray, Meyer, *Analysis and Design
of Analog Integrated Circuits*; Horowitz, Hill, *The Art of Electronics*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from domain.circuit.elements import GROUND
from domain.circuit.recognition.finder import JUNCTION_V, THERMAL_V, Finder, parallel
from domain.circuit.recognition.graph import Part
from domain.circuit.recognition.line_switches import find_line_switches
from domain.circuit.recognition.mirrors import find_mirrors, foot_of
from domain.circuit.recognition.recognised import Figure
from domain.circuit.recognition.transistor_cells import find_multipliers, find_switched_gates
from domain.circuit.recognition.transistor_pairs import find_output_stages, find_pairs

_NAMES = {
    "q": ("common_emitter", "emitter_follower", "common_base"),
    "m": ("common_source", "source_follower", "common_gate"),
    "j": ("common_source", "source_follower", "common_gate"),
}


def find_transistor_stages(found: Finder) -> None:
    find_line_switches(found)
    find_switched_gates(found)
    find_multipliers(found)
    find_mirrors(found)
    find_pairs(found)
    _cascode_opamps(found)
    _cascodes(found)
    find_output_stages(found)
    _limiters(found)
    _sinks(found)
    _singles(found)


# ---- cascodes --------------------------------------------------------------------------------------


def _cascode_opamps(found: Finder) -> None:
    """A pair whose currents go through cascodes, straight on or folded, into a cascode mirror."""
    graph = found.graph
    for pair in [stage for stage in found.stages if stage.kind == "differential_pair"]:
        free = {part.name: part for part in found.free("q m j")}
        uppers = [
            each
            for node in (pair.nodes["out2"], pair.nodes["out"])
            for each in free.values()
            if each.pins["com"] == node and each.pins["in"] in graph.fixed
        ]
        ends = [each.pins["out"] for each in uppers]
        below = [p for p in free.values() if p.pins["in"] in ends and p.pins["com"] in found.graph.rails]
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
    for upper in found.free("q m j"):
        for lower in found.free("q m j"):
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
                or found.steps_to(upper.pins["in"]) > found.steps_to(middle)
            )
            if not held or (found.is_still(lower.pins["in"]) and lower.pins["in"] not in found.order):
                continue
            folded = upper.polarity != lower.polarity
            if touching and not folded:
                continue
            kind = "folded_cascode" if folded else "cascode"
            _amplifier(found, kind, lower, upper)


# ---- single stages ---------------------------------------------------------------------------------


def _limiters(found: Finder) -> None:
    """Two transistors: the second takes the first one's base current where the drop at its foot is VBE."""
    graph = found.graph
    for part in found.free("q m j"):
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
    for part in found.free("q m j"):
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
        for part in found.free("q m j")
        if part.kind == "q"
    }
    for part in sorted(found.free("q m j"), key=lambda each: (found.steps_to(each.pins["in"]), each.name)):
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
        if (is_fed and out not in graph.fixed and found.steps_to(com) < found.steps_to(base)) or (
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
        elif {base, *(far for _, far in graph.two(base, "r"))} & set(graph.drives):
            _switch(found, part)
        elif _carries_a_bias(found, part):
            resistors = list(foot_of(found, part)[1])
            found.add(
                "current_source",
                {"transistor": [part], "degeneration": resistors},
                {"out": out, "common": foot_of(found, part)[0]},
            )


def _switch(found: Finder, part: Part) -> None:
    """A transistor that is driven on and off, with its load and the diodes that take over from a coil."""
    graph, out, base, com = found.graph, part.pins["out"], part.pins["in"], part.pins["com"]
    load: list[Part] = []
    node = out
    while node not in graph.fixed:
        onward = [(each, far) for each, far in graph.two(node, "r l") if each not in load and far != com]
        if len(onward) != 1:
            break
        load.append(onward[0][0])
        node = onward[0][1]
    diodes = [each for each, far in graph.two(out, "d") if far != com]
    ends = {each.other(out) for each in diodes} - set(graph.fixed)
    diodes += [each for end in ends for each, far in graph.two(end, "d") if far != out]
    elements = {
        "transistor": [part],
        "series": [each for each, far in graph.two(base, "r") if far in graph.drives],
        "pull_down": graph.between(base, com, "r"),
        "load": load,
        "diodes": diodes,
    }
    free = {role: [each for each in parts if each.name not in found.used] for role, parts in elements.items()}
    found.add("switch", free, {"out": out, "common": com})


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
    source_node = com if is_base_input else part.pins["in"]
    before, source_r = _source(found, source_node)
    hold = [
        c
        for c, far in graph.two(top.pins["in"], "c")
        if far in graph.fixed and (top is not part or is_base_input)
    ]
    through = [
        (c, far)
        for c, far in graph.two(out, "c")
        if far not in graph.fixed
        and far != part.pins["in"]
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
        "bias": [*base_parts],
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
        upper = graph.two(second.pins["in"], "r")
        elements["bias"] += [r for r, far in upper if far in graph.rails or far == part.pins["in"]]
    keep = set(found.used)
    nodes = {
        "in": source_node,
        "out": final,
        "common": com if not (is_follower or is_base_input) else top.pins["out"],
    }
    figures = list(_gain(found, kind, elements, out, final)) if low is part else []
    found.add(kind, elements, nodes, figures)
    found.used |= keep


def _source(found: Finder, node: str) -> tuple[list[Part], list[Part]]:
    """The capacitors a signal comes through to a node, and the resistors of its source before them."""
    graph = found.graph
    before = [
        c
        for c, far in graph.two(node, "c")
        if found.steps_to(far) < found.steps_to(node) and far not in graph.fixed
    ]
    resistors = [
        r
        for c in before
        for end in c.ends
        for r, far in graph.two(end, "r")
        if far in graph.inputs and len(graph.at[end]) == 2
    ]
    return before, resistors


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
    current = part.polarity * (volts - part.polarity * JUNCTION_V - far) / resistance
    if current <= 0:
        return
    yield Figure("collector_current", current, "A", "(VB - VBE)/RE", "Sedra, Smith, 7.4")
    outer = [r for r, end in graph.two(final, "r") if end in graph.fixed] if final != out else []
    re = THERMAL_V / current
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
