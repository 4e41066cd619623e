"""The prompts in force: built-in texts with the user's own in their place; and placeholders, filled in.

A placeholder is ``{metrics}``, ``{design_goals.cutoff}``: only a name (with dots) in single braces, so JSON
and SPICE expressions (``{R1*2}``) may stand in a text as they are. ``{{name}}`` is the text ``{name}``.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import Literal

from domain.llm.prompts.catalogue import FORMAT_OF_TASK, FormatName, TaskName, Wording
from shared.message import Message, msg

Source = Literal["builtin", "custom", "fallback"]
"""Where a text is from; "fallback": the built-in file is damaged, a sentence in the code serves."""


Variants = Mapping[Wording, str]
"""The built-in text in other wordings; a text of the user's own serves for all models as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTemplate:
    """One task's text with its variables."""

    task: TaskName
    description: str
    """What it is for, in English."""
    content: str
    variables: tuple[str, ...]
    """All it may use; one without a value becomes empty."""
    required: frozenset[str] = frozenset()
    """Those that must have a value when it is used."""
    version: str
    """Of the built-in text."""
    source: Source
    default_content: str
    """The built-in text."""
    variants: Variants = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityVariable:
    """A variable of the identity."""

    name: str
    is_required: bool = False
    value: str | None = None
    """Of one the user defined: text, or a path to a value of the program such as
    ``{design_goals.0.target}``. None = the program has the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityPrompt:
    """Who the model is; the first part of every system message."""

    content: str
    variables: tuple[IdentityVariable, ...]
    version: str
    source: Source
    default_content: str
    default_variables: tuple[IdentityVariable, ...]
    variants: Variants = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """Free text of the user that goes into every request."""

    mine: str = ""
    """Holds for all projects."""
    projects: Mapping[str, str] = field(default_factory=dict)
    """About one project, by its real path. Kept with the user: a cloned project must not bring its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A text with its variables filled in."""

    text: str
    missing: tuple[str, ...] = ()
    """Required variables that had no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLibrary:
    """Everything a system message is made of, as it was on the disk a moment ago."""

    templates: Mapping[TaskName, PromptTemplate]
    formats: Mapping[FormatName, str]
    identity: IdentityPrompt
    preferences: Preferences = field(default_factory=Preferences)
    warnings: tuple[Message, ...] = ()
    """What could not be used and what serves in its place."""
    format_variants: Mapping[FormatName, Variants] = field(default_factory=dict)

    def worded(self, wording: Wording) -> PromptLibrary:
        """The same with its built-in texts worded for another kind of model."""
        if wording == "full":
            return self
        formats = {
            name: self.format_variants.get(name, {}).get(wording, text) for name, text in self.formats.items()
        }
        return replace(
            self,
            templates={
                task: replace(text, content=_content(text, wording)) for task, text in self.templates.items()
            },
            formats=formats,
            identity=replace(self.identity, content=_content(self.identity, wording)),
        )

    def render_task(
        self,
        task: TaskName,
        values: Mapping[str, object],
        *,
        show: Show | None = None,
        keeps_missing: bool = False,
    ) -> Filled:
        """A task's text, filled, with the output format that belongs to it.

        `keeps_missing`: a variable without a value stays as it is written, in its braces, and is told whether
        it is required or not.
        """
        template = self.templates[task]
        declared = () if keeps_missing else template.variables
        wanted = names_in(template.content) & set(template.variables) if keeps_missing else template.required
        content = _without_empty_lines(template.content, values, declared)
        text = fill(content, values, declared=declared, show=show)
        if task in FORMAT_OF_TASK:
            text = f"{text.rstrip()}\n\n{self.formats[FORMAT_OF_TASK[task]]}"
        return Filled(text=text, missing=_missing(wanted, values))

    def render_identity(
        self, values: Mapping[str, object], *, show: Show | None = None, keeps_missing: bool = False
    ) -> Filled:
        """The identity, filled; a user's own variable may take its value from one of the program's."""
        variables = self.identity.variables
        program = {each.name for each in variables if each.value is None}
        own = {
            each.name: fill(each.value, values, declared=program, show=show)
            for each in variables
            if each.value is not None
        }

        def show_once(name: str, text: str) -> str:
            return text if name in own or show is None else show(name, text)

        known = {**values, **own}
        names = {each.name for each in variables}
        declared = set[str]() if keeps_missing else names
        text = fill(self.identity.content, known, declared=declared, show=show_once)
        required = {each.name for each in variables if each.is_required}
        wanted = names_in(self.identity.content) & names if keeps_missing else required
        return Filled(text=text, missing=_missing(wanted, known))


def _content(text: PromptTemplate | IdentityPrompt, wording: Wording) -> str:
    return text.variants.get(wording, text.content) if text.source == "builtin" else text.content


def _missing(required: set[str] | frozenset[str], values: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(sorted(name for name in required if values.get(name) is None or values[name] == ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextProblem:
    """Something in a prompt that its author should look at."""

    message: Message
    start: int = 0
    end: int = 0
    """Where in the text; nowhere when equal."""
    is_error: bool = False
    """The text cannot be saved so."""
    suggestion: str = ""
    """The variable that was probably meant."""


MOST_CHARACTERS = 100_000
"""Of one text: more than any model's window leaves for it."""
_MOST_PROBLEMS = 100


def problems_of(text: str, *, variables: tuple[str, ...], required: frozenset[str]) -> list[TextProblem]:
    """What is wrong with a text, errors first in the order of their places."""
    if not text.strip():
        return [
            TextProblem(message=msg("The text is empty. Reset it to get the built-in one."), is_error=True)
        ]
    if len(text) > MOST_CHARACTERS:
        return [
            TextProblem(
                message=msg(
                    "The text has {count} characters; at most {most} are allowed.",
                    count=len(text),
                    most=MOST_CHARACTERS,
                ),
                is_error=True,
            )
        ]
    found = list(placeholders(text))
    strangers = [each for each in found if each.name not in variables][:_MOST_PROBLEMS]
    meant = {name: closest(name, variables) or "" for name in {each.name for each in strangers}}
    problems = [
        TextProblem(
            message=msg(
                'Line {line}: no variable "{name}".',
                line=text.count("\n", 0, each.start) + 1,
                name=each.name,
            ),
            start=each.start,
            end=each.end,
            suggestion=meant[each.name],
        )
        for each in strangers
    ]
    unused = sorted(required - {each.name for each in found})
    if unused:
        names = ", ".join(f"{{{name}}}" for name in unused)
        problems.append(TextProblem(message=msg("Required, but not used: {names}.", names=names)))
    return problems


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


def _without_empty_lines(text: str, values: Mapping[str, object], declared: Collection[str]) -> str:
    """`text` without the lines that end with a variable and whose variables all are empty now.

    ``Context: {context}`` says nothing where there is no context, and a model takes the gap for a fault.
    """

    def is_empty(line: str) -> bool:
        found = list(placeholders(line))
        return (
            bool(found)
            and found[-1].end == len(line.rstrip())
            and all(each.name in values or each.name in declared for each in found)
            and not any(as_text(_follow(values.get(each.name), each.path.split(".")[1:])) for each in found)
        )

    lines = text.split("\n")
    return "\n".join(line for line in lines if len(lines) == 1 or not is_empty(line))


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
