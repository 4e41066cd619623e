"""LC band-pass and band-stop ladders of resonators, between equal resistances or from a voltage source.

The order counts the resonators. The center is the geometric mean of the -3 dB frequencies, the bandwidth
their difference. Element values and their sources: `domain.design.ladder`; goals: `lc_band_response`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from domain.design import kit, ladder
from domain.design.families import filter_rows as rows
from domain.design.families import resonance_rows as resonance
from domain.design.families.filter_requests import order_of
from domain.design.families.lc_band_response import GOALS, RIPPLE_MARGIN, edge
from domain.design.kit import impossible, nearest, spice, with_unit
from shared.message import msg

_ACTIVE = r"(?<![a-z])r-?l?-?c(?![a-z])|阻容|(?<![a-z])active|有源|op[\s-]?amp|运放"
_OTHERS = rf"bessel|贝[塞赛]尔|{_ACTIVE}|twin|双t"
_STOP = r"band[\s-]?(?:stop|reject\w*)|notch|带阻|陷波"
_BAND = rf"band[\s-]?pass|带通|{_STOP}"
_LC = r"(?<![a-z])lc(?![a-z])|ladder|梯形|passive|无源"

_QUANTITIES = (
    replace(resonance.CENTER, within=(100, 1e9), example=1e6),
    replace(resonance.WIDTH, within=(5, 1e9), example=1e5),
    replace(resonance.QUALITY, within=(0.7, 20), default=10.0),
    kit.Quantity(
        name="order", label=msg("order"), dimensions=("none",), words="(?!)", within=(1, 7), example=3,
        default=3, is_whole=True,
    ),
    replace(rows.LADDER_OHM, words=rf"{rows.LADDER_OHM.words}|load|负载"),
    replace(rows.LADDER_LOSS, within=(0.05, 3)),
    kit.TOLERANCE,
)  # fmt: skip


def says(sentence: kit.Sentence) -> kit.Said:
    """The band as of all resonant filters, and the order."""
    said, order = resonance.says_resonance(_QUANTITIES)(sentence), order_of(sentence)
    if order is None:
        return said
    return replace(said, values={**said.values, "order": order}, stated=said.stated | {"order"})


def complete(request: kit.Request) -> kit.Said:
    """Q from the width. Raises CircuitError for a Chebyshev ladder of even order."""
    if request["response"] == "chebyshev" and request["order"] and request["order"] % 2 == 0:
        raise impossible(
            msg("Chebyshev ladders are designed for odd orders, not {order}.", order=request["order"]),
            msg(
                "Ask for order {one} or {two}, or for a Butterworth response.",
                one=request["order"] - 1, two=request["order"] + 1,
            ),
        )  # fmt: skip
    return resonance.complete_resonance(request, (0.7, 20), passes=request["kind"] == "band_pass")


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """C of each resonator a preferred value, L what tunes it: a coil is wound for its circuit."""
    order, passes = int(request["order"]), request["kind"] == "band_pass"
    center = request["center_hz"] * correction["center_hz"]
    width = request["center_hz"] / (request["quality"] * correction["quality"])
    response: ladder.LadderResponse = request["response"] if order > 1 else "butterworth"
    elements = ladder.elements if request["termination"] == "double" else ladder.singly_terminated
    ripple = correction["loss_db"]
    g = elements(response, order, ripple * RIPPLE_MARGIN * request["loss_db"])
    single = request["termination"] == "single"
    arms = ladder.resonators(
        g[::-1] if single else g,
        center,
        width * edge(request, ripple) if passes else width / edge(request, ripple),
        request["resistance_ohm"],
        passes=passes,
        line_first=single,
    )
    parts: dict[str, float] = {}
    series: Any = request["parts"] if request.states("parts") else "E96"
    for number, arm in enumerate(arms, start=1):
        capacitance = arm.capacitance if series == "exact" else nearest(arm.capacitance, series)
        tuned = 1 / ((2 * math.pi * center) ** 2 * capacitance)
        parts |= {f"L{number}": tuned, f"C{number}": capacitance}
    note = msg(
        "{series}-series capacitors; the inductors are wound or adjusted to the center frequency.",
        series=series,
    )
    return kit.Sized(parts=parts,
                     figures={f"arm{n}": float(arm.in_line) for n, arm in enumerate(arms, start=1)},
                     notes=() if series == "exact" else (note,))  # fmt: skip


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, the resonators in their order, load."""
    sine = f"SIN(0 1 {spice(request['center_hz'])})"
    deck.part(f"Vin in 0 DC 0 AC 1 {sine}", msg("input: 1 V for .ac, a sine at the center for .tran"))
    arms = [bool(each) for each in sized.figures.values()]
    last = max((n for n, in_line in enumerate(arms, start=1) if in_line), default=0)
    node = "in"
    if request["termination"] == "double":
        node = "n0" if last else "out"
        deck.part(f"Rsource in {node} {spice(request['resistance_ohm'])}", msg("source resistance"))
    for n, in_line in enumerate(arms, start=1):
        end = ("out" if n == last else f"n{n}") if in_line else "0"
        middle = (f"m{n}", f"m{n}") if in_line == (request["kind"] == "band_pass") else (end, node)
        role = msg("series resonator") if in_line else msg("shunt resonator")
        deck.part(f"L{n} {node} {middle[0]} {spice(sized.parts[f'L{n}'])}", role)
        deck.part(f"C{n} {middle[1]} {end} {spice(sized.parts[f'C{n}'])}", role)
        node = end if in_line else node
    deck.part(f"Rload out 0 {spice(request['resistance_ohm'])}", msg("load"))


def _claims(sentence: kit.Sentence) -> float:
    return float(sentence.has(_LC) and sentence.has(_BAND) and not sentence.has(_OTHERS))


FAMILY = kit.Family(
    key="lc_band_ladder",
    name=msg("LC band-pass and band-stop ladders of order 1 to 7 (Butterworth, Chebyshev)"),
    one=msg("an LC band-pass or band-stop ladder"),
    examples={"en": "LC band-pass filter, 3rd order Butterworth, center 10 MHz, bandwidth 1 MHz, 50 ohm",
              "zh": "三阶LC带阻滤波器，中心频率455kHz，带宽50kHz，阻抗600欧"},
    words=kit.Words(named=rf"{_BAND}|(?:{_LC})", excludes=_OTHERS),
    claims=_claims,
    quantities=_QUANTITIES,
    choices=(
        kit.Choice(
            name="kind", label=msg("kind"), is_told=False, options=(
                kit.Option(key="band_pass", label=msg("band-pass"), words=rf"^(?!.*(?:{_STOP}))"),
                kit.Option(key="band_stop", label=msg("band-stop"), words=_STOP),
            ),
        ),
        rows.RESPONSE,
        rows.TERMINATION,
        rows.PARTS,
    ),
    goals=GOALS,
    title=lambda request: (
        f"LC {request['kind'].replace('_', '-')} ladder, {request['response'].capitalize()}, "
        f"order {request['order']:g}, {with_unit(request['center_hz'], 'Hz')}, "
        f"bandwidth {with_unit(request['center_hz'] / request['quality'], 'Hz', 3)}"
    ),
    remarks=(
        msg("The order counts the resonators; all are tuned to the center. The bandwidth is at -3 dB."),
    ),
    analyses=lambda request, _sized, _goals: (
        f".ac dec {min(4000, round(400 * request['quality'] + 200))} {spice(request['center_hz'] / 30)} "
        f"{spice(30 * request['center_hz'])}",
    ),
    size=size, netlist=netlist,
    says=says,
    complete=complete,
)  # fmt: skip
