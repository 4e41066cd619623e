"""Which SPICE a netlist was written for, told by words only that program has.

Sources: the LTspice help (LTwiki), the PSpice A/D Reference Guide, the HSPICE Reference Manual: Commands and
Control Options. ngspice reads most of the others' cards by itself or in a compatibility mode (its manual,
"Compatibility"), which `COMPATIBILITY` names; what it does not read at all is rewritten by `translation`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Set
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from domain.circuit.netlist import Netlist
from domain.circuit.simulator_settings import Dialect
from domain.circuit.statements import Statement
from shared.errors import UserInputError
from shared.late_patterns import late_pattern
from shared.message import Message, msg

_MODES: dict[Dialect, str] = {"ngspice": "", "ltspice": "ltps", "pspice": "ps", "hspice": "hs"}
PROGRAMS: dict[Dialect, str] = {
    "ngspice": "ngspice",
    "ltspice": "LTspice",
    "pspice": "PSpice",
    "hspice": "HSPICE",
}
"""Their names as people write them."""


class Evidence(NamedTuple):
    """What told a dialect."""

    dialect: Dialect
    word: str
    line: int
    """1-based; 0 when it was not the text that told."""


_CERTAIN, _LIKELY = 2, 1
"""A word that ngspice refuses or reads as something else, and one it also meets in circuits of its own: a
dialect needs one of the former or two different ones of the latter."""

_CARDS: dict[str, tuple[Dialect, int]] = {
    **dict.fromkeys(("backanno", "wave", "ferret", "machine", "savebias"), ("ltspice", _CERTAIN)),
    **dict.fromkeys(("stimulus", "autoconverge", "vector", "watch", "stmlib", "mc", "wcase", "aliases"),
                    ("pspice", _CERTAIN)),
    **dict.fromkeys(("alter", "data", "hdl", "biaschk", "connect"), ("hspice", _CERTAIN)),
    **dict.fromkeys(("protect", "unprotect", "prot", "unprot"), ("hspice", _LIKELY)),
    "step": ("ltspice", _LIKELY),
}  # fmt: skip
"""Directives no other program has, and how much they say."""

_PATTERNS: tuple[tuple[Dialect, int, str], ...] = (
        ("ltspice", _CERTAIN, r"^[vicl]\S*\s.*\b(?:rser|rpar|lser|cpar|rlshunt)\s*="),
        ("ltspice", _CERTAIN, r"^[rcdqmjgb]\S*\s.*\snoiseless\b"),
        ("ltspice", _CERTAIN, r"^[a]\S*(?:\s+\S+){8}\s+(?:ota|buf|inv|and|or|xor|schmitt|[ds]r?flop|varistor|"
                              r"modulator|samplehold|phasedet|counter)\b"),
        ("ltspice", _CERTAIN, r"\b(?P<function>uplim|dnlim|buf|idt|idtmod)\s*\("),
        # ngspice's own has two arguments and spreads a parameter; of three it makes 0 without a word
        ("ltspice", _CERTAIN, r"\b(?P<function>limit)\s*\((?=(?:(?:[^(),]|\([^()]*\))+,){2})"),
        # ngspice takes the maker for a parameter that nobody has defined, but in a VDMOS
        ("ltspice", _CERTAIN, r"^\.model\s+\S+\s+(?!vdmos\b)\w+\b(?!:).*\bmfg\s*=\s*[a-z_]\w*"),
        # VDMOS and the ideal diode (sidiode) of ngspice's own circuits have some of these
        ("ltspice", _LIKELY, r"^\.model\s+(?:\S+\s+vdmos\b.*\bmfg|"
                             r".*\b(?:vceo|icrating|vds|vpk|ilimit|revilimit))\s*="),
        ("ltspice", _CERTAIN, r"^\.tran\s.*\b(?:startup|steady|nodiscard)\b"),
        ("ltspice", _CERTAIN, r"^\.tran\s+[^\s]+\s*$"),
        ("ltspice", _CERTAIN, r"^\.tran\s+0\s+\S"),
        ("ltspice", _CERTAIN, r"^\.lib\s+\S*standard\.(?:dio|bjt|mos|jft|cap|ind)\b"),
        ("ltspice", _CERTAIN, r"^\.lib\s+.*\\ltspice"),
        ("ltspice", _CERTAIN, r"^[vi]\S*\s.*\bwavefile\s*="),
        ("ltspice", _CERTAIN, r"^\.meas(?:ure)?\s+(?!(?:tran|ac|dc|op|noise|sp|tf)\b)\S+\s+"
                             r"(?:max|min|avg|rms|pp|integ|find|param|trig|when|deriv)\b"),
        ("ltspice", _CERTAIN, r"^[eg]\S*\s+\S+\s+\S+\s+\S+\s+\S+\s+laplace\s*="),
        ("ltspice", _LIKELY, r"\bsine\s*\("),
        ("pspice", _LIKELY, r"\bparams:"),
        ("pspice", _LIKELY, r"^\.probe(?:/csdf|64)?\s*$"),
        ("pspice", _CERTAIN, r"^\.probe(?:/csdf|64)\b"),
        # A whole file; ngspice and HSPICE ask for a section
        ("pspice", _LIKELY, r"^\.lib(?=\s+(?:\"[^\"]+\"|'[^']+'|\S+\.\w+)\s*$)"),
        ("ltspice", _LIKELY, r"^\.lib(?=\s+(?:\"[^\"]+\"|'[^']+'|\S+\.\w+)\s*$)"),
        ("pspice", _CERTAIN, r"^[eg]\S*\s.*\bvalue\s*\{"),
        ("pspice", _CERTAIN, r"^[eg]\S*\s.*\blaplace\s*\{"),
        ("pspice", _CERTAIN, r"^\.model\s+\S+\s+(?:vswitch|iswitch)"),
        ("pspice", _CERTAIN, r"^\.model\s+\S+\s+ako:"),  # LTspice has it too; ngspice refuses it
        ("pspice", _LIKELY, r"^\.model\s.*\b(?:dev|lot)\s*(?:/\w+)?\s*="),
        ("pspice", _CERTAIN, r"^\.step\s+(?:lin|dec|oct)\s+(?:param|temp|\S+\s+\S+\()"),
        ("pspice", _CERTAIN, r"^\.lib\s+[\"']?nom\.lib"),
        ("pspice", _CERTAIN, r"\b(?P<function>stp|pwrs)\s*\("),
        ("pspice", _CERTAIN, r"\$(?<=[\s,(]\$)[nd]_\w+"),  # its nets; elsewhere a comment
        # `.options post` stays in circuits that were taken over long ago
        ("hspice", _LIKELY, r"^\.opt\w*\s.*\bpost\b"),
        ("hspice", _LIKELY, r"^\.opt\w*\s.*\b(?:accurate|runlvl|ingold|captab|lvltim)\b"),
        ("hspice", _CERTAIN, r"^\.(?:tran|ac|dc)\s.*\bsweep\b"),
        ("hspice", _CERTAIN, r"^\.tran\s+[^\s=]+\s+[^\s=]+\s+(?:uic\s+)?start\s*="),
        ("hspice", _CERTAIN, r"^\.probe\s+(?:tran|ac|dc)\s.*\bpar\s*\("),
)  # fmt: skip
_WORDS = tuple(
    (dialect, weight, late_pattern(pattern, re.IGNORECASE | re.ASCII))
    for dialect, weight, pattern in _PATTERNS
)
_LETTERS = tuple(
    pattern[2 : pattern.index("]")] if pattern.startswith("^[") else "." if pattern.startswith("^") else ""
    for _, _, pattern in _PATTERNS
)
"""What a card of each pattern begins with; "": anything."""
_LTSPICE_TITLE = late_pattern(r"^\*?\s*.*\.(?:asc|qsch)\s*$", re.IGNORECASE)
QSPICE_TITLE = ".qsch"
"""QSPICE writes what LTspice does, and its schematic's name into the title."""
_IDLE_PIN = ("\xa5", "\xc2\xa5")
"""What QSPICE writes for a pin of its own devices that is not connected, in cp1252 and in UTF-8."""
_GREEK_MU = "\xce\xbc"
_MICRO = late_pattern(r"(?<=[\d.])(?:\xc2\xb5|\xce\xbc|\xb5)(?![\x80-\xff])")
"""Micro signs behind digits in the Latin-1 view: of UTF-8 (and its Greek double), cp1252."""


def evidence_in(netlist: Netlist) -> tuple[Evidence, ...]:
    """What tells the dialect of one file, of the likeliest dialect only; () for plain ngspice."""
    scores: dict[Dialect, int] = {}
    found: list[Evidence] = []
    counted: set[tuple[Dialect, str]] = set()
    for evidence, weight, kind in _hints(netlist):
        found.append(evidence)
        if weight >= _CERTAIN or (evidence.dialect, kind) not in counted:  # a likely word counts once only
            scores[evidence.dialect] = scores.get(evidence.dialect, 0) + weight
        counted.add((evidence.dialect, kind))
    if not scores:
        return ()
    best = max(scores, key=lambda dialect: scores[dialect])
    if scores[best] < _CERTAIN:
        return ()
    return tuple(item for item in found if item.dialect == best)


def is_device_of_qspice(statement: Statement, netlist: Netlist) -> bool:
    """Whether a line that begins like no element is a device of QSPICE alone. The letters of these are not
    in ASCII (Æ, Ø, ×, ¥, €, £; spicelib, spice_utils.py)."""
    words = statement.raw.split()
    if not words or words[0][:1].isascii():
        return False
    title = netlist.statements[0].raw.strip().lower()
    return title.endswith(QSPICE_TITLE) or any(word in _IDLE_PIN for word in words)


def _hints(netlist: Netlist) -> Iterator[tuple[Evidence, int, str]]:
    """Each hint with its weight and what kind of word it is."""
    own = {card.fields[1].text.lower() for card in netlist.directives("func") if len(card.fields) > 1}
    for statement in netlist.statements:
        if statement.kind == "title":
            title = statement.raw.strip()
            if _LTSPICE_TITLE.match(title):
                word = QSPICE_TITLE if title.lower().endswith(QSPICE_TITLE) else ".asc"
                yield Evidence(dialect="ltspice", word=word, line=statement.line), _CERTAIN, "title"
        elif statement.kind in ("element", "directive"):
            yield from _hints_of(statement, own)


def _hints_of(statement: Statement, own: Set[str]) -> Iterator[tuple[Evidence, int, str]]:
    """`own`: functions the circuit itself defines, of whatever name."""
    raw = statement.raw
    if statement.kind == "directive" and (known := _CARDS.get(statement.keyword)) is not None:
        word = f".{statement.keyword}"
        yield Evidence(dialect=known[0], word=word, line=statement.line), known[1], word
    if not raw.isascii() and (match := _MICRO.search(raw)) is not None:
        # ngspice reads the micro sign too, but takes the Greek letter that looks the same for nothing
        weight = _CERTAIN if match[0] == _GREEK_MU else _LIKELY
        yield Evidence(dialect="ltspice", word="µ", line=statement.line), weight, "µ"
    for dialect, weight, pattern in _words_of(raw[:1].lower()):
        if match := pattern.search(raw):
            function = match.groupdict().get("function")
            if function and (function.lower() in own or statement.keyword in ("func", "subckt")):
                continue
            word = match[0].split()[-1] if match[0][:1].lower() not in ".vicleg" else _told_word(match[0])
            yield Evidence(dialect=dialect, word=word, line=statement.line), weight, pattern.pattern


@cache
def _words_of(first: str) -> tuple[tuple[Dialect, int, re.Pattern[str]], ...]:
    """Those a card can have that begins with a letter, lower case."""
    return tuple(
        word for word, letters in zip(_WORDS, _LETTERS, strict=True) if not letters or first in letters
    )


def _told_word(text: str) -> str:
    words = text.split()
    return text.strip() if len(words) <= 3 else f"{words[0]} ... {words[-1]}"


def compatibility_mode(root: Dialect, included: frozenset[Dialect]) -> str | None:
    """ngspice's `ngbehavior` for a circuit of this dialect with files of others; None for its own ways.

    The letter ``a`` makes a mode count for the whole circuit, otherwise it counts for included files.
    """
    if root != "ngspice":
        return _MODES[root] + "a"
    foreign = included - {"ngspice"}
    if not foreign:
        return None
    return "ltps" if "ltspice" in foreign else "hs" if foreign == {"hspice"} else "ps"


def functions_of_mode(mode: str | None) -> frozenset[str]:
    """Functions that ngspice 39 has in expressions in this mode only, each tried there; without the ``a`` of
    the whole circuit it has them in included files, and what a file may use is not told apart here."""
    if mode is None:
        return frozenset()
    of_pspice = {"if", "pwrs", "stp"} if "ps" in mode else set()
    return frozenset(of_pspice | ({"uplim", "dnlim"} if "lt" in mode else set()))


# ---- text and encryption -----------------------------------------------------------------------------

_ENCRYPTED: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("LTspice", late_pattern(rb"^\*?\s*LTspice Encrypted File|^\s*<Binary File>\s*\x1a", re.IGNORECASE)),
    ("PSpice", late_pattern(rb"^[ \t]*\$CDNENC(?:START|FINISH)", re.IGNORECASE | re.MULTILINE)),
    ("HSPICE", late_pattern(rb"^[ \t]*\.prot\w*(?:\s+(?:FREELIB|RELIB|CUSTOM)|"
                          rb"[^\n]*\n[^\n]*[\x00-\x08\x0e-\x1f\x7f-\xff]{3})", re.IGNORECASE | re.MULTILINE)),
)  # fmt: skip


def refuse_encrypted(data: bytes, path: Path | None) -> None:
    """Raise UserInputError for a library that only one program can decrypt."""
    for program, pattern in _ENCRYPTED:
        if match := pattern.search(data[:65536]):
            raise UserInputError(
                msg("{path} is encrypted for {program}; no other program can read it.",
                    path=path, program=program),
                advice=msg("Ask the vendor for an unencrypted model, or use another part."),
                file=path,
                line=data.count(b"\n", 0, match.start()) + 1,
                error_type="encrypted_library",
            )  # fmt: skip


LONGEST_CARD, MOST_LINES, MOST_NESTED = 4 * 2**20, 2_000_000, 1000
"""Bytes of a card with its continuation lines (200,000 points of a PWL source), lines of a file, and brackets
within brackets of a card."""
_NEXT_CARD = late_pattern(rb"\n(?![ \t]*\+)")


def refuse_endless(data: bytes, path: Path | None) -> None:
    """Raise UserInputError for a file of allowed size that would still take minutes and gigabytes."""
    if len(data) <= LONGEST_CARD and _opened(data) <= MOST_NESTED:
        return
    if data.count(b"\n") > MOST_LINES:
        raise UserInputError(
            msg("{path} has more than {limit} lines, the limit for a netlist.", path=path, limit=MOST_LINES),
            file=path,
            error_type="netlist_too_long",
        )
    start = 0
    for match in (*_NEXT_CARD.finditer(data), None):
        end = len(data) if match is None else match.start()
        card = data[start:end]
        what = None
        if len(card) > LONGEST_CARD:
            what = msg(
                "{path} has a card of more than {limit} MB, the limit for one card of a netlist.",
                path=path,
                limit=LONGEST_CARD // 2**20,
            )
        elif _opened(card) > MOST_NESTED and _is_deep(card):
            what = msg(
                "{path} has a card with brackets nested more than {limit} deep.", path=path, limit=MOST_NESTED
            )
        if what is not None:
            line = data.count(b"\n", 0, start + 1) + 1
            raise UserInputError(what, file=path, line=line, error_type="netlist_too_long")
        start = end


def _opened(text: bytes) -> int:
    return sum(map(text.count, (b"(", b"{", b"[")))


def _is_deep(card: bytes) -> bool:
    if card.lstrip().startswith(b"*"):
        return False  # a comment
    steps = (1 if char in b"({[" else -1 for char in card if char in b"(){}[]")
    return any(depth > MOST_NESTED for depth in accumulate(steps))


_SCHEMATICS: tuple[tuple[str, re.Pattern[bytes], Message], ...] = (
    ("LTspice", late_pattern(rb"\s*Version 4\r?\n\s*SHEET ", re.IGNORECASE),
     msg("Import it: File > Import files of other programs.")),
    ("QSPICE", late_pattern(rb"\xff\xd8\xff\xdb\xabschematic"),
     msg("In QSPICE choose View > Netlist and save it, or run QUX.exe -Netlist file.qsch; then open the .cir "
         "file here.")),
    ("KiCad", late_pattern(rb"\s*\(kicad_sch\b|EESchema Schematic File"),
     msg("Import it: File > Import files of other programs. One of KiCad 5 or "
         "older needs to be saved by a newer KiCad first.")),
    ("PSpice", late_pattern(rb"\s*\*version \d+\.\d+ \d+\r?\nu \d+"),
     msg("In PSpice Schematics choose Analysis > Create Netlist; then open the .cir and .net files here.")),
    ("Qucs", late_pattern(rb"\s*(?:<Qucs(?:-S)? Schematic |# Qucs \d)"),
     msg("In Qucs-S choose Simulation > Save netlist; then open that file here.")),
    ("xschem", late_pattern(rb"\s*v \{xschem "),
     msg("In xschem choose Netlist in SPICE mode; then open the .spice file here.")),
)  # fmt: skip
"""Drawings people take for netlists, and the way from each to a netlist."""


_LISTINGS = (
    ("ngspice", late_pattern(
        rb"(?:Warning:[^\n]*\n|\s)*+"
        rb"(?:No\. of Data Rows\s*:\s*\d+\s|Circuit:[^\n]*\s+(?:[Ww]arning[^\n]*\n[^\n]*\n\s*)?"
        rb"(?:Date:|Doing analysis at TEMP)\s)")),
    ("PSpice", late_pattern(rb"[\s\f]*+\*{4} [\d/]+ [\d:]+ \*{2,}[^\n]*PSpice")),
    ("HSPICE", late_pattern(rb"(?:[^\n]*\n){0,5}?[^\n]*\*{4,} +(?:Star-)?HSPICE +-- ", re.IGNORECASE)),
)  # fmt: skip
"""How what a simulator printed begins, its listing of the circuit among it."""


def refuse_schematic(data: bytes, path: Path | None) -> None:
    """Raise UserInputError for a drawing or a printed result: it says the way to its netlist."""
    head = plain_text(data[:4000])
    for program, pattern in _LISTINGS:
        if pattern.match(head):
            raise UserInputError(
                msg("{path} is {program} output, not a netlist. Open the circuit it was run with.",
                    path=path, program=program),
                file=path,
                line=1,
                error_type="schematic",
            )  # fmt: skip
    for program, pattern, way in _SCHEMATICS:
        if pattern.match(head.removeprefix(codecs.BOM_UTF8)):
            raise UserInputError(
                msg("{path} is a {program} schematic, not a netlist. {way}", path=path, program=program,
                    way=way),
                file=path,
                line=1,
                error_type="schematic",
            )  # fmt: skip


def utf8_text(data: bytes, encoding: str) -> bytes:
    """A file of a Windows program in UTF-8, whatever its cards' names are written with.

    `encoding` is what the bytes could be read as. Single bytes beyond ASCII (µ, §) are cp1252, though some
    could be halves of a GBK letter.
    """
    if encoding in ("utf-8", "utf-8-sig", "utf-16"):
        return data
    is_gbk = encoding == "gbk" and re.search(rb"[\x81-\xfe]{2}", data) is not None
    return data.decode("gbk" if is_gbk else "cp1252", "replace").encode("utf-8")


def plain_text(data: bytes) -> bytes:
    """A file in UTF-16, as LTspice saves some, in UTF-8 (with or without a byte order mark); any other as
    it is."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            return data[2:].decode(encoding, "replace").encode("utf-8")
    head = data[:400]
    if len(data) % 2 == 0 and len(head) >= 8:
        for nothing, something, encoding in ((1, 0, "utf-16-le"), (0, 1, "utf-16-be")):
            half = head[nothing::2]
            if half.count(0) > 0.9 * len(half) and not head[something::2].count(0):
                return data.decode(encoding, "replace").encode("utf-8")
    return data
