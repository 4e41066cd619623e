"""Finding components: those of the E-series, of the program, of the user's libraries and of the project.

Whatever is asked, the index is first brought up to date with the files, in a worker process where there is
something to be read; so an answer is never older than the question.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from application.ports.components import ComponentIndex, FoundComponents, LibraryState
from domain.components.component import GROUPS
from domain.components.query import read_query
from domain.components.values import PASSIVE, values_for
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from domain.components.component import Component
    from shared.cpu_executor import CpuTaskExecutor

_SLICE_S = 2.0
"""Background work is cut into such pieces, so that other work gets a process in between."""
_WAIT_S = 20.0
"""How long a question waits for libraries that are new; then it is answered from what is read."""
_QUICK_LINES = 500
"""A file is read again up to here in no time; starting a process would take longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentAnswer:
    """What was found, and how much of the libraries that covers."""

    found: FoundComponents
    state: LibraryState


@dataclass(frozen=True, slots=True, kw_only=True)
class FindComponents:
    """The use case; one instance serves any number of searches."""

    index: ComponentIndex
    cpu: Callable[[], CpuTaskExecutor]
    shipped: Path
    """The folder of the models that come with the program."""
    libraries: Callable[[], tuple[Path, ...]]
    """Of the user."""

    async def __call__(
        self, text: str, *, root: Path | None = None, group: str = "", most: int = 50, skip: int = 0
    ) -> ComponentAnswer:
        """Search as a text asks; `root` is the project whose libraries count too."""
        state = await self.refresh(root, limit_s=_WAIT_S)
        return ComponentAnswer(
            found=await self.search(text, root=root, group=group, most=most, skip=skip), state=state
        )

    def with_libraries(self, more: tuple[Path, ...]) -> FindComponents:
        """The same with more folders."""
        return replace(self, libraries=lambda: (*self.libraries(), *more))

    async def search(
        self, text: str, *, root: Path | None = None, group: str = "", most: int = 50, skip: int = 0
    ) -> FoundComponents:
        """Search the index as it is."""
        return await off_loop(self._search, text, root, group, most, skip)

    async def refresh(
        self,
        root: Path | None = None,
        *,
        limit_s: float | None = None,
        goes_on: Callable[[], bool] = lambda: True,
        told: Callable[[LibraryState], object] = lambda _state: None,
    ) -> LibraryState:
        """Bring the index up to date, for about `limit_s` seconds (None: however long it takes).

        Between two pieces of the work `goes_on` is asked, and `told` how far it is.
        """
        folders = self.folders(root)
        state = await off_loop(self.index.state, folders)
        spent = 0.0
        while state.pending and not state.problem and goes_on() and (limit_s is None or spent < limit_s):
            told(state)
            piece = _SLICE_S if limit_s is None else min(_SLICE_S, limit_s - spent)
            state = await self.cpu().run(self.index.update, folders, piece)
            spent += piece
        return state

    async def text(self, component: Component) -> str:
        """The lines of a component's card or block. Raises UserInputError when they are gone."""
        if component.last_line < _QUICK_LINES:
            return await off_loop(self.index.text, component)
        return await self.cpu().run(self.index.text, component)

    async def library(self, component: Component) -> str:
        """What has to be in a circuit for a component to simulate. Raises UserInputError when it is gone."""
        return await self.cpu().run(self.index.library, component)

    def folders(self, root: Path | None) -> tuple[Path, ...]:
        """What is searched, the program's own first."""
        return (self.shipped, *self.libraries(), *(() if root is None else (root,)))

    def _search(self, text: str, root: Path | None, group: str, most: int, skip: int) -> FoundComponents:
        query = read_query(text)
        is_empty = not query.text
        values = values_for(query._replace(kinds=PASSIVE) if is_empty else query)
        of_group = tuple(each for each in values if group in ("", each.group))
        found = FoundComponents(by_group=dict.fromkeys(GROUPS, 0))
        if query.value is None:
            before = 0 if is_empty else len(of_group)
            found = self.index.search(
                query, self.folders(root), group=group, most=most, skip=max(skip - before, 0)
            )
        components = (*of_group[skip:], *found.components)
        if is_empty:  # nobody asked for values: they come last
            components = (*found.components, *of_group[max(skip - found.total, 0) :])
        counts = dict(found.by_group)
        counts["passive"] = counts.get("passive", 0) + len(values)
        return FoundComponents(
            components=components[:most],
            total=found.total + len(of_group),
            by_group=counts,
            unstated=found.unstated,
        )
