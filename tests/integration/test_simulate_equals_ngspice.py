"""What `simulate` gives is what ngspice gives: vectors, points and numbers, over the whole corpus.

The comparison reads both raw files with a reader of its own, so that a fault in ours can't hide.
"""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

import bootstrap
from application.app import Application
from application.simulation.simulating import SimulationRequest
from domain.simulation.waveform import canonical_name
from infrastructure.waveforms.raw_file import read_raw
from shared.paths import WIRING_FILE

GOOD = Path(__file__).resolve().parents[1] / "corpus" / "netlists" / "good"
ANALYSES = (".op", ".dc", ".ac", ".tran", ".noise", ".tf", ".sens", ".pz", ".disto")


def _is_batch_deck(path: Path) -> bool:
    text = path.read_bytes().decode("latin-1").lower()
    has_analysis = any(line.strip().startswith(ANALYSES) for line in text.splitlines()[1:])
    return has_analysis and ".control" not in text and "*#" not in text


DECKS = sorted(path for path in GOOD.rglob("*.cir") if _is_batch_deck(path))


def test_the_corpus_is_large_enough() -> None:
    assert len(DECKS) >= 40


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = bootstrap.build(environment=os.environ)
    yield application
    await application.close()


@pytest.mark.parametrize("deck", DECKS, ids=lambda path: path.relative_to(GOOD).as_posix())
async def test_same_data_as_bare_ngspice(deck: Path, app: Application, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    await asyncio.to_thread(shutil.copytree, deck.parent, folder)
    await _compare(folder / deck.name, app, tmp_path)


async def test_includes_that_lean_on_the_circuits_folder(app: Application, tmp_path: Path) -> None:
    """ngspice looks for nested files in the folder it is started in; we start it elsewhere."""
    files = {
        "main.cir": "nested\nV1 in 0 DC 1 AC 1\n.include lib/a.inc\nX1 in out f\n.ac dec 10 1 1meg\n.op\n",
        "lib/a.inc": ".include b.inc\n.lib 'models/m.lib' tt\n.subckt f a b\nR1 a b {r}\nC1 b 0 {c}\n.ends\n",
        "lib/b.inc": ".param c=1u\n",
        "models/m.lib": ".lib ff\n.param r=1k\n.endl\n.lib tt\n.param r=2k\n.endl\n",
    }
    for name, text in files.items():
        path = tmp_path / "nested" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    await _compare(tmp_path / "nested" / "main.cir", app, tmp_path)


async def test_folders_with_names_spice_cannot_write(app: Application, tmp_path: Path) -> None:
    """ngspice cuts the path of a `.lib` at a blank, and a GBK deck has no bytes for a UTF-8 folder."""
    folder = tmp_path / "滤波器 设计 'a'" / "子 文件夹"
    (folder / "my models").mkdir(parents=True)
    (folder.parent / ".circuit_ai").mkdir()
    (folder / "m.lib").write_text(".lib tt\n.include m.inc\n.endl\n")
    (folder / "m.inc").write_text(".param r=2k\n")
    deck = "标题\nV1 in 0 1\n.lib m.lib tt\n.include m.inc\nR1 in out {r}\nR2 out 0 1k\n.op\n.end\n"
    (folder / "电路.cir").write_bytes(deck.encode("gbk"))
    await _compare(folder / "电路.cir", app, tmp_path)
    (folder / "deck.cir").write_text(deck)
    await _compare(folder / "deck.cir", app, tmp_path)


async def test_data_files_beside_a_lone_circuit(app: Application, tmp_path: Path) -> None:
    folder = tmp_path / "lone"
    folder.mkdir()
    (folder / "wave.txt").write_text("0 0\n1e-3 3\n2e-3 -1\n")
    (folder / "other.txt").symlink_to("wave.txt")
    for name in ("wave.txt", "WAVE.TXT", "other.txt", str(folder / "wave.txt")):
        model = f'.model f filesource (file="{name}" amploffset=[0] amplscale=[2])'
        deck = f"t\na1 %vd([n 0]) f\n{model}\nR1 n 0 1k\n.tran 10u 2m\n.end\n"
        (folder / "d.cir").write_text(deck)
        await _compare(folder / "d.cir", app, tmp_path)


async def test_two_port_parameters(app: Application, tmp_path: Path) -> None:
    deck = (
        "sp\nV1 in 0 dc 0 ac 1 portnum 1 z0 50\nR1 in out 50\nV2 out 0 dc 0 ac 0 portnum 2 z0 50\n"
        ".sp lin 2 1meg 2meg\n.end\n"
    )
    (tmp_path / "sp.cir").write_text(deck)
    await _compare(tmp_path / "sp.cir", app, tmp_path)


async def test_a_request_that_fails_is_not_placed_behind_the_files_end(
    app: Application, tmp_path: Path
) -> None:
    (tmp_path / "d.cir").write_text("t\nV1 a 0 1\nR1 a 0 1\n.op\n.end\n")
    result = await app.simulation.run(SimulationRequest(circuit=tmp_path / "d.cir", analysis="dc V9 0 1 0.1"))
    assert {issue.code for issue in result.issues} == {"undefined-source", "undefined-element"}
    assert {(issue.file, issue.line) for issue in result.issues} == {(None, None)}


async def _compare(circuit: Path, app: Application, tmp_path: Path) -> None:
    bare = tmp_path / "bare.raw"
    await asyncio.to_thread(_run_bare, circuit.parent, circuit.name, bare)
    result = await app.simulation.run(SimulationRequest(circuit=circuit))
    assert result.ok, [(issue.code, str(issue.message)) for issue in result.issues]
    await asyncio.to_thread(_hold_against, result.run.raw_paths[0], bare)


def _hold_against(confined: Path, bare: Path) -> None:
    expected = _plots(bare)
    found = _plots(confined)
    assert [plot[0] for plot in found] == [plot[0] for plot in expected]
    beside = _saved_beside(confined)
    for (_, names, ours), (_, wanted, theirs) in zip(found, expected, strict=True):
        assert names[: len(wanted)] == wanted
        assert {canonical_name(name) for name in names[len(wanted) :]} <= beside
        assert len(names) <= 2 * len(wanted)
        assert np.array_equal(_comparable(ours[:, : len(wanted)]), _comparable(theirs), equal_nan=True)

    for plot, (_, names, theirs) in zip(read_raw(confined), expected, strict=True):
        assert len(plot.vectors) == len(names)
        columns = [np.asarray(vector.data, dtype=theirs.dtype) for vector in plot.vectors.values()]
        assert np.array_equal(_comparable(np.column_stack(columns)), _comparable(theirs), equal_nan=True)


def _saved_beside(raw: Path) -> set[str]:
    """What the run was told to save for the currents of elements."""
    wiring = raw.with_name(WIRING_FILE)
    return set(json.loads(wiring.read_bytes())["saved"]) if wiring.exists() else set()


def _comparable(rows: np.ndarray) -> np.ndarray:
    """ngspice leaves the imaginary part of the axis in a complex file uninitialised."""
    if not np.iscomplexobj(rows):
        return rows
    copy = rows.copy()
    copy[:, 0] = copy[:, 0].real
    return copy


def _run_bare(folder: Path, deck: str, raw: Path) -> None:
    subprocess.run(
        ["ngspice", "-n", "-b", "-r", str(raw), deck],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=True,
    )


def _plots(path: Path) -> list[tuple[str, tuple[str, ...], np.ndarray]]:
    """(plot name, variable names, rows x variables) of a binary raw file, read naively."""
    data = path.read_bytes()
    plots = []
    while data.strip():
        head, _, rest = data.partition(b"Binary:\n")
        lines = head.decode("latin-1").splitlines()
        fields = dict(line.split(":", 1) for line in lines if ":" in line and not line.startswith("\t"))
        columns, rows = int(fields["No. Variables"]), int(fields["No. Points"])
        first = next(index for index, line in enumerate(lines) if line.startswith("Variables:"))
        names = tuple(line.split()[1] for line in lines[first + 1 : first + 1 + columns])
        kind = np.dtype("<c16") if "complex" in fields["Flags"] else np.dtype("<f8")
        size = columns * rows * kind.itemsize
        plots.append(
            (fields["Plotname"].strip(), names, np.frombuffer(rest[:size], kind).reshape(rows, columns))
        )
        data = rest[size:]
    return plots
