"""Nothing outlives the program: killed with work that never ends in hand, it leaves no process behind.

Each case is the real program (or the real executor) in a process of its own, killed while a process it
started is stuck: in a loop of Python, in one of C that holds the interpreter, in ngspice, in a batch.
"""

import json
import marshal
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from infrastructure.ngspice import box_launcher, sandbox

ROOT = Path(__file__).parents[3]
PATIENCE_S = 30.0

ENDLESS_DECK = "t\nV1 a 0 1\nR1 a 0 1\n.control\nwhile 1\nlet x = 1\nend\n.endc\n.end\n"
LONG_DECK = "t\nV1 a 0 sin(0 1 1meg)\nR1 a b 1k\nC1 b 0 1n\n.tran 1n 1000\n.meas tran top max v(b)\n.end\n"
CPU_JOB = """
import asyncio, sys
sys.path[:] = {path!r}
from shared.cpu_executor import CpuTaskExecutor
from tests.integration.strangers import test_endless_orphans as jobs
asyncio.run(CpuTaskExecutor().run(getattr(jobs, {job!r})))
"""
OWN_PROGRAM = """
import asyncio, sys
sys.path[:] = {path!r}
from shared.processes import ProcessManager
asyncio.run(ProcessManager().run([sys.executable, "-c", "while True: pass"]))
"""


def loop_in_python():
    while True:
        pass


def loop_in_c():
    """A regular expression that backtracks: the interpreter is held, no thread and no handler runs."""
    import re

    re.match(r"(a+)+$", "a" * 60 + "b")


def loop_in_c_deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    loop_in_c()


def stat_of(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third on; [] when it is gone or only waits to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
    return [] if fields[0] in "ZX" else fields


def below(pid: int) -> dict[int, str]:
    """The processes below `pid` with the times they began at, which tell them from later ones."""
    stats = {int(p.name): stat_of(int(p.name)) for p in Path("/proc").iterdir() if p.name.isdigit()}
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        children = [
            p for p, fields in stats.items() if fields and int(fields[1]) == parent and p not in found
        ]
        found |= {child: stats[child][19] for child in children}
        waiting += children
    return found


def is_busy(pid: int) -> bool:
    """It has computed for a while: what it does now is its endless work."""
    fields = stat_of(pid)
    return bool(fields) and int(fields[11]) + int(fields[12]) > os.sysconf("SC_CLK_TCK") // 2


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@contextmanager
def started(*words: str, scratch: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ if scratch is None else {**os.environ, "TMPDIR": str(scratch)}
    program = subprocess.Popen(
        [sys.executable, *words],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        yield program
    finally:
        program.kill()
        program.wait()


def kill_and_look(program: subprocess.Popen[bytes], least: int = 1) -> None:
    """Kill the program once `least` processes below it are hard at work, and see that all of them go."""
    wait_until(
        lambda: sum(map(is_busy, below(program.pid))) >= least and program.poll() is None,
        f"the program ended ({program.poll()}), or nothing is at work",
    )
    children = below(program.pid)
    program.kill()
    program.wait()

    def left() -> list[int]:
        return [pid for pid, began in children.items() if (fields := stat_of(pid)) and fields[19] == began]

    try:
        wait_until(lambda: not left(), "processes outlive the program")
    finally:
        for pid in left():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("job", ["loop_in_python", "loop_in_c", "loop_in_c_deaf"])
def test_a_cpu_worker_in_an_endless_job_dies_with_the_program(job: str) -> None:
    with started("-c", CPU_JOB.format(path=sys.path, job=job)) as program:
        kill_and_look(program)


def test_a_program_of_the_process_manager_dies_with_the_program() -> None:
    """As the probe of the web view and what `doctor` asks."""
    with started("-c", OWN_PROGRAM.format(path=sys.path)) as program:
        kill_and_look(program)


def test_a_search_for_a_pattern_that_backtracks_dies_with_the_program(tmp_path: Path) -> None:
    (tmp_path / ".circuit_ai").mkdir()
    (tmp_path / "notes.txt").write_text("a" * 60 + "b\n")
    call = json.dumps({"query": "/(a+)+$/"})
    words = ("main.py", "tool", "--project", str(tmp_path), "search_project", call)
    with started(*words) as program:
        kill_and_look(program)


def test_a_run_that_never_ends_dies_with_the_program(tmp_path: Path) -> None:
    deck = tmp_path / "endless.cir"
    deck.write_text(ENDLESS_DECK)
    with started("main.py", "simulate", str(deck)) as program:
        kill_and_look(program)


def test_the_guests_of_a_batch_die_with_the_program(tmp_path: Path) -> None:
    deck = tmp_path / "long.cir"
    deck.write_text(LONG_DECK)
    words = ("main.py", "sweep", "--param", "R1=1k,2k,3k,4k", "--timeout", "600", "--workers", "2", str(deck))
    with started(*words, scratch=tmp_path) as program:  # the next start would clear what is left there
        kill_and_look(program, least=2)


def test_a_run_whose_program_died_before_bubblewrap_could_notice_does_not_begin() -> None:
    """Its lifeline, a pipe the program reads, tells the launcher."""
    script = Path(box_launcher.__file__).read_text(encoding="utf-8")
    plan = {
        "calls": sandbox._CALLS[sandbox.machine() or "x86_64"],
        "cwd": "/",
        "guest": None,
        "parent": None,
        "limits": [],
        "ruleset": None,
        "rules": [],
        "filter": None,
        "pid_mark": b"",
        "argv": ["/bin/true"],
        "env": {},
    }
    for is_read, code in ((True, 0), (False, box_launcher.FAILED)):
        reader, lifeline = os.pipe()
        told, tells = os.pipe()
        os.write(tells, marshal.dumps({**plan, "lifeline": lifeline}))
        os.close(tells)
        if not is_read:
            os.close(reader)
        command = [sys.executable, "-I", "-S", "-c", script, str(told)]
        ended = subprocess.run(command, pass_fds=(told, lifeline), check=False, timeout=PATIENCE_S)
        for descriptor in (told, lifeline, *((reader,) if is_read else ())):
            os.close(descriptor)
        assert ended.returncode == code
