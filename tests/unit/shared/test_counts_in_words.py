"""A count and its noun agree: one file, two files; in Chinese the noun has one form."""

from __future__ import annotations

import pytest

from presentation.translation import Translator
from shared.message import msg, stored_message


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
