"""Arguments of the tool that simulates a circuit many times."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from application.tool_execution.definition import Arguments, Assignments, Number, Texts, Whole, unlisted
from application.tool_execution.tools.simulation import AnalysisType
from domain.circuit.numbers import parse_number

_LONGEST_RUN_S = 3600
_RANGE_KEYS = ("range", "bounds", "limits", "value")
_RANGE_TEXT = re.compile(r"\s*(?:\.\.+|,|;|~|\bto\b)\s*", re.IGNORECASE)


def _from_json(value: object) -> object:
    """The value of a JSON text of a list or an object; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _objects(value: object) -> object:
    """A list of objects with a name each; also an object of them by name, one object, and JSON text."""
    value = _from_json(value)
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("name"), str):
        return [value]
    return [
        {"name": name, **inner} if isinstance(inner, dict) else {"name": name, "value": inner}
        for name, inner in value.items()
    ]


def _ranged(value: object) -> object:
    """`_objects`, where two numbers in a row are the ends of a range: `{"R1": ["1k", "100k"]}`."""
    found = _objects(value)
    return [_with_range(item) for item in found] if isinstance(found, list) else found


def _with_range(item: object) -> object:
    if not isinstance(item, dict):
        return item
    key = next((key for key in _RANGE_KEYS if isinstance(item.get(key), list | tuple | str)), None)
    ends = _ends(item[key]) if key is not None else None
    if ends is None or any(name in item for name in ("min", "max", "start", "stop", "values")):
        return item
    return {**{name: inner for name, inner in item.items() if name != key}, "min": ends[0], "max": ends[1]}


def _ends(value: object) -> tuple[object, object] | None:
    """The ends of `["1k", "100k"]`, `[1000, 1e5]`, `"1k..100k"`, `"1k to 100k"`; None for anything else."""
    if isinstance(value, str):
        value = _RANGE_TEXT.split(value.strip().strip("[]()"))
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    try:
        low, high = (parse_number(end.strip()) if isinstance(end, str) else float(end) for end in value)
    except (TypeError, ValueError, OverflowError):
        return None
    return (value[0], value[1]) if low < high else None


def _listed(value: object) -> object:
    """A text as a list of one; a list, an object and JSON text of these are understood too."""
    value = _from_json(value)
    return [value] if isinstance(value, str) else value


Goals = Annotated[
    list[Any] | dict[str, Any],
    BeforeValidator(_listed),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
"""Texts, as which the schema shows them; objects are understood too."""
_OTHER_KINDS = {
    "montecarlo": "monte_carlo",
    "monte-carlo": "monte_carlo",
    "mc": "monte_carlo",
    "worst-case": "worst_case",
    "pvt": "corners",
    "optimise": "optimize",
    "optimization": "optimize",
    "parametric_sweep": "sweep",
}


def _named(value: object) -> object:
    """Objects with a name each; bare names too."""
    found = _objects(value)
    if not isinstance(found, list):
        found = [found]
    return [{"name": item} if isinstance(item, str) else item for item in found]


def _with_tolerances(value: object) -> object:
    """Objects with a name each; ``{"R1": "1%"}``, a name and a value, is meant as its tolerance."""
    found = _objects(value)
    if not isinstance(found, list):
        return found
    return [
        {"name": item["name"], "tolerance": item["value"]}
        if isinstance(item, dict) and item.keys() == {"name", "value"}
        else item
        for item in found
    ]


_READERS = {
    "sweep": _objects,
    "monte_carlo": _with_tolerances,
    "worst_case": _with_tolerances,
    "sensitivity": _named,
    "map": lambda value: _named(_ranged(value)),
    "optimize": _ranged,
}
"""How the parameters of a study of this kind are understood."""


def _metrics(value: object) -> object:
    """Expressions by name; a list of ``expression``, ``name=expression`` or names of .meas cards too."""
    found = _listed(value)
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        return value
    metrics: dict[str, str] = {}
    for text in found:
        name, equals, expression = text.partition("=")
        is_named = bool(equals) and name.strip().isidentifier() and bool(expression.strip())
        metrics[name.strip() if is_named else text] = expression.strip() if is_named else text
    return metrics


Kind = Literal[
    "sweep",
    "monte_carlo",
    "corners",
    "worst_case",
    "sensitivity",
    "map",
    "optimize",
    "influence",
    "since_when",
]
"""influence, since_when: what moves a goal, and which edit lost it; no study is kept of these."""
_WITHOUT_PARAMETERS = ("sensitivity", "corners", "influence", "since_when")


class StudyArguments(Arguments):
    """Arguments of run_study; what a kind does not have is left alone by it."""

    kind: Kind = Field(
        description="influence: 1 % of each value on a goal; since_when: the edit that lost it."
    )
    path: str | None = Field(None, description="Omit for the only circuit.")
    parameters: list[dict[str, Any]] = Field(
        default_factory=list,
        description="What is varied, by name (R1, m1.w, a .param, temp). sweep, map (two), optimize: "
        '{"name": "R1", "min": "1k", "max": "10k", "scale": "E24"} (or lin, log with points; or "values": '
        "[...]). "
        'monte_carlo, worst_case: {"name": "R*", "tolerance": "5%"}, a bound (uniform; "distribution": '
        '"normal" = 3 sigma) or "sigma": "2%". sensitivity: names.',
    )
    measure: Annotated[Assignments, BeforeValidator(_metrics)] = Field(
        default_factory=dict,
        description="Metrics as name: expression, as for inspect_data. Omit for the .meas cards.",
    )
    goals: Goals = Field(
        default_factory=list,
        description='["bw >= 1Meg", "970 <= fc <= 1030"]; or its metric.',
    )
    minimize: Texts = Field(default_factory=list, description="optimize: metrics, beside the goals.")
    maximize: Texts = Field(default_factory=list, description="To make large.")
    corners: Annotated[Any, BeforeValidator(_listed), WithJsonSchema({"type": "object"})] = Field(
        None,
        description='corners, worst_case: all combinations of {"process": ["TT", "SS"], "voltage": '
        '{"vdd": [1.6, 2]}, "temp": [-40, 125]}.',
    )
    runs: Whole | None = Field(None, ge=1, le=100_000, description="Default 200; of optimize at most, 500.")
    analysis: str | None = Field(None, max_length=500, description="A card in place of the circuit's own.")
    set: Assignments = Field(default_factory=dict, description="Values for all runs.")
    analysis_type: AnalysisType | None = unlisted(None)
    timeout_s: Number = unlisted(60.0, gt=0, le=_LONGEST_RUN_S)
    time_limit_s: Number = unlisted(300.0, gt=0, le=_LONGEST_RUN_S)
    seed: Whole = unlisted(1, ge=0)
    yield_target: Number | None = unlisted(None, gt=0, le=1)
    method: Literal["RSS", "EVA", "both", "search"] = unlisted("both")
    perturbation: Number = unlisted(0.01, gt=0, le=0.5)

    @model_validator(mode="before")
    @classmethod
    def _of_kind(cls, given: Any) -> Any:
        """What of the arguments has another form for another kind."""
        if not isinstance(given, dict):
            return given
        if given.get("kind") in _OTHER_KINDS:
            given = {**given, "kind": _OTHER_KINDS[given["kind"]]}
        if given.get("kind") in _READERS and "parameters" in given:
            given = {**given, "parameters": _READERS[given["kind"]](given["parameters"])}
        if given.get("kind") not in _WITHOUT_PARAMETERS and not given.get("parameters"):
            raise ValueError("parameters is missing")
        return given
