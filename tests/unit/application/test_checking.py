"""The use case `check`: a path in, a report out."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from application.simulation.checking import CheckCircuit
from domain.circuit.dialects import Dialect
from domain.circuit.simulator_settings import ModelFile, SimulatorSettings
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


class OneSetting:
    """What the user set, the same for every circuit."""

    def __init__(self, **settings: object) -> None:
        self._settings = SimulatorSettings(**settings)  # type: ignore[arg-type]

    def of_circuit(self, circuit: Path) -> SimulatorSettings:
        return self._settings

    def save(self, folder: Path, settings: SimulatorSettings) -> None:
        raise AssertionError("a check changes nothing")


LTSPICE = (
    "* C:\\x\\y.asc\nV1 in 0 PULSE(0 1 0 1n 1n 0.5m 1m) Rser=1\nR1 in out 1k tol=1 pwr=0.1\n"
    'C1 out 0 {C} V=50 mfg="KEMET x"\nB1 b 0 V=if(V(out)>0.5,1,0)+uplim(V(in),1,.1)\nR2 b 0 4k7\n'
    ".step param C list 1\N{MICRO SIGN} 2\N{MICRO SIGN}\n.tran 5m startup\n.backanno\n.end\n"
)


async def test_a_circuit_is_checked_in_its_dialect(tmp_path: Path) -> None:
    circuit = tmp_path / "lt.cir"
    circuit.write_text(LTSPICE)
    check = CheckCircuit(sources=AnyFolder())
    assert (await check(circuit)).diagnostics == ()
    assert (await check(circuit, data=LTSPICE.encode("utf-16"))).diagnostics == ()
    forced = await check(circuit, dialect="ngspice")
    assert {d.code for d in forced.diagnostics} >= {"undefined-function", "unknown-directive", "bad-value"}
    # Found in a line that was rewritten: where in the line nobody can say.
    wrong = await check(circuit, data=LTSPICE.replace("R2 b 0 4k7", "R2 b 0 {rr} tol=1").encode())
    assert [(d.code, d.line, d.column) for d in wrong.diagnostics] == [("undefined-parameter", 6, None)]
    unread = await check(circuit, data=LTSPICE.replace("list 1", "C 1").encode())
    assert [(d.code, d.line) for d in unread.diagnostics] == [("bad-analysis", 7), ("undefined-parameter", 4)]


async def test_a_name_that_the_dialect_writes_out_twice_is_one_finding(tmp_path: Path) -> None:
    circuit = tmp_path / "lt.cir"
    circuit.write_text("t\nV1 a 0 1\nR1 a 0 1k\n.tran 0 {transtop}\n.backanno\n.end\n")
    found = (await CheckCircuit(sources=AnyFolder())(circuit)).diagnostics
    assert [(d.code, d.line) for d in found] == [("undefined-parameter", 4)]


@pytest.mark.parametrize(
    ("text", "dialect", "told"),
    [
        (None, "ltspice", "points.txt with the points of V1 was not found"),
        (b"time value\n0 0\n", "ltspice", "points.txt of V1 is not read as points"),
        (b"0 0 " * 1_000_001, "ltspice", "points.txt with the points of V1 is longer than 4 MB"),
        (b"0 0\n1u 5\n", "ngspice", "V1 are read from points.txt only in a circuit of LTspice's"),
    ],
)
async def test_a_file_of_points_that_was_not_read_is_named_with_the_reason(
    tmp_path: Path, text: bytes | None, dialect: Dialect, told: str
) -> None:
    circuit = tmp_path / "a.cir"
    circuit.write_text('t\nR1 a 0 1k\nV1 a 0 PWL file="points.txt"\n.tran 1u 1m\n.end\n')
    if text is not None:
        (tmp_path / "points.txt").write_bytes(text)
    found = (await CheckCircuit(sources=AnyFolder())(circuit, dialect=dialect)).diagnostics
    assert [(d.code, d.line, told in str(d.message)) for d in found] == [("foreign-form", 3, True)]


@pytest.mark.parametrize("part", ["R2 a 0 1k", "D1 a 0 1N4148"])
async def test_a_lost_file_may_define_the_parameters_that_lack(tmp_path: Path, part: str) -> None:
    """Also where all else that lacks is a part of which there is a generic model."""
    circuit = tmp_path / "lt.cir"
    circuit.write_text(
        f"t\nV1 a 0 1\n{part}\nR1 a 0 {{load}}\n.tran 1m\n.include A1cfg.txt\n.backanno\n.end\n"
    )
    found = (await CheckCircuit(sources=AnyFolder())(circuit)).diagnostics
    told = {d.code: str(d.message) for d in found}
    assert "may define it: A1cfg.txt" in told["undefined-parameter"]
    assert "A1cfg.txt was not found" in told["include-missing"]


async def test_a_check_knows_the_projects_settings(tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "r.lib").write_text(".subckt unit p\nR1 p 0 1k\n.ends\n")
    circuit = tmp_path / "a.cir"
    circuit.write_text('t\nV1 a 0 1\n.include "$KIT/r.lib"\n.include "$OTHER/r.lib"\nX1 a unit\n.op\n.end\n')
    settings = OneSetting(variables={"KIT": str(tmp_path / "kit")})
    sources = AnyFolder()
    (found,) = (await CheckCircuit(sources=sources, settings=settings)(circuit)).diagnostics
    assert (found.code, found.line, found.message.params["name"]) == ("include-missing", 4, "OTHER")
    assert sources.asked == [(circuit, (tmp_path / "kit",))]
    given = OneSetting(model_files=(ModelFile(path=tmp_path / "kit" / "r.lib"),))
    circuit.write_text("t\nV1 a 0 1\nX1 a unit\n.op\n.end\n")
    assert (await CheckCircuit(sources=AnyFolder(), settings=given)(circuit)).diagnostics == ()
