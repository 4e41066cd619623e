"""The card on which calls are allowed or refused: what it says, its buttons and keys, both views."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from domain.llm.tools.confirmation import Rule
from domain.llm.tools.confirmation_card import CallOnCard, CardAnswer, ConfirmationCard
from domain.llm.tools.effect import ComputedEffect, PathEffect
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import AnswerText, Confirmation, OperationCard, UserText
from presentation.panels.conversation.panel import ConversationPanel
from presentation.translation import Translator
from presentation.ui.workspace import WindowServices
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import NoWebView, of, shown, type_and_send, use

CALLS = [
    call("rewrite_file", {"path": "filter.cir", "content": "* nothing is left\n"}),
    call("rewrite_file", {"path": "notes.txt", "content": "* nothing is left\n"}),
]


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[ConversationPanel]:
    (project / "notes.txt").write_text("one\ntwo\n")
    services.workspace.root = project
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.resize(440, 800)
    made.show()
    yield made
    made.close_panel()
    await until(lambda: not services.app.program.tasks.handles)


async def open_card(panel: ConversationPanel, until: Until) -> Confirmation:
    await until(lambda: any(item.state == "open" for item in of(panel, Confirmation)), timeout_s=30)
    return of(panel, Confirmation)[-1]  # type: ignore[no-any-return]


async def test_each_call_is_answered_on_one_card_and_the_reason_reaches_the_model(
    panel: ConversationPanel, project: Path, until: Until
) -> None:
    before = (project / "filter.cir").read_bytes()
    with FakeLLMServer([answer("", calls=CALLS), answer("As you like.")]) as server:
        use(panel, server)
        type_and_send(panel, "Tidy up.")
        card = await open_card(panel, until)
        assert panel.model.is_asking
        text = shown(panel)
        assert "Replace the entire content of filter.cir" in text
        assert "overwrites a file that was not read in this conversation" in text
        assert "−2 lines, +1 line" in text
        first, second = card.card.calls
        panel.composer.set_text("I still need it")
        panel.view.acted.emit("confirm", card.key, f"refuse:{first.call_id}")
        assert panel.composer.text == ""
        assert panel.is_running, "one call is not answered yet"
        panel.view.acted.emit("confirm", card.key, f"allow:{second.call_id}")
        await until(lambda: not panel.is_running, timeout_s=30)
        told = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert "I still need it" in told[0]
    assert told[1].startswith("Changed notes.txt")
    assert (project / "filter.cir").read_bytes() == before
    assert (project / "notes.txt").read_text() == "* nothing is left\n"
    (answered,) = of(panel, Confirmation)
    assert answered.state == "answered"
    assert [item.state for item in of(panel, OperationCard)] == ["failed", "done"]
    assert "You refused this: I still need it" in shown(panel)  # the model reads of "the user" and the tool
    assert told[0].startswith("Error (refused_by_user): The user refused ")
    # Reopened it says what was asked and what was answered, where it was asked: before the calls.
    session = panel.model.session_id
    panel.model.new_conversation()
    panel.open_session(session)
    await until(lambda: of(panel, Confirmation))
    assert of(panel, Confirmation) == [answered]
    kinds = [type(item) for item in panel.model.items]
    assert kinds.index(Confirmation) < kinds.index(OperationCard)
    assert "refused: I still need it" in panel.view.text
    assert "[ Allow ]" not in panel.view.text


async def test_typing_yes_answers_and_another_text_refuses_all_and_is_sent(
    panel: ConversationPanel, project: Path, until: Until
) -> None:
    with FakeLLMServer(
        [answer("", calls=CALLS[1:]), answer("Done."), answer("", calls=CALLS[:1]), answer("Right.")]
    ) as server:
        use(panel, server)
        type_and_send(panel, "Tidy up the notes.")
        await open_card(panel, until)
        type_and_send(panel, "允许")
        await until(lambda: not panel.is_running, timeout_s=30)
        assert (project / "notes.txt").read_text() == "* nothing is left\n"
        before = (project / "filter.cir").read_bytes()
        type_and_send(panel, "And the filter.")
        await open_card(panel, until)
        type_and_send(panel, "What is a filter?")
        await until(
            lambda: (
                not panel.is_running
                and bool(of(panel, AnswerText))
                and of(panel, AnswerText)[-1].text == "Right."
            ),
            timeout_s=30,
        )
        told = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert "refused_by_user" in told[-1]
    assert [item.text for item in of(panel, UserText)][-1] == "What is a filter?"
    assert [item.state for item in of(panel, Confirmation)] == ["answered", "expired"]
    assert (project / "filter.cir").read_bytes() == before


async def test_a_card_of_a_stranger_is_left_out_and_the_rest_is_shown(
    panel: ConversationPanel, project: Path, until: Until
) -> None:
    """A project may bring a transcript that nobody here has written."""
    with FakeLLMServer([answer("", calls=CALLS[1:]), answer("Done.")]) as server:
        use(panel, server)
        type_and_send(panel, "Tidy up the notes.")
        await open_card(panel, until)
        type_and_send(panel, "yes")
        await until(lambda: not panel.is_running, timeout_s=30)
    session = panel.model.session_id
    (file,) = (project / ".circuit_ai" / "conversations").glob("*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    (asked,) = [line for line in lines if line.get("state") == "asked"]
    asked["card"]["calls"][0]["effect"]["files"] = "many"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    panel.model.new_conversation()
    panel.open_session(session)
    await until(lambda: [item.text for item in of(panel, AnswerText)] == ["Done."])
    assert not of(panel, Confirmation)
    assert [item.state for item in of(panel, OperationCard)] == ["done"]


def card_of_everything() -> ConfirmationCard:
    hostile = PathEffect(
        path="<b>x</b>.cir", bytes_before=12_400, bytes_after=3, lines_lost=7, lines_added=1, overwrites=True,
        diff="--- a/x\n+++ b/x\n@@ -1 +1 @@\n-<script>alert(1)</script>\n+R1 in out 1k\n",
    )  # fmt: skip
    folder = [PathEffect(path="old", is_folder=True)]
    folder += [PathEffect(path=f"old/{n}.cir", bytes_before=n) for n in range(20)]
    return ConfirmationCard(
        card_id="card",
        calls=(
            CallOnCard(
                call_id="1", tool="rewrite_file", reasons=("overwrite",),
                effect=ComputedEffect(effect="change", paths=(hostile,), files=1),
                always=(Rule(decision="allow", tool="rewrite_file", path="x.cir"),),
            ),
            CallOnCard(
                call_id="2", tool="delete_file", reasons=("delete", "batch"),
                effect=ComputedEffect(effect="delete", paths=tuple(folder), files=20),
            ),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", ("Delete the folder old with 20 files", "Allow all")), ("zh", ("删除文件夹 old", "全部允许"))],
)
def test_page_shows_the_effect_escaped_with_buttons_for_keys(language: str, words: tuple[str, ...]) -> None:
    render = HtmlItems(Translator(language))
    card = card_of_everything()
    text = render(Confirmation(key="card", card=card))
    assert all(word in text for word in words)
    assert "<script>" not in text
    assert "&lt;b&gt;x&lt;/b&gt;.cir" in text
    assert 'class="row del"' in text
    arguments = ("allow:1", "always:1", "refuse:1", "allow:2", "refuse:2", "allow", "refuse")
    assert all(f'data-act="confirm" data-arg="{argument}"' in text for argument in arguments)
    assert 'data-arg="always:2"' not in text
    answers = {"1": CardAnswer(word="refuse", reason="<i>no</i>"), "2": CardAnswer(word="allow")}
    done = render(Confirmation(key="card", card=card, answers=answers, state="answered"))
    assert "data-act" not in done
    assert "&lt;i&gt;no&lt;/i&gt;" in done
