"""The common-emitter amplifier: one NPN, biased by a divider, its emitter resistor bypassed in part.

Gain -(RC || RL || ro) / (re + RE1) with re = VT / IC; the bias stands on VE of about a tenth of the supply
and on a divider that carries a tenth of the collector current. Three capacitors set the lower corner: that at
the emitter first, the coupling ones well below it.
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., sections 7.3, 7.5 and 10.1; Horowitz, Hill, "The
Art of Electronics", 3rd ed., section 2.3.
"""

from __future__ import annotations

import math

from domain.circuit.figures import told_apart, with_unit
from domain.circuit.preferred_values import at_least, nearest
from domain.design.deck import Deck, spice
from domain.design.engine.declaration import (
    TOLERANCE,
    Bounds,
    Correction,
    Family,
    GoalRow,
    Quantity,
    Request,
    Sized,
    Words,
    around,
)
from domain.design.engine.wording import unreachable
from domain.design.transistor import (
    BASE_EMITTER_V,
    CURRENT_GAIN,
    EARLY_V,
    NO_PNP,
    TRANSISTOR,
    emitter_ohm,
    npn_of,
    parallel,
    write_npn,
)
from shared.message import msg

_SATURATION_V = 0.5
_DIVIDER_SHARE = 0.1
"""Of the collector current, through the divider at the base."""
_EMITTER_SHARE, _COUPLING_SHARE = 1.6, 8.0
"""By how much the corners of the capacitors lie below the lower corner of the amplifier."""
_GAIN = msg("gain")


def _drop_v(request: Request) -> float:
    """Across the collector resistor: half of what emitter and saturation leave."""
    supply = request["supply_v"]
    return float(0.5 * (supply - max(1.0, 0.1 * supply) - _SATURATION_V))


def _collector_a(request: Request) -> float:
    """1 mA, or what makes the collector resistor no larger than half of the load."""
    return float(max(1e-3, 2 * _drop_v(request) / request["load_ohm"]))


def _mid_hz(request: Request) -> str:
    return spice(50 * request["low_hz"])


def size(request: Request, correction: Correction) -> Sized:
    """Bias of E24, the gain by RE1 of E96, capacitors of E6."""
    current, drop = request["collector_a"], _drop_v(request)
    rc = nearest(drop / current, "E24")
    load = parallel(rc, request["load_ohm"], EARLY_V / current)
    gain, re = request["gain"] * correction["gain"], emitter_ohm(current)
    series = load / gain - re
    if series <= 0:
        asked, limit = told_apart("", request["gain"], 0.95 * load / re, digits=3)
        advice = msg("Raise the supply or the load resistance, or use two stages or an op-amp.")
        raise unreachable(_GAIN, asked, limit, advice)
    re1 = nearest(series, "E96")
    emitter_v = max(1.0, 0.1 * request["supply_v"], current * re1)
    rest = emitter_v / current - re1
    re2 = nearest(rest, "E24") if rest > 0.05 * re1 + 1 else 0.0
    base_v, base_a = current * (re1 + re2) + BASE_EMITTER_V, current / CURRENT_GAIN
    through = _DIVIDER_SHARE * current
    r2 = nearest(base_v / through, "E24")
    r1 = nearest((request["supply_v"] - base_v) / (base_v / r2 + base_a), "E24")
    input_ohm = parallel(r1, r2, CURRENT_GAIN * (re + re1))
    low = 2 * math.pi * request["low_hz"] * correction["low_hz"]
    parts = {
        "R1": r1, "R2": r2, "RC": rc, "RE1": re1,
        "C1": at_least(_COUPLING_SHARE / (low * input_ohm), "E6"),
        "C2": at_least(_COUPLING_SHARE / (low * (rc + request["load_ohm"])), "E6"),
    }  # fmt: skip
    if re2:
        parts |= {"RE2": re2, "C3": at_least(_EMITTER_SHARE / (low * parallel(re2, re + re1)), "E6")}
    note = msg(
        "Collector current {current}, emitter at {emitter}, collector at {collector}.",
        current=with_unit(current, "A", 3),
        emitter=with_unit(current * (re1 + re2), "V", 3),
        collector=with_unit(request["supply_v"] - current * rc, "V", 3),
    )
    return Sized(parts=parts, notes=(note,))


def netlist(deck: Deck, request: Request, sized: Sized) -> None:
    """Source, bias, the transistor and its three capacitors."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    amplitude = min(0.01, 0.2 * _drop_v(request) / request["gain"])
    sine = f"SIN(0 {spice(amplitude)} {_mid_hz(request)})"
    deck.part(f"Vin in 0 DC 0 AC 1 {sine}", msg("input: 1 V for .ac, a sine at mid band for .tran"))
    deck.part(f"Vcc vcc 0 DC {spice(request['supply_v'])}", msg("supply"))
    deck.part(f"C1 in b {parts['C1']}", msg("couples the input"))
    deck.part(f"R1 vcc b {parts['R1']}", msg("bias, together with R2"))
    deck.part(f"R2 b 0 {parts['R2']}", msg("bias, together with R1"))
    deck.part(f"RC vcc c {parts['RC']}", msg("collector resistor"))
    deck.part(f"Q1 c b e {npn_of(request)}", msg("transistor"))
    if "RE2" in parts:
        deck.part(f"RE1 e x {parts['RE1']}", msg("sets the gain"))
        deck.part(f"RE2 x 0 {parts['RE2']}", msg("holds the operating point"))
        deck.part(f"C3 x 0 {parts['C3']}", msg("bypasses RE2: sets the lower corner"))
    else:
        deck.part(f"RE1 e 0 {parts['RE1']}", msg("sets the gain and holds the operating point"))
    deck.part(f"C2 c out {parts['C2']}", msg("couples the output"))
    deck.part(f"Rload out 0 {spice(request['load_ohm'])}", msg("load"))
    write_npn(deck, request)


FAMILY = Family(
    key="common_emitter",
    name=msg("common-emitter amplifiers with one transistor"),
    one=msg("a common-emitter amplifier"),
    examples={
        "en": "common-emitter amplifier, gain 50, 12 V supply, 10 kohm load",
        "zh": "增益50倍的共射放大电路，电源12V，负载10kΩ",
    },
    words=Words(
        named=(
            r"(?:single[\s-](?:stage|transistor) )?(?:bjt |npn |transistor )?common[\s-]emitter"
            r"(?: (?:bjt|npn|transistor))?(?: (?:voltage )?(?:amplifier|amp|stage|circuit))?|"
            r"(?:单(?:级|管))?(?:bjt|npn|三极管|晶体管)?共(?:发)?射极?(?:组态)?"
            r"(?:三极管|晶体管)?(?:放大)?(?:器|电路)?"
        ),
        plausible=(
            r"(?:single[\s-](?:stage|transistor) )?(?:bjt|npn|bipolar|transistor)(?: transistor)? "
            r"(?:voltage )?(?:amplifier|amp|stage)|(?:单管|三极管|晶体管|bjt|npn)放大(?:器|电路)"
        ),
        excludes=(
            r"cascode|共射共基|common[\s-](?:base|collector)|follower|differen|差分|push[\s-]?pull|推挽|"
            r"two[\s-]stage|两级|多级|multi|mos|fet|op[\s-]?amp|运放|power|功率|darlington|达林顿|oscillat|振荡"
        ),
        refuses=(NO_PNP,),
    ),
    quantities=(
        Quantity(
            name="gain", label=_GAIN, dimensions=("x", "dB"), words=r"(?<![a-z])gain|增益|放大倍数|放大",
            takes_rest=True, has_sign=False, within=(1.5, 1000), example=50, required=True,
        ),
        Quantity(
            name="low_hz", label=msg("lower corner frequency"), dimensions=("Hz",), takes_rest=True,
            words=r"low(?:er)?(?: corner| cut-?off)?(?: frequency)?|下限(?:截止)?(?:频率)?|低频|f_l",
            before=r"(?<![a-z])from",
            limit="at_most", within=(1, 100e3), example=100, default=100.0,
        ),
        Quantity(
            name="supply_v", label=msg("supply"), dimensions=("V",), takes_rest=True, within=(4, 60),
            words=r"suppl\w+|power(?:ed)?|rails?|供电|电源|vcc|vdd", example=12, default=12.0,
        ),
        Quantity(
            name="load_ohm", label=msg("load resistance"), dimensions=("Ohm",), takes_rest=True,
            words=r"load|负载|(?<![a-z])r_?l(?![a-z])", within=(100, 10e6), example=10e3, default=10e3,
        ),
        Quantity(
            name="collector_a", label=msg("collector current"), dimensions=("A",), takes_rest=True,
            words=r"collector|quiescent|bias|(?<![a-z])i_?c(?:q)?(?![a-z])|集电极|静态|工作电流",
            within=(10e-6, 0.1), example=1e-3, default=_collector_a,
        ),
        TOLERANCE,
    ),
    choices=(TRANSISTOR,),
    goals=(
        GoalRow(
            metric="gain", label=msg("Gain"), unit="1", quantity="gain",
            expression=lambda request: f"at(re(v(out)/v(in)),{_mid_hz(request)})",
            bounds=lambda request: around(-request["gain"], request["tolerance"]),
        ),
        GoalRow(
            metric="lower_corner", label=msg("Lower corner, −3 dB"), unit="Hz", quantity="low_hz",
            expression=lambda _request: "lowcut(v(out))",
            bounds=lambda request: Bounds(maximum=request["low_hz"]),
        ),
    ),
    title=lambda request: f"Common-emitter amplifier, gain {request['gain']:.4g}, {request['supply_v']:g} V",
    remarks=lambda _request: (msg("Gain = -(RC || Rload || ro) / (VT / IC + RE1)."),),
    analyses=lambda request, _sized, _goals: (
        f".ac dec 50 {spice(request['low_hz'] / 50)} {spice(max(1e6, 1000 * request['low_hz']))}",
    ),
    size=size,
    netlist=netlist,
)  # fmt: skip
