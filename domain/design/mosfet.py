"""The MOSFETs of generated circuits, general long-channel ones or named cards; the design chooses the widths.

Square law: ID = KP/2 W/L Vov^2 (1 + lambda VDS), gm = sqrt(2 KP W/L ID). Source: Sedra, Smith,
"Microelectronic Circuits", 7th ed., sections 5.2 and 7.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from domain.design.deck import Deck, spice
from domain.design.engine.declaration import Request
from domain.design.engine.device_cards import CARDS, CardDevice
from shared.message import msg

KP, THRESHOLD_V, LAMBDA, LENGTH_M = 100e-6, 0.7, 0.02, 2e-6
KP_P, LAMBDA_P = 40e-6, 0.03
"""Of the p-channel one; its threshold is that of the other with the opposite sign."""
_OXIDE = 3.45e-11 / 20e-9
"""F/m2"""
LEAST_OVERDRIVE_V, MOST_OVERDRIVE_V = 0.1, 1.0
"""Below, the square law does not hold; above, the supply is wasted."""


def width_of(ratio: float) -> str:
    """W of a W/L, as SPICE reads it."""
    return spice(ratio * LENGTH_M)


def ratio_for(current: float, overdrive: float, drain_v: float) -> float:
    """W/L that carries a current (A) at an overdrive and a drain-source voltage (V)."""
    return 2 * current / (KP * overdrive**2 * (1 + LAMBDA * drain_v))


def nmos(name: str, nodes: str, ratio: float) -> str:
    """The element: `nodes` are drain, gate, source and bulk."""
    return f"{name} {nodes} nch W={width_of(ratio)} L={spice(LENGTH_M)}"


def p_ratio_for(current: float, overdrive: float, drain_v: float) -> float:
    """W/L of a PMOS, as `ratio_for`."""
    return 2 * current / (KP_P * overdrive**2 * (1 + LAMBDA_P * drain_v))


def pmos(name: str, nodes: str, ratio: float) -> str:
    """As `nmos`."""
    return f"{name} {nodes} pch W={width_of(ratio)} L={spice(LENGTH_M)}"


def write_pmos(deck: Deck) -> None:
    deck.note(msg("Generic long-channel PMOS transistor (level 1)."))
    deck.cards(
        f".model pch PMOS(LEVEL=1 VTO={-THRESHOLD_V:g} KP={spice(KP_P)} LAMBDA={LAMBDA_P:g} TOX=20n"
        " CGSO=0.3n CGDO=0.3n)"
    )


def write_nmos(deck: Deck) -> None:
    deck.rule()
    deck.note(msg("Generic long-channel NMOS transistor (level 1)."))
    deck.cards(
        f".model nch NMOS(LEVEL=1 VTO={THRESHOLD_V:g} KP={spice(KP)} LAMBDA={LAMBDA:g} TOX=20n"
        " CGSO=0.3n CGDO=0.3n)"
    )


@dataclass(frozen=True, slots=True)
class SquareLaw:
    """One of the general ones, by the equations above; a `CardDevice` tells the same of a named card."""

    model: str
    kp: float
    lambda_: float
    length_m: float = LENGTH_M

    @property
    def least_overdrive_v(self) -> float:
        return LEAST_OVERDRIVE_V

    def most_overdrive_v(self, _drain_v: float) -> float:
        return MOST_OVERDRIVE_V

    def ratio(self, current: float, overdrive: float, drain_v: float, _bulk_v: float = 0.0) -> float:
        return 2 * current / (self.kp * overdrive**2 * (1 + self.lambda_ * drain_v))

    def gate_v(self, overdrive: float, _drain_v: float, _bulk_v: float = 0.0) -> float:
        return THRESHOLD_V + overdrive

    def diode_v(self, overdrive: float, bulk_v: float = 0.0) -> float:
        """VGS of one connected as a diode."""
        return self.gate_v(overdrive, 0.0, bulk_v)

    def output_v(self, _overdrive: float, drain_v: float, _bulk_v: float = 0.0) -> float:
        return 1 / self.lambda_ + drain_v

    def least_output_v(self, _overdrive: float, _drain_v: float, _bulk_v: float = 0.0) -> float:
        """Output resistance times current where it is reckoned low."""
        return 1 / self.lambda_

    def body_effect(self, _overdrive: float, _drain_v: float, _bulk_v: float) -> float:
        """Of the bulk's transconductance by that of the gate."""
        return 0.0

    def gate_s(self, overdrive: float, _drain_v: float) -> float:
        """Gate capacitance over transconductance."""
        return 2 / 3 * _OXIDE * self.length_m**2 / (self.kp * overdrive)


Device = SquareLaw | CardDevice
GENERAL_NMOS, GENERAL_PMOS = SquareLaw("nch", KP, LAMBDA), SquareLaw("pch", KP_P, LAMBDA_P)


def nmos_of(request: Request) -> Device:
    """The card that was named, or the general one. The first figure asked of a card raises `TablesNeeded`."""
    return CardDevice(request, "nmos") if request.get(CARDS) else GENERAL_NMOS


def pmos_of(request: Request) -> Device:
    """As `nmos_of`."""
    return CardDevice(request, "pmos") if request.get(CARDS) else GENERAL_PMOS


def same_gate(device: Device, overdrive: float, drain_v: float, other_v: float) -> float:
    """The overdrive that the VGS of one at a drain voltage gives one at another: what a mirror copies by."""
    gate_v = device.gate_v(overdrive, drain_v)
    if device.gate_v(overdrive, other_v) == gate_v:
        return overdrive
    low, high = device.least_overdrive_v, 2 * MOST_OVERDRIVE_V
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (middle, high) if device.gate_v(middle, other_v) < gate_v else (low, middle)
    return (low + high) / 2


def element(device: Device, name: str, nodes: str, ratio: float) -> str:
    """The element of a W/L: `nodes` are drain, gate, source and bulk."""
    return f"{name} {nodes} {device.model} W={spice(ratio * device.length_m)} L={spice(device.length_m)}"


def write_models(deck: Deck, request: Request, *channels: str) -> None:
    """What the transistors (``nmos``, ``pmos``) of the circuit are."""
    cards = request.get(CARDS)
    if cards is None:
        for channel in channels:
            (write_nmos if channel == "nmos" else write_pmos)(deck)
        return
    deck.rule()
    deck.note(msg("Transistors of the named models, sized by gm/Id."))
    file = cards["file"]
    names = [file] if file else [f"{cards[channel]}.lib" for channel in channels]
    deck.cards(*(f'.include "{name}"' if file else f".include {name}" for name in names))
