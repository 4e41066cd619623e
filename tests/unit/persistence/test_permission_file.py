"""The user's permissions by project: several writers, damage, versions, and whose they are."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from domain.llm.tools.confirmation import Permissions, Rule
from infrastructure.persistence.permissions import FILE, PermissionFile
from shared.errors import UserInputError

RULE = Rule(decision="deny", path="keys/**")


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    def add(number: int) -> None:
        rule = Rule(decision="allow", path=f"{number % 20}.cir")
        PermissionFile(user_home=tmp_path / "home").add_rules(tmp_path, [rule])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add, range(40)))
    kept = PermissionFile(user_home=tmp_path / "home").of_project(tmp_path)
    assert sorted(rule.path for rule in kept.rules) == sorted(f"{n}.cir" for n in range(20))


def test_they_belong_to_the_real_path_and_to_nobody_else(tmp_path: Path) -> None:
    store = PermissionFile(user_home=tmp_path / "home")
    project, link = tmp_path / "project", tmp_path / "link"
    project.mkdir()
    link.symlink_to(project)
    store.add_rules(link, [RULE, RULE])
    store.protect(project, "a.cir", is_protected=True)
    expected = Permissions(rules=(RULE,), protected=("a.cir",))
    assert store.of_project(project) == store.of_project(link) == expected
    assert store.of_project(tmp_path) == Permissions()
    assert list(project.iterdir()) == []
    assert (tmp_path / "home" / FILE).stat().st_mode & 0o777 == 0o600
    store.remove_rules(project, [RULE])
    store.protect(project, "a.cir", is_protected=False)
    assert store.of_project(project) == Permissions()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        json.dumps({"projects": {}}).encode(),
        json.dumps({"schema_version": 2, "projects": {}}).encode(),
        b'{"schema_version": 1, "projects": {"%s": 7}}',
        b'{"schema_version": 1, "projects": {"%s": {"rules": [{"decision": "perhaps"}]}}}',
        b'{"schema_version": 1, "projects": {"%s": {"rules": "deny"}}}',
        b'{"schema_version": 1, "projects": {"%s": {"protected": [1]}}}',
    ],
)
def test_a_file_that_is_not_understood_is_never_an_empty_one(tmp_path: Path, content: bytes) -> None:
    store = PermissionFile(user_home=tmp_path)
    before = content.replace(b"%s", str(tmp_path).encode())
    (tmp_path / FILE).write_bytes(before)
    with pytest.raises(UserInputError, match="cannot be read") as failure:
        store.of_project(tmp_path)
    assert failure.value.error_type == "damaged"
    with pytest.raises(UserInputError):
        store.add_rules(tmp_path, [RULE])
    assert (tmp_path / FILE).read_bytes() == before
