"""The current mirror of NMOS transistors: simple or cascode.

Iout = Iref (1 + lambda VDS) / (1 + lambda VGS), ro = 1 / (lambda I); cascode: both drains stand alike and
ro = gm / (lambda I)^2. Sources: Razavi, "Design of Analog CMOS Integrated Circuits", 2nd ed., sections 5.1
and 5.2; Sedra, Smith, "Microelectronic Circuits", 7th ed., sections 8.2 and 8.6.
"""

from __future__ import annotations

from domain.design import kit
from domain.design.kit import beyond, nearest, spice, with_unit
from domain.design.mosfet import GENERAL_NMOS, Device, element, nmos_of, same_gate, write_models
from shared.message import msg

_OVERDRIVE_V = 0.25
_LOW_V = 1.5
"""From here on, at the output, both mirror."""
_OUTPUT_OHM = msg("output resistance")


def _output_ohm(request: kit.Request, form: str, device: Device = GENERAL_NMOS) -> float:
    early_v = device.least_output_v(_OVERDRIVE_V, _LOW_V / 2)
    simple = float(early_v / request["current_a"])
    return simple * (1 + 2 / _OVERDRIVE_V * early_v) if form == "cascode" else simple


def _form(request: kit.Request) -> str | None:
    """Cascode where the output resistance asks for it."""
    if request["current_a"] is None or request["output_ohm"] is None:
        return None
    return "cascode" if request["output_ohm"] > 0.8 * _output_ohm(request, "simple") else None


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The reference's resistor of E96, the width of all by the current."""
    wanted, supply, form = request["current_a"], request["supply_v"], request["form"]
    device = nmos_of(request)
    ohm, gate_v = _output_ohm(request, form, device), device.diode_v(_OVERDRIVE_V)
    if request["output_ohm"] is not None and 0.8 * ohm < request["output_ohm"]:
        advice = msg("Lower the current, or ask for a cascode mirror.")
        raise beyond(_OUTPUT_OHM, "Ω", request["output_ohm"], 0.8 * ohm, advice, digits=2)
    reference = wanted * correction["current_a"]
    if form == "simple":  # the output at half of the supply
        overdrive = same_gate(device, _OVERDRIVE_V, gate_v, supply / 2)
        there = device.ratio(reference, overdrive, supply / 2)
        reference *= there / device.ratio(reference, _OVERDRIVE_V, gate_v)
    drop = gate_v + (device.diode_v(_OVERDRIVE_V, gate_v) if form == "cascode" else 0.0)
    parts = {
        "R1": nearest((supply - drop) / reference, "E96"),
        "W/L": device.ratio(reference, _OVERDRIVE_V, gate_v),
    }
    note = msg("Reference current {reference}, output resistance about {ohm}.",
               reference=with_unit(reference, "A", 3), ohm=with_unit(ohm, "Ω", 2))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Supply, reference, transistors, and a voltage at the output that is swept."""
    n = nmos_of(request)
    ratio = sized.parts["W/L"]
    deck.part(f"Vcc vcc 0 DC {spice(request['supply_v'])}", msg("supply"))
    deck.part(f"Vin out 0 DC {spice(request['supply_v'] / 2)}", msg("output voltage, swept"))
    deck.part(f"R1 vcc r {spice(sized.parts['R1'])}", msg("sets the reference current"))
    if request["form"] == "cascode":
        deck.part(element(n, "M3", "r r g 0", ratio), msg("sets the gate of M4"))
        deck.part(element(n, "M1", "g g 0 0", ratio), msg("carries the reference"))
        deck.part(element(n, "M4", "out r m 0", ratio), msg("fixes the drain voltage of M2"))
        deck.part(element(n, "M2", "m g 0 0", ratio), msg("output transistor"))
    else:
        deck.part(element(n, "M1", "r r 0 0", ratio), msg("carries the reference"))
        deck.part(element(n, "M2", "out r 0 0", ratio), msg("output transistor"))
    write_models(deck, request, "nmos")


def _ohm(request: kit.Request) -> str:
    high = spice(request["supply_v"])
    return f"({high}-{spice(_LOW_V)})/(at(-i(vin),{high})-at(-i(vin),{spice(_LOW_V)}))"


FAMILY = kit.Family(
    key="mos_current_mirror",
    name=msg("NMOS current mirrors (simple, cascode)"), one=msg("a MOS current mirror"),
    examples={"en": "MOS cascode current mirror, 100 uA, 5 V supply",
              "zh": "100uA的NMOS电流镜，电源5V"},
    words=kit.Words(
        named=(r"(?:(?:simple|basic|cascode|constant|n-?mos|mos(?:fet)?|cmos) )*"
               r"(?:current mirror|current[\s-](?:source|sink)(?! load))(?=.{0,40}mos)|"
               r"(?:n-?mos|mos(?:fet)?|cmos) (?:(?:simple|basic|cascode|constant) )*"
               r"(?:current mirror|current[\s-](?:source|sink)(?! load))|"
               r"cascode current (?:mirror|source)|"
               r"(?:n?mos(?:fet)?管?)(?:简单|基本|共源共栅|恒)*(?:镜像)?(?:恒)?(?:电)?流(?:源|镜)(?:电路)?|"
               r"p-?mos管?(?:的)?(?:电流)?(?:镜像?|镜)(?:电路|源)?|"
               r"共源共栅(?:镜像)?电流(?:源|镜)(?:电路)?"),
        refuses=((r"(?<!nmos/)(?<!nmos or )p-?mos(?!(?:/| or |或者?)n-?mos)|p-?channel|p-?fet|p沟道",
                  msg("Only current mirrors of NMOS transistors can be designed yet."),
                  msg("Ask for a sink: an NMOS mirror at ground.")),),
        excludes=r"(?<![a-z])led|charger|充电|driver|op[\s-]?amp|运放|differen|差分|bjt|npn|amplifier|放大",
    ),
    quantities=(
        kit.Quantity(
            name="current_a", label=msg("current"), dimensions=("A",), takes_rest=True, within=(1e-6, 0.02),
            words=r"current|output|i_?(?:out|o|ref)(?![a-z])|电流|输出", example=100e-6, required=True,
        ),
        kit.Quantity(name="supply_v", label=msg("supply"), dimensions=("V",), takes_rest=True, within=(3, 40),
                     words=r"suppl\w+|power(?:ed)?|rails?|供电|电源|vcc|vdd", example=5, default=5.0),
        kit.Quantity(
            name="output_ohm", label=_OUTPUT_OHM, dimensions=("Ohm",), limit="at_least", within=(1e3, 1e12),
            words=r"output (?:resistance|impedance)|(?<![a-z])r_?o(?:ut)?(?![a-z])|输出(?:电阻|阻抗)|内阻",
            example=10e6,
        ),
        kit.TOLERANCE,
    ),
    choices=(
        kit.Choice(
            name="form", label=msg("circuit"), default=_form,
            options=(kit.Option(key="simple", label=msg("simple mirror"), words=r"simple|basic|简单|基本"),
                     kit.Option(key="cascode", label=msg("cascode mirror"), words=r"cascode|共源共栅")),
        ),
    ),
    goals=(
        kit.GoalRow(metric="current", label=msg("Output current"), unit="A", quantity="current_a",
                    expression=lambda request: f"at(-i(vin),{spice(request['supply_v'] / 2)})"),
        kit.GoalRow(
            metric="output_resistance", label=msg("Output resistance"), unit="Ohm", quantity="output_ohm",
            expression=_ohm, is_corrected=False,
        ),
    ),
    title="{form} MOS current mirror, {current_a:A}, {supply_v:g} V",
    remarks=(msg("Iref = (Vdd - VGS of the transistors in its path) / R1."),),
    analyses=lambda request, _sized, _goals: (
        f".dc Vin 0 {spice(request['supply_v'])} {spice(request['supply_v'] / 200)}",
    ),
    transistors=("nmos",),
    output="", size=size, netlist=netlist,
)  # fmt: skip
