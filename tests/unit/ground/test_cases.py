"""A test over many cases goes through all of them, and says which failed."""

from __future__ import annotations

import pytest

from tests.ground.cases import for_each


def test_all_cases_run_and_those_that_fail_are_named() -> None:
    seen = []

    @for_each(("number", "word"), [(1, "a"), (2, "b"), (3, "c")])
    def checked(number: int, word: str) -> None:
        seen.append((number, word))
        if number == 2:
            pytest.fail("two is wrong")
        assert number < 3

    with pytest.raises(ExceptionGroup, match="2 of 3 cases") as told:
        checked()
    assert seen == [(1, "a"), (2, "b"), (3, "c")]
    notes = [error.__notes__ for error in told.value.exceptions]
    assert notes == [["case 1: 2, 'b'"], ["case 2: 3, 'c'"]]


def test_no_case_and_another_argument_are_mistakes() -> None:
    with pytest.raises(AssertionError, match="no case"):
        for_each("number", [])
    with pytest.raises(AssertionError):
        for_each("number", [1])(lambda number, tmp_path: None)
