"""Conversations as append-only files of a project's ``.circuit_ai/conversations/``.

``<id>.jsonl`` is a header line and a line per event; nothing in it is ever rewritten. ``<id>.lock`` is
there while somebody writes, ``sessions.json`` is a cache for the list (session_index).
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from application.ports.conversation import ReadTranscript, SessionInfo
from domain.llm.transcript import SHORTENED, Summary, default_name, is_ulid, no_session
from infrastructure.persistence.authenticity import Authenticity
from infrastructure.persistence.confined import (
    InTheWay,
    TooLarge,
    confined,
    entries_in,
    flush_folder,
    is_long_ago,
    look,
    make_folder,
    open_file,
    read_problem,
    read_regular_file,
    rename,
    unlink,
    write_atomically,
    write_problem,
)
from infrastructure.persistence.process_locks import LockInUse, ProcessLock, is_held_elsewhere
from infrastructure.persistence.session_index import IndexEntry, index_document, read_index, summarise
from infrastructure.persistence.transcript_lines import (
    Chain,
    End,
    TranscriptEnds,
    read_line,
    read_lines,
    write_line,
)
from shared.errors import CircuitAIError, EnvironmentProblem, Stopped, UserInputError
from shared.message import Message, msg
from shared.paths import LOCK_SUFFIX, REMOVED_FOLDER, SESSIONS_INDEX_FILE, TRANSCRIPT_SUFFIX, WANTED_SUFFIX
from shared.ulid import new_ulid

_log = logging.getLogger(__name__)

SCHEMA_VERSION = 1
MAX_TRANSCRIPT_BYTES = 512 << 20
"""More is neither written nor read at once; a list still shows it."""
_PAUSE_S = 0.05
"""Between two looks at a lock that is waited for."""
_CUT = {"event": SHORTENED}
"""Stands behind the lines of a transcript that lacks some; written when it is gone on with."""

WorkMode = Literal["free_work", "workflow"]


class TranscriptFile:
    """One conversation, open for writing. Implements application.ports.conversation.Transcript.

    Made by `SessionFiles`; holds `lock` until it is closed. Safe to use from several threads.
    """

    def __init__(
        self, path: Path, session_id: str, lock: ProcessLock, signer: Authenticity, ends: TranscriptEnds,
        *, is_new: bool = False,
    ) -> None:  # fmt: skip
        self._path = path
        self._ends = ends
        self._chain = Chain(signer=signer, session_id=session_id)
        self._session_id = session_id
        self._lock = lock
        self._guard = threading.Lock()
        flags = os.O_RDWR | os.O_APPEND
        flags |= os.O_CREAT | os.O_EXCL if is_new else 0
        self._descriptor = open_file(path, flags, only_name=True)
        try:
            data = _read_all(self._descriptor)
        except BaseException:
            os.close(self._descriptor)
            raise
        lines = read_lines(data, name=path.name, chain=self._chain, is_kept=True)
        if lines.is_lost:  # left as it is: to write would be to cut it off
            os.close(self._descriptor)
            raise _lost(path)
        self._events = lines.events
        self._is_cut = not is_new and _is_cut(ends, self._chain)
        if self._is_cut:
            self._events.append(_CUT)
        self._damaged = lines.damaged
        self._end = lines.end
        """Bytes that count."""
        self._size = len(data)
        """Bytes in the file, with what a cut-off write left."""

    @property
    def session_id(self) -> str:
        return self._session_id

    @property
    def events(self) -> Sequence[Mapping[str, Any]]:
        """Everything read at opening and appended since; in place of a damaged line {"event": "damaged"}."""
        return self._events

    @property
    def is_ours(self) -> bool:
        return self._chain.is_ours

    @property
    def problems(self) -> tuple[Message, ...]:
        """What could not be read at opening."""
        return tuple(
            msg("Line {line} of {path} is damaged and was skipped.", line=line, path=self._path)
            for line in self._damaged
        )

    @property
    def is_wanted(self) -> bool:
        """Whether another process asks to take the conversation over (`SessionFiles.take_over`)."""
        return is_held_elsewhere(self._path.with_suffix(WANTED_SUFFIX))

    def append(self, *events: Mapping[str, Any]) -> None:
        """Write the events, flush and fsync: when it returns they are on the disk, else none of them is.

        Raises EnvironmentProblem (disk_full, read_only, session_lost), UserInputError
        (session_too_large), ValueError or TypeError for what JSON cannot hold.
        """
        lines = [write_line(event) for event in events]
        with self._guard:
            told = [write_line(_CUT)] if self._is_cut else []
            if self._descriptor < 0:
                raise ValueError("the transcript is closed")
            self._check_place()
            signed, chain = self._chain.signed([*told, *lines])
            self._write(b"".join(signed))
            self._chain, self._is_cut = chain, False
            if chain.is_ours:
                self._ends.note(self._session_id, End(count=chain.count, link=chain.link))
            # What is kept in memory is what a later start will read.
            self._events.extend(event for line in lines if (event := read_line(line)) is not None)

    def _write(self, data: bytes) -> None:
        if self._end + len(data) > MAX_TRANSCRIPT_BYTES:
            raise _too_large(self._path)
        try:
            self._cut_back()
            _write_all(self._descriptor, data)
            os.fsync(self._descriptor)
        except BaseException as error:
            with contextlib.suppress(OSError):  # the next append tries again
                self._size = os.fstat(self._descriptor).st_size
                self._cut_back()
            if isinstance(error, OSError):
                raise write_problem(error, self._path) from error
            raise
        self._end += len(data)
        self._size = self._end

    def _cut_back(self) -> None:
        """Cut off what an earlier write left unfinished: nothing may ever stand behind it."""
        if self._size > self._end:
            os.ftruncate(self._descriptor, self._end)
            self._size = self._end

    def _check_place(self) -> None:
        """The file must still be the one that was opened, or the words would be lost unseen."""
        own = os.fstat(self._descriptor)
        try:
            is_same = os.path.samestat(own, look(self._path))
        except OSError:
            is_same = False
        if not is_same or own.st_size != self._size:
            raise EnvironmentProblem(
                msg("{path} was changed or removed by another program.", path=self._path),
                advice=msg("Open the conversation again; restore the file if it is gone."),
                file=self._path,
                error_type="session_lost",
            )

    def close(self) -> None:
        """Give the lock back; a second time does nothing."""
        with self._guard:
            if self._descriptor < 0:
                return
            os.close(self._descriptor)
            self._descriptor = -1
            self._lock.release()


class SessionFiles:
    """The conversations under `folder`. Implements application.ports.conversation.SessionStore."""

    def __init__(self, folder: Path, authenticity: Authenticity | None = None) -> None:
        """`authenticity` is the project's; None: that of the folder they are in, with the user's key."""
        self._given_folder = folder
        self._signer = authenticity or Authenticity.of_user(folder.parent)
        self._ends = TranscriptEnds(self._signer)

    def create(self, *, work_mode: WorkMode, name: str = "", session_id: str = "") -> TranscriptFile:
        """A new conversation; an empty name becomes "Chat <local date and time>".

        Raises UserInputError ("session_exists", "bad_session_id"), EnvironmentProblem.
        """
        session_id = _checked(session_id or new_ulid())
        folder = self._folder()
        path = folder / (session_id + TRANSCRIPT_SUFFIX)
        try:
            make_folder(folder)
        except OSError as error:
            raise write_problem(error, folder) from error
        created = datetime.now(UTC).isoformat(timespec="milliseconds")
        header = {
            "event": "session",
            "schema_version": SCHEMA_VERSION,
            "session_id": session_id,
            "name": name.strip() or default_name(created),
            "work_mode": work_mode,
            "created_at": created,
        }
        transcript = self._transcript(path, session_id, is_new=True)
        try:
            transcript.append(header)
            flush_folder(folder)
        except BaseException:
            with contextlib.suppress(OSError):
                unlink(path)
            transcript.close()
            raise
        return transcript

    def open(self, session_id: str, *, to_adopt: bool = False) -> TranscriptFile:
        session_id = _checked(session_id)
        path = self._existing(session_id)
        transcript = self._transcript(path, session_id)
        if not (transcript.is_ours or to_adopt):
            transcript.close()
            raise _not_adopted(session_id)
        return transcript

    def list(self, *, give_up: Callable[[], bool] = lambda: False) -> tuple[SessionInfo, ...]:
        """All, the last changed first; heals the index from the files.

        `give_up` is asked before each; yes is answered by Stopped.
        """
        folder = self._folder()
        index_path = folder / SESSIONS_INDEX_FILE
        known = read_index(index_path, self._signer)
        entries: dict[str, IndexEntry] = {}
        unreadable: list[Summary] = []
        for session_id, found in _transcripts_in(folder):
            if give_up():
                raise Stopped(msg("Stopped."))
            entry = known.get(session_id)
            if entry is None or not entry.holds_for(found):
                try:
                    place = folder / (session_id + TRANSCRIPT_SUFFIX)
                    entry = summarise(place, session_id, entry, self._signer, most=2 * MAX_TRANSCRIPT_BYTES)
                except FileNotFoundError:
                    continue  # deleted meanwhile
                except OSError as error:
                    _log.warning("the transcript %s cannot be read (%s)", session_id, error)
                    unreadable.append(Summary(session_id=session_id))
                    continue
            entries[session_id] = entry
        if entries.keys() != known.keys() or any(known[key] is not entry for key, entry in entries.items()):
            self._write_index(index_path, entries.values())
        ends = self._ends.known_of(entries)
        infos = [
            _info(
                entry.summary,
                is_ours=entry.is_ours,
                is_cut=entry.is_cut(ends.get(session_id)),
                size=entry.size,
                stored_at=entry.mtime_ns / 1e9,
            )
            for session_id, entry in entries.items()
        ]
        infos += [
            _info(summary, is_ours=False, is_cut=False, size=0, stored_at=time.time())
            for summary in unreadable
        ]
        return tuple(sorted(infos, key=lambda info: (info.updated_at, info.session_id), reverse=True))

    def read(self, session_id: str) -> ReadTranscript:
        """One as it stands, without its lock; for a damaged line {"event": "damaged", "line"}.

        Raises UserInputError ("no_session", "not_a_file", "session_too_large"), EnvironmentProblem.
        """
        path = self._existing(_checked(session_id))
        try:
            data = read_regular_file(path, max_bytes=MAX_TRANSCRIPT_BYTES)
        except OSError as error:
            raise _read_problem(error, path, session_id) from error
        chain = Chain(signer=self._signer, session_id=path.name.removesuffix(TRANSCRIPT_SUFFIX))
        lines = read_lines(data, name=path.name, chain=chain)
        if lines.is_lost:
            raise _lost(path)
        if _is_cut(self._ends, chain):
            lines.events.append(_CUT)
        is_in_use = self.is_in_use(path.name.removesuffix(TRANSCRIPT_SUFFIX))
        return ReadTranscript(events=lines.events, is_ours=chain.is_ours, is_in_use=is_in_use)

    def is_in_use(self, session_id: str) -> bool:
        """Whether another process works on one; reads nothing else."""
        return is_held_elsewhere(self._folder() / (_checked(session_id) + LOCK_SUFFIX))

    def delete(self, session_id: str) -> None:
        """Remove one. Raises UserInputError ("no_session", "session_in_use"), EnvironmentProblem."""
        path = self._existing(_checked(session_id))
        lock = _lock(path)
        try:
            unlink(path)
            flush_folder(path.parent)
            self._ends.forget(path.name.removesuffix(TRANSCRIPT_SUFFIX))
        except FileNotFoundError as error:
            raise no_session(session_id) from error
        except OSError as error:
            raise write_problem(error, path) from error
        finally:
            lock.release()

    def take_over(self, session_id: str, *, give_up: Callable[[], bool]) -> None:
        """Ask whoever works on one to stop, and wait until nobody does; `give_up` is asked all along.

        The request is a lock of its own, so that it ends with its process. Raises UserInputError
        ("no_session"; "session_in_use" when it was given up or somebody else asks already).
        """
        path = self._existing(_checked(session_id))
        request = _lock(path, WANTED_SUFFIX)
        try:
            while True:
                try:
                    _lock(path).release()
                except UserInputError:
                    if give_up():
                        raise
                else:
                    return
                time.sleep(_PAUSE_S)
        finally:
            request.release()

    def clear_lone_locks(self) -> None:
        """Remove the locks that programs left which were killed while they began or removed a conversation.

        What cannot be removed stays; it harms nobody.
        """
        with contextlib.suppress(OSError):
            folder = self._folder()
            names = entries_in(folder).keys()
            for path in (folder / name for name in names if name.endswith((LOCK_SUFFIX, WANTED_SUFFIX))):
                if (
                    is_ulid(path.stem)
                    and path.stem + TRANSCRIPT_SUFFIX not in names
                    and is_long_ago(path.stem)
                ):
                    with contextlib.suppress(OSError, LockInUse):
                        ProcessLock(path).release()

    @property
    def removed(self) -> SessionFiles:
        """Those that were set aside; the time of each file's last change is when that was."""
        return SessionFiles(self._given_folder / REMOVED_FOLDER, self._signer)

    def set_aside(self, session_id: str) -> None:
        """Move one to `removed`. Raises as `delete` does, and UserInputError ("session_exists")."""
        self._move_to(self.removed, session_id, is_removal=True)

    def put_back(self, session_id: str) -> None:
        """Move one of `removed` back. Raises as `set_aside` does."""
        self.removed._move_to(self, session_id, is_removal=False)

    def _move_to(self, other: SessionFiles, session_id: str, *, is_removal: bool) -> None:
        """One rename: a kill leaves it here or there."""
        path = self._existing(_checked(session_id))
        target = other._folder() / path.name
        lock = _lock(path)
        try:
            make_folder(target.parent)
            with contextlib.suppress(FileNotFoundError):
                look(target)
                raise _exists(session_id)
            if is_removal:
                descriptor = open_file(path, os.O_RDONLY, only_name=True)
                try:
                    os.utime(descriptor)
                finally:
                    os.close(descriptor)
            rename(path, target)
            flush_folder(target.parent)
            flush_folder(path.parent)
        except FileNotFoundError as error:
            raise no_session(session_id) from error
        except OSError as error:
            raise write_problem(error, path) from error
        finally:
            lock.release()

    def add_history(self, session_id: str, events: Sequence[Mapping[str, Any]]) -> str:
        """Write a conversation that came from elsewhere, whole or not at all: unsigned, it is history to be
        read. Returns its id: another one where `session_id` is taken. Raises EnvironmentProblem,
        UserInputError ("session_too_large")."""
        folder = self._folder()
        taken = {name for store in (self, self.removed) for name, _ in _transcripts_in(store._folder())}
        session_id = session_id if is_ulid(session_id) and session_id not in taken else new_ulid()
        path = folder / (session_id + TRANSCRIPT_SUFFIX)
        lines = b"".join(map(write_line, events))
        if len(lines) > MAX_TRANSCRIPT_BYTES:
            raise _too_large(path)
        try:
            make_folder(folder)
        except OSError as error:
            raise write_problem(error, folder) from error
        write_atomically(path, lines)
        return session_id

    def _write_index(self, path: Path, entries: Iterable[IndexEntry]) -> None:
        if not self._signer.project_id:
            return  # nothing was ever written here by us, and a list is no reason to begin
        try:
            write_atomically(path, index_document(entries, self._signer))
        except CircuitAIError as error:  # a project that is read-only, or a full disk, can still be listed
            _log.info("the list of conversations is not kept: %s", error)

    def _folder(self) -> Path:
        """The folder's path, its own name excepted resolved. Nothing in it is reached through a link."""
        return confined(self._given_folder)

    def _existing(self, session_id: str) -> Path:
        path = self._folder() / (session_id + TRANSCRIPT_SUFFIX)
        try:
            found = look(path)
        except FileNotFoundError as error:
            raise no_session(session_id) from error
        except OSError as error:
            raise _read_problem(error, path, session_id) from error
        if not stat.S_ISREG(found.st_mode):
            raise _not_a_file(path)
        return path

    def _transcript(self, path: Path, session_id: str, *, is_new: bool = False) -> TranscriptFile:
        """The transcript with its lock, or neither."""
        lock = _lock(path)
        try:
            return TranscriptFile(path, session_id, lock, self._signer, self._ends, is_new=is_new)
        except BaseException as error:
            lock.release()
            if isinstance(error, FileExistsError):
                raise _exists(session_id) from error
            if isinstance(error, OSError):
                raise (
                    write_problem(error, path) if is_new else _read_problem(error, path, session_id)
                ) from error
            raise


def _is_cut(ends: TranscriptEnds, chain: Chain) -> bool:
    """Whether lines that were written here are missing at the end of a transcript of ours."""
    known = ends.known(chain.session_id) if chain.is_ours else None
    return known is not None and known.is_beyond(End(count=chain.count, link=chain.link))


def _lock(path: Path, suffix: str = LOCK_SUFFIX) -> ProcessLock:
    lock_path = path.with_suffix(suffix)
    try:
        return ProcessLock(lock_path)
    except LockInUse as error:
        holder = error.holder
        in_use = (
            msg("This conversation is in use by process {pid} on {host}.", pid=holder.pid, host=holder.host)
            if holder
            else msg("This conversation is in use by another process.")
        )
        advice = msg("Wait for it, take the conversation over, or start another one.")
        raise UserInputError(in_use, advice=advice, error_type="session_in_use") from error
    except OSError as error:
        raise write_problem(error, lock_path) from error


def _checked(session_id: str) -> str:
    """The id in its canonical form; it becomes part of a path."""
    if not is_ulid(session_id.upper()):
        raise UserInputError(
            msg("{text} is not a conversation id.", text=repr(session_id)),
            advice=msg("Ids have 26 letters and digits; list the conversations to see them."),
            error_type="bad_session_id",
        )
    return session_id.upper()


def _transcripts_in(folder: Path) -> list[tuple[str, os.stat_result]]:
    """Ids and states of the regular files that are named like transcripts."""
    try:
        states = entries_in(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _read_problem(error, folder, "") from error
    found = [
        (name.removesuffix(TRANSCRIPT_SUFFIX), state)
        for name, state in states.items()
        if name.endswith(TRANSCRIPT_SUFFIX) and is_ulid(name.removesuffix(TRANSCRIPT_SUFFIX))
    ]
    for session_id, state in found:
        if not stat.S_ISREG(state.st_mode):
            _log.warning("%s%s is no regular file and is not listed", session_id, TRANSCRIPT_SUFFIX)
    return [(session_id, state) for session_id, state in found if stat.S_ISREG(state.st_mode)]


def _info(summary: Summary, *, is_ours: bool, is_cut: bool, size: int, stored_at: float) -> SessionInfo:
    return SessionInfo(
        session_id=summary.session_id,
        name=summary.name,
        work_mode=summary.work_mode,
        created_at=summary.created_at,
        updated_at=summary.updated_at,
        message_count=summary.message_count,
        preview=summary.preview,
        has_partial_response=summary.has_partial_response,
        is_ours=is_ours,
        is_cut=is_cut,
        size=size,
        stored_at=stored_at,
    )


def _read_all(descriptor: int) -> bytes:
    found = os.fstat(descriptor)
    if found.st_size > MAX_TRANSCRIPT_BYTES:
        raise TooLarge
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read()


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _not_adopted(session_id: str) -> UserInputError:
    return UserInputError(
        msg("The conversation {id} was written on another computer, or changed by another program: it "
            "can be read but not continued.", id=session_id),
        advice=msg("Review the project's history and adopt it first, or start a new conversation."),
        error_type="not_adopted",
    )  # fmt: skip


def _not_a_file(path: Path) -> UserInputError:
    return UserInputError(
        msg("{path} is not a regular file.", path=path),
        advice=msg("Move it elsewhere; conversations are plain files in the project's own folder."),
        file=path,
        error_type="not_a_file",
    )


def _lost(path: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        msg("{path} is damaged: nothing of the conversation can be read from it.", path=path),
        advice=msg("Restore the file from a backup, or delete the conversation; it was left as it is."),
        file=path,
        error_type="session_damaged",
    )


def _too_large(path: Path) -> UserInputError:
    return UserInputError(
        msg("{path} is larger than {size} MB.", path=path, size=MAX_TRANSCRIPT_BYTES >> 20),
        advice=msg("Start a new conversation; this one is kept."),
        file=path,
        error_type="session_too_large",
    )


def _exists(session_id: str) -> UserInputError:
    told = msg("There is already a conversation {id}.", id=session_id)
    return UserInputError(told, error_type="session_exists")


def _read_problem(error: OSError, path: Path, session_id: str) -> CircuitAIError:
    if isinstance(error, FileNotFoundError):
        return no_session(session_id)
    if isinstance(error, InTheWay):
        return error.problem()
    if isinstance(error, TooLarge):
        return _too_large(path)
    if isinstance(error, PermissionError) and os.access(path, os.R_OK):
        return write_problem(error, path)
    return read_problem(error, path)
