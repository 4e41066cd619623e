"""What a kind of study works from, and what does its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from application.studies.plan import Point, StudyPlan
from domain.simulation.goals import DesignGoal
from domain.studies.study import StudyRow
from domain.studies.study_spec import StudySpec


class Runs(Protocol):
    """Simulates points."""

    async def do(self, points: Sequence[Point]) -> list[StudyRow]:
        """The rows of the points, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyInput:
    """What a kind of study works from."""

    spec: StudySpec
    plan: StudyPlan
    goals: tuple[DesignGoal, ...]
    metrics: tuple[str, ...]
