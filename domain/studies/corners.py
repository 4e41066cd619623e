"""Corners: the process, voltages and temperatures a circuit has to work at.

A corner chooses library sections (``.lib models.lib ss``), sets quantities of the circuit and the
temperature. Corners are listed one by one, or made as the full matrix of process, voltage and temperature.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from domain.circuit.cards import Include
from domain.circuit.dependencies import DependencyTree
from domain.circuit.netlist import Netlist
from domain.circuit.process_corners import USUAL_PROCESSES, corner_of, likened
from domain.studies.spec_reader import SpecReader, read_fraction, read_number, shown, spec_error
from shared.errors import UserInputError
from shared.message import msg

TEMPERATURE = "temp"
_SUPPLY = re.compile(r"v?(dd|cc|sup(ply)?|in_?supply|s)\w*", re.IGNORECASE)
_MOST_CORNERS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What one quantity is set to: a value, or a factor of its nominal one."""

    name: str
    """As `simulate --set` takes it; "" = the circuit's supply."""
    value: float
    is_factor: bool = False

    def at(self, nominal: float) -> float:
        return self.value * nominal if self.is_factor else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One state of the devices: library sections and settings (of model parameters, say)."""

    name: str
    sections: tuple[tuple[str, str], ...] = ()
    """(library file as written in the deck, or "" for every one that has it; section)."""
    settings: tuple[Setting, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Corner:
    """One corner: ``ss_1.62V_125C``."""

    name: str
    process: Process | None = None
    settings: tuple[Setting, ...] = ()
    """Voltages, the temperature (name `TEMPERATURE`, degC) and what else is set."""

    @property
    def all_settings(self) -> tuple[Setting, ...]:
        """Those of the process first, so that the corner's own win."""
        return (*(self.process.settings if self.process else ()), *self.settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class CornerPlan:
    """The corners of a study, in order; empty when none were given."""

    corners: tuple[Corner, ...] = ()


def usual_corners(tree: DependencyTree) -> tuple[Corner, ...]:
    """Those of TT, FF, SS, FS and SF that are sections of the circuit's libraries.

    Raises UserInputError when none is.
    """
    found = process_corners(tree)
    if not found:
        known = _known_sections(tree)
        raise UserInputError(
            msg("No corners were given, and no library of the circuit has a section {names}.",
                names=", ".join(USUAL_PROCESSES)),
            advice=msg("Sections: {names}.", names=", ".join(known))
            if known
            else msg("Add {example}.",
                     example='"corners": {"voltage": {"vdd": [1.6, 1.8, 2]}, "temp": [-40, 27, 125]}'),
            error_type="bad_spec",
        )  # fmt: skip
    return tuple(section_corner(name) for name in found)


def section_corner(name: str) -> Corner:
    """The corner at which every library has the section of this name (`TT`, `ss`), as far as it has one."""
    return Corner(name=name, process=_section(name))


def process_corners(tree: DependencyTree) -> tuple[str, ...]:
    """Those of TT, FF, SS, FS and SF that the libraries of the circuit have."""
    return tuple(name for name in USUAL_PROCESSES if _fitting(tree, name, ""))


def read_corners(reader: SpecReader) -> CornerPlan:
    """The corners under ``corners`` (a list, or an object that spans a matrix) with ``processes``.

    Raises UserInputError.
    """
    _, defined = reader.take("processes")
    processes = _processes(defined, reader.at("processes"))
    _, supply = reader.take("supply")
    if supply is not None and not isinstance(supply, str):
        raise spec_error(reader.at("supply"), msg("must be text, not {value}", value=shown(supply)))
    key, node = reader.take("corners")
    if node is None:
        return CornerPlan()
    if isinstance(node, Mapping):
        corners = _matrix(node, reader.at(key), processes, supply or "")
    elif isinstance(node, list):
        corners = [
            _corner(item, f"{reader.at(key)}[{number}]", processes, supply or "")
            for number, item in enumerate(node)
        ]
    else:
        raise spec_error(reader.at(key), msg("must be a list of corners, or an object of lists"))
    if not corners:
        raise spec_error(reader.at(key), msg("is an empty list"))
    return CornerPlan(corners=tuple(_with_own_names(corners)))


def _processes(node: object, place: str) -> dict[str, Process]:
    if node is None:
        return {}
    if not isinstance(node, Mapping):
        raise spec_error(place, msg("must be an object of processes by name"))
    return {
        str(name).lower(): _process_of(inner, f"{place}.{name}", str(name)) for name, inner in node.items()
    }


def _section(name: str) -> Process:
    return Process(name=name, sections=(("", name),))


def _process_of(node: object, place: str, name: str) -> Process:
    """A section's name, or an object of sections (``"lib"``) and values."""
    if isinstance(node, str):
        return Process(name=name, sections=(("", node.strip()),))
    reader = SpecReader(node, place)
    library, section = reader.text("lib", "library"), reader.text("section")
    own = reader.text("name")
    if library and not section:
        raise spec_error(reader.at("section"), msg("is missing: it names the section of the library"))
    settings = [*_settings(reader, "set"), *_other_settings(reader)]
    sections = ((library or "", section),) if section else ()
    return Process(name=own or name, sections=sections, settings=tuple(settings))


def _process(node: object, place: str, processes: Mapping[str, Process]) -> Process:
    if isinstance(node, str) and node.strip():
        return processes.get(node.strip().lower(), _section(node.strip()))
    if isinstance(node, Mapping):
        return _process_of(node, place, str(node.get("name") or node.get("section") or "process"))
    raise spec_error(place, msg("must be a process (the name of a library section), not {value}",
                                value=shown(node)))  # fmt: skip


def _corner(node: object, place: str, processes: Mapping[str, Process], supply: str) -> Corner:
    if isinstance(node, str):
        named = _process(node, place, processes)
        return Corner(name=named.name, process=named)
    reader = SpecReader(node, place)
    name = reader.text("name") or ""
    process = _process_in(reader, processes)
    settings: list[Setting] = []
    key, voltage = reader.take("voltage", "voltages", "v")
    if voltage is not None:
        settings += _voltages(voltage, reader.at(key), supply)
    temperature = reader.number(TEMPERATURE, "temperature")
    settings += [*_settings(reader, "set", "values", "params", "parameters"), *_other_settings(reader)]
    if temperature is not None:
        settings.append(Setting(name=TEMPERATURE, value=temperature))
    corner = Corner(name=name, process=process, settings=tuple(settings))
    return replace(corner, name=name or _label(corner))


def _process_in(reader: SpecReader, processes: Mapping[str, Process]) -> Process | None:
    key, node = reader.take("process", "section", "corner")
    library = reader.text("lib", "library")
    if node is None and library is not None and len(library.split()) == 2:  # as on a `.lib` card
        library, node = library.split()
    if node is None:
        if library is not None:
            raise spec_error(reader.at("section"), msg("is missing: it names the section of the library"))
        return None
    process = _process(node, reader.at(key), processes)
    if library is not None:
        process = replace(process, sections=tuple((library, section) for _, section in process.sections))
    return process


def _matrix(
    node: Mapping[str, Any], place: str, processes: Mapping[str, Process], supply: str
) -> list[Corner]:
    """Every combination of process, voltages, temperature and further lists."""
    reader = SpecReader(node, place)
    axes: list[Sequence[Process | Setting]] = []
    key, found = reader.take("process", "processes", "sections")
    if isinstance(found, Mapping):
        axes.append(
            [_process_of(inner, f"{reader.at(key)}.{name}", str(name)) for name, inner in found.items()]
        )
    elif found is not None:
        axes.append([_process(item, reader.at(key), processes) for item in _list(found)])
    key, found = reader.take("voltage", "voltages", "v")
    if isinstance(found, Mapping):
        axes += [[_setting(str(name), item, reader.at(key)) for item in _list(items)]
                 for name, items in found.items()]  # fmt: skip
    elif found is not None:
        axes.append([_setting(supply, item, reader.at(key)) for item in _list(found)])
    temperatures = reader.numbers(TEMPERATURE, "temps", "temperature", "temperatures")
    axes += [
        [_setting(name, item, reader.at(name)) for item in _list(items)] for name, items in reader.rest()
    ]
    if temperatures:
        axes.append([Setting(name=TEMPERATURE, value=value) for value in temperatures])
    if any(not axis for axis in axes) or not axes:
        raise spec_error(place, msg("has an empty list"))
    count = 1
    for axis in axes:
        count *= len(axis)
    if count > _MOST_CORNERS:
        raise spec_error(
            place, msg("makes {count} corners; the limit is {limit}", count=count, limit=_MOST_CORNERS)
        )
    return [_combined(combination) for combination in itertools.product(*axes)]


def _combined(parts: Iterable[Process | Setting]) -> Corner:
    process: Process | None = None
    settings: list[Setting] = []
    for part in parts:
        if isinstance(part, Process):
            process = part
        else:
            settings.append(part)
    corner = Corner(name="", process=process, settings=tuple(settings))
    return replace(corner, name=_label(corner))


def _list(node: object) -> Sequence[object]:
    return node if isinstance(node, list | tuple) else [node]


def _voltages(node: object, place: str, supply: str) -> list[Setting]:
    if isinstance(node, Mapping):
        return [_setting(str(name), value, f"{place}.{name}") for name, value in node.items()]
    return [_setting(supply, node, place)]


def _settings(reader: SpecReader, *keys: str) -> list[Setting]:
    key, node = reader.take(*keys)
    if node is None:
        return []
    if not isinstance(node, Mapping):
        raise spec_error(reader.at(key), msg("must be an object of values by name"))
    return [_setting(str(name), value, f"{reader.at(key)}.{name}") for name, value in node.items()]


def _other_settings(reader: SpecReader) -> list[Setting]:
    """Every further key is the name of a quantity; the circuit knows whether there is one."""
    return [_setting(name, value, reader.at(name)) for name, value in reader.rest()]


def _setting(name: str, value: object, place: str) -> Setting:
    """``1.62``, or ``"-10%"``: that much less than the nominal value."""
    if isinstance(value, str) and value.strip().endswith("%"):
        text = value.strip()
        if text[0] not in "+-":
            raise spec_error(place, msg("must have a sign: {example} is relative to the nominal value",
                                        example="+10%"))  # fmt: skip
        return Setting(name=name, value=1 + read_fraction(text, place), is_factor=True)
    return Setting(name=name, value=read_number(value, place))


def _label(corner: Corner) -> str:
    """``ss_1.62_125C``."""
    parts = [corner.process.name] if corner.process is not None else []
    for setting in corner.settings:
        if setting.name == TEMPERATURE:
            parts.append(f"{setting.value:g}C")
        elif setting.is_factor:
            parts.append(f"{setting.name}{100 * (setting.value - 1):+g}%")
        else:
            parts.append(f"{setting.name}={setting.value:g}" if setting.name else f"{setting.value:g}V")
    return "_".join(parts) or "nominal"


def _with_own_names(corners: Sequence[Corner]) -> Iterable[Corner]:
    """Every corner under a name of its own."""
    seen: dict[str, int] = {}
    for corner in corners:
        seen[corner.name] = seen.get(corner.name, 0) + 1
        again = seen[corner.name]
        yield corner if again == 1 else replace(corner, name=f"{corner.name}#{again}")


def supply_of(netlist: Netlist) -> str:
    """The one supply of a circuit: a `.param` or a voltage source named vdd, vcc, vsupply ...

    Raises UserInputError when there is none or more than one.
    """
    names = [p.name for p in netlist.parameters if not p.scope and _SUPPLY.fullmatch(p.name)]
    if not names:
        sources = [e for e in netlist.elements if e.letter == "v" and not e.scope and e.value is not None]
        names = [element.name for element in sources if _SUPPLY.fullmatch(element.name)]
        names = names or ([sources[0].name] if len(sources) == 1 else [])
    if len(names) != 1:
        raise UserInputError(
            msg("The voltage of a corner does not say which supply it is for ({names}).",
                names=", ".join(names) or "-"),
            advice=msg('Write it as {example}.', example='"voltage": {"vdd": 1.62}'),
            error_type="bad_spec",
        )  # fmt: skip
    return names[0]


def with_process(tree: DependencyTree, process: Process) -> tuple[Netlist, dict[Path, bytes]]:
    """The circuit's main netlist with the process' library sections in place of its own, and the texts of the
    included files whose `.lib` lines pick others too, by real path: they are simulated as copies.

    Raises UserInputError when no `.lib` of it has such a section, listing those there are.
    """
    edits: dict[Netlist, dict[tuple[int, int], str]] = {}
    for library, section in process.sections:
        fitting = _fitting(tree, section, library)
        if not fitting:
            raise _no_section(tree, section, library)
        for netlist, include, name in fitting:
            field = include.statement.words[2]
            edits.setdefault(netlist, {})[field.spans[0][0], field.spans[-1][1]] = name
    edited = {
        netlist: netlist.edited([(*place, name) for place, name in places.items()])
        for netlist, places in edits.items()
    }
    root = edited.pop(tree.root, tree.root)
    return root, {netlist.path: text.to_bytes() for netlist, text in edited.items() if netlist.path}


def _library_lines(tree: DependencyTree) -> list[tuple[Netlist, Include]]:
    """The `.lib` lines that pick a section, of the main file and of what it includes; those within a section
    belong to the corner that it is."""
    places: dict[Netlist, set[int]] = {}
    for placed in tree.expanded:
        if placed.statement.keyword == "lib" and placed.statement.section is None:
            places.setdefault(placed.netlist, set()).add(placed.statement.line)
    return [
        (netlist, include)
        for netlist, lines in places.items()
        for include in netlist.includes
        if include.kind == "lib" and include.section is not None and include.line in lines
    ]


def _fitting(tree: DependencyTree, section: str, library: str) -> list[tuple[Netlist, Include, str]]:
    """The `.lib` lines that can take a section, each with its name in that library: the section itself, or
    where that is a process corner (``SS``, ``slow``), the one that differs in the corner alone (``mos_ss``
    for ``mos_tt``)."""
    found = []
    for netlist, include in _library_lines(tree):
        if not _is_named(include, library):
            continue
        sections = _sections_of(tree, netlist, include)
        name = sections.get(section.lower())
        if name is None and (corner := corner_of(section)):
            now = likened(include.section or "")
            alike = (each for each in sections.values() if likened(each) == now and corner_of(each) == corner)
            name = next(alike, None)
        if name is not None:
            found.append((netlist, include, name))
    return found


def _is_named(include: Include, library: str) -> bool:
    if not library:
        return True
    return PurePosixPath(include.path).name.lower() == PurePosixPath(library).name.lower()


def _sections_of(tree: DependencyTree, netlist: Netlist, include: Include) -> dict[str, str]:
    """The sections of the library behind a directive, as written, by lower-case name."""
    target = tree.target_of(netlist.path, include.line)
    library = tree.files.get(target) if target is not None else None
    if library is None:
        return {}
    beginnings = (card.words for card in library.directives("lib"))
    return {words[1].key: words[1].text for words in beginnings if len(words) == 2}


def _known_sections(tree: DependencyTree) -> tuple[str, ...]:
    """The sections of all libraries the circuit picks one of."""
    found = (_sections_of(tree, *line).values() for line in _library_lines(tree))
    return tuple(dict.fromkeys(name for names in found for name in names))


def _no_section(tree: DependencyTree, section: str, library: str) -> UserInputError:
    if not _library_lines(tree):
        return UserInputError(
            msg("The corner {section} is a library section, but the circuit has no .lib line.",
                section=section),
            advice=msg("Specify what the corner sets, for example {example}.",
                       example='"processes": {"FF": {"nch.vto": 0.4}}'),
            error_type="bad_spec",
        )  # fmt: skip
    known = _known_sections(tree)
    return UserInputError(
        msg("No library of the circuit{library} has a section {section}.",
            library=f" ({library})" if library else "", section=section),
        advice=msg("Sections: {names}.", names=", ".join(known) or "-"),
        error_type="bad_spec",
    )  # fmt: skip
