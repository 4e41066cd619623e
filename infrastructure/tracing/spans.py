"""``traces.sqlite``: a row a span, written when it begins and again when it ends.

So a turn that was killed shows what it was doing. One thread writes, with ``synchronous=OFF``: a trace
may lose its last moments with the power, the transcript may not.

The spans are OpenTelemetry's, whose SDK sends them nowhere but here. Their parents are handed on by name, not
by the SDK's context variable: nodes and tools of a turn run in tasks and generators whose contexts are not
nested.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import math
import queue
import random
import re
import sqlite3
import threading
import time
import traceback
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from application.ports.tracing import ERROR_TYPE, KeptSpan, SpanValue
from infrastructure.persistence.confined import InTheWay
from infrastructure.persistence.databases import (
    TRACES,
    check_files,
    check_kind,
    connect_for_reading,
    mark,
)
from shared.errors import CircuitAIError, EnvironmentProblem
from shared.message import msg
from shared.redaction import redact
from shared.safe_json import read_bounded
from shared.ulid import number_of
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer

_logger = logging.getLogger(__name__)

MOST_BYTES = 20 * 1024 * 1024
"""Of the file; the oldest traces go when there is more."""
KEPT_S = 30 * 24 * 3600.0
_BUSY_S = 5.0
_GATHERED_S = 0.03
"""What a killed program may lose of its trace. A commit for each span costs a turn more than the spans do."""
_NEVER_NS = 2**63
"""Of times and numbers: what OTLP has room for."""
_SCHEMA_VERSION = 1

_CREATE = (
    """CREATE TABLE IF NOT EXISTS spans (
        span_id TEXT PRIMARY KEY,
        trace_id TEXT NOT NULL,
        parent_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        name TEXT NOT NULL,
        started_ns INTEGER NOT NULL,
        ended_ns INTEGER,
        status TEXT NOT NULL,
        error_type TEXT NOT NULL,
        attributes TEXT NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS spans_by_trace ON spans (trace_id, started_ns)",
    "CREATE INDEX IF NOT EXISTS turns ON spans (started_ns) WHERE parent_id = ''",
)
_COLUMNS = (
    "trace_id, span_id, parent_id, session_id, name, started_ns, ended_ns, status, error_type, attributes"
)
# A turn that is taken up has the span it had: begun when it first began.
_WRITE = f"""INSERT INTO spans ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (span_id) DO UPDATE SET ended_ns = excluded.ended_ns, status = excluded.status,
    error_type = excluded.error_type, attributes = excluded.attributes"""  # noqa: S608 - our names
_SELECT = f"SELECT {_COLUMNS} FROM spans"  # noqa: S608 - our names


class SpanWriter:
    """Writes spans from a thread of its own; `write` never waits."""

    def __init__(self, database: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self._database = database
        self._most_bytes = most_bytes
        self._spans: queue.SimpleQueue[KeptSpan | None] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="traces", daemon=True)
        self._thread.start()

    def write(self, span: KeptSpan) -> None:
        """Keep a span, in place of what was kept of it before."""
        self._spans.put(span)

    def close(self) -> None:
        """Wait until everything is written. Blocking."""
        self._closing.set()
        self._spans.put(None)
        self._thread.join()

    def _work(self) -> None:
        try:
            check_files(self._database)
            with contextlib.closing(sqlite3.connect(self._database, timeout=_BUSY_S)) as connection:
                _make(connection, self._database)
                _tidy(connection, self._most_bytes)
                for batch in self._batches():
                    connection.executemany(_WRITE, map(_row, batch))
                    connection.commit()
        except (sqlite3.Error, OSError, EnvironmentProblem) as problem:
            _logger.warning("The trace of this turn is not kept, %s: %s", self._database, problem)

    def _batches(self) -> Iterator[list[KeptSpan]]:
        """What has come within a moment, all at once, of each span the newest, until the end is told."""
        is_over = False
        while not is_over:
            came = [self._spans.get()]
            self._closing.wait(_GATHERED_S)
            while not self._spans.empty():
                came.append(self._spans.get())
            is_over = None in came
            yield list({span.span_id: span for span in came if span is not None}.values())


class SqliteTraces:
    """Implements application.ports.tracing.TraceStore."""

    def turns(self, database: Path, *, session_id: str = "") -> Sequence[KeptSpan]:
        query = f"{_SELECT} WHERE parent_id = '' AND ? IN ('', session_id) ORDER BY started_ns DESC"
        return self._read(database, query, session_id)

    def spans(self, database: Path, trace_id: str) -> Sequence[KeptSpan]:
        query = f"{_SELECT} WHERE trace_id = ? ORDER BY started_ns, parent_id <> '', span_id"
        return self._read(database, query, trace_id)

    def otlp(self, spans: Sequence[KeptSpan]) -> str:
        from infrastructure.tracing.otlp import otlp_json

        return otlp_json(spans)

    def _read(self, database: Path, query: str, *values: str) -> Sequence[KeptSpan]:
        try:
            if not check_files(database):
                return ()
            with contextlib.closing(connect_for_reading(database, TRACES, timeout=_BUSY_S)) as connection:
                connection.row_factory = sqlite3.Row
                return [_span(row) for row in connection.execute(query, values)]
        except InTheWay as problem:
            raise problem.problem() from problem
        except (sqlite3.Error, OSError, ValueError) as problem:
            raise EnvironmentProblem(
                msg("The traces in {path} cannot be read: {problem}.", path=database, problem=problem),
                advice=msg("They are only a record: delete the file, and the next turn starts a new one."),
                error_type="damaged",
            ) from problem


def _make(connection: sqlite3.Connection, database: Path) -> None:
    check_kind(connection, database, TRACES)
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # before the first table, else it has no effect
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > _SCHEMA_VERSION:
        raise sqlite3.DatabaseError(f"it is of a newer version ({version})")
    with connection:
        for statement in _CREATE:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        mark(connection, TRACES)


def _tidy(connection: sqlite3.Connection, most_bytes: int) -> None:
    """Forget old traces, whole ones; of too many the older half."""
    border = time.time_ns() - int(KEPT_S * 1e9)
    with connection:
        _forget(connection, border)
    while _used_bytes(connection) > most_bytes:
        turns = connection.execute("SELECT started_ns FROM spans WHERE parent_id = '' ORDER BY started_ns")
        starts = [start for (start,) in turns]
        if len(starts) < 2:  # the newest stays
            break
        with connection:
            _forget(connection, starts[(len(starts) - 1) // 2] + 1)
    connection.execute("PRAGMA incremental_vacuum").fetchall()


def _forget(connection: sqlite3.Connection, border_ns: int) -> None:
    connection.execute(
        "DELETE FROM spans WHERE trace_id IN "
        "(SELECT trace_id FROM spans WHERE parent_id = '' AND started_ns < ?)",
        (border_ns,),
    )


def _used_bytes(connection: sqlite3.Connection) -> int:
    def pragma(name: str) -> int:
        return int(connection.execute(f"PRAGMA {name}").fetchone()[0])

    return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size")


def _row(span: KeptSpan) -> tuple[object, ...]:
    return (
        span.trace_id,
        span.span_id,
        span.parent_id,
        span.session_id,
        span.name,
        span.started_ns,
        span.ended_ns,
        span.status,
        span.error_type,
        json.dumps(dict(span.attributes), separators=(",", ":")),
    )


def _span(row: sqlite3.Row) -> KeptSpan:
    """Raises ValueError for a row that is none: the file may come with a project."""
    values = dict(row)
    texts = [values[name] for name in ("session_id", "name", "status", "error_type", "attributes")]
    times = [values["started_ns"], *([] if values["ended_ns"] is None else [values["ended_ns"]])]
    ids = [(values["trace_id"], 32), (values["span_id"], 16), (values["parent_id"] or values["span_id"], 16)]
    if not (
        all(isinstance(text, str) for text in texts)
        and all(isinstance(time_ns, int) and 0 <= time_ns < _NEVER_NS for time_ns in times)
        and all(isinstance(each, str) and re.fullmatch(f"[0-9a-f]{{{size}}}", each) for each, size in ids)
    ):
        raise ValueError("a row in it is not a span")
    values["attributes"] = attributes = read_bounded(values["attributes"])
    if not isinstance(attributes, dict) or not all(map(_is_plain, attributes.values())):
        raise ValueError("the attributes of a span in it are damaged")
    return KeptSpan(**values)


def _is_plain(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) < _NEVER_NS
    return isinstance(value, str) or (isinstance(value, float) and math.isfinite(value))


_LONGEST_TEXT = 200
_FRAMES_KEPT = 8


class TurnSpans:
    """Implements application.ports.tracing.TurnTracer."""

    @asynccontextmanager
    async def turn(
        self, database: Path, *, turn_id: str, session_id: str, name: str
    ) -> AsyncIterator[TurnSpan]:
        writer = SpanWriter(database)
        try:
            # 0.2 s the first time, and nobody waits for it.
            tracer = await asyncio.to_thread(_tracer, writer, turn_id, session_id)
            with TurnSpan(tracer, None).child(name, session_id=session_id, turn_id=turn_id) as span:
                yield span
        finally:
            await off_loop(writer.close)


class TurnSpan:
    """Implements application.ports.tracing.Span."""

    def __init__(self, tracer: Tracer, span: OtelSpan | None) -> None:
        self._tracer = tracer
        self._span = span

    @contextmanager
    def child(self, name: str, **attributes: SpanValue) -> Iterator[TurnSpan]:
        from opentelemetry.context import Context
        from opentelemetry.trace import Status, StatusCode, set_span_in_context

        parent = Context() if self._span is None else set_span_in_context(self._span, Context())
        inner = self._tracer.start_span(name, context=parent, attributes=_plain(attributes))
        span = TurnSpan(self._tracer, inner)
        try:
            yield span
        except asyncio.CancelledError:
            span.note(outcome="stopped")
            raise
        except BaseException as error:
            span.note(stack=_stack_of(error))
            span.fail(error.error_type if isinstance(error, CircuitAIError) else type(error).__name__)
            raise
        finally:
            if inner.is_recording() and not _has_failed(inner):
                inner.set_status(Status(StatusCode.OK))
            inner.end()

    def note(self, **attributes: SpanValue) -> None:
        if self._span is not None:
            self._span.set_attributes(_plain(attributes))

    def fail(self, error_type: str) -> None:
        from opentelemetry.trace import Status, StatusCode

        if self._span is not None:
            self._span.set_attribute(ERROR_TYPE, error_type[:_LONGEST_TEXT])
            self._span.set_status(Status(StatusCode.ERROR))


def _tracer(writer: SpanWriter, turn_id: str, session_id: str) -> Tracer:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.id_generator import IdGenerator
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON

    class Ids(IdGenerator):
        """The turn's own trace id, and a first span id that follows from it."""

        def __init__(self) -> None:
            self._trace_id = number_of(turn_id)
            self._is_first = True

        def generate_trace_id(self) -> int:
            return self._trace_id

        def generate_span_id(self) -> int:
            if self._is_first:
                self._is_first = False
                digest = hashlib.sha256(turn_id.encode()).digest()
                return int.from_bytes(digest[:8], "big") or 1
            return random.getrandbits(64) or 1

    class Keeper(SpanProcessor):
        def on_start(self, span: Any, parent_context: Any = None) -> None:  # noqa: ARG002 - the SDK's name
            writer.write(_kept(span, session_id))

        def on_end(self, span: ReadableSpan) -> None:
            writer.write(_kept(span, session_id))

    # Explicit where the environment (OTEL_...) could say otherwise.
    provider = TracerProvider(
        sampler=ALWAYS_ON, resource=Resource({}), shutdown_on_exit=False, id_generator=Ids()
    )
    provider.add_span_processor(Keeper())
    return provider.get_tracer("circuit_design_ai")


def _kept(span: ReadableSpan, session_id: str) -> KeptSpan:
    context = span.get_span_context()
    assert context is not None
    attributes = dict(span.attributes or {})
    status = "" if span.end_time is None else "error" if _has_failed(span) else "ok"
    return KeptSpan(
        trace_id=f"{context.trace_id:032x}",
        span_id=f"{context.span_id:016x}",
        parent_id=f"{span.parent.span_id:016x}" if span.parent is not None else "",
        session_id=session_id,
        name=span.name,
        started_ns=span.start_time or 0,
        ended_ns=span.end_time,
        status=status,
        error_type=str(attributes.pop(ERROR_TYPE, "")),
        attributes=cast("Mapping[str, SpanValue]", attributes),
    )


def _has_failed(span: Any) -> bool:
    from opentelemetry.trace import StatusCode

    return bool(span.status.status_code is StatusCode.ERROR)


def _plain(attributes: Mapping[str, SpanValue]) -> dict[str, SpanValue]:
    return {
        name.replace("__", "."): redact(value)[:_LONGEST_TEXT] if isinstance(value, str) else value
        for name, value in attributes.items()
        if value != ""
    }


def _stack_of(error: BaseException) -> str:
    """Where it came from: modules, lines and functions, but no texts, which could hold anything."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES_KEPT:]
    return " < ".join(
        f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames)
    )
