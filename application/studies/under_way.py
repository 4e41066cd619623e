"""What a study has found while its runs go on, as a stored one: seldom enough to be cheap."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from application.studies.reading import StoredRow, StoredStudy, arranged
from domain.simulation.goals import DesignGoal
from domain.studies.study import StudyRow
from shared.uninterrupted import off_loop

_EVERY_S = 0.4
_KEPT_FIRST_S = 0.5
_KEPT_EVERY_S = 2.0
_SHARE = 20.0
"""A look that takes long is followed by so many times its length without one: a twentieth of the study."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watcher:
    """Who looks at a study under way."""

    looks: Callable[[], bool]
    """Whether anybody sees it now; nothing is done for nobody."""
    show: Callable[[StoredStudy], None]
    """Called on the loop with what came so far."""


class KeptSoFar:
    """Keeps runs as they come, for the case that the process is killed."""

    def __init__(self, keep: Callable[[], object]) -> None:
        """`keep` is called off the loop, while no row is added."""
        self._keep = keep
        self._next = time.monotonic() + _KEPT_FIRST_S

    async def __call__(self) -> None:
        """Keep them, when it is time."""
        started = time.monotonic()
        if started < self._next:
            return
        await off_loop(self._keep)
        now = time.monotonic()
        self._next = now + max(_KEPT_EVERY_S, _SHARE * (now - started))


class Found(Protocol):
    """What a study or a search has, at its end or on its way."""

    @property
    def result_path(self) -> Path: ...

    @property
    def circuit(self) -> Path: ...

    @property
    def created(self) -> str: ...

    @property
    def netlist_sha256(self) -> str: ...

    @property
    def parameters(self) -> tuple[str, ...]: ...

    @property
    def units(self) -> Mapping[str, str]: ...

    @property
    def goals(self) -> tuple[DesignGoal, ...]: ...

    @property
    def rows(self) -> tuple[StudyRow, ...]: ...


class Glances:
    """Looks at runs as they come, and tells the watcher."""

    def __init__(self, watcher: Watcher | None, look: Callable[[], StoredStudy]) -> None:
        """`look` is called off the loop, while no row is added."""
        self._watcher = watcher
        self._look = look
        self._next = 0.0

    async def __call__(self) -> None:
        """Look, when it is time and somebody sees it."""
        started = time.monotonic()
        if self._watcher is None or started < self._next or not self._watcher.looks():
            return
        found = await off_loop(self._look)
        self._watcher.show(found)
        now = time.monotonic()
        self._next = now + max(_EVERY_S, _SHARE * (now - started))


def so_far(found: Found, kind: str, document: Mapping[str, Any]) -> StoredStudy:
    """What is there, in the form of a stored study; `document` is what would be stored. Blocking: sorts."""
    return arranged(
        StoredStudy(
            path=found.result_path,
            kind=kind,
            circuit=found.circuit,
            created=found.created,
            is_stopped=False,
            is_under_way=True,
            is_ours=True,
            netlist_sha256=found.netlist_sha256,
            parameters=found.parameters,
            units=found.units,
            goals=found.goals,
            rows=_rows(found.rows),
            document=document,
        )
    )


def _rows(rows: Sequence[StudyRow]) -> tuple[StoredRow, ...]:
    return tuple(
        StoredRow(
            run=row.run,
            corner=row.corner or "",
            label=row.label,
            parameters=row.parameters,
            metrics=row.metrics,
            is_ok=row.state == "ok",
            goals_met=row.goals_met,
            reason=str(row.reason or ""),
        )
        for row in rows
    )
