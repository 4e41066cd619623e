"""Results of simulations: a folder each, with ``result.json`` beside the raw files and the log.

Results of a project are in its `.circuit_ai/sim_results/`; those of a lone circuit are in the user's
own folder: a `.circuit_ai/` made around a stranger's file would open the whole folder to his decks.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from domain.simulation.operating_point import operating_point_to_plain
from domain.simulation.reach import reach_to_plain
from domain.simulation.result import Quantity, SimulationIssue, SimulationResult
from domain.simulation.retention import Origin, ResultSettings, RetentionPolicy
from domain.simulation.verdict import verdict_of
from domain.simulation.wiring import Wiring, wiring_to_plain
from infrastructure.persistence import confined
from infrastructure.persistence.confined import (
    InTheWay,
    NotRegular,
    TooLarge,
    read_regular_file,
    write_atomically,
    write_problem,
)
from infrastructure.persistence.cut_off_results import forget_so_far, keep_so_far
from infrastructure.persistence.project import ProjectFolder
from infrastructure.persistence.result_circuit import place_of
from infrastructure.persistence.result_retention import ResultFolderShelf, mark_done, mark_running
from infrastructure.persistence.stored_results import (
    HASHES,
    WIRING_HASH,
    ResultSeals,
    as_text,
    former_searches,
    reusable_result,
)
from shared import paths
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, message_to_plain, msg
from shared.safe_json import read_bounded
from shared.ulid import new_ulid

SCHEMA_VERSION = 1
LARGEST_CIRCUIT = 4 * 2**20
"""Of a larger circuit no copy is kept with each result."""
_MAX_RESULT_BYTES = 64 * 2**20


class ResultFolders:
    """Keeps results, a folder each. Implements application.ports.simulation.ResultStore."""

    def __init__(
        self,
        *,
        user_home: Path,
        quota: Callable[[], RetentionPolicy] | None = None,
        seals: ResultSeals | None = None,
    ) -> None:
        self._user_home = user_home
        self._seals = seals or ResultSeals()
        self._quota = quota or (lambda: ResultSettings().policy)

    def new_result(self, circuit: Path, ulid: str | None = None, *, kind: str = "") -> tuple[str, Path]:
        """A result id, sorting by time, and its existing empty folder (a real path).

        The id is made from `ulid` (None = a fresh one); what an interrupted run of the same id left
        there is removed. Raises EnvironmentProblem when the folder cannot be made.
        """
        parent = self._folder_of(circuit)
        result_id = paths.result_name(ulid or new_ulid())
        folder = parent / result_id
        try:
            with contextlib.suppress(FileNotFoundError):
                confined.remove_tree(folder)
            confined.make_folder(folder, is_new=True)
            mark_running(folder, circuit, kind)
        except OSError as error:
            raise write_problem(error, folder) from error
        return result_id, folder

    def _folder_of(self, circuit: Path) -> Path:
        project = paths.project_root_of(circuit)
        if project is None:
            return Path(os.path.realpath(self._user_home)) / paths.RESULTS_FOLDER
        return ProjectFolder(project).results_folder

    def discard(self, folder: Path) -> None:
        if not confined.is_file(folder / paths.RESULT_FILE):
            with contextlib.suppress(OSError):
                confined.remove_tree(folder)

    def forget(self, project: Path, ulid: str) -> None:
        folder = ProjectFolder(project).results_folder / paths.result_name(ulid)
        try:
            confined.remove_tree(folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise write_problem(error, folder) from error

    def keep_wiring(self, folder: Path, wiring: Wiring) -> None:
        """Write ``wiring.json``. Raises EnvironmentProblem."""
        write_atomically(folder / paths.WIRING_FILE, json.dumps(wiring_to_plain(wiring)).encode())

    def keep_circuit(self, folder: Path, text: bytes) -> None:
        """Write ``circuit.txt``; a very large one is left out. Raises EnvironmentProblem."""
        if len(text) <= LARGEST_CIRCUIT:
            write_atomically(folder / paths.CIRCUIT_FILE, text)

    def save(self, result: SimulationResult) -> None:
        """Write ``result.json`` atomically. Raises EnvironmentProblem."""
        folder = result.result_path.parent
        hashes = [self._seals.digest_of(path) for path in result.run.raw_paths]
        wiring = folder / paths.WIRING_FILE
        content = {**_document(result, folder), HASHES: hashes}
        if confined.is_file(wiring):
            content[WIRING_HASH] = self._seals.digest_of(wiring)
        write_atomically(result.result_path, as_text(self._seals.sealed(_finite_document(content), folder)))
        self._finished(folder)

    def reusable(self, circuit: Path, fingerprint: str) -> SimulationResult | None:
        return reusable_result(self._folder_of(circuit), fingerprint, self._seals)

    def save_study(self, folder: Path, document: Mapping[str, Any], rows: bytes) -> None:
        """Write a study's ``rows.csv`` and, last, its ``result.json``. Raises EnvironmentProblem."""
        text = self._study_text(folder, document, rows)
        write_atomically(folder / paths.ROWS_FILE, rows)
        write_atomically(folder / paths.RESULT_FILE, text)
        try:
            forget_so_far(folder)
        except OSError as error:
            raise write_problem(error, folder) from error
        self._finished(folder)

    def save_so_far(self, folder: Path, document: Mapping[str, Any], rows: bytes) -> None:
        """Keep what a study has, for the case that its process is killed. Raises EnvironmentProblem."""
        try:
            keep_so_far(folder, self._study_text(folder, document, rows), rows)
        except OSError as error:
            raise write_problem(error, folder) from error

    def _study_text(self, folder: Path, document: Mapping[str, Any], rows: bytes) -> bytes:
        netlist = document.get("netlist")
        if isinstance(netlist, Mapping) and isinstance(netlist.get("path"), str):
            place = place_of(Path(netlist["path"]), folder)
            document = {**document, "netlist": {**netlist, "place": place}}
        content = _finite_document(
            {"schema_version": SCHEMA_VERSION, "rows_sha256": hashlib.sha256(rows).hexdigest(), **document}
        )
        return as_text(self._seals.sealed(content, folder))

    def study_document(self, result: Path) -> Mapping[str, Any]:
        return _load(result)

    def study_rows(self, result: Path) -> bytes:
        try:
            return read_regular_file(result.with_name(paths.ROWS_FILE), max_bytes=_MAX_RESULT_BYTES)
        except OSError as error:
            raise _no_result(result.with_name(paths.ROWS_FILE)) from error

    def former_searches(self, circuit: Path, key: str) -> Iterator[tuple[Mapping[str, Any], bytes]]:
        return former_searches(self._folder_of(circuit), key, self._seals)

    def origin_of(self, path: Path) -> Origin:
        """Who computed stored data: see the port. "unknown" is a file outside any folder of results."""
        try:
            is_of_project = confined.is_private(path)
            if not is_of_project and not _is_in(path, self._user_home / paths.RESULTS_FOLDER):
                return "unknown"
            if path.is_dir():
                place = path / paths.RESULT_FILE
            else:
                place = path if path.suffix.lower() == ".json" else path.with_name(paths.RESULT_FILE)
            return "here" if self._seals.is_ours(_load(place), place.parent) else "elsewhere"
        except (CircuitAIError, OSError, ValueError):  # nothing says that it was here
            return "elsewhere"

    def shelf(self, project: Path | None) -> ResultFolderShelf:
        """The results of a project, or of circuits that are in none, as things to be kept or removed."""
        if project is None:
            return ResultFolderShelf(
                Path(os.path.realpath(self._user_home)) / paths.RESULTS_FOLDER,
                private=None,
                origin_of=self.origin_of,
            )
        folder = ProjectFolder(project)
        return ResultFolderShelf(folder.results_folder, private=folder.private, origin_of=self.origin_of)

    def _finished(self, folder: Path) -> None:
        """A result is whole: take its mark away and see to it that all together are not too large."""
        mark_done(folder)
        results = folder.parent
        is_of_project = results.parent.name == paths.PROJECT_FOLDER
        shelf = ResultFolderShelf(results, private=results.parent if is_of_project else None)
        shelf.hold_quota(self._quota(), newest=folder.name)

    def _raw_path_in(self, result_path: Path) -> Path:
        content, raw = _data_in(result_path)
        self._seals.check_data(content, raw)
        return raw

    def assigned_in(self, path: Path) -> tuple[str, ...]:
        """The vectors of a result's data that the circuit's own commands set. Raises as `raw_path_of`."""
        result = self.raw_path_of(path).with_name(paths.RESULT_FILE)
        if not (confined.is_file(result) if confined.is_private(result) else result.is_file()):
            return ()
        names = _load(result).get("assigned")
        return tuple(map(str, names)) if isinstance(names, list) else ()

    def raw_path_of(self, path: Path) -> Path:
        """The raw file behind `path`: a ``result.json``, the folder it is in, or a raw file itself.

        Raises UserInputError when there is none, or when its data are not those of the run any more.
        """
        try:
            if confined.is_private(path):
                path = confined.confined(path)
                found = confined.look(path)
                if stat.S_ISLNK(found.st_mode):
                    raise InTheWay(path, "link")
            if path.is_dir():
                return self._raw_path_in(path / paths.RESULT_FILE)
            if path.suffix.lower() == ".json":
                return self._raw_path_in(path)
            if path.is_file():
                if confined.is_private(path) and confined.is_file(path.with_name(paths.RESULT_FILE)):
                    self._seals.check_data(_load(path.with_name(paths.RESULT_FILE)), path)
                return path
        except InTheWay as error:
            raise error.problem() from error
        except (OSError, ValueError) as error:  # a name no file can have
            raise _no_result(path) from error
        raise _no_result(path)


def _is_in(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _data_in(result_path: Path) -> tuple[dict[str, Any], Path]:
    """A result's document, and its first file of data."""
    if not confined.is_private(result_path):  # the user's own: a result that was moved elsewhere
        result_path = Path(os.path.realpath(result_path))
    folder = result_path.parent
    content = _load(result_path)
    names = content.get("raw_paths")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _broken(result_path)
    if not names and content.get("kind") == "study":
        raise UserInputError(
            msg("{path} is a study: it has a table of figures and no waveforms.", path=result_path),
            advice=msg("Its table is the file rows.csv beside it."),
            file=result_path,
            error_type="no_data",
        )
    if not names:
        raise UserInputError(
            msg(
                "The simulation of {path} produced no data; its status is {status}.",
                path=result_path,
                status=content.get("status", "?"),
            ),
            advice=msg("Fix the reported errors and simulate again."),
            file=result_path,
            error_type="no_data",
        )
    try:
        # A result may have come with somebody else's project: it can only point into its own folder.
        raw = Path(os.path.normpath(folder / names[0]))
        is_file = raw.is_relative_to(folder) and stat.S_ISREG(confined.look(raw).st_mode)
    except FileNotFoundError as error:
        raise UserInputError(
            msg("The data file {raw} of {path} is gone.", raw=names[0], path=result_path),
            advice=msg("Simulate again to restore it."),
            file=result_path,
            error_type="file_not_found",
        ) from error
    except InTheWay as error:
        raise error.problem() from error
    except (OSError, ValueError):
        raise _broken(result_path) from None
    if not is_file:
        raise _broken(result_path)
    return content, raw


def _load(result_path: Path) -> dict[str, Any]:
    try:
        content = read_bounded(read_regular_file(result_path, max_bytes=_MAX_RESULT_BYTES))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _no_result(result_path) from error
    except InTheWay as error:
        raise error.problem() from error
    except (NotRegular, TooLarge, IsADirectoryError, ValueError, RecursionError) as error:
        raise _broken(result_path) from error
    except OSError as error:
        raise UserInputError(
            msg("{path} cannot be read ({reason}).", path=result_path, reason=error.strerror),
            file=result_path,
        ) from error
    if not isinstance(content, dict):
        raise _broken(result_path)
    version = content.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise UserInputError(
            msg("{path} was written by a newer version of this program.", path=result_path),
            advice=msg("Update the program, or simulate again."),
            file=result_path,
            error_type="newer_format",
        )
    return content


def _no_result(path: Path) -> UserInputError:
    return UserInputError(
        msg("There is no simulation result at {path}.", path=path),
        advice=msg("Specify a result.json, its folder, or a raw file."),
        file=path,
        error_type="file_not_found",
    )


def _broken(path: Path) -> UserInputError:
    return UserInputError(
        msg("{path} is not a simulation result, or it is damaged.", path=path),
        advice=msg("Specify a result.json, its folder, or a raw file; or simulate again."),
        file=path,
        error_type="bad_result",
    )


def _document(result: SimulationResult, folder: Path) -> dict[str, Any]:
    """The content of ``result.json``, but for the hashes of its raw files."""
    return {
        "schema_version": SCHEMA_VERSION,
        "id": result.result_id,
        "fingerprint": result.fingerprint if result.ok else "",
        "created": result.created,
        "ok": result.ok,
        "status": result.run.status,
        "verdict": verdict_of(result),
        "reach": reach_to_plain(result.run.reach),
        "netlist": {
            "path": str(result.netlist_path),
            "place": place_of(result.netlist_path, folder),
            "sha256": result.netlist_sha256,
            "read_beside": {
                place_of(Path(path), folder) or path: digest for path, digest in result.read_beside.items()
            },
        },
        "request": result.request,
        "simulator": {
            "version": result.run.simulator_version,
            "confinement": list(result.run.confinement),
            "duration_s": result.run.duration_s,
        },
        "metrics": _figures(result.metrics),
        "operating_point": operating_point_to_plain(result.operating_point),
        "steps": [
            {
                "number": step.number,
                "values": step.values,
                "status": step.status,
                "metrics": _figures(step.metrics),
            }
            for step in result.steps
        ],
        "curves": [
            {"analysis": curves.analysis, "expressions": list(curves.expressions)} for curves in result.curves
        ],
        "dialect": result.dialect,
        "notes": [
            {
                "message": str(note.message),
                "file": None if note.file is None else str(note.file),
                "line": note.line,
            }
            for note in result.notes
        ],
        "assigned": list(result.assigned),
        "issues": [_issue(issue) for issue in result.issues],
        "raw_paths": [_relative(path, folder) for path in result.run.raw_paths],
        "raw_bytes": [path.stat().st_size for path in result.run.raw_paths],
        "log_path": _relative(result.run.log_path, folder),
    }


def _figures(metrics: Mapping[str, Quantity]) -> dict[str, Any]:
    return {name: {"value": quantity.value, "unit": quantity.unit} for name, quantity in metrics.items()}


def _issue(issue: SimulationIssue) -> dict[str, object]:
    return {
        "severity": issue.severity,
        "code": issue.code,
        "message": str(issue.message),
        "text": message_to_plain(issue.message),
        "file": None if issue.file is None else str(issue.file),
        "line": issue.line,
        "element": issue.element,
        "node": issue.node,
        "advice": None if issue.advice is None else str(issue.advice),
    }


def _relative(path: Path, folder: Path) -> str:
    """`path` as seen from the result's folder, so that a moved project keeps its results."""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def _finite_document(content: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key): _finite(value) for key, value in content.items()}


def _finite(value: object) -> object:
    """`value` with every NaN and infinity as None, which JSON can say, and texts for what it cannot."""
    match value:
        case float():
            return float(value) if math.isfinite(value) else None
        case None | bool() | int() | str():
            return value
        case Mapping():
            return {str(key): _finite(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_finite(item) for item in value]
        case Path() | Message():
            return str(value)
        case _:
            raise TypeError(f"{type(value).__name__} has no place in result.json")
