"""What can be typed next in a netlist: element lines, models, nodes, parameters, directives, measurements.

Only the card at the caret is read; what the circuit has comes as `Facts`, which may be a moment older.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from domain.circuit.circuit_names import CircuitNames, Scope, Table
from domain.circuit.directive_forms import (
    DIRECTIVES,
    ELEMENTS,
    EXPRESSION_FUNCTIONS,
    MEASUREMENTS,
    MODEL_TYPES,
    MODELS_OF,
    OPTIONS,
    WAVEFORMS,
    Form,
)
from domain.circuit.elements import SHAPES
from domain.circuit.model_library import LibraryModel, includes_file
from domain.circuit.statements import comment_start
from shared.late_patterns import late_pattern
from shared.message import Message, msg

CandidateKind = Literal[
    "element", "node", "model", "subcircuit", "parameter", "function", "directive", "keyword", "file"
]
MOST = 60
"""Candidates of one list: more are found by typing on."""


class Candidate(NamedTuple):
    """Something that can stand at the caret."""

    text: str
    """What the list shows."""
    insert: str
    """What is put in the place of what was typed; words in ``<>`` are to be written over."""
    kind: CandidateKind
    detail: Message | str = ""
    include: str = ""
    """A card the circuit needs for it and has not: ``.include 2N3904.lib``."""
    is_template: bool = False
    """`insert` has words in ``<>``."""

    @property
    def filled(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        """What is put into the text, and where in it the words are that are to be written over."""
        if not self.is_template:
            return self.insert, ()
        text, holes = "", []
        for piece in re.split(r"(<[^<>]*>)", self.insert):
            is_hole = piece.startswith("<") and piece.endswith(">")
            word = piece[1:-1] if is_hole else piece
            if is_hole:
                holes.append((len(text), len(text) + len(word)))
            text += word
        return text, tuple(holes)


def _template(text: str, insert: str, kind: CandidateKind, detail: Message | str = "") -> Candidate:
    return Candidate(text, insert, kind, detail, is_template=True)


class Completion(NamedTuple):
    """The candidates, best first, and where what was typed of them begins."""

    start: int
    """Index in the text."""
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of the circuit."""

    names: CircuitNames | None = None
    file: Path | None = None
    library: Sequence[LibraryModel] = field(default_factory=tuple)
    has_title: bool = True


class _Spot(NamedTuple):
    """The card up to the caret."""

    before: str
    """Without what is being typed."""
    typed: str
    start: int
    words: tuple[str, ...]
    """Finished words, lower case: ``( ) , =`` are blanks."""
    scope: Scope
    facts: Facts
    text: str


_TYPED = late_pattern(r"[^\s(){},='\"\[\]*/+\-<>!?&|^~@]*$")
_LONE_SIGN = late_pattern(r"[=(),]")
_OPEN_SIGNAL = late_pattern(r"(?<![\w.])([vi])(?:m|db|p|r|i)?\s*\(\s*(?:[^()\s,]+\s*,\s*)?$", re.IGNORECASE)


def complete(text: str, position: int, facts: Facts, *, first_line: int = 1) -> Completion:
    """What can stand at a character of a netlist; nothing in comments, titles and numbers.

    `text` may be a piece that begins with a whole card, whose first line is `first_line` of the file.
    """
    spot = _spot(text, position, facts, first_line)
    if spot is None:
        return Completion(position, ())
    found = {candidate.text.lower(): candidate for candidate in reversed(list(_candidates(spot)))}
    chosen = _chosen(list(found.values())[::-1], spot.typed)
    return Completion(spot.start, tuple(chosen[:MOST]))


def _chosen(candidates: Sequence[Candidate], typed: str) -> list[Candidate]:
    """Those that begin with what was typed, then those that have it; nothing where it is already there."""
    key = typed.lower()
    beginning = [each for each in candidates if each.text.lower().startswith(key)]
    is_word = len(key) > 1 and key[0].isalpha()
    rest = [each for each in candidates if is_word and key in each.text.lower()[1:]]
    found = [*beginning, *(each for each in rest if each not in beginning)]
    is_there = len(found) == 1 and found[0].insert.lower() == key
    return [] if is_there else found


def _spot(text: str, position: int, facts: Facts, first_line: int) -> _Spot | None:
    line_start = text.rfind("\n", 0, position) + 1
    line = text[line_start:position]
    number = first_line + text.count("\n", 0, position)
    if (number == 1 and facts.has_title) or line.lstrip()[:1] in ("*", ";", "$"):
        return None
    if _is_in_control(text, position):
        return None
    card = _card_before(text, line_start, line)
    if comment_start(card) < len(card):
        return None
    typed = _TYPED.search(card)
    assert typed is not None
    before = card[: typed.start()]
    scope = facts.names.scope_at(facts.file, number) if facts.names is not None else ()
    words = tuple(_LONE_SIGN.sub(" ", before).lower().split())
    return _Spot(before, typed[0], position - len(typed[0]), words, scope, facts, text)


def _card_before(text: str, start: int, line: str) -> str:
    """The card of a line, of which `line` is the beginning, joined with the lines it began on."""
    pieces = [line]
    while pieces[-1].lstrip().startswith("+") and start > 0:
        pieces[-1] = pieces[-1].lstrip()[1:]
        while start > 0:
            start, end = text.rfind("\n", 0, start - 1) + 1, start - 1
            above = text[start:end]
            if above.strip()[:1] not in ("", "*", ";", "$"):
                pieces.append(above[: comment_start(above)].rstrip())
                break
    return " ".join(reversed(pieces)).lstrip()


def _is_in_control(text: str, position: int) -> bool:
    before = text[:position].lower()
    return before.rfind(".control") > before.rfind(".endc")


def _candidates(spot: _Spot) -> Iterator[Candidate]:
    signal = _OPEN_SIGNAL.search(spot.before)
    if signal is not None and spot.words[0][:1] != "*":
        yield from _nodes(spot) if signal[1] in "vV" else _elements(spot, "vlx")
    elif spot.before.endswith("@"):
        yield from _elements(spot, "")
    elif _is_within_expression(spot.before):
        yield from _in_expression(spot)
    elif not spot.words:
        yield from _beginnings(spot)
    elif spot.words[0].startswith("."):
        yield from _in_directive(spot, spot.words[0].lstrip("."))
    elif spot.words[0][0].isalpha():
        yield from _in_element(spot, spot.words[0][0])


def _is_within_expression(before: str) -> bool:
    if before.count("{") > before.count("}") or before.count("'") % 2:
        return True
    is_behavioral = before[:1] in "bB" and re.search(r"(?<![\w.])[vi]\s*=", before, re.IGNORECASE) is not None
    return is_behavioral or re.match(r"\.(?:else)?if\b", before, re.IGNORECASE) is not None


# ---- the beginning of a card ---------------------------------------------------------------------


def _beginnings(spot: _Spot) -> Iterator[Candidate]:
    typed = spot.typed.lower()
    if typed.startswith("."):
        for form in DIRECTIVES.values():
            name = form.template.split()[0].partition("=")[0]
            yield _template(name, form.template, "directive", form.meaning)
        return
    for letter, form in ELEMENTS.items():
        if typed in ("", letter):
            name = f"{letter.upper()}{_free_number(spot, letter)}"
            yield _template(name, f"{name} {form.template}", "element", form.meaning)
    if not typed:
        for form in DIRECTIVES.values():
            yield _template(form.template.split()[0], form.template, "directive", form.meaning)


def _free_number(spot: _Spot, letter: str) -> int:
    names = spot.facts.names
    taken = names.table(spot.scope).elements if names is not None else {}
    return next(number for number in range(1, len(taken) + 2) if f"{letter}{number}" not in taken)


# ---- element lines -------------------------------------------------------------------------------


def _in_element(spot: _Spot, letter: str) -> Iterator[Candidate]:
    shape = SHAPES.get(letter)
    at = len(spot.words) - 1
    """How many fields stand behind the name."""
    if shape is None:
        return
    if letter == "x":
        yield from _in_instance(spot, at)
        return
    key = re.search(r"([\w.]+)\s*=\s*$", spot.before)
    if key is not None:
        yield from _parameters(spot, braced=True)
        return
    least, most = shape.nodes
    if letter in "eg":
        most = least = 4
    if at < least and letter != "k":
        yield from _nodes(spot)
        return
    yield from _behind_nodes(spot, letter, at, most)


def _behind_nodes(spot: _Spot, letter: str, at: int, most: int) -> Iterator[Candidate]:
    if letter == "k":
        yield from _elements(spot, "l")
    elif letter in "fhw" and at == 2:
        yield from _elements(spot, "v")
    elif letter == "b":
        yield Candidate("V=", "V=", "keyword", msg("the voltage it has"))
        yield Candidate("I=", "I=", "keyword", msg("the current it drives"))
    elif letter in "vi":
        for name, form in WAVEFORMS.items():
            yield _template(name.upper(), form.template, "keyword", form.meaning)
        yield from _parameters(spot, braced=True)
    elif letter in "rclefgh" and at == most:
        yield from _parameters(spot, braced=True)
        if letter in "eg":
            yield _template("VALUE=", "VALUE={<v(a)>}", "keyword", msg("an expression"))
        yield from _models(spot, letter)
    else:
        known = _known_models(spot)
        if not any(word in known for word in spot.words[1:]) and SHAPES[letter].model == "required":
            yield from _models(spot, letter)
            if at < most:
                yield from _nodes(spot)
            return
        for name in SHAPES[letter].parameters:
            yield Candidate(f"{name}=", f"{name}=", "keyword")


def _in_instance(spot: _Spot, at: int) -> Iterator[Candidate]:
    names = spot.facts.names
    if names is not None:
        for index, word in enumerate(spot.words[1:], start=1):
            found = names.subcircuit(word, spot.scope)
            if found is not None and index > 0 and (index == len(found[1].ports) + 1 or index == at):
                if re.search(r"=\s*$", spot.before):
                    yield from _parameters(spot, braced=True)
                for name, value in found[1].params.items():
                    yield _template(f"{name}=", f"{name}=<{value}>", "parameter", value)
                return
    called = list(_subcircuits(spot))
    fitting = [each for count, each in called if count == at]
    yield from fitting
    yield from _nodes(spot)
    yield from (each for count, each in called if count != at)


def _subcircuits(spot: _Spot) -> Iterator[tuple[int, Candidate]]:
    names, seen = spot.facts.names, set[str]()
    for _, table in names.outwards(spot.scope) if names is not None else ():
        for key, each in table.subcircuits.items():
            if key not in seen:
                seen.add(key)
                yield len(each.ports), Candidate(each.name, each.name, "subcircuit", " ".join(each.ports))
    for model in spot.facts.library:
        if model.is_subcircuit and model.name.lower() not in seen:
            count = len(model.element("X1").split()) - 2
            yield count, _of_library(spot, model, "subcircuit")


def _models(spot: _Spot, letter: str) -> Iterator[Candidate]:
    types, names, seen = MODELS_OF.get(letter, frozenset()), spot.facts.names, set[str]()
    for _, table in names.outwards(spot.scope) if names is not None else ():
        for key, model in table.models.items():
            words = model.placed.statement.head(3)
            kind = words[2].key if len(words) > 2 else ""
            if key not in seen and (kind in types or (not types and kind)):
                seen.add(key)
                yield Candidate(model.name, model.name, "model", kind)
    for entry in spot.facts.library:
        if not entry.is_subcircuit and entry.letter.lower() == letter and entry.name.lower() not in seen:
            yield _of_library(spot, entry, "model")


def _of_library(spot: _Spot, model: LibraryModel, kind: CandidateKind) -> Candidate:
    include = "" if includes_file(spot.text, f"{model.name}.lib") else model.include
    return Candidate(model.name, model.name, kind, model.words, include)


def _known_models(spot: _Spot) -> set[str]:
    names = spot.facts.names
    tables = names.outwards(spot.scope) if names is not None else ()
    known = {key for _, table in tables for key in table.models}
    return known | {model.name.lower() for model in spot.facts.library}


# ---- names ---------------------------------------------------------------------------------------


def _nodes(spot: _Spot, around: str = "{}") -> Iterator[Candidate]:
    """Nodes that have what was typed; `around`: how they are offered, as ``v({})``."""
    names, typed, left = spot.facts.names, spot.typed.lower(), MOST
    for key, name, count in names.sorted_nodes(spot.scope) if names is not None else ():
        if typed not in around.format(key) or (count == 1 and key == typed):
            continue  # another one, or what is being typed itself
        left -= not typed
        if left < 0:
            return  # the list has no place for more
        detail = msg("node, {count} terminals", count=count) if count else msg("node")
        yield Candidate(name, name, "node", detail)


def _elements(spot: _Spot, letters: str, around: str = "{}") -> Iterator[Candidate]:
    """Elements of these letters (of all where none is named) that have what was typed."""
    names, typed, left = spot.facts.names, spot.typed.lower(), MOST
    for key, element in names.sorted_elements(spot.scope) if names is not None else ():
        if (letters and key[0] not in letters) or typed not in around.format(key):
            continue
        left -= not typed
        if left < 0:
            return
        card = element.placed.statement.text
        yield Candidate(element.name, element.name, "element", card.partition(" ")[2])


def _parameters(spot: _Spot, *, braced: bool) -> Iterator[Candidate]:
    names, seen = spot.facts.names, set[str]()
    tables: Iterable[tuple[Scope, Table]] = names.outwards(spot.scope) if names is not None else ()
    for _, table in tables:
        for key, each in table.parameters.items():
            if key not in seen:
                seen.add(key)
                text = f"{{{each.name}}}" if braced else each.name
                yield Candidate(
                    each.name, text, "parameter", _value_of(each.placed.statement.text, each.name)
                )


def _value_of(card: str, name: str) -> str:
    match = re.search(
        rf"(?<![\w.]){re.escape(name)}\s*=\s*(\{{[^}}]*\}}|'[^']*'|[^\s,]+)", card, re.IGNORECASE
    )
    return match[1] if match else ""


def _in_expression(spot: _Spot) -> Iterator[Candidate]:
    yield from _parameters(spot, braced=False)
    names = spot.facts.names
    for _, table in names.outwards(spot.scope) if names is not None else ():
        for each in table.functions.values():
            yield _template(each.name, f"{each.name}(<x>)", "function", each.placed.statement.text)
    for name in EXPRESSION_FUNCTIONS:
        yield _template(name, f"{name}(<x>)", "function")
    if spot.before[:1] in "bBeEgGrRcClL":
        yield _template("v(", "v(<node>)", "function", msg("voltage of a node"))
        yield _template("i(", "i(<V1>)", "function", msg("current of a source"))


# ---- directives ----------------------------------------------------------------------------------


def _in_directive(spot: _Spot, keyword: str) -> Iterator[Candidate]:
    keyword = {"inc": "include", "measure": "meas", "option": "options", "opt": "options"}.get(
        keyword, keyword
    )
    reader = _DIRECTIVES.get(keyword)
    if reader is not None:
        yield from reader(spot, len(spot.words) - 1)


def _words(*words: str) -> Iterator[Candidate]:
    for word in words:
        yield Candidate(word, word, "keyword")


def _forms(forms: Mapping[str, Form]) -> Iterator[Candidate]:
    for name, form in forms.items():
        yield Candidate(
            name.upper() if forms is MEASUREMENTS else name, form.template, "keyword", form.meaning
        )


def _signals(spot: _Spot) -> Iterator[Candidate]:
    for node in _nodes(spot, "v({})"):
        if node.text != "0":
            yield Candidate(f"v({node.text})", f"v({node.text})", "node", node.detail)
    for element in _elements(spot, "v", "i({})"):
        yield Candidate(f"i({element.text})", f"i({element.text})", "element", element.detail)


def _sweep(_spot: _Spot, at: int) -> Iterator[Candidate]:
    if at == 0:
        yield from _words("dec", "oct", "lin")


def _dc(spot: _Spot, at: int) -> Iterator[Candidate]:
    if at in (0, 4):
        yield from _elements(spot, "vir")
        yield from _words("temp")


def _noise(spot: _Spot, at: int) -> Iterator[Candidate]:
    if at == 0:
        yield from _signals(spot)
    elif spot.before.rstrip().endswith(")"):
        yield from _elements(spot, "vi")
    elif at == 3:
        yield from _words("dec", "oct", "lin")


def _meas(spot: _Spot, at: int) -> Iterator[Candidate]:
    if at == 0:
        yield from _words("tran", "ac", "dc", "noise", "op", "sp")
    elif at == 2:
        yield from _forms(MEASUREMENTS)
    elif at > 2:
        yield from _signals(spot)
        for word in ("AT=", "FROM=", "TO=", "VAL=", "RISE=", "FALL=", "CROSS=", "TD="):
            yield Candidate(word, word, "keyword")
        yield from _words("WHEN", "TARG")


def _model(_spot: _Spot, at: int) -> Iterator[Candidate]:
    if at == 1:
        yield from _forms(MODEL_TYPES)


def _options(_spot: _Spot, _at: int) -> Iterator[Candidate]:
    for name, meaning in OPTIONS.items():
        is_switch = name == "savecurrents"
        yield Candidate(name, name if is_switch else f"{name}=", "keyword", meaning)


def _outputs(spot: _Spot, at: int) -> Iterator[Candidate]:
    if at == 0 and spot.words[0] in (".print", ".plot"):
        yield from _words("tran", "ac", "dc", "noise")
        return
    if at == 0:
        yield from _words("all", *(("alli",) if spot.words[0] == ".probe" else ()))
    yield from _signals(spot)


def _node_values(spot: _Spot, _at: int) -> Iterator[Candidate]:
    for node in _nodes(spot, "v({})"):
        if node.text != "0":
            yield Candidate(f"v({node.text})", f"v({node.text})=", "node", node.detail)


def _files(spot: _Spot, at: int) -> Iterator[Candidate]:
    if at == 0:
        for model in spot.facts.library:
            file = f"{model.name}.lib"
            yield Candidate(file, file, "file", model.words)


def _step(spot: _Spot, at: int) -> Iterator[Candidate]:
    if at == 0:
        yield from _words("param", "temp", "dec", "oct", "lin")
        yield from _elements(spot, "vi")
    elif spot.words[-1] == "param":
        yield from _parameters(spot, braced=False)
    elif at in (1, 2):
        yield from _words("list")


def _ends(spot: _Spot, at: int) -> Iterator[Candidate]:
    if at == 0 and spot.scope:
        yield from _words(spot.scope[-1])


def _tf(spot: _Spot, at: int) -> Iterator[Candidate]:
    if at == 0:
        yield from _signals(spot)
    elif spot.before.rstrip().endswith(")"):
        yield from _elements(spot, "vi")


_DIRECTIVES: dict[str, Callable[[_Spot, int], Iterator[Candidate]]] = {
    **dict.fromkeys(("ac", "disto", "sp"), _sweep),
    "dc": _dc,
    "noise": _noise,
    **dict.fromkeys(("tf", "sens"), _tf),
    "meas": _meas,
    "model": _model,
    "options": _options,
    **dict.fromkeys(("save", "print", "plot", "probe"), _outputs),
    "four": lambda spot, at: _signals(spot) if at > 0 else iter(()),
    **dict.fromkeys(("ic", "nodeset"), _node_values),
    "global": lambda spot, _at: _nodes(spot),
    **dict.fromkeys(("include", "lib"), _files),
    "step": _step,
    "ends": _ends,
    "pz": lambda spot, at: (
        _nodes(spot) if at < 4 else _words(*(("vol", "cur") if at == 4 else ("pol", "zer", "pz")))
    ),
}
