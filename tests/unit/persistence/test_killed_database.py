"""A program killed while it wrote leaves a journal: reading rolls it back in a copy and changes nothing."""

import sqlite3
import subprocess
import sys
from pathlib import Path

from infrastructure.persistence.databases import OPERATIONS, connect_for_reading

KILLED = f"""
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # what is not committed reaches the file
connection.execute("PRAGMA application_id = {OPERATIONS.application_id}")
connection.execute("CREATE TABLE operations (number INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT)")
connection.execute("INSERT INTO operations (state) VALUES ('done')")
connection.execute("BEGIN IMMEDIATE")
connection.executemany("INSERT INTO operations (state) VALUES (?)", [("x" * 900,)] * 500)
os._exit(1)
"""


def test_what_was_not_committed_is_not_read_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "operations.sqlite"
    subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert sorted(before) == ["operations.sqlite", "operations.sqlite-journal"]
    connection = connect_for_reading(path, OPERATIONS)
    try:
        assert connection.execute("SELECT state FROM operations").fetchall() == [("done",)]
    finally:
        connection.close()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    with sqlite3.connect(path) as writing:  # who writes next settles it
        assert writing.execute("SELECT count(*) FROM operations").fetchone() == (1,)
    writing.close()
