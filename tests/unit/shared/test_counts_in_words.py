"""A count and its noun agree: one file, two files; in Chinese the noun has one form."""

from __future__ import annotations

import json

import pytest

from presentation.translation import Translator
from shared.message import LONGEST_PARAMETER, message_from_plain, message_to_plain, msg, stored_message


@pytest.mark.parametrize(
    ("errors", "warnings", "said"),
    [(1, 2, "1 error, 2 warnings"), (0, 1, "0 errors, 1 warning"), (11, 21, "11 errors, 21 warnings")],
)
def test_the_noun_follows_its_own_number(errors: int, warnings: int, said: str) -> None:
    message = msg(
        "{errors} {errors:error|errors}, {warnings} {warnings:warning|warnings}",
        errors=errors,
        warnings=warnings,
    )
    assert str(message) == Translator("en")(message) == said
    assert Translator("zh")(message) == f"{errors} 个错误，{warnings} 个警告"


def test_a_stored_message_keeps_its_nouns_and_takes_no_other_format() -> None:
    kept = stored_message("Listed {count} {count:file|files}.", {"count": 1})
    assert str(kept) == "Listed 1 file."
    for strange in ("{count:9999999}", "{count:{count}|x}", "{count:a|b|c}", "{count!r:a|b}"):
        assert stored_message(strange, {"count": 1}) is None


def test_a_message_within_a_message_is_stored_as_one_and_translated_later() -> None:
    outer = msg("No {label} given; {value} assumed.", label=msg("tolerance"), value="2 %")
    read = message_from_plain(json.loads(json.dumps(message_to_plain(outer))))
    assert read is not None
    assert Translator("zh")(read) == Translator("zh")(outer) != Translator("en")(outer)
    deep: dict[str, object] = {"template": "x", "params": {}}
    for _ in range(40):
        deep = {"template": "{a}", "params": {"a": deep}}
    assert str(message_from_plain(deep)) == "", "as deep as a stranger likes, but no further than ours"


def test_a_part_of_a_sentence_without_end_is_cut_in_its_middle() -> None:
    said = str(msg("{path} is not there.", path="a" + "../" * 1_000_000 + "b"))
    assert len(said) < LONGEST_PARAMETER + 100
    assert said.startswith("a../")
    assert said.endswith("../b is not there.")
    assert str(msg("{text}", text="x" * 50_000)) == "x" * 50_000  # somebody's words are no part of a sentence
