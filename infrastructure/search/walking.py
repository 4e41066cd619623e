"""The files of a project that are searched: not hidden, not ignored, no links.

``.gitignore`` counts as for git, in every folder, negations included, and ``.git/info/exclude``; ignore
files above the project don't. ``.circuitaiignore`` has the same rules for what git keeps but no search (and
so no server of embeddings) shall see; it has the last word.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from infrastructure.persistence.confined import read_regular_file
from infrastructure.persistence.ignore_patterns import IgnorePatterns

IGNORE_FILES = (".gitignore", ".circuitaiignore")
"""The later one is stronger."""

_LARGEST_IGNORE_FILE = 2**20
_DEEPEST = 32
_LATEST_NS = 2**63 - 1
_MOST_FILES = 50_000


class Stamp(NamedTuple):
    """What tells that a file's content is what it was, without reading it.

    The time of the last change of the inode is in it, which no program can set back.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    rules: bytes
    """Digest of the ignore rules the file was held against."""


@dataclass(slots=True)
class Walk:
    """What a walk found."""

    files: dict[str, Stamp] = field(default_factory=dict)
    """By path relative to the project, as the file system names it."""
    skipped: dict[str, int] = field(default_factory=dict)
    """Files left out, by reason; an ignored folder counts once."""

    def skip(self, reason: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1


@dataclass(frozen=True, slots=True)
class _Rules:
    """The ignore rules in force in a folder: its own behind those of the folders above."""

    specs: tuple[tuple[str, IgnorePatterns], ...] = ()
    """(folder with a slash at its end, or "", patterns), the strongest last."""
    digest: bytes = b""

    def ignores(self, path: str) -> bool:
        """Whether they leave out `path`; a folder's path ends in a slash."""
        for folder, spec in reversed(self.specs):
            verdict = spec.verdict(path[len(folder) :])
            if verdict is not None:
                return verdict
        return False


def walk(root: Path, known: Callable[[str], bytes | None] = lambda _path: None) -> Walk:
    """All files that are searched. `known` tells the digest of the rules that let a path pass before."""
    found = Walk()
    own = [_spec_in(root / ".git" / "info" / "exclude", "")] if (root / ".git").is_dir() else []
    rules = _with([spec for spec in own if spec is not None], _Rules())
    _Walker(found, known).enter(str(root), "", rules, 0)
    return found


@dataclass(frozen=True, slots=True)
class _Walker:
    found: Walk
    known: Callable[[str], bytes | None]

    def enter(self, folder: str, prefix: str, rules: _Rules, depth: int) -> None:
        try:
            with os.scandir(folder) as listing:
                entries = list(listing)
        except OSError:
            return
        rules = _rules_of(entries, folder, prefix, rules)
        for entry in entries:
            if entry.name[0] == ".":
                continue
            path = prefix + entry.name
            # A file that goes away meanwhile is not there.
            with contextlib.suppress(OSError):
                if entry.is_file(follow_symlinks=False):
                    self._take(entry, path, rules)
                elif entry.is_symlink():
                    self.found.skip("links")
                elif entry.is_dir(follow_symlinks=False):
                    if rules.specs and rules.ignores(f"{path}/"):
                        self.found.skip("ignored")
                    elif depth < _DEEPEST:
                        self.enter(entry.path, f"{path}/", rules, depth + 1)

    def _take(self, entry: os.DirEntry[str], path: str, rules: _Rules) -> None:
        if rules.specs and self.known(path) != rules.digest and rules.ignores(path):
            self.found.skip("ignored")
        elif len(self.found.files) >= _MOST_FILES:
            self.found.skip("too_many")
        else:
            status = entry.stat(follow_symlinks=False)
            self.found.files[path] = Stamp(
                status.st_size,
                storable_time(status.st_mtime_ns),
                storable_time(status.st_ctime_ns),
                status.st_ino,
                rules.digest,
            )


def storable_time(time_ns: int) -> int:
    """A time as a number SQLite has room for: 2262 comes after every date it could not hold."""
    return max(-_LATEST_NS, min(time_ns, _LATEST_NS))


def _rules_of(entries: list[os.DirEntry[str]], folder: str, prefix: str, rules: _Rules) -> _Rules:
    there = {entry.name for entry in entries if entry.name in IGNORE_FILES}
    if not there:
        return rules
    specs = [_spec_in(Path(folder, name), prefix) for name in IGNORE_FILES if name in there]
    return _with([spec for spec in specs if spec is not None], rules)


def _spec_in(path: Path, prefix: str) -> tuple[str, IgnorePatterns, bytes] | None:
    """The rules of an ignore file; None when it is no readable file."""
    with contextlib.suppress(OSError):
        data = read_regular_file(path, max_bytes=_LARGEST_IGNORE_FILE)
        lines = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff").splitlines()
        return prefix, IgnorePatterns(lines), data
    return None


def _with(specs: list[tuple[str, IgnorePatterns, bytes]], rules: _Rules) -> _Rules:
    if not specs:
        return rules
    digest = hashlib.blake2b(rules.digest, digest_size=16)
    for prefix, _, data in specs:
        digest.update(os.fsencode(prefix) + b"\0" + data + b"\0")
    return _Rules((*rules.specs, *((prefix, spec) for prefix, spec, _ in specs)), digest.digest())
