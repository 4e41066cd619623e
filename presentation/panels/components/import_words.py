"""What the pages of an import say of a library and its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from domain.circuit.dialects import PROGRAMS
from domain.components.pin_uses import Told
from presentation.ui.new_project import short_path
from shared.message import Message, msg
from shared.paths import MODEL_LIBRARY

if TYPE_CHECKING:
    from application.components.imported_parts import FoundPart, PartState
    from application.components.importing import FoundLibrary

STATES: dict[PartState, tuple[Message, str]] = {
    "ok": (msg("Loads"), "text.secondary"),
    "warned": (msg("Warning"), "warn.text"),
    "failed": (msg("Fails"), "error.text"),
    "untried": (msg("Not tried"), "text.tertiary"),
}
"""The word and the color of each state."""

TOLD: dict[Told, Message] = {
    "comments": msg("The library's comments say what the pins are for."),
    "names": msg("The names of the pins say what they are for."),
    "order": msg(
        "The library does not say what its pins are for. This is the usual order of such a part: compare it "
        "with the data sheet."
    ),
    "": msg(
        "The library does not say what its pins are for. Give each its use, or leave the names as they are."
    ),
}
"""How sure the uses of pins are."""

_MOST_NOTES, _MOST_FILES = 8, 3


def summary(found: FoundLibrary) -> Message:
    """How many parts there are, and how many of them ngspice takes."""
    states = Counter(part.state for part in found.parts)
    if found.untried is not None:
        return msg(
            "{count} {count:part|parts}, not tried in ngspice. {reason}",
            count=len(found.parts),
            reason=found.untried,
        )
    return msg(
        "{count} {count:part|parts}, tried in ngspice: {ok} {ok:loads|load}, {warned} with a warning, "
        "{failed} {failed:fails|fail}, {untried} not tried.",
        count=len(found.parts),
        ok=states["ok"],
        warned=states["warned"],
        failed=states["failed"],
        untried=states["untried"],
    )


def remarks(found: FoundLibrary) -> Iterator[tuple[Message, str]]:
    """What is to be known of the file as a whole, each with its role in the look."""
    text = found.text
    if text.dialect != "ngspice":
        program = PROGRAMS[text.dialect]
        yield msg("Written for {program}: {word} on line {line}.", program=program, word=text.evidence,
                  line=text.evidence_line), "secondary"  # fmt: skip
        if not found.is_foreign:
            yield msg("Nothing in it needs to be converted."), "secondary"
        elif found.can_convert:
            yield msg("It can be converted to ngspice's syntax."), "secondary"
        else:
            told = msg(
                "It stays in the syntax of {program}: parts of it work only in the mode in which each run "
                "here reads it.",
                program=program,
            )
            yield told, "secondary"
    for note in text.notes[:_MOST_NOTES]:
        yield msg("Line {line}: {text}", line=note.line, text=note.text), "warn"
    if (more := len(text.notes) - _MOST_NOTES) > 0:
        yield msg("{count} more {count:line is|lines are} not the same in ngspice.", count=more), "warn"
    if text.circuit_lines:
        told = msg(
            "{count} {count:line|lines} of a circuit, from line {line} on, {count:becomes a comment|become "
            "comments}.",
            count=len(text.circuit_lines),
            line=text.circuit_lines[0],
        )
        yield told, "secondary"
    if found.comes_along:
        names = ", ".join(each.name for each in found.comes_along[:_MOST_NOTES])
        yield msg("These files come along: {names}", names=names), "secondary"
    if found.elsewhere:
        names = ", ".join(found.elsewhere[:_MOST_NOTES])
        told = msg("Not beside it: {names}. A simulation looks in the library folders.", names=names)
        yield told, "warn"


def details(part: FoundPart) -> Iterator[Message]:
    """What is to be said of one part."""
    for line, text in part.told:
        yield text if line is None else msg("Line {line}: {text}", line=line, text=text)
    if part.held_by:
        names = ", ".join(_file(path) for path in part.held_by[:_MOST_FILES])
        yield msg("{name} is in {files}, too. A circuit uses the one it includes.", name=part.component.name,
                  files=names)  # fmt: skip


def _file(path: str) -> str:
    file = Path(path)
    return file.name if file.parent == MODEL_LIBRARY else short_path(file)
