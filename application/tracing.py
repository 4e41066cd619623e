"""Reading the traces a project has kept: what a turn did, how long it took, what it cost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from application.ports.tracing import KeptSpan, TraceStore
from shared.errors import UserInputError
from shared.message import msg
from shared.paths import PROJECT_FOLDER, TRACES_FILE, is_project

TraceFormat = Literal["otlp", "json"]


class ReadTraces:
    """The traces of a project; nothing is written, and no project is opened for it."""

    def __init__(self, store: TraceStore) -> None:
        self._store = store

    async def turns(self, project: Path, *, session_id: str = "") -> Sequence[KeptSpan]:
        """The kept turns, newest first. Raises UserInputError when there is no project."""
        return await asyncio.to_thread(lambda: self._store.turns(_database(project), session_id=session_id))

    async def spans(self, project: Path, trace: str) -> Sequence[KeptSpan]:
        """A trace's spans in the order they began; `trace` is its id, the beginning of it, or "last".

        Raises UserInputError when no trace, or more than one, is meant.
        """
        turns = await self.turns(project)
        wanted = trace.lower()
        found = (
            turns[:1] if wanted == "last" else [turn for turn in turns if turn.trace_id.startswith(wanted)]
        )
        if len(found) != 1:
            raise UserInputError(
                msg("There is no trace {trace} in {project}.", trace=trace, project=project)
                if not found
                else msg("{count} traces begin with {trace}.", count=len(found), trace=trace),
                advice=msg('`traces list` shows them; "last" is the latest.'),
                error_type="no_trace",
            )
        return await asyncio.to_thread(lambda: self._store.spans(_database(project), found[0].trace_id))

    async def export(self, project: Path, trace: str, kind: TraceFormat) -> str:
        """A trace as a document for other tools: OTLP/JSON, or plain JSON of our own fields."""
        spans = await self.spans(project, trace)
        if kind == "otlp":
            return await asyncio.to_thread(self._store.otlp, spans)
        return json.dumps([plain_span(span) for span in spans], ensure_ascii=False, indent=1)


def plain_span(span: KeptSpan) -> dict[str, object]:
    """A span in plain JSON types; times in seconds since 1970."""
    return {
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "parent_id": span.parent_id or None,
        "session_id": span.session_id,
        "name": span.name,
        "started": span.started_ns / 1e9,
        "seconds": span.seconds,
        "status": span.status or "unfinished",
        "error_type": span.error_type or None,
        "attributes": dict(span.attributes),
    }


def _database(project: Path) -> Path:
    if not is_project(project):
        raise UserInputError(
            msg("{path} is not a project.", path=project),
            advice=msg("Traces are recorded for chats and designs; there have been none here."),
            error_type="no_project",
        )
    return project / PROJECT_FOLDER / TRACES_FILE
