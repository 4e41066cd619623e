"""The P-channel MOSFET in the positive line: which one, its on-resistance at a gate voltage, its model.

R = Rs + 1/(KP (VGS - VT)) for a small drop. A general part is made for the on-resistance that is needed, its
capacitances in proportion: 32 pF Ohm of input capacitance, as trench parts of 20 to 60 V have. Sources:
Horowitz, Hill, "The Art of Electronics", 3rd ed., section 3.5.4; Texas Instruments, SLVA139, "Reverse
Current/Battery Protection Circuits"; onsemi, AND9093, "Using MOSFETs in Load Switch Applications".
"""

from __future__ import annotations

from dataclasses import dataclass

from domain.design import kit
from domain.design.engine.library_parts import PMOSFETS, Mosfet, part_choice
from domain.design.kit import beyond, spice
from shared.message import Message, msg

PMOSFET = part_choice("pmosfet")
_CLASSES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.0025)
"""On-resistances (Ohm, at 4.5 V) of parts one can buy."""
_RATED_V, _THRESHOLD_V, _AT_V, _SERIES = 60.0, 1.0, 4.5, 0.6
"""Of the general part; `_SERIES` of its resistance lies beside the channel."""
_OHM_FARAD = 32e-12
_RATED_W = 2.0
"""Lost in a part without a heat sink, at most."""
_SPARE = 0.92
GATE_V = kit.Quantity(
    name="gate_v", label=msg("voltage between gate and source"), dimensions=("V",), limit="at_most",
    words=r"v_?gs|gate[\s-]?(?:to[\s-])?(?:source )?voltage|gate(?= (?:must|at most|below|max|not|no more))|"
          r"栅源|栅极电压|栅压|gate(?=不)",
    within=(3, 20), example=12, is_told=False, default=12.0,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """The transistor of a design."""

    name: str
    """Of the library's model; "pfet" is the general one."""
    part: Mosfet
    class_ohm: float
    """On-resistance at 4.5 V of the general part; 0 for one of the library."""

    def on_ohm(self, gate_v: float) -> float:
        over = gate_v - self.part.threshold_v
        return self.part.series_ohm + 1 / (self.part.slope * over) if over > 0 else float("inf")

    @property
    def farad(self) -> float:
        """Input capacitance, about."""
        return _OHM_FARAD / (self.class_ohm or self.part.on_ohm)


def _general(ohm: float) -> Mosfet:
    slope = 1 / ((1 - _SERIES) * ohm * (_AT_V - _THRESHOLD_V))
    on_ohm = _SERIES * ohm + 1 / (slope * (10 - _THRESHOLD_V))
    return Mosfet(on_ohm=on_ohm, blocks_v=_RATED_V, drain_a=20.0, threshold_v=_THRESHOLD_V, slope=slope)


def chosen(request: kit.Request, gate_v: float, drop: Message) -> Pass:
    """The named part, else the highest class of on-resistance that keeps the drop and stays cool.

    Raises CircuitError for ratings that are passed and a drop out of reach.
    """
    current, most, name = request["current_a"], request["drop_v"], str(request["pmosfet"])
    if name in PMOSFETS:
        found = Pass(name=name, part=PMOSFETS[name], class_ohm=0.0)
        _refuse_beyond_ratings(request, found.part)
    else:
        cool = min(_SPARE * most / current, _RATED_W / current**2)
        made = (Pass(name="pfet", part=_general(ohm), class_ohm=ohm) for ohm in _CLASSES)
        found = next((each for each in made if each.on_ohm(gate_v) <= cool), None) or Pass(
            name="pfet", part=_general(_CLASSES[-1]), class_ohm=_CLASSES[-1]
        )
    reached = current * found.on_ohm(gate_v) / _SPARE
    if reached > most:
        advice = msg("Allow a larger drop, or name a P-channel MOSFET with less on-resistance or none.")
        raise beyond(drop, "V", most, reached, advice)
    return found


def _refuse_beyond_ratings(request: kit.Request, part: Mosfet) -> None:
    advice = msg("Name a stronger P-channel MOSFET, or none.")
    supply = request.get("vin_highest") or request["supply_v"]
    if supply > part.blocks_v:
        raise beyond(msg("supply"), "V", supply, part.blocks_v, advice)
    if request["current_a"] > part.drain_a:
        raise beyond(msg("load current"), "A", request["current_a"], part.drain_a, advice)


def write_model(deck: kit.Deck, used: Pass) -> None:
    if not used.class_ohm:
        deck.cards(f".include {used.name}.lib")
        return
    ohm, farad, part = used.class_ohm, used.farad, used.part
    deck.note(msg("Generic logic-level P-channel power MOSFET."))
    deck.cards(
        f".model pfet VDMOS(pchan VTO={-_THRESHOLD_V:g} KP={spice(part.slope)} RD={spice(0.5 * ohm)} "
        f"RS={spice(0.1 * ohm)} RDS=1g CGS={spice(0.9 * farad)} CGDMAX={spice(0.8 * farad)} "
        f"CGDMIN={spice(0.08 * farad)} CJO={spice(0.25 * farad)} IS=1e-12 N=1.05)"
    )
