"""What a list shows of a component in the reader's language: its title, its figures, where it is from."""

from __future__ import annotations

from pathlib import PurePath

from domain.circuit.model_library import SHIPPED_KINDS, title_words
from domain.components.component import Component, figure_words
from shared.message import Message, msg
from shared.paths import MODEL_LIBRARY

__all__ = ["SHIPPED_KINDS", "is_shipped", "origin_of", "title_of"]


_SHIPPED = str(MODEL_LIBRARY)


def is_shipped(component: Component) -> bool:
    """Whether it comes with the program; asked for each row of a list, so a path is made of few."""
    return component.file.startswith(_SHIPPED) and PurePath(component.file).parent == MODEL_LIBRARY


def title_of(component: Component) -> Message:
    """What it is, with its figures where its library's words do not have them."""
    figures = figure_words(component.kind, component.figures)
    if is_shipped(component):
        told = title_words(component.title)
        has_ratings = any(each.isdigit() for each in component.title)
        return told if has_ratings or not figures else msg("{kind}, {ratings}", kind=told, ratings=figures)
    said = "; ".join(text for text in (component.title, figures) if text)
    return msg("{text}", text=said)


def origin_of(component: Component, *, is_short: bool = False) -> Message:
    """Where it comes from: the program, the E-series, or a file, by its path or (short) by its name."""
    if component.card == "value":
        return msg("E-series")
    if is_shipped(component):
        return msg("built in")
    return msg("{path}", path=component.file_name if is_short else component.file)
