"""Cards of ngspice as LTspice reads them: what it writes otherwise, and what it has no counterpart for.

Sources: the LTspice help ("Circuit Elements", "Dot Commands"); ngspice 39's manual for the other side.
"""

from __future__ import annotations

import re

from domain.circuit.exchange.ltspice_expressions import Unsayable, in_ltspice
from domain.circuit.statements import Statement, closing_brace
from shared.late_patterns import late_pattern

LEFT_OUT = frozenset({"print", "plot", "probe", "width", "csparam", "save"})
"""What only tells ngspice what to print or keep."""
NO_ANALYSES = frozenset({"sens", "pz", "disto", "sp", "pss"})
KEPT = frozenset(
    [
        "ac",
        "dc",
        "tran",
        "op",
        "noise",
        "tf",
        "four",
        "meas",
        "param",
        "func",
        "subckt",
        "ends",
        "model",
        "options",
        "temp",
        "ic",
        "nodeset",
        "global",
        "step",
    ]
)
_NO_ELEMENTS = {
    "a": "XSPICE code models",
    "n": "Verilog-A devices",
    "p": "coupled lines",
    "y": "lossy lines (Y)",
}
_MODELS = frozenset(
    ["d", "npn", "pnp", "nmos", "pmos", "njf", "pjf", "nmf", "pmf", "sw", "csw", "ltra", "urc", "vdmos"]
)
_MOS_LEVELS = {1: 1, 2: 2, 3: 3, 8: 8, 49: 8, 14: 14, 54: 14}
"""ngspice's levels of MOS models, and LTspice's of the same ones."""
_OPTIONS = frozenset(
    [
        "abstol",
        "chgtol",
        "cshunt",
        "defad",
        "defas",
        "defl",
        "defw",
        "gmin",
        "gminsteps",
        "itl1",
        "itl2",
        "itl4",
        "maxord",
        "maxstep",
        "method",
        "pivrel",
        "pivtol",
        "reltol",
        "srcsteps",
        "temp",
        "tnom",
        "trtol",
        "vntol",
    ]
)
_NO_WAVES = late_pattern(
    r"(?<![\w])(trnoise|trrandom|external|am\s*\(|distof[12]|portnum|z0\s*=)", re.IGNORECASE
)
_REPEATED = late_pattern(r"\bpwl\b.*\b(?:r|td)\s*=", re.IGNORECASE)
_SINE = late_pattern(r"(?<![\w])sin(?=\s*\()", re.IGNORECASE)
_LEVEL = late_pattern(r"(?<![\w])level\s*=\s*(?P<level>\d{1,9})(?:\.\d*)?", re.IGNORECASE)
_QUOTED = late_pattern(r"'[^']*'")
_DRIVES = late_pattern(r"(?<![\w])(?:vol|cur)\s*=\s*", re.IGNORECASE)
_OPTION = late_pattern(r"(?P<name>[A-Za-z]\w*)(?:\s*=\s*(?P<value>\{[^}]*\}|\S+))?")
_MEASURED = (
    (late_pattern(r"\bpar\s*\(\s*'([^']*)'\s*\)", re.IGNORECASE), r"\1"),
    (late_pattern(r"\bv(db|m|p|r|i)\s*\(", re.IGNORECASE), None),
    (late_pattern(r"\bparam\s*=\s*", re.IGNORECASE), "param "),
)
_PARTS = {"db": "db", "m": "mag", "p": "ph", "r": "re", "i": "im"}


def ltspice_card(statement: Statement) -> str:
    """The card in LTspice's words. Raises Unsayable."""
    text = statement.text.strip()
    if statement.kind == "element":
        return _element(statement.keyword, text)
    match statement.keyword:
        case "model":
            return _model(text)
        case "meas":
            return _measurement(text)
        case "options":
            return _options(text)
        case "dc":
            words = text.split()
            for name in words[1::4]:
                if name[:1].lower() not in "vi":
                    raise Unsayable(f".dc {name}")
    return _with_expressions(text, is_source=False)


def _element(letter: str, text: str) -> str:
    if letter in _NO_ELEMENTS:
        raise Unsayable(_NO_ELEMENTS[letter])
    is_source = letter in "beg"
    if letter in "vi":
        if match := _NO_WAVES.search(text) or _REPEATED.search(text):
            raise Unsayable(match.group(0).split("(")[0].strip()[:20])
        text = _SINE.sub("SINE", text)
    if letter in "eg":
        text = _DRIVES.sub("value=", text)
    if letter == "b":
        return _behavioral(text)
    if letter == "c" and re.search(r"[{'=][^}']*\bv\s*\(", text, re.IGNORECASE):
        raise Unsayable("a capacitance that depends on a voltage")
    if letter == "r":
        text = re.sub(r"\bnoisy\s*=\s*0\b", "noiseless", re.sub(r"\bnoisy\s*=\s*1\b", "", text))
    return _with_expressions(text, is_source=is_source)


def _behavioral(text: str) -> str:
    """``B1 a b v = expression``, with or without braces."""
    match = re.match(r"(?P<head>\S+\s+\S+\s+\S+\s+[vi])\s*=\s*(?P<told>.*)$", text, re.IGNORECASE | re.DOTALL)
    if match is None:
        raise Unsayable(text[:40])
    told, rest = match["told"].strip(), ""
    if told[:1] == "{":
        end = closing_brace(told, 0)
        told, rest = told[1 : end - 1], told[end:].strip()
    elif told[:1] == "'":
        end = told.find("'", 1)
        told, rest = told[1:end], told[end + 1 :].strip()
    if rest:
        raise Unsayable(rest.split("=")[0][:20])
    return f"{match['head']}={in_ltspice(told, is_source=True)}"


def _with_expressions(text: str, *, is_source: bool) -> str:
    """Every ``{...}`` and ``'...'`` said anew; quotes become braces."""
    text = _QUOTED.sub(lambda match: f"{{{match.group(0)[1:-1]}}}", text)
    parts, at = [], 0
    while (start := text.find("{", at)) >= 0:
        end = closing_brace(text, start)
        parts += [text[at:start], "{", in_ltspice(text[start + 1 : end - 1], is_source=is_source), "}"]
        at = end
    return "".join((*parts, text[at:]))


def _model(text: str) -> str:
    words = re.split(r"[\s(]+", text, maxsplit=3)
    kind = words[2].lower() if len(words) > 2 else ""
    if kind not in _MODELS:
        raise Unsayable(f"a model of type {kind or '?'}")
    level = _LEVEL.search(text)
    if level is not None:
        number = int(level["level"])
        if kind in ("nmos", "pmos"):
            if number not in _MOS_LEVELS:
                raise Unsayable(f"a MOS model of level {number}")
            text = f"{text[: level.start('level')]}{_MOS_LEVELS[number]}{text[level.end('level') :]}"
        elif number != 1:
            raise Unsayable(f"a model {kind} of level {number}")
    return _with_expressions(text, is_source=False)


def _measurement(text: str) -> str:
    if re.search(r"\b(?:min_at|max_at)\b", text, re.IGNORECASE):
        raise Unsayable("min_at, max_at")
    for pattern, new in _MEASURED:
        text = pattern.sub(new if new is not None else lambda m: f"{_PARTS[m[1].lower()]}(V(", text)
        if new is None:
            text = re.sub(r"((?:db|mag|ph|re|im)\(V\([^()]*\))", r"\1)", text)
    text = _QUOTED.sub(lambda match: match.group(0)[1:-1], text)
    return in_words(text)


def in_words(text: str) -> str:
    """A measurement's own text: powers and choices are the only words of it that differ."""
    return text.replace("^", "**")


def _options(text: str) -> str:
    """Those of the options that LTspice has; "" for none."""
    rest = text.split(None, 1)[1] if len(text.split(None, 1)) > 1 else ""
    kept = [match.group(0) for match in _OPTION.finditer(rest) if match["name"].lower() in _OPTIONS]
    return f".options {' '.join(kept)}" if kept else ""


def dropped_options(text: str) -> list[str]:
    """The names of those it has not."""
    rest = text.split(None, 1)[1] if len(text.split(None, 1)) > 1 else ""
    return [m["name"] for m in _OPTION.finditer(rest) if m["name"].lower() not in _OPTIONS]
