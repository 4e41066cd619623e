"""Whether a stored record was written by this installation: HMAC-SHA256 with a key of the user's own folder.

A project folder may come from anybody: cloned, unpacked, mounted. What it says of past calls, answers
and steps is acted on only when it carries a signature made here, with ``trust.key`` of the user's folder,
for this project's id (``.circuit_ai/project.json``). The id goes with the folder, so a project that is
renamed, moved or copied stays its user's; another machine's has signatures of another key and is history
to be read.

HMAC: RFC 2104, with SHA-256 (FIPS 180-4).

When the key is made, the projects that the user's folder knew by then are noted (``trust.json``): what was
not signed before can be told from what came later by this note alone (`take_over.py`).
"""

from __future__ import annotations

import base64
import contextlib
import errno
import hashlib
import hmac
import json
import logging
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from infrastructure.persistence import confined
from infrastructure.persistence.begun_changes import BegunChanges
from infrastructure.persistence.confined import (
    Moved,
    TooLarge,
    read_regular_file,
    rename_to_free_place,
    write_atomically,
    write_problem,
)
from infrastructure.persistence.process_locks import change_lock
from infrastructure.persistence.user_json import JsonFile
from shared.errors import CircuitAIError
from shared.paths import user_home
from shared.ulid import new_ulid, number_of

_log = logging.getLogger(__name__)

KEY_FILE = "trust.key"
PROJECT_FILE = "project.json"
SCHEMA_VERSION = 1
KEY_BYTES = 32
MAC_BYTES = 32
SIGNATURE_LENGTH = 43
"""Characters: 32 bytes as base64url without its padding."""
_MAX_PROJECT_BYTES = 64 << 10
_TRIES = 50

_T = TypeVar("_T", str, bytes)

Part = str | bytes | int | None
"""What a signature covers, a piece of it."""


class UserKey:
    """The key of this user on this machine. Blocking; safe to use from several threads."""

    def __init__(self, user_home: Path) -> None:
        self._home = user_home
        self._guard = threading.Lock()
        self._secret = b""

    def __repr__(self) -> str:
        return "UserKey()"

    @property
    def home(self) -> Path:
        return self._home

    @property
    def path(self) -> Path:
        return self._home / KEY_FILE

    def secret(self) -> bytes:
        """The key, 32 bytes; made at the first asking.

        Where the user's folder can't be used there is one for this run only, said in the log: all that was
        signed before then counts as written elsewhere, and so will what is signed now.
        """
        with self._guard:
            if not self._secret:
                try:
                    self._secret = self._settled()
                except (OSError, CircuitAIError) as error:
                    _log.warning(
                        "%s can't be kept (%s): what this run writes into projects will count as written"
                        " by another installation later",
                        self.path,
                        error,
                    )
                    self._secret = os.urandom(KEY_BYTES)
            return self._secret

    def mac(self, *parts: Part) -> bytes:
        """HMAC-SHA256 over the parts, each with its type and length: `MAC_BYTES` long."""
        return hmac.digest(self.secret(), b"".join(map(_framed, parts)), hashlib.sha256)

    def __reduce__(self) -> tuple[type[UserKey], tuple[Path]]:
        """A worker process reads the key itself: no secret goes through a pipe."""
        return UserKey, (self._home,)

    def _settled(self) -> bytes:
        """The key once nobody exchanges it: programs that start together may all find it damaged."""
        for _ in range(_TRIES):
            with contextlib.suppress(Moved):
                return self._read_or_make()
            time.sleep(0.01)
        return self._read_or_make()

    def _read_or_make(self) -> bytes:
        self._home.mkdir(parents=True, exist_ok=True)
        place = Path(os.path.realpath(self._home)) / KEY_FILE
        secret = _secret_in(place)
        if not secret:
            note_known_projects(self._home)  # whoever comes first: later nobody could tell
            secret = _made(place, os.urandom(KEY_BYTES), _secret_in, mode=0o600)
        _make_private(place)
        return secret


class Authenticity:
    """Signs what is written into a project and tells whether what is read was signed here. Blocking.

    Safe to use from several threads. Of a project without an id nothing verifies; the first signature
    makes one.
    """

    def __init__(self, key: UserKey, private: Path) -> None:
        """`private` is the real path of the project's ``.circuit_ai/``."""
        self._key = key
        self._path = private / PROJECT_FILE
        self._project_id = ""
        self._without: tuple[int, ...] | None = None
        """State of the file that had no id in it."""

    @cached_property
    def _under_way(self) -> BegunChanges:
        return BegunChanges(self._key.home)

    @classmethod
    def of_user(cls, private: Path) -> Authenticity:
        """With the key of the user's folder as the environment names it."""
        return cls(UserKey(user_home()), Path(os.path.realpath(private)))

    @property
    def user_home(self) -> Path:
        return self._key.home

    @property
    def private(self) -> Path:
        """The project's own folder."""
        return self._path.parent

    @property
    def project_id(self) -> str:
        """A ULID; "" while the project has none."""
        if not self._project_id:
            state = _state_of(self._path)  # asked for each of a hundred thousand rows
            if state is not None and state != self._without:
                self._project_id = _project_id_in(self._path)
                self._without = None if self._project_id else state
        return self._project_id

    def sign(self, kind: str, *parts: Part) -> str:
        """The signature of a record: 43 characters of base64url.

        `kind` names what it is ("operation", "result", ...), so that no record passes for one of another
        kind; a part is covered with its type and its length, so that no two lists of parts are alike.
        Raises EnvironmentProblem when the project has no id yet and can't be written.
        """
        return self._mac(self.project_id or self._made_id(), kind, parts)

    def is_ours(self, kind: str, signature: object, *parts: Part) -> bool:
        """Whether this user's key signed exactly this, for this project. Never raises, never writes there."""
        if not isinstance(signature, str) or len(signature) != SIGNATURE_LENGTH or not signature.isascii():
            return False
        project_id = self.project_id
        if not project_id:
            return False
        return hmac.compare_digest(self._mac(project_id, kind, parts), signature)

    def _mac(self, project_id: str, kind: str, parts: tuple[Part, ...]) -> str:
        digest = self._key.mac(project_id, kind, *parts)
        return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")

    def _made_id(self, project_id: str = "", *, taking_over: str = "") -> str:
        data = _project_document(project_id or new_ulid(), taking_over=taking_over)
        try:
            self._project_id = _made(self._path, data, _project_id_in, mode=0o644)
        except OSError as error:
            raise write_problem(error, self._path) from error
        return self._project_id

    @property
    def is_being_taken_over(self) -> bool:
        """Whether we began to take the project over and did not come to the end of it.

        The user's folder has to say so too: the project's own word may have been put back since.
        """
        word = _project_word(self._path, "taking_over")
        return word != "" and self.is_ours("take-over", word) and self._under_way.is_noted(word)

    @property
    def is_taken_over(self) -> bool:
        """Whether what stood in the project before there were signatures was taken over."""
        word = _project_word(self._path, "taken_over")
        return word != "" and self.is_ours("taken-over", word)

    def begin_take_over(self) -> None:
        """Note our word that the project's history is being taken over; it gets its id, where it has none.

        Raises EnvironmentProblem.
        """
        project_id = self.project_id or new_ulid()
        word = self._mac(project_id, "take-over", ())
        self._under_way.note(word)
        if self.project_id:
            write_atomically(self._path, _project_document(project_id, taking_over=word))
        else:
            self._made_id(project_id, taking_over=word)

    def end_take_over(self) -> None:
        """All of it is signed. Raises EnvironmentProblem."""
        word = self.sign("taken-over")
        self._under_way.forget(self.sign("take-over"))
        write_atomically(self._path, _project_document(self.project_id, taken_over=word))


def _framed(part: Part) -> bytes:
    """A part with its type and length before it: no other list of parts gives the same bytes."""
    if isinstance(part, str):
        kind, data = b"s", part.encode("utf-8", "surrogatepass")
    elif isinstance(part, bytes):
        kind, data = b"b", part
    elif part is None:
        kind, data = b"n", b""
    else:
        kind, data = b"i", str(int(part)).encode("ascii")
    return kind + len(data).to_bytes(8, "big") + data


def _secret_in(path: Path) -> bytes:
    """The key in a file; b"" when there is none in it. Raises OSError when it can't be read."""
    try:
        secret = read_regular_file(path, max_bytes=KEY_BYTES)
    except (FileNotFoundError, TooLarge):
        return b""
    return secret if len(secret) == KEY_BYTES else b""


def _project_document(project_id: str, **words: str) -> bytes:
    content = {"schema_version": SCHEMA_VERSION, "project_id": project_id}
    return (json.dumps(content | {name: word for name, word in words.items() if word}) + "\n").encode()


def _state_of(path: Path) -> tuple[int, ...] | None:
    """What changes when the file does; None where there is none, or it can't be looked at."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _project_id_in(path: Path) -> str:
    """The project's id; "" when there is none to be read."""
    project_id = _project_word(path, "project_id")
    try:
        number_of(project_id)
    except ValueError:
        return ""
    return project_id


def _project_word(path: Path, name: str) -> str:
    try:
        word = json.loads(read_regular_file(path, max_bytes=_MAX_PROJECT_BYTES))[name]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return ""
    return word if isinstance(word, str) else ""


def _made(place: Path, data: bytes, read: Callable[[Path], _T], *, mode: int) -> _T:
    """Put a file where there is none and read it; of several processes all get what the first has put.

    Something that `read` finds nothing in is kept beside it under another name. Raises OSError,
    CircuitAIError.
    """
    if os.path.lexists(place):
        with change_lock(place):
            if os.path.lexists(place) and not read(place):
                aside = place.with_name(f"{place.name}.{new_ulid()}.damaged")
                _log.warning("%s is damaged: it is %s now and is made anew", place, aside.name)
                confined.rename(place, aside)
    _put_new(place, data, mode=mode)
    found = read(place)
    if not found:
        raise OSError(errno.ESTALE, "it was made and is gone", str(place))
    return found


def _put_new(place: Path, data: bytes, *, mode: int) -> None:
    """Put a file where there is none, whole and on the disk; one that somebody put meanwhile stays."""
    temporary = place.with_name(f".{new_ulid()}.tmp")
    try:
        with os.fdopen(
            confined.open_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb"
        ) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            rename_to_free_place(temporary, place)
    finally:
        with contextlib.suppress(FileNotFoundError):
            confined.unlink(temporary)
    confined.flush_folder(place.parent)


def _make_private(path: Path) -> None:
    """Nobody else may read the key, whatever a backup or a copy made of its mode."""
    with contextlib.suppress(OSError):
        if stat.S_IMODE(path.lstat().st_mode) & 0o077:
            _log.warning("%s could be read by others; it is private again", path)
            path.chmod(0o600)


_KNOWN_FILE = "trust.json"
_KNOWN_VERSION = 1
_MAX_BYTES = 4 << 20
_NAMING_PROJECTS = ("window.json", "permissions.json", "simulator_settings.json")


def note_known_projects(user_home: Path) -> None:
    """Write down, before there is a key, which projects the user's folder knows; once. Raises OSError."""
    if os.path.lexists(user_home / _KNOWN_FILE):
        return
    _file(user_home, _KNOWN_FILE).write(
        {
            "made": time.time(),
            "was_used": any(path.is_file() for path in user_home.rglob("*")),
            "projects": sorted(set(_named_in(user_home))),
        }
    )


def read_note(user_home: Path) -> dict[str, Any]:
    """The note as it stands; {} where there is none."""
    return _file(user_home, _KNOWN_FILE).load()


def key_made(user_home: Path) -> float:
    """When the key was made, seconds since 1970; 0 where nobody knows."""
    made = read_note(user_home).get("made")
    return made if isinstance(made, float) else 0.0


def _named_in(user_home: Path) -> Iterator[str]:
    for name in _NAMING_PROJECTS:
        projects = _file(user_home, name).load().get("projects")
        items: list[Any] = list(projects) if isinstance(projects, dict | list) else []
        for item in items:
            place = item.get("path") if isinstance(item, dict) else item
            if isinstance(place, str) and place.startswith("/") and "\0" not in place:
                yield os.path.realpath(place)


def _file(user_home: Path, name: str) -> JsonFile:
    return JsonFile(
        user_home, name, when_damaged="forget", version=_KNOWN_VERSION, max_bytes=_MAX_BYTES, mode=0o600
    )
