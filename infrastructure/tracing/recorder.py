"""Spans of a turn by OpenTelemetry's SDK, which sends them nowhere but to the project's own file.

Span parents are handed on by name, not by the SDK's context variable: nodes and tools of a turn run in
tasks and generators whose contexts are not nested.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import traceback
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from application.ports.tracing import KeptSpan, SpanValue
from infrastructure.tracing.store import SpanWriter
from shared.errors import CircuitAIError
from shared.redaction import redact
from shared.ulid import number_of
from shared.uninterrupted import uninterrupted

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer

_LONGEST_TEXT = 200
_FRAMES_KEPT = 8
ERROR_TYPE = "error.type"
"""OpenTelemetry's own name (semantic conventions, attributes of errors)."""


class TurnSpans:
    """Implements application.ports.tracing.TurnTracer."""

    @asynccontextmanager
    async def turn(
        self, database: Path, *, turn_id: str, session_id: str, name: str
    ) -> AsyncIterator[TurnSpan]:
        """See the port."""
        writer = SpanWriter(database)
        try:
            # 0.2 s the first time, and nobody waits for it.
            tracer = await asyncio.to_thread(_tracer, writer, turn_id, session_id)
            with TurnSpan(tracer, None).child(name, session_id=session_id, turn_id=turn_id) as span:
                yield span
        finally:
            await uninterrupted(asyncio.to_thread(writer.close))


class TurnSpan:
    """Implements application.ports.tracing.Span."""

    def __init__(self, tracer: Tracer, span: OtelSpan | None) -> None:
        self._tracer = tracer
        self._span = span

    @contextmanager
    def child(self, name: str, **attributes: SpanValue) -> Iterator[TurnSpan]:
        """See the port."""
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
        """See the port."""
        if self._span is not None:
            self._span.set_attributes(_plain(attributes))

    def fail(self, error_type: str) -> None:
        """See the port."""
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
