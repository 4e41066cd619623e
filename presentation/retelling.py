"""Stored words of a design, told in another language than the one they were written in.

A transcript keeps what a design said as one text. Its lines are ours: each is found again among the texts
of the designer, and told anew with the same figures. A line that is none of ours (a model's) stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from presentation.translation import CATALOGUES, GivenName, Translator, language_of
from shared.message import Message

_TOLD_BY_DESIGNS = ("application.json", "design.json", "design_resume.json", "optimisation.json")
_HOLE = re.compile(r"\{(\w+)(?::[^{}]*)?\}")
_COUNTED = re.compile(r"\{\w+:([^{}|]*)\|([^{}|]*)\}")
_LEAST_LETTERS = 4
"""Of its own a text has, which is looked for with others in its place: less would fit anything."""
_CLAUSES = re.compile(r"\w[.;:] [a-z]|[。；]")
"""What a figure or a name does not have: the rest of a sentence that only begins like one of ours."""
_LONGEST = 1_000

Shape = tuple[Sequence[str], Sequence[str], str]
"""What stands before, between and behind the parameters of a text, their names, its template."""


class StoredWords(GivenName):
    """What a design said in an earlier run, kept as one text."""

    __slots__ = ()

    def in_language(self, language: str) -> Message:
        """It, told in another language where its lines are ours."""
        return Message("{text}", {"text": retold(str(self), Translator(language, "window"))})


def retold(text: str, translate: Translator) -> str:
    """`text` in the language of `translate`, line by line; linear in its length."""
    return "\n".join(_line(line, translate) for line in text.split("\n"))


def _line(line: str, translate: Translator) -> str:
    source = language_of(line)
    if source == translate.language or len(line) > _LONGEST:
        return line
    message = _message_of(line, source)
    return line if message is None else translate(message)


@lru_cache(maxsize=2048)
def _message_of(line: str, source: str) -> Message | None:
    exact, shapes = _texts(source)
    if (template := exact.get(line)) is not None:
        return Message(template)
    for shape in shapes:
        if (given := _fitted(line, shape)) is not None:
            known = {name: _message_of(value, source) or value for name, value in given.items()}
            if not any(isinstance(value, str) and _CLAUSES.search(value) for value in known.values()):
                return Message(shape[2], known)
    return None


def _fitted(line: str, shape: Shape) -> dict[str, str] | None:
    """The parameters with which a text reads so, each up to the next word of ours; None where it does not."""
    literals, names, _ = shape
    if not line.startswith(literals[0]) or not line.endswith(literals[-1]):
        return None
    given: dict[str, str] = {}
    place = len(literals[0])
    for number, name in enumerate(names, 1):
        literal = literals[number]
        is_last = number == len(names)
        end = len(line) - len(literal) if is_last else line.find(literal, place + 1) if literal else -1
        value = line[place:end].strip()
        if end <= place or given.setdefault(name, value) != value:
            return None
        place = end + len(literal)
    return given


@lru_cache(maxsize=2)
def _texts(source: str) -> tuple[Mapping[str, str], Sequence[Shape]]:
    """Templates of the texts without parameters, and the shapes of the others, those that say most first."""
    catalogue = dict(_catalogue())
    pairs = [(template if source == "en" else told, template) for template, told in catalogue.items()]
    if source == "en":
        former = json.loads((CATALOGUES / "former.json").read_text("utf-8"))
        pairs += [(old, old) for old, new in former.items() if new in catalogue or language_of(new) == "zh"]
    shaped = sorted(
        (pair for pair in pairs if _says_enough(pair[0])), key=lambda pair: -len(_HOLE.sub("", pair[0]))
    )
    return (
        {told: template for told, template in pairs if not _HOLE.search(told)},
        [shape for told, template in shaped for shape in _shapes(told, template)],
    )


def _catalogue() -> Iterator[tuple[str, str]]:
    for name in _TOLD_BY_DESIGNS:
        yield from json.loads((CATALOGUES / "zh" / name).read_text("utf-8")).items()


def _says_enough(told: str) -> bool:
    return bool(_HOLE.search(told)) and len(re.sub(r"\W", "", _HOLE.sub("", told))) >= _LEAST_LETTERS


def _shapes(told: str, template: str) -> Iterator[Shape]:
    """One, or two where words follow a count: ``1 line``, ``3 lines``."""
    for number in (1, 2) if _COUNTED.search(told) else (1,):
        text = _COUNTED.sub(lambda found, number=number: found[number], told)  # type: ignore[misc]
        parts = _HOLE.split(text)
        literals = parts[::2]
        if language_of(told) == "zh":  # between two Chinese words there was no space
            literals = [literal.strip(" ") or literal for literal in literals]
        yield literals, parts[1::2], template
