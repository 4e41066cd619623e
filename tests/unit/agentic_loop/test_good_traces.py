"""Generated turns in which nothing is wrong: none of them may be stopped, none forced to say more."""

from __future__ import annotations

import random
from collections.abc import Callable

from domain.llm.agent_limits import AgentLimits
from domain.llm.agentic_loop.policy import Ask, End, next_move
from domain.llm.agentic_loop.turn import AnswerRecord, TurnRecord
from domain.simulation.goals import DesignGoal
from tests.unit.agentic_loop.turns import answered, did, said, simulated

TRACES = 200
SEED = 20_251_122
MOST_FALSE = TRACES // 100
GOALS = (DesignGoal(metric="bw", expression="bandwidth(v(out))", unit="Hz", minimum=1e6),)
SHORT = (
    "Done.", "好的。", "OK", "是", "1.59 kHz", "No.", "✓", "Yes - R3.", "已完成。", "42", "没有。", "v(out)",
    "完成", "It does not.", "rc.cir",
)  # fmt: skip
LONG = (
    "The cutoff is set by R1 and C1. With 1k and 1u it is 159 Hz, because f = 1/(2 pi R C)",
    "截止频率由 R1 和 C1 决定。如果把 R1 改为 2k，频率会减半。需要我修改吗？",
    "| part | value |\n|---|---|\n| R1 | 1k |\n| C1 | 1u |",
    "- [ ] measure the prototype\n- [ ] order parts\nThese steps are yours.",
    "- [x] read\n- [x] simulate\nAll goals are met",
    "- [x] lower R1\n- [ ] choose a package\nWhich package shall I use?",
    "You could change R1 to 2k; nothing was changed so far.",
    "```spice\nRC\nV1 in 0 1\nR1 in out 1k\nC1 out 0 1u\n.end\n```\nI have added comments to it.",
    "I would have changed R2, but the file is protected",
)
Trace = tuple[str, list[AnswerRecord]]


def _words(rng: random.Random) -> Trace:
    return "What sets the cutoff?", [said(rng.choice(SHORT + LONG))]


def _look_around(rng: random.Random) -> Trace:
    files = [f"f{number}.cir" for number in range(rng.randint(1, 6))]
    steps = [answered(did("list_project_files", {}))]
    steps += [answered(did("read_file", {"path": path}, outcome=path)) for path in files]
    steps += [answered(did("search_project", {"query": rng.choice("abc")}, outcome=str(n))) for n in range(2)]
    return "Which file has the filter?", [*steps, said(rng.choice(SHORT + LONG))]


def _improve(rng: random.Random) -> Trace:
    """Patch and simulate, each round with another value, sometimes a worse one; the file is read too."""
    steps: list[AnswerRecord] = []
    speed = rng.uniform(1e4, 5e5)
    for number in range(rng.randint(1, 6)):
        value = f"{rng.randint(1, 999)}.{number}k"
        speed *= rng.choice((0.7, 0.99, 1.0, 1.3, 2.0))
        patch = did("patch_file", {"path": "a.cir", "search": "R1", "replace": value}, version=f"{value}")
        if rng.random() < 0.3:
            steps.append(answered(did("read_file", {"path": "a.cir"}, outcome=f"before {value}")))
        run = simulated(f"n{value}", bw=speed)
        steps += [answered(patch, run)] if rng.random() < 0.5 else [answered(patch), answered(run)]
    return "Raise the bandwidth to 1 MHz.", [*steps, said(rng.choice(("Done.", "好的。", "I changed R1.")))]


def _mend(rng: random.Random) -> Trace:
    """Failures that are answered by something else: other words, a look, another try after a change."""
    steps = [
        answered(did("patch_file", {"path": "a.cir", "search": f"R{n}"}, fails="search_not_found"))
        for n in range(rng.randint(1, 3))
    ]
    steps.append(answered(did("read_file", {"path": "a.cir"})))
    steps += [answered(simulated("n0", fails=True)), answered(simulated("n0", fails=True))][
        : rng.randint(0, 2)
    ]
    steps.append(answered(did("patch_file", {"path": "a.cir", "search": "R9"}, version="v2")))
    steps.append(answered(simulated("n1", bw=2e6)))
    return "Mend the circuit", [*steps, said(rng.choice(SHORT))]


def _analyses(rng: random.Random) -> Trace:
    """One netlist, several analyses; statistics with several seeds; data looked at in several ways."""
    steps = [
        answered(simulated("n0", analysis=kind, **{f"m{kind}": rng.random()}))
        for kind in ("op", "ac", "tran")
    ]
    steps += [
        answered(did("run_monte_carlo", {"seed": seed}, outcome=str(rng.random())))
        for seed in range(rng.randint(1, 4))
    ]
    steps += [
        answered(did("inspect_data", {"expressions": [e]}, outcome=e)) for e in ("max(v(out))", "pp(v(out))")
    ]
    return "总结一下仿真结果", [
        *steps,
        said("带宽 1.2 MHz，增益 40 dB，相位裕度 61 度，失真 0.1 %，功耗 3 mW，满足全部指标，良率 99 %。"),
    ]


def _write(rng: random.Random) -> Trace:
    names = [f"stage{number}.cir" for number in range(rng.randint(1, 8))]
    steps = [answered(did("rewrite_file", {"path": name, "content": name}, version=name)) for name in names]
    return "Write the stages", [
        *steps,
        said(rng.choice((*SHORT, "I have written all stages", "已创建所有文件。"))),
    ]


KINDS: tuple[Callable[[random.Random], Trace], ...] = (
    _words,
    _look_around,
    _improve,
    _mend,
    _analyses,
    _write,
)


def test_good_turns_are_neither_stopped_nor_forced_on() -> None:
    rng = random.Random(SEED)
    wrong: list[str] = []
    for number in range(TRACES):
        question, answers = KINDS[number % len(KINDS)](rng)
        problem = _problem(question, answers)
        if problem:
            wrong.append(f"{number}: {problem}: {answers[-1].text}")
    print(f"{len(wrong)} of {TRACES} good traces were stopped or forced on")
    assert len(wrong) <= MOST_FALSE, wrong


def _problem(question: str, answers: list[AnswerRecord]) -> str:
    """What the rules do to it that they should not."""
    limits = AgentLimits()
    for count in range(1, len(answers) + 1):
        seen = TurnRecord(question=question, answers=tuple(answers[:count]), rounds=count)
        move = next_move(seen, limits, goals=GOALS)
        if count < len(answers):
            if count < limits.rounds and not isinstance(move, Ask):
                return f"stopped after step {count} ({move.reason})"
        elif not isinstance(move, End) or move.reason != "completed":
            return f"not left at its end ({move})"
    return ""
