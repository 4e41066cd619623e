"""Formatting aligns columns and changes nothing that is read; twice is once."""

from __future__ import annotations

import random
from pathlib import Path

from domain.circuit.formatting import formatted, same_cards
from domain.circuit.netlist import LIBRARY_SUFFIXES, NETLIST_SUFFIXES, Netlist
from tests.ground.campaign import campaigns

HERE = Path(__file__).parents[2]

UGLY = """title   stays  as it is
R1 in out   1k
Cload   out 0 100n ic=0 ; loads it
V1 in 0  PULSE( 0 5
+   0 1n 1n  5u 10u)
*   comment   stays

.subckt a  b
  Q1 vcc   base   emitter qn
  Q22 vcc b2 e q_long  area = 2   $ twice
.ends
B1 out 0 V = { v(in) *  2 }
X1 in   out amp gain={a  +  b}
.param  a=1   b = 2
.control
plot   v(out)
.endc
.end
"""
NEAT = """title   stays  as it is
R1    in  out 1k
Cload out 0   100n ic=0  ; loads it
V1    in  0   PULSE( 0 5
+   0 1n 1n  5u 10u)
*   comment   stays

.subckt a  b
  Q1  vcc base emitter qn
  Q22 vcc b2   e       q_long area = 2  $ twice
.ends
B1 out 0 V = { v(in) *  2 }
X1 in out amp gain={a  +  b}
.param  a=1   b = 2
.control
plot   v(out)
.endc
.end
"""


def test_columns_are_aligned_and_the_rest_stays() -> None:
    assert formatted(UGLY, has_title=True) == NEAT
    mixed = UGLY.replace("\n", "\r\n", 3)
    assert formatted(mixed, has_title=True) == NEAT.replace("\n", "\r\n", 3)
    windows = UGLY.replace("\n", "\r\n")
    assert formatted(windows, has_title=True) == NEAT.replace("\n", "\r\n")


def test_every_netlist_we_have_is_read_alike_and_formatting_twice_is_once() -> None:
    folders = (HERE / "corpus", HERE.parent / "resources")
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in NETLIST_SUFFIXES]
    assert len(files) > 50
    changed = 0
    for path in files:
        text = path.read_bytes().decode("utf-8", "replace")
        has_title = path.suffix not in LIBRARY_SUFFIXES
        new = formatted(text, has_title=has_title)
        assert _read(text, has_title) == _read(new, has_title), path
        assert formatted(new, has_title=has_title) == new, path
        changed += new != text
    assert changed > 10


@campaigns(fast=40, whole=4_000)
def test_torn_netlists_are_read_alike(campaign: object) -> None:
    for rng in campaign.cases():  # type: ignore[attr-defined]
        text = _torn(rng)
        assert _read(text, True) == _read(formatted(text, has_title=True), True), repr(text)


def _torn(rng: random.Random) -> str:
    pieces = [*UGLY, *("{", "}", "'", '"', "  ", "\t", "$", ";", "//", "+", "\\\\", "=", "(", "\r", "\n")]
    text = list(UGLY)
    for _ in range(rng.randrange(1, 12)):
        at = rng.randrange(len(text))
        text[at : at + rng.randrange(3)] = rng.choices(pieces, k=rng.randrange(4))
    return "".join(text)


def _read(text: str, has_title: bool) -> list[tuple[object, ...]]:
    """The cards by an account of their own: words and lines."""
    netlist = Netlist.parse(text.encode("utf-8", "replace"), has_title=has_title)
    return [(s.kind, s.line, s.last_line, s.scope, [f.text for f in s.fields]) for s in netlist.statements]


def test_other_words_or_lines_are_seen() -> None:
    def netlist(text: str) -> Netlist:
        return Netlist.parse(text.encode())

    assert same_cards(netlist("t\nR1 a  b 1k \n"), netlist("t\nR1 a b 1k\n"))
    for other in ("t\nR1 a b 1 k\n", "t\nR1 a b\n+ 1k\n", "t\n\nR1 a b 1k\n", "t\nR1 a b 1K\n"):
        assert not same_cards(netlist("t\nR1 a b 1k\n"), netlist(other))
