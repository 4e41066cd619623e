"""The process that forks for all serves on when one of those who asked it was ended."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ground import warm_python

SERVER = """
import socket, sys
from tests.ground import forked_commands, warm_python

forked_commands.import_everything = lambda: None
warm_python._serve(socket.socket(fileno=int(sys.argv[1])))
"""


def test_one_who_asked_and_was_ended_takes_nobody_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "greets.py").write_text("def main():\n    print('here', flush=True)\n")
    place = f"tests-warm-python-{os.getpid()}-{tmp_path.name}"
    path = os.pathsep.join([str(tmp_path), str(warm_python.ROOT)])
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0{place}")
        listening.listen(8)
        with socket.socket(socket.AF_UNIX) as asked, Path(os.devnull).open("r+b") as nothing:
            asked.connect(f"\0{place}")
            socket.send_fds(asked, [b"."], [nothing.fileno()] * 2)
            order = {"module": "greets", "argv": [], "environment": dict(os.environ)}
            asked.sendall(json.dumps(order).encode() + b"\n")
        with socket.socket(socket.AF_UNIX) as silent:
            silent.connect(f"\0{place}")
        server = subprocess.Popen(  # only now: both have gone before it hears of them
            [sys.executable, "-c", SERVER, str(listening.fileno())],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            pass_fds=[listening.fileno()],
        )
    monkeypatch.setenv(warm_python._PLACE, place)
    greeting = warm_python.start("greets")
    assert greeting.stdout.readline() == "here\n"
    greeting.end()
    assert server.stdin is not None
    server.stdin.close()
    assert server.wait() == 0
