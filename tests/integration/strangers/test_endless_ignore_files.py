"""Ignore files: the same verdicts as git's, and none that takes for ever."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from infrastructure.persistence.ignore_patterns import MOST_PATTERNS, IgnorePatterns
from infrastructure.persistence.ignore_rules import IGNORE_FILE, is_kept_back
from infrastructure.search.walking import walk

HOSTILE = (
    "*a" * 60 + "b",
    "a*" * 200 + "b",
    "[a-z]*" * 80 + "!",
    "**/" * 60 + "b",
    "a/**/" * 40 + "b",
    "*?" * 100 + "b",
    "**" * 100 + "b",
    " " * 100_000 + "x",
    "[" * 5_000,
    "\\" * 5_001,
    "**/" * 300_000 + "b",
    "a/" * 500_000 + "b",
    "/".join(f"x{number}*" for number in range(4000)),
)


@pytest.mark.parametrize("pattern", HOSTILE, ids=range(len(HOSTILE)))
def test_a_pattern_that_would_backtrack_ends(pattern: str, tmp_path: Path) -> None:
    """By a backtracking search the first of these takes longer than the world is old, deaf to SIGTERM."""
    folder = tmp_path / ("a" * 100)
    folder.mkdir()
    (folder / ("a" * 200)).touch()
    for name in (IGNORE_FILE, ".gitignore"):
        (tmp_path / name).write_text(f"{pattern}\nleft_out\n")
    inner = Path("a" * 100, "a" * 200)
    assert not is_kept_back(tmp_path, inner)
    assert is_kept_back(tmp_path, Path("left_out"))
    assert str(inner) in walk(tmp_path).files
    assert IgnorePatterns([pattern]).verdict("/".join("a" * 200)) is None


def test_more_patterns_than_anybody_writes_leave_everything_out() -> None:
    assert IgnorePatterns(["x"] * (MOST_PATTERNS + 1)).verdict("anything") is True


def test_folders_in_a_row_mean_what_one_does() -> None:
    rules = IgnorePatterns(["**/" * 5000 + "x"])
    assert rules.verdict("a/b/x") is True
    assert rules.verdict("a/b/y") is None


WORDS = (
    "a",
    "b",
    "ab",
    "*",
    "?",
    "a*",
    "*b",
    "**",
    "[ab]",
    "[!a]",
    "a?b",
    "[a-c]x",
    "\\*",
    "x[]]",
    "[^b]*",
    "*a*b",
    "[[:alpha:]]",
)
NAMES = ("a", "b", "ab", "aab", "x]", "cx", "*", "aXb", "ba")


def test_the_verdicts_are_gits(tmp_path: Path) -> None:
    """Folders are not asked for below an ignored one, as the callers do."""
    draw = random.Random(12)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    paths = sorted({"/".join(draw.choice(NAMES) for _ in range(draw.randint(1, 3))) for _ in range(60)})
    for _ in range(40):
        patterns = []
        for _ in range(draw.randint(1, 4)):
            body = "/".join(draw.choice(WORDS) for _ in range(draw.randint(1, 3)))
            before, after = draw.choice(("", "", "/", "!")), draw.choice(("", "", "", "/", " "))
            patterns.append(before + body + after)
        (tmp_path / ".git/info/exclude").write_text("\n".join(patterns) + "\n")
        asked = subprocess.run(
            ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "--stdin"],
            input="\n".join(paths), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert asked.returncode in (0, 1), asked.stderr
        rules = IgnorePatterns(patterns)
        ours = [path for path in paths if _is_ignored(rules, path)]
        assert ours == asked.stdout.splitlines(), patterns


def _is_ignored(rules: IgnorePatterns, path: str) -> bool:
    parts = path.split("/")
    folders = ("/".join(parts[: depth + 1]) + "/" for depth in range(len(parts) - 1))
    return any(rules.verdict(folder) for folder in folders) or bool(rules.verdict(path))
