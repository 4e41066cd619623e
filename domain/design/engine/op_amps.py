"""What sizing needs to know of the op-amps of the model library, by the data sheets their files name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OpAmpPart:
    """Figures of one op-amp, SI units; voltages are distances from the supply named."""

    gbw_hz: float
    supplies_v: tuple[float, float]
    """Least and greatest voltage between the two supply pins."""
    output_low_v: float
    """How near to the lower supply the output comes, with a light load."""
    output_high_v: float
    """How near to the upper one."""
    input_low_v: float
    """How near to the lower supply the inputs may come; 0 where they may reach it."""
    input_high_v: float


def _part(
    gbw_hz: float, supplies: tuple[float, float], output: tuple[float, float], inputs: tuple[float, float]
) -> OpAmpPart:
    return OpAmpPart(
        gbw_hz=gbw_hz, supplies_v=supplies, output_low_v=output[0], output_high_v=output[1],
        input_low_v=inputs[0], input_high_v=inputs[1],
    )  # fmt: skip


_TL07X = _part(3e6, (7, 36), (1.5, 1.5), (3, 0))
OP_AMPS = {
    "LM358": _part(0.7e6, (3, 32), (0.02, 1.5), (0, 1.5)),
    "LM324": _part(1.2e6, (3, 32), (0.02, 1.5), (0, 1.5)),
    "TL071": _TL07X,
    "TL072": _TL07X,
    "TL074": _TL07X,
    "TL081": _TL07X,
    "TL082": _TL07X,
    "NE5532": _part(10e6, (6, 40), (2, 2), (2, 2)),
    "OPA2134": _part(8e6, (5, 36), (0.5, 1.2), (2.5, 2.5)),
    "OP07": _part(0.6e6, (6, 36), (2, 2), (1.5, 1.5)),
    "LM741": _part(1e6, (10, 36), (1, 1), (2, 2)),
    "MCP6002": _part(1e6, (1.8, 6), (0.03, 0.03), (0, 0)),
    "LMV358": _part(1e6, (2.7, 5.5), (0.07, 0.02), (0, 0.8)),
    "AD8605": _part(10e6, (2.7, 5.5), (0.02, 0.02), (0, 0)),
}
"""By the name of the part. Every figure of the output and the bandwidth is held against the model by test."""
RAIL_TO_RAIL = _part(0.0, (1.8, 80), (0.1, 0.1), (0, 0))
"""The macro model on a single supply; its bandwidth is chosen."""
