"""The table of sub-commands, and what each of them is made of."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from application.app import Application
from presentation.cli import (
    chat,
    check,
    clean,
    demo,
    design,
    doctor,
    export,
    measure,
    operations,
    optimize,
    permissions,
    plot,
    providers,
    sessions,
    simulate,
    simulator,
    studies,
    tool,
    traces,
)
from presentation.cli.output import Output
from shared.errors import CircuitAIError
from shared.message import Message, msg

Run = Callable[[argparse.Namespace, Application, Output], Coroutine[Any, Any, int]]


def plain_failure(error: CircuitAIError, out: Output) -> None:
    """Show an error as most commands do."""
    out.fail(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One sub-command: its options and its coroutine, which returns the exit code."""

    help: Message
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Run
    stopped: Callable[[Output], None] | None = None
    """Of a command that prints a line an event with --json: prints the closing one when it was stopped
    before it could do so itself."""
    fail: Callable[[CircuitAIError, Output], None] = plain_failure
    """Shows an error that came before the command could run, or out of it."""


COMMANDS: dict[str, Command] = {
    "check": Command(
        help=msg("Find mistakes in a netlist"), add_arguments=check.add_arguments, run=check.run
    ),
    "simulate": Command(
        help=msg("Run a netlist in ngspice, confined"),
        add_arguments=simulate.add_arguments,
        run=simulate.run,
    ),
    "simulator": Command(
        help=msg("Set dialect, libraries, model files and variables for the circuits of a project"),
        add_arguments=simulator.add_arguments,
        run=simulator.run,
    ),
    "measure": Command(
        help=msg("Measure a stored result or a raw file"),
        add_arguments=measure.add_arguments,
        run=measure.run,
    ),
    "sweep": Command(
        help=msg("Simulate a netlist over ranges of its parameters"),
        add_arguments=studies.arguments_of("sweep"),
        run=studies.command_of("sweep"),
    ),
    "montecarlo": Command(
        help=msg("Simulate a netlist with random deviations of its parameters"),
        add_arguments=studies.arguments_of("montecarlo"),
        run=studies.command_of("montecarlo"),
    ),
    "corners": Command(
        help=msg("Simulate a netlist at corners of process, voltage and temperature"),
        add_arguments=studies.arguments_of("corners"),
        run=studies.command_of("corners"),
    ),
    "worst-case": Command(
        help=msg("Find the worst case of a netlist's tolerances"),
        add_arguments=studies.arguments_of("worst-case"),
        run=studies.command_of("worst-case"),
    ),
    "sensitivity": Command(
        help=msg("Find which parameters of a netlist matter most"),
        add_arguments=studies.arguments_of("sensitivity"),
        run=studies.command_of("sensitivity"),
    ),
    "optimize": Command(
        help=msg("Search for the values of a netlist that meet its goals"),
        add_arguments=optimize.add_arguments,
        run=optimize.run,
    ),
    "export": Command(
        help=msg("Write a result's signals as csv, tsv, json or mat"),
        add_arguments=export.add_arguments,
        run=export.run,
    ),
    "plot": Command(
        help=msg("Draw a result's signals as svg, png or pdf"),
        add_arguments=plot.add_arguments,
        run=plot.run,
    ),
    "design": Command(
        help=msg("Design a circuit from a sentence and prove it"),
        add_arguments=design.add_arguments,
        run=design.run,
        stopped=design.stopped,
    ),
    "chat": Command(
        help=msg("Ask a model that works on the project with tools"),
        add_arguments=chat.add_arguments,
        run=chat.run,
        stopped=chat.stopped,
        fail=chat.fail,
    ),
    "permissions": Command(
        help=msg("Show and change what a model may do in a project, and which files are protected"),
        add_arguments=permissions.add_arguments,
        run=permissions.run,
    ),
    "tool": Command(
        help=msg("Call one of the tools a model has"),
        add_arguments=tool.add_arguments,
        run=tool.run,
        fail=tool.fail,
    ),
    "sessions": Command(
        help=msg("List, show, export or delete the conversations of a project"),
        add_arguments=sessions.add_arguments,
        run=sessions.run,
    ),
    "operations": Command(
        help=msg("List what was done to the files of a project"),
        add_arguments=operations.add_arguments,
        run=operations.run,
    ),
    "undo": Command(
        help=msg("Take back a change of a file"),
        add_arguments=operations.add_undo_arguments,
        run=operations.run_undo,
    ),
    "traces": Command(
        help=msg("List, show or export what the turns of a project did"),
        add_arguments=traces.add_arguments,
        run=traces.run,
    ),
    "providers": Command(
        help=msg("List the providers of language models, or try one"),
        add_arguments=providers.add_arguments,
        run=providers.run,
    ),
    "demo": Command(
        help=msg("Design and prove a filter and a buck converter"),
        add_arguments=demo.add_arguments,
        run=demo.run,
        stopped=design.stopped,
    ),
    "clean": Command(
        help=msg("Remove old results of a project, or pin them"),
        add_arguments=clean.add_arguments,
        run=clean.run,
    ),
    "doctor": Command(
        help=msg("Show what works on this machine"),
        add_arguments=doctor.add_arguments,
        run=doctor.run,
    ),
}
