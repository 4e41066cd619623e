"""What pins are for: as comments say it, as names do, in the orders of vendors, or not at all."""

from __future__ import annotations

from domain.components.pin_uses import pin_uses, usual_word, wrong_use
from domain.components.reading import read_components
from tests.ground.cases import for_each

OP_AMP = "in+ in- V+ V- out"
LADDER = """* op-amp
* connections: non-inverting input
*              | inverting input
*              | | positive power supply
*              | | | negative power supply
*              | | | | output
"""


@for_each(("comments", "ports", "uses", "told"), [
    (LADDER, "1 2 3 4 5", OP_AMP, "comments"),
    ("* op-amp\n", "1 2 3 4 5", OP_AMP, "order"),
    ("* op-amp\n", "2 3 7 4 6", "in- in+ V+ V- out", "order"),
    ("* op-amp\n", "1 2 99 50 45", OP_AMP, "order"),
    ("* op-amp\n", "INP INN VCC VEE OUT", OP_AMP, "names"),
    ("* op-amp\n* pins: 1 2 3\n* pins: out in- in+\n", "1 2 3", "out in- in+", "comments"),
    ("* IRF9 N-channel MOSFET\n", "1 2 3", "drain gate source", "order"),
    ("* IRF9\n* Node 1 -> Gate\n* Node 2 -> Drain\n* Node 3 -> Source\n", "1 2 3", "gate drain source",
     "comments"),
    ("* darlington\n", "C B E", "collector base emitter", "names"),
    ("* regulator\n", "IN OUT GND", "in out gnd", "names"),
    ("* power MOS\n", "d g s b", "drain gate source bulk", "names"),
    ("* lamp\n", "A K", "anode cathode", "names"),
    ("* box\n", "a b", "a b", ""),
    ("* box\n", "1 2 3", "1 2 3", ""),
    ("* box\n", "foo 2 out", "foo 2 out", ""),
    ("* 盒子\n* pins: 同相输入端 反相输入端 输出\n", "a b c", "in+ in- out", "comments"),
])  # fmt: skip
def test_uses(comments: str, ports: str, uses: str, told: str) -> None:
    [component] = read_components(f"{comments}.subckt PART {ports}\n.ends\n".encode(), "x.lib")
    found = pin_uses(component)
    assert (" ".join(found.uses), found.told) == (uses, told)


def test_what_cannot_be_written_is_found() -> None:
    assert wrong_use(("in+", "in-")) is None
    assert wrong_use(("in+", "two words")) == 1
    assert wrong_use(("", "a")) == 0
    assert usual_word("(Vcc)") == "V+"
    assert not usual_word("x" * 50)
