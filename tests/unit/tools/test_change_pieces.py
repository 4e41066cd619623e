"""A change piece by piece: each piece is taken back alone and put back, unless somebody edited there."""

from hypothesis import given
from hypothesis import strategies as st

from domain.llm.tools.pieces import Pieces
from tests.ground.cases import for_each

BEFORE = b"t\nR1 a b 1k\nR2 b 0 1k\n* middle\nC1 b 0 1n\n.op\n.end\n"
AFTER = b"t\nR1 a b 2k\nR2 b 0 1k\n* middle\n.ac dec 10 1 1k\n.end\nR9 a 0 9k\n"
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "* x", ""]), max_size=12).map(
    lambda lines: "\n".join(lines).encode()
)


def standings(before: bytes, after: bytes, now: bytes) -> list[str]:
    return [piece.standing for piece in Pieces(before, after, now).all]


def test_one_piece_is_taken_back_and_put_back() -> None:
    pieces = Pieces(BEFORE, AFTER, AFTER)
    assert [(p.standing, p.line, p.hunk.removed, p.hunk.added) for p in pieces.all] == [
        ("stands", 2, ("R1 a b 1k",), ("R1 a b 2k",)),
        ("stands", 5, ("C1 b 0 1n", ".op"), (".ac dec 10 1 1k",)),
        ("stands", 7, (), ("R9 a 0 9k",)),
    ]
    without = pieces.turned(1)
    assert without == AFTER.replace(b".ac dec 10 1 1k\n", b"C1 b 0 1n\n.op\n")
    assert standings(BEFORE, AFTER, without) == ["stands", "taken_back", "stands"]
    assert Pieces(BEFORE, AFTER, without).turned(1) == AFTER


@for_each(
    ("now", "expected"),
    [
        (AFTER.replace(b"* middle", b"* else"), ["stands", "touched", "stands"]),  # the line beside it
        (AFTER.replace(b"2k", b"3k"), ["touched", "stands", "stands"]),
        (AFTER.replace(b"t\n", b"t\n* new\n"), ["touched", "stands", "stands"]),
        (AFTER + b"* end\n", ["stands", "stands", "touched"]),
        (AFTER.replace(b"\n", b"\r\n"), ["touched", "touched", "touched"]),
        (b"", ["touched", "touched", "touched"]),
        (BEFORE, ["taken_back", "taken_back", "taken_back"]),
    ],
)
def test_what_somebody_edited_since_is_touched(now: bytes, expected: list[str]) -> None:
    pieces = Pieces(BEFORE, AFTER, now)
    assert [piece.standing for piece in pieces.all] == expected
    assert [pieces.turned(n) is None for n in range(3)] == [each == "touched" for each in expected]


def test_what_was_edited_elsewhere_stays() -> None:
    now = AFTER.replace(b"R2 b 0 1k\n* middle", b"R2 b 0 1k\n* mine\n* middle")
    assert Pieces(BEFORE, AFTER, now).turned(0) == now.replace(b"2k", b"1k")


@given(before=TEXTS, after=TEXTS, order=st.randoms(use_true_random=False))
def test_all_pieces_taken_back_in_any_order_give_the_text_of_before(before, after, order) -> None:  # type: ignore[no-untyped-def]
    count = len(Pieces(before, after, after).all)
    numbers = list(range(count))
    order.shuffle(numbers)
    now = after
    for number in numbers:
        turned = Pieces(before, after, now).turned(number)
        if turned is None:  # twins: a line beside it cannot be told from another
            return
        now = turned
    assert now.rstrip(b"\n") == before.rstrip(b"\n")
