"""The use case `check`: a path in, a report out."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from application.simulation.checking import CheckCircuit
from shared.errors import UserInputError
from tests.fakes.memory_sources import FolderSources


class AnyFolder:
    """Makes readers that are not confined, and keeps what was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[Path, tuple[Path, ...]]] = []

    def for_circuit(self, circuit: Path, libraries: Sequence[Path]) -> FolderSources:
        self.asked.append((circuit, tuple(libraries)))
        return FolderSources()


async def test_reports_faults_of_the_file_and_its_includes(tmp_path: Path) -> None:
    circuit = tmp_path / "amp.cir"
    circuit.write_text("t\nV1 a 0 1\n.include part.inc\n.op\n.end\n")
    (tmp_path / "part.inc").write_text("R1 a b 1k\nR2 b 0 10M\nR2 b 0 1k\n")
    sources = AnyFolder()
    report = await CheckCircuit(sources=sources)(circuit, [tmp_path])
    assert report.file == circuit.resolve()
    assert report.has_errors
    found = [(d.severity, d.code, d.file, d.line) for d in report.diagnostics]
    part = (tmp_path / "part.inc").resolve()
    assert found == [("warning", "mega-trap", part, 2), ("error", "duplicate-element", part, 3)]
    assert sources.asked == [(circuit.resolve(), (tmp_path,))]


async def test_a_right_file_has_no_errors(tmp_path: Path) -> None:
    circuit = tmp_path / "ok.cir"
    circuit.write_text("t\nV1 a 0 1\nR1 a 0 1k\n.op\n")
    report = await CheckCircuit(sources=AnyFolder())(circuit)
    assert (report.diagnostics, report.has_errors) == ((), False)


async def test_a_library_has_no_title(tmp_path: Path) -> None:
    library = tmp_path / "cells.lib"
    library.write_text(".subckt s p\nR1 p 0 1k\n")
    report = await CheckCircuit(sources=AnyFolder())(library)
    assert [(d.code, d.line) for d in report.diagnostics] == [("unclosed-subckt", 1)]


async def test_a_missing_file_is_the_users_to_mend(tmp_path: Path) -> None:
    with pytest.raises(UserInputError, match=r"none\.cir"):
        await CheckCircuit(sources=AnyFolder())(tmp_path / "none.cir")


async def test_a_loop_of_links_is_no_file(tmp_path: Path) -> None:
    loop = tmp_path / "loop.cir"
    loop.symlink_to(loop)
    with pytest.raises(UserInputError):
        await CheckCircuit(sources=AnyFolder())(loop)
