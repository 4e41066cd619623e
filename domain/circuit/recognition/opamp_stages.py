"""Stages of op-amps, told by what lies between their output, their inputs and the rest.

Sources of the formulas: Sedra, Smith, *Microelectronic Circuits*, chapters 2 and 18; TI *Op Amps for
Everyone*, SLOD006B, chapter 16.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from domain.circuit.elements import GROUND
from domain.circuit.recognition.finder import Finder, parallel
from domain.circuit.recognition.graph import Graph, Part
from domain.circuit.recognition.opamp_filters import find_multiple_feedback, find_sallen_key
from domain.circuit.recognition.opamp_surroundings import (
    Around,
    Network,
    capacitance,
    networks_of,
    parts_of,
    resistance,
    stands_still,
)  # fmt: skip
from domain.circuit.recognition.recognised import Figure

_SS, _SLOD = "Sedra, Smith", "TI SLOD006B"


def find_opamp_stages(found: Finder) -> None:
    networks = networks_of(found.graph)
    amps = found.graph.of("amp")
    _twin_ts(found, networks)
    _bandgaps(found, amps)
    _instrumentation(found, amps, networks)
    for amp in amps:
        if amp.name not in found.used:
            _stage(found, amp, networks)


def _stage(found: Finder, amp: Part, networks: Sequence[Network]) -> None:
    around = Around(found, amp, networks)
    negative, positive = around.between(around.out, around.n), around.between(around.out, around.p)
    is_follower = around.n == around.out
    for finder in (_wien, _relaxation, _schmitt, find_sallen_key, find_multiple_feedback, _phase_shift):
        if finder(found, around, negative, positive):
            return
    if is_follower:
        found.add(
            "voltage_follower",
            {"amplifier": [amp]},
            {"in": around.p, "out": around.out},
            [Figure("gain", 1.0, "1", "1", f"{_SS}, 2.3")],
        )
    elif not negative:
        _without_feedback(found, around)
    elif around.p in around.fixed or stands_still(around):
        _inverting(found, around, negative)
    else:
        _non_inverting(found, around, negative)


def _without_feedback(found: Finder, around: Around) -> None:
    """A comparator, or an amplifier whose loop is closed by other devices."""
    graph, amp = around.graph, around.amp
    loops = {far: part for part, far in _followed_by(graph, around.out)}
    if _current_sink(found, around, loops):
        return
    for far, device in loops.items():
        for pin in (around.n, around.p):
            divider = [each for each in around.networks if far in each.ends and pin in each.ends]
            if far == pin or divider:
                reference = around.p if pin == around.n else around.n
                upper = parts_of(divider)
                lower = (
                    [p for each in around.to_still(pin) for p in each.parts if p.kind == "r"]
                    if divider
                    else []
                )
                ratio = None
                top, bottom = parallel([p for p in upper if p.kind == "r"]), parallel(lower)
                reference_v = graph.rails.get(reference) or _zener_voltage(graph, reference)
                if top and bottom and reference_v:
                    ratio = Figure(
                        "output_voltage", reference_v * (1 + top / bottom), "V", "VREF (1 + R1/R2)", _SS
                    )
                elif far == pin and reference_v:
                    ratio = Figure("output_voltage", reference_v, "V", "VREF", _SS)
                supplied = device.pins["out"] in graph.rails or device.pins["com"] in graph.rails
                kind = (
                    "series_regulator"
                    if supplied and _is_still_reference(found, reference)
                    else "boosted_amplifier"
                )
                found.add(
                    kind,
                    {"pass": [device], "amplifier": [amp], "upper": upper, "lower": lower},
                    {"out": far, "reference": reference},
                    [ratio],
                )
                return
    supplies = {node for pin, node in amp.pins.items() if pin.startswith("supply")}
    if any(
        graph.at[node] != [(amp, pin)] for pin, node in amp.pins.items() if node in supplies - graph.fixed
    ):
        return  # another of its pins has parts: which one is the output is not known
    found.add("comparator", {"amplifier": [amp]}, {"in": around.p, "in2": around.n, "out": around.out})


def _current_sink(found: Finder, around: Around, loops: Mapping[str, Part]) -> bool:
    """A transistor whose emitter or source stands on a resistor and goes back to the - input."""
    graph = around.graph
    device = loops.get(around.n)
    if device is None or device.pins["com"] != around.n or device.pins["out"] in graph.rails:
        return False
    sense = [r for r, far in graph.two(around.n, "r") if far in graph.fixed]
    if not sense:
        return False
    ohm, reference = parallel(sense), graph.rails.get(around.p)
    figures = [Figure("output_current", reference / ohm, "A", "VREF/R", _SS)] if ohm and reference else []
    found.add(
        "current_sink",
        {
            "transistor": [device],
            "amplifier": [around.amp],
            "sense": sense,
            "divider": [r for r, _ in graph.two(around.p, "r")],
            "load": graph.diodes_above(device.pins["out"]),
        },
        {"in": around.p, "out": device.pins["out"]},
        figures,
    )
    return True


def _is_still_reference(found: Finder, node: str) -> bool:
    graph = found.graph
    return node in graph.fixed or (node not in graph.inputs and any(p.kind == "d" for p, _ in graph.at[node]))


def _zener_voltage(graph: Graph, node: str) -> float | None:
    diodes = [p for p, pin in graph.at[node] if p.kind == "d" and pin == "k" and p.other(node) in graph.rails]
    return diodes[0].model_value("bv") if diodes else None


def _followed_by(graph: Graph, out: str) -> list[tuple[Part, str]]:
    """Transistors the output controls (also through one resistor), with the node each moves."""
    nodes = [out, *(far for _, far in graph.two(out, "r") if far not in graph.fixed)]
    found = []
    for node in nodes:
        for part, pin in graph.at[node]:
            if part.kind in "qmj" and pin == "in":
                moved = part.pins["com"] if part.pins["com"] not in graph.fixed else part.pins["out"]
                found.append((part, moved))
                second = [p for p, q in graph.at[moved] if p.kind == "q" and q == "in" and p is not part]
                found += [(each, each.pins["com"]) for each in second]
    return found


def _twin_ts(found: Finder, networks: Sequence[Network]) -> None:
    """Two resistors with a capacitor at their middle beside two capacitors with a resistor at theirs."""
    tees: dict[tuple[str, frozenset[str]], tuple[str, list[Part], list[Part]]] = {}
    for node in sorted({node for each in networks for node in each.inner}):
        arms: dict[str, dict[str, list[Part]]] = {"r": {}, "c": {}}
        for part, far in found.graph.two(node, "r c"):
            arms[part.kind].setdefault(far, []).append(part)
        for arm, foot in ("rc", "cr"):
            if len(arms[arm]) == 2 and len(arms[foot]) == 1:
                tees[arm, frozenset(arms[arm])] = (
                    next(iter(arms[foot])),
                    [p for x in arms[arm].values() for p in x],
                    next(iter(arms[foot].values())),
                )
    for (arm, ends), (foot, resistors, caps) in tees.items():
        other = tees.get(("c", ends))
        if arm != "r" or other is None:
            continue
        r, c = resistors[0].value, other[1][0].value
        figures = (
            [Figure("center", 1 / (2 * math.pi * r * c), "Hz", "1/(2 pi R C)", f"{_SLOD}, 16.6")]
            if r and c
            else []
        )
        first, last = sorted(ends, key=lambda node: (found.order.get(node, 99), node))
        found.add(
            "twin_t_notch",
            {"resistors": [*resistors, *other[2]], "capacitors": [*other[1], *caps]},
            {"in": first, "out": last, "foot": foot},
            figures,
        )


def _bandgaps(found: Finder, amps: Sequence[Part]) -> None:
    """An amplifier that balances two branches of diode-connected transistors, one with a resistor more."""
    graph = found.graph
    for amp in amps:
        sides: list[tuple[list[Part], list[Part]]] = []
        for pin in ("p", "n"):
            node = amp.pins[pin]
            direct = [p for p, _ in graph.at[node] if _is_diode(p)]
            behind = [
                (r, p)
                for r, far in graph.two(node, "r")
                for p, _ in graph.at[far]
                if _is_diode(p) and far not in graph.fixed
            ]
            sides.append(
                (direct[:1] or [p for _, p in behind[:1]], [] if direct else [r for r, _ in behind[:1]])
            )
        junctions, resistors = [p for side in sides for p in side[0]], [r for side in sides for r in side[1]]
        if len(junctions) == 2 and len(resistors) == 1 and junctions[0] is not junctions[1]:
            loads = [r for pin in ("p", "n") for r, _ in graph.two(amp.pins[pin], "r") if r not in resistors]
            out = {r.other(amp.pins[pin]) for r in loads for pin in ("p", "n") if amp.pins[pin] in r.ends} - {
                amp.pins["p"],
                amp.pins["n"],
            }
            found.add(
                "bandgap_reference",
                {"amplifier": [amp], "junctions": junctions, "difference": resistors, "branches": loads},
                {"out": min(out)} if out else {},
            )


def _is_diode(part: Part) -> bool:
    return part.kind == "d" or (part.kind == "q" and part.pins["in"] == part.pins["out"])


# ---- with positive feedback ------------------------------------------------------------------------


def _schmitt(found: Finder, around: Around, negative: Sequence[Network], positive: Sequence[Network]) -> bool:
    if negative or not any("r" in each.kinds for each in positive) or around.n == around.out:
        return False
    to_ground = around.to_still(around.p)
    signal = [
        each
        for each in around.networks
        if around.p in each.ends and each not in positive and each not in to_ground
    ]
    inverting = not signal
    figure = None
    fed = resistance(positive)
    rest = resistance([each for each in (to_ground if inverting else signal) if not each.of("c")])
    if fed and rest:
        beta = rest / (rest + fed) if inverting else rest / fed
        formula = "R1/(R1 + RF)" if inverting else "RIN/RF"
        figure = Figure("hysteresis_share", beta, "1", f"{formula} of the output's swing", f"{_SS}, 18.4")
    nodes = {
        "in": around.n if inverting else next(iter(sorted(signal[0].ends - {around.p})), around.p),
        "out": around.out,
    }
    found.add(
        "schmitt_trigger",
        {
            "amplifier": [around.amp],
            "feedback": parts_of(positive),
            "divider": parts_of(to_ground),
            "input": parts_of(signal),
        },
        nodes,
        [figure],
    )
    return True


def _relaxation(
    found: Finder, around: Around, negative: Sequence[Network], positive: Sequence[Network]
) -> bool:
    """A Schmitt trigger that charges a capacitor at its - input from its own output."""
    capacitor = [p for each in around.to_still(around.n) if each.kinds == "c" for p in each.parts]
    charging = [each for each in negative if "r" in each.kinds and not each.of("c")]
    if not positive or not capacitor or not charging or any("c" in each.kinds for each in positive):
        return False
    divider = [each for each in around.to_still(around.p) if not each.of("c")]
    r, c, feed, rest = resistance(charging), capacitance(capacitor), resistance(positive), resistance(divider)
    figures = []
    if r and c and feed and rest:
        beta = rest / (rest + feed)
        period = 2 * r * c * math.log((1 + beta) / (1 - beta))
        figures.append(Figure("frequency", 1 / period, "Hz", "1/(2 R C ln((1 + b)/(1 - b)))", f"{_SS}, 18.5"))
    found.add(
        "relaxation_oscillator",
        {
            "amplifier": [around.amp],
            "charging": parts_of(charging),
            "capacitor": capacitor,
            "feedback": parts_of(positive),
            "divider": parts_of(divider),
        },
        {"out": around.out, "timing": around.n},
        figures,
    )
    return True


def _wien(found: Finder, around: Around, negative: Sequence[Network], positive: Sequence[Network]) -> bool:
    series = [each for each in positive if each.kinds == "cr"]
    shunt = [each for each in around.to_still(around.p) if each.kinds in ("c", "r", "cr")]
    if not series or not negative or "".join(sorted("".join(each.kinds for each in shunt))) != "cr":
        return False
    r = [p.value for each in (*series, *shunt) for p in each.of("r")]
    c = [p.value for each in (*series, *shunt) for p in each.of("c")]
    figures = []
    if all(r) and all(c):
        product = math.prod(v for v in (*r, *c) if v)
        figures.append(
            Figure(
                "frequency",
                1 / (2 * math.pi * math.sqrt(product)),
                "Hz",
                "1/(2 pi sqrt(R1 R2 C1 C2))",
                f"{_SS}, 18.2",
            )
        )
    found.add(
        "wien_oscillator",
        {
            "amplifier": [around.amp],
            "series_arm": parts_of(series),
            "shunt_arm": parts_of(shunt),
            "feedback": parts_of(negative),
            "to_ground": parts_of(around.to_still(around.n)),
        },
        {"out": around.out},
        figures,
    )
    return True


def _phase_shift(
    found: Finder, around: Around, negative: Sequence[Network], _positive: Sequence[Network]
) -> bool:
    """Three RC sections from the output back to the inverting input."""
    for each in around.networks:
        ends = each.ends - around.fixed
        if (
            len(each.of("c")) == 3
            and len(each.of("r")) >= 2
            and ends == {around.out, around.n}
            and each.ends & around.fixed
        ):
            r, c = [p.value for p in each.of("r")], [p.value for p in each.of("c")]
            figures = []
            if len(set(r)) == 1 and len(set(c)) == 1 and r[0] and c[0]:
                figures.append(
                    Figure(
                        "frequency",
                        1 / (2 * math.pi * math.sqrt(6) * r[0] * c[0]),
                        "Hz",
                        "1/(2 pi sqrt(6) R C)",
                        f"{_SS}, 18.2",
                    )
                )
            found.add(
                "phase_shift_oscillator",
                {"amplifier": [around.amp], "sections": each.parts, "feedback": parts_of(negative)},
                {"out": around.out},
                figures,
            )
            return True
    return False


# ---- with negative feedback ------------------------------------------------------------------------


def _inverting(found: Finder, around: Around, negative: Sequence[Network]) -> None:
    inputs = [each for each in around.to_signal(around.n) if len(each.ends - around.fixed) <= 2]
    resistive = [each for each in negative if not each.of("c")]
    capacitive = [p for each in negative if each.of("c") and not each.of("r") for p in each.of("c")]
    rf, cf = resistance(resistive), capacitance(capacitive)
    elements = {
        "amplifier": [around.amp],
        "feedback": parts_of(negative),
        "input": parts_of(inputs),
        "reference": parts_of(around.to_still(around.p)),
        "at_input": parts_of(around.to_still(around.n)),
    }
    nodes = {"out": around.out, "sum": around.n}
    sources = [next(iter(each.ends - {around.n} - around.fixed), "") for each in inputs]
    nodes |= {f"in{at or ''}" if not at else f"in{at + 1}": node for at, node in enumerate(sources)}
    has_diode = any("d" in each.kinds or "q" in each.kinds for each in negative)
    kinds = [each.kinds for each in inputs]
    ri = resistance(inputs[:1])
    figures: list[Figure] = []
    if not inputs:
        if rf:
            figures.append(Figure("transresistance", -rf, "Ohm", "-RF", f"{_SS}, 2.2"))
        found.add("transimpedance", elements, nodes | {"in": around.n}, figures)
        return
    if len(inputs) > 1 and all("r" in k for k in kinds):
        for at, each in enumerate(inputs, 1):
            if rf and (own := resistance([each])):
                figures.append(Figure(f"weight{at}", -rf / own, "1", f"-RF/R{at}", f"{_SS}, 2.2"))
        found.add("summing_amplifier", elements, nodes, figures)
        return
    if "c" in kinds[0] and rf and len(inputs[0].ends) == 2:
        _capacitive_input(found, inputs[0], rf, elements, nodes)
    elif cf and ri and (rf is None or rf > 20 * ri):
        figures.append(
            Figure("unity_gain_frequency", 1 / (2 * math.pi * ri * cf), "Hz", "1/(2 pi R C)", f"{_SS}, 2.5")
        )
        found.add("integrator", elements, nodes, figures)
    elif has_diode and not resistive:
        found.add("logarithmic_amplifier", elements, nodes)
    else:
        if rf and ri:
            figures.append(Figure("gain", -rf / ri, "1", "-RF/RI", f"{_SS}, 2.2"))
            figures.append(Figure("input_resistance", ri, "Ohm", "RI", f"{_SS}, 2.2"))
        if rf and cf:
            figures.append(
                Figure("corner", 1 / (2 * math.pi * rf * cf), "Hz", "1/(2 pi RF CF)", f"{_SS}, 2.2")
            )
        found.add("inverting_amplifier", elements, nodes, figures)


def _capacitive_input(
    found: Finder, fed: Network, rf: float, elements: dict[str, list[Part]], nodes: dict[str, str]
) -> None:
    """A differentiator, or an amplifier coupled by a capacitor where its resistor is not a small one."""
    c, series = capacitance(fed.of("c")), sum(p.value or 0 for p in fed.of("r"))
    figures = []
    kind = "inverting_amplifier" if series and rf <= 20 * series else "differentiator"
    if kind == "inverting_amplifier":
        figures.append(Figure("gain", -rf / series, "1", "-RF/RI above the corner", f"{_SS}, 2.2"))
    if c and series and kind == "inverting_amplifier":
        corner = 1 / (2 * math.pi * series * c)
        figures.append(Figure("corner", corner, "Hz", "1/(2 pi RI C)", f"{_SS}, 2.2"))
    elif c:
        frequency = 1 / (2 * math.pi * rf * c)
        figures.append(Figure("unity_gain_frequency", frequency, "Hz", "1/(2 pi R C)", f"{_SS}, 2.5"))
    found.add(kind, elements, nodes, figures)


def _non_inverting(found: Finder, around: Around, negative: Sequence[Network]) -> None:
    to_ground = around.to_still(around.n)
    inputs = around.to_signal(around.n)
    top, bottom = resistance(negative), resistance(to_ground)
    elements = {"amplifier": [around.amp], "feedback": parts_of(negative), "to_ground": parts_of(to_ground)}
    divider = around.to_still(around.p)
    fed = [each for each in around.to_signal(around.p) if around.n not in each.ends]
    if inputs and not to_ground and fed and divider:
        r1, r3, r4 = resistance(inputs), resistance(fed), resistance(divider)
        figures = []
        if top and r1 and r3 and r4:
            figures = [Figure("gain", top / r1, "1", "R2/R1", f"{_SS}, 2.4")]
            off = abs((1 + top / r1) * r4 / (r3 + r4) - top / r1)
            if off > 1e-6 * top / r1:
                figures.append(
                    Figure("common_mode_gain", off, "1", "(1 + R2/R1) R4/(R3 + R4) - R2/R1", f"{_SS}, 2.4")
                )
        found.add(
            "difference_amplifier",
            {**elements, "input": parts_of(inputs), "input2": parts_of(fed), "divider": parts_of(divider)},
            {
                "in": _far(fed, around.p, around.fixed),
                "in2": _far(inputs, around.n, around.fixed),
                "out": around.out,
            },
            figures,
        )
        return
    figures = []
    if top and bottom:
        figures.append(Figure("gain", 1 + top / bottom, "1", "1 + RF/RG", f"{_SS}, 2.3"))
    if not to_ground and not inputs:
        found.add(
            "voltage_follower",
            elements,
            {"in": around.p, "out": around.out},
            [Figure("gain", 1.0, "1", "1", f"{_SS}, 2.3")],
        )
        return
    kind = "non_inverting_amplifier"
    found.add(kind, {**elements, "input": parts_of(inputs)}, {"in": around.p, "out": around.out}, figures)


def _far(networks: Sequence[Network], node: str, fixed: set[str]) -> str:
    return next(iter(sorted(networks[0].ends - {node} - fixed)), GROUND)


def _instrumentation(found: Finder, amps: Sequence[Part], networks: Sequence[Network]) -> None:
    """Two amplifiers whose - inputs are joined by a resistor, each with its own feedback, and a third one."""
    for at, first in enumerate(amps):
        for second in amps[at + 1 :]:
            gain = found.graph.between(first.pins["n"], second.pins["n"], "r")
            own = [
                [n for n in networks if n.ends == {each.pins["n"], each.pins["out"]}]
                for each in (first, second)
            ]
            if not gain or not all(own) or first.name in found.used:
                continue
            third = next(
                (
                    x
                    for x in amps
                    if x not in (first, second) and _joins(networks, first, x) and _joins(networks, second, x)
                ),
                None,
            )
            last = [
                n
                for n in networks
                if third
                and n.ends & {third.pins["p"], third.pins["n"]}
                and not n.ends & {first.pins["n"], second.pins["n"]}
            ]
            figures = []
            rf, rg = resistance(own[0]), parallel(gain)
            if third is not None and rf and rg:
                r1 = resistance(
                    [n for n in networks if third.pins["n"] in n.ends and third.pins["out"] not in n.ends]
                )
                r2 = resistance([n for n in networks if n.ends == {third.pins["n"], third.pins["out"]}])
                if r1 and r2:
                    figures.append(
                        Figure("gain", (1 + 2 * rf / rg) * r2 / r1, "1", "(1 + 2 RF/RG) R2/R1", f"{_SS}, 2.4")
                    )
            found.add(
                "instrumentation_amplifier",
                {
                    "amplifiers": [first, second, *([third] if third else [])],
                    "gain_setting": gain,
                    "feedback": parts_of([*own[0], *own[1]]),
                    "difference": parts_of(last),
                },
                {
                    "in": first.pins["p"],
                    "in2": second.pins["p"],
                    "out": third.pins["out"] if third else first.pins["out"],
                },
                figures,
            )


def _joins(networks: Sequence[Network], first: Part, third: Part) -> bool:
    pins = {third.pins["p"], third.pins["n"]}
    return any(first.pins["out"] in each.ends and each.ends & pins for each in networks)
