"""In which language a design speaks with a model, and texts that are in their language already."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from shared.message import Message

_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def in_words(text: str) -> Message:
    """A text that is in its language already."""
    return Message("{text}", {"text": text.strip()})


LANGUAGE_NAMES: Mapping[str, str] = {"en": "English", "zh": "Chinese"}


def language_of(text: str) -> Literal["en", "zh"]:
    """In which language a model answers a sentence."""
    return "zh" if _CHINESE.search(text) else "en"
