"""Which SPICE a netlist was written for, told by words only that program has.

Sources: the LTspice help (LTwiki), the PSpice A/D Reference Guide, the HSPICE Reference Manual: Commands and
Control Options. ngspice reads most of the others' cards by itself or in a compatibility mode (its manual,
"Compatibility"), which `COMPATIBILITY` names; what it does not read at all is rewritten by `translation`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from domain.circuit.netlist import Netlist
from domain.circuit.statements import Statement
from shared.errors import UserInputError
from shared.message import msg

Dialect = Literal["ngspice", "ltspice", "pspice", "hspice"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)

_MODES: dict[Dialect, str] = {"ngspice": "", "ltspice": "ltps", "pspice": "ps", "hspice": "hs"}
PROGRAMS: dict[Dialect, str] = {
    "ngspice": "ngspice",
    "ltspice": "LTspice",
    "pspice": "PSpice",
    "hspice": "HSPICE",
}
"""Their names as people write them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What told a dialect."""

    dialect: Dialect
    word: str
    line: int
    """1-based; 0 when it was not the text that told."""


_STRONG, _WEAK = 2, 1

_CARDS: dict[str, tuple[Dialect, int]] = {
    **dict.fromkeys(("backanno", "wave", "ferret", "machine", "savebias"), ("ltspice", _STRONG)),
    **dict.fromkeys(("stimulus", "autoconverge", "vector", "watch", "stmlib", "mc", "wcase", "aliases"),
                    ("pspice", _STRONG)),
    **dict.fromkeys(("alter", "protect", "unprotect", "prot", "unprot", "data", "hdl", "biaschk", "connect"),
                    ("hspice", _STRONG)),
    "step": ("ltspice", _WEAK),
}  # fmt: skip
"""Directives no other program has, and how much they say."""

_PATTERNS: tuple[tuple[Dialect, int, str], ...] = (
        ("ltspice", _STRONG, r"^[vicl]\S*\s.*\b(?:rser|rpar|lser|cpar|rlshunt)\s*="),
        ("ltspice", _STRONG, r"\b(?:uplim|dnlim|buf|idt|idtmod)\s*\("),
        ("ltspice", _STRONG, r"^\.model\s.*\b(?:mfg|vceo|icrating|vds|vpk|ilimit|revilimit)\s*="),
        ("ltspice", _STRONG, r"^\.tran\s.*\b(?:startup|steady|nodiscard)\b"),
        ("ltspice", _STRONG, r"^\.tran\s+[^\s]+\s*$"),
        ("ltspice", _STRONG, r"^\.tran\s+0\s+\S"),
        ("ltspice", _STRONG, r"^\.lib\s+\S*standard\.(?:dio|bjt|mos|jft|cap|ind)\b"),
        ("ltspice", _STRONG, r"^\.lib\s+.*\\ltspice"),
        ("ltspice", _STRONG, r"^[vi]\S*\s.*\bwavefile\s*="),
        ("ltspice", _STRONG, r"^\.meas(?:ure)?\s+(?!(?:tran|ac|dc|op|noise|sp|tf)\b)\S+\s+"
                             r"(?:max|min|avg|rms|pp|integ|find|param|trig|when|deriv)\b"),
        ("ltspice", _STRONG, r"^[eg]\S*\s+\S+\s+\S+\s+\S+\s+\S+\s+laplace\s*="),
        ("ltspice", _WEAK, r"\bsine\s*\("),
        ("pspice", _WEAK, r"\bparams:"),
        ("pspice", _WEAK, r"^\.probe(?:/csdf|64)?\s*$"),
        ("pspice", _STRONG, r"^\.probe(?:/csdf|64)\b"),
        ("pspice", _STRONG, r"^[eg]\S*\s.*\bvalue\s*\{"),
        ("pspice", _STRONG, r"^[eg]\S*\s.*\blaplace\s*\{"),
        ("pspice", _STRONG, r"^\.model\s+\S+\s+(?:vswitch|iswitch|ako:)"),
        ("pspice", _STRONG, r"^\.model\s.*\b(?:dev|lot)\s*(?:/\w+)?\s*="),
        ("pspice", _STRONG, r"^\.step\s+(?:lin|dec|oct)\s+(?:param|temp|\S+\s+\S+\()"),
        ("pspice", _STRONG, r"^\.lib\s+[\"']?nom\.lib"),
        ("pspice", _STRONG, r"\b(?:stp|pwrs)\s*\("),
        ("hspice", _STRONG, r"^\.opt\w*\s.*\b(?:post|accurate|runlvl|ingold|captab|lvltim)\b"),
        ("hspice", _STRONG, r"^\.(?:tran|ac|dc)\s.*\bsweep\b"),
        ("hspice", _STRONG, r"^\.(?:print|probe|plot)\s+(?:tran|ac|dc)\s.*\bpar\s*\("),
)  # fmt: skip
_WORDS = tuple(
    (dialect, weight, re.compile(pattern, re.IGNORECASE | re.ASCII)) for dialect, weight, pattern in _PATTERNS
)
_LTSPICE_TITLE = re.compile(r"^\*?\s*.*\.asc\s*$", re.IGNORECASE)
_GREEK_MU = "\xce\xbc"
_MICRO = re.compile(r"(?<=[\d.])(?:\xc2\xb5|\xce\xbc|\xb5)(?![\x80-\xff])")
"""Micro signs behind digits in the Latin-1 view: of UTF-8 (and its Greek double), cp1252."""


def evidence_in(netlist: Netlist) -> tuple[Evidence, ...]:
    """What tells the dialect of one file, of the likeliest dialect only; () for plain ngspice."""
    scores: dict[Dialect, int] = {}
    found: list[Evidence] = []
    for evidence, weight in _hints(netlist):
        scores[evidence.dialect] = scores.get(evidence.dialect, 0) + weight
        found.append(evidence)
    if not scores:
        return ()
    best = max(scores, key=lambda dialect: scores[dialect])
    if scores[best] < _STRONG:
        return ()
    return tuple(item for item in found if item.dialect == best)


def _hints(netlist: Netlist) -> Iterator[tuple[Evidence, int]]:
    for statement in netlist.statements:
        if statement.kind == "title":
            if _LTSPICE_TITLE.match(statement.raw.strip()):
                yield Evidence(dialect="ltspice", word=".asc", line=statement.line), _STRONG
        elif statement.kind in ("element", "directive"):
            yield from _hints_of(statement)


def _hints_of(statement: Statement) -> Iterator[tuple[Evidence, int]]:
    raw = statement.raw
    if statement.kind == "directive" and (known := _CARDS.get(statement.keyword)) is not None:
        yield Evidence(dialect=known[0], word=f".{statement.keyword}", line=statement.line), known[1]
    if not raw.isascii() and (match := _MICRO.search(raw)) is not None:
        # ngspice reads the micro sign too, but takes the Greek letter that looks the same for nothing
        weight = _STRONG if match[0] == _GREEK_MU else _WEAK
        yield Evidence(dialect="ltspice", word="µ", line=statement.line), weight
    for dialect, weight, pattern in _WORDS:
        if match := pattern.search(raw):
            word = match[0].split()[-1] if match[0][:1].lower() not in ".vicleg" else _told_word(match[0])
            yield Evidence(dialect=dialect, word=word, line=statement.line), weight


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
    """Functions that ngspice 39 has in expressions in this mode only, each tried there."""
    if mode is None or not mode.endswith("a"):
        return frozenset()
    of_pspice = {"if", "pwrs", "stp"} if "ps" in mode else set()
    return frozenset(of_pspice | ({"uplim", "dnlim"} if "lt" in mode else set()))


# ---- text and encryption -----------------------------------------------------------------------------

_ENCRYPTED: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("LTspice", re.compile(rb"^\*?\s*LTspice Encrypted File", re.IGNORECASE)),
    ("PSpice", re.compile(rb"^\s*\$CDNENC(?:START|FINISH)", re.IGNORECASE | re.MULTILINE)),
    ("HSPICE", re.compile(rb"^\s*\.prot\w*(?:\s+(?:FREELIB|RELIB|CUSTOM)|"
                          rb"[^\n]*\n[^\n]*[\x00-\x08\x0e-\x1f\x7f-\xff]{3})", re.IGNORECASE | re.MULTILINE)),
)  # fmt: skip


def refuse_encrypted(data: bytes, path: Path | None) -> None:
    """Raise UserInputError for a library that only one program can decrypt."""
    for program, pattern in _ENCRYPTED:
        if pattern.search(data[:65536]):
            raise UserInputError(
                msg("{path} is encrypted for {program}; no other program can read it.",
                    path=path, program=program),
                advice=msg("Ask the vendor for an unencrypted model, or take another part."),
                file=path,
                error_type="encrypted_library",
            )  # fmt: skip


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
