"""Optimisations of real circuits, end to end."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest

from application.app import Application
from application.optimization.optimizing import OptimizeRequest
from application.ports.events import OptimizationProgressed
from domain.circuit.preferred_values import is_preferred
from domain.studies.optimization import OptimizationResult
from domain.studies.study_spec import read_study_spec
from shared.errors import UserInputError

RLC = "rlc\nV1 in 0 AC 1\nR1 in a 100\nL1 a out 1m\nC1 out 0 1n\n.ac dec 60 1k 10meg\n.end\n"
SPEC: dict[str, Any] = {
    "parameters": [
        {"name": "R1", "min": 10, "max": "10k", "scale": "E24"},
        {"name": "L1", "min": "10u", "max": "10m", "scale": "log"},
        {"name": "C1", "min": "100p", "max": "100n", "scale": "E12"},
    ],
    "measure": {"bw": "bandwidth(v(out))", "peak": "peak(v(out))"},
    "goals": [{"metric": "bw", "target": 200e3, "tolerance": "2%"}, "peak <= 1.01"],
    "budget": 800,
}


def request(folder: Path, deck: str = RLC, workers: int | None = None, **spec: Any) -> OptimizeRequest:
    circuit = folder / "deck.cir"
    circuit.write_text(deck)
    output = spec.pop("output", None)
    return OptimizeRequest(
        circuit=circuit, spec=read_study_spec({**SPEC, **spec}), workers=workers, output=output
    )


def texts_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.suffix in (".cir", ".inc", ".lib")}


def found(result: OptimizationResult) -> tuple[Any, ...]:
    return (result.best, result.history, result.end, [row.parameters for row in result.rows])


async def test_goals_are_met_by_values_that_can_be_bought(app: Application, tmp_path: Path) -> None:
    result = await app.design.optimize(request(tmp_path, output=tmp_path / "best.cir"))
    assert result.ok
    assert result.end == "goals_met"
    best = result.best
    assert best is not None
    assert best.is_verified
    assert is_preferred(best.parameters["R1"], "E24")
    assert is_preferred(best.parameters["C1"], "E12")
    assert all(verdict.met for verdict in best.verdicts)
    rows = [tuple(row.parameters.values()) for row in result.rows]
    assert len(set(rows)) == len(rows), "no point is simulated twice"
    assert rows[0] == (100, 1e-3, 1e-9), "it begins at the circuit"
    # The written file is that circuit: a plain simulation of it measures the same.
    from application.simulation.simulating import SimulationRequest

    assert result.output_path == tmp_path / "best.cir"
    again = await app.simulation.run(SimulationRequest(circuit=tmp_path / "best.cir"))
    measured = await app.simulation.measure(again.result_path, ["bandwidth(v(out))"])
    assert measured["bandwidth(v(out))"].value == best.metrics["bw"]  # type: ignore[index]
    assert (tmp_path / "deck.cir").read_text() == RLC


@pytest.mark.parametrize(
    ("kept", "spec"),
    [
        ("best.cir", {"set": {"temp": "127", "corner": "ss"}}),
        ("kept/best.cir", {"set": {"temp": "127"}, "corners": ["ss"], "at_corners": True}),
    ],
)
async def test_what_is_written_is_whole_and_gives_the_told_figures(
    app: Application, tmp_path: Path, kept: str, spec: dict[str, Any]
) -> None:
    """Values in an include of an include, a corner picked in one, a temperature; nothing else is touched."""
    from application.simulation.simulating import SimulationRequest

    (tmp_path / "parts").mkdir()
    (tmp_path / "kept").mkdir()
    (tmp_path / "parts" / "stage.inc").write_text('.include "low.inc"\n.lib "process.lib" tt\n')
    (tmp_path / "parts" / "low.inc").write_text("R1 in out 1k tc1=1m\nC1 out 0 {c}\n")
    library = ".lib tt\n.param c=1n\n.endl\n.lib ss\n.param c=2n\n.endl\n"
    (tmp_path / "parts" / "process.lib").write_text(library)
    (tmp_path / "process.lib").write_text(library)
    (tmp_path / "best_low.inc").write_text("somebody's own\n")
    deck = '* low-pass\n.include "parts/stage.inc"\nV1 in 0 ac 1\n.ac dec 50 1k 10meg\n.end\n'
    asked = request(
        tmp_path,
        deck,
        parameters=[{"name": "R1", "min": "100", "max": "10k", "scale": "E24"}],
        measure={"bw": "bandwidth(v(out))"},
        goals=["bw >= 60k", "bw <= 70k"],
        output=tmp_path / kept,
        budget=60,
        **spec,
    )
    inputs = texts_in(tmp_path)
    result = await app.design.optimize(asked)
    assert result.ok
    assert result.best is not None
    assert 60e3 <= result.best.metrics["bw"] <= 70e3
    again = await app.simulation.run(SimulationRequest(circuit=tmp_path / kept))
    measured = await app.simulation.measure(again.result_path, ["bandwidth(v(out))"])
    assert measured["bandwidth(v(out))"].value == pytest.approx(result.best.metrics["bw"], rel=1e-9)  # type: ignore[index]
    assert texts_in(tmp_path).items() >= inputs.items()


async def test_what_is_found_does_not_depend_on_the_workers(app: Application, tmp_path: Path) -> None:
    one, two = [
        await app.design.optimize(request(tmp_path, workers=count, seed=5, archive=False)) for count in (1, 2)
    ]
    assert found(one) == found(two)
    other = await app.design.optimize(request(tmp_path, seed=6, archive=False))
    assert found(other) != found(one)


async def test_a_search_begins_with_what_former_ones_measured_here(app: Application, tmp_path: Path) -> None:
    """Points of this project and user, simulated again first; of anybody else's nothing is taken."""
    (tmp_path / ".circuit_ai").mkdir()
    first = await app.design.optimize(request(tmp_path))
    renamed = {
        "measure": {"bandwidth": "bandwidth(v(out))", "top": "peak(v(out))"},
        "goals": ["201k <= bandwidth <= 207k", "top <= 1.01"],
    }
    # Another value in the circuit and other names of the metrics: the same circuit and figures.
    again = await app.design.optimize(request(tmp_path, RLC.replace("R1 in a 100", "R1 in a 120"), **renamed))
    assert again.goals_met
    assert again.recalled > 0
    brief = {"goals": [], "minimize": "peak", "budget": 3}
    other = await app.design.optimize(request(tmp_path, RLC.replace("C1 out 0", "C1 a 0"), **brief))
    assert other.recalled == 0, "another circuit"
    for result in (first, again):
        rows = result.result_path.with_name("rows.csv")
        rows.write_bytes(rows.read_bytes().replace(b",ok,", b",ok,x"))
    changed = await app.design.optimize(request(tmp_path, **brief))
    assert changed.recalled == 0, "somebody changed the tables"
    document = json.loads(changed.result_path.read_text())
    changed.result_path.write_text(json.dumps({**document, "signature": document["signature"][::-1]}))
    strange = await app.design.optimize(request(tmp_path, **brief))
    assert strange.recalled == 0, "somebody else's"


async def test_an_objective_goes_as_far_as_the_goals_allow(app: Application, tmp_path: Path) -> None:
    """Power of a divider under a bound on its output: R1 + R2 as large as allowed, in the right ratio."""
    deck = "div\nV1 in 0 10\nR1 in out 1k\nR2 out 0 1k\n.op\n.end\n"
    result = await app.design.optimize(
        request(
            tmp_path,
            deck,
            parameters=[{"name": f"R{n}", "min": 100, "max": "100k", "scale": "log"} for n in (1, 2)],
            measure={"vout": "v(out)", "power": "-10*i(v1)"},
            goals=["vout >= 2.5", "vout <= 3"],
            minimize="power",
            budget=1500,
        )
    )
    assert result.ok
    best = result.best
    assert best is not None
    # R1 at its bound; R2 = R1 * 3/7 at the largest output that is allowed
    assert best.metrics["power"] == pytest.approx(100 / (100e3 * (1 + 3 / 7)), rel=0.01)
    assert [item.cost for item in result.history] == sorted((i.cost for i in result.history), reverse=True)


async def test_goals_that_cannot_be_met_give_the_best_all_the_same(app: Application, tmp_path: Path) -> None:
    result = await app.design.optimize(
        request(
            tmp_path,
            parameters=[{"name": "R1", "min": "1k", "max": "2k", "scale": "E12"}],
            goals=["bw >= 1G"],
        )
    )
    assert not result.ok
    assert (result.end, result.goals_met) == ("exhausted", False)
    assert result.best is not None
    assert result.best.parameters == {"R1": 1000}
    assert result.best.is_verified


async def test_goals_that_exclude_each_other_are_named(app: Application, tmp_path: Path) -> None:
    """Twice the output of a divider at half its current; a peak that nothing reaches."""
    deck = "div\nV1 in 0 10\nR1 in out 1k\nR2 out 0 1k\n.op\n.end\n"
    result = await app.design.optimize(
        request(
            tmp_path,
            deck,
            parameters=[{"name": "R2", "values": [500, 1000, 2000, 4000]}],
            measure={"vout": "v(out)", "supply": "-i(v1)"},
            goals=["vout >= 6", "supply >= 4m", "vout <= 100", "supply <= 1m"],
        )
    )
    assert result.goals_met is False
    pair, single = sorted(result.conflicts, key=lambda item: -len(item.goals))
    assert [goal.metric for goal in pair.goals] == ["vout", "supply"]
    assert pair.met_by == (2, 2)
    assert single.nearest == pytest.approx(2e-3)
    stored = json.loads(result.result_path.read_text())["conflicts"]
    assert [item["goals"] for item in stored] == [["supply"], ["vout", "supply"]]
    assert "conflict" in stored[1]["message"]


async def test_every_corner_counts(app: Application, tmp_path: Path) -> None:
    deck = "div\nVdd in 0 10\nR1 in out 1k\nR2 out 0 1k\n.op\n.end\n"
    result = await app.design.optimize(
        request(
            tmp_path,
            deck,
            parameters=[{"name": "R1", "min": 100, "max": "10k", "scale": "E24"}],
            measure={"vout": "v(out)"},
            goals=["vout >= 2.7", "vout <= 3.5"],
            corners={"voltage": {"Vdd": [9, 10, 11]}},
            at_corners=True,
        )
    )
    assert result.ok
    assert result.best is not None
    ratio = 1000 / (1000 + result.best.parameters["R1"])
    assert 9 * ratio >= 2.7
    assert 11 * ratio <= 3.5
    assert len(result.rows) % 3 == 0
    values = [verdict.measured.value for verdict in result.best.verdicts]
    assert values == pytest.approx([9 * ratio, 11 * ratio])


@pytest.mark.parametrize(
    ("written", "choice"), [(7.9, {"values": [1, 2, 2.5, 6, 7.9]}), (2, {"min": 1, "max": 10})]
)
async def test_points_that_fail_are_bad_points(
    app: Application, tmp_path: Path, written: float, choice: dict[str, Any]
) -> None:
    """With three of the values, or with the written one, a resistor is not a number."""
    deck = f"b\n.param n={written}\nV1 in 0 AC 1\nR1 in out {{sqrt(n-3)*1k}}\nC1 out 0 1n\n.ac dec 20 1 1g\n"
    result = await app.design.optimize(
        request(
            tmp_path,
            deck,
            parameters=[{"name": "n", **choice}],
            goals=["bw >= 90k", "bw <= 95k"],
            measure={"bw": "bandwidth(v(out))"},
            budget=300,
        )
    )
    assert result.ok
    assert result.best is not None
    assert 90e3 <= 1 / (2e-6 * math.pi * math.sqrt(result.best.parameters["n"] - 3)) <= 95e3
    assert result.goals_met
    assert result.failed == 3 if "values" in choice else result.failed


async def test_a_stop_keeps_and_proves_the_best(app: Application, tmp_path: Path) -> None:
    kept: list[OptimizationResult] = []
    progress: list[OptimizationProgressed] = []
    started = asyncio.Event()

    def watch(event: OptimizationProgressed) -> None:
        progress.append(event)
        if event.done > 50:
            started.set()

    app.program.events.subscribe(OptimizationProgressed, watch)
    work = asyncio.ensure_future(
        app.design.optimize(
            request(tmp_path, minimize="peak", goals=["bw >= 1Meg"], budget=500_000), on_stopped=kept.append
        )
    )
    await asyncio.wait_for(started.wait(), 30)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    (partial,) = kept
    assert partial.is_stopped
    assert not partial.ok
    assert partial.best is not None
    assert partial.best.is_verified
    document = json.loads(partial.result_path.read_text())
    assert (document["status"], document["end"]) == ("cancelled", "stopped")
    assert progress[-1].best_parameters
    assert progress[-1].budget == 500_000
    assert [event.done for event in progress] == sorted(event.done for event in progress)


async def test_the_time_limit_ends_it(app: Application, tmp_path: Path) -> None:
    result = await app.design.optimize(
        request(tmp_path, minimize="peak", goals=[], budget=900_000, time_limit=1.0)
    )
    assert result.end == "time"
    assert result.ok
    assert math.isfinite(result.best.metrics["peak"])  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"goals": []}, "are missing"),
        ({"parameters": [{"name": "R1", "tolerance": "1%"}]}, "nothing to choose"),
        ({"parameters": [{"name": "Rx", "min": 1, "max": 2}]}, "Rx"),
        ({"goals": ["gm >= 1"]}, "gm"),
        ({"minimize": "gm"}, "gm"),
    ],
)
async def test_a_specification_that_does_not_fit(
    app: Application, tmp_path: Path, change: dict[str, Any], text: str
) -> None:
    with pytest.raises(UserInputError, match=text):
        await app.design.optimize(request(tmp_path, **change))
    assert not list((Path(tmp_path) / ".circuit_ai").glob("*"))


async def test_the_circuit_itself_is_never_the_output(app: Application, tmp_path: Path) -> None:
    with pytest.raises(UserInputError, match="never changes"):
        await app.design.optimize(request(tmp_path, output=tmp_path / "deck.cir"))


async def test_a_point_on_the_edge_is_called_so(app: Application, tmp_path: Path) -> None:
    """R1 may be as large as 6 V allow: 666.67, of which 680 is not, and 667 almost nothing is left."""
    deck = "div\nV1 in 0 10\nR1 in out 400\nR2 out 0 1k\n.op\n.end\n"
    spec = {"parameters": [{"name": "R1", "values": [300, 400, 666]}], "measure": {"v": "v(out)"}}
    edge = await app.design.optimize(request(tmp_path, deck, **spec, goals=["v >= 6"], minimize="v"))
    (found,) = edge.robustness
    slope = 1e4 * 666 / 1666**2  # dV for all of R1, relative
    assert found.margin == pytest.approx(1e4 / 1666 - 6, rel=1e-3)
    assert found.holds_within == pytest.approx(found.margin / slope, rel=0.02)
    assert found.on_edge
    assert found.decisive == "R1"
    assert edge.at_range_end == ("R1",)
    firm = await app.design.optimize(request(tmp_path, deck, **spec, goals=["v >= 6"]))
    assert not firm.robustness[0].on_edge
    assert not (edge.result_path.parent / "around").exists()
    # With more parameters than are moved one by one it is said, not passed over.
    chain = "".join(f"R{n} {n} {n + 1} 100\n" for n in range(1, 14))
    many = {
        "parameters": [{"name": f"R{n}", "values": [100, 110]} for n in range(1, 14)],
        "measure": {"v": "v(14)"},
    }
    deck = f"chain\nV1 1 0 10\n{chain}RL 14 0 1k\n.op\n.end\n"
    whole = await app.design.optimize(request(tmp_path, deck, **many, goals=["v >= 1"], budget=30))
    assert whole.robustness == ()
    assert any("With 13 parameters" in str(warning) for warning in whole.warnings)


DIVIDER = "divider\nV1 in 0 10\nR1 in out 20k\nR2 out 0 10k\n.op\n.end\n"
SCATTERING: dict[str, Any] = {
    "parameters": [
        {"name": "R1", "min": "1k", "max": "100k", "scale": "log", "tolerance": "5%"},
        {"name": "R2", "tolerance": "5%"},
    ],
    "measure": {"out": "v(out)"},
    "goals": ["out <= 5"],
    "maximize": "out",
    "budget": 50,
    "yield_target": 0.95,
}


@pytest.mark.torture
async def test_goals_are_aimed_at_so_far_inside_that_parts_that_scatter_keep_them(
    app: Application, tmp_path: Path
) -> None:
    result = await app.design.optimize(request(tmp_path, DIVIDER, **SCATTERING))
    assert result.ok
    best, scatter = result.best, result.scatter
    assert best is not None
    assert scatter is not None
    # Both move the output by a quarter of it for their relative deviation, 5 % / sqrt(3).
    share = best.metrics["out"] / 10
    sigma = 10 * share * (1 - share) * 0.05 / math.sqrt(3) * math.sqrt(2)
    assert scatter.sigmas["out"] == pytest.approx(sigma, rel=0.01)
    assert best.metrics["out"] == pytest.approx(5 - 3 * sigma, abs=0.03)
    assert scatter.total.total == 100
    assert scatter.total.value >= 0.98
    assert not scatter.on_edge
    document = json.loads(result.result_path.read_text())
    assert document["scatter"]["yield"]["passed"] == scatter.total.passed
    # Resistors of one lot keep their ratio: there is nothing to stand back for.
    lot = [{**item, "lot": "5%"} for item in SCATTERING["parameters"]]
    for item in lot:
        del item["tolerance"]
    together = await app.design.optimize(request(tmp_path, DIVIDER, **{**SCATTERING, "parameters": lot}))
    assert together.best is not None
    assert together.scatter is not None
    assert together.best.metrics["out"] == pytest.approx(5, abs=0.01)
    assert together.scatter.sigmas["out"] < 1e-3
    # What nothing can keep is found all the same, and said to be short of the yield.
    tight = {**SCATTERING, "goals": ["4.95 <= out <= 5.05"], "maximize": None}
    edge = await app.design.optimize(request(tmp_path, DIVIDER, **tight))
    assert edge.goals_met
    assert not edge.ok
    assert edge.scatter is not None
    assert edge.scatter.on_edge
    assert 0.1 < edge.scatter.total.value < 0.7


@pytest.mark.torture
async def test_the_mismatch_of_a_transistor_is_that_of_the_width_that_was_found(
    app: Application, tmp_path: Path
) -> None:
    deck = (
        "mirror\n.param w1=4u\n.model n nmos level=14 version=4.8.1 vth0=0.4 toxe=4n k3=0\nVd d 0 1.2\n"
        "Ir d r 50u\nM1 r r 0 0 n w={w1} l=1u\nM2 d2 r 0 0 n w={w1} l=1u delvto=0\nVo d2 0 0.6\n"
        ".save all @m2[gm]\n.op\n.end\n"
    )
    spec = {
        "parameters": [
            {"name": "w1", "min": "1u", "max": "100u", "scale": "log"},
            {"name": "m2.delvto", "absolute": True, "nominal": 0, "mismatch": {"a": 5e-9}},
        ],
        "measure": {"io": "-i(vo)", "gm": "@m2[gm]", "vgs": "v(r)"},
        "goals": ["45u <= io <= 55u", "vgs <= 0.6"],
        "runs": 60,
    }
    result = await app.design.optimize(request(tmp_path, deck, **spec))
    assert result.best is not None
    assert result.scatter is not None
    area = 2 * result.best.parameters["w1"] * 1e-6
    expected = result.best.metrics["gm"] * 5e-9 / math.sqrt(area)
    assert result.scatter.sigmas["io"] == pytest.approx(expected, rel=0.05)
    assert result.scatter.total.total == 60


STAGES = (
    "stages\n.param w1=4u\n.model n nmos level=14 version=4.8.1 vth0=0.4 toxe=4n u0=0.035 vsat=9e4\n"
    ".model p pmos level=3 vto=-0.7 uo=200 tox=15n nsub=2e16 theta=0.08 vmax=1e5 kappa=0.3\nVd d 0 3\n"
    "I1 d a 20u\nM1 a a 0 0 n w={w1} l=0.5u\nM2 b a 0 0 n w={w1} l=0.5u\nV2 b 0 0.6\n"
    "I2 c 0 10u\nM3 c c d d p w=9u l=1u\n.save all @m1[gm] @m3[gm] @m2[id]\n.op\n.end\n"
)


@pytest.mark.torture
async def test_gm_over_id_is_searched_by_the_width_of_the_models_own_table(
    app: Application, tmp_path: Path
) -> None:
    spec = {
        "parameters": [
            {"name": "gmid(M1)", "min": 5, "max": 22, "id": "20u", "vds": 0.5},
            {"name": "gmId(m3)", "min": 4, "max": 20, "id": "10u"},
        ],
        "measure": {"gm1": "@m1[gm]", "gm3": "@m3[gm]", "follows": "@m2[id]"},
        "goals": ["290u <= gm1 <= 310u", "98u <= gm3 <= 102u"],
    }
    result = await app.design.optimize(request(tmp_path, STAGES, output=tmp_path / "best.cir", **spec))
    assert result.ok, result.warnings
    assert result.best is not None
    assert set(result.best.parameters) == {"w1", "M3.w"}
    metrics = result.best.metrics
    assert result.efficiencies["M1"] == pytest.approx(metrics["gm1"] / 20e-6, rel=0.02)
    assert result.efficiencies["M3"] == pytest.approx(metrics["gm3"] / 10e-6, rel=0.02)
    assert metrics["follows"] == pytest.approx(20e-6, rel=0.05)  # M2 has the width of M1
    assert json.loads(result.result_path.read_text())["gm_id"].keys() == {"M1", "M3"}
    for name, words in {"gmid(M9)": "M9", "gmid(R1)": "R1"}.items():
        wrong = {**spec, "parameters": [{"name": name, "min": 5, "max": 20, "id": "20u"}]}
        with pytest.raises(UserInputError, match=words):
            await app.design.optimize(request(tmp_path, STAGES, **wrong))
    beyond = {**spec, "parameters": [{"name": "gmid(M1)", "min": 5, "max": 60, "id": "20u"}]}
    with pytest.raises(UserInputError, match="gm/Id from"):
        await app.design.optimize(request(tmp_path, STAGES, **beyond))
    with pytest.raises(UserInputError, match="drain current"):
        read_study_spec({"parameters": [{"name": "gmid(M1)", "min": 5, "max": 20}]})
