"""What is wrong with a netlist, found without running it.

`diagnose` never raises and never guesses loudly: an error is what ngspice 39 refuses or cannot solve, a
warning what it accepts but almost surely computes otherwise than meant, an info a hint. A right netlist
gets neither errors nor warnings. When the files or the block structure are broken, checks that would
only repeat that in other words are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from domain.circuit.dependencies import DependencyTree
from domain.circuit.findings import CODES, Diagnostic, Findings, Severity
from domain.circuit.hierarchy import Circuit, read_circuit
from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist
from domain.circuit.reference_checks import check_references
from domain.circuit.structure_checks import check_files, check_structure
from domain.circuit.value_checks import check_values
from domain.circuit.wiring_checks import check_lone_nodes, check_wiring
from shared.message import msg

__all__ = ["CODES", "Diagnostic", "Severity", "diagnose", "is_fragment"]


def is_fragment(netlist: Netlist) -> bool:
    """A file made to be included: by its suffix, or because only definitions stand in it."""
    if netlist.path is not None and netlist.path.suffix.lower() in LIBRARY_SUFFIXES:
        return True
    if (
        any(card.kind == "element" and not card.scope for card in netlist.statements)
        or netlist.analyses
        or netlist.has_control_block
    ):
        return False
    return bool(netlist.subcircuits or netlist.models or netlist.parameters or netlist.directives("func"))


def diagnose(
    netlist: Netlist, tree: DependencyTree, *, functions: frozenset[str] = frozenset()
) -> tuple[Diagnostic, ...]:
    """All findings of a circuit, the root file's first, by line.

    `tree` comes from `resolve_dependencies(netlist, reader)`; `functions` are those ngspice has besides its
    own in the mode it is going to read the circuit in.
    """
    findings = Findings(functions=functions)
    if not check_files(tree, findings):
        return _sorted(findings.all, netlist.path)
    fragment = is_fragment(netlist)
    is_sound = check_structure(tree, findings, fragment=fragment)
    if is_sound:
        circuit = read_circuit(tree)
        is_complete = not (tree.refusals or tree.missing_sections or tree.cycles)
        is_complete = is_complete and not findings.has("lib-without-section")  # its file is not read either
        check_references(circuit, tree, findings, fragment=fragment, complete=is_complete)
        check_values(circuit, tree, findings)
        has_nodes = is_complete and not findings.has("wrong-node-count", "too-few-nodes")
        if has_nodes and not fragment:
            is_whole = not findings.has("undefined-subcircuit", "missing-model")
            (check_wiring if is_whole else check_lone_nodes)(circuit, tree, findings)
        if not fragment:
            return _sorted(_without_effect(findings.all, circuit), netlist.path)
    return _sorted(findings.all, netlist.path)


def _without_effect(found: list[Diagnostic], circuit: Circuit) -> list[Diagnostic]:
    """The findings, with a warning inside a subcircuit nobody uses as a hint: nothing of it is computed.

    So with a parenthesis in an expression there, which ngspice never reads; braces it counts everywhere.
    """
    unused = [block for block in circuit.top.walk() if not block.is_used]
    cards = [(each.file, each.element.statement) for block in unused for each in block.elements]
    cards += [(each.file, each.statement) for block in unused for each in block.cards]
    idle = {(file, card.line) for file, card in cards}
    whole = {(file, card.line) for file, card in cards if card.raw.count("{") == card.raw.count("}")}
    return [
        each._replace(severity="info")
        if (each.severity == "warning" and (each.file, each.line) in idle)
        or (each.code == "unclosed-bracket" and (each.file, each.line) in whole)
        else each
        for each in found
    ]


_EXPLAINING = frozenset({"foreign-form", "unknown-element"})
"""What makes every other finding of its line a consequence."""


def _sorted(found: list[Diagnostic], root: Path | None) -> tuple[Diagnostic, ...]:
    torn = {(d.file, d.line) for d in found if d.code == "unclosed-bracket"}
    kept = [d for d in found if d.code != "bad-expression" or (d.file, d.line) not in torn]
    foreign = {(d.file, d.line) for d in found if d.code in _EXPLAINING}
    torn_off = {(d.file, d.line) for d in found if d.code == "missing-plus"}
    kept = [d for d in kept if d.code in _EXPLAINING or (d.file, d.line) not in foreign]
    kept = [d for d in kept if d.code == "missing-plus" or d.severity != "warning"
            or (d.file, d.line) not in torn_off]  # fmt: skip
    unique = {(d.file, d.line, d.column, d.code): d for d in reversed(kept)}
    return tuple(
        _of_habit_once(
            sorted(
                unique.values(), key=lambda d: (d.file != root, str(d.file), d.line, d.column or 0, d.code)
            ),
            root,
        )
    )


_OF_HABIT = frozenset({"farad-trap", "mega-trap", "number-tail", "unclosed-bracket"})
"""How somebody writes values: in a library all of them alike. A slip in one part is copied into the next."""


def _is_of_habit(found: Diagnostic) -> bool:
    """A parameter that lacks in a part nobody uses is of that kind too: its maker left it to be set."""
    return found.code in _OF_HABIT or (found.code == "undefined-parameter" and found.severity == "info")


def _of_habit_once(found: list[Diagnostic], root: Path | None) -> Iterator[Diagnostic]:
    """What is odd about values of an included file, at the first one with the number of the others."""
    counts = Counter((d.file, d.code, d.severity) for d in found if _is_of_habit(d) and d.file != root)
    told: set[tuple[Path | None, str, Severity]] = set()
    for each in found:
        key = (each.file, each.code, each.severity)
        if key in told:
            continue
        if counts[key] > 1:
            told.add(key)
            message = msg("{first} The like on {count} more {count:line|lines} of this file.",
                          first=each.message, count=counts[key] - 1)  # fmt: skip
            yield each._replace(message=message)
        else:
            yield each
