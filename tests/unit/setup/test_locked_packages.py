"""The lock files are complete and agree, and what is installed here is what they say."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest

REQUIREMENTS = Path(__file__).parents[3] / "requirements"
LOCKS = ("core", "cluster", "window", "dev", "langchain", "build")
QT = ("PyQt6", "PyQt6-Qt6", "PyQt6-WebEngine", "PyQt6-WebEngine-Qt6")


def pins(text: str) -> dict[str, set[str]]:
    """Normalised name -> versions (more than one where they depend on the platform)."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, re.MULTILINE):
        found.setdefault(re.sub(r"[-_.]+", "-", name).lower(), set()).add(version)
    return found


def lock(name: str) -> str:
    return (REQUIREMENTS / f"{name}.lock").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LOCKS)
def test_every_requirement_has_a_hash(name: str) -> None:
    requirements = re.split(r"^(?=[A-Za-z0-9])", lock(name), flags=re.MULTILINE)[1:]
    assert requirements
    assert [entry for entry in requirements if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("name", LOCKS)
def test_no_index_is_baked_in(name: str) -> None:
    assert re.findall(r"https?://|--index|--extra-index|--find-links|@ file", lock(name)) == []


@pytest.mark.parametrize("name", LOCKS)
def test_lock_holds_what_its_input_asks_for(name: str) -> None:
    asked = pins((REQUIREMENTS / f"{name}.in").read_text(encoding="utf-8"))
    locked = pins(lock(name))
    assert {package: locked.get(package) for package in asked} == asked


def test_smaller_sets_are_part_of_the_larger() -> None:
    core, cluster, window, dev = (pins(lock(name)) for name in ("core", "cluster", "window", "dev"))
    assert core.items() <= window.items() <= dev.items()
    assert core.items() <= cluster.items() <= dev.items()
    langchain = pins(lock("langchain"))
    assert core.items() <= langchain.items()
    shared = langchain.keys() & dev.keys()  # it is put beside whichever set there is
    assert {name: langchain[name] for name in shared} == {name: dev[name] for name in shared}


def test_what_is_installed_is_what_is_locked() -> None:
    locked = pins(lock("dev"))
    installed = {name: _version(name) for name in locked}
    wrong = {name: version for name, version in installed.items() if version and version not in locked[name]}
    assert wrong == {}
    assert {"numpy", "pytest", "langgraph"} <= {name for name, version in installed.items() if version}


def test_qt_wheels_are_one_set() -> None:
    versions = {name: metadata.version(name).split(".") for name in QT}
    assert len({tuple(version[:2]) for version in versions.values()}) == 1, versions
    assert versions["PyQt6-Qt6"] == versions["PyQt6-WebEngine-Qt6"]
    assert versions["PyQt6"] == versions["PyQt6-WebEngine"]


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:  # belongs to another platform
        return None
