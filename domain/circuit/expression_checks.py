"""Checks of expressions: parameters and functions that are not defined, cycles, unreadable text."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from domain.circuit.elements import Element
from domain.circuit.findings import Findings, Severity
from domain.circuit.hierarchy import Block, PlacedElement
from domain.circuit.netlist import assignments_of
from domain.circuit.parameters import (
    FUNCTIONS,
    RANDOM_FUNCTIONS,
    Expression,
    ExpressionError,
    find_cycles,
    parse_expression,
)
from domain.circuit.statements import Field, Statement
from shared.message import msg

_EXPRESSION_NAMES = frozenset({
    "time", "temper", "hertz", "pi", "e", "c", "kelvin", "echarge", "boltz", "planck", "i", "yes", "no",
    "true", "false", "s", "m",
})  # fmt: skip
"""Names behavioural expressions know without a definition."""
_EXPRESSION_FUNCTIONS = FUNCTIONS.keys() | RANDOM_FUNCTIONS | {
    "v", "i", "u", "u2", "uramp", "stp", "ddt", "idt", "sdt", "pwl", "table", "if", "buf", "inv", "db",
    "cxx", "rnd", "uniform", "atan2", "mod", "fabs", "round", "acosd", "pwr", "eq0", "ne0", "gt0", "lt0",
    "ge0", "le0", "min", "max", "pwlts", "pulse", "sin", "value", "poly", "laplace", "freq", "vol", "cur",
    "limit", "hypot", "ternary_fcn", "nint",
}  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Scope:
    """What can be named inside one block."""

    block: Block
    parameters: frozenset[str]
    functions: frozenset[str]
    elements: dict[str, Element]
    severity: Severity
    """Of a missing definition: errors only count where ngspice looks, and while no file is missing."""


def scope_of(block: Block, parameters: frozenset[str], severity: Severity) -> Scope:
    """Everything that has a name inside `block`."""
    functions: set[str] = set()
    for outer in block.lineage:
        functions |= outer.definitions().functions.keys()
        functions |= {
            _function_name(p.statement) for p in outer.cards if p.statement.keyword in {"func", "param"}
        }
    return Scope(
        block=block,
        parameters=parameters,
        functions=frozenset(functions - {""}),
        elements={placed.element.key: placed.element for placed in reversed(block.elements)},
        severity=severity,
    )


def _function_name(card: Statement) -> str:
    """The name a `.func name(...)` or `.param name(...)=` card defines, also when its body is unreadable."""
    match = re.match(r"\s*\.\w+\s+([\w.]+)\s*\(", card.raw)
    return match[1].lower() if match else ""


def check_parameters(scope: Scope, findings: Findings) -> None:
    """`.param` cards of the block: undefined names, cycles."""
    expressions: dict[str, Expression] = {}
    places: dict[str, tuple[Path | None, Field]] = {}
    for placed in scope.block.cards:
        if placed.statement.keyword in {"if", "elseif"}:
            condition = re.search(r"\(.*\)", placed.statement.raw)
            if condition is not None:
                span = placed.statement.field(condition.start(), condition.end())
                check_expression(span, placed.file, scope, findings)
        if placed.statement.keyword not in {"param", "csparam"} or _function_name(placed.statement):
            continue
        for pair in assignments_of(placed.statement):
            expression = check_expression(pair.value, placed.file, scope, findings)
            if expression is not None:
                expressions[pair.name] = expression
                places[pair.name] = placed.file, pair.value
    for cycle in find_cycles(expressions):
        last = max(cycle, key=lambda name: places[name][1].line)
        file, value = places[last]
        message = msg("These parameters are defined through each other: {names}. Give one of them a number.",
                      names=" → ".join([*cycle, cycle[0]]))  # fmt: skip
        severity: Severity = "error" if scope.block.is_used else "info"
        findings.add(severity, "parameter-cycle", message, file=file, at=value)


def check_expression(value: Field, file: Path | None, scope: Scope, findings: Findings) -> Expression | None:
    """An expression of numparam: readable, all names and functions known."""
    if value.text.startswith('"'):
        return None
    try:
        expression = parse_expression(value.text)
    except ExpressionError:
        if not re.search(r"[\"@\[]|\b[vi]\s*\(", value.text, re.IGNORECASE):
            message = msg("The expression {text} cannot be read. Look for a missing operator or bracket.",
                          text=value.text)  # fmt: skip
            findings.add(scope.severity, "bad-expression", message, file=file, at=value)
        return None
    check_names(expression.names, value, file, scope, findings)
    known = FUNCTIONS.keys() | RANDOM_FUNCTIONS | scope.functions
    _check_functions(expression.functions - known - {"v", "i"}, value, file, scope, findings)
    return expression


def check_names(
    names: Iterable[str], value: Field, file: Path | None, scope: Scope, findings: Findings
) -> None:
    """Note the names that are no parameters in sight."""
    for name in sorted(names):
        if name in scope.parameters or name in {"temper", "time", "hertz", "m"}:
            continue
        near = difflib.get_close_matches(name, sorted(scope.parameters), n=1, cutoff=0.7)
        message = (
            msg("Parameter {name} is not defined. Did you mean {near}?", name=name, near=near[0])
            if near
            else msg("Parameter {name} is not defined. Define it with .param.", name=name)
        )
        findings.add(scope.severity, "undefined-parameter", message, file=file, at=value)


def _check_functions(
    names: Iterable[str], value: Field, file: Path | None, scope: Scope, findings: Findings
) -> None:
    for name in sorted(names):
        message = msg("Function {name} is not defined. Define it with .func.", name=name)
        findings.add(scope.severity, "undefined-function", message, file=file, at=value)


def names_in(text: str) -> frozenset[str]:
    """Parameters a text reads; none when it is no expression."""
    try:
        return parse_expression(text).names
    except ExpressionError:
        return frozenset()


_CIRCUIT_REFERENCE = re.compile(r"\b[vi]\s*\([^()]*\)|@[\w.#]+\[\w+\]|\"[^\"]*\"", re.IGNORECASE)
_WORD = re.compile(r"(?<![\w.$])([A-Za-z_]\w*)\s*(\()?")


def check_behaviour(expression: Field, placed: PlacedElement, scope: Scope, findings: Findings) -> None:
    """A behavioural expression: names that are neither parameter nor constant, unknown functions."""
    text = _CIRCUIT_REFERENCE.sub(lambda match: " " * len(match[0]), expression.text)
    if re.search(r"\b(laplace|freq)\b", placed.element.statement.raw, re.IGNORECASE):
        message = msg("{name}: ngspice has no LAPLACE or FREQ sources. Use the XSPICE model s_xfer.",
                      name=placed.element.name)  # fmt: skip
        findings.add(scope.severity, "bad-expression", message, file=placed.file, at=expression)
        return
    names: set[str] = set()
    functions: set[str] = set()
    for match in _WORD.finditer(text):
        (functions if match[2] else names).add(match[1].lower())
    unknown_names = names - _EXPRESSION_NAMES - scope.parameters - _EXPRESSION_FUNCTIONS
    check_names(unknown_names, expression, placed.file, scope, findings)
    unknown_functions = functions - _EXPRESSION_FUNCTIONS - scope.functions - scope.parameters
    _check_functions(unknown_functions, expression, placed.file, scope, findings)
    for current in re.findall(r"\bi\s*\(\s*([^\s(),]+)\s*\)", expression.text, re.IGNORECASE):
        if current.lower() not in scope.elements and "." not in current:
            message = msg("{name} looks at the current of {target}, which does not exist here.",
                          name=placed.element.name, target=current)  # fmt: skip
            findings.add(scope.severity, "undefined-source", message, file=placed.file, at=expression)
