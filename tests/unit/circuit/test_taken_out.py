"""An edit taken out of a text that was changed beside it later."""

from __future__ import annotations

import random

from domain.circuit.taken_out import without_edit


def test_neighbors_stay_and_what_was_changed_again_is_refused() -> None:
    before, after = b"t\nR1 1k\nR2 2k\nC1 1n\n", b"t\nR1 9k\nR2 2k\nC1 1n\n"
    assert without_edit(before, after, after) == before
    assert without_edit(before, after, after.replace(b"2k", b"3k")) == before.replace(b"2k", b"3k")
    assert without_edit(before, after, b"t\nL1 1u\nR1 9k\nR2 3k\n") == b"t\nL1 1u\nR1 1k\nR2 3k\n"
    assert without_edit(before, after, after.replace(b"9k", b"8k")) is None
    gone = b"t\nR1 1k\nC1 1n\n"
    assert without_edit(before, gone, gone.replace(b"1n", b"2n")) == before.replace(b"1n", b"2n")
    assert without_edit(before, gone, b"t\nC1 1n\n") is None
    assert without_edit(b"", b"a\n", b"a\nb\n") == b"b\n"


def test_of_edits_of_other_lines_exactly_the_one_goes() -> None:
    draw = random.Random(14)
    for _ in range(200):
        lines = [f"R{place} n{place} 0 {draw.randrange(1000)}\n" for place in range(draw.randrange(2, 12))]
        one, other = draw.sample(range(len(lines)), 2)

        def text(changed: dict[int, str], lines: list[str] = lines) -> bytes:
            return "".join(changed.get(place, line) for place, line in enumerate(lines)).encode()

        before, after = text({}), text({one: "X new\n"})
        assert without_edit(before, after, text({one: "X new\n", other: "Y\n"})) == text({other: "Y\n"})
