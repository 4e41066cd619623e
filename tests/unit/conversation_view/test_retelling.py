"""What a design said in one language is told in the other when its conversation is opened again."""

from __future__ import annotations

from presentation.retelling import StoredWords, retold
from presentation.translation import Translator
from shared.message import Message, msg

ENGLISH, CHINESE = Translator("en"), Translator("zh")
SAID = (
    msg("Reverted round {number}: {path}.", number=2, path="buck_12V.cir"),
    msg("Duty {duty} %, inductor ripple {ripple} peak to peak.", duty="42.5", ripple="362 mA"),
    msg("No {label} given; {value} assumed.", label=msg("rectifier"), value=msg("synchronous rectifier")),
)


def test_stored_words_follow_the_language_of_the_window() -> None:
    for here, there in ((ENGLISH, CHINESE), (CHINESE, ENGLISH)):
        stored = "\n".join(here(message) for message in SAID)
        shown = there(StoredWords("{text}", {"text": stored}))
        assert shown == "\n".join(there(message) for message in SAID)
        assert here(StoredWords("{text}", {"text": stored})) == stored


def test_words_of_others_stay_as_they_are() -> None:
    for text in (
        "增益还差 3 dB，把 R1 改小。",
        "",
        "已撤销第 2 轮：" + "x" * 2_000,
        "The gain is 3 dB short.",
    ):
        assert retold(text, ENGLISH) == text
        assert CHINESE(Message("{text}", {"text": text})) == text
