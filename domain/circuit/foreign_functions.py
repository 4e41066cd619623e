"""Functions of LTspice's and PSpice's expressions in the words ngspice 39 has for them.

Source: the LTspice help ("B. Arbitrary Behavioral Voltage or Current Sources"); each was tried in ngspice's
modes for both programs. ngspice's own ``pwr`` keeps the sign and its ``pwrs`` of PSpice's mode loses it, just
the other way round, and its ``int`` calls a function it lacks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from shared.late_patterns import late_pattern

CALL = late_pattern(
    r"(?<![\w.])(?P<name>buf|inv|table|tbl|idtmod|idt|sdt|delay|absdelay|rand|random|white|round|int|cbrt|hypot|"
    r"atan2|arcsin|arccos|arctan|ustep|pwr|pwrs|mod|xor|smallsig)\s*\(",
    re.IGNORECASE,
)  # fmt: skip
"""A call of any of them."""

SPREAD = frozenset({"rand", "random", "white"})
"""Whose numbers are not LTspice's own, though spread alike."""
_APART = late_pattern(r"[(){},]")


def _rand(x: str) -> str:
    """A number of [0, 1) for each whole x, always the same: the digits behind those of a sine's."""
    seed = f"43758.5453*sin(12.9898*floor({x})+78.233)"
    return f"({seed}-floor({seed}))"


def _random(x: str) -> str:
    """As `_rand`, going over smoothly from one to the next."""
    part = f"(({x})-floor({x}))"
    return f"({_rand(x)}+({_rand(f'({x})+1')}-{_rand(x)})*{part}*{part}*(3-2*{part}))"


def _atan2(y: str, x: str) -> str:
    size = f"sqrt(({x})*({x})+({y})*({y}))"
    return (
        f"(({x})>0?2*atan(({y})/({size}+({x}))):(({y})==0?(({x})==0?0:3.14159265358979):"
        f"2*atan(({size}-({x}))/({y}))))"
    )


_SIMPLE: dict[str, tuple[int, Callable[..., str]]] = {
    "buf": (1, lambda x: f"(({x})>0.5?1:0)"),
    "inv": (1, lambda x: f"(({x})>0.5?0:1)"),
    "rand": (1, _rand),
    "random": (1, _random),
    "white": (1, lambda x: f"({_random(x)}-0.5)"),
    "round": (1, lambda x: f"floor(({x})+0.5)"),
    "int": (1, lambda x: f"(sgn({x})*floor(abs({x})))"),
    "cbrt": (1, lambda x: f"(sgn({x})*pow(abs({x}),1/3))"),
    "hypot": (2, lambda x, y: f"sqrt(({x})*({x})+({y})*({y}))"),
    "atan2": (2, _atan2),
    "arcsin": (1, lambda x: f"asin({x})"),
    "arccos": (1, lambda x: f"acos({x})"),
    "arctan": (1, lambda x: f"atan({x})"),
    "ustep": (1, lambda x: f"u({x})"),
    "pwr": (2, lambda x, y: f"pow(abs({x}),{y})"),
    "pwrs": (2, lambda x, y: f"(sgn({x})*pow(abs({x}),{y}))"),
    "mod": (2, lambda x, y: f"(({x})-({y})*floor(({x})/({y})))"),
    "xor": (2, lambda x, y: f"((({x})>0.5)!=(({y})>0.5)?1:0)"),
    "smallsig": (0, lambda: "0"),
}
OF_PSPICE = frozenset({"pwr", "pwrs", "table"})
"""Those that PSpice's expressions have as well."""


def rewritten(name: str, arguments: list[str]) -> str | None:
    """The call in ngspice's words; None for one that takes elements of its own or other arguments."""
    count, write = _SIMPLE.get(name, (-1, str))
    return write(*arguments) if len(arguments) == count else None


def of_table(arguments: list[str]) -> str | None:
    """LTspice's table(x, x1, y1, x2, y2 ...) in conditions, for parameters (ngspice's have no pwl): a line
    from each point to the next, the first and the last value beyond them. None without points."""
    if len(arguments) < 3 or len(arguments) % 2 == 0:
        return None
    x, (first, *others) = arguments[0], list(zip(arguments[1::2], arguments[2::2], strict=True))
    new = f"({others[-1][1] if others else first[1]})"
    for (x1, y1), (x2, y2) in reversed(list(zip([first, *others], others, strict=False))):
        line = f"({y1})+(({x})-({x1}))*(({y2})-({y1}))/(({x2})-({x1}))"
        new = f"(({x})<({x2})?{line}:{new})"
    return f"(({x})<({first[0]})?({first[1]}):{new})"


def arguments_of(inside: str) -> list[str]:
    """The arguments between a call's brackets, split at its own commas; [] for none."""
    if not inside.strip():
        return []
    cuts = [*_commas(inside), len(inside)]
    begins = [0, *(cut + 1 for cut in cuts)]
    return [inside[begin:end].strip() for begin, end in zip(begins, cuts, strict=False)]


def _commas(text: str) -> Iterator[int]:
    depth = 0
    for found in _APART.finditer(text):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(found[0], 0)
        if found[0] == "," and depth == 0:
            yield found.start()
