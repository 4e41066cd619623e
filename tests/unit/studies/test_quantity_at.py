"""Which value stands at a place of a text."""

from __future__ import annotations

from domain.circuit.quantity_at import number_at, quantity_at
from tests.ground.cases import for_each

TEXT = """* title of µ
R1 in out 10k
M1 d g s b nch w=10u l=0.18u
+ m=2
.param gain=3 rx={2*gain}
XU1 a b opamp
.subckt opamp a b
RI a b 1k
.ends
V1 in 0 DC 1 AC 1
.ac dec 20 1 1meg
"""


@for_each(
    ("behind", "name"),
    [
        ("R1 in", "R1"),
        ("out 10k", "R1"),
        ("w=10u", "M1.w"),
        ("l=0.18", "M1.l"),
        ("m=2", "M1.m"),
        ("M1 d", "M1.w"),
        ("gain=3", "gain"),
        ("rx={2*", "rx"),
        (".par", "gain"),
        ("XU1 a", None),
        ("RI a b 1", None),
        ("V1 in 0 DC", "V1"),
        (".ac dec", None),
        ("* title", None),
    ],
)
def test_the_value_at_a_place(behind: str, name: str | None):
    offset = len(TEXT[: TEXT.index(behind) + len(behind)].encode())
    assert quantity_at(TEXT.encode(), offset) == name


@for_each(
    ("behind", "found"),
    [
        ("out 10", ("R1", "10k")),
        ("w=", ("M1.w", "10u")),
        ("m=", ("M1.m", "2")),
        ("gain=", ("gain", "3")),
        ("DC 1", ("V1", "1")),
        ("R1 in", None),  # a node, whose line has a value
        ("rx={2*", None),
        ("RI a b 1", None),
        ("V1 in 0", None),
    ],
)
def test_a_number_stands_at_a_place_itself(behind: str, found: tuple[str, str] | None):
    data = TEXT.encode()
    place = number_at(data, len(TEXT[: TEXT.index(behind) + len(behind)].encode()))
    assert (place and (place.name, data[place.start : place.end].decode())) == found


def test_the_first_line_of_a_part_is_no_title():
    part = b"R7 in mid 1k\nC7 mid 0 10n\n"
    assert quantity_at(part, 3, has_title=False) == "R7"
    assert quantity_at(part, 3) is None
