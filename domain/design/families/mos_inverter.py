"""The inverter: an NMOS and a PMOS transistor, or an NMOS with a resistor.

tp = alpha CL / (KP W/L VDD) with alpha = 2 / (7/4 - 3 VT/VDD + (VT/VDD)^2); with a resistor it rises in
0.69 R CL, and the transistor's width holds the low level. Source: Sedra, Smith, "Microelectronic Circuits",
7th ed., sections 14.2 to 14.4.
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.design import kit
from domain.design.families import logic_rows as rows
from domain.design.kit import nearest, spice, unreachable, with_unit
from domain.design.mosfet import KP, THRESHOLD_V, nmos, pmos, write_nmos, write_pmos
from shared.message import msg

_MARGIN = 1.25
_LOW_SHARE = 0.05
"""Of the supply: the low level beside a resistor."""
_LEAST_RATIO = 1.0


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The widths by the delay; beside a resistor of E24 by the low level."""
    supply, load = request["supply_v"], request["load_farad"]
    delay = request["delay_s"] * correction["delay_s"] / _MARGIN
    parts = {}
    if request["form"] == "resistor":
        parts["RD"] = nearest(delay / (math.log(2) * load), "E24")
        low = _LOW_SHARE * supply
        drive = (supply - THRESHOLD_V) * low - low**2 / 2
        parts["W/L 1"] = max(
            (supply - low) / parts["RD"] / (KP * drive), rows.alpha(supply) * load / (KP * delay * supply)
        )
    else:
        parts["W/L 1"] = max(rows.alpha(supply) * load / (KP * delay * supply), _LEAST_RATIO)
        parts["W/L 2"] = parts["W/L 1"] * rows.WIDER_P
    widest = max(value for name, value in parts.items() if name != "RD")
    if widest > rows.MOST_RATIO:
        asked = with_unit(request["delay_s"], "s", 3)
        limit = with_unit(request["delay_s"] * widest / rows.MOST_RATIO, "s", 3)
        raise unreachable(
            rows.DELAY_LABEL, asked, limit, msg("Lower the load capacitance, or allow more delay.")
        )
    note = msg("W/L = {ratio}.", ratio=f"{parts['W/L 1']:.3g}")
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
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


def _pulse(delay: float) -> str:
    step = spice(delay / 50)
    return f".tran {step} {spice(42 * delay)} 0 {step}"


FAMILY = kit.Family(
    key="mos_inverter",
    name=msg("MOS inverters (CMOS, or NMOS with a resistor)"), one=msg("a MOS inverter"),
    examples={"en": "CMOS inverter, delay below 5 ns, load 1 pF, 5 V supply",
              "zh": "CMOS反相器，延迟小于5ns，负载电容1pF，电源5V"},
    words=kit.Words(
        named=(r"(?:(?:n-?mos|cmos|mos(?:fet)?|logic(?:al)?|digital) )+inverter|"
               r"(?:logic(?:al)? )?inverter(?=.{0,30}(?:mos|fet))|not gate|"
               r"(?:cmos|n?mos管?|逻辑|数字)(?:逻辑)?(?:反相|非)(?:器|门)|(?<![与或异同])非门"),
        excludes=r"quartz|crystal|xtal|石英|晶体(?!管)|晶振|dc|power|grid|solar|逆变|ring|环形|oscillat|振荡|schmitt|施密特|chain|链",
    ),
    quantities=(rows.DELAY, rows.GATE_LOAD, rows.LOGIC_SUPPLY, replace(kit.TOLERANCE, is_told=False)),
    choices=(
        kit.Choice(
            name="form", label=msg("load"),
            options=(kit.Option(key="cmos", label=msg("PMOS transistor"), words=r"cmos|p-?mos"),
                     kit.Option(key="resistor", label=msg("resistor"), words=r"resist|电阻")),
        ),
    ),
    goals=(rows.delay_goal("fall_delay", lambda _request: "in", lambda _request: 1),
           rows.delay_goal("rise_delay", lambda _request: "in", lambda _request: 2),
           rows.level_goal("low_level", lambda request: 20 * request["delay_s"]),
           rows.level_goal("high_level", lambda request: 40 * request["delay_s"])),
    title="Inverter, {form} load, {delay_s:s}, {supply_v:g} V",
    remarks=(msg("Delay = alpha CL / (KP W/L VDD), with a resistor 0.69 R CL."),),
    analyses=lambda request, _sized, _goals: (_pulse(request["delay_s"]),),
    size=size, netlist=netlist,
)  # fmt: skip
