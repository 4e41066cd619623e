"""`.step`, several temperatures and HSPICE's sweep as runs."""

from __future__ import annotations

import pytest

from domain.circuit.netlist import Netlist
from domain.circuit.stepping import at_point, step_axes, step_points, unstepped, without_steps
from shared.errors import UserInputError
from tests.ground.cases import for_each


def _netlist(cards: str) -> Netlist:
    return Netlist.parse(f"t\nV1 a 0 1\nR1 a 0 {{r}}\n.param r=1k\n{cards}\n.op\n.end\n".encode())


@for_each(
    ("card", "kind", "name", "values"),
    [
        (".step param r 1k 3k 1k", "param", "r", (1e3, 2e3, 3e3)),
        (".step param r 1k 3.5k 1k", "param", "r", (1e3, 2e3, 3e3, 3.5e3)),
        (".step param R list 1k 2k 5k", "param", "r", (1e3, 2e3, 5e3)),
        (".step dec param r 1k 100k 1", "param", "r", (1e3, 1e4, 1e5)),
        (".STEP LIN PARAM r 1 3 1", "param", "r", (1, 2, 3)),
        (".step oct param r 1 4 1", "param", "r", (1, 2, 4)),
        (".step V1 0 1 0.5", "source", "v1", (0, 0.5, 1)),
        (".step temp -55 125 90", "temp", "temp", (-55, 35, 125)),
        (".step temp list 0 27", "temp", "temp", (0, 27)),
        (".step NPN 2N2222(VAF) 50 100 25", "model", "2n2222.vaf", (50, 75, 100)),
        (".step dec d dx( is ) 1f 100f 1", "model", "dx.is", (1e-15, 1e-14, 1e-13)),
        (".step r 1k 3k 1k", "param", "r", (1e3, 2e3, 3e3)),  # so does Xyce
        (".step R1 1k 3k 1k", "source", "r1", (1e3, 2e3, 3e3)),
        (".temp 27 50 100", "temp", "temp", (27, 50, 100)),
        (".tran 1n 1u sweep r 1k 2k 500", "param", "r", (1e3, 1.5e3, 2e3)),
        (".dc V1 0 1 0.1 sweep r 1k 3k 1k", "param", "r", (1e3, 2e3, 3e3)),
        (".dc V1 0 1 0.1 sweep V2 1 2 1", "source", "v2", (1, 2)),
        (".tran 1n 1u sweep r poi 2 1k 9k", "param", "r", (1e3, 9e3)),
    ],
)
def test_axes(card: str, kind: str, name: str, values: tuple[float, ...]) -> None:
    (axis,) = step_axes(_netlist(card))
    assert (axis.kind, axis.name) == (kind, name)
    assert axis.values == pytest.approx(values)


def test_the_first_card_changes_fastest() -> None:
    points = step_points(step_axes(_netlist(".step param r list 1 2\n.step V1 list 5 6")))
    assert [point.label for point in points] == ["r=1, v1=5", "r=2, v1=5", "r=1, v1=6", "r=2, v1=6"]


def test_one_point_as_a_circuit() -> None:
    netlist = _netlist(".step param r list 1 2\n.step V1 list 5 6\n.step param q list 7\n.temp 30 40")
    points = step_points(step_axes(netlist))
    plain = without_steps(netlist)
    assert step_axes(plain) == ()
    assert len(plain.source.lines) == len(netlist.source.lines)
    text = at_point(plain, points[-1]).to_bytes().decode()
    assert ".param r=2" in text
    assert "V1 a 0 6" in text
    assert text.endswith(".param q=7\n.temp 40\n")


def test_once_with_what_only_a_step_defines() -> None:
    netlist = _netlist(".step param q list 7 8\n.step param r list 2k 3k")
    once = unstepped(netlist, step_axes(netlist))
    assert step_axes(once) == ()
    values = {parameter.name: parameter.value.text for parameter in once.parameters}
    assert values == {"r": "1k", "q": "7"}


def test_a_single_temperature_is_no_step() -> None:
    assert step_axes(_netlist(".temp 50")) == ()


@for_each(
    "card", [".step", ".step param", ".step param r", ".step param r 1 2", ".step param r 1 2 0",
             ".step dec param r 0 10 3", ".step param r {a} 2 1", ".step NPN 2N2222() 50 100 25",
             ".step param r 1 1e9 1"],
)  # fmt: skip
def test_what_is_refused(card: str) -> None:
    with pytest.raises(UserInputError):
        step_points(step_axes(_netlist(card)))


def test_too_many_steps_are_told_at_the_card_with_most() -> None:
    with pytest.raises(UserInputError) as refused:
        step_points(step_axes(_netlist(".step param r list 1 2\n.step param q 1 900 1")))
    assert refused.value.line == 6


@pytest.mark.parametrize("card", [".temp=25", ".dc sweep V1 0 1 0.1"])
def test_what_is_no_sweep_of_runs(card: str) -> None:
    assert step_axes(_netlist(card)) == ()


def test_a_quantity_that_is_not_there_is_told_at_its_card() -> None:
    netlist = _netlist(".step V1:DC 1 2 1")
    (point, *_) = step_points(step_axes(netlist))
    with pytest.raises(UserInputError) as told:
        at_point(without_steps(netlist), point)
    assert told.value.line == 5


def test_a_parameter_called_like_a_source_is_the_parameter() -> None:
    text = b"t\nVin a 0 PWL(0 0 1n {Vin})\n.step param Vin list 1 10\n.param Vin=2\n.tran 1m\n.end\n"
    netlist = Netlist.parse(text)
    (axis,) = step_axes(netlist)
    assert axis.kind == "param"
    stepped = at_point(without_steps(netlist), step_points((axis,))[1]).to_bytes().decode()
    assert "Vin a 0 PWL(0 0 1n {Vin})" in stepped
    assert ".param Vin=10" in stepped
