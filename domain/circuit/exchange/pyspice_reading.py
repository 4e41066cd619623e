"""Scripts of PySpice as cards of ngspice, without running them.

The text is parsed (`ast`) and followed as far as it says a circuit: numbers with units, names, loops over
what is counted, calls of a circuit and of its simulator, subcircuits as classes. Nothing of it is executed,
nothing imported; what it does besides (plots, files, prints) is passed over, and what a circuit would need
and cannot be followed is told with its line.

Source: PySpice 1.5, `PySpice.Spice.BasicElement`, `HighLevelElement`, `Netlist`, `Simulation`, `Unit`.
"""

from __future__ import annotations

import ast
import contextlib
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from domain.circuit.exchange.pyspice_elements import CannotFollow, Named, card_of, node_of, number_of, text_of
from shared.message import Message, msg

MOST_CARDS = 20_000
_MOST_STEPS = 500_000
"""Statements and values followed in all: a script may count far."""
_MOST_TEXT = 100_000
"""Characters of one text, and items of one list."""
_DEEPEST = 100
"""Values within values, calls within calls."""

_MOST_WHOLE = 2**53
"""Whole numbers above are kept as floating-point ones: no number grows without end."""

_PREFIXES = {
    "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "h": 1e2, "da": 1e1, "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6,
    "µ": 1e-6, "μ": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15, "a": 1e-18,
}  # fmt: skip
_UNITS = "Degree|Ohm|Ω|Ω|Hz|rad|sr|Wb|Pa|kg|cd|mol|V|A|F|H|S|s|W|C|J|N|K|T|m|g"
_UNIT = re.compile(rf"u_(?:(?P<only>{_UNITS})|(?P<prefix>da|[TGMkhdcmuµμnpfa])(?P<unit>{_UNITS})?)$")
_SCALES = {
    "tera": 1e12, "giga": 1e9, "mega": 1e6, "kilo": 1e3, "milli": 1e-3, "micro": 1e-6, "nano": 1e-9,
    "pico": 1e-12, "femto": 1e-15, "atto": 1e-18,
}  # fmt: skip
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "float": float,
    "int": int,
    "len": len,
    "list": lambda items=(): list(islice(items, _MOST_TEXT)),
    "max": max,
    "min": min,
    "range": lambda *ends: _counted(*ends),  # noqa: PLW0108 - defined below
    "round": round,
    "str": lambda value="": text_of(value),
    "enumerate": lambda items, start=0: list(enumerate(items, start)),
    "slice": lambda start, stop, step: [start, stop, step],
    "zip": lambda *lists: list(zip(*lists, strict=False)),
}
_OF_MATH = frozenset(
    ("sqrt", "sin", "cos", "tan", "exp", "log", "log10", "pow", "radians", "degrees", "atan")
)


_PASSED_OVER = frozenset((ast.Import, ast.ImportFrom, ast.Pass, ast.Assert, ast.Global, ast.Delete))


class NotPySpice(ValueError):
    """The text builds no circuit with PySpice."""


@dataclass(slots=True)
class PySpiceNetlist:
    """What was read."""

    text: str = ""
    missing: list[Message] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Part(Named):
    """An element of a circuit, by its card's name, and what the call said of it."""

    told: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Netlist(Named):
    """A circuit or a subcircuit that the script builds."""

    cards: list[str] = field(default_factory=list)
    analyses: list[str] = field(default_factory=list)
    parts: dict[str, _Part] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    """Of the class it is of."""


@dataclass(slots=True, eq=False)
class _Simulator:
    of: _Netlist


class _OfLibrary(str):
    """A model or subcircuit that a script takes from its library of models, by name."""


@dataclass(slots=True, eq=False)
class _Definition:
    """A class or function of the script."""

    node: ast.ClassDef | ast.FunctionDef
    attributes: dict[str, Any] = field(default_factory=dict)


class _Returned(Exception):
    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


def looks_like_pyspice(text: str) -> bool:
    """Whether a script builds a circuit with PySpice."""
    return bool(
        re.search(r"^[ \t]*(?:from|import)[ \t]+PySpice\b", text, re.MULTILINE) and "Circuit(" in text
    )


def read_pyspice(text: str, title: str) -> PySpiceNetlist:
    """The first circuit a script builds, with its analyses, in cards of ngspice. Raises NotPySpice."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotPySpice(title) from error
    reader = _Reader()
    try:
        reader.follow(tree.body, {})
    except _Returned:
        pass  # as far as the script goes
    except RecursionError as error:
        raise NotPySpice(title) from error
    circuits = [each for each in reader.circuits if each.cards]
    if not circuits:
        raise NotPySpice(title)
    first, *others = circuits
    made = PySpiceNetlist(missing=reader.missing, notes=reader.notes)
    if others:
        made.notes.append(msg("The script builds {count} circuits; this is the first.", count=len(circuits)))
    cards = [f"* {' '.join((first.title or title).lstrip('* ').split())}", *first.cards]
    made.text = "\n".join((*cards, *dict.fromkeys(first.analyses), ".end", ""))
    return made


class _Reader:
    """Follows the statements of a script."""

    def __init__(self) -> None:
        self.circuits: list[_Netlist] = []
        self.missing: list[Message] = []
        self.notes: list[Message] = []
        self._steps = 0
        self._depth = 0
        self._told: set[int] = set()

    # ---- statements ----------------------------------------------------------------------------

    def follow(self, body: Sequence[ast.stmt], names: dict[str, Any]) -> None:
        """Carry out what builds circuits; what cannot be followed is told where a circuit is meant."""
        for statement in body:
            self._steps += 1
            if self._steps > _MOST_STEPS:
                raise NotPySpice("too long")
            if type(statement) in _PASSED_OVER:
                continue
            try:
                self._statement(statement, names)
            except CannotFollow:
                self._tell(statement, names)

    def _statement(self, statement: ast.stmt, names: dict[str, Any]) -> None:  # noqa: PLR0912 - one case each
        match statement:
            case ast.Expr(value=value):
                self._value(value, names)
            case ast.Assign(targets=targets, value=value):
                try:
                    found = self._value(value, names)
                except CannotFollow:
                    for target in targets:
                        self._forget(target, names)
                    raise
                for target in targets:
                    self._assign(target, found, names)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._value(value, names), names)
            case ast.AugAssign(target=target, op=op, value=value):
                self._augment(target, op, self._value(value, names), names)
            case ast.For(target=target, iter=items, body=body):
                for item in self._items(items, names):
                    self._assign(target, item, names)
                    self.follow(body, names)
            case ast.If(test=test, body=body, orelse=orelse):
                self.follow(body if self._holds(test, names) else orelse, names)
            case ast.With(body=body) | ast.Try(body=body):
                self.follow(body, names)
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                defined = names[name] = _Definition(statement)
                if isinstance(statement, ast.ClassDef):
                    inner: dict[str, Any] = {}
                    self.follow(statement.body, inner)
                    defined.attributes = inner
            case ast.Return(value=value):
                raise _Returned(None if value is None else self._value(value, names))
            case _:
                raise CannotFollow

    def _tell(self, statement: ast.stmt, names: Mapping[str, Any]) -> None:
        """Say that a line cannot be followed, once, if it has to do with a circuit."""
        if statement.lineno in self._told or isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            return
        owners = (
            names.get(node.value.id)
            for node in ast.walk(statement)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        )
        if any(isinstance(owner, (Named, _Simulator)) for owner in owners):
            self._told.add(statement.lineno)
            written = " ".join(ast.unparse(statement).split())
            self.missing.append(
                msg("Line {line} cannot be followed: {text}", line=statement.lineno, text=written[:80])
            )

    def _forget(self, target: ast.expr, names: dict[str, Any]) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                names.pop(node.id, None)

    def _assign(self, target: ast.expr, value: Any, names: dict[str, Any]) -> None:
        match target:
            case ast.Name(id=name):
                names[name] = value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                given = list(islice(value, len(parts) + 1)) if isinstance(value, Iterable) else []
                if len(given) != len(parts):
                    raise CannotFollow
                for part, each in zip(parts, given, strict=True):
                    self._assign(part, each, names)
            case ast.Attribute(value=owner, attr=name):
                held = self._value(owner, names)
                if isinstance(held, _Netlist) and name == "raw_spice":
                    held.cards += _raw(value)
                elif isinstance(held, _Definition):
                    held.attributes[name] = value
                else:
                    raise CannotFollow
            case _:
                raise CannotFollow

    def _augment(self, target: ast.expr, op: ast.operator, value: Any, names: dict[str, Any]) -> None:
        if isinstance(target, ast.Attribute) and target.attr == "raw_spice":
            self._assign(target, value, names)
        elif isinstance(target, ast.Name) and target.id in names:
            names[target.id] = _computed(op, names[target.id], value)
        else:
            raise CannotFollow

    def _items(self, node: ast.expr, names: dict[str, Any]) -> list[Any]:
        found = self._value(node, names)
        if isinstance(found, Mapping):
            found = list(found)
        if not isinstance(found, (list, tuple, range, str)) or len(found) > MOST_CARDS:
            raise CannotFollow
        return list(found)

    def _holds(self, test: ast.expr, names: dict[str, Any]) -> bool:
        match test:
            case ast.Compare(left=ast.Name(id="__name__")):
                return True
        return bool(self._value(test, names))

    # ---- values --------------------------------------------------------------------------------

    def _value(self, node: ast.expr, names: dict[str, Any]) -> Any:
        self._depth += 1
        self._steps += 1
        try:
            if self._steps > _MOST_STEPS:
                raise NotPySpice("too long")
            if self._depth > _DEEPEST:
                raise CannotFollow
            return self._evaluated(node, names)
        except NotPySpice:
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise CannotFollow from error
        finally:
            self._depth -= 1

    def _evaluated(self, node: ast.expr, names: dict[str, Any]) -> Any:  # noqa: PLR0911, PLR0912 - one case each
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return value
            case ast.Name(id="pi"):
                return math.pi
            case ast.Name(id=name):
                if name in names:
                    return names[name]
                raise CannotFollow
            case ast.BinOp(left=left, op=ast.MatMult(), right=ast.Name(id=unit)):
                return number_of(self._value(left, names)) * _scale(unit)
            case ast.BinOp(left=left, op=op, right=right):
                return _computed(op, self._value(left, names), self._value(right, names))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -number_of(self._value(operand, names))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return number_of(self._value(operand, names))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self._value(operand, names)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                return _COMPARISONS[type(op)](self._value(left, names), self._value(right, names))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._value(body if self._holds(test, names) else orelse, names)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return [
                    value
                    for part in parts
                    for value in (
                        self._items(part.value, names)
                        if isinstance(part, ast.Starred)
                        else [self._value(part, names)]
                    )
                ]
            case ast.Dict(keys=keys, values=values) if None not in keys:
                return {
                    text_of(self._value(key, names)): self._value(value, names)
                    for key, value in zip(keys, values, strict=True)
                    if key is not None
                }
            case ast.ListComp(elt=elt, generators=[ast.comprehension(target=target, iter=items, ifs=[])]):
                inner, found = dict(names), []
                for item in self._items(items, names):
                    self._assign(target, item, inner)
                    found.append(self._value(elt, inner))
                return found
            case ast.JoinedStr(values=parts):
                return "".join(self._formatted(part, names) for part in parts)
            case ast.Subscript(value=ast.Name(id=owner), slice=index) if owner not in names:
                if "library" not in owner.lower():
                    raise CannotFollow
                return _OfLibrary(text_of(self._value(index, names)))
            case ast.Subscript(value=owner, slice=index):
                return self._value(owner, names)[self._value(index, names)]
            case ast.Attribute(value=owner, attr=name):
                return self._attribute(owner, name, names)
            case ast.Call():
                return self._call(node, names)
        raise CannotFollow

    def _formatted(self, part: ast.expr, names: dict[str, Any]) -> str:
        match part:
            case ast.Constant(value=str() as text):
                return text
            case ast.FormattedValue(value=value, conversion=-1, format_spec=spec):
                form = "" if spec is None else text_of(self._value(spec, names))
                found = self._value(value, names)
                if len(form) > 12 or re.search(r"\d{3}", form):
                    raise CannotFollow
                return format(found, form) if form else text_of(found)
        raise CannotFollow

    def _attribute(self, owner: ast.expr, name: str, names: dict[str, Any]) -> Any:  # noqa: PLR0911 - one case each
        if isinstance(owner, ast.Name) and owner.id not in names:
            if owner.id in ("math", "np", "numpy") and name == "pi":
                return math.pi
            return _scale(f"u_{name}")  # ``2 * u.kΩ``
        held = self._value(owner, names)
        if isinstance(held, _Netlist):
            if name in ("gnd", "title"):
                return "0" if name == "gnd" else held.title
            return held.parts.get(name.lower()) or held.attributes[name]
        if isinstance(held, (int, float)) and name in ("period", "frequency", "value"):
            return held if name == "value" else 1 / held
        if isinstance(held, _Part) and name in held.told:
            return held.told[name]
        if isinstance(held, _Definition) and name in held.attributes:
            return held.attributes[name]
        if isinstance(held, _Part) and name == "name":
            return held.title
        raise CannotFollow

    # ---- calls ---------------------------------------------------------------------------------

    def _call(self, node: ast.Call, names: dict[str, Any]) -> Any:  # noqa: PLR0911 - one case each
        match node.func:
            case ast.Name(id=name):
                return self._called(name, node, names)
            case ast.Attribute(value=ast.Name(id="math" | "np" | "numpy"), attr=name) if name in _OF_MATH:
                return getattr(math, name)(*map(number_of, self._places(node, names)))
            case ast.Attribute(value=ast.Constant(value=str() as form), attr="format"):
                return _filled(form, self._places(node, names), self._named(node, names))
            case ast.Attribute(value=owner, attr=name):
                held = self._value(owner, names)
                if isinstance(held, _Netlist):
                    return self._of_netlist(held, name, node, names)
                if isinstance(held, _Simulator):
                    return self._of_simulator(held, name, node, names)
                if isinstance(held, dict) and name == "items":
                    return [list(pair) for pair in held.items()]
                if isinstance(held, list) and name == "append" and len(held) < _MOST_TEXT:
                    held.extend(self._places(node, names))
                    return None
                if isinstance(held, str) and name in ("lower", "upper", "strip"):
                    return getattr(held, name)()
        raise CannotFollow

    def _called(self, name: str, node: ast.Call, names: dict[str, Any]) -> Any:
        if name == "Circuit":
            made = _Netlist(title=text_of(self._places(node, names)[0]))
            self.circuits.append(made)
            return made
        if name in _SCALES or _UNIT.match(name):
            return number_of(self._places(node, names)[0]) * _scale(name)
        if name in _FUNCTIONS and name not in names:
            return _FUNCTIONS[name](*self._places(node, names), **self._named(node, names))
        held = names.get(name)
        if isinstance(held, _Definition):
            if isinstance(held.node, ast.FunctionDef):
                return self._function(held.node, node, names)
            return self._instance(held, node, names)
        raise CannotFollow

    def _function(self, defined: ast.FunctionDef, node: ast.Call, names: dict[str, Any]) -> Any:
        try:
            inner = {
                **names,
                **self._given(defined.args, self._places(node, names), self._named(node, names)),
            }
            self.follow(defined.body, inner)
        except _Returned as returned:
            return returned.value
        return None

    def _given(
        self, wanted: ast.arguments, places: Sequence[Any], named: Mapping[str, Any]
    ) -> dict[str, Any]:
        keys = [each.arg for each in wanted.args]
        given = dict(zip(keys, places, strict=False))
        if wanted.vararg is not None:
            given[wanted.vararg.arg] = list(places[len(keys) :])
        for key, default in zip(reversed(keys), reversed(wanted.defaults), strict=False):
            if key not in given and key not in named:
                given[key] = self._value(default, {})
        known = {*keys, *(each.arg for each in wanted.kwonlyargs)}
        given |= {key: value for key, value in named.items() if key in known}
        for each, value in zip(wanted.kwonlyargs, wanted.kw_defaults, strict=True):
            if each.arg not in given and value is not None:
                given[each.arg] = self._value(value, {})
        if wanted.kwarg is not None:
            given[wanted.kwarg.arg] = {key: value for key, value in named.items() if key not in known}
        return given

    def _instance(self, held: _Definition, node: ast.Call, names: dict[str, Any]) -> _Netlist:
        """A subcircuit made of a class of the script: the body of its `__init__` with the class's names."""
        assert isinstance(held.node, ast.ClassDef)
        named = held.attributes.get("NAME", held.attributes.get("__subcircuit_name__", ""))
        made = _Netlist(title=text_of(named), attributes=held.attributes)
        nodes = held.attributes.get("NODES", held.attributes.get("__nodes__"))
        begin = next(
            (
                each
                for each in held.node.body
                if isinstance(each, ast.FunctionDef) and each.name == "__init__"
            ),
            None,
        )
        inner = dict(names)
        if begin is not None:
            places = [made, *self._places(node, names)]
            inner |= self._given(begin.args, places, self._named(node, names))
            inner["self"] = made
            body = []
            for each in begin.body:
                told = _begins(each)
                if told is None:
                    body.append(each)
                elif told.args:
                    given = self._places(told, inner)
                    given = given[1:] if given and given[0] is made else given
                    made.title, nodes = text_of(given[0]), given[1:] or nodes
            with contextlib.suppress(_Returned):
                self.follow(body, inner)
        if not made.title or not nodes:
            raise CannotFollow
        made.cards = [f".subckt {made.title} {' '.join(map(node_of, nodes))}", *made.cards]
        made.cards.append(f".ends {made.title}")
        return made

    def _places(self, node: ast.Call, names: dict[str, Any]) -> list[Any]:
        return [
            value
            for part in node.args
            for value in (
                self._items(part.value, names)
                if isinstance(part, ast.Starred)
                else [self._value(part, names)]
            )
        ]

    def _named(self, node: ast.Call, names: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for each in node.keywords:
            value = self._value(each.value, names)
            found |= {each.arg: value} if each.arg is not None else dict(value)
        return found

    # ---- a circuit -----------------------------------------------------------------------------

    def _of_netlist(self, held: _Netlist, name: str, node: ast.Call, names: dict[str, Any]) -> Any:
        if len(held.cards) > MOST_CARDS:
            raise NotPySpice("too large")
        if name == "simulator":
            told = self._named(node, names)
            if (degrees := told.get("temperature", 25)) is not None:
                held.analyses.append(f".temp {text_of(degrees)}")
            if (nominal := told.get("nominal_temperature", 25)) != 27:
                held.analyses.append(f".options tnom={text_of(nominal)}")
            return _Simulator(held)
        places, named = self._places(node, names), self._named(node, names)
        if name == "model":
            model, kind = map(text_of, places[:2])
            told_as = " ".join(f"{key.rstrip('_')}={text_of(value)}" for key, value in named.items())
            held.cards.append(f".model {model} {kind}" + (f" ({told_as})" if told_as else ""))
            return None
        if name == "parameter":
            key, value = places[:2]
            held.cards.append(f".param {text_of(key)}={text_of(value)}")
            return None
        if name == "include":
            (path,) = places
            if isinstance(path, _OfLibrary):
                self.notes.append(
                    msg(
                        "Line {line}: {name} is of the script's own library; "
                        "a model of this name is looked for.",
                        line=node.lineno,
                        name=path,
                    )
                )
            else:
                held.cards.append(f'.include "{text_of(path)}"')
            return None
        if name == "subcircuit":
            (definition,) = places
            if not isinstance(definition, _Netlist):
                raise CannotFollow
            held.cards += definition.cards
            return None
        card = card_of(name, places, named)
        held.cards.append(str(card))
        part = held.parts[card.name.lower()] = _Part(card.name, card.told)
        return part

    def _of_simulator(self, held: _Simulator, name: str, node: ast.Call, names: dict[str, Any]) -> None:
        told = self._named(node, names)
        places = self._places(node, names)
        add = held.of.analyses.append
        match name:
            case "operating_point":
                add(".op")
            case "ac":
                keys = ("variation", "number_of_points", "start_frequency", "stop_frequency")
                words = [told[key] if key in told else places[index] for index, key in enumerate(keys)]
                add(f".ac {' '.join(map(text_of, words))}")
            case "transient":
                times = [
                    told.get("step_time"),
                    told.get("end_time"),
                    told.get("start_time", 0),
                    told.get("max_time"),
                ]
                for index, value in enumerate(places[:4]):
                    times[index] = value
                words = [each for each in times if each is not None]
                uic = " uic" if told.get("use_initial_condition") else ""
                add(f".tran {' '.join(map(text_of, words))}{uic}")
            case "dc":
                ((source, (start, stop, step)),) = told.items()
                add(f".dc {source} {text_of(start)} {text_of(stop)} {text_of(step)}")
            case "dc_sensitivity":
                add(f".sens {text_of(places[0])}")
            case "initial_condition" | "node_set":
                card = ".ic" if name == "initial_condition" else ".nodeset"
                add(f"{card} {' '.join(f'v({key})={text_of(value)}' for key, value in told.items())}")
            case "options":
                values = [f"{key}={text_of(value)}" for key, value in told.items()]
                add(" ".join((".options", *map(text_of, places), *values)))
            case _:
                raise CannotFollow


def _begins(statement: ast.stmt) -> ast.Call | None:
    """The call of the class above in an `__init__`."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="__init__")) as call):
            return call
    return None


def _scale(unit: str) -> float:
    if unit in _SCALES:
        return _SCALES[unit]
    found = _UNIT.match(unit)
    if found is None:
        raise CannotFollow
    return 1.0 if found["only"] else _PREFIXES[found["prefix"]]


def _computed(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(left, str) and isinstance(op, ast.Mod):
        return _percent(left, right)
    if isinstance(left, (str, list)) or isinstance(right, (str, list)):
        if (
            not isinstance(op, ast.Add)
            or type(left) is not type(right)
            or len(left) + len(right) > _MOST_TEXT
        ):
            raise CannotFollow
        return left + right
    first, second = number_of(left), number_of(right)
    if isinstance(op, ast.Pow) and (abs(second) > 100 or abs(first) > 1e30):
        raise CannotFollow
    function = _OPERATORS.get(type(op))
    if function is None:
        raise CannotFollow
    found = function(first, second)
    if isinstance(found, complex):
        raise CannotFollow
    return found if abs(found) < _MOST_WHOLE else float(found)


def _counted(*ends: Any) -> range:
    found = range(*(int(number_of(each)) for each in ends))
    if len(found) > MOST_CARDS:
        raise CannotFollow
    return found


def _percent(form: str, values: Any) -> str:
    given = list(values) if isinstance(values, list) else [values]
    if re.search(r"%(?![sduifgeG%.])|\d{3}", form):
        raise CannotFollow
    return form % tuple(given)


def _filled(form: str, places: Sequence[Any], named: Mapping[str, Any]) -> str:
    """``"node{}".format(3)``: numbers and names only, no attributes, no widths that fill memory."""
    if re.search(r"\{[^{}]*[.\[][^{}:]*\}|:[^{}]*\d{3}", form):
        raise CannotFollow
    texts = [each if isinstance(each, (int, float)) else text_of(each) for each in places]
    return form.format(*texts, **{key: text_of(value) for key, value in named.items()})


def _raw(value: Any) -> list[str]:
    if not isinstance(value, str) or len(value) > _MOST_TEXT:
        raise CannotFollow
    return [line.rstrip() for line in value.splitlines() if line.strip()]
