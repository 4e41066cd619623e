"""What the window remembers: kept whole, and never in the way when it is damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from application.project.window_state import (
    MOST_RECENT,
    CircuitView,
    ConversationTab,
    ProjectMemory,
    WindowState,
)
from infrastructure.persistence.window_state import FILE, WindowStateFile
from shared.errors import CircuitAIError

PROJECT = Path("/projects/filter")
STATE = WindowState(
    language="zh",
    theme="dark",
    scale=1.25,
    geometry=(-1200, 40, 1440, 900),
    is_maximized=True,
    shown_panes={"left": False, "bottom": True, "right": True},
    sizes={"panes": (236, 764, 440)},
    right_panel="debug",
    last_project=PROJECT,
    projects={
        PROJECT: ProjectMemory(
            main_circuit="电路/filter.cir",
            open_files=("filter.cir", "lib/a.lib"),
            shown_file="filter.cir",
            expanded=("lib",),
            sizes={"left": (200, 100, 500)},
            views={
                "电路/filter.cir": CircuitView(
                    analysis="ac",
                    traces={"ac": ["v(out)", "v(out)/v(in)"]},
                    zooms={"ac": {"": (1.0, 3.5), "dB": (-40.0, 0.0)}},
                    measurements=["max(v(out))"],
                )
            },
            accepted={"filter.cir": "00" * 32},
            places={"filter.cir": (12, 3, 5)},
            bottom_panel="iterations",
            conversations=(ConversationTab(conversation="01"), ConversationTab(draft="a", mode="workflow")),
            front_conversation=1,
            drafts={"": "什么是", "01J": "and the gain?"},
        )
    },
)


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    store = WindowStateFile(user_home=tmp_path / "new" / "home")
    store.save(STATE)
    assert store.load() == STATE


def test_no_file_is_the_default(tmp_path: Path) -> None:
    assert WindowStateFile(user_home=tmp_path).load() == WindowState()


@pytest.mark.parametrize(
    "content",
    ["", "{", "null", "[1]", '"x"', "\x00", "{" * 20_000, '{"projects": 3, "sizes": [], "geometry": "x"}'],
)
def test_a_damaged_file_is_the_default(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content, "utf-8")
    store = WindowStateFile(user_home=tmp_path)
    found = store.load()
    assert replace(found, damaged=None) == WindowState()
    if found.damaged is not None:
        assert found.damaged.read_text("utf-8") == content
        assert store.load() == WindowState(), "told once"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("language", "fr"),
        ("theme", 3),
        ("theme", ["light"]),
        ("scale", 40),
        ("scale", True),
        ("scale", float("nan")),
        ("geometry", [1, 2, 3]),
        ("geometry", [1, 2, -3, 4]),
        ("geometry", [1.5, 2, 3, 4]),
        ("shown_panes", {"left": "no"}),
        ("sizes", {"panes": [10**9]}),
        ("right_panel", 3),
        ("last_project", "relative"),
        ("last_project", "/a\0b"),
    ],
)
def test_one_wrong_entry_costs_that_entry_alone(tmp_path: Path, name: str, value: object) -> None:
    store = WindowStateFile(user_home=tmp_path)
    store.save(STATE)
    path = tmp_path / FILE
    content = json.loads(path.read_text("utf-8"))
    content[name] = value
    path.write_text(json.dumps(content), "utf-8")
    found = store.load()
    assert getattr(found, name) == getattr(WindowState(), name)
    assert replace(found, **{name: getattr(STATE, name)}) == STATE


@pytest.mark.parametrize(
    ("right_tab", "bottom_tab", "right_panel", "bottom_panel"),
    [
        (0, 0, "conversation", "waveforms"),
        (2, 3, "debug", "problems"),
        (4, 9, "", ""),
        ("x", -1, "conversation", "waveforms"),
    ],
)
def test_panels_that_were_kept_by_the_position_of_their_tabs_are_found(
    tmp_path: Path, right_tab: object, bottom_tab: object, right_panel: str, bottom_panel: str
) -> None:
    old = {
        "schema_version": 1,
        "theme": "dark",
        "right_tab": right_tab,
        "projects": [{"path": str(PROJECT), "main_circuit": "filter.cir", "bottom_tab": bottom_tab}],
    }
    (tmp_path / FILE).write_text(json.dumps(old))
    found = WindowStateFile(user_home=tmp_path).load()
    assert (found.theme, found.right_panel) == ("dark", right_panel)
    assert found.memory_of(PROJECT) == ProjectMemory(main_circuit="filter.cir", bottom_panel=bottom_panel)
    WindowStateFile(user_home=tmp_path).save(found)
    assert WindowStateFile(user_home=tmp_path).load() == found


def test_wrong_projects_are_left_out_and_the_others_stay(tmp_path: Path) -> None:
    store = WindowStateFile(user_home=tmp_path)
    store.save(STATE)
    path = tmp_path / FILE
    content = json.loads(path.read_text("utf-8"))
    content["projects"] = [3, {"path": None}, {"path": "x"}, *content["projects"], {"path": str(PROJECT)}]
    path.write_text(json.dumps(content), "utf-8")
    assert store.load().projects == STATE.projects


def test_names_that_are_no_text_come_back(tmp_path: Path) -> None:
    odd = Path("/projects/\udcff")
    store = WindowStateFile(user_home=tmp_path)
    store.save(WindowState(last_project=odd))
    assert store.load().last_project in (odd, None)  # never an exception at the start of the program


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(CircuitAIError):
        WindowStateFile(user_home=tmp_path / "home").save(STATE)


def test_the_latest_project_is_first_and_the_oldest_is_forgotten() -> None:
    state = WindowState()
    for number in range(MOST_RECENT + 3):
        state = state.with_memory(Path(f"/p{number}"), ProjectMemory(main_circuit=str(number)))
    assert state.recent[0] == Path(f"/p{MOST_RECENT + 2}")
    assert len(state.recent) == MOST_RECENT
    assert Path("/p0") not in state.recent
    state = replace(state, last_project=Path("/p5")).without(Path("/p5"))
    assert Path("/p5") not in state.recent
    assert state.last_project is None


def test_two_windows_keep_what_each_has_changed(tmp_path: Path) -> None:
    store = WindowStateFile(user_home=tmp_path)
    store.save(STATE)
    other = Path("/projects/other")
    first = replace(STATE, theme="light")
    second = replace(STATE, language="en", last_project=other).with_memory(
        other, ProjectMemory(main_circuit="other.cir")
    )
    store.update(STATE, first)
    store.update(STATE, second)
    found = store.load()
    assert (found.theme, found.language, found.scale) == ("light", "en", 1.25)
    assert found.recent == (other, PROJECT)
    first_again = first.with_memory(PROJECT, ProjectMemory(main_circuit="b.cir"))
    store.update(first, first_again)
    found = store.load()
    assert found.last_project == other
    assert found.memory_of(PROJECT).main_circuit == "b.cir"
    assert found.memory_of(other).main_circuit == "other.cir"
    store.update(second, second.without(PROJECT))
    assert store.load().recent == (other,)
