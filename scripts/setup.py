"""Set up a fresh machine: system programs, the virtual environment `.venv`, locked packages.

    python3 scripts/setup.py core|window|dev|langchain

Run through the Makefile before every target; when nothing is to do it ends in milliseconds.
Exit code 0: ready (what is missing but not essential is named). 3: something has to be installed by
hand; the one command for it is printed. 130: interrupted; the next call starts over.

It runs on any Python from 3.8 with nothing but the standard library, so that a too old one can be
told so. Package indexes, proxies and certificates are pip's business: its settings are left alone.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / ".circuit-design-ai.json"
UNFINISHED = VENV / ".setting-up"

OLDEST_PYTHON = (3, 11)
PYTHON_NAMES = ("python3.11", "python3.12", "python3.13", "python3.14", "python3", "python")
SOURCES = (
    "shared",
    "domain",
    "application",
    "infrastructure",
    "presentation",
    "composition",
    "main.py",
    "bootstrap.py",
)
IS_LINUX = sys.platform.startswith("linux")


class Program(NamedTuple):
    """Something that comes from the system, not from the package index."""

    name: str
    purpose: str
    packages: dict[str, str]
    """Package by package manager; without one, it is not offered there."""
    command: str = ""
    """What has to be on the PATH; empty: `header`, `libraries` or the apt package has to be there."""
    header: str = ""
    libraries: tuple[str, ...] = ()
    """Names of a shared library, of which one has to be where the system keeps them."""
    is_essential: bool = False
    linux_only: bool = False


def _everywhere(package: str) -> dict[str, str]:
    return dict.fromkeys(("apt", "dnf", "pacman", "zypper", "brew"), package)


SIMULATOR = (
    Program(
        name="ngspice",
        purpose="simulates the circuits; without it nothing can be proved",
        command="ngspice",
        packages=_everywhere("ngspice"),
        is_essential=True,
    ),
    Program(
        name="libngspice",
        purpose="hosts ngspice for studies of many runs; without it only single runs work",
        libraries=("libngspice.so.0", "libngspice.so", "libngspice.dylib"),
        packages={
            "apt": "libngspice0",
            "dnf": "libngspice",
            "pacman": "ngspice",
            "zypper": "libngspice0",
            "brew": "libngspice",
        },
        linux_only=True,
    ),
    Program(
        name="bubblewrap",
        purpose="keeps strangers' netlists in a box; without it only the inner guard holds",
        command="bwrap",
        packages=_everywhere("bubblewrap"),
        linux_only=True,
    ),
)
COMPILER = (
    Program(
        name="gcc",
        purpose="builds the hostile code model that the tests of the box try to break out with",
        command="cc",
        packages=_everywhere("gcc"),
        linux_only=True,
    ),
    Program(
        name="libc6-dev",
        purpose="C headers for the same",
        header="/usr/include/stdio.h",
        packages={"apt": "libc6-dev", "dnf": "glibc-devel", "zypper": "glibc-devel"},
        linux_only=True,
    ),
)
# Found by adding one by one in a bare Debian 12.
# When libxcb-icccm4 or libxcb-keysyms1 is missing, Qt blames xcb-cursor0.
QT_LIBRARIES = tuple(
    Program(name=package, purpose=purpose, packages={"apt": package}, linux_only=True)
    for purpose, packages in (
        (
            "draws the window",
            "libgl1 libegl1 libdbus-1-3 libfontconfig1 libfreetype6 libxkbcommon0 libglib2.0-0 "
            "libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-image0 libxcb-render-util0 "
            "libxkbcommon-x11-0 libxcb-shape0 libxcb-randr0 libxcb-xkb1 libxcb-xfixes0 libxcb-sync1 "
            "libxcb-shm0 libxcb-glx0 libx11-xcb1",
        ),
        (
            "shows formulas and formatted answers",
            "libnss3 libxcomposite1 libxdamage1 libxrandr2 libxtst6 libasound2 libgbm1 libgssapi-krb5-2 "
            "libxkbfile1 libxcb-dri3-0",
        ),
        ("shows Chinese texts", "fonts-wqy-microhei"),
    )
    for package in packages.split()
)
SCREEN = (
    Program(
        name="xvfb",
        purpose="the screen on which the tests click and type, and pictures of the window are taken",
        command="Xvfb",
        packages={
            "apt": "xvfb",
            "dnf": "xorg-x11-server-Xvfb",
            "pacman": "xorg-server-xvfb",
            "zypper": "xorg-x11-server-Xvfb",
        },
        linux_only=True,
    ),
)


class Level(NamedTuple):
    """How much is set up; a level contains those before it."""

    locks: tuple[str, ...]
    """Installed one after the other."""
    programs: tuple[Program, ...]


LEVELS = {
    "core": Level(("core",), SIMULATOR),
    "window": Level(("window",), SIMULATOR + QT_LIBRARIES),
    "dev": Level(("build", "dev"), SIMULATOR + QT_LIBRARIES + COMPILER + SCREEN),
}

EXTRAS = ("langchain",)
"""Locked sets that are put beside whichever level there is, when somebody asks for them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Set up the level named on the command line."""
    parser = argparse.ArgumentParser(description="Set up this machine for Circuit Design AI.")
    parser.add_argument("level", choices=[*LEVELS, *EXTRAS], help="how much is needed")
    level = parser.parse_args(argv).level
    os.chdir(ROOT)
    try:
        with _one_at_a_time():
            if level in EXTRAS:
                add_extra(level)
            else:
                set_up(level)
    except KeyboardInterrupt:
        _say("\nInterrupted; the same command starts over.")
        return 130
    except OSError as error:
        _give_up(f"The set-up cannot go on: {error}")
    return 0


def set_up(level: str) -> None:
    """Bring system programs and `.venv` to `level`; exits with 3 when a person has to do something."""
    programs = LEVELS[level].programs
    ready = _is_ready(level)
    missing = _missing(programs)
    if ready and not any(program.is_essential for program in missing):
        return
    started = time.monotonic()
    if ready:
        _provide(missing)
        return
    python, missing = _provide_python(missing)
    installer = _prepare_venv(python, missing)
    _install_packages(level, installer)
    _compile_sources()
    _write_stamp(level)
    _say(f"Set-up done in {time.monotonic() - started:.0f} s.")


def add_extra(name: str) -> None:
    """Put an optional set into `.venv`, which is made first where it is missing."""
    set_up("core")
    python = _find_python() or str(VENV_PYTHON)
    _say(f"Installing the packages of {name}")
    _install_lock(name, _installer(python))
    _compile_sources()


# --- the virtual environment -------------------------------------------------------------------


def _is_ready(level: str) -> bool:
    """Whether an earlier set-up serves `level`: same locks, no other Python asked for."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    ranks = list(LEVELS)
    done = stamp.get("level")
    if UNFINISHED.exists() or done not in ranks or ranks.index(done) < ranks.index(level):
        return False
    if stamp.get("locks") != _lock_digest(done) or not VENV_PYTHON.exists():
        return False
    wanted = os.environ.get("PYTHON")
    return not wanted or ".".join(map(str, _version_of(wanted) or ())) == stamp.get("python")


def _write_stamp(level: str) -> None:
    version = ".".join(map(str, _version_of(str(VENV_PYTHON)) or ()))
    content = {"level": level, "locks": _lock_digest(level), "python": version}
    fresh = STAMP.with_suffix(".new")
    fresh.write_text(json.dumps(content), encoding="utf-8")
    fresh.replace(STAMP)
    UNFINISHED.unlink()


def _lock_digest(level: str) -> str:
    """Of all a level consists of: locked packages, and the programs it looks for."""
    digest = hashlib.sha256()
    for lock in LEVELS[level].locks:
        digest.update(_lock_file(lock).read_bytes())
    digest.update(" ".join(program.name for program in LEVELS[level].programs).encode())
    return digest.hexdigest()


def _lock_file(lock: str) -> Path:
    return ROOT / "requirements" / f"{lock}.lock"


def _provide_python(missing: list[Program]) -> tuple[str, list[Program]]:
    """The interpreter to build on, and the programs that stayed missing; gets what can be got."""
    python = _find_python()
    venv_package = _venv_package(python) if python else None
    if python is None:
        missing = [_python_program(), *missing]
    elif venv_package and not _venv_is_usable():
        missing = [*missing, venv_package]
    missing = _provide(missing)
    python = python or _find_python()
    if python is None:
        _give_up(f"Python {_dotted(OLDEST_PYTHON)} or newer is needed.")
    return python, missing


def _find_python() -> str | None:
    """A Python that is new enough, not one inside `.venv` (which may be about to be made anew)."""
    wanted = os.environ.get("PYTHON")
    if wanted:
        version = _version_of(wanted)
        if version is None:
            _give_up(f"PYTHON={wanted} names nothing that runs.")
        if version < OLDEST_PYTHON:
            _give_up(
                f"PYTHON={wanted} is Python {_dotted(version)}; {_dotted(OLDEST_PYTHON)} or newer is needed."
            )
        return shutil.which(wanted)
    for name in (sys.executable, *PYTHON_NAMES):
        path = shutil.which(name) if name else None
        if path and not _is_inside(path, VENV) and (_version_of(path) or (0, 0)) >= OLDEST_PYTHON:
            return path
    return None


def _is_inside(path: str, folder: Path) -> bool:
    return folder in Path(path).absolute().parents


def _version_of(python: str) -> tuple[int, ...] | None:
    answer = _ask(python, "-I", "-S", "-c", "import sys; print(*sys.version_info[:2])")
    return tuple(map(int, answer.split())) if answer else None


def _python_program() -> Program:
    return Program(
        name=f"Python {_dotted(OLDEST_PYTHON)} or newer",
        purpose="runs everything",
        packages={
            "apt": "python3.11 python3.11-venv",
            "dnf": "python3.11",
            "brew": "python@3.12",
            "pacman": "python",
        },
        is_essential=True,
    )


def _venv_package(python: str) -> Program | None:
    """Debian keeps what `venv` needs (ensurepip) in a package of its own."""
    if _ask(python, "-I", "-c", "import venv, ensurepip; print('yes')"):
        return None
    name = f"python{_dotted(_version_of(python) or OLDEST_PYTHON)}-venv"
    return Program(
        name=name,
        purpose="makes the virtual environment",
        packages={"apt": name},
        is_essential=_other_installer(python) is None,
    )


def _other_installer(python: str) -> list[str] | None:
    """What can fill a virtual environment that has no pip of its own."""
    if _ask(python, "-m", "pip", "--python", python, "--version"):
        return [python, "-m", "pip", "--python", str(VENV_PYTHON), "install", "--no-compile"]
    if shutil.which("uv"):
        return ["uv", "pip", "install", "--python", str(VENV_PYTHON)]
    return None


def _venv_is_usable() -> bool:
    """Whether `.venv` was finished once and still runs; other things may be in it, they do no harm."""
    if UNFINISHED.exists() or not VENV_PYTHON.exists():
        return False
    version = _version_of(str(VENV_PYTHON)) or (0, 0)
    wanted = os.environ.get("PYTHON")
    return version == _version_of(wanted) if wanted else version >= OLDEST_PYTHON


def _prepare_venv(python: str, missing: list[Program]) -> list[str]:
    """Make `.venv` when it is not usable; returns the start of the command that installs into it."""
    if not _venv_is_usable():
        _clear_venv()
        VENV.mkdir()
        UNFINISHED.touch()
        has_pip = not any(program.name.endswith("-venv") for program in missing)
        _say(f"Making the virtual environment .venv with {python}")
        _must_run([python, "-m", "venv", *([] if has_pip else ["--without-pip"]), ".venv"])
    UNFINISHED.touch()
    return _installer(python)


def _installer(python: str) -> list[str]:
    """pip in `.venv`, another one, or a pip that is put into `.venv` now."""
    own = [str(VENV_PYTHON), "-m", "pip"]
    if not any(VENV.glob("[Ll]ib/**/site-packages/pip/__main__.py")):
        other = _other_installer(python)
        if other is not None:
            return other
        _must_run([str(VENV_PYTHON), "-m", "ensurepip"])
    return [*own, "install", "--no-compile"]


def _clear_venv() -> None:
    """Remove a broken or half-made environment, but never a folder that is something else."""
    if VENV.is_symlink() or VENV.is_file():
        _give_up(f"{VENV} is not a folder. Move it away and run the same command again.")
    if not VENV.exists():
        return
    usual = {"bin", "lib", "lib64", "include", "share", "scripts", "pyvenv.cfg", ".gitignore"}
    strange = {path.name for path in VENV.iterdir() if path.name.lower() not in usual and path.name[0] != "."}
    if strange and not UNFINISHED.exists() and not (VENV / "pyvenv.cfg").exists():
        _give_up(f"{VENV} is not a virtual environment ({', '.join(sorted(strange))}). Move it away.")
    _say("The virtual environment .venv is broken or half-made: making it anew")
    shutil.rmtree(VENV)


def _install_packages(level: str, installer: list[str]) -> None:
    _say("Installing packages" + (" (the window and the tests: some hundred MB)" if level == "dev" else ""))
    for lock in LEVELS[level].locks:
        _install_lock(lock, installer)


def _install_lock(lock: str, installer: list[str]) -> None:
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    # The one sdist is built with the setuptools of build.lock, not with an unlocked one.
    isolation = ["--no-build-isolation"] if lock == "dev" else []
    lock_file = str(_lock_file(lock))
    if _run([*installer, *quiet, "--require-hashes", "--no-deps", *isolation, "-r", lock_file]) != 0:
        # pip failed in good order: what was in .venv before is still there and works.
        if UNFINISHED.exists():
            UNFINISHED.unlink()
        _give_up(
            "The packages could not be installed; the lines above say why. Behind a proxy, pip needs "
            "HTTPS_PROXY; for a company's index, PIP_INDEX_URL and PIP_CERT (or its configuration file). "
            "Then run the same command again."
        )


def _compile_sources() -> None:
    """Byte-compile packages and sources now: with PYTHONDONTWRITEBYTECODE set, nobody would later."""
    folders = [str(path) for path in VENV.glob("[Ll]ib/**/site-packages")]
    sources = [name for name in SOURCES if (ROOT / name).exists()]
    # Two q: some packages carry templates and files for other Pythons that do not compile, rightly.
    _run([str(VENV_PYTHON), "-m", "compileall", "-qq", "-j", "0", *folders, *sources])


# --- system programs ---------------------------------------------------------------------------


def _missing(programs: Sequence[Program]) -> list[Program]:
    offered = [program for program in programs if IS_LINUX or not program.linux_only]
    by_package = [program for program in offered if _is_known_by_package(program)]
    absent = _absent_apt_packages([program.packages["apt"] for program in by_package])
    return [program for program in offered if not _is_here(program, absent)]


def _is_known_by_package(program: Program) -> bool:
    return not (program.command or program.header or program.libraries)


def _is_here(program: Program, absent_packages: Sequence[str]) -> bool:
    if program.libraries:
        return any(_has_library(name) for name in program.libraries)
    if program.command:
        return shutil.which(program.command) is not None
    if program.header:
        return Path(program.header).exists()
    return program.packages["apt"] not in absent_packages


def _has_library(name: str) -> bool:
    folders = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64")
    return any(
        any(Path(folder).glob(pattern)) for folder in folders for pattern in (name, f"*-linux-*/{name}")
    )


def _absent_apt_packages(packages: Sequence[str]) -> list[str]:
    """Those dpkg knows not to be installed; without dpkg nothing is known and nothing claimed."""
    if not packages or not shutil.which("dpkg-query"):
        return []
    answer = _ask("dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", *packages, any_exit=True)
    here = {line.split()[0] for line in answer.splitlines() if line.endswith(" installed")}
    return [package for package in packages if package not in here]


def _provide(missing: list[Program]) -> list[Program]:
    """Install what can be installed, name the rest; exits with 3 when an essential one is in it."""
    if not missing:
        return []
    manager = _package_manager()
    as_root = _as_root()
    if manager == "apt" and as_root is not None:
        _say(f"Installing {', '.join(program.name for program in missing)}")
        _apt_install(as_root, _packages(missing, manager))
        missing = [program for program in missing if not _came(program)]
    if not missing:
        return []
    _say("\nMissing on this machine:")
    for program in missing:
        _say(f"    {program.name:20} {program.purpose}")
    _say(_how_to_install(missing, manager))
    if any(program.is_essential for program in missing):
        _give_up("Then run the same command again.")
    _say("It goes on without.\n")
    return missing


def _came(program: Program) -> bool:
    if not _is_known_by_package(program):
        return _is_here(program, ())
    return not _absent_apt_packages(program.packages["apt"].split())


def _package_manager() -> str | None:
    for manager, command in (
        ("apt", "apt-get"),
        ("dnf", "dnf"),
        ("pacman", "pacman"),
        ("zypper", "zypper"),
        ("brew", "brew"),
    ):
        if shutil.which(command):
            return manager
    return None


def _packages(programs: Sequence[Program], manager: str) -> list[str]:
    return [name for program in programs for name in program.packages.get(manager, "").split()]


def _as_root() -> list[str] | None:
    """How to start a command that needs root: directly, with a sudo that asks nothing, or not at all."""
    if not hasattr(os, "geteuid"):
        return None
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and _ask("sudo", "-n", "echo", "yes"):
        return ["sudo", "-n"]
    return None


def _apt_install(as_root: list[str], packages: list[str]) -> None:
    """Install; with fresh package lists when there are none or when it failed."""
    apt = [
        *as_root,
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "-qq",
        "-o",
        "DPkg::Lock::Timeout=120",
    ]
    install = [*apt, "install", "-y", "--no-install-recommends", *packages]
    has_lists = any(Path("/var/lib/apt/lists").glob("*_Packages*"))
    if has_lists and _run(install, output=subprocess.DEVNULL) == 0:
        return
    if _run([*apt, "update"]) == 0:
        _run(install, output=subprocess.DEVNULL)


def _how_to_install(missing: Sequence[Program], manager: str | None) -> str:
    names = " ".join(_packages(missing, manager)) if manager else ""
    if not names:
        listed = ", ".join(program.name for program in missing)
        return (
            f"Install {listed} from their web sites, and put the folders of the programs on the PATH\n"
            "(on macOS with Homebrew:  brew install ngspice)."
        )
    command = {
        "apt": f"apt-get update && apt-get install -y {names}",
        "dnf": f"dnf install -y {names}",
        "pacman": f"pacman -S --needed {names}",
        "zypper": f"zypper install -y {names}",
        "brew": f"brew install {names}",
    }[manager or "apt"]
    if manager != "brew":
        command = f"sudo sh -c '{command}'" if shutil.which("sudo") else f"su -c '{command}'"
    return f"Install with this command:\n\n    {command}\n"


# --- small things ------------------------------------------------------------------------------


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Two `make` in one folder wait for each other (where the system can lock files)."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with Path(__file__).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _child_environment() -> dict[str, str]:
    """The user's, less what would send packages to another place than `.venv`."""
    harmful = {"PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_PYTHON"}
    environment = {name: value for name, value in os.environ.items() if name not in harmful}
    environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    environment["PIP_ROOT_USER_ACTION"] = "ignore"
    return environment


def _run(command: Sequence[str], output: int | None = None) -> int:
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=output, env=_child_environment(), check=False
    ).returncode


def _must_run(command: Sequence[str]) -> None:
    if _run(command) != 0:
        _give_up(f"This command failed: {' '.join(command)}")


def _ask(*command: str, any_exit: bool = False) -> str:
    """What a command prints, "" when it fails or is not there."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_child_environment(),
            check=False,
        )
    except OSError:
        return ""
    return done.stdout.decode(errors="replace").strip() if any_exit or done.returncode == 0 else ""


def _dotted(version: Sequence[int]) -> str:
    return ".".join(map(str, version))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _give_up(text: str) -> NoReturn:
    _say(text)
    raise SystemExit(3)


if __name__ == "__main__":
    sys.exit(main())
