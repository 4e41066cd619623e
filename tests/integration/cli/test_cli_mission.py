"""The mission on the command line: launch on a folder, switch modes both ways, templates of one's own."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from application.conversation.prompting import PromptChanges, Prompting
from domain.llm.prompts.catalogue import TASKS
from infrastructure.persistence.prompt_files import PromptFiles
from shared.paths import user_home
from tests.fakes.designing_model import DesigningModel
from tests.fakes.llm_server import FakeLLMServer, Script, call
from tests.ground.forked_commands import ForkedCommands
from tests.integration.cli.conftest import Cli
from tests.integration.cli.test_cli_terminal import terminal
from tests.integration.design.test_design_by_model import WIRES

WISH = "A common-emitter amplifier with a gain of at least 20 dB at 10 kHz"
FILTER = "Design a second-order Butterworth low-pass filter with a cutoff of 1 kHz"


def own(task: str) -> str:
    return f"House rule for {task}: parts of 1 percent."


def edit_every_template() -> None:
    async def apply() -> None:
        prompts = Prompting(store=PromptFiles(user_home=user_home()))
        texts = (await prompts.load()).templates
        edited = {task: f"{texts[task].content}\n\n{own(task)}" for task in TASKS}
        await prompts.apply(PromptChanges(templates=edited))

    asyncio.run(apply())


@pytest.mark.parametrize(
    "provider",
    [
        pytest.param(name, marks=() if name == "builtin" else pytest.mark.torture)
        for name in (*WIRES, "builtin")
    ],
)
def test_a_design_is_left_for_free_work_and_met_behind_it(
    provider: str, cli: Cli, forked_commands: ForkedCommands, tmp_path: Path
) -> None:
    model = DesigningModel()

    def script(body: Any) -> Script:
        said = model(body)
        calls = [call(name, arguments, id=f"c{n}") for n, (name, arguments) in enumerate(said.calls)]
        return WIRES[provider](said.text, calls=calls)

    project = tmp_path / "amplifier"
    project.mkdir()
    edit_every_template()
    is_model = provider != "builtin"
    with FakeLLMServer(script, models=["m"]) as server:
        url = server.root_url if provider == "ollama" else server.base_url
        options = ["--provider", provider, *(["--model", "m", "--base-url", url] if is_model else [])]
        wish = WISH if is_model else FILTER
        with terminal("design", str(project), wish, *options, commands=forked_commands) as screen:
            screen.wait_for("Design to these goals?")
            screen.type("\n")
            screen.wait_for("[Y/n] " if is_model else "Accept this circuit?")
            screen.wait_for("Try another round?" if is_model else "Accept this circuit?")
            screen.type("why so little gain?\n")
            screen.wait_for("sets the gain." if is_model else "?\r\n")
            screen.process.send_signal(signal.SIGINT)  # left where it asks
            assert screen.finish() == 130
        (session,) = [each["id"] for each in cli("sessions", "list", project, "--json").document["sessions"]]
        chat = cli("chat", project, "What do you think?", "--session", session, *options)
        assert chat.exit_code == 0, chat.stdout + chat.stderr
        met = cli("design", project, "--resume", "--yes", "--json", *options)
    assert met.exit_code == 0, met.stdout + met.stderr
    assert met.events[-1]["goals_met"]
    if is_model:
        assert model.tasks[:4] == ["goals", "design", "analysis", "question"]
        assert {"chat", "optimize"} <= set(model.tasks)
        for request in model.seen:
            held = [task for task in TASKS if own(task) in request.system]
            assert held == [TEMPLATE_OF[request.task]]


TEMPLATE_OF = {
    "goals": "EXTRACT_DESIGN_GOALS",
    "design": "INITIAL_DESIGN",
    "analysis": "ANALYZE_SIMULATION",
    "question": "GENERAL_CONVERSATION",
    "optimize": "OPTIMIZE_PARAMETERS",
    "chat": "FREE_WORK_SYSTEM",
}
