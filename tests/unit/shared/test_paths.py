"""Where things live."""

from pathlib import Path

import pytest

from shared.paths import circuit_of_goals, goals_file_name, is_project, project_root_of, user_home


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"HOME": "/home/ann"}, "/home/ann/.circuit_design_ai"),
        ({"HOME": "/home/ann", "CIRCUIT_DESIGN_AI_HOME": "/data/cda"}, "/data/cda"),
        ({"HOME": "/home/ann", "CIRCUIT_DESIGN_AI_HOME": "~/cda"}, "/home/ann/cda"),
        ({"HOME": "/home/ann", "CIRCUIT_DESIGN_AI_HOME": "  "}, "/home/ann/.circuit_design_ai"),
        ({"CIRCUIT_DESIGN_AI_HOME": "/data/x/../cda/"}, "/data/cda"),
    ],
)
def test_the_users_folder(env, expected):
    assert user_home(env) == Path(expected)


def test_a_relative_name_of_the_users_folder_becomes_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert user_home({"CIRCUIT_DESIGN_AI_HOME": "here"}) == tmp_path / "here"


def test_the_nearest_project_counts(tmp_path):
    (tmp_path / "outer/.circuit_ai").mkdir(parents=True)
    (tmp_path / "outer/inner/.circuit_ai").mkdir(parents=True)
    (tmp_path / "outer/inner/deep").mkdir()
    assert project_root_of(tmp_path / "outer/inner/deep/a.cir") == tmp_path / "outer/inner"
    assert project_root_of(tmp_path / "outer/b.cir") == tmp_path / "outer"
    assert project_root_of(tmp_path / "outer") == tmp_path / "outer"
    assert project_root_of(tmp_path / "lone.cir") is None


def test_a_relative_path_is_seen_from_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / ".circuit_ai").mkdir()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert project_root_of(Path("a.cir")) == tmp_path
    assert project_root_of(Path("../a.cir")) == tmp_path


def test_neither_a_file_nor_a_link_of_that_name_makes_a_project(tmp_path):
    (tmp_path / "file").mkdir()
    (tmp_path / "file/.circuit_ai").write_text("")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").mkdir()
    (tmp_path / "link/.circuit_ai").symlink_to(tmp_path / "elsewhere")
    assert not is_project(tmp_path / "file")
    assert not is_project(tmp_path / "link")


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_a_name_no_file_can_have_is_in_no_project(tmp_path, name):
    assert project_root_of(tmp_path / name / "a.cir") is None


@pytest.mark.parametrize(
    "circuit", ["amp.cir", "sub dir/amp.cir", "滤波器/甲.cir", ".odd%~name.cir", "a\\b*?.cir"]
)
def test_a_file_of_goals_names_its_circuit(circuit):
    name = goals_file_name(circuit)
    assert "/" not in name
    assert circuit_of_goals(f".circuit_ai/goals/{name}") == circuit


def test_a_shortened_name_of_goals_and_other_files_name_none():
    name = goals_file_name("x" * 300 + ".cir")
    assert len(name) <= 205
    places = [f".circuit_ai/goals/{name}", "amp.cir", "goals/amp.cir.json", ".circuit_ai/amp.cir.json"]
    assert [circuit_of_goals(place) for place in places] == [""] * 4
