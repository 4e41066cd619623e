"""What the built-in model answers to questions, against bare ngspice with control blocks of our own."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from application.app import Application
from bootstrap import build
from tests.integration.llm.test_bridge_builtin import turn
from tests.unit.llm_adapters.test_builtin_questions import QUESTIONS as ALL

pytestmark = pytest.mark.torture
RESOURCES = Path(__file__).parents[3] / "resources"
RC = """RC low-pass
V1 in 0 DC 0 AC 1 PULSE(0 1 0 1n 1n 5m 10m)
R1 in out 1k
C1 out 0 100n
.ac dec 50 1 1meg
.tran 10u 5m
.end
"""
CE = """Common-emitter amplifier
.include 2N3904.lib
VCC vcc 0 12
VIN in 0 DC 0 AC 1 SIN(0 2m 1k)
C1 in b 10u
R1 vcc b 47k
R2 b 0 10k
RC vcc c 4.7k
RE e 0 1k
CE e 0 47u
C2 c out 10u
RL out 0 10k
Q1 c b e 2N3904
.op
.ac dec 20 1 1g
.tran 5u 20m
.end
"""
CONTROLS = {
    "rc.cir": """ac dec 500 1 1meg
meas ac fc when vdb(out)=-3.0103 fall=1
tran 1u 5m
meas tran v2 find v(out) at=2m
""",
    "ce.cir": """op
let vc = v(c)
let ir1 = (v(vcc)-v(b))/47k
let prc = (v(vcc)-v(c))^2/4.7k
let ic = @q1[ic]
print vc ir1 prc ic
ac dec 200 1 1g
let g = vdb(out)
let z = mag(v(in)/i(vin))
meas ac g10k find g at=10k
meas ac g100k find g at=100k
meas ac gmax max g
meas ac zin find z at=1k
let edge = gmax-3.0103
meas ac low when g=edge rise=1
meas ac high when g=edge fall=1
noise v(out) vin dec 20 1 1g
setplot noise2
print onoise_total
set temp=85
ac dec 200 1 1g
let g = vdb(out)
meas ac g85 max g
""",
    "opamp.cir": """op
let idd = -i(vdd)
let pdd = -1.8*i(vdd)
print idd pdd
ac dec 200 10 1g
let ph = 180/pi*cph(out)
meas ac ph1 find ph at=1meg
meas ac unity when vdb(out)=0 fall=1
meas ac phu find ph when vdb(out)=0 fall=1
let pm = 180+phu
print pm
""",
    "buck.cir": """tran 50n 1m uic
meas tran mean avg v(out) from=800u to=1m
meas tran swing pp v(out) from=800u to=1m
meas tran rip pp v(out) from=980u to=1m
meas tran ipk max i(l1) from=800u to=1m
""",
}
QUESTIONS = (
    ("what is the cut-off of rc.cir?", "rc.cir", "fc"),
    ("rc.cir 的截止频率", "rc.cir", "fc"),
    ("what limits the bandwidth of rc.cir?", "rc.cir", "fc"),
    ("output at 2 ms in rc.cir", "rc.cir", "v2"),
    ("rc.cir 2ms 时的输出电压", "rc.cir", "v2"),
    ("what is the gain of ce.cir at 10 kHz?", "ce.cir", "g10k"),
    ("ce.cir 在100kHz的增益是多少", "ce.cir", "g100k"),
    ("What limits the gain of ce.cir?", "ce.cir", "gmax"),
    ("gain of ce.cir at 85 °C", "ce.cir", "g85"),
    ("ce.cir 在85℃时的增益", "ce.cir", "g85"),
    ("what is the input impedance of ce.cir?", "ce.cir", "zin"),
    ("ce.cir 的下限截止频率是多少", "ce.cir", "low"),
    ("what is the upper cut-off frequency of ce.cir?", "ce.cir", "high"),
    ("what is the voltage at node c in ce.cir?", "ce.cir", "vc"),
    ("current through R1 in ce.cir", "ce.cir", "ir1"),
    ("ce.cir 中 RC 的功耗多大？", "ce.cir", "prc"),
    ("collector current of Q1 in ce.cir", "ce.cir", "ic"),
    ("what's the total output noise of ce.cir?", "ce.cir", "onoise_total"),
    ("phase at 1 MHz in opamp.cir", "opamp.cir", "ph1"),
    ("opamp.cir 的相位裕度是多少？", "opamp.cir", "pm"),
    ("Gain-bandwidth product of opamp.cir?", "opamp.cir", "unity"),
    ("total supply current of opamp.cir", "opamp.cir", "idd"),
    ("opamp.cir 的功耗是多少", "opamp.cir", "pdd"),
    ("buck.cir 的输出电压是多少？", "buck.cir", "mean"),
    ("what is the ripple of buck.cir?", "buck.cir", "rip"),
    ("what is the peak-to-peak value of v(out) in buck.cir?", "buck.cir", "swing"),
    ("buck.cir 电感的峰值电流是多少", "buck.cir", "ipk"),
)
SCALE = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6}


def made(folder: Path) -> Path:
    """A project of five circuits, one of which cannot be simulated."""
    shutil.copytree(RESOURCES / "examples" / "miller-opamp", folder)
    (folder / "opamp_step.cir").unlink()
    shutil.copy(RESOURCES / "examples" / "buck-converter" / "buck.cir", folder)
    (folder / "rc.cir").write_text(RC)
    (folder / "ce.cir").write_text(CE)
    (folder / "broken.cir").write_text("Broken\nV1 in 0 1\nR1 in out 1k\nD1 out 0 DX\n.op\n.end\n")
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("questions") / "project")


@pytest.fixture(scope="module")
def references(project: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], float]:
    """What bare ngspice prints, by circuit and name."""
    folder = tmp_path_factory.mktemp("bare")
    shutil.copytree(project / "lib", folder / "lib")
    shutil.copy(RESOURCES / "spice_models" / "2N3904.lib", folder)
    found: dict[tuple[str, str], float] = {}
    for name, control in CONTROLS.items():
        deck = re.sub(r"(?mi)^\.(?:op|ac|tran|meas|four).*\n", "", (project / name).read_text())
        deck = deck.replace(".end", f".control\n{control}quit\n.endc\n.end")
        (folder / name).write_text(deck)
        ran = subprocess.run(["ngspice", "-b", name], cwd=folder, capture_output=True, text=True, check=False)
        for line in re.finditer(r"(?m)^(\w+)\s+=\s+(\S+)", ran.stdout):
            found[name, line[1].lower()] = float(line[2])
    return found


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Application]:
    app = build(environment={"CIRCUIT_DESIGN_AI_HOME": str(tmp_path / "home")})
    try:
        yield app
    finally:
        await app.close()


def figure_in(said: str) -> float:
    """The first figure of an answer, in SI units."""
    found = re.search(r"(?:= |is |为 |IC )(-?[\d.]+(?:e-?\d+)?) ?([pnuµmkM]?)(?:dB|Hz|V|A|W|Ω|°(?!C))", said)
    assert found is not None, said
    return float(found[1]) * SCALE[found[2]]


@pytest.mark.parametrize(("text", "circuit", "name"), QUESTIONS)
async def test_an_answer_has_the_figure_of_ngspice(
    app: Application,
    project: Path,
    references: dict[tuple[str, str], float],
    text: str,
    circuit: str,
    name: str,
) -> None:
    _, said = await turn(app, project, text)
    expected = references[circuit, name]
    assert figure_in(said) == pytest.approx(expected, rel=0.01), said


NAMED = [
    text
    for text, intent, said in ALL
    if intent == "find_part" or (said.get("file") and said["file"] in text and intent != "compare")
]
"""Those that say which of the five circuits is meant, or are about none of them."""


@pytest.mark.parametrize("text", NAMED)
async def test_every_question_is_answered(app: Application, tmp_path: Path, text: str) -> None:
    called, said = await turn(app, made(tmp_path / "project"), text)
    assert called, said
    assert not re.search(
        r"do not understand|That did not work|cannot be determined|没有听懂|没有成功|无法得到", said
    ), said
