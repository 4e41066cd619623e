"""The RCD clamp of a flyback converter: takes the leakage inductance's energy, holds the drain's voltage.

The leakage inductance gives up P = LLK Ip^2 f/2 VC/(VC - VOR) to the clamp; R = VC^2/P, C = 1/(r R f) for a
ripple r of VC. The drain rises to Vin + VC (1 + r/2) and the diode's drop. Sources: ON Semiconductor AN-4147
(Fairchild), "Design guidelines for RCD snubber of flyback converters"; Erickson, Maksimovic, "Fundamentals of
Power Electronics", 2nd ed., section 6.3.4.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.kit import at_least, at_most, beyond, spice, with_unit
from shared.message import msg

_DIODE_V = 1.2
_LEAST_RATIO, _USUAL_RATIO, _USUAL_CLAMP, _MOST_RATIO = 1.15, 2.0, 1.7, 4.0
"""Of the clamp's voltage to the reflected one: near 1 it takes energy of the output; higher saves no more."""
_RATING_SHARE, _LOSS_MARGIN = 0.9, 1.2
_SETTLES, _PERIODS, _STEPS = 3.0, 8, 250
_LEAKAGE = (5e-4, 0.2)
"""Of the whole inductance that the peak current has in the on-time: less no transformer has."""
_DUTY_SHARE = 0.9
"""Of the duty at which the current would just not come back to zero."""
_DRAIN, _LOSS, _RIPPLE = msg("drain voltage"), msg("loss of the clamp"), msg("ripple of the clamp")


def _clamp_v(request: kit.Request, factor: float = 1.0) -> float:
    """Mean voltage of the clamp. Raises CircuitError where the drain may not rise far enough."""
    high = 1 + request["ripple"] / 2
    volts = (request["drain_v"] * factor - request["vin"] - _DIODE_V) / high
    least = _LEAST_RATIO * request["reflected_v"]
    if volts < least:
        needed = request["vin"] + _DIODE_V + least * high
        advice = msg("Allow a higher drain voltage, or lower the reflected voltage by other turns.")
        raise beyond(_DRAIN, "V", request["drain_v"], needed, advice)
    return float(min(volts, _MOST_RATIO * request["reflected_v"]))


def _watt(request: kit.Request, volts: float) -> float:
    energy = request["leakage_h"] * request["peak_a"] ** 2 / 2
    return float(energy * request["fsw"] * volts / (volts - request["reflected_v"]))


def _most_v(request: kit.Request) -> float:
    """Nine tenths of the rating; else what lets the clamp stand at twice the reflected voltage."""
    if (rating := request["rating_v"]) is not None:
        return float(_RATING_SHARE * rating)
    return float(request["vin"] + _USUAL_RATIO * request["reflected_v"] * (1 + request["ripple"] / 2) + 2)


def complete(request: kit.Request) -> kit.Said:
    """The reflected voltage that the drain leaves, where nothing is said of it."""
    vin, most = request["vin"], request["drain_v"] or _RATING_SHARE * (request["rating_v"] or 0.0)
    if request["reflected_v"] is not None or vin is None or most <= vin:
        return kit.Said(values={})
    volts = float(f"{(most - vin) / _USUAL_CLAMP:.2g}")
    told = kit.assumed(msg("reflected voltage"), with_unit(volts, "V", 3))
    return kit.Said(values={"reflected_v": volts}, notes=(told,))


_QUANTITIES = (
    kit.Quantity(
        name="vin", label=msg("highest input voltage"), dimensions=("V",), takes_rest=True, within=(5, 1000),
        words=r"input|v_?in(?:_?max)?(?![a-z])|bus|supply|母线|输入", example=375, required=True,
    ),
    kit.Quantity(
        name="reflected_v", label=msg("reflected voltage"), dimensions=("V",), within=(2, 500), example=100,
        words=r"reflect\w*(?: output)?(?: voltage)?|v_?or(?![a-z])|反射", required=True,
    ),
    kit.Quantity(
        name="leakage_h", label=msg("leakage inductance"), dimensions=("H",), takes_rest=True, example=5e-6,
        words=r"leakage|l_?lk?(?:eak|k)?(?![a-z])|induct\w*|漏感|电感", within=(1e-8, 1e-3), required=True,
    ),
    kit.Quantity(
        name="peak_a", label=msg("peak current of the primary"), dimensions=("A",), takes_rest=True,
        words=r"peak|current|i_?p(?:k|eak)?(?![a-z])|峰值|电流", within=(0.01, 100), example=2, required=True,
    ),
    kit.Quantity(
        name="fsw", label=msg("switching frequency"), dimensions=("Hz",), takes_rest=True, within=(1e3, 2e6),
        words=r"switch\w*|f_?sw?(?![a-z])|frequency|频率", example=65e3, default=65e3,
    ),
    kit.Quantity(
        name="rating_v", label=msg("voltage rating of the switch"), dimensions=("V",), within=(20, 2000),
        words=r"rat(?:ed|ing)|mos(?:fet)?|breakdown|b_?vdss|耐压|额定|开关管", example=650,
    ),
    kit.Quantity(
        name="ripple", label=_RIPPLE, dimensions=("%",), takes_rest=True, limit="at_most", default=0.08,
        words=r"ripple|纹波", within=(0.01, 0.3), example=0.05,
    ),
    kit.Quantity(
        name="drain_v", label=_DRAIN, dimensions=("V",), limit="at_most", within=(10, 2000), example=585,
        words=r"drain|v_?ds(?![a-z])|spike|clamp\w* (?:at|to|below)|漏极|尖峰|钳位[到在至]", default=_most_v,
    ),
    kit.Quantity(
        name="loss_w", label=_LOSS, dimensions=("W",), takes_rest=True, limit="at_most", is_told=False,
        words=r"loss\w*|dissipat\w*|power|损耗|功耗|功率", within=(1e-5, 1e3), example=2,
        default=lambda request: _LOSS_MARGIN * _watt(request, _clamp_v(request, 0.98)),
    ),
)  # fmt: skip


def _on_s(request: kit.Request) -> float:
    """On-time of the test bench: the current falls to zero in each period."""
    reflected = request["reflected_v"]
    return float(_DUTY_SHARE * reflected / (request["vin"] + reflected) / request["fsw"])


def _primary_h(request: kit.Request) -> float:
    """The magnetizing inductance that has the peak current. Raises CircuitError for a leakage beside it."""
    whole = request["vin"] * _on_s(request) / request["peak_a"]
    least, most = (share * whole for share in _LEAKAGE)
    if not least <= request["leakage_h"] <= most:
        limit = least if request["leakage_h"] < least else most
        advice = msg(
            "Change the peak current or the switching frequency, or name another leakage inductance."
        )
        raise beyond(msg("leakage inductance"), "H", request["leakage_h"], limit, advice)
    return float(whole - request["leakage_h"])


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """R of E24 and C of E12. Raises CircuitError for a drain voltage or a loss out of reach."""
    _primary_h(request)
    volts = _clamp_v(request, correction["drain_v"])
    watt = _watt(request, volts)
    if watt > request["loss_w"]:
        advice = msg("Allow a higher drain voltage, or reduce leakage inductance or switching frequency.")
        raise beyond(_LOSS, "W", request["loss_w"], watt, advice)
    ohm = at_most(volts**2 / watt, "E24")
    farad = at_least(1 / (request["ripple"] * correction["ripple"] * ohm * request["fsw"]), "E12")
    note = msg("Clamp voltage {volts}, loss {watt}.", volts=with_unit(volts, "V", 3),
               watt=with_unit(watt, "W", 2))  # fmt: skip
    return kit.Sized(parts={"RC": ohm, "CC": farad}, figures={"clamp_v": volts}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Primary and reflected output as a test bench, the switch, and the clamp."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    vin, peak, leakage, volts = (request["vin"], request["peak_a"], request["leakage_h"],
                                 sized.figures["clamp_v"])  # fmt: skip
    farad = 0.03 * leakage * (peak / volts) ** 2
    edge = spice(0.002 / request["fsw"])
    wave = f"0 1 0 {edge} {edge} {spice(_on_s(request))} {spice(1 / request['fsw'])}"
    deck.part(f"Vin in 0 DC {spice(vin)}", msg("input"))
    deck.part(f"Vgate gate 0 DC 0 PULSE({wave})", msg("gate drive"))
    deck.part(f"LLK in p {spice(leakage)}", msg("leakage inductance"))
    deck.part(f"Rloss in p {spice(2 * math.sqrt(leakage / farad))}", msg("losses of the leakage inductance"))
    deck.part(f"LP p d {spice(_primary_h(request))}", msg("primary"))
    deck.part("D2 d q dclamp", msg("output diode, seen from the primary"))
    deck.part(f"Vor q p DC {spice(request['reflected_v'])}", msg("output, seen from the primary"))
    deck.part("S1 d 0 gate 0 switch", msg("low-side switch"))
    deck.part(f"Cd d 0 {spice(farad)}", msg("capacitance of the drain"))
    deck.part("D1 d c dclamp", msg("clamp diode"))
    deck.part(f"RC c m {parts['RC']}", msg("clamp resistor"))
    deck.part("Vmeter m in DC 0", msg("measures the current of the clamp resistor"))
    deck.part(f"CC c in {parts['CC']}", msg("clamp capacitor"))
    deck.rule()
    deck.cards(
        f".model dclamp D(IS=1n N=1.5 RS={spice(0.2 / peak)} CJO={spice(farad / 2)})",
        f".model switch SW(RON={spice(1e-3 * vin / peak)} ROFF={spice(1e6 * vin / peak)} VT=0.5 VH=0.4)",
        f".ic v(c)={spice(vin + volts)}",
        ".options method=gear abstol=10n vntol=100u",  # trapezoids let charge through the clamp diode
    )


def _record(request: kit.Request, sized: kit.Sized) -> str:
    period = 1 / request["fsw"]
    start = math.ceil(_SETTLES * sized.parts["RC"] * sized.parts["CC"] / period) * period
    step = spice(period / _STEPS)
    return f".tran {step} {spice(start + _PERIODS * period)} {spice(start)} {step}"


FAMILY = kit.Family(
    key="rcd_clamp",
    name=msg("RCD clamps for flyback converters"), one=msg("an RCD clamp"),
    examples={"en": "RCD clamp of a flyback, 375 V input, reflected voltage 100 V, leakage 5 uH, 2 A, 65 kHz",
              "zh": "反激RCD钳位电路，输入375V，反射电压100V，漏感5uH，峰值电流2A，65kHz"},
    words=kit.Words(
        named=r"^(?=.*(?<![a-z])r-?c-?d(?![a-z])).*(?:clamp|snub|fly[\s-]?back|钳位|箝位|吸收|缓冲|反激).*",
        excludes=r"forward conv|正激|active clamp|有源钳位|with (?:an? )?rcd|带rcd",
    ),
    quantities=_QUANTITIES,
    goals=(
        kit.GoalRow(metric="peak_drain", label=msg("Peak of the drain voltage"), unit="V", quantity="drain_v",
                    expression="peak(v(d))"),
        kit.GoalRow(
            metric="clamp_ripple", label=msg("Ripple of the clamp"), unit="1", quantity="ripple",
            expression=lambda request: f"pp(v(c))/(avg(v(c))-{spice(request['vin'])})",
        ),
        kit.GoalRow(metric="clamp_loss", label=msg("Loss of the clamp"), unit="W", quantity="loss_w",
                    is_corrected=False, expression="avg((v(c)-v(in))*i(vmeter))"),
    ),
    title="RCD clamp, {vin:V3}, reflected {reflected_v:V3}, {peak_a:A3}",
    remarks=(msg("P = L Ip^2 f / 2 VC / (VC - VOR); R = VC^2 / P; C = 1 / (ripple R f)."),),
    analyses=lambda request, sized, _goals: (_record(request, sized),),
    output="", size=size, netlist=netlist, complete=complete,
)  # fmt: skip
