"""A change of a design in words that names another circuit: "use an LDO instead", "make it passive".

It is none of the design there is, but what was asked of that one may be asked of the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from domain.design.catalogue import FAMILIES, as_read, named_in, understand
from domain.design.designer import DesignIntent
from domain.design.engine.declaration import DERIVED, STATED, Quantity, Request
from domain.design.engine.reading import said_of
from shared.errors import CircuitError
from shared.message import Message

_ONE_SIDED = frozenset(("first_order", "sallen_key", "multiple_feedback", "lc_ladder"))
"""Filters that let either low or high frequencies through."""
_INTO = re.compile(
    r"(?<![a-z])(?:make|turn|change|convert|do|build|have|want|switch|use|replace|swap|go)(?![a-z])|[改换变做用][成为用]?",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^\W*(?:so |and |but )?(?:what|why|how|which|where|who|is|are|does|did)(?![a-z])"
    r"|什么|为什么|怎么|多少|哪",
    re.IGNORECASE,
)
_NOT_WANTED = re.compile(
    r"(?:instead of|rather than)[^,.;]*|[,.]?\s*(?:instead(?! of)|please)(?![a-z])", re.IGNORECASE
)
_KINDS: Mapping[str, str] = {"lowpass": "low-pass", "highpass": "high-pass"}


@dataclass(frozen=True, slots=True)
class AnotherCircuit:
    """What a sentence wants the circuit to become."""

    one: Message
    """The kind, in the singular."""
    sentence: str
    """Asks for it, with what was asked of the design there is."""
    lacks: CircuitError | None = None
    """Why it cannot be designed so."""


def other_circuit_in(intent: DesignIntent, text: str) -> Message | None:
    """The kind of circuit that a sentence names to become of this one: "make it a band-pass"."""
    if _INTO.search(text) is None:
        return None
    named = named_in(_NOT_WANTED.sub(" ", text))
    if intent.family in named or (intent.family in _ONE_SIDED and named & _ONE_SIDED):
        return None
    return next((FAMILIES[key].family.one for key in FAMILIES if key in named), None)


def another_circuit(intent: DesignIntent, text: str) -> AnotherCircuit | None:
    """The other circuit that a sentence means which changes nothing of this one; None where it means none."""
    if intent.family not in FAMILIES or _ASKS.search(text) or _INTO.search(text) is None:
        return None
    wanted = _NOT_WANTED.sub(" ", text).strip()
    named = [key for key in FAMILIES if key != intent.family and key in named_in(wanted)]
    refused: AnotherCircuit | None = None
    for key in named or _described(intent, wanted):
        family = FAMILIES[key].family
        sentence = ", ".join((str(family.one), *_asked(intent, key, wanted)))
        try:
            if understand(sentence).family == key:
                return AnotherCircuit(family.one, sentence)
        except CircuitError as error:
            refused = refused or AnotherCircuit(family.one, sentence, error)
    return refused


def _described(intent: DesignIntent, wanted: str) -> Iterator[str]:
    """The family that the words describe beside the figures of this circuit, and that these alone do not."""
    own = FAMILIES[intent.family].family
    figures = ", ".join(_asked(intent, intent.family, ""))
    for noun in ("", f" {str(own.one).rsplit(maxsplit=1)[-1]}"):
        found = _family_of(f"{wanted}{noun}, {figures}")
        if found not in ("", intent.family, _family_of(f"{noun}, {figures}")):
            yield found
            return


def _family_of(text: str) -> str:
    try:
        return understand(text).family
    except CircuitError:
        return ""


def _asked(intent: DesignIntent, key: str, wanted: str) -> Iterator[str]:
    """What a sentence says of the other circuit, and what was said of this one and is known there."""
    request, other = Request(intent.parameters), FAMILIES[key].family
    said = _said(key, wanted)
    known = {str(each.label): request[each.name] for each in _stated(intent)}
    kind = _KINDS.get(str(request.get("kind")))
    if kind is not None and "kind" in _said(key, f"{kind} 1 kHz"):
        yield kind
    for quantity in other.quantities:
        label = str(quantity.label)
        value = said.get(quantity.name, known.get(label))
        if value is None:
            continue
        sign = "±" if quantity.name == "supply_v" and request.get("rails") == "dual" else ""
        yield f"{label.partition(' (')[0]} {sign}{quantity.text(value)}"


def _said(key: str, text: str) -> Mapping[str, Any]:
    try:
        found = said_of(FAMILIES[key].family, as_read(text)[0])
    except CircuitError:
        return {}
    return {name: value for name, value in found.values.items() if name in found.stated or name == "kind"}


def _stated(intent: DesignIntent) -> Iterator[Quantity]:
    """What was said of a design, and of what follows from the rest nothing."""
    request = Request(intent.parameters)
    for quantity in FAMILIES[intent.family].family.quantities:
        is_said = quantity.name in request.get(STATED, ()) and quantity.name not in request.get(DERIVED, ())
        if is_said and request.get(quantity.name) is not None:
            yield quantity
