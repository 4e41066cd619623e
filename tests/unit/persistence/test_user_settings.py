"""The user's settings: defaults, warnings, nothing lost."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from domain.llm.agent_limits import AgentLimits
from domain.settings import UserSettings
from domain.simulation.retention import ResultSettings
from infrastructure.persistence.settings import UserSettingsFile, change_settings, load_settings
from presentation.translation import language_in
from shared.setting import WrongSetting
from tests.ground.cases import for_each


def write(home, content):
    home.mkdir(exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (home / "settings.json").write_text(text)


def test_without_a_file_everything_is_default(tmp_path):
    assert load_settings(tmp_path / "nowhere") == UserSettings()
    assert not (tmp_path / "nowhere").exists()


def test_what_was_saved_comes_back(tmp_path):
    settings = UserSettings(
        language="zh", libraries=(Path("/pdk/模型"), Path("/lib")), ngspice_path=Path("/opt/ngspice")
    )
    change_settings(tmp_path / "home", lambda _: settings)
    assert load_settings(tmp_path / "home") == settings
    assert json.loads((tmp_path / "home/settings.json").read_text("utf-8"))["schema_version"] == 1


def test_entries_of_other_versions_survive(tmp_path):
    write(tmp_path, {"schema_version": 1, "theme": {"dark": True}, "language": "en"})
    settings = load_settings(tmp_path)
    assert settings.warnings == ()
    change_settings(tmp_path, lambda old: replace(old, language="zh"))
    assert json.loads((tmp_path / "settings.json").read_text())["theme"] == {"dark": True}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("language", "fr"),
        ("language", 3),
        ("language", ["en"]),
        ("libraries", "/one"),
        ("libraries", ["relative"]),
        ("libraries", [1]),
        ("libraries", {"a": 1}),
        ("ngspice_path", ""),
        ("ngspice_path", 5),
        ("ngspice_path", "/a\0b"),
        ("schema_version", "new"),
        ("schema_version", True),
    ],
)
def test_one_bad_entry_costs_only_itself(tmp_path, name, value):
    good = {"schema_version": 1, "language": "zh", "libraries": ["/lib"], "ngspice_path": "/n"}
    write(tmp_path, {**good, name: value})
    settings = load_settings(tmp_path)
    assert [warning.params["name"] for warning in settings.warnings] == [name]
    kept = {"language": "zh", "libraries": (Path("/lib"),), "ngspice_path": Path("/n")}
    for other, expected in kept.items():
        assert getattr(settings, other) == (getattr(UserSettings(), other) if other == name else expected)


@pytest.mark.parametrize("content", ["", "{", "[]", "nul", '"x"', "\x00", "[" * 100_000])
def test_a_broken_file_is_kept_aside_and_told(tmp_path, content):
    write(tmp_path, content)
    settings = load_settings(tmp_path)
    (warning,) = settings.warnings
    (aside,) = tmp_path.iterdir()
    assert aside.name.startswith("settings.json.broken-")
    assert aside.read_text() == content
    assert str(aside) in str(warning)
    assert settings.language == "auto"
    assert load_settings(tmp_path).warnings == ()


def test_a_newer_version_is_told(tmp_path):
    write(tmp_path, {"schema_version": 7, "language": "zh"})
    settings = load_settings(tmp_path)
    assert settings.language == "zh"
    assert "newer" in str(settings.warnings[0])


def test_what_cannot_be_read_is_told_and_not_touched(tmp_path):
    os.mkfifo(tmp_path / "settings.json")
    settings = load_settings(tmp_path)
    assert len(settings.warnings) == 1
    assert (tmp_path / "settings.json").exists()


def test_a_linked_settings_file_is_read(tmp_path):
    write(tmp_path / "dotfiles", {"language": "zh"})
    (tmp_path / "home").mkdir()
    (tmp_path / "home/settings.json").symlink_to("../dotfiles/settings.json")
    assert load_settings(tmp_path / "home").language == "zh"


@for_each(
    ("environment", "expected"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LANG": "en_US.UTF-8", "LANGUAGE": "zh_CN:en"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LANGUAGE": "en"}, "en"),
        ({"LANG": "C", "LANGUAGE": "zh"}, "en"),
        ({"LANG": "", "LC_ALL": ""}, "en"),
    ],
)
def test_the_language_of_the_system(environment, expected):
    assert language_in(UserSettings().language, environment) == expected


def test_a_chosen_language_wins():
    assert language_in("en", {"LANG": "zh_CN.UTF-8"}) == "en"
    assert language_in("zh", {}) == "zh"


def test_limits_of_a_turn_are_settings(tmp_path):
    write(tmp_path, {"agent": {"rounds": 30, "model_seconds": 12.5}})
    settings = load_settings(tmp_path)
    assert settings.warnings == ()
    assert (settings.agent.rounds, settings.agent.model_seconds) == (30, 12.5)
    assert settings.agent.calls_per_answer == AgentLimits().calls_per_answer
    change_settings(tmp_path / "new", lambda _: settings)
    assert load_settings(tmp_path / "new") == settings


@pytest.mark.parametrize(
    "limits", [{"rounds": 0}, {"rounds": "many"}, {"rounds": True}, {"rounds": 1.5}, {"wheels": 4}, [15]]
)
def test_limits_that_are_none_give_a_warning_and_the_defaults(tmp_path, limits):
    write(tmp_path, {"agent": limits})
    settings = load_settings(tmp_path)
    assert settings.agent is None
    assert "agent" in str(settings.warnings[0])


def test_what_one_run_may_write_is_a_setting(tmp_path):
    assert load_settings(tmp_path).results is None
    write(tmp_path, {"results": {"run_bytes": 2**21}})
    settings = load_settings(tmp_path)
    assert (settings.warnings, settings.results.run_bytes) == ((), 2**21)
    assert settings.results.policy == ResultSettings().policy
    change_settings(tmp_path / "new", lambda _: settings)
    assert load_settings(tmp_path / "new") == settings


@pytest.mark.parametrize("wrong", [0, 2**20 - 1, 2**40 + 1, "1 GB", True, 1.5e9])
def test_a_limit_of_a_run_out_of_bounds_is_told_and_left(tmp_path, wrong):
    write(tmp_path, {"results": {"run_bytes": wrong}})
    settings = load_settings(tmp_path)
    assert [warning.params["name"] for warning in settings.warnings] == ["results"]
    assert settings.results is None


def test_one_setting_is_changed_and_the_rest_of_the_file_stays(tmp_path):
    one, other = UserSettingsFile(user_home=tmp_path), UserSettingsFile(user_home=tmp_path)
    write(tmp_path, {"theme": 7, "agent": {"rounds": 20}, "removed_days": 40})
    assert one.set("agent.warn_round", 12).agent == AgentLimits(rounds=20, warn_round=12)
    assert other.set("results.max_bytes", None).results == ResultSettings(max_bytes=None)
    assert one.set("agent.rounds", AgentLimits().rounds).agent.rounds == AgentLimits().rounds
    kept = json.loads(one.path.read_text())
    assert (kept["theme"], kept["removed_days"]) == (7, 40)
    assert kept["agent"] == {"warn_round": 12}, "a default is not written"
    assert kept["results"] == {"max_bytes": None}
    settings = other.reset(["agent.warn_round", "results.max_bytes", "removed_days", "network.proxy"])
    assert settings == UserSettings()
    assert json.loads(one.path.read_text()).keys() == {"theme", "schema_version"}


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("agent.rounds", 0, "a whole number from 1 to 200"),
        ("agent.rounds", "9", "a whole number from 1 to 200"),
        ("language", "fr", "one of auto, en, zh"),
        ("network.proxy", "gopher://x", None),
        ("libraries", ["relative"], "a list of absolute paths"),
    ],
)
def test_a_value_that_cannot_be_is_refused_and_nothing_is_written(tmp_path, name, value, needed):
    file = UserSettingsFile(user_home=tmp_path)
    with pytest.raises(WrongSetting) as caught:
        file.set(name, value)
    assert needed is None or str(caught.value.needed) == needed
    assert not file.path.exists()


def test_what_is_wrong_in_the_same_group_is_said_before_a_change_is_lost_in_it(tmp_path):
    write(tmp_path, {"agent": {"rounds": "many"}})
    file = UserSettingsFile(user_home=tmp_path)
    with pytest.raises(WrongSetting, match=r"agent\.rounds"):
        file.set("agent.parallel", 2)
    assert file.reset(["agent.rounds"]).warnings == ()
    assert file.set("agent.parallel", 2).agent == AgentLimits(parallel=2)
