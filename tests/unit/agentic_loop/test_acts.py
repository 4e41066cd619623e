"""What an answer says was changed, against the values that calls changed."""

from __future__ import annotations

from domain.circuit.figures_in_text import plain
from domain.llm.agentic_loop.acts import Edits, wrong_acts
from tests.ground.cases import for_each

_TWO = (
    "Changed a.cir: +3 -3 lines, first change at line 2.\n--- a/a.cir\n+++ b/a.cir\n@@ -2,3 +2,3 @@\n"
    "-C1 c 0 1 IC=5.5\n-RC vcc c 5k\n-.param td=150n lr=8u\n"
    "+C1 c 0 1.5 IC=5.5\n+RC vcc c 3.3k\n+.param td=250n lr=8u"
)
_EDITS = Edits().with_call({"path": "a.cir", "search": "C1", "replace": "C1"}, _TWO)


def test_edits_are_values_by_the_name_of_what_has_them() -> None:
    made = [f"{each.name} {each.old:.3g} {each.new:.3g}" for each in _EDITS.made]
    assert made == ["c1 1 1.5", "rc 5e+03 3.3e+03", "td 1.5e-07 2.5e-07"]


@for_each(
    ("text", "is_wrong"),
    [
        ("I set C1 to 2 F.", True),
        ("I set C1 to 1.5 F and RC to 3.3 kΩ.", False),
        ("I'd set C1 to 2 F next.", False),
        ("The gain is 40 dB and RC was left at 5 kΩ.", True),
        ("RC stays at 3.3 kΩ.", False),
        ("R2 was left at 5.1 kΩ.", False),
        ("RC 保持 5 kΩ，没有动。", True),
        ("R2 没有动。", False),
        ("只把死区由 150 ns 加长到 250 ns。", True),
        ("把死区由 150 ns 加长到 250 ns，C1 改为 1.5 F，RC 改为 3.3 kΩ。", False),
        ("C1 和 C2 都改为 1.5 F。", True),
        ("两只电容都换成了 1.5 F。", True),
        ("建议把 C2 换成 2.2 µF。", False),
        ("把 RC 减到 4.7 kΩ 之后带宽为 1 MHz。", True),
        ("Changes made:\n- RC: 5 kΩ → 3.3 kΩ\n- C2: 1 µF → 2.2 µF", True),
        ("Changes made:\n- RC: 5 kΩ → 3.3 kΩ\n- output: 2.1 V → 2.4 V", False),
        ("建议的改动：\n- C2：1 µF → 2.2 µF", False),
    ],
)
def test_an_answer_tells_of_changes_as_they_were_made(text: str, is_wrong: bool) -> None:
    assert bool(list(wrong_acts(plain(text), _EDITS))) is is_wrong


def test_what_a_file_written_anew_kept_is_not_known() -> None:
    edits = Edits().with_call({"path": "a.cir", "content": "* a\nR1 a 0 1k\n"}, "a.cir written, 2 lines")
    assert not list(wrong_acts("R1 was left at 2.2 kΩ.", edits))
    assert list(wrong_acts("I set R1 to 2.2 kΩ.", edits)) == []
