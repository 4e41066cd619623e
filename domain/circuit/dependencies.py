"""What a netlist includes (`.include`, `.lib`), resolved through a confined reader.

ngspice 39, as tried: an `.include` is looked for in the folder ngspice was started in (the circuit's),
then in the including file's; a `.lib` likewise, but one that stands in an `.include`d file only in the
circuit's folder. All `.include` cards of a library file are read, also in sections nobody uses; nested
`.lib` cards only in used ones. `~` and `$VARIABLE` are nothing to us, and ngspice takes ` $` for the
beginning of a comment. An include cycle crashes ngspice, a section cycle hangs it.
"""

from __future__ import annotations

import itertools
import os.path
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from domain.circuit.cards import Include
from domain.circuit.defined_elsewhere import DefinedAt
from domain.circuit.netlist import Netlist
from domain.circuit.placed import Placed, ReadAgain
from domain.circuit.statements import Statement
from shared.late_patterns import late_pattern
from shared.message import Message, msg

NOT_TO_BE_OPENED = "not-to-be-opened"
"""The name a portable circuit has in the place of a file that would hang ngspice."""
_PLAIN_PATH = late_pattern(r"[\w./+@-]+")
# filesource, table2d, table3d; d_source; d_state. ngspice takes only names in double quotes.
_DATA_FILE = late_pattern(r'\b(?:file|input_file|state_file)\s*=\s*"([^"]+)"', re.IGNORECASE)

RefusalReason = Literal["missing", "outside", "not-regular", "folder", "too-large", "unreadable", "url"]


class SourceFile(NamedTuple):
    """A file the reader handed out."""

    path: Path
    """Real path, links resolved."""
    data: bytes
    rewritten: bool = False
    """`data` is not what the file holds: a translation of it."""


class SourceRefusal(NamedTuple):
    """Why a file was not handed out; never carries content."""

    path: Path
    reason: RefusalReason
    near: str = ""
    """Of a missing file: one that is there and may have been meant, written like the reference."""


class SourceReader(Protocol):
    """Reads files for our parser: only regular files inside the project and listed libraries, links
    resolved, at most 20 MB each."""

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        """The file a directive in `including_file` names (relative to that file's folder first)."""

    def find(self, name: str) -> Path | None:
        """A file of this name (without a folder, letter case aside) in the circuit's folder, the project or
        a listed library; the one nearest to the top of them when there are several."""

    def defining(self, name: str, *, including_file: Path) -> Definer | None:
        """A netlist or library of the project, or of a listed library, that defines a model or subcircuit of
        this name: one of definitions alone before a circuit that has it among its elements."""


class Definer(NamedTuple):
    """A file that defines what a circuit lacks."""

    path: Path
    """Real path."""
    reference: str
    """As a directive in the file that lacks it names it, without quotes."""
    at: DefinedAt


class Refusal(NamedTuple):
    """A directive whose file could not be had."""

    file: Path | None
    """The file the directive stands in."""
    line: int
    column: int
    reference: str
    """The path as written."""
    refusal: SourceRefusal

    @property
    def message(self) -> Message:
        return _refusal_message(self.reference, self.refusal.reason, self.refusal.near)

    @property
    def has_variable(self) -> bool:
        """The path has a variable without a value, or a placeholder: no file is called that."""
        return self.reference.startswith("$") or _PLACEHOLDER.search(self.reference) is not None


_PLACEHOLDER = late_pattern(r"\$\{\w+\}")
"""Of a shell or a script; ngspice has nothing like it within a path."""


def _refusal_message(reference: str, reason: RefusalReason, near: str) -> Message:
    if not reference:
        return msg("The directive names no file. Write the path after it, in quotes if it contains spaces.")
    if reference.startswith("$"):
        name = re.split(r"[/\\]", reference.lstrip("$"), maxsplit=1)[0].strip("{}()")
        return msg(
            "The variable {name} in {path} has no value. Set it with simulator PROJECT --variable "
            "{name}=FOLDER, or write out the path.",
            name=name,
            path=reference,
        )
    if match := _PLACEHOLDER.search(reference):
        return msg(
            "{word} is a placeholder: this file is a template that another program fills in.", word=match[0]
        )
    if near:
        return msg("The file {path} was not found. Did you mean {near}?", path=reference, near=near)
    messages: dict[RefusalReason, Message] = {
        "missing": msg(
            "The file {path} was not found. Correct the path or put the file there.", path=reference
        ),
        "outside": msg(
            "{path} is outside the project and the listed libraries and was not searched for there. "
            "Put the file into the project, or list its folder as a library.",
            path=reference,
        ),
        "not-regular": msg("{path} is not a regular file, so it is not read.", path=reference),
        "folder": msg("{path} is a folder. Specify a file in it.", path=reference),
        "too-large": msg("{path} is larger than 20 MB, so it is not read.", path=reference),
        "unreadable": msg("{path} cannot be read: permission is missing.", path=reference),
        "url": msg("{path} is a web address. Download the file and include the copy.", path=reference),
    }
    return messages[reason]


class MissingSection(NamedTuple):
    """A `.lib file section` whose file has no such section, or one without its `.endl`."""

    file: Path | None
    line: int
    column: int
    target: Path
    section: str
    unclosed: bool = False
    """The section begins but has no `.endl`."""


class IncludeCycle(NamedTuple):
    """A directive that includes a file (or section) which is being included already."""

    file: Path | None
    line: int
    column: int
    target: Path
    too_deep: bool = False
    """Not a cycle, but more levels than `max_depth`."""
    too_often: bool = False
    """Not a cycle, but one repetition more than are read."""

    @property
    def message(self) -> Message:
        if self.too_deep:
            return msg(
                "{path} is included through too many levels and is not read. Include it more directly.",
                path=self.target.name,
            )
        if self.too_often:
            return msg(
                "The files of this circuit include each other endlessly: {path} is not read again "
                "here. Include it once.",
                path=self.target.name,
            )
        return msg("{path} includes itself. Remove one of the includes.", path=self.target.name)


@dataclass(slots=True, kw_only=True)
class DependencyTree:
    """A netlist with everything it includes."""

    root: Netlist
    files: dict[Path, Netlist] = field(default_factory=dict)
    """Included files by real path, in the order of their first use; the root is not among them."""
    sections: dict[Path, set[str]] = field(default_factory=dict)
    """Used library sections (lower case) by file."""
    refusals: list[Refusal] = field(default_factory=list)
    missing_sections: list[MissingSection] = field(default_factory=list)
    cycles: list[IncludeCycle] = field(default_factory=list)
    expanded: Sequence[Placed] = ()
    """Every statement of the circuit in the order ngspice reads it, library sections picked out."""
    targets: dict[tuple[Path | None, int], Path] = field(default_factory=dict)
    """Directive (file, line) -> the real path it resolved to."""
    changed: set[Path] = field(default_factory=set)
    """Included files whose text here is not that of the file: ngspice has to be given copies."""

    def with_texts(self, root: Netlist, files: Mapping[Path, Netlist]) -> DependencyTree:
        """The same circuit with other texts of its main file and of some that it includes.

        Their lines stand where they stood, and they include what they included.
        """
        changed = {self.root: root} | {self.files[path]: netlist for path, netlist in files.items()}
        return replace(
            self,
            root=root,
            files={**self.files, **files},
            changed={*self.changed, *files},
            expanded=ReadAgain(self.expanded, changed, root),
        )

    def portable(self, taken: Collection[str] = ()) -> tuple[Netlist, dict[str, bytes]]:
        """The circuit as ngspice reads it alike from another folder: the root, and copies by file name.

        Paths are made absolute. Included files that name others relative to the circuit's folder are
        given as corrected copies, which are named without a folder: they belong where ngspice is
        started. So are those that include such a file, and those whose path SPICE cannot name: ngspice
        ends the path of a `.lib` at a blank, in quotes too. What ngspice would never get done with (a FIFO,
        a file that includes itself) is replaced by a name nothing has. The names in `taken` are not given.
        """
        folder = self.root.path.parent if self.root.path is not None else None
        copied = {path for path, netlist in self.files.items() if self._leans_on(netlist, folder)}
        copied |= set(self._unnameable()) | self.changed
        endless: list[Refusal | IncludeCycle] = [cycle for cycle in self.cycles if not cycle.too_deep]
        endless += [refusal for refusal in self.refusals if refusal.refusal.reason == "not-regular"]
        copied |= {item.file for item in endless if item.file is not None}
        names = _plain_names(sorted(self._with_including(copied)), taken)
        targets = {place: Path(names.get(path, path)) for place, path in self.targets.items()}
        targets |= {(item.file, item.line): Path(NOT_TO_BE_OPENED) for item in endless}
        moved = replace(self, targets=targets)
        copies = {
            name: moved.with_absolute_paths(self.files[path]).to_bytes() for path, name in names.items()
        }
        return moved.with_absolute_paths(self.root), copies

    def kept_in(
        self, folder: Path, stem: str, is_free: Callable[[str], bool]
    ) -> tuple[Netlist, dict[str, bytes]]:
        """The circuit to be written into `folder`: the root, and the changed files as copies by file name.

        Copies belong beside the root and are called `stem` with the file's own name, as far as `is_free`. So
        are files that include one of them, and in another folder than the circuit's all that are named from
        there. Other paths lead where they led.
        """
        home = folder if self.root.path is None else self.root.path.parent
        netlists = (self.root, *self.files.values())
        copied = set(self.changed)
        if folder != home:
            copied |= {target for each in netlists for _, target in self._near(each, home)}
        plain = _plain_names(sorted(self._with_including(copied)), ())
        start = stem if _PLAIN_PATH.fullmatch(stem) and stem.isascii() else "best"
        names: dict[Path, str] = {}
        for path, own in plain.items():
            tries = (f"{start}_{'' if number == 1 else number}{own}" for number in itertools.count(1))
            names[path] = next(name for name in tries if name not in names.values() and is_free(name))

        def moved(netlist: Netlist) -> Netlist:
            is_copy = netlist is not self.root
            texts = {
                line: os.path.relpath(target, os.path.realpath(home))
                for line, target in self._near(netlist, home)
                if is_copy
            }
            texts |= {
                line: names[target]
                for (file, line), target in self.targets.items()
                if file == netlist.path and target in names
            }
            fields = [(each.line, each.field) for each in netlist.includes if each.field is not None]
            return netlist.edited(
                [
                    (field.spans[0][0], field.spans[-1][1], f'"{texts[line]}"')
                    for line, field in fields
                    if line in texts
                ]
            )

        return moved(self.root), {name: moved(self.files[path]).to_bytes() for path, name in names.items()}

    def _near(self, netlist: Netlist, home: Path) -> Iterator[tuple[int, Path]]:
        """Line and target of the directives that name a file from the circuit's folder, or from their own."""
        folders = {home, home if netlist.path is None else netlist.path.parent}
        for include in netlist.includes:
            target = self.target_of(netlist.path, include.line)
            if target is None or Path(include.path).is_absolute():
                continue
            if any(os.path.realpath(folder / include.path) == str(target) for folder in folders):
                yield include.line, target

    def _with_including(self, files: Collection[Path]) -> set[Path]:
        """These of the included files, and those that include one of them."""
        found, size = set(files), -1
        while found and size != len(found):
            size = len(found)
            found |= {file for (file, _), target in self.targets.items() if file and target in found}
        return found & self.files.keys()

    def with_absolute_paths(self, netlist: Netlist) -> Netlist:
        """Its own `.include` and `.lib` paths made absolute as resolved here; lines stay in place.

        Directives that could not be resolved stay as they are. A path with a quote or a line end in it
        stays as it is too: SPICE has no way to write it.
        """
        edits = []
        for include in netlist.includes:
            target = self.target_of(netlist.path, include.line)
            if target is None or include.field is None or re.search(r"[\"'\r\n]", str(target)):
                continue
            start, end = include.field.spans[0][0], include.field.spans[-1][1]
            edits.append((start, end, f'"{target}"'))
        return netlist.edited(edits)

    def _unnameable(self) -> Iterator[Path]:
        """Targets whose absolute path the including file cannot write down."""
        for netlist in (self.root, *self.files.values()):
            is_unicode = netlist.encoding.startswith("utf-8")
            for include in netlist.includes:
                target = self.target_of(netlist.path, include.line)
                if target is not None and not (
                    _PLAIN_PATH.fullmatch(str(target)) and (is_unicode or str(target).isascii())
                ):
                    yield target

    def _leans_on(self, netlist: Netlist, folder: Path | None) -> bool:
        assert netlist.path is not None
        for include in netlist.includes:
            target = self.targets.get((netlist.path, include.line))
            if target is None or Path(include.path).is_absolute():
                continue
            beside = target == Path(os.path.normpath(netlist.path.parent / include.path))
            is_lib_in_include = include.kind == "lib" and netlist.path not in self.sections
            if not beside or (is_lib_in_include and folder is not None):
                return True
        return False

    @property
    def data_files(self) -> tuple[str, ...]:
        """Names of the files XSPICE models read numbers from, as written, from the circuit's folder."""
        cards = (placed.statement for placed in self.expanded if placed.statement.keyword == "model")
        return tuple(dict.fromkeys(name for card in cards for name in _DATA_FILE.findall(card.text)))

    def target_of(self, file: Path | None, line: int) -> Path | None:
        """The file the directive on `line` of `file` resolved to."""
        return self.targets.get((file, line))


def resolve_dependencies(netlist: Netlist, reader: SourceReader, *, max_depth: int = 32) -> DependencyTree:
    """Follow every `.include` and `.lib`, sections and nesting included. Never raises for what is missing."""
    tree = DependencyTree(root=netlist)
    _Resolver(tree, reader, max_depth).expand()
    return tree


_Mode = Literal["root", "include", "lib"]
_MAX_STATEMENTS = 2_000_000
_MAX_REPETITIONS = 10_000
"""How often files (and sections) are read that were read before: two that include the next one twice, and so
on, double with every file."""
_MAX_REPEATED_STATEMENTS = 300_000


class _Resolver:
    """Walks the files depth first, as ngspice splices them together."""

    def __init__(self, tree: DependencyTree, reader: SourceReader, max_depth: int) -> None:
        self._tree = tree
        self._reader = reader
        self._max_depth = max_depth
        self._root_path = tree.root.path or Path("circuit.cir")
        self._chain: list[tuple[Path, str | None]] = [(self._root_path, None)]
        self._prefetched: set[Path] = set()
        self._followed: set[tuple[Path, str | None]] = set()
        self._repetitions = 0
        self._repeated_statements = 0
        self._refused: set[Refusal] = set()
        self._contents: dict[Netlist, _Contents] = {}
        self._expanded: list[Placed] = []

    def expand(self) -> None:
        self._tree.expanded = self._expanded
        self._walk(self._tree.root, "root", None, ())

    def _walk(self, netlist: Netlist, mode: _Mode, section: str | None, outer: tuple[str, ...]) -> None:
        contents = self._contents_of(netlist)
        for statement in netlist.statements if section is None else contents.of_section(section):
            self._expanded.append(Placed(netlist, statement, outer))
            include = contents.directives.get(statement.line)
            if include is None or include.statement is not statement:
                continue
            self._follow(netlist, include, mode, (*outer, *statement.scope))

    def _contents_of(self, netlist: Netlist) -> _Contents:
        if netlist not in self._contents:
            self._contents[netlist] = _Contents(netlist)
        return self._contents[netlist]

    def _follow(self, netlist: Netlist, include: Include, mode: _Mode, outer: tuple[str, ...]) -> None:
        target = self._open(netlist, include, mode)
        if target is None:
            return
        path = target.path
        assert path is not None
        section = include.section.lower() if include.section is not None else None
        too_deep = len(self._chain) > self._max_depth
        is_cycle = (path, section) in self._chain or (section is None and path == self._root_path)
        too_often = not (too_deep or is_cycle) and self._is_once_too_often(target, section)
        if too_deep or is_cycle or too_often:
            self._tree.cycles.append(
                IncludeCycle(
                    file=netlist.path,
                    line=include.line,
                    column=include.column,
                    target=path,
                    too_deep=too_deep,
                    too_often=too_often,
                )
            )
            return
        if section is not None and not self._has_section(netlist, include, target, section):
            return
        self._chain.append((path, section))
        self._walk(target, "include" if section is None else "lib", section, outer)
        self._chain.pop()

    def _is_once_too_often(self, target: Netlist, section: str | None) -> bool:
        """Whether reading it once more would be without measure; counts it."""
        if len(self._expanded) >= _MAX_STATEMENTS:
            return True
        assert target.path is not None
        if (target.path, section) in self._followed:
            self._repetitions += 1
            of_section = self._contents_of(target).of_section
            self._repeated_statements += len(target.statements if section is None else of_section(section))
        self._followed.add((target.path, section))
        return self._repetitions > _MAX_REPETITIONS or self._repeated_statements > _MAX_REPEATED_STATEMENTS

    def _has_section(self, netlist: Netlist, include: Include, target: Netlist, section: str) -> bool:
        assert target.path is not None
        contents = self._contents_of(target)
        begin = contents.begins.get(section)
        closed = begin is not None and contents.last_end > begin
        if closed:
            self._tree.sections.setdefault(target.path, set()).add(section)
        self._prefetch(target)
        if closed:
            return True
        self._tree.missing_sections.append(
            MissingSection(
                file=netlist.path,
                line=include.line,
                column=include.column,
                target=target.path,
                section=include.section or "",
                unclosed=begin is not None,
            )
        )
        return False

    def _prefetch(self, library: Netlist) -> None:
        """Read the `.include`s of unused sections too: ngspice fails when one of them is missing."""
        assert library.path is not None
        if library.path in self._prefetched:
            return
        self._prefetched.add(library.path)
        used = self._tree.sections.get(library.path, set())
        for include in library.includes:
            if include.kind == "include" and include.statement.section not in used:
                self._open(library, include, "lib")

    def _open(self, netlist: Netlist, include: Include, mode: _Mode) -> Netlist | None:
        if include.kind == "lib" and include.section is None:
            return None
        known = self._tree.targets.get((netlist.path, include.line))
        if known is not None:
            return self._tree.files.get(known, self._tree.root)
        found = self._read(netlist, include, mode)
        if isinstance(found, SourceRefusal):
            self._refuse(netlist, include, found)
            return None
        self._tree.targets[netlist.path, include.line] = found.path
        if found.path == self._root_path:
            return self._tree.root
        if found.path not in self._tree.files:
            self._tree.files[found.path] = Netlist.parse(found.data, path=found.path, has_title=False)
            if found.rewritten:
                self._tree.changed.add(found.path)
        return self._tree.files[found.path]

    def _read(self, netlist: Netlist, include: Include, mode: _Mode) -> SourceFile | SourceRefusal:
        reference = include.path
        if not reference or reference.startswith("$"):
            return SourceRefusal(path=Path(reference), reason="missing")
        if reference.lower().startswith(("http:", "https:", "ftp:")):
            return SourceRefusal(path=Path(reference), reason="url")
        circuit = self._root_path
        first = self._reader.read(reference, including_file=circuit)
        including = netlist.path or circuit
        if (
            mode == "root"
            or (include.kind == "lib" and mode == "include")
            or including.parent == circuit.parent
        ):
            return first
        if isinstance(first, SourceFile) and _is_beside(first.path, reference, circuit):
            return first
        # The reader may have found it in a library folder: ngspice looks beside the including file before.
        second = self._reader.read(reference, including_file=including)
        if isinstance(second, SourceFile) and _is_beside(second.path, reference, including):
            return second
        return first if isinstance(first, SourceFile) else second

    def _refuse(self, netlist: Netlist, include: Include, refusal: SourceRefusal) -> None:
        reference = include.path or _dropped_variable(include.statement, netlist)
        if reference.endswith("$") and (torn := _PLACEHOLDER.search(include.statement.raw)):
            reference += torn[0][1:]
        entry = Refusal(
            file=netlist.path, line=include.line, column=include.column, reference=reference, refusal=refusal
        )
        if entry not in self._refused:
            self._refused.add(entry)
            self._tree.refusals.append(entry)


class _Contents:
    """What is looked up in a file each time it is followed."""

    def __init__(self, netlist: Netlist) -> None:
        self.directives = {include.line: include for include in netlist.includes}
        self.begins: dict[str | None, int] = {}
        """Section (lower case) -> the line it begins on."""
        for card in netlist.directives("lib"):
            if card.section is None:
                self.begins.setdefault(_section_of(card), card.line)
        self.last_end = max((card.line for card in netlist.directives("endl")), default=0)
        self._statements = netlist.statements
        self._of_section: dict[str | None, list[Statement]] | None = None

    def of_section(self, section: str) -> Sequence[Statement]:
        if self._of_section is None:
            self._of_section = {}
            for statement in self._statements:
                self._of_section.setdefault(statement.section, []).append(statement)
        return self._of_section.get(section, ())


def _is_beside(found: Path, reference: str, file: Path) -> bool:
    """`found` is what `reference` means from the folder of `file` (links aside)."""
    return found == Path(os.path.normpath(file.parent / reference))


def _plain_names(paths: Sequence[Path], taken: Collection[str]) -> dict[Path, str]:
    """A name for each, without a folder and told apart: its own where SPICE can write that."""
    names: dict[Path, str] = {}
    used = set(taken)
    for path in paths:
        is_plain = path.name.isascii() and _PLAIN_PATH.fullmatch(path.name) and path.name[0].isalnum()
        name = own = path.name if is_plain else "included.inc"
        number = 1
        while name in used:
            number += 1
            name = f"{number}_{own}"
        names[path] = name
        used.add(name)
    return names


def _section_of(card: Statement) -> str | None:
    words = card.words
    return words[1].text.strip("'\"").lower() if len(words) == 2 else None


def _dropped_variable(card: Statement, netlist: Netlist) -> str:
    """The ``$VARIABLE/path`` that was taken for a comment, or ""."""
    words = netlist.source.line_text(card.line).split()
    return next((word.strip("'\"") for word in words[1:2] if word.startswith("$")), "")
