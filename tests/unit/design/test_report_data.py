"""Report data of designs: from the lines of a transcript, also where another program wrote them."""

from __future__ import annotations

import hashlib
import json
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any, cast

import pytest

from application.design.report_data import netlist_changes, report_data
from application.ports.project import ProjectFiles
from application.ports.project_view import ProjectView
from shared.errors import UserInputError
from shared.message import msg

FIRST = b"rc\nV1 in 0 AC 1\nR1 in out 10k\nC1 out 0 22n ; load\n.param k=1\n.ac dec 10 1 1meg\n.end\n"
SECOND = b"rc\nV1 in 0 AC 1\nR1   in out 12k\nC1 out 0 22n\nRL out 0 1meg\n.ac dec 20 1 1meg\n.end\n"
GOAL = {
    "metric": "cutoff",
    "expression": "highcut(v(out))",
    "unit": "Hz",
    "minimum": 950.0,
    "maximum": 1050.0,
    "target": 1000.0,
    "words": "cut-off 1 kHz",
}
TIGHTER = {**GOAL, "minimum": 990.0, "maximum": 1010.0}
TURN = "01M837NERF1NR916HANJBGXMNW"


class _Stored:
    """A project's object store and its results."""

    root = Path("/project")

    def read_object(self, sha256: str) -> bytes:
        for content in (FIRST, SECOND):
            if hashlib.sha256(content).hexdigest() == sha256:
                return content
        raise UserInputError(msg("lost"))

    def locate_result(self, text: str) -> Path | None:
        return self.root / text if text.startswith("results/") else None

    def open(self, path: Path) -> BufferedReader:
        if path.parent.name == "gone":
            raise FileNotFoundError(path)
        return cast("BufferedReader", BytesIO(b'{"simulator": {"version": "ngspice-39"}}'))


def report(*events: dict[str, Any]) -> dict[str, Any]:
    stored = _Stored()
    found = report_data(
        "S", events, cast("ProjectFiles", stored), cast("ProjectView", stored), program="1.2.3"
    )
    json.dumps(found, allow_nan=False)
    return found


def started(text: str = "a filter") -> dict[str, Any]:
    return {"event": "turn", "turn_id": TURN, "state": "started", "design": {"text": text}}


def ended(reason: str) -> dict[str, Any]:
    return {"event": "turn", "turn_id": TURN, "state": "ended", "stop_reason": reason}


def said(text: str, **update: Any) -> dict[str, Any]:
    message = {
        "id": f"m{text}",
        "type": "assistant",
        "content": text,
        "additional_kwargs": {"provider": "zhipu", "model": "glm", "timestamp": "2026-01-02T03:04:05+00:00"},
    }
    return {"event": "message", "message": message, "step": "t/1", "update": update}


def judged(number: int, value: float | None, netlist: bytes, *, goal: Any = None) -> dict[str, Any]:
    goal = goal or GOAL
    met = value is not None and goal["minimum"] <= value <= goal["maximum"]
    return said(
        f"Round {number}:\n  ✓ Corner\nA comment.",
        current_node="analysis",
        iteration_count=number,
        last_verdicts=[{"goal": goal, "value": value, "unit": "Hz", "met": met}],
        netlist_sha256=hashlib.sha256(netlist).hexdigest(),
        circuit_file_path="rc.cir",
        sim_result_path=f"results/{number}/result.json",
    )


def decided(answer: str, words: str = "", **update: Any) -> dict[str, Any]:
    line = {"event": "decision", "kind": "checkpoint", "answer": answer, "step": "t/3", "update": update}
    spoken = {"id": "said", "type": "user", "content": words}
    return {**line, "event": "message", "message": spoken} if words else line


UNDERSTOOD = said("Goals:\n  Corner 1 kHz", current_node="design_goals", design_goals_summary=[GOAL])


def test_rounds_tell_figures_changes_and_what_was_tried() -> None:
    tool = {
        "event": "message",
        "message": {
            "id": "t1",
            "type": "tool",
            "name": "patch_file",
            "status": "success",
            "additional_kwargs": {"summary": {"template": "Changed {name}.", "params": {"name": "R1"}}},
        },
    }
    found = report(
        started(),
        UNDERSTOOD,
        judged(1, 723.4, FIRST),
        decided("continue"),
        said("R1 up."),
        tool,
        judged(2, 1003.0, SECOND),
        decided("accept", "good enough"),
        said("x"),
        ended("goals_met"),
    )
    assert found["versions"] == {"program": "1.2.3", "simulators": ["ngspice-39"], "models": ["zhipu glm"]}
    [design] = found["designs"]
    assert (design["text"], design["circuit"], design["goals"][0]["words"]) == (
        "a filter",
        "rc.cir",
        "cut-off 1 kHz",
    )
    first, second = design["rounds"]
    pressed = design["decisions"][0]
    assert (pressed["answer"], pressed["time"]) == ("continue", "2026-01-02T03:04:05.000+00:00")
    assert (first["changes"], first["goals_met"], first["trend"]["direction"]) == (None, False, "first")
    assert second["changes"] == [
        {"name": "R1", "before": "R1 in out 10k", "after": "R1 in out 12k"},
        {"name": "RL", "before": None, "after": "RL out 0 1meg"},
        {"name": ".ac", "before": ".ac dec 10 1 1meg", "after": ".ac dec 20 1 1meg"},
        {"name": "k", "before": ".param k=1", "after": None},
    ]
    row = second["figures"][0]
    assert (row["value"], row["last"], row["course"]) == (1003.0, 723.4, "better")
    assert row["change"] == pytest.approx(279.6)
    assert (second["trend"]["direction"], second["comment"]) == ("improving", "A comment.")
    assert second["tried"] == {
        "words": ["R1 up."],
        "calls": [{"tool": "patch_file", "success": True, "summary": "Changed R1."}],
    }
    assert [(each["after_round"], each["answer"], each["words"]) for each in design["decisions"]] == [
        (1, "continue", ""),
        (2, "accept", "good enough"),
    ]
    assert (design["end"]["stop_reason"], design["end"]["rounds"]) == ("goals_met", 2)


def test_rounds_that_were_undone_stay_as_what_was_tried() -> None:
    back = said("Taken.", current_node="undo_round", iteration_count=1, last_verdicts=[])
    rounds = (judged(1, 723.0, FIRST), judged(2, 650.0, SECOND), back, judged(2, 960.0, SECOND))
    [design] = report(started(), UNDERSTOOD, *rounds)["designs"]
    assert [(each["number"], each["undone"]) for each in design["rounds"]] == [
        (1, False),
        (2, True),
        (2, False),
    ]
    assert design["rounds"][2]["figures"][0]["last"] == 723.0
    assert (design["state"], design["end"]) == ("open", None)
    [undone] = report(started(), UNDERSTOOD, judged(1, 723.0, FIRST), ended("undone"))["designs"]
    assert [each["undone"] for each in undone["rounds"]] == [True]
    assert (undone["end"]["rounds"], undone["end"]["circuit"]) == (0, None)


def test_a_round_after_going_back_is_compared_with_the_one_gone_back_to() -> None:
    first = judged(1, 723.0, FIRST)
    again = judged(3, 960.0, SECOND)
    names = ("last_verdicts", "netlist_sha256")
    verdicts, sha256 = (first["update"][name] for name in names)
    again["update"]["previous_round"] = {"verdicts": verdicts, "netlist_sha256": sha256}
    back = said("Back to round 1.", current_node="go_back", last_verdicts=verdicts, netlist_sha256=sha256)
    [design] = report(started(), UNDERSTOOD, first, judged(2, 650.0, SECOND), back, again)["designs"]
    assert [(each["number"], each["undone"]) for each in design["rounds"]] == [
        (1, False),
        (2, False),
        (3, False),
    ]
    third = design["rounds"][2]
    assert (third["figures"][0]["last"], third["changes"][0]["name"]) == (723.0, "R1")
    assert third["tried"]["words"] == ["Back to round 1."]


def test_changed_goals_stand_in_the_decision_and_in_the_rounds_that_follow() -> None:
    changed = decided("continue", "within 1 %", design_goals_summary=[TIGHTER])
    [design] = report(
        started(), UNDERSTOOD, judged(1, 980.0, FIRST), changed, judged(2, 1001.0, SECOND, goal=TIGHTER)
    )["designs"]
    [decision] = design["decisions"]
    assert (decision["words"], decision["goals"][0]["maximum"]) == ("within 1 %", 1010.0)
    assert [each["figures"][0]["maximum"] for each in design["rounds"]] == [1050.0, 1010.0]
    assert design["goals"][0]["maximum"] == 1010.0


@pytest.mark.parametrize(
    "update",
    [
        {"last_verdicts": 7, "iteration_count": "x"},
        {"last_verdicts": [{"goal": GOAL, "value": None, "unit": "Hz"}], "iteration_count": None},
        {"last_verdicts": [{"goal": GOAL, "value": 1.0, "unit": "Hz"}], "iteration_count": 10**30,
         "netlist_sha256": 7, "sim_result_path": "../../etc", "best_round": 3, "error_context": {"a": 1}},
        {"design_goals_summary": "none", "design_intent": [1], "circuit_file_path": 5},
    ],
)  # fmt: skip
def test_lines_of_strangers_are_read_as_far_as_they_are_understood(update: dict[str, Any]) -> None:
    strange = [
        {"event": "step", "step": 3, "update": update},
        {"event": "decision", "answer": 7},
        {"event": "decision", "answer": "a", "kind": 3},
        {"event": "step", "update": 4},
        {"event": "message", "message": {"id": "q", "type": [], "content": {}, "additional_kwargs": 3}},
        {
            "event": "message",
            "message": {"id": "r", "type": "tool", "name": 4, "additional_kwargs": {"summary": 3}},
        },
    ]
    found = report(started(), *strange, ended("error"))
    assert found["designs"][0]["end"]["stop_reason"] == "error"


def test_results_and_netlists_that_are_gone_leave_the_figures() -> None:
    line = judged(1, None, b"lost")
    line["update"]["sim_result_path"] = "results/gone/result.json"
    [round_1] = report(started(), UNDERSTOOD, line)["designs"][0]["rounds"]
    assert (round_1["simulator"], round_1["changes"], round_1["figures"][0]["value"]) == (None, None, None)


def test_several_designs_of_a_conversation_and_none() -> None:
    found = report(started("one"), ended("declined"), started("two"), {"event": "paused"})
    states = [(each["text"], each["state"]) for each in found["designs"]]
    assert states == [("one", "ended"), ("two", "paused")]
    with pytest.raises(UserInputError) as caught:
        report({"event": "turn", "state": "started", "turn_id": "t"})
    assert caught.value.error_type == "no_design"


def test_comments_and_spaces_are_no_change_of_a_netlist() -> None:
    spaced = FIRST.replace(b"R1 in out 10k", b"* note\nR1  in  out\n+ 10k ; same")
    assert list(netlist_changes(FIRST, spaced)) == []
