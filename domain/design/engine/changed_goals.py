"""Goals a person changed, as changes of what a circuit is sized for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from domain.simulation.goals import DesignGoal


def changed(
    before: Sequence[DesignGoal], now: Sequence[DesignGoal]
) -> Iterator[tuple[DesignGoal, DesignGoal]]:
    """(old, new) of each goal that measures the same as before and asks for something else."""
    known = {(goal.metric, goal.expression): goal for goal in before}
    for goal in now:
        old = known.get((goal.metric, goal.expression))
        if old is not None and not old.is_same_demand(goal):
            yield old, goal


def aim_of(goal: DesignGoal) -> float | None:
    """The value to size for: the target, else the middle of the bounds, else the only bound."""
    if goal.target is not None:
        return goal.target
    bounds = [bound for bound in (goal.minimum, goal.maximum) if bound is not None]
    return sum(bounds) / len(bounds) if bounds else None


def tolerance_of(goal: DesignGoal) -> float | None:
    """Half the width of the bounds over their middle; None without two bounds around something."""
    aim = aim_of(goal)
    if goal.minimum is None or goal.maximum is None or not aim:
        return None
    return abs((goal.maximum - goal.minimum) / 2 / aim)


def ratio_of(old: DesignGoal, new: DesignGoal) -> float | None:
    """New aim over old one; None when either is missing, zero or of another sign."""
    before, now = aim_of(old), aim_of(new)
    if not before or not now or before * now < 0:
        return None
    return now / before
