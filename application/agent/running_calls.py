"""What of a turn under way can be ended by itself, while the turn goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from domain.llm.tools.result import ToolResult, failure
from shared.message import msg


class RunningCalls:
    """Tool calls by their id, and by a conversation's id the pause before its model is asked again."""

    def __init__(self) -> None:
        self._ends: dict[str, Callable[[], bool]] = {}

    @contextmanager
    def known(self, key: str, end: Callable[[], bool]) -> Iterator[None]:
        """Within it `end(key)` calls this, which says whether it could be ended."""
        self._ends[key] = end
        try:
            yield
        finally:
            del self._ends[key]

    def end(self, key: str) -> bool:
        """End one at once; False when there is none (any more), or it has nothing to be ended."""
        return key in self._ends and self._ends[key]()


def ended_by_user(tool: str, kept: ToolResult) -> ToolResult:
    """The result of a call that its user has ended; `kept` is what became of it."""
    if kept.success:  # of many runs those that were done
        told = "The user stopped this call. What was done by then is kept:"
        return ToolResult(
            success=True,
            content=f"{told}\n{kept.content}",
            summary=msg("Stopped by you. {summary}", summary=kept.summary),
            result=kept.result,
        )
    return failure(
        "stopped",
        msg("{tool} was stopped by the user before it finished; it changed nothing.", tool=tool),
        suggestions=(msg("Do not repeat it unasked: continue with what is known, or ask the user."),),
    )
