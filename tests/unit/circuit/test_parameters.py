"""Parameter expressions: every value here was read off ngspice 39."""

import math

import pytest

from domain.circuit.dependencies import resolve_dependencies
from domain.circuit.netlist import Netlist
from domain.circuit.parameters import (
    ExpressionError,
    find_cycles,
    parse_expression,
    resolve_parameters,
)
from tests.fakes.memory_sources import FOLDER, MemorySources
from tests.ground.cases import for_each

NGSPICE_COMPUTES = {
    "2^3": 8,
    "2**3": 8,
    "-2^2": -4,
    "2^-1": 0.5,
    "-2**2": -4,
    "2^3^2": 64,
    "8/2/2": 2,
    "7%4": 3,
    "7\\2": 3,
    "1?2:3": 2,
    "3>2?5:6": 5,
    "3>2": 1,
    "!0": 1,
    "1&&0": 0,
    "1||0": 1,
    "sqr(3)": 9,
    "log(100)": math.log(100),
    "log10(100)": 2,
    "int(2.7)": 2,
    "int(-2.7)": -2,
    "nint(2.5)": 2,
    "floor(-2.5)": -3,
    "ceil(2.1)": 3,
    "sgn(-3)": -1,
    "pow(2,3)": 8,
    "pwr(-2,3)": 8,
    "min(1,2)": 1,
    "max(1,2)": 2,
    "abs(-1)": 1,
    "ternary_fcn(1,2,3)": 2,
    "arctan(1)": math.pi / 4,
    "1k+1meg": 1.001e6,
    "2*(3+4)": 14,
    "sqrt(4)": 2,
    "tan(0.5)": math.tan(0.5),
    "asinh(1)": math.asinh(1),
    "1==1": 1,
    "1!=1": 0,
    "1<>2": 1,
    "2<=2": 1,
    "exp(1)": math.e,
    "1mil": 1e-3,
    "1 + 2": 3,
    "5u*2": 1e-5,
    "(-3)^2": 9,
    "-3^3": -27,
    "(-3)^0.5": math.sqrt(3),
    "(-2)^3": -8,
    "1.5e": 1.5,
    "{1k}": 1e3,
    "'2*3'": 6,
    "SQRT(4)": 2,
    "1K": 1e3,
    "0 ? 1 : 1 ? 2 : 3": 2,
    "2>1 && 1>0": 1,
}


@for_each(("text", "value"), NGSPICE_COMPUTES.items())
def test_computes_as_ngspice(text: str, value: float) -> None:
    assert parse_expression(text).evaluate({}) == pytest.approx(value, rel=1e-12)


@for_each("text", ["", "1 +", "(1", "1)", "2 3", "{1", "a..b(", "1 ? 2", "f(1", "#", "1;2", "4k7"])
def test_refuses_what_is_no_expression(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_expression(text)


@for_each(
    "text",
    [
        "1/0",
        "pi",
        "agauss(1,0.1,3)",
        "pow(-2,0.5)",
        "sqrt(-1)",
        "foo(1)",
        "sqrt(1,2)",
        "exp(1e9)",
        "1e300*1e300",
    ],
)
def test_has_no_value(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_expression(text).evaluate({})


def test_names_and_functions_are_told_apart() -> None:
    expression = parse_expression("{Gain*f(x, 2) + max(a.b, 1)}")
    assert expression.names == {"gain", "x", "a.b"}
    assert expression.functions == {"f", "max"}


DECK = b"""t
.param a=2 b={a*c} c='d + 1' d=1k
.param a=3
.func par(x, y) {x*y/(x+y)}
.func twice(x)={2*x}
.param z={par(a, 6)} zz={twice(twice(a))}
.param bad={nope} worse={bad+1} loop1={loop2} loop2={loop1} rnd={agauss(1,1,1)} text="abc"
.subckt s p
.param inner=5
.ends
.csparam cs={a}
"""


def test_resolves_the_top_level() -> None:
    assert resolve_parameters(Netlist.parse(DECK)) == pytest.approx(
        {"a": 3, "b": 3003, "c": 1001, "d": 1000, "z": 2, "zz": 12, "cs": 3}
    )


def test_included_parameters_count_too() -> None:
    netlist = Netlist.parse(b"t\n.include p.inc\n.param y={x*2}\n", path=FOLDER / "d.cir")
    tree = resolve_dependencies(netlist, MemorySources({"p.inc": ".param x=21\n"}))
    assert resolve_parameters(tree) == {"x": 21, "y": 42}
    assert resolve_parameters(netlist) == {}


def test_endless_functions_have_no_value() -> None:
    assert resolve_parameters(Netlist.parse(b"t\n.func f(x) {f(x)+1}\n.param a={f(1)} b=1\n")) == {"b": 1}


def test_finds_each_cycle_once() -> None:
    texts = {"a": "b+1", "b": "c", "c": "a", "d": "d", "e": "a+1", "f": "1"}
    cycles = find_cycles({name: parse_expression(text) for name, text in texts.items()})
    assert sorted(sorted(cycle) for cycle in cycles) == [["a", "b", "c"], ["d"]]


def test_a_chain_of_thousands_is_no_problem() -> None:
    lines = [f".param p{i}={{p{i + 1}+1}}" for i in range(3000)]
    netlist = Netlist.parse("\n".join(["t", *lines, ".param p3000=0"]).encode())
    assert resolve_parameters(netlist)["p0"] == 3000
