"""The life of a run: success, progress, time-out, cancel, paths, files it writes, side by side."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from application.ports.simulation import GrowingData, Growth, RunWatch
from domain.simulation.reach import Reach
from domain.simulation.request import ResourceLimits, SimulationJob
from infrastructure.ngspice.confined import ConfinedNgspice
from infrastructure.ngspice.runner import NgspiceRunner
from infrastructure.waveforms.raw_file import read_raw
from shared.processes import ProcessManager
from tests.integration.ngspice.conftest import MODES

MakeRunner = Callable[..., NgspiceRunner]
MakeJob = Callable[..., SimulationJob]

DIVIDER = "divider\nV1 a 0 3\nR1 a b 1k\nR2 b 0 2k\n.op\n.end\n"
LONG = "long\nV1 a 0 sin(0 1 1k)\nR1 a b 1k\nC1 b 0 1u\n.tran 1u {stop} 0 1u\n.end\n"

every_mode = pytest.mark.parametrize("mode", MODES)


def is_empty(folder: Path) -> bool:
    return not any(folder.iterdir())


async def values(path: Path, name: str, plot: int = 0) -> float:
    plots = await asyncio.to_thread(read_raw, path)
    return float(plots[plot].vectors[name].data[-1].real)


@every_mode
async def test_a_run_gives_its_data_and_its_log(
    mode: str, make_runner: MakeRunner, make_job: MakeJob, scratch_root: Path
) -> None:
    runner = make_runner(mode)
    run = await runner.run(make_job(DIVIDER))
    assert (run.status, run.issues) == ("ok", ())
    assert await values(run.raw_paths[0], "v(b)") == pytest.approx(2.0)
    assert "No. of Data Rows : 1" in run.log_path.read_text()
    assert run.simulator_version == await runner.version()
    assert re.fullmatch(r"ngspice-\d+\S*", run.simulator_version)
    assert run.duration_s > 0
    assert is_empty(scratch_root)
    assert set(run.confinement) == MODES[mode]


def test_something_confines_ngspice_here(missing_modes: dict[str, str]) -> None:
    assert set(MODES) - set(missing_modes), missing_modes


async def test_all_layers_hold_together(make_runner: MakeRunner) -> None:
    confinement = await make_runner("both").confinement()
    assert confinement.layers == ("bubblewrap", "landlock", "seccomp", "rlimits")
    assert confinement.landlock_abi >= 1
    assert confinement.notes == ()


async def test_without_bubblewrap_the_rest_holds_and_it_is_said(
    make_runner: MakeRunner, make_job: MakeJob, tmp_path: Path
) -> None:
    make_runner("landlock")
    runner = make_runner(bubblewrap_path=tmp_path / "no-bwrap")
    confinement = await runner.confinement()
    assert confinement.layers == ("landlock", "seccomp", "rlimits")
    assert any("bubblewrap" in str(note) for note in confinement.notes)
    assert (await runner.run(make_job(DIVIDER))).status == "ok"


@every_mode
async def test_relative_includes_and_data_files_are_found_from_the_circuit(
    mode: str, make_runner: MakeRunner, make_job: MakeJob, outside: Path
) -> None:
    project = outside / "project"
    (project / "models/deep").mkdir(parents=True)
    (project / "models/top.inc").write_text(".include deep/inner.inc\nR1 a b 1k\n")
    (project / "models/deep/inner.inc").write_text("R2 b 0 2k\n")
    (project / "data.txt").write_text("0 3\n1 3\n")
    deck = (
        't\n.include models/top.inc\na1 %vd([a 0]) f\n.model f filesource (file="data.txt" amploffset=[0]\n'
        "+ amplscale=[1] timeoffset=0 timescale=1 timerelative=false amplstep=false)\n.tran 1m 5m\n.end\n"
    )
    run = await make_runner(mode).run(make_job(deck, readable_dirs=(project,)))
    assert run.status == "ok", run.issues
    assert await values(run.raw_paths[0], "v(b)") == pytest.approx(2.0)


@every_mode
async def test_only_the_named_files_of_a_lone_circuit_are_seen(
    mode: str, make_runner: MakeRunner, make_job: MakeJob, outside: Path
) -> None:
    project = outside / "project"
    (project / "named.inc").write_text("R1 a b 1k\n")
    (project / "other.inc").write_text("R2 b 0 2k\n")
    deck = "t\nV1 a 0 3\n.include named.inc\n.include other.inc\n.op\n.end\n"
    named, other = project / "named.inc", project / "other.inc"
    runner = make_runner(mode)
    assert (await runner.run(make_job(deck, included_files=(named, other)))).status == "ok"
    run = await runner.run(make_job(deck, included_files=(named,)))
    assert [issue.code for issue in run.errors] == ["missing-include"]
    # Under Landlock the file is there but closed, and ngspice then does not say which one it was.
    assert run.errors[0].line == (None if mode == "landlock" else 4)


@every_mode
async def test_paths_with_blanks_and_chinese_and_the_project_under_tmp(
    mode: str, make_runner: MakeRunner, make_job: MakeJob, tmp_path: Path
) -> None:
    project = tmp_path / "滤波器 设计 'a'"
    project.mkdir()
    (project / "模型.inc").write_text("R1 a b 1k\nR2 b 0 2k\n")
    deck = "电路 标题\nV1 a 0 3\n.include 模型.inc\n.op\n.end\n"
    job = make_job(deck, deck_path=project / "电路.cir", readable_dirs=(project,))
    run = await make_runner(mode).run(job)
    assert run.status == "ok", run.issues
    assert await values(run.raw_paths[0], "v(b)") == pytest.approx(2.0)


async def test_raw_files_of_a_control_block_are_taken_after_the_decks_own(
    make_runner: MakeRunner, make_job: MakeJob
) -> None:
    deck = (
        "t\nV1 a 0 ac 1\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 1m\n"
        ".control\nac dec 5 1 1k\nwrite b.raw\nop\nwrite a.out\n"
        "wrdata numbers v(b)\necho hello > notes.txt\n.endc\n.end\n"
    )
    run = await make_runner().run(make_job(deck))
    assert run.status == "ok", run.issues
    assert [path.name for path in run.raw_paths] == ["ngspice.raw", "a.out", "b.raw"]
    assert {path.parent for path in run.raw_paths} == {run.log_path.parent}
    files = run.log_path.parent / "files"
    assert sorted(path.name for path in files.iterdir()) == ["notes.txt", "numbers"]
    assert (files / "notes.txt").read_text() == "hello\n"


async def test_a_control_block_without_deck_analyses_gives_what_it_wrote(
    make_runner: MakeRunner, make_job: MakeJob
) -> None:
    deck = "t\nV1 a 0 1\nR1 a 0 1k\n.control\ntran 1u 1m\nwrite only.raw\n.endc\n.end\n"
    run = await make_runner().run(make_job(deck))
    assert (run.status, run.issues) == ("ok", ())
    assert [path.name for path in run.raw_paths] == ["only.raw"]


async def test_a_deck_cannot_take_the_place_of_our_files(make_runner: MakeRunner, make_job: MakeJob) -> None:
    deck = (
        "t\nV1 a 0 1\nR1 a 0 1k\n.op\n.control\nop\nwrite result.json\nwrite ngspice.log\n"
        "echo x > deck.cir\necho x > .hidden\n.endc\n.end\n"
    )
    run = await make_runner().run(make_job(deck))
    folder = run.log_path.parent
    assert sorted(path.name for path in folder.iterdir()) == ["files", "ngspice.log", "ngspice.raw"]
    assert "stderr" in run.log_path.read_text()
    assert [issue.code for issue in run.issues] == ["output-ignored"]


async def test_progress_rises_to_one(make_runner: MakeRunner, make_job: MakeJob) -> None:
    told: list[float] = []
    job = make_job(LONG.format(stop="400m"), stop_time_s=0.4)
    run = await make_runner().run(job, on_progress=told.append)
    assert run.status == "ok"
    assert len(told) >= 3
    assert told == sorted(set(told))
    assert told[0] < 0.9
    assert told[-1] == 1.0


async def test_progress_of_several_analyses_never_falls(make_runner: MakeRunner, make_job: MakeJob) -> None:
    told: list[float] = []
    deck = (
        LONG.format(stop="200m").replace(".end\n", ".ac dec 20000 1 1g\n.end\n").replace("sin(", "ac 1 sin(")
    )
    run = await make_runner().run(make_job(deck, stop_time_s=0.2), on_progress=told.append)
    assert run.status == "ok"
    assert told == sorted(set(told))
    assert told[-1] == 1.0


@every_mode
async def test_a_time_out_keeps_what_was_computed(
    mode: str, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    told: list[float] = []
    job = make_job(LONG.format(stop=1000), stop_time_s=1000.0, limits=ResourceLimits(wall_s=1.5))
    run = await make_runner(mode).run(job, on_progress=told.append)
    assert run.status == "timeout"
    assert [issue.code for issue in run.errors] == ["time-limit"]
    (plot,) = await asyncio.to_thread(read_raw, run.raw_paths[0])
    assert plot.points > 1000
    assert plot.axis is not None
    assert 0 < plot.axis.data[-1] < 1000
    assert all(value < 1 for value in told), "never said to be complete"


async def test_a_halt_keeps_what_was_computed_and_what_grows_can_be_read(
    make_runner: MakeRunner, make_job: MakeJob, scratch_root: Path
) -> None:
    halt, offered = asyncio.Event(), list[GrowingData]()
    deck = LONG.format(stop=1000).replace(".end\n", ".ac dec 10 1 1k\n.end\n").replace("sin(", "ac 1 sin(")
    job = make_job(deck, stop_time_s=1000.0)
    watch = RunWatch(halt=halt, on_growing=offered.append)
    running = asyncio.create_task(make_runner().run(job, watch=watch))
    seen: list[Growth] = []
    async with asyncio.timeout(50):
        while len(seen) < 3 or seen[-1].stride < 4:
            await asyncio.sleep(0.05)
            growth = await asyncio.to_thread(offered[0].read) if offered else None
            if growth is not None and growth.plots and (not seen or growth.reach != seen[-1].reach):
                seen.append(growth)
    halt.set()
    run = await running
    assert (run.status, [issue.code for issue in run.issues]) == ("cancelled", ["stopped"])
    plots = await asyncio.to_thread(read_raw, run.raw_paths[0])
    kinds = [plot.analysis for plot in plots]
    assert sorted(kinds) == ["ac", "tran"]
    last = next(plot for plot in plots if plot.analysis == "tran")
    assert last.axis is not None
    assert run.reach == Reach(analysis="tran", at=last.axis.data[-1].real, of=1000.0, unit="s")
    assert offered[0].ends == {"tran": (0.0, 1000.0), "ac": (1.0, 1000.0)}
    for growth in seen:
        grown = growth.plots[-1]
        assert grown.analysis == "tran"
        assert grown.points <= 100_000
        for name, vector in grown.vectors.items():
            every = last.vectors[name].data[:: growth.stride]
            assert (vector.data == every[: grown.points]).all()
    assert (await asyncio.to_thread(offered[0].read)).reach == seen[-1].reach, "nothing is read after its end"
    assert is_empty(scratch_root)


def processes_that_know(folder: Path) -> list[str]:
    """Processes whose current folder is below `folder`, or that have such a folder mounted."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                where = str((entry / "cwd").readlink())
                mounts = (entry / "mountinfo").read_text()
            except OSError:
                continue
            if where.startswith(str(folder)) or (str(folder) in mounts):
                found.append(f"{entry.name} {where}")
    return found


def wait_until(is_so: Callable[[], bool], seconds: float = 50.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it does not come true"
        time.sleep(0.02)


@every_mode
async def test_cancelling_kills_the_run_and_leaves_nothing(
    mode: str, make_runner: MakeRunner, make_job: MakeJob, scratch_root: Path
) -> None:
    processes = ProcessManager()
    runner = make_runner(mode, processes=processes)
    await runner.version()
    job = make_job(LONG.format(stop=1000), stop_time_s=1000.0)
    started = asyncio.Event()
    running = asyncio.create_task(runner.run(job, on_progress=lambda _: started.set()))
    await asyncio.wait_for(started.wait(), 20)
    assert await asyncio.to_thread(processes_that_know, scratch_root)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert processes.running == ()
    assert await asyncio.to_thread(processes_that_know, scratch_root) == []
    assert is_empty(scratch_root)
    assert is_empty(job.output_dir)


@every_mode
async def test_a_killed_application_leaves_no_run_behind(
    mode: str, make_runner: MakeRunner, outside: Path
) -> None:
    """A silent endless loop: it meets no closed pipe that would end it."""
    make_runner(mode)
    code = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from infrastructure.ngspice.confined import ConfinedNgspice\n"
        "from infrastructure.ngspice.runner import NgspiceRunner\n"
        "from shared.processes import ProcessManager\n"
        "from domain.simulation.request import SimulationJob\n"
        "deck = b't\\nV1 a 0 1\\nR1 a 0 1\\n.control\\nwhile 1\\nlet x = 1\\nend\\n.endc\\n.end\\n'\n"
        "async def main():\n"
        "    ngspice = ConfinedNgspice(processes=ProcessManager(), layers=frozenset(sys.argv[2:]))\n"
        "    runner = NgspiceRunner(ngspice)\n"
        "    await runner.confinement()\n"
        "    print('ready', flush=True)\n"
        "    job = SimulationJob(deck=deck, deck_path=Path('x.cir'), output_dir=Path(sys.argv[1]))\n"
        "    await runner.run(job)\n"
        "asyncio.run(main())\n"
    )
    application = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, str(outside), *MODES[mode],
        cwd=Path(__file__).parents[3], stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert application.stdout is not None
    assert await asyncio.wait_for(application.stdout.readline(), 30) == b"ready\n"
    await asyncio.to_thread(wait_until, lambda: processes_that_know(outside) != [])
    application.kill()
    await application.wait()
    await asyncio.to_thread(wait_until, lambda: processes_that_know(outside) == [])


@pytest.mark.parametrize("delay_s", [0.0, 0.001, 0.003, 0.01, 0.02, 0.05])
async def test_cancelling_at_any_moment_leaves_nothing(
    delay_s: float, make_runner: MakeRunner, make_job: MakeJob, scratch_root: Path
) -> None:
    processes = ProcessManager()
    runner = make_runner(processes=processes)
    await runner.version()
    running = asyncio.create_task(runner.run(make_job(LONG.format(stop=1000))))
    await asyncio.sleep(delay_s)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert processes.running == ()
    assert is_empty(scratch_root)


async def test_runs_side_by_side_do_not_meet(make_runner: MakeRunner, make_job: MakeJob) -> None:
    runner = make_runner()
    decks = [DIVIDER.replace("V1 a 0 3", f"V1 a 0 {volts}") for volts in (3, 6, 9)]
    runs = await asyncio.gather(*(runner.run(make_job(deck)) for deck in decks))
    for run, volts in zip(runs, (3, 6, 9), strict=True):
        assert await values(run.raw_paths[0], "v(b)") == pytest.approx(volts * 2 / 3)


async def test_the_default_scratch_is_in_the_output_folder_and_gone_afterwards(make_job: MakeJob) -> None:
    run = await NgspiceRunner(ConfinedNgspice(processes=ProcessManager())).run(make_job(DIVIDER))
    names = sorted(path.name for path in run.log_path.parent.iterdir())
    assert names == ["ngspice.log", "ngspice.raw"]


async def test_a_solver_uses_one_thread(make_runner: MakeRunner, make_job: MakeJob) -> None:
    """BSIM4 is the model that ngspice spreads over threads."""
    devices = "\n".join(f"M{n} d{n} g 0 0 nm l=1u w=10u\nRd{n} vdd d{n} 10k" for n in range(40))
    deck = (
        f"threads\nVdd vdd 0 1.8\nVg g 0 0.9 sin(0.9 0.1 1meg)\n{devices}\n"
        ".model nm nmos level=14 version=4.8.2\n.tran 1n 1m\n.end\n"
    )
    processes = ProcessManager()
    runner = make_runner("landlock", processes=processes)
    await runner.version()
    started = asyncio.Event()
    running = asyncio.create_task(
        runner.run(make_job(deck, stop_time_s=1e-3), on_progress=lambda _: started.set())
    )
    await asyncio.wait_for(started.wait(), 20)
    (pid,) = processes.running
    threads = await asyncio.to_thread(lambda: list(Path(f"/proc/{pid}/task").iterdir()))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(threads) == 1


async def test_a_user_without_a_passwd_entry(outside: Path, make_runner: MakeRunner) -> None:
    """In a user namespace whose uid nobody knows (containers do this): the run still works."""
    make_runner("both")
    root = Path(__file__).parents[3]
    code = (
        "import asyncio, os, sys\nfrom pathlib import Path\n"
        "from infrastructure.ngspice.confined import ConfinedNgspice\n"
        "from infrastructure.ngspice.runner import NgspiceRunner\n"
        "from shared.processes import ProcessManager\n"
        "from domain.simulation.request import SimulationJob\n"
        "job = SimulationJob(deck=b't\\nV1 a 0 1\\nR1 a 0 1\\n.op\\n.end\\n', deck_path=Path('x.cir'),"
        " output_dir=Path(sys.argv[1]))\n"
        "run = asyncio.run(NgspiceRunner(ConfinedNgspice(processes=ProcessManager())).run(job))\n"
        "print(os.getuid(), run.status, len(run.raw_paths), *run.confinement)\n"
    )
    bubblewrap = shutil.which("bwrap")
    assert bubblewrap
    done = await asyncio.to_thread(
        subprocess.run,
        [bubblewrap, "--unshare-user", "--uid", "54321", "--gid", "54321", "--dev-bind", "/", "/", "--chdir",
         root,
         sys.executable, "-c", code, str(outside)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    assert words[:3] == ["54321", "ok", "1"]
    assert "landlock" in words


async def test_half_a_second_is_enough_to_cancel(make_runner: MakeRunner, make_job: MakeJob) -> None:
    """The promise to whoever presses Stop; ten times what it takes, so that a busy machine passes."""
    runner = make_runner()
    await runner.version()
    started = asyncio.Event()
    job = make_job(LONG.format(stop=1000), stop_time_s=1000.0)
    running = asyncio.create_task(runner.run(job, on_progress=lambda _: started.set()))
    await asyncio.wait_for(started.wait(), 20)
    begin = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - begin < 5.0
