"""Values that follow a measured quantity, on real circuits and against closed forms."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from application.app import Application
from application.optimization.pulling import PullRequest
from domain.circuit.preferred_values import is_preferred
from domain.simulation.goals import DesignGoal
from domain.studies.free_values import free_values
from shared.errors import UserInputError

RLC = """* Series resonance, taken at the capacitor
V1 in 0 DC 0 AC 1
L1 in a 1m
R1 a out 50
C1 out 0 10n
RX in x 1k
RY x 0 1k
.ac dec 400 10k 200k
.end
"""


def _request(circuit: Path, expression: str, unit: str, text: str = RLC, **more: object) -> PullRequest:
    values = free_values(text.encode())
    return PullRequest(circuit=circuit, expression=expression, unit=unit, values=values, **more)  # type: ignore[arg-type]


def _write(circuit: Path, text: str = RLC) -> None:
    circuit.write_text(text, encoding="utf-8")


def _text(circuit: Path) -> str:
    return circuit.read_text(encoding="utf-8")


async def test_a_peak_is_pulled_where_it_is_wanted(app: Application, tmp_path: Path) -> None:
    circuit = tmp_path / "rlc.cir"
    _write(circuit)
    goal = DesignGoal(metric="half", expression="mag(at(v(x),20k))", unit="V", minimum=0.4, maximum=0.6)
    low = DesignGoal(metric="low", expression="mag(at(v(out),10k))", unit="V", maximum=1.1)
    request = _request(circuit, "db(max(mag(v(out))))", "dB", goals=(goal, low))
    async with app.design.pull(request) as pull:
        assert len(pull.written) == 2
        assert "RX" not in pull.written
        assert pull.here.measured == pytest.approx(16.045, abs=0.01)  # Q = 6.32
        assert pull.aim(12.0)
        found = await pull.settle()
        assert found.is_met
        at = {"L1": 1e-3, "R1": 50.0, "C1": 10e-9, **found.values}
        q = math.sqrt(at["L1"] / at["C1"]) / at["R1"]
        assert 20 * math.log10(q / math.sqrt(1 - 1 / (4 * q * q))) == pytest.approx(12.0, abs=0.02)
        assert {each.goal.metric: each.is_met for each in found.goals} == {"half": True, "low": True}
        assert pull.aim(20.0)
        bought = await pull.settle("E24")
        assert all(is_preferred(value, "E24") for value in bought.values.values())
        assert bought.measured == pytest.approx(20.0, abs=0.4)
    assert _text(circuit) == RLC


async def test_what_is_being_written_is_pulled_and_what_cannot_be_is_said(
    app: Application, tmp_path: Path
) -> None:
    circuit = tmp_path / "rlc.cir"
    _write(circuit)
    typed = RLC.replace("R1 a out 50", "R1 a out 100")
    being_written = {circuit.resolve(): typed.encode()}
    request = _request(circuit, "db(max(mag(v(out))))", "dB", typed, texts=being_written, chosen=("r1",))
    async with app.design.pull(request) as pull:
        assert dict(pull.written) == {"R1": 100.0}
        assert pull.here.measured == pytest.approx(10.11, abs=0.02)
    for expression, chosen, told in (
        ("db(max(mag(v(nowhere))))", (), "nowhere"),
        ("lowcut(v(out))", ("R1",), "could not be measured"),
        ("mag(at(v(x),20k))", ("C1",), "No value of rlc.cir that may follow moves"),
        ("mag(at(v(x),20k))", ("R99",), "no part whose value may follow"),
    ):
        with pytest.raises(UserInputError) as caught:
            async with app.design.pull(_request(circuit, expression, "V", chosen=chosen)):
                pass
        assert told in str(caught.value.message)


async def test_a_load_follows_only_where_it_is_chosen(app: Application, tmp_path: Path) -> None:
    circuit = tmp_path / "load.cir"
    _write(circuit, "* a current into a load\nI1 0 out AC 1m\nRL out 0 1k\n.ac dec 5 1 1k\n.end\n")
    _, values = await app.design.pull.values_of(circuit, {})
    asked = PullRequest(circuit=circuit, expression="mag(at(v(out),10))", unit="V", values=values)
    with pytest.raises(UserInputError) as caught:
        async with app.design.pull(asked):
            pass
    assert "(RL)" in str(caught.value.advice)
    async with app.design.pull(replace(asked, chosen=("RL",))) as pull:
        assert pull.aim(2.0)
        assert (await pull.settle()).values["RL"] == pytest.approx(2e3, rel=1e-4)


CORNERED = """* A resistor of a process and a capacitor
V1 in 0 AC 1
R1 in out {1k * slow}
C1 out 0 100n
.lib models.lib tt
.ac dec 40 10 1meg
.end
"""
LIBRARY = ".lib tt\n.param slow=1\n.endl\n.lib ss\n.param slow=1.25\n.endl\n"


async def test_it_is_pulled_at_a_process_corner(app: Application, tmp_path: Path) -> None:
    circuit = tmp_path / "corner.cir"
    _write(circuit, CORNERED)
    _write(tmp_path / "models.lib", LIBRARY)
    request = _request(circuit, "bandwidth(v(out))", "Hz", CORNERED, corner="SS")
    async with app.design.pull(request) as pull:
        assert pull.here.measured == pytest.approx(1 / (2 * math.pi * 1.25e3 * 1e-7), rel=2e-3)
        assert pull.aim(2e3)
        found = await pull.settle()
    assert found.values["C1"] == pytest.approx(1 / (2 * math.pi * 1.25e3 * 2e3), rel=2e-3)
    with pytest.raises(UserInputError) as caught:
        async with app.design.pull(_request(circuit, "bandwidth(v(out))", "Hz", CORNERED, corner="FF")):
            pass
    assert "FF" in str(caught.value.message)


STEPPED = """* Loaded RC: the band is (1 + R1 / rload) / (2 pi R1 C1)
V1 in 0 AC 1
R1 in out 1k tc1=2m
C1 out 0 100n
Rl out 0 {rload}
.step param rload list 1k 10k
.ac dec 40 10 1meg
.meas ac level find vm(out) at=100
.end
"""


@pytest.mark.parametrize(
    ("expression", "at", "start", "target", "is_held"),
    [
        ("bandwidth(v(out))", {}, 3183.1, 2000.0, False),  # as studies do: at the first step
        ("bandwidth(v(out))", {"rload": 10e3}, 1750.7, 2000.0, False),
        ("bandwidth(v(out))", {"temp": 127.0, "rload": 10e3}, 1485.4, 2000.0, False),
        ("level", {"rload": 10e3}, 0.9076, 0.8, False),  # a .meas card, by its name
        ("bandwidth(v(out))", {"R1": 2e3}, 2387.3, 3000.0, True),  # what is held does not follow
    ],
)
async def test_it_is_pulled_at_one_step_and_in_a_condition(
    app: Application, tmp_path: Path, expression: str, at: dict[str, float], start: float, target: float,
    is_held: bool,
) -> None:  # fmt: skip
    circuit = tmp_path / "stepped.cir"
    _write(circuit, STEPPED)
    async with app.design.pull(_request(circuit, expression, "Hz", STEPPED, at=at)) as pull:
        assert pull.here.measured == pytest.approx(start, rel=2e-3)
        assert ("R1" not in pull.written) is is_held
        assert pull.aim(target)
        values = {"R1": 1e3, "C1": 1e-7, "rload": 1e3, "temp": 27.0, **at, **(await pull.settle()).values}
    r = values["R1"] * (1 + 2e-3 * (values["temp"] - 27))
    share = values["rload"] / (r + values["rload"])
    corner = 1 / (2 * math.pi * r * share * values["C1"])
    reached = share / math.hypot(1, 100 / corner) if expression == "level" else corner
    assert reached == pytest.approx(target, rel=2e-3)
