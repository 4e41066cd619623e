"""Cards that bare ngspice takes: `par('...')`, one name twice, autostop, `.temp {par}`; and v(a,0)."""

import asyncio
import os
import re
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import bootstrap
from application.app import Application
from application.simulation.simulating import SimulationRequest
from domain.simulation.result import SimulationResult
from infrastructure.waveforms.raw_file import read_raw
from shared.errors import UserInputError

FILTER = "filter\nV1 in 0 ac 1 sin(0 1 1k)\nR1 in out 1k\nC1 out 0 1u\n"
STEP = "step\nV1 in 0 pulse(0 1 0 1n 1n 1 2)\nR1 in out 1k\nC1 out 0 1u\n"


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = bootstrap.build(environment=os.environ)
    yield application
    await application.close()


async def simulated(app: Application, folder: Path, deck: str) -> SimulationResult:
    (folder / "c.cir").write_text(deck)
    result = await app.simulation.run(SimulationRequest(circuit=folder / "c.cir"))
    assert result.ok, result.issues
    return result


async def printed_by_ngspice(folder: Path, deck: str) -> dict[str, float]:
    (folder / "bare.cir").write_text(deck)
    done = await asyncio.to_thread(
        subprocess.run, ["ngspice", "-n", "-b", "bare.cir"], cwd=folder, capture_output=True, check=False
    )
    found = re.findall(r"^(\w+)\s+=\s+(\S+)", done.stdout.decode(), re.MULTILINE)
    return {name: float(value) for name, value in found if re.match(r"[-+\d]", value)}


async def test_expressions_in_par_are_measured_as_ngspice_does(app: Application, tmp_path: Path) -> None:
    deck = (
        f"{FILTER}.tran 10u 5m\n.print tran par('v(in)*2') v(out)\n"
        ".meas tran a max par('v(in)-v(out)')\n.meas tran b param='a*2'\n"
        ".meas tran d when par('v(out)*3')=0.3 rise=1\n"
        ".meas tran e avg par('v(in)*v(in)') from=1m to=3m\n.end\n"
    )
    result = await simulated(app, tmp_path, deck)
    bare = await printed_by_ngspice(tmp_path, deck)
    assert bare.keys() >= {"a", "b", "d", "e"}
    for name in ("a", "b", "d", "e"):
        assert result.metrics[name].value == pytest.approx(bare[name], rel=1e-5)
    assert result.dialect == "ngspice"


async def test_a_difference_to_ground_is_the_voltage(app: Application, tmp_path: Path) -> None:
    deck = f"{FILTER}.tran 10u 5m\n" + "".join(
        f".meas tran m{number} find {vector} at=1m\n"
        for number, vector in enumerate(("v(out)", "v(out,0)", "v(out, gnd)", "v(0,out)", "v(in,out)"))
    )
    found = {name: figure.value for name, figure in (await simulated(app, tmp_path, deck)).metrics.items()}
    assert found["m1"] == found["m2"] == found["m0"] == -found["m3"] != 0
    assert found["m4"] != found["m0"]


async def test_two_cards_of_one_name_are_both_kept(app: Application, tmp_path: Path) -> None:
    deck = (
        f"{FILTER}.tran 10u 5m\n.ac dec 5 1 1k\n.meas tran top max v(out)\n.meas ac top max vm(out)\n"
        ".meas ac twice param='top*2'\n.meas tran top min v(out)\n.end\n"
    )
    found = {name: figure.value for name, figure in (await simulated(app, tmp_path, deck)).metrics.items()}
    assert list(found) == ["top", "top@ac", "twice", "top@2"]
    assert found["top"] > 0 > found["top@2"]
    assert found["twice"] == 2 * found["top@ac"] == pytest.approx(2, rel=1e-4)


async def test_autostop_measures_and_stops_as_ngspice_does(app: Application, tmp_path: Path) -> None:
    deck = (
        f"{STEP}.options autostop\n.tran 10u 20m\n.meas tran t50 when v(out)=0.5 rise=1\n"
        ".meas tran t90 when v(out)=0.9 rise=1\n.end\n"
    )
    result = await simulated(app, tmp_path, deck)
    bare = await printed_by_ngspice(tmp_path, deck)
    for name in ("t50", "t90"):
        assert result.metrics[name].value == pytest.approx(bare[name], rel=1e-5)
    (plot,) = await asyncio.to_thread(read_raw, result.run.raw_paths[0])
    assert plot.axis is not None
    assert 2.3e-3 < plot.axis.data[-1].real < 4e-3


async def test_one_temperature_may_be_an_expression(app: Application, tmp_path: Path) -> None:
    deck = "t\n.param tamb=50\nI1 0 a 1\nR1 a 0 1k tc1=0.01\n.temp {temp}\n.op\n.meas op v find v(a)\n.end\n"
    for text in ("{tamb}", "{tamb+0}", "50"):
        result = await simulated(app, tmp_path, deck.replace("{temp}", text))
        assert result.metrics["v"].value == pytest.approx(1230), text
    with pytest.raises(UserInputError, match=r"must be numbers; \{tamb\} is not a number"):
        await simulated(app, tmp_path, deck.replace("{temp}", "{tamb} 100"))
