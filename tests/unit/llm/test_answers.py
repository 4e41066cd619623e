"""Which answers are calls, and under which ids and arguments they are accepted."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk

from domain.llm.answers import accept_calls, calls_in_text, unrun_call, wire_calls_of
from domain.llm.chat import WireToolCall
from domain.llm.json_repair import parse_arguments
from tests.ground.cases import for_each

KNOWN = {"read_file", "patch_file", "run_simulation"}
CALL = '{"tool": "read_file", "arguments": {"path": "amp.cir"}}'
READ = ("read_file", {"path": "amp.cir"})


def found(text: str) -> list[tuple[str, object]]:
    calls, _ = calls_in_text(text, KNOWN)
    return [(call.name, parse_arguments(call.arguments)) for call in calls]


@for_each(
    "text",
    [
        CALL,
        f"\n  {CALL}\n",
        '{"name": "read_file", "parameters": {"path": "amp.cir"}}',
        '{"function": "read_file", "args": {"path": "amp.cir"}}',
        '{"tool_name": "read_file", "arguments": {"path": "amp.cir"}}',
        '{"name": "functions.read_file", "arguments": {"path": "amp.cir"}}',
        '{"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '
        '"{\\"path\\": \\"amp.cir\\"}"}}',
        '{"tool_calls": [{"name": "read_file", "arguments": {"path": "amp.cir"}}]}',
        f"[{CALL}]",
        f"```json\n{CALL}\n```",
        f"```tool_call\n{CALL}\n```",
        f"```\n{CALL}\n```",
        f"~~~json\n{CALL}\n~~~",
        f"<tool_call>{CALL}</tool_call>",
        f"<tool_call>\n{CALL}\n</tool_call>\n",
        f"[TOOL_CALLS]{CALL}",
        f"<|python_tag|>{CALL}",
        f"I'll read the file first.\n```json\n{CALL}\n```\n",
        f"Reading: {CALL}",
        f"我先看一下文件。\n{CALL}",
        f"<think>Should I?\n\nFor example, I could read it.</think>\n{CALL}",
        f"The file is long. It has two stages.\n\nThen there is the supply.\n<tool_call>{CALL}</tool_call>",
        "{'tool': 'read_file', 'arguments': {'path': 'amp.cir',},}",
        f"Sure! I'll do it. One moment.\n{CALL}",
        '{"tool": "read_file", "input": {"path": "amp.cir"}}',
        '{"tool": "read_file", "path": "amp.cir"}',
        "I look.\n<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>amp.cir</arg_value></tool_call>",
        "<tool_call>\n<function=read_file>\n<parameter=path>\namp.cir\n</parameter>\n</function>\n</tool_call>",
        "First the file. Then the rest.\n\n<read_file>\n<path>amp.cir</path>\n</read_file>\nDone soon.",
        'Thought: I need it.\nAction: read_file\nAction Input: {"path": "amp.cir"}\nObservation: ...',
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n"
        '{"path": "amp.cir"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        'I read it now:\n\nread_file(path="amp.cir")\n',
        "```json\n{“tool”: “read_file”, “arguments”: {“path”: “amp.cir”}}\n```",
        f"```json\n{CALL}\n```\nI will go on when I have the file.",
        f"好的。我来看看。\n```json\n{CALL}\n```\n等待结果。",
        f"I read the file.\n\nThen I see.\n\n```json\n{CALL}\n```",
        f"<tool_call>{CALL}</tool_call> I wait for the result.",
        f"<tool_call>{CALL}",
        f"<tools>\n{CALL}\n</tools>",
        'Action: read_file\nAction Input:\n```json\n{"path": "amp.cir"}\n```',
        "Action: read_file\nAction Input: {'path': 'amp.cir',}\nObservation: Two stages.\nFinal Answer: Two.",
        '{"action": "read_file", "action_input": {"path": "amp.cir"}}',
        '{"read_file": {"path": "amp.cir"}}',
        '```tool_code\nprint(read_file(path="amp.cir"))\n```',
        '[read_file(path="amp.cir")]',
        '<invoke name="read_file"><parameter name="path">amp.cir</parameter></invoke>',
        'I look.\n<function_calls>\n<invoke name="read_file">\n<parameter name="path">amp.cir</parameter>\n'
        "</invoke>\n</function_calls>",
        'functions.read_file:0{"path": "amp.cir"}',
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>"
        '{"path": "amp.cir"}<|tool_call_end|><|tool_calls_section_end|>',
        'to=functions.read_file <|constrain|>json<|message|>{"path": "amp.cir"}',
    ],
)
def test_calls_written_as_text_are_found(text: str) -> None:
    assert found(text) == [READ]
    assert "Final Answer" not in calls_in_text(text, KNOWN)[1]


@for_each(
    "text",
    [
        "",
        'read_file(**{"path": "amp.cir"})',
        "The circuit is right.",
        f"For example:\n```json\n{CALL}\n```",
        f"例如：\n```json\n{CALL}\n```",
        f"A call looks like this:\n{CALL}",
        f"The format would be\n```json\n{CALL}\n```",
        f"```json\n{CALL}\n```\nThis reads the file amp.cir.",
        f"```json\n{CALL}\n```\nand then\n```json\n{CALL}\n```",
        f"There are two ways. The first is this one.\n```json\n{CALL}\n```",
        f"One line\nand another\n```json\n{CALL}\n```",
        f"You call it with `{CALL}`.",
        f"Here is an example of a call: <tool_call>{CALL}</tool_call>",
        f"Use `<tool_call>{CALL}</tool_call>` for that.",
        f"```\n<tool_call>{CALL}</tool_call>\n```",
        f"```python\nprint({CALL})\n```",
        f"```spice\n{CALL}\n```",
        f"{'x' * 201}\n{CALL}",
        '{"tool": "delete_everything", "arguments": {}}',
        f'[{CALL}, {{"tool": "delete_everything"}}]',
        '{"name": "read_file", "value": "10k"}',
        '{"name": "read_file", "arguments": {}, "comment": "not run"}',
        '{"name": "read_file", "tool": "read_file"}',
        '{"name": "read_file", "arguments": [1]}',
        '{"name": ["read_file"], "arguments": {}}',
        '{"tool": "delete_everything", "arguments": {"path": ',
        "[1] See the data sheet.",
        "[]",
        "{}",
        "```json\n```",
        "<tool_call></tool_call>",
        "<tool_call>not json</tool_call>",
    ],
)
def test_examples_and_other_text_are_no_calls(text: str) -> None:
    assert calls_in_text(text, KNOWN) == ((), text)


def test_a_marked_call_of_a_tool_there_is_not_is_answered_as_one_that_was_sent() -> None:
    text = '<tool_call>\n{"name": "SetGoal", "parameters": {"file": "amp.cir"}}\n</tool_call>'
    assert found(text) == [("SetGoal", {"file": "amp.cir"})]
    assert found(text.replace('"name": "SetGoal"', '"name": "not a tool"')) == []


@for_each(
    ("text", "name"),
    [
        (f"```json\n{CALL}\n```\nThis reads the file amp.cir.", "read_file"),
        (f"```python\n{CALL}\n```", "read_file"),
        (f"{'x' * 201}\n{CALL}", "read_file"),
        (f"One line\nand another\n```json\n{CALL}\n```", "read_file"),
        ("First:\n<patch_file>R1 is 2k</patch_file>", "patch_file"),
        (f"For example:\n```json\n{CALL}\n```", ""),
        (f"You call it with `{CALL}`.", ""),
        ('{"tool": "delete_everything", "arguments": {}}', ""),
        ("R1 sets the gain; read_file is a tool.", ""),
    ],
)
def test_what_looks_like_a_call_and_is_not_run_is_answered(text: str, name: str) -> None:
    assert calls_in_text(text, KNOWN) == ((), text)
    assert unrun_call(text, KNOWN) == name


def test_two_fenced_calls_with_sentences_around_both_run() -> None:
    second = '{"name": "run_simulation"}'
    text = f"First I read.\n```json\n{CALL}\n```\nThen I simulate.\n```json\n{second}\n```\nI wait."
    calls, rest = calls_in_text(text, KNOWN)
    assert [call.name for call in calls] == ["read_file", "run_simulation"]
    assert rest.split("\n\n") == ["First I read.", "Then I simulate.", "I wait."]


def test_several_calls_keep_their_order_and_the_lead_in() -> None:
    second = '{"name": "run_simulation"}'
    text = f"I read, then simulate.\n<tool_call>{CALL}</tool_call>\n<tool_call>{second}</tool_call>"
    calls, rest = calls_in_text(text, KNOWN)
    assert [call.name for call in calls] == ["read_file", "run_simulation"]
    assert calls[1].arguments == "{}"
    assert rest == "I read, then simulate."


def test_a_plain_call_runs_with_words_of_its_caller_on_both_sides() -> None:
    second = '{"name": "run_simulation", "arguments": {}}'
    text = f"I see it: 1M means milli. I'll fix it now.\n{CALL}\n{second}\nThe simulation should work now."
    calls, rest = calls_in_text(text, KNOWN)
    assert [call.name for call in calls] == ["read_file", "run_simulation"]
    assert rest == "I see it: 1M means milli. I'll fix it now.\n\nThe simulation should work now."
    for shown in (f"{CALL}\nThis is the format you could use.", f"{CALL}\n{'Words. ' * 40}"):
        assert not [
            call for call in calls_in_text(shown, KNOWN)[0] if call.arguments == '{"path": "amp.cir"}'
        ]


def test_thinking_stays_in_the_text() -> None:
    assert calls_in_text(f"<think>hm</think>{CALL}", KNOWN)[1] == "<think>hm</think>"


@pytest.mark.parametrize("between", ["", "\n", ",\n", " \n\n"])
def test_plain_calls_one_after_the_other(between: str) -> None:
    calls, rest = calls_in_text(f'{CALL}{between}{{"name": "run_simulation"}}', KNOWN)
    assert [call.name for call in calls] == ["read_file", "run_simulation"]
    assert rest == ""


@pytest.mark.parametrize(
    "text", [CALL[:-1], CALL[:-3], f"```json\n{CALL[:-1]}\n```", f"我来读取：\n{CALL[:-2]}"]
)
def test_plain_call_with_broken_json_is_fed_back(text: str) -> None:
    calls, _ = calls_in_text(text, KNOWN)
    [accepted] = accept_calls(calls, lambda: "01")
    assert (accepted.name, accepted.arguments) == ("read_file", {})
    assert accepted.problem


def test_marked_call_with_broken_json_is_fed_back() -> None:
    calls, _ = calls_in_text('<tool_call>{"name": "patch_file", "arguments": {"path": </tool_call>', KNOWN)
    [accepted] = accept_calls(calls, lambda: "01")
    assert (accepted.name, accepted.arguments) == ("patch_file", {})
    assert "cut off" in accepted.problem


@given(st.text(alphabet="{}[]\"':,`\n <>/ntool_callname例", max_size=80))
def test_no_text_makes_it_raise_or_call_a_tool_that_does_not_exist(text: str) -> None:
    calls, rest = calls_in_text(text, {"name"})
    assert all(call.name == "name" for call in calls)
    assert calls or rest == text


def test_each_call_gets_an_id_of_its_own() -> None:
    ids = map(str, itertools.count())
    wire = [
        WireToolCall(provider_id="call_1", name=" read_file ", arguments=text) for text in ("{}", '{"a":')
    ]
    first, second = accept_calls(wire, lambda: next(ids))
    assert (first.call_id, first.provider_id, first.name, first.problem) == ("0", "call_1", "read_file", "")
    assert (second.call_id, second.provider_id, second.text) == ("1", "call_1", '{"a":')
    assert second.arguments == {}
    assert "cut off" in second.problem


def test_call_without_a_name_is_a_problem() -> None:
    [call] = accept_calls([WireToolCall(provider_id="", name="", arguments="{}")], lambda: "0")
    assert "names no tool" in call.problem


def test_streamed_arguments_are_taken_as_sent_not_as_completed() -> None:
    message = AIMessageChunk(
        content="",
        tool_call_chunks=[tool_call_chunk(name="read_file", args='{"path": "amp', id=None, index=0)],
    )
    assert message.tool_calls[0]["args"] == {"path": "amp"}  # LangChain's guess
    assert wire_calls_of(message) == (
        WireToolCall(provider_id="", name="read_file", arguments='{"path": "amp'),
    )
