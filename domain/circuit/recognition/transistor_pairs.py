"""Two transistors that work side by side: differential pairs and push-pull output stages."""

from __future__ import annotations

from domain.circuit.recognition.finder import Finder
from domain.circuit.recognition.graph import Part


def find_pairs(found: Finder) -> None:
    for first in found.free("q m j"):
        for second in found.free("q m j"):
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


def find_output_stages(found: Finder) -> None:
    for n in [each for each in found.free("q m j") if each.polarity > 0]:
        for p in [each for each in found.free("q m j") if each.polarity < 0]:
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
            if not common or not (n.pins["out"] in found.graph.rails and p.pins["out"] in found.graph.rails):
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
