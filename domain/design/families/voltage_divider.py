"""The resistive voltage divider, with or without a load.

Vout = Vin (R2 || RL) / (R1 + R2 || RL). Without another wish the divider carries ten times the load's current
(the rule of Horowitz, Hill, "The Art of Electronics", 3rd ed., section 1.2.3), or 1 mA without a load.
"""

from __future__ import annotations

import math
import re

from domain.design import kit, quantity_words
from domain.design.families.resistive_rows import SERIES, VIN, VOUT, says_voltages
from domain.design.kit import assumed, best_pair, impossible, left_out, nearest, spice, with_unit
from domain.design.transistor import parallel
from shared.message import msg

_ROOM = 0.3
"""How far R2 may leave its round value for a better ratio."""
_STIFF = 10.0
_OHM = (10.0, 10e6)
_CURRENT = msg("current")
_RATIO = re.compile(
    r"(?<![\d.])(?P<ratio>\d+(?:\.\d+)?)\s?(?::|to|比)\s?1(?![\d.]|\s?(?:v|k|m))"
    r"|(?:divid\w*(?: [\d.]+ ?v)? by|分压比为?|by a factor of)\s?(?P<factor>\d+(?:\.\d+)?)(?!\s?[:v\d])",
    re.IGNORECASE,
)
_FROM_ZERO = re.compile(r"(?<![\d.])0\s?v?\s?(?:-|~|to|到|至)\s?(?=\d+(?:\.\d+)?\s?v)", re.IGNORECASE)
_CONVERTER = r"(?<![a-z])(?:adc|mcu|microcontroller)(?![a-z])|单片机"
_RECEIVER = rf"{_CONVERTER}|(?<![a-z])(?:pin|gpio)(?![a-z])|引脚|管脚|[io]/?o口"
"""What bears the smaller of two voltages."""
_DIVIDES = r"divid|分压|resist|电阻|ω|(?<![a-z])ohms?(?![a-z])"
_FEEDS_A = 5e-3
"""What takes more wants a supply, unless a divider is called by name."""
_SIGNAL_V = 10.0
"""Of a divider of which only the ratio was said."""
_QUANTITIES = (
    VIN,
    VOUT,
    kit.Quantity(
        name="load_ohm", label=msg("load resistance"), dimensions=("Ohm",), takes_rest=True, within=(1, 1e9),
        words=rf"load|负载|(?<![a-z])r_?l(?![a-z])|{quantity_words.NEXT_INPUT}", example=100e3,
    ),
    kit.Quantity(
        name="input_ohm", label=msg("input resistance"), dimensions=("Ohm",), within=(100, 15e6), example=1e6,
        words=rf"{quantity_words.INPUT_OHM}|总电?阻",
        limit="at_least",
    ),
    kit.Quantity(
        name="current_a", label=_CURRENT, dimensions=("A",), takes_rest=True, within=(1e-6, 1), example=1e-3,
        words=r"current|draws?|consum\w*|quiescent|(?<!压)电流|功耗|消耗", limit="at_most",
    ),
    kit.TOLERANCE,
)  # fmt: skip


def says(sentence: kit.Sentence) -> kit.Said:
    """The two voltages; of a ratio ("10:1") the other one, of a range from zero its end. Raises CircuitError
    for a supply."""
    fed = max((each.value for each in sentence.of("A")), default=0.0)
    if fed >= _FEEDS_A and not sentence.has(_DIVIDES):
        raise impossible(
            msg(
                "A resistive divider cannot feed {current}: it is not a power supply.",
                current=with_unit(fed, "A", 3),
            ),
            msg("Ask for a linear regulator or a buck converter."),
        )
    ratio = _RATIO.search(sentence.text)
    text = sentence.text if ratio is None else sentence.text.replace(ratio[0], " ", 1)
    if (text := _FROM_ZERO.sub("", text)) != sentence.text:
        sentence = kit.read_sentence(text)
    said = says_voltages(sentence, _QUANTITIES)
    values, notes = dict(said.values), said.notes
    volts = sorted(sentence.of("V"), key=lambda mention: mention.value)
    if len(volts) == 2 and (not {"vin", "vout"} <= values.keys() or sentence.has(_RECEIVER)):
        values |= {"vout": volts[0].value, "vin": volts[1].value}
    if ratio is not None and (factor := float(ratio["ratio"] or ratio["factor"])) > 1:
        if not {"vin", "vout"} & values.keys():
            values["vin"] = volts[0].value if volts else _SIGNAL_V
            told = () if volts else (assumed(VIN.label, VIN.text(_SIGNAL_V)),)
            notes = (*(note for note in notes if note not in left_out(volts)), *told)
        values.setdefault("vin", values.get("vout", 0.0) * factor)
        values.setdefault("vout", values["vin"] / factor)
    return kit.Said(values=values, stated=said.stated | ({"vin", "vout"} & values.keys()), notes=notes)


def complete(request: kit.Request) -> kit.Said:
    """The current, where nobody said it. Raises CircuitError for an output above the input."""
    vin, vout, load = request["vin"], request["vout"], request["load_ohm"]
    if vin is None or vout is None:
        return kit.Said(values={})
    if not 0 < vout < vin:
        raise impossible(
            msg("A voltage divider only divides: it cannot make {vout} V from {vin} V.", vout=f"{vout:g}",
                vin=f"{vin:g}"),
            msg("Ask for an output below the input; a boost converter steps up."),
        )  # fmt: skip
    current = request["current_a"]
    if current is None and request["input_ohm"] is not None:
        current = vin / request["input_ohm"]
    if current is None:
        current = min(max(1e-3 if load is None else (_STIFF + 1) * vout / load, 1.2e-6), 1.0)
    return kit.Said(values={"current_a": current})


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """R1 and R2 of the series whose ratio with the load comes nearest."""
    vin, vout = request["vin"], request["vout"] * correction["vout"]
    load = request["load_ohm"] or math.inf
    # a little below: the current is an upper limit when it was said
    current = 0.95 * request["current_a"]
    through = current - request["vout"] / load
    if through <= 0.02 * current:
        raise kit.unreachable(
            _CURRENT,
            with_unit(request["current_a"], "A", 3),
            with_unit(1.1 * request["vout"] / load, "A", 3),
            msg("Allow more current, or add a voltage follower behind the divider."),
        )
    lower = min(max(vout / through, _OHM[0]), _OHM[1])
    series = request["resistor_series"]
    lowers = kit.values_between(lower, lower * (1 + _ROOM), series) or (nearest(lower, series),)
    ratio = vin / vout - 1
    r2, r1 = best_pair(
        lowers,
        lambda each: ratio * parallel(each, load),
        series,
        lambda two, one: abs(one / (one + parallel(two, load)) - ratio / (1 + ratio)),
    )
    note = msg("R1 = {r1}, R2 = {r2}, source resistance for the load {source}.", r1=with_unit(r1, "Ω"),
               r2=with_unit(r2, "Ω"), source=with_unit(parallel(r1, r2), "Ω", 3))  # fmt: skip
    return kit.Sized(parts={"R1": r1, "R2": r2}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    deck.part(f"Vin in 0 DC {spice(request['vin'])} AC 1", msg("input"))
    deck.part(f"R1 in out {spice(sized.parts['R1'])}", msg("upper resistor"))
    deck.part(f"R2 out 0 {spice(sized.parts['R2'])}", msg("lower resistor"))
    if request["load_ohm"] is not None:
        deck.part(f"Rload out 0 {spice(request['load_ohm'])}", msg("load"))


FAMILY = kit.Family(
    key="voltage_divider",
    name=msg("resistive voltage dividers"), one=msg("a voltage divider"),
    examples={"en": "voltage divider from 12 V to 3.3 V, load 100 kohm",
              "zh": "把12V分压到3.3V的电阻分压器，负载100kΩ"},
    words=kit.Words(
        named=(r"(?:resist(?:ive|or) )?(?:voltage|potential) divider|"
               r"(?<!frequency )(?<!clock )(?<![a-z])divider(?= from|,? [\d.]+ ?v)|"
               r"(?<=v )to [\d.]+\s?v? divider|"
               r"resist(?:ive|or) divider|"
               r"(?:电阻)?分压(?:器|电路|网络)?"),
        plausible=(r"(?<![a-z])divid\w*[^.;]{0,20}(?<![a-z])by \d|(?<![a-z])divid(?:e|ed|"
                   r"ing)(?![a-z]).{0,20}(?<![a-z])down(?![a-z])|"
                   r"\d\s?(?::|to)\s?1 divider|divider,? \d+:1|"
                   rf"(?:scal|divid|bring|缩小|分压)[^.;。]{{0,40}}(?:{_CONVERTER})|"
                   rf"(?:{_CONVERTER})[^.;。]{{0,40}}(?:scal|divid|缩小|分压)"),
        excludes=(
            r"colpitts|hartley|bias|偏置|capaciti|电容(?:式)?分压|frequency divider|分频|r-2r|wheatstone|"
            r"buffer|"
            r"follower|跟随"
        ),
    ),
    quantities=_QUANTITIES,
    choices=(SERIES,),
    goals=(
        kit.GoalRow(metric="vout", label=msg("Output voltage"), unit="V", quantity="vout",
                    expression=lambda request: f"at(v(out),{spice(request['vin'])})"),
        kit.GoalRow(metric="current", label=msg("Current"), unit="A", quantity="current_a",
                    expression=lambda request: f"at(-i(vin),{spice(request['vin'])})"),
    ),
    title="Voltage divider {vin:g} V to {vout:g} V",
    remarks=(msg("Vout = Vin (R2 || Rload) / (R1 + R2 || Rload)."),),
    analyses=lambda request, _sized, _goals: (
        f".dc Vin 0 {spice(request['vin'])} {spice(request['vin'] / 50)}",
    ),
    size=size, netlist=netlist,
    says=says,
    complete=complete,
)  # fmt: skip
