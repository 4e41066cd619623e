"""The bipolar transistor of generated circuits: a general one in the same file, or one of the library."""

from __future__ import annotations

import math
from dataclasses import dataclass

from domain.circuit.preferred_values import nearest
from domain.design.deck import Deck
from domain.design.engine.declaration import Request
from domain.design.engine.library_parts import part_choice
from shared.message import msg

THERMAL_V = 0.02585
"""kT/q at 27 degrees Celsius, ngspice's temperature."""
BASE_EMITTER_V = 0.65
CURRENT_GAIN = 200.0
"""Of the general transistor; sizing needs no more than its order of magnitude."""
EARLY_V = 80.0
SATURATION_V = 0.5
_DIVIDER_SHARE = 0.1
"""Of the collector current, through the divider at the base."""

TRANSISTOR = part_choice("transistor")
NO_PNP = (
    r"(?<![a-z0-9])(?:2n[\s-]?2907|2n[\s-]?3906|bc[\s-]?557)|"
    r"(?<!npn or )(?<!npn/)pnp(?!(?:/| or | |或者?)npn)",
    msg("A stage with a PNP transistor cannot be designed yet."),
    msg("Name an NPN transistor, for example {name}, or none.", name="2N3904"),
)


def npn_of(request: Request) -> str:
    """The model's name in the netlist: that of the part that was named, or the general one."""
    name = str(request[TRANSISTOR.name])
    return "npn" if name == TRANSISTOR.options[0].key else name


def emitter_ohm(collector_a: float) -> float:
    """Small-signal resistance at the emitter, VT / IC (Sedra, Smith, section 7.2)."""
    return THERMAL_V / collector_a


def parallel(*ohm: float) -> float:
    """Of resistances; an infinite one counts nothing."""
    return 1 / sum(1 / each for each in ohm if math.isfinite(each))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bias:
    """The divider at a base, E24 (Horowitz, Hill, "The Art of Electronics", 3rd ed., section 2.2.5)."""

    r1: float
    """To the supply."""
    r2: float
    """To ground."""

    @classmethod
    def of(cls, supply_v: float, collector_a: float, emitter_v: float) -> Bias:
        """That holds the emitter at a voltage."""
        base_v = emitter_v + BASE_EMITTER_V
        r2 = nearest(base_v / (_DIVIDER_SHARE * collector_a), "E24")
        return cls(r1=nearest((supply_v - base_v) / (base_v / r2 + collector_a / CURRENT_GAIN), "E24"), r2=r2)

    def seen_ohm(self, below_ohm: float) -> float:
        """Resistance at the base, `below_ohm` between emitter junction and ground."""
        return parallel(self.r1, self.r2, CURRENT_GAIN * below_ohm)


def write_npn(deck: Deck, request: Request) -> None:
    """What the transistors of the circuit are: the library's model, or a general one."""
    deck.rule()
    name = npn_of(request)
    if name == "npn":
        deck.note(msg("Generic small-signal NPN transistor."))
        deck.cards(
            f".model npn NPN(IS=1e-14 BF={CURRENT_GAIN:g} VAF={EARLY_V:g} RB=10 CJE=6p CJC=3p TF=0.4n)"
        )
        return
    deck.note(msg("Transistor from the model library."))
    deck.cards(f".include {name}.lib")
