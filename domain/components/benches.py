"""What a component is simulated in to be seen: output characteristics, a diode's curve, an open loop.

Each bench is one circuit with one sweep; a family of curves is a row of devices side by side, so that all
come out of the same run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from domain.circuit.figures import with_unit
from domain.components.component import Component
from shared.message import Message, msg

_CURVES = 5
_MOST_VOLTS = 10.0
_PLUS = ("in+", "inp", "+in", "vinp", "ip", "non", "plus", "1+")
_MINUS = ("in-", "inn", "-in", "vinn", "in", "inv", "minus")
_SUPPLY = ("v+", "vcc", "vdd", "vp", "positive", "vs+", "+vs", "pos")
_LOW_SUPPLY = ("v-", "vee", "vss", "vn", "negative", "vs-", "-vs", "neg", "gnd")


class Bench(NamedTuple):
    """One circuit, and how what comes out is drawn."""

    cards: tuple[str, ...]
    """Without the component's own."""
    analysis: str
    signals: tuple[str, ...]
    """A curve each, in canonical names."""
    names: tuple[str, ...]
    """What each curve stands for: ``Ib 10 uA``."""
    title: Message
    across: str
    """Unit of the axis."""
    upward: str
    is_decibel: bool = False
    sign: float = 1.0
    """-1: currents and voltages are those of a P type, drawn without their sign."""


def bench_of(component: Component) -> Bench | None:
    """The bench of a component; None where there is none of its kind, or not all pins are known."""
    if component.fault or component.card not in ("model", "subckt"):
        return None
    if component.card == "subckt":
        return _open_loop(component) if component.kind == "opamp" else None
    match component.kind:
        case "npn" | "pnp":
            return _bipolar(component)
        case "nmos" | "pmos" | "njf" | "pjf":
            return _field_effect(component)
        case "diode" | "schottky" | "zener":
            return _diode(component)
    return None


def _drain_volts(component: Component) -> float:
    return min(_MOST_VOLTS, component.figures.get("v", _MOST_VOLTS))


def _bipolar(component: Component) -> Bench:
    sign = -1.0 if component.kind == "pnp" else 1.0
    gain = component.figures.get("hfe", 100.0)
    target = min(component.figures.get("i", 0.1) / 20, 0.1)
    step = _round(target / gain / _CURVES)
    cards = [f"vc c 0 {sign:g}"]
    names = []
    for number in range(1, _CURVES + 1):
        current = step * number
        cards += [
            f"vs{number} c c{number} 0",
            f"ib{number} 0 b{number} {sign * current:.6g}",
            f"q{number} c{number} b{number} 0 {component.name}",
        ]
        names.append(f"Ib {with_unit(current, 'A', 3)}")
    return _family(component, cards, names, sign, msg("Ic over Vce"))


def _field_effect(component: Component) -> Bench:
    sign = -1.0 if component.kind in ("pmos", "pjf") else 1.0
    threshold = component.figures.get("vth", 2.0)
    is_junction = component.kind in ("njf", "pjf")
    body = " 0" if len(component.ports) == 4 else ""
    size = " w=10u l=1u" if body else ""
    cards, names = [f"vc c 0 {sign:g}"], []
    letter = component.letter.lower()
    for number in range(1, _CURVES + 1):
        gate = -threshold * (_CURVES - number) / _CURVES if is_junction else threshold + 0.5 * number
        cards += [
            f"vs{number} c c{number} 0",
            f"vg{number} g{number} 0 {sign * gate:.6g}",
            f"{letter}{number} c{number} g{number} 0{body} {component.name}{size}",
        ]
        names.append(f"Vgs {with_unit(gate, 'V', 3)}")
    return _family(component, cards, names, sign, msg("Id over Vds"))


def _family(
    component: Component, cards: Sequence[str], names: Sequence[str], sign: float, title: Message
) -> Bench:
    end = _drain_volts(component) * sign
    return Bench(
        cards=tuple(cards),
        analysis=f"dc vc 0 {end:.6g} {end / 100:.6g}",
        signals=tuple(f"i(vs{number})" for number in range(1, _CURVES + 1)),
        names=tuple(names),
        title=title,
        across="V",
        upward="A",
        sign=sign,
    )


def _diode(component: Component) -> Bench:
    """Through a resistor, so that neither side can run away: 0.1 A forward, 5 mA at a Zener voltage."""
    zener = component.figures.get("vz")
    low = -1.3 * zener if zener else -1.0
    cards = ("vc s 0 0", "rs s a 10", f"d1 a 0 {component.name}")
    return Bench(
        cards=cards,
        analysis=f"dc vc {low:.6g} 2 {(2 - low) / 300:.6g}",
        signals=("v(a)", "i(vc)"),
        names=("",),
        title=msg("I over V"),
        across="V",
        upward="A",
    )


def _open_loop(component: Component) -> Bench | None:
    pins = _amplifier_pins(component)
    if pins is None:
        return None
    plus, minus, out, high, low = pins
    nodes = [f"nc{at}" for at in range(len(component.ports))]
    nodes[plus], nodes[minus], nodes[out] = "ip", "n", "out"
    if high is not None:
        nodes[high] = "vp"
    if low is not None:
        nodes[low] = "vm"
    cards = (
        "vp vp 0 15",
        "vm vm 0 -15",
        "vin ip 0 dc 0 ac 1",
        # At zero frequency a follower, above it an open loop.
        "lf out n 1g",
        "cf n 0 1",
        "rload out 0 100k",
        *(f"rnc{at} nc{at} 0 1g" for at, node in enumerate(nodes) if node.startswith("nc")),
        f"x1 {' '.join(nodes)} {component.name}",
    )
    return Bench(
        cards=cards,
        analysis="ac dec 20 1 100meg",
        signals=("v(out)",),
        names=("",),
        title=msg("Open-loop gain, supplies ±15 V"),
        across="Hz",
        upward="dB",
        is_decibel=True,
    )


def _amplifier_pins(component: Component) -> tuple[int, int, int, int | None, int | None] | None:
    labels = [component.pin_label(at).lower().replace("_", " ") for at in range(len(component.ports))]

    def find(words: Sequence[str], taken: Sequence[int | None]) -> int | None:
        left = [at for at in range(len(labels)) if at not in taken]
        exact = next((at for at in left if labels[at] in words), None)
        return (
            exact
            if exact is not None
            else next((at for at in left if labels[at].startswith(tuple(words))), None)
        )

    out = next((at for at, label in enumerate(labels) if label.startswith(("out", "vout", "o"))), None)
    high = find(_SUPPLY, (out,))
    low = find(_LOW_SUPPLY, (out, high))
    plus = find(_PLUS, (out, high, low))
    minus = find(_MINUS, (out, high, low, plus))
    if out is None or plus is None or minus is None:
        return None
    return plus, minus, out, high, low


def _round(value: float) -> float:
    """1, 2 or 5 times a power of ten, at or below."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(each for each in (5, 2, 1) if each * power <= value * 1.0001) * power
