"""What a model or a file says drives no terminal: it can't hide the question about a call."""

from __future__ import annotations

import io

import pytest

from presentation.json_output import Output
from presentation.translation import Translator
from shared.errors import CircuitError
from shared.message import Message
from shared.visible import for_terminal

HOSTILE = "a\x1b[8mb\x1b]0;t\x07\x9b2J\u202ec\rd\x7f"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(stream: io.StringIO) -> str:
    out = Output(translator=Translator("en"), as_json=False, stdout=stream, stderr=stream)
    out.piece(HOSTILE)
    out.line(HOSTILE)
    out.say(Message("{text}", {"text": HOSTILE}))
    out.note(Message("{text}", {"text": HOSTILE}))
    out.fail(CircuitError(Message("{text}", {"text": HOSTILE}), advice=Message("{text}", {"text": HOSTILE})))
    return stream.getvalue()


def test_terminal_gets_no_control_character() -> None:
    shown = printed(Terminal())
    assert shown.count("a␛[8mb␛]0;t␇\ufffd2J\ufffdc␍d␡") == 6
    assert all(character.isprintable() or character == "\n" or character == "\ufffd" for character in shown)


def test_pipe_gets_the_text_as_it_is() -> None:
    assert printed(io.StringIO()).count(HOSTILE) == 6


@pytest.mark.parametrize("text", ["plain\ttext\n", "R1 输入 10µF\r\n", "😀 ½\n"])
def test_texts_stay_as_they_are(text: str) -> None:
    assert for_terminal(text) == text
