"""Goals of a study: bounds on its metrics, as objects or as short texts.

A text is a comparison (``bw >= 1Meg``, ``1Meg <= bw``), two of them (``970 <= fc <= 1030``), a range
(``fc in [970, 1030]``, ``fc between 970 and 1030``, ``fc = 970..1030``) or a target with how close is close
enough (``fc = 1k +- 3%``, ``fc = 1k +- 30``); comparisons may be joined by "and". Numbers are SPICE's, with
a unit behind a blank too; only ``MHz`` and ``MOhm`` are what everybody means by them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from domain.simulation.goals import DesignGoal
from domain.studies.spec_reader import SpecReader, read_fraction, read_number, shown, spec_error
from shared.message import msg

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?:\s*[a-zA-Zµμ°Ω/%]+)?"
_SIGN = "(?:>=|<=|>|<)"
_LEFT = re.compile(rf"({_NUMBER})\s*({_SIGN})\s*(.+)", re.DOTALL | re.IGNORECASE)
_RIGHT = re.compile(rf"(.+?)\s*({_SIGN})\s*({_NUMBER})", re.DOTALL | re.IGNORECASE)
_WITHIN = re.compile(
    rf"(?P<metric>[^<>]+?)\s*(?:=|:|\b(?:in|within|from|between|is)\b)\s*[\[(]?\s*(?P<low>{_NUMBER})\s*"
    rf"(?:,|;|\.\.+|~|\bto\b|\band\b|(?<![\d.]e)-(?=\s*[\d.]))\s*(?P<high>{_NUMBER})\s*[\])]?",
    re.DOTALL | re.IGNORECASE,
)
_AROUND = re.compile(
    rf"(?P<metric>.+?)\s*(?:==?|:|~=|≈)\s*(?P<target>{_NUMBER})\s*(?:±|\+/-|\+-)\s*(?P<tolerance>{_NUMBER})",
    re.DOTALL | re.IGNORECASE,
)
_JOINED = re.compile(r"\s*(?:\band\b|&&|;|；|，|且)\s*", re.IGNORECASE)
_COMPARISON = re.compile("[<>≥≤⩾⩽＞＜]")
_MEGA = re.compile(r"(?P<number>.*?)\s*M(?=(?:Hz|Ohms?|Ω)$)")
_SIGNS = {
    "≥": ">=",
    "≤": "<=",
    "=>": ">=",
    "=<": "<=",
    "⩾": ">=",
    "⩽": "<=",
    "＞": ">",
    "＜": "<",
    "−": "-",
    "∈": " in ",
}
_LOWER, _UPPER = (">=", ">", "min", "minimum", "lower"), ("<=", "<", "max", "maximum", "upper")
_RANGE = ("range", "between", "bounds", "limits")


def read_goals(reader: SpecReader) -> tuple[DesignGoal, ...]:
    """The goals under ``goals``: a list of ``{"metric": "bw", ">=": 1e6}`` or ``"bw >= 1Meg"``, or an object
    of bounds by metric. The expressions are filled in by `bound_goals`. Raises UserInputError."""
    key, node = reader.take("goals")
    if node is None:
        return ()
    items: Iterator[tuple[str, Any]]
    if isinstance(node, dict):
        items = ((f"{reader.at(key)}.{name}", _named(str(name), value, f"{reader.at(key)}.{name}"))
                 for name, value in node.items())  # fmt: skip
        if any(reserved in node for reserved in ("metric", *_LOWER, *_UPPER)):
            items = iter([(reader.at(key), node)])  # one goal by itself
    elif isinstance(node, str):
        items = iter([(reader.at(key), node)])
    elif isinstance(node, list):
        items = ((f"{reader.at(key)}[{number}]", item) for number, item in enumerate(node))
    else:
        raise spec_error(reader.at(key), msg("must be a list of goals"))
    return tuple(read_goal(part, place) for place, item in items for part in _parts(item))


def _parts(item: Any) -> tuple[Any, ...]:
    """The goals of a text that joins several comparisons (``fc > 1k and fc < 2k``); of all else itself."""
    if not isinstance(item, str):
        return (item,)
    parts = _JOINED.split(item)
    return tuple(parts) if all(_COMPARISON.search(part) for part in parts) else (item,)


def read_goal(node: object, place: str) -> DesignGoal:
    """One goal. Raises UserInputError."""
    if isinstance(node, str):
        return _short_goal(node, place)
    reader = SpecReader(node, place)
    metric = reader.text("metric", "name")
    if metric is None:
        raise spec_error(reader.at("metric"), msg("is missing: it names the measurement"))
    minimum, maximum = reader.number(*_LOWER), reader.number(*_UPPER)
    if ends := reader.numbers(*_RANGE):
        if len(ends) != 2 or minimum is not None or maximum is not None:
            raise spec_error(reader.at("range"), msg("must be the lower and the upper bound only"))
        minimum, maximum = ends
    target, tolerance = reader.number("target", "="), reader.fraction("tolerance")
    weight = reader.choice("weight", ("must", "wish")) or "must"
    unit = reader.text("unit") or ""
    reader.finish()
    if target is not None:
        if tolerance is None and minimum is None and maximum is None:
            raise spec_error(
                reader.at("tolerance"), msg("is missing: it says how close to the target is close enough")
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
    plain = text.strip()
    for written, sign in _SIGNS.items():
        plain = plain.replace(written, sign)
    if match := _AROUND.fullmatch(plain):
        return _around(match, place)
    if match := _WITHIN.fullmatch(plain):
        low, high = _bound(match["low"], place), _bound(match["high"], place)
        return _goal(match["metric"], low, high, place)
    bounds: dict[str, float] = {}
    metric = plain
    if match := _LEFT.fullmatch(metric):
        metric = match[3].strip()
        bounds["max" if match[2].startswith(">") else "min"] = _bound(match[1], place)
    if match := _RIGHT.fullmatch(metric):
        side = "min" if match[2].startswith(">") else "max"
        if side in bounds:
            raise spec_error(place, msg("bounds {metric} twice from one side", metric=match[1].strip()))
        metric = match[1].strip()
        bounds[side] = _bound(match[3], place)
    if not bounds or re.search(r"[<>=]", metric):
        raise spec_error(
            place,
            msg("must be a goal such as {example}, not {value}",
                example="bw >= 1Meg, 970 <= fc <= 1030, fc = 1k +- 3%", value=shown(text)),
        )  # fmt: skip
    return _goal(metric, bounds.get("min"), bounds.get("max"), place)


def _around(match: re.Match[str], place: str) -> DesignGoal:
    target = _bound(match["target"], place)
    width = match["tolerance"].strip()
    half = abs(target) * read_fraction(width, place) if width.endswith("%") else abs(_bound(width, place))
    return _goal(match["metric"], target - half, target + half, place, target=target)


def _goal(
    metric: str, minimum: float | None, maximum: float | None, place: str, *, target: float | None = None
) -> DesignGoal:
    if minimum is not None and maximum is not None and maximum < minimum:
        raise spec_error(place, msg("can never be met: its upper bound is below its lower bound"))
    return DesignGoal(
        metric=metric.strip(), expression="", unit="", minimum=minimum, maximum=maximum, target=target
    )


def _bound(text: str, place: str) -> float:
    if match := _MEGA.match(text):
        return read_number(match["number"] + "Meg", place)
    return read_fraction("".join(text.split()), place)


def _named(name: str, value: object, place: str) -> object:
    """The goal of an object of goals by metric: bounds as an object, as two numbers or as a text."""
    if isinstance(value, dict):
        return {"metric": name, **value}
    if isinstance(value, list | tuple) and len(value) == 2:
        return {"metric": name, "range": list(value)}
    if isinstance(value, str) and value.strip():
        text = value.strip()
        return f"{name} {text}" if text[0] in "<>=≥≤＞＜⩾⩽~≈" else f"{name} = {text}"
    raise spec_error(place, msg('must be an object with ">=" or "<=", two bounds, or text such as ">= 1k"'))


def goal_name(goal: DesignGoal) -> str:
    """``bw >= 1e+06``: what its yield is kept under, as a metric may have several goals."""
    bounds = [f">= {goal.minimum:g}"] if goal.minimum is not None else []
    bounds += [f"<= {goal.maximum:g}"] if goal.maximum is not None else []
    return " ".join([goal.metric, ", ".join(bounds)])
