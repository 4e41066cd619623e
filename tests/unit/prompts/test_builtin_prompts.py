"""The texts we ship: complete, without mistakes in their variables, and mapped to the graph."""

from pathlib import Path

import pytest

from application.conversation.prompting import template_problems
from domain.llm.prompts.catalogue import FORMAT_OF_TASK, FORMATS, TASK_OF_NODE, TASKS, node_of
from domain.llm.prompts.fallbacks import FALLBACK_CONTENTS, FALLBACK_FORMATS, IDENTITY_VARIABLES
from domain.llm.prompts.library import PromptLibrary
from infrastructure.persistence.prompt_files import PromptFiles


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> PromptLibrary:
    return PromptFiles(user_home=tmp_path_factory.mktemp("home")).load()


def test_all_ten_tasks_and_three_formats_are_there(library: PromptLibrary) -> None:
    assert library.warnings == ()
    assert len(library.templates) == 10
    assert {template.source for template in library.templates.values()} == {"builtin"}
    assert set(library.formats) == set(FORMATS)
    assert all(library.formats[name] != FALLBACK_FORMATS[name] for name in FORMATS)
    assert library.identity.source == "builtin"


@pytest.mark.parametrize("task", TASKS)
def test_a_template_uses_what_it_requires_and_nothing_unknown(library: PromptLibrary, task: str) -> None:
    template = library.templates[task]  # type: ignore[index]
    assert template_problems(template, template.content) == []
    assert template.version
    assert "language" in template.content or task == "FREE_WORK_SYSTEM"


def test_every_task_belongs_to_one_step_and_has_a_last_resort() -> None:
    assert sorted(TASK_OF_NODE.values()) == sorted(TASKS) == sorted(FALLBACK_CONTENTS)
    assert TASK_OF_NODE[node_of("FIX_ERROR")] == "FIX_ERROR"


def test_a_task_gets_its_format_once(library: PromptLibrary) -> None:
    for task in TASKS:
        text = library.render_task(task, {}).text
        counts = {name: text.count(library.formats[name]) for name in FORMATS}
        wanted = FORMAT_OF_TASK.get(task)
        assert counts == {name: int(name == wanted) for name in FORMATS}


def test_the_identity_declares_what_the_program_knows(library: PromptLibrary) -> None:
    assert tuple(each.name for each in library.identity.variables) == IDENTITY_VARIABLES


def test_conduct_is_part_of_the_identity(library: PromptLibrary) -> None:
    text = library.identity.content
    for rule in (
        "and no more",
        "use no tool",
        "another way or ask",
        "one short closing",
        "language of the user",
    ):
        assert rule in text


def test_built_in_files_that_are_gone_leave_short_prompts_and_say_so(tmp_path: Path) -> None:
    library = PromptFiles(user_home=tmp_path, builtin=tmp_path / "nowhere").load()
    assert {template.source for template in library.templates.values()} == {"fallback"}
    assert library.identity.source == "fallback"
    assert len(library.warnings) == 3
    for task, template in library.templates.items():
        assert template_problems(template, template.content) == [], task


def test_one_damaged_entry_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "task_prompts.json").write_text(
        '{"templates": {"FIX_ERROR": {"content": 7}, "INITIAL_DESIGN": {"content": "Mine {design_goals}"}}}'
    )
    library = PromptFiles(user_home=tmp_path / "home", builtin=tmp_path).load()
    assert library.templates["FIX_ERROR"].source == "fallback"
    assert library.templates["INITIAL_DESIGN"].content == "Mine {design_goals}"
    assert any("FIX_ERROR" in str(warning) for warning in library.warnings)
