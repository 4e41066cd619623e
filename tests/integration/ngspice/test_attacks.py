"""Attacks of a hostile netlist. Each has two halves: the canary trips in a bare run of ngspice, so
the attack is real; and it does not trip in the box, where a plain deck still runs afterwards.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from domain.simulation.request import ResourceLimits, SimulationJob
from domain.simulation.result import SimulationRun
from infrastructure.ngspice.runner import NgspiceRunner
from infrastructure.waveforms.raw_file import read_raw
from tests.integration.ngspice.conftest import MODES

SECRET = "tell-nobody-4711"
PLAIN = "plain\nV1 a 0 2\nR1 a b 1k\nR2 b 0 1k\n.op\n.end\n"
CIRCUIT = "V1 a 0 2\nR1 a 0 1k\n.op\n"

MakeRunner = Callable[..., NgspiceRunner]
MakeJob = Callable[..., SimulationJob]

every_mode = pytest.mark.parametrize("mode", MODES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """Where an attack may do harm: canaries appear here when it succeeds."""

    folder: Path
    scratch: Path
    project: Path
    canaries: Path
    secret: Path

    @property
    def tripped(self) -> set[str]:
        return {path.name for path in self.canaries.iterdir()}


@pytest.fixture
def grounds(outside: Path, scratch_root: Path, make_job: MakeJob) -> Grounds:
    canaries = outside / "canaries"
    canaries.mkdir()
    secret = outside / "secret.txt"
    secret.write_text(f"{SECRET}\n")
    return Grounds(
        folder=outside,
        scratch=scratch_root,
        project=outside / "project",
        canaries=canaries,
        secret=secret,
    )


def bare(deck: str, grounds: Grounds, *, timeout: float = 20.0, env: dict[str, str] | None = None) -> str:
    """Run ngspice without any box; its output. The working folder is grounds.folder/bare."""
    work = grounds.folder / "bare"
    work.mkdir(exist_ok=True)
    (work / "deck.cir").write_text(deck)
    done = subprocess.run(
        ["ngspice", "-n", "-b", "-r", "bare.raw", "deck.cir"],
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout,
        env={**os.environ, **(env or {})},
        check=False,
    )
    return done.stdout.decode("latin-1")


_SEEN: set[str] = set()


def is_first(attack: str) -> bool:
    """Whether this process has yet to see what the attack does without a box, the same in every mode."""
    is_new = attack not in _SEEN
    _SEEN.add(attack)
    return is_new


async def plain_deck_still_runs(runner: NgspiceRunner, make_job: MakeJob) -> None:
    run = await runner.run(make_job(PLAIN))
    assert run.status == "ok", run.issues
    (plot,) = await asyncio.to_thread(read_raw, run.raw_paths[0])
    assert plot.vectors["v(b)"].data[0] == pytest.approx(1.0)


def everything_written(run: SimulationRun) -> str:
    """All text a run gave back: its log, its issues and every file beside the log."""
    files = [path.read_bytes().decode("latin-1") for path in run.log_path.parent.rglob("*") if path.is_file()]
    return "\n".join([*files, *(str(issue.message) for issue in run.issues)])


def nothing_is_left_of_the_scratch(grounds: Grounds) -> None:
    assert list(grounds.scratch.iterdir()) == []


# ---- commands that make something happen outside ------------------------------------------------

COMMANDS = {
    "shell": "shell echo x > {c}/shell",
    "shell-in-capitals": "SHELL echo x > {c}/shell-in-capitals",
    "back-ticks": "echo `touch {c}/back-ticks`",
    "back-ticks-in-set": "set x = `touch {c}/back-ticks-in-set`",
    "write": "op\nwrite {c}/write v(a)",
    "wrdata": "op\nwrdata {c}/wrdata v(a)",
    "print": "op\nprint v(a) > {c}/print",
    "echo": "echo hello > {c}/echo",
    "listing": "listing > {c}/listing",
    "append": "echo hello >> {c}/append",
    "hardcopy": "op\nset hcopydevtype=postscript\nhardcopy {c}/hardcopy v(a)",
    "snsave": "tran 1u 10u\nsnsave {c}/snsave",
    "change-folder": "cd {c}\necho hello > change-folder",
    "alias": "alias harmless shell\nharmless touch {c}/alias",
    "edit": "set editor='touch {c}/edit #'\nshell $editor",
    "gnuplot": "tran 1u 10u\ngnuplot {c}/gnuplot v(a)",
}


def in_control(commands: str) -> str:
    return f"title\n{CIRCUIT}.control\n{commands}\n.endc\n.end\n"


FORMS = {
    "in a control block": lambda c: in_control(f"shell touch {c}/canary"),
    "in capitals": lambda c: f"title\n{CIRCUIT}.CONTROL\nshell touch {c}/canary\n.ENDC\n.end\n",
    "indented": lambda c: f"title\n{CIRCUIT}  .control\n  shell touch {c}/canary\n  .endc\n.end\n",
    "after the end": lambda c: f"title\n{CIRCUIT}.end\n.control\nshell touch {c}/canary\n.endc\n",
    "in a comment": lambda c: f"title\n*# shell touch {c}/canary\n{CIRCUIT}.end\n",
    "in an indented comment": lambda c: f"title\n   *# shell touch {c}/canary\n{CIRCUIT}.end\n",
    "in a subcircuit": lambda c: (
        f"title\n.subckt s a\n*# shell touch {c}/canary\nR9 a 0 1\n.ends\nX1 a s\n{CIRCUIT}.end\n"
    ),
}


@every_mode
@pytest.mark.parametrize("name", COMMANDS)
async def test_a_command_does_nothing_outside(
    name: str, mode: str, grounds: Grounds, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    deck = in_control(COMMANDS[name].format(c=grounds.canaries))
    if is_first(name):
        await asyncio.to_thread(bare, deck, grounds)
        assert grounds.tripped, "the attack does not work even without a box"
        for path in grounds.canaries.iterdir():
            path.unlink()

    runner = make_runner(mode)
    await runner.run(make_job(deck, readable_dirs=(grounds.project,)))

    assert grounds.tripped == set()
    nothing_is_left_of_the_scratch(grounds)
    await plain_deck_still_runs(runner, make_job)


@every_mode
@pytest.mark.parametrize("form", FORMS)
async def test_a_hidden_command_does_nothing_outside(
    form: str, mode: str, grounds: Grounds, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    deck = FORMS[form](grounds.canaries)
    if is_first(form):
        await asyncio.to_thread(bare, deck, grounds)
        assert grounds.tripped == {"canary"}
        (grounds.canaries / "canary").unlink()

    runner = make_runner(mode)
    run = await runner.run(make_job(deck))

    assert grounds.tripped == set()
    assert run.raw_paths, "the circuit itself still runs"
    await plain_deck_still_runs(runner, make_job)


@every_mode
@pytest.mark.parametrize("directive", [".include {file}", ".lib {file} tt"])
async def test_a_command_in_an_included_file_does_nothing_outside(
    directive: str, mode: str, grounds: Grounds, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    library = grounds.project / "models.lib"
    canary = grounds.canaries / "canary"
    library.write_text(f".lib tt\n*# shell touch {canary}\nR5 a 0 1\n.endl\n")
    if directive.startswith(".inc"):
        library.write_text(f"*# shell touch {canary}\n.control\nshell touch {canary}\n.endc\nR5 a 0 1\n")
    deck = f"title\n{directive.format(file=library)}\n{CIRCUIT}.end\n"
    if is_first(directive):
        await asyncio.to_thread(bare, deck, grounds)
        assert canary.exists()
        canary.unlink()

    runner = make_runner(mode)
    run = await runner.run(make_job(deck, included_files=(library,)))

    assert grounds.tripped == set()
    assert run.status == "ok", run.issues
    await plain_deck_still_runs(runner, make_job)


# ---- secrets -------------------------------------------------------------------------------------

LEAKS = {
    "include": "title\n.include {secret}\n" + CIRCUIT + ".end\n",
    "load": in_control("load {secret}\nprint all"),
    "source": in_control("source {secret}"),
}


@every_mode
@pytest.mark.parametrize("name", LEAKS)
async def test_a_file_outside_does_not_come_out(
    name: str, mode: str, grounds: Grounds, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    deck = LEAKS[name].format(secret=grounds.secret)
    assert SECRET in await asyncio.to_thread(bare, deck, grounds)

    runner = make_runner(mode)
    run = await runner.run(make_job(deck, readable_dirs=(grounds.project,)))

    assert SECRET not in everything_written(run)
    await plain_deck_still_runs(runner, make_job)


@every_mode
async def test_numbers_of_a_file_outside_do_not_become_a_waveform(
    mode: str, grounds: Grounds, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    numbers = grounds.folder / "account.txt"
    numbers.write_text("0 0\n1e-3 4711\n2e-3 4711\n")
    deck = (
        f'title\na1 %vd([n 0]) f\n.model f filesource (file="{numbers}" amploffset=[0] amplscale=[1]\n'
        "+ timeoffset=0 timescale=1 timerelative=false amplstep=false)\nR1 n 0 1k\n.tran 10u 2m\n.end\n"
    )
    await asyncio.to_thread(bare, deck, grounds)
    (plot,) = await asyncio.to_thread(read_raw, grounds.folder / "bare/bare.raw")
    assert plot.vectors["v(n)"].data.max() == pytest.approx(4711)

    runner = make_runner(mode)
    run = await runner.run(make_job(deck, readable_dirs=(grounds.project,)))

    assert run.status == "failed"
    assert run.errors[0].code == "missing-data-file"
    assert "4711" not in everything_written(run)
    await plain_deck_still_runs(runner, make_job)


@every_mode
async def test_the_environment_does_not_come_out(
    mode: str,
    grounds: Grounds,
    make_runner: MakeRunner,
    make_job: MakeJob,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PROVIDER_API_KEY", SECRET)
    home = os.environ["HOME"]
    deck = in_control("echo $PROVIDER_API_KEY home=$HOME")
    text = await asyncio.to_thread(bare, deck, grounds)
    assert SECRET in text
    assert home in text

    runner = make_runner(mode)
    run = await runner.run(make_job(deck))

    assert SECRET not in everything_written(run)
    assert home not in everything_written(run)


@every_mode
async def test_the_hidden_folder_of_a_project_is_not_seen(
    mode: str, grounds: Grounds, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    hidden = grounds.project / ".circuit_ai"
    hidden.mkdir()
    (hidden / "conversation.txt").write_text(SECRET)
    (grounds.project / "seen.inc").write_text("R7 a 0 1k\n")
    (grounds.project / "sub").mkdir()
    (grounds.project / "sub/seen.inc").write_text("R8 a 0 1k\n")
    deck = "title\n.include seen.inc\n.include sub/seen.inc\n" + in_control(
        f"source {hidden}/conversation.txt\nload {hidden}/conversation.txt"
    )
    assert SECRET in await asyncio.to_thread(
        bare, deck.replace(".include ", f".include {grounds.project}/"), grounds
    )

    runner = make_runner(mode)
    run = await runner.run(make_job(deck, readable_dirs=(grounds.project,), hidden_dirs=(hidden,)))
    assert SECRET not in everything_written(run)
    open_to_all = "title\n.include seen.inc\n.include sub/seen.inc\n" + CIRCUIT + ".end\n"
    seen = await runner.run(make_job(open_to_all, readable_dirs=(grounds.project,), hidden_dirs=(hidden,)))
    assert seen.status == "ok", seen.issues


async def test_landlock_alone_leaves_existing_files_in_tmp_open_and_says_so(
    make_runner: MakeRunner, make_job: MakeJob
) -> None:
    """tmpfile() is wired to /tmp: the documented hole of this mode. Nothing can be made there."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # wherever the tests' own folders lie
        await _look_in(Path(folder), make_runner, make_job)


async def _look_in(folder: Path, make_runner: MakeRunner, make_job: MakeJob) -> None:
    (folder / "known.txt").write_text(f"{SECRET}\n")
    deck = in_control(f"source {folder}/known.txt\necho x > {folder}/new.txt")
    runner = make_runner("landlock")
    run = await runner.run(make_job(deck))
    assert SECRET in everything_written(run)
    assert not (folder / "new.txt").exists()
    assert any("/tmp" in str(note) for note in (await runner.confinement()).notes)
    for mode in ("both", "bubblewrap"):
        run = await make_runner(mode).run(make_job(deck))
        assert SECRET not in everything_written(run)


# ---- native code ---------------------------------------------------------------------------------


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the user that holds a key in its environment."""
    process = subprocess.Popen(["sleep", "600"], env={"VICTIM_KEY": SECRET, "PATH": os.environ["PATH"]})
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def was_called(listener: socket.socket) -> bool:
    try:
        connection, _ = listener.accept()
    except BlockingIOError:
        return False
    connection.close()
    return True


HOSTILE_MODEL = "hostile.cm"


def compile_hostile_model(grounds: Grounds, victim: subprocess.Popen[bytes], listener: socket.socket) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "this test compiles a hostile code model: install gcc"
    source = Path(__file__).parents[2] / "fakes/hostile/hostile_model.c"
    model = grounds.project / HOSTILE_MODEL
    python = os.path.realpath(sys.executable)
    texts = {"SECRET": grounds.secret, "CANARIES": grounds.canaries, "PYTHON": python}
    defines = [f'-D{name}="{value}"' for name, value in texts.items()]
    defines += [f"-DVICTIM={victim.pid}", f"-DPORT={listener.getsockname()[1]}"]
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-w", *defines, "-o", str(model), str(source)], check=True, timeout=60
    )
    return model


def lay_out_files(grounds: Grounds) -> None:
    for path in grounds.canaries.iterdir():
        path.unlink()
    for name in ("kept", "removable", "movable"):
        (grounds.canaries / name).write_text("mine\n")
        (grounds.canaries / name).chmod(0o600)


def files_are_as_laid_out(grounds: Grounds) -> bool:
    kept = grounds.canaries / "kept"
    return (
        grounds.tripped == {"kept", "removable", "movable"}
        and kept.read_text() == "mine\n"
        and kept.stat().st_mode & 0o777 == 0o600
        and time.time() - kept.stat().st_mtime < 3600
    )


def processes_in(folder: Path) -> list[int]:
    """Processes whose current folder is below `folder`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                where = (entry / "cwd").readlink()
            except OSError:
                continue
            if where.is_relative_to(folder):
                found.append(int(entry.name))
    return found


@pytest.fixture
def hostile_deck(grounds: Grounds, victim: subprocess.Popen[bytes], listener: socket.socket) -> Iterator[str]:
    """A deck that loads the hostile model, which has been seen to do all its harm in a bare run."""
    deck = in_control(f"codemodel {grounds.project / HOSTILE_MODEL}")
    if not is_first("hostile model"):
        yield deck
        return
    compile_hostile_model(grounds, victim, listener)
    lay_out_files(grounds)
    text = bare(deck, grounds, env={"HOME": str(grounds.folder / "bare")})
    assert "HOSTILE end" in text
    assert text.count(SECRET) >= 2, "it reads the secret and the victim's environment"
    assert {"written", "shell", "forked", "python", "moved"} <= grounds.tripped
    assert not {"removable", "movable"} & grounds.tripped
    assert (grounds.canaries / "kept").stat().st_size == 0
    assert was_called(listener)
    assert victim.wait(timeout=50) == -signal.SIGTERM
    assert (grounds.folder / "bare/link.raw").is_symlink()
    for pid in processes_in(grounds.folder / "bare"):
        os.kill(pid, signal.SIGKILL)
    yield deck
    # Too deep for shutil.rmtree.
    subprocess.run(["rm", "-rf", str(grounds.folder / "bare")], check=True, timeout=60)


@every_mode
async def test_native_code_of_a_hostile_code_model_harms_nothing(
    mode: str,
    grounds: Grounds,
    hostile_deck: str,
    listener: socket.socket,
    make_runner: MakeRunner,
    make_job: MakeJob,
) -> None:
    lay_out_files(grounds)
    second_victim = await asyncio.create_subprocess_exec("sleep", "600", env={"VICTIM_KEY": SECRET})
    try:
        model = compile_hostile_model(grounds, _as_victim(second_victim), listener)
        assert str(model) in hostile_deck
        runner = make_runner(mode)
        run = await runner.run(make_job(hostile_deck, readable_dirs=(grounds.project,)))
        text = everything_written(run)

        assert "HOSTILE loaded" in text, "the code did run, inside"
        assert "HOSTILE end" in text
        assert SECRET not in text
        assert "root:" not in text, "no /etc/passwd"
        assert files_are_as_laid_out(grounds)
        assert not was_called(listener)
        assert second_victim.returncode is None
        os.kill(second_victim.pid, 0)
        assert processes_in(grounds.scratch) == []
        nothing_is_left_of_the_scratch(grounds)
        if mode == "bubblewrap":
            # Documented: without Landlock and seccomp it litters its scratch and starts Python again.
            assert "HOSTILE symlink done" in text
            assert "HOSTILE fifo done" in text
            assert "HOSTILE python-ran" in text
            assert {"output-ignored"} <= {issue.code for issue in run.issues}
        else:
            for what in ("fork", "symlink", "hardlink", "fifo", "mkdir", "socket-file", "memfd", "chmod"):
                assert f"HOSTILE {what} done" not in text
            assert "HOSTILE python-ran" not in text
        await plain_deck_still_runs(runner, make_job)
    finally:
        second_victim.kill()
        await second_victim.wait()


def _as_victim(process: asyncio.subprocess.Process) -> subprocess.Popen[bytes]:
    return process  # type: ignore[return-value]  # only its pid is looked at


# ---- too much ------------------------------------------------------------------------------------


@every_mode
async def test_a_flood_of_output_is_cut(
    mode: str, grounds: Grounds, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    line = "flood " * 40
    deck = in_control(f"while 1\necho {line}\nend")
    if is_first("flood"):
        with pytest.raises(subprocess.TimeoutExpired) as unlimited:
            await asyncio.to_thread(bare, deck, grounds, timeout=1.0)
        assert len(unlimited.value.stdout or b"") > 1_000_000

    runner = make_runner(mode)
    limits = ResourceLimits(wall_s=1.0, log_bytes=200_000)
    run = await runner.run(make_job(deck, limits=limits))

    assert run.status == "timeout"
    assert run.errors[0].code == "time-limit"
    assert run.log_path.stat().st_size < 500_000
    await plain_deck_still_runs(runner, make_job)


@every_mode
async def test_an_endless_loop_ends_at_the_processor_limit(
    mode: str, grounds: Grounds, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    deck = in_control("let x = 0\nwhile 1\nlet x = x + 1\nend")
    if is_first("endless loop"):
        with pytest.raises(subprocess.TimeoutExpired):
            await asyncio.to_thread(bare, deck, grounds, timeout=1.5)

    runner = make_runner(mode)
    run = await runner.run(make_job(deck, limits=ResourceLimits(wall_s=20.0, cpu_s=1)))

    assert run.status == "failed"
    assert [issue.code for issue in run.errors] == ["cpu-limit"]
    await plain_deck_still_runs(runner, make_job)


@every_mode
async def test_a_memory_bomb_ends_at_the_memory_limit(
    mode: str, grounds: Grounds, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    deck = in_control("let x = vector(80000000)\necho bomb went off")
    if is_first("memory bomb"):
        assert "bomb went off" in await asyncio.to_thread(bare, deck, grounds)

    runner = make_runner(mode)
    run = await runner.run(make_job(deck, limits=ResourceLimits(wall_s=20.0, memory_bytes=400 * 2**20)))

    assert run.status == "failed"
    assert run.errors[0].code == "memory-limit"
    assert "bomb went off" not in run.log_path.read_text()
    await plain_deck_still_runs(runner, make_job)


@every_mode
async def test_a_huge_raw_file_ends_at_the_size_limit_and_keeps_its_data(
    mode: str, grounds: Grounds, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    deck = "huge\nV1 a 0 sin(0 1 1k)\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 60m 0 1u\n.end\n"
    await asyncio.to_thread(bare, deck, grounds)
    assert (grounds.folder / "bare/bare.raw").stat().st_size > 2**20

    runner = make_runner(mode)
    run = await runner.run(make_job(deck, limits=ResourceLimits(wall_s=20.0, file_bytes=2**20)))

    assert run.status == "failed"
    assert run.errors[0].code == "file-size-limit"
    assert run.raw_paths[0].stat().st_size <= 2**20
    (plot,) = await asyncio.to_thread(read_raw, run.raw_paths[0])
    assert plot.points > 10_000
    await plain_deck_still_runs(runner, make_job)


@every_mode
async def test_many_files_end_at_the_size_limit_together(
    mode: str, grounds: Grounds, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    deck = (
        "many\nV1 a 0 sin(0 1 1k)\nR1 a b 1k\n.control\ntran 1u 10m 0 1u\nlet n = 0\nwhile 1\n"
        "write file{$&n}.raw\nlet n = n + 1\nend\n.endc\n.end\n"
    )
    if is_first("many files"):
        with pytest.raises(subprocess.TimeoutExpired):
            await asyncio.to_thread(bare, deck, grounds, timeout=1.5)
        written = sum(path.stat().st_size for path in (grounds.folder / "bare").iterdir())
        assert written > 4 * 2**20

    runner = make_runner(mode)
    run = await runner.run(make_job(deck, limits=ResourceLimits(wall_s=20.0, file_bytes=2**20)))

    assert run.status == "failed"
    assert [issue.code for issue in run.errors] == ["file-size-limit"]
    nothing_is_left_of_the_scratch(grounds)
    await plain_deck_still_runs(runner, make_job)


@every_mode
async def test_an_included_fifo_ends_at_the_time_limit(
    mode: str, grounds: Grounds, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    fifo = grounds.project / "fifo.inc"
    os.mkfifo(fifo)
    deck = f"title\n.include {fifo}\n{CIRCUIT}.end\n"
    if is_first("FIFO"):
        with pytest.raises(subprocess.TimeoutExpired):
            await asyncio.to_thread(bare, deck, grounds, timeout=1.0)

    runner = make_runner(mode)
    named = await runner.run(make_job(deck, included_files=(fifo,), limits=ResourceLimits(wall_s=2.0)))
    assert [issue.code for issue in named.errors] == ["missing-include"], "a FIFO is not taken along"
    found = await runner.run(
        make_job(deck, readable_dirs=(grounds.project,), limits=ResourceLimits(wall_s=1.0))
    )
    assert found.status == "timeout"
    await plain_deck_still_runs(runner, make_job)


async def test_threads_stay_one_whatever_the_deck_sets(
    grounds: Grounds, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    deck = in_control("echo threads=$num_threads\nset num_threads=4")
    assert not re.search(r"threads=1\b", await asyncio.to_thread(bare, deck, grounds))
    run = await make_runner().run(make_job(deck))
    assert re.search(r"threads=1\b", run.log_path.read_text())
