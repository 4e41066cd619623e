"""The goals of each circuit of a project: what they are, what they were when a result was computed.

A circuit's document names its place, its goals, since when they hold, those that held before, and the
places it had before it was moved: a result keeps the verdict of its own circuit and its own time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.simulation.goals import DesignGoal
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg
from shared.safe_json import read_bounded

if TYPE_CHECKING:
    from application.ports.project import ProjectFiles

SCHEMA_VERSION = 2
_MOST_EARLIER = 50
"""Versions of a circuit's goals that are kept; older results are held against the oldest of them."""
_MOST_GOALS = 100
"""Of a file that count: each is a reading of the data, and a clone's file may hold thousands."""
_LONGEST = 1_000
"""Letters of a name, an expression or words of a goal, which each request to a model has."""
_HUGE = 1e300
_CIRCUITS = (".cir", ".sp", ".spice", ".net", ".ckt")


@dataclass(frozen=True, slots=True)
class _Version:
    since: str
    """ISO 8601, UTC; "" = from the beginning."""
    goals: tuple[DesignGoal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitGoals:
    """What is asked of one circuit."""

    circuit: str
    """Its place: relative to the project, with forward slashes."""
    text: str = ""
    """The sentence they were read from."""
    goals: tuple[DesignGoal, ...] = ()
    plain: tuple[Mapping[str, Any], ...] = ()
    """The same as they are stored; what cannot be understood is among them."""
    versions: tuple[_Version, ...] = ()
    """The oldest first; the last one holds now."""
    former_places: Mapping[str, str] = field(default_factory=dict)
    """Where the circuit was before, each with the time until which (ISO 8601, UTC)."""
    cases: tuple[Any, ...] = ()
    """Cases that every run of it is to simulate too, as they are stored (`domain.studies.named_case`)."""

    def at(self, created: str) -> tuple[DesignGoal, ...]:
        """Those that held at a time (ISO 8601); of a time before all of them, the first."""
        moment = _time(created)
        if moment is None or not self.versions:
            return self.goals
        known = [version for version in self.versions if (_time(version.since) or moment) <= moment]
        return (known[-1] if known else self.versions[0]).goals


class GoalBook:
    """The goals of all circuits of a project, read once. Blocking to make."""

    def __init__(self, project: ProjectFiles) -> None:
        self.root = project.root
        found = [_parsed(content) for content in project.goals.contents()]
        former = _former(project)
        self._all = {each.circuit: each for each in (*((former,) if former else ()), *found) if each.circuit}

    @property
    def all(self) -> tuple[CircuitGoals, ...]:
        """Every circuit that has goals, in the order of their places."""
        return tuple(self._all[place] for place in sorted(self._all) if self._all[place].plain)

    @property
    def kept(self) -> tuple[CircuitGoals, ...]:
        """Every circuit of which something is kept, goals or not."""
        return tuple(self._all[place] for place in sorted(self._all))

    def of(self, circuit: str) -> CircuitGoals | None:
        """What is asked of a circuit now; None when nothing is."""
        found = self._all.get(circuit)
        return found if found is not None and found.plain else None

    def of_result(self, circuit: Path, created: str) -> tuple[DesignGoal, ...]:
        """What was asked of a result's circuit when it was computed, wherever the circuit is now."""
        place = place_in(self.root, circuit)
        found = self.of(place) or next(
            (each for each in self.all if _is_before(created, each.former_places.get(place, ""))), None
        )
        return () if found is None else found.at(created)


def place_in(root: Path, circuit: Path) -> str:
    """The place of a circuit in a project, with forward slashes; "" for one outside."""
    return circuit.relative_to(root).as_posix() if circuit.is_relative_to(root) else ""


def read_goals(project: ProjectFiles, circuit: str) -> CircuitGoals:
    """What is asked of a circuit; nothing when its goals cannot be read. Blocking, never raises."""
    empty = CircuitGoals(circuit=circuit)
    if not circuit:
        return empty
    try:
        content = project.goals.read(circuit)
    except CircuitAIError:  # a damaged file of goals is the design's to report; others go on without
        return empty
    if content is not None:
        return _parsed(content)
    former = _former(project)
    return former if former is not None and former.circuit == circuit else empty


def family_of(project: ProjectFiles, circuit: str) -> dict[str, Any]:
    """The family of ours that made a circuit and what it was sized for, by its file of goals, under "family"
    and "parameters"; {} where none did. Blocking."""
    try:
        document = _loaded(project.goals.read(circuit))
    except CircuitAIError:  # as for `read_goals`
        return {}
    return {name: document.get(name) for name in ("family", "parameters")} if document.get("family") else {}


def save_goals(project: ProjectFiles, circuit: str, document: Mapping[str, Any]) -> None:
    """Make `document` (with its "goals", as `goal_to_plain` gives them) what is asked of a circuit.

    What was asked before stays known for the results of its time. Blocking; a second time it changes
    nothing. Raises EnvironmentProblem.
    """
    take_over_former(project)
    project.goals.save(circuit, _content(circuit, document, _loaded(project.goals.read(circuit))))


def _content(circuit: str, document: Mapping[str, Any], before: Mapping[str, Any]) -> bytes:
    """The file of goals with `document`, which keeps what was asked `before`."""
    now = _now()
    earlier = [each for each in _items(before, "earlier") if isinstance(each, dict)]
    since = now
    if _items(before, "goals") == list(document.get("goals", ())):
        since = str(before.get("since", ""))
    elif _items(before, "goals"):
        former = _items(before, "goals")[:_MOST_GOALS]
        earlier.append({"since": str(before.get("since", "")), "goals": former})
    return _encoded(
        circuit,
        {
            **document,
            "since": since,
            "earlier": earlier[-_MOST_EARLIER:],
            "former_places": _items(before, "former_places"),
            "cases": _items(document if "cases" in document else before, "cases"),
        },
    )


def ask_of(project: ProjectFiles, circuit: Path, goals: Sequence[DesignGoal]) -> None:
    """Make `goals` what is asked of a circuit, and leave what else is known of its design. Blocking.

    What stands in its file of goals and can't be understood stays there.

    Raises UserInputError for a circuit outside the project, EnvironmentProblem.
    """
    place = _required_place(project, circuit)
    _before, content = goals_file(project, circuit, goals)
    project.goals.save(place, content)


def goals_file(
    project: ProjectFiles, circuit: Path, goals: Sequence[DesignGoal]
) -> tuple[bytes | None, bytes]:
    """A circuit's file of goals as it is (None: there is none) and with `goals` in it. Blocking.

    What is known of its design beside them, and what in the file can't be understood, stays.
    Raises as `ask_of`.
    """
    place = _required_place(project, circuit)
    take_over_former(project)
    present = project.goals.read(place)
    document = _loaded(present)
    strange = _beside(_items(document, "goals"))
    asked = [asdict(goal) for goal in goals]
    known = {"measure": {goal.metric: goal.expression for goal in goals}, "goals": [*asked, *strange]}
    return present, _content(place, {**document, **known}, document)


def cases_file(
    project: ProjectFiles, circuit: Path, cases: Sequence[Mapping[str, Any]]
) -> tuple[bytes | None, bytes]:
    """A circuit's file of goals as it is (None: there is none) and with `cases` in it. Blocking.

    Everything else in it stays. Raises as `ask_of`.
    """
    place = _required_place(project, circuit)
    take_over_former(project)
    present = project.goals.read(place)
    document = _loaded(present)
    return present, _content(place, {**document, "cases": [dict(each) for each in cases]}, document)


def _required_place(project: ProjectFiles, circuit: Path) -> str:
    place = place_in(project.root, circuit)
    if not place:
        raise UserInputError(
            msg("{path} is not in the project.", path=circuit),
            advice=msg("Open the folder the circuit is in as a project."),
            file=circuit,
            error_type="bad_path",
        )
    return place


def begin_move(project: ProjectFiles, source: str, target: str) -> None:
    """Before a circuit gets another place: its goals are there already. Blocking; may be repeated.

    Raises EnvironmentProblem.
    """
    content = project.goals.read(source)
    if content is None:
        former = _former(project)
        if former is None or former.circuit != source:
            return
        take_over_former(project)
        content = project.goals.read(source)
    document = _loaded(content)
    places = [each for each in _items(document, "former_places") if isinstance(each, dict)]
    places = [each for each in places if each.get("circuit") not in (source, target)]
    _write(project, target, {**document, "former_places": [*places, {"circuit": source, "until": _now()}]})


def end_move(project: ProjectFiles, source: str) -> None:
    """The circuit has its new place: nothing is asked of the old one any more. Blocking.

    Raises EnvironmentProblem.
    """
    project.goals.remove(source)


def follow_move(project: ProjectFiles, source: str, target: str) -> None:
    """Somebody has given a circuit, or a folder with circuits, another place: their goals follow.

    Blocking. Raises EnvironmentProblem.
    """
    for each in GoalBook(project).kept:
        if each.circuit == source:
            place = target
        elif each.circuit.startswith(f"{source}/"):
            place = f"{target}{each.circuit[len(source) :]}"
        else:
            continue
        begin_move(project, each.circuit, place)
        end_move(project, each.circuit)


def take_over_former(project: ProjectFiles, main_circuit: str = "") -> None:
    """Give the one file of goals of an earlier version to the circuit it was made for, else to the main one.

    Where neither is known it stays. Blocking. Raises EnvironmentProblem.
    """
    content = project.goals.former()
    if content is None:
        return
    circuit = _made_for(project, main_circuit)
    if not circuit:
        return
    if project.goals.read(circuit) is None and _items(_loaded(content), "goals"):
        _write(project, circuit, _loaded(content))
    project.goals.retire_former()


def _former(project: ProjectFiles) -> CircuitGoals | None:
    """The goals of an earlier version's file, for the circuit they were made for; else None."""
    try:
        content = project.goals.former()
    except CircuitAIError:
        return None
    if content is None:
        return None
    circuit = _made_for(project, "")
    return _parsed(json.dumps({**_loaded(content), "circuit": circuit}).encode()) if circuit else None


def _made_for(project: ProjectFiles, main_circuit: str) -> str:
    from application.design.rounds import read_design_rounds

    try:
        design = read_design_rounds(project)
    except CircuitAIError:
        design = None
    if design is not None and design.rounds:
        return place_in(project.root, design.rounds[-1].circuit)
    if main_circuit:
        return main_circuit
    try:
        found = [path.name for path in project.root.iterdir() if path.suffix.lower() in _CIRCUITS]
    except OSError:
        return ""
    return found[0] if len(found) == 1 else ""


def _write(project: ProjectFiles, circuit: str, document: Mapping[str, Any]) -> None:
    project.goals.save(circuit, _encoded(circuit, document))


def _encoded(circuit: str, document: Mapping[str, Any]) -> bytes:
    whole = {"schema_version": SCHEMA_VERSION, "circuit": circuit}
    whole |= {name: value for name, value in document.items() if name not in whole}
    return json.dumps(whole, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass") + b"\n"


def _parsed(content: bytes) -> CircuitGoals:
    document = _loaded(content)
    plain = tuple(item for item in _items(document, "goals")[:_MOST_GOALS] if isinstance(item, dict))
    versions = [
        _Version(since=str(each.get("since", "")), goals=_understood(_items(each, "goals")))
        for each in _items(document, "earlier")
        if isinstance(each, dict)
    ]
    goals = _understood(plain)
    return CircuitGoals(
        circuit=str(document.get("circuit", "")),
        text=str(document.get("text", "")),
        goals=goals,
        plain=plain,
        versions=(*versions, _Version(since=str(document.get("since", "")), goals=goals)),
        former_places={
            str(each.get("circuit", "")): str(each.get("until", ""))
            for each in _items(document, "former_places")
            if isinstance(each, dict)
        },
        cases=tuple(_items(document, "cases")[:_MOST_GOALS]),
    )


def _loaded(content: bytes | None) -> dict[str, Any]:
    try:
        document = read_bounded(content or b"{}")
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _items(document: Mapping[str, Any], name: str) -> list[Any]:
    found = document.get(name)
    return found if isinstance(found, list) else []


def _understood(items: Sequence[object]) -> tuple[DesignGoal, ...]:
    """Those that can be understood; a file that a person edited may hold others."""
    return tuple(goal for item in items[:_MOST_GOALS] if (goal := _goal_of(item)) is not None)


def _beside(items: Sequence[object]) -> list[object]:
    """What a file has beside those."""
    return [item for number, item in enumerate(items) if number >= _MOST_GOALS or _goal_of(item) is None]


def _goal_of(item: object) -> DesignGoal | None:
    if not isinstance(item, dict):
        return None
    texts = [item.get(name) for name in ("metric", "expression", "unit")]
    further = [str(item.get(name, "")) for name in ("words", "condition")]
    bounds = [item.get(name) for name in ("minimum", "maximum", "target")]
    if not all(isinstance(text, str) and len(text) <= _LONGEST for text in (*texts, *further)):
        return None
    if any(bound is not None and not _is_number(bound) for bound in bounds):
        return None
    metric, expression, unit = map(str, texts)
    minimum, maximum, target = (None if bound is None else float(bound) for bound in bounds)
    return DesignGoal(
        metric=metric,
        expression=expression,
        unit=unit,
        minimum=minimum,
        maximum=maximum,
        target=target,
        stated=item.get("stated") is not False,
        weight="wish" if item.get("weight") == "wish" else "must",
        words=further[0],
        condition=further[1],
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _HUGE


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _is_before(created: str, until: str) -> bool:
    made, moved = _time(created), _time(until)
    return made is not None and moved is not None and made <= moved


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
