"""Runs that a sentence calls by their numbers: "compare run 5 with run 3", “第3次和第5次仿真”."""

from __future__ import annotations

import re
from dataclasses import replace

from infrastructure.llm_adapters.builtin.aims import studied
from infrastructure.llm_adapters.builtin.reading import Ask, asks, read
from infrastructure.llm_adapters.builtin.words import ANY_CASE, CHANGES

_RUN = re.compile(
    r"\bruns?\s*(?:#|no\.|number)?\s*(?P<one>\d+)"
    r"(?:\s*(?:,|&|and|with|to|or|vs\.?|versus|against)\s*#?(?P<two>\d+))?"
    r"(?=\s*(?:[,.?!;:)]|$|(?:and|with|to|or|vs|versus|against|than|compared?|is|was|has|have|had|differ\w*|of|in"
    r"|better|worse|higher|lower|larger|smaller|on|the|for|by|at|did|does|do)\b))"
    r"|第\s*(?P<first>\d+)\s*次?(?:\s*[和与跟、到比]\s*第?\s*(?P<second>\d+))?\s*次(?!谐波)的?(?:仿真|运行|结果)*"
    r"|(?:运行|仿真)\s*#?(?P<run>\d+)(?!\s*[a-zµ毫微秒次遍个\d.])",
    ANY_CASE,
)
_COMPARES = re.compile(
    r"\bcompar\w*|\bdiffer\w*|\bvs\b|\bversus\b|\bagainst\b|\bthan\b|\bchang(?:e[sd]?|ing)\b|\bsame\b"
    r"|比|不同|区别|不一样|变了|变化|差",
    ANY_CASE,
)
_ELSE = re.compile(
    r"\b(?:plot|draw|show|graph|delete|remove|undo|restore|revert|back to|goals?|repeat)\b"
    r"|[画绘删]|撤销|恢复|曲线",
    ANY_CASE,
)
"""Something else is to be done with a run than to be told its figures."""


def question_of_runs(text: str, file: str) -> Ask | None:
    """The figures of the runs a sentence names, of one beside the newest; None where it names none."""
    numbers = [int(each) for found in _RUN.finditer(text) for each in found.groups() if each]
    runs = sorted(dict.fromkeys(numbers))
    if not runs or len(runs) > _MOST or _ELSE.search(text):
        return None
    rest = _RUN.sub(" ", text)
    words = read(rest, file)
    ask = studied(words)
    if (words.mentions and CHANGES.search(rest)) or ask.parameters or ask.removed or ask.tolerances:
        return None
    if _COMPARES.search(rest) is None and not (
        ask.figures and (asks(words) or len(runs) > 1 or len(text) < _SHORT)
    ):
        return None
    alone = "of " if len(runs) == 1 and _COMPARES.search(rest) is None else ""
    query = alone + " ".join(map(str, runs))
    return replace(ask, intent="compare", query=query, value=None, upper=None, unit="", bound=None, runs=None)


_MOST = 2
_SHORT = 30
"""Characters of a sentence that needs no word of a question to be one."""
