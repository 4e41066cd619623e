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


COMMANDS: dict[str, Command] = {
    "check": Command(
        help=msg("Check a netlist for errors"),
        add_arguments=_Later("check", "add_arguments"),
        run_blocking=_Later("check", "run"),
    ),
    "simulate": Command(
        help=msg("Run a netlist in ngspice, confined"),
        add_arguments=_Later("simulate", "add_arguments"),
        run=_Later("simulate", "run"),
    ),
    "simulator": Command(
        help=msg("Set dialect, libraries, model files and variables for the circuits of a project"),
        add_arguments=_Later("simulator", "add_arguments"),
        run=_Later("simulator", "run"),
    ),
    "measure": Command(
        help=msg("Measure a stored result or a raw file"),
        add_arguments=_Later("measure", "add_arguments"),
        run=_Later("measure", "run"),
    ),
    "sweep": Command(
        help=msg("Simulate a netlist over ranges of its parameters"),
        add_arguments=_Later("studies", "arguments_of", "sweep"),
        run=_Later("studies", "command_of", "sweep"),
    ),
    "montecarlo": Command(
        help=msg("Simulate a netlist with random deviations of its parameters"),
        add_arguments=_Later("studies", "arguments_of", "montecarlo"),
        run=_Later("studies", "command_of", "montecarlo"),
    ),
    "corners": Command(
        help=msg("Simulate a netlist at corners of process, voltage and temperature"),
        add_arguments=_Later("studies", "arguments_of", "corners"),
        run=_Later("studies", "command_of", "corners"),
    ),
    "worst-case": Command(
        help=msg("Find the worst case of a netlist's tolerances"),
        add_arguments=_Later("studies", "arguments_of", "worst-case"),
        run=_Later("studies", "command_of", "worst-case"),
    ),
    "sensitivity": Command(
        help=msg("Find which parameters of a netlist matter most"),
        add_arguments=_Later("studies", "arguments_of", "sensitivity"),
        run=_Later("studies", "command_of", "sensitivity"),
    ),
    "optimize": Command(
        help=msg("Search for netlist values that meet the goals"),
        add_arguments=_Later("optimize", "add_arguments"),
        run=_Later("optimize", "run"),
    ),
    "export": Command(
        help=msg("Write a result's signals as csv, tsv, json or mat"),
        add_arguments=_Later("export", "add_arguments"),
        run=_Later("export", "run"),
    ),
    "plot": Command(
        help=msg("Draw a result's signals as svg, png or pdf"),
        add_arguments=_Later("plot", "add_arguments"),
        run=_Later("plot", "run"),
    ),
    "design": Command(
        help=msg("Design a circuit from a sentence and verify it"),
        add_arguments=_Later("design", "add_arguments"),
        run=_Later("design", "run"),
        stopped=_Later("design", "stopped"),
    ),
    "chat": Command(
        help=msg("Chat with a model that works on the project with tools"),
        add_arguments=_Later("chat", "add_arguments"),
        run=_Later("chat", "run"),
        stopped=_Later("chat", "stopped"),
        fail=_Later("chat", "fail"),
    ),
    "permissions": Command(
        help=msg("Show and change what a model may do in a project, and which files are protected"),
        add_arguments=_Later("permissions", "add_arguments"),
        run=_Later("permissions", "run"),
    ),
    "tool": Command(
        help=msg("Call one of the tools available to a model"),
        add_arguments=_Later("tool", "add_arguments"),
        run=_Later("tool", "run"),
        fail=_Later("tool", "fail"),
    ),
    "sessions": Command(
        help=msg("List, show, export or delete the conversations of a project"),
        add_arguments=_Later("sessions", "add_arguments"),
        run=_Later("sessions", "run"),
    ),
    "operations": Command(
        help=msg("List the operations on the files of a project"),
        add_arguments=_Later("operations", "add_arguments"),
        run=_Later("operations", "run"),
    ),
    "undo": Command(
        help=msg("Undo a file change"),
        add_arguments=_Later("operations", "add_undo_arguments"),
        run=_Later("operations", "run_undo"),
    ),
    "adopt": Command(
        help=msg("Review what another installation wrote into a project, and adopt it"),
        add_arguments=_Later("adopt", "add_arguments"),
        run=_Later("adopt", "run"),
    ),
    "traces": Command(
        help=msg("List, show or export what the turns of a project did"),
        add_arguments=_Later("traces", "add_arguments"),
        run=_Later("traces", "run"),
    ),
    "providers": Command(
        help=msg("List the providers of language models, or try one"),
        add_arguments=_Later("providers", "add_arguments"),
        run=_Later("providers", "run"),
    ),
    "demo": Command(
        help=msg("Design and verify a filter and a buck converter"),
        add_arguments=_Later("demo", "add_arguments"),
        run=_Later("demo", "run"),
        stopped=_Later("design", "stopped"),
    ),
    "clean": Command(
        help=msg("Remove or pin old results of a project"),
        add_arguments=_Later("clean", "add_arguments"),
        run=_Later("clean", "run"),
    ),
    "doctor": Command(
        help=msg("Show what works on this machine"),
        add_arguments=_Later("doctor", "add_arguments"),
        run=_Later("doctor", "run"),
    ),
}
