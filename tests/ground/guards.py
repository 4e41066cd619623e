"""What a test may not do: reach the network, write outside its folders, log errors, block the loop."""

from __future__ import annotations

import ipaddress
import logging
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from blockbuster import BlockBuster

from shared import redaction
from tests.ground.blocking import judge_quickly

OUR_PACKAGES = (
    "shared",
    "domain",
    "application",
    "infrastructure",
    "presentation",
    "composition",
    "bootstrap.py",
)

# multiprocessing keeps its sockets in one folder for the life of the process.
_STANDING_TEMPORARY = re.compile(r"pymp-.*")
# They ask the kernel for the current folder and wait for no disk.
_HARMLESS = ("os.getcwd", "os.path.abspath")
_FORGOTTEN_VARIABLES = re.compile(
    r"CIRCUIT_AI_.*|CIRCUIT_DESIGN_AI_.*|XDG_.*_HOME|LANG(SMITH|CHAIN)_.*|.*_PROXY|.*_proxy"
)


class NetworkForbidden(OSError):
    """A test tried to reach another machine."""


class NetworkGuard:
    """Lets sockets of this process reach the loopback only; remembers every try at more.

    The tries are remembered because code that handles OSError would swallow the exception.
    """

    _METHODS = ("connect", "connect_ex", "sendto")

    def __init__(self) -> None:
        self._tries: list[str] = []
        self._originals = {name: getattr(socket.socket, name) for name in self._METHODS}
        self._getaddrinfo = socket.getaddrinfo

    def watch(self) -> None:
        """Put the guard in front of the socket functions."""
        for name, original in self._originals.items():
            setattr(socket.socket, name, self._guarded(original))

        def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
            self._check(host)
            return self._getaddrinfo(host, *args, **kwargs)

        socket.getaddrinfo = getaddrinfo

    def unwatch(self) -> None:
        """Take it away."""
        for name, original in self._originals.items():
            setattr(socket.socket, name, original)
        socket.getaddrinfo = self._getaddrinfo

    def take(self) -> list[str]:
        """The tries since the last call."""
        found = [f"reached for the network: {host}" for host in self._tries]
        self._tries.clear()
        return found

    def _guarded(self, original: Any) -> Any:
        def guarded(sock: socket.socket, *args: Any) -> Any:
            # sendto(data, address) and sendto(data, flags, address): the address is the last
            if sock.family in {socket.AF_INET, socket.AF_INET6}:
                self._check(args[-1][0])
            return original(sock, *args)

        return guarded

    def _check(self, host: Any) -> None:
        if not _is_loopback(host):
            self._tries.append(str(host))
            raise NetworkForbidden(f"tests may reach the loopback only, not {host}")


def _is_loopback(host: Any) -> bool:
    if isinstance(host, bytes):
        host = host.decode()
    if host in {None, "", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def own_secrets() -> Iterator[None]:
    """What a test registers as a secret is blacked out in that test: "wrong" is a word for the next one."""
    before, factory = redaction.registered(), logging.getLogRecordFactory()
    try:
        yield
    finally:
        if redaction.registered() != before:
            redaction.register_only(before)
        logging.setLogRecordFactory(factory)


class ErrorLog(logging.Handler):
    """Collects records of level ERROR and above from all loggers."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the text (the record might hold the objects of a finished test alive)."""
        self._messages.append(f"{record.name}: {record.getMessage()}")

    def take(self, expected: Sequence[str]) -> list[str]:
        """Errors that no pattern of `expected` matches, and patterns that matched none."""
        messages = list(self._messages)
        self._messages.clear()
        found = [
            f"logged an error: {message}"
            for message in messages
            if not any(re.search(pattern, message) for pattern in expected)
        ]
        found += [
            f"did not log the expected error {pattern!r}"
            for pattern in expected
            if not any(re.search(pattern, message) for message in messages)
        ]
        return found


class OwnFolders:
    """A home, a settings folder and a temporary folder for each test, in place of the user's.

    Home and temporary folder go on to the next test while they stay empty (making and removing them would
    be most of what the ground costs); the name of the settings folder is new for each test.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._number = 0
        self._base = root / "0"

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Point the environment (and `tempfile`) at them; everything is put back at the end."""
        environment = os.environ.copy()
        temporary = tempfile.tempdir
        self._number += 1
        for folder in (self._home, self._temporary):
            folder.mkdir(parents=True, exist_ok=True)
        for name in filter(_FORGOTTEN_VARIABLES.fullmatch, environment):
            del os.environ[name]
        os.environ.update(
            HOME=str(self._home),
            TMPDIR=str(self._temporary),
            CIRCUIT_DESIGN_AI_HOME=str(self._settings),
        )
        tempfile.tempdir = str(self._temporary)
        try:
            yield
        finally:
            tempfile.tempdir = temporary
            _put_back(environment)

    def left_over(self) -> list[str]:
        """Files in the home (the settings folder is the place for ours) and temporary ones; removes all."""
        if os.path.exists(self._settings):  # noqa: PTH110
            shutil.rmtree(self._settings, ignore_errors=True)
        in_home, temporary = (sorted(os.listdir(folder)) for folder in (self._home, self._temporary))  # noqa: PTH208
        standing = [name for name in temporary if _STANDING_TEMPORARY.fullmatch(name)]
        if in_home or temporary:
            if not standing:
                shutil.rmtree(self._base)
            self._base = self._root / str(self._number)
        return [
            *(f"file {name!r} in the home folder" for name in in_home),
            *(f"temporary file {name!r}" for name in temporary if name not in standing),
        ]

    @property
    def _home(self) -> Path:
        return self._base / "home"

    @property
    def _temporary(self) -> Path:
        return self._base / "tmp"

    @property
    def _settings(self) -> Path:
        return self._base / f"settings-{self._number}"


_CURRENT = "PYTEST_CURRENT_TEST"
"""pytest changes it, and takes it away."""


def _put_back(environment: dict[str, str]) -> None:
    now = os.environ.copy()
    for name in now.keys() - environment.keys() - {_CURRENT}:
        del os.environ[name]
    os.environ.update(
        {name: value for name, value in environment.items() if name != _CURRENT and now.get(name) != value}
    )


def blocking_call_guard(root: Path) -> BlockBuster:
    """Raises where our code under `root` blocks a running loop; test code itself may."""
    judge_quickly()
    # The loop itself lies below every test.
    below = [_at(root / "shared" / name) for name in ("async_runtime.py", "fused_loop.py")]
    guard = BlockBuster([_at(root / name) for name in OUR_PACKAGES], excluded_modules=below)
    for name in _HARMLESS:
        del guard.functions[name]
    # Late imports on the loop are allowed; so is waiting for a thread that imports the same module just then.
    guard.functions["threading.Lock.acquire"].can_block_in(
        "<frozen importlib._bootstrap>", {"acquire", "_lock_unlock_module"}
    )
    return guard


def _at(path: Path) -> ModuleType:
    """A stand-in that tells BlockBuster the place without importing what is there."""
    module = ModuleType(path.stem)
    module.__path__ = [str(path)]
    return module
