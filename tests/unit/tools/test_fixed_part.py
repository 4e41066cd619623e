"""What every request holds before the first word of a conversation: it has to follow the model's window.

Ordered are 2,500 tokens for small windows and 5,000 for large ones; the limits here leave a reserve for
what a project adds (a diagnostic, a goal, a short circuit).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from application.agent.request import with_rule_of_calls
from application.tool_execution.executor import ToolExecutor
from application.tool_execution.other_names import OTHER_NAMES, own_name
from application.tool_execution.registry import TOOLS
from domain.llm.chat import ChatRequest, ModelAbilities, WireMessage, room_of
from domain.llm.context_block import MAIN_CIRCUIT, ContextPart, SystemPromptInjector, assemble, context_budget
from domain.llm.tokens import count_tokens
from infrastructure.llm_adapters.prompted_tools import as_prompted
from infrastructure.persistence.prompt_files import PromptFiles

WINDOWS = [
    pytest.param(8_192, "yes", 2_300, id="8k"),
    pytest.param(16_000, "yes", 2_300, id="16k"),
    pytest.param(8_192, "prompted", 2_300, id="prompted"),
    pytest.param(32_768, "yes", 4_900, id="32k"),
    pytest.param(1_000_000, "yes", 4_900, id="1M"),
    pytest.param(None, None, 4_900, id="unknown"),
]


@pytest.mark.parametrize(("window", "tools", "most"), WINDOWS)
def test_the_fixed_part_follows_the_window(
    window: int | None, tools: str | None, most: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    room = room_of(ModelAbilities(context_tokens=window, tools=tools))
    schemas = ToolExecutor(TOOLS).schemas(tool_set=room.tool_set, without=("web_search",))
    library = PromptFiles(user_home=tmp_path / "own").load()
    system = (
        SystemPromptInjector(library).inject(task="FREE_WORK_SYSTEM", values={}, wording=room.wording).text
    )
    facts = ["Project folder: amp", "Files: amp.cir (2 kB), notes.md", f"{MAIN_CIRCUIT}amp.cir"]
    part = ContextPart(name="project", forms=(tuple(facts),))
    context = with_rule_of_calls(assemble([part], context_budget(room.window)).text, 5)
    request = ChatRequest(
        messages=(WireMessage(role="system", text=system), WireMessage(role="user", text=context)),
        tools=schemas,
    )
    if tools == "prompted":
        request = as_prompted(request)
    messages = sum(count_tokens(message.text) for message in request.messages)
    described = count_tokens(json.dumps(request.tools, ensure_ascii=False)) if request.tools else 0
    with capsys.disabled():
        print(f"\n  {window}: {messages} of text + {described} of {len(schemas)} tools ", end="")
    assert messages + described <= most


def test_each_other_name_is_that_of_a_tool() -> None:
    names = {tool.name for tool in TOOLS}
    assert OTHER_NAMES.isdisjoint(names)
    assert {own_name(name) for name in OTHER_NAMES} <= names
