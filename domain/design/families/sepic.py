"""SEPIC converters with a diode, at a fixed duty: the output above or below the input, of the same sign.

With I = Iout / (1 - D) in the switch: Vc + Vout + Vd = (Vin - D I Ron - I1 Rl) / (1 - D) over the input
inductor, D Vc = (1 - D) (Vout + Vd) + D I Ron + Iout Rl over the other. Sources: Erickson, Maksimovic,
"Fundamentals of Power Electronics", 2nd ed., section 6.1.3; Texas Instruments SNVA168E.
"""

from __future__ import annotations

from domain.design import kit
from domain.design.buck_power_stage import Losses
from domain.design.families.transfer_rows import damper, family, output_of, sized, write_input, write_output
from domain.design.indirect_power_stage import MOST_DUTY, pulsed_output
from domain.design.kit import at_least, spice
from shared.message import msg

_COUPLING_RIPPLE = 0.05
"""Of the input, across the coupling capacitor."""


def _gain(request: kit.Request) -> float:
    """The larger of the currents in the two inductors over that in the load, without losses."""
    return float(max(1.0, request["vout"] / request["vin"]))


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Duty, two equal inductors of E12, the coupling capacitor with its damper, the output capacitor."""
    vin, iout, fsw = request["vin"], request["iout"], request["fsw"]

    def reached(duty: float, vin: float, losses: Losses) -> float:
        switch = iout / (1 - duty) * losses.switch_ohm * duty
        above = (vin - switch - iout * duty / (1 - duty) * losses.winding_ohm) / (1 - duty)
        return float(duty * above - switch - iout * losses.winding_ohm - losses.diode_v)

    ratio = 1 + request["vout"] / request["vin_lowest"]
    out = output_of(request, correction, reached, ratio, most=MOST_DUTY)
    duty = out.duty
    wanted = request["inductor_ripple_a"] * correction["inductor_ripple_a"]
    inductance = request["inductance"] or at_least(1.02 * vin * duty / (wanted * fsw), "E12")
    ripple_a = vin * duty / (inductance * fsw)
    peak = iout / (1 - out.highest) + ripple_a
    esr, farad = pulsed_output(request, correction, max(duty, out.highest), peak)
    coupling = at_least(iout * out.highest / (fsw * _COUPLING_RIPPLE * vin), "E6")
    parts = {"L1": inductance, "L2": inductance, "Cs": coupling, **damper(coupling, 2 * inductance)}
    figures = {
        "duty": duty, "ripple_a": ripple_a, "diode_a": iout / (1 - duty), "diode_v": out.losses.diode_v,
        "switch_ohm": out.losses.switch_ohm, "winding_ohm": out.losses.winding_ohm, "settles": 6.0,
    }  # fmt: skip
    return sized(request, {**parts, "C1": farad, "Resr": esr}, figures)


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Both inductors start at the valley of their currents."""
    parts, figures = sized.parts, sized.figures
    half, winding = figures["ripple_a"] / 2, spice(figures["winding_ohm"])
    first = request["iout"] * figures["duty"] / (1 - figures["duty"]) - half
    write_input(deck, request, sized)
    deck.part(f"L1 in l1 {spice(parts['L1'])} IC={spice(first)}", msg("input inductor"))
    deck.part(f"Rdcr1 l1 sw {winding}", msg("winding resistance of L1"))
    deck.part("S1 sw 0 gate 0 switch", msg("low-side switch"))
    deck.part(
        f"Cs sw x {spice(parts['Cs'])} IC={spice(request['vin'])}",
        msg("couples the energy to the output side"),
    )
    deck.part(f"Rd sw y {spice(parts['Rd'])}", msg("damps the resonance of Cs with the inductors"))
    deck.part(f"Cd y x {spice(parts['Cd'])} IC={spice(request['vin'])}", msg("keeps direct current from Rd"))
    deck.part(f"L2 0 l2 {spice(parts['L2'])} IC={spice(request['iout'] - half)}", msg("second inductor"))
    deck.part(f"Rdcr2 l2 x {winding}", msg("winding resistance of L2"))
    deck.part("D1 x out freewheel", msg("free-wheeling diode"))
    write_output(deck, request, sized)


FAMILY = family(
    key="sepic", label="SEPIC",
    name=msg("SEPIC converters"), one=msg("a SEPIC converter"),
    examples={"en": "SEPIC converter, 9-16 V input, 12 V output, 1 A, 300 kHz",
              "zh": "SEPIC变换器，输入9~16V，输出12V、1A，开关频率300kHz"},
    words=kit.Words(named=r"(?<![a-z])sepic(?![a-z])(?: (?:dc[\s/-]*dc )?(?:converter|regulator|topology))?",
                    excludes=r"zeta|isolated|隔离|pfc"),
    gain=_gain, size=size, netlist=netlist,
    remarks=(msg("Vout = Vin D / (1 - D), less the drops of switch, diode and windings."),),
)  # fmt: skip
