"""Checks that every name means something: models, subcircuits, parameters, functions, sources, nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from domain.circuit.analyses import ANALYSIS_KINDS
from domain.circuit.dependencies import DependencyTree
from domain.circuit.elements import Element, canonical_node, is_value, looks_at_circuit
from domain.circuit.expression_checks import (
    Scope,
    check_bare_names,
    check_behaviour,
    check_expression,
    check_model_names,
    check_names,
    check_parameters,
    names_in,
    note_unbraced,
    scope_of,
)
from domain.circuit.findings import Findings, Severity
from domain.circuit.foreign_forms import foreign_device
from domain.circuit.hierarchy import (
    Block,
    Circuit,
    Definition,
    PlacedElement,
    parameters_of,
    rings_of,
    visible_parameters,
)
from domain.circuit.model_checks import MODEL_TYPES, check_model_use, undefined
from domain.circuit.numbers import joined_value
from domain.circuit.sound_lines import SoundLines
from domain.circuit.statements import Field, Statement
from domain.circuit.structure_checks import parted_message
from domain.circuit.topology import expression_nodes
from shared.late_patterns import late_pattern
from shared.message import Message, msg

_CODE_MODELS = frozenset({
    "adc_bridge", "aswitch", "bidi_bridge", "capacitoric", "climit", "cmeter", "core", "d_and", "d_buffer",
    "d_dff", "d_dlatch", "d_dt", "d_fdiv", "d_genlut", "d_inverter", "d_jkff", "d_lut", "d_nand", "d_nor",
    "d_open_c", "d_open_e", "d_or", "d_osc", "d_pulldown", "d_pullup", "d_pwm", "d_ram", "d_source", "d_srff",
    "d_srlatch", "d_state", "d_tff", "d_to_real", "d_tristate", "d_xnor", "d_xor", "dac_bridge", "delay",
    "divide", "filesource", "gain", "hyst", "ilimit", "inductoric", "int", "lcouple", "limit", "lmeter",
    "memristor", "mult", "multi_input_pwl", "oneshot", "potentiometer", "pswitch", "pwl", "pwlts",
    "real_delay", "real_gain", "real_to_v", "s_xfer", "sidiode", "sine", "slew", "spice2poly", "square",
    "summer", "table2d", "table3d", "triangle", "zener",
})  # fmt: skip
"""XSPICE's models in ngspice 39, as its `devhelp` lists them; more come with `codemodel`."""
_DIODE_PARAMETERS = frozenset(("area", "dtemp", "ic", "l", "lm", "lp", "m", "pj", "temp", "w", "wm", "wp"))


def check_references(
    circuit: Circuit, tree: DependencyTree, findings: Findings, *, fragment: bool, complete: bool
) -> None:
    """Duplicates and undefined names in every block; analysis cards; unused subcircuits."""
    visible = visible_parameters(circuit.top)
    rings = rings_of(visible)
    kept = _kept_models(visible)
    if not fragment:
        _check_verilog_a(circuit, tree, findings)
        _check_code_models(circuit, tree, findings)
    for block in visible:
        _check_duplicates(block, findings, fragment=fragment)
        severity: Severity = "error" if complete and block.is_used and not fragment else "info"
        scope = scope_of(block, visible[block], severity)
        check_parameters(scope, findings)
        sound = _SOUND.among((scope.parameters, scope.functions, findings.functions))
        for placed in block.elements:
            key = _alone(placed.element, block)
            if key is not None and key in sound:
                continue
            count = len(findings.all)
            _check_element(placed, scope, findings)
            if key is not None and len(findings.all) == count:
                sound.add(key)
        _check_paths(block, severity, findings)
        _check_models(scope, findings)
        _check_areas(block, kept, severity, findings)
        if (
            not block.is_used
            and not fragment
            and block.file == tree.root.path
            and block.subcircuit is not None
        ):
            message = msg("Subcircuit {name} is not used.", name=block.name)
            findings.add("info", "unused-subcircuit", message, file=block.file, at=block.subcircuit.statement)
        _check_recursion(block, rings, findings)
    if not fragment:
        _check_analysis_sources(circuit, findings, "error" if complete else "info")
    _check_expression_nodes(circuit, findings, "error" if complete and not fragment else "info")


def _check_verilog_a(circuit: Circuit, tree: DependencyTree, findings: Findings) -> None:
    """N lines need a library that OpenVAF made and `pre_osdi` loads."""
    if _loads(tree, "osdi"):
        return
    for block in circuit.top.walk():
        for placed in block.elements:
            model = placed.element.model
            is_known = model is not None and block.find_model(model.text) is not None
            if placed.element.letter == "n" and block.is_used and is_known:
                message = msg("{name} is a Verilog-A device. Compile its model with OpenVAF and load it: "
                              ".control, pre_osdi model.osdi, .endc.", name=placed.element.name)  # fmt: skip
                findings.add("error", "osdi-missing", message, file=placed.file, at=placed.element.statement)
                return  # once is enough


def _loads(tree: DependencyTree, command: str) -> bool:
    """The circuit's own commands load models of that kind."""
    pattern = re.compile(rf"\s*(?:\*#\s*)?(?:pre_)?{command}\s", re.IGNORECASE)
    return any(pattern.match(p.statement.raw) for p in tree.expanded if p.statement.kind == "control")


def _check_code_models(circuit: Circuit, tree: DependencyTree, findings: Findings) -> None:
    """A lines need a code model that ngspice has, or that `codemodel` loads."""
    if _loads(tree, "codemodel"):
        return
    for block in circuit.top.walk():
        used = {p.element.model.key for p in block.elements if p.element.letter == "a" and p.element.model}
        for card in block.cards if block.is_used else ():
            words = card.statement.head(3) if card.statement.keyword == "model" else ()
            if len(words) == 3 and words[1].key in used and words[2].key not in _CODE_MODELS:
                message = msg("The installed ngspice has no code model {type}.", type=words[2].text)
                findings.add("error", "model-type", message, file=card.file, at=words[2])


# ---- duplicates ----------------------------------------------------------------------------------


def _exclude_each_other(first: Statement, second: Statement, *, fragment: bool) -> bool:
    """They stand in different arms of one `.if`; in a library by itself, in different sections of it."""
    if fragment and first.section != second.section and first.section and second.section:
        return True
    arms = {branch.if_line: branch.arm for branch in first.branches}
    return any(arms.get(branch.if_line, branch.arm) != branch.arm for branch in second.branches)


def _check_duplicates(block: Block, findings: Findings, *, fragment: bool) -> None:
    seen: dict[str, list[PlacedElement]] = {}
    for placed in block.elements:
        element = placed.element
        earlier = seen.setdefault(element.key, [])
        clash = next(
            (
                each
                for each in earlier
                if not _exclude_each_other(each.element.statement, element.statement, fragment=fragment)
            ),
            None,
        )
        if clash is not None:
            message = msg(
                "{name} already exists on line {line}. Give this element another name.",
                name=element.name,
                line=clash.element.line,
            )
            findings.add("error", "duplicate-element", message, file=placed.file, at=element.statement)
        earlier.append(placed)
    for repeated in block.repeated_models:
        first = block.models[repeated.name.lower()].statement
        message = msg("Model {name} is already defined on line {line}; ngspice uses that definition.",
                      name=repeated.name, line=first.line)  # fmt: skip
        _note_repeated(repeated, first, "duplicate-model", message, findings, fragment=fragment)
    for repeated in block.repeated_blocks:
        subcircuit = block.blocks[repeated.name.lower()].subcircuit
        assert subcircuit is not None
        message = msg("Subcircuit {name} is already defined on line {line}; ngspice uses that definition.",
                      name=repeated.name, line=subcircuit.line)  # fmt: skip
        _note_repeated(
            repeated, subcircuit.statement, "duplicate-subcircuit", message, findings, fragment=fragment
        )


def _note_repeated(
    repeated: Definition,
    first: Statement,
    code: str,
    message: Message,
    findings: Findings,
    *,
    fragment: bool,
) -> None:
    is_same_text = repeated.statement.raw.split() == first.raw.split() and code == "duplicate-model"
    if repeated.statement is first or _exclude_each_other(first, repeated.statement, fragment=fragment):
        return
    severity: Severity = "info" if is_same_text else "warning"
    findings.add(severity, code, message, file=repeated.file, at=repeated.statement)


# ---- elements ------------------------------------------------------------------------------------


_SOUND = SoundLines()


def _alone(element: Element, block: Block) -> tuple[str, str] | None:
    """An element's line and that of its model, where whether it is sound depends on these and the names of
    parameters and functions alone; None where it may depend on more: other elements, the arguments of an
    expression or a table, the bins of a model."""
    raw = element.statement.raw
    if element.letter not in "rclviqdjm" or element.missing is not None or element.expressions:
        return None
    if "(" in raw or "," in raw:
        return None
    if element.model is None:
        return raw, ""
    model = block.find_model(element.model.text)
    return None if model is None or model.name.lower() != element.model.key else (raw, model.statement.raw)


def _check_element(placed: PlacedElement, scope: Scope, findings: Findings) -> None:
    element = placed.element
    if (message := foreign_device(element)) is not None and not _is_line(element, scope):
        findings.add(scope.severity, "foreign-form", message, file=placed.file, at=element.statement)
        return
    state = next((node for node in element.nodes if node.key == "off"), None)
    if element.letter == "q" and state is not None:
        message = msg("ngspice reads “off” on the line of {name} as its state, so no node of a bipolar "
                      "transistor can be called that. Rename the node.", name=element.name)  # fmt: skip
        findings.add(scope.severity, "too-few-nodes", message, file=placed.file, at=state)
        return
    if element.missing is not None:
        _note_missing(placed, scope, findings)
        if element.missing != "value":
            return
    if element.letter == "x":
        _check_instance(placed, scope, findings)
    elif element.model is not None:
        check_model_use(placed, scope, findings)
    _check_element_values(placed, scope, findings)
    _check_controls(placed, scope, findings)


def _is_line(element: Element, scope: Scope) -> bool:
    """One of its words names a model of a lossy line."""
    models = (scope.block.find_model(word.text) for word in element.statement.words[1:])
    return any(model is not None and model.type in MODEL_TYPES["y"] for model in models)


def _note_missing(placed: PlacedElement, scope: Scope, findings: Findings) -> None:
    element = placed.element
    code, message = {
        "nodes": ("too-few-nodes", msg("{name} has too few nodes.", name=element.name)),
        "value": ("missing-value", msg("{name} has no value.", name=element.name)),
        "model": ("missing-model", msg("{name} has no model.", name=element.name)),
    }[element.missing or "nodes"]
    if name := re.match(r"\$\w*(?=\s+\S)", element.statement.comment):  # a node of Xyce's
        message = msg("In ngspice “{word}” begins a comment, so {name} lacks what follows. Rename it.",
                      word=name[0], name=element.name)  # fmt: skip
    # ngspice takes R, C and L without a value for 1 mOhm, 0 F and 0 H.
    is_refused = scope.block.is_used and not (code == "missing-value" and element.letter in "rcl")
    findings.add("error" if is_refused else "warning", code, message, file=placed.file, at=element.statement)


def _check_instance(placed: PlacedElement, scope: Scope, findings: Findings) -> None:
    element = placed.element
    assert element.model is not None
    target = scope.block.find_block(element.model.text)
    if target is None:
        known = (name for block in scope.block.lineage for name in block.blocks)
        near = findings.near(element.model.key, known)
        meant = None if near is None else scope.block.find_block(near)
        message = undefined(element.model.text, near if meant is None else meant.name, is_model=False)
        findings.add(scope.severity, "undefined-subcircuit", message, file=placed.file, at=element.model)
        return
    if len(element.nodes) != len(target.ports):
        message = msg("{name} has {given} {given:node|nodes}, but subcircuit {subckt} has {wanted}: {ports}.",
                      name=element.name, given=len(element.nodes), subckt=target.name,
                      wanted=len(target.ports), ports=" ".join(target.ports) or "-")  # fmt: skip
        findings.add(scope.severity, "wrong-node-count", message, file=placed.file, at=element.statement)
    formal = parameters_of(target)
    for name, value in element.params.items():
        if name not in formal and name != "m":
            message = msg("Subcircuit {subckt} has no parameter {name}.", subckt=target.name, name=name)
            # With no parameter at all ngspice stops; with some it ignores the foreign one.
            severity: Severity = "warning" if formal else scope.severity
            findings.add(severity, "unknown-subcircuit-parameter", message, file=placed.file, at=value)


def _check_element_values(placed: PlacedElement, scope: Scope, findings: Findings) -> None:
    element = placed.element
    target = scope.block.find_block(element.model.text) if element.letter == "x" and element.model else None
    if target is not None:  # values of an X line may use the parameters it sets
        scope = replace(scope, parameters=scope.parameters | parameters_of(target))
    value = element.value
    candidates = [*([value] if value is not None else []), *element.numbers, *element.params.values()]
    for candidate in [] if element.expressions and element.letter in "egb" else candidates:
        if not candidate.text.startswith(("{", "'")):
            continue
        if element.letter in "begrcl" and looks_at_circuit(candidate.text):
            check_behaviour(candidate, placed, scope, findings)
        else:
            check_expression(candidate, placed.file, scope, findings)
    for expression in element.expressions:
        check_behaviour(expression, placed, scope, findings)
    if (
        value is not None
        and not is_value(value.text)
        and element.letter in "rclvi"
        and not element.expressions
    ):
        _check_bare_value(placed, value, scope, findings)
    if element.letter in "vi":
        _check_source_words(placed, scope, findings)
    _check_bare_words(placed, scope, findings)


def _check_bare_words(placed: PlacedElement, scope: Scope, findings: Findings) -> None:
    """Words that must be parameters: values of X parameters, leftovers on R, C and L lines."""
    element = placed.element
    if element.letter == "x":
        for candidate in element.params.values():
            if re.fullmatch(r"[A-Za-z_]\w*", candidate.text):
                check_names([candidate.key], candidate, placed.file, scope, findings)
    else:
        check_bare_names(placed, scope, findings)
    if element.letter == "k":
        _check_coupling(placed, scope, findings)
    elif element.letter in "rcl":
        if "," in (element.params["tc"].text if "tc" in element.params else "") and not _is_rewritten(scope):
            message = msg(
                "{name}: ngspice does not take two numbers after tc=. Write tc1= and tc2=.", name=element.name
            )
            findings.add(scope.severity, "bad-value", message, file=placed.file, at=element.params["tc"])
        unknown = [word for word in element.words if word not in scope.parameters]
        if unknown and element.value is not None:
            after = (field for field in element.statement.fields if field.start >= element.value.end)
            unknown = unknown[_tells_parted(element.value, next(after, None), placed, scope, findings) :]
        for word in unknown:
            message = msg(
                "{name}: “{word}” is neither a model nor a parameter.", name=element.name, word=word
            )
            findings.add(scope.severity, "undefined-model", message, file=placed.file, at=element.statement)


def _tells_parted(
    number: Field, word: Field | None, placed: PlacedElement, scope: Scope, findings: Findings
) -> bool:
    """Whether a value and its scale or unit stand apart, ``4.7 k``: told with how it is written."""
    near = None if word is None else joined_value(number.text, word.text)
    if word is None or near is None:
        return False
    message = parted_message(placed.element.name, number.text, word.text, near)
    findings.add(scope.severity, "parted-value", message, file=placed.file, at=number)
    return True


def _is_rewritten(scope: Scope) -> bool:
    """In a subcircuit with models of its own ngspice 39 writes a line anew, without the comma in it."""
    block = scope.block
    return block.subcircuit is not None and bool(block.models or _has_table(block))


def _has_table(block: Block) -> bool:
    """E and G with a TABLE, which ngspice turns into an XSPICE element with a model."""
    return any(
        placed.element.letter in "eg" and "table" in placed.element.statement.raw.lower()
        for placed in block.elements
    )


def _kept_models(blocks: Iterable[Block]) -> frozenset[str]:
    """Models that ngspice 39 sees in use by the last word before the parameters of a D line."""
    return frozenset(
        placed.element.model.key
        for block in blocks
        if block.is_used
        for placed in block.elements
        if placed.element.letter == "d" and placed.element.model is not None and not placed.element.numbers
    )


def _check_areas(block: Block, kept: frozenset[str], severity: Severity, findings: Findings) -> None:
    """A bare number after a diode's model, which other SPICEs take for its area.

    So would ngspice 39, but it takes the number for the model's name when it leaves out what is not used, and
    misses the model then, unless another diode names it.
    """
    for placed in block.elements:
        element = placed.element
        if element.letter != "d" or not element.numbers:
            continue
        number: Field | None = element.numbers[0]
        if element.model is not None and element.model.key in kept:
            words = pairwise(element.statement.words)
            named = {word for one, word in words if one == element.model or one.key in _DIODE_PARAMETERS}
            number = next((each for each in element.numbers if each not in named), None)
        if number is None:
            continue
        message = msg("{name}: ngspice does not accept a bare number after a diode's model. Write "
                      "area={value}.", name=element.name, value=number.text)  # fmt: skip
        findings.add(severity, "bad-value", message, file=placed.file, at=number)


def _check_coupling(placed: PlacedElement, scope: Scope, findings: Findings) -> None:
    """More than two inductors, which other SPICEs take on a K line."""
    element = placed.element
    if len(element.controls) > 2:
        message = msg(
            "{name}: a K line couples two inductors. Write one line for each pair.", name=element.name
        )
        findings.add(scope.severity, "bad-value", message, file=placed.file, at=element.controls[2])


def _check_bare_value(placed: PlacedElement, value: Field, scope: Scope, findings: Findings) -> None:
    """A value without braces: a parameter's name, else probably a model that is missing."""
    element = placed.element
    names = names_in(value.text)
    if names and names <= scope.parameters and (value.key in names or value in element.params.values()):
        return
    if names and names <= scope.parameters:
        note_unbraced(value, placed.file, scope, findings)
        return
    if value in element.params.values():  # R=text: ngspice takes it for an expression
        check_expression(value, placed.file, scope, findings)
        return
    if re.match(r"[A-Za-z_]", value.text) and (element.params or element.numbers):
        near = findings.near(value.key, scope.block.models)
        message = undefined(value.text, near, is_model=True)
        findings.add(scope.severity, "undefined-model", message, file=placed.file, at=value)
        return
    message = msg("“{text}” is neither a number nor a parameter nor a model.", text=value.text)
    findings.add(scope.severity, "bad-value", message, file=placed.file, at=value)


_SOURCE_WORDS = frozenset({
    "dc", "ac", "sin", "sine", "pulse", "exp", "pwl", "sffm", "am", "trnoise", "trrandom", "external", "port",
    "portnum", "z0", "pwr", "freq", "phase", "distof1", "distof2", "r", "td", "tr", "file",
})  # fmt: skip


_WAVEFORMS = frozenset({"sin", "sine", "pulse", "exp", "pwl", "sffm", "am", "trnoise", "trrandom"})


def _check_source_words(placed: PlacedElement, scope: Scope, findings: Findings) -> None:
    previous: Field | None = None
    for field in placed.element.statement.fields[3:]:
        before, previous = previous, field
        if field.is_punctuation or is_value(field.text) or field.text[:1] in "\"'{-+":
            continue
        names = names_in(field.text)
        is_known = bool(names) and names <= scope.parameters
        if is_known and (field.key not in names or (before is not None and before.key == "ac")):
            note_unbraced(field, placed.file, scope, findings)
        if field.key in _SOURCE_WORDS or is_known:
            continue
        if before is not None and _tells_parted(before, field, placed, scope, findings):
            continue
        message = (
            msg("{word} is a placeholder: this file is a template that another program fills in.",
                word=field.text)
            if re.fullmatch(r"\$[A-Za-z_]\w*", field.text)
            else msg("* begins a comment in the first column only. Put $ or ; before this one.")
            if field.text.startswith("*")
            else _unknown_word(placed.element, field, findings)
        )  # fmt: skip
        findings.add(scope.severity, "bad-value", message, file=placed.file, at=field)
        if field.text.startswith("*"):  # what stands behind it is the comment
            return


def _unknown_word(element: Element, field: Field, findings: Findings) -> Message:
    """Of a source: with the waveform that is probably meant, in the letter case it is written in."""
    told = {"name": element.name, "word": field.text}
    near = findings.near(field.key, _WAVEFORMS, cutoff=0.75)
    if near is None:
        return msg("{name}: ngspice knows no waveform or keyword “{word}”.", **told)
    near = near.upper() if field.text.isupper() else near
    return msg(
        "{name}: ngspice knows no waveform or keyword “{word}”. Did you mean {near}?", **told, near=near
    )


def _check_controls(placed: PlacedElement, scope: Scope, findings: Findings) -> None:
    """F, H, W name voltage sources, K names inductors, of the same block."""
    element = placed.element
    wanted = "l" if element.letter == "k" else "vehb" if element.letter in "fhw" else ""
    if not wanted:
        return
    for control in element.controls:
        target = scope.elements.get(control.key)
        is_fit = target is not None and target.letter in wanted and target.output != "current"
        if is_fit or "." in control.key:
            continue
        who = {"name": element.name, "target": control.text}
        message = (
            msg("{name} refers to inductor {target}, which does not exist in this scope.", **who)
            if element.letter == "k"
            else msg("{name} refers to voltage source {target}, which does not exist in this scope.", **who)
        )
        findings.add(scope.severity, "undefined-source", message, file=placed.file, at=control)


_IN_BRACES = late_pattern(r"\{[^{}]*\}|'[^']*'")


def _check_models(scope: Scope, findings: Findings) -> None:
    """`.model` cards: a type, and known parameters in their braces."""
    for placed in scope.block.cards:
        if placed.statement.keyword != "model":
            continue
        card = placed.statement
        if len(card.head(3)) < 3:
            message = msg("The .model card needs a name and a type.")
            findings.add(scope.severity, "model-type", message, file=placed.file, at=placed.statement)
            continue
        for match in _IN_BRACES.finditer(card.raw):
            check_expression(card.field(*match.span()), placed.file, scope, findings)
        check_model_names(placed, scope, findings)


def _check_recursion(block: Block, rings: Mapping[Block, int], findings: Findings) -> None:
    """An X element inside a subcircuit that leads back to it."""
    if block.subcircuit is None:
        return
    for placed in block.elements:
        model = placed.element.model
        if placed.element.letter != "x" or model is None:
            continue
        target = block.find_block(model.text)
        if target is not None and (target is block or rings[target] == rings[block]):
            message = msg("Subcircuit {name} contains itself.", name=block.name)
            findings.add(
                "error", "recursive-subcircuit", message, file=placed.file, at=placed.element.statement
            )


# ---- analyses and nodes --------------------------------------------------------------------------


def _check_analysis_sources(circuit: Circuit, findings: Findings, severity: Severity) -> None:
    """The sources `.dc`, `.noise` and `.tf` name."""
    names = {placed.element.key for placed in circuit.top.elements}
    scope = scope_of(circuit.top, parameters_of(circuit.top), severity)
    for placed in circuit.top.cards:
        card = placed.statement
        if card.keyword not in ANALYSIS_KINDS:
            continue
        for word in card.words[1:]:
            if word.text.startswith(("{", "'")):
                check_expression(word, placed.file, scope, findings)
        for source in _sources_of(card):
            if source.key not in names | {"temp"} and "." not in source.key and ":" not in source.key:
                message = (
                    msg("{name} is a parameter; ngspice sweeps sources only. Use .step param {name}.",
                        name=source.text)
                    if source.key in scope.parameters
                    else msg("The source {name} of this analysis does not exist.", name=source.text)
                )  # fmt: skip
                findings.add(severity, "undefined-source", message, file=placed.file, at=source)


def _sources_of(card: Statement) -> Iterator[Field]:
    words = card.words
    if card.keyword == "dc":
        yield from (words[i] for i in (1, 5) if i < len(words))
    elif card.keyword in {"noise", "tf"}:
        closing = next((i for i, f in enumerate(card.fields) if f.text == ")"), None)
        if closing is not None and closing + 1 < len(card.fields):
            yield card.fields[closing + 1]


def _check_paths(block: Block, severity: Severity, findings: Findings) -> None:
    """Nodes named by an instance and one of its ports: ngspice calls inner nodes so, but no ports."""
    instances = {p.element.key: p.element for p in block.elements if p.element.letter == "x"}
    for placed in block.elements if instances else ():
        for node in (*placed.element.nodes, *placed.element.control_nodes):
            name, _, port = node.key.partition(".")
            instance = instances.get(name)
            target = block.find_block(instance.model.text) if instance and instance.model else None
            if instance is None or target is None or port not in target.ports:
                continue
            outer = dict(zip(target.ports, (each.text for each in instance.nodes), strict=False)).get(
                port, ""
            )
            message = msg("{node} names a port of {instance}, which ngspice does not follow. Write {outer}.",
                          node=node.text, instance=instance.name, outer=outer)  # fmt: skip
            findings.add(severity, "foreign-form", message, file=placed.file, at=node)


def _check_expression_nodes(circuit: Circuit, findings: Findings, severity: Severity) -> None:
    """Nodes inside behavioural expressions that nothing is connected to."""
    for block in circuit.top.walk():
        known = {
            canonical_node(n.text)
            for p in block.elements
            for n in (*p.element.nodes, *p.element.control_nodes)
        }
        known |= circuit.global_nodes | set(block.ports)
        for placed in block.elements:
            for node in expression_nodes(placed.element):
                if node in known or "." in node or "{" in node:
                    continue
                message = msg("The expression of {name} refers to node {node}, to which nothing is "
                              "connected.",
                              name=placed.element.name, node=node)  # fmt: skip
                is_loud = block.is_used and severity == "error"
                findings.add("error" if is_loud else "info", "undefined-node", message, file=placed.file,
                             at=placed.element.expressions[0])  # fmt: skip
