"""The expression language: what it accepts, what it says when it refuses, which analysis it means."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.simulation.expression_syntax import written_out
from domain.simulation.expressions import evaluate, evaluate_vector
from domain.simulation.measurements import MEASUREMENTS
from domain.simulation.vector_functions import VECTOR_FUNCTIONS
from domain.simulation.waveform import Plot
from shared.errors import CircuitError, UserInputError
from tests.ground.cases import for_each
from tests.unit.simulation.plots import operating_point, plot, response, transient

T = np.linspace(0, 1e-3, 101)
F = np.logspace(0, 6, 61)
OP = plot(
    "op",
    None,
    {
        "v(out)": (np.array([2.0]), "V"),
        "v(in)": (np.array([5.0]), "V"),
        "i(v1)": (np.array([-1e-3]), "A"),
        "@m1[id]": (np.array([1e-4]), "A"),
        "@m1[gm]": (np.array([2e-3]), "S"),
        "@r1[i]": (np.array([3e-3]), "A"),
        "v(x1.net-_r1-pad1_)": (np.array([7.0]), "V"),
        "v(/sheet/out)": (np.array([8.0]), "V"),
    },
)
TRAN = plot(
    "tran",
    ("time", T, "s"),
    {"v(out)": (T * 1e3, "V"), "v(in)": (np.full(101, 5.0), "V"), "i(v1)": (-T, "A")},
)
AC = plot(
    "ac",
    ("frequency", F, "Hz"),
    {"v(out)": (10 / (1 + 1j * F / 1e3), "V"), "v(in)": (np.ones(61, complex), "V")},
)
NOISE = plot(
    "noise",
    ("frequency", F, "Hz"),
    {
        "onoise_spectrum": (np.full(61, 2e-9), "V/sqrt(Hz)"),
        "inoise_spectrum": (np.full(61, 1e-9), "V/sqrt(Hz)"),
    },
)
DC = plot("dc", ("v-sweep", np.linspace(-1, 1, 21), "V"), {"v(out)": (np.linspace(-3, 3, 21), "V")})
ALL = [OP, TRAN, AC, NOISE, DC]


@for_each(
    ("expression", "value", "unit"),
    [
        ("1k", 1e3, "1"),
        ("2.2MEG", 2.2e6, "1"),
        ("1M", 1e-3, "1"),
        ("10uF", 1e-5, "1"),
        ("1e3", 1e3, "1"),
        (".5", 0.5, "1"),
        ("1+2*3", 7, "1"),
        ("(1+2)*3", 9, "1"),
        ("-2^2", -4, "1"),
        ("2**3**2", 512, "1"),
        ("2^-1", 0.5, "1"),
        ("--3", 3, "1"),
        ("1 - -1", 2, "1"),
        ("8/4/2", 1, "1"),
        ("10-4-3", 3, "1"),
        ("2*pi", 2 * math.pi, "1"),
        ("sqrt(16)", 4, "1"),
        ("abs(-3)", 3, "1"),
        ("log10(1000)", 3, "1"),
        ("log(1000)", 3, "1"),
        ("ln(exp(2))", 2, "1"),
        ("sin(pi/2)+cos(0)+tan(0)", 2, "1"),
        ("4*atan(1)", math.pi, "1"),
        ("db(10)", 20, "dB"),
        ("max(2,3)", 3, "1"),
        ("min(2,3)", 2, "1"),
        ("v(out)", 2, "V"),
        ("V( OUT )", 2, "V"),
        ("out", 2, "V"),
        ('"v(out)"', 2, "V"),
        ("v(out,in)", -3, "V"),
        ("v(out,0)", 2, "V"),
        ("v(0,out)", -2, "V"),
        ("v(x1.net-_r1-pad1_)", 7, "V"),
        ("v(/sheet/out)", 8, "V"),
        ("i(v1)", -1e-3, "A"),
        ("v1#branch", -1e-3, "A"),
        ("i(r1)", 3e-3, "A"),
        ("i(m1)", 1e-4, "A"),
        ("id(m1)", 1e-4, "A"),
        ("@m1[gm]", 2e-3, "S"),
        ("@m1[gm]/@m1[id]", 20, "1/V"),
        ("v(in)*i(v1)", -5e-3, "W"),
        ("v(in)/i(v1)", -5e3, "Ohm"),
        ("v(out)/v(in)", 0.4, "1"),
        ("v(out)+1", 3, "V"),
        ("1+v(out)", 3, "V"),
        ("v(out)+i(v1)", 1.999, ""),
        ("v(out)^2/1k", 4e-3, "V^2"),
        ("sqrt(v(in)^2)", 5, "V"),
        ("max(op.v(out))", 2, "V"),
        ("rms(op.v(out)*-1)", 2, "V"),
        ("pp(op.v(out))", 0, "V"),
    ],
)
def test_values_and_units(expression, value, unit):
    found = evaluate(expression, ALL)
    assert found.value == pytest.approx(value, rel=1e-12)
    assert found.unit == unit


@for_each(
    ("expression", "value", "unit"),
    [
        # a value where there is one; time before sweep before frequency; frequency around db, ph, re ...
        ("v(out)", 2, "V"),
        ("max(v(out))", 1, "V"),
        ("dc.v(out)*0+max(dc.v(out))", None, None),
        ("max(dc.v(out))", 3, "V"),
        ("max(ac.v(out))", 10, "V"),
        ("max(ac1.v(out))", 10, "V"),
        ("max(db(v(out)))", 20, "dB"),
        ("max(vdb(out))", 20, "dB"),
        ("max(mag(v(out)))", 10, "V"),
        ("peak(v(out))", 10, "V"),
        ("dcgain(v(out))", 10, "V"),
        ("at(v(out), 0.5m)", 0.5, "V"),
        ("at(v(out), -0.5)", -1.5, "V"),
        ("at(v(out), 1k)", 10 / math.sqrt(2), "V"),
        ("gain(onoise, 10)", 2e-9, "V/sqrt(Hz)"),
        ("noise_total(inoise, 1, 101)", 1e-8, "V"),
        ("max(v(out)) + dcgain(v(out))", 11, "V"),
        ("v(out) + max(v(out))", 3, "V"),
        ("at(v(out), max(v(out))/2k)", 0.5, "V"),
        ("max(integ(v(out)))", 0.5e-3, "V*s"),
        ("max(deriv(v(out)))", 1e3, "V/s"),
        ("at(deriv(v(out)), 0.2m)", 1e3, "V/s"),
        ("cross(v(out), 0.25)", 0.25e-3, "s"),
        ("rms(v(out), 0, 1m)", 1 / math.sqrt(3), "V"),
        ("max(onoise)*sqrt(100)", 2e-8, "V/sqrt(Hz)"),
        ("cross(dc.v(out), 1.5)", 0.5, "V"),
        ("max(v-sweep)", 1, "V"),
        ("max(time)", 1e-3, "s"),
        ("max(frequency)", 1e6, "Hz"),
    ],
)
def test_the_analysis_meant(expression, value, unit):
    if value is None:
        with pytest.raises(UserInputError, match="vector of 21 points"):
            evaluate(expression, ALL)
        return
    found = evaluate(expression, ALL)
    assert found.value == pytest.approx(value, rel=1e-3)
    assert found.unit == unit


def test_the_second_plot_of_an_analysis_can_be_named():
    second = plot("tran", ("time", T, "s"), {"v(out)": (np.full(101, 4.0), "V"), "v(new)": (T, "V")})
    assert evaluate("avg(v(out))", [TRAN, second]).value == pytest.approx(0.5)
    assert evaluate("avg(tran2.v(out))", [TRAN, second]).value == pytest.approx(4)
    assert evaluate("max(v(new)+v(out))", [TRAN, second]).value == pytest.approx(4.001)


@for_each(
    ("expression", "position"),
    [
        ("", 1), ("1+", 3), ("1+*2", 3), ("(1", 3), ("1)", 2), ("v(out", 2), ("max(v(out)", 11),
        ("max(v(out),)", 12), ("1 2", 3), ("2k2", 1), ("@m1", 1), ("@m1[", 1), ("v()", 1), ("v(a,b,c)", 1),
        ("i(a,b,c)", 1), ('"out', 1), ("a $ b", 3),
        ("1%", 2), ("max(v(out)) max(v(out))", 13), ("v(out)=1", 7),
        ("tran.max(v(out))", 1), ("*", 1), ("中文(1)", None), ("(" * 5000, None), ("-" * 5000, None),
        ("2^" * 5000 + "2", None), ("1+" * 6000, None), ("1+" * 4900 + "1", None),
        ("1*" * 4900 + "1", None), ("max(" * 2000, None),
    ],
)  # fmt: skip
def test_syntax_errors_say_where(expression, position):
    with pytest.raises(UserInputError) as caught:
        evaluate(expression, ALL)
    if position is not None:
        assert f"character {position} " in str(caught.value) + " "
    assert caught.value.exit_code == 2


def test_an_unknown_signal_brings_near_names():
    with pytest.raises(UserInputError, match=r"no signal v\(oput\)") as caught:
        evaluate("max(v(oput))", ALL)
    assert "v(out)" in str(caught.value.advice)
    with pytest.raises(UserInputError):
        evaluate("v(ground)", ALL)


def test_an_unknown_function_brings_near_ones():
    with pytest.raises(UserInputError, match="no function bandwith") as caught:
        evaluate("bandwith(v(out))", ALL)
    assert str(caught.value.advice).startswith("Did you mean bandwidth")
    with pytest.raises(UserInputError, match="no function peaking") as caught:
        evaluate("peaking(v(out))", ALL)
    assert str(caught.value.advice) == "Did you mean db(peak(x)/dcgain(x))?"
    with pytest.raises(UserInputError, match="no function foo") as caught:  # near to nothing
        evaluate("foo(v(out))", ALL)
    assert str(caught.value.advice).startswith("Available functions")


@for_each("name", MEASUREMENTS)
def test_a_wrong_number_of_arguments_shows_the_use(name):
    measurement = MEASUREMENTS[name]
    too_many = ",".join(["v(out)"] * measurement.signals + ["1"] * (max(measurement.numbers) + 1))
    with pytest.raises(UserInputError, match=name) as caught:
        evaluate(f"{name}({too_many})", ALL)
    assert measurement.usage in str(caught.value)
    with pytest.raises(UserInputError):
        evaluate(f"{name}()", ALL)


@for_each("name", VECTOR_FUNCTIONS)
def test_vector_functions_take_one_argument(name):
    for arguments in ("", "v(out),1"):
        with pytest.raises(UserInputError, match="arguments"):
            evaluate(f"{name}({arguments})", ALL)


@pytest.mark.parametrize("expression", ["tran.v(out)", "db(v(out))", "deriv(v(out))", "v(out)*2+ac.v(in)"])
def test_a_vector_is_refused_with_advice(expression):
    with pytest.raises(UserInputError) as caught:
        evaluate(expression, [TRAN, AC, OP] if "ac." not in expression else [TRAN, AC])
    assert caught.value.exit_code == 2
    if "vector" in str(caught.value):
        assert "max(" in str(caught.value.advice)


@for_each(
    ("expression", "plots", "words"),
    [
        ("bandwidth(v(out))", [TRAN, OP], "over frequency"),
        ("rise_time(v(out))", [AC], "transient"),
        ("noise_total(v(out))", [OP], "over frequency"),
        ("max(noise.v(out))", [AC], "not in this result"),
        ("max(tran3.v(out))", [TRAN, TRAN], "not in this result"),
        ("max(v(out)+onoise)", ALL, "No single analysis"),
        ("max(tran.v(out)+ac.v(out))", ALL, "No single analysis"),
        ("gain(v(out), v(in))", [AC], "single number"),
        ("bandwidth(5)", ALL, "single value"),
        ("at(op.v(out), 1)", ALL, "single value"),
        ("deriv(op.v(out))", ALL, "single value"),
        ("delay(v(out), 3)", ALL, "single value"),
        ("phase_margin(db(v(out)))", [AC], "complex"),
        ("group_delay(tran.v(out))", ALL, "complex"),
        ("bandwidth(v(out), 0)", [AC], "drop"),
        ("cross(v(out), 1, 0)", [TRAN], "count"),
        ("cross(v(out), 1, 1.5)", [TRAN], "count"),
        ("settling_time(v(out), 2)", [TRAN], "fraction"),
        ("thd(v(out), -1)", [TRAN], "fundamental"),
        ("thd(v(out), 1k, 1)", [TRAN], "harmonics"),
        ("v(out)", [], "no|not"),
        ("1"*11_000, ALL, "longer"),
    ],
)  # fmt: skip
def test_wrong_uses_are_input_errors(expression, plots, words):
    with pytest.raises(UserInputError, match=words):
        evaluate(expression, plots)


@for_each(
    ("expression", "words"),
    [
        ("at(tran.v(out), 2)", "outside the simulated range"),
        ("gain(v(out), 1g)", "1GHz is outside the simulated range 1Hz - 1MegHz"),
        ("bandwidth(v(in))", "0 dB"),
        ("ugf(v(in))", "does not cross 0 dB within 1Hz - 1MegHz"),
        ("lowcut(v(out))", "does not cross"),
        ("gain_margin(v(out))", "-180 deg"),
        ("cross(v(out), 1.5)", "crossed 0 times"),
        ("cross(v(out), 0.5, 2)", "crossed 1 time, not 2"),
        ("rise_time(v(in))", "is constant"),
        ("fall_time(v(out))", "no such edge"),
        ("frequency(v(out))", "no complete period"),
        ("thd(v(out), 100)", "shorter than one period"),
        ("settling_time(v(out),0.01)", "not settled"),
        ("1/0", "finite"),
        ("0/0", "finite"),
        ("log10(0)", "finite"),
        ("exp(1e6)", "finite"),
        ("1e999", "finite"),
        ("max(1/(v(out)-v(out)))", "not a finite number at"),
        ("at(v(out), 1/0)", "not a finite number"),
        ("bandwidth(v(out), 1e9)", "does not cross|computed"),
        ("q(v(out))", "does not cross"),
        ("thd(v(in), 10k)", "no component"),
    ],
)
def test_what_the_data_do_not_show_is_a_circuit_error_with_figures(expression, words):
    with pytest.raises(CircuitError, match=words) as caught:
        evaluate(expression, [TRAN, AC])
    assert caught.value.exit_code == 1


def test_a_failed_analysis_without_points_is_a_circuit_error():
    empty = plot("tran", ("time", np.empty(0), "s"), {"v(out)": (np.empty(0), "V")})
    with pytest.raises(CircuitError, match="no data"):
        evaluate("max(v(out))", [empty])


def test_a_vector_shorter_than_its_axis_is_a_circuit_error():
    short = plot("tran", ("time", T, "s"), {"w": (np.ones(3), "")})
    with pytest.raises(CircuitError, match="3 points"):
        evaluate("max(w)", [short])


def test_a_sweep_of_one_point_is_a_value():
    one = plot("ac", ("frequency", np.array([1e3]), "Hz"), {"v(out)": (np.array([3 - 4j]), "V")})
    assert evaluate("v(out)", [one]).value == pytest.approx(5)
    assert evaluate("gain(v(out), 1k)", [one]).value == pytest.approx(5)
    assert evaluate("db(v(out))", [one]).value == pytest.approx(20 * math.log10(5))
    with pytest.raises(CircuitError):
        evaluate("deriv(v(out))", [one])


def test_complex_results_are_given_by_magnitude():
    assert evaluate("at(v(out), 1k)", [AC]).value == pytest.approx(10 / math.sqrt(2), rel=1e-3)
    assert evaluate("ph(at(v(out), 1k))", [AC]).value == pytest.approx(-45, abs=0.1)
    assert evaluate("re(at(v(out), 1k))", [AC]).value == pytest.approx(5, rel=5e-3)


def test_vectors_for_plotting_prefer_swept_analyses():
    found = evaluate_vector("v(out)*2", ALL)
    assert (found.axis_name, found.axis_unit, found.unit) == ("time", "s", "V")
    assert np.allclose(found.y, T * 2e3)
    assert evaluate_vector("db(v(out)/v(in))", ALL).axis_name == "frequency"
    assert np.allclose(evaluate_vector("group_delay(v(out))", [AC]).y[:5], 1 / (2 * math.pi * 1e3), rtol=1e-3)
    for expression in ("max(v(out))", "3"):
        with pytest.raises(UserInputError, match="single number"):
            evaluate_vector(expression, ALL)


def test_nested_sweeps_are_differentiated_and_integrated_one_by_one():
    x = np.tile(np.linspace(0, 1, 11), 2)
    nested = plot("dc", ("v-sweep", x, "V"), {"v(o)": (np.concatenate((x[:11], 3 * x[:11])), "V")})
    slope = evaluate_vector("deriv(v(o))", [nested]).y
    assert np.allclose(slope, [1.0] * 11 + [3.0] * 11)
    assert evaluate_vector("integ(v(o))", [nested]).y[[10, 11, 21]] == pytest.approx([0.5, 0, 1.5])
    assert evaluate("avg(v(o))", [nested]).value == pytest.approx(1.0)
    assert evaluate("at(v(o), 0.55)", [nested]).value == pytest.approx(0.55)
    assert evaluate("cross(v(o), 0.45, 2)", [nested]).value == pytest.approx(0.15)


def _value_or_nought(expression: str, plots: list[Plot]) -> float:
    """The value, or 0 when a typed error refuses the expression."""
    try:
        return evaluate(expression, plots).value
    except (UserInputError, CircuitError):
        return 0.0


_atoms = st.sampled_from(
    [
        "v(out)",
        "v(in)",
        "i(v1)",
        "1k",
        "0",
        "-1",
        "1e300",
        "pi",
        "onoise",
        "time",
        "v(out,in)",
        "tran.v(out)",
        "x",
    ]
)


def _calls(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    names = st.sampled_from([*MEASUREMENTS, *VECTOR_FUNCTIONS])
    return st.one_of(
        st.tuples(names, st.lists(inner, min_size=0, max_size=3)).map(lambda t: f"{t[0]}({','.join(t[1])})"),
        st.tuples(inner, st.sampled_from("+-*/^"), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
    )


@settings(max_examples=60)
@given(st.recursive(_atoms, _calls, max_leaves=8))
def test_any_well_formed_expression_gives_a_number_or_a_typed_error(expression):
    for plots in (ALL, [TRAN], [AC], [OP], [NOISE], [DC]):
        assert math.isfinite(_value_or_nought(expression, plots))


@given(st.text(alphabet="v(out)max,+-*/^1k. @[]\"'#%é中\n\t", max_size=40) | st.text(max_size=60))
def test_any_text_gives_a_number_or_a_typed_error(expression):
    assert math.isfinite(_value_or_nought(expression, ALL))


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 9))
def test_arithmetic_is_that_of_python(a, b, c):
    expression = f"({a})*{c}-({b})/{c}+({a}-({b}))^2"
    assert evaluate(expression, []).value == pytest.approx(a * c - b / c + (a - b) ** 2)


@settings(max_examples=30)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30),
    st.lists(st.floats(1e-6, 1.0), min_size=30, max_size=30),
)
def test_measurements_of_any_wave_are_numbers_or_typed_errors(values, steps):
    t = np.concatenate(([0.0], np.cumsum(steps[: len(values) - 1])))
    plots = [plot("tran", ("time", t, "s"), {"v(out)": (np.array(values), "V")})]
    complex_values = np.array(values) * np.exp(1j * t)
    plots.append(plot("ac", ("frequency", t, "Hz"), {"v(out)": (complex_values, "V")}))
    for name, measurement in MEASUREMENTS.items():
        subjects = ",".join(["v(out)"] * measurement.signals)
        numbers = ",0.1" * min(measurement.numbers)
        assert math.isfinite(_value_or_nought(f"{name}({subjects}{numbers})", plots)), name


def test_operating_point_beside_other_analyses():
    plots = [operating_point(out=1.5), transient(lambda t: t), response(lambda s: 1 / (1 + s))]
    assert evaluate("v(out)", plots).value == 1.5
    assert evaluate("max(v(out))", plots).value == pytest.approx(1e-3)
    assert evaluate("dcgain(v(out))", plots).value == pytest.approx(1 / math.hypot(1, 2 * math.pi))


@for_each(
    ("text", "meant"),
    [
        ("2*gain", "2*(v(out)/v(in))"),
        ("Gain", "v(out)/v(in)"),
        ('db(gain) - abs("load current")', "db((v(out)/v(in))) - abs((-i(r1)))"),
        ("out^2/v(out)", "v(x)^2/v(out)"),
        ("v(gain)", "v(gain)"),
        ("gain@2", "gain@2"),
    ],
)
def test_names_stand_for_expressions(text: str, meant: str) -> None:
    named = {"gain": "v(out)/v(in)", "out": "v(x)", "load current": "-i(r1)"}
    assert written_out(text, named) == meant


def test_a_record_that_begins_late_is_measured_from_that_time() -> None:
    """ngspice's `.tran 33n 483u 430u` has its first point a part of a step behind 430 us."""
    time = 430e-6 + 1.2e-9 + np.linspace(0, 53e-6, 5001)
    late = [plot("tran", ("time", time, "s"), {"v(out)": (np.full(5001, 5.0), "V")})]
    assert evaluate("avg(v(out), 430u, 480u)", late).value == pytest.approx(5.0)
    with pytest.raises(CircuitError, match="outside the simulated range"):
        evaluate("avg(v(out), 429u, 480u)", late)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@for_each(
    ("analysis", "axis", "y", "expression"),
    [
        (
            "tran",
            np.linspace(0, 1, 40),
            np.where(np.arange(40) % 2, 1.7e308, -1.7e308),
            "settling_time(v(out))",
        ),
        ("tran", np.zeros(40), np.sin(np.arange(40.0)), "harmonic(v(out), 10)"),
        ("ac", np.arange(40.0)[::-1], np.sign(np.sin(np.arange(40.0))), "noise_total(v(out), 1m, 0)"),
        ("ac", np.repeat(np.arange(20.0), 2), np.sin(np.arange(40.0)), "bandwidth(v(out), 1e-300)"),
    ],
)
def test_data_that_no_simulator_writes_are_refused_in_words(
    analysis: str, axis: np.ndarray, y: np.ndarray, expression: str
) -> None:
    """A raw file of somebody else may hold them: a fit without an answer, a root of less than nothing."""
    name, unit = ("time", "s") if analysis == "tran" else ("frequency", "Hz")
    with pytest.raises(CircuitError):
        evaluate(expression, [plot(analysis, (name, axis, unit), {"v(out)": (y, "V")})])
