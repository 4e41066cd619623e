"""The files a sentence names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from infrastructure.llm_adapters.builtin.words import ANY_CASE

_SUFFIXES = "cir|sp|spice|net|ckt|inc|lib|mod|sub|txt|md|json|csv"
_QUOTED_FILE = re.compile(rf"[\"'“‘「《`]([^\"'“”‘’「」《》`]+\.(?:{_SUFFIXES}))[\"'”’」》`]", ANY_CASE)
_PLAIN_FILE = re.compile(rf"[A-Za-z0-9_./\\~-]*[A-Za-z0-9_-]\.(?:{_SUFFIXES})(?![A-Za-z0-9_])", ANY_CASE)
CHINESE_FILE = re.compile(rf"[\w./-]+\.(?:{_SUFFIXES})(?![A-Za-z0-9_])", ANY_CASE)
_BEFORE_A_NAME = re.compile(
    r"^(?:请|帮我|给我|把|将|对|在|仿真|模拟|运行|跑|读取|读|显示|打开|查看|看|分析|测量|修改|一下|文件|电路)+"
)
"""Chinese is written without blanks: what stands before a file's name and is no part of it."""


def take_file(sentence: str, known: Sequence[str]) -> tuple[str, str]:
    """The file a sentence names, and the sentence without it."""
    folded = sentence.casefold()
    for name in sorted(known, key=len, reverse=True):
        at = folded.find(name.casefold())
        before = sentence[at - 1 : at] if at > 0 else ""
        after = sentence[at + len(name) : at + len(name) + 1]
        if at >= 0 and not re.match(r"[A-Za-z0-9_./-]", before) and not re.match(r"[A-Za-z0-9_]", after):
            return name, _without(sentence, at, at + len(name))
    for pattern in (_QUOTED_FILE, _PLAIN_FILE, CHINESE_FILE):
        if found := pattern.search(sentence):
            name = found[1] if pattern is _QUOTED_FILE else found[0]
            if pattern is CHINESE_FILE:
                name = _BEFORE_A_NAME.sub("", name) or name
            return name, _without(sentence, found.end() - len(name), found.end())
    return "", sentence


def _without(sentence: str, start: int, end: int) -> str:
    return f"{sentence[:start].rstrip(' 「《“`')} {sentence[end:].lstrip(' 」》”`')}"
