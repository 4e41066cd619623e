"""Writing on a disk that is really full, or really read-only: a small file system of the test's own."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

PRELUDE = """
import asyncio, os, pathlib, subprocess, sys
disk = pathlib.Path(sys.argv[1])
from infrastructure.persistence.confined import write_atomically
from infrastructure.persistence.checkpoints import open_checkpointer
from infrastructure.persistence.project import ProjectFolders
from infrastructure.persistence.results import ResultFolders
from domain.settings import UserSettings
from infrastructure.persistence.settings import change_settings, load_settings
from shared.errors import EnvironmentProblem

def error_type(action, *args, **kwargs):
    try:
        action(*args, **kwargs)
    except EnvironmentProblem as error:
        assert error.advice is not None
        return error.error_type
    return "done"

async def _open(path):
    async with open_checkpointer(path, "t"):
        pass

def checkpoints(path):
    asyncio.run(_open(path))

def remount(how):
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)
"""


def on_a_small_disk(folder, program):
    """Run `program` in a mount namespace where `folder` is a file system of 256 KiB."""
    script = 'mount -t tmpfs -o size=256k tmpfs "$1" && exec "$2" -c "$3" "$1"'
    inside = ["sh", "-c", script, "sh", str(folder), sys.executable, PRELUDE + program]
    own = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*own, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this system forbids user namespaces")
    done = subprocess.run([*own, *inside], cwd=ROOT, check=False, capture_output=True, text=True, timeout=50)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_full_disk_keeps_the_old_file_and_leaves_nothing(tmp_path):
    program = """
path = disk / "a.cir"
write_atomically(path, b"old")
print(error_type(write_atomically, path, os.urandom(400_000)))
print(path.read_bytes().decode(), *sorted(os.listdir(disk)))
project = ProjectFolders().open(disk, create=True)
print(error_type(project.write, path, os.urandom(400_000)), path.read_bytes().decode())
print(error_type(project.keep_object, os.urandom(400_000)))
print(len([p for p in disk.rglob("*") if p.suffix == ".tmp"]))
print(error_type(project.write, path, b"small"), path.read_bytes().decode())
"""
    assert on_a_small_disk(tmp_path, program) == [
        *("disk_full", "old", "a.cir"),
        *("disk_full", "old"),
        "disk_full",
        "0",
        *("done", "small"),
    ]


def test_a_simulation_that_fills_the_disk_says_so_and_leaves_nothing(tmp_path):
    program = """
import bootstrap
from application.simulation.simulating import SimulationRequest
from shared.errors import CircuitAIError
(disk / ".circuit_ai").mkdir()
(disk / "a.cir").write_text("t\\nV1 a 0 sin(0 1 1meg)\\nR1 a 0 1\\n.tran 1n 30u 0 1n\\n.end\\n")

async def simulate():
    app = bootstrap.build()
    try:
        await app.simulation.run(SimulationRequest(circuit=disk / "a.cir"))
    except CircuitAIError as error:
        print(error.error_type, error.exit_code)
    finally:
        await app.close()

asyncio.run(simulate())
print(len(list((disk / ".circuit_ai" / "sim_results").iterdir())))
"""
    assert on_a_small_disk(tmp_path, program) == ["disk_full", "3", "0"]


def test_a_project_on_a_read_only_disk_can_be_read_and_says_why_not_written(tmp_path):
    program = """
project = ProjectFolders().open(disk, create=True)
project.write(disk / "a.cir", b"content")
checkpoints(project.checkpoints_path)
change_settings(disk, lambda _: UserSettings(language="zh"))
remount("ro")
print(ProjectFolders().open(disk).read(disk / "a.cir").decode())
print(ProjectFolders().open(disk, create=True).read(disk / "a.cir").decode())
print(load_settings(disk).language)
print(error_type(project.write, disk / "a.cir", b"new"))
print(error_type(project.write, disk / "sub/b.cir", b"new"))
print(error_type(ProjectFolders().open, disk / "new", create=True))
print(error_type(ResultFolders(user_home=disk).new_result, disk / "a.cir"))
print(error_type(change_settings, disk, lambda _: UserSettings()))
print(error_type(checkpoints, project.checkpoints_path))
print(error_type(checkpoints, project.private / "new.sqlite"))
"""
    assert on_a_small_disk(tmp_path, program) == ["content", "content", "zh", *["read_only"] * 7]
