"""set_goals and check_goals through the executor, and the verdicts beside every run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from application.design.circuit_goals import read_goals
from application.tool_execution.effects import Effects
from application.tool_execution.operations import Operations
from domain.llm.tools.result import ToolCall
from shared.errors import UserInputError
from shared.ulid import new_ulid
from tests.integration.tools.conftest import Bench

RC = """RC low-pass
Vin in 0 DC 1 AC 1
R1 in out 1k
C1 out 0 159.155n
.ac dec 50 1 1meg
.end
"""
CUTOFF = {
    "metric": "cutoff",
    "expression": "bandwidth(v(out))",
    "target": "1 kHz",
    "tolerance": 0.02,
    "unit": "Hz",
    "words": "corner at 1 kHz",
}
STOP = {
    "metric": "stop",
    "expression": "db(gain(v(out), 100k))",
    "maximum": -45,
    "unit": "dB",
    "priority": "wish",
}


async def kept(bench: Bench, circuit: str = "rc.cir") -> list[tuple[str, float | None, float | None, str]]:
    """The circuit's goals as they are on the disk."""
    found = (await asyncio.to_thread(read_goals, bench.project, circuit)).goals
    return [(goal.metric, goal.minimum, goal.maximum, goal.weight) for goal in found]


async def set_goals(bench: Bench, *goals: object, **arguments: Any) -> Any:
    return await bench.call("set_goals", goals=list(goals), **arguments)


async def test_goals_are_set_judged_by_every_run_and_checked(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    unasked = await bench.call("run_simulation")
    assert "Goals" not in unasked.content
    assert str(unasked.summary) == "Simulated rc.cir: ac."
    done = await set_goals(bench, CUTOFF, STOP)
    assert done.success, done.content
    assert await kept(bench) == [("cutoff", 980, 1020, "must"), ("stop", None, -45, "wish")]
    run = await bench.call("run_simulation", force=True)
    line = next(line for line in run.content.splitlines() if line.startswith("Goals"))
    assert line.startswith("Goals (1 of 2 met): met cutoff = 1 kHz (980 Hz … 1.02 kHz, aim 1 kHz); ")
    assert "MISSED wish stop = -40 dB (≤ -45 dB)" in line
    assert [(goal["metric"], goal["met"]) for goal in run.result["goals"]] == [
        ("cutoff", True),
        ("stop", False),
    ]
    told = str(run.summary)
    assert told == "Simulated rc.cir: ac. 1 of 2 goals met. Missed: stop = -40 dB (≤ -45 dB)."
    found = await bench.call("check_goals")
    assert (found.result["result_path"], found.result["is_stale"]) == (run.result["result_path"], False)
    assert (
        "| cutoff | bandwidth(v(out)) | 980 Hz … 1.02 kHz, aim 1 kHz | 1 kHz | +100 % | met |"
        in found.content
    )
    assert str(found.summary) == "1 of 2 goals of rc.cir met."
    await set_goals(bench, {"metric": "swing", "expression": "pp(v(out))", "minimum": 0.1, "unit": "V"})
    point = await bench.call("run_simulation", analysis="op")
    assert str(point.summary) == "Simulated rc.cir: op. 3 goals cannot be judged by this run."
    assert "not judged swing (≥ 100 mV): This run had only the analysis op." in point.content
    assert (
        str((await bench.call("check_goals")).summary) == "The newest run of rc.cir cannot judge its goals."
    )
    bench.write("rc.cir", RC.replace("159.155n", "150n"))
    assert "was changed since" in (await bench.call("check_goals")).content


async def test_a_value_is_told_from_its_limit_and_what_is_not_there_from_what_is_missed(bench: Bench) -> None:
    bench.write("rc.cir", RC.replace("159.155n", "159.16n"))
    await set_goals(
        bench,
        {"metric": "cutoff", "expression": "bandwidth(v(out))", "minimum": 1000, "unit": "Hz"},
        {"metric": "gone", "expression": "max(v(nowhere))", "minimum": 1, "unit": "V"},
        {"metric": "rise", "expression": "rise_time(v(out))", "maximum": 1, "condition": "at 85 degC"},
    )
    run = await bench.call("run_simulation")
    assert "MISSED cutoff = 999.97 Hz (≥ 1 kHz)" in run.content
    assert "MISSED gone = not measured" in run.content
    found = await bench.call("check_goals")
    assert "not measured: " in found.content
    assert "at 85 degC" in found.content
    assert [goal["value"] for goal in found.result["goals"]][1:] == [None, None]


async def test_a_figure_that_a_command_of_the_circuit_sets_is_none(bench: Bench) -> None:
    """The model is told why, so that it does not take the deck's word for the simulator's."""
    bench.write("rc.cir", f"{RC}.control\nac dec 10 1 1meg\nlet v(out) = 1000 + 0*v(in)\n.endc\n.end\n")
    await set_goals(bench, {**STOP, "expression": "db(gain(v(out), 1k))", "maximum": None, "minimum": 20})
    run = await bench.call("run_simulation")
    line = next(line for line in run.content.splitlines() if line.startswith("Goals"))
    assert line.startswith("Goals (0 of 1 met): MISSED wish stop = not measured (≥ 20 dB): v(out) is set by")


async def test_a_process_corner_is_judged_by_its_run_or_said_to_be_lacking(bench: Bench) -> None:
    values = (("tt", 150), ("ss", 180))
    sections = "\n".join(f".lib {name}\n.param c={value}n\n.endl" for name, value in values)
    bench.write("models.lib", f"* models\n{sections}\n")
    bench.write("setup.inc", "* the models\n.lib models.lib tt\n")
    bench.write("rc.cir", RC.replace("159.155n", "{c}\n.include setup.inc"))
    at_least = {"expression": "bandwidth(v(out))", "minimum": 950, "unit": "Hz"}
    conditions = {"slow": "SS corner", "fast": "FF"}
    await set_goals(
        bench, *({"metric": name, "condition": each, **at_least} for name, each in conditions.items())
    )
    nominal = await bench.call("run_simulation")
    assert "not judged slow (≥ 950 Hz, SS corner): Not simulated with corner=SS." in nominal.content
    lacking = "(≥ 950 Hz, FF (not simulated so: the circuit has no corner FF))"
    assert f"met fast = 1.061 kHz {lacking}" in nominal.content
    slow = await bench.call("run_simulation", parameters={"corner": "slow"})
    assert "MISSED slow = 884.2 Hz (≥ 950 Hz, SS corner (judged at SS))" in slow.content
    assert ".lib models.lib tt" in (bench.root / "setup.inc").read_text(), "a copy is simulated"
    await set_goals(bench, {"metric": "plain", **at_least})
    trial = await bench.call("run_simulation", parameters={"r1": "2k"})
    assert "Goals (0 of 0 met, 3 not judged): not judged slow" in trial.content
    assert "not judged plain (≥ 950 Hz): This run had r1=2k." in trial.content
    assert (await bench.call("check_goals")).result["goals"][2]["met"] is None
    both = await bench.call("run_simulation", parameters={"corner": "SS", "r1": "2k"})
    assert "not judged slow (≥ 950 Hz, SS corner): Not simulated with corner=SS." in both.content
    wrong = await bench.call("run_simulation", parameters={"corner": "FF"})
    assert not wrong.success
    assert "tt, ss" in wrong.content


async def test_a_change_is_one_operation_that_can_be_undone_and_done_again(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    await set_goals(bench, CUTOFF)
    first = await kept(bench)
    await set_goals(bench, {**CUTOFF, "target": 2000, "words": ""}, STOP)
    changed = await kept(bench)
    assert changed == [("cutoff", 1960, 2040, "must"), ("stop", None, -45, "wish")]
    *_, last = await bench.context.operations.list()
    assert (last.tool, last.path, last.state) == ("set_goals", ".circuit_ai/goals/rc.cir.json", "done")
    assert "1960" in (await bench.context.operations.diff(last.op_id)).text
    undo = await bench.context.operations.undo(last.op_id)
    assert await kept(bench) == first
    await bench.context.operations.undo(undo.op_id)
    assert await kept(bench) == changed
    removed = await bench.call("set_goals", remove=["*"])
    assert removed.success
    assert await kept(bench) == []
    begun, *_ = await bench.context.operations.list()
    nothing = await bench.context.operations.undo(begun.op_id, choose="restore")
    assert nothing.state == "done"
    assert not await asyncio.to_thread((bench.root / begun.path).exists)


async def test_goals_are_added_replaced_and_removed_by_their_metric(bench: Bench) -> None:
    bench.write("sub/rc.cir", RC)
    assert (await set_goals(bench, CUTOFF, STOP, file_path="sub/rc.cir")).success
    await bench.call("set_goals", goals='{"metric": "Cutoff", "expression": "ugf(v(out))", "minimum": "2k"}')
    assert await kept(bench, "sub/rc.cir") == [("Cutoff", 2000, None, "must"), ("stop", None, -45, "wish")]
    await bench.call("set_goals", remove=["STOP"])
    assert await kept(bench, "sub/rc.cir") == [("Cutoff", 2000, None, "must")]
    wrong = await bench.call("set_goals", remove=["noise"])
    assert (wrong.error_type, "Cutoff" in wrong.content) == ("bad_arguments", True)
    count = len(await bench.context.operations.list())
    same = await bench.call(
        "set_goals", goals=[{"metric": "Cutoff", "expression": "ugf(v(out))", "minimum": 2000}]
    )
    assert same.success
    assert len(await bench.context.operations.list()) == count


REFUSED = {
    "an unknown function": ({**CUTOFF, "expression": "corner(v(out))"}, "corner"),
    "no bound": ({"metric": "a", "expression": "avg(v(out))"}, "no bound"),
    "a text": ("cutoff 1 kHz", "has to be an object"),
    "a name that nothing has": ("thd <= 3%", "thd(v(out))"),
    "upside down": ({"metric": "a", "expression": "avg(v(out))", "minimum": 2, "maximum": 1}, "never be met"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_wrong_goal_changes_nothing(bench: Bench, name: str) -> None:
    bench.write("rc.cir", RC)
    goal, said = REFUSED[name]
    refused = await set_goals(bench, STOP, goal)
    assert (refused.error_type, said in refused.content) == ("bad_goals", True), refused.content
    assert await kept(bench) == []
    assert await bench.context.operations.list() == ()


async def test_without_goals_or_results_it_is_told_what_to_do(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    assert "set_goals" in (await bench.call("check_goals")).content
    assert (await bench.call("set_goals")).error_type == "bad_goals"
    await set_goals(bench, CUTOFF)
    unrun = await bench.call("check_goals")
    assert (unrun.error_type, "run_simulation" in unrun.content) == ("no_result", True)


def test_only_files_of_goals_are_open_in_the_programs_own_folder(bench: Bench) -> None:
    goals = ".circuit_ai/goals/rc.cir.json"
    assert bench.project.place_of(Path(goals)) == goals
    assert bench.project.is_for_tools(goals, is_folder=False)
    others = (
        "operations.sqlite",
        "goals",
        "goals/a/b.json",
        "goals/a.txt",
        "design_goals.json",
        "goals/../x.json",
    )
    for other in others:
        with pytest.raises(UserInputError):
            bench.project.place_of(Path(".circuit_ai", other))
        assert not bench.project.is_for_tools(f".circuit_ai/{other}", is_folder=False)
    (bench.root / ".circuit_ai" / "goals").mkdir(exist_ok=True)
    (bench.root / goals).symlink_to(bench.root / ".circuit_ai" / "operations.sqlite")
    with pytest.raises(UserInputError):
        bench.project.read(Path(goals))


async def test_file_tools_do_not_reach_the_goals(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    await set_goals(bench, CUTOFF)
    path = ".circuit_ai/goals/rc.cir.json"
    for name, arguments in {
        "rewrite_file": {"path": path, "content": "{}"},
        "patch_file": {"path": path, "search": "1020", "replace": "5000"},
        "delete_file": {"path": path},
        "move_file": {"source": path, "destination": "goals.json"},
    }.items():
        assert (await bench.call(name, **arguments)).error_type == "outside_project"


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("border", [(Effects, "apply"), (Operations, "_close")], ids=["before", "behind"])
async def test_an_interrupted_change_is_whole_when_its_call_comes_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, border: tuple[type, str]
) -> None:
    bench.write("rc.cir", RC)
    call = ToolCall(call_id=new_ulid(), name="set_goals", arguments={"goals": [CUTOFF]})

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(*border, killed)
        with pytest.raises(Killed):
            await bench.repeat(call)
    assert (await kept(bench) == []) == (border[0] is Effects)
    again = await bench.repeat(call)
    assert again.success, again.content
    assert await kept(bench) == [("cutoff", 980, 1020, "must")]
    (record,) = await bench.context.operations.list()
    assert record.state == "done"
