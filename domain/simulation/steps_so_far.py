"""How far a stepped circuit is: its runs are simulated one after the other, or a few at once."""

from __future__ import annotations

from dataclasses import dataclass

_LEAST_SHARE = 0.02
"""Of all steps that has to be done before it is told how long the rest takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsSoFar:
    """A moment of it."""

    done: int
    count: int
    elapsed_s: float
    """Since the first step began, pauses left out."""
    share: float
    """0..1 of all steps, with the part of those that run as far as it is known."""

    @property
    def number(self) -> int:
        """The step that is simulated, from 1: the first that is not through."""
        return min(self.done + 1, self.count)

    @property
    def left_s(self) -> float | None:
        """How long the rest takes at the pace so far; None while nothing can be told."""
        if self.share < _LEAST_SHARE or self.done >= self.count:
            return None
        return self.elapsed_s * (1.0 / self.share - 1.0)
