"""scripts/setup.sh and setup.py on machines that lack this or that; nothing is really downloaded.

A copy of the project with empty lock files stands in a folder with a blank and a non-ASCII letter
in its name. The PATH holds only what a test puts there, so no package manager is ever started.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BASE_PYTHON = Path(sysconfig.get_config_var("BINDIR")) / f"python{sys.version_info[0]}.{sys.version_info[1]}"
NEEDED_BY_SHELL = ("sh", "uname", "cat")
pytestmark = pytest.mark.timeout(600)  # an environment takes a minute where others want the cores


class Machine:
    """A project folder and a PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "mein Prüfstand"
        self.programs = folder / "programs"
        self.venv = self.project / ".venv"

    @classmethod
    def make(cls, folder: Path) -> Machine:
        machine = cls(folder)
        machine.programs.mkdir(parents=True)
        shutil.copytree(ROOT / "scripts", machine.project / "scripts")
        (machine.project / "requirements").mkdir()
        for lock in ("core", "window", "dev", "build"):
            machine.write_lock(lock, "# nothing\n")
        for name in NEEDED_BY_SHELL:
            machine.install(name, Path(shutil.which(name) or name))
        machine.install("python3.11", BASE_PYTHON)
        for name in ("ngspice", "bwrap"):
            machine.install_script(name, "exit 0")
        return machine

    def write_lock(self, name: str, text: str) -> None:
        (self.project / "requirements" / f"{name}.lock").write_text(text)

    def install(self, name: str, real: Path) -> None:
        # A wrapper, not a link: a Python finds its library from where its file is.
        self.install_script(name, f'exec "{real}" "$@"')

    def make_environments_of(self, pristine: Path) -> None:
        """`python -m venv` copies one it made before: a tenth of the four seconds."""
        self.install_script(
            "python3.11",
            f'case "$*" in "-m venv .venv") exec "{shutil.which("cp")}" -a "{pristine}/." .venv ;; esac\n'
            f'exec "{BASE_PYTHON}" "$@"',
        )

    def install_script(self, name: str, text: str) -> None:
        self.remove(name)
        (self.programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.programs / name).chmod(0o755)

    def remove(self, name: str) -> None:
        (self.programs / name).unlink(missing_ok=True)

    def set_up(self, level: str = "core", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the set-up; its words are in stderr."""
        return subprocess.run(
            ["/bin/sh", "scripts/setup.sh", level],
            cwd=self.project,
            env={"PATH": str(self.programs), "HOME": os.environ["HOME"], **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def python_works(self) -> bool:
        command = [self.venv / "bin" / "python", "-m", "pip", "--version"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        return answer.returncode == 0 and str(self.venv) in answer.stdout


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Nothing was set up here."""
    return Machine.make(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Machine, str]:
    """Set up once, in an unfriendly environment, and what was said; tests work on copies."""
    machine = Machine.make(tmp_path_factory.mktemp("finished"))
    machine.remove("bwrap")
    (machine.venv / "bin").mkdir(parents=True)
    (machine.project / "shared").mkdir()
    (machine.project / "shared" / "thing.py").write_text("x = 1\n")
    wrong = machine.folder / "wrong"
    wrong.mkdir()
    (wrong / "json.py").write_text("raise SystemExit('wrong json')\n")
    done = machine.set_up(
        PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=str(wrong), PIP_TARGET="/nowhere", PIP_USER="1"
    )
    assert done.returncode == 0, done.stderr
    machine.install_script("bwrap", "exit 0")
    return machine, done.stderr


@pytest.fixture(scope="module")
def pristine(finished: tuple[Machine, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment as `python -m venv` left it."""
    place = tmp_path_factory.mktemp("pristine") / "venv"
    ignored = shutil.ignore_patterns(".circuit-design-ai.json")
    return Path(shutil.copytree(finished[0].venv, place, symlinks=True, ignore=ignored))


@pytest.fixture
def ready(finished: tuple[Machine, str], tmp_path: Path) -> Machine:
    """A copy of the finished machine."""
    shutil.copytree(finished[0].folder, tmp_path / "copy", symlinks=True)
    return Machine(tmp_path / "copy")


def test_fresh_machine_gets_a_virtual_environment(finished: tuple[Machine, str]) -> None:
    machine, said = finished
    assert machine.python_works()
    stamp = json.loads((machine.venv / ".circuit-design-ai.json").read_text())
    assert stamp["level"] == "core"
    assert not (machine.venv / ".setting-up").exists()
    assert "Set-up done" in said


def test_it_goes_on_without_the_box_and_says_so(finished: tuple[Machine, str]) -> None:
    _, said = finished
    assert "bubblewrap           keeps strangers' netlists in a box" in said
    assert "It goes on without." in said


def test_packages_and_sources_are_compiled_whatever_the_environment_says(
    finished: tuple[Machine, str],
) -> None:
    machine, _ = finished
    assert list((machine.project / "shared" / "__pycache__").glob("thing.*.pyc"))
    pip = next(machine.venv.glob("lib/*/site-packages/pip"))
    assert list((pip / "__pycache__").glob("__init__.*.pyc"))


def test_second_run_does_and_says_nothing(ready: Machine) -> None:
    before = (ready.venv / "pyvenv.cfg").stat().st_mtime_ns
    again = ready.set_up()
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert (ready.venv / "pyvenv.cfg").stat().st_mtime_ns == before


def test_changed_lock_is_installed(ready: Machine) -> None:
    ready.write_lock("core", "# another\n")
    again = ready.set_up()
    assert again.returncode == 0
    assert "Installing packages" in again.stderr
    assert "Making the virtual environment" not in again.stderr
    assert ready.set_up().stderr == ""


def test_higher_level_is_installed_and_serves_the_lower(ready: Machine) -> None:
    assert "Installing packages" in ready.set_up("window").stderr
    ready.write_lock("core", "# another\n")
    assert ready.set_up("core").stderr == ""


def test_half_made_environment_with_a_dead_interpreter_is_made_anew(ready: Machine, pristine: Path) -> None:
    ready.make_environments_of(pristine)
    for link in (ready.venv / "bin").glob("python*"):
        link.unlink()
        link.symlink_to("/nowhere/python")
    half = next(ready.venv.glob("lib/*/site-packages")) / "half_installed.py"
    half.touch()
    again = ready.set_up(PYTHON="python3.11")
    assert again.returncode == 0
    assert "half-made" in again.stderr
    assert not half.exists()
    assert ready.python_works()


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "after_s",
    [0.8, *(pytest.param(tenths / 10, marks=pytest.mark.torture) for tenths in range(1, 60, 2))],
)
def test_killed_set_up_can_be_repeated(machine: Machine, pristine: Path, after_s: float) -> None:
    process = subprocess.Popen(
        ["/bin/sh", "scripts/setup.sh", "core"],
        cwd=machine.project,
        env={"PATH": str(machine.programs), "HOME": os.environ["HOME"]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    time.sleep(after_s)  # somewhere in the middle; whatever it hits has to be survived
    os.killpg(process.pid, 9)
    process.wait()
    machine.make_environments_of(pristine)
    assert machine.set_up().returncode == 0
    assert machine.python_works()


def test_environment_without_pip_is_filled_all_the_same(ready: Machine) -> None:
    """By the system's pip or uv, or by a pip of its own, whichever this machine can offer."""
    for part in ready.venv.glob("lib/*/site-packages/pip*"):
        shutil.rmtree(part)
    ready.write_lock("core", "# another\n")
    again = ready.set_up()
    assert again.returncode == 0
    assert "Making the virtual environment" not in again.stderr
    assert ready.set_up().stderr == ""


def test_strange_venv_folder_is_left_alone(machine: Machine) -> None:
    machine.venv.mkdir()
    precious = machine.venv / "thesis.tex"
    precious.touch()
    refused = machine.set_up()
    assert refused.returncode == 3
    assert "thesis.tex" in refused.stderr
    assert precious.exists()


def test_missing_simulator_is_named_with_its_purpose(ready: Machine) -> None:
    ready.remove("ngspice")
    refused = ready.set_up()
    assert refused.returncode == 3
    assert "ngspice              simulates the circuits" in refused.stderr


def test_one_command_for_all_that_is_missing(machine: Machine) -> None:
    machine.remove("ngspice")
    machine.remove("bwrap")
    machine.install_script("dnf", "echo called >&2; exit 1")
    machine.install_script("sudo", "exit 1")
    refused = machine.set_up()
    assert refused.returncode == 3
    assert "sudo sh -c 'dnf install -y ngspice bubblewrap'" in refused.stderr
    assert "called" not in refused.stderr
    assert not machine.venv.exists()


@pytest.mark.parametrize("account", ["root", "sudo"])
def test_missing_programs_are_installed_where_that_asks_nobody(ready: Machine, account: str) -> None:
    ready.remove("ngspice")
    ready.install("env", Path("/usr/bin/env"))
    log = ready.folder / "log"
    if account == "sudo":
        # What a user's set-up sees: a user id, and a sudo that needs no password.
        script = ready.project / "scripts" / "setup.py"
        script.write_text(script.read_text().replace("os.geteuid()", "1000"))
        ready.install_script("sudo", f'echo sudo "$@" >> "{log}"; shift; exec "$@"')
        ready.install("echo", Path("/bin/echo"))
    elif os.geteuid() != 0:
        script = ready.project / "scripts" / "setup.py"
        script.write_text(script.read_text().replace("os.geteuid()", "0"))
    ready.install_script(
        "apt-get",
        f'echo "$DEBIAN_FRONTEND $*" >> "{log}"\n'
        f'case "$*" in *install*) printf "#!/bin/sh\\n" > "{ready.programs}/ngspice"; '
        f'/bin/chmod +x "{ready.programs}/ngspice" ;; esac',
    )
    assert ready.set_up().returncode == 0
    assert "noninteractive" in log.read_text()
    assert "install -y --no-install-recommends ngspice" in log.read_text()
    assert ("sudo -n env" in log.read_text()) == (account == "sudo")


def test_no_python_at_all(machine: Machine) -> None:
    machine.remove("python3.11")
    refused = machine.set_up()
    assert refused.returncode == 3
    assert "Python 3.11 or newer is needed" in refused.stderr


def test_only_a_too_old_python(machine: Machine) -> None:
    script = machine.project / "scripts" / "setup.py"
    script.write_text(script.read_text().replace("OLDEST_PYTHON = (3, 11)", "OLDEST_PYTHON = (3, 99)"))
    refused = machine.set_up()
    assert refused.returncode == 3
    assert "Python 3.99 or newer" in refused.stderr
    assert not machine.venv.exists()


def test_chosen_python_is_too_old(machine: Machine) -> None:
    machine.install_script(
        "python3.9",
        f'case "$*" in *"print(*sys.version_info"*) echo "3 9" ;; *) exec "{BASE_PYTHON}" "$@" ;; esac',
    )
    refused = machine.set_up(PYTHON="python3.9")
    assert refused.returncode == 3
    assert "PYTHON=python3.9 is Python 3.9; 3.11 or newer is needed." in refused.stderr


def test_chosen_python_does_not_exist(machine: Machine) -> None:
    refused = machine.set_up(PYTHON="python9")
    assert refused.returncode == 3
    assert "PYTHON=python9 names nothing that runs" in refused.stderr


def test_packages_that_cannot_be_had_are_a_clear_error_and_tried_again(ready: Machine) -> None:
    ready.write_lock("core", f"no-such-thing==1.0 --hash=sha256:{'0' * 64}\n")
    failed = ready.set_up(PIP_NO_INDEX="1")
    assert failed.returncode == 3
    assert "no-such-thing" in failed.stderr
    assert "The packages could not be installed" in failed.stderr
    assert ready.set_up(PIP_NO_INDEX="1").returncode == 3
    ready.write_lock("core", "# nothing\n")
    assert ready.set_up().stderr == ""
    assert ready.python_works()
