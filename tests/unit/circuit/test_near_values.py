"""The E24 values beside the one that stands in a line."""

from __future__ import annotations

from domain.circuit.near_values import near_values
from tests.ground.cases import for_each


@for_each(
    ("line", "at", "expected"),
    [
        ("R1 in out 4.7k", 0, ("4.7k", "4.3k", "5.1k")),
        ("  c12 a 0 100nF IC=0", 0, ("100nF", "91n", "110n")),
        ("L1 a b 4.8u ; 9.9k", 0, ("4.8u", "4.7u", "5.1u")),
        ("R1 a b R=1Meg tc=1", 0, ("1Meg", "910k", "1.1Meg")),
        (".param a=10k b = 2.2p", 0, ("10k", "9.1k", "11k")),
        (".param a=10k b = 2.2p", 18, ("2.2p", "2p", "2.4p")),
        (".PARAM x={2*y} z=1", 0, ("1", "910m", "1.1")),
    ],
)
def test_a_value_has_its_neighbors(line: str, at: int, expected: tuple[str, str, str]) -> None:
    found = near_values(line, at)
    assert found is not None
    assert (line[found.start : found.end], found.below, found.above) == expected


@for_each(
    "text",
    ["", "* R1 a b 1k", "R1 a b {r}", "R1 a b 4k7", "R1 a b 0", "R1 a b -1k", "R1 a b", "V1 a 0 5",
     "M1 d g s b n w=1u", "+ 1k", ".params x=1", "R1 a b ; 1k", "R1 a b 1e999"],
)  # fmt: skip
def test_what_has_none(text: str) -> None:
    assert near_values(text, 0) is None
