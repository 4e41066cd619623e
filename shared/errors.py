"""Errors that reach a person, named by who can act.

    CircuitAIError
    ├── UserInputError        the user (or a script) can mend the input                exit code 2
    ├── CircuitError          it ran, but the circuit or the call failed               exit code 1
    ├── NeedsConfirmation     a person has to say yes first                            exit code 1
    ├── EnvironmentProblem    something outside is missing or refuses (ngspice, key)   exit code 3
    └── Stopped               the user stopped it                                      exit code 130

Everything else is a bug and is not caught, except by the last-resort handler. A simulation that
fails to converge is a result, not an exception.
"""

from __future__ import annotations

from pathlib import Path

from shared.message import Message, msg


class CircuitAIError(Exception):
    """Base of all errors with a text for people: what, where, and what to do."""

    exit_code = 1
    error_type = "error"

    def __init__(
        self,
        message: Message,
        *,
        advice: Message | None = None,
        file: Path | None = None,
        line: int | None = None,
        error_type: str | None = None,
    ) -> None:
        super().__init__(str(message))
        self.message = message
        self.advice = advice
        self.file = file
        self.line = line
        if error_type is not None:
            self.error_type = error_type


class UserInputError(CircuitAIError):
    """The input is wrong: a missing file, a bad option, an expression that cannot be read."""

    exit_code = 2
    error_type = "bad_input"


class CircuitError(CircuitAIError):
    """The call was right, but what it asked for could not be had from this circuit or result."""

    exit_code = 1
    error_type = "circuit_error"


class NeedsConfirmation(CircuitAIError):
    """A person has to decide, and nobody is there to be asked."""

    exit_code = 1
    error_type = "needs_confirmation"


class EnvironmentProblem(CircuitAIError):
    """Something outside the program is missing or refuses: ngspice, a key, a server."""

    exit_code = 3
    error_type = "environment"


class Stopped(CircuitAIError):
    """The user stopped the work."""

    exit_code = 130
    error_type = "stopped"


def internal_error(error: BaseException) -> Message:
    """What people are told of a bug; the traceback goes to the log."""
    return msg(
        "An internal error occurred ({kind}: {text}). This is a bug; please report it.",
        kind=type(error).__name__,
        text=str(error) or "no text",
    )
