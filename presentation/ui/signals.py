"""Signals of Qt whose values have types: the type checker holds who tells to what those who hear expect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, Protocol

from PyQt6.QtCore import pyqtSignal

P = ParamSpec("P")


class Signal(Protocol[P]):
    """What a signal of Qt does, for values of these types."""

    def emit(self, *values: P.args, **_none: P.kwargs) -> None:
        """Tell everybody who listens, now."""

    def connect(self, slot: Callable[P, object]) -> object:
        """Call `slot` from now on. Its result is not used."""

    def disconnect(self, slot: Callable[P, object]) -> None:
        """Call it no more. Raises TypeError when it was not connected."""


def signal(*kinds: type) -> Any:
    """A signal for a class's body, annotated as `Signal[...]`; `kinds` are Qt's: object, str, int ..."""
    return pyqtSignal(*kinds)
