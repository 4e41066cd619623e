"""Messages as JSON and back: nothing lost, whatever a model or a user put in."""

import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from domain.llm import messages as m
from domain.llm.transcript import role_of, text_of
from shared.safe_json import for_display, from_plain, join_surrogates, to_plain

ANY_TEXT = st.text(st.characters()).map(join_surrogates)  # with lone surrogates, NUL, U+2028 ...
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT
KEYS = ANY_TEXT | st.sampled_from(["$float", "$int", "$literal"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
# Hypothesis also tries words that stand in the code.
KNOWN_KEYS = {
    *("id", "type", "role", "content", "additional_kwargs", "name", "response_metadata", "tool_calls"),
    *("invalid_tool_calls", "usage_metadata", "tool_call_id", "status", "artifact"),
}
OBJECTS = st.dictionaries(KEYS.filter(lambda key: key != "tool_calls"), VALUES, max_size=4)
CONTENTS = ANY_TEXT | st.lists(ANY_TEXT | st.dictionaries(KEYS, VALUES, min_size=1, max_size=3), max_size=3)
IDS = st.none() | ANY_TEXT
CALLS = st.lists(
    st.fixed_dictionaries({"id": IDS, "name": ANY_TEXT, "args": OBJECTS, "type": st.just("tool_call")}),
    max_size=3,
)
INVALID = st.lists(
    st.fixed_dictionaries(
        {"id": IDS, "name": IDS, "args": IDS, "error": IDS, "type": st.just("invalid_tool_call")}
    ),
    max_size=2,
)
COUNTS = st.integers(min_value=0, max_value=10**9)
USAGE = st.none() | st.fixed_dictionaries(
    {"input_tokens": COUNTS, "output_tokens": COUNTS, "total_tokens": COUNTS},
    optional={"input_token_details": st.dictionaries(st.just("cache_read"), COUNTS, max_size=1)},
)
COMMON = {
    "content": CONTENTS,
    "id": IDS,
    "name": IDS,
    "additional_kwargs": OBJECTS,
    "response_metadata": OBJECTS,
}
MESSAGES = (
    st.builds(HumanMessage, **COMMON)
    | st.builds(SystemMessage, **COMMON)
    | st.builds(AIMessage, tool_calls=CALLS, invalid_tool_calls=INVALID, usage_metadata=USAGE, **COMMON)
    | st.builds(
        ToolMessage,
        tool_call_id=ANY_TEXT,
        status=st.sampled_from(["success", "error"]),
        artifact=VALUES,
        **COMMON,
    )
)


def through_a_file(data):
    """As a strict reader of UTF-8 JSON would get it."""
    written = json.dumps(data, allow_nan=False).encode("utf-8", "strict")
    assert b"\n" not in written

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(written, parse_constant=refuse)


@given(MESSAGES)
def test_every_message_comes_back_equal(message):
    data = m.message_to_dict(message)
    again = m.dict_to_message(through_a_file(data))
    assert again == message
    assert m.message_to_dict(again) == data


@given(MESSAGES)
def test_the_text_is_the_same_in_either_form(message):
    data = through_a_file(m.message_to_dict(message))
    assert text_of(data) == m.get_text(message)
    assert role_of(data) == m.get_role(message)


@given(VALUES)
def test_every_value_comes_back_equal(value):
    assert from_plain(through_a_file(to_plain(value))) == value


def test_nan_and_the_infinities_come_back():
    message = m.create_ai_message(
        "", tool_calls=[{"id": "C", "name": "t", "args": {"x": [math.nan, math.inf, -math.inf, -0.0]}}]
    )
    data = through_a_file(m.message_to_dict(message))
    assert data["tool_calls"][0]["args"]["x"][0] == {"$float": "NaN"}
    nan, *rest = m.dict_to_message(data).tool_calls[0]["args"]["x"]
    assert math.isnan(nan)
    assert rest[:2] == [math.inf, -math.inf]
    assert math.copysign(1, rest[2]) == -1


@pytest.mark.parametrize("number", [10**4000, 1 << 20_000, -(1 << 20_000)], ids=["4001", "6021", "-6021"])
def test_integers_that_python_itself_would_not_read_come_back(number):
    assert from_plain(through_a_file(to_plain({"n": [number]}))) == {"n": [number]}


@pytest.mark.parametrize("mark", [{"$int": "hello"}, {"$int": 3}, {"$float": "1"}, {"$literal": 7}])
def test_a_mark_that_makes_no_sense_is_left_alone(mark):
    assert from_plain(mark) == mark


def test_the_shape_of_the_file():
    message = m.create_ai_message(
        "hi",
        message_id="M",
        timestamp="T",
        tool_calls=[{"id": "C", "name": "read_file", "args": {"path": "a"}}],
    )
    assert m.message_to_dict(message) == {
        "id": "M",
        "type": "assistant",
        "content": "hi",
        "additional_kwargs": {"timestamp": "T"},
        "tool_calls": [{"id": "C", "name": "read_file", "args": {"path": "a"}}],
    }
    assert m.message_to_dict(
        m.create_tool_message("x", call_id="C", name="t", message_id="M", timestamp="T")
    ) == {
        "id": "M",
        "type": "tool",
        "content": "x",
        "additional_kwargs": {"timestamp": "T"},
        "name": "t",
        "tool_call_id": "C",
        "status": "success",
    }


@pytest.mark.parametrize(
    ("written", "role"),
    [("human", "user"), ("user", "user"), ("ai", "assistant"), ("assistant", "assistant"), ("tool", "tool")],
)
def test_langchains_names_of_types_are_read_too(written, role):
    assert m.get_role(m.dict_to_message({"type": written, "content": "x"})) == role
    assert m.get_role(m.dict_to_message({"role": written, "content": "x"})) == role


def test_what_is_missing_gets_its_default():
    message = m.dict_to_message({"type": "tool"})
    assert (message.content, message.tool_call_id, message.status, message.id) == ("", "", "success", None)
    assert m.dict_to_message({"type": "assistant", "content": None}).content == ""


@given(
    st.dictionaries(KEYS.filter(lambda key: key not in KNOWN_KEYS), VALUES, max_size=3),
    st.sampled_from(["user", "assistant", "system", "tool"]),
)
def test_unknown_keys_survive(unknown, role):
    plain = {key: to_plain(item) for key, item in unknown.items()}
    named = {"content_blocks": 1, "self": 2, "text": 3, "tool_call_chunks": 4, "lc": 5}
    data = {**plain, **named, "type": role}
    data.setdefault("content", "x")
    again = m.message_to_dict(m.dict_to_message(data))
    assert {key: again[key] for key in (*plain, *named)} == {key: data[key] for key in (*plain, *named)}


@given(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["user", "assistant", "system", "tool"])},
        optional=dict.fromkeys(
            [
                *("id", "content", "additional_kwargs", "name", "response_metadata", "tool_calls"),
                *("invalid_tool_calls", "usage_metadata", "tool_call_id", "status", "artifact"),
            ],
            VALUES.map(to_plain) | st.lists(st.dictionaries(st.sampled_from(["id", "name", "args"]), VALUES)),
        ),
    )
)
@example({"type": "user", "content": to_plain([math.inf])})
@example({"type": "assistant", "invalid_tool_calls": to_plain([math.inf])})
@example({"type": "assistant", "tool_calls": [{"name": "f", "args": to_plain(math.inf)}]})
@example({"type": "assistant", "usage_metadata": to_plain(math.inf)})
def test_any_json_of_a_known_type_is_read_without_an_error(data):
    message = m.dict_to_message(data)
    assert m.dict_to_message(m.message_to_dict(message)) == message


@pytest.mark.parametrize("kind", ["", "critic", None, 3, ["user"], {}])
def test_an_unknown_type_is_refused(kind):
    with pytest.raises(ValueError, match="no type of a message"):
        m.dict_to_message({"type": kind, "content": "x"})


def test_what_has_no_json_form_is_refused_when_written():
    with pytest.raises(TypeError, match="bytes"):
        m.message_to_dict(HumanMessage(content="x", additional_kwargs={"a": b"x"}))


def test_calls_with_arguments_that_are_no_object_are_kept_but_cannot_be_run():
    message = m.dict_to_message(
        {
            "type": "assistant",
            "content": "",
            "tool_calls": [{"id": "C", "name": "t", "args": [1]}, {"id": "D"}],
        }
    )
    assert message.tool_calls == []
    assert [(call["id"], call["args"]) for call in message.invalid_tool_calls] == [("C", "[1]"), ("D", None)]


def test_stored_values_for_other_programs():
    stored = to_plain({"n": math.inf, "i": 1 << 20_000, "$literal": 3, "list": [{"$float": "x"}, -math.inf]})
    shown = for_display(through_a_file(stored))
    assert (shown["n"], shown["$literal"], shown["list"]) == (math.inf, 3, [{"$float": "x"}, -math.inf])
    assert shown["i"].startswith("0x1000")
    assert for_display([[[1]]], depth=2) == [["..."]]
    assert for_display({"$float": "odd"}) == "odd"
