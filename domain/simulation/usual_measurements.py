"""What is measured of a circuit of which nobody asked anything: the usual figures of its analyses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.simulation.frequency_response import ResponseKind, ends_flat, kind_of
from domain.simulation.output_names import outputs_of
from domain.simulation.signals import Signal
from domain.simulation.waveform import Plot

_OF_RESPONSE: Mapping[ResponseKind, tuple[str, ...]] = {
    "band-pass": ("db(peak({out}))", "bandwidth({out})"),
    "high-pass": ("db(peak({out}))", "lowcut({out})"),
    "band-stop": ("db(peak({out}))", "db(min(ac.{out}))"),
}
"""Of a response without a gain at low frequencies, such as an amplifier's with coupling capacitors, and of a
notch: where its sweep begins it is not flat, and no gain at 0 Hz."""
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


def usual_measurements(plots: Sequence[Plot]) -> list[str]:
    """What is asked of most circuits with these analyses."""
    found: list[str] = []
    for plot in plots:
        output = next(iter(outputs_of(plot.vectors)), None)
        usual = _USUAL.get(plot.analysis, ())
        if plot.analysis == "ac" and output is not None:
            usual = _of_response(plot, output) or usual
        for template in usual:
            if output is not None or "{out}" not in template:
                found.append(template.format(out=output))
    return list(dict.fromkeys(found))
