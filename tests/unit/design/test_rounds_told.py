"""What is told of a design's rounds: values that somebody edited since, and by which words a round came."""

from __future__ import annotations

from pathlib import Path

from application.design.rounds import DesignRound, DesignRounds, ValueChange, circuit_changes, edited_since
from presentation.report.blocks import Paragraph, Table
from presentation.report.document import _rounds_of
from presentation.round_words import change_of


def _round(number: int, netlist: bytes = b"t\n.end\n", said: str = "") -> DesignRound:
    return DesignRound(
        number=number, has_failed=False, verdicts=(), circuit=Path("a.cir"), netlist=netlist, said=said
    )


def test_a_value_in_front_of_more_is_told_once() -> None:
    last = _round(1, b"t\nC2 out 0 3.3u IC=17.3\nR1 a b 1k\n.end\n")
    edited = edited_since(last, b"t\nC2 out 0 10u IC=17.3\nR1 a c 1k\n.end\n")
    assert edited is not None
    assert edited.changes == (
        ValueChange(("C2",), "3.3u", "10u"),
        ValueChange(("R1",), "a b 1k", "a c 1k"),
    )


def test_an_edit_behind_a_circuit_that_stayed_is_told() -> None:
    last = _round(0, b"t\nR1 a b 1k\n.end\n")
    edited = edited_since(last, b"t\nR1 a b 2k\n.end\n")
    assert edited is not None
    assert str(change_of(last, None)) == "The existing circuit"
    assert "1k" in str(change_of(edited, last))


def test_a_part_that_came_with_a_change_is_told_beside_the_values() -> None:
    was, now = (
        b"t\nVcc vcc 0 5\nR1 out 0 1k\n.end\n",
        b"t\nVcc vcc 0 3.3\nR1 out 0 1k\nRload out 0 600\n.end\n",
    )
    assert circuit_changes(was, now) == (
        ValueChange(("Vcc",), "5", "3.3"),
        ValueChange(("Rload",), "—", "out 0 600"),
    )


def test_words_at_a_checkpoint_stand_before_the_round_that_came_of_them() -> None:
    rounds = (_round(1), _round(2, said="less ripple"), _round(3))
    found = DesignRounds(session_id="s", text="voltage doubler", goals=(), rounds=rounds)
    blocks = list(_rounds_of(found, str))
    assert [type(each) for each in blocks] == [Paragraph, Table, Paragraph, Table]
    assert [each.text for each in blocks if isinstance(each, Paragraph)] == [
        "“voltage doubler”",
        "“less ripple”",
    ]
    assert [len(each.rows) for each in blocks if isinstance(each, Table)] == [1, 2]
