"""What is saved of a run that would write more than it may."""

from __future__ import annotations

from pathlib import Path

from application.simulation.great_runs import signals_that_fit
from domain.circuit.dependencies import SourceRefusal, resolve_dependencies
from domain.circuit.netlist import Netlist

STAGES = "".join(f"R{n} n{n} n{n + 1} 1k\n" for n in range(200))
DECK = (
    "* deck\nV1 in 0 1\nR1 in out 1k\nX1 out line\n"
    f".subckt line n0\n{STAGES}.ends\n.tran 1n 10m 0 10n\n.end\n"
)


class _NoFiles:
    def read(self, reference: str, *, including_file: Path) -> SourceRefusal:
        return SourceRefusal(including_file.parent / reference, "missing")

    def find(self, name: str) -> Path | None:
        return None


def saved(deck: str) -> tuple[str, ...]:
    netlist = Netlist.parse(deck.encode(), path=Path("/deck.cir"))
    return signals_that_fit(resolve_dependencies(netlist, _NoFiles()), netlist.analyses)


def test_the_circuits_own_signals_are_saved_where_those_of_subcircuits_would_not_fit() -> None:
    """A million points of 203 signals are 1.6 GB; of three, 24 MB."""
    assert saved(DECK) == ("v(in)", "i(v1)", "v(out)")
    for fits in (DECK.replace("0 10n", "0 100n"), DECK.replace(".end\n", ".save all\n.end\n", 1),
                 DECK.replace("X1 out line", "R9 out 0 1k"), DECK.replace(" 0 10n", "")):  # fmt: skip
        assert saved(fits) == ()
