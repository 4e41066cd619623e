"""Why a circuit did not load: what `check` says of it, put beside what ngspice says.

ngspice often stops at a consequence, or says what is wrong without a place. `check` reads the same circuit,
in the same dialect, with the same libraries; its errors are what ngspice refuses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from application.simulation.prepared_circuit import PreparedCircuit
from domain.circuit.diagnostics import Diagnostic, diagnose
from domain.circuit.dialects import functions_of_mode
from domain.simulation.result import SimulationIssue
from shared.message import msg

_ROOTS = (
    "foreign-form",
    "missing-plus",
    "no-bin",
    "model-level",
    "osdi-missing",
    "unknown-directive",
    "unclosed-subckt",
    "stray-ends",
    "include-missing",
    "lib-section-missing",
)
"""What has other errors as its consequences."""
_MOST = 5
_OF_FILES = frozenset({"include-missing", "include-refused", "include-cycle"})
"""Told by the run itself, in its own words."""
_FATAL_WARNINGS = frozenset({"no-ground", "missing-plus"})
"""ngspice computes some circuits all the same; of one that failed it is the cause."""
_MISSING_FILES = frozenset({"missing-include", "include-refused"})
"""What the run calls them: whatever else is wrong may be their consequence."""
_OF_THE_RUN = frozenset(
    {"time-limit", "cpu-limit", "memory-limit", "file-size-limit", "disk-full", "box-failed",
     "simulator-killed", "no-convergence", "timestep-too-small"}
)  # fmt: skip
"""Ends of a run that have nothing to do with reading the circuit."""


def with_causes(issues: Sequence[SimulationIssue], prepared: PreparedCircuit) -> tuple[SimulationIssue, ...]:
    """The issues of a failed run with the errors of `check`: first of all when ngspice's first error is about
    another line, or about none. Blocking."""
    issues = [_of_a_measurement(_at_its_element(issue, prepared), prepared) for issue in issues]
    errors = [issue for issue in issues if issue.severity == "error"]
    if any(issue.code in _OF_THE_RUN for issue in errors):
        return tuple(issues)
    found = diagnose(prepared.netlist, prepared.tree, functions=functions_of_mode(prepared.compatibility))
    causes = [item for item in found if item.severity == "error" and item.code not in _OF_FILES]
    causes += [item._replace(severity="error") for item in found if item.code in _FATAL_WARNINGS]
    if not causes:
        return tuple(issues)
    causes.sort(key=lambda item: item.code not in _ROOTS)
    told = {(issue.file, issue.line): issue.code for issue in errors if issue.line is not None}
    new = [
        _issue(item)
        for item in causes
        if (item.file, item.line) not in told
        or (item.code in _ROOTS and told[item.file, item.line] != item.code)
    ][:_MOST]
    if errors and errors[0].code in _MISSING_FILES:
        return (*issues, *new)
    first = (errors[0].file, errors[0].line) if errors else None
    agrees = first in {(item.file, item.line) for item in causes} and causes[0].code not in _ROOTS
    return (*issues, *new) if agrees else (*new, *issues)


def _at_its_element(issue: SimulationIssue, prepared: PreparedCircuit) -> SimulationIssue:
    """With the place of the element ngspice names ("m.x1.mp1: channel length less than zero"), if only one
    element is called so."""
    if issue.line is not None or issue.code not in ("analysis-failed", "circuit-not-loaded"):
        return issue
    named = re.search(r": (?:[a-z]\.(?:x[^\s.:]*\.)+)?([a-z][^\s.:]*)[: ]", str(issue.message), re.IGNORECASE)
    sources = (prepared.netlist, *prepared.tree.files.values())
    found = [
        (source.path, element.line)
        for source in sources
        for element in source.elements
        if named is not None and element.key == named[1].lower()
    ]
    return replace(issue, file=found[0][0], line=found[0][1]) if len(found) == 1 else issue


def _of_a_measurement(issue: SimulationIssue, prepared: PreparedCircuit) -> SimulationIssue:
    """A name ngspice cannot know when it reads a `.meas` card: a result of another one, a signal."""
    cards = prepared.netlist.directives("meas")
    if issue.file != prepared.netlist.path or issue.line not in {card.line for card in cards}:
        return issue
    name = str(issue.message.params.get("name", "")).strip("\"'").lower()
    if issue.code == "undefined-parameter" and name in {word.key for c in cards for word in c.words[1:3]}:
        text = msg("{name} is the result of another .meas; ngspice knows it only after the run.", name=name)
        advice = msg("Use it only in a measurement of its own: .meas tran ratio param='{name}/2'.", name=name)
        return replace(issue, message=text, advice=advice)
    if issue.code == "bad-expression" and name in ("v", "i"):
        text = msg("ngspice evaluates braces in .meas before the run, where {name}(...) is not yet known.",
                   name=name)  # fmt: skip
        return replace(issue, message=text, advice=msg("Write par('...') in place of {{...}}."))
    return issue


def _issue(found: Diagnostic) -> SimulationIssue:
    return SimulationIssue(
        severity="error", code=found.code, message=found.message, file=found.file, line=found.line
    )
