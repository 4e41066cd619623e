"""A stand-in for a process design kit with the structure of SKY130's library, found through $PDK_ROOT.

Sections with nested includes, parameters in continuation lines of corner files, mismatch parameters with
agauss(), binned BSIM4 models inside a subcircuit. SKY130 itself is not part of the tests.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from application.app import Application
from application.simulation.simulating import SimulationRequest
from domain.circuit.simulator_settings import ModelFile, SimulatorSettings
from domain.simulation.expressions import evaluate
from infrastructure.waveforms.raw_file import read_raw

SECTION = """.lib {name}
.param mc_mm_switch=0
.include "corners/{name}.spice"
.include "all.spice"
.endl {name}
"""
CORNER = """* corner
.param
+ sky130_fd_pr__nfet_01v8__vth0_diff = 0
+ nfet_vth0 = {vth0}
+ nfet_u0 = {u0}
.include "../../../libs.ref/sky130_fd_pr/spice/nfet_01v8.spice"
"""
DEVICE = """* a binned model in a subcircuit
.subckt sky130_fd_pr__nfet_01v8 d g s b
+ params: l=0.15 w=1 nf=1 mult=1
+ vth0_mm={mc_mm_switch*agauss(0,1.0,1)*sky130_fd_pr__nfet_01v8__vth0_slope/sqrt(l*w*mult)}
Mnfet d g s b nfet_model l={l} w={w} nf={nf} m={mult}
.model nfet_model.0 nmos
+ level=54 version=4.5
+ lmin=1e-07 lmax=4e-07 wmin=4e-07 wmax=1e-05
+ toxe=4.1e-09 vth0={nfet_vth0+vth0_mm+sky130_fd_pr__nfet_01v8__vth0_diff} u0={nfet_u0}
.model nfet_model.1 nmos
+ level=54 version=4.5
+ lmin=4e-07 lmax=1e-04 wmin=4e-07 wmax=1e-04
+ toxe=4.1e-09 vth0={nfet_vth0+0.02} u0={nfet_u0}
.ends sky130_fd_pr__nfet_01v8
"""
CIRCUIT = """one transistor
.lib "$PDK_ROOT/sky130A/libs.tech/ngspice/sky130.lib.spice" {section}
VD d 0 1.8
VG g 0 1.8
X1 d g 0 0 sky130_fd_pr__nfet_01v8 l=0.15 w=1
X2 d g 0 0 sky130_fd_pr__nfet_01v8 l=1 w=1
.op
.end
"""


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    tech = tmp_path / "pdk" / "sky130A" / "libs.tech" / "ngspice"
    device = tmp_path / "pdk" / "sky130A" / "libs.ref" / "sky130_fd_pr" / "spice"
    (tech / "corners").mkdir(parents=True)
    device.mkdir(parents=True)
    (tech / "sky130.lib.spice").write_text(
        "* kit\n" + "".join(SECTION.format(name=n) for n in ("tt", "ff", "ss"))
    )
    for name, vth0, u0 in (("tt", 0.48, 0.05), ("ff", 0.43, 0.055), ("ss", 0.53, 0.045)):
        (tech / "corners" / f"{name}.spice").write_text(CORNER.format(vth0=vth0, u0=u0))
    (tech / "all.spice").write_text(
        ".param sky130_fd_pr__nfet_01v8__vth0_slope = 0.003\n.option scale=1.0u\n"
    )
    (device / "nfet_01v8.spice").write_text(DEVICE)
    return tmp_path / "pdk"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".circuit_ai").mkdir(parents=True)
    return folder


async def _current(app: Application, project: Path, section: str) -> float:
    circuit = project / f"nmos_{section}.cir"
    await asyncio.to_thread(circuit.write_text, CIRCUIT.format(section=section))
    result = await app.simulation.run(SimulationRequest(circuit=circuit))
    assert result.ok, [str(issue.message) for issue in result.issues]
    plots = await asyncio.to_thread(read_raw, result.run.raw_paths[0])
    return -evaluate("i(vd)", plots).value


async def test_a_kit_is_found_through_its_variable(app: Application, kit: Path, project: Path) -> None:
    settings = SimulatorSettings(variables={"PDK_ROOT": str(kit)})
    await asyncio.to_thread(app.simulation.settings.save, project, settings)
    slow, typical, fast = [await _current(app, project, section) for section in ("ss", "tt", "ff")]
    assert 1e-4 < slow < typical < fast < 2e-3


async def test_without_its_setting_it_is_not(app: Application, kit: Path, project: Path) -> None:
    circuit = project / "nmos.cir"
    await asyncio.to_thread(circuit.write_text, CIRCUIT.format(section="tt"))
    result = await app.simulation.run(SimulationRequest(circuit=circuit))
    assert [issue.code for issue in result.run.errors] == ["missing-include"]


async def test_model_files_and_dialect_of_a_project(app: Application, kit: Path, project: Path) -> None:
    """A circuit that names no library gets the project's; settings are not in the project."""
    library = kit / "sky130A" / "libs.tech" / "ngspice" / "sky130.lib.spice"
    settings = SimulatorSettings(
        model_files=(ModelFile(path=library, section="ff"),), libraries=(kit,), dialect="hspice"
    )
    await asyncio.to_thread(app.simulation.settings.save, project, settings)
    circuit = project / "plain.cir"
    lines = [line for line in CIRCUIT.splitlines() if not line.startswith(".lib")]
    await asyncio.to_thread(circuit.write_text, "\n".join(lines))
    result = await app.simulation.run(SimulationRequest(circuit=circuit))
    assert result.ok, [str(issue.message) for issue in result.issues]
    assert result.dialect == "hspice"
    inside = await asyncio.to_thread(lambda: [path.name for path in project.rglob("*settings*")])
    assert inside == []


async def test_damaged_settings_are_told(app: Application, project: Path, tmp_path: Path) -> None:
    from shared.errors import UserInputError

    home = tmp_path / "user"
    await asyncio.to_thread(home.mkdir)
    text = json.dumps({"projects": {str(project): {"dialect": "klingon"}}})
    await asyncio.to_thread((home / "simulator_settings.json").write_text, text)
    with pytest.raises(UserInputError, match="damaged"):
        await asyncio.to_thread(app.simulation.settings.of_circuit, project / "x.cir")
