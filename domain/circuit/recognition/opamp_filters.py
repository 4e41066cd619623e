"""Second-order filters around one op-amp: Sallen-Key and multiple feedback.

Sources of the formulas: Karki, TI SLOA024B; TI *Op Amps for Everyone*, SLOD006B, chapter 16.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from domain.circuit.recognition.finder import Finder, parallel
from domain.circuit.recognition.graph import Part
from domain.circuit.recognition.opamp_surroundings import (
    Around,
    Network,
    parts_of,
    resistance,
    stands_still,
)  # fmt: skip
from domain.circuit.recognition.recognised import Figure

_SLOD = "TI SLOD006B"


def _stars(around: Around) -> list[tuple[str, dict[str, list[Part]]]]:
    """Inner nodes with what leads from each to the nodes around it."""
    stars = []
    for each in around.networks:
        for node in sorted(each.inner):
            ends: dict[str, list[Part]] = {}
            for part, far in around.graph.two(node):
                ends.setdefault(far, []).append(part)
            stars.append((node, ends))
    return stars


def find_sallen_key(
    found: Finder, around: Around, negative: Sequence[Network], _positive: Sequence[Network]
) -> bool:
    shunts = [p for far in around.fixed for p in around.graph.between(around.p, far, "r c")]
    if not shunts or not (around.n == around.out or negative):
        return False
    for node, ends in _stars(around):
        if node == around.p or around.p not in ends or around.out not in ends:
            continue
        to_p, back = ends[around.p], ends[around.out]
        fed = [
            p
            for far, parts in ends.items()
            if far not in (around.p, around.out, *around.fixed)
            for p in parts
        ]
        source = next((far for far in ends if far not in (around.p, around.out, *around.fixed)), "")
        kinds = "".join(p.kind for p in (*fed[:1], *to_p[:1], *back[:1], *shunts[:1]))
        named = {"rrcc": "low_pass", "ccrr": "high_pass"}.get(kinds, "band_pass")
        if not fed or sorted(kinds) not in (sorted("rrcc"), sorted("rcrc")):
            continue
        elements = {
            "amplifier": [around.amp],
            "resistors": [p for p in (*fed, *to_p, *back, *shunts) if p.kind == "r"],
            "capacitors": [p for p in (*fed, *to_p, *back, *shunts) if p.kind == "c"],
            "gain_setting": [*parts_of(negative), *parts_of(around.to_still(around.n))]
            if around.n != around.out
            else [],
        }
        figures = _second_order(named, (fed, to_p, back, shunts), _closed_gain(around, negative))
        found.add(f"sallen_key_{named}", elements, {"in": source, "out": around.out}, figures)
        return True
    return False


def _closed_gain(around: Around, negative: Sequence[Network]) -> float | None:
    if around.n == around.out:
        return 1.0
    top, bottom = resistance(negative), resistance(around.to_still(around.n))
    return 1 + top / bottom if top and bottom else None if bottom else 1.0


def _second_order(named: str, parts: Sequence[Sequence[Part]], gain: float | None) -> list[Figure]:
    """`parts`: from the source, to the + input, back from the output, from the + input to ground."""
    values = [each[0].value for each in parts]
    if not all(values) or gain is None or named == "band_pass":
        return []
    a, b, c, d = (v for v in values if v)
    w0 = 1 / math.sqrt(a * b * c * d)
    # w0/Q of the low-pass (R1 R2 C1 C2 = a b c d) and of the high-pass (C1 C2 R1 R2)
    width = (
        (1 / a + 1 / b) / c + (1 - gain) / (b * d)
        if named == "low_pass"
        else (1 / a + 1 / b) / d + (1 - gain) / (a * c)
    )
    found = [Figure("corner", w0 / (2 * math.pi), "Hz", "f0 = 1/(2 pi sqrt(R1 R2 C1 C2))", "TI SLOA024B")]
    if width > 0:
        found.append(Figure("q", w0 / width, "1", "w0 over the sum of the damping terms", "TI SLOA024B"))
    return [*found, Figure("gain", gain, "1", "1 + RF/RG" if gain != 1 else "1", "TI SLOA024B")]


def find_multiple_feedback(
    found: Finder, around: Around, _negative: Sequence[Network], _positive: Sequence[Network]
) -> bool:
    direct = list(around.graph.between(around.n, around.out, "r c"))
    if not direct or not (around.p in around.fixed or stands_still(around)):
        return False
    for _node, ends in _stars(around):
        if around.n not in ends or around.out not in ends or len(ends) < 3:
            continue
        sources = [far for far in ends if far not in (around.n, around.out, *around.fixed)]
        if len(sources) != 1:
            continue
        fed, to_n, back = ends[sources[0]][0], ends[around.n][0], ends[around.out][0]
        shunts = [p for far in ends if far in around.fixed for p in ends[far]]
        kinds = fed.kind + to_n.kind + back.kind + direct[0].kind
        named = {"rrrc": "low_pass", "cccr": "high_pass", "rccr": "band_pass"}.get(kinds)
        if named is None:
            continue
        figures = _figures_of_feedback(named, (fed, to_n, back, direct[0]), shunts)
        found.add(
            f"multiple_feedback_{named}",
            {
                "amplifier": [around.amp],
                "input": [fed],
                "inner": [to_n],
                "feedback": [back, *direct],
                "shunt": shunts,
            },
            {"in": sources[0], "out": around.out},
            figures,
        )
        return True
    return False


def _figures_of_feedback(named: str, parts: Sequence[Part], shunts: Sequence[Part]) -> list[Figure]:
    """`parts`: from the source, to the - input, back from the output, from the output to the - input."""
    values = [part.value for part in (*parts, *shunts) if part.value]
    if len(values) != len(parts) + len(shunts):
        return []
    fed, to_n, back, direct = values[:4]
    if named == "band_pass":
        grounded = parallel([parts[0], *(p for p in shunts if p.kind == "r")]) or fed
        w0, both, source = 1 / math.sqrt(direct * grounded * to_n * back), to_n + back, f"{_SLOD}, 16.5"
        center = w0 / (2 * math.pi)
        return [
            Figure("center", center, "Hz", "1/(2 pi sqrt(R3 (R1 || R2) C1 C2))", source),
            Figure("q", w0 * direct * to_n * back / both, "1", "w0 R3 C1 C2/(C1 + C2)", source),
            Figure("gain", -direct * to_n / (fed * both), "1", "-R3 C1/(R1 (C1 + C2))", source),
        ]
    if not shunts:
        return []
    corner = 1 / (2 * math.pi * math.sqrt(to_n * back * (direct * values[4])))
    ratio, formula = (-back / fed, "-R3/R1") if named == "low_pass" else (-fed / back, "-C1/C2")
    return [
        Figure("corner", corner, "Hz", "f0 = 1/(2 pi sqrt(R2 R3 C1 C2))", f"{_SLOD}, 16.3"),
        Figure("gain", ratio, "1", formula, f"{_SLOD}, 16.3"),
    ]
