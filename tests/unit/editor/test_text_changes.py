"""Edits that make one text of another."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

import pytest

from presentation.panels.editor.text_changes import TextEdit, changed_lines, edits_between
from tests.ground.campaign import Campaign, campaigns


def applied(old: str, edits: tuple[TextEdit, ...]) -> str:
    data = old.encode()
    for edit in edits:
        data = data[: edit.start] + edit.text + data[edit.end :]
    return data.decode()


def test_a_changed_value_is_one_small_edit() -> None:
    old = "* t\nR1 a b 5.6k\nC1 b 0 1n\n"
    assert edits_between(old, old.replace("5.6k", "6.2k")) == (TextEdit(11, 14, b"6.2"),)


def test_nothing_changed_is_no_edit() -> None:
    assert edits_between("a\nb", "a\nb") == ()


def test_edits_are_descending_and_never_cut_a_character_or_a_line_end() -> None:
    old, new = "电路\r\nb\r\nc\r\nd", "电阻\r\nb\r\nC\nd"
    edits = edits_between(old, new)
    assert applied(old, edits) == new
    assert [edit.start for edit in edits] == sorted((edit.start for edit in edits), reverse=True)
    for edit in edits:
        edit.text.decode()
        old.encode()[edit.start : edit.end].decode()


def test_a_large_rewrite_is_still_right() -> None:
    old = "".join(f"R{i} a b 1k\n" for i in range(900))
    new = "* head\n" + "".join(f"C{i} a b 1n\n" for i in range(900))
    assert applied(old, edits_between(old, new)) == new


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", ((2, 2),)),
        ("a\nc\n", "a\nb\nc\n", ((2, 2),)),
        ("a\nb\nc\n", "a\nc\n", ((2, 2),)),
        ("a\nb\n", "a\n", ((2, 1),)),
        ("a\nb\nc\nd\n", "A\nb\nc\nD\n", ((1, 1), (4, 4))),
        ("", "a\nb\n", ((1, 2),)),
        ("a\n", "", ((1, 0),)),
    ],
)
def test_changed_lines(old: str, new: str, lines: tuple[tuple[int, int], ...]) -> None:
    assert changed_lines(old, new) == lines


@campaigns(fast=300, whole=20_000)
def test_edits_lead_from_any_text_to_any_other(campaign: Campaign) -> None:
    for rng in campaign.cases():
        words = ["R1 a b 1k", "电路", "", "x", "é", "😀"]
        ends = ["\n", "\r\n", "\r"]

        def text(size: int) -> str:
            return "".join(rng.choice(words) + rng.choice(ends) for _ in range(size))  # noqa: B023

        old = text(rng.randrange(8))
        new = text(rng.randrange(8)) if rng.random() < 0.3 else old.replace("x", rng.choice(words), 1)
        assert applied(old, edits_between(old, new)) == new


@campaigns(fast=300, whole=20_000)
def test_changed_lines_are_those_of_a_plain_comparison(campaign: Campaign) -> None:
    for rng in campaign.cases():
        old, new = ("".join(rng.choices("ab\n\r", k=rng.randrange(10))) for _ in range(2))
        if rng.random() < 0.5:
            cut = rng.randrange(len(old) + 1)
            new = old[:cut] + new[:2] + old[cut + rng.randrange(3) :]
        assert changed_lines(old, new) == compared_line_by_line(old, new), (old, new)


def compared_line_by_line(old: str, new: str) -> tuple[tuple[int, int], ...]:
    """Lines that both begin or end with are left out one by one, then the rest is compared."""
    before, after = (re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+", text) for text in (old, new))
    count, head = len(after), 0
    while before and after and before[0] == after[0]:
        del before[0], after[0]
        head += 1
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return tuple(
        (head + first + 1, max(head + last, min(head + first + 1, count)))
        for tag, _, _, first, last in matcher.get_opcodes()
        if tag != "equal"
    )
