"""Flyback converters with a diode, at a fixed duty: isolated, the transformer stores the energy.

Vout + Vd = n D (Vin - Ip (Ron + Rw)) / (1 - D) - Is Rw n^2 with the turns ratio n = Ns / Np, the mean primary
current in the on-time Ip = n Iout / (1 - D) and Is = Iout / (1 - D). The turns give a duty of 45 % at the
lowest input. Sources: Erickson, Maksimovic, "Fundamentals of Power Electronics", 2nd ed., section 6.3.4;
Texas Instruments SLUA535.
"""

from __future__ import annotations

from domain.design import kit
from domain.design.buck_power_stage import Losses
from domain.design.families.transfer_rows import family, output_of, sized, write_input, write_output
from domain.design.indirect_power_stage import pulsed_output
from domain.design.kit import at_least, nearest, spice, with_unit
from shared.message import msg

_AIMED, _MOST_DUTY = 0.45, 0.7
_DROP_V = 0.5


def _gain(request: kit.Request) -> float:
    """Mean current of the primary in the on-time over that of the load, without losses."""
    return float(request["vout"] / request["vin_lowest"] / _AIMED)


def _turns(request: kit.Request) -> float:
    """Secondary over primary, E24: the duty at the lowest input is `_AIMED`."""
    return nearest((request["vout"] + _DROP_V) / request["vin_lowest"] * (1 - _AIMED) / _AIMED, "E24")


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Turns, duty, primary inductance of E12, the output capacitor."""
    vin, iout, fsw, turns = request["vin"], request["iout"], request["fsw"], _turns(request)

    def reached(duty: float, vin: float, losses: Losses) -> float:
        secondary = iout / (1 - duty)
        drop = turns * secondary * (losses.switch_ohm + losses.winding_ohm)
        back = losses.diode_v + secondary * losses.winding_ohm * turns**2
        return float(turns * duty * (vin - drop) / (1 - duty) - back)

    out = output_of(request, correction, reached, turns / (1 - _AIMED), most=_MOST_DUTY)
    duty = out.duty
    wanted = request["inductor_ripple_a"] * correction["inductor_ripple_a"]
    inductance = request["inductance"] or at_least(1.02 * vin * duty / (wanted * fsw), "E12")
    ripple_a = vin * duty / (inductance * fsw)
    peak = iout / (1 - out.highest) + ripple_a / turns / 2
    esr, farad = pulsed_output(request, correction, max(duty, out.highest), peak)
    parts = {"LP": inductance, "LS": inductance * turns**2, "C1": farad, "Resr": esr}
    figures = {
        "duty": duty, "ripple_a": ripple_a, "diode_a": iout / (1 - duty), "diode_v": out.losses.diode_v,
        "switch_ohm": out.losses.switch_ohm, "winding_ohm": out.losses.winding_ohm, "turns": turns,
        "settles": 6.0,
    }  # fmt: skip
    note = msg("Turns 1:{turns} (primary to secondary), primary inductance {inductance}.",
               turns=f"{turns:.3g}", inductance=with_unit(inductance, "H"))  # fmt: skip
    return sized(request, parts, figures, note)


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The transformer without leakage; the primary starts at the valley of its current."""
    parts, figures = sized.parts, sized.figures
    turns, winding = figures["turns"], figures["winding_ohm"]
    valley = max(turns * request["iout"] / (1 - figures["duty"]) - figures["ripple_a"] / 2, 0.0)
    write_input(deck, request, sized)
    deck.part(f"LP in p {spice(parts['LP'])} IC={spice(valley)}", msg("primary; its dot at the input"))
    deck.part(f"Rp p sw {spice(winding)}", msg("winding resistance of the primary"))
    deck.part("S1 sw 0 gate 0 switch", msg("low-side switch"))
    deck.part(f"LS 0 s {spice(parts['LS'])} IC=0", msg("secondary; its dot at ground"))
    deck.part("K1 LP LS 1", msg("transformer core; no leakage: a real one needs a clamp"))
    deck.part(f"Rs s d {spice(winding * turns**2)}", msg("winding resistance of the secondary"))
    deck.part("D1 d out freewheel", msg("output diode"))
    write_output(deck, request, sized)


FAMILY = family(
    key="flyback", label="Flyback", is_coil_seen=False,
    name=msg("flyback converters"), one=msg("a flyback converter"),
    examples={"en": "flyback converter, 36-72 V input, 5 V, 3 A, 100 kHz",
              "zh": "反激变换器，输入36~72V，输出5V、3A，开关频率100kHz"},
    words=kit.Words(named=r"(?:isolated )?fly[\s-]?back(?! diode)(?: (?:dc[\s/-]*dc )?(?:converter|"
                          r"regulator|supply))?|"
                      r"(?:隔离(?:型|式)?(?:的)?)?(?:单端)?反激(?:式|型)?(?:隔离)?(?:开关)?(?:变换器|转换器|电源|电路)?",
                    excludes=r"forward conv|正激|active clamp|有源钳位|two[\s-]switch|双管|quasi|"
                               r"(?<!with )(?<!with an )(?<!带)rcd"),
    gain=_gain, size=size, netlist=netlist,
    remarks=(msg("Vout = n Vin D / (1 - D), less the drops of switch, diode and windings."),),
)  # fmt: skip
