"""The built-in designer improves circuits that are there, which no family of ours made.

Everything is real: the graph, the tools, ngspice in its box; the figures are judged once more by plain
ngspice and numpy.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import bootstrap
from application.ports.events import DesignEvent, Done, GoalsUnderstood, IterationFinished, TextWritten
from application.workflow.design_sessions import Answer, DesignRequest, Question, Reply
from application.workflow.refining import NextMessage
from domain.llm.provider_settings import BUILTIN
from shared.errors import CircuitError
from tests.integration.design.bench import run

AMPLIFIER = """amplifier of somebody
Vcc vcc 0 12
Vin in 0 AC 1
C1 in b 10u
R1 vcc b 47k
R2 b 0 10k
Rc vcc c 3.3k
Q1 c b e qn
Re e 0 820
Ce e 0 100u
C2 c out 10u
RL out 0 10k
.model qn NPN(IS=1e-14 BF=200 CJE=8p CJC=3p TF=0.4n)
.ac dec 20 10 100meg
.end
"""
FILTER = """filter of somebody
V1 in 0 AC 1
R1 in a 10k
R2 a b 10k
C1 a out 22n
C2 b 0 10n
E1 out 0 b out 1e6
.ac dec 50 10 100k
.end
"""
BUCK = """buck of somebody
Vin vin 0 12
Vg g 0 PULSE(0 5 0 10n 10n 4u 10u)
S1 vin sw g 0 SWM
D1 0 sw DM
L1 sw out 47u
C1 out 0 47u
Rload out 0 5
.model SWM SW(VT=2.5 VH=0.1 RON=0.05 ROFF=1MEG)
.model DM D(IS=1e-8 RS=0.02)
.tran 0.1u 2m 0 0.1u
.end
"""


def usual(question: Question) -> Answer | Reply:
    return "continue" if question.kind == "goals" else question.recommended


@dataclass
class Project:
    root: Path
    events: list[DesignEvent] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def write(self, name: str, netlist: str) -> None:
        self.root.mkdir(exist_ok=True)
        (self.root / name).write_text(netlist, "utf-8")

    async def design(
        self,
        text: str,
        *,
        at_hand: str = "",
        decide: Callable[[Question], Answer | Reply] = usual,
        session: str = "",
    ) -> Done:
        self.events.clear()

        async def ask(question: Question) -> Answer | Reply:
            self.questions.append(question)
            return decide(question)

        app = bootstrap.build(environment=os.environ)
        try:
            request = DesignRequest(project=self.root, text=text, begins_from=at_hand, session_id=session)
            return await app.design.run(request, ask=ask, emit=self.events.append)
        finally:
            await app.close()

    async def read(self, text: str, session: str) -> NextMessage:
        app = bootstrap.build(environment=os.environ)
        try:
            return await app.design.run.read_message(self.root, session, text, BUILTIN)
        finally:
            await app.close()

    def text(self, name: str) -> str:
        return (self.root / name).read_text("utf-8")

    @property
    def words(self) -> str:
        return "\n".join(
            str(event.text) for event in self.events if isinstance(event, TextWritten)
        ) + "".join(str(getattr(event, "delta", "")) for event in self.events)

    @property
    def goals(self) -> dict[str, tuple[float | None, float | None]]:
        told = [event for event in self.events if isinstance(event, GoalsUnderstood)][-1]
        return {goal.metric: (goal.minimum, goal.maximum) for goal in told.goals}

    @property
    def rounds(self) -> list[int]:
        return [event.number for event in self.events if isinstance(event, IterationFinished)]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


def response(project: Project, name: str, tmp_path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Frequency and gain of a circuit, by plain ngspice."""
    data = run(project.text(name), tmp_path)
    return data.axis, np.abs(data["v(out)"])


async def test_a_foreign_amplifier_is_brought_to_its_goals_and_a_locked_part_stays(
    project: Project, tmp_path: Path
) -> None:
    project.write("amp.cir", AMPLIFIER)
    done = await project.design("增益 40 dB，上限截止频率 15 MHz 以上，不要改 Rc", at_hand="amp.cir")
    assert (done.goals_met, done.circuit, project.rounds) == (True, "amp.cir", [0, 1])
    assert project.goals == {"gain": (39.5, 40.5), "upper_cutoff": (15e6, None)}
    assert project.questions[0].circuit == "amp.cir"
    assert not project.questions[0].can_be_new
    assert "Rc vcc c 3.3k" in project.text("amp.cir")
    frequency, gain = response(project, "amp.cir", tmp_path)
    assert 39.5 <= 20 * np.log10(gain.max()) <= 40.5
    assert frequency[gain >= gain.max() / np.sqrt(2)].max() >= 15e6
    assert not list(project.root.glob("*_*.cir")), "no other circuit was made"


async def test_a_filter_moves_as_a_whole_and_goes_on_with_other_goals(
    project: Project, tmp_path: Path
) -> None:
    """Its resistors get one factor, so that its response stays; a later message improves the same circuit."""
    project.write("sk.cir", FILTER)
    done = await project.design("cut-off 2 kHz", at_hand="sk.cir")
    assert (done.goals_met, done.rounds) == (True, 1)
    first, second = (line.split()[-1] for line in project.text("sk.cir").split("\n")[2:4])
    assert first == second != "10k"
    frequency, gain = response(project, "sk.cir", tmp_path)
    assert 1.9e3 <= frequency[gain >= 1 / np.sqrt(2)].max() <= 2.1e3
    before, _ = response_of(FILTER, tmp_path)
    assert gain.max() == pytest.approx(before, rel=0.01), "its peak, and so its Q, is what it was"
    (session,) = (project.root / ".circuit_ai" / "conversations").glob("*.jsonl")
    done = await project.design("cut-off 3 kHz", session=session.stem)
    assert (done.goals_met, done.circuit, project.rounds) == (True, "sk.cir", [0, 1])
    frequency, gain = response(project, "sk.cir", tmp_path)
    assert 2.85e3 <= frequency[gain >= 1 / np.sqrt(2)].max() <= 3.15e3


async def test_a_circuit_edited_by_hand_stays_and_the_one_made_anew_is_told_of(project: Project) -> None:
    first = await project.design("RC low-pass, cut-off 1 kHz")
    edited = project.text(first.circuit).replace("\n.end", "\n* mine\n.end")
    project.write(first.circuit, edited)
    (session,) = (project.root / ".circuit_ai" / "conversations").glob("*.jsonl")
    done = await project.design("cut-off 3 kHz", session=session.stem)
    assert done.goals_met
    assert (project.text(first.circuit), done.circuit != first.circuit) == (edited, True)
    assert f"{first.circuit} was changed outside this design, so it stays as it is." in project.words


async def test_a_goal_said_again_behind_an_edit_sizes_the_circuit_again(project: Project) -> None:
    first = await project.design("RC low-pass, cut-off 1 kHz")
    made = project.text(first.circuit)
    (session,) = (project.root / ".circuit_ai" / "conversations").glob("*.jsonl")
    for text in ("cut-off 1 kHz", "截止频率还是改回 1 kHz 吧"):
        read = await project.read(text, session.stem)
        assert (read.kind, "already" in str(read.problem)) == ("unclear", True)
    project.write(first.circuit, made.replace("\nR1 in out ", "\nR1 in out 3"))
    assert project.text(first.circuit) != made
    read = await project.read(text, session.stem)
    assert read.kind == "refines"
    done = await project.design(text, session=session.stem)
    assert done.goals_met
    assert project.text(done.circuit).splitlines()[1:] == made.splitlines()[1:]


def response_of(deck: str, tmp_path: Path) -> tuple[float, float]:
    data = run(deck, tmp_path, "before")
    gain = np.abs(data["v(out)"])
    return float(gain.max()), float(data.axis[gain >= 1 / np.sqrt(2)].max())


async def test_a_converter_follows_its_duty_cycle(project: Project, tmp_path: Path) -> None:
    deck = BUCK.replace("PULSE(0 5 0 10n", "PULSE(0 5 0\n+ 10n")
    project.write("buck.cir", deck)
    done = await project.design("output voltage 3.3 V, ripple below 40 mV", at_hand="buck.cir")
    assert done.goals_met
    (changed,) = [line for line in project.text("buck.cir").split("\n") if line not in deck.split("\n")]
    assert changed == "+ 10n 10n 2.933u 10u)"
    data = run(project.text("buck.cir"), tmp_path)
    settled = data["v(out)"][data.axis > 1.6e-3]
    assert 3.135 <= settled.mean() <= 3.465
    assert np.ptp(settled) < 0.04


async def test_an_analysis_that_is_missing_is_added_and_said(project: Project) -> None:
    load = ".subckt load a\nRL a 0 10k\n.ends\nXL out load"
    netlist = AMPLIFIER.replace(".ac dec 20 10 100meg", ".op").replace("RL out 0 10k", load)
    project.write("amp.cir", netlist)
    done = await project.design("gain 40 dB", at_hand="amp.cir")
    assert (done.goals_met, project.rounds) == (True, [0, 1, 2])
    assert ".op\n.ac dec 20 1 1g\n.end\n" in project.text("amp.cir")


async def test_what_values_cannot_reach_comes_closer_and_ends_by_itself(project: Project) -> None:
    divider = "divider\nV1 in 0 AC 1\nR1 in out 10k\nR2 out 0 10k\n.ac dec 2 100 10k\n.end\n"
    project.write("divider.cir", divider)
    done = await project.design("gain above 6 dB", at_hand="divider.cir")
    assert (done.goals_met, done.rounds) == (False, 1)
    first, second = (event for event in project.events if isinstance(event, IterationFinished))
    assert first.metrics["gain"] + 3 < second.metrics["gain"] < 0
    assert "No further round by itself: the last attempt changed nothing." in project.words


async def test_what_else_is_asked_of_a_circuit_stands_beside_its_goals(project: Project) -> None:
    """“再加一条” behind a band-pass asked for that one goal, and the three there were lost."""
    made = await project.design("设计一个带通滤波器，中心频率 1kHz，Q=5，增益 2")
    done = await project.design("再加一条：10kHz 处至少衰减 10dB", at_hand=made.circuit)
    asked = {"center": (950, 1050), "quality": (4.5, 5.5), "gain": (1.9, 2.1), "gain_2": (None, -10)}
    assert (done.circuit, done.goals_met, project.goals) == (made.circuit, True, asked)
    assert [goal.metric for goal in project.questions[-1].goals] == list(asked)
    (kept,) = (project.root / ".circuit_ai" / "goals").glob("*.json")
    assert [goal["metric"] for goal in json.loads(kept.read_bytes())["goals"]] == list(asked)
    await project.design("增益 3", at_hand=made.circuit, decide=lambda _question: "decline")
    assert project.goals == asked | {"gain": pytest.approx((2.85, 3.15))}


async def test_a_design_is_changed_in_another_conversation_too(project: Project) -> None:
    made = await project.design("buck converter 12 V to 5 V, 2 A")
    project.questions.clear()
    done = await project.design("synchronous rectifier, 500 kHz", at_hand=made.circuit)
    assert (done.circuit, done.goals_met) == (made.circuit, True)
    assert [question.kind for question in project.questions] == ["checkpoint"]  # as behind the design
    assert "500 kHz, synchronous" in project.text(done.circuit)
    (kept,) = (project.root / ".circuit_ai" / "goals").glob("*.json")
    assert json.loads(kept.read_bytes())["family"] == "buck"
    # What its family does not know is measured of it as it is, beside its goals.
    session = next(event.session_id for event in project.events if hasattr(event, "session_id"))
    more = "one more goal: peak inductor current below 5 A"
    await project.design(more, at_hand=made.circuit, session=session)
    stored = json.loads(kept.read_bytes())
    assert (stored["family"], len(stored["goals"])) == ("buck", 4)
    app = bootstrap.build(environment=os.environ)
    try:
        rounds = await app.project.browse.rounds(project.root, project.root / made.circuit)
    finally:
        await app.close()
    assert rounds is not None
    assert rounds.refines is not None  # what the circuit came from is told, too
    assert stored["parameters"]["fsw"] == 500e3


async def test_a_goal_that_a_changed_part_loses_is_called_by_its_label(project: Project) -> None:
    told = Reply(answer="instruction", instruction="change R1 to 47k")
    answers = iter(("continue", told, "stop"))
    await project.design("RC low-pass, 1 kHz", decide=lambda _question: next(answers))
    assert "misses an older goal: Corner, −3 dB = " in project.words


async def test_the_goals_of_a_foreign_circuit_stand_too(project: Project) -> None:
    project.write("amp.cir", AMPLIFIER)
    await project.design("gain 34 dB, lower cut-off below 300 Hz", at_hand="amp.cir")
    known = project.goals
    await project.design("also upper cut-off above 1 MHz", at_hand="amp.cir", decide=lambda _each: "decline")
    assert project.goals == {**known, "upper_cutoff": (1e6, None)}
    await project.design("gain 30 dB", at_hand="amp.cir", decide=lambda _each: "decline")
    assert project.goals == {**known, "gain": (29.5, 30.5)}


async def test_a_goal_no_part_moves_changes_nothing(project: Project) -> None:
    passive = "rc\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 20 10 1meg\n.end\n"
    project.write("rc.cir", passive)
    done = await project.design("gain 20 dB", at_hand="rc.cir")
    assert (done.goals_met, done.rounds, project.text("rc.cir")) == (False, 0, passive)


@pytest.mark.parametrize("command", ["let v(out) = 1000 + 0*v(in)", "set n=out\nlet ac1.$n = 1000 + 0*v(in)"])
async def test_a_figure_that_a_command_sets_meets_no_goal(project: Project, command: str) -> None:
    """The deck said 60 dB of a filter without any gain, and the design was told to be met."""
    ends = f".control\nac dec 20 10 100k\n{command}\n.endc\n.end\n"
    project.write("f.cir", FILTER.replace(".ac dec 50 10 100k\n.end\n", ends))
    done = await project.design("f.cir: gain at 1 kHz above 20 dB", at_hand="f.cir")
    assert not done.goals_met
    assert "v(out) is set by a command of the circuit (.control)" in project.words


async def test_a_circuit_that_does_not_run_is_left_as_it_is(project: Project) -> None:
    broken = AMPLIFIER.replace("Q1 c b e qn", "Q1 c b e qx")
    project.write("amp.cir", broken)
    done = await project.design("gain 40 dB", at_hand="amp.cir")
    assert (done.goals_met, project.text("amp.cir")) == (False, broken)
    assert project.questions[1].has_failed


@pytest.mark.parametrize("text", ["common-emitter amplifier, gain 30 dB", "design a low-pass, cut-off 1 kHz"])
async def test_a_circuit_that_is_named_is_a_new_one(project: Project, text: str) -> None:
    project.write("amp.cir", AMPLIFIER)
    done = await project.design(text, at_hand="amp.cir", decide=lambda _question: "decline")
    assert done.stop_reason == "declined"
    assert (project.questions[0].circuit, project.questions[0].can_be_new) == ("", True)
    assert project.text("amp.cir") == AMPLIFIER


async def test_demands_that_contradict_are_said(project: Project) -> None:
    project.write("amp.cir", AMPLIFIER)
    await project.design(
        "gain above 40 dB, gain below 30 dB", at_hand="amp.cir", decide=lambda _question: "decline"
    )
    assert project.goals == {"gain": (40, None)}
    (told,) = [event for event in project.events if isinstance(event, GoalsUnderstood)]
    assert "could not be turned into figures" in str(told.assumptions[0])


async def test_what_is_no_goal_is_answered_or_refused(project: Project) -> None:
    project.write("amp.cir", AMPLIFIER.replace("out", "load"))
    done = await project.design("improve it: as little noise as possible", at_hand="amp.cir")
    assert (done.stop_reason, project.questions) == ("answered", [])
    assert "Not read as goals: as little noise as possible." in project.words
    with pytest.raises(CircuitError) as refused:
        await project.design("hello there", at_hand="amp.cir")
    assert refused.value.error_type == "unknown_circuit"
