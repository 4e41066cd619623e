"""Checks of the model an element uses: it exists, fits, has a level and a bin that ngspice knows."""

from __future__ import annotations

import re

from domain.circuit.cards import Model
from domain.circuit.elements import Element
from domain.circuit.expression_checks import Scope
from domain.circuit.findings import Findings, Severity
from domain.circuit.hierarchy import PlacedElement
from domain.circuit.numbers import read_number
from domain.circuit.placed import Placed
from shared.late_patterns import late_pattern
from shared.message import Message, msg

MODEL_TYPES: dict[str, frozenset[str]] = {
    "d": frozenset({"d", "numd"}),
    "q": frozenset({"npn", "pnp", "lpnp", "nbjt", "pbjt"}),
    "j": frozenset({"njf", "pjf"}),
    "m": frozenset({"nmos", "pmos", "vdmos", "vdmosn", "vdmosp", "nsoi", "psoi", "numos"}),
    "z": frozenset({"nmf", "pmf", "nhfet", "phfet"}),
    "s": frozenset({"sw", "vswitch"}),
    "w": frozenset({"csw", "iswitch"}),
    "r": frozenset({"r", "res"}),
    "c": frozenset({"c", "cap"}),
    "l": frozenset({"l", "ind"}),
    "u": frozenset({"urc"}),
    "o": frozenset({"ltra"}),
    "y": frozenset({"txl"}),
    "p": frozenset({"cpl"}),
}
"""Model types a device letter takes; letters not listed take any."""
_LEVEL = late_pattern(r"\blevel\s*=\s*([^\s,()]+)", re.IGNORECASE)
_LEVELS: dict[str, frozenset[int]] = {
    **dict.fromkeys(("npn", "pnp"), frozenset({1, 2, 4, 8, 9})),
    **dict.fromkeys(("njf", "pjf"), frozenset({1, 2})),
    **dict.fromkeys(("nmf", "pmf"), frozenset(range(1, 7))),
    **dict.fromkeys(("nmos", "pmos"),
                    frozenset({1, 2, 3, 4, 5, 6, 8, 9, 10, 14, 49, 54, 55, 56, 57, 58, 60, 68, 73})),
}  # fmt: skip
"""What ngspice 39 says it supports ("Only MOS device levels ... are supported in this binary")."""
_LEVEL_9 = late_pattern(r"\blevel\s*=\s*9(?:\.0*)?(?![\w.])", re.IGNORECASE)
_OF_BSIM3 = late_pattern(r"\b(?:vth0|nch|k1|dvt0)\s*=", re.IGNORECASE)
_HIGHEST_LEVEL = 99
"""Of a higher one ngspice says "Setting Level to 1", and goes on."""
_BIN_LIMIT = late_pattern(r"\b([lw](?:min|max))\s*=\s*([^\s,()]+)")
_WITHOUT_BULK = 3
_ANY_LEVEL = 10**9
"""What is said of a number of any length."""
_BIN_MARGIN = 1e-6
"""Rounding at the edges of a bin; ngspice allows as little."""


def undefined(name: str, near: str | None, *, is_model: bool) -> Message:
    if is_model and near:
        return msg("Model {name} is not defined. Did you mean {near}?", name=name, near=near)
    if is_model:
        return msg("Model {name} is not defined. Add its .model card or include its library.", name=name)
    if near:
        return msg("Subcircuit {name} is not defined. Did you mean {near}?", name=name, near=near)
    return msg("Subcircuit {name} is not defined. Add it or include its library.", name=name)


def check_model_use(placed: PlacedElement, scope: Scope, findings: Findings) -> None:
    element = placed.element
    assert element.model is not None
    model = scope.block.find_model(element.model.text)
    if model is None and scope.block.find_block(element.model.text) is not None:
        message = msg("{model} is a subcircuit: the name of {name} must begin with X.",
                      model=element.model.text, name=element.name)  # fmt: skip
        findings.add(scope.severity, "undefined-model", message, file=placed.file, at=element.statement)
    elif model is None:
        known = (name for block in scope.block.lineage for name in block.models)
        near = findings.near(element.model.key, known)
        meant = None if near is None else scope.block.find_model(near)
        message = undefined(element.model.text, near if meant is None else meant.name, is_model=True)
        findings.add(scope.severity, "undefined-model", message, file=placed.file, at=element.model)
    elif model.type.startswith("ako:"):
        if not findings.functions:  # ngspice's modes for PSpice and LTspice know it
            message = msg("Model {name} is built on another one (AKO), which ngspice reads in PSpice "
                          "circuits only. Read this circuit as PSpice.", name=model.name)  # fmt: skip
            owner = _owner_of(model, scope)
            findings.add(scope.severity, "model-type", message, file=owner.file if owner else placed.file,
                         at=model.statement if owner else element.statement)  # fmt: skip
    elif model.type and model.type not in MODEL_TYPES.get(element.letter, frozenset({model.type})):
        message = msg("Model {name} is of type {type}, which does not fit {element}.",
                      name=model.name, type=model.type, element=element.name)  # fmt: skip
        findings.add(scope.severity, "model-type", message, file=placed.file, at=element.model)
    elif element.letter == "m" and model.type in ("nmos", "pmos") and len(element.nodes) == _WITHOUT_BULK:
        message = msg("{name} has no bulk: {model} is a MOSFET with drain, gate, source and bulk. Add the "
                      "fourth node, for a transistor of three leads that of the source, {source}.",
                      name=element.name, model=model.name, source=element.nodes[2].text)  # fmt: skip
        findings.add(scope.severity, "too-few-nodes", message, file=placed.file, at=element.model)
    elif element.letter == "m" and _is_bsim3_of_xyce(model):
        message = msg(
            "Model {name} has level 9, which is BSIM3 in Xyce only. Write level=8.", name=model.name
        )
        owner = _owner_of(model, scope)
        findings.add("warning" if scope.severity == "error" else scope.severity, "model-level", message,
                     file=owner.file if owner else placed.file,
                     at=model.statement if owner else element.statement)  # fmt: skip
    elif (level := foreign_level(model)) is not None:
        message = msg("ngspice has no level {level} of model type {type}, which {element} uses. Use another "
                      "level, or compile a Verilog-A model with OpenVAF.",
                      level=level, type=model.type, element=element.name)  # fmt: skip
        owner = _owner_of(model, scope)
        severity: Severity = scope.severity
        if level > _HIGHEST_LEVEL:
            severity = "warning" if severity == "error" else severity
            message = msg("ngspice takes level 1 in place of level {level} of model type {type}, which "
                          "{element} uses.", level=level, type=model.type, element=element.name)  # fmt: skip
        findings.add(severity, "model-level", message, file=owner.file if owner else placed.file,
                     at=model.statement if owner else element.statement)  # fmt: skip
    elif model.name.lower() != element.model.key and (sizes := _outside_all_bins(element, scope)):
        message = msg("No bin of model {model} covers {sizes} of {name}. Change the size, or check its unit.",
                      model=element.model.text, sizes=sizes, name=element.name)  # fmt: skip
        findings.add(scope.severity, "no-bin", message, file=placed.file, at=element.statement)


def _owner_of(model: Model, scope: Scope) -> Placed | None:
    """The card of a model, with its file."""
    return next((c for b in scope.block.lineage for c in b.cards if c.statement is model.statement), None)


def foreign_level(model: Model) -> int | None:
    """The level a model asks for, where ngspice has none of it."""
    levels = _LEVELS.get(model.type)
    found = _LEVEL.search(model.statement.raw) if levels is not None else None
    number = read_number(found[1]) if found is not None else None
    if levels is None or number is None:
        return None
    level = int(min(max(number.value, -_ANY_LEVEL), _ANY_LEVEL))
    return None if level in levels else level


def _is_bsim3_of_xyce(model: Model) -> bool:
    """Level 9 with BSIM3's parameters: so Xyce counts; ngspice's level 9 is an older model."""
    return (
        _LEVEL_9.search(model.statement.raw) is not None and _OF_BSIM3.search(model.statement.raw) is not None
    )


def _outside_all_bins(element: Element, scope: Scope) -> str:
    """``L=1u, W=50u`` of a MOSFET no bin of its model takes; "" when one does, or when it is not known."""
    given = [read_number(element.params[key].text) if key in element.params else None for key in ("l", "w")]
    options = " ".join(
        card.statement.raw
        for block in scope.block.lineage
        for card in block.cards
        if card.statement.keyword == "options"
    )
    scaled = re.search(r"\bscale\s*=\s*([^\s,]+)", options, re.IGNORECASE)
    scale = read_number(scaled[1]) if scaled is not None else read_number("1")
    is_open = re.search(r"\bwnflag\b", options, re.IGNORECASE) is not None
    if None in given or scale is None or is_open or not {"nf", "wnflag"}.isdisjoint(element.params):
        return ""
    sizes = [number.value * scale.value for number in given if number is not None]
    for block in scope.block.lineage:
        for name, model in block.models.items():
            if not re.fullmatch(re.escape(element.model.key if element.model else "") + r"\.\d+", name):
                continue
            limits = dict(_BIN_LIMIT.findall(model.statement.raw.lower()))
            bounds = [
                (read_number(limits.get(f"{key}min", "")), read_number(limits.get(f"{key}max", "")))
                for key in ("l", "w")
            ]
            for size, (least, most) in zip(sizes, bounds, strict=True):
                if least is None or most is None:
                    return ""
                if not least.value * (1 - _BIN_MARGIN) <= size <= most.value * (1 + _BIN_MARGIN):
                    break
            else:
                return ""
    return f"L={element.params['l'].text}, W={element.params['w'].text}"
