"""`.meas` cards, read: what is measured of which analysis, with its options (`meas` computes them)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from shared.errors import UserInputError
from shared.message import Message, msg

_ANALYSES = ("tran", "ac", "dc", "sp", "noise", "op")
_ALIASES = {"delay": "trig", "integral": "integ", "derivative": "deriv", "expr": "param"}
_FUNCTIONS = frozenset(
    ("trig", "find", "when", "avg", "min", "max", "min_at", "max_at", "rms", "pp", "integ", "deriv", "param")
)
_OPERATORS = "+-*/^,"
_OPTIONS = frozenset(("val", "td", "from", "to", "at", "rise", "fall", "cross"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasClause:
    """A vector with its options: ``v(out)=0.5 rise=2 td=1u``, texts as written."""

    vector: str | None
    equals: str | None = None
    """What WHEN compares with: a number, a parameter or another vector."""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasStatement:
    """A `.meas` card, read."""

    name: str
    """Lower case."""
    analysis: str
    """tran, ac, dc, sp, noise or op."""
    function: str
    """trig, find, when, avg, min, max, min_at, max_at, rms, pp, integ, deriv or param."""
    subject: MeasClause
    """What is measured; the trigger of a TRIG card."""
    condition: MeasClause | None = None
    """The WHEN of FIND and DERIV, the TARG of TRIG."""
    formula: str | None = None
    """The expression of PARAM."""
    line: int


def parse_meas(text: str, line: int) -> MeasStatement:
    """Read a card (with or without its dot; continuation lines joined).

    Raises UserInputError, with the line, for what ngspice would not take as a measurement.
    """
    words = _words(text.strip().removeprefix(".").lower())
    if len(words) < 4:
        raise _wrong(text, line, msg("it needs an analysis, a name, a function and what to measure"))
    _, analysis, name, function, *rest = words
    if analysis not in _ANALYSES:
        reason = msg("the analysis must be tran, ac, dc, noise or op, not {word}", word=analysis)
        raise _wrong(text, line, reason)
    function, _, formula = function.partition("=")
    function = _ALIASES.get(function, function)
    if function not in _FUNCTIONS:
        raise _wrong(text, line, msg("{word} is not a measurement", word=function))
    if function == "param":
        formula = " ".join([formula, *rest]).removeprefix("=")
        clauses: tuple[MeasClause, MeasClause | None] = (MeasClause(vector=None), None)
    else:
        clauses = _clauses(function, rest, text, line)
    return MeasStatement(
        name=name,
        analysis=analysis,
        function=function,
        subject=clauses[0],
        condition=clauses[1],
        formula=formula if function == "param" else None,
        line=line,
    )


def _clauses(
    function: str, words: Sequence[str], text: str, line: int
) -> tuple[MeasClause, MeasClause | None]:
    if function == "when":
        return _condition(words, text, line), None
    divider = "targ" if function == "trig" else "when"
    if divider not in words:
        if function == "trig":
            raise _wrong(text, line, msg("TARG is missing"))
        return _clause(words, text, line), None
    cut = words.index(divider)
    subject = _clause(words[:cut], text, line)
    after = words[cut + 1 :]
    return subject, _clause(after, text, line) if function == "trig" else _condition(after, text, line)


def _words(text: str) -> list[str]:
    """Cut at blanks, but not within quotes, braces or parentheses nor around an equals sign."""
    words: list[list[str]] = [[]]
    depth = 0
    quote = ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(letter, 0)
        if letter.isspace() and not quote:
            if depth <= 0 and words[-1]:
                words.append([])
            continue
        if letter == "=" and not quote and depth <= 0 and not words[-1] and len(words) > 1:
            words.pop()  # "rise = 2": the sign belongs to the word before it
        words[-1].append(letter)
    joined: list[list[str]] = []
    for word in filter(None, words):
        if joined and joined[-1][-1] == "=":
            joined[-1] += word
        else:
            joined.append(word)
    return ["".join(word) for word in joined]


def _clause(words: Sequence[str], text: str, line: int) -> MeasClause:
    if not words:
        raise _wrong(text, line, msg("what to measure is missing"))
    said, options = ("", words) if words[0].startswith("at=") else _until_options(words)
    left, _, right = said.partition("=")
    return MeasClause(
        vector=left.strip("\"'") or None, equals=right or None, options=_options(options, text, line)
    )


def _until_options(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """What stands before the options: a vector, or an expression that may have blanks (``v(a) - v(b)``)."""
    count = min(len(words), 1)
    while count < len(words) and (words[count - 1][-1] in _OPERATORS or words[count][0] in _OPERATORS):
        count += 1
    return " ".join(words[:count]), words[count:]


def _condition(words: Sequence[str], text: str, line: int) -> MeasClause:
    said, options = _until_options(words)
    left, _, right = said.partition("=")
    if not left or not right:
        raise _wrong(text, line, msg("a condition is written WHEN v(out)=0.5 or WHEN v(a)=v(b)"))
    return MeasClause(vector=left, equals=right, options=_options(options, text, line))


def _options(words: Iterable[str], text: str, line: int) -> dict[str, str]:
    options: dict[str, str] = {}
    for word in words:
        key, _, value = word.partition("=")
        if word == "last":
            key, value = "cross", "last"
        if key not in _OPTIONS or not value:
            raise _wrong(text, line, msg("{word} is not understood", word=word))
        if key in ("rise", "fall", "cross"):  # the last of them counts
            options = {kept: options[kept] for kept in options if kept not in ("rise", "fall", "cross")}
        options[key] = value
    return options


def _wrong(text: str, line: int, reason: Message) -> UserInputError:
    return UserInputError(
        msg("The measurement {card} on line {line} cannot be read: {reason}.",
            card=text.strip()[:120], line=line, reason=reason),
        line=line,
        error_type="bad_measurement",
    )  # fmt: skip
