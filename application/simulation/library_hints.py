"""What only the files beside a circuit tell of a finding: which undefined model the program's library has,
why a file of points was not read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from domain.circuit.dependencies import Definer, DependencyTree, SourceFile, SourceReader, SourceRefusal
from domain.circuit.diagnostics import Diagnostic
from domain.circuit.foreign_forms import POINTS_NOT_READ
from domain.circuit.foreign_pwl import MOST_BYTES_OF_POINTS, file_of_points, has_points
from domain.circuit.netlist import Netlist
from shared.errors import UserInputError
from shared.message import Message, msg
from shared.paths import MODEL_LIBRARY

UNDEFINED = frozenset({"undefined-model", "undefined-subcircuit"})
"""Codes of what names a definition that is nowhere."""
_MOST_NAMED = 3
_LETTERS = frozenset("dqjm")


def hinted(found: Sequence[Diagnostic], reader: SourceReader, tree: DependencyTree) -> tuple[Diagnostic, ...]:
    """The findings; one of an undefined model that a library has says so, one of a file of points says what
    is wrong with it, and one of a parameter names the file that may define it and is not there. Blocking."""
    return tuple(
        _hinted(each, reader, tree)
        if each.code in UNDEFINED
        else each._replace(message=_why_no_points(each, reader, tree) or each.message)
        if each.message.template == POINTS_NOT_READ.template
        else each._replace(message=_defined_where(each, tree) or each.message)
        if each.code == "undefined-parameter"
        else each
        for each in found
    )


def _defined_where(found: Diagnostic, tree: DependencyTree) -> Message | None:
    lost = [each.reference for each in tree.refusals if each.reference]
    name = found.message.params.get("name")
    if not lost or name is None or "near" in found.message.params:
        return None
    more = ["…"] * (len(lost) > _MOST_NAMED)
    return msg("Parameter {name} is not defined. A file that was not found may define it: {files}. Put it in "
               "its place, or define the parameter with .param.",
               name=name, files=", ".join([*lost[:_MOST_NAMED], *more]))  # fmt: skip


def _why_no_points(found: Diagnostic, reader: SourceReader, tree: DependencyTree) -> Message | None:
    netlist = tree.root if found.file in (None, tree.root.path) else tree.files.get(found.file)
    cards = () if netlist is None else netlist.statements
    named = next((file_of_points(card.raw) for card in cards if card.line == found.line), None)
    if named is None:
        return None
    including = found.file or Path(named)
    try:
        source = reader.read(named, including_file=including)
        if not isinstance(source, SourceFile) and (other := reader.find(named.rpartition("/")[2])):
            source = reader.read(str(other), including_file=including)
    except UserInputError:  # encrypted, or one endless line
        return None
    return _fault_of_points(source, named, str(found.message.params["word"]))


def _fault_of_points(source: SourceFile | SourceRefusal, file: str, word: str) -> Message:
    words = {"file": file, "word": word}
    if not isinstance(source, SourceFile):
        if source.reason == "missing":
            return msg("The file {file} with the points of {word} was not found. Put it beside the circuit, "
                       "or correct the path.", **words)  # fmt: skip
        return msg("The file {file} with the points of {word} cannot be read where it lies. Put a copy of it "
                   "beside the circuit.", **words)  # fmt: skip
    if len(source.data) > MOST_BYTES_OF_POINTS:
        return msg("The file {file} with the points of {word} is longer than {size} MB. Leave out points "
                   "behind the stop time, or take fewer of them.",
                   size=MOST_BYTES_OF_POINTS // 1_000_000, **words)  # fmt: skip
    if not has_points(source.data.decode("latin-1")):
        return msg("The file {file} of {word} is not read as points. It needs a time and a value in each "
                   "line, the times rising, at most 200,000 of them.", **words)  # fmt: skip
    return msg("The points of {word} are read from {file} only in a circuit of LTspice's. Set its dialect, "
               "write the points into the PWL, or use the XSPICE model filesource.", **words)  # fmt: skip


def _hinted(found: Diagnostic, reader: SourceReader, tree: DependencyTree) -> Diagnostic:
    """The circuit's own folders before the program's library: what lies there was put there for it."""
    params = found.message.params
    name = params.get("word", params.get("name"))  # with a word, the name is the element's
    if not isinstance(name, str) or not name or Path(name).name != name:
        return found
    including = found.file or tree.root.path or Path(name)
    definer = reader.defining(name, including_file=including)
    if definer is not None and (definer.at.section or definer.path not in tree.files):
        return found._replace(message=_of_definer(name, definer))
    source = reader.read(f"{name}.lib", including_file=found.file or Path(name))
    if not isinstance(source, SourceFile) or source.path.parent != MODEL_LIBRARY:
        return found._replace(message=_without_letter(name, reader, including) or found.message)
    file = source.path.name
    message = msg(
        "{name} is not defined. The model library has it: add .include {file}.", name=name, file=file
    )
    return found._replace(message=message)


def _without_letter(name: str, reader: SourceReader, including: Path) -> Message | None:
    """PSpice's names of parts begin with the letter of the element: ``D1N4148``, ``Q2N2222``."""
    if name[:1].lower() not in _LETTERS or not name[1:2].isdecimal():
        return None
    source = reader.read(f"{name[1:]}.lib", including_file=including)
    if not isinstance(source, SourceFile) or source.path.parent != MODEL_LIBRARY:
        return None
    near = source.path.stem
    return msg("{name} is not defined. In the model library it is called {near}.", name=name, near=near)


def _of_definer(name: str, definer: Definer) -> Message:
    file, line, section, is_alone = definer.reference, *definer.at
    if not is_alone:
        return msg("{name} is not defined here. Line {line} of {path} defines it, in another circuit: copy "
                   "the definition.",
                   name=name, line=line, path=file)  # fmt: skip
    quoted = file if re.fullmatch(r"[\w./\\+~-]+", file) else f'"{file}"'
    card = f".lib {quoted} {section}" if section else f".include {quoted}"
    return msg("{name} is not defined. Add {card}.", name=name, card=card)


def found_elsewhere(netlist: Netlist, tree: DependencyTree) -> Iterator[Diagnostic]:
    """A note at each include of the main file that ngspice, started beside it, would not find: the program's
    library answers it, or a folder above the circuit's."""
    if netlist.path is None:
        return
    for include in netlist.includes:
        target = tree.target_of(netlist.path, include.line)
        if target is None:
            continue
        if target.parent == MODEL_LIBRARY:
            code, message = "library-model", msg(
                "{file} comes from the model library of this program; ngspice alone needs a copy of it.",
                file=target.name,
            )  # fmt: skip
        elif (above := _started_in(include.path, target, netlist.path)) is not None:
            code, message = "include-above", msg(
                "{path} is found from the folder {folder}; start ngspice itself there.",
                path=include.path,
                folder=above,
            )  # fmt: skip
        elif _is_written_otherwise(include.path, target):
            code, message = "include-otherwise", msg(
                "{path} is the file {file} here: letter case or slashes differ. ngspice alone needs the "
                "exact path.",
                path=include.path,
                file=target.name,
            )  # fmt: skip
        else:
            continue
        yield Diagnostic(severity="info", code=code, message=message, file=netlist.path, line=include.line)


def _started_in(reference: str, target: Path, circuit: Path) -> Path | None:
    """The folder above the circuit's that a relative path was followed from."""
    if PurePath(reference).is_absolute():
        return None
    beside, *above = (Path(os.path.normpath(folder / reference)) for folder in circuit.parents)
    if target in (beside, Path(os.path.realpath(beside))):
        return None
    return next((f for f, there in zip(circuit.parents[1:], above, strict=True) if there == target), None)


def _is_written_otherwise(reference: str, target: Path) -> bool:
    """Whether the file was found by a path that only Windows takes for its own: letter case, slashes."""
    written = [part for part in PurePath(reference.replace("\\", "/")).parts if part not in (".", "..", "/")]
    there = list(target.parts[-len(written) :])
    is_same = written == there and "\\" not in reference
    return not is_same and [each.casefold() for each in written] == [each.casefold() for each in there]
