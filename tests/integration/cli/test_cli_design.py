"""`design` as scripts see it: JSON lines, the files it leaves, refusals."""

import asyncio
import json
import math
import sqlite3
from pathlib import Path

import bootstrap
from application.design.rounds import edited_since
from application.ports.events import IntentRead
from presentation import VERSION
from presentation.cli.design import event_document
from presentation.json_output import Output
from presentation.narration import Narrator
from presentation.round_words import change_of
from presentation.translation import Translator
from tests.integration.cli.conftest import Cli

FILTER = "Design a second-order Butterworth low-pass filter with a cutoff of 1 kHz"


def test_a_sentence_becomes_a_proved_circuit(cli: Cli, tmp_path: Path) -> None:
    run = cli("design", tmp_path, FILTER, "--yes", "--json")
    events = run.events
    kinds = [event["type"] for event in events]
    assert run.exit_code == 0, run.stdout
    assert kinds[0] == "session"
    assert kinds[-1] == "done"
    assert kinds.count("done") == 1
    assert {"phase", "goals", "tool_start", "tool_end", "iteration", "checkpoint", "confirm"} <= set(kinds)
    done = events[-1]
    assert done["goals_met"] is True
    assert done["stop_reason"] == "goals_met"
    assert not Path(done["circuit"]).is_absolute()
    assert (tmp_path / done["circuit"]).is_file()
    assert all(goal["met"] for goal in done["goals"])
    cutoff = next(goal for goal in done["goals"] if goal["unit"] == "Hz")
    assert math.isclose(cutoff["value"], 1000, rel_tol=0.05)
    started = [event["id"] for event in events if event["type"] == "tool_start"]
    assert started == [event["id"] for event in events if event["type"] == "tool_end"]


def test_what_a_project_holds_afterwards(cli: Cli, tmp_path: Path) -> None:
    session = cli("design", tmp_path, FILTER, "--yes", "--json").events[0]["session_id"]
    data = tmp_path / ".circuit_ai"
    assert (data / ".gitignore").read_text().strip() == "*"
    goals = json.loads(next((data / "goals").iterdir()).read_text())
    assert goals["text"] == FILTER
    assert goals["measure"]
    with sqlite3.connect(data / "checkpoints.sqlite") as database:
        rows = database.execute(
            "select length(checkpoint) from checkpoints where thread_id = ?", (session,)
        ).fetchall()
    database.close()
    assert len(rows) == 1, "nothing needs the steps of an ended run"
    assert max(size for (size,) in rows) < 20_000


def test_a_finished_design_is_exported_as_report_data(cli: Cli, tmp_path: Path) -> None:
    done = cli("design", tmp_path, FILTER, "--yes", "--json").events[-1]
    report = cli("sessions", "export", tmp_path, "last", "--format", "report", "--json").document
    [design] = report["designs"]
    assert (design["text"], design["state"], design["circuit"]) == (FILTER, "ended", done["circuit"])
    assert design["goals"][0]["words"]
    assert design["goals"][0]["words"] in FILTER
    assert len(design["rounds"]) == done["rounds"]
    figures = {row["metric"]: row["value"] for row in design["rounds"][-1]["figures"]}
    assert figures == done["metrics"]
    assert design["end"]["stop_reason"] == "goals_met"
    assert [call["tool"] for call in design["rounds"][0]["tried"]["calls"]] == [
        "rewrite_file",
        "run_simulation",
    ]
    version = design["rounds"][0]["simulator"]
    assert version.startswith("ngspice-")
    assert (report["versions"]["simulators"], report["versions"]["program"]) == ([version], VERSION)
    target = tmp_path / "report.json"
    assert cli("sessions", "export", tmp_path, "last", "--format", "report", "-o", target).exit_code == 0
    assert json.loads(target.read_text()) == report


def test_a_second_design_leaves_the_first_alone(cli: Cli, tmp_path: Path) -> None:
    first = cli("design", tmp_path, FILTER, "--yes", "--json").events[-1]["circuit"]
    (tmp_path / first).write_text("mine\n.end\n")
    second = cli("design", tmp_path, FILTER, "--yes", "--json").events[-1]["circuit"]
    assert first != second
    assert (tmp_path / first).read_text() == "mine\n.end\n"


def test_a_sentence_in_its_conversation_refines_a_finished_design(cli: Cli, tmp_path: Path) -> None:
    first = cli("design", tmp_path, FILTER, "--yes", "--json")
    circuit, session = first.events[-1]["circuit"], first.events[0]["session_id"]
    wish = ("chat", tmp_path, "cutoff 2 kHz ± 2 %", "--mode", "workflow", "--yes", "--json")
    again = cli(*wish, "--session", "last")
    assert again.exit_code == 0, again.stdout
    assert (again.events[0]["session_id"], again.events[-1]["circuit"]) == (session, circuit)
    cutoff = next(goal for goal in again.events[-1]["goals"] if goal["unit"] == "Hz")
    assert (cutoff[">="], cutoff["<="]) == (1960, 2040)
    report = cli("sessions", "export", tmp_path, session, "--format", "report", "--json").document
    refined = report["designs"][1]["rounds"][0]
    assert refined["circuit"] == circuit
    assert refined["netlist_sha256"]
    assert refined["changes"], "against the circuit of the first design"
    rounds = asyncio.run(bootstrap.build().project.browse.rounds(tmp_path))
    assert rounds is not None
    assert (rounds.refines.text, len(rounds.refines.rounds)) == (FILTER, len(report["designs"][0]["rounds"]))
    assert rounds.rounds[0].changes
    assert "→" in str(change_of(rounds.rounds[0], rounds.begins_from))
    last = rounds.rounds[-1]
    assert edited_since(last, last.netlist) is None
    nodes = last.netlist.replace(b"Vee vee 0 DC", b"Vee vee x DC").replace(
        b"Vcc vcc 0 DC 15", b"Vcc vcc 0 DC 12"
    )
    edited = edited_since(last, nodes.replace(b".end\n", b"R99 out 0 1Meg\n.end\n"))
    told = str(change_of(edited, last)).replace("\u00a0", " ")
    assert told == "Vcc 15 → 12, Vee vee 0 DC -15 → vee x DC -15, R99 — → out 0 1Meg", told
    assert all(each["time"] for design in report["designs"] for each in design["decisions"])
    assert report["versions"]["models"] == ["builtin"]
    back = cli("design", tmp_path, "--round", "1", "--session", session[:12], "--json")
    assert (back.exit_code, back.document["session"]) == (0, session)
    unknown = cli(*wish, "--session", "01ARZ3NDEK")
    assert (unknown.exit_code, unknown.events[-2]["error_type"]) == (2, "no_session")


def test_unknown_circuits_are_refused_with_what_is_known(cli: Cli, tmp_path: Path) -> None:
    run = cli("design", tmp_path, "Design a VCO at 10 MHz", "--yes", "--json")
    assert run.exit_code == 1
    error, done = run.events[-2:]
    assert error["type"] == "error"
    assert "buck" in (error["message"] + error["advice"]).lower()
    assert done["type"] == "done"
    assert done["circuit"] is None
    assert list(tmp_path.glob("*.cir")) == []
    # what was refused is over: the next sentence in its conversation designs
    session = run.events[0]["session_id"]
    behind = cli("design", tmp_path, FILTER, "--yes", "--json", "--session", session)
    assert (behind.exit_code, behind.events[0]["session_id"]) == (0, session)


def test_without_a_terminal_goals_need_yes(cli: Cli, tmp_path: Path) -> None:
    run = cli("design", tmp_path, FILTER, "--json")
    assert run.exit_code == 1
    assert run.events[-2]["error_type"] == "needs_confirmation"
    assert run.events[-1]["type"] == "done"
    assert list(tmp_path.glob("*.cir")) == []


def test_the_log_for_people_shows_goals_and_figures(cli: Cli, tmp_path: Path) -> None:
    run = cli("design", tmp_path, "设计一个截止频率为2kHz的一阶RC低通滤波器", "--yes", LANG="zh_CN.UTF-8")
    assert run.exit_code == 0, run.stderr
    assert "kHz" in run.stdout
    assert "目标" in run.stdout


def test_an_unknown_provider_is_named(cli: Cli, tmp_path: Path) -> None:
    run = cli("design", tmp_path, FILTER, "--provider", "nobody", "--yes", "--json")
    assert run.exit_code == 2
    assert "nobody" in run.events[-2]["message"]


def test_demo_meets_its_goals(cli: Cli) -> None:
    run = cli("demo")
    assert run.exit_code == 0, run.stdout + run.stderr
    assert "Both circuits meet their goals" in run.stdout


def test_what_was_understood_of_a_typed_text_is_an_event_of_its_own() -> None:
    event = IntentRead(kind="go_back", text="回到第一轮", round_number=1)
    out = Output(translator=Translator("zh"), as_json=True)
    assert event_document(event, out) == {"type": "intent", "kind": "go_back", "text": "回到第一轮"}
    assert Narrator(Translator("zh"))(event) == "已理解：回到第 1 轮"
    assert Narrator(Translator("en"))(event) == "Understood: go back to round 1"
