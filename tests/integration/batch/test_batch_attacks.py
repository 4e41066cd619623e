"""Attacks on the guests that host ngspice's library. Each first succeeds against a bare host of the library
(or bare ngspice), and then fails in every form of the box, where a plain circuit still runs afterwards.

In a batch control blocks are not run, but `pre_` commands are, while the circuit is read.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from domain.simulation.batch import BatchCircuit, RunOutcome, Varied
from infrastructure.ngspice.batch.simulator import NgspiceBatch
from infrastructure.ngspice.confined import _find_library
from tests.integration.batch.conftest import MODES, MakeBatch, analyses_of, batch_of, outcomes_of
from tests.integration.ngspice.test_attacks import (
    CIRCUIT,
    FORMS,
    HOSTILE_MODEL,
    SECRET,
    Grounds,
    bare,
    compile_hostile_model,
    files_are_as_laid_out,
    is_first,
    lay_out_files,
    listener,
    processes_in,
    victim,
    was_called,
)

__all__ = ["listener", "victim"]  # fixtures

every_mode = pytest.mark.parametrize("mode", MODES)

_HOST = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
says = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p)(
    lambda text, number, user: print(text.decode("latin-1"), flush=True) or 0
)
library.ngSpice_Init(says, None, None, None, None, None, None)
library.ngSpice_Command(b"source deck.cir")
"""


@pytest.fixture
def grounds(folder: Path, batch_scratch: Path) -> Grounds:
    for name in ("canaries", "project", "bare"):
        (folder / name).mkdir()
    (folder / "secret.txt").write_text(f"{SECRET}\n")
    return Grounds(
        folder=folder,
        scratch=batch_scratch,
        project=folder / "project",
        canaries=folder / "canaries",
        secret=folder / "secret.txt",
    )


def bare_host(deck: str, grounds: Grounds) -> str:
    """Load the deck into libngspice in a process without any box; what was said."""
    work = grounds.folder / "bare"
    (work / "deck.cir").write_text(deck)
    ngspice = shutil.which("ngspice")
    assert ngspice
    library = _find_library(Path(ngspice).resolve())
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _HOST, str(library)],
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=20.0,
        env=dict(os.environ),
        check=False,
    )
    return done.stdout.decode("latin-1")


def raw_circuit(deck: str, grounds: Grounds, **fields: object) -> BatchCircuit:
    """A circuit as a stranger wrote it: nothing of it was switched off."""
    r1 = Varied(name="R1", way="alter", targets=("r1",), nominal=1000.0)
    op = tuple(analysis for analysis in analyses_of(deck) if analysis.kind == "op")
    fields.setdefault("analyses", op[:1])
    return BatchCircuit(
        deck=deck.encode(),
        deck_path=grounds.project / "circuit.cir",
        varied=(r1,),
        has_control_block=True,
        **fields,  # type: ignore[arg-type]
    )


async def attack(engine: NgspiceBatch, circuit: BatchCircuit) -> list[RunOutcome]:
    return await outcomes_of(engine, batch_of(circuit, [(1e3,), (2e3,)], timeout_s=5.0), workers=1)


async def plain_circuit_still_runs(engine: NgspiceBatch, grounds: Grounds) -> None:
    (found, _) = await attack(engine, raw_circuit(f"plain\n{CIRCUIT}.end\n", grounds))
    assert found.state == "ok", found.issues
    assert found.plots[0].vectors["v(a)"].data[0] == pytest.approx(2.0)


def everything_said(outcomes: list[RunOutcome]) -> str:
    return "\n".join(
        f"{issue.message} {issue.advice} {issue.file}" for outcome in outcomes for issue in outcome.issues
    )


COMMANDS = {
    "shell": "pre_shell echo x > {c}/shell",
    "back-ticks": "pre_echo `touch {c}/back-ticks`",
    "back-ticks-in-set": "pre_set x = `touch {c}/back-ticks-in-set`",
    "echo": "pre_echo hello > {c}/echo",
    "append": "pre_echo hello >> {c}/append",
    "change-folder": "pre_cd {c}\npre_echo hello > change-folder",
    "alias": "pre_alias harmless shell\npre_harmless touch {c}/alias",
}


@every_mode
@pytest.mark.parametrize("name", COMMANDS)
async def test_a_command_in_a_guest_does_nothing_outside(
    name: str, mode: str, grounds: Grounds, make_batch: MakeBatch
) -> None:
    commands = COMMANDS[name].format(c=grounds.canaries)
    deck = f"title\n{CIRCUIT}.control\n{commands}\n.endc\n.end\n"
    await asyncio.to_thread(bare_host, deck, grounds)
    assert grounds.tripped, "the attack does not work even without a box"
    for path in grounds.canaries.iterdir():
        path.unlink()

    engine = make_batch(mode)
    await attack(engine, raw_circuit(deck, grounds, readable_dirs=(grounds.project,)))

    assert grounds.tripped == set()
    await plain_circuit_still_runs(engine, grounds)


@every_mode
@pytest.mark.parametrize("form", FORMS)
async def test_control_lines_do_nothing_in_a_batch(
    form: str, mode: str, grounds: Grounds, make_batch: MakeBatch
) -> None:
    deck = FORMS[form](grounds.canaries)
    await asyncio.to_thread(bare_host, deck, grounds)
    assert grounds.tripped == {"canary"}
    (grounds.canaries / "canary").unlink()

    engine = make_batch(mode)
    found = await attack(engine, raw_circuit(deck, grounds))

    assert grounds.tripped == set()
    assert [outcome.state for outcome in found] == ["ok", "ok"], "the circuit itself still runs"
    await plain_circuit_still_runs(engine, grounds)


@every_mode
async def test_a_library_with_commands_does_nothing_outside(
    mode: str, grounds: Grounds, make_batch: MakeBatch
) -> None:
    library = grounds.project / "models.lib"
    canary = grounds.canaries / "canary"
    library.write_text(f".control\npre_shell touch {canary}\n.endc\n*# shell touch {canary}\nR5 a 0 1\n")
    deck = f"title\n.include {library}\n{CIRCUIT}.end\n"
    await asyncio.to_thread(bare_host, deck, grounds)
    assert canary.exists()
    canary.unlink()

    engine = make_batch(mode)
    found = await attack(engine, raw_circuit(deck, grounds, included_files=(library,)))

    assert grounds.tripped == set()
    assert found[0].state == "ok", found[0].issues
    await plain_circuit_still_runs(engine, grounds)


LEAKS = {
    "include": "title\n.include {secret}\n" + CIRCUIT + ".end\n",
    "source": f"title\n{CIRCUIT}.control\npre_source {{secret}}\n.endc\n.end\n",
}


@every_mode
@pytest.mark.parametrize("name", LEAKS)
async def test_a_file_outside_does_not_come_out_of_a_guest(
    name: str, mode: str, grounds: Grounds, make_batch: MakeBatch, caplog: pytest.LogCaptureFixture
) -> None:
    deck = LEAKS[name].format(secret=grounds.secret)
    # The library ends itself over the included line before it shows it; the program shows it.
    openly = bare if name == "include" else bare_host
    assert SECRET in await asyncio.to_thread(openly, deck, grounds)

    caplog.set_level(logging.DEBUG)
    engine = make_batch(mode)
    found = await attack(engine, raw_circuit(deck, grounds, readable_dirs=(grounds.project,)))

    assert SECRET not in everything_said(found) + caplog.text
    await plain_circuit_still_runs(engine, grounds)


@every_mode
async def test_numbers_of_a_file_outside_do_not_come_out_of_a_guest(
    mode: str, grounds: Grounds, make_batch: MakeBatch
) -> None:
    numbers = grounds.folder / "account.txt"
    numbers.write_text("0 0\n1e-3 4711\n2e-3 4711\n")
    deck = (
        f'title\na1 %vd([n 0]) f\n.model f filesource (file="{numbers}" amploffset=[0] amplscale=[1]\n'
        "+ timeoffset=0 timescale=1 timerelative=false amplstep=false)\nR1 n 0 1k\n.tran 10u 2m\n.end\n"
    )
    engine = make_batch(mode)
    allowed = raw_circuit(deck, grounds, data_files=(numbers,), analyses=analyses_of(deck))
    (shown, _) = await attack(engine, allowed)
    assert shown.plots[0].vectors["v(n)"].data.max() == pytest.approx(4711)

    found = await attack(engine, raw_circuit(deck, grounds, analyses=analyses_of(deck)))

    assert [outcome.state for outcome in found] == ["failed", "failed"]
    assert found[0].issues[0].code == "missing-data-file"
    await plain_circuit_still_runs(engine, grounds)


@every_mode
async def test_the_hidden_folder_of_a_project_does_not_come_out_of_a_guest(
    mode: str, grounds: Grounds, make_batch: MakeBatch, caplog: pytest.LogCaptureFixture
) -> None:
    hidden = grounds.project / ".circuit_ai"
    hidden.mkdir()
    (hidden / "conversation.txt").write_text(f"{SECRET}\n")
    deck = f"title\n{CIRCUIT}.control\npre_source {hidden}/conversation.txt\n.endc\n.end\n"
    assert SECRET in await asyncio.to_thread(bare_host, deck, grounds)

    caplog.set_level(logging.DEBUG)
    engine = make_batch(mode)
    circuit = raw_circuit(deck, grounds, readable_dirs=(grounds.project,), hidden_dirs=(hidden,))
    found = await attack(engine, circuit)

    assert SECRET not in everything_said(found) + caplog.text
    await plain_circuit_still_runs(engine, grounds)


@pytest.fixture
def hostile_deck(
    grounds: Grounds,
    victim: subprocess.Popen[bytes],
    listener: object,
) -> Iterator[str]:
    """A deck that loads the hostile model, which has been seen to do all its harm in a bare host."""
    deck = f"title\n{CIRCUIT}.control\npre_codemodel {grounds.project / HOSTILE_MODEL}\n.endc\n.end\n"
    if not is_first("hostile model in a host"):
        yield deck
        return
    compile_hostile_model(grounds, victim, listener)  # type: ignore[arg-type]
    lay_out_files(grounds)
    text = bare_host(deck, grounds)
    assert "HOSTILE end" in text
    assert text.count(SECRET) >= 2, "it reads the secret and the victim's environment"
    assert {"written", "shell", "forked", "python", "moved"} <= grounds.tripped
    assert was_called(listener)  # type: ignore[arg-type]
    assert victim.wait(timeout=50) == -signal.SIGTERM
    for pid in processes_in(grounds.folder / "bare"):
        os.kill(pid, signal.SIGKILL)
    yield deck
    # Too deep for shutil.rmtree.
    subprocess.run(["rm", "-rf", str(grounds.folder / "bare")], check=True, timeout=60)


@every_mode
async def test_native_code_in_a_guest_harms_nothing(
    mode: str,
    grounds: Grounds,
    hostile_deck: str,
    listener: object,
    make_batch: MakeBatch,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PROVIDER_API_KEY", SECRET)
    lay_out_files(grounds)
    second_victim = await asyncio.create_subprocess_exec("sleep", "600", env={"VICTIM_KEY": SECRET})
    try:
        model = compile_hostile_model(grounds, second_victim, listener)  # type: ignore[arg-type]
        assert str(model) in hostile_deck
        caplog.set_level(logging.DEBUG)
        engine = make_batch(mode)
        found = await attack(engine, raw_circuit(hostile_deck, grounds, readable_dirs=(grounds.project,)))
        text = caplog.text + everything_said(found)

        assert "HOSTILE loaded" in text, "the code did run, inside"
        assert "HOSTILE end" in text
        assert SECRET not in text
        assert "root:" not in text, "no /etc/passwd"
        assert files_are_as_laid_out(grounds)
        assert not was_called(listener)  # type: ignore[arg-type]
        assert second_victim.returncode is None
        os.kill(second_victim.pid, 0)
        assert processes_in(grounds.scratch) == []
        if mode != "bubblewrap":
            for what in ("fork", "symlink", "hardlink", "fifo", "mkdir", "socket-file", "memfd", "chmod"):
                assert f"HOSTILE {what} done" not in text
            assert "HOSTILE python-ran" not in text
        await plain_circuit_still_runs(engine, grounds)
    finally:
        second_victim.kill()
        await second_victim.wait()


async def test_a_bare_run_of_ngspice_is_one_more_way_in(grounds: Grounds) -> None:
    """The decks above are dangerous to the program ngspice as they are to its library."""
    deck = f"title\n{CIRCUIT}.control\npre_shell touch {grounds.canaries}/canary\n.endc\n.end\n"
    await asyncio.to_thread(bare, deck, grounds)
    assert grounds.tripped == {"canary"}
