"""Where measured quantities stand on the curves, and what they are when a point is moved."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from domain.simulation.expressions import evaluate
from domain.simulation.waveform import Plot, Vector
from presentation.panels.waveforms.pull_points import PullPoint, Quantity, pull_points
from presentation.panels.waveforms.traces import Manner, axis_of, make_trace

ComplexArray = NDArray[np.complex128]
FREQUENCIES = np.logspace(1, 6, 501)
CORNER = 1000.0


def _response(values: ComplexArray) -> Plot:
    axis = Vector(name="frequency", unit="Hz", data=FREQUENCIES.astype(complex))
    out = Vector(name="v(out)", unit="V", data=values)
    return Plot(
        title="", name="AC Analysis", analysis="ac",
        vectors={"frequency": axis, "v(out)": out}, axis_name="frequency",
    )  # fmt: skip


def _points(plot: Plot, *measured: tuple[str, float, str], manner: Manner | None = None) -> list[PullPoint]:
    axis = axis_of(plot) if manner is None else axis_of(plot, manner)
    assert axis is not None
    traces = [make_trace("v(out)", plot, axis, 2)]
    quantities = [
        Quantity(name=text, expression=text, value=value, unit=unit) for text, value, unit in measured
    ]
    return list(pull_points(plot, axis, traces, quantities))


LOW_PASS = _response(10 / (1 + 1j * FREQUENCIES / CORNER))


def test_a_corner_stands_on_its_curve_and_goes_along_the_axis() -> None:
    (corner,) = _points(LOW_PASS, ("bandwidth(v(out))", CORNER, "Hz"))
    assert (corner.direction, corner.color) == ("across", 2)
    assert corner.at == pytest.approx(3.0, abs=1e-4)
    assert corner.level == pytest.approx(20 - 3.0103, abs=0.01)
    assert corner.value_at(4.0) == pytest.approx(10e3, rel=1e-4)
    assert corner.coordinate_of(10e3) == pytest.approx(4.0, abs=1e-4)
    assert math.isnan(corner.coordinate_of(-1.0))


def test_a_gain_goes_up_and_down_whether_it_is_measured_in_decibels_or_not() -> None:
    in_db, plain = _points(
        LOW_PASS, ("db(gain(v(out),1k))", 20 - 3.0103, "dB"), ("mag(at(v(out),1k))", 10 / math.sqrt(2), "V")
    )
    for point in (in_db, plain):
        assert point.direction == "upward"
        assert (point.at, point.level) == (pytest.approx(3.0), pytest.approx(16.9897, abs=1e-3))
    assert in_db.value_at(20.0) == pytest.approx(20.0, abs=1e-3)
    assert plain.value_at(20.0) == pytest.approx(10.0, rel=1e-3)
    assert plain.coordinate_of(1.0) == pytest.approx(0.0, abs=0.01)
    linear = Manner(scales={"gain": "linear"})
    (as_drawn,) = _points(LOW_PASS, ("mag(at(v(out),1k))", 10 / math.sqrt(2), "V"), manner=linear)
    assert as_drawn.value_at(5.0) == pytest.approx(5.0, rel=1e-3)


def test_a_peak_stands_where_it_is_and_a_band_is_moved_at_its_upper_end() -> None:
    ratio = 1j * FREQUENCIES / CORNER
    band = _response(ratio / (1 + ratio / 5 + ratio**2))
    peak, width = _points(
        band, ("db(max(mag(v(out))))", 20 * math.log10(5), "dB"), ("bandwidth(v(out))", 200.0, "Hz")
    )
    assert peak.at == pytest.approx(3.0, abs=0.006)
    assert peak.value_at(10.0) == pytest.approx(10.0, abs=0.01)
    upper = 1000 * (0.1 + math.sqrt(1.01))
    assert 10**width.at == pytest.approx(upper, rel=1e-3)
    assert width.value_at(math.log10(upper + 50)) == pytest.approx(250, abs=1)


def test_what_looks_at_a_span_stands_in_it() -> None:
    texts = ("db(min(mag(v(out)),10,1k))", "db(avg(mag(v(out)),10,10k))", "db(min(mag(v(out))))")
    measured = [(text, float(evaluate(text, [LOW_PASS]).value), "dB") for text in texts]
    early, mean, whole = _points(LOW_PASS, *measured)
    assert (early.at, mean.at, whole.at) == (pytest.approx(3.0), pytest.approx(4.0), pytest.approx(6.0))


def test_the_end_of_a_phase_margin_is_moved() -> None:
    loop = _response(1000 / ((1 + 1j * FREQUENCIES / 100) * (1 + 1j * FREQUENCIES / 1e5)))
    (margin,) = _points(loop, ("phase_margin(v(out))", 51.8, "deg"))
    assert margin.pane.unit == "deg"
    assert margin.level == pytest.approx(-128.2, abs=0.3)
    assert margin.value_at(margin.level + 8) == pytest.approx(59.8, abs=0.01)


def test_what_stands_nowhere_is_not_offered() -> None:
    assert not _points(
        LOW_PASS,
        ("noise_total(v(out))", 1.0, "V"),
        ("bandwidth(v(other))", CORNER, "Hz"),
        ("bandwidth(v(out))", math.nan, "Hz"),
        ("avg(v(out))", 4.44, "V"),  # of the transient analysis beside this one
        ("mag(at(v(out),100meg))", 1.0, "V"),
        ("))", 1.0, "V"),
    )
