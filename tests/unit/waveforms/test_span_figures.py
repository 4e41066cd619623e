"""The values of the shown part of a trace, and that a measurement gives the same."""

import numpy as np
import pytest

from domain.simulation.expressions import evaluate
from domain.simulation.waveform import Plot, Vector
from presentation.panels.waveforms.span_figures import span_figures


def _plot(analysis: str, axis: str, unit: str, x: np.ndarray, y: np.ndarray) -> Plot:
    vectors = {axis: Vector(name=axis, unit=unit, data=x), "v(out)": Vector(name="v(out)", unit="V", data=y)}
    return Plot(analysis=analysis, name="", title="", vectors=vectors, axis_name=axis)


def test_a_sine_with_an_offset_over_whole_periods() -> None:
    time = np.linspace(0.0, 10e-3, 10_001)
    plot = _plot("tran", "time", "s", time, 1.0 + 2.0 * np.sin(2e3 * np.pi * time))
    found = {str(each.name): each for each in span_figures("v(out)", [plot], 1e-3, 5e-3, is_whole=False)}
    expected = {"Mean": 1.0, "RMS": 3**0.5, "Minimum": -1.0, "Maximum": 3.0, "Peak to peak": 4.0}
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, abs=1e-4)
        measured = evaluate(found[name].expression.format(x="v(out)"), [plot])
        assert measured.value == pytest.approx(found[name].value)
    assert (found["Integral"].value, found["Integral"].unit) == (pytest.approx(4e-3, rel=1e-4), "V*s")
    assert found["Frequency"].value == pytest.approx(1e3, rel=1e-4)
    assert found["Duty cycle"].value == pytest.approx(50.0, abs=0.2)
    assert found["Frequency"].expression == "", "frequency() takes no window"
    whole = {str(each.name): each for each in span_figures("v(out)", [plot], 0.0, 1.0, is_whole=True)}
    assert whole["RMS"].expression == "rms({x})"


def test_a_gain_is_told_in_decibels() -> None:
    frequency = np.logspace(1, 6, 101)
    plot = _plot("ac", "frequency", "Hz", frequency, 1 / (1 + 1j * frequency / 1e3))
    found = {str(each.name): each for each in span_figures("v(out)", [plot], 10.0, 1e6, is_whole=True)}
    assert found["Maximum"].value == pytest.approx(0.0, abs=1e-3)
    assert found["Minimum"].value == pytest.approx(-60.0, abs=1e-3)
    assert evaluate(found["Minimum"].expression.format(x="v(out)"), [plot]).value == pytest.approx(
        -60.0, abs=0.01
    )
    assert set(found) == {"Minimum", "Maximum", "Peak to peak"}
