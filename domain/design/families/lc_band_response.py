"""What is measured of LC band-pass and band-stop ladders: the band, its ripple, the stop band at either side.

At a frequency f the low-pass prototype is at |f/f0 - f0/f| f0/bandwidth, of a band-stop at the inverse.
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.design import kit
from domain.design.families import resonance_rows as resonance
from domain.design.kit import around, spice
from domain.design.prototypes import attenuation_db, prototype, ripple_edge
from shared.message import Message, msg

RIPPLE_MARGIN = 0.65
"""Chebyshev ladders are sized for this part of the ripple, so that real parts keep it."""
_PROOF = 2.0
"""Bandwidths apart (of a band-stop half a one): there the attenuation shows the order."""
_SLACK_DB = 1.5


def edge(request: kit.Request, ripple: float = 1.0) -> float:
    """End of the ripple, `ripple` times the usual one, over the -3 dB frequency of the prototype."""
    if request["response"] == "butterworth" or request["order"] < 3:
        return 1.0
    return ripple_edge(int(request["order"]), ripple * RIPPLE_MARGIN * request["loss_db"])


def _beside(request: kit.Request, ratio: float, side: int) -> float:
    """The frequency (Hz) below (-1) or above (1) the center where the prototype is at `ratio`."""
    relative = 1 / request["quality"]
    apart = ratio * relative if request["kind"] == "band_pass" else relative / ratio
    return float(request["center_hz"] * (side * apart / 2 + math.sqrt(1 + apart**2 / 4)))


def _attenuation(metric: str, label: Message, side: int) -> kit.GoalRow:
    def bounds(request: kit.Request) -> kit.Bounds:
        made = prototype(request["response"], int(request["order"]), RIPPLE_MARGIN * request["loss_db"])
        return kit.Bounds(
            maximum=-round(attenuation_db(made, _PROOF / (1 + request["tolerance"])) - _SLACK_DB, 1)
        )

    return kit.GoalRow(
        metric=metric, label=label, unit="dB", is_corrected=False, bounds=bounds,
        expression=lambda request: f"db(gain(v(out),{spice(_beside(request, _PROOF, side))})/peak(v(out)))",
    )  # fmt: skip


def _loss(request: kit.Request) -> str:
    """The least gain of the pass band over the greatest; of a band-stop that of the lower pass band."""
    inside = 0.9 * edge(request) if request["response"] == "chebyshev" else 0.5
    low, high = _beside(request, inside, -1), _beside(request, inside, 1)
    if request["kind"] == "band_stop":
        low, high = low / 10, low
    return f"db(min(v(out),{spice(low)},{spice(high)})/peak(v(out)))"


def _width(request: kit.Request) -> str:
    sign = 1 if request["kind"] == "band_pass" else -1
    one, two = ("highcut", "lowcut")[::sign]
    return f"sqrt(lowcut(v(out))*highcut(v(out)))/({one}(v(out))-{two}(v(out)))"


GOALS = (
    replace(resonance.CENTER_GOAL, bounds=lambda request: around(
        request["center_hz"], max(0.005, request["tolerance"] / request["quality"]))),
    replace(resonance.QUALITY_GOAL, label=msg("Center over bandwidth"), expression=_width),
    kit.GoalRow(
        metric="passband_loss", label=msg("Passband loss"), unit="dB", quantity="loss_db", expression=_loss,
        bounds=lambda request: kit.Bounds(minimum=-request["loss_db"]),
    ),
    _attenuation("attenuation_below", msg("Attenuation below"), -1),
    _attenuation("attenuation_above", msg("Attenuation above"), 1),
)  # fmt: skip
