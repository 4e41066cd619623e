"""The window names no option of the command line, no command to type, no variable of the environment."""

from __future__ import annotations

import ast
import json
import re

import pytest

from presentation.translation import CATALOGUES, Translator
from shared.message import msg
from tests.unit.test_translations import CODE, OF_A_TERMINAL, ROOT

AN_OPTION = re.compile(r"(?<![\w-])--[a-z]")


def sources() -> list[tuple[str, str]]:
    """Name and text of every source file whose texts can reach the window: all but the command line's own."""
    found = []
    for part in CODE[:5]:
        for path in sorted((ROOT / part).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith("presentation/cli/"):
                found.append((name, path.read_text("utf-8")))
    return found


def test_no_parameter_of_a_text_is_an_option() -> None:
    """`msg("... {command}", command="chat --provider ...")` would pass the search of the templates."""
    for name, source in sources():
        if AN_OPTION.search(source) is None:
            continue
        for call in ast.walk(ast.parse(source)):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "msg":
                for keyword in call.keywords:
                    for part in ast.walk(keyword.value):
                        text = part.value if isinstance(part, ast.Constant) else ""
                        assert not (isinstance(text, str) and AN_OPTION.search(text)), (name, call.lineno)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_place_has_its_own_words(language: str) -> None:
    locked = msg("Enter its passphrase: on a terminal, in the model settings of the window, or in "
                 "{variable}.",
                 variable="CIRCUIT_AI_KEYS_PASSPHRASE")  # fmt: skip
    assert "CIRCUIT_AI_KEYS_PASSPHRASE" in Translator(language)(locked)
    said = Translator(language, "window")(locked)
    assert not OF_A_TERMINAL.search(said)
    assert (
        json.loads((CATALOGUES / "window" / f"{language}.json").read_text("utf-8"))[locked.template] == said
    )
