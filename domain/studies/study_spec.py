"""What a study is asked for: parameters with their ranges and spreads, measurements, goals, corners.

`read_study_spec` reads the ``--spec`` file of the command line (docs/studies.md is its reference). One
file may serve several kinds of study: each looks at what concerns it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from domain.simulation.goals import DesignGoal
from domain.studies.corners import CornerPlan, read_corners
from domain.studies.search_spec import SearchOptions, read_search
from domain.studies.spec_reader import SpecReader, read_number, shown, spec_error
from domain.studies.study_goals import read_goals
from shared.message import msg

StudyKind = Literal["sweep", "montecarlo", "corners", "worst-case", "sensitivity", "map"]
Distribution = Literal["normal", "uniform", "lognormal"]
Scale = Literal["lin", "log", "E3", "E6", "E12", "E24", "E48", "E96", "E192"]
Sampling = Literal["random", "lhs"]
WorstCaseMethod = Literal["eva", "rss", "both", "search"]

MOST_RUNS = 1_000_000
_SCALES = get_args(Scale)
_LONGEST_NAME = 200
_BOUND_SIGMAS = 3.0
"""A normal part whose tolerance is 5 %: that is its 3 sigma, and nothing is sold beyond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """From where to where a parameter is swept, and in which steps."""

    minimum: float
    maximum: float
    scale: Scale = "lin"
    points: int | None = None
    """In all, ends included; None = by `step` or `per_decade`, or the default of the scale."""
    step: float | None = None
    per_decade: float | None = None
    """Points per decade; per octave is log2(10) times that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """Pelgrom's law for one device: sigma = A / sqrt(2 W L) around its nominal value.

    A is the matching constant of a pair's difference (M. Pelgrom et al., IEEE JSSC 24 (1989) 1433), so each
    of the two devices gets 1/sqrt(2) of it.
    """

    constant: float
    """A, in the parameter's unit times metres; a share times metres when the spread is relative."""
    width: float | None
    """m; None = the device's own ``w``."""
    length: float | None
    """m; None = the device's own ``l``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How a parameter scatters around its nominal value."""

    distribution: Distribution = "uniform"
    tolerance: float = 0.0
    """Of this device alone: a share of the nominal value, or in its unit when `is_absolute`. A bound, unless
    `is_sigma` or given as a number of `sigmas` without `truncate`."""
    lot_tolerance: float = 0.0
    """Of all parameters with the same `lot_group` together."""
    lot_group: str = ""
    """"" = all elements of the same letter (all resistors are from one lot)."""
    sigmas: float = 1.0
    """How many standard deviations the tolerance is (normal, lognormal)."""
    truncate: float | None = None
    """Values further out than this many standard deviations are not drawn."""
    is_sigma: bool = False
    """The tolerance was given as a standard deviation."""
    is_absolute: bool = False
    centre: float | None = None
    """In place of the nominal value."""
    mismatch: Mismatch | None = None

    @property
    def reach(self) -> float:
        """How far a device may be off, as a worst case has it: its tolerance and its lot's; of a standard
        deviation three, or where it is cut off."""
        total = self.tolerance + self.lot_tolerance
        return total * min(self.truncate or _BOUND_SIGMAS, _BOUND_SIGMAS) if self.is_sigma else total


@dataclass(frozen=True, slots=True, kw_only=True)
class Bias:
    """Where the gm/Id of a transistor is that a search is asked for."""

    device: str
    current: float
    """A"""
    drain_v: float
    """Between drain and source, without its sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyParameter:
    """One quantity of the circuit that a study changes."""

    name: str
    """As `simulate --set` takes it: ``R1``, ``m1.w``, a `.param`, ``temp``; or a pattern (``R*``)."""
    values: tuple[float, ...] = ()
    """What a sweep goes through, when given outright."""
    range: Range | None = None
    spread: Spread | None = None
    nominal: float | None = None
    """In place of the value in the circuit."""
    bias: Bias | None = None
    """Of ``gmid(M1)``, whose range is one of gm/Id in 1/V."""

    @property
    def is_swept(self) -> bool:
        """Whether a sweep has something to do with it."""
        return bool(self.values) or self.range is not None

    @property
    def is_pattern(self) -> bool:
        """Whether the name stands for several elements."""
        return any(sign in self.name for sign in "*?")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySpec:
    """A whole study."""

    analyses: tuple[str, ...] = ()
    """In place of the circuit's own; () = those."""
    assignments: tuple[tuple[str, str], ...] = ()
    """Values that hold for all runs, as with `simulate --set`."""
    parameters: tuple[StudyParameter, ...] = ()
    measures: Mapping[str, str]
    """Expression by metric; empty = the circuit's `.meas` cards."""
    goals: tuple[DesignGoal, ...] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    """Expressions by metric (lower case) that a goal may name without its being measured here."""
    corners: CornerPlan
    at_corners: bool = False
    """A sweep or Monte Carlo is done at every corner."""
    runs: int = 1000
    seed: int = 1
    sampling: Sampling = "random"
    method: WorstCaseMethod = "both"
    perturbation: float = 0.01
    """By which share of its value a parameter is moved for a sensitivity."""
    yield_target: float | None = None
    """The share of good runs that is asked for."""
    timeout_s: float = 60.0
    """Of one run."""
    search: SearchOptions = field(default_factory=SearchOptions)


def read_study_spec(document: object) -> StudySpec:
    """Read a specification. Raises UserInputError ("bad_spec") naming the key, and what is allowed."""
    reader = SpecReader(document)
    seed = reader.whole("seed", least=0, most=2**53)
    spec = StudySpec(
        analyses=reader.texts("analysis", "analyses"),
        assignments=_assignments(reader),
        parameters=tuple(_parameter(node, place) for place, node in reader.items("parameters")),
        measures=_measures(reader),
        goals=read_goals(reader),
        corners=read_corners(reader),
        at_corners=reader.flag("at_corners"),
        runs=reader.whole("runs", least=1, most=MOST_RUNS) or 1000,
        seed=1 if seed is None else seed,
        sampling=reader.choice("sampling", get_args(Sampling)) or "random",
        method=reader.choice("method", get_args(WorstCaseMethod)) or "both",
        perturbation=_share(reader, "perturbation", most=0.5) or 0.01,
        yield_target=_share(reader, "yield_target", most=1.0),
        timeout_s=reader.positive("timeout") or 60.0,
        search=read_search(reader),
    )
    reader.finish()
    if spec.yield_target is not None and not spec.goals:
        raise spec_error(
            "yield_target", msg("is the share of runs that meet the goals, but there are no goals")
        )
    _check_names(spec)
    return spec


def _share(reader: SpecReader, key: str, *, most: float) -> float | None:
    share = reader.fraction(key)
    if share is not None and not 0 < share <= most:
        raise spec_error(
            reader.at(key),
            msg("must be greater than 0 and at most {most}, not {value}", most=most, value=share),
        )
    return share


def _assignments(reader: SpecReader) -> tuple[tuple[str, str], ...]:
    key, node = reader.take("set")
    if node is None:
        return ()
    if not isinstance(node, Mapping):
        raise spec_error(reader.at(key), msg("must be an object of values by name"))
    return tuple(
        (str(name), value if isinstance(value, str) else repr(read_number(value, f"{key}.{name}")))
        for name, value in node.items()
    )


def _measures(reader: SpecReader) -> Mapping[str, str]:
    key, node = reader.take("measure", "measures")
    if node is None:
        return {}
    if isinstance(node, str):
        node = [node]
    if isinstance(node, list):  # expressions that are their own names
        node = {item: item for item in node if isinstance(item, str)} if node else None
    if not isinstance(node, Mapping) or not node:
        raise spec_error(reader.at(key), msg("must be an object of expressions by name"))
    for name, expression in node.items():
        if not str(name).strip():
            raise spec_error(reader.at(key), msg("has an entry without a name"))
        if not isinstance(expression, str) or not expression.strip():
            raise spec_error(
                f"{reader.at(key)}.{name}",
                msg("must be an expression, not {value}", value=shown(expression)),
            )
    return {str(name).strip(): expression.strip() for name, expression in node.items()}


_FROM = ("min", "start", "low", "lower", "from", "minimum")
_TO = ("max", "stop", "high", "upper", "to", "maximum", "end")
"""The ends of a range, as people and models call them."""


def _parameter(node: object, place: str) -> StudyParameter:
    reader = SpecReader(node, place)
    name = reader.text("name")
    if name is None or len(name) > _LONGEST_NAME:
        raise spec_error(reader.at("name"), msg("is missing: it names the quantity of the circuit"))
    values = reader.numbers("values", "value", "list")
    if values and (key := next((key for key in (*_FROM, *_TO) if reader.has(key)), None)):
        raise spec_error(reader.at(key), msg("is the same as {other}; give one", other="values"))
    found = _range(reader) if not values else None
    parameter = StudyParameter(
        name=name,
        values=values,
        range=found,
        spread=_spread(reader, found),
        nominal=reader.number("nominal"),
        bias=_bias(reader, name),
    )
    reader.finish()
    return parameter


_GM_ID = re.compile(r"gm[_/]?id\(\s*([\w.]+)\s*\)", re.IGNORECASE)
_USUAL_DRAIN_V = 1.0


def element_of_gm_id(name: str) -> str | None:
    """The transistor of ``gmid(M1)``; None for any other name."""
    found = _GM_ID.fullmatch(name.strip())
    return None if found is None else found[1]


def _bias(reader: SpecReader, name: str) -> Bias | None:
    device = element_of_gm_id(name)
    if device is None:
        return None
    current = reader.positive("id")
    if current is None:
        raise spec_error(reader.at("id"), msg("is missing: the drain current at which gm/Id applies"))
    return Bias(device=device, current=current, drain_v=reader.positive("vds") or _USUAL_DRAIN_V)


def _range(reader: SpecReader) -> Range | None:
    minimum, maximum = reader.number(*_FROM), reader.number(*_TO)
    scale: Scale = reader.choice("scale", _SCALES) or "lin"
    points = reader.whole("points", "steps", "n", "num", "count", least=1, most=MOST_RUNS)
    step = reader.positive("step")
    per_decade = reader.positive("per_decade", "points_per_decade")
    per_octave = reader.positive("per_octave", "points_per_octave")
    if minimum is None and maximum is None:
        return None
    if minimum is None or maximum is None:
        missing = "min" if minimum is None else "max"
        raise spec_error(reader.at(missing), msg("is missing: a range needs min and max"))
    if maximum < minimum:
        raise spec_error(
            reader.at("max"), msg("is less than min ({low} - {high})", low=minimum, high=maximum)
        )
    if scale != "lin" and minimum <= 0:
        raise spec_error(reader.at("min"), msg("must be greater than 0 with the scale {scale}", scale=scale))
    if sum(item is not None for item in (points, step, per_decade, per_octave)) > 1:
        raise spec_error(reader.place, msg("has more than one of points, step, per_decade, per_octave"))
    if step is not None and scale != "lin":
        raise spec_error(reader.at("step"), msg("only applies to the scale lin"))
    if (per_decade or per_octave) and scale != "log":
        raise spec_error(reader.at("scale"), msg("must be log for points per decade or octave"))
    if per_octave is not None:
        per_decade = per_octave * math.log2(10)
    return Range(
        minimum=minimum, maximum=maximum, scale=scale, points=points, step=step, per_decade=per_decade
    )


def _spread(reader: SpecReader, found: Range | None) -> Spread | None:
    distribution = _distribution(reader)
    is_absolute = reader.flag("absolute")
    share = reader.number if is_absolute else reader.fraction
    tolerance = share("tolerance", "tol", "dev")
    sigma = share("sigma", "std")
    size = _one_of(reader, tolerance, sigma) or 0.0
    lot = share("lot")
    sigmas, truncate = _sigmas(reader, is_sigma=sigma is not None), reader.positive("truncate")
    mismatch = _mismatch(reader)
    is_bell = sigma is not None or sigmas is not None or truncate is not None
    usual: Distribution = "normal" if is_bell or mismatch is not None else "uniform"
    kind = distribution or usual
    spread = Spread(
        distribution=kind,
        tolerance=math.sqrt(3) * size if sigma is not None and kind == "uniform" else size,
        lot_tolerance=lot or 0.0,
        lot_group=reader.text("lot_group") or "",
        sigmas=1.0 if sigma is not None else sigmas or (1.0 if kind == "uniform" else _BOUND_SIGMAS),
        truncate=_cut(kind, truncate, is_bound=sigma is None and sigmas is None),
        is_sigma=sigma is not None and kind != "uniform",
        is_absolute=is_absolute,
        mismatch=mismatch,
    )
    if kind == "uniform" and truncate is not None:
        raise spec_error(reader.at("truncate"), msg("has no meaning for a uniform distribution"))
    if spread.tolerance or spread.lot_tolerance or spread.mismatch is not None:
        _check_spread(reader, spread)
        return spread
    if tolerance is not None or sigma is not None:
        return spread  # a tolerance of 0: it stays where it is
    if distribution == "uniform" and found is not None:
        half = (found.maximum - found.minimum) / 2
        return Spread(distribution="uniform", tolerance=half, is_absolute=True, centre=found.minimum + half)
    if distribution is not None:
        raise spec_error(reader.at("tolerance"), msg("is missing: the spread of the parameter"))
    return None


def _cut(kind: Distribution, truncate: float | None, *, is_bound: bool) -> float | None:
    """Where the drawing ends: at the bound, which a tolerance is unless it says how many sigmas it is."""
    if truncate is None and is_bound and kind != "uniform":
        return _BOUND_SIGMAS
    return truncate


def _distribution(reader: SpecReader) -> Distribution | None:
    choices = ("normal", "uniform", "lognormal", "gauss", "gaussian", "flat")
    word = reader.choice("distribution", choices)
    aliases: dict[str, Distribution] = {"gauss": "normal", "gaussian": "normal", "flat": "uniform"}
    known: dict[str, Distribution] = {"normal": "normal", "uniform": "uniform", "lognormal": "lognormal"}
    return None if word is None else {**known, **aliases}[word]


def _one_of(reader: SpecReader, tolerance: float | None, sigma: float | None) -> float | None:
    if tolerance is not None and sigma is not None:
        raise spec_error(reader.at("sigma"), msg("is the same as {other}; give one", other="tolerance"))
    return sigma if tolerance is None else tolerance


def _sigmas(reader: SpecReader, *, is_sigma: bool) -> float | None:
    sigmas = reader.positive("sigmas", "tolerance_sigmas")
    if sigmas is not None and is_sigma:
        raise spec_error(reader.at("sigmas"), msg("only applies to tolerance, not to sigma"))
    return sigmas


def _check_spread(reader: SpecReader, spread: Spread) -> None:
    for key, size in (("tolerance", spread.tolerance), ("lot", spread.lot_tolerance)):
        if not spread.is_absolute and size >= 1:
            raise spec_error(
                reader.at(key),
                msg("is {size} times the value; a fraction must be less than 1", size=size),
                advice=msg('Write 5 % as 0.05 or "5%".'),
            )


def _mismatch(reader: SpecReader) -> Mismatch | None:
    _, node = reader.take("mismatch", "pelgrom")
    if node is None:
        return None
    inner = SpecReader(node, reader.at("mismatch"))
    constant = inner.positive("a")
    if constant is None:
        raise spec_error(inner.at("a"), msg("is missing: the matching constant"))
    mismatch = Mismatch(constant=constant, width=inner.positive("w"), length=inner.positive("l"))
    inner.finish()
    return mismatch


def _check_names(spec: StudySpec) -> None:
    seen: set[str] = set()
    for number, parameter in enumerate(spec.parameters):
        key = parameter.name.lower()
        if key in seen:
            raise spec_error(f"parameters[{number}].name", msg("names {name} again", name=parameter.name))
        seen.add(key)
