"""`mcp PROJECT`: the project's tools for a model of another program, on standard input and output."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from application.app import Application
from presentation.json_output import Output
from shared.errors import UserInputError
from shared.message import msg


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Serve until the other program closes its end."""
    if sys.stdin.isatty():
        raise UserInputError(
            msg(
                "This command is started by another program and exchanges messages of the Model Context "
                "Protocol with it."
            ),
            advice=msg("Enter “main.py mcp PROJECT” as the command of a server in that program's settings."),
            error_type="not_for_a_terminal",
        )
    opened = await app.project.browse.open(args.project)
    from presentation.mcp.server import ProjectServer

    await ProjectServer(app, opened.root, out.translate).serve()
    return 0
