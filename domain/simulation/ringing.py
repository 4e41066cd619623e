"""Whether a waveform alternates from one computed point to the next.

No circuit does that: a simulator takes several points in each period of what it follows. The trapezoidal
rule does, where a current through a capacitance or a voltage across an inductance jumps: its error keeps its
size and changes its sign with every step. What is stored in the part is right all the same.
"""

from __future__ import annotations

import numpy as np

from domain.simulation.waveform import RealArray

_SHARE = 1e-2
"""Of the waveform's greatest value: what is less is not read as anything."""
_LEAST = 1e-9
"""SI: simulators round a nothing."""
_LEAST_STEPS = 16
_ALIKE = 2.0
"""Between one step and the next at most."""


def alternates(values: RealArray) -> bool:
    """Whether many neighbouring points of a waveform over time, in the order they were computed in, lie now
    above and now below, each about as far."""
    known = values[np.isfinite(values)]
    steps = np.diff(known / 2)  # half of it: the step of two greatest numbers is a number too
    if len(steps) <= _LEAST_STEPS:
        return False
    former, later = np.abs(steps[:-1]), np.abs(steps[1:])
    is_seen = np.minimum(former, later) > max(_SHARE * float(np.abs(known).max()), _LEAST) / 2
    is_alike = np.maximum(former, later) / _ALIKE < np.minimum(former, later)
    turns = (np.sign(steps[1:]) != np.sign(steps[:-1])) & is_seen & is_alike
    ends = np.diff(np.concatenate(([False], turns, [False])).astype(np.int8))
    lengths = np.flatnonzero(ends < 0) - np.flatnonzero(ends > 0)
    return bool(len(lengths)) and int(lengths.max()) >= _LEAST_STEPS
