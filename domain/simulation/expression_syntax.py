"""The grammar of measurement expressions: text in, syntax tree out.

    sum     := product (("+" | "-") product)*
    product := unary (("*" | "/") unary)*
    unary   := ("+" | "-") unary | power
    power   := primary (("^" | "**") unary)?            right to left: 2^3^2 = 2^9, -2^2 = -4
    primary := number | signal | name "(" sum ("," sum)* ")" | "(" sum ")"
    signal  := [analysis digits? "."] (v(a) | v(a,b) | i(v1) | i(x1,pin) | p(r1) | vdb(a) ... | @m1[id] | name
               | "name") [step]
    step    := "@" digits | "@" name "=" number         which run of a `.step`: v(out)@2, v(out)@cval=220n

Numbers are SPICE numbers (1k, 1MEG, 10u; M is milli). Node names inside v( ) may hold anything but
an unmatched parenthesis. Letter case does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from domain.circuit.numbers import read_number
from shared.errors import UserInputError
from shared.message import Message, msg

_LONGEST = 10_000
_DEEPEST = 60
_MOST_OPERATIONS = 200

_SELECTOR = re.compile(r"(op|dc|ac|tran|noise|disto|tf|sens|pz)(\d{0,6})\.(?=[^\W\d]|[@\"])", re.IGNORECASE)
_SWEEP = re.compile(r"(?:v|i|temp|res)-sweep", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d][\w.#:$]*")
_DEVICE = re.compile(r"@[^\s\[\]()]+\[[^\[\]()\s]+\]")
_STEP_NUMBER = re.compile(r"@(\d{1,6})(?![\w\[.])")
_STEP_VALUE = re.compile(r"@([^\W\d][\w.:]*)=")
_BLANK = re.compile(r"\s*")
_ACCESS = {
    "v": None,
    "vm": "mag",
    "vdb": "db",
    "vp": "ph",
    "vr": "re",
    "vi": "im",
    "i": None,
    "idb": "db",
    "ip": "ph",
    "ir": "re",
    "ii": "im",
    "p": None,
}
"""Access words that begin a signal, and the function each implies (``vdb(out)`` is db(v(out)))."""
_TERMINALS = frozenset({"id", "ig", "is", "ic", "ib", "ie"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A literal, in SI."""

    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRef:
    """One run of a stepped simulation: by its number from 1, or by the value of what is stepped."""

    number: int = 0
    """0: it is told by its value."""
    name: str = ""
    """Lower case."""
    value: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRef:
    """A vector by name."""

    kind: str
    """"v" (one node, or two for a difference), "i" (an element), "terminal" (``id(m1)``), "p" (the power of
    an element) or "plain"."""
    names: tuple[str, ...]
    """Lower case: the nodes, the element (and its pin), (terminal, device), or the plain name."""
    analysis: str | None
    """Where it must come from (``tran2.v(out)``), None for wherever it makes sense."""
    number: int
    """Which plot of that analysis, from 1."""
    position: int
    text: str
    step: StepRef | None = None
    """Of which run of a `.step`; None for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A function applied to arguments."""

    function: str
    arguments: tuple[Node, ...]
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Negation:
    """Unary minus."""

    operand: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """An operation: + - * / ^."""

    operator: str
    left: Node
    right: Node


Node = Number | SignalRef | Call | Negation | Binary


def parse(text: str) -> Node:
    """The syntax tree of an expression. Raises UserInputError with the position of what is wrong."""
    if len(text) > _LONGEST:
        raise UserInputError(msg("The expression is longer than {limit} characters.", limit=_LONGEST))
    parser = _Parser(text)
    node = parser.sum(0)
    if parser.at < len(text):
        raise parser.error(msg("an operator or the end is expected"))
    return node


def children(node: Node) -> Iterator[Node]:
    """The direct operands of a node."""
    match node:
        case Call():
            yield from node.arguments
        case Negation():
            yield node.operand
        case Binary():
            yield node.left
            yield node.right
        case Number() | SignalRef():
            return


def written_out(text: str, named: Mapping[str, str]) -> str:
    """An expression with names replaced by what they stand for: ``2*gain`` is ``2*(v(out)/v(in))``.

    `named` has lower case names. Nodes and elements are none of them, nor is what names its analysis or step.
    Raises UserInputError as `parse` does.
    """
    pending, found = [parse(text)], list[SignalRef]()
    while pending:
        node = pending.pop()
        pending += children(node)
        is_bare = isinstance(node, SignalRef) and node.kind == "plain" and not (node.analysis or node.step)
        if isinstance(node, SignalRef) and is_bare and node.names[0] in named:
            found.append(node)
    for reference in sorted(found, key=lambda each: each.position, reverse=True):
        meant = named[reference.names[0]]
        if reference.text != text.strip() and isinstance(parse(meant), Binary | Negation):
            meant = f"({meant})"
        text = text[: reference.position] + meant + text[reference.position + len(reference.text) :]
    return text


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0
        self._operations = 0
        self._skip_blanks()

    def error(self, reason: Message, at: int | None = None) -> UserInputError:
        place = self.at if at is None else at
        shown = self._text if len(self._text) <= 200 else self._text[:200] + "..."
        if place >= len(self._text):
            message = msg(
                "The expression {expression} cannot be read at character {position} (its end): {reason}.",
                expression=shown,
                position=place + 1,
                reason=reason,
            )
        else:
            message = msg(
                "The expression {expression} cannot be read at character {position} ({found}): {reason}.",
                expression=shown,
                position=place + 1,
                found=self._text[place : place + 20],
                reason=reason,
            )
        return UserInputError(message, error_type="bad_expression")

    def sum(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self.error(msg("it is nested too deeply"))
        left = self._product(depth)
        while operator := self._take("+", "-"):
            left = self._binary(operator, left, self._product(depth))
        return left

    def _binary(self, operator: str, left: Node, right: Node) -> Binary:
        self._operations += 1
        if self._operations > _MOST_OPERATIONS:
            raise self.error(msg("it has more than {limit} operations", limit=_MOST_OPERATIONS))
        return Binary(operator=operator, left=left, right=right)

    def _product(self, depth: int) -> Node:
        left = self._unary(depth)
        while not self._text.startswith("**", self.at) and (operator := self._take("*", "/")):
            left = self._binary(operator, left, self._unary(depth))
        return left

    def _unary(self, depth: int) -> Node:
        is_negative = False
        while sign := self._take("+", "-"):
            is_negative ^= sign == "-"
        operand = self._power(depth)
        return Negation(operand=operand) if is_negative else operand

    def _power(self, depth: int) -> Node:
        base = self._primary(depth)
        if not self._take("**", "^"):
            return base
        if depth > _DEEPEST:
            raise self.error(msg("it is nested too deeply"))
        return self._binary("^", base, self._unary(depth + 1))

    def _primary(self, depth: int) -> Node:
        start = self.at
        if self._take("("):
            inner = self.sum(depth + 1)
            self._expect(")")
            return inner
        here = self._text[start : start + 1]
        if here.isdecimal() or here == ".":
            return self._number()
        return self._signal_or_call(depth)

    def _number(self) -> Number:
        start = self.at
        number = read_number(self._text[start:])
        if number is None:
            raise self.error(msg("a number is expected"))
        if number.rest.startswith("%"):
            self.at = len(self._text) - len(number.rest)
            raise self.error(msg("percent is not supported; write a fraction such as 0.01"))
        self.at = len(self._text) - len(number.rest)
        if number.rest[:1].isalnum() or number.rest[:1] in ("_", "."):
            raise self.error(msg("a SPICE number is expected, such as 1k, 2.2MEG or 10u"), start)
        self._skip_blanks()
        return Number(value=number.value)

    def _signal_or_call(self, depth: int) -> Node:
        start = self.at
        analysis, number = None, 1
        if selector := _SELECTOR.match(self._text, start):
            analysis, number = selector[1].lower(), int(selector[2] or 1)
            self.at = selector.end()
        if name := self._matched(_DEVICE) or self._matched(_SWEEP) or self._quoted():
            return self._reference("plain", (name.lower(),), analysis, number, start)
        name = self._matched(_NAME)
        if name is None:
            raise self.error(msg("a number, a signal or a function is expected"))
        word = name.lower()
        if not self._text.startswith("(", self.at):
            return self._reference("plain", (word,), analysis, number, start)
        if word in _ACCESS or word in _TERMINALS:
            return self._access(word, analysis, number, start)
        if analysis is not None:
            raise self.error(msg("only a signal can follow the name of an analysis"), start)
        return self._call(word, depth, start)

    def _access(self, word: str, analysis: str | None, number: int, start: int) -> Node:
        names = self._names_in_parentheses()
        kind = word[0]
        if word in _TERMINALS:
            kind, names = "terminal", (word, *names)
        if len(names) > (1 if kind == "p" else 2) or not all(names):
            raise self.error(
                msg("v( ) takes one or two nodes, i( ) an element (and its pin), p( ) an element"), start
            )
        reference = self._reference(kind, names, analysis, number, start)
        function = _ACCESS.get(word)
        return Call(function=function, arguments=(reference,), position=start) if function else reference

    def _reference(
        self, kind: str, names: tuple[str, ...], analysis: str | None, number: int, start: int
    ) -> SignalRef:
        step = self._step()
        text = self._text[start : self.at].strip()
        self._skip_blanks()
        return SignalRef(
            kind=kind, names=names, analysis=analysis, number=number, position=start, text=text, step=step
        )

    def _step(self) -> StepRef | None:
        if found := _STEP_NUMBER.match(self._text, self.at):
            self.at = found.end()
            return StepRef(number=int(found[1]))
        if found := _STEP_VALUE.match(self._text, self.at):
            self.at = found.end()
            sign = -1.0 if self._take("-") else 1.0
            return StepRef(name=found[1].lower(), value=sign * self._number().value)
        return None

    def _names_in_parentheses(self) -> tuple[str, ...]:
        """The names between parentheses that match, cut at commas; blanks and quotes fall away."""
        start = self.at
        depth = 0
        for place in range(start, len(self._text)):
            depth += {"(": 1, ")": -1}.get(self._text[place], 0)
            if depth == 0:
                inner = self._text[start + 1 : place]
                self.at = place + 1
                return tuple("".join(name.split()).strip("\"'").lower() for name in inner.split(","))
        raise self.error(msg("a closing parenthesis is missing"), start)

    def _call(self, function: str, depth: int, start: int) -> Call:
        self._expect("(")
        arguments: list[Node] = []
        if not self._take(")"):
            arguments.append(self.sum(depth + 1))
            while self._take(","):
                arguments.append(self.sum(depth + 1))
            self._expect(")")
        return Call(function=function, arguments=tuple(arguments), position=start)

    def _quoted(self) -> str | None:
        if not self._text.startswith('"', self.at):
            return None
        stop = self._text.find('"', self.at + 1)
        if stop <= self.at + 1:
            raise self.error(msg("a closing quote is missing"))
        name = self._text[self.at + 1 : stop]
        self.at = stop + 1
        return name

    def _matched(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self._text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0]

    def _take(self, *options: str) -> str | None:
        for option in options:
            if self._text.startswith(option, self.at):
                self.at += len(option)
                self._skip_blanks()
                return option
        return None

    def _expect(self, symbol: str) -> None:
        if not self._take(symbol):
            raise self.error(msg("{symbol} is expected", symbol=symbol))

    def _skip_blanks(self) -> None:
        found = _BLANK.match(self._text, self.at)
        self.at = found.end() if found else self.at
