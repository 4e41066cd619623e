"""What other SPICEs write and ngspice 39 cannot read, rewritten in a copy of the deck.

Each rewrite gives the same circuit in ngspice's words; what has no such words is told as a note and left for
ngspice to refuse. Lines stay where they are, so that places in messages are those of the user's file: what
has to be added goes to the end of the file, or in front of the `.ends` of its subcircuit (behind which
lines then shift). What the compatibility modes of ngspice do by themselves is not done here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from domain.circuit.dialects import PROGRAMS, Dialect
from domain.circuit.laplace import NotRational, realised, transfer_of
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import read_number
from domain.circuit.statements import Statement
from shared.message import Message, msg

_NOT_CIRCUIT: dict[Dialect, frozenset[str]] = {
    "ngspice": frozenset(),
    "ltspice": frozenset({"backanno", "wave", "ferret", "machine", "endmachine", "savebias", "loadbias",
                          "text", "state", "rule", "output"}),
    "pspice": frozenset({"probe", "probe64", "probe/csdf", "stimulus", "stmlib", "autoconverge", "vector",
                         "watch", "savebias", "loadbias", "aliases", "endaliases", "mc", "wcase",
                         "distribution"}),
    "hspice": frozenset({"protect", "unprotect", "prot", "unprot", "probe", "biaschk", "lin", "hdl"}),
}  # fmt: skip
"""Cards that say nothing of the circuit, or that have no counterpart."""

_TELLING = frozenset({"mc", "wcase", "stimulus", "machine", "loadbias", "hdl", "alter", "data"})
"""Those whose loss changes what the run gives."""

_MICRO = re.compile(r"(?<=[\d.])(?:\xc2\xb5|\xce\xbc|\xb5)(?![\x80-\xff])")
_SERIES = re.compile(
    r"\s+(?P<key>rser|rpar|cpar|lser|rlshunt)\s*=\s*(?P<value>\{[^}]*\}|[^\s,]+)", re.IGNORECASE
)
_RATING = re.compile(
    r"\s+(?:tol|pwr|irms|vrms|ipk|mfg|pn|type)\s*=\s*(?:\"[^\"]*\"|[^\s\",]+)", re.IGNORECASE
)
_RATED_VOLTAGE = re.compile(r"\s+v\s*=\s*[\d.]+\w*(?=\s|$)", re.IGNORECASE)
"""What LTspice keeps of a part and does not simulate."""
_RKM = re.compile(r"(?<=\s)(?P<whole>\d+)(?P<scale>meg|[kmunpfgtr])(?P<part>\d+)(?=\s|$)", re.IGNORECASE)
_VALUE_BRACE = re.compile(r"(?P<word>\bvalue)\s*(?P<brace>\{)", re.IGNORECASE)
_LAPLACE = re.compile(
    r"^(?P<head>[eg]\S*\s+\S+\s+\S+)\s+(?:(?P<cp>\S+)\s+(?P<cn>\S+)\s+laplace\s*=\s*(?P<lt>.+)|"
    r"laplace\s*\{(?P<input>[^{}]*)\}\s*=?\s*[{(](?P<ps>.*)[})])\s*$",
    re.IGNORECASE,
)
_CALL = re.compile(r"\b(?P<name>buf|inv|table|idt)\s*\(", re.IGNORECASE)
_MODIFIERS = frozenset({"startup", "steady", "nodiscard", "step"})
_MEAS_KINDS = frozenset({"tran", "ac", "dc", "op", "noise", "sp", "tf"})


@dataclass(slots=True)
class Translation:
    """A rewritten file and what is to be said about it."""

    netlist: Netlist
    notes: list[tuple[int, Message]] = field(default_factory=list)
    """(line, text): what is not the same any more, or could not be rewritten."""


def translate(netlist: Netlist, dialect: Dialect) -> Translation:
    """`netlist` in ngspice's words; the very same object when there is nothing to rewrite."""
    if dialect == "ngspice" or netlist.encoding == "utf-16":
        return Translation(netlist)
    work = _Work(netlist, dialect)
    for statement in netlist.statements:
        work.rewrite(statement)
    edits = work.edits()
    return Translation(netlist.edited(edits) if edits else netlist, work.notes)


class _Work:
    """One file being rewritten."""

    def __init__(self, netlist: Netlist, dialect: Dialect) -> None:
        self._netlist = netlist
        self._dialect = dialect
        self._edits: list[tuple[int, int, str]] = []
        self._added: dict[int | None, list[str]] = {}
        """Lines by the line of the `.ends` they stand in front of; None for the end of the file."""
        self.notes: list[tuple[int, Message]] = []
        self._is_over = False
        self._kinds = [analysis.kind for analysis in netlist.analyses] or ["tran"]
        self._names = 0

    def edits(self) -> list[tuple[int, int, str]]:
        """Every change as (first byte, byte behind, text)."""
        ending = self._netlist.line_ending
        for line, texts in self._added.items():
            text = "".join(text + ending for text in texts)
            if line is None:
                end = len(self._netlist.to_bytes())
                is_open = not self._netlist.to_bytes().endswith((b"\n", b"\r"))
                self._edits.append((end, end, (ending if is_open else "") + text))
            else:
                start = self._netlist.source.lines[line - 1].start
                self._edits.append((start, start, text))
        return self._edits

    def rewrite(self, statement: Statement) -> None:
        """Note the changes of one card."""
        if statement.kind not in ("element", "directive"):
            return
        if self._is_over:
            if statement.keyword != "end":
                self._comment_out(statement)
            return
        if self._dialect == "hspice" and statement.keyword == "alter":
            self._is_over = True
            self._note(statement, msg("Only the circuit before .alter is simulated."))
            self._comment_out(statement)
            return
        if statement.kind == "directive":
            self._directive(statement)
        else:
            self._element(statement)

    # ---- directives ------------------------------------------------------------------------------

    def _directive(self, statement: Statement) -> None:
        keyword = statement.keyword
        if keyword in _NOT_CIRCUIT[self._dialect]:
            if keyword in _TELLING:
                self._note(
                    statement, msg("{card} is left out: ngspice has nothing like it.", card=f".{keyword}")
                )
            self._comment_out(statement)
        elif keyword == "lib":
            self._library(statement)
        elif keyword == "tran" and self._dialect == "ltspice":
            self._transient(statement)
        elif keyword == "meas":
            self._measure(statement)
        elif keyword in ("step", "temp"):
            return  # `stepping` reads these
        else:
            text = self._functions(_micro(statement.raw), statement)
            self._replace(statement, text)

    def _library(self, statement: Statement) -> None:
        """`.lib file` without a section means the whole file, except inside a library of sections."""
        words = statement.words
        if len(words) != 2 or self._dialect == "hspice" or statement.section is not None:
            return
        if any(card.line > statement.line for card in self._netlist.directives("endl")):
            return
        path = words[1].text.strip("\"'")
        own = re.search(r"standard\.(dio|bjt|mos|jft|cap|ind|bead)$|^nom\.lib$", path, re.IGNORECASE)
        if own:
            # the program's own library, which is not here; models of it are then told as missing
            self._comment_out(statement)
        else:
            self._replace(statement, f'.include "{path.replace(chr(92), "/")}"', decoded=True)

    def _transient(self, statement: Statement) -> None:
        """`.tran stop`, `.tran 0 stop ...` and the words behind them."""
        raw = _micro(statement.raw)
        words = re.findall(r"\{[^}]*\}|[^\s,]+", raw)
        kept = [word for word in words[1:] if word.lower() not in _MODIFIERS]
        for word in words[1:]:
            if word.lower() in _MODIFIERS and word.lower() != "nodiscard":
                self._note(
                    statement, msg("{word} of .tran is left out: ngspice has nothing like it.", word=word)
                )
        tail = [word for word in kept if word.lower() == "uic"]
        times = [word for word in kept if word.lower() != "uic"]
        if len(times) == 1:
            times = ["0", *times]
        if len(times) > 1 and _is_zero(times[0]):
            times[0] = times[3] if len(times) > 3 and not _is_zero(times[3]) else _thousandth(times[1])
        self._replace(statement, " ".join([words[0], *times, *tail]))

    def _measure(self, statement: Statement) -> None:
        """LTspice lets the analysis out, and means that of the deck."""
        words = statement.words
        if len(words) > 2 and words[1].key not in _MEAS_KINDS:
            kind = next((kind for kind in self._kinds if kind in _MEAS_KINDS), "tran")
            head = statement.raw[: words[1].start]
            self._replace(statement, f"{head}{kind} {statement.raw[words[1].start :]}")

    # ---- elements --------------------------------------------------------------------------------

    def _element(self, statement: Statement) -> None:
        raw = _micro(statement.raw)
        letter = statement.keyword
        if letter == "a" and self._dialect == "ltspice" and len(statement.words) >= 10:
            self._note(
                statement,
                msg("{name} is a special function of {program} that ngspice does not have.",
                    name=statement.words[0].text, program=PROGRAMS[self._dialect]),
            )  # fmt: skip
            return
        if letter in "vicl":
            raw = self._parasitics(raw, statement)
        if letter in "rcl" and self._dialect == "ltspice":
            raw = _RATING.sub("", raw)
            raw = _RATED_VOLTAGE.sub("", raw) if letter == "c" else raw
            raw = _RKM.sub(_without_rkm, raw)
        if letter in "eg":
            raw = self._laplace(raw, statement)
            raw = _VALUE_BRACE.sub(r"\g<word>=\g<brace>", raw)
        self._replace(statement, self._functions(raw, statement))

    def _parasitics(self, raw: str, statement: Statement) -> str:
        """Rser, Rpar, Cpar ... of one element as elements of their own."""
        found = {match["key"].lower(): match["value"] for match in _SERIES.finditer(raw)}
        if not found:
            return raw
        raw = _SERIES.sub("", raw)
        words = raw.split()
        if len(words) < 4:
            return raw
        name, first, second = words[:3]
        inner = first
        for key in ("rser", "lser"):
            if key in found and not _is_zero(found[key]):
                outer, inner = inner, f"{name}#{key}"
                self._add(statement, f"{key[0]}_{key}_{name} {outer} {inner} {found[key]}")
        for key in ("rpar", "cpar", "rlshunt"):
            if key in found and not _is_zero(found[key]):
                ends = f"{inner} {second}" if key == "rlshunt" else f"{first} {second}"
                self._add(statement, f"{key[0]}_{key}_{name} {ends} {found[key]}")
        return raw if inner == first else f"{name} {inner} {second} {raw.split(None, 3)[3]}"

    def _laplace(self, raw: str, statement: Statement) -> str:
        """E and G with a transfer function, as integrators and a source they control."""
        match = _LAPLACE.match(raw)
        if match is None:
            return raw
        try:
            above, below = transfer_of(match["lt"] or match["ps"] or "")
        except NotRational:
            self._note(
                statement,
                msg("The transfer function of {name} is no quotient of polynomials in s with plain numbers, "
                    "which ngspice needs.", name=statement.words[0].text),
            )  # fmt: skip
            return raw
        name = raw.split(maxsplit=1)[0]
        look = match["input"] or f"V({match['cp']},{match['cn']})"
        self._names += 1
        own = f"laplace_{self._names}_{name}"
        seen, out = f"{own}_in", f"{own}_out"
        self._add(statement, f"b_{own}_in {seen} 0 V={look.strip()}")
        for element in realised(own, seen, out, above, below):
            self._add(statement, element)
        return f"{match['head']} {out} 0 1"

    def _functions(self, raw: str, statement: Statement) -> str:
        """Functions of expressions that ngspice calls otherwise."""
        at = 0
        while match := _CALL.search(raw, at):
            end = _closing(raw, match.end() - 1)
            inner, name = raw[match.end() : end - 1], match["name"].lower()
            at = match.end()
            if statement.kind == "element" and statement.keyword not in "begrcl":
                continue
            if name == "idt":
                self._note(statement, msg("idt() is an integral over time, which ngspice does not have."))
            elif name == "table":
                if statement.keyword == "b":
                    raw = f"{raw[: match.start()]}pwl({raw[match.end() :]}"
            else:
                high, low = ("1", "0") if name == "buf" else ("0", "1")
                new = f"(({inner})>0.5?{high}:{low})"
                raw = raw[: match.start()] + new + raw[end:]
        return raw

    # ---- edits -----------------------------------------------------------------------------------

    def _note(self, statement: Statement, text: Message) -> None:
        self.notes.append((statement.line, text))

    def _add(self, statement: Statement, text: str) -> None:
        line = None
        if statement.scope:
            line = next(
                (
                    sub.end_line
                    for sub in self._netlist.subcircuits
                    if sub.path == statement.scope and sub.line < statement.line < (sub.end_line or 0)
                ),
                None,
            )
        elif statement.section is not None:
            line = next(
                (card.line for card in self._netlist.directives("endl") if card.line > statement.line), None
            )
        self._added.setdefault(line, []).append(self._decoded(text))

    def _decoded(self, raw: str) -> str:
        return self._netlist.source.decode(raw)

    def _replace(self, statement: Statement, text: str, *, decoded: bool = False) -> None:
        """The card written anew on its first line; its continuation lines become comments."""
        if text == statement.raw:
            return
        first, *others = statement.chunks
        new = text if decoded else self._decoded(text)
        self._edits.append((first.start, first.start + first.length, new))
        for line in dict.fromkeys(chunk.line for chunk in others):
            self._comment_line(line)

    def _comment_out(self, statement: Statement) -> None:
        for line in dict.fromkeys(chunk.line for chunk in statement.chunks):
            self._comment_line(line)

    def _comment_line(self, line: int) -> None:
        start = self._netlist.source.lines[line - 1].start
        self._edits.append((start, start, "* "))


def _micro(raw: str) -> str:
    return raw if raw.isascii() else _MICRO.sub("u", raw)


def _is_zero(text: str) -> bool:
    number = read_number(text)
    return number is not None and number.value == 0 and not number.rest


def _thousandth(text: str) -> str:
    number = read_number(text)
    if number is not None and not text.startswith("{"):
        return f"{number.value / 1000:.12g}"
    return f"{{({text.strip('{}')})/1000}}"


def _without_rkm(match: re.Match[str]) -> str:
    scale = match["scale"]
    return f"{match['whole']}.{match['part']}{'' if scale in 'rR' else scale}"


def _closing(text: str, opening: int) -> int:
    """Index behind the parenthesis that closes the one at `opening`."""
    depth = 0
    for index in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    return len(text)
