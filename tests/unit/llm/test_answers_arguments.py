"""JSON as models write it: valid is returned as it is, repair is exact or refused."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from domain.llm.json_repair import Problem, parse_arguments, read_json
from tests.ground.campaign import Campaign, campaigns
from tests.ground.cases import for_each

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=5)


@for_each(
    ("text", "arguments"),
    [
        ("", {}),
        (" \n", {}),
        ("null", {}),
        ("None", {}),
        ('""', {}),
        ("\ufeff{}", {}),
        ('  {"a": 1}\n', {"a": 1}),
        ('{"a": 1, "b": [1, 2,],}', {"a": 1, "b": [1, 2]}),
        ("{'a': 'b', 'c': True, 'd': None, 'e': False}", {"a": "b", "c": True, "d": None, "e": False}),
        ("{'say': 'the \"title\"'}", {"say": 'the "title"'}),
        ("{'say': 'it\\'s'}", {"say": "it's"}),
        ('{"say": "it\\\'s"}', {"say": "it's"}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('```JSON {"a": "x ``` y"} ```', {"a": "x ``` y"}),
        ('{"content": "line 1\nline 2\tend"}', {"content": "line 1\nline 2\tend"}),
        ('{"content": "line 1\r\nline 2"}', {"content": "line 1\r\nline 2"}),
        ('"{\\"path\\": \\"amp.cir\\"}"', {"path": "amp.cir"}),
        (json.dumps(json.dumps(json.dumps({"a": "b"}))), {"a": "b"}),
        ("{“path”: “amp.cir”}", {"path": "amp.cir"}),
        ("{‘path’: ‘amp.cir’}", {"path": "amp.cir"}),
        ("{”path”：”放大器.cir”，”n”：2}", {"path": "放大器.cir", "n": 2}),
        ('{"say": "“quoted”"}', {"say": "“quoted”"}),
        ('{path: "amp.cir", start_line: 3}', {"path": "amp.cir", "start_line": 3}),
        ('{}{"path": "amp.cir"}', {"path": "amp.cir"}),
        ('{"path": "amp.cir"}{"path": "amp.cir"}', {"path": "amp.cir"}),
        ('{"a": "\\ud83d\\ude00",}', {"a": "😀"}),
        ('{"a": -0.5e3,}', {"a": -500.0}),
        ('{"a": "\\\\",}', {"a": "\\"}),
    ],
)
def test_what_can_be_read_one_way_only_is_read(text: str, arguments: dict[str, Any]) -> None:
    assert parse_arguments(text) == arguments


@for_each(
    ("text", "told"),
    [
        ('{"path": "amp.cir', "cut off"),
        ('{"path": ', "cut off"),
        ('{"path"', "cut off"),
        ("{", "cut off"),
        ('{"a": [1, 2', "cut off"),
        ('```json\n{"a": 1\n```', "cut off"),
        ("{'a': 'b", "cut off"),
        ('{"a": 1, "a": 2}', 'line 1, column 10, near "{\\"a\\": 1, \\"a\\": 2}"'),
        ('{\n "x": {"a": 1,\n  "a": 2}}', 'the key "a" stands there twice at line 3, column 3'),
        ('{"a": 1, "a": 2,}', "twice"),
        ('{"a": NaN}', "NaN is not a JSON number at line 1, column 7"),
        ('{"a": [1, -Infinity]}', "-Infinity is not a JSON number at line 1, column 11"),
        ('{"a": 1e999}', "too large at line 1, column 7"),
        ('{"a": ' + "9" * 5000 + "}", "5000 digits is too large"),
        ("[1, 2]", "an array"),
        ('"amp.cir"', "a string"),
        ("3", "a number"),
        ("true", "a boolean"),
        ('{"a": "C:\\dir"}', "backslash in a string has to be written as \\\\ at line 1, column 10"),
        ('{"a": "\\u12"}', "four hexadecimal digits"),
        ('{"say": "the "title""}', "a comma or } was expected at line 1, column 15"),
        ("{'say': 'it's'}", "a comma or } was expected"),
        ('{"a" 1}', "a colon was expected"),
        ('{"a": 1 "b": 2}', "a comma or } was expected"),
        ('{"a": 1}}', "something follows"),
        ('{"a": 1} and that is all', "something follows"),
        ('{"a": 1}{"a": 2}', "something follows"),
        ('{"a": 01}', "a value was expected"),
        ('{"a": maybe}', "a value was expected"),
        ("{,}", "a key in double quotes was expected"),
        ("path=amp.cir", "a value was expected"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_what_has_no_one_meaning_is_sent_back_with_the_place(text: str, told: str) -> None:
    problem = parse_arguments(text)
    assert isinstance(problem, Problem)
    assert told in problem.text
    assert "Send the" in problem.text
    assert len(problem.text) < 500


@given(OBJECTS, st.sampled_from([None, 2]), st.booleans())
def test_valid_objects_come_back_as_they_are(
    value: dict[str, Any], indent: int | None, ascii_only: bool
) -> None:
    assert parse_arguments(json.dumps(value, indent=indent, ensure_ascii=ascii_only)) == value


@given(VALUES)
def test_the_relaxed_reader_agrees_with_the_strict_one(value: Any) -> None:
    """A trailing comma forces the relaxed reader; it has to see the same value."""
    assert read_json(f"[{json.dumps(value)},]") == [value]
    assert read_json(f"[{json.dumps(value, ensure_ascii=False)},]") == [value]


@given(OBJECTS)
def test_python_literals_are_their_json(value: dict[str, Any]) -> None:
    """`repr` is JSON but for quotes and words; where its escapes are Python's own, it is refused."""
    read = parse_arguments(repr(value))
    assert read == value or (isinstance(read, Problem) and "\\" in repr(value))


@given(OBJECTS, st.data())
def test_what_is_cut_off_is_never_completed(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=False)
    cut = data.draw(st.integers(1, len(text) - 1))
    assert isinstance(parse_arguments(text[:cut]), Problem)


@given(st.text(alphabet="{}[]\"'“”:,，\\nul tre0-.eN`\n", max_size=60) | st.text(max_size=60))
def test_no_text_makes_it_raise(text: str) -> None:
    assert isinstance(parse_arguments(text), dict | Problem)


def _strictly(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


@campaigns(fast=300, whole=30_000)
def test_one_lost_or_changed_character_is_never_guessed(campaign: Campaign) -> None:
    """Whatever the damage: other valid JSON, or nothing; never a repair that differs from the original.

    (Not among the damage: what leaves a trailing comma or a ``\\'``, which are repaired by rule.)
    """
    for rng in campaign.cases():
        original = _arguments(rng)
        text = json.dumps(original, ensure_ascii=rng.random() < 0.5)
        at = rng.randrange(len(text))
        with_what = rng.choice(["", "", rng.choice('{}[],:"\\ n1')])
        damaged = text[:at] + with_what + text[at + 1 :]
        read = parse_arguments(damaged)
        if "\\'" not in damaged:
            assert isinstance(read, Problem) or read in (original, _strictly(damaged)), damaged


def _arguments(rng: random.Random) -> dict[str, Any]:
    texts = [
        "amp.cir",
        "R1 in out 1k",
        'say "hi"',
        "it's",
        "a\nb",
        "放大器",
        "C:\\x",
        "x = {y}",
        "",
        "[1, 2]",
    ]
    values: list[Any] = [*texts, 0, -3, 2.5, True, False, None, ["a", "bc"], {"r": "1k"}, [], {}]
    keys = ["path", "search", "replace", "occurrence", "fuzzy", "parameters"]
    return {key: rng.choice(values) for key in rng.sample(keys, rng.randint(1, 4))}
