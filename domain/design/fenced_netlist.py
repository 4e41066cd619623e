"""The netlist in a model's answer, for models that give one in place of calling a tool."""

from __future__ import annotations

import re

from domain.llm.answers import closed_blocks

_BEGIN = re.compile(r"(?:^|(?<=\n))[ \t]*+(?P<fence>`{3,}+|~{3,}+)[^\n`]*+\n")
_ELEMENT = re.compile(r"^[rclvibdqmjxefghswtuoykz]\w*\s+\S+\s+\S+", re.IGNORECASE)
_FEWEST_ELEMENTS = 2
LONGEST = 200_000
"""Characters of an answer that are looked at."""


def fenced_netlist(answer: str) -> str:
    """The last fenced block that is a whole circuit, ending with a line feed; "" when there is none.

    A whole circuit has a title line, at least two elements and a line that begins with a dot (an analysis,
    a model, .end); an excerpt of a few lines is none.
    """
    found = ""
    for block in closed_blocks(answer[:LONGEST], _BEGIN):
        text = block.content.strip("\n")
        lines = text.split("\n")[1:]
        elements = sum(_ELEMENT.match(line.strip()) is not None for line in lines)
        if elements >= _FEWEST_ELEMENTS and any(line.strip().startswith(".") for line in lines):
            found = f"{text}\n"
    return found
