"""Which way a value is changed, where it stands, and what it is now."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from domain.circuit.dependencies import DependencyTree, SourceFile, SourceRefusal, resolve_dependencies
from domain.circuit.netlist import Netlist
from domain.studies.variation import plan_variation
from shared.errors import UserInputError
from tests.ground.cases import for_each


class Files:
    """Included files by name."""

    def __init__(self, files: dict[str, str]) -> None:
        self._files = files

    def find(self, name: str) -> Path | None:
        return None

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        if reference in self._files:
            return SourceFile(path=Path("/project") / reference, data=self._files[reference].encode())
        return SourceRefusal(path=Path(reference), reason="missing")


def tree_of(deck: str, **files: str) -> DependencyTree:
    netlist = Netlist.parse(deck.encode(), path=Path("/project/circuit.cir"))
    return resolve_dependencies(
        netlist, Files({name.replace("_", "."): text for name, text in files.items()})
    )


def text_of(tree: DependencyTree) -> str:
    return tree.root.to_bytes().decode()


DECK = """title
.param rl=2k gain='rl/1k'
Vin in 0 dc 1 ac 1
Vp p 0 pulse(0 1 1u)
Vn n 0
R1 in a 4.7k
R2 a 0 {rl}
R3 a 0 1k tc=1e-3
R4 a 0 rmod 2k
L1 a b 1m
L2 b 0 1m
L3 b 0 2m
K1 L1 L2 0.9
C1 b 0 100n
Q1 b a 0 qn
X1 a b cell r=1k
X2 a b lone
.subckt cell p q r=5k c=1n
Rx p q {r}
.ends
.subckt lone p q
Ry p q 3k
.ends
.model qn npn(bf=150 is=1e-14)
.model rmod r(rsh=10)
.dc L3 1m 2m 1m
.noise v(b) Vin dec 1 1 10
.end
"""


@for_each(
    ("name", "way", "target", "nominal"),
    [
        ("R1", "alter", "r1", 4.7e3),
        ("VIN", "alter", "vin", 1.0),
        ("C1", "alter", "c1", 1e-7),
        ("R2", "alter", "r2", 2e3),
        ("R3", "alterparam", "varied1", 1e3),
        ("R4", "alterparam", "varied1", 2e3),
        ("L1", "alterparam", "varied1", 1e-3),
        ("L3", "alterparam", "varied1", 2e-3),
        ("K1", "alterparam", "varied1", 0.9),
        ("Vp", "alterparam", "varied1", 0.0),
        ("Vn", "alterparam", "varied1", 0.0),
        ("rl", "alterparam", "varied1", 2e3),
        ("gain", "alterparam", "varied1", 2.0),
        ("q1.area", "alterparam", "varied1", 1.0),
        ("qn.bf", "alterparam", "varied1", 150.0),
        ("qn.is", "alterparam", "varied1", 1e-14),
        ("x1.r", "alterparam", "varied1", 1e3),
        ("x1.c", "alterparam", "varied1", 1e-9),
        ("x2.ry", "alterparam", "varied1", 3e3),
        ("temp", "alterparam", "varied1", 27.0),
    ],
)
def test_each_value_has_its_way(name: str, way: str, target: str, nominal: float) -> None:
    edited, (varied,) = plan_variation(tree_of(DECK), [name])
    assert (varied.name, varied.way, varied.targets) == (name, way, (target,))
    assert varied.nominal == pytest.approx(nominal)
    before, after = DECK.splitlines(), text_of(edited).splitlines()
    assert before.pop() == after.pop() == ".end"
    changed = [line for line in range(len(before)) if before[line] != after[line]]
    if way == "alter":
        assert text_of(edited) == DECK
    else:
        assert len(changed) == (0 if name == "temp" else 1), "one line, and none moved"
        assert f".param varied1={varied.nominal!r}" in after[len(before) :]
        assert "{varied1}" in (after[changed[0]] if changed else after[len(before)])


def test_the_bracket_of_a_model_stays() -> None:
    edited, _ = plan_variation(tree_of(DECK), ["qn.is", "qn.vaf"])
    assert ".model qn npn(bf=150 is={varied1} vaf={varied2})" in text_of(edited)


def test_a_parameter_nobody_wrote_has_no_nominal_value() -> None:
    edited, (varied,) = plan_variation(tree_of(DECK), ["qn.vaf"])
    assert math.isnan(varied.nominal)
    assert ".param varied1=1.0" in text_of(edited)


def test_temperature_is_put_where_it_stands() -> None:
    deck = "t\nR1 a 0 1k\n.temp 50\n.options reltol=1e-4 temp=60 gmin=1e-12\n.op\n.end\n"
    edited, (varied,) = plan_variation(tree_of(deck), ["temp"])
    assert varied.nominal == 60
    lines = text_of(edited).splitlines()
    assert lines[2] == "* .temp 50"
    assert lines[3] == ".options reltol=1e-4 temp={varied1} gmin=1e-12"


def test_a_parameter_called_temp_is_that_parameter() -> None:
    edited, _ = plan_variation(tree_of("t\n.param temp=30\nR1 a 0 {2*temp}\n.op\n.end\n"), ["temp"])
    assert ".param temp={varied1}" in text_of(edited)


def test_values_of_included_files_are_edited_in_copies() -> None:
    deck = "t\n.include a.inc\n.lib b.lib tt\nX1 a amp\nR1 a 0 {2*rl}\n.op\n.end\n"
    library = ".lib tt\n.model dx d(is=1e-14)\n.endl\n.lib ff\n.model dx d(is=2e-14)\n.endl\n"
    tree = tree_of(
        deck,
        a_inc=".param rl=1k\n.subckt amp p\nRin p 0 9k\n.ends\n*# shell touch x\n",
        b_lib=library,
    )
    edited, varied = plan_variation(tree, ["rl", "dx.is", "x1.rin"])
    assert [one.nominal for one in varied] == pytest.approx([1e3, 1e-14, 9e3])
    assert edited.changed == {Path("/project/a.inc"), Path("/project/b.lib")}
    assert edited.files[Path("/project/a.inc")].to_bytes().decode() == (
        ".param rl={varied1}\n.subckt amp p\nRin p 0 {varied3}\n.ends\n* *# shell touch x\n"
    )
    assert edited.files[Path("/project/b.lib")].to_bytes().decode() == library.replace("1e-14", "{varied2}")
    _, companions = edited.portable()
    assert len(companions) == 2


def test_commands_are_switched_off_but_loading_of_models_stays() -> None:
    deck = "t\n*# run\nR1 a 0 1k\n.control\nrun\nquit\n.endc\n.op\n.end\n"
    edited, _ = plan_variation(tree_of(deck), [])
    assert not edited.root.has_control_block
    loading = deck.replace("quit", "pre_osdi model.osdi")
    lines = text_of(plan_variation(tree_of(loading), [])[0]).splitlines()
    assert lines[1] == "* *# run"
    assert lines[3:7] == [".control", "* run", "pre_osdi model.osdi", ".endc"]


def test_a_parameter_is_altered_only_where_all_of_its_uses_are_values_that_alter_sets() -> None:
    deck = (
        "t\n.param w=2u k=1u z=3 ib=1u\n.model n nmos level=3\n.model b.1 nmos\n.model b.2 nmos\n"
        "Ib a b {ib}\nV1 q 0 dc {ib} ac {z}\nM1 a b 0 0 n w={w} l='k'\n"
        "M2 a b 0 0 n w={w} l=1u ad={k*1u}\nM3 a b 0 0 b w=1u\n"
    )
    names = ["w", "k", "z", "Ib", "m3.w", "M1.w"]
    _, found = plan_variation(tree_of(deck), names)
    ways = {one.name: one.targets if one.way == "alter" else () for one in found}
    assert ways == {
        "w": ("@m1[w]", "@m2[w]"), "k": (), "z": (), "Ib": ("ib", "v1"), "m3.w": (), "M1.w": ("@m1[w]",),
    }  # fmt: skip
    assert plan_variation(tree_of(deck), ["m1.w", "w"])[1][1].way == "alterparam", "m1.w is set last"


def test_our_parameters_do_not_meet_those_of_the_circuit() -> None:
    edited, (varied,) = plan_variation(tree_of("t\n.param varied1=5 r=1k\nR1 a 0 {2*r}\n.op\n.end\n"), ["r"])
    assert varied.targets == ("varied_1",)
    assert ".param varied1=5 r={varied_1}" in text_of(edited)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["R1", "r1"], "twice"),
        (["R9"], "R9"),
        (["x9.r"], "x9.r"),
        (["R2", "R2.r"], "R2.r"),
    ],
)
def test_names_that_cannot_be_varied_are_refused(names: list[str], words: str) -> None:
    with pytest.raises(UserInputError, match=words):
        plan_variation(tree_of(DECK), names)


def test_a_subcircuit_used_twice_cannot_be_varied_inside() -> None:
    deck = "t\n.include a.inc\nX1 a amp\nX2 a amp\n.op\n.end\n"
    with pytest.raises(UserInputError, match="more than once"):
        plan_variation(tree_of(deck, a_inc=".subckt amp p\nRin p 0 9k\n.ends\n"), ["x1.rin"])
