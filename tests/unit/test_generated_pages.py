"""Pages that are made from the program are those of the program as it is; what the guides name is there."""

from __future__ import annotations

import re
from pathlib import Path

from presentation.cli.entry import COMMANDS
from scripts import command_page, tools_page

DOCS = command_page.PAGE.parent


def test_references_are_current() -> None:
    for module in (command_page, tools_page):
        told = f"write it again: python -m {module.__name__}"
        assert module.PAGE.read_text("utf-8") == module.page(), told


def test_guides_name_commands_and_pages_that_are_there() -> None:
    pages = ("user-guide.md", "user-guide.zh.md", "tutorial.md", "tutorial.zh.md", "mcp.md", "exchange.md")
    for name in pages:
        text = (DOCS / name).read_text("utf-8")
        for page in re.findall(r"\]\(([\w.-]+\.md)(?:#[\w-]+)?\)", text):
            assert (DOCS / page).is_file(), (name, page)
        for command in re.findall(r"circuit-design-ai ([a-z-]+)", text):
            assert command in COMMANDS, (name, command)
    english, chinese = (
        re.findall(r"^## \d+", (DOCS / name).read_text("utf-8"), re.MULTILINE)
        for name in ("user-guide.md", "user-guide.zh.md")
    )
    assert english == chinese
    assert Path(DOCS / "command-reference.md").stat().st_size > 5000
