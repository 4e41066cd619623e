"""The 555 as an astable multivibrator: RA and RB charge C, RB discharges it.

f = 1 / (ln 2 (RA + 2 RB) C), duty (RA + RB) / (RA + 2 RB); below half, and for exactly half, a diode across
RB makes it RA / (RA + RB).
Source: Texas Instruments, "xx555 Precision Timers", SLFS022, section 8.3.2.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.families.monostable import ONCE
from domain.design.families.oscillator_rows import FREQUENCY_GOAL, frequency_row, transient
from domain.design.kit import nearest, spice, with_unit
from shared.message import msg

_WITH_DIODE_BELOW = 0.53
_LEAST_OHM = 1e3
_TOTAL_OHM = 50e3
_DIODE_V = 0.55
_DELAY_S = 0.7e-6
"""From a threshold to the output, and the capacitor turns."""


def _with_diode(request: kit.Request) -> bool:
    return bool(request["duty"] < _WITH_DIODE_BELOW)


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """C of E12, RA and RB of E96."""
    supply = request["supply_v"]
    duty = min(max(request["duty"] * correction["duty"], 0.02), 0.98)
    period = 1 / (request["frequency_hz"] * correction["frequency_hz"])
    high, low = (max(part * period - _DELAY_S, 0.2 * part * period) for part in (duty, 1 - duty))
    # Charging through a diode starts from a lower voltage than the supply.
    drop = _DIODE_V if _with_diode(request) else 0.0
    charging = math.log((2 / 3 * supply - drop) / (1 / 3 * supply - drop))
    shortest = min(high, low) / math.log(2)
    c = nearest(min(max(period / _TOTAL_OHM, 220e-12), 100e-6), "E12")
    if shortest / c < 2 * _LEAST_OHM:
        c = nearest(max(shortest / (2 * _LEAST_OHM), 100e-12), "E12")
    rb = low / (math.log(2) * c)
    ra = high / (charging * c) - (0.0 if _with_diode(request) else rb)
    parts = {"RA": nearest(max(ra, _LEAST_OHM), "E96"), "RB": nearest(max(rb, _LEAST_OHM), "E96"), "C1": c}
    note = msg("RA = {ra}, RB = {rb}, C = {c}.", ra=with_unit(parts["RA"], "Ω"),
               rb=with_unit(parts["RB"], "Ω"), c=with_unit(c, "F"))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Supply, the timer of the model library, and its three parts."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    deck.part(f"Vcc vcc 0 DC {spice(request['supply_v'])}", msg("supply"))
    deck.part(f"RA vcc dis {parts['RA']}", msg("charges C1, together with RB"))
    deck.part(f"RB dis cap {parts['RB']}", msg("discharges C1"))
    if _with_diode(request):
        deck.part("D1 dis cap dswitch", msg("bypasses RB while charging"))
    deck.part(f"C1 cap 0 {parts['C1']}", msg("sets the frequency"))
    deck.part("C2 ctrl 0 10n", msg("decouples the control voltage"))
    deck.part("X1 0 cap out vcc ctrl cap dis vcc NE555", msg("timer"))
    deck.part(f"Rload out 0 {spice(request.get(kit.LOAD) or 10e3)}", msg("load"))
    deck.rule()
    deck.cards(".options trtol=1")  # plain trapezoids ring where the diode takes over
    if _with_diode(request):
        deck.cards(".model dswitch D(IS=2.5n N=1.75 RS=0.8)")
    deck.cards(f".ic v(cap)=0 v(ctrl)={spice(2 / 3 * request['supply_v'])}", ".include NE555.lib")


FAMILY = kit.Family(
    key="timer_555",
    name=msg("astable multivibrators with a 555"), one=msg("an astable multivibrator with a 555"),
    examples={"en": "555 astable, 1 kHz, duty 60 %, 5 V supply",
              "zh": "555多谐振荡器，1kHz，占空比60%，电源5V"},
    words=kit.Words(
        named=(
            r"(?:astable|oscillator|multivibrator|blinker|flasher)(?: circuit)? (?:with|using|based on|"
            r"from) (?:an? )?"
            r"(?:ne|lm)?\s?555(?: timer)?|"
            r"(?<![\d.])(?:ne|lm|sa|tlc)?\s?555(?!\d)[\s-]?(?:timer(?: ic)?|定时器|芯片|时基)?"
            r"(?:构成|组成|做|的)*"
            r"(?: ?(?:astable|oscillator|multivibrator|square[\s-]?wave|generator|circuit|多谐|方波|"
            r"无稳态|振荡|发生|"
            r"器|电路))*"
        ),
        excludes=rf"{ONCE}|mono[\s-]?stable|(?:one|single)[\s-]?shot|单稳|vco|压控|boost|charge pump|"
                 rf"(?<![a-z])pwm",
    ),
    quantities=(
        frequency_row((0.01, 200e3), 1e3),
        kit.Quantity(
            name="duty", label=msg("duty cycle"), dimensions=("%",), within=(0.05, 0.95), example=0.6,
            takes_bare=False, words=r"duty(?:[\s-]?cycle| factor| ratio)?|mark|占空比|占空", default=0.6,
        ),
        kit.Quantity(
            name="supply_v", label=msg("supply"), dimensions=("V",), takes_rest=True, within=(4.5, 16),
            words=r"suppl\w+|power(?:ed)?|rails?|供电|电源|vcc|vdd", example=5, default=9.0,
        ),
        kit.TOLERANCE,
    ),
    goals=(
        FREQUENCY_GOAL,
        kit.GoalRow(
            metric="duty", label=msg("Duty cycle"), unit="1", quantity="duty",
            expression="duty(v(out))",
            bounds=lambda request: kit.Bounds(
                minimum=request["duty"] - 0.6 * request["tolerance"],
                maximum=request["duty"] + 0.6 * request["tolerance"],
                target=request["duty"],
            ),
        ),
    ),
    title=lambda request: (
        f"555 astable, {with_unit(request['frequency_hz'], 'Hz')}, duty {100 * request['duty']:.3g} %"
    ),
    remarks=lambda request: (
        msg("High for ln 2 RA C (and the diode's drop), low for ln 2 RB C.")
        if _with_diode(request)
        else msg("High for ln 2 (RA + RB) C, low for ln 2 RB C."),
    ),
    analyses=lambda request, _sized, _goals: (transient(request, settles=3, points=500),),
    has_load=True, size=size, netlist=netlist,
)  # fmt: skip
