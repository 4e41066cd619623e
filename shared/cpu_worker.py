"""The worker process of `shared.cpu_executor`: reads jobs from stdin, answers on stdout.

Started by its path, so it imports nothing of the program before it has been told where that is.
A job is a pickled (function, args, kwargs); an answer is a pickled ("value", value) or
("error", exception, traceback text). Both travel as pickled bytes, so that what cannot be unpickled
does not put the stream out of step.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import traceback
from queue import SimpleQueue
from typing import Any, BinaryIO

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Answer jobs until stdin ends; then end at once and quietly, also in the middle of a job."""
    if len(sys.argv) > 1:
        _die_with(int(sys.argv[1]))
    # Ctrl-C in the terminal reaches the whole group; the program stops its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = _take_over_standard_streams()
    sys.path[:] = _received(requests)
    jobs: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(requests, jobs), daemon=True).start()
    while True:
        answer = _answer(jobs.get())
        try:
            pickle.dump(answer, answers)
            answers.flush()
        except BrokenPipeError:  # the parent died meanwhile
            os._exit(0)


def _die_with(parent: int) -> None:
    """Let the kernel kill us when `parent` dies, where it can do that.

    The end of stdin is seen by a thread, which a job in a loop of C (a regular expression) never lets run.
    """
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it died before we had asked
        os._exit(0)


def _take_over_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """Private copies of stdin and stdout; what a job prints goes to stderr."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def _receive(requests: BinaryIO, jobs: SimpleQueue[bytes]) -> None:
    while True:
        jobs.put(_received(requests))


def _received(requests: BinaryIO) -> Any:
    try:
        return pickle.load(requests)  # noqa: S301 - our own parent
    except (EOFError, pickle.UnpicklingError):
        # The parent let go, or died, perhaps in the middle of a word; nobody waits for the job in hand.
        os._exit(0)


def _answer(job: bytes) -> bytes:
    try:
        function, args, kwargs = pickle.loads(job)  # noqa: S301 - our own parent
        return pickle.dumps(("value", function(*args, **kwargs)), pickle.HIGHEST_PROTOCOL)
    except BaseException as error:  # noqa: BLE001 - it is handed to the parent, which raises it
        return _pickled_error(error, traceback.format_exc())


def _pickled_error(error: BaseException, text: str) -> bytes:
    # SystemExit and the like are about this process, not about the parent.
    if isinstance(error, Exception):
        try:
            answer = pickle.dumps(("error", error, text))
            pickle.loads(answer)  # noqa: S301 - some exceptions pickle but do not come back
        except Exception as problem:  # noqa: BLE001 - then its text has to do
            text = f"{text}\n(not picklable: {problem})"
        else:
            return answer
    return pickle.dumps(("error", RuntimeError(f"{type(error).__name__}: {error}"), text))


if __name__ == "__main__":
    main()
