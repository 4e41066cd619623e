"""Runs that a sentence calls by their numbers: "compare run 5 with run 3", “第3次和第5次仿真”."""

from __future__ import annotations

import re
from dataclasses import replace

from infrastructure.llm_adapters.builtin.aims import studied
from infrastructure.llm_adapters.builtin.figures import FIGURES
from infrastructure.llm_adapters.builtin.reading import Ask, asks, read
from infrastructure.llm_adapters.builtin.words import ANY_CASE, CHANGES, OVER_FREQUENCY

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
_ELSE = re.compile(r"\b(?:delete|remove|undo|goals?|repeat)\b|删|撤销", ANY_CASE)
"""Something else is to be done with a run than to be told its figures."""
_DRAWS = re.compile(r"\b(?:plot|draw|graph|overlay|curves?|waveforms?)\b|[画绘]|曲线|波形", ANY_CASE)
_BACK = re.compile(
    r"(?:please |can you |could you |let'?s )*"
    r"(?:(?:go|get|switch|take me|(?:put|change|bring) (?:it|me|everything|the circuit)) back"
    r"|revert|return|roll ?back|restore|bring back|load)"
    r"(?:\s+(?:the\s+)?(?:circuit|netlist|values?|version|state)s?)*"
    r"(?:\s+(?:to|of|from|at|as|it|they|was|were|the|circuit|values?|state|in))*"
    r"|(?:请|帮我|把)*(?:电路|网表|参数|它)?(?:恢复|还原|退回|回退|回|改回|返回)(?:到|成|为)?"
    r"(?:的?(?:电路|网表|参数|状态|样子|时候?|那(?:个|次|时候?)?))*",
    ANY_CASE,
)
"""The whole of a sentence that wants a run's circuit back, but for the run."""


def question_of_runs(text: str, file: str) -> Ask | None:
    """The figures of the runs a sentence names, of one beside the newest; None where it names none."""
    numbers = [int(each) for found in _RUN.finditer(text) for each in found.groups() if each]
    runs = sorted(dict.fromkeys(numbers))
    if not runs or len(runs) > _MOST or _ELSE.search(text):
        return None
    rest = _RUN.sub(" ", text)
    if len(runs) == 1 and _BACK.fullmatch(" ".join(rest.strip(" .!。！").split())):
        return Ask(intent="restore", file=file, numbered=tuple(runs))
    words = read(rest, file)
    ask = studied(words)
    if _DRAWS.search(rest):
        kinds = {FIGURES[key].kind for key in ask.figures}
        kind = "noise" if "noise" in kinds else "ac" if "ac" in kinds or OVER_FREQUENCY.search(rest) else ""
        is_plain = not (words.mentions or ask.parameters or ask.tolerances)
        return replace(ask, intent="plot", query=kind, numbered=tuple(numbers)) if is_plain else None
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
