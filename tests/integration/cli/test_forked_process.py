"""A command under way, as tests of signals and terminals have it: nothing is lost, its end is known."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.ground.forked_commands import ForkedCommands

SLOW = "slow\nV1 a 0 SIN(0 1 1k)\nR1 a b 1k\nC1 b 0 1n\n.tran 10n 1000 0 10n\n.end\n"


def test_it_is_a_process_of_its_own_that_leads_its_session(
    forked_commands: ForkedCommands, tmp_path: Path
) -> None:
    with forked_commands.start("tool", "read_file", "-", "--project", tmp_path) as process:
        assert process.poll() is None
        assert os.getsid(process.pid) == os.getpgid(process.pid) == process.pid
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0)
        assert process.stdin is not None
        process.stdin.write('{"path": "none.cir"}')
        out, _ = process.communicate(timeout=50)
    assert (
        process.returncode
        == forked_commands.run("tool", "read_file", '{"path": "none.cir"}', "--project", tmp_path).exit_code
    )
    assert json.loads(out)["success"] is False


def test_what_was_said_before_a_time_out_is_not_lost(forked_commands: ForkedCommands, tmp_path: Path) -> None:
    (tmp_path / "slow.cir").write_text(SLOW)
    with forked_commands.start("simulate", tmp_path / "slow.cir", "--json") as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(timeout=0.05)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=50)  # what it says of half a result is another's matter
    assert process.returncode == 130
    assert json.loads(out)["errors"][0]["error_type"] == "stopped"


def test_leaving_its_context_ends_it_and_what_it_started(
    forked_commands: ForkedCommands, tmp_path: Path
) -> None:
    with forked_commands.start("tool", "read_file", "-", "--project", tmp_path) as process:
        pid = process.pid
    assert process.returncode == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
