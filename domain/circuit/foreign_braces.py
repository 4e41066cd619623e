"""Braces inside expressions: LTspice reads them as parentheses, ngspice does not take them there."""

from __future__ import annotations

import re

from shared.late_patterns import late_pattern

_ASSIGNMENT = late_pattern(
    r"(?P<head>[A-Za-z_][\w.]*\s*=\s*)(?P<value>.*?)(?=\s+[A-Za-z_][\w.]*\s*=(?!=)|\s*$)"
)


_OF_SEVERAL = late_pattern(r"\{|^[^'\"]*\S[ \t]+\S[^'\"]*$", re.DOTALL)
"""A value with braces, or of several words without quotes."""

_SIGNED = late_pattern(
    r"\{(?:[^{}]|\{[^{}]*\})*+\}|'[^']*'|\"[^\"]*\""
    r"|(?<=[\s=(,])(?P<sign>[-+])\{(?P<inner>[^{}]+)\}(?=[\s,)]|$)"
)
"""A sign right before braces, outside of other braces and of quotes."""


def with_signs_inside(raw: str) -> str:
    """``VTO=-{x}`` as ``VTO={-(x)}``, for cards of plain values: in ``a -{x}`` the sign subtracts."""
    return _SIGNED.sub(
        lambda found: f"{{{found['sign']}({found['inner']})}}" if found["sign"] else found[0], raw
    )


def flat_braces(raw: str) -> str:
    """``{a*{b}}`` as ``{a*(b)}``; a text whose braces do not match stays."""
    depth, new = 0, []
    for sign in raw:
        depth -= sign == "}"
        if depth < 0:
            return raw
        inner = depth > 0
        new.append({"{": "(", "}": ")"}.get(sign, sign) if inner else sign)
        depth += sign == "{"
    return raw if depth else "".join(new)


def with_braces(raw: str) -> str:
    """The values of a `.param` card that have braces or blanks somewhere within, in one pair of braces:
    ``a=5/{b}`` as ``a={5/(b)}``, ``a = 2 * b`` as ``a = {2 * b}``."""
    return re.sub(r"^(\s*\.param\s+)(.*)$", lambda found: found[1] + _each(found[2]), raw, flags=re.I | re.S)


def _each(assignments: str) -> str:
    return _ASSIGNMENT.sub(lambda found: f"{found['head']}{_wrapped(found['value'])}", assignments)


def _wrapped(value: str) -> str:
    inner = value.replace("{", "(").replace("}", ")")
    if not _OF_SEVERAL.search(value) or inner.count("(") != inner.count(")"):
        return value
    flat = flat_braces(value)
    if flat.count("{") == 1 and flat.startswith("{") and flat.rstrip().endswith("}"):
        return flat
    return f"{{{inner}}}"
