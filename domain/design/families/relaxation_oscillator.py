"""The relaxation oscillator of one op-amp: a comparator with hysteresis whose own output charges a capacitor.

f = 1 / (2 R C ln((1 + b) / (1 - b))) with b = R2 / (R1 + R2), whatever the op-amp's swing; here R1 = R2.
Source: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 18.5.
"""

from __future__ import annotations

import math

from domain.design import kit, supplies
from domain.design.engine.op_amps import OP_AMPS
from domain.design.families.oscillator_rows import FREQUENCY_GOAL, frequency_row, transient
from domain.design.kit import nearest, spice, with_unit
from domain.design.opamp import GBW, OPAMP, SUPPLY, enough_gbw_hz, write_opamp
from shared.message import msg

_DIVIDER_OHM = 22e3
_FASTER = 300.0
"""GBW over frequency: the time the op-amp takes to switch is a small part of a period then."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """C of E12, R of E96, and an op-amp that switches fast enough."""
    product = 1 / (2 * math.log(3) * request["frequency_hz"] * correction["frequency_hz"])
    c = nearest(min(max(product / 22e3, 47e-12), 10e-6), "E12")
    r = nearest(product / c, "E96")
    gbw = enough_gbw_hz(request, _FASTER * request["frequency_hz"])
    note = msg("R = {r}, C = {c}, an op-amp with a gain-bandwidth product of {gbw}.", r=with_unit(r, "Ω"),
               c=with_unit(c, "F"), gbw=with_unit(gbw, "Hz"))  # fmt: skip
    parts = {"R1": _DIVIDER_OHM, **_foot(request), "R3": r, "C1": c}
    return kit.Sized(parts=parts, figures={"gbw_hz": gbw}, notes=(note,))


def _foot(request: kit.Request) -> dict[str, float]:
    """R2 to ground; on a single supply R2 and R4 that are as much side by side, and hold the middle of the
    output's swing, so that both halves of a period are alike."""
    rails = supplies.rails_of(request, "none")
    if not rails.is_single:
        return {"R2": _DIVIDER_OHM}
    share = (rails.lowest_v + rails.highest_v) / 2 / rails.supply_v
    return {"R2": nearest(_DIVIDER_OHM / (1 - share), "E96"), "R4": nearest(_DIVIDER_OHM / share, "E96")}


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Supplies, the divider that makes the hysteresis, R and C, the op-amp."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    rails = supplies.write_rails(deck, request, "none")
    deck.part(f"R1 out p {parts['R1']}", msg("hysteresis, together with R2"))
    if rails.is_single:
        deck.part(f"R2 p 0 {parts['R2']}", msg("with R4 the mid-rail, and the hysteresis together with R1"))
        deck.part(f"R4 p vcc {parts['R4']}", msg("with R2 the mid-rail"))
    else:
        deck.part(f"R2 p 0 {parts['R2']}", msg("hysteresis, together with R1"))
    deck.part(f"R3 out n {parts['R3']}", msg("charges C1: sets the frequency"))
    deck.part(f"C1 n 0 {parts['C1']}", msg("sets the frequency together with R3"))
    deck.part(f"X1 p n vcc {rails.low} out {request['opamp']}", msg("op-amp, as a comparator"))
    if request["opamp"] in OP_AMPS:
        deck.part("Cw out 0 10p", msg("wiring at the output: the edges need some capacitance"))
    deck.rule()
    deck.cards(".options method=gear")  # trapezoids ring where the comparator switches
    kick = rails.middle_v - 0.2 * (rails.middle_v or rails.supply_v)
    deck.part(f".ic v(n)={spice(kick)}", msg("start-up kick in place of noise"))
    write_opamp(deck, request, sized.figures["gbw_hz"])


FAMILY = kit.Family(
    key="relaxation_oscillator",
    name=msg("relaxation oscillators with one op-amp"), one=msg("a relaxation oscillator"),
    examples={"en": "op-amp relaxation oscillator, 1 kHz square wave",
              "zh": "1kHz运放方波振荡器"},
    words=kit.Words(
        named=(r"(?:op[\s-]?amps? )?relaxation (?:oscillator|generator)|"
               r"op[\s-]?amps? (?:(?:based )?astable(?: multivibrator)?|square[\s-]?wave (?:generator|"
               r"oscillator))|"
               r"张弛振荡(?:器|电路)?|(?:运放|rc)(?:张弛|方波)(?:振荡|发生)(?:器|电路)"),
        plausible=(r"(?:square[\s-]?wave|astable)(?: multivibrator)?(?: (?:generator|oscillator))?|"
                   r"多谐振荡(?:器|电路)|"
                   r"方波(?:信号)?(?:(?:发生|振荡)(?:器|电路)|源?$)"),
        excludes=r"555|(?<![a-z])bjt|transistor|晶体管|三极管|ring|环形|crystal|晶体|sine|正弦|unijunction|单结|cmos",
    ),
    quantities=(frequency_row((0.1, 300e3), 1e3), SUPPLY, GBW, kit.TOLERANCE),
    choices=(OPAMP, supplies.RAILS),
    judge=supplies.judged("none"),
    goals=(
        FREQUENCY_GOAL,
        kit.GoalRow(metric="duty", label=msg("Duty cycle"), unit="1", is_corrected=False,
                    expression="duty(v(out))",
                    bounds=lambda _request: kit.Bounds(minimum=0.45, maximum=0.55)),
    ),
    title="Relaxation oscillator, {frequency_hz:Hz}",
    remarks=(msg("f = 1 / (2 R3 C1 ln 3) with R1 = R2."),),
    analyses=lambda request, _sized, _goals: (transient(request, settles=5),),
    size=size, netlist=netlist,
)  # fmt: skip
