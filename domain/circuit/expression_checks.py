"""Checks of expressions: parameters and functions that are not defined, cycles, unreadable text."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from domain.circuit.cards import assignments_of
from domain.circuit.elements import Element
from domain.circuit.findings import Findings, Severity
from domain.circuit.foreign_cards import closing
from domain.circuit.foreign_functions import arguments_of
from domain.circuit.hierarchy import Block, PlacedElement
from domain.circuit.numbers import read_number
from domain.circuit.parameters import (
    FUNCTIONS,
    RANDOM_FUNCTIONS,
    Expression,
    ExpressionError,
    find_cycles,
    parse_expression,
)
from domain.circuit.placed import Placed
from domain.circuit.statements import Field, Statement
from shared.late_patterns import late_pattern
from shared.message import msg

_EXPRESSION_NAMES = frozenset({"time", "temper", "hertz", "pi", "e"})
"""Names behavioural expressions know without a definition."""
_EXPRESSION_FUNCTIONS = (FUNCTIONS.keys() - {"sqr", "arctan", "int"}) | RANDOM_FUNCTIONS | {
    "v", "i", "u", "u2", "uramp", "ddt", "pwl", "eq0", "ne0", "gt0", "lt0", "ge0", "le0",
}  # fmt: skip
"""Functions of behavioural expressions, each tried on ngspice 39; some of parameters are missing here."""


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
        _check_commas(placed, scope, findings)
        for pair in assignments_of(placed.statement):
            if _STRING_SUM.fullmatch(pair.value.text):
                continue
            if re.search(r"[{}']", _unwrapped(_inner_braces_as_brackets(pair.value.text))):
                note_unreadable(pair.value, placed.file, scope, findings)
                continue
            expression = check_expression(pair.value, placed.file, scope, findings)
            # A .csparam is copied out for the control block: .csparam x={x} does not define x by itself.
            if expression is not None and placed.statement.keyword == "param":
                expressions[pair.name] = expression
                places[pair.name] = placed.file, pair.value
    for cycle in find_cycles(expressions):
        last = max(cycle, key=lambda name: places[name][1].line)
        file, value = places[last]
        message = msg("These parameters depend on each other in a circle: {names}. Give one of them a "
                      "number.",
                      names=" → ".join([*cycle, cycle[0]]))  # fmt: skip
        severity: Severity = "error" if scope.block.is_used else "info"
        findings.add(severity, "parameter-cycle", message, file=file, at=value)


def check_expression(value: Field, file: Path | None, scope: Scope, findings: Findings) -> Expression | None:
    """An expression of numparam: readable, all names and functions known."""
    if value.text.startswith('"'):
        return None
    try:
        expression = parse_expression(_inner_braces_as_brackets(value.text))
    except ExpressionError:
        if not re.search(r"[\"@\[]|\b[vi]\s*\(", value.text, re.IGNORECASE):
            note_unreadable(value, file, scope, findings)
        return None
    check_names(expression.names, value, file, scope, findings)
    known = FUNCTIONS.keys() | RANDOM_FUNCTIONS | scope.functions
    _check_functions(expression.functions - known - {"v", "i"}, value, file, scope, findings)
    return expression


def note_unreadable(value: Field, file: Path | None, scope: Scope, findings: Findings) -> None:
    """An expression ngspice does not understand."""
    message = msg("The expression {text} cannot be read. Check for a missing operator or parenthesis.",
                  text=value.text if len(value.text) <= 80 else value.text[:77] + "...")  # fmt: skip
    findings.add(scope.severity, "bad-expression", message, file=file, at=value)


def note_unbraced(value: Field, file: Path | None, scope: Scope, findings: Findings) -> None:
    """An expression, or a name, that ngspice reads only in braces at this place."""
    message = msg("ngspice accepts {text} here only in braces: {braced}.",
                  text=value.text, braced=f"{{{value.text}}}")  # fmt: skip
    findings.add(scope.severity, "bad-value", message, file=file, at=value)


_STRING_SUM = late_pattern(r"\w+(?:\{\w+\})+\w*")
"""Strings put together: ``both=or{and}``."""


def _inner_braces_as_brackets(text: str) -> str:
    """ngspice reads braces inside an expression as parentheses, as long as they pair up.

    Not those it begins with (of ``{q}*2`` only ``{q}`` is read), and none in quotes.
    """
    inner = _unwrapped(text)
    if (inner is text and text.startswith("{")) or text.startswith("'"):
        return text
    if "{" not in inner and "}" not in inner:
        return inner
    depth = 0
    for sign in inner:
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            return text
    return text if depth else inner.replace("{", "(").replace("}", ")")


def _unwrapped(text: str) -> str:
    """An expression without its outer braces or quotes."""
    return text[1:-1] if text[:1] + text[-1:] in {"{}", "''"} else text


def _check_commas(card: Placed, scope: Scope, findings: Findings) -> None:
    """ngspice 39 hangs on ``.param a=1, b=2``; a blank before the comma saves it."""
    fields = card.statement.fields
    for index, comma in enumerate(fields[1:-2], start=1):
        is_between = comma.text == "," and fields[index + 2].text == "="
        if is_between and fields[index - 1].end == comma.start:
            message = msg("A comma between parameters makes ngspice hang. Use a space instead.")
            findings.add(scope.severity, "bad-expression", message, file=card.file, at=comma)
            return


_BARE_NAME = late_pattern(r"[A-Za-z_]\w*")


def check_bare_names(placed: PlacedElement, scope: Scope, findings: Findings) -> None:
    """Words without braces where a number must stand: gains, and values behind ``w=``, ``ic=`` and so on."""
    element = placed.element
    candidates: list[Field] = []
    if element.letter in "egfh" and not element.expressions:
        numbers = element.numbers if element.value is None else (element.value, *element.numbers)
        candidates += [f for f in numbers if f.text[:1] not in "\"'{" and f.key != "gain"]  # its own keyword
    if element.letter in "mdqjzclt":
        candidates += [field for key, field in element.params.items() if key not in {"q", "c", "l", "flux"}]
    for candidate in candidates:
        if _BARE_NAME.fullmatch(candidate.text):
            check_names([candidate.key], candidate, placed.file, scope, findings)
    unbraced = [f for f in candidates if re.search(r"[\w)]\s*[*/^]|\*\*", f.text) and f.text[:1] not in "{'"]
    if element.letter in "rclvi" and element.value not in element.params.values():
        values = [element.value] if element.value is not None else []
        unbraced += [f for f in (*values, *element.numbers) if _is_number_with_operator(f.text)]
    for field in unbraced:
        note_unbraced(field, placed.file, scope, findings)


def _is_number_with_operator(text: str) -> bool:
    number = read_number(text)
    return number is not None and number.rest[:1] in {"*", "/", "^"}


_NUMERIC_MODELS = frozenset(
    {"d", "npn", "pnp", "lpnp", "njf", "pjf", "nmos", "pmos", "sw", "csw", "r", "c", "l"}
)


def check_model_names(card: Placed, scope: Scope, findings: Findings) -> None:
    """Bare words as values in `.model`: parameters, and not right before the closing parenthesis."""
    fields = card.statement.fields
    words = card.statement.head(3)
    if len(words) < 3 or words[2].key not in _NUMERIC_MODELS:
        return
    for index, sign in enumerate(fields[:-1]):
        value = fields[index + 1]
        if sign.text != "=" or not _BARE_NAME.fullmatch(value.text):
            continue
        if findings.functions and index and fields[index - 1].key in {"mfg", "type"}:
            continue  # ngspice drops these words in the modes for PSpice and LTspice
        following = fields[index + 2] if index + 2 < len(fields) else None
        if following is not None and following.text == "(" and following.start == value.end:
            continue  # a function: Vth0=agauss(-0.6, 0.1, 3)
        check_names([value.key], value, card.file, scope, findings)
        if following is not None and following.text == ")" and following.start == value.end:
            note_unbraced(value, card.file, scope, findings)


def check_names(
    names: Iterable[str], value: Field, file: Path | None, scope: Scope, findings: Findings
) -> None:
    """Note the names that are no parameters in sight."""
    for name in sorted(names):
        if name in scope.parameters or name in {"temper", "time", "hertz", "m"}:
            continue
        if name == "temp" and findings.functions:  # in the modes for PSpice and LTspice it is temper
            continue
        near = findings.near(name, scope.parameters, cutoff=0.7) or _one_letter_off(name, scope.parameters)
        message = (
            msg("Parameter {name} is not defined. Did you mean {near}?", name=name, near=near)
            if near
            else msg("Parameter {name} is not defined. Define it with .param.", name=name)
        )
        findings.add(scope.severity, "undefined-parameter", message, file=file, at=value)


def _one_letter_off(name: str, known: Iterable[str]) -> str | None:
    """Of three letters, too few to be compared by their share: the known one with another letter behind the
    first. Another figure (``rb1``, ``rb2``) makes another name."""
    return next(
        (
            each
            for each in sorted(known)
            if len(each) == len(name) == 3
            and each[0] == name[0]
            and sum(map(operator.ne, each, name)) == 1
            and all(a == b or (a + b).isalpha() for a, b in zip(each, name, strict=True))
        ),
        None,
    )


def _check_functions(
    names: Iterable[str], value: Field, file: Path | None, scope: Scope, findings: Findings
) -> None:
    for name in sorted(set(names) - findings.functions):
        message = (
            msg("ngspice has no function if. Write condition ? value : other value.")
            if name == "if"
            else msg("Function {name} is not defined. Define it with .func.", name=name)
        )
        findings.add(scope.severity, "undefined-function", message, file=file, at=value)


def names_in(text: str) -> frozenset[str]:
    """Parameters a text reads; none when it is no expression."""
    try:
        return parse_expression(text).names
    except ExpressionError:
        return frozenset()


_CIRCUIT_REFERENCE = late_pattern(r"\b[vi]\s*\([^()]*\)|@[\w.#]+\[\w+\]|\"[^\"]*\"", re.IGNORECASE)
_LIMIT = late_pattern(r"(?<![\w.])limit\s*\(", re.IGNORECASE)
_WORD = late_pattern(r"(?<![\w.$])([A-Za-z_]\w*)\s*(\()?")


def _check_limits(expression: Field, file: Path | None, scope: Scope, findings: Findings) -> None:
    """A value held between two others, as ngspice's modes for PSpice and LTspice have it: its own function of
    that name, of two arguments, is random, and takes a third one without a word."""
    for match in _LIMIT.finditer(expression.text):
        end = closing(expression.text, match.end() - 1)
        arguments = arguments_of(expression.text[match.end() : end - 1])
        if len(arguments) != 3:
            continue
        value, low, high = arguments
        message = msg(
            "ngspice's limit() does not limit, it returns a random number. Write {instead} for {call}.",
            call=expression.text[match.start() : end], instead=f"min(max({value},{low}),{high})",
        )  # fmt: skip
        findings.add(scope.severity, "foreign-form", message, file=file, at=expression)


def check_behaviour(expression: Field, placed: PlacedElement, scope: Scope, findings: Findings) -> None:
    """A behavioural expression: names that are neither parameter nor constant, unknown functions."""
    text = _CIRCUIT_REFERENCE.sub(lambda match: " " * len(match[0]), expression.text)
    if re.search(r"(?<=\s)(laplace|freq)\s*[={(]", placed.element.statement.raw, re.IGNORECASE):
        message = msg("{name}: ngspice has no LAPLACE or FREQ sources. Use the XSPICE model s_xfer.",
                      name=placed.element.name)  # fmt: skip
        # (what a missing file would bring does not change that)
        findings.add(
            "error" if scope.block.is_used else scope.severity,
            "foreign-form",
            message,
            file=placed.file,
            at=expression,
        )
        return
    if device := re.search(r"@[\w.#]+\[\w+\]", expression.text):
        message = msg("{name}: ngspice cannot read {device} in an expression. Use the current of a "
                      "source instead.",
                      name=placed.element.name, device=device[0])  # fmt: skip
        findings.add(scope.severity, "bad-expression", message, file=placed.file, at=expression)
    names: set[str] = set()
    functions: set[str] = set()
    for match in _WORD.finditer(text):
        (functions if match[2] else names).add(match[1].lower())
    if "limit" in functions - scope.functions and not findings.functions:
        _check_limits(expression, placed.file, scope, findings)
    unknown_names = names - _EXPRESSION_NAMES - scope.parameters - _EXPRESSION_FUNCTIONS
    check_names(unknown_names, expression, placed.file, scope, findings)
    unknown_functions = functions - _EXPRESSION_FUNCTIONS - scope.functions - scope.parameters
    _check_functions(unknown_functions, expression, placed.file, scope, findings)
    for current in re.findall(r"\bi\s*\(\s*([^\s(),]+)\s*\)", expression.text, re.IGNORECASE):
        if current.lower() not in scope.elements and "." not in current:
            message = msg("{name} refers to the current of {target}, which does not exist in this scope.",
                          name=placed.element.name, target=current)  # fmt: skip
            findings.add(scope.severity, "undefined-source", message, file=placed.file, at=expression)
