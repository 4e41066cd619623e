"""What oscillators share: the frequency, the amplitude, and a record of the steady state."""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.kit import around, spice
from domain.design.supplies import default_supply_v, is_single, rails_of
from shared.message import msg

_PERIODS = 20
"""That are kept: `frequency` looks at the second half."""


def frequency_row(within: tuple[float, float], example: float) -> kit.Quantity:
    return kit.Quantity(
        name="frequency_hz", label=msg("frequency"), dimensions=("Hz",), takes_rest=True, within=within,
        example=example, required=True, has_sign=False,
        words=r"frequency|oscillat\w*|(?<![a-z])f_?(?:0|osc)?(?![a-z])|频率|振荡|震荡",
    )  # fmt: skip


FREQUENCY_GOAL = kit.GoalRow(
    metric="frequency", label=msg("Frequency"), unit="Hz", quantity="frequency_hz",
    expression="frequency(v(out))",
)  # fmt: skip
AMPLITUDE = kit.Quantity(
    name="amplitude_v", label=msg("amplitude"), dimensions=("V",), takes_rest=True, has_sign=False,
    is_peak=True,
    words=r"amplitude|peak|swing|output|幅(?:度|值)|振幅|峰值|输出", within=(0.8, 35), example=5,
)  # fmt: skip
AMPLITUDE_GOAL = kit.GoalRow(
    metric="amplitude", label=msg("Amplitude"), unit="V", quantity="amplitude_v",
    expression="0.5*pp(v(out))",
    bounds=lambda request: around(request["amplitude_v"], max(0.1, request["tolerance"])),
)  # fmt: skip

LC_AMPLITUDE_GOAL = kit.GoalRow(
    metric="amplitude", label=msg("Amplitude"), unit="V", is_corrected=False,
    expression="0.5*pp(v(out))",
    bounds=lambda request: kit.Bounds(minimum=0.1 * request["supply_v"]),
)  # fmt: skip
COIL_Q = 60.0


_SATURATION_A, _EMISSION_V = 2.5e-9, 1.75 * 0.02585
"""Of the limiting diodes: IS, and N times kT/q."""
_FUNDAMENTAL = 0.94
"""Of what the diodes carry beside their resistor: by measurement at 1 to 20 V."""


def third_of_supply(request: kit.Request) -> kit.Said:
    """The amplitude, where nobody said it: what the op-amp has room for, at most, on a single supply."""
    if request["amplitude_v"] is not None:
        return kit.Said(values={})
    supply = request["supply_v"] or default_supply_v(request)
    amplitude = supply / 3
    if is_single(request):
        amplitude = min(amplitude, 0.8 * rails_of(request.having(supply_v=supply), "buffer").room_v)
    return kit.Said(values={"amplitude_v": round(max(amplitude, 0.0), 1)})


def diode_drop(current: float) -> float:
    """Fundamental (V) across two limiting diodes and their resistor at a peak current (A)."""
    return _FUNDAMENTAL * _EMISSION_V * math.log(current / _SATURATION_A)


def switch_model() -> str:
    """The card `dswitch` of the limiting diodes."""
    return ".model dswitch D(IS=2.5n N=1.75 RS=0.8 CJO=4p TT=4n)"


DISTORTION = kit.Quantity(
    name="distortion", label=msg("distortion"), dimensions=("%",), limit="at_most", is_told=False,
    words=r"distortion|(?<![a-z])thd(?![a-z])|失真|谐波", within=(1e-5, 0.3), example=0.01, default=0.05,
)  # fmt: skip
DISTORTION_GOAL = kit.GoalRow(
    metric="distortion", label=msg("Distortion"), unit="1", quantity="distortion", is_corrected=False,
    expression="thd(v(out),frequency(v(out)))",  # its own, not the one asked for
)  # fmt: skip


def transient(request: kit.Request, *, settles: float, points: int = 200) -> str:
    """The `.tran` card: `settles` periods pass before the record begins."""
    period = 1 / request["frequency_hz"]
    start, step = settles * period, spice(period / points)
    return f".tran {step} {spice(start + _PERIODS * period)} {spice(start)} {step}"
