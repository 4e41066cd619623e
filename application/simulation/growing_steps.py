"""The data of a stepped circuit that is under way: the steps that are through, and those that grow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from application.ports.simulation import Growth

if TYPE_CHECKING:
    from application.ports.simulation import GrowingData
    from domain.circuit.stepping import StepPoint
    from domain.simulation.steps_so_far import StepsSoFar
    from domain.simulation.waveform import Step


class GrowingSteps:
    """Implements application.ports.simulation.GrowingData. What a step that is through has is read once."""

    def __init__(self, points: Sequence[StepPoint], so_far: Callable[[], StepsSoFar]) -> None:
        from domain.simulation.waveform import Step  # it needs numpy

        self._so_far = so_far
        self._steps: list[Step] = [
            Step(number=number, count=len(points), values=values_of(point), place=place)
            for number, (point, place) in enumerate(zip(points, _places(points), strict=True), start=1)
        ]
        self._growing: dict[int, GrowingData] = {}
        self._through: set[int] = set()
        self._whole: dict[int, Growth] = {}

    def add(self, number: int, data: GrowingData) -> None:
        """A step (from 1) has begun."""
        self._growing[number] = data

    def end(self, number: int) -> None:
        """Nothing more comes from a step."""
        self._through.add(number)

    @property
    def ends(self) -> Mapping[str, tuple[float, float]]:
        first = next(iter(self._growing.values()), None)
        return {} if first is None else first.ends

    def read(self) -> Growth:
        found: dict[int, Growth] = {}
        running: Growth | None = None
        for number, data in sorted(self._growing.items()):
            is_through = number in self._through  # asked before: what came in between is read the next time
            growth = self._whole.get(number)
            if growth is None:
                growth = data.read()
                if is_through:
                    self._whole[number] = growth
            found[number] = growth
            if not is_through and running is None and growth.plots:
                running = growth
        plots = [
            replace(plot, step=self._steps[number - 1])
            for number, growth in found.items()
            for plot in growth.plots
        ]
        return Growth(
            plots=tuple(plots),
            stride=max((growth.stride for growth in found.values()), default=1),
            reach=None if running is None else running.reach,
            rows=sum(growth.rows for growth in found.values()),
            steps=self._so_far(),
        )


def values_of(point: StepPoint) -> dict[str, float]:
    """The values of a step by the names of what is stepped."""
    return {axis.name: value for axis, value in point.values}


def _places(points: Sequence[StepPoint]) -> list[float]:
    """Of each step where its values stand among those of all, from the least to the greatest: 0 to 1."""
    ordered = sorted(range(len(points)), key=lambda at: (*(value for _, value in points[at].values), at))
    place = {at: rank / max(len(points) - 1, 1) for rank, at in enumerate(ordered)}
    return [place[at] for at in range(len(points))]
