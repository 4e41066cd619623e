"""Entry: a folder opens the window, a sub-command runs on the command line."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from shared.stop_signals import StopSignals

if TYPE_CHECKING:
    from application.app import Application


def open_window(app: Application, path: Path | None, signals: StopSignals | None) -> int:
    """The program with a window; Qt is imported only now."""
    gc.disable()  # until the first paint
    from presentation.window.application import run

    return run(app, path, signals, owns_process=True)


def _open_missing_streams() -> None:
    """A stream that was closed by the caller (`>&-`, a service) becomes the null device.

    Else its number would go to the next file that is opened, a database, and children would print into it.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def main() -> int:
    """The whole program; returns the exit code."""
    _open_missing_streams()
    signals = StopSignals()  # before the imports below, which take a while
    # What imports make is no garbage; looking for it all the same takes a tenth of the time.
    gc.disable()
    if sys.argv[1:] == ["--version"]:
        from presentation import VERSION

        print(f"Circuit Design AI {VERSION}")
        return 0
    import bootstrap
    from presentation.cli import entry

    gc.enable()
    try:
        return entry.main(sys.argv[1:], bootstrap.build, signals, open_window)
    finally:
        signals.ignore()


if __name__ == "__main__":
    exit_code = main()
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # whoever read us has gone
            stream.flush()
    # Everything is closed by now. Measured: the interpreter takes 0.6 s to take LangGraph's modules apart.
    os._exit(exit_code)
