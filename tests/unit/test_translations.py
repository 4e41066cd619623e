"""Every text for people has a Chinese translation that fits, and no translation has lost its text."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from shared.message import is_plain_spec
from tests.ground.cases import for_each

ROOT = Path(__file__).parents[2]
CODE = (
    "shared",
    "domain",
    "application",
    "infrastructure",
    "presentation",
    "composition",
    "bootstrap.py",
    "main.py",
)
OF_A_TERMINAL = re.compile(
    r"(?<![\w-])--[a-z]"  # an option
    r"|PROJECT\b|python main\.py"  # a command with its arguments
    r"|`?\bproviders (key|test)\b|environment variable|CIRCUIT_AI_|\{(\w+_)?variable\}|on a terminal"
)
CATALOGUES = sorted((ROOT / "resources" / "translations" / "zh").glob("*.json"))


class Wrong(AssertionError):
    """A call of `msg` that cannot be checked or translated."""


def templates(source: str, file: str) -> Iterator[tuple[str, str]]:
    """Template and place of each `msg(...)` in `source`. Raises Wrong for one that is not a literal."""
    if "msg" not in source and "template" not in source:
        return
    for call in ast.walk(ast.parse(source, file)):
        if isinstance(call, ast.Call) and (name := _name(call.func)) in {"msg", "template"}:
            place = f"{file}:{call.lineno}"
            template = call.args[0] if len(call.args) == 1 else None
            if not isinstance(template, ast.Constant) or not isinstance(template.value, str):
                raise Wrong(f"{place}: the template of {name}() has to be one string literal")
            given = {keyword.arg for keyword in call.keywords}
            names = placeholders(template.value)
            if name == "msg" and None not in given and given != names:
                raise Wrong(f"{place}: {template.value!r} does not get the parameters it names: {given}")
            yield template.value, place


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def placeholders(template: str) -> set[str]:
    """Names in braces. Raises Wrong for what `Message.render` cannot fill in."""
    found = set()
    for _, name, format_spec, conversion in Formatter().parse(template):
        if name is not None:
            if not name.isidentifier() or conversion or not is_plain_spec(format_spec or ""):
                raise Wrong(f"{template!r}: only {{names}} and {{names:one|many}} may stand in braces")
            found.add(name)
    return found


def read_catalogue(text: str) -> dict[str, str]:
    """A flat catalogue. Raises Wrong for an entry that stands there twice."""

    def unique(pairs: list[tuple[str, str]]) -> dict[str, str]:
        if len(dict(pairs)) != len(pairs):
            raise Wrong(
                f"twice in one catalogue: {[key for key, _ in pairs if pairs.count(key) > 1] or pairs}"
            )
        return dict(pairs)

    return json.loads(text, object_pairs_hook=unique)


def misfits(entries: dict[str, str]) -> list[str]:
    """Entries that are empty, not translated, or name other parameters than the template."""
    return [
        template
        for template, translation in entries.items()
        if not translation.strip()
        or (translation == template and has_words(template))
        or placeholders(template) != placeholders(translation)
    ]


def has_words(template: str) -> bool:
    """Whether there is more in it than parameters and punctuation."""
    return any(character.isalpha() for text, *_ in Formatter().parse(template) for character in text)


@cache
def templates_of_code() -> list[tuple[str, str]]:
    """All templates in the code with their places."""
    files = [path for name in CODE for path in sorted([ROOT / name, *(ROOT / name).rglob("*.py")])]
    return [
        each
        for path in files
        if path.is_file()
        for each in templates(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())
    ]


@pytest.fixture(scope="module")
def used() -> dict[str, str]:
    return dict(templates_of_code())


@pytest.fixture(scope="module")
def translated() -> dict[str, dict[str, str]]:
    return {path.name: read_catalogue(path.read_text(encoding="utf-8")) for path in CATALOGUES}


def test_every_text_is_translated_and_no_translation_is_left_over(
    used: dict[str, str], translated: dict[str, dict[str, str]]
) -> None:
    known = {template for entries in translated.values() for template in entries}
    assert used
    missing = [f"{place}: {template}" for template, place in used.items() if template not in known]
    assert not missing, "\n".join(["no translation:", *missing])
    unused = [f"{name}: {key}" for name, entries in translated.items() for key in entries if key not in used]
    assert not unused, "\n".join(["translations of texts that are gone:", *unused])


def test_translations_fit_their_templates(translated: dict[str, dict[str, str]]) -> None:
    wrong = [f"{name}: {template}" for name, entries in translated.items() for template in misfits(entries)]
    assert not wrong, "\n".join(["translations that do not fit:", *wrong])


def test_catalogues_agree_where_they_share_a_text(translated: dict[str, dict[str, str]]) -> None:
    meanings: dict[str, set[str]] = {}
    for entries in translated.values():
        for template, translation in entries.items():
            meanings.setdefault(template, set()).add(translation)
    torn = [f"{template}: {texts}" for template, texts in meanings.items() if len(texts) > 1]
    assert not torn, "\n".join(["one text, several translations:", *torn])


def test_every_text_that_names_what_is_typed_has_words_of_the_window() -> None:
    told = {
        text: place
        for text, place in templates_of_code()
        if place.startswith(CODE[:5]) and not place.startswith("presentation/cli/")
    }
    asked = {text for text in told if OF_A_TERMINAL.search(text)}
    assert len(asked) > 30  # the search finds what it is for
    for language in ("en", "zh"):
        own = read_catalogue(
            (ROOT / "resources" / "translations" / "window" / f"{language}.json").read_text("utf-8")
        )
        missing = {text: told[text] for text in asked - own.keys()}
        assert not missing, f"{language}: say these in words of the window: {missing}"
        assert own.keys() <= told.keys(), own.keys() - told.keys()
        for text, words in own.items():
            assert not OF_A_TERMINAL.search(words), words
            assert placeholders(words) <= placeholders(text), words


@for_each(
    "source",
    [
        "msg(f'no {name}', name=name)",
        "msg(text)",
        "msg('no ' + name)",
        "msg()",
        "message.msg('no {name}')",
        "msg('no {name}', names=1)",
        "msg('no name', name=1)",
        "msg('no {name!r}', name=1)",
        "msg('no {}', name=1)",
        "msg('no {name:>4}', name=1)",
        "msg('no {name:a|b|c}', name=1)",
        "template(text)",
        "template('no {}')",
    ],
)
def test_texts_that_cannot_be_checked_are_refused(source: str) -> None:
    with pytest.raises(Wrong):
        list(templates(source, "x.py"))


def test_literals_are_found_with_their_parameters() -> None:
    source = "raise Error(shared.message.msg('no {name} '\n 'in {file}', name=1, file=2), advice=msg('look'))"
    assert dict(templates(source, "x.py")) == {"no {name} in {file}": "x.py:1", "look": "x.py:2"}
    assert dict(templates("ROWS = {1: template('no {name}')}", "x.py")) == {"no {name}": "x.py:1"}


def test_catalogue_with_an_entry_twice_is_refused() -> None:
    with pytest.raises(Wrong):
        read_catalogue('{"a": "b", "a": "c"}')


@pytest.mark.parametrize("translation", ["", "no {name}", "没有 {nome}", "没有", "没有 {name} {more}"])
def test_misfits_are_found(translation: str) -> None:
    assert misfits({"no {name}": translation}) == ["no {name}"]
    assert misfits({"no {name}": "没有 {name}", "{file}: {text}": "{file}: {text}"}) == []
