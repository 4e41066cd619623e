"""Reverse-polarity protection: a P-channel MOSFET in the positive line, drain at the input, gate to ground.

With the right polarity its body diode starts it and the channel takes over; with the wrong one it is off.
Above what the gate bears a Zener diode and a resistor hold it. Sources as in `pmos_pass`, above all
TI SLVA139.
"""

from __future__ import annotations

from domain.design import kit
from domain.design.families import pmos_pass
from domain.design.families.resistive_rows import zener_model
from domain.design.kit import at_most, impossible, nearest, spice, with_unit
from shared.message import msg

_DROP = msg("drop in the line")
_SPARE, _GATE_OHM, _MOST_GATE_OHM, _ZENER_A = 0.94, 10e3, 100e3, 1e-3
_FREE_W = 0.02
"""Of the supply: the drop where nobody said it."""


def says(sentence: kit.Sentence) -> kit.Said:
    """Of an input's range the lowest opens the transistor least, the highest is what it has to bear."""
    values, unused = kit.read_quantities(_QUANTITIES, sentence)
    stated = frozenset(values)
    spans = [each for each in sentence.of("V") if each.upper is not None]
    if spans and values.get("supply_v") == spans[0].middle:
        values |= {"vin_lowest": spans[0].value, "vin_highest": spans[0].upper or spans[0].value}
    return kit.Said(values=values, stated=stated, notes=kit.left_out(unused))


def complete(request: kit.Request) -> kit.Said:
    """The input's range, and the current where the power was said."""
    supply, current = request["supply_v"], request["current_a"]
    if supply is None:
        return kit.Said(values={})
    if current is None and request["load_w"]:
        current = request["load_w"] / supply
    low, high = (request.get(name) or supply for name in ("vin_lowest", "vin_highest"))
    return kit.Said(values={"vin_lowest": low, "vin_highest": high, "current_a": current})


def _clamped(request: kit.Request) -> float:
    """The Zener voltage of E24; 0 where the gate bears the input."""
    most = _SPARE * request["gate_v"]
    return 0.0 if request["vin_highest"] <= most else at_most(0.95 * most, "E24")


def _gate_v(request: kit.Request) -> float:
    """Between gate and source at the lowest input."""
    zener = _clamped(request)
    return float(min(request["vin_lowest"], 0.97 * zener) if zener else request["vin_lowest"])


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The gate's resistor, the Zener diode of E24. Raises CircuitError for what is out of reach."""
    del correction  # every limit is kept by a margin
    used = pmos_pass.chosen(request, _gate_v(request), _DROP)
    if _gate_v(request) < used.part.threshold_v + 0.5:
        raise impossible(
            msg("A supply of {supply} does not open the P-channel MOSFET.",
                supply=with_unit(request["vin_lowest"], "V")),
            msg("Raise the supply, or name a logic-level part: {name}.", name="AO3401A"),
        )  # fmt: skip
    zener, on_ohm = _clamped(request), used.on_ohm(_gate_v(request))
    parts = {"RG": _GATE_OHM}
    if zener:
        ohm = (request["vin_highest"] - zener) / _ZENER_A
        parts = {"RG": nearest(min(max(ohm, 1e3), _MOST_GATE_OHM), "E24"), "VZ": zener}
    current = request["current_a"]
    notes = (
        msg("P-channel MOSFET: at most {ohm}, made for more than {volts}; it loses {lost}, a Schottky diode "
            "some "
            "{diode}.", ohm=with_unit(on_ohm, "Ω", 2), volts=with_unit(1.25 * request["vin_highest"], "V", 2),
            lost=with_unit(current**2 * on_ohm, "W", 2), diode=with_unit(0.4 * current, "W", 2)),
        msg("A capacitor behind the transistor discharges backwards through it while the input falls: it "
            "does "
            "not block reverse current as a diode does."),
    )  # fmt: skip
    return kit.Sized(parts=parts, notes=notes)


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The input, swept from the wrong polarity to the right one, the transistor, the load."""
    used = pmos_pass.chosen(request, _gate_v(request), _DROP)
    deck.part(f"Vin in 0 DC {spice(request['supply_v'])}", msg("input, swept through both polarities"))
    deck.part(f"M1 in g out {used.name}", msg("P-channel MOSFET, its source at the load"))
    deck.part(f"RG g 0 {spice(sized.parts['RG'])}", msg("pulls the gate to ground"))
    if "VZ" in sized.parts:
        deck.part("D1 g out dzener", msg("holds the voltage between gate and source"))
    deck.part("Vload out l0 DC 0", msg("measures the current"))
    deck.part(f"RL l0 0 {spice(request['supply_v'] / request['current_a'])}", msg("load"))
    deck.rule()
    if "VZ" in sized.parts:
        deck.cards(zener_model(sized.parts["VZ"], _ZENER_A))
    pmos_pass.write_model(deck, used)


def _sweep(request: kit.Request, _sized: kit.Sized, _goals: object) -> tuple[str]:
    most = request["vin_highest"]
    return (f".dc Vin {spice(-most)} {spice(most)} {spice(most / 100)}",)


_BACKWARDS = (
    r"(?:reverse|wrong|inverse)(?:d|s)?[\s-]?(?:polarity|battery|voltage|supply|connection|input)|"
    r"polarity[\s-]?(?:protect\w+|reversal)|"
    r"(?:battery|supply|plus and minus|polarity|leads?|terminals?)[^,.;]{0,24}(?:backwards?|revers\w+|"
    r"swapped|wrong way|the wrong)|"
    r"swapped plus and minus|revers\w+ (?:the )?battery|反接|接反|反极性|极性(?:反|接反)|(?:防|"
    r"电源)反(?:接|极)?|反向(?:电压|电源|"
    r"极性|电池)"
)
_PROTECT = r"protect\w*|ideal diode|instead of a diode|prevent\w*|survive|保护|防|代替二极管|怕"
_QUANTITIES = (
    kit.Quantity(
        name="supply_v", label=msg("input voltage"), dimensions=("V",), takes_rest=True, required=True,
        words=r"suppl\w+|rails?|batter(?:y|ies)|input|circuit|board|lipo|adapter|供电|电源|电池|输入|适配器|锂电",
        within=(2.5, 48), example=12,
    ),
    kit.Quantity(
        name="current_a", label=msg("load current"), dimensions=("A",), takes_rest=True, required=True,
        words=r"current|draws?|drawing|load|电流|负载|最大", within=(1e-3, 20), example=3,
    ),
    kit.Quantity(name="load_w", label=msg("load power"), dimensions=("W",), takes_rest=True, within=(1e-3,
                                                                                                     500),
                 words=r"power|load|功率", example=24),
    kit.Quantity(
        name="drop_v", label=_DROP, dimensions=("V",), limit="at_most", within=(5e-3, 2), example=0.1,
        words=r"drop\w*|los(?:t|e|es|ing|s)(?![a-z])|压降|损失|降落",
        default=lambda request: max(0.02, min(0.15, _FREE_W * request["supply_v"])),
    ),
    pmos_pass.GATE_V,
)  # fmt: skip

FAMILY = kit.Family(
    key="reverse_protection",
    name=msg("reverse-polarity protections with a P-channel MOSFET"), one=msg("a reverse-polarity "
                                                                              "protection"),
    examples={"en": "reverse-polarity protection with a P-channel MOSFET, 12 V, 3 A, drop below 100 mV",
              "zh": "PMOS防反接电路，12V，3A，压降小于100mV"},
    words=kit.Words(
        named=rf"^(?=.*(?:{_BACKWARDS}))(?=.*(?:{_PROTECT})).*|防反(?:接|极性)?(?:电路|保护)?",
        excludes=(
            r"buck|boost|convert|变换|op[\s-]?amp|运放|amplif|放大|relay|继电器|flyback|吸收|rectif|整流|charger|充电器|"
            r"filter|滤波|"
            r"oscillat|振荡|h[\s-]?bridge|high[\s-]?side switch|高边开关"
        ),
        refuses=(
            (r"(?<![a-z])n[\s-]?(?:channel|mos(?:fet)?)(?![a-z])|fuse|保险丝|crowbar|ltc\d|lm74\d|"
             r"^(?!.*(?:mos|(?<![a-z])fets?(?![a-z])|场效应|wast|too (?:hot|much|lossy)|instead|rather than|"
             r"代替|替代|换掉|太))"
             r".*(?:schottky|肖特基)",
             msg("A reverse-polarity protection with other parts than a P-channel MOSFET cannot be designed "
                 "yet."),
             msg("Ask for a protection with a P-channel MOSFET.")),
        ),
    ),
    quantities=_QUANTITIES,
    choices=(pmos_pass.PMOSFET,),
    goals=(
        kit.GoalRow(metric="drop", label=msg("Drop in the line"), unit="V", quantity="drop_v",
                    is_corrected=False,
                    expression=lambda request: f"at(v(in)-v(out),{spice(request['supply_v'])})"),
        kit.GoalRow(metric="load_current", label=msg("Load current"), unit="A", quantity="current_a",
                    is_corrected=False,
                    expression=lambda request: f"at(i(vload),{spice(request['supply_v'])})",
                    bounds=lambda request: kit.Bounds(minimum=0.998 * request["current_a"] * (
                        1 - request["drop_v"] / request["supply_v"]))),
        kit.GoalRow(metric="gate_voltage", label=msg("Voltage between gate and source"), unit="V",
                    quantity="gate_v", is_corrected=False,
                    expression=lambda request: f"at(v(out)-v(g),{spice(request['vin_highest'])})"),
        kit.GoalRow(metric="reverse_voltage", label=msg("Voltage at the load with the wrong "
                                                        "polarity"), unit="V",
                    expression=lambda request: f"at(v(out),{spice(-request['vin_highest'])})",
                    bounds=lambda _request: kit.Bounds(minimum=-0.05)),
    ),
    title="Reverse-polarity protection, {supply_v:V3}, {current_a:A3}",
    remarks=(msg("Drop = I RDS(on); with the wrong polarity the gate is above the source: off."),),
    analyses=_sweep,
    size=size, netlist=netlist, says=says, complete=complete,
)  # fmt: skip
