"""The bipolar transistor of generated circuits: a general one in the same file, or one of the library."""

from __future__ import annotations

import math

from domain.design.deck import Deck
from domain.design.engine.declaration import Choice, Option, Request
from shared.message import msg

THERMAL_V = 0.02585
"""kT/q at 27 degrees Celsius, ngspice's temperature."""
BASE_EMITTER_V = 0.65
CURRENT_GAIN = 200.0
"""Of the general transistor; sizing needs no more than its order of magnitude."""
EARLY_V = 80.0

GENERAL = "npn"
LIBRARY_NPN = ("2N3904", "2N2222", "BC547")
NPN = Choice(
    name="transistor",
    label=msg("transistor"),
    is_told=False,
    options=(
        Option(key=GENERAL, label=msg("any NPN transistor"), words="(?!)"),
        *(
            Option(
                key=name,
                label=msg("{text}", text=name),
                words=rf"(?<![a-z0-9]){name}[a-z]?(?![a-z0-9])",
            )
            for name in LIBRARY_NPN
        ),
    ),
)
UNKNOWN_NPN = (
    rf"(?<![a-z0-9])(?!(?:{'|'.join(LIBRARY_NPN)})(?!\d))(?:2n\d{{4}}|bc\d{{3}}|2sc\d{{3,4}}|s80\d\d|s90\d\d|"
    r"mps\w?\d{3,4}|bf\d{3}|tip\d{2,3}|mmbt\d{4})[a-z]?(?![a-z0-9])",
    msg("The model library does not have the transistor that the request names, or it is no NPN."),
    msg("Name one it has ({names}), or none.", names=", ".join(LIBRARY_NPN)),
)
"""Reads as the number of a transistor, and is none of the library's."""


def emitter_ohm(collector_a: float) -> float:
    """Small-signal resistance at the emitter, VT / IC (Sedra, Smith, section 7.2)."""
    return THERMAL_V / collector_a


def parallel(*ohm: float) -> float:
    """Of resistances; an infinite one counts nothing."""
    return 1 / sum(1 / each for each in ohm if math.isfinite(each))


def write_npn(deck: Deck, request: Request) -> None:
    """What the transistors of the circuit are: the library's model, or a general one."""
    deck.rule()
    if request["transistor"] == GENERAL:
        deck.note(msg("A general small-signal NPN transistor."))
        deck.cards(
            f".model {GENERAL} NPN(IS=1e-14 BF={CURRENT_GAIN:g} VAF={EARLY_V:g} RB=10 CJE=6p CJC=3p TF=0.4n)"
        )
        return
    deck.note(msg("The transistor of the model library."))
    deck.cards(f".include {request['transistor']}.lib")
