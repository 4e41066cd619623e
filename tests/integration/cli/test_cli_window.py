"""What the command line does where the window cannot be shown."""

from __future__ import annotations

import socket

import pytest

from presentation.cli.display import display_problem

NO_DISPLAY = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": ""}


def test_without_a_display_the_demo_runs_and_says_so(cli):
    result = cli(**NO_DISPLAY)
    assert result.exit_code == 0
    assert "There is no display here. Running the demo on the command line instead." in result.stderr
    assert "Both circuits meet their goals" in result.stdout


def test_the_note_is_in_the_users_language(cli, tmp_path):
    result = cli(tmp_path, **NO_DISPLAY, LANG="zh_CN.UTF-8")
    assert result.exit_code == 3
    assert "无法显示窗口" in result.stderr
    assert "此处没有显示器" in result.stderr


def test_a_project_that_was_named_is_not_answered_by_a_demo(cli, tmp_path):
    result = cli(tmp_path, **NO_DISPLAY)
    assert result.exit_code == 3
    assert "The window cannot be shown. There is no display here." in result.stderr
    assert "main.py --help" in result.stderr


def test_a_display_that_does_not_answer_is_named(cli, tmp_path):
    result = cli(tmp_path, DISPLAY=":4711", WAYLAND_DISPLAY="", QT_QPA_PLATFORM="")
    assert result.exit_code == 3
    assert "The display :4711 does not respond." in result.stderr


@pytest.mark.parametrize("words", [("no-such-folder",), ("tests", "too-much")])
def test_what_is_neither_command_nor_folder_is_told(cli, words):
    result = cli(*words)
    assert result.exit_code == 2
    assert f"{' '.join(words)} is neither a command nor a folder." in result.stderr


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"QT_QPA_PLATFORM": "offscreen"}, None),
        ({"QT_QPA_PLATFORM": "offscreen:enable_fonts"}, None),
        ({}, "There is no display here."),
        ({"DISPLAY": ":4711"}, "The display :4711 does not respond."),
        ({"DISPLAY": ":4711.0"}, "The display :4711.0 does not respond."),
        ({"DISPLAY": "127.0.0.1:58000"}, "The display 127.0.0.1:58000 does not respond."),
        ({"DISPLAY": "/private/tmp/launch-x/org.xquartz:0"}, None),
        ({"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": "/nowhere"}, "There is no display here."),
        ({"QT_QPA_PLATFORM": "xcb"}, "There is no display here."),
    ],
)
def test_what_counts_as_a_display(environment, expected):
    problem = display_problem(environment)
    assert (None if problem is None else str(problem)) == expected


def test_a_wayland_socket_counts(tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "wayland-0"))
        environment = {"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": str(tmp_path)}
        assert display_problem(environment) is None
        assert display_problem({**environment, "QT_QPA_PLATFORM": "xcb"}) is not None


def test_an_x_server_counts(tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0/tmp/.X11-unix/X4712")
        server.listen()
        assert display_problem({"DISPLAY": ":4712"}) is None
        assert display_problem({"DISPLAY": ":4712.0"}) is None
