"""Writes docs/command-reference.md from the parser of the command line: `python -m scripts.command_page`."""

from __future__ import annotations

import argparse
from pathlib import Path

from presentation.cli.entry import COMMANDS
from presentation.translation import Translator

PAGE = Path(__file__).resolve().parents[1] / "docs" / "command-reference.md"
HEAD = """# Commands and their options

<!-- Written by `python -m scripts.command_page` from the parser; do not edit. -->

What each command prints and its exit codes: [command-line.md](command-line.md). Every command takes `--json`.
From the sources a command is `.venv/bin/python main.py NAME ...`, installed from a wheel
`circuit-design-ai NAME ...`; without a name the window opens.
"""
_WIDTH = 110


def page() -> str:
    """The whole page."""
    chinese = Translator("zh")
    parts = [HEAD]
    for name, command in COMMANDS.items():
        parser = argparse.ArgumentParser(prog=name, add_help=False, formatter_class=_Formatter)
        command.add_arguments(parser)
        usage = parser.format_usage().removeprefix("usage: ").rstrip()
        parts.append(f"\n## {name}\n\n{command.help}. ({chinese(command.help)})\n\n")
        parts.append("\n".join(f"    {line.removeprefix('       ')}" for line in usage.splitlines()) + "\n")
        rows = [row for action in parser._actions if (row := _row(action))]
        if rows:
            parts.append("\n| option | can be | default |\n|---|---|---|\n" + "".join(rows))
    return "".join(parts)


class _Formatter(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_WIDTH)


def _row(action: argparse.Action) -> str:
    """An option with what it can be; "" for one that is only on or off and has no more to say."""
    if not action.option_strings:
        return ""
    names = ", ".join(f"`{name}`" for name in action.option_strings)
    choices = list(map(str, action.choices)) if action.choices is not None else []
    usual = action.default
    is_told = usual is not None and usual is not argparse.SUPPRESS and not isinstance(usual, bool)
    default = f"`{usual}`" if is_told and usual not in ("", [], ()) else ""
    if not choices and not default:
        return ""
    return f"| {names} | {', '.join(f'`{each}`' for each in choices)} | {default} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
