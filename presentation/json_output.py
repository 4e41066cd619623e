"""What the command line prints: text for people, or exactly one JSON object (or JSON lines).

Results go to stdout, notes and logs to stderr.
"""

from __future__ import annotations

import copy
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from presentation.translation import Translator, language_of
from shared.errors import CircuitAIError, EnvironmentProblem, Stopped
from shared.message import Message, for_terminal, in_json, msg, one_line
from shared.redaction import redact_known


class Output:
    """The two streams of one command, and its language.

    Control characters are shown as signs: what a model or a file says may not hide, move or write over what
    the program says - a question about a call, say -, on a terminal or behind a pipe that leads to one.
    """

    def __init__(
        self,
        *,
        translator: Translator,
        as_json: bool,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        self.translate = translator
        self.as_json = as_json
        self._stdout = stdout or sys.stdout
        self._stderr = stderr or sys.stderr
        self._ended: list[bool] = []

    @property
    def has_ended(self) -> bool:
        """The command's one JSON object has been printed, or the closing line of its events."""
        return bool(self._ended)

    def in_language_of(self, text: str) -> Output:
        """The same output, answering in the language `text` is written in."""
        other = copy.copy(self)  # what was printed through the one is known to the other
        other.translate = Translator(language_of(text))
        return other

    def say(self, message: Message) -> None:
        """A line for people (nothing in JSON mode)."""
        if not self.as_json:
            self._print(self.translate(message))

    def line(self, text: str = "") -> None:
        """A ready-made line for people: figures, tables (nothing in JSON mode)."""
        if not self.as_json:
            self._print(text)

    def row(self, text: str) -> None:
        """A line of a list or a question: what names and texts of others hold can't make up lines of it."""
        self.line(one_line(text))

    def piece(self, text: str) -> None:
        """A piece of a text that streams in, without a line end of ours (nothing in JSON mode)."""
        if not self.as_json:
            self._print(text, end="")

    def progress(self, fraction: float) -> None:
        """A percentage on the terminal, written over by the next one; nothing when nobody watches."""
        if self.as_json or not self._stderr.isatty():
            return
        print(f"\r{fraction:4.0%}" if fraction < 1 else "\r    \r", end="", file=self._stderr, flush=True)

    @property
    def columns(self) -> int | None:
        """Of the terminal the results go to; None behind a pipe."""
        try:
            return os.get_terminal_size(self._stdout.fileno()).columns or None
        except OSError:  # no terminal, or (io.UnsupportedOperation) no file at all
            return None

    @property
    def is_watched(self) -> bool:
        return self._stderr.isatty()

    def status(self, message: Message | None) -> None:
        """How far it is, on stderr in either mode: on a terminal in one line that is written over, which
        None wipes; else a line of its own."""
        if self.is_watched:
            print(
                "\r\x1b[K" + (for_terminal(self.translate(message)) if message else ""),
                end="",
                file=self._stderr,
                flush=True,
            )
        elif message is not None:
            self.note(message)

    def note(self, message: Message) -> None:
        print(for_terminal(self.translate(message)), file=self._stderr, flush=True)

    def json(self, document: Mapping[str, Any]) -> None:
        """One JSON object on one line, flushed; NaN and infinity become null."""
        text = json.dumps(plain(document), ensure_ascii=False, allow_nan=False)
        self._print(in_json(text))
        if document.get("type", "done") == "done":  # lines of events have a type, other documents none
            self._ended.append(True)

    def json_or_nothing(self, document: Mapping[str, Any]) -> None:
        """The same, where people are told in words."""
        if self.as_json:
            self.json(document)

    def _print(self, text: str, *, end: str = "\n") -> None:
        try:
            print(for_terminal(text), end=end, file=self._stdout, flush=True)
        except OSError as error:
            # Whoever read us has gone (`| head`), or the disk is full: there is no place for the rest.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stdout.fileno())
            os.close(nowhere)
            if isinstance(error, BrokenPipeError):
                raise Stopped(msg("Stopped.")) from None
            problem = msg("The output cannot be written ({reason}).", reason=error.strerror)
            if self.as_json:  # else the error is told there, once it has come up
                self.note(problem)
            raise EnvironmentProblem(
                problem, advice=msg("Free some space, or write it elsewhere."), error_type="cannot_write"
            ) from error

    def entry_of(self, error: CircuitAIError) -> dict[str, Any]:
        """An error as one of the "errors" of a document."""
        text, advice = self._words_of(error)
        return {
            "message": text,
            "error_type": error.error_type,
            "file": str(error.file.absolute()) if error.file else None,
            "line": error.line,
            "advice": advice,
        }

    def _words_of(self, error: CircuitAIError) -> tuple[str, str | None]:
        advice = redact_known(self.translate(error.advice)) if error.advice is not None else None
        return redact_known(self.translate(error.message)), advice

    def fail(self, error: CircuitAIError) -> None:
        """Show an error: what, where and what to do."""
        if self.as_json:
            self.json({"ok": False, "errors": [self.entry_of(error)]})
            return
        text, advice = self._words_of(error)
        print(for_terminal(_located(text, error.file, error.line)), file=self._stderr)
        if advice:
            print(for_terminal(f"  {advice}"), file=self._stderr)
        self._stderr.flush()


def _located(text: str, file: Path | None, line: int | None) -> str:
    if file is None or (line is None and one_line(str(file)) in text):
        return text
    shown = one_line(str(file))
    return f"{shown}: {text}" if line is None else f"{shown}:{line}: {text}"


def plain(value: Any) -> Any:
    """`value` in JSON types: paths as absolute strings, NaN and infinity as None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str | int | bool) or value is None:
        return value
    if isinstance(value, Path):
        return str(value.absolute())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")
