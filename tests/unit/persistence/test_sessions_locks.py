"""Locks that end with their process."""

import errno
import json
import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from infrastructure.persistence import process_locks
from infrastructure.persistence.confined import NotRegular
from infrastructure.persistence.process_locks import Holder, LockInUse, ProcessLock, is_running


def test_a_lock_names_its_holder_and_leaves_nothing(tmp_path):
    path = tmp_path / "x.lock"
    lock = ProcessLock(path)
    with pytest.raises(LockInUse) as raised:
        ProcessLock(path)
    assert raised.value.holder is not None
    assert raised.value.holder.pid == os.getpid()
    assert raised.value.holder.host == socket.gethostname()
    assert is_running(raised.value.holder)
    lock.release()
    lock.release()
    assert not path.exists()
    ProcessLock(path).release()


def test_a_lock_file_without_a_holder_is_no_lock(tmp_path):
    path = tmp_path / "x.lock"
    for left_behind in ("", "{", "[]", json.dumps({"pid": os.getpid(), "started": "1", "host": "x"})):
        path.write_text(left_behind)
        ProcessLock(path).release()


def test_of_many_at_once_one_gets_it(tmp_path):
    path = tmp_path / "x.lock"

    def take(_):
        try:
            return ProcessLock(path)
        except LockInUse:
            return None

    for _ in range(20):
        with ThreadPoolExecutor(8) as pool:
            taken = [lock for lock in pool.map(take, range(8)) if lock is not None]
        assert len(taken) == 1
        taken[0].release()


def test_a_lock_whose_file_was_removed_takes_no_other_with_it(tmp_path):
    path = tmp_path / "x.lock"
    first = ProcessLock(path)
    path.unlink()
    second = ProcessLock(path)
    first.release()
    with pytest.raises(LockInUse):
        ProcessLock(path)
    second.release()


def test_a_link_is_not_followed_and_a_fifo_not_waited_for(tmp_path):
    path = tmp_path / "x.lock"
    path.symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="symbolic"):
        ProcessLock(path)
    assert not (tmp_path / "target").exists()
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(NotRegular):
        ProcessLock(path)


def test_a_process_is_told_from_another_of_the_same_id():
    here = socket.gethostname()
    started = process_locks.start_of(os.getpid())
    assert started.isdigit()
    assert is_running(Holder(pid=os.getpid(), started=started, host=here))
    assert not is_running(Holder(pid=os.getpid(), started="1", host=here))
    assert not is_running(Holder(pid=2**22 + 1, started="", host=here))
    assert is_running(Holder(pid=2**22 + 1, started="", host="another host"))


def test_a_killed_process_is_gone_before_its_parent_hears_of_it():
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(1)
    try:
        holder = Holder(pid=child, started=process_locks.start_of(child), host=socket.gethostname())
        assert is_running(holder)
        os.kill(child, signal.SIGKILL)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # it has ended, and stays to be waited for
        assert not is_running(holder)
    finally:
        os.waitpid(child, 0)


@pytest.fixture(params=["no flock at all", "not on this file system"])
def without_flock(request, monkeypatch):
    if request.param == "no flock at all":
        monkeypatch.setattr(process_locks, "fcntl", None)
        return

    def flock(*_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(process_locks.fcntl, "flock", flock)


def test_without_flock_the_holder_written_down_decides(tmp_path, without_flock):
    path = tmp_path / "x.lock"
    lock = ProcessLock(path)
    with pytest.raises(LockInUse):
        ProcessLock(path)
    lock.release()
    gone = {"pid": os.getpid(), "started": "1", "host": socket.gethostname()}
    path.write_text(json.dumps(gone))
    ProcessLock(path).release()


def test_a_file_that_says_so_alone_is_no_lock(tmp_path):
    path = tmp_path / "x.lock"
    for host, started in (("another host", ""), (socket.gethostname(), "")):
        path.write_text(json.dumps({"pid": os.getppid(), "started": started, "host": host}))
        before = path.read_bytes()
        assert process_locks.other_holder(path) is not None
        assert not process_locks.is_held_elsewhere(path)
        assert path.read_bytes() == before
