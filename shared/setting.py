"""Settings as fields of dataclasses: each says itself what people, files and programs have to know of it.

From the fields made by `setting` are made: what reads and checks a file, the options of the command line that
stand for one call, the manual's page, and the list a dialog shows. Quick commands read settings too, so
nothing but the standard library's cheap half is imported, and kinds are told by the text of an annotation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from shared.message import Message, msg

if TYPE_CHECKING:
    import argparse

T = TypeVar("T")

_METADATA = "setting"
_NOTHING = Message("")


class Setting(NamedTuple):
    """What is known of one setting beside its name, kind and default. A text with a default is not empty."""

    title: Message = _NOTHING
    help: Message = _NOTHING
    unit: str = ""
    bounds: tuple[float, float | None] | None = None
    """The least and the most; None = any above."""
    choices: tuple[str, ...] = ()
    example: str = ""
    """JSON of one that is more than a single value."""
    variables: tuple[str, ...] = ()
    """Of the environment: they count where nothing is set."""
    option: str = ""
    """Of the command line: for one call."""
    is_read_at_start: bool = False
    """A running program goes on with what it read at its start; all others hold at once."""
    group: Message | None = None
    """Under which it is shown; None: under that of its dataclass."""
    parts: Callable[[], type[Any]] | None = None
    """The dataclass of a group of settings, or in a list or mapping; imported when it is needed."""
    read: Callable[[Any], Any] | None = None
    """Understands a value of a file in place of the annotation. Raises ValueError, TypeError."""
    write: Callable[[Any], Any] | None = None


_PLAIN = Setting()


def setting(default: Any = MISSING, title: Message | None = None, **told: Any) -> Any:
    """A field of a dataclass with its `Setting`; a class as default makes it, and what has none is needed."""
    metadata = {_METADATA: Setting(title or _NOTHING, **told)}
    if isinstance(default, type):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


class WrongSetting(ValueError):
    """A value that a setting can't have."""

    def __init__(self, name: str, needed: Message | None = None) -> None:
        super().__init__(name)
        self.name = name
        self.needed = needed

    @property
    def message(self) -> Message:
        """Which setting has to be what, without a full stop."""
        if self.needed is None:
            return msg("{setting} is not known", setting=self.name)
        return msg("{setting} must be {needed}", setting=self.name, needed=self.needed)


def about(one: Field[Any]) -> Setting:
    """The `Setting` of a field; an empty one where it has none."""
    found: Setting = one.metadata.get(_METADATA, _PLAIN)
    return found


def described(kind: type[Any]) -> dict[str, Field[Any]]:
    """The fields of a dataclass that were made by `setting`, by name."""
    return {one.name: one for one in fields(kind) if _METADATA in one.metadata}


def default_of(one: Field[Any]) -> Any:
    """A field's default; None where it has none."""
    if one.default_factory is not MISSING:
        return one.default_factory()
    return None if one.default is MISSING else one.default


def allowed(one: Field[Any]) -> Message:
    """What a field can be, in words: "a whole number from 1 to 200"."""
    told, kind, choices = about(one), kind_of(one), choices_of(one)
    if choices:
        return msg("one of {choices}", choices=", ".join(choices))
    if told.example:
        return msg("as in {example}", example=told.example)
    what = _IN_WORDS.get(kind, Message(kind))
    if told.bounds is None:
        return what
    least, most = told.bounds
    unit = told.unit and f" {told.unit}"
    if most is None:
        return msg("{what} of at least {least}", what=what, least=f"{least:,}{unit}")
    return msg("{what} from {least} to {most}", what=what, least=f"{least:,}", most=f"{most:,}{unit}")


def read_fields(kind: type[T], value: object, *, only: Collection[str] = (), is_strict: bool = True) -> T:
    """A dataclass from a JSON object; what is left out (or null, where None is none of its values) has its
    default. Fields that are not `only` can't be set.

    Raises WrongSetting for a name or value that is not allowed; unless `is_strict` that has its default.
    """
    if not isinstance(value, Mapping):
        if is_strict:
            raise WrongSetting("", msg("an object"))
        value = {}
    known = {one.name: one for one in fields(kind) if not only or one.name in only}  # type: ignore[arg-type]
    if is_strict and (unknown := sorted(map(str, value.keys() - known.keys()))):
        raise WrongSetting(unknown[0])
    found: dict[str, Any] = {}
    for name, one in known.items():
        is_needed = one.default is MISSING and one.default_factory is MISSING
        try:
            if is_needed or (name in value and (value[name] is not None or "None" in str(one.type))):
                found[name] = read_field(one, value.get(name), is_strict=is_strict)
                if is_needed and found[name] == "":
                    raise WrongSetting(name, allowed(one))
        except WrongSetting:
            if is_strict:
                raise
    return kind(**found)


def read_field(one: Field[Any], value: Any, *, is_strict: bool = True) -> Any:
    """A field's value from JSON; of dataclasses in it what `read_fields` makes. Raises WrongSetting."""
    told, kind = about(one), kind_of(one)
    if value is None and kind != one.type:
        return None
    try:
        if told.read is not None:
            return told.read(value)
        found = read_as(kind, value, told, is_strict=is_strict)
        if kind == "str" and _METADATA in one.metadata:
            found = found.strip()
            if not found and default_of(one):
                raise ValueError(value)
    except WrongSetting as error:
        inner = f"{one.name}.{error.name}" if error.name else one.name
        raise WrongSetting(inner, error.needed) from error
    except (ValueError, TypeError) as error:
        raise WrongSetting(one.name, allowed(one)) from error
    return found


def read_as(kind: str, value: Any, told: Setting = _PLAIN, *, is_strict: bool = True) -> Any:
    """A value of the kind that an annotation names ("Mapping[str, tuple[int, ...]]"), each number within the
    bounds of `told`; another name in it stands for its `parts`. Raises ValueError, TypeError."""
    name, _, inside = kind.removesuffix("]").partition("[")
    choices = told.choices or _literals(kind)
    if choices:
        if value not in choices:
            raise ValueError(value)
        return value
    if name in ("list", "tuple"):
        kinds = _split(inside)
        is_any_length = name == "list" or "..." in kinds
        if not isinstance(value, list) or not (is_any_length or len(kinds) == len(value)):
            raise TypeError(value)
        kinds = kinds[:1] * len(value) if is_any_length else kinds
        items = (read_as(*pair, told, is_strict=is_strict) for pair in zip(kinds, value, strict=True))
        return list(items) if name == "list" else tuple(items)
    if name in ("dict", "Mapping"):
        if not isinstance(value, dict):
            raise TypeError(value)
        inner = _split(inside)[1]
        return {key: read_as(inner, item, told, is_strict=is_strict) for key, item in value.items()}
    if told.parts is not None:
        return read_fields(told.parts(), value, is_strict=is_strict)
    found = _READERS[kind](value)
    if told.bounds is not None:
        least, most = told.bounds
        if found < least or (most is not None and found > most):
            raise ValueError(value)
    return found


def _split(inside: str) -> list[str]:
    """The arguments of a generic: those between commas outside of brackets."""
    kinds = [""]
    for piece in inside.split(", "):
        if kinds[-1].count("[") > kinds[-1].count("]"):
            kinds[-1] += f", {piece}"
        else:
            kinds.append(piece)
    return kinds[1:]


def to_plain(value: Any) -> Any:
    """A setting's value as JSON takes it; of dataclasses without the fields that are None by default."""
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((one, getattr(value, one.name)) for one in fields(value))
        return {
            one.name: field_to_plain(one, each)
            for one, each in pairs
            if each is not None or one.default is not None
        }
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {name: to_plain(each) for name, each in value.items()}
    return [to_plain(each) for each in value] if isinstance(value, list | tuple) else value


def field_to_plain(one: Field[Any], value: Any) -> Any:
    """A field's value as JSON takes it."""
    write = about(one).write
    return to_plain(value) if write is None or value is None else write(value)


def kind_of(one: Field[Any]) -> str:
    """The kind its annotation names, without None: "int", "tuple[Path, ...]"."""
    return str(one.type).removesuffix(" | None")


def is_optional(one: Field[Any]) -> bool:
    """Whether None is one of its values."""
    return kind_of(one) != one.type


def choices_of(one: Field[Any]) -> tuple[str, ...]:
    """What it can be, where that is a choice; else ()."""
    return about(one).choices or _literals(kind_of(one))


def _literals(kind: str) -> tuple[str, ...]:
    if not kind.startswith("Literal["):
        return ()
    return tuple(word.strip(" \"'") for word in kind.removeprefix("Literal[").removesuffix("]").split(","))


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(value)
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    try:
        number = float(value)
    except OverflowError as error:  # JSON's whole numbers have no limit
        raise ValueError("too large") from error
    if not math.isfinite(number):
        raise ValueError(value)
    return number


def _text(value: Any) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise TypeError(value)
    return value


def _place(value: Any) -> Path:
    """An absolute path; `~` is the user's home."""
    text = _text(value)
    path = Path(text).expanduser() if text.startswith("~/") else Path(text)
    if not path.is_absolute():
        raise ValueError(value)
    return path


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "bool": _flag,
    "int": _whole,
    "float": _number,
    "str": _text,
    "Path": _place,
}
_IN_WORDS: Mapping[str, Message] = {
    "bool": msg("true or false"),
    "int": msg("a whole number"),
    "float": msg("a number"),
    "str": msg("a text"),
    "Path": msg("an absolute path"),
    "tuple[Path, ...]": msg("a list of absolute paths"),
}


def add_option(parser: argparse.ArgumentParser, kind: type[Any], name: str, **given: Any) -> None:
    """Add the command line's option of the setting `name` of a dataclass; `given` are arguments of
    `add_argument` that come before what the field says."""
    one = described(kind)[name]
    made: dict[str, Any] = {"type": partial(_number_option, one), "metavar": "N"}
    if one.type == "tuple[Path, ...]":
        made = {"type": Path, "action": "append", "default": [], "metavar": "DIR"}
    parser.add_argument(about(one).option, **{**made, **given})


def _number_option(one: Field[Any], text: str) -> Any:
    from argparse import ArgumentTypeError

    try:
        return read_field(one, int(text) if text.isdecimal() else float(text))
    except WrongSetting as error:
        raise ArgumentTypeError(f"must be {error.needed}") from None
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number") from None
