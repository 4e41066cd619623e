"""What a keystroke in a netlist of 5,000 lines costs: completion and diagnostics, against reading its lines.

The goals are 50 ms for completion (the names read anew, of which only the changed card is looked at, and the
candidates found) and 150 ms for diagnostics; reading its lines is the floor of both.
"""

from __future__ import annotations

import itertools
from pathlib import Path

from domain.circuit.circuit_names import CardCache, CircuitNames
from domain.circuit.completion import Facts, complete
from domain.circuit.dependencies import SourceFile, SourceRefusal, resolve_dependencies
from domain.circuit.diagnostics import diagnose
from domain.circuit.netlist import Netlist
from tests.benchmarks.harness import Pair

PATH = Path("/project/large.cir")
_LADDERS, _STAGES = 50, 30


class _NoFiles:
    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        return SourceRefusal(path=including_file.with_name(reference), reason="missing")

    def find(self, name: str) -> Path | None:
        return None if name else PATH


def large_netlist() -> str:
    """Some 5,000 lines: 50 amplifiers of 30 stages, each with parameters, models and nodes of its own."""
    lines = ["large", "V1 t0 0 dc 1 ac 1", "Vcc vcc 0 5", ".global vcc", ".param rload=1k"]
    for ladder in range(_LADDERS):
        lines.append(f".subckt amp{ladder} n0 n{_STAGES} w=1u")
        for at in range(_STAGES):
            lines.append(f"R{at} n{at} n{at + 1} {{rload*{at + 1}}}")
            lines.append(f"C{at} n{at + 1} 0 10p")
            lines.append(f"Q{at} vcc n{at} n{at + 1} fast")
        lines.append(f".ends amp{ladder}")
        lines.append(f"X{ladder} t{ladder} t{ladder + 1} amp{ladder} w=2u")
    lines += [".model fast npn(bf=100)", f"Rout t{_LADDERS} 0 1k", ".ac dec 10 1 1meg", ".end"]
    return "\n".join(lines) + "\n"


def pairs() -> list[Pair]:
    text = large_netlist()
    at = text.index(".ac dec")
    numbers = itertools.count(1)
    cache = CardCache()

    def read(data: bytes) -> Netlist:
        netlist = Netlist.parse(data, path=PATH)
        assert netlist.statements
        return netlist

    def typed() -> str:
        return f"{text[:at]}R{next(numbers)} t1 rl\n{text[at:]}"

    def completion() -> None:
        new = typed()
        names = CircuitNames(resolve_dependencies(read(new.encode()), _NoFiles()), cache)
        facts = Facts(names=names, file=PATH)
        assert complete(new, new.index("\n", at), facts).candidates == ()
        assert complete(new, new.index(" rl", at) + 1, facts).candidates

    def diagnostics() -> None:
        netlist = read(typed().encode())
        assert diagnose(netlist, resolve_dependencies(netlist, _NoFiles()))

    floor = "reading its lines"
    return [
        Pair(name="complete", ours=completion, theirs=lambda: read(typed().encode()), theirs_name=floor),
        Pair(name="diagnose", ours=diagnostics, theirs=lambda: read(typed().encode()), theirs_name=floor),
    ]
