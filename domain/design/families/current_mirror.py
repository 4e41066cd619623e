"""The current mirror of NPN transistors: simple, Wilson or Widlar.

Simple: Iout = Iref / (1 + 2/B), ro = VA / I. Wilson: base currents cancel, ro = B VA / (2 I). Widlar: Iout
RE = VT ln(Iref / Iout), for currents far below that of the reference.
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., sections 8.2 and 8.5; Gray, Meyer, "Analysis and
Design of Analog Integrated Circuits", 5th ed., sections 4.2 and 4.4.
"""

from __future__ import annotations

import math

from domain.design import kit, quantity_words, transistor
from domain.design.kit import beyond, nearest, spice, with_unit
from shared.message import msg

_WIDLAR_REFERENCE_A = 1e-3
_LOW_V = 1.0
"""From here on, at the output, all three mirror."""
_OUTPUT_OHM = msg("output resistance")
_MOST_DECADES = 1e-3
"""Of the reference: the least current of a Widlar source."""

CURRENT = kit.Quantity(
    name="current_a", label=msg("current"), dimensions=("A",), takes_rest=True, within=(1e-6, 0.05),
    words=r"current|output|i_?(?:out|o|ref)(?![a-z])|电流|输出", example=1e-3, required=True,
)  # fmt: skip
SUPPLY = kit.Quantity(
    name="supply_v", label=msg("supply"), dimensions=("V",), takes_rest=True, within=(3, 40),
    words=quantity_words.SUPPLY, example=12, default=12.0,
)  # fmt: skip


def _form(request: kit.Request) -> str | None:
    """Widlar below 20 uA; Wilson where the output resistance asks for it."""
    current, ohm = request["current_a"], request["output_ohm"]
    if current is not None and current < 20e-6:
        return "widlar"
    if current is not None and ohm is not None and ohm * current > 0.7 * transistor.EARLY_V:
        return "wilson"
    return None


def _output_ohm(request: kit.Request) -> float:
    """Of the form that is built (ohm), by the general transistor."""
    current, form = request["current_a"], request["form"]
    simple = float(transistor.EARLY_V / current)
    if form == "wilson":
        return transistor.CURRENT_GAIN / 2 * simple
    drop = transistor.THERMAL_V * math.log(_WIDLAR_REFERENCE_A / current) if form == "widlar" else 0.0
    return simple * (1 + drop / transistor.THERMAL_V)


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The reference's resistor of E96, and the emitter's of a Widlar source."""
    wanted, supply = request["current_a"], request["supply_v"]
    current = wanted * correction["current_a"]
    if request["output_ohm"] is not None and 0.8 * _output_ohm(request) < request["output_ohm"]:
        advice = msg("Lower the current, or ask for a Wilson mirror.")
        raise beyond(_OUTPUT_OHM, "Ω", request["output_ohm"], 0.8 * _output_ohm(request), advice, digits=2)
    parts = {}
    reference, drops = current, 1
    if request["form"] == "widlar":
        reference = max(_WIDLAR_REFERENCE_A, 5 * wanted)
        parts["R2"] = nearest(transistor.THERMAL_V * math.log(reference / current) / current, "E96")
    elif request["form"] == "wilson":
        drops = 2
    else:  # base currents, and the output's Early effect at half of the supply
        reference *= (1 + 2 / transistor.CURRENT_GAIN) / (
            1 + (supply / 2 - transistor.BASE_EMITTER_V) / transistor.EARLY_V
        )
    base_v = transistor.THERMAL_V * math.log(reference / 1e-14)
    parts["R1"] = nearest((supply - drops * base_v) / reference, "E96")
    note = msg("Reference current {reference}, output resistance about {ohm}.",
               reference=with_unit(reference, "A", 3),
               ohm=with_unit(_output_ohm(request), "Ω", 2))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Supply, reference, transistors, and a voltage at the output that is swept."""
    model = transistor.npn_of(request)
    deck.part(f"Vcc vcc 0 DC {spice(request['supply_v'])}", msg("supply"))
    deck.part(f"Vin out 0 DC {spice(request['supply_v'] / 2)}", msg("output voltage, swept"))
    deck.part(f"R1 vcc r {spice(sized.parts['R1'])}", msg("sets the reference current"))
    if request["form"] == "wilson":
        deck.part(f"Q3 out r m {model}", msg("output transistor"))
        deck.part(f"Q1 r m 0 {model}", msg("carries the reference"))
        deck.part(f"Q2 m m 0 {model}", msg("mirrors the output back"))
    else:
        deck.part(f"Q1 r r 0 {model}", msg("carries the reference"))
        if "R2" in sized.parts:
            deck.part(f"Q2 out r e {model}", msg("output transistor"))
            deck.part(f"R2 e 0 {spice(sized.parts['R2'])}", msg("sets the output current"))
        else:
            deck.part(f"Q2 out r 0 {model}", msg("output transistor"))
    transistor.write_npn(deck, request)


def _ohm(request: kit.Request) -> str:
    high = spice(request["supply_v"])
    return f"({high}-{spice(_LOW_V)})/(at(-i(vin),{high})-at(-i(vin),{spice(_LOW_V)}))"


FAMILY = kit.Family(
    key="current_mirror",
    name=msg("NPN current mirrors and sinks (simple, Wilson, Widlar)"), one=msg("a current mirror"),
    examples={"en": "current mirror, 1 mA, 12 V supply",
              "zh": "1mA的镜像电流源，电源12V"},
    words=kit.Words(
        named=(
            r"(?:(?:simple|basic|bjt|npn|wilson|widlar) )*(?:current mirror|current[\s-](?:source|"
            r"sink) mirror)|"
            r"(?:wilson|widlar)(?: current)?(?: (?:mirror|source|sink))?|"
            r"(?:bjt|npn|威尔逊|维德拉|微电流|比例|基本)*(?:镜像)?(?:恒)?电流(?:源)?(?:镜)(?:像)?(?:电路)?|镜像(?:恒)?电流源(?:电路)?|"
            r"(?:威尔逊|维德拉|微)(?:镜像)?(?:恒)?电流源(?:电路)?"
        ),
        plausible=r"(?:constant[\s-])?current[\s-](?:source|sink)|恒?(?:电)?流源",
        excludes=r"mos(?!t)|cmos|(?<![a-z])leds?(?![a-z])|charger|充电|driver|op[\s-]?amp|运放|differen|差分",
        refuses=(transistor.NO_PNP,),
    ),
    quantities=(
        CURRENT,
        SUPPLY,
        kit.Quantity(
            name="output_ohm", label=_OUTPUT_OHM, dimensions=("Ohm",), limit="at_least", within=(1e3, 1e9),
            words=r"output (?:resistance|impedance)|(?<![a-z])r_?o(?:ut)?(?![a-z])|输出(?:电阻|阻抗)|内阻",
            example=1e6,
        ),
        kit.TOLERANCE,
    ),
    choices=(
        transistor.TRANSISTOR,
        kit.Choice(
            name="form", label=msg("circuit"), default=_form,
            options=(
                kit.Option(key="simple", label=msg("simple mirror"), words=r"simple|basic|基本"),
                kit.Option(key="wilson", label=msg("Wilson mirror"), words=r"wilson|威尔逊"),
                kit.Option(key="widlar", label=msg("Widlar source"), words=r"widlar|维德拉|微电流"),
            ),
        ),
    ),
    goals=(
        kit.GoalRow(
            metric="current", label=msg("Output current"), unit="A", quantity="current_a",
            expression=lambda request: f"at(-i(vin),{spice(request['supply_v'] / 2)})",
        ),
        kit.GoalRow(
            metric="output_resistance", label=msg("Output resistance"), unit="Ohm", quantity="output_ohm",
            expression=_ohm, is_corrected=False,
        ),
    ),
    title="{form} current mirror, {current_a:A}, {supply_v:g} V",
    remarks=lambda request: (
        msg("Iout R2 = VT ln(Iref / Iout).")
        if request["form"] == "widlar"
        else msg("Iref = (Vcc - VBE of the transistors in its path) / R1."),
    ),
    analyses=lambda request, _sized, _goals: (
        f".dc Vin 0 {spice(request['supply_v'])} {spice(request['supply_v'] / 200)}",
    ),
    output="", size=size, netlist=netlist,
)  # fmt: skip
