"""What searching needs from the outside: an index of a project's texts, and vectors for meanings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from domain.search.embedding import EmbeddingSettings
from domain.search.query import MatchType, Scope, SearchQuery, Term
from domain.search.ranking import Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One place that was found."""

    source: str
    """The file, relative to the project."""
    line: int | None
    """From 1; None for a file's name. In a PDF it counts within the page."""
    text: str
    kind: MatchType | Literal["semantic"]
    part: int | None = None
    """The indexed part it lies in; None when the file is not indexed yet."""
    page: int | None = None
    """Of a PDF, from 1."""
    section: str = ""
    """The heading it stands under, the subcircuit it is in."""
    symbol: str = ""
    """Of a symbol: element, node, model, subcircuit, parameter, function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search gave, best first."""

    matches: tuple[Match, ...] = ()
    total: int = 0
    """Matches that were met, those left out among them (at most 20 of a file)."""
    is_total_exact: bool = True
    """False: there are more; the search ended when it had enough."""
    files: int = 0
    """Files that were searched."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Files not looked into, by reason: binary, too_large, unreadable, ignored, no_text, links, too_many."""
    waiting: int = 0
    """Files that are not indexed yet and could not be looked through in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """How far the index has come."""

    files: int = 0
    indexed: int = 0
    """Files that were read in this step."""
    pending: tuple[str, ...] = ()
    """Files that are new or changed and not yet in the index (names of the file system)."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""
    """Why there is no index and files are read one by one: "" when there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorState:
    """How far the meanings have come."""

    parts: int
    """Different texts that have, or shall have, a vector."""
    missing: int
    is_complete_once: bool
    """All had one under this model at some time: what is missing now are changes only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """Pieces of files with the terms of a sentence, not ranked yet."""

    found: tuple[Passage, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """In how many pieces of the project each spelling stands."""
    total: int = 0
    """Pieces of the project."""
    waiting: int = 0
    """Files that could not be read in time."""


class ProjectIndex(Protocol):
    """The index of one project. Blocking, for worker processes; travels there by pickle.

    The files on the disk are the truth: whatever happens to the index, it is brought up to date or built
    anew. Several processes may use it at the same time.
    """

    def update(self, limit_s: float) -> IndexState:
        """Bring the index up to date, for about `limit_s` seconds; the rest is `pending`."""

    def find(self, query: SearchQuery, pending: Sequence[str], limit_s: float) -> Found:
        """Search the index, and the `pending` files themselves for at most `limit_s`."""

    def passages(self, terms: Sequence[Term], pending: Sequence[str], limit_s: float) -> Passages:
        """Pieces of the indexed files, and of the `pending` ones for at most `limit_s`, with the terms."""

    def texts_without_vector(
        self, model: str, most: int
    ) -> tuple[VectorState, tuple[tuple[bytes, str], ...]]:
        """Texts to be embedded by `model`, with their keys; vectors of another model are dropped."""

    def keep_vectors(self, model: str, vectors: Sequence[tuple[bytes, Sequence[float]]]) -> None:
        """Store vectors; when their dimension is another than that of the stored ones, those are dropped."""

    def nearest(
        self, model: str, vector: Sequence[float], scope: Scope, most: int
    ) -> tuple[Match, ...] | None:
        """The parts whose meaning is nearest; None when there are no vectors of this model and dimension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationHit:
    """One message that has what was looked for."""

    session_id: str
    message_id: str
    role: str
    """user, assistant."""
    sentence: str
    """The piece of it around the first of the words, on one line."""
    count: int
    """Messages of its conversation that have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationsFound:
    """What a search over conversations gave."""

    hits: tuple[ConversationHit, ...] = ()
    """Those of one conversation together, the newest message first, at most three of each."""
    pending: int = 0
    """Conversations that could not be looked through in time."""


class ConversationIndex(Protocol):
    """The words of a project's conversations. Blocking, for worker processes; travels there by pickle."""

    def update(self, limit_s: float) -> int:
        """Bring it up to date with the transcripts; returns how many are left when `limit_s` is over."""

    def find(self, text: str, most: int, limit_s: float) -> ConversationsFound:
        """At most `most` conversations with messages that have all words, the last changed first."""

    def forget(self, session_id: str) -> None:
        """Remove what was said in a deleted conversation."""


class EmbeddingStore(Protocol):
    """Where it is kept which server gives vectors. Blocking: called off the loop."""

    def load(self) -> EmbeddingSettings | None:
        """As set; None when none is."""

    def save(self, settings: EmbeddingSettings | None) -> None:
        """Keep it (None: no search by meaning). Raises EnvironmentProblem."""


class Embedder(Protocol):
    """Turns texts into vectors of their meaning."""

    @property
    def model(self) -> str:
        """Tells this server and model from others; vectors of different ones are not comparable."""

    @property
    def batch_size(self) -> int:
        """Texts a request."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector of one dimension, of finite numbers, for each text. Raises ProviderError."""

    async def close(self) -> None:
        """Close all connections."""
