"""Rectifiers with a smoothing capacitor: diode bridge, half-wave, or full-wave with a centre tap.

Ripple I t/C with t = T (half-wave) or T/2 less the time the diodes conduct, T/(2 pi) sqrt(2 Vr/Vp); output
Vp - n VD - Vr/2 with n = 2 diodes of a bridge, else 1; peak current of a diode I (1 + pi sqrt(2 Vp/Vr)), of a
bridge I (1 + pi sqrt(Vp/(2 Vr))). The source has a resistance of a thousandth of the load's.
Source: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 4.5.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.engine.library_parts import part_choice
from domain.design.families import rectifier_request as demand
from domain.design.kit import at_least, impossible, spice, with_unit
from shared.message import msg

_MARGIN = 0.93
"""Part of the ripple that is sized for."""
_SETTLES, _RECORDED = 12, 8
"""Periods before the record, and in it."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The smoothing capacitor of E6; its load."""
    peak, load = request["input_v"] * math.sqrt(2), request["iout"]
    ripple = request["ripple_v"] * correction["ripple_v"] * _MARGIN
    reverse = peak if request["form"] == "bridge" else 2 * peak
    if reverse > demand.diode_of(request).reverse_v:
        raise impossible(
            msg("The diodes block {reverse}, more than the {limit} of the {part}.",
                reverse=with_unit(reverse, "V", 3),
                limit=f"{demand.diode_of(request).reverse_v:g} V",
                part=request["diode"]),
            msg("Choose a diode with a higher reverse voltage, or a lower input."),
        )  # fmt: skip
    period = 1 / request["frequency_hz"] / (1 if request["form"] == "half" else 2)
    conducts = math.sqrt(2 * ripple / peak) / (2 * math.pi * request["frequency_hz"])
    capacitance = at_least(load * max(period - conducts, 0.4 * period) / ripple, "E6")
    note = msg("The diodes block up to {reverse}.", reverse=with_unit(reverse, "V", 3))
    ohm = request["load_ohm"] or request["vout"] / load
    return kit.Sized(parts={"C1": capacitance, "Rload": ohm}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source with its resistance, diodes, smoothing capacitor and load."""
    form, peak = request["form"], spice(request["input_v"] * math.sqrt(2))
    wave, general = f"SIN(0 {peak} {spice(request['frequency_hz'])})", demand.GENERAL
    ohm = spice(demand.SOURCE_SHARE * sized.parts["Rload"])
    model = request["diode"] if request["diode"] != "diode" else "drect"
    deck.part(f"Vin in {'m' if form == 'bridge' else '0'} {wave}", msg("input"))
    deck.part(f"Rsource in a {ohm}", msg("source resistance"))
    ways = {"half": (("a", "out"),), "tapped": (("a", "out"), ("b", "out"))}
    if form == "tapped":
        deck.part(f"Vin2 0 in2 {wave}", msg("the other half of the winding"))
        deck.part(f"Rsource2 in2 b {ohm}", msg("source resistance"))
    for n, (anode, cathode) in enumerate(
        ways.get(form, (("a", "out"), ("m", "out"), ("0", "a"), ("0", "m"))), start=1
    ):
        deck.part(f"D{n} {anode} {cathode} {model}", msg("diode"))
    deck.part(f"C1 out 0 {spice(sized.parts['C1'])}", msg("smoothing capacitor"))
    deck.part(f"Rload out 0 {spice(sized.parts['Rload'])}", msg("load"))
    deck.rule()
    if model == "drect":
        deck.cards(f".model drect D(IS={spice(general.saturation_a)} N={general.emission:g} "
                   f"RS={spice(general.series_ohm)} CJO=20p BV={general.reverse_v:g})")  # fmt: skip
    else:
        deck.cards(f".include {model}.lib")


def _record(request: kit.Request) -> str:
    period = 1 / request["frequency_hz"]
    stop, step = (_SETTLES + _RECORDED) * period, spice(period / 400)
    return f".tran {step} {spice(stop)} {spice(_SETTLES * period)} {step}"


FAMILY = kit.Family(
    key="rectifier",
    name=msg("rectifiers with a smoothing capacitor (bridge, half-wave, full-wave with a center tap)"),
    one=msg("a rectifier"),
    examples={"en": "bridge rectifier, 12 V AC, 50 Hz, 100 mA, ripple below 1 V",
              "zh": "桥式整流滤波电路，交流12V，50Hz，负载电流100mA，纹波小于1V"},
    words=kit.Words(
        named=(
            r"(?:(?:half|full|single|bridge|diode)[\s-]?(?:wave|phase)?[\s-])*"
            r"(?:cent(?:er|re)[\s-]?tap(?:ped)? )?(?:bridge )?rectif(?:ier|ication)(?: circuit)?|"
            r"(?:half|full)[\s-]wave(?: bridge)?|"
            r"(?:桥式|全波|半波|全桥|单相|二极管)+整流(?:滤波)?(?:电路|器)?|整流(?:滤波|桥)?电路|整流滤波(?=.{0,40}(?:负载|纹波|电容)|\s?\d)|整流器|整流桥"
        ),
        excludes=(
            r"synchron|同步|buck|boost|precision|精密|op[\s-]?amp|运放|convert|regulat|稳压|charg|充电|"
            r"3[\s-]phase|three[\s-]phase|三相|doubler|倍压|multiplier|dc[\s/-]dc|开关电源|forward|fly|续流"
        ),
    ),
    quantities=demand.QUANTITIES,
    choices=(
        kit.Choice(
            name="form", label=msg("circuit"), default=lambda _request: "bridge", options=(
                kit.Option(key="bridge", label=msg("diode bridge"), words=r"bridge|桥"),
                kit.Option(key="half", label=msg("half-wave"),
                words=r"half[\s-]?wave|半波|(?:single|one) diode"),
                kit.Option(key="tapped", label=msg("center tap"), words=r"cent(?:er|re)[\s-]?tap|中心抽头"),
            ),
        ),
        part_choice("diode"),
    ),
    goals=(
        kit.GoalRow(metric="vout", label=msg("Output voltage"), unit="V", quantity="vout", is_corrected=False,
                    expression="avg(v(out))"),
        kit.GoalRow(metric="ripple", label=msg("Ripple"), unit="V", quantity="ripple_v",
                    expression="pp(v(out))", bounds=lambda request: kit.Bounds(maximum=request["ripple_v"])),
    ),
    title="Rectifier, {form}, {input_v:.4g} V rms to {vout:.3g} V, {iout:A3}",
    remarks=(msg("C = I t / Vr; Vout = Vp - VD of the diodes in the path - Vr/2."),),
    analyses=lambda request, _sized, _goals: (_record(request),),
    size=size, netlist=netlist,
    says=demand.says,
    complete=demand.complete,
)  # fmt: skip
