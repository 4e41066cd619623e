"""Texts of people whose meaning is known: ``resources/known_texts``, and what was learnt of them.

Lines of a kind, a tab and a text; behind another tab what a request states: ``vin=12 vout=5``, in SI units.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from domain.design.known_requests import KnownRequests
from domain.design.learnt import Weights
from domain.design.likeness import KnownTexts

LANGUAGES = "en", "zh"
FOLDER = Path(__file__).resolve().parents[2] / "resources" / "known_texts"
KINDS, FIGURES = "kinds", "figures"
"""Names of what `scripts/learn_requests.py` makes of the known requests: a file for each language, whose
first line is the `digest` of these."""


class Known(NamedTuple):
    """A text and its meaning."""

    kind: str
    text: str
    values: dict[str, float] | None
    """By quantity, where it says what it states."""


@cache
def checkpoint_texts() -> KnownTexts:
    """What people type at a checkpoint; takes some 50 ms the first time."""
    return KnownTexts((each.kind, each.text) for each in known_texts("checkpoint"))


@cache
def request_texts() -> KnownRequests:
    """What was learnt of what people ask for when they want a circuit; takes some 50 ms the first time."""
    return KnownRequests(_weights(KINDS), _weights(FIGURES))


def known_texts(name: str) -> Iterator[Known]:
    """All texts of one name, in all languages."""
    for file in sorted(FOLDER.glob(f"{name}.*.tsv")):
        for line in _lines(file):
            kind, text, *rest = line.split("\t")
            stated = (each.partition("=") for said in rest for each in said.split())
            yield Known(kind, text, {key: float(value) for key, _, value in stated} if rest else None)


def digest() -> str:
    """Of all texts that requests are learnt from."""
    texts = hashlib.sha256()
    for each in (*known_texts("request"), *known_texts("checkpoint")):
        texts.update(repr(each).encode())
    return texts.hexdigest()


def learnt_file(name: str, language: str) -> Path:
    """Where weights are that belong to features of one language."""
    return FOLDER / f"{name}.{language}.tsv"


def _weights(name: str) -> Weights:
    return Weights(_lines(learnt_file(name, language))[1:] for language in LANGUAGES)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]
