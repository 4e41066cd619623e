"""Whether a window can be shown here, found out without Qt (which would abort the process if not)."""

from __future__ import annotations

import importlib.util
import os
import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from shared.message import Message, msg

_PATIENCE_S = 2.0
_X_DISPLAY = re.compile(r"(?:unix/?)?(?P<host>[^:/]*):(?P<number>\d+)(?:\.\d+)?")


def libraries_problem() -> Message | None:
    """Why the window's libraries cannot be used; None when they are installed."""
    if importlib.util.find_spec("PyQt6") is None or importlib.util.find_spec("qasync") is None:
        return msg("The window's libraries are not installed.")
    return None


def display_problem(environment: Mapping[str, str]) -> Message | None:
    """Why there is no display; None when there is one (or Qt was told to do without)."""
    named = environment.get("QT_QPA_PLATFORM", "").split(":")[0]
    if not sys.platform.startswith("linux") or named not in ("", "xcb", "wayland"):
        return None
    if named != "xcb" and _answers_wayland(environment):
        return None
    display = environment.get("DISPLAY", "")
    if not display:
        return msg("There is no display here.")
    if not _answers_x(display):
        return msg("The display {name} does not respond.", name=display)
    return None


def _answers_wayland(environment: Mapping[str, str]) -> bool:
    name = environment.get("WAYLAND_DISPLAY", "")
    return bool(name) and (Path(environment.get("XDG_RUNTIME_DIR", "/")) / name).is_socket()


def _answers_x(display: str) -> bool:
    found = _X_DISPLAY.fullmatch(display)
    if found is None:  # a path, as on macOS, or something new: Qt knows better
        return True
    host, number = found["host"], int(found["number"])
    path = f"/tmp/.X11-unix/X{number}"  # noqa: S108 - where X servers listen
    if host:
        return _connects(socket.AF_INET, (host, 6000 + number))
    return any(_connects(socket.AF_UNIX, address) for address in ("\0" + path, path))


def _connects(family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PATIENCE_S)
        try:
            probe.connect(address)
        except (OSError, ValueError):
            return False
    return True


def main() -> int:
    """``python -m presentation.cli.display``: exit code 0 when a window can be shown; else says why not."""
    problem = display_problem(os.environ)
    if problem is not None:
        print(problem)
    return 0 if problem is None else 1


if __name__ == "__main__":
    sys.exit(main())
