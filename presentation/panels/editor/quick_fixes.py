"""The edit that mends a problem, for the commonest: numbers that read otherwise than meant, names,
models of the library, missing ends of blocks, missing analyses and paths to ground.

What a fix does is said in its title; each is one edit, and one step of undo.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from domain.circuit.analyses import ANALYSIS_KINDS
from domain.circuit.numbers import split_suffix
from domain.circuit.statements import comment_start
from domain.llm.tools.text_files import split_lines
from shared.late_patterns import late_pattern
from shared.message import Message, msg

if TYPE_CHECKING:
    from domain.circuit.findings import Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickFix:
    """One edit that mends a problem."""

    title: Message
    reason: Message
    """The problem in a few words, for the end of its line."""
    start: int
    end: int
    """Bytes of the UTF-8 text."""
    text: str


class Lines:
    """Lines as ngspice counts them, with the bytes where they begin in the UTF-8 text."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _texts(self) -> Sequence[str]:
        return split_lines(self._text)

    @property
    def length(self) -> int:
        """Bytes of the text."""
        return len(self._text.encode())

    @property
    def end(self) -> str:
        """What its lines end with."""
        if "\r" not in self._text:
            return "\n"
        return "\r\n" if "\r\n" in self._text else "\n" if "\n" in self._text else "\r"

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for piece in self._text.split(self.end[-1]):
            starts.append(starts[-1] + len(piece.encode()) + 1)
        return starts

    @property
    def count(self) -> int:
        return len(self._texts)

    def text(self, line: int) -> str:
        return self._texts[line - 1] if 0 < line <= len(self._texts) else ""

    def byte(self, line: int, column: int) -> int:
        """Byte of a character, both from 1."""
        return self._starts[min(line, len(self._starts)) - 1] + len(self.text(line)[: column - 1].encode())


def fix_of(diagnostic: Diagnostic, lines: Lines, *, has_title: bool) -> QuickFix | None:
    """The fix of a finding in this text, None where none is known."""
    fix = _number(diagnostic, lines) or _include(diagnostic, lines, has_title=has_title)
    fix = fix or _renaming(diagnostic, lines)
    of_line = _OF_LINES.get(diagnostic.code)
    return fix or (of_line(diagnostic, lines) if of_line is not None else None)


_UNITS = {"r": "Ω", "c": "F"}


def _number(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    """The mending of a number that reads otherwise than it was meant."""
    params = diagnostic.message.params
    written = str(params.get("text", ""))
    number = written.strip("{}' ")
    line = lines.text(diagnostic.line)
    # Without a column the line was rewritten before it was read: what stands there is not what was found.
    column = diagnostic.column
    place = line.find(number, column - 1) if number and column is not None else -1
    new = _mended(diagnostic.code, number, params) if place >= 0 else None
    if new is None:
        return None
    unit = _UNITS.get(line.lstrip()[:1].lower(), "")
    value = _spaced(str(params["value"]), unit)
    start = lines.byte(diagnostic.line, place + 1)
    return QuickFix(
        title=msg("Change to {text}", text=new),
        reason=msg("{text} is {value} in SPICE", text=number, value=value),
        start=start,
        end=start + len(number.encode()),
        text=new,
    )


def _include(diagnostic: Diagnostic, lines: Lines, *, has_title: bool) -> QuickFix | None:
    """The card that brings an undefined model in, where a file beside the circuit or the library has it."""
    params = diagnostic.message.params
    if diagnostic.code not in ("undefined-model", "undefined-subcircuit"):
        return None
    card = str(params.get("card", "")) or (f".include {params['file']}" if "file" in params else "")
    if not card:
        return None
    start = lines.byte(2 if has_title else 1, 1)
    return QuickFix(
        title=msg("Add {card}", card=card),
        reason=msg("{card} defines {name}", name=params["name"], card=card)
        if "card" in params
        else msg("{name} is in the model library", name=params["name"]),
        start=start,
        end=start,
        text=card + lines.end,
    )


def _renaming(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    """The name that was probably meant, in place of one that nothing has."""
    params = diagnostic.message.params
    named = next((key for key in ("word", "path") if key in params), "name")
    name, near = params.get(named), params.get("near")
    column, line = diagnostic.column, lines.text(diagnostic.line)
    if column is None or not isinstance(name, str) or not isinstance(near, str):
        return None
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE).search(line, column - 1)
    if word is None:
        return None
    dot = "." if line[: word.start()].strip() == "." else ""  # of a directive, whose name is without it
    return QuickFix(
        title=msg("Change to {text}", text=dot + near),
        reason=msg("There is no {name}", name=dot + word[0]),
        start=lines.byte(diagnostic.line, word.start() + 1),
        end=lines.byte(diagnostic.line, word.end() + 1),
        text=near,
    )


def _mended(code: str, number: str, params: Mapping[str, object]) -> str | None:
    if code == "mega-trap":
        try:
            mantissa, _suffix, unit = split_suffix(number)
        except ValueError:
            return str(params.get("mega", "")) or None
        return f"{mantissa}Meg{unit}"
    if code == "farad-trap":
        return str(params.get("farad", "")) or None
    if code == "number-tail":
        return str(params.get("micro", "")) or _pointed(number) or _multiplied(number)
    return None


_LETTER_AS_POINT = late_pattern(r"(\d+)(meg|[a-z])(\d+)", re.IGNORECASE)
_TWO_FACTORS = late_pattern(r"(\d[\d.]*)(k|meg)(k|meg)", re.IGNORECASE)
_LETTERS = {"r": "", "m": "Meg", "meg": "Meg"} | {letter: letter for letter in "tgkunpf"}
"""What the letter in the place of the point stands for: ``4R7``, and ``4M7`` as it is printed on parts."""


def _pointed(number: str) -> str | None:
    """``4k7`` as ``4.7k``."""
    match = _LETTER_AS_POINT.fullmatch(number)
    scale = None if match is None else _LETTERS.get(match[2].lower())
    return None if match is None or scale is None else f"{match[1]}.{match[3]}{scale}"


def _multiplied(number: str) -> str | None:
    """``2kk`` as ``2Meg``, ``2kmeg`` as ``2G``."""
    match = _TWO_FACTORS.fullmatch(number)
    if match is None:
        return None
    factors = (match[2].lower() + match[3].lower()).count("meg")
    return match[1] + ("Meg", "G", "T")[factors]


def _spaced(value: str, unit: str) -> str:
    """``10m`` and ``Ω`` as ``10 mΩ``, joined so that a line is not broken there."""
    match = re.fullmatch(r"(-?[\d.]+(?:e-?\d+)?)([A-Za-z]*)", value)
    if match is None:
        return value
    prefix = {"Meg": "M", "u": "µ"}.get(match[2], match[2])
    return f"{match[1]}\N{NO-BREAK SPACE}{prefix}{unit}" if prefix or unit else match[1]


# ---- whole lines ---------------------------------------------------------------------------------

_ENDS_A_BLOCK = late_pattern(
    r"[ \t]*\.(?:subckt|macro|control|end\b|meas|save|print|plot|ic\b|nodeset|"
    + "|".join(rf"{kind}\b" for kind in sorted(ANALYSIS_KINDS))
    + ")",
    re.IGNORECASE,
)
"""Cards that hardly stand within a subcircuit or a condition."""
_END = late_pattern(r"[ \t]*\.end[ \t]*$", re.IGNORECASE)


def _put(lines: Lines, line: int, card: str, title: Message, reason: Message) -> QuickFix:
    """A card more before a line (from 1; one more than there are: at the end)."""
    is_last = line > lines.count
    needs_end = is_last and lines.count > 0 and lines.text(lines.count) != ""
    start = lines.byte(line, 1) if not is_last else lines.length
    text = (lines.end if needs_end else "") + card + lines.end
    return QuickFix(title=title, reason=reason, start=start, end=start, text=text)


def _before_end(lines: Lines) -> int:
    """The line of `.end`, or the one behind the last."""
    return before_end([lines.text(at) for at in range(1, lines.count + 1)]) + 1


def before_end(lines: Sequence[str]) -> int:
    """Where a card is put that shall be the last: the place (from 0) of `.end`, or behind the last line."""
    return next((at for at, text in enumerate(lines) if _END.match(text)), len(lines))


def _end_of_block(lines: Lines, begun: int) -> int:
    """Before which line a block that has no end probably ends."""
    behind = range(begun + 1, lines.count + 1)
    return next((at for at in behind if _ENDS_A_BLOCK.match(lines.text(at))), lines.count + 1)


def _unclosed(card: str) -> Callable[[Diagnostic, Lines], QuickFix | None]:
    def fix(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
        line = _end_of_block(lines, diagnostic.line)
        name = diagnostic.message.params.get("name", "")
        text = f"{card} {name}".strip()
        title = msg("Add {card} before line {line}", card=text, line=line)
        if line > lines.count:
            title = msg("Add {card} at the end", card=text)
        return _put(lines, line, text, title, msg("{card} is missing", card=card))

    return fix


def _analysis(_diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    return _put(lines, _before_end(lines), ".op", msg("Add .op"), msg("There is no analysis"))


def _path_to_ground(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    node = str(diagnostic.message.params.get("nodes", "")).split(",")[0].strip()
    if not node:
        return None
    card = f"{_free_name(lines, 'Rdc1')} {node} 0 1G"
    behind = diagnostic.line + 1
    while lines.text(behind).lstrip().startswith("+"):
        behind += 1
    return _put(lines, behind, card, msg("Add {card}", card=card), msg("{name} floats at DC", name=node))


def _plus(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    start = lines.byte(diagnostic.line, 1)
    reason = msg("It continues the card above")
    return QuickFix(title=msg("Begin the line with +"), reason=reason, start=start, end=start, text="+ ")


def _comment(reason: Message) -> Callable[[Diagnostic, Lines], QuickFix | None]:
    def fix(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
        start = lines.byte(diagnostic.line, 1)
        return QuickFix(title=msg("Make the line a comment"), reason=reason, start=start, end=start, text="*")

    return fix


def _title(_diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    title, reason = msg("Insert a title line above"), msg("The first line is not read")
    return _put(lines, 1, "* Circuit", title, reason)


def _other_name(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    written = lines.text(diagnostic.line).split()
    name = str(diagnostic.message.params.get("name", ""))
    if not written or written[0].lower() != name.lower():
        return None
    free, column = _free_name(lines, name), lines.text(diagnostic.line).index(written[0]) + 1
    return QuickFix(
        title=msg("Change to {text}", text=free),
        reason=msg("{name} is used twice", name=name),
        start=lines.byte(diagnostic.line, column),
        end=lines.byte(diagnostic.line, column + len(written[0])),
        text=free,
    )


def _instead(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    """What ngspice has for a call of another program's."""
    call, instead = (str(diagnostic.message.params.get(key, "")) for key in ("call", "instead"))
    place = lines.text(diagnostic.line).find(call) if call and instead else -1
    if place < 0:
        return None
    return QuickFix(
        title=msg("Change to {text}", text=instead),
        reason=msg("It is random in ngspice"),
        start=lines.byte(diagnostic.line, place + 1),
        end=lines.byte(diagnostic.line, place + 1 + len(call)),
        text=instead,
    )


def _bulk(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    """The fourth node of a MOSFET, before its model."""
    source = str(diagnostic.message.params.get("source", ""))
    if not source or diagnostic.column is None:
        return None
    place = lines.byte(diagnostic.line, diagnostic.column)
    return QuickFix(
        title=msg("Connect the bulk to {node}", node=source),
        reason=msg("The bulk is missing"),
        start=place,
        end=place,
        text=f"{source} ",
    )


def _closing_name(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    line, subckt = lines.text(diagnostic.line), str(diagnostic.message.params.get("subckt", ""))
    match = re.match(r"[ \t]*\.(?:ends|eom)[ \t]+([^\s;$]+)", line, re.IGNORECASE)
    if match is None or not subckt:
        return None
    return QuickFix(
        title=msg("Change to {text}", text=subckt),
        reason=msg("It closes {name}", name=subckt),
        start=lines.byte(diagnostic.line, match.start(1) + 1),
        end=lines.byte(diagnostic.line, match.end(1) + 1),
        text=subckt,
    )


def _whole_library(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    """A library without sections is included whole."""
    match = re.match(r"[ \t]*(\.lib)[ \t]", lines.text(diagnostic.line), re.IGNORECASE)
    if match is None:
        return None
    return QuickFix(
        title=msg("Change to {text}", text=".include"),
        reason=msg("No section is named"),
        start=lines.byte(diagnostic.line, match.start(1) + 1),
        end=lines.byte(diagnostic.line, match.end(1) + 1),
        text=".include",
    )


def _define(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    """A parameter that nothing is like: defined where the others are read, with a value to be changed."""
    name = str(diagnostic.message.params.get("name", ""))
    if not name:
        return None
    card = f".param {name}=1"
    return _put(
        lines, _before_end(lines), card, msg("Add {card}", card=card), msg("{name} has no value", name=name)
    )


def _closer(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    closer = str(diagnostic.message.params.get("closer", ""))
    text = lines.text(diagnostic.line)
    if not closer or lines.text(diagnostic.line + 1).lstrip().startswith("+"):
        return None  # it may be meant on any of the lines that follow
    opened, last = (diagnostic.column or 1) - 1, len(text[: comment_start(text)].rstrip())
    end = lines.byte(diagnostic.line, _closed_outside(text, opened, last) + 1)
    sign = diagnostic.message.params.get("sign", "")
    reason = msg("{sign} is not closed", sign=sign)
    return QuickFix(title=msg("Add {card}", card=closer), reason=reason, start=end, end=end, text=closer)


def _closed_outside(text: str, opened: int, last: int) -> int:
    """Where what is around an opener ends, or the text does: ``(2*p}``."""
    open_ones: list[str] = []
    for at in range(opened, last):
        if text[at] in "({":
            open_ones.append(text[at])
        elif text[at] in ")}":
            if not open_ones or open_ones[-1] + text[at] not in ("()", "{}"):
                return at
            open_ones.pop()
    return last


def _joined(diagnostic: Diagnostic, lines: Lines) -> QuickFix | None:
    """A value and its scale that stand apart, as one word."""
    number, unit, near = (str(diagnostic.message.params[key]) for key in ("number", "unit", "near"))
    column, text = diagnostic.column, lines.text(diagnostic.line)
    apart = re.compile(rf"{re.escape(number)}[ \t]+{re.escape(unit)}(?!\w)", re.IGNORECASE)
    found = None if column is None else apart.search(text, column - 1)
    if found is None:
        return None
    return QuickFix(
        title=msg("Change to {text}", text=near),
        reason=msg("A value has no space in it"),
        start=lines.byte(diagnostic.line, found.start() + 1),
        end=lines.byte(diagnostic.line, found.end() + 1),
        text=near,
    )


def _free_name(lines: Lines, name: str) -> str:
    """The first name with another number that no line begins with."""
    texts = (lines.text(at) for at in range(1, lines.count + 1))
    taken = {text.split()[0].lower() for text in texts if text.strip()}
    stem = name.rstrip("0123456789")
    number = int(name[len(stem) :] or "1")
    while f"{stem}{number}".lower() in taken:
        number += 1
    return f"{stem}{number}"


_OF_LINES: dict[str, Callable[[Diagnostic, Lines], QuickFix | None]] = {
    "unclosed-subckt": _unclosed(".ends"),
    "unclosed-if": _unclosed(".endif"),
    "unclosed-control": _unclosed(".endc"),
    "lib-without-section": _whole_library,
    "no-analysis": _analysis,
    "no-dc-path": _path_to_ground,
    "missing-plus": _plus,
    "stray-ends": _comment(msg("Nothing is open that it could end")),
    "stray-directive": _comment(msg("Nothing is open that it could end")),
    "unknown-directive": _comment(msg("ngspice does not know it")),
    "title-is-card": _title,
    "duplicate-element": _other_name,
    "ends-name": _closing_name,
    "too-few-nodes": _bulk,
    "foreign-form": _instead,
    "undefined-parameter": _define,
    "unclosed-bracket": _closer,
    "parted-value": _joined,
}
