"""The process manager with real programs: their ends, limits, floods, leftovers, cancellation."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from shared.processes import ProcessLimits, ProcessManager
from tests.ground.campaign import campaigns

SHELL = "/bin/sh"
PATH = {"PATH": "/bin:/usr/bin"}


def sh(script):
    return [SHELL, "-c", script]


def python(program):
    return [sys.executable, "-I", "-c", program]


@pytest.fixture
async def manager():
    made = ProcessManager()
    yield made
    assert made.running == ()


async def is_dead(pid):
    """Waits for the end of a process that need not be a child of ours."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    return True


def is_reaped(pid):
    return not Path(f"/proc/{pid}").exists()


async def test_output_and_exit_code(manager):
    outcome = await manager.run(sh("echo out; echo err >&2; exit 3"))
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (3, b"out\n", b"err\n")
    assert not outcome.timed_out
    assert not outcome.truncated


async def test_a_signal_counts_as_in_a_shell(manager):
    outcome = await manager.run(sh("kill -TERM $$"))
    assert outcome.exit_code == 128 + signal.SIGTERM


async def test_the_environment_is_empty_unless_given(manager, monkeypatch):
    monkeypatch.setenv("CIRCUIT_AI_ZHIPU_API_KEY", "secret")
    dump = python("import os; print(dict(os.environ))")
    assert b"secret" not in (await manager.run(dump)).stdout
    assert b"'A': 'b'" in (await manager.run(dump, env={"A": "b"})).stdout


async def test_stdin_is_fed_and_closed(manager):
    data = os.urandom(3_000_000)
    outcome = await manager.run(["/bin/cat"], stdin=data, limits=ProcessLimits(output_bytes=8_000_000))
    assert outcome.stdout == data


async def test_a_program_that_does_not_read_its_stdin_ends_all_the_same(manager):
    outcome = await manager.run(sh("exec 0<&-; echo done"), stdin=b"x" * 5_000_000)
    assert outcome.stdout == b"done\n"


async def test_the_working_folder(manager, tmp_path):
    assert (await manager.run(["/bin/pwd"], cwd=tmp_path)).stdout.decode().strip() == str(tmp_path)


@pytest.mark.parametrize("limits", [None, ProcessLimits(cpu_s=5)], ids=["plain", "limited"])
@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (["no-such-program"], FileNotFoundError),
        (["/no/such/program"], FileNotFoundError),
        (["./no-such-program"], FileNotFoundError),
        (["/tmp"], PermissionError),
    ],
)
async def test_a_program_that_cannot_be_started(manager, argv, error, limits):
    with pytest.raises(error):
        await manager.run(argv, limits=limits)


@pytest.mark.parametrize("limits", [None, ProcessLimits(cpu_s=5)], ids=["plain", "limited"])
async def test_a_file_that_is_no_program(manager, tmp_path, limits):
    (tmp_path / "text").write_text("hello")
    with pytest.raises(PermissionError):
        await manager.run([str(tmp_path / "text")], limits=limits)


async def test_a_relative_program_counts_from_the_working_folder(manager, tmp_path):
    program = tmp_path / "here"
    program.write_text("#!/bin/sh\necho it is me\n")
    program.chmod(0o755)
    for limits in (None, ProcessLimits(cpu_s=5)):
        assert (await manager.run(["./here"], cwd=tmp_path, limits=limits)).stdout == b"it is me\n"


async def test_a_time_out_kills_the_group_and_keeps_what_was_said(manager):
    outcome = await manager.run(
        sh("sleep 1000 & echo $!; echo early; wait"), env=PATH, limits=ProcessLimits(wall_s=0.2)
    )
    pid, word = outcome.stdout.split()
    assert outcome.timed_out
    assert word == b"early"
    assert outcome.exit_code == 137
    assert await is_dead(int(pid))


async def test_a_grandchild_that_keeps_the_pipes_open_holds_nobody_up(manager):
    outcome = await manager.run(sh("sleep 1000 & echo $!"), env=PATH)
    assert outcome.exit_code == 0
    assert await is_dead(int(outcome.stdout))


async def test_a_grandchild_that_ignores_signals_is_killed_too(manager, tmp_path):
    deaf = "(trap '' TERM HUP INT; : > deaf; exec sleep 1000) & echo $!"
    outcome = await manager.run(sh(f"{deaf}; until [ -e deaf ]; do sleep 0.01; done"), env=PATH, cwd=tmp_path)
    assert outcome.exit_code == 0
    assert await is_dead(int(outcome.stdout))


async def test_a_process_that_left_the_group_holds_nobody_up_for_long(manager):
    outcome = await manager.run(sh("setsid sleep 1000 & echo $!; sleep 0.1"), env=PATH)
    pid = int(outcome.stdout)
    assert outcome.exit_code == 0
    os.kill(pid, signal.SIGKILL)
    assert await is_dead(pid)


async def test_everything_said_before_the_end_is_there(manager):
    for _ in range(20):
        outcome = await manager.run(
            python("import os; os.write(1, b'x' * 60_000); os.write(2, b'y' * 60_000)")
        )
        assert (len(outcome.stdout), len(outcome.stderr)) == (60_000, 60_000)


async def test_a_flood_is_kept_by_its_head_and_tail(manager):
    program = (
        "import os\nos.write(1, b'begin')\nchunk = b'.' * 2**20\n"
        "for _ in range(100): os.write(1, chunk)\nos.write(1, b'end')"
    )
    outcome = await manager.run(python(program), limits=ProcessLimits(output_bytes=10_000))
    assert outcome.truncated
    assert outcome.stdout.startswith(b"begin...")
    assert outcome.stdout.endswith(b"...end")
    assert len(outcome.stdout) < 10_100
    left_out = 100 * 2**20 + 8 - 10_000
    assert f"{left_out} bytes left out".encode() in outcome.stdout


async def test_a_flood_in_one_line_costs_no_memory_and_holds_no_loop(manager):
    import tracemalloc

    lines: list[str] = []
    program = "import os\nchunk = b'.' * 2**20\nfor _ in range(50): os.write(1, chunk)\nprint('x')"
    tracemalloc.start()
    try:
        await manager.run(
            python(program),
            limits=ProcessLimits(output_bytes=1000),
            on_line=lambda _, line: lines.append(line),
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [len(line) for line in lines] == [8192]
    assert peak < 5_000_000


async def test_lines_come_as_they_are_said(manager):
    """The program waits for an answer to each of its lines, so they cannot come all at the end."""
    lines: list[tuple[str, str]] = []
    reader, writer = os.pipe()
    loop = asyncio.get_running_loop()

    def hear(name, line):
        lines.append((name, line))
        loop.call_soon(os.write, writer, b"go\n")

    program = (
        "import os, sys\n"
        f"for i in (1, 2, 3): print(i, flush=True); os.read({reader}, 3)\n"
        "print('end', file=sys.stderr)"
    )
    try:
        await manager.run(python(program), on_line=hear, pass_fds=[reader], limits=ProcessLimits(wall_s=20))
    finally:
        os.close(reader)
        os.close(writer)
    assert lines == [("stdout", "1"), ("stdout", "2"), ("stdout", "3"), ("stderr", "end")]


async def test_a_carriage_return_ends_a_line_and_with_a_line_feed_ends_one_only(manager):
    lines: list[str] = []
    program = r"import os; [os.write(1, bytes([c])) for c in b'10%\r20%\rdone\r\n\r\nlast']"
    await manager.run(python(program), on_line=lambda _, line: lines.append(line))
    assert lines == ["10%", "20%", "done", "", "last"]


async def test_bytes_that_are_no_text_do_no_harm(manager):
    lines: list[str] = []
    await manager.run(sh(r"printf '\377\376ok\n'"), on_line=lambda _, line: lines.append(line))
    assert lines == ["��ok"]


@pytest.mark.expects_error_log("listener failed on the line 'one'")
async def test_a_listener_that_fails_is_heard_of_once_and_the_program_goes_on(manager):
    def broken(name, line):
        raise ZeroDivisionError

    outcome = await manager.run(sh("echo one; echo two; exit 4"), on_line=broken)
    assert (outcome.exit_code, outcome.stdout) == (4, b"one\ntwo\n")


async def test_the_cpu_limit_ends_an_endless_loop(manager):
    outcome = await manager.run(sh("while :; do :; done"), limits=ProcessLimits(cpu_s=1, wall_s=50))
    assert outcome.exit_code == 128 + signal.SIGXCPU
    assert not outcome.timed_out


async def test_the_memory_limit(manager):
    limits = ProcessLimits(memory_bytes=256 * 2**20)
    outcome = await manager.run(python("x = bytearray(1 << 30)"), limits=limits)
    assert outcome.exit_code == 1
    assert b"MemoryError" in outcome.stderr


async def test_the_file_limit(manager, tmp_path):
    program = f"open({str(tmp_path / 'big')!r}, 'wb').write(b'x' * 100_000)"
    outcome = await manager.run(python(program), limits=ProcessLimits(file_bytes=1000))
    assert outcome.exit_code != 0
    assert (tmp_path / "big").stat().st_size == 1000


async def test_the_limits_hold_for_children_made_at_once(manager):
    script = "(ulimit -v; ulimit -f; ulimit -t; ulimit -c) & wait"
    limits = ProcessLimits(memory_bytes=512 * 2**20, file_bytes=2**20, cpu_s=7)
    outcome = await manager.run(sh(script), limits=limits)
    assert outcome.stdout.split() == [b"524288", b"2048", b"7", b"0"]


async def test_no_core_file_without_limits_either(manager):
    assert (await manager.run(sh("sleep 0.05; ulimit -c"), env=PATH)).stdout == b"0\n"


async def test_cancelling_kills_the_group_before_it_goes_on(manager):
    said: asyncio.Queue[int] = asyncio.Queue()
    script = "sleep 1000 & echo $!; echo $$; wait"
    run = asyncio.create_task(
        manager.run(sh(script), env=PATH, on_line=lambda _, line: said.put_nowait(int(line)))
    )
    child, leader = await said.get(), await said.get()
    assert manager.running == (leader,)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert manager.running == ()
    assert is_reaped(leader)
    assert await is_dead(child)


async def test_cancelling_twice_still_waits_for_the_end(manager):
    said: asyncio.Queue[int] = asyncio.Queue()
    run = asyncio.create_task(
        manager.run(
            sh("echo $$; exec sleep 1000"), env=PATH, on_line=lambda _, line: said.put_nowait(int(line))
        )
    )
    leader = await said.get()
    run.cancel()
    await asyncio.sleep(0)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert is_reaped(leader)


@campaigns(fast=15, whole=2000)
async def test_cancelling_at_any_moment_leaves_nothing(campaign, tmp_path):
    """After 0, 1, 2 ... turns of the loop, also in the middle of the start; each child marks its life."""
    manager = ProcessManager()
    marker = f"sleep 31{os.getpid()}"
    for rng in campaign.cases():
        run = asyncio.create_task(
            manager.run(
                sh(f"{marker} & {marker}"), env=PATH, limits=rng.choice([None, ProcessLimits(cpu_s=9)])
            )
        )
        for _ in range(rng.randrange(25)):
            await asyncio.sleep(0)
        await asyncio.sleep(rng.choice([0, 0, rng.random() * 0.01]))
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert manager.running == ()
    assert all([await is_dead(pid) for pid in _processes_named(marker)])


async def test_cancelling_the_start_of_a_program_that_cannot_be_started(manager):
    for turns in range(6):
        run = asyncio.create_task(manager.run(["/no/such/program"]))
        for _ in range(turns):
            await asyncio.sleep(0)
        run.cancel()
        await asyncio.wait([run])


def _processes_named(command):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if line == command:
                found.append(int(entry.name))
    return found


async def test_kill_all_ends_everything_and_the_runs_return(manager):
    ready: asyncio.Queue[str] = asyncio.Queue()
    runs = [
        asyncio.create_task(
            manager.run(
                sh("echo ready; exec sleep 1000"), env=PATH, on_line=lambda _, line: ready.put_nowait(line)
            )
        )
        for _ in range(5)
    ]
    for _ in runs:
        await ready.get()
    await manager.kill_all()
    assert manager.running == ()
    assert [outcome.exit_code for outcome in await asyncio.gather(*runs)] == [137] * 5


async def test_kill_all_catches_a_program_that_is_only_being_started(manager):
    run = asyncio.create_task(manager.run(sh("sleep 1000")))
    await asyncio.sleep(0)
    await manager.kill_all()
    assert (await run).exit_code == 137


async def test_kill_all_with_nothing_to_kill(manager):
    await manager.kill_all()


async def test_many_at_once(manager):
    outcomes = await asyncio.gather(*(manager.run(sh(f"echo {number}")) for number in range(40)))
    assert [int(outcome.stdout) for outcome in outcomes] == list(range(40))
