"""First-order RC and RL low-pass and high-pass filters, with source and load resistance.

What may be asked for: `first_order_request`. The equations, their source, the cut-offs that keep every goal
and the choice of parts: `domain.design.single_pole`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from domain.design import kit
from domain.design.families import filter_rows as rows
from domain.design.families import first_order_request as demand
from domain.design.families.filter_requests import filter_kind, filter_reader, order_of
from domain.design.kit import around, spice, with_unit
from domain.design.single_pole import FirstOrderRequirement, size
from shared.message import msg

__all__ = ("FAMILY", "FirstOrderRequirement", "size")

_ORDER_1 = r"(?:first|1st)[\s-]*order|1\s*阶|(?:single|one|1)[\s-]*pole|单极点|simple|简单|无源|passive"
_ACTIVE = (
    r"(?<![a-z])active|有源|op[\s-]?amp|运放|运算放大器|sallen|萨伦|"
    rf"{rows.CHEBYSHEV_WORDS}|{rows.BUTTERWORTH_WORDS}|bessel|贝[塞赛]尔"
)
_HIGH = 100.0
"""Times the cut-off: there a first-order high-pass is within 0.0005 dB of its level."""


def _claims(sentence: kit.Sentence) -> float:
    """RC, RL, "first order", "passive"; or a filter without any other word (then it is assumed)."""
    order, is_filter = order_of(sentence), sentence.has(rows.FILTER_WORDS)
    named = sentence.has(demand.RC_WORDS) or sentence.has(demand.RL_WORDS)
    if order not in (None, 1) or not (is_filter or (named and sentence.has("time constant|时间常数"))):
        return 0.0
    if named or sentence.has(_ACTIVE):
        return 1.0 if named else 0.0
    if sentence.has(_ORDER_1) or order == 1:
        return 0.9
    return 0.0 if filter_kind(sentence) is None else 0.5


def _reference(request: kit.Request) -> str:
    return "dcgain(v(out))" if request["kind"] == "lowpass" else "peak(v(out))"


def _loss(request: kit.Request) -> str:
    at = request["loss_hz"]
    return f"db({f'gain(v(out),{spice(at)})/' if at else ''}{_reference(request)})"


def _peaking(request: kit.Request) -> str:
    high = f"gain(v(out),{spice(_HIGH * request['wanted_hz'])})"
    return f"db(peak(v(out))/{_reference(request) if request['kind'] == 'lowpass' else high})"


def sized(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """R and C (or L) with preferred values that come nearest."""
    asked = demand.requirement(request)
    found = size(asked, correction["wanted_hz"])
    letter = "C" if asked.parts == "rc" else "L"
    reactances = {f"{letter}{number}": value for number, value in enumerate(found.reactances, start=1)}
    note = msg("The chosen parts give a cut-off of {reached} and a pass-band gain of {gain} dB.",
               reached=with_unit(asked.cutoff_of(found.resistor, sum(found.reactances)), "Hz"),
               gain=f"{20 * math.log10(asked.pass_gain(found.resistor)):.2f}")  # fmt: skip
    return kit.Sized(parts={"R1": found.resistor, **reactances}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, parts: kit.Sized) -> None:
    """Source, R, C or L, load; two capacitors stand in parallel, two inductors in series."""
    deck.part(
        f"Vin in 0 DC 0 AC 1 SIN(0 1 {spice(request['wanted_hz'])})",
        msg("input: 1 V for .ac, a sine at the cut-off for .tran"),
    )
    entry = "in"
    if request["source_ohm"]:
        deck.part(f"Rsource in src {spice(request['source_ohm'])}", msg("source resistance"))
        entry = "src"
    resistor_nodes, reactive_nodes = (f"{entry} out", "out 0")
    if not demand.requirement(request).has_series_resistor:
        resistor_nodes, reactive_nodes = reactive_nodes, resistor_nodes
    (_, resistor), *reactances = parts.parts.items()
    deck.part(f"R1 {resistor_nodes} {spice(resistor)}", msg("sets the cut-off"))
    first, last = reactive_nodes.split()
    chain = [first, *(f"l{number}" for number in range(1, len(reactances))), last]
    for number, (name, value) in enumerate(reactances):
        nodes = f"{first} {last}" if name.startswith("C") else f"{chain[number]} {chain[number + 1]}"
        deck.part(f"{name} {nodes} {spice(value)}", msg("sets the cut-off with R1"))
    if request["load_ohm"] is not None:
        deck.part(f"Rload out 0 {spice(request['load_ohm'])}", msg("load"))


def _sweep(request: kit.Request, goals: Sequence[kit.DesignGoal]) -> tuple[str]:
    edges = [request["wanted_hz"], *rows.frequencies_in(goals)]
    return (f".ac dec 100 {spice(min(edges) / 1000)} {spice(max(edges) * 1000)}",)


FAMILY = kit.Family(
    key="first_order",
    name=msg("first-order RC or RL low-pass and high-pass filters"), one=msg("a first-order RC filter"),
    examples={"en": "RC low-pass filter with a cut-off of 1 kHz",
              "zh": "截止频率为1kHz的一阶RC低通滤波器"},
    words=kit.Words(
        named=rf"{demand.RC_WORDS}|{demand.RL_WORDS}",
        plausible=rf"(?:{rows.LETS_LOWS_THROUGH}|{rows.LETS_HIGHS_THROUGH})(?: filter|滤波器?)?(?:电路)?",
    ),
    claims=_claims,
    quantities=demand.QUANTITIES,
    goals=(
        replace(
            rows.CUTOFF_GOAL,
            quantity="wanted_hz",
            bounds=lambda request: around(request["wanted_hz"], request["tolerance"]),
        ),
        replace(
            rows.ATTENUATION_GOAL, bounds=lambda request: kit.Bounds(maximum=-request["attenuation_db"]),
            expression=lambda request: (
                f"db(gain(v(out),{spice(request['attenuation_hz'])})/{_reference(request)})"
            ),
            when=lambda request: bool(request["attenuation_db"] and request["attenuation_hz"]),
        ),
        replace(rows.LOSS_GOAL, expression=_loss, when=lambda request: bool(request["loss_db"])),
        replace(
            rows.PEAKING_GOAL, expression=_peaking, when=lambda request: request["peaking_db"] is not None
        ),
    ),
    title=lambda request: (
        f"{request['parts'].upper()} {request['kind'].replace('pass', '-pass')} filter, first order, "
        f"cut-off {with_unit(request['wanted_hz'], 'Hz')}"
    ),
    remarks=lambda request: (
        msg("Cut-off f = 1 / (2 pi X C), X = the resistance seen by the capacitor.")
        if request["parts"] == "rc"
        else msg("Cut-off f = X / (2 pi L), X = the resistance seen by the inductor."),
    ),
    analyses=lambda request, _sized, goals: _sweep(request, goals),
    size=sized, netlist=netlist,
    says=filter_reader(demand.QUANTITIES, demand.parts_said, cutoff="wanted_hz"),
    complete=demand.complete,
    restore=demand.restore,
)  # fmt: skip
