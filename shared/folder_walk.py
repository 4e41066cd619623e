"""Folders in folders, however deep: `os.walk` of Python 3.11 calls itself for each and ends at a thousand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def walk(top: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `os.walk(top)`: a folder, names of the folders in it, names of all else; links are not followed.

    What is taken out of the list of folders is not looked into. A folder that can't be read is left out.
    """
    waiting = [os.fspath(top)]
    while waiting:
        here = waiting.pop()
        folders: list[str] = []
        others: list[str] = []
        links = set()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    try:
                        is_folder = entry.is_dir()
                    except OSError:
                        is_folder = False
                    (folders if is_folder else others).append(entry.name)
                    if is_folder and entry.is_symlink():
                        links.add(entry.name)
        except OSError:
            continue
        yield here, folders, others
        waiting += [os.path.join(here, name) for name in reversed(folders) if name not in links]  # noqa: PTH118 - many
