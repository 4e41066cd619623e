"""TeX of an answer as rich text, for where no KaTeX is: Greek letters, signs, indices, fractions in a line.

What it does not know stays as its name, without the backslash. Nothing here loads or calls anything.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator

_TOKEN = re.compile(r"\\(?:[a-zA-Z]+\*?|.)|[{}^_]|\s+|[^\\{}^_\s]", re.S)
_FORMULA = re.compile(r'<span class="math (?:inline|display)">(.*?)</span>', re.S)
_MOST_NESTED = 20
_OPEN = "{"
_SCRIPTS = {"^": "sup", "_": "sub"}
_SIGNS = {
    "cdot": "·", "times": " × ", "div": "÷", "pm": "±", "mp": "∓", "ast": "*", "degree": "°", "circ": "°",
    "approx": " ≈ ", "sim": " ~ ", "simeq": " ≃ ", "equiv": " ≡ ", "propto": " ∝ ", "neq": " ≠ ", "ne": " ≠ ",
    "le": " ≤ ", "leq": " ≤ ", "ge": " ≥ ", "geq": " ≥ ", "ll": " ≪ ", "gg": " ≫ ", "to": " → ", "in": " ∈ ",
    "rightarrow": " → ", "Rightarrow": " ⇒ ", "implies": " ⇒ ", "leftrightarrow": " ↔ ", "iff": " ⇔ ",
    "infty": "∞", "partial": "∂", "nabla": "∇", "sum": "∑", "prod": "∏", "int": "∫", "angle": "∠",
    "parallel": " ∥ ", "mid": " | ", "|": "‖", "ldots": "…", "dots": "…", "cdots": "…", "prime": "′",
    "hbar": "ħ", "lvert": "|", "rvert": "|", "vert": "|", "langle": "⟨", "rangle": "⟩", "%": "%", "#": "#",
    "$": "$", "&": "&amp;", "_": "_", "{": "{", "}": "}", ",": "\u202f", ";": " ", ":": " ", "!": "",
    " ": " ", "quad": "  ", "qquad": "   ", "\\": "<br>",
}  # fmt: skip
_QUIET = frozenset((
    "left", "right", "big", "Big", "bigg", "Bigg", "displaystyle", "limits", "mathrm", "mathbf", "mathit",
    "text", "textbf", "textit", "textrm", "operatorname", "operatorname*", "mathsf", "boldsymbol", "boxed",
    "overline", "underline", "bar", "hat", "vec", "tilde", "mathcal", "mathbb", "underbrace", "nonumber",
))  # fmt: skip
"""Commands that are only about the look of what follows."""
_ATOM = re.compile(r"[\w.∞°|]*(?:<su[bp]>[^<]*</su[bp]>)?")


def with_formulas(markup: str) -> str:
    """HTML of `markup.py` with its formulas put into rich text; TeX that cannot be read stays as it is."""
    return _FORMULA.sub(_shown, markup)


def _shown(found: re.Match[str]) -> str:
    return rich_text(html.unescape(found[1]))


def rich_text(tex: str) -> str:
    """``f_c = \\frac{1}{2\\pi RC}`` as ``f<sub>c</sub> = 1/(2πRC)``; escaped."""
    try:
        made = _Reader(tex).all()
    except (RecursionError, ValueError):
        return html.escape(tex)
    return re.sub(r"  +", " ", made).strip()


class _Reader:
    """Reads one formula from its first to its last token."""

    def __init__(self, tex: str) -> None:
        self._tokens = _TOKEN.findall(tex)
        self._at = 0
        self._depth = 0

    def all(self) -> str:
        return "".join(self._parts(end=""))

    def _parts(self, *, end: str) -> Iterator[str]:
        while self._at < len(self._tokens):
            if self._tokens[self._at] == end:
                self._at += 1
                return
            yield self._next()
        if end:
            raise ValueError(end)

    def _next(self) -> str:
        """The next token, or group, with all that belongs to it."""
        token = self._tokens[self._at]
        self._at += 1
        if token == _OPEN:
            self._depth += 1
            if self._depth > _MOST_NESTED:
                raise ValueError(token)
            made = "".join(self._parts(end="}"))
            self._depth -= 1
            return made
        if token in _SCRIPTS:
            kind, inside = _SCRIPTS[token], self._argument()
            return inside if inside in ("°", "′") else f"<{kind}>{inside}</{kind}>"
        if token.startswith("\\"):
            if token[1:].isalpha():
                self._skip_blanks()
            return self._command(token[1:])
        return " " if token.isspace() else {"&": " ", "~": " "}.get(token, html.escape(token))

    def _argument(self) -> str:
        """What a command is about: the next group or token; nothing at the end."""
        self._skip_blanks()
        return self._next() if self._at < len(self._tokens) else ""

    def _skip_blanks(self) -> None:
        while self._at < len(self._tokens) and self._tokens[self._at].isspace():
            self._at += 1

    def _command(self, name: str) -> str:
        if name in ("frac", "dfrac", "tfrac"):
            return f"{_together(self._argument())}/{_together(self._argument())}"
        if name == "sqrt":
            return f"√{_together(self._argument(), is_root=True)}"
        if name in ("begin", "end"):
            self._argument()
        if name in _QUIET or name in ("begin", "end"):
            return ""
        sign = _SIGNS.get(name, _greek(name))
        if sign is not None:
            return sign
        following = self._tokens[self._at] if self._at < len(self._tokens) else ""
        is_apart = following[:1].isalnum() or following[:1] == "\\"  # as in \sin x
        return html.escape(name) + (" " if is_apart else "")


def _greek(name: str) -> str | None:
    """The letter of this name; None = there is none."""
    kind = "SMALL" if name.islower() else "CAPITAL"
    letter = name.removeprefix("var").upper().replace("LAMBDA", "LAMDA")  # as Unicode spells it
    try:
        return unicodedata.lookup(f"GREEK {kind} LETTER {letter}")
    except KeyError:
        return None


def _together(part: str, *, is_root: bool = False) -> str:
    """A part of a fraction or root, in brackets where it would else be read otherwise."""
    part = part.strip()
    is_one = _ATOM.fullmatch(part) is not None and (part.isdigit() or len(re.sub("<[^>]*>", "", part)) < 2)
    is_name = re.fullmatch(r"[A-Za-zα-ωΑ-Ω]<su[bp]>[^<]*</su[bp]>", part) is not None
    if is_one or is_name or (not is_root and re.fullmatch(r"[\d.]+", part)):
        return part
    return f"({part})"
