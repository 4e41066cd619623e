"""The components of a library file: its `.model` cards and `.subckt` blocks that stand by themselves, with
what its comments say of them.

What is in a subcircuit is that subcircuit's own business. Pins of subcircuits get their use from the comments
that vendors write: the ladder of ``connections:`` (as in Boyle's macromodels, IEEE J. Solid-State Circuits 9,
1974), a line ``pins:``, or names that tell it themselves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from domain.circuit.cards import Model, Subcircuit, assignments_of, device_kind
from domain.circuit.model_checks import MODEL_TYPES, foreign_level
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import read_number
from domain.circuit.statements import Source
from domain.components.component import Component
from domain.components.described import figures_in, kind_in
from shared.late_patterns import late_pattern

MOST_COMPONENTS = 20_000
"""Of one file; a library of a vendor has some thousand."""
_MOST_COMMENT_LINES = 40
_MOST_PORTS = 200
_LONGEST_NAME, _LONGEST_TITLE = 100, 200
_PINS = {
    "diode": ("anode", "cathode"),
    "npn": ("collector", "base", "emitter"),
    "nmos": ("drain", "gate", "source", "bulk"),
    "vdmos": ("drain", "gate", "source"),
    "njf": ("drain", "gate", "source"),
}
_LETTERS = {**dict.fromkeys(("npn", "pnp", "lpnp"), "Q"), **dict.fromkeys(("njf", "pjf"), "J"),
            **dict.fromkeys(("nmos", "pmos", "vdmos", "nsoi", "psoi"), "M"), "d": "D", "nmf": "Z", "pmf": "Z",
            "sw": "S", "vswitch": "S", "csw": "W", "iswitch": "W"}  # fmt: skip
_PASSIVE = frozenset(["r", "res", "c", "cap", "l", "ind", "core", "urc", "ltra", "txl", "cpl", "tranline"])
_KNOWN_TYPES = frozenset().union(*MODEL_TYPES.values())
_NUMERIC = late_pattern(r"[\w.]", re.ASCII)
_WORD_PARAMETERS = frozenset(
    ("mfg", "type", "version", "device", "pkg", "package", "lot", "dev", "date", "rev", "vendor", "binunit")
)
"""Parameters of cards whose values may be words."""
_ENCRYPTED = late_pattern(rb"^[ \t]*(?:\.prot(?:ect)?\b|\$CDNENCSTART|\*\*\$?ENCRYPTED"
                          rb"|\* *LTspice Encrypted)", re.IGNORECASE | re.MULTILINE)  # fmt: skip
_RULER = late_pattern(r"[\s*=_#|.~+-]*")
_LADDER = late_pattern(r"^\*[\s|*]*\|?\s*(?P<text>[^|]*?)\s*$")
_PIN_LINE = late_pattern(
    r"^\*\s*(?:pins?|pin order|pinout|nodes?|terminals?)\s*[:=]\s*(?P<pins>.+)$", re.IGNORECASE
)
_PIN_ALONE = late_pattern(
    r"^\*\s*(?:node|pin|terminal)\s+(?P<pin>\S+?)\s*(?:->|=|:)\s*(?P<use>\S.*)$", re.IGNORECASE
)
_CONNECTIONS = late_pattern(
    r"^\*\s*(?:connections?|node assignments?|pins?|pin order)\s*:?\s*(?P<first>.*)$", re.IGNORECASE
)


def read_components(data: bytes, file: str) -> tuple[Component, ...]:
    """All components of a file, in its order; for a file that cannot be read one that has its fault."""
    fault = _fault_of_file(data)
    name = re.split(r"[/\\]", file)[-1]
    if fault:
        return (Component(name, "other", "", "file", (), (), {}, file, 1, 1, fault=fault),)
    netlist = Netlist.parse(data, has_title=False)
    if not re.search(rb"^[ \t]*\.(?:model|subckt|macro)\b", data, re.IGNORECASE | re.MULTILINE):
        return ()
    comments = _Comments(netlist.source)
    found: list[Component] = []
    for subcircuit in netlist.subcircuits:
        if not subcircuit.statement.scope and len(found) < MOST_COMPONENTS:
            found.append(_of_subcircuit(subcircuit, comments, file))
    for model in netlist.models:
        if not model.statement.scope and len(found) < MOST_COMPONENTS:
            found.append(_of_model(model, comments, file))
    return tuple(sorted(found, key=lambda each: each.line))


def _fault_of_file(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in data[:4096]:
        return "binary"
    if re.search(rb"^[ \t]*\.(?:model|subckt|macro)\b", data, re.IGNORECASE | re.MULTILINE) is None and (
        _ENCRYPTED.search(data)
    ):
        return "encrypted"
    return ""


class _Comments:
    """The comment lines of a file."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def above(self, line: int) -> list[str]:
        """The comment lines right above a line, from top to bottom."""
        found: list[str] = []
        while line > 1 and len(found) < _MOST_COMMENT_LINES:
            line -= 1
            text = self._source.line_text(line)[:500].strip()
            if not text.startswith("*"):
                break
            found.append(self._source.decode(text))
        return found[::-1]

    def below(self, line: int, last: int) -> list[str]:
        """The comment lines right behind a line."""
        found: list[str] = []
        while line < min(last, len(self._source.lines)) and len(found) < _MOST_COMMENT_LINES:
            line += 1
            text = self._source.line_text(line)[:500].strip()
            if not text.startswith("*"):
                break
            found.append(self._source.decode(text))
        return found


def _title(name: str, lines: Sequence[str]) -> str:
    """What the comments say first: the line that begins with the name, else the first that is a sentence."""
    said = [re.sub(r"[*\s$]*$", "", line.lstrip("*").strip()) for line in lines]
    said = [line for line in said if line and _RULER.fullmatch(line) is None]
    for line in said:
        if line.casefold().startswith(name.casefold()):
            rest = line[len(name) :].lstrip(" :,-=\t")
            if rest:
                return rest[:_LONGEST_TITLE]
    plain = (
        line
        for line in said
        if not re.match(r"(?:pins?|figures|source|connections?|\||\$)", line, re.IGNORECASE)
    )
    return next(plain, "")[:_LONGEST_TITLE]


def _of_model(model: Model, comments: _Comments, file: str) -> Component:
    card = model.statement
    name = model.name[:_LONGEST_NAME]
    parameters = {each.name: each.value.text for each in assignments_of(card)}
    lines = comments.above(model.line)
    behind = card.source.decode(card.comment).lstrip("$;/ ").strip()
    title = (
        behind[:_LONGEST_TITLE] if behind and not lines else _title(name, lines) or behind[:_LONGEST_TITLE]
    )
    kind = _kind_of_model(model, parameters, f"{title} {' '.join(lines)}")
    letter = _LETTERS.get(model.type, model.type[:1].upper() if model.type in _PASSIVE else "X")
    return Component(
        name=name,
        kind=kind,
        title=title or _maker(parameters),
        card="model",
        ports=_ports_of_model(model, kind),
        roles=(),
        figures=_absolute({**_figures_of_model(kind, parameters), **figures_in(kind, [title, *lines])}),
        file=file,
        line=card.line,
        last_line=card.last_line,
        section=card.section or "",
        fault=_fault_of_model(model, parameters),
        letter=letter,
    )


def _ports_of_model(model: Model, kind: str) -> tuple[str, ...]:
    if model.type == "vdmos":
        return _PINS["vdmos"]
    alike = {"pnp": "npn", "pmos": "nmos", "pjf": "njf", "zener": "diode", "schottky": "diode"}.get(
        kind, kind
    )
    return _PINS.get(alike, ("1", "2"))


def _kind_of_model(model: Model, parameters: Mapping[str, str], said: str) -> str:
    letter = _LETTERS.get(model.type, "").lower()
    if letter in ("q", "m", "j", "z"):
        kind = device_kind(letter, model).replace("lpnp", "pnp")
        return {"nmf": "njf", "pmf": "pjf", "nsoi": "nmos", "psoi": "pmos"}.get(kind, kind) or "other"
    if letter == "d":
        told = kind_in(f"{said} {parameters.get('type', '')}")
        if told in ("schottky", "zener"):
            return told
        current = read_number(parameters.get("eg", ""))
        return "schottky" if current is not None and current.value <= 0.8 else "diode"
    if letter in ("s", "w"):
        return "switch"
    return {"r": "resistor", "c": "capacitor", "l": "inductor"}.get(model.type[:1], "other") if (
        model.type in _PASSIVE and model.type not in ("core", "cpl", "ltra")
    ) else "other"  # fmt: skip


def _maker(parameters: Mapping[str, str]) -> str:
    return parameters.get("mfg", "")[:_LONGEST_TITLE]


def _number(parameters: Mapping[str, str], *names: str) -> float | None:
    for name in names:
        number = read_number(parameters.get(name, "").strip("\"'{} "))
        if number is not None and math.isfinite(number.value):
            return number.value
    return None


def _figures_of_model(kind: str, parameters: Mapping[str, str]) -> dict[str, float]:
    """What the parameters say: LTspice's ratings, else what follows from the model itself."""
    found: dict[str, float | None] = {}
    if kind in ("npn", "pnp"):
        transit = _number(parameters, "tf")
        found = {
            "v": _number(parameters, "vceo", "bvceo"),
            "i": _number(parameters, "icrating", "imax"),
            "hfe": _number(parameters, "bf"),
            "f": 1 / (2 * math.pi * transit) if transit is not None and transit > 0 else None,
        }
    elif kind in ("diode", "schottky", "zener"):
        breakdown = _number(parameters, "bv", "vz", "vrev")
        found = {
            "vz" if kind == "zener" else "v": breakdown
            if kind == "zener"
            else _number(parameters, "vpk") or breakdown,
            "i": _number(parameters, "iave", "ipk"),
        }
    elif kind in ("nmos", "pmos", "njf", "pjf"):
        found = {
            "v": _number(parameters, "vds") or _number(parameters, "bv"),
            "i": _number(parameters, "imax"),
            "ron": _number(parameters, "ron") or _number(parameters, "rd"),
            "vth": _number(parameters, "vto", "vth0"),
        }
    return {key: value for key, value in found.items() if value is not None and value != 0}


def _absolute(figures: Mapping[str, float]) -> dict[str, float]:
    return {key: abs(value) for key, value in figures.items()}


def _fault_of_model(model: Model, parameters: Mapping[str, str]) -> str:
    if not model.type:
        return "no-type"
    if model.type.startswith("ako:"):
        return f"ako:{model.type[4:]}"
    if model.type not in _KNOWN_TYPES and model.type != "core":
        return f"type:{model.type[:40]}"
    if (level := foreign_level(model)) is not None:
        return f"level:{level}"
    for name, text in parameters.items():
        plain = text.strip("\"'{}()").split()
        is_expression = text[:1] in "{'\"(" or _NUMERIC.search(text) is None
        if name not in _WORD_PARAMETERS and not is_expression and plain and read_number(plain[0]) is None:
            return f"number:{name}={plain[0][:40]}"
    return ""


def _of_subcircuit(subcircuit: Subcircuit, comments: _Comments, file: str) -> Component:
    name = subcircuit.name[:_LONGEST_NAME]
    ports = tuple(port.text for port in subcircuit.ports[:_MOST_PORTS])
    card = subcircuit.statement
    last = subcircuit.end_line or card.last_line
    above, below = comments.above(subcircuit.line), comments.below(card.last_line, last)
    title = _title(name, above) or _title(name, below)
    roles = _roles(ports, above) or _roles(ports, below)
    said = " ".join((title, *above, *below))
    kind = kind_in(title) or kind_in(said) or _kind_by_pins(roles or ports)
    parameters = {key: value.text for key, value in subcircuit.params.items()}
    gain_bandwidth = _number(parameters, "gbw", "gbp") if kind == "opamp" else None
    figures = {} if gain_bandwidth is None else {"f": gain_bandwidth}
    return Component(
        name=name,
        kind=kind,
        title=title,
        card="subckt",
        ports=ports,
        roles=roles,
        figures=_absolute({**figures, **figures_in(kind, [title, *above, *below])}),
        file=file,
        line=card.line,
        last_line=last,
        section=card.section or "",
        fault=_fault_of_subcircuit(subcircuit, ports),
    )


def _fault_of_subcircuit(subcircuit: Subcircuit, ports: Sequence[str]) -> str:
    if subcircuit.end_line is None:
        return "no-ends"
    if not ports:
        return "no-pins"
    seen: set[str] = set()
    for port in ports:
        if port.lower() in seen:
            return f"pin-twice:{port[:40]}"
        seen.add(port.lower())
    return ""


def _roles(ports: Sequence[str], lines: Sequence[str]) -> tuple[str, ...]:
    """What the pins are for, in their order, where the comments have a word for each; else ()."""
    for line in reversed(lines):  # the one nearest to the card leads
        told = _PIN_LINE.match(line)
        words = [] if told is None else [word for word in re.split(r"[\s,;]+", told["pins"]) if word]
        if words and len(words) == len(ports):
            return tuple(word[:40] for word in words)
    return _ladder(ports, lines) or _numbered(ports, lines)


def _ladder(ports: Sequence[str], lines: Sequence[str]) -> tuple[str, ...]:
    for at, line in enumerate(lines):
        begun = _CONNECTIONS.match(line)
        if begun is None:
            continue
        words = [begun["first"].strip(" |")] if begun["first"].strip(" |") else []
        for below in lines[at + 1 :]:
            rung = _LADDER.match(below)
            if rung is None or "|" not in below:
                break
            if rung["text"]:
                words.append(rung["text"])
        if len(words) == len(ports):
            return tuple(word[:40] for word in words)
    return ()


def _numbered(ports: Sequence[str], lines: Sequence[str]) -> tuple[str, ...]:
    """A line for each pin: ``* Node 1 -> Drain``."""
    found = {}
    for line in lines:
        if (told := _PIN_ALONE.match(line)) is not None:
            found[told["pin"].lower()] = told["use"].strip()
    uses = [found.get(port.lower(), "") for port in ports]
    return tuple(use[:40] for use in uses) if all(uses) else ()


_INPUTS = ("inp", "in+", "inn", "in-", "+in", "-in", "non", "inv", "vinp", "vinn", "ip", "in", "vp", "vn")


def _kind_by_pins(pins: Sequence[str]) -> str:
    """An op-amp is told by two inputs and an output among three to seven pins."""
    keys = [pin.lower() for pin in pins]
    inputs = sum(1 for key in keys if key.startswith(_INPUTS))
    outputs = sum(1 for key in keys if key.startswith(("out", "vout", "o")))
    return "opamp" if 3 <= len(keys) <= 7 and inputs >= 2 and outputs == 1 else "subcircuit"
