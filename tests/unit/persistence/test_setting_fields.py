"""Settings as fields: what a wrong entry is told, what a dialog is given, the options that stand for them."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import pytest

from domain.llm.agent_limits import AgentLimits
from domain.llm.chat import ProviderChoice
from domain.llm.costs import Price
from domain.llm.service import NetworkSettings
from domain.search.embedding import EmbeddingSettings
from domain.settings import ShownSetting, UserSettings, groups
from domain.simulation.retention import ResultSettings
from infrastructure.persistence.settings import EmbeddingSettingsFile, change_settings, load_settings
from presentation.cli.entry import COMMANDS
from presentation.translation import Translator
from shared.setting import about


def shown(settings: UserSettings, **environment: str) -> dict[str, ShownSetting]:
    return {one.name: one for group in groups(settings, environment) for one in group.settings}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"language": "fr"}, "language must be one of auto, en, zh"),
        ({"libraries": ["models"]}, "libraries must be a list of absolute paths"),
        ({"switch_automatically": 1}, "switch_automatically must be true or false"),
        ({"agent": {"rounds": 0}}, "agent.rounds must be a whole number from 1 to 200"),
        ({"agent": {"rounds": 2.5}}, "agent.rounds must be a whole number from 1 to 200"),
        ({"agent": {"model_seconds": 10**400}}, "agent.model_seconds must be a number from 1 to 86,400 s"),
        ({"agent": {"model_seconds": "x"}}, "agent.model_seconds must be a number from 1 to 86,400 s"),
        ({"agent": {"wheels": 4}}, "agent.wheels is not known"),
        ({"agent": {"session_cost": float("nan")}}, "agent.session_cost must be a number from"),
        ({"agent": 3}, "agent must be an object"),
        ({"results": {"keep": -1}}, "results.keep must be a whole number of at least 0"),
        ({"embedding": {"model": "m"}}, "embedding.provider must be one of zhipu"),
        ({"embedding": {"provider": "ollama", "model": " "}}, "embedding.model must be a text"),
        ({"network": {"proxy": "ftp://p"}}, 'network.proxy must be as in "socks5://HOST:1080"'),
        ({"models": {"m": {"tools": "maybe"}}}, "models.tools must be one of yes, prompted, no"),
        ({"small_model": {"model": "m"}}, "small_model.provider must be a text"),
        ({"alternatives": {}}, 'alternatives must be as in [{"provider": "zhipu"}'),
        (
            {"prices": {"m": {"input": -1, "output": 1}}},
            "prices.input must be a number from 0 to",
        ),
        ({"prices": []}, 'prices must be as in {"glm-4.6"'),
        ({"schema_version": "new"}, "schema_version must be a whole number"),
    ],
)
def test_a_wrong_entry_is_named_with_what_it_has_to_be(tmp_path: Path, content: dict, told: str) -> None:
    (tmp_path / "settings.json").write_text(json.dumps(content))
    (warning,) = load_settings(tmp_path).warnings
    assert told in str(warning)
    assert str(tmp_path) in Translator("zh")(warning)
    assert told not in Translator("zh")(warning)


def test_every_setting_has_a_title_and_a_help_in_one_group() -> None:
    found = groups(UserSettings(), {})
    names = [one.name for group in found for one in group.settings]
    assert len(names) == len(set(names)) >= 30
    assert all(group.title.template and group.settings for group in found)
    for group in found:
        for one in group.settings:
            assert about(one.field).title.template, one.name
            assert about(one.field).help.template, one.name
            assert str(one.allowed), one.name


def test_a_dialog_is_told_values_and_where_they_come_from(tmp_path: Path) -> None:
    content = {"agent": {"rounds": 15, "warn_round": 0}, "results": {"keep": 20}, "ngspice_path": "/opt/n"}
    (tmp_path / "settings.json").write_text(json.dumps(content))
    found = shown(load_settings(tmp_path), LANG="zh_CN.UTF-8", HTTPS_PROXY="http://p:1")
    told = {name: (one.value, one.source) for name, one in found.items()}
    assert told["agent.rounds"] == (15, "default"), "the group is not understood"
    assert told["results.keep"] == (20, "file"), "said, though it is the default"
    assert told["results.run_bytes"] == (2**30, "default")
    assert told["ngspice_path"] == (Path("/opt/n"), "file")
    assert told["language"] == ("auto", "environment")
    assert told["network.proxy"][1] == "environment"
    assert told["network.certificates"][1] == "default"
    assert about(found["agent.rounds"].field).bounds == (1, 200)
    assert (
        shown(UserSettings(language="en", given=frozenset({"language"})), LANG="zh")["language"].source
        == "file"
    )


def test_a_change_keeps_the_rest_of_the_file_as_it_is(tmp_path: Path) -> None:
    before = {"theme": [1], "agent": {"rounds": 0}, "libraries": ["~/models"], "schema_version": 3}
    (tmp_path / "settings.json").write_text(json.dumps(before))
    prices = {"m": Price(input=1.0, output=4.0, long_from=1000, long_input=2.0)}
    alternatives = (ProviderChoice(provider="ollama", model="q"),)
    change_settings(tmp_path, lambda old: replace(old, prices=prices, alternatives=alternatives))
    content = json.loads((tmp_path / "settings.json").read_text())
    assert {name: content[name] for name in before} == before
    found = load_settings(tmp_path)
    assert (found.prices, found.alternatives) == (prices, alternatives)
    change_settings(tmp_path, lambda old: replace(old, prices={}, alternatives=()))
    assert json.loads((tmp_path / "settings.json").read_text()) == before


def test_what_is_set_comes_back_whole(tmp_path: Path) -> None:
    settings = UserSettings(
        agent=AgentLimits(rounds=3, session_cost=2.5, currency="CNY"),
        results=ResultSettings(max_bytes=None, keep=0),
        embedding=EmbeddingSettings(provider="ollama", model="bge-m3", dimensions=64),
    )
    change_settings(tmp_path, lambda _: settings)
    assert load_settings(tmp_path) == settings
    assert settings.results is not None
    assert settings.results.policy.max_bytes == 2**62
    store = EmbeddingSettingsFile(user_home=tmp_path)
    assert store.load() == settings.embedding
    store.save(None)
    assert load_settings(tmp_path) == replace(settings, embedding=None)
    (tmp_path / "settings.json").write_text('{"embedding": {"provider": "nobody"}, "language": "en"}')
    store.save(None)
    assert load_settings(tmp_path) == UserSettings(language="en"), "off also clears what is not understood"


def test_the_files_of_earlier_versions_open(tmp_path: Path) -> None:
    """As the program wrote them when it always wrote every entry."""
    written = {
        "schema_version": 1, "language": "zh", "libraries": ["/pdk"], "ngspice_path": None, "agent": None,
        "small_model": {"provider": "ollama", "model": "qwen3:4b", "base_url": ""}, "alternatives": [],
        "network": {"proxy": "", "certificates": None}, "models": {}, "prices": {},
        "switch_automatically": False, "results": {"max_bytes": 2**62, "keep": 7, "run_bytes": None},
        "embedding": {"provider": "zhipu", "model": "embedding-3", "base_url": "", "dimensions": None,
                      "batch_size": 32, "timeout_s": 30.0, "max_characters": 1600, "verified_at": ""},
    }  # fmt: skip
    (tmp_path / "settings.json").write_text(json.dumps(written))
    found = load_settings(tmp_path)
    assert found.warnings == ()
    assert found.results == ResultSettings(max_bytes=2**62, keep=7)
    assert found.embedding == EmbeddingSettings(provider="zhipu", model="embedding-3")
    assert found.small_model == ProviderChoice(provider="ollama", model="qwen3:4b")
    by_hand = {"network": {"proxy": "http://p:3128", "certificates": ""}}
    (tmp_path / "settings.json").write_text(json.dumps(by_hand))
    found = load_settings(tmp_path)
    assert found.warnings == ()
    assert found.network == NetworkSettings(proxy="http://p:3128")


def test_the_options_that_settings_name_are_there() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    known: set[str] = set()
    for name, command in COMMANDS.items():
        sub = commands.add_parser(name)
        command.add_arguments(sub)
        known.update(option for action in sub._actions for option in action.option_strings)
    named = {about(one.field).option for one in shown(UserSettings()).values()} - {""}
    assert {"--library", "--keep", "--max-size", "--max-cost"} <= named <= known


def test_an_option_has_the_bounds_of_its_setting(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    COMMANDS["clean"].add_arguments(parser)
    assert parser.parse_args(["--keep", "3"]).keep == 3
    for wrong in ("-1", "1.5", "many"):
        with pytest.raises(SystemExit):
            parser.parse_args([f"--keep={wrong}"])
    assert "a whole number of at least 0" in capsys.readouterr().err
