"""State-variable filters of second order: KHN (low-pass, band-pass and high-pass) or Tow-Thomas.

KHN, with H = R2/R1 and k = R6/(R5 + R6):  w0 = 1/(R C), 1/Q = k (2 + H), gain of the low-pass and the
high-pass H, of the band-pass H Q.  Tow-Thomas:  w0 = 1/(R C), Q = R3/R, gain of the low-pass R/R1, of the
band-pass R3/R1. Finite op-amps raise Q to about Q / (1 - 4 Q f0 / opamp.GBW): it is aimed at below.
Sources: Kerwin, Huelsman, Newcomb, "State-variable synthesis for insensitive integrated circuit transfer
functions", IEEE J. Solid-State Circuits 2 (1967); Sedra, Smith, "Microelectronic Circuits", 7th ed., section
17.7.
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.design import kit, opamp, supplies
from domain.design.families import filter_rows as rows
from domain.design.families import resonance_rows as resonance
from domain.design.families.amplifier_rows import gain_row
from domain.design.kit import around, impossible, nearest, spice, with_unit
from shared.message import msg

_OHM, _FOOT_OHM = 10e3, 1e3
_FASTER = 200.0
"""GBW over Q f0 (2 + gain) / 3."""
_PROOF = 10.0
"""Times f0: there a high-pass passes all."""

_NAMED = (
    r"state[\s-]?variable|状态变量|bi[\s-]?quad(?:ratic)?|双二阶|双2阶|(?<![a-z])khn(?![a-z])|"
    r"tow[\s-]?thomas|托马斯|universal (?:active )?filter|kerwin|双二次"
)
_BAND = r"band[\s-]?pass|带通|(?<![a-z])bpf?(?![a-z])"
_OTHERS = r"notch|band[\s-]?(?:stop|reject)|陷波|带阻|all[\s-]?pass|全通|switched|开关电容"
_CORNER = r"cut[\s-]?off|corner|截止|转折"
_QUALITY = {"band": 5.0, "low": 0.7071, "high": 0.7071}
_LOW, _HIGH = rows.LETS_LOWS_THROUGH, rows.LETS_HIGHS_THROUGH
_ONLY = rf"^(?!.*(?:{_BAND}))(?!.*(?:{_LOW}).*(?:{_HIGH})).*"
_QUANTITIES = (
    replace(resonance.CENTER, within=(0.1, 100e3), words=rf"{resonance.CENTER.words}|{_CORNER}"),
    resonance.WIDTH,
    replace(resonance.QUALITY, within=(0.5, 50), default=lambda request: _QUALITY[request["output"]]),
    gain_row((0.1, 50), 2, default=1.0),
    opamp.SUPPLY,
    opamp.GBW,
    kit.TOLERANCE,
)


def complete(request: kit.Request) -> kit.Said:
    """Q from the width. Raises CircuitError for the output a Tow-Thomas filter does not have."""
    if request["form"] == "tow_thomas" and request["output"] == "high":
        raise impossible(
            msg("A Tow-Thomas filter has a low-pass and a band-pass output, but no high-pass output."),
            msg("Ask for a KHN filter, or for another output."),
        )
    return resonance.complete_resonance(request, (0.5, 50))


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """R and C of the integrators by their product, the gain, and what sets Q."""
    center, q, gain = request["center_hz"], request["quality"], request["gain"]
    level = (gain / q if request["output"] == "band" else gain) * correction["gain"]
    gbw = opamp.enough_gbw_hz(request, _FASTER * q * center * (2 + level) / 3)
    product = 1 / (2 * math.pi * center * correction["center_hz"])
    middle = min(max(product / _OHM, 100e-12), 1e-6)
    c, r = resonance.capacitor_and_resistor(product, middle)
    aim = q * correction["quality"] / (1 + 4 * q * center / gbw)
    parts = {"R": r, "C": c}
    if request["form"] == "khn":
        parts |= {"R1": nearest(_OHM / level, "E96"), "R2": _OHM, "R6": _FOOT_OHM}
        parts["R5"] = nearest(_FOOT_OHM * (aim * (2 + _OHM / parts["R1"]) - 1), "E96")
    else:
        parts |= {"R1": nearest(r / level, "E96"), "R3": nearest(r * aim, "E96"), "R2": _OHM}
    note = msg("R = {r}, C = {c}.", r=with_unit(r, "Ω"), c=with_unit(c, "F"))
    return kit.Sized(parts=parts, figures={"gbw_hz": gbw}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, supplies, two integrators and what closes the loop around them."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    named = {"low": "lp", "band": "bp", "high": "hp", request["output"]: "out"}
    low, band, high = named["low"], named["band"], named["high"]
    peak = max(1.0, request["gain"]) * max(1.0, request["quality"])
    sine = f"SIN(0 {spice(supplies.amplitude_v(request, peak))} {spice(request['center_hz'])})"
    deck.part(
        f"Vin in {supplies.ground_of(request)} DC 0 AC 1 {sine}",
        msg("input: 1 V for .ac, a sine at the center for .tran"),
    )
    rails = supplies.write_rails(deck, request, "buffer")
    if request["form"] == "khn":
        deck.part(f"R1 in n1 {parts['R1']}", msg("sets the gain"))
        deck.part(f"R2 {high} n1 {parts['R2']}", msg("feedback of the summing amplifier"))
        deck.part(f"R3 {low} n1 {parts['R2']}", msg("feedback from the low-pass output"))
        deck.part(f"R5 {band} p1 {parts['R5']}", msg("sets Q together with R6"))
        deck.part(f"R6 p1 {rails.ground} {parts['R6']}", msg("sets Q together with R5"))
        deck.part(f"X1 p1 n1 vcc {rails.low} {high} {request['opamp']}", msg("summing amplifier"))
    else:
        deck.part(f"R1 in n2 {parts['R1']}", msg("sets the gain"))
        deck.part(f"R3 {band} n2 {parts['R3']}", msg("damps the first integrator: sets Q"))
        deck.part(f"R5 {low} n1 {parts['R2']}", msg("inverter"))
        deck.part(f"R6 n1 inv {parts['R2']}", msg("inverter"))
        deck.part(f"X1 {rails.ground} n1 vcc {rails.low} inv {request['opamp']}", msg("inverter"))
    first = high if request["form"] == "khn" else "inv"
    deck.part(f"R4 {first} n2 {parts['R']}", msg("first integrator: sets f0"))
    deck.part(f"C1 n2 {band} {parts['C']}", msg("first integrator: sets f0"))
    deck.part(
        f"X2 {rails.ground} n2 vcc {rails.low} {band} {request['opamp']}",
        msg("first integrator, output: band-pass"),
    )
    deck.part(f"R7 {band} n3 {parts['R']}", msg("second integrator: sets f0"))
    deck.part(f"C2 n3 {low} {parts['C']}", msg("second integrator: sets f0"))
    deck.part(
        f"X3 {rails.ground} n3 vcc {rails.low} {low} {request['opamp']}",
        msg("second integrator, output: low-pass"),
    )
    opamp.write_opamp(deck, request, sized.figures["gbw_hz"])


def _band(request: kit.Request) -> str:
    """The band-pass output, where f0 and Q are seen."""
    return "v(out)" if request["output"] == "band" else "v(bp)"


def _center(request: kit.Request) -> str:
    return f"sqrt(lowcut({_band(request)})*highcut({_band(request)}))"


def _gain(request: kit.Request) -> str:
    far = f"gain(v(out)/v(in),{spice(_PROOF * request['center_hz'])})"
    return {"low": "dcgain(v(out)/v(in))", "band": "peak(v(out)/v(in))", "high": far}[request["output"]]


def _bounds(request: kit.Request) -> kit.Bounds:
    """Of a high-pass what the response is at ten times its f0."""
    x = 1 / _PROOF if request["output"] == "high" else 0.0
    gain = request["gain"] / math.hypot(1 - x * x, x / request["quality"])
    return around(gain, max(0.05, request["tolerance"]))


FAMILY = kit.Family(
    key="state_variable",
    name=msg("state-variable filters (KHN, Tow-Thomas) with low-pass, band-pass and high-pass outputs"),
    one=msg("a state-variable filter"),
    examples={"en": "state-variable filter, f0 1 kHz, Q 10, band-pass output",
              "zh": "状态变量滤波器，中心频率1kHz，Q值8，低通输出"},
    words=kit.Words(named=f"{_NAMED}|{_BAND}"),
    claims=lambda sentence: float(sentence.has(_NAMED) and not sentence.has(_OTHERS)),
    quantities=_QUANTITIES,
    choices=(
        kit.Choice(
            name="output", label=msg("output"), default=lambda _request: "band", options=(
                kit.Option(key="band", label=msg("band-pass"), words=_BAND),
                kit.Option(key="low", label=msg("low-pass"), words=f"{_ONLY}(?:{_LOW})"),
                kit.Option(key="high", label=msg("high-pass"), words=f"{_ONLY}(?:{_HIGH})"),
            ),
        ),
        kit.Choice(
            name="form", label=msg("circuit"), default=lambda _request: "khn", options=(
                kit.Option(key="khn", label=msg("KHN filter"), words=r"(?<![a-z])khn(?![a-z])|kerwin"),
                kit.Option(key="tow_thomas", label=msg("Tow-Thomas filter"), words=r"tow[\s-]?thomas|托马斯"),
            ),
        ),
        opamp.OPAMP,
        supplies.RAILS,
    ),
    judge=supplies.judged("buffer"),
    goals=(
        replace(resonance.CENTER_GOAL, expression=_center),
        replace(resonance.QUALITY_GOAL, expression=lambda request: f"q({_band(request)})"),
        kit.GoalRow(
            metric="gain", label=msg("Gain"), unit="1", quantity="gain", expression=_gain, bounds=_bounds),
    ),
    title="State-variable filter, {center_hz:Hz}, Q {quality:.4g}, {output}-pass output, gain {gain:.4g}",
    remarks=lambda request: (
        msg("w0 = 1 / (R C), 1/Q = (2 + R2/R1) R6 / (R5 + R6), gain R2/R1; at the band-pass output Q times "
            "that.")
        if request["form"] == "khn"
        else msg("w0 = 1 / (R C), Q = R3/R, gain R/R1; at the band-pass output R3/R1."),
    ),
    analyses=lambda request, _sized, _goals: (
        f".ac dec 200 {spice(request['center_hz'] / 100)} {spice(100 * request['center_hz'])}",
    ),
    size=size, netlist=netlist,
    says=resonance.says_resonance(_QUANTITIES),
    complete=complete,
)  # fmt: skip
