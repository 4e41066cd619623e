"""Elements that are to stay as they are, and names of files, read from what people say."""

from __future__ import annotations

import time

import pytest

from domain.design.file_names import file_stem
from domain.design.locked_elements import locked_changes, locked_elements, said_about
from tests.ground.cases import for_each

ELEMENTS = ["R1", "R2", "Rc", "C1", "Q1", "Vcc", "Rin"]
LOCKING = [
    ("keep R1 at 10k", "R1"),
    ("keep R1", "R1"),
    ("Keep resistor R1 at 10 kOhm and raise the gain.", "R1"),
    ("keep R1 = 10k", "R1"),
    ("leave R1 and C1 alone", "R1 C1"),
    ("leave R1 as is", "R1"),
    ("don't change the value of R1", "R1"),
    ("R1 stays at 10k", "R1"),
    ("R1 must not be changed", "R1"),
    ("R1 is fixed, the rest is free", "R1"),
    ("fix Rc at 4.7k", "Rc"),
    ("a gain of 20 dB with R1 fixed at 10k", "R1"),
    ("please do not adjust R1, R2, or C1", "R1 R2 C1"),
    ("hands off Q1", "Q1"),
    ("no changes to Vcc", "Vcc"),
    ("could you keep R1 at 10k?", "R1"),
    ("R1 can't be changed", "R1"),
    ("hold C1 at 100n", "C1"),
    ("R1 remains unchanged", "R1"),
    ("R1 不要动", "R1"),
    ("R1 保持 10k", "R1"),
    ("R1保持在10k不变", "R1"),
    ("请勿修改 R1", "R1"),
    ("R1 的阻值不要改", "R1"),
    ("保持R1为10k，提高增益", "R1"),
    ("R1和C1都别动", "R1 C1"),
    ("R1 不能变", "R1"),
    ("电阻 R1 固定为 10k", "R1"),
    ("能不能保持 R1 不变？", "R1"),
    ("R1、R2 维持原值", "R1 R2"),
    ("禁止改动 Q1", "Q1"),
    ("不要改变电容 C1", "C1"),
    ("增益提高到 20 dB，R1 保持 10k", "R1"),
    ("把 R1 固定在 10k", "R1"),
    ("R1 先不要调", "R1"),
    ("保留 Q1", "Q1"),
]
NOT_LOCKING = [
    "keep the gain at 10",
    "keep R1 below 10k",
    "keep R1 small",
    "keep R1 in mind",
    "keep R1 at 10k or less",
    "keep R1 between 1k and 10k",
    "why did you keep R1 at 10k?",
    "what happens if R1 stays at 10k?",
    "Is R1 fixed?",
    "keep the current through R1 at 1 mA",
    "keep the voltage across C1 constant",
    "keep Rin above 10k",
    "without changing R1's current",
    "don't forget R1",
    "hold the output at 5 V",
    "fix R1",
    "R1 is at the input",
    "don't change the gain",
    "Keep going",
    "R1 should be 10k",
    "Vcc is 12 V",
    "keep Rc within 10 %",
    "R1 can be 10k",
    "增益保持 10",
    "保持增益 20 dB",
    "R1 保持在 10k 以下",
    "R1 两端电压保持不变",
    "保持 R1 的电流不变",
    "R1 不能太小",
    "为什么不要动 R1？",
    "如果 R1 保持 10k，增益是多少",
    "R1 不变的话会怎样？",
    "不要改变增益",
    "R1 取 10k",
    "R1 固定了吗？",
    "保持 R1 小于 10k",
    "可以改 R1",
    "R1 改成 10k",
    "R1 的电流保持 1mA",
    "带宽不要变",
    "不变的是 R1 的电压",
]


@for_each(
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


def test_sentences_that_lock_and_those_that_speak_of_something_else() -> None:
    assert len(LOCKING) >= 20
    assert len(NOT_LOCKING) >= 20
    for said, locked in LOCKING:
        assert " ".join(locked_elements([said], ELEMENTS)) == locked, said
    for said in NOT_LOCKING:
        assert not locked_elements([said], ELEMENTS), said


def test_an_element_is_brought_to_the_value_it_is_to_be_kept_at() -> None:
    before = b"R1 in out 5k\nC1 out 0 1n\n"
    for said in ("keep R1 at 10 kOhm", "R1 保持 10k"):
        assert not locked_changes([said], before, before.replace(b"5k", b"10k"), has_title=False)
        assert locked_changes([said], before, before.replace(b"5k", b"12k"), has_title=False) == ("R1",)
        assert locked_changes([said], before, b"C1 out 0 1n\n", has_title=False) == ("R1",)


@for_each(
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


@pytest.mark.parametrize("said", ["don't set R1 to 2k again", "why did you change R1?", "can R1 be changed?"])
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


@for_each(
    ("card", "leans_on", "becomes"),
    [
        ("R1 in out {2*k}", ".param k={m}\n.param m=1k", ".param k={m}\n.param m=5k"),
        ("R1 in out {f(1)}", ".func f(x) {x*1k}", ".func f(x) {x*5k}"),
        ("R1 in out rm 10", ".model rm R(rsh=1)", ".model rm R(rsh={s})\n.param s=9"),
        ("R1 in out 1k", "", ".control\nalter r1=5k\nrun\n.endc"),
        ("X1 in out s\n.subckt s a b\nR1 a b {k}\n.ends", ".param k=1", ".param k=2"),
        ("X1 in out s k=1\n.subckt s a b k=3\nR1 a b {k}\n.ends", "X2 in out t k=2", "X2 in out s k=2"),
    ],
)
def test_an_element_is_another_by_what_it_leans_on(card: str, leans_on: str, becomes: str) -> None:
    """A model that may not change R1 changed the parameter of its parameter, and the goals were met."""
    before, after = (f"* title\n{card}\n{more}\nC1 out 0 1n\n".encode() for more in (leans_on, becomes))
    for said in ("don't touch R1", "keep R1 at 10k"):
        assert locked_changes([said], before, after) == ("R1",)
        assert not locked_changes([said], before, before.replace(b"1n", b"2n") + b"X3 in out t k=7\n")


def test_thousands_of_parameters_are_followed_for_what_is_locked_only() -> None:
    """Each parameter leans on all behind it, one on itself: it took minutes."""
    count = 3_000
    lines = (f"R{n} a b {{p{n}}}\n.param p{n}={{p{n + 1}+p{n + 2}}}\n" for n in range(count))
    before = f"* title\n{''.join(lines)}.param p{count}={{p{count + 1}}}\n.param p{count + 1}=1 p0={{p0}}\n"
    begun = time.process_time()
    after = before.replace(f"p{count + 1}=1", f"p{count + 1}=2")
    assert locked_changes(["don't touch R1"], before.encode(), after.encode()) == ("R1",)
    assert time.process_time() - begun < 3


def test_a_long_word_is_gone_through_once_for_names_of_files() -> None:
    """Pasted data of 16 kB took 35 s of a processor at each change of a file."""
    said = "keep R1 fixed in amp.cir. " + "9." * 500_000
    assert " ".join(said_about([said], "amp.cir", is_main=True)).startswith("keep R1 fixed")


@pytest.mark.parametrize(
    ("kind", "stem"),
    [
        ("Common-emitter amplifier", "common_emitter_amplifier"),
        ("共射放大器", "common_emitter_amplifier"),
        ("二阶有源低通滤波器", "second_order_active_lowpass_filter"),
        ("RC 高通", "rc_highpass"),
        ("2nd-order low-pass, 1 kHz (gain 20 dB)", "2nd_order_low_pass_gain"),
        ("没有名字的东西", "circuit"),
    ],
)
def test_a_file_is_named_by_the_kind_of_its_circuit(kind: str, stem: str) -> None:
    assert file_stem(kind) == stem


def test_questions_without_number_are_read_once() -> None:
    """As many blanks as they had letters stood in their place: minutes."""
    said = "Is it so? " * 20_000 + "Keep R1 fixed."
    assert locked_elements([said], ELEMENTS) == ("R1",)
