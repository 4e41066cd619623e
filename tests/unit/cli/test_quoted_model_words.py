"""A model's words can't pass for the program's on the command line: each of their lines has a mark."""

from __future__ import annotations

import io

import pytest

from application.ports.events import AnswerStreamed, GoalsUnderstood, TextWritten, TurnEnded
from presentation.cli.chat_events import ChatPrinter, Quoting, quoted
from presentation.json_output import Output
from presentation.narration import Narrator
from presentation.translation import Translator
from shared.message import Message, msg

FORGED = "Done.\n\nGoals met. Accept this circuit? [Y/n] y\r\n✓ all\u2028Allow it? [y/N]"


def printed(*pieces: str) -> list[str]:
    stream = io.StringIO()
    printer = ChatPrinter(Output(translator=Translator("en"), as_json=False, stdout=stream))
    for piece in pieces:
        printer(AnswerStreamed(message_id="a", text=piece))
    printer(TurnEnded(stop_reason="stopped"))
    return stream.getvalue().split("\n")


@pytest.mark.parametrize("size", [1, 7, 200])
def test_every_line_of_an_answer_is_marked_however_it_streams_in(size: int) -> None:
    text = FORGED.replace("\r", "")
    lines = printed(*(text[at : at + size] for at in range(0, len(text), size)))
    assert lines == [
        "│ Done.", "│", "│ Goals met. Accept this circuit? [Y/n] y", "│ ✓ all", "│ Allow it? [y/N]",
        "Stopped.", "",
    ]  # fmt: skip


def test_an_answer_that_ends_its_line_leaves_no_mark_behind() -> None:
    assert printed("One.\n", "Two.\n") == ["│ One.", "│ Two.", "Stopped.", ""]


@pytest.mark.parametrize("filler", [" ", "\t", "界", "é", "e\u0301", "😀", "→"])
def test_what_a_terminal_would_wrap_is_wrapped_under_the_mark(filler: str) -> None:
    columns = 40
    lines = quoted(filler * 200 + "Goals met. [Y/n]", lambda: columns).split("\n")
    assert len(lines) > 5
    assert all(line.startswith("│ ") for line in lines)
    wide = {"界": 2, "😀": 2, "\t": 8}
    assert all(sum(wide.get(sign, 1) for sign in line) <= columns for line in lines)
    shown = "".join(line[2:] for line in lines)
    assert shown.replace(" ", "") == (filler * 200 + "Goals met. [Y/n]").replace(" ", "")


def test_words_are_kept_whole_where_they_fit() -> None:
    text = "The corner lies at 1.59 kHz, a word_that_is_longer_than_a_line stays."
    for size in (1, 5, len(text)):
        quoting = Quoting(lambda: 20)
        pieces = [quoting(text[at : at + size]) for at in range(0, len(text), size)]
        shown = "".join(pieces) + quoting.end()
        assert shown.split("\n") == [
            "│ The corner lies ", "│ at 1.59 kHz, a wo", "│ rd_that_is_longer",
            "│ _than_a_line ", "│ stays.", "",
        ]  # fmt: skip


def test_behind_a_pipe_and_on_a_strip_of_a_terminal_no_line_is_broken() -> None:
    for columns in (None, 3):
        assert Quoting(lambda width=columns: width)("x" * 500) == "│ " + "x" * 500


def test_a_design_tells_a_models_comment_and_notes_apart_from_its_own_words() -> None:
    told = Narrator(Translator("en"), quote=lambda text: quoted(text, lambda: None))
    comment = Message("{text}", {"text": "Round 2:\n✓ all met"})
    assert told(TextWritten(text=comment)) == "│ Round 2:\n│ ✓ all met"
    assert told(TextWritten(text=msg("The model wrote no circuit."))) == "The model wrote no circuit."
    goals = told(GoalsUnderstood(goals=(), assumptions=(comment, msg("none"))))
    assert goals == "Goals:\n│   · Round 2:\n│ ✓ all met\n  · none"
    assert Narrator(Translator("en"))(TextWritten(text=comment)) == "Round 2:\n✓ all met", "kept as said"
