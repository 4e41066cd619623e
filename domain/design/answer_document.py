"""The JSON object a model's answer means: behind thoughts, in prose, in a wrapper, under usual names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from domain.llm.json_repair import Problem, read_json
from shared.late_patterns import late_pattern

_MOST_PIECES = 40
_MOST_UNCLOSED = 4
LONGEST_NAME = 40
_END_OF_THOUGHT = late_pattern(r"</think(?:ing)?>|<\|/?(?:end_of_thought|channel)[^>]{0,20}>", re.IGNORECASE)
_OPENING = late_pattern(r"[{\[]")
_TOKEN = late_pattern(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\]]', re.DOTALL)
_COMMENT = late_pattern(
    r'(?P<kept>"(?:[^"\\]++|\\.)*+"?)|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|^[ \t]*+#[^\n]*+',
    re.DOTALL | re.MULTILINE,
)
_KNOWN = frozenset({"goals", "reply", "questions", "circuit_type", "summary"})
_WRAPPERS = ("design_goals", "result", "response", "answer", "output", "data", "json", "object", "arguments")
_ALIASES: Mapping[str, str] = {
    "name": "metric", "goal": "metric", "id": "metric",
    "measure": "expression", "measurement": "expression", "expr": "expression", "formula": "expression",
    "min": "minimum", "lower": "minimum", "lower_bound": "minimum", "at_least": "minimum",
    "max": "maximum", "upper": "maximum", "upper_bound": "maximum", "at_most": "maximum",
    "min_value": "minimum", "max_value": "maximum", "value": "target", "nominal": "target",
    "target_value": "target", "limit": "target", "bound": "target",
    "operator": "comparator", "relation": "comparator", "op": "comparator", "comparison": "comparator",
    "weight": "priority", "importance": "priority", "units": "unit", "tol": "tolerance",
    "conditions": "condition", "corner": "condition", "corners": "condition", "user_words": "words",
    "design_goals": "goals", "questions_to_user": "questions", "question": "questions", "answer": "reply",
    "message": "reply", "circuit": "circuit_type", "type": "circuit_type", "bounds": "range",
}  # fmt: skip


def key_of(name: object) -> str:
    plain = re.sub(r"[\s-]+", "_", str(name)[:LONGEST_NAME].strip().lower())
    return _ALIASES.get(plain, plain)


def spoken(text: str) -> str:
    """The text behind the model's thoughts."""
    ends = list(_END_OF_THOUGHT.finditer(text))
    return text[ends[-1].end() :] if ends else text


def document_in(text: str) -> dict[str, Any] | str:
    """The object that is meant as the answer, or what is wrong."""
    problem = ""
    for part in dict.fromkeys((spoken(text), text)):
        best: dict[str, Any] | None = None
        for piece in _pieces(part):
            value = read_json(piece)
            if isinstance(value, Problem):
                problem = problem or value.cause
                value = read_json(_COMMENT.sub(lambda found: found["kept"] or "", piece))
            document = _as_document(value)
            # Of several the last: who shows the form first, or corrects himself, ends with what is meant.
            if document is not None and (best is None or _weight(document) >= _weight(best)):
                best = document
        if best is not None:
            return best
    if problem:
        return f"The answer is not valid JSON: {problem}."
    if any(bracket in text for bracket in "{["):
        return "The answer is not one JSON object; it may be cut off."
    return "The answer is not a JSON object, but a plain text."


def _pieces(text: str) -> Iterator[str]:
    """Outermost bracketed parts; of one that does not close, what closes inside it. Linear in each start."""
    at = unclosed = 0
    for _ in range(_MOST_PIECES):
        opening = _OPENING.search(text, at)
        if opening is None or unclosed > _MOST_UNCLOSED:
            return
        depth, end = 0, -1
        for token in _TOKEN.finditer(text, opening.start()):
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
            if depth == 0:
                end = token.end()
                break
        if end < 0:
            yield text[opening.start() :]  # what is wrong with it is the best there is to say
            end, unclosed = opening.end(), unclosed + 1
        else:
            yield text[opening.start() : end]
        at = end


def _as_document(value: object) -> dict[str, Any] | None:
    """An answer in one of its shapes: the object, in a wrapper, a list of goals, one goal by itself."""
    if isinstance(value, list):
        objects = [item for item in value if isinstance(item, dict)]
        if len(objects) == 1 and _weight(objects[0]):
            return objects[0]
        return {"goals": value} if objects and all(map(looks_like_goal, objects)) else None
    if not isinstance(value, dict):
        return None
    keys = {key_of(name): name for name in value if isinstance(name, str)}
    if not keys.keys() & _KNOWN:
        for wrapper in _WRAPPERS:
            inner = value.get(keys.get(wrapper, wrapper))
            if isinstance(inner, dict | list) and (found := _as_document(inner)) is not None:
                return found
        if looks_like_goal(value):
            return {"goals": [value]}
    return value if not value or keys.keys() & _KNOWN else None


def _weight(document: Mapping[str, Any]) -> int:
    return len({key_of(name) for name, value in document.items() if value not in (None, "", [], {})} & _KNOWN)


def looks_like_goal(value: Mapping[str, Any]) -> bool:
    return bool({key_of(name) for name in value} & {"expression", "metric"})
