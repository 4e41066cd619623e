"""Vectors of the parts' meanings, in the same database, and the nearest ones to a question's.

The distance is sqlite-vec's ``vec_distance_cosine`` over plain rows: exact, every vector looked at (0.2 s
for 40,000 of 1024 numbers). Many Pythons are built without loading of extensions; there the extension is
given to SQLite itself, and where that fails too, numpy computes the same.
"""

from __future__ import annotations

import ctypes
import logging
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from application.ports.search import Match, VectorState
from domain.search.query import Scope
from infrastructure.search.database import meta, set_meta, transaction

_logger = logging.getLogger(__name__)

_LOADING = threading.Lock()
_kept: list[ctypes.CDLL] = []
"""The extension once SQLite has it for all connections of this process: it must never be unloaded."""


def use_model(connection: sqlite3.Connection, model: str) -> None:
    """Drop the vectors of any other model."""
    if meta(connection, "model") != model:
        with transaction(connection):
            _begin_model(connection, model)


def state_of(connection: sqlite3.Connection, model: str) -> VectorState:
    parts = connection.execute(
        "SELECT count(DISTINCT digest) FROM parts WHERE digest IS NOT NULL"
    ).fetchone()[0]
    have = connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
    missing = max(parts - have, 0)
    is_complete = meta(connection, "complete") == model
    if not missing and not is_complete and parts:
        with transaction(connection):
            set_meta(connection, "complete", model)
        is_complete = True
    return VectorState(parts=parts, missing=missing, is_complete_once=is_complete)


def texts_without(connection: sqlite3.Connection, most: int) -> tuple[tuple[bytes, str], ...]:
    """Texts that have no vector yet, each once, under their headings."""
    rows = connection.execute(
        "SELECT digest, section, text FROM parts WHERE digest IS NOT NULL"
        " AND digest NOT IN (SELECT digest FROM vectors) GROUP BY digest ORDER BY id LIMIT ?",
        (most,),
    )
    return tuple((digest, f"{section}\n{text}" if section else text) for digest, section, text in rows)


def keep(
    connection: sqlite3.Connection, model: str, vectors: Sequence[tuple[bytes, Sequence[float]]]
) -> None:
    """Store vectors of `model`, unit length; those of another dimension than theirs go."""
    if not vectors:
        return
    dimension = str(len(vectors[0][1]))
    with transaction(connection):
        if meta(connection, "model") != model or meta(connection, "dimension") not in ("", dimension):
            _begin_model(connection, model)
        set_meta(connection, "dimension", dimension)
        connection.executemany(
            "INSERT OR REPLACE INTO vectors SELECT ?1, ?2"
            " WHERE EXISTS (SELECT 1 FROM parts WHERE digest = ?1)",
            [(digest, _blob(vector)) for digest, vector in vectors],
        )


def nearest(
    connection: sqlite3.Connection, model: str, vector: Sequence[float], scope: Scope, most: int
) -> tuple[Match, ...] | None:
    """The parts nearest in meaning, the nearest first.

    None when the vectors are of another model or dimension: they are dropped, all is to be embedded anew.
    """
    if meta(connection, "model") != model or meta(connection, "dimension") != str(len(vector)):
        with transaction(connection):
            _begin_model(connection, model)
        return None
    _load_distance(connection)
    rows = connection.execute(
        "SELECT files.name, parts.line, parts.page, parts.section, parts.text, min(parts.id)"
        " FROM (SELECT digest, vec_distance_cosine(vector, ?1) AS distance FROM vectors) AS near"
        " JOIN parts ON parts.digest = near.digest JOIN files ON files.id = parts.file"
        " WHERE near.distance IS NOT NULL AND (?2 = 'all' OR files.scope = ?2)"
        " GROUP BY near.digest ORDER BY near.distance LIMIT ?3",
        (_blob(vector), scope, most),
    )
    return tuple(
        Match(source=name, line=line, text=text, kind="semantic", part=part, page=page, section=section)
        for name, line, page, section, text, part in rows
    )


def _begin_model(connection: sqlite3.Connection, model: str) -> None:
    connection.execute("DELETE FROM vectors")
    set_meta(connection, "model", model)
    set_meta(connection, "dimension", "")
    set_meta(connection, "complete", "")


def _blob(vector: Sequence[float]) -> bytes:
    numbers = np.asarray(vector, dtype=np.float64)
    return (numbers / np.linalg.norm(numbers)).astype("<f4").tobytes()


def _load_distance(connection: sqlite3.Connection) -> None:
    if _has_distance(connection):
        return
    import sqlite_vec  # type: ignore[import-untyped]

    if hasattr(connection, "enable_load_extension"):
        with suppress(sqlite3.Error):
            connection.enable_load_extension(True)
            sqlite_vec.load(connection)
            connection.enable_load_extension(False)
    if not _has_distance(connection):
        connection.create_function("vec_distance_cosine", 2, _cosine_distance, deterministic=True)


def load_for_process() -> None:
    """Give sqlite-vec to the SQLite of this process, for connections that are opened from now on."""
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return
    with _LOADING, suppress(OSError, AttributeError, ImportError):
        if _kept:
            return
        import _sqlite3

        import sqlite_vec

        library = ctypes.CDLL(_library(sqlite_vec.loadable_path()))
        # Found through the module that uses it, so that it is the very SQLite of this process.
        register = ctypes.PyDLL(_sqlite3.__file__).sqlite3_auto_extension
        register.argtypes = [ctypes.c_void_p]
        if register(ctypes.cast(library.sqlite3_vec_init, ctypes.c_void_p)) == 0:
            _kept.append(library)


def _library(path: str) -> str:
    import sys

    ending = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    return path if path.endswith(ending) else path + ending


def _has_distance(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT vec_distance_cosine('[1]', '[1]')")
    except sqlite3.OperationalError:
        return False
    except sqlite3.Error:
        return True
    return True


def _cosine_distance(left: bytes, right: bytes) -> float:
    return 1.0 - float(np.frombuffer(left, "<f4") @ np.frombuffer(right, "<f4"))
