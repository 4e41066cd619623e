"""Set-ups of studies that somebody gave a name: kept for each circuit beside the project's own files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from application.design.circuit_goals import place_in
from domain.studies.setup import SETUP_KINDS, SetupKind, StudySetup
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg
from shared.safe_json import read_bounded
from shared.setting import read_fields, to_plain
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.project import ProjectFiles, Projects

SCHEMA_VERSION = 1
MOST_SETUPS = 100
"""Of one circuit; a file that came with somebody's project may hold thousands."""
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSetup:
    """What was filled in for one kind of study, under a name."""

    name: str
    kind: SetupKind
    setup: StudySetup


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSetups:
    """The use case."""

    projects: Projects

    async def of(self, root: Path, circuit: Path) -> tuple[SavedSetup, ...]:
        """Those of a circuit by their names; none where they cannot be read. Never raises."""
        return await off_loop(self._of, root, circuit)

    async def save(self, root: Path, circuit: Path, saved: SavedSetup) -> None:
        """Keep one; that of the same name and kind is replaced.

        Raises UserInputError for a name that is none, a circuit outside the project and too many of them;
        EnvironmentProblem.
        """
        await off_loop(self._save, root, circuit, saved)

    async def remove(self, root: Path, circuit: Path, saved: SavedSetup) -> None:
        """Take one away; one that is not there is no error. Raises EnvironmentProblem."""
        await off_loop(self._remove, root, circuit, saved)

    def _of(self, root: Path, circuit: Path) -> tuple[SavedSetup, ...]:
        try:
            project = self.projects.open(root)
            try:
                return _read(project, place_in(root, circuit))
            finally:
                project.close()
        except CircuitAIError:  # no project yet, or a folder that is read-only
            return ()

    def _save(self, root: Path, circuit: Path, saved: SavedSetup) -> None:
        name, place = " ".join(saved.name.split()), place_in(root, circuit)
        if not name or len(name) > LONGEST_NAME:
            raise UserInputError(
                msg("A set-up needs a name of 1 to {count} characters.", count=LONGEST_NAME),
                error_type="bad_name",
            )
        if not place:
            raise UserInputError(
                msg("{path} is outside the project {project}.", path=circuit, project=root), file=circuit
            )
        project = self.projects.open(root, create=True)
        try:
            others = [each for each in _read(project, place) if not _is_same(each, name, saved.kind)]
            if len(others) >= MOST_SETUPS:
                raise UserInputError(
                    msg("{circuit} has {count} set-ups already.", circuit=circuit.name, count=MOST_SETUPS),
                    advice=msg("Delete those that are not needed any more."),
                )
            made = SavedSetup(name=name, kind=saved.kind, setup=saved.setup)
            _write(project, place, [*others, made])
        finally:
            project.close()

    def _remove(self, root: Path, circuit: Path, saved: SavedSetup) -> None:
        place = place_in(root, circuit)
        project = self.projects.open(root)
        try:
            found = _read(project, place)
            _write(project, place, [each for each in found if not _is_same(each, saved.name, saved.kind)])
        finally:
            project.close()


def setup_of(kind: str, document: Mapping[str, Any]) -> StudySetup | None:
    """What a stored study was filled in with; None for one that was asked for elsewhere."""
    found = document.get("setup")
    if kind not in SETUP_KINDS or not isinstance(found, Mapping):
        return None
    return read_fields(StudySetup, found, is_strict=False)


def follow_move(project: ProjectFiles, source: str, target: str) -> None:
    """A circuit, or a folder with circuits, has another place: its set-ups go along.

    Blocking. Raises EnvironmentProblem.
    """
    for content in project.setups.contents():
        circuit = _circuit_of(content)
        if circuit == source or circuit.startswith(f"{source}/"):
            found = _parsed(content)
            _write(project, target + circuit[len(source) :], found)
            project.setups.remove(circuit)


def _read(project: ProjectFiles, place: str) -> tuple[SavedSetup, ...]:
    content = project.setups.read(place) if place else None
    return () if content is None else _parsed(content)


def _document(content: bytes) -> Mapping[str, Any]:
    try:
        found = read_bounded(content)
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _circuit_of(content: bytes) -> str:
    return str(_document(content).get("circuit", ""))


def _parsed(content: bytes) -> tuple[SavedSetup, ...]:
    """What of it makes sense: the file may have come with somebody's project."""
    listed = _document(content).get("setups")
    found: dict[tuple[str, str], SavedSetup] = {}
    for item in listed[:MOST_SETUPS] if isinstance(listed, list) else ():
        if not isinstance(item, Mapping):
            continue
        name, kind = str(item.get("name", "")), next((k for k in SETUP_KINDS if k == item.get("kind")), None)
        if kind is not None and 0 < len(name) <= LONGEST_NAME:
            setup = read_fields(StudySetup, item.get("setup"), is_strict=False)
            found[name.casefold(), kind] = SavedSetup(name=name, kind=kind, setup=setup)
    return tuple(found[key] for key in sorted(found))


def _write(project: ProjectFiles, place: str, setups: Sequence[SavedSetup]) -> None:
    if not setups:
        project.setups.remove(place)
        return
    document = {"schema": SCHEMA_VERSION, "circuit": place, "setups": [to_plain(each) for each in setups]}
    text = json.dumps(document, ensure_ascii=False, indent=1)
    project.setups.save(place, f"{text}\n".encode("utf-8", errors="replace"))


def _is_same(each: SavedSetup, name: str, kind: SetupKind) -> bool:
    return each.kind == kind and each.name.casefold() == name.casefold()
