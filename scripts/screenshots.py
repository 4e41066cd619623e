"""Take pictures of the window on a virtual screen: themes, languages, sizes, scales.

    python -m scripts.screenshots [FOLDER]       (make screenshots: build/screenshots)
    python -m scripts.screenshots --readme       the picture in the README
    python -m scripts.screenshots --tutorial     those of docs/tutorial.md, in both languages

The program itself is started on a copy of the bundled example, runs it once, and is closed again; each
picture is what the X server showed. The states of the main job (a problem, goals, rounds, a stream ...) are
pictures of the story that the tests tell (`tests/gui/stories/story_main_job.py`), told once in each dress.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from application.app import Application
from application.project.window_state import ProjectMemory, WindowLanguage, WindowState, WindowTheme

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "resources" / "examples" / "sallen-key-filter"
README_PICTURE = ROOT / "docs" / "pictures" / "window.png"
_TUTORIAL_COLORS = 192
_PATIENCE_S = 60.0
_SETTLING_S = 1.0
"""After the last event: time for a web view to draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One picture: how the window is dressed, and how large."""

    name: str
    theme: WindowTheme = "light"
    language: WindowLanguage = "en"
    scale: float = 1.0
    size: tuple[int, int] = (1440, 900)
    opens_project: bool = True
    panel: str = "conversation"
    """The key of the one in front at the right."""


PICTURES = (
    Picture(name="main-light"),
    Picture(name="main-dark-zh", theme="dark", language="zh"),
    Picture(name="main-dark", theme="dark"),
    Picture(name="main-light-zh", language="zh"),
    Picture(name="small-1280x720", size=(1280, 720)),
    Picture(name="small-1280x720-dark-zh", theme="dark", language="zh", size=(1280, 720)),
    Picture(name="large-2560x1440", size=(2560, 1440)),
    Picture(name="large-2560x1440-dark-zh-200", theme="dark", language="zh", scale=2.0, size=(2560, 1440)),
    Picture(name="scale-125", scale=1.25),
    Picture(name="scale-200", scale=2.0, size=(1920, 1200)),
    Picture(name="debug", panel="debug"),
    Picture(name="debug-dark-zh", theme="dark", language="zh", panel="debug"),
    Picture(name="info", panel="info"),
    Picture(name="info-dark-zh", theme="dark", language="zh", panel="info"),
    Picture(name="welcome", opens_project=False),
    Picture(name="welcome-dark-zh", theme="dark", language="zh", opens_project=False),
)


STORIES = (
    Picture(name="light-en"),
    Picture(name="dark-zh", theme="dark", language="zh"),
)
"""The dresses in which the main job is told; their pictures are named after dress and state."""


ROWS = tuple(
    Picture(name=f"rows-{theme}-{language}", theme=theme, language=language, size=(440, 6400))
    for theme, language in (("light", "en"), ("dark", "en"), ("light", "zh"), ("dark", "zh"))
)
"""The dresses in which a page with a row of each kind in each state is shown."""


def main(argv: list[str]) -> int:
    """Take all pictures; each window, and each story, in a process of its own."""
    if argv[:1] == ["--one"]:
        return _take(_picture(argv[1]), Path(argv[2]), Path(argv[3]))
    if argv[:1] == ["--story"]:
        return _tell(next(each for each in STORIES if each.name == argv[1]), Path(argv[3]))
    if argv[:1] == ["--rows"]:
        return _show_rows(next(each for each in ROWS if each.name == argv[1]), Path(argv[3]))
    if argv[:1] == ["--readme"]:
        README_PICTURE.parent.mkdir(parents=True, exist_ok=True)
        return 1 if _start("--one", PICTURES[0], README_PICTURE) else 0
    if argv[:1] == ["--tutorial"]:
        return _take_tutorial()
    folder = Path(argv[0]) if argv else ROOT / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    jobs = [("--story", story, folder) for story in STORIES]
    jobs += [("--rows", picture, folder / f"{picture.name}.png") for picture in ROWS]
    jobs += [("--one", picture, folder / f"{picture.name}.png") for picture in PICTURES]
    with ThreadPoolExecutor(2) as at_once:
        failed = [name for name in at_once.map(lambda job: _start(*job), jobs) if name]
    if failed:
        print(f"not taken: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _start(how: str, picture: Picture, target: Path) -> str:
    """Run this program again for one window on a screen of its own; gives its name when it failed."""
    from tests.gui.x_server import environment_for, virtual_screen

    width, height = picture.size
    with virtual_screen(f"{width}x{height}") as display, tempfile.TemporaryDirectory() as scratch:
        environment = environment_for(display, CIRCUIT_DESIGN_AI_HOME=f"{scratch}/home", HOME=f"{scratch}")
        command = [sys.executable, "-m", "scripts.screenshots", how, picture.name, scratch, str(target)]
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    if not code:
        print(target if how != "--story" else f"{target}/{picture.name}-*.png")
    return picture.name if code else ""


def _take_tutorial() -> int:
    """Have the test of the tutorial take its pictures, and make them small."""
    from PIL import Image

    folder = README_PICTURE.parent
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "tests/gui/test_tutorial.py", "-k", "is_true"]
    for language in ("en", "zh"):
        environment = {**os.environ, "TUTORIAL_PICTURES": str(folder), "TUTORIAL_LANGUAGE": language}
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            return 1
    for path in sorted(folder.glob("tutorial-*.png")):
        with Image.open(path) as whole:
            few = whole.convert("RGB").quantize(_TUTORIAL_COLORS, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        print(path)
    return 0


def _picture(name: str) -> Picture:
    return next(picture for picture in PICTURES if picture.name == name)


def _show_rows(picture: Picture, target: Path) -> int:
    """A row of each kind in each state, in the web view."""
    import bootstrap
    from presentation.window.application import build_services, make_qt_application, read_catalogues
    from shared.async_runtime import fused_loop

    async def show() -> None:
        from presentation.panels.conversation.items import Reset
        from presentation.panels.conversation.web_view import WebConversation
        from tests.gui.row_states import NAMES, row_states

        app = bootstrap.build(environment={**os.environ, "LANG": "en_US.UTF-8"})
        app.program.events.bind()
        view = WebConversation(build_services(app, mode=picture.theme, language=picture.language))
        view.names = NAMES
        view.setGeometry(0, 0, *picture.size)
        view.show()
        async with asyncio.timeout(_PATIENCE_S):
            while not view.is_ready:  # noqa: ASYNC110 - the page comes by itself
                await asyncio.sleep(0.01)
        view.apply([Reset(items=row_states())])
        await asyncio.sleep(2 * _SETTLING_S)
        (await _still(view, is_moving=False)).save(str(target))
        view.close_page()
        view.close()
        await app.close()

    application = make_qt_application([])
    read_catalogues()
    with asyncio.Runner(loop_factory=fused_loop) as runner:
        runner.run(show())
    application.processEvents()
    return 0


def _tell(story: Picture, folder: Path) -> int:
    """Tell the main job, and take a picture of each of its states."""
    from presentation.window.application import make_qt_application, read_catalogues
    from shared.async_runtime import fused_loop
    from tests.fakes.llm_server import FakeLLMServer
    from tests.gui.stories.person import Person, program
    from tests.gui.stories.story_main_job import do_the_main_job
    from tests.gui.x_server import Hand

    async def look(person: Person, state: str) -> None:
        picture = await _still(person.window, is_moving=state in _MOVING)
        picture.save(str(folder / f"{story.name}-{state}.png"))

    async def tell() -> None:
        hand = Hand(os.environ["DISPLAY"])
        state = WindowState(theme=story.theme, language=story.language, geometry=(0, 0, *story.size))
        with FakeLLMServer() as server:
            async with program(hand, state=state, album=folder, look=look) as person:
                await do_the_main_job(person, server)
                await person.looks_at("answer")
                person.window.projects.close_project()
                await person.sees("no project", person.window.welcome.isVisible)
                await person.looks_at("no-project-open")
        hand.close()

    application = make_qt_application([])
    read_catalogues()
    with asyncio.Runner(loop_factory=fused_loop) as runner:
        runner.run(tell())
    application.processEvents()
    return 0


_MOVING = frozenset({"rounds", "streaming"})
"""States that do not wait until nothing moves any more."""


async def _still(window: Any, *, is_moving: bool) -> Any:
    """What the screen shows, as soon as it shows the same twice (a cursor blinks: not for ever)."""
    before: Any = None
    for _ in range(2 if is_moving else 12):
        await asyncio.sleep(_SETTLING_S / 5)
        now = window.screen().grabWindow(0).toImage()
        if now == before:
            break
        before = now
    return now


def _take(picture: Picture, scratch: Path, target: Path) -> int:
    import bootstrap
    from presentation.window.application import run
    from presentation.window.main_window import MainWindow

    assert picture.theme in get_args(WindowTheme)
    project = scratch / EXAMPLE.name
    shutil.copytree(EXAMPLE, project)
    app = bootstrap.build(environment={**os.environ, "LANG": "en_US.UTF-8"})
    state = WindowState(
        theme=picture.theme, language=picture.language, scale=picture.scale, geometry=(0, 0, *picture.size)
    )
    memory = ProjectMemory(
        main_circuit="filter.cir", open_files=("filter.cir", "filter_loop.cir"), shown_file="filter.cir"
    )
    app.program.window_state.save(state.with_memory(project, memory))

    def make_frame(services: Any, app: Application, state: WindowState) -> MainWindow:
        frame = MainWindow(services, app, state)
        services.start(_pose(frame, services, picture, project, target), kind="screenshot")
        return frame

    return run(app, project if picture.opens_project else None, make_frame=make_frame) or (
        0 if target.exists() else 1
    )


async def _pose(frame: Any, services: Any, picture: Picture, project: Path, target: Path) -> None:
    """Have the window show what a person would see after the first run, and take the picture."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await _until_filled(frame)
            frame.activateWindow()
            if picture.opens_project:
                services.workspace.file_activated.emit(project / "filter.cir", 7)
                await asyncio.sleep(_SETTLING_S)
                finished = asyncio.get_running_loop().create_future()
                services.workspace.run_finished.connect(
                    lambda _result: finished.done() or finished.set_result(None)
                )
                services.workspace.run_requested.emit()
                await finished
                frame.panes.show_panel(picture.panel)
            await asyncio.sleep(_SETTLING_S)
            # Without a window manager the room kept for its frame is black.
            frame.screen().grabWindow(0).copy(frame.geometry()).save(str(target))
    finally:
        frame.close_requested.emit()


async def _until_filled(frame: Any) -> None:
    while not any(handle.kind == "fill window" for handle in frame.parts.app.program.tasks.handles):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    for handle in frame.parts.app.program.tasks.handles:
        if handle.kind == "fill window":
            await handle.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
