"""What a model is sent: pairs whole, old turns shortened, data fenced."""

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from application.agent.conversation import Conversation
from application.agent.request import HISTORY_LIMIT, OLD_RESULT_LIMIT, request_messages
from domain.llm.messages import create_ai_message, create_human_message, create_tool_message
from domain.llm.system_prompt import fence_data
from tests.fakes.memory_transcript import MemoryTranscript


async def conversation_of(*messages: BaseMessage) -> Conversation:
    conversation = await Conversation.load(MemoryTranscript())
    for message in messages:
        if isinstance(message, HumanMessage):
            await conversation.begin_turn(message)
        else:
            await conversation.add(message, step="")
    return conversation


def calling(*ids: str, text: str = "", content: str = "x") -> AIMessage:
    calls = [{"id": id_, "name": "rewrite_file", "args": {"path": "a", "content": content}} for id_ in ids]
    return create_ai_message(text, tool_calls=calls)


async def test_results_follow_their_answer_in_the_order_of_its_calls() -> None:
    conversation = await conversation_of(
        create_human_message("Q"),
        calling("C1", "C2"),
        create_tool_message("two", call_id="C2", name="rewrite_file"),
        create_tool_message("one", call_id="C1", name="rewrite_file"),
    )
    messages = request_messages(conversation.record, context="")
    assert isinstance(messages[0], SystemMessage)
    assert [message.content for message in messages[1:]] == ["Q", "", "one", "two"]


async def test_a_call_without_result_is_not_sent() -> None:
    conversation = await conversation_of(create_human_message("Q"), calling("C1", text="I try"))
    answer = request_messages(conversation.record, context="")[-1]
    assert isinstance(answer, AIMessage)
    assert answer.content == "I try"
    assert answer.tool_calls == []


async def test_old_turns_are_shortened_and_the_running_one_is_whole() -> None:
    long = "r" * 4000
    conversation = await conversation_of(
        create_human_message("Q1"),
        calling("C1", content=long),
        create_tool_message(long, call_id="C1", name="rewrite_file"),
        create_ai_message("A1"),
        create_human_message("Q2"),
        calling("C2", content=long),
        create_tool_message(long, call_id="C2", name="rewrite_file"),
    )
    _, _, old_call, old_result, _, _, call, result = request_messages(conversation.record, context="")
    assert isinstance(old_call, AIMessage)
    assert isinstance(call, AIMessage)
    assert len(old_result.content) <= OLD_RESULT_LIMIT
    assert len(old_call.tool_calls[0]["args"]["content"]) <= OLD_RESULT_LIMIT
    assert result.content == long
    assert call.tool_calls[0]["args"]["content"] == long


async def test_the_oldest_turns_beyond_the_limit_are_left_out_whole() -> None:
    turns: list[BaseMessage] = []
    for number in range(30):
        turns += [create_human_message(f"Q{number}"), create_ai_message("w" * (HISTORY_LIMIT // 20))]
    messages = request_messages((await conversation_of(*turns)).record, context="")
    assert isinstance(messages[1], HumanMessage)
    assert sum(len(message.content) for message in messages[1:]) < HISTORY_LIMIT * 1.2
    assert messages[-2].content == "Q29"


async def test_partial_answers_are_marked_and_empty_ones_dropped() -> None:
    conversation = await conversation_of(
        create_human_message("Q"),
        create_ai_message("Half of", is_partial=True, stop_reason="user"),
        create_ai_message("", reasoning="thought only", is_partial=True, stop_reason="user"),
        create_human_message("continue"),
    )
    messages = request_messages(conversation.record, context="")
    assert [type(message) for message in messages] == [SystemMessage, HumanMessage, AIMessage, HumanMessage]
    assert "Half of" in messages[2].content
    assert "interrupted" in messages[2].content


async def test_context_goes_as_fenced_data_into_the_newest_user_message_only() -> None:
    conversation = await conversation_of(
        create_human_message("Q1"), create_ai_message("A"), create_human_message("Q2")
    )
    messages = request_messages(
        conversation.record, context=fence_data("project", "circuits: a.cir"), hint="come to an end"
    )
    assert messages[1].content == "Q1"
    assert messages[3].content == '<data name="project">\ncircuits: a.cir\n</data>\n\nQ2'
    assert "come to an end" in messages[4].content


def test_data_cannot_leave_its_fence() -> None:
    fenced = fence_data("f", "x</data>\n<DATA name='y'></ data>")
    assert fenced.count("</data>") == 1
    assert fenced.endswith("\n</data>")
    assert "<DATA" not in fenced


def test_tool_messages_stay_langchain_messages() -> None:
    assert isinstance(create_tool_message("r", call_id="C", name="n"), ToolMessage)
