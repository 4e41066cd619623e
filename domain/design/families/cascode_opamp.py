"""What single-stage cascode op-amps share: current and overdrive by GBW, gain and load.

GBW = gm1 / (2 pi CL) with gm = 2 ID / V; the gain falls with the square of the overdrive V. The second pole
is that of the mirror's gates. Sources: Razavi, "Design of Analog CMOS Integrated Circuits", 2nd ed., sections
5.3 and 9.2; Allen, Holberg, "CMOS Analog Circuit Design", 3rd ed., section 6.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from domain.design import kit
from domain.design.families.amplifier_rows import GAIN_LABEL
from domain.design.families.logic_rows import drain_farad, gate_farad
from domain.design.kit import beyond, unreachable, with_unit
from domain.design.mosfet import Device, SquareLaw, nmos_of, pmos_of
from domain.design.opamp import GBW
from shared.message import Message, msg

ABOVE_V = 0.15
"""Across a transistor below a cascode beyond its overdrive."""
_OVERDRIVE_V = 0.25
_DRAIN_SHARE = 0.3
"""Capacitance of a drain by that of its gate."""
_GAIN_MARGIN, _CARD_MARGIN, _GBW_MARGIN = 1.2, 1.08, 1.15
"""The tables of a card tell its resistances at each voltage, the square law only about."""
_MOST_A = 20e-3


class Branch(NamedTuple):
    """What each transistor of the pair carries (A), and the overdrive of all (V)."""

    current: float
    overdrive: float

    def note(self) -> Message:
        return msg(
            "Current of each input transistor {current}, overdrive {overdrive}.",
            current=with_unit(self.current, "A", 3),
            overdrive=with_unit(self.overdrive, "V", 3),
        )


def _farad(device: Device, overdrive: float) -> tuple[float, float]:
    """Of gate and drain, for an ampere."""
    if isinstance(device, SquareLaw):
        ratio = 2 / (device.kp * overdrive**2)
        return gate_farad(ratio, 0.0), drain_farad(ratio)
    gate = 2 / overdrive * device.gate_s(overdrive, 1.0)
    return gate, _DRAIN_SHARE * gate


def branch(
    request: kit.Request, correction: kit.Correction, gain_v2: Callable[[Device, Device, float], float], *,
    p_mirror: bool,
) -> Branch:  # fmt: skip
    """`gain_v2` gives the gain times the square of the overdrive, at an overdrive of both kinds of devices.

    Raises CircuitError beyond that.
    """
    n, p, overdrive = nmos_of(request), pmos_of(request), _OVERDRIVE_V
    margin = _GAIN_MARGIN if isinstance(n, SquareLaw) else _CARD_MARGIN
    gain = request["gain"] * margin * correction["gain"]
    for _ in range(6):
        reached = gain_v2(n, p, overdrive)
        overdrive = min(_OVERDRIVE_V, math.sqrt(reached / gain))
    least = max(n.least_overdrive_v, p.least_overdrive_v)
    if overdrive < least:
        most = reached / least**2 / margin
        advice = msg("Use a two-stage op-amp, or ask for less gain.")
        raise beyond(GAIN_LABEL, "", request["gain"], most, advice)
    unity = 2 * math.pi * request["gbw_hz"] * _GBW_MARGIN * correction["gbw_hz"]
    (n_gate, n_drain), (p_gate, p_drain) = (_farad(each, overdrive) for each in (n, p))
    slope = 2 / overdrive - unity * (n_drain + p_drain)
    mirror, others = (p_gate, n_drain) if p_mirror else (n_gate, p_drain)
    pole = 2 / overdrive / (2 * mirror + others)
    room = math.tan(math.radians(90 - request["phase_margin_deg"])) * pole
    current = unity * request["load_farad"] / slope if slope > 0 else math.inf
    if current > _MOST_A or unity > room:
        most_hz = request["gbw_hz"] * min(_MOST_A / current, room / unity)
        asked, limit = (with_unit(each, "Hz", 3) for each in (request["gbw_hz"], most_hz))
        advice = msg("Lower the load capacitance, the gain or the phase margin.")
        raise unreachable(GBW.label, asked, limit, advice)
    return Branch(current, overdrive)
