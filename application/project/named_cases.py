"""The cases of a circuit: kept with its goals under a name and deleted, as operations that can be undone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from application.design.circuit_goals import cases_file, place_in
from application.goal_checks.case_runs import cases_of
from application.ports.project import ABSENT
from domain.studies.named_case import (
    LONGEST_NAME,
    MOST_CASES,
    NamedCase,
    case_of_run,
    case_to_plain,
)
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.project import Projects
    from application.project.undoing import ProjectOperations
    from application.studies.reading import StoredRow, StoredStudy
    from application.studies.written_values import WriteValues

KEEP_TOOL, DELETE_TOOL = "keep_case", "delete_case"
"""How the log names what was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCase:
    """A run of a study that is to be kept."""

    study: StoredStudy
    row: StoredRow
    nominals: Mapping[str, float]
    """The values the circuit had then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCases:
    """The use case."""

    projects: Projects
    operations: ProjectOperations
    write_values: WriteValues

    async def of(self, root: Path, circuit: Path) -> tuple[NamedCase, ...]:
        """Those of a circuit in their order; none where they cannot be read. Never raises."""
        return await off_loop(self._of, root, circuit)

    async def keep(
        self,
        root: Path,
        circuit: Path,
        name: str,
        found: FoundCase,
    ) -> NamedCase:
        """Keep what a run of a study had as a case; that of the same name is replaced.

        Raises UserInputError for a name that is none, a run that
        is as the circuit is written, a circuit outside the project and too many cases; CircuitError,
        EnvironmentProblem.
        """
        plain = " ".join(name.split())
        if not plain or len(plain) > LONGEST_NAME:
            raise UserInputError(
                msg("A case needs a name of 1 to {count} characters.", count=LONGEST_NAME),
                error_type="bad_name",
            )
        row = found.row
        section = await self.write_values.section_of(circuit, row.corner) if row.corner else ""
        case = case_of_run(
            plain,
            row.parameters,
            section=section,
            nominals=found.nominals,
            scattering=found.study.scattering or (),
        )
        if not case.settings and not case.section:
            raise UserInputError(
                msg("This run has the same values as the circuit; there is nothing to keep."),
                advice=msg("Choose a run in which something is different."),
            )

        def with_it(present: Sequence[NamedCase]) -> list[NamedCase]:
            others = [each for each in present if each.name.casefold() != plain.casefold()]
            if len(others) >= MOST_CASES:
                raise UserInputError(
                    msg("{circuit} has {count} cases already.", circuit=circuit.name, count=MOST_CASES),
                    advice=msg("Delete those that are not needed any more."),
                )
            return [*others, case]

        path, before, content = await off_loop(self._changed, root, circuit, with_it)
        await self._write(root, path, before, content, KEEP_TOOL)
        return case

    async def delete(self, root: Path, circuit: Path, name: str) -> None:
        """Take one away. Raises UserInputError when there is none of this name; CircuitError,
        EnvironmentProblem."""

        def without(present: Sequence[NamedCase]) -> list[NamedCase]:
            others = [each for each in present if each.name.casefold() != name.casefold()]
            if len(others) == len(present):
                names = ", ".join(each.name for each in present) or "–"
                raise UserInputError(
                    msg("{circuit} has no case {name}.", circuit=circuit.name, name=name),
                    advice=msg("Its cases: {names}.", names=names),
                )
            return others

        path, before, content = await off_loop(self._changed, root, circuit, without)
        await self._write(root, path, before, content, DELETE_TOOL)

    async def _write(self, root: Path, path: Path, before: str, content: bytes, tool: str) -> None:
        await self.operations.rewrite(root, {path: content}, expected={path: before}, tool=tool)

    def _of(self, root: Path, circuit: Path) -> tuple[NamedCase, ...]:
        try:
            project = self.projects.open(root)
        except CircuitAIError:  # a folder that is no project yet: nothing is kept there
            return ()
        try:
            return cases_of(project, circuit)
        finally:
            project.close()

    def _changed(self, root: Path, circuit: Path, change: _Change) -> tuple[Path, str, bytes]:
        """The file of goals, the SHA-256 it has, what it is to hold."""
        project = self.projects.open(root, create=True)
        try:
            cases = change(cases_of(project, circuit))
            before, content = cases_file(project, circuit, [case_to_plain(each) for each in cases])
            path = project.goals.path_of(place_in(project.root, circuit))
        finally:
            project.close()
        return path, ABSENT if before is None else hashlib.sha256(before).hexdigest(), content


if TYPE_CHECKING:
    from collections.abc import Callable

    _Change = Callable[[Sequence[NamedCase]], list[NamedCase]]
