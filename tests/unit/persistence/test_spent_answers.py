"""Answers count once and for a month; what tells it does not grow for ever."""

import time
from pathlib import Path

import pytest

from infrastructure.persistence import spent_answers
from infrastructure.persistence.spent_answers import FILE, SpentAnswers
from shared.ulid import UlidFactory, new_ulid


def given_days_ago(days: float) -> str:
    return UlidFactory(clock=lambda: time.time() - days * 86400).new()


def test_an_answer_counts_once(tmp_path: Path) -> None:
    answer = new_ulid()
    assert SpentAnswers(tmp_path).spend(answer, "call")
    later = SpentAnswers(tmp_path)
    assert later.is_spent(answer, "call")
    assert not later.spend(answer, "call")
    assert not later.is_spent(answer, "another call")


def test_an_answer_counts_for_a_month(tmp_path: Path) -> None:
    answers = SpentAnswers(tmp_path)
    assert not answers.is_spent(given_days_ago(29), "call")
    old = given_days_ago(31)
    assert answers.is_spent(old, "call")
    assert not answers.spend(old, "call")
    assert answers.is_spent("no time in it", "call")


def test_notes_go_that_nothing_needs_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spent_answers, "_ALWAYS_KEPT", 2)
    ages = (70, 50, 30.5, 29, 0)
    kept = [f"'{given_days_ago(days)} call'\n" for days in ages]
    (tmp_path / FILE).write_text("".join(kept[1:]))
    new = new_ulid()
    SpentAnswers(tmp_path).spend(new, "call")
    assert (tmp_path / FILE).read_text().splitlines(keepends=True)[:-1] == kept[1:]  # not each time
    (tmp_path / FILE).write_text("".join(kept))
    SpentAnswers(tmp_path).spend(new, "call")
    assert (tmp_path / FILE).read_text() == "".join(kept[2:]) + f"'{new} call'\n"
    assert SpentAnswers(tmp_path).is_spent(kept[3][1:27], "call")


def test_a_clock_that_ran_ahead_forgets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set right again, what was used before counts no second time."""
    used, true_time = new_ulid(), time.time
    assert SpentAnswers(tmp_path).spend(used, "call")
    monkeypatch.setattr(time, "time", lambda: true_time() + 90 * 86400)
    for _ in range(3):
        assert SpentAnswers(tmp_path).spend(UlidFactory(clock=time.time).new(), "call")
    monkeypatch.undo()
    assert SpentAnswers(tmp_path).is_spent(used, "call")
