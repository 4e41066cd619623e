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


def test_words_of_earlier_versions_are_told_as_well_and_none_by_half() -> None:
    told = retold(
        "Op-amps with a gain-bandwidth product of 10 MHz are assumed; a slower one shifts the cut-off.\n"
        "No tolerance was said: the cut-off may be off by 5 %.\n"
        "The circuit was not named: an active Sallen-Key filter is designed.",
        CHINESE,
    )
    assert told == (
        "假定运放的增益带宽积为 10 MHz；更慢的运放会使截止频率偏移。\n"
        "未指定容差：截止频率允许偏差 5%。\n"
        "未指定电路形式：按有源 Sallen-Key 滤波器设计。"
    )
    unknown = "Op-amps with a gain-bandwidth product of 10 MHz are rare; slower ones are not."
    assert retold(unknown, CHINESE) == unknown
