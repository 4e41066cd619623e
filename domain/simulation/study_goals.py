"""Goals of a study: bounds on its metrics, as objects or as short texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from domain.design.goals import DesignGoal
from domain.simulation.spec_reader import SpecReader, read_number, spec_error
from shared.message import msg

_SHORT = re.compile(r"(?P<metric>.+?)\s*(?P<sign>>=|<=|>|<)\s*(?P<bound>\S+)", re.DOTALL)
_LOWER, _UPPER = (">=", ">", "min"), ("<=", "<", "max")


def read_goals(reader: SpecReader) -> tuple[DesignGoal, ...]:
    """The goals under ``goals``: a list of ``{"metric": "bw", ">=": 1e6}`` or ``"bw >= 1Meg"``, or an object
    of bounds by metric. The expressions are filled in by `bound_goals`. Raises UserInputError."""
    key, node = reader.take("goals")
    if node is None:
        return ()
    items: Iterator[tuple[str, Any]]
    if isinstance(node, dict):
        items = ((f"{reader.at(key)}.{name}", {"metric": name, **_object(value, f"{key}.{name}")})
                 for name, value in node.items())  # fmt: skip
    elif isinstance(node, list):
        items = ((f"{reader.at(key)}[{number}]", item) for number, item in enumerate(node))
    else:
        raise spec_error(reader.at(key), msg("should be a list of goals"))
    return tuple(read_goal(item, place) for place, item in items)


def read_goal(node: object, place: str) -> DesignGoal:
    """One goal. Raises UserInputError."""
    if isinstance(node, str):
        return _short_goal(node, place)
    reader = SpecReader(node, place)
    metric = reader.text("metric", "name")
    if metric is None:
        raise spec_error(reader.at("metric"), msg("is missing: which measurement is meant"))
    minimum, maximum = reader.number(*_LOWER), reader.number(*_UPPER)
    target, tolerance = reader.number("target", "="), reader.fraction("tolerance")
    weight = reader.choice("weight", ("must", "wish")) or "must"
    unit = reader.text("unit") or ""
    reader.finish()
    if target is not None:
        if tolerance is None and minimum is None and maximum is None:
            raise spec_error(
                reader.at("tolerance"), msg("is missing: how close to the target is close enough")
            )
        if tolerance is not None:
            minimum, maximum = target - tolerance * abs(target), target + tolerance * abs(target)
    if minimum is None and maximum is None:
        raise spec_error(place, msg("has no bound"), advice=msg('Give ">=", "<=" or both.'))
    if minimum is not None and maximum is not None and maximum < minimum:
        raise spec_error(place, msg("can never be met: its upper bound is below its lower bound"))
    return DesignGoal(
        metric=metric,
        expression="",
        unit=unit,
        minimum=minimum,
        maximum=maximum,
        target=target,
        weight="wish" if weight == "wish" else "must",
    )


def _short_goal(text: str, place: str) -> DesignGoal:
    match = _SHORT.fullmatch(text.strip())
    if match is None:
        raise spec_error(
            place,
            msg("should be a goal such as {example}, not {value}", example="bw >= 1Meg", value=text),
        )
    bound = read_number(match["bound"], place)
    is_lower = match["sign"].startswith(">")
    return DesignGoal(
        metric=match["metric"],
        expression="",
        unit="",
        minimum=bound if is_lower else None,
        maximum=None if is_lower else bound,
    )


def _object(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise spec_error(place, msg('should be an object with ">=" or "<="'))
    return value
