"""The linear series regulator: an op-amp drives an NPN pass transistor, a Zener diode is the reference.

Vout = VZ (1 + R1 / R2); the input stays above the output by what op-amp and transistor need.
Sources: Horowitz, Hill, "The Art of Electronics", 3rd ed., section 9.1; Sedra, Smith, "Microelectronic
Circuits", 7th ed., section 4.5.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.families import resistive_rows as rows
from domain.design.kit import best_pair, beyond, impossible, nearest, spice, with_unit
from domain.design.opamp import GENERIC, write_opamp
from shared.message import msg

_DROPOUT_V = 2.6
"""Of the op-amp below its supply 1.3 V, of the transistor with its base-emitter voltage the rest."""
_MOST_W = 30.0
_FEEDBACK_OHM = (3.3e3, 15e3)
_REFERENCE_A = 5e-3
_GAIN_BANDWIDTH_HZ = 10e6
_QUANTITIES = (rows.VIN, rows.VOUT, rows.LOAD_A, kit.TOLERANCE)


def says(sentence: kit.Sentence) -> kit.Said:
    return rows.says_voltages(sentence, _QUANTITIES)


def complete(request: kit.Request) -> kit.Said:
    """100 mA where nobody said the load. Raises CircuitError for too little between input and output."""
    if request["vout"] is not None and request["vout"] < 2.7:
        raise impossible(
            msg("The series regulator's reference needs an output of at least {least}.", least="2.7 V"),
            msg("Ask for a higher output, or for a buck converter."),
        )
    return rows.steps_down(request, msg("A series regulator"), _DROPOUT_V, load_a=0.1)


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The Zener diode of E24 at about 0.6 of the output, R1 and R2 of E96."""
    vout, load, high = request["vout"], request["iout"], request["vin_highest"]
    lost = (high - vout) * load
    if lost > _MOST_W:
        advice = msg("Lower the load current or the input voltage, or use a buck converter.")
        raise beyond(msg("output current"), "A", load, _MOST_W / (high - vout), advice, digits=2)
    vz = nearest(min(max(0.6 * vout, 2.4), 6.2), "E24")
    ratio = vout * correction["vout"] / vz - 1
    r2, r1 = best_pair(kit.values_between(*_FEEDBACK_OHM, "E24"), lambda each: each * ratio, "E96",
                       lambda two, one: abs(math.log((1 + one / two) / (1 + ratio))))  # fmt: skip
    current = min(_REFERENCE_A, (request["vin_lowest"] - vz) / 300)
    parts = {"R1": r1, "R2": r2, "R3": nearest((request["vin"] - vz) / current, "E24")}
    note = msg("Reference {vz}; the transistor dissipates at most {power}.", vz=with_unit(vz, "V"),
               power=with_unit(lost, "W", 2))  # fmt: skip
    return kit.Sized(
        parts=parts, figures={"vz": vz, "test_a": (request["vin"] - vz) / parts["R3"]}, notes=(note,)
    )


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Input, reference, op-amp, pass transistor, feedback, output capacitor and load."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    deck.part(f"Vin in 0 DC {spice(request['vin'])} AC 1", msg("input"))
    deck.part(f"R3 in ref {parts['R3']}", msg("current of the Zener diode"))
    deck.part("D1 0 ref dzener", msg("reference"))
    deck.part(f"X1 ref fb in 0 b {GENERIC}", msg("error amplifier"))
    deck.part("Q1 in b out npass", msg("pass transistor"))
    deck.part(f"R1 out fb {parts['R1']}", msg("feedback: sets the output together with R2"))
    deck.part(f"R2 fb 0 {parts['R2']}", msg("feedback: sets the output together with R1"))
    deck.part("C1 out 0 10u", msg("output capacitor"))
    deck.part(f"Rload out 0 {spice(request['vout'] / request['iout'])}", msg("load"))
    deck.rule()
    deck.cards(
        rows.zener_model(sized.figures["vz"], sized.figures["test_a"]),
        ".model npass NPN(IS=1e-12 BF=100 VAF=100 RB=1 RC=0.1 CJE=200p CJC=100p TF=2n)",
    )
    write_opamp(deck, kit.Request({"opamp": GENERIC, "supply_v": request["vin"]}), _GAIN_BANDWIDTH_HZ)


FAMILY = kit.Family(
    key="series_regulator",
    name=msg("linear series regulators (Zener reference, op-amp, pass transistor)"),
    one=msg("a linear series regulator"),
    examples={"en": "series regulator 12 V to 5 V, 200 mA",
              "zh": "12V转5V、200mA的串联型线性稳压电路"},
    words=kit.Words(
        named=(r"(?:linear )?series (?:pass )?(?:voltage )?regulator|pass[\s-]transistor regulator|"
               r"linear (?:voltage )?"
               r"(?:regulator|power supply)|(?:串联(?:型|式)?)(?:线性)?(?:直流)?稳压(?:器|电源|电路)|"
               r"线性(?:直流)?(?:稳压)"
               r"(?:器|电源|电路)?|线性电源"),
        excludes=r"shunt|并联|ldo|low[\s-]?dropout|低压差|buck|boost|switching|开关|lm317|78\d\d|adjustable|可调",
    ),
    quantities=_QUANTITIES,
    goals=(rows.output_goal(), rows.line_goal(lambda request: 0.02 * request["vout"])),
    title=rows.titled("Series regulator"),
    remarks=(msg("Vout = VZ (1 + R1 / R2)."),),
    analyses=rows.sweep_of_input,
    size=size, netlist=netlist,
    says=says,
    complete=complete,
)  # fmt: skip
