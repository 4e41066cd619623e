"""The data that goes with the user's newest message: how much of each part there is room for, and its text.

Parts are given by collectors (`application/conversation/collectors.py`). Each has a share of the budget; what
a part does not need goes to the others, the weightiest first. What is left out is said where it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from domain.llm.attachments import name_in_fence
from domain.llm.system_prompt import fence_data
from domain.llm.tokens import count_tokens
from shared.message import msg
from shared.setting import setting

PartName = Literal[
    "project",
    "changes",
    "diagnostics",
    "goals",
    "editor",
    "selection",
    "verdicts",
    "figures",
    "references",
    "circuit",
    "files",
    "dependencies",
    "passages",
]

_FLOORS: Mapping[PartName, int] = {
    "project": 200,
    "changes": 200,
    "diagnostics": 150,
    "goals": 150,
    "editor": 60,
    "selection": 100,
    "verdicts": 120,
    "figures": 120,
    "references": 150,
    "circuit": 250,
    "files": 60,
    "dependencies": 0,
    "passages": 0,
}
"""The fewest tokens of each, whatever the budget; the weightiest part first."""
LARGEST = 6000
"""Tokens of a block, however large the model's window is, unless it is set."""
_MOST_OF_PART = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextShares:
    """How the data that go with a message are divided; what a part leaves goes to the others."""

    # fmt: off
    most: int = setting(LARGEST, msg("Data of a message"), bounds=(1000, 60_000), unit="tokens",
        help=msg("The most that goes with one message, however large the model's window is."))
    window_percent: float = setting(12.5, msg("Share of the window"), bounds=(2, 50), unit="%",
        help=msg("Of a smaller window, as much goes with a message."))
    history_percent: float = setting(60.0, msg("Earlier turns"), bounds=(10, 90), unit="%",
        help=msg("Of a request's room; what is left out of them is kept in your own words."))
    diagnostics: int = setting(500, msg("Diagnostics"), bounds=(150, _MOST_OF_PART), unit="tokens",
        help=msg("Errors and warnings of the main circuit, at the largest size."))
    goals: int = setting(300, msg("Goals"), bounds=(150, _MOST_OF_PART), unit="tokens",
        help=msg("What is asked of the circuits, at the largest size."))
    figures: int = setting(500, msg("Figures"), bounds=(120, _MOST_OF_PART), unit="tokens",
        help=msg("Of the newest run, with the operating point, at the largest size."))
    circuit: int = setting(1300, msg("Main circuit"), bounds=(250, _MOST_OF_PART), unit="tokens",
        help=msg("Its text or outline, at the largest size."))
    dependencies: int = setting(600, msg("Included files"), bounds=(0, _MOST_OF_PART), unit="tokens",
        help=msg("What the main circuit includes, at the largest size."))
    passages: int = setting(600, msg("Documents and other files"), bounds=(0, _MOST_OF_PART), unit="tokens",
        help=msg("Passages that fit the question, at the largest size."))
    references: int = setting(900, msg("Named with @"), bounds=(150, _MOST_OF_PART), unit="tokens",
        help=msg("Files, nodes, goals and results named in the message, at the largest size."))
    # fmt: on

    def of(self, name: PartName) -> int:
        """Tokens of a part at the largest size."""
        shares: Mapping[PartName, int] = {
            "project": 200,
            "changes": 300,
            "diagnostics": self.diagnostics,
            "goals": self.goals,
            "editor": 60,
            "selection": 300,
            "verdicts": 200,
            "figures": self.figures,
            "references": self.references,
            "circuit": self.circuit,
            "files": 340,
            "dependencies": self.dependencies,
            "passages": self.passages,
        }
        return shares[name]


USUAL = ContextShares()

FACTS = "project"
"""Names the block of what the program itself tells."""
MAIN_CIRCUIT = "The circuit that is meant when none is named: "
"""Begins the line that names it; the built-in model looks for it."""

_SMALLEST = 1000
_SMALL = 2000
"""Tokens of a budget below which the window is a small one (16,000)."""
_NAMES_OF_INCLUDED = 35
_LISTED: frozenset[PartName] = frozenset({"files", "dependencies"})
"""Parts whose rest a tool shows at once."""
_ASKED: frozenset[PartName] = frozenset({"selection", "references", "passages"})
"""Parts that a message itself brings."""
_FENCE_TOKENS = 14
"""Of a data block's two lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPart:
    """What one collector found."""

    name: PartName
    forms: tuple[tuple[str, ...], ...]
    """Its items, each one or several lines: as many forms as there are, the fullest first. The first that
    there is room for is taken, else the beginning of the last."""
    rest: str = ""
    """How the model gets what is left out, for example "read_file shows it"."""
    source: str = ""
    """The file whose text it is, which then stands in a data block of its own; "" = words of the program,
    or items that are blocks already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock:
    """The data of one message."""

    text: str
    """Data blocks; "" when there is nothing to tell."""
    cut: tuple[PartName, ...] = ()
    """Parts of which something is left out."""
    tokens_of: tuple[tuple[PartName, int], ...] = ()
    shown: Mapping[str, bytes] = field(default_factory=dict)
    """Files whose whole text is in it, by their place in the project."""

    def shows_whole(self, name: PartName) -> bool:
        """Whether a part is there and nothing of it is left out."""
        return name not in self.cut and any(name == told for told, _ in self.tokens_of)


def context_budget(window: int, shares: ContextShares = USUAL) -> int:
    """Tokens of a block for a model with a window of so many."""
    return min(max(int(window * shares.window_percent / 100), _SMALLEST), shares.most)


def assemble(parts: Sequence[ContextPart], budget: int, shares: ContextShares = USUAL) -> ContextBlock:
    """The parts within `budget` tokens, in the order of their weight.

    Of floors alone a block may be larger than a budget below `context_budget`'s least.
    """
    order = [*_FLOORS]
    parts = sorted((part for part in parts if any(part.forms)), key=lambda part: order.index(part.name))
    sizes = [[_size(form) for form in part.forms] for part in parts]
    needs = [sizes_of_part[0] for sizes_of_part in sizes]
    room = [min(need, _share(part.name, budget, shares)) for part, need in zip(parts, needs, strict=True)]
    left = max(budget - sum(room), 0)
    # In a small window what a message asks for comes first, and what a tool lists stays short.
    is_small = budget < _SMALL
    for at, need in sorted(enumerate(needs), key=lambda each: is_small and parts[each[0]].name not in _ASKED):
        more = 0 if is_small and parts[at].name in _LISTED else min(need - room[at], left)
        room[at] += more
        left -= more
    facts: list[str] = []
    blocks: list[str] = []
    cut: list[PartName] = []
    tokens_of: list[tuple[PartName, int]] = []
    for part, part_sizes, most in zip(parts, sizes, room, strict=True):
        form = next((at for at, size in enumerate(part_sizes) if size <= most), len(part.forms) - 1)
        items, is_cut = _cut(part.forms[form], most, part.rest)
        if is_cut:
            cut.append(part.name)
        text = "\n".join(items)
        if part.source:
            text = fence_data(name_in_fence(part.source), text)
        if text:
            (blocks if part.source or part.name in _OWN_BLOCKS else facts).append(text)
            tokens_of.append((part.name, count_tokens(text)))
    if facts:
        blocks.insert(0, fence_data(FACTS, "\n".join(facts)))
    return ContextBlock(text="\n".join(blocks), cut=tuple(cut), tokens_of=tuple(tokens_of))


_OWN_BLOCKS: frozenset[PartName] = frozenset({"references", "dependencies", "passages"})
"""Parts of several files: each item is a data block."""


def _share(name: PartName, budget: int, shares: ContextShares) -> int:
    if name == "dependencies" and budget < _SMALL:
        return _NAMES_OF_INCLUDED
    return max(shares.of(name) * budget // shares.most, _FLOORS[name])


def _size(items: Sequence[str]) -> int:
    return sum(count_tokens(item + "\n") for item in items)


def _cut(items: Sequence[str], most: int, rest: str) -> tuple[list[str], bool]:
    """The first items that there is room for, with a word on the others."""
    if _size(items) <= most:
        return [*items], False
    how = f": {rest}" if rest else ""
    most -= count_tokens(f"[{len(items)} more left out{how}]\n")
    kept: list[str] = []
    for item in items:
        most -= count_tokens(item + "\n")
        if most < 0:
            break
        kept.append(item)
    return [*kept, f"[{len(items) - len(kept)} more left out{how}]"], True
