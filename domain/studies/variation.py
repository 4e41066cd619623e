"""How a loaded circuit takes new values: the circuit made ready for many runs that differ in some values.

`alter` sets a number inside a device and costs almost nothing, but is right only where nothing else was
computed from that number; it is taken for the values of R, C, L, V and I alone, for width and length of
MOSFETs whose model is not chosen by them, and for a `.param` that only stands whole (``{w1}``) in such
places. Everything else becomes a `.param` of ours in the deck, which `alterparam` and `reset` set: the
circuit is then expanded again, as a fresh process would. (`altermod` would do for many model parameters, but
which of a model's further values follow them differs from model to model, so it is not taken.)
"""

from __future__ import annotations

import difflib
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from domain.circuit.analyses import ANALYSIS_KINDS
from domain.circuit.cards import Subcircuit, assignments_of
from domain.circuit.dependencies import DependencyTree
from domain.circuit.elements import Element
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import parse_number
from domain.circuit.parameters import ExpressionError, expression_of, resolve_parameters
from domain.circuit.statements import Field, Statement
from domain.circuit.value_edits import Edits, UnknownName, value_edits
from domain.simulation.batch import Varied
from shared.errors import UserInputError
from shared.message import msg

TEMPERATURE = "temp"
_USUAL_TEMPERATURE = 27.0
_PLAIN_NAME = re.compile(r"[a-z]\w*", re.ASCII)
_NEAR_TOLD = 5
_NAMES_TOLD = 20
_DEFAULTS = {"m": 1.0, "area": 1.0, "temp": _USUAL_TEMPERATURE}
_SIZED_LEVELS = frozenset({"1", "2", "3", "6", "8", "14", "49", "54"})
"""Of MOSFETs: `alter` of a size was compared with a fresh process (tests/integration/batch)."""
_FIRST_VALUE = 1.0
"""Stands in the deck for a value that is not written anywhere, until the first run sets one."""


def plan_variation(tree: DependencyTree, names: Sequence[str]) -> tuple[DependencyTree, tuple[Varied, ...]]:
    """The circuit in which the values of `names` can be changed, and how, in the order of `names`.

    Names are those of `simulate --set` (``R1``, ``m1.w``, ``x1.r2``, a `.param`), and ``temp`` and
    ``model.parameter``; an element comes before a model of its name. No line moves. Control blocks are
    switched off: in a batch the circuit's own analyses are run. `Varied.nominal` is NaN where the circuit
    does not write a value (or writes a random one). Raises UserInputError for a name that is not known, has
    no single value, or is given twice.
    """
    return _Planner(tree).plan(names)


def with_values(tree: DependencyTree, values: Mapping[str, str]) -> DependencyTree:
    """The circuit with these values written where `plan_variation` would vary them, as SPICE texts.

    Control blocks stay as they are; `tree.changed` grows by the included files that were edited. Raises
    UserInputError as `plan_variation`.
    """
    return _Planner(tree).write(values)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value is put: edits of one file that leave room for the new text."""

    netlist: Netlist
    edits: Edits


class _Planner:
    def __init__(self, tree: DependencyTree) -> None:
        self._tree = tree
        self._edits: defaultdict[Path | None, Edits] = defaultdict(list)
        self._cards: list[str] = []
        self._taken: set[str] = set()
        """What `alter` sets."""

    def plan(self, names: Sequence[str]) -> tuple[DependencyTree, tuple[Varied, ...]]:
        self._check_names(names)
        for netlist in self._netlists:
            self._edits[netlist.path] += _without_commands(netlist)
        varied = tuple(self._vary(name.strip(), number) for number, name in enumerate(names, start=1))
        return self._edited(), varied

    def write(self, values: Mapping[str, str]) -> DependencyTree:
        self._check_names(list(values))
        for name, text in values.items():
            if name.lower() == TEMPERATURE and not self._is_defined(TEMPERATURE):
                self._vary_temperature(text)
            else:
                self._add(self._place_of(name.strip(), text), name)
        return self._edited()

    def _check_names(self, names: Sequence[str]) -> None:
        seen: set[str] = set()
        for name in names:
            key = name.strip().lower()
            if key in seen:
                raise UserInputError(msg("{name} is varied twice.", name=name.strip()))
            seen.add(key)

    @property
    def _netlists(self) -> tuple[Netlist, ...]:
        return (self._tree.root, *self._tree.files.values())

    @cached_property
    def _parameters(self) -> dict[str, float]:
        return resolve_parameters(self._tree)

    @cached_property
    def _prefix(self) -> str:
        """The beginning of our parameters' names, which nothing in the circuit has."""
        text = b"\n".join(netlist.to_bytes().lower() for netlist in self._netlists)
        prefix = "varied"
        while prefix.encode() in text:
            prefix += "_"
        return prefix

    # ---- one name --------------------------------------------------------------------------------

    def _vary(self, name: str, number: int) -> Varied:
        key = name.lower()
        if (altered := self._altered(name, key)) is not None:
            return altered
        parameter = f"{self._prefix}{number}"
        braced = f"{{{parameter}}}"
        if key == TEMPERATURE and not self._is_defined(key):
            nominal = self._vary_temperature(braced)
        else:
            place = self._place_of(name, braced)
            nominal = self._nominal(key, place)
            self._add(place, name)
        start = nominal if math.isfinite(nominal) else _FIRST_VALUE
        self._cards.append(f".param {parameter}={start!r}")
        return Varied(name=name, way="alterparam", targets=(parameter,), nominal=nominal)

    def _add(self, place: _Place, name: str) -> None:
        edits = self._edits[place.netlist.path]
        for start, end, text in place.edits:
            for other_start, other_end, other in edits:
                if text != other and max(start, other_start) < min(end, other_end):
                    raise UserInputError(
                        msg("{name} overlaps another varied value.", name=name),
                        advice=msg("Vary one of the two."),
                    )
            edits.append((start, end, text))

    # ---- plain values ----------------------------------------------------------------------------

    def _altered(self, name: str, key: str) -> Varied | None:
        """The quantity as one that `alter` sets exactly; None when it does not."""
        place = self._alterable(key)
        if place is not None and self._is_parameter(key) and place[1].text.strip("{}' ").lower() == key:
            place = None  # `.param r1=1k` with `R1 a b {r1}`: the parameter is meant
        targets = (place[0],) if place is not None else self._whole_uses(key)
        text = place[1].text if place is not None else self._own_text(key)
        nominal = math.nan if text is None else self._value_of(text)
        # Of two names for one place the later is set last, so the earlier keeps to `alter` and this does not.
        if not targets or math.isnan(nominal) or (place is None and self._taken.intersection(targets)):
            return None
        self._taken.update(targets)
        return Varied(name=name, way="alter", targets=targets, nominal=nominal)

    def _own_text(self, key: str) -> str | None:
        """What the only `.param` of this name is, at the top level; None when there are more."""
        found = [p for netlist in self._netlists for p in netlist.parameters if p.name == key]
        return found[0].value.text if len(found) == 1 and not found[0].scope else None

    def _whole_uses(self, key: str) -> tuple[str, ...]:
        """What `alter` sets in place of a `.param` that has no other use; () when it has one, or none."""
        if self._own_text(key) is None or not _PLAIN_NAME.fullmatch(key):
            return ()
        # `w=` is the name of something, as is the first word of a line.
        word = re.compile(rf"(?<![\w.]){re.escape(key)}(?![\w.])(?!\s*=(?!=))")
        texts = (re.sub(r"^\S+", "", placed.statement.text.lower()) for placed in self._tree.expanded)
        count = sum(len(word.findall(text)) for text in texts)
        targets = []
        for element in self._tree.root.elements:
            members = (element.key, *(f"{element.key}.{size}" for size in ("w", "l")))
            for place in filter(None, map(self._alterable, members if not element.scope else ())):
                if place[1].text.lower() in (f"{{{key}}}", f"'{key}'"):
                    targets.append(place[0])
        return tuple(targets) if len(targets) == count else ()

    def _alterable(self, key: str) -> tuple[str, Field] | None:
        """What `alter` calls the value of an element, or the width or length of a MOSFET, and its field."""
        owner, _, size = key.partition(".")
        if not _PLAIN_NAME.fullmatch(owner):
            return None
        found = [e for e in self._tree.root.elements if e.key == owner and not e.scope]
        if len(found) != 1:
            return None
        element = found[0]
        if size:
            field = element.params.get(size) if element.letter == "m" and size in ("w", "l") else None
            return None if field is None or not self._keeps_model(element) else (f"@{owner}[{size}]", field)
        if element.letter not in "rclvi" or element.value is None or self._is_looked_at(owner):
            return None
        has_more = bool(element.params or element.model or element.statement.branches)
        has_more |= any(each is not element.value for each in element.expressions)
        if element.letter in "rcl":
            has_more |= bool(element.words or element.numbers)
        else:
            has_more |= not set(element.words) <= {"dc", "ac"}
        return None if has_more or len(element.nodes) != 2 else (owner, element.value)

    def _keeps_model(self, element: Element) -> bool:
        """The model of a MOSFET is one card of a level that takes a new size as a fresh process does."""
        name = "" if element.model is None else element.model.key
        cards = [
            placed.statement
            for placed in self._tree.expanded
            if placed.statement.keyword == "model"
            and len(placed.statement.head(3)) > 2
            and placed.statement.head(3)[1].key.partition(".")[0] == name.partition(".")[0]
        ]
        if len(cards) != 1 or cards[0].head(3)[1].key != name or cards[0].scope:
            return False
        level = next((pair.value.text for pair in assignments_of(cards[0]) if pair.name == "level"), "1")
        return level.rstrip(")") in _SIZED_LEVELS

    def _is_looked_at(self, key: str) -> bool:
        """Something else in the circuit asks for the element or its value."""
        word = re.compile(rf"(?<![\w.#]){re.escape(key)}(?![\w.#])")
        for placed in self._tree.expanded:
            statement = placed.statement
            text = statement.text.lower()
            if key not in text:
                continue
            if f"@{key}" in text:
                return True
            is_coupling = statement.kind == "element" and statement.keyword == "k"
            is_analysis = statement.kind == "directive" and statement.keyword in ANALYSIS_KINDS
            if (is_coupling or is_analysis) and word.search(text) and not _only_noise_source(statement, key):
                return True
        return False

    def _is_parameter(self, key: str) -> bool:
        return any(p.name == key and not p.scope for netlist in self._netlists for p in netlist.parameters)

    def _is_defined(self, key: str) -> bool:
        return self._is_parameter(key) or any(
            element.key == key and not element.scope for element in self._tree.root.elements
        )

    # ---- everything else -------------------------------------------------------------------------

    def _place_of(self, name: str, text: str) -> _Place:
        """Where the value of `name` stands: in the main file, in a model, in an included file."""
        inner = self._inside_library(name, text)
        if inner is not None:
            return inner
        try:
            return _Place(self._tree.root, value_edits(self._tree.root, name, text))
        except UserInputError as error:
            found = self._in_model(name, text) or self._in_included(name, text)
            if found is None and isinstance(error, UnknownName):
                raise self._unknown(name) from None
            if found is None:
                raise error from None
            return found

    def _unknown(self, name: str) -> UnknownName:
        """With the names most like it, and what the circuit has, models and included files too."""
        root = self._tree.root
        names = [element.name for element in root.elements if not element.scope]
        names += [p.name for netlist in self._netlists for p in netlist.parameters if not p.scope]
        members = [f"{e.name}.{member}" for e in root.elements if not e.scope for member in e.params]
        for placed in self._tree.expanded:
            card = placed.statement
            if card.kind == "directive" and card.keyword == "model" and len(card.head(3)) > 2:
                members += [f"{card.head(3)[1].text}.{pair.name}" for pair in assignments_of(card)]
        known = {found.lower(): found for found in (*names, *members)}
        near = difflib.get_close_matches(name.lower(), known, n=_NEAR_TOLD, cutoff=0.6)
        told = list(dict.fromkeys(names))
        has = ", ".join(told[:_NAMES_TOLD]) + (", ..." if len(told) > _NAMES_TOLD else "")
        return UnknownName(
            msg("The circuit has no element, parameter or model parameter named {name}.", name=name),
            advice=msg("Similar names: {names}. It has: {known}.",
                       names=", ".join(known[key] for key in near), known=has)
            if near
            else msg("It has: {known}.", known=has),
            file=root.path,
        )  # fmt: skip

    def _in_included(self, name: str, text: str) -> _Place | None:
        for netlist in reversed(tuple(self._tree.files.values())):  # the last definition counts
            try:
                return _Place(netlist, value_edits(netlist, name, text))
            except UserInputError:
                continue
        return None

    def _inside_library(self, name: str, text: str) -> _Place | None:
        """``x1.r2``: an element of a subcircuit that an included file defines."""
        owner_name, _, member = name.lower().partition(".")
        owners = [
            e for e in self._tree.root.elements if e.key == owner_name and e.letter == "x" and not e.scope
        ]
        if not member or not owners or owners[0].model is None or member in owners[0].params:
            return None
        target = owners[0].model.key
        if any(subcircuit.name.lower() == target for subcircuit in self._tree.root.subcircuits):
            return None
        for netlist, subcircuit in self._library_subcircuits(target):
            formal = {
                p.name for p in netlist.parameters if p.scope == subcircuit.path
            } | subcircuit.params.keys()
            inside = [e for e in netlist.elements if e.scope == subcircuit.path and e.key == member]
            if member in formal or not inside or inside[0].value is None:
                continue
            if self._instances(target) > 1:
                raise UserInputError(
                    msg("{name} is in subcircuit {subckt}, which is used more than once.",
                        name=name, subckt=subcircuit.name),
                    advice=msg("Give the subcircuit a parameter for it, and set that."),
                )  # fmt: skip
            return _Place(netlist, _replaced(inside[0].value, text))
        return None

    def _library_subcircuits(self, name: str) -> Iterator[tuple[Netlist, Subcircuit]]:
        for netlist in self._tree.files.values():
            for subcircuit in netlist.subcircuits:
                if subcircuit.name.lower() == name and not subcircuit.statement.scope:
                    yield netlist, subcircuit

    def _instances(self, subcircuit: str) -> int:
        return sum(
            element.letter == "x" and element.model is not None and element.model.key == subcircuit
            for netlist in self._netlists
            for element in netlist.elements
        )

    def _in_model(self, name: str, text: str) -> _Place | None:
        """``nmos1.vto``: a parameter of a `.model` card that is read."""
        model_name, _, parameter = name.lower().rpartition(".")
        cards = [
            placed
            for placed in self._tree.expanded
            if placed.statement.keyword == "model"
            and placed.statement.kind == "directive"
            and len(placed.statement.head(3)) > 2
            and placed.statement.head(3)[1].key == model_name
        ]
        if not cards or not parameter.isidentifier():
            return None
        if len({(placed.file, placed.statement.line) for placed in cards}) > 1:
            raise UserInputError(
                msg("Several models are called {name}.", name=model_name),
                file=cards[1].file,
                line=cards[1].statement.line,
            )
        card = cards[0].statement
        for pair in assignments_of(card):
            if pair.name == parameter:
                return _Place(cards[0].netlist, _replaced(_without_bracket(card, pair.value), text))
        last = card.fields[-1]
        end = last.spans[-1][0] if last.text == ")" else last.spans[-1][1]
        return _Place(cards[0].netlist, [(end, end, f" {parameter}={text}")])

    # ---- values as written -----------------------------------------------------------------------

    def _nominal(self, key: str, place: _Place) -> float:
        """What stands now in the place of the edit, in SI units."""
        start, end, _ = place.edits[0]
        if start < end:
            spans = [place.netlist.to_bytes()[first:last] for first, last, _ in place.edits]
            return self._value_of(b" ".join(spans).decode("latin-1").strip())
        owner, _, member = key.rpartition(".")
        if not owner:
            return 0.0  # a source without a DC value
        default = self._subcircuit_default(owner, member)
        return _DEFAULTS.get(member, math.nan) if default is None else default

    def _subcircuit_default(self, owner: str, member: str) -> float | None:
        """The default of a subcircuit's parameter that its X line does not set."""
        for element in self._tree.root.elements:
            if element.key == owner and element.letter == "x" and element.model is not None:
                for netlist in self._netlists:
                    for subcircuit in netlist.subcircuits:
                        if subcircuit.name.lower() == element.model.key:
                            inside = {
                                p.name: p.value for p in netlist.parameters if p.scope == subcircuit.path
                            }
                            found = subcircuit.params.get(member) or inside.get(member)
                            return None if found is None else self._value_of(found.text)
        return None

    def _value_of(self, text: str) -> float:
        try:
            return parse_number(text)
        except ValueError:
            pass
        expression = expression_of(text)
        if expression is None:
            return math.nan
        try:
            return expression.evaluate(self._parameters)
        except ExpressionError:
            return math.nan

    # ---- temperature -----------------------------------------------------------------------------

    def _vary_temperature(self, text: str) -> float:
        """Put `text` where the circuit's temperature is set; the first `.options temp` counts."""
        nominal = _USUAL_TEMPERATURE
        is_placed = False
        for placed in self._tree.expanded:
            card, edits = placed.statement, self._edits[placed.netlist.path]
            if card.kind != "directive" or card.scope:
                continue
            if card.keyword == "temp":
                if len(card.words) > 1 and not is_placed:
                    nominal = self._value_of(card.words[1].text)
                edits += _commented(placed.netlist, card)
            elif card.keyword == "options":
                for pair in assignments_of(card):
                    if pair.name == TEMPERATURE:
                        if not is_placed:
                            nominal = self._value_of(pair.value.text)
                        is_placed = True
                        edits += _replaced(pair.value, text)
        if not is_placed:
            self._cards.append(f".options temp={text}")
        return nominal

    # ---- the result ------------------------------------------------------------------------------

    def _edited(self) -> DependencyTree:
        root = self._tree.root
        edited_root = root.edited(list(dict.fromkeys(self._edits[root.path])))
        edited_root = edited_root.with_cards_before_end(self._cards)  # a run may be opened as a circuit
        files = {
            path: netlist.edited(list(dict.fromkeys(edits)))
            for path, netlist in self._tree.files.items()
            if (edits := self._edits[path])
        }
        return self._tree.with_texts(edited_root, files)


def _only_noise_source(statement: Statement, key: str) -> bool:
    """`.noise` and `.tf` name a source as the input, which is not a look at its value."""
    words = [word.key for word in statement.words]
    return statement.keyword in ("noise", "tf") and key in words[1:]


def _replaced(target: Field, text: str) -> Edits:
    first, *further = target.spans
    return [(*first, text), *((start, end, "") for start, end in further)]


def _without_bracket(card: Statement, value: Field) -> Field:
    """A value of a model card without the bracket that closes the whole card."""
    if value.text.endswith(")") and value.text.count(")") > value.text.count("("):
        kept = value.text[:-1].rstrip()
        return card.field(value.start, value.start + len(kept))
    return value


def _commented(netlist: Netlist, card: Statement) -> Edits:
    """The lines of a card turned into comments."""
    edits: Edits = []
    for line in sorted({chunk.line for chunk in card.chunks}):
        found = netlist.source.lines[line - 1]
        text = netlist.source.view[found.start : found.end]
        start = found.start + len(text) - len(text.lstrip())
        edits.append((start, start, "* "))
    return edits


def _without_commands(netlist: Netlist) -> Edits:
    """Control lines turned into comments; `pre_` commands, which only load models, stay with their block."""
    lines = [statement for statement in netlist.statements if statement.kind == "control"]
    loads = any(statement.text.lstrip().lower().startswith("pre_") for statement in lines)
    edits: Edits = []
    for statement in lines:
        text = statement.text.lstrip().lower()
        if not (loads and text.startswith((".control", ".endc", "pre_"))):
            edits += _commented(netlist, statement)
    return edits
