"""A circuit with all its files as plain data, to be laid out on another machine.

Sent are contents and the places of the files to each other, below the folder they have in common. Absolute
paths in the decks are replaced by marks, which become paths of the machine that receives them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from domain.simulation.batch import BatchCircuit, RunOutcome
from domain.simulation.result import SimulationIssue
from infrastructure.persistence.confined import read_regular_file
from shared.errors import UserInputError
from shared.message import Message, msg

_MARK = b"/circuit-ai-parcel/"
_MOST_BYTES = 512 * 2**20
_FILES = "files"
_Mapped = Callable[[Path], Path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """One circuit, self-contained."""

    circuit: BatchCircuit
    """Without any path of the sender: its `deck_path` is relative, its files are in `files`."""
    files: Mapping[str, bytes]
    """Contents by relative place."""
    included: tuple[str, ...]
    data: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A parcel, and what stays at the sender's to understand answers."""

    parcel: Parcel
    places: Mapping[str, Path]
    """The sender's paths by relative place."""


def pack(circuit: BatchCircuit) -> Packed:
    """Read everything a circuit needs. Blocking. Raises UserInputError for files that cannot be read."""
    deck_path = Path(os.path.abspath(circuit.deck_path))  # noqa: PTH100 - links stay as written
    names = dict.fromkeys((*circuit.included_files, *circuit.data_files))
    root = Path(os.path.commonpath([deck_path.parent, *(path.parent for path in names)]))
    places = {path: PurePosixPath(path.relative_to(root)).as_posix() for path in (deck_path, *names)}
    contents: dict[str, bytes] = {}
    total = 0
    for path in names:
        try:
            data = read_regular_file(Path(os.path.realpath(path)))
        except OSError as error:
            raise UserInputError(
                msg("{path} cannot be read ({reason}).", path=path, reason=error.strerror), file=path
            ) from error
        total += len(data)
        contents[places[path]] = data
    if total > _MOST_BYTES:
        raise UserInputError(
            msg("The circuit's files are too large to send to a cluster ({size} bytes).", size=total),
            file=deck_path,
        )
    marks = _marks(places)
    included = tuple(places[path] for path in circuit.included_files)
    files = {place: _replaced(data, marks) if place in included else data for place, data in contents.items()}
    parcel = Parcel(
        circuit=replace(
            circuit,
            deck=_replaced(circuit.deck, marks),
            deck_path=Path(places[deck_path]),
            companions={name: _replaced(data, marks) for name, data in circuit.companions.items()},
            included_files=(),
            data_files=(),
            readable_dirs=(),
            hidden_dirs=(),
        ),
        files=files,
        included=included,
        data=tuple(places[path] for path in circuit.data_files),
    )
    return Packed(parcel=parcel, places={place: path for path, place in places.items()})


def unpack(parcel: Parcel, folder: Path) -> BatchCircuit:
    """Lay a parcel out in an empty folder whose path SPICE can name; the circuit there. Blocking."""
    root = folder / _FILES
    for place, data in parcel.files.items():
        path = root / _safe(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_arrived(data, root) if place in parcel.included else data)
    deck_path = root / _safe(str(parcel.circuit.deck_path))
    deck_path.parent.mkdir(parents=True, exist_ok=True)
    return replace(
        parcel.circuit,
        deck=_arrived(parcel.circuit.deck, root),
        deck_path=deck_path,
        companions={name: _arrived(data, root) for name, data in parcel.circuit.companions.items()},
        included_files=tuple(root / place for place in parcel.included),
        data_files=tuple(root / place for place in parcel.data),
        readable_dirs=(root,),
    )


def without_folder(outcome: RunOutcome, folder: Path) -> RunOutcome:
    """An outcome whose paths are relative places again."""
    root = folder / _FILES
    return _with_paths(outcome, lambda path: path.relative_to(root) if path.is_relative_to(root) else path)


def at_home(outcome: RunOutcome, places: Mapping[str, Path]) -> RunOutcome:
    """An outcome that came back, with the sender's own paths."""
    return _with_paths(outcome, lambda path: places.get(path.as_posix(), path))


def _with_paths(outcome: RunOutcome, mapped: _Mapped) -> RunOutcome:
    if not outcome.issues:
        return outcome
    return replace(outcome, issues=tuple(_issue(issue, mapped) for issue in outcome.issues))


def _issue(issue: SimulationIssue, mapped: _Mapped) -> SimulationIssue:
    return replace(
        issue,
        file=None if issue.file is None else mapped(issue.file),
        message=_message(issue.message, mapped),
        advice=None if issue.advice is None else _message(issue.advice, mapped),
    )


def _message(message: Message, mapped: _Mapped) -> Message:
    params = {
        key: mapped(value) if isinstance(value, Path) else value for key, value in message.params.items()
    }
    return Message(message.template, params)


def _marks(places: Mapping[Path, str]) -> list[tuple[bytes, bytes]]:
    """What is replaced by what, the longest first: a path may begin another."""
    found = {
        encoded: _MARK + place.encode()
        for path, place in places.items()
        for encoded in (str(path).encode("utf-8", "surrogateescape"), *_latin(str(path)))
    }
    return sorted(found.items(), key=lambda item: -len(item[0]))


def _latin(text: str) -> list[bytes]:
    try:
        return [text.encode("latin-1")]
    except UnicodeEncodeError:
        return []


def _replaced(data: bytes, marks: list[tuple[bytes, bytes]]) -> bytes:
    for path, mark in marks:
        data = data.replace(path, mark)
    return data


def _arrived(data: bytes, root: Path) -> bytes:
    return data.replace(_MARK, f"{root}/".encode())


def _safe(place: str) -> str:
    """A relative place that stays inside. Raises ValueError."""
    path = PurePosixPath(place)
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(place)
    return place
