"""What is remembered of sound lines changes no finding: after any edits they are those of a first look."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from domain.circuit import reference_checks, structure_checks, topology, wiring_checks
from domain.circuit.dependencies import SourceFile, SourceRefusal, resolve_dependencies
from domain.circuit.diagnostics import Diagnostic, diagnose
from domain.circuit.netlist import Netlist
from domain.circuit.sound_lines import SoundLines
from tests.ground.campaign import Campaign, campaigns

PATH = Path("/project/edited.cir")
CIRCUIT = """\
.param gain=2 rload=1k
.func twice(x) {2*x}
V1 in 0 dc 1 ac 1
Vcc vcc 0 5
R1 in base {rload*gain}
R2 base 0 rload
R3 out 0 {twice(rload)}
R4 lone base 1k tc1=gain
L1 out tank 1u
C1 tank 0 10p ic=gain
Q1 out base 0 fast
Q2 vcc base out fast area=gain
D1 out 0 slow
M1 out base 0 0 chan w=1u l=1u
X1 in out amp w=gain
.subckt amp a b w=1u
R1 a m 1k
R2 m b {w*1g}
D1 m 0 slow
.model slow d(is=1f)
.ends amp
.model fast npn(bf=100)
.model slow d
.model chan nmos(level=1)
.ac dec 10 1 1meg
.print ac v(lone)
.ic v(tank)=1
"""
LINES = CIRCUIT.splitlines()
OTHERS = (
    ".param rload=2k", ".param gain", "R2 base 0 rlood", "Q1 out base fast", "D1 out 0 fast",
    "R1 in base (1k",
    ".model fast pnp", ".subckt amp a w=1u", "L2 out tank 1u", "V2 in 0 1", ".model slow npn", "R9 q w 1k",
    "Q1 out base 0 off", ".options rshunt=1g", "plot v(out)", "= 1k", ".endss", "R5 in 0 1k tc=1,2",
)  # fmt: skip


class _NoFiles:
    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        return SourceRefusal(path=including_file.with_name(reference), reason="missing")

    def find(self, name: str) -> Path | None:
        return None if name else PATH


def found_in(lines: list[str]) -> tuple[Diagnostic, ...]:
    netlist = Netlist.parse(("title\n" + "\n".join(lines) + "\n.end\n").encode(), path=PATH)
    return diagnose(netlist, resolve_dependencies(netlist, _NoFiles()))


@pytest.fixture
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (structure_checks, reference_checks, wiring_checks):
        monkeypatch.setattr(module, "_SOUND", SoundLines())
    monkeypatch.setattr(topology, "_KEPT", {})


def as_at_first(lines: list[str]) -> tuple[Diagnostic, ...]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (structure_checks, reference_checks, wiring_checks):
            patch.setattr(module, "_SOUND", SoundLines())
        patch.setattr(topology, "_KEPT", {})
        return found_in(lines)


@campaigns(fast=60, whole=20_000)
@pytest.mark.usefixtures("forget")
def test_after_any_edits_the_findings_are_those_of_a_first_look(campaign: Campaign) -> None:
    lines, told = list(LINES), set[str]()
    for rng in campaign.cases():
        if rng.random() < 0.2:
            lines = list(LINES)
        _edit(lines, rng)
        found = found_in(lines)
        assert found == as_at_first(lines), lines
        told |= {each.code for each in found}
    assert len(told) > 10, "the edits do break something"


def _edit(lines: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, rng.choice(OTHERS))
        case 2:
            lines[at] = rng.choice((*OTHERS, *LINES))
        case _:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
    if not lines:
        lines.extend(LINES)


def test_what_is_remembered_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("domain.circuit.sound_lines._MOST", 10)
    sound = SoundLines()
    for number in range(100):
        sound.among("here" if number % 2 else "there").add(number)
        assert len(sound.among("here")) + len(sound.among("there")) <= 12
