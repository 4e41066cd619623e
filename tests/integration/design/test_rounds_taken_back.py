"""Rounds undone, gone back to and left at the end: all files of a circuit, or none; nobody loses anything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from application.ports.events import IterationFinished, MainCircuitRestored
from application.workflow.designing import Answer, Question, Reply
from shared.errors import UserInputError
from tests.fakes.designing_model import Reply as Said
from tests.fakes.designing_model import Request, amplifier, in_turn, says, writes
from tests.integration.design.test_design_by_model import Bench
from tests.integration.design.walks import walks

MODEL = ".model qn npn(bf=200 is=1e-14)\n"


def with_include(collector: str, *, include: str = "models.inc") -> str:
    return amplifier(collector).replace(MODEL, f".include {include}\n")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "project", tmp_path / "home")


def back(number: int) -> Reply:
    return Reply(answer="go_back", round_number=number)


def writes_both(collector: str, gain: int) -> Callable[[Request], Said]:
    """A round that changes the circuit and a file it includes."""

    def act(request: Request) -> Said:
        files = {"models.inc": MODEL.replace("200", str(gain)), "amp.cir": with_include(collector)}
        if request.answers < len(files):
            path, content = list(files.items())[request.answers]
            return Said(calls=[("rewrite_file", {"path": path, "content": content})])
        return Said("Done.")

    return act


def reads_then_writes(path: str, content: str) -> Callable[[Request], Said]:
    def act(request: Request) -> Said:
        if request.answers == 0:
            return Said(calls=[("read_file", {"path": path})])
        return writes(path, content)(replace(request, answers=request.answers - 1))

    return act


class Watched:
    """Answers in order; between a question and its answer somebody may do something to the files."""

    def __init__(self, bench: Bench, *given: tuple[Callable[[], Any] | None, Answer | Reply]) -> None:
        self._bench = bench
        self._given = list(given)
        self.seen: list[tuple[int, bool, dict[str, str]]] = []
        """At each checkpoint: the round, whether it can be undone, and the files of the project."""

    async def __call__(self, question: Question) -> Answer | Reply:
        self._bench.questions.append(question)
        if question.kind == "goals":
            return "continue"
        files = await asyncio.to_thread(self.files)
        self.seen.append((question.round_number, question.can_undo, files))
        does, answer = self._given.pop(0)
        if does is not None:
            await asyncio.to_thread(does)
        return answer

    def files(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self._bench.root.iterdir() if path.is_file()}


async def test_undo_goes_back_through_all_rounds_until_nothing_is_left(bench: Bench) -> None:
    bench.model.acts["design"] = writes_both("470", 100)
    bench.model.acts["optimize"] = in_turn(
        *(writes_both(value, 100 + int(value)) for value in ("480", "490"))
    )
    steps = ["continue", "continue", back(1), "undo", "undo", "undo", "undo"]
    ask = Watched(bench, *((None, answer) for answer in steps))
    done = await bench.design(ask=ask, max_iterations=20)
    assert [number for number, _, _ in ask.seen] == [1, 2, 3, 1, 3, 2, 1]
    assert all(can_undo for _, can_undo, _ in ask.seen)
    first, second, third, *again = [files for _, _, files in ask.seen]
    assert "bf=100" in first["models.inc"]
    assert len({tuple(each.values()) for each in (first, second, third)}) == 3
    assert again == [first, third, second, first]
    figures = [question.verdicts[0].measured.value for question in bench.questions[1:]]
    assert figures == [figures[place] for place in (0, 1, 2, 0, 2, 1, 0)]
    assert (done.stop_reason, done.circuit) == ("undone", None)
    assert ask.files() == {}


async def test_a_round_brings_the_main_circuit_of_then_back(bench: Bench) -> None:
    bench.model.acts["optimize"] = in_turn(*(writes("amp.cir", amplifier(value)) for value in ("480", "490")))
    main = "amp.cir"

    def another() -> None:
        nonlocal main
        (bench.root / "other.cir").write_text("* other\nR1 a 0 1k\nV1 a 0 1\n.op\n")
        main = "other.cir"

    given = [(None, "continue"), (another, "continue"), (None, back(1)), (None, "undo"), (None, "stop")]
    await bench.design(ask=Watched(bench, *given), main_circuit=lambda: main, max_iterations=9)
    # Of round 1 and, behind the undo, of round 3, which was judged beside the other one already.
    assert [event.path for event in bench.told(MainCircuitRestored)] == ["amp.cir"]


async def test_an_existing_circuit_is_as_it_was_when_all_is_undone(bench: Bench) -> None:
    bench.root.mkdir()
    theirs = {"stage.cir": with_include("470", include="lib/one.inc"), "two.inc": MODEL}
    (bench.root / "lib").mkdir()
    (bench.root / "lib" / "one.inc").write_text(".include ../two.inc\n")
    for name, content in theirs.items():
        (bench.root / name).write_text(content)
    bench.model.acts["optimize"] = in_turn(
        writes("stage.cir", theirs["stage.cir"].replace("470\n", "480\n")),
        reads_then_writes("two.inc", MODEL.replace("200", "120")),
    )
    ask = Watched(bench, *((None, answer) for answer in ("continue", "continue", "undo", "undo", "stop")))
    done = await bench.design("Improve stage.cir: a gain of 20 dB at least", ask=ask)
    assert [number for number, _, _ in ask.seen] == [0, 1, 2, 1, 0]
    assert not ask.seen[-1][1]
    assert ask.files() == theirs
    assert (done.rounds, done.round_number) == (0, 0)


async def test_what_somebody_changed_since_is_kept_aside_and_all_files_go_back(bench: Bench) -> None:
    bench.model.acts["design"] = writes_both("470", 100)
    bench.model.acts["optimize"] = writes_both("500", 150)
    theirs = MODEL.replace("200", "77")
    change = (bench.root / "models.inc").write_text
    ask = Watched(bench, (None, "continue"), (lambda: change(theirs), "undo"), (None, "stop"))
    await bench.design(ask=ask)
    first, last = ask.seen[0][2], ask.seen[2][2]
    assert last == {**first, "models_kept.inc": theirs}
    (told,) = [words for words in bench.words if "models_kept.inc" in words]
    assert told == "models.inc was changed outside the design: that version is kept in models_kept.inc."
    assert sum("Reverted round 2" in words for words in bench.words) == 1


@walks("undo_round → user_checkpoint")
async def test_a_file_that_cannot_be_put_back_leaves_all_of_them(bench: Bench) -> None:
    bench.model.acts["design"] = writes_both("470", 100)
    bench.model.acts["optimize"] = writes_both("500", 150)

    def folder_in_the_way() -> None:
        (bench.root / "models.inc").unlink()
        (bench.root / "models.inc").mkdir()

    def away() -> None:
        (bench.root / "models.inc").rmdir()
        (bench.root / "models.inc").write_text(MODEL.replace("200", "150"))

    ask = Watched(
        bench, (None, "continue"), (folder_in_the_way, "undo"), (away, "undo"), (None, "undo"), (None, "stop")
    )
    await bench.design(ask=ask)
    assert "500" in ask.seen[2][2]["amp.cir"]
    assert ask.seen[-1][2] == ask.seen[0][2]


async def test_an_include_the_design_did_not_write_makes_a_result_stale(bench: Bench) -> None:
    bench.root.mkdir()
    (bench.root / "lib").mkdir()
    (bench.root / "lib" / "outer.inc").write_text(".include inner.inc\n")
    inner = bench.root / "lib" / "inner.inc"
    inner.write_text(MODEL)
    bench.model.acts["design"] = writes("amp.cir", with_include("470", include="lib/outer.inc"))
    weak = MODEL.replace("200", "20")
    with pytest.raises(asyncio.CancelledError):
        await bench.design(ask=_stops_at_checkpoint)
    await asyncio.to_thread(inner.write_text, weak)
    ask = Watched(bench, (None, "undo"), (None, "stop"))
    await bench.design(None, ask=ask)
    assert "lib/inner.inc was changed since the last question." in bench.words
    before, after, *_ = [event.metrics["gain"] for event in bench.told(IterationFinished) if event.number]
    assert [number for number, _, _ in ask.seen] == [2, 1]
    assert inner.read_text() == MODEL
    assert (bench.root / "lib" / "inner_kept.inc").read_text() == weak
    assert before != after


async def _stops_at_checkpoint(question: Question) -> Answer:
    if question.kind == "goals":
        return "continue"
    raise asyncio.CancelledError


async def test_a_round_is_gone_back_to_when_the_design_has_ended(bench: Bench) -> None:
    bench.model.acts["design"] = writes_both("470", 100)
    bench.model.acts["optimize"] = in_turn(writes_both("480", 110), writes_both("4.7k", 200))
    ask = Watched(bench, *((None, answer) for answer in ("continue", "continue", "accept")))
    done = await bench.design(ask=ask)
    assert (done.goals_met, done.round_number) == (True, 3)
    app = bench.build()
    try:
        await asyncio.to_thread((bench.root / "amp.cir").write_text, "* mine\n")
        restored = await app.design.go_back(bench.root, 2)
        assert await asyncio.to_thread(ask.files) == {**ask.seen[1][2], "amp_kept.cir": "* mine\n"}
        assert restored.aside == {"amp.cir": "amp_kept.cir"}
        with pytest.raises(UserInputError, match="There is no round 7"):
            await app.design.go_back(bench.root, 7)
        await app.project.operations.undo(bench.root)
        assert (await asyncio.to_thread(ask.files))["amp.cir"] == "* mine\n"
        await app.design.go_back(bench.root, 1, session_id=restored.session_id)
    finally:
        await app.close()
    # What comes next goes on from there.
    bench.model.acts["instruction"] = says("There is nothing to do.")
    await bench.design("Say what you see", lambda _question: "stop", session_id=restored.session_id)
    assert bench.questions[-1].verdicts == bench.questions[1].verdicts


@walks("go_back → user_checkpoint", "undo_round → end")
async def test_a_round_that_never_was_and_a_circuit_somebody_removed(bench: Bench) -> None:
    """There is nothing to put back: the question stays, and the design is undone."""
    remove = (bench.root / "amp.cir").unlink
    done = await bench.design(ask=Watched(bench, (None, back(9)), (remove, "undo")))
    assert "There is no round 9 to go back to." in bench.words
    assert (done.stop_reason, done.circuit) == ("undone", None)
