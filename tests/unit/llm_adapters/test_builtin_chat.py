"""The built-in model: from a conversation to the next call or the answer, and nothing kept between."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from domain.llm.chat import ChatRequest, StreamChunk, Usage, WireMessage, WireToolCall
from domain.llm.context_block import MAIN_CIRCUIT
from infrastructure.llm_adapters.builtin.chat import MOST_ROUNDS, BuiltinChatClient, in_words
from infrastructure.llm_adapters.builtin.plans import Speech
from presentation.translation import Translator
from shared.errors import CircuitAIError
from shared.message import msg
from tests.ground.cases import for_each

TOOLS = (
    "list_project_files",
    "read_file",
    "rewrite_file",
    "patch_file",
    "delete_file",
    "run_simulation",
    "inspect_data",
    "analyze_file",
    "search_project",
)
DECK = "RC\nVin in 0 AC 1\nR1 in out 1k\nC1 out 0 1n\n.ac dec 20 1 10meg\n.end"
SHOWN = f"[amp.cir: lines 1-6 of 6]\n{DECK}"
RAN = "amp.cir: completed, result .circuit_ai/sim_results/1\nbw = 158.8 Hz\nac: 141 points; v(in), v(out)"


def request(*messages: WireMessage, tools: Sequence[str] = TOOLS) -> ChatRequest:
    schemas = tuple({"type": "function", "function": {"name": name}} for name in tools)
    return ChatRequest(messages=(WireMessage(role="system", text="You design."), *messages), tools=schemas)


def user(text: str, *circuits: str) -> WireMessage:
    listed = "".join(f"\n- {name}" for name in circuits)
    data = f'<data name="project">\nProject folder: p{listed}\n</data>\n\n' if circuits else ""
    return WireMessage(role="user", text=data + text)


def exchange(*outcomes: str) -> list[WireMessage]:
    """Calls made before and what the tools answered; which they were does not matter to the model."""
    messages = []
    for number, outcome in enumerate(outcomes):
        call = WireToolCall(provider_id=f"id{number}", name="tool", arguments="{}")
        messages += [
            WireMessage(role="assistant", tool_calls=(call,)),
            WireMessage(role="tool", text=outcome, tool_call_id=f"id{number}", name="tool"),
        ]
    return messages


async def chunks(given: ChatRequest) -> list[StreamChunk]:
    return [chunk async for chunk in BuiltinChatClient(speaker=Translator).stream(given)]


async def next_call(text: str, *outcomes: str, circuits: Sequence[str] = ()) -> tuple[str, dict[str, Any]]:
    *_, last = await chunks(request(user(text, *circuits), *exchange(*outcomes)))
    assert last.finish_reason == "tool_calls"
    [call] = last.tool_calls
    return call.name, json.loads(call.arguments)


async def answer(
    text: str, *outcomes: str, circuits: Sequence[str] = (), tools: Sequence[str] = TOOLS
) -> str:
    pieces = await chunks(request(user(text, *circuits), *exchange(*outcomes), tools=tools))
    assert pieces[-1].finish_reason == "stop", pieces[-1].tool_calls
    return "".join(piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("simulate amp.cir", ("run_simulation", {"file_path": "amp.cir"})),
        ("simulate", ("run_simulation", {})),
        ("对 amp.cir 做交流分析", ("run_simulation", {"file_path": "amp.cir", "analysis_type": "ac"})),
        (
            "what if R1=2k in amp.cir",
            ("analyze_file", {"path": "amp.cir"}),
        ),
        ("show amp.cir", ("read_file", {"path": "amp.cir"})),
        ("show lines 2-3 of amp.cir", ("read_file", {"path": "amp.cir", "start_line": 2, "end_line": 3})),
        ("change R1 to 2k in amp.cir", ("read_file", {"path": "amp.cir"})),
        ("please delete the file notes.md", ("delete_file", {"path": "notes.md"})),
        ("请把 notes.md 删除", ("delete_file", {"path": "notes.md"})),
        ("list the files", ("list_project_files", {})),
        ("search vdd", ("search_project", {"query": "vdd"})),
        ("where is R1 used", ("search_project", {"query": "R1", "kind": "uses"})),
        ("analyze amp.cir", ("analyze_file", {"file_path": "amp.cir"})),
        (
            "measure bandwidth(v(out)) of amp.cir",
            ("inspect_data", {"file_path": "amp.cir", "expressions": ["bandwidth(v(out))"]}),
        ),
        ("Design a 1 kHz RC low-pass filter", ("list_project_files", {})),
    ],
)
async def test_first_call_of_each_command(text: str, call: tuple[str, dict[str, Any]]) -> None:
    assert await next_call(text) == call


@pytest.mark.parametrize("text", ["delete b.cir and long_a.cir", "请把 b.cir、long_a.cir 删掉"])
async def test_several_files_are_deleted_one_by_one(text: str) -> None:
    listed = ["long_a.cir", "b.cir"]
    assert await next_call(text, circuits=listed) == ("delete_file", {"path": "b.cir"})
    second = await next_call(text, "Error (refused_by_user): no", circuits=listed)
    assert second == ("delete_file", {"path": "long_a.cir"})
    said = await answer(text, "Error (refused_by_user): no", "Deleted long_a.cir.", circuits=listed)
    first, last = said.split("\n\n")
    assert "b.cir" in first
    assert "long_a.cir" in last


@pytest.mark.parametrize(
    "text",
    [
        "remove R1 from amp.cir",
        "delete line 3 of amp.cir",
        "don't delete amp.cir",
        "delete amp.cir and not b.cir",
        "delete all files other than amp.cir and b.cir",
    ],
)
async def test_only_a_whole_wish_deletes_a_file(text: str) -> None:
    assert "I do not understand that" in await answer(text, circuits=["amp.cir"])


async def test_the_main_circuit_is_meant_when_none_is_named() -> None:
    listed = ["a.cir", "b.cir"]
    assert "Say which one you mean" in await answer("set R1 to 2k", circuits=listed)
    told = user("set R1 to 2k and simulate", *listed)
    told = replace(told, text=told.text.replace("\n</data>", f"\n{MAIN_CIRCUIT}b.cir\n</data>"))
    *_, last = await chunks(request(told))
    assert json.loads(last.tool_calls[0].arguments) == {"path": "b.cir"}


def patched(said: str, before: str, after: str) -> list[WireMessage]:
    """A turn that changed a line of a.cir."""
    arguments = json.dumps({"path": "a.cir", "search": before, "replace": after})
    call = WireToolCall(provider_id=said, name="patch_file", arguments=arguments)
    return [
        WireMessage(role="user", text=said),
        WireMessage(role="assistant", tool_calls=(call,)),
        WireMessage(role="tool", text="Changed", tool_call_id=said, name="patch_file"),
        WireMessage(role="assistant", text="Done."),
    ]


async def test_this_circuit_is_the_one_in_front_whatever_was_spoken_of() -> None:
    def told(text: str) -> WireMessage:
        message = user(text, "a.cir", "b.cir", "amp.cir")
        front = "\nIn front of the user: b.cir, cursor in line 1, column 1\n</data>"
        return replace(message, text=message.text.replace("\n</data>", front))

    async def circuit(*messages: WireMessage) -> str:
        *_, last = await chunks(request(*messages))
        return str(json.loads(last.tool_calls[0].arguments)["path"])

    named, meant = (
        patched("set R1 to 2k in a.cir", "R1 1 0 1k", "R1 1 0 2k"),
        patched("set R1 to 2k", "1", "2"),
    )
    assert await circuit(told("set R1 to 3k")) == "b.cir"
    assert await circuit(*named, told("set C1 to 3n")) == "a.cir"
    assert await circuit(*named, told("set C1 to 3n in this circuit")) == "b.cir"
    assert await circuit(*meant, told("set C1 to 3n")) == "b.cir"  # a.cir was in front then


async def test_a_second_undo_goes_one_step_further_back() -> None:
    first = patched("set R1 to 2k in a.cir", "R1 1 0 1k", "R1 1 0 2k")
    second = patched("set R1 to 3k", "R1 1 0 2k", "R1 1 0 3k")
    undone = patched("undo", "R1 1 0 3k", "R1 1 0 2k")
    *_, last = await chunks(request(*first, *second, *undone, user("undo")))
    assert json.loads(last.tool_calls[0].arguments)["replace"] == "R1 1 0 1k"
    undone += patched("undo that", "R1 1 0 2k", "R1 1 0 1k")
    pieces = await chunks(request(*first, *second, *undone, user("undo")))
    assert "Nothing was changed" in "".join(piece.text for piece in pieces)


async def test_two_steps_back_are_the_changes_of_two_turns() -> None:
    first = patched("set R1 to 2k in a.cir", "R1 1 0 1k", "R1 1 0 2k")
    second = patched("set R1 to 3k", "R1 1 0 2k", "R1 1 0 3k")
    back = patched("go back two steps", "R1 1 0 3k", "R1 1 0 2k")
    *_, last = await chunks(
        request(
            *first,
            *second,
            *back[:3],
        )
    )
    assert json.loads(last.tool_calls[0].arguments)["replace"] == "R1 1 0 1k"
    pieces = await chunks(request(*first, *second, *back, user("undo")))
    assert "Nothing was changed" in "".join(piece.text for piece in pieces)


async def test_change_is_one_patch_of_exactly_that_card() -> None:
    call = await next_call("把 amp.cir 的 R1 改成 2k", SHOWN)
    assert call == ("patch_file", {"path": "amp.cir", "search": "R1 in out 1k", "replace": "R1 in out 2k"})
    said = await answer("把 amp.cir 的 R1 改成 2k", SHOWN, "Changed amp.cir: +1 -1 lines.")
    assert said == "amp.cir 中的“R1 in out 1k”已改为“R1 in out 2k”。"


async def test_change_and_simulate_runs_afterwards() -> None:
    text = "set R1 to 2k and C1 to 2n in amp.cir and simulate"
    _, patch = await next_call(text, SHOWN)
    assert patch["replace"] == "R1 in out 2k\nC1 out 0 2n"
    assert await next_call(text, SHOWN, "Changed") == ("run_simulation", {"file_path": "amp.cir"})
    said = await answer(text, SHOWN, "Changed", RAN)
    assert "amp.cir was simulated without errors.\n- bw = 158.8 Hz" in said
    said = await answer(text, SHOWN, "Changed", f"{RAN}\nfour_v(out)_h9@3 = 7.34255e-05 V\nthd = 0.0843334 1")
    assert "\n- four_v(out)_h9@3 = 73.43 µV\n- thd = 0.08433\n" in f"{said}\n"


async def test_change_far_apart_is_two_patches() -> None:
    text = "set Vin to 2 and C1 to 2n in amp.cir"
    assert (await next_call(text, SHOWN))[1]["search"] == "Vin in 0 AC 1"
    assert (await next_call(text, SHOWN, "Changed"))[1]["search"] == "C1 out 0 1n"


async def test_cards_that_stand_twice_are_quoted_with_their_neighbours() -> None:
    deck = [
        "two stages",
        ".subckt a in out",
        "R1 in out 1k",
        ".ends",
        "R1 in out 1k",
        "* end of it",
        "X1 out y a",
        ".end",
    ]
    shown = "[amp.cir: lines 1-8 of 8]\n" + "\n".join(deck)
    _, patch = await next_call("change R1 to 2k in amp.cir", shown)
    assert patch["search"] == ".ends\nR1 in out 1k\n* end of it"
    assert patch["replace"] == ".ends\nR1 in out 2k\n* end of it"


async def test_element_of_one_subcircuit_is_found_there() -> None:
    shown = "[a.cir: lines 1-6 of 6]\nt\n.subckt s in out\nR7 in out\n+ 1k\n.ends\n.end"
    _, patch = await next_call("change R7 to 2k in a.cir", shown)
    assert (patch["search"], patch["replace"]) == ("+ 1k", "+ 2k")


async def test_long_file_is_read_by_its_places() -> None:
    begun = "[a.cir: lines 1-90 of 900]\ntitle\nR9 a b 1k"
    place = "[a.cir: lines 500-503 of 900]\nC8 a 0 1n\nR1 in out 1k\n* x\n[Found on 1 lines.]"
    text = "change R1 to 2k in a.cir"
    assert await next_call(text, begun) == ("read_file", {"path": "a.cir", "query": "R1"})
    assert (await next_call(text, begun, place))[1]["search"] == "R1 in out 1k"


async def test_change_without_a_file_takes_the_only_circuit() -> None:
    assert await next_call("set R1 to 2k", circuits=["amp.cir"]) == ("read_file", {"path": "amp.cir"})
    assert "a.cir, b.cir" in await answer("set R1 to 2k", circuits=["a.cir", "b.cir"])
    assert "no circuit" in await answer("set R1 to 2k")


async def test_unknown_name_and_bad_value_change_nothing() -> None:
    said = await answer("change R7 to 2k in amp.cir", SHOWN)
    assert "no element or parameter named R7" in said
    assert "R1" in said


async def test_value_that_is_there_already_is_said() -> None:
    assert await answer("set R1 to 1k in amp.cir", SHOWN) == "amp.cir already has these values."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("show amp.cir", "File amp.cir does not exist.\nSimilar names: amp2.cir."),
        ("显示 amp.cir", "文件 amp.cir 不存在。\n相近的名称有：amp2.cir。"),
    ],
)
async def test_failed_tool_is_reported_in_plain_words(text: str, said: str) -> None:
    outcome = "Error (file_not_found): File amp.cir does not exist.\nSimilar names: amp2.cir."
    assert await answer(text, outcome) == said


LISTED = "2 models\n" + "\n".join(
    f"{name}: {title}; VF < 1 V at 10 mA and VZ 12 V +-5 % at 21 mA; nodes: anode cathode"
    for name, title in (("D1N1", "rectifier, 40 V"), ("D1N2", "Zener diode, 12 V, 1 W"))
)
ALONE = (
    "Put this card into the circuit: .include 2N3904.lib (then 2N3904; nodes: collector base emitter). "
    "For use outside this program ...\n* 2N3904"
)


@pytest.mark.parametrize(
    ("text", "outcome", "said"),
    [
        (
            "有哪些稳压管",
            LISTED,
            "- D1N1：整流二极管，40 V；节点：阳极、阴极; VF < 1 V @ 10 mA, VZ 12 V ±5 % @ 21 mA",
        ),
        (
            "有没有 2N3904",
            ALONE,
            "在电路中加入语句 .include 2N3904.lib（再写 2N3904；节点：集电极、基极、发射极）。",
        ),
    ],
)
async def test_lines_of_the_library_are_in_the_words_of_the_answer(
    text: str, outcome: str, said: str
) -> None:
    assert said in (await answer(text, outcome, tools=(*TOOLS, "find_model"))).splitlines()


async def test_goals_of_free_work_are_in_the_words_of_the_answer() -> None:
    rows = (
        "| Goal | Expression | Asked | Value | Margin | Verdict |\n|---|---|---|---|---|---|\n"
        "| gain | x | 30 dB … 40 dB, aim 35 dB | 32 dB | +40 % | met |\n"
        "| bandwidth (wish) | y | ≥ 1 MHz | - | - | not measured: no crossing |"
    )
    tools = (*TOOLS, "check_goals")
    said = await answer("amp.cir 的目标都达到了吗", RAN, rows, circuits=("amp.cir",), tools=tools)
    assert said.splitlines()[1:] == [
        "- 增益：32 dB（要求 30 dB … 40 dB，标称 35 dB），达标，裕量 +40%",
        "- 带宽（期望）：-（要求 ≥ 1 MHz），未测得（no crossing），裕量 -",
    ]


def test_lists_and_sentences_have_the_marks_of_their_language() -> None:
    say = Translator("zh")
    speech = Speech(say=say, circuits=())
    assert speech.listed(["R1", msg("{name} {share}", name="C1", share="81 %")]) == "R1、C1 81%"
    assert speech.sentences(["带宽为 1 kHz。", "R1 小。", "Done.", "完"]) == "带宽为 1 kHz。R1 小。Done. 完"
    assert Speech(say=str, circuits=()).listed(["R1", "C1"]) == "R1, C1"


async def test_failed_simulation_shows_its_errors() -> None:
    outcome = (
        "Error (simulation_failed): The simulation of amp.cir failed: no model\namp.cir: failed, result x\n"
        "error: amp.cir:4: The model is missing. [missing-model] Advice: Add it.\nAdd it."
    )
    said = await answer("simulate amp.cir", outcome)
    assert said == (
        "The simulation failed:\n- amp.cir:4: The model is missing. [missing-model] Advice: Add it."
    )


async def test_measure_simulates_when_there_is_no_fresh_result() -> None:
    text = "measure bandwidth(v(out)) of amp.cir"
    for first in (
        "Error (no_result): There is no simulation result of amp.cir yet.",
        "Data of x (the circuit was changed since: run it again for new figures)\nbandwidth(v(out)) = 1 Hz",
    ):
        assert await next_call(text, first) == ("run_simulation", {"file_path": "amp.cir"})
        assert (await next_call(text, first, RAN))[0] == "inspect_data"
        said = await answer(text, first, RAN, "Data of x\nbandwidth(v(out)) = 158.8 Hz")
        assert said.endswith("- bandwidth(v(out)) = 158.8 Hz")
    assert (
        await answer(text, "Data of x\nbandwidth(v(out)) = 9123.45678 Hz")
        == "Measured:\n- bandwidth(v(out)) = 9.123 kHz"
    )


async def test_design_takes_a_free_name_and_judges_its_goals() -> None:
    text = "Design a 1 kHz RC low-pass filter"
    listing = "RC_LOW_PASS_filter.cir  90 bytes\nrc_low_pass_filter_2.cir/"
    name, written = await next_call(text, listing)
    assert (name, written["path"]) == ("rewrite_file", "rc_low_pass_filter_3.cir")
    assert written["content"].count("\n") > 5
    run = await next_call(text, listing, "Created")
    assert run == ("run_simulation", {"file_path": "rc_low_pass_filter_3.cir"})
    name, inspection = await next_call(text, listing, "Created", RAN)
    [expression] = inspection["expressions"]
    figures = f"Data of x\n{expression} = 1001.2 Hz"
    said = await answer(text, listing, "Created", RAN, figures)
    assert "all goals are met:\n- Corner, −3 dB: 1.001 kHz" in said


async def test_design_that_missed_is_corrected_once_and_reported_as_it_is() -> None:
    text = "Design a 1 kHz RC low-pass filter"
    _, inspection = await next_call(text, "(no files)", "Created", RAN)
    missed = f"Data of x\n{inspection['expressions'][0]} = 800 Hz"
    before = ["(no files)", "Created", RAN, missed]
    name, again = await next_call(text, *before)
    assert (name, again["path"]) == ("rewrite_file", "rc_low_pass_filter.cir")
    said = await answer(text, *before, "Changed", RAN, missed)
    assert "not all goals are met" in said
    assert "800 Hz" in said
    assert said.endswith("missed")


async def test_figure_that_cannot_be_had_is_no_goal_met() -> None:
    text = "设计一个 1 kHz 的 RC 低通滤波器"
    _, inspection = await next_call(text, "(no files)", "Created", RAN)
    unknown = f"Data of x\n{inspection['expressions'][0]}: the gain never falls"
    assert (await answer(text, "(no files)", "Created", RAN, unknown)).endswith("未达标")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("What's the weather like?", "Choose a language model (`providers` lists them)"),
        ("今天天气怎么样", "请选择语言模型"),
        ("what can you do", "simulate a circuit"),
        ("", "built-in designer, not a language model"),
        ("design a blocking oscillator at 1 MHz", "cannot design this kind of oscillator"),
        ("Design an RC low-pass", "does not give the cut-off frequency"),
        ("hello", "Hello!"),
        ("你好", "你好！"),
        ("谢谢", "不客气。"),
    ],
)
async def test_what_needs_no_tool_calls_none(text: str, part: str) -> None:
    said = await answer(text)
    assert part in said


async def test_it_never_goes_on_for_ever() -> None:
    said = await answer("Design a 1 kHz RC low-pass filter", *["whatever"] * MOST_ROUNDS)
    assert said
    later = await answer("simulate amp.cir", *[RAN] * 20)
    assert "bw = 158.8 Hz" in later


async def test_tool_that_is_not_offered_is_not_called() -> None:
    assert "run_simulation" in await answer("simulate amp.cir", tools=["read_file"])


async def test_only_the_newest_turn_counts_and_notes_of_the_program_do_not() -> None:
    messages = [
        user("change R1 to 2k in amp.cir"),
        *exchange(SHOWN, "Changed"),
        WireMessage(role="assistant", text="Done."),
        user("simulate amp.cir", "amp.cir"),
        WireMessage(role="user", text="(A note of the program, not of the user: finish soon.)"),
    ]
    *_, last = await chunks(request(*messages))
    assert [call.name for call in last.tool_calls] == ["run_simulation"]


async def test_results_are_matched_by_id_else_by_place() -> None:
    calls = tuple(WireToolCall(provider_id=name, name="tool", arguments="{}") for name in ("a", "b"))
    for first, second in (("a", "b"), ("", "")):
        results = [
            WireMessage(role="tool", text=SHOWN, tool_call_id=first),
            WireMessage(role="tool", text="Changed", tool_call_id=second),
        ]
        asked = user("change R1 to 2k in amp.cir")
        pieces = await chunks(request(asked, WireMessage(role="assistant", tool_calls=calls), *results))
        assert "“R1 in out 2k”" in "".join(piece.text for piece in pieces)


async def test_answers_stream_in_pieces_and_cost_nothing() -> None:
    pieces = await chunks(request(user("what can you do")))
    assert len(pieces) > 20
    assert all(piece.finish_reason is None for piece in pieces[:-1])
    assert pieces[-1].usage == Usage()
    assert await BuiltinChatClient().models() == ("builtin",)


def test_errors_of_the_editor_are_for_people() -> None:
    from domain.circuit.line_changes import value_changes

    deck = "t\n.subckt a x y\nR1 x y 1\n.ends\n.subckt b x y\nR1 x y 1\n.ends\nX1 1 0 a\nX2 1 0 b\n.end"
    with pytest.raises(CircuitAIError) as caught:
        value_changes(deck, [("R1", "2k")], has_title=True)
    assert caught.value.error_type == "ambiguous_element"
    assert "3, 6" in str(caught.value)


@for_each(
    ("said", "circuit", "rest"),
    [
        ("what limits the bandwidth of the common emitter amplifier?", 0, "what limits the bandwidth?"),
        ("make the ripple of the buck 5 mV", 1, "make the ripple 5 mV"),
        ("set a goal for the buck converter: ripple below 5 mV", 1, "set a goal: ripple below 5 mV"),
        ("共射放大器的增益在100kHz是多少", 0, "增益在100kHz是多少"),
        ("降压电路的纹波是多少", 1, "纹波是多少"),
        ("what is the gain?", None, "what is the gain?"),
        ("the buck or the amplifier?", None, "the buck or the amplifier?"),
    ],
)
def test_a_circuit_is_named_by_its_kind(said: str, circuit: int | None, rest: str) -> None:
    circuits = ("common_emitter_amplifier_gain_20_12V.cir", "buck_12V_5V_1A.cir")
    assert in_words(said, circuits) == ("" if circuit is None else circuits[circuit], rest)
    named = "rc低通.cir 的带宽受什么限制"  # a file's name, which is the name of a kind too
    assert in_words(named, ("rc低通.cir", *circuits)) == ("", named)


AMPLIFIER = "amp\nVCC vcc 0 12\nV1 in 0 AC 1 SIN(0 10m 1k)\nE1 out 0 in 0 10\n.ac dec 20 1 1k\n.end"


async def test_the_largest_swing_is_told_from_a_growing_sine() -> None:
    """A gain of 10 that stops at 4 V above and 5 V below."""
    outline = "circuit: amp\nnodes: vcc in out\nmade of:\n  supplies: vcc +12; inputs: in (V1); outputs: out"
    shown = f"[amp.cir: lines 1-6 of 6]\n{AMPLIFIER}"
    rows = []
    for at in range(41):
        size = 12 * 10 ** (at / 10 - 4)
        high, low = min(10 * size, 4), -min(10 * size, 5)
        rows.append(
            f"{at}: V1.amplitude={size:g} -> high={high:g} low={low:g} thd={0.5 if high == 4 else 0:g}"
        )
    study = "\n".join(["sweep of amp.cir: 41 runs, 0 failed", *rows])
    asked = "how far can the output swing before it clips?"
    tools = (*TOOLS, "run_study")

    said = await answer(asked, outline, shown, study, circuits=["amp.cir"], tools=tools)

    # between 8.777 V (4 V up and 4.8 V down of 4.8 V: 0.7 dB less) and 9 V
    assert "swings about 8.813 V" in said, said
    assert "the upper side is cut first" in said
    assert "passes 1 % at 8.777 V" in said


@pytest.mark.parametrize(
    ("part", "functions"), [("R1 in out 1k", ["pp", "rms", "avg"]), ("D1 in out DX", ["avg"])]
)
async def test_of_a_wave_its_size_is_measured_beside_its_mean(part: str, functions: list[str]) -> None:
    deck = f"rc\nV1 in 0 SIN(0 1 1k)\n{part}\nC1 out 0 100n\n.tran 10u 5m\n.end"
    outline = "circuit: rc\nnodes: in out\nanalyses:\n  .tran 10u 5m (line 5)\nmade of:\n  outputs: out"
    ran = "rc.cir: completed, result .circuit_ai/sim_results/1\ntran: 500 points; v(in), v(out)"
    shown = f"[rc.cir: lines 1-6 of 6]\n{deck}"
    name, arguments = await next_call("measure the output", outline, shown, ran, circuits=["rc.cir"])
    assert name == "inspect_data"
    assert [text.partition("(")[0] for text in arguments["expressions"]] == functions
