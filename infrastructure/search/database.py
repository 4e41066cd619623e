"""The databases of searches: their tables, opening one, and throwing it away when it can't be trusted.

Each is a cache of what files say: ``search.sqlite`` of the project's, ``conversation_search.sqlite`` of the
transcripts. Every transaction leaves it whole (WAL), so a killed process costs the
files of one transaction; a damaged or foreign one is removed and built anew. A database that was not made in
this place (copied, or brought along by somebody else's project) counts as foreign: it could say of a file
what the file does not say.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from infrastructure.persistence import confined
from infrastructure.persistence.authenticity import UserKey
from infrastructure.persistence.confined import InTheWay
from infrastructure.persistence.databases import (
    COMPANIONS,
    CONVERSATION_SEARCH,
    SEARCH,
    DatabaseKind,
    check_files,
    check_kind,
    mark,
)
from shared import paths
from shared.errors import EnvironmentProblem
from shared.paths import user_home

_logger = logging.getLogger(__name__)

_BUSY_S = 10.0
"""How long to wait for another process's transaction."""
_META = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
_GRAMS = "CREATE VIRTUAL TABLE grams USING fts5 (text, content='', tokenize='trigram case_sensitive 1');"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """One of these databases."""

    file: str
    kind: DatabaseKind
    tables: str
    """Statements that make them."""
    bound_as: str
    """What the user's key is asked for it."""
    forgets_for_good: bool
    """What is removed is overwritten, as it is nowhere else."""
    schema: int = 1


_FILES = """
    CREATE TABLE files (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL UNIQUE,      -- as the file system names it, relative
        name TEXT NOT NULL,             -- as it is shown
        folded TEXT NOT NULL,
        suffix TEXT NOT NULL,
        scope TEXT NOT NULL,            -- code, docs, other
        size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, inode INTEGER NOT NULL,
        rules BLOB NOT NULL,
        hash BLOB NOT NULL,
        status TEXT NOT NULL            -- "" = indexed, else why not
    );
    CREATE TABLE parts (
        id INTEGER PRIMARY KEY,
        file INTEGER NOT NULL,
        line INTEGER NOT NULL,
        page INTEGER,
        section TEXT NOT NULL,
        text TEXT NOT NULL,
        digest BLOB                     -- key of its vector, NULL for data
    );
    CREATE INDEX parts_by_file ON parts (file);
    CREATE INDEX parts_by_digest ON parts (digest) WHERE digest IS NOT NULL;
    CREATE TABLE symbols (              -- their lines are in the parts
        file INTEGER NOT NULL, number INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL,
        line INTEGER NOT NULL, scope TEXT NOT NULL, is_definition INTEGER NOT NULL,
        PRIMARY KEY (file, number)
    ) WITHOUT ROWID;
    CREATE INDEX symbols_by_key ON symbols (key);
    CREATE TABLE attempts (
        path BLOB PRIMARY KEY, ctime INTEGER NOT NULL, count INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE vectors (digest BLOB PRIMARY KEY, vector BLOB NOT NULL);
"""
_MESSAGES = """
    CREATE TABLE transcripts (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, inode INTEGER NOT NULL
    );
    CREATE TABLE messages (
        number INTEGER PRIMARY KEY,     -- its transcript's, shifted, and its own: a search joins nothing
        id TEXT NOT NULL,               -- of the message
        role TEXT NOT NULL,
        text TEXT NOT NULL
    );
"""
PROJECT = Cache(
    file=paths.SEARCH_FILE,
    kind=SEARCH,
    tables=_META + _FILES + _GRAMS,
    bound_as="search index",
    forgets_for_good=False,
    schema=2,
)
CONVERSATIONS = Cache(
    file=paths.CONVERSATION_SEARCH_FILE,
    kind=CONVERSATION_SEARCH,
    tables=_META + _MESSAGES + _GRAMS,
    bound_as="conversation search",
    forgets_for_good=True,
    schema=2,
)


class UnusableError(Exception):
    """There can be no database in this place; the text says why."""


def path_of(root: Path, cache: Cache = PROJECT) -> Path:
    """Where a project's index is."""
    return root / paths.PROJECT_FOLDER / cache.file


@contextlib.contextmanager
def opened(root: Path, cache: Cache = PROJECT) -> Iterator[sqlite3.Connection]:
    """A project's index, made when there is none.

    Raises UnusableError where there can be none (no project, read-only, disk full). A database that turns
    out damaged inside the block is removed: the next opening makes a new one.
    """
    with opened_at(path_of(root, cache), cache) as connection:
        yield connection


@contextlib.contextmanager
def opened_at(path: Path, cache: Cache) -> Iterator[sqlite3.Connection]:
    """The same for a cache anywhere."""
    try:
        connection = _connect(path, cache)
    except sqlite3.DatabaseError as error:
        if not _is_damage(error):
            raise UnusableError(str(error)) from error
        _logger.info("%s is damaged (%s) and made anew", path, error)
        remove_at(path)
        try:
            connection = _connect(path, cache)
        except (sqlite3.Error, OSError) as again:
            raise UnusableError(str(again)) from again
    except InTheWay as error:
        raise UnusableError(str(error.problem())) from error
    except OSError as error:
        raise UnusableError(error.strerror or str(error)) from error
    try:
        yield connection
    except sqlite3.DatabaseError as error:
        if _is_damage(error):
            _logger.info("%s is damaged (%s) and made anew", path, error)
            remove_at(path)
        raise
    finally:
        connection.close()


def remove(root: Path, cache: Cache = PROJECT) -> None:
    """Throw the index away; who has it open goes on with what is gone."""
    remove_at(path_of(root, cache))


def remove_at(path: Path) -> None:
    """The same for a cache anywhere."""
    for companion in COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            confined.unlink(path.with_name(path.name + companion))


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing, others wait."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def meta(connection: sqlite3.Connection, key: str) -> str:
    """A fact about the whole index, "" when it is not known."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return "" if row is None else str(row[0])


def set_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Note a fact about the whole index."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process held the database for too long."""
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Another table than ours counts too: "no such table" is an OperationalError of code ERROR."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


def _connect(path: Path, cache: Cache) -> sqlite3.Connection:
    check_files(path)
    # A link that comes to stand here between the look and the opening is refused by the system.
    descriptor = confined.open_file(path, os.O_RDWR | os.O_CREAT)
    inode = os.fstat(descriptor).st_ino
    os.close(descriptor)
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    try:
        try:
            check_kind(connection, path, cache.kind)
        except EnvironmentProblem as error:  # nothing but a cache is kept under this name
            raise sqlite3.DatabaseError(str(error)) from error
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -32000")
        connection.execute("PRAGMA wal_autocheckpoint = 8000")  # 32 MB: a page is rewritten many times
        # What is forgotten of files is still in them; of conversations it is to be gone.
        connection.execute(f"PRAGMA secure_delete = {'ON' if cache.forgets_for_good else 'OFF'}")
        # Bound to its inode and this user: one that came with a project is made anew.
        _prepare(connection, cache, UserKey(user_home()).mac(cache.bound_as, inode).hex())
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, cache: Cache, place: str) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == cache.schema and meta(connection, "place") == place:
        return
    with transaction(connection):
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == cache.schema and meta(connection, "place") == place:  # somebody else was quicker
            return
        if version:
            raise sqlite3.DatabaseError("it was made by another version or in another place")
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise sqlite3.DatabaseError("it has tables of somebody else")
        for statement in cache.tables.split(";"):
            if statement.strip():
                connection.execute(statement)
        set_meta(connection, "place", place)
        connection.execute(f"PRAGMA user_version = {cache.schema}")
        mark(connection, cache.kind)
