"""The table of sub-commands, and what each of them is made of."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import Any, NamedTuple

from application.app import Application
from presentation.json_output import Output
from shared.errors import CircuitAIError
from shared.message import Message, msg

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
        msg("List or print the models of parts that come with the program"), "models", is_blocking=True
    ),
    "measure": _command(msg("Measure a stored result or a raw file"), "measure"),
    "sweep": _study(msg("Simulate a netlist over ranges of its parameters"), "sweep"),
    "montecarlo": _study(msg("Simulate a netlist with random deviations of its parameters"), "montecarlo"),
    "corners": _study(msg("Simulate a netlist at corners of process, voltage and temperature"), "corners"),
    "worst-case": _study(msg("Find the worst case of a netlist's tolerances"), "worst-case"),
    "sensitivity": _study(msg("Find which parameters of a netlist matter most"), "sensitivity"),
    "optimize": _command(msg("Search for netlist values that meet the goals"), "optimize"),
    "export": _command(msg("Write a result's signals as csv, tsv, json or mat"), "export"),
    "plot": _command(msg("Draw a result's signals as svg, png or pdf"), "plot"),
    "design": _command(msg("Design a circuit from a sentence and verify it"), "design", stopped="design"),
    "chat": _command(
        msg("Chat with a model that works on the project with tools"), "chat", stopped="chat", fails=True
    ),
    "permissions": _command(
        msg("Show and change what a model may do in a project, and which files are protected"), "permissions"
    ),
    "tool": _command(msg("Call one of the tools available to a model"), "tool", fails=True),
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
