"""Cuk converters with a diode, at a fixed duty: a negative output, continuous current at both ends.

With I = Iout / (1 - D) in the switch: Vc = (Vin - D I Ron - I1 Rl) / (1 - D) - Vd over the input inductor,
Vout = D (Vc - I Ron) - (1 - D) Vd - Iout Rl over the other. Sources: Erickson, Maksimovic, "Fundamentals of
Power Electronics", 2nd ed., sections 2.4 and 6.3; Middlebrook, Cuk, "A general unified approach to modelling
switching-converter power stages", PESC 1976.
"""

from __future__ import annotations

from domain.design import kit
from domain.design.buck_power_stage import Losses
from domain.design.families import transfer_rows as rows
from domain.design.families.transfer_rows import sized
from domain.design.indirect_power_stage import MOST_DUTY
from domain.design.kit import at_least, spice
from shared.message import msg

_COUPLING_RIPPLE = 0.05
"""Of what stands across the coupling capacitor."""


def _gain(request: kit.Request) -> float:
    """The larger of the currents in the two inductors over that in the load, without losses."""
    return float(max(1.0, request["vout"] / request["vin"]))


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Duty, two equal inductors of E12, the coupling capacitor with its damper, the output capacitor."""
    vin, vout, iout, fsw = (request[name] for name in ("vin", "vout", "iout", "fsw"))

    def reached(duty: float, vin: float, losses: Losses) -> float:
        switch = iout / (1 - duty) * losses.switch_ohm
        first = iout * duty / (1 - duty) * losses.winding_ohm
        across = (vin - duty * switch - first) / (1 - duty) - losses.diode_v
        return float(duty * (across - switch) - (1 - duty) * losses.diode_v - iout * losses.winding_ohm)

    out = rows.output_of(request, correction, reached, 1 + vout / request["vin_lowest"], most=MOST_DUTY)
    duty = out.duty
    wanted = request["inductor_ripple_a"] * correction["inductor_ripple_a"]
    inductance = request["inductance"] or at_least(1.02 * vin * duty / (wanted * fsw), "E12")
    ripple_a = vin * duty / (inductance * fsw)
    esr, farad = rows.smoothed_output(request, correction, inductance, ripple_a)
    coupling = at_least(iout * out.highest / (fsw * _COUPLING_RIPPLE * (vin + vout)), "E6")
    parts = {"L1": inductance, "L2": inductance, "Cs": coupling, **rows.damper(coupling, 2 * inductance)}
    constant = vout / iout * farad * fsw
    figures = {
        "duty": duty, "ripple_a": ripple_a, "diode_a": iout / (1 - duty), "diode_v": out.losses.diode_v,
        "switch_ohm": out.losses.switch_ohm, "winding_ohm": out.losses.winding_ohm,
        "settles": max(9.0, 300 / constant),
    }  # fmt: skip
    return sized(request, {**parts, "C1": farad, "Resr": esr}, figures)


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Both inductors start at the valley of their currents."""
    parts, figures = sized.parts, sized.figures
    half, winding = figures["ripple_a"] / 2, spice(figures["winding_ohm"])
    first = request["iout"] * figures["duty"] / (1 - figures["duty"]) - half
    across = spice(request["vin"] + request["vout"])
    rows.write_input(deck, request, sized)
    deck.part(f"L1 in l1 {spice(parts['L1'])} IC={spice(first)}", msg("input inductor"))
    deck.part(f"Rdcr1 l1 sw {winding}", msg("winding resistance of L1"))
    deck.part("S1 sw 0 gate 0 switch", msg("low-side switch"))
    deck.part(f"Cs sw x {spice(parts['Cs'])} IC={across}", msg("couples the energy to the output side"))
    deck.part(f"Rd sw y {spice(parts['Rd'])}", msg("damps the resonance of Cs with the inductors"))
    deck.part(f"Cd y x {spice(parts['Cd'])} IC={across}", msg("keeps direct current from Rd"))
    deck.part("D1 x 0 freewheel", msg("free-wheeling diode"))
    deck.part(f"L2 out l2 {spice(parts['L2'])} IC={spice(request['iout'] - half)}", msg("output inductor"))
    deck.part(f"Rdcr2 l2 x {winding}", msg("winding resistance of L2"))
    rows.write_output(deck, request, sized, -1)


FAMILY = rows.family(
    key="cuk", label="Cuk", sign=-1,
    name=msg("Cuk converters"), one=msg("a Cuk converter"),
    examples={"en": "Cuk converter 12 V to -5 V, 1 A, 300 kHz",
              "zh": "Cuk变换器，12V转-5V、1A，开关频率300kHz"},
    words=kit.Words(named=r"(?<![a-z])[cćč]uk(?![a-z])"
                      r"(?: (?:dc[\s/-]*dc )?(?:converter|regulator|topology))?|[丘库楚]克",
                    excludes=r"isolated|隔离"),
    gain=_gain, size=size, netlist=netlist,
    remarks=(msg("Vout = -Vin D / (1 - D), less the drops of switch, diode and windings."),),
)  # fmt: skip
