"""Amplifiers to be sized, and tight targets drawn from designs that exist.

A target is what a random design of the range measures, with narrow bounds on both sides: it can be met,
and nobody meets it by chance. The op is that of the unity follower (a huge L closes the loop, a huge C
opens it for the ac), so a design that is off still has a sound operating point.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from domain.studies.search_space import Values
from domain.studies.study_spec import StudySpec, read_study_spec

_LEVEL_1 = """\
.model nch nmos level=1 vto=0.45 kp=300u gamma=0.4 phi=0.8 lambda=0.06 tox=4n cgso=0.35n cgdo=0.35n
+ cj=1m cjsw=0.2n
.model pch pmos level=1 vto=-0.45 kp=70u gamma=0.4 phi=0.8 lambda=0.08 tox=4n cgso=0.35n cgdo=0.35n
+ cj=1m cjsw=0.2n
"""
_BSIM4 = """\
.model nch nmos level=14 version=4.8.1 toxe=4n vth0=0.42 u0=0.035 vsat=9e4 k1=0.5 nfactor=1.2 cdsc=2e-4
+ pclm=0.6 eta0=0.05 dsub=0.5 voff=-0.1 ndep=3e17 xj=1e-7 cgso=0.35n cgdo=0.35n cjs=1m cjsws=0.2n rdsw=200
.model pch pmos level=14 version=4.8.1 toxe=4n vth0=-0.42 u0=0.009 vsat=8e4 k1=0.5 nfactor=1.3 cdsc=2e-4
+ pclm=0.8 eta0=0.05 dsub=0.5 voff=-0.1 ndep=3e17 xj=1e-7 cgso=0.35n cgdo=0.35n cjs=1m cjsws=0.2n rdsw=300
"""
_BENCH = """\
Vdd vdd 0 1.8
Vip inp 0 0.9 ac 1
Lfb out inn 1g
Cfb inn 0 1g
.nodeset v(out)=0.9 v(inn)=0.9
"""
_ENDS = """\
.op
.ac dec 10 10 10g
.end
"""
_TWO_STAGE = """two-stage Miller op-amp
.param w1=20u w3=10u w5=10u w6=60u w7=30u cc=1p rz=1k ib=10u
{models}{bench}Ib vdd nb {{ib}}
M8 nb nb 0 0 nch w=5u l=0.5u
M5 t nb 0 0 nch w={{w5}} l=0.5u
M1 a inn t 0 nch w={{w1}} l=0.5u
M2 b inp t 0 nch w={{w1}} l=0.5u
M3 a a vdd vdd pch w={{w3}} l=0.5u
M4 b a vdd vdd pch w={{w3}} l=0.5u
M6 out b vdd vdd pch w={{w6}} l=0.5u
M7 out nb 0 0 nch w={{w7}} l=0.5u
Cc b z {{cc}}
Rz z out {{rz}}
CL out 0 2p
{ends}"""
_ONE_STAGE = """five-transistor OTA
.param w1=20u l1=0.5u w3=10u l3=0.5u w5=10u ib=10u
{models}{bench}Ib vdd nb {{ib}}
M8 nb nb 0 0 nch w=5u l=0.5u
M5 t nb 0 0 nch w={{w5}} l=0.5u
M1 a inp t 0 nch w={{w1}} l={{l1}}
M2 out inn t 0 nch w={{w1}} l={{l1}}
M3 a a vdd vdd pch w={{w3}} l={{l3}}
M4 out a vdd vdd pch w={{w3}} l={{l3}}
CL out 0 2p
{ends}"""
_FOLDED = """folded cascode
.param w1=20u w3=40u w5=40u w7=20u w9=10u wt=20u l9=0.5u ib=10u
{models}{bench}Ib vdd nb {{ib}}
M0 nb nb 0 0 nch w=5u l=0.5u
Mb1 pb nb 0 0 nch w=5u l=0.5u
Mb2 pb pb vdd vdd pch w=15u l=0.5u
Vcp vcp 0 0.75
Vcn vcn 0 1.0
Mt t nb 0 0 nch w={{wt}} l=0.5u
M1 x inp t 0 nch w={{w1}} l=0.5u
M2 y inn t 0 nch w={{w1}} l=0.5u
M3 x pb vdd vdd pch w={{w3}} l=0.5u
M4 y pb vdd vdd pch w={{w3}} l=0.5u
M5 c vcp x vdd pch w={{w5}} l=0.5u
M6 out vcp y vdd pch w={{w5}} l=0.5u
M7 c vcn d 0 nch w={{w7}} l=0.5u
M8 out vcn e 0 nch w={{w7}} l=0.5u
M9 d c 0 0 nch w={{w9}} l={{l9}}
M10 e c 0 0 nch w={{w9}} l={{l9}}
CL out 0 2p
{ends}"""
MEASURE = {
    "gain": "db(dcgain(v(out)))",
    "ugf": "ugf(v(out))",
    "pm": "phase_margin(-v(out))",
    "supply": "-i(vdd)",
}
_WIDTH = {"gain": 0.25, "pm": 1.5}
"""Half of a band in dB and degrees; of the others it is a share."""
_SHARE = 0.03

Figures = Mapping[str, float]
Bands = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Amplifier:
    """One to be sized."""

    title: str
    template: str
    ranges: Mapping[str, tuple[float, float]]
    least_gain_db: float
    """What a random design must have to be an amplifier at all."""

    def deck(self, models: str) -> str:
        return self.template.format(models=MODELS[models], bench=_BENCH, ends=_ENDS)

    @property
    def spec(self) -> StudySpec:
        parameters = [
            {"name": name, "min": low, "max": high, "scale": "log"}
            for name, (low, high) in self.ranges.items()
        ]
        return read_study_spec({"parameters": parameters, "measure": MEASURE})

    def is_sound(self, figures: Figures) -> bool:
        return (
            not any(map(math.isnan, figures.values()))
            and figures["gain"] > self.least_gain_db
            and 45 < figures["pm"] < 85
            and figures["ugf"] > 1e6
        )


MODELS = {"level 1": _LEVEL_1, "BSIM4": _BSIM4}
AMPLIFIERS = {
    "two-stage": Amplifier(
        title="two-stage Miller",
        template=_TWO_STAGE,
        least_gain_db=50,
        ranges={
            "w1": (2e-6, 200e-6),
            "w3": (2e-6, 100e-6),
            "w5": (2e-6, 100e-6),
            "w6": (4e-6, 400e-6),
            "w7": (2e-6, 200e-6),
            "cc": (0.2e-12, 5e-12),
            "rz": (100, 10e3),
            "ib": (2e-6, 50e-6),
        },
    ),
    "one-stage": Amplifier(
        title="five-transistor OTA",
        template=_ONE_STAGE,
        least_gain_db=28,
        ranges={
            "w1": (2e-6, 200e-6),
            "l1": (0.2e-6, 2e-6),
            "w3": (2e-6, 100e-6),
            "l3": (0.2e-6, 2e-6),
            "w5": (2e-6, 100e-6),
            "ib": (2e-6, 50e-6),
        },
    ),
    "folded": Amplifier(
        title="folded cascode",
        template=_FOLDED,
        least_gain_db=50,
        ranges={
            "w1": (4e-6, 200e-6),
            "w3": (10e-6, 200e-6),
            "w5": (4e-6, 200e-6),
            "w7": (4e-6, 100e-6),
            "w9": (4e-6, 60e-6),
            "wt": (4e-6, 80e-6),
            "l9": (0.3e-6, 1.5e-6),
            "ib": (3e-6, 30e-6),
        },
    ),
}


def target(
    amplifier: Amplifier,
    point: Callable[[list[float]], Values],
    measure: Callable[[Values], Figures],
    rng: random.Random,
) -> Bands:
    """Narrow bands around what a random design of the range measures (`point` makes values of a place on the
    cube)."""
    while True:
        figures = measure(point([rng.random() for _ in amplifier.ranges]))
        if amplifier.is_sound(figures):
            return {name: band(name, value) for name, value in figures.items()}


def band(name: str, value: float) -> tuple[float, float]:
    half = _WIDTH.get(name, abs(value) * _SHARE)
    return value - half, value + half


def is_met(bands: Bands, figures: Figures) -> bool:
    return all(low <= figures[name] <= high for name, (low, high) in bands.items())
