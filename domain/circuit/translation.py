"""What other SPICEs write and ngspice 39 cannot read, rewritten in a copy of the deck.

Each rewrite gives the same circuit in ngspice's words; what has no such words is told as a note and left for
ngspice to refuse. Lines stay where they are, so that places in messages are those of the user's file: what
has to be added goes to the end of the file, or in front of the `.ends` of its subcircuit (behind which
lines then shift). What the compatibility modes of ngspice do by themselves is not done here.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from operator import attrgetter

from domain.circuit import foreign_cards as foreign
from domain.circuit.cards import Parameter
from domain.circuit.dialects import PROGRAMS
from domain.circuit.foreign_braces import flat_braces, with_braces, with_signs_inside
from domain.circuit.foreign_functions import CALL, OF_PSPICE, SPREAD, arguments_of, of_table, rewritten
from domain.circuit.foreign_names import with_names_apart
from domain.circuit.foreign_pwl import file_of_points, repeated_points, with_edges, with_points
from domain.circuit.laplace import NotRational, realised, transfer_of
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import read_number
from domain.circuit.parameters import ExpressionError, definitions_of, parse_expression
from domain.circuit.simulator_settings import Dialect
from domain.circuit.special_devices import (
    NotBuilt,
    smooth_switch,
    special_function,
    straight_diode,
)
from domain.circuit.statements import Statement
from shared.message import Message, msg


@dataclass(slots=True)
class Translation:
    """A rewritten file and what is to be said about it."""

    netlist: Netlist
    notes: list[tuple[int, Message]] = field(default_factory=list)
    """(line, text): what is not the same any more, or could not be rewritten."""
    may_lack_parts: bool = False
    """It names a library that comes with its program: parts of it may be missing here."""


_STEPS = 1_000
_STEPS_OF_PERIOD = 50
_MOST_STEPS = 20_000
"""Of a transient analysis that names no step: usually, in a period of its quickest sine, and at most."""
_MANY_POINTS = 20_000
"""Of a source; 10,000 take seconds, ten times as many some minutes."""
_SENSED = frozenset("lrcd")
"""Letters of two-pole elements whose current LTspice lets others sense."""
Find = Callable[[str], str | None]
"""What finds a library by the path a file names it with (slashes, no quotes): the path here, or None."""


@dataclass(slots=True)
class Instances:
    """What X lines set on their subcircuits, over all files of a circuit, main file first."""

    parameters: dict[str, dict[str, str]] = field(default_factory=dict)
    """Subcircuit (lower case) -> parameter (lower case) -> a value that serves as a default."""
    kinds: list[str] = field(default_factory=list)
    """Of the circuit's analyses."""
    names_apart: set[str] = field(default_factory=set)
    """Parameters that are called otherwise here (lower case): `with_names_apart`."""

    def add(self, netlist: Netlist) -> None:
        for element in netlist.elements:
            if element.letter == "x" and element.model is not None and element.params:
                known = self.parameters.setdefault(element.model.key, {})
                for name, value in element.params.items():
                    number = read_number(value.text)
                    known.setdefault(name, value.text if number is not None else "1")


def translate(
    netlist: Netlist,
    dialect: Dialect,
    *,
    find: Find | None = None,
    read: Find | None = None,
    instances: Instances | None = None,
) -> Translation:
    """`netlist` in ngspice's words; the very same object when there is nothing to rewrite.

    `find` looks up the libraries it names, `read` gives the text of a file of points; `instances` are the
    X lines seen so far, to which its own are added.
    """
    if dialect == "ngspice" or netlist.encoding == "utf-16":
        return Translation(netlist)
    instances = Instances() if instances is None else instances
    if dialect != "hspice":
        netlist = with_names_apart(netlist, instances.names_apart)
    instances.add(netlist)
    work = _Work(netlist, dialect, find, read, instances)
    for statement in netlist.statements:
        work.rewrite(statement)
    work.define_constants()
    edits = work.edits()
    return Translation(netlist.edited(edits) if edits else netlist, work.notes, work.may_lack_parts)


class _Work:
    """One file being rewritten."""

    def __init__(
        self, netlist: Netlist, dialect: Dialect, find: Find | None, read: Find | None, instances: Instances
    ) -> None:
        self._netlist = netlist
        self._find, self._read = find, read
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
        self._libraries: set[str] = set()
        """Those that were named at the top level, as they are found."""
        self._models_of_x = {
            element.line: element.model.text
            for element in netlist.elements
            if element.letter == "x" and element.model is not None
        }
        self._kinds = [analysis.kind for analysis in netlist.analyses] or instances.kinds or ["tran"]
        instances.kinds = instances.kinds or self._kinds
        self._names = 0
        self._told: set[str] = set()
        self._couplings: set[tuple[object, str]] = set()
        """Kinds that were told of once."""

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
        if statement.kind == "unknown" and self._dialect != "hspice" and statement.raw.startswith("#"):
            self._comment_out(statement)  # LTspice passes over such a line, also in a library for PSpice
        if statement.kind not in ("element", "directive"):
            return
        if self._is_over:
            if statement.keyword != "end":
                self._comment_out(statement)
            return
        if statement.keyword == "end" and statement.kind == "directive" and self._ends_at_end(statement):
            self._is_over = True
        if self._dialect == "hspice" and statement.keyword == "alter":
            self._is_over = True
            self._note(statement, msg("Only the circuit before .alter is simulated."))
            self._comment_out(statement)
            return
        if statement.kind == "directive" and self._dialect == "ltspice" and not statement.raw.strip(". \t"):
            self._comment_out(statement)  # a line of dots, in a library: LTspice reads the parts it needs
        elif statement.kind == "directive":
            self._directive(statement)
        else:
            self._element(statement)

    def _ends_at_end(self, statement: Statement) -> bool:
        """LTspice reads no further than a circuit's own `.end`, which a text on the sheet may hold."""
        is_plain = not statement.scope and len(statement.words) == 1
        return self._dialect == "ltspice" and self._netlist.has_title and is_plain

    # ---- directives ------------------------------------------------------------------------------

    def _directive(self, statement: Statement) -> None:
        keyword = statement.keyword
        if keyword in foreign.NOT_CIRCUIT[self._dialect]:
            if keyword in foreign.TELLING:
                self._note(
                    statement, msg("{card} was skipped: ngspice has no equivalent.", card=f".{keyword}")
                )
            self._comment_out(statement)
        elif keyword == "lib" or (keyword == "include" and self._dialect == "ltspice"):
            self._library(statement)
        elif keyword == "subckt":
            self._subcircuit(statement)
        elif keyword == "ends" and statement.line not in self._ends and self._dialect != "hspice":
            self._comment_out(statement)  # LTspice does not mind one that closes nothing
        elif keyword == "ends" and len(statement.words) > 1:
            name = statement.words[1]
            self._replace(statement, f"{statement.raw[: name.start]}{foreign.written(statement, name)}")
        elif keyword == "end" and statement.scope and len(statement.words) > 1:
            self._replace(statement, ".ends")  # libraries that close a subcircuit with `.end name`
        elif keyword == "tran" and self._dialect in ("ltspice", "pspice"):
            self._transient(statement)
        elif keyword == "dc" and self._dialect == "ltspice":
            raw = foreign.with_signed_steps(foreign.micro(statement.raw))
            self._replace(statement, self._functions(raw, statement))
        elif self._dialect == "hspice" and keyword in ("tran", "ac", "dc"):
            raw = foreign.micro(self._analysis_of_hspice(statement))
            self._replace(statement, self._functions(raw, statement))
        else:
            self._setting(keyword, statement)

    def _analysis_of_hspice(self, statement: Statement) -> str:
        """With the start time in its place, and parameters in braces; what `sweep` adds `stepping` reads."""
        raw = statement.raw
        if (match := foreign.STARTED_AT.match(raw)) is not None:
            raw = f"{match['times']} {match['start']}{match['rest']}{match['uic']}"
        card, sweep, rest = re.split(r"(\ssweep\s|$)", raw, maxsplit=1, flags=re.IGNORECASE)
        known = {parameter.name for parameter in self._netlist.parameters if not parameter.scope}
        words = re.split(r"(\s+)", card)  # the words at even places
        sources = (2, 10) if statement.keyword == "dc" else ()
        for place in range(2, len(words), 2):
            if place not in sources and words[place].lower() in known:
                words[place] = f"{{{words[place]}}}"
        return "".join(words) + sweep + rest

    def _setting(self, keyword: str, statement: Statement) -> None:
        """Cards of analyses, options and parameters."""
        raw = statement.raw
        if keyword == "meas":
            self._measure(statement)
        elif self._dialect == "ltspice" and keyword in (
            "options",
            "save",
            "param",
            "ac",
            "noise",
            "temp",
            "ic",
            "four",
        ):
            self._replace(statement, self._functions(self._card_of_ltspice(keyword, statement), statement))
        elif keyword not in ("step", "temp"):  # `stepping` reads these
            if keyword == "model" and self._dialect == "ltspice":
                raw = foreign.LEVEL_8.sub(r"\g<head>49", foreign.MAKER.sub("", raw))
                if foreign.BARE_DIODE.fullmatch(raw):
                    raw += " cjo=1f"
                raw = with_signs_inside(raw)
            if keyword == "model":
                raw = foreign.without_torn_brackets(raw)
            self._replace(statement, self._functions(foreign.micro(raw), statement))

    def _library(self, statement: Statement) -> None:
        """`.lib file` without a section means the whole file, except inside a library of sections."""
        if self._dialect == "hspice" or self._netlist.directives("endl"):
            return
        match = foreign.FILE.match(statement.raw)
        written = match and (match["double"] or match["single"] or match["bare"])
        if not written or foreign.names_a_section(written, statement):
            return
        path = self._decoded(written).strip().replace("\\", "/")
        found = self._find(path) if self._find is not None else None
        if self._dialect == "ltspice" and not statement.scope:
            if (found or path) in self._libraries:  # a symbol and a directive name it: LTspice reads it once
                self._comment_out(statement)
                return
            self._libraries.add(found or path)
        is_own = foreign.OWN_LIBRARY.search(path) is not None
        name = path.rpartition("/")[2]
        if not is_own and found is None and self._find is not None and self._dialect == "ltspice":
            is_own = _is_of_known_part(name)
        # Its lists of standard models stand in every netlist of a sheet: what of them is used is told.
        if found is None and is_own and self._find is not None and not name.lower().startswith("standard."):
            self._note(
                statement,
                msg("The file {file} was not found. Generic models take the place of its parts.", file=name),
            )
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
        raw = f"{statement.raw[: name.start]}{foreign.written(statement, name)}{statement.raw[name.end :]}"
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
        """`pi` and the functions of chance, where LTspice knows them by itself, and nets that are the same
        everywhere by their names."""
        if self._dialect not in ("ltspice", "pspice"):
            return
        cards = [s for s in self._netlist.statements if s.kind in ("element", "directive")]
        text = "\n".join(card.raw for card in cards if card.keyword not in ("include", "lib"))
        if shared := sorted({name.lower() for name in foreign.GLOBAL_NET.findall(text)}):
            self._added.setdefault(None, []).append(f".global {' '.join(shared)}")
        if self._dialect == "pspice":
            return
        outside = {parameter.name for parameter in self._netlist.parameters if not parameter.scope}
        if re.search(r"(?<![\w.])pi(?![\w.(])", text, re.IGNORECASE) and "pi" not in outside:
            self._added.setdefault(None, []).append(".param pi=3.14159265358979")
        for name, definition in foreign.RANDOM.items():
            is_called = re.search(rf"(?<![\w.]){name}\s*\(", text, re.IGNORECASE)
            if is_called and not re.search(rf"^[ \t]*\.func\s+{name}\b", text, re.IGNORECASE | re.MULTILINE):
                self._added.setdefault(None, []).append(definition)

    def _transient(self, statement: Statement) -> None:
        """`.tran stop`, `.tran 0 stop ...` and the words behind them."""
        raw = foreign.micro(statement.raw)
        words = re.findall(r"\{[^}]*\}|[^\s,]+", raw)
        kept = [word for word in words[1:] if word.lower() not in foreign.MODIFIERS]
        for word in words[1:]:
            if word.lower() == "startup" and self._starts_dead:
                self._note(
                    statement,
                    msg("startup of .tran: the sources of this file rise from 0 within the first 20 µs."),
                )
            elif word.lower() in foreign.MODIFIERS and word.lower() != "nodiscard":
                self._note(
                    statement, msg("{word} of .tran was skipped: ngspice has no equivalent.", word=word)
                )
        tail = [word for word in kept if word.lower() == "uic"]
        times = [word for word in kept if word.lower() != "uic"]
        if len(times) == 1:
            times = ["0", *times]
        if len(times) > 1 and foreign.is_zero(times[0]):
            has_step = len(times) > 3 and not foreign.is_zero(times[3])
            times[0] = times[3] if has_step else self._own_step(times[1])
        self._replace(statement, " ".join([words[0], *times, *tail]))

    def _own_step(self, stop: str) -> str:
        """The step of a `.tran` that names none: a thousandth of `stop`, or less where sines are quicker.

        LTspice follows a sine by its error: some 17 points a period, whatever the stop time.
        """
        until, fastest = self._number(stop), self._highest_frequency
        if until is None or fastest * until <= _STEPS / _STEPS_OF_PERIOD:
            return foreign.thousandth(stop)
        return f"{max(1 / (_STEPS_OF_PERIOD * fastest), until / _MOST_STEPS):.6g}"

    @cached_property
    def _stop_time(self) -> float | None:
        """Of the transient analysis (s); None without one, or where it may vary."""
        for card in self._netlist.directives("tran"):
            times = [word.text for word in card.words[1:] if word.key not in (*foreign.MODIFIERS, "uic")]
            return self._number(foreign.micro(times[min(1, len(times) - 1)])) if times else None
        return None

    @cached_property
    def _highest_frequency(self) -> float:
        """Of the sources of a sine wave (Hz); 0 without one."""
        found = [0.0]
        for element in self._netlist.elements:
            words = element.statement.words if element.letter in "vi" else ()
            waves = (place for place, word in enumerate(words) if place > 2 and word.key in ("sin", "sine"))
            at = next(waves, len(words))
            if at + 3 < len(words) and self._number(words[at + 2].text) != 0:
                found.append(self._number(words[at + 3].text) or 0.0)
        return max(found)

    def _number(self, text: str) -> float | None:
        """What a number or an expression of the file's constants is; None where it may vary."""
        try:
            return parse_expression(text).evaluate(self._constants)
        except ExpressionError:
            return None

    def _card_of_ltspice(self, keyword: str, statement: Statement) -> str:
        """What LTspice takes on some cards that ngspice does not."""
        raw = foreign.micro(statement.raw)
        if keyword in ("temp", "four"):
            is_temp = keyword == "temp"
            return raw.replace("=", " ") if is_temp else foreign.COUNTS_OF_FOUR.sub(r"\g<head>", raw)
        if keyword == "options":  # an unknown one would end the run
            return foreign.OPTION.sub("", raw)
        if keyword == "ic":
            voltages = foreign.CURRENT_AT_START.sub("", raw)
            if voltages != raw:
                told = msg(
                    "Initial currents on the .ic card are left out: ngspice takes initial voltages only."
                )
                self._note(statement, told)
            is_left = len(voltages.split()) > 1
            return foreign.BARE_START.sub(r"\g<node>=", voltages) if is_left else f"* {raw}"
        if keyword == "save":  # one that names nothing would leave no data
            return re.sub(r"(?i)^(\s*\.save)\b(?!\s+all\b)", r"\1 all", raw)
        if keyword == "param":
            if match := foreign.BARE_PARAMETER.match(raw):
                raw = f"{match['head']}{match['name']}={match['value']}"
            raw = with_braces(raw)
            return foreign.RKM_OF_PARAMETER.sub(lambda match: f"={foreign.without_rkm(match)}", raw)
        match = re.match(r"(?i)^\s*\.(ac|noise\s+v\([^()]*\)\s+\S+)\s+list\s+(\S+)\s*$", raw)
        return raw if match is None else f".{match[1]} lin 1 {match[2]} {match[2]}"

    def _measure(self, statement: Statement) -> None:
        """LTspice lets the analysis out, and means that of the deck; it takes `AT 1m` for `AT=1m`."""
        words, raw = statement.words, statement.raw
        if len(words) > 2 and words[1].key not in foreign.MEAS_KINDS:
            kind = next((kind for kind in self._kinds if kind in foreign.MEAS_KINDS), "tran")
            raw = f"{raw[: words[1].start]}{kind} {raw[words[1].start :]}"
        if self._dialect == "ltspice":
            raw = foreign.BARE_AT.sub(r"\g<key>=", raw)
        self._replace(statement, raw)

    # ---- elements --------------------------------------------------------------------------------

    def _load(self, raw: str, statement: Statement) -> str:
        """A current source that LTspice takes for a load: by a table of its voltage, or none below 0 V."""
        if load := foreign.CURRENT_TABLE.match(raw):
            points = ",".join(re.split(r"[\s,]+", load["points"].strip()))
            across = f"v({load['a']},{load['b']})"
            return f"b_{load['name']} {load['a']} {load['b']} i=pwl({across},{points})"
        if not foreign.LOAD.search(raw):
            return raw
        self._note(
            statement,
            msg("The load option of {name} is ignored: its current flows at any voltage here.",
                name=statement.words[0].text),
        )  # fmt: skip
        return foreign.LOAD.sub("", raw)

    def _element(self, statement: Statement) -> None:
        raw = foreign.micro(statement.raw)
        letter = statement.keyword
        is_plain = letter in "vifhdqmj" or (letter in "rcleg" and not re.search(r"[(='\"]", raw))
        raw = with_signs_inside(raw) if self._dialect == "ltspice" and is_plain else raw
        if letter == "x":
            raw = self._instance(raw, statement)
        if self._dialect == "ltspice" and letter in "asd" and self._rebuilt(raw, letter, statement):
            return
        is_noise = letter in "vi" and statement.words[0].key in self._noise_sources
        if is_noise and not foreign.HAS_AC.search(raw):
            raw += " AC 1"  # LTspice's noise analysis needs no amplitude at its source
        if letter in "vicl":
            raw = self._parasitics(raw, statement, **self._losses_unsaid(letter, statement))
        if letter in "rcldqmj" and self._dialect == "ltspice":
            raw = foreign.RATING.sub("", raw)
        if letter == "d" and self._dialect in ("ltspice", "pspice"):
            raw = foreign.BARE_AREA.sub(r"\g<head> area=", raw)
        if letter in "rcl" and self._dialect == "ltspice":
            raw = foreign.by_charge(foreign.RATED_VOLTAGE.sub("", raw)) if letter == "c" else raw
            raw = foreign.RKM.sub(foreign.without_rkm, self._without_lone_unit(raw, statement))
            raw = foreign.OF_CIRCUIT.sub(r"\g<key>{\g<expression>}", raw)
            self._start_charged(raw, statement)
        if self._dialect == "ltspice":
            raw = foreign.NOISELESS.sub(" noisy=0" if letter == "r" else "", raw)
            raw = foreign.TRIP.sub("", raw) if letter in "bvi" else raw
            raw = self._parasitics(raw, statement) if letter in "bg" else raw
            raw = with_edges(self._repeated(raw, statement), self._stop_time) if letter in "vi" else raw
            raw = self._switched_on(raw, statement) if letter in "vi" and self._starts_dead else raw
            raw = flat_braces(foreign.START_OF_SOURCE.sub("", raw) if letter == "b" else raw)
            raw = self._sensing(raw, letter, statement)
        if letter == "i" and self._dialect == "ltspice":
            raw = self._load(raw, statement)
        if letter == "k":
            raw = self._coupling(raw, statement)
        if letter in "eg" or (letter == "b" and self._dialect == "ltspice"):
            raw = self._laplace(raw, statement)
        if letter in "eg":
            raw = foreign.as_table(raw)
            raw = foreign.VALUE_BRACE.sub(r"\g<word>=\g<brace>", raw)
        self._replace(statement, self._functions(raw, statement))

    def _start_charged(self, raw: str, statement: Statement) -> None:
        """LTspice holds a capacitor at its IC while it looks for the operating point of a transient, also
        without `uic` (measured on its results)."""
        match = foreign.CHARGED.match(raw)
        if match is None or set(self._kinds) != {"tran"}:
            return
        start = match["start"].strip("{}'")
        name, a, b = match["name"], match["a"], match["b"]
        if (statement.scope, frozenset((a.lower(), b.lower()))) in self._between_sources:
            return  # the source says what is there
        self._add(statement, f"b_start_{name} {a} {b} i=(time>0?0:1k*(v({a},{b})-({start})))")

    @cached_property
    def _between_sources(self) -> set[tuple[tuple[str, ...], frozenset[str]]]:
        """Scope and both nodes of every voltage source."""
        return {
            (element.statement.scope, frozenset(node.key for node in element.nodes))
            for element in self._netlist.elements
            if element.letter == "v"
        }

    def _without_lone_unit(self, raw: str, statement: Statement) -> str:
        match = foreign.LONE_UNIT.match(raw)
        if match is None:
            return raw
        name, value = statement.words[0].text, match["kept"].split()[-1]
        self._note(
            statement,
            msg("{name}: the value is {value}. LTspice ignores the “{word}” behind the blank.",
                name=name, value=value, word=self._decoded(match["word"])),
        )  # fmt: skip
        return match["kept"]

    def _repeated(self, raw: str, statement: Statement) -> str:
        """Points of a file and repeated ones as those of a PWL source."""
        file = file_of_points(raw)
        text = None if file is None or self._read is None else self._read(file)
        written = (text and with_points(raw, text, self._stop_time)) or raw
        if (count := len(written.split()) // 2) > _MANY_POINTS:
            self._note(
                statement,
                msg("{name} has {count} points: ngspice goes through those before the present one at every "
                    "step, so the run takes long. Simulate a shorter time, or use fewer points.",
                    name=statement.words[0].text, count=count),
            )  # fmt: skip
        return foreign.relative_times(repeated_points(written))

    def _instance(self, raw: str, statement: Statement) -> str:
        """ngspice takes no dot and no slash in the name of a subcircuit (level.2, LF411/NS)."""
        if self._dialect == "ltspice":
            raw = foreign.COMMA_OF_PARAMETERS.sub(" ", raw)
        name = self._models_of_x.get(statement.line, "")
        if "." not in name and "/" not in name:
            return raw
        return re.sub(rf"(?<=\s){re.escape(name)}(?=\s|$)", foreign.plain_name(name), raw, count=1)

    def _losses_unsaid(self, letter: str, statement: Statement) -> dict[str, str]:
        """LTspice's inductors have 1 mOhm in series where nothing else is said, but for coupled ones.

        Those of libraries go without: it means nothing to a maker's model, and a node more can stop it.
        """
        is_lossy = letter == "l" and self._dialect == "ltspice" and self._netlist.has_title
        is_coupled = (statement.scope, statement.words[0].key) in self._coupled
        return {"rser": "1m"} if is_lossy and not is_coupled else {}

    @cached_property
    def _coupled(self) -> set[tuple[tuple[str, ...], str]]:
        """Scope and name of every inductor that a K line names."""
        return {
            (element.statement.scope, word.key)
            for element in self._netlist.elements
            if element.letter == "k"
            for word in element.statement.words[1:]
        }

    @cached_property
    def _starts_dead(self) -> bool:
        """Its only analysis begins with the sources off."""
        cards = self._netlist.directives("tran")
        return set(self._kinds) <= {"tran"} and any(
            word.key == "startup" for card in cards for word in card.words[1:]
        )

    def _switched_on(self, raw: str, statement: Statement) -> str:
        """A source of the circuit itself, not of a subcircuit, that rises from 0 in LTspice's 20 us."""
        constant = foreign.CONSTANT_SOURCE.match(raw)
        if statement.scope:
            return raw
        if constant is not None:
            return f"{raw} PWL(0 0 {foreign.STARTUP_S} {constant['value']})"
        name, first, second, *rest = raw.split(None, 3)
        if statement.keyword == "i" or not rest:
            self._note(statement, msg("{name} does not start from 0, as startup of .tran asks.", name=name))
            return raw
        if "startup" not in self._told:
            self._told.add("startup")
            self._add(statement, f"v_startup startup#rise 0 PWL(0 0 {foreign.STARTUP_S} 1)")
        self._add(statement, f"v_startup_{name} {name}#whole 0 {rest[0]}")
        self._add(statement, f"b_startup_{name} {name}#risen {second} V=v({name}#whole)*v(startup#rise)")
        return f"{name} {first} {name}#risen 0"

    def _parasitics(self, raw: str, statement: Statement, **unsaid: str) -> str:
        """Rser, Rpar, Cpar ... of one element as elements of their own; `unsaid`: those it has by itself."""
        found = unsaid | {match["key"].lower(): match["value"] for match in foreign.SERIES.finditer(raw)}
        if not found:
            return raw
        raw = foreign.SERIES.sub("", raw)
        words = raw.split()
        if len(words) < 4:
            return raw
        name, first, second = words[:3]
        inner = first
        for key in ("rser", "lser"):
            if key in found and not foreign.is_zero(found[key]):
                outer, inner = inner, f"{name}#{key}"
                self._add(statement, f"{key[0]}_{key}_{name} {outer} {inner} {found[key]}")
        for key in ("rpar", "cpar", "rlshunt"):
            if key in found and not foreign.is_zero(found[key]):
                ends = f"{inner} {second}" if key == "rlshunt" else f"{first} {second}"
                self._add(statement, f"{key[0]}_{key}_{name} {ends} {found[key]}")
        return raw if inner == first else f"{name} {inner} {second} {raw.split(None, 3)[3]}"

    def _sensing(self, raw: str, letter: str, statement: Statement) -> str:
        """LTspice's F, H and W sense any element's current; ngspice's a voltage source's: one of 0 V then
        stands in series with the element.
        """
        words = raw.split()
        if letter in "fhw" and len(words) > 3 and (statement.scope, words[3].lower()) in self._sensed:
            return " ".join([*words[:3], f"v_sensed_{words[3]}", *words[4:]])
        if letter in _SENSED and len(words) > 3 and (statement.scope, words[0].lower()) in self._sensed:
            self._add(statement, f"v_sensed_{words[0]} {words[1]} {words[0]}#sensed 0")
            return " ".join([words[0], f"{words[0]}#sensed", *words[2:]])
        return raw

    @cached_property
    def _sensed(self) -> set[tuple[tuple[str, ...], str]]:
        """Scope and name of elements that are no sources and whose current something senses."""
        sensing = {
            (element.statement.scope, element.statement.words[3].key)
            for element in self._netlist.elements
            if element.letter in "fhw" and len(element.statement.words) > 3
        }
        return {key for key in sensing if key[1][:1] in _SENSED}

    def _coupling(self, raw: str, statement: Statement) -> str:
        """``K1 L1 L2 L3 0.9`` couples every pair; ngspice's K line has one."""
        name, *coils = raw.split()
        key = (statement.scope, name.lower())
        if self._dialect == "ltspice" and key in self._couplings:  # LTspice minds no second one of a name
            self._names += 1
            name = f"{name}_again_{self._names}"
            raw = " ".join([name, *coils])
        self._couplings.add(key)
        how_far = [index for index, word in enumerate(coils) if word[:1] not in "lL"]
        if not how_far or how_far[0] < 3:
            return raw
        coils, factor = coils[: how_far[0]], " ".join(coils[how_far[0] :])
        first, *others = combinations(coils, 2)
        for number, (one, other) in enumerate(others, start=2):
            self._add(statement, f"{name}_{number} {one} {other} {factor}")
        return f"{name} {' '.join(first)} {factor}"

    def _laplace(self, raw: str, statement: Statement) -> str:
        """E, G and LTspice's B with a transfer function, as integrators and a source they control."""
        match = foreign.LAPLACE.match(raw) or foreign.LAPLACE_OF_SOURCE.match(raw)
        if match is None:
            return raw
        known = match.groupdict()
        name = raw.split(maxsplit=1)[0]
        own = f"laplace_{self._names + 1}_{name}"
        seen, out = f"{own}_in", f"{own}_out"
        try:
            above, below = transfer_of(
                match["lt"] or known.get("ps") or "", {} if statement.scope else self._constants
            )
            elements = realised(own, seen, out, above, below)
        except NotRational:
            self._note(
                statement,
                msg("The transfer function of {name} is not a rational function of s with numeric "
                    "coefficients, which ngspice requires.", name=statement.words[0].text),
            )  # fmt: skip
            return raw
        self._names += 1
        look = match["input"] or f"V({match['cp']},{match['cn']})"
        self._add(statement, f"b_{own}_in {seen} 0 V={look.strip()}")
        for element in elements:
            self._add(statement, element)
        if "head" not in known:
            return f"b{match['name']} {match['nodes']} {match['kind']}=v({out})"
        return f"{match['head']} {out} 0 1"

    def _rebuilt(self, raw: str, letter: str, statement: Statement) -> bool:
        """A special function or a switch of LTspice's own as elements ngspice has; False keeps the card."""
        words = raw.split()
        try:
            if letter == "a":
                if len(words) < 10:
                    return False
                elements = special_function(words[0], words[1:9], words[9], " ".join(words[10:]))
            else:
                of_model, place = (smooth_switch, 5) if letter == "s" else (straight_diode, 3)
                card = self._own_models.get((letter, words[place].lower())) if len(words) > place else None
                if card is None:
                    return False
                model = max(
                    (one for one in card if statement.scope[: len(one[0])] == one[0]),
                    key=lambda one: len(one[0]),
                    default=None,
                )
                found = None if model is None else of_model(words[0], words[1:place], model[1])
                if found is None:
                    return False
                elements = found
        except NotBuilt as error:
            self._note(
                statement,
                msg("{name} is a special function of {program} that ngspice does not have ({what}).",
                    name=statement.words[0].text, program=PROGRAMS[self._dialect], what=str(error)),
            )  # fmt: skip
            return False
        if letter == "a" and elements and words[9].lower() not in self._told:
            self._told.add(words[9].lower())
            self._note(
                statement,
                msg("{program}'s {kind} is replaced by elements ngspice has: it has no noise and switches "
                    "only at time points the simulation takes anyway.",
                    kind=words[9].upper(), program=PROGRAMS[self._dialect]),
            )  # fmt: skip
        self._comment_out(statement)
        for element in elements:
            self._add(statement, element)
        return True

    @cached_property
    def _own_models(self) -> dict[tuple[str, str], list[tuple[tuple[str, ...], str]]]:
        """Scope and settings of the file's models of switches and diodes, by an element's letter and name."""
        found: dict[tuple[str, str], list[tuple[tuple[str, ...], str]]] = {}
        for model in self._netlist.models:
            if model.type in ("sw", "d"):
                settings = foreign.micro(model.statement.raw).split(None, 2)[2]
                found.setdefault((model.type[0], model.name.lower()), []).append(
                    (model.statement.scope, re.sub(r"(?i)^\s*(?:sw|d)\b", "", settings))
                )
        return found

    @cached_property
    def _constants(self) -> dict[str, float]:
        """The file's own parameters that have one value in all runs."""
        texts = [
            self._card_of_ltspice(keyword, card) if self._dialect == "ltspice" else card.raw
            for keyword in ("param", "func")
            for card in self._netlist.directives(keyword)
            if not card.scope and not card.branches
        ]
        cards = Netlist.parse("\n".join(texts).encode(), has_title=False).statements
        stepped = {
            word
            for card in self._netlist.directives("step")
            for word in re.findall(r"[a-z_]\w*", card.raw.lower())
        }
        known = definitions_of(cards)
        for name, expression in list(known.expressions.items()):
            if name in stepped or expression.functions & foreign.CHANCE:
                del known.expressions[name]  # and with it what depends on it
        # LTspice knows pi; a parameter of that name goes before it.
        return known.values({"pi": math.pi} if self._dialect == "ltspice" else None)

    def _functions(self, raw: str, statement: Statement) -> str:
        """Functions of expressions that ngspice calls otherwise."""
        if len(raw) > foreign.LONGEST or (statement.kind == "element" and statement.keyword not in "begrcl"):
            return raw
        if foreign.depth_of(raw) > foreign.MOST_DEEP:
            return raw
        at = 0
        for _ in range(foreign.MOST_CALLS):
            match = CALL.search(raw, at)
            if match is None:
                break
            end = foreign.closing(raw, match.end() - 1)
            name, at = match["name"].lower(), match.end()
            if name in self._own_functions or (self._dialect != "ltspice" and name not in OF_PSPICE):
                continue
            arguments = arguments_of(raw[match.end() : end - 1])
            if statement.kind != "element" and name not in ("buf", "inv", "table", "tbl"):
                continue
            new = rewritten(name, arguments)
            if name in ("table", "tbl") and statement.kind != "element":
                new = of_table(arguments)
            elif name in ("table", "tbl"):
                new = f"pwl({raw[match.end() : end]}" if statement.keyword == "b" else of_table(arguments)
            elif name in ("idt", "sdt", "idtmod", "delay", "absdelay"):
                new = self._with_memory(name, arguments, statement)
            if new is None or len(new) > foreign.LONGEST_CALL:
                continue
            if name in SPREAD and name not in self._told:
                self._told.add(name)
                self._note(
                    statement,
                    msg("{name}() returns random numbers with the same distribution as in {program}, but "
                        "not the same numbers.", name=name,
                        program=PROGRAMS[self._dialect]),
                )  # fmt: skip
            raw = raw[: match.start()] + new + raw[end:]
            at = match.start() + (len("pwl(") if name in ("table", "tbl") else 0)
        return raw

    @cached_property
    def _own_functions(self) -> frozenset[str]:
        """What the file defines by itself."""
        return frozenset(card.fields[1].text.lower() for card in self._netlist.directives("func")
                         if len(card.fields) > 1)  # fmt: skip

    def _with_memory(self, name: str, arguments: list[str], statement: Statement) -> str | None:
        """An integral over time or a delay: the voltage of a node of its own."""
        if not arguments or (name in ("delay", "absdelay") and len(arguments) < 2):
            return None
        if len(foreign.MEMORY.findall(arguments[0])) > foreign.MOST_MEMORIES:
            return None
        self._names += 1
        own = f"{name}_{self._names}_{statement.raw.split(maxsplit=1)[0]}"
        inner = self._functions(arguments[0], statement)
        if name in ("delay", "absdelay"):
            self._add(statement, f"b_{own} {own}_in 0 v={inner}")
            self._add(statement, f"t_{own} {own}_in 0 {own} 0 z0=1 td={{{arguments[1].strip('{}')}}}")
            self._add(statement, f"r_{own} {own} 0 1")
            return f"v({own})"
        if len(arguments) > 2 and name != "idtmod":
            self._note(statement, msg("The third argument of {name}() is ignored.", name=name))
        # The operating point is the initial value, whatever is integrated; from then on the resistance, of
        # 1e12 s with the capacitance, is as good as none.
        is_small_signal = "ac" in self._kinds and "tran" not in self._kinds
        current = inner if is_small_signal else f"(time>0?({inner}):0)"
        start = arguments[1].strip("{}") if len(arguments) > 1 else "0"
        self._add(statement, f"b_{own} 0 {own} i={current}")
        self._add(statement, f"c_{own} {own} 0 1")
        if "(" in start and re.search(
            r"(?i)\b[vi]\s*\(", start
        ):  # as the circuit has it at the operating point
            self._add(statement, f"b_{own}_0 {own}_0 0 v={self._functions(start, statement)}")
        else:
            self._add(statement, f"v_{own} {own}_0 0 {{{start}}}")
        self._add(statement, f"r_{own} {own} {own}_0 1e12")
        if (
            name == "idtmod" and len(arguments) > 2
        ):  # started anew at every multiple of the third, above the fourth
            size, low = arguments[2], arguments[3] if len(arguments) > 3 else "0"
            above = f"(v({own})-({low}))"
            return f"(({low})+{above}-({size})*floor({above}/({size})))"
        return f"v({own})"

    # ---- edits -----------------------------------------------------------------------------------

    def _note(self, statement: Statement, text: Message) -> None:
        self.notes.append((statement.line, text))

    def _add(self, statement: Statement, text: str) -> None:
        line = None
        if statement.scope:
            subcircuits = self._subcircuits_of.get(statement.scope, [])
            line = next((end for begin, end in subcircuits if begin < statement.line < end), None)
        elif statement.section is not None:
            line = next(
                (card.line for card in self._netlist.directives("endl") if card.line > statement.line), None
            )
        self._added.setdefault(line, []).append(self._decoded(text))

    @cached_property
    def _subcircuits_of(self) -> dict[tuple[str, ...], list[tuple[int, int]]]:
        """First and last line of subcircuits, by their path."""
        found: dict[tuple[str, ...], list[tuple[int, int]]] = {}
        for sub in self._netlist.subcircuits:
            found.setdefault(sub.path, []).append((sub.line, sub.end_line or 0))
        return found

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


def _is_of_known_part(name: str) -> bool:
    """Whether a file that is not here is called like a part that has a generic model: ``opa2344.lib``."""
    from domain.circuit.stand_ins import is_known_part  # its tables: few circuits need them

    return is_known_part(re.split(r"[^A-Za-z0-9]", name, maxsplit=1)[0])
