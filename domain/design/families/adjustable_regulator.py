"""The adjustable three-terminal regulator (LM317 type) and its two resistors.

Vout = 1.25 V (1 + R2 / R1) + 50 uA R2; R1 draws the least load of the regulator.
Source: Texas Instruments, "LM317 3-Terminal Adjustable Regulator", SLVS044, sections 7.5 and 8.2. The macro
model is ours: reference, adjustment current, drop-out and output resistance, no thermal limit and no
dynamics.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.families import resistive_rows as rows
from domain.design.kit import best_pair, beyond, impossible, spice, values_between, with_unit
from shared.message import msg

_REFERENCE_V, _ADJUST_A, _DROPOUT_V, _OUTPUT_OHM = 1.25, 50e-6, 2.0, 0.02
_MOST_A, _MOST_W, _MOST_V = 1.5, 15.0, 40.0
_R1_OHM = (120.0, 240.0)
_QUANTITIES = (rows.VIN, rows.VOUT, rows.LOAD_A, kit.TOLERANCE)


def says(sentence: kit.Sentence) -> kit.Said:
    return rows.says_voltages(sentence, _QUANTITIES)


def complete(request: kit.Request) -> kit.Said:
    """100 mA where nobody said the load. Raises CircuitError for what the regulator cannot do."""
    vout, high = request["vout"], request.get("vin_highest") or request["vin"]
    if vout is not None and vout < _REFERENCE_V:
        raise impossible(msg("The regulator's lowest output is its reference of {least}.", least="1.25 V"),
                         msg("Ask for a higher output."))  # fmt: skip
    if vout is not None and high is not None and high - vout > _MOST_V:
        raise impossible(msg("The regulator allows at most {most} between input and output.", most="40 V"),
                         msg("Lower the input voltage or raise the output."))  # fmt: skip
    return rows.steps_down(request, msg("An adjustable regulator"), _DROPOUT_V, load_a=0.1)


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """R1 of E24 and R2 of E96 that come nearest."""
    vout, load, high = request["vout"], request["iout"], request["vin_highest"]
    lost = (high - vout) * load
    most = min(_MOST_A, _MOST_W / (high - vout))
    if load > most:
        advice = msg("Lower the load current or the input voltage, or use a buck converter.")
        raise beyond(msg("output current"), "A", load, most, advice, digits=2)
    # what flows through R2 besides R1's current, and what the output resistance costs
    wanted = vout * correction["vout"] + _OUTPUT_OHM * load
    r1, r2 = best_pair(
        values_between(*_R1_OHM, "E24"),
        lambda each: max((wanted - _REFERENCE_V) / (_REFERENCE_V / each + _ADJUST_A), 0.1),
        "E96",
        lambda one, two: abs(math.log((_REFERENCE_V + (_REFERENCE_V / one + _ADJUST_A) * two) / wanted)),
    )
    note = msg("R1 = {r1}, R2 = {r2}; the regulator dissipates at most {power}.", r1=with_unit(r1, "Ω"),
               r2=with_unit(r2, "Ω"), power=with_unit(lost, "W", 2))  # fmt: skip
    return kit.Sized(parts={"R1": r1, "R2": r2}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    parts = {name: spice(value) for name, value in sized.parts.items()}
    deck.part(f"Vin in 0 DC {spice(request['vin'])} AC 1", msg("input"))
    deck.part("C1 in 0 100n", msg("input capacitor"))
    deck.part("X1 in out adj regulator", msg("adjustable regulator"))
    deck.part(f"R1 out adj {parts['R1']}", msg("sets the output together with R2"))
    deck.part(f"R2 adj 0 {parts['R2']}", msg("sets the output together with R1"))
    deck.part("C2 out 0 1u", msg("output capacitor"))
    deck.part(f"Rload out 0 {spice(request['vout'] / request['iout'])}", msg("load"))
    deck.rule()
    deck.note(msg("Regulator macromodel: reference, adjustment current, dropout; no thermal limit."))
    deck.cards(".subckt regulator in out adj")
    deck.part(f"Iadj in adj {spice(_ADJUST_A)}", msg("adjustment current"))
    deck.part(
        f"Bref x 0 V=min(v(adj)+{_REFERENCE_V:g},max(v(in)-{spice(_DROPOUT_V - 0.3)},0))",
        msg("reference above the adjustment pin, or the dropout"),
    )
    deck.part("Vx y x DC 0", msg("measures the output current"))
    deck.part(f"Rout y out {spice(_OUTPUT_OHM)}", msg("output resistance"))
    deck.part("Fin in 0 Vx -1", msg("the input carries the output current"))
    deck.cards(".ends regulator")


FAMILY = kit.Family(
    key="adjustable_regulator",
    name=msg("adjustable regulators (LM317 type)"), one=msg("an adjustable regulator"),
    examples={"en": "LM317 regulator from 12 V to 5 V, 500 mA",
              "zh": "用LM317把12V稳压到5V，输出500mA"},
    words=kit.Words(
        named=(r"(?:lm\s?-?[13]|(?<![\w.])3)17(?!\d)[a-z]?"
               r"(?: (?:adjustable|voltage|linear))*(?: (?:regulator|supply|circuit))?|"
               r"adjustable "
               r"(?:linear |voltage |three[\s-]terminal )*(?:regulator|power supply)|"
               r"(?:三端)?可调(?:式)?(?:三端)?(?:线性)?"
               r"(?:直流)?稳压(?:器|电源|电路)|三端稳压(?:器|电路)?"),
        excludes=r"buck|boost|switching|开关|lm337|current source|恒流|78\d\d|79\d\d",
    ),
    quantities=_QUANTITIES,
    goals=(rows.output_goal(), rows.line_goal(lambda request: 0.01 * request["vout"])),
    title=rows.titled("Adjustable regulator"),
    remarks=(msg("Vout = 1.25 V (1 + R2 / R1) + 50 uA R2."),),
    analyses=rows.sweep_of_input,
    size=size, netlist=netlist,
    says=says,
    complete=complete,
)  # fmt: skip
