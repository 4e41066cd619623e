"""A design report made: gathered, put into words and pages, and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, get_args

from application.ports.reports import (
    MadeReport,
    ReportContent,
    ReportFormat,
    ReportRequest,
    StudyInReport,
)
from shared.errors import UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.reports.circuit_report import CircuitReport, ReportCircuit

FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)


class ReportPages(Protocol):
    """Puts a report into the words of one language, and into pages."""

    @property
    def words(self) -> Mapping[str, str]:
        """Those in pictures."""

    async def files(self, report: CircuitReport, form: ReportFormat, stem: str) -> Mapping[str, bytes]:
        """The document, called `stem` with its ending, and pictures that go beside it.

        Raises EnvironmentProblem when nothing here prints pages.
        """


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MakeReport:
    """The use case."""

    gather: Callable[[], ReportCircuit]
    pages: Callable[[], ReportPages]
    """In the language of the program."""
    write_file: Callable[[Path, bytes], None]

    async def __call__(
        self, request: ReportRequest, target: Path, pages: ReportPages, *, overwrite: bool = False
    ) -> tuple[Path, ...]:
        """Write it to `target`, in the form its name asks for; returns the files that were written.

        Raises UserInputError (no such circuit, several of them, no such study, a file is there, no such
        form), EnvironmentProblem (ngspice or what prints pages is missing, the disk).
        """
        form = format_of(target)
        if not overwrite:
            await off_loop(_refuse, target)
        made = await self.made(request, form, target.stem, pages)
        paths = [target.with_name(name) for name in made.files]

        def write() -> None:
            for path in paths[1:] if not overwrite else ():
                _refuse(path)
            for path in (*paths[1:], target):  # the document last: what it names is there then
                self.write_file(path, made.files[path.name])

        await off_loop(write)
        return tuple(paths)

    async def made(
        self, request: ReportRequest, form: ReportFormat, stem: str, pages: ReportPages | None = None
    ) -> MadeReport:
        """The report without writing it; errors as above."""
        words = self.pages() if pages is None else pages
        report = await self.gather()(
            request.project,
            request.circuit,
            words=words.words,
            studies=request.studies,
            places=request.places,
        )
        return MadeReport(files=await words.files(report, form, stem), content=_content_of(report))


def _content_of(report: CircuitReport) -> ReportContent:
    judged = [each for each in report.goals if each.is_judged]
    return ReportContent(
        circuit=report.circuit,
        is_simulated=report.result.ok,
        goals=len(report.goals),
        goals_judged=len(judged),
        goals_met=sum(each.verdict.met for each in judged),
        elements=report.schematic.elements,
        no_schematic=report.schematic.reason,
        analyses=tuple(picture.analysis for picture in report.pictures),
        has_operating_point=report.result.operating_point is not None,
        studies=tuple(
            StudyInReport(
                run=each.number,
                kind=each.study.kind,
                runs=len(each.study.rows),
                is_of_this_file=each.study.netlist_sha256 == report.result.netlist_sha256,
            )
            for each in report.studies
        ),
        rounds=0 if report.rounds is None else len(report.rounds.rounds),
    )


def format_of(target: Path) -> ReportFormat:
    """What the name of a file asks for. Raises UserInputError."""
    ending = target.suffix.lower().removeprefix(".")
    found = next((each for each in FORMATS if each == ending), None)
    if found is None:
        raise UserInputError(
            msg("A report is a .pdf, .html or .md file, not {name}.", name=target.name),
            advice=msg("Give the file one of these endings."),
            file=target,
            error_type="bad_usage",
        )
    return found


def _refuse(target: Path) -> None:
    if target.exists():
        raise UserInputError(
            msg("{path} exists already.", path=target),
            advice=msg("Choose another name."),
            file=target,
            error_type="target_exists",
        )
