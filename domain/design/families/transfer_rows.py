"""What SEPIC, Cuk, flyback and forward converters share: losses, duty, output filter, quantities, netlist.

Each gives its output as a function of the duty, with the drops of switch, diode and windings; the duty is
the smallest that reaches the output. There is no controller. Sources: Erickson, Maksimovic, "Fundamentals of
Power Electronics", 2nd ed., chapters 2, 3, 6 and section 10.4 (damping); Texas Instruments
SLVA477B, SNVA168E.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from domain.design import kit
from domain.design.buck_power_stage import Losses, esr_for, losses_of, output_capacitance
from domain.design.families import converter_rows
from domain.design.families.buck_netlist import diode_card, periods, write_gate
from domain.design.families.buck_request import load_and_ripples, says, with_inductor_gain
from domain.design.kit import impossible, spice, with_unit
from shared.message import Message, msg

_LEAST_DUTY = 0.02
_STEP = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a duty gives, and the parts that lose power."""

    duty: float
    highest: float
    """Of the lowest input."""
    losses: Losses


def output_of(
    request: kit.Request,
    correction: kit.Correction,
    reached: Callable[[float, float, Losses], float],
    gain: float,
    *,
    most: float,
) -> Output:
    """The duty for which `reached` (duty, input, losses) gives the output. Raises CircuitError beyond `most`.

    `gain` times the load current flows in the switch while it is on.
    """
    losses = losses_of(request, 1 / correction["conduction"], gain, 0.0)

    def duty(vin: float, vout: float) -> float:
        place = _LEAST_DUTY
        while place < most and reached(place, vin, losses) < vout:
            place += _STEP
        return place

    highest = duty(request["vin_lowest"], request["vout"])
    if highest >= most:
        raise impossible(
            msg(
                "Converting {vin} V to {vout} V would need the switch to be on more than {percent} % of "
                "the time.",
                vin=f"{request['vin_lowest']:g}",
                vout=f"{request['vout']:g}",
                percent=f"{100 * most:.0f}",
            ),
            msg("Raise the input voltage, or lower the output voltage or current."),
        )
    found = duty(request["vin"], request["vout"] * correction["vout"])
    return Output(duty=min(found, most), highest=highest, losses=losses)


def smoothed_output(
    request: kit.Request, correction: kit.Correction, inductance: float, ripple_a: float
) -> tuple[float, float]:
    """Series resistance and capacitance behind an inductor that feeds the output always."""
    esr = esr_for(request, ripple_a)
    farad = None if esr is None else output_capacitance(request, correction, inductance, ripple_a, esr)
    if esr is None or farad is None:
        raise impossible(
            msg("No output filter with the given parts keeps the ripple below {ripple}.",
                ripple=with_unit(request["ripple_v"], "V")),
            msg("Allow more ripple, raise the switching frequency, or leave L, C and ESR unspecified."),
        )  # fmt: skip
    return esr, farad


def damper(coupling: float, inductance: float) -> dict[str, float]:
    """Four times the coupling capacitor, in series with the resistor of best damping (section 10.4)."""
    n = 4.0
    ohm = math.sqrt(inductance / coupling) * math.sqrt((2 + n) * (4 + 3 * n) / (2 * n**2 * (4 + n)))
    return {"Cd": n * coupling, "Rd": ohm}


def sized(
    request: kit.Request, parts: Mapping[str, float], figures: Mapping[str, float], *more: Message
) -> kit.Sized:
    """With the load, and a word on the duty."""
    note = msg("Duty {duty} %, inductor ripple {ripple} peak to peak.", duty=f"{100 * figures['duty']:.1f}",
               ripple=with_unit(figures["ripple_a"], "A", 3))  # fmt: skip
    load = {"Rload": request["vout"] / request["iout"]}
    return kit.Sized(parts={**parts, **load}, figures=figures, notes=(note, *more))


def write_output(deck: kit.Deck, request: kit.Request, sized: kit.Sized, sign: int = 1) -> None:
    """Output capacitor, load, and the models of switch and diode."""
    parts, vout = sized.parts, spice(sign * request["vout"])
    deck.part(f"C1 out esr {spice(parts['C1'])} IC={vout}", msg("output capacitor, already charged"))
    deck.part(f"Resr esr 0 {spice(parts['Resr'])}", msg("series resistance of C1"))
    measures = request["efficiency"] is not None
    deck.part(f"Rload out {'ld' if measures else '0'} {spice(parts['Rload'])}", msg("load"))
    if measures:
        deck.part("Vload ld 0 DC 0", msg("measures the load current"))
    deck.rule()
    deck.cards(
        f".model switch SW(VT=0.5 VH=0 RON={spice(sized.figures['switch_ohm'])} ROFF=1Meg)",
        diode_card(sized.figures["diode_v"], sized.figures["diode_a"]),
    )
    deck.part(f".ic v(out)={vout}", msg("initial state of a .tran without uic"))


def write_input(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    deck.part(f"Vin in 0 DC {spice(request['vin'])} AC 1", msg("input voltage"))
    write_gate(deck, request["fsw"], sized.figures["duty"])


def family(
    *, key: str, label: str, name: Message, one: Message, examples: Mapping[str, str], words: kit.Words,
    gain: Callable[[kit.Request], float], size: Callable[[kit.Request, kit.Correction], kit.Sized],
    netlist: Callable[[kit.Deck, kit.Request, kit.Sized], None], remarks: tuple[Message, ...], sign: int = 1,
    is_coil_seen: bool = True,
) -> kit.Family:  # fmt: skip
    """A converter with a diode at a fixed duty; `gain` times the load current flows in its inductor."""
    quantities = tuple(
        replace(each, has_sign=False) if each.name == "vout" and sign < 0 else each
        for each in with_inductor_gain(gain)
    )

    def complete(request: kit.Request) -> kit.Said:
        has_both = request["vin"] is not None and request["vout"] is not None
        said = load_and_ripples(request, gain(request) if has_both else 1.0)
        return kit.Said(values={"rectifier": "diode", **said.values}, notes=said.notes)

    def goals() -> tuple[kit.GoalRow, ...]:
        return tuple(
            row for row in converter_rows.goals(sign) if is_coil_seen or row.metric != "inductor_ripple"
        )

    def settles(request: kit.Request, sized: kit.Sized) -> int:
        """Nine times the slowest of load and filters, in periods."""
        constant = sized.parts["Rload"] * sized.parts["C1"]
        return math.ceil(float(sized.figures["settles"] * constant * request["fsw"]))

    minus = "-" if sign < 0 else ""
    return kit.Family(
        key=key, name=name, one=one, examples=examples, words=words, quantities=quantities, goals=goals(),
        title=f"{label} converter {{vin:g}} V to {minus}{{vout:g}} V, {{iout:g}} A, {{fsw:Hz}}",
        remarks=remarks,
        analyses=lambda request, sized, _goals: (
            periods(1 / request["fsw"], sized.figures["duty"], settles(request, sized)),
        ),
        size=size, netlist=netlist, complete=complete,
        says=lambda sentence: says(sentence, quantities),
    )  # fmt: skip
