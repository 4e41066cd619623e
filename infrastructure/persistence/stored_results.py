"""Stored results: what binds each to its data and to who made it, which is newest, which answers a run again.

``result.json`` names the SHA-256 of each file of data beside it, and carries the signature of this user's
key over all it says and over the result's own id. Data that are not those any more are refused; a result
without a valid signature was made elsewhere: it can be looked at, and nobody here takes it for a run of
his.

Projects of this user from before anything was signed are taken over once, without a question. Whether one
is his is told by what no project can bring along: the program was used here before it had a key, the
files are the user's own and older than the key, and his folder knew the project by its place (window,
permissions, simulator settings). The times of files tell nothing: who makes a project can foresee that of
its checkout. What such a project had under way ends all the same: nothing unsigned is ever gone on with.

A result that serves again gets a file ``.used`` with the moment, in the form of a result's name, so that it
stands before results made in between: its circuit is as it was then.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from domain.simulation.notes import SimulationNote
from domain.simulation.operating_point import operating_point_from_plain
from domain.simulation.result import Quantity, SimulationIssue, SimulationResult, SimulationRun, StepResult
from infrastructure.persistence import confined
from infrastructure.persistence.authenticity import Authenticity, UserKey, key_made, read_note
from infrastructure.persistence.confined import (
    is_file,
    look,
    names_in,
    open_regular_file,
    read_regular_file,
    write_atomically,
)
from infrastructure.persistence.process_locks import change_lock
from infrastructure.persistence.result_circuit import circuit_of
from shared import paths
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg, stored_message
from shared.safe_json import read_bounded
from shared.ulid import new_ulid

KIND = "result"
SIGNATURE, HASHES, WIRING_HASH = "signature", "raw_sha256", "wiring_sha256"
_MOST_BYTES = 64 << 20
_State = tuple[int, int, int, int, int]


class ResultSeals:
    """Signs results and verifies them; one for a run of the program, for it remembers what it has hashed.

    Blocking; safe to use from several threads.
    """

    def __init__(self, key: UserKey | None = None) -> None:
        self._key = key
        self._hashed: dict[_State, str] = {}
        self._guard = threading.Lock()

    def __reduce__(self) -> tuple[object, tuple[Path | None]]:
        """A worker process reads the key itself: no secret goes through a pipe."""
        return _of_home, (None if self._key is None else self._key.path.parent,)

    def sealed(self, content: dict[str, Any], folder: Path) -> dict[str, Any]:
        """`content` of a result in `folder`, signed when it lies in a project. Raises EnvironmentProblem."""
        signer = self._signer(folder)
        if signer is None:
            return content
        return content | {SIGNATURE: signer.sign(KIND, folder.name, _canonical(content))}

    def is_ours(self, content: Mapping[str, Any], folder: Path) -> bool:
        """Whether this user's program has made the result.

        Of what lies in no project that is so in his own folder of results, where nobody else writes.
        """
        signer = self._signer(folder)
        if signer is None:
            home = paths.user_home() if self._key is None else self._key.home
            return Path(os.path.realpath(folder)).parent == Path(
                os.path.realpath(home / paths.RESULTS_FOLDER)
            )
        try:
            return signer.is_ours(KIND, content.get(SIGNATURE), folder.name, _canonical(content))
        except (ValueError, TypeError, RecursionError):
            return False

    def digest_of(self, path: Path) -> str:
        """SHA-256 of a file of data; read once as long as nobody changes it. Raises OSError."""
        with open_regular_file(path) as file:
            before = _state_of(os.fstat(file.fileno()))
            with self._guard:
                known = self._hashed.get(before)
            if known is not None:
                return known
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            if _state_of(os.fstat(file.fileno())) == before:
                with self._guard:
                    self._hashed[before] = digest
        return digest

    def check_data(self, content: Mapping[str, Any], raw: Path) -> None:
        """Raise UserInputError ("data_changed") unless `raw` is as its result says; OSError.

        A result that names no hash (of an earlier version) can't be checked: it is not ours either.
        """
        names, hashes = content.get("raw_paths"), content.get(HASHES)
        if not isinstance(names, list) or not isinstance(hashes, list) or len(names) != len(hashes):
            return
        wanted = {str(name): digest for name, digest in zip(names, hashes, strict=True)}.get(raw.name)
        if wanted is not None and self.digest_of(raw) != wanted:
            raise _changed(raw)
        wiring = raw.with_name(paths.WIRING_FILE)
        if is_file(wiring) and self.digest_of(wiring) != content.get(WIRING_HASH):
            raise _changed(wiring)

    def _signer(self, folder: Path) -> Authenticity | None:
        if not confined.is_private(folder):
            return None
        place = confined.confined(folder)
        border = place.parts.index(paths.PROJECT_FOLDER) + 1
        private = Path(*place.parts[:border])
        return Authenticity.of_user(private) if self._key is None else Authenticity(self._key, private)


def _changed(path: Path) -> UserInputError:
    return UserInputError(
        msg("The data of this run have been modified: {path} is not what the simulator wrote.", path=path),
        advice=msg("Simulate again to restore them."),
        file=path,
        error_type="data_changed",
    )


def _of_home(home: Path | None) -> ResultSeals:
    return ResultSeals(None if home is None else UserKey(home))


def sign_unsigned(results_folder: Path, authenticity: Authenticity, *, older_than: float) -> int:
    """Sign the results that have no signature at all, with their data as they are; how many there were.

    For the results this user's earlier versions made: `older_than` is when the key was made (seconds since
    1970); a result with a file put there since is none. What can't be read or written stays as it is.
    """
    seals = ResultSeals()
    signed = 0
    try:
        names = confined.names_in(results_folder)
    except OSError:
        return 0
    for name in names:
        path = results_folder / name / paths.RESULT_FILE
        try:
            content = read_bounded(read_regular_file(path, max_bytes=_MOST_BYTES))
            if not isinstance(content, dict) or SIGNATURE in content:
                continue
            raws = [path.parent / Path(str(raw)).name for raw in content.get("raw_paths", [])]
            if any(confined.look(file).st_ctime >= older_than for file in (path, *raws)):
                continue
            content[HASHES] = [seals.digest_of(raw) for raw in raws]
            content[SIGNATURE] = authenticity.sign(KIND, name, _canonical(content))
            write_atomically(path, as_text(content))
        except (OSError, ValueError, TypeError, CircuitAIError):
            continue
        signed += 1
    return signed


def as_text(content: Mapping[str, Any]) -> bytes:
    """A ``result.json``. Raises ValueError for what JSON cannot say."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    return (text + "\n").encode("utf-8", "backslashreplace")


def _canonical(content: Mapping[str, Any]) -> bytes:
    """One form for a document, however it was laid out; without its signature.

    What the file could not hold as it was (half of a pair of surrogates) is taken as it is read back.
    """
    plain = {key: value for key, value in content.items() if key != SIGNATURE}
    read_back = json.loads(as_text(plain))
    return json.dumps(read_back, sort_keys=True, separators=(",", ":")).encode()


def _state_of(found: os.stat_result) -> _State:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


_log = logging.getLogger(__name__)

_PASSING = ("busy", "disk_full", "session_in_use")
"""Problems that the next opening may not meet."""


def take_over(private: Path, signer: Authenticity, user_home: Path, *, adopt: Callable[[], None]) -> None:
    """Make the old project with this `.circuit_ai/` its user's, once; any other is left as it is. Blocking.

    `adopt` makes its conversations and operations his. One that can't be written to is left as it is too.
    """
    if signer.is_taken_over:
        return
    if not signer.is_being_taken_over and not (_is_his(private, user_home) and _has_history(private)):
        return
    try:
        with change_lock(private / "take_over"):
            if signer.is_taken_over:
                return  # another process has done it
            signer.begin_take_over()
            _adopt(private.parent, adopt)
            from infrastructure.persistence.stored_results import sign_unsigned  # once in a project's life

            sign_unsigned(private / paths.RESULTS_FOLDER, signer, older_than=key_made(user_home))
            signer.end_take_over()
    except CircuitAIError as error:
        _log.warning("The history of %s could not be taken over: %s", private.parent, error)


def _adopt(root: Path, adopt: Callable[[], None]) -> None:
    """Adopt what can be. What is damaged stays history: a take-over that never came to its end would go on to
    take in whatever comes into the project later."""
    try:
        adopt()
    except CircuitAIError as error:
        if error.error_type in _PASSING:
            raise
        _log.warning("Not all of the history of %s could be taken over: %s", root, error)


def _has_history(private: Path) -> bool:
    if confined.is_file(private / paths.OPERATIONS_FILE) or _transcripts(private):
        return True
    try:
        return bool(confined.names_in(private / paths.RESULTS_FOLDER))
    except OSError:
        return False


def _transcripts(private: Path) -> dict[Path, os.stat_result]:
    folder = private / paths.CONVERSATIONS_FOLDER
    try:
        found = confined.entries_in(folder)
    except OSError:
        return {}
    return {folder / name: status for name, status in found.items() if name.endswith(".jsonl")}


def _is_his(private: Path, user_home: Path) -> bool:
    noted = read_note(user_home)
    made, known = key_made(user_home), noted.get("projects")
    if not isinstance(known, list) or noted.get("was_used") is not True or str(private.parent) not in known:
        return False
    try:
        told = [*_transcripts(private).values()]
        if confined.is_file(private / paths.OPERATIONS_FILE):
            told.append(confined.look(private / paths.OPERATIONS_FILE))
        if any(status.st_ctime >= made for status in told):
            return False  # by far the usual case: looked at first
        found = [private.lstat(), *(status for _, status in confined.walk(private))]
    except OSError:
        return False
    return all(status.st_uid == os.getuid() for status in found)


USED_FILE = ".used"
_LOOKED_AT = 500
_HEAD_BYTES = 1024
"""The fingerprint stands at the beginning of a ``result.json``."""


def newest_first(results: Path) -> list[str]:
    """Names of the results in a folder, by when they were made or last used; none when it cannot be read."""
    try:
        names = names_in(results)
    except OSError:
        return []
    return sorted(names, key=lambda name: (max(name, _used(results / name)), name), reverse=True)


def reusable_result(results: Path, fingerprint: str, seals: ResultSeals) -> SimulationResult | None:
    """The newest whole, successful result with this fingerprint; it counts as just used. None without one."""
    if not fingerprint:
        return None
    for name in newest_first(results)[:_LOOKED_AT]:
        path = results / name / paths.RESULT_FILE
        if _head_has(path, fingerprint) and (found := _loaded(path, fingerprint, seals)) is not None:
            try:
                write_atomically(results / name / USED_FILE, paths.result_name(new_ulid()).encode())
            except CircuitAIError:  # it may not be found as the newest: then it cannot stand for a run of now
                return None
            return found
    return None


def former_searches(results: Path, key: str, seals: ResultSeals) -> Iterator[tuple[Mapping[str, Any], bytes]]:
    """See application.ports.simulation.ResultStore. The seal covers the table by its hash."""
    for name in newest_first(results)[:_LOOKED_AT] if key else ():
        folder = results / name
        if not _head_has(folder / paths.RESULT_FILE, key):
            continue
        try:
            content = read_bounded(read_regular_file(folder / paths.RESULT_FILE, max_bytes=_MOST_BYTES))
            rows = read_regular_file(folder / paths.ROWS_FILE, max_bytes=_MOST_BYTES)
            is_whole = content["search_key"] == key and content["rows_sha256"] == sha256(rows).hexdigest()
            is_ours = is_whole and seals.is_ours(content, folder)
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            continue
        if is_ours:
            yield content, rows


def _used(folder: Path) -> str:
    """When a result was used last, "" when never."""
    if not os.path.lexists(folder / USED_FILE):  # most were not; the safe way there is long
        return ""
    try:
        return read_regular_file(folder / USED_FILE, max_bytes=100).decode("ascii")
    except (OSError, ValueError):
        return ""


def _head_has(path: Path, fingerprint: str) -> bool:
    try:
        found = os.lstat(path)
        return fingerprint.encode() in _head(str(path), found.st_ino, found.st_mtime_ns, found.st_size)
    except OSError:
        return False


@lru_cache(maxsize=2 * _LOOKED_AT)
def _head(path: str, _inode: int, _changed: int, _size: int) -> bytes:
    """The beginning of a file, read once as it stands: each run looks at all before it. Raises OSError."""
    with open_regular_file(Path(path)) as file:
        return file.read(_HEAD_BYTES)


def _loaded(path: Path, fingerprint: str, seals: ResultSeals) -> SimulationResult | None:
    """The result as it was when it was saved here; None when any of it is missing, changed or damaged."""
    folder = path.parent
    try:
        content = read_bounded(read_regular_file(path, max_bytes=_MOST_BYTES))
        if content["fingerprint"] != fingerprint or content["ok"] is not True:
            return None
        raws = [folder / name for name in content["raw_paths"]]
        is_whole = [look(raw).st_size for raw in raws] == content["raw_bytes"]
        if not raws or not is_whole or not all(_is_in(raw, folder) for raw in raws):
            return None
        if not seals.is_ours(content, folder) or [seals.digest_of(raw) for raw in raws] != content[HASHES]:
            return None
        return _result(content, folder, raws)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _is_in(raw: Path, folder: Path) -> bool:
    return raw.parent == folder and is_file(raw)


def _result(content: Mapping[str, Any], folder: Path, raws: list[Path]) -> SimulationResult:
    run = SimulationRun(
        status=content["status"],
        raw_paths=tuple(raws),
        issues=(),
        log_path=folder / paths.LOG_FILE,
        duration_s=content["simulator"]["duration_s"],
        simulator_version=content["simulator"]["version"],
        confinement=tuple(content["simulator"]["confinement"]),
    )
    return SimulationResult(
        result_id=str(content["id"]),
        netlist_path=circuit_of(content, folder),
        netlist_sha256=content["netlist"]["sha256"],
        fingerprint=content["fingerprint"],
        is_reused=True,
        run=run,
        metrics=_metrics(content["metrics"]),
        operating_point=operating_point_from_plain(content["operating_point"]),
        steps=tuple(
            StepResult(
                number=step["number"],
                values=step["values"],
                status=step["status"],
                metrics=_metrics(step["metrics"]),
            )
            for step in content["steps"]
        ),
        dialect=content["dialect"],
        notes=notes_in(content),
        assigned=tuple(map(str, content.get("assigned", ()))),
        issues=issues_in(content),
        request=content["request"],
        result_path=folder / paths.RESULT_FILE,
        created=str(content["created"]),
    )


def issues_in(content: Mapping[str, Any]) -> tuple[SimulationIssue, ...]:
    """What a run said, as its result.json has it. Raises what a damaged one raises."""
    return tuple(_issue(issue) for issue in content["issues"])


def notes_in(content: Mapping[str, Any]) -> tuple[SimulationNote, ...]:
    """What was done to its circuit; likewise."""
    return tuple(
        SimulationNote(message=_as_it_is(note["message"]), file=_path(note["file"]), line=note["line"])
        for note in content["notes"]
    )


def _metrics(stored: Mapping[str, Any]) -> dict[str, Quantity]:
    return {
        name: Quantity(value=_number(item["value"]), unit=str(item["unit"])) for name, item in stored.items()
    }


def _number(stored: float | None) -> float:
    return math.nan if stored is None else float(stored)


def _issue(stored: Mapping[str, Any]) -> SimulationIssue:
    text = stored["text"]
    message = stored_message(text["template"], text["params"])
    advice = stored["advice"]
    return SimulationIssue(
        severity=stored["severity"],
        code=stored["code"],
        message=message or _as_it_is(stored["message"]),
        file=_path(stored["file"]),
        line=stored["line"],
        element=stored["element"],
        node=stored["node"],
        advice=None if advice is None else _as_it_is(advice),
    )


def _as_it_is(text: str) -> Message:
    """A text that was stored without its template: in the language it was written in."""
    return msg("{text}", text=text)


def _path(stored: str | None) -> Path | None:
    return None if stored is None else Path(stored)
