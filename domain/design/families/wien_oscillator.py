"""The Wien-bridge sine oscillator: one op-amp, two equal R and C, two diodes that hold the amplitude.

f = 1 / (2 pi R C) at a gain of 3. R3 parallel to two diodes stands in the feedback: as the diodes conduct,
its mean resistance falls to what the gain of 3 leaves for it, and the drop at it is that of a diode.
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., sections 18.2.1 and 18.2.2; Mancini, Palmer,
"Sine- Wave Oscillator", Texas Instruments, SLOA060.
"""

from __future__ import annotations

import math

from domain.design import kit, opamp
from domain.design.families import oscillator_rows as rows
from domain.design.kit import best_pair, nearest, spice, unreachable, values_between, with_unit
from domain.design.supplies import RAILS, judged, rails_of, write_rails
from shared.message import msg

_GROUND_OHM, _FAST_HZ, _FAST_OHM = (6.8e3, 30e3), 30e3, 12e3
"""Above that frequency the diodes' capacitance asks for lower ones."""
_EXCESS, _MOST_EXCESS = 0.06, 0.6
"""Gain beyond 3, over 1: how surely it starts. More of it costs distortion."""
_LARGE_EXCESS = 0.2
"""Where the amplitude is small and the diodes hold most of the feedback."""
_FASTER = 200.0
"""GBW over frequency: three times the share by which the frequency falls short."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """C of E12, R of E96; the diodes' share of the feedback by the amplitude."""
    amplitude = request["amplitude_v"]
    most = rails_of(request, "buffer").room_v
    if amplitude > most:
        raise unreachable(
            msg("amplitude"),
            with_unit(amplitude, "V", 3),
            with_unit(most, "V", 3),
            msg("Raise the supply or lower the amplitude."),
        )
    product = 1 / (2 * math.pi * request["frequency_hz"] * correction["frequency_hz"])
    c = nearest(min(max(product / 15e3, 47e-12), 10e-6), "E12")
    r = nearest(product / c, "E96")
    aim = amplitude * correction["amplitude_v"]
    most_ohm = _FAST_OHM if request["frequency_hz"] > _FAST_HZ else _GROUND_OHM[1]
    r1, r2 = best_pair(
        values_between(_GROUND_OHM[0], most_ohm, "E24"),  # another grid than that of R2: some pair is close
        lambda each: (2 - _share(aim, each)) * each,
        "E96",
        lambda one, two: abs(two / one - 2 + _share(aim, one)),
    )
    share = _share(aim, r1)
    r3 = r1 * (share + min(max(_EXCESS, min(0.25 * share, _LARGE_EXCESS)), _MOST_EXCESS * share))
    parts = {"R": r, "C": c, "R1": r1, "R2": r2, "R3": nearest(r3, "E96")}
    gbw = opamp.enough_gbw_hz(request, _FASTER * request["frequency_hz"])
    note = msg("R = {r}, C = {c}, an op-amp with a gain-bandwidth product of {gbw}.", r=with_unit(r, "Ω"),
               c=with_unit(c, "F"), gbw=with_unit(gbw, "Hz"))  # fmt: skip
    return kit.Sized(parts=parts, figures={"gbw_hz": gbw}, notes=(note,))


def _share(amplitude: float, r1: float) -> float:
    """Mean resistance of R3 and the diodes over R1: a third of the amplitude (V) at the output drives R1."""
    return 3 * _small(amplitude) * rows.diode_drop(amplitude / 3 / r1) / amplitude


def _small(amplitude: float) -> float:
    """Less of a drop where the amplitude is small, as by measurement."""
    return 1 - 0.155 * max(0.0, math.log2(1.6 / amplitude))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Supplies, the bridge's two arms, the diodes and the op-amp."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    rails = write_rails(deck, request, "buffer")
    deck.part(f"Ra out x {parts['R']}", msg("series arm of the bridge"))
    deck.part(f"Ca x p {parts['C']}", msg("series arm of the bridge"))
    deck.part(f"Rb p {rails.ground} {parts['R']}", msg("shunt arm of the bridge"))
    deck.part(f"Cb p {rails.ground} {parts['C']}", msg("shunt arm of the bridge"))
    deck.part(f"R1 n {rails.ground} {parts['R1']}", msg("sets the gain of 3 together with R2 and R3"))
    deck.part(f"R2 y n {parts['R2']}", msg("feedback"))
    deck.part(f"R3 out y {parts['R3']}", msg("feedback: more than enough gain to start"))
    deck.part("D1 out y dswitch", msg("holds the amplitude"))
    deck.part("D2 y out dswitch", msg("holds the amplitude"))
    deck.part(f"X1 p n vcc {rails.low} out {request['opamp']}", msg("op-amp"))
    deck.rule()
    deck.cards(rows.switch_model())
    kick = rails.middle_v + request["amplitude_v"] / 4
    deck.part(f".ic v(p)={spice(kick)}", msg("start-up kick in place of noise"))
    opamp.write_opamp(deck, request, sized.figures["gbw_hz"])


FAMILY = kit.Family(
    key="wien_oscillator",
    name=msg("Wien-bridge sine oscillators"), one=msg("a Wien-bridge oscillator"),
    examples={"en": "Wien-bridge oscillator 1 kHz, amplitude 5 V",
              "zh": "1kHz文氏桥正弦波振荡器，幅度5V"},
    words=kit.Words(
        named=(r"(?:wien|wein|vienna)(?:[\s-]?bridge)?(?: (?:sine(?:[\s-]?wave)?|op[\s-]?amp))*"
               r"(?: (?:oscillator|generator))?|文氏(?=振荡|正弦)|"
               r"文[氏式]?电?桥(?:式)?(?:正弦波?)?(?:振荡|震荡)?(?:器|电路)?|"
               r"rc桥式(?:正弦波?)?振荡(?:器|电路)"),
        plausible=(
            r"(?:sine(?:[\s-]?wave)?|sinusoidal|audio) (?:oscillator|generator)|正弦波?(?:振荡|信号发生|"
            r"发生)(?:器|电路)|\d ?k?hz oscillator|oscillator,?(?: (?:at|of|for))? [\d.]+ ?k?hz|"
            r"\d\s?k?hz的?振荡(?:器|电路)|^\s?[\d.]+\s?k?hz的?正弦波?\s?$"
        ),
        excludes=r"colpitts|hartley|clapp|pierce|crystal|晶体|phase[\s-]?shift|移相|(?<![a-z])lc(?![a-z])|"
                 r"square|方波|block|间歇|gunn|tunnel|隧道|quartz|晶振|vco|压控",
    ),
    quantities=(rows.frequency_row((1, 500e3), 1e3), rows.AMPLITUDE, rows.DISTORTION, opamp.SUPPLY, opamp.GBW,
                kit.TOLERANCE),
    choices=(opamp.OPAMP, RAILS),
    judge=judged("buffer"),
    goals=(rows.FREQUENCY_GOAL, rows.AMPLITUDE_GOAL, rows.DISTORTION_GOAL),
    title="Wien-bridge oscillator, {frequency_hz:Hz}",
    remarks=(msg("f = 1 / (2 pi R C) at a gain of 3, which the diodes hold."),),
    analyses=lambda request, _sized, _goals: (rows.transient(request, settles=60),),
    size=size, netlist=netlist,
    complete=rows.third_of_supply,
)  # fmt: skip
