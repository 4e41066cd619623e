"""What the documents list is what the code has."""

import re
from pathlib import Path

from domain.circuit.findings import CODES
from presentation.cli.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]


def test_every_diagnostic_is_documented() -> None:
    text = (ROOT / "docs" / "netlist.md").read_text("utf-8")
    assert set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE)) == set(CODES)


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    assert set(re.findall(r"^    ([a-z-]+)\b", text, re.MULTILINE)) >= set(COMMANDS)


def test_the_paths_in_the_requirements_exist() -> None:
    text = (ROOT / "docs" / "requirements.md").read_text("utf-8")
    named = re.findall(
        r"\b(?:shared|domain|application|infrastructure|presentation|resources|tests)/[\w/.]*", text
    )
    assert len(named) > 30
    assert [path for path in named if not (ROOT / path).exists()] == []
