"""Texts of people whose meaning is known: ``resources/known_texts``, lines of a kind, a tab and a text."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from domain.design.likeness import KnownTexts

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "known_texts"


@cache
def checkpoint_texts() -> KnownTexts:
    """What people type at a checkpoint; takes some 50 ms the first time."""
    return KnownTexts(
        (kind, text)
        for file in sorted(FOLDER.glob("checkpoint.*.tsv"))
        for line in file.read_text(encoding="utf-8").splitlines()
        for kind, _, text in (line.partition("\t"),)
    )
