"""Programs that are held: all of their processes stand still, in whatever session; none outlives anybody."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shared.pausing import Pause, can_pause, hold_tree
from shared.processes import ProcessLimits, ProcessManager

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(not can_pause() or not Path("/proc").is_dir(), reason="needs Linux")

# A shell, its child, and a grandchild in a session of its own; the last tells the numbers of all three.
FAMILY = "sh -c 'setsid sh -c \"echo $$ \\$PPID \\$\\$; while :; do :; done\" & wait' & wait"


def state_of(pid):
    """R, S, T ...; "" of one that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


async def until_states(pids, wanted):
    def wait():
        deadline = time.monotonic() + 50
        while not all(state_of(pid) in wanted for pid in pids):
            assert time.monotonic() < deadline, [state_of(pid) for pid in pids]
            time.sleep(0.01)

    await asyncio.to_thread(wait)


async def started(manager, pause, limits=None):
    """A family under way: the task that waits for its end, and the numbers of its processes."""
    told = asyncio.get_running_loop().create_future()

    def listen(_stream, line):
        told.set_result([int(word) for word in line.split()])

    argv = ("sh", "-c", FAMILY)
    running = asyncio.create_task(
        manager.run(argv, limits=limits, env=dict(os.environ), on_line=listen, pause=pause)
    )
    async with asyncio.timeout(50):
        pids = await told
    return running, [*pids, manager.running[0]]


async def test_all_of_a_program_stands_still_and_goes_on_and_a_stop_ends_what_is_held():
    manager, pause = ProcessManager(), Pause()
    running, pids = await started(manager, pause)
    for _ in range(2):
        await pause.hold()
        await until_states(pids, "T")
        await pause.go_on()
        await until_states(pids, "RS")
    await pause.hold()
    await pause.hold()
    await until_states(pids, "T")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    os.kill(pids[2], signal.SIGKILL)  # it has left the group: in a box the namespace ends it
    await until_states(pids, ["", "Z"])


async def test_the_time_limit_does_not_count_while_a_program_is_held():
    manager, pause = ProcessManager(), Pause()
    await pause.hold()  # held from its beginning on
    running = asyncio.create_task(
        manager.run(("sleep", "0.2"), limits=ProcessLimits(wall_s=1.0), env=dict(os.environ), pause=pause)
    )
    done, _ = await asyncio.wait([running], timeout=1.5)
    assert not done
    assert pause.held_s >= 1.5
    await pause.go_on()
    outcome = await running
    assert (outcome.exit_code, outcome.timed_out) == (0, False)
    assert outcome.duration_s < 1.5

    limited = asyncio.create_task(
        manager.run(("sleep", "60"), limits=ProcessLimits(wall_s=0.3), env=dict(os.environ), pause=pause)
    )
    assert (await limited).timed_out, "what has held once holds no more"


PROGRAM = """
import asyncio, sys
from pathlib import Path
import bootstrap
from application.ports.simulation import RunWatch
from application.simulation.simulating import SimulationRequest
from shared.pausing import Pause

async def main(circuit):
    app, pause, grows = bootstrap.build(), Pause(), asyncio.Event()
    watch = RunWatch(pause=pause, on_growing=lambda _data: grows.set())
    running = asyncio.create_task(app.simulation.run(SimulationRequest(circuit=circuit), watch=watch))
    await grows.wait()
    await asyncio.sleep(0.5)
    await pause.hold()
    print("held", flush=True)
    await running

asyncio.run(main(Path(sys.argv[1])))
"""


def descendants(pid):
    """Of a process, itself left out."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(words[1]), []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


@pytest.mark.timeout(120)
def test_nothing_that_is_held_outlives_a_killed_program(tmp_path):
    circuit = tmp_path / "long.cir"
    circuit.write_text("long\nV1 a 0 sin(0 1 1k)\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 1000 0 1u\n.end\n")
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(circuit)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout.readline() == "held\n"
            held = [pid for pid in descendants(child.pid) if state_of(pid) == "T"]
            assert held, "ngspice and its box"
        finally:
            child.kill()
    deadline = time.monotonic() + 50
    while any(state_of(pid) not in ("", "Z") for pid in held):
        assert time.monotonic() < deadline, held
        time.sleep(0.02)


def test_a_process_that_has_ended_is_passed_over():
    with subprocess.Popen(["true"], start_new_session=True) as ended:
        ended.wait()
    hold_tree(ended.pid, is_held=True)
    hold_tree(ended.pid, is_held=False)
