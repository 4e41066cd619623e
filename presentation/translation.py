"""Texts in the user's language, from the catalogues in resources/translations."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from shared.late_patterns import late_pattern
from shared.message import Message

CATALOGUES = Path(__file__).resolve().parent.parent / "resources" / "translations"
_CHINESE = late_pattern(r"[\u3400-\u9fff]")


def language_of(text: str) -> Literal["en", "zh"]:
    """The language a text is written in, and so to be answered in."""
    return "zh" if _CHINESE.search(text) else "en"


def language_in(wanted: str, environment: Mapping[str, str]) -> str:
    """The language of texts as the user set it; "auto" looks into `environment` as gettext does."""
    from domain.settings import LOCALE_VARIABLES

    if wanted != "auto":
        return wanted
    locale = next((environment[name] for name in LOCALE_VARIABLES if environment.get(name)), "")
    # LANGUAGE lists what the user reads, best first, but not for the plain C locale.
    wished = environment.get("LANGUAGE", "").split(":")[0] if locale not in ("", "C", "POSIX") else ""
    return "zh" if (wished or locale).lower().startswith("zh") else "en"


Place = Literal["terminal", "window"]
_WORDS = late_pattern(r"[a-z]{3,}")
_SHARE = late_pattern(r"[-+−±≤≥<>=\w.…/°Ωµ \u00a0]*\d[ \u00a0]%")
"""A figure that ends in a percent sign: ``+12 %``, ``10 kHz ±2 %``."""


@dataclass(frozen=True, slots=True)
class GivenName(Message):
    """What a person or a model calls something, and what we call it where that is of another language."""

    ours: Message | None = None

    def in_language(self, language: str) -> Message:
        """It, or our name where it is Chinese in a window that is not, or English words in a Chinese one."""
        said = str(self)
        is_chinese = _CHINESE.search(said) is not None
        is_foreign = is_chinese if language != "zh" else not is_chinese and _WORDS.search(said) is not None
        return self.ours if self.ours is not None and is_foreign else Message(self.template, self.params)


class Translator:
    """Renders messages in one language; what a catalogue lacks is shown in English.

    In the window an advice that names an option of the command line, or a variable of the environment, is
    given in the words of the window (resources/translations/window).
    """

    def __init__(self, language: str, place: Place = "terminal") -> None:
        self.language = language
        self._catalogue = _load(language, place)

    def __call__(self, message: Message) -> str:
        """The message's text. Parameters that are messages themselves are translated too."""
        if isinstance(message, GivenName):
            message = message.in_language(self.language)
        params = {key: self._param(value) for key, value in message.params.items()}
        template = self._catalogue.get(message.template, message.template)
        if self.language == "zh":
            template = _without_gaps(template, {name: params[name] for name in _ours_of(message)})
        return Message(template, params).render(template)

    def figure(self, text: str) -> str:
        """A figure as this language writes it: ``12 %`` in English, ``12%`` in Chinese."""
        if self.language != "zh" or not text.endswith("%") or _SHARE.fullmatch(text) is None:
            return text
        return text[:-1].rstrip() + "%"

    def _param(self, value: object) -> object:
        return (
            self(value)
            if isinstance(value, Message)
            else self.figure(value)
            if isinstance(value, str)
            else value
        )


def _ours_of(message: Message) -> list[str]:
    """The parameters that are words of ours, and not a person's or a model's."""
    return [name for name, value in message.params.items() if isinstance(value, Message)]


def _without_gaps(template: str, words: Mapping[str, object]) -> str:
    """A template without the space between Han and a parameter that turns out to be Chinese as well."""
    for name, word in words.items():
        hole, text = f"{{{name}}}", str(word)
        if f" {hole}" in template and _CHINESE.match(text):
            template = re.sub(rf"(?<=[\u3400-\u9fff]) (?={re.escape(hole)})", "", template)
        if f"{hole} " in template and _CHINESE.match(text[-1:]):
            template = re.sub(rf"(?<={re.escape(hole)}) (?=[\u3400-\u9fff])", "", template)
    return template


@cache
def _load(language: str, place: Place) -> Mapping[str, str]:
    """The catalogues of a language, read once: the window switches languages without touching the disk."""
    catalogue: dict[str, str] = {}
    for path in sorted((CATALOGUES / language).glob("*.json")):
        catalogue.update(json.loads(path.read_text("utf-8")))
    if catalogue:  # conversations kept from earlier versions hold their texts in the words of that time:
        # each has today's text for it, or, where there is none, its translation
        former = json.loads((CATALOGUES / "former.json").read_text("utf-8"))
        catalogue |= {old: catalogue.get(new, new) for old, new in former.items()}
    if place == "window":
        own = CATALOGUES / "window" / f"{language}.json"
        catalogue.update(json.loads(own.read_text("utf-8")))
    return catalogue
