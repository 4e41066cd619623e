"""A private folder is reached in one call or step by step: with one outcome, whatever lies on the way."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from infrastructure.persistence import confined
from infrastructure.persistence.confined import (
    InTheWay,
    LinklessOpening,
    look,
    make_folder,
    names_in,
    open_file,
)

_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def _nothing(project: Path) -> None:
    """All is as we made it."""


def _link_before(project: Path) -> None:
    """The user's own folder is a link: that is allowed."""
    project.rename(project.with_name("real"))
    project.symlink_to(project.with_name("real"))


def _link_inside(project: Path) -> None:
    (project / ".circuit_ai/a").rename(project / "elsewhere")
    (project / ".circuit_ai/a").symlink_to(project / "elsewhere")


def _private_is_link(project: Path) -> None:
    (project / ".circuit_ai").rename(project / "elsewhere")
    (project / ".circuit_ai").symlink_to(project / "elsewhere")


def _file_on_the_way(project: Path) -> None:
    for name in ("b/c.txt", "b"):
        place = project / ".circuit_ai/a" / name
        place.unlink() if place.is_file() else place.rmdir()
    (project / ".circuit_ai/a/b").write_text("no folder")


def _missing(project: Path) -> None:
    (project / ".circuit_ai/a").rename(project / "elsewhere")


def _link_at_the_end(project: Path) -> None:
    place = project / ".circuit_ai/a/b/c.txt"
    place.rename(project / "elsewhere.txt")
    place.symlink_to(project / "elsewhere.txt")


CHANGES = [
    _nothing, _link_before, _link_inside, _private_is_link, _file_on_the_way, _missing, _link_at_the_end,
]  # fmt: skip


class _NoSuchCall(LinklessOpening):
    def folder(self, place: str, flags: int) -> int | None:
        return None


def _outcomes(project: Path) -> dict[str, object]:
    """What each way to the file and its folder comes to."""
    file = project / ".circuit_ai/a/b/c.txt"

    def read() -> object:
        descriptor = open_file(file, os.O_RDONLY)
        try:
            return os.read(descriptor, 99)
        finally:
            os.close(descriptor)

    def made() -> object:
        make_folder(project / ".circuit_ai/a/new/er")
        return (project / ".circuit_ai/a/new/er").is_dir()

    ways: dict[str, Callable[[], object]] = {
        "read": read,
        "look": lambda: look(file).st_size,
        "list": lambda: names_in(file.parent),
        "make": made,
        "odd": lambda: look(file.with_name("a\0b")),
    }
    found: dict[str, object] = {}
    for name, way in ways.items():
        try:
            found[name] = way()
        except InTheWay as error:
            found[name] = (error.kind, os.path.relpath(error.place, project.parent.resolve()))
        except (OSError, ValueError) as error:
            found[name] = type(error)
    return found


@pytest.mark.parametrize("change", CHANGES)
def test_in_one_call_and_step_by_step_come_to_the_same(
    change: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for place, opening in (("1", LinklessOpening()), ("2", _NoSuchCall())):
        monkeypatch.setattr(confined, "_LINKLESS", opening)
        project = tmp_path / place / "project"
        (project / ".circuit_ai/a/b").mkdir(parents=True)
        (project / ".circuit_ai/a/b/c.txt").write_text("content")
        change(project)
        found.append(_outcomes(project))
    assert found[0] == found[1]
    fine = {"read": b"content", "look": 7, "list": ["c.txt"], "make": True, "odd": ValueError}
    assert (found[0] == fine) == (change in (_nothing, _link_before))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="openat2 is Linux's")
def test_a_box_without_the_call_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opening = LinklessOpening()
    descriptor = opening.folder(str(tmp_path), _FLAGS)
    if descriptor is None:
        pytest.skip("this kernel has no openat2")
    os.close(descriptor)
    asked = []

    def refused(*_: object) -> int:
        import ctypes
        import errno

        asked.append(1)
        ctypes.set_errno(errno.ENOSYS)
        return -1

    monkeypatch.setattr(opening, "_call", refused)
    assert opening.folder(str(tmp_path), _FLAGS) is None
    assert opening.folder(str(tmp_path), _FLAGS) is None
    assert len(asked) == 1
