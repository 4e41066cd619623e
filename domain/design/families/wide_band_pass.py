"""Band-pass filters wider than one resonance makes them: a Sallen-Key high-pass and a low-pass behind it.

Both are Butterworth filters of half the order, each for one edge of the band, -3 dB there. Where the edges
are near each other each takes a little of the other's level; that is corrected by measurement.
Sources: Karki, "Analysis of the Sallen-Key Architecture", TI SLOA024B; Zumbahlen, "Linear Circuit Design
Handbook", chapter 8 (wide-band band-pass by cascading).
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.design import kit, supplies
from domain.design.families import filter_rows
from domain.design.families import resonance_rows as rows
from domain.design.families.amplifier_rows import gain_row
from domain.design.families.filter_requests import order_of
from domain.design.kit import around, fill_slots, impossible, left_out, number, spice, with_unit
from domain.design.opamp import GBW, OPAMP, SUPPLY, given_gbw_hz, write_opamp
from domain.design.prototypes import FilterKind, prototype
from domain.design.quantity_words import ROLES
from domain.design.sallen_key_stage import (
    demands,
    gain_bandwidth,
    size_stage,
    size_stages,
    write_stage,
)
from shared.message import Message, msg

_NAMED = (
    r"(?:wide|broad)[\s-]?band[\s-]?(?:band[\s-]?)?pass|wide band[\s-]?pass|宽带带通|宽带通|"
    r"(?:voice|speech|telephone)[\s-]?(?:band)? (?:band[\s-]?pass )?filter|"
    r"(?:语音|话音)(?:频段|频带)?(?:带通)?滤波"
)
_PASSES = r"band[\s-]?pass(?!e[ds]|ing)|(?<![a-z])bpf?(?![a-z])|带通"
_STOPS = (
    r"(?<![a-z])(?:filter\w* out|stops?|rejects?|blocks?|removes?|kills?|suppress\w*)(?![a-z])|"
    r"滤[掉除去]|抑制|去除"
)
_RC = (
    r"(?<![a-z])r-?c(?![a-z])|阻容",
    msg("A wide band-pass of resistors and capacitors alone is not designed."),
    msg("Leave “RC” out for one with op-amps, or ask for an LC band-pass between 50 ohms."),
)
_EDGE = replace(rows.CENTER, within=(0.1, 300e3), weak="", takes_rest=False)
_EDGES = (
    replace(
        _EDGE, name="low_edge_hz", label=msg("lower band edge"), example=300, before=ROLES["low_hz"].before,
        words=(r"low(?:er)?[\s-](?:band[\s-])?(?:edge|cut-?off|corner|limit|end)|"
               r"(?<![a-z])starts?(?: at| from)|下限|低端"),
    ),
    replace(
        _EDGE, name="high_edge_hz", label=msg("upper band edge"), example=3e3,
        before=ROLES["bandwidth_hz"].before,
        words=(r"(?:upper|high(?:er)?)[\s-](?:band[\s-])?(?:edge|cut-?off|corner|limit|end)|"
               r"(?<![a-z])up to|上限|高端"),
    ),
)  # fmt: skip
QUANTITIES = (
    *_EDGES,
    replace(filter_rows.order_quantity(2, 8), required=False, default=4.0),
    gain_row((1, 100), 2, default=1.0),
    SUPPLY,
    GBW,
    kit.TOLERANCE,
)


def claims(sentence: kit.Sentence) -> float:
    """By name; a band too wide for one resonance, or a high-pass and a low-pass at once."""
    if sentence.has(rows.OTHER_BANDS) or sentence.has(_STOPS):
        return 0.0
    if sentence.has(_NAMED):
        return 1.0
    kinds = [sentence.has(each) for each in (filter_rows.LETS_LOWS_THROUGH, filter_rows.LETS_HIGHS_THROUGH)]
    is_filter = all(kinds) or (sentence.has(r"filter|滤波") and not any(kinds))
    return 1.0 if (is_filter or sentence.has(_PASSES)) and rows.is_wide(sentence) else 0.0


def says(sentence: kit.Sentence) -> kit.Said:
    """The edges as a range or by two kinds of filter, the order by its words. Raises CircuitError."""
    band = rows.edges(sentence)
    rest = [each for each in sentence.mentions if band is None or each not in band[1]]
    others = ("order",) if band is None else ("order", *(each.name for each in _EDGES))
    slots = [each for each in QUANTITIES if each.name not in others]
    filled = fill_slots(sentence, slots, rest)
    values = {
        each.name: number(each, filled.values[each.name]) for each in slots if each.name in filled.values
    }
    if band is not None:
        values |= {"low_edge_hz": band[0][0], "high_edge_hz": band[0][1]}
    order = order_of(sentence)
    if order is not None:
        values["order"] = float(order)
    unused = [each for each in filled.unused if order is None or each.value != order]
    return kit.Said(values=values, stated=frozenset(values), notes=left_out(unused))


def complete(request: kit.Request) -> kit.Said:
    """Raises CircuitError for edges in the wrong order or too near, and for an odd order."""
    low, high, order = request["low_edge_hz"], request["high_edge_hz"], request["order"]
    if low is not None and high is not None and high < 2 * low:
        raise impossible(
            msg("A band from {low} to {high} is too narrow for a high-pass and a low-pass behind each other.",
                low=with_unit(low, "Hz"), high=with_unit(high, "Hz")),
            msg("Ask for a band-pass filter with a center frequency and a bandwidth."),
        )  # fmt: skip
    if order is not None and order % 2:
        raise impossible(
            msg("Half of the order is for each edge of the band: {order} is odd.", order=f"{order:g}"),
            msg("Ask for order 4, or another even one."),
        )
    return kit.Said(values={})


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The stages of both filters; the low-pass has the gain."""
    sections = prototype("butterworth", int(request["order"]) // 2)
    both: tuple[tuple[FilterKind, str, float], ...] = (
        ("highpass", "low_edge_hz", 1.0),
        ("lowpass", "high_edge_hz", request["gain"] * correction["gain"]),
    )
    given = given_gbw_hz(request)
    gbw = max(  # one op-amp for both: the high-pass passes as far as the low-pass
        gain_bandwidth(kind, demands(kind, sections, request[edge], gain), given, correction["gbw_hz"])
        for kind, edge, gain in both
    )
    stages = [
        stage
        for kind, edge, gain in both
        for stage in size_stages(
            kind, demands(kind, sections, request[edge] * correction[edge], gain), gbw, "E96", size_stage
        )
    ]
    parts: dict[str, float] = {}
    for place, stage in enumerate(stages, start=1):
        parts |= stage.parts(place)
    note = msg("Op-amps with a gain-bandwidth product of {gbw} are assumed; slower ones shift the cut-off.",
               gbw=with_unit(gbw, "Hz"))  # fmt: skip
    return kit.Sized(parts=parts, figures={"gbw_hz": gbw, "stages": len(stages) / 2}, notes=(note,))


def _center_hz(request: kit.Request) -> float:
    return math.sqrt(request["low_edge_hz"] * request["high_edge_hz"])


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, supplies, the stages of the high-pass, those of the low-pass, and the op-amp."""
    sine = f"SIN(0 {spice(supplies.amplitude_v(request, request['gain']))} {spice(_center_hz(request))})"
    deck.part(
        f"Vin in {supplies.ground_of(request)} DC 0 AC 1 {sine}",
        msg("input: 1 V for .ac, a sine at the center for .tran"),
    )
    rails = supplies.write_rails(deck, request, "buffer")
    each = int(sized.figures["stages"])
    for place in range(1, 2 * each + 1):
        kind: FilterKind = "highpass" if place <= each else "lowpass"
        if place in (1, each + 1):
            deck.rule()
            deck.note(msg("High-pass: the lower edge") if place == 1 else msg("Low-pass: the upper edge"))
        nodes = "in" if place == 1 else f"s{place - 1}", "out" if place == 2 * each else f"s{place}"
        write_stage(deck, kind, place, sized.parts, nodes, opamp=request["opamp"], rails=rails)
    write_opamp(deck, request, sized.figures["gbw_hz"])


def _edge_goal(metric: str, label: Message, quantity: str, function: str) -> kit.GoalRow:
    return kit.GoalRow(
        metric=metric, label=label, unit="Hz", quantity=quantity, expression=f"{function}(v(out))"
    )


FAMILY = kit.Family(
    key="wide_band_pass",
    name=msg("wide band-pass filters (Sallen-Key high-pass and low-pass behind each other)"),
    one=msg("a wide band-pass filter"),
    examples={"en": "band-pass filter from 300 Hz to 3 kHz", "zh": "300Hz到3kHz的带通滤波器"},
    words=kit.Words(named=_NAMED, refuses=(_RC,)),
    claims=claims,
    quantities=QUANTITIES,
    choices=(OPAMP, supplies.RAILS),
    judge=supplies.judged("buffer"),
    goals=(
        _edge_goal("lower_edge", msg("Lower band edge, −3 dB"), "low_edge_hz", "lowcut"),
        _edge_goal("upper_edge", msg("Upper band edge, −3 dB"), "high_edge_hz", "highcut"),
        kit.GoalRow(metric="gain", label=msg("Gain"), unit="1", quantity="gain",
                    expression=lambda request: f"gain(v(out)/v(in),{spice(_center_hz(request))})",
                    bounds=lambda request: around(request["gain"], max(0.05, request["tolerance"]))),
    ),
    title="Band-pass filter, {low_edge_hz:Hz} to {high_edge_hz:Hz}, order {order:g}, gain {gain:.4g}",
    remarks=(msg("A Butterworth high-pass for the lower edge, a Butterworth low-pass for the upper one."),),
    analyses=lambda request, _sized, _goals: (
        f".ac dec 100 {spice(request['low_edge_hz'] / 100)} {spice(100 * request['high_edge_hz'])}",
    ),
    size=size, netlist=netlist,
    says=says,
    complete=complete,
)  # fmt: skip
