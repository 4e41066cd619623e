"""What the user said in turns that are sent no more: his own words, those that bind first.

Goals, prohibitions and names hold for the whole conversation; "now run it again" does not. So sentences
with a figure in a unit, or with a word that forbids or demands, are kept before others, in English and
Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from domain.llm.tokens import count_tokens
from shared.late_patterns import late_pattern

_SENTENCE = late_pattern(r"[^.!?。！？;；\n]+(?:\.(?=\S)[^.!?。！？;；\n]*)*[.!?。！？;；]?")
_BINDS = late_pattern(
    r"\b(?:must|never|always|only|not|no|don['’]t|without|at (?:least|most)|keep|leave|remember|call me"
    r"|from now on|forbid\w*|require\w*|limit\w*|maximum|minimum|exactly|goal|target|spec\w*)\b"
    r"|必须|务必|一定|不要|不得|不许|不能|不可|禁止|别|切勿|只能|仅|始终|总是|保持|至少|至多|不超过|不低于"
    r"|不高于|不大于|不小于|记住|叫我|称呼|今后|以后|目标|要求|指标|限制"
    r"|\d\s?(?:[fpnumkKMGT]|meg)?(?:Hz|V|A|W|Ω|Ohms?|F|H|s|dB|°|%)(?![A-Za-z])",
    re.IGNORECASE,
)
_LONGEST_SENTENCE = 400
_LONGEST_OTHER = 160


def users_words(texts: Sequence[str], tokens: int) -> str:
    """The user's messages `texts`, oldest first, within `tokens`; "" for none.

    Of too many the sentences that bind stay, and of the others the newest; "…" stands where something is
    missing. Of binding ones that are too many themselves the first and the newest stay.
    """
    found: list[tuple[int, str, bool]] = []
    seen: set[str] = set()
    for place, text in enumerate(texts):
        for sentence in _SENTENCE.findall(text):
            words = " ".join(sentence.split())
            if words and words.lower() not in seen:
                seen.add(words.lower())
                binds = bool(_BINDS.search(words))
                most = _LONGEST_SENTENCE if binds else _LONGEST_OTHER
                found.append((place, words if len(words) <= most else f"{words[:most]} …", binds))
    binding = [each for each in found if each[2]]
    # Those of the beginning (the task) before those of the end, and both before what lies between.
    order = [*binding[:8], *reversed(binding[8:]), *(each for each in reversed(found) if not each[2])]
    kept: set[tuple[int, str, bool]] = set()
    for each in order:
        tokens -= count_tokens(each[1]) + 2
        if tokens < 0:
            break
        kept.add(each)
    lines: list[str] = []
    last = -1
    for each in found:
        if each in kept:
            if each[0] != last:
                lines.append("-")
            lines[-1] += f" {each[1]}"
            last = each[0]
    if lines and len(kept) < len(found):
        lines.append("- … (more was said that is not sent any more)")
    return "\n".join(lines)
