"""The parts of a library that is to be imported: what a trial in the simulator gave of each, and what is to
be said of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from domain.components.component import Component, fault_words
from domain.components.pin_uses import PinUses, pin_uses
from shared.message import Message, msg

if TYPE_CHECKING:
    from domain.components.library_text import LibraryText
    from domain.components.trials import TrialDeck
    from domain.simulation.batch import RunOutcome

PartState = Literal["ok", "warned", "failed", "untried"]
_HARMLESS = frozenset({"no-convergence", "singular-matrix", "time-limit"})
"""What a trial with every pin to ground may give of a sound model."""


_RATINGS = frozenset(
    ("vceo", "icrating", "vds", "ron", "qg", "vpk", "ipk", "iave", "irms", "diss", "type", "mfg")
)
"""Parameters that say what a part is rated for; that ngspice ignores them changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPart:
    """One component of the file."""

    component: Component
    uses: PinUses | None
    """Of a subcircuit's pins; None for a model, whose pins are the simulator's own."""
    state: PartState
    told: tuple[tuple[int | None, Message], ...] = ()
    """What is to be said, with the line of the file it is about."""
    held_by: tuple[str, ...] = ()
    """Files that have a component of this name already."""


class Trial(NamedTuple):
    """What was tried and what it gave, by the places of the components."""

    decks: Mapping[int, TrialDeck]
    outcomes: Mapping[int, RunOutcome]


def has_failed(outcome: RunOutcome) -> bool:
    """Whether ngspice does not take the component; an operating point that is not found is no fault of it."""
    errors = [issue for issue in outcome.issues if issue.severity == "error"]
    return outcome.state != "ok" and not (errors and all(issue.code in _HARMLESS for issue in errors))


def judged_parts(
    text: LibraryText, trial: Trial, held: Mapping[str, tuple[str, ...]], source: Path
) -> tuple[FoundPart, ...]:
    """Each component of the file with its state; `held`: files by the names they have, of which `source` is
    not meant."""
    lines = _Lines(text)
    first: dict[tuple[str, str, str], int] = {}
    parts = []
    for at, component in enumerate(text.components):
        key = (component.name.lower(), component.card, component.section)
        earlier = first.setdefault(key, component.line)
        state, told = _state_of(component, trial.outcomes.get(at), trial.decks.get(at), lines)
        if earlier != component.line:
            state = "warned" if state in ("ok", "untried") else state
            words = msg(
                "{name} is defined on line {line} already; ngspice uses that definition.",
                name=component.name,
                line=earlier,
            )
            told.append((component.line, words))
        others = tuple(path for path in held.get(component.name.casefold(), ()) if Path(path) != source)
        is_block = component.card == "subckt" and not component.fault
        parts.append(
            FoundPart(
                component=component,
                uses=pin_uses(component) if is_block else None,
                state=state,
                told=tuple({(line, str(words)): (line, words) for line, words in told}.values()),
                held_by=others,
            )
        )
    return tuple(parts)


def _state_of(
    component: Component, outcome: RunOutcome | None, deck: TrialDeck | None, lines: _Lines
) -> tuple[PartState, list[tuple[int | None, Message]]]:
    if (fault := fault_words(component)) is not None:
        return "failed", [(component.line, msg("{problem} {advice}", problem=fault[0], advice=fault[1]))]
    if outcome is None or deck is None:
        return "untried", []
    told = [
        (lines.original(deck.line_of(issue.line)), issue.message)
        for issue in outcome.issues
        if issue.code != "unknown-parameter"
        or str(issue.message.params.get("name", "")).lower() not in _RATINGS
    ]
    if not has_failed(outcome):
        return ("warned" if told else "ok"), told
    return "failed", told or [(component.line, msg("ngspice ended while it was reading this part."))]


class _Lines:
    """Lines of the file for those of its rewritten form."""

    def __init__(self, text: LibraryText) -> None:
        pairs = sorted(
            (theirs.line, theirs.last_line, ours.line, ours.last_line)
            for ours, theirs in zip(text.components, text.converted_components, strict=True)
        )
        self._pairs, self._starts = pairs, [pair[0] for pair in pairs]

    def original(self, line: int | None) -> int | None:
        """Right within a component, up to what was added there."""
        if line is None:
            return None
        at = bisect_right(self._starts, line) - 1
        if at < 0 or line > self._pairs[at][1]:
            return line
        theirs, _, ours, last = self._pairs[at]
        return min(ours + line - theirs, last)
