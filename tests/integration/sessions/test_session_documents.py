"""What is shown and exported of a conversation: everything, in order, and nothing can break out."""

import asyncio
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from application.conversation.session_texts import json_document, markdown, plain_text
from application.conversation.sessions import Sessions, find_session
from application.conversation.shown_session import ShownCard, shown
from application.design.story import Checkpoint, StoryStep
from domain.llm import messages as m
from domain.llm.tools.confirmation_card import CallOnCard, CardAnswer, ConfirmationCard
from domain.llm.tools.effect import ComputedEffect
from domain.llm.turn_failure import TurnFailure, TurnLimit
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from infrastructure.persistence.checkpoint_rows import forget_thread
from infrastructure.persistence.confined import write_atomically
from infrastructure.persistence.given_files import read_given
from infrastructure.persistence.project import ProjectFolders
from infrastructure.persistence.project_view import FolderView
from infrastructure.search.conversations import SqliteConversationIndex
from presentation.translation import Translator
from shared.errors import UserInputError
from shared.message import msg
from shared.ulid import new_ulid

SESSION = "01JEXAMP1E0000000000000000"


def written(message, **more):
    return {"event": "message", "message": m.message_to_dict(message), **more}


def a_conversation():
    call = {"id": "C1", "name": "patch_file", "args": {"path": "amp.cir", "gain": float("nan")}}
    lost = {"id": "C2", "name": "run_simulation", "args": {}}
    user = m.create_human_message("Design an amplifier", attachments=[{"name": "spec.pdf", "path": "a/1"}])
    answer = m.create_ai_message(
        "Here it is.",
        reasoning="First the gain.",
        tool_calls=[call, lost],
        operations=["Changed amp.cir"],
        model="glm",
    )
    answer.additional_kwargs["web_search_results"] = [{"title": "Op amps", "link": "http://x"}]
    result = m.create_tool_message(
        "1 replacement",
        call_id="C1",
        name="patch_file",
        summary={"template": "Written: {path}", "params": {"path": "amp.cir"}},
    )
    partial = m.create_ai_message("Then I", is_partial=True, stop_reason="stopped")
    return [
        {
            "event": "session",
            "name": "Amp",
            "work_mode": "free_work",
            "created_at": "2025-01-02T03:04:05+00:00",
        },
        *(written(message) for message in (user, answer, result, partial)),
    ]


def test_a_conversation_is_shown_whole():
    session = shown(SESSION, a_conversation())
    user, answer, tool, partial = session.messages
    assert [message.role for message in session.messages] == ["user", "assistant", "tool", "assistant"]
    assert user.attachments[0]["name"] == "spec.pdf"
    assert answer.reasoning == "First the gain."
    assert [(call.id, call.name, call.success) for call in answer.tool_calls] == [
        ("C1", "patch_file", True),
        ("C2", "run_simulation", None),
    ]
    assert answer.sources == ({"title": "Op amps", "link": "http://x"},)
    assert (tool.call_id, tool.name, tool.success) == ("C1", "patch_file", True)
    assert (partial.partial, partial.stop_reason, partial.text) == (True, "stopped", "Then I")
    assert session.has_partial_response


def test_an_answer_cut_off_by_a_kill_is_shown_before_anything_was_repaired():
    piece = {"event": "delta", "message_id": new_ulid(), "text": "Thus", "reasoning": "hm"}
    [*_, last] = shown(SESSION, [*a_conversation(), piece]).messages
    assert (last.text, last.partial, last.stop_reason, last.reasoning) == ("Thus", True, "interrupted", "hm")
    assert last.created


def test_the_json_export_has_the_shape_of_the_requirements():
    document = json_document(shown(SESSION, a_conversation()))
    assert set(document) == {
        *("session_id", "session_name", "work_mode", "created_at", "updated_at"),
        *("message_count", "messages", "summary"),
    }
    assert document["message_count"] == len(document["messages"]) == 4
    answer = document["messages"][1]
    assert answer["reasoning_content"] == "First the gain."
    assert answer["operations"] == ["Changed amp.cir"]
    assert answer["is_partial"] is False
    assert document["messages"][3]["is_partial"] is True
    assert document["messages"][2]["tool_call_id"] == "C1"


@pytest.mark.parametrize("render", [plain_text, markdown])
def test_texts_carry_reasoning_operations_results_sources_and_marks(render):
    text = render(shown(SESSION, a_conversation()), str)
    wanted = ["Amp", "Design an amplifier", "spec.pdf", "First the gain.", "Here it is.", "patch_file"]
    wanted += ["Written: amp.cir", "1 replacement", "No result", "Changed amp.cir", "Op amps", "http://x"]
    places = [text.find(word) for word in (*wanted, "interrupted: stopped", "Then I")]
    assert -1 not in places
    assert places[:3] == sorted(places[:3])
    assert places[-2:] == sorted(places[-2:])


@pytest.mark.parametrize("render", [plain_text, markdown])
def test_texts_tell_failures_limits_permissions_and_decisions_where_they_happened(render):
    bare = session = shown(SESSION, a_conversation())
    asked, answered = session.messages[0].id, session.messages[1].id
    calls = [CallOnCard(call_id=f"C{n}", tool=tool, effect=ComputedEffect(effect="change"), reasons=())
             for n, tool in ((1, "patch_file"), (2, "run_*simulation*"), (9, "of nobody"))]  # fmt: skip
    answers = {"C1": CardAnswer(word="refuse", reason="I <b>still</b> need it")}
    goal = DesignGoal(metric="gain", expression="max(v(out))", unit="dB", minimum=20.0)
    verdict = GoalVerdict(goal=goal, measured=Quantity(value=21.0, unit="dB"), met=True)
    question = Checkpoint(number=2, verdicts=(verdict,), has_failed=False, can_undo=True, is_exhausted=False,
                          answer="accept")  # fmt: skip
    session = replace(
        session,
        cards=(ShownCard(card=ConfirmationCard(card_id="K", calls=tuple(calls)), answers=answers),),
        failures={asked: TurnFailure(error_type="connection", message=msg("No answer received"))},
        limits={asked: TurnLimit(stop_reason="limit", note=msg("Another version"))},
        design=(StoryStep(key="s", message_id="", after=answered, checkpoint=question),),
    )
    text = render(session, Translator("en")).replace("\\", "")
    wanted = ["Here it is.", "Permission for patch_file: refused: I <b>still</b> need it",
              "Permission for run_*simulation*: not answered; nothing was done",
              "Checkpoint 2: 1 of 1 goal met; Accept design", "Then I", "Failed: No answer received",
              "Another version"]  # fmt: skip
    places = [text.find(words) for words in wanted]
    assert -1 not in places, text
    assert places == sorted(places)
    assert "of nobody" not in text
    if render is markdown:
        assert r"\<b\>still\</b\>" in render(session, Translator("en"))
        assert len(outline(render(session, Translator("en")))) == len(outline(markdown(bare, str)))
    assert "检查点 2：" in render(session, Translator("zh"))


def test_what_regenerate_replaced_stays_readable_and_what_continue_went_on_with_is_not_repeated():
    old = m.create_ai_message("old answer", message_id="A")
    half = m.create_ai_message("half", message_id="B", is_partial=True)
    events = [
        written(old),
        {"event": "replaced", "message_id": "A", "message": m.message_to_dict(m.create_ai_message("new"))},
        written(half),
        {
            "event": "replaced",
            "message_id": "B",
            "message": m.message_to_dict(m.create_ai_message("half done")),
        },
    ]
    session = shown(SESSION, events)
    assert [message.earlier for message in session.messages] == [("old answer",), ()]
    assert "old answer" in markdown(session, str)
    assert json_document(session)["messages"][0]["earlier_versions"] == ["old answer"]


HOSTILE = [
    "```\ncode without an end",
    "````json\n```\n",
    "# User · now\n\nforged",
    "<!-- no end",
    "<details><script>",
    "a\rb\r\n## c",
    "`" * 40,
    "~~~\n",
    "\x1b[2J\x1b]0;title\x07",
    "\u202e txet",
    "\ud800",
    "> quote\n\n---\n",
    "===\n",
]


def outline(text):
    """Headings of a Markdown text, as a reader of CommonMark finds them outside of code and quotes."""
    fence, found = "", []
    for line in re.split(r"\r\n|\r|\n", text):
        opened = re.match(r" {0,3}(`{3,}|~{3,})(.*)", line)
        if fence:
            closes = re.fullmatch(r" {0,3}(`{3,}|~{3,})\s*", line)
            fence = "" if closes and closes[1].startswith(fence) else fence
        elif opened and not ("`" in opened[2] and opened[1][0] == "`"):
            fence = opened[1]
        elif re.match(r" {0,3}#{1,6} ", line):
            found.append(line)
    assert not fence, "a code block without an end"
    return found


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_the_markdown_around_it(text):
    call = {"id": "C", "name": text, "args": {"x": text}}
    said = m.create_ai_message(text, reasoning=text, tool_calls=[call], operations=[text], stop_reason=text)
    result = m.create_tool_message(text, call_id="C", name=text, success=False, error_type=text)
    orphan = m.create_tool_message(text, call_id="unknown", name=text)
    end = m.create_human_message("the end", attachments=[{"name": text}])
    events = [{"event": "renamed", "name": text, "by": "user"}, *map(written, (said, result, orphan, end))]
    document = markdown(shown(SESSION, events), str)
    assert len(outline(document)) == 4  # the title, and a heading per message but the paired result
    assert "\x1b" not in document
    assert "\x1b" not in plain_text(shown(SESSION, events), str)


@given(st.text(st.sampled_from("`~#>\n\r \\<!-ab")))
def test_no_mixture_of_marks_breaks_it_either(text):
    said = m.create_ai_message(text, reasoning=text, tool_calls=[{"id": "C", "name": text, "args": {}}])
    document = markdown(shown(SESSION, [written(said), written(m.create_human_message("end"))]), str)
    assert len(outline(document)) == 3


@pytest.mark.parametrize(
    "summary",
    [
        {"template": "{x:>999999999}", "params": {"x": "1"}},
        {"template": "{x.__class__}", "params": {"x": "1"}},
        {"template": "{x!r}", "params": {"x": "1"}},
        {"template": "{missing}", "params": {}},
        {"template": "{", "params": {}},
        {"template": 3, "params": []},
        {},
    ],
)
def test_a_strangers_template_is_not_filled_in(summary):
    tool = m.create_tool_message("result", call_id="C", name="t", summary=summary)
    answer = m.create_ai_message("", tool_calls=[{"id": "C", "name": "t", "args": {}}])
    text = plain_text(shown(SESSION, [written(answer), written(tool)]), str)
    assert "result" in text
    assert len(text) < 1000


def test_arguments_nested_without_end_do_not_stop_the_show():
    deep = json.loads("[" * 400 + "]" * 400)
    message = {
        "id": "A",
        "type": "assistant",
        "content": "",
        "tool_calls": [{"id": "C", "args": {"x": deep}}],
    }
    session = shown(SESSION, [{"event": "message", "message": message}])
    assert '"..."' in plain_text(session, str)


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    ProjectFolders().open(folder, create=True)
    return folder


@pytest.fixture
def sessions():
    return Sessions(
        projects=ProjectFolders(),
        write_file=write_atomically,
        read_file=read_given,
        forget_checkpoints=forget_thread,
        index=SqliteConversationIndex,
        views=lambda root: FolderView(root=root),
    )


def new(project, session_id="", *events):
    transcript = ProjectFolders().open(project).sessions.create(work_mode="free_work", session_id=session_id)
    transcript.append(*events)
    transcript.close()
    return transcript.session_id


async def test_use_cases_on_a_real_project(project, sessions):
    assert await sessions.list(project) == ()
    session_id = await asyncio.to_thread(new, project, "", *a_conversation()[1:])
    [info] = await sessions.list(project)
    assert (info.session_id, info.message_count) == (session_id, 3)
    assert (await sessions.find(project, session_id.lower())).session_id == session_id
    assert len((await sessions.show(project, "last")).messages) == 4
    await sessions.delete(project, session_id)
    assert await sessions.list(project) == ()


async def test_a_folder_that_is_no_project_is_said_so(tmp_path, sessions):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UserInputError) as raised:
            await sessions.list(folder)
        assert raised.value.error_type == "no_project"


def test_a_conversation_is_found_by_what_names_it_alone(project):
    store = ProjectFolders().open(project).sessions
    first, second = new(project, "01JEXAMP1E" + "A" * 16), new(project, "01JEXAMP1E" + "B" * 16)
    assert find_session(store, "last") in (first, second)
    assert find_session(store, "01jexamp1eA") == first
    assert find_session(store, first) == first
    for reference, kind in {
        "01JEXAMP1E": "ambiguous_session",
        "01JEX": "bad_session_id",
        "": "bad_session_id",
        "../../x": "bad_session_id",
        "01JEXAMP1F": "no_session",
        first + "A": "bad_session_id",
    }.items():
        with pytest.raises(UserInputError) as raised:
            find_session(store, reference)
        assert raised.value.error_type == kind


async def test_exports_are_not_written_into_our_own_folder(project, sessions, tmp_path):
    path = await sessions.save("text \ud800", tmp_path / "a.txt")
    assert path.read_text("utf-8") == "text ?"
    for target in (project / ".circuit_ai" / "x.md", tmp_path / "link" / "x.md"):
        if not target.parent.exists():
            target.parent.symlink_to(project / ".circuit_ai")
        with pytest.raises(UserInputError) as raised:
            await sessions.save("text", target)
        assert raised.value.error_type == "bad_path"
    with pytest.raises(UserInputError):
        await sessions.save("text", tmp_path)
