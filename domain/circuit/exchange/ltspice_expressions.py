"""Expressions of ngspice in LTspice's words.

Source: the LTspice help, "B. Arbitrary Behavioral Voltage or Current Sources" and ".param": `^` is there an
exclusive or (a power is `**`), a choice is `if(c,a,b)`, there is no `==`, and chance has its own functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from domain.circuit.foreign_cards import closing
from domain.circuit.foreign_functions import arguments_of
from shared.late_patterns import late_pattern
from shared.message import Message, msg

_CALL = late_pattern(r"(?<![\w.@])(?P<name>[A-Za-z_]\w*)?\s*\(")
_WORDS = late_pattern(r"(?<![\w.@(])(?P<word>temper|hertz|u2|eq0|ne0|gt0|lt0|ge0|le0)(?![\w])", re.IGNORECASE)
_MARK = late_pattern(r"\0\d+\0")
_MOST_DEPTH = 60


class Unsayable(Exception):
    """LTspice has no word for it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    @property
    def reason(self) -> Message:
        return msg("LTspice has nothing like {what}", what=self.what)


_RANDOM: dict[str, tuple[int, Callable[..., str]]] = {
    "agauss": (3, lambda nominal, wide, sigmas: f"(({nominal})+gauss(({wide})/({sigmas})))"),
    "gauss": (3, lambda nominal, part, sigmas: f"(({nominal})*(1+gauss(({part})/({sigmas}))))"),
    "aunif": (2, lambda nominal, wide: f"(({nominal})+flat({wide}))"),
    "unif": (2, lambda nominal, part: f"(({nominal})*(1+flat({part})))"),
}
_RENAMED = {"nint": "round", "pwl": "table"}
_IN_SOURCES = {"pwr": "pwrs"}
"""ngspice's `pwr` of a behavioral source keeps the sign, as LTspice's `pwrs` does."""
_UNKNOWN = frozenset(("limit", "u2", "eq0", "ne0", "gt0", "lt0", "ge0", "le0", "poly", "trnoise", "trrandom"))


def in_ltspice(expression: str, *, is_source: bool = False, depth: int = 0) -> str:
    """An expression without its braces or quotes. Raises Unsayable."""
    if "@" in expression or "\0" in expression or expression.count("?") > _MOST_DEPTH:
        raise Unsayable(expression.strip()[:40])
    if depth > _MOST_DEPTH:
        raise Unsayable("an expression nested that deep")
    parts: list[str] = []
    at = 0
    while match := _CALL.search(expression, at):
        end = closing(expression, match.end() - 1)
        name, inside = (match["name"] or ""), expression[match.end() : end - 1]
        arguments = arguments_of(inside)
        if name.lower() in ("v", "i"):
            written = f"{name}({inside})"
        else:
            said = [in_ltspice(each, is_source=is_source, depth=depth + 1) for each in arguments]
            written = _call(name, said, is_source=is_source)
        parts += [expression[at : match.start()], f"\0{len(parts)}\0", written]
        at = end
    parts.append(expression[at:])
    return _with_operators(parts)


def _call(name: str, arguments: list[str], *, is_source: bool) -> str:
    key = name.lower()
    if key in _UNKNOWN:
        raise Unsayable(f"{key}()")
    if key in _RANDOM:
        count, write = _RANDOM[key]
        if len(arguments) != count:
            raise Unsayable(f"{key}() with {len(arguments)} arguments")
        return write(*arguments)
    if key == "ternary_fcn":
        key = name = "if"
    name = _RENAMED.get(key, _IN_SOURCES.get(key, name) if is_source else name)
    return f"{name}({','.join(arguments)})"


def _with_operators(parts: list[str]) -> str:
    """Pieces joined, with the operators outside of brackets said; calls stand in for themselves."""
    calls = {parts[index + 1]: parts[index + 2] for index in range(0, len(parts) - 2, 3)}
    text = "".join(part for index, part in enumerate(parts) if index % 3 != 2)
    if match := _WORDS.search(text):
        if match["word"].lower() != "temper":
            raise Unsayable(match["word"])
        text = _WORDS.sub("temp", text)
    if "==" in text or "!=" in text:
        raise Unsayable("==" if "==" in text else "!=")
    text = text.replace("^", "**").replace("&&", "&").replace("||", "|")
    text = _with_choices(text)
    return _MARK.sub(lambda match: calls[match.group(0)], text)


def _with_choices(text: str) -> str:
    """``c ? a : b`` as ``if(c, a, b)``; the last question binds to the last colon."""
    question = text.find("?")
    if question < 0:
        return text
    depth = 0
    for at in range(question + 1, len(text)):
        depth += {"?": 1}.get(text[at], 0)
        if text[at] == ":":
            if depth == 0:
                then, otherwise = text[question + 1 : at], text[at + 1 :]
                parts = (text[:question], _with_choices(then), _with_choices(otherwise))
                return f"if({','.join(part.strip() for part in parts)})"
            depth -= 1
    raise Unsayable("a ? without its :")
