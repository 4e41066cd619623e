"""What is measured of a circuit of which nobody asked anything: the usual figures of its analyses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from domain.circuit.numbers import format_number
from domain.simulation.frequency_response import ResponseKind, ends_flat, kind_of
from domain.simulation.output_names import outputs_of
from domain.simulation.signals import Signal
from domain.simulation.time_response import average, period_starts
from domain.simulation.waveform import Plot
from shared.errors import CircuitError

_OF_RESPONSE: Mapping[ResponseKind, tuple[str, ...]] = {
    "band-pass": ("db(peak({out}))", "bandwidth({out})"),
    "high-pass": ("db(peak({out}))", "lowcut({out})"),
    "band-stop": ("db(peak({out}))", "db(min(ac.{out}))"),
}
"""Of a response without a gain at low frequencies, such as an amplifier's with coupling capacitors, and of a
notch: where its sweep begins it is not flat, and no gain at 0 Hz."""
_RINGS = 1.5
"""By which what rings is larger before; a ripple stays as it is."""
_END = 0.1
"""The part of a record that counts as its settled end."""
_AS_MUCH = 0.5
"""Of the largest swing."""
_EVEN = 0.05
"""Of a period, by which those of a wave differ at most."""
_USUAL = {
    "ac": ("db(dcgain({out}))", "bandwidth({out})"),
    "tran": ("max(tran.{out})", "min(tran.{out})", "pp(tran.{out})"),
    "noise": ("noise_total(onoise)",),
}


def _of_response(plot: Plot, output: str) -> tuple[str, ...] | None:
    """What is asked of the output over frequency, by what it is; None for a low-pass, and where that cannot
    be told."""
    if plot.axis is None or len(plot.axis.data) < 3:
        return None
    axis, vector = plot.axis, plot.vectors[output]
    signal = Signal(
        x=axis.data.real, y=vector.data, unit=vector.unit, axis_name=axis.name, axis_unit=axis.unit
    )
    kind = kind_of(signal)
    if kind == "high-pass" and not ends_flat(signal):  # the sweep ends beyond its pass band
        return ("db(peak({out}))",)
    return _OF_RESPONSE.get(kind)


def _of_periods(plot: Plot, output: str, prefix: str) -> tuple[str, ...] | None:
    """What is asked of an output that repeats, over its last whole periods: its extremes would be of its
    start. Of one with a mean larger than its swing, a supply with its ripple, that mean. None where nothing
    repeats."""
    if plot.axis is None or plot.axis.unit != "s" or len(plot.axis.data) < 3:
        return None
    axis, vector = plot.axis, plot.vectors[output]
    signal = Signal(
        x=axis.data.real, y=vector.data, unit=vector.unit, axis_name=axis.name, axis_unit=axis.unit
    )
    if not np.isfinite(signal.real).all() or not (np.diff(signal.x) >= 0).all():  # damaged, or several runs
        return None
    try:
        starts = period_starts(signal)
    except CircuitError:
        return None
    lengths = np.diff(starts)
    if np.ptp(lengths) > _EVEN * lengths.mean():
        return None
    end = float(signal.x[-1])
    start = end - float(starts[-1] - starts[0])
    steady = signal.window(start, end)
    before = signal.window(max(2 * start - end, float(signal.x[0])), start)
    is_wave = abs(average(steady)) <= np.ptp(steady.real)
    if not is_wave and np.ptp(before.real) > _RINGS * np.ptp(steady.real):
        start = end - _END * (end - float(signal.x[0]))
    span = f"{prefix}{output},{format_number(start, 4)}"
    if is_wave:
        return f"pp({span})", f"rms({span})", f"frequency({prefix}{output})"
    return f"avg({span})", f"pp({span})", f"max({prefix}{output})"


def _swing(plot: Plot, name: str) -> float:
    sizes = np.abs(plot.vectors[name].data)
    return float(np.ptp(sizes)) if len(sizes) else 0.0


def _behind(plot: Plot, drawn: Sequence[str]) -> list[str]:
    """Of the drawn nodes those that move as much as any, the last first: it stands behind the input, and what
    moves far less is a bias or a sense voltage."""
    swings = {name: _swing(plot, name) for name in drawn if name.startswith("v(") and name in plot.vectors}
    most = max(swings.values(), default=0.0)
    return [name for name in reversed(swings) if swings[name] >= _AS_MUCH * most]


def _nothing(_plot: Plot) -> Sequence[str]:
    return ()


def usual_measurements(plots: Sequence[Plot], drawn: Callable[[Plot], Sequence[str]] = _nothing) -> list[str]:
    """What is asked of most circuits with these analyses: of the output, and where no node is called so, of
    the last node that is `drawn` of a plot and moves as much as the others."""
    found: list[str] = []
    stepped: set[str] = set()
    for plot in plots:
        if plot.step is not None:  # the runs of a family are measured alike, as its first
            if plot.analysis in stepped:
                continue
            stepped.add(plot.analysis)
        there = outputs_of(plot.vectors) or _behind(plot, drawn(plot))
        # What stands still over the axis is a source, or a supply.
        output = next((each for each in there if _swing(plot, each) > 0), next(iter(there), None))
        usual = _USUAL.get(plot.analysis, ())
        if plot.analysis == "tran" and output is not None:
            usual = _of_periods(plot, output, "tran." if len(plots) > 1 else "") or usual
        if plot.analysis == "ac" and output is not None:
            usual = _of_response(plot, output) or usual
        for template in usual:
            if output is not None or "{out}" not in template:
                found.append(template.format(out=output))
    return list(dict.fromkeys(found))
