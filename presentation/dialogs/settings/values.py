"""Values of settings as they are written into a field, and read from it."""

from __future__ import annotations

import json
import re
from dataclasses import Field
from typing import Any, Literal

from shared.message import Message, msg
from shared.safe_json import read_bounded
from shared.setting import about, choices_of, field_to_plain, is_optional, kind_of

ControlKind = Literal["flag", "choice", "number", "text", "path", "paths", "json"]

_PLAIN_KINDS: dict[str, ControlKind] = {
    "bool": "flag",
    "int": "number",
    "float": "number",
    "str": "text",
    "Path": "path",
    "tuple[Path, ...]": "paths",
}
_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*(k|m|g|t)?(?:i?b(?:ytes)?)?", re.IGNORECASE)
_POWERS = {"k": 10, "m": 20, "g": 30, "t": 40}
_CHOICES = {
    "auto": msg("System (auto)"),
    "en": msg("English"),
    "zh": msg("Chinese (中文)"),
}
_UNITS = (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10))


def control_of(one: Field[Any]) -> ControlKind:
    """With what a setting is changed; what is more than a single value is written as JSON."""
    return "choice" if choices_of(one) else _PLAIN_KINDS.get(kind_of(one), "json")


def text_of(one: Field[Any], value: Any) -> str:
    """A value as it stands in the field, "" for none."""
    plain, control = field_to_plain(one, value), control_of(one)
    if plain is None or plain in ({}, []):
        return ""
    if control == "paths":
        return "\n".join(plain)
    if control == "json":
        return json.dumps(plain, ensure_ascii=False)
    if about(one).unit == "bytes":
        return size_text(plain)
    return f"{plain:.15g}" if isinstance(plain, float) else str(plain)


def plain_of(one: Field[Any], text: str) -> Any:
    """What a text of the field is, as JSON has it. Raises ValueError for what is none."""
    text, control = text.strip(), control_of(one)
    if control == "paths":
        return [line.strip() for line in text.splitlines() if line.strip()]
    if not text and (is_optional(one) or control == "json"):
        return None if is_optional(one) else _nothing(one)
    if control == "json":
        return read_bounded(text)
    if control == "number":
        return _number(text, is_bytes=about(one).unit == "bytes")
    return text


def size_text(number: int) -> str:
    """``5 GiB`` where that is the very number, else bytes."""
    for name, power in _UNITS:
        if number and number % (1 << power) == 0:
            return f"{number >> power} {name}"
    return str(number)


def bounds_text(one: Field[Any]) -> Message | None:
    """The least and the most, below the field; None where there are none."""
    told = about(one)
    if told.bounds is None:
        return None
    least, most = told.bounds
    if told.unit == "bytes":
        low, high = size_text(int(least)), "" if most is None else size_text(int(most))
        unit = ""
    else:
        low, high = f"{least:,}", "" if most is None else f"{most:,}"
        unit = told.unit and f" {told.unit}"
    if most is None:
        return msg("at least {least}", least=f"{low}{unit}")
    return msg("{least} to {most}", least=low, most=f"{high}{unit}")


def shown_text(one: Field[Any], value: Any) -> Message:
    """A value in a sentence: ``15``, ``60 s``, "none"."""
    if control_of(one) == "flag":
        return msg("on") if value else msg("off")
    text = text_of(one, value).replace("\n", ", ")
    if control_of(one) == "choice" and text:
        return choice_words(text)
    if not text:
        return msg("none")
    unit = about(one).unit
    return Message(f"{text} {unit}" if unit and unit != "bytes" else text)


def choice_words(choice: str) -> Message:
    """One of several values as it is offered: in words where it is a code."""
    return _CHOICES.get(choice) or Message(choice)


def _nothing(one: Field[Any]) -> Any:
    return {} if kind_of(one).startswith("Mapping") else []


def _number(text: str, *, is_bytes: bool) -> Any:
    if is_bytes:
        match = _BYTES.fullmatch(text)
        if match is None:
            raise ValueError(text)
        return int(float(match[1]) * 2 ** _POWERS.get((match[2] or "").lower(), 0))
    text = text.replace(",", "").replace("\u00a0", "").replace(" ", "")
    return int(text) if text.lstrip("-").isdecimal() else float(text)
