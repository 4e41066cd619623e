"""What the documents list is what the code has."""

import re
from pathlib import Path

from domain.circuit.findings import CODES
from presentation.cli.entry import COMMANDS
from scripts.settings_page import PAGE, page

ROOT = Path(__file__).resolve().parents[2]


def test_every_diagnostic_is_documented() -> None:
    text = (ROOT / "docs" / "netlist.md").read_text("utf-8")
    assert set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE)) == set(CODES)


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    assert set(re.findall(r"^    ([a-z-]+)\b", text, re.MULTILINE)) >= set(COMMANDS)


def test_the_page_of_the_settings_says_what_their_fields_say() -> None:
    assert PAGE.read_text("utf-8") == page(), "write it again: python -m scripts.settings_page"


def test_the_files_the_pages_name_exist() -> None:
    rooms = (
        "shared",
        "domain",
        "application",
        "infrastructure",
        "presentation",
        "composition",
        "tests",
        "scripts",
    )
    there = {path.relative_to(ROOT).as_posix() for room in rooms for path in (ROOT / room).rglob("*.py")}
    there |= {path.name for path in ROOT.glob("*.py")}
    endings = {"/".join(path.split("/")[first:]) for path in there for first in range(path.count("/") + 1)}
    named = {
        (page.name, name)
        for page in (ROOT / "docs").glob("*.md")
        for name in re.findall(r"`(?:python )?([a-z][a-z0-9_/]*\.py)[`:]", page.read_text("utf-8"))
    }
    assert len(named) > 300
    assert sorted((page, name) for page, name in named if name not in endings) == []


def test_the_paths_in_the_requirements_exist() -> None:
    text = (ROOT / "docs" / "requirements.md").read_text("utf-8")
    named = re.findall(
        r"\b(?:shared|domain|application|infrastructure|presentation|resources|tests)/[\w/.]*", text
    )
    assert len(named) > 30
    assert [path for path in named if not (ROOT / path).exists()] == []
