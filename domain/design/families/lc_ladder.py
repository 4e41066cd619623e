"""LC ladder filters between equal resistances or from a voltage source: low-pass and high-pass, order 2 to 9.

Element values and their sources: `domain.design.ladder`. "Cut-off" is the -3 dB frequency, unless the
sentence says ripple edge or pass-band edge; loss counts against the matched line (half of the source).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from domain.design import kit
from domain.design.families import filter_rows as rows
from domain.design.families.filter_requests import filter_reader
from domain.design.kit import beyond, impossible, spice, with_unit
from domain.design.ladder import Ladder, best_parts
from domain.design.prototypes import HALF_POWER_DB
from shared.message import msg

_PARTS = {"C": (0.5e-12, 10e-3, "F"), "L": (0.5e-9, 100.0, "H")}
"""Least and greatest value one can buy or wind."""
_RIPPLE_MARGIN = 0.9

_LOAD = replace(rows.LADDER_OHM, name="load_ohm", label=msg("load resistance"), words=r"load|负载",
                takes_rest=False, default=None)  # fmt: skip


def complete(request: kit.Request) -> kit.Said:
    """One resistance, the -3 dB frequency of a ripple edge, the order an attenuation needs."""
    ohm, load = request["resistance_ohm"], request["load_ohm"]
    if ohm and load and not math.isclose(ohm, load):
        raise impossible(
            msg("LC ladders are designed between equal resistances, not {source} and {load}.",
                source=with_unit(ohm, "Ω"), load=with_unit(load, "Ω")),
            msg("Ask for equal source and load resistance, for example 50 ohm."),
        )  # fmt: skip
    values = {"resistance_ohm": ohm or load, "load_ohm": None}
    known = request.having(loss_db=request["loss_db"] or (0.5 if request["response"] == "chebyshev" else 1.0))
    order, cutoff = request["order"], request["cutoff_hz"]
    step = 2 if request["response"] == "chebyshev" else 1
    if order is None and request["attenuation_db"] and cutoff:
        ratio = rows.depth(request, cutoff) / (1 + (request["tolerance"] or 0.05))
        orders = range(1 + step, 10, step)
        order = rows.least_order(request, orders, lambda n: rows.predicted_db(known, n, ratio))
    if order is not None and step == 2 and order % 2 == 0:
        raise impossible(
            msg("A Chebyshev ladder of even order ({order}) needs unequal resistances.", order=f"{order:g}"),
            msg(
                "Ask for order {one} or {two}, or for a Butterworth response.",
                one=f"{max(3, order - 1):g}",
                two=f"{max(5, order + 1):g}",
            ),
        )
    if cutoff and order is not None and step == 2 and request["cutoff_at"] == "edge":
        values["cutoff_at"] = "half_power"
        values["cutoff_hz"] = cutoff / rows.away(
            known.having(order=order, cutoff_hz=1.0), rows.pass_band_edge(known.having(order=order))
        )
    return kit.Said(values=values | {"order": order})


def _margin(
    request: kit.Request, ladder: Ladder, aim_hz: float
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """By how many dB a set of parts keeps the goal it keeps least well, for a cut-off of `aim_hz`."""
    tolerance, scale = request["tolerance"], aim_hz / request["cutoff_hz"]
    ratios = [
        *np.geomspace(0.05, 1, 80) * rows.pass_band_edge(request) * (1 - tolerance),
        1 - tolerance,
        1 + tolerance,
    ]
    hz = scale * np.array([*(rows.away(request, ratio) for ratio in ratios), rows.stop_hz(request)])
    wanted_db = -(rows.attenuation(request).maximum or 0.0)

    def judge(sets: NDArray[np.float64]) -> NDArray[np.float64]:
        loss = ladder.loss_db(sets, hz)
        corner = HALF_POWER_DB - loss[:, -3], loss[:, -2] - HALF_POWER_DB
        top = np.minimum(loss[:, :-3].min(axis=1), 0.0)  # from a voltage source it may stand above 0 dB
        passing = request["loss_db"] - (loss[:, :-3].max(axis=1) - top)
        margins: NDArray[np.float64] = np.min([passing, *corner, loss[:, -1] - wanted_db], axis=0)
        return margins

    return judge


def _ladder(request: kit.Request) -> Ladder:
    kind, end = request["kind"], request["termination"]
    return Ladder(is_low_pass=kind == rows.LOW_PASS, ohm=request["resistance_ohm"], is_single=end == "single")


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The prototype's elements, and of the preferred values beside them those that keep the goals best."""
    ladder = _ladder(request)
    aim = request["cutoff_hz"] * correction["cutoff_hz"]
    # Sized for a little less ripple, so that real parts keep it. 1 rad/s is -3 dB, or the end of that ripple.
    made = request.having(loss_db=_RIPPLE_MARGIN * request["loss_db"])
    ratio = 1.0 if request["response"] == "butterworth" else rows.pass_band_edge(made)
    g = ladder.prototype(request["response"], int(request["order"]), made["loss_db"])
    exact = ladder.exact(g, aim * ratio if ladder.is_low_pass else aim / ratio)
    for index, value in enumerate(exact):
        letter = ladder.letter(index)
        low, high, unit = _PARTS[letter]
        if not low <= value <= high:
            advice = msg("Choose another cut-off frequency or resistance: the parts follow from both.")
            raise beyond(msg("part value"), unit, value, low if value < low else high, advice, digits=4)
    names = [f"{ladder.letter(index)}{index + 1}" for index in range(len(exact))]
    if request["parts"] == "exact":
        return kit.Sized(parts=dict(zip(names, exact, strict=True)))
    # Nobody asked for a series: the coarser one when it keeps the goals.
    for series in (request["parts"],) if request.states("parts") else ("E24", "E96"):
        values, margin = best_parts(exact, series, _margin(request, ladder, aim))
        if margin > 0:
            break
    note = msg("Values of the {series} series.", series=series)
    return kit.Sized(parts=dict(zip(names, values, strict=True)), notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    ladder = _ladder(request)
    sine = f"SIN(0 1 {spice(request['cutoff_hz'])})"
    deck.part(f"Vin in 0 DC 0 AC 1 {sine}", msg("input: 1 V for .ac, a sine at the cut-off for .tran"))
    if not ladder.is_single:
        deck.part(f"Rsource in n1 {spice(ladder.ohm)}", msg("source resistance"))
    last = max(index for index in range(len(sized.parts)) if ladder.is_series(index))
    node = "in" if ladder.is_single else "n1"
    for index, (name, value) in enumerate(sized.parts.items()):
        if ladder.is_series(index):
            following = "out" if index == last else f"n{index + 2}"
            deck.part(f"{name} {node} {following} {spice(value)}", msg("series arm"))
            node = following
        else:
            deck.part(f"{name} {node} 0 {spice(value)}", msg("shunt arm"))
    deck.part(f"Rload out 0 {spice(ladder.ohm)}", msg("load"))


_QUANTITIES = (
    *rows.filter_quantities((10, 2e9), example_hz=1e6),
    rows.order_quantity(2, 9),
    rows.LADDER_LOSS,
    rows.LADDER_OHM,
    _LOAD,
)
FAMILY = kit.Family(
    key="lc_ladder",
    name=msg("LC ladder low-pass and high-pass filters of order 2 to 9 (Butterworth, Chebyshev)"),
    one=msg("an LC ladder filter"),
    examples={"en": "5th-order Butterworth LC low-pass, cut-off 1 MHz, 50 ohm",
              "zh": "五阶巴特沃斯LC低通滤波器，截止频率1MHz，阻抗50欧"},
    words=kit.Words(
        named=(
            # "LC low-pass" alone can be many circuits: order, response, resistance or ladder must stand there
            r"^(?=.*(?:(?<![a-z])lc(?![a-z])|ladder|梯形))(?=.*(?:ladder|梯形|order|pole|阶|极点|\d\s?(?:db|分贝)|"
            r"butterw|cheb|巴特沃|[切契]比雪夫|\d\s?k?(?:ohm|Ω|ω|欧)))|"
            r"^(?=.*(?:coils?[\s-](?:and[\s-])?(?:capacitor|cap)|inductors? and cap|电感(?:和|"
            r"加)?电容))(?=.*(?:(?:low|high)[\s-]?pass|[低高]通))|"
            r"^(?=.*(?:无源|passive))(?=.*(?:butterw|cheb|巴特沃|[切契]比雪夫))|"
            # a filter between the resistances of a line
            r"^(?!.*(?:first|1st|single|rc|rl|一阶))(?=.*(?<![\d.])(?:50|75)\s?(?:ohm|Ω|ω|欧))(?=.*(?:butterw|cheb|order|pole|巴特沃|"
            r"[切契]比雪夫|阶))(?=.*(?:low|high)[\s-]?pass|.*[低高]通)"
        ),
        excludes=r"match\w*[\s-](?:network|section)|匹配(?:网络|电路|到)|(?:first|1st)[\s-]order|[一1]阶|band[\s-]?(?:pass|stop|reject)|notch|带通|带阻|陷波|(?<![a-z])r-?l?-?c(?![a-z])|阻容|(?<![a-z])active|有源|op[\s-]?amp|运放|sallen",
        refuses=(
            (r"bessel|贝[塞赛]尔", msg("LC ladders with a Bessel response cannot be designed yet."),
             msg("Ask for a Butterworth or Chebyshev response, or for an active Sallen-Key filter.")),
        ),
    ),
    quantities=_QUANTITIES,
    choices=(rows.RESPONSE, rows.PARTS, rows.CUTOFF_AT, rows.TERMINATION),
    goals=(rows.CUTOFF_GOAL, rows.LOSS_GOAL, rows.ATTENUATION_GOAL),
    title=lambda request: (
        f"LC ladder {request['kind']}, {request['response'].capitalize()}, order {request['order']:g}, "
        f"{with_unit(request['cutoff_hz'], 'Hz')}"
    ),
    remarks=lambda request: (
        msg("The cut-off is where the gain is 3 dB below the pass band."),
        msg("Between {ohm} and {ohm} half of the source's voltage reaches the output.",
            ohm=with_unit(request["resistance_ohm"], "Ohm")),
    )[: 1 if _ladder(request).is_single else 2],
    analyses=rows.sweep,
    size=size, netlist=netlist,
    says=filter_reader(_QUANTITIES),
    complete=complete,
)  # fmt: skip
