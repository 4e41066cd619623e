"""Why a circuit did not load: what `check` says of it, put beside what ngspice says.

ngspice often stops at a consequence, or says what is wrong without a place. `check` reads the same circuit,
in the same dialect, with the same libraries; its errors are what ngspice refuses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from application.simulation.library_hints import UNDEFINED, hinted
from application.simulation.prepared_circuit import PreparedCircuit
from domain.circuit.diagnostics import Diagnostic, diagnose
from domain.circuit.dialects import functions_of_mode
from domain.circuit.hierarchy import element_at, read_circuit
from domain.simulation.result import SimulationIssue

_ROOTS = (
    "foreign-form",
    "missing-plus",
    "no-bin",
    "model-level",
    "osdi-missing",
    "unknown-directive",
    "unknown-element",
    "title-is-card",
    "model-type",
    "unclosed-subckt",
    "stray-ends",
    "include-missing",
    "lib-section-missing",
)
"""What has other errors as its consequences."""
_OF_THE_FORM = frozenset({"foreign-form", "bad-analysis", "mega-trap", "model-level"})
"""What makes ngspice compute something else, perhaps without end."""
_MOST = 5
_OF_FILES = frozenset({"include-missing", "include-refused", "include-cycle"})
"""Told by the run itself, in its own words."""
_FATAL_WARNINGS = frozenset({"no-ground", "missing-plus", "model-level"})
"""ngspice computes some circuits all the same; of one that failed it is the cause."""
_MISSING_FILES = frozenset({"missing-include", "include-refused"})
"""What the run calls them: whatever else is wrong may be their consequence."""
_OF_THE_RUN = frozenset(
    {"time-limit", "cpu-limit", "memory-limit", "file-size-limit", "disk-full", "box-failed",
     "simulator-killed", "no-convergence", "timestep-too-small"}
)  # fmt: skip
"""Ends of a run that have nothing to do with reading the circuit."""
_OF_THE_SOLVER = frozenset({"no-convergence", "timestep-too-small"})


def with_causes(issues: Sequence[SimulationIssue], prepared: PreparedCircuit) -> tuple[SimulationIssue, ...]:
    """The issues of a failed run with the errors of `check`, which take the place of ngspice's words about
    the same line: first what has others as its consequences, then what ngspice stopped at. Blocking."""
    issues = [_at_its_element(issue, prepared) for issue in issues]
    errors = [issue for issue in issues if issue.severity == "error"]
    found = hinted(
        diagnose(prepared.netlist, prepared.tree, functions=functions_of_mode(prepared.compatibility)),
        prepared.reader,
        prepared.tree,
    )
    if any(issue.code in _MISSING_FILES for issue in errors):  # ngspice reads no further in what includes it
        undefined = {(item.file, item.line) for item in found if item.code in UNDEFINED}
        issues = [
            each for each in issues if each.code not in UNDEFINED or (each.file, each.line) in undefined
        ]
    causes = [item for item in found if item.severity == "error" and item.code not in _OF_FILES]
    if any(issue.code in _OF_THE_RUN for issue in errors):  # only what ngspice reads otherwise can explain it
        if any(issue.code in _OF_THE_SOLVER for issue in errors):
            causes += [item for item in found if item.code in _FATAL_WARNINGS]
        odd = [_issue(item) for item in causes if item.code in _OF_THE_FORM][:_MOST]
        return (*odd, *issues)
    causes += [item._replace(severity="error") for item in found if item.code in _FATAL_WARNINGS]
    if not causes:
        return tuple(issues)
    first = (errors[0].file, errors[0].line) if errors else None
    causes.sort(key=lambda item: (item.code not in _ROOTS, (item.file, item.line) != first))
    roots = {(item.file, item.line) for item in causes if item.code in _ROOTS}
    kept = {(issue.file, issue.line) for issue in errors if _is_better_told(issue)} - roots
    new: dict[tuple[Path | None, int], SimulationIssue] = {}
    for item in causes:  # of each line the first: a second one there is mostly its consequence
        if (item.file, item.line) not in kept and len(new) < _MOST:
            new.setdefault((item.file, item.line), _issue(item))
    others = [
        issue
        for issue in issues
        if issue.severity != "error" or issue.line is None or (issue.file, issue.line) not in new
    ]
    leads = bool(errors) and (errors[0].code in _MISSING_FILES or (first in kept and not roots))
    return (*others, *new.values()) if leads else (*new.values(), *others)


def _is_better_told(issue: SimulationIssue) -> bool:
    """The run's own words say more than `check` can: of a file that is not there, of v(...) in a
    parameter."""
    return issue.code in _MISSING_FILES or (issue.code == "bad-expression" and issue.advice is not None)


_NAMED = re.compile(r"(?:: |, model )((?:[a-z]\.(?:x[^\s.:]*\.)+)?[a-z][^\s.:]*)(?=[: ])", re.IGNORECASE)


def _at_its_element(issue: SimulationIssue, prepared: PreparedCircuit) -> SimulationIssue:
    """With the place of the element ngspice names by its path ("m.x1.mp1: channel length less than zero")."""
    if issue.line is not None or issue.severity != "error":
        return issue
    paths = [issue.element] if issue.element else _NAMED.findall(str(issue.message))
    circuit = read_circuit(prepared.tree) if paths else None
    places = (element_at(circuit, path) for path in paths if circuit is not None)
    found = next((place for place in places if place is not None), None)
    return issue if found is None else replace(issue, file=found.file, line=found.element.line)


def _issue(found: Diagnostic) -> SimulationIssue:
    return SimulationIssue(
        severity="error", code=found.code, message=found.message, file=found.file, line=found.line
    )
