# ruff: noqa: E501 - a deck a line reads better than a deck broken up
"""Every way a run fails is told apart, by code, and by line, element or node where it can be known.

Several of these end with exit code 0.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from domain.simulation.request import ResourceLimits, SimulationJob
from infrastructure.ngspice.confined import ConfinedNgspice
from infrastructure.ngspice.runner import NgspiceRunner
from infrastructure.ngspice.waiting import last_breath
from shared.errors import EnvironmentProblem, NeedsConfirmation
from shared.processes import ProcessManager

MakeRunner = Callable[..., NgspiceRunner]
MakeJob = Callable[..., SimulationJob]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A deck (its title is line 1) and what the run must say first."""

    deck: str
    code: str
    line: int | None = None
    element: str | None = None
    node: str | None = None
    status: str = "failed"


def case(body: str, code: str, line: int | None = None, **more: Any) -> Case:
    return Case(deck=f"title\n{body}\n.end\n", code=code, line=line, **more)


FAILURES: dict[str, Case] = {
    "missing model": case("V1 a 0 1\nD1 a 0 nomod\n.op", "undefined-model", 3, element="D1"),
    "missing MOS model": case(
        "V1 a 0 1\n\n* comment\nM1 a a 0 0\n+ nmosx l=1u\n.op", "undefined-model", 5, element="M1"
    ),
    "missing model in a subcircuit": case(
        "V1 a 0 1\n.subckt s x\nD1 x 0 nomod\n.ends\nX1 a s\n.op", "undefined-model", 4, element="D1"
    ),
    "missing code model": case("V1 a 0 1\na1 a b gg\nR1 b 0 1\n.op", "undefined-model", 3),
    "model of another kind": case(
        "V1 a 0 1\nD1 a 0 q\n.model q npn\n.op", "model-type-mismatch", 3, element="D1"
    ),
    "pole-zero analysis of a source without AC": case(
        "V1 in 0 1\nR1 in o 1k\nC1 o 0 1u\n.pz in 0 o 0 vol pz", "bad-analysis", 5
    ),
    "two sources in parallel": case("V1 a 0 1\nV2 a 0 2\nR1 a 0 1k\n.op", "singular-matrix", 2, element="V1"),
    "no convergence, op": case(
        "V1 a 0 1\nB1 Out 0 V=v(Out)>0.5 ? -1 : 1\nR1 Out 0 1\n.op", "no-convergence", 5, node="Out"
    ),
    "no convergence at the start of tran": case(
        "V1 a 0 1\nB1 x 0 V=v(x)>0.5 ? -1 : 1\nR1 x 0 1\n.tran 1u 1m", "no-convergence", 5, node="x"
    ),
    "time step too small": case(
        "V1 a 0 sin(0 1 1k)\nR1 a b 1\nC1 b 0 1u\nB1 b 0 I=v(b)>0.3 ? 1e12*v(b)*time : -1e9\n.tran 1u 1m uic",
        "timestep-too-small",
        6,
        node="b",
    ),
    "missing include": case("V1 a 0 1\n.include 'no file.inc'\nR1 a 0 1\n.op", "missing-include", 3),
    "missing library": case("V1 a 0 1\n.lib nofile.lib TT\nR1 a 0 1\n.op", "missing-include", 3),
    "unknown subcircuit": case("V1 a 0 1\nX1 a b NoSub\n.op", "undefined-subcircuit", 3, element="X1"),
    "unknown subcircuit with parameters": case(
        "V1 a 0 1\nX1 a b nosub w=1 l=2\n.op", "undefined-subcircuit", 3, element="X1"
    ),
    "too few nodes for a subcircuit": case(
        "V1 a 0 1\n.subckt s p q\nR1 p q 1\n.ends\nX1 a s\n.op", "too-few-nodes", 6, element="X1"
    ),
    "too many nodes for a subcircuit": case(
        "V1 a 0 1\n.subckt s p q\nR1 p q 1\n.ends\nX1 a 0 a s\n.op", "too-many-nodes", 6, element="X1"
    ),
    "too few nodes": case(
        "V1 a 0 1\nM1 a 0 nm\n.model nm nmos\nR1 a 0 1\n.op", "too-few-nodes", 3, element="M1"
    ),
    "too few nodes of a controlled source": case(
        "V1 a 0 1\nE1 b 0 a\nR1 a 0 1\n.op", "too-few-nodes", 3, element="E1"
    ),
    "undefined parameter": case("V1 a 0 1\nR1 a 0 {foo}\n.op", "undefined-parameter", 3),
    "undefined parameter in a parameter": case(
        "V1 a 0 1\n.param bar='foo*2'\nR1 a 0 {bar}\n.op", "undefined-parameter", 3
    ),
    "undefined parameter of an instance": case(
        "V1 a 0 1\n.subckt s p r=1k\nR1 p 0 {r}\n.ends\nX1 a s r={zz}\n.op", "undefined-parameter", 6
    ),
    "expression without an end": case("V1 a 0 1\n.param x={1+}\nR1 a 0 {x}\n.op", "bad-expression", 3),
    "operator at a wrong place": case("V1 a 0 1\nR1 a 0 {1 2}\n.op", "bad-expression", 3),
    "brace never closed": case("V1 a 0 1\nR1 a 0 {1+2\n.op", "bad-expression", 3),
    "source with both ends at one node": case("V1 a 0 1\nV2 a a 2\nR1 a 0 1\n.op", "shorted-source", 3, element="V2"),
    "sweep in the wrong direction": case("V1 a 0 1\nR1 a 0 1\n.dc V1 5 0 1", "no-data", 4),
    "include without a name": case("V1 a 0 1\nR1 a 0 1\n.include\n.op", "missing-include", 4),
    "name used twice in a subcircuit": case(
        "V1 a 0 1\n.subckt s p\nR1 p 0 1\nR1 p 0 2\n.ends\nX1 a s\n.op", "duplicate-element", 5
    ),
    "wrong number of arguments": case(
        "V1 a 0 {p}\n.func f(x,y) {x+y}\n.param p={f(1)}\nR1 a 0 1\n.op", "bad-expression", 4
    ),
    "bad behavioural source": case("V1 a 0 1\nB1 b 0 V=v(a)*+(\nR1 a b 1\n.op", "bad-expression", 3),
    "unknown function": case(
        "V1 a 0 1\nB1 b 0 V=foo(v(a))\nR1 a b 1\n.op", "bad-expression", 3, element="B1"
    ),
    "value that is none": case("V1 a 0 1\nR1 a 0 xyz\n.op", "bad-value", 3, element="R1"),
    "unknown parameter of an element": case(
        "V1 a 0 1\nR1 a 0 1k foo=3\n.op", "unknown-parameter", 3, element="R1"
    ),
    "name used twice": case("V1 a 0 1\nR1 a 0 1\nR1 a 0 2\n.op", "duplicate-element", 4, element="R1"),
    "unknown directive": case("V1 a 0 1\nR1 a 0 1\n.foo\n.op", "unknown-directive", 4),
    "subcircuit never ended": case(
        "V1 a 0 1\n.subckt s p q\nR1 p q 1\nX1 a 0 s\n.op", "subcircuit-mismatch", 3
    ),
    "stray .ends": case("V1 a 0 1\nR1 a 0 1\n.ends\n.op", "subcircuit-mismatch", 4),
    "tran without a stop time": case("V1 a 0 1\nR1 a 0 1\n.tran 1u", "bad-analysis", 4),
    "ac from 0 Hz": case("V1 a 0 1\nR1 a 0 1\n.ac dec 10 0 1k", "bad-analysis", 4),
    "dc of a source that is not there": case(
        "V1 a 0 1\nR1 a 0 1\n.dc V9 0 1 0.1", "undefined-element", 4
    ),
    "noise of a source without AC": case(
        "V1 a 0 1\nR1 a b 1\nR2 b 0 1\n.noise v(b) V1 dec 10 1 1k", "bad-analysis", 5
    ),
    "control by a source that is not there": case(
        "V1 a 0 1\nF1 b 0 V7 2\nR1 a b 1\n.op", "undefined-element", 3, element="F1"
    ),
    "coupling to a coil that is not there": case(
        "V1 a 0 1\nL1 a 0 1\nK1 L1 L9 0.9\n.op", "undefined-element", 4, element="K1"
    ),
    "saves nothing": case("V1 a 0 1\nR1 a 0 1\n.save v(zz)\n.op", "nothing-saved", 4),
    "data file missing": case(
        'a1 %vd([n 0]) f\n.model f filesource (file="no.txt" amploffset=[0] amplscale=[1])\nR1 n 0 1\n.tran 1u 1m',
        "missing-data-file",
        3,
    ),
    "no analysis": case("V1 a 0 1\nR1 a 0 1", "no-analysis"),
    "title only": Case(deck="only a title\n", code="empty-circuit"),
    "empty file": Case(deck="", code="empty-circuit"),
    "unknown command": case("V1 a 0 1\nR1 a 0 1\n.control\nfoobar 1\n.endc", "control-command-failed", 5),
    "command on a device that is not there": case(
        "V1 a 0 1\nR1 a 0 1\n.control\nalter r99=2\n.endc", "control-command-failed", 5
    ),
    "analysis fails in the control block": case(
        "V1 a 0 1\nV2 a 0 2\nR1 a 0 1\n.control\nop\n.endc", "singular-matrix", 2
    ),
    "control block without data": case("V1 a 0 1\nR1 a 0 1\n.control\nop\nprint v(a)\n.endc", "no-data", 4),
    "control block that writes before it runs anything": case(
        "V1 a 0 1\nR1 a 0 1\n.control\nwrite x.raw\n.endc", "no-data", 4
    ),
    "control block quits with 3": case("V1 a 0 1\nR1 a 0 1\n.op\n.control\nquit 3\n.endc", "control-quit"),
    "writes outside its folder": case(
        "V1 a 0 1\nR1 a 0 1\n.control\nop\nwrdata /var/lib/nothing v(a)\n.endc", "file-not-opened", 6
    ),
    "crash by a function that calls itself": case(
        "V1 a 0 1\n.func f(x) {f(x)}\nR1 a 0 {f(1)}\n.op", "simulator-crashed"
    ),
    "crash in the sensitivity analysis": case(
        "VCC 7 0 12\nVEE 8 0 -12\nVIN 1 0 AC 1\nRS1 1 2 1K\nRS2 6 0 1K\nQ1 3 2 4 MOD1\nQ2 5 6 4 MOD1\nRC1 7 3 10K\n"
        "RC2 7 5 10K\nRE 4 8 10K\n.MODEL MOD1 NPN BF=50 VAF=50 IS=1.E-12 RB=100 CJC=.5PF TF=.6NS\n"
        ".TF V(5) VIN\n.AC DEC 10 1 100MEG\n.SENS V(5,3)\n.SENS V(3) AC DEC 10 100 100MEG\n.PZ 1 0 5 0 VOL PZ",
        "simulator-crashed",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
async def test_a_failure_is_told_apart(name: str, make_runner: MakeRunner, make_job: MakeJob) -> None:
    expected = FAILURES[name]
    job = make_job(expected.deck)
    run = await make_runner().run(job)

    assert run.status == expected.status
    first = run.errors[0]
    assert first.code == expected.code, [str(issue.message) for issue in run.issues]
    assert first.line == expected.line
    assert first.file == (job.deck_path if expected.line is not None else None)
    if expected.element is not None:
        assert first.element == expected.element
    if expected.node is not None:
        assert first.node == expected.node
    assert len(run.errors) == 1, [(issue.code, str(issue.message)) for issue in run.errors]
    assert not list(job.output_dir.glob("deck*")), "the deck's copy is not a result"


async def test_one_failed_analysis_does_not_take_the_others_along(
    make_runner: MakeRunner, make_job: MakeJob
) -> None:
    run = await make_runner().run(
        make_job("t\nV1 a 0 dc 1 ac 1\nR1 a 0 1\n.dc V9 0 1 0.1\n.ac dec 10 1 1k\n.tran 1u 1m\n.end\n")
    )
    assert run.status == "failed"
    assert len(run.raw_paths) == 1


WARNINGS: dict[str, Case] = {
    "floating node": case(
        "V1 a 0 5\nC1 a Mid 1u\nC2 Mid 0 1u\n.op", "singular-matrix", node="Mid", status="ok"
    ),
    "inductor across a source": case(
        "V1 a 0 1\nL1 a 0 1\nR1 a 0 1k\n.op", "singular-matrix", 3, element="L1", status="ok"
    ),
    "missing node of a resistor": case(
        "V1 a 0 1\nR9 a\nR1 a 0 1\n.op", "value-adjusted", 3, element="R9", status="ok"
    ),
    "unknown model parameter": case(
        "V1 a 0 1\nD1 a 0 dd\n.model dd d(isx=1)\n.op", "unknown-parameter", 4, status="ok"
    ),
    "initial condition on no node": case(
        "V1 a 0 1\nR1 a b 1\nC2 b 0 1u\n.ic v(zz)=1\n.tran 1u 1m", "unknown-node", 5, node="zz", status="ok"
    ),
    "option that is no number": case(
        "V1 a 0 1\nR1 a 0 1\n.options reltol=abc\n.op", "bad-option", 4, status="ok"
    ),
    "neither poles nor zeros": case(
        "I1 0 a 0 ac 1\nR1 a b 1\nR2 b 0 1\n.pz a 0 b 0 vol pz\n.op", "nothing-found", 5, status="ok"
    ),
    "nothing but an empty plot": case(
        "I1 0 a 0 ac 1\nR1 a b 1\nR2 b 0 1\n.pz a 0 b 0 vol pz", "nothing-found", 5, status="ok"
    ),
    "signal that is not there": case(
        "V1 a 0 1\nR1 a 0 1\n.op\n.control\nop\nprint v(zz)\n.endc", "unknown-vector", 7, status="ok"
    ),
}


@pytest.mark.parametrize("name", WARNINGS)
async def test_a_warning_is_no_failure(name: str, make_runner: MakeRunner, make_job: MakeJob) -> None:
    expected = WARNINGS[name]
    run = await make_runner().run(make_job(expected.deck))
    assert run.status == "ok", run.issues
    assert [(issue.severity, issue.code) for issue in run.issues] == [("warning", expected.code)]
    issue = run.issues[0]
    assert (issue.line, issue.element, issue.node) == (expected.line, expected.element, expected.node)


HEALTHY = {
    "plain": "V1 a 0 1\nR1 a 0 1\n.op",
    "gmin only in the log": "V1 a 0 5\nR1 a b 1k\nD1 b 0 dd\n.model dd d\n.op\n.dc V1 0 5 0.5",
    "source without DC": "V1 a 0 pulse(1 2 0 1n 1n 1u 2u)\nR1 a 0 1\n.op\n.tran 10n 4u",
    "AC without DC": "V1 a 0 AC 1\nR1 a b 1k\nC1 b 0 1n\n.ac dec 5 1 1meg\n.noise v(b) V1 dec 5 1 1meg",
    "plot in a control block": "V1 a 0 1\nR1 a 0 1\n.tran 1u 1m\n.control\nrun\nplot v(a)\nhardcopy x.ps v(a)\n.endc",
    "meas and print": "V1 a 0 1\nR1 a 0 1\n.tran 1u 1m\n.meas tran m max v(a)\n.print tran v(a)\n.four 1k v(a)",
    "XSPICE": "V1 a 0 1\na1 a b g\n.model g gain(gain=2)\nR1 b 0 1\n.tran 1u 1m",
    "all kinds": (
        "V1 a 0 dc 1 ac 1 distof1 1\nR1 a b 1k\nC1 b 0 1n\nD1 b 0 dd\n.model dd d\n.op\n.dc V1 0 1 0.1\n.ac dec 5 1 1k\n"
        ".tran 1u 1m\n.noise v(b) V1 dec 5 1 1k\n.tf v(b) V1\n.sens v(b)\n.pz a 0 b 0 vol pz\n.disto dec 5 1 1k"
    ),
    "the same kind twice": "V1 a 0 ac 1\nR1 a 0 1\n.ac dec 5 1 1k\n.ac lin 3 1 2",
}


@pytest.mark.parametrize("name", HEALTHY)
async def test_a_healthy_run_says_nothing(name: str, make_runner: MakeRunner, make_job: MakeJob) -> None:
    run = await make_runner().run(make_job(f"title\n{HEALTHY[name]}\n.end\n"))
    assert (run.status, run.issues) == ("ok", ())
    assert len(run.raw_paths) == 1


# ---- places in included files -------------------------------------------------------------------


async def test_a_fault_in_an_included_file_is_placed_there(
    outside: Path, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    library = outside / "project/diodes.lib"
    library.write_text("* a\n* b\n* c\nR5 a 0 1\nD7 a 0 NoModel\n")
    job = make_job(
        f"t\nV1 a 0 1\n.include {library}\nR1 a 0 1\nR2 a 0 1\n.op\n.end\n", included_files=(library,)
    )
    run = await make_runner().run(job)
    (error,) = run.errors
    assert (error.code, error.file, error.line) == ("undefined-model", library, 5)


async def test_a_missing_section_is_placed_at_the_directive(
    outside: Path, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    library = outside / "project/corners.lib"
    library.write_text(".lib ff\n.param q=1\n.endl\n")
    job = make_job(f"t\nV1 a 0 1\n.lib {library} TT\nR1 a 0 1\n.op\n.end\n", included_files=(library,))
    (error,) = (await make_runner().run(job)).errors
    assert (error.code, error.file, error.line) == ("missing-section", job.deck_path, 3)


async def test_a_parameter_missing_in_an_included_file_gets_no_wrong_line(
    outside: Path, make_runner: MakeRunner, make_job: MakeJob
) -> None:
    library = outside / "project/part.inc"
    library.write_text("* a\n* b\nR5 a 0 {zork}\n")
    job = make_job(f"t\nV1 a 0 1\nR1 a 0 1\n.include {library}\n.op\n.end\n", included_files=(library,))
    (error,) = (await make_runner().run(job)).errors
    assert (error.code, error.file, error.line) == ("undefined-parameter", library, 3)


# ---- limits, kills, the environment -------------------------------------------------------------


async def test_a_killed_simulator_is_told_from_a_crash(make_runner: MakeRunner, make_job: MakeJob) -> None:
    processes = ProcessManager()
    runner = make_runner("landlock", processes=processes)
    await runner.version()
    job = make_job("t\nV1 a 0 sin(0 1 1k)\nR1 a 0 1\n.tran 1u 100 0 1u\n.end\n", stop_time_s=100.0)
    started = asyncio.Event()
    running = asyncio.create_task(runner.run(job, on_progress=lambda _: started.set()))
    await asyncio.wait_for(started.wait(), 20)
    os.kill(processes.running[0], signal.SIGKILL)
    run = await running
    assert run.status == "failed"
    assert [issue.code for issue in run.errors] == ["simulator-killed"]
    assert run.raw_paths, "what was computed is kept"


async def test_ngspice_missing(make_runner: MakeRunner, make_job: MakeJob, tmp_path: Path) -> None:
    chosen = tmp_path / "nowhere/ngspice"
    with pytest.raises(EnvironmentProblem) as caught:
        await make_runner(ngspice_path=chosen).run(make_job("t\nR1 a 0 1\n.op\n.end\n"))
    assert caught.value.error_type == "simulator_missing"
    assert caught.value.message.params["path"] == chosen
    assert "settings" in str(caught.value.advice)


async def test_ngspice_that_does_not_work(make_runner: MakeRunner, tmp_path: Path) -> None:
    broken = tmp_path / "ngspice"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(EnvironmentProblem, match="simple circuit"):
        await make_runner(ngspice_path=broken).version()


async def test_no_room_for_a_single_byte_is_told_as_a_size_limit(
    make_runner: MakeRunner, make_job: MakeJob
) -> None:
    limits = ResourceLimits(wall_s=20.0, file_bytes=0)
    run = await make_runner().run(make_job("t\nR1 a 0 1\n.op\n.end\n", limits=limits))
    assert run.status == "failed"
    assert run.errors[0].code == "file-size-limit"


async def test_without_any_box_a_deck_with_commands_is_asked_about(
    make_runner: MakeRunner, make_job: MakeJob, outside: Path
) -> None:
    deck = "t\nV1 a 0 1\nR1 a 0 1\n.op\n.control\nop\n.endc\n.end\n"
    options: dict[str, Any] = {"processes": ProcessManager(), "layers": frozenset(("rlimits",))}
    runner = NgspiceRunner(ConfinedNgspice(scratch_root=outside, **options))
    with pytest.raises(NeedsConfirmation, match="confines"):
        await runner.run(make_job(deck))
    library = outside / "project/part.inc"
    library.write_text("R2 a 0 1\n")
    with pytest.raises(NeedsConfirmation):
        await runner.run(make_job("t\nR1 a 0 1\n.op\n.end\n", included_files=(library,)))
    plain = await runner.run(make_job("t\nV1 a 0 1\nR1 a 0 1\n.op\n.end\n"))
    assert (plain.status, plain.confinement) == ("ok", ("rlimits",))
    trusting = NgspiceRunner(ConfinedNgspice(scratch_root=outside, allow_unconfined=True, **options))
    assert (await trusting.run(make_job(deck))).status == "ok"


async def test_who_outlives_the_box_in_a_session_of_its_own_is_killed() -> None:
    """What bubblewrap's child is when bubblewrap was killed before it could ask to die with it."""
    async with last_breath() as lifeline:
        orphan = await asyncio.create_subprocess_exec(
            "sleep", "30", pass_fds=(lifeline,), start_new_session=True
        )
    assert await orphan.wait() == -signal.SIGKILL
