"""Patches: the right place or none, every other byte as it was, and failures that help."""

import re

import pytest

from domain.llm.tools.patching import PatchFailure, PatchOutcome, apply_patch
from tests.ground.cases import for_each

DECK = """\
* two stages
.subckt stage in out
R1 in out 1k
C1 out 0 1n
.ends
X1 a b stage
R1 a b 1k5
XR1 a b 1k
.ends
"""


def patched(text, search, replace, **options):
    outcome = apply_patch(text, search, replace, **options)
    assert isinstance(outcome, PatchOutcome), outcome
    return outcome


def refused(text, search, replace="zz", **options):
    failure = apply_patch(text, search, replace, **options)
    assert isinstance(failure, PatchFailure), failure
    assert failure.explanation
    return failure


def test_a_unique_text_is_replaced_and_nothing_else():
    outcome = patched(DECK, "R1 in out 1k", "R1 in out 2k")
    assert outcome.text == DECK.replace("R1 in out 1k", "R1 in out 2k")
    assert (outcome.level, outcome.lines) == ("exact", (3,))


def test_a_part_of_a_line_is_replaced_field_by_field():
    assert patched("M1 d g s b n W=1u L=1u\n", "W=1u", "W=2u").text == "M1 d g s b n W=2u L=1u\n"
    assert patched("E1 v(out) {a} 'b'\n", "out", "x").text == "E1 v(x) {a} 'b'\n"
    assert patched("+W=1u L=2u\n", "W=1u", "W=2u").text == "+W=2u L=2u\n"
    assert patched("The gain is 5.\n", "gain is 5", "gain is 6").text == "The gain is 6.\n"


@for_each(
    ("line", "search"),
    [
        ("R1 in out 1k5", "R1 in out 1k"),
        ("XR1 in out 1k", "R1 in out 1k"),
        ("*R1 in out 1k", "R1 in out 1k"),
        ("**R1 in out 1k", "R1 in out 1k"),
        (";R1 in out 1k", "R1 in out 1k"),
        ("//R1 in out 1k", "R1 in out 1k"),
        ("R1 in+ out 1k", "R1 in"),
        ("M1 d g vdd! 0", "M1 d g vdd"),
        ("V1 a 0 -5", "5"),
        ("R1 a b 1.5k", "5k"),
        ("R1 a b 1.5k", "R1 a b 1"),
        ("R1 a b 1e-9", "R1 a b 1e"),
        ("X1 d[0] q dff", "X1 d"),
        (".subckt amp in out", "subckt amp in out"),
        (".include models/q.lib2", ".include models/q.lib"),
        ("R1 a b 10Ω", "R1 a b 10"),
        ("R_1 a b 1", "1 a b 1"),
        (".print v(x1:out)", "x1"),
    ],
)
def test_nothing_is_replaced_inside_a_longer_field(line, search):
    failure = refused(f"* title\n{line}\n", search)
    assert failure.kind == "not_found"
    assert failure.in_field_lines == (2,)
    assert "line 2" in failure.explanation


def test_a_card_that_was_switched_off_does_not_make_the_live_one_unclear():
    text = "* t\n*R1 a b 1k\nR1 a b 1k\n"
    outcome = patched(text, "R1 a b 1k", "R1 a b 2k")
    assert outcome.text == "* t\n*R1 a b 1k\nR1 a b 2k\n"
    assert outcome.in_field_lines == (2,)


def test_several_hits_are_refused_with_all_their_lines():
    failure = refused(DECK, ".ends")
    assert (failure.kind, failure.lines) == ("ambiguous", (5, 9))
    assert "lines 5, 9" in failure.explanation


@pytest.mark.parametrize(("occurrence", "expected"), [(1, "xaa"), (2, "axa"), (3, "aax"), (0, "xxx")])
def test_the_nth_or_all_are_replaced(occurrence, expected):
    text = "a\na\na\n"
    assert patched(text, "a", "x", occurrence=occurrence).text == "\n".join(expected) + "\n"
    assert patched("a a a", "a", "x", occurrence=occurrence).text == " ".join(expected)


@pytest.mark.parametrize("occurrence", [4, 99, -1])
def test_an_occurrence_that_is_not_there(occurrence):
    failure = refused("a\na\na\n", "a", occurrence=occurrence)
    assert (failure.kind, failure.lines) == ("occurrence_out_of_range", (1, 2, 3))


def test_all_are_replaced_with_longer_and_shorter_texts():
    outcome = patched("a\nb\na\nb\na", "a", "x\ny", occurrence=0)
    assert outcome.text == "x\ny\nb\nx\ny\nb\nx\ny"
    assert outcome.lines == (1, 4, 7)
    assert patched("a\nb\na\nb\n", "a\n", "", occurrence=0).text == "b\nb\n"


def test_an_occurrence_that_could_be_counted_in_two_ways_is_refused():
    text = "R1 a b 1k5\nR2 a b 1k\nR3 a b 1k\n"
    assert refused(text, "1k", occurrence=2).kind == "ambiguous"
    assert refused(text, "1k", occurrence=1).in_field_lines == (1,)
    assert patched(text, "1k", "2k", occurrence=0).text == "R1 a b 1k5\nR2 a b 2k\nR3 a b 2k\n"


def test_hits_that_overlap_are_not_unique_but_are_replaced_apart():
    assert refused("*\n*\n*\n", "*\n*").lines == (1, 2)
    assert patched("*\n*\n*\n*\n", "*\n*", "-\n-", occurrence=0).text == "-\n-\n-\n-\n"
    assert patched("*\n*\n*\n*\n", "*\n*", "-\n-", occurrence=2).text == "*\n*\n-\n-\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quoted_end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_of_the_file_are_kept(end, quoted_end, last):
    lines = ["* t", "R1 a b 1k", "R2 b 0 1k"]
    text = end.join(lines) + end * last
    search = quoted_end.join(lines[1:])
    outcome = patched(text, search, quoted_end.join(["R1 a b 2k", "R3 a 0 1", "R2 b 0 1k"]))
    assert outcome.text == end.join(["* t", "R1 a b 2k", "R3 a 0 1", "R2 b 0 1k"]) + end * last
    assert outcome.lines == (2,)


def test_a_file_of_mixed_line_ends_keeps_each():
    text = "a\r\nb\nc\r\nd\n"
    assert patched(text, "b\nc", "b\nx").text == "a\r\nb\nx\r\nd\n"
    assert patched(text, "a\nb\nc\nd\n", "a\nB\nnew\nc\nd\n").text == "a\r\nB\nnew\nc\r\nd\n"
    assert patched(text, "c", "c\nc2").text == "a\r\nb\nc\r\nc2\r\nd\n"


def test_a_byte_order_mark_is_kept_and_never_in_the_way():
    assert patched("\ufeffa\nb\n", "a", "x").text == "\ufeffx\nb\n"
    assert patched("\ufeffa\nb\n", "\ufeffa\nb", "\ufeffx\nb").text == "\ufeffx\nb\n"


@for_each(
    ("search", "replace", "expected"),
    [
        ("b\n", "x", "a\nx\nc\n"),  # a forgotten line end must not join two cards
        ("b\n", "x\n", "a\nx\nc\n"),
        ("b", "x\n", "a\nx\nc\n"),  # one too many makes no blank line
        ("b\n", "", "a\nc\n"),
        ("\nb", "", "a\nc\n"),
        ("\nb\n", "x", "a\nx\nc\n"),
        ("\nb\n", "\nx", "a\nx\nc\n"),
        ("\nb\n", "", "a\nc\n"),
        ("\nb", " x", "a\n x\nc\n"),
        ("b\nc\n", "x", "a\nx\n"),
        ("b\nc", "x", "a\nx\n"),
        ("b", "", "a\n\nc\n"),
        ("b", "x\n\n", "a\nx\n\nc\n"),
    ],
)
def test_line_breaks_at_the_edges(search, replace, expected):
    assert patched("a\nb\nc\n", search, replace).text == expected


def test_a_forgotten_line_end_behind_a_part_of_a_line():
    assert patched("R1 a b 1k ; old\nR2 b 0 1k\n", " ; old\n", "").text == "R1 a b 1k\nR2 b 0 1k\n"
    assert patched("R1 a b 1k\nR2 b 0 1k\n", "1k\nR2", "2k\nR2").text == "R1 a b 2k\nR2 b 0 1k\n"


def test_continuation_lines_may_be_joined_on_purpose():
    assert (
        patched("M1 d g s b n\n+ W=1u\nR1 a b 1\n", "\n+ W=1u", " W=2u").text
        == "M1 d g s b n W=2u\nR1 a b 1\n"
    )
    assert patched("M1 d g\n+ W=1u\n", "\n+ W=1u", "+ W=2u").text == "M1 d g\n+ W=2u\n"


def test_a_card_in_place_of_continuation_lines_is_not_joined_to_the_card_before():
    assert patched("M1 d g\n+ W=1u\n.end\n", "\n+ W=1u\n", "R1 a b 1\n").text == "M1 d g\nR1 a b 1\n.end\n"


def test_indentation_alone_does_not_choose_among_equal_lines():
    text = "x\n    R1 a b 1k\n  y\nR1 a b 1k\n"
    assert patched(text, "    R1 a b 1k", "    R1 a b 2k").lines == (2,)
    assert refused(text, "  R1 a b 1k").lines == (2, 4)


def test_white_space_at_line_ends_does_not_count():
    text = "* t\nR1 a b 1k  \nR2 b 0 1k\t\nC1 b 0 1n\n"
    outcome = patched(text, "R1 a b 1k\nR2 b 0 1k\n", "R1 a b 1k\nR2 b 0 2k\n")
    assert outcome.text == "* t\nR1 a b 1k  \nR2 b 0 2k\nC1 b 0 1n\n"
    assert outcome.level == "trailing"
    assert patched("a\nR1 a b 1k", "R1 a b 1k\n", "R1 a b 2k\n").text == "a\nR1 a b 2k"
    assert patched("a\nb\n", "b   \n", "x\n").text == "a\nx\n"


def test_blank_lines_around_a_quotation_do_not_count():
    assert (
        patched("R1 a b 1k\nR2 b c 1k", "\n\nR1 a b 1k\n\n", "\n\nR1 a b 2k\n\n").text
        == "R1 a b 2k\nR2 b c 1k"
    )


@pytest.mark.parametrize("indent", ["", "  ", "\t", "      "])
def test_a_block_moved_as_a_whole_is_found_and_keeps_the_files_indentation(indent):
    text = f"* t\n{indent}R1 a b 1k\n{indent}  R2 b 0 1k\nend\n"
    outcome = patched(
        text, "    R1 a b 1k\n      R2 b 0 1k\n", "    R1 a b 2k\n    C1 a 0 1n\n      R2 b 0 1k\n"
    )
    assert outcome.text == f"* t\n{indent}R1 a b 2k\n{indent}C1 a 0 1n\n{indent}  R2 b 0 1k\nend\n"
    assert outcome.level == "indent"


def test_a_block_whose_lines_moved_differently_is_refused():
    text = "* t\n  R1 a b 1k\nR2 b 0 1k\n"
    failure = refused(text, "    R1 a b 1k\n    R2 b 0 1k")
    assert (failure.kind, failure.hints, failure.hint_lines) == ("not_found", ("fuzzy",), (2,))
    assert (
        patched(text, "    R1 a b 1k\n    R2 b 0 1k", "    R1 a b 1k\n    R2 b 0 2k", fuzzy=True).level
        == "fuzzy"
    )


def test_fuzzy_ignores_blanks_between_fields_only():
    text = "* t\nM1 d  g s\tb nmos W = 1u  L=2u\nV1 in 0 PULSE (0 5 1n)\n"
    outcome = patched(text, "M1 d g s b nmos W=1u L=2u", "M1 d g s b nmos W=3u L=2u", fuzzy=True)
    assert outcome.text == text.replace("M1 d  g s\tb nmos W = 1u  L=2u", "M1 d g s b nmos W=3u L=2u")
    assert outcome.level == "fuzzy"
    assert patched(text, "V1 in 0 PULSE(0 5 1n)", "V1 in 0 1", fuzzy=True).lines == (3,)
    for search in ("M1 dg s b nmos W=1u L=2u", "M1 D g s b nmos W=1u L=2u", "M1 d g s b nmos W=1u L=2"):
        assert refused(text, search, fuzzy=True).kind == "not_found"


def test_fuzzy_is_only_applied_when_unique():
    text = "R1  a b 1k\nC1 a b 1n\nR1 a  b 1k\n"
    for occurrence in (None, 0, 1, 2):
        failure = refused(text, "R1 a b 1k", fuzzy=True, occurrence=occurrence)
        assert (failure.kind, failure.lines) == ("ambiguous", (1, 3))
    assert patched("R1  a b 1k\n", "R1 a b 1k", "x", fuzzy=True, occurrence=0).text == "x\n"
    assert refused("R1  a b 1k\n", "R1 a b 1k", fuzzy=True, occurrence=2).kind == "occurrence_out_of_range"


def test_likeness_is_never_applied_but_told():
    failure = refused(DECK, "R1 in out 10k\nC1 out 0 1n", fuzzy=True)
    assert failure.kind == "not_found"
    assert failure.nearest is not None
    assert (failure.nearest.first_line, failure.nearest.last_line) == (3, 4)
    assert failure.nearest.text == "R1 in out 1k\nC1 out 0 1n"
    assert "lines 3-4" in failure.explanation
    assert refused(DECK, "qqqq wwww ####").nearest is None


def test_letter_case_and_continuation_lines_are_hints_only():
    assert refused("* t\nr1 A b 1K\n", "R1 a b 1k", fuzzy=True).hints == ("case",)
    failure = refused("* t\n\nM1 d g s b\n+ nmos W=1u\n", "M1 d g s b nmos W=1u", fuzzy=True)
    assert (failure.hints, failure.hint_lines) == (("continuation",), (3,))
    assert "line 3" in failure.explanation


def test_a_replacement_that_is_there_already_is_told():
    failure = refused("* t\nR1 a b 2k\nR2 b 0 1k\n", "R1 a b 1k", "R1 a b 2k")
    assert failure.replacement_lines == (2,)
    assert "already there on line 2" in failure.explanation
    assert refused("* t\n  R1 a b 2k\n", "R1 a b 1k\n", "R1 a b 2k\n").replacement_lines == (2,)
    assert refused("* t\n", "R1 a b 1k", "").replacement_lines == ()


@pytest.mark.parametrize("search", ["", " ", "\n", "\t\n ", "\ufeff"])
def test_an_empty_search_is_refused(search):
    assert refused("a b\n\nc\n", search).kind == "empty_search"
    assert refused("", search, "").kind == "empty_search"


def test_a_change_of_nothing_is_refused():
    assert refused("a\r\n", "a\r\n", "a\n").kind == "same_text"
    assert refused("R1 a b\n", "R1 a b", "R1 a b\n").kind == "no_change"


def test_an_empty_or_short_file():
    for text in ("", "\n", "\ufeff", "x"):
        assert refused(text, "a\nb\nc").kind == "not_found"


def test_special_characters_are_text():
    assert patched("R1 a b {x*2} ; µ 电阻\n", "{x*2}", r"{\1*3}").text == "R1 a b {\\1*3} ; µ 电阻\n"
    assert patched("电阻 值 1k\n", "值", "数值").text == "电阻 数值 1k\n"
    assert refused("电阻值 1k\n", "电阻").in_field_lines == (1,)


def test_the_lines_of_a_failure_are_not_endless():
    failure = refused("e\n" * 5000, "e")
    assert len(failure.lines) == 5000
    assert len(failure.explanation) < 600
    assert re.search("and 4950 more", failure.explanation)


def test_a_missing_last_line_end_does_not_choose_between_equal_lines():
    text = "t\nR1 a b 1k\nC1 b 0 1n\nR1 a b 1k"
    failure = refused(text, "R1 a b 1k\n")
    assert (failure.kind, failure.lines) == ("ambiguous", (2, 4))
    assert patched(text, "R1 a b 1k\n", "R2 a b 2k\n", occurrence=1).text == text.replace(
        "R1 a b 1k\n", "R2 a b 2k\n"
    )
    assert patched(text, "C1 b 0 1n\n", "C1 b 0 2n\n").text == text.replace("1n", "2n")


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("* bias network", "*bias network"),
        ("+ W=1u", "+W = 1u"),
        ("R1 a b {x + y}", "R1 a b { x+y }"),
        ("R1 a b 'x+y'", "R1 a b 'x + y'"),
        ("B1 out 0 V=v(a) + v(b)", "B1 out 0 V = v(a)+v( b )"),
        ("R1 a b 1k;load", "R1  a b 1k ; load"),
    ],
)
def test_blanks_that_mean_nothing_in_spice_are_apart_with_fuzzy(line, quoted):
    text = f"t\n{line}\nC1 b 0 1n\n"
    refused(text, quoted)
    assert patched(text, quoted, "Z1", fuzzy=True).text == "t\nZ1\nC1 b 0 1n\n"


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("R1 in+ out 1k", "R1 in + out 1k"),
        ("R1 in out 1k", "R1 inout 1k"),
        ("M1 d g s b nmos", "M1 d g sb nmos"),
        (".include 'my - parts.lib'", ".include 'my-parts.lib'"),
        ("V1 a 0 {x y}", "V1 a 0 {xy}"),
        ("*R1 a b 1k", "R1 a b 1k"),
    ],
)
def test_blanks_that_part_names_always_count(line, quoted):
    refused(f"t\n{line}\n", quoted, fuzzy=True)
    refused(f"t\n{quoted}\n", line, fuzzy=True)


def test_blank_lines_between_are_apart_with_fuzzy_and_stay():
    text = "t\r\nR1 a b 1k\r\n\r\n\r\nC1 b 0 1n  \r\n.ends\r\n\r\n.ends"
    search = "R1 a b 1k\nC1 b 0 1n\n.ends"
    refused(text, search, "R1 a b 2k\nC1 b 0 1n\n.ends")
    assert patched(text, search, "R1 a b 2k\nC1 b 0 1n\n.ends", fuzzy=True).text == text.replace("1k", "2k")
    spread = "R1 a b 1k\n\nC1 b 0 1n\n\n.ends\n\n.ends"
    changed = patched(text, spread, spread.replace("1n", "2n"), fuzzy=True).text
    assert changed == text.replace("1n  ", "2n")
    twice = "t\n*\n\n.ends\n*\n\n\n.ends\n"
    assert refused(twice, "*\n.ends", fuzzy=True).kind == "ambiguous"
    assert refused(twice, "*\n.ends", fuzzy=True).lines == (2, 5)


@pytest.mark.parametrize("indented", ["  .ends amp", " .ends amp"])
def test_a_blank_before_it_does_not_choose_a_part_of_an_indented_line(indented):
    text = f".subckt a b\n{indented}\n.subckt c d\n.ends\n"
    assert patched(text, " .ends", "Z").text == f".subckt a b\n{indented}\n.subckt c d\nZ\n"
    refused(text.replace("d\n.ends", "d\n.ends c"), " .ends", "Z")
