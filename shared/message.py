"""Texts for people, as data.

Code below presentation never joins sentences: it makes a `Message` (an English template and its
parameters). Presentation turns it into the user's language; `str()` gives English. Parameters may come from
models and files: `visible` and its like make such texts safe to show.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from string import Formatter
from types import MappingProxyType
from typing import Any

from shared.late_patterns import late_pattern

HIDDEN = (
    0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x180F), 0x200B, 0x200E, 0x200F,
    *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, 0xFEFF, 0xFFA0, *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
)  # fmt: skip
"""Characters that are not seen (Unicode's Default_Ignorable_Code_Point but what joins letters and emojis):
marks of writing direction turn a text around, the others make two names look alike."""
_CONTROLS = {code: 0x2400 + code for code in range(32) if code not in (9, 10, 13)}
_CONTROLS |= {127: 0x2421} | dict.fromkeys(range(128, 160), 0xFFFD)
_CONTROLS |= dict.fromkeys(HIDDEN, 0xFFFD)
"""Escape sequences could drive a terminal."""
_LINE_ENDS = {9: 0x2409, 10: 0x240A, 13: 0x240D, 0x2028: 0x240A, 0x2029: 0x240A}


LONGEST_PARAMETER = 10_000
"""Characters of a part of a sentence. A path of megabytes, which a model may name, holds a table of Qt for
minutes."""


def _escape(code: int) -> str:
    """As JSON writes it: in UTF-16 (RFC 8259, 7)."""
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\u{0xD7C0 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


_IN_JSON = {code: _escape(code) for code in (*range(127, 160), 0x2028, 0x2029, *HIDDEN)}
"""What JSON leaves as it is: some of it drives a terminal, some readers take for the end of a line."""
_LONE_RETURN = late_pattern(r"\r(?!\n)")


def visible(text: str) -> str:
    """`text` with signs for its control characters (but tab and line ends) and for what is not seen."""
    return text.translate(_CONTROLS)


def for_terminal(text: str) -> str:
    """The same, and nothing that would be written over what stands in the line."""
    return _LONE_RETURN.sub("\u240d", visible(text))


def one_line(text: str) -> str:
    """The same in one line: a file's name may hold line ends, and must not make up lines of a list."""
    return visible(text).translate(_LINE_ENDS)


def shortened(text: str, most: int) -> str:
    """`text`, of a longer one its beginning and its end: what somebody else makes up may have no end."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]} \u2026 {text[-(most // 2) :]}"


def in_json(text: str) -> str:
    """A JSON text with all that could harm a terminal written as escapes: its meaning stays."""
    return text.translate(_IN_JSON)


@dataclass(frozen=True, slots=True)
class Message:
    """One sentence (or a few) for a person; `template` is the key of the translation catalogue.

    ``{count} {count:file|files}`` has the word for its number: the first for 1, else the second.
    """

    template: str
    params: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def render(self, template: str) -> str:
        """Fill `template` (the English one or a translation of it) with this message's parameters."""
        most = sys.maxsize if self.is_verbatim else LONGEST_PARAMETER
        return template.format_map(
            {key: _Shown(_shown(key, value, most)) for key, value in self.params.items()}
        )

    def __reduce__(self) -> tuple[type[Message], tuple[str, dict[str, object]]]:
        """Messages travel between processes; the read-only view of their parameters cannot."""
        return Message, (self.template, dict(self.params))

    def __str__(self) -> str:
        return self.render(self.template)

    @property
    def is_verbatim(self) -> bool:
        """Nothing but somebody else's words: a model's, a person's."""
        return self.template == "{text}"


class _Shown(str):
    """A parameter's text; as ``{name:one|many}`` the first word where it is 1, else the second."""

    __slots__ = ()

    def __format__(self, words: str) -> str:
        one, _, many = words.partition("|")
        return (one if self == "1" else many) if words else str(self)


_PLACES = frozenset({"path", "file", "folder", "place", "circuit"})
"""Parameters that are paths, also where they are plain texts."""


def _shown(key: str, value: object, most: int) -> str:
    """A parameter as text; a path in one line: its name may hold line ends and control characters."""
    text = shortened(str(value), most)
    return one_line(text) if key in _PLACES or isinstance(value, PurePath) else text


def is_plain_spec(spec: str) -> bool:
    """Whether what stands behind the name in a template's braces is nothing, or one word for 1 "
    "and another."""
    return not spec or (spec.count("|") == 1 and "{" not in spec)


_DEEPEST = 12
"""Messages within messages that are read; most of ours have one or two, a list of a hundred has eight."""


def message_to_plain(message: Message) -> dict[str, Any]:
    """A message as plain JSON types; messages among its parameters stay messages."""
    return {
        "template": message.template,
        "params": {name: _param_to_plain(value) for name, value in message.params.items()},
    }


def _param_to_plain(value: object) -> object:
    if isinstance(value, Message):
        return message_to_plain(value)
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def message_from_plain(plain: object, depth: int = 0) -> Message | None:
    """What `message_to_plain` wrote; None for anything else."""
    if not isinstance(plain, Mapping) or depth > _DEEPEST:
        return None
    return stored_message(plain.get("template"), plain.get("params"), depth)


def stored_message(template: object, params: object, depth: int = 0) -> Message | None:
    """The message that was stored as `template` and `params`; None for what none of ours can be.

    What is read may have been written by a stranger: filling it must do nothing but put in parameters.
    """
    if not isinstance(template, str) or not isinstance(params, Mapping):
        return None
    try:
        fields = list(Formatter().parse(template))
    except ValueError:
        return None
    is_plain = all(
        name is None or (name in params and is_plain_spec(spec or "") and not conversion)
        for _, name, spec, conversion in fields
    )
    read = {
        str(name): message_from_plain(value, depth + 1) or "" if isinstance(value, Mapping) else value
        for name, value in params.items()
    }
    return Message(template, MappingProxyType(read)) if is_plain else None


def msg(template: str, /, **params: object) -> Message:
    """Make a message. `template` must be a string literal, so that the catalogue can be checked."""
    return Message(template, MappingProxyType(params))


def template(text: str, /) -> Callable[..., Message]:
    """A row of a table of messages: it takes from what it is given by name what it names itself."""
    names = dict.fromkeys(name for _, name, _, _ in Formatter().parse(text) if name)
    return lambda **given: Message(text, MappingProxyType({name: given[name] for name in names}))
