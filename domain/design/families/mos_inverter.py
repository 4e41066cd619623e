"""The inverter: an NMOS and a PMOS transistor, or an NMOS with a resistor.

tp = alpha CL / (KP W/L VDD) with alpha = 2 / (7/4 - 3 VT/VDD + (VT/VDD)^2); with a resistor it rises in
0.69 R CL, and the transistor's width holds the low level. Source: Sedra, Smith, "Microelectronic Circuits",
7th ed., sections 14.2 to 14.4.
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.circuit.figures import with_unit
from domain.circuit.preferred_values import nearest
from domain.design.deck import Deck, spice
from domain.design.engine.declaration import (
    TOLERANCE,
    Bounds,
    Choice,
    Correction,
    Family,
    GoalRow,
    Option,
    Quantity,
    Request,
    Sized,
    Words,
)
from domain.design.engine.wording import unreachable
from domain.design.families.differential_pair import LOAD_FARAD
from domain.design.families.transistor_rows import SUPPLY_V
from domain.design.mosfet import KP, KP_P, THRESHOLD_V, nmos, pmos, write_nmos, write_pmos
from shared.message import msg

_MARGIN = 1.25
_LOW_SHARE = 0.05
"""Of the supply: the low level beside a resistor."""
_LEVEL = 0.1
"""Of the supply: how far the levels may stand inside it."""
_MOST_RATIO, _LEAST_RATIO = 2000.0, 1.0
_DELAY = msg("propagation delay")


def size(request: Request, correction: Correction) -> Sized:
    """The widths by the delay; beside a resistor of E24 by the low level."""
    supply, load = request["supply_v"], request["load_farad"]
    delay = request["delay_s"] * correction["delay_s"] / _MARGIN
    share = THRESHOLD_V / supply
    alpha = 2 / (7 / 4 - 3 * share + share**2)
    parts = {}
    if request["form"] == "resistor":
        parts["RD"] = nearest(delay / (math.log(2) * load), "E24")
        low = _LOW_SHARE * supply
        drive = (supply - THRESHOLD_V) * low - low**2 / 2
        parts["W/L 1"] = max(
            (supply - low) / parts["RD"] / (KP * drive), alpha * load / (KP * delay * supply)
        )
    else:
        parts["W/L 1"] = max(alpha * load / (KP * delay * supply), _LEAST_RATIO)
        parts["W/L 2"] = parts["W/L 1"] * KP / KP_P
    widest = max(value for name, value in parts.items() if name != "RD")
    if widest > _MOST_RATIO:
        asked = with_unit(request["delay_s"], "s", 3)
        limit = with_unit(request["delay_s"] * widest / _MOST_RATIO, "s", 3)
        raise unreachable(_DELAY, asked, limit, msg("Lower the load capacitance, or allow more delay."))
    note = msg("W/L = {ratio}.", ratio=f"{parts['W/L 1']:.3g}")
    return Sized(parts=parts, notes=(note,))


def netlist(deck: Deck, request: Request, sized: Sized) -> None:
    """A pulse at the input, the transistors, the load."""
    parts, delay = sized.parts, request["delay_s"]
    edge, high = spice(delay / 20), spice(request["supply_v"])
    pulse = f"PULSE(0 {high} {spice(2 * delay)} {edge} {edge} {spice(20 * delay)} {spice(60 * delay)})"
    deck.part(f"Vin in 0 DC 0 AC 1 {pulse}", msg("input: a pulse"))
    deck.part(f"Vcc vcc 0 DC {high}", msg("supply"))
    deck.part(nmos("M1", "out in 0 0", parts["W/L 1"]), msg("pulls the output down"))
    if "RD" in parts:
        deck.part(f"RD vcc out {spice(parts['RD'])}", msg("pulls the output up"))
    else:
        deck.part(pmos("M2", "out in vcc vcc", parts["W/L 2"]), msg("pulls the output up"))
    deck.part(f"CL out 0 {spice(request['load_farad'])}", msg("load"))
    write_nmos(deck)
    if "RD" not in parts:
        write_pmos(deck)


def _delay(edge: int) -> GoalRow:
    def expression(request: Request) -> str:
        half = spice(request["supply_v"] / 2)
        return f"cross(v(out),{half},{edge})-cross(v(in),{half},{edge})"

    return GoalRow(
        metric=("fall_delay", "rise_delay")[edge - 1],
        label=(msg("Delay, falling"), msg("Delay, rising"))[edge - 1],
        unit="s", quantity="delay_s", expression=expression,
        bounds=lambda request: Bounds(maximum=request["delay_s"]),
    )  # fmt: skip


def _pulse(delay: float) -> str:
    step = spice(delay / 50)
    return f".tran {step} {spice(42 * delay)} 0 {step}"


FAMILY = Family(
    key="mos_inverter",
    name=msg("MOS inverters (CMOS, or NMOS with a resistor)"),
    one=msg("a MOS inverter"),
    examples={
        "en": "CMOS inverter, delay below 5 ns, load 1 pF, 5 V supply",
        "zh": "CMOS反相器，延迟小于5ns，负载电容1pF，电源5V",
    },
    words=Words(
        named=(
            r"(?:(?:n-?mos|cmos|mos(?:fet)?|logic(?:al)?|digital) )+inverter|"
            r"(?:logic(?:al)? )?inverter(?=.{0,30}(?:mos|fet))|not gate|"
            r"(?:cmos|n?mos管?|逻辑|数字)(?:逻辑)?(?:反相|非)(?:器|门)|非门"
        ),
        excludes=r"dc|power|grid|solar|逆变|ring|环形|oscillat|振荡|schmitt|施密特|chain|链",
    ),
    quantities=(
        Quantity(
            name="delay_s", label=_DELAY, dimensions=("s",), takes_rest=True, limit="at_most",
            words=r"delay|propagation|t_?p(?:d|hl|lh)?(?![a-z])|延迟|延时", example=10e-9, default=20e-9,
            within=(0.5e-9, 1e-4),
        ),
        replace(LOAD_FARAD, default=1e-12),
        replace(SUPPLY_V, within=(2.5, 20), default=5.0, example=5),
        replace(TOLERANCE, is_told=False),
    ),
    choices=(
        Choice(
            name="form", label=msg("load"),
            options=(
                Option(key="cmos", label=msg("PMOS transistor"), words=r"cmos|p-?mos"),
                Option(key="resistor", label=msg("resistor"), words=r"resist|电阻"),
            ),
        ),
    ),
    goals=(
        _delay(1),
        _delay(2),
        GoalRow(
            metric="low_level", label=msg("Low level"), unit="V",
            expression=lambda request: f"at(v(out),{spice(20 * request['delay_s'])})",
            bounds=lambda request: Bounds(maximum=_LEVEL * request["supply_v"]),
        ),
        GoalRow(
            metric="high_level", label=msg("High level"), unit="V",
            expression=lambda request: f"at(v(out),{spice(40 * request['delay_s'])})",
            bounds=lambda request: Bounds(minimum=(1 - _LEVEL) * request["supply_v"]),
        ),
    ),
    title=lambda request: (
        f"Inverter, {request['form']} load, {with_unit(request['delay_s'], 's')}, {request['supply_v']:g} V"
    ),
    remarks=lambda _request: (msg("Delay = alpha CL / (KP W/L VDD), with a resistor 0.69 R CL."),),
    analyses=lambda request, _sized, _goals: (_pulse(request["delay_s"]),),
    size=size,
    netlist=netlist,
)  # fmt: skip
