"""Values that follow a measured quantity, against circuits whose figures are known in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from domain.circuit.dependencies import DependencyTree, resolve_dependencies
from domain.circuit.netlist import Netlist
from domain.circuit.preferred_values import is_preferred
from domain.studies.free_values import free_values, loads_of
from domain.studies.value_solver import ValueSolver
from infrastructure.persistence.source_files import ConfinedSourceReader
from tests.ground.cases import for_each

Circuit = Callable[[Mapping[str, float]], float]


def _corner(at: Mapping[str, float]) -> float:
    return 1 / (2 * math.pi * at["R1"] * at["C1"])


def _divider(at: Mapping[str, float]) -> float:
    return 10 * at["R2"] / (at["R1"] + at["R2"])


def _peak_db(at: Mapping[str, float]) -> float:
    """Of a series RLC at its capacitor: the peak of the gain for Q > 0.71."""
    q = math.sqrt(at["L1"] / at["C1"]) / at["R1"]
    return 20 * math.log10(q / math.sqrt(1 - 1 / (4 * q * q))) if q > 0.7072 else math.nan


def _resonance(at: Mapping[str, float]) -> float:
    return 1 / (2 * math.pi * math.sqrt(at["L1"] * at["C1"]))


def _slopes(circuit: Circuit, written: Mapping[str, float]) -> dict[str, float]:
    """As the influences are found: one percent down and up."""
    return {
        name: (circuit({**written, name: 1.01 * value}) - circuit({**written, name: 0.99 * value})) / 0.02
        for name, value in written.items()
    }


def _solver(circuit: Circuit, written: Mapping[str, float], unit: str) -> ValueSolver:
    return ValueSolver(written, _slopes(circuit, written), measured=circuit(written), unit=unit)


def _run(solver: ValueSolver, circuit: Circuit) -> int:
    runs = 0
    while (values := solver.wanted(1e-6)) is not None:
        solver.take(circuit(values))
        runs += 1
    return runs


RC = {"R1": 1e3, "C1": 1e-7}
RLC = {"R1": 50.0, "L1": 1e-3, "C1": 1e-8}


@for_each("factor", [0.1, 0.5, 0.99, 1.2, 3.0, 40.0])
def test_both_values_of_a_corner_move_by_the_same_share(factor: float) -> None:
    solver = _solver(_corner, RC, "Hz")
    assert solver.aim(factor * _corner(RC))
    assert _run(solver, _corner) <= 8
    assert _corner(solver.values) == pytest.approx(factor * _corner(RC), rel=1e-5)
    # The least change of logarithms: fc goes as 1 / (R C), so each takes half of it.
    share = 1 / math.sqrt(factor)
    assert solver.values["R1"] == pytest.approx(share * 1e3, rel=1e-3)
    assert solver.values["C1"] == pytest.approx(share * 1e-7, rel=1e-3)


@for_each(
    ("circuit", "written", "unit", "target"),
    [
        (_divider, {"R1": 3e3, "R2": 7e3}, "V", 5.0),
        (_divider, {"R1": 3e3, "R2": 7e3}, "V", 9.99),
        (_divider, {"R1": 1e3}, "V", 2.0),
        (_peak_db, RLC, "dB", 20.0),
        (_peak_db, RLC, "dB", 3.0),
        (_resonance, RLC, "Hz", 17e3),
    ],
)
def test_a_target_is_met_in_few_runs(
    circuit: Circuit, written: Mapping[str, float], unit: str, target: float
) -> None:
    fixed = {"R2": 7e3} if circuit is _divider and len(written) == 1 else {}

    def measured(at: Mapping[str, float]) -> float:
        return circuit({**fixed, **at})

    solver = _solver(measured, written, unit)
    assert solver.aim(target)
    assert _run(solver, measured) <= 14
    assert measured(solver.values) == pytest.approx(target, rel=1e-4)
    assert not solver.is_at_border


def test_the_change_is_the_least_and_the_way_of_the_hand_leaves_no_trace() -> None:
    written = {"R1": 3e3, "R2": 7e3}
    straight, roundabout = _solver(_divider, written, "V"), _solver(_divider, written, "V")
    for target in (9.0, 8.0, 2.0, 3.0, 4.9, 5.0):
        roundabout.aim(target)
        _run(roundabout, _divider)
    straight.aim(5.0)
    _run(straight, _divider)
    # 10 R2 / (R1 + R2) goes by R2 / R1 alone: the least change moves both by the root of 7 / 3.
    root = math.sqrt(7 / 3)
    for solver in (straight, roundabout):
        assert solver.values["R1"] == pytest.approx(3e3 * root, rel=0.03)
        assert solver.values["R2"] == pytest.approx(7e3 / root, rel=0.03)
    roundabout.aim(7.0)
    _run(roundabout, _divider)
    assert roundabout.values["R1"] == pytest.approx(3e3, rel=0.01)


def test_what_is_out_of_reach_stops_at_the_border_and_nonsense_is_refused() -> None:
    solver = _solver(_corner, RC, "Hz")
    assert solver.aim(1e9 * _corner(RC))
    _run(solver, _corner)
    assert solver.is_at_border
    assert solver.values["R1"] == pytest.approx(10.0)
    assert not solver.aim(0.0)
    assert not solver.aim(math.nan)

    divider = _solver(_divider, {"R1": 3e3, "R2": 7e3}, "V")
    assert divider.aim(12.0), "a divider cannot give more than its supply: no run says so beforehand"
    assert _run(divider, _divider) <= 30
    assert _divider(divider.values) < 10
    idle = ValueSolver({"R9": 1e3}, {"R9": 0.0}, measured=5.0, unit="V")
    idle.aim(6.0)
    assert idle.wanted(1e-6) is None
    assert not idle.can_move


def test_a_step_that_measures_nothing_is_taken_back() -> None:
    """The peak is gone where Q is below 0.71: the solver comes as near as there is one."""
    solver = _solver(_peak_db, RLC, "dB")
    solver.aim(-2.0)
    assert _run(solver, _peak_db) <= 30
    assert 0 <= _peak_db(solver.values) < 1.5


@for_each("series", ["E12", "E24", "E96"])
def test_preferred_values_stay_near_what_was_reached(series: str) -> None:
    solver = _solver(_corner, RC, "Hz")
    solver.aim(12345.0)
    _run(solver, _corner)
    found = solver.preferred({"R1": series, "C1": series}, 9)  # type: ignore[dict-item]
    assert len(found) == 9
    assert all(is_preferred(value, series) for each in found for value in each.values())  # type: ignore[arg-type]
    errors = [abs(_corner(each) / 12345 - 1) for each in found]
    assert errors[0] == min(errors)
    assert errors[0] < {"E12": 0.1, "E24": 0.05, "E96": 0.01}[series]
    only = solver.preferred({"R1": series}, 9)  # type: ignore[dict-item]
    assert all(each["C1"] == solver.values["C1"] for each in only)


NETLIST = b"""* what may follow
V1 in 0 SIN(0 {amp} {f0})
VDD vdd 0 5
.param amp=1 f0=1k rload=10k w1=10u
R1 in out 1k
C1 out 0 {ct}
.param ct=10n
RL out 0 {rload}
M1 out in 0 0 nch W={w1} L=1u
.model nch nmos (vto=0.7 kp=100u)
.tran 1u {3/f0}
.end
"""


def test_values_of_parts_may_follow_and_what_drives_the_circuit_may_not() -> None:
    names = [each.name for each in free_values(NETLIST)]
    assert names == ["rload", "w1", "R1", "ct", "M1.l"]
    assert [each.name for each in free_values(NETLIST, locked=("r1", "M1", "RLOAD"))] == ["w1", "ct"]
    assert [each.name for each in free_values(NETLIST) if each.is_part] == ["R1"]
    assert [each.name for each in free_values(NETLIST, loads=("RL",)) if each.is_given] == ["rload"]


def _tree(body: str) -> DependencyTree:
    text = (
        f"* loads\nV1 in 0 SIN(0 1 1k) AC 1\nVCC vcc 0 12\n{body}.ac dec 5 1 1meg\n.print ac v(out)\n.end\n"
    )
    return resolve_dependencies(Netlist.parse(text.encode()), ConfinedSourceReader(Path("loads.cir")))


@pytest.mark.parametrize(
    ("body", "loads"),
    [
        ("R1 in out 1k\nC1 out 0 1n\nR_load out 0 9k\n", ("R_load",)),
        ("R1 in out 1k\nR2 out 0 1k\n", ()),
        ("C1 in out 1n\nR1 out 0 1k\n", ()),
        ("R1 in out 1k\nL1 out 0 1m\nC1 out 0 1n\nRL1 vcc out 1k\n", ()),
        ("D1 in out D\nC1 out 0 1m\nR1 out 0 100\n.model D D\n", ("R1",)),
        ("R1 vcc b 9k\nR2 b 0 1k\nC1 in b 1u\nRC vcc out 1k\nRE e 0 100\nQ1 out b e Q\n"
         "CL out gnd 9p\n.model Q NPN\n", ("CL",)),
        ("RB b 0 9k\nC1 in b 1u\nRE vcc e 100\nRC out 0 1k\nQ1 out b e Q\n.model Q PNP\n", ()),
    ],
)  # fmt: skip
def test_what_loads_a_circuit_is_told_from_what_it_is_made_of(body: str, loads: tuple[str, ...]) -> None:
    assert loads_of(_tree(body)) == loads
