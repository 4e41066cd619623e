"""Walking folders without a stack."""

import os
from collections.abc import Iterable
from pathlib import Path

from shared.paths import walk


def test_it_finds_what_the_systems_own_does(tmp_path: Path) -> None:
    for name in ("b/c/d", "a", "e"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a" / "x.cir").write_text("")
    (tmp_path / "link").symlink_to("b")
    (tmp_path / "nowhere").symlink_to("gone")

    def found(walked: Iterable[tuple[str, list[str], list[str]]]) -> list[tuple[str, list[str], list[str]]]:
        return [(folder, sorted(folders), sorted(files)) for folder, folders, files in walked]

    assert sorted(found(walk(tmp_path))) == sorted(found(os.walk(tmp_path)))
    assert not any(folder.endswith("link") for folder, _, _ in walk(tmp_path))


def test_what_is_taken_out_is_not_looked_into_and_depth_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "no" / "x").mkdir(parents=True)
    deep = tmp_path
    for _ in range(1500):
        deep = deep / "d"
        deep.mkdir()
    count = 0
    for _, folders, _ in walk(tmp_path):
        folders[:] = [name for name in folders if name != "no"]
        count += 1
    while deep != tmp_path:  # who clears up afterwards comes to no end of it
        deep.rmdir()
        deep = deep.parent
    assert count == 1501
