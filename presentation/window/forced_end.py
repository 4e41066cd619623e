"""The window's end has a limit: what still runs then is left to its fate.

A thread in a loop of C holds the interpreter: no timer, no signal handler and no other thread of Python runs
any more. The watch is therefore a thread of C's own (`faulthandler`), which needs none of it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_S = 4.5
"""From the moment the window closes to the end of its process."""


@contextmanager
def ends_within(seconds: float, log: Path) -> Iterator[None]:
    """Within it the process ends after `seconds`, whatever runs; where every thread was goes into `log`.

    What is to be kept is on the disk by then, or as after a loss of power: nothing is written half.
    """
    with contextlib.ExitStack() as stack:
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(log.open("a", encoding="utf-8"))
        except OSError:  # no log is kept there
            file = stack.enter_context(Path(os.devnull).open("a", encoding="utf-8"))
        faulthandler.dump_traceback_later(seconds, exit=True, file=file)
        stack.callback(faulthandler.cancel_dump_traceback_later)
        yield
