"""Where a finding is: right or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from infrastructure.ngspice.card_locator import CardLocator, Place
from infrastructure.ngspice.findings import Finding
from shared.message import msg

DECK = b"""title with R1
V1 In 0 1
* R1 in a comment
R1 In Out
+ {R * 2} $ {x}
.param x=1
.include part.inc
.op
.end
"""
DECK_PATH = Path("/circuits/deck.cir")


def finding(**fields: object) -> Finding:
    return Finding(severity="error", code="x", message=msg("x"), **fields)  # type: ignore[arg-type]


def place(line: int, file: Path = DECK_PATH) -> Place:
    return Place(file=file, line=line)


def test_a_number_whose_card_agrees_is_believed() -> None:
    locator = CardLocator(DECK, DECK_PATH, ())
    assert locator.place_of(finding(number=4, card="r1 in out {r*2}")) == place(4)


def test_a_number_of_another_file_is_not_believed(tmp_path: Path) -> None:
    part = tmp_path / "part.inc"
    part.write_text("* a\nD9 In 0 nomod\n")
    locator = CardLocator(DECK, DECK_PATH, (part,))
    assert locator.place_of(finding(number=2, card="d9 in 0 nomod")) == place(2, part)


def test_a_flattened_name_is_found_by_its_own_part() -> None:
    locator = CardLocator(DECK, DECK_PATH, ())
    assert locator.place_of(finding(element="r.x1.x2.r1")) == place(4)


def test_two_candidates_are_none(tmp_path: Path) -> None:
    part = tmp_path / "part.inc"
    part.write_text("R1 a b 1\n")
    assert CardLocator(DECK, DECK_PATH, (part,)).place_of(finding(element="r1")) is None


def test_a_number_alone_counts_only_without_included_files(tmp_path: Path) -> None:
    part = tmp_path / "part.inc"
    part.write_text("* nothing\n")
    assert CardLocator(DECK, DECK_PATH, ()).place_of(finding(number=40)) == place(40)
    assert CardLocator(DECK, DECK_PATH, (part,)).place_of(finding(number=40)) is None


def test_comments_and_the_title_are_no_cards() -> None:
    locator = CardLocator(DECK, DECK_PATH, ())
    assert locator.place_of(finding(word="comment")) is None
    assert locator.place_of(finding(word="title")) is None


def test_a_directive_is_found_with_its_word() -> None:
    locator = CardLocator(DECK, DECK_PATH, ())
    assert locator.place_of(finding(word="part.inc", begins=(".inc", ".lib"))) == place(7)
    assert locator.place_of(finding(begins=(".param",))) == place(6)


def test_words_come_back_in_the_users_case() -> None:
    locator = CardLocator(DECK, DECK_PATH, ())
    assert locator.as_written("out") == "Out"
    assert locator.as_written("nowhere") == "nowhere"


def test_a_fifo_among_the_included_files_does_not_block(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    locator = CardLocator(DECK, DECK_PATH, (fifo, tmp_path / "gone"))
    assert locator.place_of(finding(card="nothing like it")) is None
