"""All-pole low-pass prototypes: poles, sections, magnitude, order.

Frequencies are relative to the cut-off, which is where the magnitude is 3.0103 dB below its value at
zero frequency. A high-pass has the same sections with every frequency inverted (s -> 1/s).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

Response = Literal["butterworth", "chebyshev", "bessel"]
FilterKind = Literal["lowpass", "highpass"]

HALF_POWER_DB = 10 * math.log10(2)


@dataclass(frozen=True, slots=True)
class Section:
    """One factor of the transfer function."""

    frequency: float
    """Pole frequency, relative."""
    q: float | None
    """Quality of a complex pair; None for a real pole."""


@cache
def prototype(response: Response, order: int, ripple_db: float = 0.0) -> tuple[Section, ...]:
    """Sections of a normalised low-pass, the real pole first, then by rising Q.

    Butterworth: poles evenly on the unit circle. Chebyshev: poles on the ellipse of
    sinh(asinh(1/eps)/n), eps = sqrt(10**(ripple/10) - 1). Bessel: roots of the reverse Bessel
    polynomial. Sources: Zverev, "Handbook of Filter Synthesis", ch. 3; Van Valkenburg, "Analog Filter
    Design", ch. 6, 8, 10.
    """
    poles = (
        {"butterworth": _butterworth, "bessel": _bessel}[response](order)
        if response != "chebyshev"
        else (_chebyshev(order, ripple_db))
    )
    sections = _sections(poles)
    edge = half_power_frequency(sections)
    scaled = (Section(section.frequency / edge, section.q) for section in sections)
    return tuple(sorted(scaled, key=lambda section: section.q or 0.0))


def _butterworth(order: int) -> list[complex]:
    return [cmath.exp(1j * math.pi * (2 * k + order - 1) / (2 * order)) for k in range(1, order + 1)]


def _chebyshev(order: int, ripple_db: float) -> list[complex]:
    flatness = math.asinh(1 / _epsilon(ripple_db)) / order
    angles = (math.pi * (2 * k - 1) / (2 * order) for k in range(1, order + 1))
    return [complex(-math.sinh(flatness) * math.sin(a), math.cosh(flatness) * math.cos(a)) for a in angles]


def _bessel(order: int) -> list[complex]:
    """Roots of sum (2n-k)! / (2**(n-k) k! (n-k)!) s**k."""
    coefficients = [
        math.factorial(2 * order - k) / (2 ** (order - k) * math.factorial(k) * math.factorial(order - k))
        for k in range(order, -1, -1)
    ]
    return [complex(root) for root in np.roots(coefficients)]


def _epsilon(ripple_db: float) -> float:
    return math.sqrt(10 ** (ripple_db / 10) - 1)


def _sections(poles: Sequence[complex]) -> list[Section]:
    sections = []
    for pole in poles:
        if abs(pole.imag) < 1e-9 * abs(pole):
            sections.append(Section(abs(pole), None))
        elif pole.imag > 0:
            sections.append(Section(abs(pole), abs(pole) / (-2 * pole.real)))
    return sections


def magnitude(sections: Sequence[Section], frequency: float) -> float:
    """|H| at a relative frequency; 1 at zero."""
    product = 1.0
    for section in sections:
        x = frequency / section.frequency
        product /= math.hypot(1, x) if section.q is None else math.hypot(1 - x * x, x / section.q)
    return product


def half_power_frequency(sections: Sequence[Section]) -> float:
    """The highest frequency where |H| = 1 / sqrt(2), by bisection."""
    wanted = 1 / math.sqrt(2)
    high = 2 * max(section.frequency for section in sections)
    while magnitude(sections, high) > wanted:
        high *= 2
    low = high
    while magnitude(sections, low) < wanted:
        low /= 1.02
    for _ in range(80):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if magnitude(sections, middle) > wanted else (low, middle)
    return math.sqrt(low * high)


def attenuation_db(sections: Sequence[Section], frequency: float) -> float:
    """Attenuation against zero frequency, dB."""
    return -20 * math.log10(magnitude(sections, frequency))


def ripple_edge(order: int, ripple_db: float) -> float:
    """End of a Chebyshev prototype's ripple band, relative to its half-power frequency."""
    eps = _epsilon(ripple_db)
    # Even orders start at the bottom of the ripple: 3 dB below their own start is further out.
    level = 2 * (1 + eps**2) if order % 2 == 0 else 2.0
    return 1 / math.cosh(math.acosh(math.sqrt(level - 1) / eps) / order)


def frequency_of(sections: Sequence[Section], decibels: float) -> float:
    """The relative frequency where the attenuation reaches `decibels` (monotonic ones), by bisection."""
    low, high = 1e-6, 1e9
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if attenuation_db(sections, middle) < decibels else (low, middle)
    return math.sqrt(low * high)
