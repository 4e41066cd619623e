"""How long a sub-command takes to answer, against the bare interpreter.

The floor is `python -c pass` in the same virtual environment: nobody starts faster in Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.harness import Pair

ROOT = Path(__file__).parents[2]
NETLIST = """Divider
V1 in 0 10
R1 in out 1k
R2 out 0 1k
.op
.end
"""


def pairs() -> list[Pair]:
    """Sub-commands that start no simulator."""
    folder = Path(tempfile.mkdtemp(prefix="bench-startup-"))
    circuit = folder / "divider.cir"
    circuit.write_text(NETLIST, encoding="utf-8")
    return [
        Pair(
            name="check",
            ours=lambda: _python("main.py", "check", str(circuit), "--json"),
            theirs=lambda: _python("-c", "pass"),
            theirs_name="python -c pass",
            note="a five-line netlist",
            most_cpu=8,
        ),
        Pair(
            name="--version",
            ours=lambda: _python("main.py", "--version"),
            theirs=lambda: _python("-c", "pass"),
            theirs_name="python -c pass",
            most_cpu=4,
        ),
    ]


def _python(*arguments: str) -> None:
    # Set for tests, it would have every run compile the sources anew: not what a user waits for.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL
    )
