"""What a quick command imports: what it does not import it does not wait for.

Counts, no seconds; the seconds are in tests/benchmarks/bench_startup.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DIVIDER = "Divider\nV1 in 0 10\nR1 in out 1k\nR2 out 0 1k\n.op\n.end\n"
LOADED = (
    "import atexit, json, sys\n"
    "import dataclasses\n"
    "made = []\n"
    "make = dataclasses._process_class\n"
    "dataclasses._process_class = lambda cls, *rest: (made.append(cls.__module__), make(cls, *rest))[1]\n"
    "import main\n"
    "sys.argv[:] = ['main.py', *json.loads(sys.argv[1])]\n"
    "code = main.main()\n"
    "print(json.dumps([code, sorted(sys.modules), made]), file=sys.stderr)\n"
)
FIRST_USE = (
    "import json, sys\n"
    "import bootstrap\n"
    "app = bootstrap.build()\n"
    "for _ in app.warm_up(): pass\n"
    "before = set(sys.modules)\n"
    "app.conversations.chat, app.design.run, app.simulation.run\n"
    "print(json.dumps([len(before), sorted(set(sys.modules) - before)]))\n"
)
HEAVY = {
    "asyncio",
    "concurrent",
    "subprocess",
    "socket",
    "ssl",
    "pickle",
    "shutil",
    "difflib",
    "urllib.request",
}
OF_OTHERS = (
    "domain.llm",
    "domain.search",
    "infrastructure.ngspice",
    "langgraph",
    "numpy",
    "PyQt6",
    "pydantic",
    "scipy",
)


def _loaded(home: Path, *arguments: str) -> tuple[int, set[str], list[str]]:
    environment = {**os.environ, "CIRCUIT_DESIGN_AI_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", LOADED, json.dumps(arguments)],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    code, modules, made = json.loads(done.stderr.splitlines()[-1])
    return code, set(modules), made


@pytest.mark.parametrize("settings", [None, {"language": "zh", "libraries": ["/opt/models"]}])
def test_check_imports_neither_a_loop_nor_what_others_are_about(tmp_path, settings):
    circuit = tmp_path / "divider.cir"
    circuit.write_text(DIVIDER)
    if settings is not None:
        (tmp_path / "settings.json").write_text(json.dumps(settings))
    code, modules, made = _loaded(tmp_path, "check", str(circuit), "--json")
    assert code == 0
    assert modules & HEAVY == set()
    assert [name for name in modules if name.startswith(OF_OTHERS)] == []
    # Each costs as much as a small module: exec of its source, twice with slots. 81 before, and 16 times a
    # bare interpreter; what is a row of values is a NamedTuple there.
    assert len(made) <= 22, made


def test_the_same_findings_whether_it_has_a_loop_or_not(tmp_path):
    """Patterns and tables that come late are there when a circuit needs them."""
    circuit = tmp_path / "foreign.cir"
    circuit.write_text(
        "x\nV1 in 0 PULSE(0 1 0 1n 1n 1u 2u)\nR1 in out {R}\n.step param R 1k 3k 1k\n.tran 1u\n"
        ".lib standard.dio\nE1 e 0 in 0 laplace=1/(1+s)\n.end\n"
    )
    code, modules, _ = _loaded(tmp_path, "check", str(circuit), "--dialect", "ltspice")
    assert code in (0, 1)
    assert "domain.circuit.translation" in modules
    assert "asyncio" not in modules


def test_a_stop_before_it_began_and_an_error_are_told_as_ever(tmp_path):
    told = subprocess.run(
        [sys.executable, "main.py", "check", str(tmp_path / "none.cir"), "--json"],
        cwd=ROOT, env={**os.environ, "CIRCUIT_DESIGN_AI_HOME": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 2
    assert json.loads(told.stdout)["ok"] is False
    stopped = (
        "import os, signal, sys\n"
        "import main, presentation.cli.entry as entry\n"
        "parse = entry._parser\n"
        "def interrupted(*given):\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return parse(*given)\n"
        "entry._parser = interrupted\n"
        "sys.argv[:] = ['main.py', 'check', 'none.cir', '--json']\n"
        "sys.exit(main.main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", stopped],
        cwd=ROOT, env={**os.environ, "CIRCUIT_DESIGN_AI_HOME": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 130
    assert json.loads(done.stdout)["errors"][0]["error_type"] == "stopped"


def test_what_the_window_loads_beforehand_is_all_that_a_first_message_needs(tmp_path: Path) -> None:
    """Else it is imported on the loop, while the window stands still."""
    environment = {**os.environ, "CIRCUIT_DESIGN_AI_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", FIRST_USE],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded, late = json.loads(done.stdout)
    assert loaded > 1000
    assert late == []
