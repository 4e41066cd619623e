"""A project on the disk: opening, the jail, backups."""

import errno
import hashlib
import os
from pathlib import Path

import pytest

from infrastructure.persistence.process_locks import ProcessLock
from infrastructure.persistence.project import ProjectFolders
from shared.errors import EnvironmentProblem, UserInputError
from shared.ulid import new_ulid


@pytest.fixture
def project(tmp_path):
    return ProjectFolders().open(tmp_path / "amp", create=True)


def test_a_new_project_hides_its_own_folder_from_git(tmp_path):
    project = ProjectFolders().open(tmp_path / "new/amp", create=True)
    assert project.root == tmp_path / "new/amp"
    assert (tmp_path / "new/amp/.circuit_ai/.gitignore").read_text() == "*\n"
    assert project.checkpoints_path == tmp_path / "new/amp/.circuit_ai/checkpoints.sqlite"
    assert project.goals.path_of("rc.cir") == tmp_path / "new/amp/.circuit_ai/goals/rc.cir.json"
    assert ProjectFolders().open(tmp_path / "new/amp").root == project.root
    assert ProjectFolders().open(tmp_path / "new/amp", create=True).root == project.root


def test_the_users_own_ignore_file_is_left_alone(tmp_path):
    (tmp_path / ".circuit_ai").mkdir()
    (tmp_path / ".circuit_ai/.gitignore").write_text("traces.sqlite\n")
    ProjectFolders().open(tmp_path, create=True)
    assert (tmp_path / ".circuit_ai/.gitignore").read_text() == "traces.sqlite\n"


def test_a_project_seen_through_a_link_has_its_real_root(tmp_path):
    ProjectFolders().open(tmp_path / "amp", create=True)
    (tmp_path / "link").symlink_to("amp")
    project = ProjectFolders().open(tmp_path / "link")
    assert project.root == tmp_path / "amp"
    project.write(tmp_path / "link/a.cir", b"x")
    assert project.read(tmp_path / "amp/a.cir") == b"x"


def test_what_is_no_project_and_cannot_become_one(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked/.circuit_ai").write_text("")
    (tmp_path / "linked").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "linked/.circuit_ai").symlink_to(tmp_path / "elsewhere")
    projects = ProjectFolders()
    for name in ("missing", "file", "blocked", "linked"):
        with pytest.raises(UserInputError, match="not a project"):
            projects.open(tmp_path / name)
    for name in ("file", "file/below", "blocked", "linked", "nul\0", "x" * 300):
        with pytest.raises(UserInputError):
            projects.open(tmp_path / name, create=True)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_read_only_place_is_told_clearly(tmp_path, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(EnvironmentProblem, match="read-only") as caught:
        ProjectFolders().open(tmp_path / "amp", create=True)
    assert caught.value.advice is not None


def test_writing_gives_the_hash_and_keeps_the_old_content(project):
    old = project.write(Path("a.cir"), b"old")
    new = project.write(Path("a.cir"), b"new")
    assert new == hashlib.sha256(b"new").hexdigest()
    assert project.read(project.root / "a.cir") == b"new"
    assert project.read_object(old) == b"old"


def test_writing_the_same_again_touches_nothing(project):
    project.write(Path("a.cir"), b"same")
    before = (project.root / "a.cir").stat().st_mtime_ns
    project.write(Path("a.cir"), b"same")
    assert (project.root / "a.cir").stat().st_mtime_ns == before
    assert not (project.root / ".circuit_ai/objects").exists()


def test_folders_are_made_for_a_new_file(project):
    project.write(Path("models/bjt/q.lib"), b".model q npn\n")
    assert project.read(Path("models/bjt/q.lib")) == b".model q npn\n"


@pytest.mark.parametrize(
    "name", ["../other.cir", "/etc/passwd", "sub/../../x.cir", ".", "", "out/x.cir", "out", "/"]
)
def test_nothing_outside_is_written_or_read(project, name):
    (project.root.parent / "outside").mkdir()
    (project.root / "out").symlink_to("../outside")
    for call in (lambda path: project.write(path, b"x"), project.read):
        with pytest.raises(UserInputError) as caught:
            call(Path(name))
        assert caught.value.error_type == "outside_project"
    assert list((project.root.parent / "outside").iterdir()) == []


@pytest.mark.parametrize(
    "name", [".circuit_ai/x", ".Circuit_AI/x", "sub/.circuit_ai/x", ".circuit_ai", "own/x"]
)
def test_our_own_folder_is_not_the_users(project, name):
    (project.root / "own").symlink_to(".circuit_ai")
    with pytest.raises(UserInputError, match="reserved for the program"):
        project.write(Path(name), b"x")


def test_a_link_inside_the_project_is_written_through_with_a_backup(project):
    (project.root / "real.lib").write_bytes(b"old")
    (project.root / "link.lib").symlink_to("real.lib")
    with pytest.raises(UserInputError, match="link"):  # who writes has looked where it leads
        project.write(Path("link.lib"), b"new")
    project.write(Path(project.place_of(Path("link.lib"))), b"new")
    assert (project.root / "link.lib").is_symlink()
    assert (project.root / "real.lib").read_bytes() == b"new"
    assert project.read_object(hashlib.sha256(b"old").hexdigest()) == b"old"


def test_a_file_that_is_not_there(project):
    with pytest.raises(UserInputError) as caught:
        project.read(Path("a.cir"))
    assert caught.value.error_type == "file_not_found"


@pytest.mark.parametrize("name", ["folder", "fifo"])
def test_what_is_no_file_is_neither_read_nor_replaced(project, name):
    (project.root / "folder").mkdir()
    os.mkfifo(project.root / "fifo")
    for call in (lambda path: project.write(path, b"x"), project.read):
        with pytest.raises(UserInputError, match="not a regular file"):
            call(Path(name))


@pytest.mark.parametrize("name", ["nul\0", "x" * 300, "a.cir/below"])
def test_names_no_file_can_have(project, name):
    project.write(Path("a.cir"), b"x")
    with pytest.raises(UserInputError):
        project.write(Path(name), b"x")
    with pytest.raises(UserInputError):
        project.read(Path(name))


def test_when_the_backup_cannot_be_kept_the_file_stays(project):
    project.write(Path("a.cir"), b"old")
    (project.root / ".circuit_ai/objects").write_text("in the way")
    with pytest.raises((UserInputError, EnvironmentProblem)):
        project.write(Path("a.cir"), b"new")
    assert project.read(Path("a.cir")) == b"old"


def test_goals_and_objects(project):
    project.goals.save("sub/rc.cir", b"{}\n")
    assert project.goals.path_of("sub/rc.cir").read_bytes() == b"{}\n"
    assert project.read_object(project.keep_object(b"netlist")) == b"netlist"


def test_a_file_is_removed_once_and_its_absence_is_no_error(project):
    project.write(Path("sub/a.cir"), b"x")
    project.remove(Path("sub/a.cir"))
    project.remove(Path("sub/a.cir"))
    project.remove(Path("gone/a.cir"))
    assert not (project.root / "sub/a.cir").exists()
    (project.root.parent / "outside.cir").write_bytes(b"x")
    for path in ("../outside.cir", ".circuit_ai/.gitignore", "sub"):
        with pytest.raises((UserInputError, EnvironmentProblem)):
            project.remove(Path(path))
    assert (project.root.parent / "outside.cir").exists()
    assert (project.root / ".circuit_ai/.gitignore").exists()
    assert (project.root / "sub").is_dir()


def test_the_place_of_a_file_has_its_links_resolved(project):
    (project.root / "sub").mkdir()
    (project.root / "link").symlink_to("sub")
    for path in ("sub/new.cir", "link/new.cir", project.root / "link/../sub/new.cir"):
        assert project.place_of(Path(path)) == "sub/new.cir"
    with pytest.raises(UserInputError):
        project.place_of(Path("../x"))


def test_leftovers_of_an_interrupted_write_are_cleared_and_nothing_else(project):
    ours = ".01ARZ3NDEKTSV4RRFFQ69G5FAV.tmp"
    kept = {"a.cir", "x.tmp", ".01ARZ3NDEKTSV4RRFFQ69G5FAV.cir", ".01arz3ndektsv4rrffq69g5fav.tmp"}
    for name in (ours, *kept):
        (project.root / name).write_bytes(b"x")
    (project.root / ".01ARZ3NDEKTSV4RRFFQ69G5FAW.tmp").symlink_to("a.cir")
    project.clear_leftovers(Path("a.cir"))
    project.clear_leftovers(Path("gone/a.cir"))
    names = {path.name for path in project.root.iterdir()} - {".circuit_ai"}
    assert names == kept | {".01ARZ3NDEKTSV4RRFFQ69G5FAW.tmp"}


def test_only_old_leftovers_are_cleared_while_somebody_may_write(project):
    young = f".{new_ulid()}.tmp"
    for name in (young, ".01ARZ3NDEKTSV4RRFFQ69G5FAV.tmp"):
        (project.root / name).write_bytes(b"x")
    project.clear_leftovers(Path("a.cir"), only_old=True)
    assert {path.name for path in project.root.iterdir()} - {".circuit_ai"} == {young}


def test_what_killed_programs_left_long_ago_goes_from_our_own_folder(project):
    """Temporary files, and locks of conversations that were never begun, or are gone; none that is held."""
    old, held, known, young = ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAW",
                               "01ARZ3NDEKTSV4RRFFQ69G5FAX", new_ulid())  # fmt: skip
    folder = project.private / "conversations"
    (folder / "removed").mkdir(parents=True)
    lock = ProcessLock(folder / f"{held}.lock")
    kept = {f"{held}.lock", f"{known}.lock", f"{known}.jsonl", f"{young}.lock", f".{young}.tmp", "x.lock"}
    left = {f"{old}.lock", f"{old}.wanted", f".{old}.tmp", f"removed/{old}.lock"}
    for name in (kept | left) - {f"{held}.lock"}:
        (folder / name).write_bytes(b"")
    (folder / f"{old[:-1]}Y.lock").symlink_to("x.lock")
    project.clear_old_leftovers()
    found = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    lock.release()
    assert found == kept | {"removed", f"{old[:-1]}Y.lock"}
