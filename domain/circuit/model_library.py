"""The model library that comes with the program: what an entry is, and finding one.

Each model is a file ``NAME.lib`` that begins with comment lines: ``* NAME: title``, ``* pins:``,
``* figures:`` and ``* source:``. A circuit that includes ``NAME.lib`` gets it like a file of a library folder
of the user.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_MOST_FOUND = 12


class LibraryModel(NamedTuple):
    """One model of the library."""

    name: str
    """As an element names it: ``2N3904``; the file is ``2N3904.lib``."""
    title: str
    pins: str
    """In the order of an element's nodes."""
    figures: str
    """What a data sheet says and the model was checked against."""
    source: str
    """Where its parameters are from."""
    text: str
    """The whole file: comments and cards."""

    @property
    def include(self) -> str:
        """The card that brings it into a circuit."""
        return f".include {self.name}.lib"

    @property
    def is_subcircuit(self) -> bool:
        """Its elements are X lines."""
        return ".subckt" in self.text


def read_library_model(name: str, text: str) -> LibraryModel:
    """A file of the library. Raises ValueError when one of its comment lines is missing."""
    keys = (re.escape(name), "pins", "figures", "source")
    title, pins, figures, source = (re.search(rf"^\* {key}: (.+)$", text, re.MULTILINE) for key in keys)
    if title is None or pins is None or figures is None or source is None:
        raise ValueError(f"{name}.lib lacks a line about itself")
    return LibraryModel(
        name=name, title=title[1], pins=pins[1], figures=figures[1], source=source[1], text=text
    )


def matching_models(models: Sequence[LibraryModel], query: str) -> list[LibraryModel]:
    """The models a query means: one by its name, also with the letters of a package or grade behind it
    (``2N2222A``, ``BC547B``, ``LM358N``); else those with all its words in name, title or figures."""
    key = query.strip().casefold()
    if not key:
        return list(models)
    exact = [model for model in models if model.name.casefold() == key]
    if exact:
        return exact
    graded = [
        model
        for model in models
        if key.startswith(model.name.casefold()) and not key[len(model.name) :][:1].isdigit()
    ]
    if graded:
        return [max(graded, key=lambda model: len(model.name))]
    words = [word.rstrip("s") if len(word) > 3 else word for word in re.findall(r"[\w.]+", key)]
    texts = {model: f"{model.name} {model.title} {model.figures}".casefold() for model in models}
    return [model for model, text in texts.items() if words and all(word in text for word in words)][
        :_MOST_FOUND
    ]
