"""What has to be bought for a circuit, counted by hand."""

from __future__ import annotations

from pathlib import Path

from domain.circuit.dependencies import SourceFile, SourceRefusal, resolve_dependencies
from domain.circuit.netlist import Netlist
from domain.components.bill import Bill, as_csv, as_markdown, bill_of

FILES = {
    "op.lib": b".subckt OPA inp inn out\nR1 inp inn 1meg\nE1 out 0 inp inn 1e5\n.ends\n.model D1N D\n",
    "stage.inc": b"",
}


class Reader:
    roots = (Path("/p"),)

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        name = reference.strip("\"'")
        if name in FILES:
            return SourceFile(path=Path("/p") / name, data=FILES[name])
        return SourceRefusal(path=Path("/p") / name, reason="missing")


def bill(text: str) -> Bill:
    netlist = Netlist.parse(text.encode(), path=Path("/p/a.cir"))
    return bill_of(resolve_dependencies(netlist, Reader()))


CIRCUIT = """amp
.include op.lib
.param rf=10k k=2
V1 in 0 AC 1
R1 in a 10k
R10 a b 10000
R2 b c {rf}
R3 c 0 {rf*k}
R4 c 0 {unknown}
C1 a 0 100n
C2 b 0 0.1u
C3 b 0 3.37n
X1 a b c OPA
X2 b c a OPA
X3 a c RC
X4 b c RC
D1 a 0 D1N
Q1 a b c 2N3904
M1 d g s b NCH W=10u L=1u
K1 L1 L2 0.9
L1 a 0 10u
L2 b 0 10u
.subckt RC p q
R1 p q 1k
C1 q 0 100n
X1 p q p OPA
.ends
"""


def test_alike_parts_are_one_line_and_a_library_part_counts_as_one() -> None:
    found = bill(CIRCUIT)
    lines = {(line.kind, line.value): line for line in found.lines}
    assert lines["resistor", "10 kOhm"].references == ("R1", "R2", "R10")
    assert lines["resistor", "10 kOhm"].series == "E6"
    assert lines["resistor", "20 kOhm"].series == "E24"
    assert (lines["resistor", "{unknown}"].series, lines["resistor", "{unknown}"].amount) == (None, None)
    assert lines["resistor", "1 kOhm"].references == ("X3.R1", "X4.R1")
    assert lines["capacitor", "100 nF"].references == ("C1", "C2", "X3.C1", "X4.C1")
    assert (lines["capacitor", "3.37 nF"].series, lines["capacitor", "3.37 nF"].nearest) == (None, "3.3 nF")
    assert lines["subcircuit", "OPA"].references == ("X1", "X2", "X3.X1", "X4.X1")
    assert lines["transistor", "2N3904"].count == lines["diode", "D1N"].count == 1
    assert lines["MOSFET", "NCH"].size == "W=10u L=1u"
    assert found.left_out == ("K1", "V1")
    assert found.count == sum(map(len, (line.references for line in found.lines))) == 21


def test_files_are_safe_to_open_elsewhere() -> None:
    text = as_csv(bill("t\nR1 a 0 {=cmd}\nQ1 a b c =1+1\nQ2 a b c X|Y\n"))
    assert "\r\n" in text
    assert not any(cell.startswith(("=", "+", "@")) for line in text.splitlines() for cell in line.split(","))
    markdown = as_markdown(bill("t\nQ2 a b c X|Y\n"), "a_b.cir")
    assert "X\\|Y" in markdown
    assert "# Bill of materials: a\\_b.cir" in markdown


def test_an_endless_hierarchy_is_cut() -> None:
    nested = "".join(f".subckt s{n} a b\n" + f"X1 a b s{n + 1}\nX2 a b s{n + 1}\n.ends\n" for n in range(20))
    found = bill(f"t\nX1 a b s0\n{nested}.subckt s20 a b\nR1 a b 1k\nR2 a b 1k\nR3 a b 2k\n.ends\n")
    assert found.count <= 20_000
    assert bill("t\nX1 a b s\n.subckt s a b\nX1 a b s\n.ends\n").count <= 1
