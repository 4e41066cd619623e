"""What a netlist includes, found as ngspice finds it."""

from pathlib import Path

import pytest

from domain.circuit.dependencies import DependencyTree, RefusalReason, SourceRefusal, resolve_dependencies
from domain.circuit.netlist import Netlist
from tests.fakes.memory_sources import FOLDER, MemorySources

Files = dict[str, str | bytes | SourceRefusal]


def resolve(deck: str, files: Files | None = None, max_depth: int = 32) -> DependencyTree:
    netlist = Netlist.parse(f"t\n{deck}".encode(), path=FOLDER / "d.cir")
    return resolve_dependencies(netlist, MemorySources(files), max_depth=max_depth)


def elements(tree: DependencyTree) -> list[str]:
    return [placed.statement.fields[0].text for placed in tree.expanded if placed.statement.kind == "element"]


def names(tree: DependencyTree) -> list[str]:
    return [str(path.relative_to(FOLDER)) for path in tree.files]


def test_splices_files_in_where_they_are_named() -> None:
    tree = resolve("R1 a 0 1\n.include x.inc\nR3 a 0 1\n", {"x.inc": "R2 a 0 1\n"})
    assert elements(tree) == ["R1", "R2", "R3"]
    assert tree.target_of(FOLDER / "d.cir", 3) == FOLDER / "x.inc"
    assert [*tree.refusals, *tree.missing_sections, *tree.cycles] == []


def test_only_the_named_section_is_taken() -> None:
    files: Files = {"m.lib": "R0 a 0 1\n.LIB TT\nR1 a 0 1\n.ENDL\n.lib ss\nR2 a 0 1\n.endl ss\n"}
    tree = resolve(".lib 'm.lib' tt\n", files)
    assert elements(tree) == ["R1"]
    assert tree.sections == {FOLDER / "m.lib": {"tt"}}


def test_sections_may_use_sections() -> None:
    files: Files = {
        "s/m.lib": ".lib tt\n.lib 'n.lib' base\n.lib 'm.lib' more\n.endl\n.lib more\nR1 a 0 1\n.endl\n",
        "s/n.lib": ".lib base\nR2 a 0 1\n.include r.inc\n.endl\n",
        "s/r.inc": "R3 a 0 1\n",
    }
    tree = resolve(".lib s/m.lib TT\n", files)
    assert elements(tree) == ["R2", "R3", "R1"]
    assert [*tree.refusals, *tree.missing_sections, *tree.cycles] == []


def test_the_circuits_folder_comes_before_the_including_files() -> None:
    files: Files = {"sub/x.inc": ".include y.inc\n", "sub/y.inc": "R1 a 0 1\n", "y.inc": "R2 a 0 1\n"}
    assert elements(resolve(".include sub/x.inc\n", files)) == ["R2"]
    del files["y.inc"]
    assert elements(resolve(".include sub/x.inc\n", files)) == ["R1"]


def test_a_lib_inside_an_include_is_looked_for_in_the_circuits_folder_only() -> None:
    section = ".lib tt\nR1 a 0 1\n.endl\n"
    files: Files = {"sub/x.inc": ".lib m.lib tt\n", "sub/m.lib": section}
    (refusal,) = resolve(".include sub/x.inc\n", files).refusals
    assert (refusal.file, refusal.line, refusal.reference) == (FOLDER / "sub/x.inc", 1, "m.lib")
    assert elements(resolve(".include sub/x.inc\n", {**files, "m.lib": section})) == ["R1"]


def test_a_missing_include_in_an_unused_section_counts() -> None:
    files: Files = {"m.lib": ".lib tt\nR1 a 0 1\n.endl\n.lib ss\n.include nope\n.lib gone.lib x\n.endl\n"}
    tree = resolve(".lib m.lib tt\n", files)
    assert [(r.reference, r.line) for r in tree.refusals] == [("nope", 5)]


@pytest.mark.parametrize(
    "reason", ["missing", "outside", "not-regular", "folder", "too-large", "unreadable", "url"]
)
def test_refusals_say_where_and_why(reason: RefusalReason) -> None:
    refused = SourceRefusal(path=Path("/x"), reason=reason)
    tree = resolve("R1 a 0 1\n  .include secret.inc\n", {"secret.inc": refused})
    (refusal,) = tree.refusals
    assert (refusal.line, refusal.column, refusal.refusal.reason) == (3, 12, reason)
    assert "secret.inc" in str(refusal.message)


@pytest.mark.parametrize(
    ("card", "text"),
    [
        (".include $PDK/m.inc", "$PDK/m.inc"),
        (".include ${PDK}/m.inc", "${PDK}/m.inc"),
        (".include '$PDK/m.inc'", "$PDK/m.inc"),
        (".include", "names no file"),
        (".include ../work/${CELL}_lpe.spi", "${CELL} is a placeholder"),
        ('.include "../work/${CELL}.spi"', "${CELL} is a placeholder"),
        (".include https://x/y.inc", "https:"),
    ],
)
def test_what_is_no_path(card: str, text: str) -> None:
    (refusal,) = resolve(card).refusals
    assert text in str(refusal.message)


def test_missing_and_torn_sections() -> None:
    tree = resolve(".lib m.lib ff\n.lib m.lib tt\n", {"m.lib": ".lib tt\nR1 a 0 1\n"})
    assert [(m.section, m.line, m.unclosed) for m in tree.missing_sections] == [
        ("ff", 2, False),
        ("tt", 3, True),
    ]


@pytest.mark.parametrize(
    ("deck", "files", "place"),
    [
        (
            ".include x.inc\n",
            {"x.inc": "R1 a 0 1\n.include y.inc\n", "y.inc": ".include x.inc\n"},
            ("y.inc", 1),
        ),
        (".include x.inc\n", {"x.inc": ".include x.inc\n"}, ("x.inc", 1)),
        (".include d.cir\n", {"d.cir": "t\n.include d.cir\n"}, ("d.cir", 2)),
        (".lib m.lib tt\n", {"m.lib": ".lib tt\n.lib m.lib tt\n.endl\n"}, ("m.lib", 2)),
    ],
)
def test_cycles_end(deck: str, files: Files, place: tuple[str, int]) -> None:
    (cycle,) = resolve(deck, files).cycles
    assert cycle.file is not None
    assert (cycle.file.name, cycle.line, cycle.too_deep) == (*place, False)


def test_depth_is_limited() -> None:
    files: Files = {f"{i}.inc": f".include {i + 1}.inc\n" for i in range(10)}
    files["10.inc"] = "R1 a 0 1\n"
    assert elements(resolve(".include 0.inc\n", files)) == ["R1"]
    (cut,) = resolve(".include 0.inc\n", files, max_depth=5).cycles
    assert cut.too_deep


def test_a_file_may_be_included_twice() -> None:
    tree = resolve(".include x.inc\n.include x.inc\n", {"x.inc": "R1 a 0 1\n"})
    assert (elements(tree), names(tree), tree.cycles) == (["R1", "R1"], ["x.inc"], [])


def test_scopes_go_over_file_borders() -> None:
    tree = resolve(".subckt s a\n.include x.inc\n.ends\n", {"x.inc": "R1 a 0 1\n"})
    assert [p.scope for p in tree.expanded if p.statement.kind == "element"] == [("s",)]


def test_a_portable_circuit_brings_copies_of_what_leans_on_its_folder() -> None:
    files: Files = {
        "sub/w.inc": ".include x.inc\n",
        "sub/x.inc": ".include y.inc\n.include z.inc\n",
        "sub/z.inc": "* z\n",
        "y.inc": "R1 a 0 1\n",
    }
    root, copies = resolve(".include sub/w.inc\n.include sub/z.inc\n", files).portable()
    assert root.to_bytes().decode().endswith(f'.include "w.inc"\n.include "{FOLDER}/sub/z.inc"\n')
    assert copies == {
        "w.inc": b'.include "x.inc"\n',
        "x.inc": f'.include "{FOLDER}/y.inc"\n.include "{FOLDER}/sub/z.inc"\n'.encode(),
    }


def test_a_circuit_whose_files_stand_alone_needs_no_copies() -> None:
    _, copies = resolve(".include sub/z.inc\n", {"sub/z.inc": "* z\n"}).portable()
    assert copies == {}


def test_a_portable_circuit_brings_copies_of_what_has_no_name_in_spice() -> None:
    """ngspice cuts a quoted `.lib` path at a blank; a GBK deck cannot say a UTF-8 file name."""
    section = ".lib tt\nR1 a 0 1\n.endl\n"
    root, copies = resolve(".lib 'my models/m.lib' tt\n", {"my models/m.lib": section}).portable()
    assert root.to_bytes() == b't\n.lib "m.lib" tt\n'
    assert copies == {"m.lib": section.encode()}

    deck = "标题\n.include 模型.inc\n".encode("gbk")
    sources = MemorySources({"模型.inc": "R1 a 0 1\n"})
    root, copies = resolve_dependencies(Netlist.parse(deck, path=FOLDER / "d.cir"), sources).portable()
    assert root.to_bytes().endswith(b'.include "included.inc"\n')
    assert copies == {"included.inc": b"R1 a 0 1\n"}


def test_a_portable_circuit_does_not_name_what_would_hang_ngspice() -> None:
    """A FIFO, and a section that uses itself."""
    fifo = SourceRefusal(path=FOLDER / "fifo", reason="not-regular")
    files: Files = {"fifo": fifo, "x.inc": "R1 a 0 1\n.include fifo\n"}
    root, copies = resolve(".include fifo\n.include x.inc\n", files).portable()
    assert root.to_bytes() == b't\n.include "not-to-be-opened"\n.include "x.inc"\n'
    assert copies == {"x.inc": b'R1 a 0 1\n.include "not-to-be-opened"\n'}

    cycle: Files = {"m.lib": ".lib tt\n.lib m.lib tt\n.endl\n"}
    root, copies = resolve(".lib m.lib tt\n", cycle).portable()
    assert root.to_bytes() == b't\n.lib "m.lib" tt\n'
    assert copies == {"m.lib": b'.lib tt\n.lib "not-to-be-opened" tt\n.endl\n'}


def test_copies_have_names_of_their_own() -> None:
    section = ".lib tt\nR1 a 0 1\n.endl\n"
    files: Files = {"a b/m.lib": section, "c d/m.lib": section, "a b/deck.cir": section}
    cards = "".join(f'.lib "{name}" tt\n' for name in files)
    _, copies = resolve(cards, files).portable({"deck.cir"})
    assert sorted(copies) == ["2_deck.cir", "2_m.lib", "m.lib"]


def test_data_files_of_models_are_named() -> None:
    tree = resolve(
        '.include x.inc\n.model s d_source(input_file = "A b.txt")\n* .model n filesource(file="no.txt")\n',
        {"x.inc": '.model f filesource (FILE="d.txt" amplscale=[1])\n.model g gain(gain=2)\n'},
    )
    assert tree.data_files == ("d.txt", "A b.txt")


class LibrarySources(MemorySources):
    """Finds everything in a library folder when it is not beside the file."""

    def read(self, reference, *, including_file):  # type: ignore[no-untyped-def]
        beside = super().read(reference, including_file=including_file)
        return (
            super().read(reference, including_file=FOLDER / "lib" / "x")
            if isinstance(beside, SourceRefusal)
            else beside
        )


def test_library_folders_come_last() -> None:
    files: Files = {"sub/x.inc": ".include y.inc\n", "sub/y.inc": "R1 a 0 1\n", "lib/y.inc": "R2 a 0 1\n"}
    netlist = Netlist.parse(b"t\n.include sub/x.inc\n", path=FOLDER / "d.cir")
    assert elements(resolve_dependencies(netlist, LibrarySources(files))) == ["R1"]
    del files["sub/y.inc"]
    assert elements(resolve_dependencies(netlist, LibrarySources(files))) == ["R2"]
