"""``v(out)@2`` and ``v(out)@cval=220n``: one run of a stepped simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from domain.simulation.expression_syntax import SignalRef, StepRef, parse
from domain.simulation.expressions import evaluate, evaluate_vector, step_named_in
from domain.simulation.waveform import Plot, Step
from presentation.panels.waveforms.traces import axis_of, make_trace
from shared.errors import UserInputError
from tests.ground.cases import for_each
from tests.unit.simulation.plots import transient

VALUES = (100e-9, 220e-9, 470e-9)


def _family() -> list[Plot]:
    plots = [transient(lambda t, k=k: k * np.sin(2e4 * t), points=100 * k + 1) for k in (1, 2, 3)]
    return [
        replace(plot, step=Step(number=number, count=3, values={"cval": value, "temp": 27.0}))
        for number, (plot, value) in enumerate(zip(plots, VALUES, strict=True), 1)
    ]


@for_each(
    ("text", "value"),
    [
        ("max(v(out))", 1.0),
        ("max(v(out)@2)", 2.0),
        ("max(v(out)@cval=220n)", 2.0),
        ("max(v(out)@CVAL=470nF)", 3.0),
        ("max(tran.v(out)@3)", 3.0),
        ("max(v(out)@3)-max(v(out)@1)", 2.0),
        ("max(2*v(out)@2+1)", 5.0),
        ("max(abs(v(out)@temp=27))", 1.0),
        ("max(v(out) @ 2)", None),
        ("max(v(out)@4)", None),
        ("max(v(out)@cval=1u)", None),
        ("max(v(out)@rval=1k)", None),
        ("max(v(out)@1-v(out)@2)", None),
        ("max(v(out)@)", None),
    ],
)
def test_a_run_is_told_by_its_number_or_value(text: str, value: float | None):
    if value is None:
        with pytest.raises(UserInputError):
            evaluate(text, _family())
    else:
        assert evaluate(text, _family()).value == pytest.approx(value, rel=1e-2)


def test_a_run_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(UserInputError) as caught:
        evaluate("max(v(out)@7)", _family())
    assert "3 (cval=470n, temp=27)" in str(caught.value)
    with pytest.raises(UserInputError, match=r"it has -"):
        evaluate("max(v(out)@1)", [transient(np.sin)])


def test_device_quantities_and_runs_stand_beside_each_other():
    tree = parse("@m1[gm]@2")
    assert isinstance(tree, SignalRef)
    assert tree.names == ("@m1[gm]",)
    assert tree.step == StepRef(number=2)
    assert step_named_in("db(v(out)@cval=-2.5)+1") == StepRef(name="cval", value=-2.5)
    assert step_named_in("@m1[gm]*2") is None
    assert step_named_in("v(out") is None


def test_a_trace_of_another_run_is_drawn_over_its_own_samples_and_read_at_the_axis():
    family = _family()
    axis = axis_of(family[0])
    assert axis is not None
    trace = make_trace("v(out)@3", family[0], axis, 0, siblings=family)
    (curve,) = trace.curves
    assert len(curve.stretches[0].x) == 301
    assert len(curve.values) == 101
    expected = evaluate_vector("v(out)", [family[2]])
    assert curve.values[50] == pytest.approx(float(np.interp(axis.values[50], expected.x, expected.y)))
    assert make_trace("v(out)@9", family[0], axis, 0, siblings=family).error is not None
