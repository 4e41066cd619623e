"""The command line's frame: options, language, errors, exit codes."""

from __future__ import annotations

import argparse
import asyncio
import io
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from application.app import Application
from presentation.cli.commands import COMMANDS, plain_failure
from presentation.cli.output import Output
from presentation.translation import Translator
from shared import async_runtime
from shared.errors import CircuitAIError, Stopped, UserInputError, internal_error
from shared.message import Message, msg

VERSION = "0.1.0"
EXIT_STOPPED = 130
EXIT_ENVIRONMENT = 3
_SCOPE = "command line"


def main(argv: Sequence[str], build: Callable[[], Application]) -> int:
    """Run the command line; returns the exit code."""
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a path may hold bytes that no encoding can show
            stream.reconfigure(errors="backslashreplace")
    app = build()
    translate = Translator(app.language)
    out = Output(translator=translate, as_json="--json" in argv or argv[:1] == ["tool"])
    for warning in app.warnings:
        out.note(warning)
    command = COMMANDS.get(argv[0]) if argv else None
    fail = command.fail if command else plain_failure
    try:
        if not argv or (not argv[0].startswith("-") and argv[0] not in COMMANDS):
            return _without_command(argv, out)
        args = _parser(translate).parse_args(argv)
        return async_runtime.run(lambda: _run(args, app, out))
    except CircuitAIError as error:
        fail(error, out)
        return error.exit_code
    except (asyncio.CancelledError, KeyboardInterrupt):
        if out.as_json and not (command and command.prints_events):
            fail(Stopped(msg("Stopped.")), out)
        return EXIT_STOPPED
    except Exception as error:  # noqa: BLE001
        # The last resort: a bug is told in plain words; the task registry has logged its traceback.
        fail(CircuitAIError(internal_error(error), error_type="internal"), out)
        return 1


async def _run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """The command as the one task of its scope; a stop signal goes the way every stop goes."""
    app.events.bind()
    work = COMMANDS[args.command].run(args, app, out)
    handle = app.tasks.submit("command", args.command, work, scope=_SCOPE)
    try:
        return await handle.result()
    except asyncio.CancelledError:
        await app.stop.stop("user", scope=_SCOPE)
        raise
    finally:
        await app.close()


def _without_command(argv: Sequence[str], out: Output) -> int:
    """`main.py [DIR]`: the window, which this version does not have yet."""
    folder = Path(argv[0]) if argv else Path.cwd()
    if not folder.is_dir():
        raise UserInputError(
            msg("{text} is neither a command nor a folder.", text=argv[0]),
            advice=msg("Commands: {names}.", names=", ".join(COMMANDS)),
        )
    error = msg("This version has no window yet; it works on the command line.")
    advice = msg("Try: {command}", command="python main.py demo")
    out.fail(CircuitAIError(error, advice=advice, error_type="no_window"))
    return EXIT_ENVIRONMENT


class _Parser(argparse.ArgumentParser):
    """Reports bad usage as an error with a text, so that --json keeps its one object."""

    def error(self, message: str) -> NoReturn:
        raise UserInputError(
            msg("{usage}: {problem}", usage=self.prog, problem=message),
            advice=msg("{text}", text=self.format_usage().strip()),
            error_type="bad_usage",
        )


def _parser(translate: Callable[[Message], str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="main.py",
        description=translate(msg("Describe a circuit, get a netlist, watch ngspice prove it.")),
    )
    parser.add_argument("--version", action="version", version=f"Circuit Design AI {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        text = translate(command.help)
        sub = commands.add_parser(name, help=text, description=text)
        sub.add_argument("--json", action="store_true", help=translate(msg("print JSON")))
        command.add_arguments(sub)
    return parser
