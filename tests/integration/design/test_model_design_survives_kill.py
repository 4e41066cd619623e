"""kill -9 at any moment of a design by a model: each node, each question, inside a step and a restore.

It is begun in the conversation of a chat, whose transcript and thread of checkpoints it goes on with. For
each moment in turn a design is taken as it waited at the question before, killed, and gone on with to the
next question; each `WHOLE_EVERY`th one to its end.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from infrastructure.persistence.operations import SqliteOperationLog
from tests.fakes.designing_model import GOALS, Reply, Request, amplifier, is_said, read, text_of
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call
from tests.ground import warm_python
from tests.ground.campaign import Campaign, campaigns
from tests.integration.design.model_driver import DECISIONS

pytestmark = pytest.mark.timeout(3600)

MODEL_CARD = ".model qn npn(bf=200 is=1e-14)\n"
DECK = amplifier("470").replace(MODEL_CARD, ".include models.inc\n")
WORDS = "A stage with 470 ohm at the collector: the gain follows from it, and from the emitter's own."
WHOLE_EVERY = 15
_CONTINUES = "was cut off at its end"
_REUSED = "These files were simulated before: that result is used."


def _patch(path: str, search: str, new: str) -> tuple[str, Mapping[str, Any]]:
    return "patch_file", {"path": path, "search": search, "replace": new}


def _write(path: str, content: str) -> tuple[str, Mapping[str, Any]]:
    return "rewrite_file", {"path": path, "content": content}


STEPS: tuple[tuple[Reply, ...], ...] = (
    (
        Reply("What is there?", [("list_project_files", {})]),
        Reply("", [_write("models.inc", MODEL_CARD), _write("amp.cir", DECK)]),
        Reply("The notes are new.", [_write("notes.md", "See amp.cir.\n")]),
        Reply(WORDS),
    ),
    (Reply("", [_patch("amp.cir", "Rc vcc c 470", "Rc vcc c 1k")]), Reply("1k now.")),
    (
        Reply("", [_write("models.inc", MODEL_CARD.replace("200", "20"))]),
        Reply("", [_patch("amp.cir", "Rc vcc c 1k", "Rc vcc c 200")]),
        Reply("Worse, I fear."),
    ),
    (Reply("", [("read_file", {"path": "amp.cir"})]), Reply("Because Rc is small.")),
    (
        Reply("", [_patch("amp.cir", "Rc vcc c 470", "Rc vcc c 1.5k")]),
        Reply("", [("run_simulation", {"file_path": "amp.cir"})]),
        Reply("Rc is 1.5k."),
    ),
    (Reply("", [_patch("amp.cir", "Q1 c b e qn", "Q1 c b e qx")]), Reply("Another transistor.")),
    (Reply("", [_patch("amp.cir", "Q1 c b e qx", "Q1 c b e qn")]), Reply("It is qn again.")),
    (
        Reply("", [("read_file", {"path": "models.inc"})]),
        Reply("", [_write("models.inc", MODEL_CARD.replace("200", "30"))]),
        Reply("", [_patch("amp.cir", "Rc vcc c 1.5k", "Rc vcc c 220")]),
        Reply("A last attempt."),
    ),
)
"""What the model does in each of its steps."""


def next_answer(body: dict[str, Any]) -> Script:
    """Follows from the request alone: a repeated one gets the same answer."""
    request = read(body)
    if request.task == "chat":
        return answer("Hello.")
    if request.task == "goals":
        return answer(json.dumps(GOALS))
    if request.task == "analysis":
        return answer("The gain follows from Rc.")
    if _continues(body):
        begun = text_of(body["messages"][-2])
        return answer(WORDS[len(begun) :] if WORDS.startswith(begun) else "")
    said = STEPS[_step_of(request) - 1][request.answers]
    calls = [call(name, arguments, id=f"c{n}") for n, (name, arguments) in enumerate(said.calls)]
    script = answer(said.text, calls=calls)
    return replace(script, piece_delay_s=0.004) if said.text == WORDS else script


def _step_of(request: Request) -> int:
    """Beside the chat's message and the sentence of the design each one begins a step."""
    return sum(map(is_said, request.messages)) - 2


def _place_of(request: Request) -> tuple[int, int]:
    return _step_of(request), request.answers


def _continues(body: dict[str, Any]) -> bool:
    return _CONTINUES in text_of(body["messages"][-1])


def repeated(server: FakeLLMServer) -> int:
    """How many of the design's model calls were made more than once."""
    asked = Counter(
        (
            request.given if request.task == "analysis" else request.task,
            *_place_of(request),
            _continues(body),
        )
        for body in server.requests
        for request in [read(body)]
    )
    return sum(count - 1 for count in asked.values())


class Designs:
    """Orders designs from the process that forks them."""

    def __init__(self, driver: warm_python.Server) -> None:
        self._driver = driver

    def run(
        self,
        project: Path,
        server: FakeLLMServer,
        *,
        what: str = "design",
        kill_at: int | None = None,
        until: int | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        if not project.exists():
            project.mkdir()
            (project / "notes.md").write_text("Old notes.\n")
            assert self.run(project, server, what="chat")["stop_reason"] == "completed"
        order = {"project": str(project), "base_url": server.base_url, "what": what, "kill_at": kill_at}
        order |= {"until": until, "home": str(project.parent / "home"), **more}  # the key of what is ours
        outcome = json.loads(self._driver.ask(json.dumps(order)))
        assert isinstance(outcome, dict)
        return outcome


@pytest.fixture(scope="module")
def designs() -> Iterator[Designs]:
    driver = warm_python.start("tests.integration.design.model_driver")
    yield Designs(driver)
    driver.end()


def events_of(project: Path) -> list[dict[str, Any]]:
    """The transcript of the project's only design."""
    found = []
    for path in (project / ".circuit_ai" / "conversations").glob("*.jsonl"):
        lines = path.read_bytes().splitlines(keepends=True)
        events = [json.loads(line) for line in lines if line.endswith(b"\n")]
        found += [events] if any(event["event"] == "turn" for event in events) else []
    assert len(found) <= 1
    return found[0] if found else []


def messages_of(project: Path) -> list[dict[str, Any]]:
    """As they stand at the end."""
    found = [event["message"] for event in events_of(project) if event["event"] in ("message", "replaced")]
    return list({message["id"]: message for message in found}.values())


def story(project: Path) -> list[Any]:
    """What was said and decided, without what differs from run to run: ids, times, places, pieces."""
    order = [message["id"] for message in messages_of(project)]
    final = {message["id"]: message for message in messages_of(project)}
    calls: dict[str, int] = {}
    told: list[Any] = []
    for event in events_of(project):
        if "message" in event and event["event"] == "message" and event["message"]["id"] in order:
            message = final[event["message"]["id"]]
            for each in message.get("tool_calls") or ():
                calls[each["id"]] = len(calls)
            text = re.sub(
                r"\d[\d.]* m?s\b|sim_results/[\w-]+|[0-7][0-9A-HJKMNP-TV-Z]{25}", "…", message["content"]
            )
            text = text.replace(_REUSED, "Simulated in ….")  # killed between the result and its line
            told.append(
                (
                    message["type"],
                    text.replace(str(project), "…"),
                    [
                        (calls[each["id"]], each["name"], each["args"])
                        for each in message.get("tool_calls") or ()
                    ],
                    calls.get(message.get("tool_call_id", "")),
                    message.get("status"),
                )
            )
        elif event["event"] in ("turn", "decision"):
            told.append(
                {key: event[key] for key in ("event", "answer", "state", "stop_reason") if key in event}
            )
    return told


def effects(project: Path) -> list[Any]:
    """What was done in which order to what."""
    log = SqliteOperationLog(project / ".circuit_ai" / "operations.sqlite")
    try:
        records = log.list()
    finally:
        log.close()
    return [
        (record.tool, record.kind, record.state, record.path, record.before_sha256, record.after_sha256)
        for record in records
    ]


def files(project: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in project.iterdir() if path.is_file()}


def assert_whole(project: Path, *, waiting: int = 0) -> None:
    """Every call has one result, every simulation its folder; one step of the graph is kept."""
    private = project / ".circuit_ai"
    messages = messages_of(project)
    calls = [each["id"] for message in messages for each in message.get("tool_calls") or ()]
    assert len(calls) == len(set(calls))
    assert sorted(message["tool_call_id"] for message in messages if message["type"] == "tool") == sorted(
        calls
    )
    simulated = [message for message in messages if message.get("name") == "run_simulation"]
    results = private / "sim_results"
    kept = {path.name for path in results.iterdir()} if results.exists() else set()
    named = {Path(message["additional_kwargs"]["result"]["result_path"]).parent.name for message in simulated}
    assert kept == named, "no result without its call, none lost"
    assert checkpoints_of(project) == (1, waiting), "the steps behind are pruned"


def checkpoints_of(project: Path) -> tuple[int, int]:
    """How many steps are kept of the graph, and how many of their writes wait."""
    with sqlite3.connect(project / ".circuit_ai" / "checkpoints.sqlite") as database:
        (count,) = database.execute("select count(*) from checkpoints").fetchone()
        (waiting,) = database.execute("select count(*) from writes").fetchone()
    database.close()
    return count, waiting


def what_of(event: dict[str, Any]) -> str:
    """What a line begins: "design", "chat"; "" for neither."""
    return ("design" if "design" in event else "chat") if event.get("state") == "started" else ""


def is_ended(project: Path) -> bool:
    events = events_of(project)
    return "design" in map(what_of, events) and events[-1].get("state") == "ended"


def finish(designs: Designs, project: Path, server: FakeLLMServer, *, until: int | None = None) -> None:
    """Go on with what is left of a run; where none was begun yet, begin it."""
    outcome = designs.run(project, server, what="resume", until=until)
    if outcome.get("error_type") == "nothing_to_resume":
        assert "design" not in map(what_of, events_of(project)), "nothing was asked before the run was begun"
        outcome = designs.run(project, server, until=until)
    assert_ended(outcome, until)


def assert_ended(outcome: dict[str, Any], until: int | None) -> None:
    if until is None:
        assert (outcome["status"], outcome.get("error_type")) == (0, ""), outcome
        assert outcome["stop_reason"] == "goals_met"
    else:
        assert (outcome["status"], outcome.get("error_type")) == (0, "nobody"), outcome


def assert_as_undisturbed(project: Path, reference: Path) -> None:
    assert_whole(project)
    assert files(project) == files(reference)
    assert story(project) == story(reference)
    assert effects(project) == effects(reference)


@pytest.fixture(scope="module")
def undisturbed(designs: Designs, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A run nobody disturbs, and how many moments it has."""
    project = tmp_path_factory.mktemp("undisturbed") / "p"
    with FakeLLMServer(next_answer) as server:
        outcome = designs.run(project, server)
        assert outcome.get("stop_reason") == "goals_met", outcome
        assert repeated(server) == 0
    assert_whole(project)
    decided = [each["answer"] for each in story(project) if isinstance(each, dict) and "answer" in each]
    assert len(decided) == len(DECISIONS) + 1
    assert files(project) == {
        "amp.cir": DECK.replace("470", "1.5k", 1),
        "models.inc": MODEL_CARD,
        "notes.md": "See amp.cir.\n",
    }
    assert any(event["event"] == "confirmation" for event in events_of(project))
    return project, outcome["moments"]


@campaigns(fast=1, whole=150)
def test_killed_at_any_moment_it_ends_as_if_undisturbed(
    campaign: Campaign, designs: Designs, undisturbed: tuple[Path, int], tmp_path: Path
) -> None:
    reference, moments = undisturbed
    for number, rng in enumerate(campaign.cases()):
        project = tmp_path / str(number)
        with FakeLLMServer(next_answer) as server:
            kills = int(designs.run(project, server, kill_at=rng.randint(1, moments))["status"] == -9)
            while rng.random() < 0.3 and "design" in map(what_of, events_of(project)):  # killed again
                again = designs.run(project, server, what="resume", kill_at=rng.randint(1, moments))
                kills += again["status"] == -9
            if not is_ended(project):
                finish(designs, project, server)
            assert repeated(server) <= kills
        assert_as_undisturbed(project, reference)


@dataclass(frozen=True)
class Stage:
    """From one question to the next one, which nobody answers yet."""

    before: Path
    """The project as it waited."""
    until: int | None
    """The number of the next question; None = to the end."""
    moments: int
    told: list[Any]
    done: list[Any]
    files: dict[str, str]
    waiting: int

    def begin(self, project: Path) -> None:
        shutil.rmtree(project, ignore_errors=True)
        shutil.copytree(self.before, project)

    def assert_reached(self, project: Path) -> None:
        assert_whole(project, waiting=self.waiting)
        assert files(project) == self.files
        assert story(project) == self.told
        assert effects(project) == self.done


STAGES = len(DECISIONS) + 2
"""Before the goals are asked about, before each checkpoint, and to the end."""


@pytest.fixture(scope="module")
def stages(designs: Designs, undisturbed: tuple[Path, int], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The place of the project, and a run in stages that nobody disturbs."""
    folder = tmp_path_factory.mktemp("stages")
    project = folder / "p"
    found = []
    with FakeLLMServer(next_answer) as server:
        project.mkdir()
        (project / "notes.md").write_text("Old notes.\n")
        assert designs.run(project, server, what="chat")["stop_reason"] == "completed"
        for number in range(STAGES):
            before = folder / str(number)
            shutil.copytree(project, before)
            until = number if number < STAGES - 1 else None
            outcome = designs.run(project, server, what="resume" if number else "design", until=until)
            assert_ended(outcome, until)
            waiting = checkpoints_of(project)[1]
            found.append(
                Stage(
                    before,
                    until,
                    outcome["moments"],
                    story(project),
                    effects(project),
                    files(project),
                    waiting,
                )
            )
            found[-1].assert_reached(project)
        assert repeated(server) == 0
    assert_as_undisturbed(project, undisturbed[0])
    return project, found


@pytest.mark.torture
@pytest.mark.parametrize("number", range(STAGES))
def test_killed_at_each_moment_in_turn(
    number: int, designs: Designs, stages: tuple[Path, list[Stage]]
) -> None:
    project, all_stages = stages
    stage = all_stages[number]
    failed: dict[int, str] = {}
    for kill_at in range(1, stage.moments + 1):
        ends = all_stages[-1] if kill_at % WHOLE_EVERY == number else stage
        stage.begin(project)
        with FakeLLMServer(next_answer) as server:
            what = "resume" if number else "design"
            designs.run(project, server, what=what, kill_at=kill_at, until=stage.until)
            try:
                if not is_ended(project):
                    finish(designs, project, server, until=ends.until)
                assert repeated(server) <= 1
                ends.assert_reached(project)
            except AssertionError as error:
                failed[kill_at] = str(error)[:1500]
                print(f"killed at {kill_at}: {failed[kill_at]}", flush=True)
    print(f"stage {number}: {stage.moments} moments, {len(failed)} failed", flush=True)
    assert not failed, "\n\n".join(f"killed at {place}: {why}" for place, why in failed.items())


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.torture)])
def test_going_back_behind_the_end_is_killed_at_each_moment(
    every: int, designs: Designs, undisturbed: tuple[Path, int], tmp_path: Path
) -> None:
    """Both files of the round or none, somebody's version kept once, and one line that tells of it."""
    project, _ = undisturbed
    ended = tmp_path / "ended"
    shutil.copytree(project, ended)
    rounds = max(update["iteration_count"] for update in _updates(ended) if "iteration_count" in update)
    theirs = files(ended) | {"amp.cir": files(ended)["amp.cir"] + "* mine\n"}

    def begin(project: Path) -> None:
        shutil.rmtree(project, ignore_errors=True)
        shutil.copytree(ended, project)
        (project / "amp.cir").write_text(theirs["amp.cir"])

    begin(project)
    with FakeLLMServer(next_answer) as server:

        def go_back(kill_at: int | None = None) -> dict[str, Any]:
            return designs.run(project, server, what="go_back", round=rounds, kill_at=kill_at)

        outcome = go_back()
        assert (outcome["status"], outcome.get("error_type")) == (0, ""), outcome
        back, told, done = files(project), story(project), effects(project)
        assert (back["amp_kept.cir"], len(back)) == (theirs["amp.cir"], 4)
        assert all(back[name] != theirs[name] for name in ("amp.cir", "models.inc"))
        for kill_at in range(every, outcome["moments"] + 1, every):
            begin(project)
            assert go_back(kill_at)["status"] in (-9, 0)
            assert (go_back()["status"], files(project)) == (0, back), kill_at
            assert [each for each in effects(project) if each[2] != "abandoned"] == done, kill_at
            assert story(project) in (told, [*told, told[-1]]), kill_at
            assert designs.run(project, server, what="undo")["error_type"] == ""
            assert files(project) == theirs, kill_at
    shutil.rmtree(project)
    shutil.copytree(ended, project)


def _updates(project: Path) -> list[dict[str, Any]]:
    return [event["update"] for event in events_of(project) if "update" in event]
