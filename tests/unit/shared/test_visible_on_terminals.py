"""What a model or a file says drives no terminal: it can't hide the question about a call."""

from __future__ import annotations

import io
import json

import pytest

from presentation.json_output import Output
from presentation.translation import Translator
from shared.errors import CircuitError
from shared.message import Message, for_terminal

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


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "pipe"])
def test_neither_terminal_nor_pipe_gets_a_control_character(stream: io.StringIO) -> None:
    shown = printed(stream)
    assert shown.count("a␛[8mb␛]0;t␇\ufffd2J\ufffdc␍d␡") == 6
    assert all(character.isprintable() or character == "\n" or character == "\ufffd" for character in shown)


def test_json_writes_them_as_escapes() -> None:
    stream = io.StringIO()
    Output(translator=Translator("en"), as_json=True, stdout=stream).json({"text": HOSTILE})
    assert json.loads(stream.getvalue()) == {"text": HOSTILE}
    assert stream.getvalue().rstrip("\n").isprintable()


@pytest.mark.parametrize("text", ["plain\ttext\n", "R1 输入 10µF\r\n", "😀 ½\n"])
def test_texts_stay_as_they_are(text: str) -> None:
    assert for_terminal(text) == text
