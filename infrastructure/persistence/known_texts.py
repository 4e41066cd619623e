"""Texts of people whose meaning is known: ``resources/known_texts``, lines of a kind, a tab and a text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from domain.design.likeness import KnownTexts

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "known_texts"


@cache
def checkpoint_texts() -> KnownTexts:
    """What people type at a checkpoint; takes some 50 ms the first time."""
    return KnownTexts(_texts("checkpoint"))


@cache
def request_texts() -> KnownTexts:
    """What people ask for when they want a circuit: the keys of families, ``NO_REQUEST`` for what asks for
    none, which what is typed at a checkpoint is too. Takes some 100 ms the first time."""
    from domain.design.catalogue import FAMILIES
    from domain.design.weighing import NO_REQUEST

    return KnownTexts(
        [
            *_texts("request"),
            *((NO_REQUEST, text) for _, text in _texts("checkpoint")),
            *((key, text) for key, family in FAMILIES.items() for text in family.examples.values()),
        ]
    )


def _texts(name: str) -> Iterator[tuple[str, str]]:
    for file in sorted(FOLDER.glob(f"{name}.*.tsv")):
        for line in file.read_text(encoding="utf-8").splitlines():
            kind, _, text = line.partition("\t")
            yield kind, text
