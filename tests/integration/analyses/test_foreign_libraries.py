"""Libraries as LTspice and PSpice netlists name them: by Windows paths, by name, or known to them alone."""

from __future__ import annotations

import struct
import wave
from pathlib import Path

import pytest

from application.app import Application
from application.simulation.simulating import SimulationRequest
from domain.circuit.elements import parse_element
from domain.circuit.netlist import Netlist
from domain.circuit.op_amp_figures import figures_of
from domain.circuit.stand_ins import zener_voltage
from domain.simulation.result import SimulationResult
from tests.integration.analyses.conftest import plots_of

BIAS = (
    "* C:\\Users\\me\\amp.asc\nV1 vcc 0 10\nR1 vcc b 1Meg\nR2 vcc c 4.7k\nQ1 c b 0 0 2N3904\n"
    ".model NPN NPN\n.model PNP PNP\n"
    ".lib C:\\Program Files (x86)\\LTC\\LTspiceIV\\lib\\cmp\\standard.bjt\n.op\n.backanno\n.end\n"
)


async def _run(
    app: Application, circuit: Path, *libraries: Path
) -> tuple[SimulationResult, dict[str, float]]:
    result = await app.simulation.run(SimulationRequest(circuit=circuit, libraries=libraries))
    assert result.run.status == "ok", result.issues
    plots = await plots_of(result)
    return result, {
        vector.name: float(vector.data[0])
        for vector in plots[0].vectors.values()
        if vector.name.startswith("v(")
    }


async def _errors(app: Application, circuit: Path, *libraries: Path) -> list[str]:
    report = await app.simulation.check(circuit, libraries)
    return [d.code for d in report.diagnostics if d.severity in ("error", "warning")]


async def test_a_stand_in_is_used_and_told(app: Application, tmp_path: Path) -> None:
    circuit = tmp_path / "amp.net"
    circuit.write_text(BIAS)
    result, volts = await _run(app, circuit)
    # (10 - 0.65) / 1M into a gain of about 200: 1.9 mA, so the collector is near 1 V
    assert 0.3 < volts["v(c)"] < 5
    assert 0.55 < volts["v(b)"] < 0.75
    told = [str(note.message) for note in result.notes]
    assert any("2N3904" in text and "is used in its place" in text for text in told), told
    assert await _errors(app, circuit) == []


async def test_the_library_itself_is_found_by_its_name(app: Application, tmp_path: Path) -> None:
    circuit = tmp_path / "work" / "amp.net"
    library = tmp_path / "LTspice" / "lib" / "cmp" / "Standard.BJT"
    for path in (circuit, library):
        path.parent.mkdir(parents=True)
    circuit.write_text(BIAS)
    library.write_text(".model 2N3904 NPN(IS=1e-14 BF=50 Vceo=40 Icrating=200m mfg=NXP)\n.ENDS\n")
    result, volts = await _run(app, circuit, tmp_path / "LTspice")
    assert 4.5 < volts["v(c)"] < 8  # a gain of 50, not the stand-in's
    assert not any("is used in its place" in str(note.message) for note in result.notes)


async def test_a_part_the_library_found_here_lacks_has_a_stand_in(app: Application, tmp_path: Path) -> None:
    (tmp_path / "standard.bjt").write_text(".model 2N2222 NPN(IS=1e-14 BF=50 Vceo=30 type=BJT mfg=NXP)\n")
    (tmp_path / "amp.net").write_text(BIAS)
    result, volts = await _run(app, tmp_path / "amp.net")
    assert 0.3 < volts["v(c)"] < 5
    assert any("is used in its place" in str(note.message) for note in result.notes)
    assert await _errors(app, tmp_path / "amp.net") == []


async def test_points_of_a_source_are_read_from_their_file(app: Application, tmp_path: Path) -> None:
    """By its path, or its name where that is of another computer; a file that holds no points is told. Of a
    wave file a channel, full scale as 1 V, until the run ends."""
    (tmp_path / "points.txt").write_text("* s\tV\n0\t1\n+1m\t3\n+1m, 2.5\n", encoding="utf-8")
    (tmp_path / "words.txt").write_text("no points at all\n", encoding="utf-8")
    circuit = tmp_path / "wave.net"
    deck = (
        "* C:\\Users\\me\\wave.asc\nV1 a 0 PWL file=points.txt\nR1 a 0 1k\n"
        'V2 b 0 PWL file="C:\\Users\\me\\points.txt"\nR2 b 0 1k\n'
        'V3 c 0 wavefile=".\\two.wav" chan=1 Rser=0\nR3 c 0 1k\n.tran 5m\n.backanno\n.end\n'
    )
    with wave.open(str(tmp_path / "two.wav"), "wb") as file:
        file.setparams((2, 2, 1000, 0, "NONE", ""))
        frames = [struct.pack("<hh", 99, value) for value in (0, 16384, -32768, 8192)]
        file.writeframes(b"".join(frames) + frames[-1] * 200_000)
    circuit.write_text(deck)
    result = await app.simulation.run(SimulationRequest(circuit=circuit))
    assert result.run.status == "ok", result.issues
    [plot] = await plots_of(result)
    for node in ("v(a)", "v(b)"):
        curve = plot.vectors[node].data
        assert (curve[0], curve.max(), curve[-1]) == pytest.approx((1, 3, 2.5), abs=0.02), node
    curve = plot.vectors["v(c)"].data
    assert (curve[0], curve.max(), curve.min(), curve[-1]) == pytest.approx((0, 0.5, -1, 0.25), abs=1e-3)
    circuit.write_text(deck.replace("points.txt\nR1", "words.txt\nR1"))
    result = await app.simulation.run(SimulationRequest(circuit=circuit))
    assert "The file words.txt of V1 is not read as points" in str(result.issues[0].message)


BLOCKS = """* C:\\Users\\me\\blocks.asc
V1 vcc 0 12
V2 in 0 3
V3 ref 0 2
XU1 in ref vcc 0 high LT1720
XU2 low 0 ref in vcc LTC1441
XU3 0 in ref 0 vcc vcc opened vcc LT1011
R3 vcc opened 1k
XU4 0 ref in 0 vcc vcc closed vcc LT1011
R4 vcc closed 1k
XU5 adj reg vcc LT317A
R5 reg adj 240
R6 adj 0 720
XU6 0 five vcc LT1117-5
R7 five 0 100
R8 vcc shunt 10k
XU7 shunt 0 LT1004-1.2
XU8 0 vcc series LT6654-2.5
R9 series 0 1k
R10 vcc led 1k
XU9 led 0 vcc photo PC817 Igain=2.3m
R11 photo 0 100
XU10 vcc 0 in 0 gate vcc LTC4440
XU11 0 ref out555 vcc cv ref dis vcc NE555
R12 out555 0 10k
R13 vcc dis 10k
XU12 in ref vcc 0 slow LT1017
XU13 ref in vcc 0 0 fast notfast 0 LT1713
XU14 ldo ldo 0 byp in4 in4 LT1763-3.3
V4 in4 0 5
R14 ldo 0 100
XU15 vcc vcc pg 0 pgfb set45 0 out45 out45 LT3045
R15 set45 0 33.2k
R16 out45 0 100
XU16 set80 out80 vcc vcc LT3080
R17 set80 0 200k
R18 out80 0 100
XU17 0 in vcc low46 vcc high46 0 0 LTC4446
XU18 k7 0 vcc 0 k7 0 ADR1399E
R19 vcc k7 1k
XU19 in 0 0 0 0 0 0 half 0 LT5400-1
XU20 half half 0 0 0 half half 0 0 LT5400-1
XU21 in f6 vcc 0 f6 vcc ADA4807-1
XM1 drain in4 0 IRF540N
XU22 vcc 0 five78 LM7805
R21 five78 0 100
V5 0 neg 12
XU23 0 neg five79 L79L05
R22 five79 0 1k
R20 vcc drain 100
.lib LTC.lib
.lib irf540n.spi
.lib NE555.sub
.lib NE555.sub
.lib LTC4440.sub
.op
.backanno
.end
"""


async def test_comparators_references_regulators_and_drivers_have_stand_ins(
    app: Application, tmp_path: Path
) -> None:
    """Each does what it is for, by the figures that its name or data sheet gives, and is told as generic."""
    circuit = tmp_path / "blocks.net"
    circuit.write_text(BLOCKS)
    result, volts = await _run(app, circuit)
    expected = {
        "high": 12, "low": 0, "opened": 12, "closed": 0.02, "reg": 5, "five": 5, "shunt": 1.235,
        "series": 2.5, "photo": 2.5, "gate": 12, "cv": 8, "out555": 10.6, "slow": 12, "fast": 0,
        "notfast": 12, "ldo": 3.3, "out45": 3.32, "out80": 2, "low46": 12, "high46": 0, "k7": 7.05, "f6": 3,
        "drain": 0.01, "half": 1, "five78": 5, "five79": -5,
    }  # fmt: skip
    within = {"reg": 0.06, "photo": 0.7, "closed": 0.1, "out555": 0.5}
    for node, value in expected.items():
        assert volts[f"v({node})"] == pytest.approx(value, abs=within.get(node, 0.03)), node
    told = [str(note.message) for note in result.notes if "is used in its place" in str(note.message)]
    assert len(told) == 22, told
    lost = [str(each.message).split()[2] for each in result.notes if "was not found" in str(each.message)]
    assert lost == ["LTC.lib", "irf540n.spi", "NE555.sub", "LTC4440.sub"]  # as the import of a sheet names
    assert any("Our generic 5 V linear regulator for 1.5 A" in text for text in told), told


async def test_a_subcircuit_with_a_name_beyond_latin(app: Application, tmp_path: Path) -> None:
    (tmp_path / "q.net").write_text(
        "* C:\\q.qsch\nV1 in 0 1\nR1 out 0 1k\n.subckt X2\u2022mycomp out in\nE1 out 0 in 0 {p}\n"
        ".ends X2\u2022mycomp\nX2 out in X2\u2022mycomp p=2\n.op\n.backanno\n.end\n"
    )
    _, volts = await _run(app, tmp_path / "q.net")
    assert volts["v(out)"] == pytest.approx(2)


@pytest.mark.parametrize(("directive", "volts"), [(".lib", 5.0), (".include", 2.5)])
async def test_of_a_library_only_definitions_are_taken(
    app: Application, tmp_path: Path, directive: str, volts: float
) -> None:
    """As LTspice's `.lib` does; prose among them is no element."""
    prose = "License Statement.\n" if directive == ".lib" else ""
    (tmp_path / "half.sub").write_text(
        f"* a maker's file\n{prose}Rload out 0 1k\n+ tc=0\n.subckt half a b\nR1 a b 1k\n.ends\n"
    )
    circuit = tmp_path / "lt.cir"
    circuit.write_text(
        f"* t\nV1 in 0 5\nX1 in out half\nR2 out 0 1g\n.op\n{directive} half.sub\n.backanno\n.end\n"
    )
    result = await app.simulation.run(SimulationRequest(circuit=circuit))
    assert result.ok, result.issues
    found = await app.simulation.measure(result.result_path, ["v(out)"])
    assert found["v(out)"].value == pytest.approx(volts, rel=1e-4)
    told = [str(note.message) for note in result.notes if "only definitions" in str(note.message)]
    assert ["the first is “License Statement.”" in each for each in told] == [True] * bool(prose)


async def test_one_coupling_of_three_windings(app: Application, tmp_path: Path) -> None:
    (tmp_path / "coils.net").write_text(
        "* Z:\\coils.asc\nI1 0 a AC 1\nL1 a 0 1m Rser=0\nL2 b 0 4m\nL3 c 0 9m\nK1 L1 L2 L3 0.5\n"
        "L4 d 0 16m\nK1 L1 L4 0.25\nR1 b 0 1T\nR2 c 0 1T\nR3 d 0 1T\n"
        ".ac lin 1 159.154943 159.154943\n.backanno\n.end\n"
    )
    result = await app.simulation.run(SimulationRequest(circuit=tmp_path / "coils.net"))
    (plot,) = await plots_of(result)
    volts = {vector.name: abs(vector.data[0]) for vector in plot.vectors.values()}
    assert volts["v(b)"] == pytest.approx(1, rel=1e-3)  # 2 pi f k sqrt(L1 L2)
    assert volts["v(c)"] == pytest.approx(1.5, rel=1e-3)
    assert volts["v(d)"] == pytest.approx(1, rel=1e-3)  # LTspice takes a second K1


async def test_a_makers_library_that_is_not_here_gives_way_where_its_part_is_known(
    app: Application, tmp_path: Path
) -> None:
    """Told at its line; a process's models, which nobody can guess, are still asked for."""
    circuit = tmp_path / "buffer.net"
    deck = (
        "* Z:\\buffer.asc\nV1 in 0 2\nVP vp 0 5\nXU1 in out vp 0 out OPA2344\n"
        "XU2 in k2 vp 0 com LM393_TI\nR4 k2 0 1k\n"
        "R1 vp com 10k\nR2 out2 0 R=1k+v(in)*500\nI2 0 out2 1m\nD1 vp k ideal\nR3 k 0 1k\n"
        ".model ideal D(Ron=0.1n Roff=1G Vfwd=1)\n.param x=3\n"
        ".lib C:\\models\\opa2344.lib\n.lib LM393.5_1\n.op\n.backanno\n.end\n"
    )
    circuit.write_text(deck)
    result, volts = await _run(app, circuit)
    values = [volts[f"v({node})"] for node in ("out", "out2", "com", "k")]
    assert values == pytest.approx([2, 2, 5, 4], abs=2e-2)
    told = [(note.line, str(note.message)) for note in result.notes]
    renamed = deck.replace("opa2344.lib", "nat/semi.lib").replace("OPA2344", "OPA2344/NS")
    circuit.write_text(renamed)  # a library of another name: it is the parts that count
    assert (await _run(app, circuit))[1]["v(out)"] == pytest.approx(2, abs=1e-2)
    assert any(line == 14 and "opa2344.lib was not found" in text for line, text in told), told
    assert await _errors(app, circuit) == []
    process = deck.replace("R1 vp", "M1 vp in k 0 CMOSN l=0.18u w=1u\nR1 vp")
    circuit.write_text(process.replace("LM393.5_1", "TSMC_180nm.txt"))
    assert await _errors(app, circuit) == ["include-missing"]


async def test_what_floats_in_ltspice_goes_on_here_and_is_told(app: Application, tmp_path: Path) -> None:
    """LTspice warns of such a node; ngspice finds the equations singular. A load by a table, a line behind #
    and .net are in the same sheet."""
    circuit = tmp_path / "floating.net"
    circuit.write_text(
        "* Z:\\floating.asc\nV1 a 0 5\nR1 a b 100\nI8 b 0 TBL(0 0 3 3m 7 19m)\nV2 x y 1\n"
        "S9 b 0 x y MYSW\n.model MYSW SW(Ron=1g Roff=1t Vt=5)\n"
        "#.tran 5m\n.net I(R1) V1\n.op\n.backanno\n.end\n"
    )
    result, volts = await _run(app, circuit)
    # 3 mA + (v - 3 V) 4 mS through 100 ohms from 5 V
    assert volts["v(b)"] == pytest.approx((5 - 0.3 + 1.2) / 1.4, rel=1e-3)
    assert volts["v(x)"] - volts["v(y)"] == pytest.approx(1)
    told = [str(note.message) for note in result.notes]
    assert any("as LTspice allows: x, y" in text for text in told), told
    assert await _errors(app, circuit) == []
    circuit.write_text(
        circuit.read_text().replace("* Z:", "Z:").replace(".asc", "").replace(".backanno\n", "")
    )
    assert "no-dc-path" in await _errors(app, circuit)  # ngspice's own circuits are as they are


async def test_a_capacitor_with_an_open_end_leaves_the_bias_of_an_amplifier_as_it_is(
    app: Application, tmp_path: Path
) -> None:
    """ngspice finds no operating point, and what it begins a transient analysis with has no bias at all."""
    circuit = tmp_path / "gain.net"
    circuit.write_text(
        "* Z:\\gain.asc\nV1 in 0 SINE(0 10m 1K)\nC2 b in 2.2u\nR2 b 0 10k\nR1 vcc b 56k\nV2 vcc 0 5\n"
        "Rc vcc c 10k\nC3 open c 80n\nRe e 0 1k\nQ1 c b e 0 BC547B\n.model BC547B NPN(BF=300)\n"
        ".tran 1m\n.backanno\n.end\n"
    )
    result, volts = await _run(app, circuit)
    assert volts["v(b)"] == pytest.approx(5 * 10 / 66, rel=0.01)
    assert volts["v(c)"] < 4.6
    told = [str(note.message) for note in result.notes]
    assert any("as LTspice allows: open" in text for text in told), told
    assert "singular-matrix" not in [issue.code for issue in result.issues]
    circuit.write_text(circuit.read_text().replace("C3 open c 80n", "R3 open end 80k"))
    assert (await _run(app, circuit))[1]["v(b)"] == pytest.approx(5 * 10 / 66, rel=0.01)


async def test_an_unknown_part_of_a_library_that_is_not_here_is_named(
    app: Application, tmp_path: Path
) -> None:
    circuit = tmp_path / "amp.net"
    circuit.write_text(BIAS.replace("2N3904", "XYZ99"))
    result = await app.simulation.run(SimulationRequest(circuit=circuit))
    assert [(issue.code, issue.line) for issue in result.issues if issue.severity == "error"] == [
        ("undefined-model", 5)
    ]
    assert "undefined-model" in await _errors(app, circuit)


async def test_op_amps_pi_and_parameters_of_the_instance_alone(app: Application, tmp_path: Path) -> None:
    circuit = tmp_path / "filter.net"
    torn = ".model 2N7000 VDMOS(Rg=3 (Vto=1.6 Kp=.17 mfg=Someone Vds=60)\n"  # ngspice reads on without end
    (tmp_path / "broken.mos").write_text(torn)
    circuit.write_bytes(
        "* Z:\\filter.asc\nV1 in 0 2\nVP vp 0 15\nVM vm 0 -15\n"
        "XU1 in out vp vm out level.2 Avol=1Meg GBW=10Meg Slew=10Meg\n"
        "XU2 0 u2 vp vm beyond level1 Avol=1Meg GBW=10Meg Vos=0\nR11 in u2 1k\nR12 u2 beyond 10k\n"
        "XU3 0 u3 vp vm limited level2 Avol=1Meg\nR13 in u3 1k\nR14 u3 limited 10k\n"
        "XU4 in loaded vp vm loaded level3a Ilimit=25m\nR15 loaded 0 50\n"
        "VS five 0 5\nXU5 in few five 0 few level.2 Avol=100\n"
        "M1 s 0 five five FDS6670 ; drawn as pmos\nR16 s 0 1k\n"
        "X2 out half divider ratio=2\nR1 x§1 0 {1k*pi}\nI1 0 x§1 1m\n"
        ".subckt divider 1 2\nR1 1 2 {1k*(ratio-1)}\nR2 2 0 1k\n.ends\n"
        ".lib LTC.lib\n.lib UniversalOpamps2.sub\n.lib broken.mos\n.op\n.backanno\n.end\n".encode("cp1252")
    )
    _, volts = await _run(app, circuit)
    assert volts["v(out)"] == pytest.approx(2, abs=1e-3)
    assert volts["v(beyond)"] == pytest.approx(-20, abs=1e-2)  # level 1 has no limits
    assert volts["v(limited)"] == pytest.approx(-15, abs=0.1)
    assert volts["v(loaded)"] == pytest.approx(1.25, abs=0.05)  # 25 mA into 50 ohms
    assert volts["v(few)"] == pytest.approx((2.5 + 100 * 2) / 101, abs=1e-3)  # from halfway of 0 and 5 V
    assert volts["v(s)"] > 4.9, "a P-channel MOSFET with its gate at 0 conducts"
    assert volts["v(half)"] == pytest.approx(1, abs=1e-3)
    assert any(value == pytest.approx(3.14159265, rel=1e-6) for value in volts.values())
    assert await _errors(app, circuit) == []


async def test_a_windows_path_in_a_plain_circuit_is_looked_up_by_name(
    app: Application, tmp_path: Path
) -> None:
    circuit = tmp_path / "board.cir"
    circuit.write_text('t\nV1 a 0 1\nX1 a 0 load\n.include "C:\\KiCad\\models\\Load.lib"\n.op\n.end\n')
    (tmp_path / "load.lib").write_text(".subckt load 1 2\nR1 1 2 1k\n.ends\n")
    await _run(app, circuit)
    # A symbol's file and a directive name the same: LTspice reads it once, ngspice warns of the second.
    twice = "* C:\\a.asc\nV1 a 0 1\nX1 a 0 load\n.lib load.lib\n.inc C:\\x\\Load.lib\n.op\n.backanno\n.end\n"
    circuit.write_text(twice)
    result, _ = await _run(app, circuit)
    assert [issue.message for issue in result.issues] == []
    assert await _errors(app, circuit) == []


def test_zener_voltages_are_those_of_the_name() -> None:
    names = ("1N4733A", "1N750", "BZX84C5V1", "BZX55C12V", "1N4148", "1N4764")
    assert [zener_voltage(name) for name in names] == [5.1, 4.7, 5.1, 12.0, None, 100]
    names = ("1N5226B", "1N5231", "1N5281", "1N5333B", "1N5349B", "1N5388", "1N5399", "1N5822")
    assert [zener_voltage(name) for name in names] == [3.3, 5.1, 200, 3.3, 12, 200, None, None]
    names = ("MMSZ5231B", "MMBZ12VAL", "KDZ10B", "EDZV5_1B", "BZX384-B15", "PH_BZX384-C3V3", "SMBJ24CA")
    assert [zener_voltage(name) for name in names] == [5.1, 12, 10, 5.1, 15, 3.3, None]


def test_the_example_names_an_op_amp_of_five_pins() -> None:
    statement = Netlist.parse(b"XU1 a b c d e level.2 Avol=1\n", has_title=False).statements[0]
    assert len(parse_element(statement).nodes) == 5


async def test_an_op_amp_that_is_not_here_has_the_speed_of_its_data_sheet(
    app: Application, tmp_path: Path
) -> None:
    """From -1 V to 1 V: 4 us at the 741's 0.5 V/us; 2 V/13 V/us and the pole at 3 MHz for the TL072."""
    circuit = tmp_path / "follower.net"
    circuit.write_text(
        "* Z:\\follower.asc\nV1 p 0 PULSE(-2 2 1u 1n 1n 50u 100u)\nVP vcc 0 15\nVN vee 0 -15\n"
        "XU1 p slow vcc vee slow LM741\nXU2 p fast vcc vee fast TL072CP\n.lib LTC.lib\n.tran 0 20u\n"
        ".meas slow TRIG v(slow) VAL=-1 RISE=1 TARG v(slow) VAL=1 RISE=1\n"
        ".meas fast TRIG v(fast) VAL=-1 RISE=1 TARG v(fast) VAL=1 RISE=1\n.backanno\n.end\n"
    )
    result = await app.simulation.run(SimulationRequest(circuit=circuit))
    assert result.ok, result.issues
    assert result.metrics["slow"].value == pytest.approx(4e-6, rel=0.02)
    assert result.metrics["fast"].value == pytest.approx(0.17e-6, rel=0.15)
    told = [str(note.message) for note in result.notes]
    assert any("op-amp with 1 MHz and 0.5 V/µs, as its data sheet says, is used" in text for text in told), (
        told
    )
    found = [figures_of(name) for name in ("OPA2134UA", "lt1001", "MCP6002-I", "LM3245", "OP270")]
    assert found == [(8, 20), (0.8, 0.25), (1, 0.6), None, None]
