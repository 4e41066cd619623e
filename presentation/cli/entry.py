"""The command line's frame: the table of sub-commands, options, language, errors, exit codes."""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from application.app import Application
from presentation import VERSION
from presentation.json_output import Output
from presentation.translation import Translator
from shared.errors import CircuitAIError, EnvironmentProblem, Stopped, UserInputError, internal_error
from shared.late_patterns import late_pattern
from shared.message import Message, msg
from shared.redaction import redact
from shared.stop_signals import StopSignals

Run = Callable[[argparse.Namespace, Application, Output], Coroutine[Any, Any, int]]
RunBlocking = Callable[[argparse.Namespace, Application, Output], int]


class _Later:
    """A function of a command's module, which is imported when it is first called: a light command does not
    wait for what the heavy ones need.

    With `argument` it is what the module's function makes for that.
    """

    def __init__(self, module: str, name: str, argument: str | None = None) -> None:
        self._module, self._name, self._argument = module, name, argument

    def __call__(self, *given: Any) -> Any:
        function = getattr(import_module(f"presentation.cli.{self._module}"), self._name)
        return (function if self._argument is None else function(self._argument))(*given)


def plain_failure(error: CircuitAIError, out: Output) -> None:
    out.fail(error)


class Command(NamedTuple):
    """One sub-command: its options and its coroutine, which returns the exit code.

    One that reads, computes and prints, and holds nothing that must be closed, is a plain function:
    `run_blocking` in place of `run`. It has no loop; importing asyncio and what stands on it takes as long
    as checking a circuit.
    """

    help: Message
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Run | None = None
    run_blocking: RunBlocking | None = None
    stopped: Callable[[Output], None] | None = None
    """Of a command that prints a line an event with --json: prints the closing one when it was stopped
    before it could do so itself."""
    fail: Callable[[CircuitAIError, Output], None] = plain_failure
    """Shows an error that came before the command could run, or out of it."""


def _command(
    text: Message,
    module: str,
    *,
    add_arguments: str = "add_arguments",
    run: str = "run",
    is_blocking: bool = False,
    stopped: str = "",
    fails: bool = False,
) -> Command:
    """The command of a module, by the names of its functions; `stopped` is the module that has such a one."""
    made = _Later(module, run)
    return Command(
        help=text,
        add_arguments=_Later(module, add_arguments),
        run=None if is_blocking else made,
        run_blocking=made if is_blocking else None,
        stopped=_Later(stopped, "stopped") if stopped else None,
        fail=_Later(module, "fail") if fails else plain_failure,
    )


def _study(text: Message, kind: str) -> Command:
    return Command(text, _Later("studies", "arguments_of", kind), _Later("studies", "command_of", kind))


COMMANDS: dict[str, Command] = {
    "check": _command(msg("Check a netlist for errors"), "check", is_blocking=True),
    "simulate": _command(msg("Run a netlist in ngspice, confined"), "simulate"),
    "simulator": _command(
        msg("Set dialect, libraries, model files and variables for the circuits of a project"), "simulator"
    ),
    "models": _command(
        msg("Find components in the libraries, or print a model; gm/Id tables of MOSFETs"), "models"
    ),
    "bom": _command(msg("List the parts of a circuit: bill of materials"), "bom"),
    "import": _command(
        msg("Read a schematic of LTspice or KiCad, a Qucs netlist, a PySpice script or a Touchstone file"),
        "import_file",
    ),
    "measure": _command(msg("Measure a stored result or a raw file"), "measure"),
    "sweep": _study(msg("Simulate a netlist over ranges of its parameters"), "sweep"),
    "montecarlo": _study(msg("Simulate a netlist with random deviations of its parameters"), "montecarlo"),
    "corners": _study(msg("Simulate a netlist at corners of process, voltage and temperature"), "corners"),
    "worst-case": _study(msg("Find the worst case of a netlist's tolerances"), "worst-case"),
    "sensitivity": _study(msg("Find which parameters of a netlist matter most"), "sensitivity"),
    "map": _study(msg("Map where the goals of a netlist are met over two of its values"), "map"),
    "optimize": _command(msg("Search for netlist values that meet the goals"), "optimize"),
    "influence": _command(msg("Show how far each value of a netlist moves a goal"), "influence"),
    "since-when": _command(msg("Find the edit that lost a goal of a circuit"), "since_when"),
    "cases": _command(msg("Keep cases with a circuit that every run of it checks"), "cases"),
    "export": _command(
        msg("Write a result's signals as a table or Touchstone file, or a circuit for another program"),
        "export",
    ),
    "plot": _command(
        msg("Draw a result's signals as svg, png or pdf"),
        "export",
        add_arguments="add_plot_arguments",
        run="run_plot",
    ),
    "report": _command(msg("Write a design report of a circuit as PDF, page or Markdown"), "report"),
    "schematic": _command(
        msg("Draw the schematic of a netlist as svg, png or pdf"), "schematic", is_blocking=True
    ),
    "design": _command(msg("Design a circuit from a sentence and verify it"), "design", stopped="design"),
    "chat": _command(
        msg("Chat with a model that works on the project with tools"), "chat", stopped="chat", fails=True
    ),
    "permissions": _command(
        msg("Show and change what a model may do in a project, and which files are protected"), "permissions"
    ),
    "tool": _command(msg("Call one of the tools available to a model"), "tool", fails=True),
    "mcp": _command(msg("Offer the tools of a project to another program (MCP)"), "mcp"),
    "servers": _command(
        msg("List, add, remove or try servers whose tools the assistant may use (MCP)"), "servers"
    ),
    "sessions": _command(
        msg("List, search, show, export or delete the conversations of a project"), "sessions"
    ),
    "operations": _command(msg("List the operations on the files of a project"), "operations"),
    "undo": _command(
        msg("Undo a file change"), "operations", add_arguments="add_undo_arguments", run="run_undo"
    ),
    "adopt": _command(msg("Review what another installation wrote into a project, and adopt it"), "adopt"),
    "traces": _command(msg("List, show or export what the turns of a project did"), "traces"),
    "providers": _command(msg("List the providers of language models, or try one"), "providers"),
    "demo": _command(msg("Design and verify a filter and a buck converter"), "demo", stopped="design"),
    "clean": _command(msg("Remove or pin old results of a project"), "clean"),
    "doctor": _command(msg("Show what works on this machine"), "doctor"),
}


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
    command = None if _names_a_place(argv) else COMMANDS.get(argv[0])
    fail = command.fail if command else plain_failure
    try:
        if command is None and not (argv and argv[0].startswith("-")):
            path = _window_path(argv)
            problem = _window_problem()
            if problem is None and open_window is not None:
                return open_window(app, path, signals)
            argv = _instead_of_the_window(path, problem, out)
        args = _parser(translate, argv[0]).parse_args(argv)
        run_blocking = COMMANDS[args.command].run_blocking
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
    run = COMMANDS[args.command].run
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


def _window_path(argv: Sequence[str]) -> Path | None:
    """`main.py [PATH]`: a project's folder, or a file in it; None = the last project."""
    if not argv:
        return None
    path = Path(argv[0]).expanduser()
    if not path.exists() or len(argv) > 1:
        raise UserInputError(
            msg("{text} is neither a command nor a folder.", text=" ".join(argv)),
            advice=msg("Commands: {names}.", names=", ".join(COMMANDS)),
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
    known = COMMANDS
    for name, command in known.items() if named not in known else ((named, known[named]),):
        text = translate(command.help)
        sub = commands.add_parser(name, help=text, description=text)
        sub.add_argument("--json", action="store_true", help=translate(msg("print JSON")))
        command.add_arguments(sub)
    return parser
