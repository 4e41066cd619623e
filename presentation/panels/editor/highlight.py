"""Which byte of a netlist is what, for its colours and folds; knows no widget.

The words come from the parser (`domain.circuit`), so what is coloured as a node is what counts as one.
Text is painted card by card from any line where a card begins: the state of a line (inside `.control`,
how many blocks are open) is one small integer kept by the editor, so a change costs its own lines only.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from enum import IntEnum

from domain.circuit.elements import is_value, parse_element
from domain.circuit.numbers import read_number
from domain.circuit.statements import Field, Source, Statement, read_statements


class Style(IntEnum):
    """What a byte is; `TOKENS` has the theme's name for its colour."""

    PLAIN = 0
    COMMENT = 1
    TITLE = 2
    DIRECTIVE = 3
    ELEMENT = 4
    NODE = 5
    VALUE = 6
    PARAM = 7
    MODEL = 8
    STRING = 9
    OPERATOR = 10


TOKENS: dict[Style, str] = {style: f"syntax.{style.name.lower()}" for style in Style}


@dataclass(frozen=True, slots=True, kw_only=True)
class Painted:
    """Lines with their styles and states."""

    styles: bytes
    """A `Style` a byte."""
    states: tuple[int, ...]
    """State after each line."""
    headers: tuple[bool, ...]
    """Whether a foldable block begins on each line."""


_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_BLOCK = re.compile(
    rb"[ \t]*\.(?:(?P<control>control)|(?P<endc>endc)"
    rb"|(?P<open>subckt|macro|if)\b|(?P<close>ends|eom|endif)\b)",
    re.IGNORECASE,
)
_MOST_ROUGH = 30_000
"""Bytes of such a card that have colours; some milliseconds."""
_DEEPEST = 200
"""Levels of blocks that are told apart; the editor has place for some thousand."""


def lines_of(data: bytes) -> list[bytes]:
    """The lines of `data` with their ends, as the editor counts them: LF, CR LF and CR all end one."""
    return _LINE.findall(data)


def continues(line: bytes) -> bool:
    """Whether a line goes on with the card before it."""
    return line.lstrip(b" \t\f\v\0").startswith(b"+")


def is_held_over(line: bytes) -> bool:
    r"""Whether a line ends in ``\\``, which ngspice takes for "goes on in the next"."""
    return line.rstrip().endswith(b"\\\\")


def depth_of(state: int) -> int:
    return state >> 1


def paint(
    data: bytes, *, state: int = 0, is_start: bool = False, models: Container[str] = frozenset()
) -> Painted:
    """Paint whole lines of UTF-8 text that begin where a card begins.

    `state` is the one behind the line before; `is_start` says that the first line is the title; `models`
    are the names of the models in sight, lower case.
    """
    lines = lines_of(data)
    states, headers = _follow(lines, state, is_start=is_start)
    canvas = _Canvas(data, models)
    head = 0
    if state & 1:  # a control block that began further up: up to its .endc there are no cards
        count = next((i + 1 for i, after in enumerate(states) if not after & 1), len(lines))
        for line in lines[:count]:
            canvas.paint_command(head, line)
            head += len(line)
    for line in lines[_count(data, head) :]:
        if not continues(line):
            break
        canvas.paint_torn(head, line)  # of a card too long to be read from its beginning
        head += len(line)
    canvas.paint_cards(head, has_title=is_start)
    return Painted(styles=bytes(canvas.styles), states=tuple(states), headers=tuple(headers))


def paint_roughly(data: bytes, *, state: int = 0, is_start: bool = False) -> Painted:
    """Whole lines with their states and folds, quick for a card of any length: numbers and signs."""
    lines = lines_of(data)
    states, headers = _follow(lines, state, is_start=is_start)
    canvas = _Canvas(data, frozenset())
    head = 0
    for line in lines:
        canvas.paint_rough(head, line)
        head += len(line)
    return Painted(styles=bytes(canvas.styles), states=tuple(states), headers=tuple(headers))


def _count(data: bytes, end: int) -> int:
    return len(lines_of(data[:end]))


def _follow(lines: Sequence[bytes], state: int, *, is_start: bool) -> tuple[list[int], list[bool]]:
    states, headers = [], []
    in_control, depth = bool(state & 1), depth_of(state)
    for index, line in enumerate(lines):
        match = None if is_start and index == 0 else _BLOCK.match(line)
        begins = False
        if match is not None and in_control:
            if match["endc"]:
                in_control, depth = False, max(depth - 1, 0)
        elif match is not None:
            begins = bool(match["control"] or match["open"])
            in_control = bool(match["control"])
            depth = min(depth + 1, _DEEPEST) if begins else max(depth - bool(match["close"]), 0)
        states.append(depth << 1 | in_control)
        headers.append(begins)
    return states, headers


_KEYWORDS = frozenset(
    re.findall(
        r"\S+",
        """dc ac tran op noise tf sens pz disto sp dec lin oct uic params: trig targ find when at max min avg
        rms pp integ deriv param from to val rise fall cross last td all sweep list on off pulse sin exp pwl
        sffm am trnoise trrandom external poly value table laplace vol cur goal minval""",
    )
)
_IN_EXPRESSION = re.compile(
    rb"(?P<value>(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?[a-z]*)|(?P<param>[^\W\d][\w.#]*)|(?P<operator>[^\w\s])",
    re.IGNORECASE,
)
_OPERATORS = re.compile(r"[*/^<>?:&|!%+-]")
_STYLE_OF_GROUP = {"value": Style.VALUE, "param": Style.PARAM, "operator": Style.OPERATOR}


class _Canvas:
    """The styles of one piece of text, being painted."""

    def __init__(self, data: bytes, models: Container[str]) -> None:
        self.data = data
        self.styles = bytearray(bytes((Style.COMMENT,)) * len(data))
        self._models = models
        self._base = 0
        """Where the piece that is read as cards begins."""

    def paint_command(self, start: int, line: bytes) -> None:
        """A line of a control block: its command, numbers, and nothing more."""
        self._base = start
        stripped = line.strip()
        if stripped.startswith(b"*"):
            return
        first = start + len(line) - len(line.lstrip())
        self._fill(first, first + len(stripped), Style.PLAIN)
        self._paint_expression_bytes(first, first + len(stripped), names=Style.PLAIN)
        word = re.match(rb"[\w.]+", stripped)
        if word is not None:
            self._fill(first, first + word.end(), Style.DIRECTIVE)

    def paint_rough(self, start: int, line: bytes) -> None:
        """A line of a card too long to be read: numbers and signs of its first part."""
        if line.lstrip()[:1] not in (b"*", b";", b"$"):
            self._fill(start, start + len(line), Style.PLAIN)
            most = max(min(len(line), _MOST_ROUGH - start), 0)
            self._paint_expression_bytes(start, start + most, names=Style.PLAIN)

    def paint_torn(self, start: int, line: bytes) -> None:
        """A continuation line whose card is not known: numbers and signs."""
        plus = start + line.index(b"+")
        end = start + len(line.rstrip())
        self._fill(plus, end, Style.PLAIN)
        self._paint_expression_bytes(plus + 1, end, names=Style.PLAIN)
        self._fill(plus, plus + 1, Style.OPERATOR)

    def paint_cards(self, start: int, *, has_title: bool) -> None:
        """All cards from byte `start` on; what belongs to none is comment and stays so."""
        self._base = start
        for statement in read_statements(Source(self.data[start:]), has_title=has_title):
            for number, chunk in enumerate(statement.chunks):
                begin = start + chunk.start
                self._fill(begin, begin + chunk.length, Style.PLAIN)
                if number and self.data[begin - 1 : begin] == b"+":
                    self._fill(begin - 1, begin, Style.OPERATOR)
            self._paint(statement)

    def _paint(self, statement: Statement) -> None:
        match statement.kind:
            case "title":
                self._range(statement, 0, len(statement.raw), Style.TITLE)
            case "element":
                self._paint_element(statement)
            case "directive":
                self._paint_directive(statement)
            case "control":
                chunk = statement.chunks[0]
                begin = self._base + chunk.start
                self.paint_command_at(begin, self.data[begin : begin + chunk.length])
            case "unknown":
                pass

    def paint_command_at(self, begin: int, text: bytes) -> None:
        """A control line found among cards; what is read as cards stays where it was."""
        base = self._base
        self.paint_command(begin, text)
        self._base = base

    def _paint_element(self, statement: Statement) -> None:
        element = parse_element(statement, self._models)
        fields = statement.fields
        self._paint_words(fields[1:], known=frozenset(element.words))
        self._mark(fields[0], Style.ELEMENT)
        for field in element.expressions:
            self._paint_expression(field)
        if element.value is not None:
            self._paint_value(element.value)
        for node in (*element.nodes, *element.control_nodes):
            self._mark(node, Style.NODE)
        for control in element.controls:
            self._mark(control, Style.ELEMENT)
        if element.model is not None:
            self._mark(element.model, Style.MODEL)

    def _paint_directive(self, statement: Statement) -> None:
        fields = statement.fields
        rest = fields[1:]
        match statement.keyword:
            case "include":
                self._after(statement, fields[0], Style.STRING)
            case "lib" | "endl":
                is_file = len(rest) > 1
                self._all(rest[:1], Style.STRING if is_file else Style.MODEL)
                self._all(rest[1:], Style.MODEL)
            case "title":
                self._after(statement, fields[0], Style.TITLE)
            case "model":
                self._paint_words(rest[2:])
                self._all(rest[:1], Style.MODEL)
                self._all(rest[1:2], Style.DIRECTIVE)
            case "subckt" | "ends" | "global":
                self._paint_words(rest, names=Style.NODE)
                if statement.keyword != "global":
                    self._all(rest[:1], Style.MODEL)
            case "if" | "elseif":
                if rest:
                    self._paint_expression(statement.field(rest[0].start, len(statement.raw)))
            case "options":
                self._paint_words(rest, names=Style.PARAM)
            case "meas":
                self._paint_words(rest)
                self._all(rest[1:2], Style.PARAM)
            case _:
                self._paint_words(rest)
        self._mark(fields[0], Style.DIRECTIVE)

    def _paint_words(
        self,
        fields: Sequence[Field],
        *,
        known: frozenset[str] = frozenset(),
        names: Style = Style.PLAIN,
    ) -> None:
        """Words by their form: numbers, ``name=value``, ``v(node)``, keywords; `names` for the others."""
        depth, is_right_side = 0, False
        for index, field in enumerate(fields):
            following = fields[index + 1] if index + 1 < len(fields) else None
            if field.is_punctuation:
                depth = max(depth + (field.text == "(") - (field.text == ")"), 0)
                is_right_side = field.text == "="
                self._mark(field, Style.OPERATOR)
                continue
            if field.text[:1] == '"':
                self._mark(field, Style.STRING)
            elif following is not None and following.text == "=":
                self._mark(field, Style.PARAM)
            elif is_right_side or is_value(field.text):
                self._paint_value(field)
            elif field.key in known or field.key in _KEYWORDS:
                self._mark(field, Style.DIRECTIVE)
            elif following is not None and following.text == "(" and following.start == field.end:
                self._mark(field, Style.PARAM)
            else:
                self._mark(field, Style.NODE if depth else names)
            is_right_side = False

    def _paint_value(self, field: Field) -> None:
        number = read_number(field.text)
        if number is not None and not _OPERATORS.search(number.rest):
            self._mark(field, Style.VALUE)
        elif field.text[:1] == '"':
            self._mark(field, Style.STRING)
        else:
            self._paint_expression(field)

    def _paint_expression(self, field: Field) -> None:
        for start, end in field.spans:
            self._paint_expression_bytes(self._base + start, self._base + end, names=Style.PARAM)

    def _paint_expression_bytes(self, start: int, end: int, *, names: Style) -> None:
        for match in _IN_EXPRESSION.finditer(self.data[start:end]):
            style = _STYLE_OF_GROUP[match.lastgroup or "operator"]
            self._fill(start + match.start(), start + match.end(), names if style is Style.PARAM else style)

    def _after(self, statement: Statement, field: Field, style: Style) -> None:
        self._range(statement, field.end, len(statement.raw), style)

    def _range(self, statement: Statement, start: int, end: int, style: Style) -> None:
        for first, last in statement.span_of(start, end):
            self._fill(self._base + first, self._base + last, style)

    def _all(self, fields: Sequence[Field], style: Style) -> None:
        for field in fields:
            self._mark(field, style)

    def _mark(self, field: Field, style: Style) -> None:
        for start, end in field.spans:
            self._fill(self._base + start, self._base + end, style)

    def _fill(self, start: int, end: int, style: Style) -> None:
        self.styles[start:end] = bytes((style,)) * (end - start)
