"""Finding components in thousands of vendors' models: in the background, and never a stale answer."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from application.components.finding import FindComponents
from domain.components.component import fault_words
from infrastructure.components.index import SqliteComponentIndex
from shared.cpu_executor import CpuTaskExecutor
from shared.paths import MODEL_LIBRARY
from tests.fakes.vendor_libraries import write_libraries

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = len(tuple(MODEL_LIBRARY.glob("*.lib")))


def finder(home: Path, libraries: Path, cpu: CpuTaskExecutor) -> FindComponents:
    return FindComponents(
        index=SqliteComponentIndex(home),
        cpu=lambda: cpu,
        shipped=MODEL_LIBRARY,
        libraries=lambda: (libraries,),
    )


@pytest.mark.timeout(120)
async def test_five_thousand_models_are_found_by_name_kind_and_figures(tmp_path: Path) -> None:
    """The ground refuses what blocks the loop; so the reading is done elsewhere, in pieces."""
    made = write_libraries(tmp_path / "vendors", 5_000)
    cpu = CpuTaskExecutor(max_workers=1)
    try:
        find = finder(tmp_path / "home", tmp_path / "vendors", cpu)
        state = await find.refresh()
        assert (state.files, state.pending, state.problem) == (50 + SHIPPED, 0, "")
        assert (await find.search("")).total == 5_000 + SHIPPED + 9  # values of the E-series

        async def names(query: str) -> set[str]:
            found = await find.search(query, most=5_000)
            assert len(found.components) == found.total
            return {each.name for each in found.components}

        def those(kinds: str, **above: float) -> set[str]:
            return {
                part.name
                for part in made
                if part.kind in kinds.split()
                and all(part.figures.get(key, 0) > least for key, least in above.items())
            }

        assert await names("npn vceo>40") == those("npn", v=40) | {"BC547"}
        duals = those("opamp", f=5e6) & {part.name for part in made if part.is_dual}
        duals |= {"NE5532", "OPA2134"}  # of the program's own
        assert await names("dual op-amp above 5 MHz") == duals
        assert await names("双运放 大于 5 MHz") == duals
        assert await names("schottky over 50 V") == those("schottky", v=50)
        low = {part.name for part in made if part.kind == "nmos" and part.figures["ron"] < 0.03}
        assert await names("nmos rds(on) < 30 mOhm") == low | {"IRLZ44N"}
        assert await names("QV00100") == {"QV00100"}
        for query, named in {
            "2N2222A": "2N2222", "BC547B": "BC547", "LM358N": "LM358", "1N4733A": "1N4733",
            "IRF540": "IRF540N", "timer": "NE555", "2N39": "2N3904 2N3906", "2N39040": "",
            "fast signal diode": "1N4148",
        }.items():  # fmt: skip
            assert await names(query) == set(named.split()), query
        assert await names("qv0010") == {f"QV{n:05}" for n in range(100, 110) if n % 4 == 0}

        [own, best, *_] = (await find.search("op-amp gbw > 5 MHz")).components
        assert own.name == "OPA2134"
        assert own.figures["f"] == best.figures["f"] == 8e6  # what suffices with the least to spare
        assert (best.ports, best.roles[0], best.roles[4]) == (tuple("12345"), "non-inverting input", "output")
        groups = (await find.search("", group="opamp", most=3)).by_group
        assert groups["opamp"] == len(those("opamp")) + 16
        assert ".subckt " + best.name in (await find.text(best))
    finally:
        await cpu.shutdown()


async def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    write_libraries(tmp_path / "vendors", 300)
    cpu = CpuTaskExecutor(max_workers=1)
    try:
        find = finder(tmp_path / "home", tmp_path / "vendors", cpu)
        await find.refresh()
        first, second, third = sorted((tmp_path / "vendors").rglob("*.lib"))
        os.utime(first, (1, 1))  # the same bytes
        second.write_text(second.read_text().replace("QV00100", "QX00100"))
        third.unlink()
        assert (await find.refresh(limit_s=0.0)).pending == 2  # nothing is read yet
        assert (await find("QV00100")).found.total == 0
        assert (await find.search("QX00100")).total == 1
        assert (await find.search("QV00200")).total == 0
        assert (await find.search("QV00000")).total == 1
        assert (await find.search("", root=tmp_path)).total == 200 + SHIPPED + 9
    finally:
        await cpu.shutdown()


async def test_a_library_that_is_removed_is_found_no_more(tmp_path: Path) -> None:
    """Also where nothing else has changed, as behind the undo of an import."""
    write_libraries(tmp_path / "vendors", 200)
    cpu = CpuTaskExecutor(max_workers=1)
    try:
        find = finder(tmp_path / "home", tmp_path / "vendors", cpu)
        assert (await find("QV00100")).found.total == 1
        first, second = sorted((tmp_path / "vendors").rglob("*.lib"))
        second.unlink()
        assert (await find("QV00100")).found.total == 0
        first.unlink()
        state = await find.refresh()
        assert (state.files, state.pending) == (SHIPPED, 0)
        assert (await find.search("")).total == SHIPPED + 9
    finally:
        await cpu.shutdown()


_READS = """
import os, sys
from pathlib import Path
from infrastructure.components.index import SqliteComponentIndex
index, folders = SqliteComponentIndex(Path(sys.argv[1])), (Path(sys.argv[2]),)
os.write(1, b"begins")
index.update(folders, float("inf"))
"""


async def test_a_kill_while_libraries_are_read_leaves_an_index_that_goes_on(tmp_path: Path) -> None:
    """Each file is in it whole or not at all, and the next look reads the rest."""
    write_libraries(tmp_path / "vendors", 600)
    home, rng = tmp_path / "home", random.Random(5)
    cpu = CpuTaskExecutor(max_workers=1)
    try:
        find = finder(home, tmp_path / "vendors", cpu)
        for _ in range(3):
            reading = await asyncio.create_subprocess_exec(
                sys.executable, "-c", _READS, home, tmp_path / "vendors",
                env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE,
            )  # fmt: skip
            assert reading.stdout is not None
            await reading.stdout.readexactly(len("begins"))
            await asyncio.sleep(rng.uniform(0.0, 0.15))
            with suppress(ProcessLookupError):  # a fast machine has read all by then
                reading.kill()
            await reading.communicate()
            assert (await find.search("")).total % 100 == 9  # of the E-series; libraries have a hundred each
        await find.refresh()
        assert (await find.search("")).total == 600 + SHIPPED + 9
    finally:
        await cpu.shutdown()


async def test_faulty_and_hostile_files_are_shown_with_their_fault(tmp_path: Path) -> None:
    """No file keeps the others from being found, and each says what is wrong and what to do."""
    lib = tmp_path / "lib"
    lib.mkdir()
    files: dict[str, bytes] = {
        "cut.lib": b".model GOOD NPN BF=100\n.subckt CUT in out\nR1 in out 1k\n",
        "wide.lib": "* 双运放\n.model WIDE NPN\n".encode("utf-16"),
        "secret.lib": b"* vendor\n.prot\nFQ3j%&kd9 a;sd#\n.unprot\n",
        "image.lib": b"\x89PNG\0\0\0",
        "words.mod": b".model WORDS NPN BF=abc\n.model ALIEN ICL7\n.model L99 NMOS LEVEL=47\n"
        b".subckt TWICE a b a\n.ends\n"
        b".model BARE\n.model KID AKO:GOOD NPN\n.subckt NONE\n.ends\n",
        "deep.lib": b".subckt a b\n" * 3_000 + b".ends\n" * 3_000,
        "long.lib": b".model LONG NPN BF=1 " + b"x=1 " * 60_000,
        "odd.lib": ".model O%_` NPN\n.model 中文管 NPN Vceo=45\n".encode(),
        "many.lib": b"* " + b"| " * 40_000 + b"\n.subckt M 1 2\n.ends\n",
    }
    for name, data in files.items():
        (lib / name).write_bytes(data)
    os.mkfifo(lib / "pipe.lib")
    (lib / "loop").symlink_to(lib)
    (lib / "away.lib").symlink_to("/etc/passwd")
    cpu = CpuTaskExecutor(max_workers=1)
    try:
        find = finder(tmp_path / "home", lib, cpu)
        state = await find.refresh()
        assert (state.files, state.pending) == (SHIPPED + len(files), 0)
        found = {each.name: each for each in (await find.search("", most=200)).components}
        faults = {name: str(fault_words(each)[0]) for name, each in found.items() if fault_words(each)}  # type: ignore[index]
        assert faults == {
            "CUT": "The .subckt block of CUT has no .ends.",
            "wide.lib": "wide.lib is a UTF-16 text, which ngspice cannot read.",
            "secret.lib": "secret.lib is encrypted for another simulator.",
            "image.lib": "image.lib is not a text.",
            "WORDS": "bf=abc in the .model card of WORDS is not a number.",
            "ALIEN": "ngspice has no model type icl7, which ALIEN is of.",
            "L99": "ngspice has no level 47 of the type of L99.",
            "TWICE": "The .subckt card of TWICE has pin a twice.",
            "BARE": "The .model card of BARE has no type.",
            "KID": "KID is built on model good (AKO), which ngspice reads in PSpice circuits only.",
            "NONE": "The .subckt card of NONE has no pins.",
        }
        assert found["GOOD"].fault == found["LONG"].fault == found["M"].fault == ""
        for query in ("O%_`", "中文管", "中文", "o%"):
            assert (await find.search(query)).total == 1, query
    finally:
        await cpu.shutdown()


@pytest.mark.parametrize("damage", ["garbage", "no folder", "other tables"])
async def test_without_a_usable_index_the_answer_is_the_same(tmp_path: Path, damage: str) -> None:
    home = tmp_path / "home"
    cpu = CpuTaskExecutor(max_workers=1)
    try:
        find = finder(home, tmp_path, cpu)
        await find.refresh()
        database = home / "components.sqlite"
        if damage == "garbage":
            database.write_bytes(b"no database" * 1000)
        elif damage == "other tables":
            import sqlite3

            database.unlink()
            with sqlite3.connect(database) as connection:
                connection.execute("CREATE TABLE components (x)")
            connection.close()
        else:
            for each in home.iterdir():
                each.unlink()
            home.rmdir()
            home.write_text("in its place")
        answer = await find("npn vceo>40")
        assert [each.name for each in answer.found.components] == ["BC547"]
        assert bool(answer.state.problem) is (damage == "no folder")
    finally:
        await cpu.shutdown()
