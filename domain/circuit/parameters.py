"""Parameter expressions as ngspice's numparam computes them, and the values of a netlist's parameters.

Found by trying ngspice 39: ``^`` and ``**`` are one left-associative operator that binds tighter than a
sign (``-2^2`` is -4) and raises the magnitude (``(-3)^0.5`` is 1.732) unless the exponent is whole;
``log`` is natural; ``\\`` divides without remainder; ``mil`` is read as milli here, unlike on element
lines; there are no constants (``pi`` is undefined); letter case does not matter; the last `.param` of a
name counts, wherever it stands.
"""

from __future__ import annotations

import math
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from domain.circuit.cards import assignments_of
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import read_number
from domain.circuit.statements import Statement
from shared.late_patterns import late_pattern

if TYPE_CHECKING:
    from domain.circuit.dependencies import DependencyTree

RANDOM_FUNCTIONS = frozenset({"agauss", "gauss", "aunif", "unif", "limit"})
"""Their values change from run to run: what uses them has no value here, but is defined."""


class ExpressionError(ValueError):
    """The text is no expression, or has no value (division by zero, unknown name)."""


def _to_nearest(value: float) -> float:
    return float(round(value))  # halves go to the even neighbour, as nearbyint does in ngspice


def _sign(value: float) -> float:
    return math.copysign(1.0, value) if value else 0.0


FUNCTIONS: dict[str, tuple[int, Callable[..., float]]] = {
    "sqr": (1, lambda x: x * x),
    "sqrt": (1, math.sqrt),
    "sin": (1, math.sin),
    "cos": (1, math.cos),
    "tan": (1, math.tan),
    "asin": (1, math.asin),
    "acos": (1, math.acos),
    "atan": (1, math.atan),
    "arctan": (1, math.atan),
    "sinh": (1, math.sinh),
    "cosh": (1, math.cosh),
    "tanh": (1, math.tanh),
    "asinh": (1, math.asinh),
    "acosh": (1, math.acosh),
    "atanh": (1, math.atanh),
    "exp": (1, math.exp),
    "ln": (1, math.log),
    "log": (1, math.log),
    "log10": (1, math.log10),
    "abs": (1, abs),
    "sgn": (1, _sign),
    "int": (1, math.trunc),
    "nint": (1, _to_nearest),
    "floor": (1, math.floor),
    "ceil": (1, math.ceil),
    "pow": (2, math.pow),
    "pwr": (2, lambda x, y: math.pow(abs(x), y)),
    "min": (2, min),
    "max": (2, max),
    "ternary_fcn": (3, lambda c, a, b: a if c else b),
}
"""numparam's functions: number of arguments and meaning."""

Node = tuple[str, tuple[object, ...]]
"""A piece of an expression tree: its operation and operands."""


class UserFunction(NamedTuple):
    """A `.func` card."""

    arguments: tuple[str, ...]
    body: Expression


class Expression(NamedTuple):
    """A parsed expression."""

    text: str
    tree: Node
    names: frozenset[str]
    """Parameters it reads, lower case."""
    functions: frozenset[str]
    """Functions it calls, lower case."""

    def evaluate(
        self, values: Mapping[str, float], functions: Mapping[str, UserFunction] | None = None
    ) -> float:
        """Its value. Raises ExpressionError for an unknown name, a random function, or no finite value."""
        try:
            value = _evaluate(self.tree, values, _Evaluation(functions or {}), 0)
        except (ArithmeticError, ValueError) as error:
            raise ExpressionError(f"{self.text}: {error}") from error
        except RecursionError:
            raise ExpressionError(f"{self.text[:40]}: nested too deep") from None
        if not math.isfinite(value):
            raise ExpressionError(f"{self.text}: not finite")
        return value


_TOKEN = late_pattern(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[a-zA-Z\u0080-\uffff]*)"
    r"|(?P<name>[A-Za-z_@\u0080-\uffff][\w.@#$\[\]]*)"
    r"|(?P<operator>\*\*|&&|\|\||==|!=|<>|<=|>=|[-+*/%\\^()<>!?:,&|{}'=]))"
)
_BINARY_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||", "|"),
    ("&&", "&"),
    ("==", "!=", "<>", "=", "<", ">", "<=", ">="),
    ("+", "-"),
    ("*", "/", "%", "\\"),
)


_LONGEST_REMEMBERED = 200
"""Characters of an expression that is remembered: many elements have the same one."""


def parse_expression(text: str) -> Expression:
    """Read an expression, with or without its braces or quotes. Raises ExpressionError."""
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _parsed(text)


def _parsed(text: str) -> Expression:
    return _Parser(text).parse()


_remembered = lru_cache(maxsize=4096)(_parsed)


class _Parser:
    """Recursive descent over numparam's grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [*_tokens(text), ("end", "")]
        self._at = 0
        self._names: set[str] = set()
        self._functions: set[str] = set()

    def parse(self) -> Expression:
        try:
            tree = self._ternary()
        except RecursionError:
            raise ExpressionError(f"{self._text[:40]}: nested too deep") from None
        if self._tokens[self._at][0] != "end":
            raise ExpressionError(f"{self._text}: unexpected {self._tokens[self._at][1]!r}")
        return Expression(
            text=self._text,
            tree=tree,
            names=frozenset(self._names),
            functions=frozenset(self._functions),
        )

    def _accept(self, *operators: str) -> str | None:
        kind, text = self._tokens[self._at]
        if kind == "operator" and text in operators:
            self._at += 1
            return text
        return None

    def _expect(self, operator: str) -> None:
        if self._accept(operator) is None:
            raise ExpressionError(f"{self._text}: {operator!r} is missing")

    def _ternary(self) -> Node:
        condition = self._binary(0)
        if self._accept("?") is None:
            return condition
        first = self._ternary()
        self._expect(":")
        return ("?", (condition, first, self._ternary()))

    def _binary(self, level: int) -> Node:
        if level == len(_BINARY_LEVELS):
            return self._signed()
        left = self._binary(level + 1)
        while (operator := self._accept(*_BINARY_LEVELS[level])) is not None:
            left = (operator, (left, self._binary(level + 1)))
        return left

    def _signed(self) -> Node:
        operator = self._accept("-", "+", "!")
        if operator is not None:
            return ("u" + operator, (self._signed(),))
        return self._power()

    def _power(self) -> Node:
        left = self._atom()
        while self._accept("^", "**") is not None:
            sign = self._accept("-", "+")
            right = self._atom()
            left = ("^", (left, ("u-", (right,)) if sign == "-" else right))
        return left

    def _atom(self) -> Node:
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            return ("number", (_expression_number(text),))
        if kind == "name":
            return self._call(text.lower()) if self._accept("(") else self._name(text.lower())
        for opener, closer in (("(", ")"), ("{", "}"), ("'", "'")):
            if text == opener and kind == "operator":
                inner = self._ternary()
                self._expect(closer)
                return inner
        raise ExpressionError(f"{self._text}: a value is missing")

    def _name(self, name: str) -> Node:
        self._names.add(name)
        return ("name", (name,))

    def _call(self, name: str) -> Node:
        self._functions.add(name)
        arguments: list[Node] = []
        if self._accept(")") is None:
            arguments.append(self._ternary())
            while self._accept(",") is not None:
                arguments.append(self._ternary())
            self._expect(")")
        return ("call", (name, tuple(arguments)))


def _tokens(text: str) -> Iterable[tuple[str, str]]:
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise ExpressionError(f"{text}: cannot read from {text[position:]!r} on")
        yield match.lastgroup or "", match[match.lastgroup or 0]
        position = match.end()


def _expression_number(text: str) -> float:
    number = read_number(text)
    if number is None or (number.rest[:1].isascii() and number.rest):
        raise ExpressionError(f"not a number: {text}")
    if number.suffix.lower() == "mil":
        return number.value / 25.4e-6 * 1e-3
    return number.value


_DEEPEST_CALL = 100
_MOST_CALLS = 20_000
"""Of functions, for one value: ten that call the next one twice make a thousand calls, thirty a billion."""


@dataclass(slots=True)
class _Evaluation:
    """What one evaluation may call, and how often still."""

    functions: Mapping[str, UserFunction]
    calls_left: int = _MOST_CALLS


def _evaluate(node: Node, values: Mapping[str, float], run: _Evaluation, depth: int) -> float:
    operation, operands = node
    if operation == "number":
        return operands[0]  # type: ignore[return-value]
    if operation == "name":
        name = operands[0]
        if name not in values:
            raise ExpressionError(f"{name} is not defined")
        return values[name]  # type: ignore[index]
    if operation == "call":
        return _call_function(node, values, run, depth)

    def value_of(index: int) -> float:
        return _evaluate(operands[index], values, run, depth)  # type: ignore[arg-type]

    if operation == "?":
        return value_of(1) if value_of(0) else value_of(2)
    if operation in {"u-", "u+", "u!"}:
        value = value_of(0)
        return -value if operation == "u-" else value if operation == "u+" else float(not value)
    return _OPERATORS[operation](value_of(0), value_of(1))


def _power_of(base: float, exponent: float) -> float:
    if base >= 0 or exponent == int(exponent):
        return math.pow(base, exponent)
    return math.pow(-base, exponent)


_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": math.fmod,
    "\\": lambda a, b: float(math.trunc(a / b)),
    "^": _power_of,
    "==": lambda a, b: float(a == b),
    "=": lambda a, b: float(a == b),
    "!=": lambda a, b: float(a != b),
    "<>": lambda a, b: float(a != b),
    "<": lambda a, b: float(a < b),
    ">": lambda a, b: float(a > b),
    "<=": lambda a, b: float(a <= b),
    ">=": lambda a, b: float(a >= b),
    "&&": lambda a, b: float(bool(a) and bool(b)),
    "&": lambda a, b: float(bool(a) and bool(b)),
    "||": lambda a, b: float(bool(a) or bool(b)),
    "|": lambda a, b: float(bool(a) or bool(b)),
}


def _call_function(node: Node, values: Mapping[str, float], run: _Evaluation, depth: int) -> float:
    name, arguments = node[1]
    assert isinstance(name, str)
    assert isinstance(arguments, tuple)
    numbers = [_evaluate(argument, values, run, depth) for argument in arguments]
    if name in run.functions:
        function = run.functions[name]
        run.calls_left -= 1
        if run.calls_left < 0:
            raise ExpressionError(f"{name} is called without end")
        if depth >= _DEEPEST_CALL or len(numbers) != len(function.arguments):
            raise ExpressionError(f"{name} cannot be called like this")
        own = dict(zip(function.arguments, numbers, strict=True))
        local = values.new_child(own) if isinstance(values, ChainMap) else ChainMap(own, dict(values))
        return _evaluate(function.body.tree, local, run, depth + 1)
    if name not in FUNCTIONS:
        raise ExpressionError(f"{name} is not a function with a fixed value")
    count, function_value = FUNCTIONS[name]
    if len(numbers) != count:
        raise ExpressionError(f"{name} takes {count} arguments")
    return float(function_value(*numbers))


# ---- the parameters of a netlist -----------------------------------------------------------------


def expression_of(text: str) -> Expression | None:
    """The expression a parameter's value text is, or None for a string or what cannot be read."""
    if text.startswith('"'):
        return None
    try:
        return parse_expression(text)
    except ExpressionError:
        return None


@dataclass(slots=True, kw_only=True)
class Definitions:
    """Parameters and functions of one scope, each defined where its name was last written."""

    expressions: dict[str, Expression] = field(default_factory=dict)
    functions: dict[str, UserFunction] = field(default_factory=dict)

    def values(self, outer: Mapping[str, float] | None = None) -> dict[str, float]:
        """The values that can be computed, in SI; names in a cycle or without a value are left out."""
        known: dict[str, float] = dict(outer or {})
        mine: dict[str, float] = {}
        for name in _in_order(self.expressions):
            known.pop(name, None)
            try:
                mine[name] = known[name] = self.expressions[name].evaluate(known, self.functions)
            except ExpressionError:
                continue
        return mine


def _in_order(expressions: Mapping[str, Expression]) -> list[str]:
    """Names so that each comes after those it needs (in a cycle the order does not matter)."""
    ordered: dict[str, None] = {}
    for first in expressions:
        stack = [(first, iter(sorted(expressions[first].names)))]
        visiting = {first}
        while stack:
            name, needed = stack[-1]
            following = next(
                (n for n in needed if n in expressions and n not in ordered and n not in visiting), None
            )
            if following is None:
                stack.pop()
                ordered[name] = None
            else:
                visiting.add(following)
                stack.append((following, iter(sorted(expressions[following].names))))
    return list(ordered)


_MOST_CYCLES = 50
"""Cycles that are told; a circuit with more has one mistake many times."""


def find_cycles(expressions: Mapping[str, Expression]) -> list[tuple[str, ...]]:
    """Parameters that need themselves, in the order of the dependence: each cycle once, of many the first."""
    cycles: dict[frozenset[str], tuple[str, ...]] = {}
    finished: set[str] = set()
    for first in expressions:
        path: dict[str, None] = {first: None}
        stack = [(first, iter(sorted(expressions[first].names & expressions.keys())))]
        while stack:
            name, needed = stack[-1]
            following = next(needed, None)
            if following is None:
                stack.pop()
                del path[name]
                finished.add(name)
            elif following in path:
                names = list(path)
                cycle = tuple(names[names.index(following) :])
                cycles.setdefault(frozenset(cycle), cycle)
                if len(cycles) >= _MOST_CYCLES:
                    return list(cycles.values())
            elif following not in finished:
                stack.append((following, iter(sorted(expressions[following].names & expressions.keys()))))
                path[following] = None
    return list(cycles.values())


_FUNCTION_HEAD = late_pattern(r"\s*([\w.]+)\s*\(([^)]*)\)\s*=?\s*(.*)", re.DOTALL)


def read_function(card: Statement) -> tuple[str, UserFunction] | None:
    """Name and meaning of a `.func name(a, b) {body}` card; None when it cannot be read."""
    rest = card.text.strip().split(None, 1)
    match = _FUNCTION_HEAD.match(rest[1]) if len(rest) > 1 else None
    if match is None:
        return None
    body = expression_of(match[3].strip())
    if body is None:
        return None
    arguments = tuple(argument.strip().lower() for argument in match[2].split(",") if argument.strip())
    return match[1].lower(), UserFunction(arguments=arguments, body=body)


def definitions_of(cards: Iterable[Statement]) -> Definitions:
    """The parameters and functions the given cards define (the caller picks the cards of one scope)."""
    definitions = Definitions()
    for card in cards:
        if card.keyword == "func" and (function := read_function(card)) is not None:
            definitions.functions[function[0]] = function[1]
        elif card.keyword in {"param", "csparam"}:
            for pair in assignments_of(card):
                expression = expression_of(pair.value.text)
                if expression is not None:
                    definitions.expressions[pair.name] = expression
    return definitions


def resolve_parameters(circuit: Netlist | DependencyTree) -> dict[str, float]:
    """Values of the top-level parameters by lower-case name, SI; what has no fixed value is left out.

    Given a DependencyTree, the parameters of the included files count too.
    """
    if isinstance(circuit, Netlist):
        cards = [card for card in circuit.statements if card.kind == "directive" and not card.scope]
    else:
        cards = [p.statement for p in circuit.expanded if p.statement.kind == "directive" and not p.scope]
    return definitions_of(cards).values()
