"""Netlists in an answer: what a person may want to keep as a file, or to simulate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist
from domain.llm.answers import closed_blocks
from shared.message import Message, msg

_BLOCK_BEGIN = re.compile(
    r"(?:^|(?<=\n))[ \t]*+(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<language>[\w.+-]*+)[^\n]*+\n"
)
QUOTED = "output"
"""Marks a block that repeats a tool's text: what stands in it is there already, whatever it looks like."""
_LANGUAGES = frozenset({"", "spice", "ngspice", "netlist", "cir", "sp", "ckt", "text", "txt"})
_NAME = re.compile(r"[^\W_][\w-]{0,38}")
_ELEMENT = re.compile(r"[a-z][\w.:#$-]*")
_GROUND = frozenset({"0", "gnd"})
_ANALYSES = frozenset({".op", ".dc", ".ac", ".tran", ".noise", ".tf", ".sens", ".pz", ".disto", ".sp"})
_LEAST_FIELDS = 4
_LEAST_ELEMENTS = 2
_LONGEST = 50_000
"""Characters of a netlist, and"""
_MOST = 8
"""blocks that are looked at: this is done while the conversation is drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetlistInText:
    """One complete netlist."""

    text: str
    """As written in its block, with a line end at its end."""
    title: str
    elements: int
    """Their number, those in subcircuits too."""

    @property
    def file_name(self) -> str:
        """A name for its file, from its title."""
        words = _NAME.findall(self.title.strip("* \t").lower())[:4]
        return f"{'_'.join(words)[:40] or 'circuit'}.cir"


def what_is_missing(text: str) -> Message | None:
    """Why a block can't be simulated as a file of its own; None when it can."""
    netlist = Netlist.parse(file_text(text, ".cir").encode(), path=Path("block.cir"))
    top = [element for element in netlist.elements if not element.scope]
    if netlist.has_control_block and (top or netlist.includes):
        return None
    if not top and not netlist.includes:
        return msg("This block is not a complete circuit: insert it as a file and include it in one.")
    if not netlist.analyses:
        return msg("This block has no analysis: add .op, .ac or .tran, or insert it as a file.")
    if not netlist.includes and not any(node.text.lower() in _GROUND for each in top for node in each.nodes):
        return msg("No node of this block is the ground (0), so it cannot be simulated.")
    return None


def file_text(text: str, suffix: str) -> str:
    """A block as a file: a circuit has a title, which is not one of its elements."""
    lines = text.replace("\r\n", "\n").strip("\n") + "\n"
    return lines if suffix.lower() in LIBRARY_SUFFIXES or _has_title(lines) else f"* circuit\n{lines}"


def _has_title(lines: str) -> bool:
    fields = lines.partition("\n")[0].lower().split()
    if not fields or fields[0].startswith("*"):
        return True
    is_element = len(fields) >= _LEAST_FIELDS and bool(_ELEMENT.fullmatch(fields[0]))
    is_meant = any(letter.isdecimal() for letter in fields[0]) or not _GROUND.isdisjoint(fields[1:])
    return not (fields[0].startswith(".") or (is_element and is_meant))


def proposed_name(text: str) -> str:
    """A name for the file of a block: from its title; of definitions alone from the first of them."""
    lines = text.strip().splitlines() or [""]
    fields = [line.split() for line in lines]
    defined = next((each[1] for each in fields if each[:1] and each[0].lower() == ".subckt" and each[1:]), "")
    if defined and what_is_missing(text) is not None and _NAME.fullmatch(defined):
        return f"{defined.lower()}.lib"
    title = lines[0] if _has_title(lines[0]) else ""
    return NetlistInText(text="", title=title, elements=0).file_name


def complete_netlists(text: str) -> tuple[NetlistInText, ...]:
    """The complete netlists in the code blocks of an answer, in order.

    Complete is a block with a title, at least two elements at the top level, one of them at ground, and
    ``.end`` or an analysis; a few lines that show a change are not.
    """
    if "```" not in text and "~~~" not in text:
        return ()
    found: list[NetlistInText] = []
    for block in islice(closed_blocks(text, _BLOCK_BEGIN), _MOST):
        if block.begin["language"].lower() in _LANGUAGES and len(block.content) <= _LONGEST:
            netlist = _netlist_in(block.content.replace("\r\n", "\n").strip("\n") + "\n")
            if netlist is not None and netlist not in found:
                found.append(netlist)
    return tuple(found)


def _netlist_in(text: str) -> NetlistInText | None:
    # Not by the netlist's own reader: a long block would hold the window up.
    lines = [line.strip().lower() for line in text.splitlines()]
    elements = top = depth = 0
    has_ground = has_analysis = False
    for line in lines[1:]:
        fields = line.split()
        if not fields:
            continue
        depth += (fields[0] == ".subckt") - (fields[0] == ".ends")
        has_analysis |= fields[0] in _ANALYSES
        if _ELEMENT.fullmatch(fields[0]) and len(fields) >= _LEAST_FIELDS:
            elements += 1
            top += depth == 0
            has_ground |= depth == 0 and not _GROUND.isdisjoint(fields[1:-1])
    last = next((line for line in reversed(lines) if line), "")
    if top < _LEAST_ELEMENTS or not has_ground or not (has_analysis or last == ".end"):
        return None
    return NetlistInText(text=text, title=text.partition("\n")[0].strip(), elements=elements)
