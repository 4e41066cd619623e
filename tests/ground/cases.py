"""Many small cases in one test: what a test costs by itself is more than most of them take."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest


def for_each(names: str | Sequence[str], values: Iterable[Any]) -> Callable[[Any], Any]:
    """As `pytest.mark.parametrize`, in one test: it goes through all cases and tells of each that fails.

    For functions that take nothing but the case: no fixture would be made anew for each.
    """
    wanted = [names] if isinstance(names, str) else list(names)
    cases = [(value,) if isinstance(names, str) else tuple(value) for value in values]
    assert cases, "no case"

    def decorated(function: Callable[..., None]) -> Callable[..., None]:
        assert sorted(wanted) == sorted(inspect.signature(function).parameters)

        @functools.wraps(function)
        def run() -> None:
            failed: list[Exception] = []
            for number, case in enumerate(cases):
                try:
                    function(**dict(zip(wanted, case, strict=True)))
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - all are told below
                    said = error if isinstance(error, Exception) else AssertionError(str(error))
                    said.add_note(f"case {number}: {', '.join(map(repr, case))}")
                    failed.append(said)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(cases)} cases", failed)

        run.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
        return run

    return decorated
