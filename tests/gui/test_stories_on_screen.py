"""Runs each story of `stories/` in a process of its own on a virtual screen, with real clicks and keys.

A story is a file of coroutine tests; `hand` is the mouse and the keyboard. What the screen showed when
it failed is saved beside the temporary files of the test.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.gui.x_server import environment_for, virtual_screen

ROOT = Path(__file__).resolve().parents[2]
STORIES = sorted((Path(__file__).parent / "stories").glob("story_*.py"))
FAST = [story for story in STORIES if story.stem != "story_stream_load"]
"""All but that of two streams: what it tells takes load and time (`test_stream_load.py` has a part)."""


@pytest.mark.timeout(240)
@pytest.mark.parametrize("story", FAST, ids=lambda path: path.stem.removeprefix("story_"))
def test_story(story, tmp_path):
    run_story(story, tmp_path)


@pytest.mark.torture
@pytest.mark.timeout(400)
def test_two_long_streams(tmp_path):
    (story,) = (each for each in STORIES if each.stem == "story_stream_load")
    run_story(story, tmp_path, "-m", "torture")


def run_story(story, tmp_path, *options):
    home = tmp_path / "home"  # Qt and Chromium write settings into it
    home.mkdir()
    with virtual_screen() as display:
        run = subprocess.run(
            [
                sys.executable, "-m", "pytest", str(story), "-q", "-o", "python_files=story_*.py",
                "--timeout=200", f"--basetemp={tmp_path / 'story'}", *options,
            ],
            cwd=ROOT,
            env=environment_for(display, HOME=str(home)),
            capture_output=True,
            check=False,
            text=True,
        )  # fmt: skip
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-20000:]
