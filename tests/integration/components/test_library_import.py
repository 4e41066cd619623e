"""A library file is looked at, tried in ngspice and brought in: what is wrong is named with its line before
anything is written, and what was confirmed of pins counts afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import bootstrap
from application.app import Application
from application.components.imported_parts import FoundPart
from application.components.importing import FoundLibrary
from shared.errors import UserInputError
from tests.fakes.vendor_libraries import write_libraries

VENDOR = b"""* Some vendor's parts
.model QOK NPN(BF=100 Vceo=40 mfg=NXP)
.model QBAD NPN(BF=abc)
.model 2N3904 NPN(BF=300)
* OPB precision op-amp, GBW 5 MHz
.subckt OPB 3 2 7 4 6
E1 6 0 VALUE={if(V(3,2)>0,1,-1)}
R1 3 2 1meg
R2 7 4 10k
.ends OPB
.subckt LOST a b
X1 a b NOWHERE
.ends
.subckt HALF in out gnd
R1 in out 1k
D1 out gnd DINNER
.ends
.model DINNER D(IS=1e-14)
.model QOK NPN(BF=50)
.backanno
R9 0 1 1k
.tran 1m
.end
"""


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = bootstrap.build()
    yield application
    await application.close()


def part(found: FoundLibrary, name: str) -> FoundPart:
    return next(each for each in found.parts if each.component.name == name)


async def test_a_vendors_file_is_judged_part_by_part_and_written_as_it_was_confirmed(
    app: Application, tmp_path: Path
) -> None:
    source, root = tmp_path / "away" / "vendor.txt", tmp_path / "project"
    source.parent.mkdir()
    (root / ".circuit_ai").mkdir(parents=True)
    source.write_bytes(VENDOR)
    importing = app.project.import_library
    steps: list[tuple[int, int]] = []
    found = await importing.look(source, root=root, told=lambda done, of: steps.append((done, of)))
    assert steps[-1] == (7, 7)
    assert {each.component.name: each.state for each in found.parts} == {
        "QOK": "warned", "QBAD": "failed", "2N3904": "ok", "OPB": "ok", "LOST": "failed", "HALF": "ok",
        "DINNER": "ok",
    }  # fmt: skip
    told = [(each.component.name, line, str(words)) for each in found.parts for line, words in each.told]
    assert told == [
        (
            "QBAD",
            3,
            "bf=abc in the .model card of QBAD is not a number. Correct the value in the library file.",
        ),
        ("LOST", 12, "X1 uses the subcircuit NOWHERE, which is not defined."),
        ("QOK", 19, "QOK is defined on line 2 already; ngspice uses that definition."),
    ]
    [held] = part(found, "2N3904").held_by
    assert held.endswith("2N3904.lib")
    op_amp = part(found, "OPB")
    assert op_amp.uses is not None
    assert (op_amp.uses.uses, op_amp.uses.told) == (("in+", "in-", "V+", "V-", "out"), "order")
    half = part(found, "HALF")
    assert half.uses is not None
    assert half.uses.is_certain
    assert (found.text.dialect, found.text.evidence_line, found.is_foreign) == ("ltspice", 2, True)
    assert found.text.circuit_lines == (20, 21, 22, 23)
    assert not (root / "lib").exists()

    at = found.parts.index(op_amp)
    made = await importing.write(found, uses={at: op_amp.uses.uses}, converts=True, root=root)
    assert made.path == root / "lib" / "vendor.lib"
    text = made.path.read_text()
    assert "* pins: in+ in- V+ V- out\n.subckt OPB 3 2 7 4 6\n" in text
    assert "*R9 0 1 1k" in text
    answer = await app.simulation.components("OPB", root=root)
    [component] = answer.found.components
    assert component.roles == ("in+", "in-", "V+", "V-", "out")
    assert (await importing.write(found, uses={at: op_amp.uses.uses}, converts=True, root=root)).was_there
    another = await importing.write(found, uses={}, converts=True, root=root)
    assert another.path.name == "vendor_2.lib"
    await importing.undo(root, another)
    await importing.undo(root, made)
    assert not (root / "lib").exists()
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "vendor.lib").write_text("another\n")
    assert (await importing.write(found, uses={}, converts=True, folder=folder)).path.name == "vendor_2.lib"
    assert (folder / "vendor.lib").read_text() == "another\n"


class PowerGone(BaseException):
    """Nothing runs after it: no clean-up either."""


async def test_files_a_library_includes_come_along_and_a_library_is_there_whole_or_not_at_all(
    app: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside it and below only; it goes last, so that whatever ends an import leaves no half of it."""
    away, root, folder = tmp_path / "away", tmp_path / "project", tmp_path / "library"
    (away / "core").mkdir(parents=True)
    (root / ".circuit_ai").mkdir(parents=True)
    folder.mkdir()
    (tmp_path / "above.lib").write_text(".model DABOVE D\n")
    (away / "link.lib").symlink_to(tmp_path / "above.lib")
    main = away / "main.lib"
    main.write_text(
        ".include core/dinner.lib\n.include ../above.lib\n.include link.lib\n.include main.lib\n"
        ".subckt HALF in out\nD1 in out DINNER\n.ends\n.subckt LOST in out\nD1 in out DABOVE\n.ends\n"
    )
    (away / "core" / "dinner.lib").write_text(".include more.lib\n")
    (away / "core" / "more.lib").write_text(".model DINNER D(IS=1e-14)\n")
    importing = app.project.import_library
    found = await importing.look(main, root=root)
    assert [each.name for each in found.comes_along] == ["core/dinner.lib", "core/more.lib"]
    assert found.elsewhere == ("../above.lib", "link.lib")
    assert {each.component.name: each.state for each in found.parts} == {"HALF": "ok", "LOST": "failed"}

    def files() -> set[str]:
        return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}

    real = importing.write_file
    for survived in range(3):
        left = iter(range(survived))

        def write(path: Path, data: bytes, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise PowerGone
            real(path, data)

        with pytest.raises(PowerGone):
            await replace(importing, write_file=write).write(found, uses={}, converts=True, folder=folder)
        assert len(files()) == survived
        assert "main.lib" not in files()
        for path in folder.rglob("*.lib"):
            path.unlink()
    made = await importing.write(found, uses={}, converts=True, folder=folder)
    assert files() == {"main.lib", "core/dinner.lib", "core/more.lib"}
    assert len(made.copied) == 2
    (folder / "core" / "more.lib").write_text("another\n")
    with pytest.raises(UserInputError, match="another text"):
        await importing.write(found, uses={}, converts=True, folder=folder)
    assert (folder / "core" / "more.lib").read_text() == "another\n"

    done = await importing.write(found, uses={}, converts=True, root=root)
    assert (root / "lib" / "core" / "more.lib").is_file()
    await importing.undo(root, done)
    assert not (root / "lib").exists()


async def test_foreign_syntax_is_converted_where_that_holds_and_kept_where_only_a_mode_helps(
    app: Application, tmp_path: Path
) -> None:
    source = tmp_path / "cmp.lib"
    source.write_text(".subckt CMP a b out\nE1 out 0 VALUE {IF(V(a,b)>0,1,0)}\nR1 a b 1k\n.ends\n")
    found = await app.project.import_library.look(source)
    assert (found.text.dialect, found.text.evidence_line, found.is_foreign) == ("pspice", 2, True)
    assert [each.state for each in found.parts] == ["ok"]
    assert not found.can_convert  # IF() is known in ngspice's mode for PSpice only
    capacitor = tmp_path / "c.lib"
    capacitor.write_text(".subckt RSER a b\nC1 a b 1u Rser=10m\n.ends\n.model QM NPN(BF=99 mfg=Maker)\n")
    found = await app.project.import_library.look(capacitor)
    assert [each.state for each in found.parts] == ["ok", "ok"]
    assert found.can_convert
    folder = tmp_path / "kept"
    folder.mkdir()
    made = await app.project.import_library.write(found, uses={}, converts=True, folder=folder)
    assert "Rser=" not in made.path.read_text()
    assert "Maker" not in made.path.read_text()
    made = await app.project.import_library.write(found, uses={}, converts=False, folder=folder)
    assert (made.path.name, made.path.read_text()) == ("c_2.lib", capacitor.read_text())


@pytest.mark.parametrize(("name", "data", "error_type"), [
    ("none.lib", b"* nothing\n", "no_library"),
    ("secret.lib", b"* LTspice Encrypted File\n00 01\n", "encrypted_library"),
    ("sheet.asc", b"Version 4\nSHEET 1 880 680\n", None),
])  # fmt: skip
async def test_what_is_no_library_is_refused_with_the_reason(
    app: Application, tmp_path: Path, name: str, data: bytes, error_type: str | None
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserInputError) as caught:
        await app.project.import_library.look(tmp_path / name)
    assert error_type in (None, caught.value.error_type)
    assert name in str(caught.value.message) or caught.value.advice is not None


@pytest.mark.timeout(120)
async def test_a_thousand_parts_are_tried_without_holding_the_loop(app: Application, tmp_path: Path) -> None:
    """The ground refuses what blocks the loop."""
    write_libraries(tmp_path / "many", 400)
    source = tmp_path / "all.lib"
    source.write_text("\n".join(each.read_text() for each in sorted((tmp_path / "many").rglob("*.lib"))))
    found = await app.project.import_library.look(source)
    assert len(found.parts) == 400
    assert {each.state for each in found.parts} == {"ok", "warned"}  # inner nodes of these op-amps float
