"""Placeholders in a prompt: ``{metrics}``, ``{design_goals.cutoff}``, and filling them in.

Only a name (with dots) in single braces is one, so JSON and SPICE expressions (``{R1*2}``) may stand in a
text as they are. ``{{name}}`` is the text ``{name}``.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass

_PATH = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9][A-Za-z0-9_]*)*"
_PLACEHOLDER = re.compile(rf"\{{\{{({_PATH})\}}\}}|\{{({_PATH})\}}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_NOTHING = object()

Show = Callable[[str, str], str]
"""From a variable's name and its text to what stands in the prompt: a fence around foreign material."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholder:
    """One placeholder of a text."""

    path: str
    """As it stands between the braces."""
    start: int
    """Index of its opening brace in the text."""
    end: int
    """Index behind its closing brace."""

    @property
    def name(self) -> str:
        """The variable: what stands before the first dot."""
        return self.path.split(".", 1)[0]


def placeholders(text: str) -> Iterator[Placeholder]:
    """The placeholders of `text`, in order; doubled braces are none."""
    for found in _PLACEHOLDER.finditer(text):
        if found[2] is not None:
            yield Placeholder(path=found[2], start=found.start(), end=found.end())


def names_in(text: str) -> frozenset[str]:
    """The variables a text mentions."""
    return frozenset(placeholder.name for placeholder in placeholders(text))


def is_variable_name(name: str) -> bool:
    """Whether a variable may be called so: letters, digits and _, at most 64, not a digit first."""
    return _NAME.fullmatch(name) is not None


def fill(
    text: str, values: Mapping[str, object], *, declared: Collection[str] = (), show: Show | None = None
) -> str:
    """`text` with its placeholders replaced, in one pass: braces inside a value are not looked at.

    A variable of `declared` without a value becomes empty, as does a path that leads nowhere. A name that
    is neither declared nor given is no variable and stays as it is.
    """

    def replace(found: re.Match[str]) -> str:
        if found[1] is not None:
            return f"{{{found[1]}}}"
        name, *parts = found[2].split(".")
        if name in values:
            value = as_text(_follow(values[name], parts))
            return value if show is None else show(name, value)
        return "" if name in declared else found[0]

    return _PLACEHOLDER.sub(replace, text)


def as_text(value: object) -> str:
    """How a value stands in a prompt: text as it is, nothing as "", objects and lists as JSON."""
    if value is None or value is _NOTHING:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(_plain(value), ensure_ascii=False, default=str)


def closest(name: str, known: Collection[str]) -> str | None:
    """The known variable that was probably meant by a misspelt one."""
    found = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return found[0] if found else None


def _follow(value: object, parts: Sequence[str]) -> object:
    for part in parts:
        value = _member(value, part)
    return value


def _member(value: object, name: str) -> object:
    """An entry of a mapping, a field of a dataclass or an item of a list; no other attribute is reached."""
    if isinstance(value, Mapping):
        return value.get(name, _NOTHING)
    if is_dataclass(value) and not isinstance(value, type):
        return getattr(value, name) if name in {field.name for field in fields(value)} else _NOTHING
    if isinstance(value, Sequence) and not isinstance(value, str | bytes) and name.isdecimal():
        index = int(name) if len(name) < 10 else len(value)
        return value[index] if index < len(value) else _NOTHING
    return _NOTHING


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        entries = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [_plain(entry) for entry in entries]
    return value
