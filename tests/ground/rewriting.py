"""The asserts of all test modules rewritten once, on every core, before the workers of a run start.

pytest keeps a module with rewritten asserts beside it. In a fresh clone there are none yet, and whoever
collects would rewrite all of them itself: ten seconds of one core, for each worker that is no fork.
"""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import PYC_TAIL, _rewrite_test, _write_pyc, assertstate_key

_WORTH_IT = 100


def rewrite_beforehand(config: pytest.Config, tests: Path) -> None:
    """Write what is missing below `tests`, when it is much."""
    missing = [path for path in tests.rglob("*.py") if not _kept(path).exists()]
    if len(missing) < _WORTH_IT:
        return
    for folder in {path.parent for path in missing}:
        (folder / "__pycache__").mkdir(exist_ok=True)
    with multiprocessing.get_context("fork").Pool(os.cpu_count(), _run.append, (config,)) as pool:
        pool.map(_rewrite, missing, chunksize=8)


_run: list[pytest.Config] = []
"""That of this run, in the processes that rewrite: it cannot be sent to them."""


def _kept(path: Path) -> Path:
    return path.parent / "__pycache__" / (path.stem + PYC_TAIL)


def _rewrite(path: Path) -> None:
    source_hash, code = _rewrite_test(path, _run[-1])
    _write_pyc(_run[-1].stash[assertstate_key], code, source_hash, _kept(path))
