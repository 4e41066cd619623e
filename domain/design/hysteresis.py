"""The resistors of a comparator with hysteresis between two supplies, or on one.

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


def ways(
    upper: float, lower: float, supply: float, swing: tuple[float, float]
) -> Iterator[tuple[float, dict[str, float]]]:
    """(relative error of what is worst, resistors) of preferred values around the exact ones.

    R1 to ground holds the + input, R2 pulls it towards the supply (+-`supply`, V) on whose side the middle of
    the thresholds lies (none where the output alone holds it), R3 moves it, from an output that swings
    between the two of `swing`: v+ = (+-Vs / R2 + vo / R3) / (1 / R1 + 1 / R2 + 1 / R3).
    """
    width, middle = upper - lower, (upper + lower) / 2
    rest = (swing[0] + swing[1]) / 2
    """Of the output: 0 between two supplies, half of a single one."""
    for r3 in values_between(*_FEEDBACK_OHM, "E24"):
        total = (swing[1] - swing[0]) / width / r3  # all three conductances
        held = middle * total - rest / r3  # by R2
        pull = math.copysign(supply, held)
        wanted = {"R1": total - 1 / r3}
        if held:
            wanted["R2"] = held / pull
            wanted["R1"] -= wanted["R2"]
        if min(wanted.values()) < 1 / _OHM[1] or max(wanted.values()) > 1 / _OHM[0]:
            continue
        for values in product(*(neighbours(1 / each, "E96") for each in wanted.values())):
            parts = dict(zip(wanted, values, strict=True))
            held = pull / parts["R2"] if "R2" in parts else 0.0
            load = sum(1 / each for each in values) + 1 / r3
            low, high = ((held + level / r3) / load for level in swing)
            errors = (
                abs(high - upper) / max(abs(upper), width),
                abs(low - lower) / max(abs(lower), width),
                abs(high - low - width) / width,
            )
            yield max(errors), {**parts, "R3": r3}
