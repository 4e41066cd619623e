"""Finding and replacing."""

from __future__ import annotations

from presentation.panels.editor.searching import Query, find_all, replacement_of

TEXT = "* 电路 10k\nR1 a b 10k\r\nR10 a 0 10K\n"


def found(query: Query, text: str = TEXT) -> list[str]:
    data = text.encode()
    return [data[match.start : match.end].decode() for match in find_all(text, query).matches]


def test_places_are_bytes_of_the_utf8_text() -> None:
    assert found(Query(text="10k")) == ["10k", "10k", "10K"]
    assert found(Query(text="路")) == ["路"]
    assert found(Query(text="b"), "😀 b") == ["b"]


def test_case_and_whole_words() -> None:
    assert found(Query(text="10k", match_case=True)) == ["10k", "10k"]
    assert found(Query(text="r1", whole_word=True)) == ["R1"]
    assert found(Query(text=".", whole_word=True)) == []


def test_a_line_ends_before_cr_too() -> None:
    assert found(Query(text="k$", is_regex=True)) == ["k", "k", "K"]


def test_plain_text_is_taken_as_it_is() -> None:
    assert found(Query(text="(a+"), "x (a+ y") == ["(a+"]


def test_empty_matches_are_left_out() -> None:
    assert found(Query(text="x*", is_regex=True), "axxb") == ["xx"]


def test_a_broken_expression_is_said_with_its_place() -> None:
    outcome = find_all(TEXT, Query(text="a(b", is_regex=True))
    assert outcome.matches == ()
    assert outcome.problem is not None
    assert "missing closing parenthesis" in str(outcome.problem)
    assert outcome.problem.params["place"] == 4


def test_a_pattern_that_would_run_for_ever_ends() -> None:
    assert find_all("a" * 5000 + "b", Query(text="(a+)+c", is_regex=True)).matches == ()


def test_groups_in_a_replacement() -> None:
    query = Query(text=r"(R)(\d+)", is_regex=True)
    first = find_all(TEXT, query).matches[0]
    assert replacement_of(first, r"\1x$2\n$$ \9", query) == "Rx1\n$$ "
    assert replacement_of(first, r"\1", Query(text="R1")) == r"\1"
