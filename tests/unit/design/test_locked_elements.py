"""Elements that are to stay as they are, and names of files, read from what people say."""

from __future__ import annotations

import pytest

from domain.design.file_names import file_stem
from domain.design.locked_elements import locked_changes, locked_elements

ELEMENTS = ["R1", "R2", "Rc", "C1", "Q1", "Vcc"]


@pytest.mark.parametrize(
    ("said", "locked"),
    [
        ("don't touch R1", "R1"),
        ("go on, but leave R1 and C1 as they are", "R1 C1"),
        ("another round without changing r1, R2 or Rc", "R1 R2 Rc"),
        ("change R1, keep Rc fixed", "Rc"),
        ("R1 must stay at 10k", "R1"),
        ("继续，但是别改 R1", "R1"),
        ("保持 Rc 不变，把 R2 改成 1k", "Rc"),
        ("不要动R1和Q1", "R1 Q1"),
        ("don't change the gain", ""),
        ("make R1 12k", ""),
        ("don't touch R9", ""),
        ("don't change R1; make R2 12k", "R1"),
        ("别把 R1 改成 2k，R2 改成 1k", "R1"),
    ],
)
def test_what_was_said_locks_elements(said: str, locked: str) -> None:
    assert list(locked_elements([said], ELEMENTS)) == locked.split()


@pytest.mark.parametrize(
    "freed",
    [
        "you may change R1 now",
        "R1 can be changed",
        "可以改 R1",
        "unlock R1",
        "R1 可以改了",
        "R1 is free now",
        "Set R1 to 2k",
        "then change R1 to 2k",
        "把R1改成 2k",
    ],
)
def test_what_is_said_later_frees_them(freed: str) -> None:
    assert locked_elements(["keep R1 and R2 fixed", freed], ELEMENTS) == ("R2",)


@pytest.mark.parametrize("said", ["don't set R1 to 2k again", "why did you change R1?"])
def test_what_is_no_order_frees_nothing(said: str) -> None:
    assert locked_elements(["keep R1 fixed", said], ELEMENTS) == ("R1",)


def test_a_list_of_thousands_of_parts_is_read_once() -> None:
    """It took a minute: from each name on, the list was gone through again."""
    listed = ", ".join(f"R{number}" for number in range(4_000))
    assert locked_elements([f"The parts: {listed}. Keep R1 and R2 fixed."], ELEMENTS) == ("R1", "R2")


@pytest.mark.parametrize(
    ("after", "changed"),
    [
        ("R1 in  OUT 1k\nR2 out 0 {r}\n.param r=3k\n", ("R2",)),
        ("R1 in out 2k\nR2 out 0 {r}\n.param r=2k\n", ("R1",)),
        ("* R1 in out 1k\nR2 out 0 {r}\n.param r=2k\nC1 out 0 1n\n", ("R1",)),
        ("* first\nR1 in out 1k\nR2 out 0 {r}\n.param r=2k\nC1 out 0 2n\n", ()),
    ],
)
def test_what_a_file_would_do_to_them(after: str, changed: tuple[str, ...]) -> None:
    """Of an included file, whose first line is no title; a value may stand in a parameter."""
    before = b"R1 in out 1k\nR2 out 0 {r}\n.param r=2k\nC1 out 0 1n\n"
    assert locked_changes(["keep R1 and R2 fixed"], before, after.encode(), has_title=False) == changed


@pytest.mark.parametrize(
    ("kind", "stem"),
    [
        ("Common-emitter amplifier", "common_emitter_amplifier"),
        ("共射放大器", "common_emitter_amplifier"),
        ("二阶有源低通滤波器", "second_order_active_lowpass_filter"),
        ("RC 高通", "rc_highpass"),
        ("没有名字的东西", "circuit"),
    ],
)
def test_a_file_is_named_by_the_kind_of_its_circuit(kind: str, stem: str) -> None:
    assert file_stem(kind) == stem
