"""The resistors of a comparator with hysteresis between two supplies.

Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 18.4; Texas Instruments, "Op Amps for
Everyone", SLOD006B, appendix A (superposition at a node held by resistors).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from domain.circuit.preferred_values import neighbours, values_between

_FEEDBACK_OHM = (68e3, 2.2e6)
_OHM = (1e3, 10e6)


def ways(upper: float, lower: float, supply: float, swing: float) -> Iterator[tuple[float, dict[str, float]]]:
    """(relative error of what is worst, resistors) of preferred values around the exact ones.

    R1 from the positive supply `supply` (V) and R2 from the negative one hold the + input, or R1 to ground
    when the thresholds lie around 0 V; R3 from an output that swings to +-`swing` moves it:
    v+ = (Vs / R1 - Vs / R2 + vo / R3) / (1 / R1 + 1 / R2 + 1 / R3).
    """
    width = upper - lower
    share, middle = width / 2 / swing, (upper + lower) / 2 / supply
    for r3 in values_between(*_FEEDBACK_OHM, "E24"):
        total = 1 / r3 / share  # all three conductances
        held = total - 1 / r3
        if middle == 0:
            wanted = {"R1": held}
        else:
            wanted = {"R1": (held + middle * total) / 2, "R2": (held - middle * total) / 2}
        if min(wanted.values()) < 1 / _OHM[1] or max(wanted.values()) > 1 / _OHM[0]:
            continue
        for values in product(*(neighbours(1 / each, "E96") for each in wanted.values())):
            parts = dict(zip(wanted, values, strict=True))
            pull = supply / parts["R1"] - supply / parts["R2"] if middle else 0.0
            load = sum(1 / each for each in values) + 1 / r3
            high, low = ((pull + side * swing / r3) / load for side in (1, -1))
            errors = (
                abs(high - upper) / max(abs(upper), width),
                abs(low - lower) / max(abs(lower), width),
                abs(high - low - width) / width,
            )
            yield max(errors), {**parts, "R3": r3}
