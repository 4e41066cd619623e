"""Arguments of the tools that simulate a circuit many times."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from application.tool_execution.definition import Arguments, Assignments, Number, Switch, Texts, Whole
from application.tool_execution.tools.simulation import AnalysisType
from domain.circuit.numbers import parse_number

_LONGEST_RUN_S = 3600
_RANGE_KEYS = ("range", "bounds", "limits", "value")
_RANGE_TEXT = re.compile(r"\s*(?:\.\.+|,|;|~|\bto\b)\s*", re.IGNORECASE)


def _objects(value: object) -> object:
    """A list of objects with a name each; also an object of them by name, one object, and JSON text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("name"), str):
        return [value]
    return [
        {"name": name, **inner} if isinstance(inner, dict) else {"name": name, "value": inner}
        for name, inner in value.items()
    ]


def _any_list(value: object) -> object:
    """A list; one entry alone and JSON text are understood too."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value if isinstance(value, list) else [value]


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


def _goals(value: object) -> object:
    """Goals as a list; one alone, an object of bounds by metric and JSON text are understood too."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    return [value] if isinstance(value, str) else value


Objects = Annotated[list[dict[str, Any]], BeforeValidator(_objects)]
Ranges = Annotated[list[dict[str, Any]], BeforeValidator(_ranged)]
Goals = Annotated[
    list[Any] | dict[str, Any],
    BeforeValidator(_goals),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
"""Texts, as which the schema shows them; objects are understood too."""
Entries = Annotated[
    list[Any],
    BeforeValidator(_any_list),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
"""Names, as which the schema shows them; objects are understood too."""


class StudyArguments(Arguments):
    """What all studies have."""

    file_path: str | None = Field(
        None, description="Circuit to simulate. Omit it when the project has one circuit only."
    )
    analysis_type: AnalysisType | None = Field(
        None, description="Run only the circuit's own analysis of this kind. Omit it to run all of them."
    )
    analysis: str | None = Field(
        None, max_length=500, description="A complete analysis card in place of the circuit's own."
    )
    measure: Assignments = Field(
        default_factory=dict,
        description='Metrics by name, for example {"bw": "bandwidth(v(out))"}. Omit it for the .meas cards.',
    )
    goals: Goals = Field(
        default_factory=list,
        description='Bounds on metrics, for example ["bw >= 1Meg", "970 <= fc <= 1030"].',
    )
    fixed_values: Assignments = Field(
        default_factory=dict, description='Values that hold for all runs, for example {"R3": "2.2k"}.'
    )
    timeout_s: Number = Field(60.0, gt=0, le=_LONGEST_RUN_S, description="Most seconds of one run.")


class SweepArguments(StudyArguments):
    """Arguments of run_parametric_sweep."""

    sweep_params: Objects = Field(
        min_length=1,
        description='What is swept: [{"name": "R1", "min": "1k", "max": "10k", "scale": "log", "points": '
        '10}], or {"name": "R1", "values": ["1k", "2.2k"]}; scale is lin, log or an E-series (E24). Names: '
        "R1, m1.w, a .param, temp. All combinations are simulated.",
    )
    sweep_range: dict[str, Any] = Field(
        default_factory=dict,
        description="min, max, scale, points for every parameter that has no range of its own.",
    )
    nested_levels: Whole | None = Field(
        None, ge=1, description="How many parameters are nested; has to be the number of sweep_params."
    )


class MonteCarloArguments(StudyArguments):
    """Arguments of run_monte_carlo."""

    runs: Whole = Field(200, ge=1, le=100_000, description="How many runs.")
    variation_config: Objects = Field(
        min_length=1,
        description='What scatters: [{"name": "R*", "tolerance": "5%"}]: uniform within the tolerance; with '
        '"distribution": "normal" it is 3 sigma, cut off there. "sigma": "2%" is a standard deviation.',
    )
    yield_target: Number | None = Field(
        None, gt=0, le=1, description="Share of good runs that is asked for, for example 0.99."
    )
    seed: Whole = Field(1, ge=0, description="The same seed gives the same runs.")


class PvtArguments(StudyArguments):
    """Arguments of run_pvt_analysis."""

    corners: Entries = Field(
        default_factory=list,
        description="Corners: names of library sections (TT, FF, SS, FS, SF), or objects such as "
        '{"name": "hot", "process": "SS", "temp": 125, "voltage": {"vdd": 1.62}}. Omit it for those of TT, '
        "FF, SS, FS, SF that the libraries have.",
    )
    voltages: dict[str, Any] = Field(
        default_factory=dict,
        description='Supply voltages of a full matrix with the corners: {"vdd": [1.62, 1.8, 1.98]}.',
    )
    temperatures: Annotated[list[Number], BeforeValidator(_any_list)] = Field(
        default_factory=list, description="Temperatures of a full matrix, in degrees Celsius."
    )
    generate_report: Switch = Field(False, description="Also give the table of all corners.")


class WorstCaseArguments(StudyArguments):
    """Arguments of run_worst_case."""

    tolerance_config: Objects = Field(
        min_length=1,
        description='Tolerances: [{"name": "R1", "tolerance": "1%"}], or {"R1": "1%", "C1": "5%"}.',
    )
    method: Literal["RSS", "EVA", "both"] = Field(
        "both", description="EVA: extreme values. RSS: root of the sum of squares."
    )
    target_metrics: Texts = Field(
        default_factory=list, description="Expressions, name=expression, or names of .meas cards."
    )


class SensitivityArguments(StudyArguments):
    """Arguments of run_sensitivity."""

    parameters: Entries = Field(
        default_factory=list,
        description="Names of what is moved, or objects with name and tolerance. Omit it for every R, C, L, "
        "source and .param with a plain value.",
    )
    target_metrics: Texts = Field(
        default_factory=list, description="Expressions, name=expression, or names of .meas cards."
    )
    perturbation_ratio: Number = Field(0.01, gt=0, le=0.5, description="By which share parameters are moved.")
