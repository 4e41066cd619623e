"""A circuit kept on a warm worker while somebody pulls a measured quantity in the plot."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from application.app import Application
from domain.circuit.preferred_values import SeriesName
from presentation.panels.studies.live_work import LiveWork
from presentation.ui.workspace import WindowServices

if TYPE_CHECKING:
    from application.optimization.pulling import Pull, PullRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class PullWish:
    """Where the quantity is wanted."""

    target: float
    is_last: bool = False
    """The hand has let go: every step is done, however long it takes."""
    series: SeriesName | None = None
    """Of the values in the end."""


class PullWork(LiveWork):
    """The pull of one plot, ordered by a `PullRequest`; wished for is a `PullWish`."""

    begun = pyqtSignal(object)
    """`Pull`: it is known which values follow"""
    settled = pyqtSignal(object)
    """`PulledPoint` of the last wish"""

    def __init__(
        self,
        services: WindowServices,
        app: Application,
        parent: QObject,
        drawn: Callable[[], Awaitable[None]],
    ) -> None:
        """`drawn` waits until what was told is seen."""
        super().__init__(services, app, parent, kind="pull")
        self._drawn = drawn

    async def loading(self, order: PullRequest) -> AbstractAsyncContextManager[Pull]:
        return self._app.design.pull(order)

    async def begin(self, live: Pull) -> None:
        self.run_s = live.run_s
        self.begun.emit(live)

    async def fulfil(self, live: Pull, wish: PullWish) -> None:
        """Step after step, each of them shown, until it is met or there is a newer wish."""
        if not live.aim(wish.target):
            if wish.is_last:
                self.settled.emit(live.here)
            return
        if wish.is_last:
            self.settled.emit(await live.settle(wish.series))
            return
        is_going = True
        while is_going:
            found = await self.timed(live.step())
            self.evaluated.emit(found)
            await self._drawn()
            is_going = not (found.is_at_rest or found.is_met or self.has_newer_wish)
