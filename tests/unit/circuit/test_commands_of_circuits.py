"""What the commands of a circuit are read as: what they plot, and how they are made to keep their plots."""

from __future__ import annotations

import pytest

from domain.circuit.altered_plots import altered_values
from domain.circuit.control_blocks import (
    KEEP_NAME,
    assigned_vectors,
    commands_of,
    keeping_plots,
    plotted_curves,
)
from domain.circuit.dependencies import DependencyTree, resolve_dependencies
from domain.circuit.hierarchy import read_circuit
from domain.circuit.netlist import Netlist
from domain.circuit.watched_signals import SHOWING, asked_curves, shown_curves
from domain.simulation.expressions import set_by
from domain.simulation.wiring import wiring_of
from tests.fakes.memory_sources import MemorySources
from tests.ground.cases import for_each


def tree(commands: str, *, end: str = ".endc\n.end\n") -> DependencyTree:
    return DependencyTree(root=Netlist(f"t\nV1 a 0 1\nR1 a 0 1\n.control\n{commands}\n{end}".encode()))


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ("tran 1u 1m\nplot a v(b)-v(a)", [("tran", ("a", "v(b)-v(a)"))]),
        ("ac dec 5 1 1k\nplot vdb(out) xlog xlimit 1 100 title 'gain v(out)'", [("ac", ("vdb(out)",))]),
        ("run\nhardcopy x.ps v(a) ylabel volts", [("", ("v(a)",))]),
        ("tran 1u 1m\nac lin 1 1 1\nplot tran1.v(a) ac2.v(a)", [("tran", ("v(a)",)), ("ac", ("v(a)",))]),
        ("dc v1 0 1 1\nplot i(v1) vs v(a)\nplot all\nplot $curves\n*plot v(a)", []),
        ("op\nplot v(a) $ a comment", [("op", ("v(a)",))]),
        ("op\nprint v(a)", []),
    ],
)  # fmt: skip
def test_what_is_plotted(commands: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    found = plotted_curves(commands_of(tree(commands)))
    assert [(curves.analysis, curves.expressions) for curves in found] == expected


@pytest.mark.parametrize(
    ("cards", "shown", "asked"),
    [
        (
            ".print tran v(1) V(2, 3) i(vcc) par('v(1)*2')\n.PLOT TRAN v(4) (0,5) ic(q1)",
            [("tran", ("v(1)", "v(2,3)", "i(vcc)", "v(4)", "ic(q1)"))],
            [],
        ),
        (
            ".print ac vdb(out) vp(out) vm(2)\n.print dc v(out)",
            [("ac", ("v(out)", "v(2)")), ("dc", ("v(out)",))],
            [],
        ),
        (
            ".print noise inoise onoise(m)\n.print tran all",
            [("noise", ("inoise_spectrum", "onoise_spectrum"))],
            [],
        ),
        (".probe v(a) i(r1)\n.probe alli\n.probe", [("", ("v(a)", "i(r1)"))], []),
        (
            ".four 1meg v(o1,o2) v(x)\n.meas tran d trig v(in) val=1 rise=1 targ v(o1) val=1 rise=1\n"
            ".meas ac g max vdb(b)",
            [],
            [("tran", ("v(o1,o2)", "v(x)", "v(in)", "v(o1)")), ("ac", ("v(b)",))],
        ),
        (".print\n.plot tran\n.print xyz v(1)\n.four 1k", [], []),
    ],
)
def test_what_cards_want_to_see(
    cards: str, shown: list[tuple[str, tuple[str, ...]]], asked: list[tuple[str, tuple[str, ...]]]
) -> None:
    netlist = Netlist(f"t\nV1 a 0 1\nR1 a 0 1\n{cards}\n.end\n".encode())
    showing = [card for keyword in SHOWING for card in netlist.directives(keyword)]
    found = shown_curves(showing), asked_curves(netlist.directives("four"), netlist.measures)
    assert [[(each.analysis, each.expressions) for each in curves] for curves in found] == [shown, asked]


@pytest.mark.parametrize(
    ("cards", "nodes"),
    [
        ("RL dc 0 47\nRS in 0 1", ("dc",)),
        ("Rload 0 bus 1\nI_load b 0 1m", ("bus", "b")),
        ("VCC vcc 0 9\nRL vcc 0 1k", ()),
        ("RL a b 1k\nRLX lx 0 1k\nCL q 0 1n", ()),
    ],
)
def test_what_is_called_a_load_tells_what_is_looked_at(cards: str, nodes: tuple[str, ...]) -> None:
    netlist = Netlist(f"t\n{cards}\n.op\n.end\n".encode())
    assert wiring_of(read_circuit(resolve_dependencies(netlist, MemorySources()))).loaded == nodes


@pytest.mark.parametrize(
    ("commands", "expression", "signal"),
    [
        ("let v(a) = 5", "max(v(a))", "v(a)"),
        ("let A[3] = 5", "max(db(v(a)/v(b)))", "v(a)"),
        ("let tran1.v(a) = 5", "tran1.v(a)", "tran1.v(a)"),
        ("set x = a\nlet v($x) = 5", "at(v(a), 1k)", "v(a)"),
        ("let ac1.${x}=5", "v(b, a)", "v(b, a)"),
        ("let v1#branch = 1", "max(i(v1))", "i(v1)"),
        ("load my.raw", "max(v(a))", "v(a)"),
        ("compose a values 1 2", "max(v(a))", "v(a)"),
        ("let gain = db(v(a))\nlet a2 = 1\nlet x$i = 1", "max(v(a)) + max(gain)", ""),
        ("*let v(a) = 5\necho let v(a) = 5", "max(v(a))", ""),
    ],
)
def test_signals_that_commands_set_are_known(commands: str, expression: str, signal: str) -> None:
    assert set_by(expression, assigned_vectors(commands_of(tree(commands)))) == signal


def test_every_line_stays_where_it_is() -> None:
    circuit = tree("op\n  quit 3 $ enough\nif 1\n\texit\nend\n*#quit\nquitter\necho quit")
    kept = keeping_plots(circuit, has_analyses=False)
    before = circuit.root.to_bytes().decode().splitlines()
    after = kept.tree.root.to_bytes().decode().splitlines()
    changed = [number for number, line in enumerate(before) if after[number] != line]
    assert [before[number].strip() for number in changed] == ["quit 3 $ enough", "exit", "*#quit"]
    assert [kept.scripts[after[number].split()[-1]].decode().splitlines()[-1] for number in changed] == [
        "quit 3", "quit", "quit",
    ]  # fmt: skip
    assert after[len(before) :] == [".control", f"source {KEEP_NAME}", "quit", ".endc"]


def test_a_block_that_is_left_open_is_closed() -> None:
    kept = keeping_plots(tree("op", end=""), has_analyses=False)
    assert kept.tree.root.to_bytes().decode().splitlines()[-5:] == [
        ".endc", ".control", f"source {KEEP_NAME}", "quit", ".endc",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("commands", "has_analyses", "quits"),
    [("op", True, False), ("op", False, True), ("run", True, True), ("if 0\nrun\nend", True, True)],
)
def test_the_cards_are_run_once(commands: str, has_analyses: bool, quits: bool) -> None:
    assert keeping_plots(tree(commands), has_analyses=has_analyses).quits is quits


def _altered(commands: str, made: str) -> dict[str, str]:
    netlist = Netlist.parse(f"t\nR1 a 0 1k\n.tran 1n 1u\n.control\n{commands}\n.endc\n.end\n".encode())
    return altered_values(netlist, made.split())


@for_each(
    ("commands", "made", "told"),
    [
        ("foreach v 1k 2k\nalter r1 = $v\ntran 1n 1u\nend", "tran1 tran2",
         {"tran1": "r1=1k", "tran2": "r1=2k"}),
        ("op\nalter R1 2k\nrun\nlinearize\nreset\nac dec 1 1 1k", "op1 tran1 tran2 ac2",
         {"tran1": "r1=2k", "tran2": "r1=2k"}),
        ("foreach v 1 2\nforeach w 3 4\nalter v1 dc=$v\naltermod m vto={$w}\nop\nend\nend", "op1 op2 op3 op4",
         {f"op{n}": f"v1 dc={1 + (n > 2)}" for n in range(1, 5)}),
        ("alter r1=1k\nnoise v(a) v1 dec 1 1 1\nop", "noise1 noise2 op2",
         {"noise1": "r1=1k", "noise2": "r1=1k", "op2": "r1=1k"}),
        # the plots are others than the commands lead to: one has failed, or was made in another way
        ("alter r1 = 1k\ntran 1n 1u\nalter r1=2k\ntran 1n 1u", "tran1", {}),
        # what is computed is not known
        ("let x=1\nalter r1 = x\nop", "op1", {}),
        ("let x=1\nwhile x < 3\nalter r1 = x\nop\nend", "op1 op2", {}),
        ("tran 1n 1u", "tran1", {}),
    ],
)  # fmt: skip
def test_a_plot_of_an_alter_loop_is_told_by_its_value(commands: str, made: str, told: dict[str, str]) -> None:
    assert _altered(commands, made) == told
