"""Diffs: right counts, hunks that rebuild the file, bounded texts."""

import random

import pytest

from domain.llm.tools.text_files import diff_files, diff_texts


def rebuilt(before, diff):
    lines, moved = before.split("\n"), 0
    for hunk in diff.hunks:
        start = hunk.old_line - 1 + moved
        assert lines[start : start + len(hunk.removed)] == list(hunk.removed)
        assert hunk.new_line - 1 == start
        lines[start : start + len(hunk.removed)] = hunk.added
        moved += len(hunk.added) - len(hunk.removed)
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(5))
def test_hunks_rebuild_the_new_version_and_counts_fit_the_text(seed):
    rng = random.Random(seed)
    for _ in range(100):
        old = [rng.choice("abcd") for _ in range(rng.randrange(15))]
        new = list(old)
        for _ in range(rng.randrange(4)):
            spot = rng.randrange(len(new) + 1)
            new[spot : spot + rng.randrange(2)] = [rng.choice("abxy") for _ in range(rng.randrange(3))]
        before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
        diff = diff_texts(before, after, path="a.cir")
        assert rebuilt(before, diff) == after
        body = diff.text.splitlines()[2:]
        assert diff.added == sum(line.startswith("+") for line in body)
        assert diff.removed == sum(line.startswith("-") for line in body)
        assert (diff.text == "") == (before == after)


def test_the_text_is_a_unified_diff():
    before = "".join(f"R{n} a b 1k\n" for n in range(20))
    after = before.replace("R3 a b 1k", "R3 a b 2k").replace("R18 a b 1k\n", "")
    diff = diff_texts(before, after, path="sub/a.cir", context=1)
    assert diff.text == (
        "--- a/sub/a.cir\n+++ b/sub/a.cir\n@@ -3,3 +3,3 @@\n R2 a b 1k\n-R3 a b 1k\n+R3 a b 2k\n R4 a b 1k\n"
        "@@ -18,3 +18,2 @@\n R17 a b 1k\n-R18 a b 1k\n R19 a b 1k\n"
    )


def test_files_that_appear_and_go():
    assert diff_files(None, b"a\n", path="a").text == "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+a\n"
    assert diff_files(b"a\n", None, path="a").text == "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    assert diff_files(None, b"", path="a").text == ""


def test_other_line_ends_and_a_missing_last_one_are_shown():
    diff = diff_files(b"a\r\nb", b"a\nb\n", path="x")
    assert diff.text.splitlines()[3:] == ["-a␍", "-b", "\\ No newline at end of file", "+a", "+b"]
    assert "␍" not in diff_files(b"a\r\nb\r\n", b"a\r\nc\r\n", path="x").text


@pytest.mark.parametrize("encoding", ["gbk", "utf-8-sig", "utf-16", "latin-1"])
def test_texts_in_other_encodings_are_read(encoding):
    before, after = ("10µF\n", "20µF\n") if encoding == "latin-1" else ("* 放大器 电路\n", "* 滤波器 电路\n")
    assert f"+{after}" in diff_files(before.encode(encoding), after.encode(encoding), path="x").text


def test_what_is_no_text_is_not_shown():
    diff = diff_files(b"\0\1\2", b"a\n", path="x.bin")
    assert (diff.is_binary, diff.added, diff.hunks) == (True, 0, ())


def test_long_diffs_and_long_lines_are_cut():
    diff = diff_texts("", "x" * 5000 + "\n" + "y\n" * 5000, path="a", limit=1000)
    assert diff.is_cut
    assert len(diff.text) < 1100
    assert (diff.added, diff.removed) == (5001, 0)
    assert "5000 characters" in diff.text


def test_a_large_rewrite_is_counted_as_a_whole():
    before, after = ("".join(f"{head}{n}\n" for n in range(3000)) for head in "ab")
    diff = diff_texts(f"same\n{before}", f"same\n{after}", path="a")
    assert (diff.added, diff.removed, len(diff.hunks)) == (3000, 3000, 1)
