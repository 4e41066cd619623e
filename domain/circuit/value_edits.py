"""Setting one value of a netlist: which bytes a name like ``R1``, ``m1.w`` or ``x1.r2`` stands for."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from domain.circuit.cards import Parameter, Subcircuit
from domain.circuit.elements import SHAPES, Element
from domain.circuit.numbers import parse_number, with_ascii_micro
from domain.circuit.statements import Field
from shared.errors import UserInputError
from shared.late_patterns import late_pattern
from shared.message import msg


class Named(Protocol):
    """What the names of a netlist stand for."""

    @property
    def path(self) -> Path | None:
        """Of its file."""

    @property
    def elements(self) -> tuple[Element, ...]:
        """All, those in subcircuits too."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All, those in subcircuits too."""

    @property
    def subcircuits(self) -> tuple[Subcircuit, ...]:
        """All, nested ones too."""


class UnknownName(UserInputError):
    """The netlist has nothing of this name."""


Edits = list[tuple[int, int, str]]
"""Byte ranges with the text that takes their place."""


def value_edits(netlist: Named, name: str, value: str) -> Edits:
    """The edits that give `name` the value. Raises UserInputError for one that has none."""
    return _ValueEditor(netlist).find(name, checked_value(value))


def parameter_edits(netlist: Named, name: str, value: str) -> Edits:
    """The edits that give the `.param` of this name the value, whatever else is called so.

    Raises UserInputError for a value that SPICE cannot read, KeyError for a name no such card defines.
    """
    defined = {parameter.name: parameter for parameter in netlist.parameters if not parameter.scope}
    return _replace(defined[name.lower()].value, checked_value(value))


_EXPRESSION = late_pattern(r"""\{[^{}'"\r\n;]+\}|'[^'"{}\r\n;]+'""")
"""One expression and nothing behind it that would become a card or a comment."""


def checked_value(text: str) -> str:
    """The value as it is written into a netlist. Raises UserInputError for what is none."""
    text = with_ascii_micro(text)
    stripped = text.strip()
    if _EXPRESSION.fullmatch(stripped):
        return text
    try:
        parse_number(stripped)
    except ValueError:
        raise UserInputError(
            msg("“{value}” is not a value SPICE can read.", value=text),
            advice=msg("Write a number such as 4.7k, 10Meg or 100n, or an expression in braces: {example}.",
                       example="{2*rload}"),
        ) from None  # fmt: skip
    return text


class _ValueEditor:
    """Finds the bytes a name's value stands in."""

    def __init__(self, netlist: Named) -> None:
        self._netlist = netlist
        self._top = {e.key: e for e in reversed(netlist.elements) if not e.scope}
        self._params = {p.name: p for p in netlist.parameters if not p.scope}  # the last one counts

    def find(self, name: str, value: str) -> Edits:
        key = name.lower()
        element, parameter = self._top.get(key), self._params.get(key)
        if element is not None and element.value is not None and parameter is not None:
            # `.param R1=1k` with `R1 a b {R1}`: both are meant, the parameter is where the number stands.
            is_same = element.value.text.strip("{}' ").lower() == key
            element = None if is_same else element
        if element is not None:
            return self._element_value(element, value)
        if parameter is not None:
            return _replace(parameter.value, value)
        if "." in key:
            return self._member(name, value)
        raise self._unknown(name)

    def _element_value(self, element: Element, value: str) -> Edits:
        if element.value is not None:
            return _replace(element.value, value)
        if element.letter in "vi" and len(element.nodes) == 2:
            at = element.nodes[1].spans[-1][1]
            return [(at, at, f" {'DC ' if element.words else ''}{value}")]
        usual = ", ".join(
            f"{element.name}.{p}" for p in [*element.params, *SHAPES[element.letter].parameters][:4]
        )
        raise UserInputError(
            msg("{name} has no single value that could be set.", name=element.name),
            advice=msg("Set one of its parameters, for example {examples}.", examples=usual)
            if usual
            else None,
            file=self._netlist.path,
            line=element.line,
        )

    def _member(self, name: str, value: str) -> Edits:  # noqa: PLR0911 - one a kind of member
        """``m1.w``, ``x1.gain``, or ``x1.r2`` inside a subcircuit."""
        owner_name, _, member = name.lower().partition(".")
        owner = self._top.get(owner_name)
        if owner is None:
            raise self._unknown(name)
        if member in owner.params:
            return _replace(owner.params[member], value)
        if (number := _number_of_shape(owner, member)) is not None:
            return _replace(number, value)
        if owner.letter in "vi" and member == "ac":
            return _ac_value(owner, value)
        if owner.letter != "x":
            if member not in SHAPES[owner.letter].parameters:
                raise self._unknown(name)
            return self._append(owner, member, value)
        subcircuit = self._subcircuit_of(owner)
        if subcircuit is None and member.isidentifier():  # defined in a file of its own: ngspice will tell
            return self._append(owner, member, value)
        if subcircuit is not None and member in self._formal_parameters(subcircuit):
            return self._append(owner, member, value)
        if subcircuit is not None:
            inside = [e for e in self._netlist.elements if e.scope == subcircuit.path and e.key == member]
            if inside and self._is_only_instance(owner):
                return self._element_value(inside[0], value)
            if inside:
                raise UserInputError(
                    msg("{name} is in subcircuit {subckt}, which is used more than once.",
                        name=name, subckt=subcircuit.name),
                    advice=msg("Give the subcircuit a parameter for it, and set that."),
                )  # fmt: skip
        raise self._unknown(name)

    def _formal_parameters(self, subcircuit: Subcircuit) -> set[str]:
        """What an X line may set: the parameters of `.subckt` and those of `.param` inside."""
        inside = {p.name for p in self._netlist.parameters if p.scope == subcircuit.path}
        return inside | subcircuit.params.keys()

    def _append(self, element: Element, member: str, value: str) -> Edits:
        end = element.statement.fields[-1].spans[-1][1]
        return [(end, end, f" {member}={value}")]

    def _subcircuit_of(self, instance: Element) -> Subcircuit | None:
        if instance.model is None:
            return None
        for subcircuit in self._netlist.subcircuits:
            if subcircuit.name.lower() == instance.model.key and not subcircuit.statement.scope:
                return subcircuit
        return None

    def _is_only_instance(self, instance: Element) -> bool:
        assert instance.model is not None
        target = instance.model.key
        return sum(e.letter == "x" and e.model is not None and e.model.key == target
                   for e in self._netlist.elements) == 1  # fmt: skip

    def _unknown(self, name: str) -> UserInputError:
        known: dict[str, str] = {e.key: e.name for e in self._top.values()}
        known |= {p.name: p.name for p in self._params.values()}
        for element in self._top.values():
            for member in [*element.params, *self._subcircuit_params(element)]:
                known[f"{element.key}.{member}"] = f"{element.name}.{member}"
        near = difflib.get_close_matches(name.lower(), known, n=5, cutoff=0.5) or sorted(known)[:8]
        return UnknownName(
            msg("The netlist has no element or parameter named {name}.", name=name),
            advice=msg("Similar names: {names}.", names=", ".join(known[n] for n in near)) if near else None,
            file=self._netlist.path,
        )

    def _subcircuit_params(self, element: Element) -> Sequence[str]:
        subcircuit = self._subcircuit_of(element) if element.letter == "x" else None
        return sorted(self._formal_parameters(subcircuit)) if subcircuit is not None else ()


_OF_SHAPES = {"sin": ("offset", "amplitude", "frequency"), "pulse": ("low", "high")}


def _number_of_shape(source: Element, member: str) -> Field | None:
    """The number of ``SIN(offset amplitude frequency)`` or ``PULSE(low high ...)`` that a name such as
    ``v1.amplitude`` stands for, if there is one.
    """
    fields = [each for each in source.statement.fields if each.text not in "(),"]
    for shape, members in _OF_SHAPES.items():
        at = next((place for place, each in enumerate(fields) if each.text.lower() == shape), None)
        if source.letter not in "vi" or at is None or member not in members:
            continue
        number = next(iter(fields[at + 1 + members.index(member) :]), None)
        return number if number in source.numbers else None
    return None


def _ac_value(source: Element, value: str) -> Edits:
    """The size of a source's AC value, given to it where it has none."""
    fields = source.statement.fields
    at = next((place for place, each in enumerate(fields) if each.text.lower() == "ac"), None)
    if at is None:
        end = fields[-1].spans[-1][1]
        return [(end, end, f" AC {value}")]
    size = next(iter(fields[at + 1 :]), None)
    if size is not None and size in source.numbers:
        return _replace(size, value)
    end = fields[at].spans[-1][1]
    return [(end, end, f" {value}")]


def _replace(target: Field, text: str) -> Edits:
    """Put `text` where the field is; what lies on further lines of a broken field is taken away."""
    first, *further = target.spans
    return [(*first, text), *((start, end, "") for start, end in further)]
