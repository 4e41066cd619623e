"""Runs the real command line, each command in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.ground.forked_commands import ForkedCommands

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class CliResult:
    exit_code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        lines = self.stdout.splitlines()
        assert len(lines) == 1, self.stdout
        document = json.loads(lines[0])
        assert isinstance(document, dict)
        return document

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.splitlines()]


Cli = Callable[..., CliResult]

_READ_BY_US_ALONE = ("CIRCUIT_", "LANG=", "LC_ALL=")
"""Beginnings of variables; streams are UTF-8 in any language. The others' are read at their import."""


@pytest.fixture
def cli(forked_commands: ForkedCommands) -> Cli:
    """Runs a command. One that is given variables which others than us read is started from nothing."""

    def run(*argv: object, cwd: Path | None = None, **environment: str) -> CliResult:
        if all(f"{name}=".startswith(_READ_BY_US_ALONE) for name in environment):
            forked = forked_commands.run(*argv, cwd=cwd, environment=environment)
            return CliResult(forked.exit_code, forked.stdout, forked.stderr)
        outcome = subprocess.run(
            [sys.executable, str(ROOT / "main.py"), *map(str, argv)],
            cwd=cwd,
            env={**os.environ, "LANG": "C.UTF-8", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in outcome.stderr, outcome.stderr
        return CliResult(outcome.returncode, outcome.stdout, outcome.stderr)

    return run
