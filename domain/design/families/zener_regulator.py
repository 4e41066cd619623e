"""The Zener regulator: a resistor and a Zener diode across the load.

R = (Vin,min - VZ) / (IL + IZ,min); the diode takes all of it at the highest input without load.
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 4.4; Horowitz, Hill, "The Art of
Electronics", 3rd ed., section 2.2.4.
"""

from __future__ import annotations

import math

from domain.circuit.preferred_values import zener_voltages
from domain.design import kit
from domain.design.families import resistive_rows as rows
from domain.design.kit import at_most, beyond, spice, with_unit
from shared.message import msg

_LEAST_SHARE, _LEAST_A = 0.2, 2e-3
"""Of the load current, through the diode at the lowest input."""
_MOST_W = 5.0
_ROOM_V = 0.5
_QUANTITIES = (rows.VIN, rows.VOUT, rows.LOAD_A, kit.TOLERANCE)


def says(sentence: kit.Sentence) -> kit.Said:
    return rows.says_voltages(sentence, _QUANTITIES)


def complete(request: kit.Request) -> kit.Said:
    """10 mA where nobody said the load. Raises CircuitError for an output above the input."""
    return rows.steps_down(request, msg("A Zener regulator"), _ROOM_V, load_a=0.01)


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """VZ of E24, R of E24 for the lowest input."""
    wanted = request["vout"] * correction["vout"]
    vz = min(zener_voltages(wanted / 1.2, 1.2 * wanted), key=lambda each: abs(math.log(each / wanted)))
    load = request["iout"]
    low, high = request["vin_lowest"], request["vin_highest"]
    least = max(_LEAST_SHARE * load, _LEAST_A)
    resistor = at_most((low - vz) / (load + least), "E24")
    most_a = (high - vz) / resistor
    if most_a * vz > _MOST_W:
        advice = msg("Lower the load current or the input's range, or use a series regulator.")
        raise beyond(msg("output current"), "A", load, load * _MOST_W / (most_a * vz), advice, digits=2)
    note = msg("R1 = {r}, {power}; Zener diode {vz}, at most {zener} without load.",
               r=with_unit(resistor, "Ω"), power=with_unit((high - vz) * most_a, "W", 2),
               vz=with_unit(vz, "V"), zener=with_unit(most_a * vz, "W", 2))  # fmt: skip
    figures = {"vz": vz, "test_a": (request["vin"] - vz) / resistor - load}
    return kit.Sized(parts={"R1": resistor}, figures=figures, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    deck.part(f"Vin in 0 DC {spice(request['vin'])} AC 1", msg("input"))
    deck.part(f"R1 in out {spice(sized.parts['R1'])}", msg("carries the load and the diode"))
    deck.part("D1 0 out dzener", msg("Zener diode"))
    deck.part(f"Rload out 0 {spice(request['vout'] / request['iout'])}", msg("load"))
    deck.rule()
    deck.cards(rows.zener_model(sized.figures["vz"], max(sized.figures["test_a"], 1e-4)))


FAMILY = kit.Family(
    key="zener_regulator",
    name=msg("Zener-diode regulators"), one=msg("a Zener regulator"),
    examples={"en": "Zener regulator 12 V to 5.1 V, 10 mA",
              "zh": "12V转5.1V、10mA的稳压管稳压电路"},
    words=kit.Words(
        named=(r"(?:zener|齐纳)(?:[\s-]diode)?(?: (?:shunt|voltage))*(?: (?:regulator|stabili[sz]er|"
               r"reference|circuit))?|"
               r"shunt regulator|(?:齐纳|稳压)(?:二极)?管(?:并联)?(?:型)?(?:稳压)?(?:器|电源|电路)?|(?:齐纳|"
               r"稳压)二极管"
               r"(?:稳压)?(?:器|电源|电路)?|并联(?:型)?稳压(?:器|电路)"),
        excludes=(r"series(?! resist)|串联(?!的?(?:限流)?电阻)|"
                  r"pass[\s-](?:transistor|element)|(?:transistor|三极管|晶体管)|调整管|follower|跟随|boost|"
                  r"buck|clamp|limiter|钳位|限幅|"
                  r"tl431|lm317|revers|polarity|反接|接反|极性|反向"),
    ),
    quantities=_QUANTITIES,
    goals=(rows.output_goal(), rows.line_goal(lambda request: 0.1 * request["vout"])),
    title=rows.titled("Zener regulator"),
    remarks=(msg("R1 = (minimum Vin - VZ) / (load current + minimum diode current)."),),
    analyses=rows.sweep_of_input,
    size=size, netlist=netlist,
    says=says,
    complete=complete,
)  # fmt: skip
