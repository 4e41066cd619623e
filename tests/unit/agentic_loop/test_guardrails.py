"""Guardrails: what is found, when it is said, when it ends a turn, and what makes it begin anew."""

from __future__ import annotations

import pytest

from domain.llm.agent_limits import AgentLimits
from domain.llm.agentic_loop.policy import Ask, End, next_move
from domain.llm.agentic_loop.turn import (
    AnswerRecord,
    failures_of,
    find_loop,
    is_refused,
    repetitions,
    signature_of,
    stagnation,
)
from domain.simulation.goals import DesignGoal
from tests.ground.cases import for_each
from tests.unit.agentic_loop.turns import answered, did, said, simulated, turn

READ = answered(did("read_file", {"path": "a.cir"}))
LIST = answered(did("list_project_files", {}))
PATCH = answered(did("patch_file", {"path": "a.cir", "search": "R1"}, version="v2"))
FAIL = answered(did("patch_file", {"path": "a.cir", "search": "RX"}, fails="search_not_found"))
FAILING = FAIL.calls[0].signature
GOAL = DesignGoal(metric="BW", expression="bandwidth(v(out))", unit="Hz", minimum=1e6)


@for_each(
    ("row", "expected"),
    [
        ("", (1, 1)), ("A", (1, 1)), ("AB", (1, 1)), ("AA", (1, 2)), ("ABAB", (2, 2)), ("XABABAB", (2, 3)),
        ("ABCABCABC", (3, 3)), ("ABCDABCD", (4, 2)), ("AAAAA", (1, 5)), ("ABABA", (2, 2)),
        ("ABCDEABCDE", (1, 1)),
    ],
)  # fmt: skip
def test_repetitions_at_the_end(row: str, expected: tuple[int, int]) -> None:
    assert repetitions(row) == expected


def test_the_same_step_is_hinted_at_three_and_ended_at_five() -> None:
    moves = [next_move(turn(*[READ] * count), AgentLimits()) for count in range(1, 6)]
    assert [bool(move.note) if isinstance(move, Ask) else move.reason for move in moves] == [
        False, False, True, True, "loop",
    ]  # fmt: skip
    # Another outcome is another step: somebody else changed the file meanwhile.
    other = answered(did("read_file", {"path": "a.cir"}, outcome="changed"))
    assert find_loop(turn(READ, READ, other, READ, READ)) is None
    assert find_loop(turn(READ, READ, LIST, READ, READ)) is None


@pytest.mark.parametrize("period", [2, 3])
def test_cycles_are_found(period: int) -> None:
    steps = [READ, LIST, PATCH][:period]
    assert find_loop(turn(*steps * 2)) is None
    hint = find_loop(turn(*steps * 3))
    assert hint is not None
    assert (hint.pattern, hint.is_end) == ("cycle", False)
    end = find_loop(turn(*steps * 5))
    assert end is not None
    assert end.is_end


def test_the_same_failing_call_is_refused_at_its_third_time_and_ends_the_turn_at_its_fifth() -> None:
    assert [is_refused(turn(*[FAIL] * count), FAILING) for count in range(4)] == [False, False, True, True]
    between = [FAIL, LIST, FAIL, READ, FAIL, LIST, FAIL, READ]
    assert find_loop(turn(*between)) is None
    end = find_loop(turn(*between, FAIL))
    assert end is not None
    assert (end.pattern, end.is_end) == ("same_failure", True)


def test_a_failing_call_with_other_white_space_is_the_same_step_but_not_refused() -> None:
    tries = [
        answered(did("patch_file", {"path": "a.cir", "search": f"RX{blanks}1k"}, fails="search_not_found"))
        for blanks in (" ", "  ", "\t", "\n  ", "\u3000")
    ]
    assert not is_refused(turn(*tries[:4]), tries[4].calls[0].signature)  # the right blanks may be among them
    assert find_loop(turn(*tries[:2])) is None
    found = [find_loop(turn(*tries[:count])) for count in (3, 5)]
    assert [loop and loop.is_end for loop in found] == [False, True]
    other = answered(did("patch_file", {"path": "a.cir", "search": "RY 1k"}, fails="search_not_found"))
    assert find_loop(turn(*tries[:4], other)) is None
    works = [answered(did("read_file", {"path": " " * count + "a.cir"})) for count in range(5)]
    assert find_loop(turn(*works)) is None  # nothing that succeeds is held to be the same


def test_what_makes_the_count_of_failures_begin_anew() -> None:
    assert failures_of(turn(FAIL, FAIL, PATCH), FAILING) == 0  # a change of a file
    assert failures_of(turn(FAIL, FAIL), signature_of("patch_file", {"path": "a.cir", "search": "RY"})) == 0
    assert failures_of(turn(FAIL, READ, FAIL), FAILING) == 2  # reading changes nothing
    stopped = answered(did("patch_file", {"path": "a.cir", "search": "RX"}, fails="too_many_calls"))
    assert failures_of(turn(FAIL, stopped), FAILING) == 1
    assert signature_of("t", {"a": 1, "b": 2}) == signature_of("t", {"b": 2, "a": 1})
    assert signature_of("t", {"a": 1}) != signature_of("t", {"a": "1"})


def test_a_file_that_goes_back_and_forth_is_noticed_whatever_the_words_of_the_edits() -> None:
    def edit(number: int) -> AnswerRecord:
        arguments = {"path": "a.cir", "search": "R1", "replace": f"value {number}"}
        return answered(did("patch_file", arguments, version="AB"[number % 2]))

    assert find_loop(turn(*map(edit, range(5)))) is None
    found = find_loop(turn(*map(edit, range(6))))
    assert found is not None
    assert found.pattern == "file_states"
    assert "a.cir" in found.hint


def test_the_same_netlist_with_the_same_result_is_said_at_once() -> None:
    run, other = answered(simulated("n1", bw=1.0)), answered(simulated("n2", bw=1.0))
    found = find_loop(turn(run, LIST, run))
    assert found is not None
    assert (found.pattern, found.count) == ("same_simulation", 2)
    assert find_loop(turn(run, other)) is None  # other netlist
    assert find_loop(turn(run, answered(simulated("n1", bw=2.0)))) is None  # other result
    assert find_loop(turn(run, answered(simulated("n1", analysis="tran 1u 1m", bw=1.0)))) is None
    assert find_loop(turn(run, run, LIST)) is None  # only right after the run


def test_simulations_without_progress_are_told_with_their_figures_and_the_goal() -> None:
    def run(number: int, bw: float) -> AnswerRecord:
        return answered(simulated(f"n{number}", bw=bw, gain=40.0))

    stalled = turn(run(1, 2e5), run(2, 1.9e5), run(3, 2.001e5))
    note = stagnation(stalled, [GOAL])
    assert "2e+05, 1.9e+05, 2.001e+05" in note
    assert ">= 1e+06 Hz" in note
    assert stagnation(stalled) == ""  # without a goal other figures are progress
    assert stagnation(turn(run(1, 2e5), run(2, 3e5), run(3, 4e5)), [GOAL]) == ""
    assert stagnation(turn(run(1, 2e5), run(2, 2e5)), [GOAL]) == ""
    assert stagnation(turn(run(1, 2e5), run(2, 2e5), run(3, 1.5e6)), [GOAL]) == ""  # it is met
    same = stagnation(turn(run(1, 2e5), run(2, 2e5), run(3, 2e5)))
    assert "bw: 2e+05, 2e+05, 2e+05" in same
    failed = [answered(simulated(f"n{number}", fails=True)) for number in range(3)]
    assert "singular matrix" in stagnation(turn(*failed), [GOAL])
    move = next_move(stalled, AgentLimits(), goals=[GOAL])
    assert isinstance(move, Ask)
    assert note in move.note


def test_limits_are_named() -> None:
    steps = [answered(did("read_file", {"path": f"{number}"}, outcome=str(number))) for number in range(15)]
    over = next_move(turn(*steps), AgentLimits())
    assert isinstance(over, End)
    assert (over.reason, "15 answers" in str(over.why)) == ("limit", True)
    late = next_move(turn(*steps[:3]), AgentLimits(), seconds=300.0)
    assert isinstance(late, End)
    assert (late.reason, "300 s" in str(late.why)) == ("limit", True)
    warned = next_move(turn(*steps[:9]), AgentLimits())
    assert isinstance(warned, Ask)
    assert "10 of at most 15" in warned.note
    assert next_move(turn(*steps[:9]), AgentLimits(warn_round=11)).note == ""  # type: ignore[union-attr]
    last = next_move(turn(*steps[:14]), AgentLimits())
    assert isinstance(last, Ask)
    assert (last.is_last, warned.is_last) == (True, False)


def test_a_turn_ends_with_its_words_even_at_a_limit() -> None:
    steps = [answered(did("read_file", {"path": f"{number}"}, outcome=str(number))) for number in range(14)]
    ended = next_move(turn(*steps, said("I changed R1; 12 dB.")), AgentLimits())
    assert isinstance(ended, End)
    assert ended.reason == "limit"
    assert next_move(turn(*steps[:13], said("Here it is.")), AgentLimits()) == End(reason="completed")
