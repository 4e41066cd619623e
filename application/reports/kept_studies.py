"""The studies that are kept of a circuit, and which of them a report tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shared.errors import UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.project.browsing import ResultCatalogue, ResultSummary
    from application.studies.reading import ReadStudy, StoredStudy

NO_STUDIES = "none"
"""The word for a report without any."""
MOST_STUDIES = 12
"""In one report."""
_MOST_LOOKED_AT = 2_000
_MOST_NAMED = 20
_NUMBER = re.compile(r"(?:run|仿真)?[ _#-]*(\d{1,9})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportStudy:
    """A study as a report tells it."""

    number: int
    """Of its run, as the list of results counts."""
    study: StoredStudy


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KeptStudies:
    """The use case."""

    catalogue: ResultCatalogue
    read: ReadStudy

    async def of(self, root: Path, circuit: Path) -> tuple[ResultSummary, ...]:
        """Those of a circuit, the newest first."""
        found = await off_loop(lambda: self.catalogue.newest(root, _MOST_LOOKED_AT, with_studies=True))
        return tuple(each for each in found if each.study and each.circuit == circuit)

    async def chosen(self, root: Path, circuit: Path, words: Sequence[str] | None) -> tuple[ReportStudy, ...]:
        """The studies a report tells: those named by kind (its newest) or by the number of their run; with
        None the newest of each kind that was run here.

        Raises UserInputError for one that is not there, or cannot be read.
        """
        kept = await self.of(root, circuit)
        wanted = newest_of_each(kept) if words is None else _named(kept, words, circuit)
        return tuple([ReportStudy(number=each.number, study=await self.read(each.path)) for each in wanted])


def newest_of_each(kept: Iterable[ResultSummary]) -> list[ResultSummary]:
    """Of each kind the newest that was run here, in the order of their pages."""
    from domain.studies.setup import SETUP_KINDS

    newest: dict[str, ResultSummary] = {}
    for each in kept:
        if each.is_ours:
            newest.setdefault(each.study, each)
    return [newest[kind] for kind in SETUP_KINDS if kind in newest]


def _named(kept: Sequence[ResultSummary], words: Sequence[str], circuit: Path) -> list[ResultSummary]:
    asked = [word.strip() for word in words if word.strip()]
    if [word.lower() for word in asked] == [NO_STUDIES]:
        return []
    found = list({each.number: each for each in (_one(kept, word, circuit) for word in asked)}.values())
    if len(found) > MOST_STUDIES:
        raise UserInputError(
            msg(
                "A report has at most {most} studies; {count} were named.",
                most=MOST_STUDIES,
                count=len(found),
            ),
            advice=msg("Name fewer of them."),
            error_type="bad_arguments",
        )
    return found


def _one(kept: Sequence[ResultSummary], word: str, circuit: Path) -> ResultSummary:
    kind = word.lower().replace("_", "-").replace(" ", "-").replace("monte-carlo", "montecarlo")
    kind = {"optimization": "optimize", "optimisation": "optimize", "corner": "corners"}.get(kind, kind)
    named = _NUMBER.fullmatch(word)
    number = int(named[1]) if named else None
    for each in kept:
        if each.number == number or each.study == kind:
            return each
    names = ", ".join(f"{each.number} ({each.study})" for each in kept[:_MOST_NAMED])
    raise UserInputError(
        msg("{name} has no study {study}.", name=circuit.name, study=word),
        advice=msg("Its studies, by run: {names}.", names=names)
        if names
        else msg("It has none yet: run one first, or leave studies out."),
        error_type="no_result",
    )
