"""The low-dropout regulator, sized for its drop-out and for its phase margin over the range of the load.

Vout = Vref (1 + R1/R2). Three of it stand in the netlist, at the highest, a middle and the least load; their
loops are closed at DC and opened for signals. Equations and sources: `domain.design.ldo`.
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.design import kit
from domain.design.families import resistive_rows as rows
from domain.design.kit import assumed, at_least, spice, with_unit
from domain.design.ldo import Aim, gate_farad, near, size_regulator, write_regulator
from shared.message import Message, msg

_ROOM_V = 1.0
"""From output to input where nobody said the input."""
_SHARE = 100  # highest over least load where nobody said the least

_QUANTITIES = (
    replace(rows.VIN, within=(1.5, 20), example=5, required=False),
    replace(rows.VOUT, within=(1.15, 15), example=3.3, takes_rest=True),
    replace(rows.LOAD_A, within=(1e-3, 1), example=0.1),
    kit.Quantity(
        name="light_a", label=msg("minimum load current"), dimensions=("A",), within=(10e-6, 0.5),
        example=1e-3,
        words=r"(?:min(?:imum)?|least|light(?:est)?|lowest) (?:load|output|current)\w*|"
        r"最小(?:(?:负载|输出)(?:电流)?|电流)|轻载",
    ),
    kit.Quantity(
        name="dropout_v", label=msg("dropout voltage"), dimensions=("V",), limit="at_most", within=(0.05, 1),
        words=r"drop[\s-]?out(?: voltage)?|v_?do(?![a-z])|压差|压降", example=0.2, default=0.2,
    ),
    kit.Quantity(name="phase_margin_deg", label=msg("phase margin"), dimensions=("none",), limit="at_least",
                 words=r"phase[\s-]margin|(?<![a-z])pm(?![a-z])|相位裕[度量]", example=50, default=50.0,
                 within=(20, 65)),
    kit.Quantity(
        name="cout_farad", label=msg("output capacitor"), dimensions=("F",), takes_rest=True, example=1e-6,
        words=r"capacit\w*|c_?out|c_?o(?![a-z])|输出电容|电容", within=(100e-9, 1e-3),
        default=lambda request: at_least(max(1e-6, 1e-5 * request["iout"]), "E6"),
    ),
    kit.Quantity(name="esr_ohm", label=msg("series resistance of the output capacitor"), dimensions=("Ohm",),
                 words=r"esr|series resistance|等效串联电阻", takes_rest=True, within=(1e-3, 2), example=0.02,
                 default=0.02),
    replace(kit.TOLERANCE, default=0.02),
)  # fmt: skip


def says(sentence: kit.Sentence) -> kit.Said:
    """A range of the load is its ends."""
    said = rows.says_voltages(sentence, _QUANTITIES)
    values = dict(said.values)
    spans = [each for each in sentence.of("A") if each.upper is not None]
    if "iout" in values and spans:
        values |= {"iout": spans[0].upper, "light_a": spans[0].value}
    return replace(said, values=values)


def complete(request: kit.Request) -> kit.Said:
    """Input and loads where nobody said them. Raises CircuitError for too little input."""
    notes: tuple[Message, ...] = ()
    if request["vin"] is None and request["vout"] is not None:
        request = request.having(vin=request["vout"] + _ROOM_V)
        notes = (assumed(rows.VIN.label, with_unit(request["vin"], "V")),)
    dropout = request["dropout_v"] or 0.2
    said = rows.steps_down(request, msg("A low-dropout regulator"), dropout, load_a=0.1)
    light = request["light_a"] or said.values.get("iout", 0.1) / _SHARE
    return kit.Said(values={**said.values, "vin": request["vin"], "light_a": light}, notes=notes)


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The pass transistor, the divider, the compensation."""
    aim = Aim(
        vout=request["vout"] * correction["vout"],
        lowest_vin=request["vin_lowest"],
        dropout_v=request["dropout_v"] * correction["dropout_v"],
        load_a=request["iout"],
        light_a=request["light_a"],
        cout_farad=request["cout_farad"],
        phase_margin_deg=request["phase_margin_deg"] * correction["phase_margin_deg"],
    )
    parts = size_regulator(aim)
    note = msg("Pass transistor: W/L = {ratio}, gate capacitance {gate}. Compensation Rz = {rz}, Cz = {cz}.",
               ratio=f"{parts['W/L pass']:.3g}", gate=with_unit(gate_farad(parts["W/L pass"]), "F", 2),
               rz=with_unit(parts["Rz"], "Ω"), cz=with_unit(parts["Cz"], "F"))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The regulator at three loads, each with its output capacitor and its loop opened for signals."""
    most, least = request["iout"], request["light_a"]
    loads = {"out": most, "mid": math.sqrt(most * least), "light": least}
    deck.part(f"Vin in 0 DC {spice(request['vin'])}", msg("input"))
    deck.part("Vtest t 0 DC 0 AC 1", msg("test bench: signal into the opened loops"))
    for node, amperes in loads.items():
        load = with_unit(amperes, "A", 3)
        deck.part(f"X{node} in {node} fb{node} ldo", msg("regulator at {load}", load=load))
        deck.part(f"Cout{node} {node} c{node} {spice(request['cout_farad'])}", msg("output capacitor"))
        deck.part(f"Resr{node} c{node} 0 {spice(request['esr_ohm'])}", msg("its series resistance"))
        deck.part(f"Rload{node} {node} 0 {spice(request['vout'] / amperes)}", msg("load"))
        deck.part(f"Lfb{node} {node} fb{node} 1G", msg("test bench: closes the loop at DC"))
        deck.part(f"Cfb{node} fb{node} t 1", msg("test bench: opens it for signals"))
    deck.rule()
    write_regulator(deck, sized.parts)
    deck.cards(*(near(node, request["vin"], request["vout"]) for node in loads))


def _falling_input(request: kit.Request) -> str:
    """The `.dc` card from the highest input down: each point begins near the one before it."""
    high = rows.reach(request)[1]
    return f".dc Vin {spice(high)} {spice(0.5 * request['vout'])} {spice(-high / 200)}"


def _dropout(request: kit.Request) -> str:
    low = spice(0.98 * request["vout"])
    return f"cross(v(out),{low},1)-{low}"


def _load_regulation(request: kit.Request) -> str:
    vin = spice(request["vin"])
    return f"at(v(light),{vin})-at(v(out),{vin})"


def _margin(node: str, metric: str, label: Message) -> kit.GoalRow:
    return kit.GoalRow(
        metric=metric, label=label, unit="deg", quantity="phase_margin_deg",
        expression=lambda _request: f"phase_margin(-v({node}))",
    )  # fmt: skip


FAMILY = kit.Family(
    key="ldo_regulator",
    name=msg("low-dropout regulators (PMOS pass transistor, stable over the load)"),
    one=msg("a low-dropout regulator"),
    examples={"en": "LDO 5 V to 3.3 V, 150 mA, phase margin 60",
              "zh": "5V转3.3V、150mA的低压差线性稳压器，相位裕度60"},
    words=kit.Words(
        named=(r"(?<![a-z])ldos?(?![a-z])(?: (?:linear )?(?:voltage )?regulator)?|"
               r"low[\s-]?drop(?:[\s-]?out)? (?:linear )?(?:voltage )?regulator|"
               r"低压[差降](?:线性)?(?:稳压)?(?:器|电源|电路)?"),
        plausible=(
            r"(?<!shunt )(?<!zener )(?<!series )(?:voltage |linear )?regulators?(?![a-z])|稳压(?!管|二极)"
        ),
        excludes=r"buck|boost|switching|开关|lm317|78\d\d",
    ),
    quantities=_QUANTITIES,
    goals=(
        rows.output_goal(),
        rows.line_goal(lambda request: 0.01 * request["vout"]),
        kit.GoalRow(
            metric="load_regulation", label=msg("Load regulation"), unit="V", is_corrected=False,
            expression=_load_regulation, bounds=lambda request: kit.Bounds(maximum=0.01 * request["vout"]),
        ),
        kit.GoalRow(
            metric="dropout", label=msg("Dropout voltage, output 2 % low"), unit="V", quantity="dropout_v",
            expression=_dropout,
        ),
        _margin("out", "phase_margin", msg("Phase margin at maximum load")),
        _margin("mid", "phase_margin_middle", msg("Phase margin at medium load")),
        _margin("light", "phase_margin_light", msg("Phase margin at minimum load")),
    ),
    title=rows.titled("LDO regulator"),
    remarks=(msg("Vout = Vref (1 + R1/R2). The inductors Lfb open the loops in .ac: the loop gain is "
                 "-V(out)."),),
    analyses=lambda request, _sized, _goals: (_falling_input(request), ".ac dec 40 10 100meg"),
    size=size, netlist=netlist,
    says=says,
    complete=complete,
)  # fmt: skip
