"""What a tool gets beside its arguments: its project, session, and the services it may use."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from application.checking import CheckCircuit
    from application.measuring import MeasureResult
    from application.ports import ProjectFiles, ResultStore, SourceReaders
    from application.simulating import RunSimulation
    from application.tool_execution.operations import Operations


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServices:
    """The use cases tools are thin callers of."""

    sources: SourceReaders
    check: CheckCircuit
    simulate: RunSimulation
    measure: MeasureResult
    results: ResultStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """One project and one session, for all calls of a run."""

    project: ProjectFiles
    session_id: str
    operations: Operations
    services: ToolServices
    seen_versions: MutableMapping[str, str] = field(default_factory=dict)
    """Relative path -> version hash of what the model saw last; shared by all calls of the session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call as accepted from a model (or the command line), under our own id."""

    call_id: str
    """Our own ULID: the key of its operation, its result and its place in the transcript."""
    name: str
    arguments: Mapping[str, object]
    provider_id: str = ""
    problem: str = ""
    """Why the arguments could not be read (English, for the model); "" when they could."""
