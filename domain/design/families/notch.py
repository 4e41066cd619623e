"""The notch filter: a twin-T between two followers, the foot of the T following the output in part.

f0 = 1 / (2 pi R C); with the share k of the output at the foot Q = 1 / (4 (1 - k)). R/2 and 2C are two
equal parts in parallel, so that the branches match as well as parts of one value do.
Sources: Kugelstadt, "Active Filter Design Techniques", Texas Instruments, SLOD006B chapter 16, section
16.6.1; Horowitz, Hill, "The Art of Electronics", 3rd ed., section 6.3.
"""

from __future__ import annotations

import math

from domain.design import kit, supplies
from domain.design.families import resonance_rows as rows
from domain.design.kit import best_pair, spice, values_between, with_unit
from domain.design.opamp import GBW, OPAMP, SUPPLY, enough_gbw_hz, write_opamp
from shared.message import msg

_OHM = 22e3
_FOOT_OHM = 1e3
_FASTER = 1000.0


_QUANTITIES = (
        rows.CENTER,
        rows.WIDTH,
        rows.QUALITY,
        kit.Quantity(
            name="rejection_db", label=msg("rejection"), dimensions=("dB",), takes_rest=True, has_sign=False,
            words=r"reject\w*|attenuat\w*|deep|depth|suppress\w*|抑制|衰减|深度", limit="at_least",
            within=(10, 50), example=30, default=30.0,
        ),
        SUPPLY,
        GBW,
        kit.TOLERANCE,
    )  # fmt: skip


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """C of E24 and R of E96 or E192 whose product comes nearest; the share of the foot by R4 and R5."""
    product = 1 / (2 * math.pi * request["center_hz"] * correction["center_hz"])
    middle = max(product / _OHM, 100e-12)

    def miss(one: float, two: float) -> float:
        return abs(math.log(one * two / product))

    capacitors = values_between(middle / 4, 4 * middle, "E24")
    grids: tuple[kit.SeriesName, ...] = ("E96", "E192")  # the finer one where the center is missed otherwise
    pairs = [best_pair(capacitors, lambda each: product / each, grid, miss) for grid in grids]
    c, r = min(pairs, key=lambda pair: miss(*pair))
    share = 1 - 1 / (4 * request["quality"] * correction["quality"])
    upper, lower = best_pair(values_between(0.5 * _FOOT_OHM, 2 * _FOOT_OHM, "E24"),
                             lambda each: each * share / (1 - share), "E96",
                             lambda one, two: abs(math.log((one + two) / one * (1 - share))))  # fmt: skip
    gbw = enough_gbw_hz(request, _FASTER * request["center_hz"])
    note = msg("R = {r}, C = {c}.", r=with_unit(r, "Ω"), c=with_unit(c, "F"))
    parts = {"R": r, "C": c, "R4": upper, "R5": lower}
    return kit.Sized(parts=parts, figures={"gbw_hz": gbw}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, supplies, the two T, the follower of the output and that of the foot."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    sine = f"SIN(0 1 {spice(request['center_hz'])})"
    deck.part(
        f"Vin in {supplies.ground_of(request)} DC 0 AC 1 {sine}",
        msg("input: 1 V for .ac, a sine at the notch for .tran"),
    )
    rails = supplies.write_rails(deck, request, "buffer")
    deck.part(f"R1 in a {parts['R']}", msg("resistor T"))
    deck.part(f"R2 a p {parts['R']}", msg("resistor T"))
    deck.part(f"C3 a foot {parts['C']}", msg("shunt leg: 2 C together with C4"))
    deck.part(f"C4 a foot {parts['C']}", msg("shunt leg: 2 C together with C3"))
    deck.part(f"C1 in b {parts['C']}", msg("capacitor T"))
    deck.part(f"C2 b p {parts['C']}", msg("capacitor T"))
    deck.part(f"R3 b foot {parts['R']}", msg("shunt leg: R/2 together with R3b"))
    deck.part(f"R3b b foot {parts['R']}", msg("shunt leg: R/2 together with R3"))
    deck.part(f"X1 p out vcc {rails.low} out {request['opamp']}", msg("output follower"))
    deck.part(f"R4 out d {parts['R4']}", msg("sets Q together with R5"))
    deck.part(f"R5 d {rails.ground} {parts['R5']}", msg("sets Q together with R4"))
    deck.part(
        f"X2 d foot vcc {rails.low} foot {request['opamp']}", msg("follower that drives the shunt legs")
    )
    write_opamp(deck, request, sized.figures["gbw_hz"])


FAMILY = kit.Family(
    key="notch",
    name=msg("notch filters (twin-T with adjustable Q)"), one=msg("a twin-T notch filter"),
    examples={"en": "notch filter at 50 Hz, Q 5, at least 30 dB rejection",
              "zh": "50Hz陷波器，Q值5，抑制不少于30dB"},
    words=kit.Words(
        named=(r"(?:(?:active|twin[\s-]?t|second[\s-]order|2nd[\s-]order) )*"
               r"(?:notch|band[\s-]?(?:stop|reject)|hum)(?:[\s-](?:rejection|eliminator))?(?: filter)?|"
               r"twin[\s-]?t(?: (?:notch|band[\s-]?stop|filter|network))*|"
               r"(?:双\s?t(?:型|网络)?|有源|二阶|工频)*(?:陷波|带阻)(?:滤波)?(?:器|电路)?"),
        excludes=r"(?<![a-z])lc(?![a-z])|ladder|梯形|passive|无源|oscillat|振荡|fourth|4th|[46]阶|butterw|cheb|切比雪夫",
        refuses=((
            r"(?<![a-z])(?:third|fourth|fifth|sixth|eighth|3rd|[4-9]th)[\s-]order|(?<!\d)[3-9]阶",
            msg("A notch filter of an order above 2 cannot be designed with op-amps yet."),
            msg("Ask for a notch filter without an order, or for an LC band-stop ladder."),
        ),),
    ),
    quantities=_QUANTITIES,
    choices=(OPAMP, supplies.RAILS),
    judge=supplies.judged("buffer"),
    goals=(
        kit.GoalRow(
            metric="rejection", label=msg("Rejection at the center"), unit="dB", quantity="rejection_db",
            expression=lambda request: f"db(dcgain(v(out))/gain(v(out),{spice(request['center_hz'])}))",
            is_corrected=False,
        ),
        rows.QUALITY_GOAL,
    ),
    title="Notch filter, {center_hz:Hz}, Q {quality:.4g}",
    remarks=(msg("f0 = 1 / (2 pi R C), Q = 1 / (4 (1 - k)) with k = R5 / (R4 + R5)."),),
    analyses=lambda request, _sized, _goals: (
        f".ac dec 1000 {spice(request['center_hz'] / 30)} {spice(30 * request['center_hz'])}",
    ),
    size=size, netlist=netlist,
    says=rows.says_resonance(_QUANTITIES),
    complete=lambda request: rows.complete_resonance(request, passes=False),
)  # fmt: skip
