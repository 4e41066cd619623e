"""Damaged files of the user's own folder: told, set aside or refused; never silently empty."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infrastructure.persistence.model_settings import ModelSettingsFile
from infrastructure.persistence.permissions import PermissionFile
from infrastructure.persistence.settings import SimulatorSettingsFile
from infrastructure.persistence.user_json import set_damaged_aside
from infrastructure.persistence.window_state import WindowStateFile
from shared.errors import UserInputError
from tests.integration.cli.conftest import cli  # noqa: F401 - a fixture

DEEP = b'{"a":' * 900 + b"1" + b"}" * 900
DAMAGES = {
    "zeros": bytes(300),
    "truncated": b'{"schema_version": 1, "provid',
    "deep": DEEP,
    "list": b"[1, 2]",
    "number": b"7",
    "no text": b"\xff\xfe\xfa{}",
    "nothing": b"",
}
REPLACED = ("models.json", "key_places.json", "services.json", "token_factors.json")
damages = pytest.mark.parametrize("content", DAMAGES.values(), ids=DAMAGES.keys())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CIRCUIT_DESIGN_AI_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@damages
def test_what_can_be_made_anew_is_set_aside_with_a_word(home, content):
    for name in REPLACED:
        (home / name).write_bytes(content)
    told = [str(message) for message in set_damaged_aside(home)]
    assert [name for name in REPLACED if (home / name).exists()] == []
    for name, text in zip(REPLACED, told, strict=True):
        (kept,) = home.glob(f"{name}.*.damaged")
        assert kept.read_bytes() == content
        assert kept.name in text
    assert set_damaged_aside(home) == ()
    assert ModelSettingsFile(user_home=home).load().providers == {}


def test_what_is_well_stays(home):
    (home / "models.json").write_text('{"chosen": "x"}')
    (home / "services.json").mkdir()  # a folder: no file of ours, and out of the way
    assert len(set_damaged_aside(home)) == 1
    assert json.loads((home / "models.json").read_text()) == {"chosen": "x"}


def test_the_command_line_starts_and_says_it(home, cli):  # noqa: F811 - a fixture
    for name in (*REPLACED, "settings.json", "window.json", "trust.json"):
        (home / name).write_bytes(DEEP)
    run = cli("providers", "list")
    assert run.exit_code == 0
    for name in (*REPLACED, "settings.json"):
        assert f"{name}" in run.stderr
    assert "damaged" not in cli("providers", "list").stderr


@damages
def test_what_decides_about_safety_is_refused_and_stays(home, content, tmp_path):
    for name in ("permissions.json", "simulator_settings.json"):
        (home / name).write_bytes(content)
    with pytest.raises(UserInputError):
        PermissionFile(user_home=home).of_project(tmp_path)
    with pytest.raises(UserInputError):
        SimulatorSettingsFile(user_home=home, environment={}).of_circuit(tmp_path / "a.cir")
    assert (home / "permissions.json").read_bytes() == content


@damages
def test_the_window_begins_anew_and_keeps_the_old_file(home, content):
    (home / "window.json").write_bytes(content)
    state = WindowStateFile(user_home=home).load()
    assert state.damaged is not None
    assert state.damaged.read_bytes() == content
