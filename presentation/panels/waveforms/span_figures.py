"""What the shown part of a trace comes to: mean, RMS, extremes, integral, frequency, duty. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from domain.circuit.numbers import format_number
from domain.simulation import measurements, time_response, units
from domain.simulation.expressions import evaluate_vector
from domain.simulation.signals import Signal
from domain.simulation.waveform import Plot
from shared.errors import CircuitAIError
from shared.message import Message, msg

_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanFigure:
    """One value of the shown part."""

    name: Message
    value: float
    unit: str
    expression: str = ""
    """What measures it on every run, with "{x}" for the trace; "" where nothing does."""


def span_figures(
    expression: str, plots: Sequence[Plot], low: float, high: float, *, is_whole: bool
) -> list[SpanFigure]:
    """The figures of an expression between two places of its axis (SI); slow.

    `is_whole`: nothing is left out, so that measurements need no window. Raises CircuitAIError where the
    expression has no value.
    """
    signal = evaluate_vector(expression, plots)
    low, high = max(low, float(signal.x.min())), min(high, float(signal.x.max()))
    part = signal if is_whole or high <= low else signal.window(low, high)
    limits = "" if is_whole else f",{format_number(low, _DIGITS)},{format_number(high, _DIGITS)}"
    if np.iscomplexobj(part.y) and part.is_over_frequency:
        return list(_gains(part, limits))
    return list(_figures(part.with_data(part.real, part.unit), limits))


def _gains(part: Signal, limits: str) -> Iterator[SpanFigure]:
    """A gain is told in dB, as it is drawn; its mean over a sweep of frequencies would mean nothing."""
    magnitude = np.abs(part.y)
    if not (magnitude > 0).all():
        return
    low, high = (20 * float(np.log10(each)) for each in (magnitude.min(), magnitude.max()))
    yield SpanFigure(name=msg("Minimum"), value=low, unit="dB", expression=f"db(min({{x}}{limits}))")
    yield SpanFigure(name=msg("Maximum"), value=high, unit="dB", expression=f"db(max({{x}}{limits}))")
    yield SpanFigure(name=msg("Peak to peak"), value=high - low, unit="dB")


def _figures(part: Signal, limits: str) -> Iterator[SpanFigure]:
    windowed: tuple[tuple[Message, str, Callable[[Signal], float]], ...] = (
        (msg("Mean"), "avg", time_response.average),
        (msg("RMS"), "rms", time_response.rms),
        (msg("Minimum"), "min", measurements.smallest),
        (msg("Maximum"), "max", measurements.largest),
        (msg("Peak to peak"), "pp", measurements.peak_to_peak),
    )
    for name, function, compute in windowed:
        text = f"{function}({{x}}{limits})"
        yield SpanFigure(name=name, value=compute(part), unit=part.unit, expression=text)
    if part.axis_unit != "s":
        return
    area = float(np.trapezoid(part.real, part.x))
    yield SpanFigure(name=msg("Integral"), value=area, unit=units.product(part.unit, part.axis_unit))
    periodic: tuple[tuple[Message, str, Callable[[Signal], float], str], ...] = (
        (msg("Frequency"), "frequency", time_response.frequency, "Hz"),
        (msg("Duty cycle"), "duty", time_response.duty, "1"),
    )
    for name, function, compute, unit in periodic:
        try:
            value = compute(part)
        except CircuitAIError:  # it does not repeat here
            continue
        text = "" if limits else f"{function}({{x}})"
        is_share = unit == "1"
        yield SpanFigure(
            name=name,
            value=value * 100 if is_share else value,
            unit="%" if is_share else unit,
            expression=text,
        )
