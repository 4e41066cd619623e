"""What a wheel is made of: every module, resource and document of the program, and nothing else's names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("shared", "domain", "application", "infrastructure", "presentation", "composition")


def test_a_wheel_has_the_whole_program_under_one_name(tmp_path: Path) -> None:
    made = tmp_path / "lib"
    command = [sys.executable, "setup.py", "-q", "egg_info", "-e", str(tmp_path), "build_py", "-d", str(made)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=50)
    assert {path.name for path in made.iterdir()} == {"circuit_design_ai"}
    program = made / "circuit_design_ai" / "program"
    there = {path.relative_to(program).as_posix() for path in program.rglob("*") if path.is_file()}
    wanted = {"main.py", "bootstrap.py", "LICENSE"}
    for room in ROOMS:
        wanted |= {path.relative_to(ROOT).as_posix() for path in (ROOT / room).rglob("*.py")}
    for folder in ("resources", "docs"):
        files = (path for path in (ROOT / folder).rglob("*") if path.is_file())
        # Of the pictures only those that Help shows.
        shown = (each for each in files if "pictures" not in each.parts or each.name.startswith("tutorial-"))
        wanted |= {path.relative_to(ROOT).as_posix() for path in shown}
    assert there == wanted
    done = subprocess.run(
        [sys.executable, "-m", "circuit_design_ai", "--version"],
        cwd=made, capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("Circuit Design AI ")
