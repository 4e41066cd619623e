"""Which curves, panes, colours and readings come of which plots."""

from dataclasses import replace

import numpy as np
import pytest

from domain.simulation.expressions import evaluate
from domain.simulation.usual_measurements import usual_measurements
from domain.simulation.waveform import Plot, Step, Vector
from presentation.panels.iterations_plot import _from_zero, _lie_apart
from presentation.panels.waveforms.results_view import example_of
from presentation.panels.waveforms.traces import (
    PaneKind,
    TraceColors,
    axis_of,
    bounds_of,
    default_expressions,
    make_trace,
    panes_of,
    readout,
    suggestions,
    table_of,
)


def _plot(analysis, axis, **vectors):
    found = {}
    if axis is not None:
        name, unit, data = axis
        found[name] = Vector(name=name, unit=unit, data=np.asarray(data, dtype=float))
    for key, (unit, data) in vectors.items():
        name = key.replace("__", "(").rstrip("_") + (")" if "__" in key else "")
        found[name] = Vector(name=name, unit=unit, data=np.asarray(data))
    return Plot(analysis=analysis, name="", title="", vectors=found, axis_name=axis[0] if axis else None)


@pytest.fixture
def ac():
    f = np.logspace(1, 6, 101)
    response = 1 / (1 + 1j * f / 1e3)
    return _plot("ac", ("frequency", "Hz", f), v__out=("V", response), v__in=("V", np.ones(101, complex)))


def test_a_complex_expression_is_gain_above_phase(ac):
    axis = axis_of(ac)
    trace = make_trace("v(out)/v(in)", ac, axis, 0)
    assert [curve.pane for curve in trace.curves] == [PaneKind("dB"), PaneKind("deg")]
    assert axis.is_log
    at_corner = int(np.argmin(abs(axis.values - 1e3)))
    gain, phase = (curve.values[at_corner] for curve in trace.curves)
    assert gain == pytest.approx(-3.0103, abs=1e-3)
    assert phase == pytest.approx(-45.0, abs=1e-3)


def test_a_written_gain_or_phase_goes_into_its_pane_alone(ac):
    axis = axis_of(ac)
    traces = [make_trace("ph(v(out))", ac, axis, 0), make_trace("db(v(out))", ac, axis, 1)]
    assert panes_of(traces) == [PaneKind("dB"), PaneKind("deg")]


def test_what_inverts_begins_at_the_same_phase_in_all_runs():
    f = np.logspace(1, 6, 101)
    late, early = (
        _plot("ac", ("frequency", "Hz", f), v__out=("V", -np.ones(101) * np.exp(1j * angle)))
        for angle in (-0.02, 0.02)
    )
    axis = axis_of(late)
    shown = make_trace("v(out)", late, axis, 0)
    alone, beside = (
        make_trace("v(out)", early, axis, 0, is_ghost=True, beside=each).curves[1].values[0]
        for each in (None, shown)
    )
    assert shown.curves[1].values[0] == pytest.approx(178.85, abs=0.01)
    assert (alone, beside) == pytest.approx((-178.85, 181.15), abs=0.01)


def test_an_impossible_expression_says_why_and_draws_nothing(ac):
    trace = make_trace("v(nowhere)", ac, axis_of(ac), 0)
    assert trace.curves == ()
    assert "v(nowhere)" in str(trace.error)


def test_volts_and_amperes_have_panes_of_their_own():
    t = np.linspace(0, 1e-3, 50)
    plot = _plot("tran", ("time", "s", t), v__out=("V", t), i__v1=("A", -t))
    axis = axis_of(plot)
    assert not axis.is_log
    traces = [make_trace(text, plot, axis, 0) for text in ("v(out)", "i(v1)", "v(out)*i(v1)")]
    assert [pane.unit for pane in panes_of(traces)] == ["V", "A", "W"]


def test_noise_is_drawn_on_two_logarithmic_axes():
    f = np.logspace(0, 5, 51)
    plot = _plot("noise", ("frequency", "Hz", f), onoise_spectrum=("V/sqrt(Hz)", 1e-8 / np.sqrt(f)))
    assert default_expressions(plot) == ["onoise_spectrum"]
    (curve,) = make_trace("onoise_spectrum", plot, axis_of(plot), 0).curves
    assert curve.pane == PaneKind("V/sqrt(Hz)", is_log=True)
    assert bounds_of([curve]) == pytest.approx((-10.5, -8.0))


def test_an_operating_point_is_a_table_without_an_axis():
    plot = _plot("op", None, v__out=("V", [2.5]), i__v1=("A", [-1e-3]))
    assert axis_of(plot) is None
    assert table_of(plot) == [("v(out)", 2.5 + 0j, "V"), ("i(v1)", -1e-3 + 0j, "A")]


def test_zero_gain_is_a_gap_not_an_error():
    f = np.logspace(0, 2, 3)
    plot = _plot("ac", ("frequency", "Hz", f), v__out=("V", np.array([1, 0, 1], complex)))
    gain = make_trace("v(out)", plot, axis_of(plot), 0).curves[0]
    assert np.isnan(gain.stretches[0].y[1])
    assert bounds_of([gain]) == (0.0, 0.0)


def test_a_frequency_of_zero_has_no_place_on_a_logarithmic_axis():
    plot = _plot("ac", ("frequency", "Hz", [0.0, 1, 10, 100]), v__out=("V", np.ones(4, complex)))
    axis = axis_of(plot)
    curve = make_trace("v(out)", plot, axis, 0).curves[0]
    assert list(curve.stretches[0].x) == [0.0, 1.0, 2.0]
    assert axis.nearest(-5.0) == 1
    assert axis.stepped(1, -1) == 1


def test_nested_sweeps_are_lines_of_their_own():
    sweep = np.tile(np.linspace(0, 1, 11), 3)
    plot = _plot("dc", ("v-sweep", "V", sweep), v__out=("V", np.arange(33.0)))
    axis = axis_of(plot)
    (curve,) = make_trace("v(out)", plot, axis, 0).curves
    assert [len(stretch.x) for stretch in curve.stretches] == [11, 11, 11]
    assert axis.nearest(0.5) == 5


def test_a_falling_sweep_is_read_the_right_way_round():
    plot = _plot("dc", ("v-sweep", "V", [3.0, 2.0, 1.0, 0.0]), v__out=("V", [30.0, 20.0, 10.0, 0.0]))
    axis = axis_of(plot)
    (curve,) = make_trace("v(out)", plot, axis, 0).curves
    assert list(curve.stretches[0].x) == [0.0, 1.0, 2.0, 3.0]
    assert axis.stepped(axis.nearest(1.0), 1) == 1  # to the right is 2 V
    assert axis.stepped(0, 1) == 0


def test_a_gain_at_low_frequencies_is_asked_of_what_has_one(ac):
    f = ac.axis.data
    assert usual_measurements([ac]) == ["db(dcgain(v(out)))", "bandwidth(v(out))"]
    unnamed = _plot(
        "ac",
        ("frequency", "Hz", f),
        v__n001=("V", np.ones(101, complex)),
        v__n002=("V", ac.vectors["v(out)"].data),
    )
    assert usual_measurements([unnamed], default_expressions)[1] == "bandwidth(v(n002))"  # not of the source
    second = _plot("tran", ("time", "s", [0.0, 1.0]), v__in=("V", [0.0, 1.0]), v__out2=("V", [0.0, 1.0]))
    assert usual_measurements([second])[0] == "max(tran.v(out2))", "what is drawn as the output is measured"
    high = 1 / (1 - 1j * 1e3 / f)
    coupled = _plot("ac", ("frequency", "Hz", f), v__out=("V", high))
    assert usual_measurements([coupled]) == ["db(peak(v(out)))", "lowcut(v(out))"]
    falling = _plot("ac", ("frequency", "Hz", f), v__out=("V", high / (1 + 1j * f / 2e6)))
    assert usual_measurements([falling]) == ["db(peak(v(out)))"]  # of what passes the sweep shows no end
    amplifier = _plot("ac", ("frequency", "Hz", f), v__out=("V", 100 * high / (1 + 1j * f / 1e5)))
    assert usual_measurements([amplifier]) == ["db(peak(v(out)))", "bandwidth(v(out))"]
    u = f / f[len(f) // 2]
    notch = _plot("ac", ("frequency", "Hz", f), v__out=("V", (1 - u * u) / (1 - u * u + 4j * u)))
    assert usual_measurements([notch]) == ["db(peak(v(out)))", "db(min(ac.v(out)))"]


def test_of_a_wave_its_settled_size_and_its_frequency_are_asked_of_a_supply_its_mean(ac):
    t = np.linspace(0, 5e-3, 2001)
    wave = np.sin(2e3 * np.pi * t) + 0.5 * np.exp(-t / 2e-4)
    tran = _plot("tran", ("time", "s", t), v__out=("V", wave))
    usual = usual_measurements([tran])
    assert usual == ["pp(v(out),4m)", "rms(v(out),4m)", "frequency(v(out))"]
    found = [evaluate(text, [tran]).value for text in usual]
    assert found == pytest.approx([2.0, 0.7071, 1000.0], rel=1e-3)
    assert usual_measurements([ac, tran])[2] == usual[0].replace("v(out)", "tran.v(out)")
    supply = _plot("tran", ("time", "s", t), v__vdc=("V", 5 + 0.01 * wave))
    assert usual_measurements([supply]) == []
    usual = usual_measurements([supply], default_expressions)
    assert usual == ["avg(v(vdc),4m)", "pp(v(vdc),4m)", "max(v(vdc))"], "of what is drawn first"
    assert evaluate(usual[0], [supply]).value == pytest.approx(5.0, abs=1e-4)
    tank = _plot("tran", ("time", "s", t), v__b=("V", wave), v__c=("V", 2 * wave), v__e=("V", wave / 10))
    assert usual_measurements([tank], default_expressions)[0] == "pp(v(c),4m)", "not what hardly moves"
    slow, fast = (
        _plot("tran", ("time", "s", t), v__out=("V", np.sin(2e3 * f * np.pi * t))) for f in (1, 1.5)
    )
    family = [
        replace(each, step=Step(number=number, count=2)) for number, each in enumerate((slow, fast), start=1)
    ]
    assert len(usual_measurements(family)) == 3, "all runs are measured as the first"
    ringing = np.exp(-t / 1e-3) * np.cos(4e3 * np.pi * t)
    regulator = _plot("tran", ("time", "s", t), v__out=("V", 5 - 5 * ringing))
    assert usual_measurements([regulator])[:2] == ["avg(v(out),4.5m)", "pp(v(out),4.5m)"], "its end"
    step = _plot("tran", ("time", "s", t), v__out=("V", 1 - np.exp(-t / 1e-3)))
    assert usual_measurements([step])[0] == "max(tran.v(out))"


def test_what_may_be_measured_is_shown_by_an_example_that_has_an_answer(ac):
    t = np.linspace(0, 1, 3)
    tran = _plot("tran", ("time", "s", t), v__n001=("V", t), v__q=("V", t))
    assert [example_of(plots) for plots in ((), [ac], [tran])] == [
        "bandwidth(v(out))",
        "bandwidth(v(out))",
        "rms(v(q))",
    ]
    helpers = {"v__c1#rser": ("V", t), "v__x1.a": ("V", t)}  # of an imported circuit, and within a part
    assert example_of([_plot("tran", ("time", "s", t), **helpers, v__n001=("V", t))]) == "rms(v(n001))"


def test_cursors_read_the_samples_they_stand_on(ac):
    axis = axis_of(ac)
    trace = make_trace("v(out)", ac, axis, 3)
    a, b = axis.nearest(3.0), axis.nearest(4.0)
    frequency, gain, phase = readout(axis, [trace], a, b)
    assert (frequency.a, frequency.b) == pytest.approx((1e3, 1e4))
    assert gain.b - gain.a == pytest.approx(-17.033, abs=1e-2)
    assert phase.color == 3


def test_cursor_steps_end_at_the_ends(ac):
    axis = axis_of(ac)
    assert axis.stepped(0, -1) == 0
    assert axis.stepped(0, 10) == 10
    assert axis.stepped(95, 10) == 100


def test_the_output_is_shown_first_and_supplies_are_not():
    t = np.linspace(0, 1, 3)
    data = {"v__vdd": ("V", t), "v__in": ("V", t), "v__out": ("V", t), "v__mid": ("V", t)}
    assert default_expressions(_plot("tran", ("time", "s", t), **data)) == ["v(in)", "v(out)"]
    supplied = data | {"v__in": ("V", np.full(3, 24.0))}  # a converter's input would press the ripple flat
    assert default_expressions(_plot("tran", ("time", "s", t), **supplied)) == ["v(out)"]
    del data["v__out"]
    assert default_expressions(_plot("tran", ("time", "s", t), **data)) == ["v(mid)"]
    drawn = {"v__n001": ("V", t), "v__voutput": ("V", t), "v__n002": ("V", t)}  # as LTspice names nodes
    assert default_expressions(_plot("dc", ("v-sweep", "V", t), **drawn)) == ["v(voutput)"]
    drawn["v__p001"] = drawn["v__signal_out"] = ("V", t)
    assert default_expressions(_plot("dc", ("v-sweep", "V", t), **drawn)) == ["v(voutput)", "v(signal_out)"]
    del drawn["v__signal_out"]
    drawn["v__gate"] = drawn.pop("v__voutput")
    assert default_expressions(_plot("dc", ("v-sweep", "V", t), **drawn))[0] == "v(gate)"
    still = ("V", np.full(3, 15.0))
    supplies = {"v__+15v": still, "v__vref": still, "v__n001": ("V", t), "v__q": ("V", t)}
    supplied = supplies | {"v__n002": ("V", t)}
    chosen = ["v(+15v)", "v(q)", "v(n001)", "v(n002)"]
    assert default_expressions(_plot("tran", ("time", "s", t), **supplied)) == chosen
    assert "v(+15v)" not in default_expressions(_plot("tran", ("time", "s", t), **supplied, v__r=("V", t)))
    for name in ("vo", "vo2", "uout", "sout", "vo+"):
        assert default_expressions(
            _plot("tran", ("time", "s", t), **supplies, **{f"v__{name}": ("V", t)})
        ) == [f"v({name})"]


def test_suggestions_hold_every_vector_and_the_transfer_first(ac):
    found = suggestions(ac)
    assert found[0] == "v(out)/v(in)"
    assert {"v(out)", "v(in)", "db(v(out))"} <= set(found)
    assert "frequency" not in found


def test_an_expression_keeps_its_colour_whatever_the_spelling():
    colors = TraceColors()
    assert [colors.of("v(out)"), colors.of("v(in)"), colors.of("V( OUT )"), colors.of("i(v1)")] == [
        0,
        1,
        0,
        2,
    ]
    assert colors.of("v(mid)") == 3
    # The circuits of a project have more nodes than there are whole lines: those of a drawing differ.
    drawn = ["v(ac1)", "v(ac2)", "v(in)", "v(pos)"]
    assert [colors.of(name, drawn) for name in drawn] == [0, 2, 1, 3]
    assert [colors.of(name, drawn) for name in drawn] == [0, 2, 1, 3]
    met = ["v(out)", "v(ac1)"]  # both had the first colour
    assert len({colors.of(name, met) for name in met}) == 2


def test_rounds_measured_at_different_times_share_an_axis_from_zero() -> None:
    def transient(begin: float, length: float) -> Plot:
        time = np.linspace(begin, begin + length, 101)
        made = {
            "time": Vector(name="time", unit="s", data=time),
            "v(out)": Vector(name="v(out)", unit="V", data=np.sin(time * 1e5)),
        }
        return Plot(analysis="tran", name="Transient", title="", vectors=made, axis_name="time")

    axes = [axis_of(transient(4.87e-3, 50e-6)), axis_of(transient(6.17e-3, 45e-6))]
    assert _lie_apart(axes)
    assert not _lie_apart([axis_of(transient(0.0, 1e-3)), axis_of(transient(0.0, 2e-3))])
    for axis in axes:
        moved = _from_zero(axis, 50e-6)
        assert (moved.low, moved.high) == (0.0, 50e-6)
        assert moved.coordinates[0] == 0.0
        trace = make_trace("v(out)", transient(axis.low, axis.high - axis.low), moved, 0)
        assert trace.curves[0].stretches[0].x[0] == 0.0
