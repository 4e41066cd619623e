"""The index of one project, as worker processes are given it."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from application.ports.search import Found, IndexState, Match, Passages, VectorState
from domain.search.query import Scope, SearchQuery, Term
from infrastructure.search import finding, indexing
from infrastructure.search.database import UnusableError, opened
from infrastructure.search.walking import walk

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SqliteProjectIndex:
    """Implements application.ports.search.ProjectIndex.

    A folder that is no project, and one that can't be written, has no index: its files are read one by one.
    """

    root: Path

    def update(self, limit_s: float) -> IndexState:
        """Bring the index up to date."""
        return indexing.update(self.root, limit_s)

    def find(self, query: SearchQuery, pending: Sequence[str], limit_s: float) -> Found:
        """Search. An index that breaks under the search is not used: everything is read from the disk."""
        try:
            with opened(self.root) as connection:
                return finding.find(self.root, connection, query, pending, limit_s)
        except (UnusableError, sqlite3.Error) as error:
            _logger.info("searching %s without an index: %s", self.root, error)
            files = tuple(walk(self.root).files)
            return finding.find(self.root, None, query, files, limit_s)

    def passages(self, terms: Sequence[Term], pending: Sequence[str], limit_s: float) -> Passages:
        """Passages with the terms; without an index the files are read one by one."""
        try:
            with opened(self.root) as connection:
                return finding.passages(self.root, connection, terms, pending, limit_s)
        except (UnusableError, sqlite3.Error) as error:
            _logger.info("searching %s without an index: %s", self.root, error)
            return finding.passages(self.root, None, terms, tuple(walk(self.root).files), limit_s)

    def texts_without_vector(
        self, model: str, most: int
    ) -> tuple[VectorState, tuple[tuple[bytes, str], ...]]:
        """Texts that `model` has still to embed."""
        from infrastructure.search import vectors

        try:
            with opened(self.root) as connection:
                vectors.use_model(connection, model)
                return vectors.state_of(connection, model), vectors.texts_without(connection, most)
        except (UnusableError, sqlite3.Error) as error:
            return _no_vectors(self.root, error), ()

    def keep_vectors(self, model: str, vectors: Sequence[tuple[bytes, Sequence[float]]]) -> None:
        """Store vectors; when that fails they are asked for again another time."""
        from infrastructure.search.vectors import keep

        try:
            with opened(self.root) as connection:
                keep(connection, model, vectors)
        except (UnusableError, sqlite3.Error) as error:
            _no_vectors(self.root, error)

    def nearest(
        self, model: str, vector: Sequence[float], scope: Scope, most: int
    ) -> tuple[Match, ...] | None:
        from infrastructure.search import vectors

        vectors.load_for_process()
        try:
            with opened(self.root) as connection:
                return vectors.nearest(connection, model, vector, scope, most)
        except (UnusableError, sqlite3.Error) as error:
            _no_vectors(self.root, error)
            return None


def _no_vectors(root: Path, error: Exception) -> VectorState:
    _logger.info("no vectors for %s: %s", root, error)
    return VectorState(parts=0, missing=0, is_complete_once=False)
