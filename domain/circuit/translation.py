"""What other SPICEs write and ngspice 39 cannot read, rewritten in a copy of the deck.

Each rewrite gives the same circuit in ngspice's words; what has no such words is told as a note and left for
ngspice to refuse. Lines stay where they are, so that places in messages are those of the user's file: what
has to be added goes to the end of the file, or in front of the `.ends` of its subcircuit (behind which
lines then shift). What the compatibility modes of ngspice do by themselves is not done here.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from operator import attrgetter

from domain.circuit.dialects import PROGRAMS, Dialect
from domain.circuit.laplace import NotRational, realised, transfer_of
from domain.circuit.netlist import Netlist, Parameter
from domain.circuit.numbers import read_number
from domain.circuit.statements import Field, Statement
from shared.late_patterns import late_pattern
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

_MICRO = late_pattern(r"(?<=[\d.])(?:\xc2\xb5|\xce\xbc|\xb5)(?![\x80-\xff])")
_SERIES = late_pattern(
    r"(?<!\s)\s++(?P<key>rser|rpar|cpar|lser|rlshunt)\s*+=\s*+(?P<value>\{[^}]*\}|[^\s,]+)", re.IGNORECASE
)
_RATING = late_pattern(
    r"(?<!\s)\s++(?:tol|pwr|irms|vrms|ipk|mfg|pn|type)\s*+=\s*+(?:\"[^\"]*\"|[^\s\",]+)", re.IGNORECASE
)
_RATED_VOLTAGE = late_pattern(r"(?<!\s)\s++v\s*+=\s*+[\d.]+\w*(?=\s|$)", re.IGNORECASE)
"""What LTspice keeps of a part and does not simulate."""
_RKM = late_pattern(r"(?<=\s)(?P<whole>\d+)(?P<scale>meg|[kmunpfgtr])(?P<part>\d+)(?=\s|$)", re.IGNORECASE)
_VALUE_BRACE = late_pattern(r"(?P<word>\bvalue)\s*(?P<brace>\{)", re.IGNORECASE)
_LAPLACE = late_pattern(
    r"^(?P<head>[eg]\S*\s+\S+\s+\S+)\s+(?:(?P<cp>\S+)\s+(?P<cn>\S+)\s+laplace\s*=\s*(?P<lt>.+)|"
    r"laplace\s*\{(?P<input>[^{}]*)\}\s*=?\s*[{(](?P<ps>.*)[})])\s*$",
    re.IGNORECASE,
)
_FILE = late_pattern(r"^\s*\.\w+\s+(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>.*?))\s*$")
"""The path of a `.lib` or `.include`: LTspice takes the rest of the card, blanks and all."""
_OWN_LIBRARY = late_pattern(
    r"(?:^|/)(?:standard\.(?:dio|bjt|mos|jft|cap|ind|bead|res)|(?:ltc|adi|ad)\d*\.lib|"
    r"universalop-?amps?\d*\.(?:sub|lib)|opamps?\.sub|(?:nom|nomd|eval|evald|evalaa|breakout|bipolar|diode|"
    r"analog|analog_p|abm|source|jfet|pwrmos|opamp)\.lib)$",
    re.IGNORECASE,
)
"""Libraries that come with LTspice and PSpice."""
_HAS_AC = late_pattern(r"\bac\b", re.IGNORECASE)
_SUFFIX = late_pattern(r"\.\w{1,8}$")
_RANDOM = {
    "mc": ".func mc(nominal,tolerance) {aunif(nominal,(nominal)*(tolerance))}",
    "flat": ".func flat(half) {aunif(0,half)}",
}
"""LTspice's functions of chance that ngspice calls otherwise (LTspice help, `.param`)."""
_CALL = late_pattern(r"\b(?P<name>buf|inv|table|idt)\s*\(", re.IGNORECASE)
_MODIFIERS = frozenset({"startup", "steady", "nodiscard", "step"})
_MEAS_KINDS = frozenset({"tran", "ac", "dc", "op", "noise", "sp", "tf"})


@dataclass(slots=True)
class Translation:
    """A rewritten file and what is to be said about it."""

    netlist: Netlist
    notes: list[tuple[int, Message]] = field(default_factory=list)
    """(line, text): what is not the same any more, or could not be rewritten."""
    may_lack_parts: bool = False
    """It names a library that comes with its program: parts of it may be missing here."""


Find = Callable[[str], str | None]
"""What finds a library by the path a file names it with (slashes, no quotes): the path here, or None."""


@dataclass(slots=True)
class Instances:
    """What X lines set on their subcircuits, over all files of a circuit, main file first."""

    parameters: dict[str, dict[str, str]] = field(default_factory=dict)
    """Subcircuit (lower case) -> parameter (lower case) -> a value that serves as a default."""

    def add(self, netlist: Netlist) -> None:
        """Note the X lines of a file."""
        for element in netlist.elements:
            if element.letter == "x" and element.model is not None and element.params:
                known = self.parameters.setdefault(element.model.key, {})
                for name, value in element.params.items():
                    number = read_number(value.text)
                    known.setdefault(name, value.text if number is not None else "1")


def translate(
    netlist: Netlist, dialect: Dialect, *, find: Find | None = None, instances: Instances | None = None
) -> Translation:
    """`netlist` in ngspice's words; the very same object when there is nothing to rewrite.

    `find` looks up the libraries it names; `instances` are the X lines seen so far, to which its own are
    added.
    """
    if dialect == "ngspice" or netlist.encoding == "utf-16":
        return Translation(netlist)
    instances = Instances() if instances is None else instances
    instances.add(netlist)
    work = _Work(netlist, dialect, find, instances)
    for statement in netlist.statements:
        work.rewrite(statement)
    work.define_constants()
    edits = work.edits()
    return Translation(netlist.edited(edits) if edits else netlist, work.notes, work.may_lack_parts)


class _Work:
    """One file being rewritten."""

    def __init__(self, netlist: Netlist, dialect: Dialect, find: Find | None, instances: Instances) -> None:
        self._netlist = netlist
        self._find = find
        self._instances = instances
        self.may_lack_parts = False
        self._dialect = dialect
        self._edits: list[tuple[int, int, str]] = []
        self._added: dict[int | None, list[str]] = {}
        """Lines by the line of the `.ends` they stand in front of; None for the end of the file."""
        self.notes: list[tuple[int, Message]] = []
        self._noise_sources = {
            word.key
            for card in netlist.directives("noise")
            for word in card.words[2:6]
            if dialect == "ltspice" and word.key[:1] in ("v", "i")
        }
        self._ends = {sub.end_line for sub in netlist.subcircuits}
        self._is_over = False
        self._models_of_x = {
            element.line: element.model.text
            for element in netlist.elements
            if element.letter == "x" and element.model is not None
        }
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
        elif keyword == "lib" or (keyword == "include" and self._dialect == "ltspice"):
            self._library(statement)
        elif keyword == "subckt":
            self._subcircuit(statement)
        elif keyword == "ends" and statement.line not in self._ends and self._dialect == "ltspice":
            self._comment_out(statement)  # LTspice does not mind one that closes nothing
        elif keyword == "ends" and len(statement.words) > 1:
            name = statement.words[1]
            self._replace(statement, f"{statement.raw[: name.start]}{_written(statement, name)}")
        elif keyword == "end" and statement.scope and len(statement.words) > 1:
            self._replace(statement, ".ends")  # libraries that close a subcircuit with `.end name`
        elif keyword == "tran" and self._dialect in ("ltspice", "pspice"):
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
        if self._dialect == "hspice" or self._netlist.directives("endl"):
            return
        match = _FILE.match(statement.raw)
        written = match and (match["double"] or match["single"] or match["bare"])
        if not written or _names_a_section(written, statement):
            return
        path = self._decoded(written).strip().replace("\\", "/")
        found = self._find(path) if self._find is not None else None
        is_own = _OWN_LIBRARY.search(path) is not None
        # A library found by that name need not hold every part of the program's. What is then still
        # missing is told as such where no stand-in is known.
        self.may_lack_parts = self.may_lack_parts or is_own
        if found is None and is_own:
            self._comment_out(statement)
        else:
            self._replace(statement, f'.include "{found or path}"', decoded=True)

    def _subcircuit(self, statement: Statement) -> None:
        """What X lines set becomes a parameter of the subcircuit, as LTspice and PSpice have it."""
        head = statement.head(2)
        if len(head) < 2:
            return
        name = head[1]
        raw = f"{statement.raw[: name.start]}{_written(statement, name)}{statement.raw[name.end :]}"
        wanted = self._instances.parameters.get(name.key, {})
        if wanted and self._dialect in ("ltspice", "pspice"):
            formal = self._parameters_inside(statement)
            formal |= {key.lower() for key in re.findall(r"([\w.]+)\s*=", statement.raw)}
            raw += "".join(
                f" {key}={value}"
                for key, value in wanted.items()
                if key not in formal and key != "m" and key.isascii()
            )
        self._replace(statement, raw)

    def _parameters_inside(self, statement: Statement) -> set[str]:
        """What `.param` cards define between a `.subckt` card and its `.ends`."""
        end = self._end_lines.get(statement.line)
        cards = self._inner_parameters
        begin = bisect_right(cards, statement.line, key=attrgetter("line"))
        return {card.name for card in cards[begin : bisect_left(cards, end or 0, key=attrgetter("line"))]}

    @cached_property
    def _inner_parameters(self) -> list[Parameter]:
        inner = [parameter for parameter in self._netlist.parameters if parameter.scope]
        return sorted(inner, key=attrgetter("line"))

    @cached_property
    def _end_lines(self) -> dict[int, int | None]:
        """Where a subcircuit ends, by the line it begins at."""
        return {subcircuit.line: subcircuit.end_line for subcircuit in self._netlist.subcircuits}

    def define_constants(self) -> None:
        """`pi` and the functions of chance, where LTspice knows them by itself."""
        if self._dialect != "ltspice":
            return
        cards = [s for s in self._netlist.statements if s.kind in ("element", "directive")]
        text = "\n".join(card.raw for card in cards if card.keyword not in ("include", "lib"))
        outside = {parameter.name for parameter in self._netlist.parameters if not parameter.scope}
        if re.search(r"(?<![\w.])pi(?![\w.(])", text, re.IGNORECASE) and "pi" not in outside:
            self._added.setdefault(None, []).append(".param pi=3.14159265358979")
        for name, definition in _RANDOM.items():
            is_called = re.search(rf"(?<![\w.]){name}\s*\(", text, re.IGNORECASE)
            if is_called and not re.search(rf"^\s*\.func\s+{name}\b", text, re.IGNORECASE | re.MULTILINE):
                self._added.setdefault(None, []).append(definition)

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
        if letter == "x":
            raw = self._instance(raw, statement)
        if letter == "a" and self._dialect == "ltspice" and len(statement.words) >= 10:
            self._note(
                statement,
                msg("{name} is a special function of {program} that ngspice does not have.",
                    name=statement.words[0].text, program=PROGRAMS[self._dialect]),
            )  # fmt: skip
            return
        if letter in "vi" and statement.words[0].key in self._noise_sources and not _HAS_AC.search(raw):
            raw += " AC 1"  # LTspice's noise analysis needs no amplitude at its source
        if letter in "vicl":
            raw = self._parasitics(raw, statement)
        if letter in "rcl" and self._dialect == "ltspice":
            raw = _RATING.sub("", raw)
            raw = _RATED_VOLTAGE.sub("", raw) if letter == "c" else raw
            raw = _RKM.sub(_without_rkm, raw)
        if letter == "k":
            raw = self._coupling(raw, statement)
        if letter in "eg":
            raw = self._laplace(raw, statement)
            raw = _VALUE_BRACE.sub(r"\g<word>=\g<brace>", raw)
        self._replace(statement, self._functions(raw, statement))

    def _instance(self, raw: str, statement: Statement) -> str:
        """ngspice takes no dot in the name of a subcircuit: LTspice's op-amp is called level.2."""
        name = self._models_of_x.get(statement.line, "")
        if "." not in name:
            return raw
        return re.sub(rf"(?<=\s){re.escape(name)}(?=\s|$)", _plain_name(name), raw, count=1)

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

    def _coupling(self, raw: str, statement: Statement) -> str:
        """``K1 L1 L2 L3 0.9`` couples every pair; ngspice's K line has one."""
        name, *coils = raw.split()
        how_far = [index for index, word in enumerate(coils) if word[:1] not in "lL"]
        if not how_far or how_far[0] < 3:
            return raw
        coils, factor = coils[: how_far[0]], " ".join(coils[how_far[0] :])
        first, *others = combinations(coils, 2)
        for number, (one, other) in enumerate(others, start=2):
            self._add(statement, f"{name}_{number} {one} {other} {factor}")
        return f"{name} {' '.join(first)} {factor}"

    def _laplace(self, raw: str, statement: Statement) -> str:
        """E and G with a transfer function, as integrators and a source they control."""
        match = _LAPLACE.match(raw)
        if match is None:
            return raw
        name = raw.split(maxsplit=1)[0]
        own = f"laplace_{self._names + 1}_{name}"
        seen, out = f"{own}_in", f"{own}_out"
        try:
            above, below = transfer_of(match["lt"] or match["ps"] or "")
            elements = realised(own, seen, out, above, below)
        except NotRational:
            self._note(
                statement,
                msg("The transfer function of {name} is no quotient of polynomials in s with plain numbers, "
                    "which ngspice needs.", name=statement.words[0].text),
            )  # fmt: skip
            return raw
        self._names += 1
        look = match["input"] or f"V({match['cp']},{match['cn']})"
        self._add(statement, f"b_{own}_in {seen} 0 V={look.strip()}")
        for element in elements:
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


def _names_a_section(written: str, statement: Statement) -> bool:
    """``.lib file section``: the last word is no part of a path, and what is before it names a file."""
    first, _, last = written.rpartition(" ")
    if not first or statement.keyword != "lib":
        return False
    return _SUFFIX.search(last) is None and _SUFFIX.search(first.strip()) is not None


def _plain_name(name: str) -> str:
    return name.replace(".", "_")


def _written(statement: Statement, name: Field) -> str:
    """A subcircuit's name, in the undecoded letters of its card."""
    return _plain_name(statement.raw[name.start : name.end])


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
