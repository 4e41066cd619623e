"""What tracing needs from the outside: spans of a turn while it runs, and those that were kept."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SpanValue = str | int | float | bool

ERROR_TYPE = "error.type"
"""OpenTelemetry's own name (semantic conventions, attributes of errors)."""


class Span(Protocol):
    """A stretch of a turn under way: a node, the loop, one model call, one tool call.

    Attributes are names, numbers and sizes, never what somebody wrote: a trace may be handed on.
    """

    def child(self, name: str, **attributes: SpanValue) -> AbstractContextManager[Span]:
        """A span inside this one. An exception that leaves it is noted by its kind and goes on."""

    def note(self, **attributes: SpanValue) -> None:
        """Add attributes. Two underscores in a name stand for a dot (`gen_ai__request__model`)."""

    def fail(self, error_type: str) -> None:
        """It ended with an error of this kind."""


class TurnTracer(Protocol):
    """Keeps the spans of turns."""

    def turn(
        self, database: Path, *, turn_id: str, session_id: str, name: str
    ) -> AbstractAsyncContextManager[Span]:
        """The span of a whole turn; what is inside is kept on leaving at the latest.

        A turn that is taken up goes on with the trace it had: its id comes from the turn's ULID. A trace
        that cannot be kept (a full or read-only disk) is logged and never disturbs the turn.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSpan:
    """A span as it was kept. Times in nanoseconds since 1970."""

    trace_id: str
    """32 hexadecimal digits."""
    span_id: str
    """16 hexadecimal digits."""
    parent_id: str
    """Empty for a turn."""
    session_id: str
    name: str
    started_ns: int
    ended_ns: int | None
    """None: it has not ended, or was broken off by the end of the program."""
    status: str
    """"ok", "error", or "" while it has not ended."""
    error_type: str = ""
    attributes: Mapping[str, SpanValue] = field(default_factory=dict)

    @property
    def seconds(self) -> float | None:
        """How long it took; None while it has not ended."""
        return None if self.ended_ns is None else (self.ended_ns - self.started_ns) / 1e9


class TraceStore(Protocol):
    """The kept traces of a project. Blocking: not for the loop's thread."""

    def turns(self, database: Path, *, session_id: str = "") -> Sequence[KeptSpan]:
        """The spans of whole turns, newest first; () without a database. Raises EnvironmentProblem."""

    def spans(self, database: Path, trace_id: str) -> Sequence[KeptSpan]:
        """All spans of a trace in the order they began. Raises EnvironmentProblem."""

    def otlp(self, spans: Sequence[KeptSpan]) -> str:
        """The spans as OTLP/JSON (opentelemetry.io/docs/specs/otlp, JSON Protobuf encoding)."""
