"""Each circuit has its own goals; a result keeps those of its circuit and its time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from application.design.circuit_goals import (
    GoalBook,
    ask_of,
    follow_move,
    read_goals,
    save_goals,
    take_over_former,
)
from application.ports.project import ABSENT, FileChange
from application.tool_execution.effects import Effects
from infrastructure.persistence.project import ProjectFolder, ProjectFolders
from shared.errors import CircuitAIError, EnvironmentProblem

LATER = "2999-01-01T00:00:00+00:00"


@pytest.fixture
def project(tmp_path: Path) -> ProjectFolder:
    return ProjectFolders().open(tmp_path / "amp", create=True)


def goal(metric: str = "cutoff", *, minimum: float = 1.0) -> dict[str, Any]:
    return {"metric": metric, "expression": "v(out)", "unit": "V", "minimum": minimum, "maximum": None}


def former(project: ProjectFolder, *goals: dict[str, Any]) -> Path:
    path = project.private / "design_goals.json"
    path.write_text(json.dumps({"schema_version": 1, "text": "a filter", "goals": list(goals)}))
    return path


PLACES = (
    "rc.cir",
    "rc.sp",
    "sub/rc.cir",
    "sub%2Frc.cir",
    "sub_rc.cir",
    "..cir",
    ".cir",
    "滤波器/低通.cir",
    "é.cir",
    "e\u0301.cir",
    "\udcff.cir",
    "a b.cir",
    "con*?.cir",
    f"{'x' * 120}/{'y' * 120}.cir",
    f"{'x' * 120}/{'y' * 121}.cir",
    f"{'滤' * 80}.cir",
)


def test_no_two_circuits_share_a_file_and_none_is_outside(project: ProjectFolder) -> None:
    for number, place in enumerate(PLACES):
        save_goals(project, place, {"goals": [goal(minimum=number)]})
    for number, place in enumerate(PLACES):
        path = project.goals.path_of(place)
        assert path.parent == project.private / "goals"
        assert path.is_file()
        assert read_goals(project, place).goals[0].minimum == number
    assert {each.circuit for each in GoalBook(project).all} == set(PLACES)


def test_upper_and_lower_case_are_what_the_file_system_takes_them_for(project: ProjectFolder) -> None:
    save_goals(project, "RC.cir", {"goals": [goal(minimum=1)]})
    save_goals(project, "rc.cir", {"goals": [goal(minimum=2)]})
    is_one = project.goals.path_of("RC.cir").samefile(project.goals.path_of("rc.cir"))
    assert read_goals(project, "RC.cir").goals[0].minimum == (2 if is_one else 1)


def test_a_result_is_held_against_the_goals_of_its_time(project: ProjectFolder) -> None:
    save_goals(project, "rc.cir", {"goals": [goal(minimum=1)]})
    path = project.goals.path_of("rc.cir")
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "since": "2026-01-01T00:00:00Z"}))
    save_goals(project, "rc.cir", {"goals": [goal(minimum=2)]})
    save_goals(project, "rc.cir", {"goals": [goal(minimum=2)]})  # a step that runs again
    book, rc = GoalBook(project), project.root / "rc.cir"
    found = [
        book.of_result(rc, created)[0].minimum
        for created in ("2025-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00", LATER, "damaged")
    ]
    assert found == [1, 1, 2, 2]
    assert len(json.loads(path.read_text())["earlier"]) == 1
    assert book.of_result(project.root / "buck.cir", LATER) == ()
    assert book.of_result(Path("/elsewhere/rc.cir"), LATER) == ()


def test_goals_go_along_with_a_circuit_that_is_moved_and_back(project: ProjectFolder) -> None:
    project.write(Path("rc.cir"), b"rc")
    save_goals(project, "rc.cir", {"goals": [goal()]})
    effects, digest = Effects(project), project.keep_object(b"rc")
    there = [
        FileChange(path="rc.cir", before=digest, after=ABSENT),
        FileChange(path="filters/low.cir", before=ABSENT, after=digest),
    ]
    effects.apply(there)
    assert read_goals(project, "rc.cir").goals == ()
    assert read_goals(project, "filters/low.cir").goals[0].metric == "cutoff"
    # A result from before the move is still that circuit's.
    assert GoalBook(project).of_result(project.root / "rc.cir", "2020-01-01T00:00:00+00:00")
    assert GoalBook(project).of_result(project.root / "rc.cir", LATER) == ()
    effects.apply([FileChange(path=each.path, before=each.after, after=each.before) for each in there])
    assert read_goals(project, "rc.cir").goals[0].metric == "cutoff"
    assert [each.circuit for each in GoalBook(project).all] == ["rc.cir"]


def test_goals_follow_a_folder(project: ProjectFolder) -> None:
    for place in ("a/rc.cir", "a/b/amp.cir", "ab.cir"):
        save_goals(project, place, {"goals": [goal()]})
    follow_move(project, "a", "z")
    follow_move(project, "a", "z")
    assert [each.circuit for each in GoalBook(project).all] == ["ab.cir", "z/b/amp.cir", "z/rc.cir"]


@pytest.mark.parametrize(("main", "owner"), [("buck.cir", "buck.cir"), ("", "")])
def test_the_former_file_is_taken_over_once_by_the_main_circuit(
    project: ProjectFolder, main: str, owner: str
) -> None:
    for name in ("rc.cir", "buck.cir"):
        project.write(Path(name), b"x")
    path = former(project, goal())
    take_over_former(project, main)
    assert path.exists() == (not owner)
    assert [each.circuit for each in GoalBook(project).all] == ([owner] if owner else [])
    if owner:
        former(project, goal(minimum=9))  # an older program wrote it again: what is there stays
        take_over_former(project, main)
        assert read_goals(project, owner).goals[0].minimum == 1


def test_the_former_file_counts_for_the_only_circuit_before_anything_is_written(
    project: ProjectFolder,
) -> None:
    project.write(Path("rc.cir"), b"x")
    path = former(project, goal())
    assert read_goals(project, "rc.cir").goals[0].metric == "cutoff"
    assert [each.circuit for each in GoalBook(project).all] == ["rc.cir"]
    assert path.exists()
    assert not (project.private / "goals").exists()
    save_goals(project, "buck.cir", {"goals": [goal("vout")]})
    assert not path.exists()
    assert {each.circuit: each.goals[0].metric for each in GoalBook(project).all} == {
        "rc.cir": "cutoff",
        "buck.cir": "vout",
    }


def test_a_link_in_place_of_the_folder_is_neither_read_nor_written(
    project: ProjectFolder, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "rc.cir.json").write_text(json.dumps({"circuit": "rc.cir", "goals": [goal()]}))
    (project.private / "goals").symlink_to(outside)
    assert read_goals(project, "rc.cir").goals == ()
    assert GoalBook(project).all == ()
    with pytest.raises(EnvironmentProblem):
        project.goals.save("rc.cir", b"{}")
    project.goals.remove("rc.cir")
    assert len(list(outside.iterdir())) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"", b"nonsense", b"[" * 5000, b"[]", b'{"goals": 3}', b'{"goals": [{"minimum": 1e999}, 7]}',
        json.dumps({"goals": [goal("g" * 30_000)]}).encode(),
    ],
)  # fmt: skip
def test_damaged_goals_are_no_goals(project: ProjectFolder, content: bytes) -> None:
    project.goals.save("rc.cir", content)
    assert read_goals(project, "rc.cir").goals == ()
    save_goals(project, "rc.cir", {"goals": [goal()]})
    assert read_goals(project, "rc.cir").goals[0].metric == "cutoff"


def test_a_file_that_is_too_large_is_refused_in_words(project: ProjectFolder) -> None:
    project.goals.save("rc.cir", b" " * (2**20 + 1))
    with pytest.raises(CircuitAIError, match="too large"):
        project.goals.read("rc.cir")
    assert read_goals(project, "rc.cir").goals == ()


def test_of_thousands_of_goals_a_hundred_count_and_none_is_lost(project: ProjectFolder) -> None:
    """A clone's file of a megabyte held each result for minutes."""
    many = [goal(f"g{number}") for number in range(3000)]
    document = {"circuit": "rc.cir", "goals": many, "earlier": [{"since": "", "goals": many[:200]}]}
    project.goals.save("rc.cir", json.dumps(document).encode())
    found = read_goals(project, "rc.cir")
    assert [len(version.goals) for version in found.versions] == [100, 100]
    ask_of(project, project.root / "rc.cir", found.goals[:1])
    kept = json.loads(project.goals.read("rc.cir") or b"")["goals"]
    assert [each["metric"] for each in kept] == ["g0", *(f"g{number}" for number in range(100, 3000))]
