"""Clean up what simulations leave: stored results by rules, pins, and scratch folders of killed runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from application.project.undo_retention import TidyUndoData, UndoReport
from domain.simulation.retention import CutOff, RemovalReason, RetentionPolicy, StoredResult, to_be_removed
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg
from shared.paths import is_project
from shared.uninterrupted import off_loop


class ResultShelf(Protocol):
    """The stored results of one place. Blocking: called off the loop."""

    def results(self) -> tuple[StoredResult, ...]:
        """All there are, with what protects them, oldest first. Raises EnvironmentProblem."""

    def protection_of(self, result_id: str) -> StoredResult | None:
        """One result as it is now; None when it is gone."""

    def remove(self, result_id: str) -> None:
        """Remove one; cut short, it is gone for everyone and the rest is removed by `clear_trash`.

        Raises EnvironmentProblem.
        """

    def take_up(self) -> tuple[CutOff, ...]:
        """Make stopped studies of what killed processes had kept, and tell all they had under way.

        Raises EnvironmentProblem.
        """

    def clear_trash(self) -> int:
        """Remove what interrupted removals left; the bytes it took. Raises EnvironmentProblem."""

    def pin(self, result_id: str, *, is_pinned: bool) -> None:
        """Set or take away the mark that keeps a result. Raises EnvironmentProblem."""


class ScratchFolders(Protocol):
    """The folders runs write into, outside of results. Blocking."""

    def left(self) -> tuple[tuple[Path, int], ...]:
        """Those that nobody alive uses, with their bytes."""

    def remove(self, folder: Path) -> None:
        """Remove one of those. Raises EnvironmentProblem."""


class ResultShelves(Protocol):
    """Finds the shelf of a project."""

    def __call__(self, project: Path | None) -> ResultShelf:
        """That of a project, or of circuits outside of projects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanRequest:
    """What a caller asks for."""

    project: Path | None
    """None = the results of circuits that are in no project."""
    policy: RetentionPolicy | None = None
    """None = the quota of the settings."""
    dry_run: bool = False
    """Only tell what would be removed."""
    pin: tuple[str, ...] = ()
    """Results (their ids or beginnings of them, ``last``) that are to stay."""
    unpin: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """A result that was (or would be) removed."""

    result: StoredResult
    reason: RemovalReason


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanReport:
    """What a clean-up did."""

    removed: tuple[Removal, ...]
    kept: tuple[StoredResult, ...]
    scratch: tuple[tuple[Path, int], ...]
    """Scratch folders of killed runs that were removed, with their bytes."""
    trash_bytes: int
    """Left by an earlier clean-up that was cut short."""
    pinned: tuple[str, ...]
    unpinned: tuple[str, ...]
    problems: tuple[CircuitAIError, ...]
    """What could not be removed."""
    dry_run: bool
    undo: UndoReport = field(default_factory=UndoReport)
    """Undo data beyond its retention."""

    @property
    def freed_bytes(self) -> int:
        results = sum(removal.result.size for removal in self.removed)
        scratch = sum(size for _, size in self.scratch)
        return results + scratch + self.trash_bytes + self.undo.freed_bytes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CleanProject:
    """The use case."""

    shelves: ResultShelves
    scratch: ScratchFolders
    quota: Callable[[], RetentionPolicy]
    """Of the settings."""
    undo_data: TidyUndoData

    async def __call__(self, request: CleanRequest) -> CleanReport:
        """Pin, unpin, then remove by the rules. Never what is pinned, running, or named by a conversation.

        A call that only pins removes nothing. Raises UserInputError for a folder that is no project and
        for a result that is not there.
        """
        return await off_loop(self._clean, request)

    async def after_a_kill(self, project: Path) -> tuple[CutOff, ...]:
        """What was under way when processes in the project were killed: what of it is kept is a result now,
        what else they left is removed. Raises EnvironmentProblem."""
        return await off_loop(self._after_a_kill, project)

    def _after_a_kill(self, project: Path) -> tuple[CutOff, ...]:
        shelf = self.shelves(project)
        found = shelf.take_up()
        for each in found:
            now = None if each.is_kept else shelf.protection_of(each.result_id)
            if now is not None and not now.is_protected:
                shelf.remove(each.result_id)
        shelf.clear_trash()
        for folder, _ in self.scratch.left():
            self.scratch.remove(folder)
        return found

    def _clean(self, request: CleanRequest) -> CleanReport:
        if request.project is not None and not is_project(request.project):
            raise UserInputError(
                msg("{path} is not a project.", path=request.project),
                advice=msg("Specify a folder that contains a .circuit_ai folder."),
                file=request.project,
                error_type="not_a_project",
            )
        shelf = self.shelves(request.project)
        if not request.dry_run:
            shelf.take_up()
        results = shelf.results()
        pinned = [_named(text, results) for text in request.pin]
        unpinned = [_named(text, results) for text in request.unpin]
        if not request.dry_run:
            for result_id in pinned:
                shelf.pin(result_id, is_pinned=True)
            for result_id in unpinned:
                shelf.pin(result_id, is_pinned=False)
        results = tuple(
            replace(
                result,
                is_pinned=(result.is_pinned or result.result_id in pinned)
                and result.result_id not in unpinned,
            )
            for result in results
        )
        removed: list[Removal] = []
        scratch: list[tuple[Path, int]] = []
        problems: list[CircuitAIError] = []
        trash, undo = 0, UndoReport()
        if request.policy is not None or not (pinned or unpinned):
            chosen = to_be_removed(results, request.policy or self.quota(), datetime.now(UTC))
            removed = self._removed(shelf, chosen, problems, dry_run=request.dry_run)
            scratch = self._removed_scratch(problems, dry_run=request.dry_run)
            if not request.dry_run:
                trash = _kept_going(shelf.clear_trash, problems) or 0
            undo = self._tidied(request, problems)
        gone = {removal.result.result_id for removal in removed}
        return CleanReport(
            removed=tuple(removed),
            kept=tuple(result for result in results if result.result_id not in gone),
            scratch=tuple(scratch),
            trash_bytes=trash,
            pinned=tuple(pinned),
            unpinned=tuple(unpinned),
            problems=tuple(problems),
            dry_run=request.dry_run,
            undo=undo,
        )

    def _tidied(self, request: CleanRequest, problems: list[CircuitAIError]) -> UndoReport:
        if request.project is None:
            return UndoReport()
        try:
            return self.undo_data.tidy(request.project, dry_run=request.dry_run)
        except CircuitAIError as error:
            problems.append(error)
            return UndoReport()

    @staticmethod
    def _removed(
        shelf: ResultShelf,
        chosen: Sequence[tuple[StoredResult, RemovalReason]],
        problems: list[CircuitAIError],
        *,
        dry_run: bool,
    ) -> list[Removal]:
        found = []
        for result, reason in chosen:
            if not dry_run:
                now = shelf.protection_of(result.result_id)
                if now is None or now.is_protected:  # somebody began to use it meanwhile
                    continue
                try:
                    shelf.remove(result.result_id)
                except CircuitAIError as error:
                    problems.append(error)
                    continue
            found.append(Removal(result=result, reason=reason))
        return found

    def _removed_scratch(self, problems: list[CircuitAIError], *, dry_run: bool) -> list[tuple[Path, int]]:
        found = []
        for folder, size in self.scratch.left():
            if not dry_run:
                try:
                    self.scratch.remove(folder)
                except CircuitAIError as error:
                    problems.append(error)
                    continue
            found.append((folder, size))
        return found


def _kept_going(work: _Clearing, problems: list[CircuitAIError]) -> int | None:
    try:
        return work()
    except CircuitAIError as error:
        problems.append(error)
        return None


class _Clearing(Protocol):
    def __call__(self) -> int: ...


def _named(text: str, results: Sequence[StoredResult]) -> str:
    """The id of the one result that is meant. Raises UserInputError."""
    finished = [result.result_id for result in results if result.is_finished]
    if text == "last" and finished:
        return finished[-1]
    fitting = [result_id for result_id in finished if result_id.lower().startswith(text.lower())]
    if text in fitting:
        return text
    if len(fitting) == 1 and len(text) >= 6:
        return fitting[0]
    raise UserInputError(
        msg("There is no result {id}.", id=text)
        if len(fitting) != 1 and not fitting
        else msg("{id} matches more than one result.", id=text),
        advice=msg("Give the full name of its folder in sim_results, or “last”."),
        error_type="no_result",
    )
