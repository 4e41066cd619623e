"""Circuits and network data between programs: what is written simulates again to the same numbers."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from domain.circuit.exchange.ltspice_expressions import Unsayable, in_ltspice
from domain.simulation.touchstone import Network, read_touchstone, touchstone_text
from shared.errors import UserInputError
from tests.integration.cli.conftest import Cli

MODELS = (
    ".model dm D(is=1e-14 n=1.2 cjo=2p)\n.model qn NPN(bf=120 vaf=80)\n"
    ".model sm SW(vt=1 vh=0.1 ron=1 roff=1meg)\n"
)
AMPLIFIER = """* mixed circuit
.include "parts.lib"
.param rl=2k gain='1+2^2' hot={rl > 1k ? 3 : 4}
.func twice(x) {2*x}
V1 in 0 DC 0.7 AC 1 SIN(0.7 10m 1k)
Vcc vcc 0 12
R1 in b {twice(500)} ; inline
Q1 c b 0 qn
Rc vcc c {rl}
D1 c d dm
Rd d 0 10k
B1 x 0 V = v(c) > 3 ? v(c)^2/10 : gain
E1 y 0 vol='hot*v(x)'
Ry y 0 1k
S1 y s in 0 sm
Rs s 0 1k
X1 y z half
Rz z 0 1k
.subckt half a b params: r=1k
Ra a b {r}
Rb b 0 {r}
.ends
.options reltol=1e-4 klu
.ac dec 10 10 1meg
.meas ac peak MAX vdb(c)
.print ac v(c)
.end
"""
SIGNALS = ["mag(v(c))", "mag(v(d))", "mag(v(x))", "mag(v(y))", "mag(v(z))"]


@pytest.fixture
def amplifier(tmp_path: Path) -> Path:
    (tmp_path / "parts.lib").write_text(MODELS)
    circuit = tmp_path / "amp.cir"
    circuit.write_text(AMPLIFIER)
    return circuit


def figures(cli: Cli, circuit: Path, *options: object) -> dict[str, float]:
    run = cli("simulate", circuit, *options, "--json")
    assert run.exit_code == 0, run.document
    asked = [f"{name.replace('mag(', 'mag(')}" for name in SIGNALS]
    measured = cli(
        "measure", run.document["result_path"], *[f"at({each},1k)" for each in asked], "--json"
    ).document
    return {name: each["value"] for name, each in measured["values"].items()}


def test_what_is_written_for_ltspice_and_kicad_simulates_alike(
    cli: Cli, tmp_path: Path, amplifier: Path
) -> None:
    before = figures(cli, amplifier)
    assert len(before) == len(SIGNALS)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    made = cli("export", amplifier, "-o", elsewhere / "amp.net", "--format", "ltspice", "--json")
    assert made.exit_code == 0, made.document
    text = (elsewhere / "amp.net").read_text()
    told = " ".join(each["message"] for each in made.document["warnings"])
    assert "klu" in told
    assert ".model qn" in text  # what is included stands in it
    assert ".include" not in text
    assert "if(rl > 1k,3,4)" in text
    assert "1+2**2" in text
    assert "B1 x 0 V=if(v(c) > 3,v(c)**2/10,gain)" in text
    assert "SINE(0.7" in text
    assert "\n.print" not in text
    again = figures(cli, elsewhere / "amp.net", "--dialect", "ltspice")
    assert again == pytest.approx(before, rel=1e-6)

    assert cli("export", amplifier, "-o", elsewhere / "part.cir", "--format", "kicad").exit_code == 0
    part = (elsewhere / "part.cir").read_text()
    assert "\n.ac" not in part
    assert "*   .ac dec 10 10 1meg" in part
    sheet = elsewhere / "sheet.cir"
    sheet.write_text('KiCad\n.include "part.cir"\n.ac dec 10 10 1meg\n.end\n')
    assert figures(cli, sheet) == pytest.approx(before, rel=1e-6)


def test_what_has_no_counterpart_is_told_and_stands_as_a_comment(cli: Cli, tmp_path: Path) -> None:
    circuit = tmp_path / "odd.cir"
    circuit.write_text(
        "* odd\nV1 a 0 trnoise(1m 1n 0 0)\nA1 a b buf\n.model buf d_buffer\nB1 c 0 V=hertz*v(a)\n"
        "M1 c a 0 0 nm\n.model nm NMOS(level=68)\nR1 a 0 1k\n.sens v(a)\n.control\nrun\n.endc\n"
        ".tran 1n 1u\n.end\n"
    )
    made = cli("export", circuit, "-o", tmp_path / "odd.net", "--format", "ltspice", "--json")
    assert made.exit_code == 1
    told = [each["message"] for each in made.document["errors"]]
    for words in ("trnoise", "XSPICE", "hertz", "level 68", "d_buffer"):
        assert any(words in each for each in told), (words, told)
    text = (tmp_path / "odd.net").read_text()
    assert "\n* A1 a b buf" in text
    assert "\nR1 a 0 1k" in text
    assert any(".control" in each["message"] for each in made.document["warnings"])
    assert cli("export", circuit, "-o", circuit, "--format", "kicad", "--force").exit_code == 2
    assert cli("export", circuit, "-o", tmp_path / "odd.net", "--format", "kicad").exit_code == 2
    (tmp_path / "gone.cir").write_text('* x\n.include "nowhere.lib"\nR1 a 0 1\n.end\n')
    assert (
        cli("export", tmp_path / "gone.cir", "-o", tmp_path / "g.net", "--format", "ltspice").exit_code == 2
    )


class _Circuit:
    """PySpice's class as far as the scripts use it: what its calls write, by its documentation."""

    made: ClassVar[list[_Circuit]] = []

    def __init__(self, title: str) -> None:
        self.lines, self.raw_spice, self.runs = [f"* {title}"], "", list[tuple[str, dict[str, Any]]]()
        _Circuit.made.append(self)

    def __getattr__(self, letter: str) -> Any:
        def call(name: str, *given: str) -> None:
            words = (*given[1:], given[0]) if letter == "X" else given
            self.lines.append(" ".join((f"{letter}{name}", *words)))

        return call

    def simulator(self, **_given: float) -> Any:
        runs = self.runs

        class Simulator:
            def __getattr__(self, kind: str) -> Any:
                return lambda **given: runs.append((kind, given))

        return Simulator()


def test_expressions_of_any_shape_are_said_or_told() -> None:
    assert in_ltspice("a > 1 ? b ? 1 : 2 : (c ? 3 : 4)^2") == "if(a > 1,if(b,1,2),(if(c,3,4))**2)"
    assert in_ltspice("pwr(nint(x), 2) && temper", is_source=True) == "pwrs(round(x),2) & temp"
    assert in_ltspice("agauss(1k, 10, 3)") == "((1k)+gauss((10)/(3)))"
    assert in_ltspice("+".join(["f(1)"] * 20_000)).count("f(1)") == 20_000
    for odd in ("x>1?1:" * 5000 + "0", "(" * 5000, "a == b", "@m1[gm]", "a ? b", "limit(1,2)", "x\0001\0"):
        with pytest.raises(Unsayable):
            in_ltspice(odd)


def test_a_pyspice_script_makes_the_same_circuit(
    cli: Cli, tmp_path: Path, amplifier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = figures(cli, amplifier)
    script = tmp_path / "amp.py"
    assert cli("export", amplifier, "-o", script).exit_code == 0
    module = types.ModuleType("PySpice.Spice.Netlist")
    module.Circuit = _Circuit  # type: ignore[attr-defined]
    for name in ("PySpice", "PySpice.Spice", "PySpice.Spice.Netlist"):
        monkeypatch.setitem(sys.modules, name, module)
    exec(compile(script.read_text(), "amp.py", "exec"), {"__name__": "__main__"})
    (circuit,) = _Circuit.made
    ((kind, given),) = circuit.runs
    assert (kind, given["variation"], given["stop_frequency"]) == ("ac", "dec", 1e6)
    back = tmp_path / "back.cir"
    back.write_text("\n".join((*circuit.lines, circuit.raw_spice, ".ac dec 10 10 1meg", ".end\n")))
    assert figures(cli, back) == pytest.approx(before, rel=1e-6)
    # The way back: followed, not run.
    again = tmp_path / "again.cir"
    assert cli("import", script, "-o", again).exit_code == 0
    assert figures(cli, again) == pytest.approx(before, rel=1e-6)
    # A script is a program: one without a circuit is not read, let alone run.
    script.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    refused = cli("import", script, "-o", tmp_path / "x.cir", "--json")
    assert refused.exit_code == 2
    assert "is_a_program" in refused.stdout
    assert not (tmp_path / "ran").exists()


LINE = """* attenuator with a pole
V1 1 0 dc 0 ac 1 portnum 1 z0 50
R1 1 m 25
C1 m 0 20p
R2 m 2 25
V2 2 0 dc 0 portnum 2 z0 50
.sp dec 5 1meg 1g
.end
"""


def test_touchstone_out_and_in_again(cli: Cli, tmp_path: Path) -> None:
    circuit = tmp_path / "line.cir"
    circuit.write_text(LINE)
    run = cli("simulate", circuit, "--json").document
    made = cli("export", run["result_path"], "-o", tmp_path / "line.s2p", "--json")
    assert (made.exit_code, made.document["ports"]) == (0, 2)
    assert cli("export", run["result_path"], "-o", tmp_path / "line.s3p").exit_code == 2
    network = read_touchstone((tmp_path / "line.s2p").read_text(), "line.s2p")
    s = 2j * np.pi * network.frequencies * 20e-12
    shunt = 1 / s
    seen = 25 + shunt * 75 / (shunt + 75)
    assert network.values[:, 0, 0] == pytest.approx((seen - 50) / (seen + 50), rel=1e-6)
    assert network.values[:, 1, 0] == pytest.approx(network.values[:, 0, 1], rel=1e-9)
    assert cli("import", tmp_path / "line.s2p").exit_code == 0
    raw = cli("measure", tmp_path / "line.raw", "at(mag(s21),10meg)", "--json").document
    ten = int(np.argmin(abs(network.frequencies - 1e7)))
    assert raw["values"]["at(mag(s21),10meg)"]["value"] == pytest.approx(
        abs(network.values[ten, 1, 0]), rel=1e-6
    )
    # An impedance in an .ac result is a one-port.
    circuit.write_text("* z\nV1 a 0 ac 1\nR1 a b 30\nC1 b 0 1n\n.ac dec 5 1k 1g\n.end\n")
    run = cli("simulate", circuit, "--json").document
    done = cli("export", run["result_path"], "-o", tmp_path / "z.s1p", "--signals", "v(a)/-i(v1)", "--z0", 75)
    assert done.exit_code == 0
    one = read_touchstone((tmp_path / "z.s1p").read_text(), "z.s1p")
    z = 30 + 1 / (2j * np.pi * one.frequencies * 1e-9)
    assert one.reference_ohm == 75
    assert one.values[:, 0, 0] == pytest.approx((z - 75) / (z + 75), rel=1e-6)
    assert cli("export", run["result_path"], "-o", tmp_path / "no.s1p").exit_code == 2


def test_touchstone_files_of_others_are_read_and_broken_ones_told() -> None:
    two = "! fixture\n# MHz S dB R 50\n100 -3 90 -20 0 0 0 -6 180 ! row\n200 -3 0 -20 0 0 0 -6 0\n"
    noise = "100 1.2 0.5 30 0.3\n200 1.4 0.4 20 0.2\n"
    network = read_touchstone(two + noise, "a.S2P")
    assert network.frequencies.tolist() == [1e8, 2e8]
    assert abs(network.values[0, 1, 0]) == pytest.approx(0.1)
    assert abs(network.values[0, 0, 1]) == pytest.approx(1)
    assert len(network.notes) == 1
    version_2 = (
        "[Version] 2.0\n# GHz Z RI\n[Number of Ports] 2\n[Two-Port Data Order] 12_21\n[Network Data]\n"
        "1 1 0 2 0 3 0 4 0\n[End]\nx"
    )
    assert read_touchstone(version_2, "a.ts2p.s2p").values[0].real.tolist() == [[1, 2], [3, 4]]
    assert read_touchstone("# Hz Z RI R 10\n5 2 0\n", "a.s1p").values[0, 0, 0] == 20
    rng = np.random.default_rng(7)
    values = rng.normal(size=(3, 5, 5)) + 1j * rng.normal(size=(3, 5, 5))
    five = Network(kind="s", reference_ohm=50.0, frequencies=np.array([1.0, 2, 3]), values=values)
    assert np.array_equal(read_touchstone(touchstone_text(five), "a.s5p").values, values)
    for text, name in (
        ("", "a.s2p"),
        ("# GHz S MA\n1 2 3 four", "a.s1p"),
        ("# GHz S XY\n1 2 3", "a.s1p"),
        ("1 2 3\n1 2 3", "a.s1p"),
        ("1 2 nan", "a.s1p"),
        ("1 2 3", "a.s0p"),
        ("# R 0\n1 2 3", "a.s1p"),
        ("1 " * 12, "a.s2p"),
    ):
        with pytest.raises(UserInputError) as error:
            read_touchstone(text, name)
        assert error.value.error_type == "bad_touchstone", name


QUCS = """# Qucs 24.3.1  amp.sch
.Def:half in out R="1k"
R:R1 in out R="R"
R:R2 out gnd R="R"
.Def:End
Vdc:V1 vcc gnd U="12 V"
Vac:V2 in gnd U="1 V" f="1 kHz" Phase="0" Theta="0"
R:R1 vcc c R="2 kOhm" Temp="26.85" Tc1="0.0"
C:C1 in b C="10 uF" V=""
R:R2 vcc b R="1 MOhm"
BJT:T1 b c gnd gnd Type="npn" Is="1e-16" Bf="100" Vaf="80" Temp="26.85"
Diode:D1 c gnd Is="1e-15 A" N="1" Cj0="10 fF"
VCVS:SRC1 c e gnd gnd G="2"
Sub:X1 e f Type="half" R="5k"
Thing:Q9 a b C="1"
.AC:AC1 Type="log" Start="10 Hz" Stop="1 MHz" Points="51" Noise="no"
"""


def test_a_netlist_of_qucs_is_the_circuit_it_says(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "amp.txt").write_text(QUCS)
    made = cli("import", tmp_path / "amp.txt", "--json")
    assert made.exit_code == 1
    assert [each["message"] for each in made.document["errors"]] == [
        "Line 15: Thing Q9 has no counterpart that is known here."
    ]
    spice = tmp_path / "same.cir"
    spice.write_text(
        "* same\nV1 vcc 0 12\nV2 in 0 DC 0 AC 1\nR1 vcc c 2k\nC1 in b 10u\nR2 vcc b 1meg\nQ1 c b 0 qm\n"
        ".model qm NPN(is=1e-16 bf=100 vaf=80)\nD1 0 c dm\n.model dm D(is=1e-15 n=1 cjo=10f)\n"
        "E1 e 0 c 0 2\nRa e f 5k\nRb f 0 5k\n.ac dec 10 10 1meg\n.end\n"
    )
    values = []
    for circuit in (tmp_path / "amp.cir", spice):
        run = cli("simulate", circuit, "--json")
        assert run.exit_code == 0, run.document
        asked = cli("measure", run.document["result_path"], "at(mag(v(c)),1k)", "at(mag(v(f)),1k)", "--json")
        values.append({name: each["value"] for name, each in asked.document["values"].items()})
    assert values[0] == pytest.approx(values[1], rel=1e-4)
    assert values[0]["at(mag(v(c)),1k)"] > 10
