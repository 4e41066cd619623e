"""Prompts on the disk: what is kept, what is taken back, what is never lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from application.conversation.prompting import IdentityText, PromptChanges, Prompting
from domain.llm.prompts.library import MOST_CHARACTERS, IdentityVariable
from infrastructure.persistence.prompt_files import PromptFiles
from shared.errors import CircuitAIError, UserInputError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def prompting(home: Path) -> Prompting:
    return Prompting(store=PromptFiles(user_home=home))


def custom(home: Path, name: str, content: Any = None) -> Path:
    path = home / "prompts" / "custom" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if content is not None:
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def put_a_file_in_the_way(home: Path) -> None:
    home.mkdir()
    (home / "prompts").write_text("no folder")


async def test_only_the_text_is_kept_and_the_rest_inherited(prompting: Prompting, home: Path) -> None:
    library = await prompting.apply(PromptChanges(templates={"FIX_ERROR": "中文 {netlist} {error_message}"}))
    template = library.templates["FIX_ERROR"]
    assert template.source == "custom"
    assert template.content.startswith("中文")
    assert "error_message" in template.required
    kept = json.loads(custom(home, "user_prompts.json").read_text("utf-8"))
    assert kept["schema_version"] == 1
    assert list(kept["templates"]) == ["FIX_ERROR"]


async def test_reset_takes_the_entry_out_of_every_file(prompting: Prompting, home: Path) -> None:
    custom(home, "team.json", {"FIX_ERROR": {"content": "team"}, "INITIAL_DESIGN": {"content": "team"}})
    await prompting.apply(PromptChanges(templates={"FIX_ERROR": "mine"}))
    library = await prompting.apply(PromptChanges(templates={"FIX_ERROR": None}))
    assert library.templates["FIX_ERROR"].source == "builtin"
    assert library.templates["INITIAL_DESIGN"].content == "team"


async def test_the_programs_own_file_wins_over_others(prompting: Prompting, home: Path) -> None:
    custom(home, "zzz.json", {"FIX_ERROR": {"content": "other"}})
    custom(home, "user_prompts.json", {"FIX_ERROR": {"content": "mine"}})
    assert (await prompting.load()).templates["FIX_ERROR"].content == "mine"


async def test_a_text_that_is_the_built_in_one_again_is_no_custom_one(
    prompting: Prompting, home: Path
) -> None:
    default = (await prompting.load()).templates["FIX_ERROR"].default_content
    await prompting.apply(PromptChanges(templates={"FIX_ERROR": "mine"}))
    library = await prompting.apply(PromptChanges(templates={"FIX_ERROR": default}))
    assert library.templates["FIX_ERROR"].source == "builtin"


async def test_what_another_version_wrote_is_kept(prompting: Prompting, home: Path) -> None:
    path = custom(
        home,
        "user_prompts.json",
        {
            "schema_version": 9,
            "colour": "red",
            "templates": {"NEW_TASK": {"content": "x"}, "FIX_ERROR": {"content": "y", "author": "me"}},
        },
    )
    library = await prompting.apply(PromptChanges(templates={"FIX_ERROR": "z"}))
    kept = json.loads(path.read_text("utf-8"))
    assert kept["schema_version"] == 9
    assert kept["colour"] == "red"
    assert kept["templates"] == {"NEW_TASK": {"content": "x"}, "FIX_ERROR": {"content": "z", "author": "me"}}
    assert any("NEW_TASK" in str(warning) for warning in library.warnings)
    assert any("newer version" in str(warning) for warning in library.warnings)


@pytest.mark.parametrize("damaged", ["", "{", "[]", "\x00\xff", '{"templates": []}', "[" * 100_000])
async def test_a_damaged_file_is_kept_aside_before_it_is_written(
    prompting: Prompting, home: Path, damaged: str
) -> None:
    path = custom(home, "user_prompts.json", damaged)
    assert (await prompting.load()).warnings
    library = await prompting.apply(PromptChanges(templates={"FIX_ERROR": "mine"}))
    assert library.templates["FIX_ERROR"].content == "mine"
    if damaged != '{"templates": []}':
        aside = [each for each in path.parent.iterdir() if ".broken-" in each.name]
        assert [each.read_text("utf-8") for each in aside] == [damaged]
    assert library.warnings == ()


@pytest.mark.parametrize("text", ["", " \n\t", "x" * (MOST_CHARACTERS + 1)])
async def test_texts_that_cannot_be_used_are_refused_and_nothing_is_written(
    prompting: Prompting, home: Path, text: str
) -> None:
    with pytest.raises(UserInputError):
        await prompting.apply(PromptChanges(templates={"INITIAL_DESIGN": "good", "FIX_ERROR": text}))
    assert not (home / "prompts").exists()


@pytest.mark.parametrize(
    "entry", ["", {"content": ""}, {"content": None}, 7, ["x"], {"content": "x" * 100_001}]
)
async def test_unusable_entries_of_hand_written_files_fall_back(
    prompting: Prompting, home: Path, entry: object
) -> None:
    custom(home, "user_prompts.json", {"FIX_ERROR": entry, "INITIAL_DESIGN": "plain text is taken too"})
    library = await prompting.load()
    assert library.templates["FIX_ERROR"].source == "builtin"
    assert library.templates["INITIAL_DESIGN"].content == "plain text is taken too"
    assert len(library.warnings) == 1


async def test_the_identity_comes_back_as_it_was_saved(prompting: Prompting, home: Path) -> None:
    before = (await prompting.load()).identity
    variables = (
        before.variables[0],
        IdentityVariable(name="bench", is_required=True, value="E24"),
        IdentityVariable(name="later", value=""),
    )
    saved = (
        await prompting.apply(PromptChanges(identity=IdentityText(content="I", variables=variables)))
    ).identity
    assert (saved.content, saved.variables, saved.source) == ("I", variables, "custom")
    back = (await prompting.apply(PromptChanges(identity="default"))).identity
    assert back == before
    assert not custom(home, "identity_prompt.json").exists()


async def test_an_identity_in_the_documented_shape_is_read(prompting: Prompting, home: Path) -> None:
    custom(
        home,
        "identity_prompt.json",
        {
            "version": "1.0.0",
            "identity": {
                "name": "n",
                "content": "I am {who}.",
                "variables": ["who", "bad name", 3, "project_name"],
                "required_variables": ["who"],
                "metadata": {"is_custom": True},
            },
        },
    )
    identity = (await prompting.load()).identity
    assert identity.content == "I am {who}."
    assert [(each.name, each.is_required, each.value) for each in identity.variables] == [
        ("who", True, ""),
        ("project_name", False, None),
    ]


async def test_a_place_that_cannot_be_written_is_told_and_loses_nothing(
    prompting: Prompting, home: Path
) -> None:
    put_a_file_in_the_way(home)
    with pytest.raises(CircuitAIError) as told:
        await prompting.apply(PromptChanges(templates={"FIX_ERROR": "mine"}))
    assert "prompts" in str(told.value)
    assert (await prompting.load()).templates["FIX_ERROR"].source == "builtin"


async def test_two_writers_keep_each_others_texts(home: Path) -> None:
    one, two = (Prompting(store=PromptFiles(user_home=home)) for _ in range(2))
    await one.apply(PromptChanges(templates={"FIX_ERROR": "one"}, my_preferences="P"))
    library = await two.apply(PromptChanges(templates={"INITIAL_DESIGN": "two"}, about_projects={"/p": "A"}))
    assert library.templates["FIX_ERROR"].content == "one"
    assert library.templates["INITIAL_DESIGN"].content == "two"
    assert library.preferences.mine == "P"
    assert library.preferences.projects == {"/p": "A"}
    library = await one.apply(PromptChanges(about_projects={"/p": ""}))
    assert library.preferences.projects == {}


async def test_half_a_surrogate_pair_does_not_stop_saving(prompting: Prompting) -> None:
    library = await prompting.apply(PromptChanges(templates={"FIX_ERROR": "a\ud83d b"}))
    assert library.templates["FIX_ERROR"].content == "a? b"
