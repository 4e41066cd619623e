"""The resistors of a comparator with hysteresis between two supplies.

Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 18.4; Texas Instruments, "Op Amps for
Everyone", SLOD006B, appendix A (superposition at a node held by resistors).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from domain.circuit.preferred_values import neighbours, values_between

_FEEDBACK_OHM = (68e3, 2.2e6)
_OHM = (1e3, 10e6)


def ways(upper: float, lower: float, supply: float, swing: float) -> Iterator[tuple[float, dict[str, float]]]:
    """(relative error of what is worst, resistors) of preferred values around the exact ones.

    R1 to ground holds the + input, R2 pulls it towards the supply (+-`supply`, V) on whose side the middle of
    the thresholds lies (none at 0 V), R3 moves it, from an output that swings to +-`swing`:
    v+ = (+-Vs / R2 + vo / R3) / (1 / R1 + 1 / R2 + 1 / R3).
    """
    width, middle = upper - lower, (upper + lower) / 2
    pull = math.copysign(supply, middle)
    for r3 in values_between(*_FEEDBACK_OHM, "E24"):
        total = 2 * swing / width / r3  # all three conductances
        wanted = {"R1": total - 1 / r3}
        if middle:
            wanted["R2"] = middle / pull * total
            wanted["R1"] -= wanted["R2"]
        if min(wanted.values()) < 1 / _OHM[1] or max(wanted.values()) > 1 / _OHM[0]:
            continue
        for values in product(*(neighbours(1 / each, "E96") for each in wanted.values())):
            parts = dict(zip(wanted, values, strict=True))
            held = pull / parts["R2"] if middle else 0.0
            load = sum(1 / each for each in values) + 1 / r3
            high, low = ((held + side * swing / r3) / load for side in (1, -1))
            errors = (
                abs(high - upper) / max(abs(upper), width),
                abs(low - lower) / max(abs(lower), width),
                abs(high - low - width) / width,
            )
            yield max(errors), {**parts, "R3": r3}
