"""Forward converters with one switch and a reset winding, at a fixed duty: isolated, the output as of a buck.

Vout + Vd = n D (Vin - n Iout Ron) - Iout Rl with the turns ratio n = Ns / Np; the reset winding has the
turns of the primary, so that the duty stays below one half. Sources: Erickson, Maksimovic, "Fundamentals of
Power Electronics", 2nd ed., section 6.3.2; Texas Instruments SLUA054.
"""

from __future__ import annotations

from domain.design import kit
from domain.design.buck_power_stage import Losses
from domain.design.families import transfer_rows as rows
from domain.design.families.transfer_rows import sized
from domain.design.kit import at_least, spice, values_between, with_unit
from shared.message import msg

_AIMED, _MOST_DUTY = 0.4, 0.46
_DROP_V = 0.5
_MAGNETIZING = 0.1
"""Of the load current as the primary carries it: the peak of the magnetizing current."""


def _turns(request: kit.Request) -> float:
    """Secondary over primary, of E24 at least: the duty at the lowest input is `_AIMED`."""
    least = (1.05 * request["vout"] + _DROP_V) / request["vin_lowest"] / _AIMED
    return values_between(least, 2 * least, "E24")[0]


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Turns, duty, the transformer, output inductor of E12 and capacitor."""
    iout, fsw, turns = request["iout"], request["fsw"], _turns(request)

    def reached(duty: float, vin: float, losses: Losses) -> float:
        driven = turns * duty * (vin - turns * iout * losses.switch_ohm)
        return float(driven - losses.diode_v - iout * losses.winding_ohm)

    out = rows.output_of(request, correction, reached, turns, most=_MOST_DUTY)
    duty, vin = out.duty, request["vin_highest"]
    wanted = request["inductor_ripple_a"] * correction["inductor_ripple_a"]
    off_time = (1 - duty * request["vin"] / vin) / fsw  # at the highest input
    falling = (request["vout"] + out.losses.diode_v) * off_time
    inductance = request["inductance"] or at_least(1.02 * falling / wanted, "E12")
    ripple_a = falling / inductance
    esr, farad = rows.smoothed_output(request, correction, inductance, ripple_a)
    magnetizing = at_least(request["vin"] * duty / (fsw * _MAGNETIZING * turns * iout), "E12")
    parts = {
        "LP": magnetizing, "LR": magnetizing, "LS": magnetizing * turns**2, "L1": inductance, "C1": farad,
        "Resr": esr,
    }  # fmt: skip
    figures = {
        "duty": duty, "ripple_a": ripple_a, "diode_a": iout, "diode_v": out.losses.diode_v, "turns": turns,
        "switch_ohm": out.losses.switch_ohm, "winding_ohm": out.losses.winding_ohm, "settles": 9.0,
    }  # fmt: skip
    note = msg("Turns 1:{turns} (primary to secondary), primary inductance {inductance}.",
               turns=f"{turns:.3g}", inductance=with_unit(magnetizing, "H"))  # fmt: skip
    return sized(request, parts, figures, note)


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The transformer without leakage, the rectifier, the output filter from the valley of its current."""
    parts, figures = sized.parts, sized.figures
    valley = spice(max(request["iout"] - figures["ripple_a"] / 2, 0.0))
    rows.write_input(deck, request, sized)
    deck.part(f"LP in sw {spice(parts['LP'])} IC=0", msg("primary; its dot at the input"))
    deck.part("S1 sw 0 gate 0 switch", msg("low-side switch"))
    deck.part(f"LR 0 r {spice(parts['LR'])} IC=0", msg("reset winding; its dot at ground"))
    deck.part("D3 r in freewheel", msg("resets the core, returning its energy to the input"))
    deck.part(f"LS s 0 {spice(parts['LS'])} IC=0", msg("secondary; its dot at the diode"))
    for number, pair in enumerate(("LP LS", "LP LR", "LS LR"), 1):
        deck.part(f"K{number} {pair} 1", msg("transformer core; no leakage: a real one needs a clamp"))
    deck.part("D1 s f freewheel", msg("rectifier"))
    deck.part("D2 0 f freewheel", msg("free-wheeling diode"))
    deck.part(
        f"L1 f lx {spice(parts['L1'])} IC={valley}", msg("inductor; starts at the valley of its current")
    )
    deck.part(f"Rdcr lx out {spice(figures['winding_ohm'])}", msg("winding resistance of L1"))
    rows.write_output(deck, request, sized)


FAMILY = rows.family(
    key="forward", label="Forward",
    name=msg("forward converters with a reset winding"), one=msg("a forward converter"),
    examples={"en": "forward converter, 36-60 V input, 5 V, 5 A, 150 kHz",
              "zh": "正激变换器，输入36~60V，输出5V、5A，开关频率150kHz"},
    words=kit.Words(named=r"(?:(?:isolated|single[\s-]switch) )*forward (?:dc[\s/-]*dc )?"
                      r"(?:converter|regulator|supply)|"
                      r"(?:隔离(?:型|式)?(?:的)?)?(?:单管|单端)?正激(?:式|型)?(?:隔离)?(?:开关)?(?:变换器|转换器|电源|电路)?",
                    excludes=r"fly[\s-]?back|反激|active clamp|有源钳位|"
                             r"two[\s-]switch|双管|push[\s-]?pull|推挽"),
    gain=lambda _request: 1.0, size=size, netlist=netlist,
    remarks=(msg("Vout = n Vin D, less the drops of switch, diodes and winding."),),
)  # fmt: skip
