"""What one round changed against the one before."""

from application.design.rounds import ValueChange, value_changes

BEFORE = b"""* filter
.param cf=1n
R1 in a 4.7k
R2 a out 4.7k
C1 out 0 {cf}
.end
"""


def test_equal_changes_are_told_together():
    after = BEFORE.replace(b"4.7k", b"5.1k").replace(b"cf=1n", b"cf=2.2n")
    assert value_changes(BEFORE, after) == (
        ValueChange(("R1", "R2"), "4.7k", "5.1k"),
        ValueChange(("cf",), "1n", "2.2n"),
    )


def test_the_same_value_in_other_letters_or_a_new_element_is_no_change_of_a_value():
    after = BEFORE.replace(b"R1 in a 4.7k", b"R1 in a 4.7K\nR3 a 0 1meg")
    assert value_changes(BEFORE, after) == ()
