"""Searching a project: by text, by name, by meaning; and keeping its index up to date.

Whatever is asked, the index is first brought up to date with the disk, for a limited time; what it has not
come to yet is read directly. So an answer is never older than the question.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from application.ports.search import Embedder, Found, IndexState, Match, Passages, ProjectIndex
from domain.search.query import SearchQuery, Term, reciprocal_rank_fusion
from domain.search.ranking import Passage, rank
from shared.errors import CircuitAIError, CircuitError
from shared.message import Message, msg

if TYPE_CHECKING:
    from shared.cpu_executor import CpuTaskExecutor

_logger = logging.getLogger(__name__)

_UPDATE_S = 8.0
"""How long a question waits for the index; the rest is read directly."""
_SLICE_S = 2.0
"""Background work is cut into such pieces, so that other work gets a process in between."""
_HANGING_S = 25.0
"""A piece that takes so much longer than it should is ended with its process (a hostile PDF)."""
_LOOK_S = 8.0
"""For reading files that are not indexed."""
_PATTERN_S = 10.0
"""A pattern that backtracks for longer is ended together with its process."""
_EMBED_S = 10.0
"""How long a question waits for vectors of what changed."""
_MOST_SEMANTIC = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a search by text and meaning gave."""

    found: Found
    semantic: tuple[Match, ...] = ()
    fused: tuple[Match, ...] = ()
    """Both, joined by reciprocal rank; a part found both ways is there once, with its line."""
    is_semantic_available: bool = False
    semantic_note: Message | None = None
    """Why there is no search by meaning, or what it does not cover yet."""


class SearchProject:
    """The searches of all projects."""

    def __init__(
        self,
        *,
        index: Callable[[Path], ProjectIndex],
        cpu: CpuTaskExecutor,
        embedder: Callable[[], Embedder | None] = lambda: None,
    ) -> None:
        """`embedder` gives None when none is set up; it may raise CircuitAIError, which is told."""
        self._index = index
        self._cpu = cpu
        self._make_embedder = embedder
        self._embedder: Embedder | None = None
        self._settings = 0
        """How often they were changed."""
        self._left: list[Embedder] = []
        """Those used before: closed with all at the end, as somebody may still wait for one."""
        self._making = asyncio.Lock()
        self._embedding: dict[Path, asyncio.Lock] = {}

    async def __call__(self, root: Path, query: SearchQuery) -> Answer:
        """Search by text and, where that is set up, by meaning. Raises CircuitError ("search_too_slow")."""
        state = await self._update(root, _UPDATE_S)
        if query.pattern is not None:
            found = await self._find(root, query, state)
            return Answer(
                found=found,
                fused=found.matches,
                semantic_note=msg("A regular expression cannot be searched by meaning."),
            )
        exact = asyncio.create_task(self._find(root, query, state), name="search by text")
        try:
            semantic, note = await self._by_meaning(root, query)
            found = await exact
        finally:
            exact.cancel()
            await asyncio.gather(exact, return_exceptions=True)
        return Answer(
            found=found,
            semantic=semantic or (),
            fused=_fused(found.matches, semantic or ())[: query.most],
            is_semantic_available=semantic is not None,
            semantic_note=note,
        )

    async def exact(self, root: Path, query: SearchQuery, *, is_fresh: bool = False) -> Found:
        """Search by text only. With `is_fresh` the index is taken as it is: somebody keeps it up to date.

        Raises CircuitError ("search_too_slow") for a pattern that does not end.
        """
        state = IndexState() if is_fresh else await self._update(root, _UPDATE_S)
        return await self._find(root, query, state)

    async def passages(self, root: Path, terms: Sequence[Term], *, limit_s: float) -> list[Passage]:
        """The pieces of the project's texts that answer a sentence with these terms, the best first.

        In a thread, not in a worker process, which may still have to be started: `limit_s` is short.
        """
        index = self._index(root)

        def look() -> Passages:
            state = index.update(limit_s)
            return index.passages(terms, state.pending, limit_s)

        found = await asyncio.to_thread(look)
        return rank(found.found, terms, counts=found.counts, total=found.total)

    async def refresh(self, root: Path, *, goes_on: Callable[[], bool] = lambda: True) -> IndexState:
        """Bring index and vectors up to date, however long it takes; for the background.

        `goes_on` is asked between two pieces of the work.
        """
        state = await self._update(root, _SLICE_S)
        while state.pending and not state.problem and goes_on():
            state = await self._update(root, _SLICE_S)
        try:
            embedder = await self._ready_embedder()
            if embedder is not None and not state.problem:
                await self._embed_parts(root, embedder, goes_on=goes_on)
        except CircuitAIError as error:
            _logger.info("no vectors for %s: %s", root, error.message)
        return state

    async def close(self) -> None:
        """Close the connection to the server of vectors."""
        self.forget_embedder()
        while self._left:
            await self._left.pop().close()

    def forget_embedder(self) -> None:
        """Another one is to be used from now on; requests that are under way come to their end."""
        self._settings += 1
        if self._embedder is not None:
            self._left.append(self._embedder)
            self._embedder = None

    async def _update(self, root: Path, limit_s: float) -> IndexState:
        index = self._index(root)
        try:
            async with asyncio.timeout(limit_s + _HANGING_S) as limit:
                return await self._cpu.run(index.update, limit_s)
        except TimeoutError:
            if not limit.expired():
                raise
        try:
            async with asyncio.timeout(_HANGING_S) as limit:
                return await self._cpu.run(index.update, 0.0)  # what is pending, without reading it
        except TimeoutError:
            if not limit.expired():
                raise
            raise CircuitError(
                msg("Scanning the project's files was ended after {seconds} s.",
                    seconds=f"{_HANGING_S:g}"),
                advice=msg("List folders that need not be searched in .circuitaiignore; a network disk "
                           "may not be responding."),
                error_type="search_too_slow",
            ) from None  # fmt: skip

    async def _find(self, root: Path, query: SearchQuery, state: IndexState) -> Found:
        index = self._index(root)
        try:
            async with asyncio.timeout(None if query.pattern is None else _PATTERN_S) as limit:
                found = await self._cpu.run(index.find, query, state.pending, _LOOK_S)
        except TimeoutError:
            if not limit.expired():
                raise
            raise CircuitError(
                msg("The search was ended after {seconds} s: the regular expression takes too long.",
                    seconds=f"{_PATTERN_S:g}"),
                advice=msg("Use a simpler pattern without repeated groups, or plain text."),
                error_type="search_too_slow",
            ) from None  # fmt: skip
        skipped = dict(state.skipped)
        for reason, count in found.skipped.items():
            skipped[reason] = skipped.get(reason, 0) + count
        return Found(
            matches=found.matches,
            total=found.total,
            is_total_exact=found.is_total_exact,
            files=found.files,
            skipped=skipped,
            waiting=found.waiting,
        )

    # By meaning

    async def _ready_embedder(self) -> Embedder | None:
        async with self._making:
            while self._embedder is None:
                settings = self._settings
                made = await asyncio.to_thread(self._make_embedder)  # a keyring may take its time
                if settings == self._settings:
                    self._embedder = made
                    return made
                if made is not None:  # it was made for settings of before
                    self._left.append(made)
            return self._embedder

    async def _by_meaning(
        self, root: Path, query: SearchQuery
    ) -> tuple[tuple[Match, ...] | None, Message | None]:
        """The nearest parts, or None and why there are none."""
        try:
            embedder = await self._ready_embedder()
            if embedder is None:
                return None, msg("Search by meaning is not set up.")
            missing, parts, is_complete = await self._embed_parts(root, embedder, limit_s=_EMBED_S)
            if not parts:
                return None, msg("There is nothing to search by meaning.")
            if not is_complete:
                return None, msg(
                    "The index for search by meaning is being built: {done} of {all} {all:passage|passages}.",
                    done=parts - missing,
                    all=parts,
                )
            vectors = await embedder.embed([query.text])
        except CircuitAIError as error:
            return None, error.message
        near = await self._cpu.run(
            self._index(root).nearest, embedder.model, vectors[0], query.scope, _MOST_SEMANTIC
        )
        if near is None:
            return None, msg("The embedding model has changed; its vectors are being rebuilt.")
        note = (
            msg("{count} changed {count:passage has|passages have} no vector yet.", count=missing)
            if missing
            else None
        )
        return near, note

    async def _embed_parts(
        self,
        root: Path,
        embedder: Embedder,
        *,
        limit_s: float | None = None,
        goes_on: Callable[[], bool] = lambda: True,
    ) -> tuple[int, int, bool]:
        """Embed what has no vector yet: how many are missing then, of how many, and whether all had one once.

        Raises ProviderError.
        """
        index, clock = self._index(root), asyncio.get_running_loop().time
        end = None if limit_s is None else clock() + limit_s
        async with self._embedding.setdefault(root, asyncio.Lock()):
            while True:
                state, texts = await self._cpu.run(
                    index.texts_without_vector, embedder.model, embedder.batch_size
                )
                if not texts or not goes_on() or (end is not None and clock() >= end):
                    return state.missing, state.parts, state.is_complete_once
                vectors = await embedder.embed([text for _, text in texts])
                keyed = [(key, vector) for (key, _), vector in zip(texts, vectors, strict=True)]
                await self._cpu.run(index.keep_vectors, embedder.model, keyed)


def _fused(exact: tuple[Match, ...], semantic: tuple[Match, ...]) -> tuple[Match, ...]:
    """Both rankings as one. Lines of a part that is near in meaning too gain from that, and stand for it."""
    rank_of_part = {match.part: rank for rank, match in enumerate(semantic)}
    covered = {match.part for match in exact if match.part in rank_of_part}
    alone = [match for match in semantic if match.part not in covered]
    by_meaning = sorted(
        (*(match for match in exact if match.part in covered), *alone),
        key=lambda match: rank_of_part[match.part],
    )
    return tuple(match for match in reciprocal_rank_fusion([exact, by_meaning]) if isinstance(match, Match))
