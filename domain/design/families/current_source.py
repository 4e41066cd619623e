"""Current sinks of one transistor: a JFET with a source resistor, or an NPN whose base stands on an LED.

JFET: I = IDSS (1 - I R1/|VP|)^2, so R1 = |VP| (1 - sqrt(I/IDSS))/I. LED: I = (VLED - VBE)/R2, the drift of
the two voltages with temperature nearly alike.
Source: Horowitz, Hill, "The Art of Electronics", 3rd ed., sections 2.2.6 and 3.2.2.
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.design import kit
from domain.design.families import current_mirror
from domain.design.kit import beyond, nearest, spice, with_unit
from domain.design.transistor import BASE_EMITTER_V, THERMAL_V, TRANSISTOR, npn_of, write_npn
from shared.message import msg

_IDSS_A, _PINCH_V = 10e-3, 3.0
_MOST_SHARE = 0.85
"""Of IDSS: beyond, the resistor is lost in the spread of the transistor."""
_LED_SATURATION_A, _LED_EMISSION, _LED_A = 4e-18, 2.0, 5e-3
_LOW_V = {"jfet": 4.0, "led": 2.5}
"""From here on, at the output, the current stands."""
_LED_WORDS = (
    r"led\S{0,2} (?:as )?(?:an? |the )?(?:voltage )?reference|led[\s-](?:referenced|biased)|"
    r"(?:用|以)?(?:发光二极管|led)(?:做|作为|作|为|的)?(?:电压)?基准"
)
_JFET_WORDS = r"(?<![a-z])jfets?(?![a-z])|结型(?:场效应)?"
_SOURCE_WORDS = r"current[\s-](?:source|sink|regulator)|恒?电?流源|恒流(?:电路|二极管)?"


def _led_v() -> float:
    return _LED_EMISSION * THERMAL_V * math.log(_LED_A / _LED_SATURATION_A)


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The resistors of E96."""
    current = request["current_a"] * correction["current_a"]
    if request["form"] == "led":
        base_v = BASE_EMITTER_V + THERMAL_V * math.log(current / 1e-3)
        return kit.Sized(
            parts={
                "R1": nearest((request["supply_v"] - _led_v()) / _LED_A, "E96"),
                "R2": nearest((_led_v() - base_v) / current, "E96"),
            }
        )
    if current > _MOST_SHARE * _IDSS_A:
        advice = msg("Lower the current, or take an LED as the reference.")
        raise beyond(msg("current"), "A", request["current_a"], _MOST_SHARE * _IDSS_A, advice)
    # the Early effect of the JFET at half of the supply is left to the correction
    return kit.Sized(parts={"R1": nearest(_PINCH_V * (1 - math.sqrt(current / _IDSS_A)) / current, "E96")})


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The voltage at the output, which is swept, and the transistor."""
    deck.part(f"Vin out 0 DC {spice(request['supply_v'] / 2)}", msg("output voltage, swept"))
    if request["form"] == "jfet":
        deck.part("J1 out 0 s jn", msg("output transistor"))
        deck.part(f"R1 s 0 {spice(sized.parts['R1'])}", msg("sets the output current"))
        deck.rule()
        deck.note(msg("Generic N-channel JFET: IDSS 10 mA, pinch-off voltage -3 V."))
        deck.cards(f".model jn NJF(VTO={-_PINCH_V:g} BETA={spice(_IDSS_A / _PINCH_V**2)} LAMBDA=5m IS=1e-14)")
        return
    deck.part(f"Vcc vcc 0 DC {spice(request['supply_v'])}", msg("supply"))
    deck.part(f"R1 vcc b {spice(sized.parts['R1'])}", msg("current of the LED"))
    deck.part("D1 b 0 dled", msg("reference: red LED"))
    deck.part(f"Q1 out b e {npn_of(request)}", msg("output transistor"))
    deck.part(f"R2 e 0 {spice(sized.parts['R2'])}", msg("sets the output current"))
    deck.cards(f".model dled D(IS={_LED_SATURATION_A:g} N={_LED_EMISSION:g} RS=2)")
    write_npn(deck, request)


def _variation(request: kit.Request) -> str:
    low, high = spice(_LOW_V[request["form"]]), spice(request["supply_v"])
    return f"(at(-i(vin),{high})-at(-i(vin),{low}))/at(-i(vin),{high})"


FAMILY = kit.Family(
    key="current_source",
    name=msg("single-transistor current sinks (JFET, or NPN with an LED as reference)"),
    one=msg("a JFET or LED current source"),
    examples={"en": "JFET current source, 2 mA, 12 V supply",
              "zh": "用LED做基准的恒流源，5mA，电源9V"},
    words=kit.Words(
        named=rf"^(?=.*(?:{_JFET_WORDS}|{_LED_WORDS}))(?=.*(?:{_SOURCE_WORDS})).*",
        excludes=r"buck|boost|charger|充电|driver|驱动|differen|差分|mirror|镜像|op[\s-]?amp|运放|"
                 r"(?<![a-z])[np]?-?mos(?:fet)?s?(?![a-z])",
    ),
    quantities=(replace(current_mirror.CURRENT, within=(50e-6, 0.1)),
                replace(current_mirror.SUPPLY, within=(5, 40)), kit.TOLERANCE),
    choices=(
        TRANSISTOR,
        kit.Choice(
            name="form", label=msg("circuit"), is_told=False, options=(
                kit.Option(key="jfet", label=msg("JFET with a resistor"), words=_JFET_WORDS),
                kit.Option(key="led", label=msg("LED as reference"), words=_LED_WORDS),
            ),
        ),
    ),
    goals=(
        kit.GoalRow(metric="current", label=msg("Output current"), unit="A", quantity="current_a",
                    expression=lambda request: f"at(-i(vin),{spice(request['supply_v'] / 2)})"),
        kit.GoalRow(
            metric="variation", label=msg("Variation with the output voltage"), unit="1", is_corrected=False,
            expression=_variation, bounds=lambda _request: kit.Bounds(maximum=0.15),
        ),
    ),
    title=lambda request: (
        f"{request['form'].upper()} current source, {with_unit(request['current_a'], 'A')}, "
        f"{request['supply_v']:g} V"
    ),
    remarks=lambda request: (
        msg("I = IDSS (1 - I R1 / |VP|)^2.") if request["form"] == "jfet" else msg("I = (VLED - VBE) / R2."),
    ),
    analyses=lambda request, _sized, _goals: (
        f".dc Vin 0 {spice(request['supply_v'])} {spice(request['supply_v'] / 200)}",
    ),
    output="", size=size, netlist=netlist,
)  # fmt: skip
