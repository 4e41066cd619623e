"""The matched resistive attenuator between equal resistances, as a pi or a T.

With k = 10^(A/20): pi: shunt Z (k+1)/(k-1), series Z (k^2-1)/(2k); T: series Z (k-1)/(k+1), shunt 2 Z
k/(k^2-1).
Source: Pozar, "Microwave Engineering", 4th ed., section 4.1; Reference Data for Engineers, 9th ed., chapter
11.
"""

from __future__ import annotations

from domain.design import kit
from domain.design.kit import nearest, spice, with_unit
from shared.message import msg

_HZ = "1k"


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Three resistors of E96."""
    k = 10 ** (request["attenuation_db"] * correction["attenuation_db"] / 20)
    z = request["impedance_ohm"]
    if request["form"] == "pi":
        outer, middle = z * (k + 1) / (k - 1), z * (k * k - 1) / (2 * k)
    else:
        outer, middle = z * (k - 1) / (k + 1), 2 * z * k / (k * k - 1)
    parts = {"R1": nearest(outer, "E96"), "R2": nearest(middle, "E96")}
    note = msg("R1 = R3 = {r1}, R2 = {r2}.", r1=with_unit(parts["R1"], "Ω"), r2=with_unit(parts["R2"], "Ω"))
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source and load with their resistances, the three resistors between them."""
    outer, middle = (spice(sized.parts[name]) for name in ("R1", "R2"))
    deck.part("Vin s 0 DC 0 AC 2 SIN(0 2 1k)", msg("source: 1 V when matched"))
    deck.part(f"Rs s in {spice(request['impedance_ohm'])}", msg("source resistance"))
    if request["form"] == "pi":
        deck.part(f"R1 in 0 {outer}", msg("shunt at the input"))
        deck.part(f"R2 in out {middle}", msg("series"))
        deck.part(f"R3 out 0 {outer}", msg("shunt at the output, equals R1"))
    else:
        deck.part(f"R1 in m {outer}", msg("series at the input"))
        deck.part(f"R2 m 0 {middle}", msg("shunt"))
        deck.part(f"R3 m out {outer}", msg("series at the output, equals R1"))
    deck.part(f"Rload out 0 {spice(request['impedance_ohm'])}", msg("load"))


def _bounds(request: kit.Request) -> kit.Bounds:
    """Half of the tolerance in dB, at least 0.2 dB."""
    wanted = request["attenuation_db"]
    room = max(0.2, 0.5 * request["tolerance"] * wanted)
    return kit.Bounds(minimum=wanted - room, maximum=wanted + room, target=wanted)


FAMILY = kit.Family(
    key="attenuator",
    name=msg("matched resistive attenuators (pi or T)"), one=msg("a matched attenuator"),
    examples={"en": "pi attenuator, 10 dB, 50 ohm",
              "zh": "10dB的π型衰减器，50Ω"},
    words=kit.Words(
        named=(
            r"(?:(?:resistive|matched|pi|π|t|tee|fixed|rf)[\s-])*attenuator(?: pad)?|(?:(?:pi|π|t|"
            r"tee)[\s-]|db )pad(?![a-z])|"
            r"(?:电阻|匹配|固定|射频|[πt]\s?型)*衰减(?:器|网络|电路)"
        ),
        excludes=r"filter|滤波|low[\s-]?pass|high[\s-]?pass|低通|高通|digital|programmable|程控|可变|variable|bridged|桥",
        refuses=((
            r"amplifi|(?<![a-z])amps?(?![a-z])|放大",
            msg("An attenuator only makes a signal smaller; it does not amplify."),
            msg("Ask for an amplifier with its gain, or for an attenuator with its attenuation."),
        ),),
    ),
    quantities=(
        kit.Quantity(
            name="attenuation_db", label=msg("attenuation"), dimensions=("dB",), takes_rest=True,
            has_sign=False, words=r"attenuat\w*|loss|衰减(?:量)?|损耗", within=(0.5, 60), example=10,
            required=True,
        ),
        kit.Quantity(
            name="impedance_ohm", label=msg("impedance"), dimensions=("Ohm",), takes_rest=True,
            within=(1, 10e3), words=r"impedance|(?<![a-z])z_?0?(?![a-z])|source|load|阻抗|特性", example=50,
            default=50.0,
        ),
        kit.TOLERANCE,
    ),
    choices=(
        kit.Choice(
            name="form", label=msg("circuit"),
            options=(
                kit.Option(key="pi", label=msg("pi section"), words=r"(?<![a-z])pi(?![a-z])|π"),
                kit.Option(key="tee", label=msg("T section"), words=r"(?<![a-z])(?:t|tee)(?:[\s-]|\s?型)"),
            ),
        ),
    ),
    goals=(
        kit.GoalRow(
            metric="attenuation", label=msg("Attenuation"), unit="dB", quantity="attenuation_db",
            expression=lambda _request: f"db(gain(v(s)/v(out),{_HZ})/2)",
            bounds=_bounds,
        ),
        kit.GoalRow(
            metric="input_resistance", label=msg("Input resistance"), unit="Ohm", quantity="impedance_ohm",
            expression=lambda _request: f"gain(v(in)/i(vin),{_HZ})", is_corrected=False,
        ),
    ),
    title="{form} attenuator, {attenuation_db:g} dB, {impedance_ohm:Ohm}",
    remarks=lambda request: (
        msg("k = 10^(A/20): R1 = Z (k + 1) / (k - 1), R2 = Z (k^2 - 1) / (2 k).")
        if request["form"] == "pi"
        else msg("k = 10^(A/20): R1 = Z (k - 1) / (k + 1), R2 = 2 Z k / (k^2 - 1)."),
    ),
    analyses=lambda _request, _sized, _goals: (".ac dec 10 100 100k",),
    size=size, netlist=netlist,
)  # fmt: skip
