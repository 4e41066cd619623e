"""From a specification and a circuit to runs: which circuits are loaded, what each run sets."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from application.simulation.prepared_circuit import PreparedCircuit
from domain.circuit.dependencies import DependencyTree
from domain.circuit.numbers import parse_number
from domain.circuit.parameters import ExpressionError, expression_of, resolve_parameters
from domain.circuit.value_edits import UnknownName
from domain.simulation.batch import BatchCircuit, BatchRun, Varied
from domain.studies.corners import TEMPERATURE, Corner, Process, Setting, supply_of, with_process
from domain.studies.spec_reader import spec_error
from domain.studies.study_spec import StudyParameter, StudySpec
from domain.studies.variation import plan_variation
from shared.errors import UserInputError
from shared.message import msg

NOMINAL = Corner(name="nominal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One run that is wanted."""

    values: Mapping[str, float]
    """Of the study's parameters, by name."""
    corner: Corner = NOMINAL
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """One circuit as workers load it, and what everything is that changes in it."""

    circuit: BatchCircuit
    nominals: Mapping[str, float]
    """By the name as the study writes it."""


class StudyPlan:
    """The circuits of a study (one a process) and how runs on them are made.

    Making one reads files and parses: it belongs in a thread. Raises UserInputError for names the circuit
    does not have and sections no library has.
    """

    def __init__(
        self,
        prepared: PreparedCircuit,
        spec: StudySpec,
        *,
        parameters: Sequence[StudyParameter],
        corners: Sequence[Corner],
    ) -> None:
        self._base = tuple(_base_settings(spec))
        self._written = tuple(parameter.name.lower() for parameter in spec.parameters)
        self.parameters = tuple(_expanded(parameters, prepared))
        spellings = {parameter.name.lower(): parameter.name for parameter in self.parameters}
        supply = _Supply(prepared)
        self.corners = tuple(_with_names(corner, supply, spellings) for corner in corners) or (NOMINAL,)
        for item in self._base:
            spellings.setdefault(item.name.lower(), item.name)
        self._names = tuple(spellings.values())
        self._loaded: dict[Process | None, _Loaded] = {
            process: self._load(prepared, process)
            for process in dict.fromkeys(_sections_only(corner.process) for corner in self.corners)
        }
        self._order = list(self._loaded)
        self._last: tuple[Corner | None, int, Mapping[str, float]] = (None, 0, {})
        """Of the corner that was asked for last its circuit, and the values of what is not varied."""
        self.parameters = tuple(self._with_device_size(item, prepared) for item in self.parameters)

    @property
    def circuits(self) -> tuple[BatchCircuit, ...]:
        return tuple(item.circuit for item in self._loaded.values())

    def nominals(self, corner: Corner) -> dict[str, float]:
        """The value of every parameter at a corner, before it is changed.

        Raises UserInputError for one whose value the circuit does not tell.
        """
        found = self._at(corner)
        for number, parameter in enumerate(self.parameters):
            if parameter.nominal is not None:
                found[parameter.name] = parameter.nominal
            if math.isnan(found[parameter.name]):
                raise spec_error(
                    f"parameters[{number}]",
                    msg("needs its nominal value: the circuit does not say what {name} is",
                        name=parameter.name),
                    advice=msg("Add {example}.", example='"nominal": 1e3'),
                )  # fmt: skip
        return {parameter.name: found[parameter.name] for parameter in self.parameters}

    def run(self, run_id: int, point: Point) -> BatchRun:
        corner, circuit, usual = self._last
        if point.corner is not corner:  # thousands of runs come one behind the other
            circuit = self._order.index(_sections_only(point.corner.process))
            usual = self._at(point.corner)
            self._last = point.corner, circuit, usual
        values = {**usual, **point.values}
        return BatchRun(run_id=run_id, circuit=circuit, values=tuple([values[name] for name in self._names]))

    def changed(self, point: Point) -> dict[str, float]:
        """Everything that is set in a run by its corner and point, by name."""
        nominals = self._loaded[_sections_only(point.corner.process)].nominals
        set_here = {item.name: item.at(nominals[item.name]) for item in point.corner.all_settings}
        return {**set_here, **point.values}

    def settings(self, point: Point) -> dict[str, float]:
        """Everything that is set in a run beside what stands in the circuit, by name."""
        nominals = self._loaded[_sections_only(point.corner.process)].nominals
        return {item.name: item.at(nominals[item.name]) for item in self._base} | self.changed(point)

    def _at(self, corner: Corner) -> dict[str, float]:
        nominals = self._loaded[_sections_only(corner.process)].nominals
        values = dict(nominals)
        for setting in (*self._base, *corner.all_settings):
            values[setting.name] = setting.at(nominals[setting.name])
        return values

    def _load(self, prepared: PreparedCircuit, process: Process | None) -> _Loaded:
        if process is not None:
            prepared = prepared.edited(*with_process(prepared.tree, process))
        tree, varied = self._planned(prepared)
        circuit = replace(prepared, netlist=tree.root, tree=tree).batch_circuit(varied)
        nominals = {name: item.nominal for name, item in zip(self._names, varied, strict=True)}
        return _Loaded(circuit=circuit, nominals=nominals)

    def _planned(self, prepared: PreparedCircuit) -> tuple[DependencyTree, tuple[Varied, ...]]:
        try:
            return plan_variation(prepared.tree, self._names)
        except UnknownName as error:
            raise self._at_its_place(error) from error

    def _at_its_place(self, error: UnknownName) -> UserInputError:
        """The error with the place in the specification where the name stands."""
        wanted = str(error.message.params.get("name", "")).lower()
        if wanted not in self._written:
            return error
        problem = msg("refers to {name}, which is not in the circuit", name=error.message.params["name"])
        place = f"parameters[{self._written.index(wanted)}].name"
        return spec_error(place, problem, advice=error.advice)

    def _with_device_size(self, parameter: StudyParameter, prepared: PreparedCircuit) -> StudyParameter:
        """A parameter whose mismatch has the device's width and length."""
        spread = parameter.spread
        if spread is None or spread.mismatch is None:
            return parameter
        device = parameter.name.lower().partition(".")[0]
        elements = {element.key: element for element in prepared.netlist.elements if not element.scope}
        known = resolve_parameters(prepared.tree)
        sizes = {}
        for field, key in (("width", "w"), ("length", "l")):
            size = getattr(spread.mismatch, field)
            if size is None and device in elements and key in elements[device].params:
                size = value_in(elements[device].params[key].text, known)
            if size is None or size <= 0:
                raise spec_error(
                    f"{parameter.name}.mismatch.{key}",
                    msg(
                        "is missing: the circuit gives {device} no plain value of {key}",
                        device=device,
                        key=key,
                    ),
                )
            sizes[field] = size
        return replace(parameter, spread=replace(spread, mismatch=replace(spread.mismatch, **sizes)))


def _base_settings(spec: StudySpec) -> list[Setting]:
    """The temperature among the assignments, which is no value in the netlist."""
    return [
        Setting(name=TEMPERATURE, value=parse_number(text))
        for name, text in spec.assignments
        if name.lower() == TEMPERATURE
    ]


def _sections_only(process: Process | None) -> Process | None:
    """What a process changes in the deck: processes that only set values share a circuit."""
    if process is None or not process.sections:
        return None
    return Process(name="", sections=process.sections)


class _Supply:
    """The circuit's supply, looked for when a corner gives a voltage without its name."""

    def __init__(self, prepared: PreparedCircuit) -> None:
        self._prepared = prepared
        self._name = ""

    def __call__(self) -> str:
        self._name = self._name or supply_of(self._prepared.netlist)
        return self._name


def _with_names(corner: Corner, supply: _Supply, spellings: dict[str, str]) -> Corner:
    """The corner with every quantity named, and spelt as where it was named first (`spellings` grows)."""

    def named(setting: Setting) -> Setting:
        name = setting.name or supply()
        return replace(setting, name=spellings.setdefault(name.lower(), name))

    process = corner.process
    if process is not None:
        process = replace(process, settings=tuple(map(named, process.settings)))
    return replace(corner, process=process, settings=tuple(map(named, corner.settings)))


def _expanded(parameters: Sequence[StudyParameter], prepared: PreparedCircuit) -> list[StudyParameter]:
    """Patterns replaced by the elements they fit; what is named outright wins."""
    named = {parameter.name.lower() for parameter in parameters if not parameter.is_pattern}
    netlist = prepared.netlist
    candidates = [
        e.name for e in netlist.elements if not e.scope and e.value is not None and e.letter in "rclvi"
    ]
    expanded: dict[str, StudyParameter] = {}
    for number, parameter in enumerate(parameters):
        if not parameter.is_pattern:
            expanded[parameter.name.lower()] = parameter
            continue
        fitting = [name for name in candidates if fnmatch.fnmatchcase(name.lower(), parameter.name.lower())]
        if not fitting:
            raise spec_error(
                f"parameters[{number}].name",
                msg("{pattern} matches no element of the circuit", pattern=parameter.name),
            )
        for name in fitting:
            if name.lower() not in named:
                expanded.setdefault(name.lower(), replace(parameter, name=name))
    return list(expanded.values())


def usual_parameters(prepared: PreparedCircuit) -> list[StudyParameter]:
    """What a sensitivity looks at when it is not told: every R, C, L, source and `.param` with a plain value.

    Raises UserInputError when there is none.
    """
    netlist = prepared.netlist
    values = [
        (element.name, element.value.text)
        for element in netlist.elements
        if not element.scope and element.letter in "rclvi" and element.value is not None
    ]
    values += [(item.name, item.value.text) for item in netlist.parameters if not item.scope]
    plain = dict.fromkeys(name.lower() for name, text in values if _number_or_none(text))
    found = [StudyParameter(name=name) for name, _ in values if plain.pop(name.lower(), 0) is None]
    if not found:
        raise UserInputError(
            msg("The circuit has no element with a plain value, so the parameters must be named."),
            advice=msg("Add {example}.", example='"parameters": [{"name": "R1", "tolerance": 0.01}]'),
            error_type="bad_spec",
        )
    return found


def value_in(text: str, parameters: Mapping[str, float]) -> float | None:
    """A number, or an expression of a circuit's parameters; None for anything else."""
    expression = expression_of(text)
    if expression is None:
        return None
    try:
        return expression.evaluate(parameters)
    except ExpressionError:
        return None


def _number_or_none(text: str) -> float | None:
    try:
        return parse_number(text)
    except ValueError:
        return None
