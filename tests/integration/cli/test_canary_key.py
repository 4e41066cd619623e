"""A whole session with a key that must not turn up anywhere: must-show 6 of the providers' part."""

from __future__ import annotations

import base64
import os
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from infrastructure.persistence import key_file
from infrastructure.persistence.credentials import Credentials
from shared.paths import user_home
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call, error
from tests.ground.forked_commands import ForkedCommands

KEY = "sk-canary/4f8e+1b2c=9d7a"
PASSPHRASE = "a passphrase that nobody may see"
VARIABLE = "CIRCUIT_AI_OPENAI_COMPATIBLE_API_KEY"
SECRETS = (KEY, PASSPHRASE, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode().rstrip("="))


def leaks(folders: tuple[Path, ...]) -> list[str]:
    """Files and command lines that hold a secret in any spelling."""
    wanted = [secret.encode() for secret in SECRETS]
    found: list[str] = []
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    for path in (*files, *Path("/proc").glob("[0-9]*/cmdline")):
        try:
            data = path.read_bytes()
        except OSError:  # a process that has ended
            continue
        found += [str(path) for secret in wanted if secret in data]
    return found


def test_no_secret_is_anywhere_after_a_session(
    forked_commands: ForkedCommands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "p"
    project.mkdir()
    (project / "a.cir").write_text("* t\nV1 1 0 1\nR1 1 0 1k\n.op\n.end\n")
    monkeypatch.setattr(key_file, "_N", 2**12)
    keys = Credentials(user_home=user_home(), environment={})
    keys.unlock(PASSPHRASE)
    assert keys.set("openai-compatible", KEY, place="file") == "file"
    in_variable, in_file = {VARIABLE: KEY}, {"CIRCUIT_AI_KEYS_PASSPHRASE": PASSPHRASE}
    variables = dict(in_file)
    folders = (tmp_path, user_home(), Path.home(), Path(tempfile.gettempdir()))
    planted = tmp_path / "planted"
    planted.write_text(f"x{KEY}x")
    assert leaks(folders), "what is looked for would be found"
    planted.unlink()
    echo = f"bad key {KEY}, {quote(KEY, safe='')}, Authorization: Bearer {KEY}"
    scripts = [
        answer("", calls=[call("read_file", {"path": "a.cir"}), call("no_tool", {"k": 1}, id="c2")]),
        answer("", calls=[call("run_simulation", {"file_path": "a.cir"})]),
        answer("It works."),
        error(503, echo),
        answer("After a retry."),
        error(401, echo),
        answer("half of", stall=True),
        error(400, echo),
    ]
    seen: list[str] = []

    def script_for(_body: Any) -> Script:
        seen.extend(leaks(()))  # the command lines while a request is under way
        return scripts.pop(0)

    printed: list[str] = []

    def run(*argv: object, stop_after_s: float | None = None) -> int:
        outcome = forked_commands.run(*argv, environment=variables, interrupt_after_s=stop_after_s)
        printed.extend((outcome.stdout, outcome.stderr))
        return outcome.exit_code

    with FakeLLMServer(script_for) as server:
        through = ("--provider", "openai-compatible", "--model", "m", "--base-url", server.base_url)
        assert run("chat", project, "simulate a.cir", *through, "--json") == 0
        assert run("chat", project, "again", *through, "--json") == 0
        variables = in_variable
        assert run("chat", project, "again", *through) == 3
        assert run("chat", project, "again", *through, stop_after_s=1.5) == 130
        assert run("chat", project, "again", *through, "--json") == 3
        assert {one.headers["authorization"] for one in server.completions} == {f"Bearer {KEY}"}
        for action in (("sessions", "list"), ("traces", "list"), ("operations",)):
            run(*action, project, "--json")
        sessions = sorted((project / ".circuit_ai" / "conversations").glob("*.jsonl"))
        assert len(sessions) == 5
        for kind in ("json", "md", "txt"):
            target = tmp_path / f"export.{kind}"
            assert run("sessions", "export", project, sessions[-1].stem, "--output", target) == 0
            assert target.stat().st_size > 0
        assert run("doctor", "--json") in (0, 3)
        assert run("providers", "list", "--json") == 0
    with FakeLLMServer(models_script=error(401, echo)) as server:
        for more in ((), ("--json",)):
            argv = ("providers", "test", "openai-compatible", "--base-url", server.base_url, *more)
            assert run(*argv) == 3
        assert server.exchanges[-1].headers["authorization"] == f"Bearer {KEY}"
    assert run("providers", "key", "set", "zhipu", KEY) == 2
    assert run("providers", "key", "set", "zhipu", f"--key={KEY}") == 2
    assert run("chat", project, "x", "--api-key", "sk-canary-as-an-option") == 2
    text = "".join(printed)
    assert not scripts, "the whole session was played"
    assert not [secret for secret in (*SECRETS, "canary-as-an") if secret in text]
    assert [*seen, *leaks(folders)] == []
    assert os.environ.get(VARIABLE) is None
