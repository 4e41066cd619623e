"""docs/habits.md: every row names a test that is there, and its numbers are those of its rows."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "habits.md").read_text("utf-8")


def test_every_habit_names_a_test_that_is_there() -> None:
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if re.match(r"\| \d", line)]
    assert [int(row[0]) for row in rows] == list(range(1, 59))
    for row in rows:
        file, _, name = row[-1].strip().partition("::")
        text = (ROOT / "tests" / "gui" / file).read_text("utf-8")
        assert not name or re.search(rf"^(?:async )?def {name}\(", text, re.MULTILINE), row
    in_part = sum(row[2].strip().startswith("~") for row in rows)
    otherwise = sum(row[2].strip().startswith("=") for row in rows)
    told = re.search(r"(\d+) of the 58 are met, (\w+) of them in another way \(=\); the other (\w+)", PAGE)
    assert told is not None
    words = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
    assert (int(told[1]), words[told[2]], words[told[3]]) == (58 - in_part, otherwise, in_part)
