"""Expressions that are read once and evaluated many times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from domain.simulation.expressions import compile_expression, evaluate
from shared.errors import UserInputError
from tests.unit.simulation.plots import operating_point, response


@pytest.mark.parametrize(
    ("text", "signals"),
    [
        ("bandwidth(v(out))", {"v(out)"}),
        ("max(db(v(a,B)))/v(0)", {"v(a)", "v(b)"}),
        ("2*pi", set()),
        ("vdb(out)-ac2.v(in)", {"v(out)", "v(in)"}),
        ("i(r1)", {"i(r1)", "@r1[i]", "@r1[id]", "@r1[ic]"}),
        ("@m1[gm]*id(m2)", {"@m1[gm]", "v(@m1[gm])", "@m2[id]"}),
        ("delay(v(a),v(b)) + at(v(c), v(d))", {"v(a)", "v(b)", "v(c)", "v(d)"}),
    ],
)
def test_the_vectors_it_needs(text: str, signals: set[str]) -> None:
    assert compile_expression(text).signals >= signals - {"v(@m1[gm])"}
    assert all(not name.startswith("v(0") for name in compile_expression(text).signals)


def test_one_compiled_expression_serves_different_results() -> None:
    compiled = compile_expression("bandwidth(v(out))*2")
    for corner in (1e2, 1e3, 1e4):
        plots = [operating_point(out=1.0), response(lambda s, w=2 * np.pi * corner: 1 / (1 + s / w))]
        assert compiled.evaluate(plots).value == pytest.approx(2 * corner, rel=1e-3)
        assert compiled.evaluate(plots) == evaluate("bandwidth(v(out))*2", plots)


def test_the_plot_of_runs_that_are_alike_is_chosen_once_and_as_for_each() -> None:
    compiled = compile_expression("v(out)/at(v(out),1000)")
    kinds = [object(), object()]
    for point, size in ((2.0, 1.0), (6.0, 3.0)):
        level = [operating_point(out=point), response(lambda s, size=size: size + 0 * s)]
        plots = [replace(plot, alike=kind) for plot, kind in zip(level, kinds, strict=True)]
        for order in (plots, plots[::-1], [*plots[:1], replace(plots[1], alike=None)]):
            assert compiled.evaluate(order).value == pytest.approx(point / size)
    with pytest.raises(UserInputError):  # another kind that has no such signal
        compiled.evaluate([replace(operating_point(other=1.0), alike=object())])


@pytest.mark.parametrize("text", ["maxx(v(a))", "gain(v(a))", "max(v(a)", "delay(v(a))", "db()"])
def test_what_cannot_be_meant_is_refused_before_any_data(text: str) -> None:
    with pytest.raises(UserInputError):
        compile_expression(text)
