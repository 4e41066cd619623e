"""Edits as other tools write them, read back."""

import pytest

from domain.llm.tools.patching import edits_in

HEAD = "--- a/x.cir\n+++ b/x.cir\n"
FIRST, SECOND = "@@ -1 +1 @@\n-R1 1\n+R1 2\n", "@@ -9 +9 @@\n-C1 1\n+C1 2\n"


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        (FIRST, [("R1 1\n", "R1 2\n")]),
        (HEAD + FIRST + SECOND, [("R1 1\n", "R1 2\n"), ("C1 1\n", "C1 2\n")]),
        (HEAD + FIRST + HEAD + SECOND, [("R1 1\n", "R1 2\n"), ("C1 1\n", "C1 2\n")]),
        ("@@ -1 +1 @@\n R1\n--- old\n+-- new\n .end\n", [("R1\n-- old\n.end\n", "R1\n-- new\n.end\n")]),
        ("@@ -1 +1 @@\nR1\n-C1 1\n+C1 2\n.end\n", [("R1\nC1 1\n.end\n", "R1\nC1 2\n.end\n")]),
        ("@@ -1 +1 @@\n R1\n", []),
        ("R1 1", []),
    ],
)
def test_a_diff_is_its_edits(text: str, edits: list[tuple[str, str]]) -> None:
    assert [(edit.search, edit.replace) for edit in edits_in(text)] == edits
