"""Libraries as vendors write them: thousands of made-up parts in the usual forms, with the figures known."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple


class MadePart(NamedTuple):
    """One part that was written, and what a search has to know of it."""

    name: str
    kind: str
    figures: dict[str, float]
    is_dual: bool = False


def write_libraries(folder: Path, count: int, seed: int = 7) -> list[MadePart]:
    """`count` parts in files of a hundred, in the forms of LTspice, PSpice, and op-amp macromodels."""
    rng, made = random.Random(seed), []
    forms = (_transistor, _diode, _power_mosfet, _op_amp)
    for first in range(0, count, 100):
        texts = [f"* {folder.name} models, rev {first // 100}", "* (c) nobody", ""]
        for number in range(first, min(first + 100, count)):
            text, part = forms[number % len(forms)](rng, number)
            texts.append(text)
            made.append(part)
        place = folder / f"family{first // 1000}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"vendor{first:05}.lib").write_text("\n".join(texts) + "\n")
    return made


def _transistor(rng: random.Random, number: int) -> tuple[str, MadePart]:
    kind = rng.choice(("npn", "pnp"))
    volts, amperes, gain = (
        rng.choice((20, 40, 45, 60, 80)),
        rng.choice((0.1, 0.2, 0.6, 1)),
        rng.randint(50, 400),
    )
    name = f"QV{number:05}"
    text = (
        f".model {name} {kind.upper()}(IS=1e-14 VAF=100 Bf={gain} IKF=0.3 XTB=1.5 BR=3\n"
        f"+ CJC=8E-12 CJE=25E-12 TR=46.91n TF=411.1p ITF=0.6 VTF=1.7 XTF=3 RB=10 RC=.3 RE=.2\n"
        f"+ Vceo={volts} Icrating={amperes * 1000:g}m mfg=NoVendor)"
    )
    return text, MadePart(name, kind, {"v": volts, "i": amperes, "hfe": gain})


def _diode(rng: random.Random, number: int) -> tuple[str, MadePart]:
    kind, volts = rng.choice(("diode", "schottky", "zener")), rng.choice((5.1, 12, 30, 100))
    name = f"DV{number:05}"
    words = {"diode": "fast rectifier", "schottky": "Schottky rectifier", "zener": "Zener diode"}[kind]
    text = (
        f"*\n* {name}   {words}\n*\n.MODEL {name} D (IS=2n RS=.04 N=1.7 BV={volts} IBV=100u CJO=20p TT=20n)"
    )
    return text, MadePart(name, kind, {"vz" if kind == "zener" else "v": volts})


def _power_mosfet(rng: random.Random, number: int) -> tuple[str, MadePart]:
    kind, volts, ohms = rng.choice(("nmos", "pmos")), rng.choice((30, 60, 100)), rng.choice((5, 22, 44, 117))
    name, channel = f"MV{number:05}", "pchan " if kind == "pmos" else ""
    sign = "-" if kind == "pmos" else ""
    text = (
        f".model {name} VDMOS({channel}Rg=3 Vto={sign}3.5 Rd={ohms * 0.6:g}m Rs=2m Rb=5m Kp=60\n"
        f"+ Cgdmax=1n Cgdmin=50p Cgs=1.2n Cjo=.5n Is=10p mfg=NoVendor Vds={sign}{volts} Ron={ohms}m Qg=40n)"
    )
    return text, MadePart(name, kind, {"v": volts, "ron": ohms * 1e-3, "vth": 3.5})


def _op_amp(rng: random.Random, number: int) -> tuple[str, MadePart]:
    megahertz, slew, is_dual = (
        rng.choice((0.7, 1, 3, 5, 8, 10, 55)),
        rng.choice((0.5, 9, 13, 22)),
        rng.random() < 0.5,
    )
    name = f"AV{number:05}"
    text = f"""*-----------------------------------------------------------------------------
* {name} {"dual" if is_dual else "single"} operational amplifier "macromodel" subcircuit
* GBW = {megahertz:g} MHz, slew rate {slew:g} V/us, supply 5 V to 36 V
* connections:   non-inverting input
*                | inverting input
*                | | positive power supply
*                | | | negative power supply
*                | | | | output
*                | | | | |
.subckt {name}    1 2 3 4 5
  c1   11 12 3.498E-12
  dc    5 53 dx
  egnd 99  0 poly(2) (3,0) (4,0) 0 .5 .5
  r2    6  9 100.0E3
  ga 6 0 1 2 1m
  ro 6 5 50
.model dx D(Is=800.0E-18)
.ends"""
    return text, MadePart(name, "opamp", {"f": megahertz * 1e6, "slew": slew * 1e6}, is_dual)
