"""The operating point beside every run, held against what bare ngspice prints for the same circuit."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from pathlib import Path

import pytest

from application.simulation import operating_points, simulating
from domain.simulation.operating_point import (
    MOST_DEVICES,
    DevicePoint,
    OperatingPoint,
    operating_point_from_plain,
    operating_point_lines,
)
from domain.simulation.result import SimulationResult
from domain.simulation.waveform import Plot
from infrastructure.waveforms.raw_file import read_raw
from tests.integration.analyses.conftest import Simulate, plots_of

CORPUS = Path(__file__).parents[2] / "corpus"
AMPLIFIER = """Common emitter with a follower behind it, and one of each other device
.model qn npn(bf=200 vaf=100 is=1e-14)
.model qp pnp(bf=150 vaf=60 is=1e-14)
.model nm nmos(level=1 vto=1 kp=1m)
.model pm pmos(level=1 vto=-1 kp=1m)
.model dz d(is=1e-14 bv=5.1)
.subckt stage in out vcc
Q1 vcc in out qn
RE out 0 1k
.ends
VCC vcc 0 12
Vin in 0 DC 0 AC 1 SIN(0 1m 1k)
Cin in b 10u
R1 vcc b 47k
R2 b 0 10k
RC vcc c 2k
RE e 0 330
Q1 c b e qn
Q2 0 c pe qp
RP vcc pe 1k
X1 c out vcc stage
M1 md c 0 0 nm
RM vcc md 5k
M2 0 c vcc vcc pm
DZ 0 z dz
RZ vcc z 1k
DL 0 vcc leaks
.model leaks d(is=20u)
"""


def device(result: SimulationResult, name: str) -> DevicePoint:
    assert result.operating_point is not None
    return next(each for each in result.operating_point.devices if each.name.lower() == name)


def printed(folder: Path, deck: str, wanted: tuple[str, ...]) -> dict[str, float]:
    """What bare ngspice prints for quantities at the operating point."""
    asked = "".join(f"print {each}\n" for each in wanted)
    path = folder / "bare.cir"
    path.write_text(f"{deck}.control\nop\n{asked}.endc\n.end\n")
    done = subprocess.run(["ngspice", "-b", path], capture_output=True, text=True, check=False, cwd=folder)
    return {name: float(value) for name, value in re.findall(r"^(\S+) = (\S+)", done.stdout, re.MULTILINE)}


def bare_raw(folder: Path, deck: str) -> list[Plot]:
    """What bare ngspice writes."""
    (folder / "bare.cir").write_text(deck)
    command = ["ngspice", "-n", "-b", "-r", "bare.raw", "bare.cir"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return read_raw(folder / "bare.raw")


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take longer over an operating point than a run waits for it."""
    monkeypatch.setattr(simulating, "_LEAST_PATIENCE_S", 60.0)
    monkeypatch.setattr(operating_points, "_LONGEST_S", 60.0)


@pytest.mark.parametrize(
    "cards",
    [
        ".op\n.ac dec 5 10 1meg\n.tran 10u 1m\n.save v(out)\n",
        ".tran 10u 1m uic\n.ic v(b)=0\n",
        ".control\nac dec 5 10 1meg\n.endc\n",
        ".step temp list 27 80\n.ac dec 5 10 1meg\n",
    ],
    ids=["several analyses", "initial conditions", "commands", "steps"],
)
async def test_every_run_tells_its_operating_point(simulate: Simulate, tmp_path: Path, cards: str) -> None:
    result = await simulate(f"{AMPLIFIER}{cards}.end\n")
    assert result.run.status == "ok", result.issues
    point = result.operating_point
    assert point is not None
    wanted = ("@q1[ic]", "@q.x1.q1[ic]", "@dz[id]", "@m1[id]", "@q1[gm]", "v(c)", "i(vcc)")
    bare = await asyncio.to_thread(printed, tmp_path, AMPLIFIER, wanted)
    for name, ngspice in zip(("q1", "x1.q1", "dz", "m1"), wanted, strict=False):
        figures = device(result, name).figures
        assert figures.get("ic", figures.get("id")) == pytest.approx(bare[ngspice], rel=1e-4)
    assert device(result, "q1").figures["gm"] == pytest.approx(bare["@q1[gm]"], rel=1e-4)
    regions = {each.name.lower(): each.region for each in point.devices}
    assert regions == {
        "q1": "active", "q2": "active", "x1.q1": "active",
        "m1": "triode", "m2": "saturation", "dz": "breakdown",
        "dl": "off",
    }  # fmt: skip
    assert point.nodes["c"] == pytest.approx(bare["v(c)"], rel=1e-5)
    assert point.power == pytest.approx(-12 * bare["i(vcc)"], rel=1e-4)
    # The powers of all parts together are what the sources give: no sign is wrong.
    q2 = device(result, "q2").figures
    assert q2["ic"] > 0 > q2["vce"]
    assert q2["power"] == pytest.approx(q2["ic"] * -q2["vce"] + q2["ib"] * -q2["vbe"], rel=1e-6)


MODELS = """\
.model n3 nmos level=3 vto=0.7 uo=500 tox=15n nsub=2e16 theta=0.08 vmax=1e5 kappa=0.3 eta=0.05 nfs=2e11
.model p3 pmos level=3 vto=-0.7 uo=200 tox=15n nsub=2e16 theta=0.08 vmax=1e5 kappa=0.3 eta=0.05 nfs=2e11
.model n4 nmos level=14 version=4.8.1 toxe=4n vth0=0.42 u0=0.035 vsat=9e4 k1=0.5 nfactor=1.2
.model p4 pmos level=14 version=4.8.1 toxe=4n vth0=-0.42 u0=0.009 vsat=8e4 k1=0.5 nfactor=1.2
"""


async def test_transistors_of_level_3_and_bsim4_are_told_as_ngspice_has_them(
    simulate: Simulate, tmp_path: Path
) -> None:
    """Of each model one in saturation, in triode, in weak inversion, with bulk effect, and off."""
    places = {"sat": (1.1, 1.8, 0), "tri": (1.6, 0.1, 0), "bulk": (1.5, 1.6, -0.8), "off": (-0.3, 1, 0)}
    weak = {"n3": 0.52, "p3": 0.52, "n4": 0.38, "p4": 0.38}
    cards, expected = ["MOSFETs\n", MODELS], {}
    for model, gate in weak.items():
        sign = 1 if model[0] == "n" else -1
        for region, volts in {**places, "weak": (gate, 1, 0)}.items():
            name = f"m{model}{region}"
            nodes = [f"{each}{name}" for each in "dgb"]
            cards.append(f"{name} {nodes[0]} {nodes[1]} 0 {nodes[2]} {model} W=10u L=0.5u\n")
            cards += [f"v{n} {n} 0 {sign * v}\n" for n, v in zip(nodes, (volts[1], volts[0], volts[2]),
                                                                strict=True)]  # fmt: skip
            expected[name] = (model, region, sign)
    deck = "".join(cards)
    result = await simulate(deck + ".op\n.end\n")
    keys = {"n3": ("id", "gm", "von", "vdsat"), "n4": ("id", "gm", "vth", "vdsat")}
    wanted = tuple(
        f"@{name}[{key}]" for name, (model, _, _) in expected.items() for key in keys[f"n{model[1]}"]
    )
    bare = await asyncio.to_thread(printed, tmp_path, deck, wanted)
    told = {
        "sat": "saturation",
        "bulk": "saturation",
        "tri": "triode",
        "off": "off",
        "weak": "weak inversion",
    }
    for name, (model, region, sign) in expected.items():
        point = device(result, name)
        assert point.region == told[region], (name, point)
        current, gm, threshold, knee = (bare[f"@{name}[{key}]"] for key in keys[f"n{model[1]}"])
        assert [point.figures[key] for key in ("id", "gm")] == pytest.approx(
            [current, gm], rel=1e-5, abs=1e-15
        )
        assert abs(point.figures["vth"]) == pytest.approx(abs(threshold), rel=1e-5)
        assert point.figures["vth"] * sign > 0
        assert point.figures["vdsat"] * sign == pytest.approx(abs(knee), rel=1e-5)


async def test_its_own_data_are_what_they_were(simulate: Simulate, tmp_path: Path) -> None:
    deck = f"{AMPLIFIER}.save v(out)\n.ac dec 5 10 1meg\n.tran 10u 1m\n.end\n"
    result = await simulate(deck)
    bare = await asyncio.to_thread(bare_raw, tmp_path, deck)
    for ours, theirs in zip(await plots_of(result), bare, strict=True):
        assert list(ours.vectors) == list(theirs.vectors)
        assert all((ours.vectors[name].data == theirs.vectors[name].data).all() for name in ours.vectors)
    kept = await asyncio.to_thread(lambda: {path.name for path in result.result_path.parent.iterdir()})
    assert kept == {"circuit.txt", "ngspice.log", "ngspice.raw", "result.json", "wiring.json"}
    stored = json.loads(await asyncio.to_thread(result.result_path.read_text))["operating_point"]
    assert stored["devices"][0]["name"] == "Q1"


async def test_saturated_and_off_come_first_and_the_bound_is_told(simulate: Simulate) -> None:
    saturated = AMPLIFIER.replace("R1 vcc b 47k", "R1 vcc b 4.7k") + "".join(
        f"Dx{number} vcc far{number} dz\nRx{number} far{number} 0 1k\n" for number in range(MOST_DEVICES)
    )
    result = await simulate(f"{saturated}.op\n.end\n")
    point = result.operating_point
    assert point is not None
    assert device(result, "q1").region == "saturation"
    assert len(point.devices) == MOST_DEVICES
    assert point.left_out == 7  # as many as the amplifier has
    lines = operating_point_lines(point, most_devices=4, most_nodes=5)
    assert len(lines) == 7
    assert lines[0].startswith("Q1 npn SATURATION: IC ")
    assert f"and {MOST_DEVICES + 7 - 4} more" in lines[4]


def test_what_the_rounding_of_a_solver_left_is_told_as_zero() -> None:
    diode = DevicePoint(name="D1", kind="diode", region="off", figures={"id": 3.5e-43, "vd": -60e-6})
    point = OperatingPoint(nodes={"sw": -3.5e-16, "in": 12.0}, devices=(diode,))
    assert operating_point_lines(point) == ["D1 diode off: ID 0 A, VD -60 uV", "nodes: sw 0 V, in 12 V"]


async def test_a_circuit_without_an_operating_point_runs_all_the_same(simulate: Simulate) -> None:
    result = await simulate("two sources\nV1 a 0 1\nV2 a 0 2\nR1 a 0 1\n.tran 1u 1m\n.end\n")
    assert result.operating_point is None
    assert result.run.status == "failed"


async def test_a_run_does_not_wait_for_an_operating_point_that_is_never_found(
    simulate: Simulate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A switch without hysteresis, opened by what it discharges; the circuit starts from zero."""
    monkeypatch.setattr(operating_points, "_LONGEST_S", 3600.0)
    monkeypatch.setattr(simulating, "_LEAST_PATIENCE_S", 0.0)
    deck = await asyncio.to_thread((CORPUS / "convergence" / "switch_sawtooth.cir").read_text)
    result = await simulate(deck)
    assert result.operating_point is None
    assert result.run.issues


async def test_the_power_of_every_element_adds_up(simulate: Simulate) -> None:
    result = await simulate(f"{AMPLIFIER}IB vcc 0 1m\n.tran 10u 100u\n.end\n")
    point = result.operating_point
    assert point is not None
    assert point.is_budget_whole
    delivered, taken = point.budget
    assert delivered == pytest.approx(taken, rel=1e-3)
    assert delivered == pytest.approx(point.power, rel=1e-3)
    by_name = {each.name: each for each in point.elements}
    volts = point.nodes["vcc"] - point.nodes["c"]
    assert by_name["rc"].current == pytest.approx(volts / 2e3)
    assert by_name["rc"].power == pytest.approx(volts**2 / 2e3)
    assert by_name["x1.re"].power == pytest.approx(point.nodes["out"] ** 2 / 1e3)
    assert by_name["cin"].current == 0
    assert by_name["q1"].power == pytest.approx(device(result, "q1").figures["power"], rel=1e-3)
    stored = json.loads(await asyncio.to_thread(result.result_path.read_text))["operating_point"]
    assert operating_point_from_plain(stored) == point
    assert operating_point_from_plain({key: stored[key] for key in stored if key != "elements"}) is not None
