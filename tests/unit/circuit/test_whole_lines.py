"""Cards take their `+` lines along; what was commented out comes back as it was."""

from __future__ import annotations

from domain.circuit.whole_lines import (
    Block,
    merged,
    neighbor_above,
    neighbor_below,
    toggled_comments,
    whole_cards,
    with_continuations,
)
from tests.ground.cases import for_each

TEXT = [
    "title",
    "R1 a b 1k",
    "V1 in 0 PWL(0 0",
    "* in between",
    "+ 1m 5",
    "",
    "+ 2m 0)",
    "  C1 b 0 1u",
    "* note",
    ".end",
]


@for_each(("block", "whole", "following"), [
    ((1, 1), (1, 1), (1, 1)),
    ((2, 2), (2, 6), (2, 6)),
    ((4, 4), (2, 6), (4, 4)),
    ((6, 7), (2, 7), (6, 7)),
    ((1, 2), (1, 6), (1, 6)),
    ((8, 8), (8, 8), (8, 8)),
])  # fmt: skip
def test_a_card_is_whole(block: tuple[int, int], whole: tuple[int, int], following: tuple[int, int]) -> None:
    assert whole_cards(TEXT, Block(*block)) == whole
    assert with_continuations(TEXT, Block(*block)) == following


def test_neighbors_are_cards_and_the_title_stays() -> None:
    assert neighbor_above(TEXT, Block(7, 7), has_title=True) == (2, 6)
    assert neighbor_above(TEXT, Block(1, 1), has_title=True) is None
    assert neighbor_above(TEXT, Block(1, 1), has_title=False) == (0, 0)
    assert neighbor_below(TEXT, Block(1, 1), has_title=True) == (2, 6)
    assert neighbor_below(TEXT, Block(0, 0), has_title=True) is None
    assert neighbor_below(TEXT, Block(9, 9), has_title=True) is None
    assert neighbor_below([*TEXT, ""], Block(9, 9), has_title=True) is None


def test_comments_come_and_go_without_a_trace() -> None:
    lines = list(TEXT)
    block = with_continuations(lines, Block(2, 2))
    for change in toggled_comments(lines, [block]):
        text = lines[change.line]
        lines[change.line] = f"{text[: change.column]}*{text[change.column :]}"
    assert lines[2:7] == ["*V1 in 0 PWL(0 0", "** in between", "*+ 1m 5", "", "*+ 2m 0)"]
    assert with_continuations(lines, Block(2, 2)) == (2, 2)  # behind another comment nothing is guessed
    for change in toggled_comments(lines, [Block(2, 6)]):
        text = lines[change.line]
        lines[change.line] = text[: change.column] + text[change.column + len(change.removed) :]
    assert lines == TEXT


def test_a_commented_card_keeps_its_lines_and_takes_nobody_elses() -> None:
    lines = ["R1 a b 1k", "*V1 in 0 PWL(0 0", "*+ 1m 5)", "C1 b 0 1u", "*+ ic=0", "* R2 a b 1k"]
    assert with_continuations(lines, Block(0, 0)) == (0, 0)
    assert with_continuations(lines, Block(1, 1)) == (1, 2)
    assert with_continuations(lines, Block(3, 3)) == (3, 4)
    assert [change.removed for change in toggled_comments(lines, [Block(5, 5)])] == ["* "]
    assert toggled_comments(["", " "], [Block(0, 1)]) == []


def test_blocks_that_touch_are_one() -> None:
    assert merged([Block(4, 5), Block(1, 2), Block(3, 3), Block(8, 8)]) == [(1, 5), (8, 8)]
