"""``.circuitaiignore``: what a model on the network is not shown.

The rules of git's ignore files, in every folder, with one difference: a file of rules that can't be read
keeps its whole folder back, because nobody knows what it would have named.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from infrastructure.persistence.confined import read_regular_file
from infrastructure.persistence.ignore_patterns import IgnorePatterns

IGNORE_FILE = ".circuitaiignore"
_LARGEST = 2**20


def is_kept_back(root: Path, inner: Path) -> bool:
    """Whether rules in `root` or below name `inner` (relative to it), or a folder it lies in. Blocking."""
    rules: list[tuple[Path, IgnorePatterns]] = []
    here = Path()
    for depth, part in enumerate(inner.parts):
        spec = _rules_in(root / here)
        if spec is not None:
            rules.append((here, spec))
        path = here / part
        is_last = depth == len(inner.parts) - 1
        is_folder = not is_last or (root / path).is_dir()
        if _ignores(rules, path, is_folder=is_folder):
            return True
        here = path
    return False


def _ignores(rules: list[tuple[Path, IgnorePatterns]], path: Path, *, is_folder: bool) -> bool:
    """The innermost rules that say something decide."""
    for folder, spec in reversed(rules):
        name = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
        verdict = spec.verdict(name)
        if verdict is not None:
            return verdict
    return False


def _rules_in(folder: Path) -> IgnorePatterns | None:
    path = folder / IGNORE_FILE
    if not os.path.lexists(path):
        return None
    try:
        text = read_regular_file(path, max_bytes=_LARGEST).decode("utf-8", "surrogateescape")
    except OSError:
        text = "*"
    return _compiled(text.removeprefix("\ufeff"))


@lru_cache(maxsize=64)
def _compiled(text: str) -> IgnorePatterns:
    return IgnorePatterns(text.splitlines())
