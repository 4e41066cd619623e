"""The object store: content by hash, verified, shared by many writers."""

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.persistence.object_store import ObjectStore
from shared.errors import EnvironmentProblem


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    return ObjectStore(tmp_path_factory.mktemp("objects"))


@pytest.fixture
def store(tmp_path):
    return ObjectStore(tmp_path / "objects")


@given(content=st.binary(max_size=2000))
def test_what_was_put_comes_back(shared_store, content):
    digest = shared_store.put(content)
    assert digest == hashlib.sha256(content).hexdigest()
    assert shared_store.get(digest) == content
    assert shared_store.has(digest)


def test_where_objects_are_and_that_equal_ones_are_kept_once(tmp_path, store):
    digest = store.put(b"R1 in out 1k\n" * 1000)
    path = tmp_path / "objects" / digest[:2] / digest[2:]
    assert path.stat().st_size < 1000
    before = path.stat().st_ino
    os.utime(path, (1, 1))
    assert store.put(b"R1 in out 1k\n" * 1000) == digest
    assert path.stat().st_ino == before
    assert path.stat().st_mtime > 1  # somebody is about to name it: no clean-up may take it now
    assert [entry for entry in (tmp_path / "objects").rglob("*") if entry.is_file()] == [path]


@pytest.mark.parametrize("digest", ["0" * 64, "../../etc/passwd", "", "zz", "A" * 64, "0" * 63 + "\n"])
def test_what_is_not_there_or_is_no_hash(store, digest):
    assert not store.has(digest)
    with pytest.raises(EnvironmentProblem, match="missing or damaged"):
        store.get(digest)


@pytest.mark.parametrize("damage", [b"", b"rubbish", "half", "other"])
def test_a_damaged_object_is_noticed_and_put_again(tmp_path, store, damage):
    digest = store.put(b"content " * 100)
    path = tmp_path / "objects" / digest[:2] / digest[2:]
    if damage == "half":
        damage = path.read_bytes()[:-12]
    elif damage == "other":
        other = store.put(b"other")
        damage = (tmp_path / "objects" / other[:2] / other[2:]).read_bytes()
    path.write_bytes(damage)
    with pytest.raises(EnvironmentProblem, match="missing or damaged"):
        store.get(digest)
    assert store.put(b"content " * 100) == digest
    assert store.get(digest) == b"content " * 100


def test_many_writers_of_the_same_and_of_other_contents(tmp_path):
    contents = [f"content {number % 7}".encode() * 500 for number in range(100)]
    with ThreadPoolExecutor(8) as pool:
        digests = list(pool.map(lambda content: ObjectStore(tmp_path).put(content), contents))
    store = ObjectStore(tmp_path)
    assert [store.get(digest) for digest in digests] == contents
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 7
