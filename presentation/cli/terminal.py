"""What comes in: answers of the user on the terminal, texts on standard input."""

from __future__ import annotations

import asyncio
import os
import sys
import threading

from shared.message import for_terminal


async def read_line(prompt: str, *, at_end: Exception | None = None) -> str:
    """The answer in lower case; when the input has ended (Ctrl+D) "n", or `at_end` is raised.

    No thread waits in `input`: Ctrl+C could not end it.
    """
    return (await read_words(prompt, at_end=at_end)).lower()


async def read_words(prompt: str, *, at_end: Exception | None = None) -> str:
    """The same, as it was typed."""
    line = await _line(prompt)
    if not line and at_end is not None:
        print(flush=True)
        raise at_end
    return line.strip() if line else "n"


async def read_hidden_line(prompt: str) -> str:
    """A line as it was typed, without its end, that the terminal does not show; "" when the input has ended.

    However it ends, the terminal shows again what is typed.
    """
    try:
        import termios
    except ImportError:  # Windows
        from getpass import getpass

        return await asyncio.to_thread(getpass, prompt)
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    hidden = termios.tcgetattr(descriptor)
    hidden[3] &= ~termios.ECHO
    try:
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, hidden)
        return (await _line(prompt)).rstrip("\r\n")
    finally:
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, before)
        print(flush=True)


async def _line(prompt: str) -> str:
    """What is typed, with its line end; "" at the end of the input."""
    print(for_terminal(prompt), end="", flush=True)
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    try:
        loop.add_reader(sys.stdin.fileno(), readable.set)
    except NotImplementedError:  # Windows
        return await asyncio.to_thread(sys.stdin.readline)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline()


async def read_input(most: int) -> bytes:
    """Standard input to its end; of a longer one `most` bytes and one more. Raises OSError.

    Read in a daemon thread: a stop must not wait until whoever writes to us has ended.
    """
    loop = asyncio.get_running_loop()
    data: asyncio.Future[bytes] = loop.create_future()

    def settle(found: bytes, problem: OSError | None) -> None:
        if data.done():
            return
        if problem is None:
            data.set_result(found)
        else:
            data.set_exception(problem)

    def read() -> None:
        found, problem = bytearray(), None
        try:
            while len(found) <= most and (piece := os.read(sys.stdin.fileno(), 1 << 16)):
                found += piece
        except OSError as error:
            problem = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, bytes(found[: most + 1]), problem)

    threading.Thread(target=read, name="standard input", daemon=True).start()
    return await data
