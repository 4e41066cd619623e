"""What a card beside the pointer says of a name: from the circuit and from the newest run."""

from __future__ import annotations

from pathlib import Path

import pytest

from domain.circuit.circuit_names import CircuitNames
from domain.circuit.completion import Facts
from domain.circuit.dependencies import SourceFile, SourceRefusal, resolve_dependencies
from domain.circuit.netlist import Netlist
from domain.simulation.description import Amount, Description, Observed, describe
from domain.simulation.operating_point import DevicePoint, OperatingPoint, SourcePoint
from tests.ground.cases import for_each

PATH = Path("/p/a.cir")
PART = """* Two-stage amplifier
* pins: plus, minus, output
* ----
.subckt amp inp inn outp gain=10 bw={gain*2}
Ein x 0 inp inn {gain}
Rin x outp 1k
.ends
"""
TEXT = """title
.include part.lib
.param rval=2k half={rval/2}
V1 vcc 0 dc 10 pulse(0 5 0 1n 1n 1u 2u)
R1 vcc Base {rval*2}
R2 base 0 {half}
Q1 vcc base e qn
X1 e 0 out amp gain=4
.model qn npn(bf=100 is=1e-15)
.options reltol=1e-4
.meas tran top max v(base)
.tran 1u 1m
"""
POINT = OperatingPoint(
    nodes={"vcc": 10.0, "base": 2.0, "e": 1.3, "x1.x": 5.0},
    devices=(DevicePoint(name="Q1", kind="npn", region="active", figures={"ic": 1e-3, "power": 8.7e-3}),),
    sources=(SourcePoint(name="v1", voltage=10.0, current=3e-3, power=0.03),),
)


class Reader:
    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        return SourceFile(path=including_file.with_name(reference), data=PART.encode())

    def find(self, name: str) -> Path | None:
        return None


def facts(text: str = TEXT, path: Path = PATH) -> Facts:
    netlist = Netlist.parse(text.encode(), path=path, has_title=path == PATH)
    return Facts(names=CircuitNames(resolve_dependencies(netlist, Reader())), file=path)


def said(at: str, observed: Observed | None = None, found: Facts | None = None, text: str = TEXT) -> str:
    """The card at the end of a piece of text, each row a line."""
    card = describe(found or facts(), text.index(at) + len(at), observed)
    return "" if card is None else _text(card)


def _text(card: Description) -> str:
    lines = [card.title, str(card.kind)]
    for label, value, amount in card.rows:
        words = [each if isinstance(each, str) else str(each) for each in (label, value)]
        shown = f"{amount.value:.6g} {amount.unit}" if amount is not None else ""
        lines.append(" | ".join(word for word in (*words, shown) if word))
    note = [str(card.note)] if card.note is not None else []
    return "\n".join([*lines, *card.words, *note])


@for_each(("at", "expected"), [
    ("R1 vcc Ba", "Base\nnode\nConnected to | R1, R2, Q1 base"),
    ("max v(ba", "base\nnode\nConnected to | R1, R2, Q1 base"),
    ("V1 vcc ", "0\nground: every voltage is measured against it"),
    ("1m", ""),
    (".tr", ".tran <step> <stop> [<start> [<max step>]] [uic]\ntransient analysis over time"),
    ("rel", "reltol\nrelative tolerance, 1e-3 unless set"),
    ("pul", "PULSE(<v1> <v2> <delay> <rise> <fall> <width> <period>)\npulses"),
    ("top ma", "MAX <signal> [from=] [to=]\nlargest value"),
    (".param rv", "rval\nparameter\nValue | 2k | 2000 1\nUsed by | .param, R1\nDefined in | line 3"),
    ("R2 base 0 {ha", "half\nparameter\nValue | {rval/2} | 1000 1\nUsed by | R2\nDefined in | line 3"),
    ("amp ga", "gain\nparameter of the subcircuit amp\nValue | 10 | 10 1\nUsed by | .subckt, Ein, X1\n"
               "Defined in | part.lib:4"),
    ("e q", "qn\nNPN transistor\nParameters | bf=100, is=1e-15\nDefined in | line 9\nUsed by | Q1"),
    ("out am", "amp\nsubcircuit\nPins | inp inn outp\nParameters | gain=10, bw={gain*2}\n"
               "Defined in | part.lib:4\nUsed by | X1\nTwo-stage amplifier\npins: plus, minus, output"),
    ("\nR", "R1\nresistor\nValue | {rval*2} | 4000 Ohm\nn+ | vcc\nn- | Base"),
    ("\nX", "X1\ninstance of a subcircuit\nSubcircuit | amp\ninp | e\ninn | 0\noutp | out\n"
            "Two-stage amplifier\npins: plus, minus, output"),
])  # fmt: skip
def test_without_a_run(at: str, expected: str) -> None:
    assert said(at) == expected


@for_each(("at", "expected"), [
    ("R1 vcc Ba", "Base\nnode\nVoltage | 2 V\nConnected to | R1, R2, Q1 base"),
    ("\nR", "R1\nresistor\nValue | {rval*2} | 4000 Ohm\nn+ | vcc | 10 V\nn- | Base | 2 V\n"
            "Current | 0.002 A\nPower | 0.016 W"),
    ("\nQ", "Q1\nbipolar transistor\nModel | qn npn\ncollector | vcc | 10 V\nbase | base | 2 V\n"
            "emitter | e | 1.3 V\nRegion | active\nic | 0.001 A\nPower | 0.0087 W"),
    ("\nV", "V1\nvoltage source\nValue | 10 | 10 V\nn+ | vcc | 10 V\nn- | 0 | 0 V\n"
            "Current delivered | 0.003 A\nPower delivered | 0.03 W"),
])  # fmt: skip
def test_with_a_run(at: str, expected: str) -> None:
    assert said(at, Observed(POINT, 3, is_older=False)) == expected + "\nOperating point of run 3"
    assert said(at, Observed(POINT, 3, is_older=True)).endswith("\nFigures of run 3, of an older text")


def test_a_node_of_a_subcircuit_is_told_for_each_instance() -> None:
    names = facts().names
    assert names is not None
    part = Facts(names=names, file=PATH.with_name("part.lib"))
    found = said("Ein x", Observed(POINT, 1, is_older=False), part, PART)
    assert found == (
        "x\nnode of the subcircuit amp\nx1.x | 5 V\nConnected to | Ein, Rin\nOperating point of run 1"
    )


def test_amounts_have_units_that_are_shown_with_prefixes() -> None:
    card = describe(facts(), TEXT.index("R1") + 1)
    assert card is not None
    (amount,) = [row.amount for row in card.rows if row.amount is not None]
    assert amount == Amount(pytest.approx(4000.0), "Ohm")  # type: ignore[arg-type]
    assert describe(Facts(), 0) is None
