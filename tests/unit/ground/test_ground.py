"""Each detector of tests/ground catches its fault, and a faultless test passes.

One pytest of its own runs the tests of `FAULTS`; each test here looks at the verdict on one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.ground.campaign import Campaign, campaigns

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.timeout(200)  # a whole session of tests runs inside

SLOW_CODE = """
import sqlite3, time
from pathlib import Path

def wait(): time.sleep(0.001)
def read(path): return Path(path).read_text()
def late():
    import presentation.imported_elsewhere
def query():
    with sqlite3.connect(":memory:") as base:
        pass
    base.execute("select 1")
    base.close()
"""

FAULTS = """
import asyncio, logging, multiprocessing, os, socket, subprocess, sys, tempfile, threading, time, warnings
from pathlib import Path
import pytest

from tests.ground.campaign import Campaign
from tests.ground.campaign import campaigns

LEFT = []  # keeps what is left over alive

async def forever():
    await asyncio.Event().wait()

@pytest.fixture
async def async_fixture_that_leaves_a_task():
    LEFT.append(asyncio.create_task(forever(), name="of-the-fixture"))
    yield

async def test_leaves_a_task():
    LEFT.append(asyncio.create_task(forever(), name="left-alone"))

def test_leaves_a_task_under_asyncio_run():
    async def main():
        LEFT.append(asyncio.create_task(forever(), name="left-in-run"))
    asyncio.run(main())

async def test_fixture_leaves_a_task(async_fixture_that_leaves_a_task):
    pass

async def test_task_fails_unseen():
    async def fail():
        raise ValueError("nobody looks")
    asyncio.create_task(fail())
    await asyncio.sleep(0.01)

def test_leaves_a_thread():
    thread = threading.Thread(target=time.sleep, args=(3,), name="left-thread", daemon=True)
    thread.start()

def test_leaves_a_child():
    LEFT.append(subprocess.Popen(["sleep", "3"]))

def test_leaves_a_zombie():
    LEFT.append(os.posix_spawn("/bin/true", ["true"], {}))
    os.waitid(os.P_PID, LEFT[-1], os.WEXITED | os.WNOWAIT)

def test_leaves_a_file_open():
    LEFT.append(open(os.devnull))

def test_leaves_a_socket_open():
    LEFT.append(socket.socket())

def test_leaves_an_event_loop_open():
    LEFT.append(asyncio.new_event_loop())

def test_leaves_a_file_in_the_current_folder():
    Path("b4v5.out").write_text("")

def test_leaves_a_file_in_the_home_folder():
    Path("~/.rc").expanduser().write_text("")

def test_leaves_a_temporary_file():
    Path(tempfile.mkdtemp()).joinpath("x").write_text("")

def test_stays_in_another_folder(tmp_path):
    os.chdir(tmp_path)

def test_is_back_in_the_first_folder():
    assert os.getcwd() == os.environ["GROUND_ROOT"]

def test_warns():
    warnings.warn("old", DeprecationWarning)

def test_logs_an_error():
    logging.getLogger("some.place").error("it broke")

@pytest.mark.expects_error_log("it broke")
def test_logs_the_expected_error():
    logging.getLogger("some.place").error("it broke")

@pytest.mark.expects_error_log("it broke")
def test_does_not_log_the_expected_error():
    pass

async def test_our_code_sleeps_in_the_loop():
    from presentation import slow
    slow.wait()

async def test_our_code_reads_in_the_loop():
    from presentation import slow
    slow.read(__file__)

async def test_our_code_queries_in_the_loop():
    from presentation import slow
    slow.query()

async def test_our_code_may_block_in_a_thread():
    from presentation import slow
    await asyncio.to_thread(slow.wait)
    await asyncio.to_thread(slow.query)
    assert await asyncio.to_thread(slow.read, os.devnull) == ""

async def test_our_code_may_wait_for_an_import_of_a_thread():
    from presentation import slow
    begun = threading.Event()
    sys.modules["begun"] = begun
    thread = asyncio.create_task(asyncio.to_thread(slow.late))
    while not begun.is_set():
        await asyncio.sleep(0.001)
    slow.late()
    await thread
    del sys.modules["begun"]

async def test_test_code_may_block(tmp_path):
    (tmp_path / "x").write_text("y")

@pytest.mark.timeout(0.3)
def test_takes_too_long():
    time.sleep(20)

def test_connects_elsewhere_and_hides_it():
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    except OSError:
        pass

def test_asks_for_a_name_and_hides_it():
    try:
        socket.getaddrinfo("example.org", 80)
    except OSError:
        pass

async def test_connects_elsewhere_in_the_loop_and_hides_it():
    try:
        await asyncio.open_connection("192.0.2.1", 80)
    except OSError:
        pass

def test_sends_a_datagram_and_hides_it():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        try:
            sender.sendto(b"x", ("192.0.2.1", 9))
        except OSError:
            pass

async def test_may_use_the_loopback():
    async def answer(reader, writer):
        writer.write(b"hello")
        writer.close()
        await writer.wait_closed()
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection("localhost", server.sockets[0].getsockname()[1])
        assert await reader.read() == b"hello"
        writer.close()
        await writer.wait_closed()

def in_a_thread(work):
    thread = threading.Thread(target=work, name="pool")
    thread.start()
    thread.join()

def test_imports_qt_in_a_thread():
    def work():
        from PyQt6.QtCore import QObject
    in_a_thread(work)

def test_imports_what_leads_to_qt_in_a_thread():
    import importlib
    import presentation.drawn  # is there already: nothing is loaded any more
    in_a_thread(lambda: importlib.import_module("presentation.panel"))

def test_imports_qt_here_and_others_in_a_thread():
    from presentation import panel
    def work():
        from presentation import slow
        import json
    in_a_thread(work)

def test_fails_and_leaves_a_file_open():
    LEFT.append(open(os.devnull))
    assert False

def test_sees_folders_of_its_own():
    home = Path(os.environ["CIRCUIT_DESIGN_AI_HOME"])
    assert not home.exists()
    assert Path.home() != home
    assert "CIRCUIT_AI_ZHIPU_API_KEY" not in os.environ
    home.mkdir()
    (home / "settings.json").write_text("{}")
    with tempfile.NamedTemporaryFile() as temporary:
        assert Path(temporary.name).parent.parent == home.parent
    os.environ["LEAKED"] = "1"

def test_does_not_see_what_others_set():
    assert "LEAKED" not in os.environ

async def test_cleans_up_after_itself(tmp_path):
    task = asyncio.create_task(forever())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    process = await asyncio.create_subprocess_exec("true")
    await process.wait()
    subprocess.run(["true"], check=True)
    await asyncio.to_thread(time.sleep, 0)
    with open(tmp_path / "x", "w") as file:
        file.write("x")

def square(x):
    return x * x

def test_standing_process_pools_are_no_leak():
    with multiprocessing.get_context("forkserver").Pool(1) as pool:
        assert pool.map(square, [2]) == [4]
        pool.close()
        pool.join()

@campaigns(fast=3, whole=1000)
def test_campaign(campaign):
    cases = [rng.random() for rng in campaign.cases()]
    assert len(cases) == campaign.count == 3

@campaigns(fast=30, whole=1000)
def test_campaign_that_finds_something(campaign):
    for rng in campaign.cases():
        number = rng.random()
        assert campaign.case != 17, f"drew <{number}>"
"""

CONFIGURATION = """
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
filterwarnings = error
markers = torture: long
timeout = 60
addopts = --strict-markers -m 'not torture'
"""

LEAVES = {
    "test_leaves_a_task": "task 'left-alone' still runs",
    "test_leaves_a_task_under_asyncio_run": "task 'left-in-run' still runs",
    "test_fixture_leaves_a_task": "task 'of-the-fixture' still runs",
    "test_task_fails_unseen": "nobody looks|Task exception was never retrieved",
    "test_leaves_a_thread": "thread 'left-thread' still runs",
    "test_leaves_a_child": "still runs: sleep 3",
    "test_leaves_a_zombie": "(zombie)",
    "test_leaves_a_file_open": "/dev/null",
    "test_leaves_a_socket_open": "socket:",
    "test_leaves_an_event_loop_open": "eventpoll",
    "test_leaves_a_file_in_the_current_folder": "file 'b4v5.out' in the current folder",
    "test_leaves_a_file_in_the_home_folder": "file '.rc' in the home folder",
    "test_leaves_a_temporary_file": "temporary file 'tmp",
    "test_stays_in_another_folder": "the current folder is now",
    "test_warns": "DeprecationWarning: old",
    "test_logs_an_error": "some.place: it broke",
    "test_does_not_log_the_expected_error": "did not log the expected error 'it broke'",
    "test_our_code_sleeps_in_the_loop": "Blocking call to time.sleep",
    "test_our_code_reads_in_the_loop": "Blocking call to io.TextIOWrapper.read",
    "test_our_code_queries_in_the_loop": "Blocking call to sqlite3.",
    "test_takes_too_long": "Timeout",
    "test_connects_elsewhere_and_hides_it": "reached for the network: 192.0.2.1",
    "test_asks_for_a_name_and_hides_it": "reached for the network: example.org",
    "test_connects_elsewhere_in_the_loop_and_hides_it": "reached for the network: 192.0.2.1",
    "test_sends_a_datagram_and_hides_it": "reached for the network: 192.0.2.1",
    "test_imports_qt_in_a_thread": "PyQt6.QtCore, of Qt, was imported in the thread pool",
    "test_imports_what_leads_to_qt_in_a_thread": "presentation.panel, of Qt, was imported in the thread",
    "test_campaign_that_finds_something[sample]": "drew <",
}
FAULTLESS = [
    "test_is_back_in_the_first_folder",
    "test_logs_the_expected_error",
    "test_our_code_may_block_in_a_thread",
    "test_our_code_may_wait_for_an_import_of_a_thread",
    "test_test_code_may_block",
    "test_may_use_the_loopback",
    "test_sees_folders_of_its_own",
    "test_does_not_see_what_others_set",
    "test_cleans_up_after_itself",
    "test_imports_qt_here_and_others_in_a_thread",
    "test_standing_process_pools_are_no_leak",
    "test_campaign[sample]",
]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """One run over `FAULTS`: its folder and what it printed."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "presentation").mkdir()
    (folder / "presentation" / "__init__.py").touch()
    (folder / "presentation" / "slow.py").write_text(SLOW_CODE)
    (folder / "presentation" / "imported_elsewhere.py").write_text(
        "import begun, time\nbegun.set()\ntime.sleep(0.3)\n"
    )
    (folder / "presentation" / "drawn.py").write_text("from PyQt6.QtCore import QObject")
    (folder / "presentation" / "panel.py").write_text("from presentation.drawn import QObject as Panel")
    (folder / "test_faults.py").write_text(FAULTS)
    (folder / "pytest.ini").write_text(CONFIGURATION)
    return folder, _run_pytest(folder, "--junit-xml=report.xml").stdout


@pytest.fixture(scope="module")
def verdicts(session: tuple[Path, str]) -> dict[str, str]:
    """What pytest said about each test of `FAULTS`: "" when it passed."""
    found: dict[str, str] = {}
    for case in ElementTree.parse(session[0] / "report.xml").iter("testcase"):
        parts = [part for part in case if part.tag in {"failure", "error"}]
        told = [f"{part.get('message', '')}\n{part.text or ''}" for part in parts]
        name = case.get("name", "")
        found[name] = "\n".join([*told, found.get(name, "")]).strip()
    return found


def _run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "tests.ground.plugin",
            f"--basetemp={folder / 'tmp'}",
            *options,
        ],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "GROUND_ROOT": str(folder),
            "CIRCUIT_AI_ZHIPU_API_KEY": "the user's",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )


@pytest.mark.parametrize("name", LEAVES)
def test_fault_is_caught(verdicts: dict[str, str], name: str) -> None:
    assert any(text in verdicts[name] for text in LEAVES[name].split("|")), verdicts[name]


@pytest.mark.parametrize("name", FAULTLESS)
def test_no_false_alarm(verdicts: dict[str, str], name: str) -> None:
    assert verdicts[name] == ""


def test_what_a_failed_test_left_is_not_held_against_it(verdicts: dict[str, str]) -> None:
    verdict = verdicts["test_fails_and_leaves_a_file_open"]
    assert "assert False" in verdict
    assert "did not leave the ground" not in verdict


def test_no_fault_was_left_out(verdicts: dict[str, str]) -> None:
    assert set(verdicts) == {*LEAVES, *FAULTLESS, "test_fails_and_leaves_a_file_open"}


def test_seed_and_case_repeat_a_campaign(session: tuple[Path, str]) -> None:
    folder, whole = session
    assert "repeat with: pytest --campaign-seed=20251121 --campaign-case=17" in whole
    alone = _run_pytest(
        folder, "-k", "finds_something", "--campaign-seed=20251121", "--campaign-case=17"
    ).stdout
    drawn = alone.split("drew <")[1].split(">")[0]
    assert f"drew <{drawn}>" in whole


def test_order_of_the_tests_is_told(session: tuple[Path, str]) -> None:
    assert "repeat in the same order with: pytest --randomly-seed=" in session[1]


def test_a_long_campaign_says_where_it_is() -> None:
    told: list[str] = []
    campaign = Campaign(count=3, seed=1, tell=told.append, tell_every_s=0)
    assert len(list(campaign.cases())) == 3
    assert told == [f"case {number} of 0 to 2" for number in range(3)]


def test_the_parts_of_a_campaign_are_its_cases_once_each() -> None:
    sample, *parts = (value.values[0] for value in campaigns(fast=2, whole=12, parts=3).args[1])
    assert (sample.count, sample.is_whole) == (2, False)
    drawn = [
        [rng.random() for rng in Campaign(count=part.count, first=part.first, seed=1).cases()]
        for part in parts
    ]
    assert [number for part in drawn for number in part] == [
        rng.random() for rng in Campaign(count=12, seed=1).cases()
    ]
