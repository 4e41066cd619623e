"""The second-order loop filter of a charge-pump PLL: C1 beside R2 and C2 in series.

L(s) = K Z(s)/s with K = Icp Kvco/N (A Hz/V), Z = (1 + s T2)/(s (C1 + C2)(1 + s T1)); its phase peaks at wc
where T1 = (1/cos PM - tan PM)/wc, T2 = 1/(wc^2 T1); C1 by |L| = 1, C2 = C1 (T2/T1 - 1), R2 = T2/C2.
Sources: Gardner, "Charge-pump phase-lock loops", IEEE Trans. Communications 28 (1980); Banerjee, "PLL
Performance, Simulation and Design", 5th ed., chapter 38; Texas Instruments SNVA570 (AN-1001).
"""

from __future__ import annotations

import cmath
import math
from itertools import product

from domain.circuit.preferred_values import neighbours, values_between

Parts = tuple[float, float, float]
"""C1 (F), R2 (ohm), C2 (F)."""


def exact(gain: float, hz: float, margin_deg: float) -> Parts:
    """For the gain K, the bandwidth and the phase margin."""
    wc, margin = 2 * math.pi * hz, math.radians(margin_deg)
    t1 = (1 / math.cos(margin) - math.tan(margin)) / wc
    t2 = 1 / (wc**2 * t1)
    c1 = gain / wc**2 * t1 / t2 * math.sqrt((1 + (wc * t2) ** 2) / (1 + (wc * t1) ** 2))
    c2 = c1 * (t2 / t1 - 1)
    return c1, t2 / c2, c2


def loop_gain(gain: float, hz: float, parts: Parts) -> complex:
    c1, r2, c2 = parts
    s = 2j * math.pi * hz
    return gain / (s * (s * c1 + 1 / (r2 + 1 / (s * c2))))


def of_preferred_values(gain: float, hz: float, margin_deg: float) -> Parts:
    """C1 and C2 of E12, R2 of E96 around the exact ones: least miss of bandwidth and phase margin."""
    c1, r2, c2 = exact(gain, hz, margin_deg + 1)

    def miss(parts: Parts) -> float:
        loop = loop_gain(gain, hz, parts)
        short = margin_deg + 0.3 - 180 - math.degrees(cmath.phase(loop))
        return abs(math.log(abs(loop))) + max(short, 0.0)

    resistors = values_between(0.8 * r2, 1.25 * r2, "E96")
    return min(product(neighbours(c1, "E12"), resistors, neighbours(c2, "E12")), key=miss)
