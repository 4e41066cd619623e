"""The pytest plugin that puts the ground under every test.

A test fails (at its teardown) when it leaves tasks, threads, child processes, open files or files
on disk behind, logs an error nobody expected, imports Qt in a thread, or reaches for the network. Our code
raises when it blocks the loop of an async test. `@pytest.mark.expects_error_log("pattern")` says that an
error belongs in the log; it fails when it does not come. What a failed test left is not held against it.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import logging
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.ground import forked_workers, warm_python
from tests.ground.campaign import SAMPLE_SEED, Campaign, Extent
from tests.ground.guards import ErrorLog, NetworkGuard, OwnFolders, blocking_call_guard, own_secrets
from tests.ground.known_boxes import remember_boxes
from tests.ground.leaks import AbandonedTasks, Snapshot
from tests.ground.parked_workers import park_workers
from tests.ground.qt_imports import QtImports
from tests.ground.rewriting import rewrite_beforehand

_HAS_FAILED = pytest.StashKey[bool]()
_GROUND = pytest.StashKey["Ground"]()
_CAMPAIGN = pytest.StashKey[Campaign]()
_LEFT_WIDGETS = pytest.StashKey[bool]()
_STANDING = pytest.StashKey[contextlib.ExitStack]()
_WINDOW_TESTS = Path(__file__).parents[1] / "gui"
_IN_MEMORY = "/dev/shm"
_EXAMPLES = 50
"""Of a property test that does not say otherwise."""
_ROOM_NEEDED = 2 * 2**30
_WAITING = 4
"""Forks more than there are cores: with six more, two cores were used for 95 % of a run, but tests of the
window got their turn too seldom."""
_STANDING_BACK = 2
"""Forks beside these for what they leave of the cores, a seventh of a run on two: without tests of the
window, and at a lower priority."""
_MOST_FORKS = 6
_OBJECTS = 20_000
"""New ones after which Python looks for garbage."""


class Ground:
    """The detectors of one test session."""

    def __init__(self, root: Path) -> None:
        self.tasks = AbandonedTasks()
        self.network = NetworkGuard()
        self.errors = ErrorLog()
        self.qt_imports = QtImports()
        self.network.watch()
        self.tasks.watch()
        self.qt_imports.watch()
        logging.getLogger().addHandler(self.errors)
        # After the network guard: it remembers the functions it finds.
        self.blocking = blocking_call_guard(root)

    def close(self) -> None:
        """Take all detectors away."""
        logging.getLogger().removeHandler(self.errors)
        self.tasks.unwatch()
        self.qt_imports.unwatch()
        self.network.unwatch()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("campaigns")
    group.addoption("--campaign-seed", type=int, help="seed of all campaigns (default: the run's own)")
    group.addoption("--campaign-case", type=int, help="run this case of each campaign alone")
    forked_workers.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    _work_in_memory(config)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # So a shell starts what runs in the background, and every program under test would be deaf, too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # so does nohup
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    config.addinivalue_line("markers", "expects_error_log(pattern): this error has to be logged")
    # No deadline: no timing assertions outside the benchmarks. No database: nothing stays on disk.
    hypothesis.settings.register_profile(
        "ground", deadline=None, database=None, print_blob=True, max_examples=_EXAMPLES
    )
    hypothesis.settings.load_profile("ground")
    config.stash[_GROUND] = Ground(config.rootpath)


def _work_in_memory(config: pytest.Config) -> None:
    """Put the tests' folders where there is no disk to wait for, if that place is there and has room.

    A process that dies loses nothing in it either. The long campaigns, a folder that was asked for
    (`--basetemp`, `PYTEST_DEBUG_TEMPROOT`) and systems without such a place: as ever.
    """
    if config.option.basetemp or "torture" in str(config.option.markexpr).replace("not torture", ""):
        return
    with contextlib.suppress(OSError):
        room = shutil.disk_usage(_IN_MEMORY).free
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
        if min(room, memory) > _ROOM_NEEDED:
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _IN_MEMORY)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Four more than there are cores: more than half of the time of these tests is waiting (`-n auto`)."""
    return (os.cpu_count() or 1) + 4


@pytest.hookimpl(tryfirst=True)  # before the workers are started
def pytest_sessionstart(session: pytest.Session) -> None:
    config = session.config
    shared_out = getattr(config.option, "numprocesses", None) or config.option.forks
    if shared_out and not sys.dont_write_bytecode:
        rewrite_beforehand(config, config.rootpath / "tests")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """In place of pytest's own loop where forks are asked for."""
    config = session.config
    pay = min((os.cpu_count() or 1) + _WAITING, _MOST_FORKS)
    count, back = forked_workers.number_of_forks(config, (pay, _STANDING_BACK))
    if not count or config.option.collectonly or session.testsfailed:
        return None
    forked_workers.run_in_forks(session, count, back)
    return True


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[_GROUND].close()
    if (standing := config.stash.get(_STANDING, None)) is not None:
        standing.close()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Any:
    """Beside a collection of all tests another core imports the program: forks of it are asked for later.

    Next to nothing of what is made in collecting is garbage: each worker would look for it for seconds.
    From here on Python collects only within tests without a window, see `pytest_runtest_protocol`, and there
    less often: what looks for garbage after each 700 objects takes a twentieth of the time of these tests.
    """
    config = session.config
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if is_whole and config.getoption("forks") and not config.option.collectonly:
        config.stash[_STANDING] = contextlib.ExitStack()
        config.stash[_STANDING].enter_context(warm_python.standing())
    gc.disable()
    gc.set_threshold(_OBJECTS, 20, 20)
    return (yield)


@pytest.hookimpl(trylast=True)  # the random order is made before
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Modules whose tests may take the most time come first: no worker ends a run with a long one alone."""
    patience: dict[Path, float] = {}
    for item in items:
        marker = item.get_closest_marker("timeout")
        if marker is not None and marker.args and marker.args[0] > float(item.config.getini("timeout")):
            patience[item.path] = max(float(marker.args[0]), patience.get(item.path, 0.0))
    items.sort(key=lambda item: -patience.get(item.path, 0.0))


def pytest_collection_finish() -> None:
    """Ten thousand tests and their modules are no garbage: who collects need not look at them each time.

    What little garbage lies among them stays, too: to find it would take each worker half a second.
    """
    gc.freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """Python collects garbage in tests without a window, and nowhere else.

    It collects in the thread that happens to allocate: the one that hears of the next test, or that
    waits to end a late one, would destroy what a test of the window left in cycles, and Qt would take
    the whole worker down. Tests of the window collect themselves, in the first thread.
    """
    shows_widgets = item.path.is_relative_to(_WINDOW_TESTS)
    if not shows_widgets:
        if item.config.stash.get(_LEFT_WIDGETS, False):
            gc.collect()
        gc.enable()
    item.config.stash[_LEFT_WIDGETS] = shows_widgets
    try:
        return (yield)
    finally:
        gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report: pytest.TestReport = yield
    if report.failed:
        item.stash[_HAS_FAILED] = True
        if (campaign := item.stash.get(_CAMPAIGN, None)) is not None:
            report.sections.append(("campaign", f"repeat with: pytest {campaign.how_to_repeat()}"))
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    seed = config.getoption("randomly_seed", None)
    if seed is not None and terminalreporter.stats.keys() & {"failed", "error"}:
        terminalreporter.write_line(f"repeat in the same order with: pytest --randomly-seed={seed}")


@pytest.fixture(scope="session")
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> OwnFolders:
    return OwnFolders(tmp_path_factory.mktemp("ground"))


@pytest.fixture(autouse=True)
def _ground(request: pytest.FixtureRequest, _own_folders: OwnFolders) -> Iterator[None]:
    """Snapshot, guards up, the test, guards down, compare."""
    ground = request.config.stash[_GROUND]
    ground.errors.take(())
    remember_boxes()
    park_workers()
    before = Snapshot.take()
    with _own_folders.in_force(), own_secrets():
        if _is_async(request.function):
            ground.blocking.activate()
        try:
            yield
        finally:
            ground.blocking.deactivate()
    expected = [str(marker.args[0]) for marker in request.node.iter_markers("expects_error_log")]
    found = [
        *ground.tasks.take(),
        *before.left_over(),
        *_own_folders.left_over(),
        *ground.network.take(),
        *ground.qt_imports.take(),
        *ground.errors.take(expected),
    ]
    os.chdir(before.folder)
    if found and not request.node.stash.get(_HAS_FAILED, False):
        pytest.fail("The test did not leave the ground as it was:\n  " + "\n  ".join(found), pytrace=False)


def _is_async(function: Any) -> bool:
    inner = getattr(getattr(function, "hypothesis", None), "inner_test", function)
    return inspect.iscoroutinefunction(inner)


@pytest.fixture
def campaign(request: pytest.FixtureRequest) -> Campaign:
    """The campaign a test was given by `@campaigns(fast=..., whole=...)`."""
    extent: Extent = request.param
    seed = request.config.getoption("campaign_seed")
    if seed is None:
        seed = random.SystemRandom().getrandbits(32) if extent.is_whole else SAMPLE_SEED

    def tell(place: str) -> None:
        """On the terminal, from a worker too: a long campaign says nothing else before its end."""
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            print(f"\n{time.strftime('%H:%M')} {request.node.nodeid}: {place}", file=sys.stderr, flush=True)

    made = Campaign(
        count=extent.count,
        seed=seed,
        first=extent.first,
        only=request.config.getoption("campaign_case"),
        tell=tell if extent.is_whole else None,
    )
    request.node.stash[_CAMPAIGN] = made
    return made
