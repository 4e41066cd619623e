"""Values at equal steps: round steps, no fewer than the samples, each run of a family to its own end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from domain.simulation.waveform import Plot, Step
from presentation.panels.waveforms.even_steps import at_even_steps
from presentation.panels.waveforms.export import csv_of, even_csv_of
from presentation.panels.waveforms.family import family_of, with_shade
from presentation.panels.waveforms.traces import USUAL, axis_of, make_trace
from tests.unit.simulation.plots import plot

TIMES = np.concatenate(([0.0], np.sort(np.random.default_rng(5).uniform(0, 1e-3, 399)), [1e-3]))


def _wave(stop: float = 1e-3, gain: float = 1.0):
    x = TIMES * stop / 1e-3
    return plot("tran", ("time", x, "s"), {"v(out)": (gain * np.sin(2 * np.pi * 3e3 * x), "V")})


def test_uneven_samples_come_to_round_steps():
    wave = _wave()
    axis = axis_of(wave)
    assert axis is not None
    table = at_even_steps(axis, [make_trace("v(out)", wave, axis, 0)], [], (0.2e-3, 0.8e-3))
    assert table.step == pytest.approx(2e-6)
    assert table.head == ("time [s]", "v(out) [V]")
    time, values = table.columns
    assert (time[0], time[-1]) == pytest.approx((0.2e-3, 0.8e-3))
    np.testing.assert_allclose(np.diff(time), 2e-6, rtol=1e-6)
    np.testing.assert_allclose(values, np.sin(2 * np.pi * 3e3 * time), atol=2e-3)


def test_runs_of_a_family_share_the_grid_and_end_where_they_end():
    wave, short = _wave(), _wave(0.5e-3, 2.0)
    axis, own = axis_of(wave), axis_of(short)
    assert axis is not None
    assert own is not None
    first = replace(make_trace("v(out)", wave, axis, 0), run="r = 1k")
    other = replace(make_trace("v(out)", short, own, 0, is_ghost=True), run="r = 2k")
    older = make_trace("v(out)", short, own, 0, is_ghost=True)
    table = at_even_steps(axis, [first], [other, older], (0.0, 1e-3))
    assert table.head == ("time [s]", "v(out) (r = 1k) [V]", "v(out) (r = 2k) [V]")
    time, _, second = table.columns
    assert np.isnan(second[time > 0.501e-3]).all()
    np.testing.assert_allclose(
        second[time < 0.5e-3], 2 * np.sin(2 * np.pi * 3e3 * time[time < 0.5e-3]), atol=4e-3
    )
    lines = even_csv_of(axis, [first], [other], (0.0, 1e-3)).decode().splitlines()
    assert lines[0] == "time [s],v(out) (r = 1k) [V],v(out) (r = 2k) [V]"
    assert lines[-1].endswith(",")
    assert len(lines) == len(time) + 1


def test_the_values_of_a_family_are_those_of_all_drawn_runs_each_with_its_run():
    def run(number: int, points: int) -> Plot:
        x = np.linspace(0, 1e-3, points)
        made = plot("tran", ("time", x, "s"), {"v(out)": (number * x, "V"), "v(in)": (x, "V")})
        return replace(made, step=Step(number=number, count=3, values={"rload": 1e3 * number}))

    runs = [run(1, 2), run(2, 3), run(3, 4)]
    axis = axis_of(runs[1])
    assert axis is not None
    bare = [make_trace(name, runs[1], axis, 0) for name in ("v(out)", "v(in)")]
    older = make_trace("v(out)", runs[0], axis, 0, is_ghost=True)
    drawn = with_shade(bare, runs[1], runs)
    others = family_of(runs[1], runs, bare, frozenset({3}), USUAL)
    head, *rows = csv_of(axis, drawn, [older, *others]).decode().splitlines()
    assert head == "step,rload,time [s],v(out) [V],v(in) [V]"
    assert rows == [
        "1,1000.0,0.0,0.0,0.0", "1,1000.0,0.001,0.001,0.001",
        "2,2000.0,0.0,0.0,0.0", "2,2000.0,0.0005,0.001,0.0005", "2,2000.0,0.001,0.002,0.001",
    ]  # fmt: skip
    assert csv_of(axis, bare).decode().splitlines()[0] == "time [s],v(out) [V],v(in) [V]"

    # More runs than can be told apart in a drawing are written all the same.
    many = [run(number, 2) for number in range(1, 151)]
    axis, bare = axis_of(many[0]), [make_trace("v(out)", many[0], axis, 0)]
    assert axis is not None
    drawn = with_shade(bare, many[0], many)
    assert len(family_of(many[0], many, bare, frozenset(), USUAL)) < 60
    others = family_of(many[0], many, bare, frozenset({3}), USUAL, is_whole=True)
    _, *rows = csv_of(axis, drawn, others).decode().splitlines()
    assert list(dict.fromkeys(row.split(",")[0] for row in rows)) == [
        str(number) for number in range(1, 151) if number != 3
    ]


def test_frequencies_in_decades_stand_evenly_in_decades():
    frequencies = np.logspace(1, 5, 41)
    response = plot(
        "ac", ("frequency", frequencies, "Hz"), {"v(out)": (1 / (1 + 1j * frequencies / 1e3), "V")}
    )
    axis = axis_of(response)
    assert axis is not None
    table = at_even_steps(axis, [make_trace("v(out)", response, axis, 0)], [], (axis.low, axis.high))
    assert table.step == pytest.approx(0.1)
    assert table.head == ("frequency [Hz]", "v(out) [dB]", "v(out) [deg]")
    np.testing.assert_allclose(table.columns[0], frequencies, rtol=1e-9)
