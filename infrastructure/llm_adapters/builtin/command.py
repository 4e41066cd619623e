"""The commands a sentence may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from infrastructure.llm_adapters.builtin.reading import Ask

Language = Literal["en", "zh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallTalk:
    """A greeting, thanks, or the question what it can do, or design."""

    kind: Literal["greeting", "thanks", "help", "families"]
    language: Language = "en"
    """Of the examples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFiles:
    """The files of the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """A file, or some lines of it."""

    file: str
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A text in all files."""

    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """Where a symbol is used."""

    symbol: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyze:
    """What a circuit is made of, or the outline of a file."""

    file: str
    """"" = the circuit that is meant."""
    as_outline: bool = False
    is_check: bool = False
    """Only what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Files away."""

    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """New values of elements or parameters."""

    file: str
    """"" when the sentence names none."""
    values: tuple[tuple[str, str], ...]
    """(name, value as SPICE reads it)."""
    simulates: bool
    expressions: tuple[str, ...] = ()
    ask: Ask | None = None
    """The figures that are looked at before and after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulate:
    """A run, and figures of it."""

    file: str
    analysis_type: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    """Values for this run only."""
    expressions: tuple[str, ...] = ()
    stop: str = ""
    """Until when its transient analysis runs this time."""
    band: tuple[float, float, int] | None = None
    """From where to where its AC analysis runs this time, and the points a decade."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Figures of the newest result."""

    file: str
    expressions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Several:
    """A sentence of several clauses, each a command."""

    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Anything else: perhaps a circuit to be designed."""

    text: str
    is_meant: bool
    """It says so ("design", "设计")."""
    is_question: bool = False
    """It asks something: nothing is to be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """A request that is not carried out: of a part of it nobody knows what it is to mean."""

    parts: tuple[str, ...]
    """As the sentence has them; () where it says nothing that could be done."""
    why: Literal["unused", "unmeasured", "vague"] = "unused"


Command = (
    SmallTalk
    | ListFiles
    | Show
    | Search
    | References
    | Analyze
    | Delete
    | Change
    | Simulate
    | Measure
    | Ask
    | Several
    | Design
    | Unclear
)
