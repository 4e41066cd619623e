"""The command line's frame: options, language, errors, exit codes."""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from presentation import VERSION
from presentation.json_output import Output
from presentation.translation import Translator
from shared.errors import CircuitAIError, EnvironmentProblem, Stopped, UserInputError, internal_error
from shared.late_patterns import late_pattern
from shared.message import Message, msg
from shared.redaction import redact
from shared.stop_signals import StopSignals

if TYPE_CHECKING:
    from application.app import Application
    from presentation.cli.commands import Command, RunBlocking

_logger = logging.getLogger(__name__)

EXIT_STOPPED = 130
_SCOPE = "command line"
_NEGATIVE = late_pattern(r'-\s*(?:[\d.(]|[A-Za-z_@"][^\s=]*\()')
"""A number, list or expression that begins with a minus."""

OpenWindow = Callable[["Application", Path | None, StopSignals | None], int]
"""Shows the window on a folder or file (None: the last project) until it is closed; the exit code."""


def main(
    argv: Sequence[str],
    build: Callable[[], Application],
    signals: StopSignals | None = None,
    open_window: OpenWindow | None = None,
) -> int:
    """Run the command line, or `open_window` when there is no sub-command; returns the exit code."""
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a path may hold bytes that no encoding can show
            stream.reconfigure(errors="backslashreplace")
    app = build()
    translate = Translator(app.program.language)
    out = Output(translator=translate, as_json="--json" in argv or argv[:1] == ["tool"])
    for warning in app.program.warnings:
        out.note(warning)
    command = None if _names_a_place(argv) else _commands().get(argv[0])
    fail = command.fail if command else _plain_failure
    try:
        if command is None and not (argv and argv[0].startswith("-")):
            path = _window_path(argv)
            problem = _window_problem()
            if problem is None and open_window is not None:
                return open_window(app, path, signals)
            argv = _instead_of_the_window(path, problem, out)
        args = _parser(translate, argv[0]).parse_args(argv)
        run_blocking = _commands()[args.command].run_blocking
        if run_blocking is not None:
            return _run_blocking(run_blocking, args, app, out, signals)
        from shared import async_runtime

        return async_runtime.run(lambda: _run(args, app, out), signals=signals)
    except CircuitAIError as error:
        fail(error, out)
        return error.exit_code
    except _stops():
        if out.as_json and not out.has_ended:
            if command and command.stopped:
                command.stopped(out)
            else:
                fail(Stopped(msg("Stopped.")), out)
        return EXIT_STOPPED
    except Exception as error:  # noqa: BLE001
        # The last resort: a bug is told in plain words; the task registry has logged its traceback.
        fail(CircuitAIError(internal_error(error), error_type="internal"), out)
        return 1


def _stops() -> tuple[type[BaseException], ...]:
    """How a stop comes out of work; asked for when something has come out of it."""
    from asyncio import CancelledError

    return CancelledError, KeyboardInterrupt


def _run_blocking(
    run: RunBlocking, args: argparse.Namespace, app: Application, out: Output, signals: StopSignals | None
) -> int:
    """The command here and now; a stop signal ends it where it is. Without `signals`, as Python does."""
    try:
        with contextlib.nullcontext() if signals is None else signals.answered_by(_stop_here):
            return run(args, app, out)
    except CircuitAIError:
        raise
    except Exception:
        _logger.exception("%s", args.command)  # the registry does that for those that are tasks
        raise


def _stop_here() -> NoReturn:
    raise KeyboardInterrupt


async def _run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """The command as the one task of its scope; a stop signal goes the way every stop goes."""
    import asyncio

    app.program.events.bind()
    run = _commands()[args.command].run
    assert run is not None
    work = run(args, app, out)
    handle = app.program.tasks.submit("command", args.command, work, scope=_SCOPE)
    try:
        return await handle.result()
    except asyncio.CancelledError:
        await app.program.stop.stop("user", scope=_SCOPE)
        raise
    finally:
        await app.close()


def _names_a_place(argv: Sequence[str]) -> bool:
    """Whether the window is asked for, seen without a look at the commands: it starts sooner."""
    return not argv or argv[0] in (".", "..") or os.sep in argv[0]


def _commands() -> dict[str, Command]:
    from presentation.cli.commands import COMMANDS

    return COMMANDS


def _plain_failure(error: CircuitAIError, out: Output) -> None:
    out.fail(error)


def _window_path(argv: Sequence[str]) -> Path | None:
    """`main.py [PATH]`: a project's folder, or a file in it; None = the last project."""
    if not argv:
        return None
    path = Path(argv[0]).expanduser()
    if not path.exists() or len(argv) > 1:
        raise UserInputError(
            msg("{text} is neither a command nor a folder.", text=" ".join(argv)),
            advice=msg("Commands: {names}.", names=", ".join(_commands())),
        )
    return Path(os.path.abspath(path))  # noqa: PTH100 - links stay as the user wrote them


def _window_problem() -> Message | None:
    from presentation.cli.display import display_problem, libraries_problem

    return libraries_problem() or display_problem(os.environ)


def _instead_of_the_window(path: Path | None, problem: Message | None, out: Output) -> list[str]:
    """The demo's command line, when no project was named that somebody wants to see."""
    reason = problem or msg("There is no display here.")
    if path is not None:
        raise EnvironmentProblem(
            msg("The window cannot be shown. {reason}", reason=reason),
            advice=msg("On the command line: {command}", command="python main.py --help"),
            error_type="no_window",
        )
    out.note(msg("{reason} Running the demo on the command line instead.", reason=reason))
    return ["demo"]


def _columns() -> int:
    """As shutil.get_terminal_size says, without shutil: it brings three libraries for packing along."""
    with contextlib.suppress(KeyError, ValueError):
        if (columns := int(os.environ["COLUMNS"])) > 0:
            return columns
    with contextlib.suppress(AttributeError, ValueError, OSError):  # no stream, closed, no terminal
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    return 80


class _Help(argparse.HelpFormatter):
    """As wide as the terminal. argparse makes one also where no help is asked for."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


class _Parser(argparse.ArgumentParser):
    """Reports bad usage as an error with a text, so that --json keeps its one object."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"formatter_class": _Help, **kwargs})

    def error(self, message: str) -> NoReturn:
        raise UserInputError(
            # What it quotes may be a key that somebody put on the command line.
            msg("{usage}: {problem}", usage=self.prog, problem=redact(message)),
            advice=msg("{text}", text=self.format_usage().strip()),
            error_type="bad_usage",
        )


class _CommandParser(_Parser):
    """Takes options also between the positional arguments: ``tool NAME --project DIR JSON``.

    argparse alone gives an optional positional up at the first option.
    """

    _is_inside = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # argparse takes what looks like this for a value; without it `--temp -40,27` and the expression
        # `-i(v1)` would be unknown options. Options themselves are looked for first.
        self._negative_number_matcher = _NEGATIVE

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse's own, which `parse_known_intermixed_args` calls for its two passes."""
        if self._is_inside or args is None or "--" in args:
            return super().parse_known_args(args, namespace)
        self._is_inside = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_inside = False


def _parser(translate: Callable[[Message], str], named: str) -> argparse.ArgumentParser:
    """The parser for the command that is named first; of all commands when it is none of them."""
    parser = _Parser(
        prog="main.py",
        description=translate(msg("Describe a circuit, get a netlist, watch ngspice verify it.")),
    )
    parser.add_argument("--version", action="version", version=f"Circuit Design AI {VERSION}")
    commands = parser.add_subparsers(
        prog=parser.prog,  # else argparse makes a formatter to find it, for which it imports shutil
        dest="command",
        required=True,
        metavar="COMMAND",
        parser_class=_CommandParser,
    )
    known = _commands()
    for name, command in known.items() if named not in known else ((named, known[named]),):
        text = translate(command.help)
        sub = commands.add_parser(name, help=text, description=text)
        sub.add_argument("--json", action="store_true", help=translate(msg("print JSON")))
        command.add_arguments(sub)
    return parser
