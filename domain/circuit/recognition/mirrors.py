"""Current mirrors: simple, Wilson, Widlar, cascode, with a helper; what sets their current.

Sources of the formulas: Sedra, Smith, chapter 8; Gray, Meyer, section 4.4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from domain.circuit.recognition.finder import JUNCTION_V, THERMAL_V, Finder
from domain.circuit.recognition.graph import Part
from domain.circuit.recognition.recognised import Figure


def foot_of(found: Finder, part: Part) -> tuple[str, tuple[Part, ...]]:
    """Where its emitter or source stands: at once, or through one resistor."""
    com = part.pins["com"]
    if com in found.graph.fixed:
        return com, ()
    resistors = [(r, far) for r, far in found.graph.two(com, "r") if far in found.graph.fixed]
    others = [p for p, pin in found.graph.at[com] if p is not part and p.kind in "qmj" and pin != "in"]
    if len(resistors) == 1 and not others:
        return resistors[0][1], (resistors[0][0],)
    return com, ()


def find_mirrors(found: Finder) -> None:
    """Mirrors of all kinds."""
    groups = _groups(found)
    for diode, mates in groups:
        if diode.name not in found.used and not any(_stands_on_mirror(found, diode, mate) for mate in mates):
            _add_mirror(found, diode, mates, groups)


def _groups(found: Finder) -> list[tuple[Part, list[Part]]]:
    """Each transistor connected as a diode, with those that share its base or gate."""
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
        same = [each for each in others if foot_of(found, each)[0] == foot_of(found, diode)[0]]
        stacked = [each for each in others if _stands_on_mirror(found, diode, each)]
        if mates := [each for each in others if each in same or each in stacked]:
            groups.append((diode, mates))
    return groups


def _add_mirror(found: Finder, diode: Part, mates: list[Part], groups: list[tuple[Part, list[Part]]]) -> None:
    graph = found.graph
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
    at_diode, at_mates = foot_of(found, diode)[1], [r for m in mates for r in foot_of(found, m)[1]]
    elements: dict[str, list[Part]] = {"reference": [diode], "output": list(mates)}
    nodes = {"in": diode.pins["out"], "out": mates[0].pins["out"], "common": foot_of(found, diode)[0]}
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
    if at_diode or at_mates:
        elements["degeneration"] = [*at_diode, *at_mates]
    reference = [r for r, far in graph.two(nodes["in"], "r") if far in graph.rails]
    figures = _mirror_figures(found, kind, [diode, *mates], reference, nodes)
    if reference:
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
    current = (abs(graph.rails[far] - common) - drops * JUNCTION_V) / reference[0].value
    if current <= 0:
        return
    yield Figure(
        "reference_current", current, "A", f"(V - {'2 ' if drops == 2 else ''}VBE)/R", "Sedra, Smith, 8.2"
    )
    foot = foot_of(found, mates[0])[1]
    if kind == "widlar_source" and foot and foot[0].value:
        out = current
        for _ in range(60):  # VT ln(IREF/IO) = IO RE
            out = 0.5 * (out + THERMAL_V * math.log(max(current / out, 1 + 1e-9)) / foot[0].value)
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
