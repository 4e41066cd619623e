"""Placeholders: what is one, and what is put in its place."""

from dataclasses import dataclass

from domain.llm.prompts.library import closest, fill, is_variable_name, names_in, placeholders
from tests.ground.cases import for_each


@dataclass(frozen=True)
class Goal:
    metric: str
    target: float
    _secret: str = "hidden"


@for_each(
    ("text", "expected"),
    [
        ("{name}", "rc"),
        ("a {name}{name} b", "a rcrc b"),
        ("{goal.metric} {goal.target}", "cutoff 10000.0"),
        ("{goals.1.metric}|{goals.9.metric}|{goals.x}", "peak||"),
        ("{table.deep.key}", "v"),
        ("{goals}", '[{"metric": "cutoff"}, {"metric": "peak"}]'),
        ("{goal}", '{"metric": "cutoff", "target": 10000.0, "_secret": "hidden"}'),
        ("{word}", "高通"),
        ("{flag} {count} {nothing}.", "true 3 ."),
        ("{optional}|", "|"),
        ("R1 a b {rval}", "R1 a b {rval}"),
        ("{R1*2} { name } {} {1a} {a-b}", "{R1*2} { name } {} {1a} {a-b}"),
        ('{"goals": [{"a": {"b": 1}}]}', '{"goals": [{"a": {"b": 1}}]}'),
        ("{{name}} and {name}", "{name} and rc"),
        ("{goal._secret}{goal.__class__}", "{goal._secret}{goal.__class__}"),
        ("{goal.replace}{word.upper}", ""),
        ("{sly}", "{name} {{name}}"),
    ],
)
def test_filling(text: str, expected: str) -> None:
    values = {
        "name": "rc",
        "goal": Goal("cutoff", 1e4),
        "goals": [{"metric": "cutoff"}, {"metric": "peak"}],
        "table": {"deep": {"key": "v"}},
        "word": "高通",
        "flag": True,
        "count": 3,
        "nothing": None,
        "sly": "{name} {{name}}",
    }
    assert fill(text, values, declared=["optional"]) == expected


def test_what_is_shown_can_be_changed_after_the_path_was_followed() -> None:
    shown = fill("{a.b}", {"a": {"b": "x"}}, show=lambda name, text: f"[{name}:{text}]")
    assert shown == "[a:x]"


def test_places_of_placeholders() -> None:
    text = "a {b.c} {{d}} {e}"
    found = list(placeholders(text))
    assert [(each.name, text[each.start : each.end]) for each in found] == [("b", "{b.c}"), ("e", "{e}")]
    assert names_in(text) == {"b", "e"}


@for_each("name", ["", "1a", "a b", "a.b", "a-b", "变量", "a" * 65, "a\n"])
def test_names_a_variable_cannot_have(name: str) -> None:
    assert not is_variable_name(name)


def test_a_misspelt_name_finds_the_one_that_was_meant() -> None:
    assert closest("user_langage", ["user_language", "metrics"]) == "user_language"
    assert closest("zzz", ["user_language", "metrics"]) is None
