"""Cleaning a project's results: rules, pins, references, running runs, kills in the middle."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from application.project.cleaning import CleanProject, CleanReport, CleanRequest
from application.project.undo_retention import TidyUndoData
from domain.simulation.retention import RetentionPolicy
from infrastructure.ngspice.scratch import TemporaryScratch, make_scratch, process_space
from infrastructure.persistence.project import ProjectFolders
from infrastructure.persistence.result_retention import ResultFolderShelf
from infrastructure.persistence.results import ResultFolders
from shared.errors import UserInputError
from shared.ulid import new_ulid

ROOT = Path(__file__).resolve().parents[3]
Clean = Callable[..., CleanReport]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "p" / ".circuit_ai").mkdir(parents=True)
    return tmp_path / "p"


@pytest.fixture
def folders(tmp_path: Path) -> ResultFolders:
    return ResultFolders(user_home=tmp_path / "user")


@pytest.fixture
def clean(project: Path, folders: ResultFolders, tmp_path: Path) -> Clean:
    use_case = CleanProject(
        shelves=folders.shelf,
        scratch=TemporaryScratch(tmp_path),
        quota=lambda: RetentionPolicy(keep=2, max_bytes=2**40),
        undo_data=TidyUndoData(projects=ProjectFolders()),
    )

    def run(policy: RetentionPolicy | None = None, **more: object) -> CleanReport:
        return use_case._clean(CleanRequest(project=project, policy=policy, **more))  # type: ignore[arg-type]

    return run


def store(folders: ResultFolders, project: Path, size: int = 1000) -> str:
    result_id, folder = folders.new_result(project / "a.cir")
    (folder / "ngspice.raw").write_bytes(bytes(size))
    folders.save_study(folder, {"kind": "study"}, b"rows")
    return result_id


def names(project: Path) -> list[str]:
    return sorted(path.name for path in (project / ".circuit_ai" / "sim_results").iterdir())


def test_rules_remove_the_oldest_and_nothing_is_left_of_them(
    project: Path, folders: ResultFolders, clean: Clean
) -> None:
    ids = [store(folders, project) for _ in range(5)]
    report = clean(RetentionPolicy(keep=2))
    assert [item.result.result_id for item in report.removed] == ids[:3]
    assert names(project) == ids[3:]
    assert report.freed_bytes >= 3000
    assert not (project / ".circuit_ai" / "trash").exists()


def test_a_dry_run_changes_nothing(project: Path, folders: ResultFolders, clean: Clean) -> None:
    ids = [store(folders, project) for _ in range(3)]
    report = clean(RetentionPolicy(keep=0), dry_run=True)
    assert [item.result.result_id for item in report.removed] == ids
    assert names(project) == ids


def test_pinned_and_named_results_stay(project: Path, folders: ResultFolders, clean: Clean) -> None:
    ids = [store(folders, project) for _ in range(5)]
    conversations = project / ".circuit_ai" / "conversations"
    conversations.mkdir()
    path = f".circuit_ai/sim_results/{ids[1]}/result.json"
    # Across the blocks it is read in, too.
    (conversations / "c.jsonl").write_text(json.dumps({"pad": "x" * (2**20 - 60), "result_path": path}))
    assert clean(pin=(ids[0],)).removed == ()
    report = clean(RetentionPolicy(keep=0))
    assert names(project) == ids[:2]
    assert {item.result_id: (item.is_pinned, item.is_referenced) for item in report.kept} == {
        ids[0]: (True, False), ids[1]: (False, True)
    }  # fmt: skip
    clean(unpin=(ids[0],))
    (conversations / "c.jsonl").unlink()
    clean(RetentionPolicy(keep=0))
    assert names(project) == []


def test_an_id_may_be_shortened_but_has_to_be_there(
    project: Path, folders: ResultFolders, clean: Clean
) -> None:
    ids = [store(folders, project) for _ in range(2)]
    assert clean(pin=("last",)).pinned == (ids[1],)
    for wrong in ("nothing", ids[0][:9], "../.."):
        with pytest.raises(UserInputError) as caught:
            clean(pin=(wrong,))
        assert caught.value.error_type == "no_result"


def test_a_running_run_stays_and_a_killed_one_goes(
    project: Path, folders: ResultFolders, clean: Clean
) -> None:
    running, _ = folders.new_result(project / "a.cir")
    killed = make_in_a_process(project)
    assert sorted((running, killed)) == names(project)
    report = clean(RetentionPolicy(keep=0))
    assert [(item.result.result_id, item.reason) for item in report.removed] == [(killed, "unfinished")]
    assert names(project) == [running]


def make_in_a_process(project: Path, *, kind: str = "", then: str = "") -> str:
    """A result of a process that is killed while it writes it."""
    code = (
        "import sys, time; from pathlib import Path\n"
        "from infrastructure.persistence.results import ResultFolders\n"
        "folders, place = ResultFolders(user_home=Path(sys.argv[1]) / 'u'), Path(sys.argv[1]) / 'a.cir'\n"
        f"name, folder = folders.new_result(place, kind={kind!r})\n{then}\n"
        "print(name, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(project)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        process.kill()
    return name


KEEP = "folders.save_so_far(folder, {'kind': 'study', 'n': %d}, b'rows %d')\n"


@pytest.mark.parametrize(
    ("then", "kept"),
    [
        ("", None),
        (KEEP % (1, 1) + KEEP % (2, 2), b"rows 2"),
        # Cut off between the table and its document, then in the middle of being taken up.
        (KEEP % (1, 1) + "(folder / 'so_far-0123456789abcdef.csv').write_bytes(b'half')", b"rows 1"),
        (KEEP % (1, 1) + "next(folder.glob('so_far-*.csv')).rename(folder / 'rows.csv')", b"rows 1"),
        (KEEP % (1, 1) + "(folder / '.01M8MTPJA487XVHAC9JH6T493N.tmp').write_bytes(b'half')", b"rows 1"),
        ("folders.save_study(folder, {}, b'all'); (folder / '.running').write_text('')", None),
    ],
)
def test_what_a_killed_study_had_kept_is_one_that_was_stopped(
    project: Path, folders: ResultFolders, tmp_path: Path, then: str, kept: bytes | None
) -> None:
    running, _ = folders.new_result(project / "a.cir", kind="sweep")
    name = make_in_a_process(project, kind="montecarlo", then=then)
    use_case = CleanProject(
        shelves=folders.shelf,
        scratch=TemporaryScratch(tmp_path),
        quota=RetentionPolicy,
        undo_data=TidyUndoData(projects=ProjectFolders()),
    )
    found = use_case._after_a_kill(project)
    folder = project / ".circuit_ai" / "sim_results" / name
    if "save_study" in then:
        assert found == ()
    else:
        (told,) = found
        assert (told.circuit, told.kind, told.is_kept) == ("a.cir", "montecarlo", kept is not None)
    if kept is not None:
        assert (folder / "rows.csv").read_bytes() == kept
        digest = json.loads((folder / "result.json").read_text())["rows_sha256"]
        assert digest == hashlib.sha256(kept).hexdigest()
        assert sorted(each.name for each in folder.iterdir()) == ["result.json", "rows.csv"]
        assert use_case._after_a_kill(project) == ()
    elif "save_study" not in then:
        assert names(project) == [running]


def test_what_is_not_ours_is_not_touched(project: Path, folders: ResultFolders, clean: Clean) -> None:
    store(folders, project)
    results = project / ".circuit_ai" / "sim_results"
    outside = project / "precious"
    outside.mkdir()
    (outside / "file").write_text("x")
    (results / "notes").mkdir()
    (results / "readme.txt").write_text("x")
    (results / "20200101T000000000Z-ABCDEFGH").symlink_to(outside)
    inner, folder = folders.new_result(project / "a.cir")
    (folder / "link").symlink_to(outside)
    folders.save_study(folder, {}, b"")
    clean(RetentionPolicy(keep=0))
    assert names(project) == ["20200101T000000000Z-ABCDEFGH", "notes", "readme.txt"]
    assert (outside / "file").read_text() == "x"
    assert inner not in names(project)


def test_the_quota_is_held_after_each_run(project: Path, tmp_path: Path) -> None:
    small = ResultFolders(
        user_home=tmp_path / "user", quota=lambda: RetentionPolicy(keep=1, max_bytes=25_000)
    )
    ids = [store(small, project, 10_000) for _ in range(5)]
    assert names(project) == ids[3:]
    huge = store(small, project, 100_000)
    assert names(project) == [huge]


def test_small_results_are_looked_at_now_and_then(project: Path, tmp_path: Path) -> None:
    limited = ResultFolders(
        user_home=tmp_path / "user", quota=lambda: RetentionPolicy(keep=0, max_bytes=100_000)
    )
    counts = []
    for _ in range(200):
        store(limited, project, 1000)
        counts.append(len(names(project)))
    assert max(counts) * 1000 <= 1.25 * 100_000
    assert counts[-1] < 125


def test_a_kill_in_the_middle_of_a_removal_leaves_whole_results_only(
    project: Path, folders: ResultFolders, clean: Clean
) -> None:
    ids = [store(folders, project, 10) for _ in range(30)]
    for identity in ids:
        for number in range(40):
            (project / ".circuit_ai/sim_results" / identity / f"f{number}").write_bytes(b"x")
    code = (
        "import sys; from pathlib import Path; from infrastructure.persistence.results import ResultFolders\n"
        "shelf = ResultFolders(user_home=Path('u')).shelf(Path(sys.argv[1])); print('go', flush=True)\n"
        "for item in shelf.results(): shelf.remove(item.result_id)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(project)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        while len(names(project)) > 25:
            time.sleep(0.0005)
        os.kill(process.pid, signal.SIGKILL)
    left = names(project)
    for name in left:
        folder = project / ".circuit_ai/sim_results" / name
        assert len(list(folder.iterdir())) == 43, "a result is whole or gone"
    clean(RetentionPolicy(keep=100))
    assert names(project) == left
    assert not (project / ".circuit_ai" / "trash").exists()


def test_scratch_folders_of_dead_processes_go(tmp_path: Path, clean: Clean) -> None:
    mine = make_scratch(tmp_path)
    dead = tmp_path / f"circuit-ai-{process_space()}-{2**22 + 1}-123-abc"
    elsewhere = tmp_path / f"circuit-ai-{process_space() + 1}-{2**22 + 1}-123-abc"
    for folder in (dead, elsewhere, tmp_path / "circuit-ai-other"):
        folder.mkdir()
    (dead / "link").symlink_to(tmp_path)
    link = tmp_path / f"circuit-ai-{process_space()}-{2**22 + 2}-1-x"
    link.symlink_to(mine)
    old = time.time() - 7200
    for folder in (mine, dead, elsewhere):
        os.utime(folder, (old, old))
    assert [path for path, _ in clean().scratch] == [dead]
    assert not dead.exists()
    assert mine.exists()
    assert elsewhere.exists()
    assert link.is_symlink()


def test_a_folder_that_says_nothing_of_its_writer_gets_an_hour(project: Path) -> None:
    results = project / ".circuit_ai" / "sim_results"
    name = f"20260101T000000000Z-{new_ulid()[-8:]}"
    (results / name).mkdir(parents=True)
    shelf = ResultFolderShelf(results, private=project / ".circuit_ai")
    assert shelf.results()[0].is_running
    old = time.time() - timedelta(hours=2).total_seconds()
    os.utime(results / name, (old, old))
    assert not shelf.results()[0].is_running


def test_a_folder_that_is_no_project_is_refused(tmp_path: Path, folders: ResultFolders) -> None:
    use_case = CleanProject(
        shelves=folders.shelf,
        scratch=TemporaryScratch(tmp_path),
        quota=RetentionPolicy,
        undo_data=TidyUndoData(projects=ProjectFolders()),
    )
    with pytest.raises(UserInputError) as caught:
        use_case._clean(CleanRequest(project=tmp_path))
    assert caught.value.error_type == "not_a_project"
