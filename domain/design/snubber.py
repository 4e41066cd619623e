"""The RC snubber beside a capacitance that rings with an inductance: overshoot, and the least that is enough.

Step response of L against C with Rs and Cs beside it, w0 = 1/sqrt(L C) and Z0 = sqrt(L/C) taken for 1:
H(s) = (1 + r c s)/(r c s^3 + (1 + c) s^2 + r c s + 1) with c = Cs/C, r = Rs/Z0. Sources: McMurray, "Optimum
snubbers for power semiconductors", IEEE Trans. Industry Applications 8 (1972); Texas Instruments SLVA255.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache

import numpy as np

from domain.circuit.preferred_values import values_between

MOST_RATIO = 60.0
"""Of Cs to the capacitance that rings."""
_OHM_OVER_Z0 = (0.45, 3.0)
_TIMES = np.linspace(0.0, 25.0, 300)


@cache
def overshoot(c: float, r: float) -> float:
    """Highest value of the step response above 1, from the residues at its three poles."""
    poles = np.roots([r * c, 1 + c, r * c, 1.0])
    residues = [(1 + r * c * p) / (p * r * c * np.prod(p - np.delete(poles, n))) for n, p in enumerate(poles)]
    return float((np.exp(np.outer(_TIMES, poles)) @ np.array(residues)).real.max())


@cache
def snubber(farad: float, z0: float, most: float) -> tuple[float, float]:
    """Cs of E12 and Rs of E24; Cs beyond `MOST_RATIO` times the node's where none is enough."""
    values = values_between(0.3 * farad, 1.3 * MOST_RATIO * farad, "E12")
    resistors = values_between(_OHM_OVER_Z0[0] * z0, _OHM_OVER_Z0[1] * z0, "E24")

    def best(cs: float) -> tuple[float, float]:
        return min((overshoot(cs / farad, rs / z0), rs) for rs in resistors)

    cs = values[min(bisect_left(values, -most, key=lambda each: -best(each)[0]), len(values) - 1)]
    return cs, best(cs)[1]
