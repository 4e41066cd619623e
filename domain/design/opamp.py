"""The operational amplifier of generated circuits: a macro model with one pole, in the same file.

Open-loop gain A(s) = 1 / (1/A0 + s / (2 pi GBW)); output resistance; the output stays inside the
supplies. Not modelled: slew rate, offset, bias currents, noise. It behaves under every analysis.
Source of the topology: Boyle et al., "Macromodeling of integrated circuit operational amplifiers",
IEEE J. Solid-State Circuits 9 (1974), reduced to its gain stage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from domain.design import quantity_words
from domain.design.deck import Deck, spice
from domain.design.engine.declaration import Correction, GoalRow, Quantity, Request
from domain.design.engine.library_parts import part_choice
from domain.design.engine.op_amps import OP_AMPS
from domain.design.engine.wording import beyond
from domain.design.supplies import default_supply_v, is_single, write_start
from shared.message import msg

OPEN_LOOP_GAIN = 1e5
OUTPUT_OHM = 50.0
GBW_CLASSES_HZ = (10e6, 50e6, 200e6, 1e9)
"""Gain-bandwidth products of parts one can buy and that are stable at unity gain."""

GBW = Quantity(
    name="gbw_hz", label=msg("gain-bandwidth product"), dimensions=("Hz",), within=(10e3, 10e9), example=10e6,
    words=(
        r"gbw?p?(?![a-z])|gain[\s-]?bandwidth(?: product)?|unity[\s-]gain (?:bandwidth|frequency)|增益带宽积?"
    ),
)  # fmt: skip
_PLUS_MINUS = (
    r"(?<!output )(?<!output of )(?<!swing )(?<!swing of )(?<!swings )(?<!amplitude )(?<!amplitude of )"
    r"(?<!输出)(?<!输出为)(?<!摆幅)(?<!幅度)(?:±|\+/?-|正负)"
)
"""Not of an output's swing."""
SUPPLY = Quantity(
    name="supply_v", label=msg("supply (±)"), dimensions=("V",), takes_rest=True, has_sign=False,
    words=quantity_words.SUPPLY, before=_PLUS_MINUS, least_rest_v=0.8,
    weak=r"(?<![a-z])(?:from|on|off)(?: an?)?(?: single)?(?![a-z])",
    after=r"\s?(?:single(?![\s-](?:ended|pole|stage|order))|only(?![a-z])|单电源)",
    within=(2.5, 40), example=15, default=default_supply_v, is_told=False,
)  # fmt: skip

_BANDWIDTH = msg("bandwidth")
BANDWIDTH = Quantity(
    name="bandwidth_hz", label=_BANDWIDTH, dimensions=("Hz",), takes_rest=True, limit="at_least",
    words=r"band[\s-]?width|(?<![a-z])bw(?![a-z])|-?3\s?db|cut-?\s?off|up to|带宽|频带|截止|上限频率",
    within=(10, 200e6), example=100e3, default=20e3,
)  # fmt: skip
BANDWIDTH_GOAL = GoalRow(
    metric="bandwidth",
    label=msg("Bandwidth, −3 dB"),
    unit="Hz",
    quantity="bandwidth_hz",
    expression="highcut(v(out))",
)
_GBW_MARGIN = 1.2

GENERIC = "opamp"
"""The macro model, and its name in the netlist."""
MACRO_MODEL = f".subckt {GENERIC} inp inn vcc vee out"
"""Its head in a netlist. Nothing flows from its supplies to its output."""
OPAMP = part_choice("opamp")

_TRANSCONDUCTANCE = 1e-3
_HEADROOM_V = 1.7
"""With the 0.7 V of the limiting diodes the output stops 1 V inside the supplies."""
_NEAR_V = 0.16
"""With the 0.1 V of softer ones 60 mV inside: rail to rail, for a single supply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpAmp:
    """What the macro model needs to know."""

    gbw_hz: float
    is_rail_to_rail: bool


def closed_loop(gain: float, gbw_hz: float) -> tuple[float, float]:
    """DC gain and time constant (s) of a non-inverting amplifier of ideal gain `gain`.

    K(s) = 1 / (1/gain + 1/A0 + s / (2 pi GBW)) = K0 / (1 + s tau).
    """
    actual = 1 / (1 / gain + 1 / OPEN_LOOP_GAIN)
    return actual, actual / (2 * math.pi * gbw_hz)


def write_supplies(deck: Deck, supply_v: float) -> None:
    """The two supplies, nodes `vcc` and `vee`."""
    deck.part(f"Vcc vcc 0 DC {spice(supply_v)}", msg("positive supply"))
    deck.part(f"Vee vee 0 DC {spice(-supply_v)}", msg("negative supply"))


def given_gbw_hz(request: Request) -> float | None:
    """That of the op-amp that was named, else what was asked; None: it is chosen."""
    part = OP_AMPS.get(request["opamp"])
    gbw: float | None = request["gbw_hz"] if part is None else part.gbw_hz
    return gbw


def fast_enough(request: Request, correction: Correction, noise_gain: float) -> float:
    """GBW (Hz) of the slowest op-amp whose bandwidth GBW / `noise_gain` is enough, with a margin.

    Raises CircuitError when none is, or not the one that was named.
    """
    needed = request["bandwidth_hz"] * correction["bandwidth_hz"] * _GBW_MARGIN * noise_gain
    given = given_gbw_hz(request)
    classes = GBW_CLASSES_HZ if given is None else (given,)
    gbw = next((each for each in classes if each >= needed), None)
    if gbw is None:
        most = classes[-1] / _GBW_MARGIN / noise_gain
        advice = msg("Lower the gain or the bandwidth, or use two stages or a faster op-amp.")
        raise beyond(_BANDWIDTH, "Hz", request["bandwidth_hz"], most, advice)
    return gbw


def enough_gbw_hz(request: Request, needed_hz: float) -> float:
    """GBW (Hz) of the op-amp that was named, else of the slowest that has `needed_hz`, or of the fastest."""
    enough = [each for each in GBW_CLASSES_HZ if each >= needed_hz]
    return given_gbw_hz(request) or (enough or [GBW_CLASSES_HZ[-1]])[0]


def mid_band_hz(request: Request) -> str:
    """Two decades inside the bandwidth: there the op-amp costs less than 0.01 %."""
    return spice(request["bandwidth_hz"] / 100)


def sweep(request: Request, gbw_hz: float) -> str:
    """The `.ac` card from a thousandth of the bandwidth to beyond the op-amp's."""
    return f".ac dec 100 {spice(request['bandwidth_hz'] / 1000)} {spice(3 * gbw_hz)}"


def write_opamp(deck: Deck, request: Request, gbw_hz: float) -> None:
    """What the op-amps of the circuit are, as a group of its own: the library's model, or the macro model."""
    write_start(deck, request)
    deck.rule()
    if request["opamp"] == GENERIC:
        _write_subcircuit(deck, OpAmp(gbw_hz=gbw_hz, is_rail_to_rail=is_single(request)))
        return
    deck.note(msg("Op-amp from the model library, with slew rate, bias currents and output swing."))
    deck.cards(f".include {request['opamp']}.lib")


def _write_subcircuit(deck: Deck, amplifier: OpAmp) -> None:
    """`.subckt opamp inp inn vcc vee out` and its diode model."""
    deck.note(msg("Op-amp macromodel: one pole, limited output; slew rate and offset are not modeled."))
    headroom, diode = (_NEAR_V, "IS=1e-9 N=0.3") if amplifier.is_rail_to_rail else (_HEADROOM_V, "IS=1e-14")
    pole = _TRANSCONDUCTANCE / (2 * math.pi * amplifier.gbw_hz)
    deck.cards(MACRO_MODEL)
    deck.part("Rin inp inn 10G", msg("input resistance"))
    deck.part(f"Ggain 0 x inp inn {spice(_TRANSCONDUCTANCE)}", msg("transconductance of the gain stage"))
    deck.part(f"Rgain x 0 {spice(OPEN_LOOP_GAIN / _TRANSCONDUCTANCE)}", msg("sets the open-loop gain"))
    deck.part(f"Cpole x 0 {spice(pole)}", msg("sets the gain-bandwidth product"))
    deck.part("Dhigh x high dlimit", msg("keeps the output below the positive supply"))
    deck.part(f"Vhigh vcc high DC {spice(headroom)}", msg("headroom to the positive supply"))
    deck.part("Dlow low x dlimit", msg("keeps the output above the negative supply"))
    deck.part(f"Vlow low vee DC {spice(headroom)}", msg("headroom to the negative supply"))
    deck.part("Ebuffer y 0 x 0 1", msg("output buffer"))
    deck.part(f"Rout y out {spice(OUTPUT_OHM)}", msg("output resistance"))
    deck.cards(".ends opamp", f".model dlimit D({diode})")
